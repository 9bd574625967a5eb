"""Two experts' ratings of the question pairs: shares, agreement, and what was repaired.

The CSV has a row a rater and first-pass pair: `question_id`, `rater`, `rating` (3 correct, 2 partly
correct, 1 incorrect) and `repaired`. An id follows from a pair's content, so a corrected pair has
another one: `repaired` holds the id of the pair that now stands for a pair rated below 3, empty
where none does yet. Source: TIDE A.3 and table 7; kappa is Cohen's, unweighted (Cohen 1960).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from scripts.files import DataError, iterate_csv
from scripts.statistics.agreement import NAN, kappa_nominal
from scripts.statistics.flags import INCOMPLETE, MISSING, join_flags
from scripts.tide.rows import QuestionPair
from scripts.tide.tasks import TASKS

CSV_COLUMNS = ("question_id", "rater", "rating", "repaired")
COLUMNS = (
    *("task", "n", "three", "two", "one", "mean", "kappa"),
    *("repaired", "replaced", "unrepaired", "flag"),
)
CORRECT, PARTLY, INCORRECT = 3, 2, 1
SCALE = (CORRECT, PARTLY, INCORRECT)
RATERS = 2
ALL = "all"
#: Flag of the rows of a run without ratings.
NO_RATINGS = "no_ratings"


@dataclass(frozen=True, slots=True)
class Rating:
    """One rater's first-pass rating of one pair."""

    question_id: str
    rater: str
    rating: int
    repaired: str


def task_of(question_id: str) -> str:
    """The task in a question's id; empty when it names none."""
    task, _, digest = question_id.rpartition("-")
    return task if task in TASKS and digest else ""


def read_ratings(path: Path | str, questions: Iterable[QuestionPair]) -> list[Rating]:
    """All ratings of a CSV, in file order.

    Raises DataError naming file, row and remedy for an unknown pair, a rating off the scale, a
    rater who rates a pair twice, a third rater, a pair rated 3 that was repaired, and two rows that
    name different pairs for one.
    """
    known = {question.question_id for question in questions}
    ratings: list[Rating] = []
    seen: dict[tuple[str, str], int] = {}
    heirs: dict[str, tuple[str, int]] = {}
    for number, row in iterate_csv(path, CSV_COLUMNS):
        where = f"{path}, row {number}"
        rating = _rating(where, row, known)
        key = (rating.question_id, rating.rater)
        if key in seen:
            raise DataError(
                f"{where}: {rating.rater} rates {rating.question_id} in row {seen[key]} already; "
                "keep one of the two rows"
            )
        seen[key] = number
        raters = sorted({rater for _, rater in seen})
        if len(raters) > RATERS:
            raise DataError(
                f"{where}: a third rater ({', '.join(raters)}); the table takes two, correct the "
                "name or leave one out"
            )
        if rating.repaired:
            heir, first = heirs.setdefault(rating.question_id, (rating.repaired, number))
            if heir != rating.repaired:
                raise DataError(
                    f"{where}: {rating.question_id} is repaired as {rating.repaired}, in row "
                    f"{first} as {heir}; name one pair in both"
                )
        ratings.append(rating)
    _check_standing(path, ratings, heirs, known)
    return ratings


def _rating(where: str, row: Mapping[str, str], known: set[str]) -> Rating:
    values = {name: row[name].strip() for name in CSV_COLUMNS}
    empty = [name for name in ("question_id", "rater", "rating") if not values[name]]
    if empty:
        raise DataError(f"{where}: {', '.join(empty)} empty; fill it in or remove the row")
    if values["rating"] not in map(str, SCALE):
        raise DataError(f"{where}: rating {values['rating']!r}; use 3, 2 or 1")
    rating = Rating(
        values["question_id"], values["rater"], int(values["rating"]), values["repaired"]
    )
    if not task_of(rating.question_id):
        raise DataError(f"{where}: {rating.question_id!r} is no id of a question pair; correct it")
    if rating.repaired and rating.repaired not in known:
        raise DataError(
            f"{where}: repaired as {rating.repaired!r}, which is no question of the run; correct "
            "the id or build the questions again"
        )
    return rating


