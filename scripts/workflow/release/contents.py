"""Which files of a finished run make up its release: found in the plan of the run."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scripts.files import DataError, read_records
from scripts.inference.interface import MODES
from scripts.records import Response, canonical_json
from scripts.workflow.explain import SHARD, PlannedJob
from scripts.workflow.release.given import FETCHED

_OF_A_RESPONSE = {"request_id", "backend", "backend_version", "attempts", "finish_reason"}


@dataclass
class Contents:
    """Files of a run by what a replay does with them; paths as the plan names them.

    `given` are taken as they are (path to the job that made it), `remade` are made again, `answers`
    hold Responses: what their models said is replayed, and they are made again from it.
    `manifests` tell how it came about; `asked` are the models and modes that answered.
    """

    given: dict[str, PlannedJob] = field(default_factory=dict)
    remade: set[str] = field(default_factory=set)
    answers: set[str] = field(default_factory=set)
    manifests: set[str] = field(default_factory=set)
    asked: set[tuple[str, str]] = field(default_factory=set)


def sort_out(
    jobs: Iterable[PlannedJob], config: Mapping[str, Any], given: Iterable[str]
) -> Contents:
    """Walk back from the targets (the inputs of rule `all`) to what a replay begins with.

    `given`: names of the rules whose outputs the release gives. Raises DataError where a job that
    would be run again needs what only this checkout has.
    """
    jobs, given = list(jobs), set(given)
    producers = {path: job for job in jobs for path in job.output}
    results = config["run"]["results"]
    contents, seen = Contents(), set()
    waiting = [path for job in jobs if job.rule == "all" for path in job.input]
    while waiting:
        path = waiting.pop()
        if path in seen:
            continue
        seen.add(path)
        job = producers.get(path)
        if job is not None and job.rule in given:
            contents.given[path] = job
        elif path.startswith((FETCHED, f"{results}/models/")):
            raise DataError(
                f"{path}: needed to replay this run, but it is no part of a release; the rule that "
                "reads it belongs into `given` of its benchmark (configuration.py)"
            )
        elif job is not None:
            waiting += _take(job, config, contents)
    contents.manifests |= {path for path in producers if _is_manifest(path, results)}
    contents.remade = set(_files(contents.remade))
    return contents


def _files(paths: Iterable[str]) -> Iterator[str]:
    """The paths with the files of a folder in its place."""
    for path in paths:
        folder = Path(path)
        inside = [p for p in folder.rglob("*") if p.is_file()] if folder.is_dir() else [folder]
        yield from map(str, inside)


def _is_manifest(path: str, results: str) -> bool:
    return path.startswith(f"{results}/manifests/") and SHARD not in path


def _take(job: PlannedJob, config: Mapping[str, Any], contents: Contents) -> list[str]:
    """Sort the outputs of a job that a replay runs again; the inputs that it needs there."""
    results = config["run"]["results"]
    run = _asked(job, config)
    outputs = [path for path in job.output if not _is_manifest(path, results)]
    if run is None:
        contents.remade |= set(outputs)
        return job.input
    contents.asked.add(run)
    answers = {path for path in outputs if holds_responses(Path(path))}
    contents.answers |= answers
    contents.remade |= set(outputs) - answers
    archive = str(config["models"][run[0]].get("archive")).format(model=run[0], mode=run[1])
    # Weights, an older archive and shards are what the release's archive stands for.
    return [
        path
        for path in job.input
        if not path.startswith(f"{results}/models/") and SHARD not in path and path != archive
    ]


def _asked(job: PlannedJob, config: Mapping[str, Any]) -> tuple[str, str] | None:
    """(model, mode) that a job asks; None where no model is asked, or a baseline."""
    name = job.wildcards.get("judge") or job.wildcards.get("model") or ""
    entry = config["models"].get(name)
    manifests = f"{config['run']['results']}/manifests/"
    if entry is None or entry["backend"] == "baseline":
        return None
    if not any(path.startswith(manifests) for path in job.output):
        return None
    return name, job.wildcards.get("mode") or entry["modes"][0]


def holds_responses(path: Path) -> bool:
    """Whether a file's rows are Responses; an empty one has none."""
    if path.suffix != ".jsonl":
        return False
    with path.open("rb") as handle:
        first = handle.readline()
    return bool(first) and json.loads(first).keys() >= _OF_A_RESPONSE


def archives(
    paths: Iterable[str], asked: Iterable[tuple[str, str]]
) -> dict[tuple[str, str], bytes]:
    """The JSONL of everything that a model said in a mode, in the order of the requests' ids.

    A pair of `asked` that was asked nothing has an empty one. Raises DataError where two files hold
    two answers to one request.
    """
    rows: dict[tuple[str, str], dict[str, tuple[str, str]]] = {run: {} for run in asked}
    for path in sorted(paths):
        for response in read_records(path, Response):
            run = (response.model, response.mode)
            if run not in rows or response.mode not in MODES:
                raise DataError(f"{path}: an answer of {run}, which was not asked in this run")
            text = canonical_json(response.to_json())
            known, where = rows[run].setdefault(response.request_id, (text, path))
            if known != text:
                raise DataError(
                    f"{path} and {where}: two answers to request {response.request_id}; an archive "
                    "holds one, run the later one again"
                )
    return {
        run: "".join(answers[name][0] + "\n" for name in sorted(answers)).encode()
        for run, answers in rows.items()
    }
