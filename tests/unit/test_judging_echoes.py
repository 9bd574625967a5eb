"""What a reply repeats of its prompt is taken out of it, and nothing else is."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts.judging.date_judge import judge
from scripts.judging.echoes import COPIED, without_echoes

QUESTION = "Which date is exactly 90 days before 2024-05-29?"
LEAD = "Give only the final answer, exactly one of these words, without any explanation: "
OPTIONS = "before, after, simultaneous, during"


@pytest.mark.parametrize(
    ("reply", "left"),
    [
        (QUESTION, "\n"),
        (f"{QUESTION} 29 February", "\n 29 February"),
        ("Well.\nWhich date is exactly 90 da", "Well.\n"),
        ("Which date is", ""),
        ("Which date", "Which date"),
        (LEAD + OPTIONS, "\n"),
        (f"{LEAD}before", "\n"),
        (f"{LEAD}after", "\nafter"),
        (f"after\n{LEAD}{OPTIONS}.", "after\n\n."),
        (f"It is: the reply, {LEAD[:60]}", "It is:\n"),
        (OPTIONS, OPTIONS),
        ("The final answer is: after", "The final answer is: after"),
        ("", ""),
    ],
)
def test_what_is_left_of_a_reply(reply: str, left: str) -> None:
    found = without_echoes(reply, QUESTION, LEAD, OPTIONS)
    assert found.strip(" \n") == left.strip(" \n")
    assert ("\n" in found) >= ("\n" in left)


def test_without_an_instruction_only_the_question_is_known() -> None:
    assert without_echoes(LEAD, QUESTION) == LEAD
    assert without_echoes(LEAD, "", LEAD[: COPIED - 1]) == LEAD


@given(st.text(alphabet="before, after.\n", max_size=60))
def test_a_text_that_copies_nothing_stays(text: str) -> None:
    assert without_echoes(text, QUESTION, LEAD, OPTIONS) == text


@pytest.mark.parametrize("unit", [LEAD, LEAD[:30], "before ", "Give only the final answer, "])
def test_time_is_linear(unit: str) -> None:
    begin = time.perf_counter()
    without_echoes(unit * (100_000 // len(unit)), QUESTION, LEAD, OPTIONS)
    assert time.perf_counter() - begin < 5


@pytest.mark.parametrize(
    ("reply", "kind", "answer", "language"),
    [
        ("الجواب: نعم، لا.", "yes_no", "yes", "ar"),
        ("Yes, no.", "yes_no", "yes", "en"),
        ("No, yes, no", "yes_no", "no", "en"),
        ("الجواب: قبل، بعد، متزامن، أثناء.", "relation", "before", "ar"),
        ("之前、之后、同时、期间", "relation", "before", "zh"),
        ("before, after, simultaneous, during", "relation", "before", "en"),
    ],
)
def test_a_list_of_the_offered_words_is_wrong(
    reply: str, kind: str, answer: str, language: str
) -> None:
    gold = {"kind": kind, "answer": answer, "accepted": [answer], "aliases": []}
    found = judge(reply, gold, language)
    assert found.verdict == "incorrect" and found.route.endswith("contradiction")


def test_an_answer_between_commas_is_read() -> None:
    gold = {"kind": "yes_no", "answer": "no", "accepted": ["no"], "aliases": []}
    assert judge("Well, no, it could not.", gold, "en").verdict == "correct"
