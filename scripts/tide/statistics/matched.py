"""The matched set: the items on which models and settings of TIDE can be compared.

* An answer is *scored* when both `correct` and `partial` are known. What was never asked, and what
  the council left open, is unscored, which is not wrong.
* A run (model and mode) is *compared* on a task when it has a scored answer to some item in every
  setting. A run that never got there (not run in one setting, say) would empty the task for all
  others; its own values are still given, on the others' matched set.
* The *matched set* of a task are its items with a scored answer of every compared run in every
  setting. Every value is of that set, so that no difference is one of the items. Baselines are not
  among the runs that define it.
* A run without a score on a matched item (a baseline that the council left open, a run that is not
  compared) has its mean over those that it has; `n` says how many.
* A run with many unscored answers shrinks the set for all. Nothing is imputed and nothing is
  dropped silently: accuracy.csv says for every run how many items it alone keeps out (`lost`), and
  what its accuracy over all of its own scored answers is (`strict_scored`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from scripts.files import DataError
from scripts.statistics.flags import INCOMPLETE, MISSING
from scripts.tide.statistics.intervals import NAN, Floats, Resamples, item_counts
from scripts.tide.tasks import IDENTIFICATION, SETTINGS, TASKS

ALL = "all"
#: The macro average of the paper's retriever tables, which leave event sorting out.
WITHOUT_SORTING = "macro_without_sorting"
#: The task that is scored by exact order, with the share of pairs in order beside it.
SORTING = "event_sorting"
Run = tuple[str, str]
Booleans = NDArray[np.bool_]
#: Columns of the score file that become numbers; NaN where an answer is not scored.
NUMBERS = ("correct", "partial", "graded")


@dataclass(frozen=True, slots=True)
class Settings:
    """What the analyses read from the configuration.

    `runs`: every (model, mode), baselines included. `variants`: knowledge to (embedder, depth,
    whether dates re-rank), without the main retriever, which is `main` (embedder, depth).
    `resamples` bootstrap resamples at confidence `level`.
    """

    models: Sequence[str]
    baselines: Sequence[str]
    runs: Sequence[Run]
    main: tuple[str, int]
    variants: Mapping[str, tuple[str, int, bool]]
    seed: int
    resamples: int = 10_000
    level: float = 0.95

    @property
    def all_runs(self) -> tuple[Run, ...]:
        """Every run, in the configuration's order."""
        return tuple((str(run[0]), str(run[1])) for run in self.runs)

    @property
    def model_runs(self) -> tuple[Run, ...]:
        """The runs of models, baselines left out."""
        return tuple(run for run in self.all_runs if run[0] in self.models)


@dataclass(frozen=True)
class Cube:
    """Values of one task by run, knowledge and matched item; NaN where an answer is not scored.

    `values[name]` has shape (runs, knowledge, items). `compared`: the runs that define the matched
    set. `threads`: of every matched item. `planned`: items of the task, matched or not. `lost`: by
    run, the items that it alone keeps out of the set.
    """

    task: str
    runs: tuple[Run, ...]
    knowledge: tuple[str, ...]
    items: tuple[str, ...]
    threads: tuple[str, ...]
    compared: tuple[Run, ...]
    planned: int
    lost: Mapping[Run, int]
    values: Mapping[str, Floats]

    def of(self, name: str, run: Run, knowledge: str) -> Floats:
        """The values of one run in one setting, shape (items,)."""
        cell = self.values[name][self.runs.index(run), self.knowledge.index(knowledge)]
        return np.asarray(cell, dtype=float)

    def of_compared(self, name: str) -> Floats:
        """The values of the compared runs, without NaN; shape (compared, knowledge, items)."""
        places = [self.runs.index(run) for run in self.compared]
        return np.asarray(self.values[name][places], dtype=float)

    def rows_of(self, scores: pd.DataFrame) -> pd.DataFrame:
        """The score rows of the compared runs on the matched set."""
        inside = scores["task"].eq(self.task) & scores["knowledge"].isin(list(self.knowledge))
        inside &= scores["item_id"].isin(list(self.items))
        part = scores[inside]
        return part[_places(part, self.compared) >= 0]

    def flag(self, n: int) -> str:
        """`missing` without a value, `incomplete` for fewer items than the task has."""
        if not n:
            return MISSING
        return INCOMPLETE if n < self.planned else ""


