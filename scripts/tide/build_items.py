"""Rule script: the question pairs of one task as items.

input: `questions` (question pairs of every task), `elements`, `parsing` (the report on pages);
output: `item_files` (one file); params: `task`.
"""

from collections import Counter
from typing import TYPE_CHECKING, Any

from scripts.documents.pages import UNREAD
from scripts.execution import execute
from scripts.files import iterate_csv, read_records, write_records
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
    unread = Counter(
        row["document"]
        for _, row in iterate_csv(given.parsing, ("document", "status"))
        if row["status"] in UNREAD
    )
    items = build_items(pairs, corpus, snakemake.params.task, unread)
    write_records(str(snakemake.output.item_files), items)


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
