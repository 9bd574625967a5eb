from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from scripts.statistics.multiplicity import adjust, correct_family

probability = st.floats(0, 1)


@given(st.lists(probability, min_size=1, max_size=40))
def test_equals_statsmodels(p: list[float]) -> None:
    ours = correct_family(p)
    _, bonferroni, _, threshold = multipletests(p, alpha=0.05, method="bonferroni")
    assert ours.p_bonferroni == pytest.approx(bonferroni)
    assert ours.q == pytest.approx(multipletests(p, method="fdr_bh")[1])
    assert (ours.significant == (np.asarray(p) <= threshold)).all()
    assert ours.size == len(p)


@given(st.lists(st.one_of(probability, st.just(float("nan"))), max_size=30))
def test_missing_p_values_are_no_part_of_the_family(p: list[float]) -> None:
    """statsmodels turns every adjusted p into NaN when one is missing."""
    values = np.asarray(p, dtype=float)
    inside = ~np.isnan(values)
    ours, without = correct_family(values), correct_family(values[inside])
    assert ours.size == without.size == inside.sum()
    assert np.array_equal(ours.q[inside], without.q)
    assert np.isnan(ours.q[~inside]).all()
    assert np.isnan(ours.p_bonferroni[~inside]).all()
    assert not ours.significant[~inside].any()


def test_benjamini_and_hochberg_own_example() -> None:
    # Benjamini & Hochberg (1995), section 3.2: 15 p-values; BH rejects four, Bonferroni three.
    p = [
        0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344,
        0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0000,
    ]  # fmt: skip
    family = correct_family(p)
    assert int((family.q <= 0.05).sum()) == 4
    assert int(family.significant.sum()) == 3


def test_impossible_p_is_refused() -> None:
    with pytest.raises(ValueError):
        correct_family([0.5, 1.5])


@given(st.lists(st.one_of(probability, st.just(float("nan"))), min_size=1, max_size=30))
def test_adjusted_p_values_equal_statsmodels(p: list[float]) -> None:
    values = np.asarray(p, dtype=float)
    inside = ~np.isnan(values)
    for ours, theirs in (("holm", "holm"), ("bh", "fdr_bh"), ("bonferroni", "bonferroni")):
        found = adjust(values, ours)
        assert np.isnan(found[~inside]).all()
        if inside.any():
            expected = multipletests(values[inside], method=theirs)[1]
            assert found[inside] == pytest.approx(expected)


def test_an_unknown_correction_is_refused() -> None:
    with pytest.raises(ValueError, match="sidak"):
        adjust([0.1], "sidak")
