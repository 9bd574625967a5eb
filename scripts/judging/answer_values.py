"""What an answer states, compared with the gold answer value by value.

One evaluator a kind of gold answer. It reads a part of a reply and says whether the values stated
there are all right (`correct`), all wrong (`incorrect`) or both (`contradiction`), or None where no
value of the kind is stated. Which part of a reply decides is the business of `date_judge`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import Decimal, InvalidOperation
from functools import cache
from itertools import pairwise
from typing import Any

from scripts.dates.languages import apart, folded, words
from scripts.dates.plain_text import LETTER, alternatives, blanked, is_chinese
from scripts.dates.reading import DateMention, Reading, read_text
from scripts.dates.signs import fold
from scripts.dates.times_of_day import TimeMention
from scripts.judging.answer_words import RELATION_WORDS, UNIT_WORDS, YES_NO_WORDS

PUNCTUATION = ' \n\t.,;:!?"()[]{}<>#=-|/\\*。，；：！？「」『』（）'


def _replies(name: str) -> tuple[str, str]:
    """Patterns of all languages' words under a key of `replies`: between blanks, and Chinese."""
    spaced, chinese = apart(words(lambda language: language.replies.get(name, ())))
    return alternatives(spaced), alternatives(chinese)


_OR, _CN_OR = _replies("either")
OR = re.compile(rf"(?<!{LETTER})(?:{_OR})(?!{LETTER})|{_CN_OR}")


#: A reply of at most so many words is read as an answer even without a commitment.
SHORT_WORDS = 12


@dataclass(frozen=True, slots=True)
class Question:
    """What the judge knows of the question: its own values are no answer when restated."""

    dates: frozenset[str] = frozenset()
    times: frozenset[int] = frozenset()
    numbers: frozenset[Decimal] = frozenset()


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a part of a text says: `correct`, `incorrect` or `contradiction`, and its value."""

    kind: str
    rule: str
    parsed: str


Evaluator = Callable[[str, Mapping[str, Any], str, Question], Outcome | None]


def restates(mention: DateMention, own: Question) -> bool:
    """True when a date can be read as one of the question's own."""
    return any(r.isoformat() in own.dates for r in mention.readings)


def _decide(matches: Sequence[bool], parsed: str) -> Outcome:
    """All right is correct, all wrong incorrect, both a contradiction."""
    if all(matches):
        return Outcome("correct", "value", parsed)
    rule = "contradiction" if any(matches) else "value"
    return Outcome(rule if any(matches) else "incorrect", rule, parsed)


# --- dates and times -----------------------------------------------------------------------------


def _answering(
    mentions: Sequence[DateMention],
    found: Reading,
    is_own: Callable[[DateMention], bool],
) -> tuple[list[DateMention], bool]:
    """The mentions that answer, and whether they are only the question's own ones."""
    joined = _joined_by_or(mentions, found.text)
    others = [m for m in mentions if m in joined or not is_own(m)]
    return (others, False) if others else (list(mentions), True)


def _joined_by_or(mentions: Sequence[DateMention], text: str) -> set[DateMention]:
    pairs = pairwise(mentions)
    between = {a: text[a.end : b.start] for a, b in pairs}
    joined = {a for a, part in between.items() if len(part) <= 40 and _joins(part)}
    return joined | {b for a, b in pairwise(mentions) if a in joined}


def _joins(part: str) -> bool:
    """True when "or" stands between two values of one sentence (a time may stand there too)."""
    return OR.search(part) is not None and not re.search(r"[\n;。]|[^\W\d_]{3}\. ", part)


def _evaluate_date(
    text: str, gold: Mapping[str, Any], _language: str, own: Question
) -> Outcome | None:
    found = read_text(text)
    accepted = set(_accepted(gold))
    mentions = [d for d in found.dates if d.complete]
    if not mentions:
        return None

    def matches(mention: DateMention) -> bool:
        return any(r.isoformat() in accepted for r in mention.readings)

    answering, restated = _answering(mentions, found, lambda m: restates(m, own) and not matches(m))
    outcome = _decide([matches(m) for m in answering], _shown(answering, accepted))
    return Outcome(outcome.kind, "restated", outcome.parsed) if restated else outcome


