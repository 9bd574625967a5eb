"""Answerers without a model: floors, the sentence of the context, the gold answer."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tide_questions import (
    CORPUS,
    DECODING,
    ITEMS,
    item,
    pair,
    prompts,
    requests,
    response,
    shipped,
)

from scripts.files import DataError, iterate_jsonl, write_records
from scripts.records import Item, Request
from scripts.tide import build_baseline_answers as rule
from scripts.tide.answers import read_response
from scripts.tide.baselines import KINDS, UNKNOWN, baseline_answers, words
from scripts.tide.explanations import explanation_request
from scripts.tide.items import build_item, build_items
from scripts.tide.scoring import right_value
from scripts.tide.tasks import TASKS


def answered(baseline: str, knowledge: str = "icl", items: Any = ITEMS, seed: int = 1) -> list[Any]:
    """What a reader gets out of a baseline's answers, one an item."""
    asked = requests(knowledge, items)
    rows = baseline_answers(baseline, asked, items, seed)
    assert [row["request_id"] for row in rows] == [request.request_id for request in asked]
    return [
        read_response(each, response(request, row["text"])).value
        for each, request, row in zip(items, asked, rows, strict=True)
    ]


def by_task(values: list[Any]) -> dict[str, Any]:
    return {each.task: value for each, value in zip(ITEMS[::-1], values[::-1], strict=True)}


@pytest.mark.parametrize("baseline", KINDS)
@pytest.mark.parametrize("knowledge", ["parametric", "icl", "rag"])
def test_every_baseline_gives_every_task_a_valid_answer(baseline: str, knowledge: str) -> None:
    values = answered(baseline, knowledge)
    assert None not in values
    assert answered(baseline, knowledge) == values


def test_the_gold_answer_is_right_everywhere() -> None:
    for each, value in zip(ITEMS, answered("gold_answer"), strict=True):
        kind = TASKS[each.task].kind
        expected = {
            "choice": each.gold.get("answer_index"),
            "order": tuple(each.gold.get("order", ())),
            "verdict": "INCORRECT" if each.gold.get("is_perturbed") else "CORRECT",
            "free": each.gold["answer"],
        }
        assert value == expected[kind]


def test_majority_knows_the_distribution_alone() -> None:
    found = by_task(answered("majority"))
    assert found["temporal_mcq"] == 1
    assert found["event_sorting"] == (0, 1, 2)
    assert found["perturbation_detection"] == "CORRECT"  # one of each: the first of two equals
    assert found["open_ended"] == UNKNOWN
    options = ["w", "x", "y", "z"]

    def choice(index: int) -> Item:
        fields = {"options": options, "answer_index": index, "answer": options[index]}
        return build_item(pair("temporal_mcq", question=f"Q{index}", **fields), CORPUS)

    three = [choice(3), choice(2), replace(choice(3), item_id="another")]
    assert answered("majority", items=three) == [3, 3, 3]
    perturbed = [item("perturbation_detection")]
    assert answered("majority", items=perturbed) == ["INCORRECT"]


def test_uniform_draws_by_seed_and_item() -> None:
    draws = [by_task(answered("uniform", seed=seed)) for seed in range(200)]
    picked = Counter(found["temporal_mcq"] for found in draws)
    assert set(picked) == {0, 1, 2, 3} and min(picked.values()) > 25
    assert len({found["event_sorting"] for found in draws}) == 6
    assert Counter(found["perturbation_detection"] for found in draws)["CORRECT"] > 70
    assert {found["open_ended"] for found in draws} == {UNKNOWN}
    alone = answered("uniform", items=[item("temporal_mcq")])
    assert alone == [by_task(answered("uniform"))["temporal_mcq"]]


def test_extractive_reads_what_its_prompt_shows() -> None:
    found = by_task(answered("extractive", "icl"))
    assert found["scenario_short_answer"] != UNKNOWN
    assert found["context_misalignment"] == "The allowance of airline crew is 300 USD."
    assert found["temporal_mcq"] in range(4)
    # 400 is in no document; 300 would be.
    assert found["perturbation_detection"] == "INCORRECT"
    statement = build_item(
        pair("perturbation_detection", statement="In 2025 it is 150 USD, once ৩০০ USD."), CORPUS
    )
    assert answered("extractive", "icl", [statement]) == ["CORRECT"]
    assert answered("extractive", "parametric", [statement]) == ["INCORRECT"]


