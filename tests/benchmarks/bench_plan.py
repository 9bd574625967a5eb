"""What planning costs: the full matrix, ten times its models, nothing to do, and a job's own start.

Run: python -m tests.benchmarks.bench_plan [--scales 1 10] [--documents 644] [--rounds N]

Everything happens in a copy of the project in a temporary folder; nothing is computed. The full
matrix is config.yaml with a stand-in (an empty file) for each of the paper's 644 PDFs, which are
not shipped. A scale of 10 has every model that answers ten times, in a generated overlay.

* `plan`: `snakemake -n` on a checkout without results. The first of all is cold: the memory of the
  files' digests (scripts/workflow/digest.py) is not there yet.
* `Snakemake alone`: `snakemake -n` on a synthetic workflow that has the same jobs with the same
  input and output files, read from the plan, in rules without parameters, resources or Python.
* `nothing to do`: every output stands there, made by `touch` and then by `snakemake --touch`, which
  records for each the parameters and inputs of now, as a job that ran would. The files are empty;
  Snakemake compares checksums only of inputs that are newer than an output, and none is.
* `job start`: what a job of a cluster does before its script: a Snakemake that reads the workflow
  for that job alone (with the arguments that the executors give).

Ratios are of processor time of the processes (user and system); both sides alternate.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
SNAKEMAKE = Path(sys.executable).with_name("snakemake")
COPIED = (
    *("Snakefile", "config.yaml", "config", "rules", "scripts", "envs", "profiles", "paper"),
    *("data/embedded", "data/published"),
)
MEMORY = Path(".snakemake") / "code_digests.json"
# The limits of all models' GPUs, which no dry run looks for on this machine.
GPUS = ("--resources", "gpu=8")
LIMIT_SECONDS = 10.0


@dataclass
class Cost:
    """What a command cost: processor and wall seconds, and what it printed."""

    processor: float
    wall: float
    output: str = field(repr=False)

    @property
    def jobs(self) -> int:
        """Jobs of the plan; 0 where nothing is to be done."""
        found = re.findall(r"^total +(\d+)$", self.output, re.M)
        return int(found[0]) if found else 0


def run(folder: Path, *arguments: str) -> Cost:
    """Run Snakemake in a folder; RuntimeError with its output when it fails."""
    variables = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith("SNAKEMAKE") and key != "PYTHONPATH"
    }
    before, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    finished = subprocess.run(
        [str(SNAKEMAKE), *arguments],
        cwd=folder,
        env=variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    wall, after = time.perf_counter() - wall, resource.getrusage(resource.RUSAGE_CHILDREN)
    if finished.returncode:
        raise RuntimeError(f"{' '.join(arguments)}:\n{finished.stdout[-3000:]}")
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Cost(processor, wall, finished.stdout)


def copy_project(folder: Path, documents: int) -> Path:
    """The project without results, with stand-ins for the instruments."""
    for name in COPIED:
        source = ROOT / name
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(source, folder / name)
    config = yaml.safe_load((folder / "config.yaml").read_text(encoding="utf-8"))
    manifest = folder / config["corpora"][config["tide"]["corpus"]]["path"]
    manifest.parent.mkdir(parents=True, exist_ok=True)
    rows = ["file,url,sha256,type,date,licence"]
    for number in range(documents):
        (manifest.parent / f"sro-{number}.pdf").touch()
        rows.append(f"sro-{number}.pdf,,,SRO,,stand-in")
    manifest.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return folder


def overlay(folder: Path, scale: int) -> list[str]:
    """Arguments for a roster in which every model that answers stands so many times."""
    if scale == 1:
        return []
    config = yaml.safe_load((folder / "config.yaml").read_text(encoding="utf-8"))
    out: dict[str, Any] = {"models": {}}

    def times(names: list[str]) -> list[str]:
        every = list(names)
        for copy in range(2, scale + 1):
            for name in names:
                entry = config["models"][name]
                new = {k: f"{entry[k]}, x {copy}" for k in ("label", "revision") if k in entry}
                out["models"][f"{name}-x{copy}"] = {**entry, **new}
                every.append(f"{name}-x{copy}")
        return every

    for benchmark in config["run"]["benchmarks"]:
        out[benchmark] = {"models": times(config[benchmark]["models"])}
    probed = config["multitempbench"]["analyses"]["probing"]
    out["multitempbench"]["analyses"] = {"probing": times(probed)}
    file = folder / f"scale{scale}.yaml"
    file.write_text(yaml.safe_dump(out), encoding="utf-8")
    return ["--configfile", file.name]


@dataclass(frozen=True)
class Job:
    """A job of a plan."""

    rule: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


def planned_jobs(output: str) -> list[Job]:
    """The jobs that a dry run lists."""
    jobs = []
    for block in re.split(r"^(?:local)?rule ", output, flags=re.M)[1:]:
        files = {
            key: tuple((re.search(rf"^    {key}: (.*)$", block, re.M) or [0, ""])[1].split(", "))
            for key in ("input", "output")
        }
        inputs, outputs = (tuple(f for f in files[key] if f) for key in ("input", "output"))
        jobs.append(Job(block.partition(":")[0], inputs, outputs))
    return jobs


def synthetic(folder: Path, jobs: list[Job]) -> Path:
    """A workflow of the same jobs and files, one rule for each of the plan's rules."""
    made: dict[str, str] = {}
    tables: dict[str, list[Job]] = {}
    for job in jobs:
        if not job.outputs:
            continue
        name = f"{job.rule}_{len(job.outputs)}"
        number = len(tables.setdefault(name, []))
        tables[name].append(job)
        for place, file in enumerate(job.outputs):
            made[file] = f"results/{name}/{number}.{place}"
    folder.mkdir(parents=True)
    sources = sorted({f for job in jobs for f in job.inputs if f not in made})
    named = {file: f"data/{number}" for number, file in enumerate(sources)}
    (folder / "data").mkdir()
    for path in named.values():
        (folder / path).touch()
    named |= made
    table = {
        name: [[named[file] for file in job.inputs] for job in found]
        for name, found in tables.items()
    }
    (folder / "jobs.json").write_text(json.dumps(table), encoding="utf-8")
    goals = sorted(set(made.values()) - {f for rows in table.values() for row in rows for f in row})
    (folder / "goals.json").write_text(json.dumps(goals), encoding="utf-8")
    lines = [
        "import json",
        'TABLE = json.load(open("jobs.json"))',
        'wildcard_constraints: job=r"\\d+"',
        'rule all:\n    input: json.load(open("goals.json"))',
    ]
    for name, found in tables.items():
        outputs = ", ".join(f'"results/{name}/{{job}}.{i}"' for i in range(len(found[0].outputs)))
        lines.append(
            f'rule {name}:\n    input: lambda wildcards: TABLE["{name}"][int(wildcards.job)]\n'
            f'    output: {outputs}\n    shell: "touch {{output}}"'
        )
    (folder / "Snakefile").write_text("\n\n\n".join(lines) + "\n", encoding="utf-8")
    shutil.copytree(ROOT / "profiles" / "default", folder / "profiles" / "default")
    return folder


