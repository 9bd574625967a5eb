"""Build the release of a finished run, and compare the replay of one with what was released."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from scripts.files import DataError, iterate_jsonl, read_json, read_yaml, sha256_file
from scripts.inference.manifest import git_state
from scripts.publishing.paper import EPOCH
from scripts.workflow.check import BASE
from scripts.workflow.explain import PlannedJob, planned_jobs
from scripts.workflow.release import configuration, contents, description, package, privacy
from scripts.workflow.release.given import FACTS, FILES, given_rules
from scripts.workflow.release.package import Content

NAME = "tokens-and-time"
#: What decides what is built, besides the configuration: a replay elsewhere may differ where this
#: does.
CODE = ("Snakefile", "config/schema.yaml", "paper", "rules", "scripts", "data/published")
LOCKS = ("envs/core.lock", "envs/dev.lock", "envs/vllm.yaml", "envs/tex.txt")
CITATION = "CITATION.cff"
_PDF = "paper/paper.pdf"


def plan(overlays: list[str], *options: str) -> list[PlannedJob]:
    """The jobs that Snakemake would run for everything; DataError with its words where it fails."""
    snakemake = Path(sys.executable).with_name("snakemake")
    command = [str(snakemake), "--dry-run", "--nolock", *options]
    command += ["--configfile", *overlays] if overlays else []
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    text = f"{finished.stdout}\n{finished.stderr}"
    if finished.returncode:
        raise DataError(f"snakemake cannot plan this run:\n{text.strip()}")
    return planned_jobs(text)


def refuse_unfinished(jobs: Iterable[PlannedJob], overlays: list[str]) -> None:
    """Raise DataError where a run would still build something."""
    outputs = [path for job in jobs for path in job.output]
    if outputs:
        files = " ".join(overlays)
        raise DataError(
            f"{len(outputs)} outputs are not up to date, {outputs[0]} among them: run "
            f'`make paper CONFIG="{files}"` first (`make explain CONFIG="{files}"` says why)'
        )


def build(config: Mapping[str, Any], overlays: list[str], output: Path) -> dict[str, Any]:
    """Write the release of a finished run; the facts that stand in it.

    Raises DataError for a run that is not finished or stale, that is itself a replay of a release,
    whose replay would need what no release holds, or that would tell a secret.
    """
    if "release" in config["run"]:
        raise DataError("these results replay a release; pass that release on instead")
    refuse_unfinished(plan(overlays), overlays)
    found = contents.sort_out(plan(overlays, "--forceall"), config, given_rules(config))
    members = _files(config, found)
    members |= _documents(config, overlays, found)
    facts = _facts(config, found)
    members["README.md"] = description.readme(facts, config).encode()
    members["croissant.json"] = package.as_json(description.record(facts, config, members))
    members[FACTS] = package.as_json(facts)
    privacy.refuse_private(members, privacy.own_names())
    package.write(output, f"{NAME}-{facts['version']}-{facts['kind']}", members)
    return facts


def _below(config: Mapping[str, Any], path: str) -> str:
    """A path of the plan as it stands below the results."""
    return Path(path).relative_to(config["run"]["results"]).as_posix()


def _files(config: Mapping[str, Any], found: contents.Contents) -> dict[str, Content]:
    """Files of the run that the release holds as they are, and the archives of its answers."""
    members: dict[str, Content] = {
        f"{FILES}/{_below(config, path)}": Path(path) for path in found.given.keys() | found.remade
    }
    for (model, mode), data in contents.archives(found.answers, found.asked).items():
        members[f"{configuration.RESPONSES}/{model}.{mode}.jsonl"] = data
    return members


def _documents(
    config: Mapping[str, Any], overlays: list[str], found: contents.Contents
) -> dict[str, Content]:
    """Configuration, manifests, locks, licence and citation."""
    public = Path(BASE).read_text(encoding="utf-8")
    members: dict[str, Content] = {
        "LICENSE": Path("LICENSE"),
        CITATION: Path(CITATION),
        configuration.REPLAY: configuration.replay(config, {model for model, _ in found.asked}),
        **configuration.members(overlays),
        **{f"locks/{Path(name).name}": Path(name) for name in LOCKS},
    }
    for path in found.manifests:
        if Path(path).is_file():
            name = Path(path).relative_to(Path(config["run"]["results"], "manifests")).as_posix()
            members[f"manifests/{name}"] = package.as_json(
                privacy.public_manifest(read_json(path), public)
            )
    return members


def _facts(config: Mapping[str, Any], found: contents.Contents) -> dict[str, Any]:
    """release.json: what was run with what, and the checksum of every file of the run."""
    state = git_state() or {"commit": None, "modified": False}

    def sums(paths: Iterable[str]) -> dict[str, str]:
        return {_below(config, path): sha256_file(path) for path in sorted(paths)}

    return {
        "format": package.FORMAT,
        "name": NAME,
        "version": str(read_yaml(CITATION)["version"]),
        "kind": config["run"]["kind"],
        "benchmarks": config["run"]["benchmarks"],
        "results": config["run"]["results"],
        "epoch": EPOCH,
        "tex": tex_version(),
        **state,
        "code": code_digest(),
        "base": sha256_file(BASE),
        "given": sums(found.given),
        "origins": {path: _origin(job) for path, job in found.given.items()},
        "remade": sums(found.remade),
        "answers": sums(found.answers),
    }


def _origin(job: PlannedJob) -> dict[str, Any]:
    """The rule of a job and its inputs with their checksums; null for a folder."""
    inputs = sorted(set(job.input))
    sums = {path: sha256_file(path) if Path(path).is_file() else None for path in inputs}
    return {"rule": job.rule, "inputs": sums}


def tex_version() -> str:
    """The first line of `xelatex --version`; empty where there is none."""
    tool = shutil.which("xelatex")
    if tool is None:
        return ""
    done = subprocess.run([tool, "--version"], capture_output=True, text=True, check=False)
    return done.stdout.partition("\n")[0].strip()


def code_digest() -> str:
    """SHA-256 over the names and bytes of the code, the schema and the paper's sources."""
    digest = hashlib.sha256()
    for place in map(Path, CODE):
        for path in sorted(place.rglob("*")) if place.is_dir() else [place]:
            if path.is_file() and "__pycache__" not in path.parts:
                digest.update(f"{path.as_posix()} {sha256_file(path)}\n".encode())
    return digest.hexdigest()


