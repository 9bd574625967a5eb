"""MultiTempBench's regression: rows, fits, permutations, what cannot be estimated, the rule."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import permutations, product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from scripts.files import DataError, read_csv, write_csv, write_parquet, write_records
from scripts.multitempbench import fit_mixed_effects, regression
from scripts.multitempbench.fragmentation import TOKEN_COLUMNS
from scripts.multitempbench.permutations import Predictors, cell_design, permutation_p
from scripts.multitempbench.regression import (
    FIT_COLUMNS,
    SLOPE_COLUMNS,
    TERM_COLUMNS,
    VARIANCE_COLUMNS,
    Specification,
    compute_frames,
    fit_specification,
    specifications,
    summary,
)
from scripts.multitempbench.regression_rows import (
    AnalysisFrame,
    Settings,
    build_frame,
    model_fragmentation,
)
from scripts.records import Item
from scripts.statistics import mixed
from scripts.statistics.flags import FLAGS
from scripts.statistics.mixed import factorial_design, fit_linear_mixed, fit_prepared, prepare
from tests.synthetic_answers import LANGUAGES, Answers, simulate

FITS = [
    *("main", "main_ml", "no_three_way", "seed_question", "log_corpus", "as_published"),
    *("logistic", *(f"leave_out_{name}" for name in LANGUAGES)),
]
INFERENCE = ["se", "z", "p", "low", "high"]


def settings_for(answers: Answers, permutations: int = 19, **changes: Any) -> Settings:
    models = sorted(answers.scores["model"].unique())
    return Settings(**{"models": models, "languages": LANGUAGES, "seed": 42} | changes,
                    permutations=permutations)  # fmt: skip


def frames_of(answers: Answers, **options: Any) -> dict[str, pd.DataFrame]:
    chosen = settings_for(answers, **options)
    return compute_frames(build_frame(*answers, chosen), chosen)


@pytest.fixture(scope="module")
def answers() -> Answers:
    return simulate(models=9, tokenisers=4, questions=12, seed=3, effect=0.6)


@pytest.fixture(scope="module")
def frame(answers: Answers) -> AnalysisFrame:
    return build_frame(*answers, settings_for(answers))


@pytest.fixture(scope="module")
def frames(frame: AnalysisFrame, answers: Answers) -> dict[str, pd.DataFrame]:
    return compute_frames(frame, settings_for(answers))


# Rows ---------------------------------------------------------------------------------------------


def test_z_scores_are_over_cells_and_not_over_rows(frame: AnalysisFrame) -> None:
    rows = frame.rows
    cells = rows.groupby(["tokeniser", "language"])["mdfr_z"].mean()
    assert len(cells) == 20
    assert (cells.mean(), cells.std(ddof=1)) == pytest.approx((0, 1), abs=1e-12)
    straight = rows.groupby(["model", "language"])["linearity_z"].first()
    assert (straight.mean(), straight.std(ddof=1)) == pytest.approx((0, 1), abs=1e-12)
    # Nine models share four tokenisers unevenly, so that rows have another mean than cells.
    assert abs(rows["mdfr_z"].mean()) > 0.01
    assert rows.groupby(["tokeniser", "language"])["mdfr_z"].std().min() > 0, "mDFR is per item"


def test_moderators(frame: AnalysisFrame) -> None:
    by_language = frame.rows.groupby("language")[["resource", "log_corpus"]].first()
    assert by_language["resource"].to_dict() == {
        "ar": -0.5, "de": 0.5, "en": 0.5, "ha": -0.5, "zh": 0.5,
    }  # fmt: skip
    assert by_language["log_corpus"].mean() == pytest.approx(0, abs=1e-12)
    difference = by_language["log_corpus"]["en"] - by_language["log_corpus"]["ha"]
    assert difference == pytest.approx(3), "300 GB against 0.3 GB: three powers of ten"


def test_unscored_rows_and_models_without_predictors_are_counted(answers: Answers) -> None:
    scores = answers.scores.copy()
    scores.loc[[0, 5], "correct"] = pd.NA
    linearity = answers.linearity.copy()
    lost = (linearity["model"] == "model03") & (linearity["language"] == "ha")
    linearity.loc[lost, "r2_cv"] = np.nan
    fragmentation = answers.fragmentation[answers.fragmentation["model"] != "model04"]
    settings = settings_for(answers, models=[*sorted(scores["model"].unique()), "absent"])
    found = build_frame(scores, fragmentation, linearity, settings)
    assert found.unscored == 2
    assert found.left_out == {
        "absent": "no scores",
        "model03": "no linearity in ha",
        "model04": "no tokeniser",
    }
    assert found.rows["model"].nunique() == 7
    assert len(found.rows) == 7 * 240 - 2
    row = compute_frames(found, settings)["regression_fits"].iloc[0]
    assert (row["unscored"], row["n"]) == (2, 7 * 240 - 2)
    assert json.loads(row["left_out"]) == dict(found.left_out)


def test_a_model_in_two_modes_takes_part_twice(answers: Answers) -> None:
    extra = answers.scores[answers.scores["model"] == "model00"].assign(mode="thinking")
    scores = pd.concat([answers.scores, extra], ignore_index=True)
    found = build_frame(scores, *answers[1:], settings_for(answers))
    assert found.rows["model"].nunique() == 10
    assert {"model00 (thinking)", "model00 (non_thinking)"} <= set(found.rows["model"])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda a: a._replace(scores=pd.concat([a.scores, a.scores[:1]])), "stands twice"),
        (lambda a: a._replace(scores=a.scores.drop(columns="mode")), r"\['mode'\] missing"),
        (lambda a: a._replace(linearity=a.linearity.rename(columns={"r2_cv": "x"})), "linearity"),
        (lambda a: a._replace(scores=a.scores.assign(language="fr")), "'fr'"),
        (lambda a: a._replace(fragmentation=a.fragmentation[1:]), "has no mDFR for model00"),
    ],
)
def test_bad_input_is_a_clear_error(
    answers: Answers, change: Callable[[Answers], Answers], message: str
) -> None:
    with pytest.raises(DataError, match=message):
        build_frame(*change(answers), settings_for(answers))


# Fits ---------------------------------------------------------------------------------------------


def test_frames_have_the_contract_s_columns_and_fits(frames: dict[str, pd.DataFrame]) -> None:
    columns = {
        "regression": TERM_COLUMNS,
        "regression_fits": FIT_COLUMNS,
        "regression_variances": VARIANCE_COLUMNS,
        "regression_slopes": SLOPE_COLUMNS,
    }
    assert set(frames) == set(columns)
    for name, expected in columns.items():
        assert tuple(frames[name]) == expected
        assert list(frames[name]["fit"].unique()) == FITS
    fits = frames["regression_fits"].set_index("fit")
    assert fits.loc["main", ["method", "n", "questions", "seed_questions"]].tolist() == [
        "REML", 2160, 240, 12,
    ]  # fmt: skip
    assert fits.loc["main", ["models", "tokenisers"]].tolist() == [9, 4]
    assert fits.loc["main", ["tokeniser_languages", "model_languages"]].tolist() == [20, 45]
    assert fits.loc["leave_out_ha", ["tokeniser_languages", "model_languages"]].tolist() == [16, 36]
    assert fits.loc["as_published", "predictor"] == "mdfr_as_published"
    assert fits["converged"].all() and (fits["reason"] == "").all()
    assert "20 tokeniser x language and 45 model x language" in summary(frames)


def test_main_fit_equals_the_general_solver(
    frame: AnalysisFrame, frames: dict[str, pd.DataFrame]
) -> None:
    rows = frame.rows
    design = factorial_design(rows, ["mdfr_z", "linearity_z", "resource"])
    fit = fit_linear_mixed(
        rows["correct"], design, {"question": rows["item_id"], "model": rows["model"]}
    )
    found = frames["regression"].query("fit == 'main'").set_index("term")
    np.testing.assert_allclose(found["estimate"], fit.estimates)
    np.testing.assert_allclose(found["p"], fit.p)
    variances = frames["regression_variances"].query("fit == 'main'").set_index("group")
    assert variances.loc["model", "variance"] == pytest.approx(fit.component("model").variance)
    assert variances.loc["Residual", "sd"] ** 2 == pytest.approx(fit.residual_variance)
    assert variances["levels"].tolist() == [240, 9, 2160]
    # The planted effect: 0.6 per unit of mDFR.
    scale = rows["mdfr"].std() / rows["mdfr_z"].std()
    assert found.loc["mdfr_z", "estimate"] == pytest.approx(-0.6 * scale, abs=0.05)
    assert found.loc["mdfr_z", "p_permutation"] == 0.05
    assert found.loc["mdfr_z", "se_cluster"] > 0
    assert found["odds_ratio"].isna().all()
    terms = ["(Intercept)", "resource"]
    assert found.loc[terms, "p_permutation"].isna().all()
    assert found.drop(terms)["p_permutation"].notna().all()


def test_three_way_test_seed_questions_and_logistic(frames: dict[str, pd.DataFrame]) -> None:
    fits = frames["regression_fits"].set_index("fit")
    test = fits.loc["main_ml"]
    expected = 2 * (test["log_likelihood"] - fits.loc["no_three_way", "log_likelihood"])
    assert test["lrt_chi2"] == pytest.approx(expected) and test["lrt_df"] == 1
    assert fits.drop("main_ml")["lrt_p"].isna().all()
    groups = frames["regression_variances"].query("fit == 'seed_question'")["group"]
    assert groups.tolist() == ["question", "seed_question", "model", "model_language", "Residual"]
    logistic = frames["regression"].query("fit == 'logistic'")
    np.testing.assert_allclose(logistic["odds_ratio"], np.exp(logistic["estimate"]))
    assert logistic[["se_cluster", "p_permutation"]].isna().all(axis=None)
    assert len(frames["regression"].query("fit == 'no_three_way'")) == 7


def test_slopes_by_resource(frames: dict[str, pd.DataFrame]) -> None:
    terms = frames["regression"].query("fit == 'main'").set_index("term")["estimate"]
    slopes = frames["regression_slopes"].query("fit == 'main'")
    slopes = slopes.set_index(["predictor", "resource"])["slope"]
    for predictor in ("mdfr_z", "linearity_z"):
        for resource, half in (("low", -0.5), ("high", 0.5)):
            expected = terms[predictor] + half * terms[f"{predictor}:resource"]
            assert slopes[predictor, resource] == pytest.approx(expected)
    corpus = frames["regression_slopes"].query("fit == 'log_corpus'")
    assert corpus["se"].gt(0).all()


def test_same_input_same_frames_whatever_the_order_of_the_rows(
    answers: Answers, frames: dict[str, pd.DataFrame], tmp_path: Path
) -> None:
    shuffled = Answers(*(part.sample(frac=1, random_state=1) for part in answers))
    again = frames_of(shuffled)
    for name, first in frames.items():
        write_csv(tmp_path / "a.csv", first)
        write_csv(tmp_path / "b.csv", again[name])
        assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()


# Permutations -------------------------------------------------------------------------------------


def permuted_rows(frame: AnalysisFrame, source: Any, model: Any, names: list[str]) -> pd.DataFrame:
    """The rows with the predictors changed hands, the long way."""
    rows = frame.rows.copy()
    languages, models = sorted(rows["language"].unique()), sorted(rows["model"].unique())
    straight = rows.groupby(["model", "language"])["linearity_z"].first()
    for index, row in rows.iterrows():
        own = names.index(row["tokeniser"])
        giver = names[source[languages.index(row["language"]), own]]
        rows.loc[index, "mdfr_z"] = frame.values["mdfr"][giver][row["item_id"]]
        other = models[model[models.index(row["model"])]]
        rows.loc[index, "linearity_z"] = straight[other, row["language"]]
    return rows


def test_a_permuted_fit_equals_generalised_least_squares_on_permuted_rows() -> None:
    answers = simulate(models=5, tokenisers=3, questions=3, seed=9)
    frame = build_frame(*answers, settings_for(answers))
    predictors = Specification("main").predictors
    groups = {"question": frame.rows["item_id"], "model": frame.rows["model"]}
    model = prepare(frame.rows["correct"], factorial_design(frame.rows, predictors), groups)
    fit = fit_prepared(model)
    design = cell_design(frame.rows, frame.values["mdfr"], predictors, model, fit)
    identity = np.tile(np.arange(3), (5, 1))
    np.testing.assert_allclose(design.z(identity, np.arange(5)), fit.z, rtol=1e-6)
    generator = np.random.default_rng(0)
    source = generator.permuted(identity, axis=1)
    order = generator.permutation(5)
    names = sorted(frame.values["mdfr"])
    rows = permuted_rows(frame, source, order, names)
    other = prepare(rows["correct"], factorial_design(rows, predictors), groups)
    found = mixed.evaluate(other.problem(True), model.relative_variances(fit), gradient=False)
    triangle = np.linalg.inv(other.triangle)
    beta = other.least_squares + triangle @ found.beta
    variance = found.sigma2 * np.diag(triangle @ found.unscaled @ triangle.T)
    np.testing.assert_allclose(design.z(source, order), beta / np.sqrt(variance), rtol=1e-6)


def test_the_p_counts_arrangements_as_extreme_as_the_observed() -> None:
    """With three tokenisers and two languages all 36 arrangements can be counted."""
    answers = simulate(models=6, tokenisers=3, questions=6, seed=5, effect=0.3)
    two = Answers(*(part[part["language"].isin(["ar", "en"])] if "language" in part else part
                    for part in answers))  # fmt: skip
    frame = build_frame(*two, settings_for(two))
    predictors = Specification("main").predictors
    groups = {"question": frame.rows["item_id"], "model": frame.rows["model"]}
    model = prepare(frame.rows["correct"], factorial_design(frame.rows, predictors), groups)
    fit = fit_prepared(model)
    design = cell_design(frame.rows, frame.values["mdfr"], predictors, model, fit)
    assert design.arrangements("fragmentation") == 36
    assert design.arrangements("linearity") == 720
    assert design.arrangements("both") == 36 * 720
    everything = [
        abs(design.z(np.array(source), np.arange(6))[1])
        for source in product(permutations(range(3)), repeat=2)
    ]
    exact = np.mean(np.array(everything) >= abs(fit.z[1]) * (1 - 1e-10))
    kinds = [predictors.kind(term) for term in fit.terms]
    p = permutation_p(design, kinds, 1000, 1, "main")
    assert p[1] == pytest.approx(exact, abs=4 * np.sqrt(0.25 / 1000))
    assert np.isnan(p[[0, 3]]).all()
    np.testing.assert_array_equal(p, permutation_p(design, kinds, 1000, 1, "main"))


def test_what_is_permuted_for_which_term() -> None:
    predictors = Predictors("mdfr_z", "linearity_z", "resource")
    kinds = {term: predictors.kind(term) for term in Specification("main").terms}
    assert kinds == {
        "(Intercept)": None,
        "mdfr_z": "fragmentation",
        "linearity_z": "linearity",
        "resource": None,
        "mdfr_z:linearity_z": "both",
        "mdfr_z:resource": "fragmentation",
        "linearity_z:resource": "linearity",
        "mdfr_z:linearity_z:resource": "both",
    }


def test_permutation_p_is_nominal_where_the_model_has_no_effect() -> None:
    """Models differ from language to language, which the main fit's z ignores: too many small p."""
    wald, permuted = [], []
    for seed in range(16):
        answers = simulate(models=10, tokenisers=5, questions=30, seed=seed, continuous=True)
        settings = settings_for(answers, permutations=39)
        frame = build_frame(*answers, settings)
        outcome = fit_specification(frame, Specification("main"), settings)
        assert outcome.fit is not None
        for term in ("mdfr_z", "linearity_z"):
            wald.append(outcome.fit.p[outcome.fit.terms.index(term)])
            permuted.append(outcome.p_permutation[term])
    assert np.mean(np.array(wald) < 0.05) > 0.12
    assert np.mean(np.array(permuted) <= 0.05) <= 0.125


