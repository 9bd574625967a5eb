"""The row of one page as it was read from a PDF."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from scripts.records import Record

#: What became of a page; only `text`, `repaired` and `vision` pages have text.
STATUSES = ("text", "repaired", "needs_ocr", "vision", "empty", "failed")
#: Pages whose text is missing; a file that cannot be read at all counts as one.
UNREAD = ("needs_ocr", "failed")


@dataclass(frozen=True, slots=True)
class Page(Record):
    """One page: which engine and repairs gave its text, lines in reading order, tables.

    Line: `{text, bbox: [x0, y0, x1, y1], size, bold}`, in points from the top left. Table: `{bbox,
    rows: [[cell]]}`. `text` is the text of the lines outside tables. Counts leave white space out.
    """

    optional: ClassVar[frozenset[str]] = frozenset({"engine"})

    document: str
    page: int
    status: str
    repairs: list[str]
    characters_in: int
    characters_out: int
    order_faults: int
    mojibake: bool
    reason: str
    lines: list[dict[str, Any]]
    tables: list[dict[str, Any]]
    text: str
    engine: str | None = None
