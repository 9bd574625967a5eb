"""The tables of SyntaxBench from synthetic statistics of the paper's and the embedded roster."""

from __future__ import annotations

import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import publishing_frames
import pytest

from scripts import files
from scripts.files import DataError
from scripts.publishing.captions import Context
from scripts.publishing.tables import Table, to_frame, to_latex
from scripts.syntaxbench import artefacts, make_table, tables

KINDS = ("full", "embedded")


class World:
    """Statistics as they come from disk, with the context of the same run."""

    def __init__(self, kind: str, folder: Path, holes: bool = False) -> None:
        self.params = publishing_frames.params(kind)
        self.context = Context.from_params(self.params)
        self.folder = folder
        self.frames: dict[str, pd.DataFrame] = {}
        for name, frame in publishing_frames.frames(self.params, holes=holes).items():
            files.write_csv(folder / f"{name}.csv", frame)
            self.frames[name] = files.read_csv(folder / f"{name}.csv")

    def table(self, name: str) -> Table:
        return tables.build(name, self.frames, self.context)

    def cell(self, **key: Any) -> pd.Series:
        frame = self.frames["cells"]
        for column, value in key.items():
            frame = frame[frame[column] == value]
        assert len(frame) == 1
        return frame.iloc[0]


@pytest.fixture(scope="module")
def worlds(tmp_path_factory: pytest.TempPathFactory) -> dict[str, World]:
    return {
        "full": World("full", tmp_path_factory.mktemp("full")),
        "holes": World("full", tmp_path_factory.mktemp("holes"), holes=True),
        "embedded": World("embedded", tmp_path_factory.mktemp("embedded")),
    }


@pytest.mark.parametrize("kind", ["full", "holes", "embedded"])
@pytest.mark.parametrize("name", sorted(artefacts.TABLES))
def test_every_table_is_built_and_both_forms_agree(
    worlds: dict[str, World], kind: str, name: str
) -> None:
    table = worlds[kind].table(name)
    assert table.rows and table.name == name
    source, frame = to_latex(table), to_frame(table)
    assert len(frame) == len(table.rows)
    assert "nan" not in source.lower().replace("nanoe", "")
    for index, column in enumerate(table.columns):
        printed = frame[f"{column.key}_printed"].tolist()
        assert printed == [row.cells[index].printed for row in table.rows]
    reasons = {c.missing for row in table.rows for c in row.cells if c.missing}
    assert source.count(r"\tablenote{–") == len(reasons)
    kind_word = "Embedded run" if kind == "embedded" else "Full run"
    assert kind_word in table.caption


def test_names_in_the_registry_have_a_builder() -> None:
    assert set(artefacts.TABLES) == set(tables.BUILDERS)


@pytest.mark.parametrize("name", ["main_thinking", "kappa", "thinking_cost", "mcnemar_thinking"])
def test_without_thinking_models_are_listed_as_not_available(
    worlds: dict[str, World], name: str
) -> None:
    table = worlds["embedded"].table(name)
    cells = [c for row in table.rows for c in row.cells if c.missing]
    assert "not available: the model has no thinking switch" in {c.missing for c in cells}
    assert all(c.text == "–" for c in cells)


def test_main_table_values_intervals_marks_and_ranks(worlds: dict[str, World]) -> None:
    world = worlds["full"]
    table = world.table("main_thinking")
    keys = [c.key for c in table.columns]
    assert keys[0] == "count_chars.english" and len(keys) == 12
    for row in table.rows:
        if row.baseline:
            assert not any(c.rank or c.mark for c in row.cells)
    row = next(r for r in table.rows if r.stub == ("GPT-OSS-20B",))
    cell = row.cells[keys.index("edit_distance.random")]
    found = world.cell(
        model="gpt-oss-20b", mode="thinking", task="edit_distance", shots=4, condition="random"
    )
    assert cell.value == found["ema"] and (cell.low, cell.high) == (
        found["ema_low"],
        found["ema_high"],
    )
    assert cell.text == f"{100 * (found['correct'] / found['n']):.1f}"
    best = [r for r in table.rows if r.cells[keys.index("edit_distance.random")].rank == "best"]
    assert best and all(r.cells[keys.index("edit_distance.random")].mark == "" for r in best[:1])
    assert "10 model pairs" in " ".join(table.notes)


