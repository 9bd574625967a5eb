"""The cluster grammar of Bengali in Unicode: does a text stand in logical order?

A PDF often holds Bengali in the order of the glyphs (`ক্রিমক` for `ক্রমিক`). Unicode wants a
consonant cluster first, then its vowel sign, then its marks (The Unicode Standard, chapter 12.2).
What breaks that grammar is counted as a fault; what tells visual from logical order is evidence.
Nothing here knows a word of the language.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

NUKTA, HASANTA, REPH, YA_PHALA = "\u09bc", "\u09cd", "\u09b0\u09cd", "\u09af\u09cd"
ZWNJ, ZWJ = "\u200c", "\u200d"
#: Signs that are written before the consonant they follow.
PRE_BASE = "\u09bf\u09c7\u09c8"
#: Signs without width: they carry no letter and are dropped.
INVISIBLE = "\u200b\u2060\ufeff\u00ad"
CONSONANTS = "\u0995-\u09b9\u09ce\u09dc\u09dd\u09df\u09f0\u09f1"
VOWELS = "\u0985-\u0994\u09e0\u09e1"
SIGNS = "\u09be-\u09cc\u09d7\u09e2\u09e3"
MARKS = "\u0981-\u0983"
LETTERS = f"{CONSONANTS}{VOWELS}{SIGNS}{MARKS}{NUKTA}{HASANTA}"

_CONSONANT = f"(?:[{CONSONANTS}]{NUKTA}?)"
_LINK = f"{ZWJ}?{HASANTA}[{ZWJ}{ZWNJ}]?"
# A cluster, a vowel letter (also অ্যা and এ্যা), or a digit with a mark ("৫ঃ" is not one).
_CLUSTER = re.compile(
    f"(?:{_CONSONANT}(?:{_LINK}{_CONSONANT})*{ZWNJ}?(?:[{SIGNS}]|{HASANTA}[{ZWNJ}{ZWJ}]?)?"
    f"|[{VOWELS}](?:{HASANTA}\u09af[{SIGNS}]?)?)[{MARKS}]{{0,2}}"
)
_RUN = re.compile(f"[{LETTERS}{ZWJ}{ZWNJ}]+")
_WORD = re.compile(f"[{LETTERS}{ZWJ}{ZWNJ}]*[{LETTERS}][{LETTERS}{ZWJ}{ZWNJ}]*")
# Legal in the grammar, not in the language: র্ or য্ that nothing of theirs follows.
_DANGLING = re.compile(
    f"{REPH}(?![{ZWJ}{ZWNJ}]?[{CONSONANTS}])|(?<!{HASANTA})"
    f"\u09af(?!{NUKTA}){HASANTA}(?![{ZWJ}{ZWNJ}]?[\u09af\u09b0])"
)
_LAST = re.compile(f"[{PRE_BASE}][{MARKS}]*$")
_FIRST = re.compile(f"^[{PRE_BASE}]")


def normalise(text: str) -> str:
    """NFC without signs that have no width; both spellings of য়, ড়, ঢ়, ো, ৌ become one."""
    return unicodedata.normalize("NFC", text).translate(dict.fromkeys(map(ord, INVISIBLE)))


def bengali_words(text: str) -> list[str]:
    """Runs of Bengali letters and signs (no digits), in order."""
    return _WORD.findall(text)


def bengali_letters(text: str) -> int:
    """How many Bengali letters and signs a text has."""
    return sum(len(run) for run in bengali_words(text))


def faults(text: str) -> list[str]:
    """Every place of a text that breaks the cluster grammar, as the few characters there.

    A dependent sign at a word's start or after another sign, a hasanta after a sign, two hasantas,
    a mark or nukta without a letter, a joiner that joins nothing, and র্ or য্ with nothing after.
    """
    text = normalise(text)
    out: list[str] = []
    for run in _RUN.finditer(text):
        word = run.group()
        position = 0
        while position < len(word):
            match = _CLUSTER.match(word, position)
            if match is None:
                out.append(word[max(0, position - 1) : position + 2])
                position += 1
            else:
                position = match.end()
        out += [match.group() for match in _DANGLING.finditer(word)]
    return out


def order_faults(text: str) -> int:
    """How many places of a text break the cluster grammar (0 for text without Bengali)."""
    return len(faults(text))


@dataclass(frozen=True, slots=True)
class Evidence:
    """Words that can only be visual, and words that can only be logical."""

    visual: int
    logical: int

    @property
    def order(self) -> str:
        """`visual`, `logical`, `mixed`, or `unknown` where nothing tells."""
        if not self.visual and not self.logical:
            return "unknown"
        # A slip of the pen in forty words does not turn the page.
        if self.visual * 40 <= self.logical:
            return "logical"
        return "visual" if self.logical * 40 <= self.visual else "mixed"

    def __add__(self, other: Evidence) -> Evidence:
        return Evidence(self.visual + other.visual, self.logical + other.logical)


def evidence(words: Iterable[str]) -> Evidence:
    """What the words say about their order.

    A sign that is written before its consonant begins a word in visual order only (no consonant is
    there to carry it) and ends a word in logical order only (nothing follows that it stood before).
    """
    visual = logical = 0
    for token in words:
        for word in bengali_words(normalise(token)):
            visual += bool(_FIRST.match(word)) or bool(re.search(_DANGLING, word))
            logical += bool(_LAST.search(word)) and len(word) > 1
    return Evidence(visual, logical)


# --- from visual to logical ----------------------------------------------------------------------

_STARTS_BASE = re.compile(f"[{CONSONANTS}{VOWELS}]")
_STARTS_REPH = re.compile(f"{REPH}(?![{CONSONANTS}])")
_STARTS_SIGN = re.compile(f"[{SIGNS}]")
_STARTS_MARK = re.compile(f"[{MARKS}]")
_LOWER_FORM = re.compile(f"{YA_PHALA}|{HASANTA}[{CONSONANTS}]{NUKTA}?")
_BELOW = re.compile(f"(?:{_LOWER_FORM.pattern})+")
_BASE_SIGN_MARKS = re.compile(f"^(.*?)([{SIGNS}]?)([{MARKS}]*)$", re.S)
# র with ya-phala needs a joiner in Unicode; without it the র would be drawn as a reph.
_RA_YA = f"\u09b0{ZWJ}{HASANTA}\u09af"
_DROPPED = dict.fromkeys(map(ord, INVISIBLE + ZWJ + ZWNJ))


@dataclass(slots=True)
class _Cluster:
    """One syllable while its parts arrive in the order in which they are drawn."""

    base: str = ""
    before: str = ""
    after: str = ""
    marks: str = ""
    reph: bool = False

    def text(self) -> str:
        """The syllable in logical order; ে with া or ৗ is one sign."""
        reph = REPH if self.reph else ""
        return normalise(reph + self.base + self.before + self.after + self.marks)


class _Word:
    """A word in the making: syllables that stand, and the signs that wait for their letter."""

    def __init__(self) -> None:
        self.parts: list[_Cluster | str] = []
        self.waiting = _Cluster()
        self.wrong = 0

    @property
    def last(self) -> _Cluster | None:
        """The syllable that was drawn last, None where none or something else was."""
        part = self.parts[-1] if self.parts else None
        return part if isinstance(part, _Cluster) else None

    def stray(self, text: str) -> None:
        """Keep a part that belongs to nothing."""
        self.wrong += 1
        self.parts.append(text)

    def add(self, glyph: str) -> None:
        """Take one glyph's string in."""
        last = self.last
        closed = last is not None and not last.base.endswith(HASANTA)
        if closed and last and not self.waiting.before and _BELOW.fullmatch(glyph):
            last.base = _with_lower_forms(last.base, glyph)
            return
        while glyph:
            glyph = glyph[self._take(glyph) :]

    def _take(self, glyph: str) -> int:
        """Take the head of a glyph's string in; its length."""
        if _STARTS_REPH.match(glyph):
            self._reph()
            return len(REPH)
        if glyph[0] in PRE_BASE:
            if self.waiting.before:
                self.stray(self.waiting.before)
            self.waiting.before = glyph[0]
        elif _STARTS_BASE.match(glyph):
            self._base(glyph)
            return len(glyph)
        elif _STARTS_SIGN.match(glyph):
            self._sign(glyph[0])
        elif _STARTS_MARK.match(glyph):
            self._mark(glyph[0])
        elif glyph[0] in {HASANTA, NUKTA}:
            self._joiner(glyph[0])
        else:
            self.flush()
            self.parts.append(glyph[0])
        return 1

    def _reph(self) -> None:
        """Joined to the sign of the next syllable, or drawn above the one before."""
        if self.waiting.before:
            self.waiting.reph = True
        elif self.last and not self.last.reph:
            self.last.reph = True
        else:
            self.stray(REPH)

    def _base(self, glyph: str) -> None:
        """A letter or conjunct, perhaps with signs of its own, begins a syllable."""
        match = _BASE_SIGN_MARKS.match(glyph)
        base, sign, marks = match.groups() if match else (glyph, "", "")
        last = self.last
        if last and last.base.endswith(HASANTA):
            # The letter before shows its hasanta: both are one syllable.
            self.wrong += bool(self.waiting.before)
            last.base += base
            cluster = last
        else:
            cluster, self.waiting = self.waiting, _Cluster()
            cluster.base = base
            self.parts.append(cluster)
        if sign and sign in PRE_BASE:
            self.wrong += bool(cluster.before)
            cluster.before += sign
        else:
            cluster.after += sign
        cluster.marks += marks

    def _sign(self, sign: str) -> None:
        last = self.last
        split = last is not None and last.before == "\u09c7" and sign in "\u09be\u09d7"
        if last and not self.waiting.before and not last.after and (split or not last.before):
            last.after = sign
        else:
            self.stray(sign)

    def _mark(self, mark: str) -> None:
        if self.waiting.before:
            self.waiting.marks += mark
        elif self.last:
            self.last.marks += mark
        else:
            self.stray(mark)

    def _joiner(self, sign: str) -> None:
        last = self.last
        if last and not self.waiting.before and not last.after:
            last.base += sign
        else:
            self.stray(sign)

    def flush(self) -> None:
        """A sign that still waits for its letter belongs to nothing."""
        if self.waiting.before:
            self.stray(self.waiting.text())
            self.waiting = _Cluster()

    def text(self) -> str:
        """The word in logical order."""
        return normalise("".join(p.text() if isinstance(p, _Cluster) else p for p in self.parts))


