"""Rule script: the vectors of a corpus and its Chroma collection.

input.elements: JSONL with `element_id`, `text` and where there is one `title`. output.vectors
(.npz: ids, vectors), output.index (the collection's folder; its bytes differ from build to build,
what is retrieved does not depend on them), output.manifest (JSON). params: name, entry (of
`embedders`), chunks {above_tokens, characters, overlap}, store (stem of the file of kept vectors,
no output of the rule).
"""

import sys
from typing import TYPE_CHECKING, Any

from scripts.execution import execute, exit_on_sigterm
from scripts.files import DataError, write_json
from scripts.inference.manifest import Stopwatch
from scripts.retrieval.cache import CachedEmbedder
from scripts.retrieval.chunks import Chunking, passages, read_elements
from scripts.retrieval.embedders import create_embedder
from scripts.retrieval.index import build_index, check_index
from scripts.retrieval.manifest import build_manifest
from scripts.retrieval.vector_files import CorpusVectors, write_vectors

if TYPE_CHECKING:
    snakemake: Any


def main(snakemake: Any) -> None:
    """Embed what the store lacks, then write vectors, collection and manifest."""
    exit_on_sigterm()
    watch, params = Stopwatch(), snakemake.params
    chunking = Chunking(**params.chunks)
    elements = read_elements(snakemake.input.elements)
    embedder = CachedEmbedder(create_embedder(params.name, params.entry), params.store)
    texts = passages(elements, chunking, embedder.embedder.count_tokens)
    if not texts:
        raise DataError(f"{snakemake.input.elements}: no element has a text; check the documents")
    corpus = CorpusVectors(
        tuple(passage.vector_id for passage in texts),
        embedder.embed_passages([passage.text for passage in texts]),
    )
    write_vectors(snakemake.output.vectors, corpus)
    build_index(snakemake.output.index, corpus, [passage.text for passage in texts])
    check_index(snakemake.output.index, corpus)
    facts = build_manifest(embedder, chunking, elements, texts, watch)
    write_json(snakemake.output.manifest, facts)
    blank = facts["corpus"]["blank_elements"]
    if blank:
        print(f"{len(blank)} elements have no text and no vector: {blank}", file=sys.stderr)
    counts = embedder.counts
    print(f"{len(texts)} vectors, {counts.computed} texts embedded, {counts.cached} kept")


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
