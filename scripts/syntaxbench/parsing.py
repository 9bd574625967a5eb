"""One answer parser for all models: model text in, a value and a reason out. It never raises.

The rules (SyntaxBench section 3.4 names the tolerances, docs/reproduction.md the decisions):

* Reasoning is taken away first (`separate_reasoning`); nothing inside it can become an answer.
* The answer is the last complete top-level object that has the key `result`. If that object's value
  is not of the asked kind, the reply is unparsable: earlier objects are drafts, not a fallback.
* Two `result` keys with different values in one object contradict each other: unparsable.
* Bold text is used only where no object has `result`.
* Text is scanned by position with a work limit proportional to its length, and never evaluated.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal

from scripts.inference.interface import NOT_RUN
from scripts.inference.reasoning import ReasoningState, separate_reasoning
from scripts.judging.reply_objects import (
    Number,
    Pairs,
    ValueKindError,
    Word,
    integer,
    is_blank,
    objects_with,
    place,
    plain_object,
    trim,
)
from scripts.records import Response

Kind = Literal["integer", "yes_no", "string"]
Category = Literal["valid", "blank", "inference_error", "truncated", "unparsable", "not_run"]

CATEGORIES: tuple[Category, ...] = (
    "valid",
    "blank",
    "inference_error",
    "truncated",
    "unparsable",
    "not_run",
)
KINDS: tuple[Kind, ...] = ("integer", "yes_no", "string")


@dataclass(frozen=True, slots=True)
class ParsedAnswer:
    """What was read from one reply.

    `value`: int for `integer`, "yes" or "no" for `yes_no`, str for `string`; None unless valid.
    `route`: how it was found (`plain`, `fenced`, `embedded`, `bold`, `none`), then `+repair` for
    every tolerance that was needed. `reason`: why there is no value, None where there is one.
    """

    value: int | str | None
    category: Category
    route: str
    reason: str | None = None
    reasoning_state: ReasoningState = "none"


_YES_NO = {"yes": "yes", "true": "yes", "no": "no", "false": "no"}


def _yes_no(value: Any, repairs: set[str]) -> str:
    if isinstance(value, bool):
        value = Word(str(value))
    if not isinstance(value, str) or isinstance(value, Number):
        raise ValueKindError("not_yes_or_no")
    answer = _YES_NO.get(trim(value).lower())
    if answer is None:
        raise ValueKindError("not_yes_or_no")
    if isinstance(value, Word):
        repairs.add("bare_word")
    return answer


def _string(value: Any, repairs: set[str]) -> str:
    del repairs
    if not isinstance(value, str) or isinstance(value, Number | Word):
        raise ValueKindError("not_a_string")
    return value


_CONVERT: dict[str, Any] = {"integer": integer, "yes_no": _yes_no, "string": _string}


def _convert(value: Any, kind: Kind, repairs: set[str]) -> int | str:
    if isinstance(value, Pairs):
        raise ValueKindError("nested")
    result: int | str = _CONVERT[kind](value, repairs)
    return result


def _result_of(pairs: Pairs, kind: Kind, repairs: set[str]) -> int | str:
    values = [value for key, value in pairs if key == "result"]
    if len(values) == 1:
        return _convert(values[0], kind, repairs)
    repairs.add("duplicate_key")
    try:
        distinct = {_convert(value, kind, repairs) for value in values}
    except ValueKindError as error:
        raise ValueKindError("conflicting_results") from error
    if len(distinct) > 1:
        raise ValueKindError("conflicting_results")
    return distinct.pop()


# --- the parser ----------------------------------------------------------------------------------

_BOLD = re.compile(r"\*\*([^*]++)\*\*")


def parse_answer(text: str, kind: Kind) -> ParsedAnswer:
    """Read the answer from a text whose reasoning was already taken away.

    `kind` is `integer`, `yes_no` or `string`. Never raises for any text; ValueError for an unknown
    kind. Categories: `valid`, `blank`, `unparsable` (the others need the whole Response).
    """
    if kind not in _CONVERT:
        raise ValueError(f"unknown answer kind {kind!r}; known: {', '.join(KINDS)}")
    if is_blank(text):
        return ParsedAnswer(None, "blank", "none", "blank")
    plain = plain_object(text, "result")
    if plain is not None:
        return _answer(plain, kind, "plain", set())
    objects, exhausted = objects_with(text, "result")
    if exhausted:
        return ParsedAnswer(None, "unparsable", "none", "work_limit")
    if objects:
        found = objects[-1]
        return _answer(found.pairs, kind, place(text, found), set(found.repairs))
    return _bold_answer(text, kind)


def _answer(pairs: Pairs, kind: Kind, route: str, repairs: set[str]) -> ParsedAnswer:
    try:
        value = _result_of(pairs, kind, repairs)
    except ValueKindError as error:
        return ParsedAnswer(None, "unparsable", route, str(error))
    return ParsedAnswer(value, "valid", "+".join([route, *sorted(repairs)]))


def _bold_answer(text: str, kind: Kind) -> ParsedAnswer:
    """Recovery where no object has `result`: the reply is one bold value, or marks exactly one.

    A string is taken only if the whole reply is bold, since prose sets any word in bold.
    """
    whole = _BOLD.fullmatch(text.strip())
    contents = [whole[1]] if whole else [] if kind == "string" else _BOLD.findall(text)
    repairs = {"text_value"}
    values: set[int | str] = set()
    for content in contents:
        try:
            values.add(_convert(content.strip(), kind, repairs))
        except ValueKindError:
            continue
    if len(values) == 1:
        return ParsedAnswer(values.pop(), "valid", "+".join(["bold", *sorted(repairs)]))
    reason = "several_bold_values" if values else "no_result"
    return ParsedAnswer(None, "unparsable", "none", reason)


def parse_response(response: Response, kind: Kind) -> ParsedAnswer:
    """Read one Response, with its error, its finish reason and its reasoning.

    An error that begins with `not run:` means the request was never answered (category `not_run`);
    any other error is an `inference_error`. A complete answer counts even if the token limit cut
    what followed; without one, the limit (or an unclosed trace) makes the reply `truncated`.
    """
    if response.error is not None:
        not_run = response.error.startswith(NOT_RUN)
        category: Category = "not_run" if not_run else "inference_error"
        return ParsedAnswer(None, category, "none", category)
    text, _, state = separate_reasoning(response.text, response.reasoning)
    if state == "truncated":
        return ParsedAnswer(None, "truncated", "none", "open_reasoning", state)
    answer = parse_answer(text, kind)
    category, reason = answer.category, answer.reason
    if category in ("blank", "unparsable") and response.finish_reason == "length":
        category, reason = "truncated", f"length_{reason}"
    return ParsedAnswer(answer.value, category, answer.route, reason, state)
