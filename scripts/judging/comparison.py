"""How far judges agree with each other and with people: agreement, kappa, confusion.

The people's verdict on a reply is the majority of its annotators; a tie is undecided, left out and
counted. Judge names in the files: `human` is that majority, and a row `human`, `human` is about the
annotators among themselves (mean pairwise agreement; kappa only where they are two; Krippendorff's
alpha in any case).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import pandas as pd

from scripts.files import DataError
from scripts.judging.labels import Label
from scripts.judging.score_files import some
from scripts.judging.verdicts import VERDICTS, confusion
from scripts.records import Judgement
from scripts.statistics.agreement import (
    NAN,
    kappa_draws,
    kappa_nominal,
    krippendorff_alpha,
    majority,
)
from scripts.statistics.bootstrap import percentile_interval
from scripts.statistics.flags import MISSING, join_flags
from scripts.statistics.seeding import cell_generator

HUMAN = "human"
AGREEMENT_COLUMNS = (
    *("judge_a", "judge_b", "n", "agreement", "kappa", "kappa_low", "kappa_high"),
    *("alpha", "left_out", "flag"),
)
CONFUSION_COLUMNS = ("judge_a", "judge_b", "verdict_a", "verdict_b", "n")
#: (model, mode, item) of one judged reply.
Reply = tuple[str, str, str]
Verdicts = Mapping[Reply, str | None]


def verdicts_of(
    judgements: Sequence[Judgement], judge: str, model: str, mode: str
) -> dict[Reply, str | None]:
    """One judge's verdicts on one run by reply; DataError for a row that is not the judge's.

    A reply that was lost to the backend, or never asked for, is no reply: it is not in the result.
    """
    out: dict[Reply, str | None] = {}
    for judgement in judgements:
        item_id = judgement.answers.get("item_id")
        verdict = judgement.answers.get("verdict")
        known = verdict is None or verdict in VERDICTS
        if judgement.judge != judge or not isinstance(item_id, str) or not known:
            raise DataError(
                f"judgement of request {judgement.request_id}: judge {judgement.judge!r}, item "
                f"{item_id!r}, verdict {verdict!r}; expected a verdict of {judge!r}, judge again"
            )
        if judgement.answers.get("route") not in ("inference_error", "not_run"):
            out[model, mode, item_id] = verdict
    return out


def human_verdicts(labels: Sequence[Label]) -> dict[Reply, str | None]:
    """The majority of the annotators of every labelled reply; None for a tie."""
    given: dict[Reply, list[str]] = {}
    for label in labels:
        given.setdefault((label.model, label.mode, label.item_id), []).append(label.verdict)
    return {reply: majority(verdicts) for reply, verdicts in given.items()}


def compare(
    judges: Mapping[str, Verdicts],
    labels: Sequence[Label],
    *,
    resamples: int,
    level: float,
    seed: int,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """(agreement, confusion) of every pair of judges, and with people where there are labels.

    `judges` maps names to verdicts; a pair is compared on the replies that both were given, `n` of
    which got a verdict from both and `left_out` did not. Raises DataError for a label of a reply
    that no judge was given.
    """
    sides: dict[str, Verdicts] = dict(judges)
    if labels:
        sides[HUMAN] = human_verdicts(labels)
        judged = set().union(*judges.values()) if judges else set()
        unknown = [reply[2] for reply in sides[HUMAN] if reply not in judged]
        if unknown:
            raise DataError(
                f"labels of {len(unknown)} replies that were not judged: {some(unknown)}; correct "
                "their item_id"
            )
    agreement: list[dict[str, Any]] = []
    counts: list[dict[str, Any]] = []
    for first, second in combinations(sides, 2):
        rng = cell_generator(seed, "judge_agreement", first, second)
        row, table = _pair(sides[first], sides[second], resamples, level, rng)
        agreement.append({"judge_a": first, "judge_b": second, **row})
        counts += [
            {"judge_a": first, "judge_b": second, "verdict_a": a, "verdict_b": b, "n": int(n)}
            for a, line in zip(VERDICTS, table, strict=True)
            for b, n in zip(VERDICTS, line, strict=True)
        ]
    if labels:
        row = _annotators(labels, resamples, level, seed)
        agreement.append({"judge_a": HUMAN, "judge_b": HUMAN, **row})
    return (
        pd.DataFrame(agreement, columns=list(AGREEMENT_COLUMNS)),
        pd.DataFrame(counts, columns=list(CONFUSION_COLUMNS)),
    )


def _pair(
    first: Verdicts, second: Verdicts, resamples: int, level: float, rng: Any
) -> tuple[dict[str, Any], Any]:
    shared = sorted(set(first) & set(second))
    both = [(a, b) for reply in shared if (a := first[reply]) and (b := second[reply])]
    table = confusion(both)
    values: dict[str, Any] = {"n": len(both), "left_out": len(shared) - len(both), "alpha": NAN}
    if not both:
        empty = dict.fromkeys(("agreement", "kappa", "kappa_low", "kappa_high"), NAN)
        return {**values, **empty, "flag": MISSING}, table
    kappa, flag = kappa_nominal(table)
    interval = percentile_interval(kappa_draws(table, resamples, rng), level)
    low, high = (NAN, NAN) if flag else interval
    agreement = sum(a == b for a, b in both) / len(both)
    return {
        **values,
        "agreement": agreement,
        "kappa": kappa,
        "kappa_low": low,
        "kappa_high": high,
        "flag": join_flags([flag]),
    }, table


def _annotators(labels: Sequence[Label], resamples: int, level: float, seed: int) -> dict[str, Any]:
    """Agreement of the annotators among themselves; `left_out` counts replies with one label."""
    by_annotator: dict[str, dict[Reply, str | None]] = {}
    for label in labels:
        reply = (label.model, label.mode, label.item_id)
        by_annotator.setdefault(label.annotator, {})[reply] = label.verdict
    names = sorted(by_annotator)
    replies = sorted({reply for given in by_annotator.values() for reply in given})
    pairs = [
        (a, b)
        for one, other in combinations(names, 2)
        for reply in replies
        if (a := by_annotator[one].get(reply)) and (b := by_annotator[other].get(reply))
    ]
    several = sum(sum(reply in by_annotator[name] for name in names) > 1 for reply in replies)
    codes: dict[str | None, float] = {v: float(code) for code, v in enumerate(VERDICTS)}
    ratings = [[codes.get(by_annotator[n].get(r), NAN) for r in replies] for n in names]
    alpha, flag = krippendorff_alpha(ratings, "nominal")
    row: dict[str, Any] = dict.fromkeys(("kappa", "kappa_low", "kappa_high"), NAN)
    if len(names) == 2:
        rng = cell_generator(seed, "judge_agreement", HUMAN, HUMAN)
        row, _ = _pair(by_annotator[names[0]], by_annotator[names[1]], resamples, level, rng)
    return {
        **row,
        "n": several,
        "agreement": sum(a == b for a, b in pairs) / len(pairs) if pairs else NAN,
        "alpha": alpha,
        "left_out": len(replies) - several,
        "flag": join_flags([flag]),
    }
