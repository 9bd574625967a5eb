"""The written forms of a date: five languages, four forms each, and the strict way back.

Every form is one row of `_FORMS`: literals and fields. `write` fills the fields, `read` turns the
same row into a pattern, and accepts a text only if `write` makes exactly that text of the day it
found. So a text that is read is a text that is written. Source: MultiTempBench, table 1 and
appendix A.1; docs/dates.md lists where the paper contradicts itself and what was chosen.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from functools import cache

from scripts.dates import calendars, languages
from scripts.dates.calendars import CalendarRangeError, NoSuchDateError, OutsideHijriRange
from scripts.dates.languages import FORMATS, LANGUAGES, LEFT_TO_RIGHT_MARK
from scripts.files import DataError


class DateTextError(DataError):
    """A text is not a date in the form that it should be in."""


@dataclass(frozen=True, slots=True)
class Options:
    """Choices that the paper leaves open; the defaults are table 1's.

    `hijri_outside_range`: what to do outside Umm al-Qura. `german_am`: "Am " before the German
    calendar form. `hausa_hybrid`: the Gregorian year behind the Hijri day and month in Hausa, as
    appendix A.1.2 has it; a day whose text would also name another one is then refused.
    """

    hijri_outside_range: OutsideHijriRange = "tabular_civil"
    german_am: bool = False
    hausa_hybrid: bool = False


DEFAULT_OPTIONS = Options()


@dataclass(frozen=True, slots=True)
class Written:
    """A written date: `calendar` is gregorian, hijri or lunar, `calendar_source` what computed it.

    `calendar_source` is gregorian, ummalqura, tabular_civil or lunar.
    """

    text: str
    calendar: str
    calendar_source: str


@dataclass(frozen=True, slots=True)
class _Parts:
    """What the fields of a form show; the calendar is the form's."""

    year: int
    month: int
    day: int
    leap: bool = False
    source: str = "gregorian"


@dataclass(frozen=True, slots=True)
class _Field:
    """One part of a written date: its name, how it is written, matched, and read."""

    name: str
    write: Callable[[_Parts], str]
    pattern: str
    read: Callable[[str], int]


_Row = tuple[str | _Field, ...]


def _number(name: str, pattern: str, width: int = 0) -> _Field:
    return _Field(name, lambda p: f"{getattr(p, name):0{width}d}", pattern, int)


def _arabic_number(name: str, most: int) -> _Field:
    digits = languages.ARABIC_INDIC_DIGITS
    pattern = f"[{digits}]{{1,{most}}}"
    return _Field(name, lambda p: languages.arabic_indic(getattr(p, name)), pattern, int)


def _named(names: Iterable[str], name: str = "month") -> _Field:
    """A field that is written as one of a list of names, the first being number 1."""
    listed = tuple(names)
    numbers = {text: number for number, text in enumerate(listed, 1)}
    longest_first = sorted(listed, key=len, reverse=True)
    return _Field(
        name,
        lambda p: listed[getattr(p, name) - 1],
        "|".join(map(re.escape, longest_first)),
        numbers.__getitem__,
    )


def _month(code: str, calendar: str = "gregorian", spelling: int = 0) -> _Field:
    spellings = LANGUAGES[code].months(calendar)
    return _named(each[min(spelling, len(each) - 1)] for each in spellings)


_YEAR = _number("year", "[0-9]{1,4}")
_YEAR4 = _number("year", "[0-9]{4}", 4)
_MONTH = _number("month", "[0-9]{1,2}")
_MONTH2 = _number("month", "[0-9]{2}", 2)
_DAY = _number("day", "[0-9]{1,2}")
_DAY2 = _number("day", "[0-9]{2}", 2)
_ORDINAL_DAY = _named(map(languages.english_ordinal, range(1, 32)), "day")
_ARABIC_DAY = _arabic_number("day", 2)
_ARABIC_YEAR = _arabic_number("year", 4)
_CHINESE_YEAR = _Field(
    "year",
    lambda p: languages.chinese_digits(p.year),
    f"[{languages.CHINESE_DIGITS}]{{1,4}}",
    lambda text: languages.chinese_number(text) or 0,
)
_LUNAR_DAY = _named(map(languages.lunar_day, range(1, 31)), "day")
_LEAP = _Field("leap", lambda p: "闰" if p.leap else "", "闰?", len)

