"""Running a model against the store: what is generated, what is taken, what a kill loses."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest

from scripts.files import DataError, read_records, write_records
from scripts.inference import backends, manifest, run_model, runner
from scripts.inference.interface import Backend, BackendError, ModelSpec
from scripts.inference.registry import model_spec, prepared_path
from scripts.inference.store import ResponseStore, decode_line
from scripts.records import Request, Response, canonical_json

ROOT = Path(__file__).parents[2]
ENTRY = {
    "label": "Fake",
    "backend": "transformers",
    "source": "org/fake",
    "revision": "1",
    "precision": "float32",
    "modes": ["non_thinking"],
}
SPEC = model_spec("fake", ENTRY)
DECODING = {"temperature": 0.0, "top_p": 1.0, "repetition_penalty": 1.0}


def request(item: str, shots: int = 0, prompt: str | None = None) -> Request:
    messages = [{"role": "user", "content": prompt or f"question {item}"}]
    messages = [{"role": "user", "content": "demonstration"}] * shots + messages
    return Request.create(item, {"shots": shots}, messages, DECODING)


class FakeBackend(Backend):
    """Answers with the prompt's length in batches of three, and counts what it was asked."""

    name = "fake"
    asked: list[str]

    def __init__(self, spec: ModelSpec, mode: str = "non_thinking") -> None:
        super().__init__(spec, mode)
        self.asked = []
        self.fail: set[str] = set()
        self.closed = False

    @property
    def version(self) -> str:
        return "0"

    def identity(self) -> dict[str, Any]:
        return {"backend": self.name}

    def answer(self, request: Request) -> Response:
        self.asked.append(request.item_id)
        failed = request.item_id in self.fail
        return Response(
            request_id=request.request_id,
            item_id=request.item_id,
            model=self.spec.name,
            mode=self.mode,
            text="" if failed else f"{sum(len(m['content']) for m in request.messages)}\u2028",
            finish_reason="error" if failed else "stop",
            usage={"prompt": 3, "completion": 1, "reasoning": None},
            backend=self.name,
            backend_version="0",
            attempts=1,
            error="timeout" if failed else None,
        )

    def generate(self, requests: Sequence[Request]) -> Iterator[Response]:
        for request in reversed(requests):
            yield self.answer(request)

    def generate_batches(self, requests: Sequence[Request]) -> Iterator[list[Response]]:
        answers = list(self.generate(requests)) if requests else []
        for start in range(0, len(answers), 3):
            yield answers[start : start + 3]

    def close(self) -> None:
        self.closed = True


def run(path: Path, requests: Sequence[Request], backend: Backend) -> runner.Run:
    return runner.run(
        SPEC, "non_thinking", requests, ResponseStore(path), backend, max_new_tokens=40
    )


def test_answers_come_in_request_order_and_are_generated_once(tmp_path: Path) -> None:
    requests = [request(f"i{n}") for n in range(7)]
    first = FakeBackend(SPEC)
    result = run(tmp_path / "s.jsonl", requests, first)
    assert [r.request_id for r in result.responses] == [r.request_id for r in requests]
    assert [r.item_id for r in result.responses] == [f"i{n}" for n in range(7)]
    assert (result.generated, result.from_store, result.errors) == (7, 0, 0)
    second = FakeBackend(SPEC)
    again = run(tmp_path / "s.jsonl", requests, second)
    assert second.asked == [] and again.responses == result.responses
    assert (again.generated, again.from_store) == (0, 7)


