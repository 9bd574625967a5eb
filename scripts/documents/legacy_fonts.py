"""Bengali in fonts from before Unicode: found by font name or by its Latin letters, and converted.

Such a font draws Bengali under the codes of Windows-1252, so that the text layer reads as
`evsjv‡`k` for বাংলাদেশ. The fonts of the Bijoy keyboard (SutonnyMJ and its kin, whose names end in
MJ) share one encoding; it is converted where every sign is one on which published tables of the
encoding agree. All other legacy fonts are recognised and left to a reader of pictures.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from scripts.documents.bengali_order import CONSONANTS, HASANTA, logical_order

_SUBSET = re.compile(r"^[A-Z]{6}\+")
_BIJOY = re.compile(r"sutonny|[a-z]{3,}MJ\b", re.I)
_UNICODE_SUTONNY = re.compile(r"OMJ|Uni", re.I)
_OTHER_LEGACY = re.compile(
    r"boishakhi|adarsha|sulekha|bornosoft|proshika|falguni|lekhoni|ekush|alpona|shree-?beng"
    r"|bangsee|tanmatra|bn-?tt-?durga|aabp|satyajit",
    re.I,
)

_WHOLE: dict[str, str] = dict(
    zip(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZ_`abcdefghijklmnopqrstuvwxyz~0123456789|",
        "অইঈউঊঋএঐওঔকখগঘঙচছজঝঞটঠডঢণতথদধনপফবভমযরলশষসহ\u09dc\u09dd\u09dfৎংঃঁািীুুূ০১২৩৪৫৬৭৮৯।",
        strict=True,
    )
)
_WHOLE |= {
    "‚": "ূ", "ƒ": "ূ", "„": "ৃ", "…": "ৃ", "†": "ে", "‡": "ে", "ˆ": "ৈ", "‰": "ৈ", "Š": "ৗ",
    "©": "র্", "&": "্", "$": "৳", "Ò": "“", "Ó": "”", "Ô": "‘", "Õ": "’", "Ñ": "—",
    "°": "ক্ক", "±": "ক্ট", "³": "ক্ত", "µ": "ক্র", "¶": "ক্ষ", "ÿ": "ক্ষ", "·": "ক্স", "¸": "গু",
    "»": "গ্ধ", "¼": "ঙ্ক", "½": "ঙ্গ", "¾": "জ্জ", "À": "জ্ঝ", "Á": "জ্ঞ", "Â": "ঞ্চ", "Ã": "ঞ্ছ",
    "Ä": "ঞ্জ", "Å": "ঞ্ঝ", "Æ": "ট্ট", "Ç": "ড্ড", "È": "ণ্ট", "É": "ণ্ঠ", "Ê": "ণ্ড", "Ë": "ত্ত",
    "Ì": "ত্থ", "Î": "ত্র", "Ï": "দ্দ", "×": "দ্ধ", "Ø": "দ্ব", "Ù": "দ্ম", "Ú": "ন্ঠ", "Û": "ন্ড",
    "Ü": "ন্ধ", "Ý": "ন্স", "Þ": "প্ট", "ß": "প্ত", "à": "প্প", "á": "প্স", "â": "ব্জ", "ã": "ব্দ",
    "ä": "ব্ধ", "å": "ভ্র", "ç": "ম্ফ", "é": "ল্ক", "ê": "ল্গ", "ë": "ল্ট", "ì": "ল্ড", "í": "ল্প",
    "î": "ল্ফ", "ï": "শু", "ð": "শ্চ", "ò": "ষ্ণ", "ó": "ষ্ট", "ô": "ষ্ঠ", "ö": "স্খ", "÷": "স্ট",
    "ù": "স্ফ", "û": "হু", "ü": "হৃ", "ý": "হ্ন", "þ": "হ্ম",
}  # fmt: skip
# First halves of conjuncts, and parts that are written below or behind a letter.
_HALF = {"š": "ন্", "›": "ন্", "¯": "স্", "¤": "ম্", "®": "ষ্", "˜": "দ্", "™": "দ্"}
_LOWER = {
    "¡": "্ব", "Ÿ": "্ব", "¦": "্ব", "^": "্ব", "¢": "্ভ", "£": "্ভ্র", "¥": "্ম", "§": "্ম",
    "œ": "্ন", "¨": "্য", "ª": "্র", "«": "্র", "Ö": "্র", "¬": "্ল", "\u00ad": "্ল", "ø": "্ল",
    "ú": "্প", "‹": "্ক", "Œ": "্ক্র", "’": "্থ", "‘": "্তু", "¿": "্ত্র", "—": "্ত", "Í": "্ত",
}  # fmt: skip
# Signs that stand for this only before, or only behind, certain others.
_BEFORE = {"•": ("ঙ্", "KLMN¶"), "”": ("চ্", "PQT")}
_BEHIND = {"“": ("ু", "iª«Öå"), "æ": ("ু", "iª«Ö")}
_ONLY_BEHIND_HALF = "’‘¿—Í"
_PLAIN = set(" \t.,;:!?()[]{}/-+=%*'\"<>#@\\–")
# Four capitals in a row are Latin text that somebody set in the legacy font.
_LATIN = re.compile(r"[A-Z]{4,}")


def font_kind(font: str) -> str:
    """`bijoy` (convertible), `legacy` (known, not convertible) or an empty string."""
    name = _SUBSET.sub("", font).replace(" ", "")
    if _BIJOY.search(name) and not _UNICODE_SUTONNY.search(name):
        return "bijoy"
    return "legacy" if _OTHER_LEGACY.search(name) else ""


def bijoy_to_unicode(text: str) -> tuple[str, int]:
    """(Unicode text, faults) of one word in the Bijoy encoding.

    A fault is a sign outside the table, a half letter without its other half, or a sign that finds
    no letter; a text with faults is not to be trusted. Codes in the private area F0xx, where
    symbol fonts keep them, are read as their low byte.
    """
    text = _low_bytes(text)
    if _LATIN.search(text):
        return text, 1
    glyphs: list[str] = []
    wrong, half = 0, ""
    for place, sign in enumerate(text):
        after, before = text[place + 1 : place + 2], text[max(0, place - 1) : place]
        part = _part(sign, before, after)
        if part is None:
            wrong += 1
            part = sign
        if part.endswith(HASANTA) and sign not in {"©", "&"}:
            wrong += bool(half)
            half += part
        elif half and (part.startswith(HASANTA) or re.match(f"[{CONSONANTS}]", part)):
            glyphs.append(half.rstrip(HASANTA) + HASANTA + part.lstrip(HASANTA))
            half = ""
        elif half:
            wrong += 1
            glyphs += [half, part]
            half = ""
        elif sign in _ONLY_BEHIND_HALF and sign in _LOWER:
            wrong += 1
            glyphs.append(part)
        else:
            glyphs.append(part)
    if half:
        wrong += 1
        glyphs.append(half)
    text, misplaced = logical_order(glyphs)
    return text.replace("অা", "আ"), wrong + misplaced


def _part(sign: str, before: str, after: str) -> str | None:
    """What one sign stands for beside its neighbours; None where no table says it."""
    if sign in _BEFORE:
        part, following = _BEFORE[sign]
        return part if after and after in following else None
    if sign in _BEHIND:
        part, leading = _BEHIND[sign]
        return part if before and before in leading else None
    for table in (_HALF, _LOWER, _WHOLE):
        if sign in table:
            return table[sign]
    return sign if sign in _PLAIN else None


def _low_bytes(text: str) -> str:
    """Private-use codes F020 to F0FF as Windows-1252 characters."""
    out = []
    for sign in text:
        code = ord(sign)
        low = bytes([code & 0xFF]) if 0xF020 <= code <= 0xF0FF else b""
        out.append(low.decode("cp1252", "replace") if low else sign)
    return "".join(out)


# --- by the letters alone ------------------------------------------------------------------------

# Signs that no language puts inside a word; ª © and the like stand there in legacy text only.
_INSIDE = "†‡ˆ‰‹›¢£¤¥¦§¨©ª«¬®¯°±²³´µ¶·¸¹»¼½¾¿×÷˜™`~^|"
_WORD_PART = r"[^\W\d_]"
_STRANGE = re.compile(
    rf"{_WORD_PART}[{re.escape(_INSIDE)}]{{1,3}}{_WORD_PART}|[†‡][A-Za-z`_]|[A-Za-z`][¨©ª][A-Za-z]?\b"
)
_BENGALI_BESIDE_LATIN = re.compile(
    "[\u0980-\u09ff][\u00c0-\u024f\u0250-\u02af]|[\u00c0-\u024f\u0250-\u02af][\u0980-\u09ff]"
)
_UNKNOWN = re.compile(
    "[\ufffd\uffff\ufffe\ue000-\uf8ff\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]|\\(cid:\\d+\\)"
)


def unknown_characters(text: str) -> int:
    """Replacement, private-use and control characters, and `(cid:N)`: glyphs without a meaning."""
    return sum(len(match.group()) for match in _UNKNOWN.finditer(text))


def is_mojibake(words: Sequence[str]) -> bool:
    """Whether words look like legacy text read as Latin, or like Bengali with Latin in its midst.

    Two such words, or one among fewer than forty, are enough: one `©` or `§` in English is not.
    """
    strange = sum(
        bool(_STRANGE.search(word)) or bool(_BENGALI_BESIDE_LATIN.search(word)) for word in words
    )
    return strange >= 2 or (strange == 1 and len(words) < 40)
