"""How far the judges of a council agree, question by question.

Fleiss' kappa is over the answers on which every judge voted; a pair of judges is compared on those
where both did. What is left out is counted, never taken for agreement. A question without votes has
a row with the flag `missing`; one whose votes are all the same is `one_class`: kappa is undefined
there although the agreement is perfect.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from scripts.judging.council import vote, voted
from scripts.judging.council_rubric import FLAGS, QUESTIONS
from scripts.statistics.agreement import NAN, fleiss_draws, fleiss_kappa, kappa_draws, kappa_nominal
from scripts.statistics.bootstrap import percentile_interval
from scripts.statistics.flags import MISSING
from scripts.statistics.seeding import cell_generator

COLUMNS = (
    *("question", "kind", "judge_a", "judge_b", "n", "kappa", "agreement", "low", "high"),
    *("left_out", "flag"),
)
DATES = "dates"
#: Every question in the order of the file; `dates` has one case a gold date.
ORDER = (DATES, *QUESTIONS, *dict.fromkeys(name for names in FLAGS.values() for name in names))
#: Votes of one judge on one question: case (the answer, or a date of it) to yes or no.
Votes = dict[Hashable, bool]


def votes_of(answers: Mapping[Hashable, Mapping[str, Any]]) -> dict[str, Votes]:
    """Votes of one judge by question; an empty seat has none.

    `answers` maps each judged answer to the judge's `answers` on it.
    """
    votes: dict[str, Votes] = {}
    for key, given in answers.items():
        if not voted(given):
            continue
        for place, match in enumerate(given["date_matches"]):
            votes.setdefault(DATES, {})[key, place] = bool(match["matched"])
        logged = {name: vote(given, name) for name in QUESTIONS} | (given.get("flags") or {})
        for name, value in logged.items():
            if isinstance(value, bool):
                votes.setdefault(name, {})[key, None] = value
    return votes


def compare(
    judges: Mapping[str, Mapping[Hashable, Mapping[str, Any]]],
    *,
    resamples: int,
    level: float,
    seed: int,
) -> pd.DataFrame:
    """One row a question for all judges (`fleiss`) and one for each pair of them (`pair`).

    `judges` maps names to their `answers` by judged answer. `n`: cases; `left_out`: cases on which
    some, but not all, of the judges compared voted; `low`, `high`: percentile bootstrap of kappa
    over cases.
    """
    votes = {name: votes_of(answers) for name, answers in judges.items()}
    rows: list[dict[str, Any]] = []
    for question in ORDER:
        sides = {name: votes[name].get(question, {}) for name in judges}
        if question not in (DATES, *QUESTIONS) and not any(sides.values()):
            continue
        rng = cell_generator(seed, "council", question, *judges)
        rows.append({"question": question, **_all(sides, resamples, level, rng)})
        for first, second in combinations(judges, 2):
            rng = cell_generator(seed, "council", question, first, second)
            pair = _pair(sides[first], sides[second], resamples, level, rng)
            rows.append({"question": question, "judge_a": first, "judge_b": second, **pair})
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _cases(sides: Iterable[Votes]) -> tuple[list[Hashable], int]:
    """Cases on which all voted, in the first side's order, and how many others there are."""
    given = list(sides)
    every = set().union(*given) if given else set()
    shared = [case for case in given[0] if all(case in side for side in given)] if given else []
    return shared, len(every) - len(shared)


def _all(
    sides: Mapping[str, Votes], resamples: int, level: float, rng: np.random.Generator
) -> dict[str, Any]:
    shared, left_out = _cases(sides.values())
    yes = np.array([sum(side[case] for side in sides.values()) for case in shared], dtype=int)
    table = np.stack([yes, len(sides) - yes], axis=1) if shared else np.zeros((0, 2), dtype=int)
    kappa, agreement, flag = fleiss_kappa(table)
    low, high = NAN, NAN
    if not flag:
        low, high = percentile_interval(fleiss_draws(table, resamples, rng), level)
    return {
        "kind": "fleiss",
        "judge_a": "",
        "judge_b": "",
        "n": len(shared),
        "kappa": kappa,
        "agreement": agreement,
        "low": low,
        "high": high,
        "left_out": left_out,
        "flag": flag,
    }


def _pair(
    first: Votes, second: Votes, resamples: int, level: float, rng: np.random.Generator
) -> dict[str, Any]:
    shared, left_out = _cases((first, second))
    table = np.zeros((2, 2), dtype=np.int64)
    for case in shared:
        table[int(not first[case]), int(not second[case])] += 1
    row: dict[str, Any] = {"kind": "pair", "n": len(shared), "left_out": left_out}
    empty = dict.fromkeys(("kappa", "agreement", "low", "high"), NAN)
    if not shared:
        return {**row, **empty, "flag": MISSING}
    kappa, flag = kappa_nominal(table)
    interval = percentile_interval(kappa_draws(table, resamples, rng), level)
    low, high = (NAN, NAN) if flag else interval
    return {
        **row,
        "kappa": kappa,
        "agreement": float(np.trace(table)) / len(shared),
        "low": low,
        "high": high,
        "flag": flag,
    }
