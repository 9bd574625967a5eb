"""Checks that a question pair must pass before it is kept: pure code, no model.

Source: TIDE section 2.4 and A.8.3 (the rules); how each is decided is written down in
docs/construction.md. An answer is borne out by its *evidence*: text and heading of the cited
clauses, and what identifies their instruments (titles, number and date as printed). Values are
compared, not spellings (`facts.py`).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

from scripts.dates.bangla import from_gregorian
from scripts.dates.calendars import CalendarRangeError
from scripts.dates.legal_dates import mentions
from scripts.inference.schemas import object_schema
from scripts.tide.construction.facts import (
    Facts,
    date_words,
    facts_of,
    plain_digits,
    stem_instruments,
    with_bangla,
    years_in,
)
from scripts.tide.construction.provisions import Corpus
from scripts.tide.construction.relative_times import offsets_in, on_timeline, start_of, target
from scripts.tide.construction.replies import shape_problem, text_problem
from scripts.tide.rows import Thread
from scripts.tide.tasks import TASKS

#: Names of the checks, in the order in which they are made.
CHECKS = (
    *("fields", "text", "clauses", "options", "events", "perturbation", "scenario", "time_span"),
    *("relative_time", "misalignment", "dates", "instruments", "rates", "numbers", "duplicate"),
)
OPTIONS, FEWEST_EVENTS, MOST_EVENTS = 4, 3, 6
#: Whole numbers below this may count things ("two tables") and are not looked up.
LEAST_NUMBER = 10

_TEXT = {"type": "string"}
_OPTIONAL = {"type": ["string", "null"]}
_TEXTS = {"type": "array", "items": _TEXT}
_EVENT = object_schema({"event": _TEXT, "date": _TEXT})
#: JSON Schema of every field.
FIELD_SCHEMAS: dict[str, dict[str, Any]] = {
    **dict.fromkeys(("question", "answer", "explanation", "statement", "scenario"), _TEXT),
    **dict.fromkeys(("seed_time", "relative_offset", "date_or_instrument"), _TEXT),
    **dict.fromkeys(("misaligned_context", "conflict"), _TEXT),
    **dict.fromkeys(("perturbed_fact", "correct_fact"), _OPTIONAL),
    **dict.fromkeys(("options", "events_shuffled", "clauses_involved"), _TEXTS),
    "answer_index": {"type": "integer"},
    "is_perturbed": {"type": "boolean"},
    "answer_ordered": {"type": "array", "items": _EVENT},
}
#: Longest text of a field in characters; 2,000 for fields that are not named.
LIMITS: dict[str, int] = {
    **dict.fromkeys(("scenario", "misaligned_context", "answer"), 4000),
    **dict.fromkeys(("options", "events_shuffled", "seed_time", "relative_offset"), 600),
    **dict.fromkeys(("date_or_instrument", "clauses_involved"), 600),
}
MOST_TEXTS = 20


@dataclass(frozen=True, slots=True)
class Failure:
    """The first check that a pair fails, and what is wrong."""

    check: str
    detail: str


class _Rejected(Exception):  # noqa: N818 - no error: it carries a verdict to `first_failure`
    def __init__(self, check: str, detail: str) -> None:
        super().__init__(detail)
        self.failure = Failure(check, detail)


Fields = Mapping[str, Any]


def task_schema(task: str) -> dict[str, Any]:
    """JSON Schema of the fields of a task."""
    return object_schema({name: FIELD_SCHEMAS[name] for name in TASKS[task].fields})


@dataclass(frozen=True)
class Evidence:
    """What the cited clauses and the heads of their instruments state."""

    facts: Facts
    dates: frozenset[str]
    texts: tuple[str, ...]

    @classmethod
    def of(cls, clause_ids: Iterable[str], corpus: Corpus) -> Evidence:
        """The evidence of clauses that exist."""
        facts, days, texts = Facts(), set[str](), []
        for element_id in clause_ids:
            element = corpus[element_id]
            texts.append(element.text)
            for text in (element.text, element.title, corpus.head(element.document)):
                facts = facts.union(facts_of(text))
            facts = facts.union(Facts(instruments=stem_instruments(element.document)))
            days |= {corpus.date(element_id), *(mention["value"] for mention in element.dates)}
        return cls(facts, with_bangla((facts.dates | days) - {""}), tuple(texts))


def first_failure(
    task: str, clause_ids: Sequence[str], fields: Fields, thread: Thread, corpus: Corpus
) -> Failure | None:
    """The first failed check of a pair, or None when it may be kept (duplicates apart)."""
    try:
        _check_fields(task, fields)
        _check_clauses(clause_ids, corpus)
        evidence = Evidence.of(clause_ids, corpus)
        _TASK_CHECKS[task](fields, evidence, clause_ids, thread, corpus)
    except _Rejected as rejected:
        return rejected.failure
    return None


# Shape ------------------------------------------------------------------------------------------


def _check_fields(task: str, fields: Fields) -> None:
    if problem := shape_problem(dict(fields), task_schema(task)):
        raise _Rejected("fields", problem)
    for name, value in fields.items():
        for text in _texts_of(value):
            if problem := text_problem(text, LIMITS.get(name, 2000)):
                raise _Rejected("text", f"{name} {problem}")
        if isinstance(value, list) and not 1 <= len(value) <= MOST_TEXTS:
            raise _Rejected("fields", f"{name} has {len(value)} entries")


def _texts_of(value: Any) -> list[str]:
    """The texts of a field, which may be one, several, or events with dates."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return [text for each in value for text in _texts_of(each)] if isinstance(value, list) else []


