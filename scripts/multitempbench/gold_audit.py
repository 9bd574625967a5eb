"""Every gold answer that can be computed, computed again, and what explains a disagreement.

A gold of the sources is believed when our own computation gives it. Where it does not, the audit
looks for the convention that would: months after days, months that overflow into the next, the
Julian calendar, one day more or less, the other direction.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from dateutil.relativedelta import relativedelta

from scripts.files import DataError
from scripts.multitempbench.questions import SeedQuestion
from scripts.multitempbench.recomputation import recompute, shift_date
from scripts.multitempbench.time_conventions import readings

#: Columns of gold_audit.csv.
COLUMNS = (
    "question_id",
    "source",
    "row",
    "task",
    "gold",
    "recomputed",
    "convention",
    "agrees",
    "note",
)
UNEXPLAINED = "unexplained"


@dataclass(frozen=True, slots=True)
class Audit:
    """The audit of one question; the fields are the columns of gold_audit.csv.

    `convention` names what gives the gold (several are joined by `+`), also where it does not count
    as agreement; `recomputed` is what the question's operation gives.
    """

    question_id: str
    source: str
    row: int | str
    task: str
    gold: str
    recomputed: str
    convention: str
    agrees: bool
    note: str


def audit(question: SeedQuestion) -> Audit | None:
    """The audit of a question's gold; None where its operation is `none`."""
    kind = question.operation["kind"]
    if kind == "none":
        return None
    gold = str(question.answer["value"])
    try:
        computed = recompute(question.operation, question.dates, question.times)
    except DataError as error:
        return _audited(question, gold, "", UNEXPLAINED, False, str(error))
    value = str(computed["value"])
    if kind == "time_zone":
        return _audit_time_zone(question, gold, value)
    agrees = value == gold and computed["kind"] == question.answer["kind"]
    if agrees:
        convention = {"shift": "relativedelta", "difference": "elapsed"}.get(kind, "calendar_order")
        return _audited(question, gold, value, convention, True, "")
    convention = _explain(question, gold, computed)
    return _audited(question, gold, value, convention, False, _distance(gold, value))


def _audited(  # noqa: PLR0917
    question: SeedQuestion, gold: str, value: str, convention: str, agrees: bool, note: str
) -> Audit:
    name, row = str(question.source["name"]), question.source["row"]
    return Audit(
        question.question_id, name, row, question.task, gold, value, convention, agrees, note
    )


def _audit_time_zone(question: SeedQuestion, gold: str, value: str) -> Audit:
    """Agreement with any convention counts: the question does not say which one it means."""
    told = readings(question.operation, question.dates, question.times)
    matched = "+".join(name for name, text in told.items() if text == gold)
    note = "; ".join(f"{name} {text}" for name, text in told.items() if text != gold)
    convention = matched or _explain_time(gold, told)
    return _audited(question, gold, value, convention, bool(matched), note)


def _explain_time(gold: str, told: Mapping[str, str]) -> str:
    """Whether the gold is a whole hour or day away from what a convention gives."""
    apart = {
        abs(datetime.fromisoformat(gold) - datetime.fromisoformat(text)) for text in told.values()
    }
    if timedelta(hours=1) in apart:
        return "off_by_one_hour"
    return "off_by_one_day" if timedelta(days=1) in apart else UNEXPLAINED


def _explain(question: SeedQuestion, gold: str, computed: Mapping[str, Any]) -> str:
    """The name of the first convention that gives the gold."""
    if computed["kind"] == "number" and question.answer["kind"] == "number":
        apart = abs(int(gold) - int(computed["value"]))
        return "off_by_one" if apart == 1 else UNEXPLAINED
    if question.operation["kind"] != "shift" or question.answer["kind"] != "date":
        return UNEXPLAINED
    start = date.fromisoformat(question.dates[int(str(question.operation["date"])[1:]) - 1])
    for name, rule in SHIFT_RULES.items():
        try:
            day = rule(start, question.operation)
        except (DataError, ValueError, OverflowError):
            continue
        if day.isoformat() == gold:
            return name
    return UNEXPLAINED


def _amounts(operation: Mapping[str, Any]) -> tuple[int, int]:
    """Signed months and days of a shift."""
    sign = int(operation["sign"])
    months = 12 * operation.get("years", 0) + operation.get("months", 0)
    return sign * months, sign * (7 * operation.get("weeks", 0) + operation.get("days", 0))


def _days_first(start: date, operation: Mapping[str, Any]) -> date:
    months, days = _amounts(operation)
    day: date = start + timedelta(days=days) + relativedelta(months=months)
    return day


def _overflow(start: date, operation: Mapping[str, Any]) -> date:
    """31 January and a month is 3 March (2 in a leap year): days beyond the month's end run on."""
    months, days = _amounts(operation)
    first: date = start.replace(day=1) + relativedelta(months=months)
    return first + timedelta(days=start.day - 1 + days)


def _months_of_thirty_days(start: date, operation: Mapping[str, Any]) -> date:
    months, days = _amounts(operation)
    return start + timedelta(days=30 * months + days)


def _opposite(start: date, operation: Mapping[str, Any]) -> date:
    return shift_date(start, -operation["sign"], _units(operation))


def _off_by(days: int) -> Callable[[date, Mapping[str, Any]], date]:
    def rule(start: date, operation: Mapping[str, Any]) -> date:
        day = shift_date(start, operation["sign"], _units(operation))
        return day + timedelta(days=days)

    return rule


def _units(operation: Mapping[str, Any]) -> dict[str, int]:
    return {key: operation[key] for key in ("years", "months", "weeks", "days") if key in operation}


def _julian(start: date, operation: Mapping[str, Any]) -> date:
    """Days counted in the Julian calendar, where every fourth year has a 29 February."""
    months, days = _amounts(operation)
    if months:
        raise ValueError("months are the same in both calendars but for the day of the month")
    year, month, day = _julian_date(_julian_ordinal(start.year, start.month, start.day) + days)
    return date(year, month, day)


def _julian_ordinal(year: int, month: int, day: int) -> int:
    """Days since 1 March of the year 0 of the Julian calendar."""
    years, months = (year, month - 3) if month > 2 else (year - 1, month + 9)
    return 365 * years + years // 4 + (153 * months + 2) // 5 + day - 1


def _julian_date(ordinal: int) -> tuple[int, int, int]:
    years = (4 * ordinal + 3) // 1461
    rest = ordinal - (365 * years + years // 4)
    months = (5 * rest + 2) // 153
    day = rest - (153 * months + 2) // 5 + 1
    return (years + (months >= 10), months + 3 - 12 * (months >= 10), day)


#: Rules that are not ours, tried in this order.
SHIFT_RULES: dict[str, Callable[[date, Mapping[str, Any]], date]] = {
    "days_before_months": _days_first,
    "month_end_overflow": _overflow,
    "julian_calendar": _julian,
    "off_by_one_day_less": _off_by(-1),
    "off_by_one_day_more": _off_by(1),
    "opposite_direction": _opposite,
    "months_of_thirty_days": _months_of_thirty_days,
}


def _distance(gold: str, value: str) -> str:
    """How far the gold is from the computed value, in words."""
    try:
        days = (datetime.fromisoformat(gold) - datetime.fromisoformat(value)).days
    except ValueError:
        return f"the gold is {gold}, not {value}"
    return f"the gold is {abs(days)} day(s) {'later' if days > 0 else 'earlier'}"
