"""Which stretches of a legal text are quoted: literal law text that an instrument inserts.

What stands between quotation marks belongs to the clause around it, whatever numerals it holds
(TIDE A.8.1, rule on literal strings).
"""

from __future__ import annotations

import re
from bisect import bisect_right

# Curly, doubled single and straight double marks. A single mark is an apostrophe too often.
_MARK = re.compile(r"[“„”«»\"]|‘‘|’’|''")
_OPENING = frozenset({"“", "„", "‘‘", "«"})
_CLOSING = frozenset({"”", "’’", "»"})
Span = tuple[int, int]


def _opens(text: str, start: int, depth: int) -> bool:
    """Whether a straight mark opens: nothing is open, and no digit stands before it (inches)."""
    before = text[start - 1] if start else ""
    return depth == 0 and not before.isdigit()


def quoted_spans(text: str) -> list[Span]:
    """Outermost quoted stretches of a text as (start, end), marks included, in order.

    Marks are paired like brackets, so nested quotations belong to the outer one. An opening mark
    that nothing closes (a slip, or a passage that opens every paragraph anew and closes once)
    quotes to the end of its own line only; a closing mark that nothing opened is ignored.
    """
    spans: list[Span] = []
    open_at: list[int] = []
    for match in _MARK.finditer(text):
        mark, start = match.group(), match.start()
        straight = mark in {'"', "''"}
        if mark in _OPENING or (straight and _opens(text, start, len(open_at))):
            open_at.append(start)
        elif open_at and (mark in _CLOSING or straight):
            spans.append((open_at.pop(), match.end()))
    for start in open_at:
        end = text.find("\n", start)
        spans.append((start, len(text) if end < 0 else end))
    return _outermost(spans)


def _outermost(spans: list[Span]) -> list[Span]:
    """The spans that lie in no other, sorted; spans that overlap become one."""
    out: list[Span] = []
    for start, end in sorted(spans):
        if out and start < out[-1][1]:
            out[-1] = (out[-1][0], max(end, out[-1][1]))
        else:
            out.append((start, end))
    return out


class Quotation:
    """Quick answers to whether a position of a text is quoted."""

    def __init__(self, text: str) -> None:
        self.spans = quoted_spans(text)
        self._starts = [start for start, _ in self.spans]

    def covers(self, position: int) -> bool:
        """Whether a position lies inside a quoted stretch (its first mark is still outside)."""
        index = bisect_right(self._starts, position) - 1
        return index >= 0 and self.spans[index][0] < position < self.spans[index][1]
