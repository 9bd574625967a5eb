from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from scripts.statistics.agreement import krippendorff_alpha
from scripts.statistics.bootstrap import EMPTY
from scripts.tokenisation.calibration import learned_weights
from scripts.tokenisation.comparisons import (
    bleu_distance,
    edit_distance,
    rank_correlations,
    spearman_interval,
)
from scripts.tokenisation.mdfr import Piece
from scripts.tokenisation.semantic_baseline import semantic_units

TRUE = np.array([0.2, 0.2, 0.1, 0.5])


def simulated(n: int, noise: float, seed: int, weights: np.ndarray = TRUE) -> tuple:
    """Components of n strings, and ratings on a scale from 1 to 5 with known weights."""
    rng = np.random.default_rng(seed)
    binary = rng.integers(0, 2, size=(n, 2))
    components = np.column_stack([binary, rng.uniform(size=(n, 2))]).astype(float)
    return components, 1 + 4 * components @ weights + rng.normal(0, noise, n)


def test_known_weights_are_recovered() -> None:
    found = learned_weights(*simulated(100, 0.0, 1))
    assert found.weights == pytest.approx(TRUE, abs=1e-12)
    assert (found.n, found.flag) == (100, "")
    assert found.r2 == pytest.approx(1)
    noisy = learned_weights(*simulated(100, 0.4, 2))
    assert noisy.weights == pytest.approx(TRUE, abs=0.08)
    assert noisy.weights.sum() == pytest.approx(1)
    assert (np.abs(noisy.weights - TRUE) < 3 * noisy.errors).all()


def test_standard_errors_are_those_of_the_simulation() -> None:
    fits = [learned_weights(*simulated(100, 0.4, seed)) for seed in range(300)]
    spread = np.std([fit.weights for fit in fits], axis=0, ddof=1)
    assert np.mean([fit.errors for fit in fits], axis=0) == pytest.approx(spread, rel=0.15)


@given(
    st.integers(0, 10_000), st.floats(0.1, 100), st.floats(-100, 100), st.permutations(range(40))
)
def test_scale_origin_and_order_of_ratings_do_not_matter(
    seed: int, scale: float, origin: float, order: list[int]
) -> None:
    components, severity = simulated(40, 0.5, seed)
    plain = learned_weights(components, severity)
    other = learned_weights(components[order], origin + scale * severity[order])
    assert other.weights == pytest.approx(plain.weights, abs=1e-6)
    assert other.errors == pytest.approx(plain.errors, abs=1e-6, nan_ok=True)
    assert (plain.weights >= 0).all() and plain.weights.sum() == pytest.approx(1)


def test_a_component_that_lowers_the_severity_weighs_nothing() -> None:
    weights = np.array([0.5, 0.5, 0.2, -0.4])
    found = learned_weights(*simulated(200, 0.1, 3, weights))
    assert found.weights[3] == 0
    assert math.isnan(found.errors[3]) and not np.isnan(found.errors[:3]).any()
    # As if the component were not there: least squares on the other three.
    components, severity = simulated(200, 0.1, 3, weights)
    design = np.column_stack([np.ones(200), components[:, :3]])
    slopes = np.linalg.lstsq(design, severity, rcond=None)[0][1:]
    assert found.weights[:3] == pytest.approx(slopes / slopes.sum())


def test_refusals() -> None:
    components, severity = simulated(40, 0.3, 4)
    assert learned_weights(components[:9], severity[:9]).flag == "too_few"
    assert learned_weights(components, np.full(40, 5.0)).flag == "constant"
    assert learned_weights(np.empty((0, 4)), np.empty(0)).flag == "missing"
    no_delimiter = components.copy()
    no_delimiter[:, 1] = 0
    assert learned_weights(no_delimiter, severity).flag == "collinear"
    copied = components.copy()
    copied[:, 3] = copied[:, 2]
    assert learned_weights(copied, severity).flag == "collinear"
    several = learned_weights(no_delimiter[:8], np.full(8, 5.0))
    assert several.flag == "constant;too_few;collinear"
    assert np.isnan(several.weights).all() and np.isnan(several.errors).all()
    falling = learned_weights(components, -severity)
    assert falling.flag == "constant" and np.isnan(falling.weights).all()


