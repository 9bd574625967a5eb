"""Linear mixed model with any number of crossed random intercepts, by profiled likelihood.

    y = X beta + sum_k Z_k b_k + e,   b_k ~ N(0, sigma^2 gamma_k I),   e ~ N(0, sigma^2 I)

The likelihood depends on the data through cross-products only, so an evaluation costs nothing per
row. The factor with most levels has a diagonal block and is eliminated analytically; what remains,
one row a level of the other factors, is factorised densely. beta and sigma are profiled out; the
relative variances gamma are found on the log scale with the exact gradient. Log-likelihood,
standard errors and variances follow the conventions of lme4 (`lmer`).

Sources: Bates, Maechler, Bolker & Walker, J. Stat. Software 67 (2015), sections 3.4-3.6 (profiled
deviance and REML criterion); Searle, Casella & McCulloch, Variance Components (1992), ch. 6
(derivatives).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import linalg, optimize, sparse, special, stats

from scripts.statistics.flags import CONSTANT
from scripts.statistics.grouping import (
    Grouping,
    MixedModelError,
    check_numbers,
    indicator,
    make_groupings,
    orthogonal_design,
)
from scripts.statistics.wald import two_sided_p, wald_z

Floats = NDArray[np.float64]
Method = Literal["REML", "ML"]

#: Most levels, all factors but the largest together, for the dense part (2 GB at 16,000).
DENSE_LEVELS = 10_000
#: Bytes that may hold the Gram matrices of the distinct level sizes.
GRAM_BYTES = 64 << 20
#: Variance times level size below which a variance is tried at zero.
NEAR_ZERO = 1e-3
#: Largest step of the last Newton iteration, in log relative variance.
STEP_TOLERANCE = 1e-7


class VarianceComponent(NamedTuple):
    """The random intercept of one grouping factor; `singular`: estimated on the boundary, zero."""

    group: str
    variance: float
    levels: int
    singular: bool

    @property
    def sd(self) -> float:
        """Standard deviation."""
        return math.sqrt(self.variance)


@dataclass(frozen=True)
class MixedFit:
    """A fitted mixed model. Arrays follow `terms`; `residual_variance` is NaN for logistic models.

    `covariance` (terms x terms) is the inverse information of the fixed effects.
    """

    terms: tuple[str, ...]
    estimates: Floats
    covariance: Floats
    components: tuple[VarianceComponent, ...]
    residual_variance: float
    log_likelihood: float
    method: str
    n: int
    converged: bool
    evaluations: int

    @property
    def standard_errors(self) -> Floats:
        """Standard errors of the fixed effects."""
        return np.sqrt(np.diag(self.covariance))

    @property
    def z(self) -> Floats:
        """Wald statistics, estimate / SE."""
        return np.asarray(self.estimates / self.standard_errors, dtype=float)

    @property
    def p(self) -> Floats:
        """Two-sided p of the Wald statistics, standard normal."""
        return np.asarray(2 * special.ndtr(-np.abs(self.z)), dtype=float)

    def interval(self, level: float = 0.95) -> tuple[Floats, Floats]:
        """Wald interval of every fixed effect."""
        half = float(special.ndtri(0.5 + level / 2)) * self.standard_errors
        return self.estimates - half, self.estimates + half

    @property
    def singular(self) -> bool:
        """True if a variance lies on the boundary."""
        return any(component.singular for component in self.components)

    @property
    def parameters(self) -> int:
        """Number of parameters: fixed effects and variances, the residual's included."""
        return len(self.terms) + len(self.components) + (not math.isnan(self.residual_variance))

    def component(self, group: str) -> VarianceComponent:
        """The variance component of a grouping factor."""
        return next(c for c in self.components if c.group == group)


class CrossProducts(NamedTuple):
    """What the likelihood needs of the data, for columns U (rows x m) and the groupings.

    `total` = [Z_rest U]'[Z_rest U]; `first_rest` = Z_1'Z_rest (levels x q, sparse); `first_columns`
    = Z_1'U; `grams` holds H'H of H = [first_rest, first_columns] summed over the levels of each
    distinct size, or None where that would take too much memory.
    """

    groupings: tuple[Grouping, ...]
    total: Floats
    first_rest: sparse.csr_matrix
    first_columns: Floats
    sizes: Floats
    inverse: NDArray[np.int64]
    grams: Floats | None

    @property
    def rest(self) -> int:
        """Levels of all factors but the first."""
        return int(self.first_rest.shape[1])

    @property
    def counts(self) -> Floats:
        """Rows of each level of the first factor."""
        return np.asarray(self.sizes[self.inverse], dtype=float)

    def weighted_gram(self, weights: Floats) -> Floats:
        """H' diag(w) H, (q + m) x (q + m), for one weight per distinct level size."""
        if self.grams is not None:
            return np.asarray(np.tensordot(weights, self.grams, axes=1), dtype=float)
        return _gram(self.first_rest, self.first_columns, weights[self.inverse])


