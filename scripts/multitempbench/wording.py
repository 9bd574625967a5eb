"""Names and words that the tables and figures of MultiTempBench share."""

from __future__ import annotations

from scripts.multitempbench.tasks import LANGUAGE_LABELS, LANGUAGES
from scripts.publishing import captions
from scripts.publishing.captions import NON_THINKING, THINKING, Context

ALL = "all"
CALENDAR_LABELS = {"gregorian": "Gregorian", "hijri": "Hijri", "lunar": "Lunar"}
FORMAT_LABELS = {"iso": "ISO", "slash": "numeric", "long": "textual", "calendar": "calendar"}
PREDICTOR_LABELS = {
    "mdfr": "mDFR",
    "mdfr_as_published": "mDFR as published",
    "linearity": "linearity",
    "year_r2": "year",
    "month_r2": "month",
    "day_r2": "day",
}
# What stands behind the names of the measures; printed wherever one of them is.
MDFR_WORDS = "mDFR: Equation 1 of the paper, higher is more fragmented."
PUBLISHED_WORDS = (
    "mDFR as published: the formula of the authors' script, which subtracts the penalties, so that "
    "more tokens lower it."
)
LINEARITY_WORDS = (
    "Linearity: cross-validated R² of linear probes on hidden states, mean over year, month and "
    "day, at the layer chosen on a held-out format."
)
CAUTION = "caution"


def languages(context: Context) -> list[str]:
    """The languages of the run in the paper's order."""
    return [language for language in LANGUAGES if language in context.options["languages"]]


def formats(context: Context) -> list[str]:
    """The formats of the run in the order of the configuration."""
    return [str(name) for name in context.options["formats"]]


def modes(context: Context) -> list[str]:
    """The modes that any model of the run has, thinking first."""
    return [mode for mode in (THINKING, NON_THINKING) if context.has_mode(mode)]


def language_name(code: object) -> str:
    """The English name of a language; the code itself when it is unknown."""
    return LANGUAGE_LABELS.get(str(code), str(code))


def questions_words(context: Context) -> str:
    """How many seed questions a task has by plan: `12` or `12 to 24`."""
    return f"{captions.between(context.tasks.values())} seed questions a task"


def interval_words(context: Context) -> str:
    """How the accuracy intervals were made."""
    return (
        f"Intervals: {captions.level_words(context)} percentile bootstrap over seed questions, "
        f"each with all its variants ({captions.count(context.resamples)} resamples, seed "
        f"{context.seed}); Wilson's over seed questions where all answers are right, or none."
    )
