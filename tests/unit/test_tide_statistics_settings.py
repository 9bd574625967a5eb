"""What settings change: outcomes, meaning and date, misalignment, differences, ablation, tests."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

from scripts.files import read_csv
from scripts.tide.score_table import score_table
from scripts.tide.statistics import (
    ablation,
    analysis,
    compare_systems,
    comparisons,
    differences,
    outcomes,
)
from scripts.tide.tasks import SETTINGS, TASKS
from tests import synthetic_tide_scores as synthetic
from tests.synthetic_tide_scores import ABLATION, Design

MODE = "non_thinking"
TWO = Design(models=("alpha", "beta"), baselines=())


@pytest.fixture(autouse=True)
def _no_warning() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@pytest.fixture(scope="module")
def scores() -> pd.DataFrame:
    return synthetic.frame(Design(variants=ABLATION))


def strict(scores: pd.DataFrame) -> pd.DataFrame:
    """Strict correctness by model, task and item, a column a setting."""
    rows = scores[scores["task"].isin(list(TASKS)) & scores["model"].ne("floor")]
    return rows.pivot_table(
        index=["model", "task", "item_id"], columns="knowledge", values="correct", aggfunc="first"
    ).astype(bool)


# ---- outcomes ------------------------------------------------------------------------------------


def test_outcomes_are_counted_answer_by_answer(scores: pd.DataFrame) -> None:
    found = analysis.outcomes_frame(scores, Design().settings()).set_index("outcome")
    assert list(found.reset_index().columns) == list(outcomes.OUTCOME_COLUMNS)
    wide = strict(scores)
    p, icl, rag = (wide[name] for name in ("parametric", "icl", "rag"))
    expected = {
        "memory": p.mean(),
        "gap_closed": (~p & icl).mean(),
        "unrecoverable": (~p & ~icl).mean(),
        "overturned": (p & ~icl).mean(),
        "icl_only": (icl & ~rag).mean(),
        "rag_given_icl": rag[icl].mean(),
    }
    assert found["share"].to_dict() == pytest.approx(expected)
    assert found["n"].drop("rag_given_icl").eq(3 * 64).all()
    assert found.loc["rag_given_icl", "n"] == icl.sum()
    assert found["runs"].eq(3).all() and found["flag"].eq("").all()
    assert (found["share_low"] <= found["share"]).all()
    assert (found["share"] <= found["share_high"]).all()


@given(st.lists(st.tuples(st.booleans(), st.booleans(), st.booleans()), min_size=1, max_size=9))
@settings(max_examples=25)
def test_the_first_three_outcomes_partition_the_answers(
    answers: list[tuple[bool, bool, bool]],
) -> None:
    def rule(model: str, knowledge: str, task: str, number: int) -> bool:
        return answers[number][SETTINGS.index(knowledge)] ^ (model == "beta")

    design = Design(models=("alpha", "beta"), baselines=(), items={"open_ended": len(answers)})
    frame = analysis.outcomes_frame(synthetic.frame(design, rule), design.settings(resamples=30))
    share = frame.set_index("outcome")["share"]
    assert share[["memory", "gap_closed", "unrecoverable"]].sum() == pytest.approx(1)
    # Right with documents: known and not overturned, or a gap closed (scripts.statistics).
    icl = np.mean([a[1] for a in answers] + [not a[1] for a in answers])
    assert share["memory"] - share["overturned"] + share["gap_closed"] == pytest.approx(icl)
    if icl:
        kept = share["rag_given_icl"] * icl
        assert share["icl_only"] == pytest.approx(icl - kept)
    assert set(frame["flag"]) <= {"incomplete", "missing"}


def test_the_interval_resamples_items_and_not_answers() -> None:
    """Three models that always agree are one model: the interval is no narrower."""

    def rule(model: str, knowledge: str, task: str, number: int) -> bool:
        return bool(synthetic.by_chance(3)("same", knowledge, task, number))

    one, three = Design(models=("alpha",), baselines=()), Design(baselines=())
    alone = analysis.outcomes_frame(synthetic.frame(one, rule), one.settings())
    together = analysis.outcomes_frame(synthetic.frame(three, rule), three.settings())
    columns = ["outcome", "share", "share_low", "share_high"]
    pd.testing.assert_frame_equal(alone[columns], together[columns])
    assert (together["n"] == 3 * alone["n"]).all()


def test_an_outcome_that_never_happens_has_wilsons_interval() -> None:
    design = Design(models=("alpha",), baselines=(), items=5)
    scores = synthetic.frame(design, lambda model, knowledge, task, number: True)
    found = analysis.outcomes_frame(scores, design.settings()).set_index("outcome")
    _, high = proportion_confint(0, 40, method="wilson")
    assert found.loc["overturned", "share"] == 0
    assert found.loc["overturned", "share_high"] == pytest.approx(high)
    assert found.loc["memory", ["share", "share_high"]].tolist() == [1, 1]


def test_nothing_right_under_icl_leaves_the_conditional_share_open() -> None:
    scores = synthetic.frame(TWO, lambda model, knowledge, task, number: knowledge != "icl")
    found = analysis.outcomes_frame(scores, TWO.settings()).set_index("outcome")
    assert found.loc["overturned", "share"] == 1
    assert (found.loc["rag_given_icl", "n"], found.loc["rag_given_icl", "flag"]) == (0, "missing")
    assert np.isnan(found.loc["rag_given_icl", "share"])


def test_outcomes_pool_what_can_be_compared_by_task(scores: pd.DataFrame) -> None:
    gone = (
        scores["model"].eq("beta") & scores["task"].eq("open_ended") & scores["knowledge"].eq("icl")
    )
    changed = scores.copy()
    changed.loc[gone, ["correct", "partial"]] = pd.NA
    found = analysis.outcomes_frame(changed, Design().settings()).set_index("outcome")
    assert found.loc["memory", "n"] == 3 * 64 - 8
    wide = strict(scores).drop(index=[("beta", "open_ended")])
    assert found.loc["memory", "share"] == pytest.approx(wide["parametric"].mean())
    assert set(found["flag"]) == {"incomplete"}


# ---- meaning against date, misalignment ----------------------------------------------------------


def answers(changes: list[dict[str, object]], task: str = "open_ended") -> pd.DataFrame:
    """One model's answers to one task in every setting; the changes are of retrieval."""
    rows = []
    for knowledge in SETTINGS:
        for number, change in enumerate(changes):
            extra = change if knowledge == "rag" else {}
            rows.append(synthetic.row("alpha", knowledge, task, number, True, **extra))
    return score_table(rows)


