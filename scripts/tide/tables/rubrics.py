"""Tables of words: other benchmarks, models, rubrics, and the fields of retrieval queries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from scripts.judging.human_validation import MAXIMA
from scripts.publishing import captions
from scripts.publishing.captions import Context
from scripts.publishing.layouts import Frames, caption
from scripts.publishing.tables import Cell, Column, Row, Table, absent, decimal, is_missing
from scripts.tide import wording
from scripts.tide.tasks import IDENTIFICATION, TASKS
from scripts.tide.wording import named

YES, NO, NOT_STATED = "yes", "no", "n.s."
NOT_DISCLOSED = "n.d."


def _words(text: str) -> Cell:
    return Cell(text, text)


# ---- benchmarks --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Benchmark:
    """What the study says of a benchmark; `marks` in the order of MARKS."""

    name: str
    changes: str
    marks: tuple[str, ...]


MARKS = (
    ("amendments", "Amend."),
    ("perturbed", "Pert."),
    ("misaligned", "Misal."),
    ("parametric", "P"),
    ("context", "C"),
    ("retrieval", "R"),
    ("experts", "Experts"),
)
TEMPORAL, LANGUAGES = "Questions about time", "Questions across languages"
_BENCHMARKS: tuple[tuple[str, Benchmark], ...] = (
    (TEMPORAL, Benchmark(
        "TimeBench", "order, duration and arithmetic of time itself",
        (NO, NOT_STATED, NOT_STATED, NOT_STATED, NOT_STATED, NOT_STATED, NO),
    )),
    (TEMPORAL, Benchmark(
        "TRAM", "order, duration and arithmetic of time itself",
        (NO, NOT_STATED, NOT_STATED, NOT_STATED, NOT_STATED, NOT_STATED, NO),
    )),
    (TEMPORAL, Benchmark(
        "TempReason", "facts with a time annotation",
        (NO, NOT_STATED, NOT_STATED, YES, YES, NOT_STATED, NO),
    )),
    (TEMPORAL, Benchmark(
        "MenatQA", "scope, order and counterfactual changes of times",
        (NO, YES, NOT_STATED, NOT_STATED, NOT_STATED, NOT_STATED, NO),
    )),
    (TEMPORAL, Benchmark(
        "StreamingQA", "fourteen years of dated news",
        (NO, NOT_STATED, NOT_STATED, YES, YES, NOT_STATED, NO),
    )),
    (TEMPORAL, Benchmark(
        "EvolveBench", "facts of Wikidata, contexts written by a model",
        (NO, NOT_STATED, YES, NOT_STATED, YES, NOT_STATED, NO),
    )),
    (TEMPORAL, Benchmark(
        "evolveQA", "dated updates of AWS, Azure and the WHO",
        (NO, NOT_STATED, NOT_STATED, YES, NO, NO, NO),
    )),
    (TEMPORAL, Benchmark(
        "DynaQuest", "changes of Wikipedia infoboxes",
        (NO, NOT_STATED, NOT_STATED, YES, NOT_STATED, YES, NO),
    )),
    (TEMPORAL, Benchmark(
        "OAKS", "a stream of facts that supersede each other",
        (NO, NOT_STATED, NOT_STATED, NOT_STATED, NOT_STATED, NOT_STATED, NO),
    )),
    (LANGUAGES, Benchmark(
        "XOR QA", "nothing; seven languages, answers in English Wikipedia",
        (NO, NO, NO, NOT_STATED, NOT_STATED, NOT_STATED, NOT_STATED),
    )),
    (LANGUAGES, Benchmark(
        "MKQA", "nothing; one set of questions in 26 languages",
        (NO, NO, NO, NOT_STATED, NOT_STATED, NOT_STATED, NOT_STATED),
    )),
    ("This benchmark", Benchmark(
        "TIDE", "customs law, changed by dated amending instruments",
        (YES, YES, YES, YES, YES, YES, YES),
    )),
)  # fmt: skip


def benchmarks_compared(frames: Frames, context: Context) -> Table:  # noqa: ARG001 - as every one
    """Table 1: what the study says other benchmarks do, and what they leave out."""
    rows = [
        Row((each.name,), (_words(each.changes), *map(_words, each.marks)), block)
        for block, each in _BENCHMARKS
    ]
    return Table(
        named("benchmarks_compared"),
        caption(
            context,
            "TIDE beside other benchmarks, by what the text of the study says about them.",
        ),
        ("Benchmark",),
        (
            Column("changes", "What changes", align="P{5.3cm}"),
            *(Column(key, title) for key, title in MARKS),
        ),
        tuple(rows),
        (
            "Amend.: the changing text itself names what it replaces and from when; Pert.: altered "
            "statements or times; Misal.: a context that conflicts with the answer; P, C, R: asked "
            "without a context, with the gold context, with retrieved text (an open book counts as "
            "C); Experts: questions verified by experts of the field.",
            f"{NOT_STATED}: the text does not say. The marks of the study's own table are not in "
            "the text that was available; the experts' verification of TIDE is that of its "
            "published pairs.",
        ),
        size="scriptsize",
        short_caption="TIDE beside other benchmarks",
    )


# ---- models ------------------------------------------------------------------------------------

ACCESS = {"open": "Open weights", "proprietary": "Proprietary"}


def models(frames: Frames, context: Context) -> Table:  # noqa: ARG001 - as every builder
    """Table 8: the models of the run, with what their providers disclose."""
    roster: Mapping[str, Mapping[str, object]] = context.options["roster"]
    rows = []
    for model in context.models:
        entry = roster.get(model.key, {})
        cells = [
            _words(NOT_DISCLOSED if is_missing(entry.get(key)) else str(entry[key]))
            for key in ("parameters", "knowledge_cutoff")
        ]
        modes = captions.join_words(captions.MODE_LABELS[mode] for mode in model.modes)
        cells.append(_words(modes))
        source = entry.get("source")
        cells.append(absent("not in the roster") if is_missing(source) else _words(str(source)))
        cells.append(
            _words("latest")
            if is_missing(entry.get("revision"))
            else _words(str(entry["revision"]))
        )
        access = ACCESS.get(str(entry.get("access")), "Access not stated")
        rows.append(Row((model.label,), tuple(cells), access))
    order = [*ACCESS.values(), "Access not stated"]
    rows.sort(key=lambda row: order.index(row.block))
    return Table(
        named("models"),
        caption(
            context,
            f"Models of TIDE by access; n = {captions.count(len(rows))}. {NOT_DISCLOSED}: the "
            "provider does not disclose it, or the roster has no statement of it.",
        ),
        ("Model",),
        (
            Column("parameters", "Parameters", align="l"),
            Column("knowledge_cutoff", "Knowledge cut-off", align="P{2.4cm}"),
            Column("modes", "Modes", align="P{2.2cm}"),
            Column("source", "Source", align="P{3.4cm}"),
            Column("revision", "Revision", align="P{2.2cm}"),
        ),
        tuple(rows),
        (
            "Knowledge after the cut-off cannot come from memory: read the parametric setting with "
            "it. Source and revision: what the run asked for.",
        ),
        size="scriptsize",
        short_caption="Models of TIDE",
    )


# ---- rubrics -----------------------------------------------------------------------------------

_CRITERIA: Mapping[str, str] = {
    "temporal_mcq": (
        "Exactly one option is right on the date asked about, it is the one marked, and the other "
        "three are wrong on that date."
    ),
    "event_sorting": (
        "Every event took place as told, the key holds them from the earliest to the latest "
        "effective date, and no event gives its own date away."
    ),
    "perturbation_detection": (
        "The label is right: an altered statement is wrong in the one fact named, and the "
        "correction is what the instrument says; another statement is right throughout."
    ),
    "scenario_short_answer": (
        "The value asked for is the one that the named instrument sets for the case told, with "
        "its unit and its conditions."
    ),
    "temporal_scenario_short_answer": (
        "The answer composes all instruments that matter and gives the value and the instrument "
        "in force on each date of the scenario."
    ),
    "relative_time_qa": (
        "The offset from the anchor leads to the date meant, and the answer is what is in force "
        "on that date."
    ),
    "open_ended": (
        "The account of the change, its direction and its reason is complete and follows from the "
        "cited clauses, with the date of each step."
    ),
    "context_misalignment": (
        "The passage is wrong in the fact documented, and the answer rejects it with the value, "
        "instrument and date that hold."
    ),
}


def verification_rubric(frames: Frames, context: Context) -> Table:  # noqa: ARG001 - as every one
    """Table 6: what a pair of each task must meet to be rated 3."""
    rows = [Row((wording.task_label(task),), (_words(_CRITERIA[task]),)) for task in TASKS]
    return Table(
        named("verification_rubric"),
        caption(
            context,
            "What a question pair must meet to be rated 3 by an expert, by task.",
        ),
        ("Task",),
        (Column("criterion", "Rated 3 when", align="P{11.6cm}"),),
        tuple(rows),
        (
            "2: the fact is right, but a detail is imprecise or missing, such as a month. 1: a "
            "wrong fact, or a wrong or contradicting date. In every task a date must be given as "
            "finely as the question needs it.",
        ),
        stub_align="P{3.4cm}",
        size="scriptsize",
        short_caption="When a pair is verified",
    )


COUNCIL_STRICT = "all gold dates matched, none contradicted, meaning right"


def _scoring(task: str, weight: float) -> tuple[str, str, str, str]:
    """Who scores a task, its strict and partial score, and its gate."""
    kind = "free" if task == IDENTIFICATION else TASKS[task].kind
    if kind == "choice":
        return "program", "the option is the gold one", "none", "none"
    if kind == "order":
        return (
            "program",
            "the whole order is right",
            "none; the share of pairs in order is reported apart",
            "none",
        )
    if kind == "verdict":
        return "program", "the verdict is that of the label", "none", "none"
    strict = COUNCIL_STRICT
    if task == IDENTIFICATION:
        strict = "the explanation names the alteration: " + strict
    partial = (
        f"{decimal(weight, 2)} × share of gold dates matched + {decimal(1 - weight, 2)} × strict; "
        "without gold dates the meaning alone"
    )
    gate = "a date missing or wrong: strict 0; a contradicting date: both 0"
    return "council", strict, partial, gate


def scoring_rubric(frames: Frames, context: Context) -> Table:  # noqa: ARG001 - as every builder
    """Table 9: what each task is scored by, and where the date gate stands."""
    weight = float(context.options["date_weight"])
    groups: dict[tuple[str, ...], list[str]] = {}
    for task in (*TASKS, IDENTIFICATION):
        groups.setdefault(_scoring(task, weight), []).append(wording.task_label(task))
    rows = [Row((", ".join(names),), tuple(map(_words, rule))) for rule, names in groups.items()]
    return Table(
        named("scoring_rubric"),
        caption(
            context,
            "How each task is scored. The council of this run is "
            f"{captions.join_words(context.options['council'])}.",
        ),
        ("Task",),
        (
            Column("scorer", "Scored by", align="l"),
            Column("strict", "Strict score 1 when", align="P{3.5cm}"),
            Column("partial", "Partial score", align="P{3.6cm}"),
            Column("gate", "Date gate", align="P{2.3cm}"),
        ),
        tuple(rows),
        (
            "A program reads the gold dates out of the gold answer. For each of them a judge says "
            "whether the answer commits to it, as finely as the gold answer does, and copies "
            "where; further, whether a date of the answer contradicts them, whether the meaning "
            "is right, and whether the case is borderline. A program takes the majority on each "
            "question and makes the scores; no judge grades.",
            "Perturbation identification is the second step after a verdict of incorrect; its gold "
            "dates are those of the right fact, not every date of the gold answer. The weight "
            "of the dates is not published; it is a setting of the run.",
        ),
        stub_align="P{3.5cm}",
        size="scriptsize",
        short_caption="How each task is scored",
    )


_POINTS: Mapping[str, tuple[str, str]] = {
    "verdict": (
        "Verdict",
        "the council's strict and partial score are those that the expert would have given",
    ),
    "reasoning": (
        "Reasoning",
        "the answers to the yes/no questions follow from the answer and the reference, dates first",
    ),
    "clarity": (
        "Clarity",
        "what was decided, and why, can be followed without further explanation",
    ),
}


def human_rubric(frames: Frames, context: Context) -> Table:  # noqa: ARG001 - as every builder
    """Table 10: what an expert gives points for when validating a decision of the council."""
    rows = [
        Row((_POINTS[name][0],), (Cell(most, str(most)), _words(_POINTS[name][1])), "Criteria")
        for name, most in MAXIMA.items()
    ]
    total = sum(MAXIMA.values())
    rows.append(Row(("Total",), (Cell(total, str(total)), _words("")), "Sum"))
    return Table(
        named("human_rubric"),
        caption(
            context, "What experts give points for when they validate the council's decisions."
        ),
        ("Criterion",),
        (
            Column("points", "Points", align="r"),
            Column("meaning", "Full points when", align="P{10.5cm}"),
        ),
        tuple(rows),
        short_caption="Points for the council's decisions",
    )


# ---- retrieval queries -------------------------------------------------------------------------

_LEFT_OUT: Mapping[str, str] = {
    "temporal_mcq": "the options hold the answer",
    "event_sorting": "the question is the same for every pair",
    "perturbation_detection": "the question is the same for every pair",
    "context_misalignment": "the passage is wrong on purpose and would steer the search",
}


def query_fields(frames: Frames, context: Context) -> Table:  # noqa: ARG001 - as every builder
    """Table 12: the fields that make the retrieval query, and those that do not."""
    rows = []
    for name, task in TASKS.items():
        left_out = [field for field in task.shown if field not in task.query]
        cells = (
            _words(_fields(task.query)),
            _words(_fields(left_out)),
            _words(_LEFT_OUT[name] if left_out else ""),
            _words(_fields(task.hidden)),
        )
        rows.append(Row((task.label,), cells))
    return Table(
        named("query_fields"),
        caption(
            context,
            "Fields of a question pair that make the retrieval query, and fields that are kept "
            "out.",
        ),
        ("Task",),
        (
            Column("query", "Query", align="P{2.4cm}"),
            Column("left_out", "Shown, not in the query", align="P{2.5cm}"),
            Column("reason", "Because", align="P{3.1cm}"),
            Column("hidden", "Seen by scoring only", align="P{3.2cm}"),
        ),
        tuple(rows),
        stub_align="P{2.8cm}",
        size="scriptsize",
        short_caption="Fields of the retrieval query",
    )


def _fields(names: tuple[str, ...] | list[str]) -> str:
    return ", ".join(name.replace("_", " ") for name in names)
