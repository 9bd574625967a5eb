"""Count the tokens of every raw input for one model.

input: `item_files` (one JSONL file a task), `tokenizer` (local tokenizer.json; empty where the
hub is asked). output: `tokens`. params: entry (source, revision, tokenizer of the model). A model
without a readable tokeniser gets a file without rows, and the reason goes to the log.
"""

import sys
from typing import TYPE_CHECKING, Any

import pandas as pd

from scripts.execution import execute, file_list
from scripts.files import read_records, write_csv
from scripts.records import Item
from scripts.syntaxbench.tokens import SAMPLE_COLUMNS, sample_frame
from scripts.tokenisation.tokenisers import TokeniserUnavailableError, tokeniser_of

if TYPE_CHECKING:
    snakemake: Any


def main(snakemake: Any) -> None:
    """Tokenise, write the CSV, and say what was done."""
    try:
        tokeniser = tokeniser_of(snakemake.params.entry, file_list(snakemake.input.tokenizer))
    except TokeniserUnavailableError as error:
        frame = pd.DataFrame(columns=list(SAMPLE_COLUMNS))
        print(f"left out of the tokeniser analysis: {error}", file=sys.stderr)
    else:
        items = [
            item
            for path in file_list(snakemake.input.item_files)
            for item in read_records(path, Item)
        ]
        frame = sample_frame(items, tokeniser)
        print(f"{len(frame)} samples, tokeniser {tokeniser.fingerprint} ({tokeniser.name})")
    write_csv(snakemake.output.tokens, frame)


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
