"""How accuracy moves with the number of demonstrations: Kendall's tau-b and a label.

With three shot counts the smallest two-sided p of tau is 1/3, so no p-value is ever given.
Source: Kendall, Biometrika 33 (1945) 239-251 (tau-b); labels: SyntaxBench A.6, with ties as in
its table 10 and figure 7.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy import stats

from scripts.statistics.flags import CONSTANT, MISSING

NAN = float("nan")


class Trend(NamedTuple):
    """tau-b in [-1, 1] (NaN when undefined), trajectory label (empty when undefined), flag."""

    tau: float
    label: str
    flag: str


def trajectory_label(shots: Sequence[int], values: Sequence[float]) -> str:
    """flat, monotone_up, monotone_down, peak_{shot}shot, valley_{shot}shot, or mixed.

    Ties count as monotone: (a, a, b) is monotone_up for b > a. `mixed` needs four shot counts.
    """
    steps = np.sign([later - earlier for earlier, later in pairwise(values)])
    if not steps.any():
        return "flat"
    if (steps >= 0).all():
        return "monotone_up"
    if (steps <= 0).all():
        return "monotone_down"
    for name, series, sign in (("peak", np.argmax(values), 1), ("valley", np.argmin(values), -1)):
        turn = int(series)
        if (sign * steps[:turn] >= 0).all() and (sign * steps[turn:] <= 0).all():
            return f"{name}_{shots[turn]}shot"
    return "mixed"


def shot_trend(shots: Sequence[int], values: Sequence[float]) -> Trend:
    """Kendall's tau-b between shot count and accuracy (counts or proportions), with its label.

    `shots`: strictly increasing (ValueError otherwise). A NaN value, or none, gives flag `missing`;
    a single shot count or equal values give tau NaN and flag `constant`.
    """
    if len(shots) != len(values) or any(b <= a for a, b in pairwise(shots)):
        raise ValueError(f"need increasing shots, one value each; got {shots} and {values}")
    if not values or np.isnan(np.asarray(values, dtype=float)).any():
        return Trend(NAN, "", MISSING)
    label = trajectory_label(shots, values)
    if label == "flat":
        return Trend(NAN, label, CONSTANT)
    return Trend(float(stats.kendalltau(list(shots), list(values)).statistic), label, "")
