"""The experts' ratings: reading, shares, agreement, repairs."""

import math
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from scripts.files import DataError, write_records
from scripts.tide.construction import verification, verify_questions
from scripts.tide.construction.verification import Rating, read_ratings, task_of, verification_rows
from scripts.tide.rows import QuestionPair


def question(number, task="open_ended"):
    fields = {
        "open_ended": {"question": f"Why {number}?", "answer": "So."},
        "relative_time_qa": {
            "question": f"When {number}?",
            "seed_time": "2012",
            "relative_offset": "a year later",
            "answer": "2013",
        },
    }[task]
    return QuestionPair.create(task, "t", "c", ["d/clause_1"], fields, "m")


POOL = [question(n) for n in range(6)]
OTHERS = [question(n, "relative_time_qa") for n in range(2)]
IDS = [each.question_id for each in POOL]
GONE = "open_ended-0123456789abcdef"


def write(tmp_path, *rows, header="question_id,rater,rating,repaired"):
    path = tmp_path / "ratings.csv"
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return path


def read(tmp_path, *rows, **options):
    return read_ratings(write(tmp_path, *rows, **options), [*POOL, *OTHERS])


def ratings(first, second, ids=None):
    pairs = zip(ids or IDS, first, second, strict=False)
    return [
        Rating(question_id, rater, value, "")
        for question_id, a, b in pairs
        for rater, value in (("x", a), ("y", b))
    ]


def row_of(task, *args):
    return next(row for row in verification_rows(*args) if row["task"] == task)


# Reading


def test_ratings_are_read_with_blanks_and_repairs(tmp_path):
    got = read(tmp_path, f" {IDS[0]} , x ,3,", f"{GONE},x,2,{IDS[1]}", f"{GONE},y,1,{IDS[1]}")
    assert got == [
        Rating(IDS[0], "x", 3, ""),
        Rating(GONE, "x", 2, IDS[1]),
        Rating(GONE, "y", 1, IDS[1]),
    ]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([f"{IDS[0]},x,4,"], "row 2: rating '4'; use 3, 2 or 1"),
        ([f"{IDS[0]},x,0,"], "row 2: rating '0'"),
        ([f"{IDS[0]},x,2.5,"], "row 2: rating '2.5'"),
        ([f"{IDS[0]},x,৩,"], "row 2: rating '৩'"),
        ([f"{IDS[0]},x,,"], "row 2: rating empty"),
        ([f"{IDS[0]}, ,3,"], "row 2: rater empty"),
        (["nobody,x,3,"], "row 2: 'nobody' is no id"),
        ([f"{GONE},x,3,"], f"{GONE} is rated, but is no question"),
        ([f"{GONE},x,1,"], f"{GONE} is rated, but is no question"),
        ([f"{IDS[0]},x,2,{GONE}"], "row 2: repaired as .* no question of the run"),
        ([f"{IDS[0]},x,3,{IDS[1]}"], "row 2: .* rated 3 and repaired all the same"),
        ([f"{IDS[0]},x,3,", f"{IDS[0]},x,2,"], "row 3: x rates .* in row 2 already"),
        (
            [f"{IDS[0]},x,3,", f"{IDS[0]},y,3,", f"{IDS[0]},z,3,"],
            "row 4: a third rater \\(x, y, z\\)",
        ),
        (
            [f"{GONE},x,2,{IDS[0]}", f"{GONE},y,2,{IDS[1]}"],
            f"row 3: .* repaired as {IDS[1]}, in row 2 as {IDS[0]}",
        ),
        ([f"{IDS[0]},x,3"], "row 2: 3 cells, expected 4"),
    ],
)
def test_faults_name_row_and_remedy(tmp_path, rows, message):
    with pytest.raises(DataError, match=rf"ratings.csv.*{message}"):
        read(tmp_path, *rows)


def test_the_header_is_needed(tmp_path):
    with pytest.raises(DataError, match="no column repaired"):
        read(tmp_path, header="question_id,rater,rating")


def test_ids_name_their_task():
    assert task_of(IDS[0]) == "open_ended" and task_of("poem-1") == "" == task_of("open_ended-")


# Shares


def test_shares_are_averaged_over_the_raters():
    row = row_of("open_ended", POOL, ratings([3, 3, 3, 2, 1, 3], [3, 3, 2, 2, 1, 3]))
    assert (row["n"], row["three"], row["two"], row["one"]) == (6, 7 / 12, 3 / 12, 2 / 12)
    assert math.isclose(row["mean"], 29 / 12) and row["flag"] == ""
    assert (row["repaired"], row["replaced"], row["unrepaired"]) == (0, 0, 3)


