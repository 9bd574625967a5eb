"""Write the tokens_*.csv files from the token counts of every model and the scores.

input: `scores` (parquet), `tokens` (one CSV a model, in the order of params.models).
output: frames of `tokens.token_frames` by name. params: models, statistics (resamples, level,
token_bins), seed.
"""

from typing import TYPE_CHECKING, Any

import pandas as pd

from scripts.execution import execute, file_list
from scripts.files import DataError, read_csv, write_csv
from scripts.syntaxbench.tokens import SAMPLE_COLUMNS, token_frames

if TYPE_CHECKING:
    snakemake: Any

#: Columns that are text even where they look like something else ("null" and "inf" are words).
TEXT = ("item_id", "task", "condition", "field", "text", "pieces", "tokeniser")


def read_samples(path: str) -> pd.DataFrame:
    """The token counts of one model; DataError where a column is missing."""
    frame: pd.DataFrame = read_csv(path, dtype=dict.fromkeys(TEXT, str))
    lacking = [name for name in SAMPLE_COLUMNS if name not in frame.columns]
    if lacking:
        raise DataError(f"{path}: no column {', '.join(lacking)}; tokenise the inputs again")
    return frame


def main(snakemake: Any) -> None:
    """Compute the frames and write those that the rule names as output."""
    params = snakemake.params
    paths = file_list(snakemake.input.tokens)
    samples = {model: read_samples(path) for model, path in zip(params.models, paths, strict=True)}
    frames = token_frames(
        pd.read_parquet(snakemake.input.scores),
        samples,
        bins=params.statistics["token_bins"],
        seed=params.seed,
        resamples=params.statistics["resamples"],
        level=params.statistics["level"],
    )
    for name, path in snakemake.output.items():
        write_csv(path, frames[name])


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
