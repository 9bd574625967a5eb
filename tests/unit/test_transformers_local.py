"""The transformers backend on tiny random models, and on the embedded ones where they are."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import tiny_models
import torch

from scripts.inference import models
from scripts.inference.backends.transformers_local import TransformersBackend
from scripts.inference.decoding import Decoder, Policy, Prompt, plan
from scripts.inference.dialogue import TURN_MARKER, Renderer, fold_system, transcript
from scripts.inference.interface import BackendError, ModelSpec
from scripts.inference.registry import model_spec
from scripts.records import Request, Response

GREEDY = {"temperature": 0.0, "top_p": 1.0, "repetition_penalty": 1.0}
POLICIES = [Policy(name, size) for name in ("left_padded", "shared_prefix") for size in (1, 3, 32)]
TINY: dict[str, Callable[[], Any]] = {"llama": tiny_models.llama, "gemma": tiny_models.gemma}


@pytest.fixture(scope="module", params=TINY)
def model(request: pytest.FixtureRequest) -> Any:
    torch.set_num_threads(1)
    return TINY[request.param]()


def prompts(limit: int = 12) -> list[Prompt]:
    """Three prefixes (one empty) with suffixes of several lengths, some equal, some twice."""
    prefixes = [b"", b"count the letters of: ", b"a longer head that many prompts share, again: "]
    suffixes = [b"one", b"two", b"three", b"seventeen", b"x", b"one"]
    out = []
    for prefix in prefixes:
        for suffix in suffixes:
            ids = tuple(prefix + suffix)
            out.append(Prompt(len(out), ids, len(prefix), limit, seed=len(out)))
    return out


def alone(model: Any, prompt: Prompt, **settings: Any) -> tuple[int, ...]:
    """What the library's own `generate` writes for one prompt."""
    ids = torch.tensor([prompt.ids])
    out = model.generate(
        ids,
        attention_mask=torch.ones_like(ids),
        max_new_tokens=prompt.limit,
        do_sample=False,
        eos_token_id=257,
        pad_token_id=258,
        **settings,
    )
    return tuple(out[0, len(prompt.ids) :].tolist())


def decode(model: Any, policy: Policy, asked: list[Prompt], settings: Any, **kw: Any) -> Any:
    decoder = Decoder(model, policy, frozenset({257}), 258, **kw)
    rows = [pair for batch in decoder.batches(asked, settings) for pair in batch]
    return {prompt.index: decoded for prompt, decoded in rows}


@pytest.mark.parametrize("policy", POLICIES, ids=lambda p: f"{p.name}-{p.size}")
def test_every_policy_writes_what_generate_writes_for_each_row_alone(
    model: Any, policy: Policy
) -> None:
    asked = prompts()
    rows = decode(model, policy, asked, GREEDY)
    assert {p.index: rows[p.index].ids for p in asked} == {p.index: alone(model, p) for p in asked}


def test_repetition_penalty_is_the_librarys(model: Any) -> None:
    asked = prompts()[::4]
    rows = decode(model, POLICIES[-1], asked, {**GREEDY, "repetition_penalty": 1.7})
    for prompt in asked:
        assert rows[prompt.index].ids == alone(model, prompt, repetition_penalty=1.7)


def test_sampling_is_seeded_by_content_and_not_by_the_batch(model: Any) -> None:
    settings = {"temperature": 1.5, "top_p": 0.9, "repetition_penalty": 1.0}
    asked = prompts()
    one = decode(model, Policy("shared_prefix", 1), asked, settings)
    many = decode(model, Policy("left_padded", 32), asked[::-1], settings)
    assert one == many
    assert one != decode(model, Policy("left_padded", 32), asked, GREEDY)


def test_rows_end_at_their_own_limit_end_token_or_stop(model: Any) -> None:
    asked = [replace(p, limit=3 + p.index % 4) for p in prompts()]
    rows = decode(model, POLICIES[-1], asked, GREEDY)
    for prompt in asked:
        ended = rows[prompt.index].ids[-1] == 257
        assert rows[prompt.index].finish_reason == ("stop" if ended else "length")
        assert ended or len(rows[prompt.index].ids) == prompt.limit
    cut = decode(model, POLICIES[-1], asked, GREEDY, stops=lambda ids: len(ids) == 2)
    assert all(row.finish_reason == "stop" and len(row.ids) <= 2 for row in cut.values())


def test_an_end_token_ends_a_row_and_the_others_go_on() -> None:
    model = tiny_models.llama()
    asked = prompts()
    free = decode(model, Policy("shared_prefix", 32), asked, GREEDY)
    end = free[0].ids[2]
    decoder = Decoder(model, Policy("shared_prefix", 32), frozenset({end}), 258)
    rows = {p.index: d for batch in decoder.batches(asked, GREEDY) for p, d in batch}
    assert rows[0].ids == free[0].ids[: free[0].ids.index(end) + 1]
    assert rows[0].finish_reason == "stop"
    for index, decoded in rows.items():
        assert free[index].ids[: len(decoded.ids)] == decoded.ids


