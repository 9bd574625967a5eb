"""Rule script: one table of SyntaxBench from the statistics.

input: the statistics CSVs that the table needs (artefacts.TABLES); output: `tex`, `csv`, `html`;
params: `context` (captions.publication_params); wildcards or params: `name`.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from scripts.execution import execute
from scripts.publishing.layout_files import write_table
from scripts.syntaxbench import tables

if TYPE_CHECKING:
    snakemake: Any


def main(snakemake: Any) -> None:
    """Read the inputs, build the table, write all forms."""
    name, context = snakemake.wildcards.name, snakemake.params.context
    paths = {Path(path).stem: path for path in snakemake.input}
    write_table(tables.build, name, paths, context, snakemake.output)


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
