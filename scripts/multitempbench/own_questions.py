"""The project's own seed questions: every answer is computed again before it is believed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from scripts.files import DataError, iterate_jsonl
from scripts.multitempbench.candidates import Outcome
from scripts.multitempbench.questions import SeedQuestion
from scripts.multitempbench.recomputation import recompute
from scripts.multitempbench.tasks import RELATIONS
from scripts.records import RecordError

_COMPARED = ("kind", "value", "unit")
#: How a further right value of each kind of answer is written; fullmatch.
_WRITTEN = {
    "date": r"[0-9]{4}-[0-9]{2}-[0-9]{2}",
    "date_time": r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}",
    "number": r"-?[0-9]{1,18}",
    "relation": "|".join(RELATIONS),
    "yes_no": "yes|no",
}


def read_own_questions(path: Path | str, source: str) -> list[Outcome]:
    """All rows of a JSONL file of SeedQuestions; `source.name` becomes the corpus' name.

    Raises DataError naming file and line for a row that is no SeedQuestion, whose id is not the one
    that its content gives, that stands twice, whose operation cannot be computed, whose answer
    is not what the operation gives, or whose further accepted answers are none of that kind.
    """
    out: list[Outcome] = []
    seen: set[str] = set()
    for number, row in iterate_jsonl(path):
        where = f"{path}, line {number}"
        question = _question(row, where)
        _check_answer(question, where)
        _check_accepted(question.answer, where)
        if question.question_id in seen:
            raise DataError(f"{where}: the question {question.text[:60]!r} stands twice")
        seen.add(question.question_id)
        question.source.update(name=source, row=question.source.get("row", number))
        out.append(Outcome(source, number, question.task, question))
    return out


def _question(row: dict[str, Any], where: str) -> SeedQuestion:
    if not all(isinstance(row.get(field), dict) for field in ("operation", "answer", "source")):
        raise DataError(f"{where}: operation, answer and source must be objects")
    try:
        question = SeedQuestion.from_json(row)
        expected = SeedQuestion.create(
            question.task,
            question.text,
            question.dates,
            question.times,
            question.operation,
            question.answer,
            question.source,
        ).question_id
    except (RecordError, TypeError) as error:
        raise DataError(f"{where}: {error}") from error
    if question.question_id != expected:
        raise DataError(f"{where}: question_id {question.question_id!r}, expected {expected!r}")
    return question


def _check_answer(question: SeedQuestion, where: str) -> None:
    try:
        computed = recompute(question.operation, question.dates, question.times)
    except DataError as error:
        raise DataError(f"{where}: {error}; own questions need a computed answer") from error
    for field in _COMPARED:
        if question.answer.get(field) != computed.get(field):
            raise DataError(
                f"{where}: answer.{field} is {question.answer.get(field)!r}, but the operation "
                f"gives {computed.get(field)!r}; correct the answer or the operation"
            )


def _check_accepted(answer: Mapping[str, Any], where: str) -> None:
    accepted, kind = answer.get("accepted", []), answer["kind"]
    if not isinstance(accepted, list):
        raise DataError(f"{where}: answer.accepted is {accepted!r}, expected a list")
    for value in accepted:
        if isinstance(value, bool) or not _is_written(str(value), kind):
            raise DataError(
                f"{where}: answer.accepted has {value!r}, which is no answer of the kind {kind}; "
                "write it as answer.value is written, or remove it"
            )


def _is_written(value: str, kind: str) -> bool:
    if re.fullmatch(_WRITTEN[kind], value) is None:
        return False
    if kind in ("date", "date_time"):
        try:
            datetime.fromisoformat(value)
        except ValueError:
            return False
    return True
