"""Scores of one run: choices, orders and verdicts by rule, free answers by the council.

A choice is right if it is the gold option, a verdict if it is the gold label, an order if every two
events of different dates stand in their order; the share of such pairs is `graded`, in a column of
its own. A free answer gets what the council's majority makes of it (`judging.council`). A reply
without an answer is wrong and says why in `category`; what was never asked, and what the council
could not decide, is unscored, which is not wrong. Paper: sections 3.2 and A.6, tables 3, 4 and 9.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from scripts.judging.council import Decision, decide
from scripts.judging.score_files import ScoringError, check_run, some, storable
from scripts.records import Item, Judgement, Request, Response
from scripts.tide.answers import Answer, read_free, read_response
from scripts.tide.items import judged_dates
from scripts.tide.prompts import VERDICTS
from scripts.tide.score_table import SCORE_DTYPES
from scripts.tide.tasks import IDENTIFICATION, TASKS

#: Logged questions of the council by the column that holds their majority.
FLAGS = {
    "followed_context": "followed_context",
    "authoritative": "followed_parametric",
    "conflict_acknowledged": "conflict_acknowledged",
    "blended": "blended_sources",
    "localized": "perturbation_localized",
    "correction_correct": "correction_correct",
}

#: The verdict that the second step follows.
INCORRECT = VERDICTS[1]

Seats = tuple[Mapping[str, Any] | None, ...]


@dataclass(frozen=True, slots=True)
class Reply:
    """A response with its item, its request and what was read from it.

    `task` is set for a second step, which has a name of its own in the tables.
    """

    item: Item
    request: Request
    response: Response
    answer: Answer
    task: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """What both steps share: item and setting."""
        return self.item.item_id, str(self.request.setting["knowledge"])

    @property
    def readable(self) -> bool:
        """Whether there is an answer for judges to read."""
        return self.answer.value is not None


@dataclass(frozen=True, slots=True)
class Judged:
    """A free answer with its judges' seats (in the order of `judges`) and what they decided."""

    reply: Reply
    text: str
    judges: tuple[str, ...]
    seats: Seats
    decision: Decision


@dataclass(frozen=True)
class RunScores:
    """Rows of the score file (by column name), and every answer that the council decided."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    judged: list[Judged] = field(default_factory=list)


@dataclass(frozen=True)
class Council:
    """Judgements by judge and request; a judge without a row on a request has an empty seat."""

    rows: Mapping[str, Mapping[str, Judgement]]
    date_weight: float

    @classmethod
    def of(
        cls, judges: Sequence[str], files: Sequence[Sequence[Judgement]], date_weight: float
    ) -> Council:
        """One file of judgements a judge, in the same order; ScoringError for another's rows."""
        if len(set(judges)) < len(judges) or len(judges) != len(files):
            raise ScoringError(
                f"{len(files)} files of judgements for the judges {list(judges)}; one file for "
                "each of different judges is needed"
            )
        rows: dict[str, dict[str, Judgement]] = {}
        for judge, judgements in zip(judges, files, strict=True):
            foreign = {each.judge for each in judgements} - {judge}
            if foreign:
                raise ScoringError(f"judgements of {sorted(foreign)}, expected {judge!r}")
            rows[judge] = {each.request_id: each for each in judgements}
            if len(rows[judge]) < len(judgements):
                raise ScoringError(f"{judge} judged a response twice; judge the responses again")
        return cls(rows, date_weight)

    def check(self, judged: set[str], known: set[str]) -> None:
        """Raise ScoringError where a judge left out an answer, or judged one that is not there."""
        for judge, rows in self.rows.items():
            missing, unknown = judged - set(rows), set(rows) - known
            if missing or unknown:
                what = "did not judge" if missing else "judged unknown requests"
                raise ScoringError(
                    f"{judge} {what}: {some(missing or unknown)}; judge the responses again"
                )

    def seats(self, request_id: str) -> Seats:
        """The judges' answers about one response."""
        found = (rows.get(request_id) for rows in self.rows.values())
        return tuple(None if each is None else each.answers for each in found)

    def decision(self, item: Item, request_id: str) -> Decision:
        """What the council decided about one response."""
        return decide(self.seats(request_id), len(judged_dates(item)), self.date_weight)


