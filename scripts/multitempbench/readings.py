"""readings.csv of MultiTempBench: its results where the paper's text, tables and code differ.

Everything is computed from this run's answers (docs/reproduction.md numbers the places in the
paper). The regressions stand on the same rows; with fewer than five models the crossed ones are not
tested (regression.py), while the nested ones give standard errors and p-values all the same: that
they do is part of what this file shows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from scripts.files import DataError
from scripts.multitempbench.regression import ENOUGH_MODELS, Specification
from scripts.multitempbench.regression_rows import AnalysisFrame
from scripts.records import Item, Response
from scripts.statistics.flags import CONSTANT, FEW_LEVELS, MISSING, NOT_CONVERGED
from scripts.statistics.grouping import MixedModelError
from scripts.statistics.mixed import factorial_design, fit_linear_mixed
from scripts.statistics.readings import NAN, Reading, independent_rows, readings_frame

Frames = Mapping[str, pd.DataFrame]
ALL = "all"
INTERCEPT = "(Intercept)"
#: Words of a gold answer that the released scoring looks for are longer than this.
SHORT_WORD = 2
#: Columns of linearity.csv by reading of "temporal linearity"; the first is the year's.
PROBES = {
    "cross_validated": "year_r2",
    "in_sample": "r2_in_sample",
    "released": "r2_released",
}


@dataclass(frozen=True, slots=True)
class Settings:
    """What the readings take from the configuration."""

    models: tuple[str, ...]
    level: float = 0.95


def compute_readings(
    frames: Frames,
    answers: pd.DataFrame,
    build: Callable[[pd.DataFrame], AnalysisFrame],
    settings: Settings,
) -> pd.DataFrame:
    """readings.csv.

    `frames`: accuracy, correlations, judge_agreement, linearity, mdfr, metric_correlation and
    regression as in their files; `answers`: `substring_answers`; `build`: the rows of the
    regression with the column `r2_cv` of a linearity frame as linearity.
    """
    linearity = frames["linearity"]
    rows = build(linearity)
    return readings_frame(
        [
            *regressions(frames["regression"], rows, settings),
            *probes(linearity, build, settings),
            *fragmentation(frames, len(rows.rows)),
            *scoring(answers),
            *printed_cells(frames["accuracy"], settings),
            *judge_agreement(frames["judge_agreement"]),
        ]
    )


# ---- the regression ------------------------------------------------------------------------------


def regressions(
    regression: pd.DataFrame, frame: AnalysisFrame, settings: Settings
) -> list[Reading]:
    """Every term of the main model, crossed and nested, on the same rows."""
    n = len(frame.rows)
    out = [
        *from_file(regression, "main", "crossed", n),
        *from_file(regression, "main", "permutation", n, p="p_permutation"),
        *from_file(regression, "seed_question", "crossed_cells", n),
    ]
    terms = [term for term in Specification("main").terms if term != INTERCEPT]
    for reading, fit in (("nested", nested), ("nested_question", nested_in_question)):
        try:
            out += fit(frame, settings)
        except (DataError, MixedModelError) as error:
            flag = getattr(error, "flag", MISSING)
            out += [Reading("regression", reading, term, flag=flag) for term in terms]
    order = {term: place for place, term in enumerate(terms)}
    return sorted(out, key=lambda each: order[each.quantity])


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows of a frame with plain keys."""
    return [{str(k): v for k, v in row.items()} for row in frame.to_dict("records")]


def from_file(
    regression: pd.DataFrame, fit: str, reading: str, n: int = 0, p: str = "p"
) -> Iterator[Reading]:
    """The terms of a fit in regression.csv; `n` answers."""
    for row in records(regression[regression["fit"] == fit]):
        if row["term"] == INTERCEPT:
            continue
        tested = not math.isnan(row["se"])
        yield Reading(
            "regression",
            reading,
            row["term"],
            value=row["estimate"],
            low=row["low"] if p == "p" else NAN,
            high=row["high"] if p == "p" else NAN,
            p=row[p],
            n=n,
            flag="" if tested else FEW_LEVELS if not math.isnan(row["estimate"]) else MISSING,
        )


def design_of(frame: AnalysisFrame) -> pd.DataFrame:
    """The fixed effects of the main model; MixedModelError where a predictor does not vary."""
    predictors = list(Specification("main").predictors)
    if frame.rows.empty:
        raise MixedModelError("no scored answer of a model with mDFR and linearity", MISSING)
    if constant := [name for name in predictors if name in frame.constant]:
        raise MixedModelError(f"{', '.join(constant)}: no variation between cells", CONSTANT)
    return factorial_design(frame.rows, predictors)


