"""Hidden states of date sentences: which token is read, extraction, and writing them down.

The states are those of `transformers`: the embeddings, then the output of each block, the last
after the model's final norm. One forward pass a sentence serves all layers and token positions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file

from scripts.files import DataError, atomic_write, dump_line, sync_path
from scripts.inference.models import state_batches
from scripts.probing.state_files import TOKENS, StateError, layer_name
from scripts.probing.texts import DateSentence

_, LAST_TOKEN, MEAN_DATE = TOKENS


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
        sync_path(partial)
        partial.replace(path)
        sync_path(path.parent)
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
