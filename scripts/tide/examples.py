"""One question answered in every setting for each outcome: the table of examples (A.9.2).

The choice is a rule, not a taste: of the answers that the council judged in all three settings, for
every outcome the first item by its identifier, of the first model in roster order that has this
outcome there. Files in, `Table` out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from scripts.publishing import captions
from scripts.publishing.captions import Context
from scripts.publishing.examples import no_reply, text_cell, with_replies
from scripts.publishing.layouts import answer_link, caption
from scripts.publishing.tables import Cell, Column, Row, Table, absent, is_missing
from scripts.publishing.text import LINE_BREAK
from scripts.records import Item, Response
from scripts.tide import wording
from scripts.tide.tables.results import OUTCOMES
from scripts.tide.tasks import TASKS
from scripts.tide.wording import SETTING_LABELS, SETTINGS, named

QUESTION_CHARACTERS = 420
GOLD_CHARACTERS = 200
REPLY_CHARACTERS = 220
COLUMNS = (
    Column("question", "Question", align="P{3.8cm}"),
    Column("gold", "Gold answer", align="P{2.4cm}"),
    Column("reply", "Reply", align="P{3.7cm}"),
    Column("verdict", "Verdict of the council", align="P{2.0cm}"),
)
#: Names of the parts of a question that are not their field's.
PARTS = {"misaligned_context": "Misleading context", "events_shuffled": "Events"}
Right = Mapping[str, bool]
#: Outcome to whether it holds for an answer that is right or wrong in each setting.
RULES: Mapping[str, Callable[[Right], bool]] = {
    "memory": lambda right: right["parametric"],
    "gap_closed": lambda right: not right["parametric"] and right["icl"],
    "unrecoverable": lambda right: not right["parametric"] and not right["icl"],
    "overturned": lambda right: right["parametric"] and not right["icl"],
    "icl_only": lambda right: right["icl"] and not right["rag"],
}


@dataclass(frozen=True, slots=True)
class Choice:
    """The score rows of one outcome, by setting; None where no answer has this outcome."""

    outcome: str
    scores: Mapping[str, Mapping[str, Any]] | None


def choose(scores: pd.DataFrame, models: Sequence[str]) -> list[Choice]:
    """One choice an outcome in the order of RULES; `scores` has the columns of scores.parquet."""
    order = {key: place for place, key in enumerate(models)}
    judged = [name for name, task in TASKS.items() if task.judged]
    mine = scores[
        scores["model"].isin(order)
        & scores["task"].isin(judged)
        & scores["knowledge"].isin(SETTINGS)
        & scores["correct"].notna()
        & (scores["category"] == "judged")
    ]
    mine = mine.assign(place=mine["model"].map(order).astype(int))
    mine = mine.sort_values(["item_id", "place", "mode", "knowledge"], kind="stable")
    found: dict[str, dict[str, Mapping[str, Any]]] = {}
    for _, part in mine.groupby(["item_id", "place", "mode"], sort=True):
        rows: dict[str, Mapping[str, Any]] = {
            str(row["knowledge"]): {str(k): v for k, v in row.items()}
            for row in part.to_dict("records")
        }
        if len(rows) < len(SETTINGS):
            continue
        right = {name: bool(row["correct"]) for name, row in rows.items()}
        for outcome, holds in RULES.items():
            if outcome not in found and holds(right):
                found[outcome] = rows
        if len(found) == len(RULES):
            break
    return [Choice(outcome, found.get(outcome)) for outcome in RULES]


def examples(
    scores: pd.DataFrame,
    item_files: Iterable[Path | str],
    response_files: Iterable[Path | str],
    context: Context,
) -> Table:
    """The table: a block per outcome, a row per setting.

    Raises DataError when an item or a response that the scores speak of is not in the files.
    """
    choices = choose(scores, context.model_keys())
    shown = [(choice.outcome, choice.scores) for choice in choices if choice.scores is not None]
    wanted = [row[knowledge] for _, row in shown for knowledge in SETTINGS]
    replies = iter(with_replies(wanted, item_files, response_files))
    rows = []
    for outcome, by_setting in shown:
        for place, knowledge in enumerate(SETTINGS):
            item, response = next(replies)
            rows.append(_row(outcome, by_setting[knowledge], (item, response), context, place == 0))
    lacking = [OUTCOMES[c.outcome][0].lower() for c in choices if c.scores is None]
    notes = [
        "Verdict: of the council; dates: gold dates that the answer commits to; another date too: "
        "it contradicts them; doubtful: a judge called the case borderline; open: no majority.",
        f"{LINE_BREAK}: line break; <U+…>: a character that has no shape. Long texts are cut; the "
        "CSV file has more of them. Replies are those of the models, mistakes included.",
    ]
    notes += [f"No judged answer of this run has the outcome: {'; '.join(lacking)}."] * bool(
        lacking
    )
    return Table(
        named("examples"),
        caption(
            context,
            "One question in every setting for each outcome: the first question (by its "
            "identifier) that the council judged in all three settings and that has the outcome, "
            f"with the first such model of the roster. Matched set; n is "
            f"{captions.counted(len(shown), 'question')} for {len(choices)} outcomes.",
            wording.SETTING_WORDS,
        ),
        ("Setting", "Model"),
        COLUMNS,
        tuple(rows),
        tuple(notes),
        layout="long",
        stub_align="P{1.4cm}P{1.4cm}",
        size="scriptsize",
        short_caption="One question in every setting",
        link=(("benchmark", "tide"),),
    )


def question_text(item: Item) -> str:
    """Everything that a model sees of an item; several parts have their names."""
    shown = TASKS[item.task].shown
    parts = []
    for name in shown:
        value = item.inputs[name]
        text = "; ".join(map(str, value)) if isinstance(value, list) else str(value)
        label = PARTS.get(name, name.replace("_", " ").capitalize())
        parts.append(f"{label}: {text}" if len(shown) > 1 else text)
    return " ".join(parts)


def verdict_words(score: Mapping[str, Any]) -> str:
    """The council's decision in words: the score and the questions that led to it."""
    parts = ["right" if score["correct"] else "wrong"]
    if not is_missing(score["dates"]) and int(score["dates"]):
        matched = score["dates_matched"]
        count = "open" if is_missing(matched) else f"{int(matched)} of {int(score['dates'])}"
        parts.append(f"dates {count}")
    for name, yes, no in (
        ("meaning", "meaning right", "meaning wrong"),
        ("contradicting", "another date too", ""),
    ):
        value = score[name]
        words = f"{name} open" if is_missing(value) else (yes if value else no)
        parts += [words] * bool(words)
    if not is_missing(score["uncertain"]) and score["uncertain"]:
        parts.append("doubtful")
    return "; ".join(parts)


