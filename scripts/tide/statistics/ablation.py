"""ablation_by_task.csv, ablation_by_model.csv: retrievers compared by what models make of them.

Strict accuracy with retrieved clauses by embedder, depth and re-ranking (tables 18 and 19), of the
models that answered every variant, on the items that all of these have a score for under every
variant. Two macro averages: of all tasks (`all`), and without event sorting, as printed
(`macro_without_sorting`). Intervals resample items within tasks; all variants share the resamples.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from scripts.statistics.bootstrap import Interval
from scripts.statistics.flags import INCOMPLETE, MISSING
from scripts.tide.statistics.intervals import (
    NAN,
    Floats,
    Resamples,
    macro_interval,
    mean_draws,
    mean_interval,
    mean_of,
)
from scripts.tide.statistics.matched import (
    ALL,
    SORTING,
    WITHOUT_SORTING,
    Cube,
    Run,
    Settings,
    check_scores,
    cube,
    resampling,
)
from scripts.tide.tasks import TASKS

KEYS = ("embedder", "depth", "rerank")
VALUES = ("n", "strict", "strict_low", "strict_high", "flag")
TASK_COLUMNS = (*KEYS, "task", *VALUES)
MODEL_COLUMNS = (*KEYS, "model", "mode", "task", *VALUES)
#: Macro average to the task that it leaves out.
MACROS = {ALL: "", WITHOUT_SORTING: SORTING}


def variants_of(settings: Settings) -> dict[str, tuple[str, int, str]]:
    """Knowledge to embedder, depth and re-ranking (`none` or `dates`), the main one first."""
    further = {
        name: (embedder, depth, "dated" if dated else "none")
        for name, (embedder, depth, dated) in settings.variants.items()
    }
    return {"rag": (*settings.main, "none"), **further}


def answered_all(scores: pd.DataFrame, settings: Settings, knowledge: set[str]) -> tuple[Run, ...]:
    """The runs of models that have rows under every variant."""
    found: dict[Run, set[str]] = {}
    rows = scores[["model", "mode", "knowledge"]].drop_duplicates()
    for model, mode, name in rows.itertuples(index=False):
        found.setdefault((str(model), str(mode)), set()).add(str(name))
    return tuple(run for run in settings.model_runs if knowledge <= found.get(run, set()))


def ablation_frames(scores: pd.DataFrame, settings: Settings) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Both files: by variant and task (means over models), by variant and model (macros)."""
    check_scores(scores, settings)
    variants = variants_of(settings)
    runs = answered_all(scores, settings, set(variants))
    cubes = {task: cube(scores, task, runs, runs, tuple(variants)) for task in TASKS}
    resamples = resampling(cubes.values(), settings)
    by_task, by_model = [], []
    for knowledge, key in variants.items():
        pooled = Variant(
            {task: _pooled(cubes[task], knowledge) for task in TASKS}, cubes, resamples
        )
        by_task += [(*key, task, *pooled.cell(task, settings.level)) for task in TASKS]
        by_task += [(*key, macro, *pooled.macro(macro, settings.level)) for macro in MACROS]
        for run in runs:
            values = {task: each.of("correct", run, knowledge) for task, each in cubes.items()}
            mine = Variant(values, cubes, resamples)
            by_model += [
                (*key, *run, macro, *mine.macro(macro, settings.level)) for macro in MACROS
            ]
    return (
        pd.DataFrame(by_task, columns=list(TASK_COLUMNS)),
        pd.DataFrame(by_model, columns=list(MODEL_COLUMNS)),
    )


def _pooled(each: Cube, knowledge: str) -> Floats:
    """Mean over the compared runs of every item's strict score, shape (items,)."""
    values = each.of_compared("correct")[:, each.knowledge.index(knowledge)]
    return values.mean(axis=0) if values.shape[0] else np.full(len(each.items), NAN)


class Variant(NamedTuple):
    """Strict scores under one variant by task, shape (items,) each: of one run, or of the mean."""

    values: Mapping[str, Floats]
    cubes: Mapping[str, Cube]
    resamples: Resamples

    def cell(self, task: str, level: float) -> tuple[int, float, float, float, str]:
        """The columns VALUES of a task."""
        values = self.values[task]
        n = int((~np.isnan(values)).sum())
        draws = mean_draws(values, self.resamples[task])
        low, high = mean_interval(values, draws, level)
        return n, mean_of(values), low, high, self.cubes[task].flag(n)

    def macro(self, name: str, level: float) -> tuple[int, float, float, float, str]:
        """The columns VALUES of a macro average; `incomplete` if a task lacks items or all."""
        tasks = [task for task in self.values if task != MACROS[name]]
        cells = {task: self.cell(task, level) for task in tasks}
        there = [task for task in tasks if cells[task][0]]
        if not there:
            return 0, NAN, NAN, NAN, MISSING
        means = [cells[task][1] for task in there]
        low, high = macro_interval(
            [(cells[task][1], Interval(*cells[task][2:4])) for task in there],
            [mean_draws(self.values[task], self.resamples[task]) for task in there],
            level,
        )
        n = sum(cells[task][0] for task in there)
        flag = INCOMPLETE if any(cells[task][4] for task in tasks) else ""
        return n, float(np.mean(means)), low, high, flag
