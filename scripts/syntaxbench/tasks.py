"""The six tasks of SyntaxBench: what each asks, what its inputs are called, what an answer is.

Paper: Table 1 and appendix A.2. Everything that needs to know about tasks asks this module.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from scripts.inference.schemas import object_schema

Kind = Literal["integer", "binary", "string"]

BENCHMARK = "syntaxbench"
CONDITIONS = ("english", "random")
ANSWERS_BINARY = ("yes", "no")


@dataclass(frozen=True)
class Task:
    """One task. `inputs` names the keys of `Item.inputs`; `tokenised` those that carry raw text.

    `short` is its name on a narrow axis. `answer` makes a task about one string out of this entry
    and a prompt: the right answer to the inputs `{"string": …}`, of which items (words of the
    vocabulary and their random twins) and the solver baseline follow. The other tasks draw their
    items in items.py and are solved in solvers.py; so is every yes/no task, whose answers balance.
    """

    name: str
    short: str
    kind: Kind
    group: str
    description: str
    output: str
    inputs: tuple[str, ...]
    tokenised: tuple[str, ...]
    core: bool
    answer: Callable[[Mapping[str, Any]], int | str] | None = None

    def __post_init__(self) -> None:
        if self.answer and (self.kind == "binary" or self.inputs != ("string",)):
            raise ValueError(
                f"task {self.name}: `answer` serves integer and string tasks with the one input "
                "'string'; draw other items in items.py and solve them in solvers.py"
            )

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
            short="count",
            kind="integer",
            group="Intra-word core",
            description="number of characters of a string",
            output="integer",
            inputs=("string",),
            tokenised=("string",),
            core=True,
            answer=lambda inputs: len(inputs["string"]),
        ),
        Task(
            name="letter_container",
            short="letter",
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
            short="palin-\ndrome",
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
            short="edit",
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
            short="longest",
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
            short="span",
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
