"""Translating seed questions so that no translator ever touches a date or a time.

A placeholder travels as a mark, `{d1}` as `⟦D1⟧`; when a translator does not keep the marks of one
style, the next style is tried. What comes back is checked: every placeholder as often as in the
source, nothing new. A text that fails with every style is an `Untranslated` row, never a
translation. Sources are interchangeable: the language's file, a model of the roster, or a local
translation model (`local_translation.py`); a reviewer's override wins over all of them.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

from scripts.dates.language_files import SOURCE_LANGUAGE, named
from scripts.dates.languages import LANGUAGES
from scripts.files import DataError
from scripts.inference import runner
from scripts.inference.interface import Backend
from scripts.inference.store import ResponseStore
from scripts.multitempbench.questions import PLACEHOLDER, SeedQuestion
from scripts.multitempbench.translation_rows import HIDDEN, Override, Translation
from scripts.records import Request

METHODS = ("shipped", "model", "local")
#: Marks in the order in which they are tried; `{}` is the placeholder's name in capitals.
MARK_STYLES = ("⟦{}⟧", "[{}]", "__{}__", "X{}X")
#: Marks for translation models, whose vocabularies often lack rare brackets.
LOCAL_MARK_STYLES = ("[{}]", "X{}X", "__{}__", "⟦{}⟧")
# Failures that an error names one by one.
SHOWN = 10
GREEDY = {"temperature": 0.0, "top_p": 1.0, "repetition_penalty": 1.0}

_BRACE = re.compile(r"[{}]")
_TOUCHING = re.compile(r"\}\{|[0-9A-Za-z]\{|\}[0-9A-Za-z]")
_LONG_NUMBER = re.compile(r"\d{3,}")
# How the Unicode names of a script's letters begin; a script that is not listed is not checked.
_SCRIPTS = {
    "arabic": "ARABIC",
    "bengali": "BENGALI",
    "cyrillic": "CYRILLIC",
    "devanagari": "DEVANAGARI",
    "greek": "GREEK",
    "han": "CJK",
    "hebrew": "HEBREW",
    "thai": "THAI",
}
# Least share of the letters that must be of the language's own script; names may stay Latin.
_OWN_SCRIPT = 0.5
# A translation is neither this many times longer nor shorter than its source (plus the slack).
_LENGTH_RATIO, _LENGTH_SLACK = 4, 40
_QUOTES = (('"', '"'), ("“", "”"), ("„", "“"), ("«", "»"))


@dataclass(frozen=True, slots=True)
class Untranslated:
    """A question that no mark style brought through, and why."""

    question_id: str
    language: str
    reason: str


class TranslationError(DataError):
    """Questions without a usable translation; the message names the first of them and the remedy.

    `template` has a row of the overrides file for every one, to be translated by hand.
    """

    def __init__(self, failures: Sequence[Untranslated], questions: Sequence[SeedQuestion]) -> None:
        self.failures = list(failures)
        self.template = override_template(failures, questions)
        lines = [f"{each.question_id} ({each.language}): {each.reason}" for each in failures]
        more = f"\n  and {len(lines) - SHOWN} more" if len(lines) > SHOWN else ""
        example = self.template.splitlines()[0]
        super().__init__(
            f"{len(lines)} question(s) have no usable translation:\n  "
            + "\n  ".join(lines[:SHOWN])
            + more
            + "\nput a row for each into the overrides file, with the text translated, every "
            + "placeholder kept and your name as reviewer (the log has all rows to be filled in), "
            + f"such as\n  {example}"
        )


def override_template(failures: Sequence[Untranslated], questions: Sequence[SeedQuestion]) -> str:
    """JSONL rows of the overrides file that still hold the English text and lack the reviewer."""
    sources = {question.question_id: question.text for question in questions}
    rows = [
        {
            "question_id": each.question_id,
            "language": each.language,
            "text": sources.get(each.question_id, ""),
            "reviewer": "",
        }
        for each in failures
    ]
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


# Marks and checks ---------------------------------------------------------------------------------


def protect(text: str, style: str) -> str:
    """The text with every placeholder as a mark of that style: `{d1}` becomes `⟦D1⟧`."""
    return PLACEHOLDER.sub(lambda match: style.format(match[1].upper() + match[2]), text)


def restore(text: str, style: str) -> str:
    """The text with every mark of that style as a placeholder again.

    Blanks inside a mark, its case, and digits of another script are forgiven: translation models
    change these. Anything else that a translator did to a mark leaves it unrestored.
    """
    before, after = (re.escape(part) for part in style.split("{}"))
    mark = re.compile(rf"{before}\s*([dt])\s*([0-9٠-٩０-９]{{1,2}})\s*{after}", re.IGNORECASE)
    return mark.sub(lambda match: f"{{{match[1].lower()}{int(match[2])}}}", text)


def placeholder_problem(source: str, text: str) -> str:
    """What is wrong with the placeholders of a translation; empty when nothing is.

    Each must stand as often as in the source, no other one may appear, and none may touch another
    or a Latin letter or digit, because a date written there could not be read.
    """
    wanted, found = (Counter(match[0] for match in PLACEHOLDER.finditer(t)) for t in (source, text))
    if lost := sorted((wanted - found).elements()):
        return f"lost {', '.join(lost)}"
    if new := sorted((found - wanted).elements()):
        return f"has {', '.join(new)} more than the source"
    if _BRACE.search(PLACEHOLDER.sub("", text)):
        return "holds a brace that belongs to no placeholder"
    touching = _TOUCHING.search(text)
    return f"a placeholder touches its neighbour in {touching[0]!r}" if touching else ""


def translation_problem(source: str, text: str, language: str, style: str | None = None) -> str:
    """What shows that a machine's text is no translation of the source; empty when nothing does."""
    if not text:
        return "is empty"
    problem = placeholder_problem(source, text)
    if problem:
        return problem
    checks = {
        "has several lines, so more than a translation": "\n" in text and "\n" not in source,
        "is the English source": text == source and language != SOURCE_LANGUAGE,
        "is much longer than the source": len(text) > _LENGTH_RATIO * len(source) + _LENGTH_SLACK,
        "is much shorter than the source": len(source) > 2 * _LENGTH_RATIO * len(text),
        "still holds a part of a mark": _has_mark_left(source, text, style),
        "is not in the script of the language": not _in_script(text, language),
        "holds a control character or an override of direction": HIDDEN.search(text) is not None,
    }
    found = next((message for message, is_wrong in checks.items() if is_wrong), "")
    new = sorted(set(_numbers(text)) - set(_numbers(source)))
    return found or (f"holds the number {new[0]}, which the source lacks" if new else "")


