"""Synthetic MultiTempBench statistics with the columns of docs/architecture.md, seeded."""

from __future__ import annotations

import json
import math
from datetime import date
from typing import Any

import numpy as np
import pandas as pd
from reading_frames import readings

from scripts.dates.formats import calendar_of, write
from scripts.multitempbench.tables.readings import QUESTIONS
from scripts.multitempbench.tasks import FORMATS, LANGUAGE_LABELS, LANGUAGES, TASKS

BASELINES = ("majority", "uniform", "solver")
CELLS = [
    *((language, "gregorian") for language in LANGUAGES),
    ("ar", "hijri"),
    ("ha", "hijri"),
    ("zh", "lunar"),
]
TERMS = (
    "(Intercept)",
    "mdfr_z",
    "linearity_z",
    "resource",
    "mdfr_z:linearity_z",
    "mdfr_z:resource",
    "linearity_z:resource",
    "mdfr_z:linearity_z:resource",
)


def params(kind: str) -> dict[str, Any]:
    """Publication parameters as the rules pass them, for a full or the embedded roster."""
    if kind == "embedded":
        models = {
            "smollm2-135m": ("SmolLM2-135M", ["non_thinking"]),
            "gemma3-270m": ("Gemma 3 270M (base)", ["non_thinking"]),
        }
        questions = 12
    else:
        models = {
            "gpt-4o": ("GPT-4o", ["non_thinking"]),
            "gemma3-4b": ("Gemma 3 4B", ["non_thinking"]),
            "llama3.1-8b": ("Llama 3.1 8B", ["non_thinking"]),
            "phi4-mini": ("Phi-4 Mini", ["non_thinking"]),
            "qwen3-0.6b": ("Qwen3 0.6B", ["non_thinking"]),
            "qwen3-4b": ("Qwen3 4B", ["non_thinking"]),
            "qwen3-14b": ("Qwen3 14B", ["non_thinking"]),
            "mistral-7b": ("Mistral 7B v0.2", ["non_thinking"]),
            "olmo2-7b": ("OLMo 2 7B", ["non_thinking"]),
            "ds-r1-7b": ("DS-R1-Distill-Qwen 7B", ["thinking"]),
            "gpt-oss-20b": ("GPT-OSS-20B", ["thinking"]),
        }
        questions = 250
    roster = {
        key: {"label": label, "modes": modes, "thinking": {"switch": "none"}}
        for key, (label, modes) in models.items()
    }
    for key, label in zip(BASELINES, ("Majority", "Uniform", "Library solver"), strict=True):
        roster[key] = {"label": label, "modes": ["non_thinking"], "thinking": {"switch": "none"}}
    probed = [name for name in models if name != "gpt-4o"]
    return {
        "run": {"kind": "embedded" if kind == "embedded" else "full", "seed": 42},
        "models": roster,
        "multitempbench": {
            "models": list(models),
            "baselines": list(BASELINES),
            "tasks": {task: {"items": questions} for task in TASKS},
            "shots": [0],
            "headline_shots": 0,
            "statistics": {"resamples": 10000, "level": 0.95, "alpha": 0.05},
            "publishing": {
                "variants": 20,
                "languages": {
                    "ar": {"resource": "low", "corpus_gb": 28},
                    "zh": {"resource": "high", "corpus_gb": 47},
                    "en": {"resource": "high", "corpus_gb": 300},
                    "de": {"resource": "high", "corpus_gb": 66},
                    "ha": {"resource": "low", "corpus_gb": 0.3},
                },
                "formats": list(FORMATS),
                "calendars": {"hijri_outside_range": "tabular_civil"},
                "probing": probed,
                "pca": probed[-1] if kind == "embedded" else "qwen3-14b",
                "examples": probed[-1] if kind == "embedded" else "gemma3-4b",
                "judge": "date_judge",
                "permutations": 1000,
                "facts": {"language_count": 5},
            },
        },
    }


def configurations(p: dict[str, Any]) -> list[tuple[str, str]]:
    part = p["multitempbench"]
    return [
        (key, mode)
        for key in (*part["models"], *part["baselines"])
        for mode in p["models"][key]["modes"]
    ]


LEVEL = {"ar": 0.35, "zh": 0.45, "en": 0.55, "de": 0.5, "ha": 0.2}
TOKENISERS = {
    "gpt-4o": "o200k",
    "gpt-oss-20b": "o200k",
    "gemma3-4b": "gemma",
    "gemma3-270m": "gemma",
    "llama3.1-8b": "llama3",
    "phi4-mini": "phi4",
    "mistral-7b": "mistral",
    "olmo2-7b": "olmo",
    "smollm2-135m": "smollm2",
}