# --- planning -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["left_padded", "shared_prefix"])
def test_a_plan_depends_on_content_alone_and_a_rest_is_cut_as_before(name: str) -> None:
    asked = prompts()
    policy = Policy(name, 4, 400)
    batches = plan(asked, policy)
    ids = [[p.ids for p in batch] for batch in batches]
    assert ids == [[p.ids for p in batch] for batch in plan(asked[::-1], policy)]
    assert sorted(p.index for batch in batches for p in batch) == list(range(len(asked)))
    assert all(len(batch) <= 4 for batch in batches)
    for batch in batches:
        cost = max(len(p.ids) + p.limit for p in batch) * len(batch)
        assert cost <= 400 or len(batch) == 1
    rest = [p for batch in batches[2:] for p in batch]
    assert plan(rest, policy) == batches[2:]
    assert plan([], policy) == []


# --- rendering ----------------------------------------------------------------------------------

MESSAGES = [
    {"role": "system", "content": "Count."},
    {"role": "user", "content": "one"},
    {"role": "assistant", "content": "3"},
    {"role": "user", "content": "three"},
]
ENTRY = {
    "backend": "transformers",
    "source": "tiny",
    "revision": "1",
    "precision": "float32",
    "context_length": 400,
    "modes": ["non_thinking"],
    "threads": 1,
    "batch": {"policy": "shared_prefix", "size": 4},
}
SWITCH = {"switch": "chat_template", "argument": "thinking"}
BOTH = {"modes": ["thinking", "non_thinking"], "thinking": SWITCH}


def renderer(chat: str | None, mode: str = "non_thinking", **changes: Any) -> Renderer:
    return Renderer(model_spec("m", {**ENTRY, **changes}), mode, tiny_models.tokenizer(chat))


def test_the_shared_part_is_what_precedes_the_last_turn() -> None:
    rendered = renderer(tiny_models.CHAT).render(MESSAGES)
    assert rendered.text.endswith("three<|im_end|>\n<|im_start|>assistant\n")
    tail = rendered.text[rendered.shared :]
    assert tail.startswith("<|im_start|>user\nthree") or tail.startswith("user\nthree")


@pytest.mark.parametrize("template", [tiny_models.STRICT, tiny_models.SILENT])
def test_a_system_prompt_that_the_template_drops_is_folded(template: str) -> None:
    made = renderer(template)
    text = made.render(MESSAGES).text
    assert "<|im_start|>user\nCount.\n\none<|im_end|>" in text
    assert made.identity()["system"] == "folded into the first user turn"
    assert renderer(tiny_models.CHAT).identity()["system"] == "own turn"
    assert fold_system(MESSAGES[1:]) == MESSAGES[1:]
    with pytest.raises(BackendError, match="no user turn"):
        fold_system(MESSAGES[:1])


def test_the_thinking_switch_reaches_the_prompt_and_the_identity() -> None:
    on = renderer(tiny_models.CHAT, "thinking", **BOTH)
    off = renderer(tiny_models.CHAT, "non_thinking", **BOTH)
    assert on.render(MESSAGES).opens_trace and not off.render(MESSAGES).opens_trace
    assert on.identity() != off.identity()
    with pytest.raises(BackendError, match="ignores 'loud'"):
        renderer(tiny_models.CHAT, **{**BOTH, "thinking": {**SWITCH, "argument": "loud"}})


def test_a_model_without_a_template_or_with_an_effort_level_is_refused() -> None:
    with pytest.raises(BackendError, match="template: transcript"):
        renderer(None)
    with pytest.raises(BackendError, match="openai backend"):
        renderer(tiny_models.CHAT, thinking={"switch": "effort"})


def test_a_template_that_drops_a_question_is_refused() -> None:
    template = tiny_models.CHAT.replace("{{ m['content'] }}", "{{ m['content'][:20] }}")
    with pytest.raises(BackendError, match="drops a user message"):
        renderer(template).render([{"role": "user", "content": "x" * 40}])


def test_a_template_that_needs_a_user_turn_shares_nothing() -> None:
    template = (
        "{% if messages | selectattr('role', 'equalto', 'user') | list | length == 0 %}"
        "{{ raise_exception('no user') }}{% endif %}" + tiny_models.CHAT
    )
    assert renderer(template).render([MESSAGES[0], MESSAGES[1]]).shared == 0


