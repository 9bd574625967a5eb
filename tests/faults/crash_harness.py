"""Kills a run at many moments, goes on, and compares with a run that nobody disturbed.

Run: python -m tests.faults.crash_harness [--moments 100] [--seed 1]

The run is the real rule script `run_model.py` in a process of its own (`crash_child.py`). Moments
are calls of the operating system by which files are written, each at least once, and random times
over the whole life of the process. After every one the run is started again, and then

- every answer that was stored before is still there and was not asked for again,
- no answer stands twice,
- the responses, and the store after compaction, are byte for byte those of the undisturbed run.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any

from scripts.files import write_records
from scripts.inference.spending import LEDGER, Ledger, terms_text
from scripts.inference.store import REPAIR, encode_line
from scripts.inference.store_commands import REJECTED, compact
from scripts.inference.store_commands import main as store_command
from scripts.records import Request
from tests.faults.fault_server import FaultServer
from tests.tiny_models import save_tiny_model

ROOT = Path(__file__).resolve().parents[2]
CHILD = Path(__file__).with_name("crash_child.py")
STORE = Path("store/test/model/non_thinking.jsonl")
FILES = ("alpha", "beta")
FILE_NAMES = tuple(f"{name}.jsonl" for name in FILES)
#: Tokens that the server says an answer took.
TOKENS = 12
APPENDING = ("write store", "fsync store")
#: Seconds after which a run is taken for hanging; far more than it takes on a loaded machine.
LIMIT_S = 120.0
DECODING = {"temperature": 0.0, "top_p": 1.0, "repetition_penalty": 1.0}
PRELOADED = {
    "paced": ("scripts.inference.run_model", "openai", "psutil"),
    "transformers": ("scripts.inference.backends.transformers_local", "transformers"),
}
#: Where a moment strikes, and how many of a hundred are of its kind (at least one of each).
SHARES = {
    "SIGKILL at a call": 34,
    "SIGKILL at a time": 14,
    "SIGKILL again and again": 2,
    "SIGTERM at a call": 10,
    "SIGTERM at a time": 8,
    "Ctrl-C at a time": 2,
    "disk full": 8,
    "store read-only": 3,
    "power cut": 15,
    "disk fails": 4,
}
SIGNALS = {"SIGKILL": signal.SIGKILL, "SIGTERM": signal.SIGTERM, "Ctrl-C": signal.SIGINT}
PAGE = 4096
DAMAGES = ("cut", "zeros", "zero line", "garbage", "garbage line", "altered line")
#: What only `verify --repair` mends: a whole line that is bad may have been a good one.
NEEDS_REPAIR = ("garbage line", "altered line")


@dataclass(frozen=True)
class Moment:
    """When and how a run ends.

    `at` is a share of the undisturbed run's time, `room` of what it writes; `small` is the folder
    whose disk has no more room than that.
    """

    number: int
    kind: str
    backend: str = "paced"
    start: str = "empty"
    fault: dict[str, Any] | None = None
    at: float | None = None
    room: float | None = None
    small: str = "store"
    damage: str | None = None
    own_interpreter: bool = False

    @property
    def signal(self) -> signal.Signals:
        """The signal of its kind."""
        return SIGNALS.get(self.kind.split(" ")[0], signal.SIGKILL)


@dataclass
class Outcome:
    """What came of a moment; `problems` is empty where nothing was lost."""

    moment: Moment
    died: bool = False
    phase: str = ""
    stored: int = 0
    problems: list[str] = field(default_factory=list)


@dataclass
class Reference:
    """An undisturbed run: outputs, store after compaction, seconds, and the calls it made."""

    outputs: dict[str, bytes]
    store: bytes
    seconds: float
    calls: list[str]
    pages: dict[str, int]


class Nursery:
    """A process that has loaded the modules and runs one child at a time."""

    def __init__(self, modules: Sequence[str]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(CHILD), "--serve", *modules],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment(),
        )
        self._ready = False

    def _say(self, line: str) -> str:
        sent, got = self._process.stdin, self._process.stdout
        assert sent is not None and got is not None
        if not self._ready:
            self._ready = got.readline().strip() == "ready"
        sent.write(line + "\n")
        sent.flush()
        return got.readline().strip()

    def start(self, order: dict[str, Any]) -> int:
        return int(self._say(json.dumps(order)))

    def wait(self) -> int:
        return int(self._say(""))

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}


def rows_of(path: Path) -> dict[str, list[dict[str, Any]]]:
    """Whole rows by key, read without the store's code: a second opinion on what is there."""
    out: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for line in path.read_bytes().split(b"\n") if path.is_file() else []:
        try:
            row = json.loads(line)
            payload = json.dumps(row["response"], sort_keys=True).encode("ascii")
        except (ValueError, KeyError, TypeError):
            continue
        if f"{zlib.crc32(payload):08x}" == row["check"]:
            out[row["key"]].append(row["response"])
    return out


