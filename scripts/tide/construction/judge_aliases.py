"""Rule script: verdicts on the proposed pairs of names, unit by unit.

input: candidates, units, entities; by params.method also input.shipped, or input.prompts and what
the model needs (`weights` or `answers`). output: alias_verdicts, report. params: method (model,
shipped), generator (name, entry, mode, max_new_tokens, store; no output of the rule),
jurisdiction.
"""

from typing import TYPE_CHECKING, Any

from scripts.execution import execute, exit_on_sigterm
from scripts.files import read_records, write_records
from scripts.inference.registry import prepared_path
from scripts.tide.construction import aliases
from scripts.tide.construction.candidates import Candidate
from scripts.tide.construction.construction_prompts import load_prompts
from scripts.tide.construction.construction_report import known_method, write_report
from scripts.tide.construction.entities import surface_forms
from scripts.tide.construction.generator import BENCHMARK, GREEDY, open_generator
from scripts.tide.construction.set_cover import Unit
from scripts.tide.prompts import JURISDICTION
from scripts.tide.rows import EntityRow

if TYPE_CHECKING:
    snakemake: Any


def main(snakemake: Any) -> None:
    """Take the shipped verdicts or ask for them; every candidate pair gets at least one row."""
    exit_on_sigterm()
    given, params = snakemake.input, snakemake.params
    pairs = read_records(given.candidates, Candidate)
    units = read_records(given.units, Unit)
    forms = surface_forms(read_records(given.entities, EntityRow))
    if known_method(params.method) == "shipped":
        rows, report = aliases.shipped_verdicts(pairs, units, forms, given.shipped)
    else:
        prompts = load_prompts(given.prompts, getattr(params, "jurisdiction", JURISDICTION))
        with open_generator(params.generator, prepared_path(given)) as model:
            rows, report = aliases.judge(
                pairs, units, forms, prompts, model.ask, judge_name=model.name, decoding=GREEDY
            )
            model.write_manifest(snakemake.output.get("manifest"), BENCHMARK)
    write_records(snakemake.output.alias_verdicts, rows)
    write_report(snakemake.output.report, report)


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
