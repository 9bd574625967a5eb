"""Reading the arithmetic set of Test of Time as downloaded: one JSON list.

Test of Time: Fatemi et al. 2024, huggingface.co/datasets/baharef/ToT. The label of a question is a
JSON object in a string, most often written as a Python dictionary with single quotes.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scripts.files import DataError, parse_json, read_json

_FIELDS = ("question_type", "question", "label")
# Labels have 20 to 120 characters; a literal parser must not be fed a book.
_LABEL_LIMIT = 10_000


@dataclass(frozen=True, slots=True)
class TestOfTimeRow:
    """One question. `row` counts from 1; `label` is the answer's JSON object."""

    __test__ = False

    row: int
    question_type: str
    question: str
    label: dict[str, Any]


def read_test_of_time(path: Path | str) -> list[TestOfTimeRow]:
    """All questions; DataError naming the row for one that does not have the expected fields."""
    rows = read_json(path)
    if not isinstance(rows, list):
        raise DataError(f"{path}: expected a list of questions, found {type(rows).__name__}")
    return [_row(number, row, f"{path}, row {number}") for number, row in enumerate(rows, start=1)]


def _row(number: int, row: Any, where: str) -> TestOfTimeRow:
    if not isinstance(row, Mapping) or not all(isinstance(row.get(f), str) for f in _FIELDS):
        raise DataError(f"{where}: needs the texts {', '.join(_FIELDS)}; fetch the file again")
    return TestOfTimeRow(number, row["question_type"], row["question"], _label(row["label"], where))


def _label(text: str, where: str) -> dict[str, Any]:
    """The label's object: JSON, or a Python literal, which holds values only and runs nothing."""
    if len(text) > _LABEL_LIMIT:
        raise DataError(f"{where}: a label of {len(text)} characters")
    try:
        label = parse_json(text)
    except ValueError:
        try:
            label = ast.literal_eval(text)
        except (ValueError, SyntaxError, MemoryError, RecursionError) as error:
            raise DataError(f"{where}: the label is no JSON object ({error})") from error
    if not isinstance(label, dict) or not all(isinstance(key, str) for key in label):
        raise DataError(f"{where}: the label is no JSON object")
    return label
