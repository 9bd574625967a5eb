"""The model roster: one checked `ModelSpec` per entry of `models:` in the configuration.

The configuration's JSON Schema checks the shape; this module checks the meaning.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scripts.inference.interface import MODES, ModelSpec

BACKENDS = ("transformers", "vllm", "openai", "archive", "baseline")
SWITCHES = ("none", "chat_template", "effort", "accounting")
TEMPLATES = ("transcript",)
BATCH_POLICIES = ("left_padded", "shared_prefix")
KERNELS = ("torch", "onednn")

_FIELDS = frozenset(
    {
        "label",
        "backend",
        "source",
        "revision",
        "precision",
        "modes",
        "thinking",
        "template",
        "context_length",
    }
)
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
# Backends whose weights answer: without a revision and a precision nobody can repeat the run.
_WEIGHTS = frozenset({"transformers", "vllm", "openai"})


class ModelEntryError(ValueError):
    """A roster entry makes no sense; the message names the model, the key and the remedy."""


def model_spec(name: str, entry: Mapping[str, Any], path: str | None = None) -> ModelSpec:
    """Check one roster entry and build its ModelSpec.

    `path` is the folder or file that the workflow prepared (converted weights, archive, baseline
    answers). Raises ModelEntryError for an entry that could not be run as written.
    """

    def fail(key: str, why: str) -> ModelEntryError:
        return ModelEntryError(f"models.{name}.{key}: {why}")

    if not _NAME.fullmatch(name):
        raise ModelEntryError(
            f"models.{name!r}: the name becomes a file name; use letters, digits, '.', '_', '-'"
        )
    backend = entry.get("backend")
    if backend not in BACKENDS:
        raise fail("backend", f"{backend!r} is not one of {', '.join(BACKENDS)}")
    source = entry.get("source")
    if not isinstance(source, str) or not source:
        raise fail("source", "missing; say which model answers (hub id, server's name, rule)")
    modes = _modes(entry.get("modes"), fail)
    thinking = _thinking(entry.get("thinking"), modes, fail)
    if backend in _WEIGHTS:
        for key in ("revision", "precision"):
            if not entry.get(key):
                raise fail(key, f"missing; the {backend} backend needs it to be repeatable")
    template = entry.get("template")
    if template is not None and template not in TEMPLATES:
        raise fail("template", f"{template!r} is not one of {', '.join(TEMPLATES)}")
    if template is not None and thinking["switch"] == "chat_template":
        raise fail("thinking", "a plain transcript has no chat-template switch")
    context = entry.get("context_length")
    if context is not None and not _positive(context):
        raise fail("context_length", f"{context!r} is not a positive number of tokens")
    _computation(entry, fail)
    for key in ("threads", "tensor_parallel", "concurrency", "concurrent_sequences"):
        if key in entry and not _positive(entry[key]):
            raise fail(key, f"{entry[key]!r} is not a positive whole number")
    if backend == "openai" and not entry.get("base_url"):
        raise fail("base_url", "missing; the openai backend needs the server's address")
    return ModelSpec(
        name=name,
        label=str(entry.get("label") or name),
        backend=backend,
        source=source,
        revision=entry.get("revision"),
        precision=entry.get("precision"),
        modes=modes,
        thinking=thinking,
        template=template,
        context_length=context,
        path=path,
        options={key: entry[key] for key in sorted(set(entry) - _FIELDS)},
    )


def prepared_path(inputs: Any) -> str | None:
    """What the workflow prepared for a model, from the inputs of a rule.

    The folder of `inputs.weights` (one file or a list), or the file `inputs.answers`, or None.
    """
    weights = inputs.get("weights")
    if weights:
        first = weights if isinstance(weights, str) else weights[0]
        return str(Path(first).parent)
    answers = inputs.get("answers")
    return str(answers) if answers else None


def _positive(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _modes(value: Any, fail: Any) -> tuple[str, ...]:
    if not isinstance(value, (list, tuple)) or not value:
        raise fail("modes", f"missing; list one or more of {', '.join(MODES)}")
    unknown = [mode for mode in value if mode not in MODES]
    if unknown:
        raise fail("modes", f"{unknown} unknown; allowed are {', '.join(MODES)}")
    if len(set(value)) != len(value):
        raise fail("modes", "a mode stands twice")
    return tuple(value)


def _thinking(value: Any, modes: tuple[str, ...], fail: Any) -> Mapping[str, Any]:
    thinking = dict(value or {"switch": "none"})
    switch = thinking.get("switch")
    if switch not in SWITCHES:
        raise fail("thinking.switch", f"{switch!r} is not one of {', '.join(SWITCHES)}")
    if switch == "chat_template" and not thinking.get("argument"):
        raise fail("thinking.argument", "missing; name the template argument that switches it")
    if switch == "none" and len(modes) > 1:
        raise fail(
            "thinking.switch", "'none' cannot tell two modes apart; name the switch or drop a mode"
        )
    return thinking


def _computation(entry: Mapping[str, Any], fail: Any) -> None:
    """How the transformers backend computes: kernels and batches."""
    kernels = entry.get("kernels", KERNELS[0])
    if kernels not in KERNELS:
        raise fail("kernels", f"{kernels!r} is not one of {', '.join(KERNELS)}")
    value = entry.get("batch")
    if value is None:
        return
    if value.get("policy", BATCH_POLICIES[0]) not in BATCH_POLICIES:
        raise fail("batch.policy", f"{value['policy']!r} is not one of {', '.join(BATCH_POLICIES)}")
    for key in ("size", "tokens"):
        if key in value and not _positive(value[key]):
            raise fail(f"batch.{key}", f"{value[key]!r} is not a positive whole number")
