"""The hierarchy of a clause's sub-clauses as nested lists of their signs as printed.

`["ক", "খ", ["i", "ii"], "গ"]`: a list right after a sign holds that sign's children. Signs inside
quoted law text are no sub-clauses (TIDE A.8.1, the rules on hierarchy and literal strings).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from scripts.documents.numerals import Sign, readings
from scripts.documents.quotes import Quotation

_LETTERS = r"[0-9০-৯]{1,3}[ক-হA-Za-z]{0,2}|[a-zA-Z]{1,5}|[ক-হ]{1,3}|[অ-ঔ]{1,2}"
_SIGN = re.compile(rf"\((?P<sign>{_LETTERS})\)|^[ \t]*(?P<half>{_LETTERS})\)", re.M)
#: What may stand between the start of a line and a sign: brackets of insertions, a footnote's star.
_LINE_LEAD = re.compile(r"\s*(?:[0-9০-৯]{0,4}\[\s*)*[*]?\s*")
#: Inside a line a sign counts only right after one of these.
_INLINE_LEAD = re.compile(
    r"(?:[;।৷:—–―]|(?<!sub)-|[:.।৷]\s*--?|,\s*(?:যথা|namely)\s*:?-?|[;,]\s*(?:and|or|এবং|বা|অথবা|ও))\s*(?:[0-9]{1,3}\[\s*)?$"
)
_AFTER_SENTENCE = re.compile(r"\.\s*$")
#: So many characters before a sign are looked at.
_LEAD = 60
#: At a line's start a gap of so many places in a list is an omission, not another list.
_GAP = 10
#: A line whose end refers to the sign on the next line: the sign is a wrapped reference.
_REFERENCE = re.compile(
    r"(?:ধারা|দফা|উপ-?\s*ধারা|উপ-?\s*দফা|বিধি|উপ-?\s*বিধি|অনুচ্ছেদ|কলাম|ক্রমিক|আইটেম|শর্ত|sections?|sub-?sections?|clauses?|"
    r"sub-?clauses?|paragraphs?|rules?|sub-?rules?|columns?|items?|নং|No\.?|ও|এবং|and|or|to|হইতে)\s*$",
    re.I,
)
_REFERRED = re.compile(
    r"\s*(?:এর|এ|তে|ও|এবং|হইতে|of|and|or|to)\b|\s*(?:এর|এ|তে|ও|এবং|হইতে)(?:\s|$)"
)


@dataclass(slots=True)
class _Level:
    """One open list: the style of its signs, the last place, and the list being filled."""

    style: str
    place: tuple[int, int]
    items: list[Any] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Mark:
    """A candidate sign: where it stands and whether it begins a line or the clause's body."""

    sign: str
    start: int
    end: int
    leading: bool


def marks(text: str, start: int = 0) -> list[Mark]:
    """Candidate signs of a clause's text from `start` on, outside quotations, in order.

    A sign counts at the start of a line or of the body, directly after another sign, and inside a
    line after a semicolon, a sentence mark, a colon or a dash. Signs in running text, which refer
    to other provisions, do not count.
    """
    quotation = Quotation(text)
    out: list[Mark] = []
    for match in _SIGN.finditer(text, start):
        if quotation.covers(match.start()):
            continue
        line = text.rfind("\n", 0, match.start()) + 1
        lead = text[max(line, start, match.start() - _LEAD) : match.start()]
        whole = match.start() - max(line, start) <= _LEAD
        adjoining = bool(out) and not text[out[-1].end : match.start()].strip()
        leading = (whole and bool(_LINE_LEAD.fullmatch(lead))) or (adjoining and out[-1].leading)
        if leading and not adjoining and line > start:
            leading = not _is_reference(text, line, match.end())
            if not leading:
                continue
        inline = bool(_INLINE_LEAD.search(lead) or _AFTER_SENTENCE.search(lead) or adjoining)
        if leading or inline:
            out.append(Mark(match["sign"] or match["half"], match.start(), match.end(), leading))
    return out


def _is_reference(text: str, line: int, end: int) -> bool:
    """Whether a sign at a line's start only continues a reference of the line before."""
    before = text[: line - 1].rstrip()
    return bool(_REFERENCE.search(before[-40:]) and _REFERRED.match(text, end)) or bool(
        re.search(r"(?:ধারা|দফা|বিধি|section|clause|rule)\s*$", before[-20:], re.I)
    )


def hierarchy(text: str, start: int = 0) -> list[Any]:
    """Nested signs of the sub-clauses in a clause's text after its numeral and title."""
    levels: list[_Level] = []
    root: list[Any] = []
    found = marks(text, start)
    for index, mark in enumerate(found):
        following = found[index + 1].sign if index + 1 < len(found) else ""
        _place(mark, following, levels, root)
    return root


def _place(mark: Mark, following: str, levels: list[_Level], root: list[Any]) -> None:
    """Put a sign where it belongs, by the first of these that holds.

    It is the next of an open list (the innermost first); it begins a list below the last sign; at a
    line's start it goes on with an open list after a gap (an omitted item), begins an open list's
    count anew, or begins a list that does not start at its first sign. Else it is no sub-clause.
    """
    options = readings(mark.sign)
    if mark.sign in {"i", "I"} and following == mark.sign * 2:
        options = options[:1]
    if _append(mark, options, levels, most=1):
        return
    first = next((sign for sign in options if sign.place == (1, 0)), None)
    if first is not None and all(level.style != first.style for level in levels):
        _descend(mark, first, levels, root)
    elif mark.leading and options and not _append(mark, options, levels, most=_GAP):
        sign = first or options[-1]
        again = next((i for i, level in enumerate(levels) if level.style == sign.style), None)
        if again is None or first is None:
            _descend(mark, sign, levels, root)
        else:
            del levels[again + 1 :]
            levels[again].place = sign.place
            levels[again].items.append(mark.sign)


def _append(mark: Mark, options: list[Sign], levels: list[_Level], most: int) -> bool:
    """Append a sign to the innermost list that it goes on by at most so many places."""
    for depth in range(len(levels) - 1, -1, -1):
        level = levels[depth]
        for sign in options:
            step = sign.place[0] - level.place[0]
            if sign.style == level.style and sign.place > level.place and step <= most:
                del levels[depth + 1 :]
                level.place = sign.place
                level.items.append(mark.sign)
                return True
    return False


def _descend(mark: Mark, sign: Sign, levels: list[_Level], root: list[Any]) -> None:
    """Begin a list below the last sign of the innermost list."""
    items: list[Any] = root
    if levels:
        items = []
        levels[-1].items.append(items)
    items.append(mark.sign)
    levels.append(_Level(sign.style, sign.place, items))
