"""From the scores of TIDE to accuracy, outcomes, differences and ablations, on the matched set.

Conventions (docs/statistics.md has them with examples):

* A row is *scored* when `correct` is not null. The *matched set* of a task are its items with a
  score from every model (baselines apart) in every setting compared; all values are of that set, so
  that a difference is never one of the items. `n` is its size.
* Strict is `correct`, partial is `partial`; on tasks scored by rule the two are equal. Graded is the
  share of pairs in order (event sorting), never mixed with strict in a column.
* The macro average (`all`) is the unweighted mean of the tasks; `perturbation_identification` is no
  task of its own and stays out.
* Intervals: percentile bootstrap over items within tasks; the same resamples serve every model and
  setting, so that differences are paired (Efron & Tibshirani 1993, chapters 8 and 13). Where every
  strict answer of a cell is right, or none, resampling shows no spread: the interval is Wilson's.
* Pooled values weigh every (model, item) alike; the unit of resampling is the item with the answers
  of all models, since these are not independent.
* Spread across models is the sample standard deviation (n - 1).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from scripts.files import DataError
from scripts.statistics.bootstrap import percentile_interval
from scripts.statistics.flags import INCOMPLETE, MISSING, ONE_CLASS, TOO_FEW, join_flags
from scripts.statistics.proportions import wilson_interval
from scripts.statistics.seeding import cell_generator
from scripts.tide.tasks import IDENTIFICATION, SETTINGS, TASKS

ALL = "all"
#: The macro average of the paper's retriever tables, which leave event sorting out.
WITHOUT_SORTING = "macro_without_sorting"
NAN = float("nan")
Floats = NDArray[np.float64]
Run = tuple[str, str]
Draws = Callable[[str], Floats]

ACCURACY_COLUMNS = (
    *("model", "mode", "knowledge", "task", "n", "strict", "strict_low", "strict_high"),
    *("partial", "partial_low", "partial_high", "graded", "valid_response_rate", "truncated_rate"),
    *("unscored", "flagged", "flag"),
)
PERTURBATION_COLUMNS = (
    *("model", "mode", "knowledge", "n", "n_perturbed", "true_positive", "false_negative"),
    *("false_positive", "true_negative", "detection", "specificity", "n_identification"),
    *("identification", "identification_flagged", "drop", "flag"),
)
OUTCOME_COLUMNS = ("outcome", "n", "share", "share_low", "share_high", "flag")
MEANING_COLUMNS = ("knowledge", "meaning", "dates", "n", "share", "flag")
MISALIGNMENT_COLUMNS = (
    *("knowledge", "n", "followed_context", "authoritative", "conflict_acknowledged", "blended"),
    "flag",
)
PAIRS = (("rag", "parametric"), ("icl", "parametric"), ("icl", "rag"))
DIFFERENCE_COLUMNS = (
    *("task", "measure", "n"),
    *(f"{a}_minus_{b}{end}" for a, b in PAIRS for end in ("", "_low", "_high")),
    *("sd_parametric", "sd_rag", "sd_icl", "flag"),
)
ABLATION_COLUMNS = ("embedder", "depth", "rerank")


@dataclass(frozen=True, slots=True)
class Settings:
    """What the analysis reads from the configuration.

    `runs`: every (model, mode), baselines included. `variants`: knowledge to (embedder, depth,
    whether dates re-rank), without the main one, which is `main`.
    """

    models: Sequence[str]
    baselines: Sequence[str]
    runs: Sequence[Run]
    main: tuple[str, int]
    variants: Mapping[str, tuple[str, int, bool]]
    seed: int
    resamples: int = 10_000
    level: float = 0.95

    @property
    def model_runs(self) -> list[Run]:
        """The runs of models, baselines left out."""
        return [tuple(run) for run in self.runs if run[0] in self.models]  # type: ignore[misc]


@dataclass(frozen=True)
class Cube:
    """Values of one task by run, knowledge and matched item; NaN where a row has none.

    `values[name]` has shape (runs, knowledge, items).
    """

    task: str
    runs: tuple[Run, ...]
    knowledge: tuple[str, ...]
    items: tuple[str, ...]
    planned: int
    values: Mapping[str, Floats]

    def of(self, name: str, run: Run, knowledge: str) -> Floats:
        """The values of one run in one setting, shape (items,)."""
        cell = self.values[name][self.runs.index(run), self.knowledge.index(knowledge)]
        return np.asarray(cell, dtype=float)


def check_scores(scores: pd.DataFrame, settings: Settings) -> None:
    """Raise DataError for rows of runs that are not configured and for doubled rows."""
    known = {tuple(run) for run in settings.runs}
    found = set(zip(scores["model"], scores["mode"], strict=True))
    if unknown := sorted(found - known):
        raise DataError(f"scores.parquet: runs that are not configured: {unknown}; gather again")
    keys = ["model", "mode", "knowledge", "task", "item_id"]
    doubled = scores[scores.duplicated(keys)]
    if len(doubled):
        first = doubled.iloc[0]
        raise DataError(
            f"scores.parquet: {len(doubled)} doubled row(s), first {first['item_id']} of "
            f"{first['model']} ({first['knowledge']}); score again"
        )


NUMBERS = ("correct", "partial", "graded")


def cube(
    scores: pd.DataFrame,
    task: str,
    runs: Sequence[Run],
    matching: Sequence[Run],
    knowledge: Sequence[str],
) -> Cube:
    """The values of a task on its matched set: items that `matching` runs score under all."""
    part = scores[(scores["task"] == task) & scores["knowledge"].isin(list(knowledge))]
    numbers = part[["model", "mode", "knowledge", "item_id"]].copy()
    for name in NUMBERS:
        numbers[name] = pd.to_numeric(part[name], errors="coerce").astype(float)
    scored = numbers[numbers["correct"].notna()]
    wanted = {(model, mode, each) for model, mode in matching for each in knowledge}
    inside = pd.Series(
        [
            row in wanted
            for row in zip(scored["model"], scored["mode"], scored["knowledge"], strict=True)
        ],
        index=scored.index,
        dtype=bool,
    )
    counts = scored[inside].groupby("item_id").size()
    items = tuple(sorted(str(name) for name in counts[counts == len(wanted)].index))
    place = {name: index for index, name in enumerate(items)}
    values = {name: np.full((len(runs), len(knowledge), len(items)), NAN) for name in NUMBERS}
    run_place = {tuple(run): index for index, run in enumerate(runs)}
    setting_place = {name: index for index, name in enumerate(knowledge)}
    for row in numbers.itertuples(index=False):
        run = run_place.get((row.model, row.mode))
        item = place.get(str(row.item_id))
        if run is not None and item is not None:
            for name in NUMBERS:
                values[name][run, setting_place[str(row.knowledge)], item] = getattr(row, name)
    return Cube(
        task,
        tuple((str(model), str(mode)) for model, mode in runs),
        tuple(knowledge),
        items,
        int(part["item_id"].nunique()),
        values,
    )


def resampling(cubes: Iterable[Cube], settings: Settings, purpose: str) -> dict[str, Floats]:
    """Task to weights of its items in every resample, shape (resamples, items), rows sum to 1."""
    out = {}
    for each in cubes:
        n = len(each.items)
        if n:
            generator = cell_generator(settings.seed, "tide", purpose, each.task)
            drawn = generator.multinomial(n, np.full(n, 1 / n), size=settings.resamples)
            out[each.task] = drawn / n
    return out


def _mean(values: Floats) -> float:
    return float(values.mean()) if values.size and not np.isnan(values).any() else NAN


# ---- accuracy.csv ------------------------------------------------------------------------------


def accuracy_frame(scores: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """accuracy.csv: every run and setting by task, and the macro average."""
    check_scores(scores, settings)
    runs = [(str(a), str(b)) for a, b in settings.runs]
    cubes = {task: cube(scores, task, runs, settings.model_runs, SETTINGS) for task in TASKS}
    weights = resampling(cubes.values(), settings, "accuracy")
    counts = _row_counts(scores)
    rows = []
    for run in runs:
        for knowledge in SETTINGS:
            cells = [
                _accuracy_row(cubes[task], run, knowledge, weights.get(task), counts, settings)
                for task in TASKS
            ]
            rows += [*cells, _macro_row(cells, cubes, run, knowledge, weights, settings)]
    return pd.DataFrame(rows, columns=list(ACCURACY_COLUMNS))


def _row_counts(scores: pd.DataFrame) -> dict[tuple[str, ...], dict[str, int]]:
    """Counts of all rows, matched or not, by model, mode, knowledge and task."""
    counted = pd.DataFrame(
        {
            "model": scores["model"],
            "mode": scores["mode"],
            "knowledge": scores["knowledge"],
            "task": scores["task"],
            "rows": 1,
            "valid": scores["valid"].astype(bool),
            "truncated": scores["category"] == "truncated",
            "unscored": scores["correct"].isna(),
            "flagged": scores["flagged"].fillna(False).astype(bool),
        }
    )
    sums = counted.groupby(["model", "mode", "knowledge", "task"], as_index=False).sum()
    return {
        (row["model"], row["mode"], row["knowledge"], row["task"]): {
            name: int(row[name]) for name in ("rows", "valid", "truncated", "unscored", "flagged")
        }
        for row in sums.to_dict("records")
    }


def _accuracy_row(
    task: Cube,
    run: Run,
    knowledge: str,
    weights: Floats | None,
    counts: Mapping[tuple[str, ...], Mapping[str, int]],
    settings: Settings,
) -> dict[str, Any]:
    strict = task.of("correct", run, knowledge)
    partial = task.of("partial", run, knowledge)
    found = counts.get((*run, knowledge, task.task), {})
    rows = found.get("rows", 0)
    row: dict[str, Any] = {
        **_key(run, knowledge, task.task),
        "n": len(task.items),
        "strict": _mean(strict),
        "partial": _mean(partial),
        "graded": _mean(task.of("graded", run, knowledge)),
        "valid_response_rate": found["valid"] / rows if rows else NAN,
        "truncated_rate": found["truncated"] / rows if rows else NAN,
        "unscored": found.get("unscored", 0),
        "flagged": found.get("flagged", 0),
        "flag": _cell_flag(task, strict),
    }
    _set_interval(row, "strict", strict, weights, settings)
    _set_interval(row, "partial", partial, weights, settings)
    return row


def _key(run: Run, knowledge: str, task: str) -> dict[str, Any]:
    return {"model": run[0], "mode": run[1], "knowledge": knowledge, "task": task}


def _cell_flag(task: Cube, strict: Floats) -> str:
    if not task.items or np.isnan(strict).any():
        return MISSING
    return INCOMPLETE if len(task.items) < task.planned else ""


def _set_interval(
    row: dict[str, Any], name: str, values: Floats, weights: Floats | None, settings: Settings
) -> None:
    low, high = NAN, NAN
    if weights is not None and not np.isnan(values).any():
        if name == "strict" and values.min() == values.max():
            bounds = wilson_interval(int(values.sum()), values.size, settings.level)
            low, high = bounds.low, bounds.high
        else:
            low, high = percentile_interval(weights @ values, settings.level)
    row[f"{name}_low"], row[f"{name}_high"] = low, high


def _macro_row(
    cells: Sequence[Mapping[str, Any]],
    cubes: Mapping[str, Cube],
    run: Run,
    knowledge: str,
    weights: Mapping[str, Floats],
    settings: Settings,
) -> dict[str, Any]:
    there = [row for row in cells if not np.isnan(row["strict"])]
    flags = [INCOMPLETE] * (len(there) < len(cells) or any(row["flag"] for row in there))
    row: dict[str, Any] = {
        **_key(run, knowledge, ALL),
        "n": sum(row["n"] for row in there),
        "graded": NAN,
        "unscored": sum(row["unscored"] for row in cells),
        "flagged": sum(row["flagged"] for row in cells),
        "flag": join_flags(flags if there else [MISSING]),
    }
    for name in ("strict", "partial", "valid_response_rate", "truncated_rate"):
        row[name] = float(np.mean([each[name] for each in there])) if there else NAN
    for name, value in (("strict", "correct"), ("partial", "partial")):
        draws = [
            weights[each["task"]] @ cubes[each["task"]].of(value, run, knowledge) for each in there
        ]
        low, high = (NAN, NAN)
        if draws:
            low, high = percentile_interval(np.mean(draws, axis=0), settings.level)
        row[f"{name}_low"], row[f"{name}_high"] = low, high
    return row


# ---- perturbation.csv --------------------------------------------------------------------------


def perturbation_frame(scores: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """perturbation.csv: what is flagged, and what of it is identified.

    A positive is a statement called INCORRECT. Identification counts all perturbed items (one that
    was not flagged is not identified); `identification_flagged` those that were flagged. `drop` is
    (detection - identification) / detection. Verdicts that could not be read are neither flag nor
    acceptance: as wrong answers they count against the class of their item.
    """
    detection_task = "perturbation_detection"
    runs = [(str(a), str(b)) for a, b in settings.runs]
    detected = cube(scores, detection_task, runs, settings.model_runs, SETTINGS)
    identified = cube(scores, IDENTIFICATION, runs, settings.model_runs, SETTINGS)
    perturbed_of = _perturbed(scores)
    gold = np.array([perturbed_of[item] for item in detected.items], dtype=bool)
    at = {item: index for index, item in enumerate(detected.items)}
    rows = []
    for run in runs:
        for knowledge in SETTINGS:
            right = detected.of("correct", run, knowledge)
            named = identified.of("correct", run, knowledge)
            flagged = np.array(
                [item in at and right[at[item]] == 1 for item in identified.items], dtype=bool
            )
            rows.append(
                {
                    "model": run[0],
                    "mode": run[1],
                    "knowledge": knowledge,
                    **_detection(right, gold),
                    **_identification(named, flagged),
                }
            )
    frame = pd.DataFrame(rows)
    frame["drop"] = [
        (d - i) / d if d and not np.isnan(d) and not np.isnan(i) else NAN
        for d, i in zip(frame["detection"], frame["identification"], strict=True)
    ]
    return frame[list(PERTURBATION_COLUMNS)]


def _perturbed(scores: pd.DataFrame) -> dict[str, bool]:
    part = scores[(scores["task"] == "perturbation_detection") & scores["perturbed"].notna()]
    return {
        str(item): bool(value)
        for item, value in zip(part["item_id"], part["perturbed"], strict=True)
    }


def _detection(right: Floats, gold: NDArray[np.bool_]) -> dict[str, Any]:
    if np.isnan(right).any() or not right.size:
        empty = dict.fromkeys(
            ("true_positive", "false_negative", "false_positive", "true_negative"), 0
        )
        return {
            **{"n": 0, "n_perturbed": 0, **empty, "detection": NAN, "specificity": NAN},
            "flag": MISSING,
        }
    hits, passes = int(right[gold].sum()), int(right[~gold].sum())
    n, perturbed = int(right.size), int(gold.sum())
    return {
        "n": n,
        "n_perturbed": perturbed,
        "true_positive": hits,
        "false_negative": perturbed - hits,
        "false_positive": n - perturbed - passes,
        "true_negative": passes,
        "detection": hits / perturbed if perturbed else NAN,
        "specificity": passes / (n - perturbed) if n > perturbed else NAN,
        "flag": "" if 0 < perturbed < n else ONE_CLASS,
    }


def _identification(named: Floats, flagged: NDArray[np.bool_]) -> dict[str, Any]:
    if np.isnan(named).any() or not named.size:
        return {"n_identification": 0, "identification": NAN, "identification_flagged": NAN}
    return {
        "n_identification": int(named.size),
        "identification": float(named.mean()),
        "identification_flagged": float(named[flagged].mean()) if flagged.any() else NAN,
    }


# ---- outcomes.csv, meaning_vs_date.csv, misalignment.csv ---------------------------------------


def outcomes_frame(scores: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """outcomes.csv (table 13): pooled over models on the matched set of all tasks.

    memory: right without documents; gap_closed: wrong without, right with the gold documents;
    unrecoverable: wrong in both. These three partition the answers. overturned: right without, wrong
    with; icl_only: right with the gold documents, wrong with retrieved clauses; rag_given_icl: share
    right under retrieval among those right with the gold documents.
    """
    runs = settings.model_runs
    cubes = [cube(scores, task, runs, runs, SETTINGS) for task in TASKS]
    weights = resampling(cubes, settings, "outcomes")
    full = [each for each in cubes if each.items]
    total = sum(len(each.items) for each in full) * len(runs)
    rows = []
    for name, event, given in _OUTCOMES:
        flag = "" if total else MISSING
        hits, base = 0.0, 0.0
        hit_draws: Floats = np.zeros(settings.resamples)
        base_draws: Floats = np.zeros(settings.resamples)
        for each in full:
            right = {s: each.values["correct"][:, i] == 1 for i, s in enumerate(SETTINGS)}
            met, among = event(right).sum(axis=0), given(right).sum(axis=0)
            hits, base = hits + float(met.sum()), base + float(among.sum())
            hit_draws = hit_draws + (weights[each.task] @ met) * len(each.items)
            base_draws = base_draws + (weights[each.task] @ among) * len(each.items)
        low, high = NAN, NAN
        if base:
            with np.errstate(divide="ignore", invalid="ignore"):
                low, high = percentile_interval(hit_draws / base_draws, settings.level)
        rows.append((name, int(base), hits / base if base else NAN, low, high, flag))
    return pd.DataFrame(rows, columns=list(OUTCOME_COLUMNS))


Right = Mapping[str, NDArray[np.bool_]]


def _everything(right: Right) -> NDArray[np.bool_]:
    return np.ones_like(right["icl"])


_OUTCOMES: tuple[tuple[str, Callable[[Right], Any], Callable[[Right], Any]], ...] = (
    ("memory", lambda r: r["parametric"], _everything),
    ("gap_closed", lambda r: ~r["parametric"] & r["icl"], _everything),
    ("unrecoverable", lambda r: ~r["parametric"] & ~r["icl"], _everything),
    ("overturned", lambda r: r["parametric"] & ~r["icl"], _everything),
    ("icl_only", lambda r: r["icl"] & ~r["rag"], _everything),
    ("rag_given_icl", lambda r: r["icl"] & r["rag"], lambda r: r["icl"]),
)


def _matched_rows(scores: pd.DataFrame, task: str, settings: Settings) -> pd.DataFrame:
    """The models' rows of a task in the three settings, on its matched set."""
    runs = settings.model_runs
    items = cube(scores, task, runs, runs, SETTINGS).items
    inside = [run in set(runs) for run in zip(scores["model"], scores["mode"], strict=True)]
    return scores[
        (scores["task"] == task)
        & scores["knowledge"].isin(list(SETTINGS))
        & scores["item_id"].isin(list(items))
        & inside
    ]


