"""The crossed linear mixed model: against a dense oracle, lme4, statsmodels, and simulation."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import linalg, stats

from scripts.statistics import mixed
from scripts.statistics.grouping import (
    MixedModelError,
    indicator,
    interaction_labels,
    make_grouping,
)
from scripts.statistics.mixed import (
    MixedFit,
    factorial_design,
    fit_linear_mixed,
    fit_prepared,
    influence,
    likelihood_ratio,
    prepare,
    simple_slope,
)

DATA = Path(__file__).parents[1] / "data"
REFERENCE = json.loads((DATA / "lme4_reference.json").read_text("utf-8"))


def one(rows: int) -> pd.DataFrame:
    return pd.DataFrame({"(Intercept)": np.ones(rows)})


def crossed(seed: int, questions: int = 25, models: int = 6, kept: float = 0.8) -> pd.DataFrame:
    """An unbalanced crossed design; every level keeps at least one row."""
    generator = np.random.default_rng(seed)
    frame = pd.DataFrame(
        [(q, m) for q in range(questions) for m in range(models)], columns=["question", "model"]
    )
    keep = generator.uniform(size=len(frame)) < kept
    keep |= (frame["question"] % models == frame["model"]).to_numpy()
    frame = frame[keep].reset_index(drop=True)
    frame["x"] = generator.normal(size=len(frame))
    frame["w"] = generator.normal(size=questions)[frame["question"]]
    frame["y"] = (
        1
        + 0.5 * frame["x"]
        + generator.normal(0, 0.8, questions)[frame["question"]]
        + generator.normal(0, 0.5, models)[frame["model"]]
        + generator.normal(0, 1, len(frame))
    )
    return frame


def dense_deviance(
    y: NDArray[np.float64],
    x: NDArray[np.float64],
    factors: list[tuple[float, Any]],
    residual: float,
    reml: bool,
) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
    """-2 log-likelihood from the full covariance matrix, GLS estimates and their covariance."""
    v = residual * np.eye(y.size)
    for variance, labels in factors:
        z = indicator(make_grouping("g", labels)).toarray()
        v += variance * z @ z.T
    inverse = np.linalg.inv(v)
    information = x.T @ inverse @ x
    beta = np.linalg.solve(information, x.T @ inverse @ y)
    value = -2 * stats.multivariate_normal(x @ beta, v).logpdf(y)
    if reml:
        value += np.linalg.slogdet(information)[1] - x.shape[1] * np.log(2 * np.pi)
    return float(value), beta, np.linalg.inv(information)


def factors_of(fit: MixedFit, frame: pd.DataFrame) -> list[tuple[float, Any]]:
    return [(c.variance, frame[c.group]) for c in fit.components]


@pytest.mark.parametrize("method", ["REML", "ML"])
@pytest.mark.parametrize("groups", [("question",), ("question", "model")])
@given(seed=st.integers(0, 10_000))
@settings(max_examples=10)
def test_likelihood_estimates_and_errors_equal_the_dense_ones(
    seed: int, groups: tuple[str, ...], method: Any
) -> None:
    frame = crossed(seed)
    design = factorial_design(frame, ["x", "w"])
    fit = fit_linear_mixed(frame["y"], design, {g: frame[g] for g in groups}, method)
    value, beta, covariance = dense_deviance(
        frame["y"].to_numpy(),
        design.to_numpy(),
        factors_of(fit, frame),
        fit.residual_variance,
        method == "REML",
    )
    assert fit.converged
    assert -2 * fit.log_likelihood == pytest.approx(value, abs=1e-8)
    np.testing.assert_allclose(fit.estimates, beta, rtol=1e-7, atol=1e-10)
    np.testing.assert_allclose(fit.covariance, covariance, rtol=1e-7, atol=1e-10)
    for k, component in enumerate(fit.components):  # no neighbour is better
        for factor in (0.9, 1.1):
            moved = factors_of(fit, frame)
            moved[k] = (max(component.variance, 1e-4) * factor, moved[k][1])
            other = dense_deviance(
                frame["y"].to_numpy(),
                design.to_numpy(),
                moved,
                fit.residual_variance,
                method == "REML",
            )[0]
            assert other >= value - 1e-8


@pytest.mark.parametrize("gamma", [(0.7, 0.2, 0.1), (1e-9, 0.2, 1e-7), (0.3, 1e-12, 4.0)])
@pytest.mark.parametrize("reml", [True, False])
def test_gradient_is_exact(gamma: tuple[float, ...], reml: bool) -> None:
    frame = crossed(3)
    frame["half"] = frame["question"] // 5
    design = factorial_design(frame, ["x"])
    model = prepare(frame["y"], design, {g: frame[g] for g in ("model", "half", "question")})
    problem = model.problem(reml)
    at = np.array(gamma)
    found = mixed.evaluate(problem, at).gradient
    for k in range(3):
        h = 1e-6 * max(at[k], 1.0)
        ahead, behind = at.copy(), at.copy()
        ahead[k] += h
        behind[k] = max(at[k] - h, 0.0)
        slope = (
            mixed.evaluate(problem, ahead, False).deviance
            - mixed.evaluate(problem, behind, False).deviance
        ) / (ahead[k] - behind[k])
        assert found[k] == pytest.approx(slope, rel=1e-4, abs=1e-3)


def test_gram_of_distinct_sizes_equals_the_direct_one(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = crossed(5)
    groups = {"question": frame["question"], "model": frame["model"]}
    quick = fit_linear_mixed(frame["y"], one(len(frame)), groups)
    monkeypatch.setattr(mixed, "GRAM_BYTES", 0)
    direct = fit_linear_mixed(frame["y"], one(len(frame)), groups)
    assert direct.log_likelihood == pytest.approx(quick.log_likelihood, abs=1e-9)
    np.testing.assert_allclose(direct.covariance, quick.covariance, rtol=1e-8)


def assert_like(fit: MixedFit, expected: dict[str, Any], variances: float = 1e-5) -> None:
    np.testing.assert_allclose(fit.estimates, expected["estimates"], rtol=1e-6)
    np.testing.assert_allclose(fit.standard_errors, expected["se"], rtol=1e-5)
    assert fit.log_likelihood == pytest.approx(expected["log_likelihood"], abs=1e-7)
    for name, value in expected["variances"].items():
        found = fit.residual_variance if name == "Residual" else fit.component(name).variance
        assert found == pytest.approx(value, rel=variances, abs=1e-12), name


@pytest.mark.parametrize("method", ["REML", "ML"])
def test_penicillin_equals_lme4(method: Any) -> None:
    frame = pd.read_csv(DATA / "penicillin.csv")
    groups = {"plate": frame["plate"], "sample": frame["sample"]}
    fit = fit_linear_mixed(frame["diameter"], one(len(frame)), groups, method)
    assert_like(fit, REFERENCE["penicillin"][method])
    assert [c.levels for c in fit.components] == [24, 6]
    assert not fit.singular


@pytest.mark.parametrize("method", ["REML", "ML"])
def test_unbalanced_answers_equal_lme4(method: Any) -> None:
    frame = pd.read_csv(DATA / "crossed_answers.csv")
    design = factorial_design(frame, ["x", "level"])
    groups = {"question": frame["question"], "model": frame["model"]}
    fit = fit_linear_mixed(frame["correct"], design, groups, method)
    assert_like(fit, REFERENCE["crossed_answers"][method])


def test_likelihood_ratio_equals_lme4() -> None:
    frame = pd.read_csv(DATA / "crossed_answers.csv")
    design = factorial_design(frame, ["x", "level"])
    groups = {"question": frame["question"], "model": frame["model"]}
    full = fit_linear_mixed(frame["correct"], design, groups, "ML")
    reduced = fit_linear_mixed(frame["correct"], design.iloc[:, :3], groups, "ML")
    test = likelihood_ratio(full, reduced)
    expected = REFERENCE["crossed_answers"]["lrt"]
    assert test.df == 1
    assert test.chi2 == pytest.approx(expected["chi2"], rel=1e-6)
    assert test.p == pytest.approx(expected["p"], rel=1e-6)
    restricted = fit_linear_mixed(frame["correct"], design, groups)
    with pytest.raises(MixedModelError, match="ML fits"):
        likelihood_ratio(restricted, reduced)
    with pytest.raises(MixedModelError, match="fewer terms"):
        likelihood_ratio(reduced, full)


def test_a_variance_on_the_boundary_is_zero_and_said_to_be() -> None:
    frame = pd.read_csv(DATA / "crossed_answers.csv")
    groups = {
        "question": frame["question"],
        "model": frame["model"],
        "seed": frame["question"].str[:2],
    }
    design = factorial_design(frame, ["x"])
    fit = fit_linear_mixed(frame["correct"], design, groups)
    assert_like(fit, REFERENCE["three_factors_one_singular"]["REML"])
    assert fit.converged and fit.singular
    assert [c.singular for c in fit.components] == [False, False, True]
    assert fit.component("seed").variance == 0
    without = fit_linear_mixed(
        frame["correct"], design, {k: v for k, v in groups.items() if k != "seed"}
    )
    assert fit.log_likelihood == pytest.approx(without.log_likelihood, abs=1e-9)


def test_without_any_variance_it_is_least_squares() -> None:
    generator = np.random.default_rng(2)
    frame = pd.DataFrame({"g": np.repeat(np.arange(8), 4), "h": np.tile(np.arange(4), 8)})
    frame["x"] = generator.normal(size=32)
    y = generator.normal(size=32)
    # Group means are made equal, so that there is less between groups than chance gives.
    y -= pd.Series(y).groupby(frame["g"]).transform("mean").to_numpy()
    y -= pd.Series(y).groupby(frame["h"]).transform("mean").to_numpy()
    design = factorial_design(frame, ["x"])
    fit = fit_linear_mixed(y, design, {"g": frame["g"], "h": frame["h"]})
    x = design.to_numpy()
    beta, rest, *_ = np.linalg.lstsq(x, y, rcond=None)
    assert fit.converged and all(c.singular for c in fit.components)
    np.testing.assert_allclose(fit.estimates, beta, atol=1e-10)
    np.testing.assert_allclose(
        fit.covariance, rest[0] / 30 * np.linalg.inv(x.T @ x), rtol=1e-8, atol=1e-12
    )


def test_statsmodels_agrees_on_a_small_crossed_set() -> None:
    import statsmodels.api as sm

    frame = crossed(11, questions=60, models=10, kept=1.0)
    assert len(frame) == 600
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = sm.MixedLM(
            frame["y"],
            factorial_design(frame, ["x"]),
            groups=np.ones(len(frame)),
            exog_vc=sm.regression.mixed_linear_model.VCSpec(
                ["question", "model"],
                [[list(map(str, range(60)))], [list(map(str, range(10)))]],
                [[indicator(make_grouping(g, frame[g])).toarray()] for g in ("question", "model")],
            ),
        ).fit(reml=True, method="powell")
    groups = {"question": frame["question"], "model": frame["model"]}
    ours = fit_linear_mixed(frame["y"], factorial_design(frame, ["x"]), groups)
    assert ours.log_likelihood == pytest.approx(theirs.llf, abs=1e-5)
    np.testing.assert_allclose(ours.estimates, theirs.fe_params, rtol=1e-4)
    np.testing.assert_allclose(ours.standard_errors, theirs.bse_fe, rtol=1e-3)
    np.testing.assert_allclose([c.variance for c in ours.components], theirs.vcomp, rtol=1e-2)


def nested(frame: pd.DataFrame, question_intercept: str | None = None) -> Any:
    """The specification of the authors' script: the model's effect nested in each question.

    With a formula for the variance component and none for the random effects, statsmodels fits no
    intercept of the question either.
    """
    import statsmodels.formula.api as smf

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return smf.mixedlm(
            "y ~ ability",
            frame,
            groups=frame["question"],
            vc_formula={"model": "0 + C(model)"},
            re_formula=question_intercept,
        ).fit(reml=True)


def test_it_is_crossed_and_not_nested() -> None:
    frame = crossed(21, questions=30, models=8, kept=1.0)
    frame["ability"] = np.random.default_rng(4).normal(size=8)[frame["model"]]
    design = factorial_design(frame, ["ability"])
    groups = {"question": frame["question"], "model": frame["model"]}
    ours = fit_linear_mixed(frame["y"], design, groups)
    y, x = frame["y"].to_numpy(), design.to_numpy()
    question, model = factors_of(ours, frame)
    value = dense_deviance(y, x, [question, model], ours.residual_variance, True)[0]
    assert -2 * ours.log_likelihood == pytest.approx(value, abs=1e-8)
    # Nested, the model's variance goes to the residual, from which nothing tells it apart.
    other = dense_deviance(y, x, [question], ours.residual_variance + model[0], True)[0]
    assert other > value + 2
    theirs = nested(frame, question_intercept="1")
    only_question = fit_linear_mixed(frame["y"], design, {"question": frame["question"]})
    assert theirs.llf == pytest.approx(only_question.log_likelihood, abs=1e-4)
    assert theirs.scale + theirs.vcomp[0] == pytest.approx(
        only_question.residual_variance, rel=1e-3
    )
    assert ours.log_likelihood > theirs.llf + 2
    assert ours.standard_errors[1] > 1.5 * theirs.bse_fe["ability"]
    # As in the script, without the question's intercept: variance and residual are one quantity
    # split in two, and the standard error is several times too small.
    as_released = nested(frame)
    assert as_released.vcomp[0] == pytest.approx(as_released.scale, rel=1e-3)
    assert ours.standard_errors[1] > 4 * as_released.bse_fe["ability"]
    pair = interaction_labels(frame["question"].astype(str), frame["model"])
    with pytest.raises(MixedModelError, match="as many levels as rows"):
        fit_linear_mixed(frame["y"], design, {**groups, "model": pair})


def test_false_positives_are_nominal_where_the_nested_reading_has_many() -> None:
    """A predictor of models without effect, on 40 questions x 12 models: 80 simulations of ours,
    the first 16 with the nested specification too."""
    generator = np.random.default_rng(8)
    frame = pd.DataFrame(
        [(q, m) for q in range(40) for m in range(12)], columns=["question", "model"]
    )
    ours, theirs = [], []
    for i in range(80):
        frame["ability"] = generator.normal(size=12)[frame["model"]]
        frame["y"] = (
            generator.normal(0, 0.2, 12)[frame["model"]]
            + generator.normal(0, 0.2, 40)[frame["question"]]
            + generator.normal(0, 0.35, len(frame))
        )
        groups = {"question": frame["question"], "model": frame["model"]}
        fit = fit_linear_mixed(frame["y"], factorial_design(frame, ["ability"]), groups)
        ours.append(fit.p[1])
        if i < 16:
            theirs.append(nested(frame).pvalues["ability"])
    # Nominal 5 %: with 12 models the normal p is a little liberal (7.8 %, by t with 10 degrees of
    # freedom), and 80 simulations reach 15 % with probability 2 %.
    assert np.mean(np.array(ours) < 0.05) <= 0.15
    assert np.mean(np.array(theirs) < 0.05) >= 0.5


@pytest.mark.parametrize("method", ["REML", "ML"])
def test_285000_answers_equal_lme4(shared_data: Path, method: Any) -> None:
    folder = shared_data / "lmm"
    if not (folder / "sim285k.csv.gz").is_file():
        pytest.skip("no simulated answers here")
    frame = pd.read_csv(folder / "sim285k.csv.gz")
    frame["resourcehigh"] = (frame["resource"] == "high").astype(float)
    design = factorial_design(frame, ["mdfr_z", "linearity_z", "resourcehigh"])
    groups = {"question": frame["question"], "model": frame["model"]}
    fit = fit_linear_mixed(frame["y"], design, groups, method)
    stem = f"sim285k_lme4_{'reml_tight' if method == 'REML' else 'ml'}"
    fixed = pd.read_csv(folder / f"{stem}_fixef.csv")
    variances = pd.read_csv(folder / f"{stem}_varcorr.csv").set_index("grp")["vcov"]
    values = pd.read_csv(folder / f"{stem}_fit.csv").set_index("what")["value"]
    assert list(fit.terms) == list(fixed["term"])
    np.testing.assert_allclose(fit.estimates, fixed["Estimate"], rtol=1e-6)
    np.testing.assert_allclose(fit.standard_errors, fixed["Std. Error"], rtol=1e-4)
    for name in ("question", "model"):
        assert fit.component(name).variance == pytest.approx(variances[name], rel=1e-3)
    assert fit.residual_variance == pytest.approx(variances["Residual"], rel=1e-3)
    assert fit.log_likelihood == pytest.approx(values["logLik"], abs=1e-6)


@given(seed=st.integers(0, 1000))
@settings(max_examples=10)
def test_rows_labels_units_and_origin_do_not_matter(seed: int) -> None:
    frame = crossed(seed)
    design = factorial_design(frame, ["x"])
    groups = {"question": frame["question"], "model": frame["model"]}
    plain = fit_linear_mixed(frame["y"], design, groups)
    order = np.random.default_rng(seed).permutation(len(frame))
    shuffled = frame.iloc[order]
    scaled = factorial_design(shuffled.assign(x=shuffled["x"] * 1e4), ["x"])
    moved = fit_linear_mixed(
        1e6 + 10 * shuffled["y"],
        scaled,
        {"model": shuffled["model"].map(lambda m: f"m{9 - m}"), "question": shuffled["question"]},
    )
    assert moved.estimates[1] * 1e3 == pytest.approx(plain.estimates[1], rel=1e-5)
    assert moved.standard_errors[1] * 1e3 == pytest.approx(plain.standard_errors[1], rel=1e-5)
    for name in ("question", "model"):
        assert moved.component(name).variance / 100 == pytest.approx(
            plain.component(name).variance, rel=1e-4, abs=1e-9
        )


def test_influence_adds_up_and_matches_least_squares() -> None:
    frame = crossed(9)
    design = factorial_design(frame, ["x"])
    model = prepare(frame["y"], design, {"question": frame["question"], "model": frame["model"]})
    fit = fit_prepared(model)
    parts = influence(model, fit)
    np.testing.assert_allclose(parts.sum(axis=0), 0, atol=1e-9)
    v = np.eye(len(frame)) * fit.residual_variance
    for variance, labels in factors_of(fit, frame):
        z = indicator(make_grouping("g", labels)).toarray()
        v += variance * z @ z.T
    x = design.to_numpy()
    weights = linalg.solve(v, x, assume_a="pos")
    residuals = frame["y"].to_numpy() - x @ fit.estimates
    expected = (weights * residuals[:, None]) @ np.linalg.inv(x.T @ weights)
    np.testing.assert_allclose(parts, expected, atol=1e-8)


def test_factorial_design_has_all_interactions_in_the_usual_order() -> None:
    frame = pd.DataFrame({"a": [2.0, 3.0], "b": [5.0, 7.0], "c": [-0.5, 0.5]})
    design = factorial_design(frame, ["a", "b", "c"])
    assert list(design) == ["(Intercept)", "a", "b", "c", "a:b", "a:c", "b:c", "a:b:c"]
    assert design.iloc[1].tolist() == [1, 3, 7, 0.5, 21, 1.5, 3.5, 10.5]


def test_simple_slope_is_the_slope_of_a_shifted_moderator() -> None:
    frame = pd.read_csv(DATA / "crossed_answers.csv")
    groups = {"question": frame["question"], "model": frame["model"]}
    fit = fit_linear_mixed(frame["correct"], factorial_design(frame, ["x", "level"]), groups)
    shifted = factorial_design(frame.assign(level=frame["level"] - 0.5), ["x", "level"])
    direct = fit_linear_mixed(frame["correct"], shifted, groups)
    slope = simple_slope(fit, "x", "x:level", 0.5)
    assert slope.slope == pytest.approx(direct.estimates[1], rel=1e-8)
    assert slope.se == pytest.approx(direct.standard_errors[1], rel=1e-8)
    assert slope.p == pytest.approx(direct.p[1], rel=1e-6)
    low, high = direct.interval()
    assert (slope.low, slope.high) == pytest.approx((low[1], high[1]))


def test_factors_with_nested_labels() -> None:
    first = pd.Series(["a:b", "a", "a", "a\\"])
    second = pd.Series(["c", "b:c", "b", ":b"])
    assert interaction_labels(first, second).nunique() == 4
    grouping = make_grouping("g", ["b", "a", "b"])
    assert grouping.labels == ("a", "b") and grouping.counts.tolist() == [1, 2]


def refused(y: Any, design: pd.DataFrame, groups: Any, message: str, flag: str) -> None:
    with pytest.raises(MixedModelError, match=message) as error:
        fit_linear_mixed(y, design, groups)
    assert error.value.flag == flag


def test_what_cannot_be_estimated_is_a_clear_error() -> None:
    frame = crossed(1)
    y, rows = frame["y"], len(frame)
    design = factorial_design(frame, ["x"])
    groups = {"question": frame["question"], "model": frame["model"]}
    broken = y.copy()
    broken[3] = np.nan
    refused(broken, design, groups, "missing or infinite in row 3", "missing")
    refused(y, design.assign(x=np.inf), groups, "'x' is missing or infinite in row 0", "missing")
    refused(y[:-1], design, groups, f"{rows} rows, the response {rows - 1}", "missing")
    refused(y, design.iloc[:, :0], groups, "no column", "missing")
    refused(y, design.assign(x2=2 * design["x"] + 1), groups, "'x2' is constant or", "collinear")
    refused(y, design.assign(c=3.0), groups, "'c' is constant or", "collinear")
    refused(y, design.assign(zero=0.0), groups, "'zero' is zero", "constant")
    refused(y * 0 + 1, design, groups, "response is constant", "one_class")
    refused(design["x"] * 2 + 1, design, groups, "explain the response completely", "constant")
    refused(y[:3], design[:3], {"g": [0, 0, 1]}, "too few", "too_few")
    refused(y, design, {}, "at least one grouping factor", "missing")
    refused(y, design, {"g": [1, 2]}, f"2 labels for {rows} rows", "missing")
    refused(y, design, {"g": ["a"] * rows}, "single level", "too_few")
    refused(y, design, {"g": list(range(rows))}, "as many levels as rows", "too_few")
    missing = frame["model"].astype(object).where(frame.index != 5)
    refused(y, design, {"model": missing}, "no label in row 5", "missing")
    same = frame["model"].map("m{}".format)
    refused(y, design, {**groups, "again": same}, "'model' and 'again' divide", "collinear")


def test_too_many_levels_for_a_dense_factorisation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mixed, "DENSE_LEVELS", 5)
    frame = crossed(1)
    groups = {"question": frame["question"], "model": frame["model"]}
    with pytest.raises(MixedModelError, match="have 6 levels"):
        fit_linear_mixed(frame["y"], one(len(frame)), groups)
