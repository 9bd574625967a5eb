"""Dates that a text states in both calendars, Bangla and Gregorian, and whether they agree."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date

from scripts.dates.bangla import BANGLA_DAYS, FIRST_OFFICIAL_YEAR, from_gregorian
from scripts.dates.legal_readings import REASONS, DateMention, Finding, Refusal, findings
from scripts.dates.legal_words import fold_word, symbols
from scripts.dates.plain_text import alternatives


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

    Two days are a pair if only মোতাবেক, a slash, a bracket, `corresponding to` or blanks stand
    between them, or the second stands alone on the next line. With a comma or a line end between
    them they are one only if they agree, since two facts may follow each other so.
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


#: Characters; a longer text between two dates is no joint.
_LONGEST_JOINT = 60


# --- what joins two dates -------------------------------------------------------------------------

_JOINTS = alternatives(
    map(
        fold_word,
        ("মোতাবেক", "মুতাবিক", "অনুযায়ী", "that is", "i.e.", "viz.", "viz", "=", "/", "(", "["),
    )
)
_NAMES = alternatives(
    map(
        fold_word,
        (
            *("the", "date", "english", "gregorian", "bangla", "bengali", "ইংরেজি", "ইংরেজী"),
            *("ইংরাজি", "ইংরাজী", "খ্রিস্টীয়", "খ্রিষ্টীয়", "বাংলা", "তারিখ"),
        ),
    )
)
#: On folded text, as all words here.
_JOINED = re.compile(
    rf"[\s,()\[\]*]{{0,6}}(?:{fold_word('তারিখ')}[\s,:]{{0,3}})?"
    rf"(?:{_JOINTS}|correspond(?:ing|s)(?:ly)?,? (?:to|with)|equivalent to)"
    rf"[\s(\[:,*-]{{0,6}}(?:(?:{_NAMES})[\s:,-]{{1,3}}){{0,3}}"
)
_BLANK = re.compile(r" {0,4}")
_COMMA_OR_LINE = re.compile(r"\s{0,4}[,|]?\s{0,4}")
_EMPTY_LINE = re.compile(r"\n\s*\n")
_REST_OF_LINE = re.compile(r"[ \t।.)\]]{0,4}(?:\r?\n|$)")


def _pair(text: str, first: Finding, second: Finding) -> CalendarPair | None:
    if {first.calendar, second.calendar} != {"bangla", "gregorian"}:
        return None
    if second.item.start - first.item.end > _LONGEST_JOINT:
        return None
    between = fold_word(text[first.item.end : second.item.start])
    joined = _JOINED.fullmatch(between) or _BLANK.fullmatch(between)
    if _EMPTY_LINE.search(between) or not (joined or _COMMA_OR_LINE.fullmatch(between)):
        return None
    # One date under the other, with nothing after it, is the heading of a gazette.
    stacked = not between.strip() and _REST_OF_LINE.match(text, second.item.end)
    bangla, gregorian = (
        (first.item, second.item) if first.calendar == "bangla" else (second.item, first.item)
    )
    pair = CalendarPair(bangla, gregorian, *_compared(bangla, gregorian))
    return pair if joined or stacked or pair.agrees else None


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
