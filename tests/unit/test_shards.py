"""Splitting a model's requests over jobs: each in one share, shares alike, beginnings together."""

from __future__ import annotations

import multiprocessing
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts.files import DataError, read_json, read_records, write_json, write_records
from scripts.inference import manifest, run_model, runner, store_commands
from scripts.inference import store as store_module
from scripts.inference.interface import ModelSpec
from scripts.inference.shards import ShardError, Split, segment, turns, work
from scripts.inference.store import (
    ResponseStore,
    StoreError,
    decode_line,
    encode_line,
    request_key,
    store_files,
)
from scripts.records import Request, Response
from tests.tiny_models import save_tiny_model
from tests.unit.test_runner import ENTRY, SPEC, FakeBackend, Inputs
from tests.unit.test_runner import request as plain_request

DECODING = {"temperature": 0.0, "top_p": 1.0, "repetition_penalty": 1.0, "max_new_tokens": 40}


def request(item: str, prompt: str, *before: str, schema: Any = None) -> Request:
    messages = [{"role": "user", "content": text} for text in (*before, prompt)]
    return Request.create(item, {}, messages, DECODING, schema)


# Few texts of very different lengths: equal questions and common beginnings are frequent.
TEXTS = st.sampled_from(["a", "b", "long " * 40, "a document " * 300, "ক" * 17, "a question"])
REQUESTS = st.builds(
    lambda item, prompt, before: request(f"item {item}", prompt, *before),
    st.integers(0, 9),
    TEXTS | st.text(max_size=5),
    st.lists(TEXTS, max_size=3),
)
LISTS = st.lists(REQUESTS, max_size=40)
SHARDS = st.integers(1, 12)


def question(found: Request) -> str:
    return request_key(SPEC, {}, found)


def beginning(found: Request) -> tuple[Any, ...]:
    return tuple(turns(found)[:-1])


@given(LISTS, SHARDS)
def test_every_request_is_in_exactly_one_share(requests: list[Request], shards: int) -> None:
    split = Split(requests, shards)
    shares = [split.share(shard) for shard in range(1, shards + 1)]
    assert sum(map(len, shares)) == len(requests)
    place = {id(found): number for number, found in enumerate(requests)}
    places = [[place[id(found)] for found in share] for share in shares]
    assert sorted(number for share in places for number in share) == list(range(len(requests)))
    # A share keeps the order of the whole.
    assert all(share == sorted(share) for share in places)


@given(LISTS, SHARDS)
def test_one_question_is_in_one_share(requests: list[Request], shards: int) -> None:
    shard_of: dict[str, int] = {}
    for found, number in zip(requests, Split(requests, shards).numbers, strict=True):
        assert shard_of.setdefault(question(found), number) == number


@given(LISTS, SHARDS, st.randoms())
def test_neither_order_nor_repetition_nor_item_changes_a_share(
    requests: list[Request], shards: int, random: Random
) -> None:
    expected = dict(zip(map(question, requests), Split(requests, shards).numbers, strict=True))
    others = [*requests, *(replace(r, item_id="x", request_id="y") for r in requests[::2])]
    random.shuffle(others)
    found = dict(zip(map(question, others), Split(others, shards).numbers, strict=True))
    assert found == expected


@given(LISTS, SHARDS)
def test_no_share_has_more_than_its_part_and_the_longest_request(
    requests: list[Request], shards: int
) -> None:
    loads = Split(requests, shards).loads()
    unique = {question(found): work(found) for found in requests}
    assert sum(loads) == sum(unique.values())
    assert max(loads) * shards <= sum(loads) + shards * max(unique.values(), default=0)


@given(LISTS, SHARDS)
def test_few_beginnings_are_in_two_shares(requests: list[Request], shards: int) -> None:
    homes: dict[tuple[Any, ...], set[int]] = {}
    for found, number in zip(requests, Split(requests, shards).numbers, strict=True):
        homes.setdefault(beginning(found), set()).add(number)
    # Every cut goes through one beginning at most.
    assert sum(len(numbers) - 1 for numbers in homes.values()) <= shards - 1


def test_alike_requests_give_alike_shares() -> None:
    requests = [request(f"i{n}", f"question {n:04}", f"document {n // 8}") for n in range(800)]
    split = Split(requests, 8)
    counts = Counter(split.numbers)
    assert sorted(counts) == list(range(1, 9))
    assert max(counts.values()) - min(counts.values()) <= 2
    # The same in every process: no share hangs on the seed of Python's hashes.
    assert split.name == "8 shards of 800 questions (9e26bb3c0815)"
    assert split.numbers[::100] == [8, 5, 1, 4, 4, 7, 5, 2]


