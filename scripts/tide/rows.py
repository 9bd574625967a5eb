"""Row types of TIDE's own files: elements of records, entities, threads, question pairs.

All are `records.Record`s: unknown and missing keys are errors. docs/architecture.md lists files.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from scripts.records import Record, RecordError, content_id
from scripts.tide.tasks import TASKS


@dataclass(frozen=True, slots=True)
class Element(Record):
    """One clause or metadata item of a document, with its tables restored in the text."""

    optional: ClassVar[frozenset[str]] = frozenset({"document_date"})

    element_id: str
    document: str
    document_type: str
    type: str
    category: str
    number: str
    title: str
    text: str
    page_start: int
    page_end: int
    table_ids: list[str]
    dates: list[dict[str, Any]]
    document_date: str | None = None


@dataclass(frozen=True, slots=True)
class EntityRow(Record):
    """Entities of one element: `{name, concepts: [str], sub_entities: [{name, concept}]}` each."""

    element_id: str
    entities: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Cluster(Record):
    """Surface forms that name one thing, the elements that mention them, and their dates."""

    cluster_id: str
    name: str
    members: list[str]
    element_ids: list[str]
    dates: list[str]
    qualifies: bool
    reason: str


@dataclass(frozen=True, slots=True)
class Thread(Record):
    """A topic that evolves: its timeline of dated instruments, dimensions, restatements apart."""

    thread_id: str
    cluster_id: str
    title: str
    concept: str
    summary: str
    dimensions: list[dict[str, str]]
    timeline: list[dict[str, Any]]
    restatements: list[str]
    element_ids: list[str]


@dataclass(frozen=True, slots=True)
class QuestionPair(Record):
    """One question with its gold answer; `fields` are those of the task (`tasks.Task.fields`)."""

    question_id: str
    task: str
    thread_id: str
    cluster_id: str
    clause_ids: list[str]
    fields: dict[str, Any]
    origin: str

    @classmethod
    def create(  # noqa: PLR0917
        cls,
        task: str,
        thread_id: str,
        cluster_id: str,
        clause_ids: list[str],
        fields: dict[str, Any],
        origin: str,
    ) -> QuestionPair:
        """A pair whose id follows from its content, never from its place in the file."""
        question_id = f"{task}-{content_id(task, thread_id, sorted(clause_ids), fields)}"
        return cls(question_id, task, thread_id, cluster_id, clause_ids, fields, origin)

    def check(self) -> None:
        """Raise RecordError for an unknown task or fields other than the task's."""
        super(QuestionPair, self).check()
        if self.task not in TASKS:
            raise RecordError(f"QuestionPair: unknown task {self.task!r}; known: {list(TASKS)}")
        if set(self.fields) != set(TASKS[self.task].fields):
            raise RecordError(
                f"QuestionPair {self.question_id}: fields {sorted(self.fields)}, "
                f"expected {sorted(TASKS[self.task].fields)}"
            )
