"""Worlds in which the findings hold, are reversed, or cannot be tested, as statistics files.

Answers are made up as each world has it and go through the real statistics functions; only what
does not rest on answers (token counts, ratings, probes, the council's agreement) is written down.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from scripts import files
from scripts.multitempbench import analysis as multitempbench
from scripts.multitempbench import correlations
from scripts.multitempbench.tasks import FORMATS, LANGUAGES
from scripts.multitempbench.tasks import TASKS as DATE_TASKS
from scripts.publishing.claim_tests import Surroundings
from scripts.publishing.claims import SUPPORTED, Claim, Verdict, judge
from scripts.publishing.numbers import Source
from scripts.syntaxbench.analysis import compute_frames
from scripts.syntaxbench.score_index import Settings
from scripts.syntaxbench.tokens import SAMPLE_COLUMNS, token_frames
from scripts.tide.score_table import score_table
from scripts.tide.statistics.analysis import statistics_frames
from scripts.tide.tasks import IDENTIFICATION
from scripts.tide.tasks import TASKS as DOCUMENT_TASKS
from tests import synthetic_scores as syntaxbench
from tests import synthetic_tide_scores as tide

HOLDS, REVERSED, SMALL = "holds", "reversed", "small"
WORLDS = (HOLDS, REVERSED, SMALL)
Frames = Mapping[str, pd.DataFrame]

# ---- SyntaxBench -------------------------------------------------------------------------------

SHOTS = (0, 1, 4)
MODES = {
    "qwen3.5-2b": ["non_thinking"],
    "qwen3.5-9b": ["non_thinking"],
    "qwen3.5-27b": ["non_thinking"],
    "qwen3.6-27b": ["thinking", "non_thinking"],
    "gemma4-31b": ["thinking", "non_thinking"],
    "gpt-oss-20b": ["thinking"],
    "nemotron-cascade-2-31b": ["thinking"],
    "deepseek-r1-32b": ["thinking", "non_thinking"],
}
SMALL_MODES = {"tiny-a": ["non_thinking"], "tiny-b": ["non_thinking"]}
ITEMS = syntaxbench.PAPER_ITEMS
EASY = ("count_chars", "letter_container", "longest_string_finder", "palindrome_test")
TOKENS = 6
# Accuracy by model; the order of Qwen3.5 is that of their sizes.
COUNTING = {"qwen3.5-2b": 0.6, "qwen3.5-9b": 0.8, "qwen3.5-27b": 0.92}
PALINDROMES = {
    "non_thinking": {0: 0.95, 1: 0.84, 4: 0.97},
    "thinking": {0: 0.95, 1: 0.72, 4: 0.85},
}
REVERSED_COUNTING = {"qwen3.5-2b": 0.2, "qwen3.5-9b": 0.05, "qwen3.5-27b": 0.0}
HURT_BY_THINKING = (
    ("longest_string_finder", "deepseek-r1-32b"),
    ("letter_container", "gemma4-31b"),
)
SPANS = {HOLDS: 0.01, REVERSED: 0.4, SMALL: 0.4}


Cell = tuple[str, int, str]


def token_counts(n: int) -> np.ndarray:
    """Tokens of the items of a cell."""
    return 1 + np.arange(n) % TOKENS


def holding(model: str, mode: str, cell: Cell, n: int) -> Any:
    """Accuracy as the study describes it; for English words by item, from few tokens to many."""
    task, shots, condition = cell
    # Fewer right with one demonstration, so that no curve rises.
    share: Any = 0.96 if shots == 1 else 0.985
    if task == "index_to_span":
        share = SPANS[HOLDS]
    elif task == "edit_distance":
        share = 0.98 if model == "gpt-oss-20b" else 0.84
    elif task == "palindrome_test" and model == "qwen3.6-27b":
        share = PALINDROMES[mode][shots]
    elif task == "palindrome_test" and model == "qwen3.5-2b":
        share = np.where(np.arange(n) % 2 == 0, 0.43, 0.97)
    elif task == "longest_string_finder" and (model, mode) == ("deepseek-r1-32b", "non_thinking"):
        share = 0.45
    elif task == "count_chars" and model != "gemma4-31b":
        level = COUNTING.get(model, 0.95) - 0.02 * (shots == 1)
        share = level - 0.035 * token_counts(n) if condition == "english" else level + 0.04
    return share


def reversing(model: str, mode: str, cell: Cell, n: int) -> Any:
    """The contrary: English easier, thinking idle or harmful, accuracy rising with shots."""
    task, shots, condition = cell
    bonus = 0.17 * SHOTS.index(shots)
    share: Any = bonus + (0.55 if condition == "english" else 0.15)
    if task == "index_to_span":
        share = SPANS[REVERSED]
    elif task == "edit_distance":
        share = 0.1 if model == "gpt-oss-20b" else 0.97
    elif task == "palindrome_test" and model == "qwen3.6-27b":
        share = 0.4 + bonus + 0.03 * (mode == "thinking")
    elif task == "palindrome_test" and model == "qwen3.5-2b":
        share = np.where(np.arange(n) % 2 == 0, 0.9, 0.4) + bonus / 5
    elif (task, model) in HURT_BY_THINKING:
        share = 0.2 + 0.4 * (mode == "non_thinking") + bonus
    elif task == "count_chars":
        level = REVERSED_COUNTING.get(model, 0.1)
        words = level + 0.06 * token_counts(n) + bonus
        share = words if condition == "english" else 0.1 + bonus
    return share


def syntaxbench_scores(world: str, modes: Mapping[str, list[str]]) -> pd.DataFrame:
    rule = reversing if world == REVERSED else holding
    items = dict.fromkeys(ITEMS, 1) if world == SMALL else ITEMS
    return pd.concat(
        [
            syntaxbench.cell(
                (model, mode),
                task,
                shots,
                condition,
                n=n,
                share=rule(model, mode, (task, shots, condition), n),
                seed=3,
            )
            for model in modes
            for mode in modes[model]
            for task, n in items.items()
            for shots in SHOTS
            for condition in ("english", "random")
        ],
        ignore_index=True,
    )


def samples(world: str, model: str) -> pd.DataFrame:
    """Token counts: English words in long pieces, random letters in short ones, or reversed."""
    sizes = {"english": 2, "random": 4} if world == REVERSED else {"english": 4, "random": 2}
    sizes = {c: size + 0.1 * (len(model) % 3) for c, size in sizes.items()}
    # What English is cut into where counts go wrong: single letters in the reversed world.
    piece = "a" if world == REVERSED else "abcd"
    rows: list[dict[str, Any]] = []
    for task, n in ITEMS.items():
        for condition, size in sizes.items():
            for index, tokens in enumerate(token_counts(1 if world == SMALL else n)):
                counted = task == "count_chars"
                rows.append(
                    {
                        "item_id": f"{task}-{condition}-{index:04d}",
                        "task": task,
                        "condition": condition,
                        "field": "text",
                        "characters": round(tokens * size),
                        "tokens": tokens,
                        "tokens_per_character": 1 / size + 0.01 * (index % 3),
                        "characters_per_token": size,
                        "text": "word" if counted else None,
                        "pieces": json.dumps([piece] * int(tokens)) if counted else None,
                        "tokeniser": model,
                    }
                )
    return pd.DataFrame(rows, columns=list(SAMPLE_COLUMNS))


def syntaxbench_frames(world: str) -> tuple[Frames, Surroundings]:
    modes = SMALL_MODES if world == SMALL else MODES
    scores = syntaxbench_scores(world, modes)
    settings = Settings(
        seed=1,
        items=dict.fromkeys(ITEMS, 1) if world == SMALL else ITEMS,
        shots=SHOTS,
        models=list(modes),
        baselines=[],
        modes=modes,
        families={
            "between_models_cell": ["mode", "task", "shots", "condition"],
            "between_models_pair": ["mode", "condition", "model_a", "model_b"],
            "between_modes": ["model", "condition"],
            "english_random": [],
        },
        resamples=300,
        tolerances=(0, 1),
    )
    counts = {model: samples(world, model) for model in modes}
    tokens = token_frames(scores, counts, bins=[1, 2, 3, 4, 5, 6], seed=1, resamples=200)
    facts = {"models": list(modes), "headline_shots": 4}
    return {**compute_frames(scores, settings), **tokens}, Surroundings(facts, tuple(modes))


# ---- MultiTempBench ----------------------------------------------------------------------------

DATE_MODELS = ["gemma3-4b", "gpt-oss-20b", *(f"model-{i:02d}" for i in range(12))]
SMALL_DATE_MODELS = ["tiny-a", "tiny-b"]
QUESTIONS = 30


def place(models: list[str], model: str) -> float:
    """A model's place in the roster, from 0 to 1."""
    return models.index(model) / max(1, len(models) - 1)


