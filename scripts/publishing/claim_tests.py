"""The kinds of tests that a claim may name: a closed set, each from rows to one outcome.

| kind | holds where | p | interval |
|---|---|---|---|
| `threshold` | the value is beyond the threshold; a pure threshold, without an error | - | - |
| `interval` | the whole interval of the statistics file is beyond the threshold | - | read |
| `p_value` | the value is beyond the threshold, the p of the file is at most alpha | read | read |
| `mean` | the mean over units (models, languages) is, by Student's t | here | here |
| `slope` | the mean over units of a slope along ordered rows is, by Student's t | here | here |
| `share` | the share of rows that meet a condition is, by the exact binomial test | here | here |
| `count` | the number of rows that meet a condition is (their own p is corrected already) | - | - |
| `every` | every row meets a condition; the effect is the share that does | - | - |

`above` and `below` are strict. `within` asks that the interval (for `threshold` the value) lies
between two bounds: an equivalence, never the absence of significance. p-values are two-sided.
`each: true` lets `threshold`, `interval` and `p_value` read several rows, all of which must hold;
the row that holds least well is shown, and p is the largest. `minus` subtracts other rows of the
same file, matched `by` columns; of an interval the bounds are then those of two intervals that must
not overlap, which is stricter than a test of the difference (Schenker & Gentleman, The American
Statistician 55 (2001) 182-186). Rows without a value are left out; `minimum` says how many may be.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd

from scripts.files import DataError
from scripts.publishing import captions, tables
from scripts.publishing.captions import counted, join_words, number_word, reason_for
from scripts.publishing.numbers import Source, resolve, select
from scripts.statistics.one_sample import OneSample, mean_test, share_test, weighted_slope

#: More models than this are counted, not named.
NAMED = 3
#: Words of a direction in tables and files.
SIGNS = {"above": ">", "below": "<"}


@dataclass(frozen=True, slots=True)
class Quantity:
    """What a test reads. `where`, `minus`, `meets` are selectors of numbers.select.

    The value of a row is `column`, less column `less` where that is given. `unit`: columns whose
    combinations are the independent units of `mean` and `slope`; `along` orders the rows of a unit
    (text such as `6+` counts as its first number), `weight` weighs them. `explained_by` (`file`,
    `where`) has the flag of a missing value where the file itself has none, `counted_in` the rows
    that a minimum counts where those of the test do not say it.
    """

    file: str
    where: Mapping[str, Any]
    column: str = ""
    less: str = ""
    minus: Mapping[str, Any] | None = None
    by: tuple[str, ...] = ()
    unit: tuple[str, ...] = ("model",)
    low: str = ""
    high: str = ""
    p: str = ""
    along: str = ""
    weight: str = ""
    meets: Mapping[str, Any] = field(default_factory=dict)
    explained_by: Mapping[str, Any] = field(default_factory=dict)
    counted_in: Mapping[str, Any] = field(default_factory=dict)

    @staticmethod
    def common() -> tuple[str, ...]:
        """The keys of every kind."""
        return ("file", "where", "explained_by", "counted_in")

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that carry values."""
        named = (self.column, self.less, self.low, self.high, self.p, self.along, self.weight)
        return tuple(dict.fromkeys(c for c in (*named, *self.meets) if c))


@dataclass(frozen=True, slots=True)
class Part:
    """One test: its kind, what it reads, and the claimed side of the threshold (or two bounds)."""

    kind: str
    quantity: Quantity
    direction: str
    threshold: float
    upper: float
    each: bool = False

    @property
    def has_p(self) -> bool:
        """Whether the test has a p-value to correct."""
        return KINDS[self.kind].has_p and self.direction != "within"

    def beyond(self, value: float) -> bool:
        """Whether a value lies on the claimed side."""
        if self.direction == "above":
            return value > self.threshold
        if self.direction == "below":
            return value < self.threshold
        return self.threshold <= value <= self.upper

    def margin(self, value: float) -> float:
        """How far a value lies on the claimed side; negative on the other."""
        if self.direction == "above":
            return value - self.threshold
        if self.direction == "below":
            return self.threshold - value
        return min(value - self.threshold, self.upper - value)

    def words(self) -> str:
        """The test in a few words: `mean > 0`."""
        if self.kind == "every":
            return "every row"
        if self.direction == "within":
            return f"{self.kind} within {self.threshold:g} to {self.upper:g}"
        return f"{self.kind} {SIGNS[self.direction]} {self.threshold:g}"


@dataclass(frozen=True, slots=True)
class Reading:
    """Where a test read: the file, the selector, the line numbers (header is 1), the columns."""

    file: str
    where: Mapping[str, Any]
    rows: tuple[int, ...]
    columns: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """The entry of claims.json."""
        return {
            "file": self.file,
            "where": dict(self.where),
            "rows": list(self.rows),
            "columns": list(self.columns),
        }


