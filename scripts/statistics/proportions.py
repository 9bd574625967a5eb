"""Accuracies, rates and their composites, and how they are printed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from scripts.statistics.bootstrap import check_counts

NAN = float("nan")


def proportion(k: int, n: int) -> float:
    """k/n in [0, 1]; NaN for n = 0. Raises ValueError unless 0 <= k <= n."""
    check_counts(k, n)
    return k / n if n else NAN


def format_percent(k: int, n: int) -> str:
    """The papers' percent text with one decimal, floating-point artefacts included.

    `100*(k/n)` and not `100*k/n`: 115 of 400 prints as 28.7. An en dash stands for n = 0.
    """
    value = proportion(k, n)
    return "–" if math.isnan(value) else f"{100 * value:.1f}"


def wilson_interval(
    k: NDArray[np.float64], n: NDArray[np.float64], level: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Wilson score interval of k right of n, elementwise; NaN for n = 0.

    (k + z²/2 ± z·sqrt(k(n − k)/n + z²/4)) / (n + z²), Wilson (1927).
    """
    z = float(stats.norm.ppf(0.5 + level / 2))
    empty = n == 0
    spread = k * (n - k) / np.where(empty, NAN, n)
    centre, half = k + z**2 / 2, z * np.sqrt(np.maximum(spread, 0.0) + z**2 / 4)
    # NaN, and so every bound of an empty cell, survives the clipping.
    low, high = (centre - half) / (n + z**2), (centre + half) / (n + z**2)
    return np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)


class ConditionGap(NamedTuple):
    """Combined accuracy and English minus random, both in [−1, 1]."""

    combined: float
    gap: float


def condition_gap(k_english: int, n_english: int, k_random: int, n_random: int) -> ConditionGap:
    """Accuracy over the union of both conditions, and the gap English - random.

    Both are NaN when one condition has no items: a combined score is then not estimable.
    """
    if n_english == 0 or n_random == 0:
        return ConditionGap(NAN, NAN)
    english, random = proportion(k_english, n_english), proportion(k_random, n_random)
    return ConditionGap(proportion(k_english + k_random, n_english + n_random), english - random)


def macro_mean(task_values: ArrayLike) -> float:
    """Unweighted mean over tasks; NaN entries (tasks without a score) are left out."""
    values = np.asarray(task_values, dtype=float)
    values = values[~np.isnan(values)]
    return float(values.mean()) if values.size else NAN


class Validity(NamedTuple):
    """Composite parse-error rate and valid-response rate, in [0, 1]."""

    parse_error_rate: float
    valid_response_rate: float


def composite_validity(task_parse_error_rates: ArrayLike) -> Validity:
    """Mean of the task parse-error rates, and one minus it (SyntaxBench tables 2 and 17)."""
    rate = macro_mean(task_parse_error_rates)
    return Validity(rate, 1 - rate)


def accuracy_per_token(ema: float, mean_tokens: float) -> float:
    """EMA divided by mean reasoning tokens; NaN when no token was spent or none was reported."""
    if math.isnan(ema) or math.isnan(mean_tokens) or mean_tokens <= 0:
        return NAN
    return ema / mean_tokens


def ratio(numerator: float, denominator: float) -> float:
    """A ratio of two means; NaN when the denominator is zero."""
    return numerator / denominator if denominator else NAN


def restore_thirds(values: Sequence[float]) -> list[float]:
    """Thirds of integers that were printed with one decimal (71.3 was 214/3), restored."""
    return [round(3 * value) / 3 for value in values]


def mean_of_thirds(values: Sequence[float]) -> float:
    """Unweighted mean of printed thirds (MultiTempBench table 3: mean over languages)."""
    return macro_mean(restore_thirds(values))


def verdict_accuracy(detection: float, specificity: float, n_perturbed: int, n_total: int) -> float:
    """Accuracy of verdicts from detection (perturbed found) and specificity (sound passed).

    All rates in [0, 1]; the always-flag baseline is detection 1, specificity 0 (TIDE A.10.3).
    """
    check_counts(n_perturbed, n_total)
    if n_total == 0:
        return NAN
    return (detection * n_perturbed + specificity * (n_total - n_perturbed)) / n_total


def context_accuracy(memory: float, overturned: float, closed: float) -> float:
    """Accuracy with the documents given: known from memory, less overturned, plus gaps closed.

    Shares of the matched set in one unit (TIDE table 13).
    """
    return memory - overturned + closed


class Spread(NamedTuple):
    """Range between settings within a task, range of the macro means, and their ratio."""

    within: float
    macro: float
    ratio: float


def spread_ratio(
    within_max: float, within_min: float, macro_max: float, macro_min: float
) -> Spread:
    """How much larger one spread is than another (TIDE A.10.2)."""
    within, macro = within_max - within_min, macro_max - macro_min
    return Spread(within, macro, ratio(within, macro))
