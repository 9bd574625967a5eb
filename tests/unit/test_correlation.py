"""Pearson, Spearman and their intervals against scipy, numpy and brute force."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from scripts.statistics import correlation
from scripts.statistics.correlation import bootstrap_interval, jackknife_interval, pearson, spearman

# Differences that are more than rounding, or none at all.
VALUES = st.lists(st.integers(-1000, 1000).map(lambda v: v / 8), min_size=3, max_size=30)


@given(VALUES, st.integers(0, 2**32))
def test_both_agree_with_scipy(x: list[float], seed: int) -> None:
    y = np.random.default_rng(seed).normal(size=len(x)) + 0.5 * np.asarray(x)
    if len(set(x)) == 1:
        assert pearson(x, y).flag == "constant" and math.isnan(spearman(x, y).r)
        return
    assert pearson(x, y).r == pytest.approx(stats.pearsonr(x, y).statistic, abs=1e-9)
    assert spearman(x, y).r == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-9)


def test_too_few_points_missing_values_and_flat_lines_are_flagged() -> None:
    assert pearson([], []).flag == "missing"
    assert pearson([1, 2], [3, 5])[1:] == (2, "too_few")
    assert pearson([1, 2, math.nan], [3, 5, 6])[1:] == (2, "too_few")
    assert pearson([0.1 + 0.2, 0.3, 0.3], [1, 2, 3]).flag == "constant"  # differs by rounding only
    assert pearson([1, 2, 3, math.nan], [3, 5, 6, 7]).n == 3
    with pytest.raises(ValueError, match="one length"):
        pearson([1, 2, 3], [1, 2])


def test_weighted_pearson_equals_repeated_points() -> None:
    rng = np.random.default_rng(1)
    x, y = rng.normal(1e6, 1, 8), rng.normal(size=8)
    weights = rng.multinomial(8, np.full(8, 1 / 8), size=20)
    found = correlation.weighted_pearson(x, y, weights)
    for w, r in zip(weights, found, strict=True):
        assert r == pytest.approx(np.corrcoef(np.repeat(x, w), np.repeat(y, w))[0, 1], abs=1e-6)
    flat = np.zeros((1, 8))
    flat[0, 3] = 8
    assert np.isnan(correlation.weighted_pearson(x, y, flat)).all()


def test_bootstrap_resamples_whole_clusters() -> None:
    rng = np.random.default_rng(2)
    x = rng.normal(size=12)
    y = x + rng.normal(size=12)
    own = [str(i) for i in range(12)]
    options = {"resamples": 4000, "level": 0.9}
    once = bootstrap_interval(x, y, own, rng=np.random.default_rng(3), **options)
    draws = [
        np.corrcoef(x[i], y[i])[0, 1] for i in np.random.default_rng(4).integers(0, 12, (4000, 12))
    ]
    assert once == pytest.approx(np.percentile(draws, [5, 95]), abs=0.03)
    # Four copies of every point with one label each are three points for the bootstrap, not twelve.
    copies = np.repeat(x[:6], 2), np.repeat(y[:6], 2)
    labels = [str(i // 2) for i in range(12)]
    together = bootstrap_interval(*copies, labels, rng=np.random.default_rng(3), **options)
    alone = bootstrap_interval(x[:6], y[:6], own[:6], rng=np.random.default_rng(3), **options)
    assert together == pytest.approx(alone, abs=1e-9)
    assert math.isnan(bootstrap_interval([1, 2], [1, 2], ["a", "b"], rng=rng, resamples=9).low)
    lumped = bootstrap_interval(x, y, ["a"] * 6 + ["b"] * 6, rng=rng, resamples=9)
    assert math.isnan(lumped.low)


def test_jackknife_is_the_textbook_formula_on_fisher_z() -> None:
    rng = np.random.default_rng(5)
    x = rng.normal(size=9)
    y = x + rng.normal(size=9)
    clusters = np.array(list("aabbcccdd"))
    low, high = jackknife_interval(x, y, clusters.tolist())
    z = [math.atanh(np.corrcoef(x[clusters != c], y[clusters != c])[0, 1]) for c in "abcd"]
    error = math.sqrt(3 / 4 * sum((v - np.mean(z)) ** 2 for v in z))
    half = stats.t.ppf(0.975, 3) * error
    centre = math.atanh(np.corrcoef(x, y)[0, 1])
    assert (low, high) == pytest.approx((math.tanh(centre - half), math.tanh(centre + half)))
    assert -1 <= low < np.corrcoef(x, y)[0, 1] < high <= 1


@pytest.mark.parametrize(
    ("x", "y", "clusters"),
    [
        ([1, 2, 3], [1, 2, 4], ["a", "a", "b"]),  # two clusters
        ([1, 2, 3], [1, 2, 4], ["a", "b", "c"]),  # two points are left
        ([1, 1, 1, 2], [1, 2, 4, 3], ["a", "b", "c", "d"]),  # no variation without d
        ([1, 2, 3, 4], [2, 4, 6, 8], ["a", "b", "c", "d"]),  # r = 1
    ],
)
def test_no_jackknife_where_it_says_nothing(x: list, y: list, clusters: list) -> None:
    assert all(math.isnan(bound) for bound in jackknife_interval(x, y, clusters))
