"""Rule script: the index of every number, table and figure of the paper.

input: `numbers` (numbers.json), `shown` (LaTeX files of the tables and figures); output: `tex`,
`csv`, `html` (the numbers) and `results_html` (tables and figures); params: `results` (the results
directory), `origins` (of each shown file's data the rule and its inputs).
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from scripts import files
from scripts.execution import execute
from scripts.publishing import result_index, tables, web
from scripts.publishing.origins import Ledger

if TYPE_CHECKING:
    snakemake: Any


def main(snakemake: Any) -> None:
    """Read the numbers and the shown files, write the index in all forms."""
    params, output = snakemake.params, snakemake.output
    macros = files.read_json(snakemake.input.numbers)["macros"]
    ledger = Ledger(params.origins, params.results)
    shown = result_index.read_shown(snakemake.input.shown, params.results)
    numbers = result_index.numbers_table(macros)
    results = result_index.results_table(shown, ledger)
    files.write_text(output.tex, tables.to_latex(numbers) + tables.to_latex(results))
    files.write_csv(output.csv, result_index.to_frame(macros, shown, ledger))
    for page, table in ((output.html, numbers), (output.results_html, results)):
        on_screen = result_index.without_pages(table)
        files.write_text(page, web.to_html(on_screen, Path(output.csv).name))


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
