"""The tasks of MultiTempBench: what is asked, and what kinds of answer there are.

Imports nothing heavy: the Snakefile reads it while it parses.
"""

from __future__ import annotations

from dataclasses import dataclass

from scripts.dates import languages

#: Written forms of a date, in the order of growing complexity (table 1).
FORMATS = languages.FORMATS
#: Languages by their ISO 639-1 code, in the order of the paper's tables.
LANGUAGES = ("ar", "zh", "en", "de", "ha")
LANGUAGE_LABELS = {code: languages.LANGUAGES[code].label for code in LANGUAGES}
#: Kinds of gold answer: `gold.kind` of an item.
ANSWER_KINDS = ("date", "date_time", "number", "relation", "yes_no")
#: Relations of an event to a reference date; what each is called in a language stands in
#: `scripts/judging/answer_words.py`.
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
