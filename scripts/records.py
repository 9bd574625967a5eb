"""The row types of every JSONL file, and the content-derived identifiers.

Floor 1 of the package: imports nothing of ours. docs/data-formats.md documents every field.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, ClassVar, Self

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]


class RecordError(ValueError):
    """A row does not have the shape of its record type."""


def canonical_json(value: Any) -> str:
    """The one JSON text of a value: sorted keys, ASCII escapes, no spaces, no NaN.

    Raises ValueError for NaN or infinity and TypeError for anything that is not JSON.
    """
    return json.dumps(
        value, sort_keys=True, ensure_ascii=True, separators=(",", ":"), allow_nan=False
    )


def canonical_digest(value: Any) -> str:
    """Hexadecimal SHA-256 of the canonical JSON of a value (64 characters)."""
    return hashlib.sha256(canonical_json(value).encode("ascii")).hexdigest()


def content_id(*parts: Any, length: int = 16) -> str:
    """Hexadecimal identifier derived from content alone: the head of the parts' digest."""
    return canonical_digest(list(parts))[:length]


@dataclass(frozen=True, slots=True)
class Record:
    """Base of the row types: strict reading from, and plain writing to, a JSON object."""

    optional: ClassVar[frozenset[str]] = frozenset()

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> Self:
        """Build the record from a parsed JSON object; unknown and missing keys are errors."""
        known = {f.name for f in fields(cls)}
        unknown = sorted(set(row) - known)
        if unknown:
            raise RecordError(
                f"{cls.__name__}: unknown field(s) {unknown}; known fields: {sorted(known)}"
            )
        missing = sorted(known - cls.optional - set(row))
        if missing:
            raise RecordError(f"{cls.__name__}: missing field(s) {missing}")
        record = cls(**row)
        record.check()
        return record

    def to_json(self) -> dict[str, Any]:
        """The record as a JSON object; fields that are None and optional are left out."""
        row = asdict(self)
        return {k: v for k, v in row.items() if not (v is None and k in self.optional)}

    def check(self) -> None:
        """Raise RecordError when a field has the wrong type."""
        for f in fields(self):
            value = getattr(self, f.name)
            expected = _EXPECTED.get(f.name)
            if value is None and f.name in self.optional:
                continue
            if expected is not None and not isinstance(value, expected):
                raise RecordError(
                    f"{type(self).__name__}: field {f.name!r} is {type(value).__name__}, "
                    f"expected {'/'.join(t.__name__ for t in expected)}"
                )


_EXPECTED: dict[str, tuple[type, ...]] = {
    "item_id": (str,),
    "request_id": (str,),
    "benchmark": (str,),
    "task": (str,),
    "factors": (dict,),
    "inputs": (dict,),
    "gold": (dict,),
    "source": (dict,),
    "setting": (dict,),
    "messages": (list,),
    "response_schema": (dict,),
    "decoding": (dict,),
    "model": (str,),
    "mode": (str,),
    "text": (str,),
    "reasoning": (str,),
    "finish_reason": (str,),
    "usage": (dict,),
    "backend": (str,),
    "backend_version": (str,),
    "attempts": (int,),
    "error": (str,),
    "judge": (str,),
    "answers": (dict,),
    "raw": (str,),
    "detail": (dict,),
    "valid": (bool,),
    "correct": (bool,),
}


@dataclass(frozen=True, slots=True)
class Item(Record):
    """One question with its gold answer. `gold` holds at least `answer`."""

    item_id: str
    benchmark: str
    task: str
    factors: dict[str, Any]
    inputs: dict[str, Any]
    gold: dict[str, Any]
    source: dict[str, Any]

    @classmethod
    def create(  # noqa: PLR0917
        cls,
        benchmark: str,
        task: str,
        factors: dict[str, Any],
        inputs: dict[str, Any],
        gold: dict[str, Any],
        source: dict[str, Any],
    ) -> Item:
        """An item whose id is derived from what is asked, never from its place in the file."""
        item_id = f"{task}-{content_id(benchmark, task, factors, inputs)}"
        return cls(item_id, benchmark, task, factors, inputs, gold, source)


@dataclass(frozen=True, slots=True)
class Request(Record):
    """One prompt for one item in one setting. Independent of the model that will answer it.

    `messages` is a list of `{"role": "system"|"user"|"assistant", "content": str}`; `decoding`
    holds what the benchmark fixes for every model (temperature, top_p, repetition_penalty).
    """

    optional: ClassVar[frozenset[str]] = frozenset({"response_schema"})

    request_id: str
    item_id: str
    setting: dict[str, Any]
    messages: list[dict[str, str]]
    decoding: dict[str, Any]
    response_schema: dict[str, Any] | None = None

    @classmethod
    def create(
        cls,
        item_id: str,
        setting: dict[str, Any],
        messages: list[dict[str, str]],
        decoding: dict[str, Any],
        response_schema: dict[str, Any] | None = None,
    ) -> Request:
        """A request whose id changes with the prompt, the decoding or the schema."""
        request_id = content_id(item_id, setting, messages, decoding, response_schema)
        return cls(request_id, item_id, setting, messages, decoding, response_schema)


@dataclass(frozen=True, slots=True)
class Response(Record):
    """What one model said to one request.

    `text` is the answer after the reasoning was separated; `reasoning` is the trace, `None` where
    there is none. `usage` counts tokens: `prompt`, `completion`, `reasoning` (`None` = unknown).
    `error` is set when the backend gave no answer after all retries; such a row has an empty text.
    `finish_reason`: `stop`, `length`, `error`, or the backend's own word.
    """

    optional: ClassVar[frozenset[str]] = frozenset({"reasoning", "error"})

    request_id: str
    item_id: str
    model: str
    mode: str
    text: str
    finish_reason: str
    usage: dict[str, int | None]
    backend: str
    backend_version: str
    attempts: int
    reasoning: str | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Judgement(Record):
    """One judge's fixed answers about one response."""

    request_id: str
    judge: str
    answers: dict[str, Any]
    raw: str


@dataclass(frozen=True, slots=True)
class Score(Record):
    """The score of one response. `parsed` is `None` when nothing could be read.

    `valid` false means that the reply could not be parsed (`detail["category"]` says why);
    `correct` is `None` when the row is unscored (`detail["reason"]`): not the same as wrong.
    `partial` is a benchmark's graded credit in [0, 1], `None` where there is none.
    """

    optional: ClassVar[frozenset[str]] = frozenset({"parsed", "correct", "partial"})

    item_id: str
    request_id: str
    model: str
    mode: str
    task: str
    setting: dict[str, Any]
    factors: dict[str, Any]
    valid: bool
    parsed: Any = None
    correct: bool | None = None
    partial: float | None = None
    detail: dict[str, Any] = field(default_factory=dict)
