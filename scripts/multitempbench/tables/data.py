"""Tables about the data: written forms of a date, what the benchmark holds, what was dropped."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from typing import Any

from scripts.dates import formats as date_formats
from scripts.files import DataError, parse_json
from scripts.multitempbench.tasks import TASKS
from scripts.multitempbench.wording import (
    ALL,
    CALENDAR_LABELS,
    FORMAT_LABELS,
    language_name,
    languages,
)
from scripts.multitempbench.wording import (
    formats as formats_of,
)
from scripts.publishing import captions
from scripts.publishing.captions import Context
from scripts.publishing.layouts import Frames, caption, check_columns, rows_of
from scripts.publishing.tables import Cell, Column, Row, Table, absent, is_missing, whole

# The day of the paper's table 1.
EXAMPLE_DAY = date(2023, 7, 3)


def options_of(context: Context) -> date_formats.Options:
    """The choices about written dates that the run was configured with."""
    given = context.options.get("calendars", {})
    known = ("hijri_outside_range", "german_am", "hausa_hybrid")
    return date_formats.Options(**{name: given[name] for name in known if name in given})


def formats(frames: Frames, context: Context) -> Table:  # noqa: ARG001 - every builder has both
    """Table 1: the written forms of a date in every language, with the same day as example."""
    options = options_of(context)
    rows = []
    for language in languages(context):
        size = context.options["languages"][language]["corpus_gb"]
        for form in formats_of(context):
            written = date_formats.write(EXAMPLE_DAY, language, form, options)
            texts = (
                CALENDAR_LABELS[written.calendar],
                _pattern(language, form, options),
                written.text,
            )
            cells = [Cell(text, text) for text in texts]
            block = f"{language_name(language)} ({size:g} GB)"
            rows.append(Row((FORMAT_LABELS[form],), tuple(cells), block))
    return Table(
        "formats",
        caption(
            context,
            "Written forms of a date by language; all examples are the same day, "
            f"{EXAMPLE_DAY.isoformat()}.",
        ),
        ("Form",),
        (
            Column("calendar", "Calendar", align="l"),
            Column("pattern", "Pattern", align="l"),
            Column("example", "Example", align="l"),
        ),
        tuple(rows),
        (
            "Size: gigabytes of CommonCrawl-100 as the paper states them. Small LRM: a "
            "left-to-right mark (U+200E), which has no shape.",
            "The Hijri and lunar examples of the paper's table 1 are other days than its "
            "Gregorian ones; these are the converted day.",
        ),
        short_caption="Written forms of a date",
    )


#: How the table shows the places of a pattern; what a language's file says of it comes first.
_SHOWN = {
    "year:4": "YYYY",
    "year": "YYYY",
    "month:2": "MM",
    "month": "M",
    "month:name": "Month",
    "month:short": "Mon",
    "day:2": "DD",
    "day": "D",
    "day:ordinal": "ordinal",
}


def _pattern(language: str, form: str, options: date_formats.Options) -> str:
    chosen = date_formats.form_of(language, form, options)
    if chosen.shown:
        return chosen.shown
    return re.sub(
        r"\{([a-z:0-9_]+)\}", lambda place: _SHOWN.get(place[1], place[1]), chosen.pattern
    )


def dataset(frames: Frames, context: Context) -> Table:
    """Table 5: seed questions, variants and an example of each task."""
    frame = frames["dataset"]
    check_columns("dataset", frame, ("task", "questions", "items", "items_expected", "by_source"))
    rows = []
    for row in rows_of(frame):
        counts = [
            whole(row[name])
            for name in ("questions", "formats", "languages", "items", "items_expected")
        ]
        sources = _sources(str(row["by_source"]))
        texts = [
            absent("no single example")
            if is_missing(row[name])
            else Cell(row[name], str(row[name]))
            for name in ("example", "answer")
        ]
        total = row["task"] == ALL
        if total:
            texts = [Cell("", ""), Cell("", "")]
        cells = (*counts, Cell(sources, sources), *texts)
        name = "Total" if total else TASKS[str(row["task"])].label
        rows.append(Row((name,), cells))
    return Table(
        "dataset",
        caption(
            context,
            "What MultiTempBench holds: seed questions, each in every format and language, with "
            "one example.",
        ),
        ("Task",),
        (
            Column("questions", "Seeds", align="r"),
            Column("formats", "Formats", align="r"),
            Column("languages", "Languages", align="r"),
            Column("items", "Items", align="r"),
            Column("items_expected", "Planned", align="r"),
            Column("by_source", "Seeds by source", align="P{2.9cm}"),
            Column("example", "Example (English, ISO)", align="P{4.6cm}"),
            Column("answer", "Answer", align="P{1.9cm}"),
        ),
        tuple(rows),
        (
            "Planned: seeds x formats x languages. An item is left out where a calendar cannot "
            "name one of its dates.",
        ),
        size="scriptsize",
        short_caption="What MultiTempBench holds",
    )


def _text(value: object) -> Cell:
    return absent("no example") if is_missing(value) else Cell(str(value), str(value))


def _sources(text: str) -> str:
    try:
        found = parse_json(text)
    except ValueError as error:
        raise DataError(f"dataset.csv: by_source {text!r} is not JSON; compute it again") from error
    return ", ".join(f"{name} {captions.count(int(n))}" for name, n in sorted(found.items()))


def curation(frames: Frames, context: Context) -> Table:
    """What every filter of the curation kept and dropped, in the order of the filters."""
    frame = frames["curation"]
    check_columns("curation", frame, ("source", "task", "step", "kept", "dropped", "reason"))
    rows = []
    for row in rows_of(frame):
        stub = str(row["step"]).replace("_", " ")
        reason = "" if is_missing(row["reason"]) else str(row["reason"])
        cells = (whole(row["kept"]), whole(row["dropped"]), Cell(reason, reason))
        rows.append(Row((stub,), cells, _curation_block(row)))
    return Table(
        "curation",
        caption(
            context,
            "Questions that each step of the curation kept and dropped, by source and task.",
        ),
        ("Step",),
        (
            Column("kept", "Kept", align="r"),
            Column("dropped", "Dropped", align="r"),
            Column("reason", "Why dropped", align="P{9cm}"),
        ),
        tuple(rows),
        layout="long" if len(rows) > 36 else "portrait",
        stub_align="P{3.6cm}",
        short_caption="What the curation kept and dropped",
    )


def _curation_block(row: Mapping[str, Any]) -> str:
    parts = [str(row[name]) for name in ("source", "task") if not is_missing(row[name])]
    labels = {task: info.label for task, info in TASKS.items()}
    return ", ".join(labels.get(part, part.replace("_", " ")) for part in parts)
