"""Rule script: the table of examples, one question answered in every setting for each outcome.

input: `scores`, `item_files`, `responses`; output: `tex`, `csv`, `html`; params: `context`
(artefacts.context_params).
"""

from typing import TYPE_CHECKING, Any

from scripts.execution import execute
from scripts.publishing.captions import Context
from scripts.publishing.web import write_forms
from scripts.tide.examples import examples
from scripts.tide.score_table import read_scores

if TYPE_CHECKING:
    snakemake: Any


def main(snakemake: Any) -> None:
    """Read the inputs, build the table, write all forms."""
    inputs, output = snakemake.input, snakemake.output
    context = Context.from_params(snakemake.params.context)
    table = examples(read_scores(inputs.scores), inputs.item_files, inputs.responses, context)
    write_forms(table, output.tex, output.csv, output.html)


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