def _check_clauses(clause_ids: Sequence[str], corpus: Corpus) -> None:
    if not clause_ids:
        raise _Rejected("clauses", "no clause is cited")
    if len(set(clause_ids)) < len(clause_ids):
        raise _Rejected("clauses", "a clause is cited twice")
    for element_id in clause_ids:
        if element_id not in corpus:
            raise _Rejected("clauses", f"{element_id[:120]!r} does not exist")
        if not corpus[element_id].text.strip():
            raise _Rejected("clauses", f"{element_id} is empty")


# Comparing texts ----------------------------------------------------------------------------------

_EDGE = " \t\n.,;:!?।'\"“”‘’()[]{}*_`"
_LETTERS = "0-9A-Za-z\u0980-\u09ff"


def canonical(text: str) -> str:
    """A text as it is compared: dates as values, ASCII digits, small letters, single blanks."""
    spans: dict[tuple[int, int], list[str]] = {}
    for mention in mentions(text):
        spans.setdefault((mention.start, mention.end), []).append(mention.value)
    end = len(text)
    for start, stop in sorted(spans, reverse=True):
        if stop <= end:
            text, end = f"{text[:start]}{' '.join(spans[start, stop])}{text[stop:]}", start
    text = plain_digits(unicodedata.normalize("NFKC", text)).casefold()
    return " ".join(text.split()).strip(_EDGE)


def holds(text: str, part: str) -> bool:
    """Whether a text holds another one as whole words and whole numbers, compared canonically."""
    wanted = re.escape(canonical(part))
    found = re.search(
        rf"(?<![{_LETTERS}])(?<![0-9][.,]){wanted}(?![0-9A-Za-z])(?![.,][0-9])", canonical(text)
    )
    return found is not None


def duplicate_key(task: str, fields: Fields) -> str:
    """What two pairs of a thread may not share: the canonical texts that a model would see."""
    shown = []
    for name in TASKS[task].shown:
        texts = [canonical(text) for text in _texts_of(fields[name])]
        shown.append("\x1f".join(sorted(texts)))
    return "\x1e".join([task, *shown])


# Grounding ----------------------------------------------------------------------------------------


def _ground(texts: Iterable[str], evidence: Evidence, allowed: Facts | None = None) -> None:
    """Every value of the texts must stand in the evidence, or among the allowed ones."""
    given = allowed or Facts()
    known = evidence.facts.union(given)
    dates = evidence.dates | with_bangla(given.dates)
    for text in texts:
        facts = facts_of(text)
        if facts.wrong_dates:
            raise _Rejected("dates", f"{facts.wrong_dates[0][:80]!r} is no date")
        for value in sorted(facts.dates):
            if not _date_is_known(value, dates, known):
                raise _Rejected("dates", f"{value} is not in the cited clauses")
        for number, year in sorted(facts.instruments - known.instruments):
            raise _Rejected("instruments", f"number {number} of {year} is not in the cited clauses")
        for kind, own, others in (
            ("percent", facts.rates, known.rates | known.numbers | known.spelled),
            ("as an amount", facts.amounts, known.amounts | known.numbers | known.spelled),
        ):
            for rate in sorted(own - others):
                raise _Rejected("rates", f"{_short(rate)} {kind} is not in the cited clauses")
        _check_numbers(facts, known, dates)


def _date_is_known(value: str, dates: Iterable[str], known: Facts) -> bool:
    """A day, month or year is known when a date as fine or finer has it; a year also by itself."""
    if any(day == value or day.startswith(f"{value}-") for day in dates):
        return True
    if len(value) > 4:
        return False
    return Decimal(value) in known.numbers or int(value) in {year for _, year in known.instruments}


