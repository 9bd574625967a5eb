"""The response store: keys, durability, strictness."""

from __future__ import annotations

import errno
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
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
    locked,
    request_key,
    store_files,
    store_path,
    to_stored,
)
from scripts.records import Request, Response

ROOT = Path(__file__).resolve().parents[2]
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


def test_a_last_line_that_lacks_only_its_newline_is_kept(tmp_path: Path) -> None:
    path = filled(tmp_path / "m.jsonl")
    whole = path.read_bytes()
    path.write_bytes(whole[:-1])
    assert len(ResponseStore(path).load().answers) == 3
    with ResponseStore(path) as store:
        assert len(store.answers) == 3
        store.append([(key_of(3), response("3"))])
    assert path.read_bytes().startswith(whole)
    assert len(ResponseStore(path).load().answers) == 4


@pytest.mark.parametrize(
    "change",
    [
        lambda whole: whole.replace(b"\n", b"\r\n"),
        lambda whole: b"\xef\xbb\xbf" + whole,
        lambda whole: b"\xef\xbb\xbf" + whole.replace(b"\n", b"\r\n"),
    ],
    ids=["CRLF", "byte order mark", "both"],
)
def test_what_other_programs_do_to_a_text_file_costs_nothing(tmp_path: Path, change: Any) -> None:
    path = filled(tmp_path / "m.jsonl")
    before = ResponseStore(path).load().answers
    path.write_bytes(change(path.read_bytes()))
    assert ResponseStore(path).load().answers == before
    with ResponseStore(path) as store:
        store.append([(key_of(3), response("3"))])
    assert len(ResponseStore(path).load().answers) == 4


def test_a_file_saved_as_utf_16_is_an_error_and_stays(tmp_path: Path) -> None:
    path = filled(tmp_path / "m.jsonl", 1)
    saved = path.read_bytes().decode().encode("utf-16")
    path.write_bytes(saved)
    with pytest.raises(StoreError, match="line 1: not a line"), ResponseStore(path):
        pass
    assert path.read_bytes() == saved


def test_nul_bytes_in_a_last_line_are_a_power_cut_elsewhere_an_error(tmp_path: Path) -> None:
    path = filled(tmp_path / "m.jsonl")
    whole = path.read_bytes()
    lines = whole.splitlines(keepends=True)
    hurt = lines[2][:50] + bytes(len(lines[2]) - 51) + b"\n"
    path.write_bytes(lines[0] + lines[1] + hurt)
    with ResponseStore(path) as store:
        assert len(store.answers) == 2
        store.append([(key_of(2), response("2"))])
    assert path.read_bytes() == whole
    path.write_bytes(lines[0] + hurt + lines[1])
    with pytest.raises(StoreError, match=r"line 2: .*NUL bytes, as a power cut.*verify --repair"):
        ResponseStore(path).load()


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
        (lambda line: line.replace(key_of(1).encode(), b"x" * 64), "key is not a SHA-256"),
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


def test_names_of_judges_are_no_shards(tmp_path: Path) -> None:
    first, second = tmp_path / "gpt-5.jsonl", tmp_path / "gpt-5.2.jsonl"
    for path in (first, second):
        filled(path)
        assert store_files(path) == [path]
    first.write_bytes(b"bad\n")
    with ResponseStore(second) as store:
        assert len(store.answers) == 3


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
        with pytest.raises(StoreError, match="another run"), locked(path):
            pass
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


