from __future__ import annotations

from math import isnan, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from scripts.statistics.trends import shot_trend, trajectory_label


@given(st.lists(st.integers(0, 6), min_size=3, max_size=6))
def test_tau_equals_scipy_and_label_is_consistent(values: list[int]) -> None:
    shots = list(range(len(values)))
    trend = shot_trend(shots, values)
    if len(set(values)) == 1:
        assert (trend.label, trend.flag) == ("flat", "constant")
        assert isnan(trend.tau)
        return
    assert trend.tau == pytest.approx(stats.kendalltau(shots, values).statistic)
    assert trend.flag == ""
    if trend.label == "monotone_up":
        assert values == sorted(values)
    elif trend.label == "monotone_down":
        assert values == sorted(values, reverse=True)
    elif trend.label.startswith("peak"):
        turn = int(trend.label.removeprefix("peak_").removesuffix("shot"))
        assert values[: turn + 1] == sorted(values[: turn + 1])
        assert values[turn:] == sorted(values[turn:], reverse=True)
    elif len(values) == 3:
        assert trend.label == "valley_1shot"


@pytest.mark.parametrize(
    ("values", "tau", "label"),
    [
        ([1, 2, 2], 0.816, "monotone_up"),
        ([2, 2, 1], -0.816, "monotone_down"),
        ([2, 1, 2], 0.0, "valley_1shot"),
        ([1, 3, 1], 0.0, "peak_1shot"),
        ([1, 3, 2], 0.333, "peak_1shot"),
    ],
)
def test_ties_as_published(values: list[int], tau: float, label: str) -> None:
    trend = shot_trend([0, 1, 4], values)
    assert trend.tau == pytest.approx(tau, abs=6e-4)
    assert trend.label == label


def test_proportions_of_unequal_n_tie_exactly() -> None:
    assert shot_trend([0, 1, 4], [1 / 3, 67 / 201, 0.5]).label == "monotone_up"
    assert shot_trend([0, 1, 4], [113 / 339, 1 / 3, 2 / 6]).label == "flat"


def test_names_the_turning_shot_and_guards() -> None:
    assert trajectory_label([0, 2, 8, 16], [1, 2, 3, 1]) == "peak_8shot"
    assert trajectory_label([0, 2, 8, 16], [3, 1, 2, 4]) == "valley_2shot"
    assert trajectory_label([0, 2, 8, 16], [1, 3, 2, 4]) == "mixed"
    assert shot_trend([0, 1, 4], [1, nan, 2]).flag == "missing"
    assert shot_trend([], []).flag == "missing"
    assert shot_trend([4], [1]).flag == "constant"
    for shots, values in (([1, 0], [1, 2]), ([0, 1], [1])):
        with pytest.raises(ValueError):
            shot_trend(shots, values)
