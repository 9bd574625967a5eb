from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.proportion import proportion_confint
from statsmodels.stats.weightstats import DescrStatsW

from scripts.statistics.one_sample import mean_test, share_test, weighted_slope

SLEEP = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]


def test_students_own_example() -> None:
    # Student (1908), table of additional hours of sleep, first drug: mean .75, sd 1.79 (n - 1).
    found = mean_test(SLEEP)
    expected = stats.ttest_1samp(SLEEP, 0)
    assert found.value == pytest.approx(0.75) and found.n == 10
    assert found.p == pytest.approx(expected.pvalue)
    assert (found.low, found.high) == pytest.approx(expected.confidence_interval(0.95))
    ours = mean_test([*SLEEP, float("nan")], 0.5, 0.9)
    assert ours[1:3] == pytest.approx(DescrStatsW(SLEEP).tconfint_mean(0.1))
    assert ours.p == pytest.approx(stats.ttest_1samp(SLEEP, 0.5).pvalue) and ours.n == 10


@given(st.lists(st.floats(-1, 1), min_size=3, max_size=12))
def test_p_and_interval_of_a_mean_agree(values: list[float]) -> None:
    found = mean_test(values)
    if math.isnan(found.p):
        assert np.ptp(values) < 1e-9
    elif abs(found.p - 0.05) > 1e-9:
        assert (found.p <= 0.05) == (not found.low <= 0 <= found.high)


@pytest.mark.parametrize("values", [[], [0.4], [0.3, 0.3, 0.1 + 0.2]])
def test_a_mean_without_spread_has_no_test(values: list[float]) -> None:
    found = mean_test(values)
    assert math.isnan(found.p) and math.isnan(found.low) and math.isnan(found.high)
    assert found.n == len(values)


def test_share_equals_clopper_pearson_and_both_tails() -> None:
    found = share_test(23, 25, 0.5)
    assert found.value == 0.92 and found.n == 25
    assert (found.low, found.high) == pytest.approx(
        proportion_confint(23, 25, 0.05, method="beta"), abs=1e-9
    )
    # The binomial of one half is symmetric: twice the tail is the two-sided test.
    assert found.p == pytest.approx(stats.binomtest(23, 25, 0.5).pvalue)
    assert share_test(0, 10, 0.0).p == 1.0
    assert math.isnan(share_test(0, 0, 0.5).p)


@given(st.integers(1, 40), st.data(), st.floats(0.05, 0.95))
def test_p_and_interval_of_a_share_agree(n: int, data: st.DataObject, null: float) -> None:
    found = share_test(data.draw(st.integers(0, n)), n, null)
    if abs(found.p - 0.05) > 1e-6:
        assert (found.p <= 0.05) == (not found.low <= null <= found.high)


@pytest.mark.parametrize(("k", "n", "null"), [(3, 2, 0.5), (-1, 2, 0.5), (1, 2, 1.5)])
def test_impossible_shares_are_refused(k: int, n: int, null: float) -> None:
    with pytest.raises(ValueError, match="need 0 <= k <= n"):
        share_test(k, n, null)


def test_weighted_slope_equals_least_squares() -> None:
    x, y, w = [1, 2, 3, 6], [0.9, 0.8, 0.85, 0.4], [44, 50, 60, 13]
    expected = np.polyfit(x, y, 1, w=np.sqrt(w))[0]
    assert weighted_slope(x, y, w) == pytest.approx(expected)
    # Doubling a weight is repeating the point.
    assert weighted_slope([1, 2, 2, 3], [0, 1, 1, 5], [1, 1, 1, 1]) == pytest.approx(
        weighted_slope([1, 2, 3], [0, 1, 5], [1, 2, 1])
    )
    assert math.isnan(weighted_slope([2, 2], [0, 1], [1, 1]))
    assert math.isnan(weighted_slope([1, 2], [0, 1], [0, 0]))
    with pytest.raises(ValueError, match="negative"):
        weighted_slope([1, 2], [0, 1], [1, -1])
