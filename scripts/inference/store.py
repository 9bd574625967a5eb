"""The response store: no answer is ever paid for twice.

One append-only JSONL file per benchmark, model and mode (`<mode>.jsonl`, or `<mode>.<shard>.jsonl`
when shards write side by side; all of them are read). A line is

    {"check": "<CRC-32>", "key": "<SHA-256>", "response": {...}}

`key` covers everything that determines the answer and nothing else, so the same question is the
same key whatever file it stands in. `check` is the CRC-32 of the response's bytes: a line that was
altered is found. A last line that is not whole was cut by a crash; it is dropped and generated
again. Any other bad line is an error that names it. A batch is on the disk when `append` returns;
where it cannot be written, the file is left with whole lines and the store takes nothing more.
Commands (`store_commands.py`): `python -m scripts.inference.store verify|compact|merge PATH`.
"""

from __future__ import annotations

import errno
import json
import os
import random
import sys
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

from scripts.execution import uninterrupted
from scripts.files import DataError, sync_path
from scripts.inference.interface import MODES, ModelSpec
from scripts.machine.locks import HeldError, Lock, LockError, Owner, beside, holder
from scripts.records import Request, Response, canonical_digest

_HEAD = b'{"check": "'
_MIDDLE = b'", "key": "'
_BODY = b'", "response": '
_CHECK = slice(len(_HEAD), len(_HEAD) + 8)
_KEY_START = _CHECK.stop + len(_MIDDLE)
_KEY = slice(_KEY_START, _KEY_START + 64)
_PAYLOAD = _KEY.stop + len(_BODY)

_HEXADECIMAL = b"0123456789abcdef"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
# What a power cut leaves where a file grew but its blocks were never written. JSON has no NUL, and
# text saved as UTF-16 has none beside another.
_NEVER_WRITTEN = b"\x00\x00"
# Seconds for which a run waits for another one that writes the same store: what is left of a run
# that was killed may need some to end, or to give its last answer.
PATIENCE_S = 30.0
# Stands in the purpose of a lock between the file and the split of which it holds a share.
_ONE_OF = ", one of "
REPAIR = "python -m scripts.inference.store verify --repair"

# What a line keeps of a Response: all that does not name the item, the model entry or the mode.
FIELDS = (
    "text",
    "reasoning",
    "finish_reason",
    "usage",
    "backend",
    "backend_version",
    "attempts",
    "error",
)
# Two good answers to one key may differ in these without contradicting each other.
_INCIDENTAL = frozenset({"backend_version", "attempts"})


class StoreError(DataError):
    """The store holds something that it must not, or somebody else is writing it."""


def request_key(spec: ModelSpec, identity: Mapping[str, Any], request: Request) -> str:
    """SHA-256 (hexadecimal) of what determines an answer.

    `request.decoding` must be complete (the runner adds `max_new_tokens`). The item's id, the
    request's id, paths, times, devices and shards are left out on purpose.
    """
    determining = {
        "source": spec.source,
        "revision": spec.revision,
        "precision": spec.precision,
        "backend": spec.backend,
        "identity": identity,
        "messages": request.messages,
        "decoding": request.decoding,
        "response_schema": request.response_schema,
    }
    return canonical_digest(determining)


def encode_line(key: str, stored: Mapping[str, Any]) -> bytes:
    """One line of the store, newline included."""
    payload = json.dumps(stored, sort_keys=True, ensure_ascii=True, allow_nan=False).encode("ascii")
    check = f"{zlib.crc32(payload):08x}".encode("ascii")
    return b"".join((_HEAD, check, _MIDDLE, key.encode("ascii"), _BODY, payload, b"}\n"))


def decode_line(line: bytes) -> tuple[str, dict[str, Any]]:
    """Key and stored response of one line without its newline; ValueError says what is wrong."""
    framed = (
        line.startswith(_HEAD)
        and line[_CHECK.stop : _KEY_START] == _MIDDLE
        and line[_KEY.stop : _PAYLOAD] == _BODY
        and line.endswith(b"}")
    )
    if not framed:
        raise ValueError("not a line of a response store")
    payload = line[_PAYLOAD:-1]
    if f"{zlib.crc32(payload):08x}".encode("ascii") != line[_CHECK]:
        raise ValueError("the checksum does not match, the line was altered")
    if line[_KEY].translate(None, _HEXADECIMAL):
        raise ValueError("the key is not a SHA-256, the line was altered")
    stored = json.loads(payload)
    if not isinstance(stored, dict) or not {"text", "finish_reason", "usage"} <= stored.keys():
        raise ValueError("the response lacks text, finish_reason or usage")
    return line[_KEY].decode("ascii"), stored


