"""How complex the source documents are: scale, two scripts, two digit sets, two calendars, tables.

Source: TIDE A.2.2 and table 5. The paper names the measures but does not define them all; what is
counted here is said below, so that the figures can be compared.

* Text: all items and table cells of a record, without table markers.
* Word: a token between white space that has a letter or a digit. A word is English or Bengali by
  the script of most of its letters (an even split is Bengali: it takes a Bengali ending); a word
  of digits or of other scripts is neither.
* Letter: a character A-Z or a-z, or a letter or sign of the Bengali block (vowel signs, virama and
  the like included, digits not).
* both_scripts: at least one word of each script. bilingual: the rarer script has more than 5 % of
  the words that have a script. both_digits: at least one Bengali and one ASCII digit.
* dates_bangla, dates_gregorian: dates found, by the calendar that they are stated in, of any
  granularity. both_calendars: at least one of each.
* section_citations, hs_codes: scripts/documents/citations.py. tariff: at least 3 H.S. codes.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from scripts.documents.citations import hs_codes, section_citations
from scripts.documents.manifest import TYPES
from scripts.tide.rows import Element

COLUMNS = (
    *("document", "document_type", "pages", "words", "english_words", "bengali_words"),
    *("english_letters", "bengali_letters", "bengali_digits", "ascii_digits"),
    *("both_scripts", "bilingual", "both_digits", "dates_bangla", "dates_gregorian"),
    *("both_calendars", "section_citations", "hs_codes", "tables", "tariff"),
)
#: A document is bilingual when its rarer script has more than this share of its words.
MINORITY_SHARE = 0.05
#: So many H.S. codes stand for tabular tariff content.
TARIFF_CODES = 3
ALL = "all"


def _is_latin(character: str) -> bool:
    """Whether a character is one of the 52 letters A-Z, a-z."""
    return character.isascii() and character.isalpha()


def _is_bengali(character: str) -> bool:
    """Whether a character is a letter or sign of the Bengali block (no digit, no currency)."""
    return "\u0980" <= character <= "\u09ff" and unicodedata.category(character)[0] in "LM"


def script_of(word: str) -> str:
    """`english`, `bengali` or an empty string: the script of most letters of a word."""
    latin, bengali = sum(map(_is_latin, word)), sum(map(_is_bengali, word))
    if not latin and not bengali:
        return ""
    return "english" if latin > bengali else "bengali"


def words_of(text: str) -> list[str]:
    """The tokens of a text between white space that have a letter or a digit."""
    return [t for t in text.split() if any(c.isalpha() or c.isdecimal() for c in t)]


def is_bilingual(english: int, bengali: int) -> bool:
    """Whether the rarer script has more than MINORITY_SHARE of the words that have a script."""
    total = english + bengali
    return total > 0 and min(english, bengali) / total > MINORITY_SHARE


def document_row(
    document: str, record: Mapping[str, Any], elements: Sequence[Element]
) -> dict[str, Any]:
    """The measures of one document from its record and its elements (all zero if it has none)."""
    text = "\n".join(element.text for element in elements)
    words = words_of(text)
    scripts = Counter(script_of(word) for word in words)
    calendars = Counter(mention["calendar"] for e in elements for mention in e.dates)
    bengali_digits = sum("০" <= character <= "৯" for character in text)
    ascii_digits = sum("0" <= character <= "9" for character in text)
    codes = len(hs_codes(text))
    return {
        "document": document,
        "document_type": record["document_info"]["document_type"],
        "pages": record["document_info"]["total_pages"],
        "words": len(words),
        "english_words": scripts["english"],
        "bengali_words": scripts["bengali"],
        "english_letters": sum(map(_is_latin, text)),
        "bengali_letters": sum(map(_is_bengali, text)),
        "bengali_digits": bengali_digits,
        "ascii_digits": ascii_digits,
        "both_scripts": bool(scripts["english"] and scripts["bengali"]),
        "bilingual": is_bilingual(scripts["english"], scripts["bengali"]),
        "both_digits": bool(bengali_digits and ascii_digits),
        "dates_bangla": calendars["bangla"],
        "dates_gregorian": calendars["gregorian"],
        "both_calendars": bool(calendars["bangla"] and calendars["gregorian"]),
        "section_citations": len(section_citations(text)),
        "hs_codes": codes,
        "tables": len(record["tables"]),
        "tariff": codes >= TARIFF_CODES,
    }


def complexity(
    records: Iterable[tuple[str, Mapping[str, Any]]], elements: Iterable[Element]
) -> pd.DataFrame:
    """One row a document with COLUMNS, sorted by document."""
    by_document: dict[str, list[Element]] = {}
    for element in elements:
        by_document.setdefault(element.document, []).append(element)
    rows = [
        document_row(document, record, by_document.get(document, []))
        for document, record in sorted(records, key=lambda pair: pair[0])
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def summarise(frame: pd.DataFrame) -> pd.DataFrame:
    """The figures of A.2.2 and table 5: one row a document type that occurs, and `all` last.

    Shares are in [0, 1]. `words_spread` is the longest document over the median one; `words_cv` the
    coefficient of variation of length, sample standard deviation (n - 1) over mean.
    `english_letters` and `english_words` are shares of the pooled letters and words that have a
    script; `english_words_median` is the median of the documents' own shares. `bilingual` is a
    share of the documents with both scripts, the other shares are of all. A document that could not
    be read counts with no words. A figure that no document
    allows (no words, one document's variation) is missing.
    """
    rows = [
        _summary(name, frame[frame["document_type"] == name])
        for name in TYPES
        if (frame["document_type"] == name).any()
    ]
    return pd.DataFrame([*rows, _summary(ALL, frame)])


def _ratio(part: float, whole: float) -> float:
    """A ratio, missing where the whole is 0."""
    return part / whole if whole else float("nan")


def _summary(name: str, group: pd.DataFrame) -> dict[str, Any]:
    """The figures of one group of documents."""
    n, words, totals = len(group), group["words"], group.sum(numeric_only=True)
    scripted = group["english_words"] + group["bengali_words"]
    shares = group["english_words"][scripted > 0] / scripted[scripted > 0]
    both_scripts = int(group["both_scripts"].sum())
    median = float(words.median()) if n else float("nan")
    return {
        "document_type": name,
        "documents": n,
        "pages": int(totals.get("pages", 0)),
        "pages_median": float(group["pages"].median()) if n else float("nan"),
        "pages_maximum": int(group["pages"].max()) if n else 0,
        "words": int(totals.get("words", 0)),
        "words_median": median,
        "words_maximum": int(words.max()) if n else 0,
        "words_spread": _ratio(float(words.max()), median) if n else float("nan"),
        "words_cv": _ratio(float(words.std(ddof=1)), float(words.mean()))
        if n > 1
        else float("nan"),
        "english_letters": _ratio(
            float(totals.get("english_letters", 0)),
            float(totals.get("english_letters", 0) + totals.get("bengali_letters", 0)),
        ),
        "english_words": _ratio(float(totals.get("english_words", 0)), float(scripted.sum())),
        "english_words_median": float(shares.median()) if len(shares) else float("nan"),
        "both_scripts": _ratio(both_scripts, n),
        "bilingual": _ratio(
            float((group["bilingual"] & group["both_scripts"]).sum()), both_scripts
        ),
        "both_digits": _ratio(float(group["both_digits"].sum()), n),
        "both_calendars": _ratio(float(group["both_calendars"].sum()), n),
        "cites_section": _ratio(float((group["section_citations"] > 0).sum()), n),
        "has_hs_code": _ratio(float((group["hs_codes"] > 0).sum()), n),
        "hs_codes": int(totals.get("hs_codes", 0)),
        "tables": int(totals.get("tables", 0)),
        "tariff": _ratio(float(group["tariff"].sum()), n),
    }
