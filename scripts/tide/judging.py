"""The council of TIDE: from items and responses to one Judgement a judge and response."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scripts.judging.council_model_judge import Ask, judge_answers
from scripts.judging.council_programs import program
from scripts.judging.council_rubric import ALTERED, RIGHT, Case, GoldDate, Kind, empty_seat
from scripts.judging.replies import answer_text
from scripts.judging.score_files import ScoringError, some
from scripts.records import Item, Judgement, Response
from scripts.tide.items import judged_dates
from scripts.tide.tasks import TASKS

#: Reasons of seats that are empty because there was no answer to judge.
UNASKED = ("blank", "truncated", "inference_error", "not_run", "not_perturbed")

_KINDS: Mapping[str, Kind] = {
    "relative_time_qa": "relative_time",
    "context_misalignment": "misalignment",
    "perturbation_detection": "explanation",
}
_SHOWN = ("scenario", "misaligned_context", "statement")
_NOTES = (
    ("conflict", "Documented conflict"),
    ("perturbed_fact", ALTERED),
    ("correct_fact", RIGHT),
    ("anchor", "Anchor"),
)


@dataclass(frozen=True, slots=True)
class Judged:
    """One response to judge, and whether it explains a flagged statement."""

    response: Response
    explanation: bool = False


def case_of(item: Item) -> Case:
    """What the judges see of an item; that of an altered statement is about its explanation.

    Raises ScoringError naming an item whose inputs or gold lack a field.
    """
    try:
        dates = tuple(
            GoldDate(str(date["value"]), str(date["granularity"]), str(date["text"]))
            for date in judged_dates(item)
        )
        return Case(
            item_id=item.item_id,
            kind=_KINDS.get(item.task, "plain"),
            question=str(item.inputs["question"]),
            reference=str(item.gold["answer"]),
            dates=dates,
            shown="\n".join(str(item.inputs[name]) for name in _SHOWN if item.inputs.get(name)),
            notes=tuple(
                (label, str(item.gold[name])) for name, label in _NOTES if item.gold.get(name)
            ),
        )
    except (KeyError, TypeError) as error:
        raise ScoringError(
            f"item {item.item_id}: its gold or inputs lack {error}; build the items again"
        ) from error


def judge_by_program(
    items: Sequence[Item], judged: Sequence[Judged], judge: str
) -> list[Judgement]:
    """A program's Judgement on every response, in their order."""
    votes = program(judge)

    def answer_all(asked: Sequence[tuple[Case, str]]) -> list[tuple[dict[str, Any], str]]:
        return [(votes(case, answer), "") for case, answer in asked]

    return _judge(items, judged, judge, answer_all)


def judge_by_model(
    items: Sequence[Item],
    judged: Sequence[Judged],
    judge: str,
    decoding: Mapping[str, Any],
    ask: Ask,
    *,
    limited: bool = True,
    rationale_characters: int = 0,
) -> list[Judgement]:
    """A model's Judgement on every response, in their order; equal answers are asked once."""

    def answer_all(asked: Sequence[tuple[Case, str]]) -> list[tuple[dict[str, Any], str]]:
        return judge_answers(
            asked, decoding, ask, limited=limited, rationale_characters=rationale_characters
        )

    return _judge(items, judged, judge, answer_all)


def _judge(
    items: Sequence[Item],
    judged: Sequence[Judged],
    judge: str,
    answer_all: Callable[[Sequence[tuple[Case, str]]], Sequence[tuple[dict[str, Any], str]]],
) -> list[Judgement]:
    """Send what has a text to the judge; the seat on the rest is empty, with the category."""
    cases = _cases(items, judged)
    texts = [answer_text(one.response) for one in judged]
    reasons = [
        category or ("" if one.response.item_id in cases else "not_perturbed")
        for one, (_, category) in zip(judged, texts, strict=True)
    ]
    sent = [index for index, reason in enumerate(reasons) if not reason]
    asked = [(cases[judged[index].response.item_id], texts[index][0]) for index in sent]
    replies = dict(zip(sent, answer_all(asked), strict=True))
    out = []
    for index, one in enumerate(judged):
        empty = empty_seat(one.response.item_id, reasons[index]), ""
        answers, raw = replies.get(index, empty)
        out.append(Judgement(one.response.request_id, judge, answers, raw))
    return out


def _cases(items: Sequence[Item], judged: Sequence[Judged]) -> dict[str, Case]:
    """The case of every item with a response to judge.

    A statement that was not altered but flagged has no altered element to find: it has no case.
    Raises ScoringError for an item that is unknown or whose answers the council does not judge.
    """
    item_of = {item.item_id: item for item in items}
    wanted = {one.response.item_id: one.explanation for one in judged}
    if unknown := [name for name in wanted if name not in item_of]:
        raise ScoringError(
            f"responses to unknown items: {some(unknown)}; the items changed after the run, run "
            "the model again"
        )
    out = {}
    for name, explanation in wanted.items():
        item = item_of[name]
        task = TASKS.get(item.task)
        if task is None or (task.kind != "verdict" if explanation else not task.judged):
            raise ScoringError(
                f"item {name} of task {item.task!r}: the council judges answers to free-form tasks "
                "and explanations of flagged statements; give it those files only"
            )
        if not explanation or item.gold.get("is_perturbed"):
            out[name] = case_of(item)
    return out
