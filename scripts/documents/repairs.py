"""Named repairs of a page's words. Each keeps every character, and says what it could not place.

| name | what it does |
|---|---|
| unicode_nfc | one spelling of each letter (NFC); signs without width dropped; symbol bullets |
| spaces_from_boxes | words split where the glyphs leave a gap, whatever spaces the engine gave |
| joined_by_boxes | words of an engine joined where the drawn glyphs leave no gap |
| joined_cut_words | pieces that touch in one row are one word (Poppler sets a reph apart) |
| visual_order | glyphs in the order of drawing put in the order of Unicode |
| bijoy_to_unicode | words in a font of the Bijoy encoding converted |
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import replace

from scripts.documents.bengali_order import (
    INVISIBLE,
    ZWJ,
    ZWNJ,
    logical_order,
    normalise,
    pseudo_glyphs,
)
from scripts.documents.engines import Word, joined
from scripts.documents.legacy_fonts import bijoy_to_unicode, font_kind
from scripts.documents.page_tables import text_rows

Words = tuple[Word, ...]

#: Bullets of the Symbol and Wingdings fonts, which come out as private-use characters.
_BULLETS = {0xF0B7: "•", 0xF0A7: "▪", 0xF0D8: "➢", 0xF0FC: "✓", 0xF076: "❖", 0xF06E: "■"}
_UNCOUNTED = dict.fromkeys(map(ord, INVISIBLE + ZWJ + ZWNJ))
#: A gap below this share of the type size is none.
_TOUCHING = 0.06
# A word lies in a drawn one that is wider by this share of the size; height of look-up bands.
_HELD, _BAND = 0.15, 12.0


def count_characters(text: str) -> int:
    """Characters without white space and joiners, split letters apart (so that ো counts as two)."""
    plain = unicodedata.normalize("NFD", text).translate(_UNCOUNTED)
    return sum(not character.isspace() for character in plain)


def unicode_nfc(words: Words) -> Words:
    """Every word in NFC without invisible signs; a word of nothing else goes."""
    out = []
    for word in words:
        text = normalise(word.text.translate(_BULLETS))
        if text:
            out.append(word if text == word.text else replace(word, text=text))
    return tuple(out)


def joined_cut_words(words: Words) -> Words:
    """Words that touch in one row made one; the rows come from the top, each from the left."""
    out: list[Word] = []
    for row in text_rows(words):
        parts: list[Word] = []
        for word in row:
            if parts and not _touches(parts[-1], word):
                out.append(joined(parts))
                parts = []
            parts.append(word)
        out.append(joined(parts))
    return tuple(out)


def joined_by_boxes(words: Words, drawn: Words) -> Words:
    """Neighbouring words joined that lie in one drawn word; the others stay as they are."""
    rows: dict[int, list[Word]] = {}
    for word in drawn:
        rows.setdefault(_band(word), []).append(word)
    out: list[Word] = []
    held: list[Word] = []
    owner: Word | None = None
    for word in words:
        found = _drawn_around(word, rows)
        if held and (found is None or found is not owner):
            out.append(joined(held) if len(held) > 1 else held[0])
            held = []
        held.append(word)
        owner = found
    if held:
        out.append(joined(held) if len(held) > 1 else held[0])
    return tuple(out)


def _band(word: Word) -> int:
    return round((word.box[1] + word.box[3]) / 2 / _BAND)


def _drawn_around(word: Word, rows: dict[int, list[Word]]) -> Word | None:
    """The drawn word whose box holds a word's left and right edges, None where none does."""
    band = _band(word)
    middle = (word.box[1] + word.box[3]) / 2
    for other in (o for b in (band - 1, band, band + 1) for o in rows.get(b, ())):
        slack = _HELD * max(other.size, 1.0)
        across = other.box[0] - slack <= word.box[0] and word.box[2] <= other.box[2] + slack
        if across and other.box[1] <= middle <= other.box[3]:
            return other
    return None


def _touches(a: Word, b: Word) -> bool:
    """Whether b goes on where a ends, without a gap; a reph lies over the end of its word."""
    size = max(a.size, b.size, 1.0)
    return b.box[0] - a.box[2] < _TOUCHING * size


def _each(words: Words, convert: Callable[[Word], tuple[str, int]]) -> tuple[Words, int]:
    """Words with other text, and how many parts could not be placed."""
    out, wrong = [], 0
    for word in words:
        text, misplaced = convert(word)
        wrong += misplaced
        out.append(replace(word, text=text))
    return tuple(out), wrong


def visual_order(words: Words) -> tuple[Words, int]:
    """Words in logical order, from their glyphs or, where there are none, from their text."""
    return _each(words, lambda word: _in_order(word.text, word.glyphs))


_BENGALI = re.compile("[\u0980-\u09ff]")


def _in_order(text: str, glyphs: Sequence[str]) -> tuple[str, int]:
    if not _BENGALI.search(text):
        return text, 0
    return logical_order(glyphs or pseudo_glyphs(text))


def has_bijoy(words: Words) -> bool:
    """Whether a word stands in a font of the Bijoy encoding."""
    return any(font_kind(font) == "bijoy" for word in words for font in {word.font, *word.fonts})


def bijoy_converted(words: Words) -> tuple[Words, int]:
    """Words of Bijoy fonts in Unicode; a word that stands in two kinds of font is cut between."""
    return _each(words, _convert)


def _convert(word: Word) -> tuple[str, int]:
    """The word's text; runs of glyphs in Bijoy fonts are converted, the others stay."""
    if not word.glyphs:
        return bijoy_to_unicode(word.text) if font_kind(word.font) == "bijoy" else (word.text, 0)
    out, wrong = "", 0
    run, kind = "", ""
    for glyph, font in [*zip(word.glyphs, word.fonts, strict=True), ("", None)]:
        this = font_kind(font) if font is not None else None
        if run and this != kind:
            text, misplaced = bijoy_to_unicode(run) if kind == "bijoy" else (run, 0)
            out, wrong, run = out + text, wrong + misplaced, ""
        run, kind = run + glyph, this or ""
    return out, wrong