class TestWritingFails:
    """Memory, file and caller agree on what was stored, and the next run goes on."""

    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[ResponseStore]:
        with ResponseStore(filled(tmp_path / "m.jsonl")) as store:
            yield store

    def fails(self, store: ResponseStore, message: str) -> None:
        with pytest.raises(StoreError, match=rf"m\.jsonl: .*{message}.*The answers stored so far"):
            store.append([(key_of(n), response(str(n))) for n in (7, 8, 9)])
        assert store.good(key_of(7)) is None
        with pytest.raises(StoreError, match="not open"):
            store.append([(key_of(7), response("7"))])

    def after(self, store: ResponseStore, expected: set[int]) -> None:
        store.close()
        assert store.path.read_bytes().endswith(b"\n")
        again = ResponseStore(store.path).load()
        assert again.answers.keys() == {key_of(n) for n in expected}
        assert again.contents.torn == []

    def test_a_disk_that_fills_up_within_a_batch(
        self, store: ResponseStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        real, room = os.write, [500]

        def write(descriptor: int, data: Any) -> int:
            if not room[0]:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            written = real(descriptor, bytes(data[: room[0]]))
            room[0] -= written
            return written

        with monkeypatch.context() as patched:
            patched.setattr(module.os, "write", write)
            self.fails(store, "No space left on device.*make room")
        # The answer whose line is whole is paid for, so it stays.
        self.after(store, {0, 1, 2, 7})

    @pytest.mark.parametrize(
        ("call", "code", "message"),
        [
            ("write", errno.EROFS, "Read-only file system.*may be written"),
            ("write", errno.EDQUOT, "quota"),
            ("fsync", errno.EIO, "Input/output error.*see to the disk"),
        ],
    )
    def test_a_disk_that_fails(
        self,
        store: ResponseStore,
        monkeypatch: pytest.MonkeyPatch,
        call: str,
        code: int,
        message: str,
    ) -> None:
        def refuse(*arguments: Any) -> int:
            raise OSError(code, os.strerror(code))

        with monkeypatch.context() as patched:
            patched.setattr(module.os, call, refuse)
            self.fails(store, message)
        # What an fsync did not confirm may be there all the same; it is never half there.
        self.after(store, {0, 1, 2, *((7, 8, 9) if call == "fsync" else ())})

    def test_cutting_fails_too(self, store: ResponseStore, monkeypatch: pytest.MonkeyPatch) -> None:
        real = os.write

        def write(descriptor: int, data: Any) -> int:
            if len(data) < 100:
                raise OSError(errno.EIO, os.strerror(errno.EIO))
            return real(descriptor, bytes(data[: len(data) - 50]))

        def refuse(*arguments: Any) -> None:
            raise OSError(errno.EIO, os.strerror(errno.EIO))

        with monkeypatch.context() as patched:
            patched.setattr(module.os, "write", write)
            patched.setattr(module.os, "ftruncate", refuse)
            self.fails(store, "Input/output error")
        store.close()
        assert ResponseStore(store.path).load().contents.torn == [store.path]
        with ResponseStore(store.path) as again:
            assert again.answers.keys() == {key_of(n) for n in (0, 1, 2, 7, 8)}

    def test_the_file_is_moved_or_replaced_under_the_run(self, store: ResponseStore) -> None:
        aside = store.path.rename(store.path.with_name("aside"))
        with pytest.raises(StoreError, match="was moved, removed or replaced"):
            store.append([(key_of(7), response("7"))])
        store.path.write_bytes(b"")
        with pytest.raises(StoreError, match="not open"):
            store.append([(key_of(7), response("7"))])
        assert aside.read_bytes().count(b"\n") == 3

    def test_a_contradiction_is_refused_and_the_rest_of_the_batch_is_stored(
        self, store: ResponseStore
    ) -> None:
        rows = [(key_of(7), "7"), (key_of(1), "other"), (key_of(8), "8"), (key_of(8), "other")]
        with pytest.raises(StoreError, match=f"different answer .* question {key_of(8)}"):
            store.append([(key, response(text)) for key, text in rows])
        self.after(store, {0, 1, 2, 7, 8})

    @pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
    def test_a_signal_waits_for_the_batch(
        self, store: ResponseStore, monkeypatch: pytest.MonkeyPatch, number: int
    ) -> None:
        before = signal.getsignal(number)

        def stop(received: int, _frame: Any) -> None:
            raise KeyboardInterrupt(received)

        signal.signal(number, stop)
        real = os.write

        def write(descriptor: int, data: Any) -> int:
            os.kill(os.getpid(), number)
            return real(descriptor, data)

        try:
            with monkeypatch.context() as patched:
                patched.setattr(module.os, "write", write)
                with pytest.raises(KeyboardInterrupt):
                    store.append([(key_of(7), response("7"))])
            assert signal.getsignal(number) is stop
        finally:
            signal.signal(number, before)
        assert store.good(key_of(7)) is not None
        self.after(store, {0, 1, 2, 7})

    def test_another_thread_may_append(self, store: ResponseStore) -> None:
        thread = threading.Thread(target=store.append, args=([(key_of(7), response("7"))],))
        thread.start()
        thread.join()
        self.after(store, {0, 1, 2, 7})


def test_a_folder_or_a_device_in_the_place_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "m.jsonl").mkdir()
    with pytest.raises(StoreError, match=r"m\.jsonl: not a regular file"):
        ResponseStore(tmp_path / "m.jsonl").__enter__()
    (tmp_path / "n.jsonl").symlink_to("/dev/null")
    with pytest.raises(StoreError, match=r"n\.jsonl: not a regular file"):
        ResponseStore(tmp_path / "n.jsonl").__enter__()
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="move the file that stands in the place of a folder"):
        ResponseStore(tmp_path / "file" / "m.jsonl").__enter__()


def test_a_store_that_may_not_be_written_is_still_read(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("who is root may write everything")
    path = filled(tmp_path / "deep" / "m.jsonl")
    path.parent.chmod(0o555)
    path.chmod(0o444)
    try:
        assert len(ResponseStore(path).load().answers) == 3
        with pytest.raises(StoreError, match="cannot be"):
            ResponseStore(path).__enter__()
    finally:
        path.parent.chmod(0o755)


def test_two_names_of_one_file_are_one_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A store on another disk, put in its place by a link: one writer all the same."""
    monkeypatch.setattr(module, "PATIENCE_S", 0.0)
    path = filled(tmp_path / "other disk" / "m.jsonl")
    link = tmp_path / "m.jsonl"
    link.symlink_to(path)
    with ResponseStore(path), pytest.raises(StoreError, match="another run"):
        ResponseStore(link).__enter__()
    with ResponseStore(link) as store:
        store.append([(key_of(7), response("7"))])
    assert link.is_symlink() and len(ResponseStore(path).load().answers) == 4


def test_a_strange_mask_and_locale_change_no_byte(tmp_path: Path) -> None:
    plain = filled(tmp_path / "plain.jsonl")
    code = (
        "import os, sys; os.umask(0o077); sys.path.insert(0, '.');"
        "from pathlib import Path; from tests.unit.test_store import filled;"
        f"filled(Path({str(tmp_path / 'strange.jsonl')!r}))"
    )
    strange = {**os.environ, "LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONPATH": "."}
    subprocess.run([sys.executable, "-c", code], check=True, env=strange, cwd=ROOT)
    assert (tmp_path / "strange.jsonl").read_bytes() == plain.read_bytes()
    assert (tmp_path / "strange.jsonl").stat().st_mode & 0o777 == 0o600
