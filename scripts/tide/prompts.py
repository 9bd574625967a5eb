"""Prompts of TIDE as one file, and the messages that are made of them.

The system message is the block of source documents (where there is one) and the preamble, the user
message is the task's body: questions over the same documents share their beginning, and the three
settings differ in the block and in the preamble's closing sentence only. Paper: sections A.8.4 to
A.8.6.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scripts.files import DataError, read_yaml
from scripts.inference.schemas import object_schema
from scripts.tide.contexts import MARK
from scripts.tide.shown_text import one_line, shown
from scripts.tide.tasks import IDENTIFICATION, TASKS

#: Verdicts on a statement.
VERDICTS = ("CORRECT", "INCORRECT")
#: Longest reasoning inside a constrained answer where the configuration names no other length.
REASONING_CHARACTERS = 40

#: Whose law the questions are about, where the configuration names nobody else.
JURISDICTION = "Bangladesh"

_MARK = re.compile(r"\{\{(\w+)\}\}")
# A body shows what a model may see; the statement's own question is the body itself.
_SHOWN = {name: sorted(task.shown) for name, task in TASKS.items()} | {
    "perturbation_detection": ["statement"],
    IDENTIFICATION: ["statement"],
}
_OWN_MARKS = {"subject": ["jurisdiction"], "introduction": _MARK.findall(MARK)}
_PARTS = {
    "preamble": ("subject", "closed_book", "grounded"),
    "context": ("introduction", "empty"),
    "bodies": tuple(_SHOWN),
}


@dataclass(frozen=True)
class Prompts:
    """The sentences of the preamble, those around documents, and a body for each task."""

    subject: str
    closed_book: str
    grounded: str
    introduction: str
    empty: str
    bodies: Mapping[str, str]

    def system(self, block: str) -> str:
        """The system message: the preamble alone, or behind a block of documents."""
        if not block:
            return f"{self.subject} {self.closed_book}"
        return f"{block}\n\n{self.subject} {self.grounded}"

    def body(self, task: str, inputs: Mapping[str, Any]) -> str:
        """The user message of a task, filled in one pass."""
        return _MARK.sub(lambda match: _written(inputs[match[1]]), self.bodies[task])

    def messages(self, task: str, inputs: Mapping[str, Any], block: str) -> list[dict[str, str]]:
        """The messages of one question."""
        return [
            {"role": "system", "content": self.system(block)},
            {"role": "user", "content": self.body(task, inputs)},
        ]


def _written(value: Any) -> str:
    """A field as it is shown; a list is numbered from 0, one entry a line."""
    if isinstance(value, list):
        return "\n".join(f"{index}. {one_line(entry)}" for index, entry in enumerate(value))
    return shown(str(value).strip())


def parse_prompts(content: Any, where: str, jurisdiction: str = JURISDICTION) -> Prompts:
    """Prompts from parsed YAML; DataError names the file and what is wrong with it."""
    if not isinstance(content, dict) or set(content) != set(_PARTS):
        raise DataError(f"{where}: expected exactly the keys {', '.join(_PARTS)}")
    for part, keys in _PARTS.items():
        if not isinstance(content[part], dict) or set(content[part]) != set(keys):
            raise DataError(f"{where}: {part} needs exactly the keys {', '.join(keys)}")
        for key, text in content[part].items():
            if not isinstance(text, str) or not text.strip():
                raise DataError(f"{where}: {part}.{key} must be a text")
            wanted = _SHOWN[key] if part == "bodies" else []
            wanted = _OWN_MARKS.get(key, wanted)
            if sorted(_MARK.findall(text)) != wanted:
                raise DataError(f"{where}: {part}.{key} must hold the marks {wanted}, each once")
    preamble = dict(content["preamble"])
    preamble["subject"] = _MARK.sub(lambda _: jurisdiction, preamble["subject"])
    return Prompts(**preamble, **content["context"], bodies=content["bodies"])


def load_prompts(path: Path | str, jurisdiction: str = JURISDICTION) -> Prompts:
    """Read a prompt file; DataError for anything that is no prompt file.

    `jurisdiction` is whose law the questions are about: a republic of its own, where the corpus is
    fictional.
    """
    return parse_prompts(read_yaml(path), str(path), jurisdiction)


def response_schema(
    task: str, inputs: Mapping[str, Any], reasoning_characters: int | None = REASONING_CHARACTERS
) -> dict[str, Any] | None:
    """JSON Schema of a task's answer, for schema-constrained decoding; None for a free answer.

    `required` lists the properties in the order in which they are written. Reasoning is at most
    `reasoning_characters` long (None: no limit), so that a small limit of tokens still leaves room
    for the answer behind it.
    """
    kind = TASKS[task].kind
    reasoning: dict[str, Any] = {"type": "string"}
    if reasoning_characters is not None:
        reasoning["maxLength"] = reasoning_characters
    if kind == "choice":
        last = len(inputs["options"]) - 1
        index = {"type": "integer", "minimum": 0, "maximum": last}
        return object_schema({"reasoning": reasoning, "choice_index": index})
    if kind == "order":
        events = len(inputs["events_shuffled"])
        index = {"type": "integer", "minimum": 0, "maximum": events - 1}
        order = {"type": "array", "items": index, "minItems": events, "maxItems": events}
        return object_schema({"ordered_indices": order})
    if kind == "verdict":
        verdict = {"type": "string", "enum": list(VERDICTS)}
        return object_schema({"reasoning": reasoning, "verdict": verdict})
    return None