def score_run(
    items: Sequence[Item],
    requests: Sequence[Request],
    responses: Sequence[Response],
    explanations: Sequence[Request],
    explanation_answers: Sequence[Response],
    *,
    council: Council,
) -> RunScores:
    """The scores of one run (model and mode), a row a response, in their order.

    Behind them stands a row for the second step of every perturbed statement, also of those that
    were not flagged. Raises ScoringError, naming the rows, where the files do not fit together.
    """
    item_of, request_of = check_run(items, requests, responses)
    check_run(items, explanations, explanation_answers)
    firsts = [
        Reply(
            item_of[each.item_id],
            request_of[each.request_id],
            each,
            read_response(item_of[each.item_id], each),
        )
        for each in responses
    ]
    request_of |= {each.request_id: each for each in explanations}
    seconds = [
        Reply(
            item_of[each.item_id],
            request_of[each.request_id],
            each,
            read_free(each),
            task=IDENTIFICATION,
        )
        for each in explanation_answers
    ]
    steps = _pairs_of_steps(firsts, seconds)
    free = [reply for reply in firsts if TASKS[reply.item.task].judged]
    free += [second for _, second in steps if second is not None]
    council.check({r.request.request_id for r in free if r.readable}, set(request_of))
    scores = RunScores()
    for reply in firsts:
        if TASKS[reply.item.task].judged:
            _add_judged(scores, reply, council)
        else:
            scores.rows.append(_determined(reply))
    for first, second in steps:
        if second is None:
            scores.rows.append(_not_flagged(first))
        else:
            _add_judged(scores, second, council)
    return scores


def _pairs_of_steps(
    firsts: Sequence[Reply], seconds: Sequence[Reply]
) -> list[tuple[Reply, Reply | None]]:
    """Every first step on a perturbed statement, with its second step if it was flagged."""
    statements = {
        reply.key: reply for reply in firsts if reply.item.task == "perturbation_detection"
    }
    explained = {reply.key: reply for reply in seconds}
    flagged = {key for key, reply in statements.items() if reply.answer.value == INCORRECT}
    wrong = flagged ^ set(explained)
    if wrong or len(explained) < len(seconds):
        raise ScoringError(
            "explanations are not those of the statements called incorrect: "
            f"{some(item for item, _ in wrong)}; build the explanations again"
        )
    return [
        (reply, explained.get(key))
        for key, reply in statements.items()
        if reply.item.gold["is_perturbed"]
    ]


# Rows ---------------------------------------------------------------------------------------------


def _row(reply: Reply, **found: Any) -> dict[str, Any]:
    """A row with what every reply has; columns that are not given are empty."""
    item, setting, usage = reply.item, reply.request.setting, reply.response.usage
    known = {
        "item_id": item.item_id,
        "request_id": reply.request.request_id,
        "question_id": item.source["question_id"],
        "thread": item.factors["thread"],
        "model": reply.response.model,
        "mode": reply.response.mode,
        "task": reply.task or item.task,
        **{name: setting[name] for name in ("knowledge", "retriever", "depth", "rerank")},
        "valid": False,
        "category": reply.answer.category,
        "route": _route(reply.answer),
        "gold": storable(gold_text(item)),
        "dates": len(judged_dates(item) if reply.task else item.gold["dates"]),
        "flagged": False,
        "perturbed": item.gold.get("is_perturbed"),
        "completion_tokens": usage.get("completion"),
        "reasoning_tokens": usage.get("reasoning"),
    }
    return {**dict.fromkeys(SCORE_DTYPES), **known, **found}


def _route(answer: Answer) -> str:
    return storable(f"{answer.route}: {answer.reason}" if answer.reason else answer.route)


def gold_text(item: Item) -> str:
    """The gold answer as text, in the form in which a reply's answer is written beside it."""
    kind = TASKS[item.task].kind
    if kind == "choice":
        return written(item, int(item.gold["answer_index"]))
    if kind == "order":
        return written(item, tuple(item.gold["order"]))
    if kind == "verdict":
        return VERDICTS[int(item.gold["is_perturbed"])]
    return str(item.gold["answer"])


def written(item: Item, value: Any) -> str:
    """A reply's answer as text: an option with its index, an order as a JSON list."""
    if isinstance(value, tuple):
        return json.dumps(list(value))
    return f"{value}. {item.inputs['options'][value]}" if isinstance(value, int) else str(value)


