"""Rule script: archive files whose answers have the paper's published margins."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from scripts.execution import execute
from scripts.files import atomic_write, dump_line, read_records
from scripts.records import Item
from scripts.syntaxbench.replay import ReplayError, archive_rows, read_plan

if TYPE_CHECKING:
    snakemake: Any


def main(snakemake: Any) -> None:
    """Read `input.item_files` (a list of files) and the tables that `params.replay` names.

    `params.runs` lists the [model, mode] of each file of `output.archives`, in the same order.
    """
    params = snakemake.params
    items = [item for path in snakemake.input.item_files for item in read_records(path, Item)]
    rows = archive_rows(read_plan(params.replay, params.seed), items)
    runs = [(model, mode) for model, mode in params.runs]
    if sorted(runs) != sorted(rows):
        raise ReplayError(
            f"the counts are for {sorted(rows)}, the configuration asks for {sorted(runs)}; "
            "make syntaxbench.models and replay.names agree"
        )
    for run, path in zip(runs, snakemake.output.archives, strict=True):
        with atomic_write(Path(path), "wb") as handle:
            for row in rows[run]:
                handle.write(dump_line(row))


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
