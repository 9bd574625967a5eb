"""Synthetic scores frames with the documented columns, for the tests and the benchmark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from scripts.syntaxbench.tasks import TASKS

PAPER_RUNS = [
    *((f"model-{i}", "thinking") for i in range(5)),
    *((f"model-{i}", "non_thinking") for i in (0, 1, 2, 5, 6, 7)),
]
PAPER_ITEMS = {
    "count_chars": 200,
    "edit_distance": 200,
    "index_to_span": 200,
    "letter_container": 400,
    "longest_string_finder": 200,
    "palindrome_test": 400,
}
PAPER_SHOTS = (0, 1, 4)


def golds(kind: str, n: int, rng: np.random.Generator) -> list[str]:
    if kind == "binary":
        return ["yes", "no"] * (n // 2) + ["yes"] * (n % 2)
    if kind == "integer":
        return [str(v) for v in rng.integers(2, 15, size=n)]
    return [f"string{i}" for i in range(n)]


def cell(
    run: tuple[str, str], task: str, shots: int, condition: str, *, n: int, share: Any, seed: int
) -> pd.DataFrame:
    """One cell; the gold answers are the same for every model, the answers are not.

    `share`: accuracy to expect, one for all items or one an item.
    """
    model, mode = run
    kind = TASKS[task].kind
    key = [ord(c) for c in f"{task}{condition}"]
    gold = golds(kind, n, np.random.default_rng(key))
    rng = np.random.default_rng([seed, *map(ord, model + mode + task + condition), shots])
    correct = rng.random(n) < share
    valid = correct | (rng.random(n) < 0.8)
    delta = np.where(correct, 0, rng.choice([-2, -1, 1, 3], size=n)).astype(float)
    delta[~valid] = np.nan
    numbers = kind == "integer"
    parsed = [
        None if not v else (g if c else "other")
        for g, c, v in zip(gold, correct, valid, strict=True)
    ]
    if numbers:
        parsed = [
            None if np.isnan(d) else str(int(g) + int(d)) for g, d in zip(gold, delta, strict=True)
        ]
    return pd.DataFrame(
        {
            "item_id": [f"{task}-{condition}-{i:04d}" for i in range(n)],
            "request_id": [f"{task}-{condition}-{i:04d}-{shots}" for i in range(n)],
            "model": model,
            "mode": mode,
            "task": task,
            "shots": shots,
            "condition": condition,
            "valid": valid,
            "correct": pd.array(correct, dtype="boolean"),
            "relaxed": pd.array(np.abs(delta) <= 1, dtype="boolean")
            if numbers
            else pd.array([pd.NA] * n, dtype="boolean"),
            "category": np.where(valid, "valid", rng.choice(["blank", "unparsable"], size=n)),
            "route": "json",
            "gold": gold,
            "parsed": parsed,
            "delta": delta if numbers else np.full(n, np.nan),
            "completion_tokens": pd.array(rng.integers(5, 90, size=n), dtype="Int64"),
            "reasoning_tokens": pd.array(
                rng.integers(50, 400, size=n) if mode == "thinking" else [pd.NA] * n, dtype="Int64"
            ),
        }
    )


def scores_frame(
    runs: Sequence[tuple[str, str]],
    items: Mapping[str, int],
    shots: Sequence[int] = PAPER_SHOTS,
    seed: int = 42,
) -> pd.DataFrame:
    """All cells of the runs. Accuracy differs by model, task and condition."""
    parts: list[Any] = []
    for number, run in enumerate(runs):
        for place, task in enumerate(sorted(items)):
            for s in shots:
                for bonus, condition in enumerate(("english", "random")):
                    share = min(0.98, 0.25 + 0.05 * number + 0.08 * place + 0.04 * bonus)
                    parts.append(
                        cell(run, task, s, condition, n=items[task], share=share, seed=seed)
                    )
    return pd.concat(parts, ignore_index=True)
