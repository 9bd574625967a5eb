"""TIDE's own inconsistencies, recomputed from data/published (docs/reproduction.md has the text).

Numbers of the tests are those of the list there. What cannot be recomputed has no test.
"""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from scripts.files import read_csv
from scripts.statistics.council import partial_score, strict_score
from scripts.statistics.proportions import context_accuracy, spread_ratio, verdict_accuracy

PUBLISHED = Path(__file__).parents[2] / "data" / "published"


def values(name: str) -> dict[str, float]:
    frame = read_csv(PUBLISHED / f"tide_{name}.csv")
    assert list(frame.columns) == ["key", "value", "source"]
    assert not frame["key"].duplicated().any() and frame.notna().all(axis=None)
    return dict(zip(frame["key"], frame["value"].astype(float), strict=True))


@pytest.fixture(scope="module")
def told() -> dict[str, float]:
    return values("headlines")


@pytest.fixture(scope="module")
def derived() -> dict[str, float]:
    return values("derived")


def printable(percent: float, n: int, digits: int) -> bool:
    """Whether some k right of n prints as this percentage."""
    near = int(n * percent / 100)
    shown = f"{percent:.{digits}f}"
    return any(
        f"{100 * k / n:.{digits}f}" == shown for k in range(max(0, near - 1), min(n, near + 2) + 1)
    )


def denominators(percents: list[float], top: int, digits: int = 2) -> list[int]:
    """Every n below `top` of which all these percentages are shares."""
    return [n for n in range(1, top) if all(printable(p, n, digits) for p in percents)]


# ---- sums and differences that agree ------------------------------------------------------------


def test_what_adds_up(told: dict[str, float]) -> None:
    kinds = ("acts", "general_orders", "sros", "rules")
    assert sum(told[f"corpus.{kind}"] for kind in kinds) == told["corpus.n_documents"] == 644
    assert told["rag.elements_whole"] + told["rag.chunks"] == told["rag.vectors_total"]
    assert f"{told['corpus.words_max'] / told['corpus.words_median']:.0f}" == "141"
    claude = [told[f"macro_strict.claude.{name}"] for name in ("icl", "parametric")]
    assert claude[0] - claude[1] == pytest.approx(told["macro_strict.claude.icl_minus_parametric"])
    rubric = ("verdict", "reasoning", "clarity")
    assert sum(told[f"council.rubric_{name}"] for name in rubric) == 100


def test_task_difficulty_against_model_identity(told: dict[str, float]) -> None:
    found = spread_ratio(
        told["partial.icl_task_max"],
        told["partial.icl_task_min"],
        told["partial.icl_macro_gpt5"],
        told["partial.icl_macro_glm"],
    )
    assert found.within == pytest.approx(told["partial.icl_task_spread"])
    assert found.macro == pytest.approx(told["partial.icl_macro_spread"])
    assert found.ratio == pytest.approx(4.19, abs=5e-3)
    strict = told["partial.icl_macro_gpt5"] - told["partial.gap_gpt5"]
    assert strict == pytest.approx(told["macro_strict.gpt5.icl"] / 100, abs=1.1e-3)


# ---- the verdicts on 498 statements --------------------------------------------------------------


def test_498_statements_of_which_257_are_perturbed(
    told: dict[str, float], derived: dict[str, float]
) -> None:
    """The only pair below 900 that gives all nine percentages."""
    two = [told["pert.detect.gemini.parametric"], told["pert.detect.claude.parametric"]]
    one = [told["pert.glm.detect_rag"], told["pert.glm.detect_icl"]]
    sound = [
        told[f"pert.{name}"]
        for name in ("gemini.flag_accurate_parametric", "glm.spec_rag", "glm.spec_icl")
    ]
    altered = set(denominators(two, 900)) & set(denominators(one, 900, 1))
    accurate = set(denominators(sound, 900, 1))
    always = f"{told['pert.always_flag_accuracy']:.1f}"
    pairs = [
        (n + m, n)
        for n, m in product(sorted(altered), sorted(accurate))
        if n + m < 900
        and f"{100 * n / (n + m):.1f}" == always
        and printable(told["task.pert.best_grounded"], n + m, 2)
    ]
    assert pairs == [(498, 257)]
    assert (derived["N_perturbation_items"], derived["n_perturbed"]) == pairs[0]
    assert derived["n_accurate"] == 498 - 257


def test_mean_accuracies_of_the_verdicts(told: dict[str, float], derived: dict[str, float]) -> None:
    accuracy = {
        name: 100
        * verdict_accuracy(
            told[f"pert.detect.mean.{name}"] / 100, told[f"pert.spec.mean.{name}"] / 100, 257, 498
        )
        for name in ("parametric", "rag", "icl")
    }
    assert f"{accuracy['parametric']:.1f}" == f"{told['pert.mean_accuracy_parametric']:.1f}"
    assert f"{accuracy['rag']:.1f}" == f"{derived['mean_acc_rag']:.1f}" == "82.0"
    assert f"{accuracy['icl']:.1f}" == f"{derived['mean_acc_icl']:.1f}" == "78.2"
    difference = (accuracy["rag"] - accuracy["icl"]) / 100
    assert f"{difference:.3f}" == f"{told['partial.pert.rag_minus_icl']:.3f}"


# ---- 1 to 5 --------------------------------------------------------------------------------------


def test_1_the_gap_is_not_meaning_without_date() -> None:
    """An answer with the right meaning and a wrong date earns nothing under either score."""
    for weight in (0.26, 0.5, 0.7):
        wrong_date = ([False], True, True)
        missed_date = ([False], False, True)
        for case in (wrong_date, missed_date):
            assert strict_score(*case) == 0 and partial_score(*case, date_weight=weight) == 0
        # What makes the gap is the reverse, and part of several dates.
        assert partial_score([True], False, False, weight) == weight
        assert 0 < partial_score([True, False], False, True, weight) < 1