def _gram(rest: sparse.csr_matrix, columns: Floats, weights: Floats) -> Floats:
    """[rest columns]' diag(weights) [rest columns], dense."""
    weighted = sparse.diags_array(weights).tocsr() @ rest
    q, m = rest.shape[1], columns.shape[1]
    out = np.empty((q + m, q + m))
    out[:q, :q] = (rest.T @ weighted).toarray()
    out[:q, q:] = weighted.T @ columns
    out[q:, :q] = out[:q, q:].T
    out[q:, q:] = columns.T @ (columns * weights[:, None])
    return out


def cross_products(groupings: Sequence[Grouping], columns: Floats | Any) -> CrossProducts:
    """Cross-products of the columns (rows x m, dense or sparse) with the grouping factors.

    The first grouping is the one that is eliminated. Raises MixedModelError when the others have
    too many levels for a dense factorisation.
    """
    rest = sum(grouping.levels for grouping in groupings[1:])
    if rest > DENSE_LEVELS:
        raise MixedModelError(
            f"groups {[g.name for g in groupings[1:]]} have {rest} levels; all but the largest "
            f"factor may have {DENSE_LEVELS} together"
        )
    first = indicator(groupings[0])
    rows = first.shape[0]
    others = sparse.hstack(
        [indicator(grouping) for grouping in groupings[1:]] or [sparse.csr_matrix((rows, 0))],
        format="csr",
    )
    first_rest = (first.T @ others).tocsr()
    first_columns = _dense(first.T @ columns)
    total = np.empty((rest + first_columns.shape[1],) * 2)
    total[:rest, :rest] = _dense(others.T @ others)
    total[:rest, rest:] = _dense(others.T @ columns)
    total[rest:, :rest] = total[:rest, rest:].T
    total[rest:, rest:] = _dense(columns.T @ columns)
    sizes, inverse = np.unique(groupings[0].counts, return_inverse=True)
    grams = None
    if sizes.size * total.nbytes <= GRAM_BYTES:
        grams = np.stack(
            [
                _gram(first_rest, first_columns, (inverse == i).astype(float))
                for i in range(sizes.size)
            ]
        )
    return CrossProducts(
        tuple(groupings), total, first_rest, first_columns, sizes.astype(float), inverse, grams
    )


def _dense(matrix: Any) -> Floats:
    return np.asarray(matrix.toarray() if sparse.issparse(matrix) else matrix, dtype=float)


class Elimination(NamedTuple):
    """The precision-weighted cross-products at relative variances gamma; V = I + sum gamma ZZ'.

    `gram` = U'V^-1 U; `grouped` = Z_k'V^-1 U by factor; `log_determinant` = log|V|; `traces` =
    tr(Z_k'V^-1 Z_k) by factor (empty unless asked for).
    """

    gram: Floats
    grouped: tuple[Floats, ...]
    log_determinant: float
    traces: Floats


def eliminate(products: CrossProducts, gamma: Floats, traces: bool = False) -> Elimination:
    """U'V^-1 U and Z_k'V^-1 U by block elimination; see Elimination."""
    q = products.rest
    levels = [grouping.levels for grouping in products.groupings[1:]]
    scale = np.sqrt(np.repeat(gamma[1:], levels))
    shrink = 1 + gamma[0] * products.sizes
    reduced = products.total - products.weighted_gram(gamma[0] / shrink)
    system = np.eye(q) + scale[:, None] * reduced[:q, :q] * scale
    lower = linalg.cholesky(system, lower=True, check_finite=False)
    half = linalg.solve_triangular(
        lower, scale[:, None] * reduced[:q, q:], lower=True, check_finite=False
    )
    gram = reduced[q:, q:] - half.T @ half
    project = -scale[:, None] * linalg.solve_triangular(
        lower, half, lower=True, trans="T", check_finite=False
    )
    rest = reduced[:q, q:] + reduced[:q, :q] @ project
    first = products.first_columns + products.first_rest @ project
    first /= shrink[products.inverse][:, None]
    counts = np.bincount(products.inverse, minlength=shrink.size)
    log_determinant = float(counts @ np.log(shrink)) + 2 * float(np.log(np.diag(lower)).sum())
    found = _traces(products, gamma, reduced[:q, :q], lower) if traces else np.empty(0)
    grouped = (first, *np.split(rest, np.cumsum(levels)[:-1])) if levels else (first,)
    return Elimination(gram, grouped, log_determinant, found)


