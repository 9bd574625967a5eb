"""The layouts of TIDE's figures: statistics in, `Drawing` out.

`build(name, frames, context)` is the entry; call it inside `publishing.figures.style()`. Figure
numbers in the docstrings are those of the TIDE paper. A figure's own name, and so its label, begins
with `tide_`; its file has the short name.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import FancyBboxPatch, Patch
from numpy.typing import NDArray

from scripts.publishing import captions, figures
from scripts.publishing.captions import Context
from scripts.publishing.figures import (
    GREY,
    HATCHES,
    MARKERS,
    OKABE_ITO,
    TEXT_WIDTH,
    Drawing,
    heatmap,
    nothing,
    number_of,
)
from scripts.publishing.latex import EN_DASH
from scripts.publishing.layouts import Frames, Lookup, caption, check_columns, in_task_order
from scripts.publishing.text import visible
from scripts.tide import wording
from scripts.tide.artefacts import require
from scripts.tide.construction.generation import PER_TASK
from scripts.tide.tables.data import parsing_words
from scripts.tide.tables.results import accuracy_of
from scripts.tide.tasks import TASKS
from scripts.tide.wording import ALL, SETTING_LABELS, SETTINGS, SORTING, named

NO_SCORES = "No answer of this run is scored."
NO_DOCUMENTS = "No document of this run has words."
NO_STATEMENTS = "No statement of this run is scored in every setting."
#: Most documents that a figure shows by name.
MOST_DOCUMENTS = 30
#: Matrices side by side.
MATRICES = 4
#: Colour and hatch of each setting, the same in every figure.
LOOKS = {
    name: (OKABE_ITO[place], HATCHES[index], MARKERS[place])
    for index, (name, place) in enumerate(zip(SETTINGS, (0, 4, 2), strict=True))
}


# ---- construction ------------------------------------------------------------------------------

Box = tuple[str, str]


def _count(value: Any) -> str:
    return captions.count(int(value))


def _listed(*parts: tuple[int, str]) -> str:
    """Counts with their words, those of nothing left out but for the first."""
    return ", ".join(f"{_count(n)} {words}" for i, (n, words) in enumerate(parts) if n or not i)


def _writers(context: Context) -> str:
    shipped = context.options.get("method") == "shipped"
    return "from a file of checked pairs" if shipped else "proposed by eight generators"


def construction_boxes(frames: Frames, context: Context) -> list[Box]:
    """Title and text of every step with this run's counts."""
    parsing, generation, dataset = frames["parsing"], frames["generation"], frames["dataset"]
    check_columns("parsing", parsing, ("document", "page", "status"))
    check_columns("generation", generation, ("thread_id", "task", "index", "kept", "check"))
    total = Lookup("dataset", dataset, ("task",)).get(ALL) or {}
    pages = int(parsing["page"].notna().sum())
    status = parsing["status"].value_counts()
    listed = int(status.get("needs_ocr", 0)) + int(status.get("failed", 0))
    kept = generation["kept"].astype(str).str.lower() == "true"
    beyond = int((generation["check"] == PER_TASK).sum())
    proposed = int((generation["index"] > 0).sum())
    dropped = proposed - int(kept.sum()) - beyond
    threads = generation["thread_id"].dropna()
    return [
        (
            "1 Documents",
            f"{captions.counted(parsing['document'].nunique(), 'document')}, "
            f"{captions.counted(pages, 'page')}; several engines read each page",
        ),
        (
            "2 Records",
            _listed(
                (int(status.get("text", 0)), "pages good as read"),
                (int(status.get("repaired", 0)), "repaired"),
                (int(status.get("vision", 0)), "by a vision model"),
                (listed, "listed as unread"),
            ),
        ),
        ("3 Entities", "names and concepts of every clause; sub-entities"),
        (
            "4 Clusters",
            f"names with a cosine of {context.options['facts']['alias_threshold']:.2f} or more, "
            f"judged; {_count(total.get('clusters', 0))} in use",
        ),
        (
            "5 Threads",
            f"a rule and its dated changes; {_count(threads[threads != ''].nunique())} threads, "
            f"{_count(total.get('threads', 0))} in use",
        ),
        (
            "6 Question pairs",
            f"{_count(proposed)} {_writers(context)}, {_count(max(dropped, 0))} dropped by checks"
            + (f", {_count(beyond)} beyond the limit" if beyond else ""),
        ),
        (
            "7 Items",
            f"{_count(total.get('pairs', 0))} pairs in {len(TASKS)} tasks, "
            f"{_count(total.get('clauses', 0))} clauses cited",
        ),
        ("8 Answers", "without documents, with retrieved clauses, with full documents"),
    ]


