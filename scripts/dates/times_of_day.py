"""Times of day in free text: 12 and 24 hours, with every language's words for parts of the day.

A bare "8:00" is eight in the morning: an hour without a word for the half of the day is read on the
24-hour clock. Seconds are dropped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from scripts.dates.languages import words
from scripts.dates.number_words import HOUR_WORD, word_or_digits
from scripts.dates.plain_text import LETTER, alternatives, is_chinese

_KINDS = ("am", "pm", "morning", "dawn", "noon", "afternoon", "evening", "night")


def _words(name: str) -> list[str]:
    """What all languages' files have under a key of `times`, as a normalised text has it."""
    return words(lambda language: language.times.get(name, ()))


# Words that say in which part of the day an hour is, and their kind.
_PERIODS = {word: kind for kind in _KINDS for word in _words(kind)}
# Hours after midnight that twelve o'clock of a kind can be.
_TWELVE: dict[str, tuple[int, ...]] = {
    "am": (0,),
    "pm": (12,),
    "morning": (0, 12),
    "dawn": (0,),
    "noon": (12,),
    "afternoon": (12,),
    "evening": (0, 12),
    "night": (0,),
}
_FIXED_TIMES: dict[str, int] = {
    **dict.fromkeys(_words("twelve_at_day"), 12 * 60),
    **dict.fromkeys(_words("twelve_at_night"), 0),
}
_FRACTIONS = {
    **dict.fromkeys(_words("half"), 30),
    **dict.fromkeys(_words("quarter"), 15),
    **dict.fromkeys(_words("three_quarters"), 45),
}


def _marks() -> str:
    """Words between hours and minutes (20 Uhr 15); of one letter, they may touch both (20h15)."""
    found = sorted(_words("hour_mark"), key=lambda word: (-len(word), word))
    return "|".join(
        re.escape(word) + (r"\b" if len(word) > 1 else rf"(?!{LETTER})") for word in found
    )


_CN_PERIOD = rf"(?:(?P<cn>{alternatives(w for w in _PERIODS if is_chinese(w))}) ?)?"


def _after(words: Iterable[str], name: str = "period") -> str:
    """A word for the part of the day behind a time, maybe in parentheses."""
    return rf"(?: ?,? ?\(?(?P<{name}>{alternatives(words)})(?!{LETTER})\)?)"


_WORDS = [word for word in _PERIODS if not is_chinese(word)]
_AFTER = _after(_WORDS)
_MINUTES_JOINED = alternatives(_words("minutes_joined"))
_UHR = f"(?:{_marks()})"
_OCLOCK = f"(?:{alternatives(_words('hour_word'))})"
# Behind "Uhr" the word "am" is the German preposition.
_AFTER_UHR = _after(word for word in _WORDS if _PERIODS[word] not in ("am", "pm"))
_ALONE = r"(?<!\d)(?<!\d[.,:/])"
_HOUR = rf"(?:{_ALONE}(?<!\d-)(?P<hour>\d{{1,2}})|(?P<word>{HOUR_WORD}))"
_MINUTE = r"(?P<minute>[0-5]\d)(?!\d)"
_SPOKEN_MINUTE = (
    rf"(?: ?(?:{alternatives(_words('before_minutes'))}) ?(?P<minute>\d{{1,2}})(?!\d)"
    rf"(?: ?(?:{alternatives(_words('after_minutes'))}))?)?"
    rf"(?: (?P<fraction>{alternatives(f for f in _FRACTIONS if not is_chinese(f))}))?"
)
_PATTERNS = tuple(
    re.compile(pattern)
    for pattern in (
        # 20:00, 8:00 pm, 20:00:00, 20:00 Uhr; an offset such as UTC+02:00 is no time of day
        rf"{_ALONE}(?<!utc[+-])(?<!gmt[+-])(?<!\d\+)(?<!utc [+-])(?<!gmt [+-]){_CN_PERIOD}"
        rf"(?P<hour>\d{{1,2}}) ?: ?{_MINUTE}(?::[0-5]\d(?:\.\d{{1,6}})?)?(?!:?\d)"
        rf"(?: ?{_UHR}{_AFTER_UHR}?|{_after(_WORDS, 'other')})?",
        # 20.15 Uhr, 8.15 pm
        rf"{_ALONE}(?<!\d-)(?P<hour>\d{{1,2}})\.{_MINUTE} ?{_UHR}{_AFTER_UHR}?",
        rf"{_ALONE}(?<!\d-)(?P<hour>\d{{1,2}})\.{_MINUTE}{_AFTER}",
        # 20 Uhr, 20 Uhr 15, acht Uhr abends
        rf"{_HOUR} ?{_UHR}(?: ?(?:(?:{_MINUTES_JOINED}) )?{_MINUTE}(?! ?{_UHR}))?{_AFTER_UHR}?",
        # abends um 8 Uhr
        rf"(?<!{LETTER})(?P<period>{alternatives(_words('part_first'))})"
        rf" (?:(?:{alternatives(_words('at'))}) )?{_HOUR}(?:[:.]{_MINUTE})? ?{_UHR}",
        # 8 pm, 8 o'clock in the evening, karfe 8 da minti 30 na yamma
        rf"{_HOUR}(?: ?{_OCLOCK})?{_SPOKEN_MINUTE}{_AFTER}",
        rf"{_HOUR} ?{_OCLOCK}\b",
        # الساعة 20, karfe 20
        rf"(?<!{LETTER})(?:{alternatives(_words('before_hour'))}) {_HOUR}{_SPOKEN_MINUTE}"
        rf"(?![\d:.]\d|\d){_AFTER}?",
        # 晚上8点30分
        rf"{_CN_PERIOD}(?<![\d一二三四五六七八九十])"
        r"(?P<hour>\d{1,2}|[零〇一二两兩三四五六七八九十]{1,3}) ?[点點时時](?![间間区區])"
        r"(?:整|钟|鐘)? ?"
        r"(?:(?P<fraction>半|一刻|三刻)|(?P<minute>\d{1,2}|[零〇一二三四五六七八九十]{1,3}) ?分?)?",
    )
)
_FIXED_WORDS = alternatives(w for w in _FIXED_TIMES if not is_chinese(w))
_FIXED = re.compile(
    rf"(?<!{LETTER})(?:12 )?(?P<fixed>{_FIXED_WORDS})(?!{LETTER})"
    rf"|(?P<cn>{alternatives(w for w in _FIXED_TIMES if is_chinese(w))})"
)


