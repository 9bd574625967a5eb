"""Rule script: the results of TIDE in every reading of what the paper leaves open.

input: `scores`; output: `readings`; params: `models`, `baselines`, `runs` ([model, mode] each),
`main` ([embedder, depth]), `date_weight`, `statistics` (resamples, level), `seed`.
"""

from typing import TYPE_CHECKING, Any

from scripts.execution import execute
from scripts.files import write_csv
from scripts.tide.readings import Weighting, compute_readings
from scripts.tide.score_table import read_scores
from scripts.tide.statistics.matched import Settings

if TYPE_CHECKING:
    snakemake: Any


def main(snakemake: Any) -> None:
    """Read, compute, write."""
    params = snakemake.params
    settings = Settings(
        models=list(params.models),
        baselines=list(params.baselines),
        runs=[(run[0], run[1]) for run in params.runs],
        main=(params.main[0], params.main[1]),
        variants={},
        seed=params.seed,
        **params.statistics,
    )
    weighting = Weighting(params.date_weight, settings)
    readings = compute_readings(read_scores(snakemake.input.scores), weighting)
    write_csv(snakemake.output.readings, readings)


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
