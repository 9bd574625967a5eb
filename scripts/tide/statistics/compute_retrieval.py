"""Rule script: how many of the gold clauses each retriever finds.

input.statistics (one CSV of tide/retrieve_clauses.py an embedder, in the order of
params.embedders); output.retrieval (CSV: embedder, rerank, task, depth, n, recall, any_hit,
full_recall, mean_reciprocal_rank, clauses, none_resolved). params: embedders.
"""

from typing import TYPE_CHECKING, Any

import pandas as pd

from scripts.execution import execute
from scripts.files import read_csv, write_csv
from scripts.tide.retrieval import COLUMNS, summarise

if TYPE_CHECKING:
    snakemake: Any


def main(snakemake: Any) -> None:
    """Summarise every embedder's file; their order is the configuration's."""
    frames = [
        summarise(read_csv(path), name)
        for path, name in zip(snakemake.input.statistics, snakemake.params.embedders, strict=True)
    ]
    frame = pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=list(COLUMNS))
    write_csv(snakemake.output.retrieval, frame)


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