def to_stored(response: Response) -> dict[str, Any]:
    """What the store keeps of a Response (`None` values are left out)."""
    row = {name: getattr(response, name) for name in FIELDS}
    return {name: value for name, value in row.items() if value is not None}


def from_stored(
    stored: Mapping[str, Any], request: Request, spec: ModelSpec, mode: str
) -> Response:
    """The Response to `request`, mapped to its ids, from a stored answer."""
    return Response(
        request_id=request.request_id,
        item_id=request.item_id,
        model=spec.name,
        mode=mode,
        **{name: stored.get(name) for name in FIELDS},  # type: ignore[arg-type]
    )


def same_answer(a: Mapping[str, Any], b: Mapping[str, Any]) -> bool:
    """True when two stored responses say the same (library version and attempts aside)."""
    names = (a.keys() | b.keys()) - _INCIDENTAL
    return all(a.get(name) == b.get(name) for name in names)


class Line(NamedTuple):
    """One line of a store file: `content` as it stands, `problem` empty where it is good."""

    number: int
    content: bytes
    key: str
    stored: dict[str, Any]
    problem: str
    # The last line, of which a crash left a part: nothing that was ever acknowledged.
    torn: bool

    @property
    def bare(self) -> bytes:
        """The line without its end and without a byte order mark before the first one."""
        return _bare(self.number, self.content)


def read_lines(path: Path) -> Iterator[Line]:
    """Every line of a store file, the bad ones too.

    A byte order mark and CRLF line ends, which other programs add, are passed over. A last line
    that lacks nothing but its newline is good.
    """
    with path.open("rb") as handle:
        for number, content in enumerate(handle, start=1):
            try:
                key, stored = decode_line(_bare(number, content))
            except ValueError as error:
                problem, never_written = str(error), _NEVER_WRITTEN in content
                if never_written:
                    problem += "; it holds NUL bytes, as a power cut leaves them"
                torn = not content.endswith(b"\n") or (never_written and not handle.peek(1))
                yield Line(number, content, "", {}, problem, torn)
            else:
                yield Line(number, content, key, stored, "", False)


def _bare(number: int, content: bytes) -> bytes:
    line = content.rstrip(b"\r\n")
    return line.removeprefix(_BYTE_ORDER_MARK) if number == 1 else line


@dataclass
class Contents:
    """What was read from a store's files.

    `whole` is the length in bytes of each file's lines without a torn last one; `unended` are the
    files whose last line is good but lacks its newline.
    """

    answers: dict[str, dict[str, Any]] = field(default_factory=dict)
    lines: int = 0
    errors: int = 0
    duplicates: int = 0
    torn: list[Path] = field(default_factory=list)
    unended: list[Path] = field(default_factory=list)
    whole: dict[Path, int] = field(default_factory=dict)
    origin: dict[str, tuple[Path, int]] = field(default_factory=dict)

    def good(self, key: str) -> dict[str, Any] | None:
        """The answer to a key, None where there is none or only an error."""
        stored = self.answers.get(key)
        return None if stored is None or "error" in stored else stored

    def add(self, key: str, stored: dict[str, Any], path: Path, number: int) -> None:
        """Take one line in: a good answer beats an error, the first of two equal answers stays."""
        known = self.answers.get(key)
        good = "error" not in stored
        if known is not None and "error" not in known:
            if good and not same_answer(known, stored):
                first, line = self.origin[key]
                raise StoreError(
                    f"{path}, line {number}: a different answer to the same question stands in "
                    f"{first}, line {line}; remove one of the two lines, or keep the first one "
                    f"with `{REPAIR} {path.parent}`"
                )
        else:
            self.answers[key] = stored
            self.origin[key] = (path, number)
        self.lines += 1
        self.errors += not good
        self.duplicates += known is not None


