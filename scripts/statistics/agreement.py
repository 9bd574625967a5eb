"""Chance-corrected agreement and class-conditional metrics.

Conventions (checked against SyntaxBench tables 3 and 7): a reply that could not be parsed counts as
the *opposite* label on binary tasks; on string tasks chance agreement is the probability that two
gold answers agree (1/n when all are distinct); integer weights act on values, not on ranks.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scripts.statistics.flags import CONSTANT, MISSING, ONE_CLASS, TOO_FEW, ZERO_MARGIN

NAN = float("nan")
Floats = NDArray[np.float64]
Label = TypeVar("Label", bound=Hashable)

#: Lower bound (inclusive) and name of the bands of Landis & Koch, Biometrics 33 (1977) 159-174.
BANDS = (
    (0.8, "almost_perfect"),
    (0.6, "substantial"),
    (0.4, "moderate"),
    (0.2, "fair"),
    (0.0, "slight"),
)


class Flagged(NamedTuple):
    """A value and why it is undefined; `flag` is empty for a sound value."""

    value: float
    flag: str


class BinaryCounts(NamedTuple):
    """Confusion counts of a binary task."""

    tp: int
    fn: int
    fp: int
    tn: int

    @property
    def n(self) -> int:
        """Number of items."""
        return sum(self)


class ClassMetrics(NamedTuple):
    """Sensitivity, specificity and Matthews correlation, with the flags of undefined ones."""

    tpr: float
    tnr: float
    mcc: float
    flag: str


def binary_counts(gold_positive: ArrayLike, correct: ArrayLike) -> BinaryCounts:
    """Confusion counts from gold labels and correctness; a wrong answer is the opposite label.

    Both arguments: boolean, shape (n,). A parse error is wrong, hence the opposite label.
    """
    gold = np.asarray(gold_positive, dtype=bool)
    right = np.asarray(correct, dtype=bool)
    if gold.shape != right.shape:
        raise ValueError(f"shapes differ: gold {gold.shape}, correct {right.shape}")
    return BinaryCounts(
        int(np.sum(gold & right)),
        int(np.sum(gold & ~right)),
        int(np.sum(~gold & ~right)),
        int(np.sum(~gold & right)),
    )


def chance_corrected(observed: float, chance: float) -> Flagged:
    """(p_o - p_e) / (1 - p_e); flagged `one_class` when chance alone gives full agreement."""
    if math.isnan(observed) or math.isnan(chance):
        return Flagged(NAN, MISSING)
    if chance >= 1:
        return Flagged(NAN, ONE_CLASS)
    return Flagged((observed - chance) / (1 - chance), "")


def kappa_binary(counts: BinaryCounts) -> Flagged:
    """Unweighted Cohen kappa of a 2x2 table (Cohen 1960)."""
    n = counts.n
    if n == 0:
        return Flagged(NAN, MISSING)
    tp, fn, fp, tn = counts
    chance = ((tp + fn) * (tp + fp) + (fp + tn) * (fn + tn)) / n**2
    return chance_corrected((tp + tn) / n, chance)


def kappa_string(correct: int, n: int, chance_agreement: float) -> Flagged:
    """Kappa of an open string task; `chance_agreement` from `gold_collision`."""
    return Flagged(NAN, MISSING) if n == 0 else chance_corrected(correct / n, chance_agreement)


def gold_collision(gold: ArrayLike) -> float:
    """Probability that two draws from the gold answers agree: 1/n when all n are distinct."""
    answers = np.asarray(gold)
    if answers.size == 0:
        return NAN
    _, counts = np.unique(answers, return_counts=True)
    return float(np.sum((counts / answers.size) ** 2))


def mean_absolute_cross_difference(a: ArrayLike, b: ArrayLike) -> float:
    """Mean of |a_i - b_j| over all pairs, in O((n + m) log m) time."""
    x, y = np.asarray(a, dtype=float), np.sort(np.asarray(b, dtype=float))
    below = np.searchsorted(y, x)
    cumulative = np.concatenate([[0.0], np.cumsum(y)])
    total = cumulative[-1]
    sums = x * below - cumulative[below] + (total - cumulative[below]) - x * (y.size - below)
    return float(sums.sum() / (x.size * y.size))


def kappa_linear(gold: ArrayLike, predicted: ArrayLike) -> Flagged:
    """Cohen kappa with linear weights |y_pred - y_true| on the *values* (Cohen 1968).

    Shapes (n,). Equal to scikit-learn's `weights="linear"` on a full integer grid of labels;
    without the grid scikit-learn weights label ranks, so that 1000 costs no more than 11.
    Non-finite pairs must be left out by the caller (ValueError).
    """
    truth, answer = np.asarray(gold, dtype=float), np.asarray(predicted, dtype=float)
    if truth.shape != answer.shape:
        raise ValueError(f"shapes differ: gold {truth.shape}, predicted {answer.shape}")
    if truth.size == 0:
        return Flagged(NAN, MISSING)
    if not (np.isfinite(truth).all() and np.isfinite(answer).all()):
        raise ValueError("kappa_linear needs finite values; leave parse errors out first")
    expected = mean_absolute_cross_difference(truth, answer)
    if expected <= 0:
        return Flagged(NAN, ONE_CLASS)
    return Flagged(1 - float(np.abs(truth - answer).mean()) / expected, "")


def landis_koch(kappa: float) -> str:
    """Band of a kappa, lower bound inclusive; `poor` below zero, empty for NaN.

    Kappa is rounded to 12 decimals first: 0.8 computed as 0.7999999999999999 keeps its band.
    """
    if math.isnan(kappa):
        return ""
    value = round(kappa, 12)
    return next((name for lower, name in BANDS if value >= lower), "poor")


def class_metrics(counts: BinaryCounts) -> ClassMetrics:
    """TPR, TNR and MCC of a binary task.

    A rate over an absent class is NaN with flag `one_class`; MCC with an empty margin is 0 (the
    limit, and scikit-learn's value), with flag `zero_margin` where both classes are present.
    """
    tp, fn, fp, tn = counts
    if counts.n == 0:
        return ClassMetrics(NAN, NAN, NAN, MISSING)
    positives, negatives = tp + fn, fp + tn
    product = positives * negatives * (tp + fp) * (fn + tn)
    mcc = (tp * tn - fp * fn) / math.sqrt(product) if product else 0.0
    flag = ONE_CLASS if not (positives and negatives) else ("" if product else ZERO_MARGIN)
    return ClassMetrics(
        tp / positives if positives else NAN, tn / negatives if negatives else NAN, mcc, flag
    )


def kappa_nominal(table: ArrayLike) -> Flagged:
    """Unweighted Cohen kappa of a square table of counts (rater A x rater B; Cohen 1960)."""
    counts = np.asarray(table, dtype=float)
    if counts.ndim != 2 or counts.shape[0] != counts.shape[1]:
        raise ValueError(f"a square table is needed, not shape {counts.shape}")
    n = counts.sum()
    if n == 0:
        return Flagged(NAN, MISSING)
    chance = float(counts.sum(axis=0) @ counts.sum(axis=1)) / n**2
    return chance_corrected(float(np.trace(counts)) / n, chance)


def kappa_draws(table: ArrayLike, resamples: int, rng: np.random.Generator) -> Floats:
    """Bootstrap draws of `kappa_nominal` over the rated items; shape (resamples,).

    Resampling n pairs of labels is one multinomial draw of the table. NaN where a draw holds one
    label only. Raises ValueError for an empty table.
    """
    counts = np.asarray(table, dtype=np.int64)
    n = int(counts.sum())
    if n == 0:
        raise ValueError("no pair of labels to resample")
    drawn = rng.multinomial(n, counts.ravel() / n, size=resamples).reshape(-1, *counts.shape)
    observed = np.trace(drawn, axis1=1, axis2=2) / n
    chance = np.einsum("ri,ri->r", drawn.sum(axis=1), drawn.sum(axis=2)) / n**2
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(chance < 1, (observed - chance) / (1 - chance), NAN)


def majority(labels: Sequence[Label]) -> Label | None:
    """The label that more raters gave than any other; None for a tie or without raters."""
    ranked = Counter(labels).most_common(2)
    if not ranked or (len(ranked) == 2 and ranked[0][1] == ranked[1][1]):
        return None
    return ranked[0][0]


def krippendorff_alpha(
    ratings: ArrayLike, level: Literal["nominal", "ordinal", "interval"] = "ordinal"
) -> Flagged:
    """Krippendorff's alpha of ratings, shape (raters, items), NaN where a rater gave none.

    Nominal labels are given as numbers too. Flags: `missing` (no rater is known), `too_few` (no
    item has two ratings), `constant` (one value only). Source: Krippendorff, Content Analysis
    (2004), ch. 11.
    """
    import krippendorff  # noqa: PLC0415 - a slow import that few readers of this module need

    table = np.asarray(ratings, dtype=float)
    given = ~np.isnan(table)
    if not table.size or not given.any():
        return Flagged(NAN, MISSING)
    if int(given.sum(axis=0).max()) < 2:
        return Flagged(NAN, TOO_FEW)
    paired = table[:, given.sum(axis=0) >= 2]
    if np.unique(paired[~np.isnan(paired)]).size < 2:
        return Flagged(NAN, CONSTANT)
    return Flagged(float(krippendorff.alpha(table, level_of_measurement=level)), "")


class Fleiss(NamedTuple):
    """Fleiss' kappa, the observed agreement (share of agreeing pairs of raters), and the flag."""

    kappa: float
    agreement: float
    flag: str


def fleiss_kappa(table: ArrayLike) -> Fleiss:
    """Fleiss' kappa of counts, shape (items, categories): raters who chose each category.

    Every item has the same number of raters (ValueError else; leave items with absent raters out
    first). Flags: `missing` (no item), `too_few` (fewer than two raters), `one_class` (one category
    was ever chosen: chance alone gives full agreement). Source: Fleiss, Psychological Bulletin 76
    (1971) 378-382.
    """
    counts = np.asarray(table, dtype=float)
    if counts.ndim != 2:
        raise ValueError(f"a table of items x categories is needed, not shape {counts.shape}")
    if counts.shape[0] == 0:
        return Fleiss(NAN, NAN, MISSING)
    raters = counts.sum(axis=1)
    if (raters != raters[0]).any():
        raise ValueError("items with different numbers of raters; leave the incomplete ones out")
    n = raters[0]
    if n < 2:
        return Fleiss(NAN, NAN, TOO_FEW)
    agreement = float(((counts**2).sum(axis=1) - n).mean() / (n * (n - 1)))
    shares = counts.sum(axis=0) / counts.sum()
    kappa, flag = chance_corrected(agreement, float((shares**2).sum()))
    return Fleiss(kappa, agreement, flag)


def fleiss_draws(table: ArrayLike, resamples: int, rng: np.random.Generator) -> Floats:
    """Bootstrap draws of `fleiss_kappa` over items; shape (resamples,).

    NaN where a draw holds one category only. Raises ValueError for a table without items.
    """
    counts = np.asarray(table, dtype=float)
    if counts.shape[0] == 0:
        raise ValueError("no item to resample")
    # Items with the same counts are one pattern: resampling items is a multinomial over patterns.
    patterns, repeats = np.unique(counts, axis=0, return_counts=True)
    n, items = patterns[0].sum(), int(repeats.sum())
    drawn = rng.multinomial(items, repeats / items, size=resamples)
    observed = drawn @ (((patterns**2).sum(axis=1) - n) / (n * (n - 1))) / items
    chance = ((drawn @ patterns / (items * n)) ** 2).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(chance < 1 - 1e-12, (observed - chance) / (1 - chance), NAN)
