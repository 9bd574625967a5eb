"""What tokenisers make of SyntaxBench's inputs, and how accuracy depends on it.

A *sample* is one input field of one item: the raw content inside the markers, never the prompt. The
letter that letter_container asks about is no sample; edit_distance has two (both strings count);
the strings of longest_string_finder are one, tokenised one by one and added. The headline pools the
samples of the five core tasks over all *distinct* tokenisers (models that share one count once).

Ratios are computed for each sample and then averaged, as published: the mean of characters per
token is not the inverse of the mean of tokens per character.

Paper: section 4.2, appendix A.7.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from scripts.files import DataError
from scripts.records import Item
from scripts.statistics import bootstrap, proportions
from scripts.statistics.effects import cohens_d
from scripts.statistics.seeding import cell_generator
from scripts.syntaxbench.tasks import CONDITIONS, TASKS, task_named
from scripts.tokenisation.tokenisers import Tokeniser

SAMPLE_COLUMNS = (
    "item_id",
    "task",
    "condition",
    "field",
    "characters",
    "tokens",
    "tokens_per_character",
    "characters_per_token",
    "text",
    "pieces",
    "tokeniser",
)
HEADLINE_COLUMNS = (
    "condition",
    "n",
    "tokens_per_character",
    "characters_per_token",
    "cohens_d",
    "tokenisers",
    "left_out",
)
SUMMARY_COLUMNS = (
    "model",
    "task",
    "condition",
    "n",
    "tokens_mean",
    "characters_per_token",
    "tokens_per_character",
)
BIN_COLUMNS = (
    "model",
    "mode",
    "task",
    "condition",
    "token_bin",
    "n",
    "correct",
    "ema",
    "ema_low",
    "ema_high",
)
OFF_BY_ONE_COLUMNS = (
    "model",
    "mode",
    "item",
    "condition",
    "word",
    "gold",
    "parsed",
    "tokens",
    "token_count",
    "multi_character_tokens",
    "inside_multi_character",
)

#: The task whose answers are counts of characters; its pieces are kept for the off-by-one analysis.
COUNTING_TASK = "count_chars"


def samples_of(item: Item) -> list[tuple[str, list[str]]]:
    """(field, its strings) of the raw inputs that are tokenised."""
    task = task_named(item.task)
    out = []
    for field in task.tokenised:
        value = item.inputs[field]
        out.append((field, [str(v) for v in value] if isinstance(value, list) else [str(value)]))
    return out


def pieces_of(text: str, tokeniser: Tokeniser) -> list[str]:
    """The slices of a text that its tokens show, in order; those that show nothing are left out."""
    return [text[start:end] for start, end in tokeniser.spans(text) if end > start]


def sample_frame(items: Iterable[Item], tokeniser: Tokeniser) -> pd.DataFrame:
    """One row a sample, sorted by task, condition, item and field.

    Raises DataError for an input without a character or a token: its ratios are undefined.
    """
    keys: list[tuple[str, str, str, str]] = []
    strings: list[list[str]] = []
    for item in items:
        for field, texts in samples_of(item):
            keys.append((item.task, str(item.factors["condition"]), item.item_id, field))
            strings.append(texts)
    counts = iter(tokeniser.counts([text for texts in strings for text in texts]))
    rows = []
    for (task, condition, item_id, field), texts in zip(keys, strings, strict=True):
        tokens, characters = sum(next(counts) for _ in texts), sum(map(len, texts))
        if not tokens or not characters:
            raise DataError(f"item {item_id}: input {field!r} is empty; build the items again")
        counted = task == COUNTING_TASK
        pieces = json.dumps(pieces_of(texts[0], tokeniser)) if counted else None
        rows.append(
            {
                "item_id": item_id,
                "task": task,
                "condition": condition,
                "field": field,
                "characters": characters,
                "tokens": tokens,
                "tokens_per_character": tokens / characters,
                "characters_per_token": characters / tokens,
                "text": texts[0] if counted else None,
                "pieces": pieces,
                "tokeniser": tokeniser.fingerprint,
            }
        )
    frame = pd.DataFrame.from_records(rows, columns=list(SAMPLE_COLUMNS))
    order = ["task", "condition", "item_id", "field"]
    return frame.sort_values(order, kind="stable").reset_index(drop=True)


def headline_frame(samples: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Pooled means by condition and Cohen's d (random - English, on tokens per character).

    `samples`: model to its sample frame. A model without rows has no tokeniser; it is listed in
    `left_out` (JSON). A tokeniser that several models share counts once.
    """
    chosen: dict[str, pd.DataFrame] = {}
    for model in sorted(samples):
        frame = samples[model]
        if not frame.empty:
            chosen.setdefault(str(frame["tokeniser"].iloc[0]), frame)
    core = [name for name, task in TASKS.items() if task.core]
    left_out = json.dumps([model for model in sorted(samples) if samples[model].empty])
    if not chosen:
        empty = [
            {"condition": c, "n": 0, "tokenisers": 0, "left_out": left_out} for c in CONDITIONS
        ]
        return pd.DataFrame.from_records(empty, columns=list(HEADLINE_COLUMNS))
    pooled = pd.concat([frame[frame["task"].isin(core)] for frame in chosen.values()])
    by_condition = {c: pooled[pooled["condition"] == c] for c in CONDITIONS}
    ratios = {c: part["tokens_per_character"].to_numpy() for c, part in by_condition.items()}
    d = cohens_d(ratios["random"], ratios["english"]).value
    rows = [
        {
            "condition": condition,
            "n": len(part),
            "tokens_per_character": part["tokens_per_character"].mean(),
            "characters_per_token": part["characters_per_token"].mean(),
            "cohens_d": d,
            "tokenisers": len(chosen),
            "left_out": left_out,
        }
        for condition, part in by_condition.items()
    ]
    return pd.DataFrame.from_records(rows, columns=list(HEADLINE_COLUMNS))


