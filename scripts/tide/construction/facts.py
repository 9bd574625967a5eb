"""What a legal text states and a checker can compare: dates, instrument numbers, rates, amounts.

Values are compared, never spellings: dates of both calendars as Gregorian values, digits of both
scripts, `৫ (পাঁচ) শতাংশ` as 5 percent, `USD 1,00,000` and `1 lakh US dollars` as one amount.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from functools import lru_cache

from scripts.dates.bangla import BENGALI_MONTHS, LATIN_MONTHS, from_gregorian
from scripts.dates.calendars import CalendarRangeError
from scripts.dates.legal_dates import mentions, refusals
from scripts.dates.legal_words import BENGALI_DIGITS, BENGALI_GREGORIAN_MONTHS
from scripts.dates.signs import ASCII_DIGITS, ascii_digits

#: Reasons for which something that looks like a date is none: in an answer, a fault.
NO_DATES = frozenset(
    {"no_such_day", "year_out_of_range", "two_digit_year", "calendars_mixed", "calendar_unclear"}
    | {"mixed_digits", "other_calendar", "calendars_disagree"}
)

_TO_ASCII = str.maketrans(BENGALI_DIGITS, ASCII_DIGITS)
_BENGALI = "\u0980-\u09e5\u09f0-\u09ff"
_LETTER = rf"[A-Za-z{_BENGALI}.]"
_YEAR = r"(?:1[3-9]|20|21)\d\d"
# 101-AIN/2011, 175/2024, ১০১-আইন/২০১১, G.O. 2/2016; not the middle of 09/06/2011.
_NUMBERED = re.compile(
    rf"(?<![\d/.])(?<!\d-)(\d{{1,4}}) ?(?:[-–—] ?{_LETTER}{{1,16}} ?)?/ ?({_YEAR})(?!\d)"
)
_NUMBER_OF = re.compile(rf"\bNo\.? ?(\d{{1,4}}) of ({_YEAR})(?!\d)", re.IGNORECASE)
_YEAR_FIRST = re.compile(rf"(?<!\d)({_YEAR}) ?(?:সনের|সালের) ?(\d{{1,4}}) ?(?:নং|নম্বর)")
_STEM = re.compile(rf"(?<!\d)(\d{{1,4}})-({_YEAR})(?!\d)")

_NUMBER = r"(?<![\d])(?<!\d[.,])(?P<number>\d{1,3}(?:,\d{2})*,\d{3}(?!\d)(?:\.\d+)?|\d+(?:\.\d+)*)"
_SPELLED = r"(?:\s{0,2}\([^()\d]{1,60}\))?"
_SCALES: dict[str, int] = {
    **dict.fromkeys(("hundred", "শত"), 100),
    **dict.fromkeys(("thousand", "হাজার"), 1000),
    **dict.fromkeys(("lakh", "lakhs", "lac", "লক্ষ", "লাখ"), 100_000),
    **dict.fromkeys(("million",), 1_000_000),
    **dict.fromkeys(("crore", "crores", "কোটি"), 10_000_000),
    **dict.fromkeys(("billion",), 1_000_000_000),
}
_SCALE = (
    rf"(?:\s{{0,2}}(?P<scale>{'|'.join(sorted(_SCALES, key=len, reverse=True))})"
    rf"(?![A-Za-z{_BENGALI}]))?"
)
_PERCENT = r"\s{0,2}(?P<percent>%|percent\b|per\s?cent(?:um)?\b|শতাংশ|ভাগ)"
_MONEY = (
    r"(?:US\s?\$|USD|US\sdollars?|dollars?|BDT|Tk\b\.?|taka|টাকা|মার্কিন\sডলার|ডলার|\$|৳|EUR|euros?|€)"
)
_QUANTITY = re.compile(
    rf"(?P<before>{_MONEY}\s{{0,2}}|শতকরা\s{{0,2}})?{_NUMBER}{_SPELLED}{_SCALE}{_SPELLED}"
    rf"(?:{_PERCENT}|(?(before)(?!)|(?P<after>\s{{0,2}}{_MONEY})))?",
    re.IGNORECASE,
)
# A clause's own number at the start of a line, in brackets or before a mark.
_ENUMERATOR = re.compile(r"^[ \t]*(?:\(\d{1,3}\)|\d{1,3}[.।)](?!\d))", re.MULTILINE)

_ENGLISH = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_BENGALI_WORDS = {
    **dict(
        enumerate(
            [
                "এক",
                "দুই",
                "তিন",
                "চার",
                "পাঁচ",
                "ছয়",
                "সাত",
                "আট",
                "নয়",
                "দশ",
                "এগারো",
                "বারো",
                "তেরো",
                "চৌদ্দ",
                "পনেরো",
                "ষোলো",
                "সতেরো",
                "আঠারো",
                "উনিশ",
                "বিশ",
            ],
            start=1,
        )
    ),
    **{25: "পঁচিশ", 30: "ত্রিশ", 40: "চল্লিশ", 50: "পঞ্চাশ", 60: "ষাট", 70: "সত্তর", 75: "পঁচাত্তর"},
    **{80: "আশি", 90: "নব্বই"},
}
#: Number words of 0 to 99 in English and the usual ones in Bangla, and their values.
WORDS: dict[str, int] = {
    **{word: value for value, word in enumerate(_ENGLISH)},
    **{word: 10 * n for n, word in enumerate(_TENS, start=2)},
    **{
        f"{ten}{joint}{_ENGLISH[unit]}": 10 * n + unit
        for n, ten in enumerate(_TENS, start=2)
        for unit in range(1, 10)
        for joint in ("-", " ")
    },
    **{unicodedata.normalize("NFC", word): value for value, word in _BENGALI_WORDS.items()},
}
WORD_PATTERN = (
    rf"(?<![A-Za-z{_BENGALI}])(?:{'|'.join(sorted(WORDS, key=len, reverse=True))})"
    rf"(?![A-Za-z{_BENGALI}])"
)
_WORD = re.compile(WORD_PATTERN, re.IGNORECASE)

_MONTHS = "january|february|april|june|july|september|october|november|december"
_SHORT = "jan|feb|apr|jun|jul|aug|sept?|oct|nov|dec"
_LATIN = "|".join(name.lower() for names in LATIN_MONTHS for name in names)
_MONTH = re.compile(rf"(?<![A-Za-z])(?:{_MONTHS}|{_LATIN}|{_SHORT})(?![A-Za-z])", re.IGNORECASE)
# Names that are also ordinary words count with a capital only.
_CAPITAL_MONTH = re.compile(r"(?<![A-Za-z])(?:March|MARCH|Mar|August|AUGUST)(?![A-Za-z])")
_FISCAL = re.compile(r"(?<![A-Za-z])F\.?Y\.? ?'?\d{2,4}", re.IGNORECASE)
# "May" within a sentence; at its start and in small letters it is the verb.
_MAY = re.compile(r"(?<=[a-z,] )May(?![A-Za-z])")
_BENGALI_MONTH = re.compile(
    rf"(?<![{_BENGALI}])(?:"
    + "|".join(
        sorted(
            {
                unicodedata.normalize("NFC", name)
                for names in (*BENGALI_MONTHS, *BENGALI_GREGORIAN_MONTHS)
                for name in names
            },
            key=len,
            reverse=True,
        )
    )
    + rf")(?:ের|র|ে|তে)?(?![{_BENGALI}])"
)
_BARE_YEAR = re.compile(r"(?<!\d)(?:1[3-9]\d\d|20\d\d|21\d\d)(?!\d)(?![.,]\d)")

Instrument = tuple[int, int]
_LEAST_NUMBER = 10


@dataclass(frozen=True, slots=True)
class Facts:
    """The values of a text.

    `dates` are ISO values of a day, month or year; `wrong_dates` what looks like a date and is
    none; `instruments` (number, year); `codes` numbers with two points or more (tariff headings);
    `numbers` all others that are neither rate nor amount; `spelled` the values of number words;
    `enumerators` the numbers that clauses and sub-clauses carry.
    """

    dates: frozenset[str] = frozenset()
    instruments: frozenset[Instrument] = frozenset()
    rates: frozenset[Decimal] = frozenset()
    amounts: frozenset[Decimal] = frozenset()
    numbers: frozenset[Decimal] = frozenset()
    codes: frozenset[str] = frozenset()
    spelled: frozenset[Decimal] = frozenset()
    enumerators: frozenset[Decimal] = frozenset()
    wrong_dates: tuple[str, ...] = field(default=())

    def union(self, *others: Facts) -> Facts:
        """The values of several texts together."""
        every = (self, *others)
        return Facts(
            frozenset().union(*(each.dates for each in every)),
            frozenset().union(*(each.instruments for each in every)),
            frozenset().union(*(each.rates for each in every)),
            frozenset().union(*(each.amounts for each in every)),
            frozenset().union(*(each.numbers for each in every)),
            frozenset().union(*(each.codes for each in every)),
            frozenset().union(*(each.spelled for each in every)),
            frozenset().union(*(each.enumerators for each in every)),
            tuple(text for each in every for text in each.wrong_dates),
        )

    @property
    def values(self) -> frozenset[tuple[str, object]]:
        """Rates, amounts, instruments, codes, days and larger numbers, each with its kind."""
        kinds: dict[str, Iterable[object]] = {
            "rate": self.rates,
            "amount": self.amounts,
            "instrument": self.instruments,
            "code": self.codes,
            "day": (value for value in self.dates if len(value) == 10),
            "number": (n for n in self.numbers if n >= _LEAST_NUMBER and not _is_year(n)),
        }
        return frozenset((kind, value) for kind, found in kinds.items() for value in found)

    @property
    def asked(self) -> frozenset[tuple[str, object]]:
        """The values that an answer with these facts gives, rather than repeats from its question.

        Rates, amounts and numbers; without them tariff headings; without these instruments, days.
        """
        for kinds in (("rate", "amount", "number"), ("code",), ("instrument", "day")):
            if found := frozenset(each for each in self.values if each[0] in kinds):
                return found
        return frozenset()


def plain_digits(text: str) -> str:
    """The text with the digits of every script as ASCII digits, place for place."""
    return ascii_digits(text.translate(_TO_ASCII))


def _nfc(text: str) -> str:
    """Unicode form C: য় and ঢ় have two encodings."""
    return unicodedata.normalize("NFC", text)


def _is_year(number: Decimal) -> bool:
    return number == number.to_integral_value() and 1300 <= number < 2200


def instruments_of(text: str) -> Iterator[tuple[int, int, Instrument]]:
    """(start, end, (number, year)) of every instrument number in a text of ASCII digits."""
    for pattern, number, year in ((_NUMBERED, 1, 2), (_NUMBER_OF, 1, 2), (_YEAR_FIRST, 2, 1)):
        for match in pattern.finditer(text):
            yield match.start(), match.end(), (int(match[number]), int(match[year]))


def stem_instruments(document: str) -> frozenset[Instrument]:
    """Instrument numbers in a document's name: `sro-101-2011` is number 101 of 2011."""
    return frozenset((int(m[1]), int(m[2])) for m in _STEM.finditer(document))


