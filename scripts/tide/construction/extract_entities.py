"""Rule script: entities and concepts of every element, under canonical names.

input.elements; by params.method also input.shipped, or input.prompts (prompts.yaml)
and what the model needs (`weights` or `answers`). output: entities, report. params: method (model,
shipped), generator (name, entry, mode, max_new_tokens, store; no output of the rule),
jurisdiction.
"""

from typing import TYPE_CHECKING, Any

from scripts.execution import execute, exit_on_sigterm
from scripts.files import read_records, write_records
from scripts.inference.registry import prepared_path
from scripts.tide.construction import entities
from scripts.tide.construction.construction_prompts import load_prompts
from scripts.tide.construction.construction_report import known_method, write_report
from scripts.tide.construction.generator import BENCHMARK, GREEDY, open_generator
from scripts.tide.prompts import JURISDICTION
from scripts.tide.rows import Element

if TYPE_CHECKING:
    snakemake: Any


def main(snakemake: Any) -> None:
    """Read the elements, take the shipped entities or ask for them, write rows and report."""
    exit_on_sigterm()
    given, params = snakemake.input, snakemake.params
    elements = read_records(given.elements, Element)
    if known_method(params.method) == "shipped":
        rows, report = entities.shipped_rows(elements, given.shipped)
    else:
        prompts = load_prompts(given.prompts, getattr(params, "jurisdiction", JURISDICTION))
        with open_generator(params.generator, prepared_path(given)) as model:
            rows, report = entities.extract(elements, prompts, model.ask, GREEDY)
            model.write_manifest(snakemake.output.get("manifest"), BENCHMARK)
    write_records(snakemake.output.entities, rows)
    write_report(snakemake.output.report, report)


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
