"""McNemar's test between settings and between models of TIDE.

Conventions: strict accuracy, items that both sides have a score for (each pair its own set, `n`);
`b01` counts items that A has right and B wrong. Families for Benjamini and Hochberg's correction:
all tests between settings (tasks and, as `all`, their pool), and all tests between models. A pair
without a discordant item is a ceiling or floor, not evidence: p is 1 and it is flagged; a pair
without a common item has no test and is left out of its family. Fewer discordant items than
`exact_below`: the exact binomial p is the one that is corrected.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd

from scripts.statistics.flags import MISSING, NO_DISCORDANT_PAIRS
from scripts.statistics.multiplicity import correct_family
from scripts.statistics.paired import mcnemar
from scripts.tide.statistics.matched import ALL, Run, scored
from scripts.tide.tasks import SETTINGS, TASKS

VALUE_COLUMNS = ("n", "b01", "b10", "statistic", "p", "p_exact", "q", "significant", "flag")
SETTING_KEYS = ("model", "mode", "task", "knowledge_a", "knowledge_b")
MODEL_KEYS = ("knowledge", "model_a", "mode_a", "model_b", "mode_b")
#: Strict correctness by item.
Answers = Mapping[str, bool]
NOTHING: Answers = {}


@dataclass(frozen=True, slots=True)
class Settings:
    """Runs of models ([model, mode], baselines left out), level of significance, exact limit."""

    runs: Sequence[Run]
    alpha: float = 0.05
    exact_below: int = 25


def settings_frame(scores: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """mcnemar_settings.csv: every pair of settings, by model and task, and over all tasks."""
    found = answers_by_cell(scores)
    keys, counts = [], []
    for run in settings.runs:
        for task in (*TASKS, ALL):
            for a, b in combinations(SETTINGS, 2):
                keys.append((*run, task, a, b))
                sides = (found.get((*run, name, task), NOTHING) for name in (a, b))
                counts.append(discordant(*sides))
    return _tested(keys, counts, SETTING_KEYS, settings)


def models_frame(scores: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """mcnemar_models.csv: every pair of runs, by setting, over all tasks."""
    found = answers_by_cell(scores)
    keys, counts = [], []
    for knowledge in SETTINGS:
        for a, b in combinations(settings.runs, 2):
            keys.append((knowledge, *a, *b))
            sides = (found.get((*run, knowledge, ALL), NOTHING) for run in (a, b))
            counts.append(discordant(*sides))
    return _tested(keys, counts, MODEL_KEYS, settings)


def answers_by_cell(scores: pd.DataFrame) -> dict[tuple[str, ...], Answers]:
    """Scored answers by (model, mode, knowledge, task), and over the tasks under `all`.

    The second step of perturbation detection is no task and stays out.
    """
    inside = scores["task"].isin(list(TASKS)) & scores["knowledge"].isin(list(SETTINGS))
    part = scores[inside & scored(scores)]
    found: dict[tuple[str, ...], dict[str, bool]] = {}
    for key, rows in part.groupby(["model", "mode", "knowledge", "task"], observed=True):
        model, mode, knowledge, task = map(str, key)
        answers = dict(zip(rows["item_id"].map(str), rows["correct"].map(bool), strict=True))
        found[model, mode, knowledge, task] = answers
        found.setdefault((model, mode, knowledge, ALL), {}).update(answers)
    return dict(found)


def discordant(a: Answers, b: Answers) -> tuple[int, int, int]:
    """Common items, those that only A has right, and those that only B has right."""
    common = a.keys() & b.keys()
    only_a = sum(a[item] and not b[item] for item in common)
    return len(common), only_a, sum(b[item] and not a[item] for item in common)


def _tested(
    rows: Sequence[tuple[str, ...]],
    counts: Sequence[tuple[int, int, int]],
    keys: Sequence[str],
    settings: Settings,
) -> pd.DataFrame:
    n, b01, b10 = np.array(counts, dtype=np.int64).reshape(-1, 3).T
    result = mcnemar(b01, b10, settings.exact_below)
    tested = n > 0
    p, exact = (np.where(tested, values, np.nan) for values in (result.p, result.p_exact))
    family = correct_family(np.where(np.isnan(exact), p, exact), settings.alpha)
    frame = pd.DataFrame(rows, columns=list(keys))
    frame["n"], frame["b01"], frame["b10"] = n, b01, b10
    frame["statistic"] = np.where(tested, result.statistic, np.nan)
    frame["p"], frame["p_exact"], frame["q"] = p, exact, family.q
    # A comparison with NaN is False: what was not tested is not significant.
    frame["significant"] = family.q <= settings.alpha
    ceiling = np.where(result.no_discordant_pairs, NO_DISCORDANT_PAIRS, "")
    frame["flag"] = np.where(tested, ceiling, MISSING)
    return frame[[*keys, *VALUE_COLUMNS]]
