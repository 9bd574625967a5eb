"""Tables of fragmentation: examples, values by model, and what the metric is worth."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from scripts.dates.signs import CALENDARS
from scripts.files import DataError, parse_json
from scripts.multitempbench import wording
from scripts.multitempbench.wording import CALENDAR_LABELS, language_name
from scripts.publishing import captions
from scripts.publishing.captions import Context
from scripts.publishing.layouts import (
    Frames,
    Lookup,
    caption,
    check_columns,
    rows_of,
    value_of,
    why_flagged,
)
from scripts.publishing.tables import (
    Cell,
    Column,
    Row,
    Table,
    decimal,
    is_missing,
    number,
    piece_cell,
    whole,
)
from scripts.publishing.text import visible

NO_TOKENISER = "the model has no readable tokeniser"
NOT_PUBLISHED = "the paper has no such value"
NOT_RATED = "no human rating"
METRIC_LABELS = {
    "mdfr": "mDFR (Equation 1)",
    "dfr": "DFR (earlier weights)",
    "bleu": "BLEU distance",
    "edit_distance": "character edit distance",
    "mdfr_as_published": "mDFR as published",
    "token_inflation": "token inflation N/N_b",
}
COMPONENT_LABELS = {
    "split": "S: a component is split",
    "delimiter": "L: a delimiter is lost",
    "inflation": "D: token inflation",
    "theta": "θ: divergence from the units",
}


def two(value: float) -> str:
    """Two decimals."""
    return decimal(value, 2)


def pieces_of(text: object, where: str) -> list[str]:
    """A JSON list of strings; DataError naming its place where it is none."""
    try:
        found = parse_json(str(text))
    except ValueError as error:
        raise DataError(f"{where}: {text!r} is not a JSON list; measure it again") from error
    if not isinstance(found, list):
        raise DataError(f"{where}: expected a JSON list, found {text!r}; measure it again")
    return [str(piece) for piece in found]


def mdfr(frames: Frames, context: Context) -> Table:
    """Table 4: mDFR by model, calendar and language, with the inflation of tokens."""
    frame = frames["mdfr"]
    lookup = Lookup("mdfr", frame, ("model", "language", "calendar"))
    there = {(str(r["calendar"]), str(r["language"])) for r in rows_of(frame)}
    places = [
        (calendar, language)
        for calendar in CALENDARS
        for language in wording.languages(context)
        if (calendar, language) in there
    ]
    columns = tuple(
        Column(f"{language}.{calendar}", language_name(language), CALENDAR_LABELS[calendar])
        for calendar, language in places
    )
    rows = []
    for model in context.models:
        cells = []
        for calendar, language in places:
            row = lookup.get(model.key, language, calendar)
            inflation = value_of(row, "token_inflation")
            extra = ("dfr", "mdfr_as_published", "dates", "tokeniser")
            cells.append(
                number(
                    value_of(row, "mdfr"),
                    two,
                    reason=NO_TOKENISER,
                    detail="" if is_missing(inflation) else f"{float(inflation):.1f}×",
                    extra=tuple((name, value_of(row, name)) for name in extra),
                )
            )
        rows.append(Row((model.label,), tuple(cells)))
    mine = frame[frame["model"].isin(context.model_keys())]
    distinct = mine["tokeniser"].dropna().nunique()
    return Table(
        "mdfr",
        caption(
            context,
            "Multilingual date fragmentation ratio by calendar and language, mean over the dates "
            f"of the items; {captions.counted(distinct, 'distinct tokeniser')}.",
        ),
        ("Model",),
        columns,
        tuple(rows),
        (f"{wording.MDFR_WORDS} Small: tokens per unit of the semantic baseline (N/N_b).",),
        short_caption="Date fragmentation by calendar and language",
    )


def mdfr_as_published(frames: Frames, context: Context) -> Table:
    """Table 4 as the authors' script computes it, beside the printed values."""
    frame = frames["mdfr_as_published"]
    lookup = Lookup("mdfr_as_published", frame, ("model", "column"))
    names = list(dict.fromkeys(str(name) for name in frame["column"]))
    columns = []
    for name in names:
        language, _, calendar = name.partition("_")
        group = CALENDAR_LABELS.get(calendar, calendar)
        columns.append(Column(name, language_name(language), group))
    order = {key: i for i, key in enumerate(CALENDAR_LABELS.values())}
    columns.sort(key=lambda column: order.get(column.group, len(order)))
    rows = []
    for model in context.models:
        cells = []
        for column in columns:
            row = lookup.get(model.key, column.key)
            printed = value_of(row, "published")
            extra = ("published", "sampling_sd", "n")
            cells.append(
                number(
                    value_of(row, "mdfr_as_published"),
                    two,
                    reason=NO_TOKENISER,
                    detail="" if is_missing(printed) else f"paper {two(float(printed))}",
                    extra=tuple((key, value_of(row, key)) for key in extra),
                )
            )
        rows.append(Row((model.label,), tuple(cells)))
    return Table(
        "mdfr_as_published",
        caption(
            context,
            "The date fragmentation ratio as the authors' script computes it, on its own design of "
            "sampled dates, beside the values that the paper prints where it has a row for the "
            "tokeniser.",
        ),
        ("Model",),
        tuple(columns),
        tuple(rows),
        (wording.PUBLISHED_WORDS,),
        short_caption="Date fragmentation as published",
    )


