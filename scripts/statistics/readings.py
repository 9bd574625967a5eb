"""What a question gives under each of its readings: the rows of `statistics/readings.csv`.

A *question* is a place where a text can be read in more than one way (which family a test belongs
to, say); a *reading* is one way. Every reading is computed from the same answers, so that their
difference is the reading's alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import linalg, special

from scripts.files import DataError
from scripts.statistics.wald import two_sided_p, wald_z

NAN = float("nan")
Floats = NDArray[np.float64]
COLUMNS = (*("question", "reading", "quantity", "scope", "value", "low", "high", "p", "n", "flag"),)
KEY = ["question", "quantity", "scope", "reading"]


@dataclass(frozen=True, slots=True)
class Reading:
    """One quantity under one reading.

    `scope`: what it is of (a model, a language, …; empty for everything); `low`, `high`: its
    interval; `n`: what it rests on (answers, cells or tests); `flag`: why a value is missing.
    """

    question: str
    reading: str
    quantity: str
    scope: str = ""
    value: float = NAN
    low: float = NAN
    high: float = NAN
    p: float = NAN
    n: int = 0
    flag: str = ""


def readings_frame(readings: Iterable[Reading]) -> pd.DataFrame:
    """readings.csv, in the order of the rows; DataError for one that stands twice."""
    frame = pd.DataFrame([asdict(each) for each in readings], columns=list(COLUMNS))
    twice = frame[frame.duplicated(KEY)]
    if len(twice):
        row = twice.iloc[0]
        raise DataError(f"readings: {', '.join(str(row[name]) for name in KEY)} stands twice")
    return frame


class Coefficients(NamedTuple):
    """Least-squares estimates with standard errors, normal p-values and intervals, by term."""

    terms: tuple[str, ...]
    estimates: Floats
    standard_errors: Floats
    p: Floats
    low: Floats
    high: Floats


def independent_rows(
    response: ArrayLike, design: pd.DataFrame, level: float = 0.95
) -> Coefficients:
    """Least squares with independent rows: what a random effect of every single row leaves.

    A model's effect that is drawn anew for every question, with one answer of a question and model,
    has one level a row. Its variance and the residual's are one quantity; without another random
    effect the marginal covariance is a multiple of the identity, and REML is ordinary least squares
    with Wald's z. `response`: (rows,); `design`: numeric columns, the intercept included. Raises
    DataError where there are no more rows than columns, or the columns are collinear,
    and where nothing is left of the response.
    """
    x, y = design.to_numpy(dtype=float), np.asarray(response, dtype=float)
    rows, terms = x.shape
    if rows <= terms or np.linalg.matrix_rank(x) < terms:
        raise DataError(f"{rows} rows cannot carry the {terms} terms {list(design.columns)}")
    q, r = linalg.qr(x, mode="economic")
    inverse = linalg.solve_triangular(r, np.eye(terms))
    estimates = inverse @ (q.T @ y)
    residuals = y - x @ estimates
    if not np.linalg.norm(residuals) > 1e-12 * max(1.0, float(np.linalg.norm(y))):
        raise DataError("the design explains the response completely: no standard error is left")
    variance = float(residuals @ residuals) / (rows - terms)
    errors = np.sqrt(variance * (inverse**2).sum(axis=1))
    half = float(special.ndtri(0.5 + level / 2)) * errors
    z = [wald_z(float(b), float(se)) for b, se in zip(estimates, errors, strict=True)]
    names = tuple(map(str, design.columns))
    return Coefficients(
        names,
        estimates,
        errors,
        np.array([two_sided_p(each) for each in z]),
        estimates - half,
        estimates + half,
    )
