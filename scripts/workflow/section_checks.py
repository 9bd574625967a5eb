"""Checks that the configurations of several benchmarks need; each yields a sentence per problem.

For the `configuration.py` of a benchmark's folder (scripts/workflow/benchmarks.py).
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from datetime import MAXYEAR, MINYEAR
from typing import Any

from scripts.inference.spending import is_local

Section = Mapping[str, Any]


def unknown(key: str, name: str, known: Iterable[str], where: str) -> str:
    """The sentence for a name that is not where it should be, with the nearest one that is."""
    names = list(known)
    near = difflib.get_close_matches(name, names, n=1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    return f"{key}: {name!r} is not in {where}; {hint}known: {', '.join(names)}"


def range_problems(key: str, bounds: list[Any]) -> Iterator[str]:
    """A range whose first end is above the second."""
    low, high = bounds
    if low > high:
        yield f"{key}: {low} is above {high}"


def year_problems(key: str, years: list[Any]) -> Iterator[str]:
    """Years that no calendar of the computer has."""
    if not MINYEAR <= min(years) <= max(years) <= MAXYEAR:
        yield f"{key}: {years} must lie in {MINYEAR} to {MAXYEAR}"


def above_gpu_limit(key: str, needed: int, config: Section) -> Iterator[str]:
    """A job that wants more GPUs than `run.gpu_limit`."""
    limit = config["run"]["gpu_limit"]
    if limit is not None and needed > limit:
        yield (
            f"{key}: needs {needed} GPUs but run.gpu_limit is {limit}; "
            "raise the limit or lower tensor_parallel or gpus"
        )


def price_problems(names: Iterable[str], roster: str, config: Section) -> Iterator[str]:
    """A cost cap needs the price of everything hosted; a server on this machine is free."""
    cap = config["run"].get("spend_cap") or {}
    for name in names if cap.get("cost") is not None else ():
        entry = config[roster][name]
        hosted = entry["backend"] == "openai" and not is_local(str(entry.get("base_url") or ""))
        if hosted and entry.get("price") is None:
            yield (
                f"{roster}.{name}.price: missing; run.spend_cap.cost needs the price of every "
                "hosted model of the run (0 for one that costs nothing)"
            )
