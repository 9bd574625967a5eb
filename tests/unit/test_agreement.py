"""Kappas against scikit-learn and textbook tables; degenerate cells are defined."""

from __future__ import annotations

import warnings
from math import isnan, nan, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score, matthews_corrcoef

from scripts.statistics import agreement
from scripts.statistics.agreement import BinaryCounts

counts = st.integers(0, 12)
integers = st.lists(st.tuples(st.integers(-5, 40), st.integers(-5, 40)), min_size=1, max_size=30)


def labels(table: BinaryCounts) -> tuple[list[int], list[int]]:
    tp, fn, fp, tn = table
    return [1] * (tp + fn) + [0] * (fp + tn), [1] * tp + [0] * fn + [1] * fp + [0] * tn


@given(st.builds(BinaryCounts, counts, counts, counts, counts))
def test_binary_metrics_equal_scikit_learn(table: BinaryCounts) -> None:
    if table.n == 0:
        return
    gold, predicted = labels(table)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        kappa = cohen_kappa_score(gold, predicted, labels=[0, 1])
        mcc = matthews_corrcoef(gold, predicted)
    ours = agreement.kappa_binary(table)
    if isnan(kappa) or ours.flag:
        assert isnan(ours.value)
        assert ours.flag == "one_class"
    else:
        assert ours.value == pytest.approx(kappa, abs=1e-12)
    assert agreement.class_metrics(table).mcc == pytest.approx(mcc, abs=1e-12)
    correct = np.equal(gold, predicted)
    assert agreement.binary_counts(np.equal(gold, 1), correct) == table


@given(integers)
def test_linear_kappa_equals_scikit_learn_on_the_full_grid(pairs: list[tuple[int, int]]) -> None:
    gold, predicted = zip(*pairs, strict=True)
    ours = agreement.kappa_linear(gold, predicted)
    everything = (*gold, *predicted)
    if min(everything) == max(everything):
        assert isnan(ours.value)
        assert ours.flag == "one_class"
        return
    grid = list(range(min(everything), max(everything) + 1))
    theirs = cohen_kappa_score(gold, predicted, labels=grid, weights="linear")
    assert ours.value == pytest.approx(theirs, abs=1e-9)


def test_linear_kappa_weighs_values_where_ranks_would_not() -> None:
    gold = [10, 11, 12, 11]
    near, far = [10, 13, 12, 11], [10, 1000, 12, 11]
    ranks = [cohen_kappa_score(gold, x, weights="linear") for x in (near, far)]
    assert ranks[0] == ranks[1]
    assert agreement.kappa_linear(gold, far).value < agreement.kappa_linear(gold, near).value


def test_textbook_values() -> None:
    # The usual worked example (50 grant proposals, two readers): p_o .70, p_e .50, kappa .40.
    table = BinaryCounts(tp=20, fn=5, fp=10, tn=15)
    assert agreement.kappa_binary(table).value == pytest.approx(0.40)
    metrics = agreement.class_metrics(table)
    assert (metrics.tpr, metrics.tnr) == (0.8, 0.6)
    assert metrics.mcc == pytest.approx((20 * 15 - 5 * 10) / sqrt(25 * 25 * 30 * 20))


def test_parse_errors_behave_as_the_opposite_label() -> None:
    """SyntaxBench table 7: EMA 680/800 with 14.8 % parse errors has kappa .700 = 2 EMA - 1."""
    gold = np.arange(800) % 2 == 0
    correct = np.arange(800) >= 120
    assert agreement.kappa_binary(agreement.binary_counts(gold, correct)).value == pytest.approx(
        0.7
    )


@pytest.mark.parametrize(
    ("kappa", "band"),
    [
        (1.0, "almost_perfect"),
        (0.8, "almost_perfect"),
        (2 * 0.9 - 1, "almost_perfect"),
        (0.6 - 1e-15, "substantial"),
        (0.5999, "moderate"),
        (0.4, "moderate"),
        (0.2, "fair"),
        (0.0, "slight"),
        (-0.01, "poor"),
        (nan, ""),
    ],
)
def test_bands_include_their_lower_bound(kappa: float, band: str) -> None:
    assert agreement.landis_koch(kappa) == band


def test_string_kappa_and_gold_collision() -> None:
    assert agreement.gold_collision(["a", "b", "c", "d"]) == pytest.approx(1 / 4)
    assert agreement.gold_collision(["a", "a", "b"]) == pytest.approx(5 / 9)
    assert agreement.kappa_string(0, 4, 0.25).value == pytest.approx(-1 / 3)
    assert agreement.kappa_string(4, 4, 1.0).flag == "one_class"


def test_degenerate_cells_have_a_flag() -> None:
    assert agreement.kappa_binary(BinaryCounts(0, 0, 0, 0)).flag == "missing"
    assert agreement.kappa_binary(BinaryCounts(5, 0, 0, 0)).flag == "one_class"
    assert agreement.kappa_linear([], []).flag == "missing"
    assert agreement.kappa_string(0, 0, nan).flag == "missing"
    assert agreement.chance_corrected(nan, 0.5).flag == "missing"
    assert isnan(agreement.gold_collision([]))
    empty = agreement.class_metrics(BinaryCounts(0, 0, 0, 0))
    assert empty.flag == "missing"
    one = agreement.class_metrics(BinaryCounts(3, 1, 0, 0))
    assert (one.tpr, one.mcc, one.flag) == (0.75, 0.0, "one_class")
    assert isnan(one.tnr)
    constant = agreement.class_metrics(BinaryCounts(4, 0, 4, 0))
    assert (constant.tpr, constant.tnr, constant.mcc, constant.flag) == (1, 0, 0, "zero_margin")


def test_bad_input_is_refused() -> None:
    for call in (
        lambda: agreement.binary_counts([True], [True, False]),
        lambda: agreement.kappa_linear([1], [1, 2]),
        lambda: agreement.kappa_linear([1], [nan]),
    ):
        with pytest.raises(ValueError):
            call()
