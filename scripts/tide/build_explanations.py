"""Rule script: the second step of perturbation detection for one run.

input: `item_files` (the task's items), `requests` and `responses` (one file a setting each, in the
same order), `prompts`; output: `explanations` (one file, empty where the model called nothing
incorrect); params: `decoding`; wildcards: `model`, `mode`.
"""

from typing import TYPE_CHECKING, Any

from scripts.execution import execute, file_list
from scripts.files import read_records, write_records
from scripts.judging.score_files import read_run
from scripts.records import Item, Request
from scripts.tide.explanations import build_explanations
from scripts.tide.prompts import load_prompts

if TYPE_CHECKING:
    snakemake: Any


def main(snakemake: Any) -> None:
    """Read the first step, write the requests of the second."""
    given, run = snakemake.input, snakemake.wildcards
    explanations = build_explanations(
        [item for path in file_list(given.item_files) for item in read_records(path, Item)],
        [each for path in file_list(given.requests) for each in read_records(path, Request)],
        read_run(file_list(given.responses), run.model, run.mode),
        load_prompts(str(given.prompts)),
        snakemake.params.decoding,
    )
    write_records(str(snakemake.output.explanations), explanations)


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
