"""readings.csv of TIDE: its results where the paper's text, captions and footnotes differ.

Everything is computed from the scores of this run's models (docs/reproduction.md numbers the places
in the paper), on the matched sets of the other statistics (statistics/matched.py), every (model,
item) weighing the same; intervals draw items with the answers of all models. Equation 2 is scored
anew from what the council decided about dates, contradiction and meaning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from scripts.statistics.bootstrap import EMPTY, Interval, percentile_interval
from scripts.statistics.council import partial_score, strict_score
from scripts.statistics.flags import MISSING
from scripts.statistics.readings import Reading, readings_frame
from scripts.tide.statistics.intervals import (
    NAN,
    Counted,
    Floats,
    Resamples,
    mean_draws,
    mean_of,
    pooled_share,
    spread,
)
from scripts.tide.statistics.matched import (
    SORTING,
    Cube,
    Settings,
    check_scores,
    cube,
    resampling,
    scored,
)
from scripts.tide.tasks import IDENTIFICATION, SETTINGS, TASKS

MISALIGNED = "context_misalignment"
#: Weights of dates in Equation 2 that the printed bonuses allow; the configured one joins them.
WEIGHTS = (0.26, 0.5, 0.7)
#: (dates matched, contradiction, meaning, weight) to credit.
Rule = Callable[[Sequence[bool], bool, bool, float], float]


def keeps_matched_dates(
    dates: Sequence[bool], contradicting: bool, meaning: bool, weight: float
) -> float:
    """Equation 2 where a contradicting date closes the gate but takes no credit of matched ones."""
    if not dates:
        return float(meaning and not contradicting)
    strict = strict_score(dates, contradicting, meaning)
    return weight * sum(dates) / len(dates) + (1 - weight) * strict


def pays_meaning(dates: Sequence[bool], contradicting: bool, meaning: bool, weight: float) -> float:
    """Equation 2 as the caption of table 17 tells it: the meaning earns its part without dates."""
    if not dates:
        return float(meaning)
    matched = 0.0 if contradicting else sum(dates) / len(dates)
    return weight * matched + (1 - weight) * float(meaning)


@dataclass(frozen=True, slots=True)
class Weighting:
    """The configured weight of dates, and the analyses' settings."""

    date_weight: float
    settings: Settings

    @property
    def rules(self) -> dict[str, tuple[Rule, float]]:
        """Readings of Equation 2 by name: the rule and its weight; the configured one first."""
        weight = self.date_weight
        others = [each for each in WEIGHTS if each != weight]
        return {
            "configured": (partial_score, weight),
            **{f"weight_{each:g}": (partial_score, each) for each in others},
            "keeps_dates": (keeps_matched_dates, weight),
            "pays_meaning": (pays_meaning, weight),
        }


def compute_readings(scores: pd.DataFrame, weighting: Weighting) -> pd.DataFrame:
    """readings.csv; DataError for rows that are doubled or not configured."""
    settings = weighting.settings
    check_scores(scores, settings)
    models = scores[scores["model"].isin(list(settings.models))]
    runs = settings.model_runs
    cubes = {task: cube(models, task, runs, runs) for task in TASKS}
    resamples = resampling(cubes.values(), settings)
    return readings_frame(
        [
            *equation_two(models, weighting),
            *event_sorting(cubes[SORTING], resamples, settings.level),
            *misalignment(models, settings),
            *unrecoverable(list(cubes.values()), resamples, settings.level),
            *identification(models, settings),
            *averages(list(cubes.values()), resamples, settings.level),
            *unscored(models),
        ]
    )


def pooled(
    cubes: Sequence[Cube], name: str, knowledge: str, resamples: Resamples, level: float
) -> tuple[float, Interval, int]:
    """Mean of a value over compared runs and matched items, with its interval and number."""
    parts = []
    for each in cubes:
        values = each.of_compared(name)[:, each.knowledge.index(knowledge)]
        there = ~np.isnan(values)
        hits = np.where(there, values, 0.0).sum(axis=0)
        parts.append(Counted(each.task, hits, there.sum(axis=0).astype(float)))
    found = pooled_share(parts, resamples, level)
    return found.share, found.interval, found.n


# ---- Equation 2 ----------------------------------------------------------------------------------


