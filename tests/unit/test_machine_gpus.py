"""Devices are lent to one job at a time, on whatever name they go; a dead job holds none."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from scripts.machine import gpus
from scripts.machine.gpus import TooFewGpusError, lease, leased, present
from scripts.machine.locks import LockError
from tests.gpu_machine import GpuMachine, assert_never_shared, uuid

VARIABLES = (
    *("CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"),
    "SLURM_JOB_ID",
)


@pytest.fixture(autouse=True)
def _fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    monkeypatch.setenv(gpus.FOLDER_VARIABLE, str(tmp_path / "machine" / "leases"))
    gpus._listing.cache_clear()
    yield
    gpus._listing.cache_clear()


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GpuMachine:
    """A machine with four GPUs."""
    made = GpuMachine(tmp_path / "machine", 4)
    monkeypatch.setenv("PATH", str(made.tools))
    return made


HOLD = """
import json, os, sys, time
from scripts.machine import gpus
count, seconds = int(sys.argv[1]), float(sys.argv[2])
if len(sys.argv) > 3:
    gpus.KEEP, gpus._POLL = float(sys.argv[3]), 0.05
with gpus.lease(count, "rule model") as names:
    visible = os.environ["CUDA_VISIBLE_DEVICES"]
    assert visible == ",".join(names)
    begin = {"process": os.getpid(), "time": time.monotonic(), "event": "begin", "model": "m"}
    print(json.dumps({**begin, "devices": visible}), flush=True)
    time.sleep(seconds)
    print(json.dumps({**begin, "time": time.monotonic(), "event": "end"}), flush=True)
