"""Loading a local language model, and its hidden states."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from transformers import AutoModelForCausalLM, AutoTokenizer

from scripts.inference.interface import BackendError, ModelSpec
from scripts.inference.model_folders import (
    ModelFolderError,
    check_gguf,
    check_settings,
    check_weights,
)

# What the libraries raise for files that are absent, damaged or of another kind.
UNREADABLE = (OSError, ValueError, SafetensorError, struct.error)
# What begins the source of a model that the workflow fetches out of packages.
EMBEDDED = "embedded:"
# Characters of a library's own explanation that are repeated.
_LONGEST_REASON = 300

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
    try:
        if place.suffix == ".gguf":
            check_gguf(place)
            return str(place.parent), {"gguf_file": place.name, "local_files_only": True}
        if spec.path is not None or place.is_dir():
            check_settings(place)
            return str(place), {"local_files_only": True}
    except ModelFolderError as error:
        raise BackendError(f"models.{spec.name}: {error}; {_remedy(spec)}") from error
    if spec.source.startswith(("/", "./", "../", "~")):
        raise BackendError(
            f"models.{spec.name}.source: no folder {spec.source}; correct the path (~ is not "
            "expanded), or fetch the model first"
        )
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
    except UNREADABLE as error:
        raise _unloadable(spec, "the tokenizer", error) from error
    tokenizer.padding_side = "left"
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    return tokenizer


def load(spec: ModelSpec, device: str | None = None) -> tuple[Any, Any]:
    """(model, tokenizer) in evaluation mode on `device` (default: the GPU where there is one).

    With no `device`, an entry with `tensor_parallel` above 1 is spread over the GPUs layer by layer
    (`device_map` of accelerate): it is larger than one of them.

    Raises BackendError when the weights are not there or cannot be read, or the GPUs are too few.
    """
    where, options = location(spec)
    check_files(spec)
    spread = device is None and _needs_several_gpus(spec)
    if spread:
        options["device_map"] = "auto"
    tokenizer = load_tokenizer(spec)
    try:
        loaded: Any = AutoModelForCausalLM.from_pretrained(
            where,
            dtype=dtype(spec),
            output_loading_info=True,
            ignore_mismatched_sizes=True,
            **options,
        )
    except UNREADABLE as error:
        raise _unloadable(spec, "the weights", error) from error
    model, report = loaded
    refuse_gaps(spec, report)
    if not spread:
        model.to(device or ("cuda" if torch.cuda.is_available() else "cpu"))
    model.eval()
    return model, tokenizer


def check_files(spec: ModelSpec) -> None:
    """BackendError unless the weights of a local folder are all there."""
    place = Path(spec.path or spec.source)
    if place.is_dir():
        try:
            check_weights(place)
        except ModelFolderError as error:
            raise BackendError(f"models.{spec.name}: {error}; {_remedy(spec)}") from error


def refuse_gaps(spec: ModelSpec, report: Mapping[str, Any]) -> None:
    """BackendError when weights were missing or of another shape: random numbers stand there."""
    missing = sorted(report["missing_keys"])
    other = sorted(str(entry[0]) for entry in report["mismatched_keys"])
    if missing or other:
        problem = f"{len(missing)} weights are missing" if missing else "weights of other sizes"
        raise BackendError(
            f"models.{spec.name}: {spec.path or spec.source}: {problem}, first "
            f"{(missing or other)[0]}; config.json and the weights are not of one model, or the "
            f"download is not whole; {_remedy(spec)}"
        )


def _unloadable(spec: ModelSpec, what: str, error: Exception) -> BackendError:
    """Why a model cannot be loaded, in one line, and what to do."""
    said = " ".join(str(error).split())
    said = said if len(said) <= _LONGEST_REASON else said[:_LONGEST_REASON] + " …"
    return BackendError(
        f"models.{spec.name}: cannot load {what} of {spec.path or spec.source} ({said}); "
        f"{_remedy(spec)}"
    )


def _remedy(spec: ModelSpec) -> str:
    """What to do about a model that is not there or not whole."""
    place = Path(spec.path or spec.source)
    if spec.source.startswith(EMBEDDED):
        return f"delete {place} and run again, which fetches and converts it"
    if place.exists() or place.suffix == ".gguf":
        return f"download it again to {place}, or correct models.{spec.name}.source"
    return (
        f"fetch it where there is a network (hf download {spec.source} --revision {spec.revision}; "
        "HF_TOKEN where its licence has to be accepted), or correct source and revision"
    )


def _needs_several_gpus(spec: ModelSpec) -> bool:
    """True when the entry asks for more than one GPU; on a machine without any, the CPU serves."""
    wanted = int(spec.options.get("tensor_parallel", 1))
    if wanted == 1 or not torch.cuda.is_available():
        return False
    found = torch.cuda.device_count()
    if found < wanted:  # accelerate would put the rest on the CPU or the disk, and never finish
        raise BackendError(
            f"models.{spec.name}: needs {wanted} GPUs (tensor_parallel), {found} are visible"
        )
    return True


@torch.no_grad()
def state_batches(
    model: Any, sequences: Sequence[Sequence[int]], size: int = 16
) -> Iterator[tuple[list[int], list[torch.Tensor]]]:
    """Hidden states of token sequences, one forward pass each, all layers at once.

    Yields (indices of the sequences, states): the states are L + 1 tensors of shape (sequences,
    tokens, width) in the model's precision, each on the device of its layer, the embeddings first
    and the last after the final norm. A batch holds up to `size` sequences of one length, so that
    nothing is padded. The output layer over the vocabulary is not computed.
    """
    decoder = model.get_decoder()
    expected = model.config.get_text_config().num_hidden_layers + 1
    by_length: dict[int, list[int]] = {}
    for index, sequence in enumerate(sequences):
        by_length.setdefault(len(sequence), []).append(index)
    for _, indices in sorted(by_length.items()):
        for begin in range(0, len(indices), size):
            chosen = indices[begin : begin + size]
            ids = torch.tensor([list(sequences[i]) for i in chosen], device=model.device)
            states = decoder(ids, output_hidden_states=True, use_cache=False).hidden_states
            if len(states) != expected:
                raise BackendError(
                    f"{type(model).__name__}: {len(states)} hidden states, expected {expected}"
                )
            yield chosen, list(states)


@torch.no_grad()  # not inference mode: a probe may train on these tensors
def hidden_states(model: Any, tokenizer: Any, texts: Sequence[str]) -> list[torch.Tensor]:
    """Hidden states of each text, one forward pass a text.

    Each tensor has shape (L + 1, tokens, width) in float32 on the CPU: the embeddings first, then
    the output of each of the L layers (the last after the final norm, as `transformers` gives it).
    """
    sequences = [tokenizer(text)["input_ids"] for text in texts]
    out = [torch.empty(0)] * len(texts)
    for (index,), states in state_batches(model, sequences, size=1):
        out[index] = torch.stack([state[0].float().cpu() for state in states])
    return out
