"""Rule script: measured against published, over all benchmarks of the run.

input: the comparisons (compare_published.py), by benchmark; output: `pdf`, `png`, `tex` (the plot),
`tables` (LaTeX that shows the table of every paper); params: `titles` (benchmark to title),
`context` (captions.publication_params of any benchmark).
"""

from typing import TYPE_CHECKING, Any

from scripts import files
from scripts.execution import execute
from scripts.publishing import figures, reproduction_summary
from scripts.publishing.captions import Context

if TYPE_CHECKING:
    snakemake: Any


def main(snakemake: Any) -> None:
    """Read the comparisons, draw, write all forms."""
    params, output = snakemake.params, snakemake.output
    frames = {params.titles[name]: files.read_csv(path) for name, path in snakemake.input.items()}
    place = rf"\ResultsDir/reproduction/{reproduction_summary.PLOT}.pdf"
    with figures.style():
        drawing = reproduction_summary.draw(frames, Context.from_params(params.context))
        figures.write(drawing, output.pdf, output.png, output.tex, place)
    shown = [rf"\showresult{{reproduction/{name}}}" for name in params.titles]
    files.write_text(output.tables, "\n".join(["% Written by the workflow.", *shown]) + "\n")


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