def inverse_from_factor(lower: Floats) -> Floats:
    """Inverse of a positive definite matrix from its lower Cholesky factor."""
    if not lower.size:
        return lower
    triangle = np.tril(linalg.lapack.dpotri(lower, lower=1)[0])
    return np.asarray(triangle + np.tril(triangle, -1).T)


def _traces(products: CrossProducts, gamma: Floats, reduced: Floats, lower: Floats) -> Floats:
    """tr(Z_k'V^-1 Z_k) of every factor, from the reduced system and its Cholesky factor."""
    levels = [grouping.levels for grouping in products.groupings[1:]]
    scale, shrink = np.sqrt(np.repeat(gamma[1:], levels)), 1 + gamma[0] * products.sizes
    inverse = inverse_from_factor(lower)
    counts = np.bincount(products.inverse, minlength=shrink.size)
    slope = products.weighted_gram(shrink**-2.0)[: products.rest, : products.rest]
    scaled = inverse * scale[:, None] * scale
    out = [float(counts @ (products.sizes / shrink)) - float(np.vdot(scaled, slope))]
    start = 0
    for relative, size in zip(gamma[1:], levels, strict=True):
        block = slice(start, start + size)
        start = block.stop
        total = float(np.diag(reduced)[block].sum())
        if relative * total > 1e-4 * size:
            out.append((size - float(np.diag(inverse)[block].sum())) / relative)
        else:  # the difference above would lose its digits
            columns = scale[:, None] * reduced[:, block]
            out.append(total - float(np.vdot(columns, inverse @ columns)))
    return np.array(out)


class Evaluation(NamedTuple):
    """-2 log-likelihood at gamma, its gradient in gamma, and the profiled estimates.

    `beta` belongs to the orthonormal design, `unscaled` is (Q'V^-1 Q)^-1, `sigma2` the residual
    variance.
    """

    deviance: float
    gradient: Floats
    beta: Floats
    unscaled: Floats
    sigma2: float
    grouped: tuple[Floats, ...]


class Problem(NamedTuple):
    """Cross-products of [Q, y], number of rows, log|R|^2, and the likelihood to maximise."""

    products: CrossProducts
    rows: int
    log_scale: float
    reml: bool


def evaluate(problem: Problem, gamma: Floats, gradient: bool = True) -> Evaluation:
    """The profiled criterion of lme4 at the relative variances gamma >= 0."""
    found = eliminate(problem.products, gamma, traces=gradient)
    terms = found.gram.shape[0] - 1
    factor = linalg.cholesky(found.gram[:terms, :terms], lower=True, check_finite=False)
    beta = linalg.cho_solve((factor, True), found.gram[:terms, terms], check_finite=False)
    residual = float(found.gram[terms, terms] - found.gram[terms, :terms] @ beta)
    freedom = problem.rows - terms if problem.reml else problem.rows
    deviance = found.log_determinant + freedom * (1 + math.log(2 * math.pi * residual / freedom))
    if problem.reml:
        deviance += 2 * float(np.log(np.diag(factor)).sum()) + problem.log_scale
    slopes = np.empty(0)
    if gradient:
        contrast = np.append(-beta, 1.0)
        explained = np.array([np.sum((block @ contrast) ** 2) for block in found.grouped])
        slopes = found.traces - freedom / residual * explained
        if problem.reml:
            slopes -= [
                float(
                    np.sum(
                        linalg.solve_triangular(
                            factor, block[:, :terms].T, lower=True, check_finite=False
                        )
                        ** 2
                    )
                )
                for block in found.grouped
            ]
    unscaled = linalg.cho_solve((factor, True), np.eye(terms), check_finite=False)
    return Evaluation(deviance, slopes, beta, unscaled, residual / freedom, found.grouped)


