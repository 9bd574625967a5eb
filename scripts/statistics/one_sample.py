"""Is the mean of a few units, or a share of rows, above or below a value?

The units are what the question generalises over (models, tokenisers, languages), each with one
value. p-values are two-sided and agree with the interval of level 1 - alpha: p <= alpha exactly
where the interval leaves the value out.

Sources: Student, Biometrika 6 (1908) 1-25 (mean); Clopper & Pearson, Biometrika 26 (1934) 404-413
(share); Berger, Technometrics 24 (1982) 295-300 (several conditions at once: the largest p).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

NAN = float("nan")
ROUNDING = 1e-12


class OneSample(NamedTuple):
    """The estimate of `n` units with its interval and two-sided p; NaN where there is none."""

    value: float
    low: float
    high: float
    p: float
    n: int


def mean_test(values: ArrayLike, null: float = 0.0, level: float = 0.95) -> OneSample:
    """Mean of the units with Student's t interval, and the t test against `null`.

    NaN values are left out. Fewer than two units, and units that are all equal, have no spread to
    test with: no interval and no p.
    """
    x = np.asarray(values, dtype=float)
    x = x[~np.isnan(x)]
    if x.size < 2:
        return OneSample(float(x.mean()) if x.size else NAN, NAN, NAN, NAN, int(x.size))
    mean, error = float(x.mean()), float(x.std(ddof=1)) / math.sqrt(x.size)
    # Equal values may differ in the last bit.
    if error <= ROUNDING * max(1.0, abs(mean)):
        return OneSample(mean, NAN, NAN, NAN, int(x.size))
    t = stats.t(x.size - 1)
    half = float(t.ppf(0.5 + level / 2)) * error
    p = 2 * float(t.sf(abs(mean - null) / error))
    return OneSample(mean, mean - half, mean + half, p, int(x.size))


def share_test(k: int, n: int, null: float, level: float = 0.95) -> OneSample:
    """Share k/n with its exact interval, and twice the smaller binomial tail against `null`.

    Raises ValueError unless 0 <= k <= n and 0 <= null <= 1; n = 0 gives NaN.
    """
    if not 0 <= k <= n or not 0 <= null <= 1:
        raise ValueError(f"need 0 <= k <= n and a share as null; got {k}, {n}, {null}")
    if n == 0:
        return OneSample(NAN, NAN, NAN, NAN, 0)
    interval = stats.binomtest(k, n).proportion_ci(level, method="exact")
    tails = (stats.binom.cdf(k, n, null), stats.binom.sf(k - 1, n, null))
    return OneSample(k / n, interval.low, interval.high, min(1.0, 2 * float(min(tails))), n)


def weighted_slope(x: ArrayLike, y: ArrayLike, weights: ArrayLike) -> float:
    """Least-squares slope of y on x with weights; NaN where x does not vary or a value is missing.

    Weights must not be negative (ValueError).
    """
    a, b, w = (np.asarray(part, dtype=float) for part in (x, y, weights))
    if (w < 0).any():
        raise ValueError("weights cannot be negative")
    if w.sum() == 0:
        return NAN
    centred = a - np.average(a, weights=w)
    spread = float(np.sum(w * centred**2))
    return float(np.sum(w * centred * b)) / spread if spread > 0 else NAN
