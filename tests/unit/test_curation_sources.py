"""From rows of TRAM, Test of Time, FreshBench and our own file to seed questions."""

from __future__ import annotations

import json
from collections import Counter
from datetime import date
from pathlib import Path

import pytest

from scripts.corpora.freshbench import ForecastRow
from scripts.corpora.test_of_time import TestOfTimeRow
from scripts.corpora.tram import ArithmeticRow, RelationRow
from scripts.files import DataError, write_records
from scripts.multitempbench.candidates import Outcome
from scripts.multitempbench.freshbench_questions import freshbench_outcomes
from scripts.multitempbench.own_questions import read_own_questions
from scripts.multitempbench.questions import SeedQuestion
from scripts.multitempbench.recomputation import recompute
from scripts.multitempbench.source_questions import read_source
from scripts.multitempbench.tasks import TASKS
from scripts.multitempbench.tot_questions import clean, outcomes_of_test_of_time, read_operation
from scripts.multitempbench.tram_questions import (
    arithmetic_outcomes,
    relation_outcomes,
    second_spelling,
)


def question(outcome: Outcome) -> SeedQuestion:
    assert outcome.question is not None, (outcome.step, outcome.reason)
    return outcome.question


def arithmetic(text: str, answer: str, category: str = "Date Computation") -> Outcome:
    [outcome] = arithmetic_outcomes("tram", [ArithmeticRow(7, text, answer, category)])
    return outcome


def test_date_computation() -> None:
    made = question(
        arithmetic(
            "If you subtract 11 months and 1 day to the date 09-05-1819, "
            "what will be the new date?",
            "10/4/1818",
        )
    )
    assert made.text == (
        "If you subtract 11 months and 1 day from the date {d1}, what will be the new date?"
    )
    assert made.dates == ["1819-09-05"]
    assert made.operation == {"kind": "shift", "date": "d1", "sign": -1, "months": 11, "days": 1}
    assert made.answer == {"kind": "date", "value": "1818-10-04", "accepted": []}
    assert made.source == {"name": "tram", "row": 7, "date_format": "numeric_mdy"}


@pytest.mark.parametrize(
    ("text", "answer", "category", "step"),
    [
        ("What is 1 + 1?", "2", "Application", "task"),
        ("What will be the time 2 years after June 1408?", "June 1410", "Date Computation",
         "full_date"),
        ("If you add 2 days to the date 13-01-1900, what will be the new date?", "x",
         "Date Computation", "possible_date"),
        ("If you add two days to the date 01-01-1900, what will be the new date?", "01-03-1900",
         "Date Computation", "template"),
        ("Add 2 days to 01-01-1900.", "01-03-1900", "Date Computation", "template"),
        ("If you add 2 days to the date 01-01-1900, what will be the new date?", "January 1900",
         "Date Computation", "answer"),
        ("If it's noon on May 2, 1901 in UTC, what's the date and time in UTC?",
         "2 PM on May 2, 1901", "Time Zone Conversion", "template"),
        ("If it's 2 PM on May 2, 1901 in UTC, what's the date and time in UTC?", "2 PM",
         "Time Zone Conversion", "answer"),
    ],
)  # fmt: skip
def test_arithmetic_that_is_left_out(text: str, answer: str, category: str, step: str) -> None:
    outcome = arithmetic(text, answer, category)
    assert outcome.question is None
    assert outcome.step == step


def test_time_zone_golds_by_local_mean_time() -> None:
    made = question(
        arithmetic(
            "If it's 4 AM on August 5, 1180 in US/Mountain, what's the date and time in US/Hawaii?",
            "12 AM on August 5, 1180",
            "Time Zone Conversion",
        )
    )
    assert made.text == (
        "If it's {t1} on {d1} in US/Mountain, what's the date and time in US/Hawaii?"
    )
    assert (made.dates, made.times) == (["1180-08-05"], ["04:00"])
    assert made.operation["offsets"] == "local_mean_time"
    assert made.operation["floor"] == "hour"
    assert made.answer["value"] == "1180-08-05T00:00"
    # Local mean time: Denver 6:59:56 and Honolulu 10:31:26 behind Greenwich; today 7 and 10 hours.
    assert made.answer["accepted"] == ["1180-08-05T00:28", "1180-08-05T01:00"]
    assert recompute(made.operation, made.dates, made.times)["value"] == made.answer["value"]
    assert made.source["convention"] == "local_mean_time_floored_to_hour"


