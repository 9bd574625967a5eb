"""Reading a file of hidden states, without loading the code of any language model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open

from scripts.files import DataError, iterate_jsonl

#: Token positions: the last token that overlaps the date, the last token of the text, and the mean
#: over all tokens that overlap the date.
TOKENS = ("last_date_token", "last_token", "mean_date")


class StateError(DataError):
    """A hidden state is not a number, or a file of states does not hold what it should."""


def layer_name(layer: int, last: int) -> str:
    """The name of hidden state `layer` of a model with `last` blocks."""
    if layer == 0:
        return "embeddings"
    return f"block {layer}" if layer < last else f"block {layer}, final norm"


@dataclass(frozen=True)
class Cell:
    """The states of one language, format and token position.

    `states` is (texts, L + 1, width) in float32; `years`, `months`, `days` are the dates' parts.
    """

    states: NDArray[np.float32]
    years: NDArray[np.int64]
    months: NDArray[np.int64]
    days: NDArray[np.int64]

    @cached_property
    def year_values(self) -> NDArray[np.int64]:
        """The distinct years, ascending."""
        return np.unique(self.years)

    def year_states(self, layer: int) -> NDArray[np.float64]:
        """The mean state of each year at a layer (Equation 2), shape (years, width)."""
        states = self.states[:, layer].astype(np.float64)
        return np.stack([states[self.years == year].mean(axis=0) for year in self.year_values])


class StateFile:
    """Reads a file of states cell by cell, so that memory holds one cell at a time."""

    def __init__(self, states: Any, rows: Sequence[Mapping[str, Any]], path: Path) -> None:
        self._states = states
        self._rows = rows
        self.path = path
        self.tokens = tuple(token for token in TOKENS if token in set(states.keys()))
        self._check()

    def _check(self) -> None:
        shapes = {tuple(self._states.get_slice(token).get_shape()) for token in self.tokens}
        if len(shapes) != 1:
            raise StateError(f"{self.path}: no states of {', '.join(TOKENS)} of one shape")
        self.shape: tuple[int, int, int] = shapes.pop()
        if self.shape[0] != len(self._rows):
            raise StateError(
                f"{self.path}: {self.shape[0]} states for {len(self._rows)} rows of the index; "
                "extract them again"
            )

    @property
    def last_layer(self) -> int:
        """L, the index of the last state."""
        return self.shape[1] - 1

    def groups(self) -> list[tuple[str, str]]:
        """The (language, format) pairs, in the order of the index."""
        return list(dict.fromkeys((str(r["language"]), str(r["format"])) for r in self._rows))

    def cell(self, language: str, form: str, token: str) -> Cell:
        """The states of one language, format and token position, in the order of the index."""
        chosen = [
            index
            for index, row in enumerate(self._rows)
            if row["language"] == language and row["format"] == form
        ]
        if not chosen or chosen[-1] - chosen[0] + 1 != len(chosen):
            raise StateError(f"{self.path}: the rows of {language} {form} do not stand together")
        part = self._states.get_slice(token)[chosen[0] : chosen[-1] + 1]
        rows = self._rows[chosen[0] : chosen[-1] + 1]
        years, months, days = (
            np.array([row[name] for row in rows], dtype=np.int64)
            for name in ("year", "month", "day")
        )
        return Cell(part.float().numpy(), years, months, days)


@contextmanager
def open_states(path: Path | str, index: Path | str) -> Iterator[StateFile]:
    """Open a file of states and its index. Raises StateError for a damaged or foreign file."""
    path = Path(path)
    rows = [row for _, row in iterate_jsonl(index)]
    try:
        with safe_open(path, framework="pt") as states:
            yield StateFile(states, rows, path)
    except SafetensorError as error:
        raise StateError(f"{path}: not a file of states ({error}); extract them again") from error
