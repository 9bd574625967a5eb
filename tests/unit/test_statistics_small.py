"""Proportions, signed errors, flags, Wald statistics, calendar days, council, weights."""

from __future__ import annotations

from math import inf, isnan, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from scripts.dates import calendars
from scripts.statistics import council, errors, flags, proportions, wald
from scripts.tokenisation.weights import normalise_weights, rounded_weights


def test_percent_keeps_the_floating_point_artefact() -> None:
    assert proportions.format_percent(115, 400) == "28.7"
    assert f"{100 * 115 / 400:.1f}" == "28.8"
    assert proportions.format_percent(0, 0) == "–"
    with pytest.raises(ValueError):
        proportions.format_percent(2, 1)


def test_combined_score_needs_both_conditions() -> None:
    assert all(map(isnan, proportions.condition_gap(0, 113, 0, 0)))
    both = proportions.condition_gap(1, 2, 1, 4)
    assert both == (pytest.approx(2 / 6), pytest.approx(0.25))


def test_undefined_rates_are_nan() -> None:
    assert isnan(proportions.macro_mean([nan, nan]))
    assert proportions.macro_mean([nan, 0.5]) == 0.5
    assert isnan(proportions.accuracy_per_token(0.5, 0))
    assert isnan(proportions.accuracy_per_token(0.5, nan))
    assert proportions.accuracy_per_token(0.9625, 274) == pytest.approx(0.00351, abs=5e-6)
    assert isnan(proportions.ratio(1, 0))
    assert isnan(proportions.verdict_accuracy(1, 1, 0, 0))


@given(st.lists(st.integers(-20, 20), min_size=2, max_size=50))
def test_signed_error_equals_numpy(values: list[int]) -> None:
    found = errors.signed_error([*values, nan, inf])
    assert found.n == len(values)
    assert found.mean == pytest.approx(np.mean(values), abs=1e-9)
    assert found.sd == pytest.approx(np.std(values, ddof=1), abs=1e-9)
    assert found.p5 == pytest.approx(stats.scoreatpercentile(values, 5), abs=1e-9)
    assert found.median == pytest.approx(np.median(values))
    assert found.flag == ""


def test_signed_error_of_nothing_and_of_one_value() -> None:
    nothing = errors.signed_error([nan])
    assert (nothing.n, nothing.flag) == (0, "missing")
    one = errors.signed_error([3])
    assert (one.mean, one.p5, one.p95, one.n) == (3, 3, 3, 1)
    assert isnan(one.sd) and one.flag == "constant"
    assert errors.signed_error([3, 4]).flag == ""
    assert isnan(errors.percentile([], 5))


def test_tolerance_curve_counts_parse_errors_as_outside() -> None:
    assert errors.tolerance_curve([0, 1, -2, nan], 4, [0, 1, 2, 100]) == [0.25, 0.5, 0.75, 0.75]
    assert all(map(isnan, errors.tolerance_curve([], 0, [0, 1])))


def test_flags_have_one_order_and_one_vocabulary() -> None:
    assert flags.join_flags(["missing", "", None, "constant", "missing"]) == "constant;missing"
    assert flags.join_flags([]) == ""
    with pytest.raises(ValueError):
        flags.join_flags(["unheard_of"])


@given(st.floats(0.01, 5), st.floats(1e-4, 0.999))
def test_implied_standard_error_inverts_the_p_value(beta: float, p: float) -> None:
    error = wald.implied_standard_error(beta, p)
    assert wald.two_sided_p(wald.wald_z(beta, error)) == pytest.approx(p, rel=1e-6)


def test_wald_guards() -> None:
    assert wald.two_sided_p(1.959963984540054) == pytest.approx(0.05)
    for call in (lambda: wald.wald_z(1, 0), lambda: wald.implied_standard_error(1, 1)):
        with pytest.raises(ValueError):
            call()


def test_days_after_crosses_leap_days() -> None:
    assert calendars.days_after("1900-02-28", 1) == "1900-03-01"
    assert calendars.days_after("2000-03-01", -1) == "2000-02-29"
    with pytest.raises(ValueError):
        calendars.days_after("2001-02-29", 0)


@pytest.mark.parametrize(
    ("votes", "expected"),
    [
        ([True, False], None),
        ([], None),
        ([None, None, None], None),
        ([True, None, None], True),
        ([True, False, None], None),
        ([False, False, True], False),
    ],
)
def test_majority_is_over_the_seats_that_voted(
    votes: list[bool | None], expected: bool | None
) -> None:
    assert council.majority(votes) is expected


boolean = st.booleans()


@given(st.lists(boolean, max_size=4), boolean, boolean, st.floats(0, 1))
def test_partial_credit_is_between_strict_and_one(
    matched: list[bool], contradiction: bool, meaning: bool, weight: float
) -> None:
    strict = council.strict_score(matched, contradiction, meaning)
    partial = council.partial_score(matched, contradiction, meaning, weight)
    assert strict - 1e-12 <= partial <= 1 + 1e-12
    if contradiction:
        assert (strict, partial) == (0, 0)
    if matched and not all(matched):
        assert strict == 0


def test_partial_credit_keeps_matched_dates_when_the_meaning_is_wrong() -> None:
    assert council.partial_score([True, False], False, False, 0.4) == pytest.approx(0.2)
    with pytest.raises(ValueError):
        council.partial_score([True], False, True, 1.5)


@given(st.lists(st.floats(0, 10), min_size=1, max_size=6).filter(lambda w: sum(w) > 1e-6))
def test_normalised_weights_sum_to_one(raw: list[float]) -> None:
    assert sum(normalise_weights(raw)) == pytest.approx(1)


def test_weights_that_cannot_be_normalised() -> None:
    for raw in ([], [0.0, 0.0], [1.0, -0.5], [nan, 1.0], [inf, 1.0]):
        with pytest.raises(ValueError):
            normalise_weights(raw)
    assert rounded_weights([0.2015, 0.1053]) == [0.2, 0.1]
