"""Measured against published: every figure that a paper prints beside the one of this run.

`paper/reproduction/<benchmark>.yaml` declares a benchmark's comparison; a benchmark without such a
file has none. Every cell of every published file (row x compared column) becomes one row of the
result, with a value or with the reason why there is none. The declaration:

- `title`; `models`: a CSV (`published`, `model`) of the published names of models and their names
  in the roster (empty: the roster has no such model);
- `files`: a list, one entry a published file:
  - `published`: its name below data/published. `keys`: the columns that say what a row is about.
    They and `quantities` and `ignored` (column to reason: no figures) are all its columns but
    `source`;
  - `names`: key column to `models`, or to a mapping from published to own names;
  - `measured`: what all its figures share (see below);
  - `quantities`: column to quantity; or, where every row is a quantity of its own, `values` (the
    column) and `rows` (the value of the only key to quantity);
  - `skip`: rows that are not compared: `reason` and `when`, or `same: [key, key]` (both equal);
  - `exceptions`: figures that are known not to close although margins determine them: `quantity`
    (not with `rows`), `when`, `reason`;
  - or `not_compared: reason`, with `quantities` as columns and labels: nothing of it is compared.

A quantity:

- `measured`: what stands beside it: a column, or a mapping that is laid over the file's own;
- `unit`: `percent` or, for a difference of two, `points` (a measured share is multiplied by 100),
  `share`, `difference`, `count`, `words`, or any other word; `scale` instead of the unit's;
- `digits`: decimals in print (default: those of each value as transcribed, which has lost trailing
  zeros);
- `low`, `high`: the columns of the interval of the measured value;
- `words`: published word to measured value, for `unit: words`; `dash: true`: an empty cell is a
  printed dash, which a value that could not be estimated meets;
- `evidence`: what agreement says in a replay of published margins (`EVIDENCE`), or a list of
  `{when, is}` of which the first that applies counts; `within`: the largest difference of a
  `resampled` figure, in its unit, or `{items: n, of: column}` (so many items of that many, and half
  a unit of print);
- `missing`: the reason where the value could not be estimated, instead of the flag's;
- `label`: how tables call it; or only `not_compared: reason`.

What is `measured`: `file` (below the results directory), `where` and `column` as in numbers.py,
`$key` being the value of a key column in this row (a whole number where it looks like one), with
`highest`/`lowest`/`same` as there. Besides:

- `count`: conditions; how many of the rows of `where` meet them;
- `swap: [column, column]`: where no row is found, look for the one with the two exchanged; then
  `swapped`, with a `column` and a `sign`, is laid over it;
- `minus`, `divided_by`: a second such mapping, laid over the first;
- `all_models: true`: all models that `models` names must be there, for the figure is over them; a
  file in place of `true`: its models, where the file of the value names none;
- `fact`: a fact of the run (captions.facts) instead of all that.

`when` maps key columns to a value or a list of values, in own names.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

import pandas as pd

from scripts import files
from scripts.files import DataError
from scripts.publishing import captions, measured
from scripts.publishing.latex import EN_DASH
from scripts.publishing.layouts import why_flagged
from scripts.publishing.measured import Found, MissingValueError, Reader, Run
from scripts.publishing.tables import is_missing

# What agreement with print says in a replay of published margins: the first three must agree to the
# printed digit, a resampled figure within its declared bound; the others may differ.
CLOSED = ("determined", "by construction", "copied")
RESAMPLED = "resampled"
NOT_REPLAYED = "not replayed"
EVIDENCE = (*CLOSED, RESAMPLED, "not determined", NOT_REPLAYED)
COMPARED, MISSING, NOT_COMPARED = "compared", "missing", "not compared"
NOT_A_NUMBER = "not published as a number"
CLOSES, EXCEPTED, OPEN, NEEDLESS = "yes", "excepted", "no", "needless exception"
WORDS = "words"
SCALES = {"percent": 100.0, "points": 100.0}
# A published value on the bound of an interval is inside it.
ROUNDING = 1e-9

_FILE_KEYS = frozenset(
    {"published", "keys", "ignored", "names", "measured", "quantities", "values", "rows", "skip"}
    | {"exceptions", "not_compared"}
)


@dataclass(frozen=True, slots=True)
class Quantity:
    """One compared column of a published file, or one row where each is a quantity of its own."""

    name: str
    measured: Mapping[str, Any] = field(default_factory=dict)
    unit: str = ""
    scale: float = 1.0
    digits: int | None = None
    low: str = ""
    high: str = ""
    words: Mapping[str, str] = field(default_factory=dict)
    dash: bool = False
    evidence: Any = NOT_REPLAYED
    within: Any = None
    missing: str = ""
    label: str = ""
    not_compared: str = ""


@dataclass(frozen=True, slots=True)
class Comparison:
    """One published figure beside the measured one: a row of the result.

    `printed` is the measured value in the published decimals; `difference` is measured less
    published in the published unit; `ci_low` and `ci_high` bound the measured value in that unit.
    `measured_rows` are the lines of `measured_file` that it was read from. `evidence`, `within`
    (the bound of a resampled figure) and `closes` have a value in a replay only.
    """

    published_file: str
    line: int
    column: str
    source: str
    key: str
    quantity: str
    unit: str
    published: str
    measured: str | float | None = None
    printed: str = ""
    difference: float | None = None
    equal_as_printed: bool | None = None
    ci_low: float | None = None
    ci_high: float | None = None
    covered: bool | None = None
    evidence: str = ""
    within: float | None = None
    closes: str = ""
    status: str = COMPARED
    reason: str = ""
    measured_file: str = ""
    measured_column: str = ""
    measured_rows: str = ""


COLUMNS = tuple(f.name for f in fields(Comparison))


def read_declaration(path: Path | str) -> dict[str, Any]:
    """Read a declaration and check its outline. DataError names the file and what is wrong."""
    value = files.read_yaml(path)
    if not isinstance(value, dict) or not {"title", "files"} <= set(value):
        raise DataError(f"{path}: expected title, files and, where models are named, models")
    if unknown := sorted(set(value) - {"title", "models", "files"}):
        raise DataError(f"{path}: unknown key(s) {', '.join(map(str, unknown))}")
    return value


def compare(
    declaration: Mapping[str, Any], published: Path, names: Mapping[str, str], run: Run
) -> pd.DataFrame:
    """Every published figure of a benchmark beside the measured one, in the declaration's order.

    `published` is the directory of the published files, `names` what published_names.py reads.
    Raises DataError where the declaration does not fit a file.
    """
    run = replace(run, models=tuple(dict.fromkeys(name for name in names.values() if name)))
    reader = Reader(run)
    rows = [
        asdict(row)
        for entry in declaration["files"]
        for row in _File(entry, published, names, run.replayed, reader).comparisons()
    ]
    # As objects: a column without a value in any row would else be written otherwise.
    return pd.DataFrame(rows, columns=list(COLUMNS), dtype=object)


class _File:
    """One published file and what is declared of it."""

    def __init__(
        self,
        entry: Mapping[str, Any],
        published: Path,
        names: Mapping[str, str],
        replayed: bool,
        reader: Reader,
    ) -> None:
        self._name = str(entry.get("published"))
        self._path = published / self._name
        if unknown := sorted(set(entry) - _FILE_KEYS):
            raise DataError(f"comparison of {self._name}: unknown key(s) {', '.join(unknown)}")
        self._entry, self._models = entry, names
        self._replayed, self._reader = replayed, reader
        self._keys = [str(key) for key in entry.get("keys", [])]
        self._by_row = "rows" in entry
        self._value_column = str(entry.get("values", "value"))
        self._quantities = self._read_quantities()
        self._own_names = {c: self._names(v) for c, v in entry.get("names", {}).items()}
        self._exceptions = list(entry.get("exceptions", []))
        self._met: set[int] = set()

    def _read_quantities(self) -> dict[str, Quantity]:
        """By column; by the value of the key where every row is a quantity of its own."""
        if why := self._entry.get("not_compared"):
            called = self._entry["quantities"]
            labels = called if isinstance(called, Mapping) else dict.fromkeys(called, "")
            return {n: Quantity(n, not_compared=str(why), label=x) for n, x in labels.items()}
        declared = self._entry["rows"] if self._by_row else self._entry["quantities"]
        shared = self._entry.get("measured", {})
        out = {}
        for name, value in declared.items():
            try:
                out[str(name)] = read_quantity(str(name), value, shared)
            except DataError as error:
                raise DataError(f"comparison of {self._name}, {name}: {error}") from error
        return out

    def _names(self, named: Any) -> Mapping[str, str]:
        return self._models if named == "models" else {str(k): str(v) for k, v in named.items()}

    def comparisons(self) -> Iterator[Comparison]:
        """One for every row and quantity."""
        checked = False
        keys: set[str] = set()
        for line, cells in files.iterate_csv(self._path, [*self._keys, "source"]):
            if not checked:
                self._check_columns(cells)
                checked = True
            facts = {key: _plain(self._own(key, cells[key], line)) for key in self._keys}
            keys.update(str(cells[key]) for key in self._keys[:1])
            for column, quantity in self._of_row(cells, line):
                yield self._compare(line, cells, facts, column, quantity)
        idle = [e for i, e in enumerate(self._exceptions) if i not in self._met]
        idle += [name for name in self._quantities if self._by_row and name not in keys]
        if idle:
            raise DataError(
                f"comparison of {self._name}: declared of no figure of the file: {idle}; remove "
                "or correct it"
            )

    def _check_columns(self, cells: Mapping[str, str]) -> None:
        values = [self._value_column] if self._by_row else list(self._quantities)
        declared = [*self._keys, *values, *self._entry.get("ignored", {}), "source"]
        lost, unknown = set(cells) - set(declared), set(declared) - set(cells)
        if lost or unknown or len(declared) > len(set(declared)):
            raise DataError(
                f"{self._path}: nothing is declared of column(s) {sorted(lost)}, declared but not "
                f"there: {sorted(unknown)}; name each once under keys, quantities or ignored"
            )

    def _own(self, key: str, value: str, line: int) -> str:
        """Our name for a published key; words without a list of names stay as they are."""
        known = self._own_names.get(key)
        if known is None:
            return value
        if value not in known:
            raise DataError(
                f"{self._path}, row {line}: {key} {value!r} has no name of ours; add it to the "
                "names of the comparison"
            )
        return known[value]

    def _of_row(self, cells: Mapping[str, str], line: int) -> Iterator[tuple[str, Quantity]]:
        if not self._by_row:
            yield from self._quantities.items()
            return
        key = cells[self._keys[0]]
        if key not in self._quantities:
            raise DataError(
                f"{self._path}, row {line}: nothing is declared of {key!r}; add it to rows"
            )
        yield self._value_column, self._quantities[key]

    def _compare(
        self,
        line: int,
        cells: Mapping[str, str],
        facts: Mapping[str, Any],
        column: str,
        quantity: Quantity,
    ) -> Comparison:
        text = cells[column]
        place = f"{self._path}, row {line}, {column}"
        evidence = _evidence(quantity.evidence, facts) if self._replayed else ""
        base = Comparison(
            published_file=self._name,
            line=line,
            column=column,
            source=cells["source"],
            key="; ".join(f"{key}={cells[key]}" for key in self._keys),
            quantity=quantity.label or (quantity.unit or "figure" if self._by_row else column),
            unit=quantity.unit,
            published=_as_published(text, quantity, place),
        )
        exception = self._exception(column, facts)
        if why := quantity.not_compared or self._skipped(facts):
            return replace(base, status=NOT_COMPARED, reason=why)
        if not _comparable(text, quantity):
            return replace(base, status=MISSING, reason=NOT_A_NUMBER)
        base = replace(base, evidence=evidence)
        beside = self._beside(base, cells, facts, column, quantity)
        return _closing(beside, exception) if self._replayed else beside

    def _beside(
        self,
        base: Comparison,
        cells: Mapping[str, str],
        facts: Mapping[str, Any],
        column: str,
        quantity: Quantity,
    ) -> Comparison:
        """The comparison with what is measured, or with the reason why nothing is."""
        lost = [key for key, value in facts.items() if value == "" and cells[key]]
        if lost:
            return replace(
                base, status=MISSING, reason=f"model not in the roster: {cells[lost[0]]}"
            )
        try:
            found = self._reader.measure(quantity.measured, facts)
        except MissingValueError as error:
            return replace(base, status=MISSING, reason=str(error))
        except DataError as error:
            place = f"{self._path}, row {base.line}, {column}"
            raise DataError(f"comparison of {place}: {error}") from error
        return _beside(base, cells[column], found, quantity)

    def _skipped(self, facts: Mapping[str, Any]) -> str:
        """Why a row is not compared; empty when it is."""
        for entry in self._entry.get("skip", []):
            same = len({facts[key] for key in entry.get("same", [])}) == 1
            if same or ("when" in entry and applies(entry["when"], facts)):
                return str(entry["reason"])
        return ""

    def _exception(self, column: str, facts: Mapping[str, Any]) -> str:
        """The reason why a figure is known not to close; empty for all others."""
        for index, entry in enumerate(self._exceptions):
            if entry.get("quantity", column) == column and applies(entry["when"], facts):
                self._met.add(index)
                return str(entry["reason"])
        return ""


def read_quantity(name: str, declared: Mapping[str, Any], shared: Mapping[str, Any]) -> Quantity:
    """A quantity as declared; `shared` is what the whole file says of `measured`."""
    known = {f.name for f in fields(Quantity)} - {"name"}
    if not isinstance(declared, Mapping) or (unknown := sorted(set(declared) - known)):
        raise DataError(f"expected {', '.join(sorted(known))}; found {declared}")
    del unknown
    if "not_compared" in declared:
        return Quantity(name, **declared)
    own = declared.get("measured", {})
    own = {"column": own} if isinstance(own, str) else own
    where = {**shared.get("where", {}), **own.get("where", {})}
    merged = {**shared, **own, "where": where}
    if unknown := sorted(set(merged) - measured.KEYS):
        raise DataError(f"unknown key(s) of measured: {', '.join(unknown)}")
    unit = str(declared.get("unit", ""))
    if not unit:
        raise DataError("no unit; say percent, share, count, words or what it is")
    values = {"scale": SCALES.get(unit, 1.0), **declared, "measured": merged}
    if unit == WORDS:
        values["words"] = {str(k): str(v) for k, v in declared.get("words", {}).items()}
    return Quantity(name, **values)


def applies(when: Mapping[str, Any], facts: Mapping[str, Any]) -> bool:
    """Whether a row's keys, in own names, have the wanted value or one of the wanted values."""
    if unknown := sorted(set(when) - set(facts)):
        raise DataError(f"when: no key {', '.join(unknown)}; keys: {', '.join(facts)}")
    return all(
        facts[key] in (wanted if isinstance(wanted, list) else [wanted])
        for key, wanted in when.items()
    )


