"""Logistic mixed model with crossed random intercepts, by the Laplace approximation.

    logit P(y = 1) = X beta + sum_k Z_k b_k,   b_k ~ N(0, theta_k^2 I)

The marginal likelihood has no closed form. It is approximated, as in lme4's `glmer(nAGQ = 1)`, by
a normal density around the joint mode of all random effects given (beta, theta): penalised
iteratively reweighted least squares finds the mode, and beta and theta are then optimised
*together* on

    d = -2 log p(y | mode) + |u|^2 + log|H|,   b = theta u,   H = I + Lambda Z'WZ Lambda.

(`nAGQ = 0` would take beta from the mode's equations instead; it differs in the second digit.) The
approximation is good where a level has many rows and pulls variances down where it has few; no
quadrature exists for crossed factors. The gradient of d is exact, the movement of the mode and of
the weights included. The factor with most levels is eliminated, as in mixed.py.

Sources: Bates, Maechler, Bolker & Walker, J. Stat. Software 67 (2015); Breslow & Clayton, JASA 88
(1993) 9-25 (Laplace approximation for crossed random effects).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import linalg, optimize, special

from scripts.statistics.flags import NOT_CONVERGED
from scripts.statistics.grouping import (
    Grouping,
    MixedModelError,
    check_numbers,
    make_groupings,
    orthogonal_design,
)
from scripts.statistics.mixed import DENSE_LEVELS, MixedFit, VarianceComponent

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

#: Linear predictors beyond this mean a probability of 0 or 1: the terms separate the answers.
LARGEST_LOGIT = 25.0
#: Standard deviation below which a random intercept is tried at zero, and what the deviance may
#: rise by there: the criterion is flat in log theta where theta vanishes.
NEAR_ZERO_SD, FLAT = 0.05, 1e-4
#: Newton steps for the mode stop when the objective would fall by less than this. log|H| moves with
#: the square root of it.
MODE_TOLERANCE = 1e-11


class Layout(NamedTuple):
    """The data of a logistic mixed model, with the places of weighted cross-products.

    `q`: (rows, terms) with unit mean square and orthogonal columns; `codes`: one array a factor,
    the eliminated one first; `places`: for each other factor, where a row falls in Z_1'W Z_rest,
    flattened to levels_1 x rest.
    """

    y: Floats
    q: Floats
    groupings: tuple[Grouping, ...]
    offsets: tuple[int, ...]
    rest: int

    @property
    def first(self) -> Grouping:
        """The factor that is eliminated."""
        return self.groupings[0]

    def spread(self, effects: Floats, theta: Floats) -> Floats:
        """Z Lambda u, one value a row."""
        out = theta[0] * effects[: self.first.levels][self.first.codes]
        for k, grouping in enumerate(self.groupings[1:], start=1):
            block = effects[self.first.levels + self.offsets[k - 1] :]
            out += theta[k] * block[grouping.codes]
        return np.asarray(out)

    def collect(self, values: Floats, theta: Floats) -> Floats:
        """Lambda Z'v, one value a level, the first factor's levels first."""
        return np.concatenate(
            [
                scale * np.bincount(g.codes, values, g.levels)
                for scale, g in zip(theta, self.groupings, strict=True)
            ]
        )


@dataclass(frozen=True)
class System:
    """H = I + Lambda Z'WZ Lambda factorised: diagonal of the first block, Schur complement.

    `link` = D^-1 H_12 (levels_1 x rest); `lower` is the Cholesky factor of the complement.
    """

    diagonal: Floats
    link: Floats
    lower: Floats

    def solve(self, right: Floats) -> Floats:
        """H^-1 right, for one or several right-hand sides."""
        size = self.diagonal.size
        scaled = (right[:size].T / self.diagonal).T
        last = linalg.cho_solve(
            (self.lower, True), right[size:] - self.link.T @ right[:size], check_finite=False
        )
        return np.concatenate([scaled - self.link @ last, last])

    @property
    def log_determinant(self) -> float:
        """log|H|."""
        return float(np.log(self.diagonal).sum()) + 2 * float(np.log(np.diag(self.lower)).sum())


def factorise(layout: Layout, weights: Floats, theta: Floats) -> System:
    """Factorise H for one weight a row."""
    first, size = layout.first, layout.rest
    diagonal = 1 + theta[0] ** 2 * np.bincount(first.codes, weights, first.levels)
    cross = np.zeros((first.levels, size))
    inner = np.zeros((size, size))
    for k, grouping in enumerate(layout.groupings[1:], start=1):
        columns = slice(layout.offsets[k - 1], layout.offsets[k])
        cross[:, columns] = theta[0] * theta[k] * _table(first, grouping, weights)
        for m, other in enumerate(layout.groupings[k:], start=k):
            place = slice(layout.offsets[m - 1], layout.offsets[m])
            block = theta[k] * theta[m] * _table(grouping, other, weights)
            inner[columns, place] = block
            inner[place, columns] = block.T
    link = cross / diagonal[:, None]
    lower = linalg.cholesky(np.eye(size) + inner - cross.T @ link, lower=True, check_finite=False)
    return System(diagonal, link, lower)


def _table(first: Grouping, second: Grouping, weights: Floats) -> Floats:
    """Sums of the weights over the pairs of levels of two factors."""
    if first is second:
        return np.asarray(np.diag(np.bincount(first.codes, weights, first.levels)), dtype=float)
    cells = np.bincount(
        first.codes * second.levels + second.codes, weights, first.levels * second.levels
    )
    return np.asarray(cells.reshape(first.levels, second.levels), dtype=float)


class Mode(NamedTuple):
    """The joint mode of the standardised random effects u, and the quantities at it."""

    effects: Floats
    penalised: float
    residuals: Floats
    probabilities: Floats
    weights: Floats
    system: System


def find_mode(layout: Layout, beta: Floats, theta: Floats, start: Floats) -> Mode:
    """Penalised iteratively reweighted least squares for u at fixed beta and theta."""
    fixed = layout.q @ beta
    effects, eta = start, fixed + layout.spread(start, theta)
    value = _penalised(layout.y, eta, effects)
    for _ in range(100):
        probabilities = special.expit(eta)
        residuals, weights = layout.y - probabilities, probabilities * (1 - probabilities)
        system = factorise(layout, weights, theta)
        score = layout.collect(residuals, theta) - effects
        step = system.solve(score)
        gain = float(score @ step)
        if gain < MODE_TOLERANCE:
            break
        shift, length = layout.spread(step, theta), 1.0
        new = _penalised(layout.y, eta + shift, effects + step)
        while new > value + 1e-9 * abs(value):
            length /= 2
            new = _penalised(layout.y, eta + length * shift, effects + length * step)
        effects, eta, value = effects + length * step, eta + length * shift, new
    return Mode(effects, value, residuals, probabilities, weights, system)


def _penalised(y: Floats, eta: Floats, effects: Floats) -> float:
    """-2 log p(y | u) + |u|^2."""
    return 2 * float(np.logaddexp(0, eta).sum() - y @ eta) + float(effects @ effects)


def _leverages(layout: Layout, system: System, theta: Floats) -> tuple[Floats, Floats]:
    """(z_i Lambda H^-1 Lambda z_i' of every row, trace of H^-1 over each factor's block)."""
    first = layout.first
    inverse = linalg.cho_solve((system.lower, True), np.eye(layout.rest), check_finite=False)
    corner = system.link @ inverse
    head = 1 / system.diagonal + np.einsum("ij,ij->i", corner, system.link)
    rows = (theta[0] ** 2 * head)[first.codes]
    traces = [float(head.sum())]
    for k, grouping in enumerate(layout.groupings[1:], start=1):
        own = layout.offsets[k - 1] + grouping.codes
        rows -= 2 * theta[0] * theta[k] * corner[first.codes, own]
        traces.append(float(np.diag(inverse)[layout.offsets[k - 1] : layout.offsets[k]].sum()))
        for m, other in enumerate(layout.groupings[1:], start=1):
            place = layout.offsets[m - 1] + other.codes
            rows += theta[k] * theta[m] * inverse[own, place]
    return rows, np.array(traces)


class LaplaceCriterion:
    """The Laplace deviance d and its gradient in (beta, log theta), with a warm-started mode."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.effects = np.zeros(layout.first.levels + layout.rest)
        self.evaluations = 0

    def split(self, parameters: Floats) -> tuple[Floats, Floats]:
        """(beta, theta) of a parameter vector."""
        terms = self.layout.q.shape[1]
        return parameters[:terms], np.exp(np.clip(parameters[terms:], -12, 6))

    def __call__(self, parameters: Floats) -> tuple[float, Floats]:
        """Deviance and gradient."""
        beta, theta = self.split(parameters)
        layout = self.layout
        mode = find_mode(layout, beta, theta, self.effects)
        self.effects = mode.effects
        self.evaluations += 1
        deviance = mode.penalised + mode.system.log_determinant
        leverage, traces = _leverages(layout, mode.system, theta)
        change = leverage * mode.weights * (1 - 2 * mode.probabilities)
        moved = mode.system.solve(layout.collect(change, theta))
        net = change - mode.weights * layout.spread(moved, theta)
        slopes = list(layout.q.T @ (net - 2 * mode.residuals))
        start = 0
        for k, grouping in enumerate(layout.groupings):
            block = slice(start, start + grouping.levels)
            start = block.stop
            along = float(net @ mode.effects[block][grouping.codes])
            sums = np.bincount(grouping.codes, mode.residuals, grouping.levels)
            explicit = float((moved[block] - 2 * mode.effects[block]) @ sums)
            trace = 2 * (grouping.levels - traces[k])
            slopes.append(theta[k] * (along + explicit) + trace)
        return deviance, np.array(slopes)


