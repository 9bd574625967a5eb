"""The measured value that stands beside a published figure, or the reason why there is none.

`measure` reads what the declaration of a comparison calls `measured` (reproduction.py): the file,
the rows and the column in the language of numbers.py, and what is computed from two such values.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd

from scripts.files import DataError
from scripts.publishing import captions, numbers
from scripts.publishing.captions import Context
from scripts.publishing.tables import is_missing

KEYS = frozenset(
    {"file", "where", "column", "highest", "lowest", "same", "count", "swap", "swapped", "minus"}
    | {"divided_by", "all_models", "fact"}
)
_SELECTING = ("highest", "lowest", "same")
# What a run lacks, by the column that names it; any other column is called by its own name.
_LACKS = {
    **{"model": "model", "model_a": "model", "model_b": "model", "shots": "number of shots"},
    **{"judge_a": "judge", "judge_b": "judge", "published_row": "tokeniser"},
}


class MissingValueError(Exception):
    """There is no measured value; the message says why: what is lacking, a colon, which one."""


@dataclass(frozen=True, slots=True)
class Run:
    """What a comparison must know of the run: its results, the files that it makes, its facts.

    `made` are paths below the results directory; a file beside them may be left from another run
    and is not read. `models` are the names in the roster that the paper's models have.
    """

    results: Path
    made: Collection[str]
    context: Context
    models: tuple[str, ...] = ()

    @property
    def replayed(self) -> bool:
        """Whether the answers were made from published margins."""
        return self.context.kind == "replay"


@dataclass(frozen=True, slots=True)
class Found:
    """A measured value as the file has it, its row, and where that stands (lines from 1)."""

    value: Any
    row: Mapping[str, Any] = field(default_factory=dict)
    file: str = ""
    column: str = ""
    lines: tuple[int, ...] = ()


class Reader:
    """Measured values of one run; every file is read once."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._source = numbers.Source(run.results)
        self._facts = captions.facts(run.context)

    def measure(self, wanted: Mapping[str, Any], facts: Mapping[str, Any]) -> Found:
        """The value for one published row, whose keys are the facts.

        Raises MissingValueError where the run has none, DataError where the declaration is wrong.
        A row whose value could not be estimated is found, with the value None.
        """
        if "fact" in wanted:
            return self._fact(str(wanted["fact"]))
        file = str(wanted.get("file", ""))
        if file not in self._run.made:
            raise MissingValueError(f"file not made in this run: {file}")
        found, wanted = self._rows(wanted, self._source.frame(file), facts)
        value = self._value(wanted, found, facts)
        return self._second(wanted, value, facts)

    def _fact(self, name: str) -> Found:
        if name not in self._facts:
            known = ", ".join(sorted(self._facts))
            raise DataError(f"no fact {name!r} of the run; known: {known}")
        return Found(self._facts[name], file="configuration", column=name)

    def _rows(
        self, wanted: Mapping[str, Any], frame: pd.DataFrame, facts: Mapping[str, Any]
    ) -> tuple[pd.DataFrame, Mapping[str, Any]]:
        """The rows that are meant, and the declaration as it reads for them."""
        where = numbers.resolve(wanted.get("where", {}), facts)
        if models := wanted.get("all_models"):
            self._require_models(frame if models is True else self._models_of(str(models)))
        found = numbers.select(frame, where)
        if found.empty and "swap" in wanted:
            first, second = wanted["swap"]
            turned = {**where, first: where[second], second: where[first]}
            found = numbers.select(frame, turned)
            wanted = {**wanted, **wanted.get("swapped", {})}
        if found.empty:
            raise MissingValueError(_why_no_row(frame, where))
        return found, wanted

    def _models_of(self, file: str) -> pd.DataFrame:
        """The file that names the models behind a file that does not."""
        if file not in self._run.made:
            raise MissingValueError(f"file not made in this run: {file}")
        return self._source.frame(file)

    def _require_models(self, frame: pd.DataFrame) -> None:
        """The figure is over all models of the paper: some of them alone would be another one."""
        columns = [c for c in ("model", "model_a", "model_b") if c in frame.columns]
        present = {str(value) for column in columns for value in frame[column].unique()}
        lost = [name for name in self._run.models if name not in present]
        if lost:
            raise MissingValueError(
                f"over models that are not all in this run: {len(lost)} of "
                f"{len(self._run.models)} are not"
            )

    def _value(
        self, wanted: Mapping[str, Any], found: pd.DataFrame, facts: Mapping[str, Any]
    ) -> Found:
        file, column = str(wanted["file"]), str(wanted.get("column", ""))
        if "count" in wanted:
            counted = numbers.select(found, numbers.resolve(wanted["count"], facts))
            lines = tuple(int(i) + 2 for i in counted.index)
            return Found(len(counted), file=file, column="(rows)", lines=lines)
        if column not in found.columns:
            raise DataError(f"{file}: no column {column!r}")
        chosen = any(key in wanted for key in _SELECTING)
        if len(found) == 1 or not chosen:
            return _one(found, file, column, int(wanted.get("sign", 1)))
        entry = {key: wanted[key] for key in (*_SELECTING, "column") if key in wanted}
        try:
            value, lines = numbers.read_value(entry, found, {})
        except DataError as error:
            raise MissingValueError(f"{captions.NOT_ESTIMATED}: {error}") from error
        return Found(value, file=file, column=column, lines=lines)

    def _second(self, wanted: Mapping[str, Any], first: Found, facts: Mapping[str, Any]) -> Found:
        """The difference or the quotient of two values; alone it has no interval and no row."""
        for operation in ("minus", "divided_by"):
            if operation not in wanted or first.value is None:
                continue
            other = wanted[operation]
            left_out = {"minus", "divided_by", "count" if "column" in other else ""}
            own = {k: v for k, v in wanted.items() if k not in left_out}
            where = {**own.get("where", {}), **other.get("where", {})}
            second = self.measure({**own, **other, "where": where}, facts)
            if second.value is None:
                return second
            if operation == "divided_by" and not second.value:
                raise MissingValueError(f"{captions.NOT_ESTIMATED}: division by zero")
            minus = operation == "minus"
            value = first.value - second.value if minus else first.value / second.value
            columns = list(dict.fromkeys([first.column, second.column]))
            lines = tuple(dict.fromkeys([*first.lines, *second.lines]))
            first = Found(value, file=first.file, column=", ".join(columns), lines=lines)
        return first


