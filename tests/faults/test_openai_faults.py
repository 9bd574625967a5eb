"""Whatever a server does, every request ends as one answer or one error naming its cause."""

from __future__ import annotations

import logging
import time

import pytest

from scripts.inference.backends.openai_compatible import OpenAIBackend
from scripts.inference.interface import BackendError, ModelSpec
from scripts.records import Request, Response
from tests.faults.fault_server import FaultServer, Step, completion, error, html, raw

KEY = "sk-secret-0123456789abcdef"


def backend(server: FaultServer, mode: str = "non_thinking", **options) -> OpenAIBackend:
    fast = {
        "base_url": server.base_url,
        "concurrency": 4,
        "max_attempts": 3,
        "timeout_seconds": 5.0,
        "backoff_seconds": 0.01,
        "api_key_environment": "TEST_API_KEY",
    }
    spec = ModelSpec(
        name="m",
        label="M",
        backend="openai",
        source="tiny",
        revision="1",
        precision="x",
        modes=("non_thinking",),
        thinking={"switch": "none"},
        options={**fast, **options},
    )
    return OpenAIBackend(spec, mode)


def ask(*names: str) -> list[Request]:
    decoding = {"temperature": 0.0, "top_p": 1.0, "repetition_penalty": 1.0, "max_new_tokens": 8}
    return [
        Request.create(f"item-{n}", {"shots": 0}, [{"role": "user", "content": n}], decoding)
        for n in names
    ]


def answers(server: FaultServer, *names: str, **options) -> dict[str, Response]:
    """Responses by name; fails when a request has none or two."""
    got = list(backend(server, **options).generate(ask(*names)))
    assert sorted(r.item_id for r in got) == sorted(f"item-{n}" for n in names)
    return {r.item_id.removeprefix("item-"): r for r in got}


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("TEST_API_KEY", KEY)


RECOVERED = {
    "rate limit": [error(429), error(429)],
    "server error": [error(500), error(503)],
    "html page": [html(502), html(504)],
    "html with status 200": [raw(b"<html><body>Welcome</body></html>", "text/html")],
    "dropped connection": [Step("drop"), Step("drop")],
    "cut body": [Step("cut")],
    "truncated json": [Step("truncate")],
    "answer twice in one body": [Step("twice")],
    "empty choices": [raw(b'{"choices": []}')],
    "no choices": [raw(b'{"id": "x"}')],
    "null": [raw(b"null")],
    "empty body": [raw(b"")],
    "not utf-8": [raw(b'{"choices": "\xff\xfe"}')],
    "message missing": [raw(b'{"choices": [{"finish_reason": "stop"}]}')],
    "error inside 200": [raw(b'{"error": {"code": 502, "message": "upstream"}}')],
    "choice failed": [Step("good", change={"finish": "error"})],
}


@pytest.mark.parametrize("steps", RECOVERED.values(), ids=RECOVERED.keys())
def test_passing_fault_is_retried_and_the_answer_is_got_once(steps):
    with FaultServer({"a": steps}) as server:
        got = answers(server, "a", "b")
    assert got["a"].text == "A" and got["a"].error is None
    assert got["a"].attempts == 1 + len(steps)
    assert got["b"].text == "B" and got["b"].attempts == 1
    assert [name for name, *_ in server.seen].count("a") == 1 + len(steps)


LASTING = {
    "429": (error(429, "slow down"), "http 429 after 3 attempts: slow down"),
    "500": (error(500, "oops"), "http 500 after 3 attempts: oops"),
    "html": (html(502), "http 502 after 3 attempts: Bad Gateway"),
    "drop": (Step("drop"), "connection lost after 3 attempts: "),
    "truncated": (Step("truncate"), "bad json after 3 attempts: "),
    "choices": (raw(b'{"choices": []}'), "empty choices after 3 attempts: "),
    "400": (error(400, "prompt too long"), "http 400 after 1 attempt: prompt too long"),
    "422": (error(422, "no such field"), "http 422 after 1 attempt: no such field"),
    "filter": (Step("good", change={"finish": "content_filter"}), "content filter after 1 attempt"),
    "refusal": (
        Step("good", change={"message": {"content": None, "refusal": "I will not"}}),
        "content filter after 1 attempt: I will not",
    ),
    "moderation": (
        error(403, "flagged", metadata={"reasons": ["x"]}),
        "content filter after 1 attempt: flagged",
    ),
}


@pytest.mark.parametrize("step,message", LASTING.values(), ids=LASTING.keys())
def test_lasting_fault_is_an_error_response_naming_its_cause(step, message):
    with FaultServer({"a": [step] * 3}) as server:
        got = answers(server, "a", "b")
    bad = got["a"]
    assert bad.error is not None and bad.error.startswith(message)
    assert (bad.text, bad.reasoning, bad.finish_reason) == ("", None, "error")
    assert bad.usage == {"prompt": None, "completion": None, "reasoning": None}
    assert bad.attempts == [name for name, *_ in server.seen].count("a")
    assert got["b"].text == "B"
    assert Response.from_json(bad.to_json()) == bad