@dataclass(frozen=True, slots=True)
class Outcome:
    """The estimate of one test. `met`: on the claimed side, p left aside; `reason`: why none.

    `units` counts what the test rests on: rows, or the units of a mean.
    """

    effect: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    met: bool = False
    agrees: bool | None = None
    units: int = 0
    reason: str = ""
    readings: tuple[Reading, ...] = ()


#: What `minimum` can ask for: the columns that name such things, and one of them in words.
COUNTED: Mapping[str, tuple[tuple[str, ...], str]] = {
    "models": (("model", "model_a", "model_b"), "model"),
    "tokenisers": (("tokeniser",), "tokeniser"),
    "languages": (("language",), "language"),
    "tasks": (("task",), "task"),
    "documents": (("document",), "document"),
    "rows": ((), "value"),
    "items": (("n", "n_english", "n_random", "questions", "n_perturbed"), "item"),
    "answers": (("n",), "answer"),
}


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The run around a claim: facts for the selectors, models by key, display names by key."""

    facts: Mapping[str, Any]
    models: tuple[str, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)

    def label(self, key: str) -> str:
        """The display name of a model."""
        return str(self.labels.get(key, key))


@dataclass(frozen=True)
class Rows:
    """The rows of a test with their values in `value`, and those to subtract."""

    frame: pd.DataFrame
    other: pd.DataFrame | None
    readings: tuple[Reading, ...]


class NotEstimableError(Exception):
    """The run lacks what a test needs; the message says it to a reader."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What holds for all parts of a claim: confidence level, minimum, words for a missing row."""

    level: float = 0.95
    minimum: Mapping[str, int] = field(default_factory=dict)
    lacking: str = ""


def evaluate(part: Part, source: Source, around: Surroundings, terms: Terms) -> Outcome:
    """The outcome of one test.

    What the run lacks is a `reason`; a file or column that does not exist is a DataError.
    """
    readings: tuple[Reading, ...] = ()
    try:
        rows = _rows(part.quantity, source, around, terms.lacking)
        readings = rows.readings
        _check_minimum(_counted_rows(part.quantity, rows, source), terms.minimum, most=True)
        kept = _with_values(part, rows, source)
        if not part.quantity.counted_in:
            _check_minimum(kept.frame, terms.minimum)
        outcome = KINDS[part.kind].run(part, kept, terms.level)
    except NotEstimableError as error:
        return Outcome(reason=str(error), readings=readings)
    return replace(outcome, readings=readings)


# ---- rows --------------------------------------------------------------------------------------


def _rows(quantity: Quantity, source: Source, around: Surroundings, lacking: str) -> Rows:
    frame = source.frame(quantity.file)
    named = (*quantity.columns, *quantity.by)
    lost = [column for column in dict.fromkeys(named) if column not in frame.columns]
    if lost:
        raise DataError(f"file {quantity.file}: no column {', '.join(lost)}")
    selectors = [quantity.where] if quantity.minus is None else [quantity.where, quantity.minus]
    found, readings = [], []
    for selector in selectors:
        where = resolve(selector, around.facts)
        rows = select(frame, where)
        lines = tuple(int(index) + 2 for index in rows.index)
        readings.append(Reading(quantity.file, where, lines, quantity.columns))
        if rows.empty:
            raise NotEstimableError(_why_empty(where, around, lacking))
        found.append(rows)
    return Rows(found[0], found[1] if len(found) > 1 else None, tuple(readings))


def _why_empty(where: Mapping[str, Any], around: Surroundings, lacking: str) -> str:
    """Why a run has no row of a selector, as a reader would say it; `lacking` are own words."""
    for column in COUNTED["models"][0]:
        wanted = where.get(column)
        names = [wanted] if isinstance(wanted, str) else wanted if isinstance(wanted, list) else []
        absent = [str(name) for name in names if str(name) not in around.models]
        if len(absent) > NAMED:
            return f"the run has none of the {counted(len(absent), 'model')} that this is about"
        if absent:
            return f"the run does not have {join_words(map(around.label, absent))}"
    return lacking or "the run has no value of this kind"


def _with_values(part: Part, rows: Rows, source: Source) -> Rows:
    """The rows that have a value, with the value as column `value`."""
    quantity = part.quantity
    if not quantity.column:
        return rows
    main = _valued(rows.frame, quantity, source)
    other = None if rows.other is None else _valued(rows.other, quantity, source)
    if other is not None and quantity.by:
        keys = set(_keys(other, quantity.by))
        main = main[[key in keys for key in _keys(main, quantity.by)]]
        if main.empty:
            raise NotEstimableError("the run has no two values to compare")
    return Rows(main, other, rows.readings)


