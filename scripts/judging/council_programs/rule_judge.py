"""A program as a judge of the council: dates, values, instruments and directions are compared.

A weak proxy for a reader, and deterministic. What it looks at:

- matched: the answer states the gold date, in any notation that `dates.legal_dates` reads, at least
  at the required granularity, and does not deny it.
- contradicting: a gold date is not matched, and the answer states another date at that granularity
  which neither the reference nor the question has; or it offers such a date beside a matched one
  ("9 or 10 June 2011", a list that ends so) or takes a matched one back ("Sorry, 10 June 2011").
  Dates inside an instrument's number are no statement.
- meaning: no refusal, no other yes or no than the reference's; every value of the reference that
  the question does not already give occurs in the answer, and none as one of two ("5% or 10%");
  the answer has no rate of its own, has not only other rates and instruments than the reference,
  and is no list (`LIST`); no direction of change is reversed, in words or as "from 5% to 10%".
  Where the reference adds no value, its new words must recur (`RECALL`) and the two must agree in
  negation. Units, order and who does what are not understood.
- meaning of an explanation: it states the right fact, as far as that has a value or date, and
  the same holds otherwise. What else the reference says was not asked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from scripts.dates.legal_dates import DateMention, matches
from scripts.judging.council_rubric import ALTERED, FLAGS, RIGHT, Case, GoldDate, seat
from scripts.judging.council_values import Reading, plain, read, words

#: Share of the reference's new words that an answer without new values must have.
RECALL = 0.6
#: A share within this distance of `RECALL` makes the case uncertain.
MARGIN = 0.2
#: Dates and values of its own, neither the reference's nor the question's, that an answer may have
#: if they are more than the reference's: a longer list settles on nothing.
LIST = 5
#: Letters of a word that count: "raises", "raised" and "raising" are one.
_STEM = 5

_STOP_TEXT = (
    "a an the of to in on at by for from with and or as is are was were be been has have had it "
    "its this that these those which who whom whose under per into no not shall will may must such "
    "any all each than then so if but also only there their they he she we you i what when where "
    "how did does do এই ও এবং এর হইবে হবে করা তারিখে তারিখ জন্য যে না হয় ছিল"
)
_STOP_WORDS = frozenset(_STOP_TEXT.split())
_DIRECTIONS: tuple[tuple[str, str], ...] = (
    (
        r"increas|rais|rose|rise|risen|higher|doubl|বৃদ্ধি|বাড়",
        r"decreas|reduc|lower|cut|fell|fall|drop|halv|হ্রাস|কম",
    ),
    (r"insert|add|introduc|সন্নিবেশ|সংযোজ", r"omit|delet|remov|বিলুপ্ত|বাদ"),
    (r"effect|commenc|enter|began|begin|কার্যকর|বলবৎ", r"repeal|rescind|revok|expir|ceas|lapse|রহিত"),
    (r"before|earlier|prior|পূর্বে|আগে", r"after|later|পরে"),
    (r"allow|permit|may|অনুমতি", r"prohibit|forbid|ban|নিষিদ্ধ"),
    (r"maximum|most|exceed|সর্বোচ্চ|অনধিক", r"minimum|least|সর্বনিম্ন|অন্যূন"),
)
_NEGATION = re.compile(
    r"\b(?:not|never|no|none|nor|without|cannot)\b|n't\b|(?<![\u0980-\u09ff])(?:না|নয়|নাই|নহে|নেই)(?![\u0980-\u09ff])"
)
_REFUSAL = re.compile(
    r"\b(?:do|does|did|could|can|am|are|is)(?: not|n't) (?:know|sure|aware|able|have|find|answer|"
    r"determine|provided|specified|available|possible)|\bcannot (?:answer|determine|be determined|"
    r"find|provide|verify|confirm)|\bcan't (?:answer|tell|determine)|\bunable to|\bunknown\b"
    r"|\bno information|\binsufficient (?:information|context)|জানি না|জানা নেই|জানা নাই"
)
_ALTERNATIVE = re.compile(
    r"\A\W{0,3}(?:or|either|and/or|/|অথবা|কিংবা|বা)\W{0,3}"
    r"(?:(?:on|in|about|around|maybe|perhaps|possibly|probably|even|হয়তো|সম্ভবত)\W{1,2}){0,3}\Z"
)
_COMMA = re.compile(r"\A\s?[,;]\s?(?:on )?\Z")
_TAKEN_BACK = re.compile(r"[.!;।]\s{1,3}(?:no|actually|correction|sorry|wait)\b")
# Between two values of which neither is settled on: up to two words beside the "or".
_VALUES_OR = re.compile(
    r"\A\W{0,3}(?:[^\W\d]\w{0,14}\W{1,3}){0,2}?(?:or|অথবা|কিংবা|বা)(?:\W{1,3}[^\W\d]\w{0,14}){0,2}"
    r"\W{0,3}\Z"
)
_FROM = re.compile(r"\bfrom\W{1,2}(?:[^\W\d]{1,4}\W{1,2})?\Z")
_FROM_BEHIND = re.compile(r"\A\W{0,3}(?:টাকা\s?)?(?:হইতে|হতে|থেকে)")
_TO = re.compile(r"\bto\W{1,2}(?:[^\W\d]{1,4}\W{1,2})?\Z")
# Between the value before and this one: "৫% হইতে বৃদ্ধি করিয়া ১০%".
_TO_BENGALI = re.compile(
    r"\A\W{0,3}(?:টাকা\s?)?(?:হইতে|হতে|থেকে)(?:\s[\u0980-\u09ff]{1,12}){0,3}\s?\Z"
)
_YES_NO = re.compile(r"\A\W{0,3}(?:(yes|হ্যাঁ|জি)|(no(?!\.\s?\d)|না))(?![\w\u0980-\u09ff])")
_OR = re.compile(r"\bor\b|অথবা|কিংবা|(?<![\u0980-\u09ff])বা(?![\u0980-\u09ff])")
_CONFLICT = re.compile(
    r"\b(?:however|contra\w+|discrepan\w+|conflict\w*|inconsisten\w+|incorrect\w*|inaccura\w+"
    r"|wrong\w*|differ\w*|actually|in fact|mistak\w+|err(?:or|s|oneous)\w*|false\w*|outdated)\b"
    r"|ভুল|সঠিক নয়|বিপরীত|ভিন্ন"
)


@dataclass(frozen=True, slots=True)
class _Texts:
    """What is compared: the answer and the reference as read, and what the question gives away."""

    case: Case
    answer: str
    reference: Reading
    given: Reading
    known: Reading


def judge(case: Case, answer: str) -> dict[str, Any]:
    """`answers` of this judge's Judgement on one answer."""
    texts = _Texts(case, answer, read(case.reference), read(answer), _known(case))
    found = [_found(date, texts) for date in case.dates]
    meaning, recall = _meaning(texts)
    listed = _is_list(texts)
    near = (recall is not None and abs(recall - RECALL) < MARGIN) or (meaning and listed)
    meaning = meaning and not listed
    votes = {
        "contradicting": _contradicts(texts, found),
        "meaning": meaning,
        "uncertain": near,
    }
    spans = [(date is not None, date.text if date else "") for date in found]
    return seat(case.item_id, spans, votes, _flags(texts, meaning and all(found)))


