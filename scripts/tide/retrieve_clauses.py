"""Rule script: the nearest clauses of every question, by one embedder.

input.vectors, input.index (of retrieval/embed_corpus.py), input.item_files (one a task),
input.elements. output.retrieved (JSONL, one row an item), output.statistics (CSV, one row an item,
ranking and depth: item_id, task, rerank, depth, gold, found, first_rank, clauses, none_resolved).
params: name, entry (of `embedders`), depths, main_depth (of the date-aware list), overfetch,
date_aware {use, weight, years}, store (stem of the file of kept vectors). The query fields are
those of scripts/tide/tasks.py.
"""

import sys
from typing import TYPE_CHECKING, Any

from scripts.execution import execute, exit_on_sigterm
from scripts.files import atomic_write, dump_line, read_records, write_csv
from scripts.records import Item
from scripts.retrieval.cache import CachedEmbedder
from scripts.retrieval.date_aware import DateAware
from scripts.retrieval.embedders import create_embedder
from scripts.retrieval.embedders.interface import Vectors
from scripts.retrieval.index import check_index, chroma_nearest, recall
from scripts.retrieval.ranking import ExactSearch
from scripts.retrieval.vector_files import read_vectors
from scripts.tide.retrieval import (
    Dating,
    Depths,
    Found,
    check_gold,
    element_times,
    query_text,
    question_rows,
    retrieve,
)
from scripts.tide.rows import Element

if TYPE_CHECKING:
    snakemake: Any

NEIGHBOURS = 10


def main(snakemake: Any) -> None:
    """Embed the queries, search exactly, write what was found and compare Chroma's own search."""
    exit_on_sigterm()
    params, given = snakemake.params, snakemake.input
    items = [item for path in given.item_files for item in read_records(path, Item)]
    elements = {element.element_id: element for element in read_records(given.elements, Element)}
    check_gold(items, elements)
    embedder = CachedEmbedder(create_embedder(params.name, params.entry), params.store)
    corpus = read_vectors(given.vectors, embedder.embedder.spec.dimensions)
    check_index(given.index, corpus)
    queries = embedder.embed_queries([text for item in items if (text := query_text(item))])
    search = ExactSearch(corpus)
    aware, dating = params.date_aware, None
    if aware["use"]:
        times = element_times(elements.values())
        dating = Dating(times, DateAware(aware["weight"], aware["years"]))
    depths = Depths(tuple(params.depths), params.main_depth, params.overfetch)
    found = retrieve(items, queries, search, depths, dating)
    with atomic_write(snakemake.output.retrieved, "wb") as handle:
        for row in found:
            handle.write(dump_line(row.to_json(depths.main)))
    write_csv(snakemake.output.statistics, question_rows(found))
    report(given.index, search, queries, embedder, found)


def report(
    index: str, search: ExactSearch, queries: Vectors, embedder: CachedEmbedder, found: list[Found]
) -> None:
    """Print counts, and how many of the exact neighbours Chroma's own search has."""
    nearest = chroma_nearest(index, queries, NEIGHBOURS)
    share = recall(nearest, search.nearest(queries, NEIGHBOURS), queries, search.corpus)
    counts = embedder.counts
    print(f"{len(queries)} queries, {counts.computed} texts embedded, {counts.cached} kept")
    print(f"recall@{NEIGHBOURS} of Chroma's own search against the exact one: {share:.4f}")
    unresolved = sum(row.none_resolved for row in found)
    if unresolved:
        print(f"{unresolved} questions found no clause (none_resolved)", file=sys.stderr)


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
