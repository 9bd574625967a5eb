"""Rule script: what the models got right, what the settings change, and the retriever ablation.

input: `scores`; output: `accuracy`, `perturbation`, `outcomes`, `meaning_vs_date`, `misalignment`,
`setting_differences`, `ablation_by_task`, `ablation_by_model`; params: `models`, `baselines`,
`runs` ([model, mode] each), `main` ([embedder, depth]), `variants` (knowledge to [embedder, depth,
dates]), `statistics` (resamples, level), `seed`.
"""

from typing import TYPE_CHECKING, Any

from scripts import files
from scripts.execution import execute
from scripts.tide import analysis
from scripts.tide.score_table import read_scores

if TYPE_CHECKING:
    snakemake: Any


def main(snakemake: Any) -> None:
    """Read the scores, compute, write one file a statistic."""
    params, output = snakemake.params, snakemake.output
    settings = analysis.Settings(
        models=list(params.models),
        baselines=list(params.baselines),
        runs=[(run[0], run[1]) for run in params.runs],
        main=(params.main[0], params.main[1]),
        variants={name: tuple(value) for name, value in params.variants.items()},
        seed=params.seed,
        **params.statistics,
    )
    scores = read_scores(snakemake.input.scores)
    by_task, by_model = analysis.ablation_frames(scores, settings)
    frames = {
        "accuracy": analysis.accuracy_frame(scores, settings),
        "perturbation": analysis.perturbation_frame(scores, settings),
        "outcomes": analysis.outcomes_frame(scores, settings),
        "meaning_vs_date": analysis.meaning_frame(scores, settings),
        "misalignment": analysis.misalignment_frame(scores, settings),
        "setting_differences": analysis.differences_frame(scores, settings),
        "ablation_by_task": by_task,
        "ablation_by_model": by_model,
    }
    for name, frame in frames.items():
        files.write_csv(output[name], frame)


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
