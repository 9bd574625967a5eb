"""What of a response is an answer: the text without its trace, or why there is none."""

from __future__ import annotations

import re

from scripts.inference.interface import NOT_RUN
from scripts.inference.reasoning import separate_reasoning
from scripts.records import Response

# Python's digits are those of every script; a sign, point or separator belongs to the number.
TAIL = 64
CUT_NUMBER = re.compile(r"[-+−]?\d(?:[\d.,٫٬]*\d)?$")
WHOLE_ENDING = re.compile(
    r"(?:\d{1,2}[-/.]\d{1,2}[-/.]\d{4}|\d{4}-\d{2}-\d{2}|(?<![\d:])\d{1,2}:\d{2}"
    r"|\d{1,2}[^\W\d_\s]{0,2}\.?\s+[^\W\d_][^\d\n]{1,24}\d{4})$"
)


def answer_text(response: Response) -> tuple[str, str]:
    """(answer without its reasoning, category that is known before any judge reads it).

    The category is empty where there is a text to judge; `blank`, `inference_error`, `truncated`
    (a trace that never closes, or nothing but the trace before the limit) or `not_run` otherwise.
    """
    if response.error is not None:
        return "", "not_run" if response.error.startswith(NOT_RUN) else "inference_error"
    text, _, state = separate_reasoning(response.text, response.reasoning)
    if state == "truncated":
        return "", "truncated"
    if response.finish_reason == "length":
        text = without_cut_number(text)
    if not text.strip():
        return "", "truncated" if response.finish_reason == "length" else "blank"
    return text, ""


def without_cut_number(text: str) -> str:
    """A text that the token limit ended, without digits at its end that may go on.

    "10" may be the beginning of "100" and "31/12/20" that of "31/12/2025". Digits that cannot go on
    stay: a year of four digits behind the rest of a date, the day of an ISO date, minutes.
    """
    # Only the end can matter, and a hostile text must not be scanned from every digit.
    head, tail = text[:-TAIL], text[-TAIL:]
    found = CUT_NUMBER.search(tail)
    return text if not found or WHOLE_ENDING.search(tail) else head + tail[: found.start()]
