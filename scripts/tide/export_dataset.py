"""Rule script: the items as a data set: JSONL per task, LICENSES.md, croissant.json.

input.item_files (one file a task); output.item_files (as many), output.croissant, output.licences.
params: corpus (the configuration's entry of the instruments), seed.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from scripts.execution import execute
from scripts.files import atomic_write, dump_line, read_records, write_json, write_text
from scripts.records import Item
from scripts.tide.dataset import croissant, flat_row, licence_note

if TYPE_CHECKING:
    snakemake: Any


def main(snakemake: Any) -> None:
    """Read items; write the data set."""
    params, output = snakemake.params, snakemake.output
    files: dict[str, bytes] = {}
    rows: list[dict[str, Any]] = []
    for source, target in zip(snakemake.input.item_files, output.item_files, strict=True):
        flat = [flat_row(item) for item in read_records(source, Item)]
        files[Path(target).name] = b"".join(dump_line(row) for row in flat)
        with atomic_write(target, "wb") as handle:
            handle.write(files[Path(target).name])
        rows += flat
    write_json(output.croissant, croissant(files, params.corpus, params.seed))
    write_text(output.licences, licence_note(params.corpus, rows))


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
