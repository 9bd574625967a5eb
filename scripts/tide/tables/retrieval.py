"""Tables of retrieval: gold clauses found, and what models make of other retrievers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from scripts.publishing import captions
from scripts.publishing.captions import Context
from scripts.publishing.layouts import Frames, Lookup, caption, check_columns, rows_of, value_of
from scripts.publishing.tables import (
    Cell,
    Column,
    Row,
    Table,
    decimal,
    number,
    percent,
    rank_cells,
    whole,
)
from scripts.tide import wording
from scripts.tide.tasks import TASKS
from scripts.tide.wording import ALL, WITHOUT_SORTING, named

RANKINGS = {"none": "similarity", "dated": "similarity and date"}
MEASURES = (
    ("recall", "Recall"),
    ("any_hit", "Any found"),
    ("full_recall", "All found"),
)
#: An embedder, a depth and a re-ranking: one column of the ablation.
Variant = tuple[str, int, str]


def _ranking(name: object) -> str:
    return RANKINGS.get(str(name), str(name))


def retrieval(frames: Frames, context: Context) -> Table:
    """How many of the gold clauses each retriever finds, by depth; the main one by task too."""
    frame = frames["retrieval"]
    check_columns("retrieval", frame, ("embedder", "rerank", "task", "depth", "n", "recall"))
    rows = []
    for row in rows_of(frame[frame["task"] == ALL].sort_values("depth", kind="stable")):
        label = f"top {int(row['depth'])}, {_ranking(row['rerank'])}"
        block = f"{wording.embedder_label(context, row['embedder'])}, mean of the tasks"
        rows.append(Row((label,), _found(row), block))
    order = {name: place for place, name in enumerate(context.options["embedders"])}
    rows.sort(key=lambda row: _block_place(row.block, context, order))
    main, depth = context.options["embedder"], context.options["depth"]
    mine = frame[
        (frame["embedder"] == main) & (frame["depth"] == depth) & (frame["rerank"] == "none")
    ]
    lookup = Lookup("retrieval", mine, ("task",))
    block = f"{wording.embedder_label(context, main)}, top {depth}, {_ranking('none')}, by task"
    for task in TASKS:
        found = lookup.get(task)
        if found is not None:
            rows.append(Row((wording.task_label(task),), _found(found), block))
    totals = frame[frame["task"] == ALL]["n"]
    return Table(
        named("retrieval"),
        caption(
            context,
            "How many of the clauses that a question is grounded in each retriever finds (%), by "
            "the number of clauses kept; "
            f"{wording.n_words(totals, 'questions with gold clauses')}.",
        ),
        ("Clauses kept",),
        (
            Column("n", "n", align="r"),
            *(Column(name, title, align="r") for name, title in MEASURES),
            Column("mean_reciprocal_rank", "MRR", align="r"),
            Column("clauses", "Clauses", align="r"),
            Column("none_resolved", "Nothing found", align="r"),
        ),
        tuple(rows),
        (
            "Recall: mean share of a question's gold clauses; MRR: mean reciprocal rank of the "
            "first one. Clauses: mean number kept, chunks of one clause counted once; nothing "
            "found: questions that are asked without a context block.",
            "Re-ranking by date adds to the similarity how near a clause's date is to the "
            "question's; it is no part of the published method.",
        ),
        layout="long" if len(rows) > 36 else "portrait",
        size="scriptsize",
        short_caption="Gold clauses found",
    )


def _block_place(block: str, context: Context, order: Mapping[str, int]) -> int:
    names = {
        f"{wording.embedder_label(context, n)}, mean of the tasks": p for n, p in order.items()
    }
    return names.get(block, len(names))


def _found(row: Mapping[str, Any]) -> tuple[Cell, ...]:
    nothing = "no question of this task has a gold clause"
    return (
        whole(row["n"]),
        *(number(row[name], percent, reason=nothing) for name, _ in MEASURES),
        number(row["mean_reciprocal_rank"], lambda v: decimal(v, 2), reason=nothing),
        number(row["clauses"], lambda v: decimal(v, 1), reason=nothing),
        whole(row["none_resolved"], reason=nothing),
    )


# ---- the ablation by what models make of it ----------------------------------------------------


def variants(frame: pd.DataFrame, context: Context) -> list[Variant]:
    """Embedder, depth and re-ranking of every column: embedders in their order, re-ranking last."""
    order = {name: place for place, name in enumerate(_embedders(context))}
    found = {
        (str(row["embedder"]), int(row["depth"]), str(row["rerank"])) for row in rows_of(frame)
    }
    return sorted(found, key=lambda v: (v[2] != "none", order.get(v[0], len(order)), v))


def _embedders(context: Context) -> list[str]:
    """Embedders of the ablation in the configuration's order, then any other."""
    listed = [str(name) for name in context.options["ablation"]["embedders"]]
    return [*listed, *(n for n in context.options["embedders"] if n not in listed)]


