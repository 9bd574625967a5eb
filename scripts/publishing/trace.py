"""From a number or a finding of the paper back to where it comes from.

    python -m scripts.publishing.trace NAME [--results results] [--paper paper] [--whole]

prints the sentences that print the macro NAME, or that the verdict of the claim NAME chooses, the
rows and columns that it was read from, and every rule and file behind that: statistics, scores,
responses (with the model, its revision and precision), requests, items, down to the files that no
rule makes (corpora, prompts, published figures). Beside a file stand its SHA-256 as it was
recorded, and a warning where it has changed since.

Sources: `<results>/paper/numbers.json` and `claims.json`, written with the paper, and
`<results>/provenance.jsonl`, written at the end of a run. Nothing is computed again.
"""

from __future__ import annotations

import argparse
import difflib
import json
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scripts.files import DataError, iterate_jsonl, read_json, sha256_file
from scripts.publishing.numbers import CONFIGURATION

# Files of one rule and one folder beyond this many are counted, not listed.
SHOWN = 3
_DIGITS = 12


@dataclass(frozen=True)
class Made:
    """How a file was made: its SHA-256, the rule, the rule's inputs, its params as text."""

    sha256: str
    rule: str
    inputs: tuple[str, ...]
    params: tuple[str, ...]
    input_sha256: Mapping[str, str] = field(default_factory=dict)

    @property
    def job(self) -> tuple[Any, ...]:
        """What the outputs of one job have in common."""
        return self.rule, self.inputs, self.params


def read_provenance(results: Path) -> dict[str, Made]:
    """Every recorded output by its path. DataError where the run has left no record."""
    path = results / "provenance.jsonl"
    if not path.is_file():
        raise DataError(f"{path}: no such file; finish a run first (make paper)")
    found = {}
    for number, row in iterate_jsonl(path):
        try:
            record = row["record"]
            checksums = {
                name: str(value).removeprefix("sha256:")
                for name, value in (record.get("input_checksums") or {}).items()
            }
            found[str(row["output"])] = Made(
                sha256=str(row["sha256"]),
                rule=str(record["rule"]),
                inputs=tuple(record["input"]),
                params=tuple(map(str, record["params"])),
                input_sha256=checksums,
            )
        except (KeyError, TypeError) as error:
            raise DataError(
                f"{path}, line {number}: no record of an output ({error!r}); run again, which "
                "writes it anew"
            ) from error
    return found


@dataclass(frozen=True)
class Step:
    """A job behind a number: its outputs that are used, and how many steps it is away."""

    depth: int
    made: Made
    outputs: tuple[str, ...]


def steps(
    origin: str, provenance: Mapping[str, Made], *further: str
) -> tuple[list[Step], list[str]]:
    """The jobs behind one file or several, nearest first, and the files that no job made.

    Jobs stand once, at their shortest distance, in the order of rule and outputs.
    """
    jobs: dict[tuple[Any, ...], Step] = {}
    raw: set[str] = set()
    origins = {origin, *further}
    seen, front, depth = set(origins), sorted(origins), 0
    while front:
        here: dict[tuple[Any, ...], list[str]] = {}
        for name in front:
            if name in provenance:
                here.setdefault(provenance[name].job, []).append(name)
            else:
                raw.add(name)
        behind: set[str] = set()
        for job, outputs in here.items():
            made = provenance[outputs[0]]
            known = jobs.get(job)
            used = sorted({*outputs, *(known.outputs if known else ())})
            jobs[job] = Step(known.depth if known else depth, made, tuple(used))
            behind.update(made.inputs)
        front = sorted(behind - seen)
        seen.update(front)
        depth += 1
    ordered = sorted(jobs.values(), key=lambda step: (step.depth, step.made.rule, step.outputs))
    return ordered, sorted(raw)


