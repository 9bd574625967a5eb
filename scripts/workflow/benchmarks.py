"""The benchmarks of this checkout: found, not listed.

A benchmark is a folder `scripts/NAME` with

- `benchmark.yaml`: its title, its pieces of the paper (benchmark.schema.yaml has every key),
- `schema.yaml`: the JSON Schema of its section of the configuration,
- `config.yaml`, where config.yaml of the project does not have the section: configuration that
  everything else wins over,
- `configuration.py`, where the schema does not say all: functions of the section (HOOKS),

and `rules/NAME.smk`. Nothing outside these names it.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from scripts.workflow.config_files import ConfigurationError, load_quickly, read_yaml
from scripts.workflow.schemas import schema_problems

ROOT = Path(__file__).resolve().parents[2]
DECLARATION = "benchmark.yaml"
DECLARATION_SCHEMA = Path(__file__).with_name("benchmark.schema.yaml")
#: Folders and modules of scripts/ that every benchmark uses.
SHARED_ROOMS = (
    *("corpora", "dates", "documents", "execution", "files", "inference", "judging", "machine"),
    *("probing", "publishing", "records", "retrieval", "statistics", "tokenisation", "workflow"),
)
#: Names that mean something else: sections of the configuration, folders of results, files of
#: rules/, and conditionals of TeX or of the paper.
TAKEN = (
    *("run", "models", "embedders", "archive", "benchmarks", "logs", "manifests", "paper", "store"),
    *("claims", "common", "release", "report", "reproduction", "data", "embedded", "replay"),
    *("fullrun", "true", "false", "case", "cat", "dim", "eof", "num", "odd", "void", "hbox"),
    *("vbox", "hmode", "vmode", "mmode", "inner", "defined", "csname"),
)
#: Pieces of the paper that are text, as main.tex reads them.
TEXTS = ("abstract", "introduction", "section", "shared_axis", "limitations", "appendix")
#: What `configuration.py` of a benchmark may define, each a function of its section:
#: `check(section, config)` yields a sentence per problem, beginning with the key;
#: `further_models(section)` and `embedders(section)` yield (key below the section, name) of what is
#: asked beside the `models` and `baselines`; `corpora(section)` yields names of corpora;
#: `given(section, fetched)` yields names of rules whose outputs a release holds as they are,
#: `fetched` saying whether a corpus is downloaded (scripts/workflow/release/given.py).
HOOKS = ("check", "further_models", "embedders", "corpora", "given")


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A benchmark as its folder declares it. `parts`: piece of the paper to file."""

    name: str
    title: str
    parts: Mapping[str, str]
    removable: tuple[str, ...]
    shared_axis: Mapping[str, Any] | None

    def hook(self, name: str) -> Callable[..., Iterator[Any]]:
        """A function of its `configuration.py`; one that yields nothing where it has none."""
        found = getattr(_configuration_of(self.name), name, None)
        return found or _nothing


@cache
def found(root: Path = ROOT) -> dict[str, Benchmark]:
    """All benchmarks by name, sorted. Raises ConfigurationError for one that is not complete."""
    names = _names(root)
    problems = [problem for name in names for problem in _problems(name, root)]
    if problems:
        raise ConfigurationError(problems)
    return {name: _read(name, root) for name in names}


def texts_of(names: Iterable[str], root: Path = ROOT) -> dict[str, list[str]]:
    """Piece of the paper to the files of the benchmarks that have it, in the order of the names."""
    parts = [found(root)[name].parts for name in names]
    return {piece: [each[piece] for each in parts if piece in each] for piece in TEXTS}


def default_files(root: Path = ROOT) -> list[str]:
    """Files of configuration that the benchmarks bring, relative to the root."""
    files = [f"scripts/{name}/config.yaml" for name in _names(root)]
    return [file for file in files if (root / file).is_file()]


