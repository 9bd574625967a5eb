"""Rule script: TIDE's items, prompts, answers and votes as rows of the explorer.

input: `item_files`, `requests`, `responses` (lists of files), `judgements` (judges outer, runs
inner), `scores`; output: the one file; params: `judges`, `runs` ([model, mode] each).
"""

from typing import TYPE_CHECKING, Any

from scripts.execution import execute
from scripts.publishing.explorer.rows import Sources, write_rows
from scripts.tide.explorer_rows import ADAPTER
from scripts.tide.score_table import read_scores

if TYPE_CHECKING:
    snakemake: Any


def main(snakemake: Any) -> None:
    """Read the inputs, write the rows."""
    given = snakemake.input
    sources = Sources.of(given, read_scores(given.scores), snakemake.params)
    print(f"{write_rows(snakemake.output[0], ADAPTER, sources):,} answers")


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
