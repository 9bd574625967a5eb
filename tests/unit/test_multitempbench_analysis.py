"""accuracy.csv and dataset.csv of MultiTempBench."""

from __future__ import annotations

import json
import math
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import multitempbench_frames
import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.proportion import proportion_confint

from scripts import files
from scripts.files import DataError
from scripts.multitempbench import analysis, compute_accuracy
from scripts.multitempbench.analysis import Settings, accuracy_frame
from scripts.multitempbench.tasks import FORMATS, LANGUAGES, TASKS
from scripts.records import Item

PARAMS = multitempbench_frames.params("embedded")


def settings(**changes: Any) -> Settings:
    part = PARAMS["multitempbench"]
    modes = {m: PARAMS["models"][m]["modes"] for m in (*part["models"], *part["baselines"])}
    values: dict[str, Any] = {
        "modes": modes,
        "languages": LANGUAGES,
        "tasks": list(TASKS),
        "formats": FORMATS,
        "seed": 42,
        "resamples": 300,
    }
    return Settings(**(values | changes))


@pytest.fixture(scope="module")
def scores() -> pd.DataFrame:
    return multitempbench_frames.scores(PARAMS)


@pytest.fixture(scope="module")
def holes() -> pd.DataFrame:
    return multitempbench_frames.scores(PARAMS, holes=True)


def row(frame: pd.DataFrame, **key: str) -> pd.Series:
    for column in ("model", "language", "task", "format"):
        frame = frame[frame[column] == key.get(column, "all")]
    assert len(frame) == 1
    return frame.iloc[0]


def test_every_cell_and_margin_has_a_row(scores: pd.DataFrame) -> None:
    found = accuracy_frame(scores, settings())
    assert list(found.columns) == list(analysis.ACCURACY_COLUMNS)
    assert len(found) == 5 * 6 * 4 * 5
    assert not found.duplicated(["model", "mode", "language", "task", "format"]).any()
    assert set(found["flag"]) == {""}


def test_margins_are_pooled_formats_and_unweighted_means(scores: pd.DataFrame) -> None:
    found = accuracy_frame(scores, settings())
    mine = scores[scores["model"] == "gemma3-270m"]
    part = mine[(mine["language"] == "ha") & (mine["task"] == "relation")]
    cell = row(found, model="gemma3-270m", language="ha", task="relation")
    assert (cell["n"], cell["correct"]) == (48, int(part["correct"].sum()))
    assert cell["questions"] == 12
    by_task = mine[mine["language"] == "ha"].groupby("task")["correct"].mean()
    assert row(found, model="gemma3-270m", language="ha")["accuracy"] == pytest.approx(
        float(by_task.mean())
    )
    by_cell = mine.groupby(["language", "task"])["correct"].mean().groupby("language").mean()
    whole = row(found, model="gemma3-270m")
    assert whole["accuracy"] == pytest.approx(float(by_cell.mean()))
    assert (whole["n"], whole["questions"]) == (36 * 20, 36)
    missed = (mine["verdict"] == "not_attempted").mean()
    assert whole["not_attempted_rate"] == pytest.approx(missed)  # balanced: equal weights
    wrong = whole["accuracy"] + whole["not_attempted_rate"] + whole["incorrect_rate"]
    assert wrong == pytest.approx(1) and whole["valid_response_rate"] == 1


def test_unequal_tasks_weigh_the_same(scores: pd.DataFrame) -> None:
    few = scores[(scores["task"] != "relation") | (scores["question_id"] == "relation-0000")]
    found = accuracy_frame(few, settings())
    cell = row(found, model="gemma3-270m", language="en", format="iso")
    single = [
        row(found, model="gemma3-270m", language="en", task=t, format="iso")["accuracy"]
        for t in TASKS
    ]
    assert cell["accuracy"] == pytest.approx(np.mean(single))


def test_wilson_stands_in_single_cells_only(scores: pd.DataFrame) -> None:
    found = accuracy_frame(scores, settings())
    single = (found[["language", "task", "format"]] != "all").all(axis=1)
    assert found.loc[single, "wilson_low"].notna().all()
    assert found.loc[~single, ["wilson_low", "wilson_high"]].isna().all(axis=None)
    for cell in found[single].head(40).to_dict("records"):
        low, high = proportion_confint(cell["correct"], cell["n"], method="wilson")
        assert (cell["wilson_low"], cell["wilson_high"]) == pytest.approx((low, high))


def brute_force(scores: pd.DataFrame, resamples: int) -> tuple[float, float]:
    """Interval of one model's overall accuracy by resampling question ids, task by task."""
    rng = np.random.default_rng(0)
    tables = []
    for _, part in scores.groupby("task"):
        wide = part.groupby(["question_id", "language"])["correct"].mean().unstack()
        tables.append(wide.to_numpy(dtype=float))
    draws = []
    for _ in range(resamples):
        means = [t[rng.integers(0, len(t), len(t))].mean() for t in tables]
        draws.append(np.mean(means))
    low, high = np.percentile(draws, [2.5, 97.5])
    return float(low), float(high)


