"""Linear probes: how well a calendar value can be read from hidden states, how straight it lies.

Five numbers with names of their own, because "R² of a linear probe" (MultiTempBench, Equation 5)
may mean any of them:

- `r2_cv`: the value from the state by ridge regression, out of fold: decodability;
- `r2_extrapolation`: the same with folds of contiguous years;
- `r2_line`: the state from the value, weighted by variance: straightness;
- `r2_released`: the same with every dimension weighted alike, as the authors' script computes it;
- `r2_in_sample`: Equation 5 as written; 1 on noise once a state has as many dimensions as there are
  points, so it only serves as a caution.

Ridge regression in its dual form (Hastie, Tibshirani & Friedman 2009, section 18.3.5): with far
fewer points than dimensions one eigendecomposition of the points' inner products gives all
penalties, all inner folds and all targets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scripts.statistics.seeding import cell_generator

Array = NDArray[np.float64]
COMPONENTS = ("year", "month", "day")
NAN = float("nan")
#: A dimension that varies by less than this share of its size holds rounding, not information.
RELATIVE_RESOLUTION = 1e-6
#: In the in-sample fit, eigenvalues below this share of the largest count as zero.
RANK_TOLERANCE = 1e-12


@dataclass(frozen=True, slots=True)
class ProbeSettings:
    """How probes are validated. `penalties` are ridge penalties on standardised states."""

    folds: int
    repetitions: int
    permutations: int
    penalties: tuple[float, ...]
    seed: int


@dataclass(frozen=True, slots=True)
class Validated:
    """Out-of-fold predictions (points, targets) and the penalties chosen (folds, targets)."""

    predicted: Array
    penalties: Array


def standardise(train: Array, *others: Array) -> list[Array]:
    """Centre and scale by the training rows; a dimension that does not vary there becomes 0."""
    mean = train.mean(axis=0)
    spread = train.std(axis=0)
    informative = spread > RELATIVE_RESOLUTION * np.abs(train).max(axis=0)
    scale = np.zeros_like(spread)
    scale[informative] = 1.0 / spread[informative]
    return [(rows - mean) * scale for rows in (train, *others)]


def cross_validate(
    states: Array, targets: Array, folds: NDArray[np.int64], penalties: Sequence[float]
) -> Validated:
    """Nested cross-validation of ridge regression from states (n, d) to targets (n, t).

    `folds` labels the outer fold of each point; the inner folds that choose the penalty (for each
    target on its own) are the outer folds that remain. States are standardised by the training rows
    of the outer fold; the intercept is not penalised. Among equally good penalties the largest is
    taken.
    """
    candidates = np.sort(np.asarray(penalties, dtype=float))[::-1]
    labels = np.unique(folds)
    if len(labels) < 3:
        raise ValueError(f"{len(labels)} folds; nested cross-validation needs 3 or more")
    predicted = np.empty_like(targets, dtype=float)
    chosen = np.empty((len(labels), targets.shape[1]))
    for row, label in enumerate(labels):
        test = folds == label
        train = ~test
        fitted, held_out = standardise(states[train], states[test])
        mean = targets[train].mean(axis=0)
        values, vectors = np.linalg.eigh(fitted @ fitted.T)
        # What rounding leaves of a zero (the centred points always have one) would count against a
        # small penalty.
        values[values < len(values) * np.finfo(float).eps * values[-1]] = 0.0
        rotated = vectors.T @ (targets[train] - mean)
        errors = _inner_errors(values, vectors, rotated, folds[train], candidates)
        chosen[row] = candidates[errors.argmin(axis=0)]
        weights = rotated / (values[:, None] + chosen[row])
        predicted[test] = (held_out @ fitted.T) @ vectors @ weights + mean
    return Validated(predicted, chosen)


def _inner_errors(
    values: Array, vectors: Array, rotated: Array, folds: NDArray[np.int64], penalties: Array
) -> Array:
    """Sum of squared errors (penalties, targets) over the inner folds, from one decomposition.

    Leaving out the points G changes a linear smoother's residuals to (I - H)_GG⁻¹ (y - Hy)_G, where
    H is the hat matrix with intercept (the identity behind leave-one-out; Cook & Weisberg 1982).
    """
    shrunk = penalties[:, None] / (values + penalties[:, None])
    smoothed = shrunk[:, :, None] * rotated
    total = np.zeros((len(penalties), rotated.shape[1]))
    for label in np.unique(folds):
        block = vectors[folds == label]
        kept = (block * shrunk[:, None, :]) @ block.T - 1.0 / len(folds)
        total += (np.linalg.solve(kept, block @ smoothed) ** 2).sum(axis=1)
    return total


def r_squared(targets: Array, predicted: Array) -> Array:
    """Pooled R² of each target: 1 - Σ(y - ŷ)² / Σ(y - ȳ)² over all points; NaN for a constant."""
    total = ((targets - targets.mean(axis=0)) ** 2).sum(axis=0)
    left = ((targets - predicted) ** 2).sum(axis=0)
    return np.where(total > 0, 1.0 - left / np.where(total > 0, total, 1.0), NAN)


def shuffled_folds(
    years: NDArray[np.int64], folds: int, seed: int, repetition: int
) -> NDArray[np.int64]:
    """The fold of each point: whole years, shuffled; the same for every model and cell."""
    distinct = np.unique(years)
    labels = np.arange(len(distinct)) % folds
    cell_generator(seed, "probing", "folds", repetition).shuffle(labels)
    return labels[np.searchsorted(distinct, years)]


def contiguous_folds(years: NDArray[np.int64], folds: int) -> NDArray[np.int64]:
    """The fold of each point: blocks of consecutive years, as equal in size as can be."""
    distinct = np.unique(years)
    labels = np.arange(len(distinct)) * folds // len(distinct)
    return labels[np.searchsorted(distinct, years)]


@dataclass(frozen=True, slots=True)
class Decoding:
    """Cross-validated decodability of one target.

    `null` are the R² of its permutations (first repetition), `penalty` the geometric mean of the
    penalties chosen.
    """

    r2_cv: float
    r2_extrapolation: float
    null: Array
    penalty: float


def decode(
    states: Array, targets: Array, years: ArrayLike, settings: ProbeSettings
) -> list[Decoding]:
    """Decodability of each target (n, t) from states (n, d); folds keep a year together.

    The permutations are further targets on the decompositions of the first repetition, so they cost
    little. They are drawn from the seed alone: the same for every model, layer and format.
    """
    groups = np.asarray(years, dtype=np.int64)
    count = targets.shape[1]
    permuted = _permuted(targets, settings)
    scores, penalties = [], []
    null = np.empty((0, count))
    for repetition in range(settings.repetitions):
        folds = shuffled_folds(groups, settings.folds, settings.seed, repetition)
        asked = np.hstack([targets, permuted]) if repetition == 0 else targets
        found = cross_validate(states, asked, folds, settings.penalties)
        score = r_squared(asked, found.predicted)
        scores.append(score[:count])
        penalties.append(found.penalties[:, :count])
        if repetition == 0:
            null = score[count:].reshape(-1, count)
    blocks = cross_validate(
        states, targets, contiguous_folds(groups, settings.folds), settings.penalties
    )
    extrapolated = r_squared(targets, blocks.predicted)
    means = np.mean(scores, axis=0)
    typical = np.exp(np.log(np.vstack(penalties)).mean(axis=0))
    return [
        Decoding(float(means[t]), float(extrapolated[t]), null[:, t], float(typical[t]))
        for t in range(count)
    ]


def _permuted(targets: Array, settings: ProbeSettings) -> Array:
    """(n, permutations x t): each permutation reorders the points of all targets alike."""
    generator = cell_generator(settings.seed, "probing", "permutations", len(targets))
    orders = [generator.permutation(len(targets)) for _ in range(settings.permutations)]
    return np.hstack([targets[order] for order in orders]) if orders else targets[:, :0]


def random_states(shape: tuple[int, int], seed: int, *key: str | int) -> Array:
    """States that know nothing: independent standard normal numbers."""
    return cell_generator(seed, "probing", "random", *key).standard_normal(shape)


@dataclass(frozen=True, slots=True)
class Straightness:
    """How much of the states' variance lies on a straight line along the values."""

    r2_line: float
    r2_released: float


