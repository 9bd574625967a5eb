"""MultiTempBench's own inconsistencies, recomputed (docs/reproduction.md has the same numbers)."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pandas as pd
import pytest
from dateutil.relativedelta import relativedelta
from scipy import stats

from scripts.dates.calendars import days_after, to_hijri, to_lunar
from scripts.dates.formats import Options, write
from scripts.files import DataError, read_csv

PUBLISHED = Path(__file__).parents[2] / "data" / "published"


def published(name: str) -> pd.DataFrame:
    return read_csv(PUBLISHED / f"multitempbench_{name}.csv")


def headline(key: str) -> float:
    frame = published("headlines").set_index("key")
    return float(frame.loc[key, "value"])


@pytest.fixture(scope="module")
def accuracy() -> pd.DataFrame:
    return published("table3").pivot(index="model", columns="language", values="accuracy")


def test_1_three_numbers_of_models(accuracy: pd.DataFrame) -> None:
    assert (headline("n_llms_evaluated_claimed"), headline("n_models_regression")) == (20, 19)
    assert len(accuracy) == 14
    assert headline("n_predictions_regression") == 19 * headline("n_examples")
    assert len(set(published("table4")["model"]) - {"Baseline"}) == 14


def test_2_two_models_with_one_row_and_two_averages(accuracy: pd.DataFrame) -> None:
    languages = accuracy.columns.drop("Average")
    twins = accuracy.loc[["Olmo 3 7B", "OLMo 2 7B"]]
    assert (twins[languages].nunique() == 1).all()
    assert twins["Average"].tolist() == [29.8, 29.9]
    # From thirds, as every cell is printed, the mean is 29.87.
    assert (twins.loc["OLMo 2 7B", languages] * 3).round().sum() / 15 == pytest.approx(
        29.87, abs=5e-3
    )


def test_2_three_of_fourteen_averages_are_cut_off(accuracy: pd.DataFrame) -> None:
    languages = accuracy.columns.drop("Average")
    true = (accuracy[languages] * 3).round().sum(axis=1) / 15
    off = accuracy.index[(true.round(1) - accuracy["Average"]).abs() > 0.01]
    assert set(off) == {"Olmo 3 7B", "GPT-OSS 20B", "Qwen3 0.6B"}
    cut = (true[off] * 10).astype(int) / 10
    assert cut.tolist() == accuracy.loc[off, "Average"].tolist()


def test_3_every_cell_is_a_third_of_a_whole_number(accuracy: pd.DataFrame) -> None:
    cells = accuracy.drop(columns="Average").to_numpy().ravel()
    assert len(cells) == 70
    assert {f"{value:.1f}"[-1] for value in cells} == {"0", "3", "7"}
    # With 3,000 answers a language a cell may end in any digit: about 27 of 100 end in these three.
    endings = [f"{100 * k / 3000:.1f}"[-1] for k in range(3001)]
    share = sum(end in "037" for end in endings) / len(endings)
    assert share == pytest.approx(0.3, abs=0.01) and share**70 < 1e-35


def test_4_equal_fragmentation_has_two_values() -> None:
    frame = published("table2").set_index("string")
    # The same words in two orders, cut in the same way in the printed picture.
    assert frame.loc["October 10, 2034", "mdfr"] == 0.53
    assert frame.loc["10 October 2034", "mdfr"] == 0.75
    # Table 2 calls Hausa the worst; table 4 has it below English for the same tokeniser.
    table4 = published("table4").query("model == 'Gemma3' and calendar == 'Gregorian'")
    by_language = table4.set_index("language")["mdfr"]
    assert frame["mdfr"].idxmax() == "Oktoba 10, 2034"
    assert by_language["En"] == 0.44 > by_language["Ha"] == 0.33


def test_4_three_models_share_one_row_of_table_4() -> None:
    frame = published("table4").pivot_table(
        index="model", columns=["calendar", "language"], values="mdfr"
    )
    assert (frame.loc["GPT-3.5"] == frame.loc["GPT-4"]).all()
    assert (frame.loc["GPT-4"] == frame.loc["GPT-5"]).all()


def test_5_a_gold_answer_is_one_day_off() -> None:
    assert days_after("1225-05-01", 60) == "1225-06-30"
    assert days_after("1225-01-05", 60) == "1225-03-06"


def test_6_calendar_examples_are_another_day() -> None:
    day = date(2023, 7, 3)
    hijri, lunar = to_hijri(day), to_lunar(day)
    assert (hijri.year, hijri.month, hijri.day) == (1444, 12, 15)
    assert (hijri.month, hijri.day) != (3, 3) and (hijri.month, hijri.day) != (9, 3)
    assert (lunar.year, lunar.month, lunar.day) == (2023, 5, 16)
    assert (lunar.month, lunar.day) != (6, 9)


def test_6_one_hijri_string_has_two_years_and_neither_is_right() -> None:
    hijri = to_hijri(date(2034, 10, 10))
    assert (hijri.day, hijri.month, hijri.year) == (27, 7, 1456)
    strings = {
        name: published(name).query("language == 'Arabic' and calendar == 'Hijri'")["string"].item()
        for name in ("table2", "table8")
    }
    # Arabic-Indic digits: 27 Rajab 1441 in one table; day and year changed places in the other.
    assert strings["table2"].startswith("٢٧ رجب ١٤٤١")
    assert strings["table8"].startswith("١٤٥٤ رجب ٢٢")
    assert "27 Rajab 1456 AH" in set(published("table2")["string"])


def test_7_an_islamic_month_with_a_gregorian_year_names_no_date() -> None:
    hybrid = Options(hausa_hybrid=True)
    assert write(date(2023, 7, 3), "ha", "calendar").text == "15 Zulhijja 1444 AH"
    assert write(date(2023, 7, 3), "ha", "calendar", hybrid).text == "15 Zulhijja 2023"
    # In 2008 the first of Muharram fell on 10 January and on 29 December.
    for day in (date(2008, 1, 10), date(2008, 12, 29)):
        assert (to_hijri(day).month, to_hijri(day).day) == (1, 1)
        with pytest.raises(DataError, match="would name"):
            write(day, "ha", "calendar", hybrid)


def test_8_one_figure_is_called_agreement_and_kappa() -> None:
    assert headline("judge_kappa") == headline("human_agreement_A4") == 0.89
    assert headline("n_severity_annotators") == 5 and headline("n_judge_annotators") == 6


def test_9_nine_years_and_nine_months_are_two_dates() -> None:
    """Figure 1: "9 years after 3 October 2021" in English, "watanni 9" (9 months) in Hausa."""
    day = date(2021, 10, 3)
    assert day + relativedelta(years=9) == date(2030, 10, 3)
    assert day + relativedelta(months=9) == date(2022, 7, 3)


def test_10_formats_are_four_and_six() -> None:
    frame = published("table5").set_index("task")
    assert set(frame["formats"].drop("Total")) == {4} and frame.loc["Total", "formats"] == 6
    assert (frame["raw"] * 4 * frame["languages"] == frame["size"]).all()


def test_correlations_of_the_figures_do_not_follow_from_the_tables(accuracy: pd.DataFrame) -> None:
    """Three negative r over the same models bound the r of the mean of the tasks."""
    frame = published("correlations")
    frame = frame[frame["relation"] == "mdfr_vs_accuracy"]
    for language, printed in (("Arabic", 0.10), ("Hausa", -0.30)):
        values = frame.loc[
            (frame["language"] == language) & (frame["task"] != "all_tasks_mean"), "r"
        ]
        assert len(values) == 3 and (values < 0).all()
        # The mean over tasks cannot correlate more weakly than the weakest of them.
        assert values.max() < printed


def test_z_and_p_of_the_regression_fit_each_other() -> None:
    row = published("regression").iloc[0]
    assert row["beta"] / row["se"] == pytest.approx(row["z"], abs=0.03)
    assert 2 * stats.norm.sf(row["z"]) == pytest.approx(float(row["p"]), abs=5e-4)
