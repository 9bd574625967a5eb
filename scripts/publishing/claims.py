"""The findings of the studies as claims that a run supports, does not support, or cannot test.

`paper/claims.yaml` (and any further file of the same form) declares the claims by benchmark;
docs/claims.md describes the format and the conventions, `claim_tests.py` the kinds of tests.
`judge` reads the statistics of a run and gives every claim one verdict:

- *supported*: the estimate lies on the claimed side of the threshold, and where the test has a
  p-value this is at most alpha after its correction;
- *not supported*: anything else that could be tested; a right direction alone is not enough;
- *not estimable*: the run lacks what the test needs, always with the reason in words.

Corrections: `none`; `column`, where the p of the statistics file is corrected already; `holm`,
`bonferroni` or `bh` over all estimable claims of the same family (`family`, else the benchmark).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from scripts import files
from scripts.files import DataError
from scripts.publishing.claim_tests import (
    COUNTED,
    KINDS,
    Outcome,
    Part,
    Quantity,
    Reading,
    Surroundings,
    Terms,
    evaluate,
)
from scripts.publishing.latex import macro_name
from scripts.publishing.numbers import Source, formats
from scripts.statistics.multiplicity import METHODS, adjust

SUPPORTED, NOT_SUPPORTED, NOT_ESTIMABLE = "supported", "not supported", "not estimable"
VERDICTS = (SUPPORTED, NOT_SUPPORTED, NOT_ESTIMABLE)
CORRECTIONS = ("none", "column", *METHODS)

CLAIM_KEYS = frozenset(
    {
        *("name", "finding", "source", "published", "format", "alpha", "correction", "family"),
        *("corrected", "minimum", "lacking", "parts", "test", "quantity", "direction"),
        *("threshold", "each"),
    }
)
PART_KEYS = frozenset({"test", "quantity", "direction", "threshold", "each"})
NEEDED = ("name", "finding", "source", "published")
PUBLISHED_KEYS = frozenset({"value", "place"})
DIRECTIONS = ("above", "below", "within")
#: Kinds that may read several rows, all of which must hold (`each`).
ROWWISE = ("threshold", "interval", "p_value")


@dataclass(frozen=True, slots=True)
class Claim:
    """One finding. `parts` are tests that must all hold (most claims have one).

    `minimum` says what the rows must hold at least, by kind of thing (claim_tests.COUNTED);
    `lacking` why a run may have no row; `published` what the study prints and where; `corrected`
    names the correction of a `column` p.
    """

    name: str
    benchmark: str
    finding: str
    source: str
    parts: tuple[Part, ...]
    published: str
    published_place: str
    format: str = "decimal3"
    alpha: float = 0.05
    correction: str = "none"
    corrected: str = ""
    family: str = ""
    lacking: str = ""
    minimum: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a run says about a claim. `p` is as tested, `p_adjusted` after the correction here.

    `agrees`: whether the estimate lies on the claimed side, None where there is none; `family_size`
    counts the claims that were corrected together (0: no correction here).
    """

    claim: Claim
    verdict: str
    reason: str = ""
    effect: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    p_adjusted: float | None = None
    agrees: bool | None = None
    units: int = 0
    family_size: int = 0
    readings: tuple[Reading, ...] = ()

    def line(self) -> str:
        """One line for the terminal."""
        parts = [f"{self.claim.benchmark}: {self.claim.name}: {self.verdict}"]
        if self.effect is not None:
            parts.append(f"effect {self.effect:.4g}")
        if self.low is not None and self.high is not None:
            parts.append(f"interval {self.low:.4g} to {self.high:.4g}")
        if self.p_adjusted is not None:
            parts.append(f"p {self.p_adjusted:.3g}")
        if self.reason:
            parts.append(self.reason)
        return "; ".join(parts)

    def to_json(self) -> dict[str, Any]:
        """The entry of claims.json."""
        claim = self.claim
        return {
            "benchmark": claim.benchmark,
            "finding": claim.finding,
            "source": claim.source,
            "published": {"value": claim.published, "place": claim.published_place},
            "tests": [part.words() for part in claim.parts],
            "alpha": claim.alpha,
            "correction": claim.correction,
            "corrected": claim.corrected,
            "family_size": self.family_size,
            "verdict": self.verdict,
            "reason": self.reason,
            "direction_agrees": self.agrees,
            "effect": _number(self.effect),
            "low": _number(self.low),
            "high": _number(self.high),
            "p": _number(self.p),
            "p_adjusted": _number(self.p_adjusted),
            "units": self.units,
            "read": [reading.to_json() for reading in self.readings],
        }


