"""The Bangla calendar of Bangladesh: its days and those of the Gregorian calendar, and its months.

The year begins with 1 Boishakh on 14 April. Up to 1425 five months of 31 days came first, then
seven of 30, and Falgun had 31 in a Gregorian leap year. The revision that came into force in
October 2019 gives Ashwin 31 days as well and takes them from Falgun: 29 days, 30 in a leap year.
The first five months are the same under both rules, so the year 1426 is wholly of the new one, and
the first day that the two name differently is 16 October 2019 (31 Ashwin 1426, once 1 Kartik).

Bangladesh has used this arithmetic officially since 1987; `BanglaDate.official` is false before
1394, whose dates are reckoned backwards and may differ by days from what was printed then. The
calendar of West Bengal is another one and is not computed.
"""

from __future__ import annotations

from calendar import isleap
from dataclasses import dataclass
from datetime import date

from scripts.dates.calendars import CalendarRangeError, NoSuchDateError

#: Years that can be converted, and their first and last Gregorian day.
BANGLA_YEARS = (1300, 1599)
BANGLA_DAYS = (date(1893, 4, 14), date(2193, 4, 13))
#: The first whole year since the calendar of fixed month lengths is official in Bangladesh.
FIRST_OFFICIAL_YEAR = 1394
#: The year whose autumn brought the revision: from here on six months of 31 days come first.
REVISED_YEAR = 1426

_ERA = 593
_FALGUN = 11
_OLD_LENGTHS = (31, 31, 31, 31, 31, 30, 30, 30, 30, 30, 30, 30)
_REVISED_LENGTHS = (31, 31, 31, 31, 31, 31, 30, 30, 30, 30, 29, 30)

#: Spellings of the twelve months in Bengali script, the usual one first. Both encodings of ঢ় and য়
#: are the same letter to whoever reads text.
BENGALI_MONTHS: tuple[tuple[str, ...], ...] = (
    ("বৈশাখ",),
    ("জ্যৈষ্ঠ", "জৈষ্ঠ", "জ্যৈষ্ঠ্য", "জৈষ্ঠ্য", "জ্যেষ্ঠ"),
    ("আষাঢ়", "আষাড়"),
    ("শ্রাবণ", "শ্রাবন"),
    ("ভাদ্র",),
    ("আশ্বিন", "আশ্বীন"),
    ("কার্তিক", "কার্ত্তিক"),
    ("অগ্রহায়ণ", "অগ্রহায়ন", "অঘ্রাণ"),
    ("পৌষ",),
    ("মাঘ",),
    ("ফাল্গুন", "ফাল্গুণ", "ফালগুন"),
    ("চৈত্র",),
)
#: Spellings of the twelve months in Latin script, the one of messages first.
LATIN_MONTHS: tuple[tuple[str, ...], ...] = (
    ("Boishakh", "Baishakh", "Baisakh", "Boisakh", "Vaishakh"),
    (
        *("Joishtho", "Jaishtha", "Jyaishtha", "Jyaistha", "Jaistha", "Joistho", "Jyoishtho"),
        *("Jyoistho", "Jaishthya", "Jaishtho", "Jaistho", "Joishtha", "Jyeshtha", "Joistha"),
        *("Jyoishtha", "Jyoistha"),
    ),
    ("Asharh", "Ashar", "Ashadh", "Asadh", "Ashara", "Asharha", "Aashar"),
    ("Srabon", "Shrabon", "Sraban", "Shraban", "Srabana", "Shravan", "Shrabana", "Sravan"),
    ("Bhadro", "Bhadra", "Vadro", "Vadra"),
    ("Ashwin", "Aswin", "Ashshin", "Ashvin", "Ashwina", "Asvin", "Aashwin"),
    ("Kartik", "Kartick", "Karttik", "Kartika"),
    (
        *("Ogrohayon", "Agrahayan", "Ograhayan", "Agrahayana", "Ogrohayan", "Agrohayon"),
        *("Ograhayon", "Agrahayon", "Ogrohaeon", "Agrohayan"),
    ),
    ("Poush", "Paush", "Pous", "Pausha"),
    ("Magh", "Magha"),
    ("Falgun", "Phalgun", "Falgoon", "Phalgoon", "Phalguna", "Falgoun"),
    ("Choitro", "Chaitra", "Choitra", "Chaitro", "Chaittra"),
)


@dataclass(frozen=True, slots=True)
class BanglaDate:
    """A date of the Bangla calendar of Bangladesh: month 1 (Boishakh) to 12 (Choitro)."""

    year: int
    month: int
    day: int

    @property
    def official(self) -> bool:
        """Whether Bangladesh used this reckoning officially then; earlier dates are arithmetic."""
        return self.year >= FIRST_OFFICIAL_YEAR

    def __str__(self) -> str:
        return f"{self.day} {LATIN_MONTHS[self.month - 1][0]} {self.year} Bangla"


def month_length(year: int, month: int) -> int:
    """Days of a month of a Bangla year; 0 if there is no such month."""
    if not 1 <= month <= 12:
        return 0
    lengths = _REVISED_LENGTHS if year >= REVISED_YEAR else _OLD_LENGTHS
    # Falgun begins in February of the Gregorian year after the one in which the year began.
    return lengths[month - 1] + (month == _FALGUN and isleap(year + _ERA + 1))


def to_gregorian(year: int, month: int, day: int) -> date:
    """The Gregorian day of a Bangla date; the inverse of `from_gregorian`.

    NoSuchDateError for a month or day that the year lacks, CalendarRangeError outside BANGLA_YEARS.
    """
    text = f"{year:04d}-{month:02d}-{day:02d} Bangla"
    if not BANGLA_YEARS[0] <= year <= BANGLA_YEARS[1]:
        raise _outside(text)
    length = month_length(year, month)
    if not 1 <= day <= length:
        reason = f"the month has {length} days" if length else f"there is no month {month}"
        raise NoSuchDateError(f"{text} is no date of the Bangla calendar: {reason}")
    before = sum(month_length(year, earlier) for earlier in range(1, month))
    return date.fromordinal(_new_year(year) + before + day - 1)


def from_gregorian(day: date) -> BanglaDate:
    """The Bangla date of a Gregorian day in BANGLA_DAYS; CalendarRangeError elsewhere."""
    if not BANGLA_DAYS[0] <= day <= BANGLA_DAYS[1]:
        raise _outside(day.isoformat())
    year = day.year - _ERA - (day < date(day.year, 4, 14))
    rest = day.toordinal() - _new_year(year)
    month = 1
    while rest >= month_length(year, month):
        rest -= month_length(year, month)
        month += 1
    return BanglaDate(year, month, rest + 1)


def _new_year(year: int) -> int:
    """The ordinal of 1 Boishakh, 14 April."""
    return date(year + _ERA, 4, 14).toordinal()


def _outside(text: str) -> CalendarRangeError:
    return CalendarRangeError(text, "Bangla", BANGLA_DAYS, "leave the date in its own calendar")
