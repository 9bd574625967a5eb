"""Rule script: a benchmark's published figures beside the measured ones.

input: `declaration`, `published` (the files that it names), `names` (one file or none) and
`statistics`; output: `csv` (every figure), `tex`, `html` (a row for every table and quantity);
params: `benchmark`, `context` (captions.publication_params), `published` (the directory of the
published files), `results` (the results directory).
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from scripts import files
from scripts.execution import execute
from scripts.publishing import reproduction, reproduction_summary
from scripts.publishing.captions import Context
from scripts.publishing.measured import Run
from scripts.publishing.published_names import read_names
from scripts.publishing.tables import to_latex
from scripts.publishing.web import to_html

if TYPE_CHECKING:
    snakemake: Any


def main(snakemake: Any) -> None:
    """Read the declaration and the files, write all forms."""
    source, params, output = snakemake.input, snakemake.params, snakemake.output
    results = Path(params.results)
    made = {Path(path).relative_to(results).as_posix() for path in source.statistics}
    run = Run(results, made, Context.from_params(params.context, params.benchmark))
    declaration = reproduction.read_declaration(source.declaration)
    names: dict[str, str] = {}
    for path in source.names:
        names |= read_names(path)
    frame = reproduction.compare(declaration, Path(params.published), names, run)
    table = reproduction_summary.build(declaration["title"], params.benchmark, frame, run.context)
    files.write_csv(output.csv, frame)
    files.write_text(output.tex, to_latex(table))
    files.write_text(output.html, to_html(table, Path(output.csv).name))


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
