"""Values that legal text commits to: dates, numbers, rates and instruments, denied ones apart.

Shared by the two programs of the council. Digits of every script are the same, thousands separators
and trailing zeros do not count ("১,০০০.৫০" is 1000.5); rates may be in English words ("five
percent"). A value that the text denies ("not 10 %", "instead of 10 %", "it is false that it is
10 %", "I do not know whether it is 10 %", "১০% নয়") is not one that it commits to.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from scripts.dates.english import NUMBER_WORDS
from scripts.dates.legal_dates import DateMention, mentions

#: Letters, digits and the marks that Bengali words are made of.
_WORD = re.compile(r"[\w\u0980-\u09ff]+")
_NUMBER = re.compile(r"(?<![\d.])\d+(?:,\d{2,3})*(?:\.\d+)*")
# The number may be repeated in words in between, or stand in brackets itself: ১০ (দশ) শতাংশ.
_PERCENT = re.compile(
    r"\s{0,2}(?:\)|\([^()\d]{1,24}\))?\s{0,2}(?:%|percent\b|per\s?cent\b|শতাংশ|ভাগ)"
)
# 101-AIN/2011, 101-Law/2016/..., No. 2/2016, Act No. 4 of 2010, ২০১০ সনের ৪ নং আইন
_INSTRUMENT = re.compile(
    r"(?P<a>\d{1,4})\s?-\s?[^\W\d_][\w\u0980-\u09ff.]{0,19}\s?[/-]\s?(?P<ay>\d{4})"
    r"|(?:\bno\.?|নং)\s{0,2}(?P<b>\d{1,4})\s?/\s?(?P<by>\d{4})"
    r"|\bact\s{1,2}(?:no\.?\s{0,2})?(?P<c>\d{1,4}|[ivxlc]{1,7})\s{1,2}of\s{1,2}(?P<cy>\d{4})"
    r"|(?P<dy>\d{4})\s{1,2}সনের\s{1,2}(?P<d>\d{1,4})\s{0,2}নং"
)
# What denies the value that follows within a few words, and what denies the one before.
_DENIES_NEXT = re.compile(
    r"(?:\bnot\b|n't\b|\bnever\b|\bno longer\b|\binstead of\b|\brather than\b|\bother than\b"
    r"|\bin place of\b|এর পরিবর্তে|এর বদলে"
    r"|\b(?:false|untrue|incorrect|wrong|not true|not correct|not the case) that\b"
    r"|\b(?:know|sure|certain|tell|say|determine|confirm|verify) (?:whether|if)\b)"
    # Up to three words without a number or a "but" may stand between.
    r"(?:\s{1,3}(?!but\b)[^\W\d][\w\u0980-\u09ff]{0,14}){0,3}[\s(\[\"'“‘$]{0,4}$"
)
_KEEPS = re.compile(r"\bnot (?:less|more|later|earlier|only|exceed|under|over|below|above|before)")
_DENIES_BEFORE = re.compile(
    r"^(?:%|[^\w\u0980-\u09ff.;।]|শতাংশ|percent|per cent|তারিখে?|হইতে|হতে|থেকে|কার্যকর|বলবৎ){0,12}"
    r"(?:নয়|নহে|না হয়ে|হয় ?নি|হয় ?নাই|ছিল না)(?![\u0980-\u09ff])"
)
_WINDOW = 48
_RATE_WORDS = {
    word.replace(" ", separator): value
    for word, value in NUMBER_WORDS.items()
    for separator in (" ", "-")
}
_RATE_IN_WORDS = re.compile(
    r"(?<![\w-])(?P<word>"
    + "|".join(sorted(map(re.escape, _RATE_WORDS), key=len, reverse=True))
    + r")\s{1,2}(?:percent|per\s?cent)\b"
)


@dataclass(frozen=True, slots=True)
class Value:
    """A number of a text: `percent`, `instrument` ("101/2011") or `number`, and where it stands."""

    kind: str
    amount: str
    start: int
    end: int


def plain(text: str) -> str:
    """Lower case, NFC, ASCII digits for every script's; as long as the text where NFC is."""
    composed = unicodedata.normalize("NFC", text)
    return "".join(map(_plain, composed))


