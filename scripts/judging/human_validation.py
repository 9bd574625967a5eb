"""Experts' scores of the council's decisions: a CSV read strictly, and its means.

Source: TIDE table 10: up to 50 points for the right verdict, 40 for the reasoning, 10 for a clear
justification; table 11 prints the means of each expert.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from scripts.files import DataError, iterate_csv

#: Most points of each criterion; `total` is their sum.
MAXIMA = {"verdict": 50, "reasoning": 40, "clarity": 10}
TOTAL = "total"
COLUMNS = ("request_id", "rater", *MAXIMA)
#: Columns that a file may have besides: they tell apart the answers of several runs to a request.
RUN_COLUMNS = ("model", "mode")
RESULT_COLUMNS = ("rater", "criterion", "n", "mean", "maximum", "flag")
NO_SCORES = "no_scores"

_POINTS = re.compile(r"\d{1,3}(?:\.\d{1,4})?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Score:
    """One expert's points for one decision."""

    request_id: str
    rater: str
    points: dict[str, float]


def read_scores(path: Path | str, judged: Collection[str]) -> list[Score]:
    """All scores of a CSV, in file order; `judged` are the request ids that the council judged.

    Raises DataError naming file, row and remedy for unknown columns, an empty cell, points that are
    no number or beyond their range, an unknown request, and a rater who scores an answer twice.
    """
    scores: list[Score] = []
    seen: dict[tuple[str, ...], int] = {}
    for number, row in iterate_csv(path, COLUMNS):
        where = f"{path}, row {number}"
        if extra := sorted(set(row) - {*COLUMNS, *RUN_COLUMNS}):
            raise DataError(f"{path}, row 1: unknown column {', '.join(extra)}; remove it")
        values = {name: value.strip() for name, value in row.items()}
        if empty := [name for name, value in values.items() if not value]:
            raise DataError(f"{where}: {', '.join(empty)} empty; fill it in or remove the row")
        if values["request_id"] not in judged:
            raise DataError(
                f"{where}: the council judged no answer to request {values['request_id']!r}; "
                "correct request_id"
            )
        key = tuple(values.get(name, "") for name in ("request_id", "rater", *RUN_COLUMNS))
        if key in seen:
            raise DataError(
                f"{where}: {values['rater']} scores this answer in row {seen[key]} already; keep "
                "one of the two (columns model and mode tell runs apart)"
            )
        seen[key] = number
        points = {name: _points(where, name, values[name]) for name in MAXIMA}
        scores.append(Score(values["request_id"], values["rater"], points))
    return scores


def _points(where: str, criterion: str, text: str) -> float:
    most = MAXIMA[criterion]
    if not _POINTS.fullmatch(text) or float(text) > most:
        raise DataError(f"{where}: {criterion} is {text!r}; give a number from 0 to {most}")
    return float(text)


def means(scores: Sequence[Score]) -> pd.DataFrame:
    """Mean points of each rater and criterion; rows with the flag `no_scores` where there is none.

    `maximum` is what could be had.
    """
    raters = sorted({score.rater for score in scores}) or [""]
    rows = [
        _row(rater, criterion, [score for score in scores if score.rater == rater])
        for rater in raters
        for criterion in (*MAXIMA, TOTAL)
    ]
    return pd.DataFrame(rows, columns=list(RESULT_COLUMNS))


def _row(rater: str, criterion: str, scores: Iterable[Score]) -> dict[str, Any]:
    names = tuple(MAXIMA) if criterion == TOTAL else (criterion,)
    points = [sum(score.points[name] for name in names) for score in scores]
    return {
        "rater": rater,
        "criterion": criterion,
        "n": len(points),
        "mean": sum(points) / len(points) if points else float("nan"),
        "maximum": sum(MAXIMA[name] for name in names),
        "flag": "" if points else NO_SCORES,
    }
