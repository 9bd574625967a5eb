"""Hidden states of date sentences: which token is read, extraction, and the file of states.

The states are those of `transformers`: the embeddings, then the output of each block, the last
after the model's final norm. One forward pass a sentence serves all layers and token positions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

from scripts.files import DataError, atomic_write, dump_line, iterate_jsonl
from scripts.inference.models import state_batches
from scripts.probing.texts import DateSentence

#: Token positions: the last token that overlaps the date, the last token of the text, and the mean
#: over all tokens that overlap the date.
TOKENS = ("last_date_token", "last_token", "mean_date")
_, LAST_TOKEN, MEAN_DATE = TOKENS


class StateError(DataError):
    """A hidden state is not a number, or a file of states does not hold what it should."""


def layer_name(layer: int, last: int) -> str:
    """The name of hidden state `layer` of a model with `last` blocks."""
    if layer == 0:
        return "embeddings"
    return f"block {layer}" if layer < last else f"block {layer}, final norm"


@dataclass(frozen=True, slots=True)
class Position:
    """The token ids of a sentence and the tokens (indices) that are read."""

    ids: tuple[int, ...]
    date: tuple[int, ...]
    last: int
    leading_special: int


def locate(tokenizer: Any, sentence: DateSentence) -> Position:
    """The tokens of a sentence as the model's tokenizer makes them, special tokens included.

    By the character offsets of the fast tokenizer: a token belongs to the date when it covers one
    of its characters, also where it covers a space before it. `last` is the last token that covers
    any text. Raises StateError when the tokenizer has no offsets or no token covers the date.
    """
    if not getattr(tokenizer, "is_fast", False):
        raise StateError("the tokenizer gives no character offsets; a tokenizer.json is needed")
    encoded = tokenizer(sentence.text, return_offsets_mapping=True)
    offsets = encoded["offset_mapping"]
    date = tuple(
        index
        for index, (start, end) in enumerate(offsets)
        if start < sentence.end and end > sentence.start
    )
    text = [index for index, (start, end) in enumerate(offsets) if end > start]
    if not date:
        raise StateError(f"no token covers the date of {sentence.text!r}; check the tokenizer")
    return Position(tuple(encoded["input_ids"]), date, text[-1], text[0])


def extract(
    model: Any,
    sentences: Sequence[DateSentence],
    positions: Sequence[Position],
    tokens: Sequence[str] = TOKENS,
    batch_size: int = 16,
) -> dict[str, torch.Tensor]:
    """The states at each of `tokens`: (texts, L + 1, width) in the model's precision, on the CPU.

    Only the positions asked for are kept of a batch. Raises StateError naming text and layer for a
    state with NaN or infinity.
    """
    unknown = sorted(set(tokens) - set(TOKENS))
    if unknown:
        raise DataError(f"probing.tokens: {unknown} unknown; there are {', '.join(TOKENS)}")
    out: dict[str, torch.Tensor] = {}
    for indices, layers in state_batches(model, [p.ids for p in positions], batch_size):
        chosen = [positions[index] for index in indices]
        for token in tokens:
            read = torch.stack([_read(state, chosen, token).cpu() for state in layers], dim=1)
            _check_finite(read, [sentences[index] for index in indices], token)
            if token not in out:
                out[token] = torch.empty((len(sentences), *read.shape[1:]), dtype=read.dtype)
            out[token][indices] = read
    return out


def _read(state: torch.Tensor, positions: Sequence[Position], token: str) -> torch.Tensor:
    """(sequences, width) of one layer's (sequences, tokens, width)."""
    if token == MEAN_DATE:
        rows = [
            state[row, list(position.date)].float().mean(dim=0)
            for row, position in enumerate(positions)
        ]
        return torch.stack(rows).to(state.dtype)
    wanted = [p.last if token == LAST_TOKEN else p.date[-1] for p in positions]
    return state[torch.arange(len(wanted)), wanted]


def _check_finite(read: torch.Tensor, sentences: Sequence[DateSentence], token: str) -> None:
    bad = (~torch.isfinite(read).all(dim=2)).nonzero()
    if len(bad):
        row, layer = (int(value) for value in bad[0])
        raise StateError(
            f"{sentences[row].text!r}: the state of {token} in layer {layer} "
            f"({layer_name(layer, read.shape[1] - 1)}) is not finite; use bfloat16 or float32"
        )


def write_states(path: Path | str, states: Mapping[str, torch.Tensor]) -> None:
    """Write the tensors as safetensors under the names of the token positions, atomically.

    No metadata: a header with several keys has no fixed order, so the bytes would not repeat.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.partial")
    try:
        save_file({name: tensor.contiguous() for name, tensor in states.items()}, partial)
        partial.chmod(0o644)  # safetensors writes for the owner alone
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def write_index(
    path: Path | str, sentences: Sequence[DateSentence], positions: Sequence[Position]
) -> None:
    """One JSONL row a text, in the order of the tensors' first dimension."""
    with atomic_write(path, "wb") as handle:
        for sentence, position in zip(sentences, positions, strict=True):
            handle.write(
                dump_line(
                    {
                        "language": sentence.language,
                        "format": sentence.format,
                        "year": sentence.day.year,
                        "month": sentence.day.month,
                        "day": sentence.day.day,
                        "text": sentence.text,
                        "date": sentence.text[sentence.start : sentence.end],
                        "tokens": len(position.ids),
                        "date_tokens": list(position.date),
                        "last_token": position.last,
                        "special_tokens_before": position.leading_special,
                    }
                )
            )


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
