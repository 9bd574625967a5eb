"""Rule script: what the question pairs of every task are like.

input: `questions`, `item_files`; output: `dataset`. No params.
"""

from typing import TYPE_CHECKING, Any

from scripts import files
from scripts.execution import execute
from scripts.records import Item
from scripts.tide.rows import QuestionPair
from scripts.tide.statistics.dataset_statistics import dataset_frame

if TYPE_CHECKING:
    snakemake: Any


def main(snakemake: Any) -> None:
    """Read the pairs and items, count, write."""
    given = snakemake.input
    pairs = files.read_records(given.questions, QuestionPair)
    items = [item for path in given.item_files for item in files.read_records(path, Item)]
    files.write_csv(snakemake.output.dataset, dataset_frame(pairs, items))


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
