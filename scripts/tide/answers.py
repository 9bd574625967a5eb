"""Reading choices, orders and verdicts from replies; free answers are taken as they stand.

The answer asked for is one JSON object. It is read strictly first, then out of a code fence or
prose, then in a few lenient forms of a whole reply; `route` says which. Nothing is guessed: two
different answers, a doubled key, an index that names no option, a missing or repeated index make
the reply unparsable, with a reason. A reasoning trace is taken away first and never read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scripts.inference.reasoning import separate_reasoning
from scripts.judging.replies import answer_text
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
from scripts.records import Item, Response
from scripts.tide.prompts import VERDICTS
from scripts.tide.tasks import TASKS

#: What became of a reply before anything judged it.
CATEGORIES = (*("parsed", "blank", "inference_error", "truncated", "unparsable", "not_run"),)
#: The key that holds the answer, by kind of task.
KEYS = {"choice": "choice_index", "order": "ordered_indices", "verdict": "verdict"}
#: Longest reply that the lenient forms are looked for in; a longer one is prose.
SHORT_CHARACTERS = 400

Value = int | tuple[int, ...] | str


@dataclass(frozen=True, slots=True)
class Answer:
    """What was read: an index, a tuple of indices, `CORRECT`/`INCORRECT`, or a free text.

    `category` is one of CATEGORIES, `route` how the value was found, `reason` why there is none.
    """

    value: Value | None
    category: str
    route: str
    reason: str = ""


class _UnreadableError(Exception):
    """A value is no answer of its kind; the message is the reason."""


def read_response(item: Item, response: Response) -> Answer:
    """The answer of one response to the first step of an item.

    Without a complete answer a reply that the token limit ended is `truncated`, whatever it holds.
    """
    kind = TASKS[item.task].kind
    answer = read_free(response)
    if kind == "free" or answer.category in ("not_run", "inference_error"):
        return answer
    # Digits that the limit may have cut off are no part of an object that is complete.
    text, _, state = separate_reasoning(response.text, response.reasoning)
    if state == "truncated":
        return answer
    cut = response.finish_reason == "length"
    answer = read_text(text, kind, item.inputs, complete=not cut)
    if answer.value is None and cut:
        return Answer(None, "truncated", "none", f"length: {answer.reason}")
    return answer


def read_free(response: Response) -> Answer:
    """A free answer: the text without its trace."""
    text, category = answer_text(response)
    if category:
        return Answer(None, category, "none", response.error or category)
    return Answer(text, "parsed", "text")


def read_text(text: str, kind: str, inputs: Mapping[str, Any], *, complete: bool = True) -> Answer:
    """The answer in a text without its trace; `complete` is False where a token limit ended it.

    What was cut off may have gone on, so only a whole object is read from an incomplete text.
    """
    if is_blank(text):
        return Answer(None, "blank", "none", "blank")
    try:
        found = _from_objects(text, kind, inputs)
        if found is None and complete and len(text) <= SHORT_CHARACTERS:
            found = _LENIENT[kind](trim(text), inputs)
    except _UnreadableError as error:
        return Answer(None, "unparsable", "none", str(error))
    if found is None:
        return Answer(None, "unparsable", "none", "no_answer")
    value, route = found
    return Answer(value, "parsed", route)


# JSON ---------------------------------------------------------------------------------------------


def _from_objects(text: str, kind: str, inputs: Mapping[str, Any]) -> tuple[Value, str] | None:
    key = KEYS[kind]
    plain = plain_object(text, key)
    if plain is not None:
        repairs: set[str] = set()
        return _value_of(plain, kind, inputs, repairs), _route("json", repairs)
    objects, exhausted = objects_with(text, key)
    if exhausted:
        raise _UnreadableError("work_limit")
    if not objects:
        return None
    values = []
    for found in objects:
        repairs = set(found.repairs)
        values.append(_value_of(found.pairs, kind, inputs, repairs))
    if len(set(values)) > 1:
        raise _UnreadableError("several_answers")
    where = place(text, objects[-1]).replace("plain", "json")
    return values[-1], _route(where, repairs)


def _route(where: str, repairs: set[str]) -> str:
    return "+".join([where, *sorted(repairs)])


def _value_of(pairs: Pairs, kind: str, inputs: Mapping[str, Any], repairs: set[str]) -> Value:
    names = [name for name, _ in pairs]
    if len(set(names)) < len(names):
        raise _UnreadableError("duplicate_key")
    return _CONVERT[kind](dict(pairs)[KEYS[kind]], inputs, repairs)


def _index(value: Any, size: int, repairs: set[str]) -> int:
    """An index below `size` from a number, or from its digits in quotes, in any one script."""
    try:
        index = integer(value, repairs)
    except ValueKindError as error:
        raise _UnreadableError(str(error)) from error
    if not 0 <= index < size:
        raise _UnreadableError("index_out_of_range")
    return index


def _choice(value: Any, inputs: Mapping[str, Any], repairs: set[str]) -> int:
    options = inputs["options"]
    if isinstance(value, str) and not isinstance(value, Number | Word):
        said = _said_option(trim(value), options, repairs)
        if said is not None:
            return said[0]
    return _index(value, len(options), repairs)


def _order(value: Any, inputs: Mapping[str, Any], repairs: set[str]) -> tuple[int, ...]:
    size = len(inputs["events_shuffled"])
    if not isinstance(value, list) or isinstance(value, Pairs):
        raise _UnreadableError("not_a_list")
    return _permutation([_index(each, size, repairs) for each in value], size)


def _permutation(indices: Sequence[int], size: int) -> tuple[int, ...]:
    if len(set(indices)) < len(indices):
        raise _UnreadableError("repeated_index")
    if len(indices) < size:
        raise _UnreadableError("missing_index")
    return tuple(indices)


def _verdict(value: Any, _inputs: Mapping[str, Any], repairs: set[str]) -> str:
    if not isinstance(value, str) or isinstance(value, Number):
        raise _UnreadableError("not_a_verdict")
    if isinstance(value, Word):
        repairs.add("bare_word")
    verdict = trim(value).strip("*. ").upper()
    if verdict not in VERDICTS:
        raise _UnreadableError("not_a_verdict")
    if verdict != value:
        repairs.add("spelling")
    return verdict


_CONVERT: dict[str, Callable[[Any, Mapping[str, Any], set[str]], Value]] = {
    "choice": _choice,
    "order": _order,
    "verdict": _verdict,
}


# Lenient forms of a whole reply -------------------------------------------------------------------

_DECORATION = " \t\n*_`#>\"'“”‘’।.:;,!-"
_BRACKETS = re.compile(r"\A[\[(]\s*(.*?)\s*[\])]\Z", re.DOTALL)
_FENCE = re.compile(
    r"\A\s*(?:```+|~~~+)[ \t]*[\w+-]*[ \t]*\n(.*?)\n?\s*(?:```+|~~~+)\s*\Z", re.DOTALL
)
_LABEL = re.compile(
    r"\A(?:(?:the|my)\s+)?(?:(?:final|correct|best|right)\s+)*"
    r"(?:answer|choice|choice[_ ]index|option|order|ordered[_ ]indices|verdict)"
    r"(?:\s+(?:is|index|number))?\s*(?::|=|is\b|\b)\s*",
    re.IGNORECASE,
)
_SEPARATOR = re.compile(r"\s*(?:,|;|→|->|=>|\bthen\b|\n|\s)\s*")
_NUMBERED = re.compile(
    r"\A(?:option\s+)?[\[(]?(\d{1,3}|[A-Za-z])[\])]?\s*[.:)\-–]\s*(?=\S)(.*)\Z",
    re.DOTALL | re.IGNORECASE,
)
_STATEMENT = re.compile(
    r"\A(?:this|the)\s+statement\s+is\s+(?:factually\s+)?(correct|incorrect)\Z", re.IGNORECASE
)


def _bare(text: str) -> str:
    """A reply without a fence, a label ("Answer:") and the marks around it."""
    fenced = _FENCE.match(text)
    text = (fenced[1] if fenced else text).strip(_DECORATION)
    for _ in range(2):
        text = _LABEL.sub("", text, count=1).strip(_DECORATION)
    return text


def _plain(text: str) -> str:
    """A text for comparison: folded, one blank between words, no marks around it."""
    return " ".join(text.casefold().split()).strip(_DECORATION)


def _said_option(
    text: str, options: Sequence[str], repairs: set[str] | None = None
) -> tuple[int, str] | None:
    """(index, form) of an option said by its index, letter or own text; None for other texts.

    A text that is one option's index and another option's text says two things.
    """
    repairs = set() if repairs is None else repairs
    named = _named_option(text, options)
    bracketed = _BRACKETS.match(text)
    digits = (bracketed[1] if bracketed else text).strip(_DECORATION)
    if not digits.isdecimal():
        if named is not None:
            repairs.add(named[1])
        return named
    read: set[str] = set()
    try:
        index = _index(digits, len(options), read)
    except _UnreadableError:
        if named is None:
            raise
        repairs.add(named[1])
        return named
    repairs |= read
    if named is not None and named[0] != index:
        raise _UnreadableError("several_answers")
    return index, "lone_index"


def _named_option(text: str, options: Sequence[str]) -> tuple[int, str] | None:
    """(index, form) of an option named by its own text or by its letter."""
    equal = [index for index, option in enumerate(options) if _plain(option) == _plain(text)]
    if len(equal) == 1:
        return equal[0], "option_text"
    if len(equal) > 1:
        raise _UnreadableError("several_options")
    letter = _letter(text)
    if letter is not None and letter < len(options):
        return letter, "option_letter"
    return None


def _letter(text: str) -> int | None:
    bracketed = _BRACKETS.match(text)
    bare = (bracketed[1] if bracketed else text).strip(_DECORATION + "()")
    if len(bare) == 1 and bare.isascii() and bare.isalpha():
        return ord(bare.upper()) - ord("A")
    return None


def _lenient_choice(text: str, inputs: Mapping[str, Any]) -> tuple[Value, str] | None:
    options = inputs["options"]
    bare = _bare(text)
    said = _said_option(bare, options)
    numbered = _NUMBERED.match(bare) if said is None else None
    if numbered is None:
        return said
    named = _named_option(numbered[2], options)
    if named is None or named[1] != "option_text":
        return None
    marker = numbered[1]
    index = _index(marker, len(options), set()) if marker.isdecimal() else _letter(marker)
    if index != named[0]:
        raise _UnreadableError("several_answers")
    return named[0], "numbered_option"


def _lenient_order(text: str, inputs: Mapping[str, Any]) -> tuple[Value, str] | None:
    size = len(inputs["events_shuffled"])
    bare = _bare(text)
    bracketed = _BRACKETS.match(bare)
    parts = [part for part in _SEPARATOR.split(bracketed[1] if bracketed else bare) if part]
    if not parts or not all(part.strip(".").isdecimal() for part in parts):
        return None
    indices = [_index(part.strip("."), size, set()) for part in parts]
    return _permutation(indices, size), "bare_list"


def _lenient_verdict(text: str, _inputs: Mapping[str, Any]) -> tuple[Value, str] | None:
    bare = _bare(text)
    if bare.upper() in VERDICTS:
        return bare.upper(), "lone_verdict"
    statement = _STATEMENT.match(bare)
    return (statement[1].upper(), "statement_sentence") if statement else None


_LENIENT: dict[str, Callable[[str, Mapping[str, Any]], tuple[Value, str] | None]] = {
    "choice": _lenient_choice,
    "order": _lenient_order,
    "verdict": _lenient_verdict,
}
