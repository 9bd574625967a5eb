"""What became of every page of the corpus, and sentences on what needs a person's attention."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from scripts.documents.manifest import ManifestEntry
from scripts.documents.records import date_difference
from scripts.files import DataError, read_csv

COLUMNS = (
    *("document", "page", "engine", "repairs", "status", "characters_in", "characters_out"),
    *("order_faults", "mojibake", "reason"),
)
_SUFFIX = ".report.csv"
#: Statuses of pages that give no text although they hold some.
UNREAD = ("needs_ocr", "failed")


def gather_reports(paths: Iterable[Path | str]) -> pd.DataFrame:
    """All reports in one table with COLUMNS, by document and page; cells stay as written.

    DataError naming the file for a report that lacks a column or speaks of another document.
    """
    frames = []
    for path in sorted(map(str, paths)):
        document = Path(path).name.removesuffix(_SUFFIX)
        frame = read_csv(path, dtype=str)
        if "document" not in frame.columns:
            frame.insert(0, "document", document)
        missing = [name for name in COLUMNS if name not in frame.columns]
        if missing:
            raise DataError(f"{path}: no column {', '.join(missing)}; parse the document again")
        others = sorted(set(frame["document"].dropna()) - {document})
        if others:
            raise DataError(f"{path}: speaks of {others}, not of {document}; parse it again")
        frames.append(frame[list(COLUMNS)])
    if not frames:
        return pd.DataFrame(columns=list(COLUMNS))
    whole = pd.concat(frames, ignore_index=True)
    order = pd.to_numeric(whole["page"], errors="coerce").fillna(0)
    ordered: pd.DataFrame = whole.assign(order=order).sort_values(
        ["document", "order"], kind="stable"
    )
    return ordered[list(COLUMNS)].reset_index(drop=True)


def unread_pages(parsing: pd.DataFrame) -> list[str]:
    """A sentence for each page or document whose text could not be read."""
    out = []
    for row in parsing[parsing["status"].isin(UNREAD)].fillna("").to_dict("records"):
        page = f", page {row['page']}" if row["page"] else ""
        reason = f" ({row['reason']})" if row["reason"] else ""
        out.append(f"{row['document']}{page}: {row['status']}{reason}")
    return out


def date_differences(
    records: Sequence[tuple[str, Mapping[str, Any]]], manifest: Mapping[str, ManifestEntry]
) -> list[str]:
    """A sentence for each document whose date on page 1 is not the manifest's.

    DataError for a record that the manifest does not name, and for one that has no record.
    """
    unknown = sorted({document for document, _ in records} - set(manifest))
    if unknown:
        raise DataError(f"records of {unknown}: not in the manifest; remove them or add rows")
    missing = sorted(set(manifest) - {document for document, _ in records})
    if missing:
        raise DataError(f"no record of {missing}, which the manifest names; parse them")
    out = []
    for document, record in sorted(records, key=lambda pair: pair[0]):
        note = date_difference(record, manifest[document].to_json())
        if note:
            out.append(f"{document}: {note}")
    return out