def test_a_document_at_the_head_of_the_only_message_stays_together() -> None:
    requests = [
        request(f"{document} {n}", f"{'text ' * 200}{document:03} question {n}")
        for n in range(5)
        for document in range(40)
    ]
    homes: dict[str, set[int]] = {}
    for found, number in zip(requests, Split(requests, 4).numbers, strict=True):
        homes.setdefault(found.item_id.split()[0], set()).add(number)
    assert sum(len(numbers) - 1 for numbers in homes.values()) <= 3


def test_more_shards_than_requests_leave_some_empty() -> None:
    split = Split([request("a", "one"), request("b", "two")], 5)
    shares = [split.share(shard) for shard in range(1, 6)]
    assert sorted(map(len, shares)) == [0, 0, 0, 1, 1]
    assert [Split([], 3).share(shard) for shard in (1, 2, 3)] == [[], [], []]


@pytest.mark.parametrize("shard", [0, -1, 4])
def test_a_shard_that_is_not_there_is_an_error(shard: int) -> None:
    with pytest.raises(ShardError, match=f"shard {shard} of 3"):
        Split([request("a", "one")], 3).share(shard)


def test_no_shards_at_all_are_an_error() -> None:
    with pytest.raises(ShardError, match="at least one"):
        Split([], 0)


def test_pictures_count_and_may_be_shared() -> None:
    picture: Any = [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}]
    found = Request.create("a", {}, [{"role": "user", "content": picture}], DECODING)
    assert work(found) > 40 + len("data:image/png;base64,AAAA")
    assert Split([found, found], 2).numbers in ([1, 1], [2, 2])


def test_the_name_of_a_split_tells_splits_apart() -> None:
    requests = [request(f"i{n}", f"question {n}") for n in range(4)]
    name = Split(requests, 3).name
    assert name == Split(requests[::-1] * 2, 3).name
    assert len({name, Split(requests, 2).name, Split(requests[1:], 3).name}) == 3


@pytest.mark.parametrize(
    ("store", "expected"),
    [
        ("thinking.jsonl", "thinking.2.jsonl"),
        ("non_thinking.ablation.jsonl", "non_thinking.ablation.2.jsonl"),
        ("thinking.explanations.jsonl", "thinking.explanations.2.jsonl"),
    ],
)
def test_segments_belong_to_their_mode(tmp_path: Path, store: str, expected: str) -> None:
    path = segment(tmp_path / store, 2)
    assert path == tmp_path / expected
    other = "thinking" if store.startswith("non") else "non_thinking"
    for name in (store, expected, f"{other}.jsonl", f"{other}.2.jsonl"):
        (tmp_path / name).touch()
    assert {file.name for file in store_files(tmp_path / store)} == {store, expected}
    assert path in store_files(tmp_path / f"{store.split('.', maxsplit=1)[0]}.jsonl")


# --- two splits at the same time ------------------------------------------------------------------


def _hold(path: Path, split: str | None, ready: Any) -> None:
    with ResponseStore(path, split):
        ready.set()
        time.sleep(300)


@pytest.fixture
def held(tmp_path: Path) -> Iterator[Callable[[str, str | None], Any]]:
    """Starts another process that writes a file of the store as part of a split."""
    context = multiprocessing.get_context("spawn")
    started: list[Any] = []

    def hold(name: str, split: str | None) -> Any:
        ready = context.Event()
        process = context.Process(target=_hold, args=(tmp_path / name, split, ready))
        process.start()
        started.append(process)
        assert ready.wait(60)
        return process

    yield hold
    for process in started:
        process.kill()
        process.join()


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "PATIENCE_S", 0.0)


@pytest.mark.parametrize(
    ("theirs", "mine"),
    [
        (("thinking.1.jsonl", "3 shards"), ("thinking.jsonl", None)),
        (("thinking.jsonl", None), ("thinking.1.jsonl", "3 shards")),
        (("thinking.1.jsonl", "3 shards"), ("thinking.2.jsonl", "2 shards")),
        (("thinking.ablation.1.jsonl", "3 shards"), ("thinking.2.jsonl", "2 shards")),
    ],
)
def test_another_split_at_the_same_time_is_refused(
    tmp_path: Path, held: Any, theirs: tuple[str, str | None], mine: tuple[str, str | None]
) -> None:
    process = held(*theirs).pid
    name, split = mine
    with (
        pytest.raises(StoreError, match=rf"in another way .*process {process} on "),
        ResponseStore(tmp_path / name, split),
    ):
        pass
    # Nothing is left locked, and reading is free.
    assert store_module.holder(tmp_path / f".{name}.lock") is None
    assert ResponseStore(tmp_path / name, split).load().answers == {}


