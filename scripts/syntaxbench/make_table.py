"""Rule script: one table of SyntaxBench from the statistics.

input: the statistics CSVs that the table needs (artefacts.TABLES); output: `tex`, `csv`, `html`;
params: `context` (captions.publication_params); wildcards or params: `name`.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from scripts import files
from scripts.execution import execute
from scripts.publishing.captions import Context
from scripts.publishing.web import write_forms
from scripts.syntaxbench import tables

if TYPE_CHECKING:
    snakemake: Any


def main(snakemake: Any) -> None:
    """Read the inputs, build the table, write all forms."""
    frames = {Path(path).stem: files.read_csv(path) for path in snakemake.input}
    context = Context.from_params(snakemake.params.context)
    table = tables.build(snakemake.wildcards.name, frames, context)
    output = snakemake.output
    write_forms(table, output.tex, output.csv, output.html)


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
