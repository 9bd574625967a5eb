"""Rule script: the numbers of the running text.

input: `declarations` (one file of paper/numbers per benchmark, in the order of params.contexts) and
the result files that they name; output: `tex`, `json`; params: `contexts` (benchmark to
captions.publication_params), `results` (the results directory), `origins` (of each result file the
rule and its inputs).
"""

from typing import TYPE_CHECKING, Any

from scripts import files
from scripts.execution import execute
from scripts.publishing import captions, numbers
from scripts.publishing.captions import Context
from scripts.publishing.origins import Ledger

if TYPE_CHECKING:
    snakemake: Any


def main(snakemake: Any) -> None:
    """Read the declaration and the files, write both outputs."""
    params = snakemake.params
    contexts = {name: Context.from_params(part, name) for name, part in params.contexts.items()}
    parts = []
    for path, context in zip(snakemake.input.declarations, contexts.values(), strict=True):
        declaration = numbers.read_declaration(path)
        labels = {m.key: m.label for m in (*context.models, *context.baselines)}
        facts = captions.facts(context)
        parts.append(numbers.collect(declaration, params.results, facts, labels))
    collection = numbers.join(parts)
    files.write_text(snakemake.output.tex, collection.to_latex())
    ledger = Ledger(params.origins, params.results)
    files.write_json(snakemake.output.json, collection.to_json(ledger.made))


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
