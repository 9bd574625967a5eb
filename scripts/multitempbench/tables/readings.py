"""The words for what can be read in more than one way in the paper of MultiTempBench."""

from __future__ import annotations

from itertools import combinations

from scripts.multitempbench.tables.mechanism import term_words
from scripts.multitempbench.tasks import LANGUAGE_LABELS
from scripts.publishing.captions import Context
from scripts.publishing.layouts import Frames
from scripts.publishing.readings import Question, readings_table
from scripts.publishing.tables import Table

#: The terms of the main model, without its intercept.
TERMS = [
    ":".join(chosen)
    for size in (1, 2, 3)
    for chosen in combinations(("mdfr_z", "linearity_z", "resource"), size)
]

QUESTIONS = (
    Question(
        "regression",
        "The model's random effect (section 6.4 against the released script)",
        {
            "crossed": "crossed with the questions",
            "permutation": "crossed, p by permutation",
            "crossed_cells": "crossed, with seed question and model by language",
            "nested": "nested in the question, the released model",
            "nested_question": "nested, with an intercept of the question",
        },
        {term: (term_words(term), "number") for term in TERMS},
    ),
    Question(
        "probe",
        "What the R² of a probe is (Equation 5 against the released script)",
        {
            "cross_validated": "cross-validated",
            "in_sample": "in sample (Equation 5)",
            "released": "of the states on the year, as released",
        },
        {
            "year_r2": ("R² of the year, mean over languages", "number"),
            "linearity_z": ("crossed coefficient of linearity", "number"),
        },
    ),
    Question(
        "fragmentation",
        "The formula of mDFR (Equation 1 against tables 2 and 4)",
        {"eq1": "Equation 1", "released": "as released"},
        {
            "mdfr": ("mean mDFR", "number"),
            "human": ("Spearman's ρ with people's ratings", "number"),
            "accuracy_r": ("Pearson's r with accuracy", "number"),
            "slope": ("crossed coefficient of mDFR", "number"),
        },
        LANGUAGE_LABELS,
    ),
    Question(
        "scoring",
        "What makes an answer right (section 5.2 against the released regression)",
        {"judge": "the judge's verdict", "substring": "the gold string is in the reply"},
        {"accuracy": ("accuracy", "share")},
    ),
    Question(
        "printed_cells",
        "How a cell of table 3 is printed",
        {
            "rounded": "the exact mean of the tasks, rounded",
            "thirds": "the mean of three whole percentages",
            "cut": "the exact mean, cut off",
        },
        {"moved": ("cells that print another percentage", "count")},
    ),
    Question(
        "judge_agreement",
        "Agreement of the judges (section 5.2 against A.4)",
        {"kappa": "Cohen's kappa", "share": "share of equal verdicts"},
        {"agreement": ("agreement", "number")},
        {"human": "people"},
    ),
)


def readings(frames: Frames, context: Context) -> Table:
    """What changes with the reading of the paper."""
    return readings_table(frames, context, QUESTIONS, "multitempbench_readings")
