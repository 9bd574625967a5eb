"""Where a reply commits itself: the parts of a text that state its final answer.

Strongest first: a JSON object with an answer, a box, a marked final answer, a marked answer. What
follows a mark is read to the end of its sentence; of two marks of one kind the later one counts,
because a reply is read to its end.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from scripts.dates.languages import apart, english_first, words
from scripts.dates.plain_text import LETTER, alternatives, normalise
from scripts.dates.reading import ANY_MONTH


def _replies(name: str) -> list[str]:
    """What all languages' files have under a key of `replies`, as a normalised text has it."""
    return words(lambda language: language.replies.get(name, ()))


def _pattern(*names: str) -> str:
    return alternatives(word for name in names for word in _replies(name))


_KEYS = list(
    dict.fromkeys(
        key.casefold() for each in english_first() for key in each.replies.get("json_keys", ())
    )
)
_MAX_OBJECTS = 20
_MAX_OBJECT_CHARACTERS = 4000
_BOX = re.compile(r"\\boxed ?\{((?:[^{}\n]|\{[^{}\n]{0,200}\}){0,300})\}")
_FINAL = _pattern("final_answer")
_, _CN_FINAL = apart(_replies("final_answer"))
_, _CN_ANSWER = apart(_replies("answer"))
_LINKS = _replies("links")
_NO_LINKS, _CN_NO_LINKS = apart(_replies("not_links"))
_LINK = (
    rf"(?: ?(?:{alternatives(_LINKS)}))? ?[:=]? ?"
    rf"(?! ?(?:(?:{alternatives(_NO_LINKS)})\b|{alternatives(_CN_NO_LINKS)}))"
)
_MARK = re.compile(
    rf"(?<!{LETTER})(?P<mark>{_FINAL}|{_pattern('answer', 'answer_alone')})(?!{LETTER})"
    rf"(?P<link>{_LINK})|(?P<cn>{alternatives([*_CN_FINAL, *_CN_ANSWER])})"
    rf"(?P<cn_link> ?(?:{alternatives(apart(_LINKS)[1])})? ?[:=]? ?)"
)
_IS_FINAL = re.compile(_FINAL)
# The end of a sentence: a full stop behind a word or a number, before a blank and a word.
_SENTENCE_END = re.compile(
    rf"(?<={LETTER}{LETTER}{LETTER})[.!?] (?={LETTER}{LETTER})|(?<=\d)[.!?] (?={LETTER}{LETTER})"
    r"|[。！；;]|! "
)
_HEDGES, _CN_HEDGES = apart(_replies("hedges"))
HEDGES = re.compile(
    rf"(?<!{LETTER})(?:{alternatives(_HEDGES)})(?!{LETTER})|{alternatives(_CN_HEDGES)}"
)


@dataclass(frozen=True, slots=True)
class Commitment:
    """A part of a reply that states its answer: how it was marked, its text, and what follows."""

    route: str
    text: str
    rest: str = ""


def commitments(text: str) -> list[Commitment]:
    """The committed answers of a reply, the strongest first; empty where it marks none."""
    found = [*_from_json(text), *_from_box(text)]
    plain = normalise(text)
    marks = [m for m in _MARK.finditer(plain) if _is_link(m)]
    final = [m for m in marks if _IS_FINAL.fullmatch(m["mark"] or m["cn"])]
    for route, chosen in (("final_answer", final), ("answer", marks)):
        if chosen:
            found.append(_after(plain, chosen[-1].end(), route))
    return found


def _is_link(match: re.Match[str]) -> bool:
    """True when the mark is followed by a verb or a colon, or ends its line ("Answer")."""
    link = match["link"] if match["mark"] else match["cn_link"]
    ends_line = match.end() == len(match.string) or match.string[match.end()] == "\n"
    return bool(link.strip()) or ends_line


def _after(plain: str, place: int, route: str) -> Commitment:
    """What stands after a mark: its sentence, or the next line where its own line is empty."""
    rest = plain[place:].lstrip(" \n:>#-=")
    line, _, below = rest.partition("\n")
    return Commitment(route, first_sentence(line), below if len(line) < len(rest) else "")


def first_sentence(line: str) -> str:
    """The first sentence of a line; the whole line where the rest hedges it."""
    for end in _SENTENCE_END.finditer(line):
        if ANY_MONTH.match(line, end.end()):
            continue  # "3. Juli" is one date, and "Jan. 3. May" no sentence
        return line if HEDGES.search(line, end.end()) else line[: end.start()]
    return line


def _from_json(text: str) -> list[Commitment]:
    """The value of the last JSON object with an answer; a nested object counts as its text."""
    starts = [m.start() for m in re.finditer(r"\{\s{0,8}[\"']", text)][-_MAX_OBJECTS:]
    decoder = json.JSONDecoder()
    for start in reversed(starts):
        try:
            value, _ = decoder.raw_decode(text[start : start + _MAX_OBJECT_CHARACTERS])
        except (ValueError, RecursionError):
            continue
        answer = _answer_of(value)
        if answer is not None:
            return [Commitment("json", answer)]
    return []


def _answer_of(value: Any) -> str | None:
    if not isinstance(value, dict):
        return None
    named = {str(key).casefold(): each for key, each in value.items()}
    for key in _KEYS:
        if key in named:
            answer = named[key]
            if answer is None:
                return ""
            return answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
    return None


def _from_box(text: str) -> list[Commitment]:
    boxes = _BOX.findall(text)
    return [Commitment("boxed", boxes[-1])] if boxes else []
