"""From a number of the paper back to where it comes from.

    python -m scripts.publishing.trace MACRO [--results results] [--paper paper] [--whole]

prints the sentences that print the macro, the row and column that it was read from, and every rule
and file behind that: statistics, scores, responses (with the model, its revision and precision),
requests, items, down to the files that no rule makes (corpora, prompts, published figures). Beside
a file stand its SHA-256 as it was recorded, and a warning where it has changed since.

Sources: `<results>/paper/numbers.json`, written with the paper, and `<results>/provenance.jsonl`,
written at the end of a run. Nothing is computed again.
"""

from __future__ import annotations

import argparse
import difflib
import json
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


def steps(origin: str, provenance: Mapping[str, Made]) -> tuple[list[Step], list[str]]:
    """The jobs behind a file, nearest first, and the files that no job made.

    Jobs stand once, at their shortest distance, in the order of rule and outputs.
    """
    jobs: dict[tuple[Any, ...], Step] = {}
    raw: set[str] = set()
    seen, front, depth = {origin}, [origin], 0
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


def sentences(macro: str, paper: Path) -> Iterator[str]:
    """`file, line N: text` for every line of the paper that prints a macro."""
    pattern = re.compile(rf"\\{re.escape(macro)}(?![A-Za-z@])")
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
            or not states[name].startswith("sha256")
            or "CHANGED" in states[name]
        ]
        yield from (f"{name}   {states[name]}" for name in shown)
        if len(shown) < len(members):
            yield f"{folder}/ … {len(members) - len(shown)} more files like these"


def report(
    macro: str, numbers: Mapping[str, Any], results: Path, paper: Path, *, whole: bool = False
) -> Iterator[str]:
    """The lines of the chain. DataError for a macro that the paper does not have."""
    macros = numbers["macros"]
    name = macro.removeprefix("\\")
    if name not in macros:
        near = difflib.get_close_matches(name, macros, n=1)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise DataError(f"{macro}: no number of the paper has this name{hint}")
    entry = macros[name]
    yield f"\\{name}   printed {entry['printed']}   value {json.dumps(entry['value'])}"
    yield "in the text"
    found = list(sentences(name, paper))
    yield from (f"  {line}" for line in found or ["nowhere in this version of the text"])
    if entry["file"] == CONFIGURATION:
        yield f"from the configuration of the run: {entry['column']}"
        return
    origin = f"{results.as_posix()}/{entry['file']}"
    yield "read from"
    rows = ", ".join(map(str, entry["rows"])) or "none"
    where = ", ".join(f"{key} = {value}" for key, value in entry["where"].items())
    yield f"  {origin}, row {rows}, column {entry['column'] or 'none'} ({where or 'all rows'})"
    if entry.get("reason"):
        yield f"  no value: {entry['reason']}"
    provenance = read_provenance(results)
    jobs, raw = steps(origin, provenance)
    seed = macros.get("Seed", {}).get("value")
    yield "made by" + (f" (seed {seed})" if seed is not None else "")
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
    """Print the chain of one macro."""
    parser = argparse.ArgumentParser(prog="python -m scripts.publishing.trace", description=__doc__)
    parser.add_argument("macro", help="name of the macro, with or without its backslash")
    parser.add_argument("--results", type=Path, default=Path("results"))
    parser.add_argument("--paper", type=Path, default=Path("paper"))
    parser.add_argument("--whole", action="store_true", help="list every file")
    chosen = parser.parse_args(arguments)
    try:
        numbers = read_json(chosen.results / "paper" / "numbers.json")
        for line in report(chosen.macro, numbers, chosen.results, chosen.paper, whole=chosen.whole):
            print(line)
    except (OSError, DataError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
