"""Written dates: the expected strings, the strict way back, aliases and numeric readings."""

from __future__ import annotations

import csv
import random
from datetime import date, timedelta
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts.dates import calendars
from scripts.dates.calendars import CalendarRangeError
from scripts.dates.formats import (
    DEFAULT_OPTIONS,
    FORMATS,
    DateTextError,
    Options,
    Written,
    aliases,
    calendar_of,
    read,
    readings,
    write,
)
from scripts.dates.languages import LANGUAGES
from scripts.files import DataError

EXPECTED = Path(__file__).parents[1] / "data" / "multitempbench_formats.csv"
SHARED = Path(__file__).parents[2] / "../shared/specs/multitempbench_formats.csv"
FORMS = list(product(sorted(LANGUAGES), FORMATS))
RANGES = {
    "gregorian": (date.min, date.max),
    "hijri": (calendars.HIJRI_EPOCH, date(2300, 12, 31)),
    "lunar": calendars.LUNAR_DAYS,
}
HYBRID = Options(hausa_hybrid=True)
STRICT = Options(hijri_outside_range="refuse")


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as handle:
        return list(csv.DictReader(handle))


def comes_back(day: date, language: str, form: str, options: Options = DEFAULT_OPTIONS) -> Written:
    written = write(day, language, form, options)
    assert read(written.text, language, form, options) == day, written
    return written


@pytest.mark.parametrize(
    "row", rows(EXPECTED), ids=lambda r: f"{r['language']}-{r['format']}-{r['date']}"
)
def test_expected_strings(row: dict[str, str]) -> None:
    day = date.fromisoformat(row["date"])
    if row["calendar_source"] == "out_of_range":
        with pytest.raises(CalendarRangeError, match=f"{row['date']} is outside"):
            write(day, row["language"], row["format"])
        return
    written = comes_back(day, row["language"], row["format"])
    assert (written.text, written.calendar_source) == (row["expected"], row["calendar_source"])
    assert written.calendar == calendar_of(row["language"], row["format"])


def test_the_expected_strings_are_complete() -> None:
    found = [(row["language"], row["format"]) for row in rows(EXPECTED)]
    assert len(found) == 300
    assert set(found) == set(FORMS)


def test_expected_strings_of_the_specification() -> None:
    if not SHARED.exists():
        pytest.skip("the specification's table is not here")
    codes = {language.label: code for code, language in LANGUAGES.items()}
    checked = 0
    for row in rows(SHARED):
        written = comes_back(date.fromisoformat(row["date"]), codes[row["language"]], row["format"])
        assert written.text == row["expected"]
        checked += 1
    assert checked == 360


@pytest.mark.parametrize(("language", "form"), FORMS)
def test_ten_thousand_days_come_back(language: str, form: str) -> None:
    first, last = RANGES[calendar_of(language, form)]
    generator = random.Random(f"{language} {form}")
    for _ in range(10_000):
        comes_back(
            date.fromordinal(generator.randint(first.toordinal(), last.toordinal())),
            language,
            form,
        )


@pytest.mark.parametrize("form", [("ar", "calendar"), ("ha", "calendar")])
def test_days_around_hijri_new_years_and_seams_come_back(form: tuple[str, str]) -> None:
    new_years = [calendars.from_hijri(year, 1, 1) for year in (*range(1, 60), *range(700, 760))] + [
        calendars.from_hijri(year, 1, 1) for year in range(1330, 1520)
    ]
    texts: dict[str, date] = {}
    for new_year in new_years:
        for offset in range(-3, 4):
            day = new_year + timedelta(offset)
            if day >= calendars.HIJRI_EPOCH:
                text = comes_back(day, *form).text
                assert texts.setdefault(text, day) == day
    for seam in calendars.UMM_AL_QURA_DAYS:
        for offset in range(-60, 61):
            comes_back(seam + timedelta(offset), *form)