def whole_schema(root: Path = ROOT) -> dict[str, Any]:
    """The schema of the configuration with the section of every benchmark."""
    schema: dict[str, Any] = load_quickly(root / "config" / "schema.yaml")
    names = list(found(root))
    schema["properties"]["run"]["properties"]["benchmarks"]["items"] = {"enum": names}
    for name in names:
        section = load_quickly(root / "scripts" / name / "schema.yaml")
        own = section.pop("$defs", {})
        renamed = {f"#/$defs/{key}": f"#/$defs/{name}.{key}" for key in own}
        schema["properties"][name] = _with_references(section, renamed)
        schema["$defs"] |= {f"{name}.{key}": _with_references(own[key], renamed) for key in own}
    return schema


def _with_references(node: Any, renamed: Mapping[str, str]) -> Any:
    """A schema whose references go to definitions under other names."""
    if isinstance(node, dict):
        return {
            key: renamed.get(value, value) if key == "$ref" else _with_references(value, renamed)
            for key, value in node.items()
        }
    return [_with_references(value, renamed) for value in node] if isinstance(node, list) else node


def _names(root: Path) -> list[str]:
    return sorted(path.parent.name for path in root.glob(f"scripts/*/{DECLARATION}"))


def _problems(name: str, root: Path) -> Iterator[str]:
    """What is wrong with the folder of a benchmark, each with what to do."""
    folder = f"scripts/{name}"
    others = ", ".join(other for other in _names(root) if other != name)
    if name in SHARED_ROOMS:
        yield (
            f"{folder}/{DECLARATION}: scripts/{name} is shared by all benchmarks; give the "
            f"benchmark a folder of another name (benchmarks: {others}; shared: "
            f"{', '.join(SHARED_ROOMS)})"
        )
        return
    if name in TAKEN or not re.fullmatch("[a-z]{3,}", name):
        yield (
            f"{folder}: {name!r} cannot be the name of a benchmark; small letters only, three at "
            f"least, and none of {', '.join(TAKEN)}"
        )
        return
    for file, content in (
        (f"{folder}/schema.yaml", "the JSON Schema of its section of the configuration"),
        (f"rules/{name}.smk", "its rules"),
    ):
        if not (root / file).is_file():
            yield f"{file}: missing; {folder} has a {DECLARATION}, so it needs {content}"
    yield from _declaration_problems(f"{folder}/{DECLARATION}", root)
    yield from _schema_problems(f"{folder}/schema.yaml", root)


def _declaration_problems(file: str, root: Path) -> Iterator[str]:
    declaration = read_yaml(root / file)
    problems = list(schema_problems(declaration, load_quickly(DECLARATION_SCHEMA)))
    yield from (f"{file}: {problem}" for problem in problems)
    if not problems:
        for part, path in declaration.get("paper", {}).items():
            if not (root / path).is_file():
                yield f"{file}: paper.{part}: {path}: no such file"


def _schema_problems(file: str, root: Path) -> Iterator[str]:
    """Every section names its models and baselines: what all benchmarks share reads them."""
    if (root / file).is_file():
        schema = read_yaml(root / file)
        required = set(schema.get("required", [])) if isinstance(schema, dict) else set()
        for key in sorted({"models", "baselines", "decoding"} - required):
            yield f"{file}: required: {key} is missing; the rules of every benchmark read it"


def _read(name: str, root: Path) -> Benchmark:
    entry = load_quickly(root / "scripts" / name / DECLARATION)
    return Benchmark(
        name,
        entry["title"],
        entry.get("paper", {}),
        tuple(entry.get("removable", [])),
        entry.get("shared_axis"),
    )


@cache
def _configuration_of(name: str) -> Any:
    """The module `configuration` of a benchmark's folder, or None."""
    file = ROOT / "scripts" / name / "configuration.py"
    return importlib.import_module(f"scripts.{name}.configuration") if file.is_file() else None


def _nothing(*_: Any) -> Iterator[Any]:
    return iter(())
