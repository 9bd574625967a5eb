"""What the schema of SyntaxBench's section cannot say: corpora, and limits that must agree."""

from __future__ import annotations

from collections.abc import Iterator

from scripts.workflow.section_checks import Section, range_problems


def corpora(section: Section) -> Iterator[tuple[str, str]]:
    """(key, name) of the corpora of all roles."""
    yield from ((f"corpora.{role}", name) for role, name in section["corpora"].items())


def given(_section: Section, fetched: bool) -> Iterator[str]:
    """Rules whose outputs a release gives: tokenisations, and items of corpora that are fetched."""
    yield "syntaxbench_tokenise_inputs"
    if fetched:
        yield "syntaxbench_build_items"


def check(section: Section, _config: Section) -> Iterator[str]:
    """Numbers of demonstrations and words that do not fit each other."""
    shots, headline = section["shots"], section["headline_shots"]
    if shots != sorted(set(shots)):
        yield f"syntaxbench.shots: {shots} must be increasing without repetition"
    if headline not in shots:
        yield f"syntaxbench.headline_shots: {headline!r} is not one of shots {shots}"
    if section["demonstration_pool"] < max(shots):
        yield (
            f"syntaxbench.demonstration_pool: {section['demonstration_pool']} is fewer than the "
            f"{max(shots)} demonstrations that shots ask for"
        )
    yield from range_problems("syntaxbench.document_words", section["document_words"])
