"""Responses scored against gold answers, and the frame of scores.parquet.

What counts as right (paper, section 3.5 and appendix A.2): an integer that equals the gold, the
gold yes/no, the longest string in either case, the span `document[start:end]` character by
character (upper and lower case differ there: the paper asks for it verbatim). A reply that could
not be read is wrong and invalid; a request that was never answered is unscored, not wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from scripts.judging import score_files
from scripts.judging.score_files import (
    ScoringError,
    check_run,
    sorted_scores,
    storable,
    with_dtypes,
)
from scripts.records import Item, Request, Response, Score
from scripts.syntaxbench import parsing
from scripts.syntaxbench.tasks import CONDITIONS, task_named

# Reader of each kind of answer.
_PARSE_KIND: dict[str, parsing.Kind] = {
    "integer": "integer",
    "binary": "yes_no",
    "string": "string",
}
# Tasks whose strings are compared without regard to case and surrounding white space.
FOLDED_TASKS = frozenset({"longest_string_finder"})

SCORE_DTYPES: dict[str, str] = {
    "item_id": "str",
    "request_id": "str",
    "model": "str",
    "mode": "str",
    "task": "str",
    "shots": "int64",
    "condition": "str",
    "valid": "bool",
    "correct": "boolean",
    "relaxed": "boolean",
    "category": "str",
    "route": "str",
    "gold": "str",
    "parsed": "str",
    "delta": "float64",
    "completion_tokens": "Int64",
    "reasoning_tokens": "Int64",
}
SORT_COLUMNS = ["model", "mode", "task", "shots", "condition", "item_id"]


def _check_gold(item: Item, kind: str) -> int | str:
    gold = item.gold.get("answer")
    right = {
        "integer": isinstance(gold, int) and not isinstance(gold, bool),
        "binary": gold in ("yes", "no"),
        "string": isinstance(gold, str) and gold != "",
    }[kind]
    if not right or gold is None:
        raise ScoringError(f"item {item.item_id}: gold answer {gold!r} is no {kind} answer")
    if item.factors.get("condition") not in CONDITIONS:
        raise ScoringError(
            f"item {item.item_id}: condition {item.factors.get('condition')!r} is not one of "
            f"{', '.join(CONDITIONS)}"
        )
    checked: int | str = gold
    return checked


def matches(task: str, value: int | str, gold: int | str) -> bool:
    """True if a parsed answer equals the gold under the task's rule."""
    if task in FOLDED_TASKS:
        return str(value).strip().casefold() == str(gold).strip().casefold()
    return value == gold


def score_response(item: Item, request: Request, response: Response, tolerance: int = 1) -> Score:
    """Score one response; `tolerance` is the largest |parsed − gold| that relaxed accuracy accepts.

    `detail`: category, route, reason, gold, delta and relaxed (integer tasks), token counts.
    """
    kind = task_named(item.task).kind
    gold = _check_gold(item, kind)
    answer = parsing.parse_response(response, _PARSE_KIND[kind])
    scored = answer.category != "not_run"
    correct: bool | None = None
    relaxed: bool | None = None
    delta: int | None = None
    if scored:
        correct = answer.value is not None and matches(item.task, answer.value, gold)
    if scored and kind == "integer":
        delta = int(answer.value) - int(gold) if answer.value is not None else None
        relaxed = delta is not None and abs(delta) <= tolerance
    return Score(
        item_id=item.item_id,
        request_id=request.request_id,
        model=response.model,
        mode=response.mode,
        task=item.task,
        setting=request.setting,
        factors=item.factors,
        valid=answer.category == "valid",
        parsed=answer.value,
        correct=correct,
        detail={
            "category": answer.category,
            "route": answer.route,
            "reason": response.error if not scored else answer.reason,
            "reasoning_state": answer.reasoning_state,
            "gold": gold,
            "delta": delta,
            "relaxed": relaxed,
            "completion_tokens": response.usage.get("completion"),
            "reasoning_tokens": response.usage.get("reasoning"),
        },
    )


def score_responses(
    items: Sequence[Item],
    requests: Sequence[Request],
    responses: Sequence[Response],
    tolerance: int = 1,
) -> list[Score]:
    """Score every response of one or several runs (model and mode).

    Raises ScoringError, naming the rows, for duplicate items, requests or responses, a request
    without its item, a response without its request, and a run that does not answer every request.
    """
    item_of, request_of = check_run(items, requests, responses)
    return [
        score_response(item_of[r.item_id], request_of[r.request_id], r, tolerance)
        for r in responses
    ]


def _route(score: Score) -> str:
    """How the answer was read, or why none was."""
    reason = score.detail.get("reason")
    route = str(score.detail["route"])
    if score.detail["category"] == "not_run":
        return storable(str(reason))
    return route if reason is None else f"{route}: {reason}"


def scores_to_frame(scores: Sequence[Score]) -> pd.DataFrame:
    """Scores as the frame of scores.parquet: one row a score, `SCORE_DTYPES`, sorted rows.

    Unscored rows have `correct` and `relaxed` null. `parsed` is null where nothing could be read,
    and holds lone surrogates as escapes, because Parquet text is UTF-8.
    """
    details = [score.detail for score in scores]
    columns: dict[str, list[Any]] = {
        "item_id": [s.item_id for s in scores],
        "request_id": [s.request_id for s in scores],
        "model": [s.model for s in scores],
        "mode": [s.mode for s in scores],
        "task": [s.task for s in scores],
        "shots": [s.setting["shots"] for s in scores],
        "condition": [s.factors["condition"] for s in scores],
        "valid": [s.valid for s in scores],
        "correct": [s.correct for s in scores],
        "relaxed": [d["relaxed"] for d in details],
        "category": [d["category"] for d in details],
        "route": [_route(s) for s in scores],
        "gold": [storable(str(d["gold"])) for d in details],
        "parsed": [None if s.parsed is None else storable(str(s.parsed)) for s in scores],
        "delta": [d["delta"] for d in details],
        "completion_tokens": [d["completion_tokens"] for d in details],
        "reasoning_tokens": [d["reasoning_tokens"] for d in details],
    }
    return sorted_scores(with_dtypes(columns, SCORE_DTYPES), SORT_COLUMNS)


def read_scores(path: Path | str) -> pd.DataFrame:
    """Read a score file of SyntaxBench; ScoringError if a column is missing or unknown."""
    return score_files.read_scores(path, SCORE_DTYPES)


def gather_scores(frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """All runs' scores in one frame; a row that stands twice is a ScoringError."""
    return score_files.gather_scores(frames, SORT_COLUMNS)
