"""Every date, time of day and number in free text of any known language and of three calendars.

A strict grammar, not a general date parser: what it does not know it does not guess, an incomplete
date stays incomplete and is never filled with today's, and a date that can be read in several ways
lists every valid reading. All patterns are bounded, so that the time is linear in the text.

Ambiguities that are listed: day/month and month/day (with dots only day.month), a two-digit year
(19yy, 20yy and the year yy itself), a numeric year 1300 to 1500 (Gregorian or Hijri), Chinese
numerals without a calendar's name (lunar or Gregorian), twelve o'clock with a word for the evening
or the morning. `scripts.dates.calendars` names the day of a Hijri or lunar date; a date that its
calendar lacks has no reading.

Not read: spelled-out years, days spelled out in other languages than English, the sexagenary cycle
alone, "quarter past" and "halb neun", number words above 99 (Chinese numerals are read to 9999).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date

from scripts.dates.calendars import CalendarRangeError, NoSuchDateError, from_hijri, from_lunar
from scripts.dates.languages import LANGUAGES, apart, folded, month_numbers, words
from scripts.dates.number_words import ORDINAL_WORDS, NumberMention, find_numbers
from scripts.dates.plain_text import LETTER, alternatives, blanked, normalise
from scripts.dates.signs import chinese_number
from scripts.dates.times_of_day import TimeMention, find_times


@dataclass(frozen=True, slots=True)
class DateMention:
    """A date in a text: `readings` are all days it can name; empty if it is incomplete or no day.

    `start` and `end` are positions in the normalised text (`Reading.text`).
    """

    start: int
    end: int
    text: str
    readings: tuple[date, ...]
    complete: bool


@dataclass(frozen=True, slots=True)
class Reading:
    """The normalised text and what was found in it, each list in order of place."""

    text: str
    dates: tuple[DateMention, ...]
    times: tuple[TimeMention, ...]
    numbers: tuple[NumberMention, ...]


def read_text(text: str) -> Reading:
    """Every date, time and number of a text; what is part of a date is no time and no number."""
    plain = normalise(text)
    dates = _find_dates(plain)
    without_dates = blanked(plain, ((d.start, d.end) for d in dates))
    times = find_times(without_dates)
    numbers = find_numbers(blanked(without_dates, ((t.start, t.end) for t in times)))
    return Reading(plain, tuple(dates), tuple(times), tuple(numbers))


# --- words ---------------------------------------------------------------------------------------


def _months(calendar: str) -> dict[str, int]:
    """Folded month names of all languages but those written with 月, which have their own rule."""
    return {
        name: number
        for code in LANGUAGES
        for name, number in month_numbers(code, calendar).items()
        if "月" not in name
    }


_GREGORIAN = _months("gregorian")
_HIJRI = _months("hijri")
_LUNAR_MONTHS = {"正": 1, "冬": 11, "腊": 12, "臘": 12}


def _eras(name: str) -> list[str]:
    """Folded era marks of all languages; a short one may have full stops between its letters."""
    return folded(lambda language: language.eras.get(name, ()))


def _era_pattern(eras: Iterable[str]) -> str:
    longest_first = sorted(set(eras), key=lambda w: (-len(w), w))
    dotted = [
        r"\.? ?".join(map(re.escape, era.replace(" ", ""))) if len(era) <= 5 else re.escape(era)
        for era in longest_first
    ]
    return rf"(?:{'|'.join(dotted)})\.?(?!{LETTER})"


_HIJRI_ERAS = _eras("hijri")
_AFTER_HIJRI = re.compile(rf"[ ,]?[(\[]?{_era_pattern(_HIJRI_ERAS)}")
_AFTER_BEFORE = re.compile(rf" ?{_era_pattern(_eras('before'))}")
_HIJRI_AHEAD = re.compile(
    rf"(?:{alternatives(era for era in [*_HIJRI_ERAS, 'الهجري', 'الهجريه'] if len(era) > 2)})"
    r"[^\d\n]{0,16}$"
)
_BEFORE_AHEAD = re.compile(r"(?:公元前|西元前) ?$")

# --- patterns ------------------------------------------------------------------------------------

_NO_DIGIT_BEFORE = r"(?<!\d)(?<!\d[-/.:])"
_NO_DIGIT_AFTER = r"(?!\d)(?![-/.:]\d)"
_DAY = r"(?P<day>\d{1,2})"
_SPELLED_DAY = rf"(?<!{LETTER})(?P<day>{alternatives(ORDINAL_WORDS)})(?!{LETTER})"


def _reading(name: str) -> str:
    """A pattern of what all languages' files have under a key of `reading`."""
    spaced, _ = apart(words(lambda language: language.reading.get(name, ())))
    return alternatives(spaced)


