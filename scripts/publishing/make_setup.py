"""Rule script: what the paper must know about the run before its first word.

output: `tex`; params: `kind`, `benchmarks`, `parts`, `shared_axis`, for setup.setup_latex.
"""

from typing import TYPE_CHECKING, Any

from scripts import files
from scripts.execution import execute
from scripts.publishing.setup import setup_latex

if TYPE_CHECKING:
    snakemake: Any


def main(snakemake: Any) -> None:
    """Write the file."""
    params = snakemake.params
    text = setup_latex(params.kind, params.benchmarks, params.parts, shared_axis=params.shared_axis)
    files.write_text(snakemake.output.tex, text)


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
