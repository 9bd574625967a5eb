"""Rule script: the answers of one baseline to requests of either step.

input: `requests` (files of every task and setting, or one file of second steps), `item_files`;
output: `answers`; params: `baseline` (majority, uniform, extractive, gold_answer), `seed`.
"""

from typing import TYPE_CHECKING, Any

from scripts.execution import execute, file_list
from scripts.files import atomic_write, dump_line, read_records
from scripts.records import Item, Request
from scripts.tide.baselines import baseline_answers

if TYPE_CHECKING:
    snakemake: Any


def main(snakemake: Any) -> None:
    """Read items and requests, answer, write rows."""
    given, params = snakemake.input, snakemake.params
    items = [item for path in file_list(given.item_files) for item in read_records(path, Item)]
    with atomic_write(str(snakemake.output.answers), "wb") as handle:
        for path in file_list(given.requests):
            requests = read_records(path, Request)
            for row in baseline_answers(params.baseline, requests, items, int(params.seed)):
                handle.write(dump_line(row))


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
