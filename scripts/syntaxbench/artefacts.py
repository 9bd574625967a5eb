"""The names of SyntaxBench's tables and figures and the statistics that each is made from.

Imports nothing heavy: the Snakefile reads it while it parses. A name maps to the stems of the files
in `results/syntaxbench/statistics/` that its rule must have as input.
"""

from __future__ import annotations

from collections.abc import Iterable

from scripts.publishing import artefacts

TABLES: dict[str, tuple[str, ...]] = {
    "tasks": ("cells",),
    "leaderboard_thinking": ("leaderboard",),
    "reasoning_mode_case": ("cells", "mcnemar_modes"),
    "main_thinking": ("cells", "mcnemar_models"),
    "main_nonthinking": ("cells", "mcnemar_models"),
    "shots": ("cells",),
    "kappa": ("cells",),
    "mcnemar_thinking": ("mcnemar_summary",),
    "mcnemar_nonthinking": ("mcnemar_summary",),
    "kendall": ("kendall",),
    "english_random_gap": ("english_random",),
    "parse_errors": ("cells",),
    "delta_count_chars": ("cells",),
    "delta_edit_distance": ("cells",),
    "thinking_cost": ("cells",),
    "effect_sizes": ("effect_sizes",),
    "leaderboard_nonthinking": ("leaderboard",),
    "class_conditional": ("cells",),
    "readings": ("readings",),
}

FIGURES: dict[str, tuple[str, ...]] = {
    "ema_heatmap": ("cells",),
    "tokens_accuracy": ("tokens_bins",),
    "mode_delta": ("mcnemar_modes",),
    "english_random": ("cells",),
    "shot_curves": ("cells",),
    "kappa_heatmap": ("cells",),
    "kendall_sparklines": ("kendall",),
    "mcnemar_matrix": ("mcnemar_summary",),
    "parse_error_heatmap": ("cells",),
    "point_biserial": ("english_random",),
    "tolerance": ("tolerance",),
    "capability_profile": ("cells",),
    "thinking_pareto": ("cells",),
    "tolerance_thinking": ("tolerance",),
    "leaderboard_pareto": ("cells", "leaderboard"),
    "dominance_thinking": ("mcnemar_models",),
    "dominance_nonthinking": ("mcnemar_models",),
}


def require(kind: str, name: str, frames: Iterable[str]) -> None:
    """Raise DataError unless a "table" or "figure" exists and its statistics are at hand."""
    artefacts.require(kind, {"table": TABLES, "figure": FIGURES}[kind], name, frames)
