from collections import Counter
from datetime import date, datetime, timedelta
from itertools import combinations

import pytest
from multitempbench_material import OVERRIDES, QUESTIONS, own_questions, question

from scripts.dates.calendars import to_hijri, to_lunar
from scripts.files import dump_line, read_records
from scripts.multitempbench.questions import SeedQuestion
from scripts.multitempbench.recomputation import RecomputationError, recompute
from scripts.multitempbench.tasks import RELATIONS, TASKS
from scripts.multitempbench.translation import placeholder_problem
from scripts.multitempbench.translation_rows import Override
from scripts.records import RecordError

#: Standard offsets from UTC in hours, from the zones' published definitions.
HOURS = {
    "Asia/Tokyo": 9, "Africa/Lagos": 1, "Europe/Berlin": 1, "America/New_York": -5,
    "Pacific/Auckland": 12, "Pacific/Honolulu": -10, "Asia/Shanghai": 8, "America/Sao_Paulo": -3,
    "Asia/Kathmandu": 5.75, "Africa/Cairo": 2, "Pacific/Kiritimati": 14, "America/Los_Angeles": -8,
    "Pacific/Pago_Pago": -11, "Australia/Sydney": 10, "Asia/Kolkata": 5.5, "Europe/London": 0,
    "Africa/Nairobi": 3, "America/Mexico_City": -6, "Asia/Dubai": 4, "America/Denver": -7,
    "Europe/Lisbon": 0, "Australia/Adelaide": 9.5, "Europe/Moscow": 3, "Asia/Tehran": 3.5,
    "Asia/Jakarta": 7, "America/St_Johns": -3.5, "Atlantic/Reykjavik": 0, "America/Anchorage": -9,
    "Asia/Seoul": 9,
}  # fmt: skip


def of(task):
    return [each for each in own_questions() if each.task == task]


def days_of(each):
    days = [date.fromisoformat(text) for text in each.dates]
    if each.answer["kind"] in ("date", "date_time"):
        days.append(datetime.fromisoformat(each.answer["value"]).date())
    return days


def test_the_file_is_what_recomputation_gives():
    rebuilt = [
        SeedQuestion.create(
            each.task,
            each.text,
            each.dates,
            each.times,
            each.operation,
            recompute(each.operation, each.dates, each.times),
            each.source,
        )
        for each in own_questions()
    ]
    lines = b"".join(dump_line(each.to_json()) for each in rebuilt)
    assert QUESTIONS.read_bytes() == lines


def test_enough_distinct_questions():
    assert all(len(of(task)) >= 15 for task in TASKS)
    assert len({each.question_id for each in own_questions()}) == len(own_questions())
    rows = [each.source["row"] for each in own_questions()]
    assert len(set(rows)) == len(rows)
    openings = Counter(" ".join(each.text.split()[:4]) for each in own_questions())
    assert max(openings.values()) <= 2, "the wording repeats itself"


def test_answers_are_balanced():
    relations = Counter(e.answer["value"] for e in of("relation"))
    assert set(relations) == set(RELATIONS) and len(set(relations.values())) == 1
    yes_no = Counter(e.answer["value"] for e in own_questions() if e.answer["kind"] == "yes_no")
    assert yes_no["yes"] == yes_no["no"] >= 2
    kinds = Counter(e.answer["kind"] for e in of("date_arithmetic"))
    assert kinds["date"] >= 6 and kinds["number"] >= 4
    units = {e.operation["unit"] for e in own_questions() if e.operation["kind"] == "difference"}
    assert units == {"days", "weeks", "months", "years"}


def test_every_calendar_names_every_date():
    for each in own_questions():
        for day in days_of(each):
            assert 1925 <= day.year <= 2075
            assert to_hijri(day, "refuse").source == "ummalqura"
            to_lunar(day)


def test_difficult_days_are_covered():
    days = [day for each in own_questions() for day in days_of(each)]
    assert sum((day.month, day.day) == (2, 29) for day in days) >= 4
    assert sum((day + timedelta(days=1)).day == 1 for day in days) >= 8
    assert sum(to_lunar(day).leap for day in days) >= 6
    assert {(h.month, h.day) for h in map(to_hijri, days)} >= {(1, 1)}
    assert any((day.month, day.day) == (1, 1) for day in days)


