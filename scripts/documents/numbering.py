"""Which lines of an instrument begin a clause or a part: the numerals that fit the numbering.

A numeral at the start of a line is only a candidate. Lists inside a clause, references that a line
break moved to the front, and quoted law text have such numerals too (TIDE A.8.1, R4, R5 and R10).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from scripts.documents.blocks import Block
from scripts.documents.clauses import (
    Place,
    Start,
    clause_start,
    follows,
    heading_kind,
    inline_title,
    is_instrument_number,
    is_short_title,
    is_terminated,
    signature_kind,
)
from scripts.documents.quotes import Quotation
from scripts.documents.table_merging import Table

#: A document prints headings above its clauses when at least so many have one, and this share.
_LEAST_HEADED, _HEADED_SHARE = 2, 0.3
#: A quotation that is never closed has swallowed clauses when this share of a gap stands inside it.
_SWALLOWED_SHARE = 0.8
#: A chapter's heading stands at most so many lines above its first clause.
_HEADING_REACH = 6
#: So many numerals ahead are looked at to tell a list from the clauses' own numbering.
_LOOKED_AHEAD = 1000
#: How many lines above a numeral may head it.
_LOOKED_BACK = 3


@dataclass(frozen=True, slots=True)
class Candidate:
    """A line that begins with a numeral. `index` counts the entries of the flow.

    `settled`: the text before it has come to an end. `heading`: what stands above it: nothing, a
    heading of its `own`, or a line that is its own or the `chapter`'s.
    `closed`: a signature or a list of copies stands between it and the last heading.
    """

    index: int
    start: Start
    quoted: bool
    settled: bool
    heading: str
    closed: bool
    part: int

    @property
    def place(self) -> Place:
        """The numeral's place."""
        return self.start.place


@dataclass(frozen=True, slots=True)
class Plan:
    """What the lines of a flow begin, by their index.

    `titles` are headings of clauses that stand as lines of their own above the numerals; `quoted`
    are lines inside quotations, which begin nothing.
    """

    starts: dict[int, Start] = field(default_factory=dict)
    headings: dict[int, str] = field(default_factory=dict)
    titles: frozenset[int] = frozenset()
    quoted: frozenset[int] = frozenset()

    def goes_on(self, index: int) -> bool:
        """Whether the numbering goes on after a line, with no new count and no heading between."""
        start = min((i for i in self.starts if i > index), default=None)
        if start is None or self.starts[start].place == (1, 0):
            return False
        return not any(index < heading < start for heading in self.headings)


def plan(flow: Sequence[Block | Table]) -> Plan:
    """The plan of a document's flow.

    Quotations are first paired over the whole text. Where one was never closed and so swallowed
    clauses that the numbering misses, those clauses begin all the same; then quotations are paired
    anew, clause by clause.
    """
    swallowing = _quoted_lines(flow, ())
    quoted = _quoted_lines(flow, sorted(_starts(flow, swallowing)))
    headings = _heading_clauses(flow, _headings(flow, quoted), _starts(flow, quoted))
    starts = _starts(flow, quoted, headings)
    return Plan(starts, headings, _titles(flow, starts), quoted)


def _body(flow: Sequence[Block | Table]) -> list[tuple[int, Block]]:
    """The lines of the body with their indices."""
    return [(i, e) for i, e in enumerate(flow) if isinstance(e, Block) and e.role == "body"]


def _quoted_lines(flow: Sequence[Block | Table], borders: Sequence[int]) -> frozenset[int]:
    """Indices of lines that begin inside a quotation; no quotation crosses a border."""
    segments: list[list[tuple[int, Block]]] = [[]]
    limits = set(borders)
    for index, block in _body(flow):
        if index in limits:
            segments.append([])
        segments[-1].append((index, block))
    out: set[int] = set()
    for segment in segments:
        quotation = Quotation("\n".join(block.text for _, block in segment))
        position = 0
        for index, block in segment:
            if quotation.covers(position):
                out.add(index)
            position += len(block.text) + 1
    return frozenset(out)


def _before(flow: Sequence[Block | Table], index: int) -> list[tuple[int, Block | Table]]:
    """The entries of the text before an entry, the nearest first: lines of the body, tables."""
    out: list[tuple[int, Block | Table]] = []
    while index > 0 and len(out) < _LOOKED_BACK:
        index -= 1
        entry = flow[index]
        if isinstance(entry, Table) or entry.role == "body":
            out.append((index, entry))
    return out


