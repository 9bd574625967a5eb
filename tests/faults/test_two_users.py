"""Two users, on one machine or on two whose locks do not reach each other: nothing is lost or
stored twice, whoever is killed, suspended or turned away."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from scripts.inference.store import ResponseStore, StoreError, decode_line
from scripts.machine import locks
from scripts.machine.locks import Lock, Pace

# One user's run: answers what the store lacks, a batch at a time, and closes it in between.
WORKER = """
import random, sys, time
from pathlib import Path
from scripts.inference import store as module
from scripts.inference.store import ResponseStore, StoreError
from scripts.machine import locks
from scripts.records import Response

path, machine, count, batches, pause = Path(sys.argv[1]), sys.argv[2], *map(float, sys.argv[3:6])
print("ready", flush=True)
sys.stdin.readline()
module.PATIENCE_S = 0.0
if machine:
    locks.PACE = locks.Pace(beat=0.3, silence=6.0, watch=2.0, settle=0.3, glance=0.0)
    locks.this_machine = lambda: (machine, "kernel of " + machine)
    locks._flock = lambda descriptor, operation: None
    locks.on_network = lambda path: True

def response(number):
    return Response(f"r{number}", "i", "m", "non_thinking", text=str(number), finish_reason="stop",
                    usage={}, backend="x", backend_version="1", attempts=1)

keys = [f"{number:064x}" for number in range(int(count))]
refused = 0
while True:
    try:
        with ResponseStore(path) as store:
            for _ in range(int(batches)):
                missing = [n for n, key in enumerate(keys) if store.good(key) is None]
                if not missing:
                    print("refused", refused, flush=True)
                    sys.exit(0)
                store.append([(keys[n], response(n)) for n in missing[:3]])
                print("stored", flush=True)
                time.sleep(pause)
        time.sleep(random.uniform(0, 0.05))
    except StoreError as error:
        refused += 1
        print(error, file=sys.stderr, flush=True)
        if "lost the lock" in str(error):
            sys.exit(3)
        assert "another run is writing this store (user " in str(error), error
        time.sleep(0.02)
