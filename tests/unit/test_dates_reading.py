"""Dates, times and numbers in free text: the grammar, its ambiguities, and hostile input."""

# ruff: noqa: E501 - tables of examples
from __future__ import annotations

import time
from datetime import date, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts.dates import formats
from scripts.dates.languages import LANGUAGES
from scripts.dates.number_words import NUMBER_WORDS, chinese_integer
from scripts.dates.plain_text import normalise
from scripts.dates.reading import read_text
from scripts.dates.signs import fold
from scripts.dates.times_of_day import hours
from scripts.multitempbench.tasks import FORMATS

JULY = date(2023, 7, 3)


def days(text: str) -> list[list[str]]:
    return [[r.isoformat() for r in d.readings] for d in read_text(text).dates if d.complete]


@pytest.mark.parametrize(
    "text",
    [
        *("2023-07-03", "2023/7/3", "2023.07.03", "20230703", "2023 - 07 - 03", "03-Jul-2023"),
        *("3 July 2023", "July 3rd, 2023", "3rd of July, 2023", "the 3rd day of July 2023"),
        *("July 3 2023", "2023 July 3", "the third of July, 2023", "Monday, July the 3rd, 2023"),
        *("3. Juli 2023", "03. Juli des Jahres 2023", "3.7.2023", "Juli 3, 2023", "3 Jul. 2023"),
        *("2023年07月03日", "2023年7月3号", "2023 年 7 月 3 日", "公历2023年7月3日", "2023年（癸卯年）七月三日"),
        *("农历二零二三年五月十六", "2023年农历五月十六", "２０２３年７月３日"),
        *("٣ يوليو ٢٠٢٣", "3 يوليو من عام 2023", "٣ تموز ٢٠٢٣", "3 تموز/يوليو 2023"),
        *("١٥ ذو الحجة ١٤٤٤ هـ", "15 ذي الحجة 1444", "15/12/1444 هـ", "1444-12-15 AH", "15-12-1444 A.H."),
        *("03 ga Yuli 2023", "3 ga watan Yuli, shekara ta 2023", "15 Zulhijja 1444 AH", "Yuli 3, 2023"),
        *("15 Dhu al-Hijjah 1444", "\u200e2023-07-03\u200e", "\u202b٣ يوليو ٢٠٢٣\u202c", "**3** *July* 2023"),
        *("`2023-07-03`", "2023-07-03T10:00Z", "on 2023-07-03.", "=2023-07-03"),
    ],
)  # fmt: skip
def test_one_day_in_many_notations(text: str) -> None:
    assert "2023-07-03" in days(text)[0], days(text)
    assert len(days(text)) == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("03/07/2023", ["2023-03-07", "2023-07-03"]),
        ("03.07.2023", ["2023-07-03"]),
        ("13/07/2023", ["2023-07-13"]),
        ("3/7/23", ["0023-03-07", "0023-07-03", "1923-03-07", "1923-07-03", "2023-03-07", "2023-07-03"]),
        ("3 July '23", ["0023-07-03", "1923-07-03", "2023-07-03"]),
        ("23-07-03", ["0003-07-23", "1903-07-23", "1923-07-03", "2003-07-23", "2023-07-03", "0023-07-03"]),
        ("1444-12-15", ["1444-12-15", "2023-07-03"]),
        ("二零二三年五月十六", ["2023-05-16", "2023-07-03"]),
        ("二零二三年五月十六日", ["2023-05-16", "2023-07-03"]),
        ("2023年5月16日", ["2023-05-16"]),
        ("2 March 52", ["0052-03-02", "1952-03-02", "2052-03-02"]),
        ("2 March 352", ["0352-03-02"]),
    ],
)  # fmt: skip
def test_every_reading_of_an_ambiguity(text: str, expected: list[str]) -> None:
    assert set(days(text)[0]) == set(expected)


@pytest.mark.parametrize(
    "text",
    [
        *("2023-02-30", "31 June 2023", "32/13/2023", "30 شعبان 1445 هـ", "二零二三年闰三月初一"),
        *("3 July 50 BC", "公元前50年7月3日", "1 Muharram 30000 AH"),
    ],
)
def test_what_is_no_day_has_no_reading(text: str) -> None:
    found = read_text(text).dates
    assert all(not d.readings for d in found)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "July 2023",
            "3 July",
            "July 3",
            "2023年7月",
            "7月3日",
            "03/07",
            "رمضان 1445",
            "ga Yuli 2023",
        ),
        *("五月十六", "3. Juli", "3 ga Yuli"),
    ],
)
def test_incomplete_dates_stay_incomplete(text: str) -> None:
    (mention,) = read_text(text).dates
    assert not mention.complete and mention.readings == ()


def test_no_date_inside_another_number() -> None:
    assert days("13 April 2025") == [["2025-04-13"]]
    for text in (
        "12023-07-03",
        "2023-07-031",
        "1/2/3/2024",
        "10.3.7.2023",
        "3 April 20251",
        "v1.2.2023-5",
    ):
        assert days(text) == [], text
    assert days("22:30 February 28, 2024") == [["2024-02-28"]]
    assert days("at 5 February 28, 2024") == [["2024-02-28"]]
    assert days("~~2 July 2023~~ 3 July 2023") == [["2023-07-03"]]


