"""Say before a run what it would do and why.

Run it as `python -m scripts.workflow.explain [snakemake options]`.

Asks Snakemake for a dry run and groups its jobs by rule and cause. For inference it adds how many
answers the store already holds for the model, so that the price of a run is known beforehand.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from scripts.files import DataError
from scripts.inference.spending import LEDGER, Ledger, summary
from scripts.inference.store import read_lines
from scripts.workflow.check import load
from scripts.workflow.config_files import ConfigurationError

CODE_DIGEST = re.compile(r"'?[0-9a-f]{16}'?")
# Files of requests among the inputs of a run, and what the manifests of its shards are called.
ASKED = re.compile(r"/(requests|explanations)/.*\.jsonl$")
SHARD = ".shard-"


@dataclass
class PlannedJob:
    """One job of a dry run, as Snakemake prints it."""

    rule: str
    output: list[str] = field(default_factory=list)
    input: list[str] = field(default_factory=list)
    reason: str = ""
    wildcards: dict[str, str] = field(default_factory=dict)


def planned_jobs(text: str) -> list[PlannedJob]:
    """The jobs in the text that `snakemake -n` prints."""
    jobs: list[PlannedJob] = []
    for line in text.splitlines():
        head = re.fullmatch(r"(?:local)?(?:rule|checkpoint) (\w+):", line)
        if head:
            jobs.append(PlannedJob(head[1]))
            continue
        body = re.fullmatch(r"    (\w+): (.*)", line)
        if not jobs or not body:
            continue
        key, value = body[1], body[2].strip()
        if key in ("input", "output"):
            setattr(jobs[-1], key, value.split(", "))
        elif key == "reason":
            jobs[-1].reason = value
        elif key == "wildcards":
            jobs[-1].wildcards = dict(pair.split("=", 1) for pair in value.split(", "))
    return jobs


def cause(reason: str) -> str:
    """Snakemake's reason in one short sentence."""
    if reason.startswith("Missing output files"):
        return "not built yet"
    if reason.startswith("Input files updated by another job"):
        return "an input is built again"
    if reason.startswith("Updated input files"):
        return "an input changed: " + reason.split(":", 1)[1].strip()
    if reason.startswith("Params have changed"):
        before, now = reason.rsplit("before: ", 1)[1].split(" now: ", 1)
        changed = [part for part in _entries(before) + _entries(now) if part]
        if changed and all(CODE_DIGEST.fullmatch(part) for part in changed):
            return "its code changed (the script, a module that it imports, or a locked package)"
        return f"its parameters changed: {before} → {now}"
    return reason or "requested"


def _entries(text: str) -> list[str]:
    return [] if text.startswith("<") else re.split(r", (?=[^ ])", text)


def describe(jobs: Iterable[PlannedJob]) -> Iterator[str]:
    """Lines for a person: one block a rule, in the order of the plan's first mention."""
    groups: dict[str, dict[str, list[PlannedJob]]] = defaultdict(lambda: defaultdict(list))
    for job in jobs:
        groups[job.rule][cause(job.reason)].append(job)
    if not groups:
        yield "Nothing to do: every output is up to date."
        return
    total = sum(len(found) for causes in groups.values() for found in causes.values())
    yield f"{total} job(s) would run:"
    for rule, causes in groups.items():
        yield f"  {rule}"
        for why, found in causes.items():
            yield f"    {len(found):4d} × {why}"
            for job in found:
                if "_run_" in rule:
                    yield "           " + inference_price(job)


def inference_price(job: PlannedJob) -> str:
    """Requests of an inference job beside the answers that its store holds."""
    run = f"{job.wildcards.get('model', '')} ({job.wildcards.get('mode', '')})"
    if gathered := sum(SHARD in file for file in job.input):
        return f"{run}: gathers the answers of {gathered} shards, asks nothing itself"
    requests = sum(_lines(Path(file)) for file in job.input if ASKED.search(file))
    stored = len(frozenset().union(*(_answered(path.absolute()) for path in _stores(job))))
    known = f"{requests} requests" if requests else "requests not built yet"
    if "shard" in job.wildcards:
        run += f", shard {job.wildcards['shard']} of {job.wildcards['shards']}"
        known = f"its share of {known}"
    return f"{run}: {known}, {stored} answers in its store; only missing ones are generated"


def _stores(job: PlannedJob) -> list[Path]:
    """The store files of a run in the folder of its results, its segments among them."""
    benchmark = job.rule.partition("_run_")[0]
    results = re.match(rf"(.+)/{benchmark}/", job.output[0]) if job.output else None
    if results is None:
        return []
    folder = Path(results[1].removesuffix("/manifests"), "store", benchmark)
    folder /= job.wildcards.get("model", "")
    return sorted(folder.glob(f"{job.wildcards.get('mode')}*.jsonl"))


@cache
def _answered(path: Path) -> frozenset[str]:
    """Keys of the good answers in a store file, read once; bad lines are the run's to tell."""
    lines = read_lines(path)
    return frozenset(x.key for x in lines if not x.problem and "error" not in x.stored)


def spending(jobs: Iterable[PlannedJob]) -> Iterator[str]:
    """A line for the spending ledger of the results to which these jobs belong, if there is one."""
    folders = {folder for job in jobs for path in job.output for folder in Path(path).parents}
    for ledger in sorted(folder / "store" / LEDGER for folder in folders):
        if ledger.is_file():
            try:
                yield f"Hosted models so far: {summary(Ledger(ledger).read())} ({ledger})"
            except DataError as error:
                yield f"Hosted models so far: {error}"


def _lines(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


def _configuration_problem(arguments: list[str]) -> str | None:
    """What is wrong with the files of the configuration, told better than Snakemake tells it."""
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--configfile", "--configfiles", nargs="+", action="extend", default=[])
    known, _ = parser.parse_known_args(arguments)
    try:
        load(known.configfile)
    except ConfigurationError as error:
        return str(error)
    return None


def main(arguments: list[str]) -> int:
    """Run the dry run and print the explanation; return Snakemake's exit status."""
    snakemake = Path(sys.executable).with_name("snakemake")
    command = [str(snakemake), "--dry-run", "--nolock", *arguments]
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    if finished.returncode:
        if problem := _configuration_problem(arguments):
            print(f"error: {problem}", file=sys.stderr)
            return finished.returncode
        print(finished.stdout + finished.stderr, file=sys.stderr)
        return finished.returncode
    jobs = planned_jobs(finished.stdout + "\n" + finished.stderr)
    print("\n".join([*describe(jobs), *spending(jobs)]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
