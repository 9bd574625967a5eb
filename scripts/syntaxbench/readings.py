"""readings.csv of SyntaxBench: what its statistics are where the paper says two things.

Everything is computed from this run's scores and statistics (docs/reproduction.md numbers the
places in the paper). Counts of cells and tests are of models, baselines left out. The
composite stands at the headline shots; what concerns parse errors at all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd

from scripts.statistics import agreement, bootstrap, contingency, proportions
from scripts.statistics.flags import MISSING
from scripts.statistics.multiplicity import correct_family
from scripts.statistics.readings import NAN, Reading, readings_frame
from scripts.statistics.seeding import cell_generator
from scripts.syntaxbench.score_index import ALL
from scripts.syntaxbench.tasks import ANSWERS_BINARY, TASKS

#: Resamples of the macro interval in its shorter reading (the printed bounds fit about as many).
FEWER_RESAMPLES = 1000
#: Above every count: the correction applies everywhere.
EVERY_COUNT = 10**9
CELL = ["model", "mode", "shots", "task"]
MONOTONE = ("monotone_up", "monotone_down")


@dataclass(frozen=True)
class Settings:
    """What the readings take from the configuration."""

    models: tuple[str, ...]
    headline_shots: int
    seed: int
    resamples: int = 10_000
    level: float = 0.95
    alpha: float = 0.05
    yates_below: int = 5


Frames = Mapping[str, pd.DataFrame]


def compute_readings(frames: Frames, settings: Settings) -> pd.DataFrame:
    """readings.csv from `scores` and the frames cells, mcnemar_models, english_random, kendall."""
    models = list(settings.models)
    cells = frames["cells"][frames["cells"]["model"].isin(models)]
    headline = cells[cells["shots"] == settings.headline_shots]
    combined = headline[headline["condition"] == ALL]
    kendall = frames["kendall"][frames["kendall"]["model"].isin(models)]
    scores = frames["scores"]
    scores = scores[scores["model"].isin(models)]
    return readings_frame(
        [
            *mcnemar_family(frames["mcnemar_models"]),
            *yates(frames["english_random"], settings),
            *kappa_parse_errors(scores),
            *format_failures(cells[cells["condition"] == ALL], scores),
            *macro_interval(combined, settings),
            *incomplete_cells(headline),
            *tau_ties(kendall),
            *rounding(cells),
        ]
    )


def true(column: pd.Series[Any]) -> pd.Series[bool]:
    """A column of a CSV file as booleans, empty as false."""
    return column.astype(str).str.lower().eq("true")


def mcnemar_family(pairs: pd.DataFrame) -> Iterator[Reading]:
    """Significant tests of combined cells, corrected over the pair's cells or the cell's pairs."""
    combined = pairs[(pairs["condition"] == ALL) & pairs["p"].notna()]
    for mode, group in combined.groupby("mode", sort=True):
        for reading in ("pair", "cell"):
            found = int(true(group[f"significant_{reading}"]).sum())
            yield Reading(
                "mcnemar_family", reading, "significant", str(mode), float(found), n=len(group)
            )


def yates(tests: pd.DataFrame, settings: Settings) -> Iterator[Reading]:
    """Significant tests of the English-random family under four rules of continuity correction."""
    tests = tests[tests["p"].notna()]
    n = [tests[f"n_{name}"].to_numpy(dtype=int) for name in ("english", "random")]
    k = [
        np.rint(tests[f"ema_{name}"].to_numpy(dtype=float) * size).astype(int)
        for name, size in zip(("english", "random"), n, strict=True)
    ]
    counts = (k[0], n[0], k[1], n[1])
    never = contingency.association(*counts, yates_below=0).p
    always = contingency.association(*counts, yates_below=EVERY_COUNT).p
    observed = contingency.association(*counts, yates_below=settings.yates_below).p
    few = smallest_expected(*counts) < settings.yates_below
    readings = {
        "observed": observed,
        "expected": np.where(few, always, never),
        "never": never,
        "always": always,
    }
    for reading, p in readings.items():
        found = int(correct_family(p, settings.alpha).significant.sum())
        yield Reading("yates", reading, "significant", value=float(found), n=len(tests))


def smallest_expected(ke: Any, ne: Any, kr: Any, nr: Any) -> Any:
    """The smallest expected count of each two-by-two table, shape (tables,)."""
    total = np.maximum(ne + nr, 1)
    right = (ke + kr) / total
    return np.minimum(ne, nr) * np.minimum(right, 1 - right)


def kappa_parse_errors(scores: pd.DataFrame) -> Iterator[Reading]:
    """Kappa of every binary cell with a parse error; without one the readings agree."""
    binary = [name for name, task in TASKS.items() if task.kind == "binary"]
    part = scores[scores["task"].isin(binary) & scores["correct"].notna()]
    for (model, mode, shots, task), group in part.groupby(CELL, sort=True):
        valid = group["valid"].to_numpy(dtype=bool)
        if valid.all():
            continue
        gold = group["gold"].eq(ANSWERS_BINARY[0]).to_numpy()
        right = group["correct"].astype(bool).to_numpy()
        found = {
            "opposite": agreement.kappa_binary(agreement.binary_counts(gold, right)),
            "dropped": agreement.kappa_binary(agreement.binary_counts(gold[valid], right[valid])),
            "third": agreement.kappa_nominal(three_labels(gold, right, valid)),
        }
        for reading, kappa in found.items():
            yield Reading(
                "kappa_parse_errors",
                reading,
                "kappa",
                f"{model}|{mode}|{task}|shots={shots}",
                kappa.value,
                n=int(valid.sum()) if reading == "dropped" else len(group),
                flag=kappa.flag,
            )


def three_labels(gold: Any, right: Any, valid: Any) -> Any:
    """Counts of gold x answer with a parse error as a third label (which gold never is)."""
    answer = np.where(valid, np.where(right, gold, ~gold).astype(int), 2)
    table = np.zeros((3, 3))
    np.add.at(table, (gold.astype(int), answer), 1)
    return table


def format_failures(combined: pd.DataFrame, scores: pd.DataFrame) -> Iterator[Reading]:
    """Macro EMA over all replies and over the valid ones, on the same tasks."""
    scored = scores[scores["correct"].notna()]
    valid = scored[scored["valid"].astype(bool)]
    share = valid.groupby(CELL)["correct"].mean().astype(float)
    for run, group in combined[combined["ema"].notna()].groupby(CELL[:-1], sort=True):
        model, mode, shots = run
        tasks = [task for task in group["task"] if (*run, task) in share.index]
        same = group[group["task"].isin(tasks)]
        if not tasks or not (same["parse_error_rate"] > 0).any():
            continue
        scope = f"{model}|{mode}|shots={shots}"
        emas = {
            "wrong": same["ema"].to_numpy(dtype=float),
            "valid": np.array([share[*run, task] for task in tasks]),
        }
        for reading, values in emas.items():
            yield Reading(
                "format_failures",
                reading,
                "macro_ema",
                scope,
                proportions.macro_mean(values),
                n=len(tasks),
            )


def macro_interval(combined: pd.DataFrame, settings: Settings) -> Iterator[Reading]:
    """The composite with an interval between tasks and one over items."""
    for (model, mode), group in combined[combined["ema"].notna()].groupby(["model", "mode"]):
        key = ("macro", str(mode), settings.headline_shots, str(model))
        emas = group["ema"].to_numpy(dtype=float)
        intervals = {
            "tasks": between_tasks(emas, settings.resamples, key, settings),
            f"tasks_{FEWER_RESAMPLES}": between_tasks(emas, FEWER_RESAMPLES, key, settings),
            "items": over_items(group, key, settings),
        }
        for reading, interval in intervals.items():
            yield Reading(
                "macro_interval",
                reading,
                "macro_ema",
                f"{model}|{mode}",
                proportions.macro_mean(emas),
                *interval,
                n=len(emas),
            )


def between_tasks(
    emas: Any, resamples: int, key: tuple[str | int, ...], settings: Settings
) -> bootstrap.Interval:
    """The paper's interval: the tasks are drawn; the draws are those of leaderboard.csv."""
    rng = cell_generator(settings.seed, *key)
    return bootstrap.macro_interval(emas, resamples, rng, settings.level)


