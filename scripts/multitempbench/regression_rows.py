"""The rows of the regression of MultiTempBench: scores joined with mDFR and linearity, z-scored.

A row is one answer: a model's reply to an item (a seed question in one language and date format).
Predictors are z-scored over *cells*, not rows: mean and sd (n - 1) over the means of tokeniser x
language for mDFR, over model x language for linearity, so that neither shared tokenisers nor the
number of questions weigh. mDFR itself stays per item: one unit is one sd *between cells*. Resource
is -0.5 (low) and +0.5 (high); `log_corpus` is log10 of the gigabytes, centred over the languages
present, so that one unit is a tenfold corpus.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from scripts.files import DataError
from scripts.multitempbench.fragmentation import item_fragmentation
from scripts.records import Item
from scripts.statistics.grouping import interaction_labels

NAN = float("nan")
#: Profiles of mDFR, and the column of each one's z-scores.
FRAGMENTATION = {"mdfr": "mdfr_z", "mdfr_as_published": "mdfr_as_published_z"}
HALF = {"low": -0.5, "high": 0.5}


@dataclass(frozen=True, slots=True)
class Settings:
    """What the regression reads from the configuration.

    `models`: those that take part (no baselines); `languages`: code -> {resource: low or high,
    corpus_gb}.
    """

    models: Sequence[str]
    languages: Mapping[str, Mapping[str, Any]]
    seed: int
    level: float = 0.95
    alpha: float = 0.05
    permutations: int = 10_000


@dataclass(frozen=True)
class AnalysisFrame:
    """The rows of the regression, and what is not among them.

    `rows`: correct (0/1), model, mode, language, format, item_id, question_id, tokeniser, mdfr,
    mdfr_as_published, linearity, resource, log_corpus, model_language and the z-scores. `values`:
    per mDFR profile and tokeniser, the z-scored mDFR of every item. `unscored`: rows without a
    verdict; `left_out`: models without a tokeniser or linearity, with the reason. `constant`: the
    predictors without variation.
    """

    rows: pd.DataFrame
    values: Mapping[str, Mapping[str, pd.Series]]
    unscored: int = 0
    left_out: Mapping[str, str] = field(default_factory=dict)
    constant: tuple[str, ...] = ()


def build_frame(
    scores: pd.DataFrame,
    fragmentation: pd.DataFrame,
    linearity: pd.DataFrame,
    settings: Settings,
) -> AnalysisFrame:
    """Join scores, item-level mDFR and linearity into the rows of the regression.

    `scores`: columns of scores.parquet; `fragmentation`: model, tokeniser, item_id, mdfr,
    mdfr_as_published; `linearity`: model, language, r2_cv. A model in several modes takes part
    once a mode, as `model (mode)`. Raises DataError for missing columns, doubled rows, an item
    without mDFR and a language that is not configured.
    """
    _check_columns(scores, fragmentation, linearity)
    chosen = scores[scores["model"].isin(list(settings.models))]
    _check_languages(chosen, settings)
    left_out = _left_out(chosen, fragmentation, linearity, settings)
    chosen = chosen[~chosen["model"].isin(list(left_out))]
    scored = chosen["correct"].notna()
    columns = ["item_id", "question_id", "model", "mode", "language", "format", "correct"]
    rows = chosen.loc[scored, columns]
    rows = rows.sort_values(["model", "mode", "item_id"], kind="stable", ignore_index=True)
    rows["correct"] = rows["correct"].astype(float)
    rows = _join(rows, fragmentation, linearity)
    rows = _label(rows, settings)
    constant, present = [], set(rows["tokeniser"])
    values: dict[str, dict[str, pd.Series]] = {}
    for profile, column in FRAGMENTATION.items():
        center, scale = _cell_scale(rows, profile, ["tokeniser", "language"])
        rows[column] = (rows[profile] - center) / scale
        values[profile] = {
            str(name): (part.drop_duplicates("item_id").set_index("item_id")[profile] - center)
            / scale
            for name, part in fragmentation.groupby("tokeniser")
            if name in present
        }
        constant += [] if scale > 0 else [column]
    center, scale = _cell_scale(rows, "linearity", ["model", "language"])
    rows["linearity_z"] = (rows["linearity"] - center) / scale
    constant += [] if scale > 0 else ["linearity_z"]
    return AnalysisFrame(rows, values, int((~scored).sum()), left_out, tuple(constant))


def _check_columns(
    scores: pd.DataFrame, fragmentation: pd.DataFrame, linearity: pd.DataFrame
) -> None:
    needed = {
        "scores": (scores, ["item_id", "question_id", "model", "mode", "language", "correct"]),
        "fragmentation": (
            fragmentation,
            ["model", "tokeniser", "item_id", "mdfr", "mdfr_as_published"],
        ),
        "linearity": (linearity, ["model", "language", "r2_cv"]),
    }
    for name, (frame, columns) in needed.items():
        missing = [column for column in columns if column not in frame]
        if missing:
            raise DataError(f"{name}: column(s) {missing} missing; build the file again")
    for name, frame, key in (
        ("scores", scores, ["model", "mode", "item_id"]),
        ("fragmentation", fragmentation, ["model", "item_id"]),
        ("linearity", linearity, ["model", "language"]),
    ):
        if frame.duplicated(key).any():
            row = frame[frame.duplicated(key)].iloc[0]
            named = ", ".join(f"{column} {row[column]}" for column in key)
            raise DataError(f"{name}: {named} stands twice; remove the duplicate")


def _check_languages(scores: pd.DataFrame, settings: Settings) -> None:
    unknown = sorted(set(scores["language"]) - set(settings.languages))
    if unknown:
        raise DataError(
            f"scores: language(s) {unknown} are not configured; add them to "
            "multitempbench.languages with resource and corpus_gb"
        )


def _left_out(
    scores: pd.DataFrame, fragmentation: pd.DataFrame, linearity: pd.DataFrame, settings: Settings
) -> dict[str, str]:
    """Models that cannot take part, with the reason."""
    measured = set(fragmentation.loc[fragmentation["mdfr"].notna(), "model"])
    probed = linearity[linearity["r2_cv"].notna()]
    needed = scores.groupby("model")["language"].agg(set)
    out: dict[str, str] = {}
    for model in sorted(settings.models):
        languages = set(probed.loc[probed["model"] == model, "language"])
        if model not in needed.index:
            out[model] = "no scores"
        elif model not in measured:
            out[model] = "no tokeniser"
        elif needed[model] - languages:
            out[model] = f"no linearity in {', '.join(sorted(needed[model] - languages))}"
    return out


def _join(rows: pd.DataFrame, fragmentation: pd.DataFrame, linearity: pd.DataFrame) -> pd.DataFrame:
    rows = rows.merge(fragmentation, on=["model", "item_id"], how="left", validate="many_to_one")
    lost = rows[rows["mdfr"].isna() | rows["mdfr_as_published"].isna()]
    if not lost.empty:
        row = lost.iloc[0]
        raise DataError(
            f"item {row['item_id']} has no mDFR for {row['model']}; measure the fragmentation again"
        )
    straight = linearity[["model", "language", "r2_cv"]].rename(columns={"r2_cv": "linearity"})
    return rows.merge(straight, on=["model", "language"], how="left", validate="many_to_one")


def _label(rows: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """Moderators, and the labels of the grouping factors."""
    sizes = {name: np.log10(float(entry["corpus_gb"])) for name, entry in _entries(settings)}
    present = sorted(set(rows["language"]))
    center = float(np.mean([sizes[name] for name in present])) if present else 0.0
    rows["resource"] = rows["language"].map({n: HALF[e["resource"]] for n, e in _entries(settings)})
    rows["log_corpus"] = rows["language"].map({n: size - center for n, size in sizes.items()})
    rows["resource"] = rows["resource"].astype(float)
    rows["log_corpus"] = rows["log_corpus"].astype(float)
    several = rows.groupby("model")["mode"].transform("nunique") > 1
    rows["model"] = rows["model"].where(~several, rows["model"] + " (" + rows["mode"] + ")")
    rows["model_language"] = interaction_labels(rows["model"], rows["language"])
    return rows


def _entries(settings: Settings) -> list[tuple[str, Mapping[str, Any]]]:
    return list(settings.languages.items())


def _cell_scale(rows: pd.DataFrame, column: str, cell: list[str]) -> tuple[float, float]:
    """Mean and sd (n - 1) over the cell means; sd NaN where there is no variation."""
    means = rows.groupby(cell)[column].mean()
    sd = float(means.std(ddof=1)) if len(means) > 1 else NAN
    return (float(means.mean()) if len(means) else NAN), (sd if sd > 1e-12 else NAN)


def model_fragmentation(items: Sequence[Item], tokens: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Item-level mDFR of every model: model, tokeniser, item_id, mdfr, mdfr_as_published.

    `tokens`: model to the rows of its tokenisation file; models that share a tokeniser are measured
    once. A model without rows has no tokeniser and no rows here.
    """
    known: dict[str, pd.DataFrame] = {}
    parts = []
    for model, frame in tokens.items():
        if frame.empty:
            continue
        tokeniser = str(frame["tokeniser"].iloc[0])
        if tokeniser not in known:
            known[tokeniser] = item_fragmentation(items, frame)
        parts.append(known[tokeniser].assign(model=model, tokeniser=tokeniser))
    columns = ["model", "tokeniser", "item_id", "mdfr", "mdfr_as_published"]
    if not parts:
        return pd.DataFrame(
            {name: pd.Series(dtype="str" if i < 3 else "float64") for i, name in enumerate(columns)}
        )
    return pd.concat(parts, ignore_index=True)[columns]