def test_the_interval_resamples_seed_questions(scores: pd.DataFrame) -> None:
    found = row(accuracy_frame(scores, settings(resamples=4000)), model="smollm2-135m")
    expected = brute_force(scores[scores["model"] == "smollm2-135m"], 4000)
    assert (found["low"], found["high"]) == pytest.approx(expected, abs=0.006)
    # All variants of a question alike: the interval is that of 36 questions, not of 720 items.
    same = scores.assign(
        correct=scores.groupby(["model", "question_id"])["correct"].transform("first")
    )
    alike = row(accuracy_frame(same, settings(resamples=4000)), model="smollm2-135m")
    rate = float(same.loc[same["model"] == "smollm2-135m", "correct"].mean())
    normal = 2 * 1.96 * math.sqrt(rate * (1 - rate) / 36)
    assert alike["high"] - alike["low"] == pytest.approx(normal, rel=0.15)
    assert alike["high"] - alike["low"] > 1.5 * (found["high"] - found["low"])


def test_perfect_and_hopeless_models_are_not_certain(scores: pd.DataFrame) -> None:
    """36 seed questions: Wilson's bound for none right is z² / (36 + z²) = .0964."""
    solver = row(accuracy_frame(scores, settings()), model="solver")
    assert (solver["accuracy"], solver["high"]) == (1, 1)
    assert solver["low"] == pytest.approx(1 - 1.959964**2 / (36 + 1.959964**2), abs=1e-6)
    nothing = scores.assign(correct=False, verdict="incorrect")
    hopeless = row(accuracy_frame(nothing, settings()), model="solver")
    assert (hopeless["low"], hopeless["accuracy"]) == (0, 0)
    assert hopeless["high"] == pytest.approx(0.0964, abs=5e-5)


def test_adding_a_model_changes_no_other_interval(scores: pd.DataFrame) -> None:
    alone = scores[scores["model"] == "gemma3-270m"]
    one = accuracy_frame(alone, settings(modes={"gemma3-270m": ["non_thinking"]}))
    found = accuracy_frame(scores, settings())
    found = found[found["model"] == "gemma3-270m"].reset_index(drop=True)
    pd.testing.assert_frame_equal(one, found)
    mixed = scores.sample(frac=1, random_state=1)
    pd.testing.assert_frame_equal(
        accuracy_frame(mixed, settings()), accuracy_frame(scores, settings())
    )


def test_missing_tasks_and_unscored_rows_are_flagged(holes: pd.DataFrame) -> None:
    found = accuracy_frame(holes, settings())
    model = "smollm2-135m"
    lost = row(found, model=model, language="ha", task="relation")
    assert lost["flag"] == "missing" and lost["n"] == 0 and math.isnan(lost["accuracy"])
    assert math.isnan(lost["low"]) and math.isnan(lost["wilson_low"])
    hausa = row(found, model=model, language="ha")
    assert hausa["flag"] == "incomplete" and not math.isnan(hausa["low"])
    unscored = row(found, model=model, language="de", task="relation", format="iso")
    assert unscored["flag"] == "missing" and unscored["unscored"] == 12
    german = row(found, model=model, language="de", task="relation")
    assert (german["n"], german["unscored"], german["flag"]) == (36, 12, "incomplete")
    assert row(found, model=model)["flag"] == "incomplete"
    assert row(found, model=model, language="en")["flag"] == ""
    assert set(found.loc[found["model"] == "gemma3-270m", "flag"]) == {""}


def test_a_configured_model_without_scores_is_missing_everywhere(scores: pd.DataFrame) -> None:
    found = accuracy_frame(scores[scores["model"] != "uniform"], settings())
    mine = found[found["model"] == "uniform"]
    assert set(mine["flag"]) == {"missing"} and (mine["n"] == 0).all()


def test_an_inference_error_is_wrong_and_neither_incorrect_nor_refused(
    scores: pd.DataFrame,
) -> None:
    changed = scores.copy()
    first = (changed["model"] == "majority") & (changed["question_id"] == "relation-0003")
    changed.loc[first, "verdict"] = None
    changed.loc[first, "correct"] = False
    changed.loc[first, "valid"] = False
    cell = row(
        accuracy_frame(changed, settings()), model="majority", language="en", task="relation"
    )
    assert cell["n"] == 48 and cell["valid_response_rate"] == pytest.approx(44 / 48)
    part = changed[(changed["model"] == "majority") & (changed["task"] == "relation")]
    cut = (part["category"] == "truncated") & (part["language"] == "en")
    assert 0 < cut.sum() == round(cell["truncated_rate"] * 48)
    rates = cell["accuracy"] + cell["incorrect_rate"] + cell["not_attempted_rate"]
    assert rates == pytest.approx(44 / 48)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda f: f.drop(columns="verdict"), "no column verdict"),
        (lambda f: f.assign(language="fr"), "language"),
        (lambda f: f.assign(task="riddle"), "task"),
        (lambda f: f.assign(mode="thinking"), "not configured"),
        (lambda f: pd.concat([f, f.head(1)]), "scored twice"),
    ],
)
def test_scores_that_do_not_fit_are_refused(
    scores: pd.DataFrame, change: Any, message: str
) -> None:
    with pytest.raises(DataError, match=message):
        accuracy_frame(change(scores), settings())
    with pytest.raises(DataError, match="unknown format"):
        accuracy_frame(scores, settings(formats=["iso", "stardate"]))


