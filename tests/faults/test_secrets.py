"""No key is in anything that a run writes, whatever a server does with the keys that it is sent.

A run of TIDE with two hosted models and a hosted embedder, whose server repeats the keys in
answers, errors, headers and pages, in many spellings; some requests fail, one run is refused, one
crashes. Then every file is searched for every key, unpacked and in every spelling.
"""

from __future__ import annotations

import base64
import gzip
import html
import json
import re
import subprocess
import sys
import threading
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote_to_bytes

import psutil
import pytest
import yaml
from snakemake.utils import update_config

from scripts.workflow import check
from tests.faults.echoing_server import DIMENSIONS, EchoingServer, spelled
from tests.workflow.conftest import SNAKEMAKE, copy_project, environment
from tests.workflow.test_tide_workflow import THREADS, reply

KEYS = {
    # Long, in the environment, for the model that answers.
    "ANSWERER_KEY": "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",
    # In a file that Windows saved, with what regular expressions and JSON read otherwise.
    "councillor": "Zq7.+*(a|b)[c]?$^{2}\\d-\"w8'<x>&y=/%2B",
    # Short.
    "EMBEDDER_KEY": "s3cr3t-q",
    # For nobody here; libraries would send or print them.
    "HF_TOKEN": "hf_" + "QwErTy12" * 4,
    "OPENAI_API_KEY": "sk-proj-" + "Ab9" * 14,
}
REMOVED = "[key removed]"


# ---- Looking for keys --------------------------------------------------------------------------


