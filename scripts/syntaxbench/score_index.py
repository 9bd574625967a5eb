"""The scores frame checked and indexed by cell; settings and columns of every statistic."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from scripts.files import DataError
from scripts.syntaxbench.tasks import CONDITIONS, TASKS

ALL = "all"
THREE_CONDITIONS = (*CONDITIONS, ALL)
MODES_PAIR = ("non_thinking", "thinking")
CATEGORIES = ("blank", "inference_error", "truncated", "unparsable")
NAN = float("nan")

Floats = NDArray[np.float64]
Key = tuple[Any, ...]

SCORE_COLUMNS = (
    "item_id",
    "model",
    "mode",
    "task",
    "shots",
    "condition",
    "valid",
    "correct",
    "relaxed",
    "category",
    "gold",
    "delta",
    "completion_tokens",
    "reasoning_tokens",
)


def words(text: str) -> tuple[str, ...]:
    """The column names of a text."""
    return tuple(text.split())


COLUMNS: dict[str, tuple[str, ...]] = {
    "cells": words(
        "model mode task shots condition n n_expected complete correct ema ema_low ema_high "
        "relaxed_accuracy parse_error_rate blank_rate inference_error_rate truncated_rate "
        "unparsable_rate valid_response_rate kappa kappa_kind kappa_n kappa_band tpr tnr mcc "
        "delta_mean delta_sd delta_median delta_p5 delta_p95 delta_n completion_tokens_mean "
        "reasoning_tokens_mean ema_per_reasoning_token flag"
    ),
    "leaderboard": words(
        "mode shots model baseline rank macro_ema macro_low macro_high tasks incomplete_tasks "
        "valid_response_rate parse_error_rate flag"
    ),
    "mcnemar_models": words(
        "mode task shots condition model_a model_b n n_expected b01 b10 statistic p odds_ratio "
        "p_exact family p_bonferroni_cell q_cell significant_cell family_pair p_bonferroni_pair "
        "q_pair significant_pair flag"
    ),
    "mcnemar_summary": words("mode model_a model_b cells cells_expected significant wins_a wins_b"),
    "mcnemar_modes": words(
        "model task shots condition n n_expected b01 b10 statistic p odds_ratio p_exact delta_ema "
        "delta_low delta_high family family_size p_bonferroni q significant flag"
    ),
    "english_random": words(
        "model mode task shots n_english n_random ema_english ema_random gap chi2 p yates "
        "cramers_v point_biserial family family_size p_bonferroni q significant flag"
    ),
    "effect_sizes": words(
        "mode shots task model_a model_b n_a n_b h h_low h_high risk_difference p q rank flag"
    ),
    "tolerance": ("model", "mode", "task", "shots", "condition", "tolerance", "accuracy", "n"),
    "families": ("family", "size", "left_out"),
}


@dataclass(frozen=True)
class Settings:
    """What the analysis reads from the configuration.

    `items`: planned items per condition by task. `modes`: the planned modes of each model and
    baseline; without it the runs are those that the scores hold. `families`: name to the key
    columns that group its tests (an empty list is one single family). `tolerances`: allowed |error|
    of the curves.
    """

    seed: int
    items: Mapping[str, int]
    shots: Sequence[int]
    models: Sequence[str]
    baselines: Sequence[str]
    families: Mapping[str, Sequence[str]]
    modes: Mapping[str, Sequence[str]] = field(default_factory=dict)
    resamples: int = 10_000
    level: float = 0.95
    alpha: float = 0.05
    exact_below: int = 25
    yates_below: int = 5
    tolerances: Sequence[int] = field(default_factory=lambda: tuple(range(21)))

    def expected(self, task: str, condition: str) -> int:
        """Planned number of items of a cell."""
        return self.items[task] * (len(CONDITIONS) if condition == ALL else 1)


@dataclass(frozen=True)
class Scores:
    """The scores as arrays, and where each cell's rows are. Built by `index_scores`."""

    frame: pd.DataFrame
    correct: Floats
    rows: Mapping[Key, NDArray[np.int64]]
    runs: tuple[tuple[str, str], ...]

    def cell(
        self, run: tuple[str, str], task: str, shots: int, condition: str
    ) -> NDArray[np.int64]:
        """Row numbers of the scored items of a cell."""
        if condition == ALL:
            parts = [self.cell(run, task, shots, name) for name in CONDITIONS]
            return np.concatenate(parts)
        return self.rows.get((*run, task, shots, condition), np.empty(0, dtype=np.int64))

    def estimable(self, run: tuple[str, str], task: str, shots: int, condition: str) -> bool:
        """Whether the cell has data; for `all`, whether both conditions have."""
        names = CONDITIONS if condition == ALL else (condition,)
        return all(self.cell(run, task, shots, name).size for name in names)


