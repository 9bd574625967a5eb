"""The multilingual date-fragmentation ratio, profile `eq1` (MultiTempBench, equation 1).

    F = a_split S + a_delimiter L + a_inflation D + a_divergence theta, every term in [0, 1]

over the *pieces* that a tokeniser cuts a date into and the *units* of the semantic baseline, both
as bags: theta, S and L ignore order. The baseline itself scores 0.

The paper does not say on which scale the token difference enters; as a raw count it would exceed 1
at once. Here D = (N - N_b) / N_b, cut to [0, 1], so that twice as many pieces as units is the most.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from scripts.tokenisation.semantic_baseline import (
    DELIMITER,
    Unit,
    is_invisible,
    semantic_units,
    trimmed,
)
from scripts.tokenisation.tokenisers import Token, Tokeniser, readable_text

COMPONENTS = ("split", "delimiter", "inflation", "theta")


@dataclass(frozen=True, slots=True)
class Piece:
    """What one token shows of a text. An `opaque` piece is a part of a character (or an unknown
    token): it equals nothing, not even another piece of the same bytes."""

    text: str
    opaque: bool = False


class Fragmentation(NamedTuple):
    """The four components in [0, 1], and the numbers of pieces (N) and units (N_b)."""

    split: float
    delimiter: float
    inflation: float
    theta: float
    tokens: int
    baseline_units: int

    def score(self, weights: Sequence[float]) -> float:
        """Weighted sum of the components; ValueError unless the weights are in [0, 1], sum 1."""
        if len(weights) != len(COMPONENTS) or any(not 0 <= weight <= 1 for weight in weights):
            raise ValueError(f"expected {len(COMPONENTS)} weights in [0, 1], got {list(weights)}")
        if not math.isclose(math.fsum(weights), 1, abs_tol=1e-3):
            raise ValueError(f"weights must sum to 1, got {list(weights)}")
        parts = zip(weights, self[: len(COMPONENTS)], strict=True)
        return min(1.0, math.fsum(weight * value for weight, value in parts))


def readable_bytes(content: bytes) -> str:
    """Bytes for the eye: whole characters as they are, the rest as `<D9>`."""
    text = content.decode("utf-8", "surrogateescape")
    return "".join(
        f"<{ord(sign) - 0xDC00:02X}>" if 0xDC80 <= ord(sign) <= 0xDCFF else sign for sign in text
    )


def visible_pieces(text: str, tokeniser: Tokeniser) -> list[Piece]:
    """The pieces of a text: slices by the tokens' offsets, trimmed of what is invisible.

    Dropped are tokens that show nothing: spaces, marks of direction, and the space mark that some
    tokenisers put before a text, whose offsets claim its first character. Tokens that share a
    character are opaque pieces, shown by their bytes.
    """
    clean = readable_text(text)
    tokens = [token for token in tokeniser.tokens(clean) if shows_something(clean, token)]
    owners = Counter(place for token in tokens for place in visible_places(clean, token))
    pieces = []
    for token in tokens:
        shared = any(owners[place] > 1 for place in visible_places(clean, token))
        if shared and token.content is not None:
            pieces.append(Piece(trimmed(readable_bytes(token.content)), opaque=True))
        else:
            opaque = shared or token.content is None
            pieces.append(Piece(trimmed(clean[token.start : token.end]), opaque))
    return pieces


def visible_places(text: str, token: Token) -> list[int]:
    """Positions of the visible characters in a token's slice."""
    return [place for place in range(token.start, token.end) if not is_invisible(text[place])]


def shows_something(text: str, token: Token) -> bool:
    """Whether a token has a visible character, in its slice and in what it stands for."""
    marks_only = token.content is not None and not token.content.strip()
    return bool(visible_places(text, token)) and not marks_only


def cosine_distance(first: Counter[Hashable], second: Counter[Hashable]) -> float:
    """1 - cosine of two bags' count vectors, in [0, 1]; two empty bags are at distance 0, an empty
    one is at distance 1 from every other."""
    if not first or not second:
        return float(bool(first) != bool(second))
    dot = sum(count * second[key] for key, count in first.items())
    squares = [sum(count * count for count in bag.values()) for bag in (first, second)]
    return max(0.0, 1 - dot / math.sqrt(squares[0] * squares[1]))


def bag_of(pieces: Iterable[Piece]) -> Counter[Hashable]:
    """Pieces counted by their text; every opaque piece is a kind of its own."""
    return Counter(
        (place, piece.text) if piece.opaque else piece.text for place, piece in enumerate(pieces)
    )


def fragmentation(pieces: Sequence[Piece], units: Sequence[Unit]) -> Fragmentation:
    """The components of pieces against units.

    split: 1 if some number or word unit is no whole piece; delimiter: 1 if some delimiter unit is
    none (each occurrence needs a piece of its own); inflation: (N - N_b) / N_b cut to [0, 1];
    theta: cosine distance of the two bags. No units and no pieces (an empty text) is all zeros.
    """
    have = bag_of(pieces)
    wanted: Counter[Hashable] = Counter(unit.text for unit in units)
    delimiters = {unit.text for unit in units if unit.kind == DELIMITER}
    lost = {text for text, count in wanted.items() if have[text] < count}
    excess = (len(pieces) - len(units)) / len(units) if units else float(bool(pieces))
    return Fragmentation(
        split=float(bool(lost - delimiters)),
        delimiter=float(bool(lost & delimiters)),
        inflation=min(1.0, max(0.0, excess)),
        theta=cosine_distance(have, wanted),
        tokens=len(pieces),
        baseline_units=len(units),
    )


def text_fragmentation(text: str, tokeniser: Tokeniser) -> Fragmentation:
    """The components of a text as a tokeniser cuts it."""
    return fragmentation(visible_pieces(text, tokeniser), semantic_units(readable_text(text)))
