"""What tables of examples share: finding records and showing foreign text."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TypeVar

from scripts.files import DataError, iterate_jsonl
from scripts.publishing.tables import Cell
from scripts.publishing.text import shorten, visible
from scripts.records import Record, RecordError, Response

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


def text_cell(text: str, limit: int) -> Cell:
    """A cell with foreign text: the CSV's raw value and the shorter printed form, both visible."""
    seen = visible(text)
    return Cell(shorten(seen, CSV_CHARACTERS), shorten(seen, limit))


def no_reply(response: Response) -> str:
    """Why there is no text to show."""
    return "no reply: the request failed" if response.error else "the reply is blank"