def _evidence(declared: Any, facts: Mapping[str, Any]) -> str:
    """The class that applies to a row."""
    cases = declared if isinstance(declared, list) else [{"is": declared}]
    found = next((c["is"] for c in cases if applies(c.get("when", {}), facts)), NOT_REPLAYED)
    if found not in EVIDENCE:
        raise DataError(f"evidence {found!r}; expected one of {', '.join(EVIDENCE)}")
    return str(found)


def _plain(text: str) -> str | int:
    """A key as a statistics file has it: digits are a whole number."""
    return int(text) if text.isascii() and text.isdigit() else text


def _comparable(text: str, quantity: Quantity) -> bool:
    """Whether there is something to compare with: a number, a limit such as <0.001, or words."""
    if quantity.unit == WORDS:
        return bool(text) or text in quantity.words
    if not text:
        return quantity.dash
    return _number(text.removeprefix("<")) is not None


def _number(text: str) -> Decimal | None:
    try:
        value = Decimal(text)
    except InvalidOperation:
        return None
    return value if value.is_finite() else None


def _as_published(text: str, quantity: Quantity, place: str) -> str:
    """The published figure as printed: with the decimals that the transcription has lost."""
    number = _number(text)
    if not text:
        return EN_DASH
    if quantity.unit == WORDS or number is None or quantity.digits is None:
        return text
    if number != round(number, quantity.digits):
        raise DataError(f"{place}: {text} has more than {quantity.digits} decimals; correct digits")
    return f"{number:.{quantity.digits}f}"


