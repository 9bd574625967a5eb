"""From the scores and items of MultiTempBench to accuracy.csv and dataset.csv.

Conventions (docs/statistics.md has them with examples):

* A row is *scored* when `correct` is not null; an inference error is scored and wrong, a request
  that was not run or a reply that no judge could grade is *unscored*: counted, but in no rate.
* Format `all` pools the items of a cell. Task `all` is the unweighted mean of the tasks, language
  `all` the unweighted mean of the languages (MultiTempBench, table 3). A mean over fewer tasks or
  languages than configured, and a cell with unscored rows, are flagged `incomplete`; a cell without
  a scored row is flagged `missing`.
* The variants of one seed question are not independent. The interval is the percentile bootstrap
  that resamples *seed questions* within each task (as many as the design has), each with all its
  variants; the same resamples serve every model, language and format (Efron & Tibshirani 1993,
  section 8.6; Field & Welsh, JRSS B 69 (2007) 369-390).
* Where every answer of a cell is right, or none, resampling shows no spread: the interval is then
  Wilson's for the number of seed questions.
* `truncated_rate`: scored rows that the token limit cut before an answer; part of the rows that are
  not attempted.
* A single cell (one language, task and format) has one variant of each question: there the Wilson
  score interval (Wilson, JASA 22 (1927) 209-212) stands beside it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from scripts.files import DataError, read_records
from scripts.multitempbench.tasks import FORMATS, LANGUAGES, TASKS
from scripts.records import Item
from scripts.statistics.flags import INCOMPLETE, MISSING, join_flags
from scripts.statistics.proportions import wilson_interval
from scripts.statistics.seeding import cell_generator

ALL = "all"
NAN = float("nan")
Floats = NDArray[np.float64]

ACCURACY_COLUMNS = (
    *("model", "mode", "language", "task", "format", "n", "questions", "correct", "accuracy"),
    *("low", "high", "wilson_low", "wilson_high", "not_attempted_rate", "incorrect_rate"),
    *("valid_response_rate", "truncated_rate", "unscored", "flag"),
)
DATASET_COLUMNS = (
    *("task", "questions", "languages", "formats", "items", "items_expected", "by_source"),
    *("example", "answer"),
)
SCORE_COLUMNS = (
    *("item_id", "question_id", "model", "mode", "task", "language", "format", "verdict"),
    *("correct", "valid", "category"),
)
# What is counted of every row, in this order.
COUNTED = ("scored", "correct", "not_attempted", "incorrect", "valid", "truncated", "unscored")


@dataclass(frozen=True, slots=True)
class Settings:
    """What the analysis reads from the configuration.

    `modes` are the modes of every model and baseline, in display order. `resamples` bootstrap
    resamples at confidence `level`.
    """

    modes: Mapping[str, Sequence[str]]
    languages: Sequence[str]
    tasks: Sequence[str]
    formats: Sequence[str]
    seed: int
    resamples: int = 10_000
    level: float = 0.95


@dataclass(frozen=True)
class Design:
    """The axes of the design in the benchmark's own order, and the questions of each task."""

    runs: tuple[tuple[str, str], ...]
    languages: tuple[str, ...]
    tasks: tuple[str, ...]
    formats: tuple[str, ...]
    questions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, settings: Settings) -> Design:
        """The configured design; DataError for a name that the benchmark does not have."""
        for kind, given, known in (
            ("language", settings.languages, LANGUAGES),
            ("task", settings.tasks, tuple(TASKS)),
            ("format", settings.formats, FORMATS),
        ):
            unknown = sorted(set(given) - set(known))
            if unknown:
                raise DataError(f"unknown {kind} {unknown}; known: {', '.join(known)}")
        return cls(
            tuple((model, mode) for model, modes in settings.modes.items() for mode in modes),
            tuple(x for x in LANGUAGES if x in settings.languages),
            tuple(x for x in TASKS if x in settings.tasks),
            tuple(x for x in FORMATS if x in settings.formats),
        )


# ---- accuracy.csv ------------------------------------------------------------------------------


