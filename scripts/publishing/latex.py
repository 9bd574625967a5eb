"""Text for LaTeX: nothing that a model or a document wrote reaches TeX as markup.

`escape` is the only door. It knows which characters the paper's fonts can draw; everything else,
control and direction characters included, is printed as its code point, so that hostile text is
visible as text and the compile log stays free of "Missing character".
"""

from __future__ import annotations

import re
import unicodedata
from itertools import groupby

from scripts.publishing.text import code_point

EN_DASH = "–"
MINUS = "−"
BREAK = r"\allowbreak{}"

# Characters with a meaning in TeX or that the font's TeX ligatures would turn into other signs.
_SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "`": r"\textasciigrave{}",
    "'": r"\textquotesingle{}",
    '"': r"\textquotedbl{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    # Signs that the text font lacks.
    "−": r"\ensuremath{-}",
    "≈": r"\ensuremath{\approx}",
    "≠": r"\ensuremath{\neq}",
    "≤": r"\ensuremath{\leq}",
    "≥": r"\ensuremath{\geq}",
    "∞": r"\ensuremath{\infty}",
    "→": r"\ensuremath{\to}",
}

# Drawn by the main font (Noto Serif); checked against the font itself by a test.
_MAIN = (
    (0x0020, 0x007E),
    (0x00A1, 0x00AC),
    (0x00AE, 0x02AF),
    (0x0391, 0x03A1),
    (0x03A3, 0x03CE),
    (0x0400, 0x045F),
    (0x1E00, 0x1EFF),
    (0x2010, 0x2015),
    (0x2018, 0x201E),
    (0x2020, 0x2022),
    (0x2026, 0x2026),
    (0x2030, 0x2030),
    (0x2039, 0x203A),
    (0x20AC, 0x20AC),
    (0x2122, 0x2122),
)
# Drawn by the CJK font, which xeCJK chooses by itself.
_CJK = (
    (0x3001, 0x3002),
    (0x3005, 0x3007),
    (0x3008, 0x3011),
    (0x3041, 0x3096),
    (0x30A1, 0x30FA),
    (0x4E00, 0x9FA5),
    (0xFF01, 0xFF5E),
)
_ARABIC = (
    (0x060C, 0x060C),
    (0x061B, 0x061B),
    (0x061F, 0x061F),
    (0x0621, 0x063A),
    (0x0640, 0x0652),
    (0x0660, 0x0669),
    (0x0670, 0x06D3),
    (0x06F0, 0x06F9),
)
_BENGALI = (
    (0x0981, 0x0983),
    (0x0985, 0x098C),
    (0x098F, 0x0990),
    (0x0993, 0x09A8),
    (0x09AA, 0x09B0),
    (0x09B2, 0x09B2),
    (0x09B6, 0x09B9),
    (0x09BC, 0x09C4),
    (0x09C7, 0x09C8),
    (0x09CB, 0x09CE),
    (0x09E6, 0x09EF),
)
# Marks that say a direction and change none of ours; printed small, by name.
_MARKS = {"\u200e": "LRM", "\u200f": "RLM"}
# Signs between Arabic words that the Arabic font has too.
_ARABIC_SIGNS = frozenset(" .,:!")
# In a right-to-left run brackets open to the other side; XeTeX does not mirror the main font's.
_MIRRORED = str.maketrans("()[]{}<>«»‹›", ")(][}{><»«›‹")
_SCRIPTS = {"plain": (*_MAIN, *_CJK), "arabic": _ARABIC, "bengali": _BENGALI}


def _script(character: str) -> str:
    if character in _SPECIAL:
        return "plain"
    if character in _MARKS:
        return "mark"
    point = ord(character)
    for script, ranges in _SCRIPTS.items():
        if any(low <= point <= high for low, high in ranges):
            return script
    return "code"


def escape(text: str) -> str:
    """Text as LaTeX source that prints it: whatever it holds is never a command.

    A character that no font of the paper can draw, a control character, an embedding or a lone
    surrogate comes out as its code point, a left-to-right or right-to-left mark as its name in
    small letters. Runs in Arabic and Bengali script are set in their fonts. A text whose first
    letter is Arabic runs from right to left as a whole, and so does every Arabic phrase with its
    spaces, signs and numbers inside another text (Unicode bidirectional algorithm, rules P2 and
    N1). The result is valid UTF-8, has no newline and no blank line.
    """
    return "".join(
        _right_to_left(part) if is_rtl else _left_to_right(part) for is_rtl, part in _spans(text)
    )