_SUFFIX = rf"(?: ?(?:{_reading('day_suffixes')}))?"
_TO_MONTH = rf"[ .,/-]{{0,2}}(?:(?:{_reading('before_month')}) ?)?"
_TO_YEAR = rf"[ .,/-]{{0,2}}(?:(?:{_reading('before_year')}) ?)?"
# A year of two digits must not be the hour of a time, the count of a span, or a day before a year.
_YEAR = (
    r"(?P<year>\d{3,4}"
    rf"|\d{{2}}(?! ?(?:[ap]\.?m\b|h\b|{_reading('counts')})"
    rf"|(?:{_reading('day_suffixes')})?,? ?\d{{4}}))" + _NO_DIGIT_AFTER
)
_WEEKDAY = r"(?: ?\([^()\d\n]{1,20}\))?"


def _month_name(names: dict[str, int]) -> str:
    name = alternatives(names)
    # A second name of the same month may follow: تموز/يوليو, or July (Yuli).
    return rf"(?<!{LETTER})(?P<month>{name})(?!{LETTER})\.?(?: ?[/(] ?(?:{name})\)?)?"


def _named(names: dict[str, int]) -> tuple[str, ...]:
    """Patterns of a date with a month's name: day first (also spelled), month or year first."""
    month = _month_name(names)
    return (
        rf"{_NO_DIGIT_BEFORE}{_DAY}{_SUFFIX}{_TO_MONTH}{month}{_WEEKDAY}{_TO_YEAR}{_YEAR}",
        rf"{_SPELLED_DAY}{_TO_MONTH}{month}{_WEEKDAY}{_TO_YEAR}{_YEAR}",
        rf"{month}[ .,-]{{0,2}}(?:the )?{_DAY}(?!\d){_SUFFIX}{_WEEKDAY}{_TO_YEAR}{_YEAR}",
        rf"{month}[ .,-]{{0,2}}(?:the )?{_SPELLED_DAY}{_TO_YEAR}{_YEAR}",
        rf"{_NO_DIGIT_BEFORE}(?P<year>\d{{3,4}})[ ,/-]{{1,2}}{month}[ .,/-]{{0,2}}{_DAY}(?!\d)"
        + _SUFFIX,
    )


def _named_incomplete(names: dict[str, int]) -> tuple[str, str, str]:
    """Patterns of a month's name with a day or a year alone."""
    month = _month_name(names)
    return (
        rf"{_NO_DIGIT_BEFORE}{_DAY}{_SUFFIX}{_TO_MONTH}{month}",
        rf"{month}{_TO_YEAR}{_YEAR}",
        rf"{month}[ .,-]{{0,2}}(?:the )?{_DAY}(?!\d){_SUFFIX}",
    )


_ISO = re.compile(
    rf"{_NO_DIGIT_BEFORE}(?P<year>\d{{4}}) ?(?P<sign>[-/.]) ?(?P<month>\d{{1,2}}) ?(?P=sign) ?"
    rf"{_DAY}(?!\d)(?![-/]\d)"
)
_NUMERIC = re.compile(
    rf"{_NO_DIGIT_BEFORE}(?P<first>\d{{1,2}}) ?(?P<sign>[-/.]) ?(?P<second>\d{{1,2}}) ?(?P=sign) ?"
    r"(?P<year>\d{4}|\d{2})(?!\d)(?![-/]\d)"
)
_COMPACT = re.compile(
    r"(?<![\d.,-])(?P<year>1[5-9]\d\d|2[01]\d\d)(?P<month>\d\d)(?P<day>\d\d)(?![.,]?\d)"
)
_SHORT_NUMERIC = re.compile(rf"{_NO_DIGIT_BEFORE}\d{{1,2}}/\d{{1,4}}{_NO_DIGIT_AFTER}")