def forms(key: str) -> set[bytes]:
    """Every spelling that is looked for, without case and white space."""
    data = key.encode()
    found = {key, key[::-1], quote(key, safe=""), quote(key), json.dumps(key)[1:-1]}
    found |= {html.escape(key), key.translate({34: "&#34;", 38: "&amp;", 39: "&#39;", 60: "&lt;"})}
    found |= {data.hex(), "".join(f"\\u{ord(letter):04x}" for letter in key)}
    found |= {repr(key)[1:-1], "".join(f"&#{ord(letter)};" for letter in key)}
    for shift in range(3):
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            text = encode(b"\0" * shift + data).decode().rstrip("=")
            found.add(text[(0, 2, 3)[shift] : (shift + len(data)) * 8 // 6])
    return {form.casefold().encode() for form in found}


FORMS = {name: forms(key) for name, key in KEYS.items()}
GAPS = re.compile(rb"\s+|\\n|\\r|\\t")
DATA_ADDRESS = re.compile(rb"data:[\w./+-]*(?:;charset=[\w-]+)?(;base64)?,([^\"'\s<>)]+)")


def unpacked(data: bytes, depth: int = 0) -> Iterator[bytes]:
    """The bytes, and what is packed in them: gzip, zip, PDF streams, Parquet, data addresses."""
    yield data
    if depth > 3:
        return
    inner: list[bytes] = []
    with suppress(OSError, EOFError, zlib.error):
        if data[:2] == b"\x1f\x8b":
            inner.append(gzip.decompress(data))
    with suppress(zipfile.BadZipFile, NotImplementedError, zlib.error):
        if data[:2] == b"PK":
            with zipfile.ZipFile(BytesIO(data)) as archive:
                inner += [archive.read(name) for name in archive.namelist()]
                inner.append(archive.comment)
    if data[:4] == b"%PDF":
        for stream in re.findall(rb"stream\r?\n(.*?)endstream", data, re.DOTALL):
            with suppress(zlib.error):
                inner.append(zlib.decompressobj().decompress(stream))
    if data[:4] == b"PAR1":
        import pyarrow.parquet as pq

        inner.append(json.dumps(pq.read_table(BytesIO(data)).to_pylist(), default=str).encode())
    if data[:2] == b"\x78\x9c":
        with suppress(zlib.error):
            inner.append(zlib.decompress(data))
    for packed, text in DATA_ADDRESS.findall(data):
        with suppress(ValueError):
            inner.append(base64.b64decode(text) if packed else unquote_to_bytes(text))
    for part in inner:
        yield from unpacked(part, depth + 1)


def keys_in(data: bytes) -> set[str]:
    """Names of the keys that stand in the data in any spelling."""
    found = set()
    for part in unpacked(data):
        plain = part.lower()
        views = (plain, GAPS.sub(b"", plain))
        for name, spellings in FORMS.items():
            if any(form in view for form in spellings for view in views):
                found.add(name)
    return found


def keys_below(*folders: Path) -> dict[str, set[str]]:
    """Files with keys in them, or in their names."""
    out = {}
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            found = keys_in(str(path.relative_to(folder)).encode())
            if path.is_file() and not path.is_symlink():
                found |= keys_in(path.read_bytes())
            if found:
                out[str(path)] = found
    return out


@pytest.mark.parametrize("name", KEYS)
def test_the_search_finds_what_a_server_writes(name: str, tmp_path: Path) -> None:
    """A search that finds nothing proves nothing unless it can find."""
    key = KEYS[name]
    texts = [*spelled(key), json.dumps({"text": key})]
    for text in texts:
        assert name in keys_in(f"before {text} after".encode()), text
    packed = gzip.compress(f"x{key}".encode())
    archive = BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("inner.gz", packed)
    pdf = b"%PDF-1.7\n1 0 obj\nstream\n" + zlib.compress(f"x{key}".encode()) + b"\nendstream\n"
    page = b"<img src='data:application/gzip;base64," + base64.b64encode(packed) + b"'>"
    for data in (packed, archive.getvalue(), pdf, page, b"log of " + page):
        assert name in keys_in(data)
    import pandas as pd

    pd.DataFrame({"text": [f"x{key}"] * 3}).to_parquet(tmp_path / "scores.parquet")
    assert set(keys_below(tmp_path)) == {str(tmp_path / "scores.parquet")}
    assert not keys_in(b"Nothing here: sk-or-v1-, hf_, a secret.")


# ---- The run -----------------------------------------------------------------------------------


class Watch:
    """Looks at the command lines of all processes below this one, for keys."""

    def __init__(self) -> None:
        self.found: dict[str, set[str]] = {}
        self.seen = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def _look(self) -> None:
        own = psutil.Process()
        while not self._stop.wait(0.1):
            for process in own.children(recursive=True):
                with suppress(psutil.Error):
                    line = " ".join(process.cmdline())
                    self.seen += 1
                    if found := keys_in(line.encode()):
                        self.found[line] = found

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(self, *arguments: object) -> None:
        self._stop.set()
        self._thread.join()


class Run:
    """A copy of the project, its server, and everything that its commands printed."""

    def __init__(self, root: Path, server: EchoingServer, key_file: Path) -> None:
        self.root, self.server, self.printed = root, server, b""
        self.watch = Watch()
        self.refused: tuple[int, str] = (0, "")
        self.crashed: tuple[int, str] = (0, "")
        config = yaml.safe_load((root / "config.yaml").read_text())
        update_config(config, yaml.safe_load((root / "config" / "embedded.yaml").read_text()))
        config["run"]["benchmarks"] = ["tide"]
        model = {
            "label": "M", "backend": "openai", "revision": "1", "precision": "hosted",
            "base_url": server.url, "modes": ["non_thinking"], "thinking": {"switch": "none"},
            "tokenizer": "none", "concurrency": 2, "backoff_seconds": 0.01, "provider": "echo",
        }  # fmt: skip
        answerer = {**model, "label": "A", "source": "a", "api_key_environment": "ANSWERER_KEY"}
        councillor = {**model, "label": "C", "source": "c", "api_key_file": str(key_file)}
        config["models"] = {"answerer": answerer, "councillor": councillor}
        config["embedders"]["hosted"] = {
            "label": "H", "backend": "openai", "source": "e", "base_url": server.url,
            "provider": "echo", "dimensions": DIMENSIONS, "backoff_seconds": 0.01,
            "api_key_environment": "EMBEDDER_KEY",
        }  # fmt: skip
        section = config["tide"]
        section |= {"models": ["answerer"], "baselines": []}
        section["construction"] |= {"pairs_per_task": None, "embedder": "hosted"}
        section["retrieval"] |= {"embedder": "hosted", "depth": 2}
        section["retrieval"]["ablation"] = {"embedders": ["hosted"], "depths": [2], "models": []}
        section["judging"]["council"] = ["rule_judge", "overlap_judge", "councillor"]
        section["statistics"]["resamples"] = 50
        (root / "config.yaml").write_text(yaml.safe_dump(config, sort_keys=False))
        questions = root / "data" / "embedded" / "tide" / "questions.jsonl"
        rows = [json.loads(line) for line in questions.read_text().splitlines()]
        kept = [row for row in rows if row["thread_id"] in THREADS[:1]]
        questions.write_text("".join(json.dumps(row) + "\n" for row in kept))

    def command(self, *arguments: str, **variables: str) -> int:
        """Run a command in the project with every key in the environment; keep what it prints."""
        known = {name: key for name, key in KEYS.items() if name.isupper()}
        known["EMBEDDER_KEY"] += "\r\n"
        quiet = {"OPENAI_ORG_ID": "org-0123456789", "PYTHONFAULTHANDLER": "1"}
        finished = subprocess.run(
            arguments,
            cwd=self.root,
            env={**environment(), **known, **quiet, **variables},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        self.printed += finished.stdout
        self.last = finished.stdout.decode()
        return finished.returncode

    def snakemake(self, *arguments: str, **variables: str) -> int:
        return self.command(str(SNAKEMAKE), "--cores", "2", *arguments, **variables)


TARGETS = ("statistics", "results/tide/tables/main.tex", "results/paper/numbers.tex")
CRASHING = "        limit = self.settings.timeout_seconds\n"
CRASH = """        marked = f"Bearer {self._key}"
        raise KeyError("a mistake in the code")
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    """A refused run, a whole one, a crash, an explanation and a report."""
    folder = tmp_path_factory.mktemp("secrets")
    key_file = folder / "keys" / "councillor.key"
    key_file.parent.mkdir()
    key_file.write_bytes(KEYS["councillor"].encode() + b"\r\n")
    with EchoingServer(reply) as server:
        made = Run(copy_project(folder / "project"), server, key_file)
        with made.watch:
            server.refusing = True
            status = made.snakemake("--verbose", "--show-failed-logs", *TARGETS)
            made.refused = status, made.last
            server.refusing = False
            module = made.root / "scripts" / "inference" / "backends" / "openai_compatible.py"
            code = module.read_text()
            assert code.count(CRASHING) == 1
            module.write_text(code.replace(CRASHING, CRASH + CRASHING))
            status = made.snakemake("--verbose", *TARGETS)
            made.crashed = status, made.last
            module.write_text(code)
            assert made.command(sys.executable, "-m", "scripts.workflow.explain") == 0, made.last
            made.command(sys.executable, "-m", "scripts.workflow.check")
            done = made.snakemake(
                "--verbose", *TARGETS, OPENAI_LOG="debug", HTTPX_LOG_LEVEL="debug"
            )
            assert done == 0, made.last[-4000:]
            assert made.snakemake("--report", "results/report.html", *TARGETS) == 0, made.last
        yield made


@pytest.mark.workflow
def test_every_key_reaches_its_server_and_no_other(run: Run) -> None:
    expected = {KEYS[name] for name in ("ANSWERER_KEY", "councillor", "EMBEDDER_KEY")}
    assert set(run.server.keys) == expected
    for headers in run.server.sent:
        # A cookie is the server's own, and goes back to nobody else.
        rest = {k: v for k, v in headers.items() if k not in ("authorization", "cookie")}
        assert not keys_in(json.dumps(rest).encode())
        assert "org-0123456789" not in rest.values()


@pytest.mark.workflow
def test_no_key_is_in_any_file(run: Run) -> None:
    files = [path for path in run.root.rglob("*") if path.is_file()]
    kinds = {path.suffix for path in files}
    assert {".jsonl", ".json", ".csv", ".parquet", ".html", ".log", ".tex", ".npz"} <= kinds
    assert any(".snakemake" in path.parts for path in files)
    assert keys_below(run.root) == {}


@pytest.mark.workflow
def test_no_key_is_printed(run: Run) -> None:
    assert len(run.printed) > 20_000
    assert keys_in(run.printed) == set()


@pytest.mark.workflow
def test_no_key_is_on_a_command_line(run: Run) -> None:
    assert run.watch.seen > 20
    assert run.watch.found == {}


@pytest.mark.workflow
def test_answers_and_errors_say_that_a_key_was_removed(run: Run) -> None:
    """The echoes did come: without them the search above would prove nothing."""
    stores = list((run.root / "results" / "store").rglob("*.jsonl"))
    for model in ("answerer", "councillor"):
        text = "".join(path.read_text() for path in stores if model in str(path))
        assert text.count(REMOVED) > 20, model
    manifests = "".join(p.read_text() for p in (run.root / "results/manifests").rglob("*.json"))
    assert f"echo/Bearer {REMOVED}" in manifests


@pytest.mark.workflow
def test_a_refused_key_names_its_variable(run: Run) -> None:
    status, printed = run.refused
    assert status != 0
    assert "check the key in EMBEDDER_KEY" in printed or "check ANSWERER_KEY" in printed
    assert REMOVED in printed


@pytest.mark.workflow
def test_a_crash_shows_where_and_no_values(run: Run) -> None:
    status, printed = run.crashed
    assert status != 0
    assert "a mistake in the code" in printed and "openai_compatible.py" in printed


# ---- A key in the wrong place ------------------------------------------------------------------

LONG = KEYS["ANSWERER_KEY"]
# Of no known provider: only the environment tells that it is a key.
PLAIN = "Zx81qWert70yUiOp29asDf"
HOSTED = {
    "label": "H", "backend": "openai", "source": "h", "revision": "1", "precision": "hosted",
    "base_url": "https://host.invalid/v1", "api_key_environment": "HOST_KEY",
    "modes": ["non_thinking"],
}  # fmt: skip
PASTED: dict[str, tuple[dict[str, Any], str]] = {
    "a field of its own": ({"api_key": LONG}, "models.hosted.api_key: an API key stands here"),
    "a plain word as key": ({"api_key": "hunter2"}, "models.hosted.api_key: an API key stands"),
    "for the name of the variable": (
        {"api_key_environment": LONG},
        "models.hosted.api_key_environment: an API key stands here",
    ),
    "for its file": ({"api_key_file": LONG}, "models.hosted.api_key_file: an API key stands here"),
    "a file of the checkout": (
        {"api_key_file": "config/secret.key"},
        "models.hosted.api_key_file: config/secret.key lies inside the repository",
    ),
    "a link into the checkout": (
        {"api_key_file": "{link}"},
        "lies inside the repository, where it could be committed or packed with the results",
    ),
    "in the body": ({"extra_body": {"api_key": LONG}}, "models.hosted.extra_body.api_key: an API"),
    "in a header": (
        {"extra_body": {"extra_headers": {"Authorization": "Bearer abcdef"}}},
        "models.hosted.extra_body.extra_headers.Authorization: an API key stands here",
    ),
    "in a list": ({"extra_body": {"stop": ["x", LONG]}}, "models.hosted.extra_body.stop.1: an API"),
    "in the engine": ({"engine": {"hf_token": KEYS["HF_TOKEN"]}}, "models.hosted.engine.hf_token:"),
    "as user of the address": (
        {"base_url": f"https://me:{PLAIN}@host.invalid/v1"},
        "models.hosted.base_url: ",
    ),
    "in the query of the address": (
        {"base_url": "https://host.invalid/v1?key=abcdefgh"},
        "models.hosted.base_url: a user, password, query or fragment stands in the address",
    ),
    "as model": ({"source": LONG}, "models.hosted.source: an API key stands here"),
    "known from the environment": ({"label": f"H {PLAIN}"}, "models.hosted.label: an API key"),
    "of a wrong type": ({"modes": LONG}, "models.hosted.modes: an API key stands here"),
}


def asked(tmp_path: Path, overlay: dict[str, Any]) -> list[str]:
    file = tmp_path / "overlay.yaml"
    file.write_text(yaml.safe_dump(overlay))
    return ["--configfile", "config/embedded.yaml", str(file)]


@pytest.fixture
def wrong(
    repository: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[[list[str]], str]:
    """Runs the check, which must fail; gives what it prints."""
    monkeypatch.chdir(repository)
    monkeypatch.setenv("SOME_SERVICE_TOKEN", PLAIN)

    def failing(arguments: list[str]) -> str:
        assert check.main(arguments) == 1
        printed = capsys.readouterr()
        return printed.out + printed.err

    return failing


@pytest.mark.parametrize("place", PASTED)
def test_a_pasted_key_is_refused_and_not_repeated(
    place: str, tmp_path: Path, repository: Path, wrong: Callable[[list[str]], str]
) -> None:
    changes, words = PASTED[place]
    link = tmp_path / "link"
    link.symlink_to(repository / "config.yaml")
    entry = json.loads(json.dumps(HOSTED | changes).replace("{link}", str(link)))
    overlay = {"models": {"hosted": entry}, "syntaxbench": {"models": ["hosted"]}}
    printed = wrong(asked(tmp_path, overlay))
    assert words in printed and "overlay.yaml, line" in printed
    assert "api_key_environment: NAME" in printed or "move the key out of it" in printed
    for text in (LONG, PLAIN, KEYS["HF_TOKEN"], "hunter2", "abcdef"):
        assert text not in printed
    assert len(printed.splitlines()) <= 5


def test_a_key_as_a_name_is_not_repeated(tmp_path: Path, wrong: Callable[[list[str]], str]) -> None:
    for overlay in ({"models": {LONG: HOSTED}}, {LONG: 1}, {"embedders": {"e": {LONG: 1}}}):
        printed = wrong(asked(tmp_path, overlay))
        assert "a key of a provider stands here as a name" in printed
        assert LONG not in printed


def test_a_pasted_key_stops_snakemake_and_is_not_repeated(tmp_path: Path) -> None:
    root = copy_project(tmp_path / "project")
    overlay = root / "mine.yaml"
    overlay.write_text(f"models:\n  gpt-4o:\n    api_key: {LONG}\n")
    command = [str(SNAKEMAKE), "-n", "items", "--configfile", "config/embedded.yaml", "mine.yaml"]
    finished = subprocess.run(
        command, cwd=root, env=environment(), capture_output=True, text=True, check=False
    )
    assert finished.returncode != 0
    printed = finished.stdout + finished.stderr
    assert "models.gpt-4o.api_key: an API key stands here" in printed
    assert "mine.yaml, line 3" in printed and LONG not in printed and "Traceback" not in printed
    overlay.unlink()
    assert not keys_below(root)
