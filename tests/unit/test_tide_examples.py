"""Examples of TIDE: which answers are shown, and how hostile text is printed."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest
import tide_frames
from tide_questions import CORPUS, FIELDS, pair

from scripts import files
from scripts.files import DataError
from scripts.publishing.captions import Context
from scripts.publishing.tables import to_frame, to_latex
from scripts.publishing.web import to_html
from scripts.records import Item, Response
from scripts.tide import make_examples
from scripts.tide.examples import RULES, choose, examples, question_text, verdict_words
from scripts.tide.items import build_items
from scripts.tide.score_table import SCORE_DTYPES, score_table
from scripts.tide.tasks import TASKS

CONTEXT = Context.from_params(tide_frames.params("embedded"))
MODELS = ("smollm2-135m", "gemma3-270m")
#: Right without documents, with retrieved clauses, with full documents.
PATTERNS = {
    "memory": (True, True, True),
    "gap_closed": (False, True, True),
    "unrecoverable": (False, False, False),
    "overturned": (True, False, False),
    "icl_only": (False, False, True),
}
HOSTILE = "\u202eSo:\n\\input{x} <b>১ জুন ২০২৫</b> \x00" + "y" * 300


def items(count: int = 3) -> list[Item]:
    pairs = [
        pair(task, **{"question": f"Question {n}? {FIELDS[task]['question']}"})
        for task in ("open_ended", "scenario_short_answer", "context_misalignment")
        for n in range(count)
    ]
    return [i for t in TASKS for i in build_items(pairs, CORPUS, t)]


def score(item: Item, model: str, knowledge: str, right: bool, **fields: Any) -> dict[str, Any]:
    row: dict[str, Any] = dict.fromkeys(SCORE_DTYPES)
    row |= {
        "item_id": item.item_id,
        "request_id": f"{item.item_id}/{knowledge}",
        "question_id": str(item.source["question_id"]),
        "thread": "t",
        "model": model,
        "mode": "non_thinking",
        "task": item.task,
        "knowledge": knowledge,
        "valid": True,
        "category": "judged",
        "route": "council",
        "correct": right,
        "partial": float(right),
        "dates": len(item.gold["dates"]),
        "dates_matched": len(item.gold["dates"]) if right else 0,
        "contradicting": False,
        "meaning": right,
        "uncertain": False,
        "seats": 3,
        "flagged": False,
    }
    return row | fields


def world(folder: Path, patterns: dict[str, tuple[bool, bool, bool]]) -> SimpleNamespace:
    """Items in the order of their ids take the patterns in turn; both models answer alike."""
    ordered = sorted(items(), key=lambda item: item.item_id)
    rows, replies = [], []
    for place, item in enumerate(ordered):
        pattern = list(patterns.values())[place % len(patterns)]
        for model in MODELS:
            for knowledge, right in zip(("parametric", "rag", "icl"), pattern, strict=True):
                row = score(item, model, knowledge, right)
                rows.append(row)
                text = "" if place == 0 and knowledge == "rag" else HOSTILE
                replies.append(response(row, text))
    folder.mkdir(parents=True, exist_ok=True)
    files.write_records(folder / "items.jsonl", ordered)
    files.write_records(folder / "responses.jsonl", replies)
    return SimpleNamespace(
        scores=score_table(rows),
        items=[folder / "items.jsonl"],
        responses=[folder / "responses.jsonl"],
        ordered=ordered,
    )


def response(row: dict[str, Any], text: str) -> Response:
    return Response(
        request_id=row["request_id"],
        item_id=row["item_id"],
        model=row["model"],
        mode=row["mode"],
        text=text,
        finish_reason="stop",
        usage={"prompt": 9, "completion": 5, "reasoning": None},
        backend="archive",
        backend_version="1",
        attempts=1,
    )


def test_one_question_an_outcome_in_every_setting(tmp_path: Path) -> None:
    found = world(tmp_path, PATTERNS)
    table = examples(found.scores, found.items, found.responses, CONTEXT)
    assert len(table.rows) == 15 and table.name == "tide_examples"
    assert [row.stub for row in table.rows[:3]] == [
        (setting, "SmolLM2-135M") for setting in ("Parametric", "RAG", "ICL")
    ]
    blocks = list(dict.fromkeys(row.block.split(" (")[0] for row in table.rows))
    assert blocks == [
        *("Right from memory", "Gap closed by the documents", "Not recovered"),
        *("Overturned", "Lost in retrieval"),
    ]
    ids = [dict(row.cells[-1].extra)["item_id"] for row in table.rows[::3]]
    # memory, gap_closed and so on stand in the order of the items: each first one has its pattern.
    assert ids == [item.item_id for item in found.ordered[:5]]
    assert "n is five questions for 5 outcomes" in table.caption


def test_every_outcome_agrees_with_its_rule(tmp_path: Path) -> None:
    found = world(tmp_path, PATTERNS)
    for choice in choose(found.scores, MODELS):
        assert choice.scores is not None
        right = {name: bool(row["correct"]) for name, row in choice.scores.items()}
        assert RULES[choice.outcome](right)
    # An answer that was wrong without documents and right with them is the first of icl_only too.
    assert RULES["icl_only"]({"parametric": True, "icl": True, "rag": False})
    assert not RULES["memory"]({"parametric": False, "icl": True, "rag": True})


def test_the_choice_does_not_depend_on_the_order_of_rows(tmp_path: Path) -> None:
    found = world(tmp_path, PATTERNS)
    source = to_latex(examples(found.scores, found.items, found.responses, CONTEXT))
    shuffled = found.scores.sample(frac=1, random_state=5)
    again = examples(shuffled, found.items, found.responses, CONTEXT)
    assert to_latex(again) == source


def test_hostile_text_is_visible_text(tmp_path: Path) -> None:
    found = world(tmp_path, PATTERNS)
    table = examples(found.scores, found.items, found.responses, CONTEXT)
    source, page = to_latex(table), to_html(table)
    assert r"\input{x}" not in source and r"\textbackslash{}" in source
    assert "<b>" not in page and "\u202e" not in source + page and "\x00" not in source + page
    assert r"\textbengali{১}" in source
    replies = [row.cells[2] for row in table.rows]
    assert replies[1].missing == "the reply is blank"
    assert "more characters" in replies[0].text and len(str(replies[0].value)) > 300


def test_question_and_gold_are_printed_once_and_kept_in_the_csv(tmp_path: Path) -> None:
    found = world(tmp_path, PATTERNS)
    table = examples(found.scores, found.items, found.responses, CONTEXT)
    first, second = table.rows[0], table.rows[1]
    assert first.cells[0].text and second.cells[0].text == "" == second.cells[1].text
    frame = to_frame(table)
    assert frame["question"].iloc[0] == frame["question"].iloc[1] != ""


def test_outcomes_that_nobody_has_are_named(tmp_path: Path) -> None:
    found = world(tmp_path, {"unrecoverable": PATTERNS["unrecoverable"]})
    table = examples(found.scores, found.items, found.responses, CONTEXT)
    assert len(table.rows) == 3 and "n is one question for 5" in table.caption
    note = table.notes[-1]
    assert "right from memory" in note and "overturned" in note and "not recovered" not in note
    empty = examples(found.scores.head(0), found.items, found.responses, CONTEXT)
    assert not empty.rows and "no rows" in to_latex(empty)


def test_only_answers_with_a_decision_in_all_settings_are_shown(tmp_path: Path) -> None:
    found = world(tmp_path, PATTERNS)
    scores = found.scores.copy()
    first = found.ordered[0].item_id
    gone = (scores["item_id"] == first) & (scores["knowledge"] == "icl")
    scores.loc[gone & (scores["model"] == MODELS[0]), "correct"] = pd.NA
    (memory, *_) = choose(scores, MODELS)
    assert memory.scores is not None and memory.scores["icl"]["model"] == MODELS[1]
    scores.loc[gone, "category"] = "truncated"
    (memory, *_) = choose(scores, MODELS)
    assert memory.scores is None or memory.scores["icl"]["item_id"] != first


def test_rows_that_speak_of_nothing_are_errors(tmp_path: Path) -> None:
    found = world(tmp_path, PATTERNS)
    empty = tmp_path / "empty.jsonl"
    empty.write_bytes(b"")
    with pytest.raises(DataError, match="no response"):
        examples(found.scores, found.items, [empty], CONTEXT)
    with pytest.raises(DataError, match="no item"):
        examples(found.scores, [empty], found.responses, CONTEXT)


def test_what_a_model_saw_stands_in_the_question() -> None:
    by_task = {item.task: item for item in items(1)}
    text = question_text(by_task["context_misalignment"])
    assert text.startswith("Misleading context: In 2020") and " Question: Question 0?" in text
    assert question_text(by_task["scenario_short_answer"]).startswith("Scenario: A steward")
    assert question_text(by_task["open_ended"]).startswith("Question 0?")
    choice = build_items([pair("temporal_mcq")], CORPUS, "temporal_mcq")[0]
    assert "SRO 1/2016; SRO 2/2025" in question_text(choice)


def test_the_verdict_says_what_was_decided() -> None:
    item = items(1)[0]
    row = score(item, MODELS[0], "icl", False)
    row |= {"dates": 2, "dates_matched": 1, "contradicting": True, "uncertain": True}
    assert verdict_words(row) == "wrong; dates 1 of 2; meaning wrong; another date too; doubtful"
    row |= {"correct": True, "dates": 0, "meaning": True, "contradicting": False}
    assert verdict_words(row) == "right; meaning right; doubtful"
    row |= {"dates": 1, "dates_matched": None, "meaning": None, "uncertain": None}
    assert verdict_words(row) == "right; dates open; meaning open"


def test_the_rule_script_writes_all_forms(tmp_path: Path) -> None:
    found = world(tmp_path / "in", PATTERNS)
    path = tmp_path / "scores.parquet"
    files.write_parquet(path, found.scores)
    output = SimpleNamespace(**{end: tmp_path / f"x.{end}" for end in ("tex", "csv", "html")})
    job = SimpleNamespace(
        input=SimpleNamespace(scores=path, item_files=found.items, responses=found.responses),
        output=output,
        params=SimpleNamespace(context=tide_frames.params("embedded")),
    )
    make_examples.main(job)
    assert r"\label{tab:tide-examples}" in output.tex.read_text(encoding="utf-8")
    assert len(files.read_csv(output.csv)) == 15
    assert "Right from memory" in output.html.read_text(encoding="utf-8")
