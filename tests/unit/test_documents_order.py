"""The cluster grammar of Bengali and the way from visual to logical order."""

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts.documents.bengali_order import (
    Evidence,
    bengali_letters,
    bengali_words,
    evidence,
    faults,
    logical_order,
    normalise,
    order_faults,
    pseudo_glyphs,
    visual_evidence,
)

RIGHT = (
    "ক্রমিক নম্বর বোর্ড প্রজ্ঞাপন জ্যৈষ্ঠ কার্যকর কর্তৃপক্ষ স্ত্রী কোম্পানি পৌরসভা ঢৌকিদার দুঃখ চাঁদ উৎপাদন বাড়ি গাঢ় হয় "
    "ক্ষুদ্র র‍্যাব ব্যাংক অ্যাপ এ্যাক্ট উই হৃদয় বাক্ এতদ্‌দ্বারা শয্যা নির্ঝর কাঁঠাল আঁকা ইংরেজি পুনঃরপ্তানি ওআইসি সূর্য্য উদ্‌যাপন"
)
# (logical, glyphs as a font's tables name them, in the order in which they are drawn)
DRAWN = [
    ("ক্রমিক", ["ক্র", "ি", "ম", "ক"]),
    ("বোর্ড", ["ে", "ব", "া", "ড", "র্"]),
    ("ধর্ম", ["ধ", "ম", "র্"]),
    ("কর্তৃপক্ষ", ["ক", "ত", "ৃ", "র্", "প", "ক্ষ"]),
    ("নির্ণয়", ["ি", "ন", "ণ", "র্", "য়"]),
    ("বর্ণিত", ["ব", "ির্", "ণ", "\u200b", "ত"]),
    ("কার্যী", ["ক", "া", "য", "ীর্"]),
    ("জ্যৈষ্ঠ", ["ৈ", "জ", "য্", "ষ্ঠ"]),
    ("পৌর", ["ে", "প", "ৗ", "র"]),
    ("চাঁদ", ["চ", "ঁ", "া", "দ"]),
    ("র‍্যাব", ["র", "য্", "া", "ব"]),
    ("শুল্ক", ["শু", "ল্ক"]),
    ("এন্ট্রি", ["এ", "ন্ট্রি"]),
    ("টিকা", ["িট", "ক", "া"]),
    ("বাক্", ["ব", "া", "ক", "্"]),
    ("তদ্দ্বীন", ["ত", "দ", "্", "দ্ব", "ী", "ন"]),
    ("ব্যক্তি", ["ব", "্য", "ি", "ক্ত"]),
    ("(কোটি)", ["(", "ে", "ক", "া", "ি", "ট", ")"]),
    ("ডিম", ["ি", "ঁ", "ড", "ম"]),
]


def test_right_text_has_no_fault() -> None:
    assert faults(RIGHT) == []
    assert evidence(RIGHT.split()).order == "logical"


@pytest.mark.parametrize(
    "text",
    [
        "িক্রমক",  # a sign at the word's start
        "েবাড",
        "কেি",  # two signs
        "কাু",
        "ধমর্",  # a reph with nothing under it
        "জয্ষ্ঠ",  # a ya-phala written backwards
        "ক্্ষ",  # two hasantas
        "্ক",
        "কি্ষ",  # a hasanta behind a sign
        "়ক",  # a nukta without a letter
        "ঁক",
        "অি",  # a sign behind a vowel letter
        "‍ক",  # a joiner that joins nothing
    ],
)
def test_each_kind_of_fault_is_found(text: str) -> None:
    assert order_faults(text) >= 1
    assert order_faults(f"ঠিক {text} কথা") >= 1


def test_text_without_bengali_has_no_order() -> None:
    assert order_faults("Customs Act, 1969 — 12.5 %") == 0
    assert evidence(["Customs", "১২"]) == Evidence(0, 0)
    assert evidence(["Customs"]).order == "unknown"
    assert bengali_letters("Act ১৯৬৯") == 0


def test_digits_are_no_letters_and_words_are_runs_of_letters() -> None:
    assert bengali_words("ধারা ১২(ক), Act আইন") == ["ধারা", "ক", "আইন"]
    assert bengali_letters("ধারা ১২") == 4


def test_spellings_of_one_letter_become_one() -> None:
    assert normalise("কো") == normalise("কো") == "কো"
    assert normalise("হ\u09df") == normalise("হয\u09bc")
    assert normalise("ক\u200bখ\ufeff\u00ad") == "কখ"
    assert order_faults("কো হয়") == 0


@pytest.mark.parametrize(
    ("visual", "logical", "order"),
    [(0, 0, "unknown"), (3, 0, "visual"), (0, 3, "logical"), (2, 3, "mixed"), (1, 40, "logical"),
     (40, 1, "visual"), (1, 39, "mixed")],
)  # fmt: skip
def test_order_of_evidence(visual: int, logical: int, order: str) -> None:
    assert Evidence(visual, logical).order == order
    assert (Evidence(visual, 0) + Evidence(0, logical)).order == order


@pytest.mark.parametrize(("logical", "glyphs"), DRAWN)
def test_drawn_words_come_out_in_logical_order(logical: str, glyphs: list[str]) -> None:
    text, wrong = logical_order(glyphs)
    expected = logical if logical != "ডিম" else "ডিঁম"
    assert (text, wrong) == (normalise(expected), 0)


