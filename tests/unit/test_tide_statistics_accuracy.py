"""The matched set, accuracies and their intervals, and verdicts on perturbed statements."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from scripts.files import DataError, read_csv
from scripts.publishing.captions import FLAGS
from scripts.tide.score_table import SCORE_DTYPES, score_table
from scripts.tide.statistics import accuracy, analysis, compute_accuracy, matched, perturbation
from scripts.tide.statistics.intervals import (
    Counted,
    item_counts,
    macro_interval,
    mean_draws,
    mean_interval,
    mean_of,
    pooled_share,
    wilson,
)
from scripts.tide.tasks import IDENTIFICATION, SETTINGS, TASKS
from tests import synthetic_tide_scores as synthetic
from tests.synthetic_tide_scores import ABLATION, Design

MODE = "non_thinking"


@pytest.fixture(autouse=True)
def _no_warning() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@pytest.fixture(scope="module")
def scores() -> pd.DataFrame:
    return synthetic.frame()


def one(frame: pd.DataFrame, **keys: str) -> pd.Series:
    """The single row with these keys."""
    for name, value in keys.items():
        frame = frame[frame[name] == value]
    assert len(frame) == 1
    return frame.iloc[0]


def unscore(scores: pd.DataFrame, mask: pd.Series) -> pd.DataFrame:
    """The same scores with some rows left open by the council."""
    changed = scores.copy()
    changed.loc[mask, ["correct", "partial", "graded", "meaning"]] = pd.NA
    changed.loc[mask, "flagged"] = True
    return changed


# ---- the frames of the generator ----------------------------------------------------------------


def test_the_synthetic_frame_is_one_that_the_pipeline_writes(scores: pd.DataFrame) -> None:
    assert {name: str(dtype) for name, dtype in scores.dtypes.items()} == SCORE_DTYPES
    assert len(scores) == 4 * 3 * (8 * 8 + 4)
    assert set(scores["knowledge"]) == set(SETTINGS)


# ---- the matched set ----------------------------------------------------------------------------


def test_the_matched_set_is_what_every_model_has_in_every_setting(scores: pd.DataFrame) -> None:
    open_ended = scores["task"].eq("open_ended")
    left_open = (
        (open_ended & scores["model"].eq("alpha") & scores["item_id"].str.endswith("0002"))
        & scores["knowledge"].eq("rag")
    ) | (open_ended & scores["model"].eq("beta") & scores["item_id"].str.endswith(("0002", "0005")))
    changed = unscore(scores, left_open)
    design = Design()
    found = analysis.accuracy_frame(changed, design.settings())
    rows = found[found["task"] == "open_ended"]
    assert rows["n"].eq(6).all() and rows["planned"].eq(8).all()
    assert rows["flag"].eq("incomplete").all()
    # Only item 5 would come back if beta were left out: item 2 is open for alpha too.
    lost = rows.groupby("model")["lost"].first()
    assert lost.to_dict() == {"alpha": 0, "beta": 1, "gamma": 0, "floor": 0}
    kept = {f"open_ended-{number:04d}" for number in (0, 1, 3, 4, 6, 7)}
    mine = changed[
        changed["item_id"].isin(kept)
        & changed["model"].eq("gamma")
        & changed["knowledge"].eq("icl")
    ]
    cell = one(found, model="gamma", knowledge="icl", task="open_ended")
    assert cell["strict"] == pytest.approx(mine["correct"].astype(float).mean())
    assert cell["partial"] == pytest.approx(mine["partial"].astype(float).mean())
    beta = one(found, model="beta", knowledge="icl", task="open_ended")
    assert (beta["n_scored"], beta["unscored"], beta["flagged"]) == (6, 2, 2)
    alpha = one(found, model="alpha", knowledge="rag", task="open_ended")
    assert (alpha["n_scored"], alpha["unscored"]) == (7, 1)
    other = one(found, model="beta", knowledge="icl", task="temporal_mcq")
    assert (other["n"], other["flag"]) == (8, "")
    macro = one(found, model="beta", knowledge="icl", task="all")
    assert (macro["n"], macro["planned"], macro["flag"]) == (62, 64, "incomplete")


def test_a_score_needs_strict_and_partial(scores: pd.DataFrame) -> None:
    """The council can close the gate and leave the date credit open."""
    changed = scores.copy()
    hit = changed["model"].eq("alpha") & changed["item_id"].eq("open_ended-0001")
    changed.loc[hit & changed["knowledge"].eq("icl"), "partial"] = pd.NA
    found = analysis.accuracy_frame(changed, Design().settings())
    cells = found[found["task"] == "open_ended"]
    assert cells["n"].eq(7).all() and cells["partial"].notna().all()


def test_a_run_that_is_absent_from_a_setting_does_not_empty_the_task(scores: pd.DataFrame) -> None:
    gone = (
        scores["model"].eq("beta")
        & scores["task"].eq("temporal_mcq")
        & scores["knowledge"].eq("icl")
    )
    found = analysis.accuracy_frame(unscore(scores, gone), Design().settings())
    whole = analysis.accuracy_frame(scores, Design().settings())
    keys = ["model", "knowledge", "task"]
    both = whole.merge(found, on=keys, suffixes=("", "_now"))
    rest = both[(both["model"] != "beta") | ~both["task"].isin(["temporal_mcq", "all"])]
    assert (rest["strict"] == rest["strict_now"]).all() and rest["n"].eq(rest["n_now"]).all()
    absent = one(found, model="beta", knowledge="icl", task="temporal_mcq")
    assert np.isnan(absent["strict"]) and (absent["n"], absent["flag"]) == (0, "missing")
    # Where it has scores they are given, on the others' matched set.
    there = one(found, model="beta", knowledge="rag", task="temporal_mcq")
    assert there["n"] == 8
    assert there["strict"] == one(whole, **{k: there[k] for k in keys})["strict"]
    assert one(found, model="beta", knowledge="icl", task="all")["flag"] == "incomplete"


def test_baselines_do_not_define_the_matched_set(scores: pd.DataFrame) -> None:
    hit = scores["model"].eq("floor") & scores["item_id"].eq("open_ended-0003")
    found = analysis.accuracy_frame(unscore(scores, hit), Design().settings())
    rows = found[found["task"] == "open_ended"].set_index(["model", "knowledge"])
    assert rows.loc["alpha", "n"].eq(8).all() and rows.loc["alpha", "flag"].eq("").all()
    assert rows.loc["floor", "n"].eq(7).all() and rows.loc["floor", "flag"].eq("incomplete").all()
    kept = scores[~hit & scores["model"].eq("floor") & scores["task"].eq("open_ended")]
    mean = kept.groupby("knowledge")["correct"].mean()
    for knowledge in SETTINGS:
        row = rows.loc[("floor", knowledge)]
        assert row["strict"] == pytest.approx(mean[knowledge])
        assert row["strict_low"] <= row["strict"] <= row["strict_high"]
        assert row["lost"] == 0


def test_bad_rows_are_refused(scores: pd.DataFrame) -> None:
    with pytest.raises(DataError, match=r"runs that are not configured.*delta"):
        matched.check_scores(scores.assign(model="delta"), Design().settings())
    with pytest.raises(DataError, match=r"unknown tasks.*poetry"):
        matched.check_scores(scores.assign(task="poetry"), Design().settings())
    twice = pd.concat([scores, scores.iloc[[3]]], ignore_index=True)
    for analyse in (
        analysis.accuracy_frame,
        analysis.perturbation_frame,
        analysis.outcomes_frame,
        analysis.differences_frame,
        analysis.ablation_frames,
    ):
        with pytest.raises(DataError, match=r"1 doubled row.*alpha"):
            analyse(twice, Design().settings())


# ---- accuracy, recomputed with pandas ------------------------------------------------------------


def test_accuracies_are_the_means_of_pandas(scores: pd.DataFrame) -> None:
    found = analysis.accuracy_frame(scores, Design().settings())
    assert list(found.columns) == list(accuracy.COLUMNS)
    assert len(found) == 4 * 3 * 9 and not found.duplicated(["model", "knowledge", "task"]).any()
    tasks = scores[scores["task"].isin(list(TASKS))]
    means = tasks.groupby(["model", "knowledge", "task"])[["correct", "partial", "graded"]].mean()
    for row in found.to_dict("records"):
        if row["task"] == "all":
            mine = means.loc[row["model"], row["knowledge"]]
            assert row["strict"] == pytest.approx(mine["correct"].mean())
            assert row["partial"] == pytest.approx(mine["partial"].mean())
            assert np.isnan(row["graded"])
        else:
            mine = means.loc[row["model"], row["knowledge"], row["task"]]
            assert row["strict"] == pytest.approx(mine["correct"]) == row["strict_scored"]
            assert row["partial"] == pytest.approx(mine["partial"])
            assert np.isnan(row["graded"]) == (row["task"] != "event_sorting")
            if row["task"] == "event_sorting":
                assert row["graded"] == pytest.approx(mine["graded"])
    assert (found["strict"] <= found["partial"]).all()
    # The second step is no task of its own.
    assert IDENTIFICATION not in set(found["task"])


def test_intervals_hold_the_point_and_rule_tasks_have_one() -> None:
    design = Design(items=40)
    found = analysis.accuracy_frame(synthetic.frame(design), design.settings())
    for measure in ("strict", "partial"):
        assert (found[f"{measure}_low"] <= found[measure]).all()
        assert (found[measure] <= found[f"{measure}_high"]).all()
    there = found[found["strict_low_threads"].notna()]
    # Three threads that are equally good leave a cell without an interval.
    assert len(found) - len(there) < 10
    assert (there["strict_low_threads"] <= there["strict"]).all()
    assert (there["strict"] <= there["strict_high_threads"]).all()
    rule = found[found["task"] == "temporal_mcq"]
    for end in ("low", "high"):
        assert (rule[f"strict_{end}"] == rule[f"partial_{end}"]).all()


def test_an_interval_is_that_of_scipy_and_of_the_binomial() -> None:
    design = Design(models=("alpha",), baselines=(), items=60)
    scores = synthetic.frame(design)
    found = analysis.accuracy_frame(scores, design.settings(resamples=20_000))
    cell = one(found, knowledge="icl", task="open_ended")
    inside = scores["knowledge"].eq("icl") & scores["task"].eq("open_ended")
    values = scores.loc[inside, "partial"].to_numpy(dtype=float)
    theirs = stats.bootstrap(
        (values,), np.mean, n_resamples=20_000, method="percentile", rng=np.random.default_rng(5)
    ).confidence_interval
    assert cell["partial_low"] == pytest.approx(theirs.low, abs=0.01)
    assert cell["partial_high"] == pytest.approx(theirs.high, abs=0.01)
    k = int(scores.loc[inside, "correct"].sum())
    low, high = stats.binom.ppf([0.025, 0.975], 60, k / 60) / 60
    assert cell["strict_low"] == pytest.approx(low, abs=0.6 / 60)
    assert cell["strict_high"] == pytest.approx(high, abs=0.6 / 60)


def test_nothing_right_and_everything_have_wilsons_interval() -> None:
    design = Design(models=("alpha",), baselines=(), items=20)
    scores = synthetic.frame(design, lambda model, knowledge, task, number: knowledge == "icl")
    found = analysis.accuracy_frame(scores, design.settings())
    for knowledge, k in (("parametric", 0), ("icl", 20)):
        low, high = proportion_confint(k, 20, method="wilson")
        cell = one(found, knowledge=knowledge, task="temporal_mcq")
        assert cell["strict_low"] == pytest.approx(low, abs=1e-12)
        assert cell["strict_high"] == pytest.approx(high, abs=1e-12)
        assert cell["partial_high"] == cell["strict_high"]
    # MOVER of eight equal tasks: the distance of one, over the root of eight.
    macro = one(found, knowledge="parametric", task="all")
    _, high = proportion_confint(0, 20, method="wilson")
    assert macro["strict_low"] == 0
    assert macro["strict_high"] == pytest.approx(high / np.sqrt(8))
    macro = one(found, knowledge="icl", task="all")
    assert macro["strict_low"] == pytest.approx(1 - high / np.sqrt(8))
    assert macro["strict_high"] == 1


def test_the_macro_interval_is_narrower_than_a_task() -> None:
    design = Design(models=("alpha",), baselines=(), items=50)
    found = analysis.accuracy_frame(synthetic.frame(design), design.settings(resamples=2000))
    mine = found[found["knowledge"] == "rag"].set_index("task")
    width = mine["strict_high"] - mine["strict_low"]
    p = mine["strict"].drop("all")
    error = np.sqrt((p * (1 - p) / 50).sum()) / 8
    assert width["all"] == pytest.approx(2 * 1.96 * error, rel=0.08)
    assert width["all"] < width.drop("all").min()


def test_threads_are_drawn_with_all_their_items() -> None:
    """Where all questions of a thread have one answer, a thread is one observation."""

    def rule(model: str, knowledge: str, task: str, number: int) -> bool:
        return number // 10 % 2 == 0

    design = Design(models=("alpha",), baselines=(), items=200)
    scores = synthetic.frame(design, rule)
    scores["thread"] = "t" + scores["item_id"].str[-4:-1]
    found = analysis.accuracy_frame(scores, design.settings(resamples=3000))
    row = one(found, knowledge="rag", task="temporal_mcq")
    wide = row["strict_high_threads"] - row["strict_low_threads"]
    narrow = row["strict_high"] - row["strict_low"]
    assert wide / narrow == pytest.approx(np.sqrt(10), rel=0.1)
    # The same threads in every task: averaging tasks helps nothing.
    macro = one(found, knowledge="rag", task="all")
    assert macro["strict_high_threads"] - macro["strict_low_threads"] == pytest.approx(wide)
    # One thread an item: the two ways are one.
    scores["thread"] = scores["item_id"]
    found = analysis.accuracy_frame(scores, design.settings(resamples=3000))
    alone = one(found, knowledge="rag", task="temporal_mcq")
    width = alone["strict_high_threads"] - alone["strict_low_threads"]
    assert width == pytest.approx(narrow, rel=0.1)


def test_wilsons_n_is_the_number_of_threads() -> None:
    design = Design(models=("alpha",), baselines=(), items=20)
    scores = synthetic.frame(design, lambda model, knowledge, task, number: True)
    row = one(
        analysis.accuracy_frame(scores, design.settings()), knowledge="icl", task="temporal_mcq"
    )
    assert row["strict_low_threads"] == pytest.approx(proportion_confint(3, 3, method="wilson")[0])
    # Wrong answers with date credit: strict accuracy is what the threads are drawn for.
    scores = synthetic.frame(design, lambda model, knowledge, task, number: False)
    found = analysis.accuracy_frame(scores, design.settings())
    row = one(found, knowledge="icl", task="open_ended")
    assert row["partial"] == 0.25 and row["strict_low_threads"] == 0
    assert row["strict_high_threads"] == pytest.approx(proportion_confint(0, 3, method="wilson")[1])


def test_rates_are_of_answers_that_could_be_read(scores: pd.DataFrame) -> None:
    changed = scores.copy()
    cell = (
        changed["model"].eq("alpha")
        & changed["task"].eq("open_ended")
        & changed["knowledge"].eq("rag")
    )
    number = changed["item_id"].str[-4:].astype(int)
    for n, category in ((0, "not_run"), (1, "unjudged"), (2, "truncated"), (3, "blank")):
        hit = cell & number.eq(n)
        changed.loc[hit, ["category", "valid"]] = [category, False]
        unscored = category in ("not_run", "unjudged")
        changed.loc[hit, ["correct", "partial"]] = [pd.NA, pd.NA] if unscored else [False, 0.0]
    found = analysis.accuracy_frame(changed, Design().settings())
    row = one(found, model="alpha", knowledge="rag", task="open_ended")
    assert row["valid_response_rate"] == pytest.approx(4 / 6)
    assert row["truncated_rate"] == pytest.approx(1 / 6)
    assert (row["n"], row["n_scored"], row["unscored"]) == (6, 6, 2)


# ---- properties ---------------------------------------------------------------------------------


def test_the_order_of_rows_does_not_matter(scores: pd.DataFrame) -> None:
    design = Design(variants=ABLATION)
    scores = synthetic.frame(design)
    first = analysis.statistics_frames(scores, design.settings())
    shuffled = scores.sample(frac=1, random_state=3).reset_index(drop=True)
    for name, frame in analysis.statistics_frames(shuffled, design.settings()).items():
        pd.testing.assert_frame_equal(frame, first[name])


def test_another_model_changes_nothing_while_the_matched_set_stays(scores: pd.DataFrame) -> None:
    more = Design(models=("alpha", "beta", "gamma", "delta"))
    before = analysis.accuracy_frame(scores, Design().settings())
    after = analysis.accuracy_frame(synthetic.frame(more), more.settings())
    rest = after[after["model"] != "delta"].reset_index(drop=True)
    pd.testing.assert_frame_equal(rest, before)


def test_resamples_depend_on_seed_task_and_number_alone() -> None:
    assert np.array_equal(item_counts(1, "open_ended", 9, 50), item_counts(1, "open_ended", 9, 50))
    assert not np.array_equal(
        item_counts(1, "open_ended", 9, 50), item_counts(2, "open_ended", 9, 50)
    )
    assert not np.array_equal(
        item_counts(1, "open_ended", 9, 50), item_counts(1, "temporal_mcq", 9, 50)
    )
    assert (item_counts(1, "open_ended", 9, 50).sum(axis=1) == 9).all()
    assert item_counts(1, "open_ended", 0, 50).shape == (50, 0)
    with pytest.raises(ValueError, match="read-only"):
        item_counts(1, "open_ended", 9, 50)[0, 0] = 3


@given(st.lists(st.sampled_from([0.0, 0.5, 1.0, float("nan")]), max_size=12))
@settings(max_examples=60)
def test_a_mean_lies_in_its_interval(values: list[float]) -> None:
    array = np.array(values, dtype=float)
    draws = mean_draws(array, item_counts(4, "open_ended", len(values), 200))
    interval = mean_interval(array, draws, 0.95)
    there = [value for value in values if not np.isnan(value)]
    if not there:
        assert np.isnan(interval.low) and np.isnan(mean_of(array))
    elif len(set(there)) == 1 and there[0] == 0.5:
        assert np.isnan(interval.low) and np.isnan(interval.high)
    else:
        assert 0 <= interval.low <= np.mean(there) <= interval.high <= 1
        assert interval.low < interval.high


def test_draws_leave_out_what_is_not_there() -> None:
    counts = np.array([[2.0, 0.0, 1.0], [0.0, 3.0, 0.0], [1.0, 1.0, 1.0]])
    draws = mean_draws(np.array([1.0, np.nan, 0.0]), counts)
    assert draws[0] == pytest.approx(2 / 3) and np.isnan(draws[1]) and draws[2] == 0.5
    both = mean_draws(np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]]), counts)
    assert both == pytest.approx(np.array([[2 / 3, 0.0, 1 / 3], [1 / 3, 1.0, 2 / 3]]))


def test_macro_intervals_of_nothing_and_of_a_task_without_one() -> None:
    nothing = macro_interval([], [], 0.95)
    assert np.isnan(nothing.low)
    without = (0.5, pooled_share([], {}, 0.95).interval)
    assert np.isnan(macro_interval([without], [np.full(9, 0.5)], 0.95).high)


def test_a_pooled_share_of_one_item_has_no_interval() -> None:
    counts = {"open_ended": item_counts(1, "open_ended", 1, 30)}
    found = pooled_share([Counted("open_ended", np.array([1.0]), np.array([3.0]))], counts, 0.95)
    assert (found.n, found.share) == (3, pytest.approx(1 / 3))
    assert np.isnan(found.interval.low) and np.isnan(found.interval.high)
    every = pooled_share([Counted("open_ended", np.array([3.0]), np.array([3.0]))], counts, 0.95)
    # Three answers to one item are one item.
    assert every.interval == wilson(1.0, 1, 0.95)


# ---- perturbation --------------------------------------------------------------------------------


def test_confusion_counts_follow_the_verdicts() -> None:
    """Eight statements, odd ones perturbed; alpha flags everything and names one of four."""

    def rule(model: str, knowledge: str, task: str, number: int) -> bool:
        if task == IDENTIFICATION:
            return number == 1
        return number % 2 == 1

    design = Design(models=("alpha",), baselines=())
    found = analysis.perturbation_frame(synthetic.frame(design, rule), design.settings())
    assert list(found.columns) == list(perturbation.COLUMNS)
    row = one(found, knowledge="rag")
    counts = ["true_positive", "false_negative", "false_positive", "true_negative"]
    assert row[["n", "n_perturbed", *counts]].tolist() == [8, 4, 4, 0, 4, 0]
    assert (row["detection"], row["specificity"]) == (1.0, 0.0)
    assert (row["identification"], row["identification_flagged"], row["drop"]) == (0.25, 0.25, 0.75)
    assert row["flag"] == ""


def test_identification_counts_what_was_not_flagged() -> None:
    def rule(model: str, knowledge: str, task: str, number: int) -> bool:
        return number in (1, 3) if task == IDENTIFICATION else number in (0, 1, 3, 5)

    design = Design(models=("alpha",), baselines=())
    scores = synthetic.frame(design, rule)
    row = one(analysis.perturbation_frame(scores, design.settings()), knowledge="icl")
    assert (row["detection"], row["specificity"]) == (0.75, 0.25)
    assert row["identification"] == 0.5
    assert row["identification_flagged"] == pytest.approx(2 / 3)
    assert row["drop"] == pytest.approx(1 / 3)
    # Wrong explanations of even number would earn date credit; number 5 is odd.
    assert row["identification_partial"] == 0.5


def test_the_drop_is_of_the_statements_whose_explanation_is_scored() -> None:
    def rule(model: str, knowledge: str, task: str, number: int) -> bool | None:
        if task == IDENTIFICATION:
            return None if number == 1 else number == 3
        return number in (1, 3)

    design = Design(models=("alpha",), baselines=())
    scores = synthetic.frame(design, rule)
    row = one(analysis.perturbation_frame(scores, design.settings()), knowledge="icl")
    assert (row["n_perturbed"], row["n_identification"]) == (4, 3)
    assert row["detection"] == 0.5
    # Of the three left, one was flagged and it was named: no drop.
    assert (row["identification"], row["drop"]) == (pytest.approx(1 / 3), 0.0)


def test_verdicts_that_could_not_be_read_are_counted(scores: pd.DataFrame) -> None:
    changed = scores.copy()
    hit = (
        changed["model"].eq("alpha")
        & changed["knowledge"].eq("rag")
        & changed["item_id"].isin(["perturbation_detection-0000", "perturbation_detection-0001"])
    )
    changed.loc[hit, ["correct", "partial", "valid"]] = [False, 0.0, False]
    changed.loc[hit, "verdict"] = None
    changed.loc[hit, "category"] = np.where(
        changed.loc[hit, "task"].eq(IDENTIFICATION), "not_flagged", "unparsable"
    )
    found = analysis.perturbation_frame(changed, Design().settings())
    row = one(found, model="alpha", knowledge="rag")
    assert (row["unread_perturbed"], row["unread_sound"]) == (1, 1)
    counts = row[["true_positive", "false_negative", "false_positive", "true_negative"]]
    assert counts.sum() == row["n"] == 8
    others = found[(found["model"] != "alpha") | (found["knowledge"] != "rag")]
    assert others[["unread_perturbed", "unread_sound"]].eq(0).all(axis=None)


def test_one_class_of_statements_is_flagged(scores: pd.DataFrame) -> None:
    sound = scores[~(scores["task"].eq("perturbation_detection") & scores["perturbed"].eq(True))]
    sound = sound[sound["task"] != IDENTIFICATION]
    found = analysis.perturbation_frame(sound, Design().settings())
    assert set(found["flag"]) == {"one_class"}
    assert found["detection"].isna().all() and found["specificity"].notna().all()
    assert found["n_identification"].eq(0).all() and found["drop"].isna().all()


def test_nothing_flagged_has_no_drop() -> None:
    design = Design(models=("alpha",), baselines=())
    scores = synthetic.frame(design, lambda model, knowledge, task, number: number % 2 == 0)
    found = analysis.perturbation_frame(scores, design.settings())
    assert found["detection"].eq(0).all() and found["identification"].eq(0).all()
    assert found["drop"].isna().all() and found["identification_flagged"].isna().all()
    assert found["specificity"].eq(1).all()


def test_a_statement_with_two_labels_is_refused(scores: pd.DataFrame) -> None:
    changed = scores.copy()
    first = changed.index[changed["item_id"].eq("perturbation_detection-0002")][0]
    changed.loc[first, "perturbed"] = True
    with pytest.raises(DataError, match=r"no single label .*0002 \(1 statement"):
        analysis.perturbation_frame(changed, Design().settings())
    changed["perturbed"] = pd.array([pd.NA] * len(changed), dtype="boolean")
    with pytest.raises(DataError, match="no single label"):
        analysis.perturbation_frame(changed, Design().settings())


# ---- degenerate runs ----------------------------------------------------------------------------


@cache
def degenerate() -> dict[str, tuple[Design, pd.DataFrame]]:
    small = Design(models=("alpha",), baselines=(), variants=ABLATION)
    both = Design(models=("alpha", "beta"), variants=ABLATION)
    whole = synthetic.frame(both)
    no_answer = whole.assign(
        correct=False, partial=0.0, graded=None, valid=False, category="blank", verdict=None
    ).astype(SCORE_DTYPES)
    unscored = whole.assign(correct=None, partial=None, graded=None, category="not_run")
    halves = whole[
        whole["model"].eq("floor")
        | (whole["item_id"].str[-4:].astype(int).mod(2).eq(0) == whole["model"].eq("alpha"))
    ]
    return {
        "one model": (small, synthetic.frame(small)),
        "no judged answer": (both, no_answer),
        "all unscored": (both, unscored.astype(SCORE_DTYPES)),
        "one item": (
            Design(models=("alpha", "beta"), items=1, variants=ABLATION),
            synthetic.frame(Design(models=("alpha", "beta"), items=1, variants=ABLATION)),
        ),
        "no matched item": (both, halves.reset_index(drop=True)),
        "nothing flagged": (
            both,
            synthetic.frame(both, lambda model, knowledge, task, number: number % 2 == 0),
        ),
        "a task missing": (both, whole[whole["task"] != "open_ended"].reset_index(drop=True)),
        "no perturbation": (
            both,
            whole[~whole["task"].str.startswith("perturbation")].reset_index(drop=True),
        ),
        "baselines only": (both, whole[whole["model"] == "floor"].reset_index(drop=True)),
        "no ablation": (both, whole[whole["knowledge"].isin(SETTINGS)].reset_index(drop=True)),
        "empty": (both, score_table([])),
        "no models": (Design(models=(), baselines=("floor",)), synthetic.frame(Design(models=()))),
    }


@pytest.mark.parametrize("name", list(degenerate()))
def test_degenerate_runs_say_why(name: str) -> None:
    design, scores = degenerate()[name]
    frames = analysis.statistics_frames(scores, design.settings(resamples=50))
    for file, frame in frames.items():
        flags = {part for flag in frame["flag"] for part in flag.split(";") if part}
        assert flags <= set(FLAGS), file
        values = [c for c in ("strict", "share", "detection", "rag_minus_parametric") if c in frame]
        for value in values:
            assert (frame[value].notna() | frame["flag"].ne("")).all(), (file, value)
    accuracy_rows = frames["accuracy"]
    assert len(accuracy_rows) == len(design.runs) * 3 * 9
    if name in ("all unscored", "no matched item", "empty", "baselines only"):
        mine = accuracy_rows[accuracy_rows["model"].isin(list(design.models))]
        assert mine["strict"].isna().all() and set(mine["flag"]) == {"missing"}
        assert frames["outcomes"]["share"].isna().all()
        assert set(frames["setting_differences"]["flag"]) == {"missing"}
    if name == "all unscored":
        assert mine.loc[mine["task"] != "all", "unscored"].eq(8).all()
        assert frames["ablation_by_task"]["flag"].eq("missing").all()


def test_the_rule_writes_every_file(tmp_path: Path) -> None:
    design = Design(variants=ABLATION)
    scores = synthetic.frame(design)
    path = tmp_path / "scores.parquet"
    scores.to_parquet(path)
    names = list(analysis.statistics_frames(scores, design.settings(resamples=20)))
    output = {name: tmp_path / f"{name}.csv" for name in names}
    settings = design.settings(resamples=20)
    snakemake = SimpleNamespace(
        input=SimpleNamespace(scores=path),
        output=output,
        params=SimpleNamespace(
            models=list(settings.models),
            baselines=list(settings.baselines),
            runs=[list(run) for run in settings.runs],
            main=list(settings.main),
            variants={name: list(value) for name, value in settings.variants.items()},
            statistics={"resamples": 20, "level": 0.95},
            seed=settings.seed,
        ),
    )
    compute_accuracy.main(snakemake)
    written = read_csv(output["accuracy"])
    expected = analysis.accuracy_frame(scores, settings)
    pd.testing.assert_frame_equal(
        written.drop(columns="flag"), expected.drop(columns="flag"), check_dtype=False
    )
    first = {name: file.read_bytes() for name, file in output.items()}
    compute_accuracy.main(snakemake)
    assert {name: file.read_bytes() for name, file in output.items()} == first
