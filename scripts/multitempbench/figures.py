"""The layouts of MultiTempBench's figures: statistics in, `Drawing` out.

`build(name, frames, context)` is the entry; call it inside `publishing.figures.style()`. Figure
numbers in the docstrings are those of the MultiTempBench paper.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from scipy import stats

from scripts.multitempbench import wording
from scripts.multitempbench.artefacts import require
from scripts.multitempbench.overview import overview
from scripts.multitempbench.tables.mechanism import INTERCEPT, fit_words, term_words
from scripts.multitempbench.tables.results import accuracy_of, average_words
from scripts.multitempbench.tasks import TASKS
from scripts.multitempbench.wording import ALL, PREDICTOR_LABELS, language_name
from scripts.publishing import captions, figures
from scripts.publishing.captions import Context
from scripts.publishing.figures import (
    GREY,
    MARKERS,
    OKABE_ITO,
    TEXT_WIDTH,
    Drawing,
    Line,
    legend,
    lines,
    minus,
    modes_words,
    nothing,
    number_of,
)
from scripts.publishing.layouts import Frames, Lookup, caption, in_task_order, rows_of

NO_POINTS = "No model of this run has both values: nothing to show."
NO_STATES = "No hidden states were read in this run."
NO_FIT = "No regression could be fitted in this run."
NO_SCORES = "No reply of this run is scored."


# ---- scatter plots -----------------------------------------------------------------------------


def _scatter(
    name: str, frames: Frames, context: Context, predictors: Sequence[str], task: str
) -> Drawing:
    """One row of panels a predictor, one column a language: accuracy over the predictor."""
    points = frames["correlation_points"]
    points = points[(points["task"] == task) & points["model"].isin(context.model_keys())]
    what = "mean of all tasks" if task == ALL else TASKS[task].label.lower()
    names = captions.join_words(PREDICTOR_LABELS[predictor] for predictor in predictors)
    words = (f"Accuracy ({what}) over {names}, one point a model, by language.",)
    if points[list(predictors)].notna().to_numpy().sum() == 0 or points["accuracy"].isna().all():
        return nothing(name, NO_POINTS, *words)
    lookup = Lookup("correlations", frames["correlations"], ("predictor", "task", "language"))
    languages = wording.languages(context)
    found = [line for line in lines(context, baselines=False) if _has_point(points, line)]
    height = 0.45 + 1.62 * len(predictors) + 0.15 * -(-len(found) // 4)
    figure = figures.new(TEXT_WIDTH, height)
    grid = figure.subplots(len(predictors), len(languages), sharey=True, squeeze=False)
    for i, predictor in enumerate(predictors):
        rows = [lookup.get(predictor, task, language) for language in languages]
        texts = [correlation_text(row) for row in rows]
        # All titles of a row get as many lines as the longest, so that they stand level.
        longest = max(text.count("\n") for text in texts)
        for j, language in enumerate(languages):
            axes = grid[i][j]
            _panel(axes, points[points["language"] == language], predictor, found)
            title = f"{language_name(language)}\n" if i == 0 else ""
            text = texts[j] + "\n " * (longest - texts[j].count("\n"))
            axes.set_title(title + text, fontsize=6.5, linespacing=1.25)
            axes.set_ylim(-0.04, 1.04)
            axes.locator_params(axis="x", nbins=3)
            axes.margins(x=0.15)
        grid[i][0].set_ylabel("accuracy")
        grid[i][len(languages) // 2].set_xlabel(PREDICTOR_LABELS[predictor])
    legend(figure, [Line(*_solid(line)) for line in found])
    return Drawing(
        name, figure, caption(context, *words, *_scatter_words(predictors, task, context))
    )


def _solid(line: Line) -> tuple[str, str, str, str, str, str]:
    """A line of the legend without a dash: points are not connected."""
    return line.model, line.mode, line.label, line.colour, line.marker, "none"


def _has_point(points: pd.DataFrame, line: Line) -> bool:
    mine = points[(points["model"] == line.model) & (points["mode"] == line.mode)]
    return bool(mine["accuracy"].notna().any())


def _panel(axes: Axes, part: pd.DataFrame, predictor: str, found: Sequence[Line]) -> None:
    """Points of one language and predictor, with the least-squares line where there are three."""
    part = part[part[predictor].notna() & part["accuracy"].notna()]
    for line in found:
        mine = part[(part["model"] == line.model) & (part["mode"] == line.mode)]
        axes.plot(
            mine[predictor],
            mine["accuracy"],
            color=line.colour,
            marker=line.marker,
            linestyle="none",
            markersize=4,
            alpha=0.9,
            zorder=3,
        )
    x, y = part[predictor].to_numpy(dtype=float), part["accuracy"].to_numpy(dtype=float)
    if x.size >= 3 and np.ptp(x) > 0:
        slope, intercept = np.polyfit(x, y, 1)
        ends = np.array([x.min(), x.max()])
        axes.plot(ends, slope * ends + intercept, color=GREY, linewidth=0.8, zorder=1)
    if x.size == 0:
        axes.text(
            0.5, 0.5, "no value", ha="center", va="center", color=GREY, transform=axes.transAxes
        )


def correlation_text(row: Mapping[str, Any] | None) -> str:
    """r with both intervals and the paper's r, or why there is none, line by line."""
    if row is None:
        return "not evaluated"
    n = int(row["models"])
    r = number_of(row, "pearson")
    paper = number_of(row, "published")
    printed = [] if np.isnan(paper) else [f"paper {_two(paper)}"]
    if np.isnan(r):
        return "\n".join([f"n = {n}: no r", f"({_short_reason(row)})", *printed])
    bounds = _range(number_of(row, "low"), number_of(row, "high"))
    jackknife = _range(number_of(row, "jackknife_low"), number_of(row, "jackknife_high"))
    head = f"r = {_two(r)} {bounds}".strip()
    return "\n".join([head, f"J {jackknife}" if jackknife else f"n = {n}: no J", *printed])


