"""Answerers that need no model: floors and a ceiling beside every row of the tables.

- `majority` knows how often each option and verdict is right among the items of the run and nothing
  of the question: the most frequent index or verdict (the lowest, or CORRECT, among equals), events
  as they stand, and one fixed sentence where an answer is free.
- `uniform` draws an option, an order, a verdict, by seed and item; free answers are the sentence.
- `extractive` reads what its prompt shows and understands nothing: the sentence of the documents
  that shares most words with the question; the option that its sentence shares most words with; the
  events by the dates of the documents where their words are found; CORRECT if every number of the
  statement occurs in the documents. Without documents: the sentence, the first option, the events
  as they stand, CORRECT only for a statement without numbers.
- `gold_answer` gives the gold answer, which shows what the scoring makes of a right one.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

from scripts.dates import legal_dates
from scripts.files import DataError
from scripts.records import Item, Request
from scripts.statistics.seeding import cell_generator
from scripts.tide.contexts import Document, shown_documents
from scripts.tide.prompts import VERDICTS
from scripts.tide.requests import EXPLANATION
from scripts.tide.tasks import TASKS

#: What is said where there is nothing to say.
UNKNOWN = "I do not know."

_SENTENCE_END = re.compile(r"(?<=[।?!])\s+|(?<=[^\W\d_]{2}[.])\s+|\n+")
_TOKEN = re.compile(r"\d+(?:[.,/]\d+)*|[^\W\d_]+(?:[\u0980-\u09ff\u200c\u200d]+)*")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


@dataclass(frozen=True)
class Shown:
    """What a baseline has: the item, the documents of its prompt, and the items of the run."""

    item: Item
    documents: Sequence[Document]
    explains: bool
    counts: Mapping[str, Counter[int]]
    seed: int

    @cached_property
    def sentences(self) -> list[tuple[Document, str]]:
        """The sentences of the documents in their order, each with its document."""
        return [
            (document, text) for document in self.documents for text in _sentences(document.text)
        ]


@cache
def _sentences(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in _SENTENCE_END.split(text) if part.strip())


@cache
def words(text: str) -> frozenset[str]:
    """The distinct words and numbers of a text: folded, digits of every script as ASCII."""
    return frozenset(_TOKEN.findall(_ascii_digits(unicodedata.normalize("NFC", text).casefold())))


def _ascii_digits(text: str) -> str:
    if text.isascii():
        return text
    return "".join(str(unicodedata.decimal(c)) if c.isdecimal() else c for c in text)


@cache
def _first_date(text: str) -> str:
    """The first full date of a text; empty where there is none."""
    days = (str(m.value) for m in legal_dates.mentions(text) if m.granularity == "day")
    return next(days, "")


def _best(candidates: Sequence[str], wanted: frozenset[str]) -> int | None:
    """The first of the texts that share most words with `wanted`; None where none shares any."""
    shared = [len(words(text) & wanted) for text in candidates]
    best = max(shared, default=0)
    return shared.index(best) if best else None


def _question(item: Item) -> str:
    return " ".join(str(item.inputs[name]) for name in TASKS[item.task].query)


# Answers as values --------------------------------------------------------------------------------


def _frequent(shown: Shown) -> int:
    counts = shown.counts.get(shown.item.task, Counter())
    return min(range(max(counts, default=0) + 1), key=lambda index: (-counts[index], index))


def _majority(shown: Shown) -> int | list[int] | str:
    kind = TASKS[shown.item.task].kind
    if shown.explains or kind == "free":
        return UNKNOWN
    if kind == "order":
        return list(range(len(shown.item.inputs["events_shuffled"])))
    index = _frequent(shown)
    return VERDICTS[index] if kind == "verdict" else index


def _uniform(shown: Shown) -> int | list[int] | str:
    kind = TASKS[shown.item.task].kind
    draw = cell_generator(shown.seed, "uniform", shown.item.item_id)
    if shown.explains or kind == "free":
        return UNKNOWN
    if kind == "order":
        return [int(i) for i in draw.permutation(len(shown.item.inputs["events_shuffled"]))]
    if kind == "verdict":
        return VERDICTS[int(draw.integers(len(VERDICTS)))]
    return int(draw.integers(len(shown.item.inputs["options"])))


def _extractive(shown: Shown) -> int | list[int] | str:
    kind = TASKS[shown.item.task].kind
    texts = [text for _, text in shown.sentences]
    if shown.explains or kind == "free":
        nearest = _best(texts, words(_question(shown.item)))
        return UNKNOWN if nearest is None else texts[nearest]
    if kind == "order":
        return _order_by_documents(shown)
    if kind == "verdict":
        stated = set(_NUMBER.findall(_ascii_digits(str(shown.item.inputs["statement"]))))
        known = set(_NUMBER.findall(_ascii_digits("\n".join(texts))))
        return VERDICTS[0] if stated <= known else VERDICTS[1]
    return _best_option(shown, texts)


def _best_option(shown: Shown, texts: Sequence[str]) -> int:
    """The option whose words, with the question's, are best covered by one sentence."""
    question = words(_question(shown.item))
    scores = []
    for option in shown.item.inputs["options"]:
        wanted = words(option)
        scores.append(
            max(((len(words(t) & wanted), len(words(t) & question)) for t in texts), default=(0, 0))
        )
    return scores.index(max(scores))


