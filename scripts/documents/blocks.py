"""The lines and tables of all pages as one flow of blocks, the page's own text told apart.

A page's own furniture (running headers and footers, page numbers, footnotes) identifies the page
and carries no rule, so the text of a clause runs on across it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from statistics import median
from typing import Any, Literal

from scripts.documents.pages import Page

#: Statuses of pages whose text can be used; the others stand in the report.
USABLE = frozenset({"text", "repaired", "vision"})
Role = Literal["body", "furniture", "footnote", "table"]

_BARE_NUMBER = re.compile(r"[-–—|\[(\s.]*(?P<value>[০-৯0-9]{1,6})[-–—|\])\s.]*")
_PAGE_NUMBER = re.compile(
    r"\W*(?:page|পৃষ্ঠা|পাতা)\W*[০-৯0-9]{1,6}(?:\W*(?:of|/|এর মধ্যে)\W*[০-৯0-9]{1,6})?\W*"
    r"|\s*[০-৯0-9]{1,4}\s*(?:/|of)\s*[০-৯0-9]{1,4}\s*|\s*[-–—]+\s*[০-৯0-9]{1,6}\s*[-–—]+\s*",
    re.I,
)
_IMPRINT = re.compile(
    r"bgpress|\bPrinted (?:and published )?by\b|^\s*(?:মুদ্রক|মূল্য\s*[:ঃ]\s*টাকা)", re.I
)
_GAZETTE = re.compile(r"গেজেট|\bGazette\b", re.I)
_DIGIT = re.compile(r"\d")
_NOTE_MARK = re.compile(r"\s*(?:[*†‡§]+|[¹²³⁰⁴-⁹]+|\[[0-9০-৯]{1,3}\])\s*\S")
_SMALL_MARK = re.compile(r"\s*[০-৯0-9]{1,3}\s*[.।]?\s+\S")
_NUMBERED = re.compile(r"\s*(?:[০-৯0-9]+\s*[।.]|\(\w{1,4}\))")
_LETTER = re.compile(r"\w")
#: How many lines from the top and the bottom of a page may be furniture.
_EDGE = 2
_SMALL = 0.9
#: A bare number of more digits than these at a page's edge is its number in a gazette's year.
_LONG_NUMBER = 3
#: This share of the pages carries a number, where pages are numbered.
_NUMBERED_PAGES = 0.3
#: The last line of a page that reaches so far across may go on on the next page.
_FULL = 0.85
#: A line that begins so far across is centred: it has room on both sides.
_CENTRED = 0.15
#: A page of so many lines shows its own edges (it may be wider than others).
_MANY_LINES = 10
#: Lines of fewer characters fill no column.
_NARROWEST = 30
#: A word may be so much wider than its share of its line's characters.
_WORD_SLACK = 1.3


@dataclass(frozen=True, slots=True)
class Block:
    """A line or a table of a page, with its edges in points from the page's top left.

    `full`: the line reaches the right edge of the page's text, so its paragraph may run on.
    """

    page: int
    role: Role
    text: str = ""
    rows: tuple[tuple[str, ...], ...] = ()
    size: float = 0.0
    bold: bool = False
    left: float = 0.0
    top: float = 0.0
    right: float = 0.0
    bottom: float = 0.0
    full: bool = False


@dataclass(frozen=True, slots=True)
class Flow:
    """The blocks of a document in reading order, and the lines left out as doubles of cells."""

    blocks: list[Block]
    doubled: list[str] = field(default_factory=list)


def signs(text: str) -> Counter[str]:
    """How often each character other than white space occurs in a text."""
    return Counter("".join(text.split()))


def flow(pages: Sequence[Page]) -> Flow:
    """Blocks of all usable pages in order, each with its role.

    A line that lies in a table's box and whose characters the table's cells hold already is a
    double of the cells and left out; one that the cells do not hold stays, so nothing is lost.
    """
    blocks: list[Block] = []
    doubled: list[str] = []
    usable = [page for page in pages if page.status in USABLE]
    running, numbering = _running_lines(usable), _page_numbers(usable)
    printed = [page for page in usable if page.status != "vision"]
    edges, size = _edges_of_text(printed), _body_size(printed)
    for page in usable:
        tables = [_table_block(page.page, table) for table in page.tables if table["rows"]]
        lines: list[Block] = []
        for line in page.lines:
            if not line["text"].strip():
                continue
            if any(_is_double(line, table) for table in page.tables):
                doubled.append(line["text"])
            else:
                lines.append(_line_block(page.page, line))
        lines = _with_fullness(lines, _edges_on(page, edges))
        blocks += _merge(_with_roles(lines, running, numbering, page.page, size), tables)
    return Flow(blocks, doubled)


def _box(entry: dict[str, Any]) -> tuple[float, float, float, float]:
    """The box of a line or table; zeros where none is known."""
    box = [float(value) for value in entry.get("bbox") or ()]
    return (box[0], box[1], box[2], box[3]) if len(box) == 4 else (0.0, 0.0, 0.0, 0.0)


def _line_block(page: int, line: dict[str, Any]) -> Block:
    """One line as a body block."""
    size, bold = float(line.get("size") or 0.0), bool(line.get("bold"))
    return Block(page, "body", line["text"].strip(), (), size, bold, *_box(line))


def _edges_of_text(pages: Sequence[Page]) -> tuple[float, float]:
    """Left and right edge of the text of pages; zeros where boxes tell nothing."""
    boxes = [_box(line) for page in pages for line in page.lines if line["text"].strip()]
    rights = [box[2] for box in boxes]
    if len(set(rights)) < min(2, len(rights)):
        return 0.0, 0.0
    return min((box[0] for box in boxes), default=0.0), max(rights, default=0.0)


def _edges_on(page: Page, document: tuple[float, float]) -> tuple[float, float]:
    """Left and right edge of a page's text: its own where it has many lines, else the document's.

    A model that reads pictures gives no places: its lines all have the same edges, and none count.
    """
    if page.status == "vision":
        return 0.0, 0.0
    return _edges_of_text([page]) if len(page.lines) >= _MANY_LINES else document


def _with_fullness(lines: list[Block], edges: tuple[float, float]) -> list[Block]:
    """The lines of a page with `full` set: the first word of the next line had no room left.

    Without boxes widths are counted in characters. The last line of a page is full when it reaches
    most of the way across. A line of a few characters is never full: no column is so narrow.
    """
    left, right = edges
    spans = [(block.left, block.right) for block in lines]
    if right <= left:
        spans = [(0.0, float(len(block.text))) for block in lines]
        left, right = 0.0, max((end for _, end in spans), default=0.0)
    out = []
    for index, block in enumerate(lines):
        indent, room = spans[index][0] - left, right - spans[index][1]
        room += indent if indent >= _CENTRED * (right - left) else 0.0
        full = room <= (1 - _FULL) * (right - left)
        if index + 1 < len(lines):
            following, (start, end) = lines[index + 1].text, spans[index + 1]
            word = len(following.split(None, 1)[0]) + 1
            full = room < _WORD_SLACK * word * (end - start) / len(following)
        out.append(replace(block, full=full and len(block.text) >= _NARROWEST))
    return out


def _table_block(page: int, table: dict[str, Any]) -> Block:
    """One table as a block; a cell that is null is empty."""
    rows = tuple(tuple(str(cell or "").strip() for cell in row) for row in table["rows"])
    return Block(page, "table", "", rows, 0.0, False, *_box(table))


def _is_double(line: dict[str, Any], table: dict[str, Any]) -> bool:
    """Whether a line lies in a table's box and its text is in one row of the cells."""
    left, top, right, bottom = _box(line)
    box = _box(table)
    x, y = (left + right) / 2, (top + bottom) / 2
    if box == (0.0, 0.0, 0.0, 0.0) or not (box[0] <= x <= box[2] and box[1] <= y <= box[3]):
        return False
    text = signs(line["text"])
    return any(text <= signs("".join(str(cell or "") for cell in row)) for row in table["rows"])


