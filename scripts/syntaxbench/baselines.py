"""Three answerers that need no model: the floor and the ceiling beside every table row.

`solver` answers by library; `majority` gives each task one constant answer that it learnt from the
held-out demonstrations; `uniform` draws from the space of answers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from scripts.files import DataError
from scripts.records import Item, Request
from scripts.syntaxbench.items import Stream
from scripts.syntaxbench.prompts import answer_text
from scripts.syntaxbench.solvers import solve
from scripts.syntaxbench.tasks import ANSWERS_BINARY, Task, task_named

KINDS = ("majority", "uniform", "solver")


def constant_answer(task: Task, demonstrations: Sequence[Item]) -> int | str:
    """The one answer of the majority baseline, from the held-out demonstrations of both conditions.

    The most frequent gold answer; among equally frequent numbers the one nearest to the median
    (then the smaller), among equally frequent words the first by the alphabet. For index_to_span,
    whose answers never repeat, the most frequent word of the held-out documents.
    longest_string_finder has no constant: there the baseline takes the first listed string.
    Raises DataError without demonstrations.
    """
    if not demonstrations:
        raise DataError(f"{task.name}: the majority baseline needs held-out demonstrations")
    if task.kind == "string":
        values: list[Any] = [
            word
            for item in demonstrations
            for text in task.texts(item.inputs)
            for word in text.split()
        ]
    else:
        values = [item.gold["answer"] for item in demonstrations]
    counts = Counter(values)
    most = max(counts.values())
    tied = sorted(value for value, count in counts.items() if count == most)
    if task.kind == "integer":
        middle = median(values)
        return int(min(tied, key=lambda value: (abs(value - middle), value)))
    return str(tied[0])


def uniform_answer(
    task: Task, inputs: Mapping[str, Any], numbers: tuple[int, int], stream: Stream
) -> int | str:
    """A draw from the space of answers: a number of the held-out range, yes or no, one of the
    listed strings, a string of letters as long as the one given, or a span of the length asked for.
    """
    if task.kind == "integer":
        return stream.between(*numbers)
    if task.kind == "binary":
        return str(stream.pick(ANSWERS_BINARY))
    if task.name == "longest_string_finder":
        return str(stream.pick(inputs["strings"]))
    if "string" in inputs:
        return stream.letters(len(inputs["string"]))
    length = inputs["end"] - inputs["start"]
    start = stream.below(len(inputs["document"]) - length + 1)
    return str(inputs["document"][start : start + length])


def baseline_answers(
    kind: str,
    requests: Sequence[Request],
    items: Sequence[Item],
    demonstrations: Sequence[Item],
    seed: int,
) -> list[dict[str, str]]:
    """Rows `{request_id, text}` for requests of one task, in their order; text is the JSON reply.

    The gold answers of the test items are never read. Uniform draws hang on item and shots, so
    they differ between the shot settings as independent answers do. Raises DataError for an unknown
    kind or a request without its item.
    """
    if kind not in KINDS:
        raise DataError(f"unknown baseline {kind!r}; known: {', '.join(KINDS)}")
    by_id = {item.item_id: item for item in items}
    if not requests:
        return []
    missing = [request.item_id for request in requests if request.item_id not in by_id]
    if missing:
        raise DataError(f"no item {missing[0]} for its request; build items and requests again")
    task = task_named(by_id[requests[0].item_id].task)
    constant: int | str = ""
    numbers = (0, 0)
    if kind != "solver":
        constant = constant_answer(task, demonstrations)
        if task.kind == "integer":
            held_out = [int(item.gold["answer"]) for item in demonstrations]
            numbers = (min(held_out), max(held_out))

    def answer(request: Request) -> int | str:
        inputs = by_id[request.item_id].inputs
        if kind == "solver":
            return solve(task.name, inputs)
        if kind == "uniform":
            name = (seed, "uniform", request.item_id, request.setting["shots"])
            return uniform_answer(task, inputs, numbers, Stream(*name))
        return str(inputs["strings"][0]) if task.name == "longest_string_finder" else constant

    return [
        {"request_id": request.request_id, "text": answer_text(answer(request))}
        for request in requests
    ]