def test_2_event_sorting_in_table_16_fits_neither_exact_nor_mixed(told: dict[str, float]) -> None:
    gain, retrieval = (
        told[f"partial.event_sort.{name}"] for name in ("icl_minus_rag", "rag_minus_p")
    )
    exact = {name: told[f"event_sort.exact.{name}"] for name in ("icl", "rag")}
    graded = {name: told[f"event_sort.graded.{name}"] for name in ("icl", "rag")}
    rounding = 0.005 + 0.005 + 0.0005
    assert exact["icl"] - exact["rag"] - gain > 0.13 > rounding
    # What the footnote says: graded with documents, exact under retrieval.
    assert graded["icl"] - exact["rag"] - gain > 0.37 > rounding
    # Graded on both sides fits, at the edge of the rounding.
    off = abs(graded["icl"] - graded["rag"] - gain)
    assert off == pytest.approx(0.01) and off < rounding
    # With exact retrieval the row's own sums give an accuracy that is nowhere printed.
    parametric = exact["rag"] - retrieval
    assert parametric == pytest.approx(0.262) and parametric + retrieval + gain == pytest.approx(
        0.43
    )
    best = max(told["task.event_sort.gpt5.icl"], told["task.event_sort.best_icl"])
    assert exact["icl"] < best / 100 < graded["icl"]


def test_3_most_authoritative_answers_earn_nothing(told: dict[str, float]) -> None:
    stated = told["cm.authoritative_icl"] - told["task.cm.icl_max"]
    assert stated > 38
    apart = told["cm.authoritative_icl"] - told["cm.authoritative_rag"]
    assert apart == 16 and told["partial.cm.rag_icl_diff"] == 0.002
    gains = told["partial.cm.rag_minus_p"] - told["partial.cm.icl_minus_p"]
    assert gains == pytest.approx(told["partial.cm.rag_icl_diff"])


def test_4_the_cost_is_that_of_nine_passes(told: dict[str, float]) -> None:
    answers = told["eval.cost_usd_total"] / told["eval.cost_usd_per_item_model_run"]
    pairs = told["qa.n_total"] * told["eval.n_llms"]
    assert answers == pytest.approx(244_444, abs=1) and pairs == 27_450
    assert answers / pairs == pytest.approx(8.9, abs=0.05)
    assert 3 * pairs * told["eval.cost_usd_per_item_model_run"] == pytest.approx(371, abs=1)


def test_5_outcomes_add_up_to_more_than_everything(
    told: dict[str, float], derived: dict[str, float]
) -> None:
    names = ("answered_from_memory", "gap_closed_by_gold", "unrecoverable")
    memory, closed, lost = (told[f"outcome.{name}"] for name in names)
    assert memory + closed + lost == pytest.approx(100.1)
    icl = context_accuracy(memory, told["outcome.overturned_by_gold"], closed)
    assert icl == pytest.approx(derived["icl_accuracy_matched"]) == pytest.approx(65.4)
    kept = told["outcome.rag_success_given_icl_right"] / 100
    assert f"{icl * (1 - kept):.1f}" == f"{told['outcome.icl_right_rag_wrong']:.1f}" == "17.3"
    # "Unrecoverable" is wrong without and with documents; wrong with documents is more.
    assert 100 - icl == pytest.approx(34.6) and 100 - icl - lost > 5


# ---- 9 to 12 -------------------------------------------------------------------------------------


def test_9_the_easiest_task_is_not_the_easiest(told: dict[str, float]) -> None:
    assert told["task.mcq.icl_best"] < told["task.ssa.best_grounded"] == told["task.ssa.claude.rag"]


def test_10_identification_is_no_share_of_the_perturbed_statements(
    told: dict[str, float],
) -> None:
    keys = [
        key
        for key in told
        if key.startswith("pert.ident.") and not key.startswith("pert.ident.mean")
    ]
    assert len(keys) == 6
    for key in keys:
        assert not printable(told[key], 257, 2), key
        # Nor of half points over them.
        assert not printable(told[key], 514, 2), key
    claude = [told[f"pert.ident.claude.{name}"] for name in ("parametric", "rag", "icl")]
    assert denominators(claude, 900) == [348, 696]
    assert 116 in denominators(claude[1:], 258)


def test_11_percentages_of_a_task_have_no_common_number_of_items(told: dict[str, float]) -> None:
    sorting = [told[f"task.event_sort.{name}"] for name in ("gpt5.icl", "gpt5.rag", "best_icl")]
    choice = [
        told[f"task.mcq.{name}"] for name in ("parametric_min", "parametric_max_gemma", "icl_best")
    ]
    misaligned = [
        told[f"task.cm.{name}"]
        for name in ("parametric_min", "parametric_max", "icl_max", "rag_max")
    ]
    for percents in (sorting, choice, misaligned):
        assert denominators(percents, 700) == []
        assert all(denominators([percent], 700) for percent in percents)


def test_12_the_pooled_accuracy_is_above_every_possible_mean_of_macros(
    told: dict[str, float], derived: dict[str, float]
) -> None:
    """GPT-5 is first and Claude second under ICL, so the other seven are at most Claude's."""
    first, second = (told[f"macro_strict.{name}.icl"] for name in ("gpt5", "claude"))
    highest = (first + 8 * second) / 9
    assert highest == pytest.approx(64.85, abs=6e-3)
    assert highest < derived["icl_accuracy_matched"]
