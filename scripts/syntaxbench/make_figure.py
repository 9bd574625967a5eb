"""Rule script: one figure of SyntaxBench from the statistics.

input: the statistics CSVs that the figure needs (artefacts.FIGURES); output: `pdf`, `png`, `tex`
(the float with its caption); params: `context` (captions.publication_params); wildcard: `name`.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from scripts import files
from scripts.execution import execute
from scripts.publishing import figures as style
from scripts.publishing.captions import Context
from scripts.syntaxbench import figures

if TYPE_CHECKING:
    snakemake: Any


def main(snakemake: Any) -> None:
    """Read the inputs, draw the figure, write all forms."""
    frames = {Path(path).stem: files.read_csv(path) for path in snakemake.input}
    context = Context.from_params(snakemake.params.context)
    name = snakemake.wildcards.name
    with style.style():
        drawing = figures.build(name, frames, context)
        path = rf"\ResultsDir/syntaxbench/figures/{name}.pdf"
        output = snakemake.output
        style.write(drawing, output.pdf, output.png, output.tex, path)


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
