"""The Bangla calendar: every day there and back, the revision of 2019, printed dates."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts.dates.bangla import (
    BANGLA_DAYS,
    BANGLA_YEARS,
    BENGALI_MONTHS,
    LATIN_MONTHS,
    BanglaDate,
    from_gregorian,
    month_length,
    to_gregorian,
)
from scripts.dates.calendars import CalendarRangeError, NoSuchDateError
from scripts.dates.legal_words import WORD_VALUES, fold_word

ONE_DAY = timedelta(days=1)


def numbers(bangla: BanglaDate) -> tuple[int, int, int]:
    return bangla.year, bangla.month, bangla.day


def days(first: date, last: date) -> Iterator[date]:
    for ordinal in range(first.toordinal(), last.toordinal() + 1):
        yield date.fromordinal(ordinal)


def test_every_day_of_1950_to_2100_is_named_once_and_read_back() -> None:
    before = numbers(from_gregorian(date(1949, 12, 31)))
    seen = 0
    for day in days(date(1950, 1, 1), date(2100, 12, 31)):
        bangla = numbers(from_gregorian(day))
        assert to_gregorian(*bangla) == day
        assert bangla > before
        before, seen = bangla, seen + 1
    assert seen == 55_152


@pytest.mark.parametrize("year", [1300, 1357, 1394, 1418, 1425, 1426, 1427, 1430, 1506, 1599])
def test_a_year_has_the_days_of_its_months_and_begins_on_14_april(year: int) -> None:
    total = sum(month_length(year, month) for month in range(1, 13))
    first = date(year + 593, 4, 14)
    assert to_gregorian(year, 1, 1) == first
    assert (date(year + 594, 4, 14) - first).days == total
    assert (month_length(year, 0), month_length(year, 13)) == (0, 0)


@pytest.mark.parametrize(
    ("year", "lengths"),
    [
        (1424, (31, 31, 31, 31, 31, 30, 30, 30, 30, 30, 30, 30)),
        (1422, (31, 31, 31, 31, 31, 30, 30, 30, 30, 30, 31, 30)),  # February 2016
        (1425, (31, 31, 31, 31, 31, 30, 30, 30, 30, 30, 30, 30)),
        (1426, (31, 31, 31, 31, 31, 31, 30, 30, 30, 30, 30, 30)),  # February 2020
        (1427, (31, 31, 31, 31, 31, 31, 30, 30, 30, 30, 29, 30)),
        (1506, (31, 31, 31, 31, 31, 31, 30, 30, 30, 30, 29, 30)),  # 2100 is no leap year
    ],
)
def test_month_lengths(year: int, lengths: tuple[int, ...]) -> None:
    assert tuple(month_length(year, month) for month in range(1, 13)) == lengths


@pytest.mark.parametrize(
    ("day", "bangla"),
    [
        ("2019-10-15", (1426, 6, 30)),
        ("2019-10-16", (1426, 6, 31)),  # the first day that the revision names otherwise
        ("2019-10-17", (1426, 7, 1)),
        ("2018-10-16", (1425, 7, 1)),
        ("2020-02-13", (1426, 10, 30)),
        ("2020-02-14", (1426, 11, 1)),
        ("2020-02-29", (1426, 11, 16)),
        ("2020-03-14", (1426, 11, 30)),
        ("2020-04-13", (1426, 12, 30)),
        ("2020-04-14", (1427, 1, 1)),
        # The revision was made so that these fall as in the year of the event.
        ("2020-02-21", (1426, 11, 8)),
        ("2020-03-26", (1426, 12, 12)),
        ("2019-12-16", (1426, 9, 1)),
        ("2020-05-08", (1427, 1, 25)),
        # Before it they were one day later.
        ("2019-02-21", (1425, 11, 9)),
        ("2018-12-16", (1425, 9, 2)),
        # Printed in acts and statutory orders.
        ("2016-06-02", (1423, 2, 19)),
        ("2013-11-01", (1420, 7, 17)),
        ("2025-02-27", (1431, 11, 14)),
        ("2005-03-26", (1411, 12, 12)),
    ],
)
def test_known_days(day: str, bangla: tuple[int, int, int]) -> None:
    assert numbers(from_gregorian(date.fromisoformat(day))) == bangla
    assert to_gregorian(*bangla).isoformat() == day


@pytest.mark.parametrize(
    ("year", "month", "day"),
    [
        (1423, 0, 1),
        (1423, 13, 1),
        (1423, 1, 0),
        (1423, 1, 32),
        (1423, 3, 32),
        (1423, 1, -1),
        (1425, 6, 31),  # Ashwin had 30 days until the revision
        (1426, 7, 31),
        (1427, 11, 30),
        (1419, 11, 31),
    ],
)
def test_a_day_that_the_calendar_lacks_is_refused(year: int, month: int, day: int) -> None:
    with pytest.raises(NoSuchDateError, match="no date of the Bangla calendar"):
        to_gregorian(year, month, day)


def test_the_limits_are_exact() -> None:
    assert to_gregorian(BANGLA_YEARS[0], 1, 1) == BANGLA_DAYS[0]
    assert to_gregorian(BANGLA_YEARS[1], 12, 30) == BANGLA_DAYS[1]
    for limit in BANGLA_DAYS:
        assert to_gregorian(*numbers(from_gregorian(limit))) == limit
    for outside in (BANGLA_DAYS[0] - ONE_DAY, BANGLA_DAYS[1] + ONE_DAY, date.min, date.max):
        with pytest.raises(CalendarRangeError, match="Bangla calendar"):
            from_gregorian(outside)
    for year in (BANGLA_YEARS[0] - 1, BANGLA_YEARS[1] + 1, 0, 10**9):
        with pytest.raises(CalendarRangeError, match="Bangla calendar"):
            to_gregorian(year, 1, 1)


@given(st.dates(*BANGLA_DAYS), st.integers(-400, 400))
def test_days_apart_are_the_same_in_both_calendars(day: date, apart: int) -> None:
    other = min(max(day + timedelta(days=apart), BANGLA_DAYS[0]), BANGLA_DAYS[1])
    first, second = from_gregorian(day), from_gregorian(other)
    assert (to_gregorian(*numbers(second)) - to_gregorian(*numbers(first))) == other - day
    assert (numbers(first) < numbers(second)) == (day < other)


def test_years_before_the_calendar_was_official_are_marked() -> None:
    # The Constitution says 18 Kartik 1379 for 4 November 1972: the almanac of that time, not this
    # arithmetic, which reckons 20 Kartik.
    constitution = from_gregorian(date(1972, 11, 4))
    assert (numbers(constitution), constitution.official) == ((1379, 7, 20), False)
    assert not from_gregorian(date(1987, 4, 13)).official
    assert from_gregorian(date(1987, 4, 14)).official
    assert str(from_gregorian(date(2016, 6, 2))) == "19 Joishtho 1423 Bangla"


def test_no_spelling_names_two_months_in_either_encoding() -> None:
    for table in (BENGALI_MONTHS, LATIN_MONTHS):
        spellings = [name.casefold() for names in table for name in names]
        assert len(table) == 12
        assert len(spellings) == len(set(spellings))
    for number, names in enumerate(zip(BENGALI_MONTHS, LATIN_MONTHS, strict=True), start=1):
        for name in (*names[0], *names[1]):
            for form in ("NFC", "NFD", "NFKC", "NFKD"):
                word = fold_word(unicodedata.normalize(form, name))
                assert WORD_VALUES[word] == ("b", number), name
