"""Vectors that were computed once are kept: a changed corpus embeds only its new texts.

An append-only file outside the outputs of any rule. It begins with `MAGIC`; every record is

    key (32 bytes) | dimensions (4) | CRC-32 of these (4) | vector (float32) | CRC-32 of it (4)

in little-endian order. The key is the SHA-256 of the embedder's identity, the mode and the text. A
last record that was cut by a crash, and the NUL bytes that a power cut leaves at the end, are
dropped; any other damage is an error (`cache_commands.py` mends it). Several processes may use the
file: one at a time computes what is missing, and reads first what others have added, so that no
vector is computed (or paid) twice.
"""

from __future__ import annotations

import math
import os
import struct
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from scripts.execution import uninterrupted
from scripts.files import sync_path
from scripts.machine.locks import Lock, beside
from scripts.records import canonical_digest
from scripts.retrieval.embedders.interface import (
    Embedder,
    EmbeddingError,
    Mode,
    PartlyEmbeddedError,
    Vectors,
    normalised,
    sendable,
)

MAGIC = b"embeddings 1\n"
_HEAD = struct.Struct("<32sI")
_CHECK = struct.Struct("<I")
_HEAD_LENGTH = _HEAD.size + _CHECK.size
# So many NUL bytes at the end are no part of a record.
_NEVER_WRITTEN = 8


class CacheError(EmbeddingError):
    """The file of kept vectors is damaged, or cannot be written."""


@dataclass
class Counts:
    """How many texts were asked for, and how many distinct ones had to be computed."""

    requested: int = 0
    computed: int = 0
    cached: int = 0


class CachedEmbedder:
    """An embedder whose vectors are kept in a file; texts that are there are not embedded again.

    `store` is the stem of the file, which several rules may share.
    """

    def __init__(self, embedder: Embedder, store: Path | str) -> None:
        self.embedder = embedder
        self.counts = Counts()
        self._cache = EmbeddingCache(store)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Vectors of texts to be found, shape (texts, dimensions), rows of length 1."""
        return self._cache.embed(self.embedder, texts, "passage", self.counts)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Vectors of texts to search with, shape (texts, dimensions), rows of length 1."""
        return self._cache.embed(self.embedder, texts, "query", self.counts)


def cache_key(identity: dict[str, object], mode: Mode, text: str) -> bytes:
    """SHA-256 of what determines a vector: embedder, mode and text. Nothing else."""
    return bytes.fromhex(canonical_digest([identity, mode, text]))


