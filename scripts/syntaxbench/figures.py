"""The layouts of SyntaxBench's figures: statistics in, `Drawing` out.

`build(name, frames, context)` is the entry; call it inside `publishing.figures.style()`. Figure
numbers in the docstrings are those of the SyntaxBench paper (arXiv:2610.03329).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from numpy.typing import NDArray

from scripts.publishing import captions, figures
from scripts.publishing.captions import NON_THINKING, THINKING, Context
from scripts.publishing.figures import (
    DASHES,
    GREY,
    HATCHES,
    MARKERS,
    OKABE_ITO,
    TEXT_WIDTH,
    Drawing,
    Line,
    array,
    grid,
    legend,
    lines,
    minus,
    modes_words,
    nothing,
    number_of,
    separators,
)
from scripts.publishing.layouts import Frames, Lookup, caption, in_task_order
from scripts.syntaxbench.artefacts import require
from scripts.syntaxbench.tables import cells_of, headline, item_words, mcnemar_pairs
from scripts.syntaxbench.tasks import CONDITIONS, TASKS

SHORT = {name: task.short for name, task in TASKS.items()}
BANDS = {
    "poor": "po",
    "slight": "sl",
    "fair": "fa",
    "moderate": "mo",
    "substantial": "su",
    "almost_perfect": "al",
}
NO_THINKING = "No model of this run has a thinking mode: not available."
NOTHING = "No data for this figure in this run."


def _tasks(context: Context) -> list[str]:
    return list(context.tasks)


def _short(names: Iterable[str]) -> list[str]:
    return [SHORT[name] for name in names]


def _shot_heatmaps(
    name: str,
    context: Context,
    value: Callable[[Line, str, int], float],
    text: Callable[[float], str],
    *,
    bar: str,
    words: Sequence[str],
    extra: Callable[[Line, str, int], str] | None = None,
    colours: str = "cividis",
    low: float = 0.0,
    high: float = 1.0,
    baselines: bool = True,
) -> Drawing:
    """One heat map per number of shots: configurations by tasks."""
    found = lines(context, baselines=baselines)
    names = _tasks(context)
    figure = figures.new(TEXT_WIDTH, 1.1 + 0.195 * len(found))
    panels = figure.subplots(1, len(context.shots), sharey=True, squeeze=False)[0]
    image = None
    for axes, shots in zip(panels, context.shots, strict=True):
        grid = array([[value(line, task, shots) for task in names] for line in found])
        texts = [
            [
                text(grid[i, j]) + (extra(line, task, shots) if extra else "")
                if not np.isnan(grid[i, j])
                else ""
                for j, task in enumerate(names)
            ]
            for i, line in enumerate(found)
        ]
        image = figures.heatmap(
            axes,
            grid,
            texts,
            [line.label for line in found],
            _short(names),
            colours=colours,
            low=low,
            high=high,
            separators=separators(found),
        )
        axes.set_title(captions.shots_words(shots))
        axes.tick_params(axis="x", labelrotation=90)
    if image is not None:
        figure.colorbar(image, ax=list(panels), label=bar, fraction=0.025, pad=0.01)
    return Drawing(name, figure, caption(context, *words, modes_words(context)))


# ---- the figures -------------------------------------------------------------------------------


def ema_heatmap(frames: Frames, context: Context) -> Drawing:
    """Figure 1: accuracy by configuration, task and shots."""
    lookup = cells_of(frames)
    return _shot_heatmaps(
        "ema_heatmap",
        context,
        lambda line, task, shots: number_of(
            lookup.get(line.model, line.mode, task, shots, "all"), "ema"
        ),
        lambda v: f"{v:.2f}",
        bar="exact-match accuracy",
        words=(
            "Exact-match accuracy by configuration, task and number of demonstrations, English and "
            f"random together; {item_words(frames, context)}.",
            "Hatched: not evaluated or not estimable.",
        ),
    )


def tokens_accuracy(frames: Frames, context: Context) -> Drawing:
    """Figure 2: accuracy of count_chars by the number of tokens that the string takes."""
    frame = frames["tokens_bins"]
    frame = frame[frame["task"] == "count_chars"]
    frame = frame[frame["model"].isin(context.model_keys())]
    modes = [m for m in (NON_THINKING, THINKING) if (frame["mode"] == m).any()]
    words = (
        "Accuracy of count_chars without demonstrations by the number of tokens that the string "
        "takes in each model's own tokeniser.",
    )
    if not modes:
        return nothing("tokens_accuracy", NOTHING, *words)
    figure = figures.new(TEXT_WIDTH if len(modes) > 1 else 4.2, 2.5)
    panels = figure.subplots(1, len(modes), sharey=True, squeeze=False)[0]
    bins = sorted({str(b) for b in frame["token_bin"]}, key=lambda b: (len(b), b))
    for axes, mode in zip(panels, modes, strict=True):
        part = frame[frame["mode"] == mode].assign(token_bin=lambda f: f["token_bin"].astype(str))
        counts = [
            _bin_lines(axes, part[part["condition"] == condition], bins, index, condition)
            for index, condition in enumerate(CONDITIONS)
        ]
        ticks = ["\n".join(map(str, entry)) for entry in zip(bins, *counts, strict=True)]
        axes.set_xticks(range(len(bins)), ticks)
        axes.set_title(captions.MODE_LABELS[mode])
        axes.set_xlabel("tokens of the string")
        axes.set_ylim(-0.03, 1.03)
    panels[0].set_ylabel("exact-match accuracy")
    panels[0].legend(loc="best")
    join = " and ".join(CONDITIONS)
    return Drawing(
        "tokens_accuracy",
        figure,
        caption(
            context,
            *words,
            f"Thick: all models together; thin: single models. Below each bin: its {join} items.",
        ),
        width="\\linewidth" if len(modes) > 1 else "0.66\\linewidth",
    )


def _bin_lines(
    axes: Axes, part: pd.DataFrame, bins: Sequence[str], index: int, condition: str
) -> list[int]:
    """One thick line over all models and a thin one for each; returns the items of every bin."""
    colour, marker = OKABE_ITO[index], MARKERS[index]
    for _, mine in part.groupby("model", sort=True):
        at = mine.set_index("token_bin")["ema"].reindex(list(bins))
        axes.plot(range(len(bins)), at, color=colour, linewidth=0.5, alpha=0.45, zorder=1)
    total = part.groupby("token_bin")[["correct", "n"]].sum().reindex(list(bins))
    share = total["correct"] / total["n"].where(total["n"] > 0)
    axes.plot(
        range(len(bins)),
        share,
        color=colour,
        marker=marker,
        linewidth=1.8,
        linestyle=DASHES[index],
        label=condition,
        zorder=3,
    )
    return [0 if np.isnan(n) else int(n) for n in total["n"]]


def mode_delta(frames: Frames, context: Context) -> Drawing:
    """Figure 3: paired difference of accuracy between the modes."""
    frame = frames["mcnemar_modes"]
    keys = [m.key for m in context.models if {THINKING, NON_THINKING} <= set(m.modes)]
    frame = frame[(frame["condition"] == "all") & frame["model"].isin(keys)]
    frame = frame[frame["delta_ema"].notna()]
    words = (
        "Difference of exact-match accuracy between the modes (non-thinking minus thinking) on the "
        "same items, English and random together.",
    )
    if frame.empty:
        return nothing("mode_delta", "No model of this run has both modes: not available.", *words)
    lookup = Lookup("mcnemar_modes", frame, ("model", "task", "shots", "condition"))
    names = _tasks(context)
    places = [(key, task) for key in keys for task in names]
    figure = figures.new(TEXT_WIDTH, 0.8 + 0.145 * len(places))
    panels = figure.subplots(1, len(context.shots), sharey=True, sharex=True, squeeze=False)[0]
    style = {line.model: line for line in lines(context, baselines=False)}
    for axes, shots in zip(panels, context.shots, strict=True):
        axes.axvline(0, color="black", linewidth=0.6)
        for y, (key, task) in enumerate(places):
            row = lookup.get(key, task, shots, "all")
            if row is None:
                continue
            significant = bool(row["significant"] == True)  # noqa: E712
            axes.errorbar(
                row["delta_ema"],
                y,
                xerr=[
                    [max(0.0, row["delta_ema"] - row["delta_low"])],
                    [max(0.0, row["delta_high"] - row["delta_ema"])],
                ],
                color=style[key].colour,
                marker=style[key].marker,
                markerfacecolor=style[key].colour if significant else "white",
                capsize=1.5,
                elinewidth=0.8,
            )
        for edge in range(len(names), len(places), len(names)):
            axes.axhline(edge - 0.5, color="#BBBBBB", linewidth=0.5)
        axes.set_title(captions.shots_words(shots))
        axes.set_ylim(len(places) - 0.5, -0.5)
        axes.locator_params(axis="x", nbins=5)
    labels = [f"{context.label(key)}  {task}" for key, task in places]
    panels[0].set_yticks(range(len(places)), labels, fontsize=6.5)
    panels[len(panels) // 2].set_xlabel("ΔEMA, non-thinking − thinking")
    return Drawing(
        "mode_delta",
        figure,
        caption(
            context,
            *words,
            f"Bars: {captions.level_words(context)} paired bootstrap intervals "
            f"({captions.count(context.resamples)} resamples, seed {context.seed}). Right of zero: "
            "thinking hurts. Filled: McNemar's test significant after Bonferroni correction at "
            f"α = {context.alpha:g}.",
        ),
    )


def english_random(frames: Frames, context: Context) -> Drawing:
    """Figure 4: accuracy on English and random items side by side."""
    lookup = cells_of(frames)
    found = lines(context)
    names = _tasks(context)
    columns = 3 if len(found) <= 6 else 4
    figure = figures.new(TEXT_WIDTH, 0.7 + 1.0 * -(-len(found) // columns))
    for axes, line in zip(grid(figure, len(found), columns), found, strict=True):
        for index, condition in enumerate(CONDITIONS):
            rows = [
                lookup.get(line.model, line.mode, task, context.headline_shots, condition)
                for task in names
            ]
            heights = np.array([number_of(row, "ema") for row in rows])
            low = np.array([number_of(row, "ema_low") for row in rows])
            high = np.array([number_of(row, "ema_high") for row in rows])
            place = np.arange(len(names)) + (index - 0.5) * 0.4
            axes.bar(
                place,
                np.nan_to_num(heights),
                0.38,
                color=("#0072B2", "#E69F00")[index],
                hatch=HATCHES[index],
                edgecolor="black",
                linewidth=0.3,
                yerr=np.nan_to_num(np.clip([heights - low, high - heights], 0, None)),
                error_kw={"elinewidth": 0.6, "capsize": 1.2},
                label=condition,
            )
            for x, height in zip(place, heights, strict=True):
                if np.isnan(height):
                    axes.text(x, 0.02, "–", ha="center", va="bottom", fontsize=7)
        axes.set_title(line.label, fontsize=7)
        axes.set_ylim(0, 1.05)
        axes.set_xticks(range(len(names)), _short(names), rotation=90)
    figure.supylabel("exact-match accuracy", fontsize=7.5)
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=2)
    return Drawing(
        "english_random",
        figure,
        caption(
            context,
            f"Exact-match accuracy on English and random items at {headline(context)}; "
            f"{item_words(frames, context)}.",
            captions.bootstrap_sentence(context),
            "En dash: not evaluated.",
            modes_words(context),
        ),
    )


def shot_curves(frames: Frames, context: Context) -> Drawing:
    """Figure 5: accuracy over the number of demonstrations."""
    lookup = cells_of(frames)
    found = lines(context)
    names = _tasks(context)
    figure = figures.new(TEXT_WIDTH, 3.3 + 0.16 * (len(found) // 4))
    panels = grid(figure, len(names), 3)
    figures.outer_labels(panels, 3, "demonstrations", "exact-match accuracy")
    for axes, task in zip(panels, names, strict=True):
        for line in found:
            values = [
                number_of(lookup.get(line.model, line.mode, task, s, "all"), "ema")
                for s in context.shots
            ]
            axes.plot(
                range(len(context.shots)),
                values,
                color=line.colour,
                marker=line.marker,
                linestyle=line.dash,
                alpha=0.85,
            )
        axes.set_title(task)
        axes.set_ylim(-0.03, 1.03)
        axes.set_xticks(range(len(context.shots)), [str(s) for s in context.shots])
    legend(figure, found)
    return Drawing(
        "shot_curves",
        figure,
        caption(
            context,
            "Exact-match accuracy over the number of demonstrations, English and random together.",
            modes_words(context),
        ),
    )


def kappa_heatmap(frames: Frames, context: Context) -> Drawing:
    """Figure 6: Cohen's kappa by configuration, task and condition."""
    lookup = cells_of(frames)
    found = lines(context)
    names = _tasks(context)
    figure = figures.new(TEXT_WIDTH, 1.0 + 0.225 * len(found))
    panels = figure.subplots(1, 3, sharey=True, squeeze=False)[0]
    image = None
    for axes, condition in zip(panels, (*CONDITIONS, "all"), strict=True):
        rows = [
            [
                lookup.get(line.model, line.mode, task, context.headline_shots, condition)
                for task in names
            ]
            for line in found
        ]
        values = array([[number_of(row, "kappa") for row in line] for line in rows])
        texts = [[_kappa_text(row) for row in line] for line in rows]
        image = figures.heatmap(
            axes,
            values,
            texts,
            [line.label for line in found],
            _short(names),
            colours="PuOr",
            low=-1.0,
            high=1.0,
            separators=separators(found),
        )
        axes.set_title(condition)
        axes.tick_params(axis="x", labelrotation=90)
    if image is not None:
        figure.colorbar(image, ax=list(panels), label="Cohen's κ", fraction=0.025, pad=0.01)
    bands = ", ".join(f"{short} {band.replace('_', ' ')}" for band, short in BANDS.items())
    return Drawing(
        "kappa_heatmap",
        figure,
        caption(
            context,
            f"Cohen's κ with its Landis–Koch band at {headline(context)} by condition ({bands}).",
            "Hatched: not estimable.",
            modes_words(context),
        ),
    )


