"""Digits, numerals and marks of the world's scripts, and folding: what no single language owns.

A language says by name which of these it uses (`language_files.py`).
"""

from __future__ import annotations

import unicodedata

CALENDARS = ("gregorian", "hijri", "lunar")
#: Written forms of a date, in the order of growing complexity (MultiTempBench, table 1).
FORMATS = ("iso", "slash", "long", "calendar")

LEFT_TO_RIGHT_MARK = "\u200e"
#: Characters that steer the direction or joining of a text and mean nothing by themselves.
INVISIBLE_MARKS = (
    "\u200b\u200c\u200d\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e"
    "\u2060\u2066\u2067\u2068\u2069\ufeff"
)
TATWEEL = "\u0640"

ASCII_DIGITS = "0123456789"
ARABIC_INDIC_DIGITS = "٠١٢٣٤٥٦٧٨٩"
EXTENDED_ARABIC_INDIC_DIGITS = "۰۱۲۳۴۵۶۷۸۹"
FULLWIDTH_DIGITS = "０１２３４５６７８９"
CHINESE_DIGITS = "零一二三四五六七八九"
#: Other characters for the Chinese zero: U+3007, and the white circle often typed instead.
CHINESE_ZEROS = "〇○"
#: Sets of positional digits that are no letters of running text.
POSITIONAL_DIGITS = (
    ASCII_DIGITS,
    ARABIC_INDIC_DIGITS,
    EXTENDED_ARABIC_INDIC_DIGITS,
    FULLWIDTH_DIGITS,
)
#: Digits in which a language may write its dates, by the name that its file gives.
DIGITS = {
    "ascii": ASCII_DIGITS,
    "arabic_indic": ARABIC_INDIC_DIGITS,
    "extended_arabic_indic": EXTENDED_ARABIC_INDIC_DIGITS,
    "bengali": "০১২৩৪৫৬৭৮৯",
    "devanagari": "०१२३४५६७८९",
    "chinese": CHINESE_DIGITS,
}

_TO_ARABIC_INDIC = str.maketrans(ASCII_DIGITS, ARABIC_INDIC_DIGITS)
_TO_CHINESE = str.maketrans(ASCII_DIGITS, CHINESE_DIGITS)
_TO_ASCII = str.maketrans(
    "".join(POSITIONAL_DIGITS[1:]), ASCII_DIGITS * (len(POSITIONAL_DIGITS) - 1)
)
_CHINESE_TO_ASCII = str.maketrans(CHINESE_DIGITS + CHINESE_ZEROS, ASCII_DIGITS + "00")

_APOSTROPHES = "'’‘ʼʻ`´ʿʾ‛′ˈ"
_FOLDED = str.maketrans(
    dict.fromkeys(_APOSTROPHES + INVISIBLE_MARKS + TATWEEL + ".")
    | dict.fromkeys("-‐‑–_\u00a0", " ")
    | {"ى": "ي", "ة": "ه", "ٱ": "ا", "ی": "ي", "ک": "ك", "ƙ": "k", "ɗ": "d", "ɓ": "b"}
)


def fold(text: str) -> str:
    """A name without what spellings differ in, for comparing names and never for writing them.

    Case, accents, Arabic vowel signs, hamza, tatweel and final forms, apostrophes, full stops and
    invisible marks go; hyphens and runs of white space become one space.
    """
    # Folding case can bring back composed letters and decomposing can bring back capitals.
    text = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    plain = "".join(c for c in text if not unicodedata.combining(c))
    return " ".join(plain.translate(_FOLDED).split())


def ascii_digits(text: str) -> str:
    """The text with Arabic-Indic, extended Arabic-Indic and fullwidth digits as ASCII digits."""
    return text.translate(_TO_ASCII)


def arabic_indic(number: int) -> str:
    """A number in Arabic-Indic digits (U+0660 to U+0669), not padded."""
    return str(number).translate(_TO_ARABIC_INDIC)


def chinese_digits(number: int) -> str:
    """A number digit by digit, as years are written: 2023 is 二零二三."""
    return str(number).translate(_TO_CHINESE)


def chinese_number(text: str) -> int | None:
    """The value of a Chinese numeral below 100 or written digit by digit; None if it is none.

    Reads 五, 十五, 二十, 二十五, 廿五, 卅, 三十一, 初五 and 二零二三 (also 二〇二三).
    """
    text = text.removeprefix("初")
    for short, long in (("廿", "二十"), ("卄", "二十"), ("卅", "三十")):
        text = text.replace(short, long)
    digits = text.translate(_CHINESE_TO_ASCII)
    if digits.isascii() and digits.isdecimal() and not text.isascii():
        return int(digits)
    tens, separator, units = digits.partition("十")
    if not separator or text.isascii() or any(len(part) > 1 for part in (tens, units)):
        return None
    if not all(part == "" or (part.isascii() and part.isdecimal()) for part in (tens, units)):
        return None
    if "0" in (tens, units):
        return None
    return 10 * int(tens or "1") + int(units or "0")


def lunar_day(number: int) -> str:
    """The name of a day of the lunar month, 1 to 30: 初一 … 初十, 十一 …, 二十, 廿一 …, 三十."""
    tens, units = divmod(number, 10)
    if units == 0:
        return ("初十", "二十", "三十")[tens - 1]
    return ("初", "十", "廿")[tens] + CHINESE_DIGITS[units]


def chinese_numeral(number: int) -> str:
    """A number from 1 to 99 in words: 一, 十, 十一, 二十, 二十一."""
    digits = CHINESE_DIGITS
    tens = "" if number < 20 else digits[number // 10]
    text = digits[number] if number < 10 else f"{tens}十{digits[number % 10]}"
    return text.removesuffix("零")
