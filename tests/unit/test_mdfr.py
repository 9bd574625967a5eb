from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, normalizers

from scripts.tokenisation.mdfr import (
    Fragmentation,
    Piece,
    fragmentation,
    readable_bytes,
    text_fragmentation,
    visible_pieces,
)
from scripts.tokenisation.semantic_baseline import Unit, is_invisible, semantic_units, trimmed
from scripts.tokenisation.tokenisers import (
    Token,
    Tokeniser,
    from_description,
    from_encoding,
    readable_text,
)
from scripts.tokenisation.weights import ORIGINAL_WEIGHTS, normalise_weights
from tests.real_tokenisers import NEEDED, real
from tests.small_tokeniser import description, small_encoding

WEIGHTS = (0.2, 0.2, 0.1, 0.5)
ORIGINAL = normalise_weights(ORIGINAL_WEIGHTS)


class SemanticTokeniser(Tokeniser):
    """The baseline itself as a tokeniser."""

    def tokens(self, text: str) -> list[Token]:
        return [
            Token(unit.text, unit.start, unit.start + len(unit.text), unit.text.encode())
            for unit in semantic_units(readable_text(text))
        ]


def byte_fallback(*, prepend: bool = True) -> Tokeniser:
    """A SentencePiece-like BPE: digits, some letters, a mark before the text, bytes otherwise."""
    signs = ["<unk>", *(f"<0x{byte:02X}>" for byte in range(256)), "\u2581", *"0123456789.-abc"]
    vocabulary = {sign: number for number, sign in enumerate(signs)}
    built = Tokenizer(
        models.BPE(vocab=vocabulary, merges=[], unk_token="<unk>", byte_fallback=True)
    )
    steps: list[normalizers.Normalizer] = [normalizers.Prepend("\u2581")] if prepend else []
    built.normalizer = normalizers.Sequence([*steps, normalizers.Replace(" ", "\u2581")])
    return from_description("byte fallback", built.to_str())


def encoding(*joined: bytes) -> Tokeniser:
    return from_encoding(small_encoding(*joined))


BUILDERS: dict[str, Callable[[], Tokeniser]] = {
    "byte_level": lambda: from_description("small", description(("10", "20", "Okt", "ober"))),
    "byte_fallback": byte_fallback,
    "tiktoken": lambda: encoding(b"2034", b" Okt", "é".encode()),
    "baseline": lambda: SemanticTokeniser("baseline", "", None),
}
TOKENISERS = {name: build() for name, build in BUILDERS.items()}

#: Anything that a Python string can hold, lone surrogates included, and much of what dates hold.
ANY_TEXT = st.text(
    st.one_of(
        st.characters(exclude_categories=()),
        st.sampled_from("0123456789٠١٢٣٤٥٦٧٨٩年月日闰廿. -/,'’هـAHOktober\u200e\u2581Ġ\n"),
    ),
    max_size=40,
)


def shown(text: str, tokeniser: Tokeniser) -> list[str]:
    return [piece.text for piece in visible_pieces(text, tokeniser)]


@pytest.mark.parametrize(
    ("text", "units"),
    [
        ("10. Oktober 2034", ["10", ".", "Oktober", "2034"]),
        ("\u200e2023-07-03\u200e", ["2023", "-", "07", "-", "03"]),
        ("2023年07月03日", ["2023", "年", "07", "月", "03", "日"]),
        ("二零二三年闰二月十一", ["二零二三", "年", "闰二", "月", "十一"]),
        ("15 Rabi'ul Awwal 1444 AH", ["15", "Rabi'ul", "Awwal", "1444", "AH"]),
        ("Rabi’ al-Awwal", ["Rabi", "’", "al-Awwal"]),
        ("١٥ ذو الحجة ١٤٤٤ هـ", ["١٥", "ذو", "الحجة", "١٤٤٤", "هـ"]),
        ("3rd of July", ["3", "rd", "of", "July"]),
        ("1٢3", ["1", "٢", "3"]),
        ("März 1.", ["März", "1", "."]),
        ("--", ["-", "-"]),
        ("a- -b", ["a", "-", "-", "b"]),
        ("", []),
        (" \t\u200f\ufeff", []),
    ],
)
def test_baseline_units(text: str, units: list[str]) -> None:
    assert [unit.text for unit in semantic_units(text)] == units


def test_trimming_takes_only_what_is_invisible_at_the_ends() -> None:
    assert trimmed("\u200e 1 \u200e0 \u200e") == "1 \u200e0"
    assert trimmed(" \u200e") == trimmed("") == ""


