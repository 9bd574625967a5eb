"""A data set for others: a Croissant record of flat files, and a note of their licences.

Croissant: https://docs.mlcommons.org/croissant/docs/croissant-spec.html (version 1.0). No date
stands in the record, so the same rows give the same bytes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Literal

import mlcroissant as mlc

Kind = Literal["text", "integer", "boolean"]

_TYPES = {
    "text": mlc.DataType.TEXT,
    "integer": mlc.DataType.INTEGER,
    "boolean": mlc.DataType.BOOL,
}
_ENCODINGS = {".jsonl": "application/jsonlines", ".parquet": "application/x-parquet"}


@dataclass(frozen=True)
class Column:
    """A column of a table; `repeated` for a list of values."""

    name: str
    kind: Kind = "text"
    repeated: bool = False


@dataclass(frozen=True)
class Table:
    """A file with these columns: `path` (JSONL or Parquet), where it is empty `{name}.jsonl`."""

    name: str
    description: str
    columns: tuple[Column, ...]
    path: str = ""

    @property
    def file(self) -> str:
        """The name of the table's file, from the folder of the record."""
        return self.path or f"{self.name}.jsonl"


@dataclass(frozen=True)
class DataSet:
    """What a record says of the whole; `languages` are BCP 47 codes."""

    name: str
    description: str
    version: str
    licences: Sequence[str]
    languages: Sequence[str]


def _record_set(table: Table) -> mlc.RecordSet:
    fields = [
        mlc.Field(
            id=f"{table.name}/{column.name}",
            name=column.name,
            data_types=[_TYPES[column.kind]],
            is_array=column.repeated or None,
            array_shape="-1" if column.repeated else None,
            source=mlc.Source(file_object=table.file, extract=mlc.Extract(column=column.name)),
        )
        for column in table.columns
    ]
    return mlc.RecordSet(
        id=table.name, name=table.name, description=table.description, fields=fields
    )


def record(
    data_set: DataSet, tables: Sequence[Table], files: Mapping[str, bytes]
) -> dict[str, Any]:
    """The Croissant record (JSON-LD); `files` holds the bytes of every table's file by its name.

    Tables without a file are left out.
    """
    summed = {name: (len(data), hashlib.sha256(data).hexdigest()) for name, data in files.items()}
    return record_of(data_set, tables, summed)


def record_of(
    data_set: DataSet, tables: Sequence[Table], files: Mapping[str, tuple[int, str]]
) -> dict[str, Any]:
    """The same from the size in bytes and the SHA-256 of every file."""
    present = [table for table in tables if table.file in files]
    metadata = mlc.Metadata(
        name=data_set.name,
        description=data_set.description,
        version=data_set.version,
        license=sorted(set(data_set.licences)),
        conforms_to=["http://mlcommons.org/croissant/1.0"],
        in_language=list(data_set.languages),
        distribution=[
            mlc.FileObject(
                id=table.file,
                name=table.file,
                content_url=table.file,
                content_size=f"{files[table.file][0]} B",
                encoding_formats=[_ENCODINGS[PurePosixPath(table.file).suffix]],
                sha256=files[table.file][1],
            )
            for table in present
        ],
        record_sets=[_record_set(table) for table in present],
    )
    out: dict[str, Any] = metadata.to_json()
    return out


def licences(corpora: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """The licences of the configuration's corpora entries, each once, sorted."""
    return sorted({str(entry["licence"]) for entry in corpora.values()})


def licence_lines(corpora: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Markdown list of the corpora by role: label, licence, attribution and address of each."""
    lines = []
    for role, entry in sorted(corpora.items()):
        lines.append(
            f"- **{entry['label']}** ({role}): {entry['licence']}. {entry['attribution']}."
        )
        address = entry.get("url") or entry.get("mediawiki", {}).get("api")
        if address:
            lines.append(f"  Source: <{address}>")
    return lines