def read_file(path: Path, contents: Contents) -> None:
    """Read one store file into `contents`; StoreError names the first bad line."""
    whole, unended = 0, False
    for line in read_lines(path):
        if line.torn:
            contents.torn.append(path)
            break
        if line.problem:
            raise StoreError(
                f"{path}, line {line.number}: {line.problem}; `{REPAIR} {path}` moves bad lines "
                "aside, then their answers are generated again"
            )
        contents.add(line.key, line.stored, path, line.number)
        whole += len(line.content)
        unended = not line.content.endswith(b"\n")
    contents.whole[path] = whole
    if unended:
        contents.unended.append(path)


def store_files(path: Path) -> list[Path]:
    """The file and its shards: `<mode>.jsonl` and `<mode>.<shard>.jsonl`, whichever is given.

    A file that is named otherwise stands alone: of two judges, one may be called as if it were a
    shard of the other (gpt-5, gpt-5.2).
    """
    mode = path.name.split(".")[0]
    found = {path}
    if mode in MODES:
        found |= {*path.parent.glob(f"{mode}.*.jsonl"), path.with_name(f"{mode}.jsonl")}
    return sorted(file for file in found if file.is_file())


def store_path(
    root: Path | str, benchmark: str, model: str, mode: str, shard: int | None = None
) -> Path:
    """Where the answers of one benchmark, model and mode (and shard) stand."""
    name = f"{mode}.jsonl" if shard is None else f"{mode}.{shard}.jsonl"
    return Path(root) / benchmark / model / name


class ResponseStore:
    """All answers of one benchmark, model and mode; a context manager while it writes.

    Reading needs no lock. Entering it takes the file's lock (StoreError tells who holds it), cuts a
    torn last line off, and loads the answers of the file and of its shards. `split` names how the
    requests are split of which this file holds a share (`shards.Split.name`). Files of one split
    are written side by side; while one of another split, or the whole, is being written, entering
    is refused: the same request might be in both.
    """

    def __init__(self, path: Path | str, split: str | None = None) -> None:
        self.path = Path(path)
        self.split = split
        self.contents = Contents()
        self._lock: Lock | None = None
        self._file: int | None = None

    @property
    def answers(self) -> dict[str, dict[str, Any]]:
        """Stored responses by key; those with `error` are there too."""
        return self.contents.answers

    def load(self) -> Self:
        """Read the file and its shards without locking; a torn last line is passed over."""
        self.contents = Contents()
        for file in store_files(self.path):
            read_file(file, self.contents)
        return self

    def good(self, key: str) -> dict[str, Any] | None:
        """The answer to a key, None where there is none or only an error."""
        return self.contents.good(key)

    def __enter__(self) -> Self:
        if self.path.exists() and not self.path.is_file():
            raise StoreError(f"{self.path}: not a regular file; move it away")
        with writing(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            # Of the file itself, where the path is a link to it: two names are not two locks.
            self._lock = take_segment(self.path.resolve(), self.split)
        try:
            self.load()
            with writing(self.path):
                self._open()
        except BaseException:
            self.close()
            raise
        return self

    def _open(self) -> None:
        """Open the file behind its last whole line, and make sure that it is there to stay."""
        self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        if self.path in self.contents.torn:
            os.ftruncate(self._file, self.contents.whole[self.path])
        if self.path in self.contents.unended:
            os.write(self._file, b"\n")
        os.fsync(self._file)
        sync_path(self.path.parent)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def append(self, rows: Iterable[tuple[str, Response]]) -> None:
        """Add a batch of (key, Response) in one write, and return when it is on the disk.

        SIGTERM and Ctrl-C wait until it is. Raises StoreError when the batch could not be written:
        then the file keeps the lines that are whole, and nothing more is taken. A good answer that
        contradicts an earlier one is refused with StoreError; the rest of its batch is stored.
        """
        with uninterrupted():
            taken: list[tuple[str, dict[str, Any]]] = []
            good: dict[str, dict[str, Any]] = {}
            refused = ""
            for key, response in rows:
                stored = to_stored(response)
                known = self.good(key) or good.get(key)
                if "error" not in stored:
                    if known and not same_answer(known, stored):
                        refused = f"{self.path}: a different answer to the stored question {key}"
                        continue
                    good.setdefault(key, stored)
                taken.append((key, stored))
            self._write(b"".join(encode_line(key, stored) for key, stored in taken))
            for key, stored in taken:
                self.contents.add(key, stored, self.path, self.contents.lines + 1)
        if refused:
            raise StoreError(refused)

    def _write(self, data: bytes) -> None:
        if self._file is None or self._lock is None:
            raise StoreError(f"{self.path}: the store is not open for writing")
        try:
            self._lock.check()
        except LockError as error:
            raise StoreError(str(error)) from error
        start = os.fstat(self._file).st_size
        try:
            with writing(self.path):
                self._check_place(self._file)
                rest = memoryview(data)
                while rest:
                    rest = rest[os.write(self._file, rest) :]
                if data:
                    os.fsync(self._file)
        except BaseException:
            self._leave_whole_lines(start)
            raise

    def _check_place(self, descriptor: int) -> None:
        """Nobody moved the file or put another in its place: what is written would be lost."""
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(descriptor), self.path.stat()):
                return
        raise StoreError(
            f"{self.path}: was moved, removed or replaced while a run was writing it; put it back "
            "and run again"
        )

    def _leave_whole_lines(self, start: int) -> None:
        """After a failed write: cut what stands behind the last newline, and take no more.

        Where that fails too, the next run finds a torn last line and cuts it.
        """
        descriptor, self._file = self._file, None
        if descriptor is None:
            return
        with suppress(OSError):
            written = os.pread(descriptor, os.fstat(descriptor).st_size - start, start)
            os.ftruncate(descriptor, start + written.rfind(b"\n") + 1)
        os.close(descriptor)

    def close(self) -> None:
        """Close the file and give the lock back; harmless when nothing is open."""
        if self._file is not None:
            os.close(self._file)
        if self._lock is not None:
            self._lock.release()
        self._file = self._lock = None


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn what the system refuses while `path` is written into a StoreError with a remedy."""
    try:
        yield
    except OSError as error:
        remedy = _REMEDIES.get(error.errno or 0, "see to the disk")
        raise StoreError(
            f"{path}: cannot be written ({error.strerror or error}); {remedy} and run again. "
            "The answers stored so far are kept"
        ) from error


_REMEDIES = {
    errno.ENOSPC: "make room on its disk",
    errno.EDQUOT: "make room within the quota",
    errno.EFBIG: "raise the limit of the size of files (ulimit -f)",
    errno.EROFS: "put it on a disk that may be written",
    errno.EACCES: "make the file and its folder writable",
    errno.EPERM: "make the file and its folder writable",
    errno.EEXIST: "move the file that stands in the place of a folder away",
    errno.ENOTDIR: "move the file that stands in the place of a folder away",
}


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock of a store file, for what rewrites it."""
    lock = _take_lock(path)
    try:
        yield
    finally:
        lock.release()


