"""Tables of the mechanism: probes, correlations with accuracy, and the crossed regression."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from scripts.files import parse_json
from scripts.multitempbench import wording
from scripts.multitempbench.correlations import PREDICTORS
from scripts.multitempbench.tasks import TASKS
from scripts.multitempbench.wording import ALL, PREDICTOR_LABELS, language_name
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
    absent,
    bracket,
    decimal,
    is_missing,
    number,
    p_value,
)

NOT_PROBED = "hidden states are not read in this run"
NO_TEST = "no such test for this term"
NO_ODDS = "a linear model has no odds ratio"
FEW_TOKENISERS = "no jackknife: fewer than three tokenisers, or no correlation without one of them"


def two(value: float) -> str:
    """Two decimals."""
    return decimal(value, 2)


def three(value: float) -> str:
    """Three decimals."""
    return decimal(value, 3)


# ---- probes ------------------------------------------------------------------------------------

PROBE_COLUMNS = (
    Column("r2_cv", "Overall", "Cross-validated R²", "r"),
    Column("year_r2", "Year", "Cross-validated R²", "r"),
    Column("month_r2", "Month", "Cross-validated R²", "r"),
    Column("day_r2", "Day", "Cross-validated R²", "r"),
    Column("null_r2", "Permuted", "Controls", "r"),
    Column("random_r2", "Random", "Controls", "r"),
    Column("r2_line", "Line", "Straightness", "r"),
    Column("r2_released", "Released", "Straightness", "r"),
    Column("r2_in_sample", "In sample", "Caution", "r"),
)


def probes(frames: Frames, context: Context) -> Table:
    """Linearity by model and language, with its controls and the reading that proves nothing."""
    lookup = Lookup("linearity", frames["linearity"], ("model", "language"))
    probed = {str(name) for name in frames["linearity"]["model"]}
    rows = []
    for model in context.models:
        if model.key not in probed:
            continue
        for index, language in enumerate(wording.languages(context)):
            row = lookup.get(model.key, language)
            reason = why_flagged(row)
            layer = value_of(row, "layer_name")
            cells = (
                absent(reason) if is_missing(layer) else Cell(str(layer), str(layer)),
                *(number(value_of(row, c.key), two, reason=reason) for c in PROBE_COLUMNS),
            )
            stub = (model.label, language_name(language))
            rows.append(Row(stub, cells, repeated=index > 0))
    chosen = sorted({str(v) for v in frames["linearity"]["chosen_on"].dropna()})
    return Table(
        "probes",
        caption(
            context,
            "Linear probes on hidden states at the chosen layer of each model and language"
            + (f", chosen on the format {captions.join_words(chosen)}" if chosen else "")
            + ", evaluated on the other formats.",
        ),
        ("Model", "Language"),
        (Column("layer_name", "Layer", align="l"), *PROBE_COLUMNS),
        tuple(rows),
        (
            "Overall: mean of year, month and day. Permuted: the same probe on shuffled labels; "
            "random: on random states; both must be near zero or below.",
            "Line: share of the states' variance that a straight line over the years explains; "
            "released: the same averaged over dimensions, as the authors' script does.",
            "In sample: Equation 5 as written, without held-out data. It is 1 for noise too where "
            "a state has more dimensions than there are years: no evidence of anything.",
        ),
        layout="long" if len(rows) > 36 else "portrait",
        size="scriptsize",
        short_caption="Linear probes on hidden states",
    )


# ---- correlations ------------------------------------------------------------------------------


def correlations(frames: Frames, context: Context) -> Table:
    """Pearson's r of accuracy with every predictor, by language and task, with two intervals."""
    lookup = Lookup("correlations", frames["correlations"], ("predictor", "task", "language"))
    tasks = [*context.tasks, ALL]
    rows = []
    for predictor in PREDICTORS:
        for language in wording.languages(context):
            found = [lookup.get(predictor, task, language) for task in tasks]
            cells = [cell for row in found for cell in _correlation_cells(row)]
            name = f"{language_name(language)} ({_cluster_words(found)})"
            block = f"{PREDICTOR_LABELS[predictor]} and accuracy"
            rows.append(Row((name,), tuple(cells), block))
    columns = []
    for task in tasks:
        title = "All tasks" if task == ALL else TASKS[task].label
        columns += [Column(f"{task}.pearson", "r", title), Column(f"{task}.jackknife", "J", title)]
    return Table(
        "correlations",
        caption(
            context,
            "Correlation over models (Pearson's r) between accuracy and fragmentation or "
            "linearity, by language and task. In brackets after a language: number of models / "
            "of distinct tokenisers.",
        ),
        ("Language",),
        tuple(columns),
        tuple(rows),
        (
            f"Below r: {captions.level_words(context)} percentile bootstrap over models "
            f"({captions.count(context.resamples)} resamples, seed {context.seed}). J: jackknife "
            "interval that leaves out all models of one tokeniser at a time. The CSV file has "
            "Spearman's ρ and the paper's r.",
            wording.PUBLISHED_WORDS,
            wording.LINEARITY_WORDS,
        ),
        layout="long",
        size="scriptsize",
        short_caption="Accuracy against fragmentation and linearity",
    )