def test_time_zone_golds_of_other_conventions_are_accepted() -> None:
    made = question(
        arithmetic(
            "If it's 1 AM on June 10, 1725 in US/Mountain, what's the date and time in UTC?",
            "8 AM on June 10, 1725",
            "Time Zone Conversion",
        )
    )
    assert made.source["convention"] == "standard_offset"
    assert made.answer["accepted"] == ["1725-06-10T07:00", "1725-06-10T07:59"]


OPTIONS = {"A": "IDENTITY", "B": "IS_INCLUDED", "C": "DURING"}


def related(
    passage: str, label: str = "IS_INCLUDED", time: str = "April 30, 1975", event: str = "fell"
) -> Outcome:
    text = f"{passage} What is the relationship between the event '{event}' and the time '{time}'?"
    [outcome] = relation_outcomes("tram", [RelationRow(3, text, OPTIONS, label)])
    return outcome


def test_relations_share_the_placeholder_of_a_date() -> None:
    made = question(related("It fell  on April 30, 1975, not on 1 May, 1975."))
    assert made.text == (
        "It fell on {d1}, not on {d2}. "
        "What is the relationship between the event 'fell' and the time '{d1}'?"
    )
    assert made.dates == ["1975-04-30", "1975-05-01"]
    assert made.operation == {"kind": "none"}
    assert made.answer["value"] == "during"
    assert made.source["label"] == "IS_INCLUDED"
    assert made.source["story_date"] is False


DATELINES = [
    ("It fell. SAIGON, April 30, 1975 (AFP).", "with an agency"),
    ("It fell. SAIGON April 30, 1975 (AFP).", "with an agency"),
    ("It fell. SAIGON, April 30, 1975 (Xinhua) -.", "with an agency"),
    ("It fell. HO CHI MINH CITY, Vietnam, April 30, 1975.", "without an agency"),
    ("It fell. SAIGON, April 30, 1975, 1975.", "without an agency"),
    ("It fell. SAIGON, April 30, 1975, (Xinhua).", "without an agency"),
]


@pytest.mark.parametrize(("passage", "reason"), DATELINES)
def test_a_dateline_dates_the_story_and_not_the_event(passage: str, reason: str) -> None:
    outcome = related(passage)
    assert outcome.step == "story_date"
    assert reason in outcome.reason
    assert question(related(passage, "BEFORE")).source["story_date"] is True


@pytest.mark.parametrize(
    "passage",
    [
        "It fell on April 30, 1975.",
        "The city, which fell April 30, 1975, is large.",
        "The record was set when it fell, April 30, 1975 being the day.",
    ],
)
def test_a_date_in_the_sentence_dates_the_event(passage: str) -> None:
    assert question(related(passage)).answer["value"] == "during"


@pytest.mark.parametrize(
    ("outcome", "step"),
    [
        (related("It fell.", time="1975"), "full_date"),
        (related("It fell.", time="May 1 to October 31, 2010"), "single_date"),
        (related("It fell on April 30, 1975.", "INCLUDES"), "label"),
        (related("It fell on 03/04/1975.", "BEFORE"), "ambiguous_date"),
        (related("It fell on {d1}.", "BEFORE"), "template"),
    ],
)
def test_relations_that_are_left_out(outcome: Outcome, step: str) -> None:
    assert outcome.question is None
    assert (outcome.task, outcome.step) == ("relation", step)


def test_two_events_are_no_relation_to_a_date() -> None:
    text = "It fell. What is the relationship between the event 'a' and the event 'b'?"
    [outcome] = relation_outcomes("tram", [RelationRow(1, text, OPTIONS, "BEFORE")])
    assert (outcome.task, outcome.step) == ("", "task")


def test_quotes_inside_a_time_do_not_hide_the_pair() -> None:
    assert related("It fell.", time="next year's").step == "full_date"


