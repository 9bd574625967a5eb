"""From a macro back to corpora, model and seed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from scripts.files import DataError, sha256_file
from scripts.publishing import trace
from scripts.publishing.trace import main, read_provenance, sentences, steps

STATISTICS = "results/b/statistics/s.csv"
SCORES = ["results/b/scores/m.parquet", "results/b/scores/n.parquet"]
RESPONSES = [f"results/b/responses/m/{index}.jsonl" for index in range(6)]
MANIFEST = "results/manifests/b/m.json"
ITEMS = "results/b/items.jsonl"
CORPUS, PROMPT = "data/words.txt", "prompts/p.yaml"


def write(path: str, text: str) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(text)


@pytest.fixture
def finished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A folder of results: corpus -> items -> responses (a model) -> scores -> statistics."""
    monkeypatch.chdir(tmp_path)
    jobs = [
        ("compute", [STATISTICS], SCORES, ["1"]),
        ("score", SCORES[:1], [*RESPONSES, ITEMS], ["m"]),
        ("score", SCORES[1:], [ITEMS], ["n"]),
        ("answer", [*RESPONSES, MANIFEST], [ITEMS, PROMPT], ["m"]),
        ("build", [ITEMS], [CORPUS], ["42"]),
    ]
    names = [CORPUS, PROMPT, *(name for _, outputs, _, _ in jobs for name in outputs)]
    for name in names:
        write(name, f"content of {name}")
    model = {"name": "m", "source": "hub/m", "revision": "abc", "precision": "float32"}
    backend = {"name": "transformers", "version": "5"}
    write(MANIFEST, json.dumps({"model": model, "backend": backend, "mode": "thinking"}))
    rows = []
    for rule, outputs, inputs, params in jobs:
        sums = {name: f"sha256:{sha256_file(name)}" for name in inputs}
        record = {"rule": rule, "input": inputs, "params": params, "input_checksums": sums}
        rows += [{"output": o, "sha256": sha256_file(o), "record": record} for o in outputs]
    write("results/provenance.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    entry = {
        "value": 0.5, "printed": "0.500", "file": "b/statistics/s.csv", "rows": [2],
        "column": "ema", "where": {"model": "m"},
    }  # fmt: skip
    missing = {**entry, "value": None, "printed": "–", "rows": [], "reason": "no row matches"}
    given = {**entry, "value": 42, "printed": "42", "file": "configuration", "column": "seed"}
    macros = {"Best": entry, "Seed": given, "Missing": missing}
    write("results/paper/numbers.json", json.dumps({"macros": macros, "flags": {}}))
    write("paper/sections/a.tex", "The best has \\Best{} of all.\n\\BestOther\n")
    return macros


def test_chain_goes_from_the_sentence_to_corpus_model_and_seed(
    finished: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["\\Best"]) == 0
    lines = capsys.readouterr().out.split("\n")
    text = "\n".join(lines)
    assert lines[0].split() == ["\\Best", "printed", "0.500", "value", "0.5"]
    assert "  paper/sections/a.tex, line 1: The best has \\Best{} of all." in lines
    assert "BestOther" not in text
    assert f"  {STATISTICS}, row 2, column ema (model = m)" in lines
    assert "made by (seed 42)" in lines
    rules = [
        line.split()[1]
        for line in lines
        if line.startswith("  ") and line.split()[0][:-1].isdigit()
    ]
    assert rules == ["compute", "score", "score", "answer", "build"]
    assert (
        "model m (hub/m), revision abc, precision float32, transformers (5), "
        f"mode thinking   {MANIFEST}" in text
    )
    raw = lines[lines.index("from files that no rule makes") + 1 :]
    assert [line.split()[0] for line in raw if line] == [CORPUS, PROMPT]
    assert sha256_file(CORPUS)[:12] in raw[0]


def test_of_many_files_some_are_listed_unless_all_are_wanted(
    finished: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    main(["Best"])
    some = capsys.readouterr().out
    assert "results/b/responses/m/ … 3 more files like these" in some
    main(["Best", "--whole"])
    every = capsys.readouterr().out
    assert "more files" not in every
    assert all(name in every for name in RESPONSES)


@pytest.mark.parametrize("changed", [STATISTICS, RESPONSES[5], CORPUS])
def test_changed_file_is_named(
    finished: dict[str, Any], capsys: pytest.CaptureFixture[str], changed: str
) -> None:
    main(["Best"])
    assert "CHANGED" not in capsys.readouterr().out
    write(changed, "something else")
    main(["Best"])
    told = [line for line in capsys.readouterr().out.split("\n") if "CHANGED" in line]
    assert [line.split()[0] for line in told] == [changed]


def test_lost_file_is_named(finished: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    Path(CORPUS).unlink()
    main(["Best"])
    assert f"{CORPUS}   no longer there" in capsys.readouterr().out


def test_number_of_the_configuration_and_number_without_a_value(
    finished: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["Seed"]) == 0
    out = capsys.readouterr().out
    assert "from the configuration of the run: seed" in out
    assert "nowhere in this version of the text" in out
    assert main(["Missing"]) == 0
    assert "  no value: no row matches" in capsys.readouterr().out.split("\n")


def test_a_job_stands_once_at_its_shortest_distance(finished: dict[str, Any]) -> None:
    jobs, raw = steps(STATISTICS, read_provenance(Path("results")))
    assert [(step.depth, step.made.rule) for step in jobs] == [
        (0, "compute"), (1, "score"), (1, "score"), (2, "answer"), (2, "build"),
    ]  # fmt: skip
    assert raw == [CORPUS, PROMPT]


def test_circle_of_records_ends(finished: dict[str, Any]) -> None:
    record = {"rule": "odd", "input": ["results/b"], "params": []}
    row = {"output": "results/b", "sha256": "0", "record": record}
    write("results/provenance.jsonl", json.dumps(row) + "\n")
    jobs, raw = steps("results/b", read_provenance(Path("results")))
    assert [step.made.rule for step in jobs] == ["odd"]
    assert raw == []


def test_macros_of_a_longer_name_are_other_macros(tmp_path: Path) -> None:
    (tmp_path / "a.tex").write_text("\\Best \\Bests \\Best@x \\Best1\n\\BESTS\n")
    assert len(list(sentences("Best", tmp_path))) == 1
    assert list(sentences("Bes", tmp_path)) == []


def test_what_is_wrong_is_said(
    finished: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["Bast"]) == 1
    assert "did you mean Best?" in capsys.readouterr().err
    write("results/provenance.jsonl", '{"output": "x"}\n')
    assert main(["Best"]) == 1
    assert "provenance.jsonl, line 1" in capsys.readouterr().err
    Path("results/provenance.jsonl").unlink()
    with pytest.raises(DataError, match="finish a run first"):
        read_provenance(Path("results"))
    assert main(["Best", "--results", "elsewhere"]) == 1
    assert "elsewhere" in capsys.readouterr().err


def test_a_folder_that_a_rule_made_is_there(tmp_path: Path) -> None:
    assert trace._state(str(tmp_path), "0" * 64) == "a folder"
    assert trace._state(str(tmp_path / "gone"), None) == "no longer there"


def test_a_reader_who_stops_early_is_no_error(finished: dict[str, Any]) -> None:
    root = Path(trace.__file__).parents[2]
    run = subprocess.run(
        [
            "bash",
            "-c",
            f"set -o pipefail; {sys.executable} -m scripts.publishing.trace Best | true",
        ],
        env=os.environ | {"PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (run.returncode, run.stderr) == (0, "")
