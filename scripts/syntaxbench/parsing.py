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

import json
import re
import unicodedata
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

from scripts.inference.interface import NOT_RUN
from scripts.inference.reasoning import ReasoningState, separate_reasoning
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
# More digits than a 64-bit integer holds are no answer to "how many letters".
MAX_DIGITS = 18
MAX_DEPTH = 8
# Failed attempts may look at each character this many times before the scan stops.
WORK_PER_CHARACTER = 32


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


# --- objects -------------------------------------------------------------------------------------


class _Number(str):
    """A number as it was written; converting it is the kind's business."""

    __slots__ = ()


class _Word(str):
    """A bare word (true, False, NaN, yes) as it was written."""

    __slots__ = ()


class _Pairs(list[tuple[str, Any]]):
    """The members of an object in their order, duplicates kept."""


class _NotJsonError(Exception):
    """The text at this place is not an object; `end` says how far it was read."""

    def __init__(self, end: int) -> None:
        super().__init__(end)
        self.end = end


_STRICT = json.JSONDecoder(
    object_pairs_hook=_Pairs, parse_int=_Number, parse_float=_Number, parse_constant=_Word
)
# Possessive quantifiers: no backtracking, so time is linear in the text.
_DOUBLE = re.compile(r'"([^"\\]*+(?:\\.[^"\\]*+)*+)"', re.DOTALL)
_SINGLE = re.compile(r"'([^'\\]*+(?:\\.[^'\\]*+)*+)'", re.DOTALL)
# Markdown's bold markers may stand between the tokens of an object.
_GAP = re.compile(r"(?:\s|\*\*|[\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff])*+")
_NUMBER = re.compile(r"[+\-−]?\d++(?:\.\d++)?+(?:[eE][+\-]?\d++)?+")
_WORD = re.compile(r"[+\-]?[^\W\d_]++")
_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})|\\(.)", re.DOTALL)
_SIMPLE_ESCAPES = {
    '"': '"',
    "'": "'",
    "\\": "\\",
    "/": "/",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
}
_SURROGATE_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")


def _decode_escape(match: re.Match[str]) -> str:
    if match[1]:
        return chr(int(match[1], 16))
    # An escape that JSON does not know (LaTeX's \input) is a backslash and a letter.
    return _SIMPLE_ESCAPES.get(match[2], match[0])


def _join_pair(match: re.Match[str]) -> str:
    return match[0].encode("utf-16", "surrogatepass").decode("utf-16")


def _decode_string(raw: str) -> str:
    if "\\" not in raw:
        return raw
    return _SURROGATE_PAIR.sub(_join_pair, _ESCAPE.sub(_decode_escape, raw))