def test_second_spelling_of_the_gold() -> None:
    assert second_spelling({"A": "IS-INCLUDED", "B": "IS_INCLUDED"}, "IS_INCLUDED")
    assert not second_spelling({"A": "DURING", "B": "IS_INCLUDED"}, "IS_INCLUDED")


JSON_TAIL = ' Return your answer as a JSON: JSON = {"date": "mm/dd/yyyy"}'


def asked_of(text: str, label: dict[str, object], kind: str = "add_subtract") -> Outcome:
    [outcome] = outcomes_of_test_of_time("tot", [TestOfTimeRow(5, kind, text, label)])
    return outcome


def test_instructions_do_not_reach_the_question() -> None:
    made = question(
        asked_of(
            "If the date for today in yyyy-mm-dd format is 2001-08-10, what was the date 3 days "
            'ago in the same format? If the question cannot be answered, reply "unanswerable".'
            ' Format your answer as a JSON, eg: JSON = {"answer": "2001-08-09"}.',
            {"answer": "2001-08-07"},
            "trick",
        )
    )
    assert made.text == "If the date for today is {d1}, what was the date 3 days ago?"
    assert made.answer["value"] == "2001-08-07"
    assert made.source["question_type"] == "trick"


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("What is the date 2 weeks from now in? Share your answer as a JSON x",
         "What is the date 2 weeks from now?"),
        ("What is the day 9 days from now in the yyyy-mm-dd format if it is  2003-Feb-15?",
         "What is the date 9 days from now if it is 2003-Feb-15?"),
        ("I am X months old. You can assume it. Eg: the time between 02/13/2020 and 03/13/2020 "
         "is 1 month. Return your answer as a JSON", "I am X months old. You can assume it."),
        ("It was established in May 28, 2012, their 23 anniversary",
         "It was established on May 28, 2012, their 23rd anniversary"),
        ("expedited and finised early by 3 months", "expedited and finished early by 3 months"),
        ("moved back early by 17 weeks", "moved back earlier by 17 weeks"),
        ("on 2013-05-27? (Answer in days). Return your answer as a JSON", "on 2013-05-27?"),
        ("born on 2002-07-16. Both dates are in yyyy-mm-dd format.", "born on 2002-07-16."),
    ],
)  # fmt: skip
def test_cleaning(raw: str, text: str) -> None:
    assert clean(raw) == text


SHIFTS = [
    ("If it is {d1}, what is the date 4 weeks from now?", {"sign": 1, "weeks": 4}),
    ("A concert on {d1} was preponed by 9 days.", {"sign": -1, "days": 9}),
    ("A concert on {d1} was postponed by 1 day.", {"sign": 1, "days": 1}),
    ("The package was delivered on {d1}. It takes 19 months.", {"sign": -1, "months": 19}),
    ("The package was sent on {d1} and takes 2 months.", {"sign": 1, "months": 2}),
    ("Due on {d1}, it was granted a 12 months extension.", {"sign": 1, "months": 12}),
    ("It took exactly 8 years to construct. They started construction on {d1}.",
     {"sign": 1, "years": 8, "part": "year"}),
    ("Established on {d1}, they will celebrate their 7th anniversary.",
     {"sign": 1, "years": 7, "part": "year"}),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), SHIFTS)
def test_shift_templates(text: str, expected: dict[str, object]) -> None:
    operation, either = read_operation(text, ["2000-01-01"])
    assert operation == {"kind": "shift", "date": "d1"} | expected
    assert not either


def test_the_next_of_a_recurrence_is_after_today() -> None:
    text = "A day is free every 10 days. The first was on {d1}. If today is {d2}, when is the next?"
    for today, days in (("2000-01-11", 20), ("2000-01-10", 10), ("2000-01-01", 10)):
        operation, _ = read_operation(text, ["2000-01-01", today])
        assert operation == {"kind": "shift", "date": "d1", "sign": 1, "days": days}