def _kappa_text(row: Mapping[str, Any] | None) -> str:
    value = number_of(row, "kappa")
    if row is None or np.isnan(value):
        return ""
    band = BANDS.get(str(row.get("kappa_band")), "")
    return figures.short(value) + (f"\n{band}" if band else "")


def kendall_sparklines(frames: Frames, context: Context) -> Drawing:
    """Figure 7: the trajectory over the shots of every configuration and task."""
    lookup = Lookup("kendall", frames["kendall"], ("model", "mode", "task", "condition"))
    found = lines(context)
    names = _tasks(context)
    figure = figures.new(TEXT_WIDTH, 0.5 + 0.35 * len(found))
    axes_grid = figure.subplots(len(found), len(names), squeeze=False)
    for i, line in enumerate(found):
        for j, task in enumerate(names):
            axes = axes_grid[i][j]
            _spark(axes, lookup.get(line.model, line.mode, task, "all"), context)
            if j == 0:
                axes.set_ylabel(
                    line.label, rotation=0, ha="right", va="center", fontsize=6.5, labelpad=4
                )
            if i == 0:
                axes.set_title(SHORT[task].replace("-\n", ""), fontsize=7.5)
    return Drawing(
        "kendall_sparklines",
        figure,
        caption(
            context,
            "Exact-match accuracy over "
            f"{captions.join_words(str(s) for s in context.shots)} demonstrations with Kendall's "
            "τ and the label of the trajectory, English and random together; every panel spans "
            "its own range.",
            f"With {len(context.shots)} points τ is descriptive only.",
            modes_words(context),
        ),
    )


