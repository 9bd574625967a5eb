"""Fleiss' kappa, the agreement of judges question by question, and experts' scores."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats import inter_rater

from scripts.files import DataError, read_csv, write_csv
from scripts.judging.council_agreement import COLUMNS, compare
from scripts.judging.human_validation import MAXIMA, means, read_scores
from scripts.statistics.agreement import fleiss_draws, fleiss_kappa, kappa_nominal

# Fleiss (1971), table 1: 30 patients, 6 psychiatrists, 5 diagnoses; kappa = 0.430.
PSYCHIATRIC = """
0 0 0 6 0  0 3 0 0 3  0 1 4 0 1  0 0 0 0 6  0 3 0 3 0  2 0 4 0 0  0 0 4 0 2  2 0 3 1 0  2 0 0 4 0
0 0 0 0 6  1 0 0 5 0  1 1 0 4 0  0 3 3 0 0  1 0 0 5 0  0 2 0 3 1  0 0 5 0 1  3 0 0 1 2  5 1 0 0 0
0 2 0 4 0  1 0 2 0 3  0 0 0 0 6  0 1 0 5 0  0 2 0 1 3  2 0 0 4 0  1 0 0 4 1  0 5 0 1 0  4 0 0 0 2
0 2 0 4 0  1 0 5 0 0  0 0 0 0 6
"""


def test_fleiss_psychiatric_diagnoses() -> None:
    table = np.array(PSYCHIATRIC.split(), dtype=int).reshape(30, 5)
    assert (table.sum(axis=1) == 6).all()
    found = fleiss_kappa(table)
    assert found.kappa == pytest.approx(0.430, abs=5e-4)
    assert found.agreement == pytest.approx(0.556, abs=5e-4)
    assert found.kappa == pytest.approx(inter_rater.fleiss_kappa(table), abs=1e-12)
    assert found.flag == ""


@given(
    st.integers(2, 5).flatmap(
        lambda raters: st.lists(st.integers(0, raters), min_size=1, max_size=30).map(
            lambda yes: [[k, raters - k] for k in yes]
        )
    )
)
def test_fleiss_agrees_with_statsmodels(table: list[list[int]]) -> None:
    counts = np.array(table)
    found = fleiss_kappa(counts)
    if (counts.sum(axis=0) == 0).any():
        assert found.flag == "one_class" and np.isnan(found.kappa) and found.agreement == 1
    else:
        assert found.kappa == pytest.approx(inter_rater.fleiss_kappa(counts), abs=1e-9)
        assert found.kappa == fleiss_kappa(counts[::-1, ::-1]).kappa or found.kappa == (
            pytest.approx(fleiss_kappa(counts[::-1, ::-1]).kappa)
        )


def test_degenerate_tables() -> None:
    assert fleiss_kappa(np.zeros((0, 2))).flag == "missing"
    assert fleiss_kappa([[1, 0], [0, 1]]).flag == "too_few"
    assert fleiss_kappa([[3, 0], [3, 0]])[1:] == (1.0, "one_class")
    with pytest.raises(ValueError, match="different numbers of raters"):
        fleiss_kappa([[3, 0], [1, 1]])
    with pytest.raises(ValueError, match="items x categories"):
        fleiss_kappa([1, 2])
    with pytest.raises(ValueError, match="no item"):
        fleiss_draws(np.zeros((0, 2)), 10, np.random.default_rng(0))


def test_fleiss_draws_are_those_of_the_item_bootstrap() -> None:
    table = np.array([[3, 0]] * 12 + [[2, 1]] * 5 + [[0, 3]] * 9 + [[1, 2]] * 2)
    draws = fleiss_draws(table, 4000, np.random.default_rng(1))
    rng = np.random.default_rng(2)
    plain = [fleiss_kappa(table[rng.integers(0, 28, 28)]).kappa for _ in range(1500)]
    assert np.nanmean(draws) == pytest.approx(np.nanmean(plain), abs=0.02)
    assert np.nanstd(draws) == pytest.approx(np.nanstd(plain), abs=0.02)
    one = fleiss_draws([[3, 0]] * 4 + [[0, 3]], 500, np.random.default_rng(3))
    assert np.isnan(one).any() and np.nanmax(one) <= 1


# --- judges --------------------------------------------------------------------------------------


def votes(dates: list[bool], meaning: bool = True, **flags: Any) -> dict[str, Any]:
    return {
        "item_id": "i",
        "date_matches": [{"matched": vote, "span": ""} for vote in dates],
        "contradicting": False,
        "meaning": meaning,
        "uncertain": False,
        "flags": flags,
        "reason": None,
    }


EMPTY: dict[str, Any] = {
    **dict.fromkeys(("date_matches", "contradicting", "meaning", "uncertain", "flags")),
    "item_id": "i",
    "reason": "not_json",
}


def table_of(judges: dict[str, list[dict[str, Any]]], **how: Any) -> pd.DataFrame:
    keyed = {
        name: {("run", str(n)): given_votes for n, given_votes in enumerate(rows)}
        for name, rows in judges.items()
    }
    return compare(keyed, **{"resamples": 300, "level": 0.95, "seed": 7, **how})


def row(frame: pd.DataFrame, question: str, *pair: str) -> pd.Series:
    kind = "pair" if pair else "fleiss"
    found = frame[(frame["question"] == question) & (frame["kind"] == kind)]
    if pair:
        found = found[(found["judge_a"] == pair[0]) & (found["judge_b"] == pair[1])]
    assert len(found) == 1
    return found.iloc[0]


A = [votes([True], True), votes([True], False), votes([False], True), votes([False], False)] * 5
B = [votes([True], True), votes([True], True), votes([False], True), votes([False], False)] * 5
C = [votes([True], False), votes([True], False), votes([True], True), votes([False], False)] * 5


def test_agreement_question_by_question() -> None:
    frame = table_of({"a": A, "b": B, "c": C})
    assert tuple(frame.columns) == COLUMNS
    assert list(dict.fromkeys(frame["question"])) == [
        "dates", "contradicting", "meaning", "uncertain",
    ]  # fmt: skip
    meaning = row(frame, "meaning")
    yes = [sum(judge[n]["meaning"] for judge in (A, B, C)) for n in range(20)]
    assert meaning["kappa"] == pytest.approx(
        inter_rater.fleiss_kappa(np.array([[k, 3 - k] for k in yes]))
    )
    assert (meaning["n"], meaning["left_out"], meaning["flag"]) == (20, 0, "")
    assert meaning["low"] < meaning["kappa"] < meaning["high"]
    pair = row(frame, "dates", "a", "c")
    both = np.zeros((2, 2), dtype=int)
    for one, other in zip(A, C, strict=True):
        first, second = (side["date_matches"][0]["matched"] for side in (one, other))
        both[int(first), int(second)] += 1
    assert pair["kappa"] == pytest.approx(kappa_nominal(both).value)
    assert pair["kappa"] == pytest.approx(inter_rater.cohens_kappa(both).kappa)
    assert pair["agreement"] == 0.75 and pair["low"] < pair["kappa"] < pair["high"]


def test_equal_votes_everywhere_are_perfect_agreement_without_a_kappa() -> None:
    same = row(table_of({"a": A, "b": B, "c": C}), "contradicting")
    assert same["flag"] == "one_class" and same["agreement"] == 1
    assert np.isnan(same["kappa"]) and np.isnan(same["low"])
    pair = row(table_of({"a": A, "b": B}), "contradicting", "a", "b")
    assert pair["flag"] == "one_class" and pair["agreement"] == 1 and np.isnan(pair["low"])


def test_an_absent_judge_neither_agrees_nor_disagrees() -> None:
    holes = [EMPTY if n % 4 == 0 else vote for n, vote in enumerate(C)]
    frame = table_of({"a": A, "b": B, "c": holes})
    whole = row(frame, "meaning")
    assert (whole["n"], whole["left_out"]) == (15, 5)
    rest = [n for n in range(20) if n % 4]
    expected = table_of(
        {name: [side[n] for n in rest] for name, side in zip("abc", (A, B, C), strict=True)}
    )
    assert whole["kappa"] == pytest.approx(row(expected, "meaning")["kappa"])
    assert (row(frame, "dates")["n"], row(frame, "dates")["left_out"]) == (15, 5)
    assert row(frame, "meaning", "a", "b")["left_out"] == 0
    shorter = table_of({"a": A, "b": B[:8]})
    assert (row(shorter, "meaning")["n"], row(shorter, "meaning")["left_out"]) == (8, 12)


def test_councils_without_votes_or_with_one_judge() -> None:
    for judges in ({"a": [], "b": []}, {"a": [EMPTY] * 3, "b": [EMPTY] * 3}):
        frame = table_of(judges)
        assert set(frame["flag"]) == {"missing"} and (frame["n"] == 0).all()
    alone = table_of({"a": A})
    assert set(alone["flag"]) == {"too_few"} and set(alone["kind"]) == {"fleiss"}
    assert row(table_of({"a": A, "b": [EMPTY] * 20}), "meaning")["left_out"] == 20


def test_logged_questions_have_rows_where_they_were_asked() -> None:
    first = [votes([], followed_context=n % 2 == 0, localized_element="x") for n in range(8)]
    second = [votes([], followed_context=n % 4 == 0, localized_element="y") for n in range(8)]
    frame = table_of({"a": first, "b": second})
    assert row(frame, "followed_context", "a", "b")["agreement"] == 0.75
    assert "localized_element" not in set(frame["question"])
    assert row(frame, "dates")["flag"] == "missing"


def test_the_file_is_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_csv(tmp_path / name, table_of({"a": A, "b": B, "c": C}))
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    again = read_csv(tmp_path / "one")
    assert tuple(again.columns) == COLUMNS


# --- experts -------------------------------------------------------------------------------------

HEADER = "request_id,rater,verdict,reasoning,clarity\n"
JUDGED = {"r1", "r2"}


def scores_of(tmp_path: Path, text: str) -> Any:
    path = tmp_path / "scores.csv"
    path.write_text(text, encoding="utf-8")
    return read_scores(path, JUDGED)


def test_means_of_each_expert(tmp_path: Path) -> None:
    scores = scores_of(
        tmp_path, HEADER + "r1,anna,50,40,10\nr2,anna,45.5,30,9\nr1,bela,0,0,0\n\nr2,bela,50,38,8\n"
    )
    frame = means(scores).set_index(["rater", "criterion"])
    assert frame.loc[("anna", "verdict"), "mean"] == 47.75
    assert frame.loc[("anna", "total"), "mean"] == (100 + 84.5) / 2
    assert frame.loc[("bela", "total"), "mean"] == 48
    assert list(frame["maximum"]) == [50, 40, 10, 100] * 2
    assert set(frame["n"]) == {2} and set(frame["flag"]) == {""}


def test_without_scores_every_criterion_says_so() -> None:
    frame = means([])
    assert list(frame["criterion"]) == [*MAXIMA, "total"]
    assert set(frame["flag"]) == {"no_scores"} and frame["mean"].isna().all()
    assert (frame["n"] == 0).all()


def test_runs_may_be_told_apart(tmp_path: Path) -> None:
    header = HEADER.strip() + ",model,mode\n"
    rows = "r1,anna,50,40,10,m1,thinking\nr1,anna,40,40,10,m2,thinking\n"
    assert len(scores_of(tmp_path, header + rows)) == 2
    with pytest.raises(DataError, match="row 3: anna scores this answer in row 2"):
        scores_of(tmp_path, header + rows.replace("m2", "m1"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEADER + "r1,anna,51,40,10\n", "row 2: verdict is '51'; give a number from 0 to 50"),
        (HEADER + "r1,anna,50,40,10\nr2,anna,50,-1,10\n", "row 3: reasoning is '-1'"),
        (HEADER + "r1,anna,50,40,10.5\n", "row 2: clarity is '10.5'"),
        (HEADER + "r1,anna,nan,40,10\n", "verdict is 'nan'"),
        (HEADER + "r1,anna,1e1,40,10\n", "verdict is '1e1'"),
        (HEADER + "r1,anna,৫০,40,10\n", "verdict is"),
        (HEADER + "r1,,50,40,10\n", "row 2: rater empty"),
        (HEADER + "r9,anna,50,40,10\n", "row 2: the council judged no answer to request 'r9'"),
        (HEADER + "r1,anna,50,40,10\nr1,anna,50,40,10\n", "row 3: anna scores this answer in"),
        (HEADER + "r1,anna,50,40\n", "row 2: 4 cells, expected 5"),
        ("request_id,rater,verdict,reasoning\nr1,a,1,1\n", "no column clarity"),
        (HEADER.strip() + ",total\nr1,a,1,1,1,3\n", "row 1: unknown column total"),
    ],
)
def test_a_bad_file_is_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(DataError, match=message) as caught:
        scores_of(tmp_path, text)
    assert "scores.csv" in str(caught.value)
