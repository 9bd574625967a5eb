"""The layouts of SyntaxBench's tables: statistics in, `Table` out.

`build(name, frames, context)` is the entry. `frames` holds the statistics CSVs by file stem
(docs/architecture.md lists their columns); `artefacts.TABLES` says which of them a table needs.
Table numbers in the docstrings are those of the SyntaxBench paper (arXiv:2610.03329).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from scripts.files import DataError
from scripts.publishing import captions
from scripts.publishing.captions import NON_THINKING, THINKING, Context, ModelInfo
from scripts.publishing.layouts import (
    INCOMPLETE_MARK,
    Frames,
    Lookup,
    blocks,
    by_model,
    caption,
    in_task_order,
    pair_link,
    run_link,
    value_of,
    why_missing,
)
from scripts.publishing.readings import readings_table
from scripts.publishing.tables import (
    Cell,
    Column,
    Link,
    Row,
    Table,
    absent,
    decimal,
    is_missing,
    number,
    p_value,
    percent,
    rank_cells,
    rank_columns,
    signed,
    whole,
)
from scripts.syntaxbench.artefacts import require
from scripts.syntaxbench.reading_words import QUESTIONS
from scripts.syntaxbench.tasks import CONDITIONS, TASKS

ALL_CONDITIONS = (*CONDITIONS, "all")


BENCHMARK: Link = (("benchmark", "syntaxbench"),)


def _at_headline(context: Context) -> Link:
    """The answers behind a table at the headline number of demonstrations, in the explorer."""
    return (*BENCHMARK, ("shots", str(context.headline_shots)))


def _of_task(task: str, condition: str = "all") -> Link:
    """Those to a task, under one condition or all."""
    return (("task", task), ("condition", "" if condition == "all" else condition))


# ---- looking things up -------------------------------------------------------------------------


def cells_of(frames: Frames) -> Lookup:
    """`cells.csv` by model, mode, task, shots, condition."""
    return Lookup("cells", frames["cells"], ("model", "mode", "task", "shots", "condition"))


def incomplete(row: Mapping[str, Any] | None) -> str:
    """The mark of a cell with fewer items than planned."""
    planned, n = value_of(row, "n_expected"), value_of(row, "n")
    if is_missing(planned) or is_missing(n) or int(n) >= int(planned):
        return ""
    return INCOMPLETE_MARK


def incomplete_note(rows: Iterable[Row]) -> list[str]:
    """The note on incomplete cells, where a table has any; the CSV's `_n` columns say how many."""
    marked = any(INCOMPLETE_MARK in cell.mark for row in rows for cell in row.cells)
    return [f"{INCOMPLETE_MARK} fewer items than planned."] if marked else []


def item_words(frames: Frames, context: Context) -> str:
    """How many items stand behind a cell, observed in the data: `12 to 24 items per condition`."""
    frame = frames["cells"]
    frame = frame[(frame["shots"] == context.headline_shots) & (frame["condition"] != "all")]
    counts = frame.loc[frame["n"].notna() & (frame["n"] > 0), "n"].astype(int)
    return f"n = {captions.between(counts)} items per task and condition"


def headline(context: Context) -> str:
    """The shot setting of the headline tables in words."""
    return captions.shots_words(context.headline_shots)


def _percent_row(row: Mapping[str, Any] | None, column: str, reason: str) -> Cell:
    return number(None if row is None else row.get(column), percent, reason=reason)


# ---- the tables --------------------------------------------------------------------------------


def tasks(frames: Frames, context: Context) -> Table:
    """Table 1: the tasks, their questions, answers and item counts per condition."""
    frame = frames["cells"]
    rows = []
    for task, items in context.tasks.items():
        info = TASKS[task]
        seen = [
            frame.loc[(frame["task"] == task) & (frame["condition"] == c), "n_expected"].max()
            for c in CONDITIONS
        ]
        counts = [
            replace(whole(items if is_missing(n) else n), extra=(("configured", items),))
            for n in seen
        ]
        rows.append(Row((task, info.description, info.output), tuple(counts), info.group))
    shots = captions.join_words(str(s) for s in context.shots)
    return Table(
        "tasks",
        caption(
            context,
            "The tasks of SyntaxBench with their items per condition.",
            f"Every item is asked with {shots} demonstrations.",
        ),
        ("Task", "Question", "Answer"),
        (
            Column("english", "English", "Items", "r"),
            Column("random", "Random", "Items", "r"),
        ),
        tuple(rows),
        stub_align="lp{7.2cm}l",
        size="small",
        short_caption="The tasks of SyntaxBench",
    )


