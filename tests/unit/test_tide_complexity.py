"""Complexity of documents: what is counted, by definition, and the figures over a corpus."""

from __future__ import annotations

import math
import statistics
import unicodedata
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts.documents.records import build_record
from scripts.tide.documents.complexity import (
    COLUMNS,
    complexity,
    document_row,
    is_bilingual,
    script_of,
    summarise,
    words_of,
)
from scripts.tide.documents.elements import elements_of, gather
from tests.unit.documents_pages import ENTRY, pages, table


def row_of(*lines: Any, kind: str = "SRO") -> dict[str, Any]:
    record = build_record(pages(lines), {**ENTRY, "type": kind})
    return document_row("x", record, elements_of("x", record))


def test_scripts_words_and_digits_of_a_document() -> None:
    row = row_of("১। Customs Act, 1969 এর ধারা ১৯ এবং section 20 প্রযোজ্য — হইবে।")
    assert list(row) == list(COLUMNS)
    # ১। Customs Act, 1969 এর ধারা ১৯ এবং section 20 প্রযোজ্য হইবে।
    assert (row["words"], row["english_words"], row["bengali_words"]) == (12, 3, 5)
    assert row["english_letters"] == len("CustomsActsection")
    assert row["bengali_letters"] == len("এরধারাএবংপ্রযোজ্যহইবে")
    assert (row["bengali_digits"], row["ascii_digits"]) == (3, 6)
    assert (row["both_scripts"], row["bilingual"], row["both_digits"]) == (True, True, True)
    assert row["section_citations"] == 2


def test_dates_codes_and_tables() -> None:
    row = row_of(
        "তারিখ: ২৮ জ্যৈষ্ঠ, ১৪২৭ বঙ্গাব্দ/১১ জুন, ২০২০ খ্রিস্টাব্দ",
        "১। ছক:",
        table(("নং", "HS Code"), ("১", "8445.11.00"), ("২", "8451.40.00"), ("৩", "৮৪৭৭.১০.০০")),
    )
    assert (row["dates_bangla"], row["dates_gregorian"], row["both_calendars"]) == (1, 1, True)
    assert (row["hs_codes"], row["tables"], row["tariff"]) == (3, 1, True)
    assert not row_of("1. 8445.11.00 and 8451.40.00.")["tariff"]
    assert not row_of("1. From 5 May 2020.")["both_calendars"]


def test_document_without_text() -> None:
    record = build_record([], ENTRY)
    row = document_row("x", record, [])
    numbers = [value for name, value in row.items() if name not in {"document", "document_type"}]
    assert not any(numbers)


@pytest.mark.parametrize(
    ("word", "script"),
    [
        ("Act", "english"),
        ("আইন", "bengali"),
        ("Actএর", "english"),
        ("এরAct", "english"),
        ("xক", "bengali"),
        ("১৯৬৯", ""),
        ("1969", ""),
        ("№", ""),
        ("Закон", ""),
        ("৳", ""),
    ],
)
def test_script_of_a_word(word: str, script: str) -> None:
    assert script_of(word) == script


def test_words() -> None:
    assert words_of("Act, 1969 — ক্রমিক  ৷ (x)\n১।") == ["Act,", "1969", "ক্রমিক", "(x)", "১।"]


@pytest.mark.parametrize(
    ("english", "bengali", "expected"),
    [(0, 0, False), (5, 95, False), (6, 94, True), (94, 6, True), (50, 50, True), (10, 0, False)],
)
def test_bilingual_means_more_than_a_twentieth(english: int, bengali: int, expected: bool) -> None:
    assert is_bilingual(english, bengali) is expected