"""
COUNT = 60


class Users:
    """Their processes, killed at the end."""

    def __init__(self, path: Path, repository: Path) -> None:
        self.path = path
        self.repository = repository
        self.processes: list[subprocess.Popen[str]] = []

    def start(
        self,
        machine: str = "",
        count: int = COUNT,
        batches: int = 1,
        pause: float = 0.0,
        go: bool = True,
    ) -> subprocess.Popen[str]:
        words = [str(self.path), machine, str(count), str(batches), str(pause)]
        process = subprocess.Popen(
            [sys.executable, "-c", WORKER, *words],
            cwd=self.repository,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        if go:
            begin(process)
        self.processes.append(process)
        return process

    def keys(self) -> Counter[str]:
        """Lines of the store by key; every line is whole and good."""
        lines = self.path.read_bytes().split(b"\n")
        assert lines.pop() == b""
        return Counter(decode_line(line)[0] for line in lines)


def begin(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("go\n")
    process.stdin.flush()


@pytest.fixture
def users(tmp_path: Path, repository: Path) -> Iterator[Users]:
    started = Users(tmp_path / "store" / "smollm2" / "non_thinking.jsonl", repository)
    yield started
    for process in started.processes:
        process.kill()
        process.communicate()


def finish(process: subprocess.Popen[str]) -> tuple[int, str]:
    _, said = process.communicate(timeout=240)
    return process.returncode, said


@pytest.mark.parametrize("machines", [("", ""), ("node03", "node07")], ids=["one", "two"])
def test_two_runs_take_turns_at_one_store(users: Users, machines: tuple[str, str]) -> None:
    count = 150 if not machines[0] else 15
    runs = [users.start(machine, count, go=False) for machine in machines]
    for run in runs:
        begin(run)
    stored = []
    for run in runs:
        out, said = run.communicate(timeout=240)
        assert run.returncode == 0, said
        stored.append(out.count("stored"))
    assert users.keys() == {f"{number:064x}": 1 for number in range(count)}
    assert sum(stored) == count / 3
    assert machines[0] or all(stored)


def test_a_run_that_is_killed_leaves_the_store_to_the_other(users: Users) -> None:
    first = users.start(batches=1000, pause=0.05)
    assert first.stdout is not None
    assert first.stdout.readline() == "stored\n"
    second = users.start(batches=1000)
    assert second.stderr is not None
    turned_away = second.stderr.readline()
    assert f"process {first.pid} on " in turned_away
    assert "smollm2 non_thinking" in turned_away
    first.kill()
    status, said = finish(second)
    assert status == 0, said
    assert users.keys() == {f"{number:064x}": 1 for number in range(COUNT)}


def test_a_run_that_was_suspended_stores_nothing_more(users: Users) -> None:
    """A laptop is closed while it writes; elsewhere the run is taken up; then it is opened."""
    first = users.start("laptop", batches=1000, pause=0.5)
    assert first.stdout is not None
    assert first.stdout.readline() == "stored\n"
    first.send_signal(signal.SIGSTOP)
    second = users.start("node07", batches=1000)
    status, said = finish(second)
    assert status == 0, said
    assert "taken over from user" in said and "on laptop" in said
    whole = users.keys()
    first.send_signal(signal.SIGCONT)
    status, said = finish(first)
    assert (status, users.keys()) == (3, whole)
    assert "has lost the lock" in said
    assert whole == {f"{number:064x}": 1 for number in range(COUNT)}


def test_a_live_run_on_another_machine_is_left_alone(users: Users) -> None:
    first = users.start("node03", batches=1000, pause=0.2)
    assert first.stdout is not None
    assert first.stdout.readline() == "stored\n"
    second = users.start("node07", batches=1000)
    assert second.stderr is not None
    assert "on node03, since " in second.stderr.readline()
    for run in (first, second):
        status, said = finish(run)
        assert status == 0, said
    assert users.keys() == {f"{number:064x}": 1 for number in range(COUNT)}


def test_a_store_that_may_not_be_locked_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read_only(path: Path, shared: bool = False) -> int:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(locks, "open_lock_file", read_only)
    with pytest.raises(StoreError, match=r"\.jsonl\.lock: .*read-only; use another folder"):
        ResponseStore(tmp_path / "m.jsonl").__enter__()


# ---- one checkout ----

SNAKEMAKE = """#!/bin/sh
echo "run $*" >>log
if [ "$2" = --unlock ]; then rm -f .snakemake/locks/*; exit 0; fi
echo ready
exec sleep "$1"
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    (tmp_path / "snakemake").write_text(SNAKEMAKE)
    (tmp_path / "snakemake").chmod(0o755)
    return tmp_path


def exclusively(repository: Path, checkout: Path, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [str(repository / "envs" / "exclusively.sh"), *words],
        cwd=checkout,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
    )


def started(process: subprocess.Popen[str]) -> subprocess.Popen[str]:
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def eventually(met: Callable[[], bool]) -> bool:
    end = time.monotonic() + 60
    while not met() and time.monotonic() < end:
        time.sleep(0.05)
    return met()


def test_a_checkout_has_one_run_and_a_killed_one_is_cleared_up(
    checkout: Path, repository: Path
) -> None:
    first = started(exclusively(repository, checkout, "./snakemake", "600"))
    try:
        _, said = (second := exclusively(repository, checkout, "./snakemake", "0")).communicate()
        assert second.returncode == 1
        assert f"process {first.pid} on " in said and "./snakemake 600" in said
        assert (checkout / "log").read_text() == "run 600\n"
        stale = checkout / ".snakemake" / "locks" / "0.input.lock"
        stale.parent.mkdir()
        stale.touch()
    finally:
        first.kill()
        first.communicate()
    third = exclusively(repository, checkout, "./snakemake", "0")
    out, said = third.communicate()
    assert (third.returncode, out) == (0, "ready\n")
    assert said == "clearing the lock of a run that was killed\n"
    assert (checkout / "log").read_text() == "run 600\nrun 0 --unlock\nrun 0\n"
    assert not stale.exists()


def test_a_checkout_in_use_on_another_machine_is_left_alone(
    checkout: Path, repository: Path
) -> None:
    """The other machine's kernel lock is not seen here; its record is, and it is renewed."""
    path = checkout / ".snakemake" / "running.lock"
    path.parent.mkdir()
    row = {
        **{"host": "node07", "machine": "another kernel", "process": 4711, "user": "alice"},
        **{"purpose": "snakemake all", "started": "2026-12-04 09:12:33 UTC", "token": "0" * 16},
    }
    path.write_text(json.dumps(row))
    second = exclusively(repository, checkout, "./snakemake", "0")
    while second.poll() is None:
        time.sleep(0.2)
        os.utime(path)
    _, said = second.communicate()
    assert second.returncode == 1
    expected = "user alice, process 4711 on node07, since 2026-12-04 09:12:33 UTC: snakemake all"
    assert expected in said
    assert not (checkout / "log").exists()


def test_a_run_passes_signals_status_and_the_callers_path_on(
    checkout: Path, repository: Path
) -> None:
    run = started(exclusively(repository, checkout, "./snakemake", "600"))
    run.send_signal(signal.SIGINT)
    run.communicate(timeout=60)
    assert run.returncode == -signal.SIGINT
    lock = checkout / ".snakemake" / "running.lock"
    assert eventually(lambda: lock.read_bytes() == b"")
    script = checkout / "status"
    script.write_text('#!/bin/sh\necho "$PYTHONPATH"\nexit 9\n')
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    process = subprocess.run(
        [str(repository / "envs" / "exclusively.sh"), "./status"],
        cwd=checkout,
        env={**os.environ, "PYTHONPATH": "/own/path"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (process.returncode, process.stdout) == (9, f"{repository}:/own/path\n")


def test_the_lock_of_a_checkout_ends_with_the_last_of_its_processes(
    checkout: Path, repository: Path
) -> None:
    """A killed Snakemake may leave a job behind that still writes: the next run waits for it."""
    (checkout / "snakemake").write_text("#!/bin/sh\nsleep 3 >/dev/null 2>&1 &\necho ready\nwait\n")
    run = started(exclusively(repository, checkout, "./snakemake"))
    run.kill()
    run.wait()
    lock = checkout / ".snakemake" / "running.lock"
    assert locks.holder(lock, Pace(glance=0.0)) is not None
    with Lock(lock, "x", wait=60):
        pass
