"""Tables with a value and a printed form in every cell, written as booktabs LaTeX and as CSV.

Both files are made from the same `Table`, so they cannot disagree. The LaTeX needs the packages of
`paper/tokensandtime.sty` (booktabs, rotating, longtable, xcolor) and its commands.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import Literal

import pandas as pd

from scripts import files
from scripts.publishing.latex import (
    EN_DASH,
    MINUS,
    escape,
    escape_breakable,
    escape_path,
    escape_prose,
    label,
)

Value = str | int | float | bool | None
Rank = Literal["", "best", "second"]
Tint = Literal["", "row", "column", "mixed"]
Layout = Literal["portrait", "landscape", "long"]
# What to look at in the explorer: facets of it and their values.
Link = tuple[tuple[str, str], ...]

# A title with more characters stands on two lines; a table with more columns has narrow gaps.
LONG_TITLE = 12
MANY_COLUMNS = 5


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell: the raw value, the printed form, and what is printed around it.

    `low`/`high` are the raw interval bounds and `interval` their printed form; `mark` is the
    significance mark; `detail` a second printed line (a band, a label, counts); `missing` says why
    there is no value (the cell then prints an en dash); `extra` are further raw values that only
    the CSV carries, by column suffix. `pieces` are printed instead of `text`, side by side in their
    own order whatever their direction: the tokens of a text. In LaTeX `page` prints the page, and
    `number` the number, of a label instead. In HTML `file` is the address of a file, seen from
    the page, to which the text links. A cell with `identifier` breaks its lines inside names, at
    their joints.
    In HTML `link` opens the explorer at the answers behind the value.
    """

    value: Value = None
    text: str = EN_DASH
    low: float | None = None
    high: float | None = None
    interval: str = ""
    mark: str = ""
    detail: str = ""
    rank: Rank = ""
    tint: Tint = ""
    missing: str = ""
    extra: tuple[tuple[str, Value], ...] = ()
    pieces: tuple[str, ...] = ()
    page: str = ""
    number: str = ""
    file: str = ""
    identifier: bool = False
    link: Link = ()

    @property
    def printed(self) -> str:
        """The printed form as plain text, as the CSV carries it."""
        detail = f" ({self.detail})" if self.detail else ""
        interval = f" {self.interval}" if self.interval else ""
        return f"{self.text}{self.mark}{interval}{detail}"


def piece_cell(pieces: Sequence[str]) -> Cell:
    """A cell with the pieces of a text; the CSV carries them joined by bars."""
    joined = " | ".join(pieces)
    return Cell(joined, joined, pieces=tuple(pieces))


def absent(reason: str) -> Cell:
    """A cell without a value; the reason becomes a table note."""
    return Cell(missing=reason)


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its key in the CSV, its title, and the title of the group that it stands in.

    `better` says which end of the column is the good one; empty means that it is not ranked.
    `link` belongs to the links of its cells.
    """

    key: str
    title: str
    group: str = ""
    align: str = "c"
    better: Literal["", "high", "low"] = ""
    link: Link = ()


@dataclass(frozen=True, slots=True)
class Row:
    """A row: its stub (the leading text cells), its cells, and the block that it belongs to.

    `peers` names the rows that it is ranked among inside its block. `repeated` leaves the first
    stub cell out of the LaTeX, where it would repeat the row above. `anchor` is a name to which
    links can lead. `link` belongs to the links of its cells.
    """

    stub: tuple[str, ...]
    cells: tuple[Cell, ...]
    block: str = ""
    baseline: bool = False
    peers: str = ""
    repeated: bool = False
    anchor: str = ""
    link: Link = ()


@dataclass(frozen=True, slots=True)
class Table:
    """A finished table. `stub` names the leading columns; `stub_align` aligns them.

    `prose`: its paragraph columns hold our own sentences, whose lines break at spaces only.
    A table with a `link` has links to the explorer: those of table, column, row and cell together,
    of which the later ones win, and an empty value takes a facet away.
    """

    name: str
    caption: str
    stub: tuple[str, ...]
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()
    layout: Layout = "portrait"
    stub_align: str = ""
    size: str = "footnotesize"
    stacked: bool = True
    prose: bool = False
    short_caption: str = field(default="")
    link: Link = ()

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row.cells) != len(self.columns) or len(row.stub) != len(self.stub):
                raise ValueError(
                    f"table {self.name}: row {row.stub} has {len(row.stub)} + {len(row.cells)} "
                    f"cells, expected {len(self.stub)} + {len(self.columns)}"
                )


def link_of(table: Table, column: Column, row: Row, cell: Cell) -> dict[str, str]:
    """What a cell opens in the explorer; nothing where the table has no links."""
    if not table.link or cell.missing or cell.value in (None, ""):
        return {}
    merged = dict((*table.link, *column.link, *row.link, *cell.link))
    return {facet: value for facet, value in merged.items() if value}


# ---- numbers -----------------------------------------------------------------------------------


def is_missing(value: object) -> bool:
    """True for None, NaN and pandas' missing value."""
    return value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value))


