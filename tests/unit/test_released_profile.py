"""The released formula: its parts by hand, the published strings, table 4 on real tokenisers."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts.files import DataError
from scripts.tokenisation.released_profile import (
    FORMS,
    alphanumeric_runs,
    drawn_days,
    released_design_frame,
    released_score,
    released_text,
    released_tokens,
    released_units,
    separators_of,
    text_released_score,
    written_forms,
)
from scripts.tokenisation.tokenisers import Token, from_description
from tests.real_tokenisers import NEEDED, real
from tests.small_tokeniser import description

COLUMNS = tuple(FORMS)
DESIGN = {"years": [1900, 2099], "dates": 80}


@pytest.mark.parametrize(
    ("text", "language", "calendar", "units"),
    [
        ("10. Oktober 2034", "de", "gregorian", ["10", ".", "Oktober", "2034"]),
        ("October 10, 2034", "en", "gregorian", ["October", " ", "10", ", ", "2034"]),
        ("10 October 2034", "en", "gregorian", ["10", " ", "October", " ", "2034"]),
        ("10/12/2034", "en", "gregorian", ["10", "/", "12", "/", "2034"]),
        ("3rd of July 2023", "en", "gregorian", ["3rd", "of", "July", "2023"]),
        ("2034 年 10 月 1 日", "zh", "gregorian", ["2034", "年", "10", "月", "1", "日"]),
        ("2034年10月1日", "zh", "gregorian", ["2034年10月1日"]),
        ("27 Rajab 1456 AH", "en", "hijri", ["27", "Rajab", "1456", "AH"]),
        ("15 ذو الحجة ١٤٤٤ هـ", "ar", "hijri", ["15", "ذو", "الحجة", "١٤٤٤"]),
        ("Rabi al-Awwal 3, 1456 AH", "en", "hijri", ["Rabi", "al-Awwal 3", ",", "1456 AH"]),
        ("1456/1/3 AH", "ha", "hijri", ["1456", "/", "1", "/", "3", "AH"]),
        (
            "Ranar 3 ga Rabi'ul Awwal, 1456 AH",
            "ha",
            "hijri",
            ["Ranar", "3", "ga", "Rabi'ul Awwal", ",", "1456 AH"],
        ),
        ("Rajab", "ar", "hijri", []),
        ("Rajab,", "ar", "hijri", []),
        ("辛亥年 五月廿三", "zh", "lunar", ["辛亥年", "五月廿三"]),
        ("农历2034年五月廿三", "zh", "lunar", ["农历", "2034", "年", "五月廿三"]),
        ("2034年五月廿三 (农历)", "zh", "lunar", ["2034", "年", "五月廿三", "(农历)"]),
        ("二零二三年闰二月十一", "zh", "lunar", ["二零二三", "年", "闰二月十一"]),
        ("五月, 廿三", "zh", "lunar", ["五月", ",", "廿三"]),
    ],
)
def test_units_of_the_script(text: str, language: str, calendar: str, units: list[str]) -> None:
    assert released_units(text, language, calendar) == units


def test_texts_as_the_script_writes_them() -> None:
    assert released_text("2034年10月10日", "zh", "gregorian") == "2034 年 10 月 10 日"
    assert released_text("2034 年 10 月 10 日", "zh", "gregorian") == "2034 年 10 月 10 日"
    assert released_text("2034-10-10", "zh", "gregorian") == "2034-10-10"
    assert released_text("辛亥年五月廿三", "zh", "lunar") == "辛亥年 五月廿三"
    assert released_text("辛亥年 五月廿三", "zh", "lunar") == "辛亥年 五月廿三"
    assert released_text("二零二三年五月", "zh", "lunar") == "二零二三年五月"
    assert released_text("10 年", "de", "gregorian") == "10 年"


@given(st.text(max_size=30))
def test_runs_hold_all_but_whitespace(text: str) -> None:
    runs = alphanumeric_runs(text)
    assert "".join(runs) == "".join(sign for sign in text if not sign.isspace())
    assert all(run.isalnum() or len(run) == 1 for run in runs)


def test_the_formula_by_hand() -> None:
    marked = ["1", "0", ".", "▁Oktober", "▁", "2", "0", "3", "4"]
    found = released_score(marked, ["10", ".", "Oktober", "2034"], separators_of("de", "gregorian"))
    assert found.theta == pytest.approx(1 - 1 / (11**0.5 * 2))
    assert found.score == pytest.approx(0.4992, abs=5e-5)
    assert (found.split, found.delimiter, found.tokens, found.units) == (1, 0, 9, 4)


def test_penalties_lower_the_number_and_it_stays_in_range() -> None:
    space = separators_of("en", "gregorian")
    assert released_score(["a", "b"], ["a", "b"], space).score == 0
    one = released_score(["a"], ["b"], space)
    assert (one.delimiter, one.score) == (1, pytest.approx(0.8))
    assert released_score(["/"], ["b"], space).delimiter == 0
    assert released_score(["x"] * 40, ["b"], space).score == 0
    # Without units there is no difference to count.
    assert released_score(["x"] * 40, [], space).score == pytest.approx(0.9)
    assert released_score([], [], space) == (0, 1, 0, 0, 0, 0)
    # A token that is only a space mark leaves nothing once the mark is taken away.
    assert released_score(["Ġ"], ["b"], space).delimiter == 1


def test_separators_by_language_and_calendar() -> None:
    assert "年" in separators_of("zh", "gregorian") and "年" in separators_of("zh", "lunar")
    assert "هـ" in separators_of("ar", "hijri") and "AH" not in separators_of("ar", "hijri")
    assert "ga" in separators_of("ha", "hijri")
    assert separators_of("ha", "gregorian") == ("-", "/", ".", " ")


def test_tokens_of_both_kinds() -> None:
    tokens = [Token("Ù", 0, 1, b"\xd9"), Token("Ġx", 1, 3, b" x"), Token("[UNK]", 3, 4, None)]
    assert released_tokens(tokens, decoded=False) == ["Ù", "Ġx", "[UNK]"]
    assert released_tokens(tokens, decoded=True) == ["\ufffd", " x", ""]


def test_every_form_of_a_day() -> None:
    day = date(2023, 4, 1)
    texts = {column: [text for text, _ in written_forms(day, column)] for column in COLUMNS}
    assert texts["ar_gregorian"] == ["0١/0٤/٢٠٢٣", *["٢٠٢٣-0٤-0١"] * 2, "0١ أبريل ٢٠٢٣"]
    assert texts["de_gregorian"][0] == "01.04.2023"
    assert texts["de_gregorian"][-1] == "01. April 2023"
    assert texts["zh_gregorian"][0] == "2023 年 4 月 1 日"
    assert texts["ha_gregorian"][-1] == "Afrilu 01, 2023"
    assert texts["zh_lunar"] == [
        "农历2023年二月十一",
        "2023年二月十一 (农历)",
        "癸卯年 二月十一",
        "2023年二月十一",
    ]
    assert texts["ar_hijri"][0] == "١٠ رمضان ١٤٤٤ هـ"
    assert texts["ha_hijri"][-1] == "Ranar 10 ga Ramadan, 1444 AH"
    assert written_forms(date(2023, 10, 20), "en_hijri")[0][0] == "5 Rabi al-Thani 1445 AH"
    assert [whole for _, whole in written_forms(day, "en_gregorian")] == [False] * 3 + [
        True,
        False,
        False,
    ]


def test_draws_are_seeded_and_have_the_design() -> None:
    draws = list(drawn_days([1900, 2099], 80, 3, seed=1))
    assert draws == list(drawn_days([1900, 2099], 80, 3, seed=1))
    assert draws != list(drawn_days([1900, 2099], 80, 3, seed=2))
    # Another draw does not change the first ones.
    assert draws[:2] == list(drawn_days([1900, 2099], 80, 2, seed=1))
    for days in draws:
        assert len(set(days)) == 80
        assert len({day.year for day in days}) == 5
        assert len({day.month for day in days}) == len({day.day for day in days}) == 4
        assert max(day.day for day in days) <= 28


@pytest.mark.parametrize(
    ("years", "dates", "repetitions"),
    [([1900, 2099], 81, 1), ([1900, 2099], 0, 1), ([2000, 2001], 80, 1), ([1900, 2099], 80, 0)],
)
def test_designs_that_cannot_be(years: list[int], dates: int, repetitions: int) -> None:
    with pytest.raises(DataError, match="released_design"):
        list(drawn_days(years, dates, repetitions, seed=1))


def test_design_of_a_small_tokeniser() -> None:
    tokeniser = from_description("small", description(("10", "20")))
    design = {"years": [1990, 1999], "dates": 16, "repetitions": 2, "seed": 3}
    frame = released_design_frame(tokeniser, **design)
    assert frame["column"].tolist() == list(COLUMNS)
    assert frame["n"].tolist() == [16 * 2 * len(FORMS[column]) for column in COLUMNS]
    assert frame["mdfr_as_published"].between(0, 1).all()
    pd.testing.assert_frame_equal(frame, released_design_frame(tokeniser, **design))
    once = released_design_frame(tokeniser, **(design | {"repetitions": 1}))
    assert once["sampling_sd"].isna().all()


@NEEDED
@pytest.mark.parametrize(
    ("text", "language", "calendar", "exact", "published"),
    [
        ("10. Oktober 2034", "de", "gregorian", 0.4992, 0.50),
        ("October 10, 2034", "en", "gregorian", 0.5305, 0.53),
        ("2034年10月10日", "zh", "gregorian", 0.55, 0.55),
        ("٢٧ رجب ١٤٤١ هـ", "ar", "hijri", 0.60, 0.60),
        ("27 Rajab 1456 AH", "en", "hijri", 0.60, 0.60),
        ("辛亥年五月廿三", "zh", "lunar", 0.65, 0.65),
        ("١٠ أكتوبر ٢٠٣٤", "ar", "gregorian", 0.70, 0.70),
        ("10 October 2034", "en", "gregorian", 0.75, 0.75),
    ],
)
def test_eight_of_the_nine_values_of_table_2(
    text: str, language: str, calendar: str, exact: float, published: float
) -> None:
    found = text_released_score(text, language, calendar, real("gemma3"))
    assert found.score == pytest.approx(exact, abs=5e-5)
    assert round(found.score, 2) == published


@NEEDED
def test_the_ninth_value_of_table_2_is_not_what_the_formula_gives() -> None:
    found = text_released_score("Oktoba 10, 2034", "ha", "gregorian", real("gemma3"))
    assert found.score == pytest.approx(0.375)
    assert (found.tokens, found.units) == (12, 4)


def numbers(text: str) -> list[float]:
    return [float(number) for number in text.split()]


#: Per tokeniser: what was found before (rounded), and table 4. Columns as in COLUMNS.
TABLE_4: dict[str, tuple[list[float], list[float]]] = {
    "gemma3": (
        numbers(".39 .34 .44 .34 .33 .48 .29 .31 .31"),
        numbers(".39 .34 .44 .34 .33 .48 .30 .31 .31"),
    ),
    "qwen3": (
        numbers(".17 .32 .44 .34 .33 .62 .16 .31 .28"),
        numbers(".17 .32 .44 .34 .32 .61 .16 .31 .28"),
    ),
    "decoded:gpt35turbo": (
        numbers(".20 .12 .23 .11 .13 .42 .14 .31 .29"),
        numbers(".19 .12 .23 .12 .12 .41 .14 .31 .30"),
    ),
    "decoded:p50k_base": (
        numbers(".18 .17 .37 .10 .17 .30 .09 .36 .39"),
        numbers(".17 .17 .37 .10 .16 .29 .09 .37 .39"),
    ),
    "llama3_1": (
        numbers(".35 .16 .34 .11 .13 .62 .36 .31 .29"),
        numbers(".35 .16 .34 .12 .12 .60 .36 .31 .30"),
    ),
    "gpt4o": (
        numbers(".39 .16 .34 .12 .13 .62 .44 .32 .31"),
        numbers(".39 .16 .34 .12 .13 .60 .44 .32 .32"),
    ),
    "llama2": (
        numbers(".07 .23 .42 .30 .30 .31 .04 .22 .22"),
        numbers(".06 .23 .42 .30 .29 .20 .04 .23 .23"),
    ),
    "deepseek_v3": (
        numbers(".30 .15 .34 .12 .13 .71 .31 .32 .31"),
        numbers(".10 .31 .44 .34 .32 .61 .05 .30 .29"),
    ),
    "decoded:gpt4o": (numbers(".38 .16 .23 .12 .13 .49 .31 .32 .31"), []),
    # Not among the values found before; agrees with the published row of OLMo.
    "olmo_v1_5": ([], numbers(".13 .18 .37 .09 .16 .41 .09 .37 .40")),
}
#: Cells that do not follow: one unexplained, and a row of another version of the tokeniser.
EXCEPTIONS = {"llama2": {"zh_lunar"}, "deepseek_v3": set(COLUMNS)}
#: Rows that the published table does not have, or has for another tokeniser.
CHEAPER = ("deepseek_v3", "decoded:gpt4o", "olmo_v1_5")


@NEEDED
@pytest.mark.parametrize("name", sorted(TABLE_4))
def test_rows_of_table_4(name: str) -> None:
    before, published = TABLE_4[name]
    repetitions = 10 if name in CHEAPER else 30
    design = DESIGN | {"repetitions": repetitions, "seed": 2026}
    found = released_design_frame(real(name), **design).set_index("column")
    values: Sequence[float] = found.loc[list(COLUMNS), "mdfr_as_published"].tolist()
    assert found["sampling_sd"].max() < 0.025
    # The values found before are rounded too, and from other draws.
    if before:
        assert values == pytest.approx(before, abs=0.012)
    excepted = EXCEPTIONS.get(name, set())
    for column, value, printed in zip(COLUMNS, values, published, strict=False):
        if column not in excepted:
            # 0.02, and a little for the printed value: it is rounded, and of a single draw.
            assert value == pytest.approx(printed, abs=0.0225), column
    if name == "llama2":
        assert values[COLUMNS.index("zh_lunar")] - 0.20 > 0.1
    if name == "deepseek_v3":
        differences = [abs(a - b) for a, b in zip(values, published, strict=True)]
        assert max(differences) > 0.2
