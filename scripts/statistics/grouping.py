"""Grouping factors of a mixed model: labels as codes, and what makes a factor unusable.

A factor is *crossed* with another unless its labels say otherwise: levels are told apart by label
alone. Nesting is a matter of labels: "variant 1" of every question is one level, "question 7,
variant 1" is a level of its own (`interaction_labels`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from scripts.statistics.flags import COLLINEAR, CONSTANT, MISSING, ONE_CLASS, TOO_FEW

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class MixedModelError(ValueError):
    """The model cannot be estimated from these data; the message says why and what to do.

    `flag` is the word of flags.py for it, for callers that go on without the estimate.
    """

    def __init__(self, message: str, flag: str = MISSING) -> None:
        super().__init__(message)
        self.flag = flag


class Grouping(NamedTuple):
    """One factor: `codes` (rows,) from 0; sorted `labels` and row `counts` of the levels."""

    name: str
    codes: Integers
    labels: tuple[str, ...]
    counts: Integers

    @property
    def levels(self) -> int:
        """Number of levels."""
        return len(self.labels)


def make_grouping(name: str, labels: Sequence[object] | pd.Series) -> Grouping:
    """A grouping factor from one label per row.

    Raises MixedModelError for a missing label, a single level, or as many levels as rows (such a
    factor cannot be told from the residual).
    """
    series = pd.Series(labels).reset_index(drop=True)
    if series.isna().any():
        row = int(series.isna().to_numpy().argmax())
        raise MixedModelError(f"group {name!r}: no label in row {row}; leave such rows out")
    codes, unique = pd.factorize(series, sort=True)
    if len(unique) < 2:
        raise MixedModelError(
            f"group {name!r} has a single level; leave it out of the model", TOO_FEW
        )
    if len(unique) == len(series):
        raise MixedModelError(
            f"group {name!r} has as many levels as rows ({len(series)}): its variance cannot be "
            "told from the residual; leave it out of the model",
            TOO_FEW,
        )
    counts = np.bincount(codes, minlength=len(unique)).astype(np.int64)
    return Grouping(name, codes.astype(np.int64), tuple(map(str, unique)), counts)


def make_groupings(groups: Mapping[str, Sequence[object] | pd.Series], rows: int) -> list[Grouping]:
    """All grouping factors, the one with most levels first (ties in the order given).

    Raises MixedModelError for no group, a wrong length, and two groups with the same partition.
    """
    if not groups:
        raise MixedModelError("a mixed model needs at least one grouping factor")
    for name, labels in groups.items():
        if len(labels) != rows:
            raise MixedModelError(f"group {name!r} has {len(labels)} labels for {rows} rows")
    found = [make_grouping(name, labels) for name, labels in groups.items()]
    for i, first in enumerate(found):
        for second in found[i + 1 :]:
            if same_partition(first, second):
                raise MixedModelError(
                    f"groups {first.name!r} and {second.name!r} divide the rows in the same way; "
                    "leave one out of the model",
                    COLLINEAR,
                )
    return sorted(found, key=lambda grouping: -grouping.levels)


def same_partition(first: Grouping, second: Grouping) -> bool:
    """True if two factors differ in nothing but the names of their levels."""
    if first.levels != second.levels:
        return False
    pairs = np.unique(first.codes * second.levels + second.codes)
    return pairs.size == first.levels


def indicator(grouping: Grouping) -> sparse.csr_matrix:
    """The indicator matrix Z, rows x levels, one 1 a row."""
    rows = grouping.codes.size
    return sparse.csr_matrix(
        (np.ones(rows), grouping.codes, np.arange(rows + 1)), shape=(rows, grouping.levels)
    )


def interaction_labels(first: pd.Series, second: pd.Series) -> pd.Series:
    """Labels of the combination of two factors ("a:b"), for nested or interaction factors.

    Colons within the first label are escaped, so that different pairs have different labels.
    """
    escaped = {name: str(name).replace("\\", "\\\\").replace(":", "\\:") for name in first.unique()}
    return first.map(escaped) + ":" + second.astype(str)


def check_numbers(
    response: Sequence[float] | pd.Series | Floats, design: pd.DataFrame
) -> tuple[Floats, Floats]:
    """Response (rows,) and design (rows, terms) as finite float arrays.

    Raises MixedModelError for missing or infinite values, differing lengths, too few rows, and a
    constant response.
    """
    y = np.asarray(response, dtype=float)
    x = design.to_numpy(dtype=float)
    if x.ndim != 2 or x.shape[0] != y.size:
        raise MixedModelError(f"the design has {x.shape[0]} rows, the response {y.size}")
    if x.shape[1] == 0:
        raise MixedModelError("the design has no column; add at least the intercept")
    if not np.isfinite(y).all():
        row = int(np.argmin(np.isfinite(y)))
        raise MixedModelError(f"response missing or infinite in row {row}; leave such rows out")
    bad = ~np.isfinite(x)
    if bad.any():
        row, column = np.argwhere(bad)[0]
        raise MixedModelError(
            f"{design.columns[column]!r} is missing or infinite in row {row}; leave such rows out"
        )
    if y.size <= x.shape[1] + 1:
        raise MixedModelError(f"{y.size} rows are too few for {x.shape[1]} coefficients", TOO_FEW)
    if np.ptp(y) == 0:
        raise MixedModelError(f"the response is constant ({y[0]:g}): nothing to explain", ONE_CLASS)
    return y, x


#: A column counts as a combination of earlier ones when less than this share of it is left over.
RANK_TOLERANCE = 1e-8


def orthogonal_design(x: Floats, terms: Sequence[str]) -> tuple[Floats, Floats]:
    """(Q, R) with X = QR, orthonormal Q and upper triangular R with a positive diagonal.

    Raises MixedModelError naming the first column that is a linear combination of those before it.
    """
    norms = np.linalg.norm(x, axis=0)
    if (norms == 0).any():
        raise MixedModelError(
            f"{terms[int(np.argmax(norms == 0))]!r} is zero in every row; leave it out", CONSTANT
        )
    q, r = np.linalg.qr(x / norms)
    left_over = np.abs(np.diag(r))
    if (left_over < RANK_TOLERANCE).any():
        name = terms[int(np.argmax(left_over < RANK_TOLERANCE))]
        raise MixedModelError(
            f"{name!r} is constant or a linear combination of the terms before it; leave it out",
            COLLINEAR,
        )
    signs = np.sign(np.diag(r))
    return q * signs, (r * signs[:, None]) * norms
