"""Copies of the project in which Snakemake is run: never the checkout itself.

`checkout` is the project as it is, without results; `built` has a tiny matrix, answered by a server
that counts what it is asked; `replay_statistics` is the replay of the published margins.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests import small_tokeniser

ROOT = Path(__file__).resolve().parents[2]
SNAKEMAKE = Path(sys.executable).with_name("snakemake")
COPIED = (
    *("Snakefile", "config.yaml", "config", "rules", "scripts", "envs", "profiles", "paper"),
    *("data/embedded", "data/languages", "data/published", "LICENSE", "CITATION.cff"),
)


def as_prompt(messages: list[dict[str, str]]) -> str:
    """Messages as the server counts them."""
    return json.dumps(messages, sort_keys=True)


class CountingServer(ThreadingHTTPServer):
    """An OpenAI-compatible server whose answer depends on the prompt alone; it keeps count."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked: Counter[str] = Counter()
        # The same requests by (model, messages as JSON).
        self.prompts: Counter[tuple[str, str]] = Counter()
        # How a model answers a request, given its digest and its body; any other one answers as
        # SyntaxBench asks.
        self.replies: dict[str, Callable[[str, dict[str, Any]], str]] = {}
        # Seconds that a model waits before it answers.
        self.delays: dict[str, float] = {}
        # Jobs ask at the same time.
        self.lock = threading.Lock()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class Handler(BaseHTTPRequestHandler):
    server: CountingServer

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        model, prompt = body["model"], as_prompt(body["messages"])
        time.sleep(self.server.delays.get(model, 0.0))
        digest = hashlib.sha256((model + prompt).encode()).hexdigest()
        with self.server.lock:
            self.server.asked[model] += 1
            self.server.prompts[model, prompt] += 1
        if model in self.server.replies:
            content = self.server.replies[model](digest, body)
        else:
            result: Any = int(digest[:2], 16) % 12
            if "yes" in body["messages"][0]["content"].lower():
                result = ("yes", "no")[int(digest[0], 16) % 2]
            content = json.dumps({"result": result})
        reply = {
            "id": "x",
            "object": "chat.completion",
            "created": 0,
            "model": model,
            "choices": [
                {
                    "index": 0,
                    "finish_reason": "stop",
                    "message": {"role": "assistant", "content": content},
                }
            ],
            "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
        }
        data = json.dumps(reply).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *arguments: Any) -> None:
        """Keep the test's output quiet."""


def copy_project(root: Path) -> Path:
    """Everything that a run reads, without results and without what was downloaded."""
    root.mkdir(parents=True)
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, root / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, root / name)
    return root


def environment() -> dict[str, str]:
    """The environment without what another Snakemake, or a rule script, left in it."""
    return {
        key: value
        for key, value in os.environ.items()
        if not key.startswith("SNAKEMAKE") and key != "PYTHONPATH"
    }


