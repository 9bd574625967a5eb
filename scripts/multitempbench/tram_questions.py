"""Seed questions from TRAM's arithmetic and relation tables.

Numeric dates in TRAM are month-day-year (docs/curation.md has the evidence). Templates are matched
as wholes: a question that is worded otherwise is left out and counted, never guessed at.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from scripts.corpora.tram import ArithmeticRow, RelationRow
from scripts.multitempbench.candidates import Outcome, asked, doubtful_dates
from scripts.multitempbench.mentions import Found, Mention, find_dates, find_times
from scripts.multitempbench.time_conventions import CONVENTIONS, readings

ARITHMETIC_TASKS = {"Date Computation": "date_arithmetic", "Time Zone Conversion": "time_zone"}
#: TRAM's relation labels and ours. INCLUDES (the event spans the date) has no counterpart.
RELATION_LABELS = {
    "BEFORE": "before",
    "AFTER": "after",
    "SIMULTANEOUS": "simultaneous",
    "IS_INCLUDED": "during",
}

_SHIFT = re.compile(
    r"If you (?P<verb>add|subtract) (?P<amounts>[\w ]+) to the date (?P<date>\S+), "
    r"what will be the new date\?"
)
_AMOUNT = re.compile(r"(\d+) (year|month|week|day)s?")
_ZONES = re.compile(
    r"If it's .+ in (?P<from>[\w/+-]+), what's the date and time in (?P<to>[\w/+-]+)\?"
)
_PAIR = re.compile(
    r"What is the relationship between the event '(?P<event>[^\n]*)' "
    r"and the time '(?P<time>[^\n]*)'\?\Z"
)
# A news story opens with "KUALA LUMPUR, April 1 , 1997 (AFP)", which TRAM moves behind the
# sentence. It dates the story; an agency in brackets right behind it makes that certain.
_AGENCY = re.compile(r"\s*\([^()]*\)")
_PLACE_BEFORE = re.compile(r"[A-Z][^.?!\"]{0,60}, \Z")
_CLOSE = re.compile(r"[\s,.\d]{0,8}(?:\([^()]*\))?[\s.]*\Z")


def arithmetic_outcomes(source: str, rows: Iterable[ArithmeticRow]) -> list[Outcome]:
    """Date computation and time zone questions; other categories are none of the tasks."""
    return [_arithmetic(source, row) for row in rows]


def _arithmetic(source: str, row: ArithmeticRow) -> Outcome:
    task = ARITHMETIC_TASKS.get(row.category, "")
    outcome = Outcome(source, row.row, task)
    if not task:
        return outcome.without("task", f"category {row.category}")
    text = " ".join(row.question.split())
    found = find_dates(text, "mdy")
    doubt = doubtful_dates(outcome, found)
    if doubt:
        return doubt
    if task == "time_zone":
        return _time_zone(outcome, text, found, row.answer)
    return _date_computation(outcome, text, row.answer)


def _date_computation(outcome: Outcome, text: str, gold: str) -> Outcome:
    match = _SHIFT.fullmatch(text)
    if not match or not re.fullmatch(rf"{_AMOUNT.pattern}(?: and {_AMOUNT.pattern})*", match[2]):
        return outcome.without("template", "worded otherwise than the known templates")
    answers = find_dates(gold, "mdy")
    if len(answers.dates) != 1 or answers.stated != 1:
        return outcome.without("answer", "the gold is not one full date")
    operation: dict[str, Any] = {
        "kind": "shift",
        "date": "d1",
        "sign": 1 if match["verb"] == "add" else -1,
    }
    operation |= {f"{unit}s": int(count) for count, unit in _AMOUNT.findall(match["amounts"])}
    preposition = "to" if match["verb"] == "add" else "from"
    start = match.start("date") - len("to the date ")
    worded = f"{text[:start]}{preposition} the date {text[match.start('date') :]}"
    answer = {"kind": "date", "value": answers.dates[0].value, "accepted": []}
    return asked(outcome, worded, find_dates(worded, "mdy").dates, operation, answer)


def _time_zone(outcome: Outcome, text: str, found: Found, gold: str) -> Outcome:
    match, times = _ZONES.fullmatch(text), find_times(text)
    if not match or len(times) != 1 or len(found.dates) != 1:
        return outcome.without("template", "worded otherwise than the known templates")
    day, time = find_dates(gold).dates, find_times(gold)
    if len(day) != 1 or len(time) != 1:
        return outcome.without("answer", "the gold is not one date and time")
    value = f"{day[0].value}T{time[0].value}"
    operation = {"kind": "time_zone", "date": "d1", "time": "t1"} | match.groupdict()
    told = readings(operation, [found.dates[0].value], [times[0].value])
    convention = next((name for name, text in told.items() if text == value), "standard_offset")
    answer = {
        "kind": "date_time",
        "value": value,
        "accepted": sorted(set(told.values()) - {value}),
    }
    operation |= CONVENTIONS[convention]
    return asked(outcome, text, [*found.dates, *times], operation, answer, convention=convention)


def relation_outcomes(source: str, rows: Iterable[RelationRow]) -> list[Outcome]:
    """Event–time pairs with a full date and one of our four labels."""
    return [_relation(source, row) for row in rows]


def _relation(source: str, row: RelationRow) -> Outcome:
    text = " ".join(row.question.split())
    pair = _PAIR.search(text)
    if not pair:
        return Outcome(source, row.row, "").without("task", "the pair is not an event and a time")
    outcome = Outcome(source, row.row, "relation")
    found = find_dates(text)
    doubt = doubtful_dates(outcome, find_dates(pair["time"])) or doubtful_dates(outcome, found)
    if doubt:
        return doubt
    if (found.dates[-1].start, found.dates[-1].end) != pair.span("time"):
        return outcome.without("single_date", "the time is a span, not one date")
    if row.label not in RELATION_LABELS:
        return outcome.without("label", f"label {row.label} has no counterpart")
    dated = _dates_story(text[: pair.start()], found.dates)
    if dated and row.label == "IS_INCLUDED":
        return outcome.without("story_date", dated)
    answer = {"kind": "relation", "value": RELATION_LABELS[row.label], "accepted": []}
    return asked(
        outcome,
        text,
        found.dates,
        {"kind": "none"},
        answer,
        label=row.label,
        second_spelling=second_spelling(row.options, row.label),
        story_date=bool(dated),
    )


def _dates_story(passage: str, dates: Iterable[Mention]) -> str:
    """Why the last date of a passage is that of the news story; empty where it is not."""
    inside = [mention for mention in dates if mention.end <= len(passage)]
    if not inside:
        return ""
    before, rest = passage[: inside[-1].start], passage[inside[-1].end :]
    if _AGENCY.match(rest):
        return "the date is that of the news story (dateline with an agency)"
    if _CLOSE.match(rest) and _PLACE_BEFORE.search(before):
        return "the date is that of the news story (dateline without an agency)"
    return ""


def second_spelling(options: Mapping[str, str], label: str) -> bool:
    """Whether another option is the gold in another spelling (IS-INCLUDED beside IS_INCLUDED).

    The options are not part of our questions; where they were, two would be right.
    """
    plain = re.sub(r"[^A-Z]", "", label)
    same = [text for text in options.values() if re.sub(r"[^A-Z]", "", text) == plain]
    return len(same) > 1