def percent(value: float, digits: int = 1) -> str:
    """A share as a percentage without the sign: `f"{100 * share:.1f}"`."""
    return minus(f"{100 * value:.{digits}f}")


def decimal(value: float, digits: int = 3) -> str:
    """A number with fixed decimals and a true minus sign."""
    return minus(f"{value:.{digits}f}")


def signed(value: float, digits: int = 3) -> str:
    """A number with its sign; zero has none."""
    text = f"{value:+.{digits}f}"
    return text[1:] if float(text) == 0 else minus(text)


def minus(text: str) -> str:
    """Turn the hyphen of a number into a minus sign; a negative zero loses its sign."""
    if text.startswith("-") and not text.strip("-0."):
        return text[1:]
    return text.replace("-", MINUS)


def p_value(p: float) -> str:
    """A p-value with three decimals, or `<0.001`; never zero."""
    return "<0.001" if p < 0.001 else f"{p:.3f}"


def bracket(low: float, high: float, form: Callable[[float], str]) -> str:
    """An interval as `[low, high]`."""
    return f"[{form(low)}, {form(high)}]"


def number(
    value: object,
    form: Callable[[float], str],
    *,
    low: object = None,
    high: object = None,
    reason: str = "not estimated",
    mark: str = "",
    detail: str = "",
    extra: tuple[tuple[str, Value], ...] = (),
) -> Cell:
    """A numeric cell; a missing value becomes an en dash with the reason."""
    if is_missing(value):
        return Cell(missing=reason, extra=extra)
    amount = float(value)  # type: ignore[arg-type]
    if is_missing(low) or is_missing(high):
        return Cell(amount, form(amount), mark=mark, detail=detail, extra=extra)
    bounds = float(low), float(high)  # type: ignore[arg-type]
    return Cell(
        amount,
        form(amount),
        low=bounds[0],
        high=bounds[1],
        interval=bracket(*bounds, form),
        mark=mark,
        detail=detail,
        extra=extra,
    )


def whole(value: object, *, reason: str = "not estimated") -> Cell:
    """A cell with a whole number; a missing value becomes an en dash with the reason."""
    if is_missing(value):
        return Cell(missing=reason)
    amount = int(value)  # type: ignore[call-overload]
    return Cell(amount, minus(f"{amount:,}"))


# ---- ranking -----------------------------------------------------------------------------------


def rank_cells(cells: Sequence[Cell], *, lower_is_better: bool = False) -> list[Cell]:
    """Mark the best and the second-best value of a column or row; ties share the mark.

    Nothing is marked where fewer than two cells have a value or all values are equal.
    """
    values = sorted(
        {float(c.value) for c in cells if not c.missing and isinstance(c.value, int | float)},
        reverse=not lower_is_better,
    )
    if len(values) < 2:
        return list(cells)
    marks: dict[float, Rank] = {values[0]: "best", values[1]: "second"}
    return [
        replace(c, rank=marks.get(float(c.value), ""))
        if not c.missing and isinstance(c.value, int | float)
        else c
        for c in cells
    ]