def _shown(mentions: Sequence[DateMention], accepted: set[str]) -> str:
    """The values of mentions: the accepted reading, else the first, else the text itself."""
    values = []
    for mention in mentions:
        readings = [r.isoformat() for r in mention.readings]
        right = [r for r in readings if r in accepted]
        values.append((right or readings or [mention.text])[0])
    return "; ".join(dict.fromkeys(values))


def minutes_of(text: str) -> int:
    """Minutes after midnight of HH:MM."""
    hours, _, minutes = text.partition(":")
    return 60 * int(hours) + int(minutes)


def _moments(day: DateMention, time: TimeMention) -> set[str]:
    """Every moment that a date with a time can mean, as YYYY-MM-DDTHH:MM."""
    out = set()
    for reading in day.readings:
        for minutes in time.readings:
            if minutes < 24 * 60:
                out.add(f"{reading.isoformat()}T{minutes // 60:02d}:{minutes % 60:02d}")
            elif reading < date.max:
                out.add(f"{(reading + timedelta(days=1)).isoformat()}T00:00")
    return out


def _evaluate_date_time(
    text: str, gold: Mapping[str, Any], _language: str, own: Question
) -> Outcome | None:
    found = read_text(text)
    accepted = set(_accepted(gold))
    days = {value.partition("T")[0] for value in accepted}
    minutes = {minutes_of(value.partition("T")[2]) for value in accepted}
    dates = [d for d in found.dates if d.complete]
    if not dates or not found.times:
        return None

    def own_date(mention: DateMention) -> bool:
        return restates(mention, own) and not any(r.isoformat() in days for r in mention.readings)

    def own_time(mention: TimeMention) -> bool:
        readings = set(mention.readings)
        return bool(own.times & readings) and not minutes & readings

    answering, only_own = _answering(dates, found, own_date)
    others = [t for t in found.times if not own_time(t)]
    times = others or list(found.times)
    pairs = [(d, t) for d in answering for t in times]
    outcome = _decide(
        [bool(_moments(d, t) & accepted) for d, t in pairs], _shown_moments(pairs, accepted)
    )
    if only_own and not others:
        return Outcome(outcome.kind, "restated", outcome.parsed)
    if outcome.kind != "contradiction":
        return outcome
    return _paired(dates, found.times, accepted, own) or outcome


def _paired(
    dates: Sequence[DateMention], times: Sequence[TimeMention], accepted: set[str], own: Question
) -> Outcome | None:
    """Dates and times in pairs, one time to one date, the question's own pair left out."""
    if len(dates) != len(times):
        return None
    pairs = list(zip(dates, times, strict=True))
    spans = [(min(d.start, t.start), max(d.end, t.end)) for d, t in pairs]
    if any(a[1] > b[0] for a, b in pairwise(spans)):
        return None
    asked = {
        f"{day}T{minute // 60:02d}:{minute % 60:02d}" for day in own.dates for minute in own.times
    }
    answering = [p for p in pairs if _moments(*p) & accepted or not _moments(*p) & asked] or pairs
    return _decide(
        [bool(_moments(*p) & accepted) for p in answering], _shown_moments(answering, accepted)
    )


def _shown_moments(pairs: Sequence[tuple[DateMention, TimeMention]], accepted: set[str]) -> str:
    values = []
    for day, time in pairs:
        moments = _moments(day, time)
        right = sorted(moments & accepted)
        values.append((right or sorted(moments) or [f"{day.text} {time.text}"])[0])
    return "; ".join(dict.fromkeys(values))


# --- numbers -------------------------------------------------------------------------------------

