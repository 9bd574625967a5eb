"""A release replayed on a second clone: no model is asked, and every byte is the same."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from scripts.publishing.paper import PaperError, require_tex
from tests.workflow.conftest import Project, environment

pytestmark = pytest.mark.workflow

RELEASE = "results/release.tar.gz"
# One table, and a paper of a page: what the other tests have of SyntaxBench is made by the hundred.
FEW = """
ARTEFACTS["syntaxbench"] = [f"{SB_FOLDER}/tables/leaderboard_nonthinking.tex"]
DATASETS["syntaxbench"] = []
"""
PAPER = r"""\documentclass{article}
\usepackage{tokensandtime}
\input{setup}
\input{numbers}
\begin{document}
\RunTitle
\papertable{roster}
\resulttable{syntaxbench}{leaderboard_nonthinking}
\end{document}
"""


def release(project: Project, *arguments: str) -> str:
    """What a command of the release prints in a checkout."""
    finished = subprocess.run(
        [sys.executable, "-m", "scripts.workflow.release", *arguments],
        cwd=project.root,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert finished.returncode == 0, finished.stdout + finished.stderr
    return finished.stdout


def shorten(project: Project) -> None:
    """Leave little to build behind the scores: this is about the same bytes, not about tables."""
    rules = project.root / "rules" / "syntaxbench.smk"
    rules.write_text(rules.read_text() + FEW)
    (project.root / "paper" / "main.tex").write_text(PAPER)
    project.targets = ("all",)


def test_a_second_clone_makes_the_same_pdf(project: Project, tmp_path: Path) -> None:
    try:
        require_tex()
    except PaperError as error:
        pytest.skip(str(error))
    shorten(project)
    project.run()
    release(project, "build")

    second = project.fresh(tmp_path / "second")
    second.targets = ("all",)
    project.asked()
    overlays = release(second, "unpack", str(project.root / RELEASE)).split()
    ran = second.run("--configfile", *overlays)
    assert not second.asked()
    assert {"syntaxbench_build_items", "syntaxbench_run_model", "compile_paper"} <= set(ran)
    compared = release(second, "compare", "--configfile", *overlays)
    assert "every file has the same bytes" in compared
    for name in ("paper/paper.pdf", "syntaxbench/scores.parquet", "paper/roster.csv"):
        mine, theirs = (p.root / "results" / name for p in (second, project))
        assert mine.read_bytes() == theirs.read_bytes(), name
