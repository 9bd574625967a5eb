"""oneDNN computes what PyTorch computes, and is named in the identity of the answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import tiny_models
import torch
from torch import nn

from scripts.inference import kernels
from scripts.inference.backends.transformers_local import TransformersBackend
from scripts.inference.decoding import Decoder, Policy, Prompt
from scripts.inference.registry import model_spec

GREEDY = {"temperature": 0.0, "top_p": 1.0, "repetition_penalty": 1.0}
TINY: dict[str, Callable[[], Any]] = {"llama": tiny_models.llama, "gemma": tiny_models.gemma}
needs_onednn = pytest.mark.skipif(not kernels.available(), reason="this PyTorch has no oneDNN")


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


@needs_onednn
@pytest.mark.parametrize("name", TINY)
def test_the_logits_and_the_answers_are_those_of_pytorch(name: str) -> None:
    plain, fast = TINY[name](), TINY[name]()
    linear = [m for m in fast.modules() if type(m) is nn.Linear]
    assert kernels.use_onednn(fast) == len(linear) > 0
    ids = torch.tensor([list(b"count the letters of: seventeen")])
    with torch.inference_mode():
        a, b = plain(input_ids=ids).logits, fast(input_ids=ids).logits
    assert a.dtype == b.dtype
    torch.testing.assert_close(a, b, atol=1e-4, rtol=1e-4)
    asked = [Prompt(i, tuple(b"the head: " + bytes([65 + i]) * (i + 1)), 9, 12) for i in range(5)]
    answers = []
    for model in (plain, fast):
        decoder = Decoder(model, Policy("shared_prefix", 8), frozenset({257}), 258)
        answers.append([d.ids for batch in decoder.batches(asked, GREEDY) for _, d in batch])
    assert answers[0] == answers[1]


@needs_onednn
def test_an_embedding_that_is_the_output_too_stays_and_others_are_packed_once() -> None:
    embedding, own = nn.Embedding(50, 8), nn.Linear(8, 8)
    tied = nn.Linear(8, 50, bias=False)
    tied.weight = embedding.weight
    model = nn.Sequential(embedding, own, tied)
    x = torch.arange(6)
    with torch.inference_mode():
        before = model(x)
        assert kernels.use_onednn(model) == 2
        torch.testing.assert_close(model(x), before)
    assert tied.weight is embedding.weight
    assert own.weight.numel() == 0
    assert kernels.use_onednn(model) == 0


def test_other_precisions_are_left_alone() -> None:
    model = nn.Sequential(nn.Linear(4, 4)).to(torch.bfloat16)
    assert kernels.use_onednn(model) == 0
    assert type(model[0]) is nn.Linear


def test_without_onednn_nothing_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "available", lambda: False)
    model = nn.Sequential(nn.Linear(4, 4))
    assert kernels.use_onednn(model) == 0
    assert type(model[0]) is nn.Linear


ENTRY = {
    "backend": "transformers",
    "source": "tiny",
    "revision": "1",
    "precision": "float32",
    "modes": ["non_thinking"],
    "thinking": {"switch": "none"},
}


class Renderer:
    """Stands for the prompts, which are not looked at here."""

    def identity(self) -> dict[str, Any]:
        return {}


def backend(**options: Any) -> TransformersBackend:
    made = TransformersBackend(model_spec("tiny", {**ENTRY, **options}), "non_thinking")
    made._renderer = Renderer()  # type: ignore[assignment]
    return made


def test_the_kernels_are_part_of_the_identity_unless_they_are_the_default() -> None:
    plain, named = backend().identity(), backend(kernels="torch").identity()
    fast = backend(kernels="onednn").identity()
    assert plain == named
    assert "kernels" not in plain
    assert fast == {**plain, "kernels": "onednn"}


def test_the_manifest_says_what_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    from scripts.inference import models

    class Tokenizer:
        pad_token_id, eos_token_id = 258, 257

    for asked, expected in (("torch", "torch"), ("onednn", "onednn in ")):
        made = backend(kernels=asked)
        made._renderer.is_transcript = False  # type: ignore[union-attr, misc]
        monkeypatch.setattr(models, "load", lambda spec: (tiny_models.llama(), Tokenizer()))
        assert made.facts()["kernels"] == "torch"
        made._decoder()
        if kernels.available():
            assert str(made.facts()["kernels"]).startswith(expected)