# ---- In the other checkout ---------------------------------------------------------------------


def prepare(path: Path) -> tuple[list[str], list[str]]:
    """Unpack a release where its replay reads it: (files of its configuration, warnings).

    Raises DataError where the release is not as it was written, where this checkout has another
    config.yaml, or results of its own in the folder of the replay.
    """
    facts = package.check(path)
    if facts["base"] != sha256_file(BASE):
        raise DataError(
            f"{BASE} is not the one of the release; check out its commit: "
            f"git checkout {facts['commit']}"
        )
    results = Path(str(facts["results"]))
    folder = results / "release"
    own = {entry.name for entry in results.iterdir()} if results.is_dir() else set()
    if own - {"models", folder.name} and not (folder / FACTS).is_file():
        raise DataError(
            f"{results}: holds results of this checkout, which the replay would write over; replay "
            "in another clone, or move the folder away"
        )
    package.unpack(path, folder)
    warnings = []
    if facts["code"] != code_digest():
        warnings.append(
            f"the code here is not that of the release (commit {facts['commit']}); where it builds "
            "something else, the replay stops or the comparison at its end says so"
        )
    return configuration_files(folder), warnings


def configuration_files(folder: Path) -> list[str]:
    """The overlays of an unpacked release in the order in which they are read."""
    numbered = sorted(
        (folder / configuration.FOLDER).glob("[0-9]*-*.yaml"),
        key=lambda path: int(path.name.partition("-")[0]),
    )
    return [*map(str, numbered), str(folder / configuration.REPLAY)]


def refuse_elsewhere(config: Mapping[str, Any], overlays: list[str]) -> None:
    """Raise DataError where the replay would not go where the release was unpacked.

    Only that folder was looked at for results of this checkout.
    """
    folder = Path(overlays[-1]).parents[1]
    wanted = {"results": folder.parent.as_posix(), "release": folder.as_posix()}
    for key, place in wanted.items():
        if config["run"].get(key) != place:
            raise DataError(
                f"{overlays[-1]}: the replay of this release belongs into {place}, but its "
                f"configuration says run.{key}: {config['run'].get(key)}; it was changed"
            )


def refuse_foreign(config: Mapping[str, Any], overlays: list[str]) -> None:
    """Raise DataError where the replay would ask a model, or make what the release should give."""
    roster = config["models"]
    barred = {*given_rules(config), "fetch_corpus", "fetch_embedded_model"}
    for job in plan(overlays):
        name = job.wildcards.get("judge") or job.wildcards.get("model") or ""
        asked = any("/manifests/" in path for path in job.output) and name in roster
        if job.rule in barred or (asked and roster[name]["backend"] not in ("archive", "baseline")):
            raise DataError(
                f"the release does not hold {job.output[0]}, which rule {job.rule} would make "
                "here; it is not whole, or its configuration was changed"
            )


def differences(config: Mapping[str, Any]) -> Iterator[str]:
    """One sentence for everything in which a replay is not the run that was released."""
    results = Path(config["run"]["results"])
    folder = Path(config["run"]["release"])
    facts = package.verify(folder)
    known: dict[str, str] = {}
    for key in ("given", "remade", "answers"):
        known |= facts[key]
    missing = [name for name in known if not (results / name).is_file()]
    other = [
        name for name in known if name not in missing and sha256_file(results / name) != known[name]
    ]
    for names, what in ((missing, "were not made"), (other, "are not those of the release")):
        if names:
            shown = ", ".join(names[:10]) + (" …" if len(names) > 10 else "")
            yield f"{len(names)} of {len(known)} files {what}: {shown}"
    if _PDF in other and facts["tex"] != tex_version():
        yield f"the PDF was set with {facts['tex']}, here is {tex_version() or 'no TeX'}"
    yield from _unasked(results, folder, facts)


def _unasked(results: Path, folder: Path, facts: Mapping[str, Any]) -> Iterator[str]:
    """Answers of the archive to requests that this checkout does not build."""
    asked: dict[str, set[str]] = {}
    for name in facts["answers"]:
        path = results / name
        for _, row in iterate_jsonl(path) if path.is_file() else ():
            asked.setdefault(f"{row['model']}.{row['mode']}", set()).add(row["request_id"])
    for path in sorted((folder / configuration.RESPONSES).glob("*.jsonl")):
        archived = {row["request_id"] for _, row in iterate_jsonl(path)}
        unused = archived - asked.get(path.stem, set())
        if unused:
            yield (
                f"{path.name}: {len(unused)} of {len(archived)} answers are to requests that are "
                f"not built here, {min(unused)} among them"
            )
