"""Rule script: test items and held-out demonstrations of one task."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from scripts.corpora.readers import palindromes, read_documents, read_words, vocabulary
from scripts.corpora.sources import verify
from scripts.execution import execute
from scripts.files import write_records
from scripts.syntaxbench.items import Materials, build_task

if TYPE_CHECKING:
    snakemake: Any


def read_materials(
    paths: Any,
    corpora: Mapping[str, Mapping[str, Any]],
    document_words: Sequence[int],
    documents_reused: bool,
) -> Materials:
    """The three corpora of a run, verified against their configured checksums."""
    roles = ("vocabulary", "palindromes", "documents")
    for role in roles:
        verify(getattr(paths, role), corpora[role])
    words, listed, prose = (corpora[role] for role in roles)
    raw = read_words(paths.vocabulary, words["reader"], words.get("entries"))
    extra = read_words(paths.palindromes, listed["reader"], listed.get("entries"))
    return Materials(
        vocabulary=vocabulary(raw, words["length"]),
        palindromes=palindromes([*raw, *extra], listed["length"]),
        documents=read_documents(
            paths.documents, document_words, prose.get("excerpts_per_document", 1)
        ),
        names={role: corpora[role]["label"] for role in roles},
        documents_reused=documents_reused,
    )


def main(snakemake: Any) -> None:
    """Read the corpora, build, write."""
    params = snakemake.params
    materials = read_materials(
        snakemake.input, params.corpora, params.document_words, params.documents_reused
    )
    built = build_task(
        snakemake.wildcards.task,
        materials,
        count=params.task["items"],
        demonstrations=params.demonstrations,
        seed=params.seed,
        options=params.task,
    )
    write_records(snakemake.output.item_files, built.items)
    write_records(snakemake.output.demonstrations, built.demonstrations)


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
