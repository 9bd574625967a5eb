"""Pages as a reader of PDFs gives them, made of lines and tables in reading order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scripts.documents.pages import Page

ENTRY = {"file": "sro-1-2020.pdf", "type": "SRO", "date": "2020-06-11"}
WIDTH = 60


def table(*rows: Sequence[str]) -> dict[str, Any]:
    """A table to be put among the lines of a page."""
    return {"rows": [list(row) for row in rows]}


def line(text: str, **style: Any) -> dict[str, Any]:
    """A line with a size, weight or box other than the usual one."""
    return {"text": text, **style}


def page(number: int, *content: str | dict[str, Any], status: str = "text") -> Page:
    """One page; an entry is a line of text, a styled line or a table."""
    lines, tables = [], []
    for place, entry in enumerate(content):
        top = 40.0 + 14 * place
        if isinstance(entry, dict) and "rows" in entry:
            tables.append({"bbox": [40.0, top, 400.0, top + 12], "rows": entry["rows"]})
            continue
        given = {"text": entry} if isinstance(entry, str) else entry
        right = 40.0 + 6 * min(len(given["text"]), WIDTH)
        box = [40.0, top, right, top + 12]
        lines.append({"bbox": box, "size": 10.0, "bold": False, **given})
    text = "\n".join(each["text"] for each in lines)
    return Page("sro-1-2020", number, status, [], 0, 0, 0, False, "", lines, tables, text, "made")


def pages(*contents: Sequence[str | dict[str, Any]]) -> list[Page]:
    """Pages numbered from 1."""
    return [page(number, *content) for number, content in enumerate(contents, start=1)]
