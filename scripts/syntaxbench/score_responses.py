"""Rule script: the responses of one model in one mode to scores/{model}.{mode}.parquet."""

from typing import TYPE_CHECKING, Any

from scripts.execution import execute
from scripts.files import read_records, write_parquet
from scripts.judging.score_files import read_run
from scripts.records import Item, Request
from scripts.syntaxbench.scoring import score_responses, scores_to_frame

if TYPE_CHECKING:
    snakemake: Any


def main(snakemake: Any) -> None:
    """Read `input.item_files`, `.requests`, `.responses` (lists of files); write the one output.

    `params.tolerance` is the tolerance of relaxed accuracy; wildcards `model` and `mode`.
    """
    run = snakemake.wildcards
    responses = read_run(snakemake.input.responses, run.model, run.mode)
    scores = score_responses(
        [item for path in snakemake.input.item_files for item in read_records(path, Item)],
        [request for path in snakemake.input.requests for request in read_records(path, Request)],
        responses,
        snakemake.params.tolerance,
    )
    write_parquet(snakemake.output[0], scores_to_frame(scores))


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
