"""How near a page's text is to a corrected one: word and character error rates, cells, dates.

Word error rate is (substitutions + deletions + insertions) / words of the corrected text, the least
number of edits between the two lists of words; character error rate the same over characters, one
space between words included (the definitions of jiwer). Both texts are in NFC without signs of no
width, and white space is one space. Rates may exceed 1; they are None for an empty corrected text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from rapidfuzz.distance import Levenshtein

from scripts.documents.bengali_order import normalise

COLUMNS = (
    "document",
    "page",
    "layer",
    "engine",
    "words",
    "characters",
    "wer",
    "cer",
    "cells",
    "cells_right",
    "dates",
    "dates_right",
    "status",
)
#: The pipeline's own choice, beside the names of the engines.
CHOSEN = "chosen"


def plain(text: str) -> str:
    """NFC, no signs without width, single spaces."""
    return " ".join(normalise(text).split())


def word_error_rate(truth: str, text: str) -> float | None:
    """Edits between the lists of words for each word of the truth."""
    reference, hypothesis = plain(truth).split(), plain(text).split()
    return Levenshtein.distance(reference, hypothesis) / len(reference) if reference else None


def character_error_rate(truth: str, text: str) -> float | None:
    """Edits between the characters for each character of the truth."""
    reference, hypothesis = plain(truth), plain(text)
    return Levenshtein.distance(reference, hypothesis) / len(reference) if reference else None


def full_text(lines: Sequence[Mapping[str, Any]], tables: Sequence[Mapping[str, Any]]) -> str:
    """Lines and table rows (cells joined by a space) of a page, the tables where they stand."""
    waiting = sorted(tables, key=lambda table: table["bbox"][1])
    out: list[str] = []
    for line in lines:
        while waiting and waiting[0]["bbox"][1] <= line["bbox"][1]:
            out += _row_texts(waiting.pop(0))
        out.append(str(line["text"]))
    for table in waiting:
        out += _row_texts(table)
    return "\n".join(out)


def _row_texts(table: Mapping[str, Any]) -> list[str]:
    return [" ".join(cell for cell in row if cell) for row in table["rows"]]


def expected_rows(truth: Mapping[str, Any], page: Mapping[str, Any]) -> list[list[str]]:
    """The table rows that are printed on a page, heads included: those whose text is a line of it.

    A head that is printed again counts again.
    """
    lines = Counter(plain(line) for line in page["text"].split("\n"))
    rows = []
    for table in truth["tables"]:
        if table["page_start"] <= page["page"] <= table["page_end"]:
            for row in [table["headers"], *table["rows"]]:
                text = plain(" ".join(row))
                if lines[text]:
                    lines[text] -= 1
                    rows.append([plain(cell) for cell in row])
    return rows


def cells_right(expected: Sequence[Sequence[str]], tables: Sequence[Mapping[str, Any]]) -> int:
    """Cells of the expected rows that stand in the same column of the row most like each."""
    found = [[plain(cell) for cell in row] for table in tables for row in table["rows"]]
    right = 0
    for row in expected:
        scores = [sum(map(str.__eq__, row, other)) for other in found]
        best = max(scores, default=0)
        if best:
            right += best
            found.pop(scores.index(best))
    return right


def dates_right(expected: Sequence[str], text: str) -> int:
    """Printed dates that stand in the text letter by letter, each as often as it is expected."""
    whole = plain(text)
    wanted = Counter(plain(date) for date in expected)
    return sum(min(count, whole.count(date)) for date, count in wanted.items())


def page_row(
    truth: Mapping[str, Any],
    page: Mapping[str, Any],
    engine: str,
    lines: Sequence[Mapping[str, Any]],
    tables: Sequence[Mapping[str, Any]],
    *,
    status: str,
) -> dict[str, Any]:
    """One row of the table: what an engine (or the choice) made of one page of the truth.

    A page that was flagged has no rates: there is no text that could be wrong.
    """
    text = full_text(lines, tables)
    dates = [date["text"] for date in truth["dates"] if date.get("page") == page["page"]]
    rows = expected_rows(truth, page)
    read = status in {"", "text", "repaired", "vision"}
    return {
        "document": truth["document"],
        "page": page["page"],
        "layer": page["layer"],
        "engine": engine,
        "words": len(plain(page["text"]).split()),
        "characters": len(plain(page["text"])),
        "wer": word_error_rate(page["text"], text) if read else None,
        "cer": character_error_rate(page["text"], text) if read else None,
        "cells": sum(map(len, rows)),
        "cells_right": cells_right(rows, tables),
        "dates": len(dates),
        "dates_right": dates_right(dates, text),
        "status": status,
    }
