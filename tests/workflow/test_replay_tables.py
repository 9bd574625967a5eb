"""The replay's statistics against the published tables, where margins determine them.

The replay is run here, in a copy of the project, or REPLAY_RESULTS names the results folder of one
that was run before. Names of models come from config/replay.yaml, published values from
data/published.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from scripts.files import read_csv

pytestmark = pytest.mark.workflow

ROOT = Path(__file__).parents[2]
PUBLISHED = ROOT / "data" / "published"
NAMES = yaml.safe_load((ROOT / "config" / "replay.yaml").read_text())["syntaxbench"]["replay"][
    "names"
]
LABELS = {
    name: entry["label"]
    for name, entry in yaml.safe_load((ROOT / "config.yaml").read_text())["models"].items()
}
# No k of 400 prints as 99.3; the paper's inconsistency 5 in docs/reproduction.md.
IMPOSSIBLE = ("qwen3.6-27b", "thinking", "longest_string_finder", 1)
# The published bound lies at a jump of the law of six resampled values (docs/reproduction.md).
MACRO_CI_JUMP = ("deepseek-r1-32b", "non_thinking", "low")
KEY = ["model", "mode", "task", "shots", "condition"]

Statistics = Callable[[str], pd.DataFrame]


@pytest.fixture(scope="module")
def statistics(replay_statistics: Path) -> Statistics:
    return lambda name: read_csv(replay_statistics / f"{name}.csv")


def published(name: str, **constant: Any) -> pd.DataFrame:
    """A published table with roster names and our key columns."""
    table = read_csv(PUBLISHED / f"syntaxbench_{name}.csv").rename(columns={"shot": "shots"})
    for column in ("model", "model_a", "model_b"):
        if column in table:
            table[column] = table[column].map(lambda name: NAMES.get(name, name))
    for column, value in constant.items():
        table[column] = value
    return table


def joined(table: pd.DataFrame, ours: pd.DataFrame, on: list[str]) -> pd.DataFrame:
    """Published rows beside ours; a published row without ours fails the test."""
    both = table.merge(
        ours, on=on, how="left", suffixes=("_published", ""), indicator=True, validate="one_to_one"
    )
    assert (both["_merge"] == "both").all(), both[both["_merge"] != "both"][on]
    assert len(both)
    return both


def percent(value: float) -> str:
    return f"{100 * value:.1f}"


def mismatches(both: pd.DataFrame, right: pd.Series[Any], *columns: str) -> pd.DataFrame:
    shown = [c for c in [*KEY, "model_a", "model_b", *columns] if c in both]
    return both.loc[~right, shown]


@pytest.mark.parametrize(
    ("name", "mode", "rows"),
    [("main_thinking", "thinking", 60), ("main_nonthinking", "non_thinking", 72)],
)
def test_tables_4_and_5(statistics: Statistics, name: str, mode: str, rows: int) -> None:
    table = published(name, mode=mode, shots=4)
    assert len(table) == rows
    both = joined(table, statistics("cells"), KEY)
    missing = both["ema_published"].isna()
    # The cell that the paper did not evaluate is not evaluated here.
    assert both.loc[missing, "ema"].isna().all()
    assert missing.sum() == (1 if mode == "non_thinking" else 0)
    both = both[~missing]
    exact = both["ema"].map(percent) == both["ema_published"].map("{:.1f}".format)
    assert mismatches(both, exact, "ema_published", "ema").empty
    step = 100 / both["n"] + 0.05 + 1e-9
    for bound in ("low", "high"):
        close = (100 * both[f"ema_{bound}"] - both[f"ci_{bound}"]).abs() <= step
        assert mismatches(both, close, f"ci_{bound}", f"ema_{bound}").empty


def test_table_6(statistics: Statistics) -> None:
    table = published("shot_ablation_thinking", mode="thinking", condition="all")
    both = joined(table, statistics("cells"), KEY)
    assert len(both) == 90
    impossible = both[KEY[:4]].apply(tuple, axis=1) == IMPOSSIBLE
    exact = both["ema"].map(percent) == both["ema_published"].map("{:.1f}".format)
    assert mismatches(both, exact | impossible, "ema_published", "ema").empty
    assert impossible.sum() == 1 and not exact[impossible].any()
    assert "99.3" not in {percent(k / 400) for k in range(401)}


def test_table_7_binary_and_string(statistics: Statistics) -> None:
    table = published("kappa_thinking", mode="thinking", condition="all")
    determined = ["letter_container", "palindrome_test", "longest_string_finder"]
    table = table[table["task"].isin(determined)]
    both = joined(table, statistics("cells"), KEY)
    assert len(both) == 15
    # Half a unit of the third decimal: the paper prints .7725 both as .772 and as .773.
    close = (both["kappa"] - both["kappa_published"]).abs() <= 0.0005 + 1e-9
    assert mismatches(both, close, "kappa_published", "kappa").empty
    same = both["kappa_band"] == both["band"]
    assert mismatches(both, same, "band", "kappa_band").empty


@pytest.mark.parametrize(
    ("name", "constant", "rows"),
    [("kendall_thinking", {"mode": "thinking"}, 30), ("fig7_tau", {}, 66)],
)
def test_table_10_and_figure_7(
    statistics: Statistics, name: str, constant: dict[str, str], rows: int
) -> None:
    table = published(name, condition="all", **constant)
    assert len(table) == rows
    # One task of one model lacks a condition at 4 shots: we print no trend, the paper "flat".
    gap = (table["model"] == "qwen3.5-2b") & (table["task"] == "index_to_span")
    both = joined(table[~gap], statistics("kendall"), ["model", "mode", "task", "condition"])
    close = (both["tau"] - both["tau_published"]).abs() <= 0.0005
    close |= both["tau"].isna() & both["tau_published"].isna()
    assert mismatches(both, close, "tau_published", "tau").empty
    same = both["label"] == both["label_published"].str.replace("(–)", "", regex=False)
    assert mismatches(both, same, "label_published", "label").empty


def test_table_11_with_stars(statistics: Statistics) -> None:
    table = published("english_random_gap_thinking", mode="thinking")
    both = joined(table, statistics("english_random"), ["model", "mode", "task", "shots"])
    assert len(both) == 30
    close = (100 * both["gap"] - both["delta_ema"]).abs() <= 0.05 + 1e-9
    assert mismatches(both, close, "delta_ema", "gap").empty
    starred = both["stars"].notna()
    assert mismatches(both, starred == both["significant"], "stars", "p_bonferroni").empty
    assert set(both["family_size"]) == {197}


def test_table_16(statistics: Statistics) -> None:
    table = published("effect_sizes", mode="thinking", shots=4)
    ours = statistics("effect_sizes")
    both = joined(table, ours, ["mode", "shots", "task", "model_a", "model_b"])
    assert len(both) == 12
    h = both["h"].map("{:.2f}".format) == both["h_published"].map("{:.2f}".format)
    assert mismatches(both, h, "h_published", "h").empty
    risk = (both["risk_difference"] - both["risk_diff"]).abs() <= 0.0005 + 1e-9
    assert mismatches(both, risk, "risk_diff", "risk_difference").empty
    for bound in ("low", "high"):
        close = (both[f"h_{bound}"] - both[f"ci_{bound}"]).abs() <= 0.015
        assert mismatches(both, close, f"ci_{bound}", f"h_{bound}").empty
    # The twelve are the largest; ranks 12 and 13 tie exactly.
    group = ours[(ours["mode"] == "thinking") & (ours["shots"] == 4)]
    size = group["h"].abs().sort_values(ascending=False).to_numpy()
    assert both["h"].abs().min() >= size[11] - 1e-12
    assert size[11] == pytest.approx(size[12], abs=1e-12)


@pytest.mark.parametrize(
    "source", ["SyntaxBench Table 2", "SyntaxBench Table 17", "SyntaxBench Table 18"]
)
def test_tables_2_17_and_18(statistics: Statistics, source: str) -> None:
    table = published("leaderboards", shots=4)
    table = table[table["source"] == source]
    by_label = {label: name for name, label in LABELS.items()}
    table = table.assign(model=table["model"].map(lambda name: by_label.get(name, name)))
    both = joined(table, statistics("leaderboard"), ["mode", "shots", "model"])
    assert len(both) == (6 if source.endswith("18") else 5)
    exact = both["macro_ema"].map("{:.3f}".format) == both["macro_ema_published"].map(
        "{:.3f}".format
    )
    assert mismatches(both, exact, "macro_ema_published", "macro_ema").empty
    assert (both["rank"] == both["rank_published"]).all()
    for column, name in (("valid_response_rate", "vrr"), ("parse_error_rate", "per")):
        close = (both[column] - both[name]).abs() <= 0.0005 + 1e-9
        assert mismatches(both, close, name, column).empty
    for bound in ("low", "high"):
        close = (both[f"macro_{bound}"] - both[f"ci_{bound}"]).abs() <= 0.02
        cells = both[["model", "mode"]].assign(bound=bound).apply(tuple, axis=1)
        jump = cells == MACRO_CI_JUMP
        assert mismatches(both, close | jump, f"ci_{bound}", f"macro_{bound}").empty


def test_figure_1(statistics: Statistics) -> None:
    table = published("fig1_heatmap", condition="all")
    both = joined(table, statistics("cells"), KEY)
    assert len(both) == 198
    empty = both["ema"].isna()
    assert both.loc[empty, KEY[:4]].values.tolist() == [
        ["qwen3.5-2b", "non_thinking", "index_to_span", 4]
    ]
    both = both[~empty]
    exact = both["ema"].map("{:.2f}".format) == both["ema_2dp"].map("{:.2f}".format)
    assert mismatches(both, exact, "ema_2dp", "ema").empty


def test_table_12(statistics: Statistics) -> None:
    """Copied into the replay from the table itself: this checks the path, not the paper."""
    table = published("per_thinking", mode="thinking", condition="all")
    both = joined(table, statistics("cells"), KEY)
    for column, name in (
        ("parse_error_rate", "per"),
        ("blank_rate", "blank"),
        ("inference_error_rate", "inf_err"),
    ):
        exact = both[column].map(percent) == both[name].map("{:.1f}".format)
        assert mismatches(both, exact, name, column).empty


def test_table_3_pair(statistics: Statistics) -> None:
    """The published pair: 55 and 2 discordant items, odds ratio 27.5; class rates."""
    modes = statistics("mcnemar_modes")
    pair = modes[
        (modes["model"] == "qwen3.6-27b")
        & (modes["task"] == "palindrome_test")
        & (modes["shots"] == 4)
        & (modes["condition"] == "all")
    ]
    assert pair[["b01", "b10", "odds_ratio"]].values.tolist() == [[55, 2, 27.5]]
    assert pair["statistic"].item() == pytest.approx(52**2 / 57)
    cells = statistics("cells")
    rows = cells[
        (cells["model"] == "qwen3.6-27b")
        & (cells["task"] == "palindrome_test")
        & (cells["shots"] == 4)
        & (cells["condition"] == "all")
    ].sort_values("mode")
    assert rows[["mode", "tpr", "tnr"]].values.tolist() == [
        ["non_thinking", 0.9075, 0.9975],
        ["thinking", 0.7725, 1.0],
    ]


def test_table_3_values(statistics: Statistics) -> None:
    """12 of 18 as printed; six are exact ties at the third decimal, printed either way."""
    cells = statistics("cells")
    cells = cells[(cells["model"] == "qwen3.6-27b") & (cells["condition"] == "all")]
    cells = cells[cells["task"] == "palindrome_test"].set_index(["mode", "shots"])
    found, ties = 0, 0
    for row in published("palindrome_kappa").to_dict("records"):
        pair = [cells.loc[(mode, row["shots"])] for mode in ("non_thinking", "thinking")]
        for column in ("ema", "kappa"):
            values = [float(part[column]) for part in pair]
            printed = [row[f"nt_{column}"], row[f"t_{column}"], row[f"delta_{column}"]]
            for ours, theirs in zip([*values, values[0] - values[1]], printed, strict=True):
                same = f"{ours:.3f}" == f"{theirs:.3f}"
                found += same
                ties += not same and abs(ours - theirs) == pytest.approx(0.0005, abs=1e-9)
    assert (found, ties) == (12, 6)


def test_figure_6(statistics: Statistics) -> None:
    """Bands of the binary tasks and longest_string_finder; integer kappa is not determined."""
    bands = {"top": "almost_perfect", "sub": "substantial", "mod": "moderate", "slt": "slight"}
    table = published("fig6_kappa_bands")
    table = table[~table["task"].isin(["count_chars", "edit_distance"])]
    both = joined(table, statistics("cells"), KEY)
    assert len(both) == 99
    same = both["kappa_band"] == both["band"].replace(bands)
    assert mismatches(both, same, "band", "kappa_band").empty


def test_accuracies_of_table_15(statistics: Statistics) -> None:
    table = published("thinking_cost", mode="thinking", shots=4, condition="all")
    both = joined(table, statistics("cells"), KEY)
    assert len(both) == 18
    exact = both["ema"].map(percent) == both["ema_published"].map("{:.1f}".format)
    assert mismatches(both, exact, "ema_published", "ema").empty


def test_valid_replies_of_tables_13_and_14(statistics: Statistics) -> None:
    """n follows from the parse errors; their division between the conditions is ours."""
    parts = [published(f"delta_{t}", mode="thinking") for t in ("count_chars", "edit_distance")]
    both = joined(pd.concat(parts), statistics("cells"), KEY)
    assert len(both) == 30
    same = both["n_published"] == both["delta_n"]
    divided = both["model"].eq("nemotron-cascade-2-31b") & both["task"].eq("edit_distance")
    assert mismatches(both, same | divided & (both["condition"] != "all"), "n_published").empty
    assert (~same).sum() == 2


def test_cells_at_or_above_90_percent(statistics: Statistics) -> None:
    """Section 4.1: 25 of the 32 four-shot cells of models of 27B and more, four easier tasks."""
    cells = statistics("cells")
    large = ["27b", "31b", "32b"]
    chosen = cells[
        (cells["shots"] == 4)
        & (cells["condition"] == "all")
        & cells["model"].str[-3:].isin(large)
        & ~cells["task"].isin(["edit_distance", "index_to_span"])
    ]
    assert (len(chosen), int((chosen["ema"] >= 0.9).sum())) == (32, 25)


def test_english_random_headline(statistics: Statistics) -> None:
    """25 of 197, 23 with random easier: by construction of the counts at 0 and 1 shot."""
    ours = statistics("english_random")
    significant = ours[ours["significant"].fillna(False).astype(bool)]
    assert (len(significant), int((significant["gap"] < 0).sum())) == (25, 23)
    at_four = significant[significant["shots"] == 4]
    assert (len(at_four), int((at_four["gap"] < 0).sum())) == (9, 8)