def test_days_around_lunar_new_years_and_in_leap_months_come_back() -> None:
    texts: dict[str, date] = {}
    first, last = calendars.LUNAR_DAYS
    for ordinal in range(first.toordinal(), last.toordinal() + 1):
        day = date.fromordinal(ordinal)
        lunar = calendars.to_lunar(day)
        new_year = (lunar.month, lunar.day) in ((1, 1), (1, 2), (12, 29), (12, 30))
        if lunar.leap or new_year or lunar.day in (1, 30):
            text = comes_back(day, "zh", "calendar").text
            assert texts.setdefault(text, day) == day
            assert ("闰" in text) == lunar.leap
    assert len(texts) > 6_000


@given(st.dates(), st.sampled_from(FORMS), st.sampled_from([Options(), STRICT, HYBRID]))
def test_any_day_comes_back_or_is_reported(
    day: date, form: tuple[str, str], options: Options
) -> None:
    try:
        written = comes_back(day, *form, options)
    except CalendarRangeError as error:
        assert error.day == day.isoformat()
        assert form[1] == "calendar" and form[0] in ("ar", "ha", "zh")
        return
    assert written.calendar_source in ("gregorian", "ummalqura", "tabular_civil", "lunar")


ALPHABET = "0123456789٠١٣۳２零〇一二十年月日闰初廿 -/.,gaofAHMarchJuliهـ\u200e\u200fstndrth"


@given(st.text(alphabet=ALPHABET), st.sampled_from(FORMS))
def test_any_text_is_a_date_or_a_data_error(text: str, form: tuple[str, str]) -> None:
    try:
        day = read(text, *form)
    except DataError:
        return
    normal = text.replace("〇", "零").strip("\u200e")
    assert write(day, *form).text.strip("\u200e") == normal


@given(
    st.dates(calendars.LUNAR_DAYS[0], calendars.LUNAR_DAYS[1]),
    st.sampled_from(FORMS),
    st.integers(0, 40),
    st.sampled_from([*ALPHABET, ""]),
)
def test_a_changed_text_is_never_taken_for_the_day(
    day: date, form: tuple[str, str], place: int, character: str
) -> None:
    text = write(day, *form).text
    changed = text[:place] + character + text[place + 1 :]
    try:
        found = read(changed, *form)
    except DataError:
        return
    assert (found == day) == (changed.replace("〇", "零") == text)


@pytest.mark.parametrize(
    ("text", "language", "form"),
    [
        ("3 July 2023", "en", "long"),
        ("03 july 2023", "en", "long"),
        ("03 July 2023 ", "en", "long"),
        ("03 July 02023", "en", "long"),
        ("03 July 2023\n", "en", "long"),
        ("03  July 2023", "en", "long"),
        ("31 February 2023", "en", "long"),
        ("29 February 2023", "en", "long"),
        ("3th of July 2023", "en", "calendar"),
        ("03rd of July 2023", "en", "calendar"),
        ("3/7/2023", "en", "slash"),
        ("07/18/2023", "en", "slash"),
        ("03/07/23", "en", "slash"),
        ("03/07/2023", "de", "slash"),
        ("03. Juli 2023", "de", "calendar"),
        ("Am 03. Juli des Jahres 2023", "de", "calendar"),
        ("2023年7月3日", "zh", "long"),
        ("２０２３年07月03日", "zh", "long"),
        ("二零二三年五月初十六", "zh", "calendar"),
        ("二零二三年闰五月十六", "zh", "calendar"),
        ("二零二三年十一月十六", "zh", "calendar"),
        ("二零二三年五月二十六", "zh", "calendar"),
        ("٠٣ يوليو ٢٠٢٣", "ar", "long"),
        ("3 يوليو 2023", "ar", "long"),
        ("۳ يوليو ۲۰۲۳", "ar", "long"),
        ("٣ تموز ٢٠٢٣", "ar", "long"),
        ("\u200f٣ يوليو ٢٠٢٣", "ar", "long"),
        ("\u200f2023-07-03\u200f", "ar", "iso"),
        ("\u200e2023-07-03", "ar", "iso"),
        ("٢٠٢٣-٠٧-٠٣", "ar", "iso"),
        ("٣ يوليو " + "٩" * 5000, "ar", "long"),
        ("١٥ ذو الحجة ١٤٤٤", "ar", "calendar"),
        ("٣٠ رجب ١٤٤٥ هـ", "ar", "calendar"),
        ("29 Zulhijja 1342 AH", "ha", "calendar"),
        ("15 Zulhijja 2023", "ha", "calendar"),
        ("0000-01-01", "en", "iso"),
        ("", "en", "iso"),
    ],
)
def test_what_write_never_makes_is_refused(text: str, language: str, form: str) -> None:
    example = write(date(2023, 7, 3), language, form).text
    with pytest.raises(DateTextError) as caught:
        read(text, language, form)
    assert repr(example) in str(caught.value)
    assert LANGUAGES[language].label in str(caught.value)


