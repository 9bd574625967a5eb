"""A machine with GPUs, as far as nvidia-smi tells, and a vLLM that notes what it was given."""

from __future__ import annotations

import json
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

NVIDIA_SMI = """#!{python} -S
import sys
query = sys.argv[1]
with open({calls!r}, "a") as calls:
    calls.write(query + "\\n")
devices = {devices!r}
if query == "--query-gpu=index,uuid":
    for index, uuid in devices:
        print(f"{{index}}, {{uuid}}")
elif query == "--query-gpu=name,driver_version,memory.total":
    for index, uuid in devices:
        print("Some GPU, 555.1, 81559 MiB")
elif query == "--query-compute-apps=gpu_uuid,pid,process_name":
    try:
        print(open({processes!r}).read(), end="")
    except FileNotFoundError:
        pass
else:
    sys.exit(f"unknown query {{query}}")
"""

VLLM = {
    "sampling_params.py": """
class StructuredOutputsParams:
    def __init__(self, json=None):
        self.json = json
""",
    "exceptions.py": "",
    "__init__.py": '''
"""Notes when each model holds which devices; answers `{"result": 3}`."""
import json, os, time
from types import SimpleNamespace

RECORD, TOGETHER = os.environ["GPU_RECORD"], os.environ.get("GPU_TOGETHER", "").split(",")
HANGING = os.environ.get("GPU_HANGING", "")
SECONDS = float(os.environ.get("GPU_SECONDS", "0.5"))

def note(**fields):
    line = json.dumps({"process": os.getpid(), "time": time.monotonic(), **fields}) + "\\n"
    descriptor = os.open(RECORD, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(descriptor, line.encode())
    os.close(descriptor)

def noted():
    with open(RECORD) as handle:
        return [json.loads(line) for line in handle]

class SamplingParams:
    def __init__(self, **fields):
        pass

class LLM:
    def __init__(self, model, tensor_parallel_size=1, **arguments):
        self.model = os.path.basename(model)
        visible = os.environ.get("CUDA_VISIBLE_DEVICES")
        note(event="begin", model=self.model, devices=visible, split=tensor_parallel_size,
             order=os.environ.get("CUDA_DEVICE_ORDER"))
        self.llm_engine = SimpleNamespace(
            engine_core=self,
            model_config=SimpleNamespace(dtype="torch.bfloat16", quantization=None),
        )
        end = time.monotonic() + 120
        while self.model in TOGETHER:
            if set(TOGETHER) <= {row["model"] for row in noted() if row["event"] == "begin"}:
                break
            if time.monotonic() > end:
                raise RuntimeError(f"{self.model} was left alone")
            time.sleep(0.05)

    def generate(self, prompts, sampling, use_tqdm=True):
        time.sleep(600 if self.model == HANGING else SECONDS)
        done = SimpleNamespace(text='{"result": 3}', token_ids=[1], finish_reason="stop")
        return [SimpleNamespace(prompt_token_ids=p["prompt_token_ids"], outputs=[done])
                for p in prompts]

    def shutdown(self):
        note(event="end", model=self.model, devices=os.environ.get("CUDA_VISIBLE_DEVICES"))
''',
}


def uuid(index: int) -> str:
    return f"GPU-0000000{index}-aaaa-bbbb-cccc-dddddddddddd"


class GpuMachine:
    """Tools for a PATH (`tools`) and a PYTHONPATH (`packages`), and what was noted."""

    def __init__(self, root: Path, count: int) -> None:
        self.root = root
        self.tools = root / "tools"
        self.packages = root / "packages"
        self.record = root / "record.jsonl"
        self.processes = root / "processes.csv"
        self.leases = root / "leases"
        self.calls = root / "calls"
        self.tools.mkdir(parents=True)
        (self.packages / "vllm").mkdir(parents=True)
        for name, text in VLLM.items():
            (self.packages / "vllm" / name).write_text(text)
        self.plug_in([(str(index), uuid(index)) for index in range(count)])

    def plug_in(self, devices: list[tuple[str, str]]) -> None:
        """Let nvidia-smi list these (index, UUID)."""
        tool = self.tools / "nvidia-smi"
        tool.write_text(
            NVIDIA_SMI.format(
                python=sys.executable,
                calls=str(self.calls),
                devices=devices,
                processes=str(self.processes),
            )
        )
        tool.chmod(0o755)

    def asked(self) -> list[str]:
        """The queries that nvidia-smi has answered."""
        return self.calls.read_text().splitlines() if self.calls.exists() else []

    def noted(self) -> list[dict[str, Any]]:
        """What the models noted, one row an event."""
        if not self.record.exists():
            return []
        return [json.loads(line) for line in self.record.read_text().splitlines()]


def holdings(rows: list[dict[str, Any]]) -> list[tuple[str, float, float, str]]:
    """(device, begin, end, model) of everything that ended in order."""
    open_rows = {row["process"]: row for row in rows if row["event"] == "begin"}
    return sorted(
        (device, open_rows[row["process"]]["time"], row["time"], row["model"])
        for row in rows
        if row["event"] == "end"
        for device in open_rows[row["process"]]["devices"].split(",")
    )


def assert_never_shared(rows: list[dict[str, Any]]) -> None:
    """No device was held by two at once."""
    held = holdings(rows)
    for (device, _, end, model), (other, begin, _, following) in pairwise(held):
        assert device != other or end <= begin, f"{model} and {following} shared GPU {device}"
