"""Crossed mixed models against R's lme4 in the same run: time, peak memory, largest differences.

Run: python -m tests.benchmarks.bench_mixed_effects   (or pytest with -m benchmark -s on this file)

Designs: 15,000 questions x 19 models complete (285,000 rows), InstEval (73,421 ratings, 2,972
students x 1,128 lecturers, then with departments as a third factor), Penicillin (144 rows), and a
logistic fit. The first two and the logistic one are read from ../shared/data where that exists,
else simulated at the same size. Every fit runs in a process of its own with one thread; the time is
the processor time of the fit alone (best of three), the memory the peak of the whole process,
reading included. Without Rscript and lme4 only our side is measured. Last, how often a predictor
without effect is called significant.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pandas as pd
import pytest

from scripts.multitempbench.regression import Specification, fit_specification
from scripts.multitempbench.regression_rows import Settings, build_frame
from scripts.statistics.mixed import factorial_design, fit_linear_mixed
from scripts.statistics.mixed_logistic import fit_logistic_mixed
from tests.synthetic_answers import LANGUAGES, simulate

ROOT = Path(__file__).parents[2]
DATA = ROOT.parent / "shared" / "data"
REPEATS = 3
LEAST_RATIO = 10.0
MOST_MEBIBYTES = 1024.0

PREDICTORS = ("mdfr_z", "linearity_z", "resource")


class Case(NamedTuple):
    """A design: response, predictors (all interactions), groups, and the method."""

    response: str
    predictors: tuple[str, ...]
    groups: tuple[str, ...]
    method: str


CASES = {
    "answers_reml": Case("y", PREDICTORS, ("question", "model"), "REML"),
    "answers_ml": Case("y", PREDICTORS, ("question", "model"), "ML"),
    "ratings": Case("y", ("service",), ("s", "d"), "REML"),
    "ratings_departments": Case("y", ("service",), ("s", "d", "dept"), "REML"),
    "penicillin": Case("diameter", (), ("plate", "sample"), "REML"),
    "items_logistic": Case("exact_match", ("few",), ("item", "model"), "Laplace"),
    "answers_logistic": Case("y", PREDICTORS, ("question", "model"), "Laplace"),
}
#: Not run in R: glmer takes minutes there.
OURS_ONLY = ("answers_logistic",)

R_SCRIPT = """
suppressMessages(library(lme4))
given <- commandArgs(TRUE)
frame <- read.csv(given[1]); formula <- as.formula(given[2]); method <- given[3]
for (name in strsplit(given[4], ",")[[1]]) frame[[name]] <- factor(frame[[name]])
seconds <- Inf
for (i in seq_len(as.integer(given[5]))) {
  used <- sum(system.time(fit <- if (method == "Laplace") glmer(formula, frame, family = binomial)
                      else lmer(formula, frame, REML = method == "REML"))[1:2])
  seconds <- min(seconds, used)
}
number <- function(x) paste0("[", paste(formatC(x, digits = 15, format = "g"), collapse = ","), "]")
variances <- as.data.frame(VarCorr(fit))
cat(sprintf('{"seconds": %s, "estimates": %s, "se": %s, "groups": [%s], "variances": %s, "log_likelihood": %s}',
  formatC(seconds, digits = 6, format = "g"), number(fixef(fit)), number(sqrt(diag(as.matrix(vcov(fit))))),
  paste0('"', variances$grp, '"', collapse = ","), number(variances$vcov), formatC(as.numeric(logLik(fit)), digits = 15, format = "g")))
