"""TIDE's archives: raw replies, and for free answers the council's votes on them.

Replies and votes say what `claim_worlds` has the models know where the findings hold; parser,
council and statistics read them as in a run.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import pandas as pd
import tide_questions as material
from claim_worlds import DOCUMENT_ITEMS, DOCUMENT_MODELS, HOLDS, document_rule, with_dates

from scripts.inference.interface import NOT_RUN
from scripts.records import Item, Request, Response
from scripts.tide.explanations import build_explanations
from scripts.tide.items import build_items
from scripts.tide.rows import QuestionPair
from scripts.tide.score_table import score_table
from scripts.tide.scoring import FLAGS, Council, score_run
from scripts.tide.statistics.analysis import statistics_frames
from scripts.tide.tasks import IDENTIFICATION, SETTINGS, TASKS
from tests import synthetic_tide_scores as synthetic

BASE, NOTHING = "as found", "nothing was run"
JUDGES = ("one", "two", "three")
DESIGN = synthetic.Design(models=DOCUMENT_MODELS, baselines=(), items=DOCUMENT_ITEMS)
DETECTION = "perturbation_detection"


@dataclass(frozen=True)
class Entry:
    """An archived reply, and the votes of every judge on it where judges read it."""

    text: str
    votes: Mapping[str, Any]


Key = tuple[str, str]  # task (or second step) and item id
Archive = dict[tuple[str, str], dict[Key, Entry]]  # model, setting


@cache
def items() -> dict[Key, Item]:
    """Items by task and number in the order of `synthetic_tide_scores`."""
    found = {}
    for task in TASKS:
        for number in range(DOCUMENT_ITEMS):
            pair = numbered(task, number)
            [item] = build_items([pair], material.CORPUS, task)
            found[task, f"{number:04d}"] = item
    return found


def numbered(task: str, number: int) -> QuestionPair:
    fields = material.FIELDS[task]
    changes: dict[str, Any] = {"question": f"{number}. {fields['question']}"}
    if task == DETECTION:
        changes["is_perturbed"] = number % 2 == 1
    thread = f"thread-{number % 3}"
    clauses = [material.FIRST, material.SECOND]
    return QuestionPair.create(task, thread, "c", clauses, {**fields, **changes}, "shipped")


@cache
def requests(knowledge: str) -> list[Request]:
    return material.requests(knowledge, [*items().values()])


def entry(row: Mapping[str, Any], item: Item) -> Entry:
    """The reply and the votes that make a row of the score file."""
    right = bool(row["correct"])
    votes = material.votes(
        item,
        dates=bool(row["dates_matched"]),
        meaning=bool(row["meaning"]),
        contradicting=bool(row["contradicting"]),
        flags={name: bool(row[column]) for column, name in FLAGS.items()},
    )
    return Entry(said(row["task"], item, right), votes)


def said(task: str, item: Item, right: bool) -> str:
    """A reply to an item: the gold choice, order or verdict, or another; else any text."""
    gold = item.gold
    if task == "temporal_mcq":
        return json.dumps({"choice_index": gold["answer_index"] if right else 3})
    if task == "event_sorting":
        return json.dumps({"ordered_indices": gold["order"] if right else gold["order"][::-1]})
    if task == DETECTION:
        return json.dumps({"verdict": "INCORRECT" if gold["is_perturbed"] == right else "CORRECT"})
    return "An answer."


@cache
def base() -> Archive:
    archive: Archive = {(m, k): {} for m in DOCUMENT_MODELS for k in SETTINGS}
    for row in synthetic.rows(DESIGN, document_rule(HOLDS)):
        known = with_dates(HOLDS, row)
        number = str(row["item_id"]).rsplit("-", 1)[1]
        task = DETECTION if row["task"] == IDENTIFICATION else row["task"]
        made = entry(known, items()[task, number])
        archive[row["model"], row["knowledge"]][row["task"], number] = made
    return archive


# ---- what may happen to the archive ------------------------------------------------------------


def exchanged(one: str, other: str) -> Archive:
    """Every model has the archive of another setting."""
    partner = {one: other, other: one}
    return {(m, k): base()[m, partner.get(k, k)] for m, k in base()}


def rewritten(change: Callable[[str, str, Key, Entry], Entry]) -> Archive:
    return {
        (model, knowledge): {
            key: change(model, knowledge, key, made) for key, made in entries.items()
        }
        for (model, knowledge), entries in base().items()
    }


def answered(key: Key, made: Entry, right: bool) -> Entry:
    """The entry with a right answer, or a wrong one in date and meaning."""
    task, number = key
    item = items()[DETECTION if task == IDENTIFICATION else task, number]
    flags = dict.fromkeys(FLAGS.values(), right) | {"followed_context": not right}
    votes = material.votes(item, dates=right, meaning=right, contradicting=not right, flags=flags)
    return replace(made, text=said(task, item, right), votes=votes)


def everything_right() -> Archive:
    return rewritten(lambda _, __, key, made: answered(key, made, right=True))


def easy_tasks_hardest() -> Archive:
    """No choice and no computed date is right, and every planted claim rejected."""
    tasks = {"temporal_mcq": False, "relative_time_qa": False, "context_misalignment": True}
    return rewritten(
        lambda _, __, key, made: answered(key, made, tasks[key[0]]) if key[0] in tasks else made
    )


def retrieval_blank() -> Archive:
    """What was said after retrieval is blank."""
    return rewritten(
        lambda _, knowledge, __, made: replace(made, text="") if knowledge == "rag" else made
    )


def flags_explained() -> Archive:
    """Whoever flags a statement names what was altered, but for one."""
    missed = ("delta", (IDENTIFICATION, "0005"))
    return rewritten(
        lambda model, _, key, made: (
            answered(key, made, (model, key) != missed) if key[0] == IDENTIFICATION else made
        )
    )


def nothing_run() -> Archive:
    return {run: {} for run in base()}


PERTURBATIONS: Mapping[str, Callable[[], Archive]] = {
    BASE: base,
    "memory and full text exchanged": lambda: exchanged("parametric", "icl"),
    "everything right": everything_right,
    "easy tasks hardest": easy_tasks_hardest,
    "retrieval blank": retrieval_blank,
    "flags explained": flags_explained,
    NOTHING: nothing_run,
}


# ---- from replies to statistics ----------------------------------------------------------------


def statistics(archive: Archive) -> dict[str, pd.DataFrame]:
    """The statistics files of TIDE by stem."""
    rows = [row for (model, k), entries in archive.items() for row in scored(model, k, entries)]
    return statistics_frames(score_table(rows), DESIGN.settings())


def scored(model: str, knowledge: str, entries: Mapping[Key, Entry]) -> list[dict[str, Any]]:
    """The rows of the score file of one model in one setting."""
    numbers = {item.item_id: key for key, item in items().items()}
    known = [*items().values()]
    asked = requests(knowledge)

    def found(request: Request, step: str = "") -> Entry | None:
        task, number = numbers[request.item_id]
        return entries.get((step or task, number))

    first = [answer(request, model, found(request)) for request in asked]
    statements = {i.item_id for i in known if i.task == DETECTION}
    second = build_explanations(
        [i for i in known if i.item_id in statements],
        [r for r in asked if r.item_id in statements],
        [r for r in first if r.item_id in statements],
        material.prompts(),
        material.DECODING,
    )
    why = [answer(request, model, found(request, IDENTIFICATION)) for request in second]
    judged = [(r, found(r)) for r in asked if TASKS[numbers[r.item_id][0]].judged]
    judged += [(r, found(r, IDENTIFICATION)) for r in second]
    votes = [
        [material.judgement(judge, r.request_id, made.votes) for r, made in judged if made]
        for judge in JUDGES
    ]
    council = Council.of(JUDGES, votes, 0.5)
    return score_run(known, asked, first, second, why, council=council).rows


def answer(request: Request, model: str, made: Entry | None) -> Response:
    if made is not None:
        return material.response(request, made.text, model=model)
    error = f"{NOT_RUN} no such row"
    return material.response(request, "", model=model, error=error, finish_reason="error")