def _check_numbers(facts: Facts, known: Facts, dates: Iterable[str]) -> None:
    codes = known.codes
    for code in sorted(facts.codes):
        if not any(other == code or other.startswith(f"{code}.") for other in codes):
            raise _Rejected("numbers", f"{code[:40]} is not in the cited clauses")
    everywhere = known.numbers | known.rates | known.amounts | known.spelled | known.enumerators
    for number in sorted(facts.numbers - everywhere):
        if number == number.to_integral_value():
            if number < LEAST_NUMBER:
                continue
            if number < 10_000 and _date_is_known(f"{int(number):04d}", dates, known):
                continue
        if not any(other.startswith(f"{number}.") for other in codes):
            raise _Rejected("numbers", f"{_short(number)} is not in the cited clauses")


def _short(number: Decimal) -> str:
    return f"{number:f}"[:40]


# The tasks ----------------------------------------------------------------------------------------


def _check_mcq(fields: Fields, evidence: Evidence, *_: Any) -> None:
    options = [canonical(option) for option in fields["options"]]
    if len(options) != OPTIONS or not all(options):
        raise _Rejected("options", f"{len(options)} options with a text, {OPTIONS} needed")
    if len(set(options)) < OPTIONS:
        raise _Rejected("options", "two options say the same")
    if not 0 <= fields["answer_index"] < OPTIONS:
        raise _Rejected("options", f"answer_index {fields['answer_index']!s:.20} names no option")
    if canonical(fields["answer"]) != options[fields["answer_index"]]:
        raise _Rejected("options", "answer is not the option that answer_index names")
    _ground([fields["answer"]], evidence)


def _check_sorting(fields: Fields, evidence: Evidence, *_: Any) -> None:
    shuffled = [canonical(event) for event in fields["events_shuffled"]]
    ordered = [canonical(each["event"]) for each in fields["answer_ordered"]]
    if not FEWEST_EVENTS <= len(shuffled) <= MOST_EVENTS:
        raise _Rejected(
            "events", f"{len(shuffled)} events, {FEWEST_EVENTS} to {MOST_EVENTS} needed"
        )
    if len(set(shuffled)) < len(shuffled) or not all(shuffled):
        raise _Rejected("events", "two events say the same")
    if sorted(shuffled) != sorted(ordered):
        raise _Rejected("events", "the ordered events are not the shuffled ones")
    if shuffled == ordered:
        raise _Rejected("events", "the events stand in their order already")
    for event in fields["events_shuffled"]:
        if words := date_words(event):
            raise _Rejected("events", f"an event tells a time: {words[0][:80]!r}")
    dates = [each["date"] for each in fields["answer_ordered"]]
    for value in dates:
        if not _is_day(value):
            raise _Rejected("events", f"{value[:40]!r} is no date YYYY-MM-DD")
    if dates != sorted(set(dates)):
        raise _Rejected("events", "the dates are not distinct, or not in the order of the events")
    for value in dates:
        if value not in evidence.dates:
            raise _Rejected("dates", f"{value} is not in the cited clauses")
    _ground(fields["events_shuffled"], evidence)


