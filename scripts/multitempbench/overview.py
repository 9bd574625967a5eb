"""Figure 1: one date from the tokens over the states to the accuracy, in two languages of the run.

The languages are the ones with the largest and the smallest corpus; everything drawn comes from the
run: the tokens from the tokeniser of one model, the paths of years from its hidden states, the
accuracy from its replies.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from scripts.multitempbench import wording
from scripts.multitempbench.tables.fragmentation import pieces_of
from scripts.multitempbench.tables.results import accuracy_of
from scripts.multitempbench.wording import ALL, language_name
from scripts.publishing import captions, figures
from scripts.publishing.captions import Context
from scripts.publishing.figures import (
    HATCHES,
    MARKERS,
    OKABE_ITO,
    TEXT_WIDTH,
    Drawing,
    number_of,
)
from scripts.publishing.layouts import Frames, caption, rows_of

FORM = "long"
COLOURS = (OKABE_ITO[0], OKABE_ITO[1])
NO_TOKENS = "No date of the run stands in both languages"
NO_PATH = "No hidden states were read"
#: Share of the depth at which the path is drawn: past the middle, before the output.
DEPTH = 0.7


def chosen_languages(context: Context) -> list[str]:
    """The languages with the largest and the smallest corpus; one where there is only one."""
    sizes = context.options["languages"]
    order = sorted(wording.languages(context), key=lambda code: -float(sizes[code]["corpus_gb"]))
    return list(dict.fromkeys([order[0], order[-1]]))


def chosen_form(context: Context) -> str:
    """The textual form, or the first of the run where it is not asked for."""
    forms = wording.formats(context)
    return FORM if FORM in forms else forms[0]


def overview(frames: Frames, context: Context) -> Drawing:
    """Figure 1: tokens of one date, path of the years, and accuracy, in two languages."""
    model = str(context.options["pca"])
    languages = chosen_languages(context)
    figure = figures.new(TEXT_WIDTH, 2.35)
    grid = figure.add_gridspec(2, 3, width_ratios=(1.5, 1.0, 0.85))
    form = chosen_form(context)
    day = _tokens(
        [figure.add_subplot(grid[i, 0]) for i in range(len(languages))], frames, languages, form
    )
    layer = _paths(
        [figure.add_subplot(grid[i, 1]) for i in range(len(languages))], frames, languages, model
    )
    _bars(figure.add_subplot(grid[:, 2]), frames, languages, model)
    names = captions.join_words(language_name(code) for code in languages)
    tokens = (
        f"The tokens of {day} in the {wording.FORMAT_LABELS[form]} form, with mDFR"
        if day
        else NO_TOKENS
    )
    states = f"Path of the mean states of the years at {layer}" if layer else NO_PATH
    return Drawing(
        "overview",
        figure,
        caption(
            context,
            f"From surface to answer in {names} with {context.label(model)}.",
            f"(a) {tokens}.",
            f"(b) {states}.",
            "(c) Accuracy, mean of all tasks, with its "
            f"{captions.level_words(context)} bootstrap interval over seed questions.",
        ),
    )


# ---- tokens ------------------------------------------------------------------------------------


def _tokens(panels: Sequence[Axes], frames: Frames, languages: Sequence[str], form: str) -> str:
    """Draw the tokens of the first date that all languages have; returns it, empty if none is."""
    frame = frames["tokenisation"].astype({"date": str})
    parts = [frame[(frame["format"] == form) & (frame["language"] == code)] for code in languages]
    common = sorted(set.intersection(*(set(part["date"]) for part in parts)))
    for axes, code, colour, part in zip(panels, languages, COLOURS, parts, strict=False):
        axes.set_axis_off()
        lead = "(a) tokens: " if axes is panels[0] else ""
        axes.set_title(lead + language_name(code), fontsize=7.5, loc="left", color=colour)
        if not common:
            axes.text(0, 0.5, "no tokens", fontsize=7, transform=axes.transAxes)
            continue
        row = rows_of(part[part["date"] == common[0]])[0]
        pieces = pieces_of(row["pieces"], f"tokenisation, {row['text']!r}")
        _boxes(axes, pieces, colour)
        score = number_of(row, "mdfr")
        count = (
            f"{len(pieces)} token{'s' * (len(pieces) != 1)} for {int(row['baseline_units'])} units"
        )
        measured = "" if np.isnan(score) else f", mDFR = {score:.2f}"
        axes.text(
            0,
            0.08,
            # The date comes last: an Arabic one at the front would turn the whole line around.
            f"{count}{measured}: {row['text']}",
            fontsize=6.5,
            family=figures.TEXT_FONTS,
            transform=axes.transAxes,
        )
    return common[0] if common else ""


def _boxes(axes: Axes, pieces: Sequence[str], colour: str) -> None:
    """The pieces in a row of boxes; each is as wide as its text."""
    widths = [0.9 + 0.62 * sum(2 if ord(c) > 0x2E80 else 1 for c in piece) for piece in pieces]
    total = max(sum(widths) + 0.25 * (len(pieces) - 1), 18.0)
    left = 0.0
    axes.set_xlim(0, total)
    axes.set_ylim(0, 1)
    for piece, width in zip(pieces, widths, strict=True):
        axes.add_patch(
            Rectangle(
                (left, 0.42), width, 0.4, facecolor=colour + "22", edgecolor=colour, linewidth=0.7
            )
        )
        axes.text(
            left + width / 2,
            0.62,
            piece.strip() or "␣",
            ha="center",
            va="center",
            fontsize=6.5,
            family=figures.TEXT_FONTS,
        )
        left += width + 0.25


# ---- states ------------------------------------------------------------------------------------


def _paths(panels: Sequence[Axes], frames: Frames, languages: Sequence[str], model: str) -> str:
    """Draw the path of years of each language; returns the name of the layer, empty without any."""
    frame = frames["pca"]
    frame = frame[(frame["model"] == model) & (frame["scope"] == "language") & frame["pc1"].notna()]
    layers = sorted({int(layer) for layer in frame["layer"]})
    layer = min(layers, key=lambda v: (abs(v - DEPTH * layers[-1]), v)) if layers else -1
    frame = frame[frame["layer"] == layer]
    for place, (axes, code) in enumerate(zip(panels, languages, strict=False)):
        axes.set_xticks([])
        axes.set_yticks([])
        for spine in axes.spines.values():
            spine.set_visible(True)
            spine.set_color("#CCCCCC")
        part = frame[frame["language"] == code].sort_values("year")
        if part.empty:
            axes.text(0.5, 0.5, "no states", ha="center", va="center", transform=axes.transAxes)
            continue
        axes.plot(
            part["pc1"],
            part["pc2"],
            color=COLOURS[place],
            marker=MARKERS[place],
            markersize=2,
            linewidth=0.8,
        )
        for index in (0, len(part) - 1):
            row = part.iloc[index]
            axes.annotate(
                str(int(row["year"])),
                (row["pc1"], row["pc2"]),
                xytext=(0, 4),
                textcoords="offset points",
                ha="center",
                fontsize=6.5,
            )
        axes.margins(0.18)
    name = str(frame["layer_name"].iloc[0]) if len(frame) else ""
    panels[0].set_title(f"(b) states: {name}" if name else "(b) states", fontsize=7.5)
    return name


# ---- answers -----------------------------------------------------------------------------------


def _bars(axes: Axes, frames: Frames, languages: Sequence[str], model: str) -> None:
    """Accuracy of the model in both languages with its interval; the first mode that it has."""
    lookup = accuracy_of(frames)
    frame: pd.DataFrame = frames["accuracy"]
    modes = list(dict.fromkeys(str(m) for m in frame.loc[frame["model"] == model, "mode"]))
    for place, code in enumerate(languages):
        row = lookup.get(model, modes[0], code, ALL, ALL) if modes else None
        value = number_of(row, "accuracy")
        if np.isnan(value):
            axes.text(place, 0.02, "–", ha="center", va="bottom")
            continue
        low, high = number_of(row, "low"), number_of(row, "high")
        error = np.nan_to_num(np.clip([[value - low], [high - value]], 0, None))
        axes.bar(
            place,
            value,
            0.6,
            color=COLOURS[place],
            hatch=HATCHES[place],
            edgecolor="black",
            linewidth=0.4,
            yerr=error,
            error_kw={"elinewidth": 0.8, "capsize": 2},
        )
    axes.set_xticks(range(len(languages)), [language_name(code) for code in languages])
    axes.set_xlim(-0.6, len(languages) - 0.4)
    axes.set_ylim(0, 1.02)
    axes.set_ylabel("accuracy")
    axes.set_title("(c) answers", fontsize=7.5)
