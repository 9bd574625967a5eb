"""Rule script: what the models got right, what the settings change, and the retriever ablation.

input: `scores`; output: `accuracy`, `perturbation`, `outcomes`, `meaning_vs_date`, `misalignment`,
`setting_differences`, `ablation_by_task`, `ablation_by_model`; params: `models`, `baselines`,
`runs` ([model, mode] each), `main` ([embedder, depth]), `variants` (knowledge to [embedder, depth,
dates]), `statistics` (resamples, level), `seed`.
"""

from typing import TYPE_CHECKING, Any

from scripts import files
from scripts.execution import execute
from scripts.tide.score_table import read_scores
from scripts.tide.statistics import analysis

if TYPE_CHECKING:
    snakemake: Any


def main(snakemake: Any) -> None:
    """Read the scores, compute, write one file a statistic."""
    params = snakemake.params
    settings = analysis.Settings(
        models=list(params.models),
        baselines=list(params.baselines),
        runs=[(run[0], run[1]) for run in params.runs],
        main=(params.main[0], params.main[1]),
        variants={name: tuple(value) for name, value in params.variants.items()},
        seed=params.seed,
        **params.statistics,
    )
    frames = analysis.statistics_frames(read_scores(snakemake.input.scores), settings)
    for name, frame in frames.items():
        files.write_csv(snakemake.output[name], frame)


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
