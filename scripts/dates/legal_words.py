"""Legal text in English and Bangla as a row of symbols, one a word, number or mark.

A date is then a short pattern over symbols (`legal_grammar.py`), whatever the script of its digits
and the spelling of its month. Every symbol knows its place in the text as it was given.

Folding drops invisible characters and the Bengali dot below (ঢ় in either encoding, and ঢ without
it, are one spelling), lowers Latin letters and writes all positional digits in ASCII.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from scripts.dates import english
from scripts.dates.bangla import BENGALI_MONTHS, LATIN_MONTHS
from scripts.dates.english import ORDINAL_WORDS
from scripts.dates.signs import INVISIBLE_MARKS, POSITIONAL_DIGITS

BENGALI_DIGITS = "০১২৩৪৫৬৭৮৯"
_DEVANAGARI_DIGITS = "०१२३४५६७८९"

#: Spellings of the Gregorian months in Bengali script, the usual one first.
BENGALI_GREGORIAN_MONTHS: tuple[tuple[str, ...], ...] = (
    ("জানুয়ারি", "জানুয়ারী", "জানুআরি"),
    ("ফেব্রুয়ারি", "ফেব্রুয়ারী", "ফেব্রুয়ারী", "ফেব্রুআরি"),
    ("মার্চ", "মার্চ্চ"),
    ("এপ্রিল",),
    ("মে",),
    ("জুন",),
    ("জুলাই",),
    ("আগস্ট", "আগষ্ট", "অগাস্ট", "অগস্ট"),
    ("সেপ্টেম্বর", "সেপ্টেমবর", "সেপ্টম্বর"),
    ("অক্টোবর", "অক্টোম্বর", "অক্টবর"),
    ("নভেম্বর", "নবেম্বর", "নভেম্ব"),
    ("ডিসেম্বর", "ডিসেম্বার"),
)

_BENGALI_DAYS = (
    ("পহেলা", "পয়লা", "পয়লা"),
    ("দোসরা",),
    ("তেসরা",),
    ("চৌঠা",),
    ("পাঁচই",),
    ("ছয়ই", "ছয়ই"),
    ("সাতই",),
    ("আটই",),
    ("নয়ই", "নয়ই"),
    ("দশই",),
    ("এগারই", "এগারোই"),
    ("বারই", "বারোই"),
    ("তেরই", "তেরোই"),
    ("চৌদ্দই",),
    ("পনেরই", "পনেরোই"),
    ("ষোলই", "ষোলোই"),
    ("সতেরই", "সতেরোই"),
    ("আঠারই", "আঠারোই"),
    ("উনিশে",),
    ("বিশে",),
    ("একুশে",),
    ("বাইশে",),
    ("তেইশে",),
    ("চব্বিশে",),
    ("পঁচিশে",),
    ("ছাব্বিশে",),
    ("সাতাশে",),
    ("আটাশে", "আঠাশে"),
    ("উনত্রিশে", "ঊনত্রিশে"),
    ("ত্রিশে",),
    ("একত্রিশে",),
)
_TENS = {"twenty": 20, "thirty": 30}

#: Symbols of words. A word that stands in no row is `x`.
_WORDS: dict[str, str] = {
    "s": "st nd rd th ˢᵗ ⁿᵈ ʳᵈ ᵗʰ শে লা রা ঠা ই তম",
    "L": "সালে সনে",
    "G": "এর",
    "E": (
        "খ্রিস্টাব্দ খ্রিষ্টাব্দ খ্রীস্টাব্দ খ্রীষ্টাব্দ খৃস্টাব্দ খৃষ্টাব্দ খ্রিস্টাব্ধ খ্রিষ্টাব্ধ খ্রি খ্রিঃ খ্রী খ্রীঃ খৃঃ "
        "ইং ইংরেজি ইংরেজী ইংরাজি ইংরাজী ঈসায়ী ad ce"
    ),
    "B": "বঙ্গাব্দ বঙ্গাব্ধ bangabda bongabdo bs",
    "W": "বাং বাংলা bangla bengali",
    "H": "হিজরি হিজরী হিঃ hijri hijra ah",
    "S": "সাল সন",
    "m": "মাস মাসে month",
    "t": "তারিখ তারিখে তারিখঃ তাং তাংঃ dated date dt dtd রোজ",
    "o": "of",
    "h": "the",
    "D": "day",
    "Y": "year years",
    "q": "early late mid end beginning start middle",
    "i": "in since by until till during before after circa",
    "j": "as",
    "O": "on",
    "k": "between from",
    "r": "to till until through thru হইতে হতে থেকে",
    "c": "and or ও এবং বা",
    "Z": "fy",
    "F": "fiscal financial অর্থবছর অর্থবৎসর অর্থ-বছর করবর্ষ করবৎসর করবছর আয়বর্ষ আয়বছর assessment",
    "f": "অর্থ কর আয়",
    "v": "বছর বৎসর বর্ষ",
    "N": "no nos number নং নম্বর নাম্বার সংখ্যা",
    "A": (
        "act acts rules ordinance order orders regulation regulations law code sro ain ord "
        "notification circular আইন অধ্যাদেশ আদেশ বিধিমালা প্রবিধানমালা প্রজ্ঞাপন এসআরও"
    ),
    "C": (
        "section sections rule clause clauses paragraph para schedule table serial "
        "ধারা উপধারা দফা অনুচ্ছেদ তফসিল সারণী টেবিল ক্রমিক বিধি"
    ),
    "K": "hs heading headings code codes tariff item এইচ এইচএস কোড শিরোনাম হেডিং",
    "U": (
        "cc kg kgs tk taka bdt usd units unit mw sft sq square litre litres liter liters per "
        "percent km kilograms grams metric tons tonnes dollars pieces cases persons people days "
        "hours সিসি টাকা টাকার কেজি বর্গফুট বর্গ বর্গমিটার ইউনিট জন টি লিটার শতাংশ মেট্রিক "
        "ডলার মার্কিন গ্রাম"
    ),
    "z": "monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs "
    "fri sat sun সোমবার মঙ্গলবার বুধবার বৃহস্পতিবার শুক্রবার শনিবার রবিবার রোববার",
    "P": "মোতাবেক অনুযায়ী অনুসারে মুতাবিক corresponding equivalent equivalently",
}
#: Endings that Bangla words take; আইনের, জুনের, বঙ্গাব্দের are the same words.
_ENDINGS = ("ের", "এর", "র", "তে", "ে", "য়ের", "েই", "টি", "ও")

_TABLE: dict[int, str | None] = {
    **{ord(mark): None for mark in (*INVISIBLE_MARKS, "\u00ad", "\u09bc")},
    **{ord(c): c.lower() for c in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"},
    **{
        ord(digit): str(value)
        for digits in (*POSITIONAL_DIGITS[1:], BENGALI_DIGITS, _DEVANAGARI_DIGITS)
        for value, digit in enumerate(digits)
    },
    0x09F7: "।",
    **dict.fromkeys(map(ord, "’‘"), "'"),
    **{0x09DC: "ড", 0x09DD: "ঢ", 0x09DF: "য"},
    **dict.fromkeys(map(ord, "‐‑‒–—−―"), "-"),
    **dict.fromkeys(map(ord, "∕⁄"), "/"),
    **dict.fromkeys(map(ord, "\u00a0\u2009\u202f\u2007\u3000\t\r"), " "),
}
_DROPPED = re.compile("[" + "".join(chr(c) for c, to in _TABLE.items() if to is None) + "]")
#: Vowel signs that are one character or two.
_COMPOSED = {"\u09c7\u09be": "\u09cb", "\u09c7\u09d7": "\u09cc"}
_BENGALI_LETTER = r"\u0980-\u09ff"
_TOKEN = re.compile(
    r"(?P<number>[0-9]+)|(?P<blank>\s+)"
    r"|(?P<era>(?<![a-z])(?:a\.d|c\.e|b\.s|a\.h)(?:\.(?![0-9])|(?![a-z])))"
    rf"|(?P<word>(?:[^\W\d_]|[{_BENGALI_LETTER}])+)|(?P<mark>.)",
    re.DOTALL,
)
_ERAS = {"a.d": "E", "c.e": "E", "b.s": "B", "a.h": "H"}
_OWN_MARKS = frozenset(",./-()%:;'[]|=।")


def fold_word(word: str) -> str:
    """A word as the reader sees it; the same for every encoding of its letters."""
    folded = unicodedata.normalize("NFC", word).translate(_TABLE)
    for two, one in _COMPOSED.items():
        folded = folded.replace(two, one)
    return folded


def _word_values() -> dict[str, tuple[str, int]]:
    """Symbol and value of every known word, as folded, with its endings."""
    found: dict[str, tuple[str, int]] = {}

    def add(words: Iterable[str], symbol: str, value: int = 0) -> None:
        for word in words:
            folded = fold_word(word)
            endings = _ENDINGS if not folded.isascii() and symbol not in "swLG" else ()
            for ending in ("", *map(fold_word, endings)):
                found.setdefault(folded + ending, (symbol, value))

    for symbol, row in _WORDS.items():
        add(row.split(), symbol)
    for number, names in enumerate(english.MONTHS, start=1):
        add(names, "g", number)
        add(english.ABBREVIATIONS[number - 1], "a", number)
        add(BENGALI_GREGORIAN_MONTHS[number - 1], "g", number)
        add((*BENGALI_MONTHS[number - 1], *LATIN_MONTHS[number - 1]), "b", number)
    for word, value in ORDINAL_WORDS.items():
        if " " not in word:
            add((word,), "w", value)
    for value, names in enumerate(_BENGALI_DAYS, start=1):
        add(names, "w", value)
    for word, value in _TENS.items():
        add((word,), "T", value)
    return found


WORD_VALUES: Mapping[str, tuple[str, int]] = _word_values()


@dataclass(frozen=True, slots=True)
class Symbols:
    """A text as symbols: `row[i]` is a character for its i-th token; the lists run beside it.

    d: number of one or two digits, y: of four, n: another; g, a, b: Gregorian month, its
    abbreviation, Bangla month; blank: up
    to one line end; ¶: more (a new paragraph or cell); the marks themselves; x: another word;
    ·: another mark; the other letters are the keys of the table of words. `values` are numbers of
    numbers, months and ordinals. `starts`, `ends` are places in the text as given.
    """

    text: str
    row: str
    starts: list[int]
    ends: list[int]
    values: list[int]

    def place(self, first: int, last: int) -> tuple[int, int]:
        """Where the tokens first to last (exclusive) stand in the text."""
        return self.starts[first], self.ends[last - 1]


def symbols(text: str) -> Symbols:
    """The symbols of a text; the time is linear in its length."""
    folded = text.translate(_TABLE)
    dropped = [m.start() for m in _DROPPED.finditer(text)]
    # Places of the dropped characters counted in what is left: how many were dropped before.
    shifted = [place - i for i, place in enumerate(dropped)]
    row: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    values: list[int] = []
    for match in _TOKEN.finditer(folded):
        symbol, value = _symbol(match)
        row.append(symbol)
        values.append(value)
        first, last = match.span()
        starts.append(first + bisect_right(shifted, first))
        end = last + bisect_right(shifted, last - 1)
        ends.append(end + text.startswith("\u09bc", end))
    return Symbols(text, "".join(row), starts, ends, values)


def _symbol(match: re.Match[str]) -> tuple[str, int]:
    kind, token = match.lastgroup, match[0]
    if kind == "number":
        if len(token) <= 4:
            return ("d" if len(token) <= 2 else "y" if len(token) == 4 else "n"), int(token)
        return "n", -1
    if kind == "word":
        return WORD_VALUES.get(token) or WORD_VALUES.get(_plainer(token)) or ("x", 0)
    if kind == "blank":
        return ("¶" if token.count("\n") + 2 * token.count("\f") > 1 else " "), 0
    if kind == "era":
        return _ERAS[token[:3]], 0
    return (token if token in _OWN_MARKS else "·"), 0


def _plainer(token: str) -> str:
    """A folded word with composed vowel signs and without a visarga typed for a colon."""
    return fold_word(token).removesuffix("\u0983")
