"""Closeness in time moves an element up, never out of the formula; no date, no change."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts.retrieval.date_aware import (
    DateAware,
    closeness,
    in_years,
    offsets,
    query_times,
    rerank,
)
from scripts.retrieval.ranking import Hit, clauses

SETTINGS = DateAware(weight=0.1, years=5)


@pytest.mark.parametrize(
    ("value", "calendar", "years"),
    [
        ("2015", "gregorian", 2015.5),
        ("2015-01", "gregorian", 2015 + 0.5 / 12),
        ("2015-01-01", "gregorian", 2015 + 0.5 / 365.2425),
        ("2016-12-31", "bangla", 2016 + 365.5 / 365.2425),
        ("1423", "bangla", 2016 + 103 / 365.2425 + 0.5),
        ("1423-02", "bangla", 2016 + 103 / 365.2425 + 1.5 / 12),
    ],
)
def test_dates_as_years(value: str, calendar: str, years: float) -> None:
    assert math.isclose(in_years(value, calendar), years, rel_tol=1e-12)


@pytest.mark.parametrize(
    ("text", "years"),
    [
        ("six years later", [6]),
        ("3 years after", [3]),
        ("Twelve-month prior", [-1]),
        ("twelve months prior", [-1]),
        ("a year earlier", [-1]),
        ("18 months afterwards", [1.5]),
        ("two years before and four years later", [-2, 4]),
        ("ছয় বছর পর", [6]),
        ("৬ বছর পরে", [6]),
        ("তিন মাস আগে", [-0.25]),
        ("দুই বৎসরের পূর্বে", [-2]),
        ("weeks later", []),
        ("some years later", []),
        ("section 25 years", []),
        ("10000 years later", []),
        ("five years in prison", []),
    ],
)
def test_offsets(text: str, years: list[float]) -> None:
    assert [offset.years for offset in offsets(text)] == pytest.approx(years)


def test_an_offset_counts_from_the_nearest_date() -> None:
    spoken = query_times("The duty was set on 4 June 2009. What was it six years later?")
    assert spoken == pytest.approx([in_years("2009-06-04"), in_years("2009-06-04") + 6])
    spoken = query_times("Between 1 July 1999 and, three years after 1 July 2011, what changed?")
    assert any(math.isclose(time, in_years("2011-07-01") + 3) for time in spoken)


def test_both_calendars_and_both_scripts_name_one_time() -> None:
    english = query_times("in force on 9 June 2011")
    bengali = query_times("৯ জুন ২০১১ তারিখে কার্যকর")
    assert english == bengali == pytest.approx([in_years("2011-06-09")])


@pytest.mark.parametrize(
    "text",
    ["", "What is the duty on wool?", "What was it six years later?", "SRO No. 101-Law/2012/36"],
)
def test_queries_without_a_date(text: str) -> None:
    assert query_times(text) == []


def test_closeness_falls_to_one_over_e() -> None:
    assert closeness([2010.0], [2010.0], 5) == 1.0
    assert math.isclose(closeness([2010.0], [2015.0], 5), 1 / math.e)
    assert math.isclose(closeness([2010.0, 2020.0], [1990.0, 2019.0], 5), math.exp(-0.2))
    assert closeness([], [2010.0], 5) == closeness([2010.0], [], 5) == 0.0


HITS = [Hit("d/old", 0.80), Hit("d/new", 0.79), Hit("d/none", 0.78), Hit("d/new#chunk_1", 0.5)]
TIMES = {"d/old": [1999.5], "d/new": [2015.5]}


def test_the_formula() -> None:
    found = rerank(HITS, 3, [2015.5], TIMES, SETTINGS)
    assert [(entry.clause.element_id, entry.clause.rank) for entry in found] == [
        ("d/new", 1), ("d/old", 2), ("d/none", 3),
    ]  # fmt: skip
    assert [entry.score for entry in found] == pytest.approx(
        [0.79 + 0.1, 0.80 + 0.1 * math.exp(-16 / 5), 0.78], abs=1e-8
    )
    assert [entry.clause.similarity for entry in found] == [0.79, 0.80, 0.78]


def test_an_element_beyond_the_depth_can_be_brought_in() -> None:
    assert [c.element_id for c in clauses(HITS, 1)] == ["d/old"]
    assert [e.clause.element_id for e in rerank(HITS, 1, [2015.5], TIMES, SETTINGS)] == ["d/new"]


@given(
    st.lists(
        st.builds(Hit, st.sampled_from("abcdefgh"), st.floats(-1, 1).map(lambda x: round(x, 6))),
        max_size=20,
    ),
    st.integers(1, 9),
    st.lists(st.floats(1900, 2030), max_size=3),
    st.dictionaries(st.sampled_from("abcdefgh"), st.lists(st.floats(1900, 2030), max_size=2)),
)
def test_properties(
    hits: list[Hit], count: int, query: list[float], times: dict[str, list[float]]
) -> None:
    found = rerank(hits, count, query, times, SETTINGS)
    assert len({entry.clause.element_id for entry in found}) == len(found) <= count
    assert [entry.score for entry in found] == sorted((e.score for e in found), reverse=True)
    assert [entry.clause.rank for entry in found] == list(range(1, len(found) + 1))
    for entry in found:
        assert 0 <= entry.closeness <= 1
        assert math.isclose(
            entry.score, entry.clause.similarity + 0.1 * entry.closeness, abs_tol=1e-8
        )
    plain = clauses(hits, count)
    assert [entry.clause for entry in rerank(hits, count, [], times, SETTINGS)] == plain
    still = DateAware(weight=0.0, years=5)
    assert [entry.clause for entry in rerank(hits, count, query, times, still)] == plain
