"""The tasks of TIDE: their fields, what a model and a retrieval query may see, how they are scored.

Source: TIDE sections 2.5 and A.8.3 (fields, targets), table 12 (query fields), table 9 (scoring).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["choice", "order", "verdict", "free"]

#: Ways to get at the corpus that every model is asked under; further ones are ablations of rag.
SETTINGS = ("parametric", "icl", "rag")
#: The second step of perturbation detection: why and where a flagged statement is wrong.
IDENTIFICATION = "perturbation_identification"


@dataclass(frozen=True, slots=True)
class Task:
    """A task: printed label, kind of answer, pairs asked for per thread, and its fields.

    `shown` are the fields that a model may see, `query` those of the retrieval query (never an
    answer, the options, or the misleading passage), `hidden` the fields that only scoring sees.
    """

    name: str
    label: str
    kind: Kind
    target: int
    shown: tuple[str, ...]
    query: tuple[str, ...]
    hidden: tuple[str, ...]

    @property
    def fields(self) -> tuple[str, ...]:
        """All fields of a question pair of the task."""
        return self.shown + self.hidden

    @property
    def judged(self) -> bool:
        """Whether the council judges the answer."""
        return self.kind == "free"


_TASKS = (
    Task(
        "temporal_mcq", "Temporal MCQ", "choice", 6,
        ("question", "options"), ("question",), ("answer_index", "answer", "explanation"),
    ),
    Task(
        "event_sorting", "Event sorting", "order", 4,
        ("question", "events_shuffled"), ("events_shuffled",), ("answer_ordered",),
    ),
    Task(
        "perturbation_detection", "Perturbation detection", "verdict", 6,
        ("statement", "question"), ("statement",),
        ("is_perturbed", "perturbed_fact", "correct_fact", "answer"),
    ),
    Task(
        "scenario_short_answer", "Scenario SA", "free", 6,
        ("scenario", "question"), ("scenario", "question"), ("answer", "date_or_instrument"),
    ),
    Task(
        "temporal_scenario_short_answer", "Temporal scenario SA", "free", 5,
        ("scenario", "question"), ("scenario", "question"), ("answer", "clauses_involved"),
    ),
    Task(
        "relative_time_qa", "Relative-time QA", "free", 4,
        ("question",), ("question",), ("seed_time", "relative_offset", "answer"),
    ),
    Task("open_ended", "Open-ended", "free", 6, ("question",), ("question",), ("answer",)),
    Task(
        "context_misalignment", "Context misalignment", "free", 5,
        ("misaligned_context", "question"), ("question",), ("conflict", "answer"),
    ),
)  # fmt: skip

TASKS: dict[str, Task] = {task.name: task for task in _TASKS}
TASK_LABELS: dict[str, str] = {
    **{task.name: task.label for task in _TASKS},
    IDENTIFICATION: "Perturbation identification",
}
