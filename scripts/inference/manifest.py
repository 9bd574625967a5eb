"""The run manifest: where, with what and for how long a model answered.

Times and hosts stand here and nowhere else. The environment is never dumped: a manifest holds no
secret.
"""

from __future__ import annotations

import platform
import resource
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

import psutil

from scripts.files import DataError
from scripts.inference.interface import Backend, ModelSpec
from scripts.inference.runner import Run
from scripts.inference.spending import summed_facts
from scripts.machine.gpus import leased
from scripts.records import Response, canonical_digest

_PACKAGES = ("torch", "transformers", "tokenizers", "safetensors", "vllm", "openai", "numpy")
# What the manifests of all shards of a run have in common.
_ONE_RUN = ("benchmark", "mode", "max_new_tokens", "model", "config_sha256", "identity")


class Stopwatch:
    """Wall-clock time since it was made, and when that was."""

    def __init__(self) -> None:
        self.started = datetime.now(UTC)
        self._begin = time.monotonic()

    def seconds(self) -> float:
        """Seconds of wall-clock time so far."""
        return round(time.monotonic() - self._begin, 3)


def build(
    spec: ModelSpec,
    backend: Backend,
    run: Run,
    watch: Stopwatch,
    *,
    benchmark: str,
    max_new_tokens: int,
    repository: Path | None = None,
) -> dict[str, Any]:
    """The manifest of one inference run as JSON.

    Tokens count every response of the run, generated now or taken from the store; `config_sha256`
    is over the model's own entry and the limits, the part of the configuration this run reads.
    """
    entry = {
        "name": spec.name,
        "label": spec.label,
        "backend": spec.backend,
        "source": spec.source,
        "revision": spec.revision,
        "precision": spec.precision,
        "modes": list(spec.modes),
        "thinking": dict(spec.thinking),
        "template": spec.template,
        "context_length": spec.context_length,
        "options": dict(spec.options),
    }
    settings = {"benchmark": benchmark, "mode": backend.mode, "max_new_tokens": max_new_tokens}
    return {
        **settings,
        "model": entry,
        "config_sha256": canonical_digest({**settings, "model": entry}),
        "backend": {"name": backend.name, "version": backend.version},
        "identity": backend.identity(),
        "facts": backend.facts(),
        "requests": {
            "total": len(run.responses),
            "generated": run.generated,
            "from_store": run.from_store,
            "errors": run.errors,
        },
        "tokens": count_tokens(run.responses),
        "started": watch.started.isoformat(timespec="seconds"),
        "wall_seconds": watch.seconds(),
        "peak_memory_bytes": peak_memory(),
        "host": host_facts(),
        "packages": package_versions(),
        "git": git_state(repository),
    }


def agreed(parts: Sequence[Mapping[str, Any]], key: str, names: Sequence[str]) -> Any:
    """What all manifests of a split run say under a key; DataError names two that differ."""
    for part, name in zip(parts, names, strict=True):
        if part[key] != parts[0][key]:
            raise DataError(
                f"{name} and {names[0]} differ in {key}: shards of two different runs; remove both "
                "and run again, the answers are kept"
            )
    return parts[0][key]


def merge(parts: Sequence[Mapping[str, Any]], run: Run, names: Sequence[str]) -> dict[str, Any]:
    """The manifest of a run from those of its shards (`names`: their files, for messages).

    Wall-clock seconds are summed, peaks of memory are the highest of a shard. Facts about host,
    backend and packages are those on which all shards agree; `shards` has every shard's own.
    """
    generated = sum(part["requests"]["generated"] for part in parts)
    return {
        **{key: agreed(parts, key, names) for key in _ONE_RUN},
        "backend": _common([part["backend"] for part in parts]),
        "facts": _common_facts([part["facts"] for part in parts]),
        "requests": {
            "total": len(run.responses),
            "generated": generated,
            "from_store": len(run.responses) - generated,
            "errors": run.errors,
        },
        "tokens": count_tokens(run.responses),
        "started": min(part["started"] for part in parts),
        "wall_seconds": round(sum(part["wall_seconds"] for part in parts), 3),
        "peak_memory_bytes": _highest([part["peak_memory_bytes"] for part in parts]),
        "host": _common([part["host"] for part in parts]),
        "hosts": sorted({part["host"]["name"] for part in parts}),
        "packages": _common([part["packages"] for part in parts]),
        "git": _common([part["git"] or {} for part in parts]) or None,
        "shards": [{key: part[key] for key in part if key not in _ONE_RUN} for part in parts],
    }