@pytest.mark.parametrize("kind", ["hang", "drip"])
def test_hang_and_endless_drip_end_at_the_time_limit(kind):
    with FaultServer({"a": [Step(kind)], "b": [Step(kind)] * 2}) as server:
        start = time.monotonic()
        got = answers(server, "a", "b", timeout_seconds=0.8, max_attempts=2)
        # The server would hold the connection for 20 s; a loaded machine is given time.
        assert time.monotonic() - start < 10
    assert (got["a"].text, got["a"].attempts) == ("A", 2)
    assert got["b"].error == "timeout after 2 attempts: no complete answer within 0.8 s"


def test_slow_drip_that_ends_is_one_answer():
    with FaultServer({"a": [Step("slow")]}) as server:
        got = answers(server, "a")
    assert (got["a"].text, got["a"].attempts) == ("A", 1)


@pytest.mark.parametrize(
    "stop,remedy",
    [
        (error(401, f"Incorrect API key provided: {KEY}"), "check TEST_API_KEY"),
        (error(403, "forbidden"), "the account's rights"),
        (error(402, "Insufficient credits"), "add credit"),
        (error(429, "quota", code="insufficient_quota"), "add credit"),
        (error(429, "quota", details=[{"quotaId": "RequestsPerDayPerModel"}]), "add credit"),
        (error(404, "no such model"), "'tiny'"),
    ],
    ids=["401", "403", "402", "quota", "daily quota", "404"],
)
def test_run_stops_early_and_keeps_what_is_finished(stop, remedy):
    names = ["a", "b", "c", *(f"n{i}" for i in range(50))]
    with FaultServer({"c": [stop] * 9}) as server:
        got = []
        with pytest.raises(BackendError, match="Finished answers are kept") as caught:
            for response in backend(server, concurrency=1).generate(ask(*names)):
                got.append(response)
    assert [r.text for r in got] == ["A", "B"]
    assert len(server.seen) == 3
    assert remedy in str(caught.value)
    assert KEY not in str(caught.value)


def test_stop_lets_attempts_under_way_finish():
    """They are paid for: what the server was already working on is not thrown away."""
    with FaultServer({"a": [Step("slow")], "b": [error(401)]}) as server:
        got = []
        with pytest.raises(BackendError, match="http 401"):
            for response in backend(server, concurrency=2).generate(ask("a", "b", "c", "d")):
                got.append(response.text)
    assert got == ["A"]


def test_retry_after_is_honoured_by_all_workers():
    with FaultServer({"a": [error(429, headers={"Retry-After": "0.5"})]}) as server:
        server.script["b"] = [Step("slow")]
        got = answers(server, "a", "b", "c", "d", concurrency=2)
    first, second = server.times("a")
    assert 0.5 <= second - first < 2.0
    assert min(*server.times("c"), *server.times("d")) - first >= 0.45
    assert got["a"].attempts == 2


def test_very_long_retry_after_stops_instead_of_waiting():
    with (
        FaultServer({"a": [error(429, headers={"Retry-After": "86400"})]}) as server,
        pytest.raises(BackendError, match=r"wait 86400 s.*run again later"),
    ):
        list(backend(server).generate(ask("a")))


def test_backoff_grows():
    with FaultServer({"a": [error(500)] * 3}) as server:
        answers(server, "a", backoff_seconds=0.1, max_attempts=4)
    gaps = [b - a for a, b in zip(server.times("a"), server.times("a")[1:], strict=False)]
    for gap, nominal in zip(gaps, (0.1, 0.2, 0.4), strict=True):
        assert nominal * 0.5 <= gap < nominal + 0.3


def test_rate_limit_and_concurrency_bound():
    names = [f"n{i}" for i in range(6)]
    with FaultServer(delay=0.05) as server:
        start = time.monotonic()
        answers(server, *names, concurrency=2, requests_per_minute=1200)
        assert time.monotonic() - start >= 5 * 0.05
        assert server.most_open <= 2
    with FaultServer(delay=0.2) as server:
        answers(server, *names, concurrency=6)
        assert server.most_open == 6


def test_storm_every_request_answered_exactly_once():
    kinds = [
        error(429),
        error(500),
        html(),
        Step("drop"),
        Step("cut"),
        Step("truncate"),
        raw(b"[]"),
    ]
    names = [f"q{i}" for i in range(70)]
    script = {n: [kinds[i % 7]] * (i % 3) for i, n in enumerate(names)}
    with FaultServer(script) as server:
        got = answers(server, *names, concurrency=16)
    assert all(got[n].text == n.upper() and got[n].error is None for n in names)
    assert all(got[n].attempts == 1 + i % 3 for i, n in enumerate(names))


def test_failures_in_a_row_stop_the_run():
    with FaultServer() as server:
        server.always = error(500, "down")
        got = []
        with pytest.raises(BackendError, match="5 requests in a row failed"):
            names = [f"n{i}" for i in range(40)]
            only = backend(server, concurrency=1, max_attempts=1, stop_after_failures=5)
            for response in only.generate(ask(*names)):
                got.append(response)
    assert len(got) == 5 and all(r.error for r in got)


