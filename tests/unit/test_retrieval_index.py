"""The Chroma collection holds what the file of vectors holds; damage is found and said."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from scripts.retrieval import index
from scripts.retrieval.index import (
    IndexFileError,
    build_index,
    check_index,
    chroma_nearest,
    open_index,
    recall,
)
from scripts.retrieval.ranking import ExactSearch
from scripts.retrieval.vector_files import CorpusVectors, read_vectors, write_vectors


def vectors(seed: int, count: int, dimensions: int = 16) -> NDArray[np.float32]:
    rows = np.random.default_rng(seed).normal(size=(count, dimensions))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def corpus(count: int, seed: int = 0) -> CorpusVectors:
    return CorpusVectors(tuple(f"d/{number:05d}" for number in range(count)), vectors(seed, count))


def texts(count: int) -> list[str]:
    return [f"ধারা {number}" for number in range(count)]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("index") / "e5-small"
    build_index(folder, corpus(300), texts(300))
    return folder


@pytest.fixture
def copy(built: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(built, tmp_path / "copy"))


def test_the_collection_holds_vectors_and_texts(built: Path) -> None:
    check_index(built, corpus(300))
    with open_index(built) as collection:
        assert collection.count() == 300
        assert collection.configuration_json["hnsw"]["space"] == "cosine"
        found = collection.get(ids=["d/00007"], include=["documents", "embeddings"])
    assert found["documents"] == ["ধারা 7"]
    assert np.allclose(found["embeddings"][0], corpus(300).vectors[7])
    assert [path.name for path in built.parent.iterdir()] == ["e5-small"]


def test_chroma_agrees_with_the_exact_search(built: Path) -> None:
    queries = vectors(7, 20)
    exact = ExactSearch(corpus(300)).nearest(queries, 10)
    near = chroma_nearest(built, queries, 10)
    assert recall(near, exact, queries, corpus(300)) > 0.95
    assert chroma_nearest(built, queries[:0], 10) == []


def test_reading_changes_nothing(built: Path) -> None:
    def state() -> dict[str, tuple[bytes, int]]:
        files = [path for path in built.rglob("*") if path.is_file()]
        return {str(path): (path.read_bytes(), path.stat().st_mtime_ns) for path in files}

    before = state()
    check_index(built, corpus(300))
    chroma_nearest(built, vectors(1, 3), 5)
    assert state() == before


def test_more_than_one_batch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index, "BATCH", 7)
    build_index(tmp_path / "i", corpus(30), texts(30))
    check_index(tmp_path / "i", corpus(30))
    assert len(chroma_nearest(tmp_path / "i", vectors(1, 1), 99)[0]) == 30


def test_more_vectors_than_chroma_takes_at_once(tmp_path: Path) -> None:
    many = corpus(5600)
    build_index(tmp_path / "i", many, texts(5600))
    check_index(tmp_path / "i", many)


def test_a_new_build_replaces_the_old_one(copy: Path) -> None:
    build_index(copy, corpus(10, seed=5), texts(10))
    check_index(copy, corpus(10, seed=5))
    with pytest.raises(IndexFileError, match="300"):
        check_index(copy, corpus(300))


def test_two_builds_retrieve_the_same(tmp_path: Path) -> None:
    queries = vectors(3, 10)
    found = []
    for name in ("a", "b"):
        write_vectors(tmp_path / f"{name}.npz", corpus(300))
        build_index(tmp_path / name, corpus(300), texts(300))
        read = read_vectors(tmp_path / f"{name}.npz", 16)
        check_index(tmp_path / name, read)
        found.append(ExactSearch(read).nearest(queries, 12))
    assert found[0] == found[1]
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


def test_ids_twice_are_refused_before_anything_is_written(tmp_path: Path) -> None:
    twice = CorpusVectors(("d/1", "d/1"), vectors(0, 2))
    with pytest.raises(IndexFileError, match="2 texts for 1 distinct ids"):
        build_index(tmp_path / "i", twice, texts(2))
    with pytest.raises(IndexFileError, match="3 texts for 2"):
        build_index(tmp_path / "i", corpus(2), texts(3))
    assert not list(tmp_path.iterdir())


def test_a_build_that_fails_leaves_the_old_one(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = CorpusVectors(("a", "b"), np.full((2, 16), np.nan, dtype=np.float32))

    def stop(*_: object) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr(index, "sendable", stop)
    with pytest.raises(KeyboardInterrupt):
        build_index(copy, wrong, texts(2))
    check_index(copy, corpus(300))
    assert [path.name for path in copy.parent.iterdir()] == ["copy"]


def test_vectors_of_another_corpus(copy: Path) -> None:
    with pytest.raises(IndexFileError, match="differ from the file's"):
        check_index(copy, corpus(300, seed=1))
    other = CorpusVectors(tuple(f"e/{n:05d}" for n in range(300)), vectors(0, 300))
    with pytest.raises(IndexFileError, match="e/00000 is not in the index"):
        check_index(copy, other)


def test_no_index(tmp_path: Path) -> None:
    with pytest.raises(IndexFileError, match="no Chroma index; embed the corpus again"):
        check_index(tmp_path, corpus(3))


@pytest.mark.parametrize("kept", [0, 3000])
def test_a_cut_database_is_said(copy: Path, kept: int) -> None:
    os.truncate(copy / "chroma.sqlite3", kept)
    with pytest.raises(IndexFileError, match="copy"):
        check_index(copy, corpus(300))


def test_an_altered_database_is_said(copy: Path) -> None:
    path = copy / "chroma.sqlite3"
    content = path.read_bytes()
    path.write_bytes(content[:100] + b"\xff" * 5000 + content[5100:])
    with pytest.raises(IndexFileError, match="remove the folder and embed the corpus again"):
        check_index(copy, corpus(300))


def test_another_space_is_refused(tmp_path: Path) -> None:
    with index._client(tmp_path) as client:
        collection = client.create_collection(index.COLLECTION, embedding_function=None)
        collection.add(ids=["a"], embeddings=vectors(0, 1), documents=["x"])
    with pytest.raises(IndexFileError, match="the space is not cosine"):
        check_index(tmp_path, corpus(1))


def test_recall_counts_equals_as_found() -> None:
    rows = vectors(0, 6)
    rows[1] = rows[0]
    same = CorpusVectors(tuple("abcdef"), rows)
    queries = rows[:1]
    exact = ExactSearch(same).nearest(queries, 1)
    assert [hit.vector_id for hit in exact[0]] == ["a"]
    assert recall([["b"]], exact, queries, same) == 1.0
    assert recall([["c"]], exact, queries, same) == 0.0
    assert recall([], [], queries[:0], same) == 1.0


# files of vectors


def test_vectors_are_sorted_and_come_back(tmp_path: Path) -> None:
    rows = vectors(0, 3)
    write_vectors(tmp_path / "v.npz", CorpusVectors(("b", "a#chunk_1", "a"), rows))
    read = read_vectors(tmp_path / "v.npz")
    assert read.ids == ("a", "a#chunk_1", "b")
    assert read.parents == ("a", "a", "b")
    assert (read.vectors == rows[[2, 1, 0]]).all()


@pytest.mark.parametrize(
    ("ids", "rows", "said"),
    [
        (["a", "a"], vectors(0, 2), "the id a stands twice"),
        (["b", "a"], vectors(0, 2), "not sorted"),
        (["a", "b"], vectors(0, 3), "for 2 ids"),
        (["a", "b"], vectors(0, 2) * 2, "vector of a is not of length 1"),
        (["a", "b"], np.full((2, 16), np.nan, dtype=np.float32), "not of length 1"),
        (["a", "b"], vectors(0, 2).astype(np.float64), "float32 vectors expected"),
        ([1, 2], vectors(0, 2), "float32 vectors expected"),
    ],
)
def test_files_that_are_none(tmp_path: Path, ids: list[str], rows: object, said: str) -> None:
    with (tmp_path / "v.npz").open("wb") as handle:
        np.savez(handle, ids=np.array(ids), vectors=rows)  # type: ignore[arg-type]
    with pytest.raises(IndexFileError, match=said):
        read_vectors(tmp_path / "v.npz")


def test_damaged_files(tmp_path: Path) -> None:
    path = tmp_path / "v.npz"
    write_vectors(path, corpus(3))
    with pytest.raises(IndexFileError, match="16 dimensions, the embedder has 17"):
        read_vectors(path, 17)
    os.truncate(path, path.stat().st_size // 2)
    with pytest.raises(IndexFileError, match="embed the corpus again"):
        read_vectors(path)
    with path.open("wb") as handle:
        np.savez(handle, ids=np.array([{"a": 1}], dtype=object), vectors=vectors(0, 1))
    with pytest.raises(IndexFileError, match="no file of vectors"):
        read_vectors(path)
    with pytest.raises(FileNotFoundError):
        read_vectors(tmp_path / "none.npz")
