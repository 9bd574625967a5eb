"""Means over models and ranges of TIDE, from statistics with known values."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

from scripts.files import read_csv, write_csv
from scripts.tide.documents.complexity import COLUMNS as COMPLEXITY_COLUMNS
from scripts.tide.statistics import compute_summary
from scripts.tide.statistics.analysis import statistics_frames
from scripts.tide.statistics.summary import COLUMNS, summary_frame
from tests import synthetic_tide_scores as synthetic
from tests.synthetic_tide_scores import Design

DESIGN = Design(models=("alpha", "beta"), baselines=("floor",), items=8)


def documents() -> pd.DataFrame:
    """Two documents of 2 and 4 pages, 100 and 300 words."""
    row = dict.fromkeys(COMPLEXITY_COLUMNS, 0)
    first = row | {"document": "a", "document_type": "Act", "pages": 2, "words": 100}
    second = row | {"document": "b", "document_type": "SRO", "pages": 4, "words": 300}
    return pd.DataFrame([first, second])


@pytest.fixture(scope="module")
def frames() -> dict[str, pd.DataFrame]:
    found = statistics_frames(synthetic.frame(DESIGN), DESIGN.settings())
    return {**found, "complexity": documents()}


@pytest.fixture(scope="module")
def summary(frames: dict[str, pd.DataFrame]) -> pd.DataFrame:
    return summary_frame(frames, list(DESIGN.models))


def value(summary: pd.DataFrame, quantity: str, knowledge: str = "", task: str = "") -> float:
    rows = summary[
        (summary["quantity"] == quantity)
        & (summary["knowledge"] == knowledge)
        & (summary["task"] == task)
    ]
    assert len(rows) == 1
    return float(rows["value"].iloc[0])


def test_every_quantity_stands_once(summary: pd.DataFrame) -> None:
    assert list(summary.columns) == list(COLUMNS)
    assert not summary.duplicated(["quantity", "knowledge", "task"]).any()


def test_means_are_of_models_and_not_of_baselines(
    frames: dict[str, pd.DataFrame], summary: pd.DataFrame
) -> None:
    accuracy = frames["accuracy"].query("model != 'floor' and knowledge == 'icl'")
    for task in ("event_sorting", "all"):
        mine = accuracy[accuracy["task"] == task]
        assert value(summary, "strict", "icl", task) == pytest.approx(mine["strict"].mean())
        assert value(summary, "partial", "icl", task) == pytest.approx(mine["partial"].mean())
    graded = accuracy.loc[accuracy["task"] == "event_sorting", "graded"].mean()
    assert value(summary, "graded", "icl", "event_sorting") == pytest.approx(graded)
    assert not ((summary["quantity"] == "graded") & (summary["task"] == "open_ended")).any()
    verdicts = frames["perturbation"].query("model != 'floor' and knowledge == 'rag'")
    assert value(summary, "detection", "rag") == pytest.approx(verdicts["detection"].mean())
    right = (verdicts["true_positive"] + verdicts["true_negative"]) / verdicts["n"]
    assert value(summary, "verdict_accuracy", "rag") == pytest.approx(right.mean())


def test_ranges(frames: dict[str, pd.DataFrame], summary: pd.DataFrame) -> None:
    accuracy = frames["accuracy"].query("model != 'floor'")
    icl = accuracy[(accuracy["knowledge"] == "icl") & (accuracy["task"] != "all")]
    tasks = icl.groupby("task")["partial"].mean()
    assert value(summary, "lowest_task", "icl") == pytest.approx(tasks.min())
    assert value(summary, "task_spread", "icl") == pytest.approx(tasks.max() - tasks.min())
    macro = accuracy[accuracy["task"] == "all"].pivot_table(
        index="model", columns="knowledge", values="strict"
    )
    gain = macro["icl"] - macro["rag"]
    assert value(summary, "lowest_icl_minus_rag") == pytest.approx(gain.min())
    assert value(summary, "highest_icl_minus_rag") == pytest.approx(gain.max())
    table = frames["setting_differences"].query("task != 'all' and measure == 'partial'")
    sds = table[["sd_parametric", "sd_rag", "sd_icl"]].to_numpy()
    assert value(summary, "lowest_sd") == pytest.approx(sds.min())
    assert value(summary, "highest_sd") == pytest.approx(sds.max())


def test_documents(summary: pd.DataFrame) -> None:
    assert value(summary, "documents.documents") == 2
    assert value(summary, "documents.pages") == 6
    assert value(summary, "documents.words_median") == 200
    assert value(summary, "documents.words_spread") == 1.5


def test_without_a_model_everything_is_missing(frames: dict[str, pd.DataFrame]) -> None:
    nothing = {**frames, "setting_differences": frames["setting_differences"].head(0)}
    found = summary_frame(nothing, ["absent"])
    rows = found[~found["quantity"].str.startswith("documents.")]
    assert rows["value"].isna().all() and (rows["flag"] == "missing").all()
    assert (rows["runs"] == 0).all()


def test_the_rule_writes_the_file(frames: dict[str, pd.DataFrame], tmp_path: Path) -> None:
    paths = {}
    for name in compute_summary.STATISTICS:
        paths[name] = str(tmp_path / f"{name}.csv")
        write_csv(paths[name], frames[name])
    output = SimpleNamespace(summary=tmp_path / "summary.csv")
    params = SimpleNamespace(models=list(DESIGN.models))
    compute_summary.main(SimpleNamespace(input=paths, output=output, params=params))
    written = read_csv(output.summary)
    assert written["quantity"].tolist() == summary_frame(frames, params.models)["quantity"].tolist()
