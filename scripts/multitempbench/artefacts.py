"""The names of MultiTempBench's tables and figures and what each is made from.

Imports nothing heavy: the Snakefile reads it while it parses. A name maps to the frames that its
rule must have as named inputs; `frame_path` says where a frame lies in `results/multitempbench/`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from scripts.multitempbench.tasks import LANGUAGE_LABELS, LANGUAGES
from scripts.publishing import artefacts
from scripts.publishing.captions import counted, join_words, publication_params

TABLES: dict[str, tuple[str, ...]] = {
    "formats": (),
    "fragmentation_examples": ("fragmentation_examples",),
    "accuracy": ("accuracy",),
    "accuracy_formats": ("accuracy",),
    "accuracy_tasks": ("accuracy",),
    "mdfr": ("mdfr",),
    "mdfr_as_published": ("mdfr_as_published",),
    "dataset": ("dataset",),
    "metric_correlation": ("metric_correlation", "ratings"),
    "weights": ("weights", "ratings"),
    "fragmentation_ratings": ("fragmentation_examples", "ratings"),
    "judge_rubric": (),
    "regression": ("regression", "regression_fits", "regression_variances"),
    "regression_slopes": ("regression_slopes", "regression_fits"),
    "judge_agreement": ("judge_agreement", "judge_confusion"),
    "probes": ("linearity",),
    "correlations": ("correlations",),
    "curation": ("curation",),
    "readings": ("readings",),
}

FIGURES: dict[str, tuple[str, ...]] = {
    "overview": ("accuracy", "pca", "tokenisation"),
    "mdfr_accuracy_arithmetic": ("correlation_points", "correlations"),
    "linearity_accuracy": ("correlation_points", "correlations"),
    "component_linearity": ("correlation_points", "correlations"),
    "regression_summary": ("regression", "regression_fits", "regression_slopes"),
    "mdfr_accuracy_relation": ("correlation_points", "correlations"),
    "mdfr_accuracy_timezone": ("correlation_points", "correlations"),
    "pca_layers": ("pca",),
    "accuracy_by_language": ("accuracy",),
}

# Tables that a rule script of their own makes.
OWN_RULE = ("judge_examples",)


def frame_path(folder: str, frame: str, model: str) -> str:
    """Where a frame lies: the token table of the model of figure 1, or a statistics file."""
    if frame == "tokenisation":
        return f"{folder}/tokenisation/{model}.csv"
    return f"{folder}/statistics/{frame}.csv"


def inputs(kind: str, name: str, folder: str, model: str) -> dict[str, str]:
    """The named inputs of a "table" or "figure": frame to path. `model` is `analyses.pca`."""
    known = {"table": TABLES, "figure": FIGURES}[kind]
    return {frame: frame_path(folder, frame, model) for frame in known[name]}


def require(kind: str, name: str, frames: Iterable[str]) -> None:
    """Raise DataError unless a "table" or "figure" exists and its frames are at hand."""
    artefacts.require(kind, {"table": TABLES, "figure": FIGURES}[kind], name, frames)


def context_params(config: Mapping[str, Any]) -> dict[str, Any]:
    """The part of the configuration that the layouts of MultiTempBench read, and nothing else.

    The planned items of a task are its seed questions: the sum of its quota.
    """
    part = config["multitempbench"]
    languages = [language for language in LANGUAGES if language in part["languages"]]
    labels = [LANGUAGE_LABELS[language] for language in languages]
    return publication_params(
        config,
        "multitempbench",
        items={task: sum(quota.values()) for task, quota in part["quota"].items()},
        options={
            "variants": len(languages) * len(part["formats"]),
            "languages": {language: dict(part["languages"][language]) for language in languages},
            "formats": list(part["formats"]),
            "probing": list(part["analyses"]["probing"]),
            "pca": part["analyses"]["pca"],
            "examples": part["analyses"]["examples"],
            "judge": part["judging"]["primary"],
            "calendars": dict(part["calendars"]),
            "permutations": part["statistics"].get("permutations"),
            "facts": {
                "judges": list(part["judging"]["judges"]),
                "format_count": len(part["formats"]),
                "formats_words": counted(len(part["formats"]), "format"),
                "language_count": len(languages),
                "language_list": join_words(labels),
                "languages_words": counted(len(languages), "language"),
                "probed_count": len(part["analyses"]["probing"]),
            },
        },
    )
