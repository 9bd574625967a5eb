"""dataset.csv (table 2): pairs, threads, clauses and lengths of every task.

Input characters: all fields that a model is shown, lists joined by line breaks. Answer characters:
the gold answer; of an order, its events joined by line breaks. Both are code points, means over
pairs. `dated`: pairs whose gold answer states a date that the council must find. `unread`: pairs
about a document with a page that could not be read, which its readers lack.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from scripts.records import Item
from scripts.tide.rows import QuestionPair
from scripts.tide.tasks import TASKS

ALL = "all"
COLUMNS = (
    *("task", "pairs", "threads", "clusters", "clauses", "input_characters", "answer_characters"),
    *("dated", "unread"),
)


def _text(value: Any) -> str:
    return "\n".join(map(str, value)) if isinstance(value, list) else str(value)


def input_characters(pair: QuestionPair) -> int:
    """Code points of everything that a model is shown of a pair."""
    return sum(len(_text(pair.fields[name])) for name in TASKS[pair.task].shown)


def answer_characters(pair: QuestionPair) -> int:
    """Code points of the gold answer."""
    if pair.task == "event_sorting":
        return len(_text([event["event"] for event in pair.fields["answer_ordered"]]))
    return len(_text(pair.fields["answer"]))


def dataset_frame(pairs: Sequence[QuestionPair], items: Sequence[Item]) -> pd.DataFrame:
    """dataset.csv, one row a task and one for all."""
    unread = {str(item.source["question_id"]) for item in items if item.source["unread_pages"]}
    dated = {str(item.source["question_id"]) for item in items if item.gold.get("dates")}
    rows = []
    for task in (*TASKS, ALL):
        part = [pair for pair in pairs if task in (pair.task, ALL)]
        number = len(part)
        rows.append(
            {
                "task": task,
                "pairs": number,
                "threads": len({pair.thread_id for pair in part}),
                "clusters": len({pair.cluster_id for pair in part}),
                "clauses": len({clause for pair in part for clause in pair.clause_ids}),
                "input_characters": sum(map(input_characters, part)) / number if number else None,
                "answer_characters": sum(map(answer_characters, part)) / number if number else None,
                "dated": sum(pair.question_id in dated for pair in part),
                "unread": sum(pair.question_id in unread for pair in part),
            }
        )
    return pd.DataFrame(rows, columns=list(COLUMNS))
