"""Every number of the running text: read from a result file, never typed.

`paper/numbers/*.yaml` declare the macros, one file a benchmark; `collect` reads them and says for
each where it came from. Three sections:

- `facts`: `name`, `fact` (a key of the facts that the rule passes), `format`;
- `macros`: `name`, `file` (below the results directory), `where` (column to value, list of values,
  or `{above|below: number}`; `$name` stands for a fact), `column`, `format`, and one of nothing
  (exactly one row must match), `highest`/`lowest: column` (the rows with the extreme: of several
  that share it all names are given, and a number only where they agree),
  `same: true` (all rows agree) or `count: true` (how many); `optional: true` makes a failure an en
  dash with a reason;
- `flags`: a TeX conditional. `name`, `file`, `where`, `column`: true when a row has a value there;
  `name`, `at_most: [first, second]`: true when both macros have a number and the first is not
  greater; `name`, `defined: macro`: true when the macro has a value; `name`, `fact`: whether a fact
  holds.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from scripts import files
from scripts.files import DataError
from scripts.publishing import captions, tables
from scripts.publishing.latex import EN_DASH, escape, macro_name, new_command

MACRO_KEYS = frozenset(
    {"name", "file", "where", "column", "format", "highest", "lowest", "same", "count", "optional"}
)


# In the place of a file: the number is a setting of the run.
CONFIGURATION = "configuration"

# Accuracies that differ by less are the same number.
ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Number:
    """One macro with its provenance. `rows` are line numbers of the file (the header is line 1)."""

    name: str
    value: Any
    printed: str
    file: str
    column: str
    where: Mapping[str, Any] = field(default_factory=dict)
    rows: tuple[int, ...] = ()
    reason: str = ""

    def provenance(self) -> dict[str, Any]:
        """The entry of numbers.json."""
        entry: dict[str, Any] = {
            "value": self.value,
            "printed": self.printed,
            "file": self.file,
            "where": dict(self.where),
            "rows": list(self.rows),
            "column": self.column,
        }
        return entry | ({"reason": self.reason} if self.reason else {})


@dataclass(frozen=True, slots=True)
class Collection:
    """All macros and TeX conditionals of a paper."""

    numbers: tuple[Number, ...]
    flags: Mapping[str, bool]

    def to_latex(self) -> str:
        """The file `numbers.tex`: one command per macro, one conditional per flag."""
        lines = ["% Written by the workflow from paper/numbers; do not edit."]
        lines += [new_command(n.name, _indexed(n.name, n.printed)) for n in self.numbers]
        for name, state in self.flags.items():
            lines += [rf"\newif\if{macro_name(name)}", rf"\{name}{'true' if state else 'false'}"]
        return "\n".join(lines) + "\n"

    def to_json(self, made: Callable[[str], Mapping[str, Any]] | None = None) -> dict[str, Any]:
        """The file `numbers.json`: for every macro its value and where it was read.

        `made` says of a file below the results directory how it was made (origins.Ledger.made).
        """
        macros = {n.name: n.provenance() for n in self.numbers}
        if made is not None:
            for entry in macros.values():
                if entry["file"] != CONFIGURATION:
                    entry.update(made(entry["file"]))
        return {"macros": macros, "flags": dict(self.flags)}


def _indexed(name: str, printed: str) -> str:
    """The body of a macro: the number, linked to its row in the paper's index."""
    return rf"\indexednumber{{{name}}}{{{escape(printed)}}}"


def formats(labels: Mapping[str, str]) -> dict[str, Callable[[Any], str]]:
    """The printed forms by name; `labels` gives display names of models."""
    out: dict[str, Callable[[Any], str]] = {
        "percent": lambda v: tables.percent(float(v)),
        "integer": lambda v: tables.minus(f"{int(v):,}"),
        "plain": lambda v: str(int(v)),
        "general": lambda v: tables.minus(f"{float(v):g}"),
        "text": str,
        "label": lambda v: labels.get(str(v), str(v)),
        "mode": lambda v: captions.MODE_LABELS.get(str(v), str(v)),
        "p_value": lambda v: tables.p_value(float(v)),
        "signed": lambda v: tables.signed(float(v)),
    }
    return out | {f"decimal{digits}": _decimals(digits) for digits in (1, 2, 3, 4)}


def _decimals(digits: int) -> Callable[[Any], str]:
    return lambda value: tables.decimal(float(value), digits)


