"""Duplicates, audit, calendar ranges, sampling and the ledger of the curation."""

from __future__ import annotations

import csv
import json
from collections import Counter
from datetime import date, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts.files import read_records
from scripts.multitempbench import curate_questions
from scripts.multitempbench.candidates import STEPS, Outcome
from scripts.multitempbench.curation import (
    COLUMNS,
    CurationError,
    Settings,
    curate,
    draw,
    equal_shares,
    ledger,
    outside_calendars,
)
from scripts.multitempbench.gold_audit import COLUMNS as AUDIT_COLUMNS
from scripts.multitempbench.questions import SeedQuestion
from scripts.multitempbench.recomputation import recompute
from scripts.multitempbench.tasks import FORMATS, LANGUAGES

RELATION_VALUES = ("before", "after", "simultaneous", "during")


def settings(**changes: Any) -> Settings:
    defaults: dict[str, Any] = {
        "quota": {"date_arithmetic": {"a": 5}, "relation": {"a": 8}},
        "seed": 42,
        "languages": LANGUAGES,
        "formats": FORMATS,
        "calendar_range": "keep",
        "disagreeing_golds": "drop",
        "hijri_outside_range": "tabular_civil",
    }
    return Settings(**(defaults | changes))


def shift(row: int, day: str = "2000-01-01", source: str = "a", gold: str | None = None) -> Outcome:
    operation = {"kind": "shift", "date": "d1", "sign": 1, "days": row}
    answer = recompute(operation, [day], [])
    if gold:
        answer["value"] = gold
    text = f"What is {row} days after {{d1}}?"
    question = SeedQuestion.create(
        "date_arithmetic", text, [day], [], operation, answer, {"name": source, "row": row}
    )
    return Outcome(source, row, "date_arithmetic", question)


def relation(row: int, value: str) -> Outcome:
    answer = {"kind": "relation", "value": value, "accepted": []}
    question = SeedQuestion.create(
        "relation", f"Event {row}, {{d1}}?", ["2000-01-01"], [], {"kind": "none"}, answer,
        {"name": "a", "row": row},
    )  # fmt: skip
    return Outcome("a", row, "relation", question)


def test_the_order_of_rows_and_sources_changes_nothing() -> None:
    rows = [shift(n) for n in range(1, 40)] + [relation(n, "before") for n in range(100, 130)]
    first = curate({"a": rows, "b": []}, settings())
    second = curate({"b": [], "a": rows[::-1]}, settings())
    assert first == second
    assert [q.question_id for q in first.questions] == sorted(
        (q.question_id for q in first.questions), key=lambda i: (i.startswith("relation"), i)
    )
    assert Counter(q.task for q in first.questions) == {"date_arithmetic": 5, "relation": 8}


def test_another_seed_draws_others() -> None:
    rows = {"a": [shift(n) for n in range(1, 200)]}
    drawn = {
        seed: {q.question_id for q in curate(rows, settings(seed=seed)).questions}
        for seed in (1, 2)
    }
    assert drawn[1] != drawn[2]


def test_one_more_question_changes_at_most_one_choice() -> None:
    rows = [shift(n) for n in range(1, 200)]
    for more in range(200, 230):
        before = {q.question_id for q in curate({"a": rows}, settings()).questions}
        rows = [*rows, shift(more)]
        after = {q.question_id for q in curate({"a": rows}, settings()).questions}
        assert len(before - after) <= 1


def test_duplicates_stay_once_and_contradicting_ones_not_at_all() -> None:
    rows = {
        "a": [shift(1), shift(2), shift(3, gold="2000-01-09")],
        "b": [shift(1, source="b"), shift(3, source="b")],
    }
    quota = {"date_arithmetic": {"a": 10, "b": 10}}
    curated = curate(rows, settings(quota=quota, disagreeing_golds="keep"))
    assert [(q.source["name"], q.operation["days"]) for q in curated.questions] == sorted(
        [("a", 1), ("a", 2)],
        key=lambda each: shift(each[1]).question.question_id,  # type: ignore[union-attr]
    )
    dropped = [(r["source"], r["dropped"], r["reason"]) for r in curated.ledger]
    assert ("a", 1, "asked more than once with different golds") in dropped
    assert ("b", 1, "asked more than once with different golds") in dropped
    assert ("b", 1, "asked before in the same words") in dropped


