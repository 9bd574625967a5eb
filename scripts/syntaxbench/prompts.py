"""Prompts as files, and requests made of them: one per item and number of shots.

A template is a YAML file with `task`, `system`, `user` and, for inputs that are lists, `elements`.
Inputs are written as `{{name}}` and filled in a single pass, so that nothing inside an input is
ever read as a template. Paper: appendix A.3 and A.4.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scripts.files import DataError, read_yaml
from scripts.records import Item, Request
from scripts.syntaxbench.tasks import TASKS, Task

_PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}")
_MARKER = re.compile(r"</?\w+>")


@dataclass(frozen=True)
class Prompt:
    """The prompt of one task. `elements` says how one entry of a list input is written."""

    task: Task
    system: str
    user: str
    elements: Mapping[str, str] = field(default_factory=dict)

    def render(self, inputs: Mapping[str, Any]) -> str:
        """The user message of an item.

        Raises DataError when an input is missing, or holds one of the template's own markers and
        could therefore pass for the end of the input.
        """
        missing = sorted(set(self.task.inputs) - set(inputs))
        if missing:
            raise DataError(f"{self.task.name}: the item lacks {missing}; build the items again")
        values = {name: self._value(name, inputs[name]) for name in self.task.inputs}
        return _PLACEHOLDER.sub(lambda match: values[match[1]], self.user)

    def _value(self, name: str, value: Any) -> str:
        parts = [str(part) for part in (value if isinstance(value, list) else [value])]
        markers = set(_MARKER.findall(self.user + "".join(self.elements.values())))
        for part in parts:
            found = sorted(marker for marker in markers if marker in part)
            if found:
                raise DataError(
                    f"{self.task.name}: the input {name} contains the marker {found[0]}; "
                    "leave that text out of the corpus"
                )
        if name in self.elements:
            element = self.elements[name]
            before, _, after = element.partition("{{element}}")
            parts = [before + part + after for part in parts]
        return "\n".join(parts)


def _placeholders(text: str) -> list[str]:
    return sorted(_PLACEHOLDER.findall(text))


def parse_prompt(content: Any, where: str) -> Prompt:
    """A prompt from parsed YAML; DataError names the file and what is wrong with it."""
    if not isinstance(content, dict):
        raise DataError(f"{where}: expected the keys task, system, user")
    unknown = sorted(set(content) - {"task", "system", "user", "elements"})
    if unknown:
        raise DataError(f"{where}: unknown keys {unknown}; known: task, system, user, elements")
    texts = {name: content.get(name) for name in ("task", "system", "user")}
    for name, text in texts.items():
        if not isinstance(text, str) or not text.strip():
            raise DataError(f"{where}: {name} must be a text")
    task = TASKS.get(str(texts["task"]))
    if task is None:
        raise DataError(f"{where}: unknown task {texts['task']!r}; known: {', '.join(TASKS)}")
    user = str(texts["user"])
    if _placeholders(user) != sorted(task.inputs):
        raise DataError(
            f"{where}: user holds the placeholders {_placeholders(user)}, "
            f"the task {task.name} needs each of {sorted(task.inputs)} once"
        )
    elements = content.get("elements", {})
    if not isinstance(elements, dict) or not set(elements) <= set(task.inputs):
        raise DataError(f"{where}: elements must map inputs of the task to templates")
    for name, element in elements.items():
        if not isinstance(element, str) or _placeholders(element) != ["element"]:
            raise DataError(f"{where}: elements.{name} must hold {{{{element}}}} once")
    return Prompt(task, str(texts["system"]), user, elements)


def load_prompt(path: Path | str) -> Prompt:
    """Read a prompt file; DataError for anything that is not a prompt."""
    return parse_prompt(read_yaml(path), str(path))


def answer_text(answer: Any) -> str:
    """The reply that is asked for: exactly one JSON object with the key `result`."""
    return json.dumps({"result": answer})


def messages_for(item: Item, shown: Sequence[Item], prompt: Prompt) -> list[dict[str, str]]:
    """System prompt, the demonstrations as user and assistant turns, and the question."""
    messages = [{"role": "system", "content": prompt.system}]
    for demonstration in shown:
        messages += [
            {"role": "user", "content": prompt.render(demonstration.inputs)},
            {"role": "assistant", "content": answer_text(demonstration.gold["answer"])},
        ]
    messages.append({"role": "user", "content": prompt.render(item.inputs)})
    return messages


def build_requests(
    items: Sequence[Item],
    demonstrations: Sequence[Item],
    prompt: Prompt,
    shots: Sequence[int],
    decoding: Mapping[str, Any],
    *,
    constrained: bool = False,
) -> list[Request]:
    """Requests for every number of shots and item, in that order.

    n shots show the first n demonstrations of the item's own condition, so that fewer shots are the
    beginning of more. Raises DataError when there are too few demonstrations, when one of them is
    a test item, or when an item belongs to another task than the prompt.
    """
    foreign = {item.task for item in [*items, *demonstrations]} - {prompt.task.name}
    if foreign:
        raise DataError(f"items of {sorted(foreign)} with the prompt of {prompt.task.name}")
    overlap = {item.item_id for item in items} & {item.item_id for item in demonstrations}
    if overlap:
        raise DataError(f"{min(overlap)} is a test item and a demonstration; build items again")
    schema = prompt.task.response_schema if constrained else None
    requests = []
    for count in shots:
        for item in items:
            condition = item.factors["condition"]
            pool = [shown for shown in demonstrations if shown.factors["condition"] == condition]
            if len(pool) < count:
                raise DataError(
                    f"{prompt.task.name}: {len(pool)} demonstrations for {condition}, {count} "
                    "asked for; lower the shots or build more demonstrations"
                )
            messages = messages_for(item, pool[:count], prompt)
            requests.append(
                Request.create(item.item_id, {"shots": count}, messages, dict(decoding), schema)
            )
    return requests
