"""A whole run that is killed, wholly or in part, is taken up again with the same command."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from scripts.inference.store_commands import compact
from tests.workflow.conftest import CountingServer, Project, environment

pytestmark = pytest.mark.workflow
LIMIT_S = 300.0


def begin(project: Project) -> subprocess.Popen[str]:
    """Start the run as `make` does, in a process group of its own."""
    return subprocess.Popen(
        ["envs/exclusively.sh", *project.command()],
        cwd=project.root,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def finish(project: Project) -> str:
    """The same command again, to its end."""
    said, _ = (run := begin(project)).communicate(timeout=2 * LIMIT_S)
    assert run.returncode == 0, said
    return said


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + LIMIT_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def store_of(project: Project) -> Path:
    return project.root / "results/store/syntaxbench/first/non_thinking.jsonl"


def stored(project: Project) -> int:
    path = store_of(project)
    return path.read_bytes().count(b"\n") if path.is_file() else 0


def text_of(path: Path) -> str:
    """What stands in a log; Snakemake removes it before a job."""
    with suppress(FileNotFoundError):
        return path.read_text(errors="replace")
    return ""


def descendants(process: int) -> list[psutil.Process]:
    return psutil.Process(process).children(recursive=True)


def kill_group(run: subprocess.Popen[str], number: int = signal.SIGKILL) -> None:
    """The signal to all processes of the run, wherever they stand; wait until they are gone."""
    family = [psutil.Process(run.pid), *descendants(run.pid)]
    os.killpg(run.pid, number)
    run.communicate()
    _, left = psutil.wait_procs(family, timeout=60)
    assert not left


def same_as_undisturbed(project: Project, built: Project) -> None:
    assert project.contents() == built.contents()
    whole = store_of(built).read_bytes()
    compact(store_of(project))
    assert store_of(project).read_bytes() == whole


@pytest.fixture
def fresh(built: Project, tmp_path: Path, server: CountingServer) -> Project:
    """The tiny matrix before its first run, with a model that takes its time."""
    project = built.fresh(tmp_path / "killed")
    server.asked.clear()
    server.prompts.clear()
    server.delays["first"] = 0.15
    return project


MOMENTS: dict[str, Callable[[Project], bool]] = {
    "building": lambda p: any((p.root / "results/syntaxbench").rglob("items/*.jsonl")),
    "answering": lambda p: stored(p) >= 5,
    "after the answers": lambda p: (
        p.root / "results/manifests/syntaxbench/first.non_thinking.json"
    ).is_file(),
}


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM], ids=["kill", "terminate"])
def test_all_processes_are_stopped(
    fresh: Project, built: Project, server: CountingServer, moment: str, number: int
) -> None:
    run = begin(fresh)
    until(lambda: MOMENTS[moment](fresh) or run.poll() is not None)
    assert run.poll() is None
    kill_group(run, number)
    before = Counter(server.asked)
    kept = stored(fresh)
    finish(fresh)
    # At most the answer in flight was asked for twice.
    asked = Counter(server.asked)
    assert sum(asked.values()) - kept in (
        sum(built.first_asked.values()) - kept,
        sum(built.first_asked.values()) - kept + 1,
    )
    assert sum(before.values()) - kept in (0, 1)
    same_as_undisturbed(fresh, built)


def test_only_snakemake_is_killed_and_its_job_lives_on(
    fresh: Project, built: Project, server: CountingServer
) -> None:
    """The next run waits for the job that still writes the store, and asks nothing again."""
    log = fresh.root / "results/logs/syntaxbench/run_model/first.non_thinking.log"
    run = begin(fresh)
    until(lambda: stored(fresh) >= 3)
    server.delays["first"] = 3.0
    orphans = descendants(run.pid)
    os.kill(run.pid, signal.SIGKILL)
    run.wait()
    second = begin(fresh)
    until(lambda: "waiting for" in text_of(log) or second.poll() is not None)
    assert second.poll() is None
    assert any(orphan.is_running() for orphan in orphans)
    assert stored(fresh) < sum(built.first_asked.values())
    server.delays.clear()
    said, _ = second.communicate(timeout=2 * LIMIT_S)
    assert second.returncode == 0, said
    assert "clearing the lock of a run that was killed" in said
    assert server.asked == built.first_asked
    assert max(server.prompts.values()) == 1
    same_as_undisturbed(fresh, built)
    psutil.wait_procs(orphans, timeout=60)
