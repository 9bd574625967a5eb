"""A fourth benchmark is one folder and one file of rules: from its sums to a page of the paper.

The files are those of docs/examples/benchmark. An archive answers some of the six sums, and the
counting server answers all of them rightly; nothing else of the project is touched.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from scripts.files import read_csv, sha256_file
from scripts.publishing import paper
from tests.workflow.conftest import (
    CountingServer,
    copy_project,
    environment,
    run_snakemake,
)

pytestmark = pytest.mark.workflow

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "benchmark"
ADDED = {p.relative_to(EXAMPLE) for p in EXAMPLE.rglob("*") if p.is_file()}
MADE = ("results", ".snakemake", "logs")
OVERLAY = """
run: {{kind: embedded, benchmarks: [toy]}}
toy: {{models: [scripted, adder], items: 3, digits: [1, 2]}}
models:
  scripted:
    {{label: Scripted, backend: archive, archive: answers.jsonl, source: x, modes: [non_thinking]}}
  adder:
    {{label: Adder, backend: openai, source: adder, revision: '1', precision: float32,
      modes: [non_thinking], base_url: "{url}"}}
"""
# Three sums of one digit and three of two: two right answers, a wrong one, one that cannot be
# read, and two sums that were never asked.
TEXTS = ("{sum}", "It is {sum}.", "{sum}0", "{sum} or 7")


def add(_: str, body: dict[str, Any]) -> str:
    """The right answer to a sum."""
    return str(sum(map(int, re.findall(r"\d+", body["messages"][-1]["content"]))))


def files_of(root: Path) -> dict[Path, str]:
    """Checksums of everything but what a run makes."""
    found = (path.relative_to(root) for path in root.rglob("*") if path.is_file())
    return {
        path: sha256_file(root / path)
        for path in found
        if path.parts[0] not in MADE and "__pycache__" not in path.parts
    }


def tex_is_here() -> bool:
    try:
        paper.require_tex()
    except paper.PaperError:
        return False
    return shutil.which("pdftotext") is not None


class Toy:
    """A project with the example, before and after its run."""

    def __init__(self, root: Path, server: CountingServer) -> None:
        self.root, self.server = copy_project(root), server
        self.before = files_of(self.root)
        shutil.copytree(EXAMPLE, self.root, dirs_exist_ok=True)
        (self.root / "overlay.yaml").write_text(OVERLAY.format(url=server.url))

    def run(self, *arguments: str) -> str:
        given = (*arguments, "--cores", "2", "--configfile", "overlay.yaml")
        finished = run_snakemake(self.root, *given)
        assert finished.returncode == 0, finished.stdout
        return finished.stdout

    def result(self, name: str) -> Path:
        return self.root / "results" / name

    def table(self, name: str) -> pd.DataFrame:
        return read_csv(self.result(name))


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory, server: CountingServer) -> Toy:
    project = Toy(tmp_path_factory.mktemp("toy") / "project", server)
    server.replies["adder"] = add
    project.run("results/toy/requests.jsonl")
    lines = project.result("toy/items.jsonl").read_text().splitlines()
    items = [json.loads(line) for line in lines]
    answers = [
        {"item_id": item["item_id"], "setting": {"shots": 0}, "text": text}
        for item, form in zip(items, TEXTS, strict=False)
        for text in [form.format(sum=item["gold"]["answer"])]
    ]
    text = "".join(json.dumps(answer) + "\n" for answer in answers)
    (project.root / "answers.jsonl").write_text(text)
    project.run(*(["all"] if tex_is_here() else ["artefacts"]))
    return project


def test_nothing_that_is_shared_was_touched(toy: Toy) -> None:
    after = files_of(toy.root)
    assert {path: after[path] for path in toy.before} == toy.before
    own = {Path("overlay.yaml"), Path("answers.jsonl")}
    assert set(after) - set(toy.before) == ADDED | own
    allowed = re.compile(r"scripts/toy/\w+\.(py|yaml|tex)|rules/toy\.smk|config/toy\.yaml")
    assert all(allowed.fullmatch(path.as_posix()) for path in ADDED), ADDED


def test_answers_are_scored_as_they_should(toy: Toy) -> None:
    found = toy.table("toy/statistics/accuracy.csv").set_index(["model", "digits"])
    counts = {key: tuple(row) for key, row in found[["n", "correct"]].iterrows()}
    assert counts == {
        ("adder", "1"): (3, 3),
        ("adder", "2"): (3, 3),
        ("adder", "all"): (6, 6),
        ("scripted", "1"): (3, 2),
        ("scripted", "2"): (1, 0),
        ("scripted", "all"): (4, 2),
    }
    assert found.loc[("scripted", "all"), "accuracy"] == 0.5
    scores = pd.read_parquet(toy.result("toy/scores.parquet"))
    assert len(scores) == 12 and scores["correct"].isna().sum() == 2
    assert toy.server.asked["adder"] == 6


def test_its_models_stand_in_its_table_and_in_the_one_that_all_share(toy: Toy) -> None:
    table = toy.table("toy/tables/accuracy.csv").set_index("model")
    assert table["all_printed"].to_dict() == {
        "Scripted": table.loc["Scripted", "all_printed"],
        "Adder": "100.0 [100.0, 100.0]",
    }
    assert table.loc["Scripted", "all_printed"].startswith("50.0 [")
    roster = toy.table("paper/roster.csv").set_index("model")
    assert roster["toy"].to_dict() == {"Scripted": True, "Adder": True}
    assert "tide" not in roster and ">Toy<" in toy.result("paper/roster.html").read_text()


def test_the_paper_has_its_section_and_its_numbers(toy: Toy) -> None:
    numbers = json.loads(toy.result("paper/numbers.json").read_text())["macros"]
    printed = {name: entry["printed"] for name, entry in numbers.items()}
    assert printed == {
        "ToyModels": "two models",
        "ToyItems": "6",
        "ToyBest": "100.0",
        "ToyBestModel": "Adder",
    }
    setup = toy.result("paper/setup.tex").read_text()
    assert r"\toytrue" in setup and r"\tidefalse" in setup and r"\sharedaxisfalse" in setup
    assert r"benchmarkparts@section\endcsname{\input{scripts/toy/section}}" in setup
    index = toy.table("paper/index.csv").to_csv()
    assert "toy/tables/accuracy.csv" in index and "ToyBest" in index


def test_what_it_does_not_bring_is_left_out(toy: Toy) -> None:
    """No findings, no published figures, nothing to explore: the pages are there all the same."""
    claims = json.loads(toy.result("paper/claims.json").read_text())
    assert "toy" not in json.dumps(claims)
    assert toy.result("explorer.html").is_file()
    assert not list(toy.result("reproduction").glob("*.csv"))
    assert not toy.result("paper/shared_axis.tex").exists()


@pytest.mark.tex
@pytest.mark.skipif(not tex_is_here(), reason="needs xelatex and pdftotext")
def test_the_paper_is_printed(toy: Toy) -> None:
    run = subprocess.run(
        ["pdftotext", toy.result("paper/paper.pdf"), "-"], capture_output=True, check=True
    )
    text = " ".join(run.stdout.decode().split())
    assert "The toy benchmark asks two models for 6 sums. The highest accuracy is 100.0 %" in text
    assert "Toy: sums" in text and "SyntaxBench" not in text and "??" not in text


def test_a_second_run_does_nothing_and_beside_the_others_it_is_planned(toy: Toy) -> None:
    assert "Nothing to be done" in toy.run("artefacts", "--dry-run")
    alone = toy.root / "beside.yaml"
    names = "[syntaxbench, multitempbench, tide, toy]"
    alone.write_text(f"run: {{benchmarks: {names}, results: results/beside}}\n")
    given = ["all", "--cores", "1", "--dry-run", "--configfile"]
    finished = run_snakemake(toy.root, *given, "config/embedded.yaml", "beside.yaml")
    alone.unlink()
    assert finished.returncode == 0, finished.stdout
    ran = set(re.findall(r"^rule ([a-z]+)_run_model:", finished.stdout, re.M))
    assert ran == {"syntaxbench", "multitempbench", "tide", "toy"}


def test_a_mistake_in_its_section_is_told_with_its_place(toy: Toy) -> None:
    overlay = toy.root / "mistake.yaml"
    overlay.write_text("run: {benchmarks: [toy]}\ntoy:\n  itemz: 3\n  models: [adderr]\n")
    finished = run_snakemake(toy.root, "--dry-run", "--configfile", "mistake.yaml")
    assert finished.returncode != 0
    assert "toy.itemz: unknown key; did you mean 'items'?" in finished.stdout
    assert "(mistake.yaml, line 3)" in finished.stdout
    overlay.write_text("run: {benchmarks: [toyy]}\n")
    command = [sys.executable, "-m", "scripts.workflow.check", "--configfile", "mistake.yaml"]
    checked = subprocess.run(
        command, cwd=toy.root, env=environment(), capture_output=True, text=True, check=False
    )
    overlay.unlink()
    assert checked.returncode == 1
    assert "run.benchmarks.0: 'toyy' is not allowed; did you mean 'toy'?" in checked.stderr
    assert "allowed: 'multitempbench', 'syntaxbench', 'tide', 'toy'" in checked.stderr


def test_its_rules_are_as_tidy_as_the_others(toy: Toy) -> None:
    finished = run_snakemake(toy.root, "--lint", "--configfile", "overlay.yaml")
    assert finished.returncode == 0 and "in a good condition" in finished.stdout, finished.stdout