def _leaderboard(name: str, mode: str, frames: Frames, context: Context) -> Table:
    lookup = Lookup("leaderboard", frames["leaderboard"], ("mode", "shots", "model"))
    entries = []
    for model, row_mode, block in blocks(context, [mode]):
        row = lookup.get(row_mode, context.headline_shots, model.key)
        reason = why_missing(model, row_mode, row)
        macro = number(
            value_of(row, "macro_ema"),
            decimal,
            low=value_of(row, "macro_low"),
            high=value_of(row, "macro_high"),
            reason=reason,
        )
        rest = (
            number(value_of(row, "valid_response_rate"), decimal, reason=reason),
            number(value_of(row, "parse_error_rate"), decimal, reason=reason),
            whole(value_of(row, "tasks"), reason=reason),
        )
        link = run_link(model, row_mode)
        entries.append(Row((model.label,), (macro, *rest), block, model.baseline, link=link))
    columns = (
        Column("macro_ema", "Macro EMA", better="high"),
        Column("valid_response_rate", "VRR"),
        Column("parse_error_rate", "PER"),
        Column("tasks", "Tasks"),
    )
    ranked = _with_rank(rank_columns(columns, entries))
    return Table(
        name,
        caption(
            context,
            f"Leaderboard at {headline(context)}, {captions.MODE_LABELS[mode]} mode, English and "
            "random items together.",
            "Macro EMA: unweighted mean of the exact-match accuracies of the complete tasks "
            f"(of {len(context.tasks)}).",
        ),
        ("Rank", "Model"),
        columns,
        ranked,
        (
            f"Intervals: {captions.level_words(context)} percentile bootstrap that resamples the "
            f"task accuracies ({captions.count(context.resamples)} resamples, seed "
            f"{context.seed}): "
            "the spread between tasks, not the sampling error of items.",
            "VRR: valid-response rate; PER: parse-error rate, both means over the tasks.",
        ),
        stub_align="rl",
        size="small",
        stacked=False,
        short_caption=f"Leaderboard, {captions.MODE_LABELS[mode]} mode",
        link=_at_headline(context),
    )


def _with_rank(rows: Iterable[Row]) -> tuple[Row, ...]:
    """Sort each block by its first cell, best first, and put the rank before the stub.

    Equal values share a rank, as in leaderboard.csv.
    """

    def key(row: Row) -> tuple[bool, float]:
        value = row.cells[0].value
        return (value is None, -float(value or 0.0))

    models = sorted((r for r in rows if not r.baseline), key=key)
    baselines = sorted((r for r in rows if r.baseline), key=key)
    values = [key(row)[1] for row in models if not key(row)[0]]
    out = []
    for row in models:
        empty, value = key(row)
        rank = "" if empty else str(1 + sum(other < value for other in values))
        out.append(replace(row, stub=(rank, *row.stub)))
    return (*out, *(replace(row, stub=("", *row.stub)) for row in baselines))


def leaderboard_thinking(frames: Frames, context: Context) -> Table:
    """Tables 2 and 17: macro EMA in thinking mode."""
    return _leaderboard("leaderboard_thinking", THINKING, frames, context)


def leaderboard_nonthinking(frames: Frames, context: Context) -> Table:
    """Table 18: macro EMA in non-thinking mode."""
    return _leaderboard("leaderboard_nonthinking", NON_THINKING, frames, context)


def reasoning_case(frames: Frames, context: Context) -> tuple[ModelInfo, str] | None:
    """The model and task of Table 3: the configured one, else the largest |difference| of modes.

    Returns None when no model ran in both modes. Raises DataError for a configured case that the
    run does not have.
    """
    both = {m.key: m for m in context.models if {THINKING, NON_THINKING} <= set(m.modes)}
    asked = context.options.get("reasoning_case")
    if asked:
        model, task = asked["model"], asked["task"]
        if model not in both or task not in context.tasks:
            raise DataError(
                f"syntaxbench.publishing.reasoning_case: {model} on {task} is not run in both modes"
            )
        return both[model], str(task)
    frame = frames["mcnemar_modes"]
    frame = frame[(frame["condition"] == "all") & (frame["shots"] == context.headline_shots)]
    frame = frame[frame["model"].isin(list(both)) & frame["task"].isin(list(context.tasks))]
    frame = frame[frame["delta_ema"].notna()]
    if frame.empty:
        return None
    size = frame["delta_ema"].abs().round(12)
    order = frame.assign(size=size).sort_values(
        ["size", "model", "task"], ascending=[False, True, True], kind="stable"
    )
    return both[str(order.iloc[0]["model"])], str(order.iloc[0]["task"])


