"""Weights of the date-fragmentation components (MultiTempBench table 7)."""

from __future__ import annotations

import math
from collections.abc import Sequence

#: Weights of split, delimiter, inflation and divergence in the earlier metric (Bhatia et al. 2025a)
#: before they are scaled to sum to 1: 0.1818, 0.1818, 0.0909, 0.5455 in table 7.
ORIGINAL_WEIGHTS = (0.10, 0.10, 0.05, 0.30)


def normalise_weights(raw: Sequence[float]) -> list[float]:
    """Scale non-negative weights so that they sum to 1; ValueError when they cannot be."""
    total = math.fsum(raw)
    if not raw or any(not weight >= 0 for weight in raw) or not 0 < total < math.inf:
        raise ValueError(f"weights must be finite, not negative and not all zero, got {list(raw)}")
    return [weight / total for weight in raw]


def rounded_weights(learned: Sequence[float], decimals: int = 1) -> list[float]:
    """The learned weights as the paper uses them: rounded to one decimal."""
    return [round(weight, decimals) for weight in learned]
