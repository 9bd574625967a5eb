"""MultiTempBench for the explorer: facets, titles, gold answers and verdicts."""

from __future__ import annotations

from typing import Any

from scripts.multitempbench.tasks import LANGUAGE_LABELS, TASKS
from scripts.multitempbench.wording import CALENDAR_LABELS, FORMAT_LABELS
from scripts.publishing.explorer.rows import Adapter, BenchmarkRow, ItemRow
from scripts.records import Item, Judgement, Request

DETAILS = {
    "judge": "judge that counts",
    "verdict": "verdict",
    "completion_tokens": "completion tokens",
    "reasoning_tokens": "reasoning tokens",
}
HEADER = BenchmarkRow(
    "multitempbench",
    "MultiTempBench",
    {
        "task": {"label": "Task", "values": {name: task.label for name, task in TASKS.items()}},
        "language": {"label": "Language", "values": LANGUAGE_LABELS},
        "format": {"label": "Date format", "values": FORMAT_LABELS},
        "calendar": {"label": "Calendar", "values": CALENDAR_LABELS},
        "source": {"label": "Source", "values": {}},
    },
)


def item_rows(item: Item) -> list[ItemRow]:
    """The item as the explorer shows it."""
    facets = {name: str(item.factors[name]) for name in ("language", "format", "calendar")}
    gold = {
        "accepted": ", ".join(map(str, item.gold["accepted"])),
        "kind": item.gold["kind"],
        "seed question": item.source["question_id"],
        "translator": item.source["translator"],
    }
    return [
        ItemRow(
            item.item_id,
            item.task,
            str(item.inputs["question"]),
            str(item.gold["answer"]),
            {**facets, "source": str(item.source["name"])},
            gold,
            facets["language"],
        )
    ]


def vote(judgement: Judgement) -> tuple[str, dict[str, Any]]:
    """A judge's verdict, and how it was reached."""
    answers = judgement.answers
    verdict = answers.get("verdict")
    words = "no verdict" if verdict is None else str(verdict).replace("_", " ")
    return words, {name: answers.get(name) for name in ("parsed", "route", "reason")}


def setting(_request: Request) -> dict[str, str]:
    """Every item is asked in one setting."""
    return {}


ADAPTER = Adapter(HEADER, item_rows, setting, DETAILS, vote)
