"""Prompts out of the languages' files, and one request per item made of them.

Zero-shot: the question, then one short instruction in the item's language to give nothing but the
final answer. The instruction names the kind of answer and, where the answer is one of a few words,
these words; it never names a format. Every model gets the same prompt. Paper: section 5.2.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scripts.dates.language_files import named
from scripts.dates.languages import LANGUAGES
from scripts.files import DataError
from scripts.judging import answer_words
from scripts.multitempbench.tasks import ANSWER_KINDS, RELATIONS
from scripts.records import Item, Request

#: The benchmark is zero-shot.
SETTING = {"shots": 0}
YES_NO = ("yes", "no")

_PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}")
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


def parse_prompt(language: str, content: Mapping[str, Any]) -> Prompt:
    """The prompt of a language out of its file; DataError names the file and what is wrong."""
    where = f"{named(language)}: prompt"
    text, instructions = content["text"], content["instructions"]
    if _marks(text) != ["instruction", "question"]:
        raise DataError(
            f"{where}.text: must hold {{{{question}}}} and {{{{instruction}}}} once each, and no "
            "other mark; correct it"
        )
    for kind in ANSWER_KINDS:
        if _marks(instructions[kind]) != _NEEDED[kind]:
            wanted = " and ".join(f"{{{{{mark}}}}}" for mark in _NEEDED[kind]) or "no mark"
            raise DataError(f"{where}.instructions.{kind}: must hold {wanted}; correct it")
    return Prompt(language, text, content["separator"], dict(instructions))


def load_prompts(languages: Sequence[str]) -> dict[str, Prompt]:
    """The prompts of these languages by their code; DataError for a language without a file."""
    unknown = [code for code in languages if code not in LANGUAGES]
    if unknown:
        raise DataError(f"{named(unknown[0])}: missing; write it, or leave the language out")
    return {code: parse_prompt(code, LANGUAGES[code].prompt) for code in languages}


def build_requests(
    items: Sequence[Item], prompts: Mapping[str, Prompt], decoding: Mapping[str, Any]
) -> list[Request]:
    """One zero-shot request an item, in the order of the items; DataError without its prompt."""
    requests = []
    for item in items:
        prompt = prompts.get(item.factors["language"])
        if prompt is None:
            raise DataError(
                f"{item.item_id}: no prompt for the language {item.factors['language']}; add it "
                "to multitempbench.languages"
            )
        message = prompt.render(item.inputs["question"], item.gold["kind"])
        messages = [{"role": "user", "content": message}]
        requests.append(Request.create(item.item_id, dict(SETTING), messages, dict(decoding)))
    return requests
