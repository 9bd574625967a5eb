"""The path of the years through the hidden states (MultiTempBench, section 4.2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
NAN = float("nan")


@dataclass(frozen=True, slots=True)
class PathShape:
    """Numbers of one path; NaN where the path does not move."""

    mean_segment_cosine: float
    chord_arc_ratio: float
    separability: float


def segments(points: Array) -> Array:
    """Differences of consecutive year states (Equation 3), shape (years - 1, width)."""
    return np.diff(points, axis=0)


def path_direction(points: Array) -> Array:
    """The mean segment (Equation 4).

    It telescopes: the sum of the segments is last - first, so the direction depends on the states
    of the first and last year alone.
    """
    direction: Array = (points[-1] - points[0]) / (len(points) - 1)
    return direction


def cosine(a: Array, b: Array) -> float:
    """Cosine of the angle between two vectors; NaN when one of them is zero."""
    norms = float(np.linalg.norm(a) * np.linalg.norm(b))
    return float(a @ b) / norms if norms > 0 else NAN


def path_shape(points: Array) -> PathShape:
    """Shape of the path of year states (years, width).

    - mean segment cosine: mean cosine between a segment and the path direction (stability);
    - chord/arc ratio: ‖last - first‖ / Σ‖segment‖, 1 for a straight path in one direction;
    - separability: mean of 1 - cosine between the states of consecutive years.

    Segments of length zero have no direction and are left out of the mean cosine.
    """
    steps = segments(points)
    lengths = np.linalg.norm(steps, axis=1)
    arc = float(lengths.sum())
    direction = path_direction(points)
    if arc == 0.0:
        return PathShape(NAN, NAN, 0.0 if np.any(points) else NAN)
    cosines = [cosine(step, direction) for step in steps[lengths > 0]]
    apart = [1.0 - cosine(a, b) for a, b in pairwise(points)]
    return PathShape(
        float(np.mean(cosines)),
        float(np.linalg.norm(points[-1] - points[0])) / arc,
        float(np.mean(apart)),
    )


def direction_similarity(directions: Mapping[str, Array]) -> dict[str, float]:
    """For each language the mean cosine of its path direction with those of the other languages.

    NaN where a language stands alone or no pair has a direction.
    """
    out: dict[str, float] = {}
    for language, direction in directions.items():
        found = [cosine(direction, d) for other, d in directions.items() if other != language]
        found = [value for value in found if not np.isnan(value)]
        out[language] = float(np.mean(found)) if found else NAN
    return out