@given(ANY_TEXT)
def test_units_hold_every_visible_character_once(text: str) -> None:
    units = semantic_units(text)
    assert "".join(unit.text for unit in units) == "".join(c for c in text if not is_invisible(c))
    assert all(text[unit.start :].startswith(unit.text) for unit in units)
    assert all(a.start + len(a.text) <= b.start for a, b in pairwise(units))
    assert {unit.kind for unit in units} <= {"number", "word", "delimiter"}


@pytest.mark.parametrize("name", sorted(TOKENISERS))
@given(text=ANY_TEXT)
def test_every_term_lies_between_0_and_1(name: str, text: str) -> None:
    tokeniser = TOKENISERS[name]
    found = text_fragmentation(text, tokeniser)
    assert all(0 <= value <= 1 for value in found[:4])
    assert 0 <= found.score(WEIGHTS) <= 1
    assert found.tokens == len(visible_pieces(text, tokeniser))
    assert found.split in {0, 1} and found.delimiter in {0, 1}
    # No split unit and no lost delimiter, and as many pieces as units: then the bags are equal.
    if not (found.split or found.delimiter) and found.tokens == found.baseline_units:
        assert found.theta == pytest.approx(0, abs=1e-12)
    if found.theta == 0:
        assert found.score(WEIGHTS) == 0
    assert all(piece.text for piece in visible_pieces(text, tokeniser))


@given(ANY_TEXT)
def test_the_baseline_scores_zero(text: str) -> None:
    found = text_fragmentation(text, TOKENISERS["baseline"])
    assert found[:4] == (0, 0, 0, 0)
    assert found.tokens == found.baseline_units
    assert found.score(WEIGHTS) == found.score(ORIGINAL) == 0


@given(ANY_TEXT, st.randoms(use_true_random=False))
def test_order_does_not_matter(text: str, random: object) -> None:
    pieces = visible_pieces(text, TOKENISERS["byte_level"])
    shuffled = list(pieces)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert fragmentation(pieces, semantic_units(text)) == fragmentation(
        shuffled, semantic_units(text)
    )


@given(ANY_TEXT)
def test_two_kinds_of_byte_tokenisers_agree(text: str) -> None:
    """Bytes as tokens give the same pieces, whatever the file format of the tokeniser."""
    bytes_only = encoding()
    plain = from_description("bytes", description(()))
    assert visible_pieces(text, bytes_only) == visible_pieces(text, plain)


@pytest.mark.parametrize("name", ["byte_level", "byte_fallback", "tiktoken"])
def test_nothing_visible_is_not_fragmented(name: str) -> None:
    for text in ("", " ", "\n\u200e \u3000"):
        found = text_fragmentation(text, TOKENISERS[name])
        assert found == Fragmentation(0, 0, 0, 0, 0, 0)
        assert found.score(WEIGHTS) == 0


def test_bytes_of_a_character_are_opaque_and_readable() -> None:
    pieces = visible_pieces("٣ 3", encoding())
    assert pieces == [Piece("<D9>", True), Piece("<A3>", True), Piece("3")]
    assert visible_pieces("٣ 3", byte_fallback()) == pieces
    assert readable_bytes("aé".encode() + b"\xe6\x9c") == "aé<E6><9C>"
    # Two equal bytes are two kinds: theta sees four different pieces, not two of each.
    found = text_fragmentation("٣٣", encoding())
    assert found.tokens == 4
    assert found.theta == 1
    assert [p.text for p in visible_pieces("٣٣", encoding())] == ["<D9>", "<A3>"] * 2


def test_a_token_over_two_characters_with_a_part_of_one() -> None:
    # " Ø" of p50k: a space, and the first byte of the letter.
    tokeniser = encoding(b" \xd8")
    assert visible_pieces("1 أ", tokeniser) == [
        Piece("1"),
        Piece("<D8>", True),
        Piece("<A3>", True),
    ]


def test_the_mark_before_a_text_is_no_piece() -> None:
    with_mark, without = byte_fallback(), byte_fallback(prepend=False)
    assert with_mark.counts(["10"]) == [3]
    assert shown("10 ab", with_mark) == shown("10 ab", without) == ["1", "0", "a", "b"]


def test_marks_of_direction_are_neither_pieces_nor_units() -> None:
    for tokeniser in TOKENISERS.values():
        assert shown("\u200e10-10\u200e", tokeniser) == shown("10-10", tokeniser)


def test_lone_surrogates_become_replacement_characters() -> None:
    for tokeniser in TOKENISERS.values():
        assert shown("1\ud800", tokeniser) == shown("1\ufffd", tokeniser)


def test_the_unknown_token_matches_nothing() -> None:
    vocabulary = {"[UNK]": 0, "Oktober": 1, "2034": 2}
    built = Tokenizer(models.WordLevel(vocab=vocabulary, unk_token="[UNK]"))
    tokeniser = from_description("words", built.to_str())
    pieces = visible_pieces("Oktoba", tokeniser)
    assert pieces == [Piece("Oktoba", opaque=True)]
    found = fragmentation(pieces, semantic_units("Oktoba"))
    assert (found.split, found.theta, found.tokens) == (1, 1, 1)
    assert text_fragmentation("Oktober", tokeniser).score(WEIGHTS) == 0


