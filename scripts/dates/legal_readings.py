"""What the patterns of `legal_grammar.py` mean: dates, or the reason why they are none.

One reader a kind of pattern. A reader yields findings or raises; nothing is guessed or clamped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import date
from typing import Any, Literal

from scripts.dates.bangla import BANGLA_YEARS, to_gregorian
from scripts.dates.calendars import NoSuchDateError
from scripts.dates.legal_grammar import Candidate, candidates
from scripts.dates.legal_words import Symbols

Granularity = Literal["day", "month", "year"]
Calendar = Literal["gregorian", "bangla"]

#: Gregorian years that a legal text may mean.
GREGORIAN_YEARS = (1700, 2199)
#: Why a text is not read as a date.
REASONS: dict[str, str] = {
    "no_date": "nothing in the text is a date",
    "several_dates": "the text holds several dates",
    "other_text": "the text holds more than a date",
    "no_year": "the year is not stated",
    "two_digit_year": "a year of two digits does not name its century",
    "no_such_day": "the calendar has no such day or month",
    "year_out_of_range": "no year of Gregorian 1700 to 2199 or Bangla 1300 to 1599",
    "calendars_mixed": "month, year and era belong to different calendars",
    "calendar_unclear": "a year that looks Bangla without a word that says so",
    "unordered": "a range that ends before it begins",
    "other_calendar": "a date of the Hijri calendar",
    "mixed_digits": "one number mixes digits of two scripts",
    "fiscal_year": "a fiscal year lies in two calendar years",
    "instrument_number": "the number of an act, rule or order",
    "maybe_code": "may be a tariff code; no word beside it makes it a date",
    "calendars_disagree": "the two calendars name different days",
}


@dataclass(frozen=True, slots=True)
class DateMention:
    """A date in a text; `text` is `source[start:end]`.

    The dates of one range or list (`5-7 June 2016`) share the place of the whole expression.
    """

    value: str
    granularity: Granularity
    calendar: Calendar
    start: int
    end: int
    text: str

    def to_json(self) -> dict[str, Any]:
        """The mention as a row holds it."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Refusal:
    """A text that is no date, and why: a key of REASONS. `start` and `end` are its place."""

    reason: str
    text: str
    start: int = 0
    end: int = 0


# --- findings ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Finding:
    """Symbols first to last, read: mentions, or a refusal; `calendar` is that of a single day."""

    first: int
    last: int
    mentions: tuple[DateMention, ...] = ()
    refusal: Refusal | None = None
    calendar: Calendar | None = None

    @property
    def is_day(self) -> bool:
        """Whether it states one day, even one that does not exist."""
        return self.calendar is not None

    @property
    def item(self) -> DateMention | Refusal:
        """The first mention, or the refusal."""
        return self.mentions[0] if self.refusal is None else self.refusal


class _RefusedError(Exception):
    """A candidate is no date; the argument is a key of REASONS."""


def findings(found: Symbols) -> list[Finding]:
    """Everything in a text that is a date or looks like one, in order of place."""
    return [finding for each in candidates(found) for finding in _read(found, each)]


def _read(found: Symbols, candidate: Candidate) -> Iterator[Finding]:
    match = candidate.match
    first, last = candidate.first, _end(found, match)
    calendar = _calendar_of(found, match) if candidate.kind in _DAY_KINDS else None
    try:
        _refuse_mixed_digits(found, first, last)
        yield from _READERS[candidate.kind](found, match)
    except _RefusedError as refused:
        start, end = found.place(first, last)
        refusal = Refusal(str(refused), found.text[start:end], start, end)
        yield Finding(first, last, refusal=refusal, calendar=calendar)


_DAY_KINDS = frozenset({"day", "numeric", "ordered"})


def _refuse_mixed_digits(found: Symbols, first: int, last: int) -> None:
    """A number in two scripts is a misread one: Bengali 4 looks like 8, and 7 like 9."""
    for place in range(first, last):
        if found.row[place] in "dyn":
            number = found.text[found.starts[place] : found.ends[place]]
            if len({ord(c) - int(c) for c in number if c.isdecimal()}) > 1:
                raise _RefusedError("mixed_digits")


def _end(found: Symbols, match: re.Match[str]) -> int:
    """The last symbol of a match; `9 June 2011 Bangla text` ends before the language's name."""
    groups = match.groupdict()
    era = groups.get("era") or ""
    if era.startswith("W") and groups.get("month") and _month(found, match)[1] == "gregorian":
        return match.end("year")
    return match.end()


