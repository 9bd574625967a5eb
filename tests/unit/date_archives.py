"""MultiTempBench's archives of raw replies to the project's own questions, right or wrong.

A right reply is one of the item's aliases, in the item's language and any of its forms. Who is
right where follows the findings (`claim_worlds.date_accuracy`); the date judge reads every reply.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

import pandas as pd
from claim_worlds import DATE_MODELS, HOLDS, date_accuracy, date_linearity
from multitempbench_material import own_items, own_requests

from scripts.inference.interface import NOT_RUN
from scripts.multitempbench.judging import DATE_JUDGE, judge_by_rule
from scripts.multitempbench.prompts import load_prompts
from scripts.multitempbench.scoring import score_frame
from scripts.multitempbench.tasks import FORMATS, LANGUAGES, TASKS
from scripts.records import Item, Judgement, Request, Response

BASE, NOTHING = "as found", "nothing was run"
PROMPTS = load_prompts(LANGUAGES)
WRONG = {"date": "1 January 1901", "date_time": "1901-01-01 00:00", "number": "987654"}
Archive = Mapping[str, Mapping[str, str]]  # model to item id to text
Place = tuple[str, str, str]  # question, language, format


@cache
def items() -> dict[str, Item]:
    return {item.item_id: item for task in TASKS for item in own_items(task).items}


@cache
def requests() -> list[Request]:
    return [request for task in TASKS for request in own_requests(task)]


def place(item: Item) -> Place:
    return str(item.source["question_id"]), item.factors["language"], item.factors["format"]


@cache
def numbers() -> dict[str, float]:
    """Item to a number between 0 and 1, evenly spread over the items of a task and language."""
    cells: dict[tuple[str, str, str], list[str]] = {}
    for item in sorted(items().values(), key=place):
        _, language, form = place(item)
        cells.setdefault((item.task, language, form), []).append(item.item_id)
    return {
        item_id: (index + (2 * FORMATS.index(form) + 1) / 8) / len(cell)
        for (_, _, form), cell in cells.items()
        for index, item_id in enumerate(cell)
    }


def reply(item: Item, right: bool) -> str:
    """An alias of the gold answer, or what is none: another item's label, another value."""
    aliases: list[str] = item.gold["aliases"]
    if right:
        return aliases[int(item.item_id[-4:], 16) % len(aliases)]
    return WRONG.get(item.gold["kind"]) or other_label(item)


def other_label(item: Item) -> str:
    """The word for another relation, or the other of yes and no, in the item's language."""
    others = (
        other.gold["aliases"][0]
        for other in items().values()
        if other.gold["kind"] == item.gold["kind"]
        and other.factors["language"] == item.factors["language"]
        and other.gold["answer"] not in item.gold["accepted"]
    )
    return str(next(others))


@cache
def base() -> dict[str, dict[str, str]]:
    texts = {
        item_id: (reply(i, right=False), reply(i, right=True)) for item_id, i in items().items()
    }
    return {
        model: {
            item_id: texts[item_id][
                numbers()[item_id]
                < date_accuracy(HOLDS, DATE_MODELS, model, *place(items()[item_id])[1:])
            ]
            for item_id in texts
        }
        for model in DATE_MODELS
    }


def exchanged(partner: Callable[[Place], Place]) -> Archive:
    """Every item answered rightly where its partner was."""
    by_place = {place(item): item for item in items().values()}
    partners = {item_id: by_place[partner(place(item))] for item_id, item in items().items()}
    return {
        model: {
            item_id: reply(items()[item_id], right=texts[other.item_id] == reply(other, right=True))
            for item_id, other in partners.items()
        }
        for model, texts in base().items()
    }


def languages_exchanged() -> Archive:
    partner = {"ha": "en", "en": "ha", "ar": "de", "de": "ar", "zh": "zh"}
    return exchanged(lambda at: (at[0], partner[at[1]], at[2]))


def calendars_exchanged() -> Archive:
    partner = {"iso": "calendar", "calendar": "iso"}
    return exchanged(lambda at: (at[0], at[1], partner.get(at[2], at[2])))


def models_exchanged() -> Archive:
    """Each model has the archive of its neighbour in the roster."""
    return {model: base()[DATE_MODELS[i ^ 1]] for i, model in enumerate(DATE_MODELS)}


def months_for_years() -> Archive:
    """The more linear the months of a model, the more linear the years of whose archive it has."""
    probes = date_linearity(HOLDS, DATE_MODELS).query("language == 'en'")
    orders = [probes.sort_values([column, "model"])["model"] for column in ("month_r2", "year_r2")]
    return {model: base()[other] for model, other in zip(*orders, strict=True)}


def nothing_run() -> Archive:
    return {model: {} for model in DATE_MODELS}


PERTURBATIONS: Mapping[str, Callable[[], Archive]] = {
    BASE: base,
    "languages exchanged": languages_exchanged,
    "calendars exchanged": calendars_exchanged,
    "models exchanged": models_exchanged,
    "months instead of years": months_for_years,
    NOTHING: nothing_run,
}


def response(request: Request, model: str, text: str | None) -> Response:
    error = f"{NOT_RUN} no such row" if text is None else None
    return Response(
        request_id=request.request_id,
        item_id=request.item_id,
        model=model,
        mode="non_thinking",
        text=text or "",
        finish_reason="error" if error else "stop",
        usage={"prompt": None, "completion": None, "reasoning": None},
        backend="archive",
        backend_version="1",
        attempts=1,
        error=error,
    )


@cache
def judged(item_id: str, request_id: str, text: str | None) -> Judgement:
    """The date judge's reading of a text; equal texts to one item are read once."""
    request = next(r for r in requests() if r.request_id == request_id)
    return judge_by_rule([items()[item_id]], [response(request, "any", text)], PROMPTS)[0]


def scored(archive: Archive) -> pd.DataFrame:
    """The scores of all runs as the date judge reads their replies."""
    frames = []
    for model, texts in archive.items():
        given = [response(request, model, texts.get(request.item_id)) for request in requests()]
        read = [judged(r.item_id, r.request_id, texts.get(r.item_id)) for r in given]
        frames.append(score_frame([*items().values()], requests(), given, read, DATE_JUDGE))
    return pd.concat(frames, ignore_index=True)