@given(
    st.dates(date(1900, 2, 1), date(2099, 12, 31)),
    st.sampled_from(sorted(LANGUAGES)),
    st.sampled_from(["{}", "Answer: {}.", "({})", "a {} b", "**{}**", "«{}»", "{}\n{}"]),
)
def test_whatever_is_written_is_read(day: date, language: str, frame: str) -> None:
    for form in FORMATS:
        text = formats.write(day, language, form).text
        found = days(frame.format(text, text))
        assert found and all(day.isoformat() in readings for readings in found), text
    for alias in formats.aliases(day, language):
        assert day.isoformat() in days(frame.format(alias, alias))[0], alias


@given(st.text(max_size=200))
def test_normalising_twice_changes_nothing_that_is_read(text: str) -> None:
    once = normalise(text)
    assert normalise(once).split() == once.split() or "~~" in text or "\\" in text or "*" in text


@given(st.text(alphabet="0123456789/-.: ,年月日闰初十七julyMai٣٠ـهَ\u200f\n", max_size=80))
def test_any_text_can_be_read(text: str) -> None:
    found = read_text(text)
    for mention in (*found.dates, *found.times, *found.numbers):
        assert 0 <= mention.start < mention.end <= len(found.text)


def minutes(text: str) -> list[tuple[int, ...]]:
    return [t.readings for t in read_text(text).times]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *((t, 20 * 60) for t in ("20:00", "8 PM", "8:00 p.m.", "8pm", "20:00:59", "8 o'clock in the evening")),
        *((t, 20 * 60) for t in ("20 Uhr", "20:00 Uhr", "8 Uhr abends", "abends um 8 Uhr", "acht Uhr abends")),
        *((t, 20 * 60) for t in ("20 Uhr am 3. Mai 2024", "晚上8点", "晚上八点整", "20时", "下午8:00")),
        *((t, 20 * 60) for t in ("٨:٠٠ م", "الساعة 8 مساءً", "الساعة الثامنة مساءً", "الساعة 20")),
        *((t, 20 * 60) for t in ("karfe 8 na dare", "ƙarfe 20:00", "karfe takwas na dare", "8 na yamma")),
        *((t, 8 * 60) for t in ("8:00", "8 am", "08:00 ص", "早上8点", "8 Uhr morgens", "karfe 8 na safe", "凌晨8点")),
        *((t, 0) for t in ("midnight", "12 AM", "午夜", "منتصف الليل", "tsakar dare", "0 Uhr", "凌晨0点")),
        *((t, 12 * 60) for t in ("noon", "12 PM", "12 noon", "中午12点", "12 Uhr mittags", "12 ظهرًا", "karfe 12 na rana")),
        *((t, 30) for t in ("0:30", "12:30 AM", "凌晨0点30分", "零点半", "00.30 Uhr")),
        *((t, 20 * 60 + 30) for t in ("karfe 8 da minti 30 na dare", "الساعة 8 والنصف مساءً", "晚上八点半", "20 Uhr 30")),
    ],
)  # fmt: skip
def test_times_of_day(text: str, expected: int) -> None:
    (readings,) = minutes(text)
    assert expected in readings


def test_times_that_are_none() -> None:
    assert minutes("UTC+02:00") == []
    assert minutes("20:00+02:00") == [(1200,)]
    assert minutes("25:00") == [] and minutes("12:60") == [] and minutes("8小时") == []
    assert minutes("24:00") == [(1440,)]
    assert minutes("24:30") == []
    assert hours(12, "evening") == (0, 12) and hours(2, "evening") == (2, 14)
    assert hours(11, "noon") == (11,) and hours(3, "noon") == (15,) and hours(3, "night") == (3,)
    assert hours(20, "morning") == () and hours(25, "") == ()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("45", ["45"]),
        ("-45", ["-45"]),
        ("1,234", ["1.234", "1234"]),
        ("1.234.567", ["1234567"]),
        ("1,234.5", ["1234.5"]),
        ("1.234.567,89", ["1234567.89"]),
        ("1'234", ["1234"]),
        ("1\u202f234", ["1234"]),
        ("٤٥٫٥", ["45.5"]),
        ("0.5", ["0.5"]),
        ("forty-five", ["45"]),
        ("fünfundvierzig", ["45"]),
        ("خمسة وأربعون", ["45"]),
        ("arba'in da biyar", ["45"]),
        ("四十五", ["45"]),
        ("一千二百三十四", ["1234"]),
    ],
)
def test_numbers(text: str, expected: list[str]) -> None:
    (number,) = read_text(text).numbers
    assert [str(value) for value in number.readings] == expected


def test_number_words_are_folded_and_chinese_numerals_checked() -> None:
    assert all(fold(word) == word for word in NUMBER_WORDS)
    assert chinese_integer("两千零五") == 2005 and chinese_integer("一百零三") == 103
    assert chinese_integer("十百") is None and chinese_integer("一百十十") is None
    assert [n.readings for n in read_text("10² days").numbers] != [(Decimal(102),)]


@pytest.mark.parametrize(
    "piece",
    [
        *("1", "/", "1/", "1,", "12 ", "july ", "年", "一", "12:", "3 july ", "ربيع ", " ", "-", "12.03."),
        *("2023年", "'", "~~", "*", "1 of the month of ", "ﷺ", "$", "\\text{", "8 pm ", "arba'in "),
    ],
)  # fmt: skip
def test_a_hundred_kilobytes_take_less_than_a_second(piece: str) -> None:
    text = (piece * 100_000)[:100_000]
    start = time.process_time()
    read_text(text)
    assert time.process_time() - start < 1


def test_the_calendars_agree_day_after_day() -> None:
    for offset in range(0, 800, 7):
        day = JULY + timedelta(days=offset)
        written = [formats.write(day, language, "calendar").text for language in ("zh", "ar", "ha")]
        assert all(day.isoformat() in days(text)[0] for text in written)
