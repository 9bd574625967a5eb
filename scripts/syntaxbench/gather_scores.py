"""Rule script: the scores of every run to one scores.parquet."""

from typing import TYPE_CHECKING, Any

from scripts.execution import execute
from scripts.files import write_parquet
from scripts.syntaxbench.scoring import gather_scores, read_scores

if TYPE_CHECKING:
    snakemake: Any


def main(snakemake: Any) -> None:
    """Read `input.scores` (a list of files); write the one output."""
    frames = [read_scores(path) for path in snakemake.input.scores]
    write_parquet(snakemake.output[0], gather_scores(frames))


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
