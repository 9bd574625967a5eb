"""Seed questions: English, with placeholders for dates and times, and a machine-readable meaning.

A placeholder is `{d1}`, `{d2}`, … for a date and `{t1}`, `{t2}`, … for a time of day; each stands
exactly once or more in the text. Everything else of the text is translated; what a placeholder
stands for never is. docs/architecture.md documents the fields.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, time
from typing import Any, ClassVar

from scripts.multitempbench.tasks import ANSWER_KINDS, TASKS
from scripts.records import Record, RecordError, content_id

PLACEHOLDER = re.compile(r"\{([dt])([1-9][0-9]?)\}")
#: `operation.kind`: how the answer is computed from dates and times.
OPERATIONS = ("shift", "difference", "time_zone", "relation", "none")


@dataclass(frozen=True, slots=True)
class SeedQuestion(Record):
    """One curated question before translation and date formats.

    `dates` are the ISO dates (proleptic Gregorian) of `{d1}`, `{d2}`, …; `times` `HH:MM` of `{t1}`.
    `operation` has a `kind` of OPERATIONS:

    - `shift`: `date` ("d1"), `sign` (1 or -1), and any of `years`, `months`, `weeks`, `days`;
    - `difference`: `from`, `to` (placeholders), `unit` (days, weeks, months, years);
    - `time_zone`: `date`, `time` (placeholders), `from`, `to` (IANA names), `offsets`
      (`standard` = the zone's standard offset of today, no daylight saving; `local_mean_time` =
      what the tz database says for that day);
    - `relation`: `event` and `reference` (ISO date or placeholder, or [first, last] for a span);
      with `claim`, a list of relations, the answer is yes or no: is the relation one of these?
    - `none`: the answer is the source's own and is not recomputed.

    `answer` has a `kind` of tasks.ANSWER_KINDS, a `value` (date `YYYY-MM-DD`, date_time
    `YYYY-MM-DDTHH:MM`, number, relation of tasks.RELATIONS, yes_no "yes" or "no"), `accepted`
    (further values that are right as well, maybe empty) and, for numbers, `unit`. `source` holds
    `name`, `row` (the source's own id or row number), `date_format`, and what else it tells.
    """

    optional: ClassVar[frozenset[str]] = frozenset()

    question_id: str
    task: str
    text: str
    dates: list[str]
    times: list[str]
    operation: dict[str, Any]
    answer: dict[str, Any]
    source: dict[str, Any]

    @classmethod
    def create(  # noqa: PLR0917
        cls,
        task: str,
        text: str,
        dates: list[str],
        times: list[str],
        operation: dict[str, Any],
        answer: dict[str, Any],
        source: dict[str, Any],
    ) -> SeedQuestion:
        """A question whose id is derived from what is asked, never from its place in a file."""
        question_id = f"{task}-{content_id(task, text, dates, times)}"
        question = cls(question_id, task, text, dates, times, operation, answer, source)
        question.check()
        return question

    def check(self) -> None:
        """Raise RecordError naming the question when a field does not hold what it must."""
        problem = self._problem()
        if problem:
            raise RecordError(f"question {self.question_id} ({self.text[:60]!r}): {problem}")

    def _problem(self) -> str:
        wanted = {f"d{n}" for n in range(1, len(self.dates) + 1)}
        wanted |= {f"t{n}" for n in range(1, len(self.times) + 1)}
        wrong = [
            (self.task not in TASKS, f"task {self.task!r} is none of {', '.join(TASKS)}"),
            (not self.dates, "no full date; at least one {d1} is needed"),
            (
                placeholders(self.text) != wanted,
                f"placeholders {sorted(placeholders(self.text))}, expected {sorted(wanted)}",
            ),
            (
                self.operation.get("kind") not in OPERATIONS,
                f"operation.kind {self.operation.get('kind')!r}; known: {', '.join(OPERATIONS)}",
            ),
            (
                self.answer.get("kind") not in ANSWER_KINDS or "value" not in self.answer,
                f"answer needs a value and a kind of {', '.join(ANSWER_KINDS)}",
            ),
        ]
        try:
            plain = [date.fromisoformat(text).isoformat() for text in self.dates]
            plain += [time.fromisoformat(text).strftime("%H:%M") for text in self.times]
        except (TypeError, ValueError) as error:
            return f"not a date or time: {error}"
        # Python reads 20240302 and 2024-W09-6 as well, which would be written as they stand.
        other = [
            text
            for text, form in zip([*self.dates, *self.times], plain, strict=True)
            if text != form
        ]
        if other:
            return f"{other[0]!r} is not written as YYYY-MM-DD or HH:MM"
        return next((message for is_wrong, message in wrong if is_wrong), "")


def placeholders(text: str) -> set[str]:
    """The names of the placeholders in a text: `{"d1", "t1"}`."""
    return {kind + number for kind, number in PLACEHOLDER.findall(text)}