_CN = "〇○零一二三四五六七八九"
_CN_LUNAR = "农历|阴历|旧历|夏历|農曆|陰曆|舊曆"
_CN_HIJRI = "回历|回曆|伊斯兰历|伊斯蘭曆"
_CN_CALENDAR = f"公元|西元|公历|阳历|新历|公曆|陽曆|{_CN_LUNAR}|{_CN_HIJRI}"
_CN_NAMED = rf"(?:(?P<named>{_CN_CALENDAR})[ 的]?)?"
_CN_YEAR = (
    rf"(?<![\d{_CN}])(?P<year>\d{{2,4}}|[{_CN}]{{2,4}}) ?年 ?,? ?"
    r"(?:\(?[甲乙丙丁戊己庚辛壬癸][子丑寅卯辰巳午未申酉戌亥]年?\)? ?)?"
    rf"(?:\(?(?P<inner>{_CN_CALENDAR})\)?[ 的]?)?"
)
_CN_MONTH = (
    r"(?<![\d十])(?P<leap>[闰閏])?(?P<month>\d{1,2}|[正冬腊臘]|[一二三四五六七八九十]{1,2}) ?月 ?"
)
_CN_DAY = (
    r"(?P<day>\d{1,2}(?!\d)|初[一二三四五六七八九十]|[一二三四五六七八九十廿卄卅]{1,4})"
    r"(?: ?[日号號])?"
)
_CHINESE = re.compile(_CN_NAMED + _CN_YEAR + _CN_MONTH + _CN_DAY)
_CHINESE_INCOMPLETE = (
    re.compile(_CN_YEAR + _CN_MONTH),
    re.compile(_CN_NAMED + _CN_MONTH + _CN_DAY),
)

# --- readings ------------------------------------------------------------------------------------


def _gregorian(year: int, month: int, day: int) -> list[date]:
    try:
        return [date(year, month, day)]
    except ValueError:
        return []


def _hijri(year: int, month: int, day: int) -> list[date]:
    try:
        return [from_hijri(year, month, day)]
    except (NoSuchDateError, CalendarRangeError):
        return []


def _lunar(year: int, month: int, day: int, leap: bool) -> list[date]:
    try:
        return [from_lunar(year, month, day, leap)]
    except (NoSuchDateError, CalendarRangeError):
        return []


def _years(text: str) -> list[int]:
    """The year, and for two digits also the years of the last and the present century."""
    year = int(text)
    return [1900 + year, 2000 + year, year] if len(text) == 2 else [year]


def _in_calendars(text: str, match: re.Match[str], year: int, month: int, day: int) -> list[date]:
    """Readings of a numeric date whose order is known, by the marks around it."""
    head = text[max(0, match.start() - 40) : match.start()]
    if _AFTER_BEFORE.match(text, match.end()) or _BEFORE_AHEAD.search(head):
        return []
    if _AFTER_HIJRI.match(text, match.end()) or _HIJRI_AHEAD.search(head):
        return _hijri(year, month, day)
    both = 1300 <= year <= 1500
    return _gregorian(year, month, day) + (_hijri(year, month, day) if both else [])


def _numeric_readings(text: str, match: re.Match[str]) -> list[date]:
    first, second, sign = int(match["first"]), int(match["second"]), match["sign"]
    orders = [(second, first)] if sign == "." else [(second, first), (first, second)]
    found = [
        reading
        for month, day in orders
        for year in _years(match["year"])
        for reading in _in_calendars(text, match, year, month, day)
    ]
    if sign == "-" and len(match["first"]) == len(match["year"]) == 2:
        last = int(match["year"])
        found += [r for year in _years(match["first"]) for r in _gregorian(year, second, last)]
    return found


def _ordered_readings(text: str, match: re.Match[str]) -> list[date]:
    year, month, day = (int(match[name]) for name in ("year", "month", "day"))
    return _in_calendars(text, match, year, month, day)


def _compact_readings(_text: str, match: re.Match[str]) -> list[date]:
    return _gregorian(int(match["year"]), int(match["month"]), int(match["day"]))


def _name_readings(text: str, match: re.Match[str]) -> list[date]:
    if _AFTER_BEFORE.match(text, match.end()):
        return []
    month, day = _GREGORIAN[match["month"]], _day_of(match["day"])
    return [r for year in _years(match["year"]) for r in _gregorian(year, month, day)]


