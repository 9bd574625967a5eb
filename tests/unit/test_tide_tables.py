"""The tables of TIDE from synthetic statistics of a full and the embedded roster."""

from __future__ import annotations

import re
import shutil
import subprocess
import unicodedata
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest
import tide_frames
import yaml

from scripts import files
from scripts.files import DataError
from scripts.publishing import captions, paper
from scripts.publishing.captions import Context
from scripts.publishing.tables import Cell, Table, to_frame, to_latex
from scripts.publishing.web import to_html
from scripts.tide import artefacts, make_table, tables, wording
from scripts.tide.tables import data, results, rubrics
from scripts.tide.tasks import SETTINGS, TASKS

ROOT = Path(__file__).parents[2]
KINDS = ("full", "holes", "both", "embedded")
WORDS_ONLY = [name for name, frames in artefacts.TABLES.items() if not frames]


class World:
    """Frames as they come from disk, with the context of the same run."""

    def __init__(self, kind: str, folder: Path) -> None:
        roster = "embedded" if kind == "embedded" else "full"
        self.params = tide_frames.params(roster, both=kind == "both")
        self.context = Context.from_params(self.params)
        self.folder = folder
        self.frames: dict[str, pd.DataFrame] = {}
        found = tide_frames.frames(roster, holes=kind == "holes", both=kind == "both")
        for name, frame in found.items():
            files.write_csv(folder / f"{name}.csv", frame)
            self.frames[name] = files.read_csv(folder / f"{name}.csv")

    def table(self, name: str, **changed: pd.DataFrame) -> Table:
        needed = {key: changed.get(key, self.frames[key]) for key in artefacts.TABLES[name]}
        return tables.build(name, needed, self.context)


@pytest.fixture(scope="module")
def worlds(tmp_path_factory: pytest.TempPathFactory) -> dict[str, World]:
    return {kind: World(kind, tmp_path_factory.mktemp(kind)) for kind in KINDS}


