"""Wald statistics of a regression coefficient.

Source: Agresti, Categorical Data Analysis, 3rd ed. (2013), section 1.3.
"""

from __future__ import annotations

from scipy import special


def wald_z(beta: float, standard_error: float) -> float:
    """beta / SE; ValueError unless SE > 0."""
    if not standard_error > 0:
        raise ValueError(f"a standard error must be positive, got {standard_error}")
    return beta / standard_error


def two_sided_p(z: float) -> float:
    """Two-sided p of a standard normal statistic."""
    return float(2 * special.ndtr(-abs(z)))


def implied_standard_error(beta: float, p: float) -> float:
    """The standard error that a printed coefficient and its two-sided p imply; 0 < p < 1."""
    if not 0 < p < 1:
        raise ValueError(f"p must lie between 0 and 1, got {p}")
    return abs(beta) / float(-special.ndtri(p / 2))
