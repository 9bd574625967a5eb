"""The ranking is the exact one, whatever the company of a query or a vector."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from scripts.retrieval import ranking
from scripts.retrieval.chunks import chunk_id, parent_of
from scripts.retrieval.ranking import ExactSearch, Hit, clauses
from scripts.retrieval.vector_files import CorpusVectors


def unit(rows: NDArray[np.float64]) -> NDArray[np.float32]:
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def corpus(seed: int, count: int, dimensions: int, copies: int = 0) -> CorpusVectors:
    rows = np.random.default_rng(seed).normal(size=(count, dimensions))
    rows[:copies] = rows[0]
    return CorpusVectors(tuple(f"d/{number:05d}" for number in range(count)), unit(rows))


def by_definition(
    found: CorpusVectors, query: NDArray[np.float32], count: int
) -> list[tuple[str, float]]:
    """The textbook way: every cosine in float64, sorted by value and id."""
    a, b = found.vectors.astype(np.float64), query.astype(np.float64)
    values = [round(float(np.dot(row, b)), 9) for row in a]
    return [(name, value) for value, name in sorted(
        zip((-v for v in values), found.ids, strict=True)
    )][:count]  # fmt: skip


@given(
    seed=st.integers(0, 9), count=st.integers(1, 60), copies=st.integers(0, 60),
    wanted=st.integers(1, 70),
)  # fmt: skip
def test_as_by_definition(seed: int, count: int, copies: int, wanted: int) -> None:
    found = corpus(seed, count, 12, min(copies, count))
    queries = unit(np.random.default_rng(seed + 100).normal(size=(5, 12)))
    got = ExactSearch(found).nearest(queries, wanted)
    for query, hits in zip(queries, got, strict=True):
        expected = by_definition(found, query, wanted)
        assert [hit.vector_id for hit in hits] == [name for name, _ in expected]
        assert np.allclose([hit.similarity for hit in hits], [-value for _, value in expected])


def test_values_that_float32_cannot_tell_apart_are_ranked_right(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Forty vectors within 1e-7 of each other: the product alone would mix them up."""
    rng = np.random.default_rng(3)
    base = rng.normal(size=3072)
    rows = unit(base + rng.normal(scale=3e-4, size=(400, 3072)))
    found = CorpusVectors(tuple(f"d/{number:03d}" for number in range(400)), rows)
    queries = unit(base + rng.normal(scale=0.5, size=(6, 3072)))
    monkeypatch.setattr(ranking, "SPARE", 0)
    for query, hits in zip(queries, ExactSearch(found).nearest(queries, 20), strict=True):
        assert [hit.vector_id for hit in hits] == [n for n, _ in by_definition(found, query, 20)]


def test_a_query_alone_gets_what_it_gets_in_company() -> None:
    found = corpus(1, 3000, 96, copies=700)
    queries = unit(np.random.default_rng(2).normal(size=(ranking.BLOCK + 7, 96)))
    search = ExactSearch(found)
    together = search.nearest(queries, 40)
    for place in (0, 5, ranking.BLOCK, len(queries) - 1):
        assert search.nearest(queries[place : place + 1], 40)[0] == together[place]


def test_the_order_of_the_corpus_does_not_matter() -> None:
    found = corpus(1, 500, 32, copies=90)
    order = np.random.default_rng(0).permutation(500)
    moved = CorpusVectors(tuple(found.ids[place] for place in order), found.vectors[order])
    queries = unit(np.random.default_rng(2).normal(size=(9, 32)))
    assert ExactSearch(found).nearest(queries, 30) == ExactSearch(moved).nearest(queries, 30)


def test_equal_vectors_go_by_id() -> None:
    found = corpus(0, 100, 8, copies=100)
    hits = ExactSearch(found).nearest(found.vectors[:1], 10)[0]
    assert [hit.vector_id for hit in hits] == [f"d/{number:05d}" for number in range(10)]
    assert [hit.similarity for hit in hits] == [pytest.approx(1.0)] * 10


def test_nothing_to_find() -> None:
    empty = CorpusVectors((), np.zeros((0, 8), dtype=np.float32))
    assert ExactSearch(empty).nearest(corpus(0, 3, 8).vectors, 5) == [[], [], []]
    assert ExactSearch(corpus(0, 3, 8)).nearest(np.zeros((0, 8), dtype=np.float32), 5) == []


HITS = st.lists(
    st.builds(
        Hit,
        st.builds(
            lambda parent, number: chunk_id(parent, number) if number else parent,
            st.sampled_from([f"d/{letter}" for letter in "abcdefg"]),
            st.integers(0, 4),
        ),
        st.sampled_from([round(0.1 * step, 1) for step in range(11)]),
    ),
    max_size=40,
)


@given(HITS, st.integers(1, 9), st.randoms())
def test_at_most_k_distinct_sorted_elements(hits: list[Hit], count: int, random: object) -> None:
    found = clauses(hits, count)
    names = [clause.element_id for clause in found]
    parents = {parent_of(hit.vector_id) for hit in hits}
    assert len(names) == len(set(names)) == min(count, len(parents))
    assert [clause.rank for clause in found] == list(range(1, len(found) + 1))
    keys = [(-clause.similarity, clause.element_id) for clause in found]
    assert keys == sorted(keys)
    best = {p: max(h.similarity for h in hits if parent_of(h.vector_id) == p) for p in parents}
    assert all(best[clause.element_id] == clause.similarity for clause in found)
    left_out = parents - set(names)
    assert all(best[name] <= found[-1].similarity for name in left_out)
    random.shuffle(hits)  # type: ignore[attr-defined]
    assert clauses(hits, count) == found


def test_the_chunk_decides_the_rank_of_its_clause() -> None:
    hits = [Hit("d/a", 0.3), Hit("d/b", 0.5), Hit("d/a#chunk_2", 0.9), Hit("d/a#chunk_1", 0.4)]
    found = clauses(hits, 5)
    assert [(c.element_id, c.similarity, c.rank, c.chunk) for c in found] == [
        ("d/a", 0.9, 1, "d/a#chunk_2"),
        ("d/b", 0.5, 2, None),
    ]


def test_a_clause_and_its_chunk_alike_count_as_the_clause() -> None:
    found = clauses([Hit("d/a#chunk_1", 0.5), Hit("d/a", 0.5)], 5)
    assert [(clause.element_id, clause.chunk) for clause in found] == [("d/a", None)]
