"""The written forms of a date: four in every language, and the strict way back.

A form is a pattern in the language's file; here it is a row of literals and fields. `write` fills
the fields, `read` turns the same row into a regular expression, and accepts a text only if `write`
makes exactly that text of the day it found. So a text that is read is a text that is written.
Source: MultiTempBench, table 1 and appendix A.1; docs/dates.md lists where the paper contradicts
itself and what was chosen.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import date
from functools import cache

from scripts.dates import calendars, signs
from scripts.dates.calendars import CalendarRangeError, NoSuchDateError, OutsideHijriRange
from scripts.dates.language_files import Form, Language, LanguageError, named
from scripts.dates.languages import LANGUAGES
from scripts.dates.signs import FORMATS
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


def _number(name: str, width: int = 0, digits: str = "ascii") -> _Field:
    """A number in a set of digits, padded to a width; without one of as many digits as it has."""
    signs_of = signs.DIGITS[digits]
    written = str.maketrans(signs.ASCII_DIGITS, signs_of)
    back = str.maketrans(signs_of, signs.ASCII_DIGITS)
    most = 4 if name == "year" else 2
    return _Field(
        name,
        lambda p: f"{getattr(p, name):0{width}d}".translate(written),
        f"[{signs_of}]{{{width}}}" if width else f"[{signs_of}]{{1,{most}}}",
        lambda text: int(text.translate(back)),
    )


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


def _month(language: Language, calendar: str, spelling: int = 0) -> _Field:
    spellings = language.months(calendar)
    return _named(each[min(spelling, len(each) - 1)] for each in spellings)


def _short_month(language: Language) -> _Field:
    short = language.abbreviations or ((),) * 12
    pairs = zip(short, language.gregorian_months, strict=True)
    return _named((abbreviated or full)[0] for abbreviated, full in pairs)


_LUNAR_DAY = _named(map(signs.lunar_day, range(1, 31)), "day")
_LEAP = _Field("leap", lambda p: "闰" if p.leap else "", "闰?", len)
_PLACE = re.compile(r"\{(year|month|day|leap)(?::([a-z_]+|\d))?\}")
#: How a field of a pattern may be written, besides as a number of so many digits.
STYLES: tuple[str, ...] = ("month:name", "month:short", "month:each_name", "month:numeral")
STYLES += ("day:ordinal", "day:numeral", "day:lunar")


def _field(language: Language, form: Form, name: str, style: str, spelling: int) -> _Field | None:
    """The field of a place in a pattern; None for one that does not exist."""
    if name == "leap":
        return None if style else _LEAP
    if style == "" or style.isdecimal():
        return _number(name, int(style or 0), form.digits)
    named: dict[str, Callable[[], _Field]] = {
        "month:name": lambda: _month(language, form.calendar),
        "month:each_name": lambda: _month(language, form.calendar, spelling),
        "month:short": lambda: _short_month(language),
        "month:numeral": lambda: _named(map(signs.chinese_numeral, range(1, 13))),
        "day:ordinal": lambda: _named(language.ordinals, "day"),
        "day:numeral": lambda: _named(map(signs.chinese_numeral, range(1, 32)), "day"),
        "day:lunar": lambda: _LUNAR_DAY,
    }
    make = named.get(f"{name}:{style}")
    return make() if make else None


@cache
def _row(language: Language, form: Form, spelling: int = 0) -> _Row:
    """A pattern as literals and fields.

    Raises LanguageError for a place that does not exist and for a pattern that lacks a part of a
    date or has one twice.
    """
    row: list[str | _Field] = []
    end = 0
    for place in _PLACE.finditer(form.pattern):
        field = _field(language, form, place[1], place[2] or "", spelling)
        if field is None:
            raise _wrong(language, form, f"no place {place[0]}; there are {', '.join(STYLES)}")
        row += [form.pattern[end : place.start()], field]
        end = place.end()
    row.append(form.pattern[end:])
    parts = sorted(each.name for each in row if isinstance(each, _Field))
    wanted = ["day", "leap", "month", "year"] if form.calendar == "lunar" else _DAY_MONTH_YEAR
    if parts != wanted:
        raise _wrong(language, form, f"needs each of {', '.join(wanted)} once; has {parts}")
    literals = "".join(each for each in row if isinstance(each, str))
    if "{" in literals or "}" in literals:
        raise _wrong(language, form, "a brace stands outside {year}, {month}, {day} and {leap}")
    return tuple(each for each in row if each != "")


_DAY_MONTH_YEAR = ["day", "month", "year"]


def _wrong(language: Language, form: Form, problem: str) -> LanguageError:
    return LanguageError(
        f"{named(language.code)}: the pattern {form.pattern!r}: {problem}; correct "
        "it (docs/data-formats.md lists what a pattern may hold)"
    )


def form_of(language: str, form: str, options: Options = DEFAULT_OPTIONS) -> Form:
    """A language's form as the options choose it; DataError for an unknown language or form."""
    _check_form(language, form)
    known = LANGUAGES[language]
    if form == "calendar":
        for name, variant in known.variants.items():
            if getattr(options, name):
                return variant
    return known.forms[form]


