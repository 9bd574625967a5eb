"""The six tasks of SyntaxBench: what each asks, what its inputs are called, what an answer is.

Paper: Table 1 and appendix A.2. Everything that needs to know about tasks asks this module.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from scripts.inference.schemas import object_schema

Kind = Literal["integer", "binary", "string"]

BENCHMARK = "syntaxbench"
CONDITIONS = ("english", "random")
ANSWERS_BINARY = ("yes", "no")


@dataclass(frozen=True)
class Task:
    """One task. `inputs` names the keys of `Item.inputs`; `tokenised` those that carry raw text."""

    name: str
    kind: Kind
    group: str
    description: str
    output: str
    inputs: tuple[str, ...]
    tokenised: tuple[str, ...]
    core: bool

    @property
    def response_schema(self) -> dict[str, Any]:
        """JSON Schema of the answer object, for schema-constrained decoding."""
        answer: dict[str, Any] = {"type": "string"}
        if self.kind == "integer":
            answer = {"type": "integer"}
        elif self.kind == "binary":
            answer = {"type": "string", "enum": list(ANSWERS_BINARY)}
        return object_schema({"result": answer})

    def texts(self, inputs: Mapping[str, Any]) -> list[str]:
        """The raw input strings of an item, without the prompt (and without the letter asked for).

        One string for most tasks, two for edit_distance, the whole list for longest_string_finder.
        """
        out: list[str] = []
        for name in self.tokenised:
            value = inputs[name]
            out.extend(value if isinstance(value, list) else [value])
        return out


TASKS: dict[str, Task] = {
    task.name: task
    for task in (
        Task(
            name="count_chars",
            kind="integer",
            group="Intra-word core",
            description="number of characters of a string",
            output="integer",
            inputs=("string",),
            tokenised=("string",),
            core=True,
        ),
        Task(
            name="letter_container",
            kind="binary",
            group="Intra-word core",
            description="whether a letter occurs in a string, in either case",
            output="yes/no",
            inputs=("string", "letter"),
            tokenised=("string",),
            core=True,
        ),
        Task(
            name="palindrome_test",
            kind="binary",
            group="Intra-word core",
            description="whether a string is the same read backwards",
            output="yes/no",
            inputs=("string",),
            tokenised=("string",),
            core=True,
        ),
        Task(
            name="edit_distance",
            kind="integer",
            group="Inter-word core",
            description="Levenshtein distance of two strings",
            output="integer",
            inputs=("first", "second"),
            tokenised=("first", "second"),
            core=True,
        ),
        Task(
            name="longest_string_finder",
            kind="string",
            group="Inter-word core",
            description="the one longest of three or more strings",
            output="string",
            inputs=("strings",),
            tokenised=("strings",),
            core=True,
        ),
        Task(
            name="index_to_span",
            kind="string",
            group="Stress test",
            description="the substring between two offsets of a long text",
            output="string",
            inputs=("document", "start", "end"),
            tokenised=("document",),
            core=False,
        ),
    )
}


def task_named(name: str) -> Task:
    """The task of that name; KeyError lists the known ones."""
    try:
        return TASKS[name]
    except KeyError:
        raise KeyError(f"unknown task {name!r}; SyntaxBench has {', '.join(TASKS)}") from None
