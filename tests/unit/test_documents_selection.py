"""Repairs, and the choice among readings: never a doubtful text as text."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts.documents.bengali_order import normalise
from scripts.documents.engines import Reading, Trace, Word
from scripts.documents.repairs import (
    bijoy_converted,
    count_characters,
    joined_by_boxes,
    joined_cut_words,
    unicode_nfc,
    visual_order,
)
from scripts.documents.selection import (
    candidates,
    choose,
    in_common,
    legacy_font,
    overlap,
    page_evidence,
    shared_ends,
)

ALL = ["pymupdf", "pdftotext", "pdfium"]
LOGICAL = "সরকার কর্তৃক আদেশ জারি করা হইল এবং ইহা কার্যকর হইবে নিম্নবর্ণিত ক্ষেত্রে"
# The same as glyphs in the order of drawing.
DRAWN: list[list[str]] = [
    [*"সরক", "া", "র"], ["ক", "ত", "ৃ", "র্", "ক"], ["আ", "ে", "দ", "শ"], ["জ", "া", "ি", "র"],
    ["ক", "র", "া"], ["হ", "ই", "ল"], ["এ", "ব", "ং"], ["ই", "হ", "া"], ["ক", "া", "য", "র্", "ক", "র"],
    ["হ", "ই", "ে", "ব"], ["ি", "ন", "ম্ন", "ব", "ির্", "ণ", "ত"], ["ে", "ক্ষ", "ে", "ত্র"],
]  # fmt: skip


def laid_out(texts: list[str], glyphs: list[list[str]] | None = None) -> tuple[Word, ...]:
    """Words one after the other on lines of eight."""
    out = []
    for n, text in enumerate(texts):
        x, y = 60.0 * (n % 8), 20.0 * (n // 8)
        each = tuple(glyphs[n]) if glyphs else ()
        out.append(Word(text, (x, y, x + 50, y + 12), 10, False, "f", each, ("f",) * len(each)))
    return tuple(out)


def trace(hidden: float = 0.0, rephs: int = 1) -> Trace:
    words = laid_out(["".join(g) for g in DRAWN], DRAWN)
    return Trace(words, sum(map(len, DRAWN)), hidden, rephs)


def plain_trace(text: str) -> Trace:
    words = laid_out(text.split(), [list(word) for word in text.split()])
    return Trace(words, len(text), 0.0)


def readings(**texts: str) -> list[Reading]:
    return [Reading(name, laid_out(text.split())) for name, text in texts.items()]


VISUAL = " ".join("".join(g) for g in DRAWN)


def test_the_sample_is_visual() -> None:
    assert page_evidence(trace()).order == "visual"
    words, wrong = visual_order(trace().words)
    assert ([word.text for word in words], wrong) == (normalise(LOGICAL).split(), 0)


def test_engines_that_give_logical_text_win_over_the_repair() -> None:
    found = candidates(
        readings(pymupdf=VISUAL, pdftotext=LOGICAL, pdfium=LOGICAL), trace(), "visual"
    )
    choice = choose(found, ALL)
    assert choice.candidate is not None
    assert (choice.candidate.engine, choice.candidate.repairs, choice.reason) == (
        "pdftotext",
        (),
        "",
    )
    assert choice.agreement == 1.0


def test_visual_text_is_repaired_from_the_glyphs_and_confirmed() -> None:
    found = candidates(readings(pymupdf=VISUAL, pdftotext=VISUAL, pdfium=VISUAL), trace(), "visual")
    choice = choose(found, ALL)
    assert choice.candidate is not None
    assert choice.reason == ""
    assert choice.candidate.repairs == ("spaces_from_boxes", "visual_order")
    assert [word.text for word in choice.candidate.words] == normalise(LOGICAL).split()
    assert choice.candidate.misplaced == 0


@pytest.mark.parametrize("engines", [ALL, ALL[:1], ["pymupdf", "pdfium"]])
def test_the_choice_does_not_depend_on_the_order_of_candidates(engines) -> None:  # type: ignore[no-untyped-def]
    given = readings(**dict.fromkeys(engines, VISUAL))
    found = candidates(given, trace(), "visual")
    choices = {choose(order, engines).candidate.repairs for order in (found, found[::-1])}  # type: ignore[union-attr]
    assert choices == {("spaces_from_boxes", "visual_order")}


def test_a_repair_that_no_other_engine_bears_out_is_flagged() -> None:
    other = VISUAL.replace("সরকার", "সরদার").replace("কর", "কত")
    found = candidates(readings(pymupdf=VISUAL, pdftotext=other, pdfium=other), trace(), "visual")
    choice = choose(found, ALL)
    assert "disagree" in choice.reason


def test_two_glyphs_for_reph_are_too_many() -> None:
    found = candidates(readings(pymupdf=VISUAL, pdfium=VISUAL), trace(rephs=2), "visual")
    assert "ra-phala" in choose(found, ["pymupdf", "pdfium"]).reason


def test_order_that_nothing_tells_is_not_guessed() -> None:
    drawn = [["ক", "া", "ল্প", "ি", "ন", "ক"]]
    words = laid_out(["কাল্পিনক"], drawn)
    page = Trace(words, 6, 0.0)
    given = readings(pymupdf="কাল্পিনক", pdfium="কাল্পিনক")
    assert page_evidence(page).order == "unknown"
    assert (
        "nothing tells the order of 1" in choose(candidates(given, page, "unknown"), ALL[:2]).reason
    )
    # The rest of the document may tell; and an engine that differs from the glyphs does.
    visual = choose(candidates(given, page, "visual"), ALL[:2])
    assert visual.candidate is not None
    assert (visual.reason, visual.candidate.words[0].text) == ("", "কাল্পনিক")
    spoken = readings(pymupdf="কাল্পিনক", pdftotext="কাল্পনিক", pdfium="কাল্পনিক")
    told = choose(candidates(spoken, page, "unknown"), ALL)
    assert told.candidate is not None
    assert (told.reason, told.candidate.words[0].text) == ("", "কাল্পনিক")


def test_mixed_order_is_flagged() -> None:
    text = f"{LOGICAL} {VISUAL}"
    found = candidates(readings(pymupdf=text, pdfium=text), plain_trace(text), "mixed")
    assert choose(found, ALL[:2]).reason


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("ধারা \ufffd\ufffd বিধি", "2 glyphs"),
        ("evsjv‡`k miKvi cÖÁvcb", "legacy font"),
        ("ক" * 45 + " করে", "spaces lost"),
        ("সরকারআদেশজারিকরে " * 20, "spaces lost"),
        ("সরকর আদশ জর কর মত " * 30, "conjuncts or vowel signs lost"),
        ("সরকারা আদেশা জারি করে " * 30, "conjuncts or vowel signs lost"),
    ],
)
def test_text_that_cannot_be_right_is_flagged(text: str, said: str) -> None:
    found = candidates(readings(pymupdf=text, pdfium=text), plain_trace(text), "logical")
    choice = choose(found, ALL[:2])
    assert said in choice.reason


def test_slips_of_the_author_are_no_reason_to_flag() -> None:
    text = " ".join([LOGICAL] * 12 + ["মুু"])
    found = candidates(readings(pymupdf=text, pdfium=text), plain_trace(text), "logical")
    choice = choose(found, ALL[:2])
    assert choice.candidate is not None
    assert (choice.reason, choice.candidate.faults) == ("", 1)


def test_equal_readings_go_to_the_first_engine() -> None:
    text = "The Act is repealed with effect from today"
    found = candidates(
        readings(pdfium=text, pdftotext=text, pymupdf=text), plain_trace(text), "unknown"
    )
    choice = choose(found, ALL)
    assert choice.candidate is not None
    assert (choice.candidate.engine, choice.candidate.repairs) == ("pymupdf", ())


def test_words_in_another_order_are_no_agreement() -> None:
    words = [f"w{n}" for n in range(200)]
    moved = words[10:] + words[:10]
    found = candidates(
        readings(pymupdf=" ".join(words), pdfium=" ".join(moved)), Trace((), 0, 0.0), "unknown"
    )
    assert overlap(found[0].tokens, found[1].tokens) == 1.0
    assert in_common(found[0], found[1]) == pytest.approx(0.9)
    assert "disagree" in choose(found, ALL[:2]).reason


def test_one_engine_alone_must_hold_what_is_drawn() -> None:
    text = "The Act is repealed with effect from today"
    good = candidates(readings(pymupdf=text), plain_trace(text), "unknown")
    assert choose(good, ALL[:1]).reason == ""
    garbled = candidates(readings(pymupdf=text + " today today"), plain_trace(text), "unknown")
    choice = choose(garbled, ALL[:1])
    assert choice.candidate is not None
    assert (choice.reason, choice.candidate.repairs) == ("", ("spaces_from_boxes",))


def test_nothing_to_choose_from() -> None:
    choice = choose([], ALL)
    assert (choice.candidate, choice.reason) == (None, "no engine gave text")


def test_words_that_the_glyphs_hold_together_are_joined() -> None:
    drawn = (Word("কার্ড;", (0, 0, 40, 12), 10), Word("next", (50, 0, 80, 12), 10))
    cut = (Word("কার্ড", (0, 0, 35, 12), 10), Word(";", (36, 3, 39, 10), 10), drawn[1])
    assert [word.text for word in joined_by_boxes(cut, drawn)] == ["কার্ড;", "next"]
    assert joined_by_boxes(cut, ()) == cut
    assert joined_by_boxes((), drawn) == ()
    assert shared_ends(cut, drawn) == pytest.approx(1 / 3)
    assert shared_ends((), drawn) == 0.0
    chosen = choose(
        candidates(
            [Reading("pymupdf", cut), Reading("pdftotext", cut)], Trace(drawn, 12, 0.0), "logical"
        ),
        ALL[:2],
    )
    assert chosen.candidate is not None
    assert chosen.candidate.repairs == ("joined_by_boxes",)


def test_hidden_boxes_join_nothing() -> None:
    text = "কার্ড ; আদেশ করে"
    drawn = laid_out(["কার্ড;", "আদেশ", "করে"])
    found = candidates(readings(pymupdf=text), Trace(drawn, 9, 1.0), "logical")
    assert [each.repairs for each in found] == [()]


def test_pieces_that_poppler_cut_are_one_word_again() -> None:
    pieces = (
        Word("েবাড", (0, 0, 30, 12), 10),
        Word("next", (40, 0, 60, 12), 10),
        Word("র্", (28, 1, 28, 12), 10),
        Word("below", (0, 20, 30, 32), 10),
    )
    whole = joined_cut_words(pieces)
    assert [word.text for word in whole] == ["েবাডর্", "next", "below"]
    assert visual_order(whole)[0][0].text == "বোর্ড"


def test_bijoy_words_are_converted_by_the_fonts_of_their_glyphs() -> None:
    mixed = Word(
        "(ag©)A",
        (0, 0, 9, 9),
        9,
        False,
        "Times",
        tuple("(ag©)A"),
        ("Times", *["SutonnyMJ"] * 3, "Times", "Times"),
    )
    other = Word("miKvi", (9, 0, 19, 9), 9, False, "SutonnyMJ")
    (first, second, third), wrong = bijoy_converted((mixed, other, Word("Act", (0, 0, 1, 1))))
    assert (first.text, second.text, third.text, wrong) == ("(ধর্ম)A", "সরকার", "Act", 0)


def test_legacy_fonts_on_a_page() -> None:
    words = (Word("x", (0, 0, 1, 1), 9, False, "Boishakhi"),)
    assert legacy_font([Reading("pdfium", words)], Trace((), 0, 0.0)) == "Boishakhi"
    assert legacy_font(readings(pymupdf="x"), trace()) == ""


def test_normal_form_and_bullets() -> None:
    words = laid_out(["ক\u200bো", "\uf0b7", "\u200b", "হ\u09df"])
    assert [word.text for word in unicode_nfc(words)] == ["কো", "•", "হয\u09bc"]


def test_characters_are_counted_apart_from_their_spelling() -> None:
    assert count_characters("কো") == count_characters("ক ো") == 3
    assert count_characters("র\u200d্য \u200b\n") == 3
    assert overlap(Counter(), Counter()) == 1.0


@given(st.lists(st.text(alphabet="কািের্ ab৫\u200b\uf0b7", min_size=1, max_size=6), max_size=12))
def test_repairs_keep_every_character(texts: list[str]) -> None:
    words = laid_out(texts)
    for repaired in (
        joined_cut_words(words),
        joined_by_boxes(words, words),
        visual_order(words)[0],
        unicode_nfc(words),
    ):
        assert count_characters("".join(word.text for word in repaired)) == count_characters(
            "".join(texts)
        )
