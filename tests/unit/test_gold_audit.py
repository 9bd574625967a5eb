"""The audit of the sources' golds: agreement, and the convention that explains a disagreement."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import pytest
from convertdate import julian
from hypothesis import given
from hypothesis import strategies as st

from scripts.multitempbench.gold_audit import COLUMNS, SHIFT_RULES, Audit, audit
from scripts.multitempbench.questions import SeedQuestion

SOURCE = {"name": "tram", "row": 9, "date_format": "iso"}


def audited(
    operation: dict[str, Any],
    dates: list[str],
    value: object,
    kind: str = "date",
    times: list[str] | None = None,
) -> Audit | None:
    names = [f"{{d{n}}}" for n in range(1, len(dates) + 1)] + ["{t1}"] * bool(times)
    answer = {"kind": kind, "value": value, "accepted": []}
    task = "time_zone" if times else "date_arithmetic"
    return audit(
        SeedQuestion.create(task, " ".join(names), dates, times or [], operation, answer, SOURCE)
    )


def shifted(start: str, gold: str, sign: int = 1, **amounts: int) -> Audit:
    found = audited({"kind": "shift", "date": "d1", "sign": sign, **amounts}, [start], gold)
    assert found is not None
    return found


def test_the_papers_wrong_gold_of_table_9() -> None:
    found = shifted("1225-05-01", "1225-06-29", days=60)
    assert not found.agrees
    assert found.recomputed == "1225-06-30"
    assert found.convention == "off_by_one_day_less"
    assert found.note == "the gold is 1 day(s) earlier"
    assert (found.source, found.row, found.gold) == ("tram", 9, "1225-06-29")
    assert tuple(Audit.__dataclass_fields__) == COLUMNS


def test_a_right_gold() -> None:
    found = shifted("1225-05-01", "1225-06-30", days=60)
    assert (found.agrees, found.convention, found.note) == (True, "relativedelta", "")


@pytest.mark.parametrize(
    ("start", "gold", "sign", "amounts", "convention"),
    [
        ("2023-01-31", "2023-03-03", 1, {"months": 1}, "month_end_overflow"),
        ("2024-01-30", "2024-02-29", 1, {"months": 1, "days": 1}, "days_before_months"),
        ("2001-01-15", "2000-12-15", 1, {"months": 1}, "opposite_direction"),
        ("2001-01-15", "2001-02-14", 1, {"months": 1}, "off_by_one_day_less"),
        ("2001-01-15", "2001-02-16", 1, {"months": 1}, "off_by_one_day_more"),
        ("2001-01-31", "2001-04-01", 1, {"months": 2}, "off_by_one_day_more"),
        ("2001-07-15", "2002-01-11", 1, {"months": 6}, "months_of_thirty_days"),
        # 1500 was a leap year of the Julian calendar only.
        ("1500-02-28", "1500-02-29", 1, {"days": 1}, "unexplained"),
        ("1500-02-20", "1500-03-01", 1, {"days": 10}, "julian_calendar"),
        ("2001-01-15", "2009-09-09", 1, {"months": 1}, "unexplained"),
    ],
)
def test_conventions_that_explain_a_gold(
    start: str, gold: str, sign: int, amounts: dict[str, int], convention: str
) -> None:
    found = shifted(start, gold, sign, **amounts)
    assert not found.agrees
    assert found.convention == convention


@given(st.dates(date(4, 3, 1), date(2100, 1, 1)), st.integers(0, 5000), st.sampled_from((1, -1)))
def test_julian_days_agree_with_a_library(start: date, days: int, sign: int) -> None:
    operation = {"kind": "shift", "date": "d1", "sign": sign, "days": days}
    number = julian.to_jd(start.year, start.month, start.day) + sign * days
    year, month, day = julian.from_jd(number)
    if year < 4:
        return
    try:
        expected = date(int(year), int(month), int(day))
    except ValueError:
        return
    assert SHIFT_RULES["julian_calendar"](start, operation) == expected


@given(st.dates(date(1000, 1, 1), date(2100, 1, 1)), st.integers(1, 900))
def test_every_rule_but_ours_differs_from_ours_where_it_explains(start: date, days: int) -> None:
    gold = start + timedelta(days=days + 1)
    found = shifted(start.isoformat(), gold.isoformat(), days=days)
    assert not found.agrees
    assert found.convention in ("off_by_one_day_more", "julian_calendar")


def test_differences() -> None:
    operation = {"kind": "difference", "from": "d1", "to": "d2", "unit": "days"}
    days = ["2000-01-01", "2000-01-11"]
    right = audited(operation, days, 10, "number")
    assert right is not None
    assert (right.agrees, right.convention) == (True, "elapsed")
    inclusive = audited(operation, days, 11, "number")
    assert inclusive is not None
    assert (inclusive.agrees, inclusive.convention) == (False, "off_by_one")
    assert inclusive.note == "the gold is 11, not 10"
    wrong = audited(operation, days, 20, "number")
    assert wrong is not None
    assert wrong.convention == "unexplained"
    other_kind = audited(operation, days, "2000-01-11")
    assert other_kind is not None
    assert not other_kind.agrees


def test_relations_and_what_is_not_computed() -> None:
    operation = {"kind": "relation", "event": "d1", "reference": "d2"}
    found = audited(operation, ["2000-01-01", "2000-01-11"], "before", "relation")
    assert found is not None
    assert (found.agrees, found.convention) == (True, "calendar_order")
    assert audited({"kind": "none"}, ["2000-01-01"], "before", "relation") is None


ZONES = {"kind": "time_zone", "date": "d1", "time": "t1", "offsets": "standard"}


@pytest.mark.parametrize(
    ("gold", "agrees", "convention"),
    [
        ("1180-08-05T00:00", True, "local_mean_time_floored_to_hour"),
        ("1180-08-05T00:28", True, "local_mean_time"),
        ("1180-08-05T01:00", True, "standard_offset"),
        ("1180-08-05T02:00", False, "off_by_one_hour"),
        ("1180-08-06T01:00", False, "off_by_one_day"),
        ("1180-08-05T09:00", False, "unexplained"),
    ],
)
def test_time_zones_agree_with_any_convention(gold: str, agrees: bool, convention: str) -> None:
    operation = ZONES | {"from": "US/Mountain", "to": "US/Hawaii"}
    found = audited(operation, ["1180-08-05"], gold, "date_time", ["04:00"])
    assert found is not None
    assert (found.agrees, found.convention) == (agrees, convention)
    assert found.recomputed == "1180-08-05T01:00"


def test_a_zone_that_does_not_exist_is_a_disagreement() -> None:
    operation = ZONES | {"from": "Europe/Atlantis", "to": "UTC"}
    found = audited(operation, ["1180-08-05"], "1180-08-05T09:00", "date_time", ["04:00"])
    assert found is not None
    assert (found.agrees, found.recomputed) == (False, "")
    assert "Europe/Atlantis" in found.note


def test_a_rule_that_leaves_the_calendar_explains_nothing() -> None:
    assert shifted("0001-01-05", "9999-01-01", -1, days=4).convention == "unexplained"
