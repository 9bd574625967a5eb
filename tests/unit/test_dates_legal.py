"""Dates of legal text: every notation, what is refused and why, both calendars side by side."""

from __future__ import annotations

import csv
import re
import time
import unicodedata
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts.dates import english
from scripts.dates.bangla import BENGALI_MONTHS, LATIN_MONTHS, from_gregorian
from scripts.dates.legal_dates import (
    GREGORIAN_YEARS,
    REASONS,
    DateMention,
    LegalDateError,
    Refusal,
    calendar_pairs,
    matches,
    mentions,
    read_date,
    refusals,
)
from scripts.dates.legal_words import BENGALI_DIGITS, BENGALI_GREGORIAN_MONTHS, WORD_VALUES, symbols

DATA = Path(__file__).resolve().parents[1] / "data" / "legal_dates.csv"
_ESCAPE = re.compile(r"\\u([0-9a-f]{4})|\\n")


def cases() -> list[tuple[str, str]]:
    """Texts, with characters that cannot be seen unescaped, and what is found in them."""
    with DATA.open(encoding="utf-8", newline="") as file:
        return [(unescaped(row["text"]), row["expected"]) for row in csv.DictReader(file)]


def unescaped(text: str) -> str:
    return _ESCAPE.sub(lambda m: chr(int(m[1], 16)) if m[1] else "\n", text)


def found(text: str) -> str:
    """Values and reasons in order of place: `!no_year 2016-06-30`; `-` if there is nothing."""
    items: list[tuple[int, str]] = [
        (m.start, m.value + ("@bangla" if m.calendar == "bangla" else "")) for m in mentions(text)
    ]
    items += [(r.start, f"!{r.reason}") for r in refusals(text)]
    return " ".join(item for _, item in sorted(items, key=lambda item: item[0])) or "-"


def values(text: str) -> list[str]:
    return [mention.value for mention in mentions(text)]


def one(text: str) -> DateMention:
    result = read_date(text)
    assert isinstance(result, DateMention), (text, result)
    return result


def reason(text: str) -> str:
    result = read_date(text)
    assert isinstance(result, Refusal), (text, result)
    return result.reason


def bengali(number: int | str) -> str:
    return str(number).translate(str.maketrans("0123456789", BENGALI_DIGITS))


# --- the table -----------------------------------------------------------------------------------


def test_the_table_is_large_and_has_no_text_twice() -> None:
    texts = [text for text, _ in cases()]
    assert len(texts) >= 300
    assert len(set(texts)) == len(texts)
    named = {item[1:] for _, expected in cases() for item in expected.split() if item[0] == "!"}
    beyond = {"no_date", "several_dates", "other_text", "calendars_disagree"}
    assert named == set(REASONS) - beyond


@pytest.mark.parametrize(("text", "expected"), cases())
def test_what_is_found(text: str, expected: str) -> None:
    assert found(text) == expected


@pytest.mark.parametrize(("text", "expected"), cases())
def test_every_finding_stands_where_it_says(text: str, expected: str) -> None:
    for item in (*mentions(text), *refusals(text)):
        assert text[item.start : item.end] == item.text
        assert item.text.strip() == item.text != ""
    assert expected


@pytest.mark.parametrize("form", ["NFC", "NFD", "NFKC", "NFKD"])
def test_the_encoding_of_letters_changes_nothing(form: str) -> None:
    for text, expected in cases():
        assert found(unicodedata.normalize(form, text)) == expected, text


def test_a_date_is_found_in_the_middle_of_a_sentence() -> None:
    for text, expected in cases():
        if re.fullmatch(r"\d{4}-\d{2}-\d{2}(?:@bangla)?", expected):
            assert found(f"the notice of {text}, and the fee") == expected, text
            assert found(f"প্রজ্ঞাপন {text} কার্যকর হইবে।") == expected, text


# --- single cases --------------------------------------------------------------------------------


