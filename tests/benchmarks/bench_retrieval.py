"""Exact retrieval at the size of the paper's corpus, against plain NumPy and Chroma's own search.

Run: OMP_NUM_THREADS=2 python -m tests.benchmarks.bench_retrieval [queries]

6,939 vectors of 3,072 dimensions, 3,050 queries, k = 40, once with distinct vectors and once with
2,000 of them equal (boilerplate clauses). "Plain NumPy" is what one would write by hand: one matrix
product in float32 and the k best of every row, sorted. Recall@10 is against float64 cosines; a
vector as near as the tenth counts as found.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from scripts.retrieval.index import build_index, chroma_nearest, recall
from scripts.retrieval.ranking import ExactSearch, Hit
from scripts.retrieval.vector_files import CorpusVectors

VECTORS, DIMENSIONS, QUERIES, NEIGHBOURS, DUPLICATES = 6_939, 3_072, 3_050, 40, 2_000
TOPICS, ROUNDS = 400, 3
T = TypeVar("T")


def made(duplicates: int, queries: int) -> tuple[CorpusVectors, NDArray[np.float32]]:
    """Vectors around shared topics, `duplicates` of them equal, and queries near some of them."""
    rng = np.random.default_rng(42)
    topics = rng.normal(size=(TOPICS, DIMENSIONS)).astype(np.float32)
    rows = topics[rng.integers(TOPICS, size=VECTORS)]
    rows = rows + rng.normal(scale=0.8, size=rows.shape).astype(np.float32)
    rows[rng.permutation(VECTORS)[:duplicates]] = rows[0]
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    near = rows[rng.integers(VECTORS, size=queries)]
    asked = near + rng.normal(scale=0.02, size=near.shape).astype(np.float32)
    asked /= np.linalg.norm(asked, axis=1, keepdims=True)
    ids = tuple(f"document-{place // 10:04d}/clause_{place % 10}" for place in range(VECTORS))
    return CorpusVectors(ids, rows.astype(np.float32)), asked.astype(np.float32)


def plain(corpus: CorpusVectors, queries: NDArray[np.float32]) -> NDArray[np.int64]:
    """The k nearest rows of every query by one product; ties in any order."""
    similarity = queries @ corpus.vectors.T
    best = np.argpartition(similarity, -NEIGHBOURS, axis=1)[:, -NEIGHBOURS:]
    order = np.argsort(-np.take_along_axis(similarity, best, axis=1), axis=1)
    return np.take_along_axis(best, order, axis=1)


def reference(corpus: CorpusVectors, queries: NDArray[np.float32]) -> list[list[Hit]]:
    """The ten nearest by cosines in float64."""
    vectors = corpus.vectors.astype(np.float64)
    out = []
    for start in range(0, len(queries), 256):
        similarity = queries[start : start + 256].astype(np.float64) @ vectors.T
        for row in similarity:
            best = np.argsort(-row, kind="stable")[:10]
            out.append([Hit(corpus.ids[place], float(row[place])) for place in best])
    return out


def timed(work: Callable[[], T]) -> tuple[float, T]:
    """Seconds of wall-clock time, and the result."""
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def measure(duplicates: int, queries: int) -> dict[str, Any]:
    """Seconds and recall@10 of each way to search."""
    corpus, asked = made(duplicates, queries)
    setup, search = timed(lambda: ExactSearch(corpus))
    # In turn, and the best of each: what else the machine does falls on both.
    by_hand, ours = float("inf"), float("inf")
    for _ in range(ROUNDS):
        by_hand = min(by_hand, timed(lambda: plain(corpus, asked))[0])
        seconds, hits = timed(lambda: search.nearest(asked, NEIGHBOURS))
        ours = min(ours, seconds)
    exact = reference(corpus, asked)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "index"
        build, _ = timed(lambda: build_index(path, corpus, ["text"] * VECTORS))
        chroma, found = timed(lambda: chroma_nearest(path, asked, 10))
    names = [[hit.vector_id for hit in row[:10]] for row in hits]
    return {
        "numpy": by_hand,
        "setup": setup,
        "ours": ours,
        "ratio": (ours + setup) / by_hand,
        "recall": recall(names, exact, asked, corpus),
        "chroma_build": build,
        "chroma": chroma,
        "chroma_recall": recall(found, exact, asked, corpus),
    }


def main() -> None:
    queries = int(sys.argv[1]) if len(sys.argv) > 1 else QUERIES
    print(f"{VECTORS} vectors of {DIMENSIONS}, {queries} queries, k = {NEIGHBOURS}")
    for duplicates in (0, DUPLICATES):
        found = measure(duplicates, queries)
        print(
            f"{duplicates:>5} equal vectors: plain NumPy {found['numpy']:.2f} s; ours "
            f"{found['setup']:.2f} + {found['ours']:.2f} s ({found['ratio']:.2f} x), recall@10 "
            f"{found['recall']:.4f}; Chroma builds in {found['chroma_build']:.1f} s, searches (k = "
            f"10) in {found['chroma']:.1f} s, recall@10 {found['chroma_recall']:.4f}",
            flush=True,
        )
        assert found["recall"] >= 0.99
        assert found["ratio"] <= 2.0


if __name__ == "__main__":
    main()
