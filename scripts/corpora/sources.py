"""What config.yaml says about a corpus, and the check that a file on disk is that corpus."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scripts.files import DataError, sha256_file


class CorpusError(DataError):
    """A corpus cannot be had, or is not what the configuration says."""


def verify(path: Path | str, entry: Mapping[str, Any]) -> None:
    """Raise CorpusError unless the file has the size and SHA-256 that its entry gives.

    An entry without `sha256` (pages of a wiki, whose revisions a lock file pins) is not checked.
    """
    path = Path(path)
    if not path.is_file():
        raise CorpusError(f"{path}: no such file; {remedy(entry)}")
    size = path.stat().st_size
    if entry.get("size") not in (None, size):
        raise CorpusError(f"{path}: {size} bytes, expected {entry['size']}; {remedy(entry)}")
    expected = entry.get("sha256")
    if expected is None:
        return
    found = sha256_file(path)
    if found != expected:
        raise CorpusError(f"{path}: sha256 {found}, expected {expected}; {remedy(entry)}")


def remedy(entry: Mapping[str, Any]) -> str:
    """What to do about a wrong or missing file of this entry."""
    if "url" in entry or "mediawiki" in entry:
        return "delete it and run the workflow again, which fetches it"
    if str(entry.get("path", "")).startswith("data/raw/"):
        return "it is not fetched: put it there by hand, config.yaml says where it comes from"
    return "it ships with the project: restore it (git checkout), or update config.yaml on purpose"
