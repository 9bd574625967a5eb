"""Which rule makes a file is read from the rules, wildcards and input functions included."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.workflow.conftest import ROOT, environment

SNAKEFILE = """
import json

from scripts.workflow.producers import origins


def origins_of_all(wildcards, input):
    found = origins(workflow, ["raw.txt", "out/a.csv", "out/table.tex"])
    Path("origins.json").write_text(json.dumps(found))
    return found


rule all:
    input: "out/table.tex"
    params: origins=origins_of_all

rule statistics:
    input: lambda wildcards: [f"{wildcards.name}.in", "raw.txt"]
    output: "out/{name}.csv"
    shell: "touch {output}"

rule table:
    input: x="out/a.csv"
    output: tex="out/table.tex", html="out/table.html"
    shell: "touch {output}"
"""


def test_rule_and_inputs_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "Snakefile").write_text("from pathlib import Path\n" + SNAKEFILE)
    for name in ("raw.txt", "a.in"):
        (tmp_path / name).touch()
    run = subprocess.run(
        [sys.executable, "-m", "snakemake", "-n", "--cores", "1"],
        cwd=tmp_path,
        env=environment() | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert json.loads((tmp_path / "origins.json").read_text()) == {
        "out/a.csv": {"rule": "statistics", "inputs": ["a.in", "raw.txt"]},
        "out/table.tex": {"rule": "table", "inputs": ["out/a.csv"]},
    }
