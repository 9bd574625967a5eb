"""What became of every call and row of a construction step, so that nothing is lost silently."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Literal

from scripts.files import DataError, write_csv

#: Where the answers of a construction step come from.
METHODS = ("model", "shipped")

Status = Literal["ok", "empty", "absent", "unusable", "dropped", "conflict", "refused"]


@dataclass(frozen=True, slots=True)
class ReportRow:
    """One call, pair or row.

    `status`: `ok`; `empty` (a usable reply that says there is nothing); `absent` (no answer was
    there to be read); `unusable` (a reply that cannot be read); `dropped` (one row of a usable
    reply); `conflict` (contradicting verdicts); `refused` (a merge that a rejection forbids).
    """

    step: str
    subject: str
    status: Status
    reason: str = ""


COLUMNS = tuple(field.name for field in fields(ReportRow))


def write_report(path: Path | str, rows: Iterable[ReportRow]) -> None:
    """Write the rows as CSV in the order given; without rows only the header."""
    import pandas as pd  # noqa: PLC0415 - a heavy import that the library modules do not need

    write_csv(path, pd.DataFrame([asdict(row) for row in rows], columns=list(COLUMNS)))


def known_method(method: str) -> str:
    """The method, or DataError when it is none of `METHODS`."""
    if method not in METHODS:
        raise DataError(f"tide.construction.method {method!r}; known: {', '.join(METHODS)}")
    return method
