"""The deterministic judge of answers about dates and times. Rules of MultiTempBench, appendix A.6.

The judge reads the answer (`scripts.dates.reading`, `scripts.judging.answer_words`) and compares
*values*. It never looks for the gold text inside the answer, and never takes the first label it
sees. Its rules, in the order in which they decide:

1.  Blank text is `not_attempted`.
2.  A committed answer wins over the rest of the text: a JSON object with an answer, a boxed value,
    "final answer", "answer" (in every language), in this order; the last of one kind counts.
3.  Semantics over form: language, script, digits, calendar, order of the parts, markdown and
    invisible marks do not matter. An answer that is exactly a listed alias is `correct`.
4.  Every stated value must be right. A right value with hedging ("I think", "about") is `correct`;
    a right and a wrong value without a commitment contradict each other and are `incorrect`, unless
    a last line or a conclusion ("=", "therefore", "total") states one of them alone.
5.  Any listed reading of an ambiguity is right: a numeric date in either order, a two-digit year, a
    question with several accepted answers (also when the answer lists all of them).
6.  The prompt repeated word for word is left out: the question, its beginning where the reply was
    cut off in it, and the instruction (`echoes.py`). The question's dates, times and numbers,
    restated beside another value, are no answer and no contradiction, unless "or" joins them to it.
    Alone they are an answer: a wrong one.
7.  A partial answer is `incorrect`: a date without its day, month or year, a date without the
    time that was asked for, "9 years later", a number where a date was asked for.
8.  Numbers agree to the last digit. A unit may be left out; another unit is right where it converts
    exactly (weeks, days and hours; years and months), else `incorrect`.
9.  Relations and yes/no are read from whole words of the question's language and of English. A
    label that stands alone, between commas or leading its sentence, counts before words in running
    text; a negated one ("not before") does not count; two different ones contradict each other.
10. A refusal ("I don't know") with no value besides the question's own, and a text with no value of
    the asked kind, are `not_attempted`.

`route` is the place that decided (json, boxed, final_answer, answer, whole, last_line, conclusion)
and the rule (value, alias, contradiction, partial, unit, refusal, blank, no_answer, …).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from scripts.dates.languages import apart, words
from scripts.dates.plain_text import LETTER, alternatives, is_chinese, normalise
from scripts.dates.reading import read_text
from scripts.dates.signs import fold
from scripts.judging.answer_values import (
    OR,
    PUNCTUATION,
    Evaluator,
    Outcome,
    Question,
    evaluator_of,
    minutes_of,
    partial_answer,
)
from scripts.judging.answer_words import refusal_phrases
from scripts.judging.commitments import Commitment, commitments
from scripts.judging.echoes import without_echoes
from scripts.judging.verdicts import Verdict
from scripts.records import Item

#: Longest answer that is read; the end of a longer one, where the answer stands.
READ_CHARACTERS = 100_000
_CONCLUDING, _CN_CONCLUDING = apart(words(lambda language: language.replies.get("conclusions", ())))
_CONCLUSION = re.compile(
    rf"=|→|⇒|->|=>|(?<!{LETTER})(?:{alternatives(_CONCLUDING)})(?!{LETTER})"
    rf"|{alternatives(_CN_CONCLUDING)}"
)
# What may follow the last value of an answer: an era, a copula.
_CLOSINGS = words(lambda language: language.replies.get("closings", ()))
_TAIL = re.compile(f"(?:{alternatives(_CLOSINGS)})?")


def judge(
    text: str,
    gold: Mapping[str, Any],
    language: str,
    *,
    question: str = "",
    dates: Iterable[str] = (),
    times: Iterable[str] = (),
    instruction: str = "",
    options: str = "",
) -> Verdict:
    """The verdict on one answer (without its reasoning trace).

    `gold` is an item's (`answer`, `kind`, `accepted`, `unit`, `aliases`); `question` the text the
    model saw, `dates` and `times` its ISO dates and HH:MM times; `instruction` what the prompt said
    behind the question, up to `options`, the list of words it offered. Raises ValueError for a gold
    of an unknown kind or an answer that is not of its kind.
    """
    evaluate = evaluator_of(gold)
    text = text[-READ_CHARACTERS:]
    if not text.strip(PUNCTUATION):
        return Verdict("not_attempted", "blank", None, "the answer is blank")
    text = without_echoes(text, question, instruction, options)
    if not text.strip(PUNCTUATION):
        return Verdict("not_attempted", "echo", None, "the answer repeats the prompt")
    own = _question(question, dates, times)
    for commitment in commitments(text):
        verdict = _committed(commitment, gold, language, own, evaluate)
        if verdict is not None:
            return verdict
    return _uncommitted(text, gold, language, own, evaluate)


def judge_item(item: Item, text: str, instruction: str = "", options: str = "") -> Verdict:
    """The verdict on an answer to an item of MultiTempBench; see `judge`."""
    return judge(
        text,
        item.gold,
        str(item.factors["language"]),
        question=str(item.inputs["question"]),
        dates=[each["iso"] for each in item.inputs["dates"]],
        times=item.inputs["times"],
        instruction=instruction,
        options=options,
    )


# --- which part of the text decides --------------------------------------------------------------


def _question(question: str, dates: Iterable[str], times: Iterable[str]) -> Question:
    found = read_text(question)
    return Question(
        frozenset(dates) | {r.isoformat() for d in found.dates for r in d.readings},
        frozenset(map(minutes_of, times)) | {r for t in found.times for r in t.readings},
        frozenset(r for n in found.numbers for r in n.readings),
    )


def _committed(
    commitment: Commitment,
    gold: Mapping[str, Any],
    language: str,
    own: Question,
    evaluate: Evaluator,
) -> Verdict | None:
    """The verdict on a committed answer, None where it holds nothing that could be judged."""
    route = commitment.route
    if commitment.route in ("json", "boxed") and not commitment.text.strip(PUNCTUATION):
        return Verdict("not_attempted", f"{route}:blank", None, "the committed answer is blank")
    if alias := _alias(commitment.text, gold):
        return Verdict("correct", f"{route}:alias", alias)
    outcome = evaluate(commitment.text, gold, language, own)
    if outcome is None and _refuses(commitment.text, language):
        return Verdict("not_attempted", f"{route}:refusal", None, "the answer declines")
    if outcome is None and commitment.rest.strip():
        outcome = evaluate(commitment.rest, gold, language, own)
    if outcome is None:
        outcome = partial_answer(commitment.text, gold, own, committed=True)
    return None if outcome is None else _verdict(outcome, route)


def _uncommitted(
    text: str, gold: Mapping[str, Any], language: str, own: Question, evaluate: Evaluator
) -> Verdict:
    if alias := _alias(text, gold):
        return Verdict("correct", "whole:alias", alias)
    outcome = evaluate(text, gold, language, own)
    if outcome is not None and outcome.rule == "restated" and not _ends_with_value(text):
        outcome = None
    if outcome is not None and outcome.kind == "contradiction":
        for route, part in _conclusions(text):
            settled = evaluate(part, gold, language, own)
            if settled is not None and settled.kind != "contradiction":
                return _verdict(settled, route)
    if outcome is not None and not (outcome.rule == "restated" and _refuses(text, language)):
        return _verdict(outcome, "whole")
    if _refuses(text, language):
        return Verdict("not_attempted", "whole:refusal", None, "the answer declines")
    partial = partial_answer(text, gold, own, committed=False)
    if partial is not None:
        return _verdict(partial, "whole")
    reason = f"no {str(gold['kind']).replace('_', ' ')} is stated"
    return Verdict("not_attempted", "whole:no_answer", None, reason)


def _verdict(outcome: Outcome, route: str) -> Verdict:
    verdict = "correct" if outcome.kind == "correct" else "incorrect"
    reason = {
        "contradiction": "two different answers and no commitment to one",
        "partial": "a part of what was asked for is missing",
        "unit": "the unit is another one",
        "restated": "only the question's own value is stated",
    }.get(outcome.rule, "")
    return Verdict(verdict, f"{route}:{outcome.rule}", outcome.parsed, reason)


def _conclusions(text: str) -> list[tuple[str, str]]:
    """Weaker commitments: the last line of several, and what follows the last sign of a result."""
    plain = normalise(text)
    lines = [line for line in plain.splitlines() if line.strip(PUNCTUATION)]
    found = []
    if len(lines) > 1 and not OR.match(lines[-1].strip(PUNCTUATION)):
        found.append(("last_line", lines[-1]))
    signs = list(_CONCLUSION.finditer(plain))
    if signs and not OR.search(plain, signs[-1].end()):
        found.append(("conclusion", plain[signs[-1].end() :]))
    return found


def _ends_with_value(text: str) -> bool:
    """True when the text ends with its last value, so that the value is meant as the answer."""
    found = read_text(text)
    ends = [*(d.end for d in found.dates), *(t.end for t in found.times)]
    return bool(ends) and _TAIL.fullmatch(found.text[max(ends) :].strip(PUNCTUATION)) is not None


def _alias(text: str, gold: Mapping[str, Any]) -> str | None:
    plain = normalise(text).strip(PUNCTUATION)
    aliases = (str(alias) for alias in gold.get("aliases", ()))
    return next((a for a in aliases if normalise(a).strip(PUNCTUATION) == plain), None)


def _refuses(text: str, language: str) -> bool:
    return _refusals(language).search(fold(text)) is not None


@cache
def _refusals(language: str) -> re.Pattern[str]:
    phrases = [fold(p) for code in dict.fromkeys((language, "en")) for p in refusal_phrases(code)]
    latin = [p for p in phrases if not is_chinese(p)]
    chinese = [p for p in phrases if is_chinese(p)]
    pattern = rf"(?<!{LETTER})(?:{alternatives(latin)})(?!{LETTER})"
    return re.compile("|".join([pattern, *map(re.escape, chinese)]))