def rank_columns(columns: Sequence[Column], rows: Sequence[Row]) -> tuple[Row, ...]:
    """Rank the columns that have a good end, among the peers of each block.

    Baselines are floors and ceilings: they are never ranked.
    """
    grid = [list(row.cells) for row in rows]
    blocks: dict[tuple[str, str], list[int]] = {}
    for index, row in enumerate(rows):
        if not row.baseline:
            blocks.setdefault((row.block, row.peers), []).append(index)
    for members in blocks.values():
        for position, column in enumerate(columns):
            if not column.better:
                continue
            cells = [grid[i][position] for i in members]
            ranked = rank_cells(cells, lower_is_better=column.better == "low")
            for index, cell in zip(members, ranked, strict=True):
                grid[index][position] = cell
    return tuple(replace(row, cells=tuple(cells)) for row, cells in zip(rows, grid, strict=True))


# ---- CSV ---------------------------------------------------------------------------------------


def to_frame(table: Table) -> pd.DataFrame:
    """The table as a frame: stub columns, then for each column its raw value and printed form.

    Further columns carry interval bounds (`_low`, `_high`), significance marks (`_mark`), the rank
    (`_rank`) and extra values where the column has any; `missing` lists the reasons of the row.
    """
    out: dict[str, list[Value]] = {}
    if any(row.block for row in table.rows):
        out["block"] = [row.block for row in table.rows]
    for index, title in enumerate(table.stub):
        out[label(title).replace("-", "_") or "row"] = [row.stub[index] for row in table.rows]
    for index, column in enumerate(table.columns):
        cells = [row.cells[index] for row in table.rows]
        out[column.key] = [c.value for c in cells]
        if any(c.low is not None for c in cells):
            out[f"{column.key}_low"] = [c.low for c in cells]
            out[f"{column.key}_high"] = [c.high for c in cells]
        if any(c.mark for c in cells):
            out[f"{column.key}_mark"] = [c.mark for c in cells]
        if any(c.rank for c in cells):
            out[f"{column.key}_rank"] = [c.rank for c in cells]
        for suffix in _suffixes(cells):
            out[f"{column.key}_{suffix}"] = [dict(c.extra).get(suffix) for c in cells]
        out[f"{column.key}_printed"] = [c.printed for c in cells]
    out["missing"] = [_missing_text(table, row) for row in table.rows]
    return pd.DataFrame(out)


def _suffixes(cells: Iterable[Cell]) -> list[str]:
    return list(dict.fromkeys(suffix for cell in cells for suffix, _ in cell.extra))


def _missing_text(table: Table, row: Row) -> str:
    """The reasons of a row's missing cells; one reason for all of them is said once."""
    reasons = [(c.key, cell.missing) for c, cell in zip(table.columns, row.cells, strict=True)]
    given = [(key, reason) for key, reason in reasons if reason]
    if given and len(given) == len(reasons) and len({reason for _, reason in given}) == 1:
        return given[0][1]
    return "; ".join(f"{key}: {reason}" for key, reason in given)


# ---- LaTeX -------------------------------------------------------------------------------------


def to_latex(table: Table) -> str:
    """The table as LaTeX source: a float with caption, label, body and notes below."""
    letters = note_letters(table)
    body = [_row(table, row, letters) for row in table.rows]
    head = _head(table)
    notes = [*_missing_notes(letters), *(escape_prose(note) for note in table.notes)]
    align = (table.stub_align or "l" * len(table.stub)) + "".join(c.align for c in table.columns)
    blocks = _with_rules(table, body)
    lines = ["% Written by the workflow from the statistics; do not edit."]
    if table.layout == "long":
        lines += _long(table, align, head, blocks, notes)
    else:
        lines += _float(table, align, head, blocks, notes)
    return "\n".join(lines) + "\n"


