"""Synthetic SyntaxBench statistics with the columns of docs/architecture.md, seeded."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from reading_frames import readings
from scipy import stats

from scripts.syntaxbench.reading_words import QUESTIONS

SHOTS = (0, 1, 4)
TASKS = {
    "count_chars": 200,
    "letter_container": 400,
    "palindrome_test": 400,
    "edit_distance": 200,
    "longest_string_finder": 200,
    "index_to_span": 200,
}
LEVEL = {
    "count_chars": 0.9,
    "letter_container": 0.97,
    "palindrome_test": 0.9,
    "edit_distance": 0.4,
    "longest_string_finder": 0.9,
    "index_to_span": 0.01,
}
INTEGER = ("count_chars", "edit_distance")
BINARY = ("letter_container", "palindrome_test")
CONDITIONS = ("english", "random", "all")
BASELINES = ("majority", "uniform", "solver")


def params(kind: str) -> dict[str, Any]:
    """Publication parameters as the rules pass them, for the full or the embedded roster."""
    if kind == "embedded":
        models = {
            "smollm2-135m": ("SmolLM2-135M", ["non_thinking"], "none"),
            "gemma3-270m": ("Gemma 3 270M (base)", ["non_thinking"], "none"),
        }
        items = {task: max(4, n // 17) for task, n in TASKS.items()}
    else:
        both = ["thinking", "non_thinking"]
        models = {
            "qwen3.5-2b": ("Qwen3.5-2B", ["non_thinking"], "chat_template"),
            "qwen3.5-9b": ("Qwen3.5-9B", ["non_thinking"], "chat_template"),
            "qwen3.5-27b": ("Qwen3.5-27B", ["non_thinking"], "chat_template"),
            "qwen3.6-27b": ("Qwen3.6-27B", both, "chat_template"),
            "gemma4-31b": ("Gemma4-31B", both, "chat_template"),
            "gpt-oss-20b": ("GPT-OSS-20B", ["thinking"], "none"),
            "nemotron-cascade-2-31b": ("Nemotron-Cascade-2-31B", ["thinking"], "none"),
            "deepseek-r1-32b": ("DeepSeek-R1-32B", both, "accounting"),
        }
        items = dict(TASKS)
    roster = {
        key: {"label": label, "modes": modes, "thinking": {"switch": switch}}
        for key, (label, modes, switch) in models.items()
    }
    labels = ("Majority", "Uniform", "Library solver")
    for key, label in zip(BASELINES, labels, strict=True):
        roster[key] = {"label": label, "modes": ["non_thinking"], "thinking": {"switch": "none"}}
    return {
        "run": {"kind": "embedded" if kind == "embedded" else "full", "seed": 42},
        "models": roster,
        "syntaxbench": {
            "models": list(models),
            "baselines": list(BASELINES),
            "tasks": {task: {"items": n} for task, n in items.items()},
            "shots": list(SHOTS),
            "headline_shots": 4,
            "statistics": {
                "resamples": 10000,
                "level": 0.95,
                "alpha": 0.05,
                "effect_sizes_shown": 12,
            },
        },
    }


def configurations(p: dict[str, Any]) -> list[tuple[str, str]]:
    return [
        (key, mode)
        for key in (*p["syntaxbench"]["models"], *p["syntaxbench"]["baselines"])
        for mode in p["models"][key]["modes"]
    ]


def _accuracy(generator: np.random.Generator, model: str, task: str) -> float:
    if model == "solver":
        return 1.0
    if model in ("majority", "uniform"):
        return 0.5 if task in BINARY else 0.08
    return float(np.clip(LEVEL[task] + generator.normal(0, 0.1), 0.0, 1.0))


def _cell(generator: np.random.Generator, key: tuple[Any, ...], n: int, k: int) -> dict[str, Any]:
    model, mode, task, *_ = key
    row: dict[str, Any] = dict(
        zip(("model", "mode", "task", "shots", "condition"), key, strict=True)
    )
    ema = k / n
    draws = generator.binomial(n, ema, 400) / n
    errors = 0.0 if model in BASELINES else float(np.clip(generator.normal(0.01, 0.03), 0, 0.4))
    blank = round(errors / 2, 4)
    kappa = 2 * ema - 1 if task in BINARY else ema
    row |= {
        "n": n,
        "n_expected": n,
        "complete": True,
        "correct": k,
        "ema": ema,
        "ema_low": float(np.quantile(draws, 0.025)),
        "ema_high": float(np.quantile(draws, 0.975)),
        "relaxed_accuracy": min(1.0, ema + 0.05) if task in INTEGER else math.nan,
        "parse_error_rate": errors,
        "blank_rate": blank,
        "inference_error_rate": 0.0,
        "truncated_rate": 0.0,
        "unparsable_rate": errors - blank,
        "valid_response_rate": 1 - errors,
        "kappa": kappa,
        "kappa_kind": "linear" if task in INTEGER else "unweighted",
        "kappa_band": "almost_perfect" if kappa >= 0.8 else "moderate",
        "tpr": min(1.0, ema + 0.02) if task in BINARY else math.nan,
        "tnr": max(0.0, ema - 0.02) if task in BINARY else math.nan,
        "mcc": kappa if task in BINARY else math.nan,
        "completion_tokens_mean": 30.0,
        "reasoning_tokens_mean": 900.0 * (1 + generator.random())
        if mode == "thinking" and model != "gpt-oss-20b"
        else math.nan,
        "flag": "",
    }
    tokens = row["reasoning_tokens_mean"]
    row["ema_per_reasoning_token"] = ema / tokens
    integer = task in INTEGER
    for name, value in (("mean", -0.04), ("sd", 0.8), ("median", 0.0), ("p5", -2.15), ("p95", 1.0)):
        row[f"delta_{name}"] = value if integer else math.nan
    row["delta_n"] = round(n * (1 - errors)) if integer else math.nan
    return row


def cells(p: dict[str, Any]) -> pd.DataFrame:
    generator = np.random.default_rng(7)
    rows = []
    for model, mode in configurations(p):
        for task, entry in p["syntaxbench"]["tasks"].items():
            n = entry["items"]
            for shots in SHOTS:
                base = _accuracy(generator, model, task)
                ks = [int(generator.binomial(n, base)) for _ in range(2)]
                for condition, k, size in (
                    ("english", ks[0], n),
                    ("random", ks[1], n),
                    ("all", sum(ks), 2 * n),
                ):
                    rows.append(_cell(generator, (model, mode, task, shots, condition), size, k))
    return pd.DataFrame(rows)


def _pairs(p: dict[str, Any], mode: str) -> list[tuple[str, str]]:
    names = [m for m in p["syntaxbench"]["models"] if mode in p["models"][m]["modes"]]
    return list(combinations(names, 2))


def _mcnemar(b01: int, b10: int) -> tuple[float, float]:
    if b01 + b10 == 0:
        return math.nan, 1.0
    statistic = (abs(b01 - b10) - 1) ** 2 / (b01 + b10)
    return statistic, float(stats.chi2.sf(statistic, 1))


def mcnemar_models(p: dict[str, Any], frame: pd.DataFrame) -> pd.DataFrame:
    index = frame.set_index(["model", "mode", "task", "shots", "condition"])["correct"]
    sizes = frame.set_index(["model", "mode", "task", "shots", "condition"])["n"]
    rows = []
    for mode in ("thinking", "non_thinking"):
        pairs = _pairs(p, mode)
        for task in p["syntaxbench"]["tasks"]:
            for shots in SHOTS:
                for condition in CONDITIONS:
                    for a, b in pairs:
                        ka = int(index[a, mode, task, shots, condition])
                        kb = int(index[b, mode, task, shots, condition])
                        n = int(sizes[a, mode, task, shots, condition])
                        both = max(0, min(ka, kb) - 3, ka + kb - n)
                        b01, b10 = ka - both, kb - both
                        statistic, value = _mcnemar(b01, b10)
                        cell = min(1.0, value * len(pairs))
                        pair = min(1.0, value * len(TASKS) * len(SHOTS))
                        rows.append(
                            {
                                "mode": mode,
                                "task": task,
                                "shots": shots,
                                "condition": condition,
                                "model_a": a,
                                "model_b": b,
                                "n": n,
                                "b01": b01,
                                "b10": b10,
                                "statistic": statistic,
                                "p": value,
                                "odds_ratio": b01 / b10 if b10 else math.nan,
                                "p_exact": math.nan,
                                "family": f"{mode}/{task}/{shots}/{condition}",
                                "p_bonferroni_cell": cell,
                                "q_cell": cell,
                                "significant_cell": cell < 0.05,
                                "p_bonferroni_pair": pair,
                                "q_pair": pair,
                                "significant_pair": pair < 0.05,
                                "flag": "" if b01 + b10 else "no_discordant_pairs",
                            }
                        )
    return pd.DataFrame(rows)


def mcnemar_summary(frame: pd.DataFrame) -> pd.DataFrame:
    columns = ["mode", "model_a", "model_b", "cells", "significant", "wins_a", "wins_b"]
    rows = []
    part = frame[frame["condition"] == "all"]
    for (mode, a, b), group in part.groupby(["mode", "model_a", "model_b"], sort=True):
        good = group[group["significant_pair"]]
        wins = int((good["b01"] > good["b10"]).sum())
        rows.append((mode, a, b, len(group), len(good), wins, len(good) - wins))
    return pd.DataFrame(rows, columns=columns)


def mcnemar_modes(p: dict[str, Any], frame: pd.DataFrame) -> pd.DataFrame:
    columns = [
        "model",
        "task",
        "shots",
        "condition",
        "n",
        "b01",
        "b10",
        "statistic",
        "p",
        "odds_ratio",
        "p_exact",
        "delta_ema",
        "delta_low",
        "delta_high",
        "p_bonferroni",
        "q",
        "significant",
        "flag",
    ]
    index = frame.set_index(["model", "mode", "task", "shots", "condition"])
    rows = []
    for model in p["syntaxbench"]["models"]:
        if len(p["models"][model]["modes"]) < 2:
            continue
        for task in p["syntaxbench"]["tasks"]:
            for shots in SHOTS:
                for condition in CONDITIONS:
                    a = index.loc[(model, "non_thinking", task, shots, condition)]
                    b = index.loc[(model, "thinking", task, shots, condition)]
                    both = min(a["correct"], b["correct"]) - 2
                    both = max(0, both, a["correct"] + b["correct"] - a["n"])
                    b01, b10 = int(a["correct"] - both), int(b["correct"] - both)
                    statistic, value = _mcnemar(b01, b10)
                    delta = a["ema"] - b["ema"]
                    corrected = min(1.0, value * 18)
                    rows.append(
                        (
                            model,
                            task,
                            shots,
                            condition,
                            a["n"],
                            b01,
                            b10,
                            statistic,
                            value,
                            b01 / b10 if b10 else math.inf,
                            math.nan,
                            delta,
                            delta - 0.03,
                            delta + 0.03,
                            corrected,
                            corrected,
                            corrected < 0.05,
                            "",
                        )
                    )
    return pd.DataFrame(rows, columns=columns)


def english_random(p: dict[str, Any], frame: pd.DataFrame) -> pd.DataFrame:
    keys = ["model", "mode", "task", "shots"]
    rows = []
    for key, group in frame.groupby(keys, sort=True):
        part = group.set_index("condition")
        e, r = part.loc["english"], part.loc["random"]
        gap = e["ema"] - r["ema"]
        pooled = (e["ema"] + r["ema"]) / 2
        flag = "" if 0 < pooled < 1 else "zero_margin"
        chi2 = math.nan if flag else gap**2 * e["n"] / (2 * pooled * (1 - pooled))
        value = math.nan if flag else float(stats.chi2.sf(chi2, 1))
        rows.append(
            {
                **dict(zip(keys, key, strict=True)),
                "n_english": e["n"],
                "n_random": r["n"],
                "ema_english": e["ema"],
                "ema_random": r["ema"],
                "gap": gap,
                "chi2": chi2,
                "p": value,
                "yates": False,
                "cramers_v": math.nan if flag else math.sqrt(chi2 / (2 * e["n"])),
                "point_biserial": math.nan
                if flag
                else -gap / (2 * math.sqrt(pooled * (1 - pooled))),
                "family_size": 198,
                "p_bonferroni": value if flag else min(1.0, value * 198),
                "q": value,
                "significant": (not flag) and value * 198 < 0.05,
                "flag": flag,
            }
        )
    return pd.DataFrame(rows)


def kendall(frame: pd.DataFrame) -> pd.DataFrame:
    rows = []
    for key, group in frame.groupby(["model", "mode", "task", "condition"], sort=True):
        values = group.sort_values("shots")["ema"].tolist()
        if len(values) < len(SHOTS):
            lost = {"tau": math.nan, "label": math.nan, "flag": "incomplete"}
            keys = dict(zip(("model", "mode", "task", "condition"), key, strict=True))
            rows.append({**keys, **{f"ema_{s}": math.nan for s in SHOTS}, **lost})
            continue
        flat = len(set(values)) == 1
        label = (
            "flat"
            if flat
            else "monotone_up"
            if values == sorted(values)
            else "monotone_down"
            if values == sorted(values, reverse=True)
            else "peak_1shot"
            if values[1] == max(values)
            else "valley_1shot"
        )
        rows.append(
            {
                **dict(zip(("model", "mode", "task", "condition"), key, strict=True)),
                "tau": math.nan if flat else float(stats.kendalltau(SHOTS, values).statistic),
                "label": label,
                **{f"ema_{s}": v for s, v in zip(SHOTS, values, strict=True)},
                "flag": "constant" if flat else "",
            }
        )
    return pd.DataFrame(rows)


def leaderboard(p: dict[str, Any], frame: pd.DataFrame) -> pd.DataFrame:
    part = frame[frame["condition"] == "all"]
    rows = []
    for (mode, shots), group in part.groupby(["mode", "shots"], sort=True):
        found = []
        for model, mine in group.groupby("model", sort=True):
            whole = mine[mine["complete"]]
            found.append(
                {
                    "mode": mode,
                    "shots": shots,
                    "model": model,
                    "macro_ema": whole["ema"].mean(),
                    "macro_low": whole["ema"].quantile(0.1),
                    "macro_high": whole["ema"].quantile(0.9),
                    "tasks": len(whole),
                    "incomplete_tasks": 6 - len(whole),
                    "valid_response_rate": mine["valid_response_rate"].mean(),
                    "parse_error_rate": mine["parse_error_rate"].mean(),
                }
            )
        found.sort(key=lambda row: -row["macro_ema"])
        rows += [{**row, "rank": i} for i, row in enumerate(found, start=1)]
    return pd.DataFrame(rows)


def effect_sizes(p: dict[str, Any], frame: pd.DataFrame) -> pd.DataFrame:
    columns = ["mode", "shots", "task", "model_a", "model_b", "h", "h_low", "h_high"]
    columns += ["risk_difference", "p", "q", "rank"]
    index = frame.set_index(["model", "mode", "task", "shots", "condition"])["ema"]
    rows = []
    for mode in ("thinking", "non_thinking"):
        for task in p["syntaxbench"]["tasks"]:
            for a, b in _pairs(p, mode):
                x, y = index[a, mode, task, 4, "all"], index[b, mode, task, 4, "all"]
                h = 2 * math.asin(math.sqrt(x)) - 2 * math.asin(math.sqrt(y))
                rows.append((mode, 4, task, a, b, h, h - 0.1, h + 0.1, x - y, 0.0, 0.0, 0))
    out = pd.DataFrame(rows, columns=columns)
    if len(out):
        out["rank"] = out.groupby("mode")["h"].transform(
            lambda s: s.abs().rank(ascending=False, method="first").astype(int)
        )
    return out


def tolerance(p: dict[str, Any], frame: pd.DataFrame) -> pd.DataFrame:
    rows = []
    for row in frame[frame["task"].isin(INTEGER)].to_dict("records"):
        for k in range(11):
            value = 1 - (1 - row["ema"]) * math.exp(-k / 2)
            rows.append(
                {
                    **{c: row[c] for c in ("model", "mode", "task", "shots", "condition")},
                    "tolerance": k,
                    "accuracy": value,
                    "n": row["n"],
                }
            )
    return pd.DataFrame(rows)


def tokens_bins(p: dict[str, Any]) -> pd.DataFrame:
    generator = np.random.default_rng(3)
    rows = []
    for model in p["syntaxbench"]["models"]:
        for mode in p["models"][model]["modes"]:
            for condition in ("english", "random"):
                for position, token_bin in enumerate(("1", "2", "3", "4", "5", "6+")):
                    n = int(generator.integers(0, 60))
                    k = int(generator.binomial(n, 0.95 - 0.08 * position)) if n else 0
                    rows.append(
                        {
                            "model": model,
                            "mode": mode,
                            "task": "count_chars",
                            "condition": condition,
                            "token_bin": token_bin,
                            "n": n,
                            "correct": k,
                            "ema": k / n if n else math.nan,
                            "ema_low": k / n - 0.05 if n else math.nan,
                            "ema_high": k / n + 0.05 if n else math.nan,
                        }
                    )
    return pd.DataFrame(rows)


def tokens_headline() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "condition": ["english", "random"],
            "n": [8000, 8000],
            "tokens_per_character": [0.344, 0.542],
            "characters_per_token": [3.169, 1.892],
            "cohens_d": [2.165, 2.165],
            "tokenisers": [5, 5],
        }
    )


def frames(p: dict[str, Any], *, holes: bool = False) -> dict[str, pd.DataFrame]:
    """All statistics of a roster; `holes` adds missing, incomplete and degenerate cells."""
    table = cells(p)
    tests = mcnemar_models(p, table)
    modes = mcnemar_modes(p, table)
    pairs = effect_sizes(p, table)
    gaps = english_random(p, table)
    if holes:
        first = p["syntaxbench"]["models"][0]
        mine = (table["model"] == first) & (table["task"] == "index_to_span")
        mine &= table["shots"] == 4
        table = table[~(mine & (table["condition"] == "random"))].copy()
        whole = mine & (table["condition"] == "all")
        value_columns = [c for c in table.columns if c not in (*table.columns[:5], "flag")]
        table[value_columns] = table[value_columns].astype(object)
        table.loc[whole.reindex(table.index), value_columns] = None
        table.loc[whole.reindex(table.index), "complete"] = False
        table.loc[whole.reindex(table.index), "flag"] = "incomplete"
        for column in value_columns:
            if column not in ("kappa_kind", "kappa_band", "complete"):
                table[column] = table[column].astype(float)
        table["complete"] = table["complete"].astype(bool)
        gaps = gaps[
            ~((gaps["model"] == first) & (gaps["task"] == "index_to_span") & (gaps["shots"] == 4))
        ]
    return {
        "cells": table,
        "leaderboard": leaderboard(p, table),
        "mcnemar_models": tests,
        "mcnemar_summary": mcnemar_summary(tests),
        "mcnemar_modes": modes,
        "english_random": gaps,
        "kendall": kendall(table.dropna(subset=["ema"])),
        "effect_sizes": pairs,
        "tolerance": tolerance(p, table.dropna(subset=["ema"])),
        "tokens_bins": tokens_bins(p),
        "tokens_headline": tokens_headline(),
        "families": pd.DataFrame({"family": ["english_random"], "size": [198], "left_out": ["[]"]}),
        "readings": readings(QUESTIONS, f"{next(iter(p['models']))}|non_thinking|shots=1"),
    }