"""  # noqa: E501


def simulated_answers() -> pd.DataFrame:
    """15,000 questions x 19 models, complete, with crossed random intercepts."""
    generator = np.random.default_rng(1)
    question, model = np.repeat(np.arange(15_000), 19), np.tile(np.arange(19), 15_000)
    frame = pd.DataFrame({"question": question, "model": model})
    frame["resource"] = np.where(question % 5 < 3, 0.5, -0.5)
    for name in PREDICTORS[:2]:
        frame[name] = generator.normal(size=(15_000, 19))[question, model].round(6)
    chance = 0.5 - 0.05 * frame["mdfr_z"] + 0.03 * frame["linearity_z"]
    chance += generator.normal(0, 0.15, 15_000)[question] + generator.normal(0, 0.1, 19)[model]
    frame["y"] = (generator.uniform(size=len(frame)) < chance).astype(int)
    return frame


def simulated_ratings() -> pd.DataFrame:
    """As many ratings, students, lecturers and departments as InstEval has."""
    generator = np.random.default_rng(2)
    rows = 73_421
    frame = pd.DataFrame(
        {"s": generator.integers(0, 2972, rows), "d": generator.integers(0, 1128, rows)}
    )
    frame["dept"], frame["service"] = frame["d"] % 14, generator.integers(0, 2, rows)
    frame["y"] = (
        3.2
        - 0.1 * frame["service"]
        + generator.normal(0, 0.33, 2972)[frame["s"]]
        + generator.normal(0, 0.52, 1128)[frame["d"]]
        + generator.normal(0, 1.18, rows)
    )
    return frame


def simulated_items() -> pd.DataFrame:
    """1,016 items x 6 models x 2 promptings, 0 or 1."""
    generator = np.random.default_rng(3)
    cells = [(i, m, few) for i in range(1016) for m in range(6) for few in (0, 1)]
    frame = pd.DataFrame(cells, columns=["item", "model", "few"])
    logit = -1.2 + 0.26 * frame["few"] + generator.normal(0, 1.9, 1016)[frame["item"]]
    logit += generator.normal(0, 1, 6)[frame["model"]]
    chance = 1 / (1 + np.exp(-logit))
    frame["exact_match"] = (generator.uniform(size=len(frame)) < chance).astype(int)
    return frame


def data(name: str) -> tuple[pd.DataFrame, str]:
    """The frame of a case and where it comes from."""
    if name.startswith("answers"):
        path = DATA / "lmm" / "sim285k.csv.gz"
        if not path.is_file():
            return simulated_answers(), "simulated"
        frame = pd.read_csv(path)
        frame["resource"] = np.where(frame["resource"] == "high", 0.5, -0.5)
        return frame, path.name
    if name.startswith("ratings"):
        path = DATA / "lmm" / "InstEval.csv.gz"
        return (pd.read_csv(path), path.name) if path.is_file() else (simulated_ratings(), "simul.")
    if name.startswith("items"):
        path = DATA / "stats" / "tot_arithmetic_items.csv.gz"
        if not path.is_file():
            return simulated_items(), "simulated"
        frame = pd.read_csv(path)
        frame["few"] = (frame["prompting"] == "few-shot").astype(int)
        return frame, path.name
    return pd.read_csv(ROOT / "tests" / "data" / "penicillin.csv"), "penicillin.csv"


def fit_ours(name: str, path: str) -> dict[str, Any]:
    """Fit a case in this process; what the R script prints, as a dictionary."""
    case, frame = CASES[name], pd.read_csv(path)
    groups = {group: frame[group] for group in case.groups}
    seconds = float("inf")
    for _ in range(REPEATS):
        start = time.process_time()
        design = factorial_design(frame, case.predictors)
        if case.method == "Laplace":
            fit = fit_logistic_mixed(frame[case.response], design, groups)
        else:
            fit = fit_linear_mixed(frame[case.response], design, groups, case.method)  # type: ignore[arg-type]
        seconds = min(seconds, time.process_time() - start)
    variances = {component.group: component.variance for component in fit.components}
    if case.method != "Laplace":
        variances["Residual"] = fit.residual_variance
    return {
        "seconds": seconds,
        "estimates": fit.estimates.tolist(),
        "se": fit.standard_errors.tolist(),
        "groups": list(variances),
        "variances": list(variances.values()),
        "log_likelihood": fit.log_likelihood,
        "evaluations": fit.evaluations,
    }


# A process inherits the peak memory of the one that starts it: a small one in between does that.
LAUNCHER = """
import json, os, sys
pid = os.posix_spawnp(sys.argv[2], sys.argv[2:], os.environ)
_, status, usage = os.wait4(pid, 0)
with open(sys.argv[1], "w") as handle:
    json.dump([os.waitstatus_to_exitcode(status), usage.ru_maxrss], handle)
"""


def run(command: list[str], folder: Path) -> dict[str, Any]:
    """Run a fit in a process of its own; its JSON, and the peak memory of the process in MiB."""
    usage = folder / "usage.json"
    launch = [sys.executable, "-c", LAUNCHER, str(usage), *command]
    text = subprocess.run(launch, stdout=subprocess.PIPE, cwd=ROOT, check=True, text=True).stdout
    code, peak = json.loads(usage.read_text("utf-8"))
    if code:
        raise RuntimeError(f"{command[0]} ended with {code}: {text}")
    unit = 1 if sys.platform == "darwin" else 1024
    found: dict[str, Any] = json.loads(text.splitlines()[-1])
    return found | {"mebibytes": peak * unit / 2**20}


def lme4_is_there() -> bool:
    """True if Rscript runs and has lme4."""
    if shutil.which("Rscript") is None:
        return False
    check = ["Rscript", "-e", "suppressMessages(library(lme4))"]
    return subprocess.run(check, capture_output=True, check=False).returncode == 0


def formula(case: Case) -> str:
    """The case in lme4's notation."""
    fixed = " * ".join(case.predictors) or "1"
    return f"{case.response} ~ {fixed} + " + " + ".join(f"(1 | {g})" for g in case.groups)


def largest(ours: list[float], theirs: list[float]) -> float:
    """Largest relative difference."""
    return float(np.max(np.abs(np.array(ours) / np.array(theirs) - 1)))


