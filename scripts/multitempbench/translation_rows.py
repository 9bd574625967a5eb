"""The rows of the files of translations and of reviewers' corrections."""

from __future__ import annotations

import re
from dataclasses import dataclass

from scripts.multitempbench.tasks import LANGUAGES
from scripts.records import Record, RecordError

# Control characters but line ends, lone surrogates, embeddings and overrides of direction. Single
# marks of direction and joiners belong to good Arabic text.
HIDDEN = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)


@dataclass(frozen=True, slots=True)
class Translation(Record):
    """A question's text in one language. `translator` says who made it: `source`, a name in the
    shipped file, `model:<name>`, `local:<model>` or `override:<reviewer>`; `reviewed`: whether a
    person who speaks the language has checked it.
    """

    question_id: str
    language: str
    text: str
    translator: str
    reviewed: bool

    def check(self) -> None:
        """Raise RecordError for an unknown language, a field of the wrong type, a hidden sign."""
        _check_text(self.question_id, self.language, self.text)
        if not isinstance(self.translator, str) or not isinstance(self.reviewed, bool):
            raise RecordError(f"{self.question_id}: translator or reviewed has the wrong type")


@dataclass(frozen=True, slots=True)
class Override(Record):
    """A reviewer's own text for one question in one language."""

    question_id: str
    language: str
    text: str
    reviewer: str

    def check(self) -> None:
        """Raise RecordError for an unknown language, a field that is no text, a hidden sign.

        A row without a reviewer is one that nobody has filled in: it would count as reviewed.
        """
        _check_text(self.question_id, self.language, self.text)
        if not isinstance(self.reviewer, str):
            raise RecordError(f"{self.question_id}: reviewer is no text")
        if not self.reviewer.strip():
            raise RecordError(
                f"{self.question_id}: reviewer is empty; translate the text and name the reviewer"
            )


def _check_text(question_id: object, language: object, text: object) -> None:
    if not isinstance(question_id, str):
        raise RecordError(f"question_id {question_id!r} is no text")
    if language not in LANGUAGES:
        raise RecordError(f"{question_id}: language {language!r} is unknown")
    if not isinstance(text, str):
        raise RecordError(f"{question_id}: text is no text")
    if hidden := HIDDEN.search(text):
        raise RecordError(
            f"{question_id}: text holds U+{ord(hidden[0]):04X}, a control character or an override "
            "of direction; remove it"
        )
