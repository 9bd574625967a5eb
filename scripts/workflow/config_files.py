"""Files of the configuration: strict reading, and where in which of them a key stands."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

try:  # libyaml's parser where PyYAML has it: reading is a good part of a job's start.
    from yaml import CSafeLoader as FastLoader
except ImportError:
    from yaml import SafeLoader as FastLoader  # type: ignore[assignment]


class ConfigurationError(ValueError):
    """The configuration cannot be used; the message lists every problem found."""

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = list(problems)
        lines = "\n".join(f"  - {problem}" for problem in self.problems)
        super().__init__(
            f"the configuration has {len(self.problems)} problem(s):\n{lines}\n"
            "Keys and values are documented in docs/configuration.md and config/schema.yaml."
        )


class _Loader(FastLoader):
    """Safe YAML in which a key that stands twice is an error: the second would win in silence."""

    path = Path()


def _mapping(loader: Any, node: yaml.MappingNode) -> dict[Any, Any]:
    seen: set[Any] = set()
    for key_node, _ in node.value:
        line = key_node.start_mark.line + 1
        key = loader.construct_object(key_node, deep=True)
        try:
            twice = key in seen
        except TypeError:
            raise ConfigurationError(
                [f"{loader.path}, line {line}: a key must be a word, not a list or mapping"]
            ) from None
        if twice:
            raise ConfigurationError([f"{loader.path}, line {line}: {key!r} stands twice"])
        seen.add(key)
    found: dict[Any, Any] = loader.construct_mapping(node, deep=True)
    return found


_Loader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping)


def read_yaml(path: Path) -> Any:
    """The content of a YAML file.

    Raises ConfigurationError naming file and line for what is no YAML, for a key that stands twice,
    and for a file that cannot be read.
    """
    text = _text(path)
    loader = _Loader(text)
    loader.path = path
    try:
        return loader.get_single_data()
    except yaml.YAMLError as error:
        raise ConfigurationError([f"{path}{_reason(error, text)}"]) from error
    finally:
        loader.dispose()


def load_quickly(path: Path) -> Any:
    """The content of a YAML file of our own."""
    return yaml.load(path.read_text(encoding="utf-8"), Loader=FastLoader)


def read_config(path: Path) -> dict[str, Any]:
    """A configuration file, which must be a mapping with at least one key."""
    content = read_yaml(path)
    if content is None:
        raise ConfigurationError([f"{path}: empty; write at least one key, or leave the file out"])
    if not isinstance(content, dict):
        kind = "a list" if isinstance(content, list) else type(content).__name__
        raise ConfigurationError(
            [f"{path}: holds {kind}; a configuration is keys with values (key: value)"]
        )
    return content


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        there = sorted(str(p) for p in Path("config").glob("*.yaml") if p.stem != "schema")
        near = difflib.get_close_matches(str(path), there, n=1)
        hint = f"did you mean {near[0]}? " if near else ""
        raise ConfigurationError(
            [f"{path}: no such file; {hint}overlays here: {', '.join(there)}"]
        ) from None
    except UnicodeDecodeError as error:
        raise ConfigurationError(
            [f"{path}: not UTF-8 (byte {error.start}); save it as UTF-8"]
        ) from error
    except OSError as error:
        raise ConfigurationError([f"{path}: cannot be read ({error.strerror})"]) from error


def _reason(error: yaml.YAMLError, text: str) -> str:
    """Line and reason of a YAML error, in one line; values of the file are not repeated."""
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    problem = " ".join(str(getattr(error, "problem", None) or "unreadable").split())
    if mark is None:
        return f": not valid YAML ({problem})"
    if "expected a single document" in str(error):
        problem = "a line of --- begins a second document; a configuration is one"
    elif "constructor for the tag" in problem:
        problem = "a configuration holds plain values, no tags (!)"
    lines = [*text.split("\n"), ""]
    tab = lines[min(mark.line, len(lines) - 1)].lstrip(" ").startswith("\t")
    hint = "; indent with spaces, not with tabs" if tab else ""
    return f", line {mark.line + 1}: not valid YAML ({problem}){hint}"


def place(key: str, sources: Mapping[str, Path | Mapping[str, Any]]) -> str | None:
    """Where a key of a problem stands: "FILE, line N", or the name of a source without lines.

    `sources` in order of rising precedence: files, or mappings by the name to print. Of the sources
    that hold the key, or the longest beginning of it, the last one is meant.
    """
    best: tuple[int, str] | None = None
    for name, source in sources.items():
        if isinstance(source, Path):
            depth, line = _line(_compose(source), key)
            where = f"{os.path.relpath(name)}, line {line}"
        else:
            depth, where = _depth(source, key), name
        if depth and (best is None or depth >= best[0]):
            best = (depth, where)
    return best[1] if best else None


def _compose(path: Path) -> yaml.Node | None:
    try:
        node: yaml.Node | None = yaml.compose(_text(path), Loader=FastLoader)
    except (yaml.YAMLError, ConfigurationError):
        return None
    return node


def _line(node: yaml.Node | None, key: str) -> tuple[int, int]:
    """How many steps of a dotted key a document has, and the line of the last one (from 1)."""
    depth, line, rest = 0, 0, key
    while rest:
        if isinstance(node, yaml.MappingNode):
            names = {str(name.value): (name, value) for name, value in node.value}
            found = _step(rest, names)
            if found is None:
                break
            step, node = names[found]
            line, rest = step.start_mark.line + 1, _after(rest, found)
        elif isinstance(node, yaml.SequenceNode):
            number = re.match(r"\[?(\d+)\]?(?=\.|\[|$)", rest)
            if number is None or int(number[1]) >= len(node.value):
                break
            node = node.value[int(number[1])]
            line, rest = node.start_mark.line + 1, _after(rest, number[0])
        else:
            break
        depth += 1
    return depth, line


def _depth(value: Any, key: str) -> int:
    """How many steps of a dotted key a mapping has."""
    depth, rest = 0, key
    while rest and isinstance(value, Mapping):
        names = {str(name): entry for name, entry in value.items()}
        found = _step(rest, names)
        if found is None:
            break
        value, rest, depth = names[found], _after(rest, found), depth + 1
    return depth


def _step(rest: str, names: Mapping[str, Any]) -> str | None:
    """The longest name with which a dotted key goes on; names may hold dots themselves."""

    def fitting() -> Iterator[str]:
        for name in names:
            if rest == name or rest.startswith((f"{name}.", f"{name}[")):
                yield name

    return max(fitting(), key=len, default=None)


def _after(rest: str, step: str) -> str:
    return rest[len(step) :].removeprefix(".")
