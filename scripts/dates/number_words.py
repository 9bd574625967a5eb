"""Numbers in free text: digits with their separators, number words, Chinese numerals."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal

from scripts.dates.languages import LANGUAGES
from scripts.dates.plain_text import LETTER, alternatives
from scripts.dates.signs import chinese_number, fold

#: Folded words of 0 to 99 of all languages and their values.
NUMBER_WORDS: dict[str, int] = {
    word: value for each in LANGUAGES.values() for word, value in each.number_words.items()
}
#: Words for the hours 1 to 12; in some languages these are ordinals.
HOUR_WORDS: dict[str, int] = {
    **{word: value for word, value in NUMBER_WORDS.items() if 1 <= value <= 12},
    **{
        fold(word): value
        for each in LANGUAGES.values()
        for value, word in enumerate(each.hour_words, start=1)
    },
}
#: Ordinals that days of a month are called by, where a language has them: first to thirty first.
ORDINAL_WORDS: dict[str, int] = {
    fold(word): value
    for each in LANGUAGES.values()
    for value, word in enumerate(each.ordinal_words, start=1)
}
WORD = rf"(?<!{LETTER})(?:{alternatives(NUMBER_WORDS)})(?!{LETTER})"
HOUR_WORD = rf"(?<!{LETTER})(?:{alternatives(HOUR_WORDS)})(?!{LETTER})"

_DIGITS = re.compile(
    r"(?:(?<![\w)\d])(?P<sign>-)(?=\d))?(?<!\d)(?<!\d[.,])"
    r"(?P<value>\d{1,3}(?P<group>[,.])\d{3}(?:(?P=group)\d{3}){0,4}(?!\d)"
    r"(?:(?!(?P=group))[,.](?P<rest>\d{1,10})(?!\d))?"
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
    known = {**NUMBER_WORDS, **HOUR_WORDS}.get(text)
    return chinese_integer(text) if known is None else known


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
    value, group, rest = match["value"], match["group"], match["rest"]
    readings: set[Decimal] = set()
    if group and rest:
        whole = value.removesuffix(rest)[:-1].replace(group, "")
        readings.add(Decimal(f"{whole}.{rest}"))
    elif group:
        readings.add(Decimal(value.replace(group, "")))
    if not group or (value.count(group) == 1 and not rest):
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
