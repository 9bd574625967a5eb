"""The rows of readings.csv, what a nested effect amounts to, and the table of all readings."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf

from scripts.files import DataError, read_csv, write_csv
from scripts.publishing import readings as layout
from scripts.publishing.captions import Context
from scripts.publishing.readings import Question, readings_table
from scripts.publishing.tables import Table, to_latex
from scripts.statistics.mixed import factorial_design, fit_linear_mixed
from scripts.statistics.readings import Reading, independent_rows, readings_frame

QUESTION = Question(
    "rounding",
    "How it is rounded",
    {"up": "away from zero", "even": "to the even digit"},
    {"moved": ("cells that move", "count"), "share": ("accuracy", "share"), "r": ("r", "number")},
    {"en": "English"},
)
SILENT = Question("silent", "Nothing to read", {"only": "the only one"}, {"x": ("x", "number")})
CONTEXT = Context(
    kind="embedded",
    seed=42,
    models=(),
    baselines=(),
    tasks={},
    shots=(0,),
    headline_shots=0,
    resamples=100,
    level=0.95,
    alpha=0.05,
)


def table_of(rows: list[Reading], tmp_path: Path) -> Table:
    """The table as it is made from the file."""
    write_csv(tmp_path / "readings.csv", readings_frame(rows))
    frames = {"readings": read_csv(tmp_path / "readings.csv")}
    return readings_table(frames, CONTEXT, (QUESTION, SILENT), "readings")


def test_a_row_that_stands_twice_is_named() -> None:
    row = Reading("rounding", "up", "moved", "en", 3.0)
    assert readings_frame([row])["value"].tolist() == [3.0]
    with pytest.raises(DataError, match="rounding, moved, en, up stands twice"):
        readings_frame([row, Reading("rounding", "up", "moved", "en", 4.0)])


# ---- least squares -------------------------------------------------------------------------------


def answers(seed: int, questions: int = 25, models: int = 6, sd: float = 0.3) -> pd.DataFrame:
    """One answer a question and model; the model's own effect has this sd, `ability` has none."""
    generator = np.random.default_rng(seed)
    rows = pd.DataFrame(
        [(q, m) for q in range(questions) for m in range(models)], columns=["question", "model"]
    )
    rows["ability"] = generator.normal(size=models)[rows["model"]]
    rows["y"] = (
        generator.normal(0, sd, models)[rows["model"]]
        + generator.normal(0, 0.2, questions)[rows["question"]]
        + generator.normal(0, 0.35, len(rows))
    )
    return rows


def test_independent_rows_are_what_the_released_nested_model_is() -> None:
    rows = answers(5)
    found = independent_rows(rows["y"], factorial_design(rows, ["ability"]))
    ordinary = sm.OLS(rows["y"], sm.add_constant(rows["ability"])).fit(use_t=False)
    np.testing.assert_allclose(found.estimates, ordinary.params, rtol=1e-10)
    np.testing.assert_allclose(found.standard_errors, ordinary.bse, rtol=1e-10)
    np.testing.assert_allclose(found.p, ordinary.pvalues, rtol=1e-8)
    np.testing.assert_allclose([found.low, found.high], ordinary.conf_int().T, rtol=1e-8)
    with warnings.catch_warnings():
        # statsmodels warns that the Hessian is singular; the standard errors that it prints come
        # from inverting it, are smaller still, and belong to no model.
        warnings.simplefilter("ignore")
        released = smf.mixedlm(
            "y ~ ability", rows, groups=rows["question"], vc_formula={"model": "0 + C(model)"}
        ).fit(reml=True)
    np.testing.assert_allclose(found.estimates, released.fe_params, rtol=1e-6)
    # One quantity, split in two: the model's variance and the residual's.
    assert released.vcomp[0] == pytest.approx(released.scale, rel=1e-3)
    assert released.vcomp[0] + released.scale == pytest.approx(ordinary.scale, rel=1e-6)


def test_a_nested_effect_finds_what_is_not_there() -> None:
    """Sixty simulations of a predictor of models that has no effect, 25 questions x 6 models."""
    nested, crossed = [], []
    for seed in range(60):
        rows = answers(seed)
        design = factorial_design(rows, ["ability"])
        nested.append(independent_rows(rows["y"], design).p[1])
        groups = {"question": rows["question"], "model": rows["model"]}
        crossed.append(fit_linear_mixed(rows["y"], design, groups).p[1])
    assert np.mean(np.array(nested) <= 0.05) >= 0.5
    # With six models the normal p of the crossed fit is liberal, but not by an order.
    assert np.mean(np.array(crossed) <= 0.05) <= 0.25


def test_what_least_squares_cannot_do() -> None:
    rows = answers(1, questions=3, models=2)
    design = factorial_design(rows, ["ability"])
    with pytest.raises(DataError, match="cannot carry the 2 terms"):
        independent_rows(rows["y"][:2], design[:2])
    with pytest.raises(DataError, match="cannot carry"):
        independent_rows(rows["y"], design.assign(twice=2 * design["ability"]))
    with pytest.raises(DataError, match="explains the response completely"):
        independent_rows(3 * rows["ability"], design)


# ---- the table -----------------------------------------------------------------------------------


def test_a_reading_stands_beside_the_one_that_is_used(tmp_path: Path) -> None:
    rows = [
        Reading("rounding", "even", "moved", value=3.0, n=40),
        Reading("rounding", "up", "moved", value=5.0, n=40),
        Reading("rounding", "up", "share", "en", 0.5, 0.4, 0.6, 0.2, 10),
        Reading("rounding", "even", "share", "en", n=10, flag="constant"),
        Reading("rounding", "up", "r", value=-0.25, n=4),
        Reading("rounding", "even", "r", value=-0.5, p=0.0001, n=4),
    ]
    table = table_of(rows, tmp_path)
    printed = [(*row.stub, *(cell.printed for cell in row.cells)) for row in table.rows]
    assert printed == [
        ("cells that move", "away from zero", "5", "0", "–", "40"),
        ("cells that move", "to the even digit", "3", "−2", "–", "40"),
        ("accuracy, English", "away from zero", "50.0 [40.0, 60.0]", "0.0", "0.200", "10"),
        ("accuracy, English", "to the even digit", "–", "–", "–", "10"),
        ("r", "away from zero", "−0.250", "0.000", "–", "4"),
        ("r", "to the even digit", "−0.500", "−0.250", "<0.001", "4"),
    ]
    assert [row.repeated for row in table.rows] == [False, True] * 3
    assert {row.block for row in table.rows} == {"How it is rounded"}
    assert any("Nothing to read" in note for note in table.notes)
    assert table.rows[3].cells[0].missing == "not estimated: the values do not vary"
    assert "longtable" in to_latex(table)


@pytest.mark.parametrize(
    "row",
    [
        Reading("unknown", "up", "moved"),
        Reading("rounding", "down", "moved"),
        Reading("rounding", "up", "unknown"),
    ],
)
def test_a_row_without_words_is_refused(row: Reading, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no words for question"):
        table_of([row], tmp_path)


def test_no_rows_give_a_table_that_names_the_questions(tmp_path: Path) -> None:
    table = table_of([], tmp_path)
    assert not table.rows
    assert any("How it is rounded; Nothing to read" in note for note in table.notes)


def test_a_scope_is_told_in_words() -> None:
    told = layout._scope(QUESTION, "model-x|non_thinking|shots=4|en", CONTEXT)
    assert told == "model-x, non-thinking, 4-shot, English"
