"""The items as a data set for others: flat JSONL per task, licences, and a Croissant record."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from scripts.publishing.croissant import Column, DataSet, Table, licence_lines, licences, record
from scripts.records import Item
from scripts.tide.tasks import TASKS, Task

# Raise when the construction of items changes (semantic versioning).
VERSION = "1.0.0"
NAME = "TIDE-items"
DESCRIPTION = (
    "Questions about rules that dated instruments amend, in eight tasks, each with its gold "
    "answer, the dates that the answer states, and the clauses that it rests on; built by Tokens "
    "& Time."
)
#: Texts are in English and Bengali, often in one sentence.
LANGUAGES = ("en", "bn")

_FIRST = (
    *("item_id", "task", "question_id", "thread", "cluster"),
    "origin",
)
_GOLD_COLUMNS: Mapping[str, tuple[Column, ...]] = {
    "temporal_mcq": (Column("answer_index", "integer"), Column("explanation")),
    "event_sorting": (Column("order", "integer", True), Column("event_dates", repeated=True)),
    "perturbation_detection": (
        *(Column("is_perturbed"), Column("perturbed_fact"), Column("correct_fact")),
    ),
    "scenario_short_answer": (Column("date_or_instrument"),),
    "temporal_scenario_short_answer": (Column("clauses_involved"),),
    "relative_time_qa": (Column("anchor"),),
    "open_ended": (),
    "context_misalignment": (Column("conflict"),),
}
_LISTS = ("options", "events_shuffled")


def columns(task: Task) -> tuple[Column, ...]:
    """The columns of a task's file: what identifies a row, what a model sees, what scoring sees."""
    return (
        *(Column(name) for name in _FIRST),
        *(Column(name, repeated=True) for name in ("clause_ids", "documents", "document_types")),
        *(Column(name, repeated=name in _LISTS) for name in task.shown),
        Column("answer"),
        Column("answer_dates", repeated=True),
        *_GOLD_COLUMNS[task.name],
    )


def _text(value: Any) -> str:
    """A value as text: empty where there is none, lists joined by semicolons."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return "; ".join(map(str, value)) if isinstance(value, list) else str(value)


def flat_row(item: Item) -> dict[str, Any]:
    """One item as a flat row with `columns` of its task; an absent value is an empty text."""
    values: dict[str, Any] = {
        "item_id": item.item_id,
        "task": item.task,
        "question_id": item.source["question_id"],
        "thread": item.source["thread_id"],
        "cluster": item.source["cluster_id"],
        "origin": item.source["origin"],
        "clause_ids": item.source["clause_ids"],
        "documents": item.source["documents"],
        "document_types": item.factors["document_types"],
        **item.inputs,
        "answer_dates": [date["value"] for date in item.gold["dates"]],
        **{name: value for name, value in item.gold.items() if name != "dates"},
    }
    out: dict[str, Any] = {}
    for column in columns(TASKS[item.task]):
        value = values[column.name]
        if column.repeated:
            out[column.name] = list(value)
        else:
            out[column.name] = int(value) if column.kind == "integer" else _text(value)
    return out


def croissant(files: Mapping[str, bytes], corpus: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """The Croissant record (JSON-LD) of the files `{task}.jsonl`, given with their bytes.

    `corpus` is the configuration's entry of the instruments: its licence is the data set's.
    """
    tables = [Table(name, f"Task: {task.label}.", columns(task)) for name, task in TASKS.items()]
    data_set = DataSet(
        name=NAME,
        description=f"{DESCRIPTION} Instruments: {corpus['label']}. Seed {seed}.",
        version=VERSION,
        licences=licences({"instruments": corpus}),
        languages=list(LANGUAGES),
    )
    return record(data_set, tables, files)


def licence_note(corpus: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> str:
    """LICENSES.md: the instruments that the questions quote, and who wrote the questions."""
    lines = ["# Licences of the sources", "", "The questions are about, and quote:", ""]
    lines += licence_lines({"instruments": corpus})
    lines += [
        "",
        "A question pair carries the licence of the instruments that it quotes; each row names "
        "them under `documents` and its clauses under `clause_ids`. Nothing here is legal advice.",
        "",
        "Question pairs by origin (items):",
        "",
    ]
    counts = Counter(str(row["origin"]) for row in rows)
    lines += [f"- {_origin(origin)} ({count})" for origin, count in sorted(counts.items())]
    return "\n".join(lines) + "\n"


def _origin(origin: str) -> str:
    return "from the file of shipped pairs" if origin == "shipped" else f"written by {origin}"
