"""Verdicts on pairs of names: asked of a judge unit by unit, or shipped.

Source: TIDE section 2.4. Aliases, abbreviations and numeral variants merge; related and part-whole
pairs are rejected; unclear ones stay apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scripts.files import DataError, iterate_jsonl
from scripts.inference.schemas import object_schema
from scripts.records import Record, RecordError, Request
from scripts.tide.construction.candidates import Candidate
from scripts.tide.construction.construction_prompts import ConstructionPrompts
from scripts.tide.construction.construction_report import ReportRow
from scripts.tide.construction.generator import Ask
from scripts.tide.construction.replies import read_reply, shape_problem
from scripts.tide.construction.set_cover import Unit

MERGING = ("alias", "abbreviation", "numeral_variant")
REJECTING = ("related", "part_whole")
UNCLEAR = "unclear"
VERDICTS = (*MERGING, *REJECTING, UNCLEAR)
#: Judge of a pair that nobody decided.
NOBODY = "none"
#: Origin of shipped verdicts that name no judge.
SHIPPED = "shipped"
#: Concepts of a name that the judge sees, and the longest text of one.
SHOWN_CONCEPTS, SHOWN_CHARACTERS = 3, 300

Pair = tuple[str, str]

VERDICT_SCHEMA = object_schema(
    {
        "verdicts": {
            "type": "array",
            "maxItems": 5000,
            "items": object_schema(
                {"pair": {"type": "integer"}, "verdict": {"enum": list(VERDICTS)}}
            ),
        }
    }
)


@dataclass(frozen=True, slots=True)
class AliasVerdict(Record):
    """A judge's verdict on one pair (a before b) in one unit."""

    a: str
    b: str
    verdict: str
    unit_id: str
    judge: str

    @classmethod
    def of(cls, pair: Pair, verdict: str, unit_id: str, judge: str) -> AliasVerdict:
        """The verdict on a pair whose names are in order."""
        return cls(pair[0], pair[1], verdict, unit_id, judge)

    def check(self) -> None:
        """Raise RecordError for an unknown verdict, names out of order, or no texts."""
        texts = (self.a, self.b, self.verdict, self.unit_id, self.judge)
        if not all(isinstance(text, str) for text in texts) or not self.a < self.b:
            raise RecordError(f"AliasVerdict {self.a!r}, {self.b!r}: two names in order are needed")
        if self.verdict not in VERDICTS:
            raise RecordError(f"AliasVerdict: {self.verdict!r} is none of {', '.join(VERDICTS)}")

    @property
    def pair(self) -> Pair:
        """Both names, in order."""
        return self.a, self.b


def pairs_of_units(candidates: Iterable[Candidate], units: Iterable[Unit]) -> dict[str, list[Pair]]:
    """The candidate pairs that stand in each unit, sorted; DataError for a pair in no unit."""
    pairs = {candidate.pair for candidate in candidates}
    by_name: dict[str, set[Pair]] = {}
    for pair in pairs:
        by_name.setdefault(pair[0], set()).add(pair)
    inside: dict[str, list[Pair]] = {}
    for unit in units:
        members = set(unit.members)
        own = [p for m in unit.members for p in by_name.get(m, ()) if p[1] in members]
        inside[unit.unit_id] = sorted(own)
    if lost := sorted(pairs - {pair for own in inside.values() for pair in own}):
        raise DataError(f"candidate pair {lost[0]} stands in no unit; propose the aliases again")
    return inside


def judge(
    candidates: Sequence[Candidate],
    units: Sequence[Unit],
    forms: Mapping[str, Sequence[str]],
    prompts: ConstructionPrompts,
    ask: Ask,
    *,
    judge_name: str,
    decoding: Mapping[str, Any],
) -> tuple[list[AliasVerdict], list[ReportRow]]:
    """Ask for the verdicts on every unit, one call each; rows sorted by pair and unit.

    `forms` are the names with their concepts. Every candidate pair has at least one row: one that
    no reply decides is unclear.
    """
    inside = pairs_of_units(candidates, units)
    requests = [_request(u, inside[u.unit_id], forms, prompts, decoding) for u in units]
    rows: list[AliasVerdict] = []
    report: list[ReportRow] = []
    for unit, response in zip(units, ask(requests), strict=True):
        value, reason = read_reply(response, VERDICT_SCHEMA)
        if value is None:
            report.append(ReportRow("aliases", unit.unit_id, "unusable", reason))
            continue
        own, dropped = _read(unit.unit_id, inside[unit.unit_id], value, judge_name)
        rows += own
        report += [ReportRow("aliases", unit.unit_id, "ok" if own else "empty"), *dropped]
    undecided, absent = _undecided(inside, {row.pair for row in rows})
    return _sorted([*rows, *undecided]), [*report, *absent]


def _request(
    unit: Unit,
    pairs: Sequence[Pair],
    forms: Mapping[str, Sequence[str]],
    prompts: ConstructionPrompts,
    decoding: Mapping[str, Any],
) -> Request:
    number = {name: n for n, name in enumerate(unit.members, start=1)}
    names = [
        "\n".join(
            [
                f"[{n}] {name}",
                *(f"    - {c[:SHOWN_CHARACTERS]}" for c in forms.get(name, ())[:SHOWN_CONCEPTS]),
            ]
        )
        for name, n in number.items()
    ]
    listed = [
        f"pair {n}: [{number[a]}] {a}  /  [{number[b]}] {b}"
        for n, (a, b) in enumerate(pairs, start=1)
    ]
    values = {"names": "\n".join(names), "pairs": "\n".join(listed)}
    messages = prompts.messages("aliases", values)
    setting = {"purpose": "aliases"}
    return Request.create(unit.unit_id, setting, messages, dict(decoding), VERDICT_SCHEMA)


