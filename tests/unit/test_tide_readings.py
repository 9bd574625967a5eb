"""TIDE in every reading of what its paper leaves open, on scores with known answers."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from scripts.files import read_csv, write_parquet
from scripts.statistics.council import partial_score
from scripts.tide import compute_readings as rule
from scripts.tide import readings
from scripts.tide.readings import Weighting, compute_readings, keeps_matched_dates, pays_meaning
from scripts.tide.statistics.analysis import accuracy_frame, outcomes_frame, perturbation_frame
from scripts.tide.tables.readings import QUESTIONS
from scripts.tide.tasks import IDENTIFICATION
from tests import synthetic_tide_scores as synthetic
from tests.synthetic_tide_scores import Design

DESIGN = Design(models=("alpha", "beta"), baselines=("floor",), items=8)


@pytest.fixture(scope="module")
def scores() -> pd.DataFrame:
    return synthetic.frame(DESIGN)


@pytest.fixture(scope="module")
def found(scores: pd.DataFrame) -> pd.DataFrame:
    return compute_readings(scores, Weighting(0.5, DESIGN.settings()))


def value(found: pd.DataFrame, question: str, reading: str, scope: str = "", **keys: str) -> float:
    rows = found[
        (found["question"] == question) & (found["reading"] == reading) & (found["scope"] == scope)
    ]
    for name, told in keys.items():
        rows = rows[rows[name] == told]
    assert len(rows) == 1
    return float(rows["value"].iloc[0])


def test_every_row_has_words(found: pd.DataFrame) -> None:
    words = {question.name: question for question in QUESTIONS}
    assert set(found["question"]) == set(words) - {"unscored"}
    for row in found.to_dict("records"):
        assert row["reading"] in words[row["question"]].readings
        assert row["quantity"] in words[row["question"]].quantities
    assert not found.duplicated(["question", "quantity", "scope", "reading"]).any()


@pytest.mark.parametrize(
    ("dates", "contradicting", "meaning", "expected"),
    [
        ([True], False, True, (1.0, 1.0, 1.0)),
        ([True], False, False, (0.3, 0.3, 0.3)),
        ([False], False, True, (0.0, 0.0, 0.7)),
        ([False], True, True, (0.0, 0.0, 0.7)),
        ([True, False], False, True, (0.15, 0.15, 0.85)),
        ([True, False], True, True, (0.0, 0.15, 0.7)),
        ([True, False], True, False, (0.0, 0.15, 0.0)),
        ([], False, True, (1.0, 1.0, 1.0)),
        ([], True, True, (0.0, 0.0, 1.0)),
        ([], False, False, (0.0, 0.0, 0.0)),
    ],
)
def test_three_readings_of_equation_2(
    dates: list[bool], contradicting: bool, meaning: bool, expected: tuple[float, ...]
) -> None:
    case = (dates, contradicting, meaning, 0.3)
    rules = (partial_score, keeps_matched_dates, pays_meaning)
    assert tuple(each(*case) for each in rules) == pytest.approx(expected)


def test_credit_is_that_of_the_scores_and_moves_with_the_weight(
    found: pd.DataFrame, scores: pd.DataFrame
) -> None:
    free = scores[scores["model"].isin(DESIGN.models) & (scores["dates"] > 0)]
    free = free[free["task"] != IDENTIFICATION]
    for knowledge in ("parametric", "icl", "rag"):
        mine = free[free["knowledge"] == knowledge]
        strict, partial = (mine[name].astype(float).mean() for name in ("correct", "partial"))
        told = {
            name: value(found, "equation_two", name, knowledge, quantity="partial")
            for name in ("configured", "weight_0.26", "weight_0.7", "keeps_dates", "pays_meaning")
        }
        assert told["configured"] == pytest.approx(partial)
        gap = partial - strict
        # What is not strict is dates without meaning: it is w of them.
        assert told["weight_0.26"] == pytest.approx(strict + 0.26 / 0.5 * gap)
        assert told["weight_0.7"] == pytest.approx(strict + 0.7 / 0.5 * gap)
        assert told["keeps_dates"] == told["pays_meaning"] == told["configured"]
        assert value(found, "equation_two", "configured", knowledge, quantity="gap") == (
            pytest.approx(gap)
        )


def test_a_configured_weight_stands_once() -> None:
    weighting = Weighting(0.4, DESIGN.settings())
    assert list(weighting.rules) == [
        *("configured", "weight_0.26", "weight_0.5", "weight_0.7", "keeps_dates", "pays_meaning")
    ]
    assert list(Weighting(0.5, DESIGN.settings()).rules)[1:3] == ["weight_0.26", "weight_0.7"]


def test_a_blank_reply_earns_nothing_and_an_open_one_has_no_credit() -> None:
    rows = [
        synthetic.row("alpha", "icl", "open_ended", 0, True),
        synthetic.row("alpha", "icl", "open_ended", 1, False, category="blank", meaning=None),
        synthetic.row("alpha", "icl", "open_ended", 2, True, meaning=None),
        synthetic.row("alpha", "icl", "open_ended", 3, None),
    ]
    credit = readings.recomputed(synthetic.score_table(rows), partial_score, 0.5)
    assert credit[:2].tolist() == [1.0, 0.0] and credit[2:].isna().all()


def test_event_sorting_by_exact_order_pairs_and_footnote() -> None:
    """Exact: ICL 1 of 2, RAG 0 of 2; pairs: ICL .9, RAG .8."""
    rows = [
        synthetic.row("alpha", knowledge, "event_sorting", number, right, graded=graded)
        for knowledge, number, right, graded in (
            ("icl", 0, True, 1.0),
            ("icl", 1, False, 0.8),
            ("rag", 0, False, 0.9),
            ("rag", 1, False, 0.7),
            ("parametric", 0, False, 0.5),
            ("parametric", 1, False, 0.5),
        )
    ]
    design = Design(models=("alpha",), baselines=(), items={"event_sorting": 2})
    found = compute_readings(synthetic.score_table(rows), Weighting(0.5, design.settings()))
    told = {name: value(found, "event_sorting", name) for name in ("exact", "graded", "footnote")}
    assert told == pytest.approx({"exact": 0.5, "graded": 0.1, "footnote": 0.9})
    # Tasks without an answer have no value and say so.
    rows = found[found["question"].isin(["misalignment", "equation_two", "identification"])]
    assert rows["value"].isna().all() and (rows["flag"] == "missing").all()


def test_the_first_readings_are_those_of_the_other_files(
    found: pd.DataFrame, scores: pd.DataFrame
) -> None:
    settings = DESIGN.settings()
    outcomes = outcomes_frame(scores, settings).set_index("outcome")["share"]
    assert value(found, "unrecoverable", "both") == pytest.approx(outcomes["unrecoverable"])
    lost = outcomes["unrecoverable"] + outcomes["overturned"]
    assert value(found, "unrecoverable", "icl") == pytest.approx(lost)
    table = accuracy_frame(scores, settings)
    table = table[table["model"].isin(DESIGN.models)]
    verdicts = perturbation_frame(scores, settings)
    verdicts = verdicts[verdicts["model"].isin(DESIGN.models)]
    for knowledge in ("parametric", "icl", "rag"):
        mine = table[table["knowledge"] == knowledge]
        macro = mine.loc[mine["task"] == "all", "strict"].mean()
        assert value(found, "averages", "macro", knowledge) == pytest.approx(macro)
        named = verdicts[verdicts["knowledge"] == knowledge]
        for reading, column in (("all", "identification"), ("partial", "identification_partial")):
            told = value(found, "identification", reading, knowledge)
            assert told == pytest.approx(named[column].mean())
        assert value(found, "identification", "flagged", knowledge) >= value(
            found, "identification", "all", knowledge
        )
        logged = [
            value(found, "misalignment", n, knowledge) for n in ("strict", "meaning", "stated")
        ]
        assert logged[0] <= min(logged[1:])


def test_macro_and_pool_differ_where_tasks_differ_in_size() -> None:
    design = Design(models=("alpha",), baselines=(), items={"temporal_mcq": 2, "event_sorting": 6})
    scores = synthetic.frame(design, lambda model, knowledge, task, n: task == "temporal_mcq")
    found = compute_readings(scores, Weighting(0.5, design.settings()))
    assert value(found, "averages", "macro", "icl") == pytest.approx(1 / 2)
    assert value(found, "averages", "pooled", "icl") == pytest.approx(2 / 8)


def test_open_answers_are_left_out_or_wrong(scores: pd.DataFrame) -> None:
    changed = scores.copy()
    mask = (
        changed["model"].eq("alpha")
        & changed["knowledge"].eq("icl")
        & changed["task"].eq("open_ended")
    )
    changed.loc[mask, ["correct", "partial", "meaning"]] = pd.NA
    found = compute_readings(changed, Weighting(0.5, DESIGN.settings()))
    rows = found[found["question"] == "unscored"]
    assert rows["scope"].unique().tolist() == ["icl"]
    left, wrong = rows.iloc[0], rows.iloc[1]
    assert (left["n"], wrong["n"]) == (2 * 64 - 8, 2 * 64)
    assert wrong["value"] * wrong["n"] == pytest.approx(left["value"] * left["n"])


def test_the_rule_writes_the_file(
    scores: pd.DataFrame, tmp_path: Path, found: pd.DataFrame
) -> None:
    write_parquet(tmp_path / "scores.parquet", scores)
    settings = DESIGN.settings()
    snakemake = SimpleNamespace(
        input=SimpleNamespace(scores=tmp_path / "scores.parquet"),
        output=SimpleNamespace(readings=tmp_path / "readings.csv"),
        params=SimpleNamespace(
            models=DESIGN.models,
            baselines=DESIGN.baselines,
            runs=[list(run) for run in DESIGN.runs],
            main=["main", 10],
            date_weight=0.5,
            seed=settings.seed,
            statistics={"resamples": settings.resamples, "level": settings.level},
        ),
    )
    rule.main(snakemake)
    written = read_csv(tmp_path / "readings.csv")
    assert written["reading"].tolist() == found["reading"].tolist()
    np.testing.assert_allclose(written["value"], found["value"], rtol=1e-9)
