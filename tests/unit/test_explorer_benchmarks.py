"""What each benchmark tells the explorer of its items, settings and votes."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from scripts.files import write_parquet, write_records
from scripts.judging.score_files import with_dtypes
from scripts.multitempbench import explorer_rows as multitempbench
from scripts.multitempbench.scoring import SCORE_DTYPES as MTB_DTYPES
from scripts.publishing.explorer.rows import iterate_rows
from scripts.records import Item, Judgement, Request, Response
from scripts.syntaxbench import explorer_rows as syntaxbench
from scripts.syntaxbench.scoring import SCORE_DTYPES as SB_DTYPES
from scripts.tide import explorer_rows as tide
from scripts.tide.score_table import SCORE_DTYPES as TIDE_DTYPES

ITEMS = {
    "syntaxbench": Item(
        *("i1", "syntaxbench", "count_chars", {"condition": "english"}, {"string": "abc"}),
        *({"answer": 3}, {"corpus": "web2"}),
    ),
    "multitempbench": Item(
        *("i1", "multitempbench", "relation"),
        {"language": "ar", "format": "iso", "calendar": "gregorian"},
        {"question": "متى؟"},
        {"answer": "before", "accepted": ["before", "during"], "kind": "relation"},
        {"question_id": "q1", "name": "own_questions", "translator": "project"},
    ),
    "tide": Item(
        *("i1", "tide", "perturbation_detection", {"thread": "t1"}),
        {"statement": "S.", "question": "Q?"},
        {"answer": "The rate is 5.", "is_perturbed": True, "dates": [{"value": "2014-06-05"}]},
        {"question_id": "q1", "clause_ids": ["a/1", "a/2"]},
    ),
}
DTYPES = {"syntaxbench": SB_DTYPES, "multitempbench": MTB_DTYPES, "tide": TIDE_DTYPES}
MISSING = {"bool": False, "int64": 0, "float64": float("nan")}


def test_items_are_shown_with_their_facets() -> None:
    (row,) = syntaxbench.item_rows(ITEMS["syntaxbench"])
    assert (row.title, row.gold, row.facets) == ("string: abc", "3", {"condition": "english"})
    (row,) = multitempbench.item_rows(ITEMS["multitempbench"])
    assert row.language == "ar" and row.facets["source"] == "own_questions"
    assert row.details["accepted"] == "before, during"
    first, second = tide.item_rows(ITEMS["tide"])
    assert (first.gold, second.gold) == ("INCORRECT", "The rate is 5.")
    assert (second.task, second.facets["step"]) == ("perturbation_identification", "explanation")
    assert "Statement: S." in first.title and first.details["dates"] == "2014-06-05"


def test_votes_are_said_in_words() -> None:
    def judged(answers: dict[str, Any]) -> Judgement:
        return Judgement("r1", "j", answers, "raw")

    words, details = multitempbench.vote(judged({"verdict": "not_attempted", "route": "echo"}))
    assert words == "not attempted" and details["route"] == "echo"
    assert multitempbench.vote(judged({"verdict": None}))[0] == "no verdict"
    assert tide.vote(judged({"meaning": None, "reason": "cut"})) == ("no vote", {"reason": "cut"})
    matches = [{"matched": True, "span": "5 June"}, {"matched": False, "span": ""}]
    votes = {"meaning": True, "contradicting": True, "uncertain": True, "date_matches": matches}
    words, details = tide.vote(judged({**votes, "flags": {"blended_sources": False}}))
    assert words == "dates 1 of 2, meaning right, contradicting"
    assert details == {"dates found in": "5 June", "doubtful": True, "blended sources": False}
    assert tide.vote(judged({"meaning": False, "flags": {}}))[0] == "meaning wrong"


def test_an_open_partial_score_is_unscored_as_in_the_statistics() -> None:
    assert tide.correct({"correct": True, "partial": 1.0}) is True
    assert tide.correct({"correct": False, "partial": None}) is None


@pytest.mark.parametrize("name", sorted(ITEMS))
def test_the_rule_gathers_the_rows(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    item = ITEMS[name]
    setting = {"shots": 4, "knowledge": "icl"}
    reply = Response("r1", "i1", "m", "non_thinking", "3", "stop", {}, "b", "1", 1)
    records: dict[str, list[Any]] = {
        "item_files": [item],
        "requests": [Request("r1", "i1", setting, [{"role": "user", "content": "?"}], {})],
        "responses": [reply],
        "judgements": [],
    }
    for kind, rows in records.items():
        write_records(tmp_path / kind, rows)
    known = {"item_id": "i1", "request_id": "r1", "model": "m", "mode": "non_thinking"}
    known |= {"task": item.task, "category": "valid", "valid": True, "correct": True}
    row = {column: known.get(column, MISSING.get(dtype)) for column, dtype in DTYPES[name].items()}
    row |= {"partial": 1.0} if name == "tide" else {}
    columns = {column: [value] for column, value in row.items()}
    write_parquet(tmp_path / "scores", with_dtypes(columns, DTYPES[name]))
    job = SimpleNamespace(
        input=SimpleNamespace(
            **{kind: [str(tmp_path / kind)] for kind in records}, scores=str(tmp_path / "scores")
        ),
        output=[str(tmp_path / "explorer.jsonl")],
        params=SimpleNamespace(judges=["j"], runs=[["m", "non_thinking"]]),
    )
    importlib.import_module(f"scripts.{name}.gather_explorer_rows").main(job)
    assert capsys.readouterr().out == "1 answers\n"
    *_, asked, answer = [each.to_json() for each in iterate_rows(job.output[0])]
    facets = {"syntaxbench": {"shots": "4"}, "multitempbench": {}, "tide": {"knowledge": "icl"}}
    assert asked["facets"] == facets[name]
    assert answer["correct"] is True and answer["votes"] == []