def test_differences_take_their_direction_from_the_words() -> None:
    text = "Today is {d1} and I was born on {d2}. I am X months old."
    assert read_operation(text, [])[0] == {
        "kind": "difference",
        "from": "d2",
        "to": "d1",
        "unit": "months",
    }
    text = (
        "Ann and Bo were born on {d1} and {d2} respectively. "
        "When Bo was 9 days old, how old was Ann in days?"
    )
    assert read_operation(text, [])[0]["plus"] == 9
    swapped = text.replace("how old was Ann", "how old was Bo")
    assert read_operation(swapped, [])[0] == {"kind": "none"}


def test_an_unknown_wording_keeps_its_gold_and_is_not_computed() -> None:
    made = question(asked_of("When is Easter of 2001-01-01?" + JSON_TAIL, {"date": "04/15/2001"}))
    assert made.operation == {"kind": "none"}
    assert made.answer["value"] == "2001-04-15"


def test_a_direction_that_may_be_read_both_ways_accepts_both() -> None:
    text = "The match was moved forward by 1 weeks. It was planned for Mar 31, 2015, when is it?"
    made = question(asked_of(text + JSON_TAIL, {"date": "04/07/2015"}))
    assert made.answer == {"kind": "date", "value": "2015-04-07", "accepted": ["2015-03-24"]}


def test_labels_follow_the_questions_own_order() -> None:
    text = "It is free every 10 days, first on 18-02-2014. If today is 27-02-2014, when next?"
    made = question(asked_of(text, {"answer": "08-03-2014"}, "multi_op"))
    assert made.answer["value"] == "2014-03-08"
    assert made.source["date_format"] == "numeric_dmy"


@pytest.mark.parametrize(
    ("text", "label", "kind", "step"),
    [
        ("Who came first?", {"answer": "Ann"}, "compare", "task"),
        ("E15 was born on 2001-01-01.", {"answer": "1"}, "duration", "synthetic_entity"),
        ("It is 2001. When is it?", {"answer": "2002"}, "trick", "full_date"),
        ("It is 2001-02-30, what is the date 2 days from now?", {"answer": "x"}, "trick",
         "possible_date"),
        ("It is 03-04-2001, what is the date 2 days from now?", {"answer": "x"}, "trick",
         "ambiguous_date"),
        ("It is 2001-02-03. Who came first?", {"answer": "Ann"}, "trick", "answer"),
        ("It is 2001-02-03. What now?", {"answer": "unanswerable"}, "trick", "answer"),
        ("It is 2001-02-03. What now?", {"X": 1, "Y": 2}, "trick", "answer"),
        ("It is 2001-02-03. What now?", {"answer": "3.5"}, "trick", "answer"),
        ("It is 2001-02-03. What now?", {"answer": "2001-02-03 or so"}, "trick", "answer"),
    ],
)  # fmt: skip
def test_rows_of_test_of_time_that_are_left_out(
    text: str, label: dict[str, object], kind: str, step: str
) -> None:
    outcome = asked_of(text, label, kind)
    assert outcome.question is None
    assert outcome.step == step


def forecast(text: str, target: str | None = "Yes", choices: tuple[str, ...] = ("Yes", "No")):  # type: ignore[no-untyped-def]
    days = date(2024, 7, 5), date(2024, 10, 7)
    [outcome] = freshbench_outcomes("fresh", [ForecastRow(2, text, *days, choices, target)])
    return outcome


@pytest.mark.parametrize(
    "text",
    [
        "Will it rain before 7 October 2024?",
        "Will it rain in Rome by 7 October 2024, according to the mayor?",
        "Will it rain between 7 October 2024 and 9 October 2024?",
    ],
)
def test_forecasts_by_a_date(text: str) -> None:
    made = question(forecast(text))
    assert made.task == "relation"
    assert made.answer == {"kind": "yes_no", "value": "yes", "accepted": []}
    assert made.dates[0] == "2024-10-07"
    assert made.source["closed"] == "2024-10-07"


@pytest.mark.parametrize(
    ("outcome", "step"),
    [
        (forecast("Who will win before 7 October 2024?", "A", ("A", "B")), "task"),
        (forecast("Will it rain this year?"), "full_date"),
        (forecast("Will it rain before 7 October 2024?", None), "answer"),
        (forecast("Will the rain of 7 October 2024 be forgotten?"), "template"),
    ],
)
def test_forecasts_that_are_left_out(outcome: Outcome, step: str) -> None:
    assert outcome.question is None
    assert outcome.step == step