@lru_cache(maxsize=8192)
def facts_of(text: str) -> Facts:
    """All values of a text; the time is linear in its length."""
    plain = plain_digits(text)
    found = list(instruments_of(plain))
    dates = mentions(text)
    refused = refusals(text)
    taken = [(start, end) for start, end, _ in found]
    outside = [m for m in dates if not any(m.start < end and start < m.end for start, end in taken)]
    taken += [(m.start, m.end) for m in outside]
    rest = _masked(plain, taken)
    rates, amounts, numbers, codes = set(), set(), set(), set()
    enumerators = [m[0].strip(" \t().।") for m in _ENUMERATOR.finditer(rest)]
    for match in _QUANTITY.finditer(_ENUMERATOR.sub(_blank, rest)):
        if match["number"].count(".") > 1:
            codes.add(match["number"])
            continue
        value = Decimal(match["number"].replace(",", "")) * _SCALES.get(
            (match["scale"] or "").lower(), 1
        )
        before = (match["before"] or "").strip()
        if match["percent"] or before == "শতকরা":
            rates.add(value)
        elif match["after"] or before:
            amounts.add(value)
        else:
            numbers.add(value)
    return Facts(
        frozenset(m.value for m in outside),
        frozenset(instrument for _, _, instrument in found),
        frozenset(rates),
        frozenset(amounts),
        frozenset(numbers),
        frozenset(codes),
        frozenset(Decimal(WORDS[m[0].lower()]) for m in _WORD.finditer(_nfc(text))),
        frozenset(map(Decimal, enumerators)),
        tuple(r.text for r in refused if r.reason in NO_DATES),
    )


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])


