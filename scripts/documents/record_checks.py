"""Checks of a record: against its JSON Schema, and for what a schema cannot say."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from scripts.documents.pages import Page
from scripts.files import DataError, read_json

SCHEMA = Path(__file__).with_name("record.schema.json")
#: The place of the K-th table of a clause in its text.
MARKER = re.compile(r"\[TABLE_(\d+)\]")


class RecordShapeError(DataError):
    """A record breaks its schema or contradicts itself; the message names document and item."""


@cache
def _validator() -> Any:
    """The compiled schema, once a process."""
    import jsonschema  # noqa: PLC0415 - a heavy import that readers of records do not need

    schema = read_json(SCHEMA)
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def _item_name(record: Mapping[str, Any], path: Sequence[Any]) -> str:
    """A part of a record in words: the item's identifier where it has one."""
    if len(path) >= 2 and path[0] in {"parsed_text", "tables"}:
        entry = record[path[0]][path[1]]
        known = entry.get("text_id") or entry.get("table_id") if isinstance(entry, dict) else None
        return f"{path[0]} {known or path[1]}" + "".join(f".{part}" for part in path[2:])
    return ".".join(str(part) for part in path) or "record"


def validate(record: Mapping[str, Any], document: str | None = None) -> None:
    """Raise RecordShapeError naming document and item where a record is not as it must be.

    Beyond the schema: identifiers are unique, clauses and metadata are numbered from 1 without
    gaps in document order, the summary counts what is there, every table's parent is a clause that
    names it, and each clause's text marks each of its tables once, in order.
    """
    name = document or str(dict(record.get("document_info") or {}).get("file_name") or "record")
    errors = sorted(
        _validator().iter_errors(record), key=lambda error: [str(p) for p in error.path]
    )
    if errors:
        path = list(errors[0].absolute_path)
        raise RecordShapeError(
            f"{name}, {_item_name(record, path)}: {errors[0].message[:300]}; "
            f"{len(errors)} such error(s); build the record again"
        )
    problem = next(_contradictions(record), None)
    if problem:
        raise RecordShapeError(f"{name}, {problem}; build the record again")


def _contradictions(record: Mapping[str, Any]) -> Iterator[str]:
    """What contradicts itself in a record of the right shape, item first."""
    items, tables = record["parsed_text"], record["tables"]
    counts = {"metadata": 0, "clause": 0}
    for item in items:
        counts[item["type"]] += 1
        expected = f"{item['type']}_{counts[item['type']]}"
        if item["text_id"] != expected or item.get("clause_number", expected) != expected:
            yield f"parsed_text {item['text_id']}: expected {expected} at this place"
        if item["page_start"] > item["page_end"]:
            yield f"parsed_text {item['text_id']}: ends on a page before it starts"
        if item["type"] == "clause":
            yield from _table_marks(item)
    summary = record["document_info"]["summary"]
    found = {
        "total_metadata": counts["metadata"],
        "total_clauses": counts["clause"],
        "total_tables": len(tables),
    }
    if summary != found:
        yield f"document_info.summary: {summary}, but there are {found}"
    parents = {name: item["text_id"] for item in items for name in item["table_ids"]}
    for number, table in enumerate(tables, start=1):
        if table["table_id"] != f"table_{number}":
            yield f"tables {table['table_id']}: expected table_{number} at this place"
        if parents.get(table["table_id"]) != table["parent_text_id"]:
            yield f"tables {table['table_id']}: {table['parent_text_id']} does not name it"
    if len(parents) != len(tables):
        yield f"tables: {len(parents)} are named by clauses, {len(tables)} are there"


def _table_marks(item: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with the table markers of a clause."""
    marks = [int(number) for number in MARKER.findall(item["text"])]
    if marks != list(range(1, len(item["table_ids"]) + 1)):
        tables = len(item["table_ids"])
        yield f"parsed_text {item['text_id']}: markers {marks} for {tables} table(s)"


def record_signs(record: Mapping[str, Any]) -> Counter[str]:
    """How often each character other than white space stands in a record's texts and cells."""
    out: Counter[str] = Counter()
    for item in record["parsed_text"]:
        text = MARKER.sub("", item["text"]) if item["table_ids"] else item["text"]
        out.update("".join(text.split()))
    for table in record["tables"]:
        for row in [table["headers"], *table["rows"]]:
            out.update("".join("".join(row).split()))
    return out


def page_signs(pages: Sequence[Page]) -> Counter[str]:
    """How often each character other than white space stands in the lines and cells of pages."""
    out: Counter[str] = Counter()
    for page in pages:
        for line in page.lines:
            out.update("".join(line["text"].split()))
        for table in page.tables:
            for row in table["rows"]:
                out.update("".join("".join(str(cell or "") for cell in row).split()))
    return out
