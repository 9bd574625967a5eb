"""Two independent groups and a binary outcome: Pearson's chi-square, Cramér's V, phi."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

Floats = NDArray[np.float64]
Booleans = NDArray[np.bool_]


class Association(NamedTuple):
    """Result arrays of the common shape of the counts."""

    chi2: Floats
    p: Floats
    yates: Booleans
    cramers_v: Floats
    point_biserial: Floats
    zero_margin: Booleans


def association(
    k_english: ArrayLike,
    n_english: ArrayLike,
    k_random: ArrayLike,
    n_random: ArrayLike,
    yates_below: int = 5,
) -> Association:
    """Chi-square test of condition x correctness, elementwise.

    Yates' correction (bounded as in scipy, so that it never turns the sign) applies where any
    *observed* count is below `yates_below` (SyntaxBench A.6). Cramér's V = sqrt(chi2 / n) of the
    chi-square as reported. `point_biserial` is the signed phi of correctness with condition coded
    English 0, random 1: positive means that random is easier; it carries no correction.
    A zero margin (all right, all wrong, a condition without items) gives chi2 0, p 1, V 0, r 0 and
    `zero_margin`. Raises ValueError unless 0 <= k <= n.
    """
    ke, ne, kr, nr = (
        np.asarray(value, dtype=float)
        for value in np.broadcast_arrays(k_english, n_english, k_random, n_random)
    )
    cells = np.stack([ke, ne - ke, kr, nr - kr])
    if (cells < 0).any():
        raise ValueError("expected 0 <= k <= n in both conditions")
    total = ne + nr
    margins = ne * nr * (ke + kr) * (total - ke - kr)
    degenerate = margins == 0
    safe = np.where(degenerate, 1.0, margins)
    determinant = kr * (ne - ke) - ke * (nr - kr)
    yates = (cells < yates_below).any(axis=0) & ~degenerate
    shrink = np.where(yates, np.minimum(total / 2, np.abs(determinant)), 0.0)
    chi2 = np.where(degenerate, 0.0, total * (np.abs(determinant) - shrink) ** 2 / safe)
    count = np.where(total == 0, 1.0, total)
    return Association(
        chi2,
        np.where(degenerate, 1.0, special.chdtrc(1, chi2)),
        yates,
        np.sqrt(chi2 / count),
        np.where(degenerate, 0.0, determinant / np.sqrt(safe)),
        degenerate,
    )