ALONE = Design(models=("alpha",), baselines=())


def test_meaning_and_date_are_tabulated_as_the_council_decided() -> None:
    scores = answers(
        [
            {"meaning": True, "dates": 2, "dates_matched": 2, "contradicting": False},
            {"meaning": True, "dates": 2, "dates_matched": 1, "contradicting": False},
            {"meaning": True, "dates": 1, "dates_matched": 1, "contradicting": True},
            {"meaning": False, "dates": 1, "dates_matched": 1, "contradicting": False},
            {"meaning": False, "dates": 1, "dates_matched": 0, "contradicting": False},
            {"meaning": True, "dates": 0, "dates_matched": 0, "contradicting": False},
            {"meaning": None, "dates": 1, "dates_matched": 1, "contradicting": False},
            {"meaning": True, "dates": 1, "dates_matched": None, "contradicting": False},
            {"meaning": True, "dates": 1, "dates_matched": 1, "contradicting": None},
        ]
    )
    found = analysis.meaning_frame(scores, ALONE.settings())
    assert list(found.columns) == list(outcomes.MEANING_COLUMNS)
    rag = found[found["knowledge"] == "rag"].set_index(["meaning", "dates"])
    assert rag["n"].to_dict() == {
        ("right", "right"): 1,
        ("right", "wrong"): 2,
        ("wrong", "right"): 1,
        ("wrong", "wrong"): 1,
    }
    assert rag["share"].to_dict() == pytest.approx((rag["n"] / 5).to_dict())
    sums = found.groupby("knowledge")["share"].sum()
    assert sums.to_dict() == pytest.approx(dict.fromkeys(SETTINGS, 1))
    assert (rag["share_low"] <= rag["share"]).all() and (rag["share"] <= rag["share_high"]).all()
    # The other tasks have no item here.
    assert set(found["flag"]) == {"incomplete"}


def test_answers_without_gold_dates_leave_the_table_empty() -> None:
    scores = answers([{}, {}]).assign(dates=0).astype({"dates": "Int64"})
    found = analysis.meaning_frame(scores, ALONE.settings())
    assert found["n"].eq(0).all() and found["share"].isna().all()
    assert set(found["flag"]) == {"missing"}


