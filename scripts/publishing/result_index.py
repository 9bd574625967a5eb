"""The index of the paper: where every number, table and figure comes from, one row each.

In the PDF a number or a caption's label links to its row here; the row names the file, the place in
it, the rule that made it and the file's SHA-256 (its first digits), and links back by page. The
CSV has the whole checksums, and those of the files that the rule read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from scripts.files import DataError
from scripts.publishing.numbers import CONFIGURATION
from scripts.publishing.origins import PRINTED_DIGITS, Ledger
from scripts.publishing.tables import Cell, Column, Row, Table

# Files that a row of the table lists of what a rule read; the CSV has all.
SHOWN = 4
_LABEL = re.compile(r"\\label\{((?:tab|fig):[^}]*)\}")
_CAPTION = "Click a {what} in the paper to come here, a page number here to go back."


@dataclass(frozen=True, slots=True)
class Shown:
    """A table or figure of the paper: its path without suffix, its data file, its LaTeX label."""

    path: str
    data: str
    label: str

    @property
    def kind(self) -> str:
        """`table` or `figure`."""
        return "figure" if self.label.startswith("fig:") else "table"


def read_shown(sources: Iterable[str], results: Path | str) -> list[Shown]:
    """The tables and figures of these LaTeX files, below the results directory, sorted by path.

    The data of a table is the CSV beside it, of a figure its PDF. Raises DataError for a file
    without a label, to which nothing could link.
    """
    found = []
    for source in sorted(set(map(str, sources))):
        labels = _LABEL.findall(Path(source).read_text(encoding="utf-8"))
        if not labels:
            raise DataError(f"{source}: no \\label of a table or figure; the index needs one")
        inside = Path(source).relative_to(results).with_suffix("")
        suffix = ".pdf" if labels[0].startswith("fig:") else ".csv"
        found.append(Shown(inside.as_posix(), f"{inside.as_posix()}{suffix}", labels[0]))
    return found


def _short(checksum: str | None) -> str:
    return "" if checksum is None else checksum[:PRINTED_DIGITS]


def _text(text: str) -> Cell:
    return Cell(text, text)


def _name(text: str, file: str = "") -> Cell:
    """A name; `file` is what it links to, below the results directory."""
    # The pages of the index stand in the results directory's folder `paper`.
    return Cell(text, text, identifier=True, file=f"../{file}" if file else "")


def numbers_table(macros: Mapping[str, Mapping[str, Any]]) -> Table:
    """One row a macro of the text, sorted by name."""
    columns = (
        Column("printed", "Printed", align="P{2.0cm}"),
        Column("page", "Page", align="r"),
        Column("place", "File, row and column", align="P{4.0cm}"),
        Column("rule", "Rule", align="P{2.3cm}"),
        Column("sha256", "SHA-256", align="l"),
    )
    return Table(
        "index-numbers",
        f"Index of the numbers in the text. {_CAPTION.format(what='number')}",
        ("Number",),
        columns,
        tuple(_number_row(name, macros[name]) for name in sorted(macros)),
        notes=("Rows are lines of the file, whose first line is its header.",),
        layout="long",
        size="scriptsize",
    )


def _number_row(name: str, entry: Mapping[str, Any]) -> Row:
    cells = (
        _text(str(entry["printed"])),
        Cell(None, "", page=f"number:{name}"),
        _name(_place(entry), "" if entry["file"] == CONFIGURATION else str(entry["file"])),
        _name(str(entry.get("rule") or "")),
        _text(_short(entry.get("sha256"))),
    )
    return Row((name,), cells, anchor=f"number:{name}")


def _place(entry: Mapping[str, Any]) -> str:
    if entry["file"] == CONFIGURATION:
        return f"configuration: {entry['column']}"
    rows = ", ".join(map(str, entry["rows"][:SHOWN])) + (" …" if len(entry["rows"]) > SHOWN else "")
    row = f"row {rows}" if rows else "no row"
    return f"{entry['file']}, {row}" + (f", {entry['column']}" if entry["column"] else "")


def results_table(shown: Iterable[Shown], ledger: Ledger) -> Table:
    """One row a table or figure, sorted by path."""
    columns = (
        Column("number", "No.", align="r"),
        Column("page", "Page", align="r"),
        Column("file", "Data file", align="P{3.9cm}"),
        Column("rule", "Rule", align="P{2.4cm}"),
        Column("sources", "Made from", align="P{4.8cm}"),
        Column("sha256", "SHA-256", align="l"),
    )
    return Table(
        "index-results",
        f"Index of the tables and figures. {_CAPTION.format(what='label of a caption')}",
        ("Kind",),
        columns,
        tuple(_result_row(one, ledger.made(one.data), ledger) for one in shown),
        layout="long",
        size="scriptsize",
    )


def _result_row(one: Shown, made: Mapping[str, Any], ledger: Ledger) -> Row:
    names = [ledger.inside(name) for name in made["inputs"]]
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    cells = (
        Cell(None, "", number=one.label),
        Cell(None, "", page=one.label),
        _name(one.data, one.data),
        _name(str(made["rule"] or "")),
        _name("; ".join(names[:SHOWN]) + more),
        _text(_short(made["sha256"])),
    )
    return Row((one.kind,), cells, anchor=f"result:{one.path}")


def without_pages(table: Table) -> Table:
    """The table for a screen, which has no pages and no numbers of tables."""
    kept = [i for i, column in enumerate(table.columns) if column.key not in ("page", "number")]
    rows = (replace(row, cells=tuple(row.cells[i] for i in kept)) for row in table.rows)
    caption = table.caption.split(". ")[0] + "."
    columns = tuple(table.columns[i] for i in kept)
    return replace(table, caption=caption, columns=columns, rows=tuple(rows))


def to_frame(
    macros: Mapping[str, Mapping[str, Any]], shown: Iterable[Shown], ledger: Ledger
) -> pd.DataFrame:
    """The index as values: whole checksums, `inputs` as JSON from path to checksum."""
    rows = []
    for name in sorted(macros):
        entry = macros[name]
        rows.append(
            {
                "kind": "number",
                "name": name,
                "printed": entry["printed"],
                "file": entry["file"],
                "rows": json.dumps(entry["rows"]),
                "column": entry["column"],
                **_origin(entry),
            }
        )
    for one in shown:
        rows.append(
            {
                "kind": one.kind,
                "name": one.path,
                "printed": "",
                "file": one.data,
                "rows": "",
                "column": "",
                **_origin(ledger.made(one.data)),
            }
        )
    return pd.DataFrame(rows)


def _origin(made: Mapping[str, Any]) -> dict[str, str]:
    return {
        "rule": str(made.get("rule") or ""),
        "sha256": str(made.get("sha256") or ""),
        "inputs": json.dumps(made.get("inputs", {}), sort_keys=True),
    }