def _short_reason(row: Mapping[str, Any]) -> str:
    flags = str(row.get("flag"))
    if "too_few" in flags:
        return "needs three models"
    if "constant" in flags:
        return "no variation"
    return "no values"


def _two(value: float) -> str:
    return figures.short(value)


def _range(low: float, high: float) -> str:
    return "" if np.isnan(low) or np.isnan(high) else f"[{_two(low)}, {_two(high)}]"


def _scatter_words(predictors: Sequence[str], task: str, context: Context) -> list[str]:
    words = [
        "Titles: Pearson's r over models with its "
        f"{captions.level_words(context)} bootstrap interval; J: jackknife interval over "
        "tokenisers; paper: the printed r. Line: least squares.",
    ]
    if task == ALL:
        words.append(average_words(context).split(";")[0] + ".")
    if "mdfr" in predictors:
        words.append(wording.MDFR_WORDS)
    if "mdfr_as_published" in predictors:
        words.append(wording.PUBLISHED_WORDS)
    if "linearity" in predictors:
        words.append(wording.LINEARITY_WORDS)
    if "year_r2" in predictors:
        words.append("Year, month, day: cross-validated R² of the linear probe of each.")
    return [*words, modes_words(context)]


def mdfr_accuracy_arithmetic(frames: Frames, context: Context) -> Drawing:
    """Figure 2: date arithmetic over fragmentation."""
    return _scatter(
        "mdfr_accuracy_arithmetic",
        frames,
        context,
        ("mdfr", "mdfr_as_published"),
        "date_arithmetic",
    )


def mdfr_accuracy_relation(frames: Frames, context: Context) -> Drawing:
    """Figure 6: temporal relations over fragmentation."""
    return _scatter(
        "mdfr_accuracy_relation", frames, context, ("mdfr", "mdfr_as_published"), "relation"
    )


def mdfr_accuracy_timezone(frames: Frames, context: Context) -> Drawing:
    """Figure 7: time zones over fragmentation."""
    return _scatter(
        "mdfr_accuracy_timezone", frames, context, ("mdfr", "mdfr_as_published"), "time_zone"
    )


def linearity_accuracy(frames: Frames, context: Context) -> Drawing:
    """Figure 3: mean accuracy over linearity."""
    return _scatter("linearity_accuracy", frames, context, ("linearity",), ALL)


def component_linearity(frames: Frames, context: Context) -> Drawing:
    """Figure 4: mean accuracy over the linearity of year, month and day."""
    return _scatter("component_linearity", frames, context, ("year_r2", "month_r2", "day_r2"), ALL)


# ---- regression --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Fit:
    """A fit as it is drawn: the first one of its predictor."""

    name: str
    row: Mapping[str, Any]
    colour: str
    marker: str


