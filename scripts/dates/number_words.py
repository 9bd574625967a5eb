"""Numbers in free text: digits with their separators, number words, Chinese numerals."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal

from scripts.dates.languages import chinese_number
from scripts.dates.plain_text import LETTER, alternatives

# Zero to twelve, folded. In Arabic also as hours are called, and the forms before a counted noun.
_ENGLISH = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
_GERMAN = [
    "null",
    "eins",
    "zwei",
    "drei",
    "vier",
    "funf",
    "sechs",
    "sieben",
    "acht",
    "neun",
    "zehn",
]
_HAUSA = ["sifili", "daya", "biyu", "uku", "hudu", "biyar", "shida", "bakwai", "takwas", "tara"]
_ARABIC = ["صفر", "واحد", "اثنان", "ثلاثه", "اربعه", "خمسه", "سته", "سبعه", "ثمانيه", "تسعه"]
_ARABIC_COUNTED = ["ثلاث", "اربع", "خمس", "ست", "سبع", "ثماني", "تسع", "عشر"]
_ARABIC_HOURS = [
    *("الواحده", "الثانيه", "الثالثه", "الرابعه", "الخامسه", "السادسه", "السابعه", "الثامنه"),
    *("التاسعه", "العاشره", "الحاديه عشره", "الثانيه عشره"),
]
_TABLES = (
    [*_ENGLISH, "eleven", "twelve"],
    [*_GERMAN, "elf", "zwolf"],
    [*_HAUSA, "goma", "goma sha daya", "goma sha biyu"],
    [*_ARABIC, "عشره", "احد عشر", "اثنا عشر"],
)
#: Folded words and their values.
NUMBER_WORDS: dict[str, int] = {
    **{word: value for table in _TABLES for value, word in enumerate(table)},
    **{word: value for value, word in enumerate(_ARABIC_HOURS, start=1)},
    **{word: value for value, word in enumerate(_ARABIC_COUNTED, start=3)},
    **dict.fromkeys(("ein", "eine", "einen", "einem", "einer", "dayan"), 1),
    "اثنين": 2,
}
WORD = rf"(?<!{LETTER})(?:{alternatives(NUMBER_WORDS)})(?!{LETTER})"

_DIGITS = re.compile(
    r"(?:(?<![\w)\d])(?P<sign>-)(?=\d))?(?<!\d)(?<!\d[.,])"
    r"(?P<value>\d{1,3}(?P<group>[,.])\d{3}(?:(?P=group)\d{3}){0,4}(?!\d)"
    r"|\d{1,15}(?:[.,]\d{1,10})?(?!\d))"
)
_SPELLED = re.compile(rf"{WORD}|[〇零一二两兩三四五六七八九十百千]{{1,9}}")


@dataclass(frozen=True, slots=True)
class NumberMention:
    """A number that is part of no date and no time, with every reading of its separators.

    `spelled` tells number words and Chinese numerals, which may be part of an ordinary word.
    """

    start: int
    end: int
    text: str
    readings: tuple[Decimal, ...]
    spelled: bool = False


def word_or_digits(text: str | None) -> int | None:
    """The value of a number word, a Chinese numeral or ASCII digits; None for anything else."""
    if not text:
        return None
    if text.isascii() and text.isdecimal():
        return int(text)
    return NUMBER_WORDS.get(text, chinese_integer(text))


def chinese_integer(text: str) -> int | None:
    """A Chinese numeral from 0 to 9999 (一百二十, 两千零五, 二零二三); None if it is none."""
    text = text.replace("两", "二").replace("兩", "二").replace("〇", "零")
    total, rest = 0, text
    for unit, worth in (("千", 1000), ("百", 100)):
        head, found, tail = rest.partition(unit)
        if found:
            digit = chinese_number(head.lstrip("零"))
            if digit is None or not 1 <= digit <= 9:
                return None
            total, rest = total + digit * worth, tail
    if total == 0:
        return chinese_number(text)
    rest = rest.lstrip("零")
    units = chinese_number(rest) if rest else 0
    return None if units is None else total + units


def _decimals(match: re.Match[str]) -> tuple[Decimal, ...]:
    """Every reading of the separators: 1.234 is 1234 and 1.234."""
    value, group = match["value"], match["group"]
    readings: set[Decimal] = set()
    if group:
        readings.add(Decimal(value.replace(group, "")))
    if not group or value.count(group) == 1:
        readings.add(Decimal(value.replace(",", ".")))
    return tuple(sorted(-r if match["sign"] else r for r in readings))


def find_numbers(text: str) -> list[NumberMention]:
    """Every number of a normalised text, in order of place; the time is linear in the text."""
    found = [NumberMention(m.start(), m.end(), m[0], _decimals(m)) for m in _DIGITS.finditer(text)]
    for match in _SPELLED.finditer(text):
        value = word_or_digits(match[0])
        if value is not None:
            place = (match.start(), match.end(), match[0])
            found.append(NumberMention(*place, (Decimal(value),), spelled=True))
    return sorted(found, key=lambda n: n.start)