_EXTRA = ("item_id", "request_id", "mode", "route", "partial", "seats", "flagged")


def _row(
    outcome: str,
    score: Mapping[str, Any],
    answered: tuple[Item, Response],
    context: Context,
    first: bool,
) -> Row:
    """One setting; question and gold answer are printed in the first row of an outcome."""
    item, response = answered
    question = text_cell(question_text(item), QUESTION_CHARACTERS)
    gold = text_cell(str(item.gold["answer"]), GOLD_CHARACTERS)
    if not first:
        question, gold = Cell(question.value, ""), Cell(gold.value, "")
    words = verdict_words(score)
    extra = tuple((name, _plain(score[name])) for name in _EXTRA)
    reply = (
        text_cell(response.text, REPLY_CHARACTERS)
        if response.text.strip()
        else absent(no_reply(response))
    )
    label, meaning, _ = OUTCOMES[outcome]
    stub = (SETTING_LABELS[str(score["knowledge"])], context.label(str(score["model"])))
    block = f"{label} ({meaning}): {wording.task_label(item.task)}"
    address = (str(score[name]) for name in ("task", "request_id", "model", "mode"))
    cells = (question, gold, reply, Cell(words, words, extra=extra))
    return Row(stub, cells, block, link=answer_link("tide", *address))


def _plain(value: Any) -> Any:
    """A value as the CSV has it; missing is None."""
    return None if is_missing(value) else value
