"""Hijri and Chinese lunar dates of Gregorian days, and the days they name.

Gregorian days are `datetime.date`, proleptic before 1582. Every function either names exactly the
day or raises: nothing is guessed or clamped. Ranges and seams are explained in docs/dates.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from typing import Literal

import lunarcalendar  # type: ignore[import-untyped]
from hijridate import Gregorian, Hijri, ummalqura

from scripts.files import DataError

OutsideHijriRange = Literal["tabular_civil", "refuse"]
HijriSource = Literal["ummalqura", "tabular_civil"]

#: First and last Gregorian day of the Umm al-Qura table of hijridate, and its Hijri years.
UMM_AL_QURA_DAYS = (date(*ummalqura.GREGORIAN_RANGE[0]), date(*ummalqura.GREGORIAN_RANGE[1]))
UMM_AL_QURA_YEARS = (ummalqura.HIJRI_RANGE[0][0], ummalqura.HIJRI_RANGE[1][0])
#: 1 Muharram of the year 1 in the civil reckoning: 16 July 622 of the Julian calendar.
HIJRI_EPOCH = date(622, 7, 19)
#: Gregorian days for which the table of lunarcalendar is right.
LUNAR_DAYS = (date(1888, 2, 12), date(2111, 12, 31))
#: Leap years of the 30-year cycle, with a thirtieth day in the twelfth month.
TABULAR_LEAP_YEARS = frozenset({2, 5, 7, 10, 13, 16, 18, 21, 24, 26, 29})

_CYCLE_DAYS = 30 * 354 + len(TABULAR_LEAP_YEARS)
_EPOCH_ORDINAL = HIJRI_EPOCH.toordinal()
#: Days of the thirty-year cycle before its year 1, 2, …, 30.
_DAYS_BEFORE_YEAR = tuple(
    354 * (year - 1) + sum(leap < year for leap in TABULAR_LEAP_YEARS) for year in range(1, 31)
)


class NoSuchDateError(DataError):
    """The calendar has no such day: a month 13, a leap month of another year, a thirtieth of 29."""


class CalendarRangeError(DataError):
    """A day that a calendar cannot name, or a date of a year that it does not reach.

    `day` is the date as text, `calendar` the calendar's name, `span` its first and last Gregorian
    day, `remedy` what to do; `problem` is the verb of the message.
    """

    def __init__(
        self,
        day: str,
        calendar: str,
        span: tuple[date, date],
        remedy: str,
        problem: str = "is outside the range of",
    ) -> None:
        self.day, self.calendar, self.span = day, calendar, span
        self.remedy, self.problem = remedy, problem
        first, last = (each.isoformat() for each in span)
        super().__init__(f"{day} {problem} the {calendar} calendar, {first} to {last}: {remedy}")

    def __reduce__(self) -> tuple[type[CalendarRangeError], tuple[object, ...]]:
        """Rebuild from all parts, so that the error passes between processes."""
        return type(self), (self.day, self.calendar, self.span, self.remedy, self.problem)


@dataclass(frozen=True, slots=True)
class HijriDate:
    """A Hijri date: month 1 (Muharram) to 12, and the table that it comes from."""

    year: int
    month: int
    day: int
    source: HijriSource

    def __str__(self) -> str:
        return f"{self.year:04d}-{self.month:02d}-{self.day:02d} AH"


@dataclass(frozen=True, slots=True)
class LunarDate:
    """A Chinese lunar date. `year` is the Gregorian year in which the lunar year begins."""

    year: int
    month: int
    day: int
    leap: bool = False

    def __str__(self) -> str:
        leap = "leap month " if self.leap else "month "
        return f"lunar year {self.year}, {leap}{self.month}, day {self.day}"


def to_hijri(day: date, outside: OutsideHijriRange = "tabular_civil") -> HijriDate:
    """The Hijri date of a Gregorian day.

    Umm al-Qura where its table reaches; elsewhere the tabular civil calendar, or with
    `outside="refuse"` a CalendarRangeError. Days before HIJRI_EPOCH are always refused.
    """
    _check_outside(outside)
    if UMM_AL_QURA_DAYS[0] <= day <= UMM_AL_QURA_DAYS[1]:
        return HijriDate(*Gregorian.fromdate(day).to_hijri().datetuple(), "ummalqura")
    if outside == "refuse":
        raise _outside_umm_al_qura(day.isoformat())
    if day < HIJRI_EPOCH:
        raise _before_hijri_epoch(day.isoformat())
    return HijriDate(*_tabular_date(day.toordinal()), "tabular_civil")


def from_hijri(
    year: int, month: int, day: int, outside: OutsideHijriRange = "tabular_civil"
) -> date:
    """The Gregorian day of a Hijri date; the inverse of `to_hijri`, and of nothing else.

    The Hijri year alone decides the table: 1343 to 1500 are Umm al-Qura, all others tabular civil.
    29 Dhu al-Hijjah 1342 is NoSuchDateError: by the tabular table it would be 1 August 1924, but
    that day is 1 Muharram 1343 of Umm al-Qura, and no day has two Hijri dates.
    """
    _check_outside(outside)
    text = f"{year:04d}-{month:02d}-{day:02d} AH"
    if UMM_AL_QURA_YEARS[0] <= year <= UMM_AL_QURA_YEARS[1]:
        return _from_umm_al_qura(year, month, day, text)
    if outside == "refuse":
        raise _outside_umm_al_qura(text)
    if year < 1:
        raise _before_hijri_epoch(text)
    length = _tabular_month_length(year, month) if 1 <= month <= 12 else 0
    if not 1 <= day <= length:
        raise _no_such_date(text, "tabular civil Hijri", month, length)
    ordinal = _tabular_ordinal(year, month, day)
    if ordinal > date.max.toordinal():
        raise CalendarRangeError(text, "Gregorian", (date.min, date.max), "leave the date out")
    result = date.fromordinal(ordinal)
    if result == UMM_AL_QURA_DAYS[0]:
        raise NoSuchDateError(
            f"{text}: the tabular civil calendar ends one day earlier here, because "
            f"{result.isoformat()} is {to_hijri(result)} in the Umm al-Qura calendar that follows; "
            "use that date"
        )
    return result


def to_lunar(day: date) -> LunarDate:
    """The Chinese lunar date of a Gregorian day in LUNAR_DAYS; CalendarRangeError elsewhere.

    The guard is needed: outside these days the library returns nonsense without an error.
    """
    if not LUNAR_DAYS[0] <= day <= LUNAR_DAYS[1]:
        raise _outside_lunar(day.isoformat())
    found = lunarcalendar.Converter.Solar2Lunar(lunarcalendar.Solar(day.year, day.month, day.day))
    return LunarDate(found.year, found.month, found.day, bool(found.isleap))


def from_lunar(year: int, month: int, day: int, leap: bool = False) -> date:
    """The Gregorian day of a Chinese lunar date; the inverse of `to_lunar`.

    NoSuchDateError for a month, leap month or day that the lunar year lacks; CalendarRangeError
    for a date that falls outside LUNAR_DAYS.
    """
    asked = LunarDate(year, month, day, leap)
    first, last = LUNAR_DAYS
    if not first.year <= year <= last.year:
        raise _outside_lunar(str(asked))
    if not (1 <= month <= 12 and 1 <= day <= 30):
        raise _no_such_lunar_date(asked)
    found: date = lunarcalendar.Converter.Lunar2Solar(
        lunarcalendar.Lunar(year, month, day, leap, check=False)
    ).to_date()
    if found > last:
        raise _outside_lunar(str(asked))
    if to_lunar(found) != asked:
        raise _no_such_lunar_date(asked)
    return found


def days_after(start: str, days: int) -> str:
    """The ISO date `days` after an ISO date; ValueError or OverflowError outside years 1-9999."""
    return (date.fromisoformat(start) + timedelta(days=days)).isoformat()


def _check_outside(outside: str) -> None:
    if outside not in ("tabular_civil", "refuse"):
        raise ValueError(f"outside must be tabular_civil or refuse, not {outside!r}")


def _from_umm_al_qura(year: int, month: int, day: int, text: str) -> date:
    length = Hijri(year, month, 1).month_length() if 1 <= month <= 12 else 0
    if not 1 <= day <= length:
        raise _no_such_date(text, "Umm al-Qura", month, length)
    found = Hijri(year, month, day).to_gregorian()
    return date(found.year, found.month, found.day)


def _tabular_ordinal(year: int, month: int, day: int) -> int:
    """Proleptic Gregorian ordinal of a date of the tabular civil calendar."""
    cycle, place = divmod(year - 1, 30)
    before = cycle * _CYCLE_DAYS + _DAYS_BEFORE_YEAR[place]
    # Months have 30 and 29 days by turns; only the last one depends on the year.
    return _EPOCH_ORDINAL + before + 29 * (month - 1) + month // 2 + day - 1


def _tabular_date(ordinal: int) -> tuple[int, int, int]:
    """Year, month and day of the tabular civil calendar for an ordinal from the epoch on."""
    cycle, days = divmod(ordinal - _EPOCH_ORDINAL, _CYCLE_DAYS)
    place = max(i for i, before in enumerate(_DAYS_BEFORE_YEAR) if before <= days)
    days -= _DAYS_BEFORE_YEAR[place]
    month = next(m for m in range(12, 0, -1) if 29 * (m - 1) + m // 2 <= days)
    return 30 * cycle + place + 1, month, days - (29 * (month - 1) + month // 2) + 1


def _tabular_month_length(year: int, month: int) -> int:
    leap = month == 12 and year % 30 in TABULAR_LEAP_YEARS
    return 30 if month % 2 == 1 or leap else 29


def _no_such_date(text: str, calendar: str, month: int, length: int) -> NoSuchDateError:
    reason = f"the month has {length} days" if length else f"there is no month {month}"
    return NoSuchDateError(f"{text} is no date of the {calendar} calendar: {reason}")


def _no_such_lunar_date(asked: LunarDate) -> NoSuchDateError:
    return NoSuchDateError(
        f"{asked} is no date of the Chinese lunar calendar: that year lacks the month or the "
        "month lacks the day"
    )


def _outside_umm_al_qura(text: str) -> CalendarRangeError:
    remedy = "leave the date out, or set hijri_outside_range: tabular_civil"
    return CalendarRangeError(text, "Umm al-Qura", UMM_AL_QURA_DAYS, remedy)


def _before_hijri_epoch(text: str) -> CalendarRangeError:
    remedy = "leave the date out; no Hijri date precedes the Hijra"
    return CalendarRangeError(text, "tabular civil Hijri", (HIJRI_EPOCH, date.max), remedy)


def _outside_lunar(text: str) -> CalendarRangeError:
    remedy = "leave the date out of the lunar variant"
    return CalendarRangeError(text, "Chinese lunar", LUNAR_DAYS, remedy)
