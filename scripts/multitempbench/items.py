"""Items: every seed question in every language and date format, with the gold answer's wordings.

A question that cannot be written in some format (a date that the format's calendar cannot name)
yields no item there and one `unbuilt` row, so that the design's holes are counted. Paper: section 3
and table 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from scripts.dates import formats
from scripts.dates.calendars import CalendarRangeError
from scripts.dates.formats import Options, Written
from scripts.dates.language_files import named
from scripts.dates.languages import LANGUAGES
from scripts.dates.signs import ASCII_DIGITS, DIGITS
from scripts.files import DataError
from scripts.judging import answer_words
from scripts.multitempbench.questions import PLACEHOLDER, SeedQuestion
from scripts.multitempbench.translation_rows import Translation
from scripts.records import Item

BENCHMARK = "multitempbench"
#: Columns of the table of what was not built.
UNBUILT_COLUMNS = ("question_id", "language", "format", "reason")
#: Reasons in that table.
DATE_OUTSIDE, ANSWER_OUTSIDE = "date_outside_calendar", "answer_outside_calendar"


@dataclass(frozen=True)
class Built:
    """Items in the order question, language, format; and a row for each that could not be built."""

    items: list[Item]
    unbuilt: list[dict[str, str]]


def build_items(
    questions: Sequence[SeedQuestion],
    translations: Mapping[str, Sequence[Translation]],
    task: str,
    *,
    languages: Sequence[str],
    forms: Sequence[str],
    options: Options,
) -> Built:
    """Items of one task; `translations` maps a language to its rows.

    Raises DataError for a question without its translation and for a written date that its strict
    reader does not read back.
    """
    texts = {
        language: {row.question_id: row for row in translations.get(language, ())}
        for language in languages
    }
    built = Built([], [])
    for question in (question for question in questions if question.task == task):
        for language in languages:
            translated = texts[language].get(question.question_id)
            if translated is None:
                raise DataError(
                    f"question {question.question_id} has no {language} translation; translate "
                    "the questions again"
                )
            for form in forms:
                reason = unwritable(question, language, form, options)
                if reason:
                    row = (question.question_id, language, form, reason)
                    built.unbuilt.append(dict(zip(UNBUILT_COLUMNS, row, strict=True)))
                else:
                    built.items.append(build_item(question, translated, form, options))
    return built


def unwritable(question: SeedQuestion, language: str, form: str, options: Options) -> str:
    """Why a question has no item in a format: a date or the answer is outside its calendar."""
    asked = [date.fromisoformat(text) for text in question.dates]
    for days, reason in ((asked, DATE_OUTSIDE), (answer_days(question), ANSWER_OUTSIDE)):
        try:
            for day in days:
                formats.write(day, language, form, options)
        except CalendarRangeError:
            return reason
    return ""


def answer_days(question: SeedQuestion) -> list[date]:
    """The days of the right answers; none where the answer is no date."""
    if question.answer["kind"] not in ("date", "date_time"):
        return []
    return [datetime.fromisoformat(value).date() for value in accepted_values(question)]


def accepted_values(question: SeedQuestion) -> list[str]:
    """Every right value as canonical text, the answer itself first."""
    answer = question.answer
    values = [answer["value"], *answer.get("accepted", [])]
    return list(dict.fromkeys(str(value) for value in values))


def build_item(
    question: SeedQuestion, translated: Translation, form: str, options: Options
) -> Item:
    """One question in one language and format."""
    language = translated.language
    written = [
        write_checked(date.fromisoformat(text), language, form, options) for text in question.dates
    ]
    sources = {each.calendar_source for each in written}
    factors = {
        "language": language,
        "format": form,
        "calendar": written[0].calendar,
        # Of two Hijri tables the fallback is the one to know of.
        "calendar_source": "tabular_civil" if "tabular_civil" in sources else min(sources),
    }
    inputs = {
        "question": fill(translated.text, written, question.times),
        "dates": [
            {"iso": iso, "text": each.text, "calendar_source": each.calendar_source}
            for iso, each in zip(question.dates, written, strict=True)
        ],
        "times": list(question.times),
        "operation": question.operation,
    }
    source = {
        "question_id": question.question_id,
        "name": question.source["name"],
        "row": question.source["row"],
        "translator": translated.translator,
    }
    gold = gold_answer(question, language, options)
    return Item.create(BENCHMARK, question.task, factors, inputs, gold, source)


def write_checked(day: date, language: str, form: str, options: Options) -> Written:
    """A written date that its strict reader reads back as the same day; DataError otherwise."""
    written = formats.write(day, language, form, options)
    found = formats.read(written.text, language, form, options)
    if found != day:
        raise DataError(
            f"{day} is written {written.text!r} ({language}, {form}), which reads as {found}: "
            f"correct forms.{form} in {named(language)}"
        )
    return written


def fill(text: str, written: Sequence[Written], times: Sequence[str]) -> str:
    """The text with its placeholders replaced, from right to left by their character spans.

    What is put in is never read as a placeholder itself.
    """
    values = {f"d{n}": each.text for n, each in enumerate(written, 1)}
    values |= {f"t{n}": each for n, each in enumerate(times, 1)}
    for match in reversed(list(PLACEHOLDER.finditer(text))):
        name = match[1] + match[2]
        if name not in values:
            raise DataError(f"{text!r}: nothing stands for {match[0]}; correct the translation")
        text = text[: match.start()] + values[name] + text[match.end() :]
    return text


# Gold answers -------------------------------------------------------------------------------------


def gold_answer(question: SeedQuestion, language: str, options: Options) -> dict[str, Any]:
    """`answer`, `kind`, `accepted`, `unit` and `aliases`.

    `unit` is one of `answer_words.UNITS`, or null: for other kinds of answer, and for numbers that
    are no amount of time, such as the number of a year. Aliases are strings in which a person may
    write a right value in the item's language.
    """
    answer = question.answer
    accepted = accepted_values(question)
    kind, unit = answer["kind"], answer.get("unit")
    unit = unit if unit in answer_words.UNITS else None
    spelled = (
        text for value in accepted for text in wordings(kind, value, unit, language, options)
    )
    return {
        "answer": accepted[0],
        "kind": kind,
        "accepted": accepted,
        "unit": unit,
        "aliases": list(dict.fromkeys(spelled)),
    }


def wordings(
    kind: str, value: str, unit: str | None, language: str, options: Options
) -> Iterator[str]:
    """Ways of writing one canonical value in a language, the canonical one among them."""
    if kind == "date":
        yield from formats.aliases(date.fromisoformat(value), language, options)
    elif kind == "date_time":
        yield from _date_time_wordings(datetime.fromisoformat(value), language, options)
    elif kind == "relation":
        yield from answer_words.relation_words(language, value)
    elif kind == "yes_no":
        yield from answer_words.yes_no_words(language, value)
    else:
        yield from _number_wordings(value, unit, language)


def _date_time_wordings(moment: datetime, language: str, options: Options) -> Iterator[str]:
    known = LANGUAGES[language]
    clock = f"{moment:%H:%M}"
    halves = known.twelve_hour_clock
    yield moment.isoformat(timespec="minutes")
    for text in formats.aliases(moment.date(), language, options):
        yield f"{text} {clock}"
        if known.spaced:
            yield f"{clock} {text}"
        if halves:
            half = halves[0] if moment.hour < 12 else halves[1]
            yield f"{text} {(moment.hour - 1) % 12 + 1}:{moment:%M} {half}"


def _number_wordings(value: str, unit: str | None, language: str) -> Iterator[str]:
    own = LANGUAGES[language].forms["long"].digits
    digits = [value, value.translate(str.maketrans(ASCII_DIGITS, DIGITS[own]))]
    space = " " if LANGUAGES[language].spaced else ""
    for number in dict.fromkeys(digits):
        yield number
        for word in answer_words.unit_words(language, unit) if unit else ():
            yield f"{number}{space}{word}"