def _determined(reply: Reply) -> dict[str, Any]:
    """The row of a choice, an order or a verdict."""
    item, answer = reply.item, reply.answer
    verdict = answer.value if TASKS[item.task].kind == "verdict" else None
    if answer.category == "not_run":
        return _row(reply)
    found: dict[str, Any] = {"correct": False, "partial": 0.0, "verdict": verdict}
    if item.task == "event_sorting":
        found["graded"] = 0.0
    if answer.value is None:
        return _row(reply, **found)
    correct = answer.value == right_value(item)
    if isinstance(answer.value, tuple):
        found["graded"] = pairs_in_order(answer.value, item.gold["order"], item.gold["event_dates"])
        correct = found["graded"] == 1.0
    found |= {"correct": correct, "partial": float(correct), "valid": True}
    return _row(reply, **found, parsed=storable(written(item, answer.value)))


def right_value(item: Item) -> Any:
    """The gold value of a choice, an order or a verdict, as `answers` reads it."""
    kind = TASKS[item.task].kind
    if kind == "choice":
        return item.gold["answer_index"]
    return tuple(item.gold["order"]) if kind == "order" else VERDICTS[item.gold["is_perturbed"]]


def pairs_in_order(order: Sequence[int], gold: Sequence[int], dates: Sequence[str]) -> float:
    """Share of pairs of events of different dates that stand in the order of these dates.

    `gold` holds the events in the order of `dates`. A date that lies within the other (2016 and
    2016-06-02) sets no order. Without ties this is (1 + Kendall's tau) / 2. ValueError if no two
    dates differ.
    """
    place = {event: index for index, event in enumerate(order)}
    pairs = [
        place[gold[a]] < place[gold[b]]
        for a, b in combinations(range(len(gold)), 2)
        if not dates[b].startswith(dates[a]) and not dates[a].startswith(dates[b])
    ]
    if not pairs:
        raise ValueError(f"no two of the dates {list(dates)} differ")
    return sum(pairs) / len(pairs)


def _not_flagged(first: Reply) -> dict[str, Any]:
    """The second step of a perturbed statement that the first step did not call incorrect."""
    if first.answer.category == "not_run":
        return _row(
            first,
            task=IDENTIFICATION,
            dates=len(judged_dates(first.item)),
            gold=storable(str(first.item.gold["answer"])),
        )
    return _row(
        first,
        task=IDENTIFICATION,
        dates=len(judged_dates(first.item)),
        category="not_flagged",
        route=f"first step: {first.answer.value or _route(first.answer)}",
        correct=False,
        partial=0.0,
        gold=storable(str(first.item.gold["answer"])),
        verdict=first.answer.value,
        completion_tokens=None,
        reasoning_tokens=None,
    )


def _add_judged(scores: RunScores, reply: Reply, council: Council) -> None:
    """Add the row of a free answer, and the answer itself where a judge read it."""
    explains = reply.task == IDENTIFICATION
    fixed = {
        "gold": storable(str(reply.item.gold["answer"])),
        "verdict": INCORRECT if explains else None,
    }
    if not reply.readable:
        unscored = reply.answer.category == "not_run"
        found = {} if unscored else {"correct": False, "partial": 0.0}
        scores.rows.append(_row(reply, **fixed, **found))
        return
    text = str(reply.answer.value)
    decision = council.decision(reply.item, reply.request.request_id)
    seats = council.seats(reply.request.request_id)
    scores.judged.append(Judged(reply, text, tuple(council.rows), seats, decision))
    known = [match for match in decision.date_matched if match is not None]
    scores.rows.append(
        _row(
            reply,
            **fixed,
            valid=decision.seats > 0,
            category="judged" if decision.seats else "unjudged",
            route=_decided(decision, len(seats)),
            correct=decision.strict if decision.seats else None,
            partial=decision.partial if decision.seats else None,
            parsed=storable(text),
            dates_matched=(
                sum(known) if decision.seats and len(known) == len(decision.date_matched) else None
            ),
            contradicting=decision.contradicting,
            meaning=decision.meaning,
            uncertain=decision.uncertain if decision.seats else None,
            seats=decision.seats,
            flagged=decision.flagged,
            **{column: decision.flags.get(name) for column, name in FLAGS.items()},
        )
    )


def _decided(decision: Decision, judges: int) -> str:
    parts = [f"council: {decision.seats} of {judges} seats"]
    parts += ["undecided"] if decision.undecided and decision.seats else []
    return ", ".join(parts + (["uncertain"] if decision.uncertain else []))