def check_scores(scores: pd.DataFrame, settings: Settings) -> None:
    """Raise DataError for runs and tasks that are not configured, and for doubled rows."""
    rows = scores[["model", "mode"]].drop_duplicates()
    found = {(str(model), str(mode)) for model, mode in rows.itertuples(index=False)}
    if unknown := sorted(found - set(settings.all_runs)):
        raise DataError(f"scores.parquet: runs that are not configured: {unknown}; gather again")
    if strange := sorted(set(scores["task"].unique()) - {*TASKS, IDENTIFICATION}):
        raise DataError(f"scores.parquet: unknown tasks {strange}; score again")
    keys = ["model", "mode", "knowledge", "task", "item_id"]
    doubled = scores[scores.duplicated(keys)]
    if len(doubled):
        first = doubled.iloc[0]
        raise DataError(
            f"scores.parquet: {len(doubled)} doubled row(s), first {first['item_id']} of "
            f"{first['model']} ({first['knowledge']}, {first['task']}); score again"
        )


def scored(scores: pd.DataFrame) -> pd.Series[bool]:
    """Which rows have a score: strict and partial are both known."""
    return scores["correct"].notna() & scores["partial"].notna()


def cube(
    scores: pd.DataFrame,
    task: str,
    runs: Sequence[Run],
    matching: Sequence[Run],
    knowledge: Sequence[str] = SETTINGS,
    *,
    extra: Mapping[str, pd.Series[bool]] | None = None,
) -> Cube:
    """The values of `runs` on the matched set that the runs of `matching` define.

    `extra`: further values by name, aligned with `scores`. `matching` must be among `runs`.
    """
    inside = scores["task"].eq(task) & scores["knowledge"].isin(list(knowledge))
    part = scores[inside]
    names, firsts, item_places = np.unique(
        part["item_id"].to_numpy(dtype=object), return_index=True, return_inverse=True
    )
    threads = part["thread"].to_numpy(dtype=object)[firsts]
    places = (
        _places(part, runs),
        np.asarray(
            pd.Index(list(knowledge)).get_indexer(pd.Index(part["knowledge"])), dtype=np.int64
        ),
        item_places,
    )
    columns = {name: part[name] for name in NUMBERS}
    columns |= {name: values[inside] for name, values in (extra or {}).items()}
    kept = scored(part).to_numpy(dtype=bool) & (places[0] >= 0)
    there = tuple(place[kept] for place in places)
    shape = (len(runs), len(knowledge), len(names))
    values = {}
    for name, column in columns.items():
        values[name] = np.full(shape, NAN)
        values[name][there] = column[kept].astype("Float64").to_numpy(dtype=float, na_value=NAN)
    have = np.zeros(shape, dtype=bool)
    have[there] = True
    compared = tuple(run for run in matching if have[runs.index(run)].any(axis=1).all())
    every = np.array([have[runs.index(run)].all(axis=0) for run in compared], dtype=bool)
    matched = every.all(axis=0) if compared else np.zeros(len(names), dtype=bool)
    alone = every.sum(axis=0) == len(compared) - 1 if compared else matched
    return Cube(
        task=task,
        runs=tuple(runs),
        knowledge=tuple(knowledge),
        items=tuple(map(str, names[matched])),
        threads=tuple(map(str, threads[matched])),
        compared=compared,
        planned=len(names),
        lost={run: int((alone & ~mine).sum()) for run, mine in zip(compared, every, strict=True)},
        values={name: array[:, :, matched] for name, array in values.items()},
    )


def _places(part: pd.DataFrame, runs: Sequence[Run]) -> NDArray[np.int64]:
    """The place of every row's run among `runs`, -1 where it is not one of them."""
    known = pd.MultiIndex.from_arrays([[run[0] for run in runs], [run[1] for run in runs]])
    found = known.get_indexer(pd.MultiIndex.from_frame(part[["model", "mode"]]))
    return np.asarray(found, dtype=np.int64)


def task_cubes(scores: pd.DataFrame, settings: Settings) -> dict[str, Cube]:
    """The values of every task in the three settings, baselines included."""
    runs = settings.all_runs
    return {task: cube(scores, task, runs, settings.model_runs) for task in TASKS}


def resampling(cubes: Iterable[Cube], settings: Settings) -> Resamples:
    """How often every resample has each matched item, by task."""
    return {
        each.task: item_counts(settings.seed, each.task, len(each.items), settings.resamples)
        for each in cubes
    }


def thread_resampling(cubes: Sequence[Cube], settings: Settings) -> Resamples:
    """The same where whole threads are drawn, with the items of all tasks that belong to them."""
    names = sorted({thread for each in cubes for thread in each.threads})
    counts = item_counts(settings.seed, "threads", len(names), settings.resamples)
    place = {name: index for index, name in enumerate(names)}
    return {each.task: counts[:, [place[name] for name in each.threads]] for each in cubes}