# What cannot be estimated -------------------------------------------------------------------------


def unchanged(answers: Answers) -> Answers:
    return answers


def all_wrong(answers: Answers) -> Answers:
    return answers._replace(scores=answers.scores.assign(correct=False))


def all_unscored(answers: Answers) -> Answers:
    nothing = pd.array([None] * len(answers.scores), dtype="boolean")
    return answers._replace(scores=answers.scores.assign(correct=nothing))


def no_scores(answers: Answers) -> Answers:
    return answers._replace(scores=answers.scores[:0])


def low_resource_wrong(answers: Answers) -> Answers:
    low = answers.scores["language"].isin(["ar", "ha"])
    return answers._replace(scores=answers.scores.assign(
        correct=answers.scores["correct"] & ~low))  # fmt: skip


def constant_mdfr(answers: Answers) -> Answers:
    return answers._replace(fragmentation=answers.fragmentation.assign(mdfr=0.4))


def constant_linearity(answers: Answers) -> Answers:
    return answers._replace(linearity=answers.linearity.assign(r2_cv=0.5))


def one_tokeniser(answers: Answers) -> Answers:
    first = answers.fragmentation[answers.fragmentation["model"] == "model00"]
    parts = [first.assign(model=name) for name in answers.scores["model"].unique()]
    return answers._replace(fragmentation=pd.concat(parts, ignore_index=True))


