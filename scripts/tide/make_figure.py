"""Rule script: one figure of TIDE.

input: the frames that the figure needs, by name (artefacts.inputs); output: `pdf`, `png`, `tex`
(the float with its caption); params: `context` (artefacts.context_params); wildcard: `name`.
"""

from typing import TYPE_CHECKING, Any

from scripts import files
from scripts.execution import execute
from scripts.publishing import figures as style
from scripts.publishing.captions import Context
from scripts.tide import figures

if TYPE_CHECKING:
    snakemake: Any


def main(snakemake: Any) -> None:
    """Read the inputs, draw the figure, write all forms."""
    frames = {name: files.read_csv(path) for name, path in snakemake.input.items()}
    context = Context.from_params(snakemake.params.context)
    name = snakemake.wildcards.name
    with style.style():
        drawing = figures.build(name, frames, context)
        path = rf"\ResultsDir/tide/figures/{name}.pdf"
        output = snakemake.output
        style.write(drawing, output.pdf, output.png, output.tex, path)


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
