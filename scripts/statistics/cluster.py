"""Cluster-robust covariance of regression coefficients, one-way and two-way.

Two-way: the covariance over clusters of the first kind, plus that of the second, minus that of
their intersections (Cameron, Gelbach & Miller, J. Business & Economic Statistics 29 (2011)
238-249, equation 2.12). Finite-sample correction: each of the three is multiplied by
G/(G - 1) * (N - 1)/(N - K) with its own number of clusters G (their section 2.3; "CR1"). The sum
need not be positive: negative eigenvalues are set to zero (their section 2.3), here those of the
sum scaled to a unit diagonal, so that the units of the predictors play no part. Tests use the t
distribution with min(G) - 1 degrees of freedom (Cameron & Miller, J. Human Resources 50 (2015)
317-372, section VI.D).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class ClusterRobust(NamedTuple):
    """Covariance (terms x terms), standard errors, two-sided p, and what they rest on.

    `clusters`: number of clusters of each kind; `repaired`: a negative eigenvalue was set to zero.
    The standard errors and p are NaN where some kind has no more clusters than there are
    coefficients: its part of the covariance then has too low a rank to mean anything.
    """

    covariance: Floats
    standard_errors: Floats
    p: Floats
    clusters: tuple[int, ...]
    repaired: bool

    @property
    def estimable(self) -> bool:
        """False where there are too few clusters."""
        return not bool(np.isnan(self.standard_errors).all())


def cluster_robust(
    influence: Floats, estimates: Floats, clusters: Sequence[Integers]
) -> ClusterRobust:
    """Cluster-robust covariance of a linear estimator from the influence of its rows.

    `influence` (rows, terms): what each row adds to the estimate (mixed.influence; for least
    squares (X'X)^-1 x_i e_i). `clusters`: one or two arrays of cluster codes, one a row. Raises
    ValueError for another number of kinds or differing lengths.
    """
    if len(clusters) not in (1, 2) or any(len(c) != len(influence) for c in clusters):
        raise ValueError("give one or two arrays of cluster codes, one code a row")
    terms = influence.shape[1]
    sets = [np.unique(codes, return_inverse=True)[1] for codes in clusters]
    covariance = sum((_one_way(influence, codes) for codes in sets), np.zeros((terms, terms)))
    if len(sets) == 2:
        pairs = np.unique(sets[0] * (sets[1].max() + 1) + sets[1], return_inverse=True)[1]
        covariance = covariance - _one_way(influence, pairs)
    covariance, repaired = _non_negative(covariance)
    counts = tuple(int(codes.max()) + 1 for codes in sets)
    nothing = np.full(terms, np.nan)
    if min(counts) <= terms:
        return ClusterRobust(covariance, nothing, nothing, counts, repaired)
    with np.errstate(divide="ignore", invalid="ignore"):
        errors = np.sqrt(np.diag(covariance))
        errors = np.where(errors > 0, errors, np.nan)
        p = 2 * stats.t.sf(np.abs(estimates / errors), min(counts) - 1)
    return ClusterRobust(covariance, errors, p, counts, repaired)


def _one_way(influence: Floats, codes: Integers) -> Floats:
    """Covariance over clusters of one kind, with the finite-sample correction."""
    rows, terms = influence.shape
    count = int(codes.max()) + 1
    sums = np.column_stack([np.bincount(codes, column, count) for column in influence.T])
    correction = count / max(count - 1, 1) * (rows - 1) / (rows - terms)
    return np.asarray(correction * sums.T @ sums)


def _non_negative(covariance: Floats) -> tuple[Floats, bool]:
    """The covariance with its negative eigenvalues set to zero, and whether there were any."""
    scale = np.sqrt(np.maximum(np.abs(np.diag(covariance)), 1e-300))
    values, vectors = np.linalg.eigh(covariance / np.outer(scale, scale))
    if values[0] >= -1e-12 * abs(values[-1]):
        return covariance, False
    repaired = (vectors * np.maximum(values, 0)) @ vectors.T
    return np.asarray(repaired * np.outer(scale, scale)), True
