"""Chi-square, Cramér's V and phi against scipy and a textbook table."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.stats.contingency import association as scipy_association

from scripts.statistics.contingency import association

cell = st.integers(0, 60)


@given(cell, cell, cell, cell)
def test_equals_scipy(ke: int, we: int, kr: int, wr: int) -> None:
    ours = association(ke, ke + we, kr, kr + wr)
    table = np.array([[ke, we], [kr, wr]])
    if (table.sum(axis=0) == 0).any() or (table.sum(axis=1) == 0).any():
        assert (float(ours.chi2), float(ours.p), float(ours.cramers_v)) == (0, 1, 0)
        assert float(ours.point_biserial) == 0
        assert bool(ours.zero_margin)
        assert not bool(ours.yates)
        return
    yates = bool((table < 5).any())
    theirs = stats.chi2_contingency(table, correction=yates)
    assert bool(ours.yates) == yates
    assert float(ours.chi2) == pytest.approx(theirs.statistic, rel=1e-9, abs=1e-12)
    assert float(ours.p) == pytest.approx(theirs.pvalue, rel=1e-9)
    assert float(ours.cramers_v) == pytest.approx(
        scipy_association(table, method="cramer", correction=yates), abs=1e-9
    )
    condition = np.r_[np.zeros(ke + we), np.ones(kr + wr)]
    correct = np.r_[np.ones(ke), np.zeros(we), np.ones(kr), np.zeros(wr)]
    r = stats.pointbiserialr(condition, correct).statistic
    assert float(ours.point_biserial) == pytest.approx(r, abs=1e-9)


def test_random_easier_is_positive() -> None:
    """SyntaxBench figure 10: Qwen3.5-2B, palindromes at 4-shot, 72.0 against 94.8 %: r = .306."""
    found = association(288, 400, 379, 400)
    assert float(found.point_biserial) == pytest.approx(0.306, abs=5e-4)
    assert float(association(379, 400, 288, 400).point_biserial) < 0


def test_yates_looks_at_observed_counts() -> None:
    assert bool(association(4, 200, 100, 200).yates)  # expected counts are all above 50
    assert not bool(association(5, 200, 100, 200).yates)
    assert bool(association(5, 200, 100, 200, yates_below=6).yates)


def test_vectorised_and_guarded() -> None:
    found = association([10, 0], [20, 0], [15, 3], [20, 5])
    assert found.zero_margin.tolist() == [False, True]
    with pytest.raises(ValueError):
        association(21, 20, 1, 20)
    with pytest.raises(ValueError):
        association(-1, 20, 1, 20)