def fit_linear_mixed(
    response: Sequence[float] | pd.Series | Floats,
    design: pd.DataFrame,
    groups: Mapping[str, Sequence[object] | pd.Series],
    method: Method = "REML",
) -> MixedFit:
    """Fit y ~ design + (1|group) for every group, crossed, by REML or ML.

    `response`: (rows,); `design`: one numeric column a term, the intercept included (see
    `factorial_design`); `groups`: name -> one label a row (see grouping.py for nesting). The
    log-likelihood is the restricted one for REML, with the constants of lme4. A variance on the
    boundary is exactly 0 and `singular`. Raises MixedModelError, naming the column or group, for
    missing values, a rank-deficient design, a constant response, or an unusable group.
    """
    return fit_prepared(prepare(response, design, groups), method)


def fit_prepared(model: Prepared, method: Method = "REML") -> MixedFit:
    """Fit a prepared model; see fit_linear_mixed."""
    problem = model.problem(method == "REML")
    sizes = np.array([problem.rows / grouping.levels for grouping in model.products.groupings])
    search = minimise(lambda gamma: evaluate(problem, gamma), starting_point(problem), sizes)
    return model.result(search, evaluate(problem, search.gamma, gradient=False), method)


def influence(model: Prepared, fit: MixedFit) -> Floats:
    """What each row adds to the fixed effects, rows x terms; the columns sum to zero.

    beta is linear in y: row i adds (X'V^-1 X)^-1 (V^-1 X)_i (y_i - x_i beta). Sums of it over
    clusters are the parts of a cluster-robust covariance (cluster.py).
    """
    gamma = model.relative_variances(fit)
    found = evaluate(model.problem(False), gamma, gradient=False)
    terms = len(model.terms)
    weighted = model.columns[:, :terms].copy()
    for relative, grouping, block in zip(
        gamma, model.products.groupings, found.grouped, strict=True
    ):
        weighted -= relative * block[grouping.codes, :terms]
    residuals = model.columns[:, terms] - model.columns[:, :terms] @ found.beta
    bread = linalg.solve_triangular(model.triangle, found.unscaled)
    return np.asarray((weighted @ bread.T) * residuals[:, None])


def precision_gram(model: Prepared, fit: MixedFit, columns: Any) -> Floats:
    """U'V^-1 U for columns U (rows x m, dense or sparse) at the fit's variances; V relative to the
    residual variance.
    """
    products = cross_products(model.products.groupings, columns)
    return eliminate(products, model.relative_variances(fit)).gram


@dataclass(frozen=True)
class Prepared:
    """Checked data of one model, reduced to cross-products; REML and ML share it.

    `columns` (rows x terms + 1): the orthonormal design Q and the least-squares residuals.
    """

    terms: tuple[str, ...]
    names: tuple[str, ...]
    products: CrossProducts
    columns: Floats
    triangle: Floats
    least_squares: Floats
    rows: int

    def relative_variances(self, fit: MixedFit) -> Floats:
        """gamma of a fit in the order of the groupings."""
        return np.array(
            [
                fit.component(g.name).variance / fit.residual_variance
                for g in self.products.groupings
            ]
        )

    def problem(self, reml: bool) -> Problem:
        """The criterion to minimise."""
        scale = 2 * float(np.log(np.diag(self.triangle)).sum())
        return Problem(self.products, self.rows, scale, reml)

    def result(self, search: Search, found: Evaluation, method: str) -> MixedFit:
        """Estimates on the scale of the design, components in the order of the groups."""
        inverse = linalg.solve_triangular(self.triangle, np.eye(len(self.terms)))
        components = {
            grouping.name: VarianceComponent(
                grouping.name, float(relative * found.sigma2), grouping.levels, bool(relative == 0)
            )
            for relative, grouping in zip(search.gamma, self.products.groupings, strict=True)
        }
        return MixedFit(
            terms=self.terms,
            estimates=self.least_squares + inverse @ found.beta,
            covariance=found.sigma2 * inverse @ found.unscaled @ inverse.T,
            components=tuple(components[name] for name in self.names),
            residual_variance=found.sigma2,
            log_likelihood=-found.deviance / 2,
            method=method,
            n=self.rows,
            converged=search.converged,
            evaluations=search.evaluations,
        )


