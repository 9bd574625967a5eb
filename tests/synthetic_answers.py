"""Simulated answers of MultiTempBench with known effects, for the tests of the regression."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

LANGUAGES = {
    "ar": {"resource": "low", "corpus_gb": 28},
    "zh": {"resource": "high", "corpus_gb": 47},
    "en": {"resource": "high", "corpus_gb": 300},
    "de": {"resource": "high", "corpus_gb": 66},
    "ha": {"resource": "low", "corpus_gb": 0.3},
}
FORMATS = ("iso", "slash", "long", "calendar")


class Answers(NamedTuple):
    """Scores, item-level fragmentation and linearity, as the regression reads them."""

    scores: pd.DataFrame
    fragmentation: pd.DataFrame
    linearity: pd.DataFrame


def simulate(
    *,
    models: int = 12,
    tokenisers: int = 6,
    questions: int = 30,
    seed: int = 1,
    effect: float = 0.0,
    continuous: bool = False,
) -> Answers:
    """Answers to questions x languages x formats; mDFR lowers them by `effect` per unit.

    Random effects: question sd 0.15, model sd 0.1, model x language sd 0.05.
    """
    generator = np.random.default_rng(seed)
    names = [f"model{m:02d}" for m in range(models)]
    cells = [(q, n, f) for q in range(questions) for n in LANGUAGES for f in FORMATS]
    items = pd.DataFrame(cells, columns=["question", "language", "format"])
    items["item_id"] = [f"item{i:05d}" for i in range(len(items))]
    items["question_id"] = items["question"].map("question{:04d}".format)
    language = items["language"].map(list(LANGUAGES).index).to_numpy()
    form = items["format"].map(FORMATS.index).to_numpy()
    cell = generator.uniform(0.2, 0.7, (tokenisers, len(LANGUAGES)))
    values = cell[:, language] + 0.05 * form + generator.normal(0, 0.02, (tokenisers, len(items)))
    straight = generator.uniform(0.2, 0.9, (models, len(LANGUAGES)))
    tokeniser = np.arange(models) % tokenisers
    level = np.repeat(generator.normal(0, 0.15, questions), len(LANGUAGES) * len(FORMATS))
    level += generator.normal(0, 0.1, len(items))
    eta = 0.5 + level + generator.normal(0, 0.1, models)[:, None]
    eta = eta + generator.normal(0, 0.05, straight.shape)[:, language] - effect * values[tokeniser]
    noise = generator.normal(0, 0.4, eta.shape)
    outcome = eta + noise if continuous else (generator.uniform(size=eta.shape) < eta).astype(float)
    scores = pd.concat(
        [
            items.drop(columns="question").assign(
                model=name, mode="non_thinking", correct=outcome[m]
            )
            for m, name in enumerate(names)
        ],
        ignore_index=True,
    )
    if not continuous:
        scores["correct"] = scores["correct"].astype("boolean")
    fragmentation = pd.concat(
        [
            pd.DataFrame(
                {
                    "model": name,
                    "tokeniser": f"tokeniser{tokeniser[m]}",
                    "item_id": items["item_id"],
                    "mdfr": values[tokeniser[m]],
                    "mdfr_as_published": 0.9 - values[tokeniser[m]] ** 2,
                }
            )
            for m, name in enumerate(names)
        ],
        ignore_index=True,
    )
    linearity = pd.DataFrame(
        [
            {"model": name, "language": code, "r2_cv": straight[m, k]}
            for m, name in enumerate(names)
            for k, code in enumerate(LANGUAGES)
        ]
    )
    return Answers(scores, fragmentation, linearity)