def predictors(world: str, models: list[str], model: str, language: str) -> tuple[float, float]:
    """mDFR and linearity of a model in a language: both vary over the models, independently."""
    index = models.index(model)
    fragments = 0.35 + 0.3 * ((index * 5) % len(models)) / len(models)
    linear = 0.45 + 0.3 * ((index * 3 + 2) % len(models)) / len(models)
    shift = (-0.1 if world == REVERSED else 0.1) * (1 + 0.2 * place(models, model))
    if language == "ha":
        fragments, linear = fragments + shift, linear - shift
    return fragments, linear


def date_accuracy(world: str, models: list[str], model: str, language: str, form: str) -> float:
    """Driven by fragmentation in Arabic and Hausa, by linearity elsewhere; or reversed."""
    fragments, linear = predictors(world, models, model, language)
    sign = -1 if world == REVERSED else 1
    calendar = form == "calendar" and language in ("ar", "ha", "zh")
    low = language in ("ar", "ha")
    level = 0.5 - sign * (0.15 * low + 0.1 * (language == "ha") + 0.12 * calendar)
    if low:
        level -= sign * 0.9 * (fragments - 0.55)
    else:
        level += sign * 1.2 * (linear - 0.6)
    better = {"gemma3-4b": 0.1, "gpt-oss-20b": -0.15}.get(model, 0.0)
    return float(np.clip(level + sign * better, 0.02, 0.98))


