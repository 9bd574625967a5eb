"""The score file of TIDE: its columns, and reading and gathering it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from scripts.judging import score_files
from scripts.judging.score_files import ScoringError, sorted_scores, with_dtypes

#: Columns of scores.parquet, in this order. `str` columns may be missing where the text says so in
#: docs/tide.md; `boolean`, `Int64` and `Float64` are the nullable types.
SCORE_DTYPES: dict[str, str] = {
    "item_id": "str",
    "request_id": "str",
    "question_id": "str",
    "thread": "str",
    "model": "str",
    "mode": "str",
    "task": "str",
    "knowledge": "str",
    "retriever": "str",
    "depth": "Int64",
    "rerank": "str",
    "valid": "bool",
    "category": "str",
    "route": "str",
    "correct": "boolean",
    "partial": "Float64",
    "graded": "Float64",
    "gold": "str",
    "parsed": "str",
    "dates": "Int64",
    "dates_matched": "Int64",
    "contradicting": "boolean",
    "meaning": "boolean",
    "uncertain": "boolean",
    "seats": "Int64",
    "flagged": "bool",
    "perturbed": "boolean",
    "verdict": "str",
    "followed_context": "boolean",
    "authoritative": "boolean",
    "conflict_acknowledged": "boolean",
    "blended": "boolean",
    "localized": "boolean",
    "correction_correct": "boolean",
    "completion_tokens": "Int64",
    "reasoning_tokens": "Int64",
}
SORT_COLUMNS = ("model", "mode", "task", "knowledge", "item_id")
#: What became of a response; `not_flagged` is a perturbed statement that no second step followed.
CATEGORIES = (
    *("judged", "parsed", "blank", "inference_error", "truncated", "unparsable", "not_run"),
    *("unjudged", "not_flagged"),
)


def score_table(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Rows by column name as the frame of a score file: typed and sorted."""
    columns = {name: [row[name] for row in rows] for name in SCORE_DTYPES}
    return sorted_scores(with_dtypes(columns, SCORE_DTYPES), SORT_COLUMNS)


def read_scores(path: Path | str) -> pd.DataFrame:
    """Read a score file of TIDE with its dtypes; ScoringError for other columns."""
    return score_files.read_scores(path, SCORE_DTYPES)


def gather_scores(frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """All runs' scores in one frame; a row that stands twice is a ScoringError.

    A statement that was not flagged has its first step's request both in its own row and in that of
    the second step, so the task belongs to the key.
    """
    if not frames:
        raise ScoringError("no score files to gather; name at least one model in the configuration")
    frame = sorted_scores(pd.concat(frames, ignore_index=True), SORT_COLUMNS)
    twice = frame.duplicated(["model", "mode", "task", "request_id"])
    if twice.any():
        row = frame[twice].iloc[0]
        raise ScoringError(
            f"{int(twice.sum())} score(s) stand twice, the first for {row['model']} "
            f"({row['mode']}), {row['task']}, request {row['request_id']}; remove the duplicate "
            "score file"
        )
    return frame
