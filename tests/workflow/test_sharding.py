"""A model's requests split over jobs: nothing is asked twice, whatever the number of jobs."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from scripts.inference.store import Contents, read_file
from tests.workflow.conftest import CountingServer, Project, environment

pytestmark = pytest.mark.workflow

# (3 + 3) counting and (4 + 4) letter items, each with 0 and 1 demonstrations.
REQUESTS = 28
STORE = Path("results/store/syntaxbench/first")
MANIFESTS = Path("results/manifests/syntaxbench")


class Sharded(Project):
    """Runs the inference and the scores of one model."""

    targets = ("results/syntaxbench/scores/first.non_thinking.parquet",)

    def split(self, shards: int | None) -> None:
        def change(config: dict[str, Any]) -> None:
            config["models"]["first"].pop("shards", None)
            if shards is not None:
                config["models"]["first"]["shards"] = shards

        self.edit_config(change)

    def answers(self) -> dict[str, bytes]:
        """Bytes of the responses and of the scores."""
        return {
            name: content
            for name, content in self.contents().items()
            if name.startswith(("responses", "scores"))
        }

    def segments(self) -> dict[str, set[str]]:
        """Keys of the answers in every file of the store."""
        found = {}
        for path in sorted((self.root / STORE).glob("*.jsonl")):
            read_file(path, contents := Contents())
            assert contents.duplicates == 0
            found[path.name] = set(contents.answers)
        return found

    def manifest(self) -> dict[str, Any]:
        path = self.root / MANIFESTS / "first.non_thinking.json"
        return dict(json.loads(path.read_text()))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, server: CountingServer) -> Sharded:
    """Answered by one job."""
    server.asked.clear()
    server.prompts.clear()
    project = Sharded.create(tmp_path_factory.mktemp("sharding") / "project", server)
    ran = project.run()
    assert "syntaxbench_run_shard" not in ran
    project.first_asked = project.asked()
    assert project.first_asked == {"first": REQUESTS}
    return project


@pytest.fixture
def done(whole: Sharded, tmp_path: Path) -> Sharded:
    """A copy of the finished project."""
    shutil.copytree(whole.root, tmp_path / "project")
    whole.asked()
    whole.server.delays.clear()
    return Sharded(tmp_path / "project", whole.server)


@pytest.fixture
def fresh(whole: Sharded, tmp_path: Path) -> Sharded:
    """A copy of the project before its first run."""
    whole.asked()
    whole.server.delays.clear()
    project = whole.fresh(tmp_path / "project")
    return Sharded(project.root, project.server)


def test_another_number_of_shards_asks_nothing_again(done: Sharded, whole: Sharded) -> None:
    for shards in (3, 2):
        done.split(shards)
        ran = Counter(done.run())
        assert ran["syntaxbench_run_shard"] == shards and ran["syntaxbench_run_model"] == 1
        assert done.answers() == whole.answers()
        assert done.plan() == []
    assert done.asked() == {}
    assert list(done.segments()) == ["non_thinking.jsonl"]


def test_every_number_of_shards_gives_the_same_bytes(fresh: Sharded, whole: Sharded) -> None:
    fresh.split(3)
    fresh.run()
    assert fresh.asked() == {"first": REQUESTS}
    assert max(fresh.prompts.values()) == 1
    assert fresh.answers() == whole.answers()
    assert fresh.plan() == []
    segments = fresh.segments()
    assert list(segments) == [f"non_thinking.{shard}.jsonl" for shard in (1, 2, 3)]
    shares = list(segments.values())
    assert sum(map(len, shares)) == len(set.union(*shares)) == REQUESTS
    assert not list((fresh.root / MANIFESTS).glob("*shard*"))
    facts = fresh.manifest()
    assert facts["requests"] == {
        **{"total": REQUESTS, "generated": REQUESTS, "from_store": 0, "errors": 0}
    }
    assert [part["shard"]["number"] for part in facts["shards"]] == [1, 2, 3]
    assert facts["wall_seconds"] >= max(part["wall_seconds"] for part in facts["shards"])
    # Back to one job, which finds everything.
    fresh.split(None)
    fresh.run()
    assert fresh.asked() == {}
    assert fresh.answers() == whole.answers()


def test_an_added_item_is_all_that_is_asked(fresh: Sharded) -> None:
    fresh.split(3)
    fresh.run()
    fresh.asked()
    fresh.edit_config(lambda c: c["syntaxbench"]["tasks"]["count_chars"].update(items=4))
    assert Counter(fresh.run())["syntaxbench_run_shard"] == 3
    # One more English and one more random item, each with 0 and 1 demonstrations.
    assert fresh.asked() == {"first": 4}
    assert max(fresh.prompts.values()) == 1


def test_more_shards_than_requests(fresh: Sharded, whole: Sharded) -> None:
    def narrow(config: dict[str, Any]) -> None:
        config["syntaxbench"]["shots"] = [0]
        config["syntaxbench"]["headline_shots"] = 0
        config["syntaxbench"]["tasks"] = {"count_chars": {"items": 1}}

    fresh.edit_config(narrow)
    fresh.split(4)
    assert Counter(fresh.run())["syntaxbench_run_shard"] == 4
    assert fresh.asked() == {"first": 2}
    assert len(fresh.segments()) == 2


def test_a_forced_run_asks_errors_again_as_without_shards(fresh: Sharded, whole: Sharded) -> None:
    def stubborn(digest: str, body: dict[str, Any]) -> str:
        raise ConnectionError

    def once(config: dict[str, Any]) -> None:
        config["models"]["first"] |= {"max_attempts": 1, "stop_after_failures": 100}

    fresh.edit_config(once)
    fresh.split(2)
    fresh.server.replies["first"] = stubborn
    try:
        fresh.run()
    finally:
        del fresh.server.replies["first"]
    assert fresh.manifest()["requests"]["errors"] == REQUESTS
    fresh.asked()
    # What exists is up to date, also with errors in it ...
    assert fresh.run() == []
    # ... until the run is forced, which runs its shards.
    ran = Counter(fresh.run("--forcerun", "syntaxbench_run_model"))
    assert ran["syntaxbench_run_shard"] == 2
    assert fresh.asked() == {"first": REQUESTS}
    assert fresh.answers() == whole.answers()


def shard_process(root: Path, shard: int) -> psutil.Process | None:
    """The process that answers a shard of a run in this folder, once it writes the store."""
    lock = root / STORE / f".non_thinking.{shard}.jsonl.lock"
    try:
        record = json.loads(lock.read_bytes())
        return psutil.Process(int(record["process"]))
    except (OSError, ValueError, psutil.NoSuchProcess):
        return None


def wait_for(condition: Callable[[], Any], seconds: float = 180.0) -> Any:
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return found


def test_a_killed_shard_loses_its_batch_and_the_others_go_on(
    fresh: Sharded, whole: Sharded, tmp_path: Path
) -> None:
    fresh.split(2)
    fresh.server.delays["first"] = 0.4
    victim = fresh.root / STORE / "non_thinking.2.jsonl"
    with (tmp_path / "output").open("wb") as output:
        running = subprocess.Popen(
            fresh.command("--keep-going"),
            cwd=fresh.root,
            env=environment(),
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            wait_for(lambda: victim.is_file() and victim.read_bytes().count(b"\n") >= 3)
            process = wait_for(lambda: shard_process(fresh.root, 2))
            process.kill()
            assert running.wait(300) != 0
        finally:
            if running.poll() is None:
                os.killpg(running.pid, signal.SIGKILL)
                running.wait()
    fresh.server.delays.clear()
    asked = sum(fresh.asked().values())
    shares = {name: len(keys) for name, keys in fresh.segments().items()}
    # The other shard answered its whole share; of the killed one's only what was under way is lost.
    split = {name: len(keys) for name, keys in whole_shares(whole, tmp_path).items()}
    assert shares["non_thinking.1.jsonl"] == split["non_thinking.1.jsonl"]
    assert 3 <= shares["non_thinking.2.jsonl"] < split["non_thinking.2.jsonl"]
    assert asked - sum(shares.values()) <= 1
    ran = Counter(fresh.run())
    assert ran["syntaxbench_run_shard"] == 1
    assert fresh.asked() == {"first": REQUESTS - sum(shares.values())}
    assert fresh.answers() == whole.answers()


def whole_shares(whole: Sharded, tmp_path: Path) -> dict[str, set[str]]:
    """The shares of two shards that nothing disturbed."""
    other = Sharded(whole.fresh(tmp_path / "undisturbed").root, whole.server)
    other.split(2)
    other.run("--quiet", "rules")
    other.asked()
    return other.segments()