def fit_logistic_mixed(
    response: Sequence[float] | pd.Series | Floats,
    design: pd.DataFrame,
    groups: Mapping[str, Sequence[object] | pd.Series],
) -> MixedFit:
    """Fit logit P(y = 1) ~ design + (1|group) for every group, crossed, by Laplace approximation.

    `response`: 0 or 1 a row; `design` and `groups` as in mixed.fit_linear_mixed. Estimates are log
    odds ratios; `covariance` is the inverse of the observed information of (beta, theta) jointly,
    as in glmer; `residual_variance` is NaN and `log_likelihood` the Laplace approximation.
    A variance on the boundary is 0 and `singular`. Raises MixedModelError as the linear model does,
    and when terms separate the answers, so that a coefficient has no finite estimate.
    """
    y, x = check_numbers(response, design)
    if not np.isin(y, (0, 1)).all():
        raise MixedModelError("a logistic model needs answers of 0 and 1")
    terms = tuple(map(str, design.columns))
    q, triangle = orthogonal_design(x, terms)
    groupings = make_groupings(groups, y.size)
    scale = math.sqrt(y.size)
    fit = _fit(y, q * scale, groupings)
    transform = linalg.solve_triangular(triangle, np.eye(len(terms))) * scale
    sizes = {g.name: g.levels for g in groupings}
    return MixedFit(
        terms=terms,
        estimates=transform @ fit.beta,
        covariance=transform @ fit.covariance @ transform.T,
        components=tuple(
            VarianceComponent(name, fit.sd[name] ** 2, sizes[name], fit.sd[name] == 0)
            for name in groups
        ),
        residual_variance=math.nan,
        log_likelihood=-fit.deviance / 2,
        method="Laplace",
        n=y.size,
        converged=fit.converged,
        evaluations=fit.evaluations,
    )