def _hijri_name_readings(_text: str, match: re.Match[str]) -> list[date]:
    return _hijri(int(match["year"]), _HIJRI[match["month"]], _day_of(match["day"]))


def _day_of(text: str) -> int:
    return ORDINAL_WORDS[text] if text in ORDINAL_WORDS else int(text)


def _chinese_readings(text: str, match: re.Match[str]) -> list[date]:
    day_text, month_text = match["day"], match["month"]
    year, day = _chinese_value(match["year"]), _chinese_value(day_text)
    month = _LUNAR_MONTHS.get(month_text) or _chinese_value(month_text)
    before = _BEFORE_AHEAD.search(text[max(0, match.start("year") - 4) : match.start("year")])
    if before or year is None or month is None or day is None:
        return []
    years = _years(match["year"]) if match["year"].isascii() else [year]
    named = match["inner"] or match["named"] or ""
    leap = match["leap"] is not None
    gregorian = [r for y in years for r in _gregorian(y, month, day)]
    lunar = [r for y in years for r in _lunar(y, month, day, leap)]
    if named in _CN_HIJRI.split("|"):
        return [r for y in years for r in _hijri(y, month, day)]
    is_lunar = leap or month_text in _LUNAR_MONTHS or day_text[0] in "初廿卄卅"
    if is_lunar or named in _CN_LUNAR.split("|"):
        return lunar
    return gregorian if named or (month_text + day_text).isascii() else lunar + gregorian


def _chinese_value(text: str) -> int | None:
    return int(text) if text.isascii() else chinese_number(text)


_Readings = Callable[[str, re.Match[str]], list[date]]
_RULES: tuple[tuple[re.Pattern[str], _Readings], ...] = (
    (_ISO, _ordered_readings),
    (_NUMERIC, _numeric_readings),
    (_COMPACT, _compact_readings),
)
_MONTH_RULES: tuple[tuple[re.Pattern[str], _Readings], ...] = (
    *((re.compile(p), _name_readings) for p in _named(_GREGORIAN)),
    *((re.compile(p), _hijri_name_readings) for p in _named(_HIJRI)),
    (_CHINESE, _chinese_readings),
)
_MONTHS_INCOMPLETE: tuple[re.Pattern[str], ...] = (
    *(re.compile(p) for names in (_GREGORIAN, _HIJRI) for p in _named_incomplete(names)),
    *_CHINESE_INCOMPLETE,
)
#: The beginning of a month's name; without one no rule for named months can match.
ANY_MONTH = re.compile(rf"[年月]|(?<!{LETTER})(?:{alternatives({**_GREGORIAN, **_HIJRI})})")


def _find_dates(text: str) -> list[DateMention]:
    named = ANY_MONTH.search(text) is not None
    complete = [
        DateMention(m.start(), m.end(), m[0].strip(" ,"), _distinct(readings(text, m)), True)
        for pattern, readings in (*_RULES, *(_MONTH_RULES if named else ()))
        for m in pattern.finditer(text)
    ]
    incomplete = [
        DateMention(m.start(), m.end(), m[0].strip(" ,"), (), False)
        for pattern in (_SHORT_NUMERIC, *(_MONTHS_INCOMPLETE if named else ()))
        for m in pattern.finditer(text)
    ]
    # A complete date wins over a part of it; of two that overlap, the earlier or the longer one.
    return _without_overlaps(incomplete, _without_overlaps(complete))


def _distinct(readings: Iterable[date]) -> tuple[date, ...]:
    return tuple(sorted(set(readings)))


def _without_overlaps(
    mentions: Iterable[DateMention], taken: Sequence[DateMention] = ()
) -> list[DateMention]:
    free: list[DateMention] = []
    place, end = 0, -1
    for mention in sorted(mentions, key=lambda m: (m.start, -m.end, not m.readings)):
        while place < len(taken) and taken[place].end <= mention.start:
            place += 1
        blocked = place < len(taken) and taken[place].start < mention.end
        if mention.start >= end and not blocked:
            free.append(mention)
            end = mention.end
    return sorted([*taken, *free], key=lambda m: m.start)
