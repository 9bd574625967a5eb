"""The openai backend: what it sends, what it reads, and a real server (`transformers serve`)."""

from __future__ import annotations

import dataclasses
import email.utils
import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts.inference.api_keys import PLACEHOLDER_KEY
from scripts.inference.backends import chat_completions as reading
from scripts.inference.backends import openai_compatible as sending
from scripts.inference.backends.chat_completions import Answer, AttemptError
from scripts.inference.backends.openai_compatible import OpenAIBackend
from scripts.inference.interface import BackendError, ModelSpec
from scripts.records import Request
from tests.faults.fault_server import FaultServer, Step, completion
from tests.tiny_models import save_tiny_model

DECODING = {"temperature": 0.0, "top_p": 1.0, "repetition_penalty": 1.0, "max_new_tokens": 8}


def spec(**changes) -> ModelSpec:
    options = {"base_url": "http://localhost:1/v1", **changes.pop("options", {})}
    base = ModelSpec(
        name="m",
        label="M",
        backend="openai",
        source="tiny",
        revision="1",
        precision="x",
        modes=("thinking", "non_thinking"),
        thinking={"switch": "none"},
        options=options,
    )
    return dataclasses.replace(base, **changes)


def ask(question="Why?", schema=None, **decoding) -> Request:
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": question}]
    return Request.create("i-" + question, {}, messages, {**DECODING, **decoding}, schema)


# What is sent.


def test_plain_request_is_sent_without_extras():
    assert OpenAIBackend(spec(), "thinking").arguments(ask()) == {
        "model": "tiny",
        "messages": ask().messages,
        "temperature": 0.0,
        "top_p": 1.0,
        "max_tokens": 8,
    }


def test_everything_optional_is_sent_when_asked_for():
    options = {
        "seed": 3,
        "max_tokens_field": "max_completion_tokens",
        "repetition_penalty_field": "repeat_penalty",
        "extra_body": {"provider": {"allow_fallbacks": False}},
    }
    thinking = {"switch": "chat_template", "argument": "enable_thinking"}
    backend = OpenAIBackend(spec(options=options, thinking=thinking), "non_thinking")
    schema = {"type": "object"}
    sent = backend.arguments(ask(schema=schema, repetition_penalty=1.2, top_k=5))
    assert (sent["seed"], sent["max_completion_tokens"]) == (3, 8)
    assert "max_tokens" not in sent
    assert sent["extra_body"] == {
        "provider": {"allow_fallbacks": False},
        "chat_template_kwargs": {"enable_thinking": False},
        "repeat_penalty": 1.2,
        "top_k": 5,
    }
    assert sent["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "answer", "schema": schema, "strict": True},
    }
    with pytest.raises(BackendError, match=r"\['beams'\] are unknown"):
        backend.arguments(ask(beams=2))


@pytest.mark.parametrize("mode,level", [("thinking", "high"), ("non_thinking", "none")])
def test_effort_switch_reaches_the_server(mode, level):
    thinking = {"switch": "effort", "effort": {"thinking": "high", "non_thinking": "none"}}
    with FaultServer() as server:
        backend = OpenAIBackend(
            spec(options={"base_url": server.base_url}, thinking=thinking), mode
        )
        list(backend.generate([ask("a")]))
    assert server.seen[0][2]["reasoning_effort"] == level


def test_fields_of_extra_body_reach_the_server_flat():
    thinking = {"switch": "chat_template", "argument": "enable_thinking"}
    with FaultServer() as server:
        options = {"base_url": server.base_url}
        list(OpenAIBackend(spec(options=options, thinking=thinking), "thinking").generate([ask()]))
    body = server.seen[0][2]
    assert body["chat_template_kwargs"] == {"enable_thinking": True}
    assert body["messages"] == ask().messages


@pytest.mark.parametrize(
    "changes,message",
    [
        ({"options": {"base_url": None}}, "needs the option base_url"),
        ({"options": {"base_url": "ftp://x/v1"}}, "must be an http"),
        ({"options": {"base_url": "https://me:secret@x/v1"}}, "no user, password"),
        ({"options": {"base_url": "https://x/v1?key=secret"}}, "no user, password, query"),
        ({"options": {"concurrency": 0}}, "concurrency must be greater than 0"),
        ({"options": {"max_attempts": 0}}, "max_attempts must be greater than 0"),
        ({"thinking": {"switch": "effort", "effort": {"thinking": "low"}}}, "no level for mode"),
        ({"thinking": {"switch": "magic"}}, "unknown thinking switch 'magic'"),
        ({"template": "transcript"}, "applies its own template"),
    ],
)
def test_wrong_configuration_is_named(changes, message):
    with pytest.raises(BackendError, match=message) as caught:
        OpenAIBackend(spec(**changes), "non_thinking")
    assert "secret" not in str(caught.value)