def reasoning_mode_case(frames: Frames, context: Context) -> Table:
    """Table 3: one model and task in both modes, EMA and kappa by number of shots."""
    case = reasoning_case(frames, context)
    lookup = cells_of(frames)
    tests = Lookup(
        "mcnemar_modes", frames["mcnemar_modes"], ("model", "task", "shots", "condition")
    )
    columns = (
        Column("non_thinking_ema", "EMA", "Non-thinking"),
        Column("non_thinking_kappa", "κ", "Non-thinking"),
        Column("thinking_ema", "EMA", "Thinking"),
        Column("thinking_kappa", "κ", "Thinking"),
        Column("delta_ema", "ΔEMA", "Non-thinking − thinking"),
        Column("delta_kappa", "Δκ", "Non-thinking − thinking"),
        Column("b01", "b01", "McNemar", "r"),
        Column("b10", "b10", "McNemar", "r"),
        Column("odds_ratio", "OR", "McNemar", "r"),
    )
    if case is None:
        reason = "not available: no model of this run has both modes"
        rows = [
            Row((captions.shots_words(s),), tuple(absent(reason) for _ in columns))
            for s in context.shots
        ]
        subject, notes = "One model in both reasoning modes.", []
    else:
        model, task = case
        rows = [_case_row(lookup, tests, model, task, s) for s in context.shots]
        subject = f"{model.label} on {task} in both reasoning modes, English and random together."
        notes = [
            captions.stars_sentence(
                "McNemar's test with continuity correction, non-thinking against thinking",
                "the model's task and shot cells",
            ),
            "b01: right without thinking only; b10: right with thinking only; OR = b01/b10.",
            *_exact_note(tests, model, task, context),
            *_class_note(lookup, model, task, context),
        ]
    return Table(
        "reasoning_mode_case",
        caption(context, subject),
        ("Shots",),
        columns,
        tuple(rows),
        tuple(notes),
        stacked=False,
        size="small",
        short_caption="One model in both reasoning modes",
        link=BENCHMARK,
    )


def _case_row(lookup: Lookup, tests: Lookup, model: ModelInfo, task: str, shots: int) -> Row:
    pair = [lookup.get(model.key, mode, task, shots, "all") for mode in (NON_THINKING, THINKING)]
    reasons = [
        why_missing(model, mode, row)
        for mode, row in zip((NON_THINKING, THINKING), pair, strict=True)
    ]
    values = [(value_of(row, "ema"), value_of(row, "kappa")) for row in pair]
    shown = [
        number(value, decimal, reason=reason)
        for couple, reason in zip(values, reasons, strict=True)
        for value in couple
    ]
    test = tests.get(model.key, task, shots, "all")
    lost = captions.NOT_EVALUATED if test is None else captions.reason_for(test.get("flag"))
    deltas = [
        None if is_missing(a) or is_missing(b) else float(a) - float(b)
        for a, b in zip(values[0], values[1], strict=True)
    ]
    mark = captions.stars(value_of(test, "p_bonferroni"))
    return Row(
        (captions.shots_words(shots),),
        (
            *shown,
            number(deltas[0], signed, reason=lost, mark=mark),
            number(deltas[1], signed, reason=lost),
            whole(value_of(test, "b01"), reason=lost),
            replace(whole(value_of(test, "b10"), reason=lost), link=(("pair", "only_b"),)),
            number(
                value_of(test, "odds_ratio"),
                _odds_ratio,
                reason=lost,
                extra=tuple((name, value_of(test, name)) for name in ("p", "p_exact")),
            ),
        ),
        link=(
            *_of_task(task),
            ("shots", str(shots)),
            *pair_link((model.key, NON_THINKING), (model.key, THINKING)),
        ),
    )


def _odds_ratio(value: float) -> str:
    return "∞" if value == float("inf") else decimal(value, 2)


def _exact_note(tests: Lookup, model: ModelInfo, task: str, context: Context) -> list[str]:
    """The exact binomial p of the rows that have one: those with few discordant pairs."""
    found = [(s, value_of(tests.get(model.key, task, s, "all"), "p_exact")) for s in context.shots]
    parts = [f"{captions.shots_words(s)}: {p_value(p)}" for s, p in found if not is_missing(p)]
    return [f"Exact binomial p where discordant pairs are few: {', '.join(parts)}."] * bool(parts)


def _class_note(lookup: Lookup, model: ModelInfo, task: str, context: Context) -> list[str]:
    """TPR and TNR of both modes at the headline shots, for a task that has them."""
    parts = []
    for mode in (NON_THINKING, THINKING):
        row = lookup.get(model.key, mode, task, context.headline_shots, "all")
        tpr, tnr = value_of(row, "tpr"), value_of(row, "tnr")
        if not (is_missing(tpr) or is_missing(tnr)):
            parts.append(
                f"{captions.MODE_LABELS[mode]} TPR {decimal(tpr, 4)}, TNR {decimal(tnr, 4)}"
            )
    return [f"At {headline(context)}: {'; '.join(parts)}."] if parts else []


