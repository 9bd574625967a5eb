"""From statistics files to the files of one table or figure, the same for every benchmark."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from scripts import files
from scripts.publishing import figures as style
from scripts.publishing.captions import Context
from scripts.publishing.figures import Drawing
from scripts.publishing.layouts import Frames
from scripts.publishing.tables import Table
from scripts.publishing.web import write_forms

BuildTable = Callable[[str, Frames, Context], Table]
BuildFigure = Callable[[str, Frames, Context], Drawing]


class TableOutput(Protocol):
    """Paths of a table: LaTeX, values, and the page of the report."""

    tex: str
    csv: str
    html: str


class FigureOutput(Protocol):
    """Paths of a figure: vector, pixels, and the float with its caption."""

    pdf: str
    png: str
    tex: str


def read_frames(paths: Mapping[str, str]) -> Frames:
    """The statistics files by the names under which a layout knows them."""
    return {name: files.read_csv(path) for name, path in paths.items()}


def write_table(
    build: BuildTable,
    name: str,
    paths: Mapping[str, str],
    context: Mapping[str, Any],
    output: TableOutput,
) -> None:
    """Build a table of a benchmark and write all its forms."""
    table = build(name, read_frames(paths), Context.from_params(context))
    write_forms(table, output.tex, output.csv, output.html)


def write_figure(
    build: BuildFigure,
    name: str,
    paths: Mapping[str, str],
    context: Mapping[str, Any],
    output: FigureOutput,
) -> None:
    """Draw a figure of a benchmark and write all its forms."""
    facts = Context.from_params(context)
    benchmark = next(iter(set(context) - {"run", "models"}))
    with style.style():
        drawing = build(name, read_frames(paths), facts)
        place = rf"\ResultsDir/{benchmark}/figures/{name}.pdf"
        style.write(drawing, output.pdf, output.png, output.tex, place)
