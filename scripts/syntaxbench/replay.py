"""Archive responses that have the paper's published margins.

The paper publishes how many items each configuration got right, not which. A replay draws which:
the item vectors come from a Gaussian copula (an item's difficulty is shared by all models and
shots, the rest is the configuration's own noise), and the k easiest items of a cell are right.
Published facts that pin more than the margin (class rates, discordant pairs, parse errors) are
imposed; nothing else is fitted, so whatever the margins do not determine is arbitrary here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from scripts.files import DataError, read_csv
from scripts.publishing.published_names import read_names
from scripts.records import Item, content_id
from scripts.syntaxbench.scoring import matches
from scripts.syntaxbench.tasks import CONDITIONS, task_named

# Parse errors by kind. `unparsable` replies hold prose without an object.
ERROR_KINDS = ("inference_error", "blank", "unparsable")
PROSE = "No object was returned for this request."
INFERENCE_ERROR = "published as an inference error"
Key = tuple[str, str, str, int]  # model, mode, task, shots
Bits = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.float64]


class ReplayError(DataError):
    """The published figures and the items cannot be brought together; says which and why."""


@dataclass(frozen=True)
class ClassRates:
    """Published true-positive and true-negative rate of one cell; condition None means both."""

    key: Key
    condition: str | None
    true_positive_rate: float
    true_negative_rate: float


@dataclass(frozen=True)
class Discordance:
    """Published discordant pairs: b01 items that `first` has right and `second` wrong, b10 back.

    The class rates of both cells must be given too, for condition None.
    """

    first: Key
    second: Key
    b01: int
    b10: int


@dataclass(frozen=True)
class ReplayPlan:
    """Everything published that the replay imposes.

    `correct[(key, condition)]` = (k, n); `errors[key]` = parse errors per kind, both conditions.
    `strength` in [0, 1) is the share of the latent variance that is the item's difficulty.
    `error_sizes` gives the probability of a wrong integer being off by 1, 2, … .
    """

    correct: Mapping[tuple[Key, str], tuple[int, int]]
    errors: Mapping[Key, Mapping[str, int]] = field(default_factory=dict)
    class_rates: Sequence[ClassRates] = ()
    discordances: Sequence[Discordance] = ()
    strength: float = 0.5
    error_sizes: Mapping[int, float] = field(default_factory=lambda: {1: 1.0})
    seed: int = 42

    def published(self) -> list[Key]:
        """Every cell (model, mode, task, shots) with at least one published condition."""
        return sorted({key for key, _ in self.correct})


# --- reading -------------------------------------------------------------------------------------


def read_plan(settings: Mapping[str, Any], seed: int) -> ReplayPlan:
    """The plan from the `replay` section of config/replay.yaml and the tables that it names.

    Raises ReplayError for a published model that has no roster name, a doubled row, k > n, or a
    rate that no whole number of items gives.
    """
    names = read_names(settings["names"])
    correct = read_counts(settings["counts"], names)
    errors = read_parse_errors(settings["parse_errors"], names, correct)
    for row in settings.get("further_parse_errors", []):
        key = _key(row)
        if any(errors.get(key, {}).values()):
            raise ReplayError(f"further_parse_errors: {key} has parse errors from the table too")
        errors[key] = {row["kind"]: int(row["errors"])}
    rates = [
        ClassRates(
            _key(row),
            row.get("condition"),
            float(row["true_positive_rate"]),
            float(row["true_negative_rate"]),
        )
        for row in settings.get("class_rates", [])
    ]
    discordances = [
        Discordance(
            _key({**row, **row["first"]}),
            _key({**row, **row["second"]}),
            int(row["b01"]),
            int(row["b10"]),
        )
        for row in settings.get("discordances", [])
    ]
    sizes = {int(size): float(p) for size, p in settings["error_sizes"].items()}
    strength = float(settings["strength"])
    if not 0 <= strength < 1:
        raise ReplayError(f"replay.strength is {strength}; it must be in [0, 1)")
    return ReplayPlan(correct, errors, rates, discordances, strength, sizes, seed)


def _key(row: Mapping[str, Any]) -> Key:
    return row["model"], row["mode"], row["task"], int(row["shots"])


def _roster_name(name: str, names: Mapping[str, str], path: Any) -> str:
    if name not in names:
        raise ReplayError(
            f"{path}: model {name!r} has no entry in the file of replay.names; add its roster name"
        )
    return names[name]


def read_counts(
    path: Path | str, names: Mapping[str, str]
) -> dict[tuple[Key, str], tuple[int, int]]:
    """Correct and answered items per cell: {(key, condition): (k, n)} from replay_counts.csv."""
    out: dict[tuple[Key, str], tuple[int, int]] = {}
    columns = ("model", "mode", "task", "shot", "condition", "k", "n")
    for number, row in enumerate(read_csv(path, columns).to_dict("records"), start=2):
        model = _roster_name(row["model"], names, path)
        cell = (model, row["mode"], row["task"], int(row["shot"])), row["condition"]
        if cell in out or not 0 <= row["k"] <= row["n"] or row["condition"] not in CONDITIONS:
            raise ReplayError(f"{path}, line {number}: doubled row or impossible values {row}")
        out[cell] = int(row["k"]), int(row["n"])
    return out


def read_parse_errors(
    path: Path | str,
    names: Mapping[str, str],
    correct: Mapping[tuple[Key, str], tuple[int, int]],
) -> dict[Key, dict[str, int]]:
    """Parse errors per cell and kind from the published percentages "PER (blank; inf.err)".

    The count is the whole number of errors nearest to the percentage. Where the components do not
    sum to the rate, the rest is neither blank nor an inference error: unparsable.
    """
    out: dict[Key, dict[str, int]] = {}
    columns = ("model", "task", "shot", "per", "blank", "inf_err")
    for number, row in enumerate(read_csv(path, columns).to_dict("records"), start=2):
        key = (_roster_name(row["model"], names, path), "thinking", row["task"], int(row["shot"]))
        n = sum(correct.get((key, condition), (0, 0))[1] for condition in CONDITIONS)
        total, blank, inference = (round(row[c] * n / 100) for c in ("per", "blank", "inf_err"))
        if f"{100 * total / n:.1f}" != f"{row['per']:.1f}" or blank + inference > total:
            raise ReplayError(
                f"{path}, line {number}: no whole number of {n} items gives a parse-error rate of "
                f"{row['per']} % with components {row['blank']} and {row['inf_err']}"
            )
        kinds = {"blank": blank, "inference_error": inference}
        out[key] = {**kinds, "unparsable": total - blank - inference}
    return out


# --- item vectors --------------------------------------------------------------------------------


def generator(seed: int, *names: Any) -> np.random.Generator:
    """A random generator for one named purpose: adding a model changes no other model's draws."""
    return np.random.default_rng(int(content_id(seed, *names), 16))


