"""Checking the configuration before anything runs, with messages a person can act on."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, MutableMapping
from pathlib import Path
from typing import Any

from scripts.workflow import benchmarks
from scripts.workflow.config_files import ConfigurationError, place, read_yaml
from scripts.workflow.consistency import benchmark_problems, entry_problems
from scripts.workflow.pasted_keys import key_problems, without_keys
from scripts.workflow.schemas import schema_problems

__all__ = ["ConfigurationError", "check_configuration", "leave_out", "read_yaml"]


def check_configuration(
    config: Mapping[str, Any],
    sources: Mapping[str, Path | Mapping[str, Any]] | None = None,
) -> None:
    """Raise ConfigurationError unless the configuration fits the schema and is consistent.

    `sources`: the files that it was read from, and other mappings that were merged into it, in
    order of rising precedence; a problem then says in which of them, and where, its key stands.
    """
    schema = benchmarks.whole_schema()
    problems = list(key_problems(config))
    if not problems:
        problems = [*not_finite(config), *schema_problems(config, schema)]
    if not problems:
        problems = list(consistency_problems(config))
    if problems:
        raise ConfigurationError([_placed(problem, sources or {}) for problem in problems])


def _placed(problem: str, sources: Mapping[str, Path | Mapping[str, Any]]) -> str:
    """The problem with the place of its key, and without anything that looks like a key."""
    found = place(problem.partition(": ")[0], sources)
    return without_keys(f"{problem} ({found})" if found else problem)


def leave_out(config: MutableMapping[str, Any]) -> None:
    """Remove, in place, what an overlay sets to null in a mapping that a benchmark lets shrink.

    Overlays merge mappings, so this is the one way in which they can take a name away.
    """
    for benchmark in benchmarks.found().values():
        part = config.get(benchmark.name)
        for name in benchmark.removable:
            mapping = part.get(name) if isinstance(part, dict) else None
            if isinstance(mapping, dict):
                for key in [key for key, value in mapping.items() if value is None]:
                    del mapping[key]


def consistency_problems(config: Mapping[str, Any]) -> Iterator[str]:
    """What a schema cannot say: names that must exist elsewhere, and limits that must agree."""
    yield from entry_problems(config)
    for benchmark in config["run"]["benchmarks"]:
        if config.get(benchmark) is None:
            yield f"run.benchmarks: {benchmark!r} has no section of that name"
        else:
            yield from benchmark_problems(benchmark, config)


def not_finite(value: Any, key: str = "") -> Iterator[str]:
    """Keys whose value is NaN or infinite, which YAML allows and no setting of ours means."""
    if isinstance(value, Mapping):
        for name, entry in value.items():
            yield from not_finite(entry, f"{key}.{name}" if key else str(name))
    elif isinstance(value, list):
        for position, entry in enumerate(value):
            yield from not_finite(entry, f"{key}[{position}]")
    elif isinstance(value, float) and not math.isfinite(value):
        yield f"{key}: {value} is not a finite number"
