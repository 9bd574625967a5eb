"""Rule script: one figure of TIDE.

input: the frames that the figure needs, by name (artefacts.inputs); output: `pdf`, `png`, `tex`
(the float with its caption); params: `context` (artefacts.context_params); wildcard: `name`.
"""

from typing import TYPE_CHECKING, Any

from scripts.execution import execute
from scripts.publishing.layout_files import write_figure
from scripts.tide import figures

if TYPE_CHECKING:
    snakemake: Any


def main(snakemake: Any) -> None:
    """Read the inputs, draw the figure, write all forms."""
    name, context = snakemake.wildcards.name, snakemake.params.context
    paths = dict(snakemake.input.items())
    write_figure(figures.build, name, paths, context, snakemake.output)


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
