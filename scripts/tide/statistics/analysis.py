"""The analyses of TIDE's scores in one place: the statistics files that one pass over them makes.

Conventions are in docs/statistics.md ("TIDE") and in the modules: `matched` (what is compared),
`intervals`, `accuracy`, `perturbation`, `outcomes`, `differences`, `ablation`.
"""

from __future__ import annotations

import pandas as pd

from scripts.tide.statistics.ablation import ablation_frames
from scripts.tide.statistics.accuracy import accuracy_frame
from scripts.tide.statistics.differences import differences_frame
from scripts.tide.statistics.matched import ALL, SORTING, WITHOUT_SORTING, Settings
from scripts.tide.statistics.outcomes import meaning_frame, misalignment_frame, outcomes_frame
from scripts.tide.statistics.perturbation import perturbation_frame

__all__ = [
    "ALL",
    "SORTING",
    "WITHOUT_SORTING",
    "Settings",
    "ablation_frames",
    "accuracy_frame",
    "differences_frame",
    "meaning_frame",
    "misalignment_frame",
    "outcomes_frame",
    "perturbation_frame",
    "statistics_frames",
]


def statistics_frames(scores: pd.DataFrame, settings: Settings) -> dict[str, pd.DataFrame]:
    """Every statistics file (its name without `.csv`) that follows from the scores alone.

    Raises DataError for rows that are doubled or not configured.
    """
    by_task, by_model = ablation_frames(scores, settings)
    return {
        "accuracy": accuracy_frame(scores, settings),
        "perturbation": perturbation_frame(scores, settings),
        "outcomes": outcomes_frame(scores, settings),
        "meaning_vs_date": meaning_frame(scores, settings),
        "misalignment": misalignment_frame(scores, settings),
        "setting_differences": differences_frame(scores, settings),
        "ablation_by_task": by_task,
        "ablation_by_model": by_model,
    }