SPARK_COLOURS = {
    "monotone_up": "#009E73",
    "monotone_down": "#D55E00",
    "peak_1shot": "#0072B2",
    "valley_1shot": "#CC79A7",
}


def _spark(axes: Axes, row: Mapping[str, Any] | None, context: Context) -> None:
    """One small curve with τ and label written below it."""
    axes.set_xticks([])
    axes.set_yticks([])
    for spine in axes.spines.values():
        spine.set_visible(True)
        spine.set_color("#CCCCCC")
    axes.set_xlim(-0.4, len(context.shots) - 0.6)
    values = [number_of(row, f"ema_{s}") for s in context.shots]
    if row is None or np.isnan(values).all():
        axes.text(0.5, 0.5, "–", ha="center", va="center", transform=axes.transAxes)
        return
    label = str(row.get("label") or "")
    low, high = np.nanmin(values), np.nanmax(values)
    spread = max(high - low, 0.02)
    axes.set_ylim(low - 1.1 * spread, high + 0.3 * spread)
    axes.plot(
        range(len(values)),
        values,
        color=SPARK_COLOURS.get(label, GREY),
        marker="o",
        markersize=2,
        linewidth=1,
    )
    tau = number_of(row, "tau")
    words = label.replace("_1shot", "").replace("monotone_", "").replace("nan", "incomplete")
    text = words if np.isnan(tau) else f"{minus(f'{tau:.2f}')} {words}"
    axes.text(0.5, 0.04, text, ha="center", va="bottom", fontsize=6.5, transform=axes.transAxes)