def _keys(frame: pd.DataFrame, columns: tuple[str, ...]) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in frame[list(columns)].itertuples(index=False)]


def _valued(frame: pd.DataFrame, quantity: Quantity, source: Source) -> pd.DataFrame:
    needed = [c for c in (quantity.column, quantity.less, *_errors(quantity)) if c]
    kept = frame[frame[needed].notna().all(axis=1)]
    if kept.empty:
        raise NotEstimableError(_why_missing(frame, quantity, source))
    value = kept[quantity.column]
    if quantity.less:
        value = value.astype(float) - kept[quantity.less].astype(float)
    return kept.assign(value=value)


def _errors(quantity: Quantity) -> tuple[str, ...]:
    """The columns without which a value cannot be judged: p, or the bounds where there is none."""
    return (quantity.p,) if quantity.p else (quantity.low, quantity.high)


def _why_missing(frame: pd.DataFrame, quantity: Quantity, source: Source) -> str:
    """The flag of the statistics in words."""
    if quantity.explained_by:
        where = dict(quantity.explained_by["where"])
        frame = select(source.frame(str(quantity.explained_by["file"])), where)
    flags = list(frame["flag"].dropna()) if "flag" in frame.columns else []
    words = reason_for(flags[0]) if flags else captions.NOT_ESTIMATED
    return words.removeprefix(f"{captions.NOT_ESTIMATED}: ")


def _counted_rows(quantity: Quantity, rows: Rows, source: Source) -> pd.DataFrame:
    """The rows that a minimum counts."""
    if not quantity.counted_in:
        return rows.frame
    frame = source.frame(str(quantity.counted_in["file"]))
    return select(frame, dict(quantity.counted_in["where"]))


def _check_minimum(frame: pd.DataFrame, minimum: Mapping[str, int], *, most: bool = False) -> None:
    """Raise NotEstimableError where rows hold too little.

    `most`: of items the largest cell counts, before cells without a value are left out.
    """
    for kind, needed in minimum.items():
        found = _count(frame, kind, most=most)
        if found < needed:
            cell = "largest" if most else "smallest"
            has = f"the {cell} cell has" if kind == "items" else "this run has"
            number = number_word(found) if found else "none"
            raise NotEstimableError(
                f"needs at least {counted(needed, COUNTED[kind][1])}; {has} {number}"
            )


def _count(frame: pd.DataFrame, kind: str, *, most: bool) -> int:
    """How many things of a kind the rows hold; of items those of one row, of answers all.

    A column of that name holds the count itself (`models` of correlations.csv).
    """
    if kind in frame.columns:
        return int(frame[kind].min())
    columns = [column for column in COUNTED[kind][0] if column in frame.columns]
    if kind == "rows":
        return len(frame)
    if not columns:
        raise DataError(f"minimum: these rows do not say how many {kind} they have")
    if kind == "items":
        each = frame[columns].min(axis=1)
        return int(each.max() if most else each.min())
    if kind == "answers":
        return int(frame[columns].sum().sum())
    return len({value for column in columns for value in frame[column].dropna()})


# ---- kinds -------------------------------------------------------------------------------------


def _differences(part: Part, rows: Rows) -> pd.DataFrame:
    """The values, less those of `minus`; bounds of a difference are those that must not overlap."""
    quantity, frame = part.quantity, rows.frame
    out = pd.DataFrame({"value": frame["value"].astype(float)})
    for name, column in (("low", quantity.low), ("high", quantity.high), ("p", quantity.p)):
        out[name] = frame[column].astype(float) if column else float("nan")
    if rows.other is None:
        return out
    keys = list(quantity.by)
    if keys:
        other = rows.other.groupby(keys, sort=True).mean(numeric_only=True).reset_index()
        joined = frame[keys].merge(other, how="left", on=keys, validate="many_to_one")
        joined.index = frame.index
    else:
        means = rows.other.mean(numeric_only=True)
        joined = pd.DataFrame([means] * len(frame), index=frame.index)
    out["value"] -= joined["value"].astype(float)
    if quantity.low:
        out["low"] -= joined[quantity.high].astype(float)
        out["high"] -= joined[quantity.low].astype(float)
    return out


def _single(part: Part, frame: pd.DataFrame) -> pd.DataFrame:
    if len(frame) > 1 and not part.each:
        raise DataError(f"{len(frame)} rows match, expected 1 (or each: true)")
    return frame


def _threshold(part: Part, rows: Rows, _level: float) -> Outcome:
    frame = _single(part, _differences(part, rows))
    return _weakest(part, frame, frame["value"].map(part.margin))


def _interval(part: Part, rows: Rows, _level: float) -> Outcome:
    frame = _single(part, _differences(part, rows))
    bounds = [frame[name].map(part.margin) for name in ("low", "high")]
    return _weakest(part, frame, pd.concat(bounds, axis=1).min(axis=1))


