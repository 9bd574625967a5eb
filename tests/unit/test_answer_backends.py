"""The backends whose answers are read from files: archive and baseline."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from scripts.files import DataError
from scripts.inference import runner
from scripts.inference.backends.archive import ArchiveBackend
from scripts.inference.backends.baseline import BaselineBackend
from scripts.inference.interface import BackendError, ModelSpec
from scripts.inference.registry import model_spec
from scripts.inference.store import ResponseStore
from scripts.records import Request, Response

MESSAGES = [{"role": "user", "content": "?"}]
REQUESTS = [Request.create(f"i{n}", {"shots": n}, MESSAGES, {"temperature": 0.0}) for n in range(3)]


def spec(path: Path, backend: str = "archive", revision: str | None = None) -> ModelSpec:
    entry = {"backend": backend, "source": "x", "modes": ["thinking"], "revision": revision}
    return model_spec("m", entry, str(path))


def write(path: Path, rows: list[Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def answers(path: Path) -> list[Response]:
    backend = ArchiveBackend(spec(path), "thinking")
    store = ResponseStore(path.with_name("store.jsonl"))
    run = runner.run(backend.spec, "thinking", REQUESTS, store, backend, max_new_tokens=9)
    assert not store.path.exists()
    return run.responses


def test_archive_rows_by_request_and_by_item(tmp_path: Path) -> None:
    rows = [
        {
            "request_id": REQUESTS[0].request_id,
            "text": "a\u2028",
            "reasoning": "why",
            "finish_reason": "length",
            "usage": {"completion": 4},
        },
        {"item_id": "i1", "setting": {"shots": 1}, "text": "b"},
    ]
    first, second, third = answers(write(tmp_path / "a.jsonl", rows))
    assert (first.text, first.reasoning, first.finish_reason) == ("a\u2028", "why", "length")
    assert first.usage == {"prompt": None, "completion": 4, "reasoning": None}
    assert (second.text, second.finish_reason, second.error) == ("b", "stop", None)
    assert third.text == "" and third.error is not None and third.error.startswith("not run: ")
    assert third.finish_reason == "error"


def test_an_archived_error_stays_an_error(tmp_path: Path) -> None:
    row = {"request_id": REQUESTS[0].request_id, "error": "server died"}
    assert answers(write(tmp_path / "a.jsonl", [row]))[0].error == "server died"


def test_a_changed_archive_is_never_answered_for_by_an_old_row(tmp_path: Path) -> None:
    row = {"request_id": REQUESTS[0].request_id, "text": "old"}
    assert answers(write(tmp_path / "a.jsonl", [row]))[0].text == "old"
    assert answers(write(tmp_path / "a.jsonl", [{**row, "text": "new"}]))[0].text == "new"


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"request_id": "r"}, "neither text nor error"),
        ({"text": "x"}, "names no request"),
        ({"item_id": "i", "text": "x"}, "names no request"),
        ({"request_id": "r", "text": 7}, "text is int"),
        ({"request_id": "r", "text": "x", "mood": "good"}, r"unknown field\(s\) \['mood'\]"),
        ({"request_id": "r", "text": "x", "usage": {"prompt": -1}}, "token counts"),
        ({"request_id": "r", "text": "x", "usage": {"prompt": True}}, "token counts"),
        ({"request_id": "r", "text": "x", "usage": {"other": 1}}, "usage has unknown"),
        ({"request_id": "first", "text": "x"}, "line 1 is answered again"),
        ([1], "expected a JSON object"),
    ],
)
def test_a_bad_archive_row_names_file_and_line(tmp_path: Path, row: Any, message: str) -> None:
    path = write(tmp_path / "a.jsonl", [{"request_id": "first", "text": "x"}, row])
    with pytest.raises(DataError, match=rf"a\.jsonl, line 2: .*{message}"):
        answers(path)


def test_versions_and_identities(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", [])
    plain = ArchiveBackend(spec(path), "thinking")
    assert plain.version.startswith("sha256 ") and len(plain.identity()["sha256"]) == 64
    assert ArchiveBackend(spec(path, revision="v2"), "thinking").version == "v2"
    baseline = BaselineBackend(spec(path, "baseline"), "thinking")
    assert baseline.version == "1" and baseline.identity()["backend"] == "baseline"


def test_baselines_answer_every_request(tmp_path: Path) -> None:
    rows = [{"request_id": r.request_id, "text": r.item_id} for r in reversed(REQUESTS)]
    path = write(tmp_path / "b.jsonl", rows)
    backend = BaselineBackend(spec(path, "baseline"), "thinking")
    assert [r.text for r in backend.generate(REQUESTS)] == ["i0", "i1", "i2"]
    write(path, rows[1:])
    with pytest.raises(BackendError, match=r"b\.jsonl: no answer to request"):
        list(backend.generate(REQUESTS))
    write(path, [{**rows[0], "usage": {}}])
    with pytest.raises(DataError, match="unknown field"):
        list(backend.generate(REQUESTS))


def test_a_missing_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(BackendError, match=r"no file of answers at .*absent"):
        list(ArchiveBackend(spec(tmp_path / "absent"), "thinking").generate(REQUESTS))


def test_the_archive_of_a_release_gives_whole_responses(tmp_path: Path) -> None:
    entry = {"backend": "archive", "source": "x", "modes": ["thinking"]}
    released = model_spec(
        "m", {**entry, "archived": {"backend": "vllm"}}, str(tmp_path / "a.jsonl")
    )
    assert (released.backend, released.origin) == ("archive", "vllm")
    said = [
        Response(
            *(request.request_id, request.item_id, "m", "thinking", f"text {n}"),
            finish_reason="length",
            usage={"prompt": 1, "completion": 2, "reasoning": 1},
            backend="vllm",
            backend_version="vllm 1",
            attempts=3,
            reasoning="trace",
            error="HTTP 500" if n == 2 else None,
        )
        for n, request in enumerate(REQUESTS)
    ]
    backend = ArchiveBackend(released, "thinking")
    write(tmp_path / "a.jsonl", [response.to_json() for response in reversed(said)])
    store = ResponseStore(tmp_path / "store.jsonl")
    run = runner.run(released, "thinking", REQUESTS, store, backend, max_new_tokens=9)
    assert run.responses == said and run.errors == 1
    write(tmp_path / "a.jsonl", [said[0].to_json()])
    with pytest.raises(BackendError, match=r"answers 1 of the 3 requests .* commit"):
        list(backend.generate(REQUESTS))
    for change, message in (
        ({"model": "other"}, "is one of other"),
        ({"attempts": "3"}, "attempts"),
    ):
        write(tmp_path / "a.jsonl", [{**said[0].to_json(), **change}])
        with pytest.raises(DataError, match=message):
            list(backend.generate(REQUESTS[:1]))
    # The archive of a release is no archive of published outputs, and the other way round.
    write(tmp_path / "a.jsonl", [said[0].to_json()])
    with pytest.raises(DataError, match="unknown field"):
        list(ArchiveBackend(spec(tmp_path / "a.jsonl"), "thinking").generate(REQUESTS))