def test_extractive_without_documents_has_fixed_answers() -> None:
    found = by_task(answered("extractive", "parametric"))
    assert found["open_ended"] == UNKNOWN
    assert found["temporal_mcq"] == 0
    assert found["event_sorting"] == (0, 1, 2)
    no_number = build_item(pair("perturbation_detection", statement="Lamps are exempt."), CORPUS)
    assert answered("extractive", "parametric", [no_number]) == ["CORRECT"]


def test_extractive_orders_events_by_the_dates_of_their_documents() -> None:
    events = ["Crew allowance 150 USD.", "Lamps are exempt.", "Nothing like it", "Lamps 15 percent"]
    key = [
        {"event": events[1], "date": "2010-06-10"},
        {"event": events[3], "date": "2016-06-02"},
        {"event": events[0], "date": "2025-06-03"},
        {"event": events[2], "date": "2026-01-01"},
    ]
    clauses = [
        "act-3-2010/clause_1",
        "sro-1-2016/clause_1",
        "sro-2-2025/clause_1",
    ]
    sorting = build_item(
        pair("event_sorting", clauses, events_shuffled=events, answer_ordered=key), CORPUS
    )
    assert answered("extractive", "icl", [sorting]) == [(1, 3, 0, 2)]


def test_words_are_folded_and_digits_are_those_of_any_script() -> None:
    assert words("Rate: ৫.৫ শতাংশ, RATE 5.5") == {"rate", "5.5", "শতাংশ"}
    assert words("SRO 1/2016.") == {"sro", "1/2016"}


@pytest.mark.parametrize("baseline", KINDS)
def test_second_steps_are_answered_too(baseline: str) -> None:
    statement = item("perturbation_detection")
    first = requests("icl", [statement])[0]
    second = explanation_request(statement, first, prompts(), DECODING)
    text = baseline_answers(baseline, [second], [statement], 1)[0]["text"]
    expected = {
        "majority": UNKNOWN,
        "uniform": UNKNOWN,
        "extractive": "The allowance of airline crew is 300 USD.",
        "gold_answer": statement.gold["answer"],
    }
    assert text == expected[baseline]


def test_errors_are_named() -> None:
    with pytest.raises(DataError, match="unknown baseline 'oracle'; known: majority"):
        baseline_answers("oracle", [], ITEMS, 1)
    with pytest.raises(DataError, match="no item temporal_mcq-"):
        baseline_answers("majority", requests()[:1], [], 1)


def test_the_rule_answers_every_file(tmp_path: Path) -> None:
    write_records(tmp_path / "i.jsonl", ITEMS)
    asked: list[Request] = []
    for knowledge in ("parametric", "icl"):
        write_records(tmp_path / f"{knowledge}.jsonl", requests(knowledge))
        asked += requests(knowledge)
    write_records(tmp_path / "none.jsonl", [])
    job = SimpleNamespace(
        input=SimpleNamespace(
            requests=[tmp_path / f"{name}.jsonl" for name in ("parametric", "none", "icl")],
            item_files=[tmp_path / "i.jsonl"],
        ),
        output=SimpleNamespace(answers=tmp_path / "answers.jsonl"),
        params=SimpleNamespace(baseline="extractive", seed=3),
    )
    rule.main(job)
    rows = [row for _, row in iterate_jsonl(tmp_path / "answers.jsonl")]
    assert [row["request_id"] for row in rows] == [request.request_id for request in asked]
    assert all(set(row) == {"request_id", "text"} for row in rows)
    before = (tmp_path / "answers.jsonl").read_bytes()
    job.input.requests = str(tmp_path / "none.jsonl")
    rule.main(job)
    assert before and (tmp_path / "answers.jsonl").read_bytes() == b""


def test_shipped_questions_floor_and_ceiling(repository: Path) -> None:
    pairs, corpus = shipped(repository)
    items = [each for task in TASKS for each in build_items(pairs, corpus, task)]
    strict = [each for each in items if TASKS[each.task].kind != "free"]
    settings = [requests(name, strict, corpus=corpus) for name in ("parametric", "icl")]
    shares = {}
    for baseline in KINDS:
        right = []
        for asked in settings:
            rows = baseline_answers(baseline, asked, items, 1)
            for each, request, row in zip(strict, asked, rows, strict=True):
                value = read_response(each, response(request, row["text"])).value
                assert value is not None
                right.append(value == right_value(each))
        shares[baseline] = sum(right) / len(right)
    assert shares["gold_answer"] == 1.0
    assert all(0.05 < shares[name] < 0.75 for name in ("majority", "uniform", "extractive"))