def _left_to_right(text: str) -> str:
    out: list[str] = []
    for script, run in groupby(text, key=_script):
        characters = list(run)
        if script == "code":
            codes = "".join(code_point(c) for c in characters)
            out.append(rf"\texttt{{{''.join(_SPECIAL.get(c, c) for c in codes)}}}")
        elif script == "mark":
            out += [rf"\directionmark{{{_MARKS[c]}}}" for c in characters]
        elif script == "plain":
            source = "".join(_SPECIAL.get(c, c) for c in characters)
            # Two hyphens or two commas in a row would become one other sign.
            out.append(re.sub(r"([-,])(?=\1)", r"\1{}", source))
        else:
            out.append(rf"\text{script}{{{''.join(characters)}}}")
    return "".join(out)


def _direction(character: str) -> str:
    """A for Arabic, L for what runs from left to right, D for numbers and marks, N for the rest."""
    script = _script(character)
    if script == "arabic":
        return "A"
    if script == "mark" or character in "0123456789":
        return "D"
    neutral = script == "plain" and not character.isalpha()
    return "N" if neutral else "L"


def _spans(text: str) -> list[tuple[bool, str]]:
    """The text in parts, each with whether it runs from right to left."""
    directions = "".join(map(_direction, text))
    if "A" not in directions:
        return [(False, text)]
    if re.match("[DN]*A", directions):
        return [(True, text)]
    spans: list[tuple[bool, str]] = []
    end = 0
    for found in re.finditer("A(?:[ADN]*A)?", directions):
        if found.start() > end:
            spans.append((False, text[end : found.start()]))
        spans.append((True, text[found.start() : found.end()]))
        end = found.end()
    return [*spans, (False, text[end:])] if end < len(text) else spans


def _right_to_left(text: str) -> str:
    """A right-to-left run: Arabic in its font; numbers and Latin text inside from left to right."""
    directions = "".join(map(_direction, text))
    out: list[str] = []
    position = 0
    for found in re.finditer("[LD](?:[LDN]*[LD])?", directions):
        out += _arabic(text[position : found.start()])
        out.append(rf"\latinrun{{{_left_to_right(text[found.start() : found.end()])}}}")
        position = found.end()
    out += _arabic(text[position:])
    return rf"\textarabic{{{''.join(out)}}}"


def _arabic(text: str) -> list[str]:
    """Arabic text, with the signs that its font lacks in the main font, mirrored where they are."""
    out: list[str] = []
    for is_own, run in groupby(text, key=lambda c: c in _ARABIC_SIGNS or _script(c) == "arabic"):
        characters = "".join(run)
        if is_own:
            out.append(characters)
        else:
            out.append(rf"\latinsign{{{_left_to_right(characters.translate(_MIRRORED))}}}")
    return out


def escape_prose(text: str) -> str:
    """`escape` for our own sentences: a straight apostrophe becomes a typographic one."""
    return escape(text.replace("'", "’"))


def escape_breakable(text: str, every: int = 8) -> str:
    """Like `escape`, with a possible line break after every few characters of an unbroken word.

    A right-to-left run breaks at its spaces only: its letters join.
    """
    return "".join(
        _right_to_left(part) if is_rtl else _breakable(part, every) for is_rtl, part in _spans(text)
    )


def _breakable(text: str, every: int) -> str:
    out: list[str] = []
    # Chinese breaks between its characters by itself, and never before a closing sign.
    for is_cjk, run in groupby(text, key=_is_cjk):
        characters = "".join(run)
        if is_cjk:
            out.append(_left_to_right(characters))
            continue
        for part in re.split(r"( +)", characters):
            chunks = [part[i : i + every] for i in range(0, len(part), every)]
            out.append(BREAK.join(piece for chunk in chunks for piece in _pieces(chunk)))
    return "".join(out)


def _is_cjk(character: str) -> bool:
    return any(low <= ord(character) <= high for low, high in _CJK)


def _pieces(text: str) -> list[str]:
    """Escaped text cut where a line may break: around every character that prints as its code."""
    out: list[str] = []
    for script, run in groupby(text, key=_script):
        characters = "".join(run)
        parts = list(characters) if script == "code" else [characters]
        out += map(_left_to_right, parts)
    return out


def escape_path(text: str) -> str:
    """`escape` for paths and names: a line may break after a slash, a dot or an underscore."""
    return BREAK.join(escape(part) for part in re.split(r"(?<=[/._])", text))


def macro_name(name: str) -> str:
    """A command name made of ASCII letters only, as TeX wants it.

    Raises ValueError when the name holds anything else or is empty.
    """
    if not re.fullmatch(r"[A-Za-z]+", name):
        raise ValueError(f"macro name {name!r}: use the letters A-Z and a-z only")
    return name


def new_command(name: str, body: str) -> str:
    r"""One `\newcommand` line; `body` is LaTeX source (escape foreign text first)."""
    return rf"\newcommand{{\{macro_name(name)}}}{{{body}}}"


def label(name: str) -> str:
    """A reference label of letters, digits and hyphens made from any name."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    return re.sub(r"[^A-Za-z0-9]+", "-", plain).strip("-").lower()
