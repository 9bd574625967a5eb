"""Rule script: what this run says about the findings of the studies.

input: `claims` (files of claims), the statistics that they name; output: `json`, `csv`, `tex` (the
commands of the text), `html` (all claims), `tables` (a LaTeX table for each benchmark of the run,
in the order of params.contexts); params: `contexts` (benchmark to captions.publication_params),
`benchmarks` (all that there are), `labels` (display names of the models of the roster), `results`
(the results directory), `titles` (display names of the benchmarks of the run). The log has a line a
claim, the terminal the number of each verdict.
"""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scripts import files
from scripts.execution import execute, file_list
from scripts.publishing import captions, claim_outputs, claims
from scripts.publishing.captions import Context
from scripts.publishing.claim_tests import Surroundings
from scripts.publishing.numbers import Source
from scripts.publishing.tables import to_frame, to_latex
from scripts.publishing.web import to_html

if TYPE_CHECKING:
    snakemake: Any


def main(snakemake: Any) -> None:
    """Read the claims, judge them, write every form."""
    params, output = snakemake.params, snakemake.output
    surroundings = {}
    for name, part in params.contexts.items():
        context = Context.from_params(part, name)
        models = tuple(context.model_keys())
        surroundings[name] = Surroundings(captions.facts(context), models, params.labels)
    declared = claims.read_claims(file_list(snakemake.input.claims), params.benchmarks)
    found = claims.judge(declared, Source(params.results), surroundings)
    whole = claim_outputs.build(found, params.titles)
    files.write_json(output.json, claim_outputs.to_json(found))
    files.write_csv(output.csv, to_frame(whole))
    files.write_text(output.html, to_html(whole, Path(output.csv).name))
    files.write_text(output.tex, claim_outputs.to_latex(found, params.labels))
    tables = [claim_outputs.build(found, params.titles, name) for name in params.contexts]
    files.write_text(output.tables, "".join(to_latex(table) for table in tables if table.rows))
    for verdict in found:
        print(verdict.line())
    for name in params.contexts:
        numbers = claim_outputs.counts(found, name)
        words = ", ".join(f"{numbers[word]} {word}" for word in claims.VERDICTS)
        print(f"findings of {params.titles.get(name, name)}: {words}", file=sys.stderr)


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