def straightness(points: Array, values: ArrayLike) -> Straightness:
    """Regress points (m, d) on values (m,), one point a value, by least squares.

    `r2_line` is 1 - ‖H - Ĥ‖² / ‖H - H̄‖² over all dimensions together: 1 for a straight, evenly
    paced path. `r2_released` is the mean of the dimensions' own R². NaN where all points are equal.
    """
    centred = points - points.mean(axis=0)
    number = np.asarray(values, dtype=float)
    number = number - number.mean()
    total = (centred**2).sum(axis=0)
    varies = np.sqrt(total) > RELATIVE_RESOLUTION * np.abs(points).max(axis=0)
    if not varies.any() or not number.any():
        return Straightness(NAN, NAN)
    explained = (number @ centred[:, varies]) ** 2 / (number @ number)
    shares = explained / total[varies]
    return Straightness(float(explained.sum() / total[varies].sum()), float(shares.mean()))


def in_sample(states: Array, targets: Array) -> Array:
    """R² of ordinary least squares from states (n, d) to targets (n, t) on the fitted points.

    The solution of least norm; where the states span the points (d ≥ n - 1 in general) it is 1
    whatever they hold. Equation 5 of the paper as written.
    """
    (scaled,) = standardise(states)
    values, vectors = np.linalg.eigh(scaled @ scaled.T)
    span = vectors[:, values > RANK_TOLERANCE * max(float(values[-1]), np.finfo(float).tiny)]
    centred = targets - targets.mean(axis=0)
    return r_squared(targets, targets.mean(axis=0) + span @ (span.T @ centred))


def means_by_value(states: Array, values: NDArray[np.int64]) -> tuple[Array, NDArray[np.int64]]:
    """The mean state of each distinct value, and the values, ascending."""
    distinct, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    sums = np.zeros((len(distinct), states.shape[1]))
    np.add.at(sums, inverse, states)
    return sums / counts[:, None], distinct
