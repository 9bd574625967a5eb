"""Prompts as files, one a language, and one request per item made of them.

Zero-shot: the question, then one short instruction in the item's language to give nothing but the
final answer. The instruction names the kind of answer and, where the answer is one of a few words,
these words; it never names a format. Every model gets the same prompt. Paper: section 5.2.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scripts.files import DataError, read_yaml
from scripts.judging import answer_words
from scripts.multitempbench.tasks import ANSWER_KINDS, LANGUAGES, RELATIONS
from scripts.records import Item, Request

#: The benchmark is zero-shot.
SETTING = {"shots": 0}
YES_NO = ("yes", "no")

_PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}")
_KEYS = ("language", "prompt", "separator", "instructions")
# Placeholders that the instruction for a kind of answer holds, each once.
_NEEDED = {kind: ["options"] if kind in ("relation", "yes_no") else [] for kind in ANSWER_KINDS}


@dataclass(frozen=True)
class Prompt:
    """The prompt of one language; `instructions` maps each kind of answer to its sentence."""

    language: str
    prompt: str
    separator: str
    instructions: Mapping[str, str]

    def render(self, question: str, kind: str) -> str:
        """The user message: filled in one pass, so nothing inside a question is read as a mark."""
        values = {"question": question, "instruction": self.instruction(kind)}
        return _PLACEHOLDER.sub(lambda match: values[match[1]], self.prompt)

    def instruction(self, kind: str) -> str:
        """The sentence that asks for an answer of a kind, with its options listed."""
        return _PLACEHOLDER.sub(lambda _: self.options(kind), self.instructions[kind])

    def lead(self, kind: str) -> str:
        """The instruction up to its options; all of it where it has none."""
        return _PLACEHOLDER.split(self.instructions[kind])[0]

    def options(self, kind: str) -> str:
        """The words that the instruction offers, as they stand in it; empty for open answers."""
        return self.separator.join(offered_words(self.language, kind))


def offered_words(language: str, kind: str) -> list[str]:
    """The words among which an answer of a kind is chosen; empty for open answers."""
    if kind == "relation":
        return [answer_words.relation_word(language, relation) for relation in RELATIONS]
    if kind == "yes_no":
        return [answer_words.yes_no_word(language, value) for value in YES_NO]
    return []


def _marks(text: str) -> list[str]:
    return sorted(_PLACEHOLDER.findall(text))


def parse_prompt(content: Any, where: str) -> Prompt:
    """A prompt from parsed YAML; DataError names the file and what is wrong with it."""
    if not isinstance(content, dict) or set(content) != set(_KEYS):
        raise DataError(f"{where}: expected exactly the keys {', '.join(_KEYS)}")
    language, prompt, separator, instructions = (content[key] for key in _KEYS)
    if language not in LANGUAGES:
        raise DataError(f"{where}: language {language!r} is none of {', '.join(LANGUAGES)}")
    if not isinstance(separator, str) or not separator:
        raise DataError(f"{where}: separator must be the text between two options")
    if not isinstance(prompt, str) or _marks(prompt) != ["instruction", "question"]:
        raise DataError(f"{where}: prompt must hold {{{{question}}}} and {{{{instruction}}}} once")
    if not isinstance(instructions, dict) or set(instructions) != set(ANSWER_KINDS):
        raise DataError(f"{where}: instructions needs exactly {', '.join(ANSWER_KINDS)}")
    for kind, text in instructions.items():
        if not isinstance(text, str) or not text.strip() or _marks(text) != _NEEDED[kind]:
            raise DataError(
                f"{where}: instructions.{kind} must be a text with the marks {_NEEDED[kind]}"
            )
    return Prompt(language, prompt, separator, instructions)


def load_prompt(path: Path | str) -> Prompt:
    """Read a prompt file; DataError for anything that is not a prompt."""
    return parse_prompt(read_yaml(path), str(path))


def load_prompts(paths: Sequence[Path | str]) -> dict[str, Prompt]:
    """Prompts by language; DataError when two files are for one language."""
    prompts: dict[str, Prompt] = {}
    for path in paths:
        prompt = load_prompt(path)
        if prompt.language in prompts:
            raise DataError(f"{path}: a second prompt for the language {prompt.language}")
        prompts[prompt.language] = prompt
    return prompts


def build_requests(
    items: Sequence[Item], prompts: Mapping[str, Prompt], decoding: Mapping[str, Any]
) -> list[Request]:
    """One zero-shot request an item, in the order of the items; DataError without its prompt."""
    requests = []
    for item in items:
        prompt = prompts.get(item.factors["language"])
        if prompt is None:
            raise DataError(
                f"{item.item_id}: no prompt for the language {item.factors['language']}; add a "
                "file to scripts/multitempbench/prompts"
            )
        message = prompt.render(item.inputs["question"], item.gold["kind"])
        messages = [{"role": "user", "content": message}]
        requests.append(Request.create(item.item_id, dict(SETTING), messages, dict(decoding)))
    return requests
