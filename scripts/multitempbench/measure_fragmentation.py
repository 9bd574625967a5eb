"""How one model's tokeniser cuts every date of the items, and table 4 by the released design.

input: `item_files` (one JSONL file a task), `tokenizer` (local tokenizer.json; empty where the
hub or tiktoken is asked). output: `tokens`, `released`. params: entry (source, revision, tokenizer
of the model), weights, released_design (years, dates, repetitions), seed. A model without a
readable tokeniser gets files without rows, and the reason goes to the log.
"""

import sys
from typing import TYPE_CHECKING, Any

import pandas as pd

from scripts.execution import execute
from scripts.files import read_records, write_csv
from scripts.multitempbench.fragmentation import TOKEN_COLUMNS, token_frame
from scripts.records import Item
from scripts.tokenisation.released_profile import DESIGN_COLUMNS, released_design_frame
from scripts.tokenisation.tokenisers import TokeniserUnavailableError, tokeniser_of

if TYPE_CHECKING:
    snakemake: Any


def main(snakemake: Any) -> None:
    """Measure and write both CSVs."""
    given, params, output = snakemake.input, snakemake.params, snakemake.output
    try:
        tokeniser = tokeniser_of(params.entry, list(given.get("tokenizer", [])))
    except TokeniserUnavailableError as error:
        print(f"left out of the fragmentation analysis: {error}", file=sys.stderr)
        write_csv(output.tokens, pd.DataFrame(columns=list(TOKEN_COLUMNS)))
        write_csv(output.released, pd.DataFrame(columns=list(DESIGN_COLUMNS)))
        return
    items = [item for path in given.item_files for item in read_records(path, Item)]
    tokens = token_frame(items, tokeniser, params.weights)
    write_csv(output.tokens, tokens)
    design = released_design_frame(tokeniser, **params.released_design, seed=params.seed)
    write_csv(output.released, design)
    print(f"{len(tokens)} dates, tokeniser {tokeniser.fingerprint} ({tokeniser.name})")


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
