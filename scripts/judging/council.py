"""The council's decision: from judges' yes/no votes on an answer to its scores.

Source: TIDE sections 3.2 and 4; the score is Equation 2 as inferred (`statistics.council`). A judge
who is absent, or whose reply could not be read, has an empty seat and no vote; the majority is that
of the seats that voted, and a tie leaves the question undecided. An undecided question leaves the
score open only where it could change it: a date that the majority calls wrong closes the gate
whatever the others say.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scripts.files import DataError
from scripts.statistics.council import majority, partial_score, strict_score


class CouncilError(DataError):
    """A judge's row does not fit the item: another number of dates, or a vote that is no yes/no."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What the council decided about one answer; None stands for undecided.

    `date_matched`: one entry a gold date. `uncertain`: a judge called the case borderline.
    `seats`: judges who voted. `strict` and `partial` are None where the votes leave them open, and
    `undecided` says that one of them is. `flags`: the task's logged questions, never scored.
    `flagged`: undecided, or fewer seats than judges: a person should look.
    """

    date_matched: tuple[bool | None, ...]
    contradicting: bool | None
    meaning: bool | None
    uncertain: bool
    seats: int
    undecided: bool
    strict: bool | None
    partial: float | None
    flags: dict[str, bool | None]
    flagged: bool


def decide(seats: Sequence[Mapping[str, Any] | None], dates: int, date_weight: float) -> Decision:
    """The council's decision over `answers` of its judges' Judgements, one seat a judge.

    A seat is None, or has null answers, where the judge gave none. `dates` is the number of gold
    dates; `date_weight` is w of `partial_score`. Raises CouncilError for a seat with another number
    of dates or a vote that is not a yes or no, ValueError for a weight outside [0, 1].
    """
    votes = [seat for seat in seats if seat is not None and voted(seat)]
    matched = tuple(
        majority([_date_vote(seat, index, dates) for seat in votes]) for index in range(dates)
    )
    contradicting = majority([vote(seat, "contradicting") for seat in votes])
    meaning = majority([vote(seat, "meaning") for seat in votes])
    strict, partial = _scores(matched, contradicting, meaning, date_weight)
    undecided = strict is None or partial is None
    return Decision(
        date_matched=matched,
        contradicting=contradicting,
        meaning=meaning,
        uncertain=any(vote(seat, "uncertain") for seat in votes),
        seats=len(votes),
        undecided=undecided,
        strict=strict,
        partial=partial,
        flags=_flags(votes),
        flagged=undecided or len(votes) < len(seats),
    )


def voted(seat: Mapping[str, Any]) -> bool:
    """Whether a judge's `answers` hold a vote; an empty seat has null answers."""
    return seat.get("meaning") is not None


def vote(seat: Mapping[str, Any], question: str) -> bool | None:
    """One yes/no answer of a seat, None where it has none; CouncilError for anything else."""
    return _yes_no(seat.get(question), question, seat)


def _date_vote(seat: Mapping[str, Any], index: int, dates: int) -> bool | None:
    matches = seat.get("date_matches")
    if not isinstance(matches, list) or len(matches) != dates:
        raise CouncilError(
            f"item {seat.get('item_id')}: a judgement on "
            f"{len(matches) if isinstance(matches, list) else 'no'} dates of {dates}; the item "
            "changed after the judging, judge the responses again"
        )
    return _yes_no(matches[index].get("matched"), f"date {index}", seat)


def _yes_no(value: Any, question: str, seat: Mapping[str, Any]) -> bool | None:
    if value is not None and not isinstance(value, bool):
        raise CouncilError(
            f"item {seat.get('item_id')}: the vote on {question} is {value!r}, neither true nor "
            "false; judge the responses again"
        )
    return value


def _flags(votes: Sequence[Mapping[str, Any]]) -> dict[str, bool | None]:
    """Majority of every logged yes/no question; what is text (the localized element) is no vote."""
    logged = [
        {
            name: value
            for name, value in (seat.get("flags") or {}).items()
            if isinstance(value, bool)
        }
        for seat in votes
    ]
    names = sorted({name for flags in logged for name in flags})
    return {name: majority([flags.get(name) for flags in logged]) for name in names}


def _scores(
    matched: Sequence[bool | None],
    contradicting: bool | None,
    meaning: bool | None,
    date_weight: float,
) -> tuple[bool | None, float | None]:
    """Strict and partial score, None where undecided questions leave them open.

    Both never fall when a date matches or the meaning is right, and never rise on a contradiction:
    they are settled when the kindest and the harshest reading of what is undecided agree.
    """

    def reading(kind: bool) -> tuple[bool, float]:
        dates = [kind if date is None else date for date in matched]
        contradicts = (not kind) if contradicting is None else contradicting
        right = kind if meaning is None else meaning
        return (
            bool(strict_score(dates, contradicts, right)),
            partial_score(dates, contradicts, right, date_weight),
        )

    (best_strict, best_partial), (worst_strict, worst_partial) = reading(True), reading(False)
    return (
        best_strict if best_strict == worst_strict else None,
        best_partial if best_partial == worst_partial else None,
    )
