"""Which requests of a model belong to which of the N jobs that split them (its shards).

The share of a shard is a function of all requests and of nothing else: not of their order, and not
of what the store holds. A shard that starts an hour later, or again after a kill, finds the same
share. Requests are laid out in one row: those with the same beginning (all messages but the last)
side by side, in the order of their last message, so that a document at its head stays together too.
The row is cut into N parts of equal estimated work. Hence

- each request is in one shard, and equal questions are in the same one;
- at most N - 1 beginnings are computed in more than one shard;
- no shard has more work than total / N + the work of the longest request.

The beginnings stand in an order that mixes tasks and languages (by digest): what a task costs is
not known before, so no shard should have a task for itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from scripts.records import Request, canonical_digest, canonical_json, content_id

# A message as (role, text).
Turn = tuple[str, str]


class ShardError(ValueError):
    """A shard that cannot be: its number is not among the shards."""


class Split:
    """Complete requests (`runner.complete`) split over `shards` jobs; a shard may get none."""

    def __init__(self, requests: Sequence[Request], shards: int) -> None:
        if shards < 1:
            raise ShardError(f"{shards} shards; at least one job has to answer")
        self.requests = list(requests)
        self.shards = shards

    @cached_property
    def questions(self) -> list[str]:
        """SHA-256 of what each request asks; equal where one answer serves both."""
        return [
            canonical_digest([r.messages, r.decoding, r.response_schema]) for r in self.requests
        ]

    @cached_property
    def numbers(self) -> list[int]:
        """The shard (from 1) of each request."""
        unique = dict(zip(self.questions, self.requests, strict=True))
        row = _row(unique)
        weights = [work(unique[name]) for name in row]
        total, before = sum(weights), 0
        shard_of: dict[str, int] = {}
        for name, weight in zip(row, weights, strict=True):
            # The part of the row in which the request's middle lies.
            shard_of[name] = (2 * before + weight) * self.shards // (2 * total) + 1
            before += weight
        return [shard_of[name] for name in self.questions]

    @property
    def name(self) -> str:
        """What two jobs have in common only when their shares cannot overlap."""
        asked = sorted(set(self.questions))
        return f"{self.shards} shards of {len(asked)} questions ({content_id(asked, length=12)})"

    def share(self, shard: int) -> list[Request]:
        """The requests of one shard, in the order given; ShardError for a number beyond them."""
        if not 1 <= shard <= self.shards:
            raise ShardError(f"shard {shard} of {self.shards}: they are numbered from 1")
        pairs = zip(self.requests, self.numbers, strict=True)
        return [request for request, number in pairs if number == shard]

    def loads(self) -> list[int]:
        """Estimated work of every shard; a question that stands twice counts once."""
        found = [0] * self.shards
        shard_of = dict(zip(self.questions, self.numbers, strict=True))
        unique = dict(zip(self.questions, self.requests, strict=True))
        for name, number in shard_of.items():
            found[number - 1] += work(unique[name])
        return found


def work(request: Request) -> int:
    """Estimated work: characters of the messages + most tokens that the answer may have."""
    characters = sum(len(text) for _, text in turns(request))
    return max(1, characters + int(request.decoding.get("max_new_tokens", 0)))


def turns(request: Request) -> list[Turn]:
    """Messages as (role, text); content that is no text (pictures) as its canonical JSON."""
    return [
        (m["role"], m["content"] if isinstance(m["content"], str) else canonical_json(m["content"]))
        for m in request.messages
    ]


def segment(store: Path | str, shard: int) -> Path:
    """The part of a store that one shard writes: `x.jsonl` has the segments `x.<number>.jsonl`."""
    path = Path(store)
    return path.with_name(f"{path.name.removesuffix('.jsonl')}.{shard}.jsonl")


def _row(unique: dict[str, Request]) -> list[str]:
    """The questions in the order in which they are cut: by beginning, then by last message."""
    digests: dict[tuple[Turn, ...], str] = {}

    def place(name: str) -> tuple[str, list[Turn], str]:
        said = turns(unique[name])
        beginning = tuple(said[:-1])
        if beginning not in digests:
            digests[beginning] = canonical_digest(beginning)
        return digests[beginning], said[-1:], name

    return sorted(unique, key=place)
