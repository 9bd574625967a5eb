"""Rows, columns and tables of a page: where the words of the chosen reading belong.

PyMuPDF finds the grid of ruled tables; the text of a cell is made of the chosen reading's words
whose middle lies in the cell, so that it is in logical order whatever PyMuPDF's own text is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Any

from scripts.documents.engines import Box, Word, union

#: Share of the height that words of one row have in common.
_SAME_ROW = 0.5
# Two columns of running text: so many rows in turn with a gap at one place, and words on each side.
# A table without rules: so many rows and columns at least, middling words a cell at most, and how
# near edges must be, in points.
_TABLE_ROWS, _TABLE_COLUMNS, _CELL_WORDS, _ALIGNED = 3, 3, 3, 4.0
_COLUMN_ROWS, _COLUMN_WORDS, _GUTTER = 6, 3, 1.5


@dataclass(frozen=True, slots=True)
class Grid:
    """A ruled table: its box and, row by row, the boxes of its cells (None: no cell of its own)."""

    box: Box
    rows: tuple[tuple[Box | None, ...], ...]


def find_grids(page: Any) -> list[Grid]:
    """The ruled tables of a page with two columns or more; none where nothing is drawn."""
    if not page.get_cdrawings():
        return []
    grids = []
    for table in page.find_tables(strategy="lines", use_layout=False).tables:
        rows = tuple(tuple(row.cells) for row in table.rows)
        if rows and max(map(len, rows)) >= 2:
            grids.append(Grid(tuple(table.bbox), rows))
    return grids


def _middle(word: Word) -> tuple[float, float]:
    return (word.box[0] + word.box[2]) / 2, (word.box[1] + word.box[3]) / 2


def _inside(point: tuple[float, float], box: Box, slack: float = 0.0) -> bool:
    return (
        box[0] - slack <= point[0] <= box[2] + slack
        and box[1] - slack <= point[1] <= box[3] + slack
    )


def _distance(point: tuple[float, float], box: Box) -> float:
    across = max(box[0] - point[0], point[0] - box[2], 0.0)
    down = max(box[1] - point[1], point[1] - box[3], 0.0)
    return across**2 + down**2


def fill(grids: Sequence[Grid], words: Sequence[Word]) -> tuple[list[dict[str, Any]], list[Word]]:
    """(tables with the words in their cells, words outside every table).

    A word within a table's box but in none of its cells goes to the nearest: no word is lost. A
    grid with fewer than two filled cells is a frame, not a table, and its words stay outside.
    """
    tables: list[dict[str, Any]] = []
    rest = list(words)
    for grid in sorted(grids, key=lambda grid: (grid.box[1], grid.box[0])):
        within = [word for word in rest if _inside(_middle(word), grid.box)]
        cells = [
            (r, c, box)
            for r, row in enumerate(grid.rows)
            for c, box in enumerate(row)
            if box is not None
        ]
        held: dict[tuple[int, int], list[Word]] = {}
        for word in within:
            r, c, _ = min(cells, key=lambda cell: (_distance(_middle(word), cell[2]), cell[:2]))
            held.setdefault((r, c), []).append(word)
        if len(held) < 2:
            continue
        taken = {id(word) for word in within}
        rest = [word for word in rest if id(word) not in taken]
        width = max(map(len, grid.rows))
        texts = [
            [cell_text(held.get((r, c), ())) for c in range(width)] for r in range(len(grid.rows))
        ]
        tables.append({"bbox": rounded(grid.box), "rows": texts})
    return tables, rest


def laid_out(
    grids: Sequence[Grid], words: Sequence[Word]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """(tables from the top, lines in reading order) of a page's words."""
    tables, outside = fill(grids, words)
    unruled, outside = fill(aligned_grids(outside), outside)
    tables = sorted([*tables, *unruled], key=lambda table: (table["bbox"][1], table["bbox"][0]))
    return tables, [line_of(row) for row in reading_rows(outside)]


def aligned_grids(words: Sequence[Word]) -> list[Grid]:
    """Tables without rules: rows in turn with as many short, aligned cells, three or more of each.

    A cell that wraps ends the table; running text in three columns is told by its longer lines.
    """
    segments = [_segments(row) for row in text_rows(words)]
    grids: list[Grid] = []
    first = 0
    while first < len(segments):
        last = first + 1
        while last < len(segments) and _aligned(segments[first], segments[last]):
            last += 1
        block = segments[first:last]
        sizes = [len(segment) for row in block for segment in row]
        if len(block) >= _TABLE_ROWS and median(sizes) <= _CELL_WORDS:
            grids.append(_grid_of(block))
        first = last
    return grids


def _segments(row: Sequence[Word]) -> list[list[Word]]:
    """The words of a row cut at its wide gaps."""
    starts = {gap[1] for gap in _gaps(row)}
    out: list[list[Word]] = []
    for word in row:
        if out and word.box[0] not in starts:
            out[-1].append(word)
        else:
            out.append([word])
    return out


def _aligned(a: Sequence[Sequence[Word]], b: Sequence[Sequence[Word]]) -> bool:
    """Whether two rows have as many cells, each pair with one edge or the middle in common."""
    if len(a) != len(b) or len(a) < _TABLE_COLUMNS:
        return False
    for one, other in zip(a, b, strict=True):
        x, y = union([word.box for word in one]), union([word.box for word in other])
        shifts = (x[0] - y[0], x[2] - y[2], (x[0] + x[2] - y[0] - y[2]) / 2)
        if min(map(abs, shifts)) > _ALIGNED:
            return False
    return True