def _main(name: str, mode: str, frames: Frames, context: Context) -> Table:
    lookup = cells_of(frames)
    columns = tuple(
        Column(
            f"{task}.{condition}", condition, task, better="high", link=_of_task(task, condition)
        )
        for task in context.tasks
        for condition in CONDITIONS
    )
    marks = {
        (task, condition): best_model_marks(frames, context, mode, task, condition)
        for task in context.tasks
        for condition in CONDITIONS
    }

    def fill(model: ModelInfo, row_mode: str) -> Iterable[Cell]:
        for task in context.tasks:
            for condition in CONDITIONS:
                row = lookup.get(model.key, row_mode, task, context.headline_shots, condition)
                yield number(
                    value_of(row, "ema"),
                    percent,
                    low=value_of(row, "ema_low"),
                    high=value_of(row, "ema_high"),
                    reason=why_missing(model, row_mode, row),
                    mark=marks[task, condition].get(model.key, "") + incomplete(row),
                    extra=(("n", value_of(row, "n")),),
                )

    rows = rank_columns(columns, by_model(context, [mode], fill))
    pairs = len([m for m in context.models if mode in m.modes])
    tests = pairs * (pairs - 1) // 2
    marks_note = captions.stars_sentence(
        "McNemar's test with continuity correction against the column's best model",
        f"the {captions.counted(tests, 'model pair')} of a cell",
    )
    return Table(
        name,
        caption(
            context,
            f"Exact-match accuracy (%) at {headline(context)}, "
            f"{captions.MODE_LABELS[mode]} mode, by task and condition; "
            f"{item_words(frames, context)}.",
            "Bold: best model of a column; underlined: second.",
        ),
        ("Model",),
        columns,
        rows,
        (
            captions.bootstrap_sentence(context),
            *([marks_note] if tests else []),
            *incomplete_note(rows),
        ),
        layout="landscape",
        short_caption=f"Accuracy by task and condition, {captions.MODE_LABELS[mode]} mode",
        link=_at_headline(context),
    )


def best_model_marks(
    frames: Frames, context: Context, mode: str, task: str, condition: str
) -> dict[str, str]:
    """Significance marks against the best model of a cell at the headline shots.

    The best model is the one of the highest accuracy (the first in roster order among equals).
    Returns model key to mark; a model without a test has none.
    """
    cells = frames["cells"]
    chosen = cells[
        (cells["mode"] == mode)
        & (cells["task"] == task)
        & (cells["shots"] == context.headline_shots)
        & (cells["condition"] == condition)
        & cells["model"].isin(context.model_keys())
    ].dropna(subset=["ema"])
    accuracy = dict(zip(chosen["model"], chosen["ema"], strict=True))
    order = [k for k in context.model_keys() if k in accuracy]
    if not order:
        return {}
    best = max(order, key=lambda k: accuracy[k])
    tests = frames["mcnemar_models"]
    tests = tests[
        (tests["mode"] == mode)
        & (tests["task"] == task)
        & (tests["shots"] == context.headline_shots)
        & (tests["condition"] == condition)
    ]
    out = {}
    for row in tests.to_dict("records"):
        if best in (row["model_a"], row["model_b"]):
            other = row["model_b"] if row["model_a"] == best else row["model_a"]
            out[str(other)] = captions.stars(row["p_bonferroni_cell"])
    return out


def main_thinking(frames: Frames, context: Context) -> Table:
    """Table 4: accuracy by task and condition in thinking mode."""
    return _main("main_thinking", THINKING, frames, context)


def main_nonthinking(frames: Frames, context: Context) -> Table:
    """Table 5: accuracy by task and condition in non-thinking mode."""
    return _main("main_nonthinking", NON_THINKING, frames, context)


def _shot_columns(context: Context) -> tuple[Column, ...]:
    """A column a task and number of demonstrations."""
    return tuple(
        Column(f"{task}.{s}shot", str(s), task, link=(*_of_task(task), ("shots", str(s))))
        for task in context.tasks
        for s in context.shots
    )


def shots(frames: Frames, context: Context) -> Table:
    """Table 6: accuracy by number of shots; the best shot of a model and task is bold."""
    lookup = cells_of(frames)
    columns = _shot_columns(context)

    def fill(model: ModelInfo, mode: str) -> Iterable[Cell]:
        for task in context.tasks:
            found = [lookup.get(model.key, mode, task, s, "all") for s in context.shots]
            cells = [_percent_row(row, "ema", why_missing(model, mode, row)) for row in found]
            marked = [
                replace(cell, mark="" if cell.missing else incomplete(row))
                for cell, row in zip(cells, found, strict=True)
            ]
            yield from rank_cells(marked)

    rows = by_model(context, (THINKING, NON_THINKING), fill)
    return Table(
        "shots",
        caption(
            context,
            "Exact-match accuracy (%) by number of demonstrations, English and random together; "
            f"{item_words(frames, context)}.",
            "Bold: best number of a model and task; underlined: second.",
        ),
        ("Model",),
        columns,
        tuple(rows),
        tuple(incomplete_note(rows)),
        layout="landscape",
        short_caption="Accuracy by number of demonstrations",
        link=BENCHMARK,
    )


