"""Rule script: items and prompts.

output: `item_file`, `requests`; params: `digits`, `each`, `seed`, `decoding`.
"""

from typing import TYPE_CHECKING, Any

from scripts.execution import execute
from scripts.files import write_records
from scripts.toy.sums import build_items, build_requests

if TYPE_CHECKING:
    snakemake: Any


def main(snakemake: Any) -> None:
    """Draw the sums, and ask each."""
    params = snakemake.params
    items = build_items(params.digits, params.each, params.seed)
    write_records(snakemake.output.item_file, items)
    write_records(snakemake.output.requests, build_requests(items, params.decoding))


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