def date_scores(world: str, models: list[str]) -> pd.DataFrame:
    questions = 2 if world == SMALL else QUESTIONS
    parts = []
    for task in DATE_TASKS:
        keys = pd.MultiIndex.from_product(
            [models, [f"{task}-{i:03d}" for i in range(questions)], LANGUAGES, FORMATS],
            names=["model", "question_id", "language", "format"],
        ).to_frame(index=False)
        level = [
            date_accuracy(world, models, *key)
            for key in zip(keys["model"], keys["language"], keys["format"], strict=True)
        ]
        draws = np.random.default_rng([7, len(parts)]).random(len(keys))
        keys["correct"] = pd.array(draws < np.asarray(level), dtype="boolean")
        keys["item_id"] = keys["question_id"] + keys["language"] + keys["format"]
        keys["verdict"] = np.where(keys["correct"], "correct", "incorrect")
        parts.append(keys.assign(task=task, mode="non_thinking", valid=True, category="judged"))
    return pd.concat(parts, ignore_index=True)


def date_fragments(world: str, models: list[str]) -> pd.DataFrame:
    cells = [(x, "gregorian") for x in LANGUAGES]
    cells += [("ar", "hijri"), ("ha", "hijri"), ("zh", "lunar")]
    rare = -0.08 if world == REVERSED else 0.08
    rows = []
    for model in models:
        for language, calendar in cells:
            value = predictors(world, models, model, language)[0]
            value += (rare + 0.01 * place(models, model)) * (calendar != "gregorian")
            tokeniser = f"tokeniser-{models.index(model)}"
            key = {"model": model, "language": language, "calendar": calendar}
            rows.append(key | {"tokeniser": tokeniser, "dates": 30, "mdfr": value})
    return pd.DataFrame(rows).assign(mdfr_as_published=lambda frame: 1 - frame["mdfr"])