def test_misalignment_counts_answers_that_the_council_decided_in_full() -> None:
    logged = dict.fromkeys(outcomes.LOGGED, False)
    scores = answers(
        [
            {**logged, "followed_context": True},
            {**logged, "authoritative": True, "conflict_acknowledged": True},
            {**logged, "authoritative": True},
            {**logged, "blended": None},
        ],
        "context_misalignment",
    )
    found = analysis.misalignment_frame(scores, ALONE.settings()).set_index("knowledge")
    assert list(found.reset_index().columns) == list(outcomes.MISALIGNMENT_COLUMNS)
    rag = found.loc["rag"]
    assert rag["n"] == 3 and rag["runs"] == 1
    expected = {"followed_context": 1 / 3, "authoritative": 2 / 3, "conflict_acknowledged": 1 / 3}
    for name, share in expected.items():
        assert rag[name] == pytest.approx(share)
        assert rag[f"{name}_low"] <= share <= rag[f"{name}_high"]
    _, high = proportion_confint(0, 3, method="wilson")
    assert (rag["blended"], rag["blended_high"]) == (0, pytest.approx(high))
    assert found.loc["icl", "authoritative"] == 1


# ---- differences between settings ----------------------------------------------------------------


def test_differences_are_means_over_models_of_means_over_items(scores: pd.DataFrame) -> None:
    found = analysis.differences_frame(scores, Design().settings())
    assert list(found.columns) == list(differences.COLUMNS)
    models = scores[scores["model"].ne("floor") & scores["task"].isin(list(TASKS))]
    for row in found.to_dict("records"):
        mine = models if row["task"] == "all" else models[models["task"] == row["task"]]
        by_task = mine.groupby(["model", "knowledge", "task"])[row["measure"]].mean()
        means = by_task.groupby(["model", "knowledge"]).mean().unstack().astype(float)
        for a, b in differences.PAIRS:
            assert row[f"{a}_minus_{b}"] == pytest.approx((means[a] - means[b]).mean())
            low, high = row[f"{a}_minus_{b}_low"], row[f"{a}_minus_{b}_high"]
            assert low <= row[f"{a}_minus_{b}"] <= high
        for name in SETTINGS:
            assert row[f"sd_{name}"] == pytest.approx(means[name].std(ddof=1))
        total = row["rag_minus_parametric"] + row["icl_minus_rag"]
        assert total == pytest.approx(row["icl_minus_parametric"])
    assert found["flag"].eq("").all() and found["runs"].eq(3).all()
    graded = found[found["measure"] == "graded"]
    assert graded["task"].tolist() == ["event_sorting"]


def test_differences_are_paired() -> None:
    """A constant gain on every item has no spread, however the items differ."""
    design = Design(models=("alpha", "beta"), baselines=(), items=30)

    def rule(model: str, knowledge: str, task: str, number: int) -> bool:
        return knowledge == "icl" or number % 3 == 0

    found = analysis.differences_frame(synthetic.frame(design, rule), design.settings())
    row = found.set_index("task").loc["temporal_mcq"]
    assert row["icl_minus_parametric"] == pytest.approx(2 / 3)
    assert row["icl_minus_parametric_low"] < 2 / 3 < row["icl_minus_parametric_high"]
    # Retrieval is as right as memory on every single item.
    assert row["rag_minus_parametric"] == 0
    assert np.isnan(row["rag_minus_parametric_low"]) and row["flag"] == "constant"


def test_a_paired_interval_agrees_with_scipy() -> None:
    design = Design(models=("alpha",), baselines=(), items=80)
    scores = synthetic.frame(design)
    found = analysis.differences_frame(scores, design.settings(resamples=20_000))
    row = found[(found["task"] == "open_ended")].iloc[0]
    part = scores[scores["task"] == "open_ended"]
    wide = part.pivot(index="item_id", columns="knowledge", values="partial").astype(float)
    theirs = stats.bootstrap(
        ((wide["icl"] - wide["rag"]).to_numpy(),),
        np.mean,
        n_resamples=20_000,
        method="percentile",
        rng=np.random.default_rng(1),
    ).confidence_interval
    assert row["icl_minus_rag_low"] == pytest.approx(theirs.low, abs=0.01)
    assert row["icl_minus_rag_high"] == pytest.approx(theirs.high, abs=0.01)
    assert row["flag"] == "too_few" and np.isnan(row["sd_icl"])


def test_a_run_that_is_left_out_of_a_task_shows_in_the_counts(scores: pd.DataFrame) -> None:
    gone = (
        scores["model"].eq("beta") & scores["task"].eq("open_ended") & scores["knowledge"].eq("icl")
    )
    changed = scores.copy()
    changed.loc[gone, ["correct", "partial"]] = pd.NA
    found = analysis.differences_frame(changed, Design().settings()).set_index("task")
    assert (found.loc["open_ended", "runs"], found.loc["open_ended", "flag"]) == (2, "incomplete")
    assert (found.loc["temporal_mcq", "runs"], found.loc["temporal_mcq", "flag"]) == (3, "")
    assert (found.loc["all", "runs"], found.loc["all", "flag"]) == (2, "incomplete")
    rows = found[found["measure"] == "partial"]
    assert rows.loc["all", "icl_minus_rag"] == pytest.approx(
        rows["icl_minus_rag"].drop("all").mean()
    )


