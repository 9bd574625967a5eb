"""Tables of accuracy: by language, and by language with format or task."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from scripts.multitempbench import wording
from scripts.multitempbench.tasks import TASKS
from scripts.multitempbench.wording import ALL, FORMAT_LABELS, language_name
from scripts.publishing.captions import Context, ModelInfo
from scripts.publishing.layouts import (
    INCOMPLETE_MARK,
    Frames,
    Lookup,
    by_model,
    caption,
    value_of,
    why_missing,
)
from scripts.publishing.tables import (
    Cell,
    Column,
    Link,
    Row,
    Table,
    is_missing,
    number,
    percent,
    rank_columns,
)

BENCHMARK: Link = (("benchmark", "multitempbench"),)
KEYS = ("model", "mode", "language", "task", "format")
EXTRA = (
    *("n", "questions", "unscored", "not_attempted_rate", "valid_response_rate"),
    "truncated_rate",
)
SHORT_TASKS = {"date_arithmetic": "arith.", "time_zone": "zone", "relation": "relation"}


def _of(**facets: str) -> Link:
    """The answers of a cell in the explorer; `all` names no facet."""
    return tuple((name, "" if value == ALL else value) for name, value in facets.items())


def accuracy_of(frames: Frames) -> Lookup:
    """`accuracy.csv` by model, mode, language, task, format."""
    return Lookup("accuracy", frames["accuracy"], KEYS)


def cell(model: ModelInfo, mode: str, row: Mapping[str, Any] | None) -> Cell:
    """Accuracy in percent with its interval; an incomplete cell is marked."""
    incomplete = "incomplete" in str(value_of(row, "flag"))
    return number(
        value_of(row, "accuracy"),
        percent,
        low=value_of(row, "low"),
        high=value_of(row, "high"),
        reason=why_missing(model, mode, row),
        mark=INCOMPLETE_MARK if incomplete else "",
        extra=tuple((name, value_of(row, name)) for name in EXTRA),
    )


def incomplete_note(rows: Iterable[Row]) -> list[str]:
    """The note on incomplete cells, where a table has any."""
    marked = any(INCOMPLETE_MARK in c.mark for row in rows for c in row.cells)
    words = (
        f"{INCOMPLETE_MARK} some rows are unscored, or a task or language of a mean is missing; "
        "the CSV file has the counts."
    )
    return [words] * marked


def truncated_note(rows: Iterable[Row]) -> list[str]:
    """How many replies of the models the token limit cut before an answer; none where it cut none.

    Read from the last column, the average.
    """
    found = [
        float(str(value))
        for row in rows
        if not row.baseline
        for name, value in row.cells[-1].extra
        if name == "truncated_rate" and not is_missing(value)
    ]
    if not found or max(found) == 0:
        return []
    return [
        "Replies that the token limit cut before an answer, which are not right: "
        f"{percent(min(found))} % to {percent(max(found))} % of a model's."
    ]


def average_words(context: Context) -> str:
    """What the mean of a language and the average are made of."""
    return (
        f"Accuracy of a language: unweighted mean over {len(context.tasks)} tasks, all formats "
        "together; average: unweighted mean over the languages."
    )


def accuracy(frames: Frames, context: Context) -> Table:
    """Table 3: accuracy by language with intervals, and the average."""
    lookup = accuracy_of(frames)
    places = [*wording.languages(context), ALL]
    columns = tuple(
        Column(
            place,
            "Average" if place == ALL else language_name(place),
            better="high",
            link=_of(language=place),
        )
        for place in places
    )

    def fill(model: ModelInfo, mode: str) -> Iterable[Cell]:
        for place in places:
            yield cell(model, mode, lookup.get(model.key, mode, place, ALL, ALL))

    rows = rank_columns(columns, by_model(context, wording.modes(context), fill))
    return Table(
        "accuracy",
        caption(
            context,
            f"Accuracy (%) by language; {wording.questions_words(context)}, judged by "
            f"{context.label(str(context.options['judge'])).replace('_', ' ')}.",
            average_words(context),
            "Bold: best model of a column; underlined: second.",
        ),
        ("Model",),
        columns,
        rows,
        (wording.interval_words(context), *truncated_note(rows), *incomplete_note(rows)),
        short_caption="Accuracy by language",
        link=BENCHMARK,
    )


def _by_language(
    name: str,
    frames: Frames,
    context: Context,
    places: Mapping[str, tuple[str, str]],
    words: tuple[str, str],
) -> Table:
    """A table of language x something; `places` maps a column title to (task, format)."""
    lookup = accuracy_of(frames)
    languages = wording.languages(context)
    columns = tuple(
        Column(
            f"{language}.{title}",
            title,
            language_name(language),
            better="high",
            link=_of(language=language, task=task, format=form),
        )
        for language in languages
        for title, (task, form) in places.items()
    )

    def fill(model: ModelInfo, mode: str) -> Iterable[Cell]:
        for language in languages:
            for task, form in places.values():
                found = cell(model, mode, lookup.get(model.key, mode, language, task, form))
                bounds = (("low", found.low), ("high", found.high))
                yield replace(
                    found, low=None, high=None, interval="", extra=(*bounds, *found.extra)
                )

    rows = rank_columns(columns, by_model(context, wording.modes(context), fill))
    return Table(
        name,
        caption(context, words[0], "Bold: best model of a column; underlined: second."),
        ("Model",),
        columns,
        rows,
        ("The CSV file has the bootstrap interval of every cell.", *incomplete_note(rows)),
        layout="landscape",
        size="scriptsize",
        short_caption=words[1],
        link=BENCHMARK,
    )


def accuracy_formats(frames: Frames, context: Context) -> Table:
    """Accuracy by language and written form of the date: what a calendar costs."""
    places = {FORMAT_LABELS[form]: (ALL, form) for form in wording.formats(context)}
    words = (
        "Accuracy (%) by language and written form of the date, unweighted mean over "
        f"{len(context.tasks)} tasks.",
        "Accuracy by language and written form",
    )
    return _by_language("accuracy_formats", frames, context, places, words)


def accuracy_tasks(frames: Frames, context: Context) -> Table:
    """Accuracy by language and task, all formats together."""
    places = {SHORT_TASKS[task]: (task, ALL) for task in context.tasks}
    names = "; ".join(f"{SHORT_TASKS[task]}: {TASKS[task].label.lower()}" for task in context.tasks)
    words = (
        f"Accuracy (%) by language and task, all formats together ({names}).",
        "Accuracy by language and task",
    )
    return _by_language("accuracy_tasks", frames, context, places, words)
