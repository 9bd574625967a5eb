"""Rule script: accuracy with its intervals, and what the data set holds.

input: `scores` (parquet), `item_files`; output: `accuracy`, `dataset`; params: modes (by model and
baseline, in display order), languages, tasks, formats, seed, and statistics (the section of the
configuration; resamples and level are read).
"""

from typing import TYPE_CHECKING, Any

import pandas as pd

from scripts.execution import execute
from scripts.files import write_csv
from scripts.multitempbench import analysis
from scripts.multitempbench.analysis import Settings

if TYPE_CHECKING:
    snakemake: Any


def main(snakemake: Any) -> None:
    """Compute both frames and write them."""
    params, output = snakemake.params, snakemake.output
    settings = Settings(
        modes=params.modes,
        languages=params.languages,
        tasks=params.tasks,
        formats=params.formats,
        seed=params.seed,
        resamples=params.statistics["resamples"],
        level=params.statistics["level"],
    )
    scores = pd.read_parquet(
        snakemake.input.scores, columns=list(analysis.SCORE_COLUMNS), dtype_backend="numpy_nullable"
    )
    write_csv(output.accuracy, analysis.accuracy_frame(scores, settings))
    items = analysis.read_items(snakemake.input.item_files)
    write_csv(output.dataset, analysis.dataset_frame(items, params.languages, params.formats))


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
