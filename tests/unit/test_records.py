"""Row types: strict in, plain out; identifiers that depend on content and on nothing else."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts.records import (
    Item,
    Record,
    RecordError,
    Request,
    Response,
    Score,
    canonical_json,
    content_id,
)

ROWS: dict[type[Record], dict[str, Any]] = {
    Item: {
        "item_id": "t-1",
        "benchmark": "b",
        "task": "t",
        "factors": {},
        "inputs": {"string": "x"},
        "gold": {"answer": 1},
        "source": {},
    },
    Request: {
        "request_id": "r",
        "item_id": "t-1",
        "setting": {"shots": 0},
        "messages": [{"role": "user", "content": "x"}],
        "decoding": {"temperature": 0},
    },
    Response: {
        "request_id": "r",
        "item_id": "t-1",
        "model": "m",
        "mode": "thinking",
        "text": "",
        "finish_reason": "stop",
        "usage": {"prompt": 1, "completion": None, "reasoning": None},
        "backend": "archive",
        "backend_version": "1",
        "attempts": 1,
    },
    Score: {
        "item_id": "t-1",
        "request_id": "r",
        "model": "m",
        "mode": "thinking",
        "task": "t",
        "setting": {},
        "factors": {},
        "valid": True,
        "detail": {},
    },
}
KINDS = pytest.mark.parametrize("kind", list(ROWS), ids=lambda kind: kind.__name__)


@KINDS
def test_a_row_comes_back_as_it_was(kind: type[Record]) -> None:
    record = kind.from_json(ROWS[kind])
    assert record.to_json() == ROWS[kind]
    with pytest.raises(dataclasses.FrozenInstanceError):
        record.item_id = "other"  # type: ignore[attr-defined]


@KINDS
def test_optional_fields_are_left_out_only_where_empty(kind: type[Record]) -> None:
    for name in sorted(kind.optional):
        record = kind.from_json({**ROWS[kind], name: None})
        assert name not in record.to_json()
    if kind is Score:
        # False is a wrong answer, not an unscored one.
        assert Score.from_json({**ROWS[Score], "correct": False}).to_json()["correct"] is False


@KINDS
def test_every_required_field_is_required(kind: type[Record]) -> None:
    for name in ROWS[kind]:
        row = {key: value for key, value in ROWS[kind].items() if key != name}
        with pytest.raises(RecordError, match=rf"{kind.__name__}: missing field\(s\) \['{name}'\]"):
            kind.from_json(row)


@KINDS
def test_an_unknown_field_is_named(kind: type[Record]) -> None:
    with pytest.raises(RecordError, match=r"unknown field\(s\) \['colour'\]; known fields"):
        kind.from_json({**ROWS[kind], "colour": "red"})


@KINDS
def test_every_field_of_the_wrong_type_is_named(kind: type[Record]) -> None:
    wrong = object()
    for name in ROWS[kind]:
        with pytest.raises(RecordError, match=f"field '{name}' is object, expected"):
            kind.from_json({**ROWS[kind], name: wrong})


def test_identifier_of_an_item_follows_the_question_only() -> None:
    def make(**change: Any) -> str:
        parts = {
            "benchmark": "b",
            "task": "t",
            "factors": {"condition": "english"},
            "inputs": {"string": "x"},
            "gold": {"answer": 1},
            "source": {"corpus": "c"},
        }
        return Item.create(**{**parts, **change}).item_id

    first = make()
    assert first.startswith("t-")
    assert make(gold={"answer": 2}) == first == make(source={})
    others = [
        make(benchmark="x"),
        make(task="u"),
        make(factors={"condition": "random"}),
        make(inputs={"string": "y"}),
    ]
    assert len({first, *others}) == 5


def test_identifier_of_a_request_follows_all_that_a_model_sees() -> None:
    def make(**change: Any) -> str:
        parts: dict[str, Any] = {
            "item_id": "t-1",
            "setting": {"shots": 0},
            "messages": [{"role": "user", "content": "x"}],
            "decoding": {"temperature": 0},
            "response_schema": None,
        }
        return Request.create(**{**parts, **change}).request_id

    changes: list[dict[str, Any]] = [
        {},
        {"item_id": "t-2"},
        {"setting": {"shots": 1}},
        {"messages": [{"role": "system", "content": "x"}]},
        {"decoding": {"temperature": 1}},
        {"response_schema": {"type": "object"}},
    ]
    assert len({make(**change) for change in changes}) == len(changes)


def test_canonical_text() -> None:
    assert canonical_json({"b": [1, "é\u2028\ud800"], "a": None}) == (
        '{"a":null,"b":[1,"\\u00e9\\u2028\\ud800"]}'
    )
    with pytest.raises(ValueError, match="Out of range float"):
        canonical_json(float("nan"))
    with pytest.raises(TypeError):
        canonical_json({"a": {1, 2}})


@given(st.dictionaries(st.text(), st.integers() | st.text(), max_size=5))
def test_identifier_ignores_the_order_of_keys(value: dict[str, Any]) -> None:
    other = dict(reversed(list(value.items())))
    assert content_id("x", value) == content_id("x", other)
    assert content_id("x", value) != content_id("y", value)


@pytest.mark.parametrize(
    "parts", [(("a", "b"), ("ab",)), (("a", ["b"]), ("a", "b")), ((1,), ("1",))]
)
def test_parts_are_kept_apart(parts: tuple[tuple[Any, ...], tuple[Any, ...]]) -> None:
    assert content_id(*parts[0]) != content_id(*parts[1])


def test_identifier_is_the_same_in_every_process(repository: Path) -> None:
    code = "from scripts.records import content_id; print(content_id({'b': 1, 'a': 2}, length=8))"
    seen = {content_id({"a": 2, "b": 1}, length=8)}
    for seed in ("0", "1"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(repository)}
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        seen.add(done.stdout.strip())
    assert len(seen) == 1 and len(seen.pop()) == 8