def own(**changes: object) -> dict[str, object]:
    row = SeedQuestion.create(
        "date_arithmetic",
        "What is 60 days after {d1}?",
        ["1225-05-01"],
        [],
        {"kind": "shift", "date": "d1", "sign": 1, "days": 60},
        {"kind": "date", "value": "1225-06-30", "accepted": []},
        {"name": "own", "row": 1, "date_format": "iso"},
    ).to_json()
    return row | changes


def write_own(path: Path, *rows: dict[str, object]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_own_questions_are_read_and_computed_again(tmp_path: Path) -> None:
    path = tmp_path / "own.jsonl"
    write_records(path, [SeedQuestion.from_json(own())])
    [outcome] = read_source(path, "own_questions", {"reader": "seed_questions", "entries": 1})
    assert question(outcome).answer["value"] == "1225-06-30"
    assert question(outcome).source["name"] == "own_questions"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"answer": {"kind": "date", "value": "1225-06-29", "accepted": []}},
         "answer.value is '1225-06-29', but the operation gives '1225-06-30'"),
        ({"answer": {"kind": "number", "value": "1225-06-30", "accepted": []}}, "answer.kind"),
        ({"operation": {"kind": "none"}}, "need a computed answer"),
        ({"operation": {"kind": "shift", "date": "d1"}}, "'sign' is missing"),
        ({"operation": "shift"}, "must be objects"),
        ({"source": None}, "must be objects"),
        ({"text": "What is 60 days after {d2}?"}, "placeholders"),
        ({"question_id": "date_arithmetic-0"}, "expected 'date_arithmetic-"),
        ({"dates": 3}, "int"),
        ({"more": 1}, "unknown field"),
    ],
)  # fmt: skip
def test_a_wrong_own_question_is_refused_with_file_and_row(
    tmp_path: Path, change: dict[str, object], message: str
) -> None:
    path = write_own(tmp_path / "own.jsonl", own(), own(**change))
    with pytest.raises(DataError, match=message) as caught:
        read_own_questions(path, "own")
    assert f"{path}, line 2" in str(caught.value)


@pytest.mark.parametrize("accepted", ["2024", None, ["zzz"], ["2024-02-30"], [5], [True]])
def test_accepted_answers_of_own_questions_are_read_strictly(
    tmp_path: Path, accepted: object
) -> None:
    row = own()
    row["answer"] = {**row["answer"], "accepted": accepted}  # type: ignore[dict-item]
    with pytest.raises(DataError, match=r"own\.jsonl, line 1: answer\.accepted"):
        read_own_questions(write_own(tmp_path / "own.jsonl", row), "own")
    row["answer"] = {**row["answer"], "accepted": ["2024-02-29"]}  # type: ignore[dict-item]
    assert len(read_own_questions(write_own(tmp_path / "own.jsonl", row), "own")) == 1


def test_an_own_question_that_stands_twice(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"line 2: .* stands twice"):
        read_own_questions(write_own(tmp_path / "own.jsonl", own(), own()), "own")


def test_sources_are_checked_against_their_entry(tmp_path: Path) -> None:
    path = write_own(tmp_path / "own.jsonl", own())
    with pytest.raises(DataError, match="1 rows, expected 2"):
        read_source(path, "own", {"reader": "seed_questions", "entries": 2})
    with pytest.raises(DataError, match=r"corpora\.own: no reader 'guess'"):
        read_source(path, "own", {"reader": "guess"})
    with pytest.raises(DataError, match="sha256"):
        read_source(path, "own", {"reader": "seed_questions", "sha256": "0" * 64})


def test_the_shipped_questions_fill_the_embedded_quotas() -> None:
    path = Path(__file__).parents[2] / "data/embedded/multitempbench_questions.jsonl"
    tasks = Counter(outcome.task for outcome in read_own_questions(path, "own_questions"))
    assert set(tasks) == set(TASKS)
    assert min(tasks.values()) >= 12
