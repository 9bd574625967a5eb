"""Answers computed from operations, against values worked out elsewhere."""

from __future__ import annotations

from datetime import date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts.multitempbench.recomputation import (
    RecomputationError,
    completed,
    convert,
    recompute,
    relate,
    shift_date,
    standard_offset,
    zone,
)


def shift(start: str, sign: int = 1, **more: object) -> dict[str, object]:
    return recompute({"kind": "shift", "date": "d1", "sign": sign, **more}, [start], [])


def test_the_papers_gold_of_table_9_is_a_day_short() -> None:
    assert shift("1225-05-01", days=60)["value"] == "1225-06-30"


@pytest.mark.parametrize(
    ("start", "sign", "amounts", "expected"),
    [
        ("2024-01-31", 1, {"months": 1}, "2024-02-29"),
        ("2023-01-31", 1, {"months": 1}, "2023-02-28"),
        ("2024-02-29", 1, {"years": 1}, "2025-02-28"),
        ("2024-03-31", -1, {"months": 1}, "2024-02-29"),
        # Years and months first, then weeks and days.
        ("2024-01-31", 1, {"months": 1, "days": 1}, "2024-03-01"),
        ("1900-02-28", 1, {"days": 1}, "1900-03-01"),
        ("2000-02-28", 1, {"weeks": 1}, "2000-03-06"),
        # Proleptic Gregorian: no ten days are missing in October 1582, and 1500 has no 29 February.
        ("1582-10-04", 1, {"days": 1}, "1582-10-05"),
        ("1500-02-28", 1, {"days": 1}, "1500-03-01"),
    ],
)
def test_shift(start: str, sign: int, amounts: dict[str, int], expected: str) -> None:
    assert shift(start, sign, **amounts) == {"kind": "date", "value": expected, "accepted": []}


def test_shift_to_a_year_only() -> None:
    assert shift("1999-07-17", years=8, part="year") == {
        "kind": "number",
        "value": 2007,
        "accepted": [],
        "unit": "",
    }


@given(st.dates(), st.integers(0, 100_000), st.sampled_from((1, -1)))
def test_days_are_undone_by_days(start: date, days: int, sign: int) -> None:
    try:
        moved = shift_date(start, sign, {"days": days})
    except RecomputationError:
        return
    assert shift_date(moved, -sign, {"days": days}) == start
    assert completed(start, moved, "days") == sign * days


@pytest.mark.parametrize(
    ("first", "last", "unit", "expected"),
    [
        ("1992-11-17", "2000-03-15", "days", 2675),
        ("2000-01-01", "2000-01-14", "weeks", 1),
        ("2000-01-14", "2000-01-01", "weeks", -1),
        ("2015-06-25", "2016-09-25", "months", 15),
        ("2015-06-26", "2016-09-25", "months", 14),
        ("1873-12-14", "1904-05-16", "years", 30),
        ("2016-09-25", "2015-06-25", "months", -15),
    ],
)
def test_difference(first: str, last: str, unit: str, expected: int) -> None:
    operation = {"kind": "difference", "from": "d1", "to": "d2", "unit": unit}
    assert recompute(operation, [first, last], []) == {
        "kind": "number",
        "value": expected,
        "accepted": [],
        "unit": unit,
    }


def test_difference_counts_from_before_the_first_date() -> None:
    operation = {"kind": "difference", "from": "d1", "to": "d2", "unit": "days", "plus": 824}
    assert recompute(operation, ["2012-10-21", "2013-05-27"], [])["value"] == 1042


@given(st.dates(), st.dates())
def test_years_months_and_days_agree_in_sign_and_size(first: date, last: date) -> None:
    days = completed(first, last, "days")
    months = completed(first, last, "months")
    assert months == 0 or (months > 0) == (days > 0)
    assert abs(completed(first, last, "years")) == abs(months) // 12
    assert abs(completed(first, last, "weeks")) == abs(days) // 7


def time_zone(day: str, time: str, source: str, target: str, **more: str) -> object:
    operation = {"kind": "time_zone", "date": "d1", "time": "t1", "from": source, "to": target}
    return recompute(operation | more, [day], [time])["value"]


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"offsets": "standard"}, "1352-03-01T20:00"),
        # Singapore 6:55:25 and Athens 1:34:52 from Greenwich by local mean time.
        ({"offsets": "local_mean_time"}, "1352-03-01T20:39"),
        ({"offsets": "local_mean_time", "floor": "hour"}, "1352-03-01T20:00"),
    ],
)
def test_time_zone_of_the_papers_table_5(more: dict[str, str], expected: str) -> None:
    assert time_zone("1352-03-02", "02:00", "Asia/Singapore", "Europe/Athens", **more) == expected