def test_a_full_store_is_only_read(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    requests = [request("a"), request("b")]
    run(path, requests, FakeBackend(SPEC))
    with ResponseStore(path):  # somebody else holds the lock
        assert run(path, requests, FakeBackend(SPEC)).from_store == 2


def test_a_store_is_read_once_however_much_it_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    requests = [request(f"i{n}") for n in range(9)]
    run(tmp_path / "s.jsonl", requests[:8], FakeBackend(SPEC))
    read, load = [], ResponseStore.load
    monkeypatch.setattr(ResponseStore, "load", lambda store: read.append(store) or load(store))
    run(tmp_path / "s.jsonl", requests[:8], FakeBackend(SPEC))
    assert len(read) == 1
    # Once to see that something is missing, and once behind the lock.
    run(tmp_path / "s.jsonl", requests, FakeBackend(SPEC))
    assert len(read) == 3


def test_no_request_at_all(tmp_path: Path) -> None:
    backend = FakeBackend(SPEC)
    assert run(tmp_path / "s.jsonl", [], backend).responses == []
    assert backend.asked == []


def test_inserting_an_item_generates_only_it(tmp_path: Path) -> None:
    requests = [request(f"i{n}") for n in range(4)]
    run(tmp_path / "s.jsonl", requests, FakeBackend(SPEC))
    backend = FakeBackend(SPEC)
    run(tmp_path / "s.jsonl", [requests[3], request("new"), *requests[:3]], backend)
    assert backend.asked == ["new"]


def test_equal_prompts_are_generated_once_and_map_to_their_items(tmp_path: Path) -> None:
    requests = [request("a", prompt="same"), request("b", prompt="same"), request("c")]
    backend = FakeBackend(SPEC)
    result = run(tmp_path / "s.jsonl", requests, backend)
    assert len(backend.asked) == 2
    assert [r.item_id for r in result.responses] == ["a", "b", "c"]
    assert result.responses[0].text == result.responses[1].text
    assert result.generated == 3


def test_a_changed_limit_or_shot_count_is_another_question(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    run(path, [request("a")], FakeBackend(SPEC))
    backend = FakeBackend(SPEC)
    runner.run(
        SPEC, "non_thinking", [request("a")], ResponseStore(path), backend, max_new_tokens=41
    )
    run(path, [request("a", shots=1)], backend)
    assert len(backend.asked) == 2
    assert len(ResponseStore(path).load().answers) == 3


def test_errors_are_kept_shown_and_asked_again(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    requests = [request("a"), request("b")]
    backend = FakeBackend(SPEC)
    backend.fail = {"b"}
    first = run(path, requests, backend)
    assert first.errors == 1 and first.responses[1].error == "timeout"
    backend = FakeBackend(SPEC)
    second = run(path, requests, backend)
    assert backend.asked == ["b"] and second.errors == 0
    assert second.responses == run(tmp_path / "calm.jsonl", requests, FakeBackend(SPEC)).responses


def test_a_backend_that_breaks_its_promise_is_named(tmp_path: Path) -> None:
    class Forgetful(FakeBackend):
        def generate(self, requests: Sequence[Request]) -> Iterator[Response]:
            yield from map(self.answer, requests[1:])

    class Repeating(FakeBackend):
        def generate(self, requests: Sequence[Request]) -> Iterator[Response]:
            yield from map(self.answer, [*requests, requests[0]])

    with pytest.raises(BackendError, match="left 1 of 2 requests unanswered"):
        run(tmp_path / "a.jsonl", [request("a"), request("b")], Forgetful(SPEC))
    with pytest.raises(BackendError, match="answered already"):
        run(tmp_path / "b.jsonl", [request("a"), request("b")], Repeating(SPEC))
    twins = [request("a"), replace(request("b"), request_id=request("a").request_id)]
    with pytest.raises(BackendError, match="share the id"):
        run(tmp_path / "c.jsonl", twins, FakeBackend(SPEC))


def test_single_answers_are_batches_of_one(tmp_path: Path) -> None:
    class Single(FakeBackend):
        generate_batches = Backend.generate_batches

    backend = Single(SPEC)
    batches = list(backend.generate_batches([request("a"), request("b")]))
    assert [len(batch) for batch in batches] == [1, 1]
    assert backend.facts() == {}


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, RuntimeError])
def test_an_interrupted_run_keeps_what_was_finished(
    tmp_path: Path, error: type[BaseException]
) -> None:
    class Interrupted(FakeBackend):
        def generate_batches(self, requests: Sequence[Request]) -> Iterator[list[Response]]:
            batches = super().generate_batches(requests)
            yield next(batches)
            raise error

    path = tmp_path / "s.jsonl"
    requests = [request(f"i{n}") for n in range(7)]
    with pytest.raises(error):
        run(path, requests, Interrupted(SPEC))
    backend = FakeBackend(SPEC)
    assert run(path, requests, backend).from_store == 3
    assert len(backend.asked) == 4


class Unstored(FakeBackend):
    stored: ClassVar[bool] = False


def test_a_backend_that_costs_nothing_passes_the_store_by(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    requests = [request("a"), request("a"), request("b")]
    result = run(path, requests, Unstored(SPEC))
    assert len(result.responses) == 3 and not path.exists()
    assert run(path, [], Unstored(SPEC)).responses == []

    class Forgetful(Unstored):
        def generate(self, requests: Sequence[Request]) -> Iterator[Response]:
            return iter(())

    with pytest.raises(BackendError, match="unanswered"):
        run(path, requests, Forgetful(SPEC))


# --- the rule script ----------------------------------------------------------------------------


class Inputs(SimpleNamespace):
    def get(self, name: str, default: Any = None) -> Any:
        return getattr(self, name, default)


def job(folder: Path, **changes: Any) -> SimpleNamespace:
    """A stand-in for Snakemake's object: two tasks, two shot counts, three items each."""
    for task in ("alpha", "beta"):
        write_records(
            folder / f"requests/{task}.jsonl",
            [request(f"{task}-{n}", shots) for n in range(3) for shots in (0, 1, 4)],
        )
    outputs = [f"{folder}/out/{task}.{n}.jsonl" for task in ("alpha", "beta") for n in (0, 4)]
    params = {
        "name": "fake",
        "entry": ENTRY,
        "mode": "non_thinking",
        "benchmark": "test",
        "tasks": ["alpha", "beta"],
        "shots": [0, 4],
        "max_new_tokens": 40,
        "store": str(folder / "store/test/fake/non_thinking.jsonl"),
        **changes,
    }
    return SimpleNamespace(
        input=Inputs(requests=[f"{folder}/requests/{t}.jsonl" for t in ("alpha", "beta")]),
        output=SimpleNamespace(responses=outputs, manifest=f"{folder}/manifest.json"),
        params=SimpleNamespace(**params),
    )


@pytest.fixture
def fake_backend(monkeypatch: pytest.MonkeyPatch) -> list[FakeBackend]:
    made: list[FakeBackend] = []

    def create(spec: ModelSpec, mode: str) -> FakeBackend:
        made.append(FakeBackend(spec, mode))
        return made[-1]

    monkeypatch.setattr(run_model, "create_backend", create)
    return made


@pytest.fixture(autouse=True)
def keep_sigterm() -> Iterator[None]:
    before = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, before)


def test_run_model_writes_a_file_a_cell_and_the_manifest(
    tmp_path: Path, fake_backend: list[FakeBackend], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "sk-secret-value")
    run_model.main(job(tmp_path))
    rows = read_records(tmp_path / "out/beta.4.jsonl", Response)
    assert [row.item_id for row in rows] == ["beta-0", "beta-1", "beta-2"]
    assert len(fake_backend[0].asked) == 12  # one-shot requests were not asked for
    assert fake_backend[0].closed
    text = (tmp_path / "manifest.json").read_text()
    facts = json.loads(text)
    assert facts["requests"] == {"total": 12, "generated": 12, "from_store": 0, "errors": 0}
    assert facts["tokens"] == {"prompt": 36, "completion": 12, "reasoning": 0}
    assert facts["wall_seconds"] >= 0 and facts["peak_memory_bytes"]["process"] > 1 << 20
    assert facts["git"] is None or len(facts["git"]["commit"]) == 40
    assert "sk-secret-value" not in text
    before = {p.name: p.read_bytes() for p in (tmp_path / "out").iterdir()}
    run_model.main(job(tmp_path))
    assert fake_backend[1].asked == []
    assert {p.name: p.read_bytes() for p in (tmp_path / "out").iterdir()} == before
    again = json.loads((tmp_path / "manifest.json").read_text())
    assert again["requests"]["from_store"] == 12
    assert again["config_sha256"] == facts["config_sha256"]


def files_job(folder: Path, files: dict[str, list[Request]]) -> SimpleNamespace:
    """A job with one response file for every request file."""
    base = job(folder, files=True)
    del base.params.tasks, base.params.shots
    for name, requests in files.items():
        write_records(folder / f"requests/{name}.jsonl", requests)
    base.input.requests = [f"{folder}/requests/{name}.jsonl" for name in files]
    base.output.responses = [f"{folder}/out/{name}.jsonl" for name in files]
    return base


def test_a_response_file_for_every_request_file_also_for_an_empty_one(
    tmp_path: Path, fake_backend: list[FakeBackend]
) -> None:
    files = {"icl/a": [request("x", 7), request("y", 7)], "icl/b": [], "rag/a": [request("z", 7)]}
    run_model.main(files_job(tmp_path, files))
    for name, requests in files.items():
        rows = read_records(tmp_path / f"out/{name}.jsonl", Response)
        assert [row.request_id for row in rows] == [each.request_id for each in requests]
    run_model.main(files_job(tmp_path, {"icl/a": files["icl/a"], "icl/c": [request("w", 1)]}))
    assert fake_backend[1].asked == ["w"]


def test_nothing_to_ask_loads_no_model(
    tmp_path: Path, fake_backend: list[FakeBackend], monkeypatch: pytest.MonkeyPatch
) -> None:
    def heavy(self: FakeBackend, requests: Sequence[Request]) -> Iterator[Response]:
        raise AssertionError("the model was loaded")

    monkeypatch.setattr(FakeBackend, "generate", heavy)
    monkeypatch.setattr(FakeBackend, "generate_batches", heavy)
    one = files_job(tmp_path, {"explanations": []})
    one.input.requests, one.output.responses = one.input.requests[0], one.output.responses[0]
    run_model.main(one)
    assert (tmp_path / "out/explanations.jsonl").read_bytes() == b""
    assert json.loads((tmp_path / "manifest.json").read_text())["requests"]["total"] == 0
    assert not (tmp_path / "store/test/fake/non_thinking.jsonl").exists()


def test_a_schema_reaches_the_backend_in_the_order_of_required(tmp_path: Path) -> None:
    schema = {
        "type": "object",
        "properties": {
            "reasoning": {"type": "string"},
            "choice": {
                "type": "object",
                "properties": {"z": {"enum": [{"b": 1, "a": 2}]}, "a": {}, "less": {}, "more": {}},
                "required": ["z", "a"],
            },
            "list": {"type": "array", "items": [{"properties": {"b": {}, "a": {}}}]},
        },
        "required": ["reasoning", "choice", "absent"],
    }
    asked = Request.create("item", {}, [], {"temperature": 0.0}, schema)
    write_records(tmp_path / "r.jsonl", [asked])
    read = read_records(tmp_path / "r.jsonl", Request)[0]
    assert list(read.response_schema["properties"]) == ["choice", "list", "reasoning"]  # type: ignore[index]
    sent = runner.complete(read, 9).response_schema
    assert sent == schema
    assert list(sent["properties"]) == ["reasoning", "choice", "list"]
    assert list(sent["properties"]["choice"]["properties"]) == ["z", "a", "less", "more"]
    assert sent["properties"]["choice"]["properties"]["z"]["enum"] == [{"b": 1, "a": 2}]
    assert canonical_json(sent) == canonical_json(read.response_schema)
    assert runner.complete(replace(read, response_schema=None), 9).response_schema is None


def test_run_model_ends_with_a_message(
    tmp_path: Path, fake_backend: list[FakeBackend], monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(SystemExit, match=r"fake: task alpha: no request with 9 shots"):
        run_model.main(job(tmp_path, shots=[0, 9]))
    with pytest.raises(SystemExit, match="4 response files for 2 cells"):
        run_model.main(job(tmp_path, shots=[0]))
    with pytest.raises(SystemExit, match=r"models\.fake\.backend"):
        run_model.main(job(tmp_path, entry={**ENTRY, "backend": "telepathy"}))

    def broken(self: FakeBackend, requests: Sequence[Request]) -> Iterator[Response]:
        raise BackendError("the server refused the key")

    monkeypatch.setattr(FakeBackend, "generate", broken)
    with pytest.raises(SystemExit, match="refused the key"):
        run_model.main(job(tmp_path))
    assert fake_backend[-1].closed


def test_sigterm_becomes_an_ordinary_exit(
    tmp_path: Path, fake_backend: list[FakeBackend], monkeypatch: pytest.MonkeyPatch
) -> None:
    real = FakeBackend.generate_batches

    def terminated(self: FakeBackend, requests: Sequence[Request]) -> Iterator[list[Response]]:
        batches = real(self, requests)
        yield next(batches)
        os.kill(os.getpid(), signal.SIGTERM)
        yield from batches

    monkeypatch.setattr(FakeBackend, "generate_batches", terminated)
    with pytest.raises(SystemExit) as stopped:
        run_model.main(job(tmp_path))
    assert stopped.value.code == 128 + signal.SIGTERM
    store = ResponseStore(tmp_path / "store/test/fake/non_thinking.jsonl").load()
    assert len(store.answers) == 3


def test_prepared_paths() -> None:
    assert prepared_path(Inputs(weights=["m/x/config.json", "m/x/t.json"])) == "m/x"
    assert prepared_path(Inputs(weights="m/x/config.json")) == "m/x"
    assert prepared_path(Inputs(answers="a/b.jsonl")) == "a/b.jsonl"
    assert prepared_path(Inputs()) is None


KILLED = """
import sys, time
sys.path[:0] = [{root!r}, {tests!r}]
import test_runner as t
from pathlib import Path
from scripts.inference import run_model
class Slow(t.FakeBackend):
    def generate_batches(self, requests):
        for batch in super().generate_batches(requests):
            time.sleep({delay})
            yield batch
run_model.create_backend = Slow
run_model.main(t.job(Path({folder!r})))
"""


def test_kill_9_loses_at_most_the_batch_in_flight(
    tmp_path: Path, fake_backend: list[FakeBackend]
) -> None:
    calm, killed = tmp_path / "calm", tmp_path / "killed"
    run_model.main(job(calm))
    code = KILLED.format(
        root=str(ROOT), tests=str(Path(__file__).parent), delay=0.3, folder=str(killed)
    )
    process = subprocess.Popen([sys.executable, "-c", code])
    store = killed / "store/test/fake/non_thinking.jsonl"
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not (store.exists() and store.stat().st_size > 0):
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not (killed / "manifest.json").exists()
    saved = [decode_line(line)[0] for line in store.read_bytes().splitlines()]
    assert 3 <= len(saved) < 12 and len(saved) % 3 == 0
    run_model.main(job(killed))
    assert len(fake_backend[-1].asked) == 12 - len(saved)
    for path in sorted((calm / "out").iterdir()):
        assert path.read_bytes() == (killed / "out" / path.name).read_bytes()


# --- manifest and backend table -----------------------------------------------------------------


def test_gpu_facts_come_from_nvidia_smi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = tmp_path / "nvidia-smi"
    tool.write_text("#!/bin/sh\necho 'Some GPU, 555.1, 81559 MiB'\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    assert manifest.gpu_facts() == [{"name": "Some GPU", "driver": "555.1", "memory": "81559 MiB"}]
    tool.write_text("#!/bin/sh\nexit 9\n")
    assert manifest.gpu_facts() == []
    monkeypatch.setattr(manifest.shutil, "which", lambda name: None)
    assert manifest.gpu_facts() == []


def test_outside_git_there_is_no_commit(tmp_path: Path) -> None:
    assert manifest.git_state(tmp_path) is None


def test_the_backend_table_names_what_exists() -> None:
    for name in ("transformers", "archive", "baseline"):
        assert backends.backend_class(name).name == name
    for name in backends.TABLE:
        assert (ROOT / backends.backend_file(name)).is_file()


def test_a_missing_library_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(backends.TABLE, "transformers", ("no_such_library.x", "X"))
    with pytest.raises(BackendError, match="needs the package 'no_such_library'"):
        backends.create_backend(SPEC, "non_thinking")
    with pytest.raises(BackendError, match="mode 'thinking' is not among"):
        backends.create_backend(SPEC, "thinking")


def test_reading_a_cell_needs_every_setting(tmp_path: Path) -> None:
    write_records(tmp_path / "a.jsonl", [request("a", 0)])
    with pytest.raises(DataError, match="4 shots"):
        run_model.cells([str(tmp_path / "a.jsonl")], ["a"], [0, 4])
