"""Elements stay whole; chunks of long ones cover all of the text and split no written character."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts.files import DataError, dump_line
from scripts.retrieval.chunks import (
    MARK,
    Chunking,
    chunk_id,
    chunk_spans,
    is_boundary,
    is_chunk,
    long_elements,
    parent_of,
    passages,
    read_elements,
)

BENGALI = "ক্ষুদ্র শিল্পের উপর আমদানি শুল্ক ২৫ শতাংশ ধার্য্য করা হইল; হ্যাঁ, র‍্যাব।\n"
TEXTS = st.text(
    alphabet=st.one_of(
        st.sampled_from("কখগ্ািীংঃ়ৎ\u200c\u200d ০১\n"),
        st.sampled_from("ab 1.\u0301\U0001f600\ud800\udc00"),
    ),
    max_size=200,
)
SIZES = st.tuples(st.integers(1, 40), st.integers(0, 39)).filter(lambda pair: pair[1] < pair[0])


@given(TEXTS, SIZES)
def test_chunks_cover_the_text_and_split_nothing(text: str, sizes: tuple[int, int]) -> None:
    characters, overlap = sizes
    spans = list(chunk_spans(text, characters, overlap))
    assert bool(spans) == bool(text)
    covered = 0
    for number, (start, stop) in enumerate(spans):
        assert covered >= start < stop
        assert stop > covered
        assert is_boundary(text, start)
        assert is_boundary(text, stop)
        if stop - start > characters:
            # Only one written character may be longer than a chunk.
            assert not any(is_boundary(text, place) for place in range(start + 1, stop))
        if number:
            assert start > spans[number - 1][0]
        covered = stop
    assert covered == len(text)


@pytest.mark.parametrize("place", range(1, len(BENGALI)))
def test_no_cut_inside_a_bengali_cluster(place: int) -> None:
    regex = pytest.importorskip("regex")
    joined = regex.compile(r"\X(?:(?<=\u09cd)\X)*")  # A conjunct is one cluster, however encoded.
    starts = {match.start() for match in joined.finditer(BENGALI)}
    if is_boundary(BENGALI, place):
        assert place in starts


@pytest.mark.parametrize(
    ("text", "place", "allowed"),
    [
        ("কি", 1, False),
        ("ক্ষ", 2, False),
        ("ক্ ষ", 2, True),
        ("র‍্য", 1, False),
        ("র‍্য", 2, False),
        ("e\u0301x", 1, False),
        ("e\u0301x", 2, True),
        ("\ud83d\ude00", 1, False),
        ("কখ", 1, True),
        ("কখ", 0, True),
        ("কখ", 2, True),
    ],
)
def test_boundaries(text: str, place: int, allowed: bool) -> None:
    assert is_boundary(text, place) is allowed


def test_neighbours_share_what_is_asked_for() -> None:
    text = "".join(chr(ord("a") + number % 26) for number in range(5000))
    spans = list(chunk_spans(text, 1200, 200))
    assert spans == [(0, 1200), (1000, 2200), (2000, 3200), (3000, 4200), (4000, 5000)]


def test_a_chunk_ends_behind_white_space_where_it_can() -> None:
    text = "word " * 1000
    for start, stop in chunk_spans(text, 1203, 200):
        assert stop == len(text) or text[stop - 1] == " "
        assert stop - start <= 1203


def test_a_character_longer_than_a_chunk_stays_whole() -> None:
    text = "ক" + "\u0301" * 50 + "খ"
    assert list(chunk_spans(text, 10, 3)) == [(0, 51), (51, 52)]


def test_ids_of_chunks() -> None:
    name = chunk_id("sro-1/clause_3", 12)
    assert name == "sro-1/clause_3#chunk_12"
    assert parent_of(name) == parent_of("sro-1/clause_3") == "sro-1/clause_3"
    assert is_chunk(name)
    assert not is_chunk("sro-1/clause_3")


def test_long_elements_are_whole_and_in_chunks() -> None:
    elements = {"d/b": "b " * 60, "d/a": "short", "d/blank": " \n"}
    found = passages(elements, Chunking(50, 40, 10), lambda text: len(text.split()))
    ids = [passage.vector_id for passage in found]
    assert ids == sorted(ids)
    assert ids == ["d/a", "d/b", "d/b#chunk_1", "d/b#chunk_2", "d/b#chunk_3", "d/b#chunk_4"]
    texts = {passage.vector_id: passage.text for passage in found}
    assert texts["d/b"] == elements["d/b"]
    assert texts["d/b#chunk_2"] in elements["d/b"]
    assert long_elements(ids) == 1


def test_exactly_at_the_limit_is_not_long() -> None:
    assert len(passages({"d/a": "x " * 50}, Chunking(50, 40, 10), lambda t: len(t.split()))) == 1


@pytest.mark.parametrize(("characters", "overlap"), [(0, 0), (10, 10), (10, -1), (5, 9)])
def test_chunks_must_move_on(characters: int, overlap: int) -> None:
    with pytest.raises(DataError, match="must be smaller"):
        Chunking(10, characters, overlap)


def write(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_bytes(b"".join(map(dump_line, rows)))
    return path


def test_the_title_stands_before_the_text_once(tmp_path: Path) -> None:
    path = write(
        tmp_path / "e.jsonl",
        {"element_id": "d/1", "title": "Short title", "text": "Short title. This Act…"},
        {"element_id": "d/2", "title": "Duty", "text": "Twenty per cent."},
        {"element_id": "d/3", "text": "No title."},
    )
    assert read_elements(path) == {
        "d/1": "Short title. This Act…",
        "d/2": "Duty\nTwenty per cent.",
        "d/3": "No title.",
    }


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([{"element_id": "a", "text": "x"}] * 2, "line 2: a stands twice"),
        ([{"element_id": f"a{MARK}1", "text": "x"}], "line 1: the id .* must not hold"),
        ([{"element_id": "a"}], "line 1: no element_id and text"),
        ([{"element_id": "", "text": "x"}], "line 1: no element_id and text"),
        ([{"element_id": 3, "text": "x"}], "line 1: no element_id and text"),
    ],
)
def test_bad_elements(tmp_path: Path, rows: list[dict[str, Any]], said: str) -> None:
    with pytest.raises(DataError, match=said):
        read_elements(write(tmp_path / "e.jsonl", *rows))
