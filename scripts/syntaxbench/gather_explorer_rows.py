"""Rule script: SyntaxBench's items, prompts and answers as rows of the explorer.

input: `item_files`, `requests`, `responses` (lists of files), `scores`; output: the one file.
"""

from typing import TYPE_CHECKING, Any

from scripts.execution import execute
from scripts.publishing.explorer.rows import Sources, write_rows
from scripts.syntaxbench.explorer_rows import ADAPTER
from scripts.syntaxbench.scoring import read_scores

if TYPE_CHECKING:
    snakemake: Any


def main(snakemake: Any) -> None:
    """Read the inputs, write the rows."""
    given = snakemake.input
    sources = Sources.of(given, read_scores(given.scores))
    print(f"{write_rows(snakemake.output[0], ADAPTER, sources):,} answers")


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
