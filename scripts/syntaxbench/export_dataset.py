"""Rule script: the items as a data set: JSONL per task, LICENSES.md, croissant.json."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from scripts.execution import execute
from scripts.files import atomic_write, dump_line, read_records, write_json, write_text
from scripts.records import Item
from scripts.syntaxbench.dataset import croissant, flat_rows, licence_note

if TYPE_CHECKING:
    snakemake: Any


def main(snakemake: Any) -> None:
    """Read item files (and demonstrations, where the rule gives them); write the data set."""
    params, output = snakemake.params, snakemake.output
    sources = snakemake.input.item_files
    pools = snakemake.input.get("demonstrations") or [None] * len(sources)
    files: dict[str, bytes] = {}
    rows: list[dict[str, Any]] = []
    for source, pool, target in zip(sources, pools, output.item_files, strict=True):
        shown = read_records(pool, Item) if pool else []
        flat = flat_rows(read_records(source, Item), shown)
        files[Path(target).name] = b"".join(dump_line(row) for row in flat)
        with atomic_write(target, "wb") as handle:
            handle.write(files[Path(target).name])
        rows += flat
    write_json(output.croissant, croissant(files, params.corpora, params.seed))
    write_text(output.licences, licence_note(params.corpora, rows))


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
