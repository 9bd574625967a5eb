"""Rule script: the table of all tokenisers across the benchmarks.

input: a statistics file per benchmark, by its name (shared_axis.inputs); output: `tex`, `csv`,
`html`; params: `roster` (roster.roster_params).
"""

from typing import TYPE_CHECKING, Any

from scripts import files
from scripts.execution import execute
from scripts.publishing import shared_axis
from scripts.publishing.web import write_forms

if TYPE_CHECKING:
    snakemake: Any


def main(snakemake: Any) -> None:
    """Read the statistics, build the table, write all forms."""
    frames = {name: files.read_csv(path) for name, path in snakemake.input.items()}
    table = shared_axis.build(snakemake.params.roster["entries"], frames)
    write_forms(table, snakemake.output.tex, snakemake.output.csv, snakemake.output.html)


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
