"""The SLURM profile on a real scheduler: a slice of SyntaxBench, and the same slice run locally.

Four jobs of one GPU and one of two share the two GPUs of the node; one of them is killed while it
answers. SLURM places and counts what its node says it has; the GPUs themselves are stand-ins.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import combinations
from pathlib import Path
from typing import Any

import psutil
import pytest
import yaml

from tests.slurm.conftest import Cluster
from tests.tiny_models import save_tiny_model
from tests.workflow.conftest import ROOT, SNAKEMAKE, copy_project

pytestmark = pytest.mark.slurm

# The killed model and the one with two GPUs are real, the others random weights. `third` is split
# over two jobs.
GPUS = {"first": 1, "second": 1, "third": 1, "pair": 2, "plain": 0}
SHARDED = "third"
KILLED = "first"
REAL = ("first", "pair")
EMBEDDED = "smollm2-135m"
# (2 + 2) counting and (2 + 2) letter items, each with 0 and 1 demonstrations.
REQUESTS = 16
# Answers that are in the store when the job is killed, at least.
BEFORE_THE_KILL = 2
# Seconds between two looks at the queue.
SAMPLE = 0.25
TARGETS = (
    "results/syntaxbench/scores.parquet",
    "results/syntaxbench/tables/parse_errors.csv",
    "results/syntaxbench/tables/shots.csv",
    "results/paper/numbers.tex",
)
# What says when, where and how long; the last one has checksums of all the others.
OF_THE_RUN = ("logs", "manifests", "benchmarks", "store", "models", "provenance.jsonl")
# Commented with the rule and its wildcards by the executor plugin.
COMMENT = "rule_syntaxbench_run_model_wildcards_"
FIELDS = ("JobID", "Partition", "TimeLimit", "MinMemory", "tres-per-job", "Comment")


@dataclass(frozen=True)
class Job:
    """A job in the queue, as squeue shows it."""

    number: int
    partition: str
    time_limit: str
    # Of its node, in MB.
    memory: int
    gpus: int
    comment: str


@dataclass
class Watch:
    """What was seen in the queue while the run went on."""

    # The running jobs and the GPUs that the node had given away.
    samples: list[tuple[list[Job], int]] = field(default_factory=list)
    killed: Job | None = None
    problem: BaseException | None = None

    def jobs(self, comment: str = "") -> list[Job]:
        """All jobs that were seen running, in the order of their numbers."""
        seen = {job.number: job for jobs, _ in self.samples for job in jobs}
        return [seen[number] for number in sorted(seen) if seen[number].comment.startswith(comment)]


def running(cluster: Cluster) -> list[Job]:
    width = ",".join(f"{name}:.120" for name in FIELDS)
    found = []
    for line in cluster.ask("squeue", "--noheader", "--states=R", "-O", width).splitlines():
        number, partition, limit, memory, gpus, comment = (
            line[120 * i : 120 * (i + 1)].strip() for i in range(len(FIELDS))
        )
        asked = re.search(r"gpu:(\d+)$", gpus)
        count = int(asked[1]) if asked else 0
        found.append(Job(int(number), partition, limit, megabytes(memory), count, comment))
    return found


def megabytes(memory: str) -> int:
    """Memory as squeue writes it: 500M, 62.50G."""
    return round(float(memory[:-1]) * {"M": 1, "G": 1024}[memory[-1]])


def given_away(cluster: Cluster) -> int:
    used = cluster.ask("sinfo", "--noheader", "--partition=gpu", "-O", "GresUsed:60").strip()
    found = re.match(r"gpu:(?:\(null\):)?(\d+)", used)
    assert found, used
    return int(found[1])


def watch(cluster: Cluster, root: Path, seen: Watch, finished: threading.Event) -> None:
    """Sample the queue, and kill the first attempt of one inference job once it has answers."""
    store = root / "results" / "store" / "syntaxbench" / KILLED / "non_thinking.jsonl"
    own: list[Job] = []
    begin = -SAMPLE
    try:
        while not finished.wait(0.05):
            if seen.killed is None and own and answers(store) >= BEFORE_THE_KILL:
                cluster.ask("scancel", "--signal=KILL", "--full", str(own[0].number))
                seen.killed = own[0]
            if time.monotonic() - begin >= SAMPLE:
                begin = time.monotonic()
                seen.samples.append((running(cluster), given_away(cluster)))
                own = seen.jobs(f"{COMMENT}{KILLED}_")
    except BaseException as error:
        seen.problem = error


def answers(store: Path) -> int:
    return store.read_bytes().count(b"\n") if store.exists() else 0


class Run:
    """A copy of the project with the slice, and how Snakemake is called in it."""

    def __init__(self, root: Path, cluster: Cluster) -> None:
        self.root = root
        self.cluster = cluster
        self.output = ""
        self.seconds = 0.0

    @classmethod
    def create(cls, root: Path, cluster: Cluster, models: Path) -> Run:
        copy_project(root)
        (root / "results").mkdir()
        shutil.copytree(models / EMBEDDED, root / "results" / "models" / EMBEDDED)
        save_tiny_model(root / "weights")
        path = root / "config.yaml"
        config = yaml.safe_load(path.read_text())
        shrink(config, yaml.safe_load((root / "config" / "embedded.yaml").read_text()))
        path.write_text(yaml.safe_dump(config, sort_keys=False))
        return cls(root, cluster)

    def snakemake(self, *arguments: str, fails: bool = False) -> str:
        """Run Snakemake to its end; returns what it said."""
        begin = time.monotonic()
        finished = subprocess.run(
            [str(SNAKEMAKE), *arguments],
            cwd=self.root,
            env=self.cluster.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=900,
        )
        self.seconds = time.monotonic() - begin
        self.output = finished.stdout
        assert (finished.returncode != 0) is fails, self.output + self.job_logs()
        return self.output

    def job_logs(self) -> str:
        """What jobs that failed left in SLURM's own logs."""
        logs = sorted((self.root / ".snakemake" / "slurm_logs").rglob("*.log"))
        return "".join(f"\n== {path.name}\n{path.read_text()[-2000:]}" for path in logs)

    def submit(self, *arguments: str, fails: bool = False) -> str:
        """Run through the profile as it is; only how often SLURM is asked is shorter."""
        return self.snakemake(
            *("--workflow-profile", "profiles/slurm"),
            *("--slurm-partition-config", "profiles/slurm/partitions.yaml"),
            *("--slurm-init-seconds-before-status-checks", "1"),
            *arguments,
            fails=fails,
        )

    def manifest(self, model: str) -> dict[str, Any]:
        path = self.root / "results" / "manifests" / "syntaxbench" / f"{model}.non_thinking.json"
        return json.loads(path.read_text())

    def results(self) -> dict[str, bytes]:
        """Bytes of every result that must not depend on where and when it was made."""
        results = self.root / "results"
        files = [path for path in sorted(results.rglob("*")) if path.is_file()]
        names = {str(path.relative_to(results)): path for path in files}
        return {
            name: path.read_bytes()
            for name, path in names.items()
            if name.split("/", 1)[0] not in OF_THE_RUN
        }