def take_segment(path: Path, split: str | None) -> Lock:
    """The lock of a file of which no other file is written by a run that splits otherwise."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        lock = _take_lock(path, split)
        # Looked for only now: of two that start at once, at least one sees the other.
        other = _other_split(path, split)
        if other is None:
            return lock
        lock.release()
        if time.monotonic() >= deadline:
            raise StoreError(
                f"{path}: another run splits the same requests in another way and is answering "
                f"them ({other}); wait for it or stop it"
            )
        time.sleep(random.uniform(0.5, 2.0))


def _other_split(path: Path, split: str | None) -> str | None:
    """Who writes another file of the store as part of another split; None when nobody does."""
    mode = path.name.split(".")[0]
    if mode not in MODES:
        return None
    for lock in sorted(path.parent.glob(f".{mode}.*jsonl.lock")):
        owner = Owner.read(lock.read_bytes())
        known = None if owner is None else owner.purpose.partition(_ONE_OF)[2] or None
        # A lock without a record is being taken, or is free: who holds it tells which.
        agrees = owner is not None and known == split
        if lock.name != beside(path).name and not agrees and (found := holder(lock)):
            return found
    return None


def _take_lock(path: Path, split: str | None = None) -> Lock:
    """The lock beside a store file, taken; StoreError says who holds it."""
    purpose = f"{path.parent.name} {path.stem}" + ("" if split is None else _ONE_OF + split)
    lock = Lock(beside(path), purpose, wait=PATIENCE_S)
    try:
        lock.acquire()
    except HeldError as error:
        raise StoreError(
            f"{path}: another run is writing this store ({error.holder}); wait for it or stop it"
        ) from error
    except LockError as error:
        raise StoreError(str(error)) from error
    return lock


if __name__ == "__main__":
    # Named as text: the commands are no part of what a run of a model depends on.
    sys.exit(import_module("scripts.inference.store_commands").main())
