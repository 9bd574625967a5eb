"""The names of TIDE's tables and figures and what each is made from.

Imports nothing heavy: the Snakefile reads it while it parses. A name maps to the frames that its
rule must have as named inputs, files of `results/tide/statistics/`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from scripts.publishing import artefacts
from scripts.publishing.captions import counted, join_words, publication_params
from scripts.tide.tasks import SETTINGS, TASKS

TABLES: dict[str, tuple[str, ...]] = {
    "benchmarks_compared": (),
    "dataset": ("dataset",),
    "main": ("accuracy",),
    "perturbation": ("perturbation",),
    "complexity": ("complexity",),
    "verification_rubric": (),
    "verification": ("verification",),
    "models": (),
    "scoring_rubric": (),
    "human_rubric": (),
    "human_validation": ("human_validation",),
    "query_fields": (),
    "outcomes": ("outcomes",),
    "meaning_vs_date": ("meaning_vs_date",),
    "misalignment": ("misalignment",),
    "setting_differences": ("setting_differences",),
    "strict_gap": ("accuracy",),
    "retrieval_by_task": ("ablation_by_task",),
    "retrieval_by_model": ("ablation_by_model",),
    # Beyond the paper.
    "fidelity": ("fidelity", "parsing"),
    "two_calendars": ("two_calendars",),
    "generation": ("generation",),
    "retrieval": ("retrieval",),
    "council": ("council",),
    "settings_compared": ("mcnemar_settings",),
    "models_compared": ("mcnemar_models",),
    "tokens": ("tokens",),
    "readings": ("readings",),
}

FIGURES: dict[str, tuple[str, ...]] = {
    "construction": ("dataset", "parsing", "generation"),
    "code_mixing": ("complexity",),
    "tasks_by_setting": ("accuracy",),
    "macro_by_model": ("accuracy",),
    "perturbation_confusion_parametric": ("perturbation",),
    "perturbation_confusion_rag": ("perturbation",),
    "perturbation_confusion_icl": ("perturbation",),
}

#: The corpus of fictional instruments that the project ships.
OWN_CORPUS = "embedded_instruments"
# Tables that a rule script of their own makes.
OWN_RULE = ("examples",)


def inputs(kind: str, name: str, folder: str) -> dict[str, str]:
    """The named inputs of a "table" or "figure": frame to path."""
    known = {"table": TABLES, "figure": FIGURES}[kind]
    return {frame: f"{folder}/statistics/{frame}.csv" for frame in known[name]}


def require(kind: str, name: str, frames: Iterable[str]) -> None:
    """Raise DataError unless a "table" or "figure" exists and its frames are at hand."""
    artefacts.require(kind, {"table": TABLES, "figure": FIGURES}[kind], name, frames)


def context_params(config: Mapping[str, Any]) -> dict[str, Any]:
    """The part of the configuration that the layouts of TIDE read, and nothing else.

    A model's modes are those of the benchmark's run. The planned items of a task are the pairs
    asked for; 0 where all are used.
    """
    part, roster = config["tide"], config["models"]
    names = [*part["models"], *part["baselines"]]
    modes = {
        name: [m for m in roster[name]["modes"] if m in part["modes"] or name in part["baselines"]]
        for name in names
    }
    narrowed = {
        **config,
        "models": {**roster, **{n: {**roster[n], "modes": modes[n]} for n in names}},
        "tide": {**part, "shots": [0]},
    }
    retrieval, council = part["retrieval"], part["judging"]["council"]
    ablation = retrieval["ablation"]
    embedders = {
        name: config["embedders"][name]["label"]
        for name in sorted({retrieval["embedder"], *ablation["embedders"]})
    }
    judges = [roster.get(name, {}).get("label", name.replace("_", " ")) for name in council]
    return publication_params(
        narrowed,
        "tide",
        items=dict.fromkeys(TASKS, part["construction"]["pairs_per_task"] or 0),
        options={
            "corpus": config["corpora"][part["corpus"]]["label"],
            "method": part["construction"]["method"],
            "embedders": embedders,
            "embedder": retrieval["embedder"],
            "depth": retrieval["depth"],
            "ablation": {
                "embedders": list(ablation["embedders"]),
                "depths": ablation["depths"],
                "models": ablation.get("models"),
            },
            "exact_below": part["statistics"]["exact_below"],
            "date_aware": retrieval["date_aware"]["use"],
            "council": judges,
            "date_weight": part["judging"]["date_weight"],
            "roster": {
                name: {
                    key: roster[name].get(key)
                    for key in ("access", "parameters", "knowledge_cutoff", "revision", "source")
                }
                for name in part["models"]
            },
            "facts": {
                "task_count": len(TASKS),
                "setting_count": len(SETTINGS),
                "judges_list": join_words(judges),
                "judge_count": len(judges),
                "program_judges": sum(name not in roster for name in council),
                "own_corpus": part["corpus"] == OWN_CORPUS,
                "shipped_pairs": part["construction"]["method"] == "shipped",
                "judges_words": counted(len(judges), "judge"),
                "depth": retrieval["depth"],
                "main_depth": retrieval["depth"],
                "main_embedder": retrieval["embedder"],
                "embedder": embedders[retrieval["embedder"]],
                "date_weight": part["judging"]["date_weight"],
                "alias_threshold": part["construction"]["threshold"],
            },
        },
    )
