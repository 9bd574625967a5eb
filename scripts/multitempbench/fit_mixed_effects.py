"""Rule script: the crossed regression of MultiTempBench with all its robustness rows.

input: `scores` (scores.parquet), `tokenisation` (tokenisation/{model}.csv of the models, in the
order of params.models), `item_files` (one JSONL file a task), `linearity` (statistics CSV).
output: any of `regression`, `regression_fits`, `regression_variances`, `regression_slopes`.
params: models, languages (resource and corpus_gb by code), seed, and statistics (the section of
the configuration; level, alpha and permutations are read).
"""

from typing import TYPE_CHECKING, Any

import pandas as pd

from scripts.execution import execute
from scripts.files import DataError, read_csv, read_records, write_csv
from scripts.multitempbench.fragmentation import read_tokens
from scripts.multitempbench.regression import compute_frames, summary
from scripts.multitempbench.regression_rows import Settings, build_frame, model_fragmentation
from scripts.records import Item

if TYPE_CHECKING:
    snakemake: Any


def main(snakemake: Any) -> None:
    """Join the inputs, fit everything, write the frames that the rule names."""
    given, params = snakemake.input, snakemake.params
    settings = Settings(
        models=params.models,
        languages=params.languages,
        seed=params.seed,
        level=params.statistics["level"],
        alpha=params.statistics["alpha"],
        permutations=params.statistics["permutations"],
    )
    items = [item for path in given.item_files for item in read_records(path, Item)]
    tokens = dict(zip(params.models, map(read_tokens, given.tokenisation), strict=True))
    frame = build_frame(
        pd.read_parquet(given.scores),
        model_fragmentation(items, tokens),
        read_csv(given.linearity),
        settings,
    )
    frames = compute_frames(frame, settings)
    print(summary(frames))
    for name, path in snakemake.output.items():
        if name not in frames:
            raise DataError(f"no regression frame {name!r}; there are {', '.join(sorted(frames))}")
        write_csv(path, frames[name])


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