def cell_of(table: Table, stub: str, column: str, block: str = "") -> Cell:
    row = next(row for row in table.rows if stub in row.stub and block in row.block)
    return row.cells[[c.key for c in table.columns].index(column)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", sorted(artefacts.TABLES))
def test_every_table_is_built_and_all_forms_agree(
    worlds: dict[str, World], kind: str, name: str
) -> None:
    table = worlds[kind].table(name)
    assert table.rows and table.name == f"tide_{name}" and table.short_caption
    source, frame, page = to_latex(table), to_frame(table), to_html(table)
    assert rf"\label{{tab:tide-{name.replace('_', '-')}}}" in source
    assert len(frame) == len(table.rows)
    for text in (source, page):
        assert not re.search(r"\bnan\b|\bNone\b|<NA>", text)
    for index, column in enumerate(table.columns):
        printed = frame[f"{column.key}_printed"].tolist()
        assert printed == [row.cells[index].printed for row in table.rows]
    reasons = {c.missing for row in table.rows for c in row.cells if c.missing}
    assert source.count(r"\tablenote{–") == len(reasons)
    assert ("Embedded run" if kind == "embedded" else "Full run") in table.caption


@pytest.mark.parametrize("name", sorted(set(artefacts.TABLES) - set(WORDS_ONLY)))
def test_every_table_of_numbers_says_how_many(worlds: dict[str, World], name: str) -> None:
    words = worlds["full"].table(name).caption
    assert re.search(r"\bn( is|:| =)|\d+ question pairs", words), words


@pytest.mark.parametrize("name", sorted(set(artefacts.TABLES) - set(WORDS_ONLY)))
def test_no_rows_give_a_table_that_can_be_printed(worlds: dict[str, World], name: str) -> None:
    world = worlds["full"]
    table = world.table(name, **{key: frame.head(0) for key, frame in world.frames.items()})
    assert "nan" not in to_latex(table).replace("nanoe", "")
    assert not any(c.value for row in table.rows for c in row.cells if not isinstance(c.value, str))


@pytest.mark.parametrize("name", sorted(set(artefacts.TABLES) - set(WORDS_ONLY)))
def test_a_missing_column_is_named(worlds: dict[str, World], name: str) -> None:
    world = worlds["full"]
    frames = {key: pd.DataFrame({"x": [1]}) for key in artefacts.TABLES[name]}
    with pytest.raises(DataError, match="no column"):
        tables.build(name, frames, world.context)


def test_names_in_the_registry_have_a_builder() -> None:
    assert set(artefacts.TABLES) == set(tables.BUILDERS)
    with pytest.raises(DataError, match="unknown table"):
        artefacts.require("table", "nothing", [])
    with pytest.raises(DataError, match="accuracy is missing"):
        artefacts.require("table", "main", [])
    assert artefacts.inputs("table", "fidelity", "results/tide") == {
        "fidelity": "results/tide/statistics/fidelity.csv",
        "parsing": "results/tide/statistics/parsing.csv",
    }


def test_the_real_configuration_makes_every_table_of_words() -> None:
    config = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
    params = artefacts.context_params(config)
    context = Context.from_params(params)
    for name in WORDS_ONLY:
        assert tables.build(name, {}, context).rows
    facts = captions.facts(context)
    assert facts["depth"] == config["tide"]["retrieval"]["depth"]
    models = tables.build("models", {}, context)
    assert len(models.rows) == len(config["tide"]["models"])
    assert {row.block for row in models.rows} == {"Open weights", "Proprietary"}
    config["tide"]["decoding"] = "changed"
    assert artefacts.context_params(config) == params


# ---- results -----------------------------------------------------------------------------------


def test_main_has_a_block_a_setting_and_credit_on_judged_tasks_only(
    worlds: dict[str, World],
) -> None:
    world = worlds["full"]
    table = world.table("main")
    assert list(dict.fromkeys(row.block for row in table.rows))[::2] == ["Parametric", "RAG", "ICL"]
    frame = world.frames["accuracy"]
    for task, info in TASKS.items():
        row = frame[
            (frame["model"] == "gpt-5.2") & (frame["knowledge"] == "icl") & (frame["task"] == task)
        ].iloc[0]
        cell = cell_of(table, "GPT-5.2", task, "ICL")
        assert cell.value == row["strict"] and cell.text == f"{100 * row['strict']:.1f}"
        gain = 100 * (row["partial"] - row["strict"])
        expected = "0.0" if round(gain, 1) == 0 else f"{gain:+.1f}"
        assert cell.detail == (expected if info.judged else "")
        assert dict(cell.extra)["n"] == row["n"]
    assert "n = 96 (12 a task)" in table.caption
    assert table.layout == "long" and worlds["embedded"].table("main").layout == "portrait"


def test_exact_and_graded_orders_never_share_a_column(worlds: dict[str, World]) -> None:
    world = worlds["full"]
    table = world.table("main")
    frame = world.frames["accuracy"]
    mine = frame[(frame["model"] == "glm-4.6") & (frame["knowledge"] == "rag")]
    row = mine[mine["task"] == "event_sorting"].iloc[0]
    assert cell_of(table, "GLM-4.6", "event_sorting", "RAG").value == row["strict"]
    assert cell_of(table, "GLM-4.6", "event_sorting_graded", "RAG").value == row["graded"]
    assert row["strict"] != row["graded"]
    macro = mine[mine["task"].isin(list(TASKS))]["strict"].mean()
    assert cell_of(table, "GLM-4.6", "all", "RAG").value == pytest.approx(macro)


def test_the_best_model_of_a_setting_is_bold_and_baselines_never(
    worlds: dict[str, World],
) -> None:
    table = worlds["full"].table("main")
    place = [column.key for column in table.columns].index("all")
    for setting in ("Parametric", "RAG", "ICL"):
        rows = [row for row in table.rows if row.block == setting]
        values = sorted({float(row.cells[place].value) for row in rows}, reverse=True)
        marks = {row.cells[place].rank: row.cells[place].value for row in rows}
        assert (marks["best"], marks["second"]) == (values[0], values[1])
    assert not any(cell.rank for row in table.rows if row.baseline for cell in row.cells)


def test_a_task_that_one_model_lacks_is_marked(worlds: dict[str, World]) -> None:
    table = worlds["holes"].table("main")
    marked = {
        column.key
        for row in table.rows
        for column, cell in zip(table.columns, row.cells, strict=True)
        if "†" in cell.mark
    }
    assert "all" in marked and any(note.startswith("†") for note in table.notes)
    assert cell_of(table, "Qwen3.6-35B", "open_ended", "ICL").missing
    lost = [note for note in table.notes if "alone keeps out" in note]
    assert lost == ["Items that one model alone keeps out: Qwen3.6-35B 1."]


def test_two_modes_of_a_model_are_two_rows(worlds: dict[str, World]) -> None:
    table = worlds["both"].table("main")
    labels = [row.stub[0] for row in table.rows if row.block == "RAG"]
    assert labels[:3] == ["Qwen3.6-35B [T]", "Qwen3.6-35B [NT]", "GPT-OSS-120B [T]"]
    assert "T: thinking; NT: non-thinking." in table.notes
    assert wording.modes_words(worlds["full"].context) == ""


def test_perturbation_has_detection_beside_specificity(worlds: dict[str, World]) -> None:
    world = worlds["full"]
    table = world.table("perturbation")
    frame = world.frames["perturbation"]
    row = frame[(frame["model"] == "kimi-k2.5") & (frame["knowledge"] == "rag")].iloc[0]
    detection = cell_of(table, "Kimi-K2.5", "rag.detection")
    assert detection.value == pytest.approx(row["true_positive"] / row["n_perturbed"])
    assert cell_of(table, "Kimi-K2.5", "rag.specificity").value == row["specificity"]
    named = cell_of(table, "Kimi-K2.5", "rag.identification")
    gain = 100 * (row["identification_flagged"] - row["identification"])
    assert float(named.detail.replace("−", "-")) == pytest.approx(gain, abs=0.05)
    assert "n = 12 statements, of which 6 are altered" in table.caption
    flat = frame.assign(detection=0.0, drop=float("nan"))
    lost = world.table("perturbation", perturbation=flat)
    assert cell_of(lost, "Kimi-K2.5", "rag.drop").missing == "nothing was detected"


def test_outcomes_partition_all_answers(worlds: dict[str, World]) -> None:
    table = worlds["full"].table("outcomes")
    parts = [row.cells[2].value for row in table.rows if row.block.startswith("Partition")]
    assert len(parts) == 3 and sum(parts) == pytest.approx(1)
    assert "n = 1,056 answers of 11 models" in table.caption
    kept = cell_of(table, "Kept in retrieval", "n")
    assert kept.value < cell_of(table, "Lost in retrieval", "n").value


def test_meaning_against_date_adds_up(worlds: dict[str, World]) -> None:
    table = worlds["full"].table("meaning_vs_date")
    for place in range(len(SETTINGS)):
        assert sum(row.cells[place].value for row in table.rows) == pytest.approx(1)
    counts = worlds["full"].frames["meaning_vs_date"].groupby("knowledge")["n"].sum()
    assert f"Parametric {counts['parametric']}" in table.caption


def test_misalignment_has_the_answers_and_the_council(worlds: dict[str, World]) -> None:
    table = worlds["embedded"].table("misalignment")
    assert [row.stub[0] for row in table.rows] == ["Parametric", "RAG", "ICL"]
    assert "rule judge, overlap judge and SmolLM2-135M" in table.caption


def test_differences_add_up_and_sorting_has_two_rows(worlds: dict[str, World]) -> None:
    table = worlds["full"].table("setting_differences")
    assert [row.stub[0] for row in table.rows][1:3] == [
        "Event sorting",
        "Event sorting, pairs in order",
    ]
    assert table.rows[-1].stub[0] == "Macro average"
    for row in table.rows:
        _, rag, icl, rest = (cell.value for cell in row.cells[:4])
        assert rag + rest == pytest.approx(icl)
    one = worlds["full"].frames["setting_differences"].assign(sd_rag=float("nan"))
    lost = worlds["full"].table("setting_differences", setting_differences=one)
    assert "fewer than two models" in lost.rows[0].cells[5].missing


def test_the_gap_is_partial_minus_strict(worlds: dict[str, World]) -> None:
    table = worlds["full"].table("strict_gap")
    for row in table.rows:
        strict, partial, gap = (cell.value for cell in row.cells[:3])
        assert gap == pytest.approx(partial - strict)
    assert results.points(0.0312) == "+3.1" and results.points(-0.0004) == "0.0"


# ---- documents and pairs -----------------------------------------------------------------------


def test_the_dataset_table(worlds: dict[str, World]) -> None:
    table = worlds["embedded"].table("dataset")
    assert [row.stub[0] for row in table.rows] == [*(t.label for t in TASKS.values()), "All tasks"]
    assert "16 question pairs from customs instruments" in table.caption
    frame = worlds["embedded"].frames["dataset"].assign(input_characters=float("nan"))
    assert "no pair" in worlds["embedded"].table("dataset", dataset=frame).rows[0].cells[4].missing


def test_generation_counts_every_row_once(worlds: dict[str, World]) -> None:
    for kind, proposed in (("full", 216), ("embedded", 216)):
        world = worlds[kind]
        table = world.table("generation")
        total = sum(row.cells[-1].value for row in table.rows)
        assert total == len(world.frames["generation"])
        assert f"n = {proposed} pairs, and one call without one" in table.caption
        for row in table.rows:
            assert sum(cell.value for cell in row.cells[:-1]) == row.cells[-1].value
    limited = [row.stub[0] for row in worlds["embedded"].table("generation").rows]
    assert limited[1] == "passed, beyond the limit of a task" and "duplicate" in limited
    kept = worlds["full"].frames["generation"].assign(kept=True, check="")
    assert worlds["full"].table("generation", generation=kept).rows[-1].cells[-1].value == 0


def test_verification_without_ratings_says_so(worlds: dict[str, World]) -> None:
    rated = worlds["full"].table("verification")
    assert rated.rows[-1].cells[1].text == "95.0" and "n = 24 pairs" in rated.caption
    empty = worlds["embedded"].table("verification")
    reasons = {cell.missing for row in empty.rows for cell in row.cells[1:]}
    assert reasons == {"not rated: no expert rated the pairs of this run"}


def test_complexity_by_type_and_in_all(worlds: dict[str, World]) -> None:
    table = worlds["full"].table("complexity")
    assert [row.stub[0] for row in table.rows] == [
        *("Acts", "Rules", "SROs", "General Orders", "All documents"),
    ]
    counts = [row.cells[0].value for row in table.rows]
    assert sum(counts[:-1]) == counts[-1] == 44
    frame = worlds["full"].frames["complexity"]
    odd = frame.assign(document_type=["Bylaw", *frame["document_type"][1:]])
    notes = worlds["full"].table("complexity", complexity=odd).notes
    assert any("Bylaw" in note for note in notes)


def test_fidelity_pools_words_and_counts_listed_pages(worlds: dict[str, World]) -> None:
    table = worlds["full"].table("fidelity")
    rows = {(row.block, row.stub[0]): row.cells for row in table.rows}
    cells = rows["Unicode text in the order of drawing", "pdftotext (Poppler)"]
    assert cells[2].value == pytest.approx((100 * 0.06 + 200 * 0.07) / 300)
    assert cells[4].value == pytest.approx(0.07)
    assert cells[5].text == "11 of 12" and cells[6].text == "4 of 6"
    listed = rows["Image without text", "chosen by the pipeline"]
    assert listed[1].value == 2 and listed[2].missing == data.NOT_USED
    assert listed[5].missing == "no table cells on such pages"
    assert "n = 10 pages with a corrected text, 4 of which" in table.caption
    words = table.notes[-1]
    assert words.startswith("Whole corpus: 88 pages of 45 documents") and "1 not readable" in words
    other = worlds["full"].frames["fidelity"].assign(layer="novel", engine="engine x")
    table = worlds["full"].table("fidelity", fidelity=other)
    assert {row.block for row in table.rows} == {"novel"} and table.rows[0].stub[0] == "engine x"


def test_contradicting_calendars_are_printed_in_bengali(worlds: dict[str, World]) -> None:
    world = worlds["embedded"]
    table = world.table("two_calendars")
    assert len(table.rows) == 2 and "2 of n = 5 such places in five documents" in table.caption
    assert r"\textbengali{" in to_latex(table)
    assert table.rows[1].cells[2].missing == "no such day can be read"
    agreed = world.frames["two_calendars"].assign(agrees=True)
    empty = world.table("two_calendars", two_calendars=agreed)
    assert not empty.rows and "no rows" in to_latex(empty) and "0 of n = 5" in empty.caption
    long = worlds["full"].table("two_calendars")
    assert long.layout == "long" and len(long.rows) == 13


HOSTILE = "\u202e১ জুন\x00\\input{x}<b>%$#&_^~" + "x" * 400


def test_text_of_a_document_hides_nothing(worlds: dict[str, World]) -> None:
    frame = (
        worlds["embedded"]
        .frames["two_calendars"]
        .assign(text=HOSTILE, element_id=HOSTILE, note=HOSTILE)
    )
    table = worlds["embedded"].table("two_calendars", two_calendars=frame)
    source, page = to_latex(table), to_html(table)
    assert "\u202e" not in source + page and "\x00" not in source + page
    assert r"\input{x}" not in source and "<b>" not in page
    assert "more characters" in table.rows[0].cells[0].text
    assert table.rows[0].cells[0].value.endswith("x" * 400)


def test_models_without_a_tokeniser_have_no_tax(worlds: dict[str, World]) -> None:
    table = worlds["full"].table("tokens")
    assert cell_of(table, "Llama-5-70B-Instruct", "tax_words").missing == data.NO_TOKENISER
    cell = cell_of(table, "GPT-5.2", "tax_words")
    assert cell.low < cell.value < cell.high and dict(cell.extra)["tokeniser"] == "t-gpt-5.2"


# ---- retrieval ---------------------------------------------------------------------------------


def test_retrieval_by_depth_and_by_task(worlds: dict[str, World]) -> None:
    table = worlds["full"].table("retrieval")
    blocks = list(dict.fromkeys(row.block for row in table.rows))
    assert blocks == [
        "gemini-embedding-2, mean of the tasks",
        "GLM-Embedding-3, mean of the tasks",
        "Qwen3-Embedding-8B, mean of the tasks",
        "gemini-embedding-2, top 10, similarity, by task",
    ]
    assert [row.stub[0] for row in table.rows][:4] == [
        "top 5, similarity",
        "top 10, similarity",
        "top 10, similarity and date",
        "top 15, similarity",
    ]
    tasks = [row.cells[1].value for row in table.rows if row.block.endswith("by task")]
    mean = cell_of(table, "top 10, similarity", "recall").value
    assert len(tasks) == 8 and sum(tasks) / 8 == pytest.approx(mean)


def test_the_ablation_marks_the_best_depth_and_the_main_retriever(
    worlds: dict[str, World],
) -> None:
    table = worlds["full"].table("retrieval_by_task")
    keys = [column.key for column in table.columns]
    assert keys[1:4] == [f"gemini-embedding-2.{depth}.none" for depth in (5, 10, 15)]
    assert keys[-1] == "gemini-embedding-2.10.dated" and table.columns[-1].group == "By date too"
    for row in table.rows:
        assert row.cells[2].tint == "column" and row.cells[1].tint == ""
        assert not any(cell.rank == "second" for cell in row.cells)
        values = [cell.value for cell in row.cells[1:4]]
        best = [cell.value for cell in row.cells[1:4] if cell.rank == "best"]
        assert set(best) == ({max(values)} if len(set(values)) > 1 else set())
    assert [row.stub[0] for row in table.rows][-1] == "Macro average without event sorting"
    assert table.rows[-1].cells[0].value == 84 and table.rows[-2].cells[0].value == 96
    assert "Answered by 11 models" in table.caption


def test_only_models_of_the_ablation_are_in_its_tables(worlds: dict[str, World]) -> None:
    table = worlds["embedded"].table("retrieval_by_model")
    assert [row.stub[0] for row in table.rows] == ["Gemma 3 270M (base)"] * 2
    assert "Answered by one model" in table.caption
    assert "Answered by one model" in worlds["embedded"].table("retrieval_by_task").caption
    frame = worlds["full"].frames["ablation_by_model"]
    plain = frame[frame["rerank"] == "none"]
    table = worlds["full"].table("retrieval_by_model", ablation_by_model=plain)
    assert len(table.rows) == 22 and not any("date" in note for note in table.notes)


# ---- judgement and tests -----------------------------------------------------------------------


def test_the_council_by_question_and_pair(worlds: dict[str, World]) -> None:
    table = worlds["embedded"].table("council")
    assert [row.stub[0] for row in table.rows][:3] == [
        *("gold date matched", "contradicting date", "meaning right"),
    ]
    assert table.notes[0] == "A: rule judge; B: overlap judge; C: SmolLM2-135M."
    assert [column.title for column in table.columns][-3:] == ["A–B", "A–C", "B–C"]
    borderline = next(row for row in table.rows if row.stub[0] == "borderline case")
    assert borderline.cells[2].missing == captions.FLAGS["one_class"]
    assert borderline.cells[3].value == 1
    assert table.rows[0].cells[2].interval


def test_experts_scores_or_none(worlds: dict[str, World]) -> None:
    table = worlds["full"].table("human_validation")
    assert [row.stub[0] for row in table.rows] == ["expert 1", "expert 2"]
    assert [cell.text for cell in table.rows[0].cells] == ["3", "48.00", "38.50", "8.50", "95.00"]
    assert table.columns[-1].title == "Total (of 100)"
    empty = worlds["embedded"].table("human_validation")
    assert empty.rows[0].stub == ("no expert",)
    assert empty.rows[0].cells[1].missing == wording.FLAGS["no_scores"]


def test_settings_are_compared_by_model_and_task(worlds: dict[str, World]) -> None:
    world = worlds["full"]
    table = world.table("settings_compared")
    assert len(table.rows) == 11 * 9 and table.layout == "long"
    frame = world.frames["mcnemar_settings"]
    mine = frame[(frame["model"] == "gpt-5.2") & (frame["task"] == "all")]
    row = mine[(mine["knowledge_a"] == "parametric") & (mine["knowledge_b"] == "icl")].iloc[0]
    counts = cell_of(table, "All tasks", "parametric.icl.counts", "GPT-5.2")
    assert counts.text == f"{row['b01']} : {row['b10']}"
    q = cell_of(table, "All tasks", "parametric.icl.q", "GPT-5.2")
    assert q.value == row["q"] and (q.mark == "*") == bool(row["significant"])
    assert f"{int(frame['significant'].sum())} with q ≤ 0.05" in table.notes[1]
    none = world.frames["mcnemar_settings"].assign(n=0, q=float("nan"), significant=False)
    empty = world.table("settings_compared", mcnemar_settings=none)
    assert empty.rows[0].cells[1].missing == "no item in common"


def test_models_are_compared_in_both_directions(worlds: dict[str, World]) -> None:
    world = worlds["full"]
    table = world.table("models_compared")
    assert len(table.rows) == 33 and len(table.columns) == 11
    frame = world.frames["mcnemar_models"]
    row = frame[
        (frame["knowledge"] == "rag")
        & (frame["model_a"] == "qwen3.6-35b")
        & (frame["model_b"] == "gpt-oss-120b")
    ].iloc[0]
    block = [each for each in table.rows if each.block == "RAG"]
    assert block[0].cells[1].value == row["b01"] and block[1].cells[0].value == row["b10"]
    assert block[0].cells[1].detail == block[1].cells[0].detail != ""
    assert block[0].cells[0].text == ""
    none = frame.assign(n=0)
    assert world.table("models_compared", mcnemar_models=none).rows[0].cells[1].missing


# ---- words -------------------------------------------------------------------------------------


def test_benchmarks_are_marked_by_what_the_study_says(worlds: dict[str, World]) -> None:
    table = worlds["full"].table("benchmarks_compared")
    tide = next(row for row in table.rows if row.stub[0] == "TIDE")
    assert {cell.value for cell in tide.cells[1:]} == {"yes"}
    marks = {cell.value for row in table.rows for cell in row.cells[1:]}
    assert marks == {rubrics.YES, rubrics.NO, rubrics.NOT_STATED}
    assert cell_of(table, "EvolveBench", "misaligned").value == "yes"
    assert cell_of(table, "evolveQA", "parametric").value == "yes"


def test_models_that_disclose_nothing_are_marked(worlds: dict[str, World]) -> None:
    table = worlds["full"].table("models")
    assert cell_of(table, "GPT-OSS-120B", "parameters").text == "n.d."
    assert cell_of(table, "GLM-4.6", "knowledge_cutoff").text == "January 2025 (reliable)"
    params = tide_frames.params("full")
    params["tide"]["publishing"]["roster"]["glm-4.6"] = {}
    rows = tables.build("models", {}, Context.from_params(params)).rows
    assert rows[-1].stub == ("GLM-4.6",) and rows[-1].block == "Access not stated"
    assert rows[-1].cells[3].missing == "not in the roster"


def test_every_task_is_scored_once(worlds: dict[str, World]) -> None:
    table = worlds["full"].table("scoring_rubric")
    named = ", ".join(row.stub[0] for row in table.rows).split(", ")
    assert sorted(named) == sorted(
        [*(task.label for task in TASKS.values()), "Perturbation identification"]
    )
    free = next(row for row in table.rows if "Open-ended" in row.stub[0])
    assert free.cells[0].value == "council" and free.cells[2].value.startswith("0.50 × share")
    params = tide_frames.params("full")
    params["tide"]["publishing"]["date_weight"] = 0.3
    text = to_latex(tables.build("scoring_rubric", {}, Context.from_params(params)))
    assert "0.30 ×" in text and "0.70 ×" in text


def test_no_answer_is_in_a_query(worlds: dict[str, World]) -> None:
    table = worlds["full"].table("query_fields")
    assert cell_of(table, "Temporal MCQ", "left_out").value == "options"
    assert cell_of(table, "Context misalignment", "left_out").value == "misaligned context"
    for row, task in zip(table.rows, TASKS.values(), strict=True):
        assert "answer" not in row.cells[0].value and row.stub[0] == task.label
        assert bool(row.cells[1].value) == bool(row.cells[2].value)


def test_rubrics_of_experts_have_every_task_and_all_points(worlds: dict[str, World]) -> None:
    assert len(worlds["full"].table("verification_rubric").rows) == len(TASKS)
    table = worlds["full"].table("human_rubric")
    assert [row.cells[0].value for row in table.rows] == [50, 40, 10, 100]


# ---- rule script, print ------------------------------------------------------------------------


def test_the_rule_script_writes_all_forms(worlds: dict[str, World], tmp_path: Path) -> None:
    world = worlds["embedded"]
    output = SimpleNamespace(**{end: tmp_path / f"x.{end}" for end in ("tex", "csv", "html")})
    job = SimpleNamespace(
        input={name: world.folder / f"{name}.csv" for name in artefacts.TABLES["fidelity"]},
        output=output,
        params=SimpleNamespace(context=world.params),
        wildcards=SimpleNamespace(name="fidelity"),
    )
    make_table.main(job)
    assert r"\label{tab:tide-fidelity}" in output.tex.read_text(encoding="utf-8")
    first = output.tex.read_bytes(), output.csv.read_bytes(), output.html.read_bytes()
    make_table.main(job)
    assert first == (output.tex.read_bytes(), output.csv.read_bytes(), output.html.read_bytes())
    assert len(files.read_csv(output.csv)) == 20


def tex_is_here() -> bool:
    try:
        paper.require_tex()
    except paper.PaperError:
        return False
    return shutil.which("pdftotext") is not None


@pytest.mark.tex
@pytest.mark.skipif(not tex_is_here(), reason="needs xelatex and pdftotext")
def test_all_tables_print_inside_the_page(worlds: dict[str, World], tmp_path: Path) -> None:
    sources = tmp_path / "paper"
    sources.mkdir()
    shutil.copy(ROOT / "paper" / "tokensandtime.sty", sources)
    body = ""
    for kind in ("embedded", "full"):
        for name in artefacts.TABLES:
            text = to_latex(worlds[kind].table(name)).replace("tab:tide", f"tab:{kind}")
            (sources / f"{kind}_{name}.tex").write_text(text, encoding="utf-8")
            body += rf"\input{{{kind}_{name}}}\clearpage "
    (sources / "main.tex").write_text(
        rf"\documentclass[10pt,a4paper]{{article}}\usepackage{{tokensandtime}}"
        rf"\begin{{document}}{body}\end{{document}}",
        encoding="utf-8",
    )
    # A character without a glyph is an error of `build`.
    report = paper.build(sources, [], tmp_path / "build")
    assert report.overfull == ()
    log = (tmp_path / "build" / "main.log").read_text(encoding="utf-8", errors="replace")
    shrunk = [int(size) for size in re.findall(r"is printed at (\d+) percent", log)]
    assert all(size >= 85 for size in shrunk), shrunk
    text = subprocess.run(
        ["pdftotext", "-raw", "-nodiag", tmp_path / "build" / "main.pdf", "-"],
        capture_output=True,
        check=True,
    ).stdout.decode("utf-8")
    flat = "".join(unicodedata.normalize("NFC", text).split())
    assert "১৪১৭" in flat and "sro-1-2010/metadata" in flat
