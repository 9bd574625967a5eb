"""Separating a reasoning trace from the answer.

A trace stands between `<think>` and `</think>`. The opening tag may be missing, because some chat
templates write it into the prompt. What stands inside a trace is never an answer.

`separate` is for a backend that knows its model's tags and prompt; `separate_reasoning` is for a
scorer that gets the text of any model, whatever format of trace is left in it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

ReasoningState = Literal["none", "closed", "truncated"]

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


# The group `close` is set for a closing tag. Gemma 4 writes its trace between the second pair.
_TAGS = (
    re.compile(r"<(?P<close>/)?think(?:ing)?>", re.IGNORECASE),
    re.compile(r"<\|channel>thought|(?P<close><channel\|>)"),
)
_HARMONY_TOKEN = re.compile(r"<\|(start|channel|message|end|return|call)\|>")
# A detokeniser that drops special tokens leaves only the channel names of the harmony format.
_BARE_HARMONY = re.compile(r"\s*analysis(?=[A-Z])")
_BARE_FINAL = "assistantfinal"


def separate_reasoning(
    text: str, reasoning_field: str | None = None
) -> tuple[str, str | None, ReasoningState]:
    """Split a reply into (answer text, reasoning or None, reasoning state).

    `reasoning_field` is the trace that the backend itself set apart. Tags that remain in the text
    are honoured all the same. State `truncated` means that a trace was opened and never closed:
    there is no answer then, and the answer text is empty. Text before a lone closing tag is
    reasoning. Applying the function to its own answer text changes nothing.
    """
    backend = reasoning_field if reasoning_field and reasoning_field.strip() else None
    traces = [backend] if backend else []
    state: ReasoningState = "closed" if backend else "none"
    # What one format leaves may begin with the mark of another: repeat until nothing is found.
    while "<" in text or "analysis" in text:
        text, found, found_state = _split_once(text)
        traces += found
        if found_state == "none":
            break
        state = found_state
    return text, "\n".join(traces) if traces else None, state


_Split = tuple[str, list[str], ReasoningState]


def _split_harmony(text: str) -> _Split:
    """Channels of the harmony format: `final` is the answer, every other channel is reasoning."""
    if "<|channel|>" not in text:
        return text, [], "none"
    answers: list[str] = []
    traces: list[str] = []
    channel: str | None = None
    in_message, header, position = False, "", 0
    matches = list(_HARMONY_TOKEN.finditer(text))
    for index, match in enumerate(matches):
        before = text[position : match.start()]
        if index == 0 and match[1] != "message":
            # Text before the first control token belongs to no channel: never an answer.
            if before.strip():
                traces.append(before)
        elif in_message:
            (answers if channel == "final" else traces).append(before)
        elif header == "channel":
            channel = before.strip().split(" ", 1)[0].lower()
        if match[1] != "message":
            header = match[1]
        in_message = match[1] == "message"
        if match[1] in ("start", "end", "return", "call"):
            channel = None
        position = match.end()
    rest = text[position:]
    if in_message:
        (answers if channel == "final" else traces).append(rest)
    elif rest.strip():
        traces.append(rest)
    if not answers:
        return "", traces, "truncated"
    return "\n".join(answers), traces, "closed"


def _split_bare_harmony(text: str) -> _Split:
    """The harmony format after its control tokens were dropped: analysis…assistantfinal…"""
    opening = _BARE_HARMONY.match(text)
    if not opening:
        return text, [], "none"
    end = text.rfind(_BARE_FINAL)
    if end < 0:
        return "", [text], "truncated"
    return text[end + len(_BARE_FINAL) :], [text[opening.end() : end]], "closed"


def _split_tags(text: str, tag: re.Pattern[str]) -> _Split:
    """<think>…</think> blocks; a closing tag without an opening one ends a trace that began before.

    An opening tag inside a trace is part of the trace.
    """
    kept: list[str] = []
    traces: list[str] = []
    inside, position, seen = False, 0, False
    for match in tag.finditer(text):
        closing = match["close"] is not None
        if inside and not closing:
            continue
        seen = True
        segment = text[position : match.start()]
        if inside:
            traces.append(segment)
        elif closing:
            traces.append("\n".join([*kept, segment]))
            kept = []
        else:
            kept.append(segment)
        inside, position = not closing, match.end()
    if inside:
        return "", [*traces, text[position:]], "truncated"
    if not seen:
        return text, [], "none"
    # A line break, so that two halves of a sentence never join into an object.
    return "\n".join([*kept, text[position:]]), traces, "closed"


def _split_once(text: str) -> _Split:
    """Every format of reasoning that is in the text, one after the other."""
    traces: list[str] = []
    state: ReasoningState = "none"
    splits: tuple[Callable[[str], _Split], ...] = (
        _split_harmony,
        _split_bare_harmony,
        *(partial(_split_tags, tag=tag) for tag in _TAGS),
    )
    for split in splits:
        text, found, found_state = split(text)
        traces += found
        if found_state == "truncated":
            return "", traces, "truncated"
        if found_state == "closed":
            state = "closed"
    return text, traces, state
