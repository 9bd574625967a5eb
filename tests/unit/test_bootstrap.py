"""The binomial and multinomial draws are the item bootstrap; compared with scipy and exact laws."""

from __future__ import annotations

from itertools import combinations_with_replacement
from math import factorial, isnan, prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from scripts.statistics import bootstrap, effects
from scripts.statistics.seeding import cell_generator

B = 10_000


def rng(seed: int = 42) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.mark.parametrize(("k", "n"), [(69, 200), (1, 200), (395, 400), (200, 200), (0, 200)])
def test_binomial_draw_equals_scipy_item_bootstrap(k: int, n: int) -> None:
    items = np.arange(n) < k
    ours = bootstrap.proportion_interval(k, n, B, rng())
    if 0 < k < n:
        theirs = stats.bootstrap(
            (items,), np.mean, n_resamples=B, method="percentile", rng=rng(1), vectorized=True
        ).confidence_interval
        # Percentiles of 10,000 draws on the grid 1/n: at most one step and its interpolation apart.
        assert ours == pytest.approx((theirs.low, theirs.high), abs=1.01 / n)
    else:
        assert ours == (k / n, k / n)  # scipy gives NaN and a warning here
    exact = stats.binom.ppf([0.025, 0.975], n, k / n) / n
    assert ours == pytest.approx(exact, abs=1.01 / n)


@given(st.lists(st.integers(0, 9), min_size=1, max_size=12), st.floats(0, 1))
def test_quantile_of_a_table_equals_numpy_percentile(table: list[int], q: float) -> None:
    if sum(table) == 0:
        return
    draws = np.repeat(np.arange(len(table)), table)
    found = bootstrap.table_quantile(np.asarray(table), q)
    assert found == pytest.approx(np.percentile(draws, 100 * q), abs=1e-9)


@pytest.mark.parametrize(("k", "n"), [(0, 5), (5, 5), (1, 200), (395, 400), (500, 1000)])
def test_table_counts_binomial_draws(k: int, n: int) -> None:
    table = bootstrap.proportion_table(k, n, 200_000, rng())
    assert table.sum() == 200_000
    share = np.average(np.arange(n + 1), weights=table) / n
    assert share == pytest.approx(k / n, abs=5 * np.sqrt(0.25 / n / 200_000) + 1e-12)
    expected = stats.binom.pmf(np.arange(n + 1), n, k / n) * 200_000
    usual = expected > 20
    assert (np.abs(table - expected)[usual] < 5 * np.sqrt(expected[usual])).all()


def test_multinomial_draw_equals_paired_item_bootstrap() -> None:
    b01, b10, n = 55, 22, 800
    difference = np.r_[np.ones(b01), -np.ones(b10), np.zeros(n - b01 - b10)]
    ours = bootstrap.paired_difference_interval(b01, b10, n, resamples=B, rng=rng())
    theirs = bootstrap.resampled_interval(difference, np.mean, B, rng(3))
    assert ours == pytest.approx(theirs, abs=2 / n)
    assert ours.low < (b01 - b10) / n < ours.high
    error = np.sqrt(difference.var() / n)
    assert ours.high - ours.low == pytest.approx(2 * 1.96 * error, rel=0.05)


def test_generic_resampler_equals_scipy_for_the_median() -> None:
    values = rng(5).lognormal(size=60)
    ours = bootstrap.resampled_interval(values, np.median, B, rng())
    theirs = stats.bootstrap(
        (values,), np.median, n_resamples=B, method="percentile", rng=rng(7)
    ).confidence_interval
    assert ours == pytest.approx((theirs.low, theirs.high), abs=0.05)


def test_generic_resampler_blocks_do_not_change_the_draws() -> None:
    values = rng(5).normal(size=(30, 2))

    def mean_product(sample: np.ndarray, axis: int) -> np.ndarray:
        return sample.prod(axis=2).mean(axis=axis)

    whole = bootstrap.resampled_draws(values, mean_product, 500, rng())
    blocks = bootstrap.resampled_draws(values, mean_product, 500, rng(), elements_at_once=601)
    assert np.array_equal(whole, blocks)


def test_macro_interval_follows_the_exact_law() -> None:
    """All 462 multisets of six tasks with their multinomial weights: the law that is sampled."""
    emas = [0.9625, 0.395, 0.005, 0.9925, 0.985, 0.9325]
    values, weights = [], []
    for chosen in combinations_with_replacement(range(6), 6):
        repeats = [chosen.count(i) for i in range(6)]
        values.append(np.mean([emas[i] for i in chosen]))
        weights.append(factorial(6) / prod(factorial(r) for r in repeats) / 6**6)
    order = np.argsort(values)
    cumulative = np.cumsum(np.asarray(weights)[order])
    exact = [np.asarray(values)[order][np.searchsorted(cumulative, q)] for q in (0.025, 0.975)]
    assert cumulative[-1] == pytest.approx(1)
    assert bootstrap.macro_interval(emas, B, rng()) == pytest.approx(exact, abs=0.01)


def test_the_standard_error_is_not_divided_by_the_resamples() -> None:
    draws = bootstrap.proportion_draws(100, 400, B, rng())
    assert draws.std() == pytest.approx(np.sqrt(0.25 * 0.75 / 400), rel=0.03)


@given(st.integers(1, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_interval_is_ordered_and_inside_the_unit_range(kn: tuple[int, int]) -> None:
    low, high = bootstrap.proportion_interval(*kn, 200, rng())
    assert 0 <= low <= high <= 1


def test_empty_and_impossible_input() -> None:
    assert all(map(isnan, bootstrap.proportion_interval(0, 0, B, rng())))
    assert all(map(isnan, bootstrap.paired_difference_interval(0, 0, 0, resamples=B, rng=rng())))
    assert all(map(isnan, bootstrap.macro_interval([], B, rng())))
    assert all(map(isnan, bootstrap.percentile_interval([np.nan, np.nan])))
    assert all(map(isnan, effects.cohens_h_interval(0, 0, 1, 2, resamples=B, rng=rng())))
    for call in (
        lambda: bootstrap.proportion_interval(3, 2, B, rng()),
        lambda: bootstrap.proportion_draws(0, 0, B, rng()),
        lambda: bootstrap.paired_difference_interval(2, 2, 3, resamples=B, rng=rng()),
        lambda: bootstrap.percentile_interval([1.0], level=95),
        lambda: bootstrap.resampled_draws([], np.mean, B, rng()),
    ):
        with pytest.raises(ValueError):
            call()


def test_nan_draws_are_left_out() -> None:
    assert bootstrap.percentile_interval([np.nan, 1.0, 1.0]) == (1.0, 1.0)


def test_a_cell_has_its_own_generator() -> None:
    first = cell_generator(42, "model", "task", 4).integers(1 << 60, size=3)
    assert np.array_equal(first, cell_generator(42, "model", "task", 4).integers(1 << 60, size=3))
    others = [
        cell_generator(43, "model", "task", 4),
        cell_generator(42, "model", "task", 1),
        cell_generator(42, "model", "task", "4"),
        cell_generator(42, "modelt", "ask", 4),
    ]
    assert len({int(first[0]), *(int(g.integers(1 << 60)) for g in others)}) == 5