def test_time_zones_by_hand():
    crossings = 0
    for each in of("time_zone"):
        operation = each.operation
        assert operation["offsets"] == "standard" and "standard time" in each.text
        away = HOURS[operation["to"]] - HOURS[operation["from"]]
        moment = datetime.fromisoformat(f"{each.dates[0]}T{each.times[0]}")
        expected = moment + timedelta(hours=away)
        assert each.answer["value"] == expected.isoformat(timespec="minutes"), each.text
        crossings += expected.date() != moment.date()
    apart = [HOURS[e.operation["to"]] - HOURS[e.operation["from"]] for e in of("time_zone")]
    assert crossings >= 8 and sum(abs(hours) > 14 for hours in apart) >= 4
    assert len({(e.operation["from"], e.operation["to"]) for e in of("time_zone")}) == len(apart)


@pytest.mark.parametrize(
    ("opening", "value"),
    [
        ("A library book", "2024-03-02"),
        ("Which date is exactly 90", "2024-02-29"),
        ("A newspaper subscription", "2023-02-28"),
        ("Amina planted", "1976-02-15"),
        ("How many days is it", 354),
        ("A satellite", 30),
        ("The Berlin Wall", 10),
        ("Fatima", 75),
        ("A ticket", "no"),
    ],
)
def test_arithmetic_by_hand(opening, value):
    [found] = [each for each in own_questions() if each.text.startswith(opening)]
    assert found.answer["value"] == value


def test_texts_are_plain_sentences():
    for each in own_questions():
        assert placeholder_problem(each.text, each.text) == ""
        assert each.text[0].isupper() and each.text[-1] in "?." and "  " not in each.text
    for one, other in combinations(own_questions(), 2):
        assert one.text != other.text


def test_overrides_file_is_readable():
    assert read_records(OVERRIDES, Override) == []


@pytest.mark.parametrize(
    ("claim", "expected"),
    [(["before"], "yes"), (["after"], "no"), (["simultaneous", "before"], "yes")],
)
def test_a_claim_makes_a_relation_a_yes_no_question(claim, expected):
    operation = {"kind": "relation", "event": "d1", "reference": "d2", "claim": claim}
    answer = recompute(operation, ["2020-01-01", "2020-01-02"], [])
    assert (answer["kind"], answer["value"]) == ("yes_no", expected)


@pytest.mark.parametrize("claim", [[], ["earlier"], "before"])
def test_a_claim_is_a_list_of_relations(claim):
    operation = {"kind": "relation", "event": "d1", "reference": "d2", "claim": claim}
    with pytest.raises(RecomputationError, match="claim"):
        recompute(operation, ["2020-01-01", "2020-01-02"], [])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"task": "ordering"}, "none of"),
        ({"dates": [], "text": "What?"}, "no full date"),
        ({"text": "When?"}, "placeholders"),
        ({"text": "From {d1} to {d2}?"}, "placeholders"),
        ({"operation": {"kind": "guess"}}, "operation.kind"),
        ({"answer": {"kind": "poem", "value": ""}}, "kind"),
        ({"answer": {"kind": "date"}}, "value"),
        ({"dates": ["2023-02-29"]}, "not a date"),
        ({"dates": ["20240302"]}, "'20240302' is not written as YYYY-MM-DD"),
        ({"times": ["0630"], "text": "At {t1} on {d1}?"}, "'0630' is not written as"),
        ({"times": ["25:00"], "text": "At {t1} on {d1}?"}, "not a date or time"),
    ],
)
def test_a_question_that_is_none_is_refused(change, message):
    row = question().to_json() | change
    with pytest.raises(RecordError, match=message):
        SeedQuestion.from_json(row)


def test_the_id_hangs_on_what_is_asked_alone():
    first = question()
    again = SeedQuestion.create(
        first.task, first.text, first.dates, first.times, {"kind": "none"}, first.answer, {}
    )
    assert first.question_id == again.question_id
    assert question(text="What date is 21 days after {d1}?").question_id != first.question_id
