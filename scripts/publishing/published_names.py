"""How the papers call the models of the roster: one file a paper below data/published/names."""

from __future__ import annotations

from pathlib import Path

from scripts.files import DataError, iterate_csv


def read_names(path: Path | str) -> dict[str, str]:
    """Published names of models and their names in the roster (empty: it has no such model).

    Raises DataError for a published name that stands twice.
    """
    out: dict[str, str] = {}
    for line, row in iterate_csv(path, ("published", "model")):
        if row["published"] in out:
            raise DataError(f"{path}, row {line}: {row['published']!r} stands twice; remove one")
        out[row["published"]] = row["model"]
    return out
