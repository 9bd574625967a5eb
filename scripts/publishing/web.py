"""Tables as pages of the HTML report: one file each, no script, nothing fetched.

Made from the same `Table` as the LaTeX and the CSV. Every text goes through `escape`, and the page
forbids scripts and connections by its own policy, so that what a model wrote stays text.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Mapping
from itertools import groupby
from pathlib import Path
from urllib.parse import quote, urlencode

from scripts import files
from scripts.publishing.latex import EN_DASH
from scripts.publishing.tables import (
    Cell,
    Column,
    Row,
    Table,
    link_of,
    note_letters,
    write_table,
)
from scripts.publishing.text import visible

# The explorer, seen from results/BENCHMARK/tables.
_EXPLORER = "../../explorer.html"
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
# Characters of a leading cell that may stay on one line.
LONGEST_NAME = 32
_LINKS = "A value with dots below opens the answers behind it in the explorer."
_STYLE = """
body { font: 14px/1.4 "Noto Sans", "DejaVu Sans", Arial, sans-serif; color: #1a1a1a;
  background: #fff; margin: 1.5rem; }
caption { text-align: left; font-weight: 600; padding-bottom: .7rem; max-width: 60rem; }
table { border-collapse: collapse; border-top: 2px solid #1a1a1a;
  border-bottom: 2px solid #1a1a1a; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .6rem; vertical-align: top; overflow-wrap: anywhere; }
th { font-weight: 600; text-align: left; overflow-wrap: normal; }
th.group { text-align: center; border-bottom: 1px solid #767676; }
thead tr:last-child th { border-bottom: 1px solid #1a1a1a; }
td.value { text-align: right; white-space: nowrap; }
th.value { text-align: right; }
td.words { min-width: 5rem; max-width: 24rem; }
td.words:first-child { white-space: nowrap; } td.sentence:first-child { white-space: normal; }
tr.block th { font-style: italic; font-weight: 400; border-top: 1px solid #1a1a1a; }
tr.block:first-child th { border-top: 0; }
.best { font-weight: 700; } .second { text-decoration: underline; }
.small { display: block; font-size: 12px; color: #4a4a4a; }
.row { background: #cfe4f5; } .column { background: #fbe0c3; } .mixed { background: #e6e6e6; }
td a { color: inherit; text-decoration: underline dotted #767676; text-underline-offset: .2em; }
td a:focus-visible { outline: 2px solid #0b57a4; }
p { margin: .4rem 0; max-width: 60rem; font-size: 13px; }
"""


def escape(text: str) -> str:
    """Text as HTML that shows it: no markup, no hidden character."""
    return html.escape(visible(text), quote=True)


def isolated(text: str) -> str:
    """`escape`; a text with right-to-left characters keeps its direction to itself."""
    right_to_left = any(unicodedata.bidirectional(c) in ("R", "AL", "AN") for c in text)
    return f"<bdi>{escape(text)}</bdi>" if right_to_left else escape(text)


def to_html(table: Table, values: str = "") -> str:
    """The table as a page: caption, head, body, then the notes.

    `values` is the name of the CSV beside the page, to which it then links.
    """
    letters = note_letters(table)
    notes = [f"{EN_DASH}<sup>{letter}</sup> {escape(why)}." for why, letter in letters.items()]
    notes += [escape(note) for note in table.notes]
    notes += [_LINKS] * bool(table.link)
    notes += [f"Values: {_file(values, escape(values))}"] * bool(values)
    lines = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{escape(table.short_caption or table.name)}</title>",
        f"<style>{_STYLE}</style></head><body>",
        f"<table><caption>{escape(table.caption)}</caption>",
        *_head(table),
        *_body(table, letters),
        "</table>",
        *(f"<p>{note}</p>" for note in notes),
        "</body></html>",
    ]
    return "\n".join(lines) + "\n"


def _head(table: Table) -> list[str]:
    lines = ["<thead>"]
    if any(column.group for column in table.columns):
        cells = [f'<td colspan="{len(table.stub)}"></td>']
        for group, members in groupby(table.columns, key=lambda column: column.group):
            css = ' class="group"' if group else ""
            cells.append(f'<th{css} colspan="{len(list(members))}">{escape(group)}</th>')
        lines.append(f"<tr>{''.join(cells)}</tr>")
    cells = [f'<th scope="col">{escape(title)}</th>' for title in table.stub]
    cells += [
        f'<th scope="col" class="{_kind(column)}">{escape(column.title)}</th>'
        for column in table.columns
    ]
    return [*lines, f"<tr>{''.join(cells)}</tr>", "</thead>"]


def _kind(column: Column) -> str:
    """The style of a column: numbers to the right, paragraphs of words to the left."""
    return "value" if column.align in ("l", "c", "r") else "words"


def _file(address: str, shown: str) -> str:
    """A link to a file, in a window of its own; `shown` is HTML."""
    return f'<a href="{escape(quote(address))}" target="_blank" rel="noopener">{shown}</a>'


def _named(text: str) -> str:
    """A path or name that may break at its joints."""
    return re.sub(r"(?<=[/._])(?=\w)", "<wbr>", escape(text))


def _body(table: Table, letters: Mapping[str, str]) -> list[str]:
    width = len(table.stub) + len(table.columns)
    lines, previous = ["<tbody>"], ""
    for row in table.rows:
        if row.block and row.block != previous:
            block = f'<th colspan="{width}">{escape(row.block)}</th>'
            lines.append(f'<tr class="block">{block}</tr>')
        previous = row.block
        lines.append(_row(table, row, letters))
    if not table.rows:
        lines.append(f'<tr><td colspan="{width}"><em>no rows</em></td></tr>')
    return [*lines, "</tbody>"]


def _stub_kind(text: str) -> str:
    """The style of a leading cell: a name stays on one line, a sentence does not."""
    return "words sentence" if len(text) > LONGEST_NAME else "words"


def _row(table: Table, row: Row, letters: Mapping[str, str]) -> str:
    stub = ["" if row.repeated and i == 0 else text for i, text in enumerate(row.stub)]
    cells = [f'<td class="{_stub_kind(text)}">{isolated(text)}</td>' for text in stub]
    cells += [
        _cell(cell, letters, _kind(column), link_of(table, column, row, cell))
        for cell, column in zip(row.cells, table.columns, strict=True)
    ]
    return f"<tr>{''.join(cells)}</tr>"


def _cell(cell: Cell, letters: Mapping[str, str], kind: str, link: Mapping[str, str]) -> str:
    if cell.missing:
        return f'<td class="{kind}">{EN_DASH}<sup>{letters[cell.missing]}</sup></td>'
    if cell.pieces:
        bars = '<span class="bar"> | </span>'.join(f"<bdi>{escape(p)}</bdi>" for p in cell.pieces)
        return f'<td class="words" dir="ltr">{bars}</td>'
    text = _named(cell.text) if cell.identifier else isolated(cell.text)
    if cell.file:
        text = _file(cell.file, text)
    if cell.rank:
        text = f'<span class="{cell.rank}">{text}</span>'
    if cell.mark:
        text += f"<sup>{escape(cell.mark)}</sup>"
    small = " ".join(escape(part) for part in (cell.interval, cell.detail) if part)
    if small:
        text += f'<span class="small">{small}</span>'
    if link and text:
        address = html.escape(f"{_EXPLORER}#{urlencode(link)}", quote=True)
        text = f'<a href="{address}" target="_blank">{text}</a>'
    css = f"{kind} {cell.tint}" if cell.tint else kind
    return f'<td class="{css}">{text}</td>'


def write_forms(table: Table, tex: Path | str, csv: Path | str, page: Path | str) -> None:
    """Write a table as LaTeX, as CSV and as a page, each atomically."""
    write_table(table, tex, csv)
    files.write_text(page, to_html(table, Path(csv).name))
