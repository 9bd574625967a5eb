"""The crossed logistic mixed model: its Laplace criterion, lme4, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, special

from scripts.statistics import mixed_logistic
from scripts.statistics.grouping import MixedModelError, indicator, make_groupings
from scripts.statistics.mixed import factorial_design, likelihood_ratio
from scripts.statistics.mixed_logistic import LaplaceCriterion, fit_logistic_mixed

DATA = Path(__file__).parents[1] / "data"
REFERENCE = json.loads((DATA / "lme4_reference.json").read_text("utf-8"))["crossed_answers"]


def answers(seed: int, factors: int = 2) -> tuple[pd.DataFrame, dict[str, pd.Series]]:
    generator = np.random.default_rng(seed)
    frame = pd.DataFrame({"a": generator.integers(0, 12, 150), "b": generator.integers(0, 4, 150)})
    frame["c"] = frame["a"] % 3
    frame["x"] = generator.normal(size=150)
    eta = 0.3 + 0.5 * frame["x"] + generator.normal(0, 0.8, 12)[frame["a"]]
    eta += generator.normal(0, 0.5, 4)[frame["b"]]
    frame["y"] = (generator.uniform(size=150) < special.expit(eta)).astype(float)
    return frame, {name: frame[name] for name in "abc"[:factors]}


def criterion(frame: pd.DataFrame, groups: dict[str, pd.Series]) -> LaplaceCriterion:
    x = factorial_design(frame, ["x"]).to_numpy()
    groupings = make_groupings(groups, len(frame))
    return LaplaceCriterion(mixed_logistic._layout(frame["y"].to_numpy(), x, groupings))


@pytest.mark.parametrize("factors", [1, 2, 3])
@given(seed=st.integers(0, 1000), theta=st.floats(0.05, 2))
@settings(max_examples=10)
def test_criterion_and_gradient_equal_the_dense_ones(factors: int, seed: int, theta: float) -> None:
    frame, groups = answers(seed, factors)
    found = criterion(frame, groups)
    parameters = np.array([0.2, -0.4, *np.log(theta * np.arange(1, factors + 1))])
    value, slope = found(parameters)
    x, y = factorial_design(frame, ["x"]).to_numpy(), frame["y"].to_numpy()
    z = np.hstack(
        [
            indicator(g).toarray() * scale
            for g, scale in zip(found.layout.groupings, np.exp(parameters[2:]), strict=True)
        ]
    )

    def penalised(u: Any) -> float:
        eta = x @ parameters[:2] + z @ u
        return float(2 * np.sum(np.logaddexp(0, eta) - y * eta) + u @ u)

    mode = optimize.minimize(penalised, np.zeros(z.shape[1]), options={"gtol": 1e-7})
    p = special.expit(x @ parameters[:2] + z @ mode.x)
    hessian = np.eye(z.shape[1]) + z.T @ (z * (p * (1 - p))[:, None])
    assert value == pytest.approx(mode.fun + np.linalg.slogdet(hessian)[1], abs=1e-5)
    for k in range(parameters.size):
        step = np.zeros(parameters.size)
        step[k] = 1e-4
        numeric = (found(parameters + step)[0] - found(parameters - step)[0]) / 2e-4
        assert slope[k] == pytest.approx(numeric, rel=1e-3, abs=2e-3)


def test_unbalanced_answers_equal_glmer() -> None:
    frame = pd.read_csv(DATA / "crossed_answers.csv")
    groups = {"question": frame["question"], "model": frame["model"]}
    fit = fit_logistic_mixed(frame["correct"], factorial_design(frame, ["x", "level"]), groups)
    expected = REFERENCE["Laplace"]
    assert fit.converged and not fit.singular and np.isnan(fit.residual_variance)
    np.testing.assert_allclose(fit.estimates, expected["estimates"], rtol=2e-4)
    np.testing.assert_allclose(fit.standard_errors, expected["se"], rtol=2e-3)
    assert fit.log_likelihood == pytest.approx(expected["log_likelihood"], abs=1e-6)
    for name, sd in expected["sd"].items():
        assert fit.component(name).sd == pytest.approx(sd, rel=2e-4)


def test_real_answers_of_six_models_equal_glmer(shared_data: Path) -> None:
    """Two digits of the reference fit; its SE is 0.0487 because glmer stopped early.

    With a tight optimiser glmer gives -1.20286, 0.262086, SE 0.05034, log-likelihood -5913.72993.
    """
    path = shared_data / "stats" / "tot_arithmetic_items.csv.gz"
    if not path.is_file():
        pytest.skip("no answers of six models here")
    frame = pd.read_csv(path)
    frame["few"] = (frame["prompting"] == "few-shot").astype(float)
    design = factorial_design(frame, ["few"])
    groups = {"item": frame["item"], "model": frame["model"]}
    fit = fit_logistic_mixed(frame["exact_match"], design, groups)
    np.testing.assert_allclose(fit.estimates, [-1.2021350, 0.2609123], rtol=0.005)
    np.testing.assert_allclose(fit.estimates, [-1.2028599, 0.2620864], rtol=1e-5)
    np.testing.assert_allclose(fit.standard_errors, [0.4259008, 0.0487218], rtol=0.04)
    np.testing.assert_allclose(fit.standard_errors, [0.42507, 0.050339], rtol=0.004)
    assert [c.sd for c in fit.components] == pytest.approx([1.9233, 1.0290], abs=2e-4)
    assert fit.log_likelihood == pytest.approx(-5913.72993, abs=1e-4)
    # Not lower than what glmer reached.
    assert fit.log_likelihood > -5913.734


def test_a_variance_of_zero_is_dropped() -> None:
    frame, _ = answers(3)
    # Every level of the factor has the same share of right answers: less spread than chance.
    frame = pd.concat([frame] * 2, ignore_index=True)
    frame["y"] = np.tile([0.0, 1.0, 1.0, 0.0], 75)
    frame["g"] = np.repeat(np.arange(75), 4)
    frame["h"] = np.tile(np.arange(2).repeat(2), 75)
    design = factorial_design(frame, ["x"])
    fit = fit_logistic_mixed(frame["y"], design, {"g": frame["g"], "h": frame["h"]})
    assert fit.converged and [c.singular for c in fit.components] == [True, True]
    plain = sm.Logit(frame["y"], design).fit(disp=False)
    np.testing.assert_allclose(fit.estimates, plain.params, atol=1e-7)
    np.testing.assert_allclose(fit.standard_errors, plain.bse, rtol=1e-6)
    assert fit.log_likelihood == pytest.approx(plain.llf, abs=1e-8)
    one_left = fit_logistic_mixed(frame["y"], design, {"g": frame["g"], "a": frame["a"]})
    assert one_left.component("g").singular


def test_likelihood_ratio_counts_the_parameters() -> None:
    frame, groups = answers(4)
    full = fit_logistic_mixed(frame["y"], factorial_design(frame, ["x"]), groups)
    reduced = fit_logistic_mixed(frame["y"], factorial_design(frame, []), groups)
    assert full.parameters == 4
    test = likelihood_ratio(full, reduced)
    assert test.df == 1 and test.p < 0.05


def test_what_cannot_be_estimated_is_a_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    frame, groups = answers(5)
    design = factorial_design(frame, ["x"])

    def refused(y: pd.Series, design: pd.DataFrame, message: str, flag: str) -> None:
        with pytest.raises(MixedModelError, match=message) as error:
            fit_logistic_mixed(y, design, groups)
        assert error.value.flag == flag

    refused(frame["y"] * 2, design, "answers of 0 and 1", "missing")
    refused(frame["y"] * 0, design, "response is constant", "one_class")
    refused((frame["x"] > 0).astype(float), design, "separate right from wrong", "not_converged")
    only = frame.assign(y=((frame["a"] > 5) & (frame["y"] > 0)).astype(float))
    half = design.assign(half=(frame["a"] > 5).astype(float))
    refused(only["y"], half, "separate right from wrong", "not_converged")
    monkeypatch.setattr(mixed_logistic, "DENSE_LEVELS", 3)
    refused(frame["y"], design, "have 4 levels", "missing")


def test_newton_refuses_a_saddle() -> None:
    def saddle(at: np.ndarray) -> tuple[float, np.ndarray]:
        return float(at[0] ** 2 - at[1] ** 2), np.array([2 * at[0], -2 * at[1]])

    with pytest.raises(MixedModelError, match="no maximum"):
        mixed_logistic._newton(saddle, np.zeros(2), np.eye(2))
