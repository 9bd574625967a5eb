from __future__ import annotations

from math import isnan, pi

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_effectsize

from scripts.statistics import effects

share = st.floats(0, 1)
sample = st.lists(st.floats(-100, 100).map(lambda x: round(x, 3)), min_size=2, max_size=20)


@given(share, share)
def test_h_equals_statsmodels(a: float, b: float) -> None:
    assert effects.cohens_h(a, b) == pytest.approx(proportion_effectsize(a, b), abs=1e-12)
    assert effects.cohens_h(a, b) == -effects.cohens_h(b, a)
    assert abs(effects.cohens_h(a, b)) <= pi


def test_h_textbook_value() -> None:
    # phi of .05, .25, .40, .65 as tabulated by Cohen (1988), table 6.2.2.
    assert effects.cohens_h(0.25, 0.05) == pytest.approx(1.047 - 0.451, abs=1e-3)
    assert effects.cohens_h(0.65, 0.40) == pytest.approx(1.875 - 1.369, abs=1e-3)


def test_h_interval_is_wider_than_a_paired_one_would_be() -> None:
    low, high = effects.cohens_h_interval(
        394, 400, 276, 400, resamples=10_000, rng=np.random.default_rng(42)
    )
    error = np.sqrt(1 / 400 + 1 / 400)  # the arcsine transform has variance 1/n
    assert high - low == pytest.approx(2 * 1.96 * error, rel=0.1)


@given(sample, sample)
def test_d_is_antisymmetric_and_scale_free(a: list[float], b: list[float]) -> None:
    forward, back = effects.cohens_d(a, b), effects.cohens_d(b, a)
    assert forward.flag == back.flag
    if not forward.flag:
        assert forward.value == pytest.approx(-back.value)
        scaled = effects.cohens_d(np.multiply(a, 4), np.multiply(b, 4))
        assert scaled.value == pytest.approx(forward.value)


def test_d_by_hand_and_degenerate() -> None:
    # means 3 and 5; sums of squares 2 and 8 over 4 degrees of freedom: sd = sqrt(2.5)
    assert effects.cohens_d([2, 3, 4], [3, 5, 7]).value == pytest.approx(-2 / 2.5**0.5)
    assert effects.pooled_sd([2, 3, 4], [3, 5, 7]) == pytest.approx(2.5**0.5)
    assert effects.cohens_d([1, 1], [2, 2]).flag == "constant"
    assert effects.cohens_d([], [1, 2, 3]).flag == "missing"
    assert isnan(effects.pooled_sd([1], [2]))
    assert isnan(effects.implied_sd(1, 0, 0))
