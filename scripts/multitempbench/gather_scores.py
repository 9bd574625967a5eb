"""Rule script: the scores of every run to one scores.parquet.

input: `scores` (a list of files); output: one file.
"""

from typing import TYPE_CHECKING, Any

from scripts.execution import execute
from scripts.files import write_parquet
from scripts.multitempbench.scoring import gather_scores, read_scores

if TYPE_CHECKING:
    snakemake: Any


def main(snakemake: Any) -> None:
    """Read every score file, gather them and write the one output."""
    write_parquet(
        snakemake.output[0], gather_scores([read_scores(path) for path in snakemake.input.scores])
    )


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