@dataclass
class Cell:
    """One model, mode, task, shots and condition; arrays run over the items sorted by id.

    `latent`: smaller is easier. `answered` false = not in the archive. `correct` as drawn.
    """

    items: list[Item]
    latent: Numbers
    answered: Bits
    correct: Bits

    def positive(self) -> Bits:
        """Items whose gold is yes."""
        return np.array([item.gold["answer"] == "yes" for item in self.items], dtype=bool)


def draw_cells(plan: ReplayPlan, items: Sequence[Item]) -> dict[tuple[Key, str], Cell]:
    """Which items each configuration answered and got right: exactly (k, n) in every cell.

    Raises ReplayError naming the cell if there are fewer items than were published, or if a class
    rate or a discordance contradicts the counts.
    """
    groups: dict[tuple[str, str], list[Item]] = {}
    for item in sorted(items, key=lambda item: item.item_id):
        groups.setdefault((item.task, item.factors["condition"]), []).append(item)
    difficulty = {
        group: generator(plan.seed, "difficulty", *group).standard_normal(len(members))
        for group, members in groups.items()
    }
    cells: dict[tuple[Key, str], Cell] = {}
    for (key, condition), (k, n) in sorted(plan.correct.items()):
        group = (key[2], condition)
        members = groups.get(group, [])
        if n > len(members):
            raise ReplayError(
                f"{key}, {condition}: {n} answers were published but there are {len(members)} "
                "items; build the items with the paper's counts"
            )
        noise = generator(plan.seed, "noise", *key, condition)
        own = noise.standard_normal(len(members))
        latent = np.sqrt(plan.strength) * difficulty[group] + np.sqrt(1 - plan.strength) * own
        answered = np.zeros(len(members), dtype=bool)
        answered[noise.permutation(len(members))[:n]] = True
        cells[key, condition] = Cell(members, latent, answered, _easiest(latent, answered, k))
    for rates in plan.class_rates:
        _impose_class_rates(rates, cells)
    for discordance in plan.discordances:
        _impose_discordance(discordance, cells)
    return cells


def _easiest(latent: Numbers, among: Bits, count: int) -> Bits:
    """The `count` members of `among` with the smallest latent value."""
    chosen = np.zeros(len(latent), dtype=bool)
    candidates = np.flatnonzero(among)
    order = candidates[np.argsort(latent[candidates], kind="stable")]
    chosen[order[:count]] = True
    return chosen


def _whole(rate: float, n: int, what: str) -> int:
    count = round(rate * n)
    if abs(count / n - rate) > 5e-5 + 1e-12:
        raise ReplayError(f"{what}: no whole number of {n} items gives a rate of {rate}")
    return count


