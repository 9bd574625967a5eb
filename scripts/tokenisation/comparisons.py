"""General-purpose measures beside mDFR, and how each goes with human severity ratings (table 6).

All are distances: 0 where the pieces are the units, larger for a worse cut. The paper names the
measures and not their conventions; ours stand at each function.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from rapidfuzz.distance import Levenshtein
from sacrebleu.metrics import BLEU  # type: ignore[attr-defined]
from scipy import stats

from scripts.statistics.bootstrap import (
    EMPTY,
    Floats,
    Interval,
    percentile_interval,
    resampled_draws,
)
from scripts.statistics.correlation import spearman
from scripts.tokenisation.mdfr import Piece
from scripts.tokenisation.semantic_baseline import Unit

#: Stands between pieces; a separator that no text of ours holds.
BOUNDARY = "\x1f"


def bleu_distance(pieces: Sequence[Piece], units: Sequence[Unit]) -> float:
    """1 - sentence BLEU of the pieces against the units, in [0, 1].

    sacrebleu, up to 4-grams (fewer where the text is shorter: effective order), exponential
    smoothing, one unit = one word. An opaque piece matches nothing. 0 where both are empty.
    """
    if not pieces or not units:
        return float(bool(pieces) != bool(units))
    numbers: dict[object, str] = {}

    def word(key: object) -> str:
        return numbers.setdefault(key, f"w{len(numbers)}")

    reference = " ".join(word(unit.text) for unit in units)
    hypothesis = " ".join(
        word((place, piece.text)) if piece.opaque else word(piece.text)
        for place, piece in enumerate(pieces)
    )
    metric = BLEU(effective_order=True, tokenize="none", smooth_method="exp")
    score = float(metric.sentence_score(hypothesis, [reference]).score)
    return min(1.0, max(0.0, 1 - score / 100))


def edit_distance(pieces: Sequence[Piece], units: Sequence[Unit]) -> float:
    """Character-level Levenshtein distance of the two sequences, over the longer one's length.

    Both are written with one boundary character between their elements, opaque pieces by their
    bytes (`<D9>`), so that every cut too many costs one edit. In [0, 1].
    """
    have = BOUNDARY.join(piece.text for piece in pieces)
    wanted = BOUNDARY.join(unit.text for unit in units)
    return float(Levenshtein.normalized_distance(have, wanted))


def rank_correlations(pairs: Any, axis: int = 1) -> Floats:
    """Spearman's rho of each block of points: shape (blocks, n, 2) to (blocks,); NaN where a
    variable does not vary."""
    ranks = stats.rankdata(pairs, axis=axis)
    centred = ranks - ranks.mean(axis=axis, keepdims=True)
    products = (centred[..., 0] * centred[..., 1]).sum(axis=axis)
    squares = (centred**2).sum(axis=axis)
    scale = np.sqrt(squares[..., 0] * squares[..., 1])
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(scale > 0, products / scale, np.nan), dtype=float)


def spearman_interval(
    x: ArrayLike, y: ArrayLike, resamples: int, rng: np.random.Generator, level: float = 0.95
) -> Interval:
    """Percentile bootstrap interval of Spearman's rho, resampling points; NaN where rho is."""
    if spearman(x, y).flag:
        return EMPTY
    points = np.column_stack([np.asarray(x, dtype=float), np.asarray(y, dtype=float)])
    points = points[~np.isnan(points).any(axis=1)]
    return percentile_interval(resampled_draws(points, rank_correlations, resamples, rng), level)
