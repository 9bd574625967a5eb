"""Principal components of the year states of all languages together (the paper's figure 8)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
#: joint: one centre for all languages; language: each language's own centre is taken off first.
SCOPES = ("joint", "language")


@dataclass(frozen=True, slots=True)
class Projection:
    """Coordinates (years, 2) of each language on shared axes, and the variance the axes explain."""

    coordinates: dict[str, Array]
    explained: tuple[float, float]


def layers_shown(last: int) -> list[int]:
    """Layers 0, L/4, L/2, 3L/4 and L of a model with L blocks, rounded down, each once."""
    return sorted({last * quarter // 4 for quarter in range(5)})


def project(points: Mapping[str, Array], scope: str) -> Projection:
    """First two principal components of the year states (years, width) of several languages.

    With scope `joint` the first axis mostly tells the languages apart; with `language` each
    language is centred on its own mean, so that the axes show how the years lie. An axis points to
    where the years grow, so that the signs repeat.
    """
    if scope not in SCOPES:
        raise ValueError(f"scope {scope!r}; there are {', '.join(SCOPES)}")
    own = {
        name: states - states.mean(axis=0) if scope == "language" else states
        for name, states in points.items()
    }
    pooled = np.vstack(list(own.values()))
    centred = pooled - pooled.mean(axis=0)
    left, singular, _ = np.linalg.svd(centred, full_matrices=False)
    scores = left[:, :2] * singular[:2]
    order = np.concatenate(
        [np.arange(len(states)) - (len(states) - 1) / 2 for states in own.values()]
    )
    scores = scores * _signs(scores, order)
    total = float((singular**2).sum())
    shares = (singular[:2] ** 2 / total) if total > 0 else np.zeros(2)
    bounds = np.cumsum([len(states) for states in own.values()])[:-1]
    parts = np.split(scores, bounds)
    return Projection(dict(zip(own, parts, strict=True)), (float(shares[0]), float(shares[1])))


def _signs(scores: Array, order: Array) -> Array:
    """+1 or -1 an axis: scores shall grow with the year; else the largest is positive."""
    trend = order @ scores
    size = np.abs(order) @ np.abs(scores)
    largest = scores[np.abs(scores).argmax(axis=0), np.arange(scores.shape[1])]
    guide = np.where(np.abs(trend) > 1e-9 * size, trend, largest)
    return np.where(guide < 0, -1.0, 1.0)
