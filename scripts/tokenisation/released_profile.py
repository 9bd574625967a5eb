"""Profile `released`: what the authors' published script computes, for comparison only.

    F = clip01(theta - 0.10 S - 0.10 L - 0.05 (N - N_b))

theta is a distance and the penalties are *subtracted* from it, so more tokens lower the number.
Tables 2, 4 and 8 of the paper are in this scale; docs/tokenisation.md shows how that was found. The
tokens are vocabulary entries with their marks for spaces and bytes (tiktoken: every id decoded
alone), the units are the script's, not the semantic baseline of `semantic_baseline.py`:

- runs of alphanumeric characters and every other visible character alone; 年, 月 and 日 count as
  alphanumeric, which is why the script writes them with spaces around;
- English with a month's name keeps its gaps as units (`10| |October| |2034`);
- Hijri with a month's name: the first four words, so that a month of two words loses the rest;
- lunar: year, 年, and month with day as one unit.

S is 1 unless tokens and units are the same list, and L is 1 only where no separator at all appears
in the tokens joined by spaces: with a space among the separators, only for one-token dates.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import product
from typing import NamedTuple

import numpy as np
import pandas as pd

from scripts.dates.calendars import to_hijri, to_lunar
from scripts.dates.languages import LANGUAGES
from scripts.dates.signs import arabic_indic, lunar_day
from scripts.files import DataError
from scripts.statistics.seeding import cell_generator
from scripts.tokenisation.mdfr import cosine_distance
from scripts.tokenisation.tokenisers import Token, Tokeniser

SPLIT_PENALTY = 0.10
DELIMITER_PENALTY = 0.10
TOKEN_PENALTY = 0.05

#: The months and days of one draw; its years make up the rest of the dates.
MONTHS_DRAWN, DAYS_DRAWN = 4, 4
#: The script draws days that every month has.
LAST_DAY = 28
DESIGN_COLUMNS = ("column", "n", "mdfr_as_published", "sampling_sd")

SEPARATORS = ("-", "/", ".", " ")
#: Further separators by language or calendar; the calendar's come first, as in the script.
MORE_SEPARATORS = {
    "lunar": ("年", "月", "日", "农历", "(", ")"),
    "zh": ("年", "月", "日"),
    "ar": ("هـ",),
    "hijri": ("AH", "هـ", "ga", "Ranar"),
}
STEMS = "甲乙丙丁戊己庚辛壬癸"
BRANCHES = "子丑寅卯辰巳午未申酉戌亥"
#: The script's English spellings of the Hijri months differ from the ones that we write.
ENGLISH_HIJRI_MONTHS = (
    *("Muharram", "Safar", "Rabi al-Awwal", "Rabi al-Thani", "Jumada al-Awwal"),
    *("Jumada al-Thani", "Rajab", "Shaban", "Ramadan", "Shawwal", "Dhu al-Qadah", "Dhu al-Hijjah"),
)

PARTED_WORDS = re.compile(r"\d{2} [^\W\d]+ \d{4}|[^\W\d]+ \d{2}, \d{4}")
NAME_FIRST = re.compile(r"(\S+) (.*?)(,) (.*)")
PHRASE = re.compile(r"(Ranar) (\S+) (\S+) (.*?)(,) (.*)")
CYCLIC_YEAR = re.compile(f"([{STEMS}][{BRANCHES}]年)(?=\\S)")


class ReleasedScore(NamedTuple):
    """The parts and the value (in [0, 1]) of the released formula."""

    split: float
    delimiter: float
    theta: float
    tokens: int
    units: int
    score: float


@dataclass(frozen=True, slots=True)
class Form:
    """A way in which the script writes dates. `whole`: it cannot read its own text again, and
    takes all of it for one unit."""

    template: str
    whole: bool = False


ISO = Form("{yyyy}-{mm}-{dd}")
#: The columns of table 4 and the forms that the script averages. Some forms stand several times:
#: those that the script names but does not know how to write come out as ISO text.
FORMS: Mapping[str, tuple[Form, ...]] = {
    "ar_gregorian": (Form("{dd}/{mm}/{yyyy}"), ISO, ISO, Form("{dd} {name} {yyyy}")),
    "zh_gregorian": (Form("{year} 年 {month} 月 {day} 日"), ISO, ISO, ISO),
    "en_gregorian": (
        ISO,
        Form("{mm}/{dd}/{yyyy}"),
        ISO,
        Form(ISO.template, whole=True),
        Form("{dd} {name} {yyyy}"),
        Form("{name} {dd}, {yyyy}"),
    ),
    "de_gregorian": (
        Form("{dd}.{mm}.{yyyy}"),
        ISO,
        Form("{mm}/{dd}/{yyyy}"),
        ISO,
        Form("{dd}. {name} {yyyy}"),
    ),
    "ha_gregorian": (ISO, Form("{dd}/{mm}/{yyyy}"), ISO, Form("{name} {dd}, {yyyy}")),
    "zh_lunar": (
        Form("农历{year}年{name}{day_name}"),
        Form("{year}年{name}{day_name} (农历)"),
        Form("{cyclic_year}年 {name}{day_name}"),
        Form("{year}年{name}{day_name}"),
    ),
    "ar_hijri": (
        Form("{day} {name} {year} هـ"),
        Form("{year}/{month}/{day} هـ"),
        Form("{day}/{month}/{year} هـ"),
    ),
    "en_hijri": (
        Form("{day} {name} {year} AH"),
        Form("{name} {day}, {year} AH"),
        Form("{year}/{month}/{day} AH"),
    ),
    "ha_hijri": (
        Form("{day} {name} {year} AH"),
        Form("{name} {day}, {year} AH"),
        Form("{year}/{month}/{day} AH"),
        Form("Ranar {day} ga {name}, {year} AH"),
    ),
}


def released_text(text: str, language: str, calendar: str) -> str:
    """A date as the script would write it: spaces around 年月日 of a Gregorian date, and one after
    the year of the sixty-year cycle. Every other text stays as it is."""
    if language == "zh" and calendar == "gregorian":
        return re.sub(r"\s*([年月日])\s*", r" \1 ", text).strip()
    return CYCLIC_YEAR.sub(r"\1 ", text) if calendar == "lunar" else text


def alphanumeric_runs(text: str) -> list[str]:
    """Runs of alphanumeric characters, and every other character but whitespace alone."""
    runs: list[str] = []
    joined = False
    for sign in text:
        if joined and sign.isalnum():
            runs[-1] += sign
        elif not sign.isspace():
            runs.append(sign)
        joined = sign.isalnum()
    return runs


def released_units(text: str, language: str, calendar: str) -> list[str]:
    """The script's own baseline of a date that is written as in `released_text`."""
    if calendar == "lunar":
        return lunar_units(text)
    if calendar == "hijri" and "," in text:
        match = PHRASE.fullmatch(text) or NAME_FIRST.fullmatch(text)
        return list(match.groups()) if match else []
    if calendar == "hijri" and "/" not in text:
        words = text.split()
        return words[:4] if len(words) >= 4 else []
    if language == "en" and calendar == "gregorian" and PARTED_WORDS.fullmatch(text):
        return re.findall(r",? |[^ ,]+", text)
    return alphanumeric_runs(text)