def recomputed(scores: pd.DataFrame, rule: Rule, weight: float) -> pd.Series[float]:
    """Partial credit of every row by a rule, NaN where the council settled too little for it."""
    known = scores[["dates", "dates_matched", "contradicting", "meaning"]].notna().all(axis=1)
    columns = (scores.loc[known, n] for n in ("dates", "dates_matched", "contradicting", "meaning"))
    credit = [
        rule([True] * matched + [False] * (dates - matched), bool(wrong), bool(meaning), weight)
        for dates, matched, wrong, meaning in zip(*columns, strict=True)
    ]
    out = pd.Series(credit, index=scores.index[known], dtype=float).reindex(scores.index)
    # A reply that no judge read (blank, cut off) is wrong in every reading.
    unread = scores["correct"].notna() & ~scores["category"].eq("judged")
    out[unread & out.isna()] = 0.0
    return out


def equation_two(scores: pd.DataFrame, weighting: Weighting) -> Iterator[Reading]:
    """Partial accuracy of free answers, and its gap to strict accuracy, by reading and setting."""
    settings = weighting.settings
    judged = [name for name, task in TASKS.items() if task.judged]
    free = scores[scores["task"].isin(judged)]
    values = {name: recomputed(free, *rule) for name, rule in weighting.rules.items()}
    whole = pd.concat(values, axis=1).notna().all(axis=1)
    values |= {f"gap_{name}": each - free["correct"].astype(float) for name, each in values.items()}
    kept = free[whole]
    extra: dict[str, Any] = {name: each[whole] for name, each in values.items()}
    runs = settings.model_runs
    cubes = [cube(kept, task, runs, runs, extra=extra) for task in judged]
    resamples = resampling(cubes, settings)
    for knowledge in SETTINGS:
        for quantity, prefix in (("partial", ""), ("gap", "gap_")):
            for name in weighting.rules:
                share, interval, n = pooled(
                    cubes, prefix + name, knowledge, resamples, settings.level
                )
                yield Reading(
                    "equation_two",
                    name,
                    quantity,
                    knowledge,
                    share,
                    *interval,
                    n=n,
                    flag="" if n else MISSING,
                )


# ---- event sorting -------------------------------------------------------------------------------

#: Reading to the value under ICL and under RAG.
SORTING_READINGS = {
    "exact": ("correct", "correct"),
    "graded": ("graded", "graded"),
    "footnote": ("graded", "correct"),
}


def event_sorting(each: Cube, resamples: Resamples, level: float) -> Iterator[Reading]:
    """What ICL adds over RAG: exact orders, pairs in order, and as table 16's footnote says."""
    icl, rag = (each.knowledge.index(name) for name in ("icl", "rag"))
    for reading, (with_documents, with_clauses) in SORTING_READINGS.items():
        found = each.of_compared(with_documents)[:, icl] - each.of_compared(with_clauses)[:, rag]
        by_item = found.mean(axis=0) if found.size else np.full(len(each.items), NAN)
        value = mean_of(by_item)
        draws = mean_draws(by_item, resamples[each.task]) if len(each.items) else np.empty(0)
        interval = spread(percentile_interval(draws, level)) if draws.size else EMPTY
        yield Reading(
            "event_sorting",
            reading,
            "icl_minus_rag",
            value=value,
            low=interval.low,
            high=interval.high,
            n=int(found.size),
            flag="" if found.size else MISSING,
        )


# ---- the planted claim ---------------------------------------------------------------------------


def misalignment(scores: pd.DataFrame, settings: Settings) -> Iterator[Reading]:
    """Answers beside a planted claim: right by the date gate, by meaning alone, as logged."""
    part = scores[scores["task"].eq(MISALIGNED)]
    names = {"strict": "correct", "meaning": "meaning", "stated": "authoritative"}
    known = part[list(names.values())].notna().all(axis=1)
    extra: dict[str, Any] = {
        name: part.loc[known, column].astype(float) for name, column in names.items()
    }
    runs = settings.model_runs
    each = cube(part[known], MISALIGNED, runs, runs, extra=extra)
    resamples = resampling([each], settings)
    for knowledge in SETTINGS:
        for reading in names:
            share, interval, n = pooled([each], reading, knowledge, resamples, settings.level)
            flag = "" if n else MISSING
            yield Reading(
                "misalignment", reading, "right", knowledge, share, *interval, n=n, flag=flag
            )


