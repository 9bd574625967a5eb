"""The table that joins the benchmarks: what each of them says about one model's tokeniser.

Every benchmark declares its columns (`shared_axis` of its benchmark.yaml): a file of its results
with one or more rows a model, and for each column the value of that file whose mean is taken. A
benchmark outside the run has no column.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

import pandas as pd

from scripts.files import DataError
from scripts.publishing import captions
from scripts.publishing.layouts import check_columns
from scripts.publishing.numbers import select
from scripts.publishing.tables import Cell, Column, Row, Table, absent, decimal, number

DIGITS = 2


def inputs(results: str, axes: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Named inputs of the rule: benchmark to file."""
    return {name: f"{results}/{name}/{axis['file']}" for name, axis in axes.items()}


def values(
    axes: Mapping[str, Mapping[str, Any]], frames: Mapping[str, pd.DataFrame]
) -> dict[tuple[str, str], float]:
    """(model, column key) to value, from the files by benchmark. DataError for a missing column."""
    out: dict[tuple[str, str], float] = {}
    for benchmark, axis in axes.items():
        name = PurePosixPath(axis["file"]).stem
        for column in axis["columns"]:
            for model, value in _means(name, frames[benchmark], column).items():
                out[str(model), column["key"]] = float(value)
    return out


def _means(name: str, frame: pd.DataFrame, column: Mapping[str, Any]) -> pd.Series:
    """The mean of a column by model: of its rows, or of the means inside the groups of `within`."""
    value, within, weight = column["value"], column.get("within", []), column.get("weight")
    check_columns(name, frame, ["model", value, *within, *([weight] if weight else [])])
    rows = select(frame, column.get("where", {})).dropna(subset=[value])
    weights = rows[weight] if weight else 1.0
    weighed = rows.assign(total=rows[value] * weights, weight=weights)
    sums = weighed.groupby(["model", *within])[["total", "weight"]].sum()
    means: pd.Series = (sums["total"] / sums["weight"]).groupby(level="model").mean()
    return means.dropna()


def build(
    entries: Sequence[Mapping[str, Any]],
    axes: Mapping[str, Mapping[str, Any]],
    frames: Mapping[str, pd.DataFrame],
) -> Table:
    """One row a model of the roster that any benchmark has a value for."""
    found = values(axes, frames)
    shown = [(benchmark, column) for benchmark in axes for column in axes[benchmark]["columns"]]
    keys = [column["key"] for _, column in shown]
    if twice := sorted({key for key in keys if keys.count(key) > 1}):
        raise DataError(f"shared_axis: declared by two benchmarks: {', '.join(twice)}")
    columns = tuple(Column(c["key"], c["title"], axes[b]["title"]) for b, c in shown)
    rows = []
    for entry in entries:
        name = str(entry["name"])
        if not any((name, key) in found for key in keys):
            continue
        cells = tuple(
            _cell(found.get((name, column["key"])))
            if benchmark in entry["benchmarks"]
            else absent("the model does not answer this benchmark")
            for benchmark, column in shown
        )
        rows.append(Row((str(entry["label"]),), cells))
    return Table(
        "shared_axis",
        "One tokeniser seen by every benchmark of the run. "
        f"{'; '.join(axis['meaning'] for axis in axes.values())}.",
        ("Model",),
        columns,
        tuple(rows),
        short_caption="Tokenisers across the benchmarks",
    )


def _cell(value: float | None) -> Cell:
    return number(value, lambda v: decimal(v, DIGITS), reason=captions.NOT_ESTIMATED)