def _known(case: Case) -> Reading:
    """What the question gives away; a passage that is wrong on purpose gives nothing."""
    return read(case.question if case.kind == "misalignment" else f"{case.question}\n{case.shown}")


# --- dates ---------------------------------------------------------------------------------------


def _found(gold: GoldDate, texts: _Texts) -> DateMention | None:
    """Where the answer states a gold date; it may deny only what the reference denies too."""
    stated = _mention(gold, texts.given.dates)
    if stated is None and _mention(gold, texts.reference.denied):
        return _mention(gold, texts.given.denied)
    return stated


def _mention(gold: GoldDate, dates: Iterable[DateMention]) -> DateMention | None:
    return next((date for date in dates if matches(date, gold.value, gold.granularity)), None)


def _contradicts(texts: _Texts, found: Sequence[DateMention | None]) -> bool:
    golds = texts.case.dates
    expected = (*texts.reference.dates, *texts.reference.denied, *texts.known.dates)
    own = [
        date
        for date in texts.given.dates
        if not _stated(date, expected)
        and not any(matches(date, gold.value, gold.granularity) for gold in golds)
    ]
    missed = [gold for gold, date in zip(golds, found, strict=True) if date is None]
    if texts.case.kind == "explanation":
        # It need not state the other dates of the reference, but may not give others for them.
        missed += [
            GoldDate(date.value, date.granularity, date.text)
            for date in texts.reference.dates
            if not _stated(date, texts.given.dates)
        ]
    if any(_replaces(date, gold) for date in own for gold in missed):
        return True
    offered = _offered(texts.answer, texts.given.dates)
    matched = [date for date in found if date]
    return any(
        {date, other} <= group for date in matched for other in own for group in offered
    ) or any(_taken_back(texts.answer, date, other) for date in matched for other in own)


def _stated(date: DateMention, others: Iterable[DateMention]) -> bool:
    return any(matches(other, date.value, date.granularity) for other in others)


_LEVELS = ("year", "month", "day")
_FIRST_GREGORIAN_YEAR = 1700


