"""Strict reading of files that hold ready-made answers (archives, baselines)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from scripts.files import DataError, iterate_jsonl
from scripts.inference.interface import BackendError, ModelSpec
from scripts.records import canonical_json


def answer_file(spec: ModelSpec) -> Path:
    """The file of a model whose answers are read; BackendError when it is not there."""
    if spec.path is None or not Path(spec.path).is_file():
        raise BackendError(
            f"models.{spec.name}: no file of answers at {spec.path}; build or download it first"
        )
    return Path(spec.path)


def row_error(path: Path, number: int, message: str) -> DataError:
    """An error that names file and line."""
    return DataError(f"{path}, line {number}: {message}")


def item_key(item_id: str, setting: Mapping[str, Any]) -> str:
    """How an item in a setting is looked up."""
    return canonical_json([item_id, dict(setting)])


def read_answers(
    path: Path, allowed: Collection[str], *, by_item: bool
) -> dict[str, dict[str, Any]]:
    """Rows by request id, or with `by_item` also by item id and setting (`item_key`).

    Raises DataError naming file and line for an unknown field, a wrong type, a row without text and
    error, a row that names no request, and a request that is answered twice.
    """
    rows: dict[str, dict[str, Any]] = {}
    lines: dict[str, int] = {}
    for number, row in iterate_jsonl(path):
        unknown = sorted(set(row) - set(allowed))
        if unknown:
            raise row_error(path, number, f"unknown field(s) {unknown}; allowed: {sorted(allowed)}")
        key = _key(path, number, row, by_item)
        _check_row(path, number, row)
        if key in rows:
            raise row_error(path, number, f"the request of line {lines[key]} is answered again")
        rows[key] = row
        lines[key] = number
    return rows


def _key(path: Path, number: int, row: Mapping[str, Any], by_item: bool) -> str:
    request_id = row.get("request_id")
    if isinstance(request_id, str) and request_id:
        return request_id
    if by_item and isinstance(row.get("item_id"), str) and isinstance(row.get("setting"), dict):
        return item_key(row["item_id"], row["setting"])
    wanted = "request_id, or item_id (text) and setting (object)" if by_item else "request_id"
    raise row_error(path, number, f"the row names no request; give {wanted}")


def _check_row(path: Path, number: int, row: Mapping[str, Any]) -> None:
    for name in ("text", "reasoning", "finish_reason", "error"):
        if row.get(name) is not None and not isinstance(row[name], str):
            raise row_error(path, number, f"{name} is {type(row[name]).__name__}, expected text")
    if row.get("text") is None and not row.get("error"):
        raise row_error(path, number, "the row has neither text nor error")
    usage = row.get("usage", {})
    if not isinstance(usage, dict) or not all(
        value is None or (isinstance(value, int) and not isinstance(value, bool) and value >= 0)
        for value in usage.values()
    ):
        raise row_error(path, number, "usage must map names to token counts (or null)")
    unknown = sorted(set(usage) - {"prompt", "completion", "reasoning"})
    if unknown:
        raise row_error(path, number, f"usage has unknown field(s) {unknown}")
