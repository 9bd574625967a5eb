"""Which reading of a page is kept, and whether it can be trusted. The truth is never looked at.

A candidate is one engine's words after no repair or some. It is *sound* when every glyph has a
meaning, no word is legacy text read as Latin, the Bengali keeps the cluster grammar in logical
order, and its letters are spread as in Bengali. It is *confirmed* when another engine reads the
same words, or the same letters where the words were split by the glyphs' own boxes. Only a sound
and confirmed candidate is text; a page without one is left to a reader of pictures.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from rapidfuzz.distance import Levenshtein

from scripts.documents.bengali_order import (
    HASANTA,
    Evidence,
    bengali_words,
    evidence,
    order_faults,
    visual_evidence,
)
from scripts.documents.engines import ENGINES, Reading, Trace, Word
from scripts.documents.legacy_fonts import font_kind, is_mojibake, unknown_characters
from scripts.documents.page_tables import reading_rows
from scripts.documents.repairs import (
    Words,
    bijoy_converted,
    count_characters,
    has_bijoy,
    joined_by_boxes,
    joined_cut_words,
    unicode_nfc,
    visual_order,
)

#: Slips of the pen allowed: faults of the cluster grammar for each Bengali letter.
FAULT_RATE = 0.002
#: Share of words that two engines must have in common.
WORDS_AGREE = 0.99
# So many in common leave no room for doubt.
_EXACT = 0.999
#: Share of letters that they must have in common where the glyph boxes confirm the words' ends.
LETTERS_AGREE = 0.998
#: Share of words that must begin and end where drawn words do, and how near, in type sizes.
ENDS_AGREE, _END_SHARE = 0.998, 0.3
# Bengali statute text has 2 to 16 hasantas and 13 to 33 vowel signs in 100 letters (in any run of
# 200), and 3.5 to 7.7 letters a word; the limits lie well outside.
_ENOUGH_LETTERS = 200
_FEWEST_HASANTAS, _FEWEST_SIGNS = 0.01, 0.07
_LONGEST_MEAN, _LONGEST_WORD = 10.0, 40
# A word of the engine may be spelled as drawn by chance; more than this share is no chance.
_DOUBTFUL_SHARE = 0.02
#: A page with this share of invisible glyphs has a hidden text layer.
HIDDEN = 0.5
# Height in points of the bands in which drawn words are looked up.
_BAND = 12.0


@dataclass(frozen=True)
class Candidate:
    """One reading of a page after the repairs named, with what was found about it."""

    engine: str
    words: Words
    repairs: tuple[str, ...]
    misplaced: int = 0
    characters_in: int = 0
    faults: int = 0
    mojibake: bool = False
    problem: str = ""
    ends: float = 0.0
    cut: bool = False
    witness: bool = False
    letters: Counter[str] = field(default_factory=Counter)
    tokens: Counter[str] = field(default_factory=Counter)

    @cached_property
    def sequence(self) -> list[str]:
        """The words in reading order."""
        return [word.text for row in reading_rows(self.words) for word in row]

    @property
    def reordered(self) -> bool:
        """Whether a repair beyond Unicode's normal form was made."""
        return any(name != "unicode_nfc" for name in self.repairs)

    @property
    def legacy(self) -> bool:
        """Whether words were converted from a legacy encoding."""
        return "bijoy_to_unicode" in self.repairs

    @property
    def weight(self) -> int:
        """How far the repairs go: 0 none, 1 spaces only, 2 letters put in another order."""
        if {"visual_order", "bijoy_to_unicode"} & set(self.repairs):
            return 2
        return int(self.reordered)

    @property
    def boxed(self) -> bool:
        """Whether the spaces come from the glyphs' boxes."""
        return "spaces_from_boxes" in self.repairs

    @property
    def spaced(self) -> bool:
        """Whether the glyphs' boxes confirm where words begin and end."""
        return self.boxed or self.ends >= ENDS_AGREE


def _candidate(
    engine: str,
    words: Words,
    repairs: Sequence[str],
    *,
    misplaced: int = 0,
    characters_in: int,
) -> Candidate:
    """Normalise the words and look at them."""
    plain = unicode_nfc(words)
    names = (*repairs, "unicode_nfc") if plain != words else tuple(repairs)
    texts = [word.text for word in plain]
    text = " ".join(texts)
    mojibake = is_mojibake(texts)
    strict = bool({"visual_order", "bijoy_to_unicode"} & set(repairs))
    faults = order_faults(text) + misplaced
    return Candidate(
        engine=engine,
        words=plain,
        repairs=names,
        misplaced=misplaced,
        characters_in=characters_in,
        faults=faults,
        mojibake=mojibake,
        problem=_problem(texts, faults, mojibake=mojibake, strict=strict),
        letters=Counter(text.replace(" ", "")),
        tokens=Counter(texts),
    )