def construction(frames: Frames, context: Context) -> Drawing:
    """Figure 2: from documents to items, with this run's counts."""
    boxes = construction_boxes(frames, context)
    columns = 4
    rows = -(-len(boxes) // columns)
    figure = figures.new(TEXT_WIDTH, 0.15 + 1.32 * rows)
    axes = figure.add_subplot()
    axes.set_axis_off()
    axes.set_xlim(0, columns)
    axes.set_ylim(-rows, 0)
    for place, (title, text) in enumerate(boxes):
        row, step = divmod(place, columns)
        # The second row runs from right to left, so that every arrow is short.
        column = step if row % 2 == 0 else columns - 1 - step
        _box(axes, column, -row, title, text)
        if place + 1 < len(boxes):
            _arrow(axes, column, -row, row % 2 == 0, step == columns - 1)
    return Drawing(
        named("construction"),
        figure,
        caption(
            context,
            f"How the items are built, with the counts of this run ({context.options['corpus']}).",
            parsing_words(frames["parsing"]),
        ),
    )


def _box(axes: Axes, column: int, top: int, title: str, text: str) -> None:
    left, bottom, width, height = column + 0.07, top - 0.9, 0.86, 0.8
    axes.add_patch(
        FancyBboxPatch(
            (left, bottom),
            width,
            height,
            boxstyle="round,pad=0,rounding_size=0.04",
            facecolor="#F2F5F8",
            edgecolor=OKABE_ITO[0],
            linewidth=0.9,
        )
    )
    axes.text(
        column + 0.5, top - 0.2, title, ha="center", va="center", fontsize=7.5, fontweight="bold"
    )
    lines = "\n".join(textwrap.wrap(text, 24))
    axes.text(
        column + 0.5, top - 0.58, lines, ha="center", va="center", fontsize=6.5, linespacing=1.2
    )


def _arrow(axes: Axes, column: int, top: int, forward: bool, turns: bool) -> None:
    middle = top - 0.5
    if turns:
        start, end = (column + 0.5, top - 0.91), (column + 0.5, top - 1.09)
    elif forward:
        start, end = (column + 0.93, middle), (column + 1.07, middle)
    else:
        start, end = (column + 0.07, middle), (column - 0.07, middle)
    style = {"arrowstyle": "-|>", "linewidth": 0.9, "color": "black", "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", xy=end, xytext=start, arrowprops=style)


# ---- code-mixing -------------------------------------------------------------------------------

_WORDS = ("bengali_words", "english_words", "other")
_DIGITS = ("bengali_digits", "ascii_digits")


def shown_documents(frame: pd.DataFrame) -> pd.DataFrame:
    """At most MOST_DOCUMENTS documents with words, evenly spaced by share of English words."""
    read = frame[frame["words"] > 0]
    share = read["english_words"] / read["words"]
    ordered = read.assign(share=share).sort_values(["share", "document"], kind="stable")
    if len(ordered) > MOST_DOCUMENTS:
        places = np.unique(np.linspace(0, len(ordered) - 1, MOST_DOCUMENTS).round().astype(int))
        ordered = ordered.iloc[places]
    return ordered


def code_mixing(frames: Frames, context: Context) -> Drawing:
    """Figure 3: the shares of two scripts and two digit sets, document by document."""
    frame = frames["complexity"]
    check_columns("complexity", frame, ("document", "words", "english_words", "bengali_words"))
    shown = shown_documents(frame)
    words = ("Code-mixing: shares of words by script, and of digits by kind, in each document.",)
    if shown.empty:
        return nothing(named("code_mixing"), NO_DOCUMENTS, *words)
    names = [visible(str(name)) for name in shown["document"]]
    other = (shown["words"] - shown["english_words"] - shown["bengali_words"]).clip(lower=0)
    figure = figures.new(TEXT_WIDTH, 0.85 + 0.17 * len(names))
    left, right = figure.subplots(1, 2, sharey=True, width_ratios=(3, 2))
    _shares(left, shown.assign(other=other), _WORDS)
    _shares(right, shown, _DIGITS)
    left.set_yticks(range(len(names)), [_short_name(name) for name in names], fontsize=6.5)
    left.set_ylim(len(names) - 0.4, -0.6)
    left.set_title("(a) words")
    right.set_title("(b) digits")
    for axes in (left, right):
        axes.set_xlim(0, 1)
        axes.set_xlabel("share")
    figure.legend(handles=_patches(), loc="outside lower center", ncols=3, handlelength=1.6)
    return Drawing(
        named("code_mixing"),
        figure,
        caption(
            context,
            *words,
            "A word has the script of most of its letters; other: numbers and other scripts.",
            _documents_words(frame, shown),
        ),
    )


def _documents_words(frame: pd.DataFrame, shown: pd.DataFrame) -> str:
    """How many documents are drawn, and what became of the others."""
    read = int((frame["words"] > 0).sum())
    words = f"n = {_count(len(shown))} of {captions.counted(len(frame), 'document')}"
    if len(shown) < read:
        words += ", evenly spaced by their share of English words"
    if read < len(frame):
        words += f"; {_count(len(frame) - read)} without readable words"
    return words + "."


def _short_name(name: str) -> str:
    return name if len(name) <= 24 else f"{name[:23]}…"


_PATCHES = ((OKABE_ITO[0], ""), (OKABE_ITO[4], "////"), ("#DDDDDD", "...."))


def _patches() -> list[Patch]:
    names = ("Bengali words, digits", "English words, ASCII digits", "other words")
    return [
        Patch(facecolor=colour, hatch=hatch, edgecolor="black", linewidth=0.3, label=name)
        for name, (colour, hatch) in zip(names, _PATCHES, strict=True)
    ]


def _shares(axes: Axes, frame: pd.DataFrame, keys: Sequence[str]) -> None:
    """Stacked bars, one a document; one without anything to share says so."""
    values = frame[list(keys)].to_numpy(dtype=float)
    totals = values.sum(axis=1)
    place = np.arange(len(frame))
    base = np.zeros(len(frame))
    for column, (colour, hatch) in zip(range(len(keys)), _PATCHES, strict=False):
        share = np.divide(values[:, column], totals, out=np.zeros(len(frame)), where=totals > 0)
        axes.barh(
            place, share, 0.72, left=base, color=colour, hatch=hatch, edgecolor="black",
            linewidth=0.3,
        )  # fmt: skip
        base = base + share
    for y in place[totals == 0]:
        axes.text(0.02, y, EN_DASH, ha="left", va="center", fontsize=6.5, color=GREY)


# ---- accuracy ----------------------------------------------------------------------------------


def _task_values(
    lookup: Lookup, context: Context, knowledge: str, name: str
) -> NDArray[np.float64]:
    """Values of every run, shape (tasks and the macro average, runs); NaN where there is none."""
    return np.array(
        [
            [
                number_of(lookup.get(model.key, mode, knowledge, task), name)
                for model, mode, _ in wording.runs(context, baselines=False)
            ]
            for task in (*TASKS, ALL)
        ],
        dtype=float,
    )


def _means(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean over runs, NaN where a run has no value."""
    return np.where(np.isnan(values).any(axis=1), np.nan, np.nan_to_num(values).mean(axis=1))


def tasks_by_setting(frames: Frames, context: Context) -> Drawing:
    """Figure 4: accuracy by task and setting, mean over models."""
    lookup = accuracy_of(frames)
    words = ("Accuracy by task and setting, mean over models.",)
    strict = {k: _task_values(lookup, context, k, "strict") for k in SETTINGS}
    if all(np.isnan(values).all() for values in strict.values()):
        return nothing(named("tasks_by_setting"), NO_SCORES, *words)
    figure = figures.new(TEXT_WIDTH, 2.75)
    axes = figure.add_subplot()
    names = [*TASKS, ALL]
    for index, knowledge in enumerate(SETTINGS):
        _setting_bars(axes, lookup, context, knowledge, index)
    labels = [wording.SHORT_TASKS[name] for name in names]
    axes.set_xticks(range(len(names)), labels)
    axes.axvline(len(TASKS) - 0.5, color=GREY, linewidth=0.6)
    axes.set_xlim(-0.55, len(names) - 0.45)
    axes.set_ylim(0, 1.03)
    axes.set_ylabel("accuracy")
    figure.legend(handles=_setting_handles(), loc="outside lower center", ncols=6, handlelength=1.6)
    several = len(wording.runs(context, baselines=False)) > 1
    return Drawing(
        named("tasks_by_setting"),
        figure,
        caption(
            context,
            *words,
            "Bars: strict; thin outline above: what partial credit adds; diamonds: share of pairs "
            "in order (event sorting), which is another measure."
            + (" Dots: strict accuracy of each model." if several else ""),
            wording.SETTING_WORDS,
            wording.matched_words(frames["accuracy"], context),
        ),
    )


def _setting_bars(axes: Axes, lookup: Lookup, context: Context, knowledge: str, index: int) -> None:
    """The bars of one setting: strict, the increment, the models, the graded measure."""
    strict = _task_values(lookup, context, knowledge, "strict")
    colour, hatch, _ = LOOKS[knowledge]
    place = np.arange(strict.shape[0]) + (index - 1) * 0.27
    means = _means(strict)
    partial = _means(_task_values(lookup, context, knowledge, "partial"))
    axes.bar(
        place, np.nan_to_num(means), 0.25, color=colour, hatch=hatch, edgecolor="black",
        linewidth=0.3, zorder=2,
    )  # fmt: skip
    gain = np.clip(np.nan_to_num(partial - means), 0, None)
    axes.bar(
        place, gain, 0.25, bottom=np.nan_to_num(means), color="none", edgecolor="black",
        linewidth=0.5, zorder=2,
    )  # fmt: skip
    if strict.shape[1] > 1:
        for column in range(strict.shape[1]):
            axes.plot(
                place, strict[:, column], "o", markersize=1.6, color="black",
                markerfacecolor="white", markeredgewidth=0.4, zorder=4,
            )  # fmt: skip
    graded = _means(_task_values(lookup, context, knowledge, "graded"))
    row = list(TASKS).index(SORTING)
    if not np.isnan(graded[row]):
        axes.plot(
            place[row], graded[row], "D", markersize=3.6, color=colour, markeredgecolor="black",
            markeredgewidth=0.5, zorder=5,
        )  # fmt: skip
    for x in place[np.isnan(means)]:
        axes.text(x, 0.015, EN_DASH, ha="center", va="bottom", fontsize=7)


def _setting_handles() -> list[Any]:
    handles: list[Any] = [
        Patch(
            facecolor=LOOKS[k][0], hatch=LOOKS[k][1], edgecolor="black", linewidth=0.3,
            label=SETTING_LABELS[k],
        )
        for k in SETTINGS
    ]  # fmt: skip
    handles.append(
        Patch(facecolor="white", edgecolor="black", linewidth=0.5, label="partial credit")
    )
    handles.append(
        Line2D([], [], marker="D", color="none", markeredgecolor="black", markerfacecolor="white",
               markersize=3.6, label="pairs in order")
    )  # fmt: skip
    return handles


def macro_by_model(frames: Frames, context: Context) -> Drawing:
    """Figure 5: macro accuracy of every model by setting, with intervals."""
    lookup = accuracy_of(frames)
    words = ("Macro accuracy of every model by setting.",)
    found = wording.runs(context)
    rows = [[lookup.get(m.key, mode, k, ALL) for k in SETTINGS] for m, mode, _ in found]
    if all(np.isnan(number_of(row, "strict")) for each in rows for row in each):
        return nothing(named("macro_by_model"), NO_SCORES, *words)
    figure = figures.new(TEXT_WIDTH, 0.75 + 0.33 * len(found))
    axes = figure.add_subplot()
    for place, each in enumerate(rows):
        if place % 2 == 1:
            axes.axhspan(place - 0.5, place + 0.5, color="#F3F3F3", zorder=0)
        for index, (knowledge, row) in enumerate(zip(SETTINGS, each, strict=True)):
            _macro_point(axes, row, place + (index - 1) * 0.26, knowledge)
    first_baseline = sum(not model.baseline for model, _, _ in found)
    if first_baseline < len(found):
        axes.axhline(first_baseline - 0.5, color="black", linewidth=0.6)
    axes.set_yticks(range(len(found)), [label for _, _, label in found])
    axes.set_ylim(len(found) - 0.5, -0.5)
    axes.set_xlim(-0.02, 1.02)
    axes.set_xlabel("macro accuracy")
    handles = [
        Line2D([], [], color=LOOKS[k][0], marker=LOOKS[k][2], label=SETTING_LABELS[k])
        for k in SETTINGS
    ]
    handles.append(
        Line2D([], [], color=GREY, marker="o", markerfacecolor="white", linestyle="none",
               label="partial")
    )  # fmt: skip
    figure.legend(handles=handles, loc="outside lower center", ncols=4)
    return Drawing(
        named("macro_by_model"),
        figure,
        caption(
            context,
            *words,
            "Filled: strict, with its interval; open: partial. Below the line: baselines.",
            wording.SETTING_WORDS,
            wording.matched_words(frames["accuracy"], context),
            wording.interval_words(context),
            wording.modes_words(context),
        ),
    )


def _macro_point(axes: Axes, row: Mapping[str, Any] | None, y: float, knowledge: str) -> None:
    colour, _, marker = LOOKS[knowledge]
    strict, partial = number_of(row, "strict"), number_of(row, "partial")
    if np.isnan(strict):
        axes.text(0.0, y, EN_DASH, ha="center", va="center", fontsize=6.5, color=colour)
        return
    low, high = number_of(row, "strict_low"), number_of(row, "strict_high")
    if not (np.isnan(low) or np.isnan(high)):
        axes.plot([low, high], [y, y], color=colour, linewidth=1.3, solid_capstyle="butt")
    if not np.isnan(partial):
        axes.plot(
            partial, y, marker=marker, color=colour, markerfacecolor="white", markersize=3.8,
            zorder=3,
        )  # fmt: skip
    axes.plot(strict, y, marker=marker, color=colour, markersize=3.8, zorder=4)


# ---- perturbation ------------------------------------------------------------------------------


def _confusion(name: str, knowledge: str, frames: Frames, context: Context) -> Drawing:
    """Shares of altered and unaltered statements that each model calls incorrect."""
    frame = frames["perturbation"]
    counts = ("true_positive", "false_negative", "false_positive", "true_negative")
    check_columns("perturbation", frame, ("n", "n_perturbed", *counts))
    lookup = Lookup("perturbation", frame, ("model", "mode", "knowledge"))
    found = wording.runs(context, baselines=False)
    rows = [lookup.get(model.key, mode, knowledge) for model, mode, _ in found]
    setting = (
        SETTING_LABELS[knowledge].lower()
        if knowledge == "parametric"
        else SETTING_LABELS[knowledge]
    )
    words = (
        "Perturbation detection: what every model calls altered and unaltered statements, "
        f"{setting} setting.",
    )
    sizes = [int(row["n"]) for row in rows if row is not None and row["n"]]
    if not sizes:
        return nothing(named(name), NO_STATEMENTS, *words)
    columns = min(MATRICES, len(found))
    lines = -(-len(found) // columns)
    # Fewer models make a narrower figure, so that the matrices keep their size.
    width = TEXT_WIDTH * (columns / MATRICES * 0.85 + 0.15)
    figure = figures.new(width, 0.35 + 1.28 * lines)
    grid = figure.subplots(lines, columns, squeeze=False)
    flat = list(grid.flat)
    for spare in flat[len(found) :]:
        spare.set_visible(False)
    for place, (axes, (_, _, label), row) in enumerate(zip(flat, found, rows, strict=False)):
        _matrix(axes, row, place % columns == 0)
        axes.set_title("\n".join(textwrap.wrap(label, 22)), fontsize=7)
    figure.supxlabel("verdict", fontsize=7.5)
    figure.supylabel("statement", fontsize=7.5)
    perturbed = [int(row["n_perturbed"]) for row in rows if row is not None and row["n"]]
    return Drawing(
        named(name),
        figure,
        caption(
            context,
            *words,
            "Rows: the statement's label; columns: the verdict. Share of the row, with counts "
            "below; a verdict that could not be read counts against its row. "
            f"Matched set: n = {captions.between(sizes)} statements, "
            f"{captions.between(perturbed)} of them altered.",
            wording.modes_words(context),
        ),
        width=f"{width:.2f}in",
    )


def _matrix(axes: Axes, row: Mapping[str, Any] | None, named_rows: bool) -> None:
    keys = (("true_positive", "false_negative"), ("false_positive", "true_negative"))
    counts = np.array([[number_of(row, key) for key in line] for line in keys])
    if row is None or not row["n"]:
        counts[:] = np.nan
    totals = counts.sum(axis=1, keepdims=True)
    shares = np.divide(
        counts, totals, out=np.full(counts.shape, np.nan), where=np.nan_to_num(totals) > 0
    )
    texts = [
        [
            EN_DASH if np.isnan(share) else f"{100 * share:.1f}%\n({count:,.0f})"
            for share, count in zip(*pair, strict=True)
        ]
        for pair in zip(shares, counts, strict=True)
    ]
    sides = ("altered", "unaltered") if named_rows else ("", "")
    heatmap(axes, shares, texts, sides, ("incorrect", "correct"))


def perturbation_confusion_parametric(frames: Frames, context: Context) -> Drawing:
    """Figure 6: verdicts without documents."""
    return _confusion("perturbation_confusion_parametric", "parametric", frames, context)


def perturbation_confusion_rag(frames: Frames, context: Context) -> Drawing:
    """Figure 7: verdicts with retrieved clauses."""
    return _confusion("perturbation_confusion_rag", "rag", frames, context)


def perturbation_confusion_icl(frames: Frames, context: Context) -> Drawing:
    """Figure 8: verdicts with the gold documents."""
    return _confusion("perturbation_confusion_icl", "icl", frames, context)


BUILDERS: dict[str, Callable[[Frames, Context], Drawing]] = {
    "construction": construction,
    "code_mixing": code_mixing,
    "tasks_by_setting": tasks_by_setting,
    "macro_by_model": macro_by_model,
    "perturbation_confusion_parametric": perturbation_confusion_parametric,
    "perturbation_confusion_rag": perturbation_confusion_rag,
    "perturbation_confusion_icl": perturbation_confusion_icl,
}


def build(name: str, frames: Frames, context: Context) -> Drawing:
    """Build one figure by name. Raises DataError for an unknown name or a missing input file."""
    require("figure", name, frames)
    return BUILDERS[name](frames, in_task_order(context, TASKS))