def write_table(table: Table, tex: Path | str, csv: Path | str) -> None:
    """Write both forms of a table, atomically."""
    files.write_text(tex, to_latex(table))
    files.write_csv(csv, to_frame(table))


def note_letters(table: Table) -> dict[str, str]:
    """A letter for every distinct reason of a missing cell, in order of appearance."""
    reasons = dict.fromkeys(c.missing for row in table.rows for c in row.cells if c.missing)
    return {reason: _letter(index) for index, reason in enumerate(reasons)}


def _letter(index: int) -> str:
    return "abcdefghijklmnopqrstuvwxyz"[index % 26] * (1 + index // 26)


def _missing_notes(letters: dict[str, str]) -> list[str]:
    return [
        rf"{EN_DASH}\textsuperscript{{{x}}} {escape_prose(reason)}."
        for reason, x in letters.items()
    ]


def _caption(table: Table) -> str:
    short = f"[{escape_prose(table.short_caption)}]" if table.short_caption else ""
    return rf"\caption{short}{{{escape_prose(table.caption)}}}\label{{tab:{label(table.name)}}}"


def _head(table: Table) -> list[str]:
    """Header lines: the groups with their rules where there are any, then the titles."""
    lines = []
    lead = len(table.stub)
    if any(c.group for c in table.columns):
        cells, rules, position = [""] * lead, [], lead + 1
        for group, members in groupby(table.columns, key=lambda c: c.group):
            width = len(list(members))
            cells.append(rf"\multicolumn{{{width}}}{{c}}{{{escape(group)}}}")
            if group:
                rules.append(rf"\cmidrule(lr){{{position}-{position + width - 1}}}")
            position += width
        lines += [" & ".join(cells) + r" \\", "".join(rules)]
    titles = [escape(t) for t in table.stub] + [
        rf"\multicolumn{{1}}{{c}}{{{_title(c.title)}}}" if c.align in "lcr" else escape(c.title)
        for c in table.columns
    ]
    return [*lines, " & ".join(titles) + r" \\"]


def _title(text: str) -> str:
    """The title of a column; a long one stands on two lines, cut near its middle."""
    cuts = [i + 1 for i, c in enumerate(text[:-1]) if c in "_- "]
    if len(text) <= LONG_TITLE or not cuts:
        return escape(text)
    cut = min(cuts, key=lambda i: abs(i - len(text) / 2))
    return rf"\tabletitle{{{escape(text[:cut].rstrip())}}}{{{escape(text[cut:])}}}"


def _wrap(table: Table) -> Callable[[str], str]:
    """How the text of a paragraph column is written."""
    return escape_prose if table.prose else escape_breakable


def _cell(cell: Cell, letters: dict[str, str], table: Table, wraps: bool) -> str:
    wrap, stacked = _wrap(table), table.stacked
    if cell.missing:
        return rf"{EN_DASH}\textsuperscript{{{letters[cell.missing]}}}"
    if cell.pieces:
        return r"\piecebar ".join(rf"\piece{{{escape(piece)}}}" for piece in cell.pieces)
    if cell.page or cell.number:
        return rf"\pageof{{{cell.page}}}" if cell.page else rf"\numberof{{{cell.number}}}"
    if cell.identifier:
        return escape_path(cell.text)
    text = wrap(cell.text) if wraps else escape(cell.text)
    if cell.rank == "best":
        text = rf"\textbf{{{text}}}"
    elif cell.rank == "second":
        text = rf"\underline{{{text}}}"
    if cell.mark:
        text += rf"\textsuperscript{{{escape(cell.mark)}}}"
    small = " ".join(escape(part) for part in (cell.interval, cell.detail) if part)
    if small and stacked:
        text = rf"\tablestack{{{text}}}{{{small}}}"
    elif small:
        text = rf"{text} \tablesmall{{{small}}}"
    # The tint comes last: a nested tabular would reset it.
    return rf"{text}\tabletint{{{cell.tint}}}" if cell.tint else text


def _row(table: Table, row: Row, letters: dict[str, str]) -> str:
    stub = [
        escape(text) if align in "lcr" else _wrap(table)(text)
        for text, align in zip(row.stub, _stub_aligns(table), strict=True)
    ]
    if row.repeated:
        stub[0] = ""
    if row.anchor:
        stub[0] = rf"\indexanchor{{{row.anchor}}}{stub[0]}"
    cells = [
        _cell(cell, letters, table, column.align not in ("l", "c", "r"))
        for cell, column in zip(row.cells, table.columns, strict=True)
    ]
    return " & ".join([*stub, *cells]) + r" \\"


def _stub_aligns(table: Table) -> list[str]:
    """One alignment per stub column; a paragraph column (p or P) counts as one."""
    text, out = table.stub_align or "l" * len(table.stub), []
    position = 0
    while position < len(text):
        end = text.index("}", position) + 1 if text[position] in "pP" else position + 1
        out.append(text[position:end])
        position = end
    return out


def _with_rules(table: Table, body: list[str]) -> list[str]:
    """Body lines with a rule between blocks and the block's name above each named block."""
    width = len(table.stub) + len(table.columns)
    lines: list[str] = []
    previous: str | None = None
    for row, line in zip(table.rows, body, strict=True):
        if row.block != previous:
            if previous is not None:
                lines.append(r"\midrule")
            if row.block:
                title = escape(row.block)
                lines.append(rf"\multicolumn{{{width}}}{{l}}{{\textit{{{title}}}}} \\")
            previous = row.block
        lines.append(line)
    if not table.rows:
        lines.append(rf"\multicolumn{{{width}}}{{l}}{{\textit{{no rows}}}} \\")
    return lines


def _notes(notes: Sequence[str]) -> list[str]:
    if not notes:
        return []
    items = [rf"\tablenote{{{note}}}" for note in notes]
    return [r"\begin{tablenotes}", *items, r"\end{tablenotes}"]


def _gap(table: Table) -> list[str]:
    """Narrow gaps between the columns of a table that has many."""
    crowded = len(table.stub) + len(table.columns) > MANY_COLUMNS
    gap = 2.5 if table.layout == "landscape" else 3.5
    return [rf"\setlength{{\tabcolsep}}{{{gap}pt}}"] * crowded


def _float(
    table: Table, align: str, head: list[str], body: list[str], notes: list[str]
) -> list[str]:
    environment = "sidewaystable" if table.layout == "landscape" else "table"
    place = "" if table.layout == "landscape" else "[htbp]"
    return [
        rf"\begin{{{environment}}}{place}",
        r"\centering",
        _caption(table),
        rf"\{table.size}",
        *_gap(table),
        rf"\begin{{fittable}}{{{label(table.name)}}}",
        rf"\begin{{tabular}}{{{align}}}",
        r"\toprule",
        *head,
        r"\midrule",
        *body,
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{fittable}",
        *_notes(notes),
        rf"\end{{{environment}}}",
    ]


def _long(
    table: Table, align: str, head: list[str], body: list[str], notes: list[str]
) -> list[str]:
    width = len(table.stub) + len(table.columns)
    return [
        r"\beforelongtable",
        r"\begingroup",
        rf"\{table.size}",
        *_gap(table),
        rf"\begin{{longtable}}{{{align}}}",
        _caption(table) + r" \\",
        r"\toprule",
        *head,
        r"\midrule",
        r"\endfirsthead",
        rf"\multicolumn{{{width}}}{{l}}{{\textit{{Table~\thetable, continued}}}} \\",
        r"\toprule",
        *head,
        r"\midrule",
        r"\endhead",
        r"\bottomrule",
        r"\endfoot",
        *body,
        r"\end{longtable}",
        *_notes(notes),
        r"\endgroup",
    ]
