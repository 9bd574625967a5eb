"""Dates of legal text in English and Bangla: value, granularity, calendar and place of each.

A strict grammar (`legal_grammar.py`) that guesses nothing: a numeric date is day first, a day that
its calendar lacks is refused with a reason and never clamped, an instrument's number is no date,
a year alone counts only beside a word that makes it one. docs/dates.md lists what is read.

The value of a day is Gregorian in either calendar. A Bangla month or year lies in two Gregorian
ones and therefore keeps its Bangla value (`1423-02`, `1423`) with `calendar: bangla`; years of the
two calendars never overlap here, so such a value equals no Gregorian one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import date
from typing import Any, Literal

from scripts.dates.bangla import (
    BANGLA_DAYS,
    BANGLA_YEARS,
    FIRST_OFFICIAL_YEAR,
    from_gregorian,
    to_gregorian,
)
from scripts.dates.calendars import NoSuchDateError
from scripts.dates.legal_grammar import Candidate, candidates
from scripts.dates.legal_words import Symbols, symbols
from scripts.files import DataError

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
    "other_calendar": "a date of the Hijri calendar",
    "mixed_digits": "one number mixes digits of two scripts",
    "fiscal_year": "a fiscal year lies in two calendar years",
    "instrument_number": "the number of an act, rule or order",
    "maybe_code": "may be a tariff code; no word beside it makes it a date",
    "calendars_disagree": "the two calendars name different days",
}
_LENGTHS: dict[str, int] = {"day": 10, "month": 7, "year": 4}
_VALUE = re.compile(r"\d{4}(?:-\d{2}(?:-\d{2})?)?", re.ASCII)


class LegalDateError(DataError):
    """A value asked for is no YYYY, YYYY-MM or YYYY-MM-DD of its granularity."""


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


@dataclass(frozen=True, slots=True)
class CalendarPair:
    """One date that a text states in both calendars.

    A side that its calendar lacks is a Refusal. `converted` is the Gregorian day of the Bangla
    date, empty if there is none; `note` says what disagrees, or that the date is older than the
    official calendar.
    """

    bangla: DateMention | Refusal
    gregorian: DateMention | Refusal
    converted: str
    agrees: bool
    note: str


def mentions(text: str) -> list[DateMention]:
    """Every date of a text in order of place; the time is linear in its length."""
    return [item for finding in _findings(symbols(text)) for item in finding.mentions]


def refusals(text: str) -> list[Refusal]:
    """What looks like a date and is not read, with the reasons, in order of place."""
    found = (finding.refusal for finding in _findings(symbols(text)))
    return [refusal for refusal in found if refusal is not None]


def read_date(text: str) -> DateMention | Refusal:
    """The one date that a text consists of, or why there is none.

    Weekdays, brackets, punctuation and words such as `dated` or তারিখ may stand around it. A bare
    year and `YYYY-MM` are dates here. One date in both calendars is its Gregorian mention.
    """
    found = symbols(text)
    bare = _bare(found)
    if bare is not None:
        return bare
    findings = _findings(found)
    refused = [f.refusal for f in findings if f.refusal is not None]
    if any(r.reason not in _BESIDE for r in refused) or (refused and not _has_date(findings)):
        return refused[0]
    dates, reason = _one_date(findings, calendar_pairs(text))
    if not reason and not _AROUND.fullmatch(_outside(found, findings)):
        reason = "other_text"
    return Refusal(reason, text, 0, len(text)) if reason else dates[0]


#: What may stand beside a date that is read: SRO 145-AIN/2013 of 2013-06-06 is more than a date.
_BESIDE = frozenset({"instrument_number", "maybe_code"})


def _has_date(findings: list[_Finding]) -> bool:
    return any(finding.mentions for finding in findings)


def _one_date(findings: list[_Finding], pairs: list[CalendarPair]) -> tuple[list[DateMention], str]:
    """The dates of a text that should hold one, and why they are not one; no reason if they are."""
    dates = [item for finding in findings for item in finding.mentions]
    if len(dates) == 2 and len(pairs) == 1:
        reason = "" if pairs[0].agrees else "calendars_disagree"
        return [item for item in dates if item.calendar == "gregorian"], reason
    return dates, "" if len(dates) == 1 else "several_dates" if dates else "no_date"


def _outside(found: Symbols, findings: list[_Finding]) -> str:
    """The symbols outside the dates, or outside the two of a pair and what joins them."""
    if any(finding.refusal is not None for finding in findings):
        return "x"
    return found.row[: findings[0].first] + found.row[findings[-1].last :]


def matches(mention: DateMention, gold_value: str, gold_granularity: str) -> bool:
    """Whether a mention gives at least the required components with equal values.

    A Bangla month or year matches only a Bangla value; a Bangla day matches the Gregorian day,
    month and year that it lies in, and its own Bangla month and year. LegalDateError for a gold
    value that is not of its granularity.
    """
    length = _LENGTHS.get(gold_granularity)
    if length != len(gold_value) or not _VALUE.fullmatch(gold_value):
        raise LegalDateError(
            f"{gold_value!r} is no date of granularity {gold_granularity!r}; write YYYY, YYYY-MM "
            "or YYYY-MM-DD"
        )
    own = mention.value
    bangla_day = mention.calendar == "bangla" and mention.granularity == "day"
    if bangla_day and _in_range(int(gold_value[:4]), "bangla"):
        bangla = from_gregorian(date.fromisoformat(own))
        own = _value(bangla.year, bangla.month, bangla.day)
    return len(own) >= length and own[:length] == gold_value


def calendar_pairs(text: str) -> list[CalendarPair]:
    """Dates that a text states in both calendars, and whether the two agree.

    Two days are a pair if only মোতাবেক, a slash, a bracket, `corresponding to`, blanks or one line
    end stand between them; with a comma alone they are one only if they agree, since two facts may
    be listed so.
    """
    days = [finding for finding in _findings(symbols(text)) if finding.is_day]
    pairs: list[CalendarPair] = []
    place = 0
    while place + 1 < len(days):
        pair = _pair(text, days[place], days[place + 1])
        if pair is not None:
            pairs.append(pair)
        place += 1 if pair is None else 2
    return pairs


# --- findings ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Finding:
    """Symbols first to last, read: mentions, or a refusal; `calendar` is that of a single day."""

    first: int
    last: int
    mentions: tuple[DateMention, ...] = ()
    refusal: Refusal | None = None
    calendar: Calendar | None = None

    @property
    def is_day(self) -> bool:
        return self.calendar is not None

    @property
    def item(self) -> DateMention | Refusal:
        return self.mentions[0] if self.refusal is None else self.refusal


class _RefusedError(Exception):
    """A candidate is no date; the argument is a key of REASONS."""


def _findings(found: Symbols) -> list[_Finding]:
    return [finding for each in candidates(found) for finding in _read(found, each)]


def _read(found: Symbols, candidate: Candidate) -> Iterator[_Finding]:
    match = candidate.match
    first, last = candidate.first, _end(found, match)
    calendar = _calendar_of(found, match) if candidate.kind in _DAY_KINDS else None
    try:
        _refuse_mixed_digits(found, first, last)
        yield from _READERS[candidate.kind](found, match)
    except _RefusedError as refused:
        start, end = found.place(first, last)
        refusal = Refusal(str(refused), found.text[start:end], start, end)
        yield _Finding(first, last, refusal=refusal, calendar=calendar)


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


def _value(year: int, month: int = 0, day: int = 0) -> str:
    parts = [f"{year:04d}", *(f"{part:02d}" for part in (month, day) if part)]
    return "-".join(parts)


def _in_range(year: int, calendar: str) -> bool:
    low, high = BANGLA_YEARS if calendar == "bangla" else GREGORIAN_YEARS
    return low <= year <= high


def _check_year(year: int, calendar: Calendar, era: str) -> None:
    """Refuse a year that is not of the month's calendar, or an era of another."""
    if era.startswith("H"):
        raise _RefusedError("other_calendar")
    other = "gregorian" if calendar == "bangla" else "bangla"
    wrong = "E" if calendar == "bangla" else "B"
    if era.startswith(wrong) or (not _in_range(year, calendar) and _in_range(year, other)):
        raise _RefusedError("calendars_mixed")
    if not _in_range(year, calendar):
        raise _RefusedError("year_out_of_range")


