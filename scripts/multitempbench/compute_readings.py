"""Rule script: the results of MultiTempBench in every reading of what the paper leaves open.

input: `scores`, `item_files`, `responses` (of params.models), `tokenisation` (of params.probed, in
their order), and the CSV files `accuracy`, `correlations`, `judge_agreement`, `linearity`, `mdfr`,
`metric_correlation`, `regression`; output: `readings`; params: `models`, `probed`, `languages`
(resource and corpus_gb by code), `seed`, `level`.
"""

from typing import TYPE_CHECKING, Any

from scripts.execution import execute
from scripts.files import read_csv, read_records, write_csv
from scripts.multitempbench import readings
from scripts.multitempbench.fragmentation import read_tokens
from scripts.multitempbench.regression_rows import AnalysisFrame, build_frame, model_fragmentation
from scripts.multitempbench.regression_rows import Settings as RowSettings
from scripts.multitempbench.scoring import read_scores
from scripts.records import Item, Response

if TYPE_CHECKING:
    import pandas as pd

    snakemake: Any

STATISTICS = (
    *("accuracy", "correlations", "judge_agreement", "linearity", "mdfr", "metric_correlation"),
    "regression",
)


def main(snakemake: Any) -> None:
    """Read, compute, write."""
    given, params = snakemake.input, snakemake.params
    frames = {name: read_csv(given[name]) for name in STATISTICS}
    scores = read_scores(given.scores)
    items = [item for path in given.item_files for item in read_records(path, Item)]
    tokens = dict(zip(params.probed, map(read_tokens, given.tokenisation), strict=True))
    fragments = model_fragmentation(items, tokens)
    rows = RowSettings(params.probed, params.languages, params.seed, params.level)

    def build(linearity: "pd.DataFrame") -> AnalysisFrame:
        return build_frame(scores, fragments, linearity, rows)

    replies = (reply for path in given.responses for reply in read_records(path, Response))
    chosen = scores[scores["model"].isin(list(params.models))]
    answers = readings.substring_answers(chosen, items, replies)
    settings = readings.Settings(tuple(params.models), params.level)
    frame = readings.compute_readings(frames, answers, build, settings)
    write_csv(snakemake.output.readings, frame)


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
