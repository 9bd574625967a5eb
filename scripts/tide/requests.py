"""Requests: one prompt per item and setting, with what was shown written into `setting`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scripts.files import DataError, iterate_jsonl
from scripts.records import Item, Request
from scripts.tide import contexts
from scripts.tide.contexts import Context, Corpus, Document
from scripts.tide.prompts import REASONING_CHARACTERS, Prompts, response_schema

#: The setting without documents, that with gold documents, the beginning of those that retrieve.
CLOSED_BOOK, GOLD, RETRIEVAL = "parametric", "icl", "rag"
#: The setting whose clauses were ranked again by their dates.
DATED = "rag-dated"
#: Values of `rerank`.
PLAIN, RERANKED = "none", "dated"
#: The two steps of perturbation detection; every other task has the first alone.
ANSWER, EXPLANATION = "answer", "explanation"


@dataclass(frozen=True)
class Setting:
    """How the models of a file of requests get at the corpus.

    `limit` is the most characters of documents in a prompt (None: no limit).
    """

    knowledge: str
    embedder: str | None = None
    depth: int | None = None
    limit: int | None = None

    def __post_init__(self) -> None:
        if self.knowledge not in (CLOSED_BOOK, GOLD) and not self.retrieves:
            raise DataError(
                f"setting {self.knowledge!r} is none of {CLOSED_BOOK}, {GOLD}, {RETRIEVAL}, "
                f"{RETRIEVAL}-…"
            )
        if self.retrieves and (self.embedder is None or self.depth is None):
            raise DataError(f"setting {self.knowledge} needs an embedder and a depth")

    @property
    def retrieves(self) -> bool:
        """Whether retrieved clauses are shown."""
        return self.knowledge.partition("-")[0] == RETRIEVAL

    def described(self, context: Context) -> dict[str, Any]:
        """The `setting` of a request."""
        return {
            "knowledge": self.knowledge,
            "retriever": self.embedder if self.retrieves else None,
            "depth": self.depth if self.retrieves else None,
            "rerank": (RERANKED if self.knowledge == DATED else PLAIN) if self.retrieves else None,
            "step": ANSWER,
            "context": list(context.names),
            "dropped": list(context.dropped),
            "none_resolved": context.none_resolved,
        }


@dataclass(frozen=True)
class Retrieved:
    """Clauses that a retriever found, by item."""

    path: str
    rows: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def hits(self, item_id: str, setting: Setting) -> Sequence[Mapping[str, Any]]:
        """The hits of an item in a setting, none where nothing was resolved.

        Raises DataError for an item or a depth that the file does not have.
        """
        row = self.rows.get(item_id)
        if row is None:
            raise DataError(f"{self.path}: no clauses for {item_id}; retrieve the clauses again")
        if row["none_resolved"]:
            return []
        if setting.knowledge == DATED:
            found = row.get("dated")
        else:
            found = row["depths"].get(str(setting.depth))
        if found is None:
            raise DataError(
                f"{self.path}: {item_id} has no clauses of {setting.knowledge} at depth "
                f"{setting.depth}; retrieve the clauses again"
            )
        hits: Sequence[Mapping[str, Any]] = found
        return hits


def read_retrieved(path: Path | str) -> Retrieved:
    """The rows of a file of retrieved clauses by item; an item that stands twice is a DataError."""
    rows: dict[str, Mapping[str, Any]] = {}
    for number, row in iterate_jsonl(path):
        missing = {"item_id", "none_resolved", "depths"} - set(row)
        if missing or row["item_id"] in rows:
            problem = f"no {min(missing)}" if missing else f"{row['item_id']} stands twice"
            raise DataError(f"{path}, line {number}: {problem}; retrieve the clauses again")
        rows[row["item_id"]] = row
    return Retrieved(str(path), rows)


def build_requests(
    items: Iterable[Item],
    setting: Setting,
    prompts: Prompts,
    corpus: Corpus,
    retrieved: Retrieved | None,
    *,
    decoding: Mapping[str, Any],
    constrained: bool,
    reasoning_characters: int | None = REASONING_CHARACTERS,
) -> list[Request]:
    """One request an item, in the order of the items.

    Nothing found to show (or nothing that fits the limit) gives the closed-book prompt, marked in
    the setting. Raises DataError for a document or clause that is not in the corpus.
    """
    requests = []
    for item in items:
        context = _context(item, setting, prompts, corpus, retrieved)
        schema = (
            response_schema(item.task, item.inputs, reasoning_characters) if constrained else None
        )
        messages = prompts.messages(item.task, item.inputs, context.block)
        described = setting.described(context)
        requests.append(Request.create(item.item_id, described, messages, dict(decoding), schema))
    return requests


def _context(
    item: Item, setting: Setting, prompts: Prompts, corpus: Corpus, retrieved: Retrieved | None
) -> Context:
    if setting.knowledge == CLOSED_BOOK:
        return Context()
    documents: list[Document]
    if setting.knowledge == GOLD:
        documents = contexts.gold_documents(item, corpus)
    elif retrieved is None:
        raise DataError(f"setting {setting.knowledge} needs the file of retrieved clauses")
    else:
        hits = retrieved.hits(item.item_id, setting)
        documents = contexts.retrieved_clauses(item.item_id, hits, corpus)
    return contexts.pack(documents, prompts.introduction, prompts.empty, setting.limit)
