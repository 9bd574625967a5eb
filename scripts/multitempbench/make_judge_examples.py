"""Rule script: the table of judged examples, one reply of every language and verdict.

input: `scores`, `item_files`, `responses`; output: `tex`, `csv`, `html`; params: `context`
(artefacts.context_params).
"""

from typing import TYPE_CHECKING, Any

import pandas as pd

from scripts.execution import execute
from scripts.multitempbench.examples import judge_examples
from scripts.publishing.captions import Context
from scripts.publishing.web import write_forms

if TYPE_CHECKING:
    snakemake: Any


def main(snakemake: Any) -> None:
    """Read the inputs, build the table, write all forms."""
    files, output = snakemake.input, snakemake.output
    context = Context.from_params(snakemake.params.context)
    scores = pd.read_parquet(files.scores, dtype_backend="numpy_nullable")
    table = judge_examples(scores, files.item_files, files.responses, context)
    write_forms(table, output.tex, output.csv, output.html)


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
