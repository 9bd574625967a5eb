"""From the judges' yes/no votes to a score (TIDE section 4 and Equation 2 as inferred)."""

from __future__ import annotations

from collections.abc import Sequence

from scripts.statistics import agreement


def majority(votes: Sequence[bool | None]) -> bool | None:
    """Majority over the seats that voted; a tie, or no vote at all, is undecided (None).

    `None` is a judge who is absent or whose reply could not be parsed: never a "no".
    """
    return agreement.majority([vote for vote in votes if vote is not None])


def strict_score(
    date_matched: Sequence[bool], contradicting_dates: bool, meaning_correct: bool
) -> int:
    """1 when every gold date is matched, no date contradicts and the meaning is right, else 0.

    A wrong date closes the gate whatever the meaning; without gold dates only a contradiction does.
    """
    return int(all(date_matched) and not contradicting_dates and meaning_correct)


def partial_score(
    date_matched: Sequence[bool],
    contradicting_dates: bool,
    meaning_correct: bool,
    date_weight: float = 0.5,
) -> float:
    """Graded credit in [0, 1]: w * matched share + (1 - w) * strict; 0 on a contradicting date.

    Without gold dates it is the meaning alone. `date_weight` is w in [0, 1] (ValueError else); the
    paper does not publish it.
    """
    if not 0 <= date_weight <= 1:
        raise ValueError(f"date_weight must lie in [0, 1], got {date_weight}")
    if contradicting_dates:
        return 0.0
    if not date_matched:
        return float(meaning_correct)
    strict = strict_score(date_matched, contradicting_dates, meaning_correct)
    return date_weight * sum(date_matched) / len(date_matched) + (1 - date_weight) * strict
