"""McNemar against statsmodels, R's documented example, and the case of two identical models."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.contingency_tables import mcnemar as statsmodels_mcnemar

from scripts.statistics.paired import discordant_counts, mcnemar


@given(st.integers(0, 120), st.integers(0, 120))
def test_equals_statsmodels(b01: int, b10: int) -> None:
    ours = mcnemar(b01, b10, exact_below=1000)
    if b01 + b10 == 0:
        return
    theirs = statsmodels_mcnemar([[7, b01], [b10, 9]], exact=False, correction=True)
    exact = statsmodels_mcnemar([[7, b01], [b10, 9]], exact=True)
    assert float(ours.statistic) == pytest.approx(theirs.statistic, rel=1e-12)
    assert float(ours.p) == pytest.approx(theirs.pvalue, rel=1e-9, abs=1e-300)
    assert float(ours.p_exact) == pytest.approx(exact.pvalue, rel=1e-9)


def test_identical_models_are_not_maximally_different() -> None:
    """statsmodels gives statistic inf and p = 0 here."""
    ours = mcnemar(0, 0)
    assert (float(ours.statistic), float(ours.p), float(ours.p_exact)) == (0, 1, 1)
    assert np.isnan(ours.odds_ratio)
    assert bool(ours.no_discordant_pairs)


def test_published_and_textbook_values() -> None:
    # SyntaxBench section 4.3: odds ratio 27.5.
    ours = mcnemar(55, 2)
    assert float(ours.odds_ratio) == 27.5
    assert float(ours.statistic) == pytest.approx(47.4386, abs=1e-4)
    assert np.isnan(ours.p_exact)
    # Agresti, Categorical Data Analysis: approval of the Prime Minister, 150 and 86 discordant; the
    # same table is the example of R's mcnemar.test: 16.8178 with correction, p = 4.115e-05.
    approval = mcnemar(150, 86)
    assert float(approval.statistic) == pytest.approx(16.8178, abs=1e-4)
    assert float(approval.p) == pytest.approx(4.115e-05, rel=1e-3)


def test_arrays_and_one_sided_discordance() -> None:
    ours = mcnemar([15, 0, 3], [0, 4, 3], exact_below=25)
    assert ours.odds_ratio.tolist() == [np.inf, 0.0, 1.0]
    assert ours.statistic.shape == (3,)
    assert mcnemar([25], [0]).p_exact.tolist() != mcnemar([24], [0]).p_exact.tolist()
    assert np.isnan(mcnemar(25, 0).p_exact)
    with pytest.raises(ValueError):
        mcnemar(-1, 2)


def test_discordant_counts_leave_unscored_items_out() -> None:
    correct = np.array([[1, 0, 1], [1, 1, np.nan], [0, 1, 1], [np.nan, 1, 0], [1, 0, 0]])
    b01, n = discordant_counts(correct)
    for a in range(3):
        for b in range(3):
            both = ~np.isnan(correct[:, a]) & ~np.isnan(correct[:, b])
            assert n[a, b] == both.sum()
            assert b01[a, b] == ((correct[:, a] == 1) & (correct[:, b] == 0) & both).sum()
