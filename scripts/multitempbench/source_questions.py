"""One source of seed questions by the name of its reader."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from scripts.corpora.freshbench import read_freshbench
from scripts.corpora.sources import verify
from scripts.corpora.test_of_time import read_test_of_time
from scripts.corpora.tram import read_arithmetic, read_relations
from scripts.files import DataError
from scripts.multitempbench.candidates import Outcome
from scripts.multitempbench.freshbench_questions import freshbench_outcomes
from scripts.multitempbench.own_questions import read_own_questions
from scripts.multitempbench.tot_questions import outcomes_of_test_of_time
from scripts.multitempbench.tram_questions import arithmetic_outcomes, relation_outcomes

_READERS: dict[str, Callable[[Path | str, str], list[Outcome]]] = {
    "tram_arithmetic": lambda path, name: arithmetic_outcomes(name, read_arithmetic(path)),
    "tram_relation": lambda path, name: relation_outcomes(name, read_relations(path)),
    "test_of_time": lambda path, name: outcomes_of_test_of_time(name, read_test_of_time(path)),
    "freshbench": lambda path, name: freshbench_outcomes(name, read_freshbench(path)),
    "seed_questions": read_own_questions,
}


def read_source(path: Path | str, name: str, entry: Mapping[str, Any]) -> list[Outcome]:
    """All rows of a source, verified against its configuration entry.

    `name` is the corpus' name in the configuration. Raises DataError for another checksum, an
    unknown reader, or another number of rows than the entry's `entries`.
    """
    verify(path, entry)
    reader = _READERS.get(entry["reader"])
    if reader is None:
        raise DataError(
            f"corpora.{name}: no reader {entry['reader']!r} for questions; "
            f"use one of {', '.join(_READERS)}"
        )
    outcomes = reader(path, name)
    if entry.get("entries") not in (None, len(outcomes)):
        raise DataError(f"{path}: {len(outcomes)} rows, expected {entry['entries']}")
    return outcomes
