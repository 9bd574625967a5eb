"""Percentile bootstrap intervals.

Resampling n items of which k are right and taking the mean *is* one binomial draw divided by n;
resampling n pairs *is* one multinomial draw. Both give exactly the law of the item bootstrap at a
fraction of its cost. An interval of one proportion needs only *how many* of the B binomial draws
fell on each count, which is again one multinomial draw (`proportion_table`). The generic resampler
for every other statistic is `resampled_interval`.

Source: Efron & Tibshirani, An Introduction to the Bootstrap (1993), ch. 13; SyntaxBench A.6.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

Floats = NDArray[np.float64]


class Interval(NamedTuple):
    """Lower and upper bound, in the unit of the statistic; both NaN where there are no data."""

    low: float
    high: float


EMPTY = Interval(float("nan"), float("nan"))


def check_counts(k: int, n: int) -> None:
    """Raise ValueError unless 0 <= k <= n."""
    if not 0 <= k <= n:
        raise ValueError(f"expected 0 <= k <= n, got k={k}, n={n}")


def check_level(level: float) -> None:
    """Raise ValueError unless 0 < level < 1."""
    if not 0 < level < 1:
        raise ValueError(f"level must lie between 0 and 1, got {level}")


def percentile_interval(draws: ArrayLike, level: float = 0.95) -> Interval:
    """Central interval of bootstrap draws: percentiles with linear interpolation.

    `draws`: shape (resamples,); NaN draws (a resample on which the statistic is undefined) are
    left out. Raises ValueError unless 0 < level < 1.
    """
    check_level(level)
    values = np.asarray(draws, dtype=float)
    values = values[~np.isnan(values)]
    if values.size == 0:
        return EMPTY
    tail = 50 * (1 - level)
    low, high = np.percentile(values, [tail, 100 - tail])
    return Interval(float(low), float(high))


def proportion_draws(k: int, n: int, resamples: int, rng: np.random.Generator) -> Floats:
    """Bootstrap draws of the proportion k/n; shape (resamples,), values in [0, 1].

    Raises ValueError for n = 0 or k outside 0..n.
    """
    check_counts(k, n)
    if n == 0:
        raise ValueError("a proportion of no items cannot be resampled")
    return np.asarray(rng.binomial(n, k / n, size=resamples) / n, dtype=float)


def proportion_interval(
    k: int, n: int, resamples: int, rng: np.random.Generator, level: float = 0.95
) -> Interval:
    """Percentile bootstrap interval of a proportion (exact-match accuracy); NaN for n = 0."""
    check_counts(k, n)
    check_level(level)
    if n == 0:
        return EMPTY
    table = proportion_table(k, n, resamples, rng)
    tail = (1 - level) / 2
    return Interval(table_quantile(table, tail) / n, table_quantile(table, 1 - tail) / n)


def proportion_table(k: int, n: int, resamples: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """How many of `resamples` binomial(n, k/n) draws equal 0, 1, ..., n; shape (n + 1,).

    The same law as counting the values of `proportion_draws`, in O(n) instead of O(resamples).
    """
    if k in (0, n):
        table = np.zeros(n + 1, dtype=np.int64)
        table[k] = resamples
        return table
    p, x = k / n, np.arange(n + 1)
    ways = special.gammaln(n + 1) - special.gammaln(x + 1) - special.gammaln(n - x + 1)
    probabilities = np.exp(ways + x * np.log(p) + (n - x) * np.log1p(-p))
    return rng.multinomial(resamples, probabilities / probabilities.sum())


def table_quantile(table: NDArray[np.int64], q: float) -> float:
    """Quantile (0 <= q <= 1, linear interpolation) of the draws that a table counts, as a count."""
    cumulative = np.cumsum(table)
    position = q * (int(cumulative[-1]) - 1)
    below = int(np.floor(position))
    low, high = np.searchsorted(cumulative, [below, min(below + 1, cumulative[-1] - 1)], "right")
    return float(low + (position - below) * (high - low))


def paired_difference_interval(
    b01: int, b10: int, n: int, *, resamples: int, rng: np.random.Generator, level: float = 0.95
) -> Interval:
    """Percentile bootstrap interval of the accuracy difference A - B over the same n items.

    `b01` items are right only for A, `b10` only for B. One multinomial draw a resample over
    (only A, only B, the rest). NaN for n = 0; raises ValueError for impossible counts.
    """
    if b01 < 0 or b10 < 0 or b01 + b10 > n:
        raise ValueError(f"impossible discordant counts b01={b01}, b10={b10} of n={n}")
    if n == 0:
        return EMPTY
    draws = rng.multinomial(n, [b01 / n, b10 / n, (n - b01 - b10) / n], size=resamples)
    return percentile_interval((draws[:, 0] - draws[:, 1]) / n, level)


def resampled_draws(
    values: ArrayLike,
    statistic: Callable[..., Any],
    resamples: int,
    rng: np.random.Generator,
    elements_at_once: int = 4_000_000,
) -> Floats:
    """Bootstrap draws of any statistic of a sample, in blocks that bound the memory.

    `values`: shape (n,) or (n, columns); rows are resampled with replacement. `statistic` takes an
    array of shape (block, n) or (block, n, columns) and the keyword `axis=1`, and returns (block,).
    Raises ValueError for an empty sample.
    """
    sample = np.asarray(values)
    n = sample.shape[0]
    if n == 0:
        raise ValueError("an empty sample cannot be resampled")
    block = max(1, elements_at_once // sample.size)
    draws = np.empty(resamples)
    for start in range(0, resamples, block):
        stop = min(start + block, resamples)
        rows = rng.integers(0, n, size=(stop - start, n))
        draws[start:stop] = statistic(sample[rows], axis=1)
    return draws


def resampled_interval(
    values: ArrayLike,
    statistic: Callable[..., Any],
    resamples: int,
    rng: np.random.Generator,
    level: float = 0.95,
) -> Interval:
    """Percentile bootstrap interval of any statistic (see `resampled_draws`); NaN when empty."""
    if np.asarray(values).shape[0] == 0:
        return EMPTY
    return percentile_interval(resampled_draws(values, statistic, resamples, rng), level)


def macro_interval(
    task_emas: ArrayLike, resamples: int, rng: np.random.Generator, level: float = 0.95
) -> Interval:
    """Interval of the composite macro-EMA: resamples the task EMAs themselves.

    It therefore measures the spread *between tasks*, not the sampling error of the items
    (SyntaxBench A.6). `task_emas`: shape (tasks,), in [0, 1].
    """
    return resampled_interval(task_emas, np.mean, resamples, rng, level)
