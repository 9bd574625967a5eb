"""Synthetic TIDE statistics with the columns of docs/architecture.md, seeded.

Scores are drawn, then put through the analyses of the benchmark itself; what comes from documents
and judges is written down here.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from scripts.judging.council_agreement import compare
from scripts.judging.human_validation import Score, means
from scripts.tide import artefacts
from scripts.tide.construction.verification import COLUMNS as VERIFICATION_COLUMNS
from scripts.tide.documents.complexity import COLUMNS as COMPLEXITY_COLUMNS
from scripts.tide.documents.parsing_report import COLUMNS as PARSING_COLUMNS
from scripts.tide.readings import Weighting, compute_readings
from scripts.tide.retrieval import QUESTION_COLUMNS, summarise
from scripts.tide.score_table import SCORE_DTYPES, score_table
from scripts.tide.statistics import analysis, comparisons
from scripts.tide.statistics.summary import summary_frame
from scripts.tide.statistics.tokens import SAMPLE_COLUMNS, tokens_frame
from scripts.tide.tasks import IDENTIFICATION, SETTINGS, TASKS

BASELINES = {
    "majority": "Majority",
    "uniform": "Uniform",
    "extractive": "Nearest sentence",
    "gold_answer": "Gold answer",
}
FULL = {
    "qwen3.6-35b": "Qwen3.6-35B",
    "gpt-oss-120b": "GPT-OSS-120B",
    "gemma4-31b": "Gemma-4-31B (hosted)",
    "kimi-k2.5": "Kimi-K2.5",
    "glm-4.6": "GLM-4.6",
    "deepseek-v4-flash": "DeepSeek-V4-Flash",
    "gpt-5.2": "GPT-5.2",
    "gemini-3.5-flash": "Gemini-3.5-Flash",
    "claude-sonnet-4.5": "Claude-Sonnet-4.5",
    "mistral-large-3": "Mistral-Large-3",
    "llama-5-70b": "Llama-5-70B-Instruct",
}
EMBEDDED = {"smollm2-135m": "SmolLM2-135M", "gemma3-270m": "Gemma 3 270M (base)"}
EMBEDDERS = {
    "full": {
        "gemini-embedding-2": "gemini-embedding-2",
        "glm-embedding-3": "GLM-Embedding-3",
        "qwen3-embedding-8b": "Qwen3-Embedding-8B",
    },
    "embedded": {"e5-small": "multilingual-e5-small (4 bit)", "minilm": "all-MiniLM-L6-v2"},
}
JUDGES = {
    "full": ["gemini-3.5-flash", "gpt-5.2", "deepseek-v4-flash"],
    "embedded": ["rule_judge", "overlap_judge", "smollm2-135m"],
}
RESAMPLES = 60


def configuration(kind: str, *, both: bool = False) -> dict[str, Any]:
    """A configuration with the keys that the layouts read, of a full or the embedded roster.

    `both` lets the first model answer in both modes.
    """
    full = kind != "embedded"
    labels = FULL if full else EMBEDDED
    mode = "thinking" if full else "non_thinking"
    roster: dict[str, Any] = {}
    for place, (key, label) in enumerate(labels.items()):
        roster[key] = {
            "label": label,
            "access": "proprietary" if key in ("gpt-5.2", "claude-sonnet-4.5") else "open",
            "source": f"provider/{key}",
            "modes": ["thinking", "non_thinking"] if both and place == 0 else [mode],
            "thinking": {"switch": "none"},
        }
        if place % 2 == 0:
            roster[key] |= {"parameters": "120B (5B active)", "revision": "2026-01"}
    roster["glm-4.6" if full else "gemma3-270m"]["knowledge_cutoff"] = "January 2025 (reliable)"
    for key, label in BASELINES.items():
        roster[key] = {"label": label, "modes": ["non_thinking"]}
    embedders = EMBEDDERS["full" if full else "embedded"]
    depths = [5, 10, 15] if full else [1, 3]
    return {
        "run": {"kind": "full" if full else "embedded", "seed": 42},
        "models": roster,
        "embedders": {name: {"label": label} for name, label in embedders.items()},
        "corpora": {"papers": {"label": "customs instruments"}},
        "tide": {
            "models": list(labels),
            "baselines": list(BASELINES),
            "corpus": "papers",
            "modes": ["thinking", "non_thinking"] if both else [mode],
            "construction": {
                "method": "model" if full else "shipped",
                "pairs_per_task": None if full else 2,
                "threshold": 0.9,
            },
            "retrieval": {
                "embedder": next(iter(embedders)),
                "depth": 10 if full else 3,
                "ablation": {
                    "embedders": list(embedders),
                    "depths": depths,
                    "models": None if full else ["gemma3-270m"],
                },
                "date_aware": {"use": True},
            },
            "judging": {"council": JUDGES["full" if full else "embedded"], "date_weight": 0.5},
            "statistics": {"resamples": 10000, "level": 0.95, "alpha": 0.05, "exact_below": 25},
        },
    }


def params(kind: str, *, both: bool = False) -> dict[str, Any]:
    """Publication parameters as the rules pass them."""
    return artefacts.context_params(configuration(kind, both=both))


def runs(config: dict[str, Any]) -> list[tuple[str, str]]:
    """Every (model, mode), baselines last."""
    part = config["tide"]
    return [
        (key, mode)
        for key in (*part["models"], *part["baselines"])
        for mode in config["models"][key]["modes"]
    ]


def variants(config: dict[str, Any]) -> dict[str, tuple[str, int, bool]]:
    """Knowledge of the ablation to embedder, depth and whether dates re-rank."""
    part = config["tide"]["retrieval"]
    main = (part["embedder"], part["depth"])
    found = {
        f"rag-{name}-{depth}": (name, depth, False)
        for name, depth in product(part["ablation"]["embedders"], part["ablation"]["depths"])
        if (name, depth) != main
    }
    return {**found, "rag-dated": (*main, True)}


# ---- scores ------------------------------------------------------------------------------------

BOOST = {"parametric": 0.0, "rag": 0.22, "icl": 0.3}


def scores(config: dict[str, Any], items: int, *, holes: bool = False) -> pd.DataFrame:
    """scores.parquet: every run, setting and task, and the ablation."""
    generator = np.random.default_rng(7)
    part = config["tide"]
    ablated = part["retrieval"]["ablation"]["models"] or part["models"]
    rows: list[dict[str, Any]] = []
    for place, (model, mode) in enumerate(runs(config)):
        knowledge = list(SETTINGS)
        if model in ablated:
            knowledge += list(variants(config))
        for setting, task in product(knowledge, TASKS):
            if holes and model == part["models"][0] and (setting, task) == ("icl", "open_ended"):
                continue
            level = 0.25 + 0.03 * (place % 7) + BOOST.get(setting, 0.2)
            level = 1.0 if model == "gold_answer" else level - 0.05 * list(TASKS).index(task) / 2
            for number in range(items):
                rows += _rows(generator, (model, mode, setting, task), number, level)
    frame = score_table(rows)
    if holes:
        first = (frame["model"] == part["models"][0]) & (frame["task"] == "temporal_mcq")
        lost = first & (frame["item_id"].str.endswith("-0000")) & (frame["knowledge"] == "rag")
        frame.loc[lost, ["correct", "partial"]] = None
        frame.loc[lost, "category"] = "unjudged"
    return frame


def _rows(
    generator: np.random.Generator, cell: tuple[str, str, str, str], number: int, level: float
) -> Iterator[dict[str, Any]]:
    model, mode, setting, task = cell
    row: dict[str, Any] = dict.fromkeys(SCORE_DTYPES)
    right = bool(generator.random() < level)
    row |= {
        "item_id": f"{task}-{number:04d}",
        "request_id": f"{setting}-{task}-{number:04d}",
        "question_id": f"{task}-q{number:04d}",
        "thread": f"thread-{number % 9}",
        "model": model,
        "mode": mode,
        "task": task,
        "knowledge": setting,
        "valid": True,
        "category": "judged" if TASKS[task].judged else "parsed",
        "route": "json",
        "correct": right,
        "partial": float(right),
        "gold": "gold",
        "parsed": "parsed",
        "dates": 0,
        "flagged": False,
    }
    if task == "event_sorting":
        row["graded"] = 1.0 if right else float(np.round(generator.uniform(0.2, 0.9), 2))
    if task == "perturbation_detection":
        yield from _perturbation(generator, row, right, number, level)
        return
    if TASKS[task].judged:
        row |= _judged(generator, right, number)
    if task == "context_misalignment":
        followed = not right and bool(generator.random() < 0.6)
        row |= {
            "followed_context": followed,
            "authoritative": right,
            "conflict_acknowledged": bool(generator.random() < 0.3),
            "blended": False,
        }
    if row["category"] == "parsed" and not right and generator.random() < 0.2:
        row |= {"category": "truncated", "valid": False, "parsed": None}
    yield row


def _judged(generator: np.random.Generator, right: bool, number: int) -> dict[str, Any]:
    dates = number % 3
    matched = dates if right else int(generator.integers(0, dates + 1))
    meaning = right or (matched < dates and bool(generator.random() < 0.4))
    partial = 1.0 if right else (0.5 * matched / dates if dates else float(meaning))
    return {
        "correct": right,
        "partial": partial,
        "dates": dates,
        "dates_matched": matched,
        "contradicting": False,
        "meaning": meaning,
        "uncertain": bool(generator.random() < 0.1),
        "seats": 3,
    }


def _perturbation(
    generator: np.random.Generator, row: dict[str, Any], right: bool, number: int, level: float
) -> Iterator[dict[str, Any]]:
    perturbed = number % 2 == 0
    called = perturbed if right else not perturbed
    yield row | {"perturbed": perturbed, "verdict": "INCORRECT" if called else "CORRECT"}
    if perturbed:
        named = called and bool(generator.random() < level)
        yield row | {
            "task": IDENTIFICATION,
            "category": "judged" if called else "not_flagged",
            "correct": named,
            "partial": float(named),
            "perturbed": True,
            "localized": named,
            "correction_correct": named,
            "seats": 3 if called else None,
        }


def settings(config: dict[str, Any]) -> analysis.Settings:
    """What the analyses read, with few resamples."""
    part = config["tide"]
    return analysis.Settings(
        models=part["models"],
        baselines=part["baselines"],
        runs=runs(config),
        main=(part["retrieval"]["embedder"], part["retrieval"]["depth"]),
        variants=variants(config),
        seed=1,
        resamples=RESAMPLES,
    )


# ---- documents ---------------------------------------------------------------------------------


def complexity(documents: int) -> pd.DataFrame:
    """Documents of all types; the last has no words."""
    generator = np.random.default_rng(3)
    rows = []
    for number in range(documents):
        kind = ("Act", "Rule", "GO", "SRO")[min(number, 3)] if number < 6 else "SRO"
        words = 0 if number == documents - 1 else int(generator.integers(80, 900))
        english = int(words * generator.uniform(0.05, 0.6))
        bengali = int((words - english) * 0.9)
        values = {
            "document": f"{kind.lower()}-{100 + number}-{2008 + number % 18}",
            "document_type": kind,
            "pages": 1 + number % 4,
            "words": words,
            "english_words": english,
            "bengali_words": bengali,
            "english_letters": 5 * english,
            "bengali_letters": 6 * bengali,
            "bengali_digits": words // 6,
            "ascii_digits": words // 9,
            "both_scripts": words > 0,
            "bilingual": english > 0.05 * (english + bengali) if words else False,
            "both_digits": words > 0,
            "dates_bangla": 1,
            "dates_gregorian": 2,
            "both_calendars": words > 0,
            "section_citations": number % 3,
            "hs_codes": number % 5,
            "tables": number % 2,
            "tariff": number % 5 >= 3,
        }
        rows.append(values)
    return pd.DataFrame(rows, columns=list(COMPLEXITY_COLUMNS))


def parsing(documents: int) -> pd.DataFrame:
    """Two pages a document: read, repaired, listed; the last file cannot be opened."""
    rows = []
    for number in range(documents):
        for page in (1, 2):
            status = ("text", "repaired", "text", "needs_ocr")[(number + page) % 4]
            row = dict.fromkeys(PARSING_COLUMNS)
            engine = ("pdftotext", "pymupdf")[number % 2]
            row |= {"document": f"doc-{number}", "page": page, "engine": engine, "status": status}
            rows.append(row)
    row = dict.fromkeys(PARSING_COLUMNS)
    rows.append(row | {"document": "doc-broken", "status": "failed", "reason": "encrypted"})
    return pd.DataFrame(rows, columns=list(PARSING_COLUMNS))


def fidelity() -> pd.DataFrame:
    """Three engines and the choice on every kind of layer; two kinds are listed, not read."""
    rows = []
    layers = ("actualtext", "visual", "plain", "mojibake", "image")
    for layer, page in product(layers, (1, 2)):
        for place, engine in enumerate(("pymupdf", "pdftotext", "pdfium", "chosen")):
            listed = layer in ("mojibake", "image") and engine == "chosen"
            error = 0.0 if layer == "plain" else 0.05 * place + 0.01 * page
            rows.append(
                {
                    "document": f"doc-{layer}",
                    "page": page,
                    "layer": layer,
                    "engine": engine,
                    "words": 100 * page,
                    "characters": 620 * page,
                    "wer": None if listed else error,
                    "cer": None if listed else error / 4,
                    "cells": 12 if page == 1 and layer != "image" else 0,
                    "cells_right": 11 if page == 1 and layer != "image" else 0,
                    "dates": 3,
                    "dates_right": 0 if listed else 2,
                    "status": "needs_ocr" if listed else ("text" if engine == "chosen" else ""),
                }
            )
    return pd.DataFrame(rows)


BENGALI = "২৭ জ্যৈষ্ঠ, ১৪১৭ বঙ্গাব্দ মোতাবেক ১০ জুন, ২০১০ খ্রিস্টাব্দ"


def two_calendars(places: int) -> pd.DataFrame:
    """Every third place contradicts itself, one cannot be converted."""
    rows = []
    for number in range(places):
        agrees = number % 3 != 1
        rows.append(
            {
                "document": f"sro-{number}-2010",
                "element_id": f"sro-{number}-2010/metadata_3",
                "start": 7,
                "text": BENGALI,
                "bangla": "২৭ জ্যৈষ্ঠ, ১৪১৭ বঙ্গাব্দ",
                "gregorian": "2010-06-10" if agrees else "2010-06-11",
                "converted": None if number == 4 else "2010-06-10",
                "agrees": agrees,
                "note": "" if agrees else "the Bangla date is 2010-06-10, the text says 2010-06-11",
            }
        )
    return pd.DataFrame(rows)


def generation(kind: str) -> pd.DataFrame:
    """Pairs that were kept, that failed a check, and a call without a pair."""
    checks = ("dates", "rates", "numbers", "duplicate", "events", "relative_time")
    rows = []
    for number, (thread, task) in enumerate(product(range(9), TASKS)):
        for index in range(1, 4):
            check = checks[(number + index) % len(checks)] if (number + index) % 5 == 0 else ""
            if kind == "embedded" and not check and index > 1:
                check = "per_task"
            rows.append((f"thread-{thread}", task, index, not check, check, "why" if check else ""))
    rows.append(("thread-0", "open_ended", 0, False, "thin", "nothing to ask"))
    columns = ["thread_id", "task", "index", "kept", "check", "detail"]
    return pd.DataFrame(rows, columns=columns)


def dataset(items: int) -> pd.DataFrame:
    """dataset.csv."""
    rows = []
    for number, task in enumerate((*TASKS, "all")):
        pairs = items * (len(TASKS) if task == "all" else 1)
        rows.append(
            {
                "task": task,
                "pairs": pairs,
                "threads": min(pairs, 9),
                "clusters": min(pairs, 7),
                "clauses": 2 * min(pairs, 20),
                "input_characters": 150.4 + 40 * number,
                "answer_characters": 80.6 + 30 * number,
                "dated": pairs // 2,
                "unread": pairs // 5,
            }
        )
    return pd.DataFrame(rows)


def verification(*, rated: bool) -> pd.DataFrame:
    """verification.csv, with or without ratings."""
    rows = []
    for task in (*TASKS, "all"):
        row: dict[str, Any] = dict.fromkeys(VERIFICATION_COLUMNS) | {"task": task, "n": 0}
        if rated:
            row |= {"n": 24, "three": 0.95, "two": 0.04, "one": 0.01, "mean": 2.94, "kappa": 0.91}
            row |= {"repaired": 2, "replaced": 1, "unrepaired": 0, "flag": ""}
        else:
            row["flag"] = "no_ratings"
        rows.append(row)
    return pd.DataFrame(rows, columns=list(VERIFICATION_COLUMNS))


# ---- retrieval, judges, tokens -----------------------------------------------------------------


def retrieval(config: dict[str, Any], items: int) -> pd.DataFrame:
    """retrieval.csv of every embedder; the date-aware ranking for the main depth."""
    generator = np.random.default_rng(5)
    part = config["tide"]["retrieval"]
    frames = []
    for name in part["ablation"]["embedders"]:
        rankings = [("none", depth) for depth in part["ablation"]["depths"]]
        if name == part["embedder"]:
            rankings.append(("dated", part["depth"]))
        rows = []
        for (rerank, depth), task, number in product(rankings, TASKS, range(items)):
            found = int(generator.random() < 0.3 + 0.04 * depth)
            first = 1 + number % 3 if found else None
            item = f"{task}-{number:04d}"
            rows.append((item, task, rerank, depth, 1 + number % 2, found, first, depth, False))
        frame = pd.DataFrame(rows, columns=list(QUESTION_COLUMNS)).astype({"first_rank": "Int64"})
        frames.append(summarise(frame, name))
    return pd.concat(frames, ignore_index=True)


def council(judges: list[str]) -> pd.DataFrame:
    """council.csv: three judges who mostly agree; on one question they always do."""
    generator = np.random.default_rng(9)
    answers: dict[str, dict[Any, dict[str, Any]]] = {name: {} for name in judges}
    for key in range(40):
        truth = bool(generator.random() < 0.5)
        for name in judges:
            vote = truth if generator.random() < 0.9 else not truth
            answers[name][key] = {
                "date_matches": [{"matched": vote, "span": ""}] * (key % 2),
                "contradicting": not vote,
                "meaning": None if name == judges[0] and key == 3 else vote,
                "uncertain": False,
                "flags": {"followed_context": vote} if key % 4 == 0 else {},
            }
    return compare(answers, resamples=RESAMPLES, level=0.95, seed=1)


def human_validation(*, scored: bool) -> pd.DataFrame:
    """human_validation.csv of two experts, or of none."""
    points = {"verdict": 48.0, "reasoning": 38.5, "clarity": 8.5}
    given = [Score(f"r{n}", rater, points) for rater in ("expert 1", "expert 2") for n in range(3)]
    return means(given if scored else [])


def tokens(config: dict[str, Any]) -> pd.DataFrame:
    """tokens.csv; the last model of the roster has no tokeniser."""
    generator = np.random.default_rng(2)
    samples = {}
    for model in config["tide"]["models"][:-1]:
        rows = []
        for number in range(20):
            words = (int(generator.integers(20, 60)), int(generator.integers(5, 30)))
            counts = {
                "element_id": f"d/clause_{number}",
                "document": "d",
                "tokeniser": f"t-{model}",
            }
            for script, count, cost in zip(("bengali", "english"), words, (5.5, 1.4), strict=True):
                counts[f"{script}_words"] = count
                counts[f"{script}_characters"] = 6 * count
                counts[f"{script}_tokens"] = round(count * cost)
            characters = 6 * sum(words)
            spent = counts["bengali_tokens"] + counts["english_tokens"]
            rows.append(counts | {"characters": characters, "tokens": spent})
        samples[model] = pd.DataFrame(rows, columns=list(SAMPLE_COLUMNS))
    statistics = {"resamples": RESAMPLES, "level": 0.95}
    return tokens_frame(samples, config["tide"]["models"], 1, statistics)


# ---- all of them -------------------------------------------------------------------------------


def score_frames(config: dict[str, Any], frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The statistics that come from the scores."""
    chosen = settings(config)
    compared = comparisons.Settings(chosen.model_runs)
    return {
        **analysis.statistics_frames(frame, chosen),
        "readings": compute_readings(frame, Weighting(0.5, chosen)),
        "mcnemar_settings": comparisons.settings_frame(frame, compared),
        "mcnemar_models": comparisons.models_frame(frame, compared),
    }


def frames(kind: str, *, holes: bool = False, both: bool = False) -> dict[str, pd.DataFrame]:
    """Every statistics file of a full or the embedded roster, by name.

    `holes`: a task that one model did not answer, an unscored row, no ratings, no experts.
    """
    config = configuration(kind, both=both)
    full = kind != "embedded"
    items = 12 if full else 2
    found = score_frames(config, scores(config, items, holes=holes))
    documents = complexity(44 if full else 14)
    summary = summary_frame({**found, "complexity": documents}, config["tide"]["models"])
    return {
        **found,
        "summary": summary,
        "complexity": documents,
        "parsing": parsing(44 if full else 14),
        "fidelity": fidelity(),
        "two_calendars": two_calendars(40 if full else 5),
        "generation": generation(kind),
        "dataset": dataset(items),
        "verification": verification(rated=full and not holes),
        "retrieval": retrieval(config, items),
        "council": council(config["tide"]["judging"]["council"]),
        "human_validation": human_validation(scored=full and not holes),
        "tokens": tokens(config),
    }