def _common_facts(facts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The facts of the shards' backends on which they agree; what they spent is summed."""
    common = _common(facts)
    if all("spent" in part for part in facts):
        common["spent"] = summed_facts([part["spent"] for part in facts])
    return common


def _common(mappings: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The entries that stand in every mapping with the same value."""
    first, *others = mappings
    return {
        key: value
        for key, value in first.items()
        if all(key in other and other[key] == value for other in others)
    }


def _highest(peaks: Sequence[Mapping[str, int]]) -> dict[str, int]:
    names = sorted({name for peak in peaks for name in peak})
    return {name: max(peak.get(name, 0) for peak in peaks) for name in names}


def count_tokens(responses: Iterable[Response]) -> dict[str, int]:
    """Sums of the token counts that the backend reported (what it did not report adds nothing)."""
    totals = {"prompt": 0, "completion": 0, "reasoning": 0}
    for response in responses:
        for name in totals:
            totals[name] += response.usage.get(name) or 0
    return totals


def peak_memory() -> dict[str, int]:
    """Highest memory so far in bytes: of this process, and of each GPU that PyTorch used."""
    unit = 1 if sys.platform == "darwin" else 1024
    peak = {"process": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit}
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        for index in range(torch.cuda.device_count()):
            peak[f"gpu{index}"] = int(torch.cuda.max_memory_allocated(index))
    return peak


def host_facts() -> dict[str, Any]:
    """Name, processor, memory and GPUs of this machine, and those that the job was lent."""
    return {
        "name": socket.gethostname(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "processor": _processor(),
        "cores": psutil.cpu_count(logical=True),
        "memory_bytes": psutil.virtual_memory().total,
        "gpus": gpu_facts(),
        "leased_gpus": leased(),
    }


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.is_file():
        for line in info.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def gpu_facts() -> list[dict[str, str]]:
    """Name, driver and memory per GPU as nvidia-smi tells them; empty where there is none."""
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return []
    fields: Mapping[str, str] = {
        "name": "name",
        "driver": "driver_version",
        "memory": "memory.total",
    }
    try:
        out = subprocess.run(
            [tool, f"--query-gpu={','.join(fields.values())}", "--format=csv,noheader"],
            capture_output=True,
            text=True,
            timeout=20,
            check=True,
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return []
    rows = [[cell.strip() for cell in line.split(",")] for line in out.splitlines() if line.strip()]
    return [dict(zip(fields, row, strict=False)) for row in rows]


def package_versions() -> dict[str, str]:
    """Versions of the inference libraries that are installed."""
    found: dict[str, str] = {}
    for name in _PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def git_state(repository: Path | None = None) -> dict[str, Any] | None:
    """Commit of the checkout and whether tracked files differ from it; None outside git."""
    folder = repository or Path(__file__).resolve().parents[2]

    def git(*arguments: str) -> str:
        return subprocess.run(
            ["git", "-C", str(folder), *arguments],
            capture_output=True,
            text=True,
            timeout=20,
            check=True,
        ).stdout.strip()

    try:
        return {
            "commit": git("rev-parse", "HEAD"),
            "modified": bool(git("status", "--porcelain", "--untracked-files=no")),
        }
    except (OSError, subprocess.SubprocessError):
        return None
