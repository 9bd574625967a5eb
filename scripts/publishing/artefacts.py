"""Checks on the lists of tables and figures that a benchmark offers.

Imports nothing heavy: the Snakefile reads those lists while it parses.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from scripts.files import DataError


def require(
    kind: str, known: Mapping[str, tuple[str, ...]], name: str, frames: Iterable[str]
) -> None:
    """Raise DataError unless a "table" or "figure" is known and its statistics are at hand."""
    if name not in known:
        raise DataError(f"unknown {kind} {name!r}; known: {', '.join(sorted(known))}")
    lacking = sorted(set(known[name]) - set(frames))
    if lacking:
        raise DataError(f"{kind} {name}: input {', '.join(lacking)} is missing")