_ISO: _Row = (_YEAR4, "-", _MONTH2, "-", _DAY2)
_SLASH: _Row = (_DAY2, "/", _MONTH2, "/", _YEAR4)
_MARK = LEFT_TO_RIGHT_MARK
_GERMAN_CALENDAR: _Row = (_DAY2, ". ", _month("de"), " des Jahres ", _YEAR)

_FORMS: dict[tuple[str, str], _Row] = {
    ("ar", "iso"): (_MARK, *_ISO, _MARK),
    ("ar", "slash"): _SLASH,
    ("ar", "long"): (_ARABIC_DAY, " ", _month("ar"), " ", _ARABIC_YEAR),
    ("ar", "calendar"): (_ARABIC_DAY, " ", _month("ar", "hijri"), " ", _ARABIC_YEAR, " هـ"),
    ("zh", "iso"): _ISO,
    ("zh", "slash"): _SLASH,
    ("zh", "long"): (_YEAR, "年", _MONTH2, "月", _DAY2, "日"),
    ("zh", "calendar"): (_CHINESE_YEAR, "年", _LEAP, _month("zh", "lunar"), _LUNAR_DAY),
    ("en", "iso"): _ISO,
    ("en", "slash"): _SLASH,
    ("en", "long"): (_DAY2, " ", _month("en"), " ", _YEAR),
    ("en", "calendar"): (_ORDINAL_DAY, " of ", _month("en"), " ", _YEAR),
    ("de", "iso"): _ISO,
    ("de", "slash"): (_DAY2, ".", _MONTH2, ".", _YEAR4),
    ("de", "long"): (_DAY2, ". ", _month("de"), " ", _YEAR),
    ("de", "calendar"): _GERMAN_CALENDAR,
    ("ha", "iso"): _ISO,
    ("ha", "slash"): _SLASH,
    ("ha", "long"): (_DAY2, " ga ", _month("ha"), " ", _YEAR),
    ("ha", "calendar"): (_DAY2, " ", _month("ha", "hijri"), " ", _YEAR, " AH"),
}
_HAUSA_HYBRID: _Row = (_DAY2, " ", _month("ha", "hijri"), " ", _YEAR)
_CALENDARS = {("ar", "calendar"): "hijri", ("ha", "calendar"): "hijri", ("zh", "calendar"): "lunar"}


def calendar_of(language: str, form: str) -> str:
    """The calendar that a form of a language is written in: gregorian, hijri or lunar."""
    _check_form(language, form)
    return _CALENDARS.get((language, form), "gregorian")


def write(day: date, language: str, form: str, options: Options = DEFAULT_OPTIONS) -> Written:
    """A Gregorian day in one of FORMATS of a language of `languages.LANGUAGES`.

    Raises CalendarRangeError for a day that the form's calendar cannot name, DataError for an
    unknown language or form.
    """
    calendar = calendar_of(language, form)
    parts = _parts(day, calendar, options)
    if _is_hybrid(language, form, options):
        parts = _Parts(day.year, parts.month, parts.day, source=parts.source)
        _refuse_two_days(parts, day, options)
    return Written(_fill(_row(language, form, options), parts), calendar, parts.source)


def read(text: str, language: str, form: str, options: Options = DEFAULT_OPTIONS) -> date:
    """The Gregorian day of a text that `write` made with the same arguments; its strict inverse.

    Accepted besides: 〇 or ○ for 零 in the Chinese calendar form, and Arabic ISO without its two
    left-to-right marks. All else is a DateTextError: other padding, digits of another script, other
    marks, spaces around, another spelling, a day that does not exist. A date of a year that its
    calendar does not reach is a CalendarRangeError. Reading free text is another module's work.
    """
    calendar = calendar_of(language, form)
    normal = _normal(text, language, form)
    match = _pattern(_row(language, form, options)).fullmatch(normal)
    if match is None:
        raise _not_this_form(text, language, form, options, "it does not have that form")
    found = _values(_row(language, form, options), match)
    try:
        day = _day(found, calendar, options, hybrid=_is_hybrid(language, form, options))
    except NoSuchDateError as error:
        raise _not_this_form(text, language, form, options, str(error)) from error
    if write(day, language, form, options).text != normal:
        raise _not_this_form(text, language, form, options, "padding or ordinal is another")
    return day


