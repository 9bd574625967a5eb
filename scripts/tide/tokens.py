"""What a tokeniser makes of the Bengali and the English words of TIDE's documents.

A word is a run of letters, marks and joiners of one script, Bengali or Latin. A token belongs to
the word that its first character other than white space lies in; every id counts: a character that
a byte-level tokeniser splits into three ids costs three. Tokens that begin outside such words
(digits, punctuation, white space alone) count in the total only. The token tax is tokens per
Bengali word (or character) over tokens per English word (or character): a premium in the sense of
Petrov et al. 2023 (NeurIPS), measured on the words of mixed documents instead of on translations.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from scripts.statistics.bootstrap import percentile_interval
from scripts.statistics.flags import MISSING, TOO_FEW
from scripts.statistics.seeding import cell_generator
from scripts.tide.rows import Element
from scripts.tokenisation.tokenisers import Tokeniser

SCRIPTS = ("bengali", "english")
_WORD = re.compile(
    r"(?P<bengali>[\u0980-\u0983\u0985-\u09b9\u09bc-\u09e3\u09f0\u09f1\u200c\u200d]+)"
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
    samples: Mapping[str, pd.DataFrame], models: Sequence[str], seed: int, statistics: Mapping[str, Any]
) -> pd.DataFrame:
    """tokens.csv: the tax of every model of the run; `samples` by the models that have a tokeniser.

    Ratios of sums over all elements; the interval of the tax resamples elements (percentile
    bootstrap with `statistics.resamples` at `statistics.level`).
    """
    empty = pd.DataFrame(columns=list(SAMPLE_COLUMNS))
    rows = [_row(model, samples.get(model, empty), seed, statistics) for model in models]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _row(model: str, frame: pd.DataFrame, seed: int, statistics: Mapping[str, Any]) -> dict[str, object]:
    if frame.empty:
        return {"model": model, "n": 0, "flag": MISSING}
    values = frame[COUNTS].to_numpy(dtype=float)
    place = {name: index for index, name in enumerate(COUNTS)}
    sums = dict(zip(COUNTS, values.sum(axis=0), strict=True))
    row: dict[str, object] = {
        "model": model,
        "tokeniser": str(frame["tokeniser"].iloc[0]),
        "characters_per_token": _ratio(sums["characters"], sums["tokens"]),
        "n": len(frame),
        "flag": "",
    }
    for script in SCRIPTS:
        for unit in ("character", "word"):
            row[f"{script}_per_{unit}"] = _ratio(
                sums[f"{script}_tokens"], sums[f"{script}_{unit}s"]
            )
    for unit in ("character", "word"):
        row[f"tax_{unit}s"] = _ratio(row[f"bengali_per_{unit}"], row[f"english_per_{unit}"])
    rng = cell_generator(seed, "tide", "tokens", model)
    size = len(frame)
    drawn = rng.multinomial(size, np.full(size, 1 / size), size=int(statistics["resamples"]))
    draws = drawn @ values
    with np.errstate(divide="ignore", invalid="ignore"):
        bengali = draws[:, place["bengali_tokens"]] / draws[:, place["bengali_words"]]
        english = draws[:, place["english_tokens"]] / draws[:, place["english_words"]]
        tax = bengali / english
    tax[~np.isfinite(tax)] = np.nan
    low, high = percentile_interval(tax, float(statistics["level"]))
    row["tax_words_low"], row["tax_words_high"] = low, high
    if np.isnan(float(str(row["tax_words"]))):
        row["flag"] = TOO_FEW
    return row


def _ratio(numerator: object, denominator: object) -> float:
    top, bottom = float(str(numerator)), float(str(denominator))
    return top / bottom if bottom else float("nan")