def test_the_documented_other_spellings_are_read() -> None:
    day = date(2023, 7, 3)
    assert read("二〇二三年五月十六", "zh", "calendar") == day
    assert read("二○二三年五月十六", "zh", "calendar") == day
    assert read("2023-07-03", "ar", "iso") == day


def test_dates_of_years_that_a_calendar_does_not_reach() -> None:
    for text in ("一三五二年二月十六", "二一一二年正月初一"):
        with pytest.raises(CalendarRangeError, match="1888-02-12 to 2111-12-31"):
            read(text, "zh", "calendar")
    assert read("06 Muharram 753 AH", "ha", "calendar") == date(1352, 3, 2)
    with pytest.raises(CalendarRangeError, match="753-01-06 AH"):
        read("06 Muharram 753 AH", "ha", "calendar", STRICT)
    with pytest.raises(CalendarRangeError, match="1352-03-02"):
        write(date(1352, 3, 2), "ha", "calendar", STRICT)
    with pytest.raises(CalendarRangeError, match="0622-07-18"):
        write(date(622, 7, 18), "ar", "calendar")


def test_years_are_padded_in_numbers_only() -> None:
    day = date(52, 3, 2)
    assert write(day, "en", "iso").text == "0052-03-02"
    assert write(day, "zh", "slash").text == "02/03/0052"
    assert write(day, "de", "slash").text == "02.03.0052"
    assert write(day, "en", "long").text == "02 March 52"
    assert write(day, "zh", "long").text == "52年03月02日"
    assert write(day, "ar", "long").text == "٢ مارس ٥٢"


def test_thirty_first_day_of_a_hijri_month() -> None:
    written = comes_back(date(1926, 12, 6), "ar", "calendar")
    assert written.text == "٣١ جمادى الأولى ١٣٤٥ هـ"


def test_german_am() -> None:
    options = Options(german_am=True)
    written = comes_back(date(2025, 6, 26), "de", "calendar", options)
    assert written.text == "Am 26. Juni des Jahres 2025"
    with pytest.raises(DateTextError):
        read("26. Juni des Jahres 2025", "de", "calendar", options)
    assert write(date(2025, 6, 26), "de", "long", options).text == "26. Juni 2025"


def test_hausa_hybrid_refuses_a_text_with_two_days() -> None:
    written = comes_back(date(2023, 7, 3), "ha", "calendar", HYBRID)
    assert written == Written("15 Zulhijja 2023", "hijri", "ummalqura")
    refused = []
    for ordinal in range(date(2023, 1, 1).toordinal(), date(2024, 1, 1).toordinal()):
        day = date.fromordinal(ordinal)
        try:
            comes_back(day, "ha", "calendar", HYBRID)
        except CalendarRangeError:
            refused.append(day)
    assert refused[0] == date(2023, 1, 1) and refused[-1] == date(2023, 12, 31)
    assert len(refused) == 22
    with pytest.raises(CalendarRangeError, match="would name 2023-01-11 and 2023-12-31"):
        write(date(2023, 12, 31), "ha", "calendar", HYBRID)
    with pytest.raises(DateTextError, match="2023-01-11 and 2023-12-31"):
        read("18 Jumadal Akhira 2023", "ha", "calendar", HYBRID)
    with pytest.raises(DateTextError, match="not one day but: none"):
        read("18 Jumadal Akhira 33", "ha", "calendar", HYBRID)
    with pytest.raises(CalendarRangeError):
        write(date(500, 1, 1), "ha", "calendar", HYBRID)