def test_a_mention_as_a_row_holds_it() -> None:
    text = "তারিখ: ১৯ জ্যৈষ্ঠ, ১৪২৩ বঙ্গাব্দ।"
    [mention] = mentions(text)
    assert mention.to_json() == {
        "value": "2016-06-02",
        "granularity": "day",
        "calendar": "bangla",
        "start": 7,
        "end": 32,
        "text": "১৯ জ্যৈষ্ঠ, ১৪২৩ বঙ্গাব্দ",
    }
    assert text[7:32] == mention.text


def test_a_final_letter_with_its_dot_is_whole() -> None:
    for word in ("আষা\u09dd", "আষা\u09a2\u09bc"):
        text = f"১৪২৪ সনের {word} মাস"
        assert one(text).text == text
        text = f"১৪২৪ সনের {word}"
        assert (one(text).text, one(text).value) == (text, "1424-03")


def test_invisible_characters_do_not_move_a_mention() -> None:
    text = "\ufeffক\u200dখ 9\u200b June 20\u200c11\u200b, x"
    [mention] = mentions(text)
    assert (mention.value, mention.text) == ("2011-06-09", "9\u200b June 20\u200c11")


def test_the_two_days_of_a_range_share_a_place() -> None:
    first, last = mentions("valid ৫–৭ জুন ২০১৬ only")
    assert (first.start, first.end) == (last.start, last.end) == (6, 18)
    assert (first.value, last.value) == ("2016-06-05", "2016-06-07")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2011", "2011"),
        ("২০১১", "2011"),
        (" 2013. ", "2013"),
        ("2010-06", "2010-06"),
        ("2011.06.09", "2011-06-09"),
        ("তারিখ: ০২ জুন, ২০১৬ খ্রিস্টাব্দ।", "2016-06-02"),
        ("(dated: Thursday, 2 June 2016)", "2016-06-02"),
        ("১৯ জ্যৈষ্ঠ, ১৪২৩ বঙ্গাব্দ মোতাবেক ০২ জুন, ২০১৬ খ্রিস্টাব্দ", "2016-06-02"),
        ("জ্যৈষ্ঠ ১৪২৩", "1423-02"),
    ],
)
def test_one_date_is_read(text: str, value: str) -> None:
    mention = one(text)
    assert mention.value == value
    assert text[mention.start : mention.end] == mention.text
    assert mention.calendar == ("bangla" if value < "1700" else "gregorian")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "no_date"),
        ("no date at all", "no_date"),
        ("20110609", "no_date"),
        ("06/2011", "instrument_number"),
        ("9 June 2011 and 2 June 2016", "several_dates"),
        ("9 June 2011, as amended", "other_text"),
        ("SRO 145-AIN/2013, dated 2013-06-06", "other_text"),
        ("SRO 145-AIN/2013", "instrument_number"),
        ("31 April 2012", "no_such_day"),
        ("৩২ আষাঢ় ১৪২৩", "no_such_day"),
        ("2011-13", "no_such_day"),
        ("2011.02.30", "no_such_day"),
        ("2011-12", "fiscal_year"),
        ("1423", "calendar_unclear"),
        ("0042", "year_out_of_range"),
        ("8703.23.12", "year_out_of_range"),
        ("২০1১", "mixed_digits"),
        ("১৯ জ্যৈষ্ঠ ১৪২৩/৩ জুন ২০১৬", "calendars_disagree"),
        ("5-7 June 2016", "several_dates"),
        ("9 June", "no_year"),
    ],
)
def test_why_a_text_is_not_one_date(text: str, expected: str) -> None:
    assert reason(text) == expected
    assert REASONS[expected]


def test_a_title_a_tariff_code_and_a_section_are_no_years() -> None:
    text = (
        "Under section 25(3) of the Customs Act 1969 (IV of 1969), the Baggage Rules, 2016 and "
        "কাস্টমস আইন, ২০২৩ (২০২৩ সনের ৫৭ নং আইন), headings 2008 and 2009.11.00 at 2012% by phone "
        "01711-201620, 2016 kg, Tk. 2,016"
    )
    assert mentions(text) == []