def prepare(
    response: Sequence[float] | pd.Series | Floats,
    design: pd.DataFrame,
    groups: Mapping[str, Sequence[object] | pd.Series],
) -> Prepared:
    """Check the data and reduce them to cross-products. Errors as in fit_linear_mixed."""
    y, x = check_numbers(response, design)
    terms = tuple(map(str, design.columns))
    q, triangle = orthogonal_design(x, terms)
    groupings = make_groupings(groups, y.size)
    # Working with least-squares residuals keeps the digits of a response with a large mean.
    projection = q.T @ y
    residuals = y - q @ projection
    if not np.linalg.norm(residuals) > 1e-12 * np.linalg.norm(y):
        raise MixedModelError(
            "the fixed effects explain the response completely: nothing is left", CONSTANT
        )
    columns = np.column_stack([q, residuals])
    return Prepared(
        terms,
        tuple(groups),
        cross_products(groupings, columns),
        columns,
        triangle,
        linalg.solve_triangular(triangle, projection),
        y.size,
    )


def starting_point(problem: Problem) -> Floats:
    """Relative variances from the spread of the group means of the least-squares residuals."""
    products, q = problem.products, problem.products.rest
    variance = float(products.total[-1, -1]) / problem.rows
    edges = np.cumsum([grouping.levels for grouping in products.groupings[1:]])
    sums = [products.first_columns[:, -1], *np.split(products.total[:q, -1], edges[:-1])]
    share = np.empty(len(products.groupings))
    for k, grouping in enumerate(products.groupings):
        between = float(np.sum(sums[k] ** 2 / grouping.counts))
        share[k] = (between / variance - grouping.levels) / problem.rows
    share = np.minimum(np.maximum(share, 0.002), 0.8)
    return np.asarray(share / max(0.1, 1 - float(share.sum())), dtype=float)


class Criterion(Protocol):
    """A criterion's value and its gradient in gamma."""

    @property
    def deviance(self) -> float:
        """-2 log-likelihood, maybe up to a constant."""

    @property
    def gradient(self) -> Floats:
        """Its gradient in gamma."""


class Search(NamedTuple):
    """Relative variances at the optimum (0 on the boundary), and how the search ended."""

    gamma: Floats
    converged: bool
    evaluations: int


def minimise(criterion: Callable[[Floats], Criterion], start: Floats, mean_size: Floats) -> Search:
    """Minimise a criterion over gamma >= 0, on the log scale, with boundaries tried at zero.

    `mean_size`: mean rows per level of every factor; gamma times it is the scale on which a
    variance counts as near zero.
    """
    free = np.ones(start.size, dtype=bool)
    gamma, evaluations, converged = start.copy(), 0, True
    for _ in range(3 * start.size + 1):
        if free.any():
            gamma, used, converged = _minimise_free(criterion, gamma, free, mean_size)
            evaluations += used
        else:
            converged = True
        trial = np.where(gamma * mean_size < NEAR_ZERO, 0.0, gamma)
        if (trial > 0).all():
            break
        evaluations += 1
        rising = criterion(trial).gradient >= -1e-9 * mean_size
        # Zero is the optimum of a component only if the criterion rises from there.
        settled = (trial == 0) & rising
        released = (gamma == 0) & ~rising
        gamma = np.where(settled, 0.0, np.where(released, 1.0 / mean_size, gamma))
        if not released.any() and (settled == ~free).all():
            break
        free = ~settled
    return Search(gamma, converged, evaluations)


def _minimise_free(
    criterion: Callable[[Floats], Criterion], gamma: Floats, free: NDArray[np.bool_], size: Floats
) -> tuple[Floats, int, bool]:
    """Quasi-Newton on log gamma of the free components, then Newton steps to full precision."""
    count = 0

    def at(logs: Floats) -> tuple[float, Floats]:
        nonlocal count
        count += 1
        full = gamma.copy()
        full[free] = np.exp(logs)
        found = criterion(full)
        return found.deviance, np.asarray(found.gradient * full)[free]

    low, high = np.log(1e-3 * NEAR_ZERO / size[free]), np.full(int(free.sum()), math.log(1e10))
    start = np.clip(np.log(np.maximum(gamma[free], 1e-300)), low, high)
    rough = optimize.minimize(
        at,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=list(zip(low, high, strict=True)),
        options={"ftol": 1e-12, "gtol": 1e-4, "maxiter": 200},
    )
    logs, converged = _polish(at, np.asarray(rough.x), low, high)
    out = gamma.copy()
    out[free] = np.exp(logs)
    return out, count, converged


