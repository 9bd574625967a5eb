"""Tables about the judges: the rubric, and how far two judges agree."""

from __future__ import annotations

from scripts.judging.llm_judge import RUBRIC
from scripts.judging.verdicts import VERDICTS
from scripts.publishing import captions
from scripts.publishing.captions import Context
from scripts.publishing.layouts import Frames, Lookup, caption, rows_of, value_of, why_flagged
from scripts.publishing.tables import Cell, Column, Row, Table, decimal, number, percent, whole

PARTS = {
    "grade": "Grades",
    "rule": "Rules for every question",
    "kind": "Rule for the kind of answer",
}
LETTERS = {grade.verdict: grade.letter for grade in RUBRIC.grades}


def judge_rubric(frames: Frames, context: Context) -> Table:  # noqa: ARG001 - as every builder
    """Table 10: what the language model that judges is told, part by part."""
    rows = [
        Row((name.replace("_", " "),), (Cell(text, text),), PARTS[part])
        for part, name, text in RUBRIC.rows()
    ]
    return Table(
        "judge_rubric",
        caption(
            context,
            "The rubric of the language model as a judge. It sees the question, every right answer "
            "in all notations, the reply, the grades, the rules and the rule for the kind of "
            "answer, and gives one letter.",
        ),
        ("Name",),
        (Column("text", "Text", align="P{12.5cm}"),),
        tuple(rows),
        stub_align="P{2.6cm}",
        short_caption="The rubric of the judge",
    )


def judge_agreement(frames: Frames, context: Context) -> Table:
    """Agreement, kappa and the confusion table of every pair of judges."""
    confusion = Lookup(
        "judge_confusion",
        frames["judge_confusion"],
        ("judge_a", "judge_b", "verdict_a", "verdict_b"),
    )
    pairs = [(a, b) for a in VERDICTS for b in VERDICTS]
    rows = []
    for row in rows_of(frames["judge_agreement"]):
        first, second = str(row["judge_a"]), str(row["judge_b"])
        reason = why_flagged(row)
        cells = (
            whole(row["n"]),
            number(row["agreement"], percent, reason=reason),
            number(
                row["kappa"],
                lambda v: decimal(v, 2),
                low=row["kappa_low"],
                high=row["kappa_high"],
                reason=reason,
            ),
            whole(row["left_out"]),
            *(
                whole(value_of(confusion.get(first, second, a, b), "n"), reason=reason)
                for a, b in pairs
            ),
        )
        rows.append(Row((_name(first, context), _name(second, context)), cells))
    letters = "; ".join(f"{LETTERS[v]}: {v.replace('_', ' ')}" for v in VERDICTS)
    return Table(
        "judge_agreement",
        caption(
            context,
            "Agreement between judges on the same replies, with Cohen's κ and the counts of every "
            "pair of verdicts.",
        ),
        ("First judge", "Second judge"),
        (
            Column("n", "n", align="r"),
            Column("agreement", "Agreement (%)"),
            Column("kappa", "κ"),
            Column("left_out", "Left out", align="r"),
            *(
                Column(f"{a}.{b}", f"{LETTERS[a]}–{LETTERS[b]}", "First–second verdict", "r")
                for a, b in pairs
            ),
        ),
        tuple(rows),
        (
            f"{letters}. Left out: replies to which one of the two gave no verdict.",
            f"Intervals: {captions.level_words(context)}.",
        ),
        size="scriptsize",
        short_caption="Agreement between judges",
    )


def _name(judge: str, context: Context) -> str:
    return context.label(judge).replace("_", " ")