def _masked(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """The text with bars for every span, so that nothing joins across it."""
    letters = list(text)
    for start, end in spans:
        letters[start:end] = "|" * (end - start)
    return "".join(letters)


def with_bangla(dates: Iterable[str]) -> frozenset[str]:
    """The dates, and for every day also its Bangla value: a Bangla month or year is its prefix."""
    out = set(dates)
    for value in list(out):
        if len(value) == 10:
            try:
                named = from_gregorian(date.fromisoformat(value))
            except CalendarRangeError:
                continue
            out.add(f"{named.year:04d}-{named.month:02d}-{named.day:02d}")
    return frozenset(out)


def date_words(text: str) -> list[str]:
    """Everything in a text that tells a day, month, year or fiscal year, as it is written."""
    plain = plain_digits(text)
    found = [m.text for m in mentions(text)]
    found += [r.text for r in refusals(text) if r.reason not in ("maybe_code", "no_date")]
    for pattern in (_MONTH, _CAPITAL_MONTH, _MAY, _BENGALI_MONTH, _FISCAL, _BARE_YEAR):
        found += [m[0] for m in pattern.finditer(_nfc(plain))]
    return list(dict.fromkeys(found))


def years_in(text: str) -> frozenset[int]:
    """All Gregorian years that a text shows, in dates, instrument numbers or alone."""
    plain = plain_digits(text)
    years = {int(m[0]) for m in _BARE_YEAR.finditer(plain)}
    years |= {int(m.value[:4]) for m in mentions(text)}
    return frozenset(years | {instrument[1] for _, _, instrument in instruments_of(plain)})
