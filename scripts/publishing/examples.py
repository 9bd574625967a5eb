"""What tables of examples share: finding records and showing foreign text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from scripts.files import DataError, iterate_jsonl
from scripts.publishing.tables import Cell
from scripts.publishing.text import shorten, visible
from scripts.records import Item, Record, RecordError, Response

R = TypeVar("R", bound=Record)

# The most characters of a foreign text that the CSV has.
CSV_CHARACTERS = 2000

# Why there is no answer, by the category of the score.
NO_ANSWER = {
    "blank": "no answer: the reply is blank",
    "inference_error": "no answer: the request failed",
    "truncated": "no answer: the reply was cut by the token limit",
    "unparsable": "no answer: none could be read",
    "not_run": "not run",
    "unjudged": "no judge gave a verdict",
}


def find(paths: Iterable[Path | str], kind: type[R], key: str, wanted: set[str]) -> list[R]:
    """The records of JSONL files whose `key` is wanted, read line by line.

    Raises DataError naming file and line for a row that is not such a record.
    """
    out = []
    for path in paths:
        for number, row in iterate_jsonl(path):
            if row.get(key) not in wanted:
                continue
            try:
                out.append(kind.from_json(row))
            except (RecordError, TypeError) as error:
                raise DataError(f"{path}, line {number}: {error}") from error
    return out


def with_replies(
    rows: Iterable[Mapping[str, Any]],
    item_files: Iterable[Path | str],
    response_files: Iterable[Path | str],
) -> list[tuple[Item, Response]]:
    """The item and the response of each score row (item_id, request_id, model, mode), in order.

    Raises DataError when the scores speak of an item or a response that is not in the files.
    """
    keys = [
        (str(r["item_id"]), (str(r["model"]), str(r["mode"]), str(r["request_id"]))) for r in rows
    ]
    items = {i.item_id: i for i in find(item_files, Item, "item_id", {item for item, _ in keys})}
    requests = {reply[2] for _, reply in keys}
    replies = {
        (r.model, r.mode, r.request_id): r
        for r in find(response_files, Response, "request_id", requests)
    }
    for item, (model, mode, request) in keys:
        if item not in items or (model, mode, request) not in replies:
            what = "response" if item in items else f"item {item}"
            raise DataError(
                f"{model} ({mode}), request {request}: no {what} in the files; score the responses "
                "again"
            )
    return [(items[item], replies[reply]) for item, reply in keys]


def text_cell(text: str, limit: int) -> Cell:
    """A cell with foreign text: the CSV's raw value and the shorter printed form, both visible."""
    seen = visible(text)
    return Cell(shorten(seen, CSV_CHARACTERS), shorten(seen, limit))


def no_reply(response: Response) -> str:
    """Why there is no text to show."""
    return "no reply: the request failed" if response.error else "the reply is blank"