def fragmentation_examples(frames: Frames, context: Context) -> Table:
    """Table 2: how one tokeniser cuts the paper's strings, with the components."""
    frame = frames["fragmentation_examples"]
    check_columns("fragmentation_examples", frame, ("string", "pieces", "units", "published"))
    shown = [row for row in rows_of(frame) if not is_missing(row["published"])]
    rows = [_example_row(row) for row in shown]
    notes = [
        f"{wording.MDFR_WORDS} N: tokens, N_b: units of the semantic baseline. Pieces stand in "
        "the order of the text, from left to right in every script, without the spaces around "
        "them.",
        wording.PUBLISHED_WORDS,
        *_notes_on_strings(shown),
    ]
    return Table(
        "fragmentation_examples",
        caption(
            context,
            f"How the tokeniser of {_tokeniser_words(frame, context)} cuts dates, with the "
            "components of mDFR.",
        ),
        ("Language", "Calendar"),
        (
            Column("string", "String", align="l"),
            Column("units", "Baseline units", align="P{3.0cm}"),
            Column("pieces", "Pieces", align="P{4.3cm}"),
            Column("tokens", "N", align="r"),
            Column("baseline_units", "N_b", align="r"),
            Column("split", "S", align="r"),
            Column("delimiter", "L", align="r"),
            Column("inflation", "D", align="r"),
            Column("theta", "θ", align="r"),
            Column("mdfr", "mDFR", align="r"),
            Column("mdfr_as_published", "as published", align="r"),
            Column("published", "paper", align="r"),
        ),
        tuple(rows),
        tuple(notes),
        layout="landscape",
        size="scriptsize",
        short_caption="How a tokeniser cuts dates",
    )


def _example_row(row: Mapping[str, Any]) -> Row:
    where = f"fragmentation_examples.csv, string {row['string']!r}"
    stub = (language_name(row["language"]), _calendar(row["calendar"]))
    counts = (whole(row["tokens"]), whole(row["baseline_units"]))
    parts = (number(row[name], two) for name in ("split", "delimiter", "inflation", "theta"))
    scores = (number(row[name], two) for name in ("mdfr", "mdfr_as_published"))
    printed = number(row["published"], two, reason=NOT_PUBLISHED)
    string = _string_cell(row["string"])
    cut = (piece_cell(pieces_of(row["units"], where)), piece_cell(pieces_of(row["pieces"], where)))
    return Row(stub, (string, *cut, *counts, *parts, *scores, printed))


def _string_cell(string: object) -> Cell:
    """A date string of a table or of somebody's file of ratings, nothing in it hidden."""
    seen = visible(str(string))
    return Cell(seen, seen)


def _calendar(name: object) -> str:
    return CALENDAR_LABELS.get(str(name), str(name))


def _tokeniser_words(frame: pd.DataFrame, context: Context) -> str:
    names = list(dict.fromkeys(str(name) for name in frame["model"]))
    return captions.join_words(context.label(name) for name in names) or "no model"


