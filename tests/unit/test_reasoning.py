"""Separating the reasoning trace from the answer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts.inference.reasoning import accounted, prompt_opens_trace, separate


@pytest.mark.parametrize(
    ("output", "inside", "text", "reasoning", "state"),
    [
        ("plain answer\n", False, "plain answer\n", None, "none"),
        ("<think>why</think>\n\n7", False, "7", "why", "closed"),
        ("why</think>7", False, "7", "why", "closed"),
        ("why</think>7", True, "7", "why", "closed"),
        ("<think>\n\n</think>7", False, "7", "", "closed"),
        ("<think>cut", False, "", "cut", "truncated"),
        ("Sure. <think>cut", False, "", "Sure. cut", "truncated"),
        ("cut without any tag", True, "", "cut without any tag", "truncated"),
        ("<think>say </think> here</think>7", False, "7", "say </think> here", "closed"),
        ("<think>a</think>7<think>again", False, "", "a</think>7<think>again", "truncated"),
        ("", False, "", None, "none"),
        ("", True, "", "", "truncated"),
    ],
)
def test_separation(output: str, inside: bool, text: str, reasoning: str, state: str) -> None:
    parts = separate(output, starts_inside=inside)
    assert (parts.text, parts.reasoning, parts.state) == (text, reasoning, state)


@given(st.text(), st.text())
def test_what_stands_in_the_trace_is_never_the_answer(trace: str, answer: str) -> None:
    if "think>" in answer:
        return
    parts = separate(f"<think>{trace} secret</think>{answer}")
    assert parts.text == answer.strip() and parts.state == "closed"


def test_other_tags() -> None:
    parts = separate("[T]why[/T]7", open_tag="[T]", close_tag="[/T]")
    assert (parts.text, parts.reasoning) == ("7", "why")


def test_accounting_drops_the_trace_in_the_non_thinking_mode_only() -> None:
    switch = {"switch": "accounting"}
    assert accounted("why", "non_thinking", switch) is None
    assert accounted("why", "thinking", switch) == "why"
    assert accounted("why", "non_thinking", {"switch": "none"}) == "why"


def test_prompts_that_open_the_trace() -> None:
    assert prompt_opens_trace("<|assistant|><think>\n")
    assert not prompt_opens_trace("<|assistant|><think>\n\n</think>\n\n")
