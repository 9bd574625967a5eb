"""The date strings that the paper prints or that people rated, cut and scored (tables 2, 6 to 8).

The published tables hold three Arabic strings that are no dates as they stand: a right-to-left text
was copied as it is seen. `data/embedded/fragmentation_examples.csv` says what each one means
(`printed`, `string`, `note`); every other string is taken as it is.

A file of ratings is a CSV with the columns language, format, calendar, string, human_rating and,
where several people rated, annotator; one row a rating. Without annotators a row is a mean.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from scripts.dates.signs import CALENDARS
from scripts.files import DataError, iterate_csv
from scripts.multitempbench.fragmentation import MEASURE_COLUMNS, measure
from scripts.multitempbench.tasks import LANGUAGE_LABELS
from scripts.statistics.agreement import Flagged, krippendorff_alpha
from scripts.statistics.correlation import spearman
from scripts.statistics.flags import MISSING, join_flags
from scripts.statistics.seeding import cell_generator
from scripts.tokenisation.calibration import Calibration, learned_weights
from scripts.tokenisation.comparisons import bleu_distance, edit_distance, spearman_interval
from scripts.tokenisation.mdfr import COMPONENTS, visible_pieces
from scripts.tokenisation.semantic_baseline import semantic_units
from scripts.tokenisation.tokenisers import Tokeniser, readable_text
from scripts.tokenisation.weights import ORIGINAL_WEIGHTS, normalise_weights

CALENDAR_LABELS = {name: name for name in CALENDARS} | {"greg.": "gregorian"}
KEY = ["language", "calendar", "string"]
STRING_COLUMNS = ("language", "format", "calendar", "string")
EXAMPLE_COLUMNS = (
    *("model", "string", "language", "format", "calendar", *MEASURE_COLUMNS),
    *("token_inflation", "bleu", "edit_distance", "published", "human_rating", "note"),
)
#: Measures of table 6, and how the published table begins to name them (empty: not in it).
METRICS = {
    "mdfr": "mDFR",
    "dfr": "DFR",
    "bleu": "BLEU",
    "edit_distance": "Character-Level Edit Distance",
    "mdfr_as_published": "",
    "token_inflation": "",
}
CORRELATION_COLUMNS = ("metric", "spearman", "low", "high", "n", "published", "flag")
WEIGHT_COLUMNS = (
    *("component", "default", "original_normalised", "learned", "se", "published", "flag"),
)
RATING_COLUMNS = (
    *("raters", "items", "krippendorff_alpha", "krippendorff_alpha_interval"),
    *("r2", "source", "flag"),
)


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows as dictionaries."""
    return [{str(name): value for name, value in row.items()} for row in frame.to_dict("records")]


def key_of(row: Mapping[str, Any]) -> tuple[str, ...]:
    """What tells a string from another one: language, calendar, string."""
    return tuple(str(row[name]) for name in KEY)


def by_string(frame: pd.DataFrame, value: str) -> dict[tuple[str, ...], float]:
    """A column's numbers by `key_of`; the first of several rows wins."""
    out: dict[tuple[str, ...], float] = {}
    for row in records(frame):
        out.setdefault(key_of(row), float(row[value]))
    return out


def read_corrections(path: Path | str) -> dict[str, tuple[str, str]]:
    """What a printed string means: printed to (string, note)."""
    columns = ("printed", "string", "note")
    return {row["printed"]: (row["string"], row["note"]) for _, row in iterate_csv(path, columns)}


def read_strings(
    path: Path | str, value: str, corrections: Mapping[str, tuple[str, str]]
) -> pd.DataFrame:
    """A CSV of date strings with one number each: STRING_COLUMNS, note, `value`, annotator, source,
    line (in the file).

    Languages become codes (`German` or `de`), calendars `gregorian`, `hijri`, `lunar`; printed
    strings become what they mean. DataError names the file and the row of anything else.
    """
    codes = {label.casefold(): code for code, label in LANGUAGE_LABELS.items()}
    codes |= {code: code for code in LANGUAGE_LABELS}
    rows = []
    for line, row in iterate_csv(path, (*STRING_COLUMNS, value)):
        where = f"{path}, row {line}"
        string, note = corrections.get(row["string"], (row["string"], ""))
        rows.append(
            {
                "language": _known(where, "language", row["language"], codes),
                "format": row["format"],
                "calendar": _known(where, "calendar", row["calendar"], CALENDAR_LABELS),
                "string": _filled(where, "string", string),
                "note": note,
                value: _number(where, value, row[value]),
                "annotator": row.get("annotator") or None,
                "source": row.get("source") or None,
                "line": line,
            }
        )
    columns = [*STRING_COLUMNS, "note", value, "annotator", "source", "line"]
    return pd.DataFrame.from_records(rows, columns=columns)


