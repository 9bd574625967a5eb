"""Loading a local language model, and its hidden states."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from transformers import AutoModelForCausalLM, AutoTokenizer

from scripts.inference.interface import BackendError, ModelSpec

DTYPES = {
    "float32": torch.float32,
    "bfloat16": torch.bfloat16,
    "float16": torch.float16,
}


def location(spec: ModelSpec) -> tuple[str, dict[str, Any]]:
    """Where `from_pretrained` finds the model, and the options that go with it.

    A prepared folder or a `.gguf` file (spec.path, or a source that is such a path) is read from
    disk only; anything else is a hub id at the entry's revision.
    """
    place = Path(spec.path or spec.source)
    if place.suffix == ".gguf":
        if not place.is_file():
            raise BackendError(f"models.{spec.name}: {place} does not exist; fetch the model first")
        return str(place.parent), {"gguf_file": place.name, "local_files_only": True}
    if spec.path is not None or place.is_dir():
        if not (place / "config.json").is_file():
            raise BackendError(
                f"models.{spec.name}: {place} holds no model (no config.json); fetch it first"
            )
        return str(place), {"local_files_only": True}
    if ":" in spec.source:
        raise BackendError(
            f"models.{spec.name}: source {spec.source!r} needs a prepared folder; none was given"
        )
    return spec.source, {"revision": spec.revision}


def dtype(spec: ModelSpec) -> torch.dtype:
    """The precision of the roster entry as a torch dtype."""
    try:
        return DTYPES[str(spec.precision)]
    except KeyError:
        raise BackendError(
            f"models.{spec.name}.precision: {spec.precision!r} cannot be computed here; use one of "
            f"{', '.join(DTYPES)}"
        ) from None


def load_tokenizer(spec: ModelSpec) -> Any:
    """The model's tokenizer, padding on the left."""
    where, options = location(spec)
    try:
        tokenizer = AutoTokenizer.from_pretrained(where, **options)
    except (OSError, ValueError) as error:
        raise BackendError(f"models.{spec.name}: no tokenizer in {where} ({error})") from error
    tokenizer.padding_side = "left"
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    return tokenizer


def load(spec: ModelSpec, device: str | None = None) -> tuple[Any, Any]:
    """(model, tokenizer) in evaluation mode on `device` (default: the GPU where there is one).

    Raises BackendError when the weights are not there or cannot be read.
    """
    where, options = location(spec)
    tokenizer = load_tokenizer(spec)
    try:
        model: Any = AutoModelForCausalLM.from_pretrained(where, dtype=dtype(spec), **options)
    except (OSError, ValueError, SafetensorError) as error:
        raise BackendError(
            f"models.{spec.name}: cannot load {where} ({error}); if a file there is damaged or "
            "half downloaded, delete the folder and run again"
        ) from error
    model.to(device or ("cuda" if torch.cuda.is_available() else "cpu"))
    model.eval()
    return model, tokenizer


@torch.no_grad()  # not inference mode: a probe may train on these tensors
def hidden_states(model: Any, tokenizer: Any, texts: Sequence[str]) -> list[torch.Tensor]:
    """Hidden states of each text, one forward pass a text.

    Each tensor has shape (L + 1, tokens, width) in float32 on the CPU: the embeddings first, then
    the output of each of the L layers (the last after the final norm, as `transformers` gives it).
    """
    out: list[torch.Tensor] = []
    for text in texts:
        encoded = tokenizer(text, return_tensors="pt").to(model.device)
        states = model(**encoded, output_hidden_states=True, use_cache=False).hidden_states
        out.append(torch.stack([state[0] for state in states]).float().cpu())
    return out
