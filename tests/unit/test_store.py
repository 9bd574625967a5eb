"""The response store: keys, durability, strictness."""

from __future__ import annotations

import json
import multiprocessing
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts.inference import store as module
from scripts.inference.interface import ModelSpec
from scripts.inference.store import (
    ResponseStore,
    StoreError,
    decode_line,
    encode_line,
    from_stored,
    request_key,
    store_files,
    store_path,
    to_stored,
)
from scripts.inference.store_commands import compact, main
from scripts.records import Request, Response

SPEC = ModelSpec(
    name="m",
    label="M",
    backend="transformers",
    source="org/m",
    revision="abc",
    precision="float32",
    modes=("non_thinking",),
    thinking={"switch": "none"},
)
IDENTITY = {"batch": {"policy": "left_padded", "size": 16}, "template_sha256": "00"}
REQUEST = Request.create(
    "item-1",
    {"shots": 0},
    [{"role": "system", "content": "count"}, {"role": "user", "content": "word"}],
    {"temperature": 0.0, "top_p": 1.0, "repetition_penalty": 1.0, "max_new_tokens": 40},
)


def response(text: str = "7", **changes: Any) -> Response:
    base = Response(
        request_id=REQUEST.request_id,
        item_id=REQUEST.item_id,
        model="m",
        mode="non_thinking",
        text=text,
        finish_reason="stop",
        usage={"prompt": 5, "completion": 1, "reasoning": None},
        backend="transformers",
        backend_version="1",
        attempts=1,
    )
    return replace(base, **changes)


FAILED = {"finish_reason": "error", "error": "timeout"}


def key_of(n: int) -> str:
    return f"{n:064x}"


# --- keys ---------------------------------------------------------------------------------------

DETERMINING = [
    (replace(SPEC, source="org/other"), IDENTITY, REQUEST),
    (replace(SPEC, revision="def"), IDENTITY, REQUEST),
    (replace(SPEC, precision="bfloat16"), IDENTITY, REQUEST),
    (replace(SPEC, backend="vllm"), IDENTITY, REQUEST),
    (SPEC, {**IDENTITY, "template_sha256": "01"}, REQUEST),
    (SPEC, {**IDENTITY, "batch": {"policy": "left_padded", "size": 32}}, REQUEST),
    (SPEC, IDENTITY, replace(REQUEST, messages=REQUEST.messages[:1])),
    (SPEC, IDENTITY, replace(REQUEST, messages=REQUEST.messages[::-1])),
    (SPEC, IDENTITY, replace(REQUEST, response_schema={"type": "object"})),
    *(
        (SPEC, IDENTITY, replace(REQUEST, decoding={**REQUEST.decoding, name: 0.5}))
        for name in REQUEST.decoding
    ),
]


@pytest.mark.parametrize("changed", DETERMINING)
def test_what_can_change_the_output_changes_the_key(changed: Any) -> None:
    assert request_key(*changed) != request_key(SPEC, IDENTITY, REQUEST)


def test_all_determining_changes_differ_from_each_other() -> None:
    assert len({request_key(*changed) for changed in DETERMINING}) == len(DETERMINING)


@given(
    name=st.text(max_size=8),
    path=st.none() | st.text(max_size=8),
    options=st.dictionaries(
        st.sampled_from(["gpus", "tensor_parallel", "shards", "threads", "concurrency"]),
        st.integers(1, 8),
    ),
    item=st.text(max_size=8),
    setting=st.dictionaries(st.text(max_size=4), st.integers(), max_size=2),
)
def test_what_cannot_change_the_output_keeps_the_key(
    name: str, path: str | None, options: dict[str, int], item: str, setting: dict[str, int]
) -> None:
    spec = replace(
        SPEC, name=name, label=name, path=path, options=options, modes=("thinking", "non_thinking")
    )
    request = replace(REQUEST, request_id=item, item_id=item, setting=setting)
    reordered = replace(request, decoding=dict(reversed(request.decoding.items())))
    assert request_key(spec, IDENTITY, reordered) == request_key(SPEC, IDENTITY, REQUEST)


@given(st.lists(st.tuples(st.text(), st.text()), max_size=4), st.text(min_size=1))
def test_two_shot_counts_never_collide(turns: list[tuple[str, str]], question: str) -> None:
    demonstrations = [
        message
        for user, assistant in turns
        for message in (
            {"role": "user", "content": user},
            {"role": "assistant", "content": assistant},
        )
    ]
    last = [{"role": "user", "content": question}]
    keys = {
        request_key(SPEC, IDENTITY, replace(REQUEST, messages=demonstrations[: 2 * k] + last))
        for k in range(len(turns) + 1)
    }
    assert len(keys) == len(turns) + 1