def test_identity_is_what_is_sent_and_not_how_fast():
    known = OpenAIBackend(spec(), "thinking").identity()
    json.dumps(known)
    load = {"concurrency": 9, "requests_per_minute": 5, "max_attempts": 2, "timeout_seconds": 1}
    assert OpenAIBackend(spec(options=load), "thinking").identity() == known
    template = {"switch": "chat_template", "argument": "enable_thinking"}
    for changes in (
        {"options": {"base_url": "http://localhost:2/v1"}},
        {"options": {"seed": 1}},
        {"options": {"extra_body": {"a": 1}}},
        {"thinking": template},
        {"thinking": {"switch": "accounting"}},
    ):
        assert OpenAIBackend(spec(**changes), "thinking").identity() != known
    modes = [OpenAIBackend(spec(thinking=template), m).identity() for m in spec().modes]
    assert modes[0] != modes[1]


def test_named_provider_makes_the_address_irrelevant():
    a, b = (
        OpenAIBackend(spec(options={"provider": "ollama", "base_url": url}), "thinking").identity()
        for url in ("http://node1:11434/v1", "http://node2:11434/v1")
    )
    assert a == b
    slash = OpenAIBackend(spec(options={"base_url": "http://localhost:1/v1/"}), "thinking")
    assert slash.identity() == OpenAIBackend(spec(), "thinking").identity()


# The key.

REMOTE = {"base_url": "https://example.org/v1", "api_key_environment": "TEST_API_KEY"}


@pytest.mark.parametrize(
    "host", ["localhost", "127.0.0.1", "127.8.8.8", "[::1]", "ollama.localhost"]
)
def test_local_server_needs_no_key(monkeypatch, host):
    monkeypatch.delenv("TEST_API_KEY", raising=False)
    options = {**REMOTE, "base_url": f"http://{host}:8080/v1"}
    assert OpenAIBackend(spec(options=options), "thinking")._api_key() == PLACEHOLDER_KEY


def test_remote_server_without_a_key_is_a_clear_error(monkeypatch):
    monkeypatch.setenv("TEST_API_KEY", " ")
    backend = OpenAIBackend(spec(options=REMOTE), "thinking")
    with pytest.raises(BackendError, match="set the environment variable TEST_API_KEY"):
        next(backend.generate([ask()]))
    nameless = OpenAIBackend(spec(options={"base_url": REMOTE["base_url"]}), "thinking")
    with pytest.raises(BackendError, match="api_key_environment"):
        next(nameless.generate([ask()]))
    # A run whose answers are all in the store needs no key.
    assert list(backend.generate([])) == []
    assert backend.identity()["server"] == "https://example.org/v1"


def test_key_file(monkeypatch, tmp_path):
    monkeypatch.delenv("TEST_API_KEY", raising=False)
    path = tmp_path / "key"
    path.write_text("sk-from-file\n")
    options = {**REMOTE, "api_key_file": str(path)}
    backend = OpenAIBackend(spec(options=options), "thinking")
    assert backend._api_key() == "sk-from-file"
    monkeypatch.setenv("TEST_API_KEY", "sk-from-environment")
    assert backend._api_key() == "sk-from-environment"
    monkeypatch.delenv("TEST_API_KEY")
    path.write_text("two words")
    with pytest.raises(BackendError, match="nothing else"):
        backend._api_key()
    path.unlink()
    with pytest.raises(BackendError, match="cannot be read"):
        backend._api_key()
    inside = {**REMOTE, "api_key_file": str(Path(__file__))}
    with pytest.raises(BackendError, match="inside the repository"):
        OpenAIBackend(spec(options=inside), "thinking")._api_key()


# What is read.


def body(**changes) -> bytes:
    return json.dumps(completion("yes", **changes)).encode()


def test_answer_with_everything():
    message = {"content": "yes", "reasoning_content": "because"}
    assert reading.read_completion(body(message=message, system_fingerprint="fp")) == Answer(
        text="yes",
        reasoning="because",
        finish_reason="stop",
        usage={"prompt": 7, "completion": 5, "reasoning": 3},
        model="tiny",
        identifier="chatcmpl-yes",
        fingerprint="fp",
    )


MESSAGES = {
    "reasoning": ({"content": "a", "reasoning": "t"}, "a", "t"),
    "thinking": ({"content": "a", "thinking": "t"}, "a", "t"),
    "empty reasoning": ({"content": "a", "reasoning_content": ""}, "a", None),
    "no content": ({"content": None, "reasoning": "t"}, "", "t"),
    "parts": (
        {"content": [{"type": "thinking", "thinking": "t"}, {"type": "text", "text": "a"}]},
        "a",
        "t",
    ),
    "nested parts": (
        {
            "content": [
                {"type": "thinking", "thinking": [{"type": "text", "text": "t"}]},
                {"type": "text", "text": "a"},
            ]
        },
        "a",
        "t",
    ),
    "surrogate": ({"content": "\ud800 \x00"}, "\ud800 \x00", None),
}


