"""Numerals and letters that number the parts of an instrument, and their order."""

from __future__ import annotations

import re
from dataclasses import dataclass

BENGALI_DIGITS = "০১২৩৪৫৬৭৮৯"
BENGALI_CONSONANTS = "কখগঘঙচছজঝঞটঠডঢণতথদধনপফবভমযরলশষসহ"
BENGALI_VOWELS = "অআইঈউঊঋএঐওঔ"
LATIN = "abcdefghijklmnopqrstuvwxyz"
_NUMBERED = re.compile(
    rf"(?P<digits>[০-৯]{{1,3}}|[0-9]{{1,3}})(?P<tail>[{BENGALI_CONSONANTS}A-Za-z]*)"
)
_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}


@dataclass(frozen=True, slots=True)
class Sign:
    """One reading of a numbering sign: its style and place in the series.

    `place` sorts within a style: (number, suffix). `২ক` is (2, 1) and stands between `২` and `৩`;
    `aa` is (1, 1) between `a` and `b`, or (27, 0) after `z`.
    """

    style: str
    place: tuple[int, int]


def number(text: str) -> int:
    """The value of a run of ASCII or Bengali digits."""
    return int(text)


def roman(text: str) -> int | None:
    """The value of a roman numeral in lower case up to 100, or None where it is not one."""
    if not text or any(sign not in _ROMAN for sign in text):
        return None
    values = [_ROMAN[sign] for sign in text]
    total = sum(
        -value if index + 1 < len(values) and value < values[index + 1] else value
        for index, value in enumerate(values)
    )
    return total if to_roman(total) == text else None


def to_roman(value: int) -> str:
    """A number from 1 to 399 as a roman numeral in lower case."""
    out = ""
    for amount, sign in (
        (100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"),
        (1, "i"),
    ):  # fmt: skip
        out += sign * (value // amount)
        value %= amount
    return out


def _letters(text: str, alphabet: str, style: str) -> list[Sign]:
    """Readings of a letter, or of one letter repeated, in an alphabet."""
    if not text or len(set(text)) != 1 or text[0] not in alphabet:
        return []
    place, repeats = alphabet.index(text[0]) + 1, len(text) - 1
    inserted = [Sign(style, (place, repeats))]
    return inserted + ([Sign(style, (place + repeats * len(alphabet), 0))] if repeats else [])


def readings(text: str) -> list[Sign]:
    """Every reading of a numbering sign without its brackets, the likelier first.

    `i` is a roman numeral or a letter, `aa` an insertion after `a` or the letter after `z`; `৩ক` a
    number with an inserted letter. No reading: an empty list.
    """
    numbered = _NUMBERED.fullmatch(text)
    if numbered:
        style = "bengali" if text[0] in BENGALI_DIGITS else "arabic"
        return [Sign(style, (number(numbered["digits"]), suffix_place(numbered["tail"])))]
    case = "upper" if text.isupper() else "lower"
    lower = text.lower()
    if text not in {lower, text.upper()}:
        return []
    out: list[Sign] = []
    value = roman(lower)
    if value is not None:
        out.append(Sign(f"roman_{case}", (value, 0)))
    out += _letters(lower, LATIN, f"latin_{case}")
    out += _letters(text, BENGALI_CONSONANTS, "consonant")
    out += _letters(text, BENGALI_VOWELS, "vowel")
    return out


def suffix_place(letters: str) -> int:
    """Place of an inserted letter after a number: none 0, ক or A 1, then by letter."""
    place = 0
    for letter in letters:
        lower = letter.lower()
        alphabet = LATIN if lower in LATIN else BENGALI_CONSONANTS
        place = place * (len(alphabet) + 1) + alphabet.index(lower) + 1
    return place
