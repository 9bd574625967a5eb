"""Finding full dates and times of day in the sources' English, and putting placeholders there.

A date is full when day, month and year are all written. The grammar knows the forms that the
sources use, each with its place in the text:

- `iso`: 2009-12-24, 1991-6-4; `iso_month`: 2003-Oct-17
- `month_day_year`: March 7, 1322 / Nov. 9 , 2006 / Sept. 3rd 2005
- `day_month_year`: 03 May, 2009 / 14 December 1873 / 3rd of May 2009
- `numeric_mdy`, `numeric_dmy`: 03-22-1255, 5/14/1948

Month names are read as English writes them, with one capital. In a numeric date with two numbers up
to 12 the order of day and month is not in the text: it is refused unless the source declares one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal

from scripts.dates.english import ABBREVIATIONS, MONTHS

Order = Literal["mdy", "dmy"] | None

# Not those of the `calendar` module, which speaks the language of the process's locale.
_MONTHS = {
    name: number
    for names in (MONTHS, ABBREVIATIONS)
    for number, spellings in enumerate(names, start=1)
    for name in spellings
}
_NAME = "(?:" + "|".join(sorted(_MONTHS, key=len, reverse=True)) + ")"
_ORDINAL = r"(?:st|nd|rd|th)?"
_DATE = re.compile(
    rf"""(?<![\w/.-])(?:
    (?P<iso>\d{{4}}-\d{{1,2}}-\d{{1,2}})
    |(?P<iso_month>\d{{4}}-{_NAME}-\d{{1,2}})
    |(?P<month_day_year>{_NAME}\.?[ ]{{0,2}}\d{{1,2}}{_ORDINAL}[ ]?,?[ ]?\d{{4}})
    |(?P<day_month_year>\d{{1,2}}{_ORDINAL}[ ](?:of[ ])?{_NAME}\.?[ ]?,?[ ]?\d{{4}})
    |(?P<numeric>\d{{1,2}}(?P<mark>[-/])\d{{1,2}}(?P=mark)\d{{4}})
    )(?![\w/-]|\.\d)""",
    re.VERBOSE,
)
_TIME = re.compile(
    r"(?<![\w:.])(?:(?P<twelve>\d{1,2})(?::(?P<minute>\d{2}))?[ ]?(?P<half>AM|PM)"
    r"|(?P<hour>\d{1,2}):(?P<past>\d{2}))(?![\w:])"
)
_PARTS = re.compile(rf"\d+|{_NAME}")


@dataclass(frozen=True, slots=True)
class Mention:
    """A date or time in a text: characters `start` to `end`, and its ISO value.

    `value` is `YYYY-MM-DD` or `HH:MM`; `style` the name of the written form; `letter` that of its
    placeholder, `d` or `t`.
    """

    start: int
    end: int
    value: str
    style: str
    letter: str


@dataclass(frozen=True, slots=True)
class Found:
    """The full dates of a text in order, and texts that look like one but name no certain day."""

    dates: tuple[Mention, ...]
    impossible: tuple[str, ...] = ()
    ambiguous: tuple[str, ...] = ()

    @property
    def stated(self) -> int:
        """How many times day, month and year are written, whether or not they name a day."""
        return len(self.dates) + len(self.impossible) + len(self.ambiguous)


def find_dates(text: str, order: Order = None) -> Found:
    """All full dates of a text.

    `order`: the order of day and month in numeric dates that the source declares; None where it
    declares none, and then only a number above 12 (or two equal ones) tells.
    """
    dates: list[Mention] = []
    impossible: list[str] = []
    ambiguous: list[str] = []
    for match in _DATE.finditer(text):
        style = str(match.lastgroup) if match.lastgroup != "mark" else "numeric"
        readings = _readings(style, _PARTS.findall(match[0]), order)
        days = {day for day, _ in readings if day is not None}
        if not days:
            impossible.append(match[0])
        elif len(days) > 1:
            ambiguous.append(match[0])
        else:
            day, name = next((d, n) for d, n in readings if d is not None)
            dates.append(Mention(match.start(), match.end(), day, name, "d"))
    return Found(tuple(dates), tuple(impossible), tuple(ambiguous))


def _readings(style: str, parts: Sequence[str], order: Order) -> list[tuple[str | None, str]]:
    """Each reading of a match: its ISO date, None where there is no such day, and its style."""
    if style in ("iso", "iso_month"):
        return [(_iso(parts[0], parts[1], parts[2]), style)]
    if style == "month_day_year":
        return [(_iso(parts[2], parts[0], parts[1]), style)]
    if style == "day_month_year":
        return [(_iso(parts[2], parts[1], parts[0]), style)]
    both = {
        "mdy": (_iso(parts[2], parts[0], parts[1]), "numeric_mdy"),
        "dmy": (_iso(parts[2], parts[1], parts[0]), "numeric_dmy"),
    }
    return [both[order]] if order else list(both.values())


def _iso(year: str, month: str, day: str) -> str | None:
    try:
        number = _MONTHS[month] if month in _MONTHS else int(month)
        return date(int(year), number, int(day)).isoformat()
    except ValueError:
        return None


def find_times(text: str) -> tuple[Mention, ...]:
    """All times of day: `7 AM`, `12:30 PM`, `23:15`. Hours that no clock shows are not times."""
    out = []
    for match in _TIME.finditer(text):
        if match["half"]:
            hour, minute = int(match["twelve"]), int(match["minute"] or 0)
            if not 1 <= hour <= 12:
                continue
            # 12 AM is midnight and 12 PM is noon.
            hour = hour % 12 + (12 if match["half"] == "PM" else 0)
            style = "twelve_hours"
        else:
            hour, minute = int(match["hour"]), int(match["past"])
            style = "twenty_four_hours"
        if hour < 24 and minute < 60:
            value = f"{hour:02d}:{minute:02d}"
            out.append(Mention(match.start(), match.end(), value, style, "t"))
    return tuple(out)


def place(text: str, mentions: Iterable[Mention]) -> tuple[str, list[str], list[str]]:
    """A text with `{d1}`, `{t1}`, … in place of its mentions, and the values of dates and times.

    The same value gets the same placeholder. Mentions must not overlap.
    """
    values: dict[str, list[str]] = {"d": [], "t": []}
    pieces: list[str] = []
    done = 0
    for mention in sorted(mentions, key=lambda mention: mention.start):
        known = values[mention.letter]
        if mention.value not in known:
            known.append(mention.value)
        name = f"{{{mention.letter}{known.index(mention.value) + 1}}}"
        pieces += [text[done : mention.start], name]
        done = mention.end
    return "".join([*pieces, text[done:]]), values["d"], values["t"]
