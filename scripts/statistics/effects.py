"""Effect sizes: Cohen's h with its bootstrap interval, risk difference, Cohen's d.

Source: Cohen, Statistical Power Analysis for the Behavioral Sciences, 2nd ed. (1988), ch. 2 and 6.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scripts.statistics.agreement import Flagged
from scripts.statistics.bootstrap import EMPTY, Interval, percentile_interval, proportion_draws
from scripts.statistics.flags import CONSTANT, MISSING

NAN = float("nan")


def arcsine(proportion: ArrayLike) -> NDArray[np.float64]:
    """2 asin(sqrt(p)), the variance-stabilising transform; values in [0, pi]."""
    return np.asarray(2 * np.arcsin(np.sqrt(np.asarray(proportion, dtype=float))), dtype=float)


def cohens_h(p_a: float, p_b: float) -> float:
    """Cohen's h of two proportions in [0, 1]: positive when A is larger; NaN stays NaN."""
    return float(arcsine(p_a) - arcsine(p_b))


def cohens_h_interval(
    k_a: int,
    n_a: int,
    k_b: int,
    n_b: int,
    *,
    resamples: int,
    rng: np.random.Generator,
    level: float = 0.95,
) -> Interval:
    """Percentile bootstrap interval of h; the items of A and B are resampled independently."""
    if n_a == 0 or n_b == 0:
        return EMPTY
    draws_a = arcsine(proportion_draws(k_a, n_a, resamples, rng))
    draws_b = arcsine(proportion_draws(k_b, n_b, resamples, rng))
    return percentile_interval(draws_a - draws_b, level)


def risk_difference(p_a: float, p_b: float) -> float:
    """p_A - p_B."""
    return p_a - p_b


def pooled_sd(a: ArrayLike, b: ArrayLike) -> float:
    """Pooled standard deviation of two samples (n - 1 in each); NaN with fewer than 3 values."""
    x, y = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    degrees = x.size + y.size - 2
    if x.size == 0 or y.size == 0 or degrees < 1:
        return NAN
    squares = ((x - x.mean()) ** 2).sum() + ((y - y.mean()) ** 2).sum()
    return math.sqrt(float(squares) / degrees)


def cohens_d(a: ArrayLike, b: ArrayLike) -> Flagged:
    """(mean a - mean b) / pooled sd; flagged `missing` or `constant` where it is undefined."""
    sd = pooled_sd(a, b)
    if math.isnan(sd):
        return Flagged(NAN, MISSING)
    if sd == 0:
        return Flagged(NAN, CONSTANT)
    return Flagged(float(np.mean(np.asarray(a)) - np.mean(np.asarray(b))) / sd, "")


def implied_sd(mean_a: float, mean_b: float, d: float) -> float:
    """The pooled standard deviation that a published d implies; NaN for d = 0."""
    return (mean_a - mean_b) / d if d else NAN
