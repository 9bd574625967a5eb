"""Rows and pages of the explorer for its tests and its benchmark."""

from __future__ import annotations

import base64
import gzip
import json
import random
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from scripts.files import dump_line
from scripts.publishing.explorer.page_files import Assets, write_pages
from scripts.publishing.explorer.pages import PAGE_BYTES, read_pages
from scripts.publishing.explorer.rows import (
    AnswerRow,
    BenchmarkRow,
    ItemRow,
    PromptRow,
    to_line,
)

PARTS = Path(__file__).parents[1] / "scripts" / "publishing" / "explorer"
SCRIPTS = ("data", "selection", "texts", "view", "start")
LANGUAGES = ("en", "ar", "bn", "zh")
SENTENCES = {
    "en": "The licence was renewed in March and the fee is due on the first of June.",
    "ar": "وُلدت عائشة بتاريخ ٤ مارس ٢٠٠١ ووُلد يوسف بعدها بسنة.",
    "bn": "এই আইন ২০১২ সালের ১ জুলাই তারিখে কার্যকর হইবে।",
    "zh": "一座桥于一九五八年九月通车，距开工整整十八个月。",
}


def assets() -> Assets:
    names = [PARTS / f"{name}.js" for name in SCRIPTS]
    return Assets.read(PARTS / "page.html", PARTS / "style.css", names, str(PARTS / "signpost.js"))


def header(benchmark: str = "trial", label: str = "Trial") -> BenchmarkRow:
    facets = {
        "language": {"label": "Language", "values": {"en": "English", "ar": "Arabic"}},
        "shots": {"label": "Demonstrations", "values": {}},
    }
    return BenchmarkRow(benchmark, label, facets)


def answer(item: str, model: str = "alpha", **changes: Any) -> AnswerRow:
    known: dict[str, Any] = {
        "prompt_id": f"{item}.0",
        "item_id": item,
        "task": "count",
        "model": model,
        "mode": "non_thinking",
        "valid": True,
        "category": "valid",
        "route": "json",
        "text": '{"result": 5}',
        "finish_reason": "stop",
        "votes": [],
        "details": {"completion tokens": 5},
        "correct": True,
        "parsed": "5",
    }
    return AnswerRow(**{**known, **changes})


def item(name: str, **changes: Any) -> ItemRow:
    known: dict[str, Any] = {
        "item_id": name,
        "task": "count",
        "title": f"question {name}",
        "gold": "5",
        "facets": {"language": "en"},
        "details": {"source": "test"},
        "language": "en",
    }
    return ItemRow(**{**known, **changes})


def prompt(item_id: str, shots: str = "0", content: str = "How many?") -> PromptRow:
    messages = [{"role": "system", "content": "Count."}, {"role": "user", "content": content}]
    return PromptRow(f"{item_id}.{shots}", item_id, {"shots": shots}, messages)


def write(path: Path, rows: Iterable[Any]) -> Path:
    with path.open("wb") as handle:
        for row in rows:
            handle.write(dump_line(to_line(row)))
    return path


def build(folder: Path, *files: Path, limit: int = PAGE_BYTES) -> Path:
    """The explorer of these rows; returns its page."""
    page = folder / "explorer.html"
    write_pages(read_pages(files, limit), assets(), "test run, seed 1", page, folder / "explorer")
    return page


def blocks(page: Path) -> dict[str, Any]:
    """The unpacked blocks of a page."""
    pattern = r'<script type="application/gzip" id="([^"]+)">([A-Za-z0-9+/=]+)</script>'
    return {
        name: json.loads(gzip.decompress(base64.b64decode(data)))
        for name, data in re.findall(pattern, page.read_text(encoding="utf-8"))
    }


def many(count: int, seed: int = 0, length: int = 10) -> Iterable[Any]:
    """About so many answers of ten models: `length` words each, twice that a trace or a prompt.

    The last item's first answer holds the word `needle`, in no other text.
    """
    draw = random.Random(seed)
    words = [f"w{draw.randrange(10**9):x}" for _ in range(3000)]
    text: Callable[[int], str] = lambda size: " ".join(draw.choices(words, k=size))  # noqa: E731
    models = [f"model-{place}" for place in range(10)]
    yield header()
    items = count // (len(models) * 2)
    for number in range(items):
        language = LANGUAGES[number % 4]
        name = f"item-{number:05d}"
        task = f"task-{number % 6}"
        title = f"{SENTENCES[language]} {number}"
        yield item(name, task=task, title=title, facets={"language": language}, language=language)
        for shots in ("0", "4"):
            yield prompt(name, shots, f"{SENTENCES[language]} {text(2 * length)}")
        for shots in ("0", "4"):
            for model in models:
                right = draw.random() < 0.4
                last = number == items - 1 and shots == "0" and model == models[0]
                yield answer(
                    name,
                    model,
                    task=task,
                    prompt_id=f"{name}.{shots}",
                    text=f"{SENTENCES[language]} {text(length)}{' needle' * last}",
                    reasoning=text(2 * length),
                    correct=right,
                    parsed=str(draw.randrange(40)),
                )