def accuracy_frame(scores: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """accuracy.csv: every model and mode by language, task and format, each with its `all`.

    `scores` has the columns of scores.parquet. Raises DataError for missing columns, names that are
    not configured, and doubled rows.
    """
    design = Design.of(settings)
    check_scores(scores, design)
    questions = {
        task: tuple(sorted(scores.loc[scores["task"] == task, "question_id"].unique()))
        for task in design.tasks
    }
    weights = {
        task: question_weights(len(found), settings, task) for task, found in questions.items()
    }
    groups = {
        (str(run[0]), str(run[1])): part
        for run, part in scores.groupby(["model", "mode"], sort=False, observed=True)
    }
    blocks: list[pd.DataFrame] = []
    for run in design.runs:
        counts = [
            count_cells(groups.get(run), task, questions[task], design) for task in design.tasks
        ]
        blocks.append(_run_block(run, counts, [weights[t] for t in design.tasks], settings, design))
    return pd.concat(blocks, ignore_index=True)


def check_scores(scores: pd.DataFrame, design: Design) -> None:
    """Raise DataError for missing columns, unknown names and doubled rows."""
    lacking = [name for name in SCORE_COLUMNS if name not in scores.columns]
    if lacking:
        raise DataError(f"scores: no column {', '.join(lacking)}; score the responses again")
    for column, known in (
        ("language", design.languages),
        ("task", design.tasks),
        ("format", design.formats),
    ):
        unknown = sorted(set(scores[column].unique()) - set(known))
        if unknown:
            raise DataError(
                f"scores: {column} {unknown} not in the configuration, which has {list(known)}; "
                "correct the configuration or score again"
            )
    pairs = scores[["model", "mode"]].drop_duplicates()
    found = {(str(a), str(b)) for a, b in zip(pairs["model"], pairs["mode"], strict=True)}
    if found - set(design.runs):
        raise DataError(f"scores: run(s) {sorted(found - set(design.runs))} not configured")
    key = ["model", "mode", "item_id"]
    doubled = scores[scores.duplicated(subset=key)]
    if len(doubled):
        first = doubled.iloc[0][key].to_dict()
        raise DataError(f"scores: item scored twice, first {first}; score the responses again")


def question_weights(questions: int, settings: Settings, task: str) -> NDArray[np.float32]:
    """How often each resample draws each seed question; shape (resamples, questions).

    Depends on the seed, the task and the number of questions only. Single precision holds these
    counts exactly and halves the time of the products.
    """
    if questions == 0:
        return np.zeros((settings.resamples, 0), dtype=np.float32)
    rng = cell_generator(settings.seed, "accuracy", task)
    draws = rng.multinomial(questions, np.full(questions, 1 / questions), size=settings.resamples)
    return draws.astype(np.float32)


def count_cells(
    rows: pd.DataFrame | None, task: str, questions: Sequence[str], design: Design
) -> Floats:
    """Counts of one run and task; shape (counted, questions, languages, formats + 1).

    The last format is `all`: the sum of the others.
    """
    shape = (len(questions), len(design.languages), len(design.formats))
    out = np.zeros((len(COUNTED), *shape))
    if rows is not None and len(questions):
        rows = rows[rows["task"] == task]
        places = _codes(rows["question_id"], questions)
        for column, names in (("language", design.languages), ("format", design.formats)):
            places = places * len(names) + _codes(rows[column], names)
        for index, mask in enumerate(_indicators(rows)):
            out[index] = np.bincount(places[mask], minlength=out[index].size).reshape(shape)
    return np.concatenate([out, out.sum(axis=-1, keepdims=True)], axis=-1)


def _codes(column: pd.Series[Any], names: Sequence[str]) -> NDArray[np.int64]:
    """The place of each value among the names, all of which are known."""
    return np.asarray(pd.Categorical(column, categories=list(names)).codes, dtype=np.int64)


def _indicators(rows: pd.DataFrame) -> Iterator[NDArray[np.bool_]]:
    """A mask for every entry of COUNTED."""
    correct = rows["correct"].astype("boolean")
    scored = correct.notna().to_numpy(dtype=bool)
    right = correct.fillna(False).to_numpy(dtype=bool)
    verdict = rows["verdict"].astype("object").fillna("")
    yield scored
    yield right
    yield scored & (verdict == "not_attempted").to_numpy(dtype=bool)
    yield scored & (verdict == "incorrect").to_numpy(dtype=bool)
    yield scored & rows["valid"].to_numpy(dtype=bool)
    yield scored & (rows["category"] == "truncated").to_numpy(dtype=bool)
    yield ~scored


def _run_block(
    run: tuple[str, str],
    counts: Sequence[Floats],
    weights: Sequence[NDArray[np.float32]],
    settings: Settings,
    design: Design,
) -> pd.DataFrame:
    """The rows of one model and mode."""
    # Shapes (tasks, languages, formats + 1) from here on; `all` margins are appended to the front.
    totals = np.stack([part.sum(axis=1) for part in counts], axis=1)
    by_name = dict(zip(COUNTED, totals, strict=True))
    scored = by_name["scored"]
    draws = np.stack(
        [resampled_accuracy(part, w) for part, w in zip(counts, weights, strict=True)], axis=1
    )
    low, high = _percentiles(with_margins(draws), settings.level)
    values = {
        "accuracy": by_name["correct"],
        "not_attempted_rate": by_name["not_attempted"],
        "incorrect_rate": by_name["incorrect"],
        "valid_response_rate": by_name["valid"],
        "truncated_rate": by_name["truncated"],
    }
    means = {name: with_margins(ratio(top, scored)) for name, top in values.items()}
    sums = {name: _with_sums(by_name[name]) for name in ("scored", "correct", "unscored")}
    found = np.stack([np.count_nonzero(p[0].sum(axis=-2), axis=0) for p in counts])
    present = np.stack([np.count_nonzero(p[0], axis=0) for p in counts])
    frame = _keys(run, design)
    frame["n"] = sums["scored"].ravel().astype(int)
    frame["questions"] = _question_counts(present, found).ravel().astype(int)
    frame["correct"] = sums["correct"].ravel().astype(int)
    frame["accuracy"] = means["accuracy"].ravel()
    frame["low"], frame["high"] = _at_the_bounds(
        frame["accuracy"].to_numpy(), frame["questions"].to_numpy(), low, high, settings.level
    )
    single = _single_cells(design)
    wilson = wilson_interval(sums["correct"].ravel(), sums["scored"].ravel(), settings.level)
    frame["wilson_low"] = np.where(single, wilson[0], NAN)
    frame["wilson_high"] = np.where(single, wilson[1], NAN)
    for name in ("not_attempted_rate", "incorrect_rate", "valid_response_rate", "truncated_rate"):
        frame[name] = means[name].ravel()
    frame["unscored"] = sums["unscored"].ravel().astype(int)
    frame["flag"] = _flags(scored, sums["unscored"])
    return frame[list(ACCURACY_COLUMNS)]


def resampled_accuracy(counts: Floats, weights: NDArray[np.float32]) -> Floats:
    """Accuracy of every resample; shape (resamples, languages, formats + 1), NaN without a row."""
    scored, right = counts[0], counts[1]
    questions, *shape = scored.shape
    product = [weights @ part.reshape(questions, -1).astype(np.float32) for part in (right, scored)]
    return ratio(product[0], product[1]).reshape(len(weights), *shape)


def ratio(top: NDArray[Any], bottom: NDArray[Any]) -> Floats:
    """Elementwise quotient; NaN where the bottom is zero."""
    a, b = np.asarray(top, dtype=float), np.asarray(bottom, dtype=float)
    out: Floats = np.divide(a, b, out=np.full(a.shape, NAN), where=b > 0)
    return out


def with_margins(values: Floats) -> Floats:
    """Append the unweighted mean over the tasks, then over the languages.

    `values`: shape (..., tasks, languages, formats); each mean is over the values that are there.
    The result has one task and one language more, the last of each.
    """
    values = np.concatenate([values, _mean(values, -3)], axis=-3)
    return np.concatenate([values, _mean(values, -2)], axis=-2)


def _mean(values: Floats, axis: int) -> Floats:
    kept = ~np.isnan(values)
    total = np.where(kept, values, 0.0).sum(axis=axis, keepdims=True)
    return ratio(total, kept.sum(axis=axis, keepdims=True))


def _with_sums(values: Floats) -> Floats:
    values = np.concatenate([values, values.sum(axis=-3, keepdims=True)], axis=-3)
    return np.concatenate([values, values.sum(axis=-2, keepdims=True)], axis=-2)


def _question_counts(present: NDArray[Any], found: NDArray[Any]) -> NDArray[Any]:
    """Distinct seed questions with a scored row, with the margins of tasks and languages.

    `present`: (tasks, languages, formats + 1); `found`: (tasks, formats + 1), over all languages. A
    question belongs to one task, so tasks add up; its languages do not.
    """
    found = found[:, None, :]
    whole = np.concatenate([present, found], axis=1)
    return np.concatenate([whole, whole.sum(axis=0, keepdims=True)], axis=0)


def _percentiles(draws: Floats, level: float) -> tuple[Floats, Floats]:
    """Lower and upper percentile over the first axis; NaN where there is no draw."""
    tail = 50 * (1 - level)
    empty = np.isnan(draws)
    if empty.any():
        # A resample without a scored row of the cell is left out; a cell without any stays empty.
        lost = empty.all(axis=0)
        filled = np.where(lost, 0.0, draws)
        low, high = np.nanpercentile(filled, [tail, 100 - tail], axis=0)
        return np.where(lost, NAN, low), np.where(lost, NAN, high)
    low, high = np.percentile(draws, [tail, 100 - tail], axis=0)
    return low, high


def _at_the_bounds(
    accuracy: Floats, questions: Floats, low: Floats, high: Floats, level: float
) -> tuple[Floats, Floats]:
    """The bootstrap interval, but Wilson's where nothing varies: every answer right, or none.

    There every resample is the sample, and the percentile interval would claim certainty. Wilson's
    n is the number of *seed questions*, as if the variants of one told nothing new.
    """
    every, none = accuracy == 1, accuracy == 0
    n = questions.astype(float)
    below, above = wilson_interval(np.where(every, n, 0.0), n, level)
    constant = every | none
    low, high = low.ravel(), high.ravel()
    # One seed question a task leaves the resampling no choice: there is no interval then.
    no_choice = ~constant & (low == high)
    low, high = np.where(no_choice, NAN, low), np.where(no_choice, NAN, high)
    return np.where(constant, below, low), np.where(constant, above, high)


def _keys(run: tuple[str, str], design: Design) -> pd.DataFrame:
    """The key columns in the order of the arrays: task, language, format, each ending in `all`."""
    index = pd.MultiIndex.from_product(
        [(*design.tasks, ALL), (*design.languages, ALL), (*design.formats, ALL)],
        names=["task", "language", "format"],
    )
    return index.to_frame(index=False).assign(model=run[0], mode=run[1])


def _single_cells(design: Design) -> NDArray[np.bool_]:
    shape = (len(design.tasks) + 1, len(design.languages) + 1, len(design.formats) + 1)
    single = np.ones(shape, dtype=bool)
    single[-1], single[:, -1], single[:, :, -1] = False, False, False
    return single.ravel()


def _flags(scored: Floats, unscored: Floats) -> list[str]:
    """The flag of every cell, margins included; shapes as in `_run_block`."""
    there = scored > 0
    tasks = np.concatenate([there, there.all(axis=0, keepdims=True)], axis=0)
    whole = np.concatenate([tasks, tasks.all(axis=1, keepdims=True)], axis=1)
    any_task = np.concatenate([there, there.any(axis=0, keepdims=True)], axis=0)
    some = np.concatenate([any_task, any_task.any(axis=1, keepdims=True)], axis=1)
    return [
        join_flags([MISSING if not b else INCOMPLETE if not a or u else ""])
        for a, b, u in zip(whole.ravel(), some.ravel(), unscored.ravel() > 0, strict=True)
    ]


# ---- dataset.csv -------------------------------------------------------------------------------


def read_items(paths: Iterable[Path | str]) -> list[Item]:
    """All items of the item files, in file order."""
    return [item for path in paths for item in read_records(path, Item)]


def dataset_frame(
    items: Iterable[Item], languages: Sequence[str], formats: Sequence[str]
) -> pd.DataFrame:
    """dataset.csv: what the benchmark holds by task and, last, in all.

    `items_expected` = questions x languages x formats; fewer are there where a calendar cannot name
    a date. `by_source` counts seed questions by source (JSON). `example` and `answer` show the
    first item (by its identifier) in English and ISO form, or the first one where there is none.
    """
    found = list(items)
    rows = []
    for task in [t for t in TASKS if any(item.task == t for item in found)]:
        mine = [item for item in found if item.task == task]
        rows.append(_dataset_row(task, mine, languages, formats))
    if rows:
        rows.append({**_dataset_row(ALL, found, languages, formats), "example": "", "answer": ""})
    return pd.DataFrame(rows, columns=list(DATASET_COLUMNS))


def _dataset_row(
    task: str, items: Sequence[Item], languages: Sequence[str], formats: Sequence[str]
) -> dict[str, Any]:
    sources = {str(item.source["question_id"]): str(item.source["name"]) for item in items}
    by_source: dict[str, int] = {}
    for name in sources.values():
        by_source[name] = by_source.get(name, 0) + 1
    plain = [i for i in items if i.factors["language"] == "en" and i.factors["format"] == "iso"]
    example = min(plain or list(items), key=lambda item: item.item_id)
    return {
        "task": task,
        "questions": len(sources),
        "languages": len({item.factors["language"] for item in items}),
        "formats": len({item.factors["format"] for item in items}),
        "items": len(items),
        "items_expected": len(sources) * len(languages) * len(formats),
        "by_source": json.dumps(by_source, sort_keys=True),
        "example": str(example.inputs["question"]),
        "answer": str(example.gold["answer"]),
    }