def readings(text: str, language: str) -> list[date]:
    """Every Gregorian day that a numeric date may mean, day first before month first.

    Day and month may be padded or not and separated by / - or . (the same twice), the year has four
    digits; digits may be of any script, surrounding space and invisible marks are ignored. Two
    readings exist only where day and month are both at most 12 and differ; in German a date with
    full stops is always day first. [] for anything else, impossible dates included. No calendar but
    the Gregorian is considered.
    """
    if language not in LANGUAGES:
        raise DataError(f"unknown language {language!r}; known: {', '.join(sorted(LANGUAGES))}")
    plain = languages.ascii_digits(text.translate(_WITHOUT_MARKS)).strip()
    if match := _YEAR_FIRST.fullmatch(plain):
        return _days([(match["a"], match["b"], match["year"])])
    match = _YEAR_LAST.fullmatch(plain)
    if match is None:
        return []
    orders = [(match["b"], match["a"], match["year"])]
    if not (language == "de" and match["separator"] == "."):
        orders.append((match["a"], match["b"], match["year"]))
    return _days(orders)


def aliases(day: date, language: str, options: Options = DEFAULT_OPTIONS) -> list[str]:
    """Strings in which a person may write the day in a language, the four forms first.

    Then plain ISO, other orders, paddings, digits and spellings. Numeric dates with the month first
    are listed where the numeric date is ambiguous, that is for days up to the twelfth. Forms whose
    calendar cannot name the day are left out. No string comes twice; the order is fixed.
    """
    _check_form(language, "iso")
    found = [text for form in FORMATS for text in _written_or_none(day, language, form, options)]
    gregorian = _parts(day, "gregorian", options)
    found += [_fill(row, gregorian) for row in _alias_rows(language)]
    if day.day <= 12:
        found += [_fill(row, gregorian) for row in _MONTH_FIRST]
    calendar = calendar_of(language, "calendar")
    if calendar != "gregorian":
        try:
            parts = _parts(day, calendar, options)
        except CalendarRangeError:
            pass
        else:
            found += [_fill(row, parts) for row in _calendar_alias_rows(language)]
    if language == "zh":
        found += [text.replace("零", "〇") for text in found if "零" in text]
    return list(dict.fromkeys(found))


_WITHOUT_MARKS = dict.fromkeys(map(ord, languages.INVISIBLE_MARKS))
_YEAR_FIRST = re.compile(
    r"(?P<year>[0-9]{4})(?P<separator>[-/.])(?P<a>[0-9]{1,2})(?P=separator)(?P<b>[0-9]{1,2})"
)
_YEAR_LAST = re.compile(
    r"(?P<a>[0-9]{1,2})(?P<separator>[-/.])(?P<b>[0-9]{1,2})(?P=separator)(?P<year>[0-9]{4})"
)
_MONTH_FIRST: tuple[_Row, ...] = (
    (_MONTH2, "/", _DAY2, "/", _YEAR4),
    (_MONTH, "/", _DAY, "/", _YEAR4),
    (_MONTH2, "-", _DAY2, "-", _YEAR4),
)


def _check_form(language: str, form: str) -> None:
    if (language, form) not in _FORMS:
        raise DataError(
            f"no form {form!r} of language {language!r}; languages: "
            f"{', '.join(sorted(LANGUAGES))}; forms: {', '.join(FORMATS)}"
        )


def _is_hybrid(language: str, form: str, options: Options) -> bool:
    return options.hausa_hybrid and (language, form) == ("ha", "calendar")


@cache
def _row(language: str, form: str, options: Options) -> _Row:
    if _is_hybrid(language, form, options):
        return _HAUSA_HYBRID
    if options.german_am and (language, form) == ("de", "calendar"):
        return ("Am ", *_GERMAN_CALENDAR)
    return _FORMS[language, form]


def _parts(day: date, calendar: str, options: Options) -> _Parts:
    if calendar == "hijri":
        hijri = calendars.to_hijri(day, options.hijri_outside_range)
        return _Parts(hijri.year, hijri.month, hijri.day, source=hijri.source)
    if calendar == "lunar":
        lunar = calendars.to_lunar(day)
        return _Parts(lunar.year, lunar.month, lunar.day, lunar.leap, "lunar")
    return _Parts(day.year, day.month, day.day)


def _fill(row: _Row, parts: _Parts) -> str:
    return "".join(each if isinstance(each, str) else each.write(parts) for each in row)