#: Exact conversions: unit -> (base, how many of the base).
_BASES = {
    "hours": ("hours", 1),
    "days": ("hours", 24),
    "weeks": ("hours", 168),
    "months": ("months", 1),
    "years": ("months", 12),
}
_DUALS = folded(lambda language: language.units_of_two)
_RANGE = re.compile(rf"{OR.pattern}|-|/|{'|'.join(_replies('up_to'))}")
_JOINED = re.compile(rf"[ ,]{{0,2}}(?:{'|'.join(_replies('joined_by'))})?[ ,]{{0,2}}")


def _units() -> dict[str, str]:
    """Folded form of every language -> unit."""
    return {
        fold(form): unit
        for units in UNIT_WORDS.values()
        for unit, forms in units.items()
        for form in forms
    }


_UNITS = _units()
_UNIT_AFTER = re.compile(
    rf"(?: ?-?\+? ?)(?P<unit>{alternatives(u for u in _UNITS if not is_chinese(u))})(?!{LETTER})"
    rf"| ?(?P<cn>{alternatives(u for u in _UNITS if is_chinese(u))})"
)
_UNITS_BEFORE = folded(
    lambda language: tuple(
        form for forms in language.units.values() for form in forms if language.unit_before_number
    )
)
_UNIT_BEFORE = re.compile(rf"(?<!{LETTER})(?P<unit>{alternatives(_UNITS_BEFORE)}) $")
_DUAL = re.compile(rf"(?<!{LETTER})و?(?P<unit>{alternatives(_DUALS)})(?!{LETTER})")


@dataclass(frozen=True, slots=True)
class _Quantity:
    start: int
    end: int
    values: tuple[Decimal, ...]
    unit: str | None
    spelled: bool


def _quantities(found: Reading) -> list[_Quantity]:
    """Numbers with the unit that follows them (in some languages: that precedes them)."""
    out = []
    for number in found.numbers:
        after = _UNIT_AFTER.match(found.text, number.end)
        ahead = _UNIT_BEFORE.search(found.text[max(0, number.start - 20) : number.start])
        unit, start, end = None, number.start, number.end
        if after:
            unit, end = _UNITS[after["unit"] or after["cn"]], after.end()
        elif ahead:
            unit, start = _UNITS[ahead["unit"]], number.start - len(ahead[0])
        out.append(_Quantity(start, end, number.readings, unit, number.spelled))
    out = _with_shared_units(out, found.text)
    for dual in _DUAL.finditer(found.text):
        if not any(q.start <= dual.start() < q.end for q in out):
            unit = _UNITS[dual["unit"]]
            out.append(_Quantity(dual.start(), dual.end(), (Decimal(2),), unit, True))
    return sorted(out, key=lambda q: q.start)


def _with_shared_units(quantities: Sequence[_Quantity], text: str) -> list[_Quantity]:
    """ "44 or 45 days": a number that is joined to the next by "or" or "to" has its unit."""
    out: list[_Quantity] = []
    for quantity in reversed(quantities):
        following = out[-1] if out else None
        if following is not None and quantity.unit is None:
            between = text[quantity.end : following.start]
            if len(between) <= 12 and _RANGE.fullmatch(between.strip()):
                out.append(replace(quantity, unit=following.unit))
                continue
        out.append(quantity)
    return out[::-1]


def _compounds(quantities: Sequence[_Quantity], text: str) -> list[list[_Quantity]]:
    """Quantities of different units that stand side by side are one: 6 weeks and 3 days."""
    groups: list[list[_Quantity]] = []
    for quantity in quantities:
        last = groups[-1][-1] if groups else None
        if (
            last is not None
            and last.unit is not None
            and quantity.unit is not None
            and quantity.unit not in {q.unit for q in groups[-1]}
            and _JOINED.fullmatch(text[last.end : quantity.start])
        ):
            groups[-1].append(quantity)
        else:
            groups.append([quantity])
    return groups


def _in_unit(group: Sequence[_Quantity], unit: str | None) -> set[Decimal] | None:
    """The readings of a (compound) quantity in the asked unit; None where it does not convert."""
    if unit is None or group[0].unit is None:
        return set(group[0].values) if len(group) == 1 else None
    base, factor = _BASES[unit]
    totals = {Decimal(0)}
    for quantity in group:
        own_base, own_factor = _BASES[quantity.unit or unit]
        if own_base != base:
            return None
        totals = {total + value * own_factor for total in totals for value in quantity.values}
    return {total / factor for total in totals}