class _Found(NamedTuple):
    beta: Floats
    covariance: Floats
    sd: dict[str, float]
    deviance: float
    converged: bool
    evaluations: int


def _layout(y: Floats, q: Floats, groupings: Sequence[Grouping]) -> Layout:
    offsets = tuple(np.cumsum([0, *(grouping.levels for grouping in groupings[1:])]).tolist())
    if offsets[-1] > DENSE_LEVELS:
        raise MixedModelError(
            f"groups {[g.name for g in groupings[1:]]} have {offsets[-1]} levels; all but the "
            f"largest factor may have {DENSE_LEVELS} together"
        )
    return Layout(y, q, tuple(groupings), offsets, offsets[-1])


def _fit(y: Floats, q: Floats, groupings: Sequence[Grouping]) -> _Found:
    """Optimise, then drop the factors whose variance is zero and fit the others again."""
    beta, information = logistic_regression(y, q)
    if not groupings:
        deviance = _penalised(y, q @ beta, np.zeros(1))
        return _Found(beta, np.asarray(np.linalg.inv(information)), {}, deviance, True, 0)
    criterion = LaplaceCriterion(_layout(y, q, groupings))
    start = np.concatenate([beta, np.full(len(groupings), math.log(0.5))])
    inverse = np.diag([0.5] * len(beta) + [0.25 / g.levels for g in groupings])
    inverse[: len(beta), : len(beta)] = _fixed_covariance(criterion.layout, beta) / 2
    rough = optimize.minimize(
        criterion,
        start,
        jac=True,
        method="BFGS",
        options={"hess_inv0": inverse, "gtol": 1e-3, "maxiter": 200},
    )
    beta, theta = criterion.split(rough.x)
    small = theta < NEAR_ZERO_SD
    if small.any():
        kept = [g for g, drop in zip(groupings, small, strict=True) if not drop]
        reduced = _fit(y, q, kept)
        if reduced.deviance <= float(rough.fun) + FLAT:
            zero = {g.name: 0.0 for g, drop in zip(groupings, small, strict=True) if drop}
            return reduced._replace(
                sd=reduced.sd | zero, evaluations=reduced.evaluations + criterion.evaluations
            )
    point, deviance, hessian, converged = _newton(criterion, rough.x, rough.hess_inv)
    beta, theta = criterion.split(point)
    _check_finite(q @ beta)
    covariance = np.asarray(2 * np.linalg.inv(hessian)[: beta.size, : beta.size], dtype=float)
    sd = {g.name: float(value) for g, value in zip(groupings, theta, strict=True)}
    return _Found(beta, covariance, sd, deviance, converged, criterion.evaluations)


