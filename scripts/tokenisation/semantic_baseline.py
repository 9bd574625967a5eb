"""The semantic baseline: the units into which a reader cuts a date.

A date has number units (a run of digits of one script), word units (a run of letters, with the
apostrophes and hyphens inside it) and delimiter units (every other visible character, and each of
年, 月 and 日). What shows nothing is no unit: whitespace, marks of direction. Era marks (AH, هـ)
are word units by the same rule.

A month name of two words is two units: the baseline knows no vocabulary.
Source: MultiTempBench section 4.1; docs/tokenisation.md says what we settled.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

#: Characters that separate year, month and day although Unicode calls them letters.
DATE_MARKERS = frozenset("年月日")
#: Joins the letters on both sides of it: Rabi'ul, Sha’aban, al-Awwal.
JOINERS = frozenset("'’ʼ-‐")

NUMBER = "number"
WORD = "word"
DELIMITER = "delimiter"


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit of the baseline: its text, its kind (number, word, delimiter), where it starts."""

    text: str
    kind: str
    start: int


def is_invisible(sign: str) -> bool:
    """Whether a character shows nothing: whitespace, or of category Cf (marks of direction)."""
    return sign.isspace() or unicodedata.category(sign) == "Cf"


def trimmed(text: str) -> str:
    """The text without invisible characters at its ends."""
    start, end = 0, len(text)
    while start < end and is_invisible(text[start]):
        start += 1
    while end > start and is_invisible(text[end - 1]):
        end -= 1
    return text[start:end]


def character_kind(sign: str) -> str:
    """number, word, delimiter, or empty for an invisible character."""
    if is_invisible(sign):
        return ""
    if sign in DATE_MARKERS:
        return DELIMITER
    category = unicodedata.category(sign)
    if category == "Nd":
        return NUMBER
    return WORD if category[0] in "LM" else DELIMITER


def continues(text: str, place: int, kind: str) -> bool:
    """Whether the character at `place` goes on with the unit of `kind` that ends before it."""
    sign = text[place]
    if kind == DELIMITER:
        return False
    if character_kind(sign) == kind:
        return kind == WORD or digit_script(sign) == digit_script(text[place - 1])
    inside = sign in JOINERS and place + 1 < len(text)
    return kind == WORD and inside and character_kind(text[place + 1]) == WORD


def digit_script(digit: str) -> int:
    """Code point of the zero of a digit's script: ٣ and 3 do not belong to one number."""
    return ord(digit) - unicodedata.decimal(digit)


def semantic_units(text: str) -> list[Unit]:
    """The units of a text in order. Together they hold every visible character exactly once."""
    units: list[Unit] = []
    place = 0
    while place < len(text):
        kind = character_kind(text[place])
        start = place
        place += 1
        while kind and place < len(text) and continues(text, place, kind):
            place += 1
        if kind:
            units.append(Unit(text[start:place], kind, start))
    return units