@pytest.mark.parametrize(
    "glyphs",
    [["র্", "ক"], ["ি"], ["ে", "ি", "ক"], ["া", "ক"], ["ঁ"], ["্", "ক"], ["ে", "ক", "ী"], ["ে", "া"],
     ["ক", "া", "ু"], ["ি", "্", "ক"], ["ক", "্", "ি", "খ"], ["ি", "কি"], ["ি", "।"]],
)  # fmt: skip
def test_what_belongs_to_nothing_is_counted_and_kept(glyphs: list[str]) -> None:
    text, wrong = logical_order(glyphs)
    assert wrong >= 1
    assert sorted(unicodedata.normalize("NFD", text)) == sorted(
        unicodedata.normalize("NFD", "".join(glyphs))
    )


def drawn(word: str) -> list[str]:
    """A model of shaping: glyphs of a logical word in the order in which they are drawn."""
    consonant = "[\u0995-\u09b9\u09ce\u09dc\u09dd\u09df]\u09bc?"
    pattern = re.compile(
        f"(?P<reph>র্(?={consonant}))?(?P<base>{consonant}(?:্(?!য){consonant})*)(?P<ya>\u200d?্য)?"
        "(?P<sign>[\u09be-\u09cc]?)(?P<mark>[\u0981-\u0983]*)|(?P<other>.)"
    )
    out = []
    for match in pattern.finditer(word):
        if match["other"]:
            out.append(match["other"])
            continue
        sign = match["sign"]
        before = {"ি": "ি", "ে": "ে", "ৈ": "ৈ", "ো": "ে", "ৌ": "ে"}.get(sign, "")
        after = {"ো": "া", "ৌ": "ৗ"}.get(sign, "" if before else sign)
        ya = "য্" if match["ya"] else ""
        reph = "র্" if match["reph"] else ""
        out += [part for part in (before, match["base"], ya, reph, after, match["mark"]) if part]
    return out


CONSONANT = st.sampled_from([c for c in "কখগঘচজটডণতদধনপবভমযরলশষসহয়ড়" if c != "\u09bc"])
SYLLABLE = st.builds(
    lambda reph, base, ya, sign, mark: reph + base + ya + sign + mark,
    st.sampled_from(["", "", "র্"]),
    st.one_of(CONSONANT, st.sampled_from(["ক্ষ", "ঙ্গ", "ন্ত", "ষ্ট", "প্র", "স্ত্র", "জ্ঞ"])),
    st.sampled_from(["", "", "্য"]),
    st.sampled_from(["", "া", "ি", "ী", "ু", "ূ", "ৃ", "ে", "ৈ", "ো", "ৌ"]),
    st.sampled_from(["", "", "", "ং", "ঁ"]),
).filter(lambda s: not s.startswith("র্য") and "র্র" not in s and "য়্" not in s)
WORDS = st.lists(SYLLABLE, min_size=1, max_size=4).map("".join)


@given(WORDS)
def test_drawing_and_reordering_are_inverse(word: str) -> None:
    word = normalise(re.sub("(?<!্)র্য", "র\u200d্য", word))
    text, wrong = logical_order(drawn(word))
    assert (text, wrong) == (word, 0)
    assert order_faults(text) == 0


@given(st.text(alphabet="কখরযতি ীেৈাৗুঁং়্।১aB", max_size=14))
def test_reordering_keeps_every_character(text: str) -> None:
    glyphs = pseudo_glyphs(text)
    assert "".join(glyphs) == unicodedata.normalize("NFC", text)
    out, _ = logical_order(glyphs)

    def letters(value: str) -> list[str]:
        return sorted(unicodedata.normalize("NFD", value).replace("\u200d", ""))

    assert letters(out) == letters(text)


@given(st.text(max_size=40))
def test_any_text_can_be_judged(text: str) -> None:
    assert order_faults(text) == len(faults(text))
    assert order_faults(text) <= 2 * len(normalise(text))


def test_text_of_an_engine_is_cut_into_glyphs() -> None:
    assert pseudo_glyphs("ধমর্") == ["ধ", "ম", "র্"]
    assert pseudo_glyphs("জয্ষ্ঠ") == ["জ", "য্", "ষ্ঠ"]
    assert pseudo_glyphs("স্ত্রী") == ["স্ত্র", "ী"]
    assert logical_order(pseudo_glyphs("িনম্নবির্ণত"))[0] == "নিম্নবর্ণিত"


def test_evidence_of_drawn_glyphs() -> None:
    assert visual_evidence([("ি", "ক"), ("ক", "ি")]) == Evidence(1, 1)
    # A sign inside a larger glyph says nothing, a reph of its own does.
    assert visual_evidence([("এ", "ন্ট্রি"), ("কি",), ("A", "b"), ()]) == Evidence(0, 0)
    assert visual_evidence([("ধ", "ম", "র্"), ("জ", "য্")]) == Evidence(2, 0)
    assert visual_evidence([("ক", "ে", "ঁ"), ("(", "ক", "ে", ",")]) == Evidence(0, 2)


def test_real_law_text_keeps_the_grammar(shared_data) -> None:  # type: ignore[no-untyped-def]
    files = sorted((shared_data / "bdlaws").glob("act-*.txt"))
    if not files:
        pytest.skip("no law texts here")
    letters = wrong = 0
    for file in files:
        text = file.read_text(encoding="utf-8")
        letters += bengali_letters(text)
        wrong += order_faults(text)
        assert evidence(text.split()).visual == 0
    # Two typing mistakes and one stray joiner in a quarter of a million letters.
    assert letters > 200_000
    assert wrong <= 3
