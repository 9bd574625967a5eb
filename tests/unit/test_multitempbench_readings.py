"""MultiTempBench in every reading of what its paper leaves open, on data with known answers."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import multitempbench_material as material
import numpy as np
import pandas as pd
import pytest
import test_multitempbench_regression as regression_job

from scripts.files import DataError, read_csv, read_records, write_csv, write_parquet, write_records
from scripts.multitempbench import compute_readings as rule
from scripts.multitempbench import readings
from scripts.multitempbench.regression import Specification, compute_frames
from scripts.multitempbench.regression_rows import AnalysisFrame, build_frame
from scripts.multitempbench.regression_rows import Settings as RowSettings
from scripts.multitempbench.scoring import SCORE_DTYPES
from scripts.multitempbench.tables.readings import QUESTIONS, TERMS
from scripts.records import Item, Response
from scripts.statistics.readings import Reading
from tests.synthetic_answers import LANGUAGES, Answers, simulate

NO_FITS = pd.DataFrame(columns=["fit", "term", "estimate", "se", "low", "high", "p"])


def frames(answers: Answers, models: int) -> dict[str, pd.DataFrame]:
    """The statistics that the readings take, of simulated answers."""
    names = tuple(sorted(answers.scores["model"].unique()))
    settings = RowSettings(names, LANGUAGES, 42, permutations=19)
    found = compute_frames(build_frame(*answers, settings), settings)
    return made(answers.linearity, models) | {"regression": found["regression"]}


def made(linearity: pd.DataFrame, models: int) -> dict[str, pd.DataFrame]:
    """Everything but the regression."""
    numbers = {"pearson": 0.1, "low": -0.2, "high": 0.3, "models": models, "flag": None}
    rated = {"spearman": 0.9, "low": 0.5, "high": 1.0, "n": 8, "flag": None}
    return {
        "linearity": linearity.assign(
            year_r2=linearity["r2_cv"], r2_in_sample=1.0, r2_released=linearity["r2_cv"] / 3
        ),
        "mdfr": pd.DataFrame(
            {
                "language": ["ha", "ha", "en"],
                "dates": [10, 30, 40],
                "mdfr": [0.4, 0.8, math.nan],
                "mdfr_as_published": [0.2, 0.2, math.nan],
            }
        ),
        "metric_correlation": pd.DataFrame(
            [{"metric": name, **rated} for name in ("mdfr", "bleu", "mdfr_as_published")]
        ),
        "correlations": pd.DataFrame(
            [
                {"predictor": name, "task": task, "language": "ha", **numbers}
                for name in ("mdfr", "mdfr_as_published", "linearity")
                for task in ("relation", "all")
            ]
        ),
        "accuracy": pd.DataFrame(
            columns=["model", "mode", "language", "task", "format", "accuracy"]
        ),
        "judge_agreement": pd.DataFrame(
            columns=[
                "judge_a",
                "judge_b",
                "n",
                "agreement",
                "kappa",
                "kappa_low",
                "kappa_high",
                "flag",
            ]
        ),
    }


def readings_of(answers: Answers) -> pd.DataFrame:
    names = tuple(sorted(answers.scores["model"].unique()))
    settings = RowSettings(names, LANGUAGES, 42)

    def build(linearity: pd.DataFrame) -> AnalysisFrame:
        return build_frame(answers.scores, answers.fragmentation, linearity, settings)

    empty = pd.DataFrame(columns=["model", "mode", "language", "task", "judged", "contained"])
    return readings.compute_readings(
        frames(answers, len(names)), empty, build, readings.Settings(names)
    )


def one(frame: pd.DataFrame, reading: str, quantity: str, question: str) -> Any:
    found = frame[
        (frame["question"] == question)
        & (frame["reading"] == reading)
        & (frame["quantity"] == quantity)
    ]
    return found.iloc[0]


@pytest.fixture(scope="module")
def found() -> pd.DataFrame:
    return readings_of(simulate(models=8, tokenisers=4, questions=8, seed=3, effect=0.6))


def test_every_row_has_words_and_the_terms_are_those_of_the_model(found: pd.DataFrame) -> None:
    words = {question.name: question for question in QUESTIONS}
    for row in found.to_dict("records"):
        assert row["reading"] in words[row["question"]].readings
        assert row["quantity"] in words[row["question"]].quantities
    assert ["(Intercept)", *TERMS] == Specification("main").terms


def test_every_reading_of_the_regression_has_every_term(found: pd.DataFrame) -> None:
    rows = found[found["question"] == "regression"]
    assert rows.groupby("reading")["quantity"].agg(list).map(lambda names: names == TERMS).all()
    assert (rows["n"] == 8 * 8 * 20).all()
    permuted = one(found, "permutation", "mdfr_z", "regression")
    assert permuted["value"] == one(found, "crossed", "mdfr_z", "regression")["value"]
    assert 1 / 20 <= permuted["p"] <= 1


def test_nested_claims_several_times_the_precision_of_crossed_on_the_same_rows() -> None:
    """Models differ much and linearity is a model's own: their difference is all there is to it."""
    answers = simulate(models=8, tokenisers=4, questions=8, seed=3)
    generator = np.random.default_rng(1)
    models = answers.scores["model"].unique()
    level = dict(zip(models, generator.uniform(0.1, 0.9, len(models)), strict=True))
    own = dict(zip(models, generator.uniform(0.2, 0.9, len(models)), strict=True))
    drawn = generator.uniform(size=len(answers.scores)) < answers.scores["model"].map(level)
    answers = answers._replace(
        scores=answers.scores.assign(correct=drawn.astype(float)),
        linearity=answers.linearity.assign(r2_cv=answers.linearity["model"].map(own)),
    )
    found = readings_of(answers)
    widths = {
        name: float(row["high"] - row["low"])
        for name in ("crossed", "crossed_cells", "nested", "nested_question")
        for row in [one(found, name, "linearity_z", "regression")]
    }
    assert min(widths["crossed"], widths["crossed_cells"]) > 3 * max(
        widths["nested"], widths["nested_question"]
    )