def test_the_transcript_ends_where_the_assistant_speaks() -> None:
    text = transcript(MESSAGES)
    assert text.endswith("### Question\nthree\n\n### Answer\n")
    assert text.count(TURN_MARKER) == 4 and text.startswith("### Instructions\nCount.")
    made = renderer(None, template="transcript")
    rendered = made.render(MESSAGES)
    assert rendered.text == text
    assert rendered.text[rendered.shared :] == "### Question\nthree\n\n### Answer\n"
    assert made.identity()["stop"] == TURN_MARKER


# --- the backend --------------------------------------------------------------------------------


def asked(count: int = 6, limit: int = 10) -> list[Request]:
    decoding = {**GREEDY, "max_new_tokens": limit}
    return [
        Request.create(
            f"i{n}",
            {"shots": 1},
            [*MESSAGES[:-1], {"role": "user", "content": "w" * (n + 1)}],
            decoding,
        )
        for n in range(count)
    ]


def backend(folder: Path, mode: str = "non_thinking", **changes: Any) -> TransformersBackend:
    spec = model_spec("tiny", {**ENTRY, **changes}, str(folder))
    return TransformersBackend(spec, mode)


@pytest.fixture(scope="module", params=TINY)
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp(request.param)
    return tiny_models.save(path, TINY[request.param]())


def test_responses_do_not_depend_on_the_batch(folder: Path) -> None:
    texts: set[tuple[str, ...]] = set()
    for name in ("left_padded", "shared_prefix"):
        for size in (1, 32):
            made = backend(folder, batch={"policy": name, "size": size})
            rows = {r.request_id: r for r in made.generate(asked())}
            texts.add(tuple(rows[r.request_id].text for r in asked()))
            made.close()
    assert len(texts) == 1


def test_a_response_counts_its_tokens(folder: Path) -> None:
    made = backend(folder)
    assert made.facts()["device"] == "not loaded"
    batches = list(made.generate_batches(asked()))
    assert [len(batch) for batch in batches] == [4, 2]
    for row in (row for batch in batches for row in batch):
        assert row.error is None and row.attempts == 1 and row.backend == "transformers"
        assert row.backend_version.startswith("transformers ")
        assert row.finish_reason in ("stop", "length")
        assert row.finish_reason == "stop" or row.usage["completion"] == 10
        assert row.usage["reasoning"] is None and row.usage["prompt"] > 50
    assert made.facts()["device"] == "cpu" or made.facts()["device"].startswith("cuda")
    assert made.facts()["threads"] == 1


def test_a_prompt_beyond_the_context_is_an_error_and_the_others_are_answered(folder: Path) -> None:
    requests = asked(3)
    long = replace(
        requests[1], request_id="long", messages=[{"role": "user", "content": "x" * 500}]
    )
    rows = {r.request_id: r for r in backend(folder).generate([requests[0], long, requests[2]])}
    assert rows["long"].error is not None and "no room in a context of 400" in rows["long"].error
    assert rows["long"].text == "" and rows["long"].finish_reason == "error"
    assert rows[requests[0].request_id].error is None
    nearly = backend(folder, context_length=rows[requests[2].request_id].usage["prompt"] + 2)
    clipped = {r.request_id: r for r in nearly.generate(requests)}[requests[2].request_id]
    assert clipped.usage["completion"] == 2