def _impose_class_rates(rates: ClassRates, cells: Mapping[tuple[Key, str], Cell]) -> None:
    """Redraw one cell's right items so that the class rates hold and the counts stay."""
    conditions = [rates.condition] if rates.condition else list(CONDITIONS)
    parts = [_cell(cells, rates.key, condition) for condition in conditions]
    yes = [part.positive() & part.answered for part in parts]
    no = [~part.positive() & part.answered for part in parts]
    what = f"class rates of {rates.key}"
    right_yes = _whole(rates.true_positive_rate, sum(int(y.sum()) for y in yes), what)
    right_no = _whole(rates.true_negative_rate, sum(int(n.sum()) for n in no), what)
    right = [int(part.correct.sum()) for part in parts]
    if right_yes + right_no != sum(right):
        raise ReplayError(
            f"{what}: they make {right_yes} + {right_no} right answers, the counts {sum(right)}"
        )
    # Within a condition the wrong answers divide between the classes as they do over all.
    wrong = [int(part.answered.sum()) - r for part, r in zip(parts, right, strict=True)]
    wrong_no = sum(int(n.sum()) for n in no) - right_no
    shares = _share(wrong_no, wrong, [min(int(n.sum()), w) for n, w in zip(no, wrong, strict=True)])
    for part, y, n, w, share in zip(parts, yes, no, wrong, shares, strict=True):
        if w - share > int(y.sum()):
            raise ReplayError(f"{what}: more wrong answers than items of the class")
        part.correct = _easiest(part.latent, y, int(y.sum()) - (w - share)) | _easiest(
            part.latent, n, int(n.sum()) - share
        )


def _share(total: int, weights: Sequence[int], limits: Sequence[int]) -> list[int]:
    """Divide `total` in proportion to the weights (largest remainder), no part above its limit."""
    if total > sum(limits):
        raise ReplayError(f"{total} cannot be divided into parts of at most {list(limits)}")
    whole = sum(weights) or 1
    exact = [total * weight / whole for weight in weights]
    parts = [min(int(value), limit) for value, limit in zip(exact, limits, strict=True)]
    while sum(parts) < total:
        room = [i for i in range(len(parts)) if parts[i] < limits[i]]
        parts[max(room, key=lambda i: (exact[i] - parts[i], -i))] += 1
    return parts


def _cell(cells: Mapping[tuple[Key, str], Cell], key: Key, condition: str) -> Cell:
    if (key, condition) not in cells:
        raise ReplayError(f"{key}, {condition}: named in the replay settings, but has no counts")
    return cells[key, condition]


def _impose_discordance(pin: Discordance, cells: Mapping[tuple[Key, str], Cell]) -> None:
    """Redraw two cells, keeping right answers per class and condition, to the discordant pairs."""
    groups: list[tuple[Cell, Cell, Bits]] = []
    for condition in CONDITIONS:
        first, second = (_cell(cells, key, condition) for key in (pin.first, pin.second))
        if not bool((first.answered & second.answered).all()):
            raise ReplayError(f"{pin}: both cells must have answered every item")
        groups += [(first, second, first.positive()), (first, second, ~first.positive())]
    wrong_first = [int((~a.correct & among).sum()) for a, _, among in groups]
    wrong_second = [int((~b.correct & among).sum()) for _, b, among in groups]
    both = sum(wrong_first) - pin.b10
    most = [min(pair) for pair in zip(wrong_first, wrong_second, strict=True)]
    if both != sum(wrong_second) - pin.b01 or not 0 <= both <= sum(most):
        raise ReplayError(f"{pin}: contradicts {sum(wrong_first)} and {sum(wrong_second)} errors")
    shared = _share(both, most, most)
    # All groups are divided before any vector changes: two groups are parts of the same cell.
    for (first, second, among), w1, w2, b in zip(
        groups, wrong_first, wrong_second, shared, strict=True
    ):
        order = np.argsort(-(first.latent + second.latent), kind="stable")
        hardest = order[among[order]]
        if w1 + w2 - b > len(hardest):
            raise ReplayError(f"{pin}: more errors than items of the class")
        first.correct[among] = True
        second.correct[among] = True
        first.correct[hardest[:w1]] = False
        second.correct[hardest[:b]] = False
        second.correct[hardest[w1 : w1 + w2 - b]] = False


# --- answers -------------------------------------------------------------------------------------