"""


def holding(
    repository: Path, count: int, seconds: float = 600, *keep: float, **environment: str
) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", HOLD, str(count), str(seconds), *map(str, keep)],
        cwd=repository,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    )


def given(process: subprocess.Popen[str]) -> str:
    """The devices that another process was lent."""
    assert process.stdout is not None
    return str(json.loads(process.stdout.readline())["devices"])


# ---- which there are ----


def test_nvidia_smi_is_asked_once(machine: GpuMachine) -> None:
    assert present() == present() == ["0", "1", "2", "3"]
    assert machine.asked() == ["--query-gpu=index,uuid"]


@pytest.mark.parametrize(
    ("variable", "names"),
    [
        ("", []),
        ("2", ["2"]),
        (" 1, 0 ,1", ["1", "0"]),
        ("NoDevFiles", []),
        ("-1", []),
        ("0,-1,1", ["0"]),
        (f"{uuid(3)},MIG-8f1c/7/0", [uuid(3), "MIG-8f1c/7/0"]),
    ],
)
def test_the_environment_restricts_them(
    machine: GpuMachine, monkeypatch: pytest.MonkeyPatch, variable: str, names: list[str]
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", variable)
    assert present() == names


def test_without_nvidia_smi_there_are_none() -> None:
    assert present() == []
    assert gpus.found() == "no GPU is present (there is no nvidia-smi)"


def test_a_driver_that_fails_is_told(machine: GpuMachine) -> None:
    (machine.tools / "nvidia-smi").write_text("#!/bin/sh\necho 'no driver'\nexit 9\n")
    assert present() == []
    assert gpus.found() == "no GPU is present (nvidia-smi fails: no driver)"


def test_a_machine_whose_slots_are_empty(machine: GpuMachine) -> None:
    machine.plug_in([])
    assert gpus.found() == "no GPU is present (nvidia-smi lists none)"


@pytest.mark.parametrize(
    ("name", "slurm", "key"),
    [
        ("1", None, uuid(1)),
        (uuid(2), None, uuid(2)),
        ("GPU-00000003", None, uuid(3)),
        ("MIG-8f1c", None, "MIG-8f1c"),
        ("7", None, "index-7"),
        ("7", "815", "slurm-815-7"),
        ("1", "815", uuid(1)),
    ],
)
def test_a_device_is_known_by_its_uuid(
    machine: GpuMachine,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    slurm: str | None,
    key: str,
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", name)
    if slurm:
        monkeypatch.setenv("SLURM_JOB_ID", slurm)
    with lease(1, "x"):
        assert leased() == [{"name": name, "key": key}]


@pytest.mark.parametrize("variable", ["HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"])
def test_amd_devices_are_those_that_the_environment_names(
    monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.setenv(variable, "0,1")
    assert present() == ["0", "1"]
    with lease(1, "x"):
        assert os.environ[variable] == "0"
        assert "CUDA_VISIBLE_DEVICES" not in os.environ
        assert leased() == [{"name": "0", "key": "amd-index-0"}]
    assert os.environ[variable] == "0,1"


# ---- lending ----


def test_a_lease_is_seen_in_the_environment_and_undone(
    machine: GpuMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_DEVICE_ORDER", "FASTEST_FIRST")
    with pytest.raises(KeyError), lease(2, "x") as names:
        assert names == ["0", "1"]
        assert os.environ["CUDA_VISIBLE_DEVICES"] == "0,1"
        assert os.environ["CUDA_DEVICE_ORDER"] == "PCI_BUS_ID"
        assert [device["key"] for device in leased()] == [uuid(0), uuid(1)]
        raise KeyError
    assert "CUDA_VISIBLE_DEVICES" not in os.environ
    assert os.environ["CUDA_DEVICE_ORDER"] == "FASTEST_FIRST"
    assert leased() == []


def test_names_stay_as_they_were_given(
    machine: GpuMachine, monkeypatch: pytest.MonkeyPatch, repository: Path
) -> None:
    """Numbered anew in an allocation, by UUID in a container: the job gets what it was given."""
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", f"3,{uuid(1)},0")
    with lease(2, "x"):
        assert os.environ["CUDA_VISIBLE_DEVICES"] == f"3,{uuid(1)}"


def test_who_asks_for_none_sees_none(machine: GpuMachine) -> None:
    with lease(0, "x") as names:
        assert (names, os.environ["CUDA_VISIBLE_DEVICES"]) == ([], "")
    assert not machine.leases.exists() and machine.asked() == []
    assert "CUDA_VISIBLE_DEVICES" not in os.environ


def test_who_asks_for_none_sees_none_on_amd_either(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HIP_VISIBLE_DEVICES", "0,1")
    with lease(0, "x"):
        assert os.environ["HIP_VISIBLE_DEVICES"] == os.environ["CUDA_VISIBLE_DEVICES"] == ""
    assert os.environ["HIP_VISIBLE_DEVICES"] == "0,1"


@pytest.mark.parametrize(
    ("variable", "words"),
    [
        (None, "needs 5 GPUs, 4 GPUs are present (0, 1, 2, 3); run it on a machine that has them"),
        ("2", "needs 5 GPUs, 1 GPU is present (2); "),
        ("", "needs 5 GPUs, no GPU is present (CUDA_VISIBLE_DEVICES is ''); "),
    ],
)
def test_more_than_there_are_is_refused(
    machine: GpuMachine, monkeypatch: pytest.MonkeyPatch, variable: str | None, words: str
) -> None:
    if variable is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", variable)
    with pytest.raises(TooFewGpusError) as refused, lease(5, "run_model llama3-70b"):
        pass
    assert words in str(refused.value)
    assert str(refused.value).startswith("run_model llama3-70b: ")
    assert "lower tensor_parallel" in str(refused.value)


def test_the_folder_and_its_files_are_every_users(machine: GpuMachine) -> None:
    before = os.umask(0o077)
    try:
        with lease(1, "x"):
            pass
    finally:
        os.umask(before)
    assert stat.S_IMODE(machine.leases.stat().st_mode) == 0o1777
    files = sorted(machine.leases.iterdir())
    assert [file.name for file in files if not file.name.startswith("queue-")] == [
        f"{uuid(0)}.lock"
    ]
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o666}


def test_the_folder_does_not_follow_the_users_tmpdir(
    machine: GpuMachine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv(gpus.FOLDER_VARIABLE)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    assert gpus.folder() == Path("/tmp") / gpus.FOLDER


@pytest.mark.parametrize("kind", ["file", "link", "parent is a file"])
def test_a_folder_that_is_none_is_refused(
    machine: GpuMachine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, kind: str
) -> None:
    place = tmp_path / "place"
    if kind == "link":
        place.symlink_to(tmp_path)
    else:
        place.touch()
    named = place / "below" if kind.startswith("parent") else place
    monkeypatch.setenv(gpus.FOLDER_VARIABLE, str(named))
    with pytest.raises(LockError, match=gpus.FOLDER_VARIABLE), lease(1, "x"):
        pass


def test_names_of_files_hold_nothing_odd(
    machine: GpuMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "MIG-8f1c/../../7")
    assert present() == []  # Dots are in no name of a device.
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "MIG-8f1c/7/0")
    with lease(1, "x"):
        assert (machine.leases / "MIG-8f1c_7_0.lock").is_file()


# ---- several processes ----


def test_two_jobs_get_different_devices_and_a_killed_one_frees_its_own(
    machine: GpuMachine, repository: Path
) -> None:
    first = holding(repository, 3)
    try:
        assert given(first) == "0,1,2"
        with lease(1, "x") as names:
            assert names == ["3"]
        first.kill()
        first.wait()
        with lease(4, "x") as names:
            assert names == ["0", "1", "2", "3"]
    finally:
        first.kill()
        first.wait()


def test_the_same_card_under_another_index_is_the_same(
    machine: GpuMachine, monkeypatch: pytest.MonkeyPatch, repository: Path, tmp_path: Path
) -> None:
    """In a container with card 2 alone, nvidia-smi calls it 0."""
    inside = GpuMachine(tmp_path / "inside", 0)
    inside.plug_in([("0", uuid(2))])
    first = holding(repository, 1, 600, PATH=str(inside.tools))
    try:
        assert given(first) == "0"
        with lease(3, "x") as names:
            assert names == ["0", "1", "3"]
    finally:
        first.kill()
        first.wait()


def test_who_waits_is_told_for_whom(
    machine: GpuMachine,
    monkeypatch: pytest.MonkeyPatch,
    repository: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(gpus, "TELL", 0.1)
    monkeypatch.setattr(gpus, "_POLL", 0.1)
    first = holding(repository, 4)
    try:
        given(first)
        timer = threading.Timer(1.0, first.kill)
        timer.start()
        with lease(2, "run_model qwen"):
            pass
        timer.join()
    finally:
        first.kill()
        first.wait()
    (said,) = capsys.readouterr().err.splitlines()
    assert said.startswith("run_model qwen: waiting for 2 GPUs; 0 is held by user ")
    assert f"process {first.pid} on " in said and ": rule model" in said


@pytest.mark.parametrize(
    "visible",
    [("0,1,2", "0,1,2", "0,1,2"), ("0,1", "0,1,2", "1,2")],
    ids=["the same", "overlapping"],
)
def test_many_jobs_of_different_sizes_all_end(
    machine: GpuMachine, repository: Path, visible: tuple[str, ...]
) -> None:
    """None waits for another that waits for it, also where each sees other devices."""
    jobs = []
    for number in range(9):
        seen = visible[number % 3]
        count = 1 + number % len(seen.split(","))
        jobs.append(holding(repository, count, 0.2, 0.5, CUDA_VISIBLE_DEVICES=seen))
    rows: list[dict[str, Any]] = []
    for job in jobs:
        out, _ = job.communicate(timeout=240)
        assert job.returncode == 0
        rows += [json.loads(line) for line in out.splitlines()]
    assert len(rows) == 18
    assert_never_shared(rows)


def test_two_is_not_overtaken_by_one_and_one(machine: GpuMachine, repository: Path) -> None:
    """Who wants both devices keeps the first that is free, and those behind it wait."""
    both = {"CUDA_VISIBLE_DEVICES": "0,1"}
    first = [holding(repository, 1, seconds, **both) for seconds in (1.5, 600)]
    for job in first:
        given(job)
    pair = holding(repository, 2, 0.1, **both)
    waiting = machine.leases
    end = time.monotonic() + 60
    while not any(b"rule model" in f.read_bytes() for f in waiting.glob("queue-*.lock")):
        assert time.monotonic() < end
        time.sleep(0.05)
    single = holding(repository, 1, 0.1, **both)
    try:
        first[0].wait(60)
        time.sleep(1.0)
        assert single.poll() is None and pair.poll() is None
        first[1].kill()
        assert given(pair) == "0,1"
        assert given(single) in ("0", "1")
    finally:
        for job in [*first, pair, single]:
            job.kill()
            job.wait()


# ---- what a killed job leaves behind ----


def test_processes_that_a_killed_job_left_are_waited_for(
    machine: GpuMachine,
    monkeypatch: pytest.MonkeyPatch,
    repository: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    monkeypatch.setattr(gpus, "_POLL", 0.05)
    first = holding(repository, 1)
    given(first)
    first.kill()
    first.wait()
    machine.processes.write_text(
        f"{uuid(0)}, 123, VLLM::EngineCore\n{uuid(1)}, 124, other\n"
        f"{uuid(0)}, 125, nvidia-cuda-mps-server\n"
    )
    timer = threading.Timer(0.5, machine.processes.write_text, (f"{uuid(1)}, 124, other\n",))
    timer.start()
    begin = time.monotonic()
    with lease(1, "x"):
        assert time.monotonic() - begin >= 0.4
    timer.join()
    # Given back in order, so nothing is left behind: nobody looks.
    asked = len(machine.asked())
    with lease(1, "x"):
        pass
    assert len(machine.asked()) == asked
    assert "warning" not in capsys.readouterr().err


def test_a_process_that_stays_is_named(
    machine: GpuMachine,
    monkeypatch: pytest.MonkeyPatch,
    repository: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    monkeypatch.setattr(gpus, "_POLL", 0.05)
    monkeypatch.setattr(gpus, "LEFT_BEHIND", 0.2)
    first = holding(repository, 1)
    given(first)
    first.kill()
    first.wait()
    machine.processes.write_text(f"{uuid(0)}, 123, VLLM::EngineCore\n")
    with lease(1, "x") as names:
        assert names == ["0"]
    said = capsys.readouterr().err
    assert "GPU 0 was left by a job that was killed, and is still used by process 123;" in said


def test_where_nobody_can_look_nothing_is_waited_for(
    machine: GpuMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    device = gpus._devices()[0]
    (machine.tools / "nvidia-smi").write_text("#!/bin/sh\nexit 9\n")
    assert gpus._processes(device) == []
    (machine.tools / "nvidia-smi").unlink()
    assert gpus._processes(device) == []