def shown_fits(frame: pd.DataFrame) -> list[Fit]:
    """The first fit of every fragmentation predictor: the main one and its sensitivity."""
    out: list[Fit] = []
    seen: set[str] = set()
    for row in rows_of(frame):
        if str(row["predictor"]) not in seen:
            seen.add(str(row["predictor"]))
            place = len(out)
            out.append(Fit(str(row["fit"]), row, OKABE_ITO[place], MARKERS[place]))
    return out


def regression_summary(frames: Frames, context: Context) -> Drawing:
    """Figure 5: fixed effects with two intervals, and simple slopes by resource level."""
    fits = shown_fits(frames["regression_fits"])
    table = frames["regression"]
    effects = table[table["estimate"].notna() & (table["term"] != INTERCEPT)]
    effects = effects[effects["fit"].isin([fit.name for fit in fits])]
    words = ("Crossed mixed-effects regression of being right on fragmentation and linearity.",)
    if effects.empty:
        return nothing("regression_summary", NO_FIT, *words)
    # Both formulas of mDFR are the same term, drawn in one place.
    effects = effects.assign(term=effects["term"].str.replace("_as_published", ""))
    terms = list(dict.fromkeys(str(term) for term in effects["term"]))
    figure = figures.new(TEXT_WIDTH, 1.1 + 0.3 * len(terms))
    left, right = figure.subplots(1, 2, width_ratios=(3, 2))
    for place, fit in enumerate(fits):
        shift = (place - (len(fits) - 1) / 2) * 0.3
        _forest(left, effects[effects["fit"] == fit.name], terms, (fit, shift), context)
    _finish_forest(left, [term_words(term) for term in terms], "(a) fixed effects", "β")
    slopes = frames["regression_slopes"]
    slopes = slopes[slopes["slope"].notna()]
    places = [(p, r) for p in ("mdfr", "linearity") for r in ("low", "high")]
    for place, fit in enumerate(fits):
        shift = (place - (len(fits) - 1) / 2) * 0.3
        _slopes(right, slopes[slopes["fit"] == fit.name], places, fit, shift)
    names = [f"{PREDICTOR_LABELS[p]}, {r}" for p, r in places]
    _finish_forest(right, names, "(b) slopes by resource", "slope")
    handles = [
        Line2D(
            [], [], color=f.colour, marker=f.marker, linestyle="-", label=fit_words(f.name, f.row)
        )
        for f in fits
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(fits))
    return Drawing(
        "regression_summary",
        figure,
        caption(
            context,
            *words,
            f"Thick: {captions.level_words(context)} interval from the model's SE; thin: from the "
            "two-way cluster-robust SE (seed questions and models). Filled: permutation p below "
            f"{context.alpha:g}, where there is such a test. Slopes (never filled): effect of "
            "one standard deviation, delta-method intervals.",
            *(_sizes(fit) for fit in fits[:1]),
            *_untested(fits),
        ),
    )


def _untested(fits: Sequence[Fit]) -> list[str]:
    """Why the fits have no intervals, where they have none."""
    flags = {flag for fit in fits for flag in str(fit.row.get("flag")).split(";")}
    return [f"Few models: {captions.FLAGS['few_levels']}."] if "few_levels" in flags else []


def _sizes(fit: Fit) -> str:
    """The numbers of distinct values behind the rows of a fit, where they are known."""
    parts = [
        f"{captions.count(int(fit.row[key]))} {word}"
        for key, word in (
            ("n", "replies"),
            ("models", "models"),
            ("tokeniser_languages", "tokeniser-language pairs"),
            ("model_languages", "model-language pairs"),
        )
        if not np.isnan(number_of(fit.row, key))
    ]
    return f"{captions.join_words(parts)} stand behind the fit." if parts else ""


def _forest(
    axes: Axes,
    part: pd.DataFrame,
    terms: Sequence[str],
    place: tuple[Fit, float],
    context: Context,
) -> None:
    """Estimates of one fit with the model's and the cluster-robust interval."""
    fit, shift = place
    # The same t distribution as in the test of the column p_cluster (statistics/cluster.py).
    clusters = min(number_of(fit.row, "seed_questions"), number_of(fit.row, "models"))
    quantile = float(stats.t.ppf(0.5 + context.level / 2, clusters - 1))
    for row in rows_of(part):
        y = terms.index(str(row["term"])) + shift
        b = number_of(row, "estimate")
        low, high = number_of(row, "low"), number_of(row, "high")
        robust = quantile * number_of(row, "se_cluster")
        if not np.isnan(robust):
            axes.plot([b - robust, b + robust], [y, y], color=fit.colour, linewidth=0.7)
        if not (np.isnan(low) or np.isnan(high)):
            axes.plot([low, high], [y, y], color=fit.colour, linewidth=2.2, solid_capstyle="butt")
        significant = number_of(row, "p_permutation") < context.alpha
        face = fit.colour if significant else "white"
        axes.plot(b, y, marker=fit.marker, color=fit.colour, markerfacecolor=face, markersize=4.5)