def _number(value: float | None) -> float | str | None:
    """A number for JSON, which has no infinity."""
    return value if value is None or math.isfinite(value) else str(value)


# ---- the declaration ---------------------------------------------------------------------------


def read_claims(paths: Iterable[Path | str], known: Iterable[str] = ()) -> list[Claim]:
    """The claims of all files, in their order; `known` are the benchmarks that a section may name.

    Raises DataError naming file, claim and key: wrong keys or values, a name that repeats.
    """
    benchmarks = sorted(known)
    claims = []
    for path in paths:
        sections = files.read_yaml(path)
        if not isinstance(sections, dict):
            raise DataError(f"{path}: expected one section a benchmark")
        for benchmark, entries in sections.items():
            if benchmarks and benchmark not in benchmarks:
                raise DataError(
                    f"{path}: section {benchmark}: no benchmark; there are {', '.join(benchmarks)}"
                )
            if not isinstance(entries, list):
                raise DataError(f"{path}: section {benchmark}: expected a list of claims")
            claims += [_claim(str(path), str(benchmark), entry) for entry in entries]
    twice = sorted(n for n, count in Counter(c.name for c in claims).items() if count > 1)
    if twice:
        raise DataError(f"claims: declared twice: {', '.join(twice)}")
    return claims


def _claim(path: str, benchmark: str, entry: Any) -> Claim:
    if not isinstance(entry, dict):
        raise DataError(f"{path}: section {benchmark}: expected a claim with keys, got {entry!r}")
    place = f"{path}, claim {entry.get('name')}"
    entry = {key: value for key, value in entry.items() if value is not None}
    _check_keys(place, entry, CLAIM_KEYS, NEEDED)
    try:
        name = macro_name(str(entry["name"]))
    except ValueError as error:
        raise DataError(f"{place}: {error}") from error
    published = entry["published"]
    if not isinstance(published, dict):
        raise DataError(f"{place}, key published: expected value and place")
    _check_keys(f"{place}, key published", published, PUBLISHED_KEYS, sorted(PUBLISHED_KEYS))
    whole = "parts" in entry
    if whole == ("quantity" in entry) or (whole and PART_KEYS & set(entry)):
        raise DataError(f"{place}: give either quantity and test, or parts")
    parts = entry["parts"] if whole else [{k: v for k, v in entry.items() if k in PART_KEYS}]
    claim = Claim(
        name=name,
        benchmark=benchmark,
        finding=str(entry["finding"]),
        source=str(entry["source"]),
        parts=tuple(_part(place, part) for part in parts),
        published=str(published["value"]),
        published_place=str(published["place"]),
        format=str(entry.get("format", "decimal3")),
        alpha=_number_of(place, "alpha", entry.get("alpha", 0.05)),
        correction=str(entry.get("correction", "none")),
        corrected=str(entry.get("corrected", "")),
        family=str(entry.get("family", benchmark)),
        lacking=str(entry.get("lacking", "")),
        minimum=_minimum(place, entry.get("minimum", {})),
    )
    _check_claim(place, claim)
    return claim


