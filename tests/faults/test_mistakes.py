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
import yaml

from scripts.inference import models
from scripts.inference.interface import BackendError, ModelSpec
from scripts.inference.registry import model_spec
from scripts.workflow import check, configuration
from scripts.workflow.command_line import check_profile
from scripts.workflow.config_files import ConfigurationError, place
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
        ["multitempbench.languages.fr: unknown key; allowed here: ar, de, en, ha, zh"],
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
    monkeypatch.setitem(configuration.RETIRED_KEYS, "run.seeds", "write run.seed")
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


def test_folders_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "results").write_text("a file in the way")
    problems = list(check._folder_problems(tmp_path / "results" / "replay"))
    assert any("results/replay: cannot be written" in problem for problem in problems)
