"""Judgements of responses: by the date judge, or by a language model of the roster."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from scripts.inference.interface import NOT_RUN
from scripts.judging import date_judge, llm_judge
from scripts.judging.replies import answer_text
from scripts.judging.score_files import ScoringError, some
from scripts.judging.verdicts import Verdict
from scripts.multitempbench.prompts import Prompt
from scripts.records import Item, Judgement, Request, Response

#: Name of the rule-based judge among the configured judges; every other name is a roster entry.
DATE_JUDGE = "date_judge"
_UNREAD = {
    "blank": Verdict("not_attempted", "blank", None, "the answer is blank"),
    "truncated": Verdict("not_attempted", "truncated", None, "cut off before an answer"),
    "inference_error": Verdict(None, "inference_error", None, "the backend gave no answer"),
    "not_run": Verdict(None, "not_run", None, "the request was never sent"),
}
#: Sends requests to the judging model and returns one response to each, in order.
Ask = Callable[[Sequence[Request]], Sequence[Response]]


def judge_by_rule(
    items: Sequence[Item], responses: Sequence[Response], prompts: Mapping[str, Prompt]
) -> list[Judgement]:
    """The date judge's verdict on every response, in their order.

    `prompts` by language: what a response repeats of its prompt is no answer.
    """
    item_of = _items(items, responses)
    out = []
    for response in responses:
        text, category = answer_text(response)
        item = item_of[response.item_id]
        verdict = _UNREAD[category] if category else _by_rule(item, text, prompts)
        out.append(_judgement(response, DATE_JUDGE, verdict, text))
    return out


def judge_by_model(
    items: Sequence[Item],
    responses: Sequence[Response],
    judge: str,
    decoding: Mapping[str, Any],
    ask: Ask,
) -> list[Judgement]:
    """A language model's verdict on every response, in their order; of one run or of many.

    Only responses with a text are sent, equal texts to one item once. An answer of the judge that
    is an error or names no single grade leaves the response unscored, with the reason.
    """
    item_of = _items(items, responses)
    texts = [answer_text(response) for response in responses]
    requests = [
        None if category else llm_judge.build_request(item_of[response.item_id], text, decoding)
        for response, (text, category) in zip(responses, texts, strict=True)
    ]
    unique = {request.request_id: request for request in requests if request is not None}
    replies = dict(zip(unique, ask(list(unique.values())), strict=True))
    out = []
    for response, request, (_, category) in zip(responses, requests, texts, strict=True):
        if request is None:
            out.append(_judgement(response, judge, _UNREAD[category], ""))
        else:
            reply = replies[request.request_id]
            out.append(_judgement(response, judge, _of_reply(reply), reply.text))
    return out


def _items(items: Sequence[Item], responses: Sequence[Response]) -> dict[str, Item]:
    item_of = {item.item_id: item for item in items}
    unknown = [r.item_id for r in responses if r.item_id not in item_of]
    if unknown:
        raise ScoringError(
            f"responses to unknown items: {some(unknown)}; the items changed after the run, run "
            "the model again"
        )
    return item_of


def _by_rule(item: Item, text: str, prompts: Mapping[str, Prompt]) -> Verdict:
    try:
        prompt, kind = prompts[item.factors["language"]], item.gold["kind"]
        return date_judge.judge_item(item, text, prompt.lead(kind), prompt.options(kind))
    except (KeyError, TypeError, ValueError) as error:
        raise ScoringError(f"item {item.item_id}: {error}; build the items again") from error


def _of_reply(reply: Response) -> Verdict:
    if reply.error is not None:
        not_run = reply.error.startswith(NOT_RUN)
        return Verdict(None, "judge_not_run" if not_run else "judge_error", None, reply.error)
    return llm_judge.verdict_of_reply(reply.text)


def _judgement(response: Response, judge: str, verdict: Verdict, raw: str) -> Judgement:
    """A Judgement row; `item_id` lets people's labels, which name items, be joined."""
    answers = {**verdict.answers(), "item_id": response.item_id}
    return Judgement(response.request_id, judge, answers, raw)