def _check_keys(
    place: str, entry: Mapping[str, Any], known: Iterable[str], needed: Sequence[str]
) -> None:
    unknown = sorted(set(entry) - set(known))
    if unknown:
        raise DataError(f"{place}: unknown key(s) {', '.join(unknown)}; known: {sorted(known)}")
    lacking = [key for key in needed if key not in entry]
    if lacking:
        raise DataError(f"{place}: key(s) {', '.join(lacking)} missing")


def _number_of(place: str, key: str, value: Any) -> float:
    """A finite number of the declaration; YAML reads `yes` as true, and `1e-3` as a text."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise DataError(f"{place}, key {key}: expected a number, got {value!r}")
    return float(value)


def _mapping_of(place: str, key: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise DataError(f"{place}, key {key}: expected keys with values, got {value!r}")
    return value


def _minimum(place: str, value: Any) -> dict[str, int]:
    found = _mapping_of(place, "minimum", value)
    _check_keys(f"{place}, key minimum", found, COUNTED, ())
    return {kind: int(_number_of(place, f"minimum: {kind}", found[kind])) for kind in found}


def _check_claim(place: str, claim: Claim) -> None:
    if claim.format not in formats({}):
        known = ", ".join(sorted(formats({})))
        raise DataError(f"{place}, key format: {claim.format!r}; known: {known}")
    if claim.correction not in CORRECTIONS:
        raise DataError(
            f"{place}, key correction: {claim.correction!r}; known: {', '.join(CORRECTIONS)}"
        )
    if not 0 < claim.alpha < 1:
        raise DataError(f"{place}, key alpha: {claim.alpha} is not between 0 and 1")
    tested = any(part.has_p for part in claim.parts)
    if tested == (claim.correction == "none"):
        verb = "needs" if tested else "has no p-value and takes no"
        raise DataError(f"{place}, key correction: the test {verb} correction")
    if (claim.correction == "column") != bool(claim.corrected):
        raise DataError(f"{place}: correction `column` and key `corrected` go together")


def _part(place: str, entry: Any) -> Part:
    if not isinstance(entry, dict):
        raise DataError(f"{place}, key parts: expected tests with keys")
    _check_keys(place, entry, PART_KEYS, ("test", "quantity", "direction", "threshold"))
    kind, direction, threshold = entry["test"], entry["direction"], entry["threshold"]
    if not isinstance(kind, str) or kind not in KINDS:
        raise DataError(f"{place}, key test: {kind!r}; known: {', '.join(KINDS)}")
    if direction not in DIRECTIONS:
        raise DataError(f"{place}, key direction: {direction!r}; known: {', '.join(DIRECTIONS)}")
    pair = isinstance(threshold, list) and len(threshold) == 2
    if (direction == "within") != pair:
        raise DataError(f"{place}, key threshold: `within` has a pair, other directions a number")
    bounds = [
        _number_of(place, "threshold", value) for value in (threshold if pair else [threshold])
    ]
    if bounds[0] > bounds[-1]:
        raise DataError(f"{place}, key threshold: {threshold}: the lower bound comes first")
    each = entry.get("each", False)
    if not isinstance(each, bool) or (each and kind not in ROWWISE):
        raise DataError(f"{place}, key each: true or false, with {', '.join(ROWWISE)} only")
    quantity = _quantity(place, kind, entry["quantity"])
    return Part(kind, quantity, str(direction), bounds[0], bounds[-1], each)


def _quantity(place: str, kind: str, entry: Any) -> Quantity:
    if not isinstance(entry, dict):
        raise DataError(f"{place}, key quantity: expected keys")
    found = KINDS[kind]
    known = {*Quantity.common(), *found.optional, *found.needed}
    _check_keys(f"{place}, key quantity", entry, known, ("file", "where", *found.needed))
    values: dict[str, Any] = {}
    for key, value in entry.items():
        place_of_key = f"{place}, key quantity: {key}"
        if key in ("where", "minus", "meets", "explained_by", "counted_in"):
            values[key] = _mapping_of(place, f"quantity: {key}", value)
            if key in ("explained_by", "counted_in"):
                _check_keys(place_of_key, value, ("file", "where"), ("file", "where"))
                _mapping_of(place_of_key, "where", value["where"])
        elif key in ("by", "unit"):
            if not isinstance(value, list):
                raise DataError(f"{place_of_key}: expected a list of columns, got {value!r}")
            values[key] = tuple(map(str, value))
        else:
            values[key] = str(value)
    return Quantity(**values)


# ---- verdicts ----------------------------------------------------------------------------------


def judge(
    claims: Sequence[Claim], source: Source, surroundings: Mapping[str, Surroundings]
) -> list[Verdict]:
    """The verdict of every claim whose benchmark is in the run, in the order of the claims.

    `surroundings` has one entry a benchmark of the run. Raises DataError naming the claim where a
    file or column that it names does not exist.
    """
    here = [claim for claim in claims if claim.benchmark in surroundings]
    found = []
    for claim in here:
        try:
            found.append(_decisive(claim, source, surroundings[claim.benchmark]))
        except DataError as error:
            raise DataError(f"claim {claim.name}: {error}") from error
    adjusted, sizes = _corrections(here, found)
    return [
        _verdict(claim, outcome, p, size)
        for claim, outcome, p, size in zip(here, found, adjusted, sizes, strict=True)
    ]


def _decisive(claim: Claim, source: Source, around: Surroundings) -> Outcome:
    """The outcome of the part that decides: one that fails, else the one with the largest p.

    All parts together are an intersection-union test: each at level alpha, and the largest p is
    that of the whole (Berger, Technometrics 24 (1982) 295-300).
    """
    outcomes = [
        evaluate(part, source, around, Terms(1 - claim.alpha, claim.minimum, claim.lacking))
        for part in claim.parts
    ]
    readings = tuple(reading for outcome in outcomes for reading in outcome.readings)
    missing = [outcome for outcome in outcomes if outcome.reason]
    failing = [outcome for outcome in outcomes if not outcome.met]
    largest = sorted(outcomes, key=lambda o: -1.0 if o.p is None else o.p)[-1]
    first = (missing or failing or [largest])[0]
    p = largest.p if not missing and first.p is not None else first.p
    return replace(first, readings=readings, p=p)


def _corrections(
    claims: Sequence[Claim], outcomes: Sequence[Outcome]
) -> tuple[list[float | None], list[int]]:
    """The p-value that each claim is judged by, and the size of its family where there is one."""
    adjusted: list[float | None] = [outcome.p for outcome in outcomes]
    sizes = [0] * len(claims)
    families: dict[tuple[str, str], list[int]] = {}
    for index, (claim, outcome) in enumerate(zip(claims, outcomes, strict=True)):
        if claim.correction in METHODS and outcome.p is not None and not outcome.reason:
            families.setdefault((claim.family, claim.correction), []).append(index)
    for (_, method), members in families.items():
        p_values = [p for index in members if (p := outcomes[index].p) is not None]
        values = adjust(p_values, method)
        for index, value in zip(members, values, strict=True):
            adjusted[index], sizes[index] = float(value), len(members)
    return adjusted, sizes


def _verdict(claim: Claim, outcome: Outcome, p: float | None, size: int) -> Verdict:
    if outcome.reason:
        return Verdict(
            claim,
            NOT_ESTIMABLE,
            outcome.reason,
            units=outcome.units,
            readings=outcome.readings,
        )
    holds = outcome.met and (p is None or p <= claim.alpha)
    return Verdict(
        claim,
        SUPPORTED if holds else NOT_SUPPORTED,
        effect=outcome.effect,
        low=outcome.low,
        high=outcome.high,
        p=outcome.p,
        p_adjusted=p,
        agrees=outcome.agrees,
        units=outcome.units,
        family_size=size,
        readings=outcome.readings,
    )
