"""One reply of every configuration to every task, as it was written: the table of examples.

The choice is a rule, not a taste: at the headline number of demonstrations the first item, by its
identifier, that was answered wrongly; where none was, the first item. Files in, `Table` out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from scripts.files import DataError
from scripts.publishing import captions
from scripts.publishing.captions import Context, ModelInfo
from scripts.publishing.examples import NO_ANSWER, no_reply, text_cell, with_replies
from scripts.publishing.layouts import BLOCKS, answer_link, in_task_order
from scripts.publishing.tables import Cell, Column, Row, Table, absent, is_missing
from scripts.publishing.text import LINE_BREAK, shorten, visible
from scripts.records import Item, Response
from scripts.syntaxbench.tasks import TASKS, task_named

# Characters printed of one input field, of a reply and of an answer.
FIELD_CHARACTERS = 32
REPLY_CHARACTERS = 110
ANSWER_CHARACTERS = 32

COLUMNS = (
    Column("reply", "Reply", align="P{4.1cm}"),
    Column("parsed", "Read as", align="P{2.1cm}"),
    Column("gold", "Gold", align="P{2.1cm}"),
    Column("correct", "Right"),
)


@dataclass(frozen=True, slots=True)
class Choice:
    """The score row that is shown for a configuration and a task."""

    model: ModelInfo
    mode: str
    task: str
    score: Mapping[str, Any]


def choose(scores: pd.DataFrame, context: Context) -> list[Choice]:
    """One score row per configuration and task: the first wrong one, else the first one.

    `scores` has the columns of scores.parquet. Raises DataError for a configuration without a row.
    """
    at_headline = scores[scores["shots"] == context.headline_shots].sort_values("item_id")
    groups = dict(iter(at_headline.groupby(["model", "mode", "task"])))
    out = []
    for model, mode in context.configurations:
        for task in context.tasks:
            rows = groups.get((model.key, mode, task))
            if rows is None:
                raise DataError(
                    f"scores: no row of {model.key} ({mode}) on {task} at "
                    f"{captions.shots_words(context.headline_shots)}; score the responses again"
                )
            wrong = rows[rows["correct"].eq(False).fillna(False).astype(bool)]
            row = (rows if wrong.empty else wrong).iloc[0]
            out.append(Choice(model, mode, task, {str(k): v for k, v in row.items()}))
    return out


def examples(
    scores: pd.DataFrame,
    item_files: Iterable[Path | str],
    response_files: Iterable[Path | str],
    context: Context,
) -> Table:
    """The table: a block per configuration, a row per task.

    Raises DataError when an item or a response that the scores speak of is not in the files.
    """
    context = in_task_order(context, TASKS)
    choices = choose(scores, context)
    replies = with_replies((c.score for c in choices), item_files, response_files)
    rows = [
        _row(choice, item, response)
        for choice, (item, response) in zip(choices, replies, strict=True)
    ]
    return Table(
        "examples",
        " ".join(
            (
                "One reply of every model and mode to every task at "
                f"{captions.shots_words(context.headline_shots)}: the first item (by its "
                "identifier) that was answered wrongly, or the first item where none was.",
                captions.run_sentence(context),
            )
        ),
        ("Task", "Input"),
        COLUMNS,
        tuple(rows),
        (
            f"{LINE_BREAK}: line break; <U+…>: a character that cannot be printed. Long texts are "
            "cut; the CSV file has more of them.",
        ),
        layout="long",
        stub_align="lP{3.1cm}",
        size="scriptsize",
        short_caption="Examples of replies",
        link=(("benchmark", "syntaxbench"),),
    )


def _row(choice: Choice, item: Item, response: Response) -> Row:
    score = choice.score
    category = str(score["category"])
    lacking = NO_ANSWER.get(category, captions.NOT_EVALUATED)
    parsed, correct = score["parsed"], score["correct"]
    scored = not is_missing(correct)
    cells = (
        text_cell(response.text, REPLY_CHARACTERS) if response.text else absent(no_reply(response)),
        absent(lacking) if is_missing(parsed) else text_cell(str(parsed), ANSWER_CHARACTERS),
        text_cell(str(score["gold"]), ANSWER_CHARACTERS),
        Cell(bool(correct), "yes" if correct else "no") if scored else absent(lacking),
    )
    ids = (("item_id", item.item_id), ("category", category))
    last = Cell(cells[-1].value, cells[-1].text, missing=cells[-1].missing, extra=ids)
    block = f"{choice.model.label}, {BLOCKS[choice.mode].lower()}"
    address = (choice.task, str(score["request_id"]), choice.model.key, choice.mode)
    link = answer_link("syntaxbench", *address)
    return Row((choice.task, question(item)), (*cells[:-1], last), block, link=link)


def question(item: Item) -> str:
    """The inputs of an item on one line, in the task's order."""
    parts = []
    for name in task_named(item.task).inputs:
        value = item.inputs[name]
        texts = [str(v) for v in value] if isinstance(value, list) else [str(value)]
        shown = ", ".join(shorten(visible(text), FIELD_CHARACTERS) for text in texts)
        parts.append(f"{name}: {shown}")
    return "; ".join(parts)
