"""Weights from human severity ratings, and how each measure goes with the ratings.

input: `ratings` (CSV: language, format, calendar, string, human_rating, annotator where several
people rated), `corrections` (what misprinted strings mean), `tokenizer` (local tokenizer.json;
empty where the hub or tiktoken is asked), `published_correlations`, `published_weights` (tables 6
and 7 as CSV). output: `weights`, `metric_correlation`, `ratings`. params: entry (source, revision,
tokenizer of the model whose pieces were rated), weights, seed, statistics (resamples, level).
"""

import sys
from typing import TYPE_CHECKING, Any

import pandas as pd

from scripts.execution import execute
from scripts.files import read_csv, write_csv
from scripts.multitempbench import fragmentation_examples as strings
from scripts.tokenisation.tokenisers import TokeniserUnavailableError, tokeniser_of

if TYPE_CHECKING:
    snakemake: Any


def main(snakemake: Any) -> None:
    """Measure the rated strings, calibrate, correlate, write the three files."""
    files, params, output = snakemake.input, snakemake.params, snakemake.output
    ratings = strings.read_ratings(files.ratings, strings.read_corrections(files.corrections))
    try:
        tokeniser = tokeniser_of(params.entry, list(files.get("tokenizer", [])))
    except TokeniserUnavailableError as error:
        print(f"nothing to calibrate on: {error}", file=sys.stderr)
        measured = pd.DataFrame()
    else:
        measured = strings.measured_ratings(ratings, tokeniser, params.weights)
    calibration = strings.calibration_of(measured)
    if calibration.flag:
        print(f"no weights learned from {calibration.n} rated strings: {calibration.flag}")
    published = read_csv(files.published_weights)
    write_csv(output.weights, strings.weights_frame(calibration, params.weights, published))
    correlations = strings.correlation_frame(
        measured,
        strings.published_correlations(read_csv(files.published_correlations)),
        seed=params.seed,
        resamples=params.statistics["resamples"],
        level=params.statistics["level"],
    )
    write_csv(output.metric_correlation, correlations)
    write_csv(output.ratings, strings.ratings_frame(ratings, calibration, str(files.ratings)))


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
