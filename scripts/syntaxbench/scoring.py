"""Responses scored against gold answers, and the frame of scores.parquet.

What counts as right (paper, section 3.5 and appendix A.2): an integer that equals the gold, the
gold yes/no, the longest string in either case, the span `document[start:end]` character by
character (upper and lower case differ there: the paper asks for it verbatim). A reply that could
not be read is wrong and invalid; a request that was never answered is unscored, not wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from scripts.files import DataError
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
# Longest answer that is stored; what is cut is marked by an ellipsis.
STORED_CHARACTERS = 2000

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


class ScoringError(DataError):
    """Items, requests and responses do not belong together; the message names the rows."""


def _some(names: Iterable[str], shown: int = 5) -> str:
    ordered = sorted(set(names))
    more = f" and {len(ordered) - shown} more" if len(ordered) > shown else ""
    return ", ".join(ordered[:shown]) + more


def _unique(ids: Sequence[str], what: str) -> None:
    if len(set(ids)) < len(ids):
        seen: set[str] = set()
        twice = {name for name in ids if name in seen or seen.add(name)}  # type: ignore[func-returns-value]
        raise ScoringError(f"{what} given more than once: {_some(twice)}; remove the duplicates")


def storable(text: str) -> str:
    """A text that every file format can hold: lone surrogates escaped, very long text cut."""
    if len(text) > STORED_CHARACTERS:
        text = text[:STORED_CHARACTERS] + "…"
    if text.isascii():
        return text
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


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
    _unique([item.item_id for item in items], "items")
    _unique([request.request_id for request in requests], "requests")
    item_of = {item.item_id: item for item in items}
    request_of = {request.request_id: request for request in requests}
    orphans = [r.request_id for r in requests if r.item_id not in item_of]
    if orphans:
        raise ScoringError(
            f"requests whose item is unknown: {_some(orphans)}; build items and requests again"
        )
    _check_responses(request_of, responses)
    return [
        score_response(item_of[r.item_id], request_of[r.request_id], r, tolerance)
        for r in responses
    ]


def _check_responses(request_of: Mapping[str, Request], responses: Sequence[Response]) -> None:
    unknown = [r.request_id for r in responses if r.request_id not in request_of]
    if unknown:
        raise ScoringError(
            f"responses to unknown requests: {_some(unknown)}; the prompts changed after the run, "
            "run the model again"
        )
    swapped = [r.request_id for r in responses if request_of[r.request_id].item_id != r.item_id]
    if swapped:
        raise ScoringError(f"responses whose item_id is not their request's: {_some(swapped)}")
    answered: dict[tuple[str, str], list[str]] = {}
    for response in responses:
        answered.setdefault((response.model, response.mode), []).append(response.request_id)
    for (model, mode), ids in sorted(answered.items()):
        _unique(ids, f"responses of {model} ({mode})")
        missing = set(request_of) - set(ids)
        if missing:
            raise ScoringError(
                f"{model} ({mode}) has no response to {len(missing)} request(s): {_some(missing)}; "
                "run the model again"
            )
    if request_of and not responses:
        raise ScoringError(f"no response at all to {len(request_of)} request(s)")


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
    return sorted_scores(with_dtypes(columns))


def with_dtypes(columns: Mapping[str, Any]) -> pd.DataFrame:
    """The columns of a score frame in their order and with their dtypes."""
    return pd.DataFrame(
        {name: pd.Series(columns[name], dtype=dtype) for name, dtype in SCORE_DTYPES.items()}
    )


def sorted_scores(frame: pd.DataFrame) -> pd.DataFrame:
    """Rows in the order of scores.parquet."""
    return frame.sort_values(SORT_COLUMNS, kind="stable", ignore_index=True)


def read_scores(path: Path | str) -> pd.DataFrame:
    """Read a score file; the columns get their dtypes back (Parquet keeps no pandas types).

    Raises ScoringError naming the file if a column is missing or unknown.
    """
    frame = pd.read_parquet(path)
    missing = [name for name in SCORE_DTYPES if name not in frame]
    unknown = [name for name in frame if name not in SCORE_DTYPES]
    if missing or unknown:
        raise ScoringError(
            f"{path}: columns missing {missing}, unknown {unknown}; score the responses again"
        )
    return with_dtypes({name: frame[name] for name in SCORE_DTYPES})


def gather_scores(frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """All runs' scores in one frame; a row that stands twice is a ScoringError."""
    if not frames:
        raise ScoringError("no score files to gather; name at least one model in the configuration")
    frame = sorted_scores(pd.concat(frames, ignore_index=True))
    twice = frame.duplicated(["model", "mode", "request_id"])
    if twice.any():
        row = frame[twice].iloc[0]
        raise ScoringError(
            f"{int(twice.sum())} score(s) stand twice, the first for {row['model']} "
            f"({row['mode']}), request {row['request_id']}; remove the duplicate score file"
        )
    return frame