# ---- ablation ------------------------------------------------------------------------------------


def of_variant(frame: pd.DataFrame, key: tuple[str, int, str]) -> pd.DataFrame:
    """The rows of an embedder, depth and re-ranking."""
    embedder, depth, rerank = key
    same = frame["embedder"].eq(embedder) & frame["depth"].eq(depth) & frame["rerank"].eq(rerank)
    return frame[same]


def test_the_ablation_compares_variants_on_common_items(scores: pd.DataFrame) -> None:
    hit = (
        scores["model"].eq("beta")
        & scores["knowledge"].eq("rag-small-3")
        & scores["item_id"].eq("open_ended-0004")
    )
    changed = scores.copy()
    changed.loc[hit, ["correct", "partial"]] = pd.NA
    design = Design(variants=ABLATION)
    by_task, by_model = analysis.ablation_frames(changed, design.settings())
    assert list(by_task.columns) == list(ablation.TASK_COLUMNS)
    assert list(by_model.columns) == list(ablation.MODEL_COLUMNS)
    assert len(by_task) == 3 * 10 and len(by_model) == 3 * 3 * 2
    models = changed[changed["model"].ne("floor") & changed["item_id"].ne("open_ended-0004")]
    names = {
        "rag": ("main", 10, "none"),
        "rag-small-3": ("small", 3, "none"),
        "rag-dated": ("main", 10, "dated"),
    }
    for knowledge, key in names.items():
        mine = of_variant(by_task, key).set_index("task")
        rows = models[models["knowledge"] == knowledge]
        means = rows[rows["task"].isin(list(TASKS))].groupby("task")["correct"].mean()
        for task in TASKS:
            assert mine.loc[task, "strict"] == pytest.approx(means[task])
        assert mine.loc["all", "strict"] == pytest.approx(means.mean())
        rest = means.drop("event_sorting")
        assert mine.loc["macro_without_sorting", "strict"] == pytest.approx(rest.mean())
        assert mine.loc["macro_without_sorting", "n"] == 55 and mine.loc["all", "n"] == 63
        assert mine.loc["open_ended", ["n", "flag"]].tolist() == [7, "incomplete"]
        theirs = of_variant(by_model, key)
        per_model = theirs[theirs["task"] == "all"]["strict"].mean()
        assert per_model == pytest.approx(mine.loc["all", "strict"])
    for frame in (by_task, by_model):
        assert (frame["strict_low"] <= frame["strict"]).all()
        assert (frame["strict"] <= frame["strict_high"]).all()


def test_models_that_did_not_answer_every_variant_stay_out(scores: pd.DataFrame) -> None:
    fewer = scores[scores["model"].ne("beta") | scores["knowledge"].ne("rag-dated")]
    _, by_model = analysis.ablation_frames(fewer, Design(variants=ABLATION).settings())
    assert by_model["model"].unique().tolist() == ["alpha", "gamma"]
    assert by_model["flag"].eq("").all()


# ---- McNemar -------------------------------------------------------------------------------------


def test_tests_between_settings_are_those_of_statsmodels() -> None:
    design = Design(models=("alpha", "beta"), items=60)
    scores = synthetic.frame(design)
    chosen = comparisons.Settings([("alpha", MODE), ("beta", MODE)])
    found = comparisons.settings_frame(scores, chosen)
    assert len(found) == 2 * 9 * 3
    wide = strict(scores)
    for row in found.to_dict("records"):
        mine = wide.loc[row["model"]]
        mine = mine if row["task"] == "all" else mine.loc[[row["task"]]]
        a, b = mine[row["knowledge_a"]], mine[row["knowledge_b"]]
        table = [[(a & b).sum(), (a & ~b).sum()], [(~a & b).sum(), (~a & ~b).sum()]]
        assert (row["n"], row["b01"], row["b10"]) == (len(mine), table[0][1], table[1][0])
        theirs = mcnemar(table, exact=False, correction=True)
        assert row["statistic"] == pytest.approx(theirs.statistic)
        assert row["p"] == pytest.approx(theirs.pvalue)
        if row["b01"] + row["b10"] < 25:
            assert row["p_exact"] == pytest.approx(mcnemar(table, exact=True).pvalue)
        else:
            assert np.isnan(row["p_exact"])
    decisive = found["p_exact"].fillna(found["p"])
    reject, q, _, _ = multipletests(decisive, alpha=0.05, method="fdr_bh")
    assert found["q"].to_numpy() == pytest.approx(q)
    assert (found["significant"].to_numpy() == reject).all() and reject.any()


