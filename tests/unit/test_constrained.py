"""Schema-constrained decoding on tiny random models, and on an embedded one where it is."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import tiny_models
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from scripts.inference import decoding
from scripts.inference.backends.transformers_local import TransformersBackend
from scripts.inference.constrained import Grammars, Writer
from scripts.inference.decoding import Decoder, Policy, Prompt
from scripts.inference.interface import BackendError
from scripts.inference.registry import model_spec
from scripts.inference.store import request_key
from scripts.records import Request

GREEDY = {"temperature": 0.0, "top_p": 1.0, "repetition_penalty": 1.0}
SAMPLED = {"temperature": 1.5, "top_p": 0.9, "repetition_penalty": 1.2}
END = frozenset({257})
TINY: dict[str, Callable[[], Any]] = {"llama": tiny_models.llama, "gemma": tiny_models.gemma}


def closed(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


FLAG = {"type": "boolean"}
SPAN = {"type": "string", "maxLength": 6}
DATES = {
    "type": "array",
    "items": closed({"matched": FLAG, "span": SPAN}),
    "minItems": 2,
    "maxItems": 2,
}
SCHEMAS = [
    closed({"zeta": FLAG, "alpha": FLAG}),
    closed({"date_matches": DATES, "meaning": FLAG}),
    closed({"answer": {"type": "integer", "minimum": 0, "maximum": 40}}),
    closed({"kind": {"enum": ["CORRECT", "INCORRECT"]}}),
]


@pytest.fixture(scope="module", params=TINY)
def model(request: pytest.FixtureRequest) -> Any:
    torch.set_num_threads(1)
    return TINY[request.param]()


@pytest.fixture(scope="module")
def grammars() -> Grammars:
    return Grammars(tiny_models.tokenizer(), "tiny")


def prompts(grammars: Grammars, schemas: list[Any], limit: int = 160) -> list[Prompt]:
    out = []
    for index, schema in enumerate(schemas):
        ids = tuple(b"a shared head: " + b"abc" * (index + 1))
        grammar = None if schema is None else grammars.grammar(schema, f"r{index}")
        out.append(Prompt(index, ids, 15, limit, seed=index, grammar=grammar))
    return out


def decode(
    model: Any, asked: list[Prompt], policy: Policy, how: dict[str, Any] | None = None
) -> dict[int, decoding.Decoded]:
    decoder = Decoder(model, policy, END, 258)
    rows = (row for batch in decoder.batches(asked, how or GREEDY) for row in batch)
    return {prompt.index: decoded for prompt, decoded in rows}


def text_of(row: decoding.Decoded) -> str:
    return str(tiny_models.tokenizer().decode(list(row.ids), skip_special_tokens=True))


POLICIES = [Policy(name, size) for name in ("left_padded", "shared_prefix") for size in (1, 32)]


@pytest.mark.parametrize("policy", POLICIES, ids=lambda p: f"{p.name}-{p.size}")
@pytest.mark.parametrize("how", [GREEDY, SAMPLED], ids=["greedy", "sampled"])
def test_every_answer_follows_its_schema(
    model: Any, grammars: Grammars, policy: Policy, how: dict[str, Any]
) -> None:
    schemas = [*SCHEMAS, *SCHEMAS]
    rows = decode(model, prompts(grammars, schemas), policy, how)
    for index, schema in enumerate(schemas):
        value = json.loads(text_of(rows[index]))
        jsonschema.validate(value, schema)
        assert rows[index].finish_reason == "stop"


def test_keys_come_in_the_order_of_required(model: Any, grammars: Grammars) -> None:
    properties = SCHEMAS[0]["properties"]
    for order in (["alpha", "zeta"], ["zeta", "alpha"]):
        schema = {**SCHEMAS[0], "properties": dict(sorted(properties.items())), "required": order}
        rows = decode(model, prompts(grammars, [schema]), Policy())
        assert list(json.loads(text_of(rows[0]))) == order
        assert text_of(rows[0]).startswith(f'{{"{order[0]}": ')


@pytest.mark.parametrize("policy", POLICIES, ids=lambda p: f"{p.name}-{p.size}")
def test_free_rows_in_a_mixed_batch_write_what_they_write_alone(
    model: Any, grammars: Grammars, policy: Policy
) -> None:
    mixed = [None, SCHEMAS[1], None, SCHEMAS[0]]
    together = decode(model, prompts(grammars, mixed, limit=60), policy)
    alone = decode(model, prompts(grammars, [None] * 4, limit=60), policy)
    assert together[0] == alone[0] and together[2] == alone[2]
    json.loads(text_of(together[3]))
    constrained = decode(model, prompts(grammars, [SCHEMAS[1]] * 4, limit=60), policy)
    assert together[1] == constrained[1]


def test_forced_tokens_at_once_or_one_at_a_time_are_the_same(
    model: Any, grammars: Grammars, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = prompts(grammars, [SCHEMAS[1], SCHEMAS[3], SCHEMAS[1]])
    widths: list[int] = []
    forward = type(model).forward

    def counted(self: Any, *arguments: Any, **named: Any) -> Any:
        widths.append(named["input_ids"].shape[1])
        return forward(self, *arguments, **named)

    monkeypatch.setattr(type(model), "forward", counted)
    fast = decode(model, asked, Policy(size=1))
    fast_passes = len(widths)
    # A free row has one token ahead at any time: with it the others go step by step.
    free = Prompt(99, (1,) * 20, 0, 160)
    slow = decode(model, [*asked, free], Policy(size=32))
    assert {index: slow[index] for index in fast} == fast
    assert max(widths[:fast_passes]) > 8
    written = sum(len(row.ids) for row in fast.values())
    assert fast_passes < written / 2


def test_a_limit_before_the_end_is_length_and_nothing_is_kept_beyond_it(
    model: Any, grammars: Grammars
) -> None:
    whole = decode(model, prompts(grammars, [SCHEMAS[1]]), Policy())[0]
    for limit in (1, 5, 17, 30, len(whole.ids) - 1):
        cut = decode(model, prompts(grammars, [SCHEMAS[1]], limit), Policy())[0]
        assert cut.finish_reason == "length"
        assert cut.ids == whole.ids[:limit]
    exact = decode(model, prompts(grammars, [SCHEMAS[1]], len(whole.ids)), Policy())[0]
    assert exact == whole and exact.finish_reason == "stop"


def test_an_answer_that_is_forced_as_a_whole_needs_no_choice(
    model: Any, grammars: Grammars
) -> None:
    only = closed({"verdict": {"const": "CORRECT"}})
    rows = decode(model, prompts(grammars, [only, None, only], limit=40), Policy())
    assert text_of(rows[0]) == text_of(rows[2]) == '{"verdict": "CORRECT"}'
    assert rows[0].finish_reason == "stop"
    alone = decode(model, prompts(grammars, [None] * 3, limit=40), Policy())
    assert rows[1] == alone[1]
    assert decode(model, prompts(grammars, [only, only]), Policy())[1].ids == rows[0].ids


def test_a_value_that_may_go_on_ends_with_the_end_token(model: Any, grammars: Grammars) -> None:
    rows = decode(model, prompts(grammars, [{"type": "integer"}], limit=200), Policy(), SAMPLED)
    if rows[0].finish_reason == "stop":
        assert rows[0].ids[-1] == 257
        json.loads(text_of(rows[0]))
    else:
        assert len(rows[0].ids) == 200


@settings(max_examples=15)
@given(
    st.lists(
        st.tuples(
            st.text("abcdefghij_", min_size=1, max_size=8),
            st.sampled_from([FLAG, SPAN, {"type": "integer", "minimum": 0, "maximum": 9}]),
        ),
        min_size=1,
        max_size=4,
        unique_by=lambda pair: pair[0],
    )
)
def test_schemas_of_any_shape(pairs: list[tuple[str, dict[str, Any]]]) -> None:
    schema = closed(dict(pairs))
    asked = prompts(Grammars(tiny_models.tokenizer(), "tiny"), [schema, schema])
    for row in decode(tiny_models.llama(), asked, Policy()).values():
        value = json.loads(text_of(row))
        jsonschema.validate(value, schema)
        assert list(value) == schema["required"]


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "nonsense"},
        {"not": {"type": "string"}},
        closed({"a": {"type": "string", "pattern": "(?=x)y"}}),
        closed({"a": {"$ref": "#/definitions/lost"}}),
    ],
)
def test_a_schema_that_cannot_be_compiled_names_its_request(
    grammars: Grammars, schema: dict[str, Any]
) -> None:
    with pytest.raises(BackendError, match="request r77 cannot be compiled") as caught:
        grammars.grammar(schema, "r77")
    assert "models.tiny" in str(caught.value) and "other keywords" in str(caught.value)


def test_a_slow_tokenizer_is_refused() -> None:
    with pytest.raises(BackendError, match=r"models\.m: .*tokenizer\.json"):
        Grammars(object(), "m")


def test_a_matcher_that_gave_up_is_an_error(grammars: Grammars) -> None:
    grammar = grammars.grammar(SCHEMAS[0], "r")
    writer = grammar.start()
    with pytest.raises(BackendError, match="constrained decoding failed"):
        writer.accept(ord("z"), [ord("z")])
    assert isinstance(grammar.start(), Writer)


def test_tokens_beyond_the_tokenizer_are_never_allowed(grammars: Grammars) -> None:
    writer = grammars.grammar(SCHEMAS[0], "r").start()
    mask = writer.allowed(400)
    assert mask is not None and mask.shape == (400,) and not mask[259:].any()
    assert mask.nonzero().flatten().tolist() == [tiny_models.tokenizer().convert_tokens_to_ids("{")]


# --- the backend ---------------------------------------------------------------------------------

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


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_models.save(tmp_path_factory.mktemp("constrained"), tiny_models.llama())


def backend(folder: Path, mode: str = "non_thinking", **changes: Any) -> TransformersBackend:
    return TransformersBackend(model_spec("tiny", {**ENTRY, **changes}, str(folder)), mode)


def request(question: str, schema: dict[str, Any] | None, limit: int = 120) -> Request:
    messages = [{"role": "system", "content": "Say."}, {"role": "user", "content": question}]
    return Request.create(question, {}, messages, {**GREEDY, "max_new_tokens": limit}, schema)


def test_the_backend_follows_the_schema_of_each_request(folder: Path) -> None:
    asked = [request(f"q{n}", schema) for n, schema in enumerate([*SCHEMAS, None, None])]
    rows = {r.request_id: r for r in backend(folder).generate(asked)}
    for one in asked[:4]:
        jsonschema.validate(json.loads(rows[one.request_id].text), one.response_schema)
        assert rows[one.request_id].finish_reason == "stop"
        assert rows[one.request_id].reasoning is None
    free = {r.request_id: r for r in backend(folder).generate(asked[4:])}
    assert all(rows[name].text == row.text for name, row in free.items())


def test_only_a_schema_changes_the_store_key(folder: Path) -> None:
    made = backend(folder)
    identity = made.identity()
    assert "schema" not in json.dumps(identity) and "llguidance" not in json.dumps(identity)
    free, bound = request("q", None), request("q", SCHEMAS[0])
    assert request_key(made.spec, identity, free) != request_key(made.spec, identity, bound)


def test_a_schema_that_cannot_be_compiled_stops_the_run(folder: Path) -> None:
    bad = request("q", {"type": "nonsense"})
    with pytest.raises(BackendError, match=bad.request_id):
        list(backend(folder).generate([bad]))


def test_a_schema_begins_after_the_trace(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = backend(folder, "thinking", **BOTH)
    # The tiny model never closes its trace: say that eight tokens are one.
    ended = lambda self, ids: len(ids) >= 8  # noqa: E731
    monkeypatch.setattr(TransformersBackend, "_trace_ended", ended)
    (row,) = made.generate([request("q", SCHEMAS[3])])
    plain = backend(folder, "thinking", **BOTH)
    monkeypatch.setattr(TransformersBackend, "_trace_ended", lambda self, ids: False)
    (free,) = plain.generate([request("q", SCHEMAS[3], 8)])
    assert row.text == "" and row.reasoning is not None
    assert row.reasoning.startswith((free.reasoning or "")[:4])
    value = row.reasoning[row.reasoning.index('{"kind": ') :]
    jsonschema.validate(json.loads(value), SCHEMAS[3])


def test_the_closing_tag_is_seen_in_the_last_tokens(folder: Path) -> None:
    made = backend(folder, "thinking", **BOTH)
    ids = made.renderer.tokenizer("so 7</think>")["input_ids"]
    assert made._trace_ended(ids) and not made._trace_ended(ids[:-1])


def test_a_tag_inside_the_json_is_no_trace(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written = '{"alpha": "a</think>b"}'
    monkeypatch.setattr(TransformersBackend, "_text", lambda self, ids: written)
    (row,) = backend(folder).generate([request("q", SCHEMAS[0])])
    assert (row.text, row.reasoning) == (written, None)
    (row,) = backend(folder).generate([request("q", None)])
    assert row.text == 'b"}'


EMBEDDED = Path(__file__).parents[2] / "results/models/smollm2-135m"


@pytest.mark.model
@pytest.mark.parametrize("size", [1, 4])
def test_the_embedded_model_answers_a_judges_schema(size: int) -> None:
    if not (EMBEDDED / "model.safetensors").is_file():
        pytest.skip("smollm2-135m is not converted")
    changes = {"context_length": 2048, "batch": {"policy": "shared_prefix", "size": size}}
    made = backend(EMBEDDED, **changes)
    schema = closed({"date_matches": DATES, "meaning": FLAG, "uncertain": FLAG})
    asked = [request(f"Was the rate {n} % in 2015?", schema) for n in (5, 10)]
    for row in made.generate([*asked, replace(asked[0], request_id="free", response_schema=None)]):
        if row.request_id != "free":
            jsonschema.validate(json.loads(row.text), schema)
            assert row.finish_reason == "stop"
