"""Scores in which nothing can be estimated: every frame and table stands and says why.

The frames go through their CSV form, as in the workflow. A value is empty only beside a flag, and
an empty cell of a table is an en dash with a reason.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import publishing_frames
import pytest

from scripts import files
from scripts.publishing.captions import Context
from scripts.publishing.tables import to_frame, to_latex
from scripts.syntaxbench import readings, tables
from scripts.syntaxbench.analysis import compute_frames
from scripts.syntaxbench.artefacts import TABLES
from scripts.syntaxbench.score_index import Settings
from tests.synthetic_scores import scores_frame

ITEMS = dict.fromkeys(publishing_frames.TASKS, 4)
MODES = {"alpha": ["thinking", "non_thinking"], "beta": ["thinking", "non_thinking"]}
ROSTER = {**MODES, "majority": ["non_thinking"]}
FAMILIES = {
    "between_models_cell": ["mode", "task", "shots", "condition"],
    "between_models_pair": ["mode", "condition", "model_a", "model_b"],
    "between_modes": ["model", "condition"],
    "english_random": [],
}
INTEGER = list(publishing_frames.INTEGER)
#: Values that every row of a file has, unless its flag says why not.
ALWAYS = {
    "cells": ["ema", "ema_low", "ema_high", "parse_error_rate", "kappa"],
    "leaderboard": ["macro_ema", "macro_low", "macro_high"],
    "mcnemar_models": ["p", "odds_ratio"],
    "mcnemar_modes": ["p", "odds_ratio", "delta_ema"],
    "english_random": ["p", "point_biserial"],
    "kendall": ["tau"],
    "effect_sizes": ["h", "p"],
}


def answered(frame: pd.DataFrame, correct: bool | None, category: str, delta: float) -> None:
    """Every row right, wrong or unscored."""
    numbers = frame["task"].isin(INTEGER)
    frame["correct"] = pd.array([correct] * len(frame), dtype="boolean")
    frame["valid"], frame["category"] = category == "valid", category
    frame["delta"] = np.where(numbers, delta, np.nan)
    frame["relaxed"] = pd.array(
        np.where(numbers & (correct is not None), abs(delta) <= 1, None), dtype="boolean"
    )


def all_right(frame: pd.DataFrame) -> pd.DataFrame:
    answered(frame, True, "valid", 0.0)
    return frame


def all_wrong(frame: pd.DataFrame) -> pd.DataFrame:
    answered(frame, False, "valid", 2.0)
    return frame


def all_unreadable(frame: pd.DataFrame) -> pd.DataFrame:
    answered(frame, False, "unparsable", np.nan)
    return frame


def all_unscored(frame: pd.DataFrame) -> pd.DataFrame:
    answered(frame, None, "not_run", np.nan)
    return frame


def one_class(frame: pd.DataFrame) -> pd.DataFrame:
    gold = {**dict.fromkeys(INTEGER, "5"), **dict.fromkeys(publishing_frames.BINARY, "yes")}
    frame["gold"] = frame["task"].map(gold).fillna("same")
    return all_right(frame)


def english_only(frame: pd.DataFrame) -> pd.DataFrame:
    return frame[frame["condition"] == "english"]


def one_item(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.groupby(["model", "mode", "task", "shots", "condition"]).head(1)


def disjoint_items(frame: pd.DataFrame) -> pd.DataFrame:
    return frame[frame["item_id"].str[-1].isin(list("01")) == (frame["model"] == "alpha")]


def no_rows(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.head(0)


CHANGES = [
    all_right, all_wrong, all_unreadable, all_unscored, one_class, english_only, one_item,
    disjoint_items, no_rows,
]  # fmt: skip


def context() -> Context:
    params = publishing_frames.params("embedded")
    params["models"] = {
        name: {"label": name, "modes": modes, "thinking": {"switch": "none"}}
        for name, modes in ROSTER.items()
    }
    tasks = {task: {"items": n} for task, n in ITEMS.items()}
    params["syntaxbench"].update(models=list(MODES), baselines=["majority"], tasks=tasks)
    return Context.from_params(params)


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_nothing_to_estimate_has_a_reason(
    change: Callable[[pd.DataFrame], pd.DataFrame], tmp_path: Path
) -> None:
    runs = [(model, mode) for model, modes in ROSTER.items() for mode in modes]
    scores = change(scores_frame(runs, ITEMS)).reset_index(drop=True)
    settings = Settings(
        seed=42, items=ITEMS, shots=(0, 1, 4), models=list(MODES), baselines=["majority"],
        families=FAMILIES, modes=ROSTER, resamples=50,
    )  # fmt: skip
    frames = {}
    for name, frame in compute_frames(scores, settings).items():
        files.write_csv(tmp_path / f"{name}.csv", frame)
        frames[name] = files.read_csv(tmp_path / f"{name}.csv")
    taken = readings.Settings(models=tuple(MODES), headline_shots=4, seed=42, resamples=50)
    frame = readings.compute_readings({"scores": scores, **frames}, taken)
    files.write_csv(tmp_path / "readings.csv", frame)
    frames["readings"] = files.read_csv(tmp_path / "readings.csv")
    for name, columns in ALWAYS.items():
        frame = frames[name]
        assert len(frame)
        silent = frame[columns].isna().any(axis=1) & frame["flag"].isna()
        assert not silent.any(), frame[silent].iloc[0].to_dict()
    errors = frames["cells"][frames["cells"]["task"].isin(INTEGER)]
    empty = errors[["delta_mean", "delta_sd", "delta_p95"]].isna().any(axis=1)
    assert errors.loc[empty, "flag"].notna().all()
    for name in TABLES:
        table = tables.build(name, frames, context())
        latex, shown = to_latex(table), to_frame(table)
        assert not re.search(r"(?<![a-z])(nan|none|<na>|inf)(?![a-z])", latex.lower())
        dashes = [c for c in shown if c.endswith("_printed") and (shown[c] == "–").any()]
        for column in dashes:
            assert (shown.loc[shown[column] == "–", "missing"] != "").all()
        if dashes:
            assert "tablenotes" in latex or "longtable" in latex