class EmbeddingCache:
    """The vectors of the file `{path}.vectors`; missing ones are computed, appended and kept."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(f"{path}.vectors")
        self.vectors: dict[bytes, Vectors] = {}
        self._end = 0
        if self.path.is_file():
            with self.path.open("rb") as handle:
                self._catch_up(handle.read())

    def embed(
        self, embedder: Embedder, texts: Sequence[str], mode: Mode, counts: Counts
    ) -> Vectors:
        """Vectors of the texts, shape (texts, dimensions), kept or computed in their order.

        A text that stands twice is computed once. After every slice of the embedder its vectors
        are on the disk.
        """
        identity = embedder.identity()
        clean = [sendable(text) for text in texts]
        keys = [cache_key(identity, mode, text) for text in clean]
        wanted = dict(zip(keys, clean, strict=True))
        computed = self._compute_missing(embedder, wanted, mode)
        counts.requested += len(texts)
        counts.computed += computed
        counts.cached += len(wanted) - computed
        if not keys:
            return np.zeros((0, embedder.spec.dimensions), dtype=np.float32)
        out = np.stack([self.vectors[key] for key in keys])
        if out.shape[1] != embedder.spec.dimensions or not np.isfinite(out).all():
            raise CacheError(f"{self.path}: holds vectors of another shape; remove the file")
        return out

    def _compute_missing(self, embedder: Embedder, wanted: Mapping[bytes, str], mode: Mode) -> int:
        """Compute what the file lacks, as its only writer; returns for how many texts."""
        if wanted.keys() <= self.vectors.keys():
            return 0
        with self._lock() as lock:
            self._append(b"")
            missing = [key for key in wanted if key not in self.vectors]
            for start in range(0, len(missing), embedder.slice_size):
                part = missing[start : start + embedder.slice_size]
                try:
                    vectors = embedder.embed([wanted[key] for key in part], mode)
                except PartlyEmbeddedError as partly:
                    lock.check()
                    self._keep_rows(embedder, part, partly.rows)
                    raise
                lock.check()
                self._keep(part, vectors)
        return len(missing)

    def append(self, keys: Sequence[bytes], vectors: Vectors) -> None:
        """Add vectors in one write, and return when they are on the disk."""
        with self._lock():
            self._keep(keys, vectors)

    def _lock(self) -> Lock:
        """The lock beside the file, waited for: its holder is computing vectors."""
        return Lock(beside(self.path), f"vectors of {self.path.stem}", wait=math.inf)

    def _keep_rows(
        self, embedder: Embedder, keys: Sequence[bytes], rows: Mapping[int, Any]
    ) -> None:
        """Keep what was computed, and perhaps paid, before an embedder failed."""
        places = sorted(rows)
        if places:
            done = normalised([rows[place] for place in places], len(places), embedder.spec)
            self._keep([keys[place] for place in places], done)

    def _keep(self, keys: Sequence[bytes], vectors: Vectors) -> None:
        self._append(b"".join(map(_record, keys, vectors)))
        self.vectors.update(zip(keys, vectors, strict=True))

    def _append(self, records: bytes) -> None:
        """Read what others have added, then write behind it; the caller holds the lock."""
        try:
            with uninterrupted():
                self._write(records)
        except OSError as error:
            raise CacheError(
                f"{self.path}: cannot be written ({error.strerror or error}); see to its disk and "
                "run again. The vectors kept so far are safe"
            ) from error

    def _write(self, records: bytes) -> None:
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            size = os.fstat(descriptor).st_size
            if size < self._end:  # Somebody removed the file; what is in memory still holds.
                self._end = 0
            self._catch_up(_bytes_between(descriptor, self._end, size))
            # What stands behind the last whole record was cut by a crash.
            os.ftruncate(descriptor, self._end)
            data = (b"" if self._end else MAGIC) + records
            written = 0
            while written < len(data):
                written += os.pwrite(descriptor, data[written:], self._end + written)
            os.fsync(descriptor)
            if not self._end:
                sync_path(self.path.parent)
            self._end += len(data)
        finally:
            os.close(descriptor)

    def _catch_up(self, data: bytes) -> None:
        """Take in the whole records of what stands in the file from `_end` on."""
        place, written = 0, written_length(data)
        if not self._end and written:
            if not data.startswith(MAGIC):
                if MAGIC.startswith(data[:written]):
                    return
                raise CacheError(f"{self.path}: no file of kept vectors; move it away")
            place = len(MAGIC)
        try:
            while (found := read_record(data, place, written)) is not None:
                key, vector, place = found
                self.vectors[key] = vector
        except ValueError as error:
            raise CacheError(
                f"{self.path}, byte {self._end + place}: {error}; `python -m "
                f"scripts.retrieval.cache_commands repair {self.path}` keeps the other vectors, "
                "then this one is computed again"
            ) from error
        self._end += place


def _bytes_between(descriptor: int, start: int, stop: int) -> bytes:
    """A part of a file, whole: one call of the system gives 2 GB at most."""
    parts = []
    while start < stop and (part := os.pread(descriptor, stop - start, start)):
        parts.append(part)
        start += len(part)
    return b"".join(parts)


def written_length(data: bytes) -> int:
    """Bytes before what a power cut leaves at the end: NUL bytes that were never written."""
    written = len(data.rstrip(b"\x00"))
    # A checksum, or a vector, may end in some by itself.
    return written if len(data) - written >= _NEVER_WRITTEN or not written else len(data)


def read_record(data: bytes, place: int, written: int) -> tuple[bytes, Vectors, int] | None:
    """Key and vector of the record that begins at `place`, and where it ends.

    None where a crash cut it, or left NUL bytes from `written` on; ValueError where it was altered.
    """
    start = place + _HEAD_LENGTH
    if start > len(data):
        return None
    if not _fits(data[place : start - _CHECK.size], data[start - _CHECK.size : start]):
        if written < start:
            return None
        raise ValueError("the record was altered")
    key, dimensions = _HEAD.unpack_from(data, place)
    stop = start + 4 * dimensions + _CHECK.size
    if stop > len(data):
        return None
    body = data[start : stop - _CHECK.size]
    if not _fits(body, data[stop - _CHECK.size : stop]):
        if written < stop:
            return None
        raise ValueError("the record was altered")
    return key, np.frombuffer(body, dtype="<f4").astype(np.float32), stop


def _fits(content: bytes, check: bytes) -> bool:
    return _CHECK.pack(zlib.crc32(content)) == check


def _record(key: bytes, vector: Vectors) -> bytes:
    head = _HEAD.pack(key, len(vector))
    body = np.asarray(vector, dtype="<f4").tobytes()
    return b"".join((head, _CHECK.pack(zlib.crc32(head)), body, _CHECK.pack(zlib.crc32(body))))