def shrink(config: dict[str, Any], embedded: dict[str, Any]) -> None:
    """Two tasks, a handful of requests, five models."""
    config["run"] |= {"kind": "embedded", "benchmarks": ["syntaxbench"]}
    section = config["syntaxbench"]
    for key in ("corpora", "document_words"):
        section[key] = embedded["syntaxbench"][key]
    section["shots"], section["headline_shots"] = [0, 1], 1
    section["tasks"] = {"count_chars": {"items": 2}, "letter_container": {"items": 2}}
    section["models"], section["baselines"] = list(GPUS), ["majority"]
    section["statistics"]["resamples"] = 100
    section["decoding"]["max_new_tokens"]["non_thinking"] = 12
    roster = config["models"]
    config["models"] = {name: entry(name, roster[EMBEDDED]) for name in GPUS}
    config["models"]["majority"] = roster["majority"]


def entry(name: str, embedded: dict[str, Any]) -> dict[str, Any]:
    """A roster entry: the smaller embedded model under a name of its own, or the random one."""
    own = {
        **embedded,
        "label": name.title(),
        "revision": name,
        "gpus": GPUS[name],
        "tokenizer": "none",
        # Every answer is in the store before the next one is begun.
        "batch": {**embedded["batch"], "size": 1},
        **({"shards": 2} if name == SHARDED else {}),
    }
    if name in REAL:
        return own
    return {**own, "source": "weights", "context_length": 1024}


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Converted embedded models: those of this checkout, else fetched as the pipeline does it."""
    weights = f"results/models/{EMBEDDED}/model.safetensors"
    if (ROOT / weights).exists():
        return ROOT / "results" / "models"
    root = copy_project(tmp_path_factory.mktemp("models") / "project")
    subprocess.run([str(SNAKEMAKE), "--cores", "1", weights], cwd=root, check=True)
    return root / "results" / "models"


@pytest.fixture(scope="module")
def local(cluster: Cluster, models: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """The slice as one machine runs it."""
    run = Run.create(tmp_path_factory.mktemp("local") / "project", cluster, models)
    run.snakemake("--cores", "2", *TARGETS)
    return run


@pytest.fixture(scope="module")
def submitted(
    cluster: Cluster, models: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Run, Watch]]:
    """The slice through the profile, one inference job killed on the way."""
    run = Run.create(tmp_path_factory.mktemp("submitted") / "project", cluster, models)
    seen, finished = Watch(), threading.Event()
    watcher = threading.Thread(target=watch, args=(cluster, run.root, seen, finished))
    watcher.start()
    try:
        run.submit(*TARGETS)
    finally:
        finished.set()
        watcher.join()
        end_leftovers(run.root)
    if seen.problem is not None:
        raise seen.problem
    yield run, seen


def end_leftovers(root: Path) -> None:
    """End what the killed job left behind: this SLURM tracks no process that leaves its job."""
    for process in psutil.process_iter(["cmdline"]):
        if any(str(root) in word for word in process.info["cmdline"] or ()):
            with suppress(psutil.NoSuchProcess):
                process.kill()


def test_gpus_are_never_given_twice(submitted: tuple[Run, Watch]) -> None:
    _, seen = submitted
    assert max(sum(job.gpus for job in jobs) for jobs, _ in seen.samples) == 2
    assert max(used for _, used in seen.samples) == 2
    # Two jobs of one GPU side by side, at some time; the job of two never beside another.
    together = [sorted(job.gpus for job in jobs if job.gpus) for jobs, _ in seen.samples]
    assert [1, 1] in together and [2] in together
    assert {tuple(gpus) for gpus in together} <= {(), (1,), (1, 1), (2,)}
    jobs = [job for job in seen.jobs() if job.gpus]
    # Four jobs of one GPU, one of them twice, and one of two.
    assert sorted(job.gpus for job in jobs) == [1, 1, 1, 1, 1, 2]


def test_every_job_goes_to_the_partition_that_fits(submitted: tuple[Run, Watch]) -> None:
    _, seen = submitted
    for job in seen.jobs():
        # A model without a GPU answers for days; what gathers and baselines do not.
        answers_long = job.comment.startswith(f"{COMMENT}plain_")
        expected = "gpu" if job.gpus else "long" if answers_long else "cpu"
        assert job.partition == expected, job
    assert {job.partition for job in seen.jobs()} == {"cpu", "gpu", "long"}
    # Tables were made where Snakemake runs.
    assert not [job for job in seen.jobs() if "make_table" in job.comment]


def test_jobs_side_by_side_have_different_devices(submitted: tuple[Run, Watch]) -> None:
    run, _ = submitted
    spans = []
    for name, count in GPUS.items():
        manifest = run.manifest(name)
        for part in manifest.get("shards", [manifest]):
            devices = {device["key"] for device in part["host"]["leased_gpus"]}
            assert len(devices) == count
            if not devices:
                continue
            begin = datetime.fromisoformat(part["started"])
            spans.append((begin, begin + timedelta(seconds=part["wall_seconds"]), devices))
    assert len(spans) == 5
    for (begin, end, devices), (other_begin, other_end, others) in combinations(spans, 2):
        if begin < other_end and other_begin < end:
            assert not devices & others


def test_a_killed_job_is_tried_again_and_resumes(submitted: tuple[Run, Watch]) -> None:
    run, seen = submitted
    assert seen.killed is not None, f"{KILLED} had answered before it could be killed"
    first, second = seen.jobs(f"{COMMENT}{KILLED}_")
    assert first == seen.killed
    # Twice the memory, and twice the time as far as the profile lets it grow.
    assert (first.time_limit, second.time_limit) == ("2-00:00:00", "3-00:00:00")
    assert (first.memory, second.memory) == (64000, 128000)
    assert len(re.findall("Trying to restart job", run.output)) == 1
    asked = run.manifest(KILLED)["requests"]
    assert asked["from_store"] >= BEFORE_THE_KILL
    assert asked["generated"] > 0
    assert asked["from_store"] + asked["generated"] == asked["total"] == REQUESTS
    store = run.root / "results" / "store" / "syntaxbench" / KILLED / "non_thinking.jsonl"
    keys = [json.loads(line)["key"] for line in store.read_bytes().splitlines()]
    assert len(keys) == len(set(keys)) == REQUESTS
    for name in GPUS:
        if name not in (KILLED, SHARDED):
            assert run.manifest(name)["requests"]["generated"] == REQUESTS


def test_results_are_those_of_a_local_run(local: Run, submitted: tuple[Run, Watch]) -> None:
    mine, theirs = submitted[0].results(), local.results()
    assert set(TARGETS) <= {f"results/{name}" for name in mine}
    assert len([name for name in mine if "/responses/" in name]) == 4 * (len(GPUS) + 1)
    assert sorted(mine) == sorted(theirs)
    assert [name for name in mine if mine[name] != theirs[name]] == []
    print(f"\nlocal {local.seconds:.0f} s, submitted {submitted[0].seconds:.0f} s")


def test_a_second_run_submits_nothing(submitted: tuple[Run, Watch]) -> None:
    run, _ = submitted
    assert "Nothing to be done" in run.submit(*TARGETS)


def test_a_job_that_no_node_can_run_is_refused(submitted: tuple[Run, Watch]) -> None:
    run, _ = submitted
    path = run.root / "config.yaml"
    config = yaml.safe_load(path.read_text())
    config["models"]["trio"] = config["models"]["second"] | {
        "label": "Trio",
        "revision": "trio",
        "gpus": 3,
    }
    config["syntaxbench"]["models"].append("trio")
    path.write_text(yaml.safe_dump(config, sort_keys=False))
    target = "results/manifests/syntaxbench/trio.non_thinking.json"
    # Our own limit, before anything is submitted.
    said = run.submit(target, "--resources", "gpu=2", fails=True)
    assert "model trio needs 3 GPUs but --resources gpu=2" in said
    assert "has been submitted" not in said
    # SLURM's, where the limit is higher than what there is.
    said = run.submit(target, "--resources", "gpu=4", "--retries", "0", fails=True)
    assert "Requested node configuration is not available" in said
    assert "--gpus=3" in said
    assert not (run.root / target).exists()
