"""What the schema of TIDE's section cannot say, and whom it asks beside its models."""

from __future__ import annotations

from collections.abc import Iterator

from scripts.inference.interface import origin
from scripts.judging.council_programs import PROGRAMS
from scripts.workflow.section_checks import Section, unknown


def further_models(section: Section) -> Iterator[tuple[str, str]]:
    """(key, name) of the council's models, of the generator and of the reader of images."""
    for name in section["judging"]["council"]:
        if name not in PROGRAMS:
            yield "judging.council", name
    construction = section["construction"]
    if construction["method"] == "model" and construction["generator"]:
        yield "construction.generator", construction["generator"]
    if section["parsing"]["vision"]:
        yield "parsing.vision", section["parsing"]["vision"]


def embedders(section: Section) -> Iterator[tuple[str, str]]:
    """(key, name) of the embedders of the construction and of the retrievers."""
    retrieval = section["retrieval"]
    yield "construction.embedder", section["construction"]["embedder"]
    yield "retrieval.embedder", retrieval["embedder"]
    for name in retrieval["ablation"]["embedders"]:
        yield "retrieval.ablation.embedders", name


def corpora(section: Section) -> Iterator[tuple[str, str]]:
    """(key, name) of the corpus."""
    yield "corpus", section["corpus"]


def given(section: Section, fetched: bool) -> Iterator[str]:
    """Rules whose outputs a release gives: what embedders, tokenisers and a generator make.

    The elements stand for the documents, which may not be passed on.
    """
    yield from ("tide_propose_aliases", "tide_retrieve_clauses", "tide_measure_tokens")
    if fetched or section["parsing"]["vision"]:
        yield from ("tide_gather_elements", "tide_measure_fidelity")
    if section["construction"]["method"] != "shipped":
        yield from ("tide_extract_entities", "tide_judge_aliases")
        yield from ("tide_find_threads", "tide_generate_questions")


def check(section: Section, config: Section) -> Iterator[str]:
    """A corpus, modes, or models of single steps that do not fit."""
    corpus = config["corpora"].get(section["corpus"])
    if corpus and corpus["reader"] != "instruments":
        yield f"tide.corpus: {section['corpus']!r} is no manifest of instruments"
    for name in [*section["models"], *section["baselines"]]:
        has = config["models"].get(name, {}).get("modes")
        if name in section["models"] and has and not set(has) & set(section["modes"]):
            yield f"tide.modes: {name!r} has none of {section['modes']}, it has {has}"
    construction, retrieval = section["construction"], section["retrieval"]
    if construction["method"] == "model" and not construction["generator"]:
        yield "tide.construction.generator: missing; method model needs it"
    reader = config["models"].get(section["parsing"]["vision"] or "")
    if reader and origin(reader) != "openai":
        yield "tide.parsing.vision: only a model behind an OpenAI-compatible server reads images"
    for name in retrieval["ablation"]["models"] or []:
        if name not in section["models"]:
            yield unknown("tide.retrieval.ablation.models", name, section["models"], "tide.models")
    if retrieval["chunks"]["overlap"] >= retrieval["chunks"]["characters"]:
        yield "tide.retrieval.chunks.overlap: must be smaller than characters"
