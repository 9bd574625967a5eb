"""Names that may stand for one thing: neighbours in a space of embeddings. They only propose.

Source: TIDE section 2.4 (a name is embedded with its concepts; neighbours at a cosine of 0.90 and
more). The search is exact, so the same vectors give the same pairs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from scripts.files import DataError
from scripts.records import Record, RecordError

Vectors = NDArray[np.float32]
#: Longest text of a name with its concepts that is embedded.
EMBEDDED_CHARACTERS = 1200
#: Similarities are kept to so many decimals: beyond, they differ between processors.
DECIMALS = 5
_BLOCK = 1024
_UNIT_TOLERANCE = 1e-3


class PassageEmbedder(Protocol):
    """What the rule needs of an embedder."""

    def embed_passages(self, texts: Sequence[str]) -> Any:
        """Normalised vectors, shape (texts, dimensions), float32."""
        ...


@dataclass(frozen=True, slots=True)
class Candidate(Record):
    """Two names, a before b, and the cosine similarity of their embeddings."""

    a: str
    b: str
    similarity: float

    def check(self) -> None:
        """Raise RecordError for names out of order or a similarity that is no number."""
        texts = isinstance(self.a, str) and isinstance(self.b, str)
        if not texts or not self.a < self.b or not isinstance(self.similarity, (int, float)):
            raise RecordError(f"Candidate {self.a!r}, {self.b!r}: two names in order are needed")

    @property
    def pair(self) -> tuple[str, str]:
        """Both names, in order."""
        return self.a, self.b


def embedded_texts(forms: Mapping[str, Sequence[str]]) -> list[str]:
    """The text that is embedded for each name: the name, then its concepts, cut at a limit."""
    return [
        f"{name}: {' '.join(concepts)}"[:EMBEDDED_CHARACTERS] if concepts else name
        for name, concepts in forms.items()
    ]


def propose(
    forms: Mapping[str, Sequence[str]], embedder: PassageEmbedder, threshold: float
) -> list[Candidate]:
    """All pairs of names at or above the threshold, sorted by name."""
    names = sorted(forms)
    if not names:
        return []
    texts = embedded_texts({name: forms[name] for name in names})
    return neighbours(names, checked_vectors(embedder.embed_passages(texts), len(names)), threshold)


def checked_vectors(vectors: Any, count: int) -> Vectors:
    """The embeddings, shape (count, d), of length one; DataError for anything else."""
    array = np.asarray(vectors, dtype=np.float32)
    if array.ndim != 2 or array.shape[0] != count or not array.shape[1]:
        raise DataError(f"embeddings have the shape {array.shape}; expected {count} rows")
    lengths = np.linalg.norm(array, axis=1)
    wrong = np.flatnonzero(~(np.abs(lengths - 1) <= _UNIT_TOLERANCE))
    if wrong.size:
        raise DataError(
            f"embedding of name {wrong[0] + 1} has the length {lengths[wrong[0]]}, expected 1; "
            "check the embedder's entry"
        )
    return array


def neighbours(names: Sequence[str], vectors: Vectors, threshold: float) -> list[Candidate]:
    """Pairs of distinct names with a rounded cosine at or above the threshold, sorted.

    `names` must be sorted and distinct; memory is one block of rows times all names.
    """
    if list(names) != sorted(set(names)):
        raise ValueError("names must be sorted and distinct")
    if not 0 < threshold <= 1:
        raise DataError(f"threshold must lie above 0 and at most at 1, not {threshold}")
    found: list[Candidate] = []
    for start in range(0, len(names), _BLOCK):
        cosines = np.round(
            (vectors[start : start + _BLOCK] @ vectors.T).astype(np.float64), DECIMALS
        )
        for row, column in np.argwhere(cosines >= threshold):
            if start + row < column:
                similarity = float(min(cosines[row, column], 1.0))
                found.append(Candidate(names[start + row], names[column], similarity))
    return sorted(found, key=lambda each: each.pair)
