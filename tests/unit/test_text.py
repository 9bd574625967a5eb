"""Foreign text is made visible and short."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts.publishing.text import shorten, visible


@given(st.text(st.characters(exclude_categories=()), max_size=60))
def test_nothing_hidden_is_left(text: str) -> None:
    seen = visible(text)
    seen.encode("utf-8")
    assert not any(unicodedata.category(c)[0] == "C" or c in "\u2028\u2029" for c in seen)
    assert len(seen.splitlines()) <= 1


@given(st.text(st.characters(categories=["L", "N", "P", "S", "Zs"]), max_size=60))
def test_visible_text_stays_as_it_is(text: str) -> None:
    assert visible(text) == text


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("a\r\nb\nc", "a¶b¶c"),
        ("\r\t", "<U+000D><U+0009>"),
        ("\ud800\x00\u202e", "<U+D800><U+0000><U+202E>"),
        ("\U0010ffff", "<U+10FFFF>"),
    ],
)
def test_forms(text: str, seen: str) -> None:
    assert visible(text) == seen


def test_shorten_says_what_it_left_out() -> None:
    assert shorten("abc", 3) == "abc"
    assert shorten("a" * 1000, 10) == "a" * 10 + "… [990 more characters]"
    assert shorten("a" * 2000, 10) == "a" * 10 + "… [1,990 more characters]"
