"""Rule script: the numbers of the running text, and what the paper must know about the run.

input: `declarations` (paper/numbers.yaml) and the result files that it names; output: `tex`,
`json`, `setup`; params: `context` (captions.publication_params), `results` (the results directory).
"""

from typing import TYPE_CHECKING, Any

from scripts import files
from scripts.execution import execute
from scripts.publishing import captions, numbers
from scripts.publishing.captions import Context

if TYPE_CHECKING:
    snakemake: Any


def main(snakemake: Any) -> None:
    """Read the declaration and the files, write the three outputs."""
    params = snakemake.params
    context = Context.from_params(params.context)
    declaration = numbers.read_declaration(snakemake.input.declarations)
    labels = {m.key: m.label for m in (*context.models, *context.baselines)}
    collection = numbers.collect(declaration, params.results, captions.facts(context), labels)
    files.write_text(snakemake.output.tex, collection.to_latex())
    files.write_json(snakemake.output.json, collection.to_json())
    files.write_text(snakemake.output.setup, captions.setup_latex(context))


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
