"""Checking the configuration before anything runs, with messages a person can act on."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import Any

import jsonschema

from scripts.workflow.config_files import ConfigurationError, load_quickly, place, read_yaml
from scripts.workflow.consistency import benchmark_problems, entry_problems
from scripts.workflow.pasted_keys import key_problems, without_keys

__all__ = ["ConfigurationError", "check_configuration", "leave_out", "read_yaml"]

ROOT = Path(__file__).resolve().parents[2]
SCHEMA_FILE = ROOT / "config" / "schema.yaml"

# Keys that once existed, and what to write instead.
RETIRED_KEYS: dict[str, str] = {}

# Mappings of which an overlay may take an entry away by setting it to null.
MAY_BE_LEFT_OUT = (
    ("syntaxbench", "tasks"),
    ("multitempbench", "languages"),
    ("multitempbench", "quota"),
)


def check_configuration(
    config: Mapping[str, Any],
    schema_file: Path = SCHEMA_FILE,
    sources: Mapping[str, Path | Mapping[str, Any]] | None = None,
) -> None:
    """Raise ConfigurationError unless the configuration fits the schema and is consistent.

    `sources`: the files that it was read from, and other mappings that were merged into it, in
    order of rising precedence; a problem then says in which of them, and where, its key stands.
    """
    schema = load_quickly(schema_file)
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
    """Remove, in place, what an overlay sets to null in a mapping of MAY_BE_LEFT_OUT.

    Overlays merge mappings, so this is the one way in which they can take a name away.
    """
    for section, name in MAY_BE_LEFT_OUT:
        part = config.get(section)
        mapping = part.get(name) if isinstance(part, dict) else None
        if isinstance(mapping, dict):
            for key in [key for key, value in mapping.items() if value is None]:
                del mapping[key]


def schema_problems(config: Mapping[str, Any], schema: Mapping[str, Any]) -> Iterator[str]:
    """One sentence per violation: the key, the value, and what is allowed."""
    validator = jsonschema.Draft202012Validator(schema)
    errors = sorted(validator.iter_errors(config), key=lambda e: [str(p) for p in e.absolute_path])
    for error in errors:
        yield from _explain(error)


def _explain(error: jsonschema.ValidationError) -> Iterator[str]:
    key = ".".join(str(part) for part in error.absolute_path) or "(top level)"
    schema: Any = error.schema
    allowed: Any = error.validator_value
    if error.validator == "additionalProperties":
        known = sorted(schema.get("properties", {}))
        for name in sorted(set(error.instance) - set(known)):  # type: ignore[arg-type]
            path = name if key == "(top level)" else f"{key}.{name}"
            if path in RETIRED_KEYS:
                yield f"{path}: this key was retired; {RETIRED_KEYS[path]}"
                continue
            near = difflib.get_close_matches(str(name), known, n=1)
            hint = f"did you mean {near[0]!r}? " if near else ""
            yield f"{path}: unknown key; {hint}allowed here: {', '.join(known)}"
    elif error.validator == "enum":
        options = ", ".join(map(repr, allowed))
        yield f"{key}: {error.instance!r} is not allowed; allowed: {options}"
    elif error.validator == "required":
        missing = sorted(set(allowed) - set(error.instance))  # type: ignore[arg-type]
        yield f"{key}: missing key(s) {', '.join(missing)}"
    elif error.validator == "type":
        names = [allowed] if isinstance(allowed, str) else allowed
        wanted = " or ".join(TYPE_NAMES.get(name, name) for name in names)
        shown = _short(repr(error.instance))
        hint = _type_hint(error.instance, names)
        yield f"{key}: {shown} is {_type_name(error.instance)}, expected {wanted}{hint}"
    elif error.validator in ("anyOf", "oneOf"):
        yield f"{key}: {_short(error.instance)} fits none of the forms allowed; " + _forms(schema)
    elif error.validator == "pattern" and "propertyNames" in error.absolute_schema_path:
        yield (
            f"{key}.{error.instance}: no name; it becomes a file name: small letters, digits, "
            "'.', '_' and '-', beginning with a letter or digit"
        )
    elif key.endswith("api_key_environment"):
        # Whatever stands there may be a key pasted by mistake: it is not repeated.
        yield (
            f"{key}: must be the NAME of an environment variable (capital letters, digits, "
            "underscores), never the key itself"
        )
    else:
        yield f"{key}: {_short(error.message, 200)}"


def _type_hint(value: Any, wanted: Sequence[str]) -> str:
    """What makes a value of the type that is wanted out of one that YAML read otherwise."""
    if value is None:
        return "; give it a value, or remove the line"
    if isinstance(value, str) and {"number", "integer"} & set(wanted):
        with suppress(ValueError):
            number = float(value)
            shown = int(number) if number.is_integer() else number
            return f"; write {shown} without quotes"
    if "string" in wanted and not isinstance(value, (list, dict)):
        return "; put it in quotes"
    return ""


def _forms(schema: Mapping[str, Any]) -> str:
    forms = schema.get("anyOf") or schema.get("oneOf") or []
    return "allowed: " + "; or ".join(
        str(form.get("description") or form.get("enum") or form.get("type") or form)
        for form in forms
    )


def _short(value: Any, limit: int = 80) -> str:
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= limit else text[: limit - 1] + "…"


# How types are called in YAML.
TYPE_NAMES = {"object": "a mapping", "array": "a list"}


def _type_name(value: Any) -> str:
    names = {bool: "a boolean", str: "a string", int: "an integer", float: "a number"}
    names |= {list: "a list", dict: "a mapping", type(None): "empty", date: "a date"}
    return names.get(type(value), type(value).__name__)


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