@cache
def _pattern(row: _Row) -> re.Pattern[str]:
    return re.compile(
        "".join(
            re.escape(each) if isinstance(each, str) else f"(?P<{each.name}>{each.pattern})"
            for each in row
        )
    )


def _values(row: _Row, match: re.Match[str]) -> _Parts:
    found = {each.name: each.read(match[each.name]) for each in row if isinstance(each, _Field)}
    return _Parts(found["year"], found["month"], found["day"], bool(found.get("leap")))


def _normal(text: str, language: str, form: str) -> str:
    if (language, form) == ("zh", "calendar"):
        for zero in languages.CHINESE_ZEROS:
            text = text.replace(zero, "零")
    if (language, form) == ("ar", "iso") and _MARK not in text:
        return f"{_MARK}{text}{_MARK}"
    return text


def _day(parts: _Parts, calendar: str, options: Options, hybrid: bool) -> date:
    if hybrid:
        return _only_hybrid_day(parts, options)
    if calendar == "hijri":
        return calendars.from_hijri(parts.year, parts.month, parts.day, options.hijri_outside_range)
    if calendar == "lunar":
        return calendars.from_lunar(parts.year, parts.month, parts.day, parts.leap)
    try:
        return date(parts.year, parts.month, parts.day)
    except ValueError as error:
        raise NoSuchDateError(f"there is no such day ({error})") from error


def _hybrid_days(parts: _Parts, options: Options) -> Iterator[date]:
    """The days of a Gregorian year that bear a Hijri day and month: none, one or two."""
    nearest = (parts.year - 622) * 33 // 32
    for year in range(nearest - 1, nearest + 4):
        try:
            day = calendars.from_hijri(year, parts.month, parts.day, options.hijri_outside_range)
        except DataError:
            continue
        if day.year == parts.year:
            yield day


def _only_hybrid_day(parts: _Parts, options: Options) -> date:
    days = list(_hybrid_days(parts, options))
    if len(days) != 1:
        named = " and ".join(day.isoformat() for day in days) or "none"
        raise NoSuchDateError(
            f"a Hijri day with the Gregorian year {parts.year} names not one day but: {named}"
        )
    return days[0]


def _refuse_two_days(parts: _Parts, day: date, options: Options) -> None:
    days = [each.isoformat() for each in _hybrid_days(parts, options)]
    if days != [day.isoformat()]:
        raise CalendarRangeError(
            day.isoformat(),
            "Hausa hybrid",
            (date(parts.year, 1, 1), date(parts.year, 12, 31)),
            f"its text would name {' and '.join(days)}; leave it out or set hausa_hybrid: false",
            problem="has no text of its own in",
        )


def _not_this_form(
    text: str, language: str, form: str, options: Options, why: str
) -> DateTextError:
    example = write(date(2023, 7, 3), language, form, options).text
    return DateTextError(
        f"{text!r} is not a date in the {form} form of {LANGUAGES[language].label} "
        f"(such as {example!r}): {why}; write it with scripts.dates.formats.write"
    )


def _written_or_none(day: date, language: str, form: str, options: Options) -> list[str]:
    try:
        return [write(day, language, form, options).text]
    except CalendarRangeError:
        return []


def _days(orders: list[tuple[str, str, str]]) -> list[date]:
    found: list[date] = []
    for month, day, year in orders:
        try:
            found.append(date(int(year), int(month), int(day)))
        except ValueError:
            continue
    return list(dict.fromkeys(found))


@cache
def _alias_rows(language: str) -> tuple[_Row, ...]:
    """Gregorian ways of writing a date besides the language's own forms, most usual first."""
    numeric: tuple[_Row, ...] = (
        _ISO,
        _SLASH,
        (_DAY, "/", _MONTH, "/", _YEAR4),
        (_DAY2, "-", _MONTH2, "-", _YEAR4),
        (_DAY2, ".", _MONTH2, ".", _YEAR4),
        (_YEAR4, "/", _MONTH2, "/", _DAY2),
    )
    return (*_worded_rows(language), *numeric)