def _is_settled(flow: Sequence[Block | Table], index: int, block: Block) -> bool:
    """Whether the text before a line has come to an end: so something new may begin here."""
    before = _before(flow, index)
    if not before or block.bold:
        return True
    entry = before[0][1]
    return isinstance(entry, Table) or not entry.full or is_terminated(entry.text)


def _heading_above(flow: Sequence[Block | Table], index: int, start: Start, text: str) -> str:
    """Whether a heading stands above a numeral: a short line after text that has ended (`own`).

    Above that line may also stand the heading of a chapter, with or without a title (`chapter`).
    """
    before = [entry for _, entry in _before(flow, index)]
    if not text[start.end :].strip() or not before or isinstance(before[0], Table):
        return ""
    nearest = before[0].text
    if not is_short_title(nearest) or heading_kind(nearest) or clause_start(nearest):
        return ""
    above = before[1] if len(before) > 1 else None
    if isinstance(above, Block) and not above.bold and not is_terminated(above.text):
        top = before[2] if len(before) > 2 else None
        titled = isinstance(top, Block) and heading_kind(top.text) and is_short_title(above.text)
        return "chapter" if heading_kind(above.text) or titled else ""
    return "own"


def _titles(flow: Sequence[Block | Table], starts: dict[int, Start]) -> frozenset[int]:
    """The lines above clauses that are their headings, where the document prints such headings."""
    candidates = [c for c in _candidates(flow, frozenset(), {}) if c.index in starts]
    untitled = [c for c in candidates if not _has_title(flow, c)]
    if not _is_marginal(untitled):
        return frozenset()
    first = min(starts)
    out = set()
    for candidate in untitled:
        before = _before(flow, candidate.index)[:1]
        for index, entry in before:
            first_title = (
                candidate.index == first
                and isinstance(entry, Block)
                and is_short_title(entry.text)
                and not heading_kind(entry.text)
            )
            if candidate.heading or first_title:
                out.add(index)
    return frozenset(out)


def _headings(flow: Sequence[Block | Table], quoted: frozenset[int]) -> dict[int, str]:
    """Lines that could head a chapter or schedule."""
    return {
        index: kind
        for index, block in _body(flow)
        if index not in quoted
        and (kind := heading_kind(block.text))
        and _is_settled(flow, index, block)
    }


def _heading_clauses(
    flow: Sequence[Block | Table], headings: dict[int, str], starts: dict[int, Start]
) -> dict[int, str]:
    """The headings without those of chapters that no clause follows: mentions in a list or cell."""
    order = [index for index, _ in _body(flow)]
    place = {index: number for number, index in enumerate(order)}
    opening = sorted(place[index] for index in starts)
    out = {}
    for index, kind in headings.items():
        after = next((number for number in opening if number > place[index]), None)
        near = after is not None and after - place[index] <= _HEADING_REACH
        if near or kind == "schedule" or not starts:
            out[index] = kind
    return out


def _candidates(
    flow: Sequence[Block | Table], quoted: frozenset[int], headings: dict[int, str]
) -> list[Candidate]:
    """All numerals at the start of lines."""
    out: list[Candidate] = []
    part, closed = 0, False
    for index, block in _body(flow):
        settled = _is_settled(flow, index, block)
        start = clause_start(block.text)
        if index in headings:
            part, closed = part + 1, False
        elif start:
            heading = _heading_above(flow, index, start, block.text)
            ended = settled or bool(heading)
            out.append(Candidate(index, start, index in quoted, ended, heading, closed, part))
        elif closed and is_instrument_number(block.text):
            part, closed = part + 1, False
        elif index not in quoted and settled and signature_kind(block.text):
            closed = True
    return out


def _is_marginal(candidates: Sequence[Candidate]) -> bool:
    """Whether enough of the numerals outside quotations have a heading above them."""
    open_ones = [c for c in candidates if not c.quoted]
    headed = sum(candidate.heading == "own" for candidate in open_ones)
    return headed >= _LEAST_HEADED and headed >= _HEADED_SHARE * len(open_ones)