def tokeniser(model: str) -> str:
    return TOKENISERS.get(model, "qwen3")


def scores(p: dict[str, Any], *, holes: bool = False) -> pd.DataFrame:
    """scores.parquet with every configured item; `holes` leaves rows unscored and out."""
    generator = np.random.default_rng(11)
    frames = []
    for index, (model, mode) in enumerate(configurations(p)):
        for task, entry in p["multitempbench"]["tasks"].items():
            n = entry["items"]
            hard = np.repeat(generator.normal(0, 0.2, n), len(LANGUAGES) * len(FORMATS))
            frame = pd.MultiIndex.from_product(
                [[f"{task}-{i:04d}" for i in range(n)], LANGUAGES, FORMATS],
                names=["question_id", "language", "format"],
            ).to_frame(index=False)
            level = frame["language"].map(LEVEL) + 0.03 * (index % 5)
            right = generator.random(len(frame)) < np.clip(level + hard, 0.01, 0.99)
            if model == "solver":
                right[:] = True
            frame = frame.assign(model=model, mode=mode, task=task, correct=right, valid=True)
            frame["item_id"] = frame["question_id"] + frame["language"] + frame["format"]
            other = np.where(generator.random(len(frame)) < 0.2, "not_attempted", "incorrect")
            frame["verdict"] = np.where(right, "correct", other)
            # Every second reply without an answer was cut by the token limit.
            cut = (frame["verdict"] == "not_attempted") & (frame.index % 2 == 0)
            frame["category"] = np.where(cut, "truncated", "judged")
            frames.append(frame)
    out = pd.concat(frames, ignore_index=True)
    out["correct"] = out["correct"].astype("boolean")
    if holes:
        first = p["multitempbench"]["models"][0]
        mine = out["model"] == first
        out = out[~(mine & (out["language"] == "ha") & (out["task"] == "relation"))]
        lost = (out["model"] == first) & (out["language"] == "de") & (out["format"] == "iso")
        out.loc[lost, ["correct", "verdict"]] = None
    return out.reset_index(drop=True)


def mdfr(p: dict[str, Any]) -> pd.DataFrame:
    rows = []
    for model in p["multitempbench"]["models"]:
        generator = np.random.default_rng(len(tokeniser(model)) * 7 + ord(tokeniser(model)[0]))
        for language, calendar in CELLS:
            fine = float(generator.uniform(0.3, 0.7)) + (0.1 if calendar != "gregorian" else 0)
            inflation = 1 + 2 * fine
            rows.append(
                {
                    "model": model,
                    "language": language,
                    "calendar": calendar,
                    "tokeniser": tokeniser(model),
                    "dates": 100 if calendar != "gregorian" or language in ("ar", "ha") else 400,
                    "mdfr": fine,
                    "dfr": fine - 0.02,
                    "mdfr_as_published": 0.9 - fine,
                    "split": 1.0,
                    "delimiter": 0.1,
                    "inflation": min(1.0, inflation - 1),
                    "theta": fine,
                    "tokens": 4 * inflation,
                    "baseline_units": 4.0,
                    "token_inflation": inflation,
                    "flag": "",
                }
            )
    frame = pd.DataFrame(rows)
    if "phi4-mini" in set(frame["model"]):
        lost = frame["model"] == "phi4-mini"
        values = [c for c in frame.columns if c not in ("model", "language", "calendar", "flag")]
        frame.loc[lost, values] = None
        frame.loc[lost, "dates"] = 0
        frame.loc[lost, "flag"] = "missing"
    return frame


def mdfr_as_published(p: dict[str, Any]) -> pd.DataFrame:
    columns = [f"{language}_gregorian" for language in LANGUAGES]
    columns += ["zh_lunar", "ar_hijri", "en_hijri", "ha_hijri"]
    rows = []
    for index, model in enumerate(p["multitempbench"]["models"]):
        for place, column in enumerate(columns):
            value = 0.1 + 0.03 * place + 0.01 * index
            rows.append(
                {
                    "model": model,
                    "column": column,
                    "mdfr_as_published": value,
                    "sampling_sd": 0.01,
                    "n": 80,
                    "published": value + 0.005 if index % 2 else math.nan,
                }
            )
    return pd.DataFrame(rows)