@pytest.mark.parametrize(
    ("value", "gold", "granularity", "expected"),
    [
        ("9 June 2011", "2011-06-09", "day", True),
        ("9 June 2011", "2011-06", "month", True),
        ("9 June 2011", "2011", "year", True),
        ("9 June 2011", "2011-06-10", "day", False),
        ("9 June 2011", "2011-07", "month", False),
        ("June 2011", "2011-06-09", "day", False),
        ("June 2011", "2011", "year", True),
        ("2011", "2011-06", "month", False),
        ("১৯ জ্যৈষ্ঠ ১৪২৩", "2016-06-02", "day", True),
        ("১৯ জ্যৈষ্ঠ ১৪২৩", "2016", "year", True),
        ("১৯ জ্যৈষ্ঠ ১৪২৩", "1423-02", "month", True),
        ("১৯ জ্যৈষ্ঠ ১৪২৩", "1423", "year", True),
        ("১৯ জ্যৈষ্ঠ ১৪২৩", "1424", "year", False),
        ("জ্যৈষ্ঠ ১৪২৩", "2016-06", "month", False),
        ("জ্যৈষ্ঠ ১৪২৩", "2016", "year", False),
        ("জ্যৈষ্ঠ ১৪২৩", "1423", "year", True),
        ("১৪২৩ বঙ্গাব্দ", "2016", "year", False),
        ("2 June 2016", "1423", "year", False),
    ],
)
def test_matching(value: str, gold: str, granularity: str, expected: bool) -> None:
    assert matches(one(value), gold, granularity) is expected


@pytest.mark.parametrize(
    ("gold", "granularity"),
    [("2011", "day"), ("2011-06-09", "year"), ("2011", "century"), ("২০১১", "year"), ("", "day")],
)
def test_a_gold_value_must_be_of_its_granularity(gold: str, granularity: str) -> None:
    with pytest.raises(LegalDateError, match="YYYY-MM-DD"):
        matches(one("9 June 2011"), gold, granularity)


# --- any day in any notation ---------------------------------------------------------------------

DAYS = st.dates(date(1950, 1, 1), date(2100, 12, 31))


def _ordinal(day: int) -> str:
    suffix = "th" if 11 <= day <= 13 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
    return f"{day}{suffix}"


def _bengali_ordinal(day: int) -> str:
    ending = {1: "লা", 2: "রা", 3: "রা", 4: "ঠা"}.get(day, "ই" if day < 19 else "শে")
    return bengali(day) + ending


def _month(day: date) -> str:
    return english.MONTHS[day.month - 1][0]


def _bengali_month(day: date) -> str:
    return BENGALI_GREGORIAN_MONTHS[day.month - 1][0]


def _bangla(write: Callable[[int, int, int], str]) -> Callable[[date], str]:
    def written(day: date) -> str:
        bangla = from_gregorian(day)
        return write(bangla.year, bangla.month, bangla.day)

    return written


