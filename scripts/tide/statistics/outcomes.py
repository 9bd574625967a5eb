"""What documents change, answer by answer: tables 13, 14 and 15, pooled over the compared models.

Every (model, item) of a matched set weighs the same. The unit of resampling is the item with the
answers of all models. `runs` counts the runs that take part; a table is `incomplete` where a task
has no matched item, lacks some, or a run is not compared on it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd

from scripts.statistics.flags import INCOMPLETE, MISSING
from scripts.tide.statistics.intervals import Counted, Floats, pooled_share
from scripts.tide.statistics.matched import Booleans, Cube, Settings, check_scores, cube, resampling
from scripts.tide.tasks import SETTINGS, TASKS

MISALIGNED = "context_misalignment"
LOGGED = ("followed_context", "authoritative", "conflict_acknowledged", "blended")
OUTCOME_COLUMNS = ("outcome", "n", "runs", "share", "share_low", "share_high", "flag")
MEANING_COLUMNS = (
    *("knowledge", "meaning", "dates", "n", "runs", "share", "share_low", "share_high", "flag"),
)
MISALIGNMENT_COLUMNS = (
    *("knowledge", "n", "runs"),
    *(f"{name}{end}" for name in LOGGED for end in ("", "_low", "_high")),
    "flag",
)
Right = Mapping[str, Booleans]


def _everything(right: Right) -> Booleans:
    return np.ones_like(right["icl"])


#: Outcome to the answers that it counts, and those that it counts them among.
OUTCOMES: dict[str, tuple[Callable[[Right], Booleans], Callable[[Right], Booleans]]] = {
    "memory": (lambda right: right["parametric"], _everything),
    "gap_closed": (lambda right: ~right["parametric"] & right["icl"], _everything),
    "unrecoverable": (lambda right: ~right["parametric"] & ~right["icl"], _everything),
    "overturned": (lambda right: right["parametric"] & ~right["icl"], _everything),
    "icl_only": (lambda right: right["icl"] & ~right["rag"], _everything),
    "rag_given_icl": (lambda right: right["icl"] & right["rag"], lambda right: right["icl"]),
}


def _cubes(scores: pd.DataFrame, settings: Settings, tasks: Sequence[str]) -> list[Cube]:
    """The models' values of each task; raises DataError for rows that do not belong."""
    check_scores(scores, settings)
    runs = settings.model_runs
    return [cube(scores, task, runs, runs) for task in tasks]


def _compared(cubes: Sequence[Cube]) -> int:
    return len({run for each in cubes for run in each.compared})


def _flag(cubes: Sequence[Cube], n: int) -> str:
    whole = all(
        len(each.items) == each.planned > 0 and each.compared == each.runs for each in cubes
    )
    return MISSING if not n else "" if whole else INCOMPLETE


def outcomes_frame(scores: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """outcomes.csv (table 13): strict answers to all tasks.

    memory: right without documents; gap_closed: wrong without, right with the gold documents;
    unrecoverable: wrong in both. These three partition the answers. overturned: right without,
    wrong with the gold documents; icl_only: right with the gold documents, wrong with retrieved
    clauses; rag_given_icl: share right under retrieval among those right with the gold documents.
    """
    cubes = _cubes(scores, settings, tuple(TASKS))
    resamples = resampling(cubes, settings)
    rows = []
    for name, (event, given) in OUTCOMES.items():
        parts = []
        for each in cubes:
            right = _right(each)
            hits = event(right).sum(axis=0, dtype=float)
            parts.append(Counted(each.task, hits, given(right).sum(axis=0, dtype=float)))
        found = pooled_share(parts, resamples, settings.level)
        flag = _flag(cubes, found.n)
        rows.append((name, found.n, _compared(cubes), found.share, *found.interval, flag))
    return pd.DataFrame(rows, columns=list(OUTCOME_COLUMNS))


def _right(each: Cube) -> dict[str, Booleans]:
    """Setting to strict correctness, shape (compared runs, items)."""
    values = each.of_compared("correct") == 1
    return {name: values[:, place] for place, name in enumerate(each.knowledge)}


def meaning_frame(scores: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """meaning_vs_date.csv (table 14): judged answers to items with gold dates, by setting.

    Dates are right when every gold date is matched and none is contradicted. `n` counts answers; a
    share is of the setting's answers on which the council decided dates, contradiction and meaning.
    """
    cubes = _cubes(scores, settings, [name for name, task in TASKS.items() if task.judged])
    resamples = resampling(cubes, settings)
    parts = [_dated(each, scores) for each in cubes]
    rows = []
    for knowledge in SETTINGS:
        for meant in (True, False):
            for timed in (True, False):
                counted = [
                    _counted(each, part[part["knowledge"] == knowledge], meant, timed)
                    for each, part in zip(cubes, parts, strict=True)
                ]
                found = pooled_share(counted, resamples, settings.level)
                words = ("right" if meant else "wrong", "right" if timed else "wrong")
                hits = int(sum(each.hits.sum() for each in counted))
                numbers = (hits, _compared(cubes), found.share, *found.interval)
                rows.append((knowledge, *words, *numbers, _flag(cubes, found.n)))
    return pd.DataFrame(rows, columns=list(MEANING_COLUMNS))


def _dated(each: Cube, scores: pd.DataFrame) -> pd.DataFrame:
    """Decided answers to items with gold dates: item, knowledge, whether meaning and dates hold."""
    part = each.rows_of(scores)
    decided = part[["meaning", "contradicting", "dates_matched"]].notna().all(axis=1)
    part = part[decided & (part["dates"].fillna(0) > 0)]
    return pd.DataFrame(
        {
            "item_id": part["item_id"],
            "knowledge": part["knowledge"],
            "meant": part["meaning"].astype(bool),
            "timed": part["dates_matched"].eq(part["dates"]).astype(bool)
            & ~part["contradicting"].astype(bool),
        }
    )


def _counted(each: Cube, rows: pd.DataFrame, meant: bool, timed: bool) -> Counted:
    """Answers of a setting by item, and those whose meaning and dates are so."""
    these = rows[(rows["meant"] == meant) & (rows["timed"] == timed)]
    return Counted(each.task, _by_item(these, each), _by_item(rows, each))


def _by_item(rows: pd.DataFrame, each: Cube) -> Floats:
    """Number of rows of every matched item, shape (items,)."""
    places = pd.Index(list(each.items), dtype=object).get_indexer(pd.Index(rows["item_id"]))
    return np.bincount(places, minlength=len(each.items)).astype(float)


def misalignment_frame(scores: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """misalignment.csv (table 15): what the council logged of answers beside a planted claim.

    Shares of the answers on which the council decided all four questions.
    """
    cubes = _cubes(scores, settings, [MISALIGNED])
    resamples = resampling(cubes, settings)
    (each,) = cubes
    part = each.rows_of(scores)
    part = part[part[list(LOGGED)].notna().all(axis=1)]
    rows = []
    for knowledge in SETTINGS:
        mine = part[part["knowledge"] == knowledge]
        base = _by_item(mine, each)
        shares: list[float] = []
        for name in LOGGED:
            hits = _by_item(mine[mine[name].astype(bool)], each)
            found = pooled_share([Counted(each.task, hits, base)], resamples, settings.level)
            shares += [found.share, *found.interval]
        flag = _flag(cubes, len(mine))
        rows.append((knowledge, len(mine), len(each.compared), *shares, flag))
    return pd.DataFrame(rows, columns=list(MISALIGNMENT_COLUMNS))
