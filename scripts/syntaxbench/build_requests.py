"""Rule script: the prompts of one task for every number of shots."""

from typing import TYPE_CHECKING, Any

from scripts.execution import execute
from scripts.files import read_records, write_records
from scripts.records import Item
from scripts.syntaxbench.prompts import build_requests, load_prompt

if TYPE_CHECKING:
    snakemake: Any


def main(snakemake: Any) -> None:
    """Read items, demonstrations and the prompt; write requests."""
    params = snakemake.params
    requests = build_requests(
        read_records(snakemake.input.item_files, Item),
        read_records(snakemake.input.demonstrations, Item),
        load_prompt(snakemake.input.prompt),
        params.shots,
        params.decoding,
        constrained=params.constrained,
    )
    write_records(snakemake.output.requests, requests)


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
