"""Rule script: the probes of all models in one file each, and the linearity drawn from them.

input.probes, input.geometry, input.pca: lists of CSVs, one a model, in the order of the models.
output.probes, output.geometry, output.pca, output.linearity.
params: headline_token, held_out_format.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from scripts.execution import execute
from scripts.files import DataError, read_csv, write_csv
from scripts.probing import analysis

if TYPE_CHECKING:
    snakemake: Any


def gathered(paths: Sequence[str], columns: Sequence[str]) -> pd.DataFrame:
    """The files one below the other; a file with other columns is a DataError."""
    frames: list[pd.DataFrame] = []
    for path in paths:
        frame = read_csv(path)
        if list(frame.columns) != list(columns):
            raise DataError(f"{path}: columns {list(frame.columns)}, expected {list(columns)}")
        frames.append(frame)
    if not frames:
        return pd.DataFrame(columns=list(columns))
    return pd.concat(frames, ignore_index=True)


def main(snakemake: Any) -> None:
    """Read the models' files, write the four of the benchmark."""
    asked, given = snakemake.output, snakemake.input
    probes = gathered(given.probes, analysis.PROBE_COLUMNS)
    write_csv(asked.probes, probes)
    write_csv(asked.geometry, gathered(given.geometry, analysis.GEOMETRY_COLUMNS))
    write_csv(asked.pca, gathered(given.pca, analysis.PCA_COLUMNS))
    params = snakemake.params
    write_csv(
        asked.linearity,
        analysis.linearity_frame(probes, params.headline_token, params.held_out_format),
    )


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