def stand_ins(folder: Path, output: str) -> int:
    """An empty file (a folder where a rule makes one) for every output of a plan."""
    count = 0
    for job in planned_jobs(output):
        for name in job.outputs:
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            count += 1
            if path.suffix:
                path.touch()
            else:
                path.mkdir(exist_ok=True)
    return count


def best(rounds: int, *sides: Callable[[], Cost]) -> list[Cost]:
    """The cheapest round of each side; the sides alternate."""
    found: list[list[Cost]] = [[] for _ in sides]
    for _ in range(rounds):
        for costs, side in zip(found, sides, strict=True):
            costs.append(side())
    return [min(costs, key=lambda cost: cost.processor) for costs in found]


def row(label: str, cost: Cost, rest: str = "") -> None:
    each = f"{1000 * cost.processor / cost.jobs:5.1f} ms a job" if cost.jobs else " " * 14
    print(
        f"{label:34s} {cost.jobs:6d} jobs {cost.processor:7.2f} s processor "
        f"{cost.wall:7.2f} s wall {each}  {rest}",
        flush=True,
    )


def plans(folder: Path, alone: Path, scales: list[int], rounds: int) -> None:
    """The plan at every scale, against Snakemake alone on as many jobs and files."""
    listed = run(folder, "-n", *GPUS)
    row("plan, x 1, cold", listed)
    for scale in scales:
        arguments = ("-n", *GPUS, *overlay(folder, scale))
        if scale != 1:
            listed = run(folder, *arguments)
        place = synthetic(alone / str(scale), planned_jobs(listed.output))
        ours, theirs = best(
            rounds, lambda a=arguments: run(folder, *a), lambda p=place: run(p, "-n")
        )
        limit = f"; limit {LIMIT_SECONDS:.0f} s" if scale == 1 else ""
        row(f"plan, x {scale}", ours, f"ratio {ours.processor / theirs.processor:.2f}{limit}")
        row(f"  Snakemake alone, x {scale}", theirs)