def as_float(column: pd.Series[Any]) -> Floats:
    """A nullable column as float64, missing as NaN."""
    return column.to_numpy(dtype=float, na_value=np.nan)


def check_scores(frame: pd.DataFrame, settings: Settings) -> None:
    """Raise DataError for missing columns, unknown names, and doubled rows."""
    lacking = [name for name in SCORE_COLUMNS if name not in frame.columns]
    if lacking:
        raise DataError(f"scores: no column {', '.join(lacking)}; score the responses again")
    known: dict[str, set[Any]] = {
        "model": {*settings.models, *settings.baselines},
        "task": set(settings.items),
        "shots": set(settings.shots),
        "condition": set(CONDITIONS),
    }
    for column, allowed in known.items():
        unknown = sorted(set(frame[column].unique()) - allowed, key=str)
        if unknown:
            raise DataError(
                f"scores: {column} {unknown} not in the configuration, which has "
                f"{sorted(allowed, key=str)}; correct the configuration or score again"
            )
    key = ["model", "mode", "task", "shots", "item_id"]
    doubled = frame.duplicated(subset=key, keep=False)
    if doubled.any():
        first = frame.loc[doubled, key].iloc[0].to_dict()
        raise DataError(f"scores: item scored twice, first {first}; score the responses again")


def index_scores(frame: pd.DataFrame, settings: Settings) -> Scores:
    """Check and index the scores frame; rows whose `correct` is null belong to no cell."""
    check_scores(frame, settings)
    unknown_tasks = sorted(set(settings.items) - set(TASKS))
    if unknown_tasks:
        raise DataError(f"configuration: unknown task(s) {unknown_tasks}; known: {sorted(TASKS)}")
    order = ["model", "mode", "task", "shots", "condition", "item_id"]
    frame = frame.sort_values(order, kind="stable").reset_index(drop=True)
    correct = as_float(frame["correct"])
    scored = np.flatnonzero(~np.isnan(correct))
    groups = frame.iloc[scored].groupby(order[:-1], sort=True, observed=True).indices
    rows: dict[Key, NDArray[np.int64]] = {}
    for name, places in groups.items():
        key: Any = name
        rows[*map(str, key[:3]), int(key[3]), str(key[4])] = scored[places]
    return Scores(frame, correct, rows, planned_runs(frame, settings))


def planned_runs(frame: pd.DataFrame, settings: Settings) -> tuple[tuple[str, str], ...]:
    """(model, mode) pairs of the configuration, sorted; DataError where the scores hold others."""
    found = {(str(a), str(b)) for a, b in zip(frame["model"], frame["mode"], strict=True)}
    planned = {(model, mode) for model, modes in settings.modes.items() for mode in modes}
    if settings.modes and found - planned:
        raise DataError(
            f"scores: run(s) {sorted(found - planned)} not in the configuration; add the mode to "
            "the model's entry or score again"
        )
    return tuple(sorted(planned or found))


def every_cell(
    runs: Iterable[tuple[str, str]],
    settings: Settings,
    conditions: Sequence[str] = THREE_CONDITIONS,
) -> Iterator[tuple[tuple[str, str], str, int, str]]:
    """(run, task, shots, condition) in the order of every frame: sorted, conditions as listed."""
    for run in runs:
        for task in sorted(settings.items):
            for shots in sorted(settings.shots):
                for condition in conditions:
                    yield run, task, shots, condition


def as_frame(name: str, rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Rows as a frame with exactly the documented columns, in their order."""
    return pd.DataFrame.from_records(list(rows), columns=list(COLUMNS[name]))


def integer_columns(frame: pd.DataFrame, *names: str) -> pd.DataFrame:
    """The frame with nullable integers, so that a count prints as 3 and not as 3.0."""
    return frame.astype(dict.fromkeys(names, "Int64"))