def test_marks_come_from_the_test_against_the_best_model(worlds: dict[str, World]) -> None:
    world = worlds["full"]
    marks = tables.best_model_marks(
        world.frames, world.context, "thinking", "edit_distance", "english"
    )
    cells = world.frames["cells"]
    part = cells[
        (cells["mode"] == "thinking")
        & (cells["task"] == "edit_distance")
        & (cells["shots"] == 4)
        & (cells["condition"] == "english")
    ]
    best = part.loc[part["ema"].idxmax(), "model"]
    assert best not in marks and len(marks) == 4
    tests = world.frames["mcnemar_models"]
    for model, mark in marks.items():
        row = tests[
            (tests["mode"] == "thinking")
            & (tests["task"] == "edit_distance")
            & (tests["shots"] == 4)
            & (tests["condition"] == "english")
            & tests["model_a"].isin([best, model])
            & tests["model_b"].isin([best, model])
        ].iloc[0]
        assert bool(mark) == (row["p_bonferroni_cell"] < 0.05)
    assert tables.best_model_marks(world.frames, world.context, "none", "x", "all") == {}


def test_missing_conditions_are_dashes_with_a_reason(worlds: dict[str, World]) -> None:
    table = worlds["holes"].table("main_nonthinking")
    row = next(r for r in table.rows if r.stub == ("Qwen3.5-2B",))
    keys = [c.key for c in table.columns]
    assert row.cells[keys.index("index_to_span.random")].missing == "not evaluated"
    shots = worlds["holes"].table("shots")
    row = next(r for r in shots.rows if r.stub == ("Qwen3.5-2B",))
    cell = row.cells[[c.key for c in shots.columns].index("index_to_span.4shot")]
    assert cell.missing == "not estimated: the cell is incomplete"
    board = worlds["holes"].table("leaderboard_nonthinking")
    row = next(r for r in board.rows if r.stub[1] == "Qwen3.5-2B")
    assert row.cells[-1].value == 5


def test_incomplete_cells_bear_a_mark(worlds: dict[str, World]) -> None:
    frames = dict(worlds["full"].frames)
    cells = frames["cells"].copy()
    chosen = (cells["model"] == "qwen3.5-2b") & (cells["task"] == "index_to_span")
    cells.loc[chosen & (cells["condition"] == "english"), "n"] = 113
    frames["cells"] = cells
    table = tables.build("main_nonthinking", frames, worlds["full"].context)
    row = next(r for r in table.rows if r.stub == ("Qwen3.5-2B",))
    cell = row.cells[[c.key for c in table.columns].index("index_to_span.english")]
    assert cell.mark.endswith("†")
    assert dict(cell.extra)["n"] == 113
    assert any("fewer items" in note for note in table.notes)


@pytest.mark.parametrize("condition", ["english", "all"])
def test_unreadable_answers_are_not_called_a_missing_condition(
    worlds: dict[str, World], condition: str
) -> None:
    world = worlds["full"]
    frame = world.frames["cells"].astype({"flag": object})
    lost = (frame["task"] == "edit_distance") & (frame["condition"] == condition)
    errors = [name for name in frame if name.startswith("delta_") and name != "delta_n"]
    frame.loc[lost, ["kappa", *errors]] = math.nan
    frame.loc[lost, "flag"] = "no_valid_answer"
    for name in ("delta_edit_distance", "kappa"):
        table = tables.build(name, {**world.frames, "cells": frame}, world.context)
        reasons = {cell.missing for row in table.rows for cell in row.cells if cell.missing}
        if name == "kappa" and condition != "all":
            assert "not estimated: no valid answer" not in reasons
        else:
            assert "not estimated: no valid answer" in reasons
        assert "not estimated: one condition is missing" not in reasons


def test_a_condition_without_items_explains_the_combined_cell() -> None:
    context = Context.from_params(publishing_frames.params("full"))
    row = {"condition": "all", "n": 113, "flag": "missing;incomplete"}
    reason = tables.why_missing(context.models[0], "non_thinking", row)
    assert reason == "not estimated: one condition is missing"


