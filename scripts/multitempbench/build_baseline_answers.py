"""Rule script: the answers of one baseline to every request of every task.

input.item_files, input.requests (one file a task each, in the same order); output.answers. params:
baseline (majority, uniform, solver), calendars (the options of scripts/dates/formats.py), seed.
"""

from typing import TYPE_CHECKING, Any

from scripts.dates.formats import Options
from scripts.execution import execute
from scripts.files import atomic_write, dump_line, read_records
from scripts.multitempbench.baselines import baseline_answers
from scripts.records import Item, Request

if TYPE_CHECKING:
    snakemake: Any


def main(snakemake: Any) -> None:
    """Read items and requests, answer, write rows."""
    files, params = snakemake.input, snakemake.params
    options = Options(**params.calendars)
    with atomic_write(str(snakemake.output.answers), "wb") as handle:
        for item_file, request_file in zip(files.item_files, files.requests, strict=True):
            items = read_records(item_file, Item)
            requests = read_records(request_file, Request)
            for row in baseline_answers(
                params.baseline, requests, items, options=options, seed=params.seed
            ):
                handle.write(dump_line(row))


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
