"""Every statistics frame on synthetic scores: recomputed plainly, degenerate cells, families."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.metrics import cohen_kappa_score

from scripts.files import DataError, read_csv, write_parquet
from scripts.syntaxbench import compute_statistics
from scripts.syntaxbench.analysis import compute_frames
from scripts.syntaxbench.score_index import COLUMNS, Settings
from tests.synthetic_scores import scores_frame

FAMILIES = {
    "between_models_cell": ["mode", "task", "shots", "condition"],
    "between_models_pair": ["mode", "condition", "model_a", "model_b"],
    "between_modes": ["model", "condition"],
    "english_random": [],
}
ITEMS = {"count_chars": 30, "palindrome_test": 40, "longest_string_finder": 30}
RUNS = [
    ("alpha", "thinking"),
    ("alpha", "non_thinking"),
    ("beta", "thinking"),
    ("gamma", "thinking"),
    ("solver", "thinking"),
]
SETTINGS = Settings(
    seed=42,
    items=ITEMS,
    shots=(0, 1, 4),
    models=["gamma", "alpha", "beta"],
    baselines=["solver"],
    families=FAMILIES,
    resamples=500,
    tolerances=(0, 1, 2),
)
Frames = dict[str, pd.DataFrame]


@pytest.fixture(scope="module")
def scores() -> pd.DataFrame:
    return scores_frame(RUNS, ITEMS)


@pytest.fixture(scope="module")
def frames(scores: pd.DataFrame) -> Frames:
    return compute_frames(scores, SETTINGS)


def select(frame: pd.DataFrame, **key: Any) -> pd.DataFrame:
    for name, value in key.items():
        frame = frame[frame[name] == value]
    return frame


def one(frame: pd.DataFrame, **key: Any) -> Any:
    found = select(frame, **key)
    assert len(found) == 1
    return found.iloc[0]


CELL = {"model": "alpha", "mode": "thinking", "shots": 4}


def test_frames_have_the_documented_columns_and_rows(frames: Frames) -> None:
    for name, columns in COLUMNS.items():
        assert tuple(frames[name].columns) == columns, name
    assert len(frames["cells"]) == 5 * 3 * 3 * 3
    assert len(frames["mcnemar_models"]) == 3 * 3 * 3 * 3
    assert len(frames["english_random"]) == 4 * 3 * 3
    assert list(frames["kendall"].columns)[-4:] == ["ema_0", "ema_1", "ema_4", "flag"]


def test_a_binary_cell_by_hand(scores: pd.DataFrame, frames: Frames) -> None:
    rows = select(scores, task="palindrome_test", condition="english", **CELL)
    cell = one(frames["cells"], task="palindrome_test", condition="english", **CELL)
    correct = rows["correct"].astype(bool)
    answer = rows["gold"].where(correct, rows["gold"].map({"yes": "no", "no": "yes"}))
    assert cell["correct"] == correct.sum()
    assert cell["ema"] == pytest.approx(correct.mean())
    assert cell["kappa"] == pytest.approx(cohen_kappa_score(rows["gold"], answer))
    assert cell["tpr"] == pytest.approx(correct[rows["gold"] == "yes"].mean())
    assert cell["tnr"] == pytest.approx(correct[rows["gold"] == "no"].mean())
    assert cell["parse_error_rate"] == pytest.approx(1 - rows["valid"].mean())
    parts = ["blank_rate", "inference_error_rate", "truncated_rate", "unparsable_rate"]
    assert cell[parts].sum() == pytest.approx(cell["parse_error_rate"])
    tokens = rows["reasoning_tokens"].mean()
    assert cell["ema_per_reasoning_token"] == pytest.approx(correct.mean() / tokens)
    assert cell["ema_low"] <= cell["ema"] <= cell["ema_high"]
    assert cell["flag"] == ""
    assert pd.isna(cell["delta_mean"])


def test_an_integer_cell_by_hand(scores: pd.DataFrame, frames: Frames) -> None:
    rows = scores[(scores["task"] == "count_chars") & (scores["model"] == "alpha")]
    rows = rows[(rows["mode"] == "thinking") & (rows["shots"] == 4)]
    cell = one(frames["cells"], task="count_chars", condition="all", **CELL)
    assert cell["n"] == len(rows) == 60
    delta = rows["delta"].dropna()
    assert cell["delta_n"] == cell["kappa_n"] == len(delta)
    assert cell["delta_p95"] == pytest.approx(np.percentile(delta, 95))
    assert cell["delta_sd"] == pytest.approx(delta.std())
    assert cell["relaxed_accuracy"] == pytest.approx((delta.abs() <= 1).sum() / 60)
    valid = rows[rows["delta"].notna()]
    gold, parsed = valid["gold"].astype(int), valid["parsed"].astype(int)
    grid = range(min(gold.min(), parsed.min()), max(gold.max(), parsed.max()) + 1)
    kappa = cohen_kappa_score(gold, parsed, labels=list(grid), weights="linear")
    assert cell["kappa"] == pytest.approx(kappa)
    curve = select(frames["tolerance"], task="count_chars", condition="all", **CELL)
    assert curve["accuracy"].tolist() == pytest.approx(
        [(delta.abs() <= t).sum() / 60 for t in (0, 1, 2)]
    )
    assert curve["accuracy"].iloc[0] == pytest.approx(cell["ema"])
    assert curve["accuracy"].iloc[1] == pytest.approx(cell["relaxed_accuracy"])


def test_a_string_cell_by_hand(frames: Frames) -> None:
    cell = one(frames["cells"], task="longest_string_finder", condition="english", **CELL)
    assert cell["kappa"] == pytest.approx((cell["ema"] - 1 / 30) / (1 - 1 / 30))


def test_mcnemar_by_hand(scores: pd.DataFrame, frames: Frames) -> None:
    wide = scores[(scores["mode"] == "thinking") & (scores["shots"] == 1)]
    wide = wide[wide["task"] == "palindrome_test"].pivot(
        index="item_id", columns="model", values="correct"
    )
    a, b = wide["alpha"].astype(bool), wide["gamma"].astype(bool)
    key = {"mode": "thinking", "task": "palindrome_test", "shots": 1, "condition": "all"}
    row = one(frames["mcnemar_models"], model_a="alpha", model_b="gamma", **key)
    assert (row["b01"], row["b10"], row["n"]) == ((a & ~b).sum(), (~a & b).sum(), 80)
    group = select(frames["mcnemar_models"], **key)
    assert row["p_bonferroni_cell"] == pytest.approx(min(1, row["p"] * len(group)))
    pair = select(
        frames["mcnemar_models"], mode="thinking", condition="all", model_a="alpha", model_b="gamma"
    )
    assert len(pair) == 9
    assert row["p_bonferroni_pair"] == pytest.approx(min(1, row["p"] * 9))
    summary = one(frames["mcnemar_summary"], model_a="alpha", model_b="gamma")
    assert summary["significant"] == pair["significant_pair"].sum()
    wins = pair[pair["significant_pair"].astype(bool)]
    assert summary["wins_a"] == (wins["b01"] > wins["b10"]).sum()
    assert summary["wins_b"] == summary["significant"] - summary["wins_a"]


def test_modes_are_compared_within_a_model(frames: Frames) -> None:
    modes = frames["mcnemar_modes"]
    assert set(modes["model"]) == {"alpha"}
    row = one(modes, task="count_chars", shots=0, condition="all")
    cells = frames["cells"]
    key = {"model": "alpha", "task": "count_chars", "shots": 0, "condition": "all"}
    without, with_thinking = (
        one(cells, mode=mode, **key)["ema"] for mode in ("non_thinking", "thinking")
    )
    assert row["delta_ema"] == pytest.approx(without - with_thinking)
    assert row["delta_low"] <= row["delta_ema"] <= row["delta_high"]
    assert row["family_size"] == 9


def test_english_random_by_hand(frames: Frames) -> None:
    row = one(frames["english_random"], task="count_chars", **CELL)
    key = {"task": "count_chars", **CELL}
    english, random = (one(frames["cells"], condition=c, **key) for c in ("english", "random"))
    table = [[e["correct"], e["n"] - e["correct"]] for e in (english, random)]
    yates = bool((np.asarray(table) < 5).any())
    assert row["p"] == pytest.approx(stats.chi2_contingency(table, correction=yates).pvalue)
    assert row["gap"] == pytest.approx(english["ema"] - random["ema"])
    assert row["family_size"] == 36


def test_effect_sizes_are_ranked_by_size(frames: Frames) -> None:
    found = select(frames["effect_sizes"], mode="thinking", shots=4)
    assert found["rank"].tolist() == list(range(1, 10))
    assert found["h"].abs().is_monotonic_decreasing
    top = found.iloc[0]
    pair = one(
        frames["mcnemar_models"],
        condition="all",
        **{k: top[k] for k in ("mode", "shots", "task", "model_a", "model_b")},
    )
    assert (top["p"], top["q"]) == (pair["p"], pair["q_cell"])
    assert top["h_low"] < top["h"] < top["h_high"]


def test_baselines_are_listed_but_not_compared(frames: Frames) -> None:
    assert "solver" in set(frames["cells"]["model"])
    for name in ("mcnemar_models", "effect_sizes"):
        assert "solver" not in {*frames[name]["model_a"], *frames[name]["model_b"]}
    assert "solver" not in set(frames["english_random"]["model"])
    board = select(frames["leaderboard"], mode="thinking", shots=4)
    assert board["model"].iloc[-1] == "solver"
    assert pd.isna(board["rank"].iloc[-1])
    assert board["rank"].iloc[:-1].tolist() == [1, 2, 3]


def test_adding_a_model_changes_no_other_cell(scores: pd.DataFrame, frames: Frames) -> None:
    fewer = scores[scores["model"] != "beta"]
    alone = compute_frames(fewer, replace(SETTINGS, models=["alpha", "gamma"]))
    both = frames["cells"][frames["cells"]["model"] != "beta"].reset_index(drop=True)
    pd.testing.assert_frame_equal(alone["cells"], both)
    key = ["mode", "shots", "task", "model_a", "model_b"]
    values = ["h", "h_low", "h_high"]
    known = frames["effect_sizes"].set_index(key)[values]
    pd.testing.assert_frame_equal(
        alone["effect_sizes"].set_index(key)[values].sort_index(),
        known.loc[alone["effect_sizes"].set_index(key).index].sort_index(),
    )


def test_row_order_changes_nothing(scores: pd.DataFrame, frames: Frames) -> None:
    shuffled = compute_frames(scores.sample(frac=1, random_state=1), SETTINGS)
    for name, frame in frames.items():
        pd.testing.assert_frame_equal(shuffled[name], frame)


@pytest.fixture(scope="module")
def gappy(scores: pd.DataFrame) -> Frames:
    """gamma: no random item of the strings at 4-shot; alpha: two items of another cell unscored."""
    hole = (
        (scores["model"] == "gamma")
        & (scores["task"] == "longest_string_finder")
        & (scores["shots"] == 4)
        & (scores["condition"] == "random")
    )
    frame = scores.copy()
    unscored = frame.index[
        (frame["model"] == "alpha")
        & (frame["mode"] == "thinking")
        & (frame["task"] == "count_chars")
        & (frame["shots"] == 0)
        & (frame["condition"] == "english")
    ][:2]
    frame.loc[unscored, "correct"] = pd.NA
    frame.loc[unscored, "category"] = "not_run"
    return compute_frames(frame[~hole], SETTINGS)


GAP = {"model": "gamma", "mode": "thinking", "task": "longest_string_finder", "shots": 4}


def test_a_missing_condition_makes_the_combined_score_not_estimable(gappy: Frames) -> None:
    cells = gappy["cells"]
    assert one(cells, condition="english", **GAP)["ema"] > 0
    for condition, n in (("random", 0), ("all", 30)):
        cell = one(cells, condition=condition, **GAP)
        assert (cell["n"], cell["complete"], cell["flag"]) == (n, False, "missing;incomplete")
        assert pd.isna(cell[["ema", "ema_low", "kappa", "parse_error_rate"]]).all()
    board = one(gappy["leaderboard"], mode="thinking", shots=4, model="gamma")
    assert (board["tasks"], board["incomplete_tasks"]) == (2, '["longest_string_finder"]')
    whole = one(gappy["leaderboard"], mode="thinking", shots=4, model="beta")
    assert (whole["tasks"], whole["incomplete_tasks"], whole["flag"]) == (3, "[]", "")
    trend = one(gappy["kendall"], condition="all", **{k: GAP[k] for k in ("model", "task")})
    assert trend["flag"] == "missing;incomplete"
    assert pd.isna(trend["label"])


def test_a_missing_condition_leaves_the_families(gappy: Frames) -> None:
    families = gappy["families"].set_index("family")
    assert families.loc["english_random", "size"] == 35
    assert json.loads(str(families.loc["english_random", "left_out"])) == [GAP]
    row = one(gappy["english_random"], **GAP)
    assert pd.isna(row["p"])
    assert pd.isna(row["significant"])
    assert row["flag"] == "missing;incomplete"
    pair = "between_models_pair|mode=thinking|condition=all|model_a=alpha|model_b=gamma"
    assert families.loc[pair, "size"] == 8
    assert one(gappy["mcnemar_summary"], model_a="alpha", model_b="gamma")["cells"] == 8
    effect = one(gappy["effect_sizes"], task=GAP["task"], shots=4, model_a="beta", model_b="gamma")
    assert pd.isna(effect["h"])
    assert pd.isna(effect["rank"])


def test_unscored_rows_are_not_wrong_rows(gappy: Frames) -> None:
    key = {"model": "alpha", "mode": "thinking", "task": "count_chars", "shots": 0}
    cell = one(gappy["cells"], condition="english", **key)
    assert (cell["n"], cell["n_expected"], cell["flag"]) == (28, 30, "incomplete")
    assert cell["ema"] == pytest.approx(cell["correct"] / 28)
    row = one(gappy["english_random"], **key)
    assert row["n_english"] == 28
    assert row["family"] == "english_random"  # both conditions were evaluated: it stays
    pair = one(
        gappy["mcnemar_models"], task="count_chars", shots=0, condition="english",
        model_a="alpha", model_b="beta",
    )  # fmt: skip
    assert (pair["n"], pair["flag"]) == (28, "incomplete")


def test_a_planned_run_without_any_score_appears_as_missing(scores: pd.DataFrame) -> None:
    modes = {"alpha": ["thinking"], "beta": ["thinking"]}
    settings = replace(SETTINGS, models=["alpha", "beta"], baselines=[], modes=modes)
    part = scores[(scores["model"] == "alpha") & (scores["mode"] == "thinking")]
    frames = compute_frames(part, settings)
    absent = frames["cells"][frames["cells"]["model"] == "beta"]
    assert len(absent) == 27
    assert set(absent["flag"]) == {"missing;incomplete"}
    assert frames["mcnemar_models"]["p"].isna().all()
    board = frames["leaderboard"]
    assert set(board.loc[board["model"] == "beta", "flag"]) == {"missing;incomplete"}
    with pytest.raises(DataError, match="not in the configuration"):
        compute_frames(scores[scores["model"] == "alpha"], settings)


def test_degenerate_scores_have_defined_values(scores: pd.DataFrame) -> None:
    """All right and all equal: ceilings everywhere, no crash, no p = 0."""
    frame = scores.copy()
    frame["correct"] = pd.array([True] * len(frame), dtype="boolean")
    frame["valid"], frame["category"], frame["delta"] = True, "valid", 0.0
    frame.loc[frame["task"] == "palindrome_test", "gold"] = "yes"
    frames = compute_frames(frame, SETTINGS)
    pairs = frames["mcnemar_models"]
    assert set(pairs["p"]) == {1.0}
    assert set(pairs["flag"]) == {"no_discordant_pairs"}
    assert pairs["odds_ratio"].isna().all()
    chi = frames["english_random"]
    assert (set(chi["chi2"]), set(chi["p"]), set(chi["flag"])) == ({0.0}, {1.0}, {"zero_margin"})
    trend = frames["kendall"]
    assert (set(trend["label"]), set(trend["flag"])) == ({"flat"}, {"constant"})
    binary = select(frames["cells"], task="palindrome_test")
    assert set(binary["flag"]) == {"one_class"}
    assert binary["kappa"].isna().all()


def test_no_readable_answer_is_no_missing_cell(scores: pd.DataFrame) -> None:
    """Every count is unreadable: accuracy is 0 and stands, kappa and errors say why they do not."""
    frame = scores.copy()
    lost = (frame["task"] == "count_chars") & (frame["model"] == "beta")
    frame.loc[lost, "correct"] = False
    frame.loc[lost, ["valid", "category", "delta"]] = [False, "unparsable", np.nan]
    frames = compute_frames(frame, SETTINGS)
    cells = select(frames["cells"], model="beta", task="count_chars")
    assert set(cells["flag"]) == {"no_valid_answer"}
    assert (set(cells["ema"]), set(cells["delta_n"]), set(cells["kappa_n"])) == ({0.0}, {0}, {0})
    assert cells[["kappa", "delta_mean"]].isna().all(axis=None)
    assert "missing" not in set(frames["leaderboard"]["flag"])


def test_a_single_model_makes_empty_but_whole_frames(scores: pd.DataFrame) -> None:
    settings = replace(SETTINGS, models=["beta"], baselines=[])
    frames = compute_frames(scores[scores["model"] == "beta"], settings)
    for name in ("mcnemar_models", "mcnemar_summary", "mcnemar_modes", "effect_sizes"):
        assert frames[name].empty
        assert tuple(frames[name].columns) == COLUMNS[name]
    assert frames["families"]["family"].tolist() == ["english_random"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda f: f.drop(columns="delta"), "no column delta"),
        (lambda f: f.assign(model="stranger"), "stranger"),
        (lambda f: f.assign(task="riddles"), "riddles"),
        (lambda f: f.assign(shots=2), "shots"),
        (lambda f: f.assign(condition="all"), "condition"),
        (lambda f: pd.concat([f, f.head(1)]), "scored twice"),
    ],
)
def test_scores_that_do_not_fit_are_refused(
    scores: pd.DataFrame, change: Any, message: str
) -> None:
    with pytest.raises(DataError, match=message):
        compute_frames(change(scores), SETTINGS)


def test_an_unknown_task_in_the_configuration_is_refused(scores: pd.DataFrame) -> None:
    with pytest.raises(DataError, match="riddles"):
        compute_frames(scores, replace(SETTINGS, items=ITEMS | {"riddles": 3}))


class Outputs(dict[str, str]):
    """What Snakemake's output offers: items()."""


