"""What compares models, modes or conditions, and the families that the tests are corrected over."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from scripts.statistics import bootstrap, contingency, effects, paired, proportions
from scripts.statistics.flags import (
    INCOMPLETE,
    MISSING,
    NO_DISCORDANT_PAIRS,
    ZERO_MARGIN,
    join_flags,
)
from scripts.statistics.multiplicity import correct_family
from scripts.statistics.seeding import cell_generator
from scripts.syntaxbench.score_index import (
    ALL,
    COLUMNS,
    MODES_PAIR,
    NAN,
    Floats,
    Scores,
    Settings,
    as_frame,
    every_cell,
    integer_columns,
)
from scripts.syntaxbench.tasks import CONDITIONS


class Families:
    """Corrects tests family by family and remembers each family's size and what it left out."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.rows: list[dict[str, Any]] = []

    def correct(
        self, frame: pd.DataFrame, name: str, cell: Sequence[str], condition: str | None = None
    ) -> pd.DataFrame:
        """Family label, size, Bonferroni p, q and decision of each row's p, aligned with `frame`.

        `cell` are the columns that name a left-out test in families.csv. Only rows of `condition`
        belong to the family where one is given. A row without p, or outside, has empty values.
        """
        keys = list(self.settings.families[name])
        out = pd.DataFrame(
            {"family": None, "size": pd.NA, "p_bonferroni": NAN, "q": NAN, "significant": pd.NA},
            index=frame.index,
        ).astype({"family": object, "size": "Int64", "significant": "boolean"})
        if frame.empty:
            return out
        inside = frame if condition is None else frame[frame["condition"] == condition]
        groups = inside.groupby(keys, sort=True) if keys else [((), inside)]
        for values, group in groups:
            label = "|".join([name, *(f"{k}={v}" for k, v in zip(keys, values, strict=True))])
            p = group["p"].to_numpy(dtype=float)
            family = correct_family(p, self.settings.alpha)
            tested = group.index[~np.isnan(p)]
            where = ~np.isnan(p)
            out.loc[tested, "family"] = label
            out.loc[tested, "size"] = family.size
            out.loc[tested, "p_bonferroni"] = family.p_bonferroni[where]
            out.loc[tested, "q"] = family.q[where]
            out.loc[tested, "significant"] = family.significant[where]
            left = group.loc[~where, list(cell)].to_dict("records")
            self.rows.append(
                {
                    "family": label,
                    "size": family.size,
                    "left_out": json.dumps(left, sort_keys=True, ensure_ascii=True),
                }
            )
        return out

    def frame(self) -> pd.DataFrame:
        """families.csv."""
        return as_frame("families", sorted(self.rows, key=lambda row: str(row["family"])))


def with_family(frame: pd.DataFrame, corrected: pd.DataFrame) -> pd.DataFrame:
    """The frame with family, family_size, p_bonferroni, q and significant filled in."""
    frame = frame.copy()
    frame["family"], frame["family_size"] = corrected["family"], corrected["size"]
    for name in ("p_bonferroni", "q", "significant"):
        frame[name] = corrected[name]
    return frame


def answer_matrix(
    scores: Scores, runs: Sequence[tuple[str, str]], task: str, shots: int, condition: str
) -> Floats:
    """Correctness of the runs on the same items: shape (items, runs), NaN where not scored.

    For `all`, a run without one of the conditions has no column of answers: it is not estimable.
    """
    cells = [scores.cell(run, task, shots, condition) for run in runs]
    ids = scores.frame["item_id"].to_numpy(dtype=object)
    items, places = np.unique(
        np.concatenate([ids[rows] for rows in cells]).astype(str), return_inverse=True
    )
    matrix = np.full((len(items), len(runs)), np.nan)
    start = 0
    for column, (run, rows) in enumerate(zip(runs, cells, strict=True)):
        if scores.estimable(run, task, shots, condition):
            matrix[places[start : start + len(rows)], column] = scores.correct[rows]
        start += len(rows)
    return matrix


