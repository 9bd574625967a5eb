"""A SLURM cluster of one node with two GPUs, for as long as the tests run."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.gpu_machine import GpuMachine
from tests.workflow.conftest import environment

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
# What envs/install_slurm.sh says where SLURM is not there and cannot be installed.
UNAVAILABLE = 3


class Cluster:
    """The running cluster, and the environment in which its commands work."""

    def __init__(self, folder: Path, variables: dict[str, str]) -> None:
        self.folder = folder
        # SLURM itself gives no job a device here: the jobs choose from those that nvidia-smi lists.
        self.machine = GpuMachine(folder / "machine", 2)
        self.environment = {
            **environment(),
            **variables,
            "PATH": f"{self.machine.tools}:{variables['PATH']}",
            "TOKENS_AND_TIME_GPUS": str(self.machine.leases),
        }
        self.environment.pop("CUDA_VISIBLE_DEVICES", None)

    def ask(self, *command: str) -> str:
        """What a command of SLURM prints."""
        finished = subprocess.run(
            command, env=self.environment, capture_output=True, text=True, check=False, timeout=60
        )
        assert finished.returncode == 0, f"{' '.join(command)}: {finished.stderr}"
        return finished.stdout


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    if os.geteuid() != 0:
        pytest.skip("only root can start the daemons of a SLURM cluster")
    installed = subprocess.run([ROOT / "envs" / "install_slurm.sh"], check=False)
    if installed.returncode == UNAVAILABLE:
        pytest.skip("SLURM is not there and cannot be installed; see envs/install_slurm.sh")
    assert installed.returncode == 0, "envs/install_slurm.sh failed"
    # Short and open to all, as munge wants its socket.
    folder = Path(tempfile.mkdtemp(prefix="slurm-", dir="/tmp"))
    try:
        started = subprocess.run(
            [HERE / "start_cluster.sh", folder], stdout=subprocess.PIPE, text=True, check=False
        )
        assert started.returncode == 0, "tests/slurm/start_cluster.sh failed"
        variables = dict(line.split("=", 1) for line in started.stdout.splitlines()[-2:])
        yield Cluster(folder, variables)
    finally:
        subprocess.run([HERE / "stop_cluster.sh", folder], check=False)
        shutil.rmtree(folder, ignore_errors=True)
