"""What a folder of a local model must hold, checked in milliseconds before anything is loaded.

A folder that was half downloaded loads all the same with some libraries, with random numbers in
place of what is missing. Only sizes and the headers of safetensors files are read here
(https://github.com/huggingface/safetensors#format).
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from scripts.files import DataError, parse_json

CONFIG = "config.json"
WEIGHTS = "model.safetensors"
INDEX = "model.safetensors.index.json"
GGUF_MAGIC = b"GGUF"
LFS_MARK = b"version https://git-lfs.github.com/"
# One of these holds the vocabulary of a tokeniser.
TOKENIZERS = (
    "tokenizer.json", "tokenizer.model", "sentencepiece.bpe.model", "spiece.model", "vocab.json",
    "vocab.txt", "tekken.json",
)  # fmt: skip
# The largest header that the format allows, in bytes.
_LONGEST_HEADER = 100_000_000


class ModelFolderError(DataError):
    """A folder holds no whole model; the message names the file, the caller adds the remedy."""


def _fail(path: Path, problem: str) -> ModelFolderError:
    return ModelFolderError(f"{path}: {problem}")


def check_settings(folder: Path) -> None:
    """Raise ModelFolderError unless the folder holds config.json and a tokeniser, both whole."""
    if not (folder / CONFIG).is_file():
        raise _fail(folder, f"holds no model (no {CONFIG})")
    config = _object(folder / CONFIG)
    if not config.get("model_type"):
        raise _fail(folder / CONFIG, "names no model_type, so it is not a model's configuration")
    present = [folder / name for name in TOKENIZERS if (folder / name).is_file()]
    if not present:
        raise _fail(folder / TOKENIZERS[0], "missing, and no other tokeniser is there")
    for path in present:
        if path.suffix == ".json":
            _object(path)
        else:
            _refuse_pointer(path)


def _object(path: Path) -> dict[str, Any]:
    """The JSON object of a file; strict reading is for our own files, others may repeat keys."""
    _refuse_pointer(path)
    try:
        value = json.loads(path.read_bytes())
    except ValueError as error:
        raise _fail(path, f"not valid JSON, so damaged or half downloaded ({error})") from error
    if not isinstance(value, dict):
        raise _fail(path, f"holds {type(value).__name__}, expected a JSON object")
    return value


def check_weights(folder: Path) -> None:
    """Raise ModelFolderError unless the folder's safetensors are all there and whole.

    A folder with weights in another format is left to the library that loads it.
    """
    shards = list(_shards(folder))
    for path, expected in shards:
        found = tensor_names(path)
        lost = sorted(expected - found)
        if lost:
            raise _fail(path, f"lacks {len(lost)} tensors that {INDEX} promises, first {lost[0]}")
    if not shards and not any(folder.glob("*.bin")):
        loose = len(list(folder.glob("*.safetensors")))
        problem = f"missing, though {loose} of its parts are there" if loose else "missing"
        raise _fail(folder / (INDEX if loose else WEIGHTS), problem)


def _shards(folder: Path) -> Iterator[tuple[Path, set[str]]]:
    """Weight files and the tensors that they must hold, as far as an index says."""
    if (folder / INDEX).is_file():
        table = _object(folder / INDEX).get("weight_map")
        if not isinstance(table, dict) or not table:
            raise _fail(folder / INDEX, "has no weight_map")
        for name in sorted(set(table.values())):
            yield folder / name, {tensor for tensor, file in table.items() if file == name}
    elif (folder / WEIGHTS).is_file():
        yield folder / WEIGHTS, set()


def tensor_names(path: Path) -> set[str]:
    """Names of the tensors in a safetensors file; ModelFolderError when the file is not whole."""
    if not path.is_file():
        raise _fail(path, "missing")
    _refuse_pointer(path)
    size = path.stat().st_size
    with path.open("rb") as handle:
        start = handle.read(8)
        length = struct.unpack("<Q", start)[0] if len(start) == 8 else _LONGEST_HEADER + 1
        if length > _LONGEST_HEADER:
            raise _fail(path, f"no safetensors file ({size} bytes)")
        header = handle.read(length)
    try:
        table = parse_json(header)
        end = max((entry["data_offsets"][1] for entry in _tensors(table).values()), default=0)
    except (ValueError, TypeError, KeyError, IndexError, AttributeError):
        raise _fail(path, f"cut off within its header ({size} bytes)") from None
    if size != 8 + length + end:
        raise _fail(path, f"{size} bytes, expected {8 + length + end}: half downloaded")
    return set(_tensors(table))


def _tensors(table: dict[str, Any]) -> dict[str, Any]:
    return {name: entry for name, entry in table.items() if name != "__metadata__"}


def check_gguf(path: Path) -> None:
    """Raise ModelFolderError unless the file begins as a GGUF file does."""
    if not path.is_file():
        raise _fail(path, "does not exist")
    _refuse_pointer(path)
    with path.open("rb") as handle:
        start = handle.read(8)
    if start[:4] != GGUF_MAGIC or len(start) < 8:
        raise _fail(path, f"no GGUF file (it begins with {start[:4]!r})")
    version = struct.unpack("<I", start[4:])[0]
    if version not in (2, 3):
        raise _fail(path, f"GGUF version {version}, only 2 and 3 can be read")


def _refuse_pointer(path: Path) -> None:
    """A checkout without Git LFS has a few lines of text where a large file should be."""
    with path.open("rb") as handle:
        start = handle.read(len(LFS_MARK))
    if start == LFS_MARK:
        raise _fail(path, "a Git LFS pointer, not the file itself (`git lfs pull` gets it)")