def nothing(folder: Path, alone: Path, rounds: int) -> None:
    """The plan and the run where everything stands."""
    sides = ((folder, GPUS), (alone / "1", ()))
    for place, arguments in sides:
        plan = run(place, "-n", *arguments)
        stand_ins(place, plan.output)
        run(place, "--touch", "--cores", "2", *arguments)
    commands = (("-n",), ("--cores", "2"))
    for command in commands:
        ours, theirs = best(
            rounds,
            lambda c=command: run(folder, *c, *GPUS),
            lambda c=command: run(alone / "1", *c),
        )
        for cost in (ours, theirs):
            if "Nothing to be done" not in cost.output:
                raise RuntimeError(f"something was to be done:\n{cost.output[-3000:]}")
        name = " ".join(command)
        row(f"nothing to do, {name}", ours, f"ratio {ours.processor / theirs.processor:.2f}")
        row(f"  Snakemake alone, {name}", theirs)


def starts(folder: Path, alone: Path, rounds: int) -> None:
    """A job's own reading of the workflow, with and without the memory of the digests."""
    job = ("--cores", "1", "--mode", "remote", "--nolock", "--ignore-incomplete", "--no-hooks")
    job += ("--force", "-n", *GPUS, "--allowed-rules")
    ours = (*job, "make_roster", "--target-jobs", "make_roster:")
    name = next(n for n in json.loads((alone / "1" / "jobs.json").read_text()) if "roster" in n)
    theirs = (*job, name, "--target-jobs", f"{name}:job=0")

    def cold() -> Cost:
        (folder / MEMORY).unlink(missing_ok=True)
        return run(folder, *ours)

    before, warm, bare = best(
        rounds, cold, lambda: run(folder, *ours), lambda: run(alone / "1", *theirs)
    )
    row("job start, cold", before)
    row("job start", warm, f"ratio {warm.processor / bare.processor:.2f}")
    row("  Snakemake alone", bare)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scales", type=int, nargs="+", default=[1, 10])
    parser.add_argument("--documents", type=int, default=644)
    parser.add_argument("--rounds", type=int, default=1)
    options = parser.parse_args()
    print(f"load average {os.getloadavg()[0]:.2f}, {os.cpu_count()} cores")
    with tempfile.TemporaryDirectory() as scratch:
        alone = Path(scratch) / "alone"
        folder = copy_project(Path(scratch) / "project", options.documents)
        plans(folder, alone, sorted({1, *options.scales}), options.rounds)
        starts(folder, alone, options.rounds)
        nothing(folder, alone, options.rounds)
    print(f"load average {os.getloadavg()[0]:.2f}")


if __name__ == "__main__":
    main()