def test_bad_arguments() -> None:
    components, severity = simulated(20, 0.3, 4)
    with pytest.raises(ValueError, match="shape"):
        learned_weights(components[:, :3], severity)
    severity[0] = math.nan
    with pytest.raises(ValueError, match="finite"):
        learned_weights(components, severity)


def test_krippendorff_alpha() -> None:
    # Krippendorff (2011), "Computing Krippendorff's alpha-reliability", example C.
    gap = math.nan
    table = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, gap, gap, gap],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, gap, 3],
        [gap, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, gap],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, gap],
    ]
    assert krippendorff_alpha(table, "ordinal").value == pytest.approx(0.815, abs=5e-4)
    assert krippendorff_alpha(table, "interval").value == pytest.approx(0.849, abs=5e-4)
    assert krippendorff_alpha([[1, 2, 3], [1, 2, 3]]) == (1, "")
    assert krippendorff_alpha([[1, 2, 3]]).flag == "too_few"
    assert krippendorff_alpha([[1, gap], [gap, 2]]).flag == "too_few"
    assert krippendorff_alpha([[4, 4], [4, 4]]).flag == "constant"
    # The only values that could differ stand where nobody else rated.
    assert krippendorff_alpha([[4, 4, 1], [4, 4, gap]]).flag == "constant"
    assert krippendorff_alpha(np.empty((0, 0))).flag == "missing"
    assert krippendorff_alpha([[gap]]).flag == "missing"


def pieces(*texts: str) -> list[Piece]:
    return [Piece(text) for text in texts]


def test_bleu_distance() -> None:
    units = semantic_units("10. Oktober 2034")
    assert bleu_distance(pieces("10", ".", "Oktober", "2034"), units) == pytest.approx(0)
    assert bleu_distance(pieces("x", "y"), units) == 1
    assert bleu_distance([], units) == 1 and bleu_distance([], []) == 0
    # By hand: precisions 2/8, then 1/7, 1/12, 1/20 (no match is 1/2, 1/4 of one match).
    found = bleu_distance(pieces("1", "0", ".", "Oktober", "2", "0", "3", "4"), units)
    assert found == pytest.approx(1 - (2 / 8 * 1 / 7 * 1 / 12 * 1 / 20) ** 0.25)
    # Words with spaces inside are one unit, and an opaque piece is none of them.
    assert bleu_distance(pieces("a b"), semantic_units("a b")) == 1
    assert bleu_distance([Piece("10", opaque=True)], semantic_units("10")) == 1


def test_edit_distance() -> None:
    units = semantic_units("10. Oktober 2034")
    cut = pieces("1", "0", ".", "Oktober", "2", "0", "3", "4")
    assert edit_distance(pieces("10", ".", "Oktober", "2034"), units) == 0
    # Four boundaries too many, in 14 characters and 7 boundaries.
    assert edit_distance(cut, units) == pytest.approx(4 / 21)
    assert edit_distance([], []) == 0 and edit_distance([], units) == 1


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=3, max_size=20))
def test_rank_correlation_is_spearmans(points: list[tuple[int, int]]) -> None:
    table = np.array(points, dtype=float)
    found = rank_correlations(table[None])[0]
    if len(set(table[:, 0])) > 1 and len(set(table[:, 1])) > 1:
        assert found == pytest.approx(stats.spearmanr(table).statistic)
    else:
        assert math.isnan(found)


def test_spearman_interval() -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=60)
    y = x + rng.normal(size=60)
    low, high = spearman_interval(x, y, 2000, np.random.default_rng(2))
    assert -1 < low < stats.spearmanr(x, y).statistic < high < 1
    assert (low, high) == spearman_interval(x, y, 2000, np.random.default_rng(2))
    missing = np.append(y, math.nan)
    assert spearman_interval(np.append(x, 0), missing, 2000, np.random.default_rng(2)) == (
        low,
        high,
    )
    assert spearman_interval([1, 2, 3], [5, 5, 5], 10, rng) is EMPTY
    assert spearman_interval([1, 2], [5, 6], 10, rng) is EMPTY