def _slopes(
    axes: Axes, part: pd.DataFrame, places: Sequence[tuple[str, str]], fit: Fit, shift: float
) -> None:
    for row in rows_of(part):
        # The slope of the fragmentation predictor stands in one place whichever formula it has.
        predictor = str(row["predictor"]).removesuffix("_z").removesuffix("_as_published")
        key = (predictor, str(row["resource"]))
        if key not in places:
            continue
        y = places.index(key) + shift
        low, high = number_of(row, "low"), number_of(row, "high")
        if not (np.isnan(low) or np.isnan(high)):
            axes.plot([low, high], [y, y], color=fit.colour, linewidth=2.2, solid_capstyle="butt")
        # Open: filled signs of the neighbouring panel say that a permutation test rejects.
        axes.plot(
            row["slope"],
            y,
            marker=fit.marker,
            color=fit.colour,
            markerfacecolor="white",
            markersize=4.5,
        )


def _finish_forest(axes: Axes, names: Sequence[str], title: str, label: str) -> None:
    axes.axvline(0, color="black", linewidth=0.6, zorder=0)
    axes.set_yticks(range(len(names)), list(names), fontsize=6.5)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.set_title(title)
    axes.set_xlabel(label)
    axes.locator_params(axis="x", nbins=5)
    axes.xaxis.set_major_formatter(lambda v, _: minus(f"{v:g}"))


# ---- paths of years ----------------------------------------------------------------------------

SCOPES = {"joint": "joint", "language": "each language alone"}


def pca_layers(frames: Frames, context: Context) -> Drawing:
    """Figure 8: the path of years of every language over the layers of one model."""
    model = str(context.options["pca"])
    frame = frames["pca"]
    frame = frame[(frame["model"] == model) & frame["pc1"].notna()]
    words = (
        f"Paths of the mean states of consecutive years in {context.label(model)}, first two "
        "principal components, by layer.",
    )
    if frame.empty:
        return nothing("pca_layers", NO_STATES, *words)
    scopes = [scope for scope in SCOPES if (frame["scope"] == scope).any()]
    layers = sorted({int(layer) for layer in frame["layer"]})
    languages = wording.languages(context)
    figure = figures.new(TEXT_WIDTH, 0.5 + 1.45 * len(scopes))
    grid = figure.subplots(len(scopes), len(layers), squeeze=False)
    for i, scope in enumerate(scopes):
        for j, layer in enumerate(layers):
            part = frame[(frame["scope"] == scope) & (frame["layer"] == layer)]
            for place, language in enumerate(languages):
                path(grid[i][j], part[part["language"] == language], place)
            _finish_path(grid[i][j], part, scope)
        grid[i][0].set_ylabel(SCOPES[scope], fontsize=7)
    handles = [
        Line2D([], [], color=OKABE_ITO[k], marker=MARKERS[k], label=language_name(language))
        for k, language in enumerate(languages)
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles))
    years = (int(frame["year"].min()), int(frame["year"].max()))
    return Drawing(
        "pca_layers",
        figure,
        caption(
            context,
            *words,
            f"Years {years[0]} to {years[1]}; the sign of a language stands at its first year, the "
            "open one at its last. Joint: one projection for all languages, which mostly shows "
            "the distance between languages; below, each language projected alone. In brackets: "
            "variance explained by the first and the second component.",
        ),
    )


def path(axes: Axes, part: pd.DataFrame, place: int) -> None:
    """One language's path of years; filled at its first year, open at its last."""
    part = part.sort_values("year")
    if part.empty:
        return
    colour, marker = OKABE_ITO[place % len(OKABE_ITO)], MARKERS[place % len(MARKERS)]
    axes.plot(part["pc1"], part["pc2"], color=colour, linewidth=0.9)
    first, last = part.iloc[0], part.iloc[-1]
    axes.plot(first["pc1"], first["pc2"], color=colour, marker=marker, markersize=4)
    axes.plot(
        last["pc1"], last["pc2"], color=colour, marker=marker, markersize=4, markerfacecolor="white"
    )