def over_items(
    group: pd.DataFrame, key: tuple[str | int, ...], settings: Settings
) -> bootstrap.Interval:
    """The sampling error of the items, the tasks being fixed."""
    rng = cell_generator(settings.seed, *key, "items")
    draws = [
        bootstrap.proportion_draws(int(k), int(n), settings.resamples, rng)
        for k, n in zip(group["correct"], group["n"], strict=True)
    ]
    return bootstrap.percentile_interval(np.mean(draws, axis=0), settings.level)


def incomplete_cells(headline: pd.DataFrame) -> Iterator[Reading]:
    """The macro of the runs that lack answers, with them left out and counted as wrong."""
    combined = headline[headline["condition"] == ALL]
    parts = headline[headline["condition"] != ALL]
    for (model, mode), group in combined.groupby(["model", "mode"], sort=True):
        if not (group["n"] < group["n_expected"]).any():
            continue
        mine = parts[(parts["model"] == model) & (parts["mode"] == mode)]
        right = mine.groupby("task")["correct"].sum().astype(float)
        planned = group.set_index("task")["n_expected"].astype(float)
        emas = group["ema"].dropna().to_numpy(dtype=float)
        found = {"left_out": emas, "wrong": (right / planned).to_numpy(dtype=float)}
        for reading, values in found.items():
            yield Reading(
                "incomplete_cells",
                reading,
                "macro_ema",
                f"{model}|{mode}",
                proportions.macro_mean(values) if len(values) else NAN,
                n=len(values),
                flag="" if len(values) else MISSING,
            )