GREGORIAN_NOTATIONS: list[Callable[[date], str]] = [
    lambda d: d.isoformat(),
    lambda d: bengali(d.isoformat()),
    lambda d: f"{d.year}/{d.month:02d}/{d.day:02d}",
    lambda d: f"{d.day:02d}/{d.month:02d}/{d.year}",
    lambda d: f"{d.day}-{d.month}-{d.year}",
    lambda d: bengali(f"{d.day:02d}.{d.month:02d}.{d.year}"),
    lambda d: f"{d.day} {_month(d)} {d.year}",
    lambda d: f"{_ordinal(d.day)} {_month(d)}, {d.year}",
    lambda d: f"the {_ordinal(d.day)} day of {_month(d)}, {d.year} A.D.",
    lambda d: f"{_month(d)} {d.day}, {d.year}",
    lambda d: f"{_month(d)[:3]} {_ordinal(d.day)} {d.year}",
    lambda d: f"{d.day}-{_month(d)[:3]}-{d.year}",
    lambda d: f"{bengali(d.day)} {_bengali_month(d)} {bengali(d.year)}",
    lambda d: f"{bengali(d.day)} {_bengali_month(d)}, {bengali(d.year)} খ্রিস্টাব্দ",
    lambda d: f"{_bengali_ordinal(d.day)} {_bengali_month(d)}, {bengali(d.year)} ইং",
    lambda d: f"{bengali(d.year)} সালের {bengali(d.day)} {_bengali_month(d)}",
    lambda d: f"{bengali(d.year)} সনের {_bengali_month(d)} মাসের {bengali(d.day)} তারিখ",
]
BANGLA_NOTATIONS: list[Callable[[date], str]] = [
    _bangla(lambda y, m, d: f"{bengali(d)} {BENGALI_MONTHS[m - 1][0]}, {bengali(y)} বঙ্গাব্দ"),
    _bangla(lambda y, m, d: f"{bengali(d)} {BENGALI_MONTHS[m - 1][-1]} {bengali(y)}"),
    _bangla(lambda y, m, d: f"{_bengali_ordinal(d)} {BENGALI_MONTHS[m - 1][0]} {bengali(y)} সন"),
    _bangla(lambda y, m, d: f"{bengali(y)} সনের {bengali(d)} {BENGALI_MONTHS[m - 1][0]}"),
    _bangla(lambda y, m, d: bengali(f"{d:02d}/{m:02d}/{y}") + " বঙ্গাব্দ"),
    _bangla(lambda y, m, d: f"{d} {LATIN_MONTHS[m - 1][0]} {y}"),
    _bangla(lambda y, m, d: f"{_ordinal(d)} day of {LATIN_MONTHS[m - 1][-1]}, {y} B.S."),
]


@given(DAYS, st.sampled_from(GREGORIAN_NOTATIONS))
def test_any_day_is_read_back(day: date, write: Callable[[date], str]) -> None:
    mention = one(write(day))
    assert (mention.value, mention.granularity) == (day.isoformat(), "day")
    assert mention.calendar == "gregorian"
    assert values(f"x {write(day)} y") == [day.isoformat()]


@given(DAYS, st.sampled_from(BANGLA_NOTATIONS))
def test_any_bangla_day_is_read_back(day: date, write: Callable[[date], str]) -> None:
    mention = one(write(day))
    assert (mention.value, mention.granularity) == (day.isoformat(), "day")
    assert mention.calendar == "bangla"


@given(DAYS, st.sampled_from(BANGLA_NOTATIONS[:5]), st.sampled_from(GREGORIAN_NOTATIONS[12:15]))
def test_any_day_in_both_calendars_is_one_date(
    day: date, bangla: Callable[[date], str], gregorian: Callable[[date], str]
) -> None:
    for joint in ("/", " মোতাবেক ", " (", "\n"):
        text = bangla(day) + joint + gregorian(day)
        [pair] = calendar_pairs(text)
        assert (pair.agrees, pair.converted) == (True, day.isoformat())
        assert one(text).value == day.isoformat()
        [pair] = calendar_pairs(gregorian(day) + joint + bangla(day))
        assert pair.agrees


def test_every_spelling_of_every_month_is_read() -> None:
    for number, names in enumerate(BENGALI_GREGORIAN_MONTHS, start=1):
        for name in names:
            assert values(f"৭ {name} ২০১৬") == [f"2016-{number:02d}-07"]
            assert values(f"{name}, ২০১৬") == [f"2016-{number:02d}"]
            assert values(f"{name}ের ২০১৬") == [f"2016-{number:02d}"]
    for number in range(1, 13):
        for name in (*BENGALI_MONTHS[number - 1], *LATIN_MONTHS[number - 1]):
            assert values(f"{name} ১৪২৩") == [f"1423-{number:02d}"]
            assert len(values(f"৭ {name} ১৪২৩")) == 1


@given(st.integers(0, 99), st.integers(0, 99), st.integers(0, 9999))
def test_a_numeric_date_is_the_day_that_exists_or_refused(day: int, month: int, year: int) -> None:
    result = read_date(f"{day:02d}/{month:02d}/{year:04d}")
    low, high = GREGORIAN_YEARS
    try:
        expected = date(year, month, day).isoformat() if low <= year <= high else None
    except ValueError:
        expected = None
    assert getattr(result, "value", None) == expected


