"""Tables about judgement and tests: the council, experts, McNemar's test between systems."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations
from typing import Any

import pandas as pd

from scripts.judging.human_validation import MAXIMA, TOTAL
from scripts.publishing import captions
from scripts.publishing.captions import Context
from scripts.publishing.layouts import (
    Frames,
    Lookup,
    caption,
    check_columns,
    pair_link,
    value_of,
)
from scripts.publishing.tables import (
    Cell,
    Column,
    Row,
    Table,
    absent,
    decimal,
    is_missing,
    number,
    p_value,
    percent,
    whole,
)
from scripts.tide import wording
from scripts.tide.tasks import SETTINGS as CONFIGURED
from scripts.tide.tasks import TASKS
from scripts.tide.wording import ALL, SETTING_LABELS, SETTINGS, SHORT_SETTINGS, named

QUESTIONS = {
    "dates": "gold date matched",
    "contradicting": "contradicting date",
    "meaning": "meaning right",
    "uncertain": "borderline case",
    "followed_context": "follows the planted claim",
    "followed_parametric": "gives the reference's value",
    "conflict_acknowledged": "names the conflict",
    "blended_sources": "mixes both values",
    "perturbation_flagged": "says the statement is wrong",
    "perturbation_localized": "names the altered element",
    "correction_given": "gives a correction",
    "correction_correct": "correction is right",
}
SCORED = ("dates", "contradicting", "meaning")
STAR = "*"


def two(value: float) -> str:
    """Two decimals."""
    return decimal(value, 2)


# ---- the council -------------------------------------------------------------------------------


def council(frames: Frames, context: Context) -> Table:
    """How far the judges agree on every question: Fleiss' kappa, and Cohen's of every pair."""
    frame = frames["council"]
    check_columns(
        "council", frame, ("question", "kind", "judge_a", "judge_b", "n", "kappa", "flag")
    )
    pairs = frame[frame["kind"] == "pair"]
    judges = list(dict.fromkeys([*pairs["judge_a"].astype(str), *pairs["judge_b"].astype(str)]))
    letters = {judge: "ABCDEFGHIJ"[place] for place, judge in enumerate(judges)}
    found = list(combinations(judges, 2))
    all_judges = Lookup("council", frame[frame["kind"] == "fleiss"], ("question",))
    lookup = Lookup("council", pairs, ("question", "judge_a", "judge_b"))
    rows = []
    for question in dict.fromkeys(str(name) for name in frame["question"]):
        row = all_judges.get(question)
        cells = [
            whole(value_of(row, "n")),
            whole(value_of(row, "left_out")),
            _kappa(row),
            number(value_of(row, "agreement"), percent, reason=wording.why(row)),
            *(_kappa(lookup.get(question, a, b)) for a, b in found),
        ]
        block = (
            "Questions that make the score" if question in SCORED else "Questions that are logged"
        )
        rows.append(
            Row((QUESTIONS.get(question, question.replace("_", " ")),), tuple(cells), block)
        )
    named_judges = "; ".join(
        f"{letters[judge]}: {wording.judge_label(context, judge)}" for judge in judges
    )
    return Table(
        named("council"),
        caption(
            context,
            "Agreement of the council's judges by question, with Fleiss' κ over all of them and "
            "Cohen's κ of every pair; n is the number of cases on which all judges voted (a gold "
            "date is a case of its own).",
        ),
        ("Question",),
        (
            Column("n", "n", "All judges", "r"),
            Column("left_out", "Left out", "All judges", "r"),
            Column("kappa", "κ", "All judges"),
            Column("agreement", "Agreement (%)", "All judges", "r"),
            *(
                Column(f"{a}.{b}", f"{letters[a]}–{letters[b]}", "Cohen’s κ of a pair")
                for a, b in found
            ),
        ),
        tuple(rows),
        (
            f"{named_judges}." if named_judges else "No pair of judges.",
            "Left out: cases on which some judges voted and others did not. "
            f"Below κ: {captions.level_words(context)} percentile bootstrap over cases "
            f"({captions.count(context.resamples)} resamples, seed {context.seed}). κ is undefined "
            "where all votes are the same, although the agreement is perfect.",
        ),
        size="scriptsize",
        short_caption="Agreement of the council",
    )


def _kappa(row: Mapping[str, Any] | None) -> Cell:
    return number(
        value_of(row, "kappa"),
        two,
        low=value_of(row, "low"),
        high=value_of(row, "high"),
        reason=wording.why(row),
        extra=tuple((name, value_of(row, name)) for name in ("n", "agreement", "left_out")),
    )


def human_validation(frames: Frames, context: Context) -> Table:
    """Table 11: experts' mean points for the council's decisions."""
    frame = frames["human_validation"]
    check_columns("human_validation", frame, ("rater", "criterion", "n", "mean", "maximum", "flag"))
    filled = frame.assign(rater=["" if is_missing(v) else str(v) for v in frame["rater"]])
    lookup = Lookup("human_validation", filled, ("rater", "criterion"))
    criteria = (*MAXIMA, TOTAL)
    rows = []
    for rater in dict.fromkeys(filled["rater"]):
        found = [lookup.get(rater, criterion) for criterion in criteria]
        cells = [whole(value_of(found[-1], "n"), reason=wording.why(found[-1]))]
        cells += [number(value_of(row, "mean"), two, reason=wording.why(row)) for row in found]
        rows.append(Row((rater or "no expert",), tuple(cells)))
    most = {**MAXIMA, TOTAL: sum(MAXIMA.values())}
    return Table(
        named("human_validation"),
        caption(
            context,
            "Mean points that each expert gives the council's decisions; n is the number of "
            "decisions that an expert scored.",
        ),
        ("Expert",),
        (
            Column("n", "n", align="r"),
            *(
                Column(name, f"{name.capitalize()} (of {most[name]})", align="r")
                for name in criteria
            ),
        ),
        tuple(rows),
        short_caption="Experts' scores of the council",
    )


# ---- McNemar's test ----------------------------------------------------------------------------


def _test_words(context: Context, family: str) -> str:
    return (
        f"McNemar's test on strict scores (exact below {context.options['exact_below']} "
        "discordant items); q: Benjamini and Hochberg's correction over all tests between "
        f"{family}. {STAR}: q ≤ {context.alpha:g}."
    )


def _tests(frame: pd.DataFrame) -> list[float]:
    return [float(q) for q in frame["q"] if not is_missing(q)]


def settings_compared(frames: Frames, context: Context) -> Table:
    """McNemar's test between settings, by model and task: who alone is right, and q."""
    frame = frames["mcnemar_settings"]
    keys = ("model", "mode", "task", "knowledge_a", "knowledge_b")
    check_columns("mcnemar_settings", frame, (*keys, "n", "b01", "b10", "q", "significant"))
    lookup = Lookup("mcnemar_settings", frame, keys)
    pairs = list(combinations(CONFIGURED, 2))
    columns = []
    for a, b in pairs:
        group = f"{SETTING_LABELS[a]} : {SETTING_LABELS[b]}"
        columns += [
            Column(
                f"{a}.{b}.counts",
                f"{SHORT_SETTINGS[a]} : {SHORT_SETTINGS[b]}",
                group,
                "r",
                link=(("a.knowledge", a), ("b.knowledge", b)),
            ),
            Column(f"{a}.{b}.q", "q", group, "r"),
        ]
    rows = []
    for model, mode, label in wording.runs(context, baselines=False):
        for task in (*TASKS, ALL):
            found = [lookup.get(model.key, mode, task, a, b) for a, b in pairs]
            sizes = [value_of(row, "n") for row in found if row is not None]
            cells = [whole(max(sizes) if sizes else None, reason="not evaluated")]
            cells += [cell for row in found for cell in _counts_and_q(row)]
            name = "All tasks" if task == ALL else wording.task_label(task)
            run = (model.key, mode)
            link = (*pair_link(run, run), ("task", "" if task == ALL else task))
            rows.append(Row((name,), tuple(cells), label, link=link))
    return Table(
        named("settings_compared"),
        caption(
            context,
            "Settings compared item by item: how many items only the first and only the second "
            "setting has right. n: items with a score in both settings (of the pair of settings "
            "that has most).",
        ),
        ("Task",),
        (Column("n", "n", align="r"), *columns),
        tuple(rows),
        (
            _test_words(context, "settings"),
            f"{captions.count(len(_tests(frame)))} tests, "
            f"{captions.count(_significant(frame))} with q ≤ {context.alpha:g}. Without a "
            "discordant item both settings are at a floor or ceiling: p is 1, which is no "
            "evidence of equality.",
            *([wording.modes_words(context)] if wording.modes_words(context) else []),
        ),
        layout="long" if len(rows) > 36 else "portrait",
        size="scriptsize",
        short_caption="Settings compared item by item",
        link=wording.ANSWERS,
    )


