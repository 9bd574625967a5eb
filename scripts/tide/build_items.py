"""Rule script: the question pairs of one task as items.

input: `questions` (question pairs of every task), `elements`; output: `item_files` (one file);
params: `task`.
"""

from typing import TYPE_CHECKING, Any

from scripts.execution import execute
from scripts.files import read_records, write_records
from scripts.tide.contexts import Corpus
from scripts.tide.items import build_items
from scripts.tide.rows import Element, QuestionPair

if TYPE_CHECKING:
    snakemake: Any


def main(snakemake: Any) -> None:
    """Read question pairs and elements, build, write items."""
    given = snakemake.input
    corpus = Corpus.of(read_records(given.elements, Element))
    pairs = read_records(given.questions, QuestionPair)
    items = build_items(pairs, corpus, snakemake.params.task)
    write_records(str(snakemake.output.item_files), items)


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
