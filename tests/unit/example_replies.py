"""Replies of a small run, hostile ones among them, as the table of examples reads them."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from scripts import files
from scripts.publishing.captions import Context
from scripts.records import Item, Request, Response
from scripts.syntaxbench.scoring import score_responses, scores_to_frame

HOSTILE = [
    r"\input{/etc/passwd} 100% of _it_ \write18{touch owned}",
    "<script>alert(1)</script> ]]> &amp; ' \"",
    "bidi \u202e\u2066 nul \x00 lone \ud800 line \u2028 end",
    "😀😀😀😀😀😀😀😀😀😀😀😀",
    "=HYPERLINK(1)\n| a & b \\\\ \\end{document}",
    "",
]


class Run:
    """A roster on two items a task; all configurations but the last reply with hostile text."""

    def __init__(self, folder: Path, params: dict[str, Any]) -> None:
        self.folder = folder
        self.params = params
        self.context = Context.from_params(self.params)
        self.items = [item for task in self.context.tasks for item in items_of(task)]
        self.requests = [Request.create(i.item_id, {"shots": 4}, [], {}) for i in self.items]
        runs = [(model.key, mode) for model, mode in self.context.configurations]
        self.responses = {
            run: [self.response(*run, n, right=run == runs[-1]) for n in range(12)] for run in runs
        }
        self.scores = scores_to_frame(
            [
                score
                for replies in self.responses.values()
                for score in score_responses(self.items, self.requests, replies)
            ]
        )

    def response(self, model: str, mode: str, number: int, *, right: bool) -> Response:
        request, item = self.requests[number], self.items[number]
        text = HOSTILE[number // 2] + (' {"result": "x"}' if number // 2 == 3 else "")
        if right:
            text = json.dumps({"result": item.gold["answer"]})
        return Response(
            request.request_id,
            request.item_id,
            model,
            mode,
            text,
            "stop",
            {},
            "b",
            "1",
            1,
        )

    def write(self) -> SimpleNamespace:
        """The files that the rule reads, and its job."""
        files.write_records(self.folder / "items.jsonl", self.items)
        files.write_parquet(self.folder / "scores.parquet", self.scores)
        paths = []
        for (model, mode), rows in self.responses.items():
            paths.append(self.folder / f"{model}.{mode}.jsonl")
            files.write_records(paths[-1], rows)
        output = {end: self.folder / f"examples.{end}" for end in ("tex", "csv", "html")}
        return SimpleNamespace(
            input=SimpleNamespace(
                scores=self.folder / "scores.parquet",
                item_files=[self.folder / "items.jsonl"],
                responses=paths,
            ),
            output=SimpleNamespace(**output),
            params=SimpleNamespace(context=self.params),
        )


def items_of(task: str) -> list[Item]:
    inputs: dict[str, Any] = {
        "count_chars": {"string": r"\input{x}"},
        "letter_container": {"string": "apple", "letter": "Q"},
        "palindrome_test": {"string": "level"},
        "edit_distance": {"first": "kitten", "second": "sitting"},
        "longest_string_finder": {"strings": ["a", "bbb", "cc"]},
        "index_to_span": {"document": "<b>" + "word " * 50, "start": 3, "end": 7},
    }[task]
    gold = {
        "count_chars": 9,
        "letter_container": "no",
        "palindrome_test": "yes",
        "edit_distance": 3,
        "longest_string_finder": "bbb",
        "index_to_span": "word",
    }[task]
    return [
        Item.create("syntaxbench", task, {"condition": c}, inputs, {"answer": gold}, {})
        for c in ("english", "random")
    ]