def test_shards_of_one_split_write_side_by_side(tmp_path: Path, held: Any) -> None:
    held("thinking.1.jsonl", "3 shards")
    held("non_thinking.1.jsonl", "2 shards")
    with ResponseStore(tmp_path / "thinking.2.jsonl", "3 shards") as store:
        assert store.answers == {}
    with (
        pytest.raises(StoreError, match="another run is writing"),
        ResponseStore(tmp_path / "thinking.1.jsonl", "3 shards"),
    ):
        pass


def test_files_that_nobody_splits_do_not_hinder_each_other(tmp_path: Path, held: Any) -> None:
    # Judges whose names begin alike, and the ablation beside another run's explanations.
    held("judge-2.5-7b.jsonl", None)
    held("thinking.ablation.jsonl", None)
    for name in ("judge-2.5-72b.jsonl", "thinking.explanations.jsonl"):
        with ResponseStore(tmp_path / name) as store:
            assert store.answers == {}


def test_a_split_whose_holders_died_hinders_nobody(tmp_path: Path, held: Any) -> None:
    process = held("thinking.1.jsonl", "3 shards")
    process.kill()
    process.join()
    with ResponseStore(tmp_path / "thinking.jsonl") as store:
        assert store.answers == {}


# --- the rule script ------------------------------------------------------------------------------


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[FakeBackend]:
    """The backends that the rule script made."""
    backends: list[FakeBackend] = []

    def create(spec: ModelSpec, mode: str) -> FakeBackend:
        backends.append(FakeBackend(spec, mode))
        return backends[-1]

    monkeypatch.setattr(run_model, "create_backend", create)
    return backends


class Jobs:
    """The jobs of a run that is split, as Snakemake would start them."""

    def __init__(
        self, folder: Path, requests: Sequence[Request], shards: int, entry: Any = None
    ) -> None:
        self.folder, self.shards, self.entry = folder, shards, entry or ENTRY
        self.requests = f"{folder}/requests/alpha.jsonl"
        write_records(self.requests, requests)
        self.manifests = [f"{folder}/shard-{n}-of-{shards}.json" for n in range(1, shards + 1)]
        self.store = folder / "store/test/fake/non_thinking.jsonl"

    def job(self, inputs: dict[str, Any], outputs: dict[str, Any], **params: Any) -> None:
        fixed = {"name": "fake", "entry": self.entry, "mode": "non_thinking", "benchmark": "test"}
        limits = {"files": True, "max_new_tokens": 40, "store": str(self.store)}
        run_model.main(
            SimpleNamespace(
                input=Inputs(requests=[self.requests], **inputs),
                output=SimpleNamespace(**outputs),
                params=SimpleNamespace(**fixed, **limits, **params),
            )
        )

    def shard(self, number: int) -> None:
        self.job({}, {"manifest": self.manifests[number - 1]}, shard=number, shards=self.shards)

    def gather(self, name: str = "gathered") -> tuple[list[Response], dict[str, Any]]:
        outputs = [f"{self.folder}/{name}.jsonl", f"{self.folder}/{name}.json"]
        self.job({"shards": self.manifests}, {"responses": outputs[:1], "manifest": outputs[1]})
        return read_records(outputs[0], Response), read_json(outputs[1])

    def whole(self) -> list[Response]:
        outputs = [f"{self.folder}/whole.jsonl", f"{self.folder}/whole.json"]
        self.job({}, {"responses": outputs[:1], "manifest": outputs[1]})
        return read_records(outputs[0], Response)


def some_requests(count: int = 10) -> list[Request]:
    found = [plain_request(f"i{n}", shots=n % 2) for n in range(count)]
    # One question of two items.
    return [*found, plain_request("twin", shots=0, prompt="question i0")]