def in_print(value: float, digits: int) -> str:
    """A number with fixed decimals; a negative zero loses its sign."""
    text = f"{value:.{digits}f}"
    return text.removeprefix("-") if not text.strip("-0.") else text


def _beside(base: Comparison, text: str, found: Found, quantity: Quantity) -> Comparison:
    """The measured value beside the published one."""
    base = replace(
        base,
        measured_file=found.file,
        measured_column=found.column,
        measured_rows=" ".join(map(str, found.lines)),
    )
    if is_missing(found.value):
        if quantity.dash and not text:
            return replace(base, printed=EN_DASH, equal_as_printed=True)
        why = quantity.missing or (why_flagged(found.row) if found.row else captions.NOT_ESTIMATED)
        return replace(base, status=MISSING, reason=why)
    if quantity.unit == WORDS:
        return _words(base, text, str(found.value), quantity.words)
    value = quantity.scale * float(found.value)
    if not math.isfinite(value):
        return replace(base, status=MISSING, reason=captions.NOT_ESTIMATED)
    low, high = (
        _bound(found.row, column, quantity.scale) for column in (quantity.low, quantity.high)
    )
    base = replace(base, measured=value, ci_low=low, ci_high=high)
    return replace(
        _numbers(base, text, value), within=_allowed(quantity, found.row, base.published)
    )


