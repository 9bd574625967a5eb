"""accuracy.csv: every run and setting by task, and the macro average, on the matched set.

Strict is `correct`, partial is `partial` (equal on tasks scored by rule), graded the share of pairs
in order (event sorting), never mixed with strict in a column. The macro average (`all`) is the
unweighted mean of the tasks; `perturbation_identification` is no task of its own and stays out.
Intervals resample items within tasks; `strict_low_threads` and `strict_high_threads` resample whole
threads, with their items of every task: questions on one thread share its facts, so that they are
not independent. Wilson's n is then the number of threads.
Rates and counts of rows (`valid_response_rate`, `truncated_rate`, `n_scored`, `strict_scored`,
`unscored`, `flagged`) are of all rows of a cell, matched or not; the two rates are shares of the
answers that were given and that a judge or rule could read (not those not run, not those unjudged).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from scripts.statistics.bootstrap import Interval
from scripts.statistics.flags import INCOMPLETE, MISSING
from scripts.tide.statistics.intervals import (
    NAN,
    Floats,
    macro_interval,
    mean_draws,
    mean_interval,
    mean_of,
)
from scripts.tide.statistics.matched import (
    ALL,
    Cube,
    Run,
    Settings,
    check_scores,
    resampling,
    scored,
    task_cubes,
    thread_resampling,
)
from scripts.tide.tasks import SETTINGS, TASKS

COLUMNS = (
    *("model", "mode", "knowledge", "task", "n", "planned", "strict", "strict_low", "strict_high"),
    *("partial", "partial_low", "partial_high", "graded", "valid_response_rate", "truncated_rate"),
    *("strict_low_threads", "strict_high_threads"),
    *("n_scored", "strict_scored", "lost", "unscored", "flagged", "flag"),
)
#: Strict accuracy with the interval over threads.
THREADS = "strict_threads"
#: Measures with an interval, the value that each is the mean of, and the columns of its bounds.
MEASURES = {
    "strict": ("correct", "strict_low", "strict_high"),
    "partial": ("partial", "partial_low", "partial_high"),
    THREADS: ("correct", "strict_low_threads", "strict_high_threads"),
}
#: Categories of rows without an answer that could have been read.
UNREAD = ("not_run", "unjudged")
_SUMS = ("n", "planned", "n_scored", "lost", "unscored", "flagged")
_MEANS = ("strict", "partial", "valid_response_rate", "truncated_rate", "strict_scored")


def accuracy_frame(scores: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """One row per run, setting and task, and one for the macro average (task `all`).

    Raises DataError for rows that are doubled or not configured.
    """
    check_scores(scores, settings)
    cubes = task_cubes(scores, settings)
    by_item = resampling(cubes.values(), settings)
    by_thread = thread_resampling(list(cubes.values()), settings)
    # One matrix product a task and measure, shape (runs, knowledge, resamples).
    draws = {
        task: {
            "strict": mean_draws(each.values["correct"], by_item[task]),
            "partial": mean_draws(each.values["partial"], by_item[task]),
            THREADS: mean_draws(each.values["correct"], by_thread[task]),
        }
        for task, each in cubes.items()
    }
    counts = row_counts(scores)
    rows = []
    for run in settings.all_runs:
        for knowledge in SETTINGS:
            cells = [
                Cell(cubes[task], run, knowledge, draws[task], settings.level) for task in TASKS
            ]
            found = [cell.row(counts.get((*run, knowledge, cell.cube.task), {})) for cell in cells]
            rows += [*found, _macro(cells, found, settings)]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def row_counts(scores: pd.DataFrame) -> dict[tuple[str, ...], dict[str, int]]:
    """Counts of all rows, matched or not, by model, mode, knowledge and task."""
    keys = ["model", "mode", "knowledge", "task"]
    have = scored(scores)
    read = ~scores["category"].isin(list(UNREAD))
    counted = scores[keys].assign(
        read=read,
        valid=read & scores["valid"].astype(bool),
        truncated=read & scores["category"].eq("truncated"),
        scored=have,
        right=have & scores["correct"].fillna(False).astype(bool),
        unscored=~have,
        flagged=scores["flagged"].astype(bool),
    )
    sums = counted.groupby(keys, observed=True).sum()
    return {
        tuple(map(str, key)): {str(name): int(value) for name, value in row.items()}
        for key, row in zip(sums.index, sums.to_dict("records"), strict=True)
    }


class Value(NamedTuple):
    """A measure of one cell: its mean, the interval, and the mean in every resample."""

    mean: float
    interval: Interval
    draws: Floats


@dataclass(frozen=True)
class Cell:
    """One run in one setting on one task; `draws` of every run and setting, by measure."""

    cube: Cube
    run: Run
    knowledge: str
    draws: Mapping[str, Floats]
    level: float

    @cached_property
    def values(self) -> dict[str, Value]:
        """Strict and partial accuracy, by measure."""
        place = self.cube.runs.index(self.run), self.cube.knowledge.index(self.knowledge)
        found = {}
        for measure, (name, *_) in MEASURES.items():
            values = self.cube.of(name, self.run, self.knowledge)
            units = None
            if measure == THREADS:
                there = np.array(self.cube.threads, dtype=object)[~np.isnan(values)]
                units = len(set(there))
            draws = self.draws[measure][place]
            interval = mean_interval(values, draws, self.level, units)
            found[measure] = Value(mean_of(values), interval, draws)
        return found

    def row(self, counts: Mapping[str, int]) -> dict[str, Any]:
        """The row of the cell; `counts` of its rows, matched or not."""
        n = int((~np.isnan(self.cube.of("correct", self.run, self.knowledge))).sum())
        read, own = counts.get("read", 0), counts.get("scored", 0)
        row: dict[str, Any] = {
            **_key(self.run, self.knowledge, self.cube.task),
            "n": n,
            "planned": self.cube.planned,
            "graded": mean_of(self.cube.of("graded", self.run, self.knowledge)),
            "valid_response_rate": counts["valid"] / read if read else NAN,
            "truncated_rate": counts["truncated"] / read if read else NAN,
            "n_scored": own,
            "strict_scored": counts["right"] / own if own else NAN,
            "lost": self.cube.lost.get(self.run, 0),
            "unscored": counts.get("unscored", 0),
            "flagged": counts.get("flagged", 0),
            "flag": self.cube.flag(n),
        }
        for measure, (_, low, high) in MEASURES.items():
            value = self.values[measure]
            row[measure] = value.mean
            row[low], row[high] = value.interval
        return row


def _key(run: Run, knowledge: str, task: str) -> dict[str, Any]:
    return {"model": run[0], "mode": run[1], "knowledge": knowledge, "task": task}


def _macro(
    cells: Sequence[Cell], rows: Sequence[Mapping[str, Any]], settings: Settings
) -> dict[str, Any]:
    """The unweighted mean of the tasks that have a value; `incomplete` if one is or has none."""
    there = [cell for cell, row in zip(cells, rows, strict=True) if row["n"]]
    whole = len(there) == len(cells) and not any(row["flag"] for row in rows)
    out: dict[str, Any] = {
        **_key(cells[0].run, cells[0].knowledge, ALL),
        **{name: sum(row[name] for row in rows) for name in _SUMS},
        **{name: mean_of(np.array([row[name] for row in rows], dtype=float)) for name in _MEANS},
        "graded": NAN,
        "flag": MISSING if not there else "" if whole else INCOMPLETE,
    }
    for measure, (_, low, high) in MEASURES.items():
        values = [cell.values[measure] for cell in there]
        out[low], out[high] = macro_interval(
            [(value.mean, value.interval) for value in values],
            [value.draws for value in values],
            settings.level,
        )
    return out