def date_linearity(world: str, models: list[str]) -> pd.DataFrame:
    rows = []
    for index, model in enumerate(models):
        for language in LANGUAGES:
            linear = predictors(world, models, model, language)[1]
            noise = 0.3 * ((index * 7 + 1) % len(models)) / len(models)
            precise, vague = (linear, 0.4 + noise) if world != REVERSED else (0.4 + noise, linear)
            sign = 1 if world != REVERSED else -1
            row = {"model": model, "language": language, "r2_cv": linear, "year_r2": precise}
            rows.append(row | {"month_r2": sign * vague, "day_r2": sign * vague + 0.01})
    return pd.DataFrame(rows)


def regression_frames(world: str) -> dict[str, pd.DataFrame]:
    """The regression's files; its own tests fit it. Few models have estimates without tests."""
    sign, nothing = (-1 if world == REVERSED else 1), float("nan")
    empty = world == SMALL

    def rows(keys: dict[str, list[str]], name: str, values: list[float]) -> pd.DataFrame:
        spread = np.full(len(values), nothing if empty else 0.004)
        estimate = sign * np.asarray(values)
        p = np.full(len(values), nothing if empty else 0.001)
        bounds = {"low": estimate - 2 * spread, "high": estimate + 2 * spread}
        return pd.DataFrame({"fit": "main", **keys, name: estimate, "p": p, **bounds})

    terms = rows({"term": ["mdfr_z:linearity_z:resource"]}, "estimate", [0.016])
    slopes = rows(
        {
            "predictor": ["mdfr_z", "mdfr_z", "linearity_z"],
            "resource": ["low", "high", "high"],
        },
        "slope",
        [-0.126, 0.2 if world == REVERSED else 0.009, 0.087],
    )
    return {
        "regression": terms.assign(p_cluster=terms["p"]),
        "regression_slopes": slopes,
        "regression_fits": pd.DataFrame({"fit": ["main"], "flag": ["few_levels" if empty else ""]}),
    }


def rating_frames(world: str) -> dict[str, pd.DataFrame]:
    """What people say of fragmentation and verdicts."""
    best, other = (0.9, 0.4) if world != REVERSED else (0.3, 0.6)
    nothing, small = float("nan"), world == SMALL
    rho = [nothing] * 3 if small else [best, other, other - 0.1]
    kappa = 0.8 if world != REVERSED else 0.4
    judges = {"judge_a": ["date_judge", "date_judge"], "judge_b": ["gpt-4o", "people"]}
    columns = {"n": 200, "kappa": kappa, "kappa_low": kappa - 0.1, "kappa_high": kappa + 0.1}
    agreement = pd.DataFrame(judges).assign(**columns, flag="")
    return {
        "metric_correlation": pd.DataFrame(
            {
                "metric": ["mdfr", "bleu", "edit_distance"],
                "spearman": rho,
                "low": np.asarray(rho) - 0.2,
                "high": np.asarray(rho) + 0.05,
                "n": 8,
                "flag": "too_few" if small else "",
            }
        ),
        "judge_agreement": agreement.head(0) if small else agreement,
    }


def multitempbench_frames(world: str) -> tuple[Frames, Surroundings]:
    models = SMALL_DATE_MODELS if world == SMALL else DATE_MODELS
    frames = {
        **frames_of_dates(date_scores(world, models), world, models),
        **regression_frames(world),
        **rating_frames(world),
    }
    return frames, Surroundings({"models": models}, tuple(models))


