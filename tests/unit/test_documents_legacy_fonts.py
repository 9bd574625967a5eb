"""Legacy Bengali fonts: recognised by name or by letters, converted where the tables agree."""

import pytest
from documents_pdfs import ENGINES, legacy
from hypothesis import given
from hypothesis import strategies as st

from scripts.documents.bengali_order import normalise, order_faults
from scripts.documents.legacy_fonts import (
    bijoy_to_unicode,
    font_kind,
    is_mojibake,
    unknown_characters,
)
from scripts.documents.reading import read_pdf
from scripts.tide.documents.embedded_corpus import to_legacy

KNOWN = {
    "evsjv‡`k": "বাংলাদেশ",
    "miKvi": "সরকার",
    "cÖÁvcb": "প্রজ্ঞাপন",
    "Kg©KZ©v": "কর্মকর্তা",
    "KZ©…c¶": "কর্তৃপক্ষ",
    "ˆR¨ô": "জ্যৈষ্ঠ",
    "A_©eQi": "অর্থবছর",
    "¯^vaxb": "স্বাধীন",
    "m¤ú~Y©": "সম্পূর্ণ",
    "¯’vbxq": "স্থানীয়",
    "i¨ve": "র‍্যাব",
    "Avw_©K": "আর্থিক",
    "c„ôv": "পৃষ্ঠা",
    "n¯ÍvšÍi": "হস্তান্তর",
    "¯‹zj": "স্কুল",
    "iƒc": "রূপ",
    "A½xKvi": "অঙ্গীকার",
    "•LÐ"[:2]: "ঙ্খ",
    "¯¿x": "স্ত্রী",
    "e¯‘": "বস্তু",
    "D”Q": "উচ্ছ",
    "MÖæc": "গ্রুপ",
    "1972|": "১৯৭২।",
}


@pytest.mark.parametrize(("written", "expected"), KNOWN.items())
def test_known_words(written: str, expected: str) -> None:
    assert bijoy_to_unicode(written) == (normalise(expected), 0)


@pytest.mark.parametrize(
    "written",
    ["e¨Ð", "š", "šv", "¯", "’v", "—", ":—", "”K", "•c", "“", "FICTIONAL", "the", "section", "K²",
     "š›K", "‡"],
)  # fmt: skip
def test_what_the_tables_do_not_say_is_a_fault(written: str) -> None:
    text, wrong = bijoy_to_unicode(written)
    assert wrong + order_faults(text) >= 1


def test_codes_of_the_private_area_are_read_as_bytes() -> None:
    private = "".join(chr(0xF000 + ord(c)) for c in "miKvi")
    assert bijoy_to_unicode(private) == ("সরকার", 0)


def test_an_independent_encoder_comes_back(shared_data) -> None:  # type: ignore[no-untyped-def]
    files = sorted((shared_data / "bdlaws").glob("act-15*.txt"))
    if not files:
        pytest.skip("no law texts here")
    words = {w for file in files for w in normalise(file.read_text(encoding="utf-8")).split()}
    words = {w for w in words if w and all("\u0980" <= c <= "\u09e5" for c in w)}
    back = {word: bijoy_to_unicode(to_legacy(word)) for word in words}
    sound = {word: text for word, (text, wrong) in back.items() if not wrong}
    assert len(sound) > 0.99 * len(words) > 2000
    assert {word for word, text in sound.items() if text != word} == set()


BYTES = "".join(bytes([b]).decode("cp1252", "ignore") for b in range(33, 256))


@given(st.text(alphabet=BYTES, max_size=12))
def test_any_bytes_can_be_read(text: str) -> None:
    converted, wrong = bijoy_to_unicode(text)
    assert wrong >= 0
    assert converted or not text


@pytest.mark.parametrize(
    ("font", "kind"),
    [
        ("SutonnyMJ", "bijoy"),
        ("ABCDEF+SutonnyMJ-Bold", "bijoy"),
        ("AAAAAA+ChandrabatiMJ,Bold", "bijoy"),
        ("Sutonny MJ", "bijoy"),
        ("SutonnyOMJ", ""),
        ("SutonnyUniBanglaOMJ", ""),
        ("Boishakhi", "legacy"),
        ("AdarshaLipiNormal", "legacy"),
        ("NotoSerifBengali-Regular", ""),
        ("TimesNewRomanPSMT", ""),
        ("", ""),
    ],
)
def test_fonts_by_name(font: str, kind: str) -> None:
    assert font_kind(font) == kind


def test_mojibake_by_its_letters() -> None:
    assert is_mojibake(["evsjv‡`k", "miKvi", "cÖÁvcb"])
    assert is_mojibake(["রাজǆ", "Éাপন", "ব"])
    for text in (
        "Customs Act, 1969 © 2020 § 19 † note 5° ±3 “quoted” Côte d’Ivoire Türkiye São Tomé",
        "জাতীয় রাজস্ব বোর্ড — প্রজ্ঞাপন (১)",
        "",
    ):
        assert not is_mojibake(text.split())


def test_glyphs_without_a_meaning_are_counted() -> None:
    assert unknown_characters("ab\ufffdc\ue000\uffff\x01") == 4
    assert unknown_characters("(cid:12) ok") == 8
    assert unknown_characters("ধারা ৫\n\t— ক") == 0


def test_a_page_in_a_bijoy_font_is_converted(tmp_path) -> None:  # type: ignore[no-untyped-def]
    path = legacy(tmp_path / "a.pdf", ["miKvi KZ©…K cÖÁvcb Rvwi", "Kg©KZ©v (1) A_©eQi| ˆR¨ô"])
    (page,) = read_pdf(path, "a", ENGINES).pages
    assert page.status == "repaired"
    assert page.repairs == ["bijoy_to_unicode"]
    assert "44 characters in" in page.reason
    assert page.text.split() == normalise("সরকার কর্তৃক প্রজ্ঞাপন জারি কর্মকর্তা (১) অর্থবছর। জ্যৈষ্ঠ").split()


def test_legacy_text_that_cannot_be_converted_is_flagged(tmp_path) -> None:  # type: ignore[no-untyped-def]
    lines = ["miKvi KZ©…K cÖÁvcb Rvwi", "Kg©KZ©v evsjv‡`k"]
    for name, font, more in (
        ("b", "Boishakhi", []),
        ("c", "F1", []),
        ("d", "SutonnyMJ", ["e¨Ð DËi"]),
        ("e", "SutonnyMJ", ["the section"]),
    ):
        path = legacy(tmp_path / f"{name}.pdf", [*lines, *more], font)
        (page,) = read_pdf(path, name, ENGINES).pages
        assert (page.status, page.text, page.mojibake) == ("needs_ocr", "", True), font
        assert page.reason
        assert page.characters_in > 0 == page.characters_out
