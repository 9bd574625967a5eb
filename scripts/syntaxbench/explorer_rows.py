"""SyntaxBench for the explorer: facets, titles and gold answers of its items."""

from __future__ import annotations

from scripts.publishing.explorer.rows import Adapter, BenchmarkRow, ItemRow
from scripts.records import Item, Request
from scripts.syntaxbench.examples import question
from scripts.syntaxbench.tasks import CONDITIONS

DETAILS = {
    "relaxed": "right within the tolerance",
    "delta": "parsed − gold",
    "completion_tokens": "completion tokens",
    "reasoning_tokens": "reasoning tokens",
}
HEADER = BenchmarkRow(
    "syntaxbench",
    "SyntaxBench",
    {
        "condition": {"label": "Condition", "values": {name: name for name in CONDITIONS}},
        "shots": {"label": "Demonstrations", "values": {}},
    },
)


def item_rows(item: Item) -> list[ItemRow]:
    """The item as the explorer shows it."""
    gold = str(item.gold["answer"])
    facets = {"condition": str(item.factors["condition"])}
    return [ItemRow(item.item_id, item.task, question(item), gold, facets, dict(item.source))]


def setting(request: Request) -> dict[str, str]:
    """How many demonstrations a request shows."""
    return {"shots": str(request.setting["shots"])}


ADAPTER = Adapter(HEADER, item_rows, setting, DETAILS)
