"""Corrections over a family of tests. A missing p-value is left out of the family, never counted.

Sources: Bonferroni as in Dunn, JASA 56 (1961) 52-64; Holm, Scandinavian Journal of Statistics 6
(1979) 65-70; Benjamini & Hochberg, JRSS B 57 (1995) 289-300.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

METHODS = ("bonferroni", "holm", "bh")


class Family(NamedTuple):
    """Corrections of one family, in the order of the p-values.

    `size` counts the tests in the family; `p_bonferroni` and `q` are NaN and `significant` is False
    for a test that was left out.
    """

    size: int
    p_bonferroni: NDArray[np.float64]
    q: NDArray[np.float64]
    significant: NDArray[np.bool_]


def correct_family(p_values: ArrayLike, alpha: float = 0.05) -> Family:
    """Bonferroni p (at most 1), Benjamini-Hochberg q, and the Bonferroni decision p <= alpha/m.

    `p_values`: shape (tests,), NaN = not in the family. Raises ValueError for p outside [0, 1].
    """
    p = np.asarray(p_values, dtype=float)
    inside = ~np.isnan(p)
    if ((p[inside] < 0) | (p[inside] > 1)).any():
        raise ValueError("p-values must lie in [0, 1]")
    size = int(inside.sum())
    bonferroni, q = np.full(p.shape, np.nan), np.full(p.shape, np.nan)
    if size:
        bonferroni[inside] = np.minimum(1.0, p[inside] * size)
        q[inside] = stats.false_discovery_control(p[inside], method="bh")
    significant = np.zeros(p.shape, dtype=bool)
    significant[inside] = p[inside] <= alpha / max(size, 1)
    return Family(size, bonferroni, q, significant)


def adjust(p_values: ArrayLike, method: str) -> NDArray[np.float64]:
    """Adjusted p-values of a family by `bonferroni`, `holm` or `bh`; NaN stays NaN.

    Holm steps down: the i-th smallest of m is multiplied by m - i + 1, and none is smaller than the
    one before it. Raises ValueError for another method or p outside [0, 1].
    """
    if method not in METHODS:
        raise ValueError(f"unknown correction {method!r}; known: {', '.join(METHODS)}")
    family = correct_family(p_values)
    if method != "holm":
        return family.q if method == "bh" else family.p_bonferroni
    p = np.asarray(p_values, dtype=float)
    inside = np.flatnonzero(~np.isnan(p))
    order = inside[np.argsort(p[inside], kind="stable")]
    out = np.full(p.shape, np.nan)
    steps = (family.size - np.arange(family.size)) * p[order]
    out[order] = np.minimum(1.0, np.maximum.accumulate(steps))
    return out