def _correlation_cells(row: Mapping[str, Any] | None) -> tuple[Cell, Cell]:
    reason = why_flagged(row)
    value = number(
        value_of(row, "pearson"),
        two,
        low=value_of(row, "low"),
        high=value_of(row, "high"),
        reason=reason,
        extra=tuple(
            (k, value_of(row, k)) for k in ("spearman", "published", "models", "tokenisers")
        ),
    )
    low, high = value_of(row, "jackknife_low"), value_of(row, "jackknife_high")
    bounds = (("low", low), ("high", high))
    if is_missing(low) or is_missing(high):
        why = reason if value.missing else FEW_TOKENISERS
        return value, Cell(missing=why, extra=bounds)
    text = bracket(float(low), float(high), two)
    return value, Cell(text, text, extra=bounds)


def _cluster_words(rows: list[dict[str, Any] | None]) -> str:
    found = [row for row in rows if row is not None]
    models = captions.between(int(row["models"]) for row in found)
    return f"{models}/{captions.between(int(row['tokenisers']) for row in found)}"


# ---- regression --------------------------------------------------------------------------------

INTERCEPT = "(Intercept)"
TERM_WORDS = {
    INTERCEPT: "intercept",
    "mdfr_z": "mDFR",
    "mdfr_as_published_z": "mDFR as published",
    "linearity_z": "linearity",
    "log_corpus": "log corpus size",
}
FIT_LABELS = {
    "main": "Main",
    "main_ml": "Main by maximum likelihood",
    "seed_question": "With seed question and model × language",
    "log_corpus": "Corpus size in place of the resource level",
    "as_published": "mDFR as published",
    "logistic": "Crossed logistic",
}
# Fitted only to test the three-way term; their estimates repeat those of the main fit.
NOT_PRINTED = ("main_ml", "no_three_way")
LEAVE_OUT = "leave_out_"
LEAVE_OUT_BLOCK = "Three-way term, one language left out"


def term_words(term: object) -> str:
    """A term of the regression in words: `mDFR × resource`."""
    return " × ".join(TERM_WORDS.get(part, part.replace("_", " ")) for part in str(term).split(":"))


def fit_words(name: object, row: Mapping[str, Any] | None) -> str:
    """The name of a fit with its method."""
    words = FIT_LABELS.get(str(name), str(name).replace("_", " "))
    return words if row is None else f"{words} ({row['method']})"


def why_untested(fit: Mapping[str, Any] | None, flag: str, otherwise: str) -> str:
    """Why a fit has no standard error, test or estimate: its flag or reason, else `otherwise`."""
    if fit is None:
        return captions.NOT_EVALUATED
    flags = "" if is_missing(fit.get("flag")) else str(fit["flag"])
    if flag in flags.split(";"):
        return captions.FLAGS[flag]
    reason = fit.get("reason")
    if not is_missing(reason) and str(reason):
        return f"not estimated: {reason}"
    if "few_levels" in flags.split(";"):
        return captions.FLAGS["few_levels"]
    return otherwise