def test_which_calendar_a_form_is_in() -> None:
    other = {form: calendar_of(*form) for form in FORMS if calendar_of(*form) != "gregorian"}
    assert other == {
        ("ar", "calendar"): "hijri",
        ("ha", "calendar"): "hijri",
        ("zh", "calendar"): "lunar",
    }


def test_unknown_language_or_form_names_the_known_ones() -> None:
    for call in (
        lambda: write(date(2023, 1, 1), "fr", "iso"),
        lambda: read("2023-01-01", "en", "short"),
        lambda: calendar_of("en", ""),
        lambda: aliases(date(2023, 1, 1), "xx"),
    ):
        with pytest.raises(DataError, match=r"ar, de, en, ha, zh.*iso, slash, long, calendar"):
            call()
    with pytest.raises(DataError, match="ar, de, en, ha, zh"):
        readings("01/02/2023", "fr")


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_aliases_begin_with_the_four_forms(language: str) -> None:
    for day in (date(2023, 7, 3), date(2014, 12, 27), date(2033, 12, 25)):
        found = aliases(day, language)
        assert found[:4] == [write(day, language, form).text for form in FORMATS]
        assert day.isoformat() in found
        assert len(found) == len(set(found))
        assert found == aliases(day, language)


@pytest.mark.parametrize(
    ("language", "some"),
    [
        ("en", ["3 July 2023", "July 3, 2023", "July 3rd, 2023", "3 Jul 2023", "07/03/2023"]),
        ("de", ["3. Juli 2023", "3.7.2023", "Am 03. Juli des Jahres 2023", "am 3. Juli 2023"]),
        ("zh", ["2023年7月3日", "2023年7月3号", "二零二三年七月三日", "农历二〇二三年五月十六"]),
        ("ar", ["3 يوليو 2023", "٣ تموز ٢٠٢٣", "٠٣/٠٧/٢٠٢٣", "15 ذو الحجة 1444 هـ"]),
        ("ar", ["٢٠٢٣-٠٧-٠٣", "١٥ ذي الحجة ١٤٤٤ هـ", "2023-07-03"]),
        ("ha", ["3 ga Yuli 2023", "Yuli 3, 2023", "15 Zul Hijja 1444 AH", "03/07/2023"]),
    ],
)
def test_aliases_have_the_common_ways_of_writing(language: str, some: list[str]) -> None:
    found = aliases(date(2023, 7, 3), language)
    assert set(some) <= set(found)


def test_aliases_have_the_other_hausa_spellings() -> None:
    assert "03 ga Faburairu 2023" in aliases(date(2023, 2, 3), "ha")
    assert "3 ga Afirilu 2023" in aliases(date(2023, 4, 3), "ha")


def test_chinese_aliases_have_the_other_zero_and_month_names() -> None:
    found = aliases(date(2024, 12, 31), "zh")
    assert "二〇二四年腊月初一" in found
    assert "农历二零二四年十二月初一" in found
    assert "二零二四年十二月三十一日" in found
    assert "二零二三年十月十日" in aliases(date(2023, 10, 10), "zh")
    assert "二零二三年二月二十日" in aliases(date(2023, 2, 20), "zh")


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_month_first_numbers_are_aliases_only_where_ambiguous(language: str) -> None:
    assert {"07/03/2023", "7/3/2023", "07-03-2023"} <= set(aliases(date(2023, 7, 3), language))
    assert "07/18/2023" not in aliases(date(2023, 7, 18), language)
    for day in (date(2023, 7, 3), date(2023, 7, 18), date(2023, 12, 12)):
        for text in aliases(day, language):
            if set(text) <= set("0123456789-/."):
                assert day in readings(text, language), text