def _replaces(date: DateMention, gold: GoldDate) -> bool:
    """Whether a date is one of the gold date's granularity and calendar.

    A Bangla month lies in two of the other calendar: it neither states nor denies one.
    """
    bangla = date.calendar == "bangla" and date.granularity != "day"
    gold_bangla = int(gold.value[:4]) < _FIRST_GREGORIAN_YEAR
    return bangla == gold_bangla and (
        _LEVELS.index(date.granularity) >= _LEVELS.index(gold.granularity)
    )


def _offered(answer: str, dates: Sequence[DateMention]) -> list[set[DateMention]]:
    """The groups of dates that the text offers without settling on one: "1, 2 or 3 May 2011"."""
    text = plain(answer)
    groups: list[set[DateMention]] = []
    run, has_or = list(dates[:1]), False
    for one, other in pairwise(sorted(dates, key=lambda date: date.start)):
        between = text[one.end : other.start]
        either = one.start == other.start and bool(_OR.search(plain(one.text)))
        joined = either or bool(_ALTERNATIVE.match(between))
        if joined or one.start == other.start or _COMMA.match(between):
            run.append(other)
            has_or = has_or or joined
            continue
        groups += [set(run)] if has_or else []
        run, has_or = [other], False
    return groups + ([set(run)] if has_or else [])


def _taken_back(answer: str, one: DateMention, other: DateMention) -> bool:
    """Whether the text puts the second date in place of the first."""
    return bool(one.end < other.start and _TAKEN_BACK.search(plain(answer)[one.end : other.start]))


# --- meaning -------------------------------------------------------------------------------------


def _meaning(texts: _Texts) -> tuple[bool, float | None]:
    """(the vote, the share of words that it rests on, None where values decide)."""
    reference, given, known = texts.reference, texts.given, texts.known
    required = reference.values - known.values
    foreign = given.values - reference.values - known.values
    if any(kind == "percent" for kind, _ in foreign):
        return False, None
    if (
        not _same_direction(reference.words, given.words)
        or _other_verdict(texts)
        or _other_values(texts, bool(required))
        or _undecided_values(texts)
        or _reversed_change(texts)
    ):
        return False, None
    if texts.case.kind == "explanation" and (right := read(texts.case.note(RIGHT))).committed:
        return _states(right, given), None
    if required:
        return all(_has(value, given) for value in required), None
    return _meaning_of_words(texts)


def _states(fact: Reading, given: Reading) -> bool:
    """Whether the answer commits to the values and dates of a fact."""
    return all(_has(value, given) for value in fact.values) and all(
        _stated(date, given.dates) for date in fact.dates
    )


def _other_verdict(texts: _Texts) -> bool:
    """Whether the one begins with yes and the other with no."""
    said = [_YES_NO.match(plain(text)) for text in (texts.case.reference, texts.answer)]
    return all(said) and len({bool(match and match[1]) for match in said}) > 1


def _other_values(texts: _Texts, required: bool) -> bool:
    """Whether the answer has values of a kind that the reference has, and none of them.

    Other numbers count only where nothing else decides.
    """
    reference, given = texts.reference.values, texts.given.values
    kinds = ["percent", "instrument"]
    if not required and not _stems(texts.reference.words) - _stems(texts.known.words):
        kinds.append("number")
    for kind in kinds:
        wanted, stated = ({v for v in values if v[0] == kind} for values in (reference, given))
        if wanted and stated and not any(_has(value, texts.given) for value in wanted):
            return True
    return False


def _undecided_values(texts: _Texts) -> bool:
    """Whether the answer offers a value of the reference beside another: "5% or 10%"."""
    if _OR.search(plain(texts.case.reference)):
        return False
    text = plain(texts.answer)
    for one, other in pairwise(texts.given.stated):
        right = [(value.kind, value.amount) in texts.reference.values for value in (one, other)]
        alike = one.kind == other.kind and one.amount != other.amount
        if alike and any(right) and _VALUES_OR.match(text[one.end : other.start]):
            return True
    return False


def _reversed_change(texts: _Texts) -> bool:
    """Whether what the reference changes from is what the answer changes to, or the other way."""
    before, after = _changes(plain(texts.case.reference), texts.reference)
    old, new = _changes(plain(texts.answer), texts.given)
    return bool((before - after) & (new - old)) or bool((after - before) & (old - new))


def _changes(text: str, reading: Reading) -> tuple[set[tuple[str, str]], set[tuple[str, str]]]:
    """The values that a text changes from, and those that it changes to."""
    old, new = set(), set()
    end = 0
    for value in reading.stated:
        before, behind = text[max(0, value.start - 12) : value.start], text[value.end :][:16]
        if _FROM.search(before) or _FROM_BEHIND.match(behind):
            old.add((value.kind, value.amount))
        elif _TO.search(before) or _TO_BENGALI.match(text[end : value.start]):
            new.add((value.kind, value.amount))
        end = value.end
    return old, new


