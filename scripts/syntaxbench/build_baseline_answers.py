"""Rule script: the answers of one baseline to every request of every task."""

from typing import TYPE_CHECKING, Any

from scripts.execution import execute
from scripts.files import atomic_write, dump_line, read_records
from scripts.records import Item, Request
from scripts.syntaxbench.baselines import baseline_answers

if TYPE_CHECKING:
    snakemake: Any


def main(snakemake: Any) -> None:
    """Read items, demonstrations and requests (one file a task each, same order); write rows."""
    files, params = snakemake.input, snakemake.params
    with atomic_write(snakemake.output[0], "wb") as handle:
        for paths in zip(files.item_files, files.demonstrations, files.requests, strict=True):
            items, demonstrations = (read_records(path, Item) for path in paths[:2])
            requests = read_records(paths[2], Request)
            for row in baseline_answers(
                params.baseline, requests, items, demonstrations, params.seed
            ):
                handle.write(dump_line(row))


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
