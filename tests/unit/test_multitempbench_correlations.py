"""Accuracy against fragmentation and linearity, and what the paper's own tables say about it."""

from __future__ import annotations

import math
from pathlib import Path
from types import SimpleNamespace

import multitempbench_frames
import numpy as np
import pandas as pd
import pytest

from scripts import files
from scripts.files import DataError
from scripts.multitempbench import compute_correlations, correlations
from scripts.multitempbench.correlations import Settings
from scripts.multitempbench.tasks import LANGUAGE_LABELS, LANGUAGES, TASKS
from scripts.statistics.correlation import pearson

PUBLISHED = Path(__file__).parents[2] / "data" / "published"
SETTINGS = Settings(["a", "b", "c", "d"], LANGUAGES, list(TASKS), 42, resamples=300)

# The row of the printed table 4 that the authors' scripts take for each model of table 3.
ROWS = {
    "GPT-4o": "GPT-4",
    "Gemma 3 4B": "Gemma3",
    "Llama 3.1 8B": "Llama 3",
    "Phi-4 Mini": "Phi 3.5",
    "Qwen 3 4B": "Qwen3",
    "Mistral 7B v0.2": "Mistral",
    "Llama 2 7B": "Llama 2",
    "Gemma 3 1B": "Gemma3",
    "Olmo 3 7B": "OLMo",
    "DS-R1 Qwen 7B": "Qwen3",
    "OLMo 2 7B": "OLMo",
    "GPT-OSS 20B": "gpt-oss",
    "Qwen 3 14B": "Qwen3",
    "Qwen3 0.6B": "Qwen3",
}


