"""A change rebuilds what depends on it and nothing else; no answer is generated twice."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
import yaml

from tests.workflow.conftest import CountingServer, Project, environment
from tests.workflow.model_tables import assert_in_every_table

pytestmark = pytest.mark.workflow

# (3 + 3) counting and (4 + 4) letter items, each with 0 and 1 demonstrations.
COUNT_REQUESTS, LETTER_REQUESTS = 12, 16


def test_first_run_asks_every_request_once(built: Project) -> None:
    assert built.first_asked == {"first": COUNT_REQUESTS + LETTER_REQUESTS}


def test_unchanged_project_runs_no_job(project: Project) -> None:
    assert project.plan() == []


def test_touching_files_reruns_nothing(project: Project) -> None:
    for folder in ("scripts", "data", "config", "rules"):
        for path in (project.root / folder).rglob("*"):
            os.utime(path)
    assert project.plan() == []


def test_reordering_the_configuration_reruns_nothing(project: Project) -> None:
    def reverse(value: object) -> object:
        if isinstance(value, dict):
            return {key: reverse(value[key]) for key in reversed(list(value))}
        return value

    path = project.root / "config.yaml"
    path.write_text(yaml.safe_dump(reverse(yaml.safe_load(path.read_text())), sort_keys=False))
    assert project.plan() == []


def test_clone_with_results_runs_no_job(project: Project, tmp_path: Path) -> None:
    clone = project.copy(tmp_path / "clone")
    assert clone.plan() == []
    assert clone.asked() == {}


def test_clone_with_results_still_sees_a_change(project: Project, tmp_path: Path) -> None:
    clone = project.copy(tmp_path / "clone")
    clone.edit_config(lambda c: c["syntaxbench"]["statistics"].update(resamples=201))
    assert set(clone.plan()) == {
        "syntaxbench_compute_statistics",
        "syntaxbench_compute_readings",
        "syntaxbench_analyse_tokenisation",
    }


def test_clone_with_a_damaged_result_builds_it_again(project: Project, tmp_path: Path) -> None:
    clone = project.copy(tmp_path / "clone")
    path = clone.root / "results" / "syntaxbench" / "statistics" / "cells.csv"
    path.write_text(path.read_text().replace("count_chars", "count_char5"))
    ran = {"syntaxbench_compute_statistics", "syntaxbench_compute_readings"}
    assert set(clone.run()) == ran
    aside = path.with_name("cells.csv.differs")
    assert "count_char5" in aside.read_text()
    aside.unlink()
    assert clone.contents() == project.contents()


def test_adding_a_model_generates_only_its_answers(project: Project) -> None:
    before, overlay = project.contents(), project.add_model("second")
    ran = project.run("--configfile", overlay)
    assert project.asked() == {"second": COUNT_REQUESTS + LETTER_REQUESTS}
    assert ran.count("syntaxbench_run_model") == 1
    assert not {"syntaxbench_build_items", "syntaxbench_build_requests"} & set(ran)
    after = project.contents()
    kept = [name for name in before if name.startswith(("items", "requests", "responses/first"))]
    assert kept and all(before[name] == after[name] for name in kept)
    assert_in_every_table(project, overlay, "second", at_least=15)


def test_editing_a_prompt_generates_only_its_task(project: Project) -> None:
    path = "scripts/syntaxbench/prompts/count_chars.yaml"
    project.edit(path, "system:", "system: &edited")
    assert project.plan().count("syntaxbench_build_requests") == 1
    text = (project.root / path).read_text().replace("system: &edited", "system:")
    (project.root / path).write_text(text.replace("JSON", "strict JSON", 1))
    ran = project.run()
    assert ran.count("syntaxbench_build_requests") == 1
    assert project.asked() == {"first": COUNT_REQUESTS}


def test_editing_statistics_runs_no_inference(project: Project) -> None:
    path = project.root / "scripts" / "statistics" / "bootstrap.py"
    path.write_text(path.read_text() + "\n\nADDED = 1\n")
    planned = set(project.plan())
    assert "syntaxbench_compute_statistics" in planned
    assert not planned & {
        "syntaxbench_build_items",
        "syntaxbench_build_requests",
        "syntaxbench_run_model",
        "syntaxbench_score_responses",
    }


def test_editing_a_comment_reruns_nothing(project: Project) -> None:
    path = project.root / "scripts" / "statistics" / "bootstrap.py"
    path.write_text(path.read_text() + "\n# a remark\n")
    assert project.plan() == []


def test_editing_another_backend_concerns_no_one(project: Project) -> None:
    path = project.root / "scripts" / "inference" / "backends" / "vllm_offline.py"
    path.write_text(path.read_text() + "\n\nADDED = 1\n")
    assert project.plan() == []


def test_more_items_generate_only_the_new_ones(project: Project) -> None:
    project.edit_config(lambda c: c["syntaxbench"]["tasks"]["count_chars"].update(items=4))
    project.run()
    # One more English and one more random item, each with 0 and 1 demonstrations.
    assert project.asked() == {"first": 4}


def test_killed_inference_resumes(built: Project, tmp_path: Path, server: CountingServer) -> None:
    project = built.fresh(tmp_path / "killed")
    server.asked.clear()
    server.delays["first"] = 0.2
    process = subprocess.Popen(
        project.command(),
        cwd=project.root,
        env=environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        deadline = time.time() + 120
        while sum(server.asked.values()) < 10 and time.time() < deadline:
            time.sleep(0.05)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    time.sleep(0.5)
    before = sum(server.asked.values())
    store = next((project.root / "results" / "store").rglob("*.jsonl"))
    stored = store.read_bytes().count(b"\n")
    assert 0 < stored < COUNT_REQUESTS + LETTER_REQUESTS
    server.delays.clear()
    server.asked.clear()
    project.run("--unlock")
    project.run()
    assert sum(server.asked.values()) == COUNT_REQUESTS + LETTER_REQUESTS - stored
    assert before - stored <= 1  # at most the request in flight was asked twice
    mine, theirs = project.contents(), built.contents()
    assert mine == theirs
