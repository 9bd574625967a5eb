"""The grammar of full dates and times of day in the sources' English."""

from __future__ import annotations

import runpy
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts.multitempbench import mentions
from scripts.multitempbench.mentions import Order, find_dates, find_times, place


@pytest.mark.parametrize(
    ("text", "day", "style"),
    [
        ("on 2009-12-24.", "2009-12-24", "iso"),
        ("is 1991-6-4, what", "1991-06-04", "iso"),
        ("born on 2003-Oct-17 and", "2003-10-17", "iso_month"),
        ("on November 2, 1934 in", "1934-11-02", "month_day_year"),
        ("HARBIN, Nov. 9 , 2006 (Xinhua).", "2006-11-09", "month_day_year"),
        ("since Sept. 3rd 2005", "2005-09-03", "month_day_year"),
        ("Dec 2 , 2005.", "2005-12-02", "month_day_year"),
        ("on 03 May, 2009?", "2009-05-03", "day_month_year"),
        ("on 14 December 1873", "1873-12-14", "day_month_year"),
        ("the 3rd of May 2009", "2009-05-03", "day_month_year"),
        ("is 18-10-1998.", "1998-10-18", "numeric_dmy"),
        ("is 10-20-2005.", "2005-10-20", "numeric_mdy"),
        ("is 5/5/1948", "1948-05-05", "numeric_mdy"),
    ],
)
def test_forms(text: str, day: str, style: str) -> None:
    found = find_dates(text)
    assert [(mention.value, mention.style) for mention in found.dates] == [(day, style)]
    [mention] = found.dates
    assert not set(text[mention.start : mention.end]) & set("?()")
    assert text[mention.start].isalnum()
    assert text[mention.end - 1].isalnum()


def test_month_names_do_not_hang_on_the_locale(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("calendar.month_name", ["", *"abcdefghijkl"])
    monkeypatch.setattr("calendar.month_abbr", ["", *"abcdefghijkl"])
    fresh = runpy.run_path(str(mentions.__file__))
    names = "January February March April May June July August September October November December"
    texts = [f"{form} 7, 1322" for name in names.split() for form in (name, name[:3])]
    found = [fresh["find_dates"](text).dates[0].value for text in [*texts, "Sept. 7, 1322"]]
    months = [month for month in range(1, 13) for _ in range(2)]
    assert found == [f"1322-{month:02d}-07" for month in [*months, 9]]


@pytest.mark.parametrize(
    "text",
    [
        "June 1163",
        "in 2009",
        "03 August",
        "Nov. 9",
        "05-06-97",
        "may 5, 2010",
        "APRIL 9 , 1997",
        "version 1.2009-12-24",
        "2009-12-245",
        "12009-12-24",
        "1/2-2009",
        "between 3 and 2004",
    ],
)
def test_what_is_no_full_date(text: str) -> None:
    assert find_dates(text).stated == 0


def test_declared_order_and_none() -> None:
    text = "between 03-04-1990 and 3/4/1990"
    assert [m.value for m in find_dates(text, "mdy").dates] == ["1990-03-04"] * 2
    assert [m.value for m in find_dates(text, "dmy").dates] == ["1990-04-03"] * 2
    found = find_dates(text)
    assert found.dates == ()
    assert found.ambiguous == ("03-04-1990", "3/4/1990")
    assert found.stated == 2


@pytest.mark.parametrize(
    "text", ["2009-12-34", "2002-11-31", "February 30, 2001", "31-31-2000", "0000-01-01"]
)
def test_impossible_dates_are_stated_but_name_no_day(text: str) -> None:
    found = find_dates(text)
    assert found.impossible == (text,)
    assert found.dates == ()


def test_a_declared_order_makes_the_other_impossible() -> None:
    assert find_dates("18-10-1998", "mdy").impossible == ("18-10-1998",)


@given(st.dates(date(1000, 1, 1), date(9999, 12, 31)), st.integers(0, 4))
def test_written_dates_are_read_back(day: date, form: int) -> None:
    forms: list[tuple[str, Order]] = [
        (day.isoformat(), None),
        (f"{day:%B} {day.day}, {day.year}", None),
        (f"{day.day:02d} {day:%b}, {day.year}", None),
        (f"{day.month:02d}-{day.day:02d}-{day.year}", "mdy"),
        (f"{day.day}/{day.month}/{day.year}", "dmy"),
    ]
    written, order = forms[form]
    text = f"It was on {written}, they say."
    found = find_dates(text, order)
    assert [m.value for m in found.dates] == [day.isoformat()]
    assert text[found.dates[0].start : found.dates[0].end] == written


@given(st.text())
def test_any_text_is_read_without_an_error(text: str) -> None:
    for mention in (*find_dates(text).dates, *find_times(text)):
        assert 0 <= mention.start < mention.end <= len(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("12 PM", "12:00"),
        ("12 AM", "00:00"),
        ("1 AM", "01:00"),
        ("11:54 PM", "23:54"),
        ("7PM", "19:00"),
        ("23:15", "23:15"),
        ("07:05", "07:05"),
    ],
)
def test_times(text: str, expected: str) -> None:
    assert [mention.value for mention in find_times(f"at {text} there")] == [expected]


@pytest.mark.parametrize("text", ["13 PM", "0 AM", "24:00", "10:75", "04:34:30", "PM", "1:5"])
def test_no_times(text: str) -> None:
    assert find_times(f"at {text} there") == ()


def test_placeholders_are_shared_by_equal_values_and_counted_apart() -> None:
    text = "At 7 PM on May 2, 2001 and 19:00 on 2001-05-02, not 3 June 2001."
    mentions = [*find_times(text), *find_dates(text).dates]
    assert place(text, mentions) == (
        "At {t1} on {d1} and {t1} on {d1}, not {d2}.",
        ["2001-05-02", "2001-06-03"],
        ["19:00"],
    )