def paired_rows(
    b01: Sequence[int], b10: Sequence[int], n: Sequence[int], expected: int, exact_below: int
) -> list[dict[str, Any]]:
    """McNemar values and flags of several pairs; empty values where no item was scored twice."""
    test = paired.mcnemar(np.asarray(b01, dtype=int), np.asarray(b10, dtype=int), exact_below)
    out: list[dict[str, Any]] = []
    for i, count in enumerate(n):
        row: dict[str, Any] = {"n": int(count), "n_expected": expected}
        flags = [INCOMPLETE] if count < expected else []
        if count == 0:
            out.append(row | {"flag": join_flags([*flags, MISSING])})
            continue
        flags += [NO_DISCORDANT_PAIRS] if test.no_discordant_pairs[i] else []
        row |= {
            "b01": int(b01[i]),
            "b10": int(b10[i]),
            "statistic": float(test.statistic[i]),
            "p": float(test.p[i]),
            "odds_ratio": float(test.odds_ratio[i]),
            "p_exact": float(test.p_exact[i]),
        }
        out.append(row | {"flag": join_flags(flags)})
    return out


def mcnemar_models_frame(scores: Scores, settings: Settings, families: Families) -> pd.DataFrame:
    """Every pair of models within a mode, in every task, shot count and condition."""
    rows: list[dict[str, Any]] = []
    for mode in sorted({mode for _, mode in scores.runs}):
        models = sorted(model for model, m in scores.runs if m == mode and model in settings.models)
        pairs = list(combinations(range(len(models)), 2))
        runs = [(model, mode) for model in models]
        for _, task, shots, condition in every_cell([("", mode)] if pairs else [], settings):
            b01, n = paired.discordant_counts(answer_matrix(scores, runs, task, shots, condition))
            tests = paired_rows(
                [int(b01[i, j]) for i, j in pairs],
                [int(b01[j, i]) for i, j in pairs],
                [int(n[i, j]) for i, j in pairs],
                settings.expected(task, condition),
                settings.exact_below,
            )
            key = {"mode": mode, "task": task, "shots": shots, "condition": condition}
            rows += [
                key | {"model_a": models[i], "model_b": models[j]} | test
                for (i, j), test in zip(pairs, tests, strict=True)
            ]
    frame = as_frame("mcnemar_models", rows)
    cell = ["mode", "task", "shots", "condition", "model_a", "model_b"]
    within = families.correct(frame, "between_models_cell", cell)
    across = families.correct(frame, "between_models_pair", cell)
    frame["family"], frame["family_pair"] = within["family"], across["family"]
    for suffix, corrected in (("cell", within), ("pair", across)):
        for name in ("p_bonferroni", "q", "significant"):
            frame[f"{name}_{suffix}"] = corrected[name]
    return integer_columns(frame, "b01", "b10")


