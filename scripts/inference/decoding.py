"""Batched decoding with a causal language model of `transformers`.

Requests with the same beginning (system prompt and demonstrations) share one computation of it
(`shared_prefix`), or every prompt is padded on the left and computed whole (`left_padded`). After
that both are the same: one loop writes token after token for all rows, right-aligned, so that
positions and sliding windows are those of each row alone.

`generate` of the library cannot start rows from different prefix caches; what is here is its greedy
loop over such rows. Penalties and sampling filters are the library's own.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

import torch
from torch import Tensor
from transformers import DynamicCache
from transformers.cache_utils import DynamicLayer
from transformers.generation.logits_process import (
    LogitsProcessorList,
    RepetitionPenaltyLogitsProcessor,
    TemperatureLogitsWarper,
    TopPLogitsWarper,
)

from scripts.inference.constrained import Grammar, Writer


@dataclass(frozen=True)
class Prompt:
    """A tokenised prompt; its first `shared` tokens precede the last turn, `seed` is for draws.

    `grammar` is what the answer must follow, if anything.
    """

    index: int
    ids: tuple[int, ...]
    shared: int
    limit: int
    seed: int = 0
    grammar: Grammar | None = field(default=None, compare=False)

    @property
    def suffix(self) -> int:
        """Tokens after the shared part."""
        return len(self.ids) - self.shared


@dataclass(frozen=True)
class Decoded:
    """New tokens of one row (the end token included when there is one) and why it ended."""

    ids: tuple[int, ...]
    finish_reason: str


@dataclass(frozen=True)
class Policy:
    """How rows are batched: at most `size` rows, at most `tokens` cached tokens a batch."""

    name: str = "left_padded"
    size: int = 16
    tokens: int = 16384


def seed_of(*parts: str) -> int:
    """A sampling seed from content, the same in whatever batch the request stands."""
    return int.from_bytes(hashlib.sha256("\0".join(parts).encode()).digest()[:7], "big")


def plan(prompts: Sequence[Prompt], policy: Policy) -> list[list[Prompt]]:
    """Batches in a fixed order of content, so that a resumed run cuts the rest as the first did."""
    if policy.name == "shared_prefix":
        ordered = sorted(
            prompts, key=lambda p: (p.shared, p.ids[: p.shared], p.suffix, p.limit, p.ids)
        )
    else:
        ordered = sorted(prompts, key=lambda p: (len(p.ids), p.limit, p.ids))
    batches: list[list[Prompt]] = []
    longest = 0
    for prompt in ordered:
        longest = max(longest, len(prompt.ids) + prompt.limit)
        full = batches and (
            len(batches[-1]) >= policy.size or longest * (len(batches[-1]) + 1) > policy.tokens
        )
        if not batches or full:
            batches.append([])
            longest = len(prompt.ids) + prompt.limit
        batches[-1].append(prompt)
    return batches


class _RoomyLayer(DynamicLayer):  # type: ignore[no-untyped-call]
    """Keys and values with room for the tokens to come: appending one copies nothing.

    `offset` counts the tokens that a sliding window has left behind; what is kept longer than the
    window needs is hidden by the mask.
    """

    def __init__(self, keys: Tensor, values: Tensor, offset: int, room: int) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.lazy_initialization(keys, values)
        self.is_sliding = offset >= 0
        self.offset = max(offset, 0)
        self.used = keys.shape[-2]
        self._keys = _with_room(keys, room)
        self._values = _with_room(values, room)

    def update(
        self, key_states: Tensor, value_states: Tensor, *_: Any, **__: Any
    ) -> tuple[Tensor, Tensor]:
        """Append and return all keys and values."""
        end = self.used + key_states.shape[-2]
        self._keys[:, :, self.used : end] = key_states
        self._values[:, :, self.used : end] = value_states
        self.used = end
        return self._keys[:, :, :end], self._values[:, :, :end]

    def get_seq_length(self) -> int:
        """Tokens seen, kept or not."""
        return self.offset + self.used

    def get_mask_sizes(self, query_length: int) -> tuple[int, int]:
        """(keys that the mask covers, tokens before the first of them)."""
        return self.used + query_length, self.offset

    def select(self, rows: Tensor) -> None:
        """Keep only these rows of the batch."""
        self._keys = self._keys[rows]
        self._values = self._values[rows]


def _with_room(states: Tensor, room: int) -> Tensor:
    batch, heads, length, width = states.shape
    out = states.new_zeros((batch, heads, length + room, width))
    out[:, :, :length] = states
    return out


def _pad_left(states: Tensor, length: int) -> Tensor:
    missing = length - states.shape[-2]
    return torch.nn.functional.pad(states, (0, 0, missing, 0)) if missing else states


def _window(layer: Any) -> int | None:
    return int(layer.sliding_window) - 1 if getattr(layer, "is_sliding", False) else None


def merge(parts: Sequence[tuple[Any, int]], room: int) -> Any:
    """One cache from several (cache, length) parts: rows one below the other, aligned right."""
    longest = max(length for _, length in parts)
    layers: list[_RoomyLayer] = []
    for own in zip(*(cache.layers for cache, _ in parts), strict=True):
        window = _window(own[0])
        kept = longest if window is None else min(longest, window)
        keys = torch.cat([_pad_left(layer.keys[:, :, -kept:], kept) for layer in own])
        values = torch.cat([_pad_left(layer.values[:, :, -kept:], kept) for layer in own])
        offset = -1 if window is None else longest - kept
        layers.append(_RoomyLayer(keys, values, offset, room))
    merged: Any = DynamicCache()
    merged.layers = layers
    merged.layer_class_to_replicate = None
    return merged


class Decoder:
    """A model with a batch policy. `stops(ids)` says whether a row's new tokens end its turn."""

    def __init__(
        self,
        model: Any,
        policy: Policy,
        end_tokens: frozenset[int],
        pad_token: int,
        stops: Callable[[Sequence[int]], bool] | None = None,
    ) -> None:
        self.model = model
        self.policy = policy
        self.end_tokens = end_tokens
        self.pad_token = pad_token
        self.stops = stops
        self._prefix: tuple[tuple[int, ...], Any] | None = None

    def batches(
        self, prompts: Sequence[Prompt], settings: dict[str, Any]
    ) -> Iterator[list[tuple[Prompt, Decoded]]]:
        """Decode all prompts, one finished batch after the other.

        The last shared prefix is kept for the next call.
        `settings`: temperature (0 = greedy), top_p, repetition_penalty.
        """
        for batch in plan(prompts, self.policy):
            yield self._decode(batch, settings)

    @torch.inference_mode()
    def _decode(
        self, batch: list[Prompt], settings: dict[str, Any]
    ) -> list[tuple[Prompt, Decoded]]:
        room = max(prompt.limit for prompt in batch)
        if self.policy.name == "shared_prefix":
            cache, logits = self._prefill_shared(batch, room)
        else:
            cache, logits = self._prefill_padded(batch, room)
        rows = self._loop(batch, cache, logits, settings)
        return list(zip(batch, rows, strict=True))

    def _tensor(self, values: Sequence[Any]) -> Tensor:
        return torch.tensor(values, device=self.model.device)

    def _prefill_padded(self, batch: list[Prompt], room: int) -> tuple[Any, Tensor]:
        longest = max(len(prompt.ids) for prompt in batch)
        gaps = [longest - len(prompt.ids) for prompt in batch]
        ids = [[self.pad_token] * gap + list(p.ids) for gap, p in zip(gaps, batch, strict=True)]
        mask = self._tensor(
            [[0] * gap + [1] * len(p.ids) for gap, p in zip(gaps, batch, strict=True)]
        )
        cache = DynamicCache(config=self.model.config)
        logits = self.model(
            input_ids=self._tensor(ids),
            attention_mask=mask if any(gaps) else None,
            position_ids=(mask.cumsum(-1) - 1).clamp(min=0),
            cache=cache,
            use_cache=True,
            logits_to_keep=1,
        ).logits[:, -1]
        return merge([(cache, longest)], room), logits

    def _prefill_shared(self, batch: list[Prompt], room: int) -> tuple[Any, Tensor]:
        """Each run of rows with the same prefix and equally long suffixes in one pass, unpadded."""
        parts: list[tuple[Any, int]] = []
        logits: list[Tensor] = []

        def alike(prompt: Prompt) -> tuple[tuple[int, ...], int]:
            return prompt.ids[: prompt.shared], prompt.suffix

        for (prefix, _), group in groupby(batch, key=alike):
            rows = list(group)
            cache = self._from_prefix(prefix, len(rows))
            ids = self._tensor([prompt.ids[prompt.shared :] for prompt in rows])
            out = self.model(input_ids=ids, cache=cache, use_cache=True, logits_to_keep=1)
            parts.append((cache, len(rows[0].ids)))
            logits.append(out.logits[:, -1])
        return merge(parts, room), torch.cat(logits)

    def _from_prefix(self, prefix: tuple[int, ...], rows: int) -> Any:
        """A cache that already holds the prefix for so many rows (views of one computation)."""
        cache: Any = DynamicCache(config=self.model.config)
        if not prefix:
            return cache
        if self._prefix is None or self._prefix[0] != prefix:
            first = DynamicCache(config=self.model.config)
            self.model(
                input_ids=self._tensor([prefix]), cache=first, use_cache=True, logits_to_keep=1
            )
            self._prefix = (prefix, first)
        for layer, known in zip(cache.layers, self._prefix[1].layers, strict=True):
            layer.lazy_initialization(known.keys, known.values)
            layer.keys = known.keys.expand(rows, -1, -1, -1)
            layer.values = known.values.expand(rows, -1, -1, -1)
            if hasattr(layer, "cumulative_length"):
                layer.cumulative_length = len(prefix)
        return cache

    def _loop(
        self, batch: list[Prompt], cache: Any, logits: Tensor, settings: dict[str, Any]
    ) -> list[Decoded]:
        longest = max(len(prompt.ids) for prompt in batch)
        rows = [_Row(prompt, self._ends) for prompt in batch]
        choose = _Chooser(batch, settings, self.model.device)
        active = list(range(len(batch)))
        lengths = self._tensor([len(prompt.ids) for prompt in batch])
        gaps = (longest - lengths).unsqueeze(1)
        padded = bool(gaps.any())
        fed = 0
        while True:
            # A row with forced tokens ahead has nothing to choose: its logits are not looked at.
            due = [place for place, i in enumerate(active) if len(rows[i].ids) == fed]
            if due:
                chosen = choose(
                    logits, due, [(active[place], rows[active[place]]) for place in due]
                )
                for place, token in zip(due, chosen, strict=True):
                    rows[active[place]].write(token)
            keep = [place for place, i in enumerate(active) if not rows[i].finish_reason]
            if not keep:
                break
            if len(keep) < len(active):
                places = self._tensor(keep)
                for layer in cache.layers:
                    layer.select(places)
                gaps, lengths = gaps[places], lengths[places]
                active = [active[place] for place in keep]
            # All rows go on by as many tokens as the one with the fewest ahead: no row is padded.
            width = min(len(rows[i].ids) for i in active) - fed
            ahead = torch.arange(width, device=self.model.device)
            seen = torch.arange(longest + fed + width, device=self.model.device)
            logits = self.model(
                input_ids=self._tensor([rows[i].ids[fed : fed + width] for i in active]),
                attention_mask=(seen >= gaps).long() if padded else None,
                position_ids=(lengths + fed).unsqueeze(1) + ahead,
                cache=cache,
                use_cache=True,
                logits_to_keep=1,
            ).logits[:, -1]
            fed += width
        return [Decoded(tuple(row.ids), row.finish_reason) for row in rows]

    def _ends(self, ids: Sequence[int]) -> bool:
        return ids[-1] in self.end_tokens or (self.stops is not None and self.stops(ids))


