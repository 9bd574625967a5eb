"""Reading a model's reply as JSON of a given shape, and the texts inside it.

A reply is hostile: it is one JSON object, or an object in one code fence, or it is unusable with a
reason. Nothing is searched for inside prose. Doubled keys, NaN and values of another type are
refused; limits bound what one reply can cost.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import Any, cast

import jsonschema

from scripts.files import parse_json
from scripts.inference.reasoning import separate_reasoning
from scripts.records import Response

#: Longest reply that is read.
REPLY_CHARACTERS = 400_000
#: Longest text inside a reply, where a caller sets no other limit.
TEXT_CHARACTERS = 4000

_FENCE = re.compile(r"```[A-Za-z]{0,10}[ \t]*\n(?P<body>.*)\n[ \t]*```", re.DOTALL)
# Control characters but tab and line end, embeddings, overrides and isolates of direction, lone
# surrogates, noncharacters. Joiners stay: Bengali needs them.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)
_BLANKS = re.compile(r"\s+")


def _is_whole(_: Any, value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


# JSON Schema takes 1.0 for an integer; an index must be one.
_Validator = jsonschema.validators.extend(  # type: ignore[no-untyped-call]
    jsonschema.Draft202012Validator,
    type_checker=jsonschema.Draft202012Validator.TYPE_CHECKER.redefine("integer", _is_whole),
)


def read_reply(response: Response, schema: Mapping[str, Any]) -> tuple[dict[str, Any] | None, str]:
    """(object, "") of a usable reply, or (None, reason); never raises for what a model wrote."""
    if response.error:
        return None, f"the model gave no answer: {response.error}"
    text, _, state = separate_reasoning(response.text, response.reasoning)
    if state == "truncated":
        return None, "the reasoning never ended"
    value, reason = parse_object(text, schema)
    if reason and response.finish_reason == "length":
        return None, f"cut at the token limit ({reason})"
    return value, reason


def parse_object(text: str, schema: Mapping[str, Any]) -> tuple[dict[str, Any] | None, str]:
    """(object, "") where the text is one JSON object of the schema, else (None, reason)."""
    body = text.strip()
    if not body:
        return None, "empty reply"
    if len(body) > REPLY_CHARACTERS:
        return None, f"{len(body)} characters, more than {REPLY_CHARACTERS}"
    if fenced := _FENCE.fullmatch(body):
        body = fenced["body"]
    try:
        value = parse_json(body)
    except RecursionError:
        return None, "not JSON: nested too deeply"
    except ValueError as error:
        return None, f"not one JSON object: {str(error)[:120]}"
    problem = shape_problem(value, schema)
    return (None, problem) if problem else (value, "")


def shape_problem(value: Any, schema: Mapping[str, Any]) -> str:
    """Where a value departs from a JSON Schema; empty when it fits.

    The library's message quotes the whole value: only the place and the rule are told.
    """
    fault = next(_Validator(dict(schema)).iter_errors(value), None)
    if fault is None:
        return ""
    return f"does not fit the schema at {fault.json_path[:120]}: {fault.validator}{_names(fault)}"


def _names(fault: jsonschema.ValidationError) -> str:
    """The names that a rule is about: allowed values, unknown and missing fields."""
    rule: Any = fault.validator_value
    value: Any = fault.instance
    schema = cast("dict[str, Any]", fault.schema)
    if fault.validator == "enum":
        names = [str(each) for each in rule]
    elif fault.validator == "required":
        names = [name for name in rule if name not in value]
    elif fault.validator == "additionalProperties":
        names = sorted(set(value) - set(schema.get("properties", {})))
    else:
        return ""
    shown = ", ".join(ascii(name[:40]) for name in names[:12])
    return f" ({'allowed' if fault.validator == 'enum' else 'fields'}: {shown})"


def clean(text: str) -> str:
    """The text in Unicode form C with every run of white space as one blank."""
    return _BLANKS.sub(" ", unicodedata.normalize("NFC", text)).strip()


def text_problem(text: object, limit: int = TEXT_CHARACTERS) -> str:
    """What forbids to keep a text; empty when nothing does."""
    if not isinstance(text, str):
        return f"is {type(text).__name__}, not text"
    if hidden := _HIDDEN.search(text):
        return f"holds U+{ord(hidden[0]):04X}, a control character"
    if not text.strip():
        return "is empty"
    return f"has {len(text)} characters, more than {limit}" if len(text) > limit else ""