def _calendar_of(found: Symbols, match: re.Match[str]) -> Calendar:
    if found.row[match.start("month")] != "d":
        return _month(found, match)[1]
    return "bangla" if _era(match)[:1] in ("B", "W") else "gregorian"


def _month(found: Symbols, match: re.Match[str], name: str = "month") -> tuple[int, Calendar]:
    place = match.start(name)
    return found.values[place], "bangla" if found.row[place] == "b" else "gregorian"


def _era(match: re.Match[str]) -> str:
    groups = match.groupdict()
    return groups.get("marked") or groups.get("era") or ""


def _number(found: Symbols, match: re.Match[str], name: str) -> int:
    """The value of a day: its digits, or the sum of its words (twenty, first)."""
    place, end = match.span(name)
    if found.row[place] == "d":
        return found.values[place]
    return sum(found.values[place:end])


def iso_value(year: int, month: int = 0, day: int = 0) -> str:
    """YYYY, YYYY-MM or YYYY-MM-DD; a part that is 0 is left out."""
    parts = [f"{year:04d}", *(f"{part:02d}" for part in (month, day) if part)]
    return "-".join(parts)


def in_range(year: int, calendar: str) -> bool:
    """Whether a legal text may mean this year of the calendar."""
    low, high = BANGLA_YEARS if calendar == "bangla" else GREGORIAN_YEARS
    return low <= year <= high


def _check_year(year: int, calendar: Calendar, era: str) -> None:
    """Refuse a year that is not of the month's calendar, or an era of another."""
    if era.startswith("H"):
        raise _RefusedError("other_calendar")
    other = "gregorian" if calendar == "bangla" else "bangla"
    wrong = "E" if calendar == "bangla" else "B"
    if era.startswith(wrong) or (not in_range(year, calendar) and in_range(year, other)):
        raise _RefusedError("calendars_mixed")
    if not in_range(year, calendar):
        raise _RefusedError("year_out_of_range")


def _dayiso_value(year: int, month: int, day: int, calendar: Calendar) -> str:
    try:
        if calendar == "bangla":
            return to_gregorian(year, month, day).isoformat()
        return date(year, month, day).isoformat()
    except (NoSuchDateError, ValueError):
        raise _RefusedError("no_such_day") from None


def _finding(
    found: Symbols,
    span: tuple[int, int],
    values: list[str],
    granularity: Granularity,
    calendar: Calendar,
) -> Finding:
    start, end = found.place(*span)
    items = tuple(
        DateMention(value, granularity, calendar, start, end, found.text[start:end])
        for value in values
    )
    single = granularity == "day" and len(items) == 1
    return Finding(*span, items, calendar=calendar if single else None)


# --- readers of one kind each --------------------------------------------------------------------


def _read_day(found: Symbols, match: re.Match[str]) -> Iterator[Finding]:
    month, calendar = _month(found, match)
    year = found.values[match.start("year")]
    span = match.start(), _end(found, match)
    _check_year(year, calendar, _era(match) if span[1] == match.end() else "")
    value = _dayiso_value(year, month, _number(found, match, "day"), calendar)
    yield _finding(found, span, [value], "day", calendar)


def _read_days(found: Symbols, match: re.Match[str]) -> Iterator[Finding]:
    month, calendar = _month(found, match)
    year = found.values[match.start("year")]
    _check_year(year, calendar, _era(match))
    days = [_number(found, match, name) for name in ("day", "last")]
    if days[0] < days[1]:
        values = [_dayiso_value(year, month, day, calendar) for day in days]
        yield _finding(found, match.span(), values, "day", calendar)
        return
    month_first = match.start("month") < match.start("day")
    if month_first or "-" in found.row[match.end("day") : match.start("last")]:
        raise _RefusedError("unordered")
    # The number before is no day: হার ১৫ হইতে ৫ জুন ২০১৬.
    value = _dayiso_value(year, month, days[1], calendar)
    yield _finding(found, (match.start("last"), match.end()), [value], "day", calendar)


def _read_two_days(found: Symbols, match: re.Match[str]) -> Iterator[Finding]:
    (month, calendar), (last, other) = (_month(found, match, n) for n in ("month", "last_month"))
    year = found.values[match.start("year")]
    _check_year(year, other, _era(match))
    value = _dayiso_value(year, last, _number(found, match, "last"), other)
    first = _dayiso_value(year, month, _number(found, match, "day"), calendar)
    if calendar != other or first > value:
        # 1 July to 30 June 2016: the year of the first day is another, and which is not said.
        start, end = found.place(match.start("day"), match.end("month"))
        refusal = Refusal("no_year", found.text[start:end], start, end)
        yield Finding(match.start("day"), match.end("month"), refusal=refusal)
        yield _finding(found, (match.start("last"), match.end()), [value], "day", other)
        return
    yield _finding(found, match.span(), [first, value], "day", calendar)