def _is_list(texts: _Texts) -> bool:
    """Whether the answer has so many dates and values of its own that it settles on nothing."""
    reference, given, known = texts.reference, texts.given, texts.known
    values = given.values - reference.values - known.values
    expected = (*reference.dates, *reference.denied, *known.dates)
    dates = {date.value for date in given.dates if not _stated(date, expected)}
    own = len(values) + len(dates)
    return own > LIST and own > len(reference.values) + len(
        {date.value for date in reference.dates}
    )


def _meaning_of_words(texts: _Texts) -> tuple[bool, float | None]:
    """The vote where the reference adds no value to what the question gives away."""
    text, gold = plain(texts.answer), plain(texts.case.reference)
    refused = _REFUSAL.search(text) and not _REFUSAL.search(gold)
    if refused or bool(_NEGATION.search(gold)) != bool(_NEGATION.search(text)):
        return False, None
    stems = _stems(texts.reference.words)
    new = stems - _stems(texts.known.words)
    if not new and any(_has(value, texts.given) for value in texts.reference.values):
        # The reference picks one of the question's values.
        return True, None
    new = new or stems
    if not new:
        return True, None
    recall = len(new & _stems(texts.given.words)) / len(new)
    return recall >= RECALL, recall


def _has(value: tuple[str, str], given: Reading) -> bool:
    """Whether the answer commits to a value; an instrument may go without its year."""
    if value in given.values:
        return True
    kind, amount = value
    if kind != "instrument":
        return False
    number = amount.partition("/")[0]
    other_year = any(k == kind and a.partition("/")[0] == number for k, a in given.values)
    return ("number", number) in given.values and not other_year


def _same_direction(reference: Sequence[str], given: Sequence[str]) -> bool:
    for one, other in _DIRECTIONS:
        for pole, opposite in ((one, other), (other, one)):
            if (
                _any(pole, reference)
                and not _any(opposite, reference)
                and _any(opposite, given)
                and not _any(pole, given)
            ):
                return False
    return True


def _any(pole: str, given: Iterable[str]) -> bool:
    pattern = re.compile(rf"(?:{pole})")
    return any(pattern.match(word) for word in given)


def _stems(given: Iterable[str]) -> set[str]:
    return {word[:_STEM] for word in given if word not in _STOP_WORDS and len(word) > 1}


# --- logged questions ----------------------------------------------------------------------------


def _flags(texts: _Texts, right: bool) -> dict[str, Any]:
    case, given, text = texts.case, texts.given, plain(texts.answer)
    if case.kind == "misalignment":
        adopted = _adopts(case, given)
        values = (adopted, right, bool(_CONFLICT.search(text)), adopted and right)
        return dict(zip(FLAGS[case.kind], values, strict=True))
    if case.kind != "explanation":
        return {}
    altered, fact = case.note(ALTERED), case.note(RIGHT)
    located, correct = _names(altered, texts), _names(fact, texts)
    statement = read(case.shown)
    new = given.values - statement.values
    new_dates = any(not _stated(date, statement.dates) for date in given.dates)
    return {
        "perturbation_flagged": bool(_CONFLICT.search(text) or _NEGATION.search(text)),
        "perturbation_localized": located,
        "correction_given": correct or bool(new) or new_dates,
        "correction_correct": correct,
        "localized_element": altered if located else "",
    }


def _adopts(case: Case, given: Reading) -> bool:
    """Whether the answer commits to a date or value that only the misleading passage has."""
    wrong, right = read(case.shown), read(f"{case.question}\n{case.reference}")
    values = (wrong.values - right.values) & given.values
    dates = [date for date in wrong.dates if not _stated(date, right.dates)]
    return bool(values) or any(_stated(date, given.dates) for date in dates)


def _names(fact: str, texts: _Texts) -> bool:
    """Whether the answer mentions a fact: its values and dates, or most of its words."""
    wanted, text = read(fact), plain(texts.answer)
    if not fact or plain(fact) in text:
        return bool(fact)
    if wanted.values or wanted.dates:
        # A denied value counts: what is asked is whether the answer speaks of it.
        numbers, dates = set(words(text)), (*texts.given.dates, *texts.given.denied)
        return all(set(words(amount)) <= numbers for _, amount in wanted.values) and all(
            _stated(date, dates) for date in wanted.dates
        )
    stems = _stems(wanted.words)
    return bool(stems) and len(stems & _stems(texts.given.words)) / len(stems) >= RECALL