def _fixed_covariance(layout: Layout, beta: Floats) -> Floats:
    """Covariance of beta at theta = 0.5 from the working weights: a scale for the optimiser."""
    theta = np.full(len(layout.groupings), 0.5)
    probabilities = special.expit(layout.q @ beta)
    weights = probabilities * (1 - probabilities)
    weighted = layout.q * weights[:, None]
    sides = np.column_stack([layout.collect(column, theta) for column in weighted.T])
    system = factorise(layout, weights, theta)
    found = np.linalg.inv(layout.q.T @ weighted - sides.T @ system.solve(sides))
    return np.asarray((found + found.T) / 2)


def _newton(
    criterion: Callable[[Floats], tuple[float, Floats]], start: Floats, scale: Floats
) -> tuple[Floats, float, Floats, bool]:
    """Newton steps with a central-difference Hessian: (point, deviance, Hessian, converged)."""
    width = 3e-2 * np.sqrt(np.maximum(np.diag(scale), 1e-10))
    columns = []
    for i, h in enumerate(width):
        step = np.zeros(start.size)
        step[i] = h
        columns.append((criterion(start + step)[1] - criterion(start - step)[1]) / (2 * h))
    hessian = (np.array(columns) + np.array(columns).T) / 2
    if np.linalg.eigvalsh(hessian)[0] <= 0:
        raise MixedModelError(
            "the likelihood has no maximum: a coefficient or variance diverges", NOT_CONVERGED
        )
    point, (value, slope) = start, criterion(start)
    for _ in range(10):
        step = -np.linalg.solve(hessian, slope)
        gain = float(-slope @ step) / 2
        new_value, new_slope = criterion(point + step)
        if new_value > value + 1e-8 * abs(value):
            return point, value, hessian, gain < 1e-4
        point, value, slope = point + step, new_value, new_slope
        if gain < 1e-10 * max(1.0, abs(value)):
            return point, value, hessian, True
    return point, value, hessian, gain < 1e-4


def _check_finite(eta: Floats) -> None:
    if np.abs(eta).max() > LARGEST_LOGIT:
        raise MixedModelError(
            "the terms separate right from wrong answers: a coefficient has no finite estimate",
            NOT_CONVERGED,
        )


def logistic_regression(y: Floats, q: Floats) -> tuple[Floats, Floats]:
    """Coefficients and information of an ordinary logistic regression, by Newton's method.

    Raises MixedModelError when the columns separate the answers.
    """
    beta = np.zeros(q.shape[1])
    for _ in range(60):
        eta = q @ beta
        _check_finite(eta)
        probabilities = special.expit(eta)
        weights = probabilities * (1 - probabilities)
        information = q.T @ (q * weights[:, None])
        step = np.linalg.solve(information, q.T @ (y - probabilities))
        beta = beta + step
        if np.abs(step).max() < 1e-9 * (1 + np.abs(beta).max()):
            break
    return beta, information
