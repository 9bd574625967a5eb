"""Dates that a text states in both calendars, Bangla and Gregorian, and whether they agree."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date

from scripts.dates.bangla import BANGLA_DAYS, FIRST_OFFICIAL_YEAR, from_gregorian
from scripts.dates.legal_readings import REASONS, DateMention, Finding, Refusal, findings
from scripts.dates.legal_words import symbols


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


def calendar_pairs(text: str) -> list[CalendarPair]:
    """Dates that a text states in both calendars, and whether the two agree.

    Two days are a pair if only মোতাবেক, a slash, a bracket, `corresponding to`, blanks or one line
    end stand between them; with a comma alone they are one only if they agree, since two facts may
    be listed so.
    """
    days = [finding for finding in findings(symbols(text)) if finding.is_day]
    pairs: list[CalendarPair] = []
    place = 0
    while place + 1 < len(days):
        pair = _pair(text, days[place], days[place + 1])
        if pair is not None:
            pairs.append(pair)
        place += 1 if pair is None else 2
    return pairs


# --- what joins two dates -------------------------------------------------------------------------

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


def _pair(text: str, first: Finding, second: Finding) -> CalendarPair | None:
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
