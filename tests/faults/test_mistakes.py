"""Mistakes of people: one clear message each, nothing lost, no traceback.

Every case makes one mistake for real and reads what a person would be shown. A message names the
file, the key or the row, and says what to do; it is short.
"""

from __future__ import annotations

import json
import shutil
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scripts.inference import models
from scripts.inference.interface import BackendError, ModelSpec
from scripts.inference.registry import model_spec
from tests.tiny_models import save_tiny_model

LONGEST_MESSAGE = 5  # lines


def said(message: str, *words: str) -> None:
    """Check that a message is short, without a traceback, and has the words."""
    assert len(message.strip().splitlines()) <= LONGEST_MESSAGE, message
    assert "Traceback" not in message
    for word in words:
        assert word in message, message


def tree(folder: Path) -> dict[str, bytes]:
    """Every file below a folder with its bytes."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


# ---- A model's folder --------------------------------------------------------------------------


def entry_of(source: Path | str, **changes: Any) -> ModelSpec:
    entry = {"backend": "transformers", "source": str(source), "revision": "1"}
    entry |= {"precision": "float32", "modes": ["non_thinking"], **changes}
    return model_spec("m", entry)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A whole model of 0.4 MB."""
    folder = tmp_path_factory.mktemp("models") / "whole"
    folder.mkdir()
    return save_tiny_model(folder)


@pytest.fixture(scope="module")
def sharded(whole: Path) -> Path:
    """The same model in two files with an index."""
    folder = whole.with_name("sharded")
    shutil.copytree(whole, folder, ignore=shutil.ignore_patterns("model.safetensors"))
    model, _ = models.load(entry_of(whole))
    model.save_pretrained(folder, max_shard_size="200KB")
    assert len(list(folder.glob("model-*.safetensors"))) == 2
    return folder


Change = Callable[[Path], object]
POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614\nsize 269060552\n"
SHARD = "model-00002-of-00002.safetensors"
INDEX = "model.safetensors.index.json"


def cut(name: str, share: float) -> Change:
    """Leave the first part of a file, as a download that broke off does."""

    def change(folder: Path) -> None:
        data = (folder / name).read_bytes()
        (folder / name).write_bytes(data[: int(len(data) * share)])

    return change


def removed(*names: str) -> Change:
    return lambda folder: [(folder / name).unlink() for name in names]


def text(name: str, content: str) -> Change:
    return lambda folder: (folder / name).write_text(content)


def settings(**changes: Any) -> Change:
    def change(folder: Path) -> None:
        config = json.loads((folder / "config.json").read_text())
        (folder / "config.json").write_text(json.dumps(config | changes))

    return change


def without_tensors(folder: Path) -> None:
    from safetensors.torch import load_file, save_file

    tensors = load_file(folder / "model.safetensors")
    del tensors["model.layers.0.self_attn.q_proj.weight"]
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})


def other_index(folder: Path) -> None:
    """The index of another release: a tensor that the file does not hold."""
    index = json.loads((folder / INDEX).read_text())
    index["weight_map"]["model.extra.weight"] = SHARD
    (folder / INDEX).write_text(json.dumps(index))