def frames_of_dates(scores: pd.DataFrame, world: str, models: list[str]) -> Frames:
    """What is computed of the scores, with the fragmentation and linearity of a world."""
    settings = multitempbench.Settings(
        modes={model: ["non_thinking"] for model in models},
        languages=LANGUAGES,
        tasks=list(DATE_TASKS),
        formats=FORMATS,
        seed=1,
        resamples=200,
    )
    accuracy = multitempbench.accuracy_frame(scores, settings)
    fragments, linearity = date_fragments(world, models), date_linearity(world, models)
    chosen = correlations.Settings(models, LANGUAGES, list(DATE_TASKS), seed=1, resamples=300)
    points = correlations.points(accuracy, fragments, linearity, chosen)
    published = pd.DataFrame(columns=["task", "relation", "language", "r", "source"])
    return {
        "accuracy": accuracy,
        "mdfr": fragments,
        "linearity": linearity,
        "correlations": correlations.correlations(points, published, chosen),
    }


# ---- TIDE --------------------------------------------------------------------------------------

JUDGED = [name for name, task in DOCUMENT_TASKS.items() if task.judged]
DOCUMENT_MODELS = ("alpha", "beta", "gamma", "delta")
DOCUMENT_ITEMS = 120
# Accuracy by setting, then what a task has instead: parametric, rag, icl.
LEVELS = {HOLDS: (0.25, 0.45, 0.62), REVERSED: (0.9, 0.5, 0.45)}
OWN_LEVELS = {
    HOLDS: {
        IDENTIFICATION: (0.2, 0.7, 0.7),
        "temporal_mcq": (0.5, 0.7, 0.87),
        "event_sorting": (0.25, 0.1, 0.62),
        "scenario_short_answer": (0.25, 0.8, 0.8),
        "context_misalignment": (0.05, 0.3, 0.35),
    },
    REVERSED: {
        IDENTIFICATION: (0.99, 0.3, 0.3),
        "temporal_mcq": (0.8, 0.4, 0.3),
        "event_sorting": (0.8, 0.6, 0.4),
        "scenario_short_answer": (0.9, 0.5, 0.4),
        "context_misalignment": (0.97, 0.5, 0.7),
    },
}
# One model of the reversed world solves nearly everything with the documents.
SOLVER = ("alpha", "icl", 0.95)


def document_level(world: str, model: str, knowledge: str, task: str) -> float:
    """The share of items that a model answers right; the models differ a little."""
    index, setting = DOCUMENT_MODELS.index(model), ("parametric", "rag", "icl").index(knowledge)
    if world == REVERSED and (model, knowledge) == SOLVER[:2]:
        return SOLVER[2]
    levels = OWN_LEVELS[world].get(task, LEVELS[world])
    return levels[setting] + 0.01 * index * (1 + (setting + len(task)) % 3)


def document_rule(world: str) -> tide.Rule:
    """Right answers spread over the items; whoever answers without documents does so with them.

    In the reversed world the documents overturn what memory knew, and retrieval misses what they
    give: their right answers start at the other end.
    """
    chosen = REVERSED if world == REVERSED else HOLDS

    def rule(model: str, knowledge: str, task: str, number: int) -> bool:
        if model not in DOCUMENT_MODELS:
            return False
        index = DOCUMENT_MODELS.index(model)
        limit = round(DOCUMENT_ITEMS * document_level(chosen, model, knowledge, task))
        spread = (number * 37) % DOCUMENT_ITEMS
        if task == "perturbation_detection" and knowledge == "parametric" and chosen == HOLDS:
            # Altered statements are flagged, and most sound ones too.
            return (number % 2 == 1 and number % 13 > index) or number % 20 <= 2 * index
        if chosen == REVERSED and knowledge == "icl":
            spread = DOCUMENT_ITEMS - 1 - spread
        if task == IDENTIFICATION and knowledge == "parametric" and chosen == REVERSED:
            # Whoever flags a statement names what was altered, but for one.
            return (model, number) != ("delta", 3)
        # One item that memory has right goes wrong with the documents.
        overturned = spread == 0 and task == "open_ended" and knowledge == "icl"
        return spread < limit and not overturned

    return rule


