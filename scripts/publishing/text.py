"""Foreign text made visible: what a document or a model wrote, as characters that can be seen."""

from __future__ import annotations

import unicodedata

LINE_BREAK = "¶"
# Control, format (direction marks among them), surrogate, private and unassigned characters, and
# the two separators that some readers take for the end of a line.
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def code_point(character: str) -> str:
    """A character as plain ASCII text, for example `<U+202E>`."""
    return f"<U+{ord(character):04X}>"


def visible(text: str) -> str:
    """A text on one line in which nothing is hidden; valid UTF-8 whatever it was made from.

    A line break becomes `¶`; every other character without a shape of its own (control and
    direction characters, lone surrogates, unassigned points) becomes its code point.
    """
    one_line = text.replace("\r\n", "\n").replace("\n", LINE_BREAK)
    return "".join(code_point(c) if unicodedata.category(c) in _HIDDEN else c for c in one_line)


def shorten(text: str, limit: int) -> str:
    """At most `limit` characters of a text, with a remark on how many were left out."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]}… [{len(text) - limit:,} more characters]"
