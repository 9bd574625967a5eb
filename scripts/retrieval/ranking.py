"""Exact cosine search, and the elements that its vectors belong to.

The nearest vectors are found with a matrix product in float32, and their similarities are computed
again in float64, so that neither the order nor the values depend on how many queries are asked at
once. Equal vectors (boilerplate clauses) are searched once and ranked by their ids.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scripts.retrieval.chunks import is_chunk, parent_of
from scripts.retrieval.embedders.interface import Vectors
from scripts.retrieval.vector_files import CorpusVectors

#: Queries per matrix product: a block's similarities stay within some thirty megabytes.
BLOCK = 1024
#: Vectors looked at beyond those asked for; float32 may have put them in another order.
SPARE = 4
#: Well above the error of a float32 cosine of two unit vectors of a few thousand dimensions (about
#: 1e-6); who comes so near to the last place is computed again.
ERROR = 2e-5
#: Decimals to which similarities count as equal.
DECIMALS = 9


@dataclass(frozen=True, slots=True)
class Hit:
    """A vector and its cosine similarity with the query."""

    vector_id: str
    similarity: float


@dataclass(frozen=True, slots=True)
class Clause:
    """An element, its rank from 1, and the similarity of the vector that brought it in.

    `chunk` is that vector's id where it is a chunk's, None where the whole element was nearest.
    """

    element_id: str
    similarity: float
    rank: int
    chunk: str | None


class ExactSearch:
    """Nearest vectors of a corpus by exact cosine; ties go to the id that sorts first."""

    def __init__(self, corpus: CorpusVectors) -> None:
        self.corpus = corpus
        groups: dict[bytes, list[str]] = {}
        rows: list[int] = []
        for place, vector_id in enumerate(corpus.ids):
            content = (corpus.vectors[place] + np.float32(0.0)).tobytes()  # -0.0 equals 0.0
            if content not in groups:
                rows.append(place)
            groups.setdefault(content, []).append(vector_id)
        self._groups = [sorted(ids) for ids in groups.values()]
        self._vectors = np.ascontiguousarray(corpus.vectors[rows])

    def nearest(self, queries: Vectors, count: int) -> list[list[Hit]]:
        """The `count` nearest vectors (fewer in a small corpus) of every query, nearest first.

        `queries` is (queries, dimensions) with rows of length 1.
        """
        return [hits for block in self._blocks(queries, count) for hits in block]

    def _blocks(self, queries: Vectors, count: int) -> Iterator[list[list[Hit]]]:
        if not len(self._vectors) or count < 1:
            yield [[] for _ in queries]
            return
        wanted = min(count + SPARE, len(self._vectors))
        for start in range(0, len(queries), BLOCK):
            block = queries[start : start + BLOCK]
            rough = block @ self._vectors.T
            found = _largest(rough, wanted)
            yield [
                self._rank(query, rough[row], found[row], count) for row, query in enumerate(block)
            ]

    def _rank(
        self, query: Vectors, rough: Vectors, found: NDArray[np.int64], count: int
    ) -> list[Hit]:
        exact = self._cosines(query, found)
        if len(found) < len(self._vectors):
            # A vector that was left out could belong here only if it came within the error.
            border = np.sort(exact)[-count] if count <= len(exact) else -np.inf
            if rough[found].min() > border - ERROR:
                found = np.flatnonzero(rough > border - 2 * ERROR)
                exact = self._cosines(query, found)
        hits = sorted(
            [
                (-similarity, vector_id)
                for place, similarity in zip(found.tolist(), exact.tolist(), strict=True)
                for vector_id in self._groups[place][:count]
            ]
        )
        return [Hit(vector_id, -negative) for negative, vector_id in hits[:count]]

    def _cosines(self, query: Vectors, places: NDArray[np.int64]) -> NDArray[np.float64]:
        chosen = self._vectors[places].astype(np.float64)
        return np.round(chosen @ query.astype(np.float64), DECIMALS)


def _largest(similarities: Vectors, count: int) -> NDArray[np.int64]:
    """Columns of the `count` largest values of every row, in any order."""
    columns = similarities.shape[1]
    if count >= columns:
        return np.broadcast_to(np.arange(columns), similarities.shape)
    return np.argpartition(similarities, columns - count, axis=1)[:, columns - count :]


def clauses(hits: Sequence[Hit], count: int) -> list[Clause]:
    """At most `count` distinct elements of the hits, most similar first.

    A chunk stands for the element that it was cut from; an element keeps its most similar vector.
    """
    best: dict[str, Hit] = {}
    for hit in sorted(hits, key=lambda hit: (-hit.similarity, hit.vector_id)):
        best.setdefault(parent_of(hit.vector_id), hit)
    order = sorted(best.items(), key=lambda entry: (-entry[1].similarity, entry[0]))
    return [
        Clause(element, hit.similarity, rank, hit.vector_id if is_chunk(hit.vector_id) else None)
        for rank, (element, hit) in enumerate(order[:count], start=1)
    ]
