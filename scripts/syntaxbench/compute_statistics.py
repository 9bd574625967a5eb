"""Write every statistics CSV of SyntaxBench from the scores.

input: `scores` (parquet). output: any of the frames of `analysis.compute_frames` by name.
params: seed, tasks (planned items per condition by task), shots, models, baselines, modes (by
model), and statistics (the section of the configuration; families, resamples, level, alpha,
exact_below, yates_below and, where given, tolerances are read).
"""

from typing import TYPE_CHECKING, Any

import pandas as pd

from scripts.execution import execute
from scripts.files import DataError, write_csv
from scripts.syntaxbench.analysis import compute_frames
from scripts.syntaxbench.score_index import Settings

if TYPE_CHECKING:
    snakemake: Any

FROM_STATISTICS = (
    "families",
    "resamples",
    "level",
    "alpha",
    "exact_below",
    "yates_below",
    "tolerances",
)


def main(snakemake: Any) -> None:
    """Compute all frames, write those that the rule names as output."""
    params = snakemake.params
    section = params.statistics
    settings = Settings(
        seed=params.seed,
        items=params.tasks,
        shots=params.shots,
        models=params.models,
        baselines=params.baselines,
        modes=params.modes,
        **{name: section[name] for name in FROM_STATISTICS if name in section},
    )
    frames = compute_frames(pd.read_parquet(snakemake.input.scores), settings)
    for name, path in snakemake.output.items():
        if name not in frames:
            raise DataError(f"no statistics frame {name!r}; there are {', '.join(sorted(frames))}")
        write_csv(path, frames[name])


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