def _columns(found: Sequence[Variant], context: Context) -> tuple[Column, ...]:
    columns = []
    for embedder, depth, rerank in found:
        group = wording.embedder_label(context, embedder)
        if rerank != "none":
            group = "By date too"
        columns.append(Column(f"{embedder}.{depth}.{rerank}", f"top {depth}", group, "r"))
    return tuple(columns)


def _cells(
    found: Sequence[Variant], rows: Sequence[Mapping[str, Any] | None], context: Context
) -> tuple[Cell, ...]:
    """The cells of a row; the best depth of an embedder is bold, the main results are tinted."""
    main = (context.options["embedder"], int(context.options["depth"]), "none")
    cells = [
        number(
            value_of(row, "strict"),
            percent,
            reason=wording.why(row),
            extra=tuple((name, value_of(row, name)) for name in ("n", "strict_low", "strict_high")),
        )
        for row in rows
    ]
    for embedder in {variant[0] for variant in found}:
        places = [i for i, v in enumerate(found) if v[0] == embedder and v[2] == "none"]
        for place, ranked in zip(places, rank_cells([cells[i] for i in places]), strict=True):
            best = ranked.rank == "best"
            cells[place] = replace(ranked, rank="best" if best else "")
    return tuple(
        replace(cell, tint="column") if variant == main and not cell.missing else cell
        for variant, cell in zip(found, cells, strict=True)
    )


def _notes(frame: pd.DataFrame) -> tuple[str, ...]:
    dated = (frame["rerank"].astype(str) != "none").any()
    notes = [
        "Bold: the best depth of an embedder, where the values differ. Shaded: the retriever of "
        "the main results.",
    ]
    if dated:
        notes.append("By date too: re-ranked by the dates of clauses, beyond the published method.")
    return tuple(notes)


def _ablation_caption(frame: pd.DataFrame, context: Context, what: str, models: int) -> str:
    whole_set = frame[frame["task"] == ALL]["n"]
    return caption(
        context,
        f"Strict accuracy (%) with retrieved clauses, by embedder and depth, {what}.",
        f"Answered by {captions.counted(models, 'model')}. Matched set: the items with a score "
        f"from each under every retriever, {wording.n_words(whole_set, 'in all')}.",
    )


def retrieval_by_task(frames: Frames, context: Context) -> Table:
    """Table 18: strict accuracy of retrieval by embedder and depth, mean over models."""
    frame = frames["ablation_by_task"]
    check_columns("ablation_by_task", frame, ("embedder", "depth", "rerank", "task", "n", "strict"))
    lookup = Lookup("ablation_by_task", frame, ("embedder", "depth", "rerank", "task"))
    found = variants(frame, context)
    rows = []
    for task in (*TASKS, ALL, WITHOUT_SORTING):
        mine = [lookup.get(*variant, task) for variant in found]
        sizes = [value_of(row, "n") for row in mine if row is not None]
        cells = (whole(sizes[0] if sizes else None), *_cells(found, mine, context))
        block = "" if task in TASKS else "Macro averages"
        rows.append(Row((wording.task_label(task),), cells, block))
    answered = _ablated(context)
    return Table(
        named("retrieval_by_task"),
        _ablation_caption(frame, context, "by task, mean over models", answered),
        ("Task",),
        (Column("n", "n", align="r"), *_columns(found, context)),
        tuple(rows),
        (
            *_notes(frame),
            "The published macro average leaves event sorting out; both are printed.",
        ),
        size="scriptsize",
        short_caption="Retrievers by task",
    )


def _ablated(context: Context) -> int:
    """How many models answer the ablation: all, or those that the configuration names."""
    listed = context.options["ablation"].get("models")
    return len(listed) if listed else len(wording.runs(context, baselines=False))


def retrieval_by_model(frames: Frames, context: Context) -> Table:
    """Table 19: macro strict accuracy of retrieval by embedder and depth for every model."""
    frame = frames["ablation_by_model"]
    check_columns("ablation_by_model", frame, ("embedder", "depth", "rerank", "model", "task"))
    lookup = Lookup(
        "ablation_by_model", frame, ("embedder", "depth", "rerank", "model", "mode", "task")
    )
    found = variants(frame, context)
    rows = []
    for task in (WITHOUT_SORTING, ALL):
        for model, mode, label in wording.runs(context, baselines=False):
            mine = [lookup.get(*variant, model.key, mode, task) for variant in found]
            if any(row is not None for row in mine):
                rows.append(Row((label,), _cells(found, mine, context), wording.task_label(task)))
    answered = len(rows) // 2
    return Table(
        named("retrieval_by_model"),
        _ablation_caption(frame, context, "macro average by model", answered),
        ("Model",),
        _columns(found, context),
        tuple(rows),
        _notes(frame),
        size="scriptsize",
        short_caption="Retrievers by model",
    )