def mcnemar_matrix(frames: Frames, context: Context) -> Drawing:
    """Figure 8: share of significant cells for every pair, both modes in one matrix."""
    found = sorted(lines(context, baselines=False), key=lambda line: line.mode)
    values = np.full((len(found), len(found)), np.nan)
    texts = [["" for _ in found] for _ in found]
    for mode in (NON_THINKING, THINKING):
        pairs = mcnemar_pairs(frames["mcnemar_summary"], mode)
        for i, a in enumerate(found):
            for j, b in enumerate(found):
                pair = pairs.get((a.model, b.model))
                if a.mode != mode or b.mode != mode or pair is None or not pair["cells"]:
                    continue
                values[i, j] = pair["significant"] / pair["cells"]
                texts[i][j] = f"{int(pair['significant'])}/{int(pair['cells'])}"
    words = (
        "Significant McNemar tests between two configurations of the same mode: task and shot "
        "cells, English and random together, Bonferroni-corrected within each pair at "
        f"α = {context.alpha:g}.",
    )
    if np.isnan(values).all():
        return nothing("mcnemar_matrix", "This run has no pair of models to compare.", *words)
    return _matrix(
        "mcnemar_matrix",
        [line.label for line in found],
        values,
        texts,
        bar="share of significant cells",
        words=caption(context, *words, "Hatched: no shared mode.", modes_words(context)),
    )


