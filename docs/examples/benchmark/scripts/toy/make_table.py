"""Rule script: the table.

input: `accuracy`; output: `tex`, `csv`, `html`; params: `context` (captions.publication_params).
"""

from typing import TYPE_CHECKING, Any

from scripts.execution import execute
from scripts.publishing.layout_files import write_table
from scripts.toy.sums import build_table

if TYPE_CHECKING:
    snakemake: Any


def main(snakemake: Any) -> None:
    """Write the table in all its forms."""
    files = {"accuracy": snakemake.input.accuracy}
    write_table(build_table, "accuracy", files, snakemake.params.context, snakemake.output)


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
