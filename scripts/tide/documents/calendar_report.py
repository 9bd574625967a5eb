"""Every place of the corpus that states a date in both calendars, and whether the two agree."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from scripts.dates.legal_dates import CalendarPair, DateMention, calendar_pairs
from scripts.tide.rows import Element

COLUMNS = (
    *("document", "element_id", "start"),
    *("text", "bangla", "gregorian", "converted", "agrees", "note"),
)


def _row(element: Element, pair: CalendarPair) -> dict[str, Any]:
    """One pair as a row: `bangla` and `gregorian` as printed, `converted` the Bangla side's day."""
    start = min(pair.bangla.start, pair.gregorian.start)
    end = max(pair.bangla.end, pair.gregorian.end)
    return {
        "document": element.document,
        "element_id": element.element_id,
        "start": start,
        "text": " ".join(element.text[start:end].split()),
        "bangla": " ".join(pair.bangla.text.split()),
        "gregorian": pair.gregorian.value
        if isinstance(pair.gregorian, DateMention)
        else " ".join(pair.gregorian.text.split()),
        "converted": pair.converted,
        "agrees": pair.agrees,
        "note": pair.note,
    }


def calendar_rows(elements: Iterable[Element]) -> list[dict[str, Any]]:
    """A row for each date stated in both calendars, in the order of the elements and their text.

    `start` is the place in the element's text. `bangla` is as printed; `gregorian` the ISO day that
    the text states, or what is printed where that is no day; `converted` the ISO day that the
    Bangla date is.
    """
    return [_row(element, pair) for element in elements for pair in calendar_pairs(element.text)]


def disagreements(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """A sentence for each date whose two calendars name different days."""
    return [
        f"{row['element_id']}: {row['text']!r}: {row['note']}" for row in rows if not row["agrees"]
    ]
