"""The tasks of MultiTempBench: what is asked, and what kinds of answer there are.

Imports nothing heavy: the Snakefile reads it while it parses. What a task needs of a language
stands in the language's file (data/languages).
"""

from __future__ import annotations

from dataclasses import dataclass

from scripts.dates import languages, signs

#: Written forms of a date, in the order of growing complexity (table 1).
FORMATS = signs.FORMATS
#: Languages that have a file by their code, in the order of the tables: the paper's own first.
LANGUAGES = tuple(languages.LANGUAGES)
LANGUAGE_LABELS = {code: language.label for code, language in languages.LANGUAGES.items()}
#: Kinds of gold answer: `gold.kind` of an item.
ANSWER_KINDS = ("date", "date_time", "number", "relation", "yes_no")
#: Relations of an event to a reference date; `relations` of a language's file says what each is
#: called.
RELATIONS = ("before", "after", "simultaneous", "during")


@dataclass(frozen=True, slots=True)
class Task:
    """A task: its name in print, what it asks, and the number of the paper's figure that has it."""

    label: str
    description: str


TASKS = {
    "date_arithmetic": Task("Date arithmetic", "Add to, subtract from or compare dates."),
    "time_zone": Task("Time zone", "Convert a time of a day from one place to another."),
    "relation": Task("Temporal relation", "How does an event relate to a reference date?"),
}
