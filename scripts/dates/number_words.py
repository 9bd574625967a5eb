"""Numbers in free text: digits with their separators, number words, Chinese numerals."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from scripts.dates.languages import chinese_number
from scripts.dates.plain_text import LETTER, alternatives

_ENGLISH = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
_ENGLISH += ["eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen"]
_ENGLISH += ["eighteen", "nineteen"]
_ENGLISH_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
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
_GERMAN += ["elf", "zwolf", "dreizehn", "vierzehn", "funfzehn", "sechzehn", "siebzehn", "achtzehn"]
_GERMAN += ["neunzehn"]
_GERMAN_TENS = ["zwanzig", "dreissig", "vierzig", "funfzig", "sechzig", "siebzig", "achtzig"]
_GERMAN_TENS += ["neunzig"]
_HAUSA = ["sifili", "daya", "biyu", "uku", "hudu", "biyar", "shida", "bakwai", "takwas", "tara"]
_HAUSA += ["goma", *(f"goma sha {unit}" for unit in _HAUSA[1:10])]
_HAUSA_TENS = ["ashirin", "talatin", "arbain", "hamsin", "sittin", "sabain", "tamanin", "casain"]
_ARABIC = ["صفر", "واحد", "اثنان", "ثلاثه", "اربعه", "خمسه", "سته", "سبعه", "ثمانيه", "تسعه"]
_ARABIC += ["عشره", "احد عشر", "اثنا عشر", *(f"{unit} عشر" for unit in _ARABIC[3:10])]
_ARABIC_TENS = ["عشر", "ثلاث", "اربع", "خمس", "ست", "سبع", "ثمان", "تسع"]
_ARABIC_COUNTED = ["ثلاث", "اربع", "خمس", "ست", "سبع", "ثماني", "تسع", "عشر"]
_ARABIC_HOURS = [
    *("الواحده", "الثانيه", "الثالثه", "الرابعه", "الخامسه", "السادسه", "السابعه", "الثامنه"),
    *("التاسعه", "العاشره", "الحاديه عشره", "الثانيه عشره"),
]
_ENGLISH_ORDINALS = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth"]
_ENGLISH_ORDINALS += ["ninth", "tenth", "eleventh", "twelfth", "thirteenth", "fourteenth"]
_ENGLISH_ORDINALS += ["fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth"]


def _to_99(
    below_20: Sequence[str], tens: Sequence[str], join: Callable[[str, str], str]
) -> dict[str, int]:
    """Words and values of 0 to 99; `join` puts a unit and a word for tens together."""
    words = {word: value for value, word in enumerate(below_20)}
    for ten, word in enumerate(tens, start=2):
        words[word] = 10 * ten
        words.update({join(below_20[unit], word): 10 * ten + unit for unit in range(1, 10)})
    return words


#: Folded words of 0 to 99 and their values.
NUMBER_WORDS: dict[str, int] = {
    **_to_99(_ENGLISH, _ENGLISH_TENS, lambda unit, ten: f"{ten} {unit}"),
    **_to_99(_GERMAN, _GERMAN_TENS, lambda unit, ten: f"{unit}und{ten}"),
    **{f"einund{word}": 10 * ten + 1 for ten, word in enumerate(_GERMAN_TENS, start=2)},
    **_to_99(_HAUSA, _HAUSA_TENS, lambda unit, ten: f"{ten} da {unit}"),
    **_to_99(_ARABIC, [f"{ten}ون" for ten in _ARABIC_TENS], lambda unit, ten: f"{unit} و{ten}"),
    **_to_99(_ARABIC, [f"{ten}ين" for ten in _ARABIC_TENS], lambda unit, ten: f"{unit} و{ten}"),
    **{word: value for value, word in enumerate(_ARABIC_COUNTED, start=3)},
    **dict.fromkeys(("ein", "eine", "einen", "einem", "einer", "dayan"), 1),
    "اثنين": 2,
}
#: Words for the hours 1 to 12; in Arabic these are ordinals.
HOUR_WORDS: dict[str, int] = {
    **{word: value for word, value in NUMBER_WORDS.items() if 1 <= value <= 12},
    **{word: value for value, word in enumerate(_ARABIC_HOURS, start=1)},
}
#: English ordinals, which days of a month are called by: first to thirty first.
ORDINAL_WORDS: dict[str, int] = {
    **{word: value for value, word in enumerate(_ENGLISH_ORDINALS, start=1)},
    **{f"twenty {word}": 20 + value for value, word in enumerate(_ENGLISH_ORDINALS[:9], start=1)},
    **{"twentieth": 20, "thirtieth": 30, "thirty first": 31},
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
