"""SyntaxBench in every reading of what its paper leaves open, on counts with known answers."""

from __future__ import annotations

import math
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from scripts.files import read_csv, write_csv, write_parquet
from scripts.statistics.readings import Reading
from scripts.syntaxbench import compute_readings as rule
from scripts.syntaxbench import readings
from scripts.syntaxbench.analysis import compute_frames
from scripts.syntaxbench.reading_words import QUESTIONS
from scripts.syntaxbench.score_index import Settings as AnalysisSettings
from scripts.syntaxbench.scoring import SCORE_DTYPES
from tests.synthetic_scores import scores_frame

MODELS = ("alpha", "beta", "gamma")
RUNS = [*((name, "thinking") for name in MODELS), ("floor", "non_thinking")]
ITEMS = {"count_chars": 20, "letter_container": 20, "palindrome_test": 20}
FAMILIES = {
    "between_models_cell": ["mode", "task", "shots", "condition"],
    "between_models_pair": ["mode", "condition", "model_a", "model_b"],
    "between_modes": ["model", "condition"],
    "english_random": [],
}


def values(found: list[Reading]) -> dict[str, float]:
    """Reading to value; the rows differ in nothing else."""
    assert len({(row.quantity, row.scope) for row in found}) == 1
    return {row.reading: row.value for row in found}


@pytest.fixture(scope="module")
def scores() -> pd.DataFrame:
    return scores_frame(RUNS, ITEMS, shots=(0, 4), seed=4)


