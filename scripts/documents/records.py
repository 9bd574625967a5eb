"""From the pages of an instrument to one record: ordered metadata and clauses, and their tables.

Source: TIDE A.7 (structure) and A.8.1 (rules), here as deterministic code. The pages' lines and
tables run as one flow, page furniture is set apart, tables that cross a page are joined, and
scripts/documents/assembly.py walks over the lines. No character is lost: `account` compares what
the pages hold with what the record holds.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scripts.dates.legal_dates import mentions
from scripts.documents import table_merging
from scripts.documents.assembly import Item, Line, assemble
from scripts.documents.blocks import USABLE, Flow, flow, signs
from scripts.documents.clauses import clause_start, inline_title, is_short_title
from scripts.documents.pages import Page
from scripts.documents.record_checks import page_signs, record_signs, validate
from scripts.documents.subclauses import hierarchy
from scripts.documents.table_merging import Table

_PRINTED_MARKER = re.compile(r"\[(?=TABLE_\d+\])")
_DATE_LINE = re.compile(r"^\W*(?:তারিখ|dated?\b)", re.I)


def build_record(pages: Sequence[Page], entry: Mapping[str, str]) -> dict[str, Any]:
    """The record of a document from its pages and its row of the manifest (`file`, `type`).

    Pages without usable text add nothing (the report lists them). The document's date is read from
    page 1, never from the manifest; `date_difference` compares the two. `extraction_timestamp`
    stays empty, so that the same pages give the same bytes. The record is valid, or
    RecordShapeError is raised.
    """
    items = assemble(table_merging.merge(flow(pages).blocks))
    parsed: list[dict[str, Any]] = []
    tables: list[dict[str, Any]] = []
    counts = {"metadata": 0, "clause": 0}
    for item in items:
        counts[item.type] += 1
        text_id = f"{item.type}_{counts[item.type]}"
        names = [f"table_{len(tables) + k}" for k in range(1, len(item.tables) + 1)]
        pairs = zip(names, item.tables, strict=True)
        tables += [_table_row(table, name, text_id) for name, table in pairs]
        parsed.append(_item_row(item, text_id, names))
    record = {
        "document_info": {
            "file_name": entry["file"],
            "document_type": entry["type"],
            "document_date": _document_date(parsed),
            "total_pages": len(pages),
            "extraction_timestamp": "",
            "summary": {
                "total_metadata": counts["metadata"],
                "total_clauses": counts["clause"],
                "total_tables": len(tables),
            },
        },
        "parsed_text": parsed,
        "tables": tables,
    }
    validate(record, entry["file"])
    return record


def _item_row(item: Item, text_id: str, names: list[str]) -> dict[str, Any]:
    """An item of `parsed_text` in the schema's fields."""
    item.lines = [_without_printed_markers(line) for line in item.lines]
    text = item.text()
    pages = {
        "page_start": min(line.page_start for line in item.lines),
        "page_end": max(line.page_end for line in item.lines),
        "text_id": text_id,
        "table_ids": names,
    }
    if item.type == "metadata":
        title = _metadata_title(item)
        head = {"type": "metadata", "metadata_category": item.category, "metadata_title": title}
        return {**head, "text": text, **pages}
    title, body = _title(item, text)
    return {
        "type": "clause",
        "clause_number": text_id,
        "clause_title": title,
        "text": text,
        "subclause_hierarchy": hierarchy(text, body),
        **pages,
    }


def _without_printed_markers(line: Line) -> Line:
    """The line with a space inside a printed `[TABLE_1]`, which would look like a marker."""
    text = _PRINTED_MARKER.sub("[ ", line.text)
    return Line(text, line.page_start, line.page_end, line.full, line.table)


def _metadata_title(item: Item) -> str:
    """The heading of a metadata item: a heading's lines, or the one short line that it is."""
    if item.category != "document" or not (item.titled or len(item.lines) == 1):
        return ""
    if not item.titled and not is_short_title(item.lines[0].text):
        return ""
    return " ".join(item.text().split())


def _title(item: Item, text: str) -> tuple[str, int]:
    """A clause's heading phrase and where the body of its text begins."""
    if item.start is None:
        return "", 0
    lead = Item("clause", lines=item.lines[: item.lead]).text()
    offset = len(lead) + 1 if item.lead else 0
    start = clause_start(text[offset:])
    body = offset + (start.end if start else 0)
    title, end = inline_title(text, body)
    if title or not item.lead:
        return (title, end) if title else _own_line_title(item, body)
    return " ".join(lead.split()), body


def _own_line_title(item: Item, body: int) -> tuple[str, int]:
    """The title that stands alone on the line below `Article 5`, where there is one."""
    lines = item.lines
    alone = item.start is not None and item.start.style == "head" and len(lines) > 1
    if alone and not lines[0].text[item.start.end :].strip() and is_short_title(lines[1].text):  # type: ignore[union-attr]
        return " ".join(lines[1].text.split()), body + len(lines[1].text)
    return "", body


def _table_row(table: Table, name: str, parent: str) -> dict[str, Any]:
    """A table in the schema's fields."""
    return {
        "table_id": name,
        "parent_text_id": parent,
        "page_start": table.page_start,
        "page_end": table.page_end,
        "headers": list(table.headers),
        "rows": [list(row) for row in table.rows],
    }


def _document_date(parsed: Sequence[Mapping[str, Any]]) -> str:
    """The date that page 1 gives for the document, as a Gregorian ISO day, or an empty string.

    Read from a line that calls itself the date, else from the titles and recitals above the first
    clause, else from the page's running head. A Gregorian day comes before a Bangla one.
    """
    front: list[Mapping[str, Any]] = []
    for item in parsed:
        if item["type"] == "clause" or item["page_start"] > 1:
            break
        front.append(item)
    labelled = [item for item in front if _DATE_LINE.match(item["text"])]
    titles = [item for item in front if item["metadata_category"] == "document"]
    for group in (labelled, titles, front):
        days = [m for item in group for m in mentions(item["text"]) if m.granularity == "day"]
        for calendar in ("gregorian", "bangla"):
            for mention in days:
                if mention.calendar == calendar:
                    return mention.value
    return ""


def date_difference(record: Mapping[str, Any], entry: Mapping[str, str]) -> str:
    """How the date read from page 1 and the manifest's date differ; empty where they agree."""
    read, listed = record["document_info"]["document_date"], entry.get("date", "")
    if read == listed or not listed:
        return ""
    return f"page 1 gives the date {read or 'nowhere'}, the manifest {listed}"


@dataclass(frozen=True, slots=True)
class Account:
    """Characters without white space: on usable pages, in the record, and left out on purpose.

    `repeated_headers` stood in headers that a table repeats on a later page, `doubled_lines` in
    lines that the cells of a table hold as well. `lost` and `added` must be 0.
    """

    characters: int
    kept: int
    repeated_headers: int
    doubled_lines: int
    lost: int
    added: int


def account(pages: Sequence[Page], record: Mapping[str, Any]) -> Account:
    """Count the characters of the usable pages' lines and cells against those of the record."""
    usable = [page for page in pages if page.status in USABLE]
    found: Flow = flow(pages)
    doubled = signs("".join(found.doubled))
    repeated = signs(
        "".join(
            cell
            for entry in table_merging.merge(found.blocks)
            if isinstance(entry, Table)
            for row in entry.repeated
            for cell in row
        )
    )
    printed, kept = page_signs(usable), record_signs(record)
    expected = printed - doubled - repeated
    return Account(
        printed.total(),
        kept.total(),
        repeated.total(),
        doubled.total(),
        (expected - kept).total(),
        (kept - expected).total(),
    )