@given(st.dates(*calendars.LUNAR_DAYS), st.dates(*calendars.LUNAR_DAYS))
def test_no_alias_names_two_days_but_ambiguous_numbers(one: date, other: date) -> None:
    if one == other:
        return
    for language in LANGUAGES:
        for text in set(aliases(one, language)) & set(aliases(other, language)):
            assert {one, other} <= set(readings(text, language)), text


def test_swapped_days_share_only_numbers() -> None:
    for language in LANGUAGES:
        shared = set(aliases(date(2023, 3, 4), language)) & set(aliases(date(2023, 4, 3), language))
        assert "03/04/2023" in shared
        assert all(len(readings(text, language)) == 2 for text in shared)


def test_aliases_of_days_that_a_calendar_cannot_name() -> None:
    day = date(500, 3, 4)
    for language, absent in (("ar", "هـ"), ("ha", "AH"), ("zh", "农历")):
        found = aliases(day, language)
        assert found[:3] == [write(day, language, form).text for form in FORMATS[:3]]
        assert not any(absent in text for text in found)
    strict = aliases(date(2087, 1, 1), "ha", STRICT)
    assert not any("AH" in text for text in strict)
    assert "26 Jumadal Ula 1510 AH" in aliases(date(2087, 1, 1), "ha")


def test_aliases_follow_the_options() -> None:
    day = date(2023, 7, 3)
    assert aliases(day, "de", Options(german_am=True))[3] == "Am 03. Juli des Jahres 2023"
    hybrid = aliases(day, "ha", HYBRID)
    assert hybrid[3] == "15 Zulhijja 2023"
    assert "15 Zulhijja 1444 AH" in hybrid


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("03/07/2023", "en", ["2023-07-03", "2023-03-07"]),
        ("3/7/2023", "zh", ["2023-07-03", "2023-03-07"]),
        ("03-07-2023", "ha", ["2023-07-03", "2023-03-07"]),
        ("03.07.2023", "en", ["2023-07-03", "2023-03-07"]),
        ("03.07.2023", "de", ["2023-07-03"]),
        ("07.18.2023", "de", []),
        ("03/07/2023", "de", ["2023-07-03", "2023-03-07"]),
        ("18/07/2023", "en", ["2023-07-18"]),
        ("07/18/2023", "en", ["2023-07-18"]),
        ("12/12/2023", "en", ["2023-12-12"]),
        ("2023-07-03", "en", ["2023-07-03"]),
        ("2023/7/3", "zh", ["2023-07-03"]),
        ("\u200e2023-07-03\u200e", "ar", ["2023-07-03"]),
        ("٠٣/٠٧/٢٠٢٣", "ar", ["2023-07-03", "2023-03-07"]),
        ("۰۳/۰۷/۲۰۲۳", "ar", ["2023-07-03", "2023-03-07"]),
        (" ０３/０７/２０２３ ", "zh", ["2023-07-03", "2023-03-07"]),
        ("29/02/2023", "en", []),
        ("31/12/2023", "en", ["2023-12-31"]),
        ("13/13/2023", "en", []),
        ("03/07/23", "en", []),
        ("03/07-2023", "en", []),
        ("on 03/07/2023", "en", []),
        ("2023-13-01", "en", []),
        ("03 July 2023", "en", []),
        ("", "en", []),
    ],
)
def test_readings_of_numeric_dates(text: str, language: str, expected: list[str]) -> None:
    assert [day.isoformat() for day in readings(text, language)] == expected


@given(st.dates(), st.sampled_from(sorted(LANGUAGES)))
def test_the_slash_form_has_the_day_among_its_readings(day: date, language: str) -> None:
    found = readings(write(day, language, "slash").text, language)
    assert found[0] == day
    ambiguous = day.day <= 12 and day.day != day.month and language != "de"
    assert len(found) == (2 if ambiguous else 1)