# --- both calendars ------------------------------------------------------------------------------


def test_what_is_a_pair() -> None:
    bangla, gregorian = "১৯ জ্যৈষ্ঠ, ১৪২৩ বঙ্গাব্দ", "০২ জুন ২০১৬ খ্রিস্টাব্দ"
    joints = [" মোতাবেক ", "/", " / ", " (", ", মোতাবেক ", "\n", " ", " মোতাবেক ইংরেজি ", ", "]
    joints += [" (corresponding to ", " (i.e., ", " (মোতাবেক ", " (Gregorian: ", " that is, "]
    joints += [" corresponding to ", " corresponding to the ", " [", " = "]
    for joint in joints:
        for text in (bangla + joint + gregorian, gregorian + joint + bangla):
            [pair] = calendar_pairs(f"তারিখ: {text} x")
            assert (pair.agrees, pair.note) == (True, ""), joint
            assert (pair.bangla.text, pair.gregorian.text) == (bangla, gregorian)


def test_a_heading_of_two_lines_is_a_pair_even_if_it_contradicts_itself() -> None:
    heading = "তারিখ: ২০ জ্যৈষ্ঠ, ১৪২৩ বঙ্গাব্দ\n০২ জুন, ২০১৬ খ্রিস্টাব্দ"
    assert [pair.agrees for pair in calendar_pairs(heading)] == [False]
    assert [pair.agrees for pair in calendar_pairs(heading + "\nএস.আর.ও")] == [False]
    # In running text the line may end anywhere.
    assert calendar_pairs(heading + " তারিখে কার্যকর") == []
    assert calendar_pairs("২০ জ্যৈষ্ঠ ১৪২৩\n\n/২ জুন ২০১৬") == []
    assert len(calendar_pairs("১৯ জ্যৈষ্ঠ ১৪২৩\n২ জুন ২০১৬ তারিখে কার্যকর")) == 1


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_joints_are_found_in_every_encoding(form: str) -> None:
    for joint in (" মোতাবেক ", " অনুযায়ী ", " মো\u200cতাবেক ", " (ইংরেজী "):
        text = unicodedata.normalize(form, f"২০ জ্যৈষ্ঠ ১৪২৩{joint}২ জুন ২০১৬")
        assert [pair.agrees for pair in calendar_pairs(text)] == [False], joint


def test_dates_of_two_facts_are_no_pair() -> None:
    bangla, gregorian = "১৯ জ্যৈষ্ঠ, ১৪২৩ বঙ্গাব্দ", "০২ জুন ২০১৬ খ্রিস্টাব্দ"
    for joint in (" ও ", " এবং ", " দ্বারা ", " হইতে ", "\n\n", "। ", "; ", " and ", " to ", " - "):
        assert calendar_pairs(bangla + joint + gregorian) == [], joint
    # A comma alone lists as well as it joins: a pair only if both name one day.
    assert calendar_pairs(f"{bangla}, ০৩ জুন ২০১৬") == []
    assert calendar_pairs(f"{bangla} মোতাবেক {bangla}") == []
    assert calendar_pairs(f"{gregorian}/{gregorian}") == []
    assert calendar_pairs("জ্যৈষ্ঠ ১৪২৩/জুন ২০১৬") == []
    assert calendar_pairs(f"{bangla} মোতাবেক ৫-৭ জুন ২০১৬") == []


def test_a_date_is_part_of_one_pair_only() -> None:
    text = "১৯ জ্যৈষ্ঠ ১৪২৩/২ জুন ২০১৬ (২০ জ্যৈষ্ঠ ১৪২৩/৩ জুন ২০১৬)"
    assert [(p.agrees, p.converted) for p in calendar_pairs(text)] == [
        (True, "2016-06-02"),
        (True, "2016-06-03"),
    ]