def kappa(frames: Frames, context: Context) -> Table:
    """Table 7: Cohen's kappa with its Landis-Koch band."""
    lookup = cells_of(frames)
    names = [task for task in context.tasks if TASKS[task].core]
    columns = tuple(Column(task, task, better="high", link=_of_task(task)) for task in names)

    def fill(model: ModelInfo, mode: str) -> Iterable[Cell]:
        for task in names:
            row = lookup.get(model.key, mode, task, context.headline_shots, "all")
            band = value_of(row, "kappa_band")
            yield number(
                value_of(row, "kappa"),
                decimal,
                reason=why_missing(model, mode, row),
                detail="" if is_missing(band) else str(band).replace("_", " "),
                extra=(("kind", value_of(row, "kappa_kind")),),
            )

    return Table(
        "kappa",
        caption(
            context,
            f"Cohen's κ at {headline(context)}, English and random together; "
            f"{item_words(frames, context)}.",
        ),
        ("Model",),
        columns,
        rank_columns(columns, by_model(context, (THINKING, NON_THINKING), fill)),
        (
            "Linear weights for integer answers (valid replies only), unweighted otherwise (a "
            "parse error counts as a wrong label). Bands after Landis and Koch.",
        ),
        short_caption="Cohen's κ",
        link=_at_headline(context),
    )


def mcnemar_pairs(frame: pd.DataFrame, mode: str) -> dict[tuple[str, str], dict[str, Any]]:
    """Summary rows of a mode for both orders of every pair."""
    out: dict[tuple[str, str], dict[str, Any]] = {}
    for row in frame[frame["mode"] == mode].to_dict("records"):
        a, b = str(row["model_a"]), str(row["model_b"])
        plain = {str(k): v for k, v in row.items()}
        out[a, b] = plain
        out.setdefault(
            (b, a),
            {**plain, "wins_a": plain["wins_b"], "wins_b": plain["wins_a"]},
        )
    return out


def _mcnemar(name: str, mode: str, frames: Frames, context: Context) -> Table:
    found = mcnemar_pairs(frames["mcnemar_summary"], mode)
    models = [m for m in context.models if mode in m.modes] or list(context.models)
    columns = tuple(Column(m.key, m.label) for m in models)
    rows = []
    for a in models:
        cells = []
        for b in models:
            if a.key == b.key:
                cells.append(Cell("", "·"))
                continue
            pair = found.get((a.key, b.key))
            if pair is None or is_missing(pair["significant"]):
                reason = a.missing_mode(mode) or b.missing_mode(mode) or captions.NOT_EVALUATED
                cells.append(absent(reason))
                continue
            link = pair_link((a.key, mode), (b.key, mode))
            cells.append(replace(_pair_cell(pair), link=link))
        rows.append(Row((a.label,), tuple(cells)))
    sizes = captions.between(int(p["cells"]) for p in found.values() if not is_missing(p["cells"]))
    notes = (
        f"McNemar's test with continuity correction, Bonferroni-corrected over the {sizes} "
        f"cells of a pair at α = {context.alpha:g}.",
        "Blue: the row model wins more cells; orange: the column model does; grey: a tie.",
    )
    return Table(
        name,
        caption(
            context,
            f"Pairwise McNemar tests in {captions.MODE_LABELS[mode]} mode, English and random "
            "together: significant task and shot cells out of the tested ones, "
            "then wins of the row model : wins of the column model.",
        ),
        ("Model",),
        columns,
        tuple(rows),
        notes if found else (),
        layout="landscape" if len(models) > 6 else "portrait",
        short_caption=f"Pairwise McNemar tests, {captions.MODE_LABELS[mode]} mode",
        link=BENCHMARK,
    )


def _pair_cell(pair: Mapping[str, Any]) -> Cell:
    wins, losses = int(pair["wins_a"]), int(pair["wins_b"])
    tint: Any = ""
    if wins or losses:
        tint = "row" if wins > losses else "column" if losses > wins else "mixed"
    return Cell(
        int(pair["significant"]),
        f"{int(pair['significant'])}/{int(pair['cells'])}",
        detail=f"{wins} : {losses}",
        tint=tint,
        extra=(("cells", int(pair["cells"])), ("wins", wins), ("losses", losses)),
    )


def mcnemar_thinking(frames: Frames, context: Context) -> Table:
    """Table 8: pairwise tests in thinking mode."""
    return _mcnemar("mcnemar_thinking", THINKING, frames, context)


def mcnemar_nonthinking(frames: Frames, context: Context) -> Table:
    """Table 9: pairwise tests in non-thinking mode."""
    return _mcnemar("mcnemar_nonthinking", NON_THINKING, frames, context)


