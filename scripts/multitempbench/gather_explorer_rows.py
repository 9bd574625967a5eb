"""Rule script: MultiTempBench's items, prompts, answers and verdicts as rows of the explorer.

input: `item_files`, `requests`, `responses` (lists of files), `judgements` (judges outer, runs
inner), `scores`; output: the one file; params: `judges`, `runs` ([model, mode] each).
"""

from typing import TYPE_CHECKING, Any

from scripts.execution import execute
from scripts.multitempbench.explorer_rows import ADAPTER
from scripts.multitempbench.scoring import read_scores
from scripts.publishing.explorer.rows import Sources, write_rows

if TYPE_CHECKING:
    snakemake: Any


def main(snakemake: Any) -> None:
    """Read the inputs, write the rows."""
    given = snakemake.input
    sources = Sources.of(given, read_scores(given.scores), snakemake.params)
    print(f"{write_rows(snakemake.output[0], ADAPTER, sources):,} answers")


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