def _day_value(year: int, month: int, day: int, calendar: Calendar) -> str:
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
) -> _Finding:
    start, end = found.place(*span)
    items = tuple(
        DateMention(value, granularity, calendar, start, end, found.text[start:end])
        for value in values
    )
    single = granularity == "day" and len(items) == 1
    return _Finding(*span, items, calendar=calendar if single else None)


# --- readers of one kind each --------------------------------------------------------------------


def _read_day(found: Symbols, match: re.Match[str]) -> Iterator[_Finding]:
    month, calendar = _month(found, match)
    year = found.values[match.start("year")]
    span = match.start(), _end(found, match)
    _check_year(year, calendar, _era(match) if span[1] == match.end() else "")
    value = _day_value(year, month, _number(found, match, "day"), calendar)
    yield _finding(found, span, [value], "day", calendar)


def _read_days(found: Symbols, match: re.Match[str]) -> Iterator[_Finding]:
    month, calendar = _month(found, match)
    year = found.values[match.start("year")]
    _check_year(year, calendar, _era(match))
    days = [_number(found, match, name) for name in ("day", "last")]
    values = [_day_value(year, month, day, calendar) for day in days]
    yield _finding(found, match.span(), values, "day", calendar)


def _read_two_days(found: Symbols, match: re.Match[str]) -> Iterator[_Finding]:
    (month, calendar), (last, other) = (_month(found, match, n) for n in ("month", "last_month"))
    year = found.values[match.start("year")]
    _check_year(year, other, _era(match))
    value = _day_value(year, last, _number(found, match, "last"), other)
    first = _day_value(year, month, _number(found, match, "day"), calendar)
    if calendar != other or first > value:
        # 1 July to 30 June 2016: the year of the first day is another, and which is not said.
        start, end = found.place(match.start("day"), match.end("month"))
        refusal = Refusal("no_year", found.text[start:end], start, end)
        yield _Finding(match.start("day"), match.end("month"), refusal=refusal)
        yield _finding(found, (match.start("last"), match.end()), [value], "day", other)
        return
    yield _finding(found, match.span(), [first, value], "day", calendar)


