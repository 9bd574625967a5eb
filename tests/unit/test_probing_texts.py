"""The dates and sentences of the probes."""

from __future__ import annotations

from collections import Counter
from datetime import date
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts.dates.formats import read
from scripts.files import DataError
from scripts.probing import texts

ROOT = Path(__file__).parents[2]
LANGUAGES = ("ar", "zh", "en", "de", "ha")
FORMATS = ("iso", "slash", "long")


@pytest.fixture(scope="module")
def days() -> list[date]:
    return texts.draw_dates((1990, 2024), 5, 42)


@pytest.fixture(scope="module")
def templates() -> dict[str, str]:
    return texts.load_templates(LANGUAGES)


def test_every_year_has_its_dates_in_different_months(days: list[date]) -> None:
    assert days == sorted(days)
    assert Counter(day.year for day in days) == dict.fromkeys(range(1990, 2025), 5)
    for year in range(1990, 2025):
        assert len({day.month for day in days if day.year == year}) == 5


def test_months_and_days_are_balanced(days: list[date]) -> None:
    months = Counter(day.month for day in days)
    assert set(months) == set(range(1, 13))
    assert max(months.values()) - min(months.values()) <= 1
    of_month = Counter(day.day for day in days)
    assert set(of_month) == set(range(1, 32))
    assert max(of_month.values()) - min(of_month.values()) <= 1


def test_parts_of_the_dates_do_not_correlate(days: list[date]) -> None:
    parts = np.array([(day.year, day.month, day.day) for day in days], dtype=float)
    correlations = np.corrcoef(parts.T)[np.triu_indices(3, 1)]
    assert np.abs(correlations).max() < 0.02


def test_the_seed_decides(days: list[date]) -> None:
    assert texts.draw_dates((1990, 2024), 5, 42) == days
    assert texts.draw_dates((1990, 2024), 5, 43) != days


@given(
    first=st.integers(1900, 2050),
    count=st.integers(12, 40),
    per_year=st.integers(1, 12),
    seed=st.integers(0, 5),
)
def test_any_design_covers_all_months(first: int, count: int, per_year: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    span = range(first, first + count)
    rows = texts._design(span, per_year, rng)
    drawn = {date(*row) for row in rows}  # a day that its month lacks would raise
    assert len(drawn) == count * per_year
    months = Counter(day.month for day in drawn)
    assert len(months) == 12 and max(months.values()) - min(months.values()) <= 1
    assert set(Counter(day.year for day in drawn).values()) == {per_year}


def test_a_day_that_no_month_takes_is_moved_to_the_months_last() -> None:
    rng = np.random.default_rng(0)
    assert texts._valid([(2023, 2, 31)], rng) == [(2023, 2, 28)]
    assert sorted(texts._valid([(2023, 2, 31), (2023, 1, 5)], rng)) == [(2023, 1, 31), (2023, 2, 5)]


def test_a_constant_column_counts_as_uncorrelated() -> None:
    assert texts._largest_correlation([(2000, 1, 1), (2000, 2, 1)]) == 0.0


@pytest.mark.parametrize(
    ("years", "per_year", "message"),
    [((1990, 2024), 0, "dates_per_year"), ((1990, 2024), 13, "dates_per_year"),
     ((2000, 2001), 5, "cannot cover")],
)  # fmt: skip
def test_designs_that_cannot_be_are_refused(
    years: tuple[int, int], per_year: int, message: str
) -> None:
    with pytest.raises(DataError, match=message):
        texts.draw_dates(years, per_year, 1)


def test_sentences_end_with_the_date_and_know_its_span(
    templates: dict[str, str], days: list[date]
) -> None:
    sentences = texts.date_sentences(templates, days[:9], LANGUAGES, FORMATS)
    assert len(sentences) == 9 * 15
    for sentence in sentences:
        shown = sentence.text[sentence.start : sentence.end]
        assert read(shown, sentence.language, sentence.format) == sentence.day
        assert not sentence.text.rstrip("\u200e").endswith((".", "。"))
        rest = sentence.text[sentence.end :]
        arabic_iso = (sentence.language, sentence.format) == ("ar", "iso")
        assert rest == ("\u200e" if arabic_iso else "")
    # The same dates everywhere, languages outermost.
    assert [s.day for s in sentences] == days[:9] * 15
    assert list(dict.fromkeys((s.language, s.format) for s in sentences)) == [
        (language, form) for language in LANGUAGES for form in FORMATS
    ]


def test_a_language_without_a_sentence_is_refused(templates: dict[str, str]) -> None:
    with pytest.raises(DataError, match="fr"):
        texts.date_sentences(templates, [date(2000, 1, 1)], ["fr"], FORMATS)


def test_a_sentence_comes_from_a_language_with_a_file() -> None:
    with pytest.raises(DataError, match=r"data/languages/xx\.yaml: probe: no such file"):
        texts.load_templates(["xx"])