@given(st.lists(st.tuples(st.integers(1, 3), st.integers(1, 3)), min_size=2, max_size=40))
def test_kappa_agrees_with_scikit_learn(pairs):
    first, second = zip(*pairs, strict=True)
    pool = [question(n) for n in range(len(pairs))]
    rows = ratings(first, second, [each.question_id for each in pool])
    row = row_of("all", pool, rows)
    if len({*first, *second}) == 1:
        assert math.isnan(row["kappa"]) and row["flag"] == "one_class"
    else:
        assert row["kappa"] == pytest.approx(cohen_kappa_score(first, second, labels=[3, 2, 1]))
        assert row["flag"] == ""
    assert row["three"] + row["two"] + row["one"] == pytest.approx(1)
    assert row["mean"] == pytest.approx(np.mean([first, second]))


def test_a_textbook_kappa():
    """Cohen's two raters with 20, 5, 10 and 15 of 50: 0.4."""
    pool = [question(n) for n in range(50)]
    first = [3] * 25 + [2] * 25
    second = [3] * 20 + [2] * 5 + [3] * 10 + [2] * 15
    rows = ratings(first, second, [each.question_id for each in pool])
    assert row_of("open_ended", pool, rows)["kappa"] == pytest.approx(0.4)


def test_tasks_have_rows_of_their_own_and_all_together():
    both = [*POOL, *OTHERS]
    rows = verification_rows(both, ratings([3] * 8, [3] * 7 + [1], [q.question_id for q in both]))
    assert [row["task"] for row in rows] == ["relative_time_qa", "open_ended", "all"]
    assert [row["n"] for row in rows] == [2, 6, 8]
    assert [row["flag"] for row in rows] == ["", "one_class", ""]
    assert rows[0]["kappa"] == 0


def test_a_pair_that_one_rater_left_out_is_told():
    rows = ratings([3, 2], [3, 2])[:3]
    row = row_of("open_ended", POOL[:2], rows)
    assert (row["n"], row["flag"]) == (1, "one_class;incomplete")
    unrated = row_of("open_ended", POOL[:3], ratings([3, 2], [3, 2]))
    assert (unrated["n"], unrated["flag"]) == (2, "incomplete")
    nothing = row_of("relative_time_qa", [*POOL[:2], *OTHERS], ratings([3, 2], [3, 2]))
    assert (nothing["n"], nothing["flag"]) == (0, "missing;incomplete")
    assert math.isnan(nothing["kappa"]) and math.isnan(nothing["three"])


def test_repairs_are_booked(tmp_path):
    other = "open_ended-00000000000000aa"
    third = "open_ended-00000000000000bb"
    got = read(
        tmp_path,
        *(f"{i},{r},3," for i in IDS[:4] for r in "xy"),
        f"{GONE},x,3,{IDS[4]}",
        f"{GONE},y,2,{IDS[4]}",
        f"{other},x,1,{IDS[5]}",
        f"{other},y,2,",
    )
    row = row_of("open_ended", POOL, got)
    assert (row["repaired"], row["replaced"], row["unrepaired"]) == (1, 1, 0)
    # Corrected pairs are not rated again: nothing is missing.
    assert row["flag"] == "" and row["n"] == 6
    with pytest.raises(DataError, match=third):
        read(tmp_path, f"{third},x,2,")


def test_without_ratings_every_row_says_so():
    rows = verification_rows([*POOL, *OTHERS], None)
    assert [row["task"] for row in rows] == ["relative_time_qa", "open_ended", "all"]
    assert {row["flag"] for row in rows} == {"no_ratings"} and {row["n"] for row in rows} == {0}
    assert all(row["kappa"] is None and row["three"] is None for row in rows)


# The rule


@pytest.mark.parametrize("rated", [True, False])
def test_the_rule_writes_a_row_a_task(tmp_path, rated):
    write_records(tmp_path / "q.jsonl", POOL)
    path = write(tmp_path, *(f"{i},{r},3," for i in IDS for r in "xy"))
    inputs = {"questions": tmp_path / "q.jsonl", "ratings": [str(path)][0] if rated else []}
    verify_questions.main(
        SimpleNamespace(
            input=SimpleNamespace(**inputs, get=inputs.get),
            output=SimpleNamespace(verification=tmp_path / "v.csv"),
        )
    )
    frame = pd.read_csv(tmp_path / "v.csv")
    assert list(frame.columns) == list(verification.COLUMNS)
    assert list(frame["task"]) == ["open_ended", "all"]
    assert set(frame["flag"]) == ({"one_class"} if rated else {"no_ratings"})