def mcnemar_summary_frame(pairs: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """Significant combined cells of each pair under the pair's own family (tables 8 and 9)."""
    rows = []
    combined = pairs[pairs["condition"] == ALL]
    for (mode, a, b), group in combined.groupby(["mode", "model_a", "model_b"], sort=True):
        significant = group["significant_pair"].fillna(False).to_numpy(dtype=bool)
        difference = (group["b01"] - group["b10"]).fillna(0).to_numpy(dtype=int)
        rows.append(
            {
                "mode": mode,
                "model_a": a,
                "model_b": b,
                "cells": int(group["p"].notna().sum()),
                "cells_expected": len(settings.items) * len(settings.shots),
                "significant": int(significant.sum()),
                "wins_a": int((significant & (difference > 0)).sum()),
                "wins_b": int((significant & (difference < 0)).sum()),
            }
        )
    return as_frame("mcnemar_summary", rows)


def mcnemar_modes_frame(scores: Scores, settings: Settings, families: Families) -> pd.DataFrame:
    """Non-thinking against thinking within a model; delta_ema = non-thinking - thinking."""
    rows = []
    both = [
        m for m in sorted(settings.models) if {(m, mode) for mode in MODES_PAIR} <= {*scores.runs}
    ]
    for (model, _), task, shots, condition in every_cell([(m, "") for m in both], settings):
        runs = [(model, mode) for mode in MODES_PAIR]
        counts, common = paired.discordant_counts(
            answer_matrix(scores, runs, task, shots, condition)
        )
        b01, b10, n = int(counts[0, 1]), int(counts[1, 0]), int(common[0, 1])
        expected = settings.expected(task, condition)
        test = paired_rows([b01], [b10], [n], expected, settings.exact_below)[0]
        rng = cell_generator(settings.seed, "modes", model, task, shots, condition)
        low, high = bootstrap.paired_difference_interval(
            b01, b10, n, resamples=settings.resamples, rng=rng, level=settings.level
        )
        delta = (b01 - b10) / n if n else NAN
        key = {"model": model, "task": task, "shots": shots, "condition": condition}
        rows.append(key | test | {"delta_ema": delta, "delta_low": low, "delta_high": high})
    frame = as_frame("mcnemar_modes", rows)
    corrected = families.correct(frame, "between_modes", ["model", "task", "shots", "condition"])
    return integer_columns(with_family(frame, corrected), "b01", "b10")


def english_random_frame(
    cells: pd.DataFrame, settings: Settings, families: Families
) -> pd.DataFrame:
    """Chi-square of condition x correctness for each model, mode, task and shot count.

    A cell that lacks a condition has no test and leaves the family.
    """
    key = ["model", "mode", "task", "shots"]
    chosen = cells[cells["model"].isin(list(settings.models))].set_index(key)
    english, random = (chosen[chosen["condition"] == name] for name in CONDITIONS)
    count = [part[name].fillna(0) for part in (english, random) for name in ("correct", "n")]
    ke, ne, kr, nr = (values.to_numpy(dtype=int) for values in count)
    test = contingency.association(ke, ne, kr, nr, settings.yates_below)
    both = (ne > 0) & (nr > 0)
    complete = (english["complete"] & random["complete"]).to_numpy(dtype=bool)
    frame = pd.DataFrame(index=english.index).reset_index()
    frame["n_english"], frame["n_random"] = ne, nr
    frame["ema_english"] = english["ema"].to_numpy(dtype=float)
    frame["ema_random"] = random["ema"].to_numpy(dtype=float)
    frame["gap"] = frame["ema_english"] - frame["ema_random"]
    for name in ("chi2", "p", "cramers_v", "point_biserial"):
        frame[name] = np.where(both, getattr(test, name), NAN)
    frame["yates"] = pd.array(test.yates, dtype="boolean")
    frame.loc[~both, "yates"] = pd.NA
    frame["flag"] = [
        join_flags(
            [
                "" if whole else INCOMPLETE,
                "" if present else MISSING,
                ZERO_MARGIN if present and zero else "",
            ]
        )
        for whole, present, zero in zip(complete, both, test.zero_margin, strict=True)
    ]
    corrected = families.correct(frame, "english_random", key)
    return with_family(frame, corrected)[list(COLUMNS["english_random"])]


def effect_sizes_frame(
    cells: pd.DataFrame, pairs: pd.DataFrame, settings: Settings
) -> pd.DataFrame:
    """Cohen's h and risk difference of every pair on the combined cells, ranked by |h|.

    p and q are those of the pair's McNemar test (its per-cell family). Equal |h| are ranked by task
    and model names.
    """
    found = cells[cells["condition"] == ALL].set_index(["model", "mode", "task", "shots"])
    count = found[["correct", "n"]].to_dict("index")
    rows = []
    for pair in pairs[pairs["condition"] == ALL].to_dict("records"):
        mode, task, shots = pair["mode"], pair["task"], pair["shots"]
        a, b = (count[pair[name], mode, task, shots] for name in ("model_a", "model_b"))
        row = {name: pair[name] for name in ("mode", "shots", "task", "model_a", "model_b")}
        row |= {"n_a": a["n"], "n_b": b["n"], "p": pair["p"], "q": pair["q_cell"]}
        row["flag"] = pair["flag"]
        if not (pd.isna(a["correct"]) or pd.isna(b["correct"])):
            row |= h_values(row, int(a["correct"]), int(b["correct"]), settings)
        rows.append(row)
    frame = as_frame("effect_sizes", rows)
    frame["size"] = -frame["h"].astype(float).abs().round(12)
    frame = frame.sort_values(["mode", "shots", "size", "task", "model_a", "model_b"])
    place = frame.groupby(["mode", "shots"]).cumcount() + 1
    frame["rank"] = place.where(frame["h"].notna()).astype("Int64")
    return frame[list(COLUMNS["effect_sizes"])].reset_index(drop=True)


def h_values(row: Mapping[str, Any], k_a: int, k_b: int, settings: Settings) -> dict[str, float]:
    """h with its interval, and the risk difference, of one pair on one combined cell."""
    key: list[str | int] = [str(row["mode"]), int(row["shots"]), str(row["task"])]
    rng = cell_generator(settings.seed, "h", *key, str(row["model_a"]), str(row["model_b"]))
    n_a, n_b = int(row["n_a"]), int(row["n_b"])
    low, high = effects.cohens_h_interval(
        k_a, n_a, k_b, n_b, resamples=settings.resamples, rng=rng, level=settings.level
    )
    p_a, p_b = proportions.proportion(k_a, n_a), proportions.proportion(k_b, n_b)
    return {
        "h": effects.cohens_h(p_a, p_b),
        "h_low": low,
        "h_high": high,
        "risk_difference": effects.risk_difference(p_a, p_b),
    }
