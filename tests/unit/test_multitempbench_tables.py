"""The tables of MultiTempBench from synthetic statistics of a full and the embedded roster."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
import unicodedata
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import multitempbench_frames
import pandas as pd
import pytest
import yaml

from scripts import files
from scripts.files import DataError
from scripts.multitempbench import artefacts, examples, make_judge_examples, make_table, tables
from scripts.multitempbench.tables import data, fragmentation, mechanism
from scripts.multitempbench.tables.results import truncated_note
from scripts.multitempbench.tasks import FORMATS, LANGUAGES, TASKS
from scripts.publishing import captions, paper
from scripts.publishing.captions import Context
from scripts.publishing.tables import Cell, Table, to_frame, to_latex
from scripts.publishing.web import to_html
from scripts.records import Item, Response

ROOT = Path(__file__).parents[2]
KINDS = ("full", "holes", "embedded")


class World:
    """Frames as they come from disk, with the context of the same run."""

    def __init__(self, kind: str, folder: Path) -> None:
        self.params = multitempbench_frames.params("embedded" if kind == "embedded" else "full")
        self.context = Context.from_params(self.params)
        self.folder = folder
        self.frames: dict[str, pd.DataFrame] = {}
        found = multitempbench_frames.frames(self.params, holes=kind == "holes")
        for name, frame in found.items():
            files.write_csv(folder / f"{name}.csv", frame)
            self.frames[name] = files.read_csv(folder / f"{name}.csv")

    def table(self, name: str) -> Table:
        needed = {key: self.frames[key] for key in artefacts.TABLES[name]}
        return tables.build(name, needed, self.context)


@pytest.fixture(scope="module")
def worlds(tmp_path_factory: pytest.TempPathFactory) -> dict[str, World]:
    return {kind: World(kind, tmp_path_factory.mktemp(kind)) for kind in KINDS}


def cell_of(table: Table, stub: str, column: str) -> Cell:
    row = next(row for row in table.rows if stub in row.stub)
    return row.cells[[c.key for c in table.columns].index(column)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", sorted(artefacts.TABLES))
def test_every_table_is_built_and_all_forms_agree(
    worlds: dict[str, World], kind: str, name: str
) -> None:
    table = worlds[kind].table(name)
    # Every benchmark has a table of readings: its label says whose it is.
    label = {"readings": "multitempbench_readings"}.get(name, name)
    assert table.rows and table.name == label
    source, frame, page = to_latex(table), to_frame(table), to_html(table)
    assert len(frame) == len(table.rows)
    for text in (source, page):
        assert "nan" not in text.lower().replace("nanoe", "").replace("shannan", "")
    for index, column in enumerate(table.columns):
        printed = frame[f"{column.key}_printed"].tolist()
        assert printed == [row.cells[index].printed for row in table.rows]
    reasons = {c.missing for row in table.rows for c in row.cells if c.missing}
    assert source.count(r"\tablenote{–") == len(reasons)
    assert ("Embedded run" if kind == "embedded" else "Full run") in table.caption


def test_names_in_the_registry_have_a_builder() -> None:
    assert set(artefacts.TABLES) == set(tables.BUILDERS)
    with pytest.raises(DataError, match="unknown table"):
        artefacts.require("table", "nothing", [])
    with pytest.raises(DataError, match="ratings is missing"):
        artefacts.require("table", "weights", ["weights"])


def test_inputs_say_where_the_frames_lie() -> None:
    found = artefacts.inputs("figure", "overview", "results/multitempbench", "m")
    assert found == {
        "accuracy": "results/multitempbench/statistics/accuracy.csv",
        "pca": "results/multitempbench/statistics/pca.csv",
        "tokenisation": "results/multitempbench/tokenisation/m.csv",
    }
    assert artefacts.inputs("table", "formats", "x", "m") == {}


def test_the_real_configuration_makes_a_context() -> None:
    config = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
    params = artefacts.context_params(config)
    context = Context.from_params(params)
    assert context.tasks == dict.fromkeys(TASKS, 250)
    facts = captions.facts(context)
    assert facts["items_total"] == 15_000
    assert facts["language_list"] == "Arabic, Chinese, English, German and Hausa"
    assert facts["models_words"] == "23 models" and facts["shots_list"] == "0"
    config["multitempbench"]["decoding"] = "changed"
    assert artefacts.context_params(config) == params


def test_formats_name_one_day_in_every_form(worlds: dict[str, World]) -> None:
    table = worlds["full"].table("formats")
    assert len(table.rows) == 20
    found = {(r.block.split(" ")[0], r.stub[0]): r.cells[-1].value for r in table.rows}
    assert found["Chinese", "calendar"] == "二零二三年五月十六"
    assert found["Arabic", "calendar"] == "١٥ ذو الحجة ١٤٤٤ هـ"
    assert found["Hausa", "calendar"] == "15 Zulhijja 1444 AH"
    assert found["German", "calendar"] == "03. Juli des Jahres 2023"
    assert found["Arabic", "ISO"] == "\u200e2023-07-03\u200e"
    assert r"\directionmark{LRM}2023-07-03\directionmark{LRM}" in to_latex(table)
    assert "Hausa (0.3 GB)" in {r.block for r in table.rows}


def test_configured_choices_about_dates_show_in_the_formats(worlds: dict[str, World]) -> None:
    params = multitempbench_frames.params("full")
    params["multitempbench"]["publishing"]["calendars"] = {"german_am": True, "hausa_hybrid": True}
    table = data.formats({}, Context.from_params(params))
    found = {(r.block.split(" ")[0], r.stub[0]): r for r in table.rows}
    german = found["German", "calendar"].cells
    assert (german[1].text, german[2].text) == (
        "Am DD. Month des Jahres YYYY",
        "Am 03. Juli des Jahres 2023",
    )
    assert "Gregorian" in found["Hausa", "calendar"].cells[1].text


def test_accuracy_has_intervals_ranks_and_marks(worlds: dict[str, World]) -> None:
    world = worlds["holes"]
    table = world.table("accuracy")
    frame = world.frames["accuracy"]
    mine = frame[(frame["model"] == "gemma3-4b") & (frame["language"] == "ha")]
    whole = mine[(mine["task"] == "all") & (mine["format"] == "all")].iloc[0]
    cell = cell_of(table, "Gemma 3 4B", "ha")
    assert (cell.value, cell.low, cell.high) == (whole["accuracy"], whole["low"], whole["high"])
    assert cell.text == f"{100 * whole['accuracy']:.1f}" and cell.interval
    assert dict(cell.extra)["n"] == 3000
    # GPT-4o has no Hausa relations and no German ISO verdicts.
    assert (
        cell_of(table, "GPT-4o", "ha").mark == "†" and cell_of(table, "GPT-4o", "all").mark == "†"
    )
    assert cell_of(table, "GPT-4o", "en").mark == ""
    assert any(note.startswith("†") for note in table.notes)
    best = [r for r in table.rows if r.cells[0].rank == "best" and r.block == "Non-thinking"]
    values = [r.cells[0].value for r in table.rows if r.block == "Non-thinking"]
    assert [r.cells[0].value for r in best] == [max(values)]
    assert not any(c.rank for r in table.rows if r.baseline for c in r.cells)
    assert next(r.block for r in table.rows) == "Thinking"


def test_accuracy_says_how_many_replies_the_limit_cut(worlds: dict[str, World]) -> None:
    world = worlds["holes"]
    frame = world.frames["accuracy"]
    whole = frame[(frame["language"] == "all") & (frame["task"] == "all")]
    whole = whole[
        (whole["format"] == "all") & ~whole["model"].isin(["majority", "uniform", "solver"])
    ]
    least, most = whole["truncated_rate"].min(), whole["truncated_rate"].max()
    assert 0 < least < most < 1
    words = f"{100 * least:.1f} % to {100 * most:.1f} % of a model's."
    assert any(note.endswith(words) for note in world.table("accuracy").notes)
    rows = [replace(row, cells=()) for row in world.table("accuracy").rows if row.baseline]
    assert truncated_note(rows) == []


def test_a_rated_string_hides_nothing(worlds: dict[str, World]) -> None:
    frames = dict(worlds["embedded"].frames)
    frame = frames["fragmentation_examples"].copy()
    frame.loc[frame.index[0], "string"] = "\u202e1.1.\x00\\input{x}<b>"
    frames["fragmentation_examples"] = frame
    context = worlds["embedded"].context
    for table in (
        fragmentation.fragmentation_examples(frames, context),
        fragmentation.fragmentation_ratings(frames, context),
    ):
        cell = table.rows[0].cells[0]
        assert cell.value == cell.text == "<U+202E>1.1.<U+0000>\\input{x}<b>"
        assert r"\input{x}" not in to_latex(table) and "<b>" not in to_html(table)


def test_a_format_that_nobody_answered_is_a_dash_with_a_reason(worlds: dict[str, World]) -> None:
    table = worlds["holes"].table("accuracy_formats")
    cell = cell_of(table, "GPT-4o", "de.ISO")
    assert cell.missing == "not evaluated"
    assert dict(cell_of(table, "GPT-4o", "de.numeric").extra)["low"] is not None
    assert len(table.columns) == 20
    assert len(worlds["full"].table("accuracy_tasks").columns) == 15


def test_mdfr_by_calendar_and_language(worlds: dict[str, World]) -> None:
    table = worlds["full"].table("mdfr")
    assert [c.key for c in table.columns] == [
        *(f"{language}.gregorian" for language in LANGUAGES),
        *("ar.hijri", "ha.hijri", "zh.lunar"),
    ]
    assert cell_of(table, "Phi-4 Mini", "ar.gregorian").missing == fragmentation.NO_TOKENISER
    cell = cell_of(table, "Qwen3 4B", "ar.hijri")
    assert cell.detail.endswith("×") and cell.text == f"{cell.value:.2f}"
    assert cell.value == cell_of(table, "Qwen3 14B", "ar.hijri").value
    # o200k, gemma, llama3, qwen3, mistral, olmo; one model has none.
    assert "six distinct tokenisers" in table.caption
    assert not any(r.baseline for r in table.rows)


def test_published_values_stand_beside_ours(worlds: dict[str, World]) -> None:
    table = worlds["full"].table("mdfr_as_published")
    assert [c.group for c in table.columns][-1] == "Lunar"
    cell = cell_of(table, "Gemma 3 4B", "en_hijri")
    assert cell.detail.startswith("paper 0.") and dict(cell.extra)["sampling_sd"] == 0.01
    assert cell_of(table, "GPT-4o", "en_hijri").detail == ""
    assert any("subtracts" in note for note in table.notes)


def test_pieces_are_isolated_in_their_order(worlds: dict[str, World]) -> None:
    table = worlds["full"].table("fragmentation_examples")
    assert len(table.rows) == 4  # one string has no published value
    arabic = next(r for r in table.rows if r.stub[0] == "Arabic")
    pieces = arabic.cells[2]
    assert pieces.pieces[:4] == ("٢", "٧", " ر", "جب")
    source = to_latex(table)
    assert r"\piece{\textarabic{٢}}\piecebar \piece{\textarabic{٧}}" in source
    assert r"\textarabic{٢٧ رجب ١٤٤١ هـ}" in source
    page = to_html(table)
    assert "<bdi>٢</bdi>" in page and 'dir="ltr"' in page and "<bdi>٢٧ رجب ١٤٤١ هـ</bdi>" in page
    assert to_frame(table).loc[1, "pieces"].startswith("٢ | ٧ |")
    assert any(note.startswith("On ٢٧ رجب") for note in table.notes)
    rated = worlds["full"].table("fragmentation_ratings")
    assert len(rated.rows) == 4
    assert rated.rows[-1].cells[4].missing == fragmentation.NOT_PUBLISHED
    assert "raters of unknown number" in rated.notes[0]


@pytest.mark.parametrize("text", ["not json", '{"a": 1}'])
def test_pieces_that_are_no_list_are_named(worlds: dict[str, World], text: str) -> None:
    frames = dict(worlds["full"].frames)
    frames["fragmentation_examples"] = frames["fragmentation_examples"].assign(pieces=text)
    with pytest.raises(DataError, match="JSON list"):
        tables.build("fragmentation_examples", frames, worlds["full"].context)


def test_weights_without_ratings_say_why(worlds: dict[str, World]) -> None:
    world = worlds["full"]
    frames = {
        "weights": multitempbench_frames.weights(learned=False),
        "ratings": multitempbench_frames.ratings().head(0),
    }
    table = tables.build("weights", frames, world.context)
    assert table.rows[0].cells[2].missing == captions.FLAGS["too_few"]
    assert table.notes == ("No ratings were given.",)
    agreed = multitempbench_frames.ratings().assign(raters=5, krippendorff_alpha=0.81)
    assert "five raters; Krippendorff's α = 0.81" in fragmentation.ratings_words(agreed)
    metrics = world.table("metric_correlation")
    assert metrics.rows[3].cells[0].missing == captions.FLAGS["constant"]
    assert metrics.rows[0].cells[0].interval == "[0.10, 0.90]"


def test_the_dataset_table(worlds: dict[str, World]) -> None:
    table = worlds["full"].table("dataset")
    assert [r.stub[0] for r in table.rows] == [*(t.label for t in TASKS.values()), "Total"]
    total = table.rows[-1]
    assert total.cells[3].text == "14,970" and total.cells[6].text == ""
    assert "test_of_time 125, tram_arithmetic 125" in table.rows[0].cells[5].text
    broken = {"dataset": worlds["full"].frames["dataset"].assign(by_source="{")}
    with pytest.raises(DataError, match="by_source"):
        tables.build("dataset", broken, worlds["full"].context)


def test_curation_stands_by_source_and_task(worlds: dict[str, World]) -> None:
    table = worlds["full"].table("curation")
    assert [r.block for r in table.rows][::4] == [
        "tram arithmetic, Date arithmetic",
        "test of time, Date arithmetic",
        "tram relation, Temporal relation",
    ]
    assert [c.text for c in table.rows[1].cells][:2] == ["4,495", "1,500"]


def test_probes_have_controls_and_the_caution_column(worlds: dict[str, World]) -> None:
    table = worlds["full"].table("probes")
    assert "GPT-4o" not in {r.stub[0] for r in table.rows}
    keys = [c.key for c in table.columns]
    assert keys.index("null_r2") and table.columns[keys.index("r2_in_sample")].group == "Caution"
    assert {r.cells[keys.index("r2_in_sample")].text for r in table.rows} == {"1.00"}
    assert [r.repeated for r in table.rows][:6] == [False, True, True, True, True, False]
    assert table.layout == "long" and worlds["embedded"].table("probes").layout == "portrait"


def test_correlations_show_both_intervals_or_say_why_not(worlds: dict[str, World]) -> None:
    table = worlds["full"].table("correlations")
    assert len(table.rows) == 30
    hausa = next(r for r in table.rows if r.stub[0].startswith("Hausa"))
    assert hausa.stub[0] == "Hausa (10/6)"
    r, jackknife = hausa.cells[:2]
    assert r.low <= r.value <= r.high and dict(r.extra)["published"] == -0.97
    assert jackknife.text.startswith("[") and dict(jackknife.extra)["low"] < r.value
    small = worlds["embedded"].table("correlations")
    reasons = {c.missing for row in small.rows for c in row.cells}
    assert reasons == {captions.FLAGS["too_few"]}


def test_regression_prints_every_n_and_the_test_of_the_three_way_term(
    worlds: dict[str, World],
) -> None:
    table = worlds["full"].table("regression")
    blocks = list(dict.fromkeys(r.block for r in table.rows))
    assert blocks == [
        "Main (REML)",
        "With seed question and model × language (REML)",
        "mDFR as published (REML)",
        "Crossed logistic (Laplace)",
        mechanism.LEAVE_OUT_BLOCK,
    ]
    assert len(table.rows) == 4 * 8 + 2
    row = next(r for r in table.rows if r.stub == ("mDFR × linearity × resource",))
    assert row.block == blocks[0] and row.cells[3].text == "0.200"
    assert table.rows[0].cells[6].missing == mechanism.NO_TEST
    assert table.rows[0].cells[7].missing == mechanism.NO_ODDS
    published = next(r for r in table.rows if r.block == blocks[2] and "×" in r.stub[0])
    assert published.stub[0] == "mDFR as published × linearity"
    assert published.cells[6].missing == captions.FLAGS["few_permutations"]
    lost = next(r for r in table.rows if r.block == blocks[3])
    assert lost.cells[0].missing == "not estimated: the optimiser did not reach an optimum"
    assert [r.stub[0] for r in table.rows[-2:]] == ["without Arabic", "without Hausa"]
    note = next(n for n in table.notes if n.startswith("Main:"))
    for words in (
        "N = 285,000, 15,000 items, 750 seed questions, 19 models, 40 tokeniser-language pairs, "
        "95 model-language pairs",
        "SD of question 0.200, model 0.173, residual 0.350",
        "log-likelihood −12345.7",
    ):
        assert words in note
    tested = next(n for n in table.notes if n.startswith("Main by maximum likelihood:"))
    assert "χ²(1) = 5.30, p = 0.021" in tested
    assert table.notes[-1] == "Left out: GPT-4o (no hidden states)."
    slopes = worlds["full"].table("regression_slopes")
    assert slopes.rows[0].stub == ("mDFR", "low") and slopes.rows[0].cells[0].text == "−0.120"


def test_few_models_have_estimates_but_no_test(worlds: dict[str, World]) -> None:
    table = worlds["embedded"].table("regression")
    first = table.rows[0]
    assert first.cells[0].value == 0.4 and not first.cells[0].interval
    assert {c.missing for c in first.cells[1:7]} == {captions.FLAGS["few_levels"]}
    slopes = worlds["embedded"].table("regression_slopes")
    assert slopes.rows[0].cells[1].missing == captions.FLAGS["few_levels"]
    assert mechanism.why_untested(None, "few_levels", "x") == "not evaluated"


def test_judges_agree_cell_by_cell(worlds: dict[str, World]) -> None:
    table = worlds["full"].table("judge_agreement")
    keys = [c.key for c in table.columns]
    first, second = table.rows
    assert first.stub == ("date judge", "GPT-4o")
    assert first.cells[keys.index("correct.correct")].text == "400"
    assert first.cells[keys.index("correct.incorrect")].text == "20"
    assert second.cells[keys.index("kappa")].missing == "not evaluated"
    rubric = worlds["full"].table("judge_rubric")
    assert [r.stub[0] for r in rubric.rows[:3]] == [
        "A (correct)",
        "B (incorrect)",
        "C (not attempted)",
    ]


# ---- judged examples ---------------------------------------------------------------------------

REPLIES = {
    ("ar", "correct"): "الجواب: ١٢ يوليو ٢٠٢٣",
    ("ar", "incorrect"): r"\input{x} 13 July & 100%",
    ("zh", "correct"): "二零二三年七月十二日。",
    ("ha", "not_attempted"): "Ban sani ba\u202e",
}


def judged(folder: Path) -> tuple[pd.DataFrame, list[Path], list[Path]]:
    items, responses, rows = [], [], []
    for number, ((language, verdict), text) in enumerate(REPLIES.items()):
        for copy in range(2):
            item = Item.create(
                "multitempbench",
                "date_arithmetic",
                {"language": language, "format": "iso", "calendar": "gregorian"},
                {"question": f"ما بعد \u200e2023-07-0{1 + number}\u200e؟ {copy}"},
                {"answer": "2023-07-12"},
                {"question_id": f"q{number}{copy}", "name": "own_questions", "row": number},
            )
            request = f"r{number}{copy}"
            items.append(item)
            responses.append(
                Response(request, item.item_id, "gemma3-270m", "non_thinking", text, "stop", {},
                         "x", "1", 1)
            )  # fmt: skip
            rows.append(
                {
                    "item_id": item.item_id,
                    "request_id": request,
                    "model": "gemma3-270m",
                    "mode": "non_thinking",
                    "task": "date_arithmetic",
                    "language": language,
                    "format": "iso",
                    "verdict": verdict,
                    "category": "judged",
                    "route": "date",
                    "judge": "date_judge",
                    "parsed": None if verdict == "not_attempted" else "2023-07-12",
                }
            )
    item_file, response_file = folder / "items.jsonl", folder / "responses.jsonl"
    files.write_records(item_file, items)
    files.write_records(response_file, responses)
    return pd.DataFrame(rows), [item_file], [response_file]


def test_judged_examples_are_the_first_of_each_verdict(
    worlds: dict[str, World], tmp_path: Path
) -> None:
    scores, item_files, response_files = judged(tmp_path)
    context = worlds["embedded"].context
    table = examples.judge_examples(scores, item_files, response_files, context)
    assert [(r.block, r.cells[-1].value) for r in table.rows] == [
        ("Arabic", "correct"),
        ("Arabic", "incorrect"),
        ("Chinese", "correct"),
        ("Hausa", "not_attempted"),
    ]
    first = scores[(scores["language"] == "ar") & (scores["verdict"] == "correct")]
    assert dict(table.rows[0].cells[-1].extra)["item_id"] == first["item_id"].min()
    source = to_latex(table)
    assert r"\input{x}" not in source and r"\textbackslash{}input" in source
    assert table.rows[-1].cells[2].text.endswith("<U+202E>")
    assert table.rows[-1].cells[3].missing == "the judge read no value"
    shuffled = scores.sample(frac=1, random_state=3)
    again = examples.judge_examples(shuffled, item_files, response_files, context)
    assert to_latex(again) == source
    empty = tmp_path / "empty.jsonl"
    empty.write_bytes(b"")
    with pytest.raises(DataError, match="no response"):
        examples.judge_examples(scores, item_files, [empty], context)
    with pytest.raises(DataError, match="no item"):
        examples.judge_examples(scores, [empty], response_files, context)


def test_the_rule_scripts_write_all_forms(worlds: dict[str, World], tmp_path: Path) -> None:
    world = worlds["embedded"]
    output = SimpleNamespace(**{end: tmp_path / f"x.{end}" for end in ("tex", "csv", "html")})
    inputs = {name: world.folder / f"{name}.csv" for name in artefacts.TABLES["weights"]}
    job = SimpleNamespace(
        input=inputs,
        output=output,
        params=SimpleNamespace(context=world.params),
        wildcards=SimpleNamespace(name="weights"),
    )
    make_table.main(job)
    assert r"\label{tab:weights}" in output.tex.read_text()
    scores, item_files, response_files = judged(tmp_path)
    path = tmp_path / "scores.parquet"
    files.write_parquet(path, scores)
    job.input = SimpleNamespace(scores=path, item_files=item_files, responses=response_files)
    make_judge_examples.main(job)
    assert r"\label{tab:judge-examples}" in output.tex.read_text()
    assert "not attempted" in output.html.read_text()
    assert len(files.read_csv(output.csv)) == 4


# ---- in print ----------------------------------------------------------------------------------


def tex_is_here() -> bool:
    try:
        paper.require_tex()
    except paper.PaperError:
        return False
    return shutil.which("pdftotext") is not None


@pytest.mark.tex
@pytest.mark.skipif(not tex_is_here(), reason="needs xelatex and pdftotext")
def test_five_scripts_print_with_all_their_characters(
    worlds: dict[str, World], tmp_path: Path
) -> None:
    sources = tmp_path / "paper"
    sources.mkdir()
    shutil.copy(ROOT / "paper" / "tokensandtime.sty", sources)
    names = ("formats", "fragmentation_examples", "accuracy", "correlations")
    for name in names:
        text = to_latex(worlds["full"].table(name))
        (sources / f"{name}.tex").write_text(text, encoding="utf-8")
    scores, item_files, response_files = judged(tmp_path)
    table = examples.judge_examples(scores, item_files, response_files, worlds["embedded"].context)
    (sources / "judged.tex").write_text(to_latex(table), encoding="utf-8")
    body = "".join(rf"\input{{{name}}}\clearpage " for name in (*names, "judged"))
    (sources / "main.tex").write_text(
        rf"\documentclass{{article}}\usepackage{{tokensandtime}}\begin{{document}}{body}"
        r"\end{document}",
        encoding="utf-8",
    )
    # A character without a glyph is an error of `build`.
    report = paper.build(sources, [], tmp_path / "build")
    assert report.overfull == ()
    text = subprocess.run(
        ["pdftotext", "-raw", "-nodiag", tmp_path / "build" / "main.pdf", "-"],
        capture_output=True,
        check=True,
    ).stdout.decode("utf-8")
    plain = unicodedata.normalize("NFKC", text.translate(dict.fromkeys([0x202A, 0x202B, 0x202C])))
    flat = "".join(plain.split())
    for piece in ("二零二三年五月十六", "15Zulhijja1444AH", "2023年07月03日", "<U+202E>"):
        assert piece in flat, piece
    # A Latin date inside Arabic runs from left to right.
    assert "2023-07-01" in flat
    # What comes first in Arabic stands on the right: the day after the month, the era mark first.
    line = next(line for line in plain.splitlines() if "الحجة" in line)
    places = [line.index(word) for word in ("هـ", "١٤٤٤", "الحجة", "ذو", "١٥")]
    assert places == sorted(places)


def test_json_of_pieces_reads_back() -> None:
    pieces = ["٢", " ر", "<0xC3>"]
    assert fragmentation.pieces_of(json.dumps(pieces), "here") == pieces
    assert math.isclose(sum(multitempbench_frames.weights()["default"]), 1)
    assert FORMATS == ("iso", "slash", "long", "calendar")