def test_a_pair_that_contradicts_itself_says_how() -> None:
    [pair] = calendar_pairs("২০ জ্যৈষ্ঠ ১৪২৩ মোতাবেক ২ জুন ২০১৬")
    assert (pair.agrees, pair.converted) == (False, "2016-06-03")
    assert pair.note == (
        "the Bangla date is 2016-06-03; 2016-06-02 is stated, which is 19 Joishtho 1423 Bangla, "
        "1 day earlier"
    )


def test_a_pair_with_a_day_that_does_not_exist_is_reported() -> None:
    [pair] = calendar_pairs("৩২ আষাঢ় ১৪২৩ মোতাবেক ১৬ জুলাই ২০১৬")
    assert (pair.agrees, pair.converted) == (False, "")
    assert "no such day" in pair.note
    [pair] = calendar_pairs("১৯ জ্যৈষ্ঠ ১৪২৩/৩১ জুন ২০১৬")
    assert (pair.agrees, pair.converted) == (False, "2016-06-02")
    assert isinstance(pair.gregorian, Refusal)


def test_a_pair_older_than_the_official_calendar_is_marked() -> None:
    text = "eighteenth day of Kartick, 1379 B.S., corresponding to the fourth day of November, 1972"
    [pair] = calendar_pairs(text)
    assert (pair.agrees, pair.converted) == (False, "1972-11-02")
    assert pair.note.endswith("before 1394 the lengths of the Bangla months were not official")


def test_a_pair_with_a_day_outside_the_bangla_years_is_reported() -> None:
    far = calendar_pairs("১৯ জ্যৈষ্ঠ ১৪২৩/২ জুন ১৭৫০")
    assert [pair.agrees for pair in far] == [False]
    assert far[0].note.startswith("the Bangla date is 2016-06-02; 1750-06-02 is stated ")


# --- real acts -----------------------------------------------------------------------------------

#: Printed pairs that no calendar of Bangladesh makes true. All fall under fixed month lengths (1409
#: and later), so that the Bangla day follows from the Gregorian one; each is off by another count,
#: hence a slip of the printer and no other reckoning.
CONTRADICTORY = {
    # 1 November 2019 is 16 Kartik by the revised calendar (another act of that day says so) and
    # 17 Kartik by the old one; 06 has lost its 1.
    "act-1262.mdx": ("2019-10-22", "2019-11-01"),
    # 1 October 2019 is 16 Ashwin under both rules, which differ only from 16 October 2019 on.
    "act-1271.mdx": ("2019-09-25", "2019-10-01"),
    # 21 December 2002 is 7 Poush; 4 Poush is 18 December.
    "act-867.mdx": ("2002-12-18", "2002-12-21"),
    # 22 May 2023 is 8 Joishtho: 27 Boishakh is 10 May, not even the month agrees.
    "act-871.mdx": ("2023-05-10", "2023-05-22"),
}


def test_pairs_of_real_acts_agree_or_are_reported(shared_data: Path) -> None:
    path = shared_data / "bdlaws" / "two_calendar_dates.csv"
    if not path.is_file():
        pytest.skip("no two_calendar_dates.csv")
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 55
    contradictory = {}
    for row in rows:
        [pair] = calendar_pairs(row["text"])
        bangla, gregorian = pair.bangla, pair.gregorian
        assert isinstance(bangla, DateMention)
        assert isinstance(gregorian, DateMention)
        assert mentions(row["text"]) == [bangla, gregorian]
        for mention, calendar in ((bangla, "bangla"), (gregorian, "gregorian")):
            cells = (row[f"{calendar}_{part}"] for part in ("day", "month", "year"))
            assert one(" ".join(cells)).value == mention.value
        assert pair.converted == bangla.value
        assert pair.agrees == (bangla.value == gregorian.value)
        if not pair.agrees:
            contradictory[row["act"]] = (bangla.value, gregorian.value)
            assert " days " in pair.note
    assert contradictory == CONTRADICTORY


