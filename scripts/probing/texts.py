"""The sentences whose hidden states are probed: the same dates in every language and format.

Design of MultiTempBench, section 4.2: K dates a year, each in a declarative sentence. The paper's
sentences end in a full stop, whose state would then be read; these end with the date.
"""

from __future__ import annotations

import calendar
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np

from scripts.dates.formats import write
from scripts.dates.language_files import DATE, named
from scripts.dates.languages import LANGUAGES
from scripts.files import DataError
from scripts.statistics.seeding import cell_generator

#: Designs that are drawn; the one whose month, day and year are least correlated is taken.
CANDIDATES = 200


@dataclass(frozen=True, slots=True)
class DateSentence:
    """A sentence with one date; `start` and `end` (exclusive) are the date's code points in it.

    The span leaves out invisible marks around the date (the Arabic ISO form stands between two
    U+200E), so that the last token of the date is a token of its last visible character.
    """

    language: str
    format: str
    day: date
    text: str
    start: int
    end: int


def load_templates(languages: Sequence[str]) -> dict[str, str]:
    """The sentence of each language; it ends with its one `{date}`. DataError without a file."""
    sentences = {}
    for language in languages:
        where = f"{named(language)}: probe"
        if language not in LANGUAGES:
            raise DataError(f"{where}: no such file; write it, or leave the language out")
        sentences[language] = LANGUAGES[language].probe
    return sentences


def draw_dates(years: Sequence[int], dates_per_year: int, seed: int) -> list[date]:
    """`dates_per_year` dates for each year of [first, last], sorted.

    The dates of one year lie in different months; over the set each month occurs equally often up
    to one, and so does each day of the month up to the few that a short month moves. Of the drawn
    designs that one is taken in which year, month and day correlate least, because a probe for the
    year must not live on the month.

    Raises DataError where that cannot be: more than 12 dates a year, or fewer than 12 in all.
    """
    first, last = years
    span = range(first, last + 1)
    if not 1 <= dates_per_year <= 12:
        raise DataError(f"probing.dates_per_year: {dates_per_year} is not between 1 and 12")
    if len(span) * dates_per_year < 12:
        raise DataError(f"probing: {len(span) * dates_per_year} dates cannot cover all 12 months")
    generator = cell_generator(seed, "probing", "dates")
    designs = [_design(span, dates_per_year, generator) for _ in range(CANDIDATES)]
    best = min(designs, key=_largest_correlation)
    return [date(*row) for row in sorted(best)]


Row = tuple[int, int, int]


def _design(years: range, count: int, generator: np.random.Generator) -> list[Row]:
    """One design: (year, month, day) rows, balanced and otherwise random."""
    months = _months(len(years), count, generator)
    days = np.resize(np.arange(1, 32), len(months))
    generator.shuffle(days)
    rows = [
        (years[index // count], month, int(day))
        for index, (month, day) in enumerate(zip(months, days, strict=True))
    ]
    return _valid(rows, generator)


def _months(years: int, count: int, generator: np.random.Generator) -> list[int]:
    """`count` different months a year: always the ones used least so far, ties by lot."""
    used = np.zeros(12, dtype=int)
    out: list[int] = []
    for _ in range(years):
        chosen = np.lexsort((generator.random(12), used))[:count]
        used[chosen] += 1
        out.extend(int(month) + 1 for month in generator.permutation(chosen))
    return out


def _valid(rows: list[Row], generator: np.random.Generator) -> list[Row]:
    """The rows with every day in its month: a day that is not changes places with another."""
    out = list(rows)
    for index, (year, month, day) in enumerate(out):
        if day <= _length(year, month):
            continue
        for other in generator.permutation(len(out)):
            other_year, other_month, other_day = out[other]
            if other_day <= _length(year, month) and day <= _length(other_year, other_month):
                out[index] = (year, month, other_day)
                out[other] = (other_year, other_month, day)
                break
        else:  # no month can take it: only in tiny designs
            out[index] = (year, month, _length(year, month))
    return out


def _length(year: int, month: int) -> int:
    return calendar.monthrange(year, month)[1]


def _largest_correlation(rows: list[Row]) -> float:
    """Largest absolute Pearson correlation between year, month and day; 0 for a constant column."""
    columns = np.asarray(rows, dtype=float).T
    centred = columns - columns.mean(axis=1, keepdims=True)
    norms = np.sqrt((centred**2).sum(axis=1))
    scaled = centred / np.where(norms > 0, norms, 1.0)[:, None]
    products = np.abs(scaled @ scaled.T)
    return float(max(products[0, 1], products[0, 2], products[1, 2]))


def date_sentences(
    templates: Mapping[str, str],
    days: Sequence[date],
    languages: Sequence[str],
    formats: Sequence[str],
) -> list[DateSentence]:
    """One sentence per language x format x day, in this order (languages outermost)."""
    missing = [language for language in languages if language not in templates]
    if missing:
        raise DataError(f"no probing sentence for language(s) {', '.join(missing)}; add a template")
    return [
        _sentence(templates[language], language, form, day)
        for language in languages
        for form in formats
        for day in days
    ]


def _sentence(template: str, language: str, form: str, day: date) -> DateSentence:
    written = write(day, language, form).text
    begin = template.index(DATE)
    visible = [i for i, sign in enumerate(written) if unicodedata.category(sign) != "Cf"]
    text = template.replace(DATE, written)
    return DateSentence(language, form, day, text, begin + visible[0], begin + visible[-1] + 1)
