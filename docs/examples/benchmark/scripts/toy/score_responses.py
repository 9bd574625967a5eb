"""Rule script: scores and accuracy of all runs.

input: `item_file`, `responses`; output: `scores`, `accuracy`; params: `statistics`, `seed`.
"""

from typing import TYPE_CHECKING, Any

import pandas as pd

from scripts.execution import execute, file_list
from scripts.files import read_records, write_csv, write_parquet
from scripts.records import Item, Response
from scripts.toy.sums import accuracy, score

if TYPE_CHECKING:
    snakemake: Any


def main(snakemake: Any) -> None:
    """Score every reply, then count."""
    items = {item.item_id: item for item in read_records(snakemake.input.item_file, Item)}
    files = file_list(snakemake.input.responses)
    replies = [reply for file in files for reply in read_records(file, Response)]
    scores = pd.DataFrame([score(items[reply.item_id], reply) for reply in replies])
    chosen, seed = snakemake.params.statistics, snakemake.params.seed
    write_parquet(snakemake.output.scores, scores)
    write_csv(snakemake.output.accuracy, accuracy(scores, **chosen, seed=seed))


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
