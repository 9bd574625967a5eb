"""Paired comparison of two classifiers on the same items: McNemar's test.

Source: McNemar, Psychometrika 12 (1947) 153-157; continuity correction of Edwards (1948) with the
correction of 1, as SyntaxBench A.6 writes it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]


class McNemar(NamedTuple):
    """Result arrays of the common shape of b01 and b10."""

    statistic: Floats
    p: Floats
    odds_ratio: Floats
    p_exact: Floats
    no_discordant_pairs: Booleans


def mcnemar(b01: ArrayLike, b10: ArrayLike, exact_below: int = 25) -> McNemar:
    """McNemar's test with continuity correction, elementwise over discordant counts.

    `b01`: items that A has right and B wrong; `b10` the reverse. statistic = (|b01 - b10| - 1)^2 /
    (b01 + b10) against chi-square with 1 degree of freedom, as written also for b01 = b10 > 0
    (1 / (b01 + b10), never significant). `odds_ratio` is the raw b01/b10 (infinite for b10 = 0 <
    b01). Without a discordant pair: statistic 0, p 1, odds ratio NaN, flag true – the formula
    itself would give infinity and p = 0 for two identical models. `p_exact` is the two-sided
    binomial p where b01 + b10 < `exact_below`, else NaN. Raises ValueError for negative counts.
    """
    only_a, only_b = np.broadcast_arrays(
        np.asarray(b01, dtype=np.int64), np.asarray(b10, dtype=np.int64)
    )
    if (only_a < 0).any() or (only_b < 0).any():
        raise ValueError("discordant counts cannot be negative")
    total = only_a + only_b
    none = total == 0
    safe = np.where(none, 1, total)
    statistic = np.where(none, 0.0, (np.abs(only_a - only_b) - 1) ** 2 / safe)
    p = np.where(none, 1.0, special.chdtrc(1, statistic))
    with np.errstate(divide="ignore", invalid="ignore"):
        odds = np.where(none, np.nan, only_a / np.asarray(only_b, dtype=float))
    exact = np.minimum(1.0, 2 * special.bdtr(np.minimum(only_a, only_b), safe, 0.5))
    exact = np.where(none, 1.0, exact)
    return McNemar(statistic, p, odds, np.where(total < exact_below, exact, np.nan), none)


def discordant_counts(correct: ArrayLike) -> tuple[Integers, Integers]:
    """All pairwise discordant counts of several classifiers on the same items.

    `correct`: shape (items, classifiers), 1 right, 0 wrong, NaN not scored. Returns (b01, n), each
    (classifiers, classifiers): `b01[a, b]` counts items with a right and b wrong, and `n[a, b]` the
    items scored for both. b10 is the transpose of b01.
    """
    matrix = np.asarray(correct, dtype=float)
    seen = ~np.isnan(matrix)
    right = np.where(seen, matrix, 0.0)
    wrong = np.where(seen, 1.0 - matrix, 0.0)
    counts = np.rint(right.T @ wrong).astype(np.int64)
    common = np.rint(seen.T.astype(float) @ seen.astype(float)).astype(np.int64)
    return counts, common
