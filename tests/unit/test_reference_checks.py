"""Published figures of the three papers as input -> expected value, one case each.

`tests/data/checks_open.json` holds the cases; every kind has one handler below, and an unknown kind
fails.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scripts.dates import calendars
from scripts.files import read_json
from scripts.statistics import (
    agreement,
    bootstrap,
    contingency,
    council,
    effects,
    errors,
    multiplicity,
    paired,
    proportions,
    trends,
    wald,
)
from scripts.tokenisation import weights

CHECKS = read_json(Path(__file__).parents[1] / "data" / "checks_open.json")
RESAMPLES = 10_000


def rng(given: dict[str, Any]) -> np.random.Generator:
    return np.random.default_rng(given.get("seed", 42))


def value_or_null(value: float) -> float | str | None:
    if math.isnan(value):
        return None
    return "inf" if math.isinf(value) else float(value)


def ema_percent_format(g: dict[str, Any]) -> Any:
    return proportions.format_percent(g["k"], g["n"])


def combined_and_gap(g: dict[str, Any]) -> Any:
    n = g["n_per_condition"]
    gap = proportions.condition_gap(g["k_english"], n, g["k_random"], n)
    return {"combined": 100 * gap.combined, "gap": 100 * gap.gap}


def ema_bootstrap_ci(g: dict[str, Any]) -> Any:
    interval = bootstrap.proportion_interval(g["k"], g["n"], g["resamples"], rng(g), g["level"])
    return [100 * bound for bound in interval]


def macro_ema(g: dict[str, Any]) -> Any:
    return proportions.macro_mean(g["task_emas"])


def macro_ci(g: dict[str, Any]) -> Any:
    return list(bootstrap.macro_interval(g["task_emas"], RESAMPLES, rng(g)))


def chi2_english_random(g: dict[str, Any]) -> Any:
    n = g["n_per_condition"]
    found = contingency.association(g["k_english"], n, g["k_random"], n, yates_below=5)
    p = np.full(g["family"], 1.0)
    p[0] = found.p
    return {
        "chi2": float(found.chi2),
        "p": float(found.p),
        "cramers_v": float(found.cramers_v),
        "yates": bool(found.yates),
        "significant_bonferroni_197": bool(
            multiplicity.correct_family(p, g["alpha"]).significant[0]
        ),
    }


def kendall_tau_label(g: dict[str, Any]) -> Any:
    trend = trends.shot_trend(g["shots"], g["correct_counts"])
    return {"tau": value_or_null(trend.tau), "label": trend.label}


def kappa_binary(g: dict[str, Any]) -> Any:
    if "tp" in g:
        counts = agreement.BinaryCounts(g["tp"], g["fn"], g["fp"], g["tn"])
        return agreement.kappa_binary(counts).value
    positives = round(g["n"] * g["gold_balance"])
    gold = np.arange(g["n"]) < positives
    values = []
    for seed in range(3):  # however the errors fall on the classes
        correct = np.random.default_rng(seed).permutation(g["n"]) < g["correct"]
        values.append(agreement.kappa_binary(agreement.binary_counts(gold, correct)).value)
    assert max(values) - min(values) < 1e-12
    return values[0]


def kappa_string(g: dict[str, Any]) -> Any:
    chance = agreement.gold_collision([f"string {i}" for i in range(g["n"])])
    assert chance == pytest.approx(g["chance_agreement"])
    return agreement.kappa_string(g["correct"], g["n"], chance).value


def kappa_band(g: dict[str, Any]) -> Any:
    return agreement.landis_koch(g["kappa"])


def mcnemar(g: dict[str, Any]) -> Any:
    test = paired.mcnemar(g["b01"], g["b10"])
    out = {
        "chi2": float(test.statistic),
        "p": float(test.p),
        "odds_ratio": value_or_null(float(test.odds_ratio)),
    }
    for size in (10, 18):
        family = np.full(size, 1.0)
        family[0] = test.p
        out[f"sig_family{size}"] = bool(multiplicity.correct_family(family).significant[0])
    return out


def cohens_h(g: dict[str, Any]) -> Any:
    p_a, p_b = (proportions.proportion(g[k], g["n"]) for k in ("k_a", "k_b"))
    return {
        "h": effects.cohens_h(p_a, p_b),
        "risk_diff": effects.risk_difference(p_a, p_b),
    }


def cohens_h_ci(g: dict[str, Any]) -> Any:
    n = g["n"]
    return list(
        effects.cohens_h_interval(
            g["k_a"], n, g["k_b"], n, resamples=g["resamples"], rng=np.random.default_rng(42)
        )
    )


def composite_per_vrr(g: dict[str, Any]) -> Any:
    found = proportions.composite_validity(g["task_per"])
    return {"per": found.parse_error_rate, "vrr": found.valid_response_rate}


def signed_delta(g: dict[str, Any]) -> Any:
    if "histogram" in g:
        deltas = np.repeat([int(k) for k in g["histogram"]], list(g["histogram"].values()))
        found = errors.signed_error(deltas)
        return {"mean": found.mean, "std": found.sd, "p5": found.p5, "p95": found.p95}
    # The two order statistics that bracket the percentile, ties below and above them.
    below = math.floor((g["n"] - 1) * g["q"] / 100) + 1
    values = [g["order_stat_floor"]] * below + [g["order_stat_ceil"]] * (g["n"] - below)
    return errors.percentile(values, g["q"])


def arithmetic(g: dict[str, Any]) -> Any:
    handlers: dict[frozenset[str], Callable[[], Any]] = {
        frozenset({"ema", "tokens"}): lambda: round(
            proportions.accuracy_per_token(g["ema"], g["tokens"]), 5
        ),
        frozenset({"en", "ra"}): lambda: proportions.ratio(g["en"], g["ra"]),
        frozenset({"mean_ra", "mean_en", "d"}): lambda: effects.implied_sd(
            g["mean_ra"], g["mean_en"], g["d"]
        ),
        frozenset({"sig", "family"}): lambda: 100 * proportions.proportion(g["sig"], g["family"]),
        frozenset({"task_n"}): lambda: sum(g["task_n"]),
        frozenset({"parts"}): lambda: sum(g["parts"]),
        frozenset({"a", "b"}): lambda: g["a"] + g["b"],
    }
    return handlers[frozenset(g)]()


def mtb_macro(g: dict[str, Any]) -> Any:
    return proportions.mean_of_thirds(g["language_accuracy"])


def wald_statistics(g: dict[str, Any]) -> Any:
    if "p" in g:
        return wald.implied_standard_error(g["beta"], g["p"])
    return wald.wald_z(g["beta"], g["se"])


def mdfr_weights(g: dict[str, Any]) -> Any:
    if "raw" in g:
        return weights.normalise_weights(g["raw"])
    return {"sum": math.fsum(g["learned"]), "rounded": weights.rounded_weights(g["learned"])}


def date_arithmetic(g: dict[str, Any]) -> Any:
    return calendars.days_after(g["start"], g["days"])


def tide_detection_accuracy(g: dict[str, Any]) -> Any:
    return 100 * proportions.verdict_accuracy(
        g.get("detection_pct", 100) / 100,
        g.get("specificity_pct", 0) / 100,
        g["n_perturbed"],
        g["n_total"],
    )


def tide_decomposition(g: dict[str, Any]) -> Any:
    if "icl_max" in g:
        return list(
            proportions.spread_ratio(g["icl_max"], g["icl_min"], g["macro_max"], g["macro_min"])
        )
    if "overturned" in g:
        return proportions.context_accuracy(g["memory"], g["overturned"], g["closed"])
    return math.fsum([g["memory"], g["closed"], g["unrecoverable"]])


def votes(g: dict[str, Any]) -> tuple[list[bool], bool, bool]:
    return g["date_matched"], g["contradicting_dates"], g["meaning_correct"]


def tide_strict_score(g: dict[str, Any]) -> Any:
    return council.strict_score(*votes(g))


def tide_majority(g: dict[str, Any]) -> Any:
    return council.majority(g["votes"])


def tide_partial_property(g: dict[str, Any]) -> Any:
    """The expected text is one of three properties; all hold for any weight in (0, 1)."""
    holds = {
        "partial == 0": lambda partial, strict: partial == 0,
        "partial == 1": lambda partial, strict: partial == 1,
        "0 < partial < 1 and strict == 0": lambda partial, strict: 0 < partial < 1 and strict == 0,
    }
    scores = [(council.partial_score(*votes(g), date_weight=w)) for w in (0.26, 0.5, 0.7)]
    strict = council.strict_score(*votes(g))
    return [text for text, test in holds.items() if all(test(s, strict) for s in scores)]


HANDLERS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "ema_percent_format": ema_percent_format,
    "combined_and_gap": combined_and_gap,
    "ema_bootstrap_ci": ema_bootstrap_ci,
    "macro_ema": macro_ema,
    "macro_ci": macro_ci,
    "chi2_english_random": chi2_english_random,
    "kendall_tau_label": kendall_tau_label,
    "kappa_binary": kappa_binary,
    "kappa_string": kappa_string,
    "kappa_band": kappa_band,
    "mcnemar": mcnemar,
    "cohens_h": cohens_h,
    "cohens_h_ci": cohens_h_ci,
    "composite_per_vrr": composite_per_vrr,
    "signed_delta": signed_delta,
    "arithmetic": arithmetic,
    "mtb_macro": mtb_macro,
    "wald": wald_statistics,
    "mdfr_weights": mdfr_weights,
    "date_arithmetic": date_arithmetic,
    "tide_detection_accuracy": tide_detection_accuracy,
    "tide_decomposition": tide_decomposition,
    "tide_strict_score": tide_strict_score,
    "tide_majority": tide_majority,
    "tide_partial_property": tide_partial_property,
}


def agrees(found: Any, expected: Any, tolerance: float) -> bool:
    if isinstance(expected, dict):
        return found.keys() == expected.keys() and all(
            agrees(found[key], expected[key], tolerance) for key in expected
        )
    if isinstance(expected, list):
        return len(found) == len(expected) and all(
            agrees(a, b, tolerance) for a, b in zip(found, expected, strict=True)
        )
    if expected is None or isinstance(expected, bool | str):
        return type(found) is type(expected) and found == expected
    return isinstance(found, int | float) and abs(found - expected) <= tolerance + 1e-12


def test_all_checks_are_here() -> None:
    assert len(CHECKS) == 113
    assert len({check["id"] for check in CHECKS}) == 113


@pytest.mark.parametrize("check", CHECKS, ids=[check["id"] for check in CHECKS])
def test_reference_check(check: dict[str, Any]) -> None:
    assert check["kind"] in HANDLERS, f"no handler for kind {check['kind']!r}"
    found = HANDLERS[check["kind"]](check["given"])
    expected, tolerance = check["expected"], check["tolerance"]
    if check["kind"] == "tide_partial_property":
        assert expected in found
    else:
        assert agrees(found, expected, tolerance), f"found {found}, expected {expected}"


@pytest.mark.parametrize(
    ("found", "expected", "tolerance"),
    [
        (1.2, 1.0, 0.1),
        (True, 1.0001, 0),
        ([1.0], [1.0, 2.0], 0.5),
        ({"a": 1.0}, {"b": 1.0}, 1),
        (None, 0.0, 1),
        (float("nan"), 1.0, 1),
        (1, True, 0),
        ("a", "b", 9),
    ],
)
def test_the_comparison_can_fail(found: Any, expected: Any, tolerance: float) -> None:
    assert not agrees(found, expected, tolerance)
