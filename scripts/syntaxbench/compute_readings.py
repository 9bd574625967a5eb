"""Rule script: the statistics of SyntaxBench in every reading of what the paper leaves open.

input: `scores` (parquet) and the CSV files `cells`, `mcnemar_models`, `english_random`, `kendall`;
output: `readings`; params: `models`, `headline_shots`, `seed`, `statistics` (resamples, level,
alpha, yates_below).
"""

from typing import TYPE_CHECKING, Any

from scripts.execution import execute
from scripts.files import read_csv, write_csv
from scripts.syntaxbench.readings import Settings, compute_readings
from scripts.syntaxbench.scoring import read_scores

if TYPE_CHECKING:
    snakemake: Any

STATISTICS = ("cells", "mcnemar_models", "english_random", "kendall")


def main(snakemake: Any) -> None:
    """Read, compute, write."""
    given, params = snakemake.input, snakemake.params
    frames = {name: read_csv(given[name]) for name in STATISTICS}
    settings = Settings(
        models=tuple(params.models),
        headline_shots=params.headline_shots,
        seed=params.seed,
        **params.statistics,
    )
    readings = compute_readings({"scores": read_scores(given.scores), **frames}, settings)
    write_csv(snakemake.output.readings, readings)


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