def test_shards_and_gathering_give_what_one_job_gives(
    tmp_path: Path, made: list[FakeBackend]
) -> None:
    jobs = Jobs(tmp_path / "split", some_requests(), 3)
    for number in (2, 3, 1):
        jobs.shard(number)
    asked = [item for backend in made for item in backend.asked]
    assert len(asked) == len(set(asked)) == 10
    assert sorted(path.name for path in store_files(jobs.store)) == [
        f"non_thinking.{number}.jsonl" for number in (1, 2, 3)
    ]
    before = len(made)
    responses, facts = jobs.gather()
    assert len(made) == before  # no backend at all
    assert responses == Jobs(tmp_path / "whole", some_requests(), 1).whole()
    assert facts["requests"] == {"total": 11, "generated": 11, "from_store": 0, "errors": 0}
    assert facts["tokens"] == {"prompt": 33, "completion": 11, "reasoning": 0}
    assert [part["shard"]["number"] for part in facts["shards"]] == [1, 2, 3]
    assert facts["wall_seconds"] == pytest.approx(
        sum(part["wall_seconds"] for part in facts["shards"])
    )
    assert facts["hosts"] == [facts["host"]["name"]]
    assert facts["peak_memory_bytes"]["process"] > 1 << 20
    assert facts["identity"] == {"backend": "fake"}
    # The same again takes everything from the store, whoever answered it.
    other = Jobs(tmp_path / "split", some_requests(), 2)
    for number in (1, 2):
        other.shard(number)
    again, facts = other.gather()
    assert again == responses
    assert facts["requests"]["from_store"] == 11
    assert not any(backend.asked for backend in made[before + 1 :])


def test_more_shards_than_requests_all_succeed(tmp_path: Path, made: list[FakeBackend]) -> None:
    jobs = Jobs(tmp_path, some_requests()[:2], 4)
    for number in range(1, 5):
        jobs.shard(number)
    assert sorted(len(backend.asked) for backend in made) == [0, 0, 1, 1]
    assert len(jobs.gather()[0]) == 2


