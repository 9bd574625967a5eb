"""Text as it is read: what different spellings of the same words and digits share."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

_STRUCK = re.compile(r"~~[^~\n]{1,400}~~|<del>[^<\n]{1,400}</del>|<s>[^<\n]{1,400}</s>")
_LATEX_TEXT = re.compile(r"\\(?:text|mathrm|mathbf|textbf) ?\{([^{}\n]{0,200})\}")
_LATEX_SPACE = re.compile(r"\\(?:quad\b|[,;:! ])")
_MARKS = str.maketrans(
    {
        # fold() of signs.py drops these from names; a text loses the same characters.
        **dict.fromkeys("'’‘ʼʻ`´ʿʾ‛′ˈ\u0640"),
        **dict.fromkeys("\u200b\u200c\u200d\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e"),
        **dict.fromkeys("\u2060\u2066\u2067\u2068\u2069\ufeff\u00ad"),
        **dict.fromkeys("‐‑‒–—−―", "-"),
        **dict.fromkeys("_\u00a0", " "),
        **dict.fromkeys("∕⁄", "/"),
        **dict.fromkeys("“”„«»″", '"'),
        "،": ",",
        "、": ",",
        "؛": ";",
        "؟": "?",
        "٫": ".",
        "٬": ",",
        "ى": "ي",
        "ة": "ه",
        "ٱ": "ا",
        "ی": "ي",
        "ک": "ك",
        "ƙ": "k",
        "ɗ": "d",
        "ɓ": "b",
        **{d: "^" + str(i) for i, d in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")},
        **dict.fromkeys("½⅓¼¾⅔", " fraction "),
        # Ligatures of whole phrases: no answer, and a text would grow eighteenfold.
        **dict.fromkeys(map(chr, range(0xFDF0, 0xFE00)), " "),
    }
)
_THIN_GROUP = re.compile(r"(?<=\d)[\u00a0\u2009\u202f](?=\d{3}(?!\d))")
_EMPHASIS = re.compile(r"(?<!\d)\*{1,3}|\*{1,3}(?!\d)|~~")
_INNER_HYPHEN = re.compile(r"(?<=[^\W\d_])-(?=[^\W\d_])")
_BLANKS = re.compile(r"[^\S\n]+")


def normalise(text: str) -> str:
    """The text as it is read: folded like `signs.fold`, with full stops and line ends kept.

    Lower case, no accents, vowel signs, invisible marks, apostrophes or emphasis marks; ASCII
    digits for every script's positional digits; what is struck through is left out.
    """
    text = _THIN_GROUP.sub("", _STRUCK.sub(" ", text)).casefold().translate(_MARKS)
    if not text.isascii():
        text = "".join(map(_plain, unicodedata.normalize("NFKD", text)))
        text = text.casefold().translate(_MARKS)
    text = _LATEX_SPACE.sub(" ", _LATEX_TEXT.sub(r" \1 ", text)).replace("$", " ")
    text = _INNER_HYPHEN.sub(" ", _EMPHASIS.sub("", text))
    return _BLANKS.sub(" ", text)


def _plain(character: str) -> str:
    if character.isascii():
        return character
    if unicodedata.combining(character):
        return ""
    digit = unicodedata.decimal(character, None)
    return character if digit is None else str(digit)


#: One letter, as a part of a pattern.
LETTER = r"[^\W\d_]"


def alternatives(words: Iterable[str]) -> str:
    """A pattern of any of the words, the longest first."""
    return "|".join(re.escape(word) for word in sorted(set(words), key=lambda w: (-len(w), w)))


def is_chinese(word: str) -> bool:
    """True for a word that begins with a Chinese character (no blanks around words there)."""
    return "\u4e00" <= word[0] <= "\u9fff"


def blanked(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """The text with spans (in order, apart) replaced by line ends, which join nothing."""
    parts: list[str] = []
    position = 0
    for start, end in spans:
        parts += [text[position:start], "\n" * (end - start)]
        position = end
    return "".join([*parts, text[position:]])