def _problem(texts: Sequence[str], faults: int, *, mojibake: bool, strict: bool) -> str:
    """Why a reading cannot be trusted, or an empty string; `strict` allows no fault at all."""
    text = " ".join(texts)
    unknown = unknown_characters(text)
    if unknown:
        return f"{unknown} glyphs without a Unicode value"
    if mojibake:
        return "legacy font: Bengali under Latin letters"
    words = bengali_words(text)
    letters = sum(map(len, words))
    if faults > (0 if strict else FAULT_RATE * letters):
        return f"{faults} faults of the Bengali order" + (" after the repair" if strict else "")
    order = evidence(texts).order
    if order in {"visual", "mixed"}:
        return f"Bengali in {order} order"
    return _implausible(words, letters)


def _implausible(words: Sequence[str], letters: int) -> str:
    """Whether letters are spread as they never are in Bengali: joined words, lost conjuncts."""
    if any(len(word) > _LONGEST_WORD for word in words):
        return "spaces lost between words"
    if letters < _ENOUGH_LETTERS:
        return ""
    joined = "".join(words)
    hasantas = joined.count(HASANTA) / letters
    signs = sum(0x09BE <= ord(c) <= 0x09CC or c == "\u09d7" for c in joined) / letters
    if letters / len(words) > _LONGEST_MEAN:
        return "spaces lost between words"
    if hasantas < _FEWEST_HASANTAS or signs < _FEWEST_SIGNS:
        return "conjuncts or vowel signs lost"
    return ""


def page_evidence(trace: Trace) -> Evidence:
    """What the drawn glyphs say about the order in which they stand."""
    return visual_evidence(word.glyphs for word in trace.words)


def candidates(readings: Sequence[Reading], trace: Trace, order: str) -> list[Candidate]:
    """Every reading of the page that is worth a look.

    `order` is that of the drawn glyphs: `visual`, `logical`, `mixed`, or `unknown` where neither
    the page nor the document tells.
    """
    words, wrong = visual_order(trace.words)
    doubt = _Doubt(order, _tokens(trace.words) - _tokens(words), _tokens(words))
    # Boxes of hidden text are those of an OCR program, and of absent fonts those of substitutes.
    drawn = trace.words if trace.hidden < HIDDEN and trace.embedded else ()
    out: list[Candidate] = []
    for reading in readings:
        count = count_characters(reading.text)
        variants: list[tuple[Words, tuple[str, ...]]] = [(reading.words, ())]
        whole = joined_by_boxes(reading.words, drawn)
        if len(whole) < len(reading.words):
            variants.append((whole, ("joined_by_boxes",)))
        for place, (variant, repairs) in enumerate(variants):
            made = _candidate(reading.engine, variant, repairs, characters_in=count)
            ends = shared_ends(made.words, drawn)
            made = replace(made, ends=ends, cut=place < len(variants) - 1)
            out.append(doubt.applied(made))
        if order == "visual" and reading.engine != "pymupdf":
            out.append(_reordered(reading, count))
    if not drawn and not has_bijoy(trace.words):
        return out
    count = sum(count_characters(word.text) for word in trace.words)
    names = ["spaces_from_boxes"]
    if has_bijoy(trace.words):
        # Where the font is not embedded the boxes are those of another one: the engines' own words
        # are converted too.
        out += [
            _converted(each.engine, each.words, (), count_characters(each.text))
            for each in readings
        ]
        return [*out, _converted("pymupdf", trace.words, names, count)]
    if order == "visual":
        names.append("visual_order")
    else:
        words, wrong = trace.words, 0
    boxed = _candidate("pymupdf", words, names, misplaced=wrong, characters_in=count)
    if order == "visual" and trace.rephs > 1 and not boxed.problem:
        boxed = replace(boxed, problem="two glyphs stand for a reph, one may be a ra-phala")
    return [*out, boxed if order == "visual" else doubt.applied(boxed)]


def _tokens(words: Words) -> Counter[str]:
    return Counter(word.text for word in unicode_nfc(words))


@dataclass(frozen=True)
class _Doubt:
    """The words that the drawn glyphs spell only in the order of drawing, and in logical order.

    An engine that gives the former gives visual order, even where each word by itself could be
    right; on a page (and in a document) where nothing tells the order, they stay in doubt.
    """

    order: str
    drawn: Counter[str]
    reordered: Counter[str]

    def applied(self, candidate: Candidate) -> Candidate:
        """The candidate, with a problem where it holds doubtful words."""
        if candidate.problem or self.order not in {"visual", "unknown"}:
            return candidate
        doubtful = (self.drawn - self.reordered) & candidate.tokens
        if doubtful.total() <= _DOUBTFUL_SHARE * self.drawn.total():
            return candidate
        problem = (
            "Bengali in visual order"
            if self.order == "visual"
            else f"nothing tells the order of {doubtful.total()} Bengali words"
        )
        return replace(candidate, problem=problem)


def _converted(engine: str, words: Words, names: Sequence[str], count: int) -> Candidate:
    words, wrong = bijoy_converted(words)
    repairs = (*names, "bijoy_to_unicode")
    return _candidate(engine, words, repairs, misplaced=wrong, characters_in=count)