class _Scanner:
    """A tolerant reader of one object at a given place; records the tolerances it used."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.repairs: set[str] = set()

    def object_at(self, start: int) -> tuple[_Pairs, int]:
        """The object that opens at `start`, and the position behind it; raises _NotJsonError."""
        self.repairs = set()
        return self._object(start, 0)

    def _gap(self, position: int) -> int:
        match = _GAP.match(self.text, position)
        end = match.end() if match else position
        if end > position and "*" in self.text[position:end]:
            self.repairs.add("bold_markers")
        return end

    def _character(self, position: int) -> str:
        return self.text[position : position + 1]

    def _string(self, position: int) -> tuple[str, int]:
        quote = self._character(position)
        pattern = {'"': _DOUBLE, "'": _SINGLE}.get(quote)
        match = pattern.match(self.text, position) if pattern else None
        if not match:
            raise _NotJsonError(len(self.text) if pattern else position)
        if quote == "'":
            self.repairs.add("single_quotes")
        return _decode_string(match[1]), match.end()

    def _object(self, start: int, depth: int) -> tuple[_Pairs, int]:
        if depth > MAX_DEPTH:
            raise _NotJsonError(start)
        pairs = _Pairs()
        position = self._gap(start + 1)
        while self._character(position) != "}":
            key, position = self._string(position)
            position = self._gap(position)
            if self._character(position) != ":":
                raise _NotJsonError(position)
            value, position = self._value(self._gap(position + 1), depth)
            pairs.append((key, value))
            position = self._separator(position, "}")
        return pairs, position + 1

    def _array(self, start: int, depth: int) -> tuple[list[Any], int]:
        if depth > MAX_DEPTH:
            raise _NotJsonError(start)
        values: list[Any] = []
        position = self._gap(start + 1)
        while self._character(position) != "]":
            value, position = self._value(position, depth)
            values.append(value)
            position = self._separator(position, "]")
        return values, position + 1

    def _separator(self, position: int, closing: str) -> int:
        """Step over a comma; stay on the closing bracket."""
        position = self._gap(position)
        character = self._character(position)
        if character == closing:
            return position
        if character != ",":
            raise _NotJsonError(position)
        position = self._gap(position + 1)
        if self._character(position) == closing:
            self.repairs.add("trailing_comma")
        return position

    def _value(self, position: int, depth: int) -> tuple[Any, int]:
        character = self._character(position)
        if character == "{":
            return self._object(position, depth + 1)
        if character == "[":
            return self._array(position, depth + 1)
        if character in ('"', "'"):
            return self._string(position)
        match = _NUMBER.match(self.text, position)
        if match:
            return _Number(match[0]), match.end()
        match = _WORD.match(self.text, position)
        if match:
            return _Word(match[0]), match.end()
        raise _NotJsonError(position)


@dataclass(frozen=True, slots=True)
class _Found:
    pairs: _Pairs
    start: int
    end: int
    repairs: frozenset[str]


def _has_result(pairs: _Pairs) -> bool:
    return any(key == "result" for key, _ in pairs)


def _last_object(text: str) -> tuple[_Found | None, bool]:
    """The last complete top-level object with the key `result`; True if the work limit was hit.

    An object inside a complete object is not top-level: a quoted schema is no answer.
    """
    scanner = _Scanner(text)
    found: _Found | None = None
    work, limit = 0, WORK_PER_CHARACTER * len(text) + 1024
    position = text.find("{")
    while position >= 0:
        try:
            pairs, end = scanner.object_at(position)
        except _NotJsonError as failure:
            work += failure.end - position + 1
            if work > limit:
                return None, True
            position = text.find("{", position + 1)
            continue
        if _has_result(pairs):
            found = _Found(pairs, position, end, frozenset(scanner.repairs))
        position = text.find("{", end)
    return found, False


# --- values --------------------------------------------------------------------------------------


class _ValueKindError(Exception):
    """The value is not of the asked kind; the message is the reason code."""


# Invisible marks of writing direction, zero-width space and byte-order mark.
_MARKS = dict.fromkeys([0x200B, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)])
_MARKS[0xFEFF] = None
_INTEGER_TEXT = re.compile(r"([+\-−]?)(\d+)(?:\.(\d+))?(?:[eE]([+\-]?\d+))?")


def _trim(text: str) -> str:
    return text.translate(_MARKS).strip()


def _ascii_digits(digits: str, repairs: set[str]) -> str:
    """Decimal digits of one script as ASCII; digits of several scripts contradict each other."""
    if digits.isascii():
        return digits
    values = [unicodedata.decimal(c) for c in digits]
    if len({ord(c) - v for c, v in zip(digits, values, strict=True)}) > 1:
        raise _ValueKindError("mixed_digit_scripts")
    repairs.add("unicode_digits")
    return "".join(map(str, values))


def _integer(value: Any, repairs: set[str]) -> int:
    if not isinstance(value, str) or isinstance(value, _Word):
        raise _ValueKindError("not_an_integer")
    if not isinstance(value, _Number):
        repairs.add("text_value")
    match = _INTEGER_TEXT.fullmatch(_trim(value))
    if not match:
        raise _ValueKindError("not_an_integer")
    sign, whole, fraction, exponent = match[1], match[2], match[3] or "", match[4] or ""
    digits = _ascii_digits(whole + fraction + exponent.lstrip("+-"), repairs)
    whole, fraction = digits[: len(whole)], digits[len(whole) : len(whole) + len(fraction)]
    negative = sign in ("-", "−")
    if exponent:
        minus = "-" if exponent.startswith("-") else ""
        power = minus + digits[len(whole) + len(fraction) :]
        return _scaled(negative, f"{whole}.{fraction or 0}", power)
    if fraction.strip("0"):
        raise _ValueKindError("not_an_integer")
    significant = whole.lstrip("0") or "0"
    if len(significant) > MAX_DIGITS:
        raise _ValueKindError("too_many_digits")
    return -int(significant) if negative else int(significant)


def _scaled(negative: bool, mantissa: str, power: str) -> int:
    """An integer written with an exponent; sizes are checked before anything is expanded."""
    if len(mantissa) > 2 * MAX_DIGITS or len(power) > 4:
        raise _ValueKindError("too_many_digits")
    number = Decimal(f"{mantissa}e{power}")
    if number and number.adjusted() >= MAX_DIGITS:
        raise _ValueKindError("too_many_digits")
    if number and (number.adjusted() < 0 or number != number.to_integral_value()):
        raise _ValueKindError("not_an_integer")
    return -int(number) if negative else int(number)


_YES_NO = {"yes": "yes", "true": "yes", "no": "no", "false": "no"}


def _yes_no(value: Any, repairs: set[str]) -> str:
    if isinstance(value, bool):
        value = _Word(str(value))
    if not isinstance(value, str) or isinstance(value, _Number):
        raise _ValueKindError("not_yes_or_no")
    answer = _YES_NO.get(_trim(value).lower())
    if answer is None:
        raise _ValueKindError("not_yes_or_no")
    if isinstance(value, _Word):
        repairs.add("bare_word")
    return answer


def _string(value: Any, repairs: set[str]) -> str:
    del repairs
    if not isinstance(value, str) or isinstance(value, _Number | _Word):
        raise _ValueKindError("not_a_string")
    return value


_CONVERT: dict[str, Any] = {"integer": _integer, "yes_no": _yes_no, "string": _string}


def _convert(value: Any, kind: Kind, repairs: set[str]) -> int | str:
    if isinstance(value, _Pairs):
        raise _ValueKindError("nested")
    result: int | str = _CONVERT[kind](value, repairs)
    return result


def _result_of(pairs: _Pairs, kind: Kind, repairs: set[str]) -> int | str:
    values = [value for key, value in pairs if key == "result"]
    if len(values) == 1:
        return _convert(values[0], kind, repairs)
    repairs.add("duplicate_key")
    try:
        distinct = {_convert(value, kind, repairs) for value in values}
    except _ValueKindError as error:
        raise _ValueKindError("conflicting_results") from error
    if len(distinct) > 1:
        raise _ValueKindError("conflicting_results")
    return distinct.pop()


# --- the parser ----------------------------------------------------------------------------------

_BLANK = re.compile(r"[\s\x00]*")
_FENCE_BEFORE = re.compile(r"\s*(?:```+|~~~+)[ \t]*[\w+-]*\s*")
_FENCE_AFTER = re.compile(r"\s*(?:```+|~~~+)\s*")
_BOLD = re.compile(r"\*\*([^*]++)\*\*")


def is_blank(text: str) -> bool:
    """True if there is nothing but white space, NUL bytes and invisible marks."""
    return bool(_BLANK.fullmatch(text.translate(_MARKS) if not text.isascii() else text))


def parse_answer(text: str, kind: Kind) -> ParsedAnswer:
    """Read the answer from a text whose reasoning was already taken away.

    `kind` is `integer`, `yes_no` or `string`. Never raises for any text; ValueError for an unknown
    kind. Categories: `valid`, `blank`, `unparsable` (the others need the whole Response).
    """
    if kind not in _CONVERT:
        raise ValueError(f"unknown answer kind {kind!r}; known: {', '.join(KINDS)}")
    if is_blank(text):
        return ParsedAnswer(None, "blank", "none", "blank")
    plain = _plain_object(text)
    if plain is not None:
        return _answer(plain, kind, "plain", set())
    found, exhausted = _last_object(text)
    if exhausted:
        return ParsedAnswer(None, "unparsable", "none", "work_limit")
    if found is not None:
        return _answer(found.pairs, kind, _place(text, found), set(found.repairs))
    return _bold_answer(text, kind)


def _plain_object(text: str) -> _Pairs | None:
    """The whole text as one strict JSON object with `result`, or None."""
    if text.lstrip()[:1] != "{":
        return None
    try:
        value = _STRICT.decode(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, _Pairs) and _has_result(value) else None


def _place(text: str, found: _Found) -> str:
    before, after = text[: found.start], text[found.end :]
    if not before.strip() and not after.strip():
        return "plain"
    if before.strip() == "**" and after.strip() == "**":
        return "bold"
    if _FENCE_BEFORE.fullmatch(before) and (_FENCE_AFTER.fullmatch(after) or not after.strip()):
        return "fenced"
    return "embedded"


def _answer(pairs: _Pairs, kind: Kind, route: str, repairs: set[str]) -> ParsedAnswer:
    try:
        value = _result_of(pairs, kind, repairs)
    except _ValueKindError as error:
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
        except _ValueKindError:
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