@pytest.mark.parametrize("message,text,reasoning", MESSAGES.values(), ids=MESSAGES.keys())
def test_forms_of_a_message(message, text, reasoning):
    answer = reading.read_completion(body(message=message))
    assert (answer.text, answer.reasoning) == (text, reasoning)


@pytest.mark.parametrize(
    "usage,expected",
    [
        (None, (None, None, None)),
        ({}, (None, None, None)),
        ({"prompt_tokens": 3, "completion_tokens": 0}, (3, 0, None)),
        ({"prompt_tokens": True, "completion_tokens": -1}, (None, None, None)),
        ({"prompt_tokens": 1, "completion_tokens_details": None}, (1, None, None)),
    ],
)
def test_usage_that_is_not_reported_is_none(usage, expected):
    got = reading.read_completion(body(usage=usage)).usage
    assert (got["prompt"], got["completion"], got["reasoning"]) == expected


@pytest.mark.parametrize(
    "content,kind",
    [
        (b"[1]", "retry"),
        (b'{"choices": {}}', "retry"),
        (b'{"choices": ["x"]}', "retry"),
        (b'{"choices": [{"message": {"content": 3}}]}', "retry"),
        (b'{"choices": [{"message": {"content": "a"}, "finish_reason": 3}]}', "retry"),
        (b'{"choices": [{"message": {"content": [{"type": "image"}]}}]}', "give_up"),
        (b'{"error": {"code": "429", "message": "x"}}', "retry"),
        (b'{"error": {"code": 401, "message": "x"}}', "stop"),
        (b'{"error": "broken"}', "retry"),
        (b'{"error": {"code": 12345}}', "retry"),
    ],
)
def test_replies_that_are_no_answer(content, kind):
    with pytest.raises(AttemptError) as caught:
        reading.read_completion(content)
    assert caught.value.kind == kind