def test_leaderboard_ranks_models_and_leaves_baselines_out(worlds: dict[str, World]) -> None:
    table = worlds["full"].table("leaderboard_nonthinking")
    models = [row for row in table.rows if not row.baseline]
    values = [float(row.cells[0].value) for row in models]  # type: ignore[arg-type]
    assert values == sorted(values, reverse=True)
    assert [row.stub[0] for row in models] == [str(i + 1) for i in range(len(models))]
    assert {row.stub[0] for row in table.rows if row.baseline} == {""}


def test_equal_macro_accuracies_share_a_rank(worlds: dict[str, World]) -> None:
    world = worlds["full"]
    frame = world.frames["leaderboard"].copy()
    mine = (frame["mode"] == "thinking") & (frame["shots"] == 4)
    assert mine.sum() == 5
    frame.loc[mine, "macro_ema"] = [0.5, 0.75, 0.75, 0.25, math.nan]
    table = tables.build("leaderboard_thinking", {"leaderboard": frame}, world.context)
    assert [row.stub[0] for row in table.rows if not row.baseline] == ["1", "1", "3", "4", ""]


def test_the_case_is_the_largest_difference_or_the_configured_one(
    worlds: dict[str, World],
) -> None:
    world = worlds["full"]
    found = tables.reasoning_case(world.frames, world.context)
    assert found is not None
    frame = world.frames["mcnemar_modes"]
    frame = frame[(frame["condition"] == "all") & (frame["shots"] == 4)]
    largest = frame["delta_ema"].abs().max()
    mine = frame[(frame["model"] == found[0].key) & (frame["task"] == found[1])]
    assert math.isclose(abs(mine.iloc[0]["delta_ema"]), largest)
    params = publishing_frames.params("full")
    case = {"model": "qwen3.6-27b", "task": "palindrome_test"}
    params["syntaxbench"]["publishing"] = {"reasoning_case": case}
    chosen = Context.from_params(params)
    table = tables.build("reasoning_mode_case", world.frames, chosen)
    assert "Qwen3.6-27B on palindrome_test" in table.caption
    assert any("TPR" in note for note in table.notes)
    assert not any("Exact" in note for note in table.notes)
    modes = world.frames["mcnemar_modes"]
    few = (modes["model"] == "qwen3.6-27b") & (modes["task"] == "palindrome_test")
    few &= (modes["condition"] == "all") & (modes["shots"] == 1)
    exact = modes.assign(p_exact=modes["p_exact"].where(~few, 0.0312))
    table = tables.build("reasoning_mode_case", {**world.frames, "mcnemar_modes": exact}, chosen)
    assert any("discordant pairs are few: 1-shot: 0.031." in note for note in table.notes)
    assert to_frame(table)["odds_ratio_p_exact"].tolist()[1] == 0.0312
    delta = table.rows[-1].cells[4]
    assert delta.text[0] in "+−0"
    case["model"] = "gpt-oss-20b"
    with pytest.raises(DataError, match="not run in both modes"):
        tables.build("reasoning_mode_case", world.frames, Context.from_params(params))
    embedded = worlds["embedded"]
    assert tables.reasoning_case(embedded.frames, embedded.context) is None


def test_shots_marks_the_best_shot_of_a_model_and_task(worlds: dict[str, World]) -> None:
    table = worlds["full"].table("shots")
    for row in table.rows:
        for start in range(0, 18, 3):
            trio = [c for c in row.cells[start : start + 3] if not c.missing]
            best = [c.value for c in trio if c.rank == "best"]
            if len({c.value for c in trio}) > 1:
                assert set(best) == {max(c.value for c in trio)}  # type: ignore[type-var]


def test_pairs_are_antisymmetric(worlds: dict[str, World]) -> None:
    table = worlds["full"].table("mcnemar_nonthinking")
    grid = {
        (row.stub[0], column.title): cell
        for row in table.rows
        for column, cell in zip(table.columns, row.cells, strict=True)
    }
    opposite = {"row": "column", "column": "row", "mixed": "mixed", "": ""}
    for (a, b), cell in grid.items():
        if a != b:
            other = grid[b, a]
            assert cell.text == other.text and opposite[cell.tint] == other.tint
            assert dict(cell.extra)["wins"] == dict(other.extra)["losses"]


