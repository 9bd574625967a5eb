"""Rule script: the explorer of a run from the rows of its benchmarks.

input: `rows` (a file a benchmark), `template`, `style`, `scripts`, `signpost` (parts of the page);
output: `page`, `pages` (a folder with the pages and their list, `pages.json`;
no page where one holds all); params: `run` (kind, seed).
"""

from typing import TYPE_CHECKING, Any

from scripts.execution import execute, file_list
from scripts.publishing.explorer.page_files import Assets, write_pages
from scripts.publishing.explorer.pages import read_pages

if TYPE_CHECKING:
    snakemake: Any


def main(snakemake: Any) -> None:
    """Read the rows, write the pages, say what was written."""
    given, run = snakemake.input, snakemake.params.run
    assets = Assets.read(given.template, given.style, file_list(given.scripts), given.signpost)
    note = f"{run['kind']} run, seed {run['seed']}"
    pages = read_pages(file_list(given.rows))
    for line in write_pages(pages, assets, note, snakemake.output.page, snakemake.output.pages):
        print(line)


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