def nested(frame: AnalysisFrame, settings: Settings) -> Iterator[Reading]:
    """The released model: the model's effect drawn anew in every question, and nothing else.

    With one answer a question and model this is least squares with independent rows. (The released
    script gets its standard errors from a singular Hessian: they are smaller still.)
    """
    found = independent_rows(frame.rows["correct"], design_of(frame), settings.level)
    for j, term in enumerate(found.terms):
        if term != INTERCEPT:
            yield Reading(
                "regression",
                "nested",
                term,
                value=float(found.estimates[j]),
                low=float(found.low[j]),
                high=float(found.high[j]),
                p=float(found.p[j]),
                n=len(frame.rows),
            )


def nested_in_question(frame: AnalysisFrame, settings: Settings) -> Iterator[Reading]:
    """The same with an intercept of the question: the model's effect goes to the residual."""
    design = design_of(frame)
    fit = fit_linear_mixed(frame.rows["correct"], design, {"question": frame.rows["item_id"]})
    if not fit.converged:
        raise MixedModelError("the optimiser did not reach an optimum", NOT_CONVERGED)
    low, high = fit.interval(settings.level)
    for j, term in enumerate(fit.terms):
        if term != INTERCEPT:
            yield Reading(
                "regression",
                "nested_question",
                term,
                value=float(fit.estimates[j]),
                low=float(low[j]),
                high=float(high[j]),
                p=float(fit.p[j]),
                n=len(frame.rows),
            )


# ---- probes --------------------------------------------------------------------------------------


def probes(
    linearity: pd.DataFrame, build: Callable[[pd.DataFrame], AnalysisFrame], settings: Settings
) -> Iterator[Reading]:
    """R² of the year by model, and the crossed coefficient of linearity, in every reading of R²."""
    for model, group in linearity.groupby("model", sort=True):
        for reading, column in PROBES.items():
            values = group[column].dropna()
            yield Reading(
                "probe",
                reading,
                "year_r2",
                str(model),
                float(values.mean()) if len(values) else NAN,
                n=len(values),
                flag="" if len(values) else MISSING,
            )
    for reading, column in PROBES.items():
        yield crossed_linearity(build(linearity.assign(r2_cv=linearity[column])), reading, settings)


def crossed_linearity(frame: AnalysisFrame, reading: str, settings: Settings) -> Reading:
    """The coefficient of linearity in the crossed model, with this reading as the predictor."""
    key: dict[str, Any] = {"question": "probe", "reading": reading, "quantity": "linearity_z"}
    rows = frame.rows
    try:
        groups = {"question": rows["item_id"], "model": rows["model"]}
        fit = fit_linear_mixed(rows["correct"], design_of(frame), groups)
    except MixedModelError as error:
        return Reading(**key, n=len(rows), flag=error.flag)
    if not fit.converged:
        return Reading(**key, n=len(rows), flag=NOT_CONVERGED)
    place = fit.terms.index("linearity_z")
    value = float(fit.estimates[place])
    if rows["model"].nunique() < ENOUGH_MODELS:
        return Reading(**key, value=value, n=len(rows), flag=FEW_LEVELS)
    low, high = (float(bound[place]) for bound in fit.interval(settings.level))
    return Reading(**key, value=value, low=low, high=high, p=float(fit.p[place]), n=len(rows))


# ---- fragmentation -------------------------------------------------------------------------------


#: Columns of the statistics by reading of mDFR.
FORMULAS = {"eq1": "mdfr", "released": "mdfr_as_published"}


def fragmentation(frames: Frames, n: int) -> Iterator[Reading]:
    """mDFR by Equation 1 and by the released formula, and what follows from each; `n` answers of
    the regression."""
    yield from mean_fragmentation(frames["mdfr"])
    for row in records(frames["metric_correlation"]):
        for reading, column in FORMULAS.items():
            if row["metric"] == column:
                yield from_row("human", reading, row, scope="", value="spearman", n="n")
    for row in records(frames["correlations"]):
        for reading, column in FORMULAS.items():
            if row["task"] == ALL and row["predictor"] == column:
                yield from_row(
                    "accuracy_r", reading, row, scope=row["language"], value="pearson", n="models"
                )
    for reading, fit in (("eq1", "main"), ("released", "as_published")):
        for each in from_file(frames["regression"], fit, reading, n):
            if each.quantity in ("mdfr_z", "mdfr_as_published_z"):
                yield replace(each, question="fragmentation", quantity="slope")


def mean_fragmentation(mdfr: pd.DataFrame) -> Iterator[Reading]:
    """Mean mDFR of a language over models, calendars and dates, in both formulas."""
    for language, group in mdfr[mdfr["mdfr"].notna()].groupby("language", sort=True):
        dates = int(group["dates"].sum())
        for reading, column in FORMULAS.items():
            mean = float((group[column] * group["dates"]).sum()) / dates
            yield Reading("fragmentation", reading, "mdfr", str(language), mean, n=dates)