class _Row:
    """The new tokens of one row, and why it ended ("" while it goes on)."""

    def __init__(self, prompt: Prompt, ends: Callable[[Sequence[int]], bool]) -> None:
        self.ids: list[int] = []
        self.finish_reason = ""
        self.writer: Writer | None = prompt.grammar.start() if prompt.grammar else None
        self._limit = prompt.limit
        self._ends = ends
        if self.writer is not None:
            self._extend(self.writer.forced())

    def write(self, token: int) -> None:
        """Add a chosen token and what it forces; beyond the limit nothing is kept."""
        self.ids.append(token)
        if self._ends(self.ids):
            self.finish_reason = "stop"
            return
        self._extend([] if self.writer is None else self.writer.accept(token, self.ids))

    def _extend(self, forced: list[int]) -> None:
        room = self._limit - len(self.ids)
        self.ids += forced[:room]
        if self.writer is not None and self.writer.complete and len(forced) <= room:
            self.finish_reason = "stop"
        elif len(forced) >= room:
            self.finish_reason = "length"


class _Chooser:
    """Picks the next token of every active row: the most probable one, or a seeded draw."""

    def __init__(self, batch: list[Prompt], settings: dict[str, Any], device: Any) -> None:
        self.batch = batch
        self.device = device
        self.temperature = float(settings.get("temperature", 0.0))
        penalty = float(settings.get("repetition_penalty", 1.0))
        top_p = float(settings.get("top_p", 1.0))
        self.filters = LogitsProcessorList()
        self.penalised = penalty != 1.0
        if self.penalised:
            self.filters.append(RepetitionPenaltyLogitsProcessor(penalty))
        if self.temperature > 0:
            self.filters.append(TemperatureLogitsWarper(self.temperature))
            if top_p < 1.0:
                self.filters.append(TopPLogitsWarper(top_p))
            self.random = [torch.Generator().manual_seed(prompt.seed) for prompt in batch]

    def __call__(
        self, logits: Tensor, places: list[int], rows: list[tuple[int, _Row]]
    ) -> list[int]:
        """The next token of each row (its place in the batch, and itself) from `logits[places]`."""
        logits = (logits if len(places) == len(logits) else logits[places]).float()
        for place, (_, row) in enumerate(rows):
            allowed = None if row.writer is None else row.writer.allowed(logits.shape[-1])
            if allowed is not None:
                logits[place, ~allowed.to(logits.device)] = -torch.inf
        if self.filters:
            logits = torch.cat([self._filter(logits, i, *row) for i, row in enumerate(rows)])
        if self.temperature == 0:
            return [int(token) for token in logits.argmax(-1).tolist()]
        shares = logits.softmax(-1).cpu()
        return [
            int(torch.multinomial(shares[i], 1, generator=self.random[index]))
            for i, (index, _) in enumerate(rows)
        ]

    def _filter(self, logits: Tensor, place: int, index: int, row: _Row) -> Tensor:
        before: Any = torch.tensor([[*self.batch[index].ids, *row.ids]], device=self.device)
        filtered: Tensor = self.filters(before, logits[place : place + 1])
        return filtered