DAMAGED: dict[str, tuple[str, Change, list[str]]] = {
    "weights cut": ("whole", cut("model.safetensors", 0.5), ["half downloaded", "bytes, expected"]),
    "weights cut in the header": ("whole", cut("model.safetensors", 0.002), ["within its header"]),
    "weights empty": ("whole", cut("model.safetensors", 0), ["no safetensors file (0 bytes)"]),
    "weights a pointer": ("whole", text("model.safetensors", POINTER), ["Git LFS pointer"]),
    "weights a web page": ("whole", text("model.safetensors", "<html>" * 9), ["no safetensors"]),
    "weights missing": ("whole", removed("model.safetensors"), ["model.safetensors: missing"]),
    "a tensor missing": ("whole", without_tensors, ["1 weights are missing", "q_proj"]),
    "other layers": (
        "whole",
        settings(num_hidden_layers=3, layer_types=["full_attention"] * 3),
        ["11 weights are missing", "not of one model"],
    ),
    "other sizes": ("whole", settings(hidden_size=32), ["weights of other sizes"]),
    "unknown architecture": ("whole", settings(model_type="nonesuch"), ["nonesuch"]),
    "no configuration": ("whole", removed("config.json"), ["no config.json"]),
    "configuration cut": ("whole", cut("config.json", 0.5), ["config.json: not valid JSON"]),
    "configuration a pointer": ("whole", text("config.json", POINTER), ["Git LFS pointer"]),
    "configuration of something else": ("whole", text("config.json", "{}"), ["no model_type"]),
    "configuration a list": ("whole", text("config.json", "[]"), ["holds list"]),
    "no tokeniser": ("whole", removed("tokenizer.json"), ["tokenizer.json: missing"]),
    "tokeniser cut": ("whole", cut("tokenizer.json", 0.5), ["tokenizer.json: not valid JSON"]),
    "tokeniser a pointer": ("whole", text("tokenizer.json", POINTER), ["Git LFS pointer"]),
    "a shard missing": ("sharded", removed(SHARD), [f"{SHARD}: missing"]),
    "a shard cut": ("sharded", cut(SHARD, 0.7), [SHARD, "half downloaded"]),
    "a shard a pointer": ("sharded", text(SHARD, POINTER), [SHARD, "Git LFS pointer"]),
    "index missing": ("sharded", removed(INDEX), ["though 2 of its parts"]),
    "index cut": ("sharded", cut(INDEX, 0.5), ["index.json: not valid"]),
    "index of something else": ("sharded", text(INDEX, "{}"), ["weight_map"]),
    "index of another release": ("sharded", other_index, ["lacks 1 tensors", "model.extra.weight"]),
}  # fmt: skip


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_model_is_never_loaded(
    name: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    kind, change, words = DAMAGED[name]
    folder = tmp_path / "model"
    shutil.copytree(request.getfixturevalue(kind), folder)
    change(folder)
    before = tree(folder)
    with pytest.raises(BackendError) as caught:
        models.load(entry_of(folder))
    said(str(caught.value), "models.m: ", str(folder), "download it again", *words)
    assert tree(folder) == before


def test_whole_models_load(whole: Path, sharded: Path) -> None:
    """The checks refuse no good folder, also one with a tokeniser of another kind."""
    for folder in (whole, sharded):
        models.load(entry_of(folder))


def test_vllm_is_not_started_on_a_damaged_model(whole: Path, tmp_path: Path) -> None:
    """Starting the engine takes minutes; the folder is looked at before."""
    from scripts.inference.backends.vllm_offline import VllmBackend

    folder = tmp_path / "model"
    shutil.copytree(whole, folder)
    cut("model.safetensors", 0.5)(folder)
    spec = entry_of(folder, backend="vllm")
    backend = VllmBackend(spec, "non_thinking", engine=lambda: pytest.fail("started"))
    with pytest.raises(BackendError, match="half downloaded"):
        backend._load()


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("/scratch/models/qwen", ["models.m.source: no folder /scratch/models/qwen"]),
        ("./models/qwen", ["no folder ./models/qwen", "correct the path"]),
        ("~/models/qwen", ["~ is not expanded"]),
        ("Qwen/Qwen3-0.6B", ["Qwen/Qwen3-0.6B", "hf download Qwen/Qwen3-0.6B --revision 1"]),
        ("Qwen/Qw/en", ["Qwen/Qw/en", "correct source"]),
        ("embedded:smollm2-135m", ["needs a prepared folder"]),
    ],
)
def test_a_model_that_is_nowhere(source: str, words: list[str]) -> None:
    """The tests run with the hub offline."""
    with pytest.raises(BackendError) as caught:
        models.load(entry_of(source))
    said(str(caught.value), "models.m", *words)


def gguf_header(version: int) -> bytes:
    return b"GGUF" + struct.pack("<I", version) + bytes(100)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (None, ["does not exist"]),
        (b"<html>Not found</html>", ["no GGUF file", "b'<htm'"]),
        (b"", ["no GGUF file"]),
        (POINTER.encode(), ["Git LFS pointer"]),
        (gguf_header(1), ["GGUF version 1, only 2 and 3"]),
        (gguf_header(3)[:20], ["cannot load the tokenizer"]),
    ],
    ids=["missing", "web page", "empty", "pointer", "old", "cut"],
)
def test_a_wrong_gguf_file(tmp_path: Path, data: bytes | None, words: list[str]) -> None:
    file = tmp_path / "m.gguf"
    if data is not None:
        file.write_bytes(data)
    with pytest.raises(BackendError) as caught:
        models.load(entry_of(file))
    said(str(caught.value), "models.m: ", str(file), "download it again to", *words)
