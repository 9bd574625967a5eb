"""Sums of two numbers: items, prompts, the reading of an answer, accuracy, and its table."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from scripts.inference.interface import NOT_RUN
from scripts.publishing import captions, layouts
from scripts.publishing.captions import Context
from scripts.publishing.layouts import Frames, Lookup
from scripts.publishing.tables import Cell, Column, Table, number, percent
from scripts.records import Item, Request, Response
from scripts.statistics.bootstrap import proportion_interval


def build_items(digits: Sequence[int], each: int, seed: int) -> list[Item]:
    """`each` different sums of every length in digits; the seed decides which."""
    items = []
    for length in digits:
        low = 10 ** (length - 1)
        span = 9 * low
        for place in random.Random(f"{seed} {length}").sample(range(span * span), each):
            first, second = low + place // span, low + place % span
            inputs, gold = {"first": first, "second": second}, {"answer": first + second}
            items.append(Item.create("toy", "sum", {"digits": length}, inputs, gold, {}))
    return items


def build_requests(items: Iterable[Item], decoding: Mapping[str, Any]) -> list[Request]:
    """One prompt an item, the same for every model."""
    prompt = "What is {first} + {second}? Answer with the number only."
    return [
        Request.create(
            item.item_id,
            {"shots": 0},
            [{"role": "user", "content": prompt.format_map(item.inputs)}],
            dict(decoding),
        )
        for item in items
    ]


def score(item: Item, response: Response) -> dict[str, Any]:
    """A row of scores.parquet: right where the one number of the reply is the sum.

    `correct` is None, and counts nowhere, where the model was never asked.
    """
    numbers = re.findall("-?[0-9]+", response.text)
    asked = not (response.error or "").startswith(NOT_RUN)
    return {
        "item_id": item.item_id,
        "request_id": response.request_id,
        "model": response.model,
        "mode": response.mode,
        "digits": str(item.factors["digits"]),
        "valid": len(numbers) == 1,
        "correct": numbers == [str(item.gold["answer"])] if asked else None,
    }


def accuracy(scores: pd.DataFrame, resamples: int, level: float, seed: int) -> pd.DataFrame:
    """Accuracy with its interval by model, mode and digits, and over all digits."""
    both = pd.concat([scores, scores.assign(digits="all")]).dropna(subset=["correct"])
    rows = []
    for key, part in both.groupby(["model", "mode", "digits"]):
        n, right = len(part), int(part["correct"].sum())
        interval = proportion_interval(right, n, resamples, np.random.default_rng(seed), level)
        rows.append((*key, n, right, right / n, *interval))
    columns = ["model", "mode", "digits", "n", "correct", "accuracy", "low", "high"]
    return pd.DataFrame(rows, columns=columns)


def build_table(name: str, frames: Frames, context: Context) -> Table:
    """One row a model and mode, one column a length; a cell without a value says why."""
    found = Lookup("accuracy", frames["accuracy"], ("model", "mode", "digits"))
    keys = [*map(str, context.options["digits"]), "all"]

    def fill(model: captions.ModelInfo, mode: str) -> Iterable[Cell]:
        for key in keys:
            row = found.get(model.key, mode, key)
            missing = layouts.why_missing(model, mode, row)
            low, high = layouts.value_of(row, "low"), layouts.value_of(row, "high")
            value = layouts.value_of(row, "accuracy")
            yield number(value, percent, low=low, high=high, reason=missing)

    modes = [mode for mode in captions.MODE_LABELS if context.has_mode(mode)]
    return Table(
        f"toy-{name}",
        layouts.caption(
            context,
            "Accuracy of sums (%) by the digits of the numbers.",
            captions.bootstrap_sentence(context),
        ),
        ("Model",),
        tuple(Column(key, key) for key in keys),
        tuple(layouts.by_model(context, modes, fill)),
    )
