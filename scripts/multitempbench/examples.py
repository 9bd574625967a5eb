"""Replies with their verdicts, as they were written: the table of judged examples (table 9).

The choice is a rule, not a taste: for every language and verdict the reply to the first item by its
identifier, of the first model in roster order that got this verdict there. Files in, `Table` out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from scripts.dates.signs import LEFT_TO_RIGHT_MARK as MARK
from scripts.judging.verdicts import VERDICTS
from scripts.multitempbench import wording
from scripts.multitempbench.tables.results import SHORT_TASKS
from scripts.multitempbench.wording import language_name
from scripts.publishing.captions import Context
from scripts.publishing.examples import (
    CSV_CHARACTERS,
    NO_ANSWER,
    no_reply,
    text_cell,
    with_replies,
)
from scripts.publishing.layouts import answer_link, caption
from scripts.publishing.tables import Cell, Column, Row, Table, absent, is_missing
from scripts.publishing.text import LINE_BREAK, shorten, visible
from scripts.records import Item, Response

QUESTION_CHARACTERS = 170
REPLY_CHARACTERS = 120
ANSWER_CHARACTERS = 40
COLUMNS = (
    Column("question", "Question", align="P{4.0cm}"),
    Column("gold", "Right answer", align="P{1.75cm}"),
    Column("reply", "Reply", align="P{3.1cm}"),
    Column("parsed", "Read as", align="P{1.75cm}"),
    Column("verdict", "Verdict", align="P{1.25cm}"),
)


@dataclass(frozen=True, slots=True)
class Choice:
    """The score row that is shown for a language and a verdict."""

    language: str
    verdict: str
    score: Mapping[str, Any]


def choose(scores: pd.DataFrame, languages: Sequence[str], models: Sequence[str]) -> list[Choice]:
    """One score row a language and verdict, in that order; a verdict that nobody got has none.

    `scores` has the columns of scores.parquet; baselines are no models.
    """
    order = {key: place for place, key in enumerate(models)}
    mine = scores[scores["model"].isin(order) & scores["verdict"].notna()]
    mine = mine.assign(place=mine["model"].map(order).astype(int))
    mine = mine.sort_values(["item_id", "place", "mode"], kind="stable")
    first = mine.drop_duplicates(["language", "verdict"])
    rows = {(str(row["language"]), str(row["verdict"])): row for row in first.to_dict("records")}
    return [
        Choice(language, verdict, {str(k): v for k, v in rows[language, verdict].items()})
        for language in languages
        for verdict in VERDICTS
        if (language, verdict) in rows
    ]


def judge_examples(
    scores: pd.DataFrame,
    item_files: Iterable[Path | str],
    response_files: Iterable[Path | str],
    context: Context,
) -> Table:
    """The table: a block per language, a row per verdict.

    Raises DataError when an item or a response that the scores speak of is not in the files.
    """
    choices = choose(scores, wording.languages(context), context.model_keys())
    replies = with_replies((c.score for c in choices), item_files, response_files)
    rows = [
        _row(choice, item, response, context)
        for choice, (item, response) in zip(choices, replies, strict=True)
    ]
    return Table(
        "judge_examples",
        caption(
            context,
            "Replies and their verdicts: for every language and verdict the reply to the first "
            "item (by its identifier) that got this verdict.",
        ),
        ("Task, form", "Model"),
        COLUMNS,
        tuple(rows),
        (
            f"{LINE_BREAK}: line break; <U+…>: a character that has no shape; small LRM: a "
            "left-to-right mark. Long texts are cut; the CSV file has more of them.",
        ),
        layout="long",
        stub_align="P{1.2cm}P{1.4cm}",
        size="scriptsize",
        short_caption="Replies and their verdicts",
        link=(("benchmark", "multitempbench"),),
    )


def question_cell(text: str) -> Cell:
    """The question with its left-to-right marks, which belong to the Arabic ISO form."""
    seen = MARK.join(visible(part) for part in text.split(MARK))
    return Cell(shorten(seen, CSV_CHARACTERS), shorten(seen, QUESTION_CHARACTERS))


def _row(choice: Choice, item: Item, response: Response, context: Context) -> Row:
    score = choice.score
    parsed = score["parsed"]
    lacking = NO_ANSWER.get(str(score["category"]), "the judge read no value")
    extra = tuple(
        (name, str(score[name])) for name in ("item_id", "judge", "route", "category", "mode")
    )
    words = choice.verdict.replace("_", " ")
    address = (item.task, str(score["request_id"]), str(score["model"]), str(score["mode"]))
    cells = (
        question_cell(str(item.inputs["question"])),
        text_cell(str(item.gold["answer"]), ANSWER_CHARACTERS),
        text_cell(response.text, REPLY_CHARACTERS) if response.text else absent(no_reply(response)),
        absent(lacking) if is_missing(parsed) else text_cell(str(parsed), ANSWER_CHARACTERS),
        Cell(choice.verdict, words, extra=extra),
    )
    form = wording.FORMAT_LABELS.get(str(item.factors["format"]), str(item.factors["format"]))
    stub = (f"{SHORT_TASKS[item.task]}, {form}", context.label(str(score["model"])))
    link = answer_link("multitempbench", *address)
    return Row(stub, cells, language_name(choice.language), link=link)
