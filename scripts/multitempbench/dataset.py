"""The items as a data set for others: flat JSONL per task, licences, and a Croissant record."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any

from scripts.files import parse_json
from scripts.multitempbench.recomputation import PRESENT_YEAR, standard_offset
from scripts.multitempbench.tasks import LANGUAGE_LABELS, TASKS
from scripts.publishing.croissant import Column, DataSet, Table, licence_lines, licences, record
from scripts.records import Item, canonical_json

# Raise when the construction of items changes (semantic versioning).
VERSION = "1.0.0"
NAME = "MultiTempBench-items"
DESCRIPTION = (
    "Questions about dates and times with exact answers in three tasks, each in several languages "
    "and in four written forms of its dates, two of them of the Hijri and the Chinese lunar "
    "calendar; built by Tokens & Time."
)

COLUMNS = (
    Column("item_id"),
    Column("question_id"),
    Column("language"),
    Column("format"),
    Column("calendar"),
    Column("calendar_source"),
    Column("question"),
    Column("dates", repeated=True),
    Column("dates_as_written", repeated=True),
    Column("times", repeated=True),
    Column("operation"),
    Column("answer_kind"),
    Column("answer"),
    Column("accepted", repeated=True),
    Column("unit"),
    Column("aliases", repeated=True),
    Column("source_name"),
    Column("source_row"),
    Column("translator"),
)


def flat_row(item: Item) -> dict[str, Any]:
    """One item as a flat row with COLUMNS; `operation` is JSON text, an absent unit empty."""
    dates = item.inputs["dates"]
    values = {
        "item_id": item.item_id,
        **{name: item.factors[name] for name in ("language", "format", "calendar")},
        "calendar_source": item.factors["calendar_source"],
        "question": item.inputs["question"],
        "dates": [each["iso"] for each in dates],
        "dates_as_written": [each["text"] for each in dates],
        "times": list(item.inputs["times"]),
        "operation": canonical_json(item.inputs["operation"]),
        "answer_kind": item.gold["kind"],
        "answer": str(item.gold["answer"]),
        "accepted": list(item.gold["accepted"]),
        "unit": item.gold["unit"] or "",
        "aliases": list(item.gold["aliases"]),
        "question_id": item.source["question_id"],
        "source_name": str(item.source["name"]),
        "source_row": str(item.source["row"]),
        "translator": item.source["translator"],
    }
    return {column.name: values[column.name] for column in COLUMNS}


def offset_words(rows: Iterable[Mapping[str, Any]]) -> str:
    """The offsets behind the golds of time-zone questions, each zone's once; empty without one.

    `rows` as of `flat_row`. The paper names no offsets; docs/curation.md has the evidence.
    """
    operations = [parse_json(row["operation"]) for row in rows]
    asked = [each for each in operations if each["kind"] == "time_zone"]
    if not asked:
        return ""
    zones = sorted({each[end] for each in asked for end in ("from", "to")})
    listed = ", ".join(f"{zone} {_signed(standard_offset(zone))}" for zone in zones)
    words = (
        f"Right answers of the time-zone questions follow the standard offsets of {PRESENT_YEAR}, "
        f"without daylight saving: {listed}."
    )
    if any(each["offsets"] != "standard" for each in asked):
        words += (
            " Where `operation` names local_mean_time, the source's answer follows what the tz "
            "database says for that day, and the standard offsets' answer is accepted beside it."
        )
    return words


def _signed(offset: timedelta) -> str:
    """An offset from UTC as +05:45 or -03:30."""
    minutes = round(offset.total_seconds() / 60)
    hours, rest = divmod(abs(minutes), 60)
    return f"{'-' if minutes < 0 else '+'}{hours:02d}:{rest:02d}"


def croissant(
    files: Mapping[str, bytes],
    rows: Iterable[Mapping[str, Any]],
    corpora: Mapping[str, Mapping[str, Any]],
    languages: Sequence[str],
    seed: int,
) -> dict[str, Any]:
    """The Croissant record (JSON-LD) of the files `{task}.jsonl`, given with their bytes and rows.

    `corpora` are the configuration's entries of the question sources: their licences are the data
    set's.
    """
    tables = [Table(name, task.description, COLUMNS) for name, task in TASKS.items()]
    data_set = DataSet(
        name=NAME,
        description=" ".join(filter(None, (f"{DESCRIPTION} Seed {seed}.", offset_words(rows)))),
        version=VERSION,
        licences=licences(corpora),
        languages=languages,
    )
    return record(data_set, tables, files)


def licence_note(
    corpora: Mapping[str, Mapping[str, Any]], rows: Sequence[Mapping[str, Any]]
) -> str:
    """LICENSES.md: the sources of the questions, and who translated them."""
    lines = ["# Licences of the sources", "", "The questions come from:", ""]
    lines += licence_lines(corpora)
    lines += [
        "",
        "Dates were rewritten and golds recomputed; a question's own row in its source stands in "
        "`source_row`. A translation carries the licence of the question that it translates.",
        "",
        "Translations by language and translator (items):",
        "",
    ]
    counts = Counter((row["language"], row["translator"]) for row in rows)
    for (language, translator), count in sorted(counts.items()):
        lines.append(f"- {LANGUAGE_LABELS[language]}: {translator} ({count})")
    return "\n".join(lines) + "\n"
