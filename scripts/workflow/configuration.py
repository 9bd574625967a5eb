"""Checking the configuration before anything runs, with messages a person can act on."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from pathlib import Path
from typing import Any

import jsonschema
import yaml

from scripts.workflow.consistency import benchmark_problems, path_problems

try:  # libyaml's parser where PyYAML has it: reading is a good part of a job's start.
    from yaml import CSafeLoader as FastLoader
except ImportError:
    from yaml import SafeLoader as FastLoader  # type: ignore[assignment]

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


class ConfigurationError(ValueError):
    """The configuration cannot be used; the message lists every problem found."""

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = list(problems)
        lines = "\n".join(f"  - {problem}" for problem in self.problems)
        super().__init__(
            f"the configuration has {len(self.problems)} problem(s):\n{lines}\n"
            "Keys and values are documented in docs/configuration.md and config/schema.yaml."
        )


def check_configuration(config: Mapping[str, Any], schema_file: Path = SCHEMA_FILE) -> None:
    """Raise ConfigurationError unless the configuration fits the schema and is consistent."""
    schema = yaml.load(schema_file.read_text(encoding="utf-8"), Loader=FastLoader)
    problems = [*not_finite(config), *schema_problems(config, schema)]
    if not problems:
        problems = list(consistency_problems(config))
    if problems:
        raise ConfigurationError(problems)


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
        wanted = allowed if isinstance(allowed, str) else " or ".join(allowed)
        yield f"{key}: {error.instance!r} is {_type_name(error.instance)}, expected {wanted}"
    elif error.validator in ("anyOf", "oneOf"):
        yield f"{key}: {_short(error.instance)} fits none of the forms allowed; " + _forms(schema)
    elif key.endswith("api_key_environment"):
        # Whatever stands there may be a key pasted by mistake: it is not repeated.
        yield (
            f"{key}: must be the NAME of an environment variable (capital letters, digits, "
            "underscores), never the key itself"
        )
    else:
        yield f"{key}: {_short(error.message, 200)}"


def _forms(schema: Mapping[str, Any]) -> str:
    forms = schema.get("anyOf") or schema.get("oneOf") or []
    return "allowed: " + "; or ".join(
        str(form.get("description") or form.get("enum") or form.get("type") or form)
        for form in forms
    )


def _short(value: Any, limit: int = 80) -> str:
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _type_name(value: Any) -> str:
    names = {bool: "a boolean", str: "a string", int: "an integer", float: "a number"}
    names |= {list: "a list", dict: "a mapping", type(None): "empty"}
    return names.get(type(value), type(value).__name__)


def consistency_problems(config: Mapping[str, Any]) -> Iterator[str]:
    """What a schema cannot say: names that must exist elsewhere, and limits that must agree."""
    yield from path_problems(config["corpora"])
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


def read_yaml(path: Path) -> Any:
    """YAML with duplicate keys refused: the second would silently replace the first."""

    class Loader(FastLoader):
        pass

    def mapping(loader: yaml.SafeLoader, node: yaml.MappingNode) -> dict[Any, Any]:
        seen: set[Any] = set()
        for key_node, _ in node.value:
            key = loader.construct_object(key_node)
            if key in seen:
                raise ConfigurationError(
                    [f"{path}, line {key_node.start_mark.line + 1}: {key!r} stands twice"]
                )
            seen.add(key)
        return loader.construct_mapping(node, deep=True)

    Loader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, mapping)
    try:
        text = path.read_text(encoding="utf-8")
        return yaml.load(text, Loader=Loader)  # noqa: S506 - a SafeLoader
    except yaml.YAMLError as error:
        raise ConfigurationError([f"{path}: not valid YAML: {error}"]) from error