def one_language(answers: Answers) -> Answers:
    return answers._replace(scores=answers.scores[answers.scores["language"] == "de"])


def no_tokenisers(answers: Answers) -> Answers:
    return answers._replace(fragmentation=answers.fragmentation[:0])


def no_linearity(answers: Answers) -> Answers:
    return answers._replace(linearity=answers.linearity.assign(r2_cv=np.nan))


def linearity_follows_resource(answers: Answers) -> Answers:
    high = answers.linearity["language"].isin(["en", "de", "zh"])
    return answers._replace(linearity=answers.linearity.assign(r2_cv=np.where(high, 0.8, 0.3)))


CASES = [
    unchanged, all_wrong, all_unscored, no_scores, low_resource_wrong, constant_mdfr,
    constant_linearity, one_tokeniser, one_language, no_tokenisers, no_linearity,
    linearity_follows_resource,
]  # fmt: skip


@pytest.mark.parametrize(("change", "models"), [(unchanged, 1), *product(CASES, [2, 6])])
def test_degenerate_answers_give_empty_values_with_a_flag(
    change: Callable[[Answers], Answers], models: int, tmp_path: Path
) -> None:
    answers = simulate(models=models, tokenisers=min(models, 3), questions=5, seed=2)
    frames = {}
    settings = settings_for(answers)
    for name, frame in frames_of_changed(change(answers), settings).items():
        write_csv(tmp_path / f"{name}.csv", frame)
        frames[name] = read_csv(tmp_path / f"{name}.csv")
    assert frames["regression_fits"]["fit"].tolist() == FITS
    flags = frames["regression_fits"].set_index("fit")["flag"].fillna("")
    assert set(";".join(flags).split(";")) <= {*FLAGS, ""}
    for frame in frames.values():
        numbers = frame.select_dtypes("number")
        assert np.isfinite(numbers.fillna(0)).all(axis=None)
    for row in frames["regression"].to_dict("records"):
        missing = [name for name in ("estimate", *INFERENCE) if pd.isna(row[name])]
        assert not missing or flags[row["fit"]], row
        assert pd.isna(row["estimate"]) or row["se"] != 0
    slopes = frames["regression_slopes"]
    assert flags[slopes.loc[slopes["se"].isna(), "fit"]].ne("").all()
    if models == 1:
        assert frames["regression"]["estimate"].isna().all()
    if models == 2:
        assert frames["regression"][INFERENCE].isna().all(axis=None)


