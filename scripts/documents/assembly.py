"""The walk over an instrument's lines that tells clauses, headings, recitals and signatures apart.

Rules, in the terms of TIDE A.8.1: a clause begins at a numeral that fits the numbering (R4), which
may begin anew under a chapter or schedule (R5); a clause runs on over pages (R7); a table belongs
to the clause around it or to the one that introduces its schedule (R9); quoted law text begins
nothing (R10); items stand in document order (R12).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from scripts.documents.blocks import Block
from scripts.documents.clauses import (
    Start,
    clause_start,
    is_instrument_number,
    is_short_title,
    is_terminated,
    signature_kind,
    spelled,
)
from scripts.documents.numbering import Plan, plan
from scripts.documents.table_merging import Table

_LIST_SIGN = re.compile(
    r"\s*(?:[0-9০-৯]{0,4}\[\s*)*(?:\((?:[0-9০-৯]{1,3}[ক-হA-Za-z]{0,2}|[a-zA-Zক-হঅ-ঔ]{1,4})\)"
    r"|(?:[0-9০-৯]{1,2}|[a-zA-Zক-হঅ-ঔ]{1,2}|[ivx]{1,4})\))"
)
_NOTE_MARK = re.compile(r"\s*(?:[*†‡§¹²³⁰⁴-⁹]|\[?[0-9০-৯]{1,3}\]?[.।\s])")
_HYPHENATED = re.compile(r"[^\s\d—–-]-$")
_QUOTE = re.compile(r"[“„\"]|‘‘")
_INTRODUCES = re.compile(r"[:—–―-]\s*$")
_SENTENCE_END = re.compile(r"[।;.][\s”’\"']*$")
_PROVISION = re.compile(
    r"(?:ধারা|বিধি|অনুচ্ছেদ|প্রবিধান|দফা|sections?|rules?|articles?|paragraphs?|clauses?)\s*"
    r"(?P<value>[0-9০-৯]{1,3})",
    re.I,
)
_SCHEDULE_WORD = re.compile(r"তফসিল|তফশিল|পরিশিষ্ট|সংযোজনী|schedule|annex|appendix", re.I)
#: Lines that stand for themselves above the clauses: date, subject; a recital.
_LABEL = re.compile(r"\W*(?:তারিখ|বিষয়|বিষয়|যেহেতু|dated?\b|subject\b|whereas\b)", re.I)
_DATED = re.compile(r"(?:বঙ্গাব্দ|খ্রিস্টাব্দ|খ্রিষ্টাব্দ|(?<!\d)(?:19|20)\d\d)\W*$")
#: Words with which an instrument without numbered clauses orders something.
_OPERATIVE = re.compile(
    r"করিল|করিলেন|করা হইল|করা হলো|হইবে|প্রদান করা"
    r"|\b(?:shall|hereby|is pleased to|(?:is|are) (?:required|directed|requested) to)\b",
    re.I,
)
_HEADING_LINES = 3
_NAME_LENGTH = 60
#: Lines above a signatory's office that may name the person.
_PULLED = 2


@dataclass(slots=True)
class Line:
    """A line or table of an item with the pages that it stands on."""

    text: str
    page_start: int
    page_end: int
    full: bool = False
    table: Table | None = None


@dataclass(slots=True)
class Item:
    """An item that is being filled. `start` is the numeral of a numbered clause.

    `lead`: how many lines at the start are a heading that is printed above the numeral. `titled`:
    it heads a part of the document; `closing`: it is a signature block or a list of copies.
    """

    type: str
    category: str = ""
    lines: list[Line] = field(default_factory=list)
    start: Start | None = None
    lead: int = 0
    titled: bool = False
    closing: bool = False

    @property
    def tables(self) -> list[Table]:
        """The item's tables in order."""
        return [line.table for line in self.lines if line.table is not None]

    def text(self) -> str:
        """The item's text: wrapped lines joined, one line a paragraph, a marker for each table."""
        out, tables = "", 0
        before: Line | None = None
        for line in self.lines:
            text = line.text
            if line.table is not None:
                tables += 1
                text = f"[TABLE_{tables}]"
            out += ("" if before is None else _joint(before, line)) + text
            before = line
        return out


def _joint(before: Line, line: Line) -> str:
    """What stands between two lines of an item: nothing, a space, or the end of a paragraph."""
    if before.table is not None or line.table is not None or not before.full:
        return "\n"
    if _LIST_SIGN.match(line.text) or clause_start(line.text):
        return "\n"
    if _QUOTE.match(line.text) and _INTRODUCES.search(before.text):
        return "\n"
    return "" if _HYPHENATED.search(before.text) else " "