def _significant(frame: pd.DataFrame) -> int:
    return int((frame["significant"].astype(str).str.lower() == "true").sum())


def _is_significant(row: Mapping[str, Any] | None) -> bool:
    return str(value_of(row, "significant")).lower() == "true"


_TEST_EXTRA = ("n", "b01", "b10", "statistic", "p", "p_exact", "q", "flag")


def _counts_and_q(row: Mapping[str, Any] | None) -> tuple[Cell, Cell]:
    if row is None or not row["n"]:
        return absent("no item in common"), absent("no item in common")
    text = f"{captions.count(int(row['b01']))} : {captions.count(int(row['b10']))}"
    extra = tuple((name, value_of(row, name)) for name in _TEST_EXTRA)
    q = number(
        row["q"], p_value, reason=wording.why(row), mark=STAR if _is_significant(row) else ""
    )
    return Cell(text, text, extra=extra), q


def models_compared(frames: Frames, context: Context) -> Table:
    """McNemar's test between models by setting: items that only the row's model has right."""
    frame = frames["mcnemar_models"]
    keys = ("knowledge", "model_a", "mode_a", "model_b", "mode_b")
    check_columns("mcnemar_models", frame, (*keys, "n", "b01", "b10", "q", "significant"))
    lookup = Lookup("mcnemar_models", frame, keys)
    found = wording.runs(context, baselines=False)
    rows = []
    for knowledge in SETTINGS:
        for place, (model, mode, label) in enumerate(found, start=1):
            cells = []
            for other, other_mode, _ in found:
                if (other.key, other_mode) == (model.key, mode):
                    cells.append(Cell("", ""))
                    continue
                forward = lookup.get(knowledge, model.key, mode, other.key, other_mode)
                back = lookup.get(knowledge, other.key, other_mode, model.key, mode)
                cell = _alone(forward, "b01") if forward else _alone(back, "b10")
                link = pair_link((model.key, mode), (other.key, other_mode))
                cells.append(replace(cell, link=(*link, ("knowledge", knowledge))))
            rows.append(Row((f"{place} {label}",), tuple(cells), SETTING_LABELS[knowledge]))
    sizes = wording.n_words(frame["n"], "items that both models have a score for")
    return Table(
        named("models_compared"),
        caption(
            context,
            "Models compared item by item over all tasks: how many items the model of the row has "
            f"right and that of the column wrong; {sizes}.",
        ),
        ("Model",),
        tuple(Column(f"model_{i}", str(i)) for i in range(1, len(found) + 1)),
        tuple(rows),
        (
            _test_words(context, "models") + " Below a count: q.",
            *([wording.modes_words(context)] if wording.modes_words(context) else []),
        ),
        layout="long" if len(rows) > 24 else "portrait",
        size="scriptsize",
        short_caption="Models compared item by item",
        link=wording.ANSWERS,
    )


def _alone(row: Mapping[str, Any] | None, count: str) -> Cell:
    """The items that only one of two models has right, with the q of their test."""
    if row is None or not row["n"]:
        return absent("no item in common")
    extra = tuple((name, value_of(row, name)) for name in _TEST_EXTRA)
    q = value_of(row, "q")
    return number(
        row[count],
        lambda v: f"{v:,.0f}",
        mark=STAR if _is_significant(row) else "",
        detail="" if is_missing(q) else p_value(float(q)),
        extra=extra,
    )
