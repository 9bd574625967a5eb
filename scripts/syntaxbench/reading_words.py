"""The words for what can be read in more than one way in the paper of SyntaxBench."""

from __future__ import annotations

from scripts.publishing.readings import Question
from scripts.syntaxbench.tasks import TASKS

QUESTIONS = (
    Question(
        "mcnemar_family",
        "Family of McNemar's tests between models (A.6 against tables 8 and 9)",
        {
            "pair": "all cells of one pair of models",
            "cell": "all pairs of models in one cell",
        },
        {"significant": ("significant tests, both conditions together", "count")},
    ),
    Question(
        "yates",
        "Yates' correction of English against random (A.6)",
        {
            "observed": "where an observed count is below five",
            "expected": "where an expected count is below five",
            "never": "never",
            "always": "always",
        },
        {"significant": ("significant tests of the family", "count")},
    ),
    Question(
        "kappa_parse_errors",
        "Parse errors in Cohen's kappa of the binary tasks (tables 3 and 7)",
        {
            "opposite": "the opposite label",
            "dropped": "left out",
            "third": "a label of their own",
        },
        {"kappa": ("kappa", "number")},
        {name: task.name for name, task in TASKS.items()},
    ),
    Question(
        "format_failures",
        "Format failures in accuracy (section 4.5, figure 9)",
        {"wrong": "a parse error is a wrong answer", "valid": "of valid replies only"},
        {"macro_ema": ("macro EMA", "share")},
    ),
    Question(
        "macro_interval",
        "What the interval of the composite resamples (section 4.1, A.6)",
        {
            "tasks": "the task accuracies",
            "tasks_1000": "the task accuracies, 1,000 resamples",
            "items": "the items of every task",
        },
        {"macro_ema": ("macro EMA", "share")},
    ),
    Question(
        "incomplete_cells",
        "Items that were never answered (table 6, caption of table 18)",
        {
            "left_out": "left out; a task without a condition leaves the macro",
            "wrong": "counted as wrong",
        },
        {"macro_ema": ("macro EMA", "share")},
    ),
    Question(
        "tau_ties",
        "Ties in the trend over shots (A.6 against table 10)",
        {"ties": "a tie keeps a trend monotone", "strict": "monotone only where tau is 1 or -1"},
        {"monotone": ("cells labelled monotone", "count")},
    ),
    Question(
        "rounding",
        "Ties at the last printed digit of an accuracy (tables 3 and 7)",
        {
            "float": "as the floating-point number is formatted",
            "half_up": "away from zero",
            "half_even": "to the even digit",
        },
        {"moved": ("cells that print another percentage", "count")},
    ),
)
