"""Rule script: accuracy against fragmentation and linearity, point by point and as r.

input: `accuracy`, `mdfr`, `linearity` (statistics CSVs), `published` (the paper's r); output:
`correlation_points`, `correlations`; params: models, languages, tasks, seed, and statistics (the
section of the configuration; resamples and level are read).
"""

from typing import TYPE_CHECKING, Any

from scripts.execution import execute
from scripts.files import read_csv, write_csv
from scripts.multitempbench import correlations
from scripts.multitempbench.correlations import Settings

if TYPE_CHECKING:
    snakemake: Any


def main(snakemake: Any) -> None:
    """Join the points, correlate them, write both files."""
    files, params, output = snakemake.input, snakemake.params, snakemake.output
    settings = Settings(
        models=params.models,
        languages=params.languages,
        tasks=params.tasks,
        seed=params.seed,
        resamples=params.statistics["resamples"],
        level=params.statistics["level"],
    )
    frame = correlations.points(
        read_csv(files.accuracy), read_csv(files.mdfr), read_csv(files.linearity), settings
    )
    write_csv(output.correlation_points, frame)
    found = correlations.correlations(frame, read_csv(files.published), settings)
    write_csv(output.correlations, found)


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