@pytest.mark.parametrize(("choice", "kept"), [("drop", 1), ("keep", 2)])
def test_golds_that_our_computation_contradicts(choice: str, kept: int) -> None:
    rows = {"a": [shift(1), shift(2, gold="2000-01-04")]}
    curated = curate(rows, settings(disagreeing_golds=choice))
    assert len(curated.questions) == kept
    assert [audit.agrees for audit in curated.audits] == [True, False]


def test_calendar_ranges() -> None:
    def outside(day: str, **changes: Any) -> str:
        question = shift(1, day).question
        assert question is not None
        return outside_calendars(question, settings(**changes))

    assert outside("1888-02-11") == "lunar"
    assert outside("1888-02-12") == ""
    # The answer of a day later is beyond the lunar table.
    assert outside("2111-12-31") == "lunar"
    assert outside("2111-12-30") == ""
    assert outside("1352-03-02", languages=["ar", "en"]) == ""
    assert outside("0622-07-18", languages=["ha"]) == "Hijri"
    assert outside("0622-07-19", languages=["ha"]) == ""
    assert outside("1924-07-31", languages=["ar"], hijri_outside_range="refuse") == "Hijri"
    assert outside("1924-08-01", languages=["ar"], hijri_outside_range="refuse") == ""
    assert outside("0052-01-01", languages=["en", "de"]) == ""
    assert outside("0052-01-01", formats=["iso", "slash", "long"]) == ""


def test_accepted_answers_need_a_name_as_well() -> None:
    question = shift(1).question
    assert question is not None
    question.answer["accepted"] = ["1700-01-01"]
    assert outside_calendars(question, settings()) == "lunar"


def test_what_happens_outside_a_calendar() -> None:
    old, new = [shift(n, "1352-03-02") for n in range(1, 9)], [shift(n) for n in range(101, 104)]
    counts = {}
    for choice in ("drop", "prefer", "keep"):
        curated = curate({"a": [*old, *new]}, settings(calendar_range=choice))
        counts[choice] = Counter(q.dates[0][:4] for q in curated.questions)
        last = curated.ledger[-1]
        assert last["step"] == "sample"
        assert last["kept"] == len(curated.questions)
    assert counts["drop"] == {"2000": 3}
    assert counts["prefer"] == {"2000": 3, "1352": 2}
    assert sum(counts["keep"].values()) == 5


def test_a_pool_too_small_is_taken_whole_and_said() -> None:
    curated = curate({"a": [shift(1)]}, settings())
    assert len(curated.questions) == 1
    assert curated.ledger[-1] == {
        "source": "a",
        "task": "date_arithmetic",
        "step": "sample",
        "kept": 1,
        "dropped": 0,
        "reason": "quota 5: 4 short",
    }


def test_relations_are_drawn_in_equal_shares() -> None:
    sizes = {"before": 40, "after": 20, "simultaneous": 1, "during": 3}
    rows = [
        relation(1000 * place + n, value)
        for place, (value, size) in enumerate(sizes.items())
        for n in range(size)
    ]
    pool = [row.question for row in rows if row.question]
    drawn = Counter(q.answer["value"] for q in draw(pool, 16, settings()))
    assert drawn == {"before": 6, "after": 6, "simultaneous": 1, "during": 3}