def _matrix(
    name: str,
    labels: Sequence[str],
    values: NDArray[np.float64],
    texts: Sequence[Sequence[str]],
    *,
    bar: str,
    words: str,
) -> Drawing:
    """A square matrix of pairs."""
    size = min(TEXT_WIDTH, 2.4 + 0.36 * len(labels))
    figure = figures.new(size, max(2.6, 0.7 * size))
    axes = figure.add_subplot()
    image = figures.heatmap(axes, values, texts, labels, labels)
    axes.tick_params(axis="x", labelrotation=90)
    figure.colorbar(image, ax=axes, label=bar, fraction=0.04, pad=0.02)
    share = size / TEXT_WIDTH
    return Drawing(name, figure, words, width=f"{share:.2f}\\linewidth")


def parse_error_heatmap(frames: Frames, context: Context) -> Drawing:
    """Figure 9: parse-error rate by configuration, task and shots."""
    lookup = cells_of(frames)

    def text(value: float) -> str:
        return "" if value == 0 else f"{value:.2f}"

    def blank(line: Line, task: str, shots: int) -> str:
        row = lookup.get(line.model, line.mode, task, shots, "all")
        share, total = number_of(row, "blank_rate"), number_of(row, "parse_error_rate")
        return "\nB" if total > 0 and share > total / 2 else ""

    return _shot_heatmaps(
        "parse_error_heatmap",
        context,
        lambda line, task, shots: number_of(
            lookup.get(line.model, line.mode, task, shots, "all"), "parse_error_rate"
        ),
        text,
        bar="parse-error rate",
        words=(
            "Parse-error rate by configuration, task and number of demonstrations, English and "
            "random together. An empty cell is zero; B: mostly blank replies; hatched: not "
            "evaluated.",
        ),
        extra=blank,
        colours="Greys",
    )