@dataclass(slots=True)
class _Walk:
    """Where the walk stands. `mode`: front, heading, schedule, clause or signature."""

    plan: Plan
    items: list[Item] = field(default_factory=list)
    current: Item | None = None
    mode: str = "front"
    previous: Block | None = None
    note: Item | None = None
    titled: Item | None = None

    def open(self, item: Item, mode: str) -> Item:
        """Begin an item and go on in a mode."""
        self.items.append(item)
        self.current, self.mode = item, mode
        return item

    def clauses(self) -> list[Item]:
        """The clauses so far."""
        return [item for item in self.items if item.type == "clause"]


def assemble(flow: Sequence[Block | Table]) -> list[Item]:
    """The items of a document in order, from its flow of lines and whole tables."""
    walk = _Walk(plan(flow))
    for index, entry in enumerate(flow):
        if isinstance(entry, Table):
            _take_table(walk, entry)
        elif entry.role != "body":
            _take_page_line(walk, entry)
        else:
            _take_line(walk, entry, index)
            walk.previous = entry
    _gather_operative_text(walk.items)
    return [item for item in walk.items if item.lines]


def _line(block: Block) -> Line:
    """A block of the body as a line of an item."""
    return Line(block.text, block.page, block.page, block.full)


def _take_page_line(walk: _Walk, block: Block) -> None:
    """Running headers, page numbers and footnotes: items of the page, beside the open item."""
    note = block.role == "footnote"
    open_note = walk.note if note and not _NOTE_MARK.match(block.text) else None
    if open_note is not None and open_note.lines[-1].page_end == block.page:
        open_note.lines.append(_line(block))
        return
    item = Item("metadata", "page", [_line(block)])
    walk.items.append(item)
    walk.note = item if note else None


def _take_line(walk: _Walk, block: Block, index: int) -> None:
    """One line of the body."""
    if index in walk.plan.headings:
        mode = "schedule" if walk.plan.headings[index] == "schedule" else "heading"
        walk.open(Item("metadata", "document", [_line(block)], titled=True), mode)
    elif index in walk.plan.titles:
        _open_title(walk, block)
    elif index in walk.plan.starts:
        _open_clause(walk, block, walk.plan.starts[index])
    elif index in walk.plan.quoted:
        _continue(walk, block)
    elif (kind := signature_kind(block.text)) and _closes(walk, block, kind, index):
        _open_signature(walk, block)
    elif walk.mode == "signature" and is_instrument_number(block.text):
        walk.open(Item("metadata", "document", [_line(block)]), "front")
    else:
        _continue(walk, block)


def _open_title(walk: _Walk, block: Block) -> None:
    """A heading on a line of its own: the clause begins with it, and its numeral comes next."""
    if walk.titled is None:
        walk.titled = Item("clause")
        walk.items.append(walk.titled)
    walk.titled.lines.append(_line(block))


def _open_clause(walk: _Walk, block: Block, start: Start) -> None:
    """Begin a clause at its numeral, or go on with one that began with its heading."""
    item, walk.titled = walk.titled, None
    if item is None:
        item = walk.open(Item("clause"), "clause")
    item.start, item.lead = start, len(item.lines)
    item.lines.append(_line(block))
    walk.current, walk.mode = item, "clause"


def _closes(walk: _Walk, block: Block, kind: str, index: int) -> bool:
    """Whether a line of a closing block closes the document at this place."""
    if walk.plan.goes_on(index):
        return False
    if walk.mode == "signature":
        return kind in {"copies", "imprint"}
    if walk.mode == "clause":
        if kind == "office" and (block.full or _LIST_SIGN.match(block.text)):
            return False
        before = walk.previous
        return before is None or block.bold or not before.full or is_terminated(before.text)
    return kind in {"order", "copies"} and walk.current is not None


def _open_signature(walk: _Walk, block: Block) -> None:
    """Begin a closing block with the signatory's name that stands above it."""
    names: list[Line] = []
    item = walk.current
    while (
        item is not None
        and walk.mode == "clause"
        and len(item.lines) > 1
        and len(names) < _PULLED
        and item.lines[-1].table is None
        and len(item.lines[-1].text) <= _NAME_LENGTH
        and not _SENTENCE_END.search(item.lines[-1].text)
        and not _LIST_SIGN.match(item.lines[-1].text)
        and not item.lines[-2].full
        and item.lines[-1].page_end == block.page
    ):
        names.insert(0, item.lines.pop())
    item = Item("metadata", "document", [*names, _line(block)], closing=True)
    walk.open(item, "signature")