def stand_in(tmp_path: Path, scores: pd.DataFrame, names: list[str]) -> SimpleNamespace:
    path = tmp_path / "scores.parquet"
    write_parquet(path, scores)
    return SimpleNamespace(
        input=SimpleNamespace(scores=str(path)),
        output=Outputs({name: str(tmp_path / f"{name}.csv") for name in names}),
        params=SimpleNamespace(
            seed=42,
            tasks=ITEMS,
            shots=[0, 1, 4],
            models=["gamma", "alpha", "beta"],
            baselines=["solver"],
            modes={
                "alpha": ["non_thinking", "thinking"],
                "beta": ["thinking"],
                "gamma": ["thinking"],
                "solver": ["thinking"],
            },
            headline_shots=4,
            statistics={"families": FAMILIES, "resamples": 500, "token_bins": [1, 2]},
        ),
    )


def test_the_rule_script_writes_the_same_bytes_twice(
    tmp_path: Path, scores: pd.DataFrame, frames: Frames
) -> None:
    names = sorted([*COLUMNS, "kendall"])
    job = stand_in(tmp_path, scores, names)
    compute_statistics.main(job)
    first = {name: Path(job.output[name]).read_bytes() for name in names}
    compute_statistics.main(job)
    assert first == {name: Path(job.output[name]).read_bytes() for name in names}
    cells = read_csv(job.output["cells"])
    assert cells["ema"].to_numpy() == pytest.approx(frames["cells"]["ema"].to_numpy(dtype=float))
    pairs = read_csv(job.output["mcnemar_models"])
    assert pairs["b01"].dtype == np.int64
    assert set(pairs["significant_cell"]) <= {True, False}


def test_the_rule_script_names_an_unknown_output(tmp_path: Path, scores: pd.DataFrame) -> None:
    with pytest.raises(DataError, match="horoscope"):
        compute_statistics.main(stand_in(tmp_path, scores, ["horoscope"]))
