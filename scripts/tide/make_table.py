"""Rule script: one table of TIDE.

input: the frames that the table needs, by name (artefacts.inputs); output: `tex`, `csv`, `html`;
params: `context` (artefacts.context_params); wildcard: `name`.
"""

from typing import TYPE_CHECKING, Any

from scripts import files
from scripts.execution import execute
from scripts.publishing.captions import Context
from scripts.publishing.web import write_forms
from scripts.tide import tables

if TYPE_CHECKING:
    snakemake: Any


def main(snakemake: Any) -> None:
    """Read the inputs, build the table, write all forms."""
    frames = {name: files.read_csv(path) for name, path in snakemake.input.items()}
    context = Context.from_params(snakemake.params.context)
    table = tables.build(snakemake.wildcards.name, frames, context)
    output = snakemake.output
    write_forms(table, output.tex, output.csv, output.html)


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