def _read_month(found: Symbols, match: re.Match[str]) -> Iterator[Finding]:
    month, calendar = _month(found, match)
    year = found.values[match.start("year")]
    span = match.start(), _end(found, match)
    _check_year(year, calendar, _era(match) if span[1] == match.end() else "")
    yield _finding(found, span, [iso_value(year, month)], "month", calendar)


def _read_months(found: Symbols, match: re.Match[str]) -> Iterator[Finding]:
    (month, calendar), (last, other) = (_month(found, match, n) for n in ("month", "last_month"))
    year = found.values[match.start("year")]
    _check_year(year, other, _era(match))
    values = [iso_value(year, last)]
    if calendar == other and month <= last:
        yield _finding(found, match.span(), [iso_value(year, month), *values], "month", other)
        return
    yield _finding(found, (match.start("last_month"), match.end()), values, "month", other)


def _read_numeric(found: Symbols, match: re.Match[str]) -> Iterator[Finding]:
    year, month, day = (found.values[match.start(name)] for name in ("year", "month", "day"))
    calendar = _calendar_of(found, match)
    if _NUMBERED.search(found.row, *_before(match)):
        raise _RefusedError("instrument_number")
    era = _era(match)
    if calendar == "gregorian" and era[:1] not in ("E", "H") and in_range(year, "bangla"):
        raise _RefusedError("calendar_unclear")
    _check_year(year, calendar, era)
    value = _dayiso_value(year, month, day, calendar)
    yield _finding(found, match.span(), [value], "day", calendar)


def _read_ordered(found: Symbols, match: re.Match[str]) -> Iterator[Finding]:
    """Year first; with full stops only beside a word, since 2009.11.10 is a tariff code as well."""
    dotted = match["sep"] == "."
    if not dotted or _era(match) or _dated(found, match):
        yield from _read_numeric(found, match)
    elif _is_day(found, match):
        raise _RefusedError("maybe_code")


def _dated(found: Symbols, match: re.Match[str]) -> bool:
    """Whether a word beside the match says that it is a date."""
    if _DATED.search(found.row, *_before(match)):
        return True
    return _DATED_AFTER.match(found.row, match.end()) is not None


def _is_day(found: Symbols, match: re.Match[str]) -> bool:
    try:
        return bool(list(_read_numeric(found, match)))
    except _RefusedError:
        return False


def _read_year_month(found: Symbols, match: re.Match[str]) -> Iterator[Finding]:
    """2010-06 beside a word; 2010-11 may be a fiscal year."""
    place = match.start("month")
    if found.ends[place] - found.starts[place] != 2:
        return
    if match["sep"] == "/" and found.values[place] != (found.values[match.start("year")] + 1) % 100:
        return
    value = _year_month(found.values[match.start("year")], found.values[place])
    if _MONTH_BEFORE.search(found.row, *_before(match)):
        yield _finding(found, match.span(), [value], "month", "gregorian")


def _year_month(year: int, month: int) -> str:
    if month == (year + 1) % 100:
        raise _RefusedError("fiscal_year")
    _check_year(year, "gregorian", "")
    if not 1 <= month <= 12:
        raise _RefusedError("no_such_day")
    return iso_value(year, month)


def _before(match: re.Match[str]) -> tuple[int, int]:
    """The few symbols before a match, which decide what it is."""
    return max(0, match.start() - 6), match.start()


def _read_year(found: Symbols, match: re.Match[str]) -> Iterator[Finding]:
    era, year = match.start("era"), match.start("year")
    # BS 1363 is a British Standard.
    if era < year and found.text[found.starts[era] : found.ends[era]].lower() in ("bs", "b.s."):
        return
    yield from _year_alone(found, match.span(), year, _era(match))


def _read_years(found: Symbols, match: re.Match[str]) -> Iterator[Finding]:
    """Years after `in`, `between` …: each its own mention; 2018-19 and 2018-2019 are none."""
    if _AMOUNT.search(
        found.text[max(0, found.starts[match.start()] - 24) : found.ends[match.start()]]
    ):
        return
    yield from _each_year(found, match, "")


