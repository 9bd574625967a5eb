"""Rule script: the scores of every run in one file, and what a person should look at.

input: `scores`, `undecided` (lists of files); output: `scores`, `review`.
"""

from typing import TYPE_CHECKING, Any

from scripts.execution import execute, file_list
from scripts.files import read_csv, write_csv, write_parquet
from scripts.tide.review import gather_review
from scripts.tide.score_table import gather_scores, read_scores

if TYPE_CHECKING:
    snakemake: Any


def main(snakemake: Any) -> None:
    """Read every run's files, gather them and write the two outputs."""
    given = snakemake.input
    scores = gather_scores([read_scores(path) for path in file_list(given.scores)])
    review = gather_review([read_csv(path, dtype="str") for path in file_list(given.undecided)])
    write_parquet(snakemake.output.scores, scores)
    write_csv(snakemake.output.review, review)


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
