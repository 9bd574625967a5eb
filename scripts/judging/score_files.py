"""What the scores of every benchmark have in common: rows that belong together, typed frames.

A benchmark names the columns of its score file with their dtypes, and the order of its rows; what
is here checks that items, requests and responses fit, and reads, types and gathers the frames.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from scripts.files import DataError, read_records
from scripts.records import Item, Request, Response

# Longest answer that is stored; what is cut is marked by an ellipsis.
STORED_CHARACTERS = 2000


class ScoringError(DataError):
    """Items, requests and responses do not belong together; the message names the rows."""


def some(names: Iterable[str], shown: int = 5) -> str:
    """A few names in order, and how many more there are."""
    ordered = sorted(set(names))
    more = f" and {len(ordered) - shown} more" if len(ordered) > shown else ""
    return ", ".join(ordered[:shown]) + more


def _unique(ids: Sequence[str], what: str) -> None:
    if len(set(ids)) < len(ids):
        seen: set[str] = set()
        twice = {name for name in ids if name in seen or seen.add(name)}  # type: ignore[func-returns-value]
        raise ScoringError(f"{what} given more than once: {some(twice)}; remove the duplicates")


def storable(text: str) -> str:
    """A text that every file format can hold: lone surrogates escaped, very long text cut."""
    if len(text) > STORED_CHARACTERS:
        text = text[:STORED_CHARACTERS] + "…"
    if text.isascii():
        return text
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def check_run(
    items: Sequence[Item], requests: Sequence[Request], responses: Sequence[Response]
) -> tuple[dict[str, Item], dict[str, Request]]:
    """Items and requests by their ids, after checking that every row has its partner.

    Raises ScoringError, naming the rows, for duplicate items, requests or responses, a request
    without its item, a response without its request, and a run that does not answer every request.
    """
    _unique([item.item_id for item in items], "items")
    _unique([request.request_id for request in requests], "requests")
    item_of = {item.item_id: item for item in items}
    request_of = {request.request_id: request for request in requests}
    orphans = [r.request_id for r in requests if r.item_id not in item_of]
    if orphans:
        raise ScoringError(
            f"requests whose item is unknown: {some(orphans)}; build items and requests again"
        )
    _check_responses(request_of, responses)
    return item_of, request_of


def _check_responses(request_of: Mapping[str, Request], responses: Sequence[Response]) -> None:
    unknown = [r.request_id for r in responses if r.request_id not in request_of]
    if unknown:
        raise ScoringError(
            f"responses to unknown requests: {some(unknown)}; the prompts changed after the run, "
            "run the model again"
        )
    swapped = [r.request_id for r in responses if request_of[r.request_id].item_id != r.item_id]
    if swapped:
        raise ScoringError(f"responses whose item_id is not their request's: {some(swapped)}")
    answered: dict[tuple[str, str], list[str]] = {}
    for response in responses:
        answered.setdefault((response.model, response.mode), []).append(response.request_id)
    for (model, mode), ids in sorted(answered.items()):
        _unique(ids, f"responses of {model} ({mode})")
        missing = set(request_of) - set(ids)
        if missing:
            raise ScoringError(
                f"{model} ({mode}) has no response to {len(missing)} request(s): {some(missing)}; "
                "run the model again"
            )
    if request_of and not responses:
        raise ScoringError(f"no response at all to {len(request_of)} request(s)")


def read_run(paths: Iterable[Path | str], model: str, mode: str) -> list[Response]:
    """The responses of one model in one mode; a row of another run is a ScoringError."""
    responses: list[Response] = []
    for path in paths:
        rows = read_records(path, Response)
        foreign = sorted({(r.model, r.mode) for r in rows} - {(model, mode)})
        if foreign:
            raise ScoringError(f"{path}: holds responses of {foreign}, expected {(model, mode)}")
        responses += rows
    return responses


def with_dtypes(columns: Mapping[str, Any], dtypes: Mapping[str, str]) -> pd.DataFrame:
    """The columns of a score frame in their order and with their dtypes."""
    return pd.DataFrame(
        {name: pd.Series(columns[name], dtype=dtype) for name, dtype in dtypes.items()}
    )


def read_scores(path: Path | str, dtypes: Mapping[str, str]) -> pd.DataFrame:
    """Read a score file; the columns get their dtypes back (Parquet keeps no pandas types).

    Raises ScoringError naming the file if a column is missing or unknown.
    """
    frame = pd.read_parquet(path)
    missing = [name for name in dtypes if name not in frame]
    unknown = [name for name in frame if name not in dtypes]
    if missing or unknown:
        raise ScoringError(
            f"{path}: columns missing {missing}, unknown {unknown}; score the responses again"
        )
    return with_dtypes({name: frame[name] for name in dtypes}, dtypes)


def gather_scores(frames: Sequence[pd.DataFrame], sort_columns: Sequence[str]) -> pd.DataFrame:
    """All runs' scores in one frame; a row that stands twice is a ScoringError."""
    if not frames:
        raise ScoringError("no score files to gather; name at least one model in the configuration")
    frame = sorted_scores(pd.concat(frames, ignore_index=True), sort_columns)
    twice = frame.duplicated(["model", "mode", "request_id"])
    if twice.any():
        row = frame[twice].iloc[0]
        raise ScoringError(
            f"{int(twice.sum())} score(s) stand twice, the first for {row['model']} "
            f"({row['mode']}), request {row['request_id']}; remove the duplicate score file"
        )
    return frame


def sorted_scores(frame: pd.DataFrame, sort_columns: Sequence[str]) -> pd.DataFrame:
    """Rows in the order of a benchmark's score file."""
    return frame.sort_values(list(sort_columns), kind="stable", ignore_index=True)
