"""Statistics at the paper's size: 198 cells, 105,600 scored items, 10,000 resamples, all families.

Run: python -m tests.benchmarks.bench_statistics   (or pytest with -m benchmark -s on this file)

Prints the time of all frames, the time per cell of the accuracy interval against
`scipy.stats.bootstrap` (timed on a sample of cells and extrapolated, as the printout says), and the
largest difference between both in units of the Monte-Carlo standard error.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pandas as pd
import pytest
import yaml
from scipy import stats

from scripts.statistics.bootstrap import proportion_interval
from scripts.statistics.seeding import cell_generator
from scripts.syntaxbench.analysis import compute_frames
from scripts.syntaxbench.score_index import Settings
from tests.synthetic_scores import PAPER_ITEMS, PAPER_RUNS, PAPER_SHOTS, scores_frame

LIMIT_SECONDS = 60.0
LEAST_RATIO = 20.0
SAMPLED_CELLS = 24


def settings() -> Settings:
    config = yaml.safe_load((Path(__file__).parents[2] / "config.yaml").read_text("utf-8"))
    section = config["syntaxbench"]["statistics"]
    names = ("families", "resamples", "level", "alpha", "exact_below", "yates_below")
    return Settings(
        seed=config["run"]["seed"],
        items=PAPER_ITEMS,
        shots=PAPER_SHOTS,
        models=sorted({model for model, _ in PAPER_RUNS}),
        baselines=[],
        **{name: section[name] for name in names},
    )


def scipy_interval(k: int, n: int, resamples: int) -> tuple[float, float]:
    found = stats.bootstrap(
        (np.arange(n) < k,),
        np.mean,
        n_resamples=resamples,
        method="percentile",
        vectorized=True,
        rng=np.random.default_rng(7),
    ).confidence_interval
    return float(found.low), float(found.high)


def difference_in_errors(ours: Any, theirs: Any, k: int, n: int, resamples: int) -> float:
    """Largest bound difference beyond one grid step 1/n, in standard errors of a difference."""
    sd = np.sqrt(k / n * (1 - k / n) / n)
    density = stats.norm.pdf(stats.norm.ppf(0.025)) / sd
    error = np.sqrt(2 * 0.025 * 0.975 / resamples) / density
    return max(max(0.0, abs(a - b) - 1 / n) / error for a, b in zip(ours, theirs, strict=True))


def measure() -> dict[str, float]:
    frame, chosen = scores_frame(PAPER_RUNS, PAPER_ITEMS), settings()
    start, processor = time.perf_counter(), time.process_time()
    frames = compute_frames(frame, chosen)
    whole, whole_processor = time.perf_counter() - start, time.process_time() - processor
    cells: pd.DataFrame = frames["cells"]
    counts = list(zip(cells["correct"].astype(int), cells["n"], strict=True))

    start = time.perf_counter()
    ours = [
        proportion_interval(k, n, chosen.resamples, cell_generator(chosen.seed, i))
        for i, (k, n) in enumerate(counts)
    ]
    per_cell = (time.perf_counter() - start) / len(counts)

    sample = range(0, len(counts), len(counts) // SAMPLED_CELLS)
    start = time.perf_counter()
    theirs = {i: scipy_interval(*counts[i], chosen.resamples) for i in sample}
    scipy_per_cell = (time.perf_counter() - start) / len(sample)
    same = sum(ours[i][end] == pytest.approx(theirs[i][end]) for i in sample for end in (0, 1))
    largest = max(
        difference_in_errors(ours[i], theirs[i], *counts[i], chosen.resamples) for i in sample
    )
    return {
        "rows": len(frame),
        "cells": len(cells) // 3,
        "intervals": len(cells),
        "tests": sum(len(frames[n]) for n in ("mcnemar_models", "mcnemar_modes", "english_random")),
        "families": len(frames["families"]),
        "seconds": whole,
        "processor_seconds": whole_processor,
        "per_cell": per_cell,
        "scipy_per_cell": scipy_per_cell,
        "sampled": len(sample),
        "ratio": scipy_per_cell / per_cell,
        "largest_difference": largest,
        "same_bounds": same,
    }


def report(m: dict[str, float]) -> str:
    return (
        f"{m['rows']:,.0f} rows, {m['cells']:.0f} cells, {m['intervals']:.0f} intervals, "
        f"{m['tests']:.0f} tests in {m['families']:.0f} families: {m['seconds']:.2f} s "
        f"({m['processor_seconds']:.2f} s of processor time; limit {LIMIT_SECONDS:.0f} s)\n"
        f"accuracy interval, 10,000 resamples: ours {1e3 * m['per_cell']:.3f} ms a cell "
        f"(all {m['intervals']:.0f}), scipy.stats.bootstrap {1e3 * m['scipy_per_cell']:.1f} ms "
        f"(mean of {m['sampled']:.0f} sampled cells; extrapolated to all: "
        f"{m['scipy_per_cell'] * m['intervals']:.1f} s against "
        f"{m['per_cell'] * m['intervals']:.2f} s)\n"
        f"ratio {m['ratio']:.0f} (at least {LEAST_RATIO:.0f}); {m['same_bounds']:.0f} of "
        f"{2 * m['sampled']:.0f} bounds are identical, largest difference of a bound "
        f"beyond one grid step: {m['largest_difference']:.2f} Monte-Carlo standard errors"
    )


def check(m: dict[str, float]) -> None:
    assert (m["rows"], m["cells"]) == (105_600, 198)
    assert m["seconds"] <= LIMIT_SECONDS
    assert m["ratio"] >= LEAST_RATIO
    assert m["largest_difference"] <= 4


@pytest.mark.benchmark
def test_statistics_at_the_size_of_the_paper() -> None:
    measured = measure()
    print("\n" + report(measured))
    check(measured)


if __name__ == "__main__":
    result = measure()
    print(report(result))
    check(result)