EXAMPLES = (
    ("10. Oktober 2034", "de", "DD. Month YYYY", "gregorian", "1|0|.| Oktober| |2|0|3|4", 0.5, 4.2),
    ("٢٧ رجب ١٤٤١ هـ", "ar", "DD Month YYYY هـ", "hijri", "٢|٧| ر|جب|١|٤|٤|١|ه|ـ", 0.6, 5.0),
    ("2034年10月10日", "zh", "YYYY年MM月DD日", "gregorian", "2|0|3|4|年|1|0|月|1|0|日", 0.55, 4.6),
    ("Oktoba 10, 2034", "ha", "Month DD, YYYY", "gregorian", "O|kt|oba|1|0|,|2|0|3|4", 0.78, None),
    ("10 Raj<0xC3>ab", "en", "DD Month YYYY AH", "hijri", "1|0|Raj|<0xC3>|ab", None, 5.0),
)


def fragmentation_examples() -> pd.DataFrame:
    rows = []
    for text, language, form, calendar, pieces, published, rating in EXAMPLES:
        parts = pieces.split("|")
        rows.append(
            {
                "model": "gemma3-4b",
                "string": text,
                "language": language,
                "format": form,
                "calendar": calendar,
                "pieces": json.dumps(parts, ensure_ascii=False),
                "units": json.dumps(text.split(" "), ensure_ascii=False),
                "tokens": len(parts),
                "baseline_units": 4,
                "split": 1,
                "delimiter": 0,
                "inflation": 1.0,
                "theta": 0.6838,
                "mdfr": 0.6419,
                "dfr": 0.6,
                "mdfr_as_published": 0.4992,
                "token_inflation": len(parts) / 4,
                "bleu": 0.2,
                "edit_distance": 0.3,
                "published": published,
                "human_rating": rating,
                "note": "digits of the year were reversed" if language == "ar" else "",
            }
        )
    return pd.DataFrame(rows)


def metric_correlation() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "metric": [
                "mdfr",
                "dfr",
                "bleu",
                "edit_distance",
                "mdfr_as_published",
                "token_inflation",
            ],
            "spearman": [0.6, 0.55, 0.2, math.nan, -0.4, 0.5],
            "low": [0.1, 0.05, -0.5, math.nan, -0.8, -0.1],
            "high": [0.9, 0.85, 0.7, math.nan, 0.3, 0.9],
            "n": [8] * 6,
            "published": [0.89, 0.81, 0.43, 0.29, math.nan, math.nan],
            "flag": ["", "", "", "constant", "", ""],
        }
    )


def weights(*, learned: bool = True) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "component": ["split", "delimiter", "inflation", "theta"],
            "default": [0.2, 0.2, 0.1, 0.5],
            "original_normalised": [0.1818, 0.1818, 0.0909, 0.5455],
            "learned": [0.21, 0.18, 0.1, 0.51] if learned else [math.nan] * 4,
            "se": [0.05, 0.05, 0.04, 0.1] if learned else [math.nan] * 4,
            "published": [0.2015, 0.1932, 0.1053, 0.5],
            "flag": [""] * 4 if learned else ["too_few"] * 4,
        }
    )


def ratings() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "raters": [0],
            "items": [8],
            "krippendorff_alpha": [math.nan],
            "krippendorff_alpha_interval": [math.nan],
            "r2": [0.4],
            "source": ["MultiTempBench Table 8"],
            "flag": ["missing"],
        }
    )


def linearity(p: dict[str, Any]) -> pd.DataFrame:
    generator = np.random.default_rng(5)
    rows = []
    for model in p["multitempbench"]["publishing"]["probing"]:
        for language in LANGUAGES:
            year = float(np.clip(LEVEL[language] + 0.3 + generator.normal(0, 0.15), -0.2, 0.99))
            rows.append(
                {
                    "model": model,
                    "language": language,
                    "layer": 12,
                    "layer_name": "block 12",
                    "r2_cv": year - 0.1,
                    "year_r2": year,
                    "month_r2": year - 0.2,
                    "day_r2": year - 0.3,
                    "null_r2": -0.08,
                    "random_r2": -0.1,
                    "r2_line": year / 2,
                    "r2_released": year / 3,
                    "r2_in_sample": 1.0,
                    "chosen_on": "iso",
                    "flag": "",
                }
            )
    return pd.DataFrame(rows)


def pca(p: dict[str, Any]) -> pd.DataFrame:
    rows = []
    years = range(1990, 2025)
    for model in p["multitempbench"]["publishing"]["probing"]:
        for layer, name in ((0, "embedding"), (7, "block 7"), (14, "block 14"), (27, "block 27")):
            for place, language in enumerate(LANGUAGES):
                for year in years:
                    t = (year - 1990) / 34
                    wave = (1 - layer / 30) * math.sin(9 * t + place)
                    for scope in ("joint", "language"):
                        offset = 3 * place if scope == "joint" else 0
                        rows.append(
                            {
                                "model": model,
                                "scope": scope,
                                "language": language,
                                "layer": layer,
                                "layer_name": name,
                                "year": year,
                                "pc1": t * 4 + offset,
                                "pc2": wave + 0.3 * offset,
                                "explained_1": 0.6,
                                "explained_2": 0.2,
                            }
                        )
    return pd.DataFrame(rows)