def _finish_path(axes: Axes, part: pd.DataFrame, scope: str) -> None:
    axes.set_xticks([])
    axes.set_yticks([])
    for spine in axes.spines.values():
        spine.set_visible(True)
        spine.set_color("#CCCCCC")
    if part.empty:
        axes.text(0.5, 0.5, "–", ha="center", va="center", transform=axes.transAxes)
        return
    name = str(part["layer_name"].iloc[0])
    shares = [_share(part[column]) for column in ("explained_1", "explained_2")]
    title = f"{name}\n({shares[0]}, {shares[1]})" if scope == "joint" else f"({', '.join(shares)})"
    axes.set_title(title, fontsize=6.5)


def _share(column: pd.Series[Any]) -> str:
    """Explained variance in percent, a range where the languages differ."""
    values = 100 * column.dropna().to_numpy(dtype=float)
    if values.size == 0:
        return "–"
    low, high = round(values.min()), round(values.max())
    return f"{low}%" if low == high else f"{low}–{high}%"


# ---- accuracy ----------------------------------------------------------------------------------


def accuracy_by_language(frames: Frames, context: Context) -> Drawing:
    """Accuracy of every configuration by language with intervals; the paper has none."""
    lookup = accuracy_of(frames)
    words = ("Accuracy by language, all tasks, with intervals.",)
    found = lines(context)
    places = [*wording.languages(context), ALL]
    rows = {
        (line.model, line.mode, place): lookup.get(line.model, line.mode, place, ALL, ALL)
        for line in found
        for place in places
    }
    if all(np.isnan(number_of(row, "accuracy")) for row in rows.values()):
        return nothing("accuracy_by_language", NO_SCORES, *words)
    figure = figures.new(TEXT_WIDTH, 0.7 + 0.155 * len(found))
    panels = figure.subplots(1, len(places), sharey=True, squeeze=False)[0]
    for axes, place in zip(panels, places, strict=True):
        for y, line in enumerate(found):
            _interval_point(axes, rows[line.model, line.mode, place], y, line)
        axes.set_title("average" if place == ALL else language_name(place))
        axes.set_xlim(-0.04, 1.04)
        axes.set_xticks([0, 0.5, 1], ["0", ".5", "1"])
        axes.grid(axis="x", color="#E6E6E6", linewidth=0.4)
        first = next((y for y, line in enumerate(found) if line.baseline), None)
        if first:
            axes.axhline(first - 0.5, color="#BBBBBB", linewidth=0.5)
    panels[0].set_yticks(range(len(found)), [line.label for line in found], fontsize=6.5)
    panels[0].set_ylim(len(found) - 0.4, -0.6)
    figure.supxlabel("accuracy", fontsize=7.5)
    return Drawing(
        "accuracy_by_language",
        figure,
        caption(
            context,
            *words,
            average_words(context),
            wording.interval_words(context),
            "En dash: not evaluated; open sign: incomplete.",
            modes_words(context),
        ),
    )


def _interval_point(axes: Axes, row: Mapping[str, Any] | None, y: int, line: Line) -> None:
    value = number_of(row, "accuracy")
    if np.isnan(value):
        axes.text(0.02, y, "–", ha="left", va="center", fontsize=7)
        return
    low, high = number_of(row, "low"), number_of(row, "high")
    if not (np.isnan(low) or np.isnan(high)):
        axes.plot([low, high], [y, y], color=line.colour, linewidth=0.9)
    incomplete = row is not None and "incomplete" in str(row.get("flag"))
    face = "white" if incomplete else line.colour
    axes.plot(value, y, color=line.colour, marker=line.marker, markerfacecolor=face, markersize=3.2)


BUILDERS: dict[str, Callable[[Frames, Context], Drawing]] = {
    "overview": overview,
    "mdfr_accuracy_arithmetic": mdfr_accuracy_arithmetic,
    "linearity_accuracy": linearity_accuracy,
    "component_linearity": component_linearity,
    "regression_summary": regression_summary,
    "mdfr_accuracy_relation": mdfr_accuracy_relation,
    "mdfr_accuracy_timezone": mdfr_accuracy_timezone,
    "pca_layers": pca_layers,
    "accuracy_by_language": accuracy_by_language,
}


def build(name: str, frames: Frames, context: Context) -> Drawing:
    """Build one figure by name. Raises DataError for an unknown name or a missing input file."""
    require("figure", name, frames)
    return BUILDERS[name](frames, in_task_order(context, TASKS))
