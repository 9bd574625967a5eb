"""Signed errors of integer answers: how far, in which direction, within which tolerance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from scripts.statistics.flags import CONSTANT, MISSING

NAN = float("nan")


class SignedError(NamedTuple):
    """Summary of parsed - gold, in units of the answer; `n` counts valid responses."""

    mean: float
    sd: float
    median: float
    p5: float
    p95: float
    n: int
    flag: str


def percentile(values: ArrayLike, q: float) -> float:
    """Percentile with linear interpolation between order statistics; NaN for no values."""
    numbers = np.asarray(values, dtype=float)
    return float(np.percentile(numbers, q)) if numbers.size else NAN


def signed_error(deltas: ArrayLike) -> SignedError:
    """Mean, sd (n - 1), median, 5th and 95th percentile of the finite deltas.

    Non-finite entries (no parsed integer) are left out. One value has no sd: NaN, flag `constant`.
    """
    values = np.asarray(deltas, dtype=float)
    values = values[np.isfinite(values)]
    if values.size == 0:
        return SignedError(NAN, NAN, NAN, NAN, NAN, 0, MISSING)
    sd = float(values.std(ddof=1)) if values.size > 1 else NAN
    p5, median, p95 = np.percentile(values, [5, 50, 95])
    flag = "" if values.size > 1 else CONSTANT
    return SignedError(
        float(values.mean()), sd, float(median), float(p5), float(p95), int(values.size), flag
    )


def tolerance_curve(deltas: ArrayLike, n: int, tolerances: Sequence[int]) -> list[float]:
    """Share of the n scored items whose answer lies within each tolerance of the gold value.

    An answer that could not be parsed has a non-finite delta and is outside every tolerance.
    """
    values = np.abs(np.asarray(deltas, dtype=float))
    if n == 0:
        return [NAN] * len(tolerances)
    return [float(np.sum(values <= tolerance)) / n for tolerance in tolerances]