FITS = (
    ("main", "REML", "mdfr", ""),
    ("main_ml", "ML", "mdfr", ""),
    ("no_three_way", "ML", "mdfr", ""),
    ("seed_question", "REML", "mdfr", "singular"),
    ("as_published", "REML", "mdfr_as_published", "few_permutations"),
    ("logistic", "Laplace", "mdfr", "not_converged"),
    ("leave_out_ar", "REML", "mdfr", ""),
    ("leave_out_ha", "REML", "mdfr", ""),
)


def regression(*, tested: bool = True) -> dict[str, pd.DataFrame]:
    """The four frames; without `tested` as they are with fewer than five models."""
    rows, fit_rows, variances, slopes = [], [], [], []
    for place, (fit, method, predictor, flag) in enumerate(FITS):
        prefix = "mdfr_as_published_z" if predictor == "mdfr_as_published" else "mdfr_z"
        lost = flag == "not_converged"
        for index, term in enumerate(TERMS[:7] if fit == "no_three_way" else TERMS):
            b = 0.4 - 0.06 * index + 0.01 * place
            inference = {
                "se": 0.02,
                "z": b / 0.02,
                "p": 0.0001 if index < 5 else 0.2,
                "low": b - 0.04,
                "high": b + 0.04,
                "se_cluster": 0.06,
                "p_cluster": 0.03 if index < 3 else 0.4,
                "p_permutation": math.nan if index in (0, 3) or flag else 0.12,
            }
            if lost or not tested:
                inference = dict.fromkeys(inference, math.nan)
            rows.append(
                {
                    "fit": fit,
                    "term": term.replace("mdfr_z", prefix),
                    "estimate": math.nan if lost else b,
                    **inference,
                    "odds_ratio": math.nan,
                }
            )
        flags = ";".join(f for f in (flag, "" if tested else "few_levels") if f)
        test = tested and fit == "main_ml"
        fit_rows.append(
            {
                "fit": fit,
                "method": method,
                "predictor": predictor,
                "n": 285000,
                "questions": 15000,
                "seed_questions": 750,
                "models": 19,
                "tokenisers": 8,
                "tokeniser_languages": 40,
                "model_languages": 95,
                "unscored": 3,
                "left_out": json.dumps({"gpt-4o": "no hidden states"}),
                "log_likelihood": math.nan if lost else -12345.678,
                "residual_sd": math.nan if lost else 0.35,
                "lrt_chi2": 5.3 if test else math.nan,
                "lrt_df": 1 if test else None,
                "lrt_p": 0.021 if test else math.nan,
                "converged": not lost,
                "reason": "the optimiser did not reach an optimum" if lost else "",
                "flag": flags,
            }
        )
        variances += [
            (fit, group, v, math.sqrt(v), n)
            for group, v, n in (
                ("question", 0.04, 15000),
                ("model", 0.03, 19),
                ("Residual", 0.1225, 285000),
            )
        ]
        for name in (prefix, "linearity_z"):
            for resource, b in (("low", -0.12), ("high", 0.03)):
                values = (b, 0.02, b / 0.02, 0.01, b - 0.04, b + 0.04)
                kept = values if tested else (b, *[math.nan] * 5)
                slopes.append((fit, name, resource, *([math.nan] * 6 if lost else kept)))
    columns = ["fit", "predictor", "resource", "slope", "se", "z", "p", "low", "high"]
    return {
        "regression": pd.DataFrame(rows),
        "regression_fits": pd.DataFrame(fit_rows),
        "regression_variances": pd.DataFrame(
            variances, columns=["fit", "group", "variance", "sd", "levels"]
        ),
        "regression_slopes": pd.DataFrame(slopes, columns=columns),
    }


def judge_agreement() -> dict[str, pd.DataFrame]:
    verdicts = ("correct", "incorrect", "not_attempted")
    agreement = pd.DataFrame(
        {
            "judge_a": ["date_judge", "date_judge"],
            "judge_b": ["gpt-4o", "human"],
            "n": [1000, 0],
            "agreement": [0.93, math.nan],
            "kappa": [0.87, math.nan],
            "kappa_low": [0.84, math.nan],
            "kappa_high": [0.9, math.nan],
            "left_out": [3, 250],
            "flag": ["", "missing"],
        }
    )
    confusion = pd.DataFrame(
        [("date_judge", "gpt-4o", a, b, 400 if a == b else 20) for a in verdicts for b in verdicts],
        columns=["judge_a", "judge_b", "verdict_a", "verdict_b", "n"],
    )
    return {"judge_agreement": agreement, "judge_confusion": confusion}