# ---- outcomes and averages -----------------------------------------------------------------------


def unrecoverable(cubes: Sequence[Cube], resamples: Resamples, level: float) -> Iterator[Reading]:
    """Answers that the gold documents do not repair: wrong in both settings, or wrong with them."""
    parts: dict[str, list[Counted]] = {"both": [], "icl": []}
    for each in cubes:
        right = each.of_compared("correct") == 1
        memory, documents = (right[:, each.knowledge.index(n)] for n in ("parametric", "icl"))
        base = np.full(right.shape[2], float(right.shape[0]))
        for reading, lost in (("both", ~memory & ~documents), ("icl", ~documents)):
            parts[reading].append(Counted(each.task, lost.sum(axis=0).astype(float), base))
    for reading, counted in parts.items():
        found = pooled_share(counted, resamples, level)
        yield Reading(
            "unrecoverable",
            reading,
            "lost",
            value=found.share,
            low=found.interval.low,
            high=found.interval.high,
            n=found.n,
            flag="" if found.n else MISSING,
        )


def identification(scores: pd.DataFrame, settings: Settings) -> Iterator[Reading]:
    """What is identified: of all perturbed statements, with partial credit, of those flagged."""
    runs = settings.model_runs
    part = scores[scores["task"].eq(IDENTIFICATION)]
    flagged = part["category"].ne("not_flagged")
    right = part["correct"].astype("Float64").to_numpy(dtype=float, na_value=NAN)
    extra: dict[str, Any] = {"among": pd.Series(np.where(flagged, right, NAN), index=part.index)}
    each = cube(part, IDENTIFICATION, runs, runs, extra=extra)
    resamples = resampling([each], settings)
    names = {"all": "correct", "partial": "partial", "flagged": "among"}
    for knowledge in SETTINGS:
        for reading, name in names.items():
            share, interval, n = pooled([each], name, knowledge, resamples, settings.level)
            flag = "" if n else MISSING
            yield Reading(
                "identification", reading, "identified", knowledge, share, *interval, n=n, flag=flag
            )


def averages(cubes: Sequence[Cube], resamples: Resamples, level: float) -> Iterator[Reading]:
    """Mean strict accuracy with every task weighing the same, and with every answer doing so."""
    there = [each for each in cubes if each.items and each.compared]
    for knowledge in SETTINGS:
        cells = [pooled([each], "correct", knowledge, resamples, level) for each in there]
        means = np.array([share for share, _, _ in cells])
        n = sum(count for _, _, count in cells)
        macro = mean_of(means) if means.size else NAN
        flag = "" if n else MISSING
        low, high = _macro_interval(there, knowledge, resamples, level)
        key = ("averages", "macro", "strict", knowledge)
        yield Reading(*key, value=macro, low=low, high=high, n=n, flag=flag)
        share, interval, n = pooled(there, "correct", knowledge, resamples, level)
        yield Reading("averages", "pooled", "strict", knowledge, share, *interval, n=n, flag=flag)


def _macro_interval(
    cubes: Sequence[Cube], knowledge: str, resamples: Resamples, level: float
) -> Interval:
    draws: list[Floats] = []
    for each in cubes:
        values = each.of_compared("correct")[:, each.knowledge.index(knowledge)].mean(axis=0)
        draws.append(mean_draws(values, resamples[each.task]))
    return spread(percentile_interval(np.mean(draws, axis=0), level)) if draws else EMPTY


def unscored(scores: pd.DataFrame) -> Iterator[Reading]:
    """Strict accuracy over all tasks with open answers left out, and counted as wrong."""
    for knowledge in SETTINGS:
        part = scores[scores["knowledge"].eq(knowledge) & scores["task"].isin(list(TASKS))]
        have = scored(part)
        if have.all():
            continue
        right = int(part.loc[have, "correct"].astype(bool).sum())
        for reading, n in (("left_out", int(have.sum())), ("wrong", len(part))):
            value = right / n if n else NAN
            yield Reading(
                "unscored", reading, "strict", knowledge, value, n=n, flag="" if n else MISSING
            )
