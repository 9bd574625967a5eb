"""What a comparison with published figures comes to: a table for each paper, one plot for all.

The table has a row for every table or figure of the paper and quantity in it (in a replay also for
what agreement says). The plot sets measured against published percentages and shares of all
benchmarks of the run.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from scripts.publishing import captions, figures
from scripts.publishing.captions import Context
from scripts.publishing.figures import Drawing
from scripts.publishing.reproduction import (
    COMPARED,
    EXCEPTED,
    NEEDLESS,
    OPEN,
)
from scripts.publishing.tables import (
    Cell,
    Column,
    Row,
    Table,
    absent,
    decimal,
    number,
    whole,
)

PLOT = "measured_against_published"
# The units that the plot shows, and what turns each into percent.
PLOTTED = {"percent": 1.0, "share": 100.0}
NOTHING_COMPARED = "nothing is compared"
NO_INTERVAL = "the figures have no interval"


def build(title: str, name: str, frame: pd.DataFrame, context: Context) -> Table:
    """The table of one paper; `name` is its benchmark, `frame` what `reproduction.compare` gave."""
    replayed = context.kind == "replay"
    keys = ["source", "quantity", "unit", *(["evidence"] if replayed else [])]
    rows, previous = [], ""
    for key, part in frame.fillna({"evidence": ""}).groupby(keys, sort=False):
        source, quantity, _, *evidence = map(str, key)
        stub = (source.removeprefix(f"{title} "), quantity, *evidence)
        rows.append(Row(stub, _cells(part), repeated=source == previous))
        previous = source
    return Table(
        f"reproduction-{name}",
        captions_of(title, frame, context),
        ("Published in", "Quantity", *(["Evidence"] if replayed else [])),
        (
            Column("figures", "Figures", align="r"),
            Column("compared", "Compared", align="r"),
            Column("equal", "As printed", align="r"),
            Column("covered", "In the CI", align="r"),
            Column("median", "Median", "Difference", align="r"),
            Column("largest", "Largest", "Difference", align="r"),
            Column("missing", "Missing", align="r"),
            Column("reason", "Most often because", align="P{3.4cm}"),
        ),
        tuple(rows),
        notes=(
            "Difference: size of measured less published, in the published unit. In the CI: "
            "published values inside the interval of the measured one, of those with an interval.",
        ),
        layout="long",
        stub_align="P{2.1cm}P{2.2cm}" + ("P{1.7cm}" if replayed else ""),
        size="scriptsize",
        short_caption=f"{title}: measured against published",
    )


def captions_of(title: str, frame: pd.DataFrame, context: Context) -> str:
    """What the table is of, how many figures it has, and, in a replay, whether it closes."""
    compared = frame[frame["status"] == COMPARED]
    equal = int(compared["equal_as_printed"].eq(True).sum())
    sentences = [
        f"{title}: measured against published. Of {captions.count(len(frame))} published figures "
        f"{captions.count(len(compared))} are compared; {captions.count(equal)} of these print as "
        "published.",
        captions.run_sentence(context),
    ]
    if context.kind == "replay":
        closes = frame["closes"].value_counts()
        judged = int(closes[closes.index != ""].sum())
        left = int(closes.get(OPEN, 0) + closes.get(NEEDLESS, 0))
        sentences.insert(
            1,
            f"The margins determine {captions.count(judged)}; "
            f"{captions.counted(int(closes.get(EXCEPTED, 0)), 'exception')} are declared with "
            f"their reasons, and {captions.counted(left, 'figure')} do not close.",
        )
    return " ".join(sentences)


def _cells(part: pd.DataFrame) -> tuple[Cell, ...]:
    compared = part[part["status"] == COMPARED]
    missing = part[part["status"] != COMPARED]
    covered = compared["covered"].dropna()
    sizes = compared["difference"].dropna().astype(float).abs()
    nothing = absent(NOTHING_COMPARED)
    inside = f"{int(covered.sum())}/{len(covered)}"
    return (
        whole(len(part)),
        whole(len(compared)),
        nothing if compared.empty else whole(int(compared["equal_as_printed"].eq(True).sum())),
        nothing
        if compared.empty
        else (Cell(inside, inside) if len(covered) else absent(NO_INTERVAL)),
        *(_size(part, value) for value in (sizes.median(), sizes.max())),
        whole(len(missing)),
        _reason(missing),
    )


def _size(part: pd.DataFrame, value: float) -> Cell:
    digits = max(map(_decimals, part["published"]))
    return number(value, lambda v: decimal(v, digits + 1), reason="no difference of numbers")


def _decimals(text: Any) -> int:
    return len(str(text).partition(".")[2]) if str(text)[-1:].isdigit() else 0


def _reason(missing: pd.DataFrame) -> Cell:
    """The most frequent reason; which model or file it is stands in the CSV."""
    if missing.empty:
        return Cell("", "")
    kinds = missing["reason"].map(kind_of)
    found = kinds.value_counts()
    best = min(found[found == found.max()].index)
    return Cell(best, best)


def kind_of(reason: str) -> str:
    """A reason without what it names: `model not in this run`."""
    head, colon, _ = reason.partition(" in this run: ")
    return f"{head} in this run" if colon else reason


def points(frame: pd.DataFrame) -> pd.DataFrame:
    """Published and measured percentages of a benchmark; shares are turned into percent."""
    chosen = frame[(frame["status"] == COMPARED) & frame["unit"].isin(list(PLOTTED))]
    chosen = chosen[chosen["difference"].notna()]
    factor = chosen["unit"].map(PLOTTED).astype(float)
    return pd.DataFrame(
        {
            "published": chosen["published"].astype(float) * factor,
            "measured": chosen["measured"].astype(float) * factor,
        }
    )


def draw(frames: Mapping[str, pd.DataFrame], context: Context) -> Drawing:
    """Measured against published, one marker a benchmark; `frames` by title, in display order.

    Call it inside `figures.style()`.
    """
    found = {title: points(frame) for title, frame in frames.items()}
    shown = {title: part for title, part in found.items() if len(part)}
    what = "Measured against published percentages and shares"
    if not shown:
        return figures.nothing(
            PLOT,
            "No published percentage or share is compared in this run: its models are not the "
            "papers'.",
            f"{what}.",
            captions.run_sentence(context),
        )
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
            label=title,
        )
    axes.set_xlabel("published (%)")
    axes.set_ylabel("measured (%)")
    axes.set_aspect("equal")
    axes.legend(loc="upper left")
    counts = captions.join_words(
        f"{captions.count(len(part))} of {title}" for title, part in shown.items()
    )
    without = [title for title, part in found.items() if not len(part)]
    sentence = f"None of {captions.join_words(without)} is compared." if without else ""
    caption = [f"{what}: {counts}. On the line both are equal.", sentence]
    caption.append(captions.run_sentence(context))
    return Drawing(PLOT, figure, " ".join(filter(None, caption)), width="0.6\\linewidth")