def _merge(lines: list[Block], tables: list[Block]) -> list[Block]:
    """Lines in their order with each table before the first line that lies below it.

    A table without a box stands after the body's lines, before the page's foot.
    """
    out = list(lines)
    for table in tables:
        if table.top == table.bottom:
            out.insert(_foot(out), table)
            continue
        middle = (table.top + table.bottom) / 2
        place = next(
            (i for i, block in enumerate(out) if (block.top + block.bottom) / 2 > middle),
            _foot(out) if all(block.top == block.bottom for block in out) else len(out),
        )
        out.insert(place, table)
    return out


def _foot(blocks: list[Block]) -> int:
    """Where the furniture and notes at the end of a page begin."""
    end = len(blocks)
    while end and blocks[end - 1].role in {"furniture", "footnote"}:
        end -= 1
    return end


def _mask(text: str) -> str:
    """A line without a number at its ends, so that a running header with a page number repeats."""
    return " ".join(re.sub(r"^\W*\d+\s|\s\d+\W*$", " ", text).split()).casefold()


def _edges(lines: Iterable[str]) -> list[str]:
    """Lines at the top and the bottom of a page that may be furniture."""
    every = [line for line in lines if line.strip()]
    return every[:_EDGE] + every[max(_EDGE, len(every) - _EDGE) :]


