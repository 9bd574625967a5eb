"""How tokenisers cut the dates of MultiTempBench: tables 2 and 4, and the regression's predictor.

Two profiles stand side by side: `mdfr` (equation 1, `tokenisation/mdfr.py`) and
`mdfr_as_published` (the authors' script, `tokenisation/released_profile.py`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from scripts.files import DataError, read_csv
from scripts.records import Item
from scripts.statistics.flags import MISSING
from scripts.tokenisation.mdfr import COMPONENTS, fragmentation, visible_pieces
from scripts.tokenisation.released_profile import DESIGN_COLUMNS, FORMS, text_released_score
from scripts.tokenisation.semantic_baseline import semantic_units
from scripts.tokenisation.tokenisers import Tokeniser, readable_text
from scripts.tokenisation.weights import ORIGINAL_WEIGHTS, normalise_weights

DATE_COLUMNS = ("language", "format", "calendar", "date", "text")
MEASURE_COLUMNS = (
    *("pieces", "units", "tokens", "baseline_units", *COMPONENTS, "mdfr", "dfr"),
    *("mdfr_as_published", "released_tokens", "released_units", "released_theta"),
)
TOKEN_COLUMNS = (*DATE_COLUMNS, *MEASURE_COLUMNS, "tokeniser")
MEAN_COLUMNS = (
    *("mdfr", "dfr", "mdfr_as_published", *COMPONENTS, "tokens", "baseline_units"),
    "token_inflation",
)
MDFR_COLUMNS = ("model", "language", "calendar", "tokeniser", "dates", *MEAN_COLUMNS, "flag")
RELEASED_COLUMNS = (
    *("model", "column", "mdfr_as_published", "sampling_sd", "n", "published"),
    *("published_row", "language", "calendar"),
)
ITEM_COLUMNS = ("item_id", "mdfr", "mdfr_as_published")

CELL = ["language", "calendar"]


def item_dates(items: Iterable[Item]) -> pd.DataFrame:
    """One row a date of an item: item_id and DATE_COLUMNS, in the order of the items."""
    rows = [
        (
            item.item_id,
            *(str(item.factors[name]) for name in ("language", "format", "calendar")),
            str(entry["iso"]),
            str(entry["text"]),
        )
        for item in items
        for entry in item.inputs["dates"]
    ]
    return pd.DataFrame.from_records(rows, columns=["item_id", *DATE_COLUMNS])


def measure(
    text: str, language: str, calendar: str, tokeniser: Tokeniser, weights: Sequence[float]
) -> dict[str, Any]:
    """All of MEASURE_COLUMNS for one date string; pieces and units as JSON lists."""
    pieces = visible_pieces(text, tokeniser)
    units = semantic_units(readable_text(text))
    found = fragmentation(pieces, units)
    released = text_released_score(text, language, calendar, tokeniser)
    return {
        "pieces": json.dumps([piece.text for piece in pieces], ensure_ascii=False),
        "units": json.dumps([unit.text for unit in units], ensure_ascii=False),
        **found._asdict(),
        "mdfr": found.score(weights),
        "dfr": found.score(normalise_weights(ORIGINAL_WEIGHTS)),
        "mdfr_as_published": released.score,
        "released_tokens": released.tokens,
        "released_units": released.units,
        "released_theta": released.theta,
    }


def token_frame(
    items: Iterable[Item], tokeniser: Tokeniser, weights: Sequence[float]
) -> pd.DataFrame:
    """One row a distinct date, language and format of the items: TOKEN_COLUMNS, sorted."""
    keys = list(DATE_COLUMNS)
    dates = item_dates(items)[keys].drop_duplicates().sort_values(keys, kind="stable")
    rows = [
        row
        | measure(row["text"], row["language"], row["calendar"], tokeniser, weights)
        | {"tokeniser": tokeniser.fingerprint}
        for row in dates.to_dict("records")
    ]
    return pd.DataFrame.from_records(rows, columns=list(TOKEN_COLUMNS))


def read_tokens(path: Path | str) -> pd.DataFrame:
    """A file of `token_frame`; DataError where it has other columns."""
    texts = [*DATE_COLUMNS, "pieces", "units", "tokeniser"]
    return _read(path, TOKEN_COLUMNS, dict.fromkeys(texts, str))


def read_released(path: Path | str) -> pd.DataFrame:
    """A file of `released_design_frame`; DataError where it has other columns."""
    return _read(path, DESIGN_COLUMNS, {"column": str})


def _read(path: Path | str, columns: Sequence[str], kinds: Mapping[str, type]) -> pd.DataFrame:
    frame: pd.DataFrame = read_csv(path, dtype=kinds)
    if list(frame.columns) != list(columns):
        raise DataError(
            f"{path}: columns {list(frame.columns)}, expected {list(columns)}; measure the "
            "fragmentation again"
        )
    return frame


def item_fragmentation(items: Iterable[Item], tokens: pd.DataFrame) -> pd.DataFrame:
    """Mean mDFR over the dates of each item, in the order of the items: ITEM_COLUMNS.

    `tokens`: rows of `tokenisation/{model}.csv` (TOKEN_COLUMNS) of one model. Where the model has
    no tokeniser (no rows at all) the values are NaN; a date without its row is a DataError.
    """
    dates = item_dates(items)
    values = ["mdfr", "mdfr_as_published"]
    if tokens.empty:
        identifiers = dates["item_id"].drop_duplicates()
        return pd.DataFrame({"item_id": identifiers, **dict.fromkeys(values, np.nan)}).reset_index(
            drop=True
        )
    keys = list(DATE_COLUMNS)
    joined = dates.merge(tokens[[*keys, *values]], on=keys, how="left", validate="many_to_one")
    lost = joined[joined["mdfr"].isna()]
    if not lost.empty:
        row = lost.iloc[0]
        raise DataError(
            f"item {row['item_id']}: date {row['date']} ({row['language']}, {row['format']}) is "
            "not in the tokenisation file; measure the fragmentation again"
        )
    return joined.groupby("item_id", sort=False)[values].mean().reset_index()


def mdfr_frame(tokens: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """`mdfr.csv`: means over the distinct dates of each model, language and calendar.

    `tokens`: model to its rows (TOKEN_COLUMNS). Every date and format weighs the same. A model
    without rows has no readable tokeniser: its values are empty, its flag is `missing`.
    """
    filled = [frame for frame in tokens.values() if not frame.empty]
    cells = sorted({tuple(row) for frame in filled for row in frame[CELL].to_numpy().tolist()})
    rows = []
    for model in sorted(tokens):
        frame = tokens[model]
        frame = frame.assign(token_inflation=frame["tokens"] / frame["baseline_units"])
        for language, calendar in cells:
            part = frame[(frame["language"] == language) & (frame["calendar"] == calendar)]
            row = {"model": model, "language": language, "calendar": calendar, "dates": len(part)}
            if part.empty:
                rows.append(row | {"flag": MISSING})
                continue
            means = {name: float(part[name].mean()) for name in MEAN_COLUMNS}
            rows.append(row | means | {"tokeniser": part["tokeniser"].iloc[0], "flag": ""})
    return pd.DataFrame.from_records(rows, columns=list(MDFR_COLUMNS))


def published_columns(table: pd.DataFrame) -> dict[tuple[str, str], float]:
    """Table 4 by (its row, its column as here: `ar_hijri`)."""
    return {
        (str(row["model"]), f"{row['language']}_{row['calendar']}".lower()): float(row["mdfr"])
        for row in table.to_dict("records")
    }


def released_frame(
    released: Mapping[str, pd.DataFrame],
    table: pd.DataFrame,
    published_rows: Mapping[str, str],
) -> pd.DataFrame:
    """`mdfr_as_published.csv`: the released design of each model beside table 4.

    `released`: model to its DESIGN_COLUMNS; `table`: the published table 4; `published_rows`: model
    to the row of the table that is about its tokeniser (`published_row`). DataError for a row that
    the table lacks.
    """
    known = published_columns(table)
    names = {row for row, _ in known}
    unknown = sorted(set(published_rows.values()) - names)
    if unknown:
        raise DataError(
            f"published_rows names {unknown}, which table 4 does not have; its rows: "
            f"{', '.join(sorted(names))}"
        )
    order = list(FORMS)
    rows = []
    for model in sorted(released):
        found = released[model].set_index("column")
        for column in [name for name in order if name in found.index]:
            row, (language, calendar) = published_rows.get(model), column.split("_")
            entry = {name: found.loc[column, name] for name in DESIGN_COLUMNS[1:]}
            entry |= {"published": known.get((row or "", column)), "published_row": row}
            entry |= {"language": language, "calendar": calendar}
            rows.append({"model": model, "column": column, **entry})
    return pd.DataFrame.from_records(rows, columns=list(RELEASED_COLUMNS))