def test_in_sample_linearity_predicts_nothing(found: pd.DataFrame) -> None:
    assert one(found, "in_sample", "year_r2", "probe")["value"] == 1.0
    none = one(found, "in_sample", "linearity_z", "probe")
    assert math.isnan(none["value"]) and none["flag"] == "constant"
    # A third of the same values has the same z-scores, hence the same coefficient.
    used, released = (
        one(found, n, "linearity_z", "probe") for n in ("cross_validated", "released")
    )
    assert used["value"] == pytest.approx(released["value"], rel=1e-6)
    assert used["value"] == pytest.approx(
        one(found, "crossed", "linearity_z", "regression")["value"], rel=1e-4
    )
    assert used["p"] > 0 and used["low"] < used["value"] < used["high"]


def test_fragmentation_has_two_formulas(found: pd.DataFrame) -> None:
    assert one(found, "eq1", "mdfr", "fragmentation")["value"] == pytest.approx(0.7)
    assert one(found, "released", "mdfr", "fragmentation")["value"] == pytest.approx(0.2)
    rows = found[(found["question"] == "fragmentation")].groupby("quantity")["reading"].agg(list)
    assert rows.map(lambda names: names == ["eq1", "released"]).all()
    assert set(rows.index) == {"mdfr", "human", "accuracy_r", "slope"}


def test_two_models_have_a_nested_p_and_no_crossed_one() -> None:
    found = readings_of(simulate(models=2, tokenisers=2, questions=6, seed=2))
    crossed = one(found, "crossed", "linearity_z", "regression")
    assert crossed["flag"] == "few_levels" and math.isnan(crossed["p"])
    assert 0 <= one(found, "nested", "linearity_z", "regression")["p"] <= 1
    probe = one(found, "released", "linearity_z", "probe")
    assert probe["flag"] == "few_levels" and not math.isnan(probe["value"])


def test_what_cannot_be_fitted_says_why() -> None:
    answers = simulate(models=2, tokenisers=2, questions=2, seed=2)
    same = answers._replace(scores=answers.scores.assign(correct=1.0))
    names = tuple(sorted(same.scores["model"].unique()))
    settings = RowSettings(names, LANGUAGES, 42)
    frame = build_frame(*same, settings)
    rows = readings.regressions(NO_FITS, frame, readings.Settings(names))
    assert {row.reading: row.flag for row in rows} == {
        "nested": "missing",
        "nested_question": "one_class",
    }
    nothing = replace(frame, rows=frame.rows.head(0))
    rows = readings.regressions(NO_FITS, nothing, readings.Settings(names))
    assert {row.flag for row in rows} == {"missing"}


def test_the_rule_joins_its_inputs(tmp_path: Path) -> None:
    job = regression_job.job(tmp_path)
    models = job.params.models
    scores = pd.read_parquet(job.input.scores).query("model != 'majority'")
    scores["request_id"] = scores["model"] + scores["item_id"]
    scores["task"] = "date_arithmetic"
    for name in set(SCORE_DTYPES) - set(scores):
        scores[name] = pd.Series([None] * len(scores), dtype=object, index=scores.index)
    scores["valid"] = True
    write_parquet(tmp_path / "scores.parquet", scores[list(SCORE_DTYPES)])
    golds = {
        item.item_id: item.gold["answer"] for item in read_records(tmp_path / "items.jsonl", Item)
    }
    replies = [
        Response(
            row.request_id,
            row.item_id,
            row.model,
            row.mode,
            golds[row.item_id],
            "stop",
            {},
            "archive",
            "1",
            1,
        )
        for row in scores.itertuples()
    ]
    write_records(tmp_path / "replies.jsonl", replies)
    linearity = read_csv(job.input.linearity)
    found = made(linearity, len(models)) | {"regression": NO_FITS}
    for name, frame in found.items():
        write_csv(tmp_path / f"{name}.csv", frame)

    class Names(SimpleNamespace):
        def __getitem__(self, name: str) -> Any:
            return getattr(self, name)

    paths = {name: str(tmp_path / f"{name}.csv") for name in rule.STATISTICS}
    given = Names(
        scores=job.input.scores,
        item_files=job.input.item_files,
        responses=[tmp_path / "replies.jsonl"],
        tokenisation=job.input.tokenisation,
        **paths,
    )
    params = SimpleNamespace(models=models, probed=models, languages=LANGUAGES, level=0.95, seed=42)
    output = SimpleNamespace(readings=tmp_path / "readings.csv")
    rule.main(SimpleNamespace(input=given, params=params, output=output))
    frame = read_csv(output.readings)
    scoring = frame[frame["question"] == "scoring"]
    assert scoring.loc[scoring["reading"] == "substring", "value"].tolist() == [1.0] * len(models)
    nested = frame[(frame["question"] == "regression") & (frame["reading"] == "nested")]
    # One of the seven models has no tokeniser.
    assert (nested["n"] == 6 * 40).all() and nested["p"].notna().all()


