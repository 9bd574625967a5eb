"""The layouts of MultiTempBench's tables: statistics in, `Table` out.

`build(name, frames, context)` is the entry. `frames` holds the frames that `artefacts.TABLES` names
(docs/architecture.md lists their columns). Table numbers in the docstrings are those of the
MultiTempBench paper.
"""

from __future__ import annotations

from collections.abc import Callable

from scripts.multitempbench.artefacts import require
from scripts.multitempbench.tables import data, fragmentation, judging, mechanism, readings, results
from scripts.multitempbench.tasks import TASKS
from scripts.publishing.captions import Context
from scripts.publishing.layouts import Frames, in_task_order
from scripts.publishing.tables import Table

BUILDERS: dict[str, Callable[[Frames, Context], Table]] = {
    "formats": data.formats,
    "dataset": data.dataset,
    "curation": data.curation,
    "accuracy": results.accuracy,
    "accuracy_formats": results.accuracy_formats,
    "accuracy_tasks": results.accuracy_tasks,
    "mdfr": fragmentation.mdfr,
    "mdfr_as_published": fragmentation.mdfr_as_published,
    "fragmentation_examples": fragmentation.fragmentation_examples,
    "fragmentation_ratings": fragmentation.fragmentation_ratings,
    "metric_correlation": fragmentation.metric_correlation,
    "weights": fragmentation.weights,
    "judge_rubric": judging.judge_rubric,
    "judge_agreement": judging.judge_agreement,
    "probes": mechanism.probes,
    "correlations": mechanism.correlations,
    "regression": mechanism.regression,
    "regression_slopes": mechanism.regression_slopes,
    "readings": readings.readings,
}


def build(name: str, frames: Frames, context: Context) -> Table:
    """Build one table by name. Raises DataError for an unknown name or a missing input file."""
    require("table", name, frames)
    return BUILDERS[name](frames, in_task_order(context, TASKS))