def kendall(frames: Frames, context: Context) -> Table:
    """Table 10: Kendall's tau over the shot counts and the trajectory's label."""
    lookup = Lookup("kendall", frames["kendall"], ("model", "mode", "task", "condition"))
    columns = tuple(Column(task, task, link=_of_task(task)) for task in context.tasks)

    def fill(model: ModelInfo, mode: str) -> Iterable[Cell]:
        for task in context.tasks:
            row = lookup.get(model.key, mode, task, "all")
            label = value_of(row, "label")
            words = "" if is_missing(label) else str(label).replace("_", " ")
            reason = why_missing(model, mode, row)
            if reason == captions.FLAGS["constant"] or words == "flat":
                reason = "flat: all shot counts have the same accuracy"
            yield number(
                value_of(row, "tau"),
                decimal,
                reason=reason,
                detail=words,
                extra=(("label", label),),
            )

    return Table(
        "kendall",
        caption(
            context,
            "Kendall's τ (tau-b) between the number of demonstrations "
            f"({captions.join_words(str(s) for s in context.shots)}) and exact-match accuracy, "
            "English and random together.",
        ),
        ("Model",),
        columns,
        tuple(by_model(context, (THINKING, NON_THINKING), fill)),
        (
            f"With {len(context.shots)} points τ describes a shape and cannot be significant; no "
            "p-value is given.",
        ),
        short_caption="Kendall's τ over the number of demonstrations",
        link=BENCHMARK,
    )


def english_random_gap(frames: Frames, context: Context) -> Table:
    """Table 11: English minus random accuracy with chi-square marks."""
    frame = frames["english_random"]
    lookup = Lookup("english_random", frame, ("model", "mode", "task", "shots"))
    columns = tuple(Column(task, task, link=_of_task(task)) for task in context.tasks)

    def fill(model: ModelInfo, mode: str) -> Iterable[Cell]:
        for task in context.tasks:
            row = lookup.get(model.key, mode, task, context.headline_shots)
            gap = value_of(row, "gap")
            cell = number(
                gap,
                lambda v: signed(100 * v, 1),
                reason=why_missing(model, mode, row),
                mark=captions.stars(value_of(row, "p_bonferroni")),
                extra=(("p_bonferroni", value_of(row, "p_bonferroni")), ("q", value_of(row, "q"))),
            )
            if not cell.missing and float(gap) != 0.0 and not model.baseline:
                cell = replace(cell, tint="row" if gap > 0 else "column")
            yield cell

    sizes = captions.between(int(v) for v in frame["family_size"].dropna())
    return Table(
        "english_random_gap",
        caption(
            context,
            f"English minus random exact-match accuracy (percentage points) at "
            f"{headline(context)}; {item_words(frames, context)}."
            if "cells" in frames
            else "English minus random exact-match accuracy (percentage points) at "
            f"{headline(context)}.",
        ),
        ("Model",),
        columns,
        tuple(by_model(context, (THINKING, NON_THINKING), fill)),
        (
            captions.stars_sentence(
                "chi-square test of independence, Yates-corrected for small counts",
                f"{sizes} comparisons",
            ),
            "Blue: English is easier; orange: random is easier.",
        ),
        short_caption="English minus random accuracy",
        link=_at_headline(context),
    )


def parse_errors(frames: Frames, context: Context) -> Table:
    """Table 12: parse-error rate with its blank and inference-error parts."""
    lookup = cells_of(frames)
    columns = _shot_columns(context)
    parts = ("blank_rate", "inference_error_rate", "truncated_rate", "unparsable_rate")

    def fill(model: ModelInfo, mode: str) -> Iterable[Cell]:
        for task in context.tasks:
            for s in context.shots:
                row = lookup.get(model.key, mode, task, s, "all")
                cell = _percent_row(row, "parse_error_rate", why_missing(model, mode, row))
                if cell.missing or row is None:
                    yield cell
                    continue
                shown = [
                    percent(0.0 if is_missing(row[part]) else float(row[part]))
                    for part in parts[:2]
                ]
                yield replace(
                    cell,
                    detail="; ".join(shown),
                    extra=tuple((part, value_of(row, part)) for part in parts),
                )

    return Table(
        "parse_errors",
        caption(
            context,
            "Parse-error rate (%) by task and number of demonstrations, English and random "
            f"together; {item_words(frames, context)}.",
            "Below each rate: blank replies; inference errors.",
        ),
        ("Model",),
        columns,
        tuple(by_model(context, (THINKING, NON_THINKING), fill)),
        (
            "The rest of a rate are replies cut by the token limit or without a readable answer; "
            "the CSV file lists all four parts.",
        ),
        layout="landscape",
        short_caption="Parse-error rates",
        link=(*BENCHMARK, ("outcome", "invalid")),
    )


