"""perturbation.csv: what is flagged, and what of it is identified (table 4, figures 6 to 8).

A positive is a statement called INCORRECT. A verdict that could not be read is neither flag nor
acceptance; being no right answer it counts against the class of its statement (`false_negative`,
`false_positive`), and `unread_perturbed`, `unread_sound` say how many of these there are.

Identification is of all perturbed statements: one that was not flagged is not identified.
`identification_flagged` is of those that were flagged, `identification_partial` has the council's
partial credit. The second step has a matched set of its own (`n_identification`), since the council
can leave an explanation open; `drop` = (flagged - identified) / flagged is of that set, so that it
is no difference of items. Where both sets hold the same perturbed statements it is
(detection - identification) / detection.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from scripts.files import DataError
from scripts.statistics.flags import ONE_CLASS, join_flags
from scripts.tide.statistics.intervals import NAN, Floats, mean_of
from scripts.tide.statistics.matched import Booleans, Cube, Run, Settings, check_scores, cube
from scripts.tide.tasks import IDENTIFICATION, SETTINGS

DETECTION = "perturbation_detection"
COLUMNS = (
    *("model", "mode", "knowledge", "n", "n_perturbed", "true_positive", "false_negative"),
    *("false_positive", "true_negative", "unread_perturbed", "unread_sound", "detection"),
    *("specificity", "n_identification", "identification", "identification_partial"),
    *("identification_flagged", "drop", "flag"),
)


def perturbation_frame(scores: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """One row per run and setting.

    Raises DataError for doubled or unknown rows and for a statement without its label.
    """
    check_scores(scores, settings)
    runs, models = settings.all_runs, settings.model_runs
    read = {"read": scores["verdict"].notna()}
    detected = cube(scores, DETECTION, runs, models, extra=read)
    flagged = {"flagged": scores["category"].ne("not_flagged")}
    identified = cube(scores, IDENTIFICATION, runs, models, extra=flagged)
    labels = perturbed(scores)
    gold = np.array([labels[item] for item in detected.items], dtype=bool)
    rows = [
        {
            **{"model": run[0], "mode": run[1], "knowledge": knowledge},
            **_detection(detected, gold, run, knowledge),
            **_identification(identified, run, knowledge),
        }
        for run in runs
        for knowledge in SETTINGS
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def perturbed(scores: pd.DataFrame) -> Mapping[str, bool]:
    """Whether each statement is perturbed; DataError where rows say nothing or different things."""
    part = scores[scores["task"] == DETECTION]
    labels = part.groupby("item_id")["perturbed"].agg(["nunique", "first"])
    wrong = labels.index[labels["nunique"] != 1]
    if len(wrong):
        raise DataError(
            f"scores.parquet: no single label `perturbed` for {wrong[0]} ({len(wrong)} "
            "statement(s)); score again"
        )
    return {str(item): bool(label) for item, label in labels["first"].items()}


def _detection(detected: Cube, gold: Booleans, run: Run, knowledge: str) -> dict[str, Any]:
    right = detected.of("correct", run, knowledge)
    unread = detected.of("read", run, knowledge) == 0
    there = ~np.isnan(right)
    altered, sound = there & gold, there & ~gold
    hits, passes = int((right[altered] == 1).sum()), int((right[sound] == 1).sum())
    n, n_perturbed = int(there.sum()), int(altered.sum())
    one_class = ONE_CLASS if n and not 0 < n_perturbed < n else ""
    return {
        "n": n,
        "n_perturbed": n_perturbed,
        "true_positive": hits,
        "false_negative": n_perturbed - hits,
        "false_positive": n - n_perturbed - passes,
        "true_negative": passes,
        "unread_perturbed": int((unread & altered).sum()),
        "unread_sound": int((unread & sound).sum()),
        "detection": hits / n_perturbed if n_perturbed else NAN,
        "specificity": passes / (n - n_perturbed) if n > n_perturbed else NAN,
        "flag": join_flags([detected.flag(n), one_class]),
    }


def _identification(identified: Cube, run: Run, knowledge: str) -> dict[str, Any]:
    named = identified.of("correct", run, knowledge)
    flagged = identified.of("flagged", run, knowledge)
    share, among = mean_of(named), mean_of(named[flagged == 1])
    return {
        "n_identification": int((~np.isnan(named)).sum()),
        "identification": share,
        "identification_partial": mean_of(identified.of("partial", run, knowledge)),
        "identification_flagged": among,
        "drop": _drop(flagged, share),
    }


def _drop(flagged: Floats, identified: float) -> float:
    detected = mean_of(flagged)
    return (detected - identified) / detected if detected > 0 else NAN