def _grid_of(block: Sequence[Sequence[Sequence[Word]]]) -> Grid:
    """The grid of aligned rows; the bounds lie in the middle of the gaps."""
    boxes = [[union([word.box for word in segment]) for segment in row] for row in block]
    columns = list(zip(*boxes, strict=True))
    left = min(box[0] for box in columns[0])
    right = max(box[2] for box in columns[-1])
    inner = [
        (max(box[2] for box in a) + min(box[0] for box in b)) / 2 for a, b in pairwise(columns)
    ]
    edges = [left, *inner, right]
    tops = [min(box[1] for box in row) for row in boxes]
    bottoms = [max(box[3] for box in row) for row in boxes]
    heights = [
        tops[0],
        *((b + t) / 2 for b, t in zip(bottoms, tops[1:], strict=False)),
        bottoms[-1],
    ]
    rows = tuple(
        tuple((x0, top, x1, bottom) for x0, x1 in pairwise(edges))
        for top, bottom in pairwise(heights)
    )
    return Grid((left, tops[0], right, bottoms[-1]), rows)


def cell_text(words: Sequence[Word]) -> str:
    """The words of a cell row by row, with single spaces."""
    return " ".join(word.text for row in text_rows(words) for word in row)


def rounded(box: Box) -> list[float]:
    """A box with hundredths of a point, as written to files."""
    return [round(value, 2) for value in box]


def text_rows(words: Sequence[Word]) -> list[list[Word]]:
    """Words in rows from the top, each from the left.

    A word belongs to a row when it shares half of its height, or of the row's, with the tallest
    word there: a comma whose box is tight stays in its row, and so does a raised sign.
    """
    rows: list[list[Word]] = []
    tallest = (0.0, 0.0)
    for word in sorted(words, key=lambda word: (_middle(word)[1], word.box[0])):
        top, bottom = word.box[1], max(word.box[3], word.box[1] + 0.1)
        shared = min(bottom, tallest[1]) - max(top, tallest[0])
        if rows and shared >= _SAME_ROW * min(bottom - top, tallest[1] - tallest[0]):
            rows[-1].append(word)
            if bottom - top > tallest[1] - tallest[0]:
                tallest = (top, bottom)
        else:
            rows.append([word])
            tallest = (top, bottom)
    return [sorted(row, key=lambda word: (word.box[0], word.box[2])) for row in rows]


def reading_rows(words: Sequence[Word]) -> list[list[Word]]:
    """Rows in reading order; where running text stands in two columns, the left one comes first."""
    rows = text_rows(words)
    found = _columns(rows)
    if found is None:
        return rows
    first, last, gutter = found
    block = [word for row in rows[first:last] for word in row]
    left = [word for word in block if _middle(word)[0] < gutter]
    right = [word for word in block if _middle(word)[0] >= gutter]
    return [
        *rows[:first],
        *text_rows(left),
        *text_rows(right),
        *reading_rows([word for row in rows[last:] for word in row]),
    ]


def _gaps(row: Sequence[Word]) -> list[tuple[float, float]]:
    """Wide gaps between neighbouring words of a row."""
    size = median(max(word.size, 1.0) for word in row)
    return [(a.box[2], b.box[0]) for a, b in pairwise(row) if b.box[0] - a.box[2] >= _GUTTER * size]


def _columns(rows: Sequence[Sequence[Word]]) -> tuple[int, int, float] | None:
    """(first row, row after the last, x of the gutter) of the longest two-column block, if any."""
    best: tuple[int, int, float] | None = None
    gaps = [_gaps(row) for row in rows]
    for first in range(len(rows)):
        if best is not None and len(rows) - first <= best[1] - best[0]:
            break
        for gap in gaps[first]:
            last, (low, high) = _follow(gaps, first, gap)
            middle = (low + high) / 2
            longer = best is None or last - first > best[1] - best[0]
            if longer and _is_columns(rows[first:last], middle):
                best = (first, last, middle)
    return best


def _follow(
    gaps: Sequence[Sequence[tuple[float, float]]], first: int, gap: tuple[float, float]
) -> tuple[int, tuple[float, float]]:
    """(row after the last that has a gap at the place of `gap`, the part that all share)."""
    last = first + 1
    while last < len(gaps):
        common = [(max(gap[0], a), min(gap[1], b)) for a, b in gaps[last]]
        common = [each for each in common if each[1] > each[0]]
        if not common:
            break
        gap = max(common, key=lambda each: each[1] - each[0])
        last += 1
    return last, gap


def _is_columns(rows: Sequence[Sequence[Word]], gutter: float) -> bool:
    if len(rows) < _COLUMN_ROWS:
        return False
    left = sum(word.box[2] <= gutter for row in rows for word in row)
    right = sum(word.box[0] >= gutter for row in rows for word in row)
    return min(left, right) >= _COLUMN_WORDS * len(rows)


def line_of(row: Sequence[Word]) -> dict[str, Any]:
    """The line of a row: text with single spaces, box, size of most of its letters, weight."""
    letters = sum(len(word.text) for word in row)
    bold = sum(len(word.text) for word in row if word.bold)
    sizes = sorted(word.size for word in row for _ in word.text)
    return {
        "text": " ".join(word.text for word in row),
        "bbox": rounded(union([word.box for word in row])),
        "size": round(sizes[len(sizes) // 2], 2),
        "bold": 2 * bold > letters,
    }
