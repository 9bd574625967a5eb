"""What the layouts of every benchmark share: finding rows, saying why one is missing, row lists.

A layout is a function from statistics frames (by file stem) and a `Context` to a `Table` or a
`Drawing`; it lives in its benchmark's folder.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from scripts.files import DataError
from scripts.publishing import captions
from scripts.publishing.captions import NON_THINKING, THINKING, Context, ModelInfo
from scripts.publishing.tables import Cell, Link, Row, is_missing

Frames = Mapping[str, pd.DataFrame]

INCOMPLETE_MARK = "†"
BASELINES = "Baselines"
BLOCKS = {THINKING: "Thinking", NON_THINKING: "Non-thinking"}


class Lookup:
    """Rows of a statistics file by their key columns.

    Raises DataError when a key column is missing or two rows share a key.
    """

    def __init__(self, name: str, frame: pd.DataFrame, keys: tuple[str, ...]) -> None:
        check_columns(name, frame, keys)
        self.name = name
        self._rows: dict[tuple[object, ...], dict[str, Any]] = {}
        for index, row in enumerate(frame.to_dict("records"), start=2):
            key = tuple(row[k] for k in keys)
            if key in self._rows:
                raise DataError(f"{name}.csv, line {index}: second row for {key}")
            self._rows[key] = {str(k): v for k, v in row.items()}

    def get(self, *key: object) -> dict[str, Any] | None:
        """The row of a key, None when there is none."""
        return self._rows.get(tuple(key))


def check_columns(name: str, frame: pd.DataFrame, columns: Iterable[str]) -> None:
    """Raise DataError naming the columns that a statistics file lacks."""
    lacking = sorted(set(columns) - set(frame.columns))
    if lacking:
        raise DataError(f"{name}.csv: no column {', '.join(lacking)}; compute statistics again")


def rows_of(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows of a frame as dictionaries with plain string keys."""
    return [{str(k): v for k, v in row.items()} for row in frame.to_dict("records")]


def value_of(row: Mapping[str, Any] | None, column: str) -> Any:
    """A value of a row; None when there is no row or no such column."""
    return None if row is None else row.get(column)


def blocks(context: Context, modes: Iterable[str]) -> list[tuple[ModelInfo, str, str]]:
    """The rows of a table by model: (model, mode, block), baselines last.

    A mode that no model of the run has still lists every model, so that the table says why it is
    empty; otherwise a block lists the models that have the mode.
    """
    out: list[tuple[ModelInfo, str, str]] = []
    for mode in modes:
        have = [m for m in context.models if mode in m.modes] or list(context.models)
        out += [(m, mode, BLOCKS[mode]) for m in have]
    return out + [(m, NON_THINKING, BASELINES) for m in context.baselines]


def why_missing(model: ModelInfo, mode: str, row: Mapping[str, Any] | None) -> str:
    """The reason of a missing cell, from the roster first and the row's flag second."""
    reason = model.missing_mode(mode)
    if reason:
        return reason
    if row is None:
        return captions.NOT_EVALUATED
    if row.get("condition") == "all" and row.get("n"):
        flags = str(row.get("flag")).split(";")
        if "missing" in flags:
            return "not estimated: one condition is missing"
    return why_flagged(row)


def why_flagged(row: Mapping[str, Any] | None) -> str:
    """The reason of a missing value from the `flag` of its row alone."""
    if row is None:
        return captions.NOT_EVALUATED
    flag = row.get("flag")
    return captions.NOT_ESTIMATED if is_missing(flag) else captions.reason_for(flag)


def by_model(
    context: Context,
    modes: Iterable[str],
    fill: Callable[[ModelInfo, str], Iterable[Cell]],
) -> list[Row]:
    """One row per model and mode, filled by a function of both."""
    return [
        Row(
            (model.label,),
            tuple(fill(model, mode)),
            block,
            model.baseline,
            link=run_link(model, mode),
        )
        for model, mode, block in blocks(context, modes)
    ]


def run_link(model: ModelInfo, mode: str) -> Link:
    """The answers of a model in a mode, in the explorer."""
    return (("model", model.key), ("mode", mode))


def pair_link(a: tuple[str, str], b: tuple[str, str], pair: str = "only_a") -> Link:
    """Two runs (model, mode) compared in the explorer; `pair` is a class of its pairs."""
    return (("a", "|".join(a)), ("b", "|".join(b)), ("pair", pair))


def answer_link(benchmark: str, task: str, request: str, model: str, mode: str) -> Link:
    """One answer in the explorer."""
    return (("answer", "|".join((benchmark, task, request, model, mode))),)


def in_task_order(context: Context, order: Iterable[str]) -> Context:
    """The context with its tasks in the benchmark's own order, however the parameters were sorted.

    Raises DataError for a task that the benchmark does not have.
    """
    known = list(order)
    unknown = sorted(set(context.tasks) - set(known))
    if unknown:
        raise DataError(f"unknown task(s) {', '.join(unknown)}; known: {', '.join(known)}")
    return replace(context, tasks={t: context.tasks[t] for t in known if t in context.tasks})


def caption(context: Context, *sentences: str) -> str:
    """The sentences of a caption, empty ones left out, and the kind of run."""
    return " ".join([*(s for s in sentences if s), captions.run_sentence(context)])