class Source:
    """Result files below one directory, each read once."""

    def __init__(self, results: Path | str) -> None:
        self._results = Path(results)
        self._frames: dict[str, pd.DataFrame] = {}

    def frame(self, name: str) -> pd.DataFrame:
        """The frame of a CSV file; DataError when it does not exist."""
        if name not in self._frames:
            path = self._results / name
            if not path.is_file():
                raise DataError(f"{path}: no such file; build it or mark the macro optional")
            self._frames[name] = files.read_csv(path)
        return self._frames[name]


def collect(
    declaration: Mapping[str, Any],
    results: Path | str,
    facts: Mapping[str, Any],
    labels: Mapping[str, str],
) -> Collection:
    """Read all declared numbers. Raises DataError naming macro, file and selector."""
    known = set(declaration) - {"facts", "macros", "flags"}
    if known:
        raise DataError(f"numbers: unknown section(s) {sorted(known)}")
    source, forms = Source(results), formats(labels)
    numbers = [_fact(entry, facts, forms) for entry in declaration.get("facts", [])]
    numbers += [_macro(entry, source, facts, forms) for entry in declaration.get("macros", [])]
    _refuse_repeated(n.name for n in numbers)
    values = {n.name: n.value for n in numbers}
    flags = {
        str(entry["name"]): _about_macros(entry, values)
        if {"at_most", "defined"} & set(entry)
        else _about_fact(entry, facts)
        if "fact" in entry
        else _flag(entry, source, facts)
        for entry in declaration.get("flags", [])
    }
    return Collection(tuple(numbers), flags)


def join(parts: Iterable[Collection]) -> Collection:
    """The macros and flags of several benchmarks together; DataError for a name that repeats."""
    parts = list(parts)
    numbers = tuple(n for part in parts for n in part.numbers)
    flags = [pair for part in parts for pair in part.flags.items()]
    _refuse_repeated([*(n.name for n in numbers), *(f"if{name}" for name, _ in flags)])
    return Collection(numbers, dict(flags))


def _refuse_repeated(names: Iterable[str]) -> None:
    twice = sorted(name for name, count in Counter(names).items() if count > 1)
    if twice:
        raise DataError(f"numbers: macro(s) declared twice: {', '.join(twice)}")


def read_declaration(path: Path | str) -> dict[str, Any]:
    """Read one file of numbers. Raises DataError when it is not a mapping or not valid YAML."""
    value = files.read_yaml(path)
    if not isinstance(value, dict):
        raise DataError(f"{path}: expected the sections facts, macros and flags")
    return value


def _printed(name: str, form: str, value: Any, forms: Mapping[str, Callable[[Any], str]]) -> str:
    if form not in forms:
        raise DataError(f"macro {name}: unknown format {form!r}; known: {', '.join(sorted(forms))}")
    return forms[form](value)


def _fact(
    entry: Mapping[str, Any], facts: Mapping[str, Any], forms: Mapping[str, Callable[[Any], str]]
) -> Number:
    name, key = _name(entry), str(entry.get("fact"))
    if key not in facts:
        raise DataError(f"macro {name}: no fact {key!r}; known: {', '.join(sorted(facts))}")
    printed = _printed(name, str(entry.get("format", "text")), facts[key], forms)
    return Number(name, facts[key], printed, CONFIGURATION, key)


def _name(entry: Mapping[str, Any]) -> str:
    try:
        return macro_name(str(entry.get("name", "")))
    except ValueError as error:
        raise DataError(f"numbers: {error}") from error


def _macro(
    entry: Mapping[str, Any],
    source: Source,
    facts: Mapping[str, Any],
    forms: Mapping[str, Callable[[Any], str]],
) -> Number:
    name = _name(entry)
    entry = {key: value for key, value in entry.items() if value is not None}
    unknown = sorted(set(entry) - MACRO_KEYS)
    if unknown or "file" not in entry or ("column" not in entry and not entry.get("count")):
        detail = f"unknown key(s) {unknown}" if unknown else "file and column are needed"
        raise DataError(f"macro {name}: {detail}")
    file, column = str(entry["file"]), str(entry.get("column", ""))
    where = resolve(entry.get("where", {}), facts)
    try:
        value, rows = read_value(entry, source.frame(file), where)
    except DataError as error:
        reason = f"macro {name}, file {file}, rows where {where}: {error}"
        if not entry.get("optional"):
            raise DataError(reason) from error
        return Number(name, None, EN_DASH, file, column, where, (), reason)
    form = str(entry.get("format", "text"))
    many = value if isinstance(value, list) else [value]
    printed = captions.join_words(_printed(name, form, one, forms) for one in many)
    return Number(name, value, printed, file, column, where, rows)