def _numbers(text: str) -> list[str]:
    """Runs of three or more digits, in Western digits."""
    return [str(int(run)) for run in _LONG_NUMBER.findall(PLACEHOLDER.sub(" ", text))]


def _has_mark_left(source: str, text: str, style: str | None) -> bool:
    brackets = {c for c in (style or "").replace("{}", "") if not c.isalnum() and c != "_"}
    if any(bracket in text and bracket not in source for bracket in brackets):
        return True
    left = re.compile(r"(?<![^\W_])[DTX_]+[0-9]{1,2}[X_]*(?![^\W_])")
    return bool(set(left.findall(text)) - set(left.findall(source)))


def _in_script(text: str, language: str) -> bool:
    prefix = _SCRIPTS.get(LANGUAGES[language].script) if language in LANGUAGES else None
    if prefix is None:
        return True
    letters = [c for c in PLACEHOLDER.sub("", text) if c.isalpha()]
    own = sum(unicodedata.name(c, "").startswith(prefix) for c in letters)
    return bool(letters) and own >= _OWN_SCRIPT * len(letters)


def clean(text: str) -> str:
    """A model's reply without white space and quotation marks around the whole of it."""
    text = text.strip()
    for first, last in _QUOTES:
        inner = text[1:-1]
        if len(text) > 2 and text[0] == first and text[-1] == last and first not in inner:
            return inner.strip()
    return text


# Sources ------------------------------------------------------------------------------------------


def source_rows(questions: Iterable[SeedQuestion]) -> list[Translation]:
    """English: the questions as they are."""
    return [Translation(q.question_id, SOURCE_LANGUAGE, q.text, "source", True) for q in questions]


def shipped_rows(
    questions: Sequence[SeedQuestion], language: str
) -> tuple[list[Translation], list[Untranslated]]:
    """The translations of the language's file that belong to the questions, each one checked."""
    known, where = LANGUAGES[language], named(language)
    rows, failures = [], []
    for question in questions:
        name = question.question_id
        text = known.translations.get(name)
        problem = "missing; add it, or correct the id if the question's text has changed"
        if text is not None:
            problem = placeholder_problem(question.text, text)
        if text is None or problem:
            reason = f"{where}: translations.texts.{name}: {problem}"
            failures.append(Untranslated(name, language, reason))
        else:
            rows.append(
                Translation(name, language, text, known.translator, known.translations_reviewed)
            )
    return rows, failures


def chat_messages(text: str, language: str, style: str) -> list[dict[str, str]]:
    """What a model of the roster is asked: translate one marked text, keep the marks."""
    example, name = style.format("D1"), LANGUAGES[language].translators["chat"]
    return [
        {
            "role": "user",
            "content": (
                f"Translate the English text below into {name}. Write it the "
                "way a careful native speaker would, and translate nothing but the text: do not "
                f"answer it and do not explain. Parts such as {example} stand for dates and times "
                "of day. Copy each of them exactly as it is, as often as it occurs, to the place "
                "where the date or time belongs. Keep numbers as digits. Reply with the "
                f"translation alone, in one line.\n\nText: {text}"
            ),
        }
    ]