def _known(where: str, column: str, value: Any, known: Mapping[str, str]) -> str:
    found = known.get(str(value).strip().casefold())
    if found is None:
        raise DataError(f"{where}: {column} {value!r}; known: {', '.join(sorted(known))}")
    return found


def _filled(where: str, column: str, value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise DataError(f"{where}: {column} is empty; fill it in or remove the row")
    return value


def _number(where: str, column: str, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise DataError(f"{where}: {column} {value!r} is no number; correct or remove the row")
    return number


def read_ratings(path: Path | str, corrections: Mapping[str, tuple[str, str]]) -> pd.DataFrame:
    """Human severity ratings, one row a rating: STRING_COLUMNS, note, human_rating, annotator
    (None in every row where the file has no such column), source.

    DataError where somebody rated a string twice, or only some rows name an annotator.
    """
    frame = read_strings(path, "human_rating", corrections)
    named = frame["annotator"].notna()
    if named.any() and not named.all():
        number = frame.loc[~named, "line"].iloc[0]
        raise DataError(f"{path}, row {number}: no annotator, though other rows name one; add it")
    twice = frame.duplicated([*KEY, "annotator"])
    if twice.any():
        number = frame.loc[twice, "line"].iloc[0]
        raise DataError(
            f"{path}, row {number}: the same string is rated twice"
            f"{' by one annotator' if named.any() else ', and no annotator is named'}; "
            "remove one of the rows"
        )
    return frame


def mean_ratings(ratings: pd.DataFrame) -> pd.DataFrame:
    """One row a rated string in the order of the file: STRING_COLUMNS, note, human_rating."""
    how = {"format": "first", "note": "first", "human_rating": "mean"}
    return ratings.groupby(KEY, sort=False).agg(how).reset_index()


def rating_table(ratings: pd.DataFrame) -> NDArray[np.float64]:
    """Ratings as raters x strings, NaN where a rater gave none; no rows without annotators."""
    named = ratings[ratings["annotator"].notna()]
    if named.empty:
        return np.empty((0, 0))
    wide = named.pivot(index="annotator", columns=KEY, values="human_rating")
    return wide.to_numpy(dtype=float)


def string_measures(
    row: Mapping[str, Any], tokeniser: Tokeniser, weights: Sequence[float]
) -> dict[str, Any]:
    """All measures of one string: MEASURE_COLUMNS, token_inflation and the comparisons."""
    text = str(row["string"])
    pieces, units = visible_pieces(text, tokeniser), semantic_units(readable_text(text))
    found = measure(text, str(row["language"]), str(row["calendar"]), tokeniser, weights)
    return found | {
        "token_inflation": len(pieces) / len(units) if units else math.nan,
        "bleu": bleu_distance(pieces, units),
        "edit_distance": edit_distance(pieces, units),
    }


def examples_frame(
    model: str,
    examples: pd.DataFrame,
    ratings: pd.DataFrame,
    tokeniser: Tokeniser,
    weights: Sequence[float],
) -> pd.DataFrame:
    """`fragmentation_examples.csv`: the printed strings, then rated ones that are not printed.

    `examples`: of `read_strings(…, "mdfr", …)`; `ratings`: of `read_ratings`. A printed value or
    rating belongs to the string that is meant, so that both tables share a row.
    """
    rated = mean_ratings(ratings)
    printed, people = by_string(examples, "mdfr"), by_string(rated, "human_rating")
    notes: dict[Any, dict[str, None]] = {}
    strings = pd.concat([examples, rated])
    for row in records(strings):
        notes.setdefault(key_of(row), {})[row["note"]] = None
    rows = []
    for row in records(strings.drop_duplicates(KEY)):
        key = key_of(row)
        rows.append(
            {name: row[name] for name in STRING_COLUMNS}
            | string_measures(row, tokeniser, weights)
            | {"model": model, "published": printed.get(key), "human_rating": people.get(key)}
            | {"note": "; ".join(filter(None, notes[key]))}
        )
    return pd.DataFrame.from_records(rows, columns=list(EXAMPLE_COLUMNS))


def measured_ratings(
    ratings: pd.DataFrame, tokeniser: Tokeniser, weights: Sequence[float]
) -> pd.DataFrame:
    """One row a rated string: KEY, human_rating and all its measures."""
    rows = [
        row | string_measures(row, tokeniser, weights) for row in records(mean_ratings(ratings))
    ]
    return pd.DataFrame.from_records(rows)


def correlation_frame(
    measured: pd.DataFrame,
    published: Mapping[str, float],
    *,
    seed: int,
    resamples: int,
    level: float,
) -> pd.DataFrame:
    """`metric_correlation.csv`: Spearman's rho of each measure with the mean rating.

    `measured`: of `measured_ratings` (empty without a tokeniser: flag `missing`); `published`: of
    `published_correlations`.
    """
    rows = []
    for metric in METRICS:
        row: dict[str, Any] = {"metric": metric, "published": published.get(metric)}
        if measured.empty:
            rows.append(row | {"n": 0, "flag": MISSING})
            continue
        x, y = measured[metric].to_numpy(float), measured["human_rating"].to_numpy(float)
        found = spearman(x, y)
        generator = cell_generator(seed, "metric_correlation", metric)
        low, high = spearman_interval(x, y, resamples, generator, level)
        row |= {"spearman": found.r, "low": low, "high": high, "n": found.n, "flag": found.flag}
        rows.append(row)
    return pd.DataFrame.from_records(rows, columns=list(CORRELATION_COLUMNS))


def published_correlations(table: pd.DataFrame) -> dict[str, float]:
    """Table 6 by our names of the measures."""
    values = {str(row["metric"]): float(row["spearman_rho"]) for row in table.to_dict("records")}
    return {
        metric: value
        for metric, word in METRICS.items()
        for name, value in values.items()
        if word and name.startswith(word)
    }


def weights_frame(
    calibration: Calibration, weights: Sequence[float], published: pd.DataFrame
) -> pd.DataFrame:
    """`weights.csv`: the weights in use, the earlier ones, the learned ones and table 7's.

    `published`: table 7, whose rows are in the order of COMPONENTS (DataError otherwise).
    """
    marks = ("split", "delimiter", "N", "theta")
    names = published["component"].astype(str).tolist()
    if len(names) != len(marks) or any(m not in n for m, n in zip(marks, names, strict=True)):
        raise DataError(f"table 7 has the components {names}, expected {list(marks)} in this order")
    return pd.DataFrame(
        {
            "component": COMPONENTS,
            "default": [float(weight) for weight in weights],
            "original_normalised": normalise_weights(ORIGINAL_WEIGHTS),
            "learned": calibration.weights,
            "se": calibration.errors,
            "published": published["learned"].astype(float).to_numpy(),
            "flag": calibration.flag,
        },
        columns=list(WEIGHT_COLUMNS),
    )


def calibration_of(measured: pd.DataFrame) -> Calibration:
    """Learned weights from `measured_ratings`; refused as `missing` where there are none."""
    if measured.empty:
        return learned_weights(np.empty((0, len(COMPONENTS))), np.empty(0))
    return learned_weights(measured[list(COMPONENTS)], measured["human_rating"])


def ratings_frame(ratings: pd.DataFrame, calibration: Calibration, path: str) -> pd.DataFrame:
    """`ratings.csv`: who rated how many strings, how far they agree, and where it comes from."""
    table = rating_table(ratings)
    ordinal: Flagged = krippendorff_alpha(table, "ordinal")
    interval = krippendorff_alpha(table, "interval")
    sources = sorted({str(source) for source in ratings["source"].dropna()})
    row = {
        # Empty: means over people of whom the file says nothing.
        "raters": table.shape[0] or None,
        "items": len(mean_ratings(ratings)) if len(ratings) else 0,
        "krippendorff_alpha": ordinal.value,
        "krippendorff_alpha_interval": interval.value,
        "r2": calibration.r2,
        "source": "; ".join(sources) or Path(path).name,
        "flag": join_flags([ordinal.flag, interval.flag]),
    }
    return pd.DataFrame.from_records([row], columns=list(RATING_COLUMNS))
