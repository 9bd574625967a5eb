"""Rule script: question pairs that pass every check; what was dropped, and by which check.

input: threads, elements, entities; by params.method also input.shipped, or input.prompts and what
the model needs (`weights` or `answers`). output: questions, generation. params: method (model,
shipped), generator (name, entry, mode, max_new_tokens, store; no output of the rule),
sampled_elements, per_task (null: all), seed, jurisdiction.
"""

from typing import TYPE_CHECKING, Any

import pandas as pd

from scripts.execution import execute, exit_on_sigterm
from scripts.files import read_records, write_csv, write_records
from scripts.inference.registry import prepared_path
from scripts.tide.construction import generation
from scripts.tide.construction.construction_prompts import load_prompts
from scripts.tide.construction.construction_report import known_method
from scripts.tide.construction.generator import BENCHMARK, GREEDY, open_generator
from scripts.tide.construction.provisions import Corpus
from scripts.tide.prompts import JURISDICTION
from scripts.tide.rows import Element, EntityRow, Thread

if TYPE_CHECKING:
    snakemake: Any


def main(snakemake: Any) -> None:
    """Take the shipped pairs or ask for them, check each, and keep the configured number."""
    exit_on_sigterm()
    given, params = snakemake.input, snakemake.params
    threads = read_records(given.threads, Thread)
    corpus = Corpus(read_records(given.elements, Element))
    if known_method(params.method) == "shipped":
        result = generation.shipped_pairs(threads, corpus, given.shipped)
    else:
        prompts = load_prompts(given.prompts, getattr(params, "jurisdiction", JURISDICTION))
        entities = read_records(given.entities, EntityRow)
        with open_generator(params.generator, prepared_path(given)) as model:
            result = generation.generate(
                threads,
                corpus,
                entities,
                prompts,
                model.ask,
                origin=model.name,
                sampled_elements=int(params.sampled_elements),
                decoding=GREEDY,
            )
            model.write_manifest(snakemake.output.get("manifest"), BENCHMARK)
    result.reduce(params.per_task, int(params.seed))
    write_records(snakemake.output.questions, result.pairs)
    rows = pd.DataFrame(generation.as_rows(result.rows), columns=list(generation.COLUMNS))
    write_csv(snakemake.output.generation, rows)


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
