"""Seed questions from FreshBench: forecasts that were resolved with yes or no by a full date.

FreshBench has none of the benchmark's tasks as it stands, and the paper does not say how it used
it. The nearest is a relation: "Will X happen before {d1}?" asks whether an event stands before a
date. Answering needs to know what happened, so the default quotas take none of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from scripts.corpora.freshbench import ForecastRow
from scripts.multitempbench.candidates import Outcome, asked, doubtful_dates
from scripts.multitempbench.mentions import find_dates, place

_BY_A_DATE = re.compile(r"\b(?:before|after|by|between \{d1\} and) \{d\d\}[^{}]*\?\Z")


def freshbench_outcomes(source: str, rows: Iterable[ForecastRow]) -> list[Outcome]:
    """Yes-or-no forecasts about a full date, as questions of the task `relation`."""
    return [_outcome(source, row) for row in rows]


def _outcome(source: str, row: ForecastRow) -> Outcome:
    if sorted(choice.casefold() for choice in row.choices) != ["no", "yes"]:
        return Outcome(source, row.row, "").without("task", "not a yes-or-no forecast")
    outcome = Outcome(source, row.row, "relation")
    found = find_dates(row.question)
    doubt = doubtful_dates(outcome, found)
    if doubt:
        return doubt
    if row.target is None:
        return outcome.without("answer", "no choice is marked as right")
    if not _BY_A_DATE.search(place(row.question, found.dates)[0]):
        return outcome.without("template", "asks for no relation of an event to a date")
    answer = {"kind": "yes_no", "value": row.target.casefold(), "accepted": []}
    more = {"started": row.started.isoformat(), "closed": row.closed.isoformat()}
    return asked(outcome, row.question, found.dates, {"kind": "none"}, answer, **more)
