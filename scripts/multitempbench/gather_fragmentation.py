"""Means of the fragmentation of all models, and the released design beside table 4.

input: `tokens`, `released` (one CSV a model each, in the order of params.models), `published`
(table 4 as CSV). output: `mdfr`, `mdfr_as_published`. params: models, published_rows (model to the
row of table 4 that is about its tokeniser; models without such a row are left out of it).
"""

from typing import TYPE_CHECKING, Any

from scripts.execution import execute
from scripts.files import read_csv, write_csv
from scripts.multitempbench.fragmentation import (
    mdfr_frame,
    read_released,
    read_tokens,
    released_frame,
)

if TYPE_CHECKING:
    snakemake: Any


def main(snakemake: Any) -> None:
    """Read every model's files, average, join, write both."""
    files, params, output = snakemake.input, snakemake.params, snakemake.output
    tokens = {m: read_tokens(p) for m, p in zip(params.models, files.tokens, strict=True)}
    released = {m: read_released(p) for m, p in zip(params.models, files.released, strict=True)}
    write_csv(output.mdfr, mdfr_frame(tokens))
    table = released_frame(released, read_csv(files.published), params.published_rows)
    write_csv(output.mdfr_as_published, table)


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
