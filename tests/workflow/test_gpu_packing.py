"""Models are packed onto the GPUs of a machine: real Snakemake, real rules, a stand-in for vLLM."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from tests.gpu_machine import GpuMachine, assert_never_shared, holdings, uuid
from tests.tiny_models import save_tiny_model
from tests.workflow.conftest import SNAKEMAKE, CountingServer, Project, environment

pytestmark = pytest.mark.workflow

MODELS = {"one": 1, "other": 1, "pair": 2, "three": 3}


class GpuProject(Project):
    """A checkout whose models run on the GPUs of a stand-in machine."""

    @classmethod
    def create(cls, root: Path, server: CountingServer) -> GpuProject:
        made = super().create(root, server)
        assert isinstance(made, GpuProject)
        made.edit_config(made._use_vllm)
        return made

    def _use_vllm(self, config: dict[str, Any]) -> None:
        section = config["syntaxbench"]
        section["tasks"] = {"count_chars": {"items": 2}}
        section["shots"], section["headline_shots"] = [0], 0
        section["baselines"], section["models"] = [], list(MODELS)
        config["models"] = {
            name: {
                "label": name,
                "backend": "vllm",
                "source": f"weights/{name}",
                "revision": "1",
                "precision": "bfloat16",
                "tensor_parallel": count,
                "context_length": 8192,
                "modes": ["non_thinking"],
                "thinking": {"switch": "none"},
                "tokenizer": "none",
            }
            for name, count in MODELS.items()
        }
        save_tiny_model(self.root / "weights" / "one")
        for name in list(MODELS)[1:]:
            shutil.copytree(self.root / "weights" / "one", self.root / "weights" / name)

    def answer(
        self, machine: GpuMachine, *names: str, options: tuple[str, ...] = (), **settings: str
    ) -> subprocess.Popen[str]:
        """Begin to run these models' jobs."""
        files = [f"results/manifests/syntaxbench/{name}.non_thinking.json" for name in names]
        return subprocess.Popen(
            [str(SNAKEMAKE), "--cores", "4", *files, *options],
            cwd=self.root,
            env={
                **environment(),
                "PATH": f"{machine.tools}:{os.environ['PATH']}",
                "PYTHONPATH": str(machine.packages),
                "TOKENS_AND_TIME_GPUS": str(machine.leases),
                "GPU_RECORD": str(machine.record),
                **settings,
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def manifest(self, name: str) -> dict[str, Any]:
        path = self.root / "results" / "manifests" / "syntaxbench" / f"{name}.non_thinking.json"
        return json.loads(path.read_text())


def finish(run: subprocess.Popen[str], fails: bool = False) -> str:
    out, _ = run.communicate(timeout=600)
    assert (run.returncode != 0) is fails, out
    return out


@pytest.fixture(scope="module")
def asked_project(tmp_path_factory: pytest.TempPathFactory, server: CountingServer) -> GpuProject:
    """The project with its requests built: what is left are the models' jobs."""
    made = GpuProject.create(tmp_path_factory.mktemp("gpu") / "project", server)
    made.targets = ("results/syntaxbench/requests/count_chars.jsonl",)
    made.run()
    return made


@pytest.fixture
def gpu_project(asked_project: GpuProject, tmp_path: Path) -> GpuProject:
    shutil.copytree(asked_project.root, tmp_path / "project")
    return GpuProject(tmp_path / "project", asked_project.server)


@pytest.fixture
def two_gpus(tmp_path: Path) -> GpuMachine:
    return GpuMachine(tmp_path / "machine", 2)


def test_models_are_packed_onto_what_is_there(
    gpu_project: GpuProject, two_gpus: GpuMachine
) -> None:
    """Two models of one GPU side by side, the one of two GPUs alone; nobody gave a limit."""
    run = gpu_project.answer(two_gpus, "one", "other", "pair", GPU_TOGETHER="one,other")
    said = finish(run)
    assert "2 GPUs are present (0, 1); so many are used at once" in said
    begun = {row["model"]: row for row in two_gpus.noted() if row["event"] == "begin"}
    devices = {model: row["devices"] for model, row in begun.items()}
    assert sorted((devices["one"], devices["other"])) == ["0", "1"]
    assert (devices["pair"], begun["pair"]["split"]) == ("0,1", 2)
    assert {row["order"] for row in begun.values()} == {"PCI_BUS_ID"}
    assert len(holdings(two_gpus.noted())) == 4
    assert_never_shared(two_gpus.noted())
    # The manifest names the card, whatever its index was.
    for name in ("one", "pair"):
        leased = gpu_project.manifest(name)["host"]["leased_gpus"]
        expected = [{"name": d, "key": uuid(int(d))} for d in devices[name].split(",")]
        assert leased == expected
    # Snakemake itself looked once; then every job, for itself.
    assert two_gpus.asked().count("--query-gpu=index,uuid") == 1 + 3
    assert "waiting for" not in said


def test_a_given_limit_holds(gpu_project: GpuProject, two_gpus: GpuMachine) -> None:
    run = gpu_project.answer(two_gpus, "one", "other", options=("--resources", "gpu=1"))
    finish(run)
    times = [(begin, end) for _, begin, end, _ in holdings(two_gpus.noted())]
    (_, first_end), (second_begin, _) = sorted(times)
    assert first_end <= second_begin


def test_a_model_that_is_too_large_is_refused_before_anything_runs(
    gpu_project: GpuProject, two_gpus: GpuMachine
) -> None:
    said = finish(gpu_project.answer(two_gpus, "one", "three"), fails=True)
    assert "model three needs 3 GPUs but 2 GPUs are present (0, 1)" in said
    assert "lower tensor_parallel" in said
    assert two_gpus.noted() == []
    # A dry run shows the plan all the same.
    said = finish(gpu_project.answer(two_gpus, "one", "three", options=("--dry-run",)))
    assert "model three needs 3 GPUs but 2 GPUs are present (0, 1): this plan could not" in said
    assert re.findall(r"^rule (\w+):", said, re.M) == ["syntaxbench_run_model"] * 2
    assert "model one needs" not in said


def test_a_machine_without_gpus_plans_and_refuses(gpu_project: GpuProject, tmp_path: Path) -> None:
    none = GpuMachine(tmp_path / "machine", 0)
    said = finish(gpu_project.answer(none, "one", options=("--dry-run",)))
    assert "needs 1 GPU but no GPU is present (nvidia-smi lists none): this plan could" in said
    assert none.asked() == ["--query-gpu=index,uuid"]
    said = finish(gpu_project.answer(none, "one"), fails=True)
    assert "model one needs 1 GPU but no GPU is present" in said
    assert none.noted() == []


def test_a_killed_jobs_device_is_lent_again_at_once(
    gpu_project: GpuProject, tmp_path: Path
) -> None:
    machine = GpuMachine(tmp_path / "machine", 1)
    run = gpu_project.answer(machine, "one", GPU_HANGING="one")
    end = time.monotonic() + 240
    while not machine.noted():
        assert time.monotonic() < end and run.poll() is None
        time.sleep(0.1)
    os.kill(machine.noted()[0]["process"], signal.SIGKILL)
    finish(run, fails=True)
    said = finish(gpu_project.answer(machine, "one"))
    assert "waiting for" not in said
    last = machine.noted()[-1]
    assert (last["event"], last["devices"]) == ("end", "0")


def test_two_runs_on_one_machine_never_share_a_device(
    gpu_project: GpuProject, two_gpus: GpuMachine, tmp_path: Path
) -> None:
    """Two checkouts, each of which believes that it may use both GPUs."""
    shutil.copytree(gpu_project.root, tmp_path / "second")
    second = GpuProject(tmp_path / "second", gpu_project.server)
    names = ("one", "other", "pair")
    runs = [project.answer(two_gpus, *names, GPU_SECONDS="2") for project in (gpu_project, second)]
    for run in runs:
        finish(run)
    assert len(holdings(two_gpus.noted())) == 8
    assert_never_shared(two_gpus.noted())