def test_no_server_is_a_clear_error():
    with FaultServer() as server:
        gone = backend(server, max_attempts=2)
    with pytest.raises(BackendError, match="no server answers there: start it"):
        list(gone.generate(ask("a", "b")))


def test_server_that_dies_midway_gives_error_rows():
    last = Step("good", headers={"Connection": "close"})
    with FaultServer({"a": [last], "b": [Step("hang")]}) as server:
        run = backend(server, concurrency=1, max_attempts=2).generate(ask("a", "b", "c"))
        first = next(run)
    rest = list(run)
    assert first.text == "A"
    assert [r.item_id for r in rest] == ["item-b", "item-c"]
    assert all(str(r.error).startswith("no connection after 2 attempts") for r in rest)


def settled(server: FaultServer, quiet_s: float = 0.5) -> int:
    """How many requests arrived, once none has arrived for `quiet_s` seconds."""
    seen, since = len(server.seen), time.monotonic()
    while time.monotonic() - since < quiet_s:
        time.sleep(0.02)
        if len(server.seen) != seen:
            seen, since = len(server.seen), time.monotonic()
    return seen


def test_closing_the_generator_cancels_what_is_open():
    with FaultServer({"a": [Step("hang")], "c": [Step("hang")]}) as server:
        run = backend(server, concurrency=3).generate(ask("a", "b", "c", *map(str, range(50))))
        assert next(run).text in {"B", *map(str, range(50))}
        start = time.monotonic()
        run.close()
        assert time.monotonic() - start < 4  # not the 20 s of the hanging server
        # What was on the wire when the run was closed may still arrive; nothing is sent after it.
        seen = settled(server)
        assert seen <= 1 + 2 * 3 + 3
        time.sleep(0.3)
        assert len(server.seen) == seen


def test_answers_waiting_to_be_taken_are_bounded():
    with FaultServer() as server:
        run = backend(server, concurrency=2).generate(ask(*(f"n{i}" for i in range(60))))
        next(run)
        time.sleep(0.5)
        assert len(server.seen) <= 1 + 2 * 2
        assert len(list(run)) == 59


def test_answers_that_came_meanwhile_are_one_group():
    """One write for all of them: the store is no bottleneck, and a kill finds few in memory."""
    with FaultServer() as server:
        groups = backend(server, concurrency=3).generate_batches(ask(*(f"n{i}" for i in range(20))))
        first = next(groups)
        deadline = time.monotonic() + 20
        while len(server.seen) < len(first) + 2 * 3 and time.monotonic() < deadline:
            time.sleep(0.02)
        time.sleep(0.5)
        second = next(groups)
        rest = list(groups)
    assert 1 < len(second) <= 2 * 3 + 3
    texts = [row.text for group in (first, second, *rest) for row in group]
    assert sorted(texts) == sorted(f"N{i}" for i in range(20)) and all(rest)


def test_wrong_model_echo_is_recorded_or_refused():
    with FaultServer({"a": [Step("good", change={"model": "other"})]}) as server:
        lenient = backend(server)
        assert next(iter(lenient.generate(ask("a")))).error is None
        assert lenient.facts()["models_echoed"] == {"other": 1}
    with FaultServer({"a": [Step("good", change={"model": "other"})] * 3}) as server:
        got = answers(server, "a", "b", expected_model_echo="tiny")
    assert got["a"].error == "wrong model after 3 attempts: asked for 'tiny', answered by 'other'"
    assert got["b"].text == "B"


def test_repeated_answer_ids_are_counted():
    with FaultServer({n: [Step("good", change={"id": "same"})] for n in "ab"}) as server:
        both = backend(server)
        assert sorted(r.text for r in both.generate(ask("a", "b"))) == ["A", "B"]
    assert both.facts()["repeated_answer_ids"] == 1


def test_second_choice_is_ignored():
    reply = completion("A")
    reply["choices"].append({"index": 1, "message": {"content": "B"}, "finish_reason": "stop"})
    with FaultServer({"a": [Step("good", change={"choices": reply["choices"]})]}) as server:
        assert answers(server, "a")["a"].text == "A"


def test_key_is_sent_but_never_shown(caplog):
    echo = error(500, f"bad header Authorization: Bearer {KEY} " + "x" * 270 + KEY)
    spoken = Step("good", change={"message": {"content": f"your key is {KEY}"}})
    with (
        caplog.at_level(logging.DEBUG),
        FaultServer({"a": [echo] * 3, "b": [spoken]}) as server,
    ):
        got = answers(server, "a", "b")
        assert server.seen[0][3]["authorization"] == f"Bearer {KEY}"
    assert got["a"].error is not None and "[key removed]" in got["a"].error
    assert got["b"].text == "your key is [key removed]"
    for text in (got["a"].error, caplog.text):
        assert KEY not in text and KEY[:12] not in text


def test_account_names_of_the_environment_are_not_sent(monkeypatch):
    monkeypatch.setenv("OPENAI_ORG_ID", "org-private")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "project-private")
    with FaultServer() as server:
        answers(server, "a")
    assert not [v for v in server.seen[0][3].values() if "private" in v]