def _worded_rows(language: str) -> tuple[_Row, ...]:
    month = _month(language)
    if language == "en":
        short = _short_month("en")
        return (
            (_DAY, " ", month, " ", _YEAR),
            (month, " ", _DAY, ", ", _YEAR),
            (month, " ", _DAY2, ", ", _YEAR),
            (_ORDINAL_DAY, " ", month, " ", _YEAR),
            (month, " ", _ORDINAL_DAY, ", ", _YEAR),
            (_DAY, " ", short, " ", _YEAR),
            (short, " ", _DAY, ", ", _YEAR),
        )
    if language == "de":
        return (
            (_DAY, ". ", month, " ", _YEAR),
            (_DAY, ". ", month, " des Jahres ", _YEAR),
            _GERMAN_CALENDAR,
            ("Am ", *_GERMAN_CALENDAR),
            ("am ", _DAY, ". ", month, " ", _YEAR),
            (_DAY, ".", _MONTH, ".", _YEAR4),
        )
    if language == "zh":
        return (
            (_YEAR, "年", _MONTH, "月", _DAY, "日"),
            (_YEAR, "年", _MONTH, "月", _DAY, "号"),
            (_CHINESE_YEAR, "年", _named(_chinese_numbers(12)), "月", _CHINESE_DAY, "日"),
            (_YEAR4, "/", _MONTH, "/", _DAY),
        )
    if language == "ar":
        spelled = [_month("ar", spelling=i) for i in range(_most_spellings("ar", "gregorian"))]
        return (
            *((_ARABIC_DAY, " ", each, " ", _ARABIC_YEAR) for each in spelled),
            *((_DAY, " ", each, " ", _YEAR) for each in spelled),
            *(_in_arabic_digits(row) for row in (_SLASH, _ISO)),
        )
    spelled = [_month("ha", spelling=i) for i in range(_most_spellings("ha", "gregorian"))]
    return (
        *((_DAY2, " ga ", each, " ", _YEAR) for each in spelled),
        *((_DAY, " ga ", each, " ", _YEAR) for each in spelled),
        (_DAY, " ", month, " ", _YEAR),
        (month, " ", _DAY, ", ", _YEAR),
    )


@cache
def _calendar_alias_rows(language: str) -> tuple[_Row, ...]:
    """Hijri or lunar ways of writing a date besides the language's own calendar form."""
    if language == "zh":
        lunar = [_month("zh", "lunar", i) for i in range(_most_spellings("zh", "lunar"))]
        return tuple(("农历", _CHINESE_YEAR, "年", _LEAP, month, _LUNAR_DAY) for month in lunar)
    spelled = [_month(language, "hijri", i) for i in range(_most_spellings(language, "hijri"))]
    if language == "ar":
        return (
            *((_ARABIC_DAY, " ", each, " ", _ARABIC_YEAR, " هـ") for each in spelled),
            (_DAY, " ", spelled[0], " ", _YEAR, " هـ"),
            (_ARABIC_DAY, " ", spelled[0], " ", _ARABIC_YEAR),
        )
    return (
        *((_DAY2, " ", each, " ", _YEAR, " AH") for each in spelled),
        (_DAY, " ", spelled[0], " ", _YEAR, " AH"),
        (_DAY, " ga ", spelled[0], " ", _YEAR, " AH"),
        (_DAY2, " ", spelled[0], " ", _YEAR),
    )


def _most_spellings(code: str, calendar: str) -> int:
    return max(map(len, LANGUAGES[code].months(calendar)))


def _short_month(code: str) -> _Field:
    language = LANGUAGES[code]
    pairs = zip(language.abbreviations, language.gregorian_months, strict=True)
    return _named((short or full)[0] for short, full in pairs)


def _chinese_numbers(last: int) -> list[str]:
    """The numerals 1 to `last` (below 100) in words: 一, 十, 十一, 二十, 二十一."""
    digits = languages.CHINESE_DIGITS
    return [
        (
            digits[n] if n < 10 else ("" if n < 20 else digits[n // 10]) + "十" + digits[n % 10]
        ).removesuffix("零")
        for n in range(1, last + 1)
    ]


_CHINESE_DAY = _named(_chinese_numbers(31), "day")


def _in_arabic_digits(row: _Row) -> _Row:
    """The row with its numbers in Arabic-Indic digits, padding included."""

    def changed(each: _Field) -> _Field:
        table = str.maketrans(languages.ASCII_DIGITS, languages.ARABIC_INDIC_DIGITS)
        return _Field(each.name, lambda p: each.write(p).translate(table), each.pattern, each.read)

    return tuple(each if isinstance(each, str) else changed(each) for each in row)