def _order_by_documents(shown: Shown) -> list[int]:
    """Events by the date of the document whose sentence shares most words with each.

    A document's date is the first full date in it. Events of one date, and those that nothing is
    found for (last), stand by the place of their sentence, then as they were given.
    """
    texts = [text for _, text in shown.sentences]
    keys = []
    for index, event in enumerate(shown.item.inputs["events_shuffled"]):
        place = _best(texts, words(event))
        day = "" if place is None else _first_date(shown.sentences[place][0].text)
        keys.append((not day, day, len(texts) if place is None else place, index))
    return [key[-1] for key in sorted(keys)]


def _gold(shown: Shown) -> int | list[int] | str:
    gold, kind = shown.item.gold, TASKS[shown.item.task].kind
    if kind == "choice":
        return int(gold["answer_index"])
    if kind == "order":
        return [int(index) for index in gold["order"]]
    if kind == "verdict" and not shown.explains:
        return VERDICTS[int(gold["is_perturbed"])]
    return str(gold["answer"])


_RULES: dict[str, Callable[[Shown], int | list[int] | str]] = {
    "majority": _majority,
    "uniform": _uniform,
    "extractive": _extractive,
    "gold_answer": _gold,
}
KINDS = tuple(_RULES)


def right_indices(items: Sequence[Item]) -> dict[str, Counter[int]]:
    """How often each option index is right, and each verdict (by its place in VERDICTS)."""
    counts: dict[str, Counter[int]] = {}
    for item in items:
        kind = TASKS[item.task].kind
        if kind in ("choice", "verdict"):
            name = "answer_index" if kind == "choice" else "is_perturbed"
            counts.setdefault(item.task, Counter())[int(item.gold[name])] += 1
    return counts


def reply(item: Item, answer: int | list[int] | str, *, explains: bool) -> str:
    """An answer as a model would write it: JSON where JSON is asked for."""
    kind = TASKS[item.task].kind
    if explains or kind == "free":
        return str(answer)
    if kind == "order":
        return json.dumps({"ordered_indices": answer})
    name = "choice_index" if kind == "choice" else "verdict"
    return json.dumps({"reasoning": "", name: answer})


def baseline_answers(
    baseline: str, requests: Sequence[Request], items: Sequence[Item], seed: int
) -> list[dict[str, str]]:
    """Rows `{request_id, text}` for requests of either step, in their order.

    Raises DataError for an unknown baseline and for a request without its item.
    """
    if baseline not in _RULES:
        raise DataError(f"unknown baseline {baseline!r}; known: {', '.join(KINDS)}")
    by_id = {item.item_id: item for item in items}
    counts = right_indices(items)
    rows = []
    for request in requests:
        item = by_id.get(request.item_id)
        if item is None:
            raise DataError(
                f"no item {request.item_id} for its request; build items and requests again"
            )
        explains = request.setting["step"] == EXPLANATION
        system = "".join(m["content"] for m in request.messages if m["role"] == "system")
        shown = Shown(item, shown_documents(system), explains, counts, seed)
        answer = _RULES[baseline](shown)
        rows.append(
            {"request_id": request.request_id, "text": reply(item, answer, explains=explains)}
        )
    return rows
