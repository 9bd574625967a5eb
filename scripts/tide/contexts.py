"""The block of source documents before a question, in a form that no document can leave.

Source: TIDE, sections A.8.5 and A.8.6: gold documents in full (icl) or retrieved clauses (rag),
packed on document boundaries. Each document stands between two lines with a mark that is derived
from the documents and occurs in none of them, so a text that imitates a boundary does not have the
mark and stays inside.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from scripts.files import DataError
from scripts.records import Item, canonical_digest
from scripts.tide.rows import Element
from scripts.tide.shown_text import one_line, shown

#: Stands in the introduction where the mark is written.
MARK = "{{mark}}"
_OPENING = re.compile(r"^<<<DOCUMENT (\d+) ([0-9a-f]{12}): (.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Document:
    """One document of a block: a whole instrument, or one clause."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Context:
    """What a prompt shows before the question, and what did not fit.

    `block` is empty where there is nothing to show; the prompt is the closed-book one then.
    `names` and `dropped` are the documents or elements in the order in which they were offered.
    `none_resolved` says that nothing was found to show.
    """

    block: str = ""
    names: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    none_resolved: bool = False


@dataclass(frozen=True)
class Corpus:
    """Elements by id and by document, in the order of their file."""

    by_id: dict[str, Element] = field(default_factory=dict)
    by_document: dict[str, list[Element]] = field(default_factory=dict)

    @classmethod
    def of(cls, elements: Iterable[Element]) -> Corpus:
        """Index elements; DataError for an id that stands twice."""
        corpus = cls()
        for element in elements:
            if element.element_id in corpus.by_id:
                raise DataError(
                    f"element {element.element_id} stands twice; gather the elements again"
                )
            corpus.by_id[element.element_id] = element
            corpus.by_document.setdefault(element.document, []).append(element)
        return corpus

    def element(self, element_id: str, wanted_by: str) -> Element:
        """One element; DataError naming who wants it."""
        found = self.by_id.get(element_id)
        if found is None:
            raise DataError(
                f"{wanted_by}: no element {element_id}; correct the cited clauses or gather the "
                "elements again"
            )
        return found


def element_text(element: Element) -> str:
    """An element as it is shown: its number and title where its text does not begin with them."""
    text = element.text.strip()
    heading = " ".join(part.strip() for part in (element.number, element.title) if part.strip())
    known = {"", element.number.strip(), element.title.strip(), heading}
    if any(text.startswith(part) for part in known - {""}):
        return text
    return f"{heading}\n{text}".strip()


def gold_documents(item: Item, corpus: Corpus) -> list[Document]:
    """The documents of an item's cited clauses, whole, in the order of their names.

    That order tells nothing of the answer, while the order of citation may.
    """
    documents = []
    for name in sorted(item.source["documents"]):
        elements = corpus.by_document.get(name)
        if not elements:
            raise DataError(f"{item.item_id}: document {name} has no elements; gather them again")
        texts = [text for text in map(element_text, elements) if text]
        documents.append(Document(name, "\n\n".join(texts)))
    return documents


def retrieved_clauses(
    item_id: str, hits: Sequence[Mapping[str, Any]], corpus: Corpus
) -> list[Document]:
    """The retrieved elements, whole, in the order of their rank."""
    ids = [str(hit["element_id"]) for hit in sorted(hits, key=lambda hit: hit["rank"])]
    if len(set(ids)) < len(ids):
        raise DataError(f"{item_id}: a clause was retrieved twice; retrieve the clauses again")
    return [Document(name, element_text(corpus.element(name, item_id))) for name in ids]


def pack(
    documents: Sequence[Document], introduction: str, empty: str, limit: int | None
) -> Context:
    """The block of documents, each whole or not at all.

    `introduction` stands before the first document, with the mark at `{{mark}}`; `empty` stands for
    a text that is empty; `limit` is the most characters of all documents with their boundaries
    (None: no limit). A document that does not fit is dropped; a later, shorter one may fit.
    """
    if not documents:
        return Context(none_resolved=True)
    readable = [Document(one_line(d.name), shown(d.text).strip() or empty) for d in documents]
    mark = _mark(readable)
    parts: list[str] = []
    names: list[str] = []
    dropped: list[str] = []
    room = limit
    for original, document in zip(documents, readable, strict=True):
        part = _enclosed(len(parts) + 1, mark, document)
        if room is not None and len(part) > room:
            dropped.append(original.name)
            continue
        room = None if room is None else room - len(part)
        parts.append(part)
        names.append(original.name)
    if not parts:
        return Context(dropped=tuple(dropped))
    block = "\n\n".join([introduction.strip().replace(MARK, mark), *parts])
    return Context(block, tuple(names), tuple(dropped))


def _mark(documents: Sequence[Document]) -> str:
    """Twelve hexadecimal digits that occur in no document."""
    texts = [[document.name, document.text] for document in documents]
    for attempt in count():
        mark = canonical_digest(["source documents", attempt, texts])[:12]
        if not any(mark in part for pair in texts for part in pair):
            return mark
    raise AssertionError("unreachable")


def _enclosed(number: int, mark: str, document: Document) -> str:
    opening = f"<<<DOCUMENT {number} {mark}: {document.name}"
    return f"{opening}\n{document.text}\nDOCUMENT {number} {mark}>>>"


def shown_documents(content: str) -> list[Document]:
    """The documents of a block as they were shown; empty for a text without a block."""
    first = _OPENING.search(content)
    if first is None:
        return []
    mark = first[2]
    found = []
    for opening in _OPENING.finditer(content):
        closing = f"\nDOCUMENT {opening[1]} {mark}>>>"
        end = content.find(closing, opening.end())
        if opening[2] == mark and end >= 0:
            found.append(Document(opening[3], content[opening.end() + 1 : end]))
    return found
