"""What is embedded of a corpus: every element whole, and long ones in overlapping chunks too.

Source: TIDE section 3.3. A chunk never begins or ends inside a written character: neither between a
letter and its signs, nor inside a Bengali conjunct, nor beside a joiner.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from scripts.files import DataError, iterate_jsonl

MARK = "#chunk_"
#: A chunk ends at white space where some stands in this last part of it.
BREAK_SHARE = 0.15

_VIRAMA = 9  # Canonical combining class of the signs that join two consonants.
_ZERO_WIDTH = "\u200c\u200d"


@dataclass(frozen=True, slots=True)
class Chunking:
    """Elements above `above_tokens` tokens are also cut: `characters` long, `overlap` shared."""

    above_tokens: int
    characters: int
    overlap: int

    def __post_init__(self) -> None:
        if self.characters < 1 or not 0 <= self.overlap < self.characters:
            raise DataError(
                f"chunks: an overlap of {self.overlap} does not fit chunks of {self.characters} "
                "characters; it must be smaller"
            )


@dataclass(frozen=True, slots=True)
class Passage:
    """One text of the index: an element (`vector_id` is its id) or a chunk of one."""

    vector_id: str
    text: str


def chunk_id(element_id: str, number: int) -> str:
    """Id of a chunk; chunks are numbered from 1."""
    return f"{element_id}{MARK}{number}"


def parent_of(vector_id: str) -> str:
    """The element that a vector belongs to."""
    return vector_id.partition(MARK)[0]


def is_chunk(vector_id: str) -> bool:
    """Whether a vector is one of a chunk."""
    return MARK in vector_id


def read_elements(path: Path | str) -> dict[str, str]:
    """{element_id: text to embed} of a file of elements, in file order.

    The title stands before the text, unless the text begins with it. Raises DataError naming the
    row for an id that stands twice or that could be taken for a chunk's.
    """
    out: dict[str, str] = {}
    for number, row in iterate_jsonl(path):
        where = f"{path}, line {number}"
        element_id, text, title = row.get("element_id"), row.get("text"), row.get("title") or ""
        if not isinstance(element_id, str) or not isinstance(text, str) or not element_id:
            raise DataError(f"{where}: no element_id and text; build the elements again")
        if element_id in out:
            raise DataError(f"{where}: {element_id} stands twice; an id names one element")
        if MARK in element_id:
            raise DataError(f"{where}: the id {element_id!r} must not hold {MARK!r}; rename it")
        stands = not title or text.lstrip().startswith(title)
        out[element_id] = text if stands else f"{title}\n{text}"
    return out


def passages(
    elements: dict[str, str], chunking: Chunking, count_tokens: Callable[[str], int]
) -> list[Passage]:
    """Every element with a text, and the chunks of the long ones, sorted by vector id."""
    out: list[Passage] = []
    for element_id, text in elements.items():
        if not text.strip():
            continue
        out.append(Passage(element_id, text))
        if count_tokens(text) > chunking.above_tokens:
            spans = chunk_spans(text, chunking.characters, chunking.overlap)
            out.extend(
                Passage(chunk_id(element_id, number), text[start:stop])
                for number, (start, stop) in enumerate(spans, start=1)
                if text[start:stop].strip()
            )
    return sorted(out, key=lambda passage: passage.vector_id)


def chunk_spans(text: str, characters: int, overlap: int) -> Iterator[tuple[int, int]]:
    """(start, stop) of the chunks of a text; together they cover all of it.

    A chunk has at most `characters` characters (more only where one written character is longer)
    and ends behind white space where it can. The next begins at least `overlap` characters before
    its end, as far as it still moves on.
    """
    start = 0
    while start < len(text):
        stop = _end(text, start, characters)
        yield start, stop
        if stop >= len(text):
            return
        start = _next_start(text, start, stop, overlap)


def _end(text: str, start: int, characters: int) -> int:
    limit = start + characters
    if limit >= len(text):
        return len(text)
    for stop in range(limit, limit - int(characters * BREAK_SHARE), -1):
        if stop > start and text[stop - 1].isspace() and is_boundary(text, stop):
            return stop
    stop = limit
    while stop > start and not is_boundary(text, stop):
        stop -= 1
    if stop == start:
        # One written character is longer than a chunk may be: it stays whole.
        stop = limit
        while stop < len(text) and not is_boundary(text, stop):
            stop += 1
    return stop


def _next_start(text: str, start: int, stop: int, overlap: int) -> int:
    following = stop - overlap
    while following > start and not is_boundary(text, following):
        following -= 1
    return following if following > start else stop


def is_boundary(text: str, place: int) -> bool:
    """Whether a text may be cut before `place` without splitting a written character.

    Not before a combining sign, a joiner or the second half of a surrogate pair; not behind a
    virama (an open conjunct), a joiner or the first half of a pair.
    """
    if place <= 0 or place >= len(text):
        return True
    before, behind = text[place - 1], text[place]
    if behind in _ZERO_WIDTH or unicodedata.category(behind).startswith("M"):
        return False
    if before == _ZERO_WIDTH[1] or "\ud800" <= before <= "\udbff" or "\udc00" <= behind <= "\udfff":
        return False
    return unicodedata.combining(before) != _VIRAMA or behind.isspace()


def long_elements(vector_ids: Sequence[str]) -> int:
    """How many elements have chunks beside their whole text."""
    return len({parent_of(vector_id) for vector_id in vector_ids if is_chunk(vector_id)})
