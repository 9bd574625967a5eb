"""Vectors that were computed once are kept: a changed corpus embeds only its new texts.

An append-only file outside the outputs of any rule. It begins with `MAGIC`; every record is

    key (32 bytes) | dimensions (4) | CRC-32 of these (4) | vector (float32) | CRC-32 of it (4)

in little-endian order. The key is the SHA-256 of the embedder's identity, the mode and the text. A
last record that was cut by a crash is dropped; any other damage is an error. Several processes may
use the file: one at a time computes what is missing, and reads first what others have added, so
that no vector is computed (or paid) twice.
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

from scripts.machine.locks import Lock
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


class CacheError(EmbeddingError):
    """The file of kept vectors is damaged."""


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
        beside = self.path.with_name(f".{self.path.name}.lock")
        return Lock(beside, f"vectors of {self.path.stem}", wait=math.inf)

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
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            size = os.fstat(descriptor).st_size
            if size < self._end:  # Somebody removed the file; what is in memory still holds.
                self._end = 0
            self._catch_up(os.pread(descriptor, size - self._end, self._end))
            # What stands behind the last whole record was cut by a crash.
            os.ftruncate(descriptor, self._end)
            data = (b"" if self._end else MAGIC) + records
            written = 0
            while written < len(data):
                written += os.pwrite(descriptor, data[written:], self._end + written)
            os.fsync(descriptor)
            self._end += len(data)
        finally:
            os.close(descriptor)

    def _catch_up(self, data: bytes) -> None:
        """Take in the whole records of what stands in the file from `_end` on."""
        place = 0
        if not self._end and data:
            if not data.startswith(MAGIC):
                if MAGIC.startswith(data):
                    return
                raise CacheError(f"{self.path}: no file of kept vectors; move it away")
            place = len(MAGIC)
        while place + _HEAD_LENGTH <= len(data):
            start = place + _HEAD_LENGTH
            key, dimensions = _HEAD.unpack_from(data, place)
            self._check(data[place : start - _CHECK.size], data[start - _CHECK.size : start], place)
            stop = start + 4 * dimensions
            if stop + _CHECK.size > len(data):
                break
            self._check(data[start:stop], data[stop : stop + _CHECK.size], place)
            self.vectors[key] = np.frombuffer(data[start:stop], dtype="<f4").astype(np.float32)
            place = stop + _CHECK.size
        self._end += place

    def _check(self, content: bytes, check: bytes, place: int) -> None:
        if _CHECK.pack(zlib.crc32(content)) != check:
            raise CacheError(
                f"{self.path}, byte {self._end + place}: the record was altered; remove the file, "
                "its vectors are computed again"
            )


def _record(key: bytes, vector: Vectors) -> bytes:
    head = _HEAD.pack(key, len(vector))
    body = np.asarray(vector, dtype="<f4").tobytes()
    return b"".join((head, _CHECK.pack(zlib.crc32(head)), body, _CHECK.pack(zlib.crc32(body))))
