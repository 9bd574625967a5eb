"""The crossed regression of MultiTempBench, its robustness rows, and the four CSVs.

    correct ~ mdfr_z * linearity_z * resource + (1|question) + (1|model)

The question factor is the *item*, as in the paper; the variants of one question are tied together
by the seed question in the fit `seed_question`, and by the clusters of the robust standard errors
everywhere. Every fit uses the z-scores of the whole frame (regression_rows.py). The simple slopes
are those at the other predictor's mean; those of `log_corpus` at the mean corpus of the low- and
the high-resource languages.

What cannot be estimated (a constant response, collinear predictors, one model) has empty values,
a flag and a reason, and the other fits go on. With fewer than five models nothing is tested.
Paper: section 6.4; the authors' script nests the model in the question, see docs/statistics.md.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from scripts.multitempbench.permutations import Predictors, cell_design, permutation_p
from scripts.multitempbench.regression_rows import (
    FRAGMENTATION,
    HALF,
    AnalysisFrame,
    Settings,
)
from scripts.statistics.cluster import cluster_robust
from scripts.statistics.flags import (
    CONSTANT,
    FEW_CLUSTERS,
    FEW_LEVELS,
    FEW_PERMUTATIONS,
    MISSING,
    NOT_CONVERGED,
    SINGULAR,
    join_flags,
)
from scripts.statistics.grouping import MixedModelError
from scripts.statistics.mixed import (
    MixedFit,
    Prepared,
    factorial_design,
    fit_prepared,
    influence,
    likelihood_ratio,
    prepare,
    simple_slope,
)
from scripts.statistics.mixed_logistic import fit_logistic_mixed

NAN = float("nan")
RESIDUAL = "Residual"
#: Fewer models than this leave a fit without standard errors, tests and model variances: they would
#: rest on a variance estimated from almost nothing. The estimates stand, as a description.
ENOUGH_MODELS = 5
NO_OPTIMUM = "the optimiser did not reach an optimum"

TERM_COLUMNS = (
    *("fit", "term", "estimate", "se", "z", "p", "low", "high", "se_cluster", "p_cluster"),
    *("p_permutation", "odds_ratio"),
)
FIT_COLUMNS = (
    *("fit", "method", "predictor", "n", "questions", "seed_questions", "models", "tokenisers"),
    *("tokeniser_languages", "model_languages", "unscored", "left_out", "log_likelihood"),
    *("residual_sd", "lrt_chi2", "lrt_df", "lrt_p", "converged", "reason", "flag"),
)
VARIANCE_COLUMNS = ("fit", "group", "variance", "sd", "levels")
SLOPE_COLUMNS = ("fit", "predictor", "resource", "slope", "se", "z", "p", "low", "high")

#: Grouping factors by name, and the column of the frame that holds each.
GROUPS = {
    "question": "item_id",
    "seed_question": "question_id",
    "model": "model",
    "model_language": "model_language",
}


@dataclass(frozen=True, slots=True)
class Specification:
    """One fit: method, mDFR profile, moderator, grouping factors, and rows that are left out."""

    name: str
    method: str = "REML"
    predictor: str = "mdfr"
    moderator: str = "resource"
    groups: tuple[str, ...] = ("question", "model")
    three_way: bool = True
    leave_out: str = ""

    @property
    def predictors(self) -> Predictors:
        """Columns of the predictors."""
        return Predictors(FRAGMENTATION[self.predictor], "linearity_z", self.moderator)

    @property
    def terms(self) -> list[str]:
        """Names of the fixed effects."""
        empty = pd.DataFrame({name: pd.Series(dtype=float) for name in self.predictors})
        names = list(factorial_design(empty, list(self.predictors)).columns)
        return names if self.three_way else names[:-1]


def specifications(languages: Sequence[str]) -> list[Specification]:
    """All fits, in the order of the files."""
    return [
        Specification("main"),
        Specification("main_ml", method="ML"),
        Specification("no_three_way", method="ML", three_way=False),
        Specification(
            "seed_question", groups=("question", "seed_question", "model", "model_language")
        ),
        Specification("log_corpus", moderator="log_corpus"),
        Specification("as_published", predictor="mdfr_as_published"),
        Specification("logistic", method="Laplace"),
        *(Specification(f"leave_out_{name}", leave_out=name) for name in languages),
    ]


class Outcome(NamedTuple):
    """A fit, or the flag that says why there is none, with its robust values by term."""

    specification: Specification
    rows: pd.DataFrame
    fit: MixedFit | None
    flags: tuple[str, ...]
    se_cluster: Mapping[str, float] = MappingProxyType({})
    p_cluster: Mapping[str, float] = MappingProxyType({})
    p_permutation: Mapping[str, float] = MappingProxyType({})
    message: str = ""

    @property
    def tested(self) -> bool:
        """True if there are enough models for standard errors and tests."""
        return self.fit is not None and FEW_LEVELS not in self.flags


def fit_specification(
    frame: AnalysisFrame, specification: Specification, settings: Settings
) -> Outcome:
    """Fit one specification; whatever makes it impossible becomes a flag and a message."""
    rows = frame.rows[frame.rows["language"] != specification.leave_out]
    rows = rows.reset_index(drop=True)
    try:
        _check_estimable(frame, rows, specification)
        design = factorial_design(rows, list(specification.predictors))[specification.terms]
        groups = {name: rows[GROUPS[name]] for name in specification.groups}
        models = rows["model"].nunique()
        if specification.method == "Laplace":
            fit = fit_logistic_mixed(rows["correct"], design, groups)
            found, flags = _judged(fit, models)
            return Outcome(specification, rows, found, flags, message="" if found else NO_OPTIMUM)
        model = prepare(rows["correct"], design, groups)
        fit = fit_prepared(model, "REML" if specification.method == "REML" else "ML")
    except MixedModelError as error:
        return Outcome(specification, rows, None, (error.flag,), message=str(error))
    found, flags = _judged(fit, models)
    if found is None or FEW_LEVELS in flags:
        return Outcome(specification, rows, found, flags, message="" if found else NO_OPTIMUM)
    estimated = Estimated(rows, model, fit)
    errors, p, few_clusters = _robust(estimated)
    permuted, few = _permuted(frame, specification, estimated, settings)
    return Outcome(specification, rows, fit, (*flags, *few_clusters, *few), errors, p, permuted)


def _check_estimable(
    frame: AnalysisFrame, rows: pd.DataFrame, specification: Specification
) -> None:
    if rows.empty:
        raise MixedModelError("no scored answer of a model with mDFR and linearity", MISSING)
    used = [name for name in specification.predictors if name in frame.constant]
    if used:
        raise MixedModelError(f"{', '.join(used)}: no variation between cells", CONSTANT)


def _judged(fit: MixedFit, models: int) -> tuple[MixedFit | None, tuple[str, ...]]:
    """The fit and its flags; no fit where it did not converge."""
    if not fit.converged:
        return None, (NOT_CONVERGED,)
    few = models < ENOUGH_MODELS
    return fit, (*([SINGULAR] if fit.singular else []), *([FEW_LEVELS] if few else []))


class Estimated(NamedTuple):
    """A linear fit with the rows and cross-products that it comes from."""

    rows: pd.DataFrame
    model: Prepared
    fit: MixedFit


def _robust(found: Estimated) -> tuple[dict[str, float], dict[str, float], tuple[str, ...]]:
    """Two-way cluster-robust SE and p over seed questions and models."""
    rows, model, fit = found
    clusters = [pd.factorize(rows[name])[0] for name in ("question_id", "model")]
    robust = cluster_robust(influence(model, fit), fit.estimates, clusters)
    flags = () if robust.estimable else (FEW_CLUSTERS,)
    return (
        dict(zip(fit.terms, robust.standard_errors.tolist(), strict=True)),
        dict(zip(fit.terms, robust.p.tolist(), strict=True)),
        flags,
    )


def _permuted(
    frame: AnalysisFrame, specification: Specification, found: Estimated, settings: Settings
) -> tuple[dict[str, float], tuple[str, ...]]:
    """Permutation p by term of a REML fit; empty where too few permutations exist."""
    if specification.method != "REML":
        return {}, ()
    rows, model, fit = found
    predictors = specification.predictors
    present = set(rows["tokeniser"])
    profile = frame.values[specification.predictor]
    values = {name: series for name, series in profile.items() if name in present}
    design = cell_design(rows, values, predictors, model, fit)
    kinds = [predictors.kind(term) for term in fit.terms]
    enough = [
        kind if kind and design.arrangements(kind) >= 1 / settings.alpha else None for kind in kinds
    ]
    p = permutation_p(design, enough, settings.permutations, settings.seed, specification.name)
    flags = (FEW_PERMUTATIONS,) if enough != kinds else ()
    return dict(zip(fit.terms, p.tolist(), strict=True)), flags


def compute_frames(frame: AnalysisFrame, settings: Settings) -> dict[str, pd.DataFrame]:
    """All fits as the frames regression, regression_fits, regression_variances,
    regression_slopes (docs/architecture.md)."""
    outcomes = {
        specification.name: fit_specification(frame, specification, settings)
        for specification in specifications(list(settings.languages))
    }
    fits = [_fit_row(frame, outcome) | _test(outcome, outcomes) for outcome in outcomes.values()]
    terms = [row for outcome in outcomes.values() for row in _term_rows(outcome, settings)]
    variances = [row for outcome in outcomes.values() for row in _variance_rows(outcome)]
    slopes = [row for outcome in outcomes.values() for row in _slope_rows(outcome, settings)]
    return {
        "regression": pd.DataFrame(terms, columns=list(TERM_COLUMNS)),
        "regression_fits": pd.DataFrame(fits, columns=list(FIT_COLUMNS)).astype(
            {"lrt_df": "Int64"}
        ),
        "regression_variances": pd.DataFrame(variances, columns=list(VARIANCE_COLUMNS)),
        "regression_slopes": pd.DataFrame(slopes, columns=list(SLOPE_COLUMNS)),
    }


def summary(frames: Mapping[str, pd.DataFrame]) -> str:
    """One line a fit for the log: what its N rests on, and its flags."""
    return "\n".join(
        f"{row['fit']}: N = {row['n']} answers of {row['models']} models to {row['questions']} "
        f"items ({row['seed_questions']} seed questions); predictors vary over "
        f"{row['tokeniser_languages']} tokeniser x language and {row['model_languages']} model x "
        f"language cells; {row['unscored']} unscored; left out {row['left_out']}"
        + (f" [{row['flag']}] {row['reason']}".rstrip() if row["flag"] else "")
        for row in frames["regression_fits"].to_dict("records")
    )


def _fit_row(frame: AnalysisFrame, outcome: Outcome) -> dict[str, Any]:
    """The row of one fit in regression_fits.csv, without its likelihood-ratio test."""
    specification, rows, fit = outcome.specification, outcome.rows, outcome.fit
    pairs = ["tokeniser", "language"]
    return {
        "fit": specification.name,
        "method": specification.method,
        "predictor": specification.predictor,
        "n": len(rows),
        "questions": rows["item_id"].nunique(),
        "seed_questions": rows["question_id"].nunique(),
        "models": rows["model"].nunique(),
        "tokenisers": rows["tokeniser"].nunique(),
        "tokeniser_languages": len(rows[pairs].drop_duplicates()),
        "model_languages": rows["model_language"].nunique(),
        "unscored": frame.unscored,
        "left_out": json.dumps(dict(frame.left_out), ensure_ascii=False, sort_keys=True),
        "log_likelihood": fit.log_likelihood if fit else NAN,
        "residual_sd": fit.residual_variance**0.5 if fit else NAN,
        "converged": bool(fit and fit.converged),
        "reason": outcome.message,
        "flag": join_flags(outcome.flags),
    }


def _test(outcome: Outcome, outcomes: Mapping[str, Outcome]) -> dict[str, Any]:
    """Likelihood-ratio test of the three-way term, in the row of the full ML fit."""
    full, reduced = outcomes["main_ml"], outcomes["no_three_way"]
    if outcome is not full or full.fit is None or reduced.fit is None or not full.tested:
        return {}
    test = likelihood_ratio(full.fit, reduced.fit)
    return {"lrt_chi2": test.chi2, "lrt_df": test.df, "lrt_p": test.p}


def _term_rows(outcome: Outcome, settings: Settings) -> list[dict[str, Any]]:
    fit, name = outcome.fit, outcome.specification.name
    if fit is None:
        return [{"fit": name, "term": term} for term in outcome.specification.terms]
    logistic = outcome.specification.method == "Laplace"
    columns: dict[str, Any] = {
        "estimate": fit.estimates,
        "odds_ratio": np.exp(fit.estimates) if logistic else np.full(len(fit.terms), NAN),
    }
    if outcome.tested:
        low, high = fit.interval(settings.level)
        columns |= {"se": fit.standard_errors, "z": fit.z, "p": fit.p, "low": low, "high": high}
    robust = {
        "se_cluster": outcome.se_cluster,
        "p_cluster": outcome.p_cluster,
        "p_permutation": outcome.p_permutation,
    }
    return [
        {
            "fit": name,
            "term": term,
            **{column: values[j] for column, values in columns.items()},
            **{column: found.get(term, NAN) for column, found in robust.items()},
        }
        for j, term in enumerate(fit.terms)
    ]


def _variance_rows(outcome: Outcome) -> list[dict[str, Any]]:
    specification, fit, rows = outcome.specification, outcome.fit, outcome.rows
    out = []
    for group in specification.groups:
        # Two models say next to nothing about how much models differ.
        known = outcome.tested or group not in ("model", "model_language")
        found = fit.component(group) if fit and known else None
        out.append(
            {
                "fit": specification.name,
                "group": group,
                "variance": found.variance if found else NAN,
                "sd": found.sd if found else NAN,
                "levels": rows[GROUPS[group]].nunique(),
            }
        )
    if specification.method != "Laplace":
        variance = fit.residual_variance if fit else NAN
        row = {"group": RESIDUAL, "variance": variance, "sd": variance**0.5, "levels": len(rows)}
        out.append({"fit": specification.name, **row})
    return out


def _slope_rows(outcome: Outcome, settings: Settings) -> list[dict[str, Any]]:
    """Slopes of both predictors at low and high resource, the other predictor at its mean."""
    specification, fit = outcome.specification, outcome.fit
    predictors = specification.predictors
    out: list[dict[str, Any]] = []
    for name in (predictors.fragmentation, predictors.linearity):
        for resource, half in HALF.items():
            row: dict[str, Any] = {
                "fit": specification.name,
                "predictor": name,
                "resource": resource,
            }
            rows = outcome.rows[outcome.rows["resource"] == half]
            if fit is not None and not rows.empty:
                at = float(rows.groupby("language")[predictors.moderator].first().mean())
                term = f"{name}:{predictors.moderator}"
                found = simple_slope(fit, name, term, at, settings.level)._asdict()
                row.update(found if outcome.tested else {"slope": found["slope"]})
            out.append(row)
    return out