def _is_prose(text: str) -> bool:
    """Whether a line is numbered like a clause or ends like a sentence: no running header does."""
    return bool(_NUMBERED.match(text)) or text.rstrip().endswith(("।", ";", ":", ","))


def _running_lines(pages: Sequence[Page]) -> frozenset[str]:
    """Masked lines that stand at the edge of at least two pages and of half of them."""
    count: Counter[str] = Counter()
    for page in pages:
        edges = _edges(line["text"] for line in page.lines)
        count.update({_mask(text) for text in edges if not _is_prose(text)})
    least = max(2, len(pages) / 2)
    return frozenset(text for text, n in count.items() if n >= least and _LETTER.search(text))


def _page_numbers(pages: Sequence[Page]) -> frozenset[int]:
    """Differences of a bare number at a page's edge and the page that make it a page number.

    The number is the page's own, or many pages share the difference (a gazette counts on through a
    year), so that a lone cell of a table is none.
    """
    count: Counter[int] = Counter()
    for page in pages:
        found = (_BARE_NUMBER.fullmatch(text) for text in _edges(x["text"] for x in page.lines))
        count.update({int(match["value"]) - page.page for match in found if match})
    least = max(2, _NUMBERED_PAGES * len(pages))
    return frozenset(difference for difference, n in count.items() if n >= least) | {0}


def _is_furniture(text: str, page: int, running: frozenset[str], numbering: frozenset[int]) -> bool:
    """Whether a line at the edge of a page is a page number, a running header or an imprint."""
    number = _BARE_NUMBER.fullmatch(text)
    if number:
        return int(number["value"]) - page in numbering or len(number["value"]) > _LONG_NUMBER
    if _PAGE_NUMBER.fullmatch(text) or _IMPRINT.search(text):
        return True
    dated = page > 1 or bool(_DIGIT.search(text))
    gazette = bool(_GAZETTE.search(text)) and len(text) < 100 and dated
    return gazette or (_mask(text) in running and not _is_prose(text))


def _with_roles(
    lines: list[Block],
    running: frozenset[str],
    numbering: frozenset[int],
    page: int,
    size: float,
) -> list[Block]:
    """The lines of a page with furniture and footnotes marked."""
    roles: list[Role] = ["body"] * len(lines)
    edge = {*range(min(_EDGE, len(lines))), *range(max(0, len(lines) - _EDGE), len(lines))}
    for index in edge:
        if _is_furniture(lines[index].text, page, running, numbering):
            roles[index] = "furniture"
    for index in _footnotes(lines, roles, size):
        roles[index] = "footnote" if roles[index] == "body" else roles[index]
    for index in {0, len(lines) - 1} if len(lines) > _EDGE else set():
        if roles[index] == "body" and 0 < lines[index].size <= _SMALL * size:
            roles[index] = "furniture"
    return [replace(block, role=role) for block, role in zip(lines, roles, strict=True)]


def _body_size(pages: Sequence[Page]) -> float:
    """The size of most lines of the document in points; 0 where all have one size or none."""
    sizes = [float(line.get("size") or 0.0) for page in pages for line in page.lines]
    known = [size for size in sizes if size]
    return median(known) if len(set(known)) > 1 else 0.0


def _footnotes(lines: list[Block], roles: list[Role], size: float) -> range:
    """Indices of the notes at the end of a page's body: they begin with a note's mark.

    Where sizes are known, the lines of a note are smaller than the document's usual one, or begin
    with a star. Where they are not, every line from the mark on is a note unless one of them is
    numbered like a clause.
    """
    body = [index for index, role in enumerate(roles) if role == "body"]
    start = None
    for index in reversed(body):
        text, small = lines[index].text, 0 < lines[index].size <= _SMALL * size
        if _NOTE_MARK.match(text) or (small and _SMALL_MARK.match(text)):
            start = index
        elif (size and not small) or (not size and _NUMBERED.match(text)):
            break
    if start is None or start == body[0]:
        return range(0)
    return range(start, body[-1] + 1)