def sentences(name: str, paper: Path, *, claim: bool = False) -> Iterator[str]:
    """`file, line N: text` for every line of the paper that prints a macro or names a claim."""
    word = re.escape(name)
    command = rf"\\(finding|claim[a-z]+)\{{{word}\}}" if claim else rf"\\{word}(?![A-Za-z@])"
    pattern = re.compile(command)
    for path in sorted(paper.rglob("*.tex")):
        lines = path.read_text(encoding="utf-8").split("\n")
        for number, line in enumerate(lines, start=1):
            if pattern.search(line):
                yield f"{path}, line {number}: {line.strip()}"


def manifest_of(step: Step, results: Path, provenance: Mapping[str, Made]) -> str | None:
    """The manifest of the run by which a model answered in this job; None for other jobs."""
    folder = f"{results.as_posix()}/manifests/"
    for output, made in provenance.items():
        if output.startswith(folder) and made.job == step.made.job:
            return output
    return None


def model_line(path: Path) -> str:
    """Model, revision, precision and backend as a run's manifest has them."""
    facts = read_json(path)
    model = facts.get("model") or {}
    backend = facts.get("backend") or {}
    words = [
        f"model {model.get('name')} ({model.get('source')})",
        f"revision {model.get('revision')}",
        f"precision {model.get('precision')}",
        f"{backend.get('name')} ({backend.get('version')})",
        f"mode {facts.get('mode')}",
    ]
    return ", ".join(words)


def _state(path: str, recorded: str | None) -> str:
    """The recorded SHA-256 and whether the file is still the same."""
    if Path(path).is_dir():
        return "a folder"
    if not Path(path).is_file():
        return "no longer there"
    if recorded is None:
        return f"sha256 {sha256_file(path)[:_DIGITS]}"
    if sha256_file(path) != recorded:
        return f"sha256 {recorded[:_DIGITS]}, CHANGED since it was used"
    return f"sha256 {recorded[:_DIGITS]}"


def _files(names: Sequence[str], recorded: Mapping[str, str], whole: bool) -> Iterator[str]:
    """A line a file; of many in one folder the first, unless all are wanted or one has changed."""
    folders: dict[str, list[str]] = {}
    for name in names:
        folders.setdefault(str(Path(name).parent), []).append(name)
    for folder, members in folders.items():
        states = {name: _state(name, recorded.get(name)) for name in members}
        shown = [
            name
            for index, name in enumerate(members)
            if whole
            or index < SHOWN
            or not states[name].startswith(("sha256", "a folder"))
            or "CHANGED" in states[name]
        ]
        yield from (f"{name}   {states[name]}" for name in shown)
        if len(shown) < len(members):
            yield f"{folder}/ … {len(members) - len(shown)} more files like these"


@dataclass(frozen=True)
class Published:
    """What a run says in its paper: numbers by macro, claims by name, and where its files are."""

    macros: Mapping[str, Any]
    claims: Mapping[str, Any]
    results: Path
    paper: Path

    @classmethod
    def read(cls, results: Path, paper: Path) -> Published:
        """Read numbers.json, and claims.json where the run has one."""
        folder = results / "paper"
        macros = read_json(folder / "numbers.json")["macros"]
        claims = folder / "claims.json"
        return cls(macros, read_json(claims)["claims"] if claims.is_file() else {}, results, paper)

    @property
    def seed(self) -> Any:
        """The seed of the run, where its text has it."""
        return self.macros.get("Seed", {}).get("value")


def report(wanted: str, published: Published, *, whole: bool = False) -> Iterator[str]:
    """The lines of the chain. DataError for a name that the paper does not have."""
    name = wanted.removeprefix("\\")
    if name in published.macros:
        yield from _of_number(name, published, whole=whole)
    elif name in published.claims:
        yield from _of_claim(name, published, whole=whole)
    else:
        near = difflib.get_close_matches(name, [*published.macros, *published.claims], n=1)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise DataError(f"{wanted}: no number or claim of the paper has this name{hint}")