def _continue(walk: _Walk, block: Block) -> None:
    """A line that begins nothing by itself: more of the open item, or a new title or recital."""
    item, line = walk.current, _line(block)
    if item is None:
        walk.open(Item("metadata", "document", [line]), "front")
    elif walk.mode in {"clause", "signature"}:
        item.lines.append(line)
    elif walk.mode == "front":
        if walk.previous is not None and _runs_on(item.lines[-1], block):
            item.lines.append(line)
        else:
            walk.open(Item("metadata", "document", [line]), "front")
    elif _heads_further(item, block):
        item.lines.append(line)
    elif walk.mode == "schedule" and walk.clauses():
        clause = _introducer(walk)
        clause.lines.append(line)
        walk.current, walk.mode = clause, "clause"
    else:
        walk.open(Item("metadata", "document", [line]), "front")


def _runs_on(before: Line, block: Block) -> bool:
    """Whether a recital goes on from one line to the next."""
    begins = is_instrument_number(block.text) or _LABEL.match(block.text)
    dated = _DATED.search(before.text)
    return before.full and not is_terminated(before.text) and not begins and not dated


def _heads_further(item: Item, block: Block) -> bool:
    """Whether a line below a heading is more of the heading: its title or its reference."""
    if len(item.lines) >= _HEADING_LINES:
        return False
    bracketed = block.text.startswith(("[", "(")) and block.text.endswith(("]", ")", "]।", ")।"))
    return bracketed or (is_short_title(block.text) and not block.full)


def _take_table(walk: _Walk, table: Table) -> None:
    """A table belongs to the clause around it, or to the one that introduces its schedule."""
    line = Line("", table.page_start, table.page_end, table=table)
    if walk.mode == "clause" and walk.current is not None:
        walk.current.lines.append(line)
    elif walk.clauses():
        clause = _introducer(walk)
        clause.lines.append(line)
        if walk.mode != "signature":
            walk.current, walk.mode = clause, "clause"
    else:
        _open_unnumbered(walk, line)
    walk.previous = None


def _open_unnumbered(walk: _Walk, table: Line) -> None:
    """A table before any clause makes a clause of the paragraph that it stands in."""
    item = walk.current
    if item is not None and walk.mode == "front" and not _is_title(item):
        item.type, item.category = "clause", ""
    else:
        item = walk.open(Item("clause"), "clause")
    item.lines.append(table)
    walk.current, walk.mode = item, "clause"


def _is_title(item: Item) -> bool:
    """Whether a metadata item is one short line."""
    return len(item.lines) == 1 and is_short_title(item.lines[0].text)


def _introducer(walk: _Walk) -> Item:
    """The clause that introduces the open schedule, or the last clause.

    The schedule's heading may name its provision (`[বিধি ৩ দ্রষ্টব্য]`); else the last clause before
    it that uses the heading's own words; else the last that speaks of a schedule.
    """
    clauses = walk.clauses()
    heading = walk.current.text() if walk.current is not None and walk.mode == "schedule" else ""
    if not heading:
        return clauses[-1]
    named = _PROVISION.search(heading)
    if named:
        value = int(named["value"])
        for clause in reversed(clauses):
            if clause.start is not None and clause.start.place == (value, 0):
                return clause
    words = " ".join(re.split(r"[\n\[(:]", spelled(heading))[0].split()).casefold()
    for clause in reversed(clauses):
        if words in " ".join(spelled(clause.text()).split()).casefold():
            return clause
    return next((c for c in reversed(clauses) if _SCHEDULE_WORD.search(c.text())), clauses[-1])


def _gather_operative_text(items: list[Item]) -> None:
    """Make one clause of the text that orders something before the first numeral, if that is not 1.

    Many orders have no numbered clause, or print their first paragraph without its number and go on
    with ২। The clause runs from the first paragraph that orders something to the first numeral.
    """
    numbered = next((n for n, item in enumerate(items) if item.start), len(items))
    if numbered < len(items):
        start = items[numbered].start
        if start is not None and start.place[0] == 1:
            return
    clause: Item | None = None
    for item in items[:numbered]:
        if item.category == "page" or item.titled or item.closing or not item.lines:
            continue
        if clause is not None:
            clause.lines += item.lines
            item.lines = []
        elif item.type == "clause" or (not _is_title(item) and _OPERATIVE.search(item.text())):
            item.type, item.category, clause = "clause", "", item