def resolve(where: Mapping[str, Any], facts: Mapping[str, Any]) -> dict[str, Any]:
    """Put the facts in place of `$name`."""

    def one(value: Any) -> Any:
        if isinstance(value, str) and value.startswith("$"):
            if value[1:] not in facts:
                raise DataError(f"no fact {value[1:]!r}; known: {', '.join(sorted(facts))}")
            return facts[value[1:]]
        return value

    return {str(column): one(value) for column, value in where.items()}


def select(frame: pd.DataFrame, where: Mapping[str, Any]) -> pd.DataFrame:
    """The rows that meet all conditions. Raises DataError for a column that does not exist."""
    keep = pd.Series(True, index=frame.index)
    for column, wanted in where.items():
        if column not in frame.columns:
            raise DataError(f"no column {column!r}; columns: {', '.join(map(str, frame.columns))}")
        values = frame[column]
        if isinstance(wanted, Mapping):
            unknown = sorted(set(wanted) - {"above", "below"})
            if unknown:
                raise DataError(f"column {column!r}: unknown comparison {unknown}")
            if "above" in wanted:
                keep &= values > wanted["above"]
            if "below" in wanted:
                keep &= values < wanted["below"]
        elif isinstance(wanted, list | tuple):
            keep &= values.isin(list(wanted))
        else:
            keep &= values == wanted
    return frame[keep.fillna(False).astype(bool)]


def read_value(
    entry: Mapping[str, Any], frame: pd.DataFrame, where: Mapping[str, Any]
) -> tuple[Any, tuple[int, ...]]:
    """The value of a macro and the line numbers of the rows that it rests on."""
    found = select(frame, where)
    lines = tuple(int(i) + 2 for i in found.index)
    if entry.get("count"):
        return len(found), lines
    column = str(entry["column"])
    if column not in frame.columns:
        raise DataError(f"no column {column!r}")
    for extreme in ("highest", "lowest"):
        if extreme in entry:
            found = _extreme(found, str(entry[extreme]), extreme)
            lines = tuple(int(i) + 2 for i in found.index)
            if len(found) > 1:
                return _shared(found[column]), lines
    if entry.get("same"):
        found = found[found[column].notna()]
        if found[column].nunique() == 1:
            found = found.head(1)
    if len(found) != 1:
        raise DataError(f"{len(found)} rows match, expected 1")
    value = _python(found.iloc[0][column])
    if value is None:
        raise DataError(f"the value of {column!r} is missing")
    return value, lines


def _extreme(frame: pd.DataFrame, column: str, which: str) -> pd.DataFrame:
    """The rows with the extreme value; values that differ by rounding only are equal."""
    if column not in frame.columns:
        raise DataError(f"no column {column!r}")
    values = frame[column].dropna()
    if values.empty:
        return frame.head(0)
    extreme = values.max() if which == "highest" else values.min()
    tied: pd.DataFrame = frame.loc[values.index[(values - extreme).abs() <= ROUNDING]]
    return tied


def _shared(values: pd.Series) -> Any:
    """What several rows with the same extreme have in common: their names, or one number."""
    found = list(dict.fromkeys(_python(value) for value in values))
    if any(isinstance(value, str) for value in found):
        return found if len(found) > 1 else found[0]
    if None in found or max(found) - min(found) > ROUNDING:
        raise DataError("the rows that share the extreme have different values")
    return found[0]


def _python(value: Any) -> Any:
    """A plain Python value for JSON; missing becomes None."""
    if tables.is_missing(value):
        return None
    plain = value.item() if hasattr(value, "item") else value
    return None if isinstance(plain, float) and not math.isfinite(plain) else plain


def _flag(entry: Mapping[str, Any], source: Source, facts: Mapping[str, Any]) -> bool:
    try:
        found = select(source.frame(str(entry["file"])), resolve(entry.get("where", {}), facts))
    except DataError:
        return False
    column = entry.get("column")
    return bool(len(found)) if column is None else bool(found[str(column)].notna().any())


def _about_fact(entry: Mapping[str, Any], facts: Mapping[str, Any]) -> bool:
    key = str(entry["fact"])
    if key not in facts:
        raise DataError(f"flag {entry['name']}: no fact {key!r}; known: {', '.join(sorted(facts))}")
    return bool(facts[key])


def _about_macros(entry: Mapping[str, Any], values: Mapping[str, Any]) -> bool:
    """Whether a macro has a value, or the first of two is at most the second."""
    names = [entry["defined"]] if "defined" in entry else list(entry["at_most"])
    unknown = [name for name in names if name not in values]
    if unknown or len(names) != (1 if "defined" in entry else 2):
        raise DataError(f"flag {entry['name']}: one macro or two are needed; unknown: {unknown}")
    found = [values[name] for name in names]
    return None not in found and bool(found[0] <= found[-1])