def _notes_on_strings(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """What the data say about single strings, each once."""
    noted = {
        str(row["note"]): str(row["string"]) for row in rows if not is_missing(row.get("note"))
    }
    # An Arabic string must not come first: the whole note would run from right to left.
    return [f"On {string}: {note}." for note, string in noted.items()]


def fragmentation_ratings(frames: Frames, context: Context) -> Table:
    """Table 8: rated strings with their pieces, mDFR and the mean human rating."""
    frame = frames["fragmentation_examples"]
    check_columns("fragmentation_examples", frame, ("string", "pieces", "human_rating"))
    rows = []
    for row in rows_of(frame):
        if is_missing(row["human_rating"]):
            continue
        where = f"fragmentation_examples.csv, string {row['string']!r}"
        cells = (
            _string_cell(row["string"]),
            piece_cell(pieces_of(row["pieces"], where)),
            number(row["mdfr"], two),
            number(row["mdfr_as_published"], two),
            number(row["published"], two, reason=NOT_PUBLISHED),
            number(row["human_rating"], lambda v: decimal(v, 1)),
        )
        rows.append(Row((language_name(row["language"]), _calendar(row["calendar"])), cells))
    return Table(
        "fragmentation_ratings",
        caption(
            context,
            "Strings with human ratings of how badly they are cut (1: not, 5: severely), as the "
            f"tokeniser of {_tokeniser_words(frame, context)} cuts them.",
        ),
        ("Language", "Calendar"),
        (
            Column("string", "String", align="l"),
            Column("pieces", "Pieces", align="P{4.3cm}"),
            Column("mdfr", "mDFR", align="r"),
            Column("mdfr_as_published", "as published", align="r"),
            Column("published", "paper", align="r"),
            Column("human_rating", "Rating", align="r"),
        ),
        tuple(rows),
        (ratings_words(frames["ratings"]),),
        size="scriptsize",
        short_caption="Rated strings and their fragmentation",
    )


def ratings_words(frame: pd.DataFrame) -> str:
    """Who rated how many strings and how far they agree."""
    if frame.empty:
        return "No ratings were given."
    row = rows_of(frame)[0]
    count = 0 if is_missing(row["raters"]) else int(row["raters"])
    raters = captions.counted(count, "rater") if count else "raters of unknown number (means only)"
    alpha = row["krippendorff_alpha"]
    agreement = (
        "their agreement cannot be computed"
        if is_missing(alpha)
        else f"Krippendorff's α = {two(float(alpha))} (ordinal)"
    )
    strings = captions.counted(int(row["items"]), "string")
    return f"Ratings: {strings}, {raters}; {agreement}. Source: {row['source']}."


def metric_correlation(frames: Frames, context: Context) -> Table:
    """Table 6: Spearman's rho of each measure with the human ratings."""
    frame = frames["metric_correlation"]
    check_columns("metric_correlation", frame, ("metric", "spearman", "n", "published"))
    rows = []
    for row in rows_of(frame):
        cells = (
            number(row["spearman"], two, low=row["low"], high=row["high"], reason=why_flagged(row)),
            whole(row["n"]),
            number(row["published"], two, reason=NOT_PUBLISHED),
        )
        name = str(row["metric"])
        rows.append(Row((METRIC_LABELS.get(name, name),), cells))
    return Table(
        "metric_correlation",
        caption(
            context,
            "Spearman's ρ between measures of fragmentation and human ratings of it.",
        ),
        ("Measure",),
        (
            Column("spearman", "ρ"),
            Column("n", "Strings", align="r"),
            Column("published", "Paper", align="r"),
        ),
        tuple(rows),
        (
            f"Intervals: {captions.level_words(context)} percentile bootstrap over strings. The "
            "paper's values rest on strings that are not published.",
            ratings_words(frames["ratings"]),
        ),
        stacked=False,
        short_caption="Measures of fragmentation against human ratings",
    )


def weights(frames: Frames, context: Context) -> Table:
    """Table 7: the weights of mDFR in use, the earlier ones, and those learned from ratings."""
    frame = frames["weights"]
    check_columns("weights", frame, ("component", "default", "learned", "se", "published"))
    rows = []
    for row in rows_of(frame):
        name = str(row["component"])
        lost = why_flagged(row)
        cells = (
            number(row["default"], two),
            number(row["original_normalised"], lambda v: decimal(v, 4)),
            number(row["learned"], lambda v: decimal(v, 4), reason=lost),
            number(row["se"], lambda v: decimal(v, 4), reason=lost),
            number(row["published"], lambda v: decimal(v, 4), reason=NOT_PUBLISHED),
        )
        rows.append(Row((COMPONENT_LABELS.get(name, name),), cells))
    return Table(
        "weights",
        caption(
            context,
            "Weights of the components of mDFR: those in use, the earlier ones scaled to sum to "
            "one, and those learned from ratings by least squares.",
        ),
        ("Component",),
        (
            Column("default", "In use", align="r"),
            Column("original_normalised", "Earlier", align="r"),
            Column("learned", "Learned", align="r"),
            Column("se", "SE", align="r"),
            Column("published", "Paper's learned", align="r"),
        ),
        tuple(rows),
        (ratings_words(frames["ratings"]),),
        short_caption="Weights of the components of mDFR",
    )
