"""The style of the figures and how they are written: print size, safe colours, the same bytes.

Colours are those of Okabe and Ito (2008); heat maps use cividis. Nothing is told by colour alone:
lines have markers and dashes, bars have hatches, heat-map cells have their value in them.
"""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Colormap, Normalize
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.transforms import Bbox
from numpy.typing import NDArray

from scripts import files
from scripts.publishing.captions import NON_THINKING, THINKING, Context
from scripts.publishing.latex import EN_DASH, MINUS, escape_prose, label
from scripts.publishing.tables import is_missing

# Inches. The text width is that of paper/tokensandtime.sty (A4, margins of 2.4 cm).
TEXT_WIDTH = 6.37
COLUMN_WIDTH = 3.3
MAX_HEIGHT = 8.6
MARGIN = 0.03
PNG_DPI = 200

OKABE_ITO = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#E69F00",
    "#56B4E9",
    "#000000",
    "#8A7F00",
)
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
HATCHES = ("", "////", "....", "xxxx")
DASHES: tuple[Any, ...] = ("-", (0, (4, 1.5)), (0, (1, 1)))
GREY = "#6E6E6E"
# For texts in any script: Matplotlib takes each character from the first font that has it.
TEXT_FONTS = ["DejaVu Sans", "Noto Sans CJK SC", "Noto Naskh Arabic"]

RC: Any = {
    "font.family": "DejaVu Sans",
    "font.size": 7.5,
    "axes.titlesize": 8,
    "axes.labelsize": 7.5,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.fontsize": 7,
    "figure.titlesize": 9,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "lines.linewidth": 1.1,
    "lines.markersize": 3.6,
    "hatch.linewidth": 0.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "pdf.fonttype": 42,
    "ps.fonttype": 42,
    "svg.hashsalt": "tokens-and-time",
    "axes.unicode_minus": True,
    "figure.constrained_layout.use": True,
}


@dataclass(frozen=True, slots=True)
class Drawing:
    """A finished figure with its caption; `reason` is set when there was nothing to draw."""

    name: str
    figure: Figure
    caption: str
    reason: str = ""
    width: str = "\\linewidth"


@dataclass(frozen=True, slots=True)
class Line:
    """One configuration as it is drawn everywhere: the same colour, marker and dash."""

    model: str
    mode: str
    label: str
    colour: str
    marker: str
    dash: Any
    baseline: bool = False


