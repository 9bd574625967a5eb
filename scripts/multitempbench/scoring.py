"""Judgements joined with responses: the frame of scores.parquet of MultiTempBench.

Accuracy is correct / (correct + incorrect + not attempted). A reply without an answer (blank, cut
off by the token limit, or lost to an error of the backend) counts as not attempted and hence as not
correct; a request that was never sent and a reply that the judge could not grade are unscored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from scripts.judging import score_files
from scripts.judging.replies import answer_text
from scripts.judging.score_files import ScoringError, check_run, some, storable, with_dtypes
from scripts.judging.verdicts import VERDICTS
from scripts.records import Item, Judgement, Request, Response

SCORE_DTYPES: dict[str, str] = {
    "item_id": "str",
    "request_id": "str",
    "question_id": "str",
    "model": "str",
    "mode": "str",
    "task": "str",
    "language": "str",
    "format": "str",
    "calendar": "str",
    "calendar_source": "str",
    "source": "str",
    "judge": "str",
    "verdict": "str",
    "correct": "boolean",
    "valid": "bool",
    "category": "str",
    "route": "str",
    "gold": "str",
    "parsed": "str",
    "completion_tokens": "Int64",
    "reasoning_tokens": "Int64",
}
SORT_COLUMNS = ("model", "mode", "task", "language", "format", "item_id")
#: What became of a response.
CATEGORIES = ("judged", "blank", "inference_error", "truncated", "not_run", "unjudged")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one response: `verdict` and `correct` are None where it is unscored."""

    category: str
    verdict: str | None
    correct: bool | None
    valid: bool


def outcome(response: Response, verdict: str | None) -> Outcome:
    """Category, verdict and correctness of a response and the judge's verdict on it.

    A complete answer counts even where the token limit cut what followed it; without an answer the
    limit makes the row `truncated`.
    """
    _, category = answer_text(response)
    if category == "not_run":
        return Outcome("not_run", None, None, valid=False)
    if category:
        return Outcome(category, "not_attempted", correct=False, valid=False)
    if verdict is None:
        return Outcome("unjudged", None, None, valid=False)
    if verdict == "not_attempted":
        cut = response.finish_reason == "length"
        return Outcome("truncated" if cut else "judged", verdict, correct=False, valid=False)
    return Outcome("judged", verdict, verdict == "correct", valid=True)


def score_frame(
    items: Sequence[Item],
    requests: Sequence[Request],
    responses: Sequence[Response],
    judgements: Sequence[Judgement],
    judge: str,
) -> pd.DataFrame:
    """The scores of one run (model and mode) under one judge, with SCORE_DTYPES, sorted.

    Raises ScoringError, naming the rows, where items, requests, responses and judgements do not fit
    together, or a judgement is another judge's or holds no known verdict.
    """
    item_of, _ = check_run(items, requests, responses)
    judgement_of = _judgements(judgements, responses, judge)
    rows = [_row(item_of[r.item_id], r, judgement_of[r.request_id]) for r in responses]
    columns = {name: [row[name] for row in rows] for name in SCORE_DTYPES}
    return score_files.sorted_scores(with_dtypes(columns, SCORE_DTYPES), SORT_COLUMNS)


def _judgements(
    judgements: Sequence[Judgement], responses: Sequence[Response], judge: str
) -> Mapping[str, Judgement]:
    found = {judgement.request_id: judgement for judgement in judgements}
    wanted = {response.request_id for response in responses}
    wrong = [
        (len(found) < len(judgements), "a response was judged twice"),
        (
            {j.judge for j in judgements} - {judge} != set(),
            f"judgements of {sorted({j.judge for j in judgements} - {judge})}, expected {judge!r}",
        ),
        (wanted - set(found) != set(), f"not judged: {some(wanted - set(found))}"),
        (set(found) - wanted != set(), f"judged but unknown: {some(set(found) - wanted)}"),
    ]
    for is_wrong, message in wrong:
        if is_wrong:
            raise ScoringError(f"{message}; judge the responses again")
    for judgement in judgements:
        verdict = judgement.answers.get("verdict")
        if verdict is not None and verdict not in VERDICTS:
            raise ScoringError(
                f"request {judgement.request_id}: verdict {verdict!r} is none of "
                f"{', '.join(VERDICTS)}; judge the responses again"
            )
    return found


def _row(item: Item, response: Response, judgement: Judgement) -> dict[str, Any]:
    answers = judgement.answers
    found = outcome(response, answers.get("verdict"))
    return {
        "item_id": item.item_id,
        "request_id": response.request_id,
        "question_id": item.source["question_id"],
        "model": response.model,
        "mode": response.mode,
        "task": item.task,
        "language": item.factors["language"],
        "format": item.factors["format"],
        "calendar": item.factors["calendar"],
        "calendar_source": item.factors["calendar_source"],
        "source": item.source["name"],
        "judge": judgement.judge,
        "verdict": found.verdict,
        "correct": found.correct,
        "valid": found.valid,
        "category": found.category,
        "route": storable(_route(response, judgement, found)),
        "gold": storable(str(item.gold["answer"])),
        "parsed": _storable_or_none(answers.get("parsed") if found.valid else None),
        "completion_tokens": response.usage.get("completion"),
        "reasoning_tokens": response.usage.get("reasoning"),
    }


def _route(response: Response, judgement: Judgement, found: Outcome) -> str:
    """How the verdict was reached, or why there is none."""
    if found.category in ("not_run", "inference_error"):
        return str(response.error)
    route = str(judgement.answers.get("route") or "none")
    reason = str(judgement.answers.get("reason") or "")
    return f"{route}: {reason}" if reason else route


def _storable_or_none(value: Any) -> str | None:
    return None if value is None else storable(str(value))


def read_scores(path: Path | str) -> pd.DataFrame:
    """Read a score file of MultiTempBench with its dtypes; ScoringError for other columns."""
    return score_files.read_scores(path, SCORE_DTYPES)


def gather_scores(frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """All runs' scores in one frame; a row that stands twice is a ScoringError."""
    return score_files.gather_scores(frames, SORT_COLUMNS)