def _delta(name: str, task: str, frames: Frames, context: Context) -> Table:
    lookup = cells_of(frames)
    columns = (
        Column("mean", "Mean"),
        Column("sd", "SD"),
        Column("median", "Median"),
        Column("p5", "P5"),
        Column("p95", "P95"),
        Column("n", "n", align="r"),
    )
    rows = []
    for model, mode, block in blocks(context, (THINKING, NON_THINKING)):
        for condition in ALL_CONDITIONS:
            row = lookup.get(model.key, mode, task, context.headline_shots, condition)
            reason = why_missing(model, mode, row)
            cells = [
                number(value_of(row, f"delta_{c.key}"), lambda v: decimal(v, 2), reason=reason)
                for c in columns[:-1]
            ]
            total = whole(value_of(row, "delta_n"), reason=reason)
            first = condition == ALL_CONDITIONS[0]
            rows.append(
                Row(
                    (model.label, condition),
                    (*cells, total),
                    block,
                    model.baseline,
                    repeated=not first,
                    link=(*run_link(model, mode), *_of_task(task, condition)),
                )
            )
    return Table(
        name,
        caption(
            context,
            f"Signed error (answer − truth) of the valid replies to {task} at {headline(context)}.",
        ),
        ("Model", "Condition"),
        columns,
        tuple(rows),
        ("P5, P95: percentiles with linear interpolation; n: valid replies.",),
        layout="long" if len(rows) > 36 else "portrait",
        short_caption=f"Signed error, {task}",
        link=_at_headline(context),
    )


def delta_count_chars(frames: Frames, context: Context) -> Table:
    """Table 13: signed error of count_chars."""
    return _delta("delta_count_chars", "count_chars", frames, context)


def delta_edit_distance(frames: Frames, context: Context) -> Table:
    """Table 14: signed error of edit_distance."""
    return _delta("delta_edit_distance", "edit_distance", frames, context)


def thinking_cost(frames: Frames, context: Context) -> Table:
    """Table 15: accuracy per thinking token, the best models of every task."""
    shown = int(context.options.get("thinking_cost_shown", 3))
    lookup = cells_of(frames)
    models = [m for m in context.models if THINKING in m.modes]
    rows = []
    for task in context.tasks:
        found = []
        for model in models or context.models:
            row = lookup.get(model.key, THINKING, task, context.headline_shots, "all")
            found.append((model, row, why_missing(model, THINKING, row)))
        found.sort(key=lambda entry: _missing_last(value_of(entry[1], "ema_per_reasoning_token")))
        for model, row, reason in found[:shown]:
            rows.append(_cost_row(task, model, row, reason))
    return Table(
        "thinking_cost",
        caption(
            context,
            f"Accuracy per thinking token at {headline(context)} in thinking mode, English and "
            f"random together: the first {shown} models of every task."
            if models
            else f"Accuracy per thinking token at {headline(context)} in thinking mode.",
        ),
        ("Task", "Model"),
        (
            Column("ema", "EMA (%)", align="r"),
            Column("reasoning_tokens", "Mean tokens", align="r"),
            Column("ema_per_token", "EMA per token", align="r"),
        ),
        tuple(rows),
        ("Tokens of the reasoning trace as the backend reports them.",),
        short_caption="Accuracy per thinking token",
        link=_at_headline(context),
    )


def _missing_last(value: object) -> tuple[bool, float]:
    """Sort key: highest first, missing last."""
    missing = is_missing(value)
    return missing, 0.0 if missing else -float(value)  # type: ignore[arg-type]


def _cost_row(task: str, model: ModelInfo, row: Mapping[str, Any] | None, reason: str) -> Row:
    tokens = value_of(row, "reasoning_tokens_mean")
    ratio_reason = reason
    if row is not None and is_missing(tokens):
        reason = "not reported by the backend"
        ratio_reason = reason
    elif row is not None and is_missing(row.get("ema_per_reasoning_token")):
        ratio_reason = "not defined: no thinking token was reported"
    return Row(
        (task, model.label),
        (
            _percent_row(row, "ema", why_missing(model, THINKING, row)),
            number(tokens, lambda v: captions.count(round(v)), reason=reason),
            number(value_of(row, "ema_per_reasoning_token"), _ratio, reason=ratio_reason),
        ),
        link=(*run_link(model, THINKING), *_of_task(task)),
    )


def _ratio(value: float) -> str:
    return f"{value:.5f}" if value >= 0.0001 or value == 0 else f"{value:.1e}"


