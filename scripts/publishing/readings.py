"""The table of what changes with the reading of a text, the same for every benchmark.

A benchmark says what its questions and readings are (`Question`); the numbers are the rows of its
`statistics/readings.csv`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from scripts.files import DataError
from scripts.publishing import captions
from scripts.publishing.captions import Context
from scripts.publishing.layouts import Frames, caption, check_columns, rows_of
from scripts.publishing.tables import (
    Cell,
    Column,
    Row,
    Table,
    decimal,
    is_missing,
    number,
    p_value,
    percent,
    signed,
    whole,
)
from scripts.statistics.readings import COLUMNS

Form = Literal["share", "number", "count"]
#: Columns of text, which an empty cell of the file leaves missing.
TEXTS = ("scope", "flag")


@dataclass(frozen=True, slots=True)
class Question:
    """A place of a paper that can be read in more than one way.

    `readings`: reading to its words, the one that this project uses first. `quantities`: quantity
    to its words and the form of its value: a share (printed in percent), a number, or a count.
    """

    name: str
    title: str
    readings: Mapping[str, str]
    quantities: Mapping[str, tuple[str, Form]]
    scopes: Mapping[str, str] = field(default_factory=dict)

    @property
    def ours(self) -> str:
        """The reading that the other tables and figures use."""
        return next(iter(self.readings))


def readings_table(
    frames: Frames, context: Context, questions: Sequence[Question], name: str
) -> Table:
    """The readings of every question, with their distance from the one that is used.

    Raises DataError for a row whose question, reading or quantity has no words.
    """
    frame = frames["readings"]
    check_columns("readings", frame, COLUMNS)
    rows = [{k: _text(v) if k in TEXTS else v for k, v in row.items()} for row in rows_of(frame)]
    known = {question.name: question for question in questions}
    for row in rows:
        _check(row, known)
    body = [
        built
        for question in questions
        for built in _block(question, [r for r in rows if r["question"] == question.name], context)
    ]
    silent = [q.title for q in questions if q.name not in {row["question"] for row in rows}]
    return Table(
        name,
        caption(
            context,
            "What changes with the reading: places where the paper's text, its tables and its code "
            "do not say the same, each computed in every reading from the same answers of this "
            "run. n: the answers, cells or tests that a value rests on.",
        ),
        ("Quantity", "Reading"),
        (
            Column("value", "Value", align="r"),
            Column("change", "Change", align="r"),
            Column("p", "p", align="r"),
            Column("n", "n", align="r"),
        ),
        tuple(body),
        (
            "The first reading of a quantity is the one that all other tables and figures use; "
            "change: the value less that one's. Below a value its "
            f"{captions.level_words(context)} interval, where it has one.",
            *(
                [f"Without a row, as nothing in this run depends on it: {'; '.join(silent)}."]
                if silent
                else []
            ),
        ),
        layout="long",
        stub_align="P{5.0cm}P{5.0cm}",
        size="scriptsize",
        short_caption="What changes with the reading",
    )


def _text(value: object) -> str:
    return "" if is_missing(value) else str(value)


def _check(row: Mapping[str, Any], known: Mapping[str, Question]) -> None:
    question = known.get(str(row["question"]))
    if (
        question is None
        or row["reading"] not in question.readings
        or row["quantity"] not in question.quantities
    ):
        raise DataError(
            f"readings.csv: no words for question {row['question']!r}, reading "
            f"{row['reading']!r}, quantity {row['quantity']!r}; add them to the benchmark's "
            "questions"
        )


def _block(question: Question, rows: Sequence[Mapping[str, Any]], context: Context) -> list[Row]:
    """The rows of one question: by quantity and scope, the reading that is used first."""
    order = list(question.readings)
    groups = dict.fromkeys((row["quantity"], row["scope"]) for row in rows)
    out = []
    for quantity, scope in groups:
        words, form = question.quantities[str(quantity)]
        mine = [row for row in rows if (row["quantity"], row["scope"]) == (quantity, scope)]
        mine.sort(key=lambda row: order.index(str(row["reading"])))
        used = next((row["value"] for row in mine if row["reading"] == question.ours), None)
        label = ", ".join(filter(None, (words, _scope(question, str(scope), context))))
        for place, row in enumerate(mine):
            stub = (label, question.readings[str(row["reading"])])
            out.append(Row(stub, _cells(row, used, form), question.title, repeated=place > 0))
    return out


def _scope(question: Question, scope: str, context: Context) -> str:
    """A scope in words: parts joined by `|` are a model, a mode, a number of shots, a task, …"""
    known = {**captions.MODE_LABELS, **question.scopes}
    words = []
    for part in filter(None, scope.split("|")):
        name, _, value = part.partition("=")
        shots = captions.shots_words(int(value)) if name == "shots" and value else ""
        words.append(shots or known.get(part) or context.label(part))
    return ", ".join(words)


def _cells(row: Mapping[str, Any], used: Any, form: Form) -> tuple[Cell, ...]:
    reason = captions.reason_for(row["flag"]) if row["flag"] else captions.NOT_ESTIMATED
    printed = {"share": percent, "number": decimal, "count": lambda value: f"{value:,.0f}"}[form]
    moved = {
        "share": lambda value: signed(100 * value, 1),
        "number": signed,
        "count": lambda value: signed(value, 0),
    }[form]
    value = number(row["value"], printed, low=row["low"], high=row["high"], reason=reason)
    known = not (is_missing(used) or is_missing(row["value"]))
    change = float(row["value"]) - float(used) if known else None
    return (
        value,
        number(change, moved, reason=reason),
        number(row["p"], p_value, reason="no test of this quantity"),
        whole(row["n"]),
    )
