"""Answers that were stored under another name, taken into the store that is read now."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from scripts.inference.store import FIELDS, Contents, ResponseStore, read_file, same_answer
from scripts.records import Response


def adopt(store: Path | str, older: Iterable[Path]) -> tuple[int, int]:
    """Take the answers of older store files, which stay as they are, into a store.

    Returns how many were taken, and how many were left because another answer to the same question
    stands in the store or in an earlier file: the first one counts. Errors are left too. Once all
    are taken the store is only read. Raises StoreError naming the file and line of a bad line.
    """
    found: dict[str, dict[str, Any]] = {}
    differing = 0
    for path in older:
        contents = Contents()
        read_file(path, contents)
        for key, stored in contents.answers.items():
            if "error" not in stored:
                differing += not same_answer(found.setdefault(key, stored), stored)
    target = ResponseStore(store).load() if found else None
    if target is None or all(target.good(key) for key in found):
        return 0, differing
    with ResponseStore(store) as target:
        missing = {key: stored for key, stored in found.items() if target.good(key) is None}
        target.append((key, _response(stored)) for key, stored in missing.items())
    return len(missing), differing


def _response(stored: Mapping[str, Any]) -> Response:
    """A stored answer as a Response of no request: the store keeps only what the answer says."""
    fields: dict[str, Any] = {name: stored.get(name) for name in FIELDS}
    return Response(request_id="", item_id="", model="", mode="", **fields)