@given(st.text(alphabet="aZé ১৯1আ়ি্ক।৳ \n", max_size=60))
def test_counts_by_another_way(text: str) -> None:
    record = build_record(pages([f"1. {text.replace(chr(10), ' ')}"]), ENTRY)
    elements = elements_of("x", record)
    row = document_row("x", record, elements)
    joined = "\n".join(element.text for element in elements)
    names = [unicodedata.name(c, "") for c in joined]
    letters = ("BENGALI LETTER", "BENGALI VOWEL SIGN", "BENGALI SIGN")
    assert row["bengali_letters"] == sum(name.startswith(letters) for name in names)
    assert row["english_letters"] == sum(
        name.startswith(("LATIN SMALL LETTER", "LATIN CAPITAL LETTER")) and " WITH " not in name
        for name in names
    )
    assert row["bengali_digits"] == sum(name.startswith("BENGALI DIGIT") for name in names)
    assert row["ascii_digits"] == sum(name.startswith("DIGIT") for name in names)
    assert row["english_words"] + row["bengali_words"] <= row["words"] <= len(joined.split())


def frame() -> pd.DataFrame:
    record = build_record(pages(["১। Customs Act এর ধারা ৫।"]), ENTRY)
    act = build_record(
        pages(["1. One two three four five six."], ["2. Two."]), {**ENTRY, "type": "Act"}
    )
    records = [("b", record), ("a", act), ("c", record)]
    return complexity(records, gather(records))


def test_table_is_sorted_and_has_the_columns() -> None:
    table_ = frame()
    assert table_["document"].tolist() == ["a", "b", "c"]
    assert list(table_.columns) == list(COLUMNS)
    assert list(complexity([], []).columns) == list(COLUMNS)


def test_summary_by_type() -> None:
    table_ = frame()
    summary = summarise(table_).set_index("document_type")
    assert summary.index.tolist() == ["Act", "SRO", "all"]
    words = table_["words"].tolist()
    assert words == [9, 6, 6]
    whole = summary.loc["all"]
    assert whole["documents"] == 3
    assert (whole["pages"], whole["pages_median"], whole["pages_maximum"]) == (4, 1.0, 2)
    assert whole["words_median"] == statistics.median(words)
    assert whole["words_spread"] == pytest.approx(9 / 6)
    assert whole["words_cv"] == pytest.approx(statistics.stdev(words) / statistics.mean(words))
    assert whole["english_words"] == pytest.approx((7 + 2 + 2) / (7 + 4 + 4))
    assert whole["english_words_median"] == pytest.approx(0.5)
    assert whole["both_scripts"] == pytest.approx(2 / 3)
    assert whole["bilingual"] == 1.0
    assert whole["cites_section"] == pytest.approx(2 / 3)
    assert (whole["has_hs_code"], whole["tariff"], whole["hs_codes"]) == (0.0, 0.0, 0)
    assert math.isnan(summary.loc["Act", "words_cv"])
    assert math.isnan(summary.loc["Act", "bilingual"])


def test_summary_of_documents_without_words_and_of_none() -> None:
    record = build_record([], ENTRY)
    empty = summarise(complexity([("a", record), ("b", record)], []))
    assert empty["words"].tolist() == [0, 0]
    assert empty["english_words"].isna().all() and empty["words_cv"].isna().all()
    none = summarise(complexity([], []))
    assert none["document_type"].tolist() == ["all"]
    assert none["documents"].tolist() == [0]


@given(st.lists(st.integers(0, 500), min_size=2, max_size=9))
def test_spread_and_variation_are_textbook_values(words: list[int]) -> None:
    base = frame().iloc[0].to_dict()
    table_ = pd.DataFrame([{**base, "words": n, "document": str(i)} for i, n in enumerate(words)])
    whole = summarise(table_).iloc[-1]
    if statistics.mean(words) > 0:
        expected = statistics.stdev(words) / statistics.mean(words)
        assert whole["words_cv"] == pytest.approx(expected)
    else:
        assert math.isnan(whole["words_cv"])
    median = statistics.median(words)
    if median > 0:
        assert whole["words_spread"] == pytest.approx(max(words) / median)
    else:
        assert math.isnan(whole["words_spread"])
