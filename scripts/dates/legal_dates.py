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
from datetime import date

from scripts.dates.bangla import from_gregorian
from scripts.dates.calendar_pairs import CalendarPair, calendar_pairs
from scripts.dates.legal_readings import (
    GREGORIAN_YEARS,
    REASONS,
    Calendar,
    DateMention,
    Finding,
    Granularity,
    Refusal,
    bare_date,
    findings,
    in_range,
    iso_value,
)
from scripts.dates.legal_words import Symbols, symbols
from scripts.files import DataError

__all__ = [
    "GREGORIAN_YEARS",
    "REASONS",
    "Calendar",
    "CalendarPair",
    "DateMention",
    "Granularity",
    "LegalDateError",
    "Refusal",
    "calendar_pairs",
    "matches",
    "mentions",
    "read_date",
    "refusals",
]

_LENGTHS: dict[str, int] = {"day": 10, "month": 7, "year": 4}
_VALUE = re.compile(r"\d{4}(?:-\d{2}(?:-\d{2})?)?", re.ASCII)


#: What may stand around the one date of a text.
_AROUND = re.compile(r"[ ,.:;()\[\]'|।zthikO¶-]*")
#: What may stand beside a date that is read: SRO 145-AIN/2013 of 2013-06-06 is more than a date.
_BESIDE = frozenset({"instrument_number", "maybe_code"})


class LegalDateError(DataError):
    """A value asked for is no YYYY, YYYY-MM or YYYY-MM-DD of its granularity."""


def mentions(text: str) -> list[DateMention]:
    """Every date of a text in order of place; the time is linear in its length."""
    return [item for finding in findings(symbols(text)) for item in finding.mentions]


def refusals(text: str) -> list[Refusal]:
    """What looks like a date and is not read, with the reasons, in order of place."""
    found = (finding.refusal for finding in findings(symbols(text)))
    return [refusal for refusal in found if refusal is not None]


def read_date(text: str) -> DateMention | Refusal:
    """The one date that a text consists of, or why there is none.

    Weekdays, brackets, punctuation and words such as `dated` or তারিখ may stand around it. A bare
    year and `YYYY-MM` are dates here. One date in both calendars is its Gregorian mention.
    """
    found = symbols(text)
    bare = bare_date(found)
    if bare is not None:
        return bare
    every = findings(found)
    refused = [finding.refusal for finding in every if finding.refusal is not None]
    dated = any(finding.mentions for finding in every)
    if refused and not (dated and all(refusal.reason in _BESIDE for refusal in refused)):
        return refused[0]
    dates, reason = _one_date(every, calendar_pairs(text))
    if not reason and (refused or not _AROUND.fullmatch(_outside(found, every))):
        reason = "other_text"
    return Refusal(reason, text, 0, len(text)) if reason else dates[0]


def _one_date(every: list[Finding], pairs: list[CalendarPair]) -> tuple[list[DateMention], str]:
    """The dates of a text that should hold one, and why they are not one; no reason if they are."""
    dates = [item for finding in every for item in finding.mentions]
    if len(dates) == 2 and len(pairs) == 1:
        reason = "" if pairs[0].agrees else "calendars_disagree"
        return [item for item in dates if item.calendar == "gregorian"], reason
    return dates, "" if len(dates) == 1 else "several_dates" if dates else "no_date"


def _outside(found: Symbols, every: list[Finding]) -> str:
    """The symbols outside the date, or outside the two of a pair and what joins them."""
    return found.row[: every[0].first] + found.row[every[-1].last :]


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
    if bangla_day and in_range(int(gold_value[:4]), "bangla"):
        bangla = from_gregorian(date.fromisoformat(own))
        own = iso_value(bangla.year, bangla.month, bangla.day)
    return len(own) >= length and own[:length] == gold_value