def curation() -> pd.DataFrame:
    steps = (
        ("read", 5995, 0, ""),
        ("full_date", 4495, 1500, "a date without day, month or year"),
        ("gold_audit", 4400, 95, "the source's answer differs from ours"),
        ("sample", 125, 4275, "quota"),
    )
    return pd.DataFrame(
        [
            (source, task, *step)
            for source, task in (
                ("tram_arithmetic", "date_arithmetic"),
                ("test_of_time", "date_arithmetic"),
                ("tram_relation", "relation"),
            )
            for step in steps
        ],
        columns=["source", "task", "step", "kept", "dropped", "reason"],
    )


def dataset() -> pd.DataFrame:
    rows = [
        {
            "task": task,
            "questions": 250,
            "languages": 5,
            "formats": 4,
            "items": 4990,
            "items_expected": 5000,
            "by_source": '{"test_of_time": 125, "tram_arithmetic": 125}',
            "example": "What is the date 9 days after 2023-07-03 & why 100%?",
            "answer": "2023-07-12",
        }
        for task in TASKS
    ]
    whole = {**rows[0], "task": "all", "questions": 750, "items": 14970, "items_expected": 15000}
    return pd.DataFrame([*rows, {**whole, "example": None, "answer": None}])


def tokenisation() -> pd.DataFrame:
    """Token rows of one model: two dates in every language and format."""
    rows = []
    for day in (date(2023, 7, 3), date(2024, 2, 29)):
        for language in LANGUAGES:
            for form in FORMATS:
                text = write(day, language, form).text
                pieces = (
                    [c for c in text if c.strip()] if language in ("ha", "ar") else text.split()
                )
                rows.append(
                    {
                        "language": language,
                        "format": form,
                        "calendar": calendar_of(language, form),
                        "date": day.isoformat(),
                        "text": text,
                        "pieces": json.dumps(pieces, ensure_ascii=False),
                        "units": json.dumps(text.split(), ensure_ascii=False),
                        "tokens": len(pieces),
                        "baseline_units": 3,
                        "mdfr": 0.64 if language == "ha" else 0.3,
                    }
                )
    return pd.DataFrame(rows)


def published_correlations() -> pd.DataFrame:
    return pd.DataFrame(
        [
            ("date_arithmetic", "mdfr_vs_accuracy", LANGUAGE_LABELS["ha"], -0.97, "x"),
            ("temporal_relation", "mdfr_vs_accuracy", LANGUAGE_LABELS["en"], 0.06, "x"),
            ("all_tasks_mean", "linearity_vs_accuracy", LANGUAGE_LABELS["en"], 0.77, "x"),
        ],
        columns=["task", "relation", "language", "r", "source"],
    )


def frames(p: dict[str, Any], *, holes: bool = False) -> dict[str, pd.DataFrame]:
    """All frames of a roster, those of this room computed from the scores."""
    from scripts.multitempbench import analysis, correlations

    part = p["multitempbench"]
    settings = analysis.Settings(
        modes={m: p["models"][m]["modes"] for m in (*part["models"], *part["baselines"])},
        languages=LANGUAGES,
        tasks=list(TASKS),
        formats=FORMATS,
        seed=42,
        resamples=400,
    )
    accuracy = analysis.accuracy_frame(scores(p, holes=holes), settings)
    chosen = correlations.Settings(part["models"], LANGUAGES, list(TASKS), 42, resamples=400)
    fragments, straight = mdfr(p), linearity(p)
    points = correlations.points(accuracy, fragments, straight, chosen)
    return {
        "accuracy": accuracy,
        "dataset": dataset(),
        "mdfr": fragments,
        "mdfr_as_published": mdfr_as_published(p),
        "fragmentation_examples": fragmentation_examples(),
        "metric_correlation": metric_correlation(),
        "weights": weights(),
        "ratings": ratings(),
        "linearity": straight,
        "correlation_points": points,
        "correlations": correlations.correlations(points, published_correlations(), chosen),
        "pca": pca(p),
        "curation": curation(),
        "tokenisation": tokenisation(),
        **regression(tested=len(part["models"]) >= 5),
        **judge_agreement(),
        "readings": readings(QUESTIONS, "ha"),
    }