def frames_of_changed(answers: Answers, settings: Settings) -> dict[str, pd.DataFrame]:
    return compute_frames(build_frame(*answers, settings), settings)


@pytest.mark.parametrize(
    ("change", "flag", "reason"),
    [
        (all_wrong, "one_class", "response is constant"),
        (all_unscored, "missing", "no scored answer"),
        (no_tokenisers, "missing", "no scored answer"),
        (constant_mdfr, "constant", "mdfr_z: no variation"),
        (constant_linearity, "constant", "linearity_z: no variation"),
        (linearity_follows_resource, "collinear", "'resource' is constant or"),
        (one_language, "collinear", "'resource' is constant or"),
    ],
)
def test_the_flag_says_why(change: Callable[[Answers], Answers], flag: str, reason: str) -> None:
    answers = simulate(models=6, tokenisers=3, questions=5, seed=2)
    row = frames_of_changed(change(answers), settings_for(answers))["regression_fits"].iloc[0]
    assert row["flag"] == flag and reason in row["reason"]


def test_two_models_are_described_but_not_tested() -> None:
    answers = simulate(models=2, tokenisers=2, questions=10, seed=2)
    frames = frames_of(answers)
    main = frames["regression"].query("fit == 'main'")
    assert main["estimate"].notna().all()
    assert main[[*INFERENCE, "se_cluster", "p_cluster", "p_permutation"]].isna().all(axis=None)
    assert frames["regression_fits"]["lrt_p"].isna().all()
    assert frames["regression_fits"]["flag"].str.contains("few_levels").all()
    variances = frames["regression_variances"].query("fit == 'main'").set_index("group")
    assert pd.isna(variances.loc["model", "variance"])
    assert variances.loc["question", "variance"] > 0
    slopes = frames["regression_slopes"].query("fit == 'main'")
    assert slopes["slope"].notna().all() and slopes["p"].isna().all()


