"""McNemar's test between settings and between models of TIDE.

Conventions: strict accuracy, items that both sides have a score for; `b01` counts items that A has
right and B wrong. Families for Benjamini and Hochberg's correction: all tests between settings, and
all tests between models. A pair without a discordant item is a ceiling or floor, not evidence: p is
1 and it is flagged; a cell without a common item has no test and is left out of its family. Fewer
discordant items than `exact_below`: the exact binomial p is the one that is corrected.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from scripts.statistics.flags import MISSING, NO_DISCORDANT_PAIRS
from scripts.statistics.multiplicity import correct_family
from scripts.statistics.paired import mcnemar
from scripts.tide.analysis import ALL
from scripts.tide.tasks import SETTINGS, TASKS

VALUE_COLUMNS = ("n", "b01", "b10", "statistic", "p", "p_exact", "q", "significant", "flag")
SETTING_KEYS = ("model", "mode", "task", "knowledge_a", "knowledge_b")
MODEL_KEYS = ("knowledge", "model_a", "mode_a", "model_b", "mode_b")
Series = pd.Series


@dataclass(frozen=True, slots=True)
class Settings:
    """Runs of models ([model, mode], baselines left out), level of significance, exact limit."""

    runs: Sequence[tuple[str, str]]
    alpha: float = 0.05
    exact_below: int = 25


def settings_frame(scores: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """mcnemar_settings.csv: every pair of settings, by model and task, and over all tasks."""
    rows = []
    for run in settings.runs:
        for task in (*TASKS, ALL):
            answers = {name: _answers(scores, run, name, task) for name in SETTINGS}
            for a, b in combinations(SETTINGS, 2):
                rows.append(((*run, task, a, b), answers[a], answers[b]))
    return _tested(rows, SETTING_KEYS, settings)


def models_frame(scores: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """mcnemar_models.csv: every pair of runs, by setting, over all tasks."""
    rows = []
    for knowledge in SETTINGS:
        answers = {run: _answers(scores, run, knowledge, ALL) for run in settings.runs}
        for a, b in combinations(settings.runs, 2):
            rows.append(((knowledge, *a, *b), answers[a], answers[b]))
    return _tested(rows, MODEL_KEYS, settings)


def _answers(scores: pd.DataFrame, run: tuple[str, str], knowledge: str, task: str) -> Series:
    """Strict correctness by item, scored rows of the tasks only (no second steps)."""
    tasks = list(TASKS) if task == ALL else [task]
    part = scores[
        (scores["model"] == run[0])
        & (scores["mode"] == run[1])
        & (scores["knowledge"] == knowledge)
        & scores["task"].isin(tasks)
        & scores["correct"].notna()
    ]
    return Series(part["correct"].astype(bool).to_numpy(), index=part["item_id"].to_numpy())


def _counts(a: Series, b: Series) -> tuple[int, int, int]:
    common = a.index.intersection(b.index)
    left, right = a.loc[common].to_numpy(bool), b.loc[common].to_numpy(bool)
    return len(common), int((left & ~right).sum()), int((~left & right).sum())


def _tested(
    rows: Sequence[tuple[tuple[str, ...], Series, Series]],
    keys: Sequence[str],
    settings: Settings,
) -> pd.DataFrame:
    counts = [_counts(a, b) for _, a, b in rows]
    result = mcnemar(
        [b01 for _, b01, _ in counts], [b10 for _, _, b10 in counts], settings.exact_below
    )
    tested = np.array([n > 0 for n, _, _ in counts], dtype=bool)
    p = np.where(tested, result.p, np.nan)
    exact = np.where(tested, result.p_exact, np.nan)
    decisive = np.where(np.isnan(exact), p, exact)
    family = correct_family(decisive, settings.alpha)
    frame = pd.DataFrame([key for key, _, _ in rows], columns=list(keys))
    frame["n"] = [n for n, _, _ in counts]
    frame["b01"] = [b01 for _, b01, _ in counts]
    frame["b10"] = [b10 for _, _, b10 in counts]
    frame["statistic"] = np.where(tested, result.statistic, np.nan)
    frame["p"], frame["p_exact"], frame["q"] = p, exact, family.q
    frame["significant"] = ~np.isnan(family.q) & (family.q <= settings.alpha)
    frame["flag"] = list(_flags(counts))
    return frame[[*keys, *VALUE_COLUMNS]]


def _flags(counts: Sequence[tuple[int, int, int]]) -> Iterator[Any]:
    for n, b01, b10 in counts:
        yield MISSING if not n else (NO_DISCORDANT_PAIRS if b01 + b10 == 0 else "")
