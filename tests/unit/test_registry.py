"""The model roster."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from scripts.inference.backends import TABLE
from scripts.inference.registry import BACKENDS, ModelEntryError, model_spec

GOOD = {
    "label": "A model",
    "backend": "transformers",
    "source": "org/model",
    "revision": "main",
    "precision": "float32",
    "context_length": 2048,
    "modes": ["thinking", "non_thinking"],
    "thinking": {"switch": "chat_template", "argument": "enable_thinking"},
    "threads": 1,
    "batch": {"policy": "shared_prefix", "size": 8},
}


def test_every_entry_of_the_configuration_is_accepted() -> None:
    path = Path(__file__).parents[2] / "config.yaml"
    roster = yaml.safe_load(path.read_text(encoding="utf-8"))["models"]
    specs = [model_spec(name, entry) for name, entry in roster.items()]
    assert {spec.backend for spec in specs} <= set(BACKENDS) == set(TABLE)


def test_an_entry_becomes_a_spec() -> None:
    spec = model_spec("m", GOOD, "results/models/m")
    assert spec.modes == ("thinking", "non_thinking") and spec.path == "results/models/m"
    assert spec.options == {"batch": {"policy": "shared_prefix", "size": 8}, "threads": 1}
    assert list(spec.options) == sorted(spec.options)


def test_a_baseline_needs_neither_revision_nor_precision() -> None:
    spec = model_spec("m", {"backend": "baseline", "source": "rule", "modes": ["non_thinking"]})
    assert spec.label == "m" and spec.revision is None and spec.thinking == {"switch": "none"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"backend": "magic"}, r"models\.m\.backend: 'magic' is not one of transformers"),
        ({"source": ""}, r"source: missing"),
        ({"modes": []}, r"modes: missing"),
        ({"modes": ["dreaming"]}, r"modes: \['dreaming'\] unknown"),
        ({"modes": ["thinking", "thinking"]}, r"modes: a mode stands twice"),
        ({"thinking": {"switch": "maybe"}}, r"thinking\.switch: 'maybe'"),
        ({"thinking": {"switch": "chat_template"}}, r"thinking\.argument: missing"),
        ({"thinking": {"switch": "none"}}, r"'none' cannot tell two modes apart"),
        ({"revision": None}, r"revision: missing"),
        ({"precision": ""}, r"precision: missing"),
        ({"template": "verse"}, r"template: 'verse'"),
        ({"template": "transcript"}, r"thinking: a plain transcript has no"),
        ({"context_length": 0}, r"context_length: 0"),
        ({"context_length": True}, r"context_length: True"),
        ({"threads": "two"}, r"threads: 'two'"),
        ({"batch": {"policy": "random"}}, r"batch\.policy: 'random'"),
        ({"batch": {"size": -1}}, r"batch\.size: -1"),
        ({"kernels": "mkl"}, r"kernels: 'mkl' is not one of torch, onednn"),
        ({"backend": "openai"}, r"base_url: missing"),
    ],
)
def test_an_entry_that_makes_no_sense_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ModelEntryError, match=message):
        model_spec("m", {**GOOD, **changes})


@pytest.mark.parametrize("name", ["../up", "a/b", "", ".hidden", "sp ace"])
def test_a_name_that_is_no_file_name_is_refused(name: str) -> None:
    with pytest.raises(ModelEntryError, match="file name"):
        model_spec(name, GOOD)