def good_keys(path: Path) -> set[str]:
    return {key for key, rows in rows_of(path).items() if any("error" not in row for row in rows)}


def lines_of(path: Path) -> list[str]:
    return path.read_text().split() if path.is_file() else []


class Bench:
    """Everything that the moments share: folders, server, models, undisturbed runs."""

    def __init__(self, root: Path, base_url: str, mounting: bool) -> None:
        self.root = root
        self.base_url = base_url
        self.mounting = mounting
        self.references: dict[tuple[str, str], Reference] = {}
        self._weights: list[str] = []

    def entry(self, backend: str) -> dict[str, Any]:
        entry: dict[str, Any] = {
            "label": "Test",
            "backend": "openai" if backend == "openai" else "transformers",
            "source": "tiny",
            "revision": "1",
            "precision": "float32",
            "modes": ["non_thinking"],
        }
        if backend == "openai":
            entry |= {"base_url": self.base_url, "provider": "test", "concurrency": 1}
        if backend == "transformers":
            entry |= {"batch": {"policy": "left_padded", "size": 4}, "threads": 1}
        return entry

    def order(self, folder: Path, moment: Moment | None, backend: str) -> dict[str, Any]:
        order = {"folder": str(folder), "files": FILES, "backend": backend}
        order |= {"entry": self.entry(backend), "max_new_tokens": 12}
        if backend == "transformers":
            order["weights"] = self.weights()
        if backend == "openai":  # Every attempt is written down before it is sent.
            run = {"results": str(folder), "spend_cap": {"tokens": 10**9}}
            models = {"model": {"price": {"prompt": 1, "completion": 2}}}
            order["spending"] = terms_text({"run": run, "models": models})
        if moment is not None and moment.fault is not None:
            order["fault"] = moment.fault
        if moment is not None and moment.room is not None and not self.mounting:
            start = (folder / STORE).stat().st_size if (folder / STORE).exists() else 0
            growth = len(self.references[backend, moment.start].store) - start
            order["file_limit"] = start + max(1, int(moment.room * growth))
        return order

    def weights(self) -> list[str]:
        if not self._weights:
            folder = save_tiny_model(self.root / "tiny")
            self._weights = [str(path) for path in sorted(folder.iterdir())]
        return self._weights

    def prepare(self, name: str, backend: str, start: str) -> Path:
        """A folder with requests, and with the store from which the run starts."""
        folder = self.root / name
        for file in FILES:
            count = 14 if backend == "paced" else 8
            rows = [request(f"{file}-{number}") for number in range(count)]
            # A question that stands in both files is asked once.
            write_records(folder / f"requests/{file}.jsonl", [*rows, request("shared")])
        if start == "half":
            lines = self.references[backend, "empty"].store.splitlines(keepends=True)
            failed = [encode_line(json.loads(line)["key"], FAILED) for line in lines[-3:]]
            path = folder / STORE
            path.parent.mkdir(parents=True)
            path.write_bytes(b"".join([*lines[:9], *failed, lines[9][:40]]))
        return folder

    def measure(self, backend: str, start: str, nursery: Nursery) -> None:
        """Run once undisturbed; the moments are spread over its calls and its time."""
        folder = self.prepare(f"reference-{backend}-{start}", backend, start)
        for _ in range(2):  # The first run fills caches; only the second one's time counts.
            shutil.rmtree(folder)
            folder = self.prepare(folder.name, backend, start)
            begin = time.monotonic()
            nursery.start(self.order(folder, None, backend))
            status = nursery.wait()
            seconds = time.monotonic() - begin
        if status != 0:
            raise RuntimeError(f"the undisturbed run failed: {(folder / 'errors.log').read_text()}")
        calls = (folder / "calls.log").read_text().splitlines()
        pages = {part: pages_of(folder / part) for part in ("store", "out")}
        compact(folder / STORE)
        store = (folder / STORE).read_bytes()
        reference = Reference(outputs(folder), store, seconds, calls, pages)
        self.references[backend, start] = reference


