"""From the scores frame to every statistics frame of SyntaxBench.

`compute_frames` is the entry: scores in (columns in docs/architecture.md), a dictionary of frames
out, one per CSV file. Conventions that are not a formula:

* `condition == "all"` is the union of English and random. It is *not estimable* when one of the two
  has no scored item: its values are empty, it leaves every family, and the task leaves the macro.
* An unscored row (`correct` null) is not counted in n. A cell with fewer scored items than planned
  is flagged `incomplete`; it stays in its family (the paper's 197 are the cells in which *both
  conditions were evaluated*).
* Baselines get cells, leaderboard rows (without a rank) and tolerance curves, but are no part of
  any comparison or family.
* The random draws of a cell depend on the seed and the cell's own key only.

Paper: sections 3.5 and 4, appendix A.6.
"""

from __future__ import annotations

import pandas as pd

from scripts.syntaxbench.cell_values import (
    cells_frame,
    kendall_frame,
    leaderboard_frame,
    tolerance_frame,
)
from scripts.syntaxbench.comparisons import (
    Families,
    effect_sizes_frame,
    english_random_frame,
    mcnemar_models_frame,
    mcnemar_modes_frame,
    mcnemar_summary_frame,
)
from scripts.syntaxbench.score_index import Settings, index_scores


def compute_frames(frame: pd.DataFrame, settings: Settings) -> dict[str, pd.DataFrame]:
    """Every statistics frame by file stem (docs/architecture.md lists the columns).

    Raises DataError where the scores do not fit the configuration.
    """
    scores = index_scores(frame, settings)
    families = Families(settings)
    cells = cells_frame(scores, settings)
    pairs = mcnemar_models_frame(scores, settings, families)
    return {
        "cells": cells,
        "leaderboard": leaderboard_frame(cells, settings),
        "mcnemar_models": pairs,
        "mcnemar_summary": mcnemar_summary_frame(pairs, settings),
        "mcnemar_modes": mcnemar_modes_frame(scores, settings, families),
        "english_random": english_random_frame(cells, settings, families),
        "kendall": kendall_frame(cells, settings),
        "effect_sizes": effect_sizes_frame(cells, pairs, settings),
        "tolerance": tolerance_frame(scores, settings),
        "families": families.frame(),
    }