@given(
    st.dictionaries(st.sampled_from([*RELATION_VALUES, "yes", "no"]), st.integers(0, 50)),
    st.integers(0, 200),
)
def test_shares_are_as_equal_as_the_sizes_allow(sizes: dict[str, int], quota: int) -> None:
    shares = equal_shares(sizes, quota)
    assert sum(shares.values()) == min(quota, sum(sizes.values()))
    assert all(0 <= shares[name] <= sizes[name] for name in sizes)
    hungry = [shares[name] for name in sizes if shares[name] < sizes[name]]
    if hungry:
        assert max(shares.values()) - min(hungry) <= 1


def test_the_ledger_adds_up() -> None:
    rows = [
        Outcome("a", 1, "").without("task", "category x"),
        Outcome("a", 2, "").without("task", "category x"),
        Outcome("a", 3, "time_zone").without("answer", "none"),
        Outcome("a", 4, "time_zone").without("full_date", "none"),
        *(shift(n) for n in range(5, 9)),
    ]
    lines = ledger(rows)
    assert [tuple(line.values())[1:] for line in lines] == [
        ("", "read", 8, 0, "rows of the source"),
        ("", "task", 6, 2, "category x"),
        ("date_arithmetic", "task", 4, 0, "rows of the task"),
        ("time_zone", "task", 2, 0, "rows of the task"),
        ("time_zone", "full_date", 1, 1, "none"),
        ("time_zone", "answer", 0, 1, "none"),
    ]
    assert tuple(lines[0]) == COLUMNS
    assert all(line["step"] in STEPS for line in lines)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"calendar_range": "guess"}, "use one of drop, prefer, keep"),
        ({"disagreeing_golds": "prefer"}, "use drop or keep"),
        ({"quota": {"poetry": {}}}, "unknown tasks"),
    ],
)
def test_settings_that_make_no_sense(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(CurationError, match=message):
        settings(**changes)


def test_a_quota_without_data() -> None:
    with pytest.raises(CurationError, match="quota asks for freshbench"):
        curate({"a": []}, settings(quota={"relation": {"freshbench": 1, "absent": 0}}))


def test_the_rule_script(tmp_path: Path) -> None:
    path = tmp_path / "own.jsonl"
    start = date(1990, 1, 1)
    rows = [shift(n, (start + timedelta(days=n)).isoformat()) for n in range(1, 20)]
    path.write_text(
        "".join(json.dumps(r.question.to_json()) + "\n" for r in rows if r.question),
        encoding="utf-8",
    )
    outputs = {
        name: tmp_path / "out" / file
        for name, file in (
            ("questions", "questions.jsonl"),
            ("curation", "curation.csv"),
            ("gold_audit", "gold_audit.csv"),
        )
    }
    job = SimpleNamespace(
        input=SimpleNamespace(sources=[path]),
        output=SimpleNamespace(**outputs),
        params=SimpleNamespace(
            sources={"own_questions": {"reader": "seed_questions"}},
            quota={"date_arithmetic": {"own_questions": 12, "tram_arithmetic": 0}},
            seed=42,
            languages=list(LANGUAGES),
            formats=list(FORMATS),
            curation={"calendar_range": "drop", "disagreeing_golds": "drop"},
            calendars={"hijri_outside_range": "tabular_civil"},
        ),
    )
    curate_questions.main(job)
    first = {name: output.read_bytes() for name, output in outputs.items()}
    questions = read_records(outputs["questions"], SeedQuestion)
    assert len({q.question_id for q in questions}) == 12
    assert all(q.source["name"] == "own_questions" for q in questions)
    with outputs["curation"].open(newline="", encoding="utf-8") as handle:
        assert [row["kept"] for row in csv.DictReader(handle)] == ["19", "19", "12"]
    with outputs["gold_audit"].open(newline="", encoding="utf-8") as handle:
        audits = list(csv.DictReader(handle))
    assert len(audits) == 19
    assert tuple(audits[0]) == AUDIT_COLUMNS
    curate_questions.main(job)
    assert first == {name: output.read_bytes() for name, output in outputs.items()}