def _read_month(found: Symbols, match: re.Match[str]) -> Iterator[_Finding]:
    month, calendar = _month(found, match)
    year = found.values[match.start("year")]
    span = match.start(), _end(found, match)
    _check_year(year, calendar, _era(match) if span[1] == match.end() else "")
    yield _finding(found, span, [_value(year, month)], "month", calendar)


def _read_months(found: Symbols, match: re.Match[str]) -> Iterator[_Finding]:
    (month, calendar), (last, other) = (_month(found, match, n) for n in ("month", "last_month"))
    year = found.values[match.start("year")]
    _check_year(year, other, _era(match))
    values = [_value(year, last)]
    if calendar == other and month <= last:
        yield _finding(found, match.span(), [_value(year, month), *values], "month", other)
        return
    yield _finding(found, (match.start("last_month"), match.end()), values, "month", other)


def _read_numeric(found: Symbols, match: re.Match[str]) -> Iterator[_Finding]:
    year, month, day = (found.values[match.start(name)] for name in ("year", "month", "day"))
    calendar = _calendar_of(found, match)
    if _NUMBERED.search(found.row, *_before(match)):
        raise _RefusedError("instrument_number")
    era = _era(match)
    if calendar == "gregorian" and era[:1] not in ("E", "H") and _in_range(year, "bangla"):
        raise _RefusedError("calendar_unclear")
    _check_year(year, calendar, era)
    value = _day_value(year, month, day, calendar)
    yield _finding(found, match.span(), [value], "day", calendar)


def _read_ordered(found: Symbols, match: re.Match[str]) -> Iterator[_Finding]:
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


def _read_year_month(found: Symbols, match: re.Match[str]) -> Iterator[_Finding]:
    """2010-06 beside a word; 2010-11 may be a fiscal year."""
    place = match.start("month")
    if found.ends[place] - found.starts[place] != 2:
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
    return _value(year, month)


def _before(match: re.Match[str]) -> tuple[int, int]:
    """The few symbols before a match, which decide what it is."""
    return max(0, match.start() - 6), match.start()


def _read_year(found: Symbols, match: re.Match[str]) -> Iterator[_Finding]:
    yield from _year_alone(found, match.span(), match.start("year"), _era(match))


def _read_years(found: Symbols, match: re.Match[str]) -> Iterator[_Finding]:
    """Years after `in`, `between` …: each its own mention; 2018-19 and 2018-2019 are none."""
    if _AMOUNT.search(
        found.text[max(0, found.starts[match.start()] - 24) : found.ends[match.start()]]
    ):
        return
    yield from _each_year(found, match, "")


def _read_era_years(found: Symbols, match: re.Match[str]) -> Iterator[_Finding]:
    """Years before one era: ২০১৬, ২০১৭ ও ২০১৮ সালে."""
    yield from _each_year(found, match, _era(match))


def _each_year(found: Symbols, match: re.Match[str], era: str) -> Iterator[_Finding]:
    places = [place for place in range(*match.span()) if found.row[place] in "yd"]
    years = [found.values[place] for place in places]
    short = any(found.row[place] == "d" for place in places)
    consecutive = len(years) == 2 and years[1] == years[0] + 1
    if short or (consecutive and "-" in match[0] and not match[0].startswith("k")):
        raise _RefusedError("fiscal_year")
    for place in places:
        yield from _year_alone(found, (place, place + 1), place, era)


def _read_listed(found: Symbols, match: re.Match[str]) -> Iterator[_Finding]:
    """(2012) and (2016, 2023, 2024), unless the brackets follow a title, a number or a code."""
    if _TITLED.search(found.row, *_before(match)):
        return
    yield from _read_years(found, match)


