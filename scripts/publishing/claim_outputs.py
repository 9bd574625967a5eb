r"""Verdicts as files: JSON with all that was read, one table in all forms, commands for the text.

The text chooses its words by `\finding{name}{supported}{not supported}{not estimable}` and prints
`\claimeffect{name}`, `\claiminterval{name}`, `\claimp{name}`, `\claimreason{name}`, and the model
that it is about, or that this is compared with: `\claimsubject{name}`, `\claimrival{name}`. How
many findings of a benchmark have a verdict is `\claimcount{benchmark}{supported}` (or `not
supported`, `not estimable`, `all`). The commands are in paper/tokensandtime.sty, their values here.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from scripts.publishing import captions, tables
from scripts.publishing.claim_tests import COUNTED, Part
from scripts.publishing.claims import NOT_ESTIMABLE, VERDICTS, Claim, Verdict
from scripts.publishing.latex import EN_DASH, MINUS, escape, escape_prose
from scripts.publishing.numbers import formats
from scripts.publishing.tables import Cell, Column, Row, Table

INFINITE = "∞"


def printed(claim: Claim, value: float | None) -> str:
    """A value of a claim in its format; an en dash where there is none."""
    if value is None or math.isnan(value):
        return EN_DASH
    if math.isinf(value):
        return INFINITE if value > 0 else f"{MINUS}{INFINITE}"
    return formats({})[claim.format](value)


def interval(verdict: Verdict) -> str:
    """The interval as `low to high`; an en dash where there is none."""
    if verdict.low is None or verdict.high is None:
        return EN_DASH
    ends = (printed(verdict.claim, end) for end in (verdict.low, verdict.high))
    return " to ".join(ends)


def models_of(claim: Claim) -> tuple[str, str]:
    """The one model that a claim is about and the one that it is compared with; else empty."""
    quantity = claim.parts[0].quantity
    named = [
        str(selector[column])
        for selector in (quantity.where, quantity.minus or {})
        for column in COUNTED["models"][0]
        if isinstance(selector.get(column), str) and not str(selector[column]).startswith("$")
    ]
    return (*named, "", "")[0], (*named, "", "")[1]


def to_latex(verdicts: Sequence[Verdict], labels: Mapping[str, str]) -> str:
    """The file `claims.tex`: the values behind the commands of the text.

    `labels`: display names of models by key.
    """
    lines = ["% Written by the workflow from paper/claims.yaml; do not edit."]
    for verdict in verdicts:
        subject, rival = (labels.get(key, key) for key in models_of(verdict.claim))
        values = {
            "verdict": str(VERDICTS.index(verdict.verdict)),
            "effect": escape(printed(verdict.claim, verdict.effect)),
            "interval": escape(interval(verdict)),
            "p": escape(_p(verdict)),
            "reason": escape_prose(verdict.reason),
            "subject": escape(subject),
            "rival": escape(rival),
        }
        lines += [_define(f"{key}@{verdict.claim.name}", text) for key, text in values.items()]
    for benchmark in dict.fromkeys(v.claim.benchmark for v in verdicts):
        for word, number in counts(verdicts, benchmark).items():
            lines.append(_define(f"count@{benchmark}@{word}", captions.count(number)))
    return "\n".join(lines) + "\n"


def _define(name: str, text: str) -> str:
    return rf"\expandafter\def\csname claim@{name}\endcsname{{{text}}}"


def _p(verdict: Verdict) -> str:
    return EN_DASH if verdict.p_adjusted is None else tables.p_value(verdict.p_adjusted)


def counts(verdicts: Iterable[Verdict], benchmark: str) -> dict[str, int]:
    """How many findings of a benchmark have each verdict, and `all`."""
    found = [v.verdict for v in verdicts if v.claim.benchmark == benchmark]
    return {**{word: found.count(word) for word in VERDICTS}, "all": len(found)}


def to_json(verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """The file `claims.json`: every verdict by the name of its claim."""
    return {"claims": {verdict.claim.name: verdict.to_json() for verdict in verdicts}}


def build(
    verdicts: Sequence[Verdict], labels: Mapping[str, str], benchmark: str | None = None
) -> Table:
    """The table of claims: of one benchmark for the appendix, of all for the report.

    `labels`: display names of the benchmarks, in the order of the blocks.
    """
    chosen = [v for v in verdicts if benchmark in (None, v.claim.benchmark)]
    about = "the studies" if benchmark is None else labels.get(benchmark, benchmark)
    columns = (
        Column("verdict", "Verdict", align="l"),
        Column("test", "Test", align="P{1.9cm}"),
        Column("effect", "Effect"),
        Column("p", "p"),
        Column("published", "Published", align="P{2.5cm}"),
    )
    return Table(
        "claims" if benchmark is None else f"claims_{benchmark}",
        f"Findings of {about}, each tested on this run. Effects in per cent or points where the "
        "test is of accuracies or shares; intervals below; p after correction.",
        ("Finding",),
        columns,
        tuple(_row(v, labels, grouped=benchmark is None) for v in chosen),
        notes=_notes(chosen),
        layout="long",
        stub_align="P{4.7cm}",
        size="scriptsize",
        prose=True,
        short_caption=f"Findings of {about}",
    )


def _row(verdict: Verdict, labels: Mapping[str, str], *, grouped: bool) -> Row:
    claim = verdict.claim
    # The hyphen before a digit is a minus sign.
    value = re.sub(r"(?<!\w)-(?=\d)", MINUS, claim.published)
    published = f"{value} ({claim.published_place})"
    words = "; ".join(dict.fromkeys(test_words(part) for part in claim.parts))
    named = (("name", claim.name), ("benchmark", claim.benchmark), ("source", claim.source))
    cells = (
        Cell(verdict.verdict, verdict.verdict, extra=named),
        Cell(words, words),
        _effect(verdict),
        _p_cell(verdict),
        Cell(published, published),
    )
    block = labels.get(claim.benchmark, claim.benchmark) if grouped else ""
    return Row((claim.finding,), cells, block)


def test_words(part: Part) -> str:
    """The test of a part for a reader: `mean > 0`."""
    return part.words().replace("_", "-").replace(" -", f" {MINUS}")


def _effect(verdict: Verdict) -> Cell:
    if verdict.verdict == NOT_ESTIMABLE:
        return tables.absent(verdict.reason)
    claim, value = verdict.claim, verdict.effect
    bounds = verdict.low is not None and verdict.high is not None
    ends = (printed(claim, verdict.low), printed(claim, verdict.high))
    return Cell(
        value if value is not None and math.isfinite(value) else None,
        printed(claim, value),
        low=verdict.low if bounds else None,
        high=verdict.high if bounds else None,
        interval=f"[{ends[0]}, {ends[1]}]" if bounds else "",
        detail="direction agrees" if _only_direction(verdict) else "",
    )


def _only_direction(verdict: Verdict) -> bool:
    return verdict.verdict == VERDICTS[1] and bool(verdict.agrees)


def _p_cell(verdict: Verdict) -> Cell:
    if verdict.verdict == NOT_ESTIMABLE:
        return tables.absent(verdict.reason)
    if verdict.p_adjusted is None:
        return tables.absent("the test has no p-value")
    return Cell(verdict.p_adjusted, tables.p_value(verdict.p_adjusted))


def _notes(verdicts: Sequence[Verdict]) -> tuple[str, ...]:
    """What the tests are, and which corrections were made."""
    notes = [
        "Supported: the estimate is on the claimed side, by its interval, or by a p of at most "
        "alpha (two-sided) where the test has one; a threshold has no error and says so by its "
        "name. Units of a mean or slope are models, tokenisers or languages, not items.",
    ]
    methods = {v.claim.correction: v.family_size for v in verdicts if v.family_size}
    notes += [
        f"{method.capitalize()} correction over the {size} claims of the family that could be "
        "tested."
        for method, size in sorted(methods.items())
    ]
    columns = dict.fromkeys(
        v.claim.corrected for v in verdicts if v.claim.corrected and v.p_adjusted is not None
    )
    return (*notes, *(f"p-values read from the statistics: {words}." for words in columns))