def point_biserial(frames: Frames, context: Context) -> Drawing:
    """Figure 10: correlation between the condition and being right."""
    frame = frames["english_random"]
    lookup = Lookup("english_random", frame, ("model", "mode", "task", "shots"))
    largest = float(frame["point_biserial"].abs().max()) if len(frame) else 1.0
    limit = max(0.1, np.ceil(10 * (0.0 if np.isnan(largest) else largest)) / 10)

    def mark(line: Line, task: str, shots: int) -> str:
        row = lookup.get(line.model, line.mode, task, shots)
        mark = "" if row is None else captions.stars(number_of(row, "p_bonferroni"))
        return f"\n{mark}" if mark else ""

    sizes = captions.between(int(v) for v in frame["family_size"].dropna())
    return _shot_heatmaps(
        "point_biserial",
        context,
        lambda line, task, shots: _point_biserial(lookup.get(line.model, line.mode, task, shots)),
        lambda v: figures.short(v, sign=True),
        bar="point-biserial r",
        words=(
            "Point-biserial correlation between the input condition and being right; positive: "
            "random is easier. Hatched: not estimable.",
            captions.stars_sentence("chi-square test of independence", f"{sizes} comparisons"),
        ),
        extra=mark,
        colours="PuOr",
        low=-limit,
        high=limit,
    )


def _point_biserial(row: Mapping[str, Any] | None) -> float:
    """The correlation of a row; NaN where a margin is zero and nothing can correlate."""
    if row is not None and "zero_margin" in str(row.get("flag")):
        return float("nan")
    return number_of(row, "point_biserial")


def _tolerance(name: str, frames: Frames, context: Context, mode: str | None) -> Drawing:
    frame = frames["tolerance"]
    names = [t for t in _tasks(context) if TASKS[t].kind == "integer"]
    conditions = ("all",) if mode else CONDITIONS
    found = [
        x
        for x in lines(context, baselines=mode is None)
        if (mode is None or x.mode == mode) and x.model != "solver"
    ]
    words = (
        "Share of items whose answer is within a tolerance of the truth, integer tasks at "
        f"{headline(context)}" + (f", {captions.MODE_LABELS[mode]} mode." if mode else "."),
        "At zero: exact match.",
    )
    frame = frame[(frame["shots"] == context.headline_shots) & frame["task"].isin(names)]
    if mode and not context.has_mode(mode):
        return nothing(name, NO_THINKING, *words)
    if frame.empty:
        return nothing(name, NOTHING, *words)
    figure = figures.new(TEXT_WIDTH, 1.65 * len(conditions) + 0.3 + 0.16 * len(found) / 4)
    panels = grid(figure, len(names) * len(conditions), len(names))
    places = [(condition, task) for condition in conditions for task in names]
    for axes, (condition, task) in zip(panels, places, strict=True):
        part = frame[(frame["condition"] == condition) & (frame["task"] == task)]
        for line in found:
            mine = part[(part["model"] == line.model) & (part["mode"] == line.mode)]
            mine = mine.sort_values("tolerance")
            axes.plot(
                mine["tolerance"],
                mine["accuracy"],
                color=line.colour,
                marker=line.marker,
                linestyle=line.dash,
                markevery=2,
                alpha=0.85,
            )
        axes.set_title(task if condition == "all" else f"{task}, {condition}")
        axes.set_ylim(-0.03, 1.03)
    figures.outer_labels(panels, len(names), "allowed |error|", "share of items")
    legend(figure, found)
    return Drawing(name, figure, caption(context, *words, modes_words(context)))


def tolerance(frames: Frames, context: Context) -> Drawing:
    """Figure 11: tolerance curves of all configurations by condition."""
    return _tolerance("tolerance", frames, context, None)


def tolerance_thinking(frames: Frames, context: Context) -> Drawing:
    """Figure 14: tolerance curves of the thinking configurations."""
    return _tolerance("tolerance_thinking", frames, context, THINKING)


