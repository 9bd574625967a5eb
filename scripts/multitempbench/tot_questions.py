"""Seed questions from the arithmetic set of Test of Time.

Its prompts mix the question with instructions about JSON and date formats; those are cut, because a
question must read the same in five languages and four date formats. Numeric dates there are written
in either order, so only those that can be read one way are used; labels follow the order that the
prompt asks for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import date
from typing import Any

from scripts.corpora.test_of_time import TestOfTimeRow
from scripts.dates import english
from scripts.multitempbench.candidates import Outcome, asked, doubtful_dates
from scripts.multitempbench.mentions import Found, Order, find_dates, place
from scripts.multitempbench.recomputation import recompute

#: Types of question and our tasks. `compare` orders names and `schedule` counts meeting times.
TASKS = {
    "add_subtract": "date_arithmetic",
    "duration": "date_arithmetic",
    "multi_op": "date_arithmetic",
    "trick": "date_arithmetic",
    "timezone": "time_zone",
}
_SYNTHETIC = re.compile(r"\bE\d+\b")
# The part of a prompt that tells how to write the answer runs to its end.
_INSTRUCTIONS = re.compile(r"\s*(?:Return|Format|Share) your answer as a JSON.*\Z", re.DOTALL)
# What else belongs to the prompt and not to the question: formats, units of the answer, examples.
_CUT = (
    re.compile(r" ?If the question cannot be answered, reply \"unanswerable\"\."),
    re.compile(r" ?Eg: the time between [^.]*\."),
    re.compile(r" ?Both dates are in yyyy-mm-dd format\."),
    re.compile(r" ?\(yyyy-mm-dd(?: format)?\)"),
    re.compile(r" ?\(Answer in days\)\.?"),
    re.compile(r" in (?:the )?yyyy-mm-dd format"),
    re.compile(r" in the same format"),
)
_CORRECTIONS = (
    (re.compile(r"\bWhat is the day (?=\d)"), "What is the date "),
    (re.compile(r"\bin\?"), "?"),
    (re.compile(r"\bfinised\b"), "finished"),
    (re.compile(r"\bearly(?= by \d+ weeks)"), "earlier"),
    (re.compile(r"\s+(?=[?.])"), ""),
)
_ANNIVERSARY = re.compile(r"\b(\d+)(?= anniversary)")
_NUMBER = re.compile(r"\d{1,7}\Z")

_SPAN = r"(?P<count>\d+) (?P<unit>days?|weeks?|months?|years?)"
#: Templates of a shift from {d1}, its sign, whether only the year is asked for, and whether the
#: wording may as well be read in the other direction.
_SHIFTS: tuple[tuple[re.Pattern[str], int, bool, bool], ...] = tuple(
    (re.compile(pattern), sign, year, either)
    for pattern, sign, year, either in (
        (rf"{_SPAN} from now", 1, False, False),
        (rf"{_SPAN} (?:before now|ago)", -1, False, False),
        (rf"(?:preponed|moved back earlier) by {_SPAN}", -1, False, False),
        (rf"postponed by {_SPAN}", 1, False, False),
        (rf"moved forward by {_SPAN}", 1, False, True),
        (rf"delivered on {{d1}}\. It takes {_SPAN}", -1, False, False),
        (rf"sent on {{d1}} and takes {_SPAN}", 1, False, False),
        (rf"granted a {_SPAN} extension", 1, False, False),
        (rf"finished early by {_SPAN}", -1, False, False),
        (rf"is {_SPAN} from expiry", 1, False, True),
        (rf"renewed {_SPAN} in advance", -1, False, False),
        (rf"was {_SPAN} before it", -1, False, False),
        (rf"born {_SPAN} before me", -1, False, False),
        (rf"exactly {_SPAN} to construct\. They started", 1, True, False),
        (rf"exactly {_SPAN} to construct\. They ended", -1, True, False),
        (r"celebrate their (?P<count>\d+)(?:st|nd|rd|th) (?P<unit>anniversary)", 1, True, False),
        (r"celebrating their (?P<count>\d+)(?:st|nd|rd|th) (?P<unit>anniversary)", -1, True, False),
    )
)
#: Templates of a difference: from, to, unit. A group `plus` counts from before the first date.
_DIFFERENCES: tuple[tuple[re.Pattern[str], str, str, str], ...] = tuple(
    (re.compile(pattern), first, last, unit)
    for pattern, first, last, unit in (
        (r"going on for (?P<plus>\d+) days on \{d1\}\. How many days .* on \{d2\}",
         "d1", "d2", "days"),
        (r"exactly (?P<plus>\d+) days old on \{d1\}\. Compute my age in days on \{d2\}",
         "d1", "d2", "days"),
        (r"(?P<old>\w+) and (?P<young>\w+) were born on \{d1\} and \{d2\} respectively\. "
         r"When (?P=young) was (?P<plus>\d+) days old, how old was (?P=old) in days",
         "d1", "d2", "days"),
        (r"birthdate of \w+ is \{d1\}\. Today is \{d2\}\. Compute the age of", "d1", "d2", "days"),
        (r"date is \{d1\} and I was born on \{d2\}, what is my age in days", "d2", "d1", "days"),
        (r"was born on \{d1\}\. Compute (?:his|her) age in days on \{d2\}", "d1", "d2", "days"),
        (r"(?P<old>\w+) was born on \{d1\} and (?P<young>\w+) was born on \{d2\}\. "
         r"How many days is (?P=old) older than (?P=young)", "d1", "d2", "days"),
        (r"(?P<old>\w+) was born on \{d1\} and (?P<young>\w+) was born on \{d2\}\. "
         r"(?P=young) is M months younger than (?P=old)", "d1", "d2", "months"),
        (r"Today is \{d1\} and I was born on \{d2\}\. I am X months old", "d2", "d1", "months"),
        (r"birthday is on \{d1\}, how many years old is he on \{d2\}", "d1", "d2", "years"),
    )
)  # fmt: skip
# "every N days" since {d1}, today is {d2}: the next one after today.
_RECURRENCE = re.compile(r"\bevery (?P<count>\d+) days\b")
_TODAY = re.compile(r"\btoday is \{d2\}")


def outcomes_of_test_of_time(source: str, rows: Iterable[TestOfTimeRow]) -> list[Outcome]:
    """Questions with full dates whose answer is a date, a number or a year."""
    return [_outcome(source, row) for row in rows]


def _outcome(source: str, row: TestOfTimeRow) -> Outcome:
    outcome = Outcome(source, row.row, TASKS.get(row.question_type, ""))
    if not outcome.task:
        return outcome.without("task", f"question type {row.question_type}")
    if _SYNTHETIC.search(row.question):
        return outcome.without("synthetic_entity", "names an entity by a code such as E15")
    text = clean(row.question)
    found = find_dates(text)
    doubt = doubtful_dates(outcome, found)
    if doubt:
        return doubt
    return _question(outcome, row, text, found)


def clean(question: str) -> str:
    """The question without its prompt's instructions, and with its slips of language corrected."""
    text = _INSTRUCTIONS.sub("", " ".join(question.split()))
    for pattern in _CUT:
        text = pattern.sub("", text)
    for pattern, correct in _CORRECTIONS:
        text = pattern.sub(correct, text)
    for mention in reversed(find_dates(text).dates):
        if text[: mention.start].endswith(" in "):
            text = f"{text[: mention.start - 3]}on {text[mention.start :]}"
    return _ANNIVERSARY.sub(lambda match: english.ordinal(int(match[1])), text).strip()