def _of_number(name: str, published: Published, *, whole: bool) -> Iterator[str]:
    entry = published.macros[name]
    yield f"\\{name}   printed {entry['printed']}   value {json.dumps(entry['value'])}"
    yield from _in_the_text(sentences(name, published.paper))
    if entry["file"] == CONFIGURATION:
        yield f"from the configuration of the run: {entry['column']}"
        return
    yield "read from"
    yield _place(entry, [entry["column"]], published.results)
    if entry.get("reason"):
        yield f"  no value: {entry['reason']}"
    yield from _chain([entry["file"]], published, whole=whole)


def _of_claim(name: str, published: Published, *, whole: bool) -> Iterator[str]:
    entry = published.claims[name]
    yield f"{name}   {entry['verdict']}   {entry['finding']}"
    yield f"  tested: {'; '.join(entry['tests'])}; correction {entry['correction']}"
    values = ("effect", "low", "high", "p", "p_adjusted", "units")
    yield f"  {', '.join(f'{key} {json.dumps(entry[key])}' for key in values)}"
    if entry["reason"]:
        yield f"  not estimable: {entry['reason']}"
    yield f"  published: {entry['published']['value']} ({entry['published']['place']})"
    yield from _in_the_text(sentences(name, published.paper, claim=True))
    yield "read from"
    for reading in entry["read"]:
        yield _place(reading, reading["columns"], published.results)
    if entry["read"]:
        files = [reading["file"] for reading in entry["read"]]
        yield from _chain(files, published, whole=whole)


def _in_the_text(lines: Iterator[str]) -> Iterator[str]:
    yield "in the text"
    yield from (f"  {line}" for line in list(lines) or ["nowhere in this version of the text"])


def _place(entry: Mapping[str, Any], columns: Sequence[str], results: Path) -> str:
    """File, rows and columns of a reading, and how the rows were chosen."""
    rows = ", ".join(map(str, entry["rows"])) or "none"
    where = ", ".join(f"{key} = {value}" for key, value in entry["where"].items())
    named = ", ".join(column for column in columns if column) or "none"
    origin = f"{results.as_posix()}/{entry['file']}"
    return f"  {origin}, row {rows}, column {named} ({where or 'all rows'})"


def _chain(names: Sequence[str], published: Published, *, whole: bool) -> Iterator[str]:
    """Every rule and file behind result files."""
    results = published.results
    provenance = read_provenance(results)
    origins = [f"{results.as_posix()}/{name}" for name in names]
    jobs, raw = steps(origins[0], provenance, *origins[1:])
    yield "made by" + (f" (seed {published.seed})" if published.seed is not None else "")
    recorded: dict[str, str] = {}
    for step in jobs:
        recorded |= step.made.input_sha256
        yield f"  {step.depth + 1}. {step.made.rule}"
        outputs = {output: provenance[output].sha256 for output in step.outputs}
        yield from (f"       {line}" for line in _files(step.outputs, outputs, whole))
        manifest = manifest_of(step, results, provenance)
        if manifest is not None and Path(manifest).is_file():
            yield f"       {model_line(Path(manifest))}   {manifest}"
    yield "from files that no rule makes"
    yield from (f"  {line}" for line in _files(raw, recorded, whole) or ["none"])


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the chain of one macro or claim."""
    parser = argparse.ArgumentParser(prog="python -m scripts.publishing.trace", description=__doc__)
    parser.add_argument("name", help="name of a macro (with or without its backslash) or claim")
    parser.add_argument("--results", type=Path, default=Path("results"))
    parser.add_argument("--paper", type=Path, default=Path("paper"))
    parser.add_argument("--whole", action="store_true", help="list every file")
    chosen = parser.parse_args(arguments)
    try:
        published = Published.read(chosen.results, chosen.paper)
        for line in report(chosen.name, published, whole=chosen.whole):
            print(line)
        sys.stdout.flush()
    except BrokenPipeError:
        # Who reads (head, less) has seen enough; nothing is left to be written at the end either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (OSError, DataError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
