"""Relative times: "six years later", "two months earlier", counted from a starting date.

The result is as coarse as the span's smallest unit: years lead to a year, months to a month, days
to a day. A start that is coarser than the span leads nowhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

from dateutil.relativedelta import relativedelta

from scripts.dates.legal_dates import DateMention, mentions, read_date
from scripts.tide.construction.facts import WORD_PATTERN, WORDS, plain_digits

#: Unit: (years, months, days) of one.
_UNITS: dict[str, tuple[int, int, int]] = {
    **dict.fromkeys(("decade", "decades", "দশক"), (10, 0, 0)),
    **dict.fromkeys(("year", "years", "বছর", "বৎসর"), (1, 0, 0)),
    **dict.fromkeys(("month", "months", "মাস"), (0, 1, 0)),
    **dict.fromkeys(("week", "weeks", "সপ্তাহ"), (0, 0, 7)),
    **dict.fromkeys(("day", "days", "দিন"), (0, 0, 1)),
}
_LATER = ("later", "afterwards", "after", "thereafter", "subsequently", "পরে", "পর")
_EARLIER = ("earlier", "before", "previously", "prior", "পূর্বে", "আগে")
_COUNT = rf"(?:\d{{1,4}}|{WORD_PATTERN}|an?\b)"
_UNIT = "|".join(sorted(_UNITS, key=len, reverse=True))
_PART = rf"{_COUNT}[ -]{{0,2}}(?:{_UNIT})"
_OFFSET = re.compile(
    rf"(?P<parts>{_PART}(?:(?:,| and|,? ও)? {_PART}){{0,3}})(?:['’]s?)? ?(?:'s )?"
    rf"(?P<way>{'|'.join(sorted((*_LATER, *_EARLIER), key=len, reverse=True))})",
    re.IGNORECASE,
)
_ONE = re.compile(rf"(?P<count>{_COUNT})[ -]{{0,2}}(?P<unit>{_UNIT})", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Offset:
    """A signed span of time."""

    years: int = 0
    months: int = 0
    days: int = 0

    @property
    def length(self) -> int:
        """Characters of an ISO value as fine as the span: 4 (year), 7 (month) or 10 (day)."""
        if self.days:
            return 10
        return 7 if self.months else 4


def offsets_in(text: str) -> list[Offset]:
    """Every relative span of a text, in order; a span of nothing is left out."""
    found = []
    for match in _OFFSET.finditer(plain_digits(text)):
        sign = 1 if match["way"].lower() in _LATER else -1
        years = months = days = 0
        for part in _ONE.finditer(match["parts"]):
            unit = _UNITS[part["unit"].lower()]
            count = sign * _count(part["count"])
            years, months = years + count * unit[0], months + count * unit[1]
            days += count * unit[2]
        found.append(Offset(years, months, days))
    return [offset for offset in found if offset != Offset()]


def _count(text: str) -> int:
    word = text.lower()
    if word in ("a", "an"):
        return 1
    return WORDS[word] if word in WORDS else int(word)


def start_of(text: str) -> DateMention | None:
    """The date that a text gives as a start: the one it consists of, else the first in it.

    None without a date, and for a Bangla month or year, which lies in two Gregorian ones.
    """
    whole = read_date(text)
    found = whole if isinstance(whole, DateMention) else next(iter(mentions(text)), None)
    coarse_bangla = found and found.calendar == "bangla" and found.granularity != "day"
    return None if coarse_bangla else found


def target(start: str, offset: Offset) -> str | None:
    """ISO value that lies the span away from an ISO start; None where it cannot be told.

    Months and years keep the day, or take the last of a shorter month.
    """
    if len(start) < offset.length:
        return None
    padded = start + "-01-01"[len(start) - 4 :]
    span = relativedelta(years=offset.years, months=offset.months, days=offset.days)
    try:
        moved = date.fromisoformat(padded) + span
    except (ValueError, OverflowError):
        return None
    return moved.isoformat()[: offset.length]


def on_timeline(value: str, dates: Iterable[str]) -> list[str]:
    """The dates that the value names: itself, or those in its month or year."""
    return sorted({day for day in dates if day == value or day.startswith(f"{value}-")})
