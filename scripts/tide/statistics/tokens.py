"""What a tokeniser makes of the Bengali and the English words of TIDE's documents.

A word is a run of letters and marks of one script, Bengali or Latin, with the joiners (ZWJ, ZWNJ)
behind them; "don't" is two. A word in two scripts is a word of each. A token belongs to the word
that its first character other than white space lies in; every id counts: a character that a
byte-level tokeniser splits into three ids costs three. Tokens that begin outside such words
(digits of either script, punctuation, white space alone) count in the total only. The token tax is
tokens per Bengali word (or character) over tokens per English word (or character): a premium in the
sense of Petrov et al. 2023 (NeurIPS), measured on the words of mixed documents instead of on
translations. A Bengali word says more or less than an English one, so the two taxes bound the
matter from two sides; characters are code points, vowel signs and joiners included.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from scripts.statistics.bootstrap import percentile_interval
from scripts.statistics.flags import MISSING, TOO_FEW
from scripts.statistics.seeding import cell_generator
from scripts.tide.rows import Element
from scripts.tokenisation.tokenisers import Tokeniser

SCRIPTS = ("bengali", "english")
UNITS = ("character", "word")
Floats = NDArray[np.float64]
_WORD = re.compile(
    r"(?P<bengali>(?:[\u0980-\u0983\u0985-\u09b9\u09bc-\u09e3\u09f0\u09f1][\u200c\u200d]*)+)"
    r"|(?P<english>[A-Za-z]+)"
)
SAMPLE_COLUMNS = (
    *("element_id", "document", "characters", "tokens"),
    *(f"{script}_{name}" for script in SCRIPTS for name in ("characters", "words", "tokens")),
    "tokeniser",
)
COLUMNS = (
    *("model", "tokeniser", "bengali_per_character", "english_per_character"),
    *("bengali_per_word", "english_per_word", "tax_characters", "tax_words"),
    *("tax_words_low", "tax_words_high", "characters_per_token", "n", "flag"),
)
COUNTS = [name for name in SAMPLE_COLUMNS if name not in ("element_id", "document", "tokeniser")]


def scripts_of(text: str) -> list[str]:
    """The script of every character of a text: bengali, english, or empty."""
    out = [""] * len(text)
    for match in _WORD.finditer(text):
        script = str(match.lastgroup)
        out[match.start() : match.end()] = [script] * (match.end() - match.start())
    return out


def sample(text: str, tokeniser: Tokeniser) -> dict[str, int]:
    """Characters, words and tokens of a text, in all and by script."""
    scripts = scripts_of(text)
    words = [str(match.lastgroup) for match in _WORD.finditer(text)]
    spans = tokeniser.spans(text)
    counts = {"characters": len(text), "tokens": len(spans)}
    owners = [_owner(text, scripts, start, end) for start, end in spans]
    for script in SCRIPTS:
        counts[f"{script}_characters"] = scripts.count(script)
        counts[f"{script}_words"] = words.count(script)
        counts[f"{script}_tokens"] = owners.count(script)
    return counts


def _owner(text: str, scripts: Sequence[str], start: int, end: int) -> str:
    for place in range(start, end):
        if not text[place].isspace():
            return scripts[place]
    return ""


def sample_frame(elements: Sequence[Element], tokeniser: Tokeniser) -> pd.DataFrame:
    """One row an element that has text, in their order."""
    rows = [
        {
            "element_id": element.element_id,
            "document": element.document,
            **sample(element.text, tokeniser),
            "tokeniser": tokeniser.fingerprint,
        }
        for element in elements
        if element.text
    ]
    return pd.DataFrame(rows, columns=list(SAMPLE_COLUMNS))


def tokens_frame(
    samples: Mapping[str, pd.DataFrame],
    models: Sequence[str],
    seed: int,
    statistics: Mapping[str, Any],
) -> pd.DataFrame:
    """tokens.csv: the tax of every model of the run; `samples` by the models that have a tokeniser.

    Ratios of sums over all elements; the interval of the tax resamples elements (percentile
    bootstrap with `statistics.resamples` at `statistics.level`), the same ones for every model, so
    that models with one tokeniser have one interval. A model without a tokeniser is `missing`; a
    tax without words of both scripts is empty (`too_few`).
    """
    empty = pd.DataFrame(columns=list(SAMPLE_COLUMNS))
    rows = [_row(model, samples.get(model, empty), seed, statistics) for model in models]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _row(
    model: str, frame: pd.DataFrame, seed: int, statistics: Mapping[str, Any]
) -> dict[str, object]:
    if frame.empty:
        return {"model": model, "n": 0, "flag": MISSING}
    values = frame[COUNTS].to_numpy(dtype=float)
    ratios = _ratios(values.sum(axis=0, keepdims=True))
    row: dict[str, object] = {
        "model": model,
        "tokeniser": str(frame["tokeniser"].iloc[0]),
        **{name: float(found[0]) for name, found in ratios.items()},
        "n": len(frame),
    }
    drawn = resampled_sums(values, seed, int(statistics["resamples"]))
    interval = percentile_interval(_ratios(drawn)["tax_words"], float(statistics["level"]))
    row["tax_words_low"], row["tax_words_high"] = interval
    row["flag"] = TOO_FEW if np.isnan(ratios["tax_words"][0]) else ""
    return row


def resampled_sums(values: Floats, seed: int, resamples: int, at_once: int = 500) -> Floats:
    """Column sums of resampled rows, shape (resamples, columns), in blocks that bound the memory.

    `values`: shape (elements, columns).
    """
    size = len(values)
    generator = cell_generator(seed, "tide", "tokens")
    even = np.full(size, 1 / size)
    blocks = [
        generator.multinomial(size, even, size=min(at_once, resamples - start)) @ values
        for start in range(0, resamples, at_once)
    ]
    return np.concatenate(blocks)


def _ratios(sums: Floats) -> dict[str, Floats]:
    """The ratios of tokens.csv from sums of COUNTS, shape (any, counts); NaN over nothing."""
    of = dict(zip(COUNTS, sums.T, strict=True))
    out = {"characters_per_token": _quotient(of["characters"], of["tokens"])}
    for script in SCRIPTS:
        for unit in UNITS:
            out[f"{script}_per_{unit}"] = _quotient(of[f"{script}_tokens"], of[f"{script}_{unit}s"])
    for unit in UNITS:
        out[f"tax_{unit}s"] = _quotient(out[f"bengali_per_{unit}"], out[f"english_per_{unit}"])
    return out


def _quotient(top: Floats, bottom: Floats) -> Floats:
    out: Floats = np.divide(top, bottom, out=np.full(top.shape, np.nan), where=bottom > 0)
    return out
