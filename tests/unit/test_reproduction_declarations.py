"""What is declared of the published figures of MultiTempBench and TIDE fits the statistics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import multitempbench_frames
import pandas as pd
import pytest
import tide_frames

from scripts import files
from scripts.multitempbench.fragmentation import RELEASED_COLUMNS
from scripts.publishing import numbers, reproduction
from scripts.publishing.captions import Context, facts
from scripts.publishing.measured import MissingValueError, Reader, Run
from scripts.publishing.published_names import read_names
from scripts.statistics.readings import COLUMNS as READING_COLUMNS
from scripts.tide.tables.readings import QUESTIONS

ROOT = Path(__file__).parents[2]
PUBLISHED = ROOT / "data" / "published"
BENCHMARKS = ("multitempbench", "tide")
# What differs from run to run: the roster, the retrievers, who judges.
OF_THE_RUN = {"model", "embedder", "depth", "judge_a", "judge_b", "published_row", "mode"}


def declaration(benchmark: str) -> dict[str, Any]:
    return reproduction.read_declaration(ROOT / f"paper/reproduction/{benchmark}.yaml")


@cache
def statistics(benchmark: str) -> dict[str, pd.DataFrame]:
    """Frames as the analyses write them, of a synthetic full roster."""
    if benchmark == "tide":
        found = tide_frames.frames("full")
        rows = [(q.name, r, "", "icl") for q in QUESTIONS for r in q.readings]
        readings = pd.DataFrame(rows, columns=["question", "reading", "quantity", "scope"])
        return {**found, "readings": readings.reindex(columns=list(READING_COLUMNS))}
    found = multitempbench_frames.frames(multitempbench_frames.params("full"))
    released = found["mdfr_as_published"].reindex(columns=list(RELEASED_COLUMNS))
    cells = released["column"].str.split("_", expand=True)
    released = released.assign(language=cells[0], calendar=cells[1])
    return {**found, "mdfr_as_published": released}


def context(benchmark: str) -> Context:
    params = {"tide": tide_frames, "multitempbench": multitempbench_frames}[benchmark]
    return Context.from_params(params.params("full"), benchmark)


def wanted(benchmark: str) -> Iterator[tuple[str, Mapping[str, Any], reproduction.Quantity]]:
    """Everything that is read: its name, what is measured, and the quantity."""
    for entry in declaration(benchmark)["files"]:
        shared = entry.get("measured", {})
        for name, declared in (entry.get("rows") or entry["quantities"]).items():
            quantity = reproduction.read_quantity(name, declared, shared)
            if not quantity.not_compared:
                yield f"{entry['published']}: {name}", quantity.measured, quantity


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_what_is_declared_stands_in_the_statistics(benchmark: str) -> None:
    """A column, a file or a word that no statistics file has would fail in a full run only."""
    frames = statistics(benchmark)
    for place, measured, quantity in wanted(benchmark):
        if "fact" in measured:
            continue
        parts = [{}, *(measured[key] for key in ("minus", "divided_by") if key in measured)]
        for part in parts:
            each = {**measured, **part}
            folder, _, name = str(each["file"]).removesuffix(".csv").rpartition("/")
            assert folder == f"{benchmark}/statistics", place
            frame = frames[name]
            columns = [each.get(key) for key in ("column", "highest", "lowest")]
            for column in [*columns, quantity.low, quantity.high]:
                assert not column or column in frame.columns, (place, column)
            for column, value in {**each.get("where", {}), **each.get("count", {})}.items():
                assert column in frame.columns, (place, column)
                if column in OF_THE_RUN or str(value).startswith("$"):
                    continue
                found = numbers.select(frame, {column: value})
                assert len(found), (place, column, value)


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_facts_are_facts_of_the_run(benchmark: str) -> None:
    part = {
        "multitempbench": "scripts/multitempbench/artefacts.py",
        "tide": "scripts/tide/artefacts.py",
    }
    source = (ROOT / part[benchmark]).read_text(encoding="utf-8")
    known = facts(context(benchmark))
    for place, measured, _ in wanted(benchmark):
        name = measured.get("fact")
        assert not name or name in known or f'"{name}"' in source, place


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_every_published_cell_has_a_row_and_a_reason(benchmark: str) -> None:
    """In a run without any statistics nothing is left out: every cell says why it has no value."""
    told = declaration(benchmark)
    names = read_names(ROOT / told["models"])
    facts_of_run = context(benchmark)
    for name in ("task_count", "model_count", "main_depth", "judge_count", "alias_threshold"):
        facts_of_run.options.setdefault("facts", {}).setdefault(name, 1)
    found = reproduction.compare(told, PUBLISHED, names, Run(ROOT, [], facts_of_run))
    cells = 0
    for entry in told["files"]:
        rows = list(files.iterate_csv(PUBLISHED / entry["published"], ["source"]))
        columns = 1 if "rows" in entry else len(entry["quantities"])
        cells += len(rows) * columns
    assert len(found) == cells
    silent = found[found["status"] != reproduction.COMPARED]
    assert (silent["reason"].astype(str) != "").all()
    compared = found[found["status"] == reproduction.COMPARED]
    assert (compared["measured_file"] == "configuration").all()


def test_models_may_be_named_by_another_file(tmp_path: Path) -> None:
    files.write_csv(tmp_path / "means.csv", pd.DataFrame({"what": ["r"], "value": [0.5]}))
    files.write_csv(tmp_path / "runs.csv", pd.DataFrame({"model": ["alpha"]}))
    base = {"file": "means.csv", "where": {"what": "r"}, "column": "value"}
    run = Run(tmp_path, ["means.csv", "runs.csv"], context("tide"), models=("alpha",))
    assert Reader(run).measure({**base, "all_models": "runs.csv"}, {}).value == 0.5
    two = Run(tmp_path, ["means.csv", "runs.csv"], context("tide"), models=("alpha", "beta"))
    with pytest.raises(MissingValueError, match="1 of 2 are not"):
        Reader(two).measure({**base, "all_models": "runs.csv"}, {})
    lost = Run(tmp_path, ["means.csv"], context("tide"), models=("alpha",))
    with pytest.raises(MissingValueError, match="not made in this run: runs"):
        Reader(lost).measure({**base, "all_models": "runs.csv"}, {})