def _polish(
    at: Callable[[Floats], tuple[float, Floats]], logs: Floats, low: Floats, high: Floats
) -> tuple[Floats, bool]:
    """Newton steps with a finite-difference Hessian of the exact gradient, inside the bounds."""
    inside = (logs > low) & (logs < high)
    if not inside.any():
        return logs, True
    value, slope = at(logs)
    width = 1e-4
    columns = []
    for i in np.flatnonzero(inside):
        ahead = logs.copy()
        ahead[i] += width
        columns.append((at(ahead)[1] - slope)[inside] / width)
    hessian = np.array(columns)
    hessian = (hessian + hessian.T) / 2
    if np.linalg.eigvalsh(hessian)[0] <= 0:  # flat: a variance on its way to zero
        return logs, bool(np.abs(slope[inside]).max() < 1e-3)
    for _ in range(8):
        step = np.zeros_like(logs)
        step[inside] = -np.linalg.solve(hessian, slope[inside])
        step *= min(1.0, 1.0 / np.abs(step).max()) if step.any() else 1.0
        trial = np.clip(logs + step, low, high)
        new_value, new_slope = at(trial)
        if new_value > value + 1e-9 * max(1.0, abs(value)):
            return logs, False
        logs, value, slope = trial, new_value, new_slope
        if np.abs(step).max() < STEP_TOLERANCE:
            return logs, True
    return logs, bool(np.abs(step).max() < 1e-4)


def factorial_design(frame: pd.DataFrame, predictors: Sequence[str]) -> pd.DataFrame:
    """Intercept, main effects and all interactions of numeric columns, in the order of R's `*`.

    Column names are "(Intercept)", "a", "b", "a:b", …; the three-way term of three predictors last.
    """
    columns = {"(Intercept)": np.ones(len(frame))}
    subsets = sorted(range(1, 1 << len(predictors)), key=lambda bits: (bits.bit_count(), bits))
    for bits in subsets:
        chosen = [name for i, name in enumerate(predictors) if bits >> i & 1]
        columns[":".join(chosen)] = frame[chosen].to_numpy(dtype=float).prod(axis=1)
    return pd.DataFrame(columns)


class LikelihoodRatio(NamedTuple):
    """Likelihood-ratio test of nested fixed effects."""

    chi2: float
    df: int
    p: float


def likelihood_ratio(full: MixedFit, reduced: MixedFit) -> LikelihoodRatio:
    """Likelihood-ratio test of two ML fits of the same rows and groups, chi-square.

    Raises MixedModelError for REML fits (restricted likelihoods of different fixed effects are not
    comparable), for different data, and for a reduced model that is not smaller.
    """
    if "REML" in (full.method, reduced.method):
        raise MixedModelError("compare ML fits: restricted likelihoods are not comparable")
    if full.n != reduced.n or not set(reduced.terms) < set(full.terms):
        raise MixedModelError("the reduced model must have fewer terms and the same rows")
    df = full.parameters - reduced.parameters
    chi2 = max(0.0, 2 * (full.log_likelihood - reduced.log_likelihood))
    return LikelihoodRatio(chi2, df, float(stats.chi2.sf(chi2, df)))


class Slope(NamedTuple):
    """A simple slope with its delta-method standard error."""

    slope: float
    se: float
    z: float
    p: float
    low: float
    high: float


def simple_slope(
    fit: MixedFit, predictor: str, interaction: str, at: float, level: float = 0.95
) -> Slope:
    """Slope of a predictor where its moderator is `at` and every other predictor 0.

    slope = b_1 + r b_5, Var = V_11 + 2 r V_15 + r^2 V_55 (Aiken & West, Multiple Regression, 1991,
    ch. 2), 1 the predictor and 5 its interaction with the moderator.
    """
    i, j = fit.terms.index(predictor), fit.terms.index(interaction)
    slope = float(fit.estimates[i] + at * fit.estimates[j])
    v = fit.covariance
    se = math.sqrt(v[i, i] + 2 * at * v[i, j] + at**2 * v[j, j])
    z = wald_z(slope, se)
    half = float(special.ndtri(0.5 + level / 2)) * se
    return Slope(slope, se, z, two_sided_p(z), slope - half, slope + half)
