"""The second step of perturbation detection: why and where a statement is wrong.

It is asked only of a model whose first step called the statement INCORRECT, with the same documents
and preamble. Paper: section A.8.4.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scripts.judging.score_files import check_run
from scripts.records import Item, Request, Response
from scripts.tide.answers import read_response
from scripts.tide.prompts import Prompts
from scripts.tide.requests import ANSWER, EXPLANATION
from scripts.tide.tasks import IDENTIFICATION


def explanation_request(
    item: Item, first: Request, prompts: Prompts, decoding: Mapping[str, Any]
) -> Request:
    """The second step after a first one: its system message, the body that asks for the error."""
    setting = {**first.setting, "step": EXPLANATION}
    messages = [
        *(message for message in first.messages if message["role"] == "system"),
        {"role": "user", "content": prompts.body(IDENTIFICATION, item.inputs)},
    ]
    return Request.create(item.item_id, setting, messages, dict(decoding))


def build_explanations(
    items: Sequence[Item],
    requests: Sequence[Request],
    responses: Sequence[Response],
    prompts: Prompts,
    decoding: Mapping[str, Any],
) -> list[Request]:
    """Second steps of one run, in the order of its responses; those of every setting together.

    Raises ScoringError where items, requests and responses of the first step do not fit together.
    """
    item_of, request_of = check_run(items, requests, responses)
    found = []
    for response in responses:
        item, first = item_of[response.item_id], request_of[response.request_id]
        if first.setting["step"] == ANSWER and read_response(item, response).value == "INCORRECT":
            found.append(explanation_request(item, first, prompts, decoding))
    return found
