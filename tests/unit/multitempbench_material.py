"""The project's own questions of MultiTempBench and what is built of them, for several tests."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from scripts.dates.formats import Options
from scripts.files import read_records
from scripts.multitempbench.items import Built, build_items
from scripts.multitempbench.prompts import build_requests, load_prompts
from scripts.multitempbench.questions import SeedQuestion
from scripts.multitempbench.recomputation import recompute
from scripts.multitempbench.tasks import FORMATS, LANGUAGES
from scripts.multitempbench.translation import shipped_rows, source_rows
from scripts.multitempbench.translation_rows import Translation
from scripts.records import Request

ROOT = Path(__file__).parents[2]
DATA = ROOT / "data/embedded"
QUESTIONS = DATA / "multitempbench_questions.jsonl"
OVERRIDES = DATA / "multitempbench_overrides.jsonl"
OPTIONS = Options()
DECODING = {"temperature": 0.0, "top_p": 1.0, "repetition_penalty": 1.0}
CALENDARS = {
    "hijri_outside_range": "tabular_civil",
    "hausa_hybrid": False,
    "german_am": False,
}


class Named(SimpleNamespace):
    """Names of a rule's inputs, with the `get` of Snakemake's own object."""

    def get(self, name: str, default: Any = None) -> Any:
        return getattr(self, name, default)


@cache
def own_questions() -> tuple[SeedQuestion, ...]:
    return tuple(read_records(QUESTIONS, SeedQuestion))


@cache
def own_translations() -> dict[str, list[Translation]]:
    others = [language for language in LANGUAGES if language != "en"]
    rows = {language: shipped_rows(own_questions(), language)[0] for language in others}
    return rows | {"en": source_rows(own_questions())}


@cache
def own_items(task: str) -> Built:
    return build_items(
        own_questions(),
        own_translations(),
        task,
        languages=LANGUAGES,
        forms=FORMATS,
        options=OPTIONS,
    )


@cache
def own_requests(task: str) -> list[Request]:
    return build_requests(own_items(task).items, load_prompts(LANGUAGES), DECODING)


def question(
    operation: dict[str, Any] | None = None,
    dates: tuple[str, ...] = ("2024-02-10",),
    text: str = "Which date is 21 days after {d1}?",
    task: str = "date_arithmetic",
    **changes: Any,
) -> SeedQuestion:
    """A question whose answer is computed unless it is given."""
    operation = operation or {"kind": "shift", "date": "d1", "sign": 1, "days": 21}
    times = list(changes.get("times", ()))
    answer = changes.get("answer") or recompute(operation, list(dates), times)
    source = {"name": "test", "row": 1, "date_format": "iso"}
    return SeedQuestion.create(task, text, list(dates), times, operation, answer, source)


def build(
    questions: list[SeedQuestion],
    options: Options = OPTIONS,
    languages: tuple[str, ...] = ("en",),
    forms: tuple[str, ...] = FORMATS,
) -> Built:
    """Items of the first question's task; every language has the English text."""
    rows = {
        language: [Translation(q.question_id, language, q.text, "t", False) for q in questions]
        for language in languages
    }
    return build_items(
        questions, rows, questions[0].task, languages=languages, forms=forms, options=options
    )