def _question(outcome: Outcome, row: TestOfTimeRow, text: str, found: Found) -> Outcome:
    placed, dates, _ = place(text, found.dates)
    operation, either = read_operation(placed, dates)
    answer = _answer(row.label, _label_order(row.question, found), operation)
    if answer is None:
        return outcome.without("answer", "the gold is neither one date nor one whole number")
    if either:
        other = recompute({**operation, "sign": -operation["sign"]}, dates, [])
        answer["accepted"] = [other["value"]]
    return asked(outcome, text, found.dates, operation, answer, question_type=row.question_type)


def read_operation(text: str, dates: list[str]) -> tuple[dict[str, Any], bool]:
    """The operation that a text with placeholders asks for, `none` where no template fits.

    The second value says whether its direction may be read both ways.
    """
    for pattern, first, last, unit in _DIFFERENCES:
        match = pattern.search(text)
        if match:
            plus = match.groupdict().get("plus")
            operation: dict[str, Any] = {
                "kind": "difference",
                "from": first,
                "to": last,
                "unit": unit,
            }
            return operation | ({"plus": int(plus)} if plus else {}), False
    recurrence = _RECURRENCE.search(text)
    if recurrence and _TODAY.search(text):
        first_day, today = (date.fromisoformat(day) for day in dates)
        step = int(recurrence["count"])
        turns = (today - first_day).days // step + 1
        return {"kind": "shift", "date": "d1", "sign": 1, "days": step * turns}, False
    for pattern, sign, year, either in _SHIFTS:
        match = pattern.search(text)
        if match:
            unit = match["unit"].replace("anniversary", "years").rstrip("s") + "s"
            operation = {"kind": "shift", "date": "d1", "sign": sign, unit: int(match["count"])}
            return operation | ({"part": "year"} if year else {}), either
    return {"kind": "none"}, False


def _label_order(prompt: str, found: Found) -> Order:
    """The order of numeric dates in the label: what the prompt asks for, or the question's own."""
    if "mm/dd/yyyy" in prompt:
        return "mdy"
    styles = {mention.style for mention in found.dates}
    if styles == {"numeric_mdy"}:
        return "mdy"
    return "dmy" if styles == {"numeric_dmy"} else None


def _answer(
    label: Mapping[str, Any], order: Order, operation: Mapping[str, Any]
) -> dict[str, Any] | None:
    """The gold answer of a label with one value; None for names, words and several values."""
    if len(label) != 1:
        return None
    [value] = label.values()
    found = find_dates(str(value), order)
    if len(found.dates) == 1 and found.dates[0].end - found.dates[0].start == len(str(value)):
        return {"kind": "date", "value": found.dates[0].value, "accepted": []}
    if isinstance(value, int | str) and _NUMBER.match(str(value)):
        # A year of the calendar and a number of unknown meaning have no unit.
        unit = operation.get("unit", "")
        return {"kind": "number", "value": int(value), "accepted": [], "unit": unit}
    return None