def lines(context: Context, *, baselines: bool = True) -> list[Line]:
    """Every configuration in display order, baselines last.

    Colours repeat after eight models, then with other markers: 64 models stay apart.
    """
    out = []
    both = context.has_mode(THINKING)
    for index, model in enumerate(context.models):
        for mode in (NON_THINKING, THINKING):
            if mode in model.modes:
                suffix = f" [{'T' if mode == THINKING else 'NT'}]" if both else ""
                out.append(
                    Line(
                        model.key,
                        mode,
                        model.label + suffix,
                        OKABE_ITO[index % len(OKABE_ITO)],
                        MARKERS[(index + index // len(OKABE_ITO)) % len(MARKERS)],
                        DASHES[0] if mode == THINKING or not both else DASHES[1],
                    )
                )
    if baselines:
        for index, model in enumerate(context.baselines):
            marker = "x+1"[index % 3]
            out.append(
                Line(model.key, NON_THINKING, model.label, GREY, marker, DASHES[2], baseline=True)
            )
    return out


def modes_words(context: Context) -> str:
    """What T and NT stand for, where they are used."""
    return "T: thinking; NT: non-thinking." if context.has_mode(THINKING) else ""


@contextlib.contextmanager
def style() -> Iterator[None]:
    """The settings under which figures are drawn and written."""
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(RC)
        yield


def new(width: float, height: float) -> Figure:
    """A figure of a given size in inches, without a window system."""
    return Figure(figsize=(width, min(height, MAX_HEIGHT)), layout="constrained")


def empty(reason: str, width: float = TEXT_WIDTH, height: float = 0.5) -> Figure:
    """A figure that says why there is nothing to show."""
    figure = new(width, height)
    axes = figure.add_subplot()
    axes.set_axis_off()
    axes.text(
        0.5,
        0.5,
        reason,
        ha="center",
        va="center",
        fontsize=8,
        color=GREY,
        wrap=True,
        transform=axes.transAxes,
    )
    return figure


def array(rows: Sequence[Sequence[Any]]) -> NDArray[np.float64]:
    """Rows of numbers as an array; None and missing values are NaN."""
    return np.array(
        [[np.nan if is_missing(v) else float(v) for v in row] for row in rows],
        dtype=np.float64,
    )


def separators(found: Sequence[Line]) -> list[int]:
    """The row before the first baseline."""
    return [i for i, line in enumerate(found) if line.baseline][:1]


def nothing(name: str, reason: str, *sentences: str) -> Drawing:
    """A figure that says why it is empty; the caption ends with the reason."""
    return Drawing(name, empty(reason), " ".join([*sentences, reason]), reason)


def number_of(row: Mapping[str, Any] | None, column: str) -> float:
    """A number of a row; NaN when the row, the column or the value is missing."""
    value: Any = None if row is None else row.get(column)
    return np.nan if is_missing(value) else float(value)


def grid(figure: Figure, count: int, columns: int) -> list[Axes]:
    """Axes in a grid with shared scales; unused places are left out."""
    rows = -(-count // columns)
    axes = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    flat = list(axes.flat)
    for spare in flat[count:]:
        spare.set_visible(False)
    for position, one in enumerate(flat[:count]):
        if position + columns >= count:
            one.tick_params(labelbottom=True)
    return flat[:count]


def legend(figure: Figure, found: Sequence[Line], columns: int = 4) -> None:
    """One legend for the whole figure, below it."""
    handles = [
        Line2D([], [], color=x.colour, marker=x.marker, linestyle=x.dash, label=x.label)
        for x in found
    ]
    figure.legend(
        handles=handles,
        loc="outside lower center",
        ncols=columns,
        handlelength=2.6,
        columnspacing=1.2,
        handletextpad=0.5,
    )


def minus(text: str) -> str:
    """A true minus sign in place of the hyphen."""
    return text.replace("-", MINUS)


def short(value: float, *, sign: bool = False) -> str:
    """Two decimals without the leading zero, for narrow cells: `.73`, `−.05`."""
    text = f"{value:+.2f}" if sign else f"{value:.2f}"
    if not text.strip("+-0."):
        return ".00"
    return minus(text.replace("0.", ".", 1) if abs(value) < 1 else text)


def log_axis(axes: Axes, values: Sequence[float]) -> None:
    """A logarithmic x axis around the values with ticks at 1, 2 and 5 times powers of ten."""
    axes.set_xscale("log")
    steps = [m * 10.0**e for e in range(-3, 9) for m in (1, 2, 5)]
    low = max((s for s in steps if s <= min(values)), default=steps[0])
    high = min((s for s in steps if s >= max(values)), default=steps[-1])
    axes.set_xlim(low * 0.9, high * 1.1)
    axes.set_xticks([s for s in steps if low <= s <= high])
    axes.xaxis.set_major_formatter(lambda v, _: f"{v:,g}")
    axes.minorticks_off()


def outer_labels(panels: Sequence[Axes], columns: int, x: str, y: str) -> None:
    """Name the axes at the left and at the bottom of a grid of panels only."""
    for position, axes in enumerate(panels):
        if position % columns == 0:
            axes.set_ylabel(y)
        if position + columns >= len(panels):
            axes.set_xlabel(x)


def heatmap(
    axes: Axes,
    values: NDArray[np.float64],
    texts: Sequence[Sequence[str]],
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    colours: str = "cividis",
    low: float = 0.0,
    high: float = 1.0,
    fontsize: float = 6.5,
    separators: Sequence[int] = (),
) -> Any:
    """A heat map with its values printed; a missing cell is hatched and shows an en dash.

    `values` has shape (rows, columns), NaN = missing; `separators` are row numbers before which a
    line is drawn. Returns the image for a colour bar.
    """
    colour_map: Colormap = mpl.colormaps[colours].with_extremes(bad="#FFFFFF")
    norm = Normalize(low, high)
    image = axes.imshow(
        np.ma.masked_invalid(values), cmap=colour_map, norm=norm, aspect="auto", rasterized=False
    )
    for i in range(len(rows)):
        for j in range(len(columns)):
            if np.isnan(values[i, j]):
                axes.add_patch(
                    mpl.patches.Rectangle(
                        (j - 0.5, i - 0.5),
                        1,
                        1,
                        fill=False,
                        hatch="/////",
                        edgecolor="#C8C8C8",
                        linewidth=0,
                    )
                )
            axes.text(
                j,
                i,
                texts[i][j] if not np.isnan(values[i, j]) else EN_DASH,
                ha="center",
                va="center",
                fontsize=fontsize,
                linespacing=0.95,
                color=ink(colour_map, norm, values[i, j]),
            )
    axes.set_xticks(range(len(columns)), columns)
    axes.set_yticks(range(len(rows)), rows)
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)
    for row in separators:
        axes.axhline(row - 0.5, color="#FFFFFF", linewidth=3.2)
        axes.axhline(row - 0.5, color="#000000", linewidth=0.6)
    return image


def ink(colour_map: Colormap, norm: Normalize, value: float) -> str:
    """Black or white, whichever reads better on the colour of a value."""
    if np.isnan(value):
        return "#444444"
    red, green, blue, _ = colour_map(float(norm(value)))
    luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    return "#000000" if luminance > 0.45 else "#FFFFFF"


def write(drawing: Drawing, pdf: Path | str, png: Path | str, tex: Path | str, path: str) -> None:
    """Write a figure as PDF and PNG and its LaTeX float, atomically and without dates.

    `path` is how LaTeX finds the PDF, as LaTeX source. Call it inside `style()`.
    """
    os.environ.setdefault("SOURCE_DATE_EPOCH", "0")
    with files.atomic_write(pdf, "wb") as handle:
        handle.write(_bytes(drawing.figure, "pdf"))
    with files.atomic_write(png, "wb") as handle:
        handle.write(_bytes(drawing.figure, "png"))
    files.write_text(tex, to_latex(drawing, path))


def _bytes(figure: Figure, kind: str) -> bytes:
    metadata: dict[str, Any] = {"Software": None}
    if kind == "pdf":
        metadata = {"CreationDate": None, "ModDate": None, "Creator": None, "Producer": None}
    buffer = io.BytesIO()
    figure.savefig(buffer, format=kind, dpi=PNG_DPI, metadata=metadata, bbox_inches=cropped(figure))
    return buffer.getvalue()


def cropped(figure: Figure) -> Bbox:
    """The part of a figure to write: all its width, without the empty margin above and below."""
    figure.draw_without_rendering()  # the layout puts everything in its place
    drawn = figure.get_tightbbox()
    bottom = max(0.0, drawn.y0 - MARGIN)
    top = min(figure.get_figheight(), drawn.y1 + MARGIN)
    return Bbox.from_extents(0.0, bottom, figure.get_figwidth(), top)


def to_latex(drawing: Drawing, path: str) -> str:
    """The figure's float: graphic, caption and label."""
    return "\n".join(
        [
            "% Written by the workflow; do not edit.",
            r"\begin{figure}[htbp]",
            r"\centering",
            rf"\includegraphics[width={drawing.width}]{{{path}}}",
            rf"\caption{{{escape_prose(drawing.caption)}}}\label{{fig:{label(drawing.name)}}}",
            r"\end{figure}",
            "",
        ]
    )