def tau_ties(kendall: pd.DataFrame) -> Iterator[Reading]:
    """Cells labelled monotone with ties allowed, and under A.6's rule (tau is 1 or -1)."""
    for mode, group in kendall[kendall["condition"] == ALL].groupby("mode", sort=True):
        known = group[group["label"].notna()]
        monotone = known["label"].isin(MONOTONE)
        strict = monotone & (known["tau"].abs() > 1 - 1e-9)
        for reading, found in (("ties", monotone), ("strict", strict)):
            count = float(found.sum())
            yield Reading("tau_ties", reading, "monotone", str(mode), count, n=len(known))


def rounding(cells: pd.DataFrame) -> Iterator[Reading]:
    """How many accuracies print another percentage (one decimal) when ties go elsewhere."""
    known = cells[cells["correct"].notna() & (cells["n"] > 0)]
    pairs = [(int(k), int(n)) for k, n in zip(known["correct"], known["n"], strict=True)]
    shown = [f"{100 * (k / n):.1f}" for k, n in pairs]
    for reading, rule in (
        ("float", None),
        ("half_up", ROUND_HALF_UP),
        ("half_even", ROUND_HALF_EVEN),
    ):
        other = shown if rule is None else [tenths(k, n, rule) for k, n in pairs]
        moved = sum(a != b for a, b in zip(shown, other, strict=True))
        yield Reading("rounding", reading, "moved", value=float(moved), n=len(pairs))


def tenths(k: int, n: int, rule: str) -> str:
    """The exact percentage 100 k / n with one decimal, a tie decided by `rule` (of `decimal`)."""
    tenfold = Fraction(1000 * k, n)
    if tenfold.denominator == 2:
        exact = Decimal(tenfold.numerator) / 2
    else:
        exact = Decimal(int(tenfold + Fraction(1, 2)))
    return f"{Decimal(exact.quantize(Decimal(1), rounding=rule)) / 10:.1f}"
