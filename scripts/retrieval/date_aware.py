"""Re-ranking by closeness in time, an extension beyond TIDE's retriever.

    score = cosine similarity + weight * exp(-d / years)

d is the smallest distance in years between a time that the query speaks of and a time of the
element; an element without a date, and a query without one, get no addition. The sum of a semantic
and a temporal score follows the hybrid ranking of Zhang et al. (2025, MRAG); the exponential decay
is that of time-based language models (Li and Croft 2003, CIKM), taken around the query's time
instead of the newest document's.

A query speaks of every date that it states, and of the date at an offset that it states ("six years
later", "two months before", "ছয় বছর পর") from the nearest stated date. Both ends count: the version
at the start is needed as much as the one at the end.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from scripts.dates.legal_dates import mentions
from scripts.retrieval.ranking import Clause, Hit, clauses

DAYS_PER_YEAR = 365.2425
#: Gregorian time, in years, at which the Bangla year 0 would begin: 593 years and 103 days.
BANGLA_NEW_YEAR = 593 + 103 / DAYS_PER_YEAR

_ENGLISH = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen twenty"
)
_BENGALI = "এক দুই তিন চার পাঁচ ছয় সাত আট নয় দশ এগারো বারো তেরো চৌদ্দ পনেরো ষোলো সতেরো আঠারো উনিশ বিশ"
_NUMBERS: dict[str, int] = {
    **{word: number for number, word in enumerate(_ENGLISH.split(), start=1)},
    **{word: number for number, word in enumerate(_BENGALI.split(), start=1)},
    "a": 1,
    "an": 1,
}
_UNITS = {"year": 1.0, "month": 1 / 12, "week": 7 / DAYS_PER_YEAR, "day": 1 / DAYS_PER_YEAR}
_BENGALI_UNITS = {"বছর": "year", "বৎসর": "year", "মাস": "month", "সপ্তাহ": "week", "দিন": "day"}
_NUMBER = "[0-9০-৯]{1,3}|" + "|".join(sorted(_NUMBERS, key=len, reverse=True))
_OFFSET = re.compile(
    rf"(?<!\w)(?P<number>{_NUMBER})(?:\s+|-)(?:full\s+|calendar\s+)?"
    r"(?P<unit>years?|months?|weeks?|days?|বছর|বৎসর|মাস|সপ্তাহ|দিন)(?:ের)?\s+"
    r"(?P<way>later|after(?:wards)?|on\s+from|past|before|earlier|prior|পরে?|আগে|পূর্বে)(?!\w)",
    re.IGNORECASE,
)
_BACKWARDS = frozenset({"before", "earlier", "prior", "আগে", "পূর্বে"})


@dataclass(frozen=True, slots=True)
class DateAware:
    """Weight of closeness beside the similarity, and the years over which it falls to 1/e."""

    weight: float
    years: float


@dataclass(frozen=True, slots=True)
class DatedClause:
    """A clause with its closeness in [0, 1] to the query's times, and the score it is ranked by."""

    clause: Clause
    closeness: float
    score: float


def in_years(value: str, calendar: str = "gregorian") -> float:
    """A date `YYYY`, `YYYY-MM` or `YYYY-MM-DD` as a number of years: the middle of its span.

    A day is Gregorian in either calendar; a Bangla year or month keeps its Bangla value
    (`scripts.dates.legal_dates`) and begins on 14 April.
    """
    parts = [int(part) for part in value.split("-")]
    year, month, day = (*parts, 0, 0)[:3]
    if day:
        return year + (date(year, month, day).timetuple().tm_yday - 0.5) / DAYS_PER_YEAR
    begin = year + (BANGLA_NEW_YEAR if calendar == "bangla" else 0.0)
    return begin + ((month - 0.5) / 12 if month else 0.5)


@dataclass(frozen=True, slots=True)
class Offset:
    """A stated distance in years (negative before a date) and its place in the text."""

    years: float
    start: int
    end: int


def offsets(text: str) -> list[Offset]:
    """Every stated offset, in order of place."""
    found = []
    for match in _OFFSET.finditer(text):
        word = match["number"].lower()
        number = _NUMBERS[word] if word in _NUMBERS else int(word)
        unit = match["unit"].lower()
        unit = _BENGALI_UNITS.get(unit, unit.removesuffix("s"))
        sign = -1 if match["way"].lower() in _BACKWARDS else 1
        found.append(Offset(sign * number * _UNITS[unit], *match.span()))
    return found


def query_times(text: str) -> list[float]:
    """The times that a query speaks of, in years, ascending; empty where it names no date."""
    stated = mentions(text)
    times = {in_years(mention.value, mention.calendar) for mention in stated}
    for offset in offsets(text) if stated else ():
        # Few characters between the two: "three years after 1 July 2011" counts from that day.
        seed = min(stated, key=lambda each: max(each.start - offset.end, offset.start - each.end))
        times.add(in_years(seed.value, seed.calendar) + offset.years)
    return sorted(times)


def closeness(query: Sequence[float], element: Sequence[float], years: float) -> float:
    """exp(-d / years) of the smallest distance d; 0 where one side has no date."""
    if not query or not element:
        return 0.0
    return math.exp(-min(abs(a - b) for a in query for b in element) / years)


def rerank(
    hits: Sequence[Hit],
    count: int,
    query: Sequence[float],
    times: Mapping[str, Sequence[float]],
    settings: DateAware,
) -> list[DatedClause]:
    """At most `count` elements of the hits by score; without a date in the query the plain order.

    `times` are the times of elements in years. Equal scores go by similarity, then by id.
    """
    everything = clauses(hits, len(hits))
    scored = []
    for clause in everything:
        close = closeness(query, times.get(clause.element_id, ()), settings.years)
        score = round(clause.similarity + settings.weight * close, 9)
        scored.append((-score, clause.rank, clause, close))
    return [
        DatedClause(
            Clause(clause.element_id, clause.similarity, rank, clause.chunk), close, -negative
        )
        for rank, (negative, _, clause, close) in enumerate(sorted(scored)[:count], start=1)
    ]
