"""Rule script: the means over models and the ranges that the paper's text speaks of.

input: `accuracy`, `perturbation`, `setting_differences`, `complexity` (statistics CSVs); output:
`summary`; params: `models`.
"""

from typing import TYPE_CHECKING, Any

from scripts.execution import execute
from scripts.files import read_csv, write_csv
from scripts.tide.statistics.summary import summary_frame

if TYPE_CHECKING:
    snakemake: Any

STATISTICS = ("accuracy", "perturbation", "setting_differences", "complexity")


def main(snakemake: Any) -> None:
    """Read, gather, write."""
    frames = {name: read_csv(snakemake.input[name]) for name in STATISTICS}
    write_csv(snakemake.output.summary, summary_frame(frames, snakemake.params.models))


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
