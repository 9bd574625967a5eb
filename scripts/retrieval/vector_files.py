"""The vectors of a corpus as a file: ids and float32 rows of length 1, sorted by id."""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from scripts.files import DataError, atomic_write
from scripts.retrieval.chunks import parent_of
from scripts.retrieval.embedders.interface import Vectors

#: How far from 1 the length of a stored vector may be.
TOLERANCE = 1e-4


class IndexFileError(DataError):
    """Vectors or index are damaged, half written, or do not belong together."""


@dataclass(frozen=True)
class CorpusVectors:
    """Vectors (vectors, dimensions) of the passages `ids`; a chunk's id names its element."""

    ids: tuple[str, ...]
    vectors: Vectors

    @property
    def parents(self) -> tuple[str, ...]:
        """The element of every vector."""
        return tuple(parent_of(vector_id) for vector_id in self.ids)


def write_vectors(path: Path | str, corpus: CorpusVectors) -> None:
    """Write an .npz, atomically and with the same bytes for the same vectors."""
    _check(path, list(corpus.ids), corpus.vectors)
    order = sorted(range(len(corpus.ids)), key=corpus.ids.__getitem__)
    with atomic_write(path, "wb") as handle:
        np.savez(
            handle,
            ids=np.array([corpus.ids[place] for place in order], dtype=np.str_),
            vectors=np.ascontiguousarray(corpus.vectors[order]),
        )


def read_vectors(path: Path | str, dimensions: int | None = None) -> CorpusVectors:
    """Read an .npz that `write_vectors` wrote; nothing in it is executed.

    Raises IndexFileError for a damaged file, ids that are not sorted and distinct, values that are
    no numbers, rows that are not of length 1, or a length other than `dimensions`.
    """
    try:
        with np.load(path, allow_pickle=False) as arrays:
            ids, vectors = arrays["ids"], arrays["vectors"]
    except FileNotFoundError:
        raise
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise IndexFileError(
            f"{path}: no file of vectors ({error}); embed the corpus again"
        ) from error
    if ids.dtype.kind != "U" or ids.ndim != 1 or vectors.dtype != np.float32:
        raise IndexFileError(f"{path}: ids and float32 vectors expected; embed the corpus again")
    names = [str(name) for name in ids]
    if names != sorted(names):
        raise IndexFileError(f"{path}: the ids are not sorted; embed the corpus again")
    _check(path, names, vectors)
    if dimensions is not None and vectors.shape[1] != dimensions:
        raise IndexFileError(
            f"{path}: vectors of {vectors.shape[1]} dimensions, the embedder has {dimensions}; "
            "embed the corpus again"
        )
    return CorpusVectors(tuple(names), vectors)


def _check(path: Path | str, ids: list[str], vectors: Vectors) -> None:
    if vectors.ndim != 2 or len(vectors) != len(ids):
        raise IndexFileError(f"{path}: vectors of shape {vectors.shape} for {len(ids)} ids")
    if len(set(ids)) < len(ids):
        seen: set[str] = set()
        twice = next(name for name in ids if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise IndexFileError(f"{path}: the id {twice} stands twice; ids must be distinct")
    lengths = np.linalg.norm(vectors, axis=1)
    wrong = np.flatnonzero(~(np.abs(lengths - 1.0) <= TOLERANCE))
    if len(wrong):
        raise IndexFileError(f"{path}: the vector of {ids[int(wrong[0])]} is not of length 1")
