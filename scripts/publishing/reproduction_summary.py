"""What a comparison with published figures comes to: a table for each paper, one plot for all.

The table has a row for every table or figure of the paper and quantity in it (in a replay also for
what agreement shows). The plot sets measured against published percentages and shares of all
benchmarks of the run.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from scripts.publishing import captions, figures
from scripts.publishing.captions import Context
from scripts.publishing.figures import Drawing
from scripts.publishing.reproduction import CLOSES, COMPARED, EXCEPTED
from scripts.publishing.tables import Cell, Column, Row, Table, absent, decimal, number, whole

PLOT = "measured_against_published"
# The units that the plot shows, and what turns each into percent.
PLOTTED = {"percent": 1.0, "share": 100.0}
NOTHING_COMPARED = "nothing is compared"
NO_INTERVAL = "no interval"
NO_NUMBERS = "words, not numbers"
# What a source adds to the place in the paper: how it was transcribed or derived.
_ADDED = re.compile(r"(?: \(|: ).*", re.DOTALL)
COLUMNS = (
    Column("figures", "Figures", align="r"),
    Column("compared", "Compared", align="r"),
    Column("equal", "As printed", align="r"),
    Column("covered", "In the CI", align="r"),
    Column("median", "Median", "Difference", align="r"),
    Column("largest", "Largest", "Difference", align="r"),
    Column("missing", "Missing", align="r"),
)


def build(title: str, name: str, frame: pd.DataFrame, context: Context) -> Table:
    """The table of one paper; `name` is its benchmark, `frame` what `reproduction.compare` gave."""
    replayed = context.kind == "replay"
    marks = _marks(frame)
    rows, previous = [], ""
    for key, part in _groups(frame, replayed):
        source, quantity, *evidence = key
        source = _ADDED.sub("", source.removeprefix(f"{title} "))
        stub = (source, quantity, *evidence)
        rows.append(Row(stub, _cells(part, marks), repeated=source == previous))
        previous = source
    return Table(
        f"reproduction-{name}",
        caption(title, frame, context),
        ("Published in", "Quantity", *(["Evidence"] if replayed else [])),
        COLUMNS,
        tuple(rows),
        notes=(
            "Difference: size of measured less published, in the published unit. In the CI: "
            "published values inside the interval of the measured one, of those with an interval.",
            *(f"{mark} Most of these: {kind}." for kind, mark in marks.items()),
        ),
        layout="long",
        size="scriptsize",
        short_caption=f"{title}: measured against published",
    )


def caption(title: str, frame: pd.DataFrame, context: Context) -> str:
    """What the table is of, how many figures it has, and, in a replay, whether it closes."""
    compared = frame[frame["status"] == COMPARED]
    equal = int(compared["equal_as_printed"].eq(True).sum())
    sentences = [
        f"{title}: measured against published. Of {captions.count(len(frame))} published figures "
        f"{captions.count(len(compared))} are compared; {captions.count(equal)} of these print as "
        "published."
    ]
    if context.kind == "replay":
        verdicts = frame["closes"].replace("", None).dropna()
        closed, excepted = (int(verdicts.eq(verdict).sum()) for verdict in (CLOSES, EXCEPTED))
        sentences.append(
            f"Of {captions.count(len(verdicts))} that the margins determine "
            f"{captions.count(closed)} close, {excepted} are exceptions declared with their "
            f"reasons, and {len(verdicts) - closed - excepted} are left open."
        )
    return " ".join([*sentences, captions.run_sentence(context)])


def _groups(frame: pd.DataFrame, replayed: bool) -> Any:
    """The rows of each line of the table, in the order of the declaration."""
    keys = ["source", "quantity", "unit"]
    frame = frame.fillna({"evidence": ""})
    # A figure that is not compared says nothing; it is counted with the others of its kind.
    first = frame.groupby(keys, sort=False)["evidence"].transform("max")
    frame = frame.assign(evidence=frame["evidence"].where(frame["evidence"] != "", first))
    grouped = frame.groupby([*keys, "evidence"] if replayed else keys, sort=False)
    for (source, quantity, _, *evidence), part in grouped:
        yield (str(source), str(quantity), *map(str, evidence)), part


def _marks(frame: pd.DataFrame) -> dict[str, str]:
    """A number for every reason that is the most frequent one somewhere."""
    parts = [part for _, part in _groups(frame, replayed=True)]
    kinds = dict.fromkeys(filter(None, map(_most_frequent, parts)))
    return {kind: str(position) for position, kind in enumerate(kinds, start=1)}


def _most_frequent(part: pd.DataFrame) -> str:
    """The most frequent reason; which model or file it is stands in the CSV."""
    found = part.loc[part["status"] != COMPARED, "reason"].map(kind_of).value_counts()
    return str(min(found[found == found.max()].index)) if len(found) else ""


def kind_of(reason: str) -> str:
    """A reason without what it names: `model not in this run`."""
    head, colon, _ = reason.partition(" in this run: ")
    return f"{head} in this run" if colon else reason


def _cells(part: pd.DataFrame, marks: Mapping[str, str]) -> tuple[Cell, ...]:
    compared = part[part["status"] == COMPARED]
    covered = compared["covered"].dropna()
    inside = f"{int(covered.sum())}/{len(covered)}"
    sizes = compared["difference"].dropna().astype(float).abs()
    why = NO_NUMBERS if len(compared) else NOTHING_COMPARED
    missing = whole(len(part) - len(compared))
    reason = _most_frequent(part)
    return (
        whole(len(part)),
        whole(len(compared)),
        whole(int(compared["equal_as_printed"].eq(True).sum()))
        if len(compared)
        else absent(NOTHING_COMPARED),
        Cell(inside, inside)
        if len(covered)
        else absent(NO_INTERVAL if len(compared) else NOTHING_COMPARED),
        *(_size(part, value, why) for value in (sizes.median(), sizes.max())),
        replace(missing, mark=marks[reason]) if reason in marks else missing,
    )


def _size(part: pd.DataFrame, value: float, why: str) -> Cell:
    """A difference with one decimal more than the figures have."""
    digits = max(map(_decimals, part["published"]))
    return number(value, lambda v: decimal(v, digits + 1), reason=why)


def _decimals(text: Any) -> int:
    return len(str(text).partition(".")[2]) if str(text)[-1:].isdigit() else 0


def points(frame: pd.DataFrame) -> pd.DataFrame:
    """Published and measured percentages of a benchmark; shares are turned into percent."""
    chosen = frame[(frame["status"] == COMPARED) & frame["unit"].isin(list(PLOTTED))]
    chosen = chosen[chosen["difference"].notna()]
    factor = chosen["unit"].map(PLOTTED).astype(float)
    values = {name: chosen[name].astype(float) * factor for name in ("published", "measured")}
    return pd.DataFrame(values)


def draw(frames: Mapping[str, pd.DataFrame], context: Context) -> Drawing:
    """Measured against published, one marker a benchmark; `frames` by title, in display order.

    Call it inside `figures.style()`.
    """
    found = {title: points(frame) for title, frame in frames.items()}
    shown = {title: part for title, part in found.items() if len(part)}
    what = "Measured against published percentages and shares"
    run = captions.run_sentence(context)
    if not shown:
        reason = "No published percentage or share is compared in this run."
        return figures.nothing(PLOT, reason, f"{what}.", run)
    counts = [f"{captions.count(len(part))} of {title}" for title, part in shown.items()]
    without = captions.join_words(title for title in found if title not in shown)
    sentences = [
        f"{what}: {captions.join_words(counts)}. On the line both are equal.",
        f"Of {without} none is compared." if without else "",
        run,
    ]
    return Drawing(PLOT, _plot(shown), " ".join(filter(None, sentences)), width="0.6\\linewidth")


def _plot(shown: Mapping[str, pd.DataFrame]) -> Any:
    """The plot: a diagonal, and a marker of its own shape for each benchmark."""
    figure = figures.new(figures.COLUMN_WIDTH, figures.COLUMN_WIDTH)
    axes = figure.add_subplot()
    values = pd.concat(list(shown.values()))
    limits = min(0.0, float(values.min().min())), max(100.0, float(values.max().max()))
    axes.plot(limits, limits, color=figures.GREY, linewidth=0.7, zorder=1)
    for index, (title, part) in enumerate(shown.items()):
        axes.plot(
            part["published"],
            part["measured"],
            linestyle="",
            marker=figures.MARKERS[index % len(figures.MARKERS)],
            color=figures.OKABE_ITO[index % len(figures.OKABE_ITO)],
            markerfacecolor="none",
            markeredgewidth=0.6,
            label=title,
        )
    axes.set_xlabel("published (%)")
    axes.set_ylabel("measured (%)")
    axes.set_aspect("equal")
    axes.legend(loc="upper left")
    return figure
