"""Rule script: one figure of SyntaxBench from the statistics.

input: the statistics CSVs that the figure needs (artefacts.FIGURES); output: `pdf`, `png`, `tex`
(the float with its caption); params: `context` (captions.publication_params); wildcard: `name`.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from scripts.execution import execute
from scripts.publishing.layout_files import write_figure
from scripts.syntaxbench import figures

if TYPE_CHECKING:
    snakemake: Any


def main(snakemake: Any) -> None:
    """Read the inputs, draw the figure, write all forms."""
    name, context = snakemake.wildcards.name, snakemake.params.context
    paths = {Path(path).stem: path for path in snakemake.input}
    write_figure(figures.build, name, paths, context, snakemake.output)


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
