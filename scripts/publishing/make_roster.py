"""Rule script: the table of all models of the run.

output: `tex`, `csv`, `html`; params: `roster` (roster.roster_params).
"""

from typing import TYPE_CHECKING, Any

from scripts.execution import execute
from scripts.publishing import roster
from scripts.publishing.web import write_forms

if TYPE_CHECKING:
    snakemake: Any


def main(snakemake: Any) -> None:
    """Build the table, write all forms."""
    params = snakemake.params.roster
    table = roster.build(params["entries"], params["benchmarks"], params["titles"])
    write_forms(table, snakemake.output.tex, snakemake.output.csv, snakemake.output.html)


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
