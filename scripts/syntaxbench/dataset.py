"""The items as a data set for others: flat JSONL per task, licences, and a Croissant record.

Croissant: https://docs.mlcommons.org/croissant/docs/croissant-spec.html (version 1.0). No date
stands in the record, so the same items give the same bytes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import mlcroissant as mlc

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


def _columns(task: Task) -> dict[str, Any]:
    """Column name to Croissant data type."""
    text, integer = mlc.DataType.TEXT, mlc.DataType.INTEGER
    columns = dict.fromkeys(("item_id", "split", "condition", "corpus", "pair"), text)
    columns["answer"] = integer if task.kind == "integer" else text
    for name in task.inputs:
        columns[name] = integer if name in _INTEGERS else text
    if not task.core:
        columns |= {"source_document": text, "source_title": text, "source_visit": integer}
    return columns


def _record_set(task: Task) -> mlc.RecordSet:
    file = f"{task.name}.jsonl"
    fields = [
        mlc.Field(
            id=f"{task.name}/{column}",
            name=column,
            data_types=[kind],
            is_array=column in _LISTS or None,
            array_shape="-1" if column in _LISTS else None,
            source=mlc.Source(file_object=file, extract=mlc.Extract(column=column)),
        )
        for column, kind in _columns(task).items()
    ]
    return mlc.RecordSet(
        id=task.name,
        name=task.name,
        description=f"{task.group}: {task.description}; answer: {task.output}.",
        fields=fields,
    )


def croissant(
    files: Mapping[str, bytes], corpora: Mapping[str, Mapping[str, Any]], seed: int
) -> dict[str, Any]:
    """The Croissant record (JSON-LD) of the files `{task}.jsonl`, given with their bytes.

    `corpora` are the configuration's entries by role: their licences are the data set's.
    """
    tasks = [task for name, task in TASKS.items() if f"{name}.jsonl" in files]
    record = mlc.Metadata(
        name=NAME,
        description=f"{DESCRIPTION} Seed {seed}.",
        version=VERSION,
        license=sorted({str(entry["licence"]) for entry in corpora.values()}),
        conforms_to=["http://mlcommons.org/croissant/1.0"],
        in_language=["en"],
        distribution=[
            mlc.FileObject(
                id=f"{task.name}.jsonl",
                name=f"{task.name}.jsonl",
                content_url=f"{task.name}.jsonl",
                content_size=f"{len(files[f'{task.name}.jsonl'])} B",
                encoding_formats=["application/jsonlines"],
                sha256=hashlib.sha256(files[f"{task.name}.jsonl"]).hexdigest(),
            )
            for task in tasks
        ],
        record_sets=[_record_set(task) for task in tasks],
    )
    out: dict[str, Any] = record.to_json()
    return out


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
    for role, entry in sorted(corpora.items()):
        lines.append(
            f"- **{entry['label']}** ({role}): {entry['licence']}. {entry['attribution']}."
        )
        address = entry.get("url") or entry.get("mediawiki", {}).get("api")
        if address:
            lines.append(f"  Source: <{address}>")
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