def test_the_identity_says_what_determines_an_answer_and_loads_no_weights(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(models, "load", lambda *a, **k: pytest.fail("weights were loaded"))
    base = backend(folder).identity()
    assert json.loads(json.dumps(base)) == base
    assert str(folder) not in json.dumps(base)
    assert base == backend(folder, threads=2, label="other").identity()
    others = [
        backend(folder, batch={"policy": "left_padded", "size": 4}),
        backend(folder, batch={"policy": "shared_prefix", "size": 8}),
        backend(folder, template="transcript"),
        backend(folder, **BOTH),
        backend(folder, "thinking", **BOTH),
        backend(folder, context_length=100),
    ]
    assert all(other.identity() != base for other in others)


def test_reasoning_is_taken_out_and_accounted(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(TransformersBackend, "_text", lambda self, ids: "because</think>\n7")
    (row,) = backend(folder, "thinking", **BOTH).generate(asked(1))
    assert (row.text, row.reasoning) == ("7", "because")
    assert row.usage["reasoning"] == 7
    both = {"modes": ["thinking", "non_thinking"], "thinking": {"switch": "accounting"}}
    (row,) = backend(folder, "non_thinking", **both).generate(asked(1))
    assert (row.text, row.reasoning, row.usage["reasoning"]) == ("7", None, None)
    (row,) = backend(folder, "thinking", **both).generate(asked(1))
    assert row.reasoning == "because"
    monkeypatch.setattr(TransformersBackend, "_text", lambda self, ids: "still thinking")
    (row,) = backend(folder, "thinking", **BOTH).generate(asked(1, limit=1))
    assert (row.text, row.reasoning, row.finish_reason) == ("", "still thinking", "length")


def test_a_transcript_stops_at_the_next_turn(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = backend(folder, template="transcript")
    monkeypatch.setattr(TransformersBackend, "_text", lambda self, ids: "7 \n\n### Question\nx")
    (row,) = made.generate(asked(1))
    assert (row.text, row.finish_reason, row.usage["completion"]) == ("7", "stop", 1)


def test_two_decodings_in_one_run(folder: Path) -> None:
    requests = [*asked(2, limit=3), *asked(2, limit=5)]
    rows: dict[str, Response] = {r.request_id: r for r in backend(folder).generate(requests)}
    assert len(rows) == 4
    assert all(r.usage["completion"] in range(1, 6) for r in rows.values())


def test_what_cannot_be_loaded_is_said(tmp_path: Path) -> None:
    with pytest.raises(BackendError, match="holds no model"):
        backend(tmp_path).identity()
    with pytest.raises(BackendError, match="does not exist"):
        models.location(model_spec("m", ENTRY, str(tmp_path / "m.gguf")))
    embedded = model_spec("m", {**ENTRY, "source": "embedded:x"})
    with pytest.raises(BackendError, match="needs a prepared folder"):
        models.location(embedded)
    assert models.location(model_spec("m", {**ENTRY, "source": "org/m"})) == (
        "org/m",
        {"revision": "1"},
    )
    with pytest.raises(BackendError, match="precision: 'int3'"):
        models.dtype(model_spec("m", {**ENTRY, "precision": "int3"}))
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(BackendError, match="names no model_type"):
        models.load_tokenizer(model_spec("m", ENTRY, str(tmp_path)))
    (tmp_path / "config.json").write_text('{"model_type": "llama"}')
    with pytest.raises(BackendError, match=r"tokenizer\.json: missing"):
        models.load_tokenizer(model_spec("m", ENTRY, str(tmp_path)))
    tiny_models.tokenizer().save_pretrained(tmp_path)
    with pytest.raises(BackendError, match=r"model\.safetensors: missing; download it again"):
        models.load(model_spec("m", ENTRY, str(tmp_path)))


def test_hidden_states_of_all_layers(folder: Path) -> None:
    model, tokenizer = models.load(backend(folder).spec, device="cpu")
    texts = ["one", "a longer text"]
    states = models.hidden_states(model, tokenizer, texts)
    layers = model.config.num_hidden_layers
    assert [tuple(s.shape) for s in states] == [(layers + 1, 3, 32), (layers + 1, 13, 32)]
    assert all(s.dtype == torch.float32 for s in states)
    ids = tokenizer("one", return_tensors="pt").input_ids
    embedded = model.get_input_embeddings()(ids)[0]
    assert torch.allclose(states[0][0], embedded)
    logits = model.lm_head(states[0][-1])
    assert torch.allclose(logits, model(ids).logits[0], atol=1e-4)


# --- the embedded models ------------------------------------------------------------------------

EMBEDDED = Path(__file__).parents[2] / "results/models"


def embedded(name: str, policy: str, size: int) -> tuple[ModelSpec, list[Request]]:
    folder = EMBEDDED / name
    if not (folder / "model.safetensors").is_file():
        pytest.skip(f"{name} is not converted")
    template = {"template": "transcript"} if name.startswith("gemma") else {}
    batch = {"batch": {"policy": policy, "size": size}}
    spec = model_spec(name, {**ENTRY, "context_length": 2048, **template, **batch}, str(folder))
    task = 'Count the characters of the word. Answer with {"result": <number>} only.'
    words = ["stone", "butterfly", "oil"]
    shown = [
        {"role": "user", "content": "<word>garden</word>"},
        {"role": "assistant", "content": '{"result": 6}'},
    ]
    requests = [
        Request.create(
            f"{word}-{shots}",
            {"shots": shots},
            [
                {"role": "system", "content": task},
                *shown * shots,
                {"role": "user", "content": f"<word>{word}</word>"},
            ],
            {**GREEDY, "max_new_tokens": 12},
        )
        for word in words
        for shots in (0, 1)
    ]
    return spec, requests


@pytest.mark.model
@pytest.mark.parametrize("name", ["smollm2-135m", "gemma3-270m"])
def test_greedy_text_of_an_embedded_model_is_the_same_in_every_batch(name: str) -> None:
    texts: list[dict[str, str]] = []
    for policy, size in [("left_padded", 1), ("left_padded", 32), ("shared_prefix", 32)]:
        spec, requests = embedded(name, policy, size)
        made = TransformersBackend(spec, "non_thinking")
        texts.append({r.request_id: r.text for r in made.generate(requests)})
    assert texts[0] == texts[1] == texts[2]
    one_shot = [texts[0][r.request_id] for r in requests if r.setting["shots"] == 1]
    assert all(isinstance(json.loads(text)["result"], int) for text in one_shot)
