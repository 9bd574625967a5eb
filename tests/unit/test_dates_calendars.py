"""Hijri and Chinese lunar calendars: every seam, every leap month, every limit."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from datetime import date, timedelta
from functools import cache
from itertools import pairwise, product

import pytest
from convertdate import islamic
from hypothesis import given
from hypothesis import strategies as st
from lunar_python import LunarYear

from scripts.dates import calendars
from scripts.dates.calendars import (
    HIJRI_EPOCH,
    LUNAR_DAYS,
    UMM_AL_QURA_DAYS,
    CalendarRangeError,
    HijriDate,
    LunarDate,
    NoSuchDateError,
    from_hijri,
    from_lunar,
    to_hijri,
    to_lunar,
)
from scripts.files import DataError

ONE_DAY = timedelta(days=1)


def days(first: date, last: date) -> Iterator[date]:
    for ordinal in range(first.toordinal(), last.toordinal() + 1):
        yield date.fromordinal(ordinal)


def numbers(hijri: HijriDate) -> tuple[int, int, int]:
    return hijri.year, hijri.month, hijri.day


@cache
def every_lunar_day() -> list[tuple[date, LunarDate]]:
    return [(day, to_lunar(day)) for day in days(*LUNAR_DAYS)]


@pytest.mark.parametrize(
    ("day", "expected", "source"),
    [
        ("2023-07-03", (1444, 12, 15), "ummalqura"),
        ("2023-07-18", (1444, 12, 30), "ummalqura"),
        ("2023-07-19", (1445, 1, 1), "ummalqura"),
        ("1924-07-31", (1342, 12, 28), "tabular_civil"),
        ("1924-08-01", (1343, 1, 1), "ummalqura"),
        ("2077-11-16", (1500, 12, 30), "ummalqura"),
        ("2077-11-17", (1501, 1, 1), "tabular_civil"),
        ("1352-03-02", (753, 1, 6), "tabular_civil"),
        ("2087-01-01", (1510, 5, 26), "tabular_civil"),
        ("0622-07-19", (1, 1, 1), "tabular_civil"),
    ],
)
def test_hijri_of_known_days(day: str, expected: tuple[int, int, int], source: str) -> None:
    hijri = to_hijri(date.fromisoformat(day))
    assert (numbers(hijri), hijri.source) == (expected, source)
    assert from_hijri(*expected) == date.fromisoformat(day)


def test_every_day_has_one_hijri_date_and_comes_back() -> None:
    for day in days(HIJRI_EPOCH, date(2200, 12, 31)):
        assert from_hijri(*numbers(to_hijri(day))) == day


@pytest.mark.parametrize("years", [range(1340, 1347), range(1497, 1504)])
def test_every_hijri_date_around_the_seams_is_one_day_or_refused(years: range) -> None:
    named: dict[date, tuple[int, int, int]] = {}
    for asked in product(years, range(14), range(32)):
        try:
            day = from_hijri(*asked)
        except NoSuchDateError:
            continue
        assert numbers(to_hijri(day)) == asked
        assert day not in named, "two Hijri dates name one day"
        named[day] = asked
    assert sorted(named) == list(days(min(named), max(named))), "a day has no Hijri date"


def test_the_only_break_is_at_the_lower_seam() -> None:
    breaks, odd_months = [], []
    for day in days(date(1920, 1, 1), date(2080, 12, 31)):
        today, tomorrow = to_hijri(day), to_hijri(day + ONE_DAY)
        if numbers(tomorrow) == (today.year, today.month, today.day + 1):
            continue
        assert numbers(tomorrow) == (today.year + today.month // 12, today.month % 12 + 1, 1)
        if tomorrow.source != today.source:
            breaks.append((day.isoformat(), numbers(today), numbers(tomorrow)))
        elif today.day not in (29, 30):
            odd_months.append(numbers(today))
    assert breaks == [
        ("1924-07-31", (1342, 12, 28), (1343, 1, 1)),
        ("2077-11-16", (1500, 12, 30), (1501, 1, 1)),
    ]
    # The first years of the Umm al-Qura table are printed almanacs, not a computation.
    assert odd_months == [
        *((1343, 9, 28), (1345, 5, 31), (1345, 8, 28), (1348, 11, 31), (1348, 12, 28)),
        *((1349, 10, 28), (1349, 11, 31), (1364, 8, 28)),
    ]


def test_the_lost_date_of_the_lower_seam_says_where_the_day_went() -> None:
    assert islamic.to_gregorian(1342, 12, 29) == (1924, 8, 1)
    with pytest.raises(NoSuchDateError, match=r"1924-08-01 is 1343-01-01 AH in the Umm al-Qura"):
        from_hijri(1342, 12, 29)
    with pytest.raises(NoSuchDateError, match="the month has 29 days"):
        from_hijri(1342, 12, 30)


def test_tabular_days_agree_with_convertdate() -> None:
    checked = 0
    for day in days(HIJRI_EPOCH, date(2250, 1, 1)):
        hijri = to_hijri(day)
        near_a_new_year = hijri.month in (1, 12) and (hijri.day <= 2 or hijri.day >= 28)
        if hijri.source == "tabular_civil" and (near_a_new_year or day.toordinal() % 97 == 0):
            assert numbers(hijri) == islamic.from_gregorian(day.year, day.month, day.day)
            checked += 1
    assert checked > 15_000


def test_umm_al_qura_is_not_the_tabular_calendar() -> None:
    every = list(days(*UMM_AL_QURA_DAYS))
    assert len(every) == 55_991
    same = sum(
        numbers(to_hijri(day)) == islamic.from_gregorian(day.year, day.month, day.day)
        for day in every
    )
    assert round(100 * same / len(every), 1) == 35.8


def test_tabular_leap_years() -> None:
    for year in range(1, 31):
        leap = year in {2, 5, 7, 10, 13, 16, 18, 21, 24, 26, 29}
        if leap:
            assert from_hijri(year + 1, 1, 1) - from_hijri(year, 12, 30) == ONE_DAY
        else:
            with pytest.raises(NoSuchDateError):
                from_hijri(year, 12, 30)


@given(st.dates(min_value=HIJRI_EPOCH))
def test_any_later_day_comes_back_from_its_hijri_date(day: date) -> None:
    hijri = to_hijri(day)
    assert from_hijri(*numbers(hijri)) == day
    inside = UMM_AL_QURA_DAYS[0] <= day <= UMM_AL_QURA_DAYS[1]
    assert hijri.source == ("ummalqura" if inside else "tabular_civil")


@given(st.integers(-5, 9700), st.integers(-1, 14), st.integers(-1, 32))
def test_any_hijri_date_is_one_day_or_an_error(year: int, month: int, day: int) -> None:
    try:
        found = from_hijri(year, month, day)
    except (CalendarRangeError, NoSuchDateError):
        return
    assert numbers(to_hijri(found)) == (year, month, day)


def test_strict_calendar_refuses_what_only_the_fallback_names() -> None:
    first, last = UMM_AL_QURA_DAYS
    assert to_hijri(first, "refuse") == HijriDate(1343, 1, 1, "ummalqura")
    assert from_hijri(1500, 12, 30, "refuse") == last
    for outside in (first - ONE_DAY, last + ONE_DAY, date(500, 1, 1)):
        with pytest.raises(CalendarRangeError, match=r"1924-08-01 to 2077-11-16.*tabular_civil"):
            to_hijri(outside, "refuse")
    for year in (1342, 1501):
        with pytest.raises(CalendarRangeError, match=f"{year}-01-01 AH"):
            from_hijri(year, 1, 1, "refuse")


def test_nothing_before_the_hijra_and_nothing_after_the_year_9999() -> None:
    for outside in (HIJRI_EPOCH - ONE_DAY, date.min):
        with pytest.raises(CalendarRangeError, match=r"0622-07-19.*no Hijri date precedes"):
            to_hijri(outside)
    with pytest.raises(CalendarRangeError):
        from_hijri(0, 12, 29)
    assert from_hijri(*numbers(to_hijri(date.max))) == date.max
    with pytest.raises(CalendarRangeError, match="9999-12-31"):
        from_hijri(9666, 4, 3)


def test_unknown_policy() -> None:
    with pytest.raises(ValueError, match="tabular_civil or refuse"):
        to_hijri(date(2023, 1, 1), "guess")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="tabular_civil or refuse"):
        from_hijri(1445, 1, 1, "guess")  # type: ignore[arg-type]


def test_errors_are_data_errors_and_pass_between_processes() -> None:
    with pytest.raises(DataError) as caught:
        to_lunar(date(1352, 3, 2))
    assert isinstance(caught.value, CalendarRangeError)
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value)
    assert (again.day, again.calendar, again.span) == ("1352-03-02", "Chinese lunar", LUNAR_DAYS)
    assert issubclass(NoSuchDateError, DataError)


@pytest.mark.parametrize(
    ("day", "expected"),
    [
        ("2023-07-03", LunarDate(2023, 5, 16)),
        ("2023-04-01", LunarDate(2023, 2, 11, leap=True)),
        ("2023-03-21", LunarDate(2023, 2, 30)),
        ("2023-03-22", LunarDate(2023, 2, 1, leap=True)),
        ("2023-04-20", LunarDate(2023, 3, 1)),
        ("2020-06-15", LunarDate(2020, 4, 24, leap=True)),
        ("2033-12-22", LunarDate(2033, 11, 1, leap=True)),
        ("2033-12-25", LunarDate(2033, 11, 4, leap=True)),
        ("2024-02-09", LunarDate(2023, 12, 30)),
        ("2024-02-10", LunarDate(2024, 1, 1)),
        ("1888-02-12", LunarDate(1888, 1, 1)),
        ("2111-12-31", LunarDate(2111, 12, 1)),
    ],
)
def test_lunar_of_known_days(day: str, expected: LunarDate) -> None:
    assert to_lunar(date.fromisoformat(day)) == expected
    found = from_lunar(expected.year, expected.month, expected.day, expected.leap)
    assert found.isoformat() == day


def test_lunar_new_years() -> None:
    expected = [
        *("1900-01-31", "1949-01-29", "1985-02-20", "2000-02-05", "2008-02-07", "2020-01-25"),
        *("2021-02-12", "2022-02-01", "2023-01-22", "2024-02-10", "2025-01-29", "2034-02-19"),
    ]
    assert [from_lunar(int(day[:4]), 1, 1).isoformat() for day in expected] == expected


def test_every_day_has_one_lunar_date_and_comes_back() -> None:
    every = every_lunar_day()
    assert len(every) == 81_772
    for day, lunar in every:
        assert from_lunar(lunar.year, lunar.month, lunar.day, lunar.leap) == day


def test_lunar_dates_follow_each_other() -> None:
    for (day, today), (_, tomorrow) in pairwise(every_lunar_day()):
        if tomorrow.day != 1:
            assert tomorrow == LunarDate(today.year, today.month, today.day + 1, today.leap), day
            continue
        assert today.day in (29, 30), day
        into_leap = LunarDate(today.year, today.month, 1, leap=True)
        following = LunarDate(today.year + today.month // 12, today.month % 12 + 1, 1)
        assert tomorrow == following or (tomorrow == into_leap and not today.leap), day


def test_every_lunar_date_is_one_day_or_refused() -> None:
    days_of = {lunar: day for day, lunar in every_lunar_day()}
    years = range(LUNAR_DAYS[0].year - 1, LUNAR_DAYS[1].year + 2)
    for asked in product(years, range(14), (0, 1, 15, 29, 30, 31), (False, True)):
        if LunarDate(*asked) in days_of:
            assert from_lunar(*asked) == days_of[LunarDate(*asked)]
        else:
            with pytest.raises((CalendarRangeError, NoSuchDateError)):
                from_lunar(*asked)


def lunar_python_days() -> dict[date, LunarDate]:
    """Every day of the range by the months of the second library, astronomically computed."""
    found: dict[date, LunarDate] = {}
    julian_day_of_ordinal_0 = 1_721_425
    for year in range(LUNAR_DAYS[0].year, LUNAR_DAYS[1].year + 2):
        for month in LunarYear.fromYear(year).getMonths():
            first = round(month.getFirstJulianDay()) - julian_day_of_ordinal_0
            for offset in range(month.getDayCount()):
                number = month.getMonth()
                lunar = LunarDate(month.getYear(), abs(number), offset + 1, number < 0)
                assert found.setdefault(date.fromordinal(first + offset), lunar) == lunar
    return found


def test_lunar_days_agree_with_lunar_python_but_for_two_months() -> None:
    theirs = lunar_python_days()
    different = [day for day, lunar in every_lunar_day() if theirs[day] != lunar]
    # The new moons of 2089-09-04 and 2097-08-07 fall less than three minutes before midnight in
    # China; the table of lunarcalendar begins these months a day later than lunar_python.
    assert different == [
        *days(date(2089, 9, 4), date(2089, 10, 3)),
        *days(date(2097, 8, 7), date(2097, 9, 5)),
    ]
    assert theirs[date(2089, 9, 4)] == LunarDate(2089, 8, 1)
    assert to_lunar(date(2089, 9, 4)) == LunarDate(2089, 7, 30)


@pytest.mark.parametrize("day", ["1888-02-11", "2112-01-01", "1800-06-01", "1352-03-02"])
def test_days_outside_the_lunar_table_are_refused(day: str) -> None:
    with pytest.raises(CalendarRangeError, match=f"{day} is outside.*1888-02-12 to 2111-12-31"):
        to_lunar(date.fromisoformat(day))


@pytest.mark.parametrize("asked", [(2111, 12, 2), (2112, 1, 1), (1887, 12, 29)])
def test_lunar_dates_outside_the_table_are_refused(asked: tuple[int, int, int]) -> None:
    with pytest.raises(CalendarRangeError, match=f"lunar year {asked[0]}, month {asked[1]}"):
        from_lunar(*asked)


@pytest.mark.parametrize(
    "asked",
    [(2023, 3, 1, True), (2024, 2, 1, True), (2023, 1, 30, False), (2023, 13, 1, False)],
)
def test_lunar_dates_that_do_not_exist(asked: tuple[int, int, int, bool]) -> None:
    with pytest.raises(NoSuchDateError, match="lacks the month or the month lacks the day"):
        from_lunar(*asked)


def test_days_after_stays_in_the_gregorian_calendar() -> None:
    assert calendars.days_after("1225-05-01", 60) == "1225-06-30"
    with pytest.raises(OverflowError):
        calendars.days_after("9999-12-31", 1)
