"""A program as a judge of the council: words of the answer against words of the reference.

A weaker proxy than the rule judge, deterministic, and of another kind: it reads no dates. A date is
matched where one of a dozen notations of it stands in the answer letter by letter; a contradiction
is a year of the answer that neither the reference nor the question has, while a date is missing;
the meaning is right where the token F1 of answer and reference, over words that the question does
not already have, reaches `THRESHOLD`, no number of the reference is missing and no rate is new. An
explanation has the right meaning where the words of the right fact stand in it and no rate is new.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from typing import Any

from scripts.judging.council_rubric import ALTERED, FLAGS, RIGHT, Case, GoldDate, seat
from scripts.judging.council_values import plain, words

#: Token F1 from which an answer counts as saying the same.
THRESHOLD = 0.5
#: Within this distance of the threshold the case is uncertain.
MARGIN = 0.1
#: Numbers of its own that an explanation may have; a copied document has more.
LIST = 6

_MONTHS = (
    *("january", "february", "march", "april", "may", "june", "july", "august", "september"),
    *("october", "november", "december"),
)
_BENGALI_MONTHS = (
    *("জানুয়ারি", "ফেব্রুয়ারি", "মার্চ", "এপ্রিল", "মে", "জুন", "জুলাই", "আগস্ট", "সেপ্টেম্বর"),
    *("অক্টোবর", "নভেম্বর", "ডিসেম্বর"),
)
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d{2}(?!\d)")
_RATE = re.compile(r"(?<![\d.])(\d+(?:\.\d+)?)\s?(?:%|percent|per cent|শতাংশ)")
_DIGITS = re.compile(r"\d")


def judge(case: Case, answer: str) -> dict[str, Any]:
    """`answers` of this judge's Judgement on one answer."""
    text = plain(answer)
    spans = [_written(date, answer) for date in case.dates]
    question = plain(case.question)
    if case.kind != "misalignment":
        question += "\n" + plain(case.shown)
    explains = case.kind == "explanation" and bool(case.note(RIGHT))
    overlap = _share_of_fact(case, answer) if explains else _f1(case, answer, question)
    meaning = overlap == 1.0 if explains else overlap >= THRESHOLD
    meaning = meaning and _numbers_agree(case, answer, question, all_of_them=not explains)
    missing = any(span is None for span in spans)
    own_years = set(_YEAR.findall(text)) - set(_YEAR.findall(plain(case.reference) + question))
    answers = {
        "contradicting": missing and bool(own_years),
        "meaning": meaning,
        "uncertain": abs(overlap - THRESHOLD) < MARGIN,
    }
    matches = [(span is not None, span or "") for span in spans]
    return seat(case.item_id, matches, answers, _flags(case, text, meaning and not missing))


def notations(date: GoldDate) -> list[str]:
    """How a gold date may be written, in lower case with ASCII digits; its own text first."""
    year, month, day = (*date.value.split("-"), "", "")[:3]
    out = [plain(date.text)]
    if not month:
        return [*out, year]
    number = int(month)
    names = [
        name
        for months in (_MONTHS, tuple(map(plain, _BENGALI_MONTHS)))
        for name in (months[number - 1], months[number - 1][:3])
        if name.isascii() or name == months[number - 1]
    ]
    if not day:
        return [
            *out,
            date.value,
            *(f"{name}{comma} {year}" for name in names for comma in ("", ",")),
        ]
    short = str(int(day))
    for number_of_day in dict.fromkeys((short, day, f"{short}{_ordinal(int(day))}")):
        for name in names:
            out += [f"{number_of_day} {name}{comma} {year}" for comma in ("", ",")]
            out += [f"{name} {number_of_day}, {year}", f"{name} {number_of_day} {year}"]
            out.append(f"{number_of_day} of {name} {year}")
    for sign in "/.-":
        out += [f"{day}{sign}{month}{sign}{year}", f"{short}{sign}{number}{sign}{year}"]
    return [*out, date.value, date.value.replace("-", "/")]


def _ordinal(day: int) -> str:
    if 10 < day % 100 < 14:
        return "th"
    return {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")


def _written(date: GoldDate, answer: str) -> str | None:
    """The first notation of a date that stands in the answer, no digit or letter around it."""
    text, original = plain(answer), unicodedata.normalize("NFC", answer)
    for notation in filter(None, notations(date)):
        pattern = rf"(?<![\w\u0980-\u09ff]){re.escape(notation)}(?!\w)"
        if found := re.search(pattern, text):
            return original[found.start() : found.end()]
    return None


def _content(text: str, dates: Iterable[GoldDate]) -> Counter[str]:
    """Words of a plain text without the gold dates, counted."""
    for date in dates:
        for notation in sorted(notations(date), key=len, reverse=True):
            text = text.replace(notation, " ") if len(notation) > 4 else text
    return Counter(word for word in words(text) if len(word) > 1 or _DIGITS.match(word))


def _f1(case: Case, answer: str, question: str) -> float:
    """Token F1 over words that the question lacks; over all words where it lacks none."""
    asked = set(words(question))
    reference, given = (_content(plain(text), case.dates) for text in (case.reference, answer))
    new = Counter({word: n for word, n in reference.items() if word not in asked})
    if new:
        reference = new
        given = Counter({word: n for word, n in given.items() if word not in asked})
    if not reference:
        # The reference is nothing but its dates, which are voted on apart.
        return float(bool(words(answer)))
    shared = (reference & given).total()
    return 2 * shared / (reference.total() + given.total()) if shared else 0.0


def _share_of_fact(case: Case, answer: str) -> float:
    """The share of the right fact's words, its dates aside, that the answer has."""
    fact = _content(plain(case.note(RIGHT)), case.dates)
    given = set(words(answer))
    return sum(word in given for word in fact) / len(fact) if fact else float(bool(given))


def _numbers_agree(case: Case, answer: str, question: str, *, all_of_them: bool) -> bool:
    """Every number of the reference stands in the answer, and no rate is the answer's own.

    Without `all_of_them` no number need stand there, and only a few may be its own.
    """
    reference, given = (_content(plain(text), case.dates) for text in (case.reference, answer))
    wanted = {word for word in reference if _DIGITS.search(word)} - set(words(question))
    rates = set(_RATE.findall(plain(answer)))
    own = rates - set(_RATE.findall(plain(case.reference))) - set(_RATE.findall(question))
    if not all_of_them:
        numbers = {word for word in given if _DIGITS.search(word)}
        return len(numbers - set(reference) - set(words(question))) <= LIST and not own
    return wanted <= set(given) and not own


def _flags(case: Case, text: str, right: bool) -> dict[str, Any]:
    """Logged questions by the same rough means: words that only one side has."""
    given = set(words(text))
    if case.kind == "misalignment":
        both = set(words(case.question)) | set(words(case.reference))
        wrong = {word for word in words(case.shown) if _DIGITS.search(word)} - both
        adopted = bool(wrong & given)
        return dict(zip(FLAGS[case.kind], (adopted, right, False, adopted and right), strict=True))
    if case.kind != "explanation":
        return {}
    altered, fact = case.note(ALTERED), case.note(RIGHT)
    located = bool(altered) and set(words(altered)) <= given
    correct = bool(fact) and set(words(fact)) <= given
    votes = dict(
        zip(FLAGS[case.kind], (located or correct, located, correct, correct), strict=True)
    )
    return {**votes, "localized_element": altered if located else ""}