def run_snakemake(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Snakemake in a copy of the project; standard output holds both streams."""
    return subprocess.run(
        [str(SNAKEMAKE), *arguments],
        cwd=root,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


class Project:
    """A checkout with a tiny configuration in which Snakemake is run."""

    benchmark = "syntaxbench"
    targets: tuple[str, ...] = ("statistics",)

    def __init__(self, root: Path, server: CountingServer) -> None:
        self.root = root
        self.server = server
        # Requests of the first run, and those that `asked` counted last.
        self.first_asked: Counter[str] = Counter()
        self.prompts: Counter[tuple[str, str]] = Counter()

    @classmethod
    def create(cls, root: Path, server: CountingServer) -> Project:
        copy_project(root)
        project = cls(root, server)
        project.edit_config(project._shrink)
        return project

    def _shrink(self, config: dict[str, Any]) -> None:
        embedded = yaml.safe_load((self.root / "config" / "embedded.yaml").read_text())
        config["run"] |= {"kind": "embedded", "benchmarks": ["syntaxbench"]}
        section = config["syntaxbench"]
        section["corpora"] = embedded["syntaxbench"]["corpora"]
        section["document_words"] = embedded["syntaxbench"]["document_words"]
        section["shots"] = [0, 1]
        section["headline_shots"] = 1
        section["tasks"] = {"count_chars": {"items": 3}, "letter_container": {"items": 4}}
        section["models"] = ["first"]
        section["baselines"] = ["majority"]
        section["statistics"]["resamples"] = 200
        config["models"] = {
            "first": self.model("first"),
            "majority": config["models"]["majority"],
        }

    def model(self, name: str) -> dict[str, Any]:
        """A roster entry that the counting server answers."""
        return {
            "label": name.title(),
            "backend": "openai",
            "source": name,
            "revision": "1",
            "precision": "float32",
            "base_url": self.server.url,
            "modes": ["non_thinking"],
            "thinking": {"switch": "none"},
            "tokenizer": "none",
            "concurrency": 1,
        }

    def add_model(self, name: str) -> str:
        """Write the overlay with which a user adds a model to the benchmark; its file's name.

        Less than ten lines. The model brings a tokeniser of its own.
        """
        (self.root / "tokenizer.json").write_text(small_tokeniser.description())
        config = yaml.safe_load((self.root / "config.yaml").read_text())
        models = ", ".join([*config[self.benchmark]["models"], name])
        overlay = (
            f"models:\n  {name}:\n"
            f"    {{label: {name.title()}, backend: openai, source: {name}, revision: '1',\n"
            "     precision: float32, modes: [non_thinking], tokenizer: {file: tokenizer.json},\n"
            f"     base_url: '{self.server.url}', concurrency: 1}}\n"
            f"{self.benchmark}: {{models: [{models}]}}\n"
        )
        assert len(overlay.splitlines()) < 10
        (self.root / "new_model.yaml").write_text(overlay)
        return "new_model.yaml"

    def edit_config(self, change: Any) -> None:
        path = self.root / "config.yaml"
        config = yaml.safe_load(path.read_text())
        change(config)
        path.write_text(yaml.safe_dump(config, sort_keys=False))

    def edit(self, file: str, old: str, new: str) -> None:
        path = self.root / file
        text = path.read_text()
        assert old in text, f"{old!r} is not in {file}"
        path.write_text(text.replace(old, new, 1))

    def command(self, *arguments: str) -> list[str]:
        return [str(SNAKEMAKE), "--cores", "2", *self.targets, *arguments]

    def run(self, *arguments: str, fails: bool = False) -> list[str]:
        """Run Snakemake; return the names of the rules that ran, one entry a job."""
        finished = run_snakemake(self.root, *self.command(*arguments)[1:])
        self.output = finished.stdout
        assert (finished.returncode != 0) is fails, self.output
        ran = re.findall(r"^(?:local)?rule (\w+):", self.output, re.M)
        return [rule for rule in ran if rule not in ("statistics", "all")]

    def plan(self) -> list[str]:
        return self.run("--dry-run")

    def asked(self) -> Counter[str]:
        """Requests per model since the last call; `prompts` has them one by one."""
        counted = Counter(self.server.asked)
        self.prompts = Counter(self.server.prompts)
        self.server.asked.clear()
        self.server.prompts.clear()
        return counted

    def contents(self) -> dict[str, bytes]:
        """Bytes of every output that must not depend on when and how it was built."""
        results = self.root / "results" / self.benchmark
        return {
            str(p.relative_to(results)): p.read_bytes()
            for p in sorted(results.rglob("*"))
            if p.is_file()
        }

    def fresh(self, to: Path) -> Project:
        """The project as this one began: the same code, also where the checkout has changed."""
        made = shutil.ignore_patterns(".snakemake", "__pycache__", "results")
        shutil.copytree(self.root, to, ignore=made)
        return type(self)(to, self.server)

    def copy(self, to: Path) -> Project:
        """A clone with the results but without Snakemake's memory, files as new as a clone's."""
        shutil.copytree(self.root, to, ignore=shutil.ignore_patterns(".snakemake", "__pycache__"))
        for path in to.rglob("*"):
            if path.is_file() and not path.is_relative_to(to / "results"):
                os.utime(path)
        return type(self)(to, self.server)


@pytest.fixture(scope="session")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project as a fresh clone has it; tests only plan in it."""
    return copy_project(tmp_path_factory.mktemp("checkout") / "project")


@pytest.fixture(scope="session")
def replay_statistics(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the replay's statistics, made here unless REPLAY_RESULTS names its results."""
    if named := os.environ.get("REPLAY_RESULTS"):
        return ROOT / named / "syntaxbench" / "statistics"
    root = copy_project(tmp_path_factory.mktemp("replay") / "project")
    targets = ("statistics", "results/replay/reproduction/syntaxbench.csv")
    arguments = ("--cores", "2", *targets, "--configfile", "config/replay.yaml")
    finished = run_snakemake(root, *arguments)
    assert finished.returncode == 0, finished.stdout
    return root / "results" / "replay" / "syntaxbench" / "statistics"


@pytest.fixture(scope="session")
def server() -> Iterator[CountingServer]:
    running = CountingServer()
    yield running
    running.shutdown()
    running.server_close()


@pytest.fixture(scope="module", autouse=True)
def plain_server(server: CountingServer) -> Iterator[None]:
    """What the tests of one file taught the server, and asked it, is forgotten at their end.

    At the end only: a fixture of the session is made before those of a file.
    """
    yield
    for memory in (server.replies, server.delays, server.asked, server.prompts):
        memory.clear()


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory, server: CountingServer) -> Project:
    """The tiny matrix, built once; tests change copies of it."""
    project = Project.create(tmp_path_factory.mktemp("tiny") / "project", server)
    project.run()
    project.first_asked = project.asked()
    return project


@pytest.fixture
def project(built: Project, tmp_path: Path) -> Project:
    """A private copy of the built project, Snakemake's memory included."""
    shutil.copytree(built.root, tmp_path / "project")
    built.asked()
    built.server.delays.clear()
    return type(built)(tmp_path / "project", built.server)
