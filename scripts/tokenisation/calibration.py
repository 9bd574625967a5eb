"""Weights of the fragmentation components learned from human severity ratings (appendix A.2).

severity = intercept + b_split S + b_delimiter L + b_inflation D + b_theta theta + noise

by least squares with non-negative b, on the mean rating of each string; the weights are b / sum(b),
so that the scale and the origin of the ratings do not matter. Where the ratings cannot carry this,
nothing is returned but the reason.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import lsq_linear

from scripts.statistics.correlation import varies
from scripts.statistics.flags import COLLINEAR, CONSTANT, MISSING, TOO_FEW, join_flags
from scripts.tokenisation.mdfr import COMPONENTS

NAN = float("nan")
#: Fewest rated strings: two for each of the five coefficients.
FEWEST_STRINGS = 10
#: A coefficient below this share of the largest is on the boundary.
BOUNDARY_SHARE = 1e-9

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Calibration:
    """Learned weights in the order of COMPONENTS (sum 1), their standard errors, and the fit.

    All NaN where `flag` says why nothing could be learned. A weight on the boundary (0) has no
    standard error. `r2`: share of the ratings' variance that the fit explains; `n`: strings.
    """

    weights: Floats
    errors: Floats
    r2: float
    n: int
    flag: str


def refusal(design: Floats, severity: Floats) -> str:
    """Why weights cannot be learned, as flags; empty where they can."""
    flags = []
    if severity.size == 0:
        return MISSING
    if severity.size < FEWEST_STRINGS:
        flags.append(TOO_FEW)
    if not varies(severity):
        flags.append(CONSTANT)
    centred = design - design.mean(axis=0)
    if np.linalg.matrix_rank(centred) < design.shape[1]:
        flags.append(COLLINEAR)
    return join_flags(flags)


def learned_weights(components: ArrayLike, severity: ArrayLike) -> Calibration:
    """Weights of the components from the mean severity of each string.

    `components`: shape (n, 4), each in [0, 1], columns in the order of COMPONENTS; `severity`:
    shape (n,). Refused, with a flag: fewer than 10 strings (`too_few`), ratings that are all equal
    (`constant`; also where no component raises the severity), a component that does not vary or
    follows from the others (`collinear`). ValueError for shapes that do not fit or values that are
    not finite.

    Standard errors: ordinary least squares on the coefficients that are off the boundary, carried
    to the ratio b / sum(b) by the delta method. They take the choice of the boundary as given.
    """
    design, target = np.asarray(components, dtype=float), np.asarray(severity, dtype=float)
    if design.shape != (target.size, len(COMPONENTS)):
        raise ValueError(f"expected components of shape (n, 4), got {design.shape}")
    if not (np.isfinite(design).all() and np.isfinite(target).all()):
        raise ValueError("components and ratings must be finite; leave incomplete strings out")
    unknown = np.full(len(COMPONENTS), NAN)
    flag = refusal(design, target)
    if flag:
        return Calibration(unknown, unknown, NAN, target.size, flag)
    centred, response = design - design.mean(axis=0), target - target.mean()
    slopes = lsq_linear(centred, response, bounds=(0, np.inf), method="bvls").x
    total = float(slopes.sum())
    if total <= 0:
        return Calibration(unknown, unknown, 0.0, target.size, CONSTANT)
    active = slopes > BOUNDARY_SHARE * slopes.max()
    residual = response - centred @ slopes
    errors = np.full(len(COMPONENTS), NAN)
    errors[active] = ratio_errors(centred[:, active], residual, slopes[active])
    r2 = 1 - float(residual @ residual) / float(response @ response)
    return Calibration(slopes / total, errors, r2, target.size, "")


def ratio_errors(design: Floats, residual: Floats, slopes: Floats) -> Floats:
    """Standard errors of slopes / sum(slopes) by the delta method; `design` is centred."""
    freedom = len(residual) - design.shape[1] - 1
    variance = float(residual @ residual) / freedom
    covariance = variance * np.linalg.inv(design.T @ design)
    total = slopes.sum()
    jacobian = (np.eye(len(slopes)) - (slopes / total)[:, None]) / total
    return np.asarray(np.sqrt(np.diag(jacobian @ covariance @ jacobian.T)), dtype=float)
