"""What a date looks like in legal text: patterns over the symbols of `legal_words.py`.

The patterns are in the order of their rank: what one has taken the next cannot take. Each is
bounded, so that the time is linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from scripts.dates.legal_words import Symbols

# --- parts ---------------------------------------------------------------------------------------

_DATE = r"(?:y[/.-]d[/.-]d|d[/.-]d[/.-]y)"
#: Not in the middle of a longer number, code or word. A slash may follow an era or a date with a
#: month's name (the same day in the other calendar), a slash or hyphen another numeric date.
_FREE = (
    r"(?<![a-su-zA-Z])(?:(?<=[gab] y/)|(?<=[gab], y/)|(?<=y[/.-]d[/.-]d[/-])"
    r"|(?<=d[/.-]d[/.-]y[/-])|(?<![dny][./:,-])(?<![^EBWSL)]/))"
)
_END = rf"(?! ?%)(?![./-](?!{_DATE})[dny])"


def _day(name: str) -> str:
    return rf"(?P<{name}>d(?: ?\( ?[xw] ?\))?(?: ?s)?|w|T[ -]?w)"


def _month(name: str) -> str:
    return rf"(?P<{name}>[gb]|a\.?)(?: ?m)?(?: ?\( ?z ?\)|, ?z)?"


#: Nor the number of a section before a month: under rule 9, June 2011.
_FREE_DAY = r"(?<![dn][./:-])(?<!y[.:])(?<!/y[/-])(?<![dny],)(?<!C)(?<!C )"
_FREE_YEAR = r"(?<![dny][./:-])(?<![dny],)"
_TO_MONTH = r"(?:[./-]| ?,? ?(?:t ?)?(?:D ?)?(?:o ?)?(?:h ?)?(?:m ?)?(?:o ?)?)"
_TO_YEAR = r"(?: ?, ?|[./-]|' ?| )?(?:o ?)?(?:h ?)?(?:Y ?)?(?:[SW] ?)?"
_TO_LATE_YEAR = r"(?: ?, ?|[/-]| )(?:o ?)?(?:h ?)?(?:Y ?)?(?:[SW] ?)?"
_ERA = r"(?:(?: ?,)? ?(?P<era>[EBHW](?: ?[SL])?|[SL])(?![a-z])| ?\( ?(?P<marked>[EBHW])\.? ?\))?"
_YEAR = r"(?P<year>y)(?! ?%)"
_RANGE = r" ?(?:-|r|c) ?"
_YEAR_END = r"(?! ?[UA%])(?! ?[./:-] ?[dny])(?!,[dny])"
_YEAR_ERA = r"(?P<era>[EBH](?: ?[SL])?|W ?[SLY]|W(?= ?[,.;)।¶]|$)|[SL])(?![a-z])"
_NEXT_YEAR = r"(?:(?: ?, ?(?:c ?)?| ?c ?| ?r ?(?:h ?)?| ?- ?)y)"

_DAY_FIRST = _TO_MONTH + _month("month")
_RULES: tuple[tuple[str, str], ...] = (
    # 160-AIN/2016/21, ১৬০-আইন/২০১৬/২১, 156-Law/2015/36-Customs
    ("instrument", r"[dny] ?[-/] ?[xAKfC] ?[/-] ?[yd](?:/[dny](?! ?[gba]))?(?:[-/][xAK])?"),
    ("ordered", rf"{_FREE}(?P<year>y)(?P<sep>[/.-])(?P<month>d)(?P=sep)(?P<day>d){_END}{_ERA}"),
    (
        "numeric",
        rf"{_FREE}(?P<day>d)(?P<sep> ?[/-] ?|\.)(?P<month>d)(?P=sep)(?P<year>y){_END}{_ERA}",
    ),
    ("short_numeric", rf"{_FREE}d(?P<sep>[/-])d(?P=sep)d(?![./-][dny])"),
    (
        "two_days",
        rf"{_FREE_DAY}{_day('day')}{_TO_MONTH}{_month('month')}{_RANGE}(?:h ?)?"
        rf"{_day('last')}{_TO_MONTH}{_month('last_month')}{_TO_YEAR}{_YEAR}{_ERA}",
    ),
    (
        "days",
        rf"{_FREE_DAY}{_day('day')}{_RANGE}{_day('last')}{_DAY_FIRST}"
        rf"{_TO_YEAR}{_YEAR}{_ERA}",
    ),
    (
        "days",
        rf"{_month('month')}[ ,-]{{0,2}}(?:h ?)?{_day('day')}{_RANGE}{_day('last')}"
        rf"{_TO_LATE_YEAR}{_YEAR}{_ERA}",
    ),
    # ২০২৩ সালের ১ জুলাই, ২০২৪ সালের ৩০ জুন: the year after the comma begins another date.
    (
        "day",
        rf"{_FREE_YEAR}(?P<year>y) ?(?P<era>S) ?{_day('day')}{_DAY_FIRST}"
        r"(?= ?,? ?y ?S ?[dwTgab])",
    ),
    ("day", rf"{_FREE_DAY}{_day('day')}{_DAY_FIRST}{_TO_YEAR}{_YEAR}{_ERA}"),
    (
        "day",
        rf"{_month('month')}[ ,-]{{0,2}}(?:h ?)?{_day('day')}(?: ?t)?(?: ?D)?(?:, ?z)?"
        rf"{_TO_LATE_YEAR}{_YEAR}{_ERA}",
    ),
    (
        "day",
        rf"(?P<year>y)[ ,-]{{0,2}}(?P<era>[EBHW] ?[SL]?|[SLG]) ?,? ?{_day('day')}{_DAY_FIRST}"
        r"(?! ?[,/-]? ?y)",
    ),
    (
        "day",
        rf"(?P<year>y)[ ,-]{{0,2}}(?P<era>[EBHW] ?[SL]?|[SLG]) ?,? ?{_month('month')} ?"
        rf"{_day('day')}(?: ?t)?(?! ?[,/-]? ?y)",
    ),
    ("day", rf"(?<![dny][./:-])(?P<year>y)(?P<sep>[/ -]){_month('month')}(?P=sep){_day('day')}"),
    ("fiscal", r"(?:[FZ]|f ?v)(?: ?Y)?(?: ?o)?(?: ?[:(-])? ?y(?: ?[-/] ?[dy](?![./-][dny]))?"),
    ("fiscal", r"y(?: ?[-/] ?[dy])? ?(?:[FZ]|f ?v)|Z ?['-]? ?d"),
    ("year_month", rf"{_FREE}(?P<year>y)(?P<sep>[/-])(?P<month>d)(?![./-][dny])(?! ?%)"),
    (
        "months",
        rf"{_month('month')}{_RANGE}{_month('last_month')}{_TO_YEAR}{_YEAR}{_ERA}",
    ),
    ("month", rf"{_month('month')}{_TO_YEAR}{_YEAR}(?! ?U){_ERA}"),
    ("month", rf"(?P<year>y)[ -]?(?P<era>[EBHW] ?[SL]?|[SLG]) ?,? ?{_month('month')}"),
    (
        "no_year",
        rf"{_FREE_DAY}{_day('day')}{_DAY_FIRST}(?P<short>(?: ?[,/-] ?| )'?d(?![./:-][dny]))?",
    ),
    (
        "no_year",
        rf"{_month('month')}[ ,-]{{0,2}}(?:h ?)?{_day('day')}"
        r"(?P<short>(?: ?[,/-] ?| )'?d(?![./:-][dny]))?",
    ),
    # 160/2016; ২০১২ সনের ৪৭ নং আইন; ২০১৬ সালের ব্যাগেজ বিধিমালা
    ("instrument", r"[dn] ?/ ?y(?:/[dn])?(?:-[A-Za-z])?"),
    ("instrument", r"y ?S ?[dn] ?N|y ?S ?(?:x ){0,2}A"),
    (
        "years",
        rf"(?:(?:[ik]|j ?o)(?: ?h)?(?: ?[Yq])?|Y|q(?: ?o)?)(?: ?:|-)? ?y{_NEXT_YEAR}{{0,9}}"
        rf"{_YEAR_END}",
    ),
    ("era_years", rf"{_FREE_YEAR}(?<!A )(?<!A, )y(?:{_NEXT_YEAR}|-d){{1,9}} ?{_YEAR_ERA}"),
    (
        "year",
        rf"{_FREE_YEAR}(?P<year>y) ?,? ?{_YEAR_ERA}",
    ),
    ("year", rf"(?P<era>[EBWS])(?: ?:)? ?(?P<year>y){_YEAR_END}"),
    ("listed", rf"\( ?y(?:{_NEXT_YEAR}|; ?y){{0,9}} ?\)"),
)
_COMPILED = tuple((kind, re.compile(pattern)) for kind, pattern in _RULES)
_TAKEN = "\u2588"


@dataclass(frozen=True, slots=True)
class Candidate:
    """Symbols that a rule took: its kind and its match on the row of symbols."""

    kind: str
    match: re.Match[str]

    @property
    def first(self) -> int:
        """The first symbol."""
        return self.match.start()

    @property
    def last(self) -> int:
        """One past the last symbol."""
        return self.match.end()


def candidates(found: Symbols) -> list[Candidate]:
    """What may be a date or is no date for a known reason, in order of place and apart."""
    row = found.row
    taken: list[Candidate] = []
    for kind, pattern in _COMPILED:
        matches = list(pattern.finditer(row))
        taken += [Candidate(kind, match) for match in matches]
        row = "".join(_without(row, matches)) if matches else row
    return sorted(taken, key=lambda candidate: candidate.first)


def _without(row: str, matches: list[re.Match[str]]) -> Iterator[str]:
    """The row with what the matches took made unreadable."""
    place = 0
    for match in matches:
        yield row[place : match.start()]
        yield _TAKEN * (match.end() - match.start())
        place = match.end()
    yield row[place:]
