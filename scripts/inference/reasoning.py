"""Separating a reasoning trace from the answer.

A trace stands between `<think>` and `</think>`. The opening tag may be missing, because some chat
templates write it into the prompt. What stands inside a trace is never an answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

OPEN_TAG = "<think>"
CLOSE_TAG = "</think>"


@dataclass(frozen=True)
class Separated:
    """An output after the split; `state` is `none`, `closed` or `truncated` (never closed)."""

    text: str
    reasoning: str | None
    state: str


def separate(
    output: str,
    *,
    starts_inside: bool = False,
    open_tag: str = OPEN_TAG,
    close_tag: str = CLOSE_TAG,
) -> Separated:
    """Split a raw output into answer and trace.

    The answer is what follows the *last* closing tag: a trace that quotes the tag stays a trace. An
    output whose last opening tag never closes, or that starts inside a trace and never leaves it,
    has no answer: the text is empty and all of it is reasoning.
    """
    before, closed, after = output.rpartition(close_tag)
    if open_tag in after or (starts_inside and not closed):
        return Separated("", output.replace(open_tag, "", 1).strip(), "truncated")
    if not closed:
        return Separated(output, None, "none")
    return Separated(after.strip(), before.replace(open_tag, "", 1).strip(), "closed")


def accounted(reasoning: str | None, mode: str, thinking: Mapping[str, Any]) -> str | None:
    """The trace as far as the mode counts it.

    A model that always reasons (switch `accounting`) is run without counting its trace in the
    non-thinking mode: the trace is still taken out of the answer, but not reported.
    """
    if thinking.get("switch") == "accounting" and mode == "non_thinking":
        return None
    return reasoning


def prompt_opens_trace(prompt: str, open_tag: str = OPEN_TAG) -> bool:
    """True when the rendered prompt ends inside a trace, so the output starts inside it."""
    return prompt.rstrip().endswith(open_tag)
