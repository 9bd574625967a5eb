"""setting_differences.csv (table 16): what each setting adds, means over models, paired intervals.

Partial accuracy on the matched set; event sorting, whose partial accuracy counts exact orders in
every setting, has a second row with the share of pairs in order (`graded`). The macro row averages
the partial rows. `runs` counts the runs compared. `sd_*` is the sample standard deviation (n - 1)
of the runs' accuracies: disagreement between models, not the error of sampling items. An interval
is empty (`constant`) where no resample differs from the sample.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from scripts.statistics.bootstrap import percentile_interval
from scripts.statistics.flags import CONSTANT, INCOMPLETE, MISSING, TOO_FEW, join_flags
from scripts.tide.statistics.intervals import NAN, Floats, spread
from scripts.tide.statistics.matched import (
    ALL,
    SORTING,
    Cube,
    Run,
    Settings,
    check_scores,
    cube,
    resampling,
)
from scripts.tide.tasks import SETTINGS, TASKS

PAIRS = (("rag", "parametric"), ("icl", "parametric"), ("icl", "rag"))
#: The settings in the order of the columns.
SPREADS = ("parametric", "rag", "icl")
COLUMNS = (
    *("task", "measure", "n", "runs"),
    *(f"{a}_minus_{b}{end}" for a, b in PAIRS for end in ("", "_low", "_high")),
    *(f"sd_{name}" for name in SPREADS),
    "flag",
)


class Means(NamedTuple):
    """Accuracies of one task over `n` items: their mean over runs, shape (settings,), that mean in
    every resample, `draws` (settings, resamples), and `by_run` (runs, settings)."""

    task: str
    measure: str
    n: int
    runs: tuple[Run, ...]
    by_run: Floats
    mean: Floats
    draws: Floats
    flag: str


def nothing(task: str, measure: str, n: int) -> Means:
    """A task that nothing can be compared on."""
    none = np.full(len(SETTINGS), NAN)
    return Means(task, measure, n, (), none[None][:0], none, none[:, None], MISSING)


def differences_frame(scores: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """One row a task (two for event sorting), and one for the macro average (task `all`)."""
    check_scores(scores, settings)
    runs = settings.model_runs
    cubes = [cube(scores, task, runs, runs) for task in TASKS]
    resamples = resampling(cubes, settings)
    found = [
        _means(each, measure, resamples[each.task])
        for each in cubes
        for measure in (("partial", "graded") if each.task == SORTING else ("partial",))
    ]
    rows = [_row(each, settings.level) for each in found]
    rows.append(_row(_macro([m for m in found if m.measure == "partial"]), settings.level))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _means(each: Cube, measure: str, counts: Floats) -> Means:
    values = each.of_compared(measure)
    n = len(each.items)
    if not values.size or np.isnan(values).any():
        return nothing(each.task, measure, n)
    draws = values.sum(axis=0) @ counts.T / (n * len(each.compared))
    fewer = INCOMPLETE if each.compared != each.runs else ""
    flag = join_flags([each.flag(n), fewer])
    by_run = values.mean(axis=2)
    return Means(each.task, measure, n, each.compared, by_run, by_run.mean(axis=0), draws, flag)


def _macro(found: Sequence[Means]) -> Means:
    """The mean of the tasks that have a value; `by_run` is of the runs compared on all of these."""
    there = [means for means in found if means.flag != MISSING]
    n = sum(means.n for means in there)
    if not there:
        return nothing(ALL, "partial", n)
    runs = tuple(run for run in there[0].runs if all(run in means.runs for means in there))
    by_run = [
        np.mean([means.by_run[means.runs.index(run)] for means in there], axis=0) for run in runs
    ]
    mean, draws = (
        np.mean([getattr(means, name) for means in there], axis=0) for name in ("mean", "draws")
    )
    flag = INCOMPLETE if len(there) < len(found) or any(means.flag for means in there) else ""
    table = np.reshape(by_run, (len(runs), len(SETTINGS)))
    return Means(ALL, "partial", n, runs, table, mean, draws, flag)


def _row(means: Means, level: float) -> dict[str, Any]:
    row: dict[str, Any] = {
        "task": means.task,
        "measure": means.measure,
        "n": means.n,
        "runs": len(means.runs),
    }
    flags = [means.flag]
    for a, b in PAIRS:
        i, j = SETTINGS.index(a), SETTINGS.index(b)
        name = f"{a}_minus_{b}"
        row[name] = float(means.mean[i] - means.mean[j])
        interval = spread(percentile_interval(means.draws[i] - means.draws[j], level))
        row[f"{name}_low"], row[f"{name}_high"] = interval
        flags.append(CONSTANT if np.isnan(interval.low) and not np.isnan(row[name]) else "")
    few = len(means.runs) < 2
    for name in SPREADS:
        column = means.by_run[:, SETTINGS.index(name)]
        row[f"sd_{name}"] = NAN if few else float(column.std(ddof=1))
    row["flag"] = join_flags([*flags, TOO_FEW if few and means.flag != MISSING else ""])
    return row