def effect_sizes(frames: Frames, context: Context) -> Table:
    """Table 16: the largest effect sizes between models."""
    shown = int(context.options.get("effect_sizes_shown", 12))
    mode = context.main_mode
    frame = frames["effect_sizes"]
    keys = context.model_keys()
    frame = frame[
        (frame["mode"] == mode)
        & (frame["shots"] == context.headline_shots)
        & frame["model_a"].isin(keys)
        & frame["model_b"].isin(keys)
    ].dropna(subset=["h"])
    order = frame.assign(size=frame["h"].abs().round(12)).sort_values(
        ["size", "task", "model_a", "model_b"], ascending=[False, True, True, True], kind="stable"
    )
    rows = [_effect_row(row, context) for row in order.head(shown).to_dict("records")]
    return Table(
        "effect_sizes",
        caption(
            context,
            f"The largest effect sizes between two models at {headline(context)} in "
            f"{captions.MODE_LABELS[mode]} mode, English and random together."
            if rows
            else f"Effect sizes between two models at {headline(context)}: "
            "this run has no pair of models.",
        ),
        ("Task", "Model A", "Model B"),
        (
            Column("h", "Cohen's h"),
            Column("risk_difference", "Risk difference", align="r"),
            Column("p", "p", align="r"),
            Column("q", "q", align="r"),
        ),
        tuple(rows),
        (
            f"Positive: A is better. {captions.bootstrap_sentence(context)}",
            "p: McNemar's test, uncorrected; q: Benjamini–Hochberg.",
        ),
        stacked=False,
        short_caption="Largest effect sizes",
        link=_at_headline(context),
    )


def _effect_row(row: Mapping[Any, Any], context: Context) -> Row:
    return Row(
        (str(row["task"]), context.label(str(row["model_a"])), context.label(str(row["model_b"]))),
        (
            number(row["h"], lambda v: signed(v, 2), low=row["h_low"], high=row["h_high"]),
            number(row["risk_difference"], signed),
            number(row["p"], p_value),
            number(row["q"], p_value),
        ),
        link=(
            *_of_task(str(row["task"])),
            *pair_link(
                (str(row["model_a"]), str(row["mode"])), (str(row["model_b"]), str(row["mode"]))
            ),
        ),
    )


def class_conditional(frames: Frames, context: Context) -> Table:
    """Class-conditional rates of the binary tasks (the paper releases them as CSV only)."""
    lookup = cells_of(frames)
    names = [t for t in context.tasks if TASKS[t].kind == "binary"]
    measures = (("tpr", "TPR"), ("tnr", "TNR"), ("mcc", "MCC"), ("kappa", "κ"))
    columns = tuple(
        Column(f"{task}.{key}", title, task, better="high", link=(("task", task),))
        for task in names
        for key, title in measures
    )
    rows = []
    for model, mode, block in blocks(context, (THINKING, NON_THINKING)):
        for condition in ALL_CONDITIONS:
            cells = []
            for task in names:
                row = lookup.get(model.key, mode, task, context.headline_shots, condition)
                reason = why_missing(model, mode, row)
                cells += [number(value_of(row, k), decimal, reason=reason) for k, _ in measures]
            rows.append(
                Row(
                    (model.label, condition),
                    tuple(cells),
                    block,
                    model.baseline,
                    peers=condition,
                    repeated=condition != ALL_CONDITIONS[0],
                    link=(*run_link(model, mode), _of_task("", condition)[1]),
                )
            )
    return Table(
        "class_conditional",
        caption(
            context,
            f"Class-conditional rates of the yes/no tasks at {headline(context)}.",
            "TPR and TNR: share of the yes and of the no items that are answered rightly.",
        ),
        ("Model", "Condition"),
        columns,
        rank_columns(columns, rows),
        ("MCC: Matthews correlation coefficient; a parse error counts as the wrong label.",),
        layout="long" if len(rows) > 36 else "portrait",
        short_caption="Class-conditional rates",
        link=_at_headline(context),
    )


def readings(frames: Frames, context: Context) -> Table:
    """What changes with the reading of the paper."""
    return readings_table(frames, context, QUESTIONS, "readings")


BUILDERS: dict[str, Callable[[Frames, Context], Table]] = {
    "tasks": tasks,
    "leaderboard_thinking": leaderboard_thinking,
    "reasoning_mode_case": reasoning_mode_case,
    "main_thinking": main_thinking,
    "main_nonthinking": main_nonthinking,
    "shots": shots,
    "kappa": kappa,
    "mcnemar_thinking": mcnemar_thinking,
    "mcnemar_nonthinking": mcnemar_nonthinking,
    "kendall": kendall,
    "english_random_gap": english_random_gap,
    "parse_errors": parse_errors,
    "delta_count_chars": delta_count_chars,
    "delta_edit_distance": delta_edit_distance,
    "thinking_cost": thinking_cost,
    "effect_sizes": effect_sizes,
    "leaderboard_nonthinking": leaderboard_nonthinking,
    "class_conditional": class_conditional,
    "readings": readings,
}


def build(name: str, frames: Frames, context: Context) -> Table:
    """Build one table by name. Raises DataError for an unknown name or a missing input file."""
    require("table", name, frames)
    return BUILDERS[name](frames, in_task_order(context, TASKS))
