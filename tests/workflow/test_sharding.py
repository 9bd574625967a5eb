"""A model's requests split over jobs: nothing is asked twice, whatever the number of jobs."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from scripts.inference.store import Contents, read_file
from tests.workflow.conftest import CountingServer, Project

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
    # Back to one job, which finds everything.
    fresh.split(None)
    fresh.run()
    assert fresh.asked() == {}
    assert fresh.answers() == whole.answers()
