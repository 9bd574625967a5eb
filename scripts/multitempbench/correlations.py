"""Accuracy against fragmentation and linearity: one point a model, language and task, then r.

`points` joins accuracy, mDFR and linearity; `correlations` computes Pearson's r and Spearman's rho
over the models of each language and task, with two intervals that answer two questions:

* a percentile bootstrap over *models* (each model is resampled as a whole);
* a jackknife over *tokenisers*: models that share a tokeniser have the same mDFR, so that for mDFR
  the number of tokenisers, not of models, is the number of independent points.

Paper: section 6.2 and 6.3, figures 2-4, 6 and 7, which give r without an interval. Two points lie
on a line whatever was measured: fewer than three models give no r (flag `too_few`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from scripts.dates.signs import CALENDARS
from scripts.files import DataError
from scripts.multitempbench.tasks import LANGUAGE_LABELS, LANGUAGES, TASKS
from scripts.statistics import correlation
from scripts.statistics.flags import join_flags
from scripts.statistics.seeding import cell_generator

ALL = "all"
FRAGMENTATION = ("mdfr", "mdfr_as_published")
LINEARITY = ("linearity", "year_r2", "month_r2", "day_r2")
PREDICTORS = (*FRAGMENTATION, *LINEARITY)

POINT_COLUMNS = ("model", "mode", "language", "task", "accuracy", "n", *PREDICTORS, "tokeniser")
CORRELATION_COLUMNS = (
    *("predictor", "task", "language", "models", "tokenisers", "pearson", "low", "high"),
    *("spearman", "jackknife_low", "jackknife_high", "published", "flag"),
)

# The words of data/published/multitempbench_correlations.csv. The published mDFR is the released
# formula's, but the paper speaks of Equation 1: its r stands beside both.
PUBLISHED_TASKS = {"temporal_relation": "relation", "all_tasks_mean": ALL}
PUBLISHED_PREDICTORS = {"mdfr_vs_accuracy": FRAGMENTATION, "linearity_vs_accuracy": ("linearity",)}


@dataclass(frozen=True, slots=True)
class Settings:
    """What the correlations read from the configuration. `models` have no baselines."""

    models: Sequence[str]
    languages: Sequence[str]
    tasks: Sequence[str]
    seed: int
    resamples: int = 10_000
    level: float = 0.95


def points(
    accuracy: pd.DataFrame, mdfr: pd.DataFrame, linearity: pd.DataFrame, settings: Settings
) -> pd.DataFrame:
    """correlation_points.csv: one row a model, mode, language and task (with `all`).

    mDFR is the mean over the language's dates in all its calendars, weighted by their number. A
    model without a readable tokeniser or without hidden states has empty predictors. Raises
    DataError for doubled rows.
    """
    tasks = [*(t for t in TASKS if t in settings.tasks), ALL]
    languages = [language for language in LANGUAGES if language in settings.languages]
    chosen = accuracy[
        accuracy["model"].isin(list(settings.models))
        & accuracy["language"].isin(languages)
        & accuracy["task"].isin(tasks)
        & (accuracy["format"] == ALL)
    ][["model", "mode", "language", "task", "accuracy", "n"]]
    _check_unique("accuracy", chosen, ["model", "mode", "language", "task"])
    fragments = fragmentation_by_language(mdfr)
    columns = ["model", "language", "r2_cv", "year_r2", "month_r2", "day_r2"]
    straight = linearity[columns].rename(columns={"r2_cv": "linearity"})
    _check_unique("linearity", straight, ["model", "language"])
    joined = chosen.merge(fragments, how="left", on=["model", "language"])
    joined = joined.merge(straight, how="left", on=["model", "language"])
    order = {name: i for i, name in enumerate([*settings.models, *languages, *tasks])}
    joined = joined.sort_values(
        ["model", "mode", "language", "task"],
        key=lambda column: column.map(order) if column.name != "mode" else column,
        kind="stable",
    )
    return joined[list(POINT_COLUMNS)].reset_index(drop=True)


def fragmentation_by_language(mdfr: pd.DataFrame) -> pd.DataFrame:
    """model, language, mdfr, mdfr_as_published, tokeniser from the rows by calendar.

    A language's value is the mean over its calendars weighted by `dates`; calendars without dates
    have no weight. Raises DataError where a model has two tokenisers.
    """
    frame = mdfr[mdfr["calendar"].isin(CALENDARS) & mdfr["mdfr"].notna() & (mdfr["dates"] > 0)]
    _check_unique("mdfr", frame, ["model", "language", "calendar"])
    rows = []
    for (model, language), part in frame.groupby(["model", "language"], sort=True):
        names = sorted({str(name) for name in part["tokeniser"]})
        if len(names) != 1:
            raise DataError(f"mdfr.csv: {model} has the tokenisers {names}; measure it again")
        weights = part["dates"].to_numpy(dtype=float)
        means = {
            name: _weighted_mean(part[name].to_numpy(dtype=float), weights)
            for name in FRAGMENTATION
        }
        rows.append({"model": model, "language": language, **means, "tokeniser": names[0]})
    return pd.DataFrame(rows, columns=["model", "language", *FRAGMENTATION, "tokeniser"])


def _weighted_mean(values: Any, weights: Any) -> float:
    kept = ~np.isnan(values)
    return float(np.average(values[kept], weights=weights[kept])) if kept.any() else float("nan")


def _check_unique(name: str, frame: pd.DataFrame, keys: list[str]) -> None:
    doubled = frame[frame.duplicated(keys)]
    if len(doubled):
        first = doubled.iloc[0][keys].to_dict()
        raise DataError(f"{name}.csv: second row for {first}; compute statistics again")


def correlations(frame: pd.DataFrame, published: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """correlations.csv from correlation_points.csv: every predictor, task and language.

    `published` holds data/published/multitempbench_correlations.csv.
    """
    printed = published_r(published)
    tasks = [*(t for t in TASKS if t in settings.tasks), ALL]
    languages = [language for language in LANGUAGES if language in settings.languages]
    rows = []
    for predictor in PREDICTORS:
        for task in tasks:
            for language in languages:
                part = frame[(frame["task"] == task) & (frame["language"] == language)]
                rows.append(
                    {
                        "predictor": predictor,
                        "task": task,
                        "language": language,
                        **_correlate(part, predictor, settings, (task, language)),
                        "published": printed.get((predictor, task, language)),
                    }
                )
    return pd.DataFrame(rows, columns=list(CORRELATION_COLUMNS))


def _correlate(
    part: pd.DataFrame, predictor: str, settings: Settings, key: tuple[str, str]
) -> dict[str, Any]:
    """The value columns of one correlation over the points of a task and language."""
    part = part[part[predictor].notna() & part["accuracy"].notna()]
    x, y = part[predictor].to_numpy(dtype=float), part["accuracy"].to_numpy(dtype=float)
    models = [str(name) for name in part["model"]]
    # A model without a known tokeniser is a cluster of its own.
    tokenisers = [
        model if pd.isna(name) else str(name)
        for name, model in zip(part["tokeniser"], models, strict=True)
    ]
    found = correlation.pearson(x, y)
    interval = correlation.bootstrap_interval(
        x,
        y,
        models,
        resamples=settings.resamples,
        rng=cell_generator(settings.seed, "correlation", predictor, *key),
        level=settings.level,
    )
    jackknife = correlation.jackknife_interval(x, y, tokenisers, settings.level)
    return {
        "models": len(set(models)),
        "tokenisers": len(set(tokenisers)),
        "pearson": found.r,
        "low": interval.low,
        "high": interval.high,
        "spearman": correlation.spearman(x, y).r,
        "jackknife_low": jackknife.low,
        "jackknife_high": jackknife.high,
        "flag": join_flags([found.flag]),
    }


def published_r(frame: pd.DataFrame) -> Mapping[tuple[str, str, str], float]:
    """(predictor, task, language) to the r that the paper prints.

    Raises DataError for a row with an unknown task, relation or language.
    """
    codes = {label: code for code, label in LANGUAGE_LABELS.items()}
    out: dict[tuple[str, str, str], float] = {}
    for index, row in enumerate(frame.to_dict("records"), start=2):
        task = PUBLISHED_TASKS.get(row["task"], row["task"])
        predictors = PUBLISHED_PREDICTORS.get(row["relation"], ())
        if task not in (*TASKS, ALL) or not predictors or row["language"] not in codes:
            raise DataError(f"multitempbench_correlations.csv, line {index}: unknown key {row}")
        for predictor in predictors:
            out[predictor, task, codes[row["language"]]] = float(row["r"])
    return out