def _starts(
    flow: Sequence[Block | Table],
    quoted: frozenset[int],
    headings: dict[int, str] | None = None,
) -> dict[int, Start]:
    """The lines that begin a clause."""
    if headings is None:
        headings = _headings(flow, quoted)
    candidates = _candidates(flow, quoted, headings)
    marginal = _is_marginal([c for c in candidates if not _has_title(flow, c)])
    if not marginal:
        candidates = [replace(c, heading="") for c in candidates]
    kept = fitting([c for c in candidates if not c.quoted], marginal)
    swallowed = _swallowed(kept, [c for c in candidates if c.quoted])
    return {candidate.index: candidate.start for candidate in [*kept, *swallowed]}


def _has_title(flow: Sequence[Block | Table], candidate: Candidate) -> bool:
    """Whether a heading stands on the line of the numeral itself."""
    entry = flow[candidate.index]
    return isinstance(entry, Block) and bool(inline_title(entry.text, candidate.start.end)[0])


def fitting(candidates: Sequence[Candidate], marginal: bool) -> list[Candidate]:
    """The candidates that fit a numbering, in order.

    Accepted are: the first; a count from 1 under a part's heading; one with a heading of its own
    above it, where the document prints such headings; the next number, or an inserted letter; a
    later number (others were omitted); and a new count from 1. Not accepted are the items of a list
    inside a clause: a list of another kind of numeral, or one of the same kind after which the
    clauses' own numbering goes on.
    """
    out: list[Candidate] = []
    listed: dict[str, Place] = {}
    for index, candidate in enumerate(candidates):
        place, style = candidate.place, candidate.start.style
        if not out:
            accepted = not candidate.closed and (candidate.settled or place[0] == 1)
        else:
            last, item = out[-1], listed.get(style)
            anew = place == (1, 0) and candidate.part > last.part and not candidate.closed
            headed = bool(candidate.heading) and not _is_item(candidate, last, item)
            accepted = anew or headed or _goes_on(candidates, index, last, item, marginal)
        if accepted:
            out.append(candidate)
            listed = {}
        elif out:
            listed[style] = place
    return out


def _is_item(candidate: Candidate, last: Candidate, listed: Place | None) -> bool:
    """Whether a candidate goes on with a list, or begins one below a signature."""
    place = candidate.place
    if candidate.closed and place == (1, 0):
        return True
    return listed is not None and follows(listed, place) and not follows(last.place, place)


def _goes_on(
    candidates: Sequence[Candidate],
    index: int,
    last: Candidate,
    listed: Place | None,
    marginal: bool,
) -> bool:
    """Whether a candidate without a heading goes on with the numbering after the last clause."""
    candidate = candidates[index]
    place, style = candidate.place, candidate.start.style
    is_next = follows(last.place, place)
    if listed is not None and follows(listed, place):
        return (
            is_next
            and style == last.start.style
            and not any(
                c.place == place and c.start.style == style and c.part == candidate.part
                for c in candidates[index + 1 : index + _LOOKED_AHEAD]
            )
        )
    if style != last.start.style:
        return is_next and candidate.settled
    if is_next:
        return True
    if place == (1, 0):
        lists = marginal or candidate.closed or _numbering_resumes(candidates, index, last)
        return candidate.settled and not lists
    return place > last.place and candidate.settled and not marginal and listed is None


def _numbering_resumes(candidates: Sequence[Candidate], index: int, last: Candidate) -> bool:
    """Whether the number after the last clause follows later, not as part of a count from 1."""
    style, number, part = last.start.style, last.place[0], candidates[index].part
    before: Candidate | None = None
    for candidate in candidates[index : index + _LOOKED_AHEAD]:
        if candidate.part != part:
            break
        if candidate.start.style != style:
            continue
        own = before is not None and before.place[0] != number
        if own and candidate.place[0] == number + 1:
            return True
        before = candidate
    return False


def _swallowed(kept: Sequence[Candidate], quoted: Sequence[Candidate]) -> list[Candidate]:
    """Quoted numerals that fill a gap of the numbering: a quotation was not closed in print."""
    out: list[Candidate] = []
    for before, after in pairwise(kept):
        number, missing = before.place[0] + 1, after.place[0] - before.place[0] - 1
        if before.start.style != after.start.style or missing < 1:
            continue
        found: list[Candidate] = []
        for candidate in quoted:
            between = before.index < candidate.index < after.index
            same = candidate.start.style == before.start.style
            if between and same and candidate.place == (number + len(found), 0):
                found.append(candidate)
        if len(found) >= _SWALLOWED_SHARE * missing:
            out += found
    return out
