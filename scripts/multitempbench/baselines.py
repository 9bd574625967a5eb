"""Three answerers that need no model: the floor and the ceiling beside every table row.

- `solver` reads the written dates and times back out of the question with the strict readers,
  computes the operation, and writes the answer in the item's language and format. Neither the gold
  answer nor the ISO dates are read, so it also shows that every item can be answered as written.
- `majority` knows the distribution of answers and nothing of the question: the most frequent word
  of the task where the answer is one of a few words; the most frequent number of the *other* seed
  questions (nearest to their median among equals); and, because no two dates agree, the question's
  first date (and time) as it stands. The word counts all questions: on balanced answers, leaving
  the question out would make the majority wrong every time.
- `uniform` draws: a word of the list, a number between the least and the largest of the other
  questions, a date within ten years of the question's first one, a time of day.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from statistics import median

from scripts.dates import formats
from scripts.dates.calendars import CalendarRangeError
from scripts.dates.formats import Options
from scripts.files import DataError
from scripts.judging import answer_words
from scripts.multitempbench.prompts import YES_NO
from scripts.multitempbench.recomputation import recompute
from scripts.multitempbench.tasks import RELATIONS
from scripts.records import Item, Request
from scripts.statistics.seeding import cell_generator

KINDS = ("majority", "uniform", "solver")
WORDS = {"relation": RELATIONS, "yes_no": YES_NO}
#: A uniform date lies within so many days of the question's first date (ten years).
DAYS_AROUND = 3652
#: Bounds of a uniform number where no other question of the task has a number.
NUMBERS = (1, 365)
_MINUTES = 24 * 60

_TIME = re.compile(r"(?<![0-9:])([01][0-9]|2[0-3]):[0-5][0-9](?![0-9:])")


def spoken(value: str, kind: str, item: Item, options: Options) -> str:
    """A canonical answer as it is said in the item's language and date format.

    A date that the format's calendar cannot name is written in ISO form.
    """
    language = item.factors["language"]
    if kind == "relation":
        return answer_words.relation_word(language, value)
    if kind == "yes_no":
        return answer_words.yes_no_word(language, value)
    if kind == "number":
        return value
    moment = datetime.fromisoformat(value)
    try:
        written = formats.write(moment.date(), language, item.factors["format"], options)
    except CalendarRangeError:
        written = formats.write(moment.date(), language, "iso", options)
    return f"{written.text} {moment:%H:%M}" if kind == "date_time" else written.text


# Solver -------------------------------------------------------------------------------------------


def dates_in_question(item: Item, options: Options) -> list[str]:
    """ISO dates read from the question as it is written; DataError when one is not there."""
    language, form = item.factors["language"], item.factors["format"]
    found = []
    for written in item.inputs["dates"]:
        if written["text"] not in item.inputs["question"]:
            raise DataError(f"{item.item_id}: {written['text']!r} is not in its question")
        found.append(formats.read(written["text"], language, form, options).isoformat())
    return found


def times_in_question(item: Item) -> list[str]:
    """The times of day of the question; DataError when one does not stand in it.

    A translation may name two times in another order, so each is looked for by itself.
    """
    found = Counter(match[0] for match in _TIME.finditer(item.inputs["question"]))
    missing = Counter(item.inputs["times"]) - found
    if missing:
        raise DataError(f"{item.item_id}: the time {min(missing)} is not in its question")
    return list(item.inputs["times"])


def solve(item: Item, options: Options) -> str:
    """The right answer from the question's own text and its operation.

    Where the operation is not known (kind `none`) it says so: no answer is looked up.
    """
    operation = item.inputs["operation"]
    if operation["kind"] == "none":
        return answer_words.refusal_phrases(item.factors["language"])[0]
    answer = recompute(operation, dates_in_question(item, options), times_in_question(item))
    return spoken(str(answer["value"]), answer["kind"], item, options)


# Floors -------------------------------------------------------------------------------------------


def seed_answers(items: Sequence[Item]) -> dict[str, tuple[str, str]]:
    """Kind and canonical answer of each seed question, once however many items it has."""
    return {
        item.source["question_id"]: (item.gold["kind"], str(item.gold["answer"])) for item in items
    }


def _others(item: Item, answers: Mapping[str, tuple[str, str]]) -> list[int]:
    """Numbers that the other seed questions have as answers."""
    own = item.source["question_id"]
    return [
        int(value)
        for question, (kind, value) in answers.items()
        if question != own and kind == "number"
    ]


def majority_value(item: Item, answers: Mapping[str, tuple[str, str]]) -> str:
    """The canonical answer of the majority baseline; see the module's text."""
    kind = item.gold["kind"]
    first = item.inputs["dates"][0]["iso"]
    if kind == "date":
        return str(first)
    if kind == "date_time":
        return f"{first}T{next(iter(item.inputs['times']), '00:00')}"
    if kind in WORDS:
        counts = Counter(value for known, value in answers.values() if known == kind)
        return max(WORDS[kind], key=lambda word: (counts[word], -WORDS[kind].index(word)))
    numbers = _others(item, answers) or [NUMBERS[0]]
    frequent = Counter(numbers)
    middle = median(numbers)
    best = min(frequent, key=lambda n: (-frequent[n], abs(n - middle), n))
    return str(best)


def uniform_value(item: Item, answers: Mapping[str, tuple[str, str]], seed: int) -> str:
    """A draw from the space of answers that hangs on seed and item alone."""
    draw = cell_generator(seed, "uniform", item.item_id)
    kind = item.gold["kind"]
    if kind in WORDS:
        return str(WORDS[kind][int(draw.integers(len(WORDS[kind])))])
    if kind == "number":
        numbers = _others(item, answers) or list(NUMBERS)
        return str(int(draw.integers(min(numbers), max(numbers) + 1)))
    middle = date.fromisoformat(item.inputs["dates"][0]["iso"]).toordinal()
    # Questions of the year 1 or 9999 have fewer days on one side.
    low = max(date.min.toordinal(), middle - DAYS_AROUND)
    high = min(date.max.toordinal(), middle + DAYS_AROUND)
    day = date.fromordinal(int(draw.integers(low, high + 1)))
    if kind == "date":
        return day.isoformat()
    moment = datetime(day.year, day.month, day.day) + timedelta(
        minutes=int(draw.integers(_MINUTES))
    )
    return moment.isoformat(timespec="minutes")


def baseline_answers(
    baseline: str,
    requests: Sequence[Request],
    items: Sequence[Item],
    *,
    options: Options,
    seed: int,
) -> list[dict[str, str]]:
    """Rows `{request_id, text}` for the requests of one task, in their order.

    Raises DataError for an unknown baseline and for a request without its item.
    """
    if baseline not in KINDS:
        raise DataError(f"unknown baseline {baseline!r}; known: {', '.join(KINDS)}")
    by_id = {item.item_id: item for item in items}
    answers = seed_answers(items)
    rows = []
    for request in requests:
        item = by_id.get(request.item_id)
        if item is None:
            raise DataError(
                f"no item {request.item_id} for its request; build items and requests again"
            )
        if baseline == "solver":
            text = solve(item, options)
        else:
            value = (
                majority_value(item, answers)
                if baseline == "majority"
                else uniform_value(item, answers, seed)
            )
            text = spoken(value, item.gold["kind"], item, options)
        rows.append({"request_id": request.request_id, "text": text})
    return rows