def test_a_full_run_takes_seconds() -> None:
    """285,000 rows: 15,000 items of 19 models, with 10,000 resamples."""
    params = multitempbench_frames.params("full")
    part = params["multitempbench"]
    names = [f"m{i:02d}" for i in range(19)]
    base = multitempbench_frames.scores(
        params | {"multitempbench": part | {"models": ["gpt-4o"], "baselines": []}}
    )
    frame = pd.concat([base.assign(model=name) for name in names], ignore_index=True)
    assert len(frame) == 285_000
    start = time.perf_counter()
    found = accuracy_frame(
        frame, settings(modes={n: ["non_thinking"] for n in names}, resamples=10_000)
    )
    assert time.perf_counter() - start < 30  # about 1.5 s on one idle core
    assert len(found) == 19 * 120


def items() -> list[Item]:
    out = []
    for task in TASKS:
        for number in range(2):
            for language in LANGUAGES:
                for form in FORMATS:
                    if (number, language, form) == (1, "zh", "calendar"):
                        continue  # a day that the calendar cannot name
                    out.append(
                        Item.create(
                            "multitempbench",
                            task,
                            {"language": language, "format": form, "calendar": "gregorian"},
                            {"question": f"{task} {number} {language} {form}?"},
                            {"answer": "2023-07-12"},
                            {
                                "question_id": f"{task}-{number}",
                                "name": ("own_questions", "tram_relation")[number],
                                "row": number,
                            },
                        )
                    )
    return out


def test_dataset_counts_by_task_and_in_all() -> None:
    found = analysis.dataset_frame(items(), LANGUAGES, FORMATS)
    assert found["task"].tolist() == [*TASKS, "all"]
    first = found.iloc[0]
    assert (first["questions"], first["languages"], first["formats"]) == (2, 5, 4)
    assert (first["items"], first["items_expected"]) == (39, 40)
    assert json.loads(first["by_source"]) == {"own_questions": 1, "tram_relation": 1}
    assert "en iso" in first["example"] and first["answer"] == "2023-07-12"
    last = found.iloc[-1]
    assert (last["questions"], last["items"], last["example"]) == (6, 117, "")
    german = [item for item in items() if item.factors["language"] == "de"]
    assert analysis.dataset_frame(german, ["de"], FORMATS).iloc[0]["example"]
    assert analysis.dataset_frame([], LANGUAGES, FORMATS).empty


def test_the_rule_script_writes_both_files(scores: pd.DataFrame, tmp_path: Path) -> None:
    path = tmp_path / "scores.parquet"
    files.write_parquet(path, scores)
    item_files = [tmp_path / f"{task}.jsonl" for task in TASKS]
    for task, item_file in zip(TASKS, item_files, strict=True):
        files.write_records(item_file, [item for item in items() if item.task == task])
    chosen = settings()
    job = SimpleNamespace(
        input=SimpleNamespace(scores=path, item_files=item_files),
        output=SimpleNamespace(accuracy=tmp_path / "a.csv", dataset=tmp_path / "d.csv"),
        params=SimpleNamespace(
            modes=chosen.modes,
            languages=list(LANGUAGES),
            tasks=list(TASKS),
            formats=list(FORMATS),
            seed=42,
            statistics={"resamples": 300, "level": 0.95},
        ),
    )
    compute_accuracy.main(job)
    pd.testing.assert_frame_equal(
        files.read_csv(tmp_path / "a.csv", dtype={"flag": str}).fillna({"flag": ""}),
        accuracy_frame(scores, chosen),
        check_dtype=False,
    )
    assert len(files.read_csv(tmp_path / "d.csv")) == 4


def test_one_question_a_task_has_no_interval(scores: pd.DataFrame) -> None:
    first = scores.groupby("task")["question_id"].transform("min")
    few = scores[scores["question_id"] == first]
    right = few["question_id"] == few["question_id"].min()
    found = row(accuracy_frame(few.assign(correct=right), settings()), model="gemma3-270m")
    assert found["accuracy"] == pytest.approx(1 / 3) and found["questions"] == 3
    assert math.isnan(found["low"]) and math.isnan(found["high"])