def _effect_cells(row: Mapping[str, Any], fit: Mapping[str, Any] | None) -> tuple[Cell, ...]:
    lost = why_untested(fit, "few_levels", captions.NOT_ESTIMATED)
    clustered = why_untested(fit, "few_clusters", NO_TEST)
    permuted = why_untested(fit, "few_permutations", NO_TEST)
    return (
        number(row["estimate"], three, low=row["low"], high=row["high"], reason=lost),
        number(row["se"], three, reason=lost),
        number(row["z"], two, reason=lost),
        number(row["p"], p_value, reason=lost),
        number(row["se_cluster"], three, reason=clustered),
        number(row["p_cluster"], p_value, reason=clustered),
        number(row["p_permutation"], p_value, reason=permuted),
        number(row["odds_ratio"], two, reason=NO_ODDS),
    )


def regression(frames: Frames, context: Context) -> Table:
    """The crossed mixed-effects regression: fixed effects of every fit, three ways of testing."""
    table = frames["regression"]
    check_columns("regression", table, ("fit", "term", "estimate", "se", "p_permutation"))
    fits = Lookup("regression_fits", frames["regression_fits"], ("fit",))
    rows, left_out = [], []
    for row in rows_of(table):
        name, term = str(row["fit"]), str(row["term"])
        fit = fits.get(name)
        if name.startswith(LEAVE_OUT) and term.count(":") == 2:
            stub = f"without {language_name(name.removeprefix(LEAVE_OUT))}"
            left_out.append(Row((stub,), _effect_cells(row, fit), LEAVE_OUT_BLOCK))
        elif not name.startswith(LEAVE_OUT) and name not in NOT_PRINTED:
            rows.append(Row((term_words(term),), _effect_cells(row, fit), fit_words(name, fit)))
    variances = rows_of(frames["regression_variances"])
    notes = [
        "Outcome: whether a reply is right. mDFR and linearity are z-scored over cells; resource "
        "is −0.5 (low) or +0.5 (high). Below β: its interval from the model's SE.",
        "Clustered: two-way cluster-robust over seed questions and models. Permutation: p of "
        "shuffling mDFR over tokenisers, within each language, and linearity over models"
        + _permutations(context)
        + ". The predictors have few distinct values behind many rows.",
        *_fit_notes(rows_of(frames["regression_fits"]), variances),
        *_left_out_note(frames["regression_fits"], context),
    ]
    return Table(
        "regression",
        caption(
            context,
            "Crossed mixed-effects regressions of being right on date fragmentation, temporal "
            "linearity and the resource level of the language.",
        ),
        ("Term",),
        (
            Column("estimate", "β", "Model"),
            Column("se", "SE", "Model", "r"),
            Column("z", "z", "Model", "r"),
            Column("p", "p", "Model", "r"),
            Column("se_cluster", "SE", "Clustered", "r"),
            Column("p_cluster", "p", "Clustered", "r"),
            Column("p_permutation", "p", "Permutation", "r"),
            Column("odds_ratio", "OR", "", "r"),
        ),
        (*rows, *left_out),
        tuple(notes),
        layout="long" if len(rows) + len(left_out) > 24 else "portrait",
        size="scriptsize",
        short_caption="Crossed mixed-effects regressions",
    )


def _left_out_note(frame: pd.DataFrame, context: Context) -> list[str]:
    """The models that could take no part, by reason, from the first fit."""
    if frame.empty or "left_out" not in frame.columns or is_missing(frame["left_out"].iloc[0]):
        return []
    found = parse_json(str(frame["left_out"].iloc[0]))
    parts = [f"{context.label(model)} ({reason})" for model, reason in sorted(found.items())]
    return [f"Left out: {', '.join(parts)}."] if parts else []


def _permutations(context: Context) -> str:
    count = context.options.get("permutations")
    return f" ({captions.count(int(count))} permutations)" if count else ""