def test_daylight_saving_is_history_and_no_standard() -> None:
    # 21 April 1945: war time in the United States, so 18:00 UTC; Greece three hours ahead.
    arguments = ("1945-04-21", "11:00", "US/Pacific", "Europe/Athens")
    assert time_zone(*arguments, offsets="local_mean_time") == "1945-04-21T20:00"
    assert time_zone(*arguments, offsets="standard") == "1945-04-21T21:00"


@pytest.mark.parametrize(
    ("name", "minutes"),
    [
        ("UTC", 0),
        ("US/Eastern", -300),
        ("Asia/Kolkata", 330),
        ("Australia/Sydney", 600),
        ("Europe/Dublin", 0),
        ("Africa/Casablanca", 60),
        ("Australia/Lord_Howe", 630),
        ("Etc/GMT+5", -300),
    ],
)
def test_standard_offset(name: str, minutes: int) -> None:
    assert standard_offset(name) == timedelta(minutes=minutes)


@pytest.mark.parametrize("name", ["../zoneinfo", "Europe", "Europe/Atlantis", "", "a/../b", "/etc"])
def test_unknown_zones_are_refused(name: str) -> None:
    with pytest.raises(RecomputationError):
        zone(name)


@given(
    st.datetimes(datetime(1000, 1, 1), datetime(2100, 1, 1)).map(lambda t: t.replace(microsecond=0))
)
def test_standard_offsets_are_undone(moment: datetime) -> None:
    away = convert(moment, "Asia/Kolkata", "US/Hawaii", "standard")
    assert convert(away, "US/Hawaii", "Asia/Kolkata", "standard") == moment


@pytest.mark.parametrize(
    ("event", "reference", "expected"),
    [
        ("2020-01-01", "2020-01-02", "before"),
        ("2020-01-03", "2020-01-02", "after"),
        ("2020-01-02", "2020-01-02", "simultaneous"),
        ("2020-01-02", ["2020-01-01", "2020-01-31"], "during"),
        (["2020-01-01", "2020-01-31"], ["2020-01-01", "2020-01-31"], "simultaneous"),
        ("d1", "2020-01-02", "before"),
        (["d1", "2020-01-01"], "2021-01-01", "before"),
    ],
)
def test_relation(event: object, reference: object, expected: str) -> None:
    operation = {"kind": "relation", "event": event, "reference": reference}
    assert recompute(operation, ["1999-12-31"], []) == {
        "kind": "relation",
        "value": expected,
        "accepted": [],
    }


def test_an_overlap_is_no_relation() -> None:
    days = [date(2020, 1, day) for day in (1, 5, 10)]
    with pytest.raises(RecomputationError, match="overlap"):
        relate((days[0], days[1]), (days[1], days[2]))
    with pytest.raises(RecomputationError, match="overlap"):
        relate((days[0], days[2]), (days[1], days[1]))


@pytest.mark.parametrize(
    ("operation", "message"),
    [
        ({"kind": "none"}, "not computed"),
        ({}, "not computed"),
        ({"kind": "shift", "date": "d1", "sign": 1}, "whole years"),
        ({"kind": "shift", "date": "d1", "days": 1}, "'sign' is missing"),
        ({"kind": "shift", "date": "d1", "sign": 2, "days": 1}, "neither 1 nor -1"),
        ({"kind": "shift", "date": "d1", "sign": 1, "days": 1.5}, "whole"),
        ({"kind": "shift", "date": "d2", "sign": 1, "days": 1}, "has 1 of its kind"),
        ({"kind": "shift", "date": "t1", "sign": 1, "days": 1}, "no placeholder"),
        ({"kind": "shift", "date": "d1", "sign": 1, "years": 9000}, "year"),
        ({"kind": "difference", "from": "d1", "to": "d1", "unit": "hours"}, "unit 'hours'"),
        ({"kind": "relation", "event": "d1", "reference": "soon"}, "no date"),
        ({"kind": "relation", "event": "d1", "reference": ["2000-01-01"]}, r"\[first, last\]"),
        ({"kind": "relation", "event": ["2001-01-01", "2000-01-01"], "reference": "d1"}, "ends"),
    ],
)
def test_what_cannot_be_computed_says_why(operation: dict[str, object], message: str) -> None:
    with pytest.raises(RecomputationError, match=message):
        recompute(operation, ["2000-01-01"], [])


@pytest.mark.parametrize(
    ("day", "time", "offsets", "message"),
    [
        ("2000-01-01", "25:00", "standard", "no date and time"),
        ("2000-01-01", "12:00", "summer", "offsets 'summer'"),
        ("0001-01-01", "00:00", "standard", "years 1 to 9999"),
    ],
)
def test_times_that_cannot_be_told_elsewhere(
    day: str, time: str, offsets: str, message: str
) -> None:
    with pytest.raises(RecomputationError, match=message):
        time_zone(day, time, "Asia/Tokyo", "UTC", offsets=offsets)