@given(st.binary(max_size=300))
def test_any_bytes_are_an_answer_or_a_named_fault(content):
    try:
        reading.read_completion(content)
    except AttemptError as fault:
        assert fault.cause and "\n" not in str(fault)
    assert isinstance(reading.status_fault(500, {}, content), AttemptError)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["error", "choices", "message", "content", "code", "details", "usage"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(JSON, st.sampled_from([400, 403, 429, 500, 503]))
def test_any_json_is_an_answer_or_a_named_fault(value, status):
    content = json.dumps(value).encode()
    try:
        assert isinstance(reading.read_completion(content), Answer)
    except AttemptError as fault:
        assert fault.cause
    assert reading.status_fault(status, {}, content).cause


NOW = 1_800_000_000.0


@pytest.mark.parametrize(
    "headers,error,seconds",
    [
        ({}, {}, None),
        ({"Retry-After": "3"}, {}, 3.0),
        ({"retry-after": "0.5"}, {}, 0.5),
        ({"Retry-After-Ms": "250", "Retry-After": "9"}, {}, 0.25),
        ({"Retry-After": "-4"}, {}, 0.0),
        ({"Retry-After": "nan"}, {}, None),
        ({"Retry-After": "soon"}, {}, None),
        ({"Retry-After": email.utils.formatdate(NOW + 30, usegmt=True)}, {}, 30.0),
        ({"Retry-After": email.utils.formatdate(NOW - 30, usegmt=True)}, {}, 0.0),
        ({}, {"details": [{"@type": "RetryInfo", "retryDelay": "34.5s"}]}, 34.5),
        ({}, {"details": [{"retryDelay": "longs"}]}, None),
        ({}, {"details": "none"}, None),
    ],
)
def test_retry_after(headers, error, seconds):
    assert reading.retry_after(headers, error, now=NOW) == seconds


def test_google_error_list():
    fault = reading.status_fault(
        429, {}, b'[{"error": {"message": "quota", "details": [{"retryDelay": "2s"}]}}]'
    )
    assert (fault.kind, fault.wait, fault.detail) == ("retry", 2.0, "quota")


def test_error_text_is_one_short_printable_line():
    page = "<style>a{}</style><b>Bad\n\x1b[31m gateway</b>" + "x" * 1000
    line = reading.one_line(page)
    assert line.startswith("Bad [31m gateway")
    assert len(line) == reading.LONGEST_DETAIL and line.endswith("…")
    assert reading.status_fault(422, {}, b'{"detail": [{"msg": "no"}]}').detail == '[{"msg": "no"}]'


@pytest.mark.parametrize("mode,trace,tokens", [("thinking", "t", 3), ("non_thinking", None, None)])
def test_think_tags_and_the_accounting_switch(mode, trace, tokens):
    said = Step("good", change={"message": {"content": "<think>t</think>\n\nyes"}})
    with FaultServer({"Why?": [said]}) as server:
        options = {"base_url": server.base_url}
        backend = OpenAIBackend(spec(options=options, thinking={"switch": "accounting"}), mode)
        (response,) = backend.generate([ask()])
    assert (response.text, response.reasoning) == ("yes", trace)
    assert response.usage == {"prompt": 7, "completion": 5, "reasoning": tokens}
    assert response.backend_version == backend.version == f"openai {sending.openai.__version__}"


def test_facts_count_attempts_and_faults():
    with FaultServer({"a": [Step("drop")]}) as server:
        options = {"base_url": server.base_url, "backoff_seconds": 0.01}
        backend = OpenAIBackend(spec(options=options), "thinking")
        list(backend.generate([ask("a"), ask("b")]))
    facts = backend.facts()
    json.dumps(facts)
    assert (facts["attempts"], facts["faults"]) == (3, {"connection lost": 1})
    assert facts["models_echoed"] == {"tiny": 2}
    assert next(iter(facts["server_headers"])).startswith("BaseHTTP")


def test_programming_error_is_not_swallowed(monkeypatch):
    def broken(body):
        raise ZeroDivisionError

    monkeypatch.setattr(sending, "read_completion", broken)
    with FaultServer() as server:
        backend = OpenAIBackend(spec(options={"base_url": server.base_url}), "thinking")
        with pytest.raises(ExceptionGroup) as caught:
            list(backend.generate([ask("a")]))
    assert caught.value.subgroup(ZeroDivisionError)


# A real server.


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """`transformers serve` with a tiny saved model: (base_url, model name)."""
    folder = save_tiny_model(tmp_path_factory.mktemp("served"))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [str(Path(sys.executable).parent / "transformers"), "serve", str(folder)]
    log = folder / "server.log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            [*command, "--host", "127.0.0.1", "--port", str(port), "--device", "cpu"],
            stdout=out,
            stderr=subprocess.STDOUT,
            env={**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"},
        )
    try:
        deadline = time.monotonic() + 90
        while True:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=2):
                    break
            except (urllib.error.URLError, OSError):
                alive = process.poll() is None and time.monotonic() < deadline
                assert alive, log.read_text(errors="replace")[-3000:]
                time.sleep(0.2)
        yield f"http://127.0.0.1:{port}/v1", folder
    finally:
        process.terminate()
        process.wait(20)


@pytest.fixture(scope="module")
def served_spec(served):
    url, folder = served
    thinking = {"switch": "chat_template", "argument": "enable_thinking"}
    options = {"base_url": url, "concurrency": 4, "timeout_seconds": 30}
    return spec(source=str(folder), options=options, thinking=thinking)


@pytest.mark.parametrize("mode", ["thinking", "non_thinking"])
def test_real_server_answers_as_the_library_does(served, served_spec, mode):
    """Template, thinking switch, system prompt and token limit all arrive: same greedy text."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    folder = served[1]
    backend = OpenAIBackend(served_spec, mode)
    requests = [ask(f"Question {i}?") for i in range(6)]
    got = {r.request_id: r for r in backend.generate(requests)}
    assert got.keys() == {r.request_id for r in requests}
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder)
    for request in requests:
        text = tokenizer.apply_chat_template(
            request.messages,
            tokenize=False,
            add_generation_prompt=True,
            enable_thinking=mode == "thinking",
        )
        ids = torch.tensor([tokenizer.encode(text, add_special_tokens=False)])
        out = model.generate(ids, max_new_tokens=8, do_sample=False)[0][ids.shape[1] :]
        response = got[request.request_id]
        assert response.error is None
        assert response.text == tokenizer.decode(out, skip_special_tokens=True)
        assert response.usage["prompt"] == ids.shape[1]
        assert response.usage["completion"] == len(out)
        assert response.finish_reason in {"length", "stop"}
        assert response.attempts == 1


def test_real_server_refusing_a_field_is_an_error_response(served_spec):
    (response,) = OpenAIBackend(served_spec, "thinking").generate([ask(repetition_penalty=1.5)])
    assert response.error is not None
    assert response.error.startswith("http 422 after 1 attempt: Unexpected fields")


def test_real_server_with_another_model_is_an_error_response(served_spec):
    other = dataclasses.replace(served_spec, source="no-such-model")
    (response,) = OpenAIBackend(other, "thinking").generate([ask()])
    assert response.error is not None and "http 400" in response.error