@dataclass(frozen=True, slots=True)
class TimeMention:
    """A time of day: every reading in minutes after midnight (1440 = the end of the day)."""

    start: int
    end: int
    text: str
    readings: tuple[int, ...]


def hours(hour: int, kind: str) -> tuple[int, ...]:
    """Hours after midnight that a spoken hour can mean; `kind` as in the table, or empty."""
    if hour > 12 or hour == 0 or not kind:
        # "20:00 am 1. März": the German preposition looks like the English mark.
        wrong = hour > 24 or (hour > 12 and kind in ("morning", "dawn"))
        return () if wrong else (hour,)
    if hour == 12:
        return _TWELVE[kind]
    if kind in ("am", "morning", "dawn"):
        return (hour,)
    if kind == "noon":
        return (hour,) if hour >= 10 else (hour + 12,)
    if kind == "night":
        return (hour,) if hour <= 5 else (hour + 12,)
    return (hour, hour + 12) if kind == "evening" and hour <= 3 else (hour + 12,)


def _readings(match: re.Match[str]) -> tuple[int, ...]:
    groups = match.groupdict()
    hour = word_or_digits(groups.get("hour") or groups.get("word"))
    minute = _FRACTIONS.get(groups.get("fraction") or "")
    if minute is None:
        written = (groups.get("minute") or "").lstrip("零〇")
        minute = (word_or_digits(written) if written else 0) or 0
    period = groups.get("cn") or groups.get("period") or groups.get("other") or ""
    kind = _PERIODS.get(period, "")
    if hour is None or minute > 59:
        return ()
    return tuple(m for h in hours(hour, kind) if (m := 60 * h + minute) <= 24 * 60)


def find_times(text: str) -> list[TimeMention]:
    """Every time of day of a normalised text without its dates, in order of place; linear time."""
    found = [
        TimeMention(m.start(), m.end(), m[0].strip(), readings)
        for pattern in _PATTERNS
        for m in pattern.finditer(text)
        if (readings := _readings(m))
    ]
    for m in _FIXED.finditer(text):
        minutes = _FIXED_TIMES[m["fixed"] or m["cn"]]
        found.append(TimeMention(m.start(), m.end(), m[0], (minutes,)))
    kept: list[TimeMention] = []
    for mention in sorted(found, key=lambda t: (t.start, -t.end)):
        if not kept or mention.start >= kept[-1].end:
            kept.append(mention)
    return kept
