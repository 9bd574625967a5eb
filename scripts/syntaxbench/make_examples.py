"""Rule script: the table of examples, one reply of every configuration to every task.

input: `scores`, `item_files`, `responses` (those of the headline shots); output: `tex`, `csv`,
`html`; params: `context` (captions.publication_params).
"""

from typing import TYPE_CHECKING, Any

from scripts.execution import execute
from scripts.publishing.captions import Context
from scripts.publishing.web import write_forms
from scripts.syntaxbench.examples import examples
from scripts.syntaxbench.scoring import read_scores

if TYPE_CHECKING:
    snakemake: Any


def main(snakemake: Any) -> None:
    """Read the inputs, build the table, write all forms."""
    files, output = snakemake.input, snakemake.output
    context = Context.from_params(snakemake.params.context)
    table = examples(read_scores(files.scores), files.item_files, files.responses, context)
    write_forms(table, output.tex, output.csv, output.html)


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