def from_row(
    quantity: str, reading: str, row: Mapping[str, Any], *, scope: str, value: str, n: str
) -> Reading:
    """A row of a statistics file with an interval as a reading of mDFR."""
    return Reading(
        "fragmentation",
        reading,
        quantity,
        scope,
        float(row[value]),
        float(row["low"]),
        float(row["high"]),
        n=int(row[n]),
        flag=_text(row["flag"]),
    )


# ---- scoring -------------------------------------------------------------------------------------


def spellings(item: Item) -> list[str]:
    """Every string that the item accepts as right, the answer first."""
    gold = item.gold
    return [
        str(text) for text in dict.fromkeys((gold["answer"], *gold["accepted"], *gold["aliases"]))
    ]


def contained(reply: str, golds: Iterable[str]) -> bool:
    """Whether a gold string stands in a reply, or every one of its words of three letters or more.

    The released scoring of the regression: capitals do not matter, and neither do digits or words
    before and behind what is found.
    """
    text = reply.casefold()
    for gold in golds:
        words = [word for word in gold.casefold().split() if len(word) > SHORT_WORD]
        if gold.casefold() in text or (words and all(word in text for word in words)):
            return True
    return False


def substring_answers(
    scores: pd.DataFrame, items: Iterable[Item], responses: Iterable[Response]
) -> pd.DataFrame:
    """The scored answers with `contained` beside `correct`; DataError for one without a reply.

    `scores`: columns of scores.parquet, of the models whose responses are given.
    """
    golds = {item.item_id: spellings(item) for item in items}
    found = {
        (row.request_id, row.model, row.mode): contained(row.text or "", golds[row.item_id])
        for row in responses
    }
    rows = scores[scores["correct"].notna()]
    keys = list(zip(rows["request_id"], rows["model"], rows["mode"], strict=True))
    if lost := [key for key in keys if key not in found]:
        raise DataError(f"scores: no response to request {lost[0][0]}; score the responses again")
    columns = rows[["model", "mode", "language", "task"]]
    return columns.assign(
        judged=rows["correct"].astype(float), contained=[float(found[key]) for key in keys]
    )


def scoring(answers: pd.DataFrame) -> Iterator[Reading]:
    """Accuracy by the judge and by substring: mean over languages of the mean over tasks."""
    for (model, mode), group in answers.groupby(["model", "mode"], sort=True):
        cells = group.groupby(["language", "task"])[["judged", "contained"]].mean()
        means = cells.groupby("language").mean().mean()
        for reading, column in (("judge", "judged"), ("substring", "contained")):
            value = float(means[column])
            yield Reading("scoring", reading, "accuracy", f"{model}|{mode}", value, n=len(group))


# ---- what is printed -----------------------------------------------------------------------------


def printed_cells(accuracy: pd.DataFrame, settings: Settings) -> Iterator[Reading]:
    """How many cells of table 3 print another percentage when rounded early, or cut off."""
    cells = accuracy[
        accuracy["model"].isin(list(settings.models))
        & (accuracy["format"] == ALL)
        & (accuracy["language"] != ALL)
        & accuracy["accuracy"].notna()
    ]
    single = cells[cells["task"] != ALL]
    means = single.groupby(["model", "mode", "language"])["accuracy"]
    exact = 100 * means.mean()
    whole = (
        (100 * single["accuracy"])
        .round()
        .groupby([single["model"], single["mode"], single["language"]])
        .mean()
    )
    shown = [f"{value:.1f}" for value in exact]
    printed = {
        "rounded": shown,
        "thirds": [f"{value:.1f}" for value in whole.reindex(exact.index)],
        "cut": [f"{math.floor(10 * value + 1e-9) / 10:.1f}" for value in exact],
    }
    for reading, other in printed.items():
        moved = sum(a != b for a, b in zip(shown, other, strict=True))
        yield Reading("printed_cells", reading, "moved", value=float(moved), n=len(shown))


def judge_agreement(agreement: pd.DataFrame) -> Iterator[Reading]:
    """Agreement of two judges, corrected for chance and not."""
    for row in records(agreement):
        key: dict[str, Any] = {
            "question": "judge_agreement",
            "quantity": "agreement",
            "scope": f"{row['judge_a']}|{row['judge_b']}",
            "n": int(row["n"]),
            "flag": _text(row["flag"]),
        }
        yield Reading(
            **key,
            reading="kappa",
            value=row["kappa"],
            low=row["kappa_low"],
            high=row["kappa_high"],
        )
        yield Reading(**key, reading="share", value=row["agreement"])


def _text(value: object) -> str:
    return "" if pd.isna(value) else str(value)  # type: ignore[call-overload]
