"""Turning messages into the text that a local model continues.

An instruct model's own chat template is used where there is one. A base model gets a plain
transcript with headed turns; the next heading stands for the end-of-turn token it does not have.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from scripts.inference.interface import BackendError, ModelSpec
from scripts.inference.reasoning import OPEN_TAG, prompt_opens_trace

Messages = Sequence[Mapping[str, str]]

HEADINGS = {"system": "### Instructions", "user": "### Question", "assistant": "### Answer"}
# Where a transcript's answer ends: the beginning of whatever turn the model would write next.
TURN_MARKER = "\n###"

_PROBE: Messages = (
    {"role": "system", "content": "probe-instructions"},
    {"role": "user", "content": "probe-question"},
)


def transcript(messages: Messages, *, open_answer: bool = True) -> str:
    """Messages as headed turns; with `open_answer` it ends where the assistant speaks next."""
    turns = [f"{HEADINGS[message['role']]}\n{message['content']}\n\n" for message in messages]
    return "".join(turns) + (f"{HEADINGS['assistant']}\n" if open_answer else "")


def fold_system(messages: Messages) -> list[dict[str, str]]:
    """The system prompt moved to the head of the first user turn."""
    if not messages or messages[0]["role"] != "system":
        return [dict(message) for message in messages]
    system, *rest = messages
    folded = [dict(message) for message in rest]
    for message in folded:
        if message["role"] == "user":
            message["content"] = f"{system['content']}\n\n{message['content']}"
            return folded
    raise BackendError("a request has a system prompt but no user turn")


@dataclass(frozen=True)
class Rendered:
    """A prompt as text; `shared` is the length in characters of what precedes the last turn."""

    text: str
    shared: int
    opens_trace: bool


@dataclass
class Renderer:
    """Renders requests for one model in one mode, and proves on a probe that nothing is dropped.

    Raises BackendError when the model has no chat template and asks for none of ours, and when its
    thinking switch changes nothing in the rendered prompt.
    """

    spec: ModelSpec
    mode: str
    tokenizer: Any
    folded: bool = False
    arguments: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.spec.template == "transcript":
            return
        if not getattr(self.tokenizer, "chat_template", None):
            raise BackendError(
                f"models.{self.spec.name}: the tokenizer has no chat template; give the entry "
                "'template: transcript' if this is a base model"
            )
        switch = self.spec.thinking.get("switch")
        if switch == "effort":
            raise BackendError(
                f"models.{self.spec.name}.thinking: an effort level needs the openai backend; use "
                "'switch: chat_template' here"
            )
        if switch == "chat_template":
            self._check_switch(str(self.spec.thinking["argument"]))
        self.folded = not self._shows_system()

    @property
    def is_transcript(self) -> bool:
        """True for the plain transcript of a base model."""
        return self.spec.template == "transcript"

    def _check_switch(self, argument: str) -> None:
        self.arguments = {argument: self.mode == "thinking"}
        other = {argument: self.mode != "thinking"}
        probe = _PROBE[1:]
        if self._apply(probe, self.arguments) == self._apply(probe, other):
            raise BackendError(
                f"models.{self.spec.name}.thinking: the chat template ignores {argument!r}; "
                "correct the argument's name"
            )

    def _shows_system(self) -> bool:
        try:
            return _PROBE[0]["content"] in self._apply(_PROBE, self.arguments)
        except Exception:  # templates raise their own kinds when they refuse a role
            return False

    def _apply(self, messages: Messages, arguments: Mapping[str, Any], opened: bool = True) -> str:
        return str(
            self.tokenizer.apply_chat_template(
                list(messages), tokenize=False, add_generation_prompt=opened, **arguments
            )
        )

    def render(self, messages: Messages) -> Rendered:
        """The prompt of one request; raises BackendError when a message does not appear in it."""
        if self.is_transcript:
            text = transcript(messages)
            head = transcript(messages[:-1], open_answer=False)
        else:
            turns = fold_system(messages) if self.folded else messages
            text = self._apply(turns, self.arguments)
            head = self._head(turns[:-1])
        for message in messages:
            if message["role"] != "assistant" and message["content"].strip() not in text:
                raise BackendError(
                    f"models.{self.spec.name}: the chat template drops a {message['role']} message"
                )
        return Rendered(text, _common(text, head), prompt_opens_trace(text))

    def _head(self, turns: Messages) -> str:
        """What precedes the last turn, empty where the template cannot render that alone."""
        try:
            return self._apply(turns, self.arguments, opened=False) if turns else ""
        except Exception:  # templates raise their own kinds when a user turn is missing
            return ""

    def identity(self) -> dict[str, Any]:
        """What the rendering adds to the store key."""
        probe = fold_system(_PROBE) if self.folded else _PROBE
        sample = transcript(_PROBE) if self.is_transcript else self._apply(probe, self.arguments)
        template = "" if self.is_transcript else str(self.tokenizer.chat_template)
        return {
            "template": "transcript" if self.is_transcript else "chat",
            "template_sha256": hashlib.sha256((template + sample).encode("utf-8")).hexdigest(),
            "template_arguments": self.arguments,
            "system": "folded into the first user turn" if self.folded else "own turn",
            "stop": TURN_MARKER if self.is_transcript else "end-of-turn token",
            "trace_tag": OPEN_TAG,
        }


def _common(a: str, b: str) -> int:
    length = 0
    for x, y in zip(a, b, strict=False):
        if x != y:
            break
        length += 1
    return length