def printed_tables() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Tables 3 and 4 as accuracy and mdfr frames of our contract."""
    codes = {label: code for code, label in LANGUAGE_LABELS.items()}
    third = files.read_csv(PUBLISHED / "multitempbench_table3.csv")
    third = third[third["language"] != "Average"]
    accuracy = pd.DataFrame(
        {
            "model": third["model"],
            "mode": "non_thinking",
            "language": third["language"].map(codes),
            "task": "all",
            "format": "all",
            "accuracy": third["accuracy"] / 100,
            "n": 3000,
        }
    )
    fourth = files.read_csv(PUBLISHED / "multitempbench_table4.csv")
    fourth = fourth[fourth["calendar"] == "Gregorian"].set_index(["model", "language"])["mdfr"]
    fragments = pd.DataFrame(
        [
            {
                "model": model,
                "language": code,
                "calendar": "gregorian",
                "tokeniser": row,
                "dates": 80,
                "mdfr": math.nan,
                "mdfr_as_published": float(fourth[row, code.capitalize()]),
            }
            for model, row in ROWS.items()
            for code in LANGUAGES
        ]
    )
    return accuracy, fragments.assign(mdfr=fragments["mdfr_as_published"])


LINEARITY = pd.DataFrame(
    columns=["model", "language", "r2_cv", "year_r2", "month_r2", "day_r2"], dtype=float
)


@pytest.mark.parametrize(
    ("models", "expected"),
    [
        (list(ROWS), {"ar": 0.10, "zh": -0.20, "en": -0.30, "de": 0.01, "ha": -0.30}),
        (list(ROWS)[1:], {"ar": 0.15, "zh": -0.04, "en": -0.34, "de": 0.19, "ha": -0.09}),
    ],
)
def test_the_printed_tables_contradict_the_printed_figures(
    models: list[str], expected: dict[str, float]
) -> None:
    """Figures 2, 6 and 7 say r = -.97 to -.58 for Hausa; tables 3 and 4 give -.30."""
    settings = Settings(models, LANGUAGES, list(TASKS), 42, resamples=500)
    frame = correlations.points(*printed_tables(), LINEARITY.astype({"model": str}), settings)
    published = files.read_csv(PUBLISHED / "multitempbench_correlations.csv")
    found = correlations.correlations(frame, published, settings)
    found = found[(found["predictor"] == "mdfr_as_published") & (found["task"] == "all")]
    values = found.set_index("language")
    assert {k: round(float(v), 2) for k, v in values["pearson"].items()} == expected
    assert (values["models"] == len(models)).all()
    distinct = len({ROWS[m] for m in models})
    assert distinct == len(set(ROWS.values())) - (len(models) == 13)
    assert (values["tokenisers"] == distinct).all()
    # None is distinguishable from zero, over tokenisers or over models.
    assert (values["jackknife_low"] < 0).all() and (values["jackknife_high"] > 0).all()


def test_points_join_accuracy_fragmentation_and_linearity() -> None:
    params = multitempbench_frames.params("full")
    frames = multitempbench_frames.frames(params)
    points = frames["correlation_points"]
    assert list(points.columns) == list(correlations.POINT_COLUMNS)
    assert len(points) == 11 * 5 * 4
    first = points.iloc[0]
    mdfr = frames["mdfr"]
    mine = mdfr[(mdfr["model"] == first["model"]) & (mdfr["language"] == "ar")]
    # Arabic has 100 Gregorian and 100 Hijri dates.
    assert first["mdfr"] == pytest.approx(mine["mdfr"].mean())
    zh = mdfr[(mdfr["model"] == first["model"]) & (mdfr["language"] == "zh")]
    point = points[(points["model"] == first["model"]) & (points["language"] == "zh")].iloc[0]
    assert point["mdfr"] == pytest.approx(np.average(zh["mdfr"], weights=[400, 100]))
    assert math.isnan(first["linearity"])  # a model without hidden states
    lost = points[points["model"] == "phi4-mini"]
    assert lost["mdfr"].isna().all() and lost["linearity"].notna().all()
    assert points["task"].unique().tolist() == [*TASKS, "all"]


def table(values: dict[str, tuple[float, float]], tokenisers: str = "wxyz") -> pd.DataFrame:
    rows = [
        {
            **dict.fromkeys(correlations.PREDICTORS, math.nan),
            "model": model,
            "mode": "non_thinking",
            "language": "ha",
            "task": "relation",
            "accuracy": y,
            "n": 10,
            "mdfr": x,
            "tokeniser": name,
        }
        for (model, (x, y)), name in zip(values.items(), tokenisers, strict=True)
    ]
    return pd.DataFrame(rows, columns=list(correlations.POINT_COLUMNS))


def one(frame: pd.DataFrame) -> pd.Series:
    published = multitempbench_frames.published_correlations()
    found = correlations.correlations(frame, published, SETTINGS)
    assert len(found) == 6 * 4 * 5
    mask = (found["predictor"] == "mdfr") & (found["task"] == "relation")
    return found[mask & (found["language"] == "ha")].iloc[0]


def test_a_correlation_with_its_intervals() -> None:
    values = {"a": (0.1, 0.9), "b": (0.3, 0.5), "c": (0.5, 0.6), "d": (0.9, 0.1)}
    row = one(table(values))
    assert row["pearson"] == pytest.approx(pearson(*zip(*values.values(), strict=True)).r)
    assert row["low"] <= row["pearson"] <= row["high"]
    assert row["jackknife_low"] < row["pearson"] < row["jackknife_high"]
    assert row["spearman"] == pytest.approx(-0.8) and row["flag"] == ""
    assert (row["models"], row["tokenisers"]) == (4, 4)


def test_models_that_share_a_tokeniser_are_one_cluster() -> None:
    values = {"a": (0.1, 0.9), "b": (0.1, 0.5), "c": (0.5, 0.6), "d": (0.5, 0.1)}
    row = one(table(values, "xxyy"))
    assert row["tokenisers"] == 2 and math.isnan(row["jackknife_low"])
    assert not math.isnan(row["low"])


@pytest.mark.parametrize(
    ("values", "flag"),
    [
        ({"a": (0.1, 0.9), "b": (0.3, 0.5)}, "too_few"),
        ({"a": (0.1, 0.5), "b": (0.2, 0.5), "c": (0.3, 0.5)}, "constant"),
        ({}, "missing"),
    ],
)
def test_what_cannot_be_correlated_is_flagged(values: dict, flag: str) -> None:
    row = one(table(values, "wxyz"[: len(values)]))
    assert row["flag"] == flag and math.isnan(row["pearson"]) and math.isnan(row["spearman"])
    assert math.isnan(row["low"]) and math.isnan(row["jackknife_low"])


def test_the_papers_r_stands_beside_both_formulas() -> None:
    frame = files.read_csv(PUBLISHED / "multitempbench_correlations.csv")
    found = correlations.published_r(frame)
    assert found["mdfr", "date_arithmetic", "ha"] == -0.97
    assert found["mdfr_as_published", "relation", "de"] == 0.28
    assert found["linearity", "all", "zh"] == 0.75
    assert len(found) == 2 * 13 + 5
    with pytest.raises(DataError, match="line 2"):
        correlations.published_r(frame.assign(task="riddles"))


def test_doubled_rows_and_two_tokenisers_of_a_model_are_errors() -> None:
    accuracy, fragments = printed_tables()
    linearity = LINEARITY.astype({"model": str})
    settings = Settings(list(ROWS), LANGUAGES, list(TASKS), 42)
    doubled = pd.concat([accuracy, accuracy.head(1)])
    with pytest.raises(DataError, match=r"accuracy\.csv: second row"):
        correlations.points(doubled, fragments, linearity, settings)
    hijri = fragments.assign(calendar="hijri", tokeniser="other")
    with pytest.raises(DataError, match="tokenisers"):
        correlations.points(accuracy, pd.concat([fragments, hijri]), linearity, settings)


def test_the_rule_script_writes_both_files(tmp_path: Path) -> None:
    params = multitempbench_frames.params("embedded")
    frames = multitempbench_frames.frames(params)
    inputs = {}
    for name in ("accuracy", "mdfr", "linearity"):
        inputs[name] = tmp_path / f"{name}.csv"
        files.write_csv(inputs[name], frames[name])
    inputs["published"] = PUBLISHED / "multitempbench_correlations.csv"
    output = {name: tmp_path / f"{name}.csv" for name in ("correlation_points", "correlations")}
    job = SimpleNamespace(
        input=SimpleNamespace(**inputs),
        output=SimpleNamespace(**output),
        params=SimpleNamespace(
            models=params["multitempbench"]["models"],
            languages=list(LANGUAGES),
            tasks=list(TASKS),
            seed=42,
            statistics={"resamples": 100, "level": 0.95},
        ),
    )
    compute_correlations.main(job)
    found = files.read_csv(output["correlations"])
    assert list(found.columns) == list(correlations.CORRELATION_COLUMNS)
    # Two models: no r anywhere.
    assert found["pearson"].isna().all() and set(found["flag"]) == {"too_few"}
    first = output["correlations"].read_bytes()
    compute_correlations.main(job)
    assert output["correlations"].read_bytes() == first
