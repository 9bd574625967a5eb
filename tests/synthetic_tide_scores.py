"""Synthetic score frames of TIDE with the contract's columns and dtypes (`score_table`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from scripts.tide.score_table import score_table
from scripts.tide.statistics.matched import Settings
from scripts.tide.tasks import IDENTIFICATION, SETTINGS, TASKS

ABLATION = {"rag-small-3": ("small", 3, False), "rag-dated": ("main", 10, True)}
MAIN = ("main", 10)
#: (model, knowledge, task, item number) to whether the answer is right; None leaves it unscored.
Rule = Callable[[str, str, str, int], bool | None]


@dataclass(frozen=True)
class Design:
    """A run: models and baselines (without thinking), items a task, variants of retrieval."""

    models: Sequence[str] = ("alpha", "beta", "gamma")
    baselines: Sequence[str] = ("floor",)
    items: Mapping[str, int] | int = 8
    variants: Mapping[str, tuple[str, int, bool]] | None = None
    threads: int = 3

    @property
    def runs(self) -> list[tuple[str, str]]:
        return [(name, "non_thinking") for name in (*self.models, *self.baselines)]

    def number(self, task: str) -> int:
        return self.items if isinstance(self.items, int) else self.items.get(task, 0)

    def settings(self, **changes: Any) -> Settings:
        """The settings of the analyses for this run."""
        known: dict[str, Any] = {
            "models": list(self.models),
            "baselines": list(self.baselines),
            "runs": self.runs,
            "main": MAIN,
            "variants": self.variants or {},
            "seed": 11,
            "resamples": 400,
            "level": 0.95,
        }
        return Settings(**{**known, **changes})


def by_chance(seed: int = 0, share: float = 0.5) -> Rule:
    """Right by a draw that depends on nothing but the cell, better with documents."""
    bonus = {"parametric": -0.15, "icl": 0.2}

    def rule(model: str, knowledge: str, task: str, number: int) -> bool:
        key = [seed, *map(ord, f"{model}|{knowledge}|{task}|{number}")]
        return bool(np.random.default_rng(key).random() < share + bonus.get(knowledge, 0.0))

    return rule


def row(
    model: str, knowledge: str, task: str, number: int, correct: bool | None, **changes: Any
) -> dict[str, Any]:
    """One row as a dictionary of the score file's columns, plausible where nothing is said.

    Odd statements are perturbed. Free answers have one gold date; the meaning is right where the
    answer is, the date too, and on every second wrong answer (which earns half a point).
    """
    item = f"{'perturbation_detection' if task == IDENTIFICATION else task}-{number:04d}"
    verdict_task = task in ("perturbation_detection", IDENTIFICATION)
    perturbed = number % 2 == 1 if verdict_task else None
    judged = task == IDENTIFICATION or TASKS[task].judged
    known: dict[str, Any] = {
        "item_id": item,
        "request_id": f"{item}|{knowledge}{'|why' if task == IDENTIFICATION else ''}",
        "question_id": item,
        "thread": f"thread-{number % 3}",
        "model": model,
        "mode": "non_thinking",
        "task": task,
        "knowledge": knowledge,
        "retriever": "main" if knowledge.startswith("rag") else None,
        "depth": 10 if knowledge.startswith("rag") else None,
        "rerank": "none" if knowledge.startswith("rag") else None,
        "valid": correct is not None,
        "category": "not_run" if correct is None else "judged" if judged else "parsed",
        "route": "synthetic",
        "correct": correct,
        "partial": None if correct is None else float(correct),
        "graded": None,
        "gold": "gold",
        "parsed": "parsed",
        "dates": int(judged),
        "dates_matched": None,
        "contradicting": None,
        "meaning": None,
        "uncertain": None,
        "seats": None,
        "flagged": False,
        "perturbed": perturbed,
        "verdict": None,
        **dict.fromkeys(
            (
                *("followed_context", "authoritative", "conflict_acknowledged", "blended"),
                *("localized", "correction_correct", "completion_tokens", "reasoning_tokens"),
            )
        ),
    }
    if correct is not None:
        known |= _found(task, number, correct, judged)
    return {**known, **changes}


def _found(task: str, number: int, correct: bool, judged: bool) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if task == "event_sorting":
        found["graded"] = 1.0 if correct else 0.5
    if task == "perturbation_detection":
        found["verdict"] = "INCORRECT" if (number % 2 == 1) == correct else "CORRECT"
    if judged:
        dated = correct or number % 2 == 0
        found |= {
            "partial": 1.0 if correct else 0.5 * dated,
            "dates_matched": int(dated),
            "contradicting": not dated,
            "meaning": correct,
            "uncertain": False,
            "seats": 3,
        }
    if task == "context_misalignment":
        found |= {
            "followed_context": not correct,
            "authoritative": correct,
            "conflict_acknowledged": correct and number % 2 == 0,
            "blended": False,
        }
    return found


def rows(design: Design, rule: Rule) -> list[dict[str, Any]]:
    """Every row of the design; a second step for perturbed statements, right as the rule says."""
    out = []
    for model, _ in design.runs:
        variants = design.variants or {} if model in design.models else {}
        for knowledge in (*SETTINGS, *variants):
            for task in TASKS:
                for number in range(design.number(task)):
                    correct = rule(model, knowledge, task, number)
                    out.append(row(model, knowledge, task, number, correct))
                    if task == "perturbation_detection" and number % 2 == 1:
                        out.append(_second(model, knowledge, number, correct, rule))
    return out


def _second(
    model: str, knowledge: str, number: int, flagged: bool | None, rule: Rule
) -> dict[str, Any]:
    if flagged:
        named = rule(model, knowledge, IDENTIFICATION, number)
        return row(model, knowledge, IDENTIFICATION, number, named)
    first = row(model, knowledge, IDENTIFICATION, number, flagged)
    if flagged is None:
        return first
    nothing = dict.fromkeys(("dates_matched", "contradicting", "meaning", "uncertain", "seats"))
    return {**first, **nothing, "category": "not_flagged", "valid": False, "partial": 0.0}


def frame(design: Design | None = None, rule: Rule | None = None) -> pd.DataFrame:
    """The score frame of a design; answers by chance unless a rule says more."""
    return score_table(rows(design or Design(), rule or by_chance()))
