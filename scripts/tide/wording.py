"""Names and words that the tables and figures of TIDE share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from scripts.publishing import captions
from scripts.publishing.captions import NON_THINKING, THINKING, Context, ModelInfo
from scripts.publishing.layouts import BASELINES, value_of, why_flagged
from scripts.publishing.tables import Link, is_missing
from scripts.tide.tasks import IDENTIFICATION, TASK_LABELS, TASKS

ALL = "all"
#: The answers that count, in the explorer: without the second step of perturbation detection.
ANSWERS: Link = (("benchmark", "tide"), ("step", "answer"))
WITHOUT_SORTING = "macro_without_sorting"
SORTING = "event_sorting"
#: Tables and figures of a benchmark share one name space of labels in the paper.
PREFIX = "tide_"
#: The settings in the order in which the paper prints them.
SETTINGS = ("parametric", "rag", "icl")
SETTING_LABELS = {"parametric": "Parametric", "rag": "RAG", "icl": "ICL"}
SHORT_SETTINGS = {"parametric": "P", "rag": "RAG", "icl": "ICL"}
SHORT_TASKS = {
    "temporal_mcq": "MCQ",
    "event_sorting": "Sorting",
    "perturbation_detection": "Perturb.",
    "scenario_short_answer": "Scenario",
    "temporal_scenario_short_answer": "Temp. scen.",
    "relative_time_qa": "Rel. time",
    "open_ended": "Open",
    "context_misalignment": "Misalign.",
    ALL: "Macro",
}
SETTING_WORDS = (
    "Parametric: without documents; RAG: with retrieved clauses; ICL: with the gold documents in "
    "full."
)
#: Words for flags that only the files of TIDE have.
FLAGS = {
    "no_ratings": "not rated: no expert rated the pairs of this run",
    "no_scores": "not scored: no expert scored the council of this run",
}
#: What a document page's text layer is made of (docs/corpus.md).
LAYER_LABELS = {
    "actualtext": "Unicode text in logical order",
    "plain": "Unicode text, mostly ASCII",
    "visual": "Unicode text in the order of drawing",
    "mojibake": "Garbled text layer",
    "legacy": "Legacy font without Unicode",
    "image": "Image without text",
}
ENGINE_LABELS = {
    "pymupdf": "PyMuPDF",
    "pdftotext": "pdftotext (Poppler)",
    "pdfium": "pdfium",
    "chosen": "chosen by the pipeline",
}
STATUS_LABELS = {
    "text": "good as read",
    "repaired": "repaired",
    "vision": "read by a vision model",
    "empty": "blank",
    "needs_ocr": "in need of optical character recognition",
    "failed": "not readable",
}
NO_CREDIT = "this task has no partial credit"


def named(name: str) -> str:
    """The name of a table or figure inside the paper; its file keeps the short one."""
    return f"{PREFIX}{name}"


def task_label(task: object) -> str:
    """The printed name of a task, of the second step, or of a mean over tasks."""
    names = {
        **TASK_LABELS,
        ALL: "Macro average",
        WITHOUT_SORTING: f"Macro average without {TASKS[SORTING].label.lower()}",
    }
    return names.get(str(task), str(task).replace("_", " "))


def runs(context: Context, *, baselines: bool = True) -> list[tuple[ModelInfo, str, str]]:
    """Every (model, mode, label) in display order, baselines last.

    A label names the mode where any model of the run thinks and any does not.
    """
    both = context.has_mode(THINKING) and context.has_mode(NON_THINKING)
    out = [
        (
            model,
            mode,
            f"{model.label} [{'T' if mode == THINKING else 'NT'}]" if both else model.label,
        )
        for model in context.models
        for mode in (THINKING, NON_THINKING)
        if mode in model.modes
    ]
    out += [(model, NON_THINKING, model.label) for model in context.baselines if baselines]
    return out


def modes_words(context: Context) -> str:
    """What T and NT stand for, where labels have them."""
    both = context.has_mode(THINKING) and context.has_mode(NON_THINKING)
    return "T: thinking; NT: non-thinking." if both else ""


def block(model: ModelInfo) -> str:
    """The block of a model in a table that has one row a model."""
    return BASELINES if model.baseline else "Models"


def why(row: Mapping[str, Any] | None) -> str:
    """Why a value of a row is missing, flags of TIDE's own included."""
    flag = str(value_of(row, "flag"))
    return next((words for word, words in FLAGS.items() if word in flag), why_flagged(row))


def of_models(frame: pd.DataFrame, context: Context) -> pd.DataFrame:
    """The rows of the run's models, baselines left out."""
    return frame[frame["model"].isin(context.model_keys())]


def sizes(frame: pd.DataFrame, context: Context) -> dict[str, int]:
    """Task to the size of its matched set, from accuracy.csv."""
    mine = of_models(frame, context)
    mine = mine[mine["task"].isin(list(TASKS))]
    return {str(task): int(part["n"].max()) for task, part in mine.groupby("task", sort=False)}


def matched_words(frame: pd.DataFrame, context: Context) -> str:
    """What is compared, and its size, from accuracy.csv."""
    found = sizes(frame, context)
    return (
        "Matched set: the items that every compared model has a score for in all three settings, "
        f"n = {captions.count(sum(found.values()))} ({captions.between(found.values())} a task)."
    )


def lost_words(frame: pd.DataFrame, context: Context) -> str:
    """The models that alone keep items out of the matched set, from accuracy.csv."""
    if "lost" not in frame.columns:
        return ""
    mine = of_models(frame, context)
    # One number a task for every run: the same in all settings.
    counts = mine[mine["task"].isin(list(TASKS))].groupby(["model", "mode", "task"])["lost"].max()
    totals = counts.groupby(["model", "mode"]).sum().to_dict()
    found = [
        f"{label} {captions.count(int(totals[model.key, mode]))}"
        for model, mode, label in runs(context, baselines=False)
        if totals.get((model.key, mode), 0) > 0
    ]
    return f"Items that one model alone keeps out: {', '.join(found)}." if found else ""


def compared(row: Mapping[str, Any] | None, context: Context) -> str:
    """How many models a pooled row is of: `two models`."""
    number = value_of(row, "runs")
    known = len(runs(context, baselines=False)) if is_missing(number) else int(number)
    return captions.counted(known, "model")


def n_words(values: Iterable[object], what: str) -> str:
    """`n = 16 answers`, or a range where the rows differ."""
    numbers = [int(str(value)) for value in values if not is_missing(value)]
    return f"n = {captions.between(numbers)} {what}"


def interval_words(context: Context) -> str:
    """How the intervals were made."""
    return (
        f"Intervals: {captions.level_words(context)} percentile bootstrap over items within tasks "
        f"({captions.count(context.resamples)} resamples, seed {context.seed}); Wilson's where all "
        "answers are right, or none; a macro average with such a task combines the intervals of "
        "its tasks (MOVER)."
    )


def embedder_label(context: Context, name: object) -> str:
    """The printed name of an embedder."""
    return str(context.options["embedders"].get(str(name), name))


def judge_label(context: Context, name: object) -> str:
    """The printed name of a judge."""
    return context.label(str(name)).replace("_", " ")


def order_of(task: object) -> int:
    """The place of a task in the order of every table; means come last."""
    known = [*TASKS, IDENTIFICATION, ALL, WITHOUT_SORTING]
    return known.index(str(task)) if str(task) in known else len(known)
