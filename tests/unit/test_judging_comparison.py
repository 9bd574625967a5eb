"""Judges against each other and against people's labels."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from scripts.files import DataError
from scripts.judging.comparison import Reply, compare, human_verdicts, verdicts_of
from scripts.judging.labels import Label, read_labels
from scripts.judging.verdicts import VERDICTS
from scripts.records import Judgement
from scripts.statistics.agreement import kappa_draws, kappa_nominal, majority

RUNS = [("m", "non_thinking")]
HEADER = "model,mode,item_id,annotator,verdict\n"


def reply(number: int) -> Reply:
    return ("m", "non_thinking", f"i{number}")


def label(number: int, annotator: str, verdict: str) -> Label:
    return Label("m", "non_thinking", f"i{number}", annotator, verdict)


def judged(*verdicts: str | None) -> dict[Reply, str | None]:
    return {reply(n): verdict for n, verdict in enumerate(verdicts)}


def test_kappa_is_scikit_learns() -> None:
    rng = np.random.default_rng(3)
    first = rng.integers(0, 3, 200)
    second = np.where(rng.random(200) < 0.7, first, rng.integers(0, 3, 200))
    table = np.zeros((3, 3), dtype=int)
    np.add.at(table, (first, second), 1)
    assert kappa_nominal(table).value == pytest.approx(cohen_kappa_score(first, second))
    draws = kappa_draws(table, 4000, rng)
    resampled = []
    for _ in range(400):
        pick = rng.integers(0, 200, 200)
        resampled.append(cohen_kappa_score(first[pick], second[pick]))
    assert np.std(draws) == pytest.approx(np.std(resampled), rel=0.15)
    assert math.isnan(kappa_nominal(np.diag([5, 0, 0])).value)
    assert kappa_nominal(np.zeros((3, 3))).flag == "missing"
    with pytest.raises(ValueError, match="square"):
        kappa_nominal([[1, 2, 3]])
    with pytest.raises(ValueError, match="no pair"):
        kappa_draws(np.zeros((3, 3)), 10, rng)


def test_majority_leaves_ties_undecided() -> None:
    assert majority(["a", "b", "a"]) == "a"
    assert majority(["a", "b"]) is None and majority([]) is None
    assert majority(["a", "b", "b", "a", "c"]) is None


def test_pairs_of_judges_and_people() -> None:
    c, i, n = VERDICTS
    judges = {"rule": judged(c, c, i, n, i, None), "model": judged(c, i, i, n, c, c)}
    labels = [
        *(label(0, "ann", c), label(0, "bob", c), label(1, "ann", c), label(1, "bob", i)),
        *(label(2, "ann", i), label(2, "bob", i), label(3, "ann", n)),
    ]
    agreement, counts = compare(judges, labels, resamples=200, level=0.95, seed=1)
    rows = {(r.judge_a, r.judge_b): r for r in agreement.itertuples()}
    pair = rows["rule", "model"]
    assert (pair.n, pair.left_out, pair.agreement) == (5, 1, 0.6)
    assert pair.kappa == pytest.approx(cohen_kappa_score([c, c, i, n, i], [c, i, i, n, c]))
    assert pair.kappa_low <= pair.kappa <= pair.kappa_high and pair.flag == ""
    people = rows["rule", "human"]
    assert (people.n, people.left_out, people.agreement) == (3, 1, 1.0)
    among = rows["human", "human"]
    assert (among.n, among.left_out) == (3, 1)
    assert among.agreement == pytest.approx(2 / 3)
    assert among.kappa == pytest.approx(cohen_kappa_score([c, c, i], [c, i, i]))
    assert -1 < among.alpha < 1
    table = counts[(counts.judge_a == "rule") & (counts.judge_b == "model")]
    assert table.n.sum() == 5 and len(table) == 9
    again, _ = compare(judges, labels, resamples=200, level=0.95, seed=1)
    assert again.equals(agreement)


def test_three_annotators_have_alpha_and_no_kappa() -> None:
    c, i, _ = VERDICTS
    labels = [label(k, who, v) for k, v in enumerate([c, c, i, i]) for who in ("a", "b", "d")]
    agreement, _ = compare({"rule": judged(c, c, i, c)}, labels, resamples=50, level=0.9, seed=0)
    among = agreement.iloc[-1]
    assert among.alpha == 1 and math.isnan(among.kappa) and among.agreement == 1


def test_nothing_to_compare() -> None:
    agreement, counts = compare(
        {"a": judged(None), "b": judged("correct")}, [], resamples=9, level=0.9, seed=0
    )
    assert agreement.flag.tolist() == ["missing"] and counts.n.sum() == 0
    one, _ = compare(
        {"a": judged("correct"), "b": judged("correct")}, [], resamples=9, level=0.9, seed=0
    )
    assert one.flag.tolist() == ["one_class"] and one.agreement.tolist() == [1.0]
    alone, none = compare({"a": judged("correct")}, [], resamples=9, level=0.9, seed=0)
    assert alone.empty and none.empty and "alpha" in alone.columns


def test_labels_of_replies_nobody_judged_are_an_error() -> None:
    with pytest.raises(DataError, match=r"1 replies that were not judged: i7"):
        compare(
            {"a": judged("correct")}, [label(7, "ann", "correct")], resamples=9, level=0.9, seed=0
        )


def judgement(judge: str = "rule", **answers: object) -> Judgement:
    return Judgement(
        "r", judge, {"item_id": "i0", "verdict": "correct", "route": "x", **answers}, ""
    )


def test_judgements_become_verdicts() -> None:
    assert verdicts_of([judgement()], "rule", "m", "non_thinking") == {reply(0): "correct"}
    lost = [
        judgement(verdict=None, route="inference_error"),
        judgement(verdict=None, route="not_run"),
    ]
    assert verdicts_of(lost, "rule", "m", "non_thinking") == {}
    for bad in (judgement("other"), judgement(item_id=None), judgement(verdict="fine")):
        with pytest.raises(DataError, match="request r"):
            verdicts_of([bad], "rule", "m", "non_thinking")
    assert human_verdicts([label(0, "a", "correct"), label(0, "b", "incorrect")]) == {
        reply(0): None
    }


def test_labels_are_read_in_several_spellings(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text(HEADER + "m,non_thinking,i0,ann,A\nm,non_thinking,i0,bob,NOT ATTEMPTED\n")
    assert [x.verdict for x in read_labels(path, RUNS)] == ["correct", "not_attempted"]
    path.write_text(
        "annotator,verdict,item_id,mode,model\nann,incorrect,i0,non_thinking,m\n",
        encoding="utf-8-sig",
    )
    assert read_labels(path, RUNS) == [label(0, "ann", "incorrect")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("model,verdict\nm,A\n", "row 1: no column mode, item_id, annotator"),
        ("", "row 1: no column model, mode"),
        (HEADER.replace("\n", ",note\n") + "m,non_thinking,i0,ann,A,x\n", "unknown column note"),
        (HEADER + "m,non_thinking,i0,ann,maybe\n", "row 2: verdict 'maybe'; use correct"),
        (HEADER + "m,non_thinking,i0,,A\n", "row 2: annotator empty"),
        (HEADER + "m,thinking,i0,ann,A\n", r"row 2: m \(thinking\) is not among"),
        (HEADER + "m,non_thinking,i0,ann\n", "row 2: 4 cells, expected 5"),
        (HEADER + "m,non_thinking,i0,ann,A,B\n", "row 2: 6 cells, expected 5"),
        (HEADER + 2 * "m,non_thinking,i0,ann,A\n", "row 3: ann labels this reply in row 2"),
        (HEADER + 'm,non_thinking,"i0,ann,A\n', "no CSV"),
    ],
)
def test_malformed_labels_name_file_row_and_remedy(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "labels.csv"
    path.write_text(text)
    with pytest.raises(DataError, match=message) as error:
        read_labels(path, RUNS)
    assert str(path) in str(error.value)
