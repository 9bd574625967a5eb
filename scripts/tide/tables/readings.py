"""The words for what can be read in more than one way in the paper of TIDE."""

from __future__ import annotations

from scripts.publishing.captions import Context
from scripts.publishing.layouts import Frames
from scripts.publishing.readings import Question, readings_table
from scripts.publishing.tables import Table
from scripts.tide.wording import SETTING_LABELS, named

QUESTIONS = (
    Question(
        "equation_two",
        "Partial credit (Equation 2, table 9, caption of table 17)",
        {
            "configured": "the configured weight of dates; a contradiction earns nothing",
            **{f"weight_{each}": f"the same, weight {each}" for each in ("0.26", "0.5", "0.7")},
            "keeps_dates": "a contradiction keeps the credit of matched dates",
            "pays_meaning": "the right meaning earns its part without the dates",
        },
        {
            "partial": ("partial accuracy of free answers", "share"),
            "gap": ("gap of partial and strict accuracy", "share"),
        },
        SETTING_LABELS,
    ),
    Question(
        "event_sorting",
        "Event sorting (tables 3 and 16)",
        {
            "exact": "exact order in both settings",
            "graded": "pairs in order in both settings",
            "footnote": "pairs in order under ICL, exact under RAG",
        },
        {"icl_minus_rag": ("ICL less RAG", "share")},
    ),
    Question(
        "misalignment",
        "Answers beside a planted claim (section 5, table 15)",
        {
            "strict": "strict, with the date gate",
            "meaning": "the meaning alone",
            "stated": "the authoritative value is stated",
        },
        {"right": ("right answers", "share")},
        SETTING_LABELS,
    ),
    Question(
        "unrecoverable",
        "Answers that cannot be recovered (table 13)",
        {"both": "wrong without and with the gold documents", "icl": "wrong with them"},
        {"lost": ("not recovered", "share")},
    ),
    Question(
        "identification",
        "Identified perturbations (table 4)",
        {
            "all": "strict, of all perturbed statements",
            "partial": "with partial credit",
            "flagged": "strict, of the flagged ones",
        },
        {"identified": ("identified", "share")},
        SETTING_LABELS,
    ),
    Question(
        "averages",
        "Averages over tasks (tables 3 and 13)",
        {"macro": "every task weighs the same", "pooled": "every answer weighs the same"},
        {"strict": ("strict accuracy, mean over models", "share")},
        SETTING_LABELS,
    ),
    Question(
        "unscored",
        "Answers that the council left open",
        {"left_out": "left out", "wrong": "counted as wrong"},
        {"strict": ("strict accuracy, all answers", "share")},
        SETTING_LABELS,
    ),
)


def readings(frames: Frames, context: Context) -> Table:
    """What changes with the reading of the paper."""
    return readings_table(frames, context, QUESTIONS, named("readings"))