def _read_era_years(found: Symbols, match: re.Match[str]) -> Iterator[Finding]:
    """Years before one era: ২০১৬, ২০১৭ ও ২০১৮ সালে."""
    yield from _each_year(found, match, _era(match))


def _each_year(found: Symbols, match: re.Match[str], era: str) -> Iterator[Finding]:
    places = [place for place in range(*match.span()) if found.row[place] in "yd"]
    years = [found.values[place] for place in places]
    short = any(found.row[place] == "d" for place in places)
    consecutive = len(years) == 2 and years[1] == years[0] + 1
    if short or (consecutive and "-" in match[0] and not match[0].startswith("k")):
        raise _RefusedError("fiscal_year")
    for place in places:
        yield from _year_alone(found, (place, place + 1), place, era)


def _read_listed(found: Symbols, match: re.Match[str]) -> Iterator[Finding]:
    """(2012) and (2016, 2023, 2024), unless the brackets follow a title, a number or a code."""
    if _TITLED.search(found.row, *_before(match)):
        return
    yield from _read_years(found, match)


def _year_alone(found: Symbols, span: tuple[int, int], place: int, era: str) -> Iterator[Finding]:
    year = found.values[place]
    if era.startswith("W") and not in_range(year, "bangla"):
        return
    calendar: Calendar = "bangla" if era[:1] in ("B", "W") else "gregorian"
    if not era.startswith(("E", "B", "W", "H")) and in_range(year, "bangla"):
        raise _RefusedError("calendar_unclear")
    _check_year(year, calendar, era)
    yield _finding(found, span, [iso_value(year)], "year", calendar)


def _read_no_year(_found: Symbols, match: re.Match[str]) -> Iterator[Finding]:
    raise _RefusedError("two_digit_year" if match["short"] else "no_year")


def _read_short(_found: Symbols, _match: re.Match[str]) -> Iterator[Finding]:
    raise _RefusedError("two_digit_year")


def _read_fiscal(_found: Symbols, _match: re.Match[str]) -> Iterator[Finding]:
    raise _RefusedError("fiscal_year")


def _read_instrument(_found: Symbols, _match: re.Match[str]) -> Iterator[Finding]:
    raise _RefusedError("instrument_number")


_READERS = {
    "instrument": _read_instrument,
    "ordered": _read_ordered,
    "numeric": _read_numeric,
    "short_numeric": _read_short,
    "two_days": _read_two_days,
    "days": _read_days,
    "day": _read_day,
    "year_month": _read_year_month,
    "fiscal": _read_fiscal,
    "months": _read_months,
    "month": _read_month,
    "no_year": _read_no_year,
    "years": _read_years,
    "era_years": _read_era_years,
    "year": _read_year,
    "listed": _read_listed,
}
_NUMBERED = re.compile(r"N[.:]? ?-? ?$")
_DATED = re.compile(r"[tOE][:.]? ?[-(]? ?$")
_DATED_AFTER = re.compile(r" ?t")
_MONTH_BEFORE = re.compile(r"(?:[itkO][:.]?|[ik] h) ?\(?$|\($")
_TITLED = re.compile(r"[ANKC][.,:]? ?$|[dyn] ?$")
_AMOUNT = re.compile(
    r"(?:increase|reduce|raise|lower|cut|rise|rose|exceed|divide|multipl(?:y|ie))[sd]{0,2} by$",
    re.IGNORECASE,
)


def bare_date(found: Symbols) -> DateMention | Refusal | None:
    """A text that is YYYY, YYYY-MM or YYYY.MM.DD and nothing else; None for another."""
    row = found.row.strip(" ¶,;()[]।").rstrip(".")
    if row not in ("y", "y-d", "y.d.d"):
        return None
    first = found.row.index("y")
    span = first, first + len(row)
    start, end = found.place(*span)
    year, month, day = (*found.values[first : span[1] : 2], 0, 0)[:3]
    try:
        _refuse_mixed_digits(found, *span)
        if in_range(year, "bangla"):
            raise _RefusedError("calendar_unclear")
        _check_year(year, "gregorian", "")
        if row == "y.d.d":
            value = _dayiso_value(year, month, day, "gregorian")
            return _finding(found, span, [value], "day", "gregorian").mentions[0]
        if row == "y-d":
            value = _year_month(year, month)
            return _finding(found, span, [value], "month", "gregorian").mentions[0]
    except _RefusedError as refused:
        return Refusal(str(refused), found.text[start:end], start, end)
    return _finding(found, span, [iso_value(year)], "year", "gregorian").mentions[0]