def _read(
    unit_id: str, pairs: Sequence[Pair], value: Mapping[str, Any], judge_name: str
) -> tuple[list[AliasVerdict], list[ReportRow]]:
    """The verdicts of one usable reply; a pair given two verdicts keeps both rows."""
    rows: list[AliasVerdict] = []
    dropped: list[ReportRow] = []
    for each in value["verdicts"]:
        if not 1 <= each["pair"] <= len(pairs):
            reason = f"no pair {each['pair']} in the unit"
            dropped.append(ReportRow("aliases", unit_id, "dropped", reason))
            continue
        row = AliasVerdict.of(pairs[each["pair"] - 1], each["verdict"], unit_id, judge_name)
        if row not in rows:
            rows.append(row)
    return rows, dropped


def _undecided(
    inside: Mapping[str, Sequence[Pair]], decided: set[Pair]
) -> tuple[list[AliasVerdict], list[ReportRow]]:
    """Rows of the pairs that have no verdict, in the first of their units, and their report."""
    first: dict[Pair, str] = {}
    for unit_id in sorted(inside):
        for pair in inside[unit_id]:
            first.setdefault(pair, unit_id)
    open_pairs = sorted(set(first) - decided)
    rows = [AliasVerdict.of(pair, UNCLEAR, first[pair], NOBODY) for pair in open_pairs]
    return rows, [
        ReportRow("aliases", " / ".join(pair), "absent", "no verdict: unclear")
        for pair in open_pairs
    ]


def _sorted(rows: Iterable[AliasVerdict]) -> list[AliasVerdict]:
    return sorted(rows, key=lambda row: (row.pair, row.unit_id, row.verdict))


# Shipped --------------------------------------------------------------------------------------

_SHIPPED_SCHEMA = {
    **object_schema(
        {
            "a": {"type": "string"},
            "b": {"type": "string"},
            "verdict": {"enum": list(VERDICTS)},
            "unit_id": {"type": "string"},
            "judge": {"type": "string"},
        }
    ),
    "required": ["a", "b", "verdict"],
}


def shipped_verdicts(
    candidates: Sequence[Candidate],
    units: Sequence[Unit],
    names: Iterable[str],
    path: Path | str,
) -> tuple[list[AliasVerdict], list[ReportRow]]:
    """Verdicts of a shipped file on the candidate pairs; a pair without one is unclear.

    `names` is the universe of names. A verdict on a pair that the embeddings did not propose is
    left out and reported. Raises DataError naming file and line for a name that nothing has, a name
    paired with itself, and anything of another shape.
    """
    inside = pairs_of_units(candidates, units)
    first: dict[Pair, str] = {}
    for unit_id in sorted(inside):
        for pair in inside[unit_id]:
            first.setdefault(pair, unit_id)
    known = set(names)
    rows: list[AliasVerdict] = []
    report: list[ReportRow] = []
    for number, row in iterate_jsonl(path):
        where = f"{path}, line {number}"
        if problem := shape_problem(row, _SHIPPED_SCHEMA):
            raise DataError(f"{where}: {problem}; correct the row")
        pair = (min(row["a"], row["b"]), max(row["a"], row["b"]))
        if pair[0] == pair[1]:
            raise DataError(f"{where}: {row['a']!r} is paired with itself; remove the row")
        for name in pair:
            if name not in known:
                raise DataError(
                    f"{where}: no entity or sub-entity is called {name!r}; correct the spelling or "
                    "remove the row"
                )
        if pair not in first:
            reason = f"line {number}: {row['verdict']}, but the embeddings do not propose it"
            report.append(ReportRow("aliases", " / ".join(pair), "dropped", reason))
            continue
        verdict = AliasVerdict.of(pair, row["verdict"], first[pair], row.get("judge", SHIPPED))
        if verdict not in rows:
            rows.append(verdict)
    undecided, absent = _undecided(inside, {row.pair for row in rows})
    return _sorted([*rows, *undecided]), [*report, *absent]


# Deciding ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Decisions:
    """Pairs that merge, pairs that must never meet, and the contradictions among the verdicts."""

    confirmed: frozenset[Pair]
    rejected: frozenset[Pair]
    report: tuple[ReportRow, ...]


def decide(verdicts: Iterable[AliasVerdict]) -> Decisions:
    """One decision a pair: a rejection wins over a confirmation, and so does an unclear verdict.

    A pair with a rejection is rejected. A pair that one judge confirms and another leaves unclear
    is not merged, yet not rejected: other confirmed pairs may still join its names. Both are
    reported as conflicts.
    """
    given: dict[Pair, set[str]] = {}
    for row in verdicts:
        given.setdefault(row.pair, set()).add(row.verdict)
    confirmed, rejected, report = set(), set(), []
    for pair, found in sorted(given.items()):
        merging = found & set(MERGING)
        rejecting = found & set(REJECTING)
        if rejecting:
            rejected.add(pair)
        elif merging and UNCLEAR not in found:
            confirmed.add(pair)
        if merging and (rejecting or UNCLEAR in found):
            outcome = "rejected" if rejecting else "not merged"
            reason = f"{', '.join(sorted(found))}: {outcome}"
            report.append(ReportRow("clusters", " / ".join(pair), "conflict", reason))
    return Decisions(frozenset(confirmed), frozenset(rejected), tuple(report))
