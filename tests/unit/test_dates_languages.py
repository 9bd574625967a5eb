"""Names and digits of dates in five languages."""

from __future__ import annotations

import calendar
from itertools import pairwise

import pytest
from hijridate import Hijri
from hypothesis import given
from hypothesis import strategies as st

from scripts.dates import english, signs
from scripts.dates.languages import LANGUAGES, month_numbers
from scripts.dates.signs import CALENDARS, fold

NAMED = [
    (code, system)
    for code, language in LANGUAGES.items()
    for system in CALENDARS
    if language.months(system)
]


def test_which_calendars_a_language_names() -> None:
    assert set(NAMED) == {
        *((code, "gregorian") for code in ("ar", "zh", "en", "de", "ha")),
        *((code, "hijri") for code in ("ar", "en", "ha")),
        ("zh", "lunar"),
    }
    assert month_numbers("de", "lunar") == {}
    assert all(code == language.code for code, language in LANGUAGES.items())


@pytest.mark.parametrize(("code", "system"), NAMED)
def test_every_spelling_names_one_month(code: str, system: str) -> None:
    months = LANGUAGES[code].months(system)
    assert len(months) == 12
    assert all(each and all(name == name.strip() != "" for name in each) for each in months)
    folded = [{fold(name) for name in each} for each in months]
    if system == "gregorian" and LANGUAGES[code].abbreviations:
        short = LANGUAGES[code].abbreviations
        assert len(short) == 12
        folded = [a | {fold(n) for n in b} for a, b in zip(folded, short, strict=True)]
    assert sum(map(len, folded)) == len(set().union(*folded)), "a spelling names two months"
    numbers = month_numbers(code, system)
    assert all(numbers[fold(name)] == i for i, each in enumerate(months, 1) for name in each)


def test_first_names_are_those_of_the_libraries() -> None:
    for system, code in (("ar", "ar"), ("en", "en")):
        theirs = [Hijri(1445, month, 1).month_name(system) for month in range(1, 13)]
        assert [each[0] for each in LANGUAGES[code].hijri_months] == theirs
    assert [each[0] for each in LANGUAGES["en"].gregorian_months] == calendar.month_name[1:]
    assert LANGUAGES["ar"].eras["hijri"][0] == Hijri(1445, 1, 1).notation("ar")


@pytest.mark.parametrize(
    ("code", "system", "name", "number"),
    [
        ("ha", "gregorian", "Faburairu", 2),
        ("ha", "gregorian", "Afirilu", 4),
        ("ha", "hijri", "RABI’UL AWWAL", 3),
        ("ha", "hijri", "Zulƙa'ida", 11),
        ("en", "hijri", "Rabi al-Thani", 4),
        ("en", "hijri", "Jumada al-Awwal", 5),
        ("en", "hijri", "Dhū al-Qaʿdah", 11),
        ("en", "hijri", "Shaban", 8),
        ("en", "gregorian", "sept.", 9),
        ("de", "gregorian", "MÄRZ", 3),
        ("de", "gregorian", "Mrz.", 3),
        ("ar", "gregorian", "ابريل", 4),
        ("ar", "gregorian", "كانون الأول", 12),
        ("ar", "hijri", "رَمَضَان", 9),
        ("ar", "hijri", "جمادي الاخره", 6),
        ("ar", "hijri", "ربيع الآخر", 4),
        ("zh", "lunar", "腊月", 12),
        ("zh", "lunar", "十一月", 11),
        ("zh", "gregorian", "１２月", 12),
    ],
)
def test_other_spellings(code: str, system: str, name: str, number: int) -> None:
    assert month_numbers(code, system)[fold(name)] == number


@given(st.text())
def test_folding_settles(text: str) -> None:
    assert fold(fold(text)) == fold(text)
    assert fold(f"  {text}\u200f ") == fold(text)


def test_era_marks_say_one_year_count() -> None:
    for language in LANGUAGES.values():
        marks = [(fold(mark), era) for era, each in language.eras.items() for mark in each if mark]
        assert len({mark for mark, _ in marks}) == len(set(marks)), language.code
        assert language.eras["gregorian"] and language.eras["hijri"] and language.eras["before"]


def test_english_sources_have_the_words_of_the_language() -> None:
    known = LANGUAGES["en"]
    assert known.gregorian_months == english.MONTHS
    assert known.abbreviations == english.ABBREVIATIONS
    assert dict(known.number_words) == english.NUMBER_WORDS
    ordinals = dict(zip(known.ordinal_words, range(1, 32), strict=True))
    assert ordinals == english.ORDINAL_WORDS
    assert list(known.ordinals) == [english.ordinal(day) for day in range(1, 32)]


def test_english_ordinals() -> None:
    expected = (
        "1st 2nd 3rd 4th 5th 6th 7th 8th 9th 10th 11th 12th 13th 14th 15th 16th 17th 18th 19th "
        "20th 21st 22nd 23rd 24th 25th 26th 27th 28th 29th 30th 31st"
    )
    assert " ".join(english.ordinal(n) for n in range(1, 32)) == expected
    assert english.ordinal(111) == "111th"


@given(st.integers(0, 10**9))
def test_digits_of_every_script_come_back(number: int) -> None:
    for digits in signs.POSITIONAL_DIGITS:
        text = "".join(digits[int(d)] for d in str(number))
        assert signs.ascii_digits(text) == str(number)
    assert signs.ascii_digits(signs.arabic_indic(number)) == str(number)
    assert signs.chinese_number(signs.chinese_digits(number)) == number


def test_digits_are_the_ranges_of_unicode() -> None:
    for digits in signs.POSITIONAL_DIGITS:
        assert [int(d) for d in digits] == list(range(10))
        assert all(ord(b) - ord(a) == 1 for a, b in pairwise(digits))
    assert signs.chinese_digits(2023) == "二零二三"


def test_lunar_days() -> None:
    expected = (
        "初一 初二 初三 初四 初五 初六 初七 初八 初九 初十 十一 十二 十三 十四 十五 十六 十七 十八 "
        "十九 二十 廿一 廿二 廿三 廿四 廿五 廿六 廿七 廿八 廿九 三十"
    )
    assert " ".join(signs.lunar_day(n) for n in range(1, 31)) == expected
    assert [signs.chinese_number(text) for text in expected.split()] == list(range(1, 31))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("五", 5),
        ("十", 10),
        ("二十五", 25),
        ("廿", 20),
        ("卅一", 31),
        ("九十九", 99),
        ("二〇二三", 2023),
        ("二零零零", 2000),
        ("", None),
        ("初", None),
        ("25", None),
        ("十百", None),
        ("二十零", None),
        ("零十", None),
        ("十二三", None),
        ("2十", 20),
        ("十月", None),
    ],
)
def test_chinese_numerals(text: str, value: int | None) -> None:
    assert signs.chinese_number(text) == value


@given(st.text(alphabet="零〇一二三九十廿卅初年月闰1 x"))
def test_chinese_numerals_never_crash(text: str) -> None:
    value = signs.chinese_number(text)
    assert value is None or value >= 0