def lunar_units(text: str) -> list[str]:
    """The script's units of a lunar date: 农历 where it stands, year, 年, month with day."""
    if CYCLIC_YEAR.match(text) or re.match(f"[{STEMS}][{BRANCHES}]年 ", text):
        return text.split(maxsplit=1)
    match = re.fullmatch(r"(农历)?([^年]+)(年)(.*?)(?: (\(农历\)))?", text)
    return [unit for unit in match.groups() if unit] if match else alphanumeric_runs(text)


def separators_of(language: str, calendar: str) -> tuple[str, ...]:
    """The separators of which the script wants to see at least one."""
    for key in ("lunar", "zh", "ar", "hijri"):
        if key in (calendar, language):
            return (*SEPARATORS, *MORE_SEPARATORS[key])
    return SEPARATORS


def released_tokens(tokens: Sequence[Token], decoded: bool) -> list[str]:
    """The tokens as the script sees them: vocabulary spelling, or with `decoded` (what it does for
    tiktoken encodings) each id's bytes decoded alone, broken characters as U+FFFD."""
    if not decoded:
        return [token.spelling for token in tokens]
    return [(token.content or b"").decode("utf-8", "replace") for token in tokens]


def released_score(
    tokens: Sequence[str], units: Sequence[str], separators: Sequence[str]
) -> ReleasedScore:
    """The released formula on token strings and the script's units."""
    theta = cosine_distance(Counter(tokens), Counter(units))
    joined = " ".join(tokens).replace("Ġ", "")
    split = float(list(tokens) != list(units))
    lost = float(not any(separator in joined for separator in separators))
    excess = len(tokens) - len(units) if units else 0
    score = theta - SPLIT_PENALTY * split - DELIMITER_PENALTY * lost - TOKEN_PENALTY * excess
    return ReleasedScore(split, lost, theta, len(tokens), len(units), min(1.0, max(0.0, score)))


