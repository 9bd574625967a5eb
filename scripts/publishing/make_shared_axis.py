"""Rule script: the table of all tokenisers across the benchmarks.

input: a file per benchmark, by its name (shared_axis.inputs); output: `tex`, `csv`, `html`;
params: `roster` (roster.roster_params), `axes` (the declarations, by benchmark).
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
    roster, axes = snakemake.params.roster, snakemake.params.axes
    # In the order of the run; parameters are sorted.
    axes = {name: axes[name] for name in roster["benchmarks"] if name in axes}
    table = shared_axis.build(roster["entries"], axes, frames)
    write_forms(table, snakemake.output.tex, snakemake.output.csv, snakemake.output.html)


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
