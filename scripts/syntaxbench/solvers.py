"""The library solver: every task answered from its inputs alone, never from the gold answer.

The ceiling row of the tables, and a second opinion on the gold answers: tests compare the two. A
task whose entry in tasks.py has an `answer` has no second opinion.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rapidfuzz.distance import Levenshtein

from scripts.corpora.readers import is_palindrome
from scripts.syntaxbench.tasks import task_named


def solve(task: str, inputs: Mapping[str, Any]) -> int | str:
    """The right answer: int, `"yes"`/`"no"`, or a string, by the task's kind (paper A.2).

    Raises KeyError for an unknown task or a missing input.
    """
    if answer := task_named(task).answer:
        return answer(inputs)
    match task:
        case "letter_container":
            return _yes_no(inputs["letter"].casefold() in inputs["string"].casefold())
        case "palindrome_test":
            return _yes_no(is_palindrome(inputs["string"]))
        case "edit_distance":
            return int(Levenshtein.distance(inputs["first"], inputs["second"]))
        case "longest_string_finder":
            return str(max(inputs["strings"], key=len))
        case _:
            return str(inputs["document"][inputs["start"] : inputs["end"]])


def _yes_no(value: bool) -> str:
    return "yes" if value else "no"