def units(*texts: str) -> list[Unit]:
    return [unit for text in texts for unit in semantic_units(text)]


def pieces(*texts: str) -> list[Piece]:
    return [Piece(text) for text in texts]


def test_worked_check_by_hand() -> None:
    found = fragmentation(
        pieces("1", "0", ".", "Oktober", "2", "0", "3", "4"), units("10. Oktober 2034")
    )
    assert found[:3] == (1, 0, 1)
    assert (found.tokens, found.baseline_units) == (8, 4)
    # Shared: "." and "Oktober"; the pieces hold "0" twice.
    assert found.theta == pytest.approx(1 - 2 / math.sqrt(10 * 4))
    assert found.theta == pytest.approx(0.6838, abs=5e-5)
    assert found.score(WEIGHTS) == pytest.approx(0.6419, abs=5e-5)
    assert found.score(ORIGINAL) == pytest.approx(0.1818 + 0.0909 + 0.5455 * found.theta, abs=1e-4)


def test_lost_delimiters_and_repeated_units() -> None:
    merged = fragmentation(pieces("10.", "10", ".", "2034"), units("10.10.2034"))
    # The second full stop is there, the first is not: one of two is lost, and one "10" is split.
    assert merged[:3] == (1, 1, 0)
    only_delimiter = fragmentation(pieces("2034", "-", "10", "-10", "10"), units("2034-10-10"))
    assert only_delimiter[:2] == (0, 1)
    assert fragmentation(pieces("月", "1"), units("1月"))[:4] == (0, 0, 0, 0)


def test_no_units_or_no_pieces() -> None:
    assert fragmentation([], units("1."))[:4] == (1, 1, 0, 1)
    assert fragmentation(pieces("x"), [])[:4] == (0, 0, 1, 1)


@pytest.mark.parametrize(
    "weights", [(1, 0, 0), (0.5, 0.5, 0.5, 0.5), (-0.1, 0.4, 0.2, 0.5), (math.nan, 0, 0, 1)]
)
def test_weights_that_are_none(weights: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match="weights"):
        Fragmentation(1, 0, 1, 0.5, 2, 1).score(weights)


def test_earlier_weights_are_those_of_table_7() -> None:
    assert [round(weight, 4) for weight in ORIGINAL] == [0.1818, 0.1818, 0.0909, 0.5455]


@NEEDED
def test_worked_check_of_gemma_3() -> None:
    gemma = real("gemma3")
    assert shown("10. Oktober 2034", gemma) == ["1", "0", ".", "Oktober", "2", "0", "3", "4"]
    found = text_fragmentation("10. Oktober 2034", gemma)
    assert (found.tokens, found.baseline_units) == (8, 4)
    assert found.theta == pytest.approx(0.6838, abs=5e-5)
    assert found.score(WEIGHTS) == pytest.approx(0.6419, abs=5e-5)
    assert shown("٢٧ رجب ١٤٤١ هـ", gemma) == [*"٢٧", "ر", "جب", *"١٤٤١", "ه", "ـ"]
    assert shown("Oktoba", gemma) == ["O", "kt", "oba"]


@NEEDED
@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("10. Oktober 2034", 0.642),
        ("October 10, 2034", 0.642),
        ("2034年10月10日", 0.662),
        ("٢٧ رجب ١٤٤١ هـ", 0.800),
        ("27 Rajab 1456 AH", 0.717),
        ("辛亥年五月廿三", 0.486),
        ("١٠ أكتوبر ٢٠٣٤", 0.704),
        ("10 October 2034", 0.704),
        ("Oktoba 10, 2034", 0.728),
    ],
)
def test_equation_1_on_the_strings_of_table_2(text: str, score: float) -> None:
    assert text_fragmentation(text, real("gemma3")).score(WEIGHTS) == pytest.approx(score, abs=5e-4)


@NEEDED
@pytest.mark.parametrize("name", ["llama2", "p50k_base", "olmo_v1_5", "qwen3", "deepseek_v3"])
def test_pieces_of_real_tokenisers_add_up(name: str) -> None:
    for text in ("10. Oktober 2034", "辛亥年 五月廿三", "١٠ أكتوبر ٢٠٣٤", "Sha'aban é́ \u200e1"):
        found = visible_pieces(text, real(name))
        visible = "".join(sign for sign in text if not is_invisible(sign))
        if not any(piece.opaque for piece in found):
            assert "".join("".join(piece.text.split()) for piece in found) == visible
        for piece in found:
            assert piece.opaque or piece.text in text