def meaning_frame(scores: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """meaning_vs_date.csv (table 14): judged answers to items with gold dates, by setting.

    Dates are right when every gold date is matched and none is contradicted.
    """
    parts = [_matched_rows(scores, name, settings) for name, task in TASKS.items() if task.judged]
    joined = pd.concat(parts) if parts else scores.iloc[:0]
    dated = joined[
        (joined["dates"].fillna(0) > 0)
        & joined["meaning"].notna()
        & joined["contradicting"].notna()
        & joined["dates_matched"].notna()
    ]
    rows = []
    for knowledge in SETTINGS:
        part = dated[dated["knowledge"] == knowledge]
        meaning = part["meaning"].astype(bool)
        right = (part["dates_matched"] == part["dates"]) & ~part["contradicting"].astype(bool)
        for meant in (True, False):
            for timed in (True, False):
                n = int(((meaning == meant) & (right == timed)).sum())
                share = n / len(part) if len(part) else NAN
                words = ("right" if meant else "wrong", "right" if timed else "wrong")
                rows.append((knowledge, *words, n, share, "" if len(part) else MISSING))
    return pd.DataFrame(rows, columns=list(MEANING_COLUMNS))


def misalignment_frame(scores: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """misalignment.csv (table 15): what the council logged of answers beside a planted claim."""
    part = _matched_rows(scores, "context_misalignment", settings)
    names = MISALIGNMENT_COLUMNS[2:-1]
    judged = part[part[list(names)].notna().all(axis=1)]
    rows = []
    for knowledge in SETTINGS:
        these = judged[judged["knowledge"] == knowledge]
        shares = [float(these[name].astype(bool).mean()) if len(these) else NAN for name in names]
        rows.append((knowledge, len(these), *shares, "" if len(these) else MISSING))
    return pd.DataFrame(rows, columns=list(MISALIGNMENT_COLUMNS))


# ---- setting_differences.csv -------------------------------------------------------------------


def differences_frame(scores: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """setting_differences.csv (table 16): partial accuracy, means over models, paired intervals.

    Event sorting has a second row with the graded measure. The macro row averages the partial rows.
    """
    runs = settings.model_runs
    cubes = {task: cube(scores, task, runs, runs, SETTINGS) for task in TASKS}
    weights = resampling(cubes.values(), settings, "differences")
    rows = []
    parts: list[tuple[Floats, Floats]] = []
    for task, each in cubes.items():
        for measure in ("partial", "graded") if task == "event_sorting" else ("partial",):
            values = each.values[measure]
            there = bool(each.items) and not np.isnan(values).any()
            means = values.mean(axis=2) if there else np.full(values.shape[:2], NAN)
            draws = (
                np.stack([weights[task] @ values[:, s].mean(axis=0) for s in range(len(SETTINGS))])
                if there
                else np.full((len(SETTINGS), settings.resamples), NAN)
            )
            if there and measure == "partial":
                parts.append((means, draws))
            flag = "" if there else MISSING
            rows.append(
                _difference_row(task, measure, len(each.items), means, draws, flag, settings)
            )
    n = sum(len(each.items) for each in cubes.values())
    if parts:
        means = np.mean([m for m, _ in parts], axis=0)
        draws = np.mean([d for _, d in parts], axis=0)
        flag = INCOMPLETE if len(parts) < len(cubes) else ""
    else:
        means, draws = np.full((len(runs), 3), NAN), np.full((3, settings.resamples), NAN)
        flag = MISSING
    rows.append(_difference_row(ALL, "partial", n, means, draws, flag, settings))
    return pd.DataFrame(rows, columns=list(DIFFERENCE_COLUMNS))


def _difference_row(
    task: str,
    measure: str,
    n: int,
    means: Floats,
    draws: Floats,
    flag: str,
    settings: Settings,
) -> dict[str, Any]:
    """`means`: (models, settings); `draws`: (settings, resamples)."""
    row: dict[str, Any] = {"task": task, "measure": measure, "n": n}
    for a, b in PAIRS:
        i, j = SETTINGS.index(a), SETTINGS.index(b)
        row[f"{a}_minus_{b}"] = float((means[:, i] - means[:, j]).mean())
        low, high = percentile_interval(draws[i] - draws[j], settings.level)
        row[f"{a}_minus_{b}_low"], row[f"{a}_minus_{b}_high"] = low, high
    few = means.shape[0] < 2
    for name in ("parametric", "rag", "icl"):
        column = means[:, SETTINGS.index(name)]
        row[f"sd_{name}"] = NAN if few else float(column.std(ddof=1))
    row["flag"] = join_flags([flag, TOO_FEW if few else ""])
    return row


# ---- ablation_by_task.csv, ablation_by_model.csv -----------------------------------------------


def ablation_frames(scores: pd.DataFrame, settings: Settings) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Strict accuracy of retrieval by embedder and depth (tables 18 and 19), by task and by model.

    Of models that answered every variant, on items that all of them have under every variant.
    """
    variants: dict[str, tuple[str, int, bool]] = {
        "rag": (*settings.main, False),
        **{name: tuple(value) for name, value in settings.variants.items()},  # type: ignore[misc]
    }
    knowledge = list(variants)
    answered = scores.groupby(["model", "mode"])["knowledge"].agg(set)
    runs = [
        run
        for run in settings.model_runs
        if run in answered.index and set(knowledge) <= answered[run]
    ]
    cubes = {task: cube(scores, task, runs, runs, knowledge) for task in TASKS}
    by_task, by_model = [], []
    for name, (embedder, depth, dated) in variants.items():
        key = (embedder, depth, "dates" if dated else "none")
        cells = {task: _variant_means(each, name) for task, each in cubes.items()}
        for task, means in [*cells.items(), *_macros(cells, len(runs))]:
            n = _items_of(cubes, task)
            value = _mean(means)
            by_task.append((*key, task, n, value, "" if not np.isnan(value) else MISSING))
        macros = dict(_macros(cells, len(runs)))
        for index, (model, mode) in enumerate(runs):
            for task in (ALL, WITHOUT_SORTING):
                value = float(macros[task][index])
                flag = "" if not np.isnan(value) else MISSING
                by_model.append((*key, model, mode, task, _items_of(cubes, task), value, flag))
    return (
        pd.DataFrame(by_task, columns=[*ABLATION_COLUMNS, "task", "n", "strict", "flag"]),
        pd.DataFrame(
            by_model, columns=[*ABLATION_COLUMNS, "model", "mode", "task", "n", "strict", "flag"]
        ),
    )


def _variant_means(each: Cube, knowledge: str) -> Floats:
    """Strict accuracy of every run, shape (runs,)."""
    values = each.values["correct"][:, each.knowledge.index(knowledge)]
    return values.mean(axis=1) if values.shape[1] else np.full(values.shape[0], NAN)


def _macros(cells: Mapping[str, Floats], runs: int) -> Iterator[tuple[str, Floats]]:
    for name, left_out in ((ALL, ""), (WITHOUT_SORTING, "event_sorting")):
        rows = [m for task, m in cells.items() if task != left_out and not np.isnan(m).any()]
        yield name, np.mean(rows, axis=0) if rows and runs else np.full(runs, NAN)


def _items_of(cubes: Mapping[str, Cube], task: str) -> int:
    if task in cubes:
        return len(cubes[task].items)
    return sum(len(c.items) for n, c in cubes.items() if task == ALL or n != "event_sorting")
