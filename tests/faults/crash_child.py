"""One run of the real rule script, with a fault at a chosen call of the operating system.

`python tests/faults/crash_child.py ORDER.json` runs `scripts/inference/run_model.py` with a
stand-in for Snakemake's object. The order says where the files are, which backend answers, and what
happens at which call: `{"call": "fsync store", "number": 2, "action": "kill"}` ends the process
before its second fsync of the store. Records are kept beside the files, written past the hooks:
`calls.log` (every call that was passed), and keys: `handed.log` (the backend was asked for them),
`given.log` (it gave the answer) and `kept.log` (their `append` had returned).
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import io
import json
import os
import resource
import runpy
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from scripts.inference import backends  # noqa: E402
from scripts.inference.interface import Backend, ModelSpec  # noqa: E402
from scripts.inference.spending import ENVIRONMENT, LEDGER  # noqa: E402
from scripts.inference.store import request_key  # noqa: E402
from scripts.records import Request, Response  # noqa: E402

SCRIPT = ROOT / "scripts" / "inference" / "run_model.py"
#: Answers of a batch of the stand-in, and seconds that one takes.
BATCH = 4
BATCH_S = 0.02
WRITES = ("write", "pwrite", "buffered write")


class Inputs(SimpleNamespace):
    """Snakemake's named files."""

    def get(self, name: str, default: Any = None) -> Any:
        return getattr(self, name, default)


class Record:
    """A file of lines that the hooks do not see."""

    def __init__(self, path: str) -> None:
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        self._write = os.write

    def add(self, *lines: str) -> None:
        self._write(self._descriptor, "".join(f"{line}\n" for line in lines).encode())


class PacedBackend(Backend):
    """Answers that follow from the prompt alone, in batches that take a moment."""

    name = "paced"

    @property
    def version(self) -> str:
        return "1"

    def identity(self) -> dict[str, Any]:
        return {"batch": BATCH}

    def generate(self, requests: Sequence[Request]) -> Iterator[Response]:
        for batch in self.generate_batches(requests):
            yield from batch

    def generate_batches(self, requests: Sequence[Request]) -> Iterator[list[Response]]:
        for start in range(0, len(requests), BATCH):
            time.sleep(BATCH_S)
            yield [self.answer(request) for request in requests[start : start + BATCH]]

    def answer(self, request: Request) -> Response:
        digest = hashlib.sha256(request.messages[-1]["content"].encode()).hexdigest()
        return Response(
            request_id=request.request_id,
            item_id=request.item_id,
            model=self.spec.name,
            mode=self.mode,
            # Long and hostile: a line fills a good part of a block.
            text=f"{digest}\u2028\x00\n" * (3 + int(digest[0], 16)),
            finish_reason="stop",
            usage={"prompt": 3, "completion": 1, "reasoning": None},
            backend=self.name,
            backend_version="1",
            attempts=1,
        )


class WatchedBackend(Backend):
    """The backend of the order; what it is asked for and what was kept is recorded."""

    def __init__(self, spec: ModelSpec, mode: str) -> None:
        super().__init__(spec, mode)
        kind = ORDER["backend"]
        self._inner = (PacedBackend if kind == "paced" else real_backend(kind))(spec, mode)
        self.name = self._inner.name

    @property
    def version(self) -> str:
        return self._inner.version

    def identity(self) -> dict[str, Any]:
        return self._inner.identity()

    def facts(self) -> dict[str, Any]:
        return self._inner.facts()

    def close(self) -> None:
        self._inner.close()

    def generate(self, requests: Sequence[Request]) -> Iterator[Response]:
        return self._inner.generate(requests)

    def generate_batches(self, requests: Sequence[Request]) -> Iterator[list[Response]]:
        identity = self.identity()
        keys = {each.request_id: request_key(self.spec, identity, each) for each in requests}
        HANDED.add(*keys.values())
        batches = self._inner.generate_batches(requests)
        try:
            for batch in batches:
                given = [keys[response.request_id] for response in batch]
                GIVEN.add(*given)
                yield batch
                KEPT.add(*given)
        finally:
            batches.close()  # type: ignore[attr-defined]