def calendar_of(language: str, form: str) -> str:
    """The calendar that a form of a language is written in: gregorian, hijri or lunar."""
    return form_of(language, form).calendar


def write(day: date, language: str, form: str, options: Options = DEFAULT_OPTIONS) -> Written:
    """A Gregorian day in one of FORMATS of a language of `languages.LANGUAGES`.

    Raises CalendarRangeError for a day that the form's calendar cannot name, DataError for an
    unknown language or form.
    """
    chosen = form_of(language, form, options)
    parts = _parts(day, chosen.calendar, options)
    if chosen.gregorian_year:
        parts = _Parts(day.year, parts.month, parts.day, source=parts.source)
        _refuse_two_days(parts, day, options)
    return Written(_fill(_row(LANGUAGES[language], chosen), parts), chosen.calendar, parts.source)


def read(text: str, language: str, form: str, options: Options = DEFAULT_OPTIONS) -> date:
    """The Gregorian day of a text that `write` made with the same arguments; its strict inverse.

    Accepted besides: 〇 or ○ for 零 in the Chinese calendar form, and Arabic ISO without its two
    left-to-right marks. All else is a DateTextError: other padding, digits of another script, other
    marks, spaces around, another spelling, a day that does not exist. A date of a year that its
    calendar does not reach is a CalendarRangeError. Reading free text is another module's work.
    """
    chosen = form_of(language, form, options)
    row = _row(LANGUAGES[language], chosen)
    normal = _normal(text, chosen)
    match = _pattern(row).fullmatch(normal)
    if match is None:
        raise _not_this_form(text, language, form, options, "it does not have that form")
    try:
        day = _day(_values(row, match), chosen.calendar, options, hybrid=chosen.gregorian_year)
    except NoSuchDateError as error:
        raise _not_this_form(text, language, form, options, str(error)) from error
    if write(day, language, form, options).text != normal:
        raise _not_this_form(text, language, form, options, "padding or ordinal is another")
    return day


def readings(text: str, language: str) -> list[date]:
    """Every Gregorian day that a numeric date may mean, day first before month first.

    Day and month may be padded or not and separated by / - or . (the same twice), the year has four
    digits; digits may be of any script, surrounding space and invisible marks are ignored. Two
    readings exist only where day and month are both at most 12 and differ; where the language's own
    numeric form has full stops (German), a date with full stops is always day first.
    [] for anything else, impossible dates included. No calendar but the Gregorian is considered.
    """
    if language not in LANGUAGES:
        raise DataError(f"unknown language {language!r}; known: {', '.join(sorted(LANGUAGES))}")
    plain = signs.ascii_digits(text.translate(_WITHOUT_MARKS)).strip()
    if match := _YEAR_FIRST.fullmatch(plain):
        return _days([(match["a"], match["b"], match["year"])])
    match = _YEAR_LAST.fullmatch(plain)
    if match is None:
        return []
    orders = [(match["b"], match["a"], match["year"])]
    if not (match["separator"] == "." and ".{" in LANGUAGES[language].forms["slash"].pattern):
        orders.append((match["a"], match["b"], match["year"]))
    return _days(orders)


def aliases(day: date, language: str, options: Options = DEFAULT_OPTIONS) -> list[str]:
    """Strings in which a person may write the day in a language, the four forms first.

    Then plain ISO, other orders, paddings, digits and spellings. Numeric dates with the month first
    are listed where the numeric date is ambiguous, that is for days up to the twelfth. Forms whose
    calendar cannot name the day are left out. No string comes twice; the order is fixed.
    """
    _check_form(language, "iso")
    known = LANGUAGES[language]
    found = [text for form in FORMATS for text in _written_or_none(day, language, form, options)]
    gregorian = _parts(day, "gregorian", options)
    found += [_fill(row, gregorian) for row in _rows(known, known.aliases)]
    found += [_fill(row, gregorian) for row in _numeric_rows(known)]
    if day.day <= 12:
        found += [_fill(_row(known, form), gregorian) for form in _MONTH_FIRST]
    calendar = calendar_of(language, "calendar")
    if calendar != "gregorian":
        try:
            parts = _parts(day, calendar, options)
        except CalendarRangeError:
            pass
        else:
            found += [_fill(row, parts) for row in _rows(known, known.calendar_aliases, calendar)]
    found += [text.replace("零", "〇") for text in found if "零" in text]
    return list(dict.fromkeys(found))