def _words(base: Comparison, text: str, value: str, words: Mapping[str, str]) -> Comparison:
    """Words are equal when they name the same; ours are shown as the paper would print them."""
    shown = {own: published or EN_DASH for published, own in words.items()}
    equal = value == words.get(text, text)
    printed = base.published if equal else shown.get(value, value)
    return replace(base, measured=value, printed=printed, equal_as_printed=equal)


def _numbers(base: Comparison, text: str, value: float) -> Comparison:
    """Numbers are equal when they print the same with the published decimals."""
    if not text:
        return replace(base, printed=f"{value:g}", equal_as_printed=False)
    limited = base.published.startswith("<")
    digits = len(base.published.partition(".")[2])
    printed = in_print(value, digits)
    if limited:
        below = value < float(base.published[1:])
        return replace(base, printed=base.published if below else printed, equal_as_printed=below)
    published = float(base.published)
    covered = None
    if base.ci_low is not None and base.ci_high is not None:
        covered = base.ci_low - ROUNDING <= published <= base.ci_high + ROUNDING
    return replace(
        base,
        printed=printed,
        difference=round(value - published, 10),
        equal_as_printed=printed == in_print(published, digits),
        covered=covered,
    )


def _bound(row: Mapping[str, Any], column: str, scale: float) -> float | None:
    """A bound of the interval in the published unit; None where there is none."""
    if not column:
        return None
    if row and column not in row:
        raise DataError(f"no column {column!r} of the interval")
    value = row.get(column)
    return None if value is None or is_missing(value) else scale * float(value)


def _allowed(quantity: Quantity, row: Mapping[str, Any], published: str) -> float | None:
    """The largest difference of a resampled figure, in its unit."""
    if not isinstance(quantity.within, Mapping):
        return None if quantity.within is None else float(quantity.within)
    half: float = 0.5 / 10 ** len(published.partition(".")[2])
    step: float = quantity.within["items"] / int(row[quantity.within["of"]])
    return round(quantity.scale * step + half, 10)


def _closing(row: Comparison, exception: str) -> Comparison:
    """Whether a replay closes on this figure, where margins determine it."""
    if row.evidence not in (*CLOSED, RESAMPLED):
        return row
    closed = bool(row.equal_as_printed)
    if row.evidence == RESAMPLED and row.within is not None and row.difference is not None:
        closed = abs(row.difference) <= row.within + ROUNDING
    if exception:
        return replace(row, closes=NEEDLESS if closed else EXCEPTED, reason=exception)
    return replace(row, closes=CLOSES if closed else OPEN)
