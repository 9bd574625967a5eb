"""The manifest of a corpus of instruments: which PDFs there are, of which type, from where.

Cheap to import (the workflow reads it while it plans): csv and dataclasses only, and no PDF is
opened. A manifest is written by people, so every slip is an error that says file, line, remedy.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path

from scripts.files import DataError, iterate_csv

#: Kinds of instruments (TIDE 2.1): Acts, Rules, Statutory Regulatory Orders, General Orders.
TYPES = ("Act", "Rule", "SRO", "GO")
COLUMNS = ("file", "url", "sha256", "type", "date", "licence")
OPTIONAL = ("title",)

#: A document's name: the file's stem. It becomes part of file names and identifiers.
_STEM = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_SUFFIX = ".pdf"


@dataclass(frozen=True, slots=True)
class ManifestEntry:
    """One instrument: the PDF beside the manifest, its source, checksum, type, date, licence.

    `sha256` is empty or 64 hexadecimal digits in lower case; `date` empty or YYYY-MM-DD (what the
    document itself says counts, this date is only compared with it); `path` where the PDF lies.
    """

    file: str
    url: str
    sha256: str
    type: str
    date: str
    licence: str
    title: str
    path: str

    @property
    def document(self) -> str:
        """The document's name: the file's stem."""
        return self.file[: -len(_SUFFIX)]

    def to_json(self) -> dict[str, str]:
        """The manifest's cells of the entry, without the place of the file on this machine."""
        return {key: value for key, value in asdict(self).items() if key != "path"}


def _file_problem(name: str) -> str:
    """Why a file name cannot be used, or an empty string."""
    if not name:
        return "no file is named"
    if "/" in name or "\\" in name or name in {".", ".."} or "\0" in name:
        return f"{name!r} is a path; name a file that lies beside the manifest"
    if not name.endswith(_SUFFIX):
        return f"{name!r} does not end in {_SUFFIX}"
    if not _STEM.fullmatch(name[: -len(_SUFFIX)]):
        return (
            f"{name!r}: a name has ASCII letters, digits, - and _ before {_SUFFIX} and begins with "
            "a letter or digit; rename the file"
        )
    return ""


def _date_problem(text: str) -> str:
    """Why a date cannot be used, or an empty string."""
    if text:
        try:
            if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", text, re.ASCII):
                raise ValueError(text)
            date.fromisoformat(text)
        except ValueError:
            return f"date {text!r} is no day of the form YYYY-MM-DD; correct it or leave it empty"
    return ""


def _problem(entry: ManifestEntry) -> str:
    """The first thing that is wrong with an entry by itself, or an empty string."""
    if entry.type not in TYPES:
        return f"unknown type {entry.type!r}; known: {', '.join(TYPES)}"
    if entry.sha256 and not _SHA256.fullmatch(entry.sha256):
        return f"sha256 {entry.sha256!r} is not 64 hexadecimal digits in lower case"
    return _file_problem(entry.file) or _date_problem(entry.date) or _place_problem(entry)


def _place_problem(entry: ManifestEntry) -> str:
    """Why the file of an entry cannot be read where it should lie, or an empty string."""
    path = Path(entry.path)
    if path.is_symlink() and path.resolve().parent != path.parent.resolve():
        return f"{entry.file!r} is a link that leaves the folder of the manifest; copy the file"
    if not path.is_file():
        return f"{entry.path} does not exist; put the PDF beside the manifest or remove the row"
    return ""


def read_manifest(path: Path | str) -> list[ManifestEntry]:
    """All entries of a manifest in file order.

    Raises DataError naming file, line and remedy for a missing or unknown column, an unknown type,
    a file or stem that stands twice (letter case is no difference), a file name that is a path or
    otherwise unsafe, a file that is not there, and a checksum or date of a wrong form.
    """
    path = Path(path)
    if not path.is_file():
        raise DataError(f"{path}: no such manifest; write a CSV with the columns {COLUMNS}")
    entries: list[ManifestEntry] = []
    seen: dict[str, int] = {}
    for number, cells in iterate_csv(path, COLUMNS):
        where = f"{path}, row {number}"
        unknown = sorted(set(cells) - set(COLUMNS) - set(OPTIONAL))
        if unknown:
            raise DataError(f"{path}, row 1: unknown column(s) {unknown}; known: {COLUMNS}")
        values = {name: cells.get(name, "").strip() for name in (*COLUMNS, *OPTIONAL)}
        entry = ManifestEntry(**values, path=str(path.parent / values["file"]))
        if problem := _problem(entry):
            raise DataError(f"{where}: {problem}")
        name = entry.document.casefold()
        if name in seen:
            raise DataError(
                f"{where}: the document {entry.document!r} stands in row {seen[name]} already; "
                "remove or rename one"
            )
        seen[name] = number
        entries.append(entry)
    if not entries:
        raise DataError(f"{path}: the manifest names no document; add a row for every PDF")
    return entries


def documents(path: Path | str) -> dict[str, ManifestEntry]:
    """The entries of a manifest by document, sorted by name."""
    entries = {entry.document: entry for entry in read_manifest(path)}
    return dict(sorted(entries.items()))
