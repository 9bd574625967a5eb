"""Objects and numbers in replies: a tolerant reader that never evaluates and never raises.

Text is scanned by position with a work limit proportional to its length. What it took for an object
may lack JSON's strictness (single quotes, a trailing comma, bold markers); every tolerance is
recorded. Members keep their order and their duplicates, values stay as they were written: what they
mean, and whether two that differ are allowed, is the caller's business.
"""

from __future__ import annotations

import json
import re
import unicodedata
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

# More digits than a 64-bit integer holds are no answer to "how many letters".
MAX_DIGITS = 18
MAX_DEPTH = 8
# Failed attempts may look at each character this many times before the scan stops.
WORK_PER_CHARACTER = 32


class Number(str):
    """A number as it was written; converting it is the kind's business."""

    __slots__ = ()


class Word(str):
    """A bare word (true, False, NaN, yes) as it was written."""

    __slots__ = ()


class Pairs(list[tuple[str, Any]]):
    """The members of an object in their order, duplicates kept."""


class NotJsonError(Exception):
    """The text at this place is not an object; `end` says how far it was read."""

    def __init__(self, end: int) -> None:
        super().__init__(end)
        self.end = end


_STRICT = json.JSONDecoder(
    object_pairs_hook=Pairs, parse_int=Number, parse_float=Number, parse_constant=Word
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


class Scanner:
    """A tolerant reader of one object at a given place; records the tolerances it used."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.repairs: set[str] = set()

    def object_at(self, start: int) -> tuple[Pairs, int]:
        """The object that opens at `start`, and the position behind it; raises NotJsonError."""
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
            raise NotJsonError(len(self.text) if pattern else position)
        if quote == "'":
            self.repairs.add("single_quotes")
        return _decode_string(match[1]), match.end()

    def _object(self, start: int, depth: int) -> tuple[Pairs, int]:
        if depth > MAX_DEPTH:
            raise NotJsonError(start)
        pairs = Pairs()
        position = self._gap(start + 1)
        while self._character(position) != "}":
            key, position = self._string(position)
            position = self._gap(position)
            if self._character(position) != ":":
                raise NotJsonError(position)
            value, position = self._value(self._gap(position + 1), depth)
            pairs.append((key, value))
            position = self._separator(position, "}")
        return pairs, position + 1

    def _array(self, start: int, depth: int) -> tuple[list[Any], int]:
        if depth > MAX_DEPTH:
            raise NotJsonError(start)
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
            raise NotJsonError(position)
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
            return Number(match[0]), match.end()
        match = _WORD.match(self.text, position)
        if match:
            return Word(match[0]), match.end()
        raise NotJsonError(position)


@dataclass(frozen=True, slots=True)
class Found:
    """An object with its place (character positions) and the tolerances that reading it took."""

    pairs: Pairs
    start: int
    end: int
    repairs: frozenset[str]


def has_key(pairs: Pairs, key: str) -> bool:
    """True if a member of the object has the name."""
    return any(name == key for name, _ in pairs)


def objects_with(text: str, key: str) -> tuple[list[Found], bool]:
    """All complete top-level objects that have a key; True if the work limit was hit.

    An object inside a complete object is not top-level: a quoted schema is no answer.
    """
    scanner = Scanner(text)
    found: list[Found] = []
    work, limit = 0, WORK_PER_CHARACTER * len(text) + 1024
    position = text.find("{")
    while position >= 0:
        try:
            pairs, end = scanner.object_at(position)
        except NotJsonError as failure:
            work += failure.end - position + 1
            if work > limit:
                return [], True
            position = text.find("{", position + 1)
            continue
        if has_key(pairs, key):
            found.append(Found(pairs, position, end, frozenset(scanner.repairs)))
        position = text.find("{", end)
    return found, False


def plain_object(text: str, key: str) -> Pairs | None:
    """The whole text as one strict JSON object that has a key, or None."""
    if text.lstrip()[:1] != "{":
        return None
    try:
        value = _STRICT.decode(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, Pairs) and has_key(value, key) else None


_FENCE_BEFORE = re.compile(r"\s*(?:```+|~~~+)[ \t]*[\w+-]*\s*")
_FENCE_AFTER = re.compile(r"\s*(?:```+|~~~+)\s*")


def place(text: str, found: Found) -> str:
    """Where an object stands: `plain` (alone), `bold`, `fenced` (a code block) or `embedded`."""
    before, after = text[: found.start], text[found.end :]
    if not before.strip() and not after.strip():
        return "plain"
    if before.strip() == "**" and after.strip() == "**":
        return "bold"
    if _FENCE_BEFORE.fullmatch(before) and (_FENCE_AFTER.fullmatch(after) or not after.strip()):
        return "fenced"
    return "embedded"


# --- values --------------------------------------------------------------------------------------


class ValueKindError(Exception):
    """The value is not of the asked kind; the message is the reason code."""


# Invisible marks of writing direction, zero-width space and byte-order mark.
_MARKS = dict.fromkeys([0x200B, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)])
_MARKS[0xFEFF] = None
_INTEGER_TEXT = re.compile(r"([+\-−]?)(\d+)(?:\.(\d+))?(?:[eE]([+\-]?\d+))?")


def trim(text: str) -> str:
    """The text without white space at its ends and without invisible marks."""
    return text.translate(_MARKS).strip()


def _ascii_digits(digits: str, repairs: set[str]) -> str:
    """Decimal digits of one script as ASCII; digits of several scripts contradict each other."""
    if digits.isascii():
        return digits
    values = [unicodedata.decimal(c) for c in digits]
    if len({ord(c) - v for c, v in zip(digits, values, strict=True)}) > 1:
        raise ValueKindError("mixed_digit_scripts")
    repairs.add("unicode_digits")
    return "".join(map(str, values))


def integer(value: Any, repairs: set[str]) -> int:
    """An integer as it was written, as a number or in quotes; ValueKindError for anything else."""
    if not isinstance(value, str) or isinstance(value, Word):
        raise ValueKindError("not_an_integer")
    if not isinstance(value, Number):
        repairs.add("text_value")
    match = _INTEGER_TEXT.fullmatch(trim(value))
    if not match:
        raise ValueKindError("not_an_integer")
    sign, whole, fraction, exponent = match[1], match[2], match[3] or "", match[4] or ""
    digits = _ascii_digits(whole + fraction + exponent.lstrip("+-"), repairs)
    whole, fraction = digits[: len(whole)], digits[len(whole) : len(whole) + len(fraction)]
    negative = sign in ("-", "−")
    if exponent:
        minus = "-" if exponent.startswith("-") else ""
        power = minus + digits[len(whole) + len(fraction) :]
        return _scaled(negative, f"{whole}.{fraction or 0}", power)
    if fraction.strip("0"):
        raise ValueKindError("not_an_integer")
    significant = whole.lstrip("0") or "0"
    if len(significant) > MAX_DIGITS:
        raise ValueKindError("too_many_digits")
    return -int(significant) if negative else int(significant)


def _scaled(negative: bool, mantissa: str, power: str) -> int:
    """An integer written with an exponent; sizes are checked before anything is expanded."""
    if len(mantissa) > 2 * MAX_DIGITS or len(power) > 4:
        raise ValueKindError("too_many_digits")
    number = Decimal(f"{mantissa}e{power}")
    if number and number.adjusted() >= MAX_DIGITS:
        raise ValueKindError("too_many_digits")
    if number and (number.adjusted() < 0 or number != number.to_integral_value()):
        raise ValueKindError("not_an_integer")
    return -int(number) if negative else int(number)


_BLANK = re.compile(r"[\s\x00]*")


def is_blank(text: str) -> bool:
    """True if there is nothing but white space, NUL bytes and invisible marks."""
    return bool(_BLANK.fullmatch(text.translate(_MARKS) if not text.isascii() else text))