def _evaluate_number(
    text: str, gold: Mapping[str, Any], _language: str, own: Question
) -> Outcome | None:
    found = read_text(text)
    accepted = {Decimal(value) for value in _accepted(gold)}
    unit = gold.get("unit") or None
    bare = found.text.strip(PUNCTUATION)
    quantities = [
        q for q in _quantities(found) if q.unit or not q.spelled or bare == _raw(found, q)
    ]
    groups = [(group, _in_unit(group, unit)) for group in _compounds(quantities, found.text)]
    values = [(group, readings) for group, readings in groups if readings is not None]
    # "Step 2: 45 days": what has a unit is meant before what has none.
    with_unit = [pair for pair in values if pair[0][0].unit is not None]
    values = with_unit or values
    if not values:
        # "The two days" in running text is no answer in another unit.
        stated = [q for q in quantities if not q.spelled or len(bare.split()) <= SHORT_WORDS]
        return Outcome("incorrect", "unit", _raw(found, stated[0])) if stated else None
    others = [v for v in values if v[1] & accepted or not v[1] & own.numbers]
    answering = others or values
    parsed = "; ".join(dict.fromkeys(_plain_number(r, accepted) for _, r in answering))
    outcome = _decide([bool(readings & accepted) for _, readings in answering], parsed)
    return outcome if others else Outcome(outcome.kind, "restated", outcome.parsed)


def _raw(found: Reading, quantity: _Quantity) -> str:
    return found.text[quantity.start : quantity.end].strip(PUNCTUATION)


def _plain_number(readings: set[Decimal], accepted: set[Decimal]) -> str:
    right = readings & accepted
    return f"{min(right or readings).normalize():f}"


# --- relations, yes and no -----------------------------------------------------------------------

_NOT, _CN_NOT = _replies("negations")
_NEGATION = re.compile(rf"(?<!{LETTER})(?:{_NOT})(?: {LETTER}{{1,12}}){{0,2}} $|(?:{_CN_NOT}) ?$")


def _labels(table: Mapping[str, Mapping[str, tuple[str, ...]]], language: str) -> dict[str, str]:
    """Folded form -> label, of a language and of English; a form of the language itself wins."""
    out: dict[str, str] = {}
    for code in dict.fromkeys(("en", language)):
        for label, forms in table[code].items():
            out.update((fold(form), label) for form in forms)
    return out


@cache
def _label_pattern(kind: str, language: str) -> tuple[dict[str, str], re.Pattern[str]]:
    labels = _labels(RELATION_WORDS if kind == "relation" else YES_NO_WORDS, language)
    chinese = [w for w in labels if is_chinese(w) and len(w) > 1]
    others = [w for w in labels if not is_chinese(w)]
    pattern = rf"(?<!{LETTER})[وفب]?(?P<word>{alternatives(others)})(?!{LETTER})"
    if chinese:
        # 前 and 后 alone count only right behind a date, which is blanked here.
        pattern += (
            rf"|(?P<cn>{alternatives(chinese)})|(?<=\n)(?P<short>[前后後])(?![\u4e00-\u9fff])"
        )
    return labels, re.compile(pattern)


def _evaluate_label(
    text: str, gold: Mapping[str, Any], language: str, _own: Question
) -> Outcome | None:
    kind = str(gold["kind"])
    labels, pattern = _label_pattern(kind, language)
    found = read_text(text)
    plain = blanked(found.text, ((d.start, d.end) for d in found.dates))
    stated = _standing_alone(plain, labels)
    if not stated and kind == "relation":
        stated = _in_running_text(plain, labels, pattern)
    if not stated:
        return None
    accepted = set(_accepted(gold))
    return _decide([label in accepted for label in stated], "; ".join(stated))


