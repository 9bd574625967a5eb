"""Reading FreshBench's forecasting questions as its crawler leaves them.

FreshBench: Zhu et al. 2024, github.com/FreedomIntelligence/FreshBench, the file
`GoodJudgeOpen_crawler/gjo.json`: in spite of its name one JSON object a line, with `Question`,
`Started_time`, `Closed_time` (dates), `choices` (list), `target` (the right choice, null where
none is marked), and further fields that are not read. Older versions put the sentence "This
Question is proposed on <date>." before the question, which is taken off here.

The format was read in the public repository at commit 67d1c5b7abed1d1020f52aa0592a7cef71a7bd25; the
reader is tested on a small file written by hand in that format, never on the whole download.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from scripts.files import DataError, iterate_jsonl

_TIMES = ("Started_time", "Closed_time")
_PROPOSED = re.compile(r"\AThis Question is proposed on \d{4}-\d{2}-\d{2}\.\s*")


@dataclass(frozen=True, slots=True)
class ForecastRow:
    """One forecasting question with its outcome; `target` is None where no choice is marked."""

    row: int
    question: str
    started: date
    closed: date
    choices: tuple[str, ...]
    target: str | None


def read_freshbench(path: Path | str) -> list[ForecastRow]:
    """All questions; DataError naming the line for one that lacks what the format has."""
    return [_row(number, row, f"{path}, line {number}") for number, row in iterate_jsonl(path)]


def _row(number: int, row: Mapping[str, Any], where: str) -> ForecastRow:
    question, choices, target = row.get("Question"), row.get("choices"), row.get("target")
    if not isinstance(question, str) or not question.strip():
        raise DataError(f"{where}: needs the text Question")
    if not isinstance(choices, list) or not all(isinstance(choice, str) for choice in choices):
        raise DataError(f"{where}: needs choices, a list of texts")
    if target is not None and target not in choices:
        raise DataError(f"{where}: target {target!r} is none of the choices")
    text = " ".join(_PROPOSED.sub("", question).split())
    started, closed = (_day(row.get(field), field, where) for field in _TIMES)
    return ForecastRow(number, text, started, closed, tuple(choices), target)


def _day(value: Any, field: str, where: str) -> date:
    try:
        return date.fromisoformat(str(value))
    except ValueError as error:
        raise DataError(f"{where}: {field} {value!r} is no date YYYY-MM-DD") from error