def _is_day(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def _check_perturbation(fields: Fields, evidence: Evidence, *_: Any) -> None:
    wrong, right, statement = fields["perturbed_fact"], fields["correct_fact"], fields["statement"]
    if not fields["is_perturbed"]:
        if wrong is not None:
            raise _Rejected("perturbation", "a right statement has a perturbed_fact")
        _ground([statement, fields["answer"], *([right] if right else [])], evidence)
        return
    if not wrong or not right or not canonical(wrong) or not canonical(right):
        raise _Rejected("perturbation", "a wrong statement needs perturbed_fact and correct_fact")
    if canonical(wrong) == canonical(right):
        raise _Rejected("perturbation", "perturbed and correct fact are the same")
    if not holds(statement, wrong):
        raise _Rejected("perturbation", "the perturbed fact is not in the statement")
    if holds(statement, right):
        raise _Rejected("perturbation", "the correct fact is in the statement")
    _ground([right], evidence)
    _ground([fields["answer"]], evidence, facts_of(wrong))
    # Only one fact may be wrong: all other values of the statement must be borne out.
    _ground([statement], evidence, facts_of(wrong))


def _check_scenario(fields: Fields, evidence: Evidence, *_: Any) -> None:
    scenario, answer = fields["scenario"], fields["answer"]
    if shared := facts_of(answer).asked & facts_of(scenario).values:
        kind, value = min(shared, key=str)
        raise _Rejected("scenario", f"the scenario shows the {kind} {value!s:.40} of the answer")
    if holds(scenario, answer):
        raise _Rejected("scenario", "the scenario holds the answer")
    source = facts_of(fields["date_or_instrument"])
    if not (source.dates or source.instruments or years_in(fields["date_or_instrument"])):
        raise _Rejected("scenario", "date_or_instrument names neither a date nor an instrument")
    _ground([answer, fields["date_or_instrument"]], evidence)


def _check_temporal_scenario(
    fields: Fields, evidence: Evidence, clause_ids: Sequence[str], _: Thread, corpus: Corpus
) -> None:
    if holds(fields["scenario"], fields["answer"]):
        raise _Rejected("scenario", "the scenario holds the answer")
    if len({corpus.date(element_id) for element_id in clause_ids} - {""}) < 2:
        raise _Rejected("time_span", "the cited clauses are not of two dates")
    if len({canonical(text) for text in fields["clauses_involved"]}) < 2:
        raise _Rejected("time_span", "clauses_involved names fewer than two")
    _ground([fields["answer"], *fields["clauses_involved"]], evidence)


def _check_relative(
    fields: Fields, evidence: Evidence, _: Sequence[str], thread: Thread, __: Corpus
) -> None:
    question, answer = fields["question"], fields["answer"]
    start = start_of(fields["seed_time"])
    offsets = offsets_in(fields["relative_offset"])
    if start is None or len(offsets) != 1:
        raise _Rejected("relative_time", "no starting date, or not one relative offset")
    if not _names(question, start.value):
        raise _Rejected("relative_time", f"the question does not state the start {start.value}")
    if offsets[0] not in offsets_in(question):
        raise _Rejected("relative_time", "the question does not state the offset")
    value = target(start.value, offsets[0])
    days = on_timeline(value, (step["date"] for step in thread.timeline)) if value else []
    if value is None or not days:
        raise _Rejected("relative_time", f"{value or 'the target'} is no date of the timeline")
    if told := _target_told(question, value, days, start.value):
        raise _Rejected("relative_time", f"the question names its target: {told}")
    if not any(_names(answer, day) for day in days):
        raise _Rejected("relative_time", f"the answer does not name {value}")
    _ground(
        [answer], evidence, facts_of(fields["seed_time"]).union(facts_of(fields["relative_offset"]))
    )


def _names(text: str, value: str) -> bool:
    """Whether a text states a date, finer or coarser; its year alone will do."""
    stated = {mention.value for mention in mentions(text)}
    if any(value.startswith(each) or each.startswith(value) for each in stated):
        return True
    return not any(len(each) > 4 for each in stated) and int(value[:4]) in years_in(text)


def _target_told(question: str, value: str, days: Sequence[str], start: str) -> str:
    """What of the question gives the target away; empty when nothing does."""
    shown = years_in(question)
    years = [(value[:4], start[:4])]
    years += [(_bangla_year(day), _bangla_year(start)) for day in days]
    for year, own in years:
        if year and year != own and int(year) in shown:
            return year
    if value[:4] == start[:4]:
        for mention in mentions(question):
            if mention.value.startswith(value) and not start.startswith(mention.value):
                return mention.value
    return ""


def _bangla_year(value: str) -> str:
    """Bangla year of a Gregorian day; empty for a month or year, which lies in two."""
    if len(value) < 10:
        return ""
    try:
        return str(from_gregorian(date.fromisoformat(value)).year)
    except CalendarRangeError:
        return ""


def _check_open(fields: Fields, evidence: Evidence, *_: Any) -> None:
    _ground([fields["answer"]], evidence)


def _check_misalignment(fields: Fields, evidence: Evidence, *_: Any) -> None:
    context, answer = fields["misaligned_context"], fields["answer"]
    if holds(answer, context) or holds(context, answer):
        raise _Rejected("misalignment", "the misaligned context says what the answer says")
    if any(holds(text, context) for text in evidence.texts):
        raise _Rejected("misalignment", "the misaligned context stands in a cited clause")
    _ground([answer, fields["conflict"]], evidence, facts_of(context))


_TaskCheck = Callable[[Fields, Evidence, Sequence[str], Thread, Corpus], None]
_TASK_CHECKS: dict[str, _TaskCheck] = {
    "temporal_mcq": _check_mcq,
    "event_sorting": _check_sorting,
    "perturbation_detection": _check_perturbation,
    "scenario_short_answer": _check_scenario,
    "temporal_scenario_short_answer": _check_temporal_scenario,
    "relative_time_qa": _check_relative,
    "open_ended": _check_open,
    "context_misalignment": _check_misalignment,
}