@pytest.fixture(scope="module")
def files(scores: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("readings")
    settings = AnalysisSettings(
        seed=42,
        items=ITEMS,
        shots=(0, 4),
        models=MODELS,
        baselines=("floor",),
        families=FAMILIES,
        resamples=500,
    )
    for name, frame in compute_frames(scores, settings).items():
        write_csv(folder / f"{name}.csv", frame)
    write_parquet(folder / "scores.parquet", scores[list(SCORE_DTYPES)])
    return folder


def test_the_rule_computes_every_question_from_the_files(files: Path) -> None:
    paths = {name: str(files / f"{name}.csv") for name in rule.STATISTICS}
    chosen = {"alpha": 0.05, "level": 0.95, "resamples": 500, "yates_below": 5}

    class Names(SimpleNamespace):
        def __getitem__(self, name: str) -> str:
            return str(getattr(self, name))

    snakemake = SimpleNamespace(
        input=Names(scores=str(files / "scores.parquet"), **paths),
        output=SimpleNamespace(readings=str(files / "readings.csv")),
        params=SimpleNamespace(models=MODELS, headline_shots=4, seed=42, statistics=chosen),
    )
    rule.main(snakemake)
    frame = read_csv(files / "readings.csv")
    words = {question.name: question for question in QUESTIONS}
    # Nothing is incomplete here; everything else differs or could.
    assert set(frame["question"]) == set(words) - {"incomplete_cells"}
    for row in frame.to_dict("records"):
        assert row["reading"] in words[row["question"]].readings
        assert row["quantity"] in words[row["question"]].quantities
    assert not frame["scope"].fillna("").str.contains("floor").any(), "a baseline is no model"
    # The first reading is the one of the other files.
    board = read_csv(files / "leaderboard.csv").query("shots == 4").set_index("model")
    macro = frame[(frame["question"] == "macro_interval") & (frame["reading"] == "tasks")]
    for row in macro.to_dict("records"):
        told = board.loc[row["scope"].split("|")[0]]
        assert (row["value"], row["low"], row["high"]) == pytest.approx(
            (told["macro_ema"], told["macro_low"], told["macro_high"])
        )
    tests = read_csv(files / "english_random.csv")
    observed = frame[(frame["question"] == "yates") & (frame["reading"] == "observed")]
    assert observed["value"].item() == (tests["significant"].astype(str) == "True").sum()
    items = frame[(frame["question"] == "macro_interval") & (frame["reading"] == "items")]
    assert (items["low"].to_numpy() <= items["value"].to_numpy()).all()


def test_a_test_is_corrected_over_its_pair_or_its_cell() -> None:
    pairs = pd.DataFrame(
        {
            "mode": "thinking",
            "condition": ["all", "all", "all", "english"],
            "p": [0.001, 0.02, math.nan, 0.001],
            "significant_pair": ["True", "False", None, "True"],
            "significant_cell": ["True", "True", None, "True"],
        }
    )
    found = list(readings.mcnemar_family(pairs))
    assert values(found) == {"pair": 1.0, "cell": 2.0}
    assert {row.n for row in found} == {2}


def test_four_rules_of_continuity_correction() -> None:
    """Two tables: one with an observed count of 3 (expected 5.5), one with counts above 100."""
    tests = pd.DataFrame(
        {
            "n_english": [100, 400],
            "n_random": [100, 400],
            "ema_english": [0.97, 0.72],
            "ema_random": [0.92, 0.9475],
            "p": [0.1, 0.001],
        }
    )
    settings = readings.Settings(("a",), 4, 1, alpha=0.25)
    found = {row.reading: row for row in readings.yates(tests, settings)}
    # Uncorrected p of the first is .121, corrected .213; a family of two asks for .125.
    assert {name: row.value for name, row in found.items()} == {
        "observed": 1.0,
        "expected": 2.0,
        "never": 2.0,
        "always": 1.0,
    }
    assert readings.smallest_expected(97, 100, 92, 100) == pytest.approx(5.5)


def test_kappa_of_a_cell_with_parse_errors_has_three_values() -> None:
    """DeepSeek, palindromes, 4-shot: .700 in print with 14.8 % parse errors (800 items)."""
    right = np.repeat([True, True, False, False, False, False], [340, 340, 1, 1, 59, 59])
    gold = np.repeat(["yes", "no", "yes", "no", "yes", "no"], [340, 340, 1, 1, 59, 59])
    cell = pd.DataFrame(
        {
            "model": "deepseek",
            "mode": "thinking",
            "task": "palindrome_test",
            "shots": 4,
            "gold": gold,
            "correct": right,
            "valid": [True] * 682 + [False] * 118,
        }
    )
    assert f"{100 * (~cell['valid']).mean():.1f}" == "14.8"
    found = list(readings.kappa_parse_errors(cell))
    told = values(found)
    assert told["opposite"] == pytest.approx(0.700)
    assert told["third"] == pytest.approx(0.74, abs=5e-3)
    assert told["dropped"] == pytest.approx(0.994, abs=5e-4)
    assert {row.reading: row.n for row in found} == {"opposite": 800, "dropped": 682, "third": 800}
    assert found[0].scope == "deepseek|thinking|palindrome_test|shots=4"
    # Without a parse error the readings agree, and the cell stays out.
    assert not list(readings.kappa_parse_errors(cell.assign(valid=True)))


def test_a_format_failure_is_wrong_or_left_out() -> None:
    combined = pd.DataFrame(
        {
            "model": "alpha",
            "mode": "thinking",
            "shots": 4,
            "task": ["count_chars", "edit_distance"],
            "ema": [0.5, 0.25],
            "parse_error_rate": [0.0, 0.5],
        }
    )
    scores = pd.DataFrame(
        {
            "model": "alpha",
            "mode": "thinking",
            "shots": 4,
            "task": ["count_chars"] * 4 + ["edit_distance"] * 4,
            "correct": [True, True, False, False, True, False, False, False],
            "valid": [True] * 4 + [True, True, False, False],
        }
    )
    assert values(list(readings.format_failures(combined, scores))) == {
        "wrong": 0.375,
        "valid": 0.5,
    }
    sound = combined.assign(parse_error_rate=0.0)
    assert not list(readings.format_failures(sound, scores))
    # A task without a valid reply has no accuracy of valid replies: it is in neither mean.
    only = scores.assign(valid=scores["task"] == "count_chars")
    assert not list(readings.format_failures(combined, only))


def test_unanswered_items_are_left_out_or_wrong() -> None:
    rows = [
        ("count_chars", "english", 10, 10, 5.0),
        ("count_chars", "random", 10, 10, 5.0),
        ("count_chars", "all", 20, 20, 10.0),
        ("index_to_span", "english", 5, 10, 4.0),
        ("index_to_span", "random", 0, 10, math.nan),
        ("index_to_span", "all", 5, 20, math.nan),
    ]
    headline = pd.DataFrame(rows, columns=["task", "condition", "n", "n_expected", "correct"])
    headline = headline.assign(
        model="alpha", mode="thinking", ema=[0.5, 0.5, 0.5, 0.8, math.nan, math.nan]
    )
    found = list(readings.incomplete_cells(headline))
    assert values(found) == {"left_out": 0.5, "wrong": pytest.approx((0.5 + 4 / 20) / 2)}
    assert [row.n for row in found] == [1, 2]
    assert not list(readings.incomplete_cells(headline[headline["task"] == "count_chars"]))


def test_a_tie_is_monotone_or_not() -> None:
    kendall = pd.DataFrame(
        {
            "mode": "thinking",
            "condition": ["all"] * 5 + ["english"],
            "label": ["monotone_up", "monotone_down", "flat", "peak_1shot", None, "monotone_up"],
            "tau": [0.816, -1.0, math.nan, 0.333, math.nan, 1.0],
        }
    )
    found = list(readings.tau_ties(kendall))
    assert values(found) == {"ties": 2.0, "strict": 1.0}
    assert {row.n for row in found} == {4}


def test_a_tie_at_the_last_digit_goes_three_ways() -> None:
    # 115 of 400 is 28.75 %; it prints as 28.7, like the paper. 1 of 400 is .25, 3 of 400 .75.
    assert f"{100 * (115 / 400):.1f}" == "28.7"
    assert readings.tenths(115, 400, readings.ROUND_HALF_UP) == "28.8"
    assert readings.tenths(1, 400, readings.ROUND_HALF_EVEN) == "0.2"
    assert readings.tenths(3, 400, readings.ROUND_HALF_EVEN) == "0.8"
    assert readings.tenths(1, 3, readings.ROUND_HALF_UP) == "33.3"
    cells = pd.DataFrame({"correct": [115.0, 1.0, 133.0, math.nan], "n": [400, 400, 400, 0]})
    found = list(readings.rounding(cells))
    moved = values(found)
    assert moved["float"] == 0 and moved["half_up"] >= 1 and {row.n for row in found} == {3}
    shown = [f"{100 * (k / 400):.1f}" for k in (115, 1, 133)]
    half_even = [readings.tenths(k, 400, readings.ROUND_HALF_EVEN) for k in (115, 1, 133)]
    assert moved["half_even"] == sum(a != b for a, b in zip(shown, half_even, strict=True))