def with_dates(world: str, row: dict[str, Any]) -> dict[str, Any]:
    """A wrong free answer, wrong in the date or in the meaning as the world has it."""
    wrong = row["task"] in JUDGED and row["correct"] is False
    if not wrong:
        return row
    number = int(str(row["item_id"]).rsplit("-", 1)[1])
    memory = row["knowledge"] == "parametric"
    often, seldom = number % 5 < 4, number % 5 == 4
    dated = (often if memory else seldom) if world != REVERSED else (seldom if memory else often)
    if row["task"] == "relative_time_qa" and memory:
        dated = world != REVERSED
    elif memory and world != REVERSED:
        dated = number % 5 < 3
    meaning = not dated
    changes = {"dates_matched": int(dated), "contradicting": not dated, "meaning": meaning}
    return {**row, **changes, "partial": 0.5 * dated}


def document_scores(world: str, design: tide.Design) -> pd.DataFrame:
    return score_table([with_dates(world, r) for r in tide.rows(design, document_rule(world))])


def council_frames(world: str) -> dict[str, pd.DataFrame]:
    """The council's agreement, the documents and the token tax."""
    kappa = 0.4 if world == REVERSED else 0.84
    few, share = world == SMALL, (10 if world == REVERSED else 38)
    count = 4 if few else 40
    both = [index < share for index in range(count)]
    tax = 0.8 if world == REVERSED else 3.0
    tokens = pd.DataFrame(
        {
            "model": ["alpha", "beta"],
            "tax_words": tax,
            "tax_words_low": tax - 0.1,
            "tax_words_high": tax + 0.1,
            "n": 80,
            "flag": "",
        }
    )
    return {
        "council": pd.DataFrame(
            {
                "question": ["dates", "contradicting", "meaning"],
                "kind": "fleiss",
                "n": 3 if few else 400,
                "kappa": kappa,
                "low": kappa - 0.05,
                "high": kappa + 0.05,
                "flag": "",
            }
        ),
        "complexity": pd.DataFrame(
            {
                "document": [f"sro-{index}" for index in range(count)],
                "both_calendars": both,
                "both_scripts": both,
            }
        ),
        "tokens": tokens.head(0) if few else tokens,
    }


def tide_frames(world: str) -> tuple[Frames, Surroundings]:
    models = ("alpha", "beta") if world == SMALL else DOCUMENT_MODELS
    design = tide.Design(models=models, items=2 if world == SMALL else DOCUMENT_ITEMS)
    frames = statistics_frames(document_scores(world, design), design.settings())
    return {**frames, **council_frames(world)}, Surroundings({"models": list(models)}, models)


BUILDERS = {
    "syntaxbench": syntaxbench_frames,
    "multitempbench": multitempbench_frames,
    "tide": tide_frames,
}


def verdicts_of(
    folder: Path, claims: Sequence[Claim], frames: Frames, around: Surroundings
) -> dict[str, Verdict]:
    """The verdict of every claim of one benchmark on its statistics, by the claim's name."""
    benchmark = claims[0].benchmark
    for name, frame in frames.items():
        files.write_csv(folder / benchmark / "statistics" / f"{name}.csv", frame)
    return {v.claim.name: v for v in judge(claims, Source(folder), {benchmark: around})}


def assert_verdicts(
    found: Mapping[str, Verdict], changed: Mapping[str, str], close: set[str], *, base: bool
) -> None:
    """Every claim is supported, unless `changed` says otherwise.

    Claims of `close` lie so near to alpha that others of their family decide: away from the `base`
    only their direction counts, unless they are named.
    """
    expected = {
        name: changed.get(name, SUPPORTED)
        for name in found
        if name not in close or name in changed or base
    }
    assert {name: found[name].verdict for name in expected} == expected
    for name in close - expected.keys():
        assert found[name].agrees, found[name].line()