def assign_errors(
    key: Key, wanted: Mapping[str, int], cells: Mapping[str, Cell], seed: int
) -> dict[str, str]:
    """Which wrong items are parse errors, and of which kind: {item_id: kind}.

    Divided between the conditions in proportion to their wrong answers; hardest items first within
    a condition would tie errors to difficulty, so they are drawn at random.
    """
    unknown = sorted(set(wanted) - set(ERROR_KINDS))
    if unknown:
        raise ReplayError(f"{key}: unknown kind(s) of parse error {unknown}; use {ERROR_KINDS}")
    total = sum(wanted.values())
    names = sorted(cells)
    wrong = [np.flatnonzero(cells[c].answered & ~cells[c].correct) for c in names]
    sizes = [len(w) for w in wrong]
    if total > sum(sizes):
        raise ReplayError(f"{key}: {total} parse errors but only {sum(sizes)} wrong answers")
    draw = generator(seed, "parse errors", *key)
    chosen: list[str] = []
    for name, indices, count in zip(names, wrong, _share(total, sizes, sizes), strict=True):
        chosen += [cells[name].items[i].item_id for i in draw.permutation(indices)[:count]]
    kinds = [kind for kind in ERROR_KINDS for _ in range(wanted.get(kind, 0))]
    order = draw.permutation(len(kinds))
    return {item_id: kinds[i] for item_id, i in zip(chosen, order, strict=True)}


def wrong_answer(
    item: Item, error_sizes: Mapping[int, float], draw: np.random.Generator
) -> int | str:
    """A plausible wrong answer: the other label, an integer near by, another string of the item."""
    kind = task_named(item.task).kind
    gold = item.gold["answer"]
    if kind == "binary":
        return "no" if gold == "yes" else "yes"
    if kind == "integer":
        sizes = sorted(error_sizes)
        weights = np.array([error_sizes[size] for size in sizes])
        size = sizes[int(draw.choice(len(sizes), p=weights / weights.sum()))]
        delta = size if draw.random() < 0.5 else -size
        # No count and no distance is negative.
        return int(gold + delta) if gold + delta >= 0 else int(gold + size)
    candidates = [text for text in _other_strings(item) if not matches(item.task, text, gold)]
    return candidates[int(draw.integers(len(candidates)))] if candidates else f"{gold}x"


def _other_strings(item: Item) -> list[str]:
    """The item's shorter strings, or the spans that begin a few characters too early or late."""
    if "strings" in item.inputs:
        return list(item.inputs["strings"])
    document, start, end = (item.inputs[name] for name in ("document", "start", "end"))
    shifts = [s for s in (-3, -2, -1, 1, 2, 3) if start + s >= 0 and end + s <= len(document)]
    return [document[start + s : end + s] for s in shifts]


def archive_rows(plan: ReplayPlan, items: Sequence[Item]) -> dict[tuple[str, str], list[Any]]:
    """Rows of the archive files: {(model, mode): rows}, in the order task, shots, item id.

    A row is {item_id, setting: {shots}, text, finish_reason} and `error` for an inference error.
    Items without an answer have no row. Tokens are unknown and stay so.
    """
    cells = draw_cells(plan, items)
    out: dict[tuple[str, str], list[Any]] = {}
    for key in plan.published():
        model, mode, _, shots = key
        parts = {c: cells[key, c] for c in CONDITIONS if (key, c) in cells}
        errors = assign_errors(key, plan.errors.get(key, {}), parts, plan.seed)
        draw = generator(plan.seed, "wrong answers", *key)
        rows = [
            _row(item, bool(right), errors.get(item.item_id), plan, draw)
            for condition in CONDITIONS
            if condition in parts
            for item, right, answered in zip(
                parts[condition].items,
                parts[condition].correct,
                parts[condition].answered,
                strict=True,
            )
            if answered
        ]
        for row in sorted(rows, key=lambda row: row["item_id"]):
            out.setdefault((model, mode), []).append({**row, "setting": {"shots": shots}})
    return out


def _row(
    item: Item, right: bool, error: str | None, plan: ReplayPlan, draw: np.random.Generator
) -> dict[str, Any]:
    row: dict[str, Any] = {"item_id": item.item_id, "finish_reason": "stop"}
    if error == "inference_error":
        return {**row, "text": "", "finish_reason": "error", "error": INFERENCE_ERROR}
    if error is not None:
        return {**row, "text": "" if error == "blank" else PROSE}
    answer = item.gold["answer"] if right else wrong_answer(item, plan.error_sizes, draw)
    return {**row, "text": json.dumps({"result": answer})}


def margins(rows: Sequence[Mapping[str, Any]], items: Sequence[Item]) -> pd.DataFrame:
    """Right and answered items per task, shots and condition of archive rows: a check of a replay.

    Columns task, shots, condition, k, n.
    """
    item_of = {item.item_id: item for item in items}
    table = [
        {
            "task": item_of[row["item_id"]].task,
            "shots": row["setting"]["shots"],
            "condition": item_of[row["item_id"]].factors["condition"],
            "right": row["text"] == json.dumps({"result": item_of[row["item_id"]].gold["answer"]}),
        }
        for row in rows
    ]
    grouped = pd.DataFrame(table).groupby(["task", "shots", "condition"])["right"]
    return grouped.agg(k="sum", n="size").reset_index()