RESIDUAL = "Residual"
COUNTS = (
    ("questions", "item"),
    ("seed_questions", "seed question"),
    ("models", "model"),
    ("tokeniser_languages", "tokeniser-language pair"),
    ("model_languages", "model-language pair"),
)


def _fit_notes(fits: list[dict[str, Any]], variances: list[dict[str, Any]]) -> list[str]:
    """One note a printed fit; the sizes are said once for all fits that share them."""
    notes, said = [], ""
    for fit in fits:
        name = str(fit["fit"])
        if name == "no_three_way" or name.startswith(LEAVE_OUT):
            continue
        sizes = _sizes(fit)
        notes.append(_fit_note(fit, variances, "" if sizes == said else sizes))
        said = sizes
    return notes


def _sizes(fit: Mapping[str, Any]) -> str:
    """What the N of a fit rests on."""
    sizes = [f"N = {captions.count(int(fit['n']))}"] if not is_missing(fit["n"]) else []
    sizes += [captions.counted(int(fit[k]), w) for k, w in COUNTS if not is_missing(fit[k])]
    return ", ".join(sizes)


def _fit_note(fit: Mapping[str, Any], variances: list[dict[str, Any]], sizes: str) -> str:
    """The sizes, variances and the likelihood-ratio test of a fit in one sentence."""
    spread = [
        f"{str(row['group']).replace('_', ' ')} {three(float(row['sd']))}"
        for row in variances
        if row["fit"] == fit["fit"] and row["group"] != RESIDUAL and not is_missing(row["sd"])
    ]
    if not is_missing(fit["residual_sd"]):
        spread.append(f"residual {three(float(fit['residual_sd']))}")
    parts = [sizes] * bool(sizes)
    parts += [f"SD of {', '.join(spread)}"] * bool(spread)
    if not is_missing(fit["log_likelihood"]):
        parts.append(f"log-likelihood {decimal(float(fit['log_likelihood']), 1)}")
    if not is_missing(fit["lrt_chi2"]):
        parts.append(
            f"likelihood-ratio test of the three-way term χ²({int(fit['lrt_df'])}) = "
            f"{two(float(fit['lrt_chi2']))}, p = {p_value(float(fit['lrt_p']))}"
        )
    if not is_missing(fit["flag"]) and str(fit["flag"]):
        parts.append("; ".join(captions.FLAGS.get(f, f) for f in str(fit["flag"]).split(";")))
    words = FIT_LABELS.get(str(fit["fit"]), str(fit["fit"]).replace("_", " "))
    return f"{words}: {'; '.join(parts)}."


def regression_slopes(frames: Frames, context: Context) -> Table:
    """Simple slopes by resource level, with delta-method standard errors."""
    frame = frames["regression_slopes"]
    check_columns("regression_slopes", frame, ("fit", "predictor", "resource", "slope", "se"))
    fits = Lookup("regression_fits", frames["regression_fits"], ("fit",))
    rows = []
    for row in rows_of(frame):
        name = str(row["fit"])
        if name in NOT_PRINTED or name.startswith(LEAVE_OUT):
            continue
        fit = fits.get(name)
        lost = why_untested(fit, "few_levels", captions.NOT_ESTIMATED)
        stub = (term_words(row["predictor"]), str(row["resource"]))
        cells = (
            number(row["slope"], three, low=row["low"], high=row["high"], reason=lost),
            number(row["se"], three, reason=lost),
            number(row["z"], two, reason=lost),
            number(row["p"], p_value, reason=lost),
        )
        rows.append(Row(stub, cells, fit_words(name, fit)))
    return Table(
        "regression_slopes",
        caption(
            context,
            "Simple slopes of the regressions: the effect of one standard deviation of a "
            "predictor at low and high resource level, the other predictor at its mean.",
        ),
        ("Predictor", "Resource"),
        (
            Column("slope", "Slope"),
            Column("se", "SE", align="r"),
            Column("z", "z", align="r"),
            Column("p", "p", align="r"),
        ),
        tuple(rows),
        (
            "Standard errors by the delta method from the covariance of the fixed effects of the "
            "same fit.",
        ),
        stacked=False,
        short_caption="Simple slopes by resource level",
    )
