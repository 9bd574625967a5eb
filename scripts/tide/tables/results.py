"""Tables of scores: main results, perturbation, settings, outcomes, misalignment."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

from scripts.publishing import captions
from scripts.publishing.captions import Context, ModelInfo
from scripts.publishing.layouts import (
    BASELINES,
    INCOMPLETE_MARK,
    Frames,
    Lookup,
    caption,
    check_columns,
    rows_of,
    run_link,
    value_of,
    why_missing,
)
from scripts.publishing.tables import (
    Cell,
    Column,
    Row,
    Table,
    absent,
    bracket,
    decimal,
    is_missing,
    number,
    percent,
    rank_columns,
    signed,
    whole,
)
from scripts.tide import wording
from scripts.tide.tasks import IDENTIFICATION, TASKS
from scripts.tide.wording import ALL, SETTING_LABELS, SETTINGS, SHORT_TASKS, SORTING, named

KEYS = ("model", "mode", "knowledge", "task")
EXTRA = (
    *("n", "strict_low", "strict_high", "partial", "partial_low", "partial_high"),
    *("strict_scored", "lost", "valid_response_rate", "truncated_rate", "unscored", "flagged"),
)
RANK_WORDS = "Bold: best model of a column in its block; underlined: second."
NO_SPREAD = "no interval: no resample differs from the sample"
#: Rows beyond which a table runs over several pages.
LONG = 24


def points(value: float) -> str:
    """A difference of shares in percentage points with its sign: `+3.2`."""
    return signed(100 * value, 1)


def accuracy_of(frames: Frames) -> Lookup:
    """`accuracy.csv` by model, mode, knowledge and task."""
    check_columns("accuracy", frames["accuracy"], ("strict", "partial", "graded", "n", "flag"))
    return Lookup("accuracy", frames["accuracy"], KEYS)


def _difference(row: Mapping[str, Any] | None, first: str, second: str) -> float | None:
    """`first` minus `second` of a row, None where one of them is missing."""
    a, b = value_of(row, first), value_of(row, second)
    return None if is_missing(a) or is_missing(b) else float(a) - float(b)


# ---- main --------------------------------------------------------------------------------------


def strict_cell(
    model: ModelInfo, mode: str, row: Mapping[str, Any] | None, *, credit: bool
) -> Cell:
    """Strict accuracy in percent; below it, where there is `credit`, what partial credit adds."""
    gain = _difference(row, "partial", "strict") if credit else None
    return number(
        value_of(row, "strict"),
        percent,
        reason=why_missing(model, mode, row),
        mark=INCOMPLETE_MARK if "incomplete" in str(value_of(row, "flag")) else "",
        detail="" if gain is None else points(gain),
        extra=tuple((name, value_of(row, name)) for name in EXTRA),
    )


def _main_cells(lookup: Lookup, model: ModelInfo, mode: str, knowledge: str) -> Iterator[Cell]:
    for task, info in TASKS.items():
        row = lookup.get(model.key, mode, knowledge, task)
        yield strict_cell(model, mode, row, credit=info.judged)
        if task == SORTING:
            yield number(value_of(row, "graded"), percent, reason=why_missing(model, mode, row))
    row = lookup.get(model.key, mode, knowledge, ALL)
    yield strict_cell(model, mode, row, credit=True)
    low, high = value_of(row, "strict_low"), value_of(row, "strict_high")
    if is_missing(low) or is_missing(high):
        lost = is_missing(value_of(row, "strict"))
        yield absent(why_missing(model, mode, row) if lost else NO_SPREAD)
    else:
        text = bracket(float(low), float(high), percent)
        yield Cell(text, text)


def _main_columns() -> tuple[Column, ...]:
    columns = []
    for task in TASKS:
        if task == SORTING:
            link = (("task", task),)
            columns += [
                Column(task, "exact", SHORT_TASKS[task], better="high", link=link),
                Column(f"{task}_graded", "pairs", SHORT_TASKS[task], better="high", link=link),
            ]
        else:
            columns.append(Column(task, SHORT_TASKS[task], better="high", link=(("task", task),)))
    return (
        *columns,
        Column(ALL, "strict", "Macro average", better="high"),
        Column("interval", "interval", "Macro average"),
    )


def _main_rows(lookup: Lookup, context: Context) -> list[Row]:
    """A block a setting, a row a run; the baselines of a setting stand below its models."""
    rows = []
    for knowledge in SETTINGS:
        for model, mode, label in wording.runs(context):
            cells = tuple(_main_cells(lookup, model, mode, knowledge))
            title = SETTING_LABELS[knowledge]
            if model.baseline:
                title = f"{title}, {BASELINES.lower()}"
            link = (*run_link(model, mode), ("knowledge", knowledge))
            rows.append(Row((label,), cells, title, model.baseline, link=link))
    return rows


def incomplete_note(rows: Iterable[Row]) -> list[str]:
    """The note on incomplete cells, where a table has any."""
    marked = any(INCOMPLETE_MARK in cell.mark for row in rows for cell in row.cells)
    words = (
        f"{INCOMPLETE_MARK} some items are not on the matched set, or a task of a mean has none; "
        "the CSV file has the counts."
    )
    return [words] * marked


def main(frames: Frames, context: Context) -> Table:
    """Table 3: strict accuracy by setting and task, with what partial credit adds."""
    columns = _main_columns()
    rows = rank_columns(columns, _main_rows(accuracy_of(frames), context))
    return Table(
        named("main"),
        caption(
            context,
            "Strict accuracy (%) by setting and task; below it, in percentage points, what partial "
            "credit adds on the tasks that the council judges.",
            wording.SETTING_WORDS,
            wording.matched_words(frames["accuracy"], context),
            RANK_WORDS,
        ),
        ("Model",),
        columns,
        rows,
        (
            "Sorting: share of exact orders, and beside it the share of pairs in order, which is "
            "another measure and enters no mean. Macro average: unweighted mean of the tasks. "
            "Tasks: " + "; ".join(f"{SHORT_TASKS[t]}: {i.label}" for t, i in TASKS.items()) + ".",
            wording.interval_words(context) + " The CSV file has the interval of every cell.",
            *incomplete_note(rows),
            *filter(None, (wording.lost_words(frames["accuracy"], context),)),
            *filter(None, (wording.modes_words(context),)),
        ),
        layout="long" if len(rows) > LONG else "portrait",
        size="scriptsize",
        short_caption="Strict accuracy by setting and task",
        link=wording.ANSWERS,
    )


# ---- perturbation ------------------------------------------------------------------------------

_MEASURES: tuple[tuple[str, str, Literal["high", "low"]], ...] = (
    ("detection", "Det.", "high"),
    ("specificity", "Spec.", "high"),
    ("identification", "Ident.", "high"),
    ("drop", "Drop", "low"),
)
# Answers behind a measure of the second step.
_STEP = dict.fromkeys(
    ("identification", "drop"), (("task", IDENTIFICATION), ("step", "explanation"))
)
_COUNTS = ("n", "n_perturbed", "true_positive", "false_negative", "false_positive", "true_negative")
_IDENTIFICATION = ("n_identification", "identification_flagged", "identification_partial")
_UNREAD = ("unread_perturbed", "unread_sound")


def _perturbation_cells(row: Mapping[str, Any] | None, model: ModelInfo, mode: str) -> list[Cell]:
    reason = why_missing(model, mode, row)
    gain = _difference(row, "identification_flagged", "identification")
    no_drop = reason if is_missing(value_of(row, "detection")) else "nothing was detected"
    if is_missing(value_of(row, "identification")):
        no_drop = reason
    return [
        number(
            value_of(row, "detection"),
            percent,
            reason=reason,
            extra=tuple((name, value_of(row, name)) for name in (*_COUNTS, *_UNREAD)),
        ),
        number(value_of(row, "specificity"), percent, reason=reason),
        number(
            value_of(row, "identification"),
            percent,
            reason=reason,
            detail="" if gain is None else points(gain),
            extra=tuple((name, value_of(row, name)) for name in _IDENTIFICATION),
        ),
        number(value_of(row, "drop"), percent, reason=no_drop),
    ]


def perturbation(frames: Frames, context: Context) -> Table:
    """Table 4: altered statements that are flagged, and those whose altered fact is named."""
    frame = frames["perturbation"]
    check_columns("perturbation", frame, (*_COUNTS, "detection", "specificity", "drop", "flag"))
    lookup = Lookup("perturbation", frame, ("model", "mode", "knowledge"))
    columns = tuple(
        Column(
            f"{knowledge}.{key}",
            title,
            SETTING_LABELS[knowledge],
            better=better,
            link=(("knowledge", knowledge), *_STEP.get(key, ())),
        )
        for knowledge in SETTINGS
        for key, title, better in _MEASURES
    )
    rows = []
    for model, mode, label in wording.runs(context):
        found = [lookup.get(model.key, mode, knowledge) for knowledge in SETTINGS]
        cells = [cell for row in found for cell in _perturbation_cells(row, model, mode)]
        link = run_link(model, mode)
        rows.append(Row((label,), tuple(cells), wording.block(model), model.baseline, link=link))
    mine = wording.of_models(frame, context)
    return Table(
        named("perturbation"),
        caption(
            context,
            "Flagging altered statements and saying what was altered (%), by setting. Matched set: "
            f"{wording.n_words(mine['n'], 'statements')}, of which "
            f"{captions.between(int(v) for v in mine['n_perturbed'])} are altered.",
            RANK_WORDS,
        ),
        ("Model",),
        columns,
        rank_columns(columns, rows),
        (
            "Det.: altered statements that are called incorrect; Spec.: statements without a "
            "change that are not. Who calls everything incorrect has Det. 100 and Spec. 0.",
            "Ident.: altered statements for which the council finds that the explanation names the "
            "alteration, those not flagged counted as failures; below it, what only those flagged "
            "would add (percentage points). Drop: relative drop from "
            "statements flagged to those identified. A verdict that cannot be read counts against "
            "its statement.",
            *filter(None, (wording.modes_words(context),)),
        ),
        size="scriptsize",
        short_caption="Detection and identification of altered statements",
        link=(*wording.ANSWERS, ("task", "perturbation_detection")),
    )


# ---- outcomes, meaning against date, misalignment ----------------------------------------------

OUTCOMES: Mapping[str, tuple[str, str, str]] = {
    "memory": ("Right from memory", "right without documents", "Partition of all answers"),
    "gap_closed": (
        "Gap closed by the documents",
        "wrong without documents, right with the gold documents",
        "Partition of all answers",
    ),
    "unrecoverable": (
        "Not recovered",
        "wrong without documents and with the gold documents",
        "Partition of all answers",
    ),
    "overturned": (
        "Overturned",
        "right without documents, wrong with the gold documents",
        "Effects across the partition",
    ),
    "icl_only": (
        "Lost in retrieval",
        "right with the gold documents, wrong with retrieved clauses",
        "Effects across the partition",
    ),
    "rag_given_icl": (
        "Kept in retrieval",
        "right with retrieved clauses, of those right with the gold documents",
        "Effects across the partition",
    ),
}


def _pooled_words(context: Context) -> str:
    """How intervals of pooled shares are made."""
    return (
        f"Intervals: {captions.level_words(context)} percentile bootstrap over items, each with "
        "the answers of all models."
    )


def outcomes(frames: Frames, context: Context) -> Table:
    """Table 13: what the documents change, answer by answer."""
    lookup = Lookup("outcomes", frames["outcomes"], ("outcome",))
    rows = []
    for name, (label, meaning, block) in OUTCOMES.items():
        row = lookup.get(name)
        cells = (
            Cell(meaning, meaning),
            whole(value_of(row, "n"), reason=wording.why(row)),
            number(
                value_of(row, "share"),
                percent,
                low=value_of(row, "share_low"),
                high=value_of(row, "share_high"),
                reason=wording.why(row),
            ),
        )
        rows.append(Row((label,), cells, block))
    total = value_of(lookup.get("memory"), "n")
    return Table(
        named("outcomes"),
        caption(
            context,
            "What the documents change, as shares (%) of answers pooled over the models, strict "
            f"scores. Matched set: {wording.n_words([total], 'answers')} of "
            f"{wording.compared(lookup.get('memory'), context)}.",
        ),
        ("Outcome",),
        (
            Column("meaning", "Answer", align="P{6.9cm}"),
            Column("n", "Of", align="r"),
            Column("share", "Share"),
        ),
        tuple(rows),
        (
            "The first three rows add up to all answers. Not recovered: the right provision stands "
            "in the prompt, so that no retriever can help.",
            _pooled_words(context),
        ),
        short_caption="What the documents change",
    )


def meaning_vs_date(frames: Frames, context: Context) -> Table:
    """Table 14: judged answers to questions with gold dates, by meaning and date."""
    frame = frames["meaning_vs_date"]
    lookup = Lookup("meaning_vs_date", frame, ("knowledge", "meaning", "dates"))
    rows = []
    for meaning in ("right", "wrong"):
        for dates in ("right", "wrong"):
            found = [lookup.get(knowledge, meaning, dates) for knowledge in SETTINGS]
            cells = tuple(
                number(
                    value_of(row, "share"),
                    percent,
                    low=value_of(row, "share_low"),
                    high=value_of(row, "share_high"),
                    reason=wording.why(row),
                    extra=(("n", value_of(row, "n")),),
                )
                for row in found
            )
            rows.append(Row((f"{meaning}", f"{dates}"), cells))
    totals = frame.groupby("knowledge")["n"].sum()
    listed = ", ".join(
        f"{SETTING_LABELS[k]} {captions.count(int(totals.get(k, 0)))}" for k in SETTINGS
    )
    return Table(
        named("meaning_vs_date"),
        caption(
            context,
            "Meaning against date: shares (%) of the judged answers to questions whose gold answer "
            f"states a date. Matched set, models pooled; n = {listed} answers on which the council "
            "reached a decision.",
        ),
        ("Meaning", "Dates"),
        tuple(Column(k, SETTING_LABELS[k]) for k in SETTINGS),
        tuple(rows),
        (
            "Dates are right when every gold date is matched and none is contradicted. Strict "
            "credit needs both.",
            _pooled_words(context),
        ),
        short_caption="Meaning against date",
    )


MISALIGNMENT = (
    ("followed_context", "Adopts the claim"),
    ("authoritative", "States the right value"),
    ("conflict_acknowledged", "Names the conflict"),
    ("blended", "Mixes both"),
)


def misalignment(frames: Frames, context: Context) -> Table:
    """Table 15: what answers do with a planted wrong claim."""
    lookup = Lookup("misalignment", frames["misalignment"], ("knowledge",))
    rows = []
    for knowledge in SETTINGS:
        row = lookup.get(knowledge)
        cells = [whole(value_of(row, "n"), reason=wording.why(row))]
        cells += [
            number(
                value_of(row, name),
                percent,
                low=value_of(row, f"{name}_low"),
                high=value_of(row, f"{name}_high"),
                reason=wording.why(row),
            )
            for name, _ in MISALIGNMENT
        ]
        rows.append(Row((SETTING_LABELS[knowledge],), tuple(cells)))
    return Table(
        named("misalignment"),
        caption(
            context,
            "Context misalignment: what answers do with a passage that is wrong on purpose (% of "
            "answers). Matched set of the task, models pooled; n is the number of answers on "
            f"which the council ({captions.join_words(context.options['council'])}) decided all "
            "four.",
        ),
        ("Setting",),
        (
            Column("n", "n", align="r"),
            *(Column(name, title) for name, title in MISALIGNMENT),
        ),
        tuple(rows),
        (
            "Without documents the row shows how well a model resists a claim that nothing "
            "supports; with documents, how it resolves a conflict: these are different questions.",
            _pooled_words(context),
        ),
        short_caption="What answers do with a planted claim",
    )


# ---- differences between settings, and between strict and partial ------------------------------

PAIRS = (
    ("rag_minus_parametric", "RAG − P"),
    ("icl_minus_parametric", "ICL − P"),
    ("icl_minus_rag", "ICL − RAG"),
)


def setting_differences(frames: Frames, context: Context) -> Table:
    """Table 16: differences in partial accuracy between settings, means over models."""
    frame = frames["setting_differences"]
    check_columns("setting_differences", frame, ("task", "measure", "n", "flag"))
    ordered = sorted(
        rows_of(frame), key=lambda r: (wording.order_of(r["task"]), r["measure"] == "graded")
    )
    rows = []
    for row in ordered:
        reason = wording.why(row)
        cells = [whole(row["n"], reason=reason)]
        cells += [
            number(
                row[key],
                lambda v: signed(v, 3),
                low=row[f"{key}_low"],
                high=row[f"{key}_high"],
                reason=reason,
            )
            for key, _ in PAIRS
        ]
        cells += [
            number(row[f"sd_{k}"], decimal, reason="not estimated: fewer than two models")
            for k in SETTINGS
        ]
        label = wording.task_label(row["task"])
        if row["measure"] == "graded":
            label += ", pairs in order"
        rows.append(Row((label,), tuple(cells)))
    return Table(
        named("setting_differences"),
        caption(
            context,
            "Differences in partial accuracy between settings, on the scale from 0 to 1, mean over "
            f"{wording.compared(ordered[-1] if ordered else None, context)}; a positive "
            "value favours the first setting. Matched set; n is its number of items.",
        ),
        ("Task",),
        (
            Column("n", "n", align="r"),
            *(Column(key, title, "Difference") for key, title in PAIRS),
            *(Column(f"sd_{k}", SETTING_LABELS[k], "SD over models", "r") for k in SETTINGS),
        ),
        tuple(rows),
        (
            "The first and the third difference add up to the second. Event sorting counts exact "
            "orders in every setting; the share of pairs in order has a row of its own.",
            f"Intervals: {captions.level_words(context)} percentile bootstrap over items "
            f"({captions.count(context.resamples)} resamples, seed {context.seed}), paired over "
            "the settings. SD over models is disagreement between models, not the error of "
            "sampling items.",
        ),
        size="scriptsize",
        short_caption="Differences between settings",
    )


def _gap_cells(model: ModelInfo, mode: str, row: Mapping[str, Any] | None) -> list[Cell]:
    reason = why_missing(model, mode, row)
    cells = [
        number(
            value_of(row, name),
            percent,
            low=value_of(row, f"{name}_low"),
            high=value_of(row, f"{name}_high"),
            reason=reason,
        )
        for name in ("strict", "partial")
    ]
    return [*cells, number(_difference(row, "partial", "strict"), points, reason=reason)]


def strict_gap(frames: Frames, context: Context) -> Table:
    """Table 17: macro strict accuracy under ICL and its gap from partial accuracy."""
    lookup = accuracy_of(frames)
    others = [k for k in SETTINGS if k != "icl"]
    columns = (
        Column("strict", "strict", "Macro average, ICL", better="high"),
        Column("partial", "partial", "Macro average, ICL", better="high"),
        Column("icl", "ICL", "Partial − strict (points)", "r"),
        *(
            Column(k, SETTING_LABELS[k], "Partial − strict (points)", "r", link=(("knowledge", k),))
            for k in others
        ),
    )
    rows = []
    for model, mode, label in wording.runs(context):
        cells = _gap_cells(model, mode, lookup.get(model.key, mode, "icl", ALL))
        cells += [_gap_cells(model, mode, lookup.get(model.key, mode, k, ALL))[2] for k in others]
        link = run_link(model, mode)
        rows.append(Row((label,), tuple(cells), wording.block(model), model.baseline, link=link))
    return Table(
        named("strict_gap"),
        caption(
            context,
            "Macro strict and partial accuracy (%) with the gold documents, and the gap between "
            "them in every setting.",
            wording.matched_words(frames["accuracy"], context),
            RANK_WORDS,
        ),
        ("Model",),
        columns,
        rank_columns(columns, rows),
        (
            "The gap is credit for matched dates of answers that are not right as a whole: the "
            "meaning is wrong, or another date is missing. A contradicting date gets no credit.",
            wording.interval_words(context),
        ),
        short_caption="Strict and partial accuracy",
        link=(*wording.ANSWERS, ("knowledge", "icl")),
    )
