"""Rule script: the responses of one run and their judgements to scores/{model}.{mode}.parquet.

input: `item_files`, `requests`, `responses` (lists of files), `judgements` (the primary judge's
file of this run); output: one file; params: `judge` (the primary judge's name); wildcards: `model`,
`mode`.
"""

from typing import TYPE_CHECKING, Any

from scripts.execution import execute
from scripts.files import read_records, write_parquet
from scripts.judging.score_files import read_run
from scripts.multitempbench.scoring import score_frame
from scripts.records import Item, Judgement, Request

if TYPE_CHECKING:
    snakemake: Any


def main(snakemake: Any) -> None:
    """Read the rule's inputs, join them and write the scores."""
    given, run = snakemake.input, snakemake.wildcards
    frame = score_frame(
        [item for path in given.item_files for item in read_records(path, Item)],
        [request for path in given.requests for request in read_records(path, Request)],
        read_run(given.responses, run.model, run.mode),
        read_records(str(given.judgements), Judgement),
        str(snakemake.params.judge),
    )
    write_parquet(snakemake.output[0], frame)


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