def capability_profile(frames: Frames, context: Context) -> Drawing:
    """Figure 12: the profile of every configuration over the tasks."""
    lookup = cells_of(frames)
    found = lines(context)
    names = _tasks(context)
    columns = 4
    figure = figures.new(TEXT_WIDTH, 0.7 + 0.95 * -(-len(found) // columns))
    for axes, line in zip(grid(figure, len(found), columns), found, strict=True):
        for index, shots in enumerate(context.shots):
            values = [
                number_of(lookup.get(line.model, line.mode, task, shots, "all"), "ema")
                for task in names
            ]
            axes.plot(
                values,
                range(len(names)),
                color=OKABE_ITO[index % len(OKABE_ITO)],
                marker=MARKERS[index % len(MARKERS)],
                linestyle=DASHES[index % len(DASHES)],
                linewidth=0.8,
                label=captions.shots_words(shots),
            )
        axes.set_title(line.label, fontsize=6.8)
        axes.set_xlim(-0.04, 1.04)
        axes.set_ylim(len(names) - 0.6, -0.4)
        axes.set_yticks(range(len(names)), [SHORT[n].replace("-\n", "") for n in names])
        axes.grid(axis="x", color="#E0E0E0", linewidth=0.4)
    figure.supxlabel("exact-match accuracy", fontsize=7.5)
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(labels))
    return Drawing(
        "capability_profile",
        figure,
        caption(
            context,
            "Profile of every configuration over the tasks, English and random together.",
            modes_words(context),
        ),
    )


def thinking_pareto(frames: Frames, context: Context) -> Drawing:
    """Figure 13: accuracy over the mean number of thinking tokens."""
    lookup = cells_of(frames)
    words = (
        f"Exact-match accuracy over the mean number of thinking tokens at {headline(context)} in "
        "thinking mode, English and random together.",
    )
    if not context.has_mode(THINKING):
        return nothing("thinking_pareto", NO_THINKING, *words)
    found = [line for line in lines(context, baselines=False) if line.mode == THINKING]
    names = _tasks(context)
    figure = figures.new(TEXT_WIDTH, 3.9)
    left_out = set()
    seen: list[float] = []
    panels = grid(figure, len(names), 3)
    figures.outer_labels(panels, 3, "mean thinking tokens", "exact-match accuracy")
    for axes, task in zip(panels, names, strict=True):
        for line in found:
            row = lookup.get(line.model, line.mode, task, context.headline_shots, "all")
            tokens, ema = number_of(row, "reasoning_tokens_mean"), number_of(row, "ema")
            if not tokens > 0 or np.isnan(ema):
                left_out.add(line.model)
                continue
            seen.append(tokens)
            axes.plot(tokens, ema, color=line.colour, marker=line.marker, markersize=5)
        axes.set_title(task)
        axes.set_ylim(-0.03, 1.05)
    if not seen:
        return nothing("thinking_pareto", "No backend reported thinking tokens.", *words)
    figures.log_axis(panels[0], seen)
    legend(figure, found)
    missing = [context.label(m.key) for m in context.models if m.key in left_out]
    note = f"Without a token count on some task: {captions.join_words(missing)}." if missing else ""
    return Drawing("thinking_pareto", figure, caption(context, *words, note))


def leaderboard_pareto(frames: Frames, context: Context) -> Drawing:
    """Figure 15: macro EMA against the valid-response rate."""
    board = Lookup("leaderboard", frames["leaderboard"], ("mode", "shots", "model"))
    cells = frames["cells"]
    cells = cells[(cells["shots"] == context.headline_shots) & (cells["condition"] == "all")]
    tokens = cells.groupby(["model", "mode"])["completion_tokens_mean"].mean()
    found = lines(context)
    figure = figures.new(TEXT_WIDTH, 3.0)
    axes = figure.add_subplot()
    for line in found:
        row = board.get(line.mode, context.headline_shots, line.model)
        x, y = number_of(row, "macro_ema"), number_of(row, "valid_response_rate")
        if np.isnan(x) or np.isnan(y):
            continue
        mean = tokens.get((line.model, line.mode), np.nan)
        size = 22.0 if np.isnan(mean) else 14.0 + 3.0 * float(np.sqrt(mean))
        filled = line.mode == THINKING
        is_mark = line.marker in "x+1"
        axes.scatter(
            x,
            y,
            s=size,
            marker=line.marker,
            linewidths=0.9,
            c=line.colour if is_mark or filled else "white",
            edgecolors=None if is_mark else line.colour,
            label=line.label,
            zorder=3,
        )
    axes.set_xlabel("macro EMA")
    axes.set_ylabel("valid-response rate")
    axes.margins(0.08)
    axes.grid(color="#E6E6E6", linewidth=0.4)
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right center", labelspacing=0.9)
    return Drawing(
        "leaderboard_pareto",
        figure,
        caption(
            context,
            f"Macro EMA against the valid-response rate at {headline(context)}. Larger signs: more "
            "completion tokens per reply.",
            "Filled: thinking; open: non-thinking." if context.has_mode(THINKING) else "",
        ),
    )


def _dominance(name: str, mode: str, frames: Frames, context: Context) -> Drawing:
    models = [m for m in context.models if mode in m.modes]
    words = (
        f"Share of task and shot cells in {captions.MODE_LABELS[mode]} mode in which the row model "
        "is significantly better than the column model (McNemar's test, Bonferroni-corrected over "
        f"the pairs of a cell, α = {context.alpha:g}), English and random together.",
    )
    if not models:
        reason = NO_THINKING if mode == THINKING else NOTHING
        return nothing(name, reason, *words)
    frame = frames["mcnemar_models"]
    frame = frame[(frame["mode"] == mode) & (frame["condition"] == "all")]
    values = np.full((len(models), len(models)), np.nan)
    for i, a in enumerate(models):
        for j, b in enumerate(models):
            if i != j:
                values[i, j] = dominance(frame, a.key, b.key)
    if np.isnan(values).all():
        return nothing(name, "This run has no pair of models to compare.", *words)
    texts = [[f"{v:.2f}" for v in row] for row in values]
    return _matrix(
        name,
        [m.label for m in models],
        values,
        texts,
        bar="share of cells won",
        words=caption(context, *words),
    )


def dominance(frame: pd.DataFrame, a: str, b: str) -> float:
    """Share of the tested cells that A wins significantly against B; NaN without a test.

    `frame` holds rows of mcnemar_models.csv of one mode and condition, in either order of the pair.
    """
    ahead = frame[(frame["model_a"] == a) & (frame["model_b"] == b) & frame["p"].notna()]
    behind = frame[(frame["model_a"] == b) & (frame["model_b"] == a) & frame["p"].notna()]
    use = ahead if len(ahead) else behind
    if use.empty:
        return float("nan")
    first, second = ("b01", "b10") if len(ahead) else ("b10", "b01")
    won = (use["significant_cell"].fillna(False).astype(bool)) & (use[first] > use[second])
    return float(won.sum()) / len(use)


def dominance_thinking(frames: Frames, context: Context) -> Drawing:
    """Figure 16: pairwise dominance in thinking mode."""
    return _dominance("dominance_thinking", THINKING, frames, context)


def dominance_nonthinking(frames: Frames, context: Context) -> Drawing:
    """Figure 17: pairwise dominance in non-thinking mode."""
    return _dominance("dominance_nonthinking", NON_THINKING, frames, context)


BUILDERS: dict[str, Callable[[Frames, Context], Drawing]] = {
    "ema_heatmap": ema_heatmap,
    "tokens_accuracy": tokens_accuracy,
    "mode_delta": mode_delta,
    "english_random": english_random,
    "shot_curves": shot_curves,
    "kappa_heatmap": kappa_heatmap,
    "kendall_sparklines": kendall_sparklines,
    "mcnemar_matrix": mcnemar_matrix,
    "parse_error_heatmap": parse_error_heatmap,
    "point_biserial": point_biserial,
    "tolerance": tolerance,
    "capability_profile": capability_profile,
    "thinking_pareto": thinking_pareto,
    "tolerance_thinking": tolerance_thinking,
    "leaderboard_pareto": leaderboard_pareto,
    "dominance_thinking": dominance_thinking,
    "dominance_nonthinking": dominance_nonthinking,
}


def build(name: str, frames: Frames, context: Context) -> Drawing:
    """Build one figure by name. Raises DataError for an unknown name or a missing input file."""
    require("figure", name, frames)
    return BUILDERS[name](frames, in_task_order(context, TASKS))