def test_few_clusters_and_few_permutations() -> None:
    answers = one_tokeniser(simulate(models=6, tokenisers=1, questions=10, seed=2))
    frames = frames_of(answers)
    row = frames["regression_fits"].iloc[0]
    assert row["flag"].split(";")[-2:] == ["few_clusters", "few_permutations"]
    main = frames["regression"].query("fit == 'main'").set_index("term")
    assert main["se"].notna().all() and main["se_cluster"].isna().all()
    assert pd.isna(main.loc["mdfr_z", "p_permutation"])
    assert main.loc["linearity_z", "p_permutation"] > 0


def test_a_fit_that_does_not_converge_has_no_values(
    answers: Answers, frame: AnalysisFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = settings_for(answers)
    for method, name in (("fit_prepared", "main"), ("fit_logistic_mixed", "logistic")):
        original = getattr(regression, method)

        def stuck(*arguments: Any, original: Any = original) -> Any:
            fit = original(*arguments)
            return type(fit)(**{**vars(fit), "converged": False})

        monkeypatch.setattr(regression, method, stuck)
        chosen = next(s for s in specifications(list(LANGUAGES)) if s.name == name)
        outcome = fit_specification(frame, chosen, settings)
        assert outcome.fit is None and outcome.flags == ("not_converged",)
        assert "optimum" in outcome.message


# The rule -----------------------------------------------------------------------------------------


def item(language: str, number: int) -> Item:
    day = f"2023-07-{number + 1:02d}"
    date = {"iso": day, "text": day, "calendar_source": "gregorian"}
    return Item.create(
        "multitempbench",
        "date_arithmetic",
        {"language": language, "format": "iso", "calendar": "gregorian",
         "calendar_source": "gregorian"},
        {"question": f"{language} {number}", "dates": [date], "times": [], "operation": {}},
        {"answer": day, "kind": "date", "accepted": [day], "unit": None, "aliases": []},
        {"question_id": f"q{number}", "name": "own", "row": str(number), "translator": "own"},
    )  # fmt: skip


def token_rows(items: list[Item], tokeniser: str, generator: np.random.Generator) -> pd.DataFrame:
    rows = []
    for entry in items:
        value = float(generator.uniform())
        rows.append(
            dict.fromkeys(TOKEN_COLUMNS, 1)
            | {"pieces": "[]", "units": "[]", "tokeniser": tokeniser}
            | {name: entry.factors[name] for name in ("language", "format", "calendar")}
            | {"date": entry.inputs["dates"][0]["iso"], "text": entry.inputs["dates"][0]["text"]}
            | {"mdfr": value, "mdfr_as_published": 1 - value**2}
        )
    return pd.DataFrame(rows, columns=list(TOKEN_COLUMNS))


def job(folder: Path) -> SimpleNamespace:
    """A rule's inputs and outputs: six models, two of which share a tokeniser, one has none."""
    generator = np.random.default_rng(6)
    items = [item(language, number) for language in LANGUAGES for number in range(8)]
    write_records(folder / "items.jsonl", items)
    models = [f"m{i}" for i in range(7)]
    shared = token_rows(items, "t0", generator)
    tokens = [shared, shared, *(token_rows(items, f"t{i}", generator) for i in range(2, 6))]
    tokens.append(pd.DataFrame(columns=list(TOKEN_COLUMNS)))
    for model, frame in zip(models, tokens, strict=True):
        write_csv(folder / f"{model}.csv", frame)
    scores = pd.DataFrame(
        [
            {
                "item_id": entry.item_id,
                "question_id": entry.source["question_id"],
                "model": model,
                "mode": "non_thinking",
                "language": entry.factors["language"],
                "format": "iso",
                "correct": bool(generator.uniform() < 0.5),
            }
            for model in [*models, "majority"]
            for entry in items
        ]
    )
    write_parquet(folder / "scores.parquet", scores)
    linearity = [
        {"model": m, "language": n, "r2_cv": generator.uniform()} for m in models for n in LANGUAGES
    ]
    write_csv(folder / "linearity.csv", pd.DataFrame(linearity))
    names = ("regression", "regression_fits", "regression_variances", "regression_slopes")
    return SimpleNamespace(
        input=SimpleNamespace(
            scores=folder / "scores.parquet",
            tokenisation=[folder / f"{model}.csv" for model in models],
            item_files=[folder / "items.jsonl"],
            linearity=folder / "linearity.csv",
        ),
        params=SimpleNamespace(
            models=models,
            languages=LANGUAGES,
            seed=42,
            statistics={"level": 0.95, "alpha": 0.05, "permutations": 19, "resamples": 10},
        ),
        output={name: folder / f"{name}.csv" for name in names},
    )


def test_the_rule_writes_the_four_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rule = job(tmp_path)
    fit_mixed_effects.main(rule)
    fits = read_csv(rule.output["regression_fits"])
    assert fits["fit"].tolist() == FITS
    main = fits.iloc[0]
    assert (main["n"], main["models"], main["tokenisers"]) == (6 * 40, 6, 5)
    assert json.loads(main["left_out"]) == {"m6": "no tokeniser"}
    assert read_csv(rule.output["regression"]).query("fit == 'main'")["p"].notna().all()
    assert "25 tokeniser x language and 30 model x language" in capsys.readouterr().out
    first = {path: path.read_bytes() for path in rule.output.values()}
    fit_mixed_effects.main(rule)
    assert first == {path: path.read_bytes() for path in rule.output.values()}


def test_the_rule_refuses_an_unknown_output(tmp_path: Path) -> None:
    rule = job(tmp_path)
    rule.output = {"regressions": tmp_path / "x.csv"}
    with pytest.raises(DataError, match="no regression frame 'regressions'"):
        fit_mixed_effects.main(rule)


def test_no_model_has_a_tokeniser() -> None:
    found = model_fragmentation([], {"m": pd.DataFrame(columns=list(TOKEN_COLUMNS))})
    assert list(found) == ["model", "tokeniser", "item_id", "mdfr", "mdfr_as_published"]
    assert found.empty