# ---- scoring -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reply", "gold", "passes"),
    [
        # Measured on the released scoring: what it takes for right, and what it misses.
        ("The date is 3 December 2014.", "27 December 2014", True),
        ("Answer: 3 AM on 1352-03-01", "8 PM on 1352-03-01", True),
        ("Answer: 100", "10", True),
        ("It is not IS_INCLUDED; it is AFTER", "IS_INCLUDED", True),
        ("3 April 2025 and not 13 April 2025", "13 April 2025", True),
        ("Answer: 2014-12-27", "27 December 2014", False),
        ("Answer: June 30, 1225", "March 6, 1225, June 29, 1225", False),
        ("nine", "9", False),
    ],
)
def test_a_gold_string_in_a_reply(reply: str, gold: str, passes: bool) -> None:
    assert readings.contained(reply, [gold]) is passes


def test_the_judge_and_the_substring_on_the_same_answers() -> None:
    items = material.own_items("date_arithmetic").items[:4]
    item = items[0]
    assert item.gold["answer"] in readings.spellings(item)
    scores = pd.DataFrame(
        {
            "request_id": [f"r{i}" for i in range(4)],
            "model": "alpha",
            "mode": "thinking",
            "language": [each.factors["language"] for each in items],
            "task": "date_arithmetic",
            "correct": pd.array([True, False, False, pd.NA], dtype="boolean"),
        }
    )
    told = [f"certainly not {readings.spellings(each)[0]}" for each in items]

    def reply(i: int) -> Response:
        known = {"usage": {}, "backend": "archive", "backend_version": "1", "attempts": 1}
        text = told[i] if i < 2 else "no idea"
        return Response(f"r{i}", items[i].item_id, "alpha", "thinking", text, "stop", **known)

    answers = readings.substring_answers(scores, items, map(reply, range(4)))
    assert answers["contained"].tolist() == [1.0, 1.0, 0.0]
    found = {row.reading: row for row in readings.scoring(answers.assign(language="en"))}
    assert (found["judge"].value, found["substring"].value) == pytest.approx((1 / 3, 2 / 3))
    assert found["judge"].n == 3 and found["judge"].scope == "alpha|thinking"
    with pytest.raises(DataError, match="no response to request r2"):
        readings.substring_answers(scores, items, map(reply, range(2)))


# ---- print ---------------------------------------------------------------------------------------


def moved(rows: list[Reading]) -> dict[str, float]:
    return {row.reading: row.value for row in rows}


def test_cells_that_print_otherwise() -> None:
    tasks = {"date_arithmetic": 0.104, "time_zone": 0.204, "relation": 0.504}
    cells = pd.DataFrame(
        [
            {"model": model, "mode": "thinking", "language": "en", "task": task, "accuracy": share}
            for model in ("alpha", "floor")
            for task, share in {**tasks, "all": np.mean(list(tasks.values()))}.items()
        ]
    ).assign(format="all")
    # 27.067 prints as 27.1; three whole percentages give 26.67, cutting gives 27.0.
    found = list(readings.printed_cells(cells, readings.Settings(("alpha",))))
    assert moved(found) == {"rounded": 0, "thirds": 1, "cut": 1}
    assert {row.n for row in found} == {1}


def test_agreement_with_and_without_chance() -> None:
    row = {"judge_a": "date_judge", "judge_b": "human", "n": 250, "agreement": 0.89, "flag": None}
    row |= {"kappa": 0.8, "kappa_low": 0.7, "kappa_high": 0.9}
    found = {each.reading: each for each in readings.judge_agreement(pd.DataFrame([row]))}
    assert (found["kappa"].value, found["share"].value) == (0.8, 0.89)
    assert (found["kappa"].low, found["kappa"].high) == (0.7, 0.9)
    assert found["share"].scope == "date_judge|human" and math.isnan(found["share"].low)