def _plain(character: str) -> str:
    digit = unicodedata.decimal(character, None)
    lower = character.lower()
    return str(digit) if digit is not None else lower if len(lower) == 1 else character


def words(text: str) -> list[str]:
    """The words of a text in order: plain, Bengali vowel signs kept."""
    return _WORD.findall(plain(text))


@dataclass(frozen=True, slots=True)
class Reading:
    """What a text commits to: dates, values as (kind, amount), and its words without either.

    `denied` are the dates that it denies; `stated` are the values in their order, with places in
    `plain(text)`.
    """

    dates: tuple[DateMention, ...]
    denied: tuple[DateMention, ...]
    values: frozenset[tuple[str, str]]
    words: tuple[str, ...]
    stated: tuple[Value, ...] = ()

    @property
    def committed(self) -> bool:
        """Whether there is any date or value."""
        return bool(self.dates or self.values)


def read(text: str) -> Reading:
    """The dates and values of a text, and its other words."""
    text = unicodedata.normalize("NFC", text)
    lowered = plain(text)
    dates = [(date, denied(lowered, date.start, date.end)) for date in mentions(text)]
    taken = [(date.start, date.end) for date, _ in dates]
    values: list[Value] = []
    for kind, pattern in (
        (_instrument, _INSTRUMENT),
        (_rate_in_words, _RATE_IN_WORDS),
        (_number, _NUMBER),
    ):
        for match in pattern.finditer(lowered):
            if not _overlaps(match.start(), match.end(), taken):
                values.append(kind(lowered, match))
        taken += [(value.start, value.end) for value in values]
    stated = sorted(
        (value for value in values if not denied(lowered, value.start, value.end)),
        key=lambda value: value.start,
    )
    return Reading(
        dates=tuple(date for date, is_denied in dates if not is_denied),
        denied=tuple(date for date, is_denied in dates if is_denied),
        values=frozenset((value.kind, value.amount) for value in stated),
        words=tuple(_WORD.findall(_without(lowered, taken))),
        stated=tuple(stated),
    )


def denied(lowered: str, start: int, end: int) -> bool:
    """Whether the text denies what stands from `start` to `end`."""
    before = lowered[max(0, start - _WINDOW) : start]
    found = _DENIES_NEXT.search(before)
    if found and not _KEEPS.search(before, found.start()):
        return True
    return bool(_DENIES_BEFORE.match(lowered[end : end + _WINDOW]))


def _instrument(_lowered: str, match: re.Match[str]) -> Value:
    number = next(match[name] for name in "abcd" if match[name])
    year = next(match[f"{name}y"] for name in "abcd" if match[f"{name}y"])
    return Value("instrument", f"{number.lstrip('0')}/{year}", match.start(), match.end())


def _rate_in_words(_lowered: str, match: re.Match[str]) -> Value:
    return Value("percent", str(_RATE_WORDS[match["word"]]), match.start(), match.end())


def _number(lowered: str, match: re.Match[str]) -> Value:
    percent = _PERCENT.match(lowered, match.end())
    end = percent.end() if percent else match.end()
    digits = match[0].replace(",", "")
    if digits.count(".") == 1:
        digits = digits.rstrip("0").rstrip(".")
    head, point, tail = digits.partition(".")
    amount = f"{head.lstrip('0') or '0'}{point}{tail}"
    return Value("percent" if percent else "number", amount, match.start(), end)


def _overlaps(start: int, end: int, spans: Iterable[tuple[int, int]]) -> bool:
    return any(start < other_end and other_start < end for other_start, other_end in spans)


def _without(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """The text with spans blanked out."""
    signs = list(text)
    for start, end in spans:
        signs[start:end] = " " * (end - start)
    return "".join(signs)
