"""From records to elements: every clause and metadata item, tables restored, dates found."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from scripts.dates.legal_dates import mentions
from scripts.documents.clauses import printed_numeral
from scripts.documents.record_checks import MARKER, validate
from scripts.files import DataError, read_json
from scripts.tide.rows import Element

CELL_SEPARATOR = " | "
_SUFFIX = ".record.json"


def document_name(path: Path | str) -> str:
    """The document of a record's file; DataError for a file that is not named like one."""
    name = Path(path).name
    if not name.endswith(_SUFFIX):
        raise DataError(f"{path}: a record's file is named DOCUMENT{_SUFFIX}")
    return name[: -len(_SUFFIX)]


def read_record(path: Path | str) -> dict[str, Any]:
    """A record from its file, checked against its schema."""
    record = read_json(path)
    if not isinstance(record, dict):
        raise DataError(f"{path}: expected a record, found {type(record).__name__}")
    validate(record, str(path))
    return record


def table_text(table: Mapping[str, Any]) -> str:
    """A table as lines of cells joined by ` | `, its header first; white space in cells is one."""
    rows = [table["headers"], *table["rows"]] if table["headers"] else table["rows"]
    return "\n".join(CELL_SEPARATOR.join(" ".join(cell.split()) for cell in row) for row in rows)


def element_text(item: Mapping[str, Any], tables: Mapping[str, Mapping[str, Any]]) -> str:
    """An item's text with each table in the place of its marker."""
    names = item["table_ids"]
    if not names:
        return str(item["text"])
    return MARKER.sub(
        lambda match: table_text(tables[names[int(match.group(1)) - 1]]), str(item["text"])
    )


def elements_of(document: str, record: Mapping[str, Any]) -> list[Element]:
    """The elements of one record in document order; none for a document that could not be read.

    `number` is the numeral as printed and `category` empty for a clause; a metadata item has no
    number. `dates` are all mentions in the element's text, those in tables too.
    """
    info = record["document_info"]
    tables = {table["table_id"]: table for table in record["tables"]}
    out = []
    for item in record["parsed_text"]:
        clause = item["type"] == "clause"
        text = element_text(item, tables)
        out.append(
            Element(
                element_id=f"{document}/{item['text_id']}",
                document=document,
                document_type=info["document_type"],
                document_date=info["document_date"] or None,
                type=item["type"],
                category="" if clause else item["metadata_category"],
                number=printed_numeral(item["text"]) if clause else "",
                title=item["clause_title" if clause else "metadata_title"],
                text=text,
                page_start=item["page_start"],
                page_end=item["page_end"],
                table_ids=list(item["table_ids"]),
                dates=[mention.to_json() for mention in mentions(text)],
            )
        )
    return out


def gather(records: Iterable[tuple[str, Mapping[str, Any]]]) -> list[Element]:
    """The elements of all records, by document and then in document order."""
    ordered = sorted(records, key=lambda pair: pair[0])
    return [element for document, record in ordered for element in elements_of(document, record)]
