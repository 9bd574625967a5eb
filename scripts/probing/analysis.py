"""Probes, geometry and projection of one model as frames, and the linearity of all models."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from scripts.files import DataError
from scripts.probing import geometry, projection
from scripts.probing.probes import (
    COMPONENTS,
    Array,
    Decoding,
    ProbeSettings,
    decode,
    in_sample,
    means_by_value,
    random_states,
    straightness,
)
from scripts.probing.state_files import Cell, StateFile, layer_name
from scripts.statistics.flags import MISSING

#: Decimals of the numbers written: far below their uncertainty, above the noise of linear algebra
#: on another machine.
DECIMALS = 6
#: The row that averages over the formats.
ALL = "all"

PROBE_KEYS = ["model", "language", "format", "token", "layer", "component"]
PROBE_VALUES = [
    "r2_cv", "r2_null", "r2_null_95", "r2_random", "r2_extrapolation", "r2_line", "r2_released",
    "r2_in_sample", "penalty",
]  # fmt: skip
PROBE_COLUMNS = [*PROBE_KEYS, "layer_name", "n", *PROBE_VALUES]
GEOMETRY_KEYS = ["model", "language", "format", "token", "layer"]
GEOMETRY_VALUES = [
    "mean_segment_cosine", "chord_arc_ratio", "separability", "direction_similarity",
]  # fmt: skip
GEOMETRY_COLUMNS = [*GEOMETRY_KEYS, "layer_name", *GEOMETRY_VALUES]
PCA_COLUMNS = [
    "model", "scope", "language", "layer", "layer_name", "year", "pc1", "pc2", "explained_1",
    "explained_2",
]  # fmt: skip
LINEARITY_COLUMNS = [
    "model", "language", "layer", "layer_name", "r2_cv", "year_r2", "month_r2", "day_r2", "null_r2",
    "random_r2", "r2_line", "r2_released", "r2_in_sample", "chosen_on", "flag",
]  # fmt: skip


def probe_frame(model: str, states: StateFile, settings: ProbeSettings) -> pd.DataFrame:
    """probes.csv of one model: every language, format (and their mean), token, layer, component."""
    rows = list(_probe_rows(model, states, settings))
    frame = pd.DataFrame(rows, columns=PROBE_COLUMNS)
    return _with_mean_over_formats(frame, PROBE_KEYS, PROBE_VALUES, PROBE_COLUMNS)


def _probe_rows(model: str, states: StateFile, settings: ProbeSettings) -> Iterator[dict[str, Any]]:
    for language, form in states.groups():
        chance: list[Decoding] | None = None
        done: list[tuple[Cell, list[list[dict[str, Any]]]]] = []
        for token in states.tokens:
            cell = states.cell(language, form, token)
            _check_years(cell, states, settings)
            if chance is None:
                width = cell.states.shape[2]
                chance = _decode_noise(cell, width, settings, (language, form))
            by_layer = _probe_layers(cell, chance, settings, done)
            for layer, values in enumerate(by_layer):
                place = {
                    "model": model,
                    "language": language,
                    "format": form,
                    "token": token,
                    "layer": layer,
                    "layer_name": layer_name(layer, states.last_layer),
                }
                yield from ({**place, **value} for value in values)


def _check_years(cell: Cell, states: StateFile, settings: ProbeSettings) -> None:
    if settings.folds < 3:
        raise DataError(f"probing.folds: {settings.folds}; nested cross-validation needs 3 or more")
    if len(cell.year_values) < 2 * settings.folds:
        raise DataError(
            f"{states.path}: {len(cell.year_values)} years for {settings.folds} folds; take fewer "
            "folds or more years (probing.folds, probing.years)"
        )


def _probe_layers(
    cell: Cell,
    chance: list[Decoding],
    settings: ProbeSettings,
    done: list[tuple[Cell, list[list[dict[str, Any]]]]],
) -> list[list[dict[str, Any]]]:
    """Values of each layer; a token position whose states are those of an earlier one copies them.

    (Where the sentence ends with the date, the last token is the date's last token.)
    """
    for earlier, found in done:
        if np.array_equal(earlier.states, cell.states):
            return found
    values = [probe_layer(cell, layer, chance, settings) for layer in range(cell.states.shape[1])]
    done.append((cell, values))
    return values


def _targets(cell: Cell) -> tuple[Array, Array]:
    """(years, 1) of the year states and (texts, 2) month and day of the date states."""
    dates = np.column_stack([cell.months, cell.days]).astype(float)
    return cell.year_values[:, None].astype(float), dates


def _decode_all(
    year_states: Array, date_states: Array, cell: Cell, settings: ProbeSettings
) -> list[Decoding]:
    years, dates = _targets(cell)
    return [
        *decode(year_states, years, cell.year_values, settings),
        *decode(date_states, dates, cell.years, settings),
    ]


def _decode_noise(
    cell: Cell, width: int, settings: ProbeSettings, key: tuple[str, str]
) -> list[Decoding]:
    """The probes on random states of the same shape: one draw a language and format."""
    dates = random_states((len(cell.years), width), settings.seed, *key, "dates")
    years = random_states((len(cell.year_values), width), settings.seed, *key, "years")
    return _decode_all(years, dates, cell, settings)


def probe_layer(
    cell: Cell, layer: int, chance: list[Decoding], settings: ProbeSettings
) -> list[dict[str, Any]]:
    """The values of each component at one layer.

    The year is read from the mean state of its dates, month and day from the state of each date.
    `r2_line` and `r2_released` use the mean state of each year, month or day of the month.
    """
    date_states = cell.states[:, layer].astype(np.float64)
    year_states = cell.year_states(layer)
    decoded = _decode_all(year_states, date_states, cell, settings)
    years, dates = _targets(cell)
    fitted = [*in_sample(year_states, years), *in_sample(date_states, dates)]
    paths = [
        (year_states, cell.year_values),
        means_by_value(date_states, cell.months),
        means_by_value(date_states, cell.days),
    ]
    out = []
    for index, component in enumerate(COMPONENTS):
        line = straightness(*paths[index])
        found = decoded[index]
        out.append(
            {
                "component": component,
                "n": len(years) if component == "year" else len(dates),
                "r2_cv": found.r2_cv,
                "r2_null": float(np.mean(found.null)) if found.null.size else np.nan,
                "r2_null_95": float(np.quantile(found.null, 0.95)) if found.null.size else np.nan,
                "r2_random": chance[index].r2_cv,
                "r2_extrapolation": found.r2_extrapolation,
                "r2_line": line.r2_line,
                "r2_released": line.r2_released,
                "r2_in_sample": float(fitted[index]),
                "penalty": found.penalty,
            }
        )
    return out


def _with_mean_over_formats(
    frame: pd.DataFrame, keys: Sequence[str], values: Sequence[str], columns: Sequence[str]
) -> pd.DataFrame:
    """The frame with a row `all` behind the formats of each cell: the mean of the formats' values.

    A value that one format lacks (a path that does not move) is missing in the mean too.
    """
    others = [key for key in keys if key != "format"]
    kept = {name: "first" for name in columns if name not in (*keys, *values)}
    grouped = frame.groupby(others, sort=False, observed=True)
    mean = grouped.agg({**kept, **dict.fromkeys(values, _mean)}).reset_index()
    return _sorted(pd.concat([frame, mean.assign(format=ALL)], ignore_index=True), keys, columns)


def _mean(values: pd.Series) -> float:
    return float(values.mean(skipna=False))


def _sorted(frame: pd.DataFrame, keys: Sequence[str], columns: Sequence[str]) -> pd.DataFrame:
    """Rows ordered by the keys in the order in which their values first appear, `all` last."""
    ordered = frame
    for key in keys:
        if not pd.api.types.is_integer_dtype(frame[key]):
            seen = sorted(dict.fromkeys(frame[key]), key=lambda value: value == ALL)
            ordered = ordered.assign(**{key: pd.Categorical(frame[key], seen, ordered=True)})
    ordered = ordered.sort_values(list(keys), kind="stable").reset_index(drop=True)
    text = [key for key in keys if isinstance(ordered[key].dtype, pd.CategoricalDtype)]
    return ordered.astype(dict.fromkeys(text, str))[list(columns)].round(DECIMALS)


def geometry_frame(model: str, states: StateFile) -> pd.DataFrame:
    """geometry.csv of one model: the shape of the path of the years, and where it points."""
    groups = states.groups()
    rows = []
    for form in dict.fromkeys(form for _, form in groups):
        languages = [language for language, other in groups if other == form]
        for token in states.tokens:
            cells = {language: states.cell(language, form, token) for language in languages}
            for layer in range(states.last_layer + 1):
                points = {name: cell.year_states(layer) for name, cell in cells.items()}
                shared = geometry.direction_similarity(
                    {name: geometry.path_direction(p) for name, p in points.items()}
                )
                rows += [
                    _geometry_row(model, name, form, token, layer, states.last_layer, p)
                    | {"direction_similarity": shared[name]}
                    for name, p in points.items()
                ]
    frame = pd.DataFrame(rows, columns=GEOMETRY_COLUMNS)
    order = {name: i for i, name in enumerate(dict.fromkeys(name for name, _ in groups))}
    frame = frame.sort_values("language", key=lambda column: column.map(order), kind="stable")
    return _with_mean_over_formats(frame, GEOMETRY_KEYS, GEOMETRY_VALUES, GEOMETRY_COLUMNS)


def _geometry_row(  # noqa: PLR0917
    model: str, language: str, form: str, token: str, layer: int, last: int, points: Array
) -> dict[str, Any]:
    shape = geometry.path_shape(points)
    return {
        "model": model,
        "language": language,
        "format": form,
        "token": token,
        "layer": layer,
        "layer_name": layer_name(layer, last),
        "mean_segment_cosine": shape.mean_segment_cosine,
        "chord_arc_ratio": shape.chord_arc_ratio,
        "separability": shape.separability,
    }


def pca_frame(model: str, states: StateFile, token: str) -> pd.DataFrame:
    """pca.csv of one model: year centroids (mean over dates and formats) at five layers."""
    if token not in states.tokens:
        raise DataError(f"{states.path}: no states of {token}; extract them (probing.tokens)")
    groups = states.groups()
    languages = list(dict.fromkeys(language for language, _ in groups))
    cells = {
        language: [states.cell(language, form, token) for name, form in groups if name == language]
        for language in languages
    }
    rows: list[dict[str, Any]] = []
    for scope in projection.SCOPES:
        for layer in projection.layers_shown(states.last_layer):
            points = {
                language: np.mean([cell.year_states(layer) for cell in formats], axis=0)
                for language, formats in cells.items()
            }
            found = projection.project(points, scope)
            rows += [
                {
                    "model": model,
                    "scope": scope,
                    "language": language,
                    "layer": layer,
                    "layer_name": layer_name(layer, states.last_layer),
                    "year": int(year),
                    "pc1": pair[0],
                    "pc2": pair[1],
                    "explained_1": found.explained[0],
                    "explained_2": found.explained[1],
                }
                for language in languages
                for year, pair in zip(
                    cells[language][0].year_values, found.coordinates[language], strict=True
                )
            ]
    return pd.DataFrame(rows, columns=PCA_COLUMNS).round(DECIMALS)


def linearity_frame(probes: pd.DataFrame, token: str, held_out_format: str) -> pd.DataFrame:
    """linearity.csv: one row a model and language.

    The layer is that with the highest `r2_cv`, averaged over the components, in the held-out format
    (of equals the first); every value is the mean over the *other* formats at that layer. `r2_cv`,
    `null_r2` and `random_r2` are means over the components; `r2_line`, `r2_released` and
    `r2_in_sample` are those of the year.
    """
    chosen = probes[(probes["token"] == token) & (probes["format"] != ALL)]
    rows = [
        _linearity_row(str(model), str(language), part, held_out_format)
        for (model, language), part in chosen.groupby(["model", "language"], sort=False)
    ]
    return pd.DataFrame(rows, columns=LINEARITY_COLUMNS).round(DECIMALS)


def _linearity_row(
    model: str, language: str, probes: pd.DataFrame, held_out: str
) -> dict[str, Any]:
    place = {"model": model, "language": language, "chosen_on": held_out}
    choosing = probes[probes["format"] == held_out]
    evaluated = probes[probes["format"] != held_out]
    by_layer = choosing.groupby("layer")["r2_cv"].mean()
    if by_layer.empty or evaluated.empty or by_layer.isna().all():
        return {**place, "flag": MISSING}
    layer = int(by_layer.index[int(np.nanargmax(by_layer.to_numpy()))])
    at_layer = evaluated[evaluated["layer"] == layer]
    by_component = at_layer.groupby("component")[PROBE_VALUES].mean()
    year = by_component.loc["year"]
    return {
        **place,
        "layer": layer,
        "layer_name": str(at_layer["layer_name"].iloc[0]),
        "r2_cv": by_component["r2_cv"].mean(),
        **{f"{name}_r2": by_component.loc[name, "r2_cv"] for name in COMPONENTS},
        "null_r2": by_component["r2_null"].mean(),
        "random_r2": by_component["r2_random"].mean(),
        **{name: year[name] for name in ("r2_line", "r2_released", "r2_in_sample")},
        "flag": "",
    }
