"""Rule script: topics that evolve, with a timeline of dated instruments each.

input: clusters, elements, entities; by params.method also input.shipped, or input.prompts and what
the model needs (`weights` or `answers`). output: threads, report. params: method (model, shipped),
generator (name, entry, mode, max_new_tokens, store; no output of the rule), jurisdiction.
"""

from typing import TYPE_CHECKING, Any

from scripts.execution import execute, exit_on_sigterm
from scripts.files import read_records, write_records
from scripts.inference.registry import prepared_path
from scripts.tide.construction import threads
from scripts.tide.construction.construction_prompts import load_prompts
from scripts.tide.construction.construction_report import known_method, write_report
from scripts.tide.construction.generator import BENCHMARK, GREEDY, open_generator
from scripts.tide.construction.provisions import Corpus
from scripts.tide.prompts import JURISDICTION
from scripts.tide.rows import Cluster, Element, EntityRow

if TYPE_CHECKING:
    snakemake: Any


def main(snakemake: Any) -> None:
    """Take the shipped threads or ask for them; only checked threads are written."""
    exit_on_sigterm()
    given, params = snakemake.input, snakemake.params
    clusters = read_records(given.clusters, Cluster)
    corpus = Corpus(read_records(given.elements, Element))
    if known_method(params.method) == "shipped":
        rows, report = threads.shipped_threads(clusters, corpus, given.shipped)
    else:
        prompts = load_prompts(given.prompts, getattr(params, "jurisdiction", JURISDICTION))
        entities = read_records(given.entities, EntityRow)
        with open_generator(params.generator, prepared_path(given)) as model:
            rows, report = threads.find(
                clusters, corpus, entities, prompts, model.ask, decoding=GREEDY
            )
            model.write_manifest(snakemake.output.get("manifest"), BENCHMARK)
    write_records(snakemake.output.threads, rows)
    write_report(snakemake.output.report, report)


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