def logical_order(glyphs: Iterable[str]) -> tuple[str, int]:
    """(text, misplaced parts) of one word whose glyphs are in visual order, one string a glyph.

    A glyph's string is what the font says that it stands for: a letter, a conjunct, a sign, `র্`
    (reph), `য্` (ya-phala), or a sign and reph together. Inside a glyph that begins with a letter
    the order is logical already. Every character stays; a part that finds nothing to belong to is
    kept where it stood and counted.
    """
    word = _Word()
    for raw in glyphs:
        glyph = raw.translate(_DROPPED)
        if glyph:
            word.add(glyph)
    word.flush()
    return word.text(), word.wrong


def _with_lower_forms(base: str, form: str) -> str:
    """A base with forms written below or behind it; `য্` is the ya-phala written backwards."""
    for piece in _LOWER_FORM.findall(form):
        part = HASANTA + "\u09af" if piece == YA_PHALA else piece
        base = _RA_YA if (base, part) == ("\u09b0", HASANTA + "\u09af") else base + part
    return base


def pseudo_glyphs(word: str) -> list[str]:
    """A visual word as strings that stand for glyphs, where an engine gives text only.

    Conjuncts are kept whole; `র্` is a reph and `য্` a ya-phala, as the fonts' tables have them.
    """
    conjunct = f"(?:(?!{REPH}|{YA_PHALA})[{CONSONANTS}]{NUKTA}?{HASANTA})*[{CONSONANTS}]{NUKTA}?"
    pattern = f"{REPH}|{YA_PHALA}(?!\u09af)|{conjunct}|."
    return re.findall(pattern, unicodedata.normalize("NFC", word), flags=re.S)


def visual_evidence(glyphs: Iterable[tuple[str, ...]]) -> Evidence:
    """Evidence of words given glyph by glyph.

    A glyph that stands for `র্` or `য্` alone is a reph or ya-phala as it is drawn. A sign inside a
    larger glyph says nothing about the order of glyphs.
    """
    visual = logical = 0
    for word in glyphs:
        parts = [part for raw in word if (part := normalise(raw).translate(_DROPPED))]
        signs = [part for part in parts if re.search(f"[{LETTERS}]", part)]
        if not signs:
            continue
        drawn = any(part in {REPH, YA_PHALA} for part in parts)
        visual += drawn or signs[0][0] in PRE_BASE
        # A mark may still follow the sign: কিঁ.
        tail = [part for part in signs if not re.fullmatch(f"[{MARKS}]+", part)]
        last = tail[-1] if tail else ""
        logical += len(tail) > 1 and last != "" and last in PRE_BASE
    return Evidence(visual, logical)
