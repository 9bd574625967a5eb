"""The items as a data set for others: flat JSONL per task, licences, and a Croissant record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scripts.publishing.croissant import Column, DataSet, Table, licence_lines, licences, record
from scripts.records import Item
from scripts.syntaxbench.tasks import TASKS, Task, task_named

# Raise when the construction of items changes (semantic versioning).
VERSION = "1.0.0"
NAME = "SyntaxBench-items"
DESCRIPTION = (
    "Character-level questions with exact answers in six tasks, each asked of English text and of "
    "random strings of the same length; built by Tokens & Time."
)
SPLITS = ("test", "demonstration")

_INTEGERS = frozenset({"start", "end"})
_LISTS = frozenset({"strings"})


def flat_row(item: Item, split: str) -> dict[str, Any]:
    """One item as a flat row: id, split, condition, the task's inputs, answer, provenance."""
    row = {
        "item_id": item.item_id,
        "split": split,
        "condition": item.factors["condition"],
        "answer": item.gold["answer"],
        "corpus": item.source["corpus"],
        "pair": item.source["pair"],
    }
    for name in ("document", "title", "visit"):
        if name in item.source:
            row[f"source_{name}"] = item.source[name]
    return row | {name: item.inputs[name] for name in task_named(item.task).inputs}


def flat_rows(items: Sequence[Item], demonstrations: Sequence[Item]) -> list[dict[str, Any]]:
    """Rows of the test items, then of the demonstrations."""
    parts = zip(SPLITS, (items, demonstrations), strict=True)
    return [flat_row(item, split) for split, part in parts for item in part]


def _table(task: Task) -> Table:
    columns = [Column(name) for name in ("item_id", "split", "condition", "corpus", "pair")]
    columns.append(Column("answer", "integer" if task.kind == "integer" else "text"))
    columns += [
        Column(name, "integer" if name in _INTEGERS else "text", name in _LISTS)
        for name in task.inputs
    ]
    if not task.core:
        columns += [Column("source_document"), Column("source_title")]
        columns.append(Column("source_visit", "integer"))
    description = f"{task.group}: {task.description}; answer: {task.output}."
    return Table(task.name, description, tuple(columns))


def croissant(
    files: Mapping[str, bytes], corpora: Mapping[str, Mapping[str, Any]], seed: int
) -> dict[str, Any]:
    """The Croissant record (JSON-LD) of the files `{task}.jsonl`, given with their bytes.

    `corpora` are the configuration's entries by role: their licences are the data set's.
    """
    data_set = DataSet(
        name=NAME,
        description=f"{DESCRIPTION} Seed {seed}.",
        version=VERSION,
        licences=licences(corpora),
        languages=["en"],
    )
    return record(data_set, [_table(task) for task in TASKS.values()], files)


def licence_note(
    corpora: Mapping[str, Mapping[str, Any]], rows: Sequence[Mapping[str, Any]]
) -> str:
    """LICENSES.md: licence, attribution and address of each source, and the documents quoted."""
    lines = [
        "# Licences of the sources",
        "",
        "Random strings are generated and carry no rights. The English side comes from:",
        "",
    ]
    lines += licence_lines(corpora)
    titles = sorted(
        {(row["source_title"], row["source_document"]) for row in rows if "source_title" in row}
    )
    if titles:
        lines += [
            "",
            "Documents quoted in index_to_span (title; id, with the revision for wikis):",
            "",
        ]
        lines += [f"- {title}; `{document}`" for title, document in titles]
    return "\n".join(lines) + "\n"
