"""Items: what a model may see of each question pair, and the gold answer with its dates.

The gold dates are read out of the gold answer by program, so that no judge has to find them. Paper:
sections 2.4, 2.5 and A.6.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from scripts.dates import legal_dates
from scripts.files import DataError
from scripts.records import Item
from scripts.tide.construction.pair_checks import canonical
from scripts.tide.contexts import Corpus
from scripts.tide.rows import QuestionPair
from scripts.tide.tasks import TASKS

BENCHMARK = "tide"
#: Gold fields that are kept beside the answer as they are, by task.
_KEPT: dict[str, tuple[str, ...]] = {
    "temporal_mcq": ("explanation",),
    "perturbation_detection": ("is_perturbed", "perturbed_fact", "correct_fact"),
    "scenario_short_answer": ("date_or_instrument",),
    "temporal_scenario_short_answer": ("clauses_involved",),
    "context_misalignment": ("conflict",),
}


def build_items(
    pairs: Iterable[QuestionPair],
    corpus: Corpus,
    task: str,
    unread: Mapping[str, int] | None = None,
) -> list[Item]:
    """The items of one task in the order of their question pairs.

    `unread` counts the pages of a document that could not be read: they are missing from its text
    wherever a model reads it, so an item says how many pages of its documents are.

    Raises DataError, naming the question, for a cited clause that the corpus does not have, a field
    of the wrong kind, an answer that contradicts itself, and two questions that ask the same.
    """
    items: list[Item] = []
    asked: dict[str, str] = {}
    for pair in pairs:
        if pair.task != task:
            continue
        item = build_item(pair, corpus, unread)
        if item.item_id in asked:
            raise DataError(
                f"question {pair.question_id} asks the same as {asked[item.item_id]}; remove one"
            )
        asked[item.item_id] = pair.question_id
        items.append(item)
    return items


def build_item(pair: QuestionPair, corpus: Corpus, unread: Mapping[str, int] | None = None) -> Item:
    """One question pair as an item."""
    task = TASKS[pair.task]
    if not pair.clause_ids:
        raise DataError(f"question {pair.question_id} cites no clause; correct or remove it")
    clauses = [corpus.element(clause, f"question {pair.question_id}") for clause in pair.clause_ids]
    for name in task.shown:
        _check_shown(pair, name)
    return Item.create(
        BENCHMARK,
        pair.task,
        {
            "thread": pair.thread_id,
            "document_types": sorted({clause.document_type for clause in clauses}),
        },
        {name: pair.fields[name] for name in task.shown},
        _GOLD[task.kind](pair),
        {
            "question_id": pair.question_id,
            "thread_id": pair.thread_id,
            "cluster_id": pair.cluster_id,
            "clause_ids": list(pair.clause_ids),
            "documents": (documents := sorted({clause.document for clause in clauses})),
            "unread_pages": sum((unread or {}).get(document, 0) for document in documents),
            "origin": pair.origin,
        },
    )


def _check_shown(pair: QuestionPair, name: str) -> None:
    value = pair.fields[name]
    if name in ("options", "events_shuffled"):
        texts = value if isinstance(value, list) else []
        if len(texts) < 2 or not all(isinstance(text, str) and text.strip() for text in texts):
            raise _wrong(pair, f"{name} must be a list of two texts or more")
        if len(set(map(canonical, texts))) < len(texts):
            raise _wrong(pair, f"{name} holds the same text twice")
    elif not isinstance(value, str) or not value.strip():
        raise _wrong(pair, f"{name} must be a text")


def _wrong(pair: QuestionPair, problem: str) -> DataError:
    return DataError(f"question {pair.question_id}: {problem}; correct or remove the question")


# Gold answers -------------------------------------------------------------------------------------


def gold_dates(text: str) -> list[dict[str, str]]:
    """The dates that a gold answer states: `{value, granularity, text}` in their order, each once.

    A month or year that a finer date of the same answer lies in is not listed beside it: who
    matches the finer one has matched it.
    """
    distinct: dict[str, dict[str, str]] = {}
    for found in legal_dates.mentions(text):
        distinct.setdefault(
            found.value,
            {"value": found.value, "granularity": found.granularity, "text": found.text},
        )
    return [
        date
        for value, date in distinct.items()
        if not any(other.startswith(f"{value}-") for other in distinct)
    ]


def judged_dates(item: Item) -> list[dict[str, str]]:
    """The dates that a judged answer to an item has to state.

    Those of the gold answer; where a statement was altered, those of the right fact alone: its
    explanation is asked for the error and what is true instead, not for when an instrument came
    into force, nor for the wrong date that the gold answer may name too.
    """
    if TASKS[item.task].kind == "verdict":
        return gold_dates(str(item.gold.get("correct_fact") or ""))
    return list(item.gold["dates"])


def _kept(pair: QuestionPair) -> dict[str, Any]:
    return {name: pair.fields[name] for name in _KEPT.get(pair.task, ())}


def _answer(pair: QuestionPair) -> str:
    answer = pair.fields["answer"]
    if not isinstance(answer, str) or not answer.strip():
        raise _wrong(pair, "answer must be a text")
    return answer


def _choice(pair: QuestionPair) -> dict[str, Any]:
    index, options = pair.fields["answer_index"], pair.fields["options"]
    if isinstance(index, bool) or not isinstance(index, int) or not 0 <= index < len(options):
        raise _wrong(pair, f"answer_index {index!r} names none of {len(options)} options")
    if canonical(_answer(pair)) != canonical(options[index]):
        raise _wrong(pair, f"answer is not option {index}")
    answer = _answer(pair)
    return {"answer": answer, "answer_index": index, "dates": gold_dates(answer), **_kept(pair)}


def _order(pair: QuestionPair) -> dict[str, Any]:
    """`order`: indices into `events_shuffled`; `event_dates`: the dates in that order."""
    events = [canonical(text) for text in pair.fields["events_shuffled"]]
    key = pair.fields["answer_ordered"]
    rows = key if isinstance(key, list) else []
    if not all(isinstance(row, Mapping) and set(row) == {"event", "date"} for row in rows):
        raise _wrong(pair, "answer_ordered must be a list of {event, date}")
    ordered = [canonical(str(row["event"])) for row in rows]
    if sorted(ordered) != sorted(events):
        raise _wrong(pair, "answer_ordered does not hold the same events as events_shuffled")
    dates = [legal_dates.read_date(str(row["date"])) for row in rows]
    values = [found.value for found in dates if isinstance(found, legal_dates.DateMention)]
    if len(values) < len(rows):
        raise _wrong(pair, "answer_ordered needs one date for every event")
    if values != sorted(values) or values[-1].startswith(values[0]):
        raise _wrong(pair, "the dates of answer_ordered do not rise")
    told = [f"{value}: {row['event']}" for value, row in zip(values, rows, strict=True)]
    return {
        "answer": "; ".join(told),
        "order": [events.index(event) for event in ordered],
        "event_dates": values,
        "dates": [
            {"value": found.value, "granularity": found.granularity, "text": found.text}
            for found in dates
            if isinstance(found, legal_dates.DateMention)
        ],
    }


def _verdict(pair: QuestionPair) -> dict[str, Any]:
    perturbed = pair.fields["is_perturbed"]
    if not isinstance(perturbed, bool):
        raise _wrong(pair, "is_perturbed must be true or false")
    for name in ("perturbed_fact", "correct_fact"):
        value = pair.fields[name]
        if perturbed and (not isinstance(value, str) or not value.strip()):
            raise _wrong(pair, f"a perturbed statement needs {name}")
    answer = _answer(pair)
    return {"answer": answer, "dates": gold_dates(answer), **_kept(pair)}


def _free(pair: QuestionPair) -> dict[str, Any]:
    answer = _answer(pair)
    gold = {"answer": answer, "dates": gold_dates(answer), **_kept(pair)}
    if pair.task == "relative_time_qa":
        gold["anchor"] = anchor(pair.fields["seed_time"], pair.fields["relative_offset"])
    return gold


_GOLD: dict[str, Callable[[QuestionPair], dict[str, Any]]] = {
    "choice": _choice,
    "order": _order,
    "verdict": _verdict,
    "free": _free,
}


def anchor(seed_time: Any, relative_offset: Any) -> str | None:
    """What a relative question starts from and how far it goes; None where no date can be read.

    Judges are told the anchor, models are not: the question narrates it.
    """
    seed, offset = str(seed_time or ""), str(relative_offset or "").strip()
    found = legal_dates.read_date(seed)
    values = [date["value"] for date in gold_dates(seed)]
    if isinstance(found, legal_dates.DateMention):
        values = [found.value]
    return f"{values[0]}, {offset}" if values and offset else None
