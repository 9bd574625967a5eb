"""Rule script: McNemar's test between settings and between models.

input: `scores`; output: `mcnemar_settings`, `mcnemar_models`; params: `models`, `runs` ([model,
mode] each), `statistics` (alpha, exact_below).
"""

from typing import TYPE_CHECKING, Any

from scripts import files
from scripts.execution import execute
from scripts.tide.score_table import read_scores
from scripts.tide.statistics import comparisons

if TYPE_CHECKING:
    snakemake: Any


def main(snakemake: Any) -> None:
    """Read the scores, test, write both families."""
    params = snakemake.params
    runs = [(run[0], run[1]) for run in params.runs if run[0] in params.models]
    settings = comparisons.Settings(runs, **params.statistics)
    scores = read_scores(snakemake.input.scores)
    output = snakemake.output
    files.write_csv(output.mcnemar_settings, comparisons.settings_frame(scores, settings))
    files.write_csv(output.mcnemar_models, comparisons.models_frame(scores, settings))


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
