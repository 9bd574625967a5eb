"""A language model as a judge of the council: which answers it is asked about, and what it said."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from scripts.inference.interface import NOT_RUN
from scripts.judging.council_rubric import Case, build_request, empty_seat, read_reply
from scripts.records import Request, Response

#: Sends requests to the judging model and returns one response to each, in order.
Ask = Callable[[Sequence[Request]], Sequence[Response]]


def judge_answers(
    asked: Sequence[tuple[Case, str]],
    decoding: Mapping[str, Any],
    ask: Ask,
    *,
    limited: bool = True,
    rationale_characters: int = 0,
) -> list[tuple[dict[str, Any], str]]:
    """(`answers`, raw reply) of each pair of case and answer, in their order.

    Equal pairs are asked once. A reply that is an error, was cut by the token limit or does not
    follow the schema leaves the seat empty, with the reason.
    """
    requests = [
        build_request(
            case, answer, decoding, limited=limited, rationale_characters=rationale_characters
        )
        for case, answer in asked
    ]
    unique = {request.request_id: request for request in requests}
    replies = dict(zip(unique, ask(list(unique.values())), strict=True))
    return [
        (_read(case, answer, replies[request.request_id]), replies[request.request_id].text)
        for (case, answer), request in zip(asked, requests, strict=True)
    ]


def _read(case: Case, answer: str, reply: Response) -> dict[str, Any]:
    if reply.error is not None:
        not_run = reply.error.startswith(NOT_RUN)
        return empty_seat(case.item_id, "judge_not_run" if not_run else "judge_error")
    answers = read_reply(case, answer, reply.text)
    if answers["reason"] is not None and reply.finish_reason == "length":
        return empty_seat(case.item_id, "judge_cut_off")
    return answers
