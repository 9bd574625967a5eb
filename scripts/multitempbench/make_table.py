"""Rule script: one table of MultiTempBench.

input: the frames that the table needs, by name (artefacts.inputs); output: `tex`, `csv`, `html`;
params: `context` (artefacts.context_params); wildcard: `name`.
"""

from typing import TYPE_CHECKING, Any

from scripts.execution import execute
from scripts.multitempbench import tables
from scripts.publishing.layout_files import write_table

if TYPE_CHECKING:
    snakemake: Any


def main(snakemake: Any) -> None:
    """Read the inputs, build the table, write all forms."""
    name, context = snakemake.wildcards.name, snakemake.params.context
    paths = dict(snakemake.input.items())
    write_table(tables.build, name, paths, context, snakemake.output)


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
