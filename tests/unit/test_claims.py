"""Kinds of tests with known answers, the declaration, corrections, and the forms of verdicts."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import publishing_frames
import pytest
import yaml
from scipy import stats

from scripts import files
from scripts.files import DataError
from scripts.publishing import claim_outputs, claims, judge_claims, trace
from scripts.publishing.claim_tests import KINDS, Surroundings
from scripts.publishing.claims import NOT_ESTIMABLE, NOT_SUPPORTED, SUPPORTED, Verdict
from scripts.publishing.numbers import Source
from scripts.syntaxbench.tokens import OFF_BY_ONE_COLUMNS, SUMMARY_COLUMNS

ROOT = Path(__file__).parents[2]
MODELS = ("a", "b", "c", "d")
# Four models under two settings: with documents 10, 12, 8 and 14 points better.
ACCURACY = pd.DataFrame(
    {
        "model": [*MODELS, *MODELS],
        "knowledge": ["none"] * 4 + ["text"] * 4,
        "strict": [0.2, 0.3, 0.4, 0.5, 0.3, 0.42, 0.48, 0.64],
        "partial": [0.3, 0.35, 0.5, 0.5, 0.4, 0.5, 0.5, 0.7],
        "low": [0.1, 0.2, 0.3, 0.4, 0.25, 0.35, 0.41, 0.6],
        "high": [0.25, 0.4, 0.5, 0.6, 0.35, 0.5, 0.55, 0.7],
        "p": [0.5, 0.2, None, 0.01, 0.01, 0.02, 0.03, 0.04],
        "n": [100] * 8,
        "flag": ["", "", "few_levels", ""] * 2,
    }
)
BINS = pd.DataFrame(
    {
        "model": ["a"] * 3 + ["b"] * 3 + ["c"] * 3,
        "token_bin": ["1", "2", "3+"] * 3,
        "ema": [0.9, 0.8, 0.7, 0.8, 0.75, 0.7, 0.6, 0.45, 0.3],
        "n": [10, 10, 10] * 3,
    }
)
CELLS = pd.DataFrame({"model": ["a"] * 25, "gap": [-1.0] * 23 + [1.0] * 2, "ema": 0.5})


@pytest.fixture
def source(tmp_path: Path) -> Source:
    frames = {"accuracy": ACCURACY, "bins": BINS, "cells": CELLS, "none": ACCURACY.head(0)}
    for name, frame in frames.items():
        files.write_csv(tmp_path / f"{name}.csv", frame)
    return Source(tmp_path)


AROUND = Surroundings({"models": list(MODELS)}, MODELS, {"z": "Model Z"})
TEXT = {"knowledge": "text", "model": "$models"}
NONE = {"knowledge": "none"}
BASE: dict[str, Any] = {
    "name": "X",
    "finding": "It is so.",
    "source": "Section 1",
    "published": {"value": "0.5", "place": "Table 1"},
}


def declared(tmp_path: Path, *entries: dict[str, Any], section: str = "toy") -> list[claims.Claim]:
    path = tmp_path / "claims.yaml"
    path.write_text(yaml.safe_dump({section: [{**BASE, **entry} for entry in entries]}))
    return claims.read_claims([path])


def judged(tmp_path: Path, source: Source, **entry: Any) -> Verdict:
    entry = {"direction": "above", "threshold": 0, **entry}
    quantity = {"file": "accuracy.csv", "where": TEXT, **entry.pop("quantity", {})}
    if KINDS[entry["test"]].has_p and entry["direction"] != "within":
        entry = {"correction": "holm", **entry}
    found = declared(tmp_path, {**entry, "quantity": quantity})
    return claims.judge(found, source, {"toy": AROUND})[0]


# ---- kinds -------------------------------------------------------------------------------------


def test_a_threshold_compares_one_value_or_all(tmp_path: Path, source: Source) -> None:
    one = {"column": "strict", "where": {"knowledge": "text", "model": "b"}}
    found = judged(tmp_path, source, test="threshold", quantity=one, threshold=0.4)
    assert (found.verdict, found.effect, found.p) == (SUPPORTED, 0.42, None)
    # Strictly beyond; and of several rows the one that holds least well is shown.
    found = judged(tmp_path, source, test="threshold", quantity=one, threshold=0.42)
    assert found.verdict == NOT_SUPPORTED
    many = {"column": "strict"}
    found = judged(tmp_path, source, test="threshold", quantity=many, threshold=0.2, each=True)
    assert (found.verdict, found.effect, found.units) == (SUPPORTED, 0.3, 4)
    with pytest.raises(DataError, match="claim X: 4 rows match, expected 1"):
        judged(tmp_path, source, test="threshold", quantity=many)
    gap = {**one, "column": "partial", "less": "strict"}
    assert judged(tmp_path, source, test="threshold", quantity=gap).effect == pytest.approx(0.08)


def test_an_interval_must_lie_wholly_beyond(tmp_path: Path, source: Source) -> None:
    quantity = {"column": "strict", "low": "low", "high": "high"}
    found = judged(tmp_path, source, test="interval", quantity=quantity, threshold=0.2, each=True)
    assert (found.verdict, found.effect, found.low, found.high) == (SUPPORTED, 0.3, 0.25, 0.35)
    found = judged(tmp_path, source, test="interval", quantity=quantity, threshold=0.27, each=True)
    assert found.verdict == NOT_SUPPORTED and found.agrees
    within = {"direction": "within", "threshold": [0.2, 0.7], "each": True}
    assert judged(tmp_path, source, test="interval", quantity=quantity, **within).agrees
    within["threshold"] = [0.2, 0.65]
    found = judged(tmp_path, source, test="interval", quantity=quantity, **within)
    assert (found.verdict, found.high) == (NOT_SUPPORTED, 0.7)


def test_two_intervals_must_not_overlap(tmp_path: Path, source: Source) -> None:
    quantity = {
        "column": "strict",
        "low": "low",
        "high": "high",
        "where": {"knowledge": "text", "model": "d"},
        "minus": {"knowledge": "none", "model": "c"},
    }
    found = judged(tmp_path, source, test="interval", quantity=quantity)
    assert found.verdict == SUPPORTED
    assert (found.effect, found.low, found.high) == pytest.approx((0.24, 0.6 - 0.5, 0.7 - 0.3))
    quantity["minus"] = {"knowledge": "none", "model": "d"}
    found = judged(tmp_path, source, test="interval", quantity=quantity)
    assert found.verdict == NOT_SUPPORTED and found.agrees and found.low == pytest.approx(0.0)


def test_a_p_value_needs_the_side_and_the_level(tmp_path: Path, source: Source) -> None:
    row = {"knowledge": "text", "model": "a"}
    quantity = {"column": "strict", "p": "p", "low": "low", "high": "high", "where": row}
    found = judged(tmp_path, source, test="p_value", quantity=quantity)
    assert (found.verdict, found.p, found.p_adjusted, found.low) == (SUPPORTED, 0.01, 0.01, 0.25)
    found = judged(tmp_path, source, test="p_value", quantity=quantity, direction="below")
    assert (found.verdict, found.agrees) == (NOT_SUPPORTED, False)
    weak = {**quantity, "where": {"knowledge": "none", "model": "a"}}
    found = judged(tmp_path, source, test="p_value", quantity=weak)
    assert (found.verdict, found.agrees) == (NOT_SUPPORTED, True)
    every = {**quantity, "where": TEXT}
    assert judged(tmp_path, source, test="p_value", quantity=every, each=True).p == 0.04


def test_a_mean_over_units_is_students(tmp_path: Path, source: Source) -> None:
    quantity = {"column": "strict", "minus": NONE, "by": ["model"]}
    found = judged(tmp_path, source, test="mean", quantity=quantity)
    expected = stats.ttest_1samp([0.1, 0.12, 0.08, 0.14], 0)
    assert (found.effect, found.p, found.units) == pytest.approx((0.11, expected.pvalue, 4))
    assert (found.low, found.high) == pytest.approx(expected.confidence_interval())
    assert found.verdict == SUPPORTED
    level = judged(tmp_path, source, test="mean", quantity={"column": "strict"}, threshold=0.5)
    assert (level.verdict, level.effect) == (NOT_SUPPORTED, pytest.approx(0.46))
    within = {"direction": "within", "threshold": [0.0, 0.2]}
    found = judged(tmp_path, source, test="mean", quantity=quantity, **within)
    assert (found.verdict, found.p) == (SUPPORTED, None)


def test_rows_of_a_unit_are_averaged_first(tmp_path: Path, source: Source) -> None:
    """Units weigh the same, however many rows they have."""
    quantity = {"column": "strict", "where": {}, "unit": ["model"]}
    found = judged(tmp_path, source, test="mean", quantity=quantity)
    assert (found.effect, found.units) == (pytest.approx(ACCURACY["strict"].mean()), 4)
    quantity["unit"] = ["knowledge"]
    assert judged(tmp_path, source, test="mean", quantity=quantity).units == 2
    quantity["unit"] = ["planet"]
    with pytest.raises(DataError, match="planet"):
        judged(tmp_path, source, test="mean", quantity=quantity)


def test_a_slope_is_one_a_unit(tmp_path: Path, source: Source) -> None:
    quantity = {
        "file": "bins.csv",
        "where": {"model": "$models"},
        "column": "ema",
        "along": "token_bin",
        "weight": "n",
    }
    found = judged(tmp_path, source, test="slope", quantity=quantity, direction="below")
    slopes = [-0.1, -0.05, -0.15]
    assert found.effect == pytest.approx(np.mean(slopes))
    assert found.p == pytest.approx(stats.ttest_1samp(slopes, 0).pvalue)
    assert found.verdict == NOT_SUPPORTED and found.agrees
    with pytest.raises(DataError, match="does not begin with a number"):
        judged(tmp_path, source, test="slope", quantity={**quantity, "along": "model"})


def test_share_count_and_every(tmp_path: Path, source: Source) -> None:
    quantity = {"file": "cells.csv", "where": {}, "meets": {"gap": {"below": 0}}}
    found = judged(tmp_path, source, test="share", quantity=quantity, threshold=0.5)
    assert (found.verdict, found.effect, found.units) == (SUPPORTED, 0.92, 25)
    assert found.p == pytest.approx(stats.binomtest(23, 25).pvalue)
    found = judged(tmp_path, source, test="share", quantity=quantity, threshold=0.9)
    assert (found.verdict, found.agrees) == (NOT_SUPPORTED, True)
    found = judged(tmp_path, source, test="count", quantity=quantity, threshold=22)
    assert (found.verdict, found.effect, found.p) == (SUPPORTED, 23.0, None)
    found = judged(tmp_path, source, test="count", quantity=quantity, threshold=23)
    assert found.verdict == NOT_SUPPORTED
    found = judged(tmp_path, source, test="every", quantity=quantity)
    assert (found.verdict, found.effect) == (NOT_SUPPORTED, 0.92)
    quantity["meets"] = {"ema": 0.5}
    assert judged(tmp_path, source, test="every", quantity=quantity).verdict == SUPPORTED


# ---- several parts, corrections ----------------------------------------------------------------


def part(model: str, threshold: float) -> dict[str, Any]:
    quantity = {
        "file": "accuracy.csv",
        "where": {"knowledge": "text", "model": model},
        "column": "strict",
        "p": "p",
    }
    return {
        "test": "p_value",
        "quantity": quantity,
        "direction": "above",
        "threshold": threshold,
    }


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ([part("a", 0), part("d", 0)], (SUPPORTED, 0.64, 0.04)),
        ([part("d", 0.7), part("a", 0)], (NOT_SUPPORTED, 0.64, 0.04)),
        ([part("a", 0), part("z", 0)], (NOT_ESTIMABLE, None, None)),
    ],
)
def test_all_parts_must_hold_and_the_largest_p_counts(
    tmp_path: Path, source: Source, parts: list[dict[str, Any]], expected: tuple[Any, ...]
) -> None:
    found = declared(tmp_path, {"parts": parts, "correction": "holm"})
    judgement = claims.judge(found, source, {"toy": AROUND})[0]
    assert (judgement.verdict, judgement.effect, judgement.p) == expected


def test_claims_of_a_family_are_corrected_together(tmp_path: Path, source: Source) -> None:
    """Holm: .02 * 2 and .03 once; what cannot be estimated and other families do not count."""
    entries = [
        {"name": "First", **part("b", 0), "correction": "holm"},
        {"name": "Second", **part("c", 0), "correction": "holm"},
        {"name": "Gone", **part("z", 0), "correction": "holm"},
        {"name": "Other", **part("d", 0), "correction": "holm", "family": "other"},
        {"name": "Column", **part("d", 0), "correction": "column", "corrected": "Bonferroni"},
    ]
    found = claims.judge(declared(tmp_path, *entries), source, {"toy": AROUND})
    assert [v.p_adjusted for v in found] == pytest.approx([0.04, 0.04, None, 0.04, 0.04])
    assert [v.family_size for v in found] == [2, 2, 0, 1, 0]
    stricter = [{**entry, "alpha": 0.03} for entry in entries[:2]]
    found = claims.judge(declared(tmp_path, *stricter), source, {"toy": AROUND})
    assert [v.verdict for v in found] == [NOT_SUPPORTED] * 2
    assert all(v.agrees for v in found)


def test_a_benchmark_outside_the_run_has_no_verdict(tmp_path: Path, source: Source) -> None:
    found = declared(tmp_path, {**part("a", 0), "correction": "holm"}, section="elsewhere")
    assert claims.judge(found, source, {"toy": AROUND}) == []


# ---- not estimable -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"quantity": {"where": {"model": "z"}}}, "the run does not have Model Z"),
        (
            {"quantity": {"where": {"model": ["v", "w", "x", "y"]}}},
            "the run has none of the four models that this is about",
        ),
        ({"quantity": {"file": "none.csv"}}, "the run has no value of this kind"),
        ({"quantity": {"file": "none.csv"}, "lacking": "nobody asked"}, "nobody asked"),
        ({"minimum": {"models": 5}}, "needs at least five models; this run has four"),
        ({"minimum": {"items": 101}}, "needs at least 101 items; the largest cell has 100"),
        ({"minimum": {"answers": 401}}, "needs at least 401 answers; this run has 400"),
        ({"minimum": {"rows": 5}}, "needs at least five values; this run has four"),
        (
            {"quantity": {"column": "p", "where": {"knowledge": "none", "model": "c"}}},
            "not tested: fewer than five models",
        ),
        ({"quantity": {"where": {"model": "a", "knowledge": "text"}}}, "one value has no spread"),
        (
            {"quantity": {"minus": {"knowledge": "text"}, "by": ["model"]}},
            "the values do not vary",
        ),
        (
            {
                "quantity": {
                    "minus": {"knowledge": "text", "model": "a"},
                    "by": ["knowledge"],
                    "where": NONE,
                }
            },
            "the run has no two values to compare",
        ),
    ],
)
def test_what_cannot_be_estimated_says_why(
    tmp_path: Path, source: Source, change: dict[str, Any], reason: str
) -> None:
    quantity = {"column": "strict", **change.pop("quantity", {})}
    found = judged(tmp_path, source, test="mean", quantity=quantity, **change)
    assert (found.verdict, found.reason) == (NOT_ESTIMABLE, reason)
    assert (found.effect, found.p, found.agrees) == (None, None, None)
    assert reason in found.line()


def test_the_flag_may_stand_in_another_file(tmp_path: Path, source: Source) -> None:
    files.write_csv(tmp_path / "fits.csv", pd.DataFrame({"fit": ["main"], "flag": ["collinear"]}))
    quantity = {
        "column": "p",
        "where": {"knowledge": "none", "model": "c"},
        "explained_by": {"file": "fits.csv", "where": {"fit": "main"}},
    }
    found = judged(tmp_path, source, test="mean", quantity=quantity)
    assert found.reason == "the predictors are collinear"


def test_a_minimum_may_be_counted_elsewhere(tmp_path: Path, source: Source) -> None:
    quantity = {
        "file": "cells.csv",
        "where": {},
        "meets": {"gap": -1.0},
        "counted_in": {"file": "accuracy.csv", "where": {"knowledge": "none"}},
    }
    change: dict[str, Any] = {"test": "share", "quantity": quantity, "threshold": 0.5}
    assert judged(tmp_path, source, **change, minimum={"answers": 400}).verdict == SUPPORTED
    assert judged(tmp_path, source, **change, minimum={"answers": 401}).verdict == NOT_ESTIMABLE
    del quantity["counted_in"]
    with pytest.raises(DataError, match="do not say how many answers"):
        judged(tmp_path, source, **change, minimum={"answers": 1})


def test_what_is_not_there_at_all_is_an_error(tmp_path: Path, source: Source) -> None:
    for change, message in (
        ({"file": "gone.csv"}, "claim X: .*no such file"),
        ({"column": "speed"}, "claim X: file accuracy.csv: no column speed"),
        ({"where": {"model": "$nobody"}}, "claim X: no fact 'nobody'"),
    ):
        with pytest.raises(DataError, match=message):
            judged(tmp_path, source, test="mean", quantity={"column": "strict", **change})


# ---- the declaration ---------------------------------------------------------------------------

GOOD = {**part("a", 0), "correction": "holm"}


def _with(test: str = "p_value", **keys: Any) -> dict[str, Any]:
    quantity: dict[str, Any] = {"file": "x", "where": {}, "column": "c"}
    return {"test": test, "quantity": quantity | ({"p": "p"} if test == "p_value" else {}) | keys}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name": "X1"}, "claim X1: .*letters"),
        ({"speed": 1}, r"claim X: unknown key\(s\) speed"),
        ({"finding": None}, r"claim X: key\(s\) finding missing"),
        ({"published": "0.5"}, "claim X, key published"),
        ({"published": {"value": 1}}, r"key published: key\(s\) place missing"),
        ({"test": "guess"}, "claim X, key test: 'guess'"),
        ({"direction": "left"}, "claim X, key direction: 'left'"),
        ({"threshold": [0, 1]}, "claim X, key threshold"),
        ({"direction": "within"}, "claim X, key threshold"),
        ({"correction": "sidak"}, "claim X, key correction: 'sidak'"),
        ({"correction": None}, "claim X, key correction: the test needs correction"),
        ({"correction": "column"}, "claim X: correction `column`"),
        ({"alpha": 5}, "claim X, key alpha"),
        ({"minimum": {"planets": 1}}, r"key minimum: unknown key\(s\) planets"),
        ({"threshold": "half"}, "claim X, key threshold: expected a number, got 'half'"),
        ({"threshold": float("nan")}, "claim X, key threshold: expected a number"),
        (
            {"direction": "within", "threshold": [1, 0], "correction": None},
            r"key threshold: \[1, 0\]: the lower bound comes first",
        ),
        ({"alpha": "small"}, "claim X, key alpha: expected a number, got 'small'"),
        ({"format": "decimal9"}, "claim X, key format: 'decimal9'; known: .*decimal3"),
        ({"minimum": {"models": "three"}}, "key minimum: models: expected a number, got 'three'"),
        ({"minimum": ["models"]}, "claim X, key minimum: expected keys with values"),
        ({"test": ["mean"]}, r"claim X, key test: \['mean'\]"),
        ({"each": "no"}, "claim X, key each: true or false"),
        ({"test": "mean", "each": True}, "claim X, key each: .* with threshold, interval, p_value"),
        ({"parts": [1]}, "give either quantity and test, or parts"),
        ({"quantity": None, "parts": [1]}, "give either quantity and test, or parts"),
        (_with(where="models"), "key quantity: where: expected keys with values, got 'models'"),
        (_with(explained_by={"file": "y"}), r"quantity: explained_by: key\(s\) where missing"),
        (_with(counted_in={"fil": "y"}), r"quantity: counted_in: unknown key\(s\) fil"),
        (_with("mean", unit="model"), "key quantity: unit: expected a list of columns"),
        ({"quantity": None}, "give either quantity and test, or parts"),
        ({"quantity": "x"}, "claim X, key quantity"),
        ({"quantity": {"file": "x", "where": {}}}, r"key quantity: key\(s\) column, p missing"),
        (
            {"quantity": {"file": "x", "where": {}, "column": "c", "p": "p", "meets": {}}},
            r"key quantity: unknown key\(s\) meets",
        ),
    ],
)
def test_wrong_claims_name_claim_and_key(
    tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    with pytest.raises(DataError, match=message):
        declared(tmp_path, {**GOOD, **change})


def test_a_pure_test_takes_no_correction(tmp_path: Path) -> None:
    quantity = {"file": "x.csv", "where": {}, "column": "c"}
    entry = {"test": "threshold", "quantity": quantity, "direction": "above", "threshold": 0}
    assert declared(tmp_path, entry)[0].correction == "none"
    with pytest.raises(DataError, match="takes no correction"):
        declared(tmp_path, {**entry, "correction": "holm"})


def test_wrong_files_of_claims(tmp_path: Path) -> None:
    path = tmp_path / "claims.yaml"
    for text, message in (("- a", "one section"), ("a: 1", "a list"), ("a: [1]", "with keys")):
        path.write_text(text)
        with pytest.raises(DataError, match=message):
            claims.read_claims([path])
    path.write_text(yaml.safe_dump({"a": [{**BASE, **GOOD}], "b": [{**BASE, **GOOD}]}))
    with pytest.raises(DataError, match="declared twice: X"):
        claims.read_claims([path])
    path.write_text(yaml.safe_dump({"a": [{**BASE, "parts": [1]}]}))
    with pytest.raises(DataError, match="key parts"):
        claims.read_claims([path])
    path.write_text(yaml.safe_dump({"tid": [{**BASE, **GOOD}]}))
    with pytest.raises(DataError, match="section tid: no benchmark; there are tide, toy"):
        claims.read_claims([path], ["toy", "tide"])


# ---- forms -------------------------------------------------------------------------------------


@pytest.fixture
def verdicts(tmp_path: Path, source: Source) -> list[Verdict]:
    entries = [
        {"name": "Yes", **part("d", 0), "correction": "holm", "format": "percent"},
        {"name": "Maybe", **part("c", 0), "correction": "column", "corrected": "Bonferroni"},
        {"name": "Gone", **part("z", 0), "correction": "holm", "finding": "<b>50% & more</b>"},
    ]
    entries[1] = {**entries[1], "alpha": 0.01}
    return claims.judge(declared(tmp_path, *entries), source, {"toy": AROUND})


def test_the_commands_of_the_text(verdicts: list[Verdict]) -> None:
    source = claim_outputs.to_latex(verdicts, {"z": "Model_Z"})
    for name, text in (
        ("verdict@Yes", "0"),
        ("verdict@Maybe", "1"),
        ("verdict@Gone", "2"),
        ("effect@Yes", "64.0"),
        ("p@Yes", "0.040"),
        ("effect@Gone", "–"),
        ("reason@Gone", "the run does not have Model Z"),
        ("subject@Gone", r"Model\_Z"),
        ("count@toy@supported", "1"),
        ("count@toy@all", "3"),
    ):
        assert rf"\expandafter\def\csname claim@{name}\endcsname{{{text}}}" in source, name


def test_the_table_says_verdict_reason_and_what_was_published(verdicts: list[Verdict]) -> None:
    table = claim_outputs.build(verdicts, {"toy": "Toy"})
    assert [row.block for row in table.rows] == ["Toy"] * 3
    assert [row.cells[0].text for row in table.rows] == [SUPPORTED, NOT_SUPPORTED, NOT_ESTIMABLE]
    assert table.rows[1].cells[2].detail == "direction agrees"
    assert table.rows[2].cells[2].missing == "the run does not have Model Z"
    assert table.rows[0].cells[4].text == "0.5 (Table 1)"
    assert any("Holm correction over the 1 claims" in note for note in table.notes)
    assert any("Bonferroni" in note for note in table.notes)
    assert claim_outputs.build(verdicts, {}, "other").rows == ()


def test_infinite_effects_have_a_form(tmp_path: Path, source: Source) -> None:
    files.write_csv(tmp_path / "odds.csv", pd.DataFrame({"odds": [np.inf], "p": [0.001]}))
    quantity = {"file": "odds.csv", "where": {}, "column": "odds", "p": "p"}
    found = judged(tmp_path, source, test="p_value", quantity=quantity, threshold=1)
    assert found.verdict == SUPPORTED
    assert claim_outputs.printed(found.claim, found.effect) == "∞"
    assert json.loads(json.dumps(found.to_json(), allow_nan=False))["effect"] == "inf"


# ---- the paper ---------------------------------------------------------------------------------


def test_every_finding_of_the_text_is_a_claim_and_every_claim_is_in_the_text() -> None:
    declared_names = {claim.name for claim in claims.read_claims([ROOT / "paper" / "claims.yaml"])}
    text = "\n".join(p.read_text() for p in sorted((ROOT / "paper" / "sections").glob("*.tex")))
    used = set(re.findall(r"\\(?:finding|claim(?!count)[a-z]+)\{([A-Za-z]+)\}", text))
    assert used == declared_names
    benchmarks = {claim.benchmark for claim in claims.read_claims([ROOT / "paper/claims.yaml"])}
    assert set(re.findall(r"\\claimcount\{([a-z]+)\}", text)) == benchmarks


def job(tmp_path: Path) -> SimpleNamespace:
    params = publishing_frames.params("full")
    frames = publishing_frames.frames(params) | {
        "tokens_summary": pd.DataFrame(columns=SUMMARY_COLUMNS),
        "tokens_off_by_one": pd.DataFrame(columns=OFF_BY_ONE_COLUMNS),
    }
    for name, frame in frames.items():
        files.write_csv(tmp_path / "syntaxbench" / "statistics" / f"{name}.csv", frame)
    folder = tmp_path / "paper"
    names = {"json": "claims.json", "csv": "claims.csv", "tex": "claims.tex"}
    names |= {"html": "claims.html", "tables": "claims_tables.tex"}
    return SimpleNamespace(
        input=SimpleNamespace(claims=str(ROOT / "paper" / "claims.yaml")),
        output=SimpleNamespace(**{key: str(folder / name) for key, name in names.items()}),
        params=SimpleNamespace(
            benchmarks=["multitempbench", "syntaxbench", "tide"],
            contexts={"syntaxbench": params},
            labels={"qwen3.6-27b": "Qwen3.6-27B"},
            titles={"syntaxbench": "SyntaxBench"},
            results=str(tmp_path),
        ),
    )


def test_the_rule_writes_every_form(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    snakemake = job(tmp_path)
    judge_claims.main(snakemake)
    first = {path.name: path.read_bytes() for path in (tmp_path / "paper").iterdir()}
    found = json.loads(first["claims.json"])["claims"]
    assert {entry["benchmark"] for entry in found.values()} == {"syntaxbench"}
    for entry in found.values():
        for reading in entry["read"]:
            frame = files.read_csv(tmp_path / reading["file"])
            assert set(reading["columns"]) <= set(frame.columns)
            assert all(2 <= row <= len(frame) + 1 for row in reading["rows"])
        assert bool(entry["reason"]) == (entry["verdict"] == NOT_ESTIMABLE)
    printed = capsys.readouterr()
    assert "findings of SyntaxBench: " in printed.err
    assert len(printed.out.splitlines()) == len(found)
    assert r"\label{tab:claims-syntaxbench}" in first["claims_tables.tex"].decode()
    judge_claims.main(snakemake)
    assert {p.name: p.read_bytes() for p in (tmp_path / "paper").iterdir()} == first


def test_a_claim_is_traced_to_its_rows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    judge_claims.main(job(tmp_path))
    (tmp_path / "paper" / "numbers.json").write_text('{"macros": {}, "flags": {}}')
    (tmp_path / "provenance.jsonl").write_text("")
    arguments = ["--results", str(tmp_path), "--paper", str(ROOT / "paper")]
    capsys.readouterr()
    assert trace.main(["SbGapsRare", *arguments]) == 0
    lines = capsys.readouterr().out
    assert "syntaxbench_results.tex, line" in lines and "share < 0.5" in lines
    assert "english_random.csv, row 2" in lines and "from files that no rule makes" in lines
    assert trace.main(["SbGapsRar", *arguments]) == 1
    assert "did you mean SbGapsRare?" in capsys.readouterr().err
