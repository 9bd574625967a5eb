"""summary.csv: means over models, and ranges of them, that the paper's text speaks of.

Everything is read off the other statistics files: nothing is computed from scores anew. A mean
weighs every run of a model alike (baselines are none). Ranges are over models, tasks or settings as
their names say; `sd` is that of setting_differences.csv. Document figures are those of all
documents (documents/complexity.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from scripts.statistics.flags import MISSING
from scripts.tide.documents.complexity import summarise
from scripts.tide.statistics.intervals import NAN
from scripts.tide.statistics.matched import ALL, SORTING
from scripts.tide.tasks import SETTINGS, TASKS

Frames = Mapping[str, pd.DataFrame]
#: quantity: what it is; scope: a setting, or a setting and a task, or a document type.
COLUMNS = ("quantity", "knowledge", "task", "value", "runs", "flag")
VERDICTS = ("detection", "specificity", "identification")
#: Strict and partial accuracy, and the share of pairs in order (event sorting).
ACCURACIES = ("strict", "partial", "graded")


def summary_frame(frames: Frames, models: Sequence[str]) -> pd.DataFrame:
    """The rows from `accuracy`, `perturbation`, `setting_differences` and `complexity`."""
    chosen = {
        name: frames[name][frames[name]["model"].isin(list(models))]
        for name in ("accuracy", "perturbation")
    }
    rows = [
        *_verdicts(chosen["perturbation"]),
        *_accuracies(chosen["accuracy"]),
        *_ranges(chosen["accuracy"]),
        *_spreads(frames["setting_differences"]),
        *_documents(frames["complexity"]),
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _row(quantity: str, value: float, runs: int, knowledge: str = "", task: str = "") -> Any:
    flag = MISSING if pd.isna(value) else ""
    return dict(zip(COLUMNS, (quantity, knowledge, task, value, runs, flag), strict=True))


def _verdicts(perturbation: pd.DataFrame) -> Iterator[Any]:
    """Mean rates of verdicts, and of their accuracy, in every setting."""
    right = perturbation["true_positive"] + perturbation["true_negative"]
    rates = perturbation.assign(verdict_accuracy=right / perturbation["n"].where(lambda n: n > 0))
    for knowledge in SETTINGS:
        mine = rates[rates["knowledge"] == knowledge]
        for name in (*VERDICTS, "verdict_accuracy"):
            values = mine[name].dropna()
            yield _row(name, values.mean() if len(values) else NAN, len(values), knowledge)


def _accuracies(accuracy: pd.DataFrame) -> Iterator[Any]:
    """Mean accuracies of every task (`all`: macro) in every setting."""
    for knowledge in SETTINGS:
        for task in (*TASKS, ALL):
            mine = accuracy[(accuracy["knowledge"] == knowledge) & (accuracy["task"] == task)]
            for name in ACCURACIES if task == SORTING else ACCURACIES[:2]:
                values = mine[name].dropna()
                mean = values.mean() if len(values) else NAN
                yield _row(name, mean, len(values), knowledge, task)


def _ranges(accuracy: pd.DataFrame) -> Iterator[Any]:
    """How far tasks, and how far models, lie apart in every setting (partial accuracy)."""
    for knowledge in SETTINGS:
        mine = accuracy[accuracy["knowledge"] == knowledge]
        tasks = mine[mine["task"] != ALL].groupby("task")["partial"].mean().dropna()
        macro = mine.loc[mine["task"] == ALL, "partial"].dropna()
        for name, values in (("task", tasks), ("macro", macro)):
            known = len(values) > 0
            runs = len(macro)
            low, high = (values.min(), values.max()) if known else (NAN, NAN)
            yield _row(f"lowest_{name}", low, runs, knowledge)
            yield _row(f"highest_{name}", high, runs, knowledge)
            yield _row(f"{name}_spread", high - low, runs, knowledge)
    gains = accuracy[accuracy["task"] == ALL].pivot_table(
        index=["model", "mode"], columns="knowledge", values="strict"
    )
    both = {"icl", "rag"} <= set(gains.columns)
    gain = (gains["icl"] - gains["rag"]).dropna() if both else pd.Series(dtype=float)
    yield _row("lowest_icl_minus_rag", gain.min() if len(gain) else NAN, len(gain))
    yield _row("highest_icl_minus_rag", gain.max() if len(gain) else NAN, len(gain))


def _spreads(differences: pd.DataFrame) -> Iterator[Any]:
    """The smallest and the largest standard deviation over models, of tasks and settings."""
    tasks = differences[(differences["task"] != ALL) & (differences["measure"] == "partial")]
    values = tasks[[f"sd_{name}" for name in SETTINGS]].to_numpy(dtype=float).ravel()
    known = values[~pd.isna(values)]
    runs = int(tasks["runs"].max()) if len(tasks) else 0
    for name, value in (
        ("lowest_sd", known.min() if known.size else NAN),
        ("highest_sd", known.max() if known.size else NAN),
    ):
        yield _row(name, float(value), runs)


def _documents(complexity: pd.DataFrame) -> Iterator[Any]:
    """The figures of all documents; `runs` is their number."""
    found = summarise(complexity)
    whole = found[found["document_type"] == ALL].iloc[0]
    for name, value in whole.items():
        if name != "document_type":
            yield _row(f"documents.{name}", float(value), int(whole["documents"]))
