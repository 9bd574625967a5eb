"""The layouts of TIDE's tables: statistics in, `Table` out.

`build(name, frames, context)` is the entry. `frames` holds the frames that `artefacts.TABLES` names
(docs/architecture.md lists their columns). Table numbers in the docstrings are those of the TIDE
paper. A table's own name, and so its label, begins with `tide_`; its file has the short name.
"""

from __future__ import annotations

from collections.abc import Callable

from scripts.publishing.captions import Context
from scripts.publishing.layouts import Frames, in_task_order
from scripts.publishing.tables import Table
from scripts.tide.artefacts import require
from scripts.tide.tables import data, judging, readings, results, retrieval, rubrics
from scripts.tide.tasks import TASKS

BUILDERS: dict[str, Callable[[Frames, Context], Table]] = {
    "benchmarks_compared": rubrics.benchmarks_compared,
    "dataset": data.dataset,
    "main": results.main,
    "perturbation": results.perturbation,
    "complexity": data.complexity,
    "verification_rubric": rubrics.verification_rubric,
    "verification": data.verification,
    "models": rubrics.models,
    "scoring_rubric": rubrics.scoring_rubric,
    "human_rubric": rubrics.human_rubric,
    "human_validation": judging.human_validation,
    "query_fields": rubrics.query_fields,
    "outcomes": results.outcomes,
    "meaning_vs_date": results.meaning_vs_date,
    "misalignment": results.misalignment,
    "setting_differences": results.setting_differences,
    "strict_gap": results.strict_gap,
    "retrieval_by_task": retrieval.retrieval_by_task,
    "retrieval_by_model": retrieval.retrieval_by_model,
    "fidelity": data.fidelity,
    "two_calendars": data.two_calendars,
    "generation": data.generation,
    "retrieval": retrieval.retrieval,
    "council": judging.council,
    "settings_compared": judging.settings_compared,
    "models_compared": judging.models_compared,
    "tokens": data.tokens,
    "readings": readings.readings,
}


def build(name: str, frames: Frames, context: Context) -> Table:
    """Build one table by name. Raises DataError for an unknown name or a missing input file."""
    require("table", name, frames)
    return BUILDERS[name](frames, in_task_order(context, TASKS))
