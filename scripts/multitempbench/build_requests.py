"""Rule script: one prompt per item of one task, in the item's language.

input.item_files (one file), input.prompts (one file a language); output.requests. params: decoding.
"""

from typing import TYPE_CHECKING, Any

from scripts.execution import execute
from scripts.files import read_records, write_records
from scripts.multitempbench.prompts import build_requests, load_prompts
from scripts.records import Item

if TYPE_CHECKING:
    snakemake: Any


def main(snakemake: Any) -> None:
    """Read items and prompts; write requests."""
    files = snakemake.input
    requests = build_requests(
        read_records(str(files.item_files), Item),
        load_prompts(snakemake.params.languages),
        snakemake.params.decoding,
    )
    write_records(snakemake.output.requests, requests)


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
