"""One run of a checkout at a time: by `make` or by Snakemake alone, here or on another machine."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from scripts.machine.locks import holder
from scripts.workflow import checkout as module
from scripts.workflow.checkout import CheckoutError, hold
from tests.workflow.conftest import CountingServer, Project, environment

pytestmark = pytest.mark.workflow


def begin(project: Project, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*words, *project.command()],
        cwd=project.root,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


@pytest.fixture
def busy(
    built: Project, tmp_path: Path, server: CountingServer
) -> Iterator[tuple[Project, subprocess.Popen[str]]]:
    """A run that was called directly and waits for its answers."""
    project = built.fresh(tmp_path / "busy")
    server.asked.clear()
    server.delays["first"] = 5.0
    run = begin(project)
    try:
        deadline = time.monotonic() + 240
        while not (project.root / "results" / "store").is_dir():
            assert time.monotonic() < deadline and run.poll() is None
            time.sleep(0.1)
        yield project, run
    finally:
        if run.poll() is None:
            os.killpg(run.pid, signal.SIGKILL)
            run.communicate()
        server.delays.clear()


def test_a_live_run_is_left_alone_and_a_killed_one_cleared_up(
    busy: tuple[Project, subprocess.Popen[str]], server: CountingServer
) -> None:
    project, run = busy
    lock = project.root / ".snakemake" / "running.lock"
    assert f"process {run.pid} on " in str(holder(lock))
    # With make: told who runs; the lock of a run that lives is not cleared.
    second = begin(project, "envs/exclusively.sh")
    said, _ = second.communicate(timeout=240)
    assert second.returncode == 1
    assert f"process {run.pid} on " in said and "clearing" not in said
    # Called directly: Snakemake's own lock.
    project.run(fails=True)
    assert "LockException" in project.output and "--unlock" in project.output
    os.killpg(run.pid, signal.SIGKILL)
    run.communicate()
    server.delays.clear()
    # Snakemake alone cannot know that the run was killed; with make it is cleared up.
    project.run(fails=True)
    assert "--unlock" in project.output
    third = begin(project, "envs/exclusively.sh")
    said, _ = third.communicate(timeout=600)
    assert third.returncode == 0, said
    assert "clearing the lock of a run that was killed" in said
    assert lock.read_bytes() == b""


def test_a_run_on_another_machine_is_respected(project: Project) -> None:
    """Its kernel lock and Snakemake's may not be seen here, its record is; it is renewed."""
    lock = project.root / ".snakemake" / "running.lock"
    row = {
        **{"host": "node07", "machine": "another kernel", "process": 4711, "user": "alice"},
        **{"purpose": "snakemake all", "started": "2026-12-04 09:12:33 UTC", "token": "0" * 16},
    }
    lock.write_text(json.dumps(row))
    (project.root / "results" / "syntaxbench" / "statistics" / "cells.csv").unlink()
    run = begin(project)
    while run.poll() is None:
        os.utime(lock)
        time.sleep(0.2)
    said, _ = run.communicate()
    assert run.returncode != 0
    assert "another run is active here" in said and "user alice, process 4711 on node07" in said
    assert not re.search(r"^rule ", said, re.M)
    # A dry run asks nobody.
    assert project.plan()


def test_who_holds_the_lock_for_snakemake_keeps_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    releases: list[object] = []
    monkeypatch.setattr(module.atexit, "register", releases.append)
    monkeypatch.setenv(module.HELD_BY_CALLER, "1")
    hold(tmp_path)
    assert not (tmp_path / "running.lock").exists()
    monkeypatch.delenv(module.HELD_BY_CALLER)
    hold(tmp_path, ["/usr/bin/snakemake", "--cores", "2"])
    with pytest.raises(
        CheckoutError, match=r"another run is active here: .*: snakemake --cores 2;"
    ):
        hold(tmp_path)
    (release,) = releases
    release()  # type: ignore[operator]
    assert holder(tmp_path / "running.lock") is None