# What leads to a label at the end of a sentence.
_LEAD = re.compile(rf"^(?:{'|'.join(_replies('leads'))}) ?")


def _standing_alone(plain: str, labels: Mapping[str, str]) -> list[str]:
    """Labels that are a line or sentence by themselves, or lead one before a comma or a stop."""
    stated: list[str] = []
    for sentence in re.split(r"[\n.;!。；！]", plain):
        whole = fold(sentence.strip(PUNCTUATION))
        head = fold(re.split(r"[,:(，：（-]", sentence, maxsplit=1)[0].strip(PUNCTUATION))
        parts = [fold(part.strip(PUNCTUATION)) for part in re.split(r"[,，:：]", sentence)]
        # "Yes, no" and the list of all the words that were offered commit to none of them.
        parts = [head, *parts[:-1], _LEAD.sub("", parts[-1])]
        if whole in labels:
            stated.append(labels[whole])
        elif not OR.search(sentence):
            stated += [labels[part] for part in parts if part in labels]
    return list(dict.fromkeys(stated))


def _in_running_text(plain: str, labels: Mapping[str, str], pattern: re.Pattern[str]) -> list[str]:
    stated = []
    for match in pattern.finditer(plain):
        if not _NEGATION.search(plain[max(0, match.start() - 40) : match.start()]):
            stated.append(labels[match[match.lastgroup or 0]])
    return list(dict.fromkeys(stated))


# --- gold ----------------------------------------------------------------------------------------

_EVALUATORS: dict[str, Evaluator] = {
    "date": _evaluate_date,
    "date_time": _evaluate_date_time,
    "number": _evaluate_number,
    "relation": _evaluate_label,
    "yes_no": _evaluate_label,
}
_SHAPES = {
    "date": re.compile(r"\d{4}-\d\d-\d\d"),
    "date_time": re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d"),
    "relation": re.compile("|".join(RELATION_WORDS["en"])),
    "yes_no": re.compile("yes|no"),
}


def _accepted(gold: Mapping[str, Any]) -> list[str]:
    return [str(value) for value in gold.get("accepted") or [gold["answer"]]]


def evaluator_of(gold: Mapping[str, Any]) -> Evaluator:
    """The evaluator of a gold answer; ValueError where the gold is not what its kind says."""
    kind = gold.get("kind")
    if kind not in _EVALUATORS:
        raise ValueError(f"gold of kind {kind!r}; known kinds: {', '.join(_EVALUATORS)}")
    for value in _accepted(gold):
        if kind == "number":
            try:
                Decimal(value)
            except InvalidOperation:
                raise ValueError(f"gold {value!r} is no number") from None
        elif not _SHAPES[kind].fullmatch(value):
            raise ValueError(f"gold {value!r} is no {kind} answer")
    unit = gold.get("unit")
    if kind == "number" and unit and unit not in _BASES:
        raise ValueError(f"unit {unit!r} is none of {', '.join(_BASES)}")
    return _EVALUATORS[kind]


def partial_answer(
    text: str, gold: Mapping[str, Any], own: Question, *, committed: bool
) -> Outcome | None:
    """A part of what was asked for, in a text without a whole value; None if there is none.

    In a long text without a commitment stray numbers are no answer; in a short one they are, and in
    a terse one ("9 years later") even those of the question.
    """
    kind = gold["kind"]
    words = len(text.split())
    short = committed or words <= SHORT_WORDS
    if kind in ("relation", "yes_no") or (kind == "number" and not short):
        return None
    found = read_text(text)
    parts = [d.text for d in found.dates if not (d.complete and restates(d, own))]
    if kind == "date_time":
        parts += [t.text for t in found.times if not own.times.intersection(t.readings)]
    terse = words <= 6 and len(text) <= 40
    if short:
        parts += [
            n.text
            for n in found.numbers
            if not n.spelled and (terse or not own.numbers.intersection(n.readings))
        ]
    return Outcome("incorrect", "partial", "; ".join(parts)) if parts else None