def test_tests_between_models_swap_with_the_models(scores: pd.DataFrame) -> None:
    names = [("alpha", MODE), ("beta", MODE), ("gamma", MODE)]
    found = comparisons.models_frame(scores, comparisons.Settings(names))
    turned = comparisons.models_frame(scores, comparisons.Settings(names[::-1]))
    both = found.merge(
        turned,
        left_on=["knowledge", "model_a", "model_b"],
        right_on=["knowledge", "model_b", "model_a"],
        suffixes=("", "_turned"),
    )
    assert len(both) == len(found) == 9
    assert (both["b01"] == both["b10_turned"]).all() and (both["b10"] == both["b01_turned"]).all()
    for name in ("n", "statistic", "p", "q"):
        assert both[name].to_numpy() == pytest.approx(both[f"{name}_turned"].to_numpy())
    wide = strict(scores)["icl"].unstack("model")
    row = both[(both["knowledge"] == "icl") & (both["model_a"] == "alpha")].iloc[0]
    assert row["b01"] == (wide["alpha"] & ~wide["beta"]).sum()


def test_pairs_use_the_items_that_both_sides_have(scores: pd.DataFrame) -> None:
    changed = scores.copy()
    hit = changed["model"].eq("alpha") & changed["item_id"].eq("temporal_mcq-0001")
    changed.loc[hit & changed["knowledge"].eq("icl"), "correct"] = pd.NA
    chosen = comparisons.Settings([("alpha", MODE), ("beta", MODE)])
    found = comparisons.settings_frame(changed, chosen).set_index(
        ["model", "task", "knowledge_a", "knowledge_b"]
    )
    assert found.loc[("alpha", "temporal_mcq", "parametric", "icl"), "n"] == 7
    assert found.loc[("alpha", "temporal_mcq", "parametric", "rag"), "n"] == 8
    assert found.loc[("beta", "temporal_mcq", "parametric", "icl"), "n"] == 8
    assert found.loc[("alpha", "all", "icl", "rag"), "n"] == 63


def test_ceilings_and_absent_answers_are_flagged() -> None:
    def rule(model: str, knowledge: str, task: str, number: int) -> bool | None:
        return None if task == "open_ended" and knowledge == "icl" else True

    scores = synthetic.frame(TWO, rule)
    chosen = comparisons.Settings([("alpha", MODE), ("beta", MODE)])
    found = comparisons.settings_frame(scores, chosen)
    absent = found[(found["task"] == "open_ended") & found.eq("icl").any(axis=1)]
    assert set(absent["flag"]) == {"missing"} and absent[["p", "q"]].isna().all(axis=None)
    rest = found.drop(absent.index)
    assert set(rest["flag"]) == {"no_discordant_pairs"} and rest["p"].eq(1).all()
    assert not found["significant"].any()


def test_no_run_has_empty_tables(tmp_path: Path) -> None:
    nothing = comparisons.Settings([])
    for make, keys in (
        (comparisons.settings_frame, comparisons.SETTING_KEYS),
        (comparisons.models_frame, comparisons.MODEL_KEYS),
    ):
        for scores in (synthetic.frame(TWO), score_table([])):
            found = make(scores, nothing)
            assert found.empty and list(found.columns) == [*keys, *comparisons.VALUE_COLUMNS]
    empty = comparisons.settings_frame(score_table([]), comparisons.Settings([("alpha", MODE)]))
    assert len(empty) == 27 and set(empty["flag"]) == {"missing"}


def test_the_rule_leaves_baselines_out(tmp_path: Path, scores: pd.DataFrame) -> None:
    scores.to_parquet(tmp_path / "scores.parquet")
    output = SimpleNamespace(
        mcnemar_settings=tmp_path / "settings.csv", mcnemar_models=tmp_path / "models.csv"
    )
    design = Design(variants=ABLATION)
    compare_systems.main(
        SimpleNamespace(
            input=SimpleNamespace(scores=tmp_path / "scores.parquet"),
            output=output,
            params=SimpleNamespace(
                models=list(design.models),
                runs=[list(run) for run in design.runs],
                statistics={"alpha": 0.05, "exact_below": 25},
            ),
        )
    )
    models = read_csv(output.mcnemar_models)
    assert set(models["model_a"]) | set(models["model_b"]) == {"alpha", "beta", "gamma"}
    assert len(read_csv(output.mcnemar_settings)) == 3 * 9 * 3
