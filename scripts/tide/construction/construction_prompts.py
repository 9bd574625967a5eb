"""The prompts of `prompts.yaml`: read strictly, filled in one pass."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scripts.files import DataError, read_yaml
from scripts.tide.prompts import JURISDICTION
from scripts.tide.tasks import TASKS

LEVELS = ("Act", "SRO", "Rule", "GO")
_MARK = re.compile(r"\{\{(\w+)\}\}")
#: The marks of each prompt, each of which stands in it once.
MARKS: dict[str, dict[str, tuple[str, ...]]] = {
    "entities": {
        "system": ("jurisdiction", "level", "hostile"),
        "user": ("known", "document", "date", "title", "text"),
    },
    "sub_entities": {
        "system": ("jurisdiction", "hostile"),
        "user": ("entities", "document", "date", "text"),
    },
    "aliases": {"system": ("jurisdiction",), "user": ("names", "pairs")},
    "threads": {"system": ("jurisdiction", "hostile"), "user": ("name", "members", "provisions")},
    "generation": {
        "system": ("jurisdiction", "target", "hostile", "task", "instructions"),
        "user": (*("title", "concept", "summary", "dimensions", "timeline", "provisions"),),
    },
}


@dataclass(frozen=True)
class ConstructionPrompts:
    """System and user template of every step, the levels' sentences, the tasks' instructions.

    `jurisdiction` is whose law the corpus is.
    """

    templates: Mapping[str, Mapping[str, str]]
    levels: Mapping[str, str]
    hostile: str
    tasks: Mapping[str, str]
    jurisdiction: str = JURISDICTION

    def messages(self, step: str, values: Mapping[str, str]) -> list[dict[str, str]]:
        """The two messages of a step. Marks inside a value are text: nothing is filled twice."""
        known = {"hostile": self.hostile, "jurisdiction": self.jurisdiction, **values}
        return [
            {
                "role": role,
                "content": _MARK.sub(lambda match: known[match[1]], self.templates[step][role]),
            }
            for role in ("system", "user")
        ]


def _texts(value: Any, names: tuple[str, ...], where: str) -> dict[str, str]:
    if not isinstance(value, dict) or set(value) != set(names):
        raise DataError(f"{where}: expected exactly the keys {', '.join(names)}")
    for name, text in value.items():
        if not isinstance(text, str) or not text.strip():
            raise DataError(f"{where}.{name}: expected a text")
    return dict(value)


def parse_prompts(
    content: Any, where: str, jurisdiction: str = JURISDICTION
) -> ConstructionPrompts:
    """The prompts from parsed YAML; DataError names the file and what is wrong with it."""
    keys = {*MARKS, "levels", "hostile"}
    if not isinstance(content, dict) or set(content) != keys:
        raise DataError(f"{where}: expected exactly the keys {', '.join(sorted(keys))}")
    templates = {}
    for step, marks in MARKS.items():
        given = content[step]
        if step == "generation" and isinstance(given, dict):
            given = {role: text for role, text in given.items() if role != "tasks"}
        templates[step] = _texts(given, ("system", "user"), f"{where}: {step}")
        for role, wanted in marks.items():
            if sorted(_MARK.findall(templates[step][role])) != sorted(wanted):
                raise DataError(
                    f"{where}: {step}.{role} must hold each of the marks {list(wanted)} once"
                )
    hostile = _texts({"hostile": content["hostile"]}, ("hostile",), where)["hostile"]
    levels = _texts(content["levels"], LEVELS, f"{where}: levels")
    tasks = _texts(content["generation"].get("tasks"), tuple(TASKS), f"{where}: generation.tasks")
    return ConstructionPrompts(templates, levels, hostile.strip(), tasks, jurisdiction)


def load_prompts(path: Path | str, jurisdiction: str = JURISDICTION) -> ConstructionPrompts:
    """Read a prompt file; DataError for anything that is none."""
    return parse_prompts(read_yaml(path), str(path), jurisdiction)
