"""What becomes of one row of a source: a seed question, or the step that left it out and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from scripts.multitempbench.mentions import Found, Mention, place
from scripts.multitempbench.questions import SeedQuestion

#: Filters in the order in which they are applied and reported.
STEPS = (
    "read",
    "task",
    "synthetic_entity",
    "full_date",
    "possible_date",
    "ambiguous_date",
    "single_date",
    "label",
    "story_date",
    "answer",
    "template",
    "duplicate",
    "gold_audit",
    "calendar_range",
    "sample",
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """One row of a source after some steps.

    `task` is empty for a row that is none of the tasks. Either `question` is given, or `step` (of
    STEPS) and `reason` say where and why the row was left out.
    """

    source: str
    row: int
    task: str
    question: SeedQuestion | None = None
    step: str = ""
    reason: str = ""

    def without(self, step: str, reason: str) -> Outcome:
        """The same row, left out."""
        return replace(self, question=None, step=step, reason=reason)


def doubtful_dates(outcome: Outcome, found: Found) -> Outcome | None:
    """The row left out because its dates are missing, impossible or ambiguous; None if they do."""
    if not found.stated:
        return outcome.without("full_date", "no date with day, month and year")
    if found.impossible:
        return outcome.without("possible_date", "a date that no calendar has")
    if found.ambiguous:
        return outcome.without("ambiguous_date", "day and month of a numeric date may be swapped")
    return None


def asked(
    outcome: Outcome,
    text: str,
    mentions: Sequence[Mention],
    operation: dict[str, Any],
    answer: dict[str, Any],
    **more: Any,
) -> Outcome:
    """The row with its seed question: mentions become placeholders, the source is written down.

    `more` is what else the question's `source` holds.
    """
    if "{" in text or "}" in text:
        return outcome.without("template", "braces, which mark placeholders, stand in the text")
    placed, dates, times = place(text, mentions)
    style = next((mention.style for mention in mentions if mention.letter == "d"), "")
    source = {"name": outcome.source, "row": outcome.row, "date_format": style, **more}
    question = SeedQuestion.create(outcome.task, placed, dates, times, operation, answer, source)
    return replace(outcome, question=question)