# --- lines --------------------------------------------------------------------------------------


@given(st.text(alphabet=st.characters(codec=None), max_size=40))
def test_any_text_survives_a_line(text: str) -> None:
    stored = to_stored(response(text, reasoning=text or None))
    line = encode_line(key_of(1), stored)
    assert line.isascii() and line.count(b"\n") == 1
    assert decode_line(line[:-1]) == (key_of(1), stored)


@pytest.mark.parametrize(
    "text", ["a\u2028b\u2029c\x85d\x0be", "\ud800 half \udfff", "\x00nul", "e\u0301", ""]
)
def test_hostile_texts_survive_the_file(tmp_path: Path, text: str) -> None:
    path = tmp_path / "m.jsonl"
    with ResponseStore(path) as store:
        store.append([(key_of(1), response(text))])
    good = ResponseStore(path).load().good(key_of(1))
    assert good is not None and good["text"] == text
    assert json.loads(path.read_bytes())["response"]["text"] == text


def test_stored_rows_are_mapped_to_the_request_that_asks(tmp_path: Path) -> None:
    stored = to_stored(response("7"))
    assert not {"request_id", "item_id", "model", "mode"} & stored.keys()
    other = replace(REQUEST, request_id="r2", item_id="i2")
    back = from_stored(stored, other, replace(SPEC, name="renamed"), "non_thinking")
    assert (back.request_id, back.item_id, back.model, back.text) == ("r2", "i2", "renamed", "7")
    assert back.error is None and back.reasoning is None


# --- files --------------------------------------------------------------------------------------


def filled(path: Path, count: int = 3) -> Path:
    with ResponseStore(path) as store:
        store.append((key_of(n), response(str(n))) for n in range(count))
    return path


def test_a_torn_last_line_is_dropped_and_written_over(tmp_path: Path) -> None:
    path = filled(tmp_path / "m.jsonl")
    whole = path.read_bytes()
    for cut in range(2, len(whole) // 3):
        path.write_bytes(whole[:-cut])
        assert ResponseStore(path).load().answers.keys() == {key_of(0), key_of(1)}
        assert path.read_bytes() == whole[:-cut]  # reading changes nothing
        with ResponseStore(path) as store:
            store.append([(key_of(2), response("2"))])
        assert path.read_bytes() == whole


def test_zeros_left_by_a_power_cut_are_a_torn_line(tmp_path: Path) -> None:
    path = filled(tmp_path / "m.jsonl")
    whole = path.read_bytes()
    path.write_bytes(whole + b"\x00" * 4096)
    with ResponseStore(path) as store:
        assert len(store.answers) == 3
    assert path.read_bytes() == whole


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda line: line.replace(b'"text": "1"', b'"text": "9"'), "checksum"),
        (lambda line: b"{}\n", "not a line"),
        (lambda line: b"\n", "not a line"),
        (lambda line: line[:-3] + b"\n", "checksum|not a line"),
        (lambda line: encode_line(key_of(1), {"text": "x"}), "lacks"),
    ],
)
def test_a_bad_line_elsewhere_names_file_and_line(
    tmp_path: Path, damage: Any, message: str
) -> None:
    path = filled(tmp_path / "m.jsonl")
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + damage(lines[1]) + lines[2])
    with pytest.raises(StoreError, match=rf"m\.jsonl, line 2: .*{message}"):
        ResponseStore(path).load()
    with pytest.raises(StoreError, match="line 2"), ResponseStore(path):
        pass
    path.write_bytes(lines[0])
    with ResponseStore(path) as store:  # the failed attempt gave its lock back
        assert len(store.answers) == 1


