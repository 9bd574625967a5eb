"""The Chroma collection of a corpus: ids, vectors, texts. A store, not the judge of what is near.

Chroma searches with an approximate graph, which differs from build to build and misses neighbours
among equal vectors. What is retrieved comes from `ranking.ExactSearch`; here the store is checked
against the vectors, and its own answers are compared with the exact ones.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from scripts.retrieval.embedders.interface import Vectors, sendable
from scripts.retrieval.ranking import Hit
from scripts.retrieval.vector_files import CorpusVectors, IndexFileError

if TYPE_CHECKING:
    from chromadb.api import ClientAPI
    from chromadb.api.models.Collection import Collection

COLLECTION = "clauses"
#: Chroma refuses larger batches than 5,461; smaller ones keep its memory small too.
BATCH = 2000
#: How far a stored value may be from the file's: Chroma keeps float32.
TOLERANCE = 1e-6
#: Similarities so close count as equal.
TIE = 1e-6


def build_index(folder: Path | str, corpus: CorpusVectors, texts: Sequence[str]) -> None:
    """Build the collection beside `folder` and move it there; a folder that stood there goes.

    Raises IndexFileError when the ids are not distinct, or the texts not as many.
    """
    folder = Path(folder)
    if len(texts) != len(corpus.ids) or len(set(corpus.ids)) != len(corpus.ids):
        raise IndexFileError(
            f"{folder}: {len(texts)} texts for {len(set(corpus.ids))} distinct ids"
        )
    folder.parent.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        with _client(work) as client:
            collection = client.create_collection(
                COLLECTION, embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
            )
            size = min(BATCH, client.get_max_batch_size())
            for start in range(0, len(corpus.ids), size):
                part = slice(start, start + size)
                collection.add(
                    ids=list(corpus.ids[part]),
                    embeddings=corpus.vectors[part],
                    documents=[sendable(text) for text in texts[part]],
                )
            if collection.count() != len(corpus.ids):
                raise IndexFileError(
                    f"{folder}: {collection.count()} of {len(corpus.ids)} vectors kept"
                )
        if folder.exists():
            shutil.rmtree(folder)
        work.chmod(0o755)
        work.rename(folder)
    except BaseException:
        shutil.rmtree(work, ignore_errors=True)
        raise


@contextmanager
def _client(folder: Path) -> Iterator[ClientAPI]:
    """A client of one folder, without telemetry; its files are closed at the end."""
    import chromadb  # noqa: PLC0415
    from chromadb.api.shared_system_client import SharedSystemClient  # noqa: PLC0415
    from chromadb.config import Settings  # noqa: PLC0415

    try:
        client = chromadb.PersistentClient(
            path=str(folder), settings=Settings(anonymized_telemetry=False)
        )
    except BaseException:
        # Chroma keeps what failed to start and would hand it out again for the same folder.
        SharedSystemClient.clear_system_cache()
        raise
    try:
        yield client
    finally:
        client.close()  # type: ignore[attr-defined]


@contextmanager
def open_index(folder: Path | str) -> Iterator[Collection]:
    """The collection of a folder, for reading. IndexFileError where there is no whole one.

    Chroma writes into the database that it reads, so it is given a copy.
    """
    folder = Path(folder)
    if not (folder / "chroma.sqlite3").is_file():
        raise IndexFileError(f"{folder}: no Chroma index; embed the corpus again")
    try:
        with (
            tempfile.TemporaryDirectory(prefix="chroma.") as work,
            _client(Path(shutil.copytree(folder, Path(work) / "index"))) as client,
        ):
            collection = client.get_collection(COLLECTION, embedding_function=None)
            if _space(collection) != "cosine":
                raise IndexFileError(f"{folder}: the space is not cosine; embed the corpus again")
            yield collection
    except IndexFileError:
        raise
    except Exception as error:
        # Chroma's own errors are of many kinds, sqlite's and Rust's panics among them.
        raise IndexFileError(
            f"{folder}: the Chroma index cannot be read ({type(error).__name__}: {error}); remove "
            "the folder and embed the corpus again"
        ) from error


def _space(collection: Any) -> str:
    settings = collection.configuration_json.get("hnsw") or {}
    return str(settings.get("space"))


def check_index(folder: Path | str, corpus: CorpusVectors) -> None:
    """Raise IndexFileError unless the collection holds exactly the ids and vectors of the file."""
    with open_index(folder) as collection:
        count = collection.count()
        if count != len(corpus.ids):
            raise IndexFileError(
                f"{folder}: {count} vectors in the index, {len(corpus.ids)} in the file; embed the "
                "corpus again"
            )
        for start in range(0, count, BATCH):
            ids = list(corpus.ids[start : start + BATCH])
            found = collection.get(ids=ids, include=["embeddings"])
            places = {vector_id: place for place, vector_id in enumerate(found["ids"])}
            lost = [vector_id for vector_id in ids if vector_id not in places]
            if lost:
                raise IndexFileError(
                    f"{folder}: {lost[0]} is not in the index; embed the corpus again"
                )
            stored = np.asarray(found["embeddings"])[[places[vector_id] for vector_id in ids]]
            expected = corpus.vectors[start : start + BATCH]
            if stored.shape != expected.shape or np.abs(stored - expected).max() > TOLERANCE:
                raise IndexFileError(
                    f"{folder}: vectors of the index differ from the file's; embed the corpus again"
                )


def chroma_nearest(folder: Path | str, queries: Vectors, count: int) -> list[list[str]]:
    """Ids of the vectors that Chroma's own search finds, nearest first."""
    if not len(queries):
        return []
    with open_index(folder) as collection:
        found = collection.query(
            query_embeddings=queries, n_results=max(1, min(count, collection.count())), include=[]
        )
        return [list(ids) for ids in found["ids"]]


def recall(
    found: Sequence[Sequence[str]],
    exact: Sequence[Sequence[Hit]],
    queries: Vectors,
    corpus: CorpusVectors,
) -> float:
    """Mean share of the exact neighbours that were found (recall@k); 1.0 without any query.

    A vector that is as near as the last exact neighbour counts as found: which of several equal
    clauses is named is no fault.
    """
    places = {vector_id: place for place, vector_id in enumerate(corpus.ids)}
    shares = []
    for ids, hits, query in zip(found, exact, queries, strict=True):
        near = corpus.vectors[[places[name] for name in ids]] @ query
        reached = int((near >= hits[-1].similarity - TIE).sum())
        shares.append(min(reached, len(hits)) / len(hits))
    return float(np.mean(shares)) if shares else 1.0
