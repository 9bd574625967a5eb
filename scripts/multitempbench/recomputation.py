"""The answer of a machine-readable operation, computed here and nowhere else.

Dates are proleptic Gregorian throughout (the ISO calendar carried back before 1582). Time zones
come from the `tzdata` package, never from the machine's own files: distributions build those with
different histories before 1970, and the answers must not depend on the machine.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, timedelta
from functools import cache
from importlib import resources
from typing import Any
from zoneinfo import ZoneInfo

from dateutil.relativedelta import relativedelta

from scripts.files import DataError
from scripts.multitempbench.tasks import RELATIONS

#: Parts of a shift, in the order in which they are named.
SHIFT_UNITS = ("years", "months", "weeks", "days")
#: Units of a difference.
DIFFERENCE_UNITS = ("days", "weeks", "months", "years")
#: Conventions for the offset of a zone from UTC.
OFFSETS = ("standard", "local_mean_time")
#: The year whose offsets count as the present ones: fixed, so that answers never change by waiting.
PRESENT_YEAR = 2024
# Standard time holds for four months of the year at least; a change for one month (Morocco's
# Ramadan time) is not it.
_MONTHS_OF_STANDARD_TIME = 3

Answer = dict[str, Any]
Span = tuple[date, date]


class RecomputationError(DataError):
    """An operation cannot be computed: unknown, incomplete, or its answer is no date."""


def recompute(operation: Mapping[str, Any], dates: Sequence[str], times: Sequence[str]) -> Answer:
    """The answer of an operation on a question's dates and times.

    `operation`, `dates` and `times` as in `questions.SeedQuestion`, with three optional fields:
    `part: "year"` of a shift (only the year is asked for: a number without a unit), `plus` of a
    difference (a whole number added to it, for what had begun before `from`), `floor: "hour"` of
    a time zone (minutes are cut off; otherwise seconds are).

    Returns an answer with `kind`, `value`, an empty `accepted`, and for numbers `unit`. Numbers are
    whole: completed weeks, months or years, counted from `from` to `to` (negative when `to` is
    earlier). A relation's `event` and `reference` may also be placeholders of dates. Raises
    RecomputationError for an operation of kind `none`, for one that is incomplete, and for answers
    outside the years 1 to 9999.
    """
    kind = operation.get("kind")
    computations: dict[Any, Callable[..., Answer]] = {
        "shift": _shift,
        "difference": _difference,
        "time_zone": _time_zone,
        "relation": _relation,
    }
    if kind not in computations:
        raise RecomputationError(
            f"operation {kind!r} is not computed; known: {', '.join(computations)}"
        )
    try:
        return computations[kind](operation, dates, times)
    except KeyError as error:
        raise RecomputationError(f"operation {kind}: field {error} is missing") from error
    except OverflowError as error:
        raise RecomputationError(f"operation {kind}: no date of the years 1 to 9999") from error


def _answer(kind: str, value: Any, **more: Any) -> Answer:
    return {"kind": kind, "value": value, "accepted": [], **more}


def _placed(name: Any, values: Sequence[str], letter: str) -> str:
    """The value that a placeholder such as `d1` stands for."""
    text = str(name)
    number = text[1:]
    if not (text.startswith(letter) and number.isascii() and number.isdigit()):
        raise RecomputationError(f"{name!r} is no placeholder {letter}1, {letter}2, …")
    if not 1 <= int(number) <= len(values):
        raise RecomputationError(f"placeholder {name}: the question has {len(values)} of its kind")
    return values[int(number) - 1]


def _iso_date(text: Any) -> date:
    try:
        return date.fromisoformat(str(text))
    except ValueError as error:
        raise RecomputationError(f"{text!r} is no date YYYY-MM-DD: {error}") from error


def _date(name: Any, dates: Sequence[str]) -> date:
    return _iso_date(_placed(name, dates, "d"))


def shift_date(day: date, sign: int, amounts: Mapping[str, int]) -> date:
    """A date moved by years and months first (the last day of a short month), weeks and days then.

    `amounts` has any of SHIFT_UNITS. This is the rule of `dateutil.relativedelta`. Raises
    RecomputationError outside the years 1 to 9999.
    """
    try:
        years, months, weeks, days = (sign * amounts.get(unit, 0) for unit in SHIFT_UNITS)
        moved: date = day + relativedelta(years=years, months=months, weeks=weeks, days=days)
    except (OverflowError, ValueError) as error:
        raise RecomputationError(f"{day} moved by {dict(amounts)}: {error}") from error
    return moved


def _shift(operation: Mapping[str, Any], dates: Sequence[str], _times: Sequence[str]) -> Answer:
    amounts = {unit: operation[unit] for unit in SHIFT_UNITS if unit in operation}
    if operation["sign"] not in (1, -1):
        raise RecomputationError(f"operation shift: sign {operation['sign']!r} is neither 1 nor -1")
    if not amounts or not all(isinstance(amount, int) for amount in amounts.values()):
        raise RecomputationError("operation shift: needs whole years, months, weeks or days")
    day = shift_date(_date(operation["date"], dates), operation["sign"], amounts)
    if operation.get("part", "date") == "year":
        # A year of the calendar is no quantity of years, so it has no unit.
        return _answer("number", day.year, unit="")
    return _answer("date", day.isoformat())


def completed(first: date, last: date, unit: str) -> int:
    """Completed units from one date to another; negative when the second is the earlier one.

    A month is completed on the same day of the next month (`relativedelta`'s rule).
    """
    if unit not in DIFFERENCE_UNITS:
        raise RecomputationError(f"unit {unit!r}; known: {', '.join(DIFFERENCE_UNITS)}")
    days = (last - first).days
    if unit == "days":
        return days
    if unit == "weeks":
        return days // 7 if days >= 0 else -(-days // 7)
    apart = relativedelta(last, first)
    return int(apart.years if unit == "years" else 12 * apart.years + apart.months)


def _difference(operation: Mapping[str, Any], dates: Sequence[str], _t: Sequence[str]) -> Answer:
    first, last = (_date(operation[name], dates) for name in ("from", "to"))
    unit = str(operation["unit"])
    value = completed(first, last, unit) + int(operation.get("plus", 0))
    return _answer("number", value, unit=unit)


@cache
def zone(name: str) -> ZoneInfo:
    """A zone of the `tzdata` package by its IANA name; RecomputationError for an unknown one."""
    *folders, leaf = name.split("/")
    if not all(
        part and part.replace("_", "").replace("-", "").replace("+", "").isalnum()
        for part in (*folders, leaf)
    ):
        raise RecomputationError(f"{name!r} is no name of a time zone")
    package = resources.files("tzdata").joinpath("zoneinfo", *folders)
    try:
        with package.joinpath(leaf).open("rb") as handle:
            return ZoneInfo.from_file(handle, key=name)
    except (OSError, ValueError) as error:
        raise RecomputationError(f"the tz database has no zone {name!r}") from error


@cache
def standard_offset(name: str) -> timedelta:
    """A zone's present standard offset from UTC, without daylight saving.

    The smallest offset that holds on the first of at least three months of PRESENT_YEAR. Ireland,
    whose law calls summer time the standard, comes out as UTC+0 and Morocco as UTC+1, as clocks do.
    """
    place = zone(name)
    offsets = [
        datetime(PRESENT_YEAR, month, 1, 12, tzinfo=place).utcoffset() or timedelta()
        for month in range(1, 13)
    ]
    return min(o for o in offsets if offsets.count(o) >= _MONTHS_OF_STANDARD_TIME)


def convert(moment: datetime, source: str, target: str, offsets: str) -> datetime:
    """A wall-clock time of one zone as the wall-clock time of another, to the second.

    `offsets` is one of OFFSETS: `standard` uses `standard_offset` of both zones; `local_mean_time`
    what the tz database says for that day: local mean time before standard time was introduced,
    daylight saving where it was in force. A time that a change of clocks skips or repeats is read
    with the offset before the change. `moment` and the result are naive.
    """
    if offsets not in OFFSETS:
        raise RecomputationError(f"offsets {offsets!r}; known: {', '.join(OFFSETS)}")
    try:
        if offsets == "standard":
            return moment - standard_offset(source) + standard_offset(target)
        away = moment.replace(tzinfo=zone(source)).astimezone(zone(target))
        return away.replace(tzinfo=None)
    except OverflowError as error:
        raise RecomputationError(f"{moment} in {source}: no date of the years 1 to 9999") from error


def _time_zone(operation: Mapping[str, Any], dates: Sequence[str], times: Sequence[str]) -> Answer:
    text = f"{_placed(operation['date'], dates, 'd')}T{_placed(operation['time'], times, 't')}"
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise RecomputationError(f"{text!r} is no date and time: {error}") from error
    away = convert(moment, operation["from"], operation["to"], operation["offsets"])
    # Answers have minutes; TRAM, which floors to the hour, says so in its operation.
    if operation.get("floor", "minute") == "hour":
        away = away.replace(minute=0)
    return _answer("date_time", away.isoformat(timespec="minutes"))


def _span(value: Any, dates: Sequence[str]) -> Span:
    """First and last day of an ISO date, a placeholder, or a list of two of these."""
    ends = value if isinstance(value, list | tuple) else [value, value]
    if len(ends) != 2:
        raise RecomputationError(f"{value!r} is neither a date nor [first, last]")
    first, last = (
        _date(end, dates) if str(end).startswith("d") else _iso_date(end) for end in ends
    )
    if first > last:
        raise RecomputationError(f"the span {value!r} ends before it starts")
    return first, last


def relate(event: Span, reference: Span) -> str:
    """The relation of one span of days to another, one of `tasks.RELATIONS`.

    Equal spans are `simultaneous`; an event inside a longer reference is `during`. Raises
    RecomputationError when they overlap otherwise: none of the four words is true then.
    """
    if event == reference:
        return "simultaneous"
    if event[1] < reference[0]:
        return "before"
    if event[0] > reference[1]:
        return "after"
    if reference[0] <= event[0] and event[1] <= reference[1]:
        return "during"
    raise RecomputationError(
        f"{event[0]}–{event[1]} and {reference[0]}–{reference[1]} overlap: no relation of the four"
    )


def _relation(operation: Mapping[str, Any], dates: Sequence[str], _times: Sequence[str]) -> Answer:
    event, reference = (_span(operation[name], dates) for name in ("event", "reference"))
    relation = relate(event, reference)
    if "claim" not in operation:
        return _answer("relation", relation)
    claim = operation["claim"]
    if not isinstance(claim, list) or not claim or not set(claim) <= set(RELATIONS):
        raise RecomputationError(
            f"operation relation: claim {claim!r} is no list of {', '.join(RELATIONS)}"
        )
    return _answer("yes_no", "yes" if relation in claim else "no")