FAILED = {
    "text": "",
    "finish_reason": "error",
    "usage": {"prompt": None, "completion": None, "reasoning": None},
    "backend": "paced",
    "backend_version": "1",
    "attempts": 3,
    "error": "timeout",
}


def request(item: str) -> Request:
    return Request.create(item, {}, [{"role": "user", "content": f"question {item}"}], DECODING)


def outputs(folder: Path) -> dict[str, bytes]:
    """The response files; the manifest holds times, so only its presence counts."""
    found = {path.name: path.read_bytes() for path in sorted((folder / "out").glob("*.jsonl"))}
    return {**found, "manifest": str((folder / "manifests/run.json").is_file()).encode()}


def pages_of(folder: Path) -> int:
    """Pages that the files of a folder take on a disk of their own."""
    files = [path.stat().st_size for path in folder.rglob("*") if path.is_file()]
    return sum(-(-size // PAGE) for size in files)


def can_mount(folder: Path) -> bool:
    """Whether a small file system may be mounted here: then a full disk is a real one."""
    try:
        with small_disk(folder / "probe", 4):
            return True
    except (OSError, subprocess.CalledProcessError):
        return False


@contextmanager
def small_disk(folder: Path, pages: int) -> Iterator[None]:
    """Put a folder on a file system of so many pages, in memory, and back at the end."""
    folder.mkdir(parents=True, exist_ok=True)
    aside = folder.with_name(folder.name + ".aside")
    shutil.copytree(folder, aside)
    mount("-t", "tmpfs", "-o", f"size={pages * PAGE}", "tmpfs", str(folder))
    try:
        shutil.copytree(aside, folder, dirs_exist_ok=True)
        yield
    finally:
        shutil.rmtree(aside)
        shutil.copytree(folder, aside)
        subprocess.run(["umount", "-l", str(folder)], check=True)
        shutil.copytree(aside, folder, dirs_exist_ok=True)
        shutil.rmtree(aside)


def mount(*arguments: str) -> None:
    subprocess.run(["mount", *arguments], check=True, stderr=subprocess.DEVNULL)


# --- moments ------------------------------------------------------------------------------------


def planned(count: int, seed: int, bench: Bench) -> list[Moment]:
    """The moments: every call of the write path first, then at random."""
    chance = random.Random(seed)
    numbers = {kind: max(1, round(share * count / 100)) for kind, share in SHARES.items()}
    numbers["SIGKILL at a call"] += count - sum(numbers.values())
    made: list[Moment] = []

    def add(kind: str, **details: Any) -> None:
        made.append(Moment(len(made), kind, **details))

    calls = list(call_faults(bench.references["paced", "half"].calls, chance))
    for fault in calls[: numbers["SIGKILL at a call"]]:
        add("SIGKILL at a call", fault=fault, start="half")
    paid = [c for c in bench.references["openai", "empty"].calls if c.endswith(" ledger")]
    for number in range(numbers["SIGKILL at a call"] - len(calls)):
        backend = ("openai", "openai", "transformers")[number % 3]
        fault = store_fault(chance, "kill")
        if backend == "openai":
            call = chance.choice(sorted(set(paid)))
            fault = {**fault, "call": call, "number": chance.randint(1, paid.count(call))}
        add("SIGKILL at a call", fault=fault, backend=backend)
    for number in range(numbers["SIGKILL at a time"]):
        backend = ("paced", "paced", "openai", "paced", "transformers")[number % 5]
        own = backend == "paced" and number % 2 == 0
        add("SIGKILL at a time", at=chance.random(), backend=backend, own_interpreter=own)
    for number in range(numbers["SIGTERM at a call"]):
        fault = {**calls[number * len(calls) // numbers["SIGTERM at a call"]], "action": "term"}
        if number % 3 == 0:
            fault = store_fault(chance, "term")
        add("SIGTERM at a call", fault=fault, start="half")
    for kind in ("SIGTERM at a time", "Ctrl-C at a time"):
        for number in range(numbers[kind]):
            backend = ("paced", "openai")[number % 2]
            own = backend == "paced" and number % 4 == 0
            add(kind, at=chance.random(), backend=backend, own_interpreter=own)
    add_disks(add, numbers, chance, bench)
    return made


def add_disks(
    add: Callable[..., None], numbers: dict[str, int], chance: random.Random, bench: Bench
) -> None:
    """Moments at which the disk is the trouble, and runs that are killed until they are done."""
    for _ in range(numbers["SIGKILL again and again"]):
        add("SIGKILL again and again", at=chance.random())
    for number in range(numbers["disk full"]):
        start, small = ("empty", "half")[number % 2], ("store", "store", "out")[number % 3]
        add("disk full", room=chance.uniform(0.1, 0.9), small=small, start=start)
    for _ in range(numbers["store read-only"]):
        # Who is root may write what is read-only by its mode alone.
        refuse = {"call": "open store", "number": 1, "action": "EROFS"}
        fault = None if bench.mounting or os.geteuid() else refuse
        add("store read-only", start="half", fault=fault)
    for number in range(numbers["power cut"]):
        damage = DAMAGES[number % len(DAMAGES)]
        fault = store_fault(chance, ("kill", "half", "after")[number % 3])
        add("power cut", fault=fault, damage=damage, start=start_of("paced", chance))
    for number in range(numbers["disk fails"]):
        call = ("fsync store", "write store", "open store", "fsync folder")[number % 4]
        action = ("EIO", "ENOSPC", "EROFS", "EIO")[number % 4]
        times = {"fsync store": 3, "write store": 3}.get(call, 1)
        add("disk fails", fault={"call": call, "number": times, "action": action}, start="empty")


def call_faults(calls: Sequence[str], chance: random.Random) -> Iterator[dict[str, Any]]:
    """A fault at every call that a run makes, and in the middle of every write."""
    counts = Counter(calls)
    for call in sorted(counts):
        yield {"call": call, "number": chance.randint(1, counts[call]), "action": "kill"}
        if "write" in call:
            yield {"call": call, "number": chance.randint(1, counts[call]), "action": "half"}


def store_fault(chance: random.Random, action: str) -> dict[str, Any]:
    call = "write store" if action == "half" else chance.choice(("write store", "fsync store"))
    return {"call": call, "number": chance.randint(2, 4), "action": action}


def start_of(backend: str, chance: random.Random) -> str:
    return chance.choice(("empty", "half")) if backend == "paced" else "empty"


# --- one moment ---------------------------------------------------------------------------------


class Trial:
    """One moment: the disturbed run, what it left, the run that goes on."""

    def __init__(self, bench: Bench, moment: Moment, nursery: Nursery) -> None:
        self.bench, self.moment, self.nursery = bench, moment, nursery
        # A fault at a call that only a run from a half filled store makes needs one.
        self.folder = bench.prepare(f"moment-{moment.number:04d}", moment.backend, moment.start)
        self.reference = bench.references[moment.backend, moment.start]
        self.chance = random.Random(moment.number)
        self.outcome = Outcome(moment)

    @property
    def store(self) -> Path:
        return self.folder / STORE

    def check(self, holds: bool, problem: str) -> None:
        if not holds:
            self.outcome.problems.append(problem)

    def run(self) -> Outcome:
        try:
            with ExitStack() as stack:
                self.hinder(stack)
                self.judge_end(self.strike())
                self.judge_kept()
            before = good_keys(self.store)
            if self.moment.damage is not None:
                before = self.damage(self.moment.damage)
            self.outcome.stored = len(before)
            self.go_on(before)
        except Exception as error:
            self.check(False, f"{type(error).__name__}: {error}")
        if not self.outcome.problems:
            shutil.rmtree(self.folder)
        return self.outcome

    def strike(self) -> int:
        """The disturbed run; one that had finished before its time is done again, a bit earlier."""
        moment, again = self.moment, self.moment.kind == "SIGKILL again and again"
        for number in range(30):
            status = self.start(moment)
            if moment.at is None or status == (0 if again else -moment.signal):
                break
            if status == 0 and not again:
                shutil.rmtree(self.folder)
                self.bench.prepare(self.folder.name, moment.backend, moment.start)
                moment = replace(moment, at=moment.at * 0.7)
            elif not again:
                break
            else:  # A bit later each time, so that it comes to its end.
                moment = replace(moment, at=self.chance.random() * (1 + number / 10))
        return status

    def hinder(self, stack: ExitStack) -> None:
        """Put the store or the outputs on a disk that is too small, or one that is read-only."""
        moment, mounting = self.moment, self.bench.mounting
        small = self.folder / moment.small
        if moment.kind == "disk full" and mounting:
            needed, there = self.reference.pages[moment.small], pages_of(small)
            pages = there + max(1, int((moment.room or 0.0) * (needed - there)))
            stack.enter_context(small_disk(small, pages))
        elif moment.kind == "store read-only" and mounting:
            stack.enter_context(small_disk(small, 64))
            mount("-o", "remount,ro", str(small))
            stack.callback(mount, "-o", "remount,rw", str(small))
        elif moment.kind == "store read-only":
            self.store.chmod(0o444)
            self.store.parent.chmod(0o555)
            stack.callback(self.store.chmod, 0o644)
            stack.callback(self.store.parent.chmod, 0o755)

    def start(self, moment: Moment | None) -> int:
        """Run to the end, or to the moment; the exit status as `subprocess` has it."""
        order = self.bench.order(self.folder, moment, self.moment.backend)
        at = None if moment is None else moment.at
        if moment is not None and moment.own_interpreter:
            return self._in_own_interpreter(order, at or 0.0)
        pid = self.nursery.start(order)
        timers = [threading.Timer(LIMIT_S, strike, (pid, signal.SIGKILL))]
        if at is not None:
            wait = at * self.reference.seconds
            timers.append(threading.Timer(wait, strike, (pid, self.moment.signal)))
        for timer in timers:
            timer.start()
        try:
            return self.nursery.wait()
        finally:
            for timer in timers:
                timer.cancel()

    def _in_own_interpreter(self, order: dict[str, Any], at: float) -> int:
        path = self.folder / "order.json"
        path.write_text(json.dumps(order))
        with (self.folder / "own.log").open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, str(CHILD), str(path)], env=environment(), stdout=log, stderr=log
            )
            # Loading takes longer than the run does.
            time.sleep(at * (OWN_S + self.reference.seconds))
            strike(process.pid, self.moment.signal)
            return process.wait(LIMIT_S)

    def judge_end(self, status: int) -> None:
        """How the disturbed run ended, and whether it said why."""
        kind = self.moment.kind
        calls = lines_in(self.folder / "calls.log")
        self.outcome.died = status != 0 or kind.endswith("again and again")
        self.outcome.phase = next(name for mark, name in PHASES if not mark or mark in calls)
        said = self.said()
        if self.moment.fault is not None:
            self.check(f"! {self.moment.fault['action']}" in calls, "the fault never came")
        if kind.startswith(("SIGTERM", "Ctrl-C")):
            number = self.moment.signal
            self.check(status in (0, 128 + number, -number), f"status {status}: {said}")
            whole = not self.store.is_file() or self.store.read_bytes()[-1:] in (b"", b"\n")
            self.check(whole or self.moment.start == "half", "SIGTERM left a torn line")
        elif kind.startswith("SIGKILL") or kind == "power cut":
            self.check(status in (0, -signal.SIGKILL), f"status {status}: {said}")
        elif kind == "disk full":
            self.check(status == 1, f"status {status}: {said}")
            told = "No space left" in said or "File too large" in said
            self.check(told, f"the full disk is not named: {said}")
        else:
            self.check(status == 1, f"status {status}: {said}")
            self.check("cannot be" in said, f"the disk's fault is not named: {said}")
        if status == 1:
            self.check(str(self.folder) in said, f"no file is named: {said}")

    def said(self) -> str:
        return "\n".join(lines_in(self.folder / "errors.log"))

    def judge_kept(self) -> None:
        """Every batch whose `append` had returned is in the file; no output is half written."""
        fault = self.moment.fault or {"call": ""}
        asked_to_end = self.moment.kind.startswith("SIGTERM") and fault["call"] in APPENDING
        # Who is only asked to end while he writes a batch writes it first.
        known = "given.log" if asked_to_end else "kept.log"
        missing = set(lines_of(self.folder / known)) - set(rows_of(self.store))
        self.check(not missing, f"{len(missing)} answers that had been kept are gone")
        written = outputs(self.folder)
        halves = [n for n in written if n in FILE_NAMES and written[n] != self.reference.outputs[n]]
        self.check(not halves, f"half written: {halves}")
        if self.moment.kind in ("disk full", "disk fails") and self.store.is_file():
            self.check(self.store.read_bytes()[-1:] in (b"", b"\n"), "half a line was left")

    def damage(self, kind: str) -> set[str]:
        """Spoil the end of the store as a power cut does; what is then still there."""
        data = self.store.read_bytes()
        whole = data[: data.rfind(b"\n") + 1]
        last = whole[whole[:-1].rfind(b"\n") + 1 :]
        rest = whole[: len(whole) - len(last)]
        place = self.chance.randrange(len(last) - 1) if len(last) > 1 else 0
        if kind == "altered line":  # The checksum covers the response, not the key before it.
            place = max(place, 120)
        noise = bytes(self.chance.choice(range(33, 256)) for _ in range(300))
        spoilt = {
            "cut": rest + last[:place],
            "zeros": data + bytes(self.chance.randint(2, 5000)),
            "zero line": rest + last[:place] + bytes(max(2, len(last) - place)) + b"\n",
            "garbage": data + noise,
            "garbage line": whole + noise + b"\n",
            "altered line": rest + last[:place] + bytes([last[place] ^ 1]) + last[place + 1 :]
            if last
            else data,
        }[kind]
        self.store.write_bytes(spoilt)
        if kind in NEEDS_REPAIR and last:
            self.mend()
        return good_keys(self.store)

    def mend(self) -> None:
        """A bad whole line stops the run, which names it and the command that moves it aside."""
        status, said = self.start(None), self.said()
        bad = len(self.store.read_bytes().rstrip(b"\n").split(b"\n"))
        self.check(status == 1 and f"{self.store.name}, line {bad}: " in said, f"said: {said}")
        self.check(REPAIR in said, f"no remedy is named: {said}")
        spoilt = self.store.read_bytes().rstrip(b"\n").split(b"\n")[-1]
        with silence():
            self.check(store_command(["verify", str(self.store)]) == 1, "verify finds nothing")
            mended = store_command(["verify", "--repair", str(self.store)])
        aside = self.store.with_name(self.store.name + REJECTED)
        self.check(mended == 0 and spoilt in aside.read_bytes(), "the bad line was not kept aside")

    def go_on(self, before: set[str]) -> None:
        """Run again and compare with the undisturbed run."""
        (self.folder / "handed.log").unlink(missing_ok=True)
        status = self.start(None)
        self.check(status == 0, f"the second run ended with {status}: {self.said()}")
        handed = lines_of(self.folder / "handed.log")
        self.check(not before & set(handed), "stored answers were asked for again")
        self.check(len(handed) == len(set(handed)), "a question was asked twice")
        rows = rows_of(self.store)
        self.check(before <= set(rows), "stored answers are gone")
        good = [sum("error" not in row for row in found) for found in rows.values()]
        self.check(max(good) == 1, "an answer stands twice")
        self.check(outputs(self.folder) == self.reference.outputs, "the responses differ")
        if self.moment.backend == "openai":
            self.check_ledger(len(rows))
        compact(self.store)
        self.check(self.store.read_bytes() == self.reference.store, "the compacted store differs")

    def check_ledger(self, answers: int) -> None:
        """What was used up counts at least once, also what a killed run had sent."""
        ledger = Ledger(self.folder / "store" / LEDGER).read()
        counted = (ledger.spent + ledger.reserved).tokens
        self.check(counted >= answers * TOKENS, f"{counted} tokens counted for {answers} answers")


#: How far a run had come: the first of these calls that it made.
PHASES = (
    ("open manifest", "writing the manifest"),
    ("open output", "writing the responses"),
    ("write store", "answering"),
    ("flock lock", "opening the store"),
    ("", "starting"),
)
#: Seconds in which an interpreter of its own loads the rule script; measured before the moments.
OWN_S = 1.0


def strike(pid: int, number: int) -> None:
    with suppress(ProcessLookupError):  # It was over before.
        os.kill(pid, number)


def lines_in(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.is_file() else []


@contextmanager
def silence() -> Iterator[None]:
    """Nothing of a command's output on the terminal."""
    with Path(os.devnull).open("w") as sink:
        before: tuple[IO[str], IO[str]] = sys.stdout, sys.stderr  # type: ignore[assignment]
        sys.stdout = sys.stderr = sink
        try:
            yield
        finally:
            sys.stdout, sys.stderr = before


# --- all moments --------------------------------------------------------------------------------


def run_all(
    moments: int, seed: int, root: Path, *, mounting: bool = True, report: Callable[[str], None]
) -> Result:
    """Run so many moments, two at a time; report the tables and return what came of them."""
    begin = time.monotonic()
    with FaultServer(delay=0.01) as server, ExitStack() as stack:
        bench = Bench(root, server.base_url, mounting and can_mount(root))
        nurseries = [Nursery(PRELOADED["paced"]) for _ in range(2)]
        for nursery in nurseries:
            stack.callback(nursery.close)
        for start in ("empty", "half"):
            bench.measure("paced", start, nurseries[0])
        bench.measure("openai", "empty", nurseries[0])
        plan = planned(moments, seed, bench)
        lanes = [[m for m in plan if m.backend != "transformers"][lane::2] for lane in (0, 1)]
        if heavy := [m for m in plan if m.backend == "transformers"]:
            lanes.append(heavy)
            nurseries.append(Nursery((*PRELOADED["paced"], *PRELOADED["transformers"])))
            stack.callback(nurseries[-1].close)
            bench.measure("transformers", "empty", nurseries[-1])

        def walk(lane: Sequence[Moment], nursery: Nursery) -> list[Outcome]:
            return [Trial(bench, moment, nursery).run() for moment in lane]

        with ThreadPoolExecutor(3) as pool:
            done = pool.map(walk, lanes, nurseries)
            found = sorted((o for lane in done for o in lane), key=lambda o: o.moment.number)
        calls = sorted(set(bench.references["paced", "half"].calls))
        result = Result(found, calls, time.monotonic() - begin, bench.mounting)
    for line in result.table():
        report(line)
    return result


@dataclass
class Result:
    """All outcomes, and the calls that a run makes."""

    outcomes: list[Outcome]
    calls: list[str]
    seconds: float
    mounting: bool

    @property
    def problems(self) -> list[str]:
        return [f"moment {o.moment}: {problem}" for o in self.outcomes for problem in o.problems]

    def hits(self) -> dict[str, Counter[str]]:
        """How often each call was struck, by what was done to it."""
        found: dict[str, Counter[str]] = {call: Counter() for call in self.calls}
        for outcome in self.outcomes:
            fault = outcome.moment.fault
            if fault is not None:
                found.setdefault(fault["call"], Counter())[fault["action"]] += 1
        return found

    def table(self) -> Iterator[str]:
        yield f"{'kind':<26}{'backend':<14}{'moments':>8}{'ended':>7}{'stored':>8}{'problems':>10}"
        groups: dict[tuple[str, str], list[Outcome]] = defaultdict(list)
        for outcome in self.outcomes:
            groups[outcome.moment.kind, outcome.moment.backend].append(outcome)
        for (kind, backend), found in groups.items():
            yield (
                f"{kind:<26}{backend:<14}{len(found):>8}{sum(o.died for o in found):>7}"
                f"{sum(o.stored for o in found):>8}{sum(len(o.problems) for o in found):>10}"
            )
        yield (
            f"{'all':<40}{len(self.outcomes):>8}{sum(o.died for o in self.outcomes):>7}"
            f"{sum(o.stored for o in self.outcomes):>8}{len(self.problems):>10}"
        )
        yield ""
        yield "ended: by signal or error; stored: answers that stood in the store before going on"
        yield f"a full disk was {'a real one' if self.mounting else 'a limit on the size of files'}"
        yield ""
        yield from self._phases()
        actions = ("kill", "half", "after", "term", "fails")
        yield f"{'call':<28}" + "".join(f"{action:>7}" for action in actions)
        for call, counter in sorted(self.hits().items()):
            counter["fails"] = sum(n for action, n in counter.items() if action[0] == "E")
            yield f"{call:<28}" + "".join(f"{counter[action] or '':>7}" for action in actions)
        yield ""
        yield f"{self.seconds:.0f} s"
        yield from self.problems

    def _phases(self) -> Iterator[str]:
        counts = Counter(outcome.phase for outcome in self.outcomes)
        for _, phase in reversed(PHASES):
            yield f"{'while ' + phase:<40}{counts[phase]:>8}"
        yield ""


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables; exit status 1 where anything was lost."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults.crash_harness")
    parser.add_argument("--moments", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="folder for what a moment with problems leaves")
    parser.add_argument("--no-mounting", action="store_true", help="as if it were not allowed")
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="crashes.") as temporary:
        root, mounting = chosen.keep or Path(temporary), not chosen.no_mounting
        result = run_all(chosen.moments, chosen.seed, root, mounting=mounting, report=print)
    return 1 if result.problems else 0


if __name__ == "__main__":
    sys.exit(main())