_WITHOUT_MARKS = dict.fromkeys(map(ord, signs.INVISIBLE_MARKS))
_YEAR_FIRST = re.compile(
    r"(?P<year>[0-9]{4})(?P<separator>[-/.])(?P<a>[0-9]{1,2})(?P=separator)(?P<b>[0-9]{1,2})"
)
_YEAR_LAST = re.compile(
    r"(?P<a>[0-9]{1,2})(?P<separator>[-/.])(?P<b>[0-9]{1,2})(?P=separator)(?P<year>[0-9]{4})"
)
_MONTH_FIRST = (
    Form("{month:2}/{day:2}/{year:4}"),
    Form("{month}/{day}/{year:4}"),
    Form("{month:2}-{day:2}-{year:4}"),
)
#: Numeric ways of writing a date that every language knows, the most usual first.
_NUMERIC = (
    Form("{year:4}-{month:2}-{day:2}"),
    Form("{day:2}/{month:2}/{year:4}"),
    Form("{day}/{month}/{year:4}"),
    Form("{day:2}-{month:2}-{year:4}"),
    Form("{day:2}.{month:2}.{year:4}"),
    Form("{year:4}/{month:2}/{day:2}"),
)


def _check_form(language: str, form: str) -> None:
    if language not in LANGUAGES or form not in FORMATS:
        raise DataError(
            f"no form {form!r} of language {language!r}; languages: "
            f"{', '.join(sorted(LANGUAGES))}; forms: {', '.join(FORMATS)}"
        )


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


def _normal(text: str, form: Form) -> str:
    """The text with the signs that the strict reader forgives as the form writes them."""
    if form.digits == "chinese":
        for zero in signs.CHINESE_ZEROS:
            text = text.replace(zero, "零")
    mark = signs.LEFT_TO_RIGHT_MARK
    if form.pattern.startswith(mark) and form.pattern.endswith(mark) and mark not in text:
        return f"{mark}{text}{mark}"
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


def _numeric_rows(language: Language) -> list[_Row]:
    return [_row(language, form) for form in _NUMERIC]


@cache
def _rows(
    language: Language, aliases: tuple[Form, ...], calendar: str = "gregorian"
) -> tuple[_Row, ...]:
    """The rows of a list of patterns; one with `{month:each_name}` stands for one a spelling."""
    most = max(map(len, language.months(calendar)))
    rows: list[_Row] = []
    for alias in aliases:
        form = replace(alias, calendar=calendar)
        spellings = most if "{month:each_name}" in alias.pattern else 1
        rows += [_row(language, form, spelling) for spelling in range(spellings)]
    return tuple(rows)


# --- is a language's file sound? -----------------------------------------------------------------

#: A day of every month in each of three years far apart; all days of a month are among them.
_SAMPLE = [
    date(year, month, 1 + (11 * month + 9 * place) % 28)
    for place, year in enumerate((1931, 2000, 2071))
    for month in range(1, 13)
]


_VARIANTS = {"german_am": Options(german_am=True), "hausa_hybrid": Options(hausa_hybrid=True)}


def check_language(code: str) -> None:
    """Raise LanguageError where a form of a language's file does not read back as it is written.

    Every form and variant is tried on days of all months, every alias is written once.
    """
    for form in FORMATS:
        _check_inverse(code, form, DEFAULT_OPTIONS)
    for variant in LANGUAGES[code].variants:
        _check_inverse(code, "calendar", _VARIANTS[variant])
    aliases(_SAMPLE[0], code)


def _check_inverse(code: str, form: str, options: Options) -> None:
    chosen = form_of(code, form, options)
    for day in _SAMPLE:
        try:
            text = write(day, code, form, options).text
        except CalendarRangeError:
            continue
        try:
            found = read(text, code, form, options)
        except DataError:
            found = None
        if found != day:
            raise LanguageError(
                f"{named(code)}: forms.{form}: {day} is written {text!r}, which "
                f"reads as {found or 'no date'}; correct the pattern {chosen.pattern!r} (parts "
                "that touch need a fixed width, and names must differ)"
            )