def measure_case(name: str, folder: Path, with_lme4: bool) -> dict[str, Any]:
    """Both fits of one case, and how they compare."""
    frame, source = data(name)
    case, path = CASES[name], folder / f"{name}.csv"
    columns = [case.response, *case.predictors, *case.groups]
    frame[columns].to_csv(path, index=False)
    command = [sys.executable, "-m", "tests.benchmarks.bench_mixed_effects", name, str(path)]
    out: dict[str, Any] = {
        "name": name,
        "source": source,
        "rows": len(frame),
        "ours": run(command, folder),
    }
    if with_lme4 and name not in OURS_ONLY:
        script = folder / "fit.R"
        script.write_text(R_SCRIPT, "utf-8")
        given = [str(path), formula(case), case.method, ",".join(case.groups), str(REPEATS)]
        theirs = run(["Rscript", str(script), *given], folder)
        ours = out["ours"]
        known = dict(zip(theirs["groups"], theirs["variances"], strict=True))
        out |= {
            "lme4": theirs,
            "ratio": theirs["seconds"] / ours["seconds"],
            "estimates": largest(ours["estimates"], theirs["estimates"]),
            "se": largest(ours["se"], theirs["se"]),
            "variances": largest(ours["variances"], [known[g] for g in ours["groups"]]),
            "log_likelihood": ours["log_likelihood"] - theirs["log_likelihood"],
        }
    return out


def false_positives(runs: int = 40) -> dict[str, float]:
    """Share of p < .05 for mDFR and linearity where neither has an effect.

    10 models with 5 tokenisers, 30 questions x 5 languages x 4 formats; models differ from language
    to language (sd 0.05) beyond what the two random intercepts of the main fit say.
    """
    found: dict[str, list[bool]] = {}
    for seed in range(runs):
        answers = simulate(models=10, tokenisers=5, questions=30, seed=seed, continuous=True)
        models = sorted(answers.scores["model"].unique())
        settings = Settings(models, LANGUAGES, 42, permutations=199)
        frame = build_frame(*answers, settings)
        main = fit_specification(frame, Specification("main"), settings)
        full = ("question", "seed_question", "model", "model_language")
        extended = fit_specification(frame, Specification("extended", groups=full), settings)
        assert main.fit is not None and extended.fit is not None
        for term in PREDICTORS[:2]:
            j = main.fit.terms.index(term)
            values = {
                "main fit, Wald": main.fit.p[j],
                "main fit, two-way clusters": main.p_cluster[term],
                "main fit, permutation": main.p_permutation[term],
                "with seed question and model x language, Wald": extended.fit.p[j],
            }
            for name, p in values.items():
                found.setdefault(name, []).append(bool(p <= 0.05))
    return {name: float(np.mean(hits)) for name, hits in found.items()}


def measure() -> list[dict[str, Any]]:
    with_lme4 = lme4_is_there()
    if not with_lme4:
        print("Rscript with lme4 is not here: only our side is measured")
    with tempfile.TemporaryDirectory() as folder:
        return [measure_case(name, Path(folder), with_lme4) for name in CASES]


def report(results: list[dict[str, Any]]) -> str:
    lines = []
    for m in results:
        ours = m["ours"]
        line = (
            f"{m['name']} ({m['source']}, {m['rows']:,} rows): {ours['seconds']:.3f} s, "
            f"{ours['evaluations']} evaluations, peak {ours['mebibytes']:.0f} MiB"
        )
        if "lme4" in m:
            line += (
                f"; lme4 {m['lme4']['seconds']:.3f} s, peak {m['lme4']['mebibytes']:.0f} MiB: "
                f"ratio {m['ratio']:.1f}; largest relative difference: estimates "
                f"{m['estimates']:.1e}, SE {m['se']:.1e}, variances {m['variances']:.1e}; "
                f"log-likelihood {m['log_likelihood']:+.1e}"
            )
        lines.append(line)
    return "\n".join(lines)


def check(results: list[dict[str, Any]]) -> None:
    for m in results:
        assert m["ours"]["mebibytes"] <= MOST_MEBIBYTES
        if "lme4" not in m:
            continue
        if m["rows"] > 1000:
            assert m["ratio"] >= (LEAST_RATIO if m["name"].startswith("answers") else 1)
        # lme4 stops at its own tolerance; never may its likelihood be the higher one.
        assert m["log_likelihood"] > -1e-6
        if CASES[m["name"]].method != "Laplace":
            assert m["estimates"] <= 1e-5
            assert m["se"] <= 1e-3
            assert m["variances"] <= 1e-2


@pytest.mark.benchmark
def test_crossed_models_against_lme4() -> None:
    measured = measure()
    print("\n" + report(measured))
    check(measured)


if __name__ == "__main__":
    if len(sys.argv) == 3:
        print(json.dumps(fit_ours(*sys.argv[1:])))
    else:
        result = measure()
        print(report(result))
        for name, share in false_positives().items():
            print(f"false positives at 5 %: {name}: {100 * share:.1f} %")
        check(result)