def summary_frame(samples: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Mean tokens and ratios for each model, task and condition."""
    rows = []
    for model in sorted(samples):
        for name, part in samples[model].groupby(["task", "condition"], sort=True):
            key: Any = name
            rows.append(
                {
                    "model": model,
                    "task": key[0],
                    "condition": key[1],
                    "n": len(part),
                    "tokens_mean": part["tokens"].mean(),
                    "characters_per_token": part["characters_per_token"].mean(),
                    "tokens_per_character": part["tokens_per_character"].mean(),
                }
            )
    return pd.DataFrame.from_records(rows, columns=list(SUMMARY_COLUMNS))


def bin_labels(bins: Sequence[int]) -> list[str]:
    """Labels of the bins that start at each of `bins`: 1, 2, ..., 6+ (or 1-4 for a wider one)."""
    if not bins or any(later <= earlier for earlier, later in pairwise(bins)):
        raise DataError(f"token_bins must increase, got {list(bins)}; correct the configuration")
    labels = [
        str(start) if following == start + 1 else f"{start}-{following - 1}"
        for start, following in pairwise(bins)
    ]
    return [*labels, f"{bins[-1]}+"]


def answers_with_tokens(
    scores: pd.DataFrame, samples: Mapping[str, pd.DataFrame], shots: int
) -> pd.DataFrame:
    """The scored answers at one shot count with the number of tokens of the whole item."""
    parts = []
    for model in sorted(samples):
        if samples[model].empty:
            continue
        totals = samples[model].groupby("item_id", as_index=False)["tokens"].sum()
        mine = scores[(scores["model"] == model) & (scores["shots"] == shots)]
        mine = mine[mine["correct"].notna()]
        joined = mine.merge(totals, on="item_id", how="left", validate="many_to_one")
        if joined["tokens"].isna().any():
            lost = joined.loc[joined["tokens"].isna(), "item_id"].iloc[0]
            raise DataError(
                f"model {model}: scored item {lost} has no token count; tokenise the inputs again"
            )
        parts.append(joined)
    return pd.concat(parts, ignore_index=True) if parts else scores.head(0).assign(tokens=0)


def bins_frame(
    answers: pd.DataFrame,
    bins: Sequence[int],
    *,
    seed: int,
    resamples: int,
    level: float,
) -> pd.DataFrame:
    """Accuracy by token bin for each model, mode, core task, condition; no row for an empty bin."""
    labels = np.asarray(bin_labels(bins))
    core = answers[answers["task"].isin([name for name, task in TASKS.items() if task.core])]
    core = core[core["tokens"] >= bins[0]]
    place = np.searchsorted(np.asarray(bins), core["tokens"].to_numpy(dtype=int), "right") - 1
    core = core.assign(place=place)
    rows = []
    keys = ["model", "mode", "task", "condition", "place"]
    for name, part in core.groupby(keys, sort=True):
        key: Any = name
        label = str(labels[int(key[4])])
        k, n = int(part["correct"].astype(bool).sum()), len(part)
        rng = cell_generator(seed, "tokens", *map(str, key[:4]), label)
        low, high = bootstrap.proportion_interval(k, n, resamples, rng, level)
        row = dict(zip(keys[:4], key[:4], strict=True)) | {"token_bin": label, "n": n, "correct": k}
        rows.append(row | {"ema": proportions.proportion(k, n), "ema_low": low, "ema_high": high})
    return pd.DataFrame.from_records(rows, columns=list(BIN_COLUMNS))


def off_by_one_frame(answers: pd.DataFrame, samples: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Every count that misses by exactly one, with the word's pieces.

    `inside_multi_character`: the word has a token of two or more characters, in which the miscount
    can lie. The share among all words is the base rate to compare with.
    """
    missed = answers[(answers["task"] == COUNTING_TASK) & (answers["delta"].abs() == 1)]
    order = ["model", "mode", "condition", "item_id"]
    words = {
        (model, row["item_id"]): (row["text"], json.loads(row["pieces"]))
        for model, frame in samples.items()
        for row in frame[frame["task"] == COUNTING_TASK].to_dict("records")
    }
    rows = []
    for row in missed.sort_values(order, kind="stable").to_dict("records"):
        word, pieces = words[row["model"], row["item_id"]]
        several = sum(len(piece) > 1 for piece in pieces)
        rows.append(
            {
                "model": row["model"],
                "mode": row["mode"],
                "item": row["item_id"],
                "condition": row["condition"],
                "word": word,
                "gold": row["gold"],
                "parsed": row["parsed"],
                "tokens": "|".join(pieces),
                "token_count": len(pieces),
                "multi_character_tokens": several,
                "inside_multi_character": several > 0,
            }
        )
    return pd.DataFrame.from_records(rows, columns=list(OFF_BY_ONE_COLUMNS))


def token_frames(
    scores: pd.DataFrame,
    samples: Mapping[str, pd.DataFrame],
    *,
    bins: Sequence[int],
    seed: int,
    resamples: int = 10_000,
    level: float = 0.95,
    shots: int = 0,
) -> dict[str, pd.DataFrame]:
    """Every tokens_*.csv by file stem. `shots`: shot count of the binned accuracy (paper: 0)."""
    answers = answers_with_tokens(scores, samples, shots)
    return {
        "tokens_headline": headline_frame(samples),
        "tokens_summary": summary_frame(samples),
        "tokens_bins": bins_frame(answers, bins, seed=seed, resamples=resamples, level=level),
        "tokens_off_by_one": off_by_one_frame(answers, samples),
    }
