"""Tables that run on over a page break become one, and a table's header is told from its rows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from scripts.documents.blocks import Block

Row = tuple[str, ...]

#: A first cell like these belongs to a row of data, never to a header.
_DATA = re.compile(r"\W*[০-৯0-9][০-৯0-9.,/%-]*\W*")
_COLUMN_NUMBER = re.compile(r"\(\s*[০-৯0-9]{1,2}\s*\)")


@dataclass(frozen=True, slots=True)
class Table:
    """A whole table. `repeated` are the header rows of later pages that were recognised."""

    page_start: int
    page_end: int
    headers: Row
    rows: tuple[Row, ...]
    repeated: tuple[Row, ...] = ()


def split_header(rows: Sequence[Row]) -> tuple[Row, tuple[Row, ...]]:
    """The header row and the rows below. A first row that begins with a number is no header."""
    if not rows:
        return (), ()
    first = rows[0]
    leading = next((cell for cell in first if cell), "")
    data = bool(_DATA.fullmatch(leading)) and not _COLUMN_NUMBER.fullmatch(leading)
    return ((), tuple(rows)) if data else (tuple(first), tuple(rows[1:]))


def _plain(row: Row) -> list[str]:
    """A row's cells without white space, for comparison."""
    return ["".join(cell.split()) for cell in row]


def _leading_repeats(head: Sequence[Row], rows: Sequence[Row]) -> int:
    """How many rows at the start of a continuation repeat the rows of the table's head."""
    count = 0
    while count < min(len(head), len(rows)) and _plain(head[count]) == _plain(rows[count]):
        count += 1
    return count


def _head(table: Table) -> list[Row]:
    """The rows of a table that may be repeated: its header and a row of column numbers."""
    if not table.headers:
        return []
    head = [table.headers]
    if table.rows and all(_COLUMN_NUMBER.fullmatch(c) for c in table.rows[0] if c):
        head.append(table.rows[0])
    return head


def _width(rows: Sequence[Row]) -> int:
    """Columns of the widest row."""
    return max((len(row) for row in rows), default=0)


def _continues(table: Table, block: Block) -> bool:
    """Whether a table that follows on the next page has as many columns, so that it runs on."""
    width = _width([table.headers, *table.rows])
    return block.page == table.page_end + 1 and width == _width(block.rows)


def _append(table: Table, block: Block) -> Table:
    """The table with a continuation's rows, without the header rows that it repeats."""
    repeats = _leading_repeats(_head(table), block.rows)
    return Table(
        table.page_start,
        block.page,
        table.headers,
        table.rows + block.rows[repeats:],
        table.repeated + block.rows[:repeats],
    )


def merge(blocks: Sequence[Block]) -> list[Block | Table]:
    """The flow with every table whole, where its first piece stands.

    A table continues the last one when it stands on the following page, nothing but the page's
    furniture and notes is between them, and it has as many columns.
    """
    out: list[Block | Table] = []
    last: int | None = None
    for block in blocks:
        if block.role == "table":
            before = out[last] if last is not None else None
            if last is not None and isinstance(before, Table) and _continues(before, block):
                out[last] = _append(before, block)
            else:
                headers, rows = split_header(block.rows)
                last = len(out)
                out.append(Table(block.page, block.page, headers, rows))
        else:
            last = None if block.role == "body" else last
            out.append(block)
    return out
