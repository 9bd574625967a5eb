"""The printed and the rated date strings as one model's tokeniser cuts them (tables 2 and 8).

input: `examples` (CSV with language, format, calendar, string, mdfr), `ratings` (CSV with the same
and human_rating), `corrections` (what misprinted strings mean), `tokenizer` (local tokenizer.json;
empty where the hub or tiktoken is asked). output: `examples`. params: model, entry (source,
revision, tokenizer of the model), weights. Without a readable tokeniser there are no rows.
"""

import sys
from typing import TYPE_CHECKING, Any

import pandas as pd

from scripts.execution import execute
from scripts.files import write_csv
from scripts.multitempbench.fragmentation_examples import (
    EXAMPLE_COLUMNS,
    examples_frame,
    read_corrections,
    read_ratings,
    read_strings,
)
from scripts.tokenisation.tokenisers import TokeniserUnavailableError, tokeniser_of

if TYPE_CHECKING:
    snakemake: Any


def main(snakemake: Any) -> None:
    """Read the strings, measure them, write the CSV."""
    files, params = snakemake.input, snakemake.params
    corrections = read_corrections(files.corrections)
    examples = read_strings(files.examples, "mdfr", corrections)
    ratings = read_ratings(files.ratings, corrections)
    try:
        tokeniser = tokeniser_of(params.entry, list(files.get("tokenizer", [])))
    except TokeniserUnavailableError as error:
        print(f"no examples of {params.model}: {error}", file=sys.stderr)
        frame = pd.DataFrame(columns=list(EXAMPLE_COLUMNS))
    else:
        frame = examples_frame(params.model, examples, ratings, tokeniser, params.weights)
    write_csv(snakemake.output.examples, frame)


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