def text_released_score(
    text: str, language: str, calendar: str, tokeniser: Tokeniser, *, whole: bool = False
) -> ReleasedScore:
    """The released formula on one date; `whole`: the text is one unit (see `Form`)."""
    written = released_text(text, language, calendar)
    units = [written] if whole else released_units(written, language, calendar)
    tokens = released_tokens(tokeniser.tokens(written), tokeniser.decodes_alone)
    return released_score(tokens, units, separators_of(language, calendar))


def month_name(language: str, calendar: str, month: int) -> str:
    """The name of a month (1 to 12) as the script writes it."""
    if (language, calendar) == ("en", "hijri"):
        return ENGLISH_HIJRI_MONTHS[month - 1]
    return LANGUAGES[language].months(calendar)[month - 1][0]


def calendar_date(day: date, calendar: str) -> tuple[int, int, int]:
    """Year, month and day of a Gregorian day; leap months lose their mark, as in the script."""
    if calendar == "gregorian":
        return day.year, day.month, day.day
    found = to_hijri(day) if calendar == "hijri" else to_lunar(day)
    return found.year, found.month, found.day


def written_forms(day: date, column: str) -> list[tuple[str, bool]]:
    """The day in every form of a column of table 4, and whether the text is one unit."""
    language, calendar = column.split("_")
    year, month, number = calendar_date(day, calendar)
    write = arabic_indic if language == "ar" else str
    # Padding is with the ASCII zero even before Arabic-Indic digits.
    fields = {
        "year": write(year),
        "month": write(month),
        "day": write(number),
        "yyyy": write(year).rjust(4, "0"),
        "mm": write(month).rjust(2, "0"),
        "dd": write(number).rjust(2, "0"),
        "name": month_name(language, calendar, month),
        "day_name": lunar_day(number),
        "cyclic_year": STEMS[(year - 4) % 10] + BRANCHES[(year - 4) % 12],
    }
    return [(form.template.format(**fields), form.whole) for form in FORMS[column]]


def drawn_days(
    years: Sequence[int], dates: int, repetitions: int, seed: int
) -> Iterator[list[date]]:
    """The dates of each draw of the script's design: some years x 4 months x 4 days (1 to 28).

    `years`: first and last. Raises DataError where the number of dates does not allow the design.
    """
    first, last = years
    wanted, rest = divmod(dates, MONTHS_DRAWN * DAYS_DRAWN)
    if rest or not 0 < wanted <= last - first + 1 or repetitions < 1:
        raise DataError(
            f"released_design: {dates} dates, {repetitions} times, from {first} to {last}: the "
            f"dates must be a multiple of {MONTHS_DRAWN * DAYS_DRAWN} (4 months x 4 days) of "
            "distinct years, drawn at least once; correct multitempbench.tokenisation"
        )
    for repetition in range(repetitions):
        generator = cell_generator(seed, "released_design", repetition)
        sizes = ((first, last, wanted), (1, 12, MONTHS_DRAWN), (1, LAST_DAY, DAYS_DRAWN))
        parts = [
            generator.choice(np.arange(low, high + 1), size, replace=False).tolist()
            for low, high, size in sizes
        ]
        yield [date(*part) for part in product(*parts)]


def released_design_frame(
    tokeniser: Tokeniser, years: Sequence[int], dates: int, repetitions: int, seed: int
) -> pd.DataFrame:
    """Table 4 for one tokeniser: the mean over all draws and the standard deviation of one draw.

    Columns of DESIGN_COLUMNS; `n` counts the date strings of all draws. The dates are ours (seeded;
    the script's are not), so the numbers agree with the paper's up to the sampling deviation.
    """
    draws = list(drawn_days(years, dates, repetitions, seed))
    rows = []
    for column in FORMS:
        language, calendar = column.split("_")
        known: dict[tuple[str, bool], float] = {}
        means, count = [], 0
        for days in draws:
            texts = [entry for day in days for entry in written_forms(day, column)]
            for text, whole in set(texts) - set(known):
                known[text, whole] = text_released_score(
                    text, language, calendar, tokeniser, whole=whole
                ).score
            count += len(texts)
            means.append(float(np.mean([known[entry] for entry in texts])))
        deviation = float(np.std(means, ddof=1)) if len(means) > 1 else float("nan")
        rows.append((column, count, float(np.mean(means)), deviation))
    return pd.DataFrame.from_records(rows, columns=list(DESIGN_COLUMNS))
