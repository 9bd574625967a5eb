"""Correlation of two variables over few, clustered points: Pearson, Spearman, two intervals.

Pearson's r (Pearson, Proc. R. Soc. 58 (1895) 240-242) and Spearman's rho, which is Pearson's r of
mid-ranks (Spearman, Am. J. Psychol. 15 (1904) 72-101). Fewer than three points, or a variable that
does not vary, give NaN: two points lie on a line whatever was measured.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special, stats

from scripts.statistics.bootstrap import EMPTY, Interval, percentile_interval
from scripts.statistics.flags import CONSTANT, MISSING, TOO_FEW

NAN = float("nan")
FEWEST = 3
# A sum of squares below this share of the mean square is rounding, not variation.
ROUNDING = 1e-12

Floats = NDArray[np.float64]


class Correlation(NamedTuple):
    """r in [-1, 1], NaN with a `flag` where it says nothing; `n` counts complete points."""

    r: float
    n: int
    flag: str


def complete(x: ArrayLike, y: ArrayLike) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """The points that have both values, and which of the given ones they are.

    `x`, `y`: shape (n,), NaN = missing. Raises ValueError when the shapes differ.
    """
    first, second = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    if first.shape != second.shape or first.ndim != 1:
        raise ValueError(f"expected two vectors of one length, got {first.shape}, {second.shape}")
    kept = ~(np.isnan(first) | np.isnan(second))
    return first[kept], second[kept], kept


def varies(values: Floats) -> bool:
    """Whether a sample has a variance that is more than rounding."""
    if values.size < 2:
        return False
    spread = float(np.var(values))
    return spread > ROUNDING * max(float(np.mean(values**2)), np.finfo(float).tiny)


def pearson(x: ArrayLike, y: ArrayLike) -> Correlation:
    """Pearson's r of the complete points; shapes (n,)."""
    first, second, _ = complete(x, y)
    n = first.size
    if n == 0:
        return Correlation(NAN, 0, MISSING)
    if n < FEWEST:
        return Correlation(NAN, n, TOO_FEW)
    if not (varies(first) and varies(second)):
        return Correlation(NAN, n, CONSTANT)
    return Correlation(float(np.corrcoef(first, second)[0, 1]), n, "")


def spearman(x: ArrayLike, y: ArrayLike) -> Correlation:
    """Spearman's rho of the complete points: Pearson's r of mid-ranks."""
    first, second, _ = complete(x, y)
    return pearson(stats.rankdata(first), stats.rankdata(second))


def weighted_pearson(x: Floats, y: Floats, weights: ArrayLike) -> Floats:
    """Pearson's r under each row of weights; shape (resamples,).

    `x`, `y`: shape (n,), complete; `weights`: shape (resamples, n), not negative. NaN where the
    weighted points do not vary.
    """
    w = np.asarray(weights, dtype=float)
    # Centred first: the moments of large numbers with a small spread would cancel.
    a, b = x - x.mean(), y - y.mean()
    total = w.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean_a, mean_b = (w @ a) / total, (w @ b) / total
        var_a = (w @ a**2) / total - mean_a**2
        var_b = (w @ b**2) / total - mean_b**2
        r = ((w @ (a * b)) / total - mean_a * mean_b) / np.sqrt(var_a * var_b)
    flat = (var_a <= ROUNDING * np.var(a)) | (var_b <= ROUNDING * np.var(b))
    return np.where(flat | ~np.isfinite(r), np.nan, np.clip(r, -1.0, 1.0))


def codes_of(clusters: Sequence[str]) -> tuple[NDArray[np.int64], int]:
    """A number for each cluster label, and how many clusters there are."""
    names, codes = np.unique(np.asarray(clusters, dtype=str), return_inverse=True)
    return codes.astype(np.int64), len(names)


def bootstrap_interval(
    x: ArrayLike,
    y: ArrayLike,
    clusters: Sequence[str],
    *,
    resamples: int,
    rng: np.random.Generator,
    level: float = 0.95,
) -> Interval:
    """Percentile bootstrap interval of Pearson's r, resampling whole clusters of points.

    `clusters`: a label for each point; give each point its own for the ordinary bootstrap.
    Resamples without variation are left out. NaN where r itself is. Source: Efron & Tibshirani
    (1993), sections 13.3 and 8.6. With few points the percentile interval is too narrow; print n
    beside it.
    """
    first, second, kept = complete(x, y)
    if pearson(first, second).flag:
        return EMPTY
    codes, count = codes_of(np.asarray(clusters, dtype=str)[kept].tolist())
    if count < FEWEST:
        return EMPTY
    draws = rng.multinomial(count, np.full(count, 1 / count), size=resamples)
    return percentile_interval(weighted_pearson(first, second, draws[:, codes]), level)


def jackknife_interval(
    x: ArrayLike, y: ArrayLike, clusters: Sequence[str], level: float = 0.95
) -> Interval:
    """Delete-one-cluster jackknife interval of Pearson's r on Fisher's z scale.

    z = artanh r; the variance of the G leave-one-out values is (G - 1) / G times their sum of
    squares, and the interval is tanh(z ± t(G - 1) · SE). NaN for fewer than three clusters, and
    where r, or r without one of the clusters, is undefined or ±1. Sources: Fisher, Metron 1 (1921)
    3-32; Efron & Tibshirani (1993), ch. 11, with clusters as the units.
    """
    first, second, kept = complete(x, y)
    whole = pearson(first, second)
    codes, count = codes_of(np.asarray(clusters, dtype=str)[kept].tolist())
    if whole.flag or count < FEWEST:
        return EMPTY
    parts = [pearson(first[codes != g], second[codes != g]) for g in range(count)]
    values = np.array([part.r for part in parts])
    if np.isnan(values).any() or max(abs(whole.r), np.abs(values).max()) >= 1 - ROUNDING:
        return EMPTY
    z = np.arctanh(values)
    error = math.sqrt((count - 1) / count * float(np.sum((z - z.mean()) ** 2)))
    half = float(special.stdtrit(count - 1, 0.5 + level / 2)) * error
    centre = math.atanh(whole.r)
    return Interval(math.tanh(centre - half), math.tanh(centre + half))