def _one(found: pd.DataFrame, file: str, column: str, sign: int) -> Found:
    """The value of the only row."""
    if len(found) != 1:
        raise DataError(f"{file}: {len(found)} rows match, expected 1; say more under where")
    row = {str(k): v for k, v in found.iloc[0].items()}
    value = row[column]
    line = (int(found.index[0]) + 2,)
    empty = Found(None, row, file, column, line)
    if is_missing(value):
        return empty
    plain = value.item() if hasattr(value, "item") else value
    return replace(empty, value=sign * plain if sign != 1 else plain)


def _why_no_row(frame: pd.DataFrame, where: Mapping[str, Any]) -> str:
    """The first thing asked for that no row has; else that no row has all of it."""
    for column, wanted in where.items():
        if numbers.select(frame, {column: wanted}).empty:
            if isinstance(wanted, Mapping):
                return f"no such value in this run: {column} {_listed(wanted)}"
            return f"{_LACKS.get(str(column), str(column))} not in this run: {_listed(wanted)}"
    asked = ", ".join(_listed(wanted) for wanted in where.values())
    return f"not evaluated together in this run: {asked}"


def _listed(wanted: Any) -> str:
    if isinstance(wanted, Mapping):
        return ", ".join(f"{key} {value}" for key, value in wanted.items())
    several = isinstance(wanted, Iterable) and not isinstance(wanted, str)
    return ", ".join(str(one) for one in wanted) if several else str(wanted)