def _year_alone(found: Symbols, span: tuple[int, int], place: int, era: str) -> Iterator[_Finding]:
    year = found.values[place]
    if era.startswith("W") and not _in_range(year, "bangla"):
        return
    calendar: Calendar = "bangla" if era[:1] in ("B", "W") else "gregorian"
    if not era.startswith(("E", "B", "W", "H")) and _in_range(year, "bangla"):
        raise _RefusedError("calendar_unclear")
    _check_year(year, calendar, era)
    yield _finding(found, span, [_value(year)], "year", calendar)


def _read_no_year(_found: Symbols, match: re.Match[str]) -> Iterator[_Finding]:
    raise _RefusedError("two_digit_year" if match["short"] else "no_year")


def _read_short(_found: Symbols, _match: re.Match[str]) -> Iterator[_Finding]:
    raise _RefusedError("two_digit_year")


def _read_fiscal(_found: Symbols, _match: re.Match[str]) -> Iterator[_Finding]:
    raise _RefusedError("fiscal_year")


def _read_instrument(_found: Symbols, _match: re.Match[str]) -> Iterator[_Finding]:
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
#: What may stand around the one date of a text.
_AROUND = re.compile(r"[ ,.:;()\[\]'|।zthikO¶-]*")


def _bare(found: Symbols) -> DateMention | Refusal | None:
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
        if _in_range(year, "bangla"):
            raise _RefusedError("calendar_unclear")
        _check_year(year, "gregorian", "")
        if row == "y.d.d":
            value = _day_value(year, month, day, "gregorian")
            return _finding(found, span, [value], "day", "gregorian").mentions[0]
        if row == "y-d":
            value = _year_month(year, month)
            return _finding(found, span, [value], "month", "gregorian").mentions[0]
    except _RefusedError as refused:
        return Refusal(str(refused), found.text[start:end], start, end)
    return _finding(found, span, [_value(year)], "year", "gregorian").mentions[0]


# --- both calendars ------------------------------------------------------------------------------

_JOINED = re.compile(
    r"[\s,)\]*]{0,6}(?:তারিখে?[\s,:]{0,3})?"
    r"(?:মোতাবেক|মুতাবিক|অনুযায়ী|corresponding(?:ly)?,? (?:to|with)|equivalent to|that is,?"
    r"|i\.e\.,?|viz\.?|=|/|\(|\[)"
    r"[\s(\[:,*-]{0,6}(?:(?:the|date|english|gregorian|bangla|bengali|ইংরেজি|ইংরেজী|ইংরাজি|ইংরাজী"
    r"|খ্রিস্টীয়|খ্রিষ্টীয়|বাংলা|তারিখ)[\s:,-]{1,3}){0,3}",
    re.IGNORECASE,
)
_ADJACENT = re.compile(r"[ \t\u00a0]*(?:\r?\n)?[ \t\u00a0]*")
_COMMA = re.compile(r"\s*[,|]\s*")


def _pair(text: str, first: _Finding, second: _Finding) -> CalendarPair | None:
    if {first.calendar, second.calendar} != {"bangla", "gregorian"}:
        return None
    between = text[first.item.end : second.item.start]
    if len(between) > 60:
        return None
    joined = _JOINED.fullmatch(between) or _ADJACENT.fullmatch(between)
    if not joined and not _COMMA.fullmatch(between):
        return None
    bangla, gregorian = (
        (first.item, second.item) if first.calendar == "bangla" else (second.item, first.item)
    )
    pair = CalendarPair(bangla, gregorian, *_compared(bangla, gregorian))
    return pair if joined or pair.agrees else None


def _compared(
    bangla: DateMention | Refusal, gregorian: DateMention | Refusal
) -> tuple[str, bool, str]:
    converted = bangla.value if isinstance(bangla, DateMention) else ""
    for side in (bangla, gregorian):
        if isinstance(side, Refusal):
            return converted, False, f"{side.text}: {REASONS[side.reason]}"
    assert isinstance(gregorian, DateMention)
    stated, reckoned = date.fromisoformat(gregorian.value), date.fromisoformat(converted)
    days = (stated - reckoned).days
    notes = [_contradiction(reckoned, stated)] if days else []
    if not from_gregorian(reckoned).official:
        notes.append(
            f"before {FIRST_OFFICIAL_YEAR} the lengths of the Bangla months were not official"
        )
    return converted, days == 0, "; ".join(notes)


def _contradiction(reckoned: date, stated: date) -> str:
    days = (stated - reckoned).days
    inside = BANGLA_DAYS[0] <= stated <= BANGLA_DAYS[1]
    bangla = f", which is {from_gregorian(stated)}," if inside else ""
    count = "1 day" if abs(days) == 1 else f"{abs(days)} days"
    return (
        f"the Bangla date is {reckoned.isoformat()}; {stated.isoformat()} is stated{bangla} "
        f"{count} {'later' if days > 0 else 'earlier'}"
    )