def test_flat_trajectories_are_dashes(worlds: dict[str, World]) -> None:
    table = worlds["embedded"].table("kendall")
    solver = next(r for r in table.rows if r.stub == ("Library solver",))
    assert {c.missing for c in solver.cells} == {"flat: all shot counts have the same accuracy"}


def test_thinking_cost_puts_undefined_ratios_last(worlds: dict[str, World]) -> None:
    params = publishing_frames.params("full")
    params["syntaxbench"]["publishing"] = {"thinking_cost_shown": 5}
    world = worlds["full"]
    table = tables.build("thinking_cost", world.frames, Context.from_params(params))
    assert len(table.rows) == 30
    for start in range(0, 30, 5):
        ratios = [row.cells[2].value for row in table.rows[start : start + 5]]
        assert ratios[-1] is None
        assert table.rows[start + 4].cells[1].missing == "not reported by the backend"
        values = [float(v) for v in ratios if v is not None]  # type: ignore[arg-type]
        assert values == sorted(values, reverse=True)


def test_effect_sizes_are_sorted_by_size(worlds: dict[str, World]) -> None:
    table = worlds["full"].table("effect_sizes")
    sizes = [abs(float(row.cells[0].value)) for row in table.rows]  # type: ignore[arg-type]
    assert len(sizes) == 12 and sizes == sorted(sizes, reverse=True)
    assert table.rows[0].cells[2].text == "<0.001"
    assert (
        "no pair of models"
        in tables.build(
            "effect_sizes",
            {"effect_sizes": worlds["full"].frames["effect_sizes"].head(0)},
            worlds["full"].context,
        ).caption
    )


def test_small_ratios_and_infinite_odds() -> None:
    assert tables._ratio(0.00351) == "0.00351"
    assert tables._ratio(1e-5) == "1.0e-05"
    assert tables._odds_ratio(math.inf) == "∞"
    assert tables._odds_ratio(27.5) == "27.50"


def test_task_order_does_not_depend_on_the_parameters(worlds: dict[str, World]) -> None:
    params = publishing_frames.params("full")
    params["syntaxbench"]["tasks"] = dict(sorted(params["syntaxbench"]["tasks"].items()))
    table = tables.build("tasks", worlds["full"].frames, Context.from_params(params))
    assert table == worlds["full"].table("tasks")
    params["syntaxbench"]["tasks"]["other"] = {"items": 1}
    with pytest.raises(DataError, match="other"):
        tables.build("tasks", worlds["full"].frames, Context.from_params(params))


def test_wrong_inputs_are_named(worlds: dict[str, World]) -> None:
    context = worlds["full"].context
    with pytest.raises(DataError, match="unknown table"):
        tables.build("nothing", {}, context)
    with pytest.raises(DataError, match="cells"):
        tables.build("shots", {}, context)
    with pytest.raises(DataError, match="no column"):
        tables.build("shots", {"cells": pd.DataFrame({"model": []})}, context)
    cells = worlds["full"].frames["cells"]
    with pytest.raises(DataError, match="line 3: second row"):
        tables.cells_of({"cells": pd.concat([cells.head(1), cells.head(1)])})


def test_the_rule_script_writes_all_forms(worlds: dict[str, World], tmp_path: Path) -> None:
    world = worlds["embedded"]
    job = SimpleNamespace(
        input=[world.folder / f"{name}.csv" for name in artefacts.TABLES["shots"]],
        output=SimpleNamespace(
            **{end: tmp_path / f"shots.{end}" for end in ("tex", "csv", "html")}
        ),
        params=SimpleNamespace(context=world.params),
        wildcards=SimpleNamespace(name="shots"),
    )
    make_table.main(job)
    assert (tmp_path / "shots.tex").read_text() == to_latex(world.table("shots"))
    assert len(files.read_csv(tmp_path / "shots.csv")) == 7
    assert "<caption>" in (tmp_path / "shots.html").read_text()