def _check_standing(
    path: Path | str,
    ratings: Sequence[Rating],
    heirs: Mapping[str, tuple[str, int]],
    known: set[str],
) -> None:
    """A rated pair stands in the questions, or another one stands for it."""
    for question_id, lowest in _lowest(ratings).items():
        if question_id in heirs and lowest == CORRECT:
            raise DataError(
                f"{path}, row {heirs[question_id][1]}: {question_id} is rated 3 and repaired all "
                "the same; empty the cell or correct the rating"
            )
        if question_id not in known and question_id not in heirs:
            raise DataError(
                f"{path}: {question_id} is rated, but is no question of the run and none stands "
                "for it; correct the id, or name the pair that replaced it under `repaired`"
            )


def _lowest(ratings: Iterable[Rating]) -> dict[str, int]:
    lowest: dict[str, int] = {}
    for each in ratings:
        lowest[each.question_id] = min(lowest.get(each.question_id, CORRECT), each.rating)
    return lowest


def verification_rows(
    questions: Sequence[QuestionPair], ratings: Sequence[Rating] | None
) -> list[dict[str, Any]]:
    """Rows of `verification.csv`: one a task in the order of the tables, then `all`.

    `n` pairs that both raters rated; `three`, `two`, `one` shares of the ratings and `mean`,
    averaged over the two raters; repaired, replaced and unrepaired count pairs whose lowest rating
    is 2 (with a pair that stands for it), 1 (the same), and either without one. Flags: `incomplete`
    where a pair lacks a rating, `one_class` or `missing` where kappa is undefined, `no_ratings`.
    """
    tasks = [task for task in TASKS if any(q.task == task for q in questions)]
    if ratings is None:
        return [{**_empty(task), "flag": NO_RATINGS} for task in (*tasks, ALL)]
    replaced = {rating.repaired for rating in ratings if rating.repaired}
    rated = {rating.question_id for rating in ratings}
    rows = []
    for task in (*tasks, ALL):
        own = [r for r in ratings if task in (ALL, task_of(r.question_id))]
        expected = {q.question_id for q in questions if task in (ALL, q.task)} - replaced
        rows.append(_row(task, own, bool(expected - rated)))
    return rows


def _empty(task: str) -> dict[str, Any]:
    return {**dict.fromkeys(COLUMNS), "task": task, "n": 0}


def _row(task: str, ratings: Sequence[Rating], incomplete: bool) -> dict[str, Any]:
    given: dict[str, dict[str, int]] = {}
    for each in ratings:
        given.setdefault(each.question_id, {})[each.rater] = each.rating
    raters = sorted({each.rater for each in ratings})
    both = [scores for scores in given.values() if len(scores) == RATERS]
    table = np.zeros((len(SCALE), len(SCALE)), dtype=int)
    for scores in both:
        table[SCALE.index(scores[raters[0]]), SCALE.index(scores[raters[1]])] += 1
    kappa = kappa_nominal(table)
    lost = INCOMPLETE if incomplete or len(both) < len(given) else ""
    row = {**_empty(task), "n": len(both), **_repairs(ratings)}
    row["kappa"] = kappa.value
    row["flag"] = join_flags([lost, kappa.flag])
    if both:
        shares = (table.sum(axis=0) + table.sum(axis=1)) / (RATERS * len(both))
        row |= dict(zip(("three", "two", "one"), map(float, shares), strict=True))
        row["mean"] = float(shares @ np.array(SCALE))
    else:
        row |= {**dict.fromkeys(("three", "two", "one", "mean"), NAN), "kappa": NAN}
        row["flag"] = join_flags([lost, MISSING])
    return row


def _repairs(ratings: Sequence[Rating]) -> dict[str, int]:
    heirs = {each.question_id for each in ratings if each.repaired}
    counts = {"repaired": 0, "replaced": 0, "unrepaired": 0}
    for question_id, lowest in _lowest(ratings).items():
        if lowest < CORRECT:
            done = "repaired" if lowest == PARTLY else "replaced"
            counts[done if question_id in heirs else "unrepaired"] += 1
    return counts