def test_real_acts_hold_plausible_dates(shared_data: Path) -> None:
    acts = sorted((shared_data / "bdlaws").glob("act-*.txt"))
    if not acts:
        pytest.skip("no acts")
    days = pairs = disagreements = 0
    for path in acts:
        text = path.read_text(encoding="utf-8")
        for mention in mentions(text):
            assert text[mention.start : mention.end] == mention.text
            assert 1900 <= int(mention.value[:4]) <= 2030, mention
            days += mention.granularity == "day"
        found_pairs = calendar_pairs(text)
        pairs += len(found_pairs)
        disagreements += sum(not pair.agrees for pair in found_pairs)
    # The one pair says 30 Joishtho 1426 for 1 July 2019: that is 17 Asharh; 30 Joishtho is the
    # 13 June on which the order was signed, and which the sentence names before.
    assert (len(acts), days, pairs, disagreements) == (9, 29, 1, 1)


# --- hostile texts -------------------------------------------------------------------------------

HOSTILE = [
    *("1", "1 ", "1/", "1.1.", "2016 ", "2016-", "2016/", "in 2016, ", "june ", "9 june ", "5-7-"),
    *("\u200b", " ", "\n", "(2016, ", "twenty ", "ক্ষ", "a", "৯ জুন ২০১১, ", "খ্রি. ", "আষাঢ়"),
    *("১৯ জ্যৈষ্ঠ ১৪২৩/", "১৯ জ্যৈষ্ঠ ১৪২৩/২ জুন ২০১৬ ", "160-আইন/", "in ", "\u09bc", "🦀", "\x00"),
]


@pytest.mark.parametrize("unit", HOSTILE)
def test_time_is_linear_in_the_text(unit: str) -> None:
    def seconds(length: int) -> float:
        text = unit * (length // len(unit))
        begin = time.process_time()
        calendar_pairs(text)
        return time.process_time() - begin

    seconds(1_000)
    short, long = seconds(25_000), seconds(200_000)
    assert long < 24 * max(short, 0.01)


def test_a_megabyte_is_read() -> None:
    unit = "এস.আর.ও নং ১৬০-আইন/২০১৬/২১, তারিখ ১৯ জ্যৈষ্ঠ, ১৪২৩ বঙ্গাব্দ/০২ জুন ২০১৬। HS 2009.11.10 "
    count = 1_000_000 // len(unit) + 1
    begin = time.process_time()
    assert len(mentions(unit * count)) == 2 * count
    assert time.process_time() - begin < 30


@given(st.text(max_size=200))
def test_no_text_breaks_the_reader(text: str) -> None:
    for item in (*mentions(text), *refusals(text)):
        assert text[item.start : item.end] == item.text
    assert isinstance(read_date(text), DateMention | Refusal)
    assert isinstance(calendar_pairs(text), list)


WORDS = st.sampled_from(
    [
        *sorted({word for word in WORD_VALUES if len(word) < 12}),
        *(
            "9",
            "31",
            "2011",
            "১৪২৩",
            "২০১৬",
            "160",
            "09",
            "/",
            "-",
            ".",
            ",",
            "(",
            ")",
            "\n",
            "\n\n",
        ),
        *("%", "নং", "সালের", "মোতাবেক", "জুন", "জ্যৈষ্ঠ", "june", "\u200c"),
    ]
)


@given(st.lists(WORDS, max_size=14), st.sampled_from(["", " "]))
def test_any_row_of_words_is_read_in_place(words: list[str], joint: str) -> None:
    text = joint.join(words)
    symbol_row = symbols(text)
    assert len(symbol_row.row) == len(symbol_row.starts) == len(symbol_row.ends)
    for mention in mentions(text):
        assert text[mention.start : mention.end] == mention.text
        year = int(mention.value[:4])
        low, high = (1300, 1599) if mention.value < "1700" else GREGORIAN_YEARS
        assert low <= year <= high
        if mention.granularity == "day":
            assert date.fromisoformat(mention.value).year == year
        assert matches(mention, mention.value, mention.granularity)
    assert isinstance(read_date(text), DateMention | Refusal)