def test_a_later_good_answer_wins_over_an_error_and_stays(tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl"
    with ResponseStore(path) as store:
        store.append([(key_of(1), response("", **FAILED))])
        assert store.good(key_of(1)) is None
        store.append([(key_of(1), response("7"))])
        store.append([(key_of(1), response("", **FAILED))])
        store.append([(key_of(1), response("7", attempts=3, backend_version="2"))])
    good = ResponseStore(path).load().good(key_of(1))
    assert good is not None and good["text"] == "7" and good["attempts"] == 1


def test_the_last_of_several_errors_is_shown(tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl"
    with ResponseStore(path) as store:
        store.append([(key_of(1), response("", **FAILED))])
        store.append([(key_of(1), response("", finish_reason="error", error="refused"))])
    assert ResponseStore(path).load().answers[key_of(1)]["error"] == "refused"


def test_two_different_good_answers_are_an_error_that_names_both_lines(tmp_path: Path) -> None:
    path = filled(tmp_path / "m.jsonl")
    with ResponseStore(path) as store, pytest.raises(StoreError, match="different answer"):
        store.append([(key_of(1), response("8"))])
    with path.open("ab") as handle:
        handle.write(encode_line(key_of(1), to_stored(response("8"))))
    with pytest.raises(StoreError, match=r"line 4: a different answer .*line 2"):
        ResponseStore(path).load()


def test_shards_are_read_together_and_the_number_of_shards_does_not_matter(tmp_path: Path) -> None:
    for shard in (None, 0, 1):
        path = store_path(tmp_path, "b", "m", "thinking", shard)
        n = -1 if shard is None else shard
        with ResponseStore(path) as store:
            store.append([(key_of(n + 1), response(str(n)))])
    filled(store_path(tmp_path, "b", "m", "non_thinking"))
    whole = store_path(tmp_path, "b", "m", "thinking")
    assert [p.name for p in store_files(whole)] == [
        "thinking.0.jsonl",
        "thinking.1.jsonl",
        "thinking.jsonl",
    ]
    assert len(ResponseStore(whole).load().answers) == 3
    assert len(ResponseStore(whole.with_name("thinking.7.jsonl")).load().answers) == 3


def _hold(path: Path, ready: Any) -> None:
    with ResponseStore(path):
        ready.set()
        time.sleep(60)


def test_one_writer_at_a_time_and_a_dead_writer_frees_the_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PATIENCE_S", 0.0)
    path = filled(tmp_path / "m.jsonl")
    context = multiprocessing.get_context("spawn")
    ready = context.Event()
    holder = context.Process(target=_hold, args=(path, ready))
    holder.start()
    try:
        assert ready.wait(30)
        with pytest.raises(StoreError, match=f"process {holder.pid} on "), ResponseStore(path):
            pass
        with pytest.raises(StoreError, match="another run"):
            compact(path)
        assert len(ResponseStore(path).load().answers) == 3  # reading needs no lock
    finally:
        holder.kill()
        holder.join()
    with ResponseStore(path) as store:
        store.append([(key_of(9), response("9"))])


def test_a_run_waits_for_another_one_that_is_about_to_end(tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl"
    context = multiprocessing.get_context("spawn")
    ready = context.Event()
    holder = context.Process(target=_hold, args=(path, ready))
    holder.start()
    try:
        assert ready.wait(30)
        timer = threading.Timer(2.0, holder.kill)
        timer.start()
        with ResponseStore(path) as store:
            store.append([(key_of(1), response("1"))])
            holder.join(10)
            assert not holder.is_alive()
        timer.join()
    finally:
        holder.kill()
        holder.join()


def test_appending_needs_an_open_store(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="not open"):
        ResponseStore(tmp_path / "m.jsonl").append([(key_of(1), response())])


def test_compaction_drops_what_is_superseded_and_keeps_the_order(tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl"
    with ResponseStore(path) as store:
        store.append([(key_of(3), response("", **FAILED))])
        store.append([(key_of(2), response("2")), (key_of(2), response("2"))])
        store.append([(key_of(3), response("3")), (key_of(1), response("", **FAILED))])
    before = ResponseStore(path).load().answers
    assert compact(path).duplicates == 2
    assert ResponseStore(path).load().answers == before
    keys = [decode_line(line)[0] for line in path.read_bytes().splitlines()]
    assert keys == [key_of(2), key_of(3), key_of(1)]
    with pytest.raises(StoreError, match="no such"):
        compact(tmp_path / "absent.jsonl")


def test_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = filled(tmp_path / "deep" / "m.jsonl")
    with path.open("ab") as handle:
        handle.write(b"torn")
    assert main(["verify", str(tmp_path)]) == 0
    assert "3 lines, 3 answers, 0 still in error, 0 superseded" in (out := capsys.readouterr().out)
    assert "is cut" in out
    assert main(["compact", str(path)]) == 0
    assert len(path.read_bytes().splitlines()) == 3
    path.write_bytes(b"{}\n")
    assert main(["verify", str(path)]) == 1
    assert "line 1: not a line" in capsys.readouterr().out


def test_a_hundred_thousand_rows_are_read_in_seconds(tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl"
    stored = to_stored(response("x" * 200))
    path.write_bytes(b"".join(encode_line(key_of(n), stored) for n in range(100_000)))
    begin = time.process_time()
    assert len(ResponseStore(path).load().answers) == 100_000
    assert time.process_time() - begin < 10


def test_a_write_that_is_cut_short_is_continued(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "m.jsonl"
    real = module.os.write
    monkeypatch.setattr(module.os, "write", lambda fd, data: real(fd, bytes(data[:100])))
    filled(path)
    assert len(ResponseStore(path).load().answers) == 3
