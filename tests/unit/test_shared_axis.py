"""The joint table: values of every benchmark, and columns only of those in the run."""

from __future__ import annotations

import pandas as pd
import pytest

from scripts.files import DataError
from scripts.publishing import shared_axis
from scripts.workflow.benchmarks import found

ENTRIES = [
    {"name": "a", "label": "Model A", "benchmarks": ["syntaxbench", "multitempbench", "tide"]},
    {"name": "b", "label": "Model B", "benchmarks": ["tide"]},
    {"name": "majority", "label": "Majority", "benchmarks": ["syntaxbench"]},
]
NAMES = ("SyntaxBench:", "MultiTempBench:", "TIDE:")
AXES = {name: found()[name].shared_axis or {} for name in ("syntaxbench", "multitempbench", "tide")}
TIDE = {"tide": AXES["tide"]}


def frames() -> dict[str, pd.DataFrame]:
    return {
        "syntaxbench": pd.DataFrame(
            {
                "model": ["a"] * 3,
                "condition": ["english", "english", "random"],
                "n": [1, 3, 2],
                "characters_per_token": [2.0, 4.0, 1.5],
            }
        ),
        "multitempbench": pd.DataFrame(
            {
                "model": ["a"] * 3,
                "language": ["en", "ar", "ar"],
                "calendar": ["gregorian", "gregorian", "hijri"],
                "mdfr": [0.2, 0.4, 0.6],
            }
        ),
        "tide": pd.DataFrame(
            {"model": ["a", "b"], "tax_words": [3.0, None], "tax_characters": [2.5, 1.0]}
        ),
    }


def test_values_weigh_samples_and_languages_alike() -> None:
    found = shared_axis.values(AXES, frames())
    assert found["a", "english"] == pytest.approx(3.5)
    assert found["a", "random"] == pytest.approx(1.5)
    assert found["a", "mdfr"] == pytest.approx((0.2 + 0.5) / 2)
    assert found["a", "mdfr_en"] == pytest.approx(0.2)
    assert found["b", "tax_characters"] == 1.0
    assert ("b", "tax_words") not in found


def test_one_row_a_model_with_a_value_and_a_reason_where_there_is_none() -> None:
    table = shared_axis.build(ENTRIES, AXES, frames())
    assert [row.stub for row in table.rows] == [("Model A",), ("Model B",)]
    assert [column.key for column in table.columns] == [
        *("english", "random", "mdfr_en", "mdfr", "tax_words", "tax_characters")
    ]
    cells = table.rows[1].cells
    assert cells[0].missing == "the model does not answer this benchmark"
    assert cells[4].missing == "not estimated"
    assert cells[5].text == "1.00"


def test_a_benchmark_outside_the_run_has_no_column() -> None:
    table = shared_axis.build(ENTRIES, TIDE, {"tide": frames()["tide"]})
    assert [column.key for column in table.columns] == ["tax_words", "tax_characters"]
    assert "TIDE" in table.caption and "Bench" not in table.caption
    assert all(name in shared_axis.build(ENTRIES, AXES, frames()).caption for name in NAMES)
    assert shared_axis.inputs("results", TIDE) == {"tide": "results/tide/statistics/tokens.csv"}


def test_a_missing_column_is_named() -> None:
    with pytest.raises(DataError, match=r"tokens\.csv: no column tax_words"):
        shared_axis.build(
            ENTRIES, TIDE, {"tide": pd.DataFrame({"model": ["a"], "tax_characters": [1]})}
        )


def test_a_column_of_two_benchmarks_is_refused() -> None:
    axes = {"tide": AXES["tide"], "syntaxbench": {**AXES["tide"], "title": "Again"}}
    made = {name: frames()["tide"] for name in axes}
    with pytest.raises(DataError, match="declared by two benchmarks: tax_characters, tax_words"):
        shared_axis.build(ENTRIES, axes, made)
