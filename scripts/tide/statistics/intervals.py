"""Bootstrap intervals of TIDE: items are resampled within their task.

A resample draws as many items of a task as there are, with replacement: one multinomial draw of
how often each item is in it. All models, settings and statistics share the resamples, so that
differences are paired (Efron & Tibshirani, An Introduction to the Bootstrap, 1993, chapters 8 and
13). Where nothing varies, every resample is the sample and a percentile interval would claim
certainty: at 0 and 1 the interval is Wilson's with n = items (JASA 22 (1927) 209-212), between
them there is none (NaN).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scripts.statistics.bootstrap import EMPTY, Interval, percentile_interval
from scripts.statistics.proportions import wilson_interval
from scripts.statistics.seeding import cell_generator

NAN = float("nan")
Floats = NDArray[np.float64]
#: Task to how often every resample has each of its items, shape (resamples, items).
Resamples = Mapping[str, Floats]

#: Sums of thirds in different orders differ by so much at most.
ROUNDING = 1e-12


class Pooled(NamedTuple):
    """A share of answers of several models: `n` answers, the share, and its interval."""

    n: int
    share: float
    interval: Interval


class Counted(NamedTuple):
    """Answers of one task by item, shape (items,) each: how many there are, and how many hit."""

    task: str
    hits: Floats
    base: Floats


@lru_cache(maxsize=16)
def item_counts(seed: int, task: str, items: int, resamples: int) -> Floats:
    """How often every resample has each item of a task, shape (resamples, items); read-only.

    They depend on nothing else, so models, settings and the order of rows share them. Whole numbers
    in double precision: sums of scores are exact, whatever order a machine adds them in. No item:
    no column.
    """
    counts = np.zeros((resamples, items))
    if items:
        generator = cell_generator(seed, "tide", "items", task)
        counts[:] = generator.multinomial(items, np.full(items, 1 / items), size=resamples)
    counts.setflags(write=False)
    return counts


def mean_of(values: Floats) -> float:
    """Mean of what is not NaN; NaN where nothing is."""
    there = values[~np.isnan(values)]
    return float(there.mean()) if there.size else NAN


def mean_draws(values: Floats, counts: Floats) -> Floats:
    """The mean of the values that are not NaN, in every resample; NaN where a resample has none.

    `values`: shape (..., items); `counts`: (resamples, items). Returns (..., resamples).
    """
    there = ~np.isnan(values)
    sums = np.where(there, values, 0.0) @ counts.T
    # Without a gap every row of values has the same denominator.
    number = counts.sum(axis=1) if there.all() else there.astype(float) @ counts.T
    return _quotient(sums, np.broadcast_to(number, sums.shape))


def mean_interval(
    values: Floats, draws: Floats, level: float, units: int | None = None
) -> Interval:
    """Interval of `mean_of` for values in [0, 1], shape (items,); `draws` are its `mean_draws`.

    `units`: n of Wilson's interval where something else than items is drawn.
    """
    there = values[~np.isnan(values)]
    if not there.size:
        return EMPTY
    mean = float(there.mean())
    if mean in (0.0, 1.0):
        return wilson(mean, there.size if units is None else units, level)
    return spread(percentile_interval(draws, level))


def wilson(share: float, n: int, level: float) -> Interval:
    """Wilson's interval of a share of n."""
    low, high = wilson_interval(np.array([share * n]), np.array([float(n)]), level)
    return Interval(float(low[0]), float(high[0]))


def spread(interval: Interval) -> Interval:
    """The interval, or none where it is a point but for rounding: the resampling had no choice."""
    return EMPTY if interval.high - interval.low < ROUNDING else interval


def macro_interval(
    cells: Sequence[tuple[float, Interval]], draws: Sequence[Floats], level: float
) -> Interval:
    """Interval of the unweighted mean of tasks.

    `cells`: every task's mean and interval; `draws`: its resampled means, shape (resamples,). Where
    a task is all right or all wrong, its draws have no spread, and the intervals of the tasks are
    combined instead: mean +- sqrt(sum of squared distances to the bounds) / tasks, for independent
    tasks (MOVER; Zou & Donner, Statistics in Medicine 27 (2008) 1693-1702). None where a task has
    none.
    """
    if not cells:
        return EMPTY
    means = np.array([mean for mean, _ in cells])
    low = np.array([interval.low for _, interval in cells])
    high = np.array([interval.high for _, interval in cells])
    if np.isnan(low).any():
        return EMPTY
    if not np.isin(means, (0.0, 1.0)).any():
        return percentile_interval(np.mean(draws, axis=0), level)
    centre = float(means.mean())
    below = float(np.sqrt(((means - low) ** 2).sum())) / means.size
    above = float(np.sqrt(((high - means) ** 2).sum())) / means.size
    return Interval(max(0.0, centre - below), min(1.0, centre + above))


def pooled_share(parts: Iterable[Counted], resamples: Resamples, level: float) -> Pooled:
    """Share of answers that hit, pooled over tasks and models.

    The unit of resampling is the item with the answers of all models, which are not independent;
    for Wilson's interval n is the number of items with an answer.
    """
    hits = base = 0.0
    units = 0
    hit_draws: Floats | float = 0.0
    base_draws: Floats | float = 0.0
    for part in parts:
        hits, base = hits + float(part.hits.sum()), base + float(part.base.sum())
        units += int((part.base > 0).sum())
        hit_draws = hit_draws + resamples[part.task] @ part.hits
        base_draws = base_draws + resamples[part.task] @ part.base
    if not base:
        return Pooled(0, NAN, EMPTY)
    share = hits / base
    if share in (0.0, 1.0):
        return Pooled(int(base), share, wilson(share, units, level))
    draws = _quotient(np.asarray(hit_draws), np.asarray(base_draws))
    return Pooled(int(base), share, spread(percentile_interval(draws, level)))


def _quotient(top: Floats, bottom: Floats) -> Floats:
    out: Floats = np.divide(top, bottom, out=np.full(top.shape, NAN), where=bottom > 0)
    return out