class Hooks:
    """Wraps the calls by which files are written; `pass_by` is asked before each of them."""

    def __init__(self, folder: Path, fault: dict[str, Any] | None, calls: Record) -> None:
        self.folder = str(folder.resolve())
        self.fault = fault or {}
        self.calls = calls
        self.counts: Counter[str] = Counter()

    def kind(self, place: Any) -> str | None:
        """What a path or a descriptor is to the run; None for what is none of its files."""
        if hasattr(place, "fileno"):
            place = place.fileno()
        if isinstance(place, int):
            try:
                place = Path(f"/proc/self/fd/{place}").readlink()
            except OSError:
                return None
        path = os.path.abspath(os.fsdecode(os.fspath(place)))  # noqa: PTH100
        if not path.startswith(self.folder + os.sep):
            return None
        part, _, name = path[len(self.folder) + 1 :].rpartition(os.sep)
        if os.path.isdir(path):  # noqa: PTH112
            return "folder"
        if name.endswith(".lock") or name.startswith(".clock."):
            return "lock"
        if name == LEDGER:
            return "ledger"
        top = part.partition(os.sep)[0]
        return {"store": "store", "out": "output", "manifests": "manifest"}.get(top)

    def wrap(self, owner: Any, function: str, label: str | None = None) -> None:
        real = getattr(owner, function)

        def hooked(place: Any, *arguments: Any, **named: Any) -> Any:
            kind = self.kind(place)
            if kind is None:
                return real(place, *arguments, **named)
            call = f"{label or function} {kind}"
            return self.pass_by(
                call, lambda *data: real(place, *(data or arguments), **named), arguments
            )

        setattr(owner, function, hooked)

    def pass_by(self, call: str, real: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        """Do the call, or what the fault says instead."""
        self.counts[call] += 1
        self.calls.add(call)
        fault = self.fault
        if fault.get("call") != call or fault["number"] != self.counts[call]:
            return real()
        action = fault["action"]
        self.calls.add(f"! {action}")
        if action == "half":
            real(bytes(arguments[0])[: max(1, len(arguments[0]) // 2)], *arguments[1:])
        if action in ("kill", "half"):
            os.kill(os.getpid(), signal.SIGKILL)
        if action == "term":
            os.kill(os.getpid(), signal.SIGTERM)
            return real()
        if action == "after":
            real()
            os.kill(os.getpid(), signal.SIGKILL)
        code = getattr(errno, action)
        if call.rpartition(" ")[0] in WRITES and code == errno.ENOSPC:
            real(bytes(arguments[0])[: len(arguments[0]) // 2], *arguments[1:])
        raise OSError(code, os.strerror(code))

    def install(self) -> None:
        for function in ("open", "write", "pwrite", "fsync", "ftruncate", "replace", "rename"):
            self.wrap(os, function)
        for function in ("chmod", "unlink", "mkdir", "utime"):
            self.wrap(os, function)
        self.wrap(fcntl, "flock")
        hooks, fdopen = self, os.fdopen

        class Raw(io.FileIO):
            def write(self, data: Any) -> int:  # type: ignore[override]
                kind = hooks.kind(self.fileno())
                write = super().write
                if kind is None:
                    return write(data)
                real = lambda *other: write(*(other or (data,)))  # noqa: E731
                return int(hooks.pass_by(f"buffered write {kind}", real, (data,)))

        def opened(descriptor: int, mode: str = "r", *arguments: Any, **named: Any) -> Any:
            if "w" not in mode or hooks.kind(descriptor) is None:
                return fdopen(descriptor, mode, *arguments, **named)
            # A small buffer: a file is written in several calls, as large ones are.
            raw = io.BufferedWriter(Raw(descriptor, "w"), 2048)
            return raw if "b" in mode else io.TextIOWrapper(raw, **named)

        os.fdopen = opened  # type: ignore[assignment]


def job(order: dict[str, Any]) -> SimpleNamespace:
    """The stand-in for Snakemake's object."""
    folder = order["folder"]
    names = order["files"]
    files: dict[str, Any] = {"requests": [f"{folder}/requests/{name}.jsonl" for name in names]}
    if order.get("weights"):
        files["weights"] = order["weights"]
    return SimpleNamespace(
        rule="test_run_model",
        log=[f"{folder}/logs/run.log"],
        input=Inputs(**files),
        output=Inputs(
            responses=[f"{folder}/out/{name}.jsonl" for name in names],
            manifest=f"{folder}/manifests/run.json",
        ),
        resources=Inputs(gpu=0),
        wildcards=[],
        threads=1,
        attempt=1,
        params=Inputs(
            name="model",
            entry=order["entry"],
            mode="non_thinking",
            benchmark="test",
            files=True,
            max_new_tokens=order.get("max_new_tokens", 40),
            store=f"{folder}/store/test/model/non_thinking.jsonl",
        ),
    )


def real_backend(kind: str) -> type[Backend]:
    """The class of a backend, as it was before the order's backend took its place."""
    module, attribute = TABLE[kind]
    return getattr(import_module(module), attribute)  # type: ignore[no-any-return]


TABLE = dict(backends.TABLE)
ORDER: dict[str, Any] = {}
HANDED: Record
GIVEN: Record
KEPT: Record


def run(order: dict[str, Any]) -> None:
    """Run the rule script as the order says; ends as the script ends."""
    global HANDED, GIVEN, KEPT
    folder = Path(order["folder"])
    ORDER.clear()
    ORDER.update(order)
    names = ("handed", "given", "kept")
    HANDED, GIVEN, KEPT = (Record(f"{folder}/{name}.log") for name in names)
    errors = os.open(f"{folder}/errors.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    os.dup2(errors, 1)
    os.dup2(errors, 2)
    sys.stdout = open(1, "w", buffering=1, closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1, closefd=False)  # noqa: SIM115
    sys.__stderr__ = sys.stderr  # type: ignore[misc]
    if order.get("file_limit"):
        resource.setrlimit(resource.RLIMIT_FSIZE, (order["file_limit"], order["file_limit"]))
    os.environ[ENVIRONMENT] = order.get("spending", "")
    backends.TABLE[order["entry"]["backend"]] = (__name__, "WatchedBackend")
    Hooks(folder, order.get("fault"), Record(f"{folder}/calls.log")).install()
    runpy.run_path(str(SCRIPT), init_globals={"snakemake": job(order)}, run_name="rule")


def serve(modules: Sequence[str]) -> None:
    """Load the modules once, then run every order of standard input in a child of this process.

    A line of JSON starts a child and is answered by its process id, an empty line waits for it and
    is answered by its exit status as `subprocess` has it.
    """
    for module in modules:
        import_module(module)
    print("ready", flush=True)
    child = 0
    for line in sys.stdin:
        if not line.strip():
            print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
            continue
        child = os.fork()
        if child:
            print(child, flush=True)
            continue
        os.close(0)
        status = 1
        try:
            run(json.loads(line))
            status = 0
        except SystemExit as stop:
            if isinstance(stop.code, str):
                print(stop.code, file=sys.stderr)
            status = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
        except KeyboardInterrupt:
            status = 128 + signal.SIGINT
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(status)


if __name__ == "__main__":
    if sys.argv[1] == "--serve":
        serve(sys.argv[2:])
    else:
        run(json.loads(Path(sys.argv[1]).read_bytes()))
