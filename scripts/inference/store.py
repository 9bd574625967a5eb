"""The response store: no answer is ever paid for twice.

One append-only JSONL file per benchmark, model and mode (`<mode>.jsonl`, or `<mode>.<shard>.jsonl`
when shards write side by side; all of them are read). A line is

    {"check": "<CRC-32>", "key": "<SHA-256>", "response": {...}}

`key` covers everything that determines the answer and nothing else, so the same question is the
same key whatever file it stands in. `check` is the CRC-32 of the response's bytes: a line that was
altered is found. A last line without a newline was cut by a crash; it is dropped and generated
again. Commands: `python -m scripts.inference.store verify|compact PATH`.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import socket
import sys
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from scripts.files import DataError, atomic_write
from scripts.inference.interface import ModelSpec
from scripts.records import Request, Response, canonical_digest

_HEAD = b'{"check": "'
_MIDDLE = b'", "key": "'
_BODY = b'", "response": '
_CHECK = slice(len(_HEAD), len(_HEAD) + 8)
_KEY_START = _CHECK.stop + len(_MIDDLE)
_KEY = slice(_KEY_START, _KEY_START + 64)
_PAYLOAD = _KEY.stop + len(_BODY)

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


@dataclass
class Contents:
    """What was read from a store's files."""

    answers: dict[str, dict[str, Any]] = field(default_factory=dict)
    lines: int = 0
    errors: int = 0
    duplicates: int = 0
    torn: list[Path] = field(default_factory=list)
    origin: dict[str, tuple[Path, int]] = field(default_factory=dict)

    def add(self, key: str, stored: dict[str, Any], path: Path, number: int) -> None:
        """Take one line in: a good answer beats an error, the first of two equal answers stays."""
        self.lines += 1
        good = "error" not in stored
        self.errors += not good
        known = self.answers.get(key)
        if known is not None:
            self.duplicates += 1
            if "error" not in known:
                if good and not same_answer(known, stored):
                    first, line = self.origin[key]
                    raise StoreError(
                        f"{path}, line {number}: a different answer to the same question stands in "
                        f"{first}, line {line}; remove one of the two lines"
                    )
                return
        self.answers[key] = stored
        self.origin[key] = (path, number)


def read_file(path: Path, contents: Contents) -> int:
    """Read one store file into `contents`; returns the length in bytes of its whole lines."""
    whole = 0
    with path.open("rb") as handle:
        for number, line in enumerate(handle, start=1):
            if not line.endswith(b"\n"):
                contents.torn.append(path)
                break
            whole += len(line)
            try:
                key, stored = decode_line(line[:-1])
            except ValueError as error:
                raise StoreError(
                    f"{path}, line {number}: {error}; remove the line and its answer is generated "
                    "again"
                ) from error
            contents.add(key, stored, path, number)
    return whole


def store_files(path: Path) -> list[Path]:
    """The file and its shards: `<mode>.jsonl` and `<mode>.<shard>.jsonl`, whichever is given."""
    mode = path.name.split(".")[0]
    found = set(path.parent.glob(f"{mode}.*.jsonl")) | {path.parent / f"{mode}.jsonl"}
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
    torn last line off, and loads the answers of the file and of its shards.
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self.contents = Contents()
        self._lock: int | None = None
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
        stored = self.answers.get(key)
        return None if stored is None or "error" in stored else stored

    def __enter__(self) -> Self:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._lock = _take_lock(self.path)
        try:
            self.load()
            self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
            if self.path in self.contents.torn:
                os.ftruncate(self._file, read_file(self.path, Contents()))
            os.fsync(self._file)
            _sync_folder(self.path.parent)
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def append(self, rows: Iterable[tuple[str, Response]]) -> None:
        """Add a batch of (key, Response) in one write, and return when it is on the disk."""
        if self._file is None:
            raise StoreError(f"{self.path}: the store is not open for writing")
        lines: list[bytes] = []
        for key, response in rows:
            stored = to_stored(response)
            lines.append(encode_line(key, stored))
            self.contents.add(key, stored, self.path, self.contents.lines + 1)
        data = memoryview(b"".join(lines))
        while data:
            data = data[os.write(self._file, data) :]
        if lines:
            os.fsync(self._file)

    def close(self) -> None:
        """Close the file and give the lock back; harmless when nothing is open."""
        for name in ("_file", "_lock"):
            descriptor = getattr(self, name)
            if descriptor is not None:
                setattr(self, name, None)
                os.close(descriptor)


def _take_lock(path: Path) -> int:
    """Lock beside the store. The kernel frees it when its holder dies, however it dies."""
    lock = path.with_name(f".{path.name}.lock")
    descriptor = os.open(lock, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        holder = os.pread(descriptor, 200, 0).decode("utf-8", "replace").strip() or "unknown"
        os.close(descriptor)
        raise StoreError(
            f"{path}: another run is writing this store ({holder}); wait for it or stop it"
        ) from error
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, f"process {os.getpid()} on {socket.gethostname()}\n".encode(), 0)
    return descriptor


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def compact(path: Path | str) -> Contents:
    """Rewrite one store file without errors that were answered later and without duplicates.

    Keeps the order of the lines. Shards stay as they are. Returns what the file held before.
    """
    path = Path(path)
    if not path.is_file():
        raise StoreError(f"{path}: no such store file")
    lock = _take_lock(path)
    try:
        contents = Contents()
        read_file(path, contents)
        order = sorted(contents.answers, key=lambda key: contents.origin[key][1])
        with atomic_write(path, "wb") as handle:
            for key in order:
                handle.write(encode_line(key, contents.answers[key]))
    finally:
        os.close(lock)
    return contents


def _report(path: Path, contents: Contents) -> str:
    torn = "; the last line is cut and will be generated again" if contents.torn else ""
    return (
        f"{path}: {contents.lines} lines, {len(contents.answers)} answers, "
        f"{sum('error' in row for row in contents.answers.values())} still in error, "
        f"{contents.duplicates} superseded or repeated{torn}"
    )


def main(arguments: list[str] | None = None) -> int:
    """`verify` reads every line of the given store files or folders, `compact` rewrites them."""
    parser = argparse.ArgumentParser(prog="python -m scripts.inference.store", description=__doc__)
    parser.add_argument("action", choices=("verify", "compact"))
    parser.add_argument("path", type=Path, nargs="+")
    chosen = parser.parse_args(arguments)
    status = 0
    for given in chosen.path:
        files = sorted(given.rglob("*.jsonl")) if given.is_dir() else [given]
        for file in files:
            try:
                if chosen.action == "compact":
                    contents = compact(file)
                else:
                    contents = Contents()
                    read_file(file, contents)
                print(_report(file, contents))
            except (OSError, DataError) as error:
                print(f"error: {error}", file=sys.stderr)
                status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
