"""Reading TRAM as downloaded: zip files of CSV tables with multiple-choice questions.

TRAM: Wang and Zhao 2024, github.com/EternityYW/TRAM-Benchmark. Nothing is unpacked to disk.
"""

from __future__ import annotations

import csv
import io
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from scripts.files import DataError

#: Short answers in words, and the older table that has options only.
ARITHMETIC_MEMBERS = ("arithmetic_saq.csv", "arithmetic_mcq.csv", "arithmetic.csv")
RELATION_MEMBER = "relation.csv"
_OPTIONS = ("A", "B", "C", "D")
# The largest table has 37 MiB; a member that unpacks to more is not TRAM.
_UNPACKED_LIMIT = 128 << 20


@dataclass(frozen=True, slots=True)
class ArithmeticRow:
    """One arithmetic question. `row` counts data rows from 1; `answer` is the gold's text."""

    row: int
    question: str
    answer: str
    category: str


@dataclass(frozen=True, slots=True)
class RelationRow:
    """One relation question. `options` by letter; `label` is the text of the right option."""

    row: int
    question: str
    options: dict[str, str]
    label: str


def read_member(path: Path | str, names: Sequence[str]) -> tuple[str, str]:
    """Name and text of the first of `names` that a zip file holds, in whatever folder.

    Raises DataError for a broken archive, for none of the names, for a member of more than
    128 MiB, and for text that is not UTF-8.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            members = {info.filename.rpartition("/")[2]: info for info in archive.infolist()}
            name = next((name for name in names if name in members), None)
            if name is None:
                raise DataError(f"{path}: holds none of {', '.join(names)}; fetch it again")
            with archive.open(members[name]) as handle:
                # The size that the archive states may lie, so what is read is bounded as well.
                data = handle.read(_UNPACKED_LIMIT + 1)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise DataError(f"{path}: not a readable zip file ({error}); fetch it again") from error
    if len(data) > _UNPACKED_LIMIT:
        raise DataError(f"{path}, {name}: unpacks to more than {_UNPACKED_LIMIT} bytes")
    try:
        return name, data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"{path}, {name}: not UTF-8 text ({error}); fetch it again") from error


def rows_of_table(text: str, where: str, columns: Sequence[str]) -> Iterator[dict[str, str]]:
    """The rows of a CSV text as dictionaries; DataError naming the line for any other shape."""
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    try:
        missing = sorted(set(columns) - set(reader.fieldnames or []))
        if missing:
            raise DataError(f"{where}, line 1: columns {missing} are missing")
        for row in reader:
            if None in row or None in row.values():
                raise DataError(
                    f"{where}, line {reader.line_num}: another number of cells than the header has"
                )
            yield row
    except csv.Error as error:
        raise DataError(f"{where}, line {reader.reader.line_num}: not CSV ({error})") from error


def _chosen(row: Mapping[str, str], where: str) -> tuple[dict[str, str], str]:
    """The options of a row and the text of the right one."""
    options = {a: row[f"Option {a}"] for a in _OPTIONS if f"Option {a}" in row}
    letter = row["Answer"].strip()
    if letter not in options:
        raise DataError(f"{where}: answer {letter!r} is none of the options {', '.join(options)}")
    return options, options[letter]


def read_arithmetic(path: Path | str) -> list[ArithmeticRow]:
    """All test questions of `arithmetic.zip`; the answers of a table of options are looked up."""
    name, text = read_member(path, ARITHMETIC_MEMBERS)
    where = f"{path}, {name}"
    out = []
    for number, row in enumerate(
        rows_of_table(text, where, ("Question", "Answer", "Category")), start=1
    ):
        answer = row["Answer"]
        if "Option A" in row:
            _, answer = _chosen(row, f"{where}, row {number}")
        out.append(ArithmeticRow(number, row["Question"], answer.strip(), row["Category"].strip()))
    return out


def read_relations(path: Path | str) -> list[RelationRow]:
    """All test questions of `relation.zip` with the text of the right option."""
    name, text = read_member(path, (RELATION_MEMBER,))
    where = f"{path}, {name}"
    columns = ("Question", "Option A", "Option B", "Option C", "Answer")
    return [
        RelationRow(number, row["Question"], *_chosen(row, f"{where}, row {number}"))
        for number, row in enumerate(rows_of_table(text, where, columns), start=1)
    ]
