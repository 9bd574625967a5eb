"""Quotations, numbering signs, sub-clauses, lines, citations: the parts of records."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts.documents.citations import hs_codes, section_citations
from scripts.documents.clauses import (
    clause_start,
    heading_kind,
    is_short_title,
    is_terminated,
    printed_numeral,
    signature_kind,
)
from scripts.documents.numerals import Sign, readings, roman, to_roman
from scripts.documents.quotes import Quotation, quoted_spans
from scripts.documents.subclauses import hierarchy


def quoted(text: str) -> list[str]:
    return [text[start:end] for start, end in quoted_spans(text)]


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        ("a “b” c “d”", ["“b”", "“d”"]),
        ("“a “b” c”", ["“a “b” c”"]),
        ("‘‘ক’’ ও ‘খ’", ["‘‘ক’’"]),
        ('say "one" and "two"', ['"one"', '"two"']),
        ('a pipe of 12" width', []),
        ("“a” b” c", ["“a”"]),
        ("x “open\nnext “b” line", ["“open", "“b”"]),
        ("“(1) one\n“(2) two”", ["“(1) one", "“(2) two”"]),
        ("«a» „b”", ["«a»", "„b”"]),
        ("no marks", []),
    ],
)
def test_quoted_spans(text: str, spans: list[str]) -> None:
    assert quoted(text) == spans


@given(st.text(alphabet="ab \n“”\"‘’«»„'", max_size=60))
def test_quoted_spans_are_ordered_and_apart(text: str) -> None:
    spans = quoted_spans(text)
    assert all(0 <= start < end <= len(text) for start, end in spans)
    assert all(first[1] <= second[0] for first, second in pairwise(spans))
    quotation = Quotation(text)
    inside = {p for start, end in spans for p in range(start + 1, end)}
    assert {p for p in range(len(text)) if quotation.covers(p)} == inside


@given(st.integers(1, 399))
def test_roman_numerals_are_read_back(value: int) -> None:
    assert roman(to_roman(value)) == value


@pytest.mark.parametrize(
    ("sign", "first"),
    [
        ("১২", Sign("bengali", (12, 0))),
        ("৩ক", Sign("bengali", (3, 1))),
        ("4", Sign("arabic", (4, 0))),
        ("4A", Sign("arabic", (4, 1))),
        ("ক", Sign("consonant", (1, 0))),
        ("কক", Sign("consonant", (1, 1))),
        ("আ", Sign("vowel", (2, 0))),
        ("b", Sign("latin_lower", (2, 0))),
        ("aa", Sign("latin_lower", (1, 1))),
        ("iv", Sign("roman_lower", (4, 0))),
        ("IV", Sign("roman_upper", (4, 0))),
        ("C", Sign("roman_upper", (100, 0))),
    ],
)
def test_first_reading_of_a_sign(sign: str, first: Sign) -> None:
    assert readings(sign)[0] == first


@pytest.mark.parametrize("sign", ["", "1969", "ab", "Ab", "কখ", "?", "²", "১a?"])
def test_what_is_no_sign(sign: str) -> None:
    assert readings(sign) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("no sub-clauses", []),
        ("(ক) এক; (খ) দুই; এবং (গ) তিন।", ["ক", "খ", "গ"]),
        ("(a) one—\n(x) two;\n(y) three;\n(b) four.", ["a", ["x", "y"], "b"]),
        ("(a) one—\n(x) p—\n(i) q;\n(ii) r;\n(y) s;\n(b) t.", ["a", ["x", ["i", "ii"], "y"], "b"]),
        (
            "(১) এক—\n(ক) দুই;\n(অ) তিন;\n(আ) চার;\n(খ) পাঁচ।\n(২) ছয়।",
            ["১", ["ক", ["অ", "আ"], "খ"], "২"],
        ),
        ("(g) x;\n(h) y;\n(i) z;\n(j) w.", ["g", "h", "i", "j"]),
        ("(g) x;\n(h) y:\n(i) z;\n(ii) w;\n(i) v.", ["g", "h", ["i", "ii"], "i"]),
        ("(a) x;\n(aa) y;\n(b) z.", ["a", "aa", "b"]),
        ("(১) ক।\n(১ক) খ।\n(২) গ।", ["১", "১ক", "২"]),
        ("(a) x;\n(d) y.", ["a", "d"]),
        ("(1)(a) both;\n(b) next.\n(2) last.", ["1", ["a", "b"], "2"]),
        ("ক) এক;\nখ) দুই।", ["ক", "খ"]),
        ("8[(a) x;]\n9[(b) y.]", ["a", "b"]),
        ("উপ-ধারা (১) ও (২) এর দফা (ক) বিলুপ্ত হইবে।", []),
        ("as in section 13(1), and (2) of it.", []),
        ("under sub-section\n(1) of section 4 it lapses.", []),
        ("The Board may- (a) go; or (b) stay.", ["a", "b"]),
        ("(ক) “(১) উদ্ধৃত;\n(২) আরও”;\n(খ) শেষ।", ["ক", "খ"]),
        ("(c) begins late;\n(d) goes on.", ["c", "d"]),
        ("(a) x;\n(b) y.\nIn the second case,—\n(a) z;\n(b) w.", ["a", "b", "a", "b"]),
        ("(1969) and (Act) are no signs", []),
        ("text (3) not first; (4) nor this", []),
    ],
)
def test_hierarchy(text: str, expected: list[Any]) -> None:
    assert hierarchy(text) == expected


def test_hierarchy_begins_after_the_title() -> None:
    text = "১। (ক) শিরোনাম।— (১) এক; (২) দুই।"
    assert hierarchy(text, text.index("—") + 1) == ["১", "২"]


def _printed(tree: list[Any]) -> str:
    return "\n".join(_printed(e) if isinstance(e, list) else f"({e}) text;" for e in tree)


LEAVES = st.integers(1, 4)


@given(st.lists(st.tuples(st.booleans(), LEAVES, st.booleans()), min_size=1, max_size=5))
def test_printed_hierarchies_are_read_back(shape: list[tuple[bool, int, bool]]) -> None:
    tree: list[Any] = []
    for number, (nested, leaves, deeper) in enumerate(shape):
        tree.append("কখগঘঙ"[number])
        if nested:
            children: list[Any] = [to_roman(n) for n in range(1, leaves + 1)]
            if deeper:
                children.insert(1, ["১", "২"])
            tree.append(children)
    assert hierarchy(_printed(tree)) == tree


@given(st.text(alphabet="(a)(i)(ক)(১)bে;—: \n“”[1", max_size=80))
def test_hierarchy_is_well_formed_on_any_text(text: str) -> None:
    def check(tree: list[Any]) -> None:
        assert not tree or isinstance(tree[0], str)
        for entry in tree:
            assert entry
            if isinstance(entry, list):
                check(entry)

    check(hierarchy(text))


@pytest.mark.parametrize(
    ("line", "printed", "style", "place"),
    [
        ("১। কথা", "১।", "bengali", (1, 0)),
        ("১২ক । কথা", "১২ক ।", "bengali", (12, 1)),
        ("১৷ কথা", "১৷", "bengali", (1, 0)),
        ("4. Text", "4.", "arabic", (4, 0)),
        ("4A. Text", "4A.", "arabic", (4, 1)),
        ("4। কথা", "4।", "arabic", (4, 0)),
        ("62[৫। কথা", "৫।", "bengali", (5, 0)),
        ("99[100[25B. Text", "25B.", "arabic", (25, 2)),
        ("4.Text", "4.", "arabic", (4, 0)),
        ("Section 5.— Text", "Section 5", "head", (5, 0)),
        ("ধারা ৫। কথা", "ধারা ৫", "head", (5, 0)),
        ("Article 12", "Article 12", "head", (12, 0)),
    ],
)
def test_clause_start(line: str, printed: str, style: str, place: tuple[int, int]) -> None:
    start = clause_start(line)
    assert start is not None
    assert (start.printed, start.style, start.place) == (printed, style, place)
    assert printed_numeral(f"heading\n{line}") == printed


@pytest.mark.parametrize(
    "line",
    [
        "",
        "কথা",
        "১৯৬৯। কথা",
        "4.5 %",
        "০৯.০৬.২০১১",
        "8445.11.00",
        "(১) কথা",
        "ধারা ৫ এর",
        "4 apples",
        "১. x",
    ],
)
def test_lines_without_a_clause_numeral(line: str) -> None:
    assert clause_start(line) is None
    assert printed_numeral(line) == ""


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("প্রথম অধ্যায়", "chapter"),
        ("প্রথম অধ্যায়".replace("\u09df", "\u09af\u09bc"), "chapter"),
        ("দ্বিতীয় ভাগ: Baggage", "chapter"),
        ("CHAPTER IV", "chapter"),
        ("Part 2 — Rates", "chapter"),
        ("তফসিল", "schedule"),
        ("তফসিল-১", "schedule"),
        ("দ্বিতীয় তফসিল", "schedule"),
        ("THE FIRST SCHEDULE", "schedule"),
        ("Annex B", "schedule"),
        ("প্রথম অধ্যায় এর বিধান।", ""),
        ("তফসিল এর পণ্য", ""),
        ("Schedule of fees is kept by the Board", ""),
        ("ফরম দাখিল করিতে হইবে", ""),
    ],
)
def test_heading_kind(line: str, kind: str) -> None:
    assert heading_kind(line) == kind


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("রাষ্ট্রপতির আদেশক্রমে,", "order"),
        ("জাতীয় রাজস্ব বোর্ডের আদেশক্রমে।", "order"),
        ("By order of the President,", "order"),
        ("সিনিয়র সচিব", "office"),
        ("Second Secretary (Customs)", "office"),
        ("অনুলিপি:", "copies"),
        ("Copy forwarded to:", "copies"),
        ("Printed by the Deputy Controller, Press", "imprint"),
        ("মূল্য : টাকা ৪.০০", "imprint"),
        ("সচিব আদেশ প্রদান করিবেন।", ""),
        ("কোনো কর্মকর্তা", ""),
    ],
)
def test_signature_kind(line: str, kind: str) -> None:
    assert signature_kind(line) == kind


def test_ends_of_lines() -> None:
    assert all(is_terminated(text) for text in ("শেষ।", "end;", "যথা:―", "“x”।", "(x)", "end.♠♣"))
    assert not any(is_terminated(text) for text in ("শেষ", "the end", ""))
    assert is_short_title("সংক্ষিপ্ত শিরোনাম")
    assert not any(is_short_title(text) for text in ("", "শেষ।", "(ক) দফা", "“উদ্ধৃত", "ক" * 200))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("ধারা ৫ ও ধারা-১৯ এর", ["ধারা ৫", "ধারা-১৯"]),
        ("Customs Act এর section 19 এবং Section 25A", ["section 19", "Section 25"]),
        ("sections 5, 6 and 7", ["sections 5"]),
        ("উপ-ধারা (৩), উপধারা ৩, উপ ধারা ৪", []),
        ("sub-section 3, subsection 4", []),
        ("this section and ধারা", []),
    ],
)
def test_section_citations(text: str, found: list[str]) -> None:
    assert section_citations(text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("8445.11.00 ও ৮৪৫১.৪০.০০", ["8445.11.00", "৮৪৫১.৪০.০০"]),
        ("heading 84.45, 84.46 and 84.47", ["84.45", "84.46", "84.47"]),
        ("H.S. Code: 8445.11", ["8445.11"]),
        ("হেডিং ৮৪.৪৫ এর H.S. Code 8445.19.00", ["৮৪.৪৫", "8445.19.00"]),
        ("USD 85.00, 1234.50 and 12.75 %", []),
        ("09.06.2011 and 192.168.10.10 and 8445.11.00.1", []),
        ("heading 84.45 costs 12.50", ["84.45"]),
    ],
)
def test_hs_codes(text: str, found: list[str]) -> None:
    assert hs_codes(text) == found