def plain_messages(text: str, _language: str, _style: str) -> list[dict[str, str]]:
    """What a translation model is given: the marked text alone."""
    return [{"role": "user", "content": text}]


def machine_rows(
    questions: Sequence[SeedQuestion],
    language: str,
    backend: Backend,
    store: str,
    *,
    translator: str,
    max_new_tokens: int,
    styles: Sequence[str] = MARK_STYLES,
) -> tuple[list[Translation], list[Untranslated]]:
    """Translations by a backend, asked through the response store so that none is paid for twice.

    A text whose translation fails its checks is asked again with the next mark style. Returns the
    translations and, for questions that failed with every style, the reason of the last failure.
    A backend named `seq2seq` gets the bare text, any other one an instruction.
    """
    if language not in LANGUAGES or language == SOURCE_LANGUAGE:
        raise DataError(f"cannot translate into {language!r}; known: {', '.join(LANGUAGES)}")
    messages = plain_messages if backend.name == "seq2seq" else chat_messages
    done: dict[str, Translation] = {}
    reasons = {question.question_id: "" for question in questions}
    for style in styles:
        waiting = [q for q in questions if q.question_id not in done and _usable(q.text, style)]
        if not waiting:
            continue
        requests = [
            Request.create(
                question.question_id,
                {"language": language, "marks": style},
                messages(protect(question.text, style), language, style),
                dict(GREEDY),
            )
            for question in waiting
        ]
        result = runner.run(
            backend.spec,
            backend.mode,
            requests,
            ResponseStore(store),
            backend,
            max_new_tokens=max_new_tokens,
        )
        for question, response in zip(waiting, result.responses, strict=True):
            text = restore(clean(response.text), style)
            problem = f"the translator failed: {response.error}" if response.error else ""
            if response.finish_reason == "length":
                problem = problem or f"was cut at {max_new_tokens} tokens; raise max_new_tokens"
            problem = problem or translation_problem(question.text, text, language, style)
            if problem:
                reasons[question.question_id] = f"with marks {style.format('D1')}: {problem}"
            else:
                done[question.question_id] = Translation(
                    question.question_id, language, text, translator, False
                )
    failures = [
        Untranslated(name, language, reason or "its text looks like every style of marks")
        for name, reason in reasons.items()
        if name not in done
    ]
    return [done[q.question_id] for q in questions if q.question_id in done], failures


def _usable(text: str, style: str) -> bool:
    """False when the text itself holds something that would be read as a mark of that style."""
    return restore(text, style) == text


# Overrides and the finished file ------------------------------------------------------------------


def override_rows(
    questions: Sequence[SeedQuestion],
    language: str,
    overrides: Iterable[Override],
    known_ids: Iterable[str] = (),
) -> list[Translation]:
    """The reviewers' rows of one language that belong to the questions.

    A row for an id that is neither a question of the run nor in `known_ids` (questions that the run
    left out) is an error: a question's id changes with its text, so the row is a slip or stale.
    Raises DataError for that, for two rows of one question, and for damaged placeholders.
    """
    by_id = {question.question_id: question for question in questions}
    known = set(by_id) | set(known_ids)
    seen: set[tuple[str, str]] = set()
    rows = []
    for row in overrides:
        name = f"override of {row.question_id} ({row.language})"
        if row.question_id not in known:
            raise DataError(
                f"{name}: no question has this id; the question's text has changed or the id is "
                "mistyped: check the text against the new question and correct or remove the row"
            )
        if (row.question_id, row.language) in seen:
            raise DataError(f"{name}: stands twice; remove one of the two rows")
        seen.add((row.question_id, row.language))
        if row.language != language or row.question_id not in by_id:
            continue
        if problem := placeholder_problem(by_id[row.question_id].text, row.text):
            raise DataError(f"{name}: {problem}; correct the row")
        rows.append(
            Translation(row.question_id, language, row.text, f"override:{row.reviewer}", True)
        )
    return rows


def assemble(
    questions: Sequence[SeedQuestion],
    translated: Iterable[Translation],
    failures: Sequence[Untranslated],
) -> list[Translation]:
    """One row a question, in the order of the questions; TranslationError when one is missing."""
    if failures:
        raise TranslationError(failures, questions)
    by_id = {row.question_id: row for row in translated}
    missing = [q.question_id for q in questions if q.question_id not in by_id]
    if missing:
        raise DataError(f"question {missing[0]} was not translated at all")
    return [by_id[question.question_id] for question in questions]


def as_row(failure: Untranslated) -> dict[str, str]:
    """An untranslated question as a row of a table."""
    return asdict(failure)