def test_an_error_stays_until_its_shard_runs_again(
    tmp_path: Path, made: list[FakeBackend], monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs = Jobs(tmp_path, some_requests(), 2)

    def create(spec: ModelSpec, mode: str) -> FakeBackend:
        made.append(FakeBackend(spec, mode))
        made[-1].fail = {"i3"}
        return made[-1]

    with monkeypatch.context() as patched:
        patched.setattr(run_model, "create_backend", create)
        for number in (1, 2):
            jobs.shard(number)
    responses, facts = jobs.gather()
    assert [r.item_id for r in responses if r.error] == ["i3"]
    assert facts["requests"]["errors"] == 1
    for number in (1, 2):
        jobs.shard(number)
    assert [backend.asked for backend in made[-2:]].count(["i3"]) == 1
    responses, facts = jobs.gather()
    assert not any(r.error for r in responses)
    assert facts["requests"]["errors"] == 0


def test_missing_answers_are_an_error_that_says_what_to_do(
    tmp_path: Path, made: list[FakeBackend]
) -> None:
    jobs = Jobs(tmp_path, some_requests(), 2)
    for number in (1, 2):
        jobs.shard(number)
    segment(jobs.store, 2).unlink()
    with pytest.raises(SystemExit, match=r"non_thinking.jsonl: \d of 11 answers are in no segment"):
        jobs.gather()
    assert not (tmp_path / "gathered.jsonl").exists()


def test_shards_of_different_runs_are_not_merged(tmp_path: Path, made: list[FakeBackend]) -> None:
    jobs = Jobs(tmp_path, some_requests(), 2)
    for number in (1, 2):
        jobs.shard(number)
    facts = read_json(jobs.manifests[1])
    write_json(jobs.manifests[1], {**facts, "identity": {"backend": "other"}})
    with pytest.raises(SystemExit, match=r"shard-2-of-2.json and .*differ in identity"):
        jobs.gather()


def test_a_shard_beyond_the_others_ends_with_a_message(
    tmp_path: Path, made: list[FakeBackend]
) -> None:
    jobs = Jobs(tmp_path, some_requests(), 2)
    jobs.manifests.append(str(tmp_path / "more.json"))
    with pytest.raises(SystemExit, match="shard 3 of 2"):
        jobs.shard(3)


def test_merged_manifests_keep_what_differs_in_the_shards() -> None:
    part = {
        **{name: name for name in ("benchmark", "mode", "max_new_tokens", "model", "identity")},
        "config_sha256": "0",
        "backend": {"name": "vllm", "version": "1"},
        "facts": {"engine_dtype": "bfloat16", "prompts_rendered": 3},
        "requests": {"generated": 2, "from_store": 1},
        "started": "2026-01-02T00:00:00+00:00",
        "wall_seconds": 1.25,
        "peak_memory_bytes": {"process": 5, "gpu0": 9},
        "host": {"name": "a", "cores": 8},
        "packages": {"torch": "2"},
        "git": None,
    }
    other = {
        **part,
        "backend": {"name": "vllm", "version": "2"},
        "facts": {"engine_dtype": "bfloat16", "prompts_rendered": 4},
        "started": "2026-01-01T00:00:00+00:00",
        "peak_memory_bytes": {"process": 7},
        "host": {"name": "b", "cores": 8},
    }
    merged = manifest.merge([part, other], runner.Run([], 0, 0, 0), ["one", "two"])
    assert merged["backend"] == {"name": "vllm"}
    assert merged["facts"] == {"engine_dtype": "bfloat16"}
    assert (merged["host"], merged["hosts"]) == ({"cores": 8}, ["a", "b"])
    assert merged["started"] == "2026-01-01T00:00:00+00:00"
    assert merged["wall_seconds"] == 2.5
    assert merged["peak_memory_bytes"] == {"gpu0": 9, "process": 7}
    assert merged["git"] is None
    assert [part["backend"]["version"] for part in merged["shards"]] == ["1", "2"]
    assert "model" not in merged["shards"][0]
    with pytest.raises(DataError, match="two and one differ in model"):
        manifest.merge([part, {**other, "model": "m"}], runner.Run([], 0, 0, 0), ["one", "two"])


def test_reading_beside_a_writer_sees_whole_answers_only(tmp_path: Path) -> None:
    lines = [
        encode_line(f"{n:064x}", {"text": "ক" * 50, "finish_reason": "stop", "usage": {}})
        for n in range(400)
    ]
    data, path = b"".join(lines), tmp_path / "thinking.2.jsonl"
    random = Random(0)

    def write() -> None:
        with path.open("ab", buffering=0) as handle:
            position = 0
            while position < len(data):
                position += handle.write(data[position : position + random.randint(1, 700)])

    writer = threading.Thread(target=write)
    writer.start()
    seen, writing = [0], True
    while writing:
        writing = writer.is_alive()
        answers = ResponseStore(tmp_path / "thinking.jsonl").load().answers
        assert list(answers) == [f"{n:064x}" for n in range(len(answers))]
        seen.append(len(answers))
    writer.join()
    assert seen[-1] == len(lines)
    assert seen == sorted(seen)


# --- one file again -------------------------------------------------------------------------------


def test_merged_segments_have_the_same_bytes_however_many_they_were(
    tmp_path: Path, made: list[FakeBackend], capsys: pytest.CaptureFixture[str]
) -> None:
    merged = []
    for shards in (1, 2, 5):
        jobs = Jobs(tmp_path / str(shards), some_requests(), shards)
        for number in range(1, shards + 1):
            jobs.shard(number)
        before, _ = jobs.gather("before")
        assert store_commands.main(["merge", str(jobs.store.parent)]) == 0
        assert f"10 answers of 10 lines, {shards} segments" in capsys.readouterr().out
        assert store_files(jobs.store) == [jobs.store]
        assert jobs.gather("after")[0] == before == jobs.whole()
        merged.append(jobs.store.read_bytes())
        # Nothing is left to merge in the folder; the file alone stays as it is.
        assert store_commands.main(["merge", str(jobs.store.parent), str(jobs.store)]) == 0
        assert jobs.store.read_bytes() == merged[0]
    assert len(set(merged)) == 1


def stored(path: Path, *rows: tuple[int, str | None]) -> Path:
    """A store file with answers by number; None is an error."""
    with ResponseStore(path) as store:
        for number, text in rows:
            base = FakeBackend(SPEC).answer(plain_request("x"))
            failed = {"text": "", "finish_reason": "error", "error": f"timeout in {path.name}"}
            changes = {"text": text} if text is not None else failed
            store.append([(f"{number:064x}", replace(base, **changes))])  # type: ignore[arg-type]
    return path


def test_merging_keeps_answers_and_errors_and_drops_what_is_superseded(tmp_path: Path) -> None:
    for name, *rows in (
        ("thinking.jsonl", (4, "d"), (2, None)),
        ("thinking.10.jsonl", (1, "a"), (3, None)),
        ("thinking.2.jsonl", (2, "b")),
        ("thinking.ablation.jsonl", (7, "g")),
        ("thinking.ablation.1.jsonl", (6, "f")),
        ("non_thinking.1.jsonl", (9, "i")),
    ):
        stored(tmp_path / name, *rows)
    whole = tmp_path / "thinking.jsonl"
    before = ResponseStore(whole).load().answers
    path, contents = store_commands.merge(tmp_path / "thinking.2.jsonl")
    assert path == whole and contents.lines == 5
    assert ResponseStore(whole).load().answers == before
    found = [decode_line(line) for line in whole.read_bytes().splitlines()]
    assert [(int(key, 16), row["text"]) for key, row in found] == [
        *((1, "a"), (2, "b"), (3, ""), (4, "d")),
    ]
    assert {path.name for path in tmp_path.glob("*.jsonl")} == {
        *("thinking.jsonl", "thinking.ablation.jsonl", "thinking.ablation.1.jsonl"),
        "non_thinking.1.jsonl",
    }
    assert store_commands.main(["merge", str(tmp_path)]) == 0
    assert {path.name for path in tmp_path.glob("*.jsonl")} == {
        *("thinking.jsonl", "thinking.ablation.jsonl", "non_thinking.jsonl"),
    }


def test_a_torn_line_does_not_outlive_merging(tmp_path: Path) -> None:
    path = stored(tmp_path / "thinking.1.jsonl", (1, "a"))
    with path.open("ab") as handle:
        handle.write(b'{"check": "')
    whole, contents = store_commands.merge(path)
    assert contents.torn == [path]
    assert whole.read_bytes().count(b"\n") == 1 and not path.exists()


def test_merging_reads_what_was_written_while_it_waited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A run that held the lock until now has begun the one file, and another segment."""
    stored(tmp_path / "thinking.1.jsonl", (1, "a"))
    take = store_commands.take_segment

    def waited(path: Path, split: str | None) -> Any:
        stored(tmp_path / "thinking.jsonl", (2, "b"))
        stored(tmp_path / "thinking.2.jsonl", (3, "c"))
        return take(path, split)

    monkeypatch.setattr(store_commands, "take_segment", waited)
    assert store_commands.main(["merge", str(tmp_path)]) == 0
    assert "3 answers of 3 lines, 2 segments merged" in capsys.readouterr().out
    assert [path.name for path in tmp_path.glob("*.jsonl")] == ["thinking.jsonl"]
    assert len(ResponseStore(tmp_path / "thinking.jsonl").load().answers) == 3


def test_what_cannot_be_merged_stays_as_it_is(
    tmp_path: Path, held: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    first = stored(tmp_path / "thinking.1.jsonl", (1, "a"))
    second = tmp_path / "thinking.2.jsonl"
    second.write_bytes(first.read_bytes().replace(b'"a"', b'"x"'))
    assert store_commands.main(["merge", str(tmp_path)]) == 1
    assert "thinking.2.jsonl, line 1: the checksum" in capsys.readouterr().err
    second.unlink()
    stored(tmp_path / "aside.jsonl", (1, "b")).rename(second)
    assert store_commands.main(["merge", str(first)]) == 1
    assert "a different answer to the same question" in capsys.readouterr().err
    second.unlink()
    process = held("thinking.3.jsonl", "3 shards").pid
    assert store_commands.main(["merge", str(first)]) == 1
    assert f"process {process} on " in capsys.readouterr().err
    assert first.is_file() and not (tmp_path / "thinking.jsonl").exists()
    judge = stored(tmp_path / "qwen2.5.jsonl", (1, "a"))
    assert store_commands.main(["merge", str(judge)]) == 1
    assert "not the store of a run" in capsys.readouterr().err
    assert store_commands.main(["merge", str(tmp_path / "non_thinking.jsonl")]) == 1
    assert "no such store file" in capsys.readouterr().err


# --- a real model ---------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", ["left_padded", "shared_prefix"])
def test_a_local_model_in_float32_answers_alike_in_every_split(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, policy: str
) -> None:
    """Other shares make other batches; here they tip no answer."""
    source = str(save_tiny_model(tmp_path_factory.mktemp("model")))
    entry = {**ENTRY, "source": source, "threads": 1, "batch": {"policy": policy, "size": 4}}
    requests = [
        plain_request(f"i{n}", shots=n % 3, prompt=f"question {'x' * (n % 5)} {n}")
        for n in range(14)
    ]
    answers = []
    for shards in (1, 2, 5):
        jobs = Jobs(tmp_path / str(shards), requests, shards, entry)
        for number in range(1, shards + 1):
            jobs.shard(number)
        responses, facts = jobs.gather()
        assert facts["requests"]["generated"] == 14
        answers.append(Path(tmp_path / str(shards) / "gathered.jsonl").read_bytes())
    assert any(response.text for response in responses)
    assert len(set(answers)) == 1
