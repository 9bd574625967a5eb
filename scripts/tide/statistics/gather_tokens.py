"""Rule script: the Bengali-English token tax of every model.

input: `tokens` (one file a tokenised model, in the order of params.tokenised); output: `tokens`;
params: `models`, `tokenised`, `statistics` (resamples, level), `seed`.
"""

from typing import TYPE_CHECKING, Any

from scripts import files
from scripts.execution import execute, file_list
from scripts.tide.statistics.tokens import tokens_frame

if TYPE_CHECKING:
    snakemake: Any


def main(snakemake: Any) -> None:
    """Read every model's counts, write the ratios."""
    params = snakemake.params
    paths = file_list(snakemake.input.tokens)
    # A fingerprint can look like a number.
    samples = {
        name: files.read_csv(path, dtype={"tokeniser": str})
        for name, path in zip(params.tokenised, paths, strict=True)
    }
    frame = tokens_frame(samples, list(params.models), params.seed, params.statistics)
    files.write_csv(snakemake.output.tokens, frame)


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