def _reordered(reading: Reading, count: int) -> Candidate:
    """A reading put in logical order by its text; Poppler's cut words are joined before.

    Without glyphs that is a guess at their bounds, good enough to confirm the drawn ones.
    """
    words, names = reading.words, ["visual_order"]
    if reading.engine == "pdftotext":
        words, names = joined_cut_words(words), ["joined_cut_words", "visual_order"]
    words, wrong = visual_order(words)
    made = _candidate(reading.engine, words, names, misplaced=wrong, characters_in=count)
    return replace(made, witness=True)


def overlap(a: Counter[str], b: Counter[str]) -> float:
    """Twice the common part of two multisets over their sizes, 0 to 1; 1 for two empty ones."""
    total = a.total() + b.total()
    return 2 * (a & b).total() / total if total else 1.0


def in_common(a: Candidate, b: Candidate) -> float:
    """Share of words that two readings have in common, in reading order, from 0 to 1.

    One less the word edits between them over the words of the longer.
    """
    if overlap(a.tokens, b.tokens) < WORDS_AGREE:
        return overlap(a.tokens, b.tokens)
    longest = max(len(a.sequence), len(b.sequence))
    return 1 - Levenshtein.distance(a.sequence, b.sequence) / longest if longest else 1.0


def shared_ends(words: Words, drawn: Words) -> float:
    """Share of words that begin and end where a drawn word of the same row does."""
    rows: dict[int, list[Word]] = {}
    for word in drawn:
        rows.setdefault(round((word.box[1] + word.box[3]) / 2 / _BAND), []).append(word)
    same = 0
    for word in words:
        band = round((word.box[1] + word.box[3]) / 2 / _BAND)
        near = [other for b in (band - 1, band, band + 1) for other in rows.get(b, ())]
        same += any(_same_ends(word, other) for other in near)
    return same / len(words) if words else 0.0


def _same_ends(word: Word, other: Word) -> bool:
    slack = _END_SHARE * max(other.size, 1.0)
    return abs(word.box[0] - other.box[0]) < slack and abs(word.box[2] - other.box[2]) < slack


@dataclass(frozen=True)
class Choice:
    """The candidate that is kept, and why it is not text (an empty reason means that it is)."""

    candidate: Candidate | None
    reason: str
    agreement: float


def choose(found: Sequence[Candidate], engines: Sequence[str]) -> Choice:
    """The best candidate: trusted before not, exact before near, few repairs, most characters.

    `engines` are those that read the page; with one alone, its own glyphs confirm a reading.
    """
    if not found:
        return Choice(None, "no engine gave text", 0.0)
    judged = [(each, *_confirmation(each, found, engines)) for each in found if not each.witness]

    def rank(entry: tuple[Candidate, float, str]) -> tuple[object, ...]:
        each, agreement, reason = entry
        return (
            bool(each.problem or reason),
            bool(each.problem),
            each.cut,
            agreement < _EXACT and not each.spaced,
            each.weight,
            -round(1.0 if each.boxed else each.ends, 2),
            -round(agreement, 3),
            len(each.repairs),
            -sum(each.letters.values()),
            ENGINES.index(each.engine),
        )

    best, agreement, reason = min(judged, key=rank)
    if best.problem:
        # None is sound: what the drawn glyphs lack says most.
        best = next((each for each in found if each.legacy or each.boxed), best)
    return Choice(best, best.problem or reason, agreement)


def _confirmation(
    each: Candidate, found: Sequence[Candidate], engines: Sequence[str]
) -> tuple[float, str]:
    """(share of words in common with the nearest other reading, why that is not enough)."""
    others = [other for other in found if other.engine != each.engine]
    if each.legacy:
        others = [other for other in found if other.legacy and other is not each]
        words = max((in_common(each, other) for other in others), default=0.0)
        return words, "" if words >= WORDS_AGREE else _disagree(words)
    if len(set(engines)) == 1 or not others:
        return _confirmation_by_glyphs(each, found)
    if each.problem:
        # It cannot be kept: how near it comes to another reading only orders the reasons.
        return max(overlap(each.tokens, other.tokens) for other in others), ""
    words = max(in_common(each, other) for other in others)
    letters = max(overlap(each.letters, other.letters) for other in others)
    if words >= WORDS_AGREE or (each.spaced and letters >= LETTERS_AGREE):
        return words, ""
    return words, _disagree(words)


def _disagree(words: float) -> str:
    return f"the engines disagree: {100 * words:.1f} % of the words in common"


def _confirmation_by_glyphs(each: Candidate, found: Sequence[Candidate]) -> tuple[float, str]:
    """The same where one engine stands alone: its text must hold the letters that are drawn."""
    drawn = [overlap(each.letters, other.letters) for other in found if other.boxed]
    if each.boxed or not drawn or max(drawn) >= LETTERS_AGREE:
        return 1.0, ""
    return max(drawn), "the engine's text is not what is drawn"


def legacy_font(readings: Sequence[Reading], trace: Trace) -> str:
    """The name of a legacy font on the page that nobody here converts, or an empty string."""
    fonts = {f for word in trace.words for f in word.fonts}
    fonts |= {word.font for reading in readings for word in reading.words}
    return min((font for font in fonts if font_kind(font) == "legacy"), default="")
