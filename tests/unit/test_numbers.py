"""Macros, selections and their provenance."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pandas as pd
import publishing_frames
import pytest
import tide_frames

from scripts import files
from scripts.files import DataError
from scripts.publishing import captions, numbers
from scripts.publishing.captions import Context

ROOT = Path(__file__).parents[2]


@pytest.fixture
def results(tmp_path: Path) -> Path:
    frame = pd.DataFrame(
        {
            "model": ["a", "b", "c", "solver"],
            "ema": [0.5, 0.75, None, 1.0],
            "gap": [0.1, -0.2, 0.0, 0.0],
            "significant": [True, True, False, False],
            "size": [197, 197, 197, 197],
        }
    )
    files.write_csv(tmp_path / "x.csv", frame)
    return tmp_path


def collect(results: Path, *macros: dict[str, Any], **sections: Any) -> numbers.Collection:
    declaration = {"macros": list(macros), **sections}
    facts = {"models": ["a", "b", "c"], "seed": 42}
    return numbers.collect(declaration, results, facts, {"b": "Model_B"})


BASE = {"name": "X", "file": "x.csv", "where": {"model": "a"}, "column": "ema", "format": "percent"}


def test_one_row_is_read_with_its_place(results: Path) -> None:
    found = collect(results, BASE).numbers[0]
    assert (found.value, found.printed, found.rows) == (0.5, "50.0", (2,))
    entry = collect(results, BASE).to_json()["macros"]["X"]
    assert (
        entry["file"] == "x.csv" and entry["column"] == "ema" and entry["where"] == {"model": "a"}
    )
    # The provenance is enough to find the cell again.
    line = (results / "x.csv").read_text().splitlines()[entry["rows"][0] - 1]
    assert line.startswith("a,0.5,")


def test_extremes_leave_baselines_out_through_facts(results: Path) -> None:
    macro = {**BASE, "where": {"model": "$models"}, "highest": "ema", "column": "model"}
    found = collect(results, {**macro, "format": "label"})
    assert found.numbers[0].printed == "Model_B"
    assert r"\newcommand{\X}{\indexednumber{X}{Model\_B}}" in found.to_latex()
    assert collect(results, {**BASE, "where": {}, "lowest": "ema"}).numbers[0].value == 0.5


def test_names_that_share_an_extreme_are_all_given_and_numbers_only_where_they_agree(
    tmp_path: Path,
) -> None:
    frame = pd.DataFrame(
        {
            "model": ["a", "b", "c"],
            "ema": [0.1 + 0.2, 0.3, 0.2],  # the first two differ in the last bit
            "low": [0.1, 0.2, 0.0],
        }
    )
    files.write_csv(tmp_path / "x.csv", frame)
    macro = {**BASE, "where": {}, "highest": "ema"}
    name = {**macro, "name": "Name", "column": "model", "format": "label"}
    low = {**macro, "name": "Low", "column": "low", "optional": True}
    flags = [{"name": "haslow", "defined": "Low"}, {"name": "hasname", "defined": "Name"}]
    found = collect(tmp_path, macro, name, low, flags=flags)
    printed = {n.name: n.printed for n in found.numbers}
    assert printed == {"X": "30.0", "Name": "a and Model_B", "Low": "–"}
    assert all(n.rows == (2, 3) for n in found.numbers[:2])
    assert "different values" in found.numbers[2].reason
    assert found.flags == {"haslow": False, "hasname": True}
    with pytest.raises(DataError, match="different values"):
        collect(tmp_path, {**low, "optional": False})


def test_flags_compare_macros(results: Path) -> None:
    high = {**BASE, "name": "High", "where": {"model": "b"}}
    gone = {**BASE, "name": "Gone", "where": {"model": "c"}, "optional": True}
    flags = [
        {"name": "le", "at_most": ["X", "High"]},
        {"name": "eq", "at_most": ["X", "X"]},
        {"name": "gt", "at_most": ["High", "X"]},
        {"name": "no", "at_most": ["Gone", "X"]},
    ]
    found = collect(results, BASE, high, gone, flags=flags).flags
    assert found == {"le": True, "eq": True, "gt": False, "no": False}
    for wrong in ({"at_most": ["X"]}, {"at_most": ["X", "Y"]}, {"defined": "Y"}):
        with pytest.raises(DataError, match="flag f"):
            collect(results, BASE, flags=[{"name": "f", **wrong}])


def test_counts_and_comparisons(results: Path) -> None:
    where = {"significant": True, "gap": {"below": 0}}
    found = collect(results, {"name": "N", "file": "x.csv", "where": where, "count": True})
    assert found.numbers[0].value == 1 and found.numbers[0].rows == (3,)
    where = {"gap": {"above": 5}}
    found = collect(results, {"name": "N", "file": "x.csv", "where": where, "count": True})
    assert found.numbers[0].value == 0


def test_same_reads_one_value_of_many_rows(results: Path) -> None:
    macro = {**BASE, "where": {}, "same": True, "column": "size", "format": "integer"}
    assert collect(results, macro).numbers[0].printed == "197"
    with pytest.raises(DataError, match="rows match"):
        collect(results, {**macro, "column": "gap"})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"where": {"model": "z"}}, "macro X, file x.csv, rows where .*z.*: 0 rows"),
        ({"where": {}}, "4 rows match"),
        ({"where": {"model": "c"}}, "missing"),
        ({"where": {"nowhere": 1}}, "no column 'nowhere'"),
        ({"where": {"gap": {"near": 1}}}, "unknown comparison"),
        ({"column": "nowhere"}, "no column"),
        ({"where": {}, "highest": "nowhere"}, "no column"),
        ({"file": "gone.csv"}, "no such file"),
    ],
)
def test_a_failed_selection_is_an_error_or_an_en_dash(
    results: Path, change: dict[str, Any], message: str
) -> None:
    with pytest.raises(DataError, match=message):
        collect(results, {**BASE, **change})
    found = collect(results, {**BASE, **change, "optional": True})
    assert found.numbers[0].printed == "–" and found.numbers[0].value is None
    assert found.to_json()["macros"]["X"]["reason"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name": "X1"}, "letters"),
        ({"format": "nice"}, "unknown format"),
        ({"colum": "ema"}, "unknown key"),
        ({"column": None}, "needed"),
        ({"where": {"model": "$nobody"}}, "no fact 'nobody'"),
    ],
)
def test_wrong_declarations_are_errors(results: Path, change: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        collect(results, {**BASE, **change})


def test_facts_flags_and_sections(results: Path) -> None:
    found = collect(
        results,
        facts=[{"name": "Seed", "fact": "seed", "format": "plain"}],
        flags=[
            {"name": "hasema", "file": "x.csv", "column": "ema"},
            {"name": "haslost", "file": "gone.csv"},
            {"name": "hasc", "file": "x.csv", "where": {"model": "c"}, "column": "ema"},
            {"name": "hasrow", "file": "x.csv", "where": {"model": "c"}},
        ],
    )
    source = found.to_latex()
    assert r"\newcommand{\Seed}{\indexednumber{Seed}{42}}" in source
    assert r"\hasematrue" in source and r"\haslostfalse" in source
    assert r"\hascfalse" in source and r"\hasrowtrue" in source
    with pytest.raises(DataError, match="no fact"):
        collect(results, facts=[{"name": "Seed", "fact": "sed"}])
    with pytest.raises(DataError, match="unknown section"):
        collect(results, numbers=[])
    with pytest.raises(DataError, match="twice"):
        collect(results, BASE, BASE)


def test_the_declaration_must_be_yaml_with_sections(tmp_path: Path) -> None:
    path = tmp_path / "numbers.yaml"
    path.write_text("- a")
    with pytest.raises(DataError, match="sections"):
        numbers.read_declaration(path)
    path.write_text("a: [")
    with pytest.raises(DataError, match="YAML"):
        numbers.read_declaration(path)


@pytest.mark.parametrize("kind", ["full", "embedded"])
def test_all_declared_numbers_of_the_paper_can_be_read(tmp_path: Path, kind: str) -> None:
    params = publishing_frames.params(kind)
    for name, frame in publishing_frames.frames(params).items():
        files.write_csv(tmp_path / "syntaxbench" / "statistics" / f"{name}.csv", frame)
    context = Context.from_params(params)
    labels = {m.key: m.label for m in context.models}
    declaration = numbers.read_declaration(ROOT / "paper" / "numbers" / "syntaxbench.yaml")
    found = numbers.collect(declaration, tmp_path, captions.facts(context), labels)
    missing = {n.name for n in found.numbers if n.value is None}
    thinking = {f"BestThinking{part}" for part in ("Model", "Ema", "Low", "High")}
    assert missing == (thinking if kind == "embedded" else set())
    for flag in ("hastokens", "haspairs", "hasgaps", "hasnonthinkinginterval", "hasedits"):
        assert found.flags[flag], flag
    assert found.flags["hasthinkinginterval"] == (kind == "full")
    assert not found.flags["nonthinkinglow"] and not found.flags["thinkinglow"]


@pytest.mark.parametrize("kind", ["full", "embedded"])
def test_all_declared_numbers_of_tide_can_be_read(tmp_path: Path, kind: str) -> None:
    for name, frame in tide_frames.frames(kind).items():
        files.write_csv(tmp_path / "tide" / "statistics" / f"{name}.csv", frame)
    context = Context.from_params(tide_frames.params(kind))
    labels = {m.key: m.label for m in (*context.models, *context.baselines)}
    declaration = numbers.read_declaration(ROOT / "paper" / "numbers" / "tide.yaml")
    found = numbers.collect(declaration, tmp_path, captions.facts(context), labels)
    assert {n.name: n.reason for n in found.numbers if n.value is None} == {}
    told = ("tideown", "tideshipped", "tideprograms")
    assert {state for name, state in found.flags.items() if name not in told} == {True}
    # What the text says of corpus, pairs and judges follows the configuration, not the run's kind.
    facts = captions.facts(context)
    for name, fact in zip(told, ("own_corpus", "shipped_pairs", "program_judges"), strict=True):
        assert found.flags[name] == bool(facts[fact]), name
    # What says something of the models leaves the baselines out, whose labels are others.
    models = {m.label for m in context.models}
    named = {n.name: n.printed for n in found.numbers if n.name.endswith("Model")}
    assert len(named) == 4
    assert all(set(re.split(" and |, ", label)) <= models for label in named.values()), named


def test_every_macro_of_the_text_is_declared_and_every_declared_one_used() -> None:
    declarations = [numbers.read_declaration(path) for path in (ROOT / "paper/numbers").iterdir()]
    assert len(declarations) >= 2
    declared = {e["name"] for d in declarations for part in ("facts", "macros") for e in d[part]}
    flags = {e["name"] for d in declarations for e in d["flags"]}
    text = "\n".join(p.read_text() for p in sorted((ROOT / "paper").rglob("*.tex")))
    used = set(re.findall(r"\\([A-Z][A-Za-z]+)", text))
    assert used - declared <= {"RunTitle", "RunText", "ResultsDir", "Cram"}
    conditions = {name for d in declarations for e in d["flags"] for name in e.get("at_most", [])}
    conditions |= {str(e["defined"]) for d in declarations for e in d["flags"] if "defined" in e}
    assert declared - used - conditions == set()
    assert flags - set(re.findall(r"\\if([a-z]+)", text)) == set()


def test_no_digit_is_typed_in_the_running_text() -> None:
    for path in sorted((ROOT / "paper" / "sections").glob("*.tex")):
        for number, line in enumerate(path.read_text().splitlines(), start=1):
            prose = re.sub(r"\\cite[pt]?\{[^}]*\}|\\(begin|end|itemsep)\S*|\^2|%.*", "", line)
            assert not re.search(r"\d", prose), f"{path.name}:{number}: {line}"
