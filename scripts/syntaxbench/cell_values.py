"""What is computed of one cell or of the cells of one run: accuracy, agreement, errors, trends."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from scripts.statistics import agreement, bootstrap, proportions
from scripts.statistics.errors import signed_error, tolerance_curve
from scripts.statistics.flags import INCOMPLETE, MISSING, NO_VALID_ANSWER, join_flags
from scripts.statistics.seeding import cell_generator
from scripts.statistics.trends import shot_trend
from scripts.syntaxbench.score_index import (
    ALL,
    CATEGORIES,
    COLUMNS,
    NAN,
    Floats,
    Key,
    Scores,
    Settings,
    as_float,
    as_frame,
    every_cell,
)
from scripts.syntaxbench.tasks import ANSWERS_BINARY, task_named


def mean_or_nan(values: Floats) -> float:
    """Mean of the values that are there; NaN when there is none."""
    values = values[~np.isnan(values)]
    return float(values.mean()) if values.size else NAN


@dataclass(frozen=True)
class Columns:
    """The value columns of the scores as arrays, converted once."""

    relaxed: Floats
    valid: NDArray[np.bool_]
    category: NDArray[Any]
    gold: NDArray[Any]
    gold_value: Floats
    delta: Floats
    completion: Floats
    reasoning: Floats

    @classmethod
    def of(cls, frame: pd.DataFrame) -> Columns:
        """Convert; a gold answer that is no number has gold_value NaN."""
        return cls(
            as_float(frame["relaxed"]),
            frame["valid"].to_numpy(dtype=bool),
            frame["category"].to_numpy(dtype=object),
            frame["gold"].to_numpy(dtype=object),
            pd.to_numeric(frame["gold"], errors="coerce").to_numpy(dtype=float),
            as_float(frame["delta"]),
            as_float(frame["completion_tokens"]),
            as_float(frame["reasoning_tokens"]),
        )


def agreement_values(kind: str, columns: Columns, rows: Any, correct: Floats) -> dict[str, Any]:
    """Kappa with its kind and n; for binary tasks also TPR, TNR and MCC. Flags under `flags`."""
    out: dict[str, Any] = {"kappa_kind": "unweighted", "kappa_n": len(rows)}
    flags: list[str] = []
    if kind == "binary":
        counts = agreement.binary_counts(columns.gold[rows] == ANSWERS_BINARY[0], correct == 1)
        kappa = agreement.kappa_binary(counts)
        metrics = agreement.class_metrics(counts)
        out |= {"tpr": metrics.tpr, "tnr": metrics.tnr, "mcc": metrics.mcc}
        flags.append(metrics.flag)
    elif kind == "integer":
        gold, delta = columns.gold_value[rows], columns.delta[rows]
        usable = np.isfinite(gold) & np.isfinite(delta)
        kappa = agreement.kappa_linear(gold[usable], gold[usable] + delta[usable])
        out |= {"kappa_kind": "linear", "kappa_n": int(usable.sum())}
    else:
        chance = agreement.gold_collision(columns.gold[rows].astype(str))
        kappa = agreement.kappa_string(int(correct.sum()), len(rows), chance)
    flags.append(kappa.flag)
    band = agreement.landis_koch(kappa.value)
    return out | {"kappa": kappa.value, "kappa_band": band or None, "flags": flags}


def rate_values(columns: Columns, rows: Any) -> dict[str, float]:
    """Parse-error rate, its parts by category, and the valid-response rate."""
    valid = float(columns.valid[rows].mean())
    parts = {f"{name}_rate": float((columns.category[rows] == name).mean()) for name in CATEGORIES}
    errors = float((~columns.valid[rows]).mean())
    return parts | {"parse_error_rate": errors, "valid_response_rate": valid}


def delta_values(columns: Columns, rows: Any) -> dict[str, Any]:
    """Relaxed accuracy and the signed-error summary of an integer task."""
    found = signed_error(columns.delta[rows])
    names = {f"delta_{name}": value for name, value in found._asdict().items() if name != "flag"}
    return names | {"relaxed_accuracy": mean_or_nan(columns.relaxed[rows]), "flags": [found.flag]}


def cell_values(
    scores: Scores, columns: Columns, rows: Any, key: Key, settings: Settings
) -> dict[str, Any]:
    """All value columns of one estimable cell."""
    kind = task_named(key[2]).kind
    correct = scores.correct[rows]
    n, k = len(rows), int(correct.sum())
    ema = proportions.proportion(k, n)
    rng = cell_generator(settings.seed, "ema", *key)
    low, high = bootstrap.proportion_interval(k, n, settings.resamples, rng, settings.level)
    reasoning = mean_or_nan(columns.reasoning[rows])
    values = {"correct": k, "ema": ema, "ema_low": low, "ema_high": high}
    values |= rate_values(columns, rows)
    kappas = agreement_values(kind, columns, rows, correct)
    deltas = delta_values(columns, rows) if kind == "integer" else {"flags": []}
    # The cell has scored items, so a value can only be missing for want of a readable answer.
    found = [*kappas.pop("flags"), *deltas.pop("flags")]
    flags = [NO_VALID_ANSWER if flag == MISSING else flag for flag in found]
    tokens = {
        "completion_tokens_mean": mean_or_nan(columns.completion[rows]),
        "reasoning_tokens_mean": reasoning,
        "ema_per_reasoning_token": proportions.accuracy_per_token(ema, reasoning),
    }
    return values | kappas | deltas | tokens | {"flags": flags}


def cells_frame(scores: Scores, settings: Settings) -> pd.DataFrame:
    """One row for each run, task, shot count and condition – also for those without data."""
    columns = Columns.of(scores.frame)
    out = []
    for run, task, shots, condition in every_cell(scores.runs, settings):
        rows = scores.cell(run, task, shots, condition)
        key = (*run, task, shots, condition)
        expected = settings.expected(task, condition)
        complete = len(rows) == expected
        base = dict(zip(COLUMNS["cells"][:5], key, strict=True)) | {
            "n": len(rows),
            "n_expected": expected,
            "complete": complete,
        }
        flags = [] if complete else [INCOMPLETE]
        if scores.estimable(run, task, shots, condition):
            values = cell_values(scores, columns, rows, key, settings)
            flags += values.pop("flags")
        else:
            values = {}
            flags.append(MISSING)
        out.append(base | values | {"flag": join_flags(flags)})
    frame = as_frame("cells", out)
    for name in ("correct", "kappa_n", "delta_n"):
        frame[name] = frame[name].astype("Int64")
    return frame


def leaderboard_frame(cells: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """Macro EMA over the tasks whose combined score is estimable; models are ranked, baselines not.

    `incomplete_tasks` is a JSON list of the tasks left out (one condition has no scored item, as in
    the paper's table 18).
    """
    rows = []
    combined = cells[cells["condition"] == ALL]
    for name, group in combined.groupby(["mode", "shots", "model"], sort=True):
        key: Any = name
        mode, shots, model = str(key[0]), int(key[1]), str(key[2])
        used = group[group["ema"].notna()]
        emas = used["ema"].to_numpy(dtype=float)
        rng = cell_generator(settings.seed, "macro", mode, shots, model)
        low, high = bootstrap.macro_interval(emas, settings.resamples, rng, settings.level)
        validity = proportions.composite_validity(used["parse_error_rate"].to_numpy(dtype=float))
        left_out = sorted(group.loc[group["ema"].isna(), "task"])
        flags = [INCOMPLETE] if not group["complete"].all() else []
        rows.append(
            {
                "mode": mode,
                "shots": shots,
                "model": model,
                "baseline": model in settings.baselines,
                "macro_ema": proportions.macro_mean(emas),
                "macro_low": low,
                "macro_high": high,
                "tasks": len(used),
                "incomplete_tasks": json.dumps(left_out),
                "valid_response_rate": validity.valid_response_rate,
                "parse_error_rate": validity.parse_error_rate,
                "flag": join_flags([*flags, MISSING if used.empty else ""]),
            }
        )
    frame = as_frame("leaderboard", rows)
    ranked = frame[~frame["baseline"].astype(bool)].groupby(["mode", "shots"])["macro_ema"]
    frame["rank"] = ranked.rank(method="min", ascending=False).reindex(frame.index).astype("Int64")
    order = frame.assign(unranked=frame["rank"].isna(), points=-frame["macro_ema"]).sort_values(
        ["mode", "shots", "unranked", "points", "model"], kind="stable"
    )
    return order[list(COLUMNS["leaderboard"])].reset_index(drop=True)


def kendall_frame(cells: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """Kendall's tau-b over the shot counts with the trajectory label; never a p-value."""
    shots = sorted(settings.shots)
    key = ["model", "mode", "task", "condition"]
    rows = []
    chosen = cells[cells["model"].isin(list(settings.models))]
    for values, group in chosen.groupby(key, sort=False):
        emas = group.set_index("shots")["ema"].reindex(shots).to_numpy(dtype=float)
        trend = shot_trend(shots, emas.tolist())
        incomplete = "" if group["complete"].all() else INCOMPLETE
        rows.append(
            dict(zip(key, values, strict=True))
            | {"tau": trend.tau, "label": trend.label or None}
            | {f"ema_{s}": ema for s, ema in zip(shots, emas, strict=True)}
            | {"flag": join_flags([trend.flag, incomplete])}
        )
    columns = [*key, "tau", "label", *(f"ema_{s}" for s in shots), "flag"]
    return pd.DataFrame.from_records(rows, columns=columns)


def tolerance_frame(scores: Scores, settings: Settings) -> pd.DataFrame:
    """Share of the scored items within each tolerance, for the integer tasks."""
    delta = as_float(scores.frame["delta"])
    rows = []
    for run, task, shots, condition in every_cell(scores.runs, settings):
        if task_named(task).kind != "integer":
            continue
        places = scores.cell(run, task, shots, condition)
        usable = scores.estimable(run, task, shots, condition)
        n = len(places) if usable else 0
        curve = tolerance_curve(delta[places], n, settings.tolerances)
        key = (*run, task, shots, condition)
        rows += [(*key, t, share, n) for t, share in zip(settings.tolerances, curve, strict=True)]
    return pd.DataFrame.from_records(rows, columns=list(COLUMNS["tolerance"]))