def _p_value(part: Part, rows: Rows, _level: float) -> Outcome:
    frame = _single(part, _differences(part, rows))
    return _weakest(part, frame, frame["value"].map(part.margin), p=float(frame["p"].max()))


def _weakest(
    part: Part, frame: pd.DataFrame, margins: pd.Series, p: float | None = None
) -> Outcome:
    """The outcome of the row that holds least well."""
    row = frame.iloc[int(margins.to_numpy(dtype=float).argmin())]
    met = bool((margins >= 0).all() if part.direction == "within" else (margins > 0).all())
    value = float(row["value"])
    low, high = (None if pd.isna(row[name]) else float(row[name]) for name in ("low", "high"))
    return Outcome(value, low, high, p, met, part.beyond(value), len(frame))


def _mean(part: Part, rows: Rows, level: float) -> Outcome:
    values = _differences(part, rows)["value"].groupby(_units(part, rows.frame)).mean()
    return _tested(part, mean_test(values, part.threshold, level))


def _units(part: Part, frame: pd.DataFrame) -> pd.Series:
    """The unit of every row."""
    lacking = [column for column in part.quantity.unit if column not in frame.columns]
    if lacking:
        raise DataError(f"no column {', '.join(lacking)} to tell the units by")
    keys = _keys(frame, part.quantity.unit)
    return pd.Series(["|".join(map(str, key)) for key in keys], index=frame.index)


def _slope(part: Part, rows: Rows, level: float) -> Outcome:
    """One slope a unit; rows of a unit are pooled over what else they differ in."""
    quantity, frame = part.quantity, rows.frame
    place = frame[quantity.along].map(_first_number)
    weight = frame[quantity.weight].astype(float) if quantity.weight else place * 0 + 1.0
    table = pd.DataFrame(
        {"unit": _units(part, frame), "x": place, "y": frame["value"].astype(float), "w": weight}
    )
    slopes = [
        weighted_slope(unit["x"], unit["y"], unit["w"])
        for _, unit in table.groupby("unit", sort=True)
    ]
    return _tested(part, mean_test(slopes, part.threshold, level))


def _first_number(value: object) -> float:
    """The number that a label begins with: 6 of `6+`, 2 of `2-4`."""
    found = re.match(r"\s*(-?\d+(?:\.\d+)?)", str(value))
    if found is None:
        raise DataError(f"{value!r} does not begin with a number")
    return float(found.group(1))


def _tested(part: Part, found: OneSample) -> Outcome:
    if tables.is_missing(found.low):
        few = "the values do not vary" if found.n > 1 else "one value has no spread"
        raise NotEstimableError(few)
    if part.direction == "within":
        met = part.beyond(found.low) and part.beyond(found.high)
        p = None
    else:
        met, p = part.beyond(found.value), found.p
    agrees = part.beyond(found.value)
    return Outcome(found.value, found.low, found.high, p, met, agrees, found.n)


def _meeting(part: Part, rows: Rows) -> int:
    return len(select(rows.frame, part.quantity.meets))


def _share(part: Part, rows: Rows, level: float) -> Outcome:
    k = _meeting(part, rows)
    return _tested(part, share_test(k, len(rows.frame), part.threshold, level))


def _count_rows(part: Part, rows: Rows, _level: float) -> Outcome:
    k = _meeting(part, rows)
    return Outcome(float(k), met=part.beyond(k), agrees=part.beyond(k), units=len(rows.frame))


def _every(part: Part, rows: Rows, _level: float) -> Outcome:
    share = _meeting(part, rows) / len(rows.frame)
    return Outcome(share, met=share == 1, agrees=share == 1, units=len(rows.frame))


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of test: the function, the keys of a quantity beside file and where, its p-value."""

    run: Callable[[Part, Rows, float], Outcome]
    needed: tuple[str, ...]
    optional: tuple[str, ...] = ()
    has_p: bool = False


_DIFFERENCE = ("less", "minus", "by")
KINDS: Mapping[str, Kind] = {
    "threshold": Kind(_threshold, ("column",), _DIFFERENCE),
    "interval": Kind(_interval, ("column", "low", "high"), ("minus", "by")),
    "p_value": Kind(_p_value, ("column", "p"), ("low", "high", "less"), has_p=True),
    "mean": Kind(_mean, ("column",), (*_DIFFERENCE, "unit"), has_p=True),
    "slope": Kind(_slope, ("column", "along"), ("less", "weight", "unit"), has_p=True),
    "share": Kind(_share, ("meets",), ("column",), has_p=True),
    "count": Kind(_count_rows, ("meets",), ("column",)),
    "every": Kind(_every, ("meets",), ("column",)),
}
