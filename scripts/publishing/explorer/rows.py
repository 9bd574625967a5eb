"""What a benchmark hands to the explorer: one JSONL file of four kinds of line.

First one `benchmark` line, then `item`, `prompt` and `answer` lines in any order that names nothing
before it stands there. Items and prompts stand once, however many models answered them. Fields:
docs/data-formats.md, "Rows of the explorer". The explorer reads these files and nothing else, so a
benchmark joins by bringing one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, ClassVar

import pandas as pd

from scripts.execution import file_list
from scripts.files import DataError, atomic_write, dump_line, iterate_jsonl, read_records
from scripts.publishing.tables import is_missing
from scripts.records import Item, Judgement, Record, RecordError, Request, Response

#: Facets that every row has; a benchmark may give them labels, and adds facets of its own.
COMMON_FACETS = ("benchmark", "task", "model", "mode", "outcome", "category")
#: Keys of a link to the explorer that are no facets.
RESERVED = frozenset({"q", "answer", "a", "b", "pair"})


@dataclass(frozen=True, slots=True)
class _Row(Record):
    """A line of the file; every field is checked against the type that it is declared with."""

    def check(self) -> None:
        """Raise RecordError when a field has the wrong type."""
        for each in fields(self):
            value, kind = getattr(self, each.name), str(each.type)
            if value is None and each.name in self.optional:
                continue
            expected = {"s": str, "b": bool, "l": list, "d": dict}[kind[0]]
            if not isinstance(value, expected):
                raise RecordError(
                    f"{type(self).__name__}: field {each.name!r} is {type(value).__name__}, "
                    f"expected {expected.__name__}"
                )


@dataclass(frozen=True, slots=True)
class BenchmarkRow(_Row):
    """The first line: the benchmark's name in print, and its facets in the order shown.

    `facets`: name to `{"label": str, "values": {value: label}}`; a value without a label is its
    own. Names of COMMON_FACETS only add labels. Values that are declared come first, in this order.
    """

    benchmark: str
    label: str
    facets: dict[str, Any]

    def check(self) -> None:
        """Raise RecordError for a field of the wrong type or a facet that a link cannot name."""
        super(BenchmarkRow, self).check()
        bad = sorted(RESERVED & set(self.facets))
        if bad:
            raise RecordError(f"benchmark {self.benchmark}: facets may not be named {bad}")


@dataclass(frozen=True, slots=True)
class ItemRow(_Row):
    """A question under one task: what the list shows of it, its gold answer, its facets."""

    optional: ClassVar[frozenset[str]] = frozenset({"language"})

    item_id: str
    task: str
    title: str
    gold: str
    facets: dict[str, str]
    details: dict[str, Any]
    language: str | None = None


@dataclass(frozen=True, slots=True)
class PromptRow(_Row):
    """What was asked about an item in one setting; `facets` says in which."""

    prompt_id: str
    item_id: str
    facets: dict[str, str]
    messages: list[dict[str, str]]


@dataclass(frozen=True, slots=True)
class AnswerRow(_Row):
    """What one model said, and what was made of it.

    `correct` is None where the answer is unscored. `votes`: one mapping a judge with `judge`,
    `vote`, `details` and `raw`. `details` are further values of the score.
    """

    optional: ClassVar[frozenset[str]] = frozenset({"correct", "parsed", "reasoning", "error"})

    prompt_id: str
    item_id: str
    task: str
    model: str
    mode: str
    valid: bool
    category: str
    route: str
    text: str
    finish_reason: str
    votes: list[dict[str, Any]]
    details: dict[str, Any]
    correct: bool | None = None
    parsed: str | None = None
    reasoning: str | None = None
    error: str | None = None


KINDS: dict[str, type[_Row]] = {
    "benchmark": BenchmarkRow,
    "item": ItemRow,
    "prompt": PromptRow,
    "answer": AnswerRow,
}
_KIND_OF = {kind: name for name, kind in KINDS.items()}


def to_line(row: _Row) -> dict[str, Any]:
    """The row as a JSON object with its kind."""
    return {"kind": _KIND_OF[type(row)], **row.to_json()}


def iterate_rows(path: Path | str) -> Iterator[_Row]:
    """The rows of a file, one at a time; DataError naming the line for anything else."""
    for number, line in iterate_jsonl(path):
        kind = line.pop("kind", None)
        try:
            if kind not in KINDS:
                raise RecordError(f"kind {kind!r} is none of {', '.join(KINDS)}")
            if (number == 1) != (kind == "benchmark"):
                raise RecordError("the first line, and no other, is of the kind benchmark")
            yield KINDS[kind].from_json(line)
        except (RecordError, TypeError) as error:
            raise DataError(f"{path}, line {number}: {error}; gather the rows again") from error


# ---- from the files of a benchmark --------------------------------------------------------------


@dataclass(frozen=True)
class Adapter:
    """How a benchmark's items, requests, judgements and scores become rows.

    `items`: an item as one row a task. `setting`: a request's own facets. `vote`: a judgement in a
    few words, and its values. `details`: columns of the scores to show, with their labels.
    `correct`: whether a score row is right, None where the statistics leave it out.
    `unscored_task`: the task of answers without a score; without one they are an error.
    """

    header: BenchmarkRow
    items: Callable[[Item], Sequence[ItemRow]]
    setting: Callable[[Request], dict[str, str]]
    details: Mapping[str, str]
    vote: Callable[[Judgement], tuple[str, dict[str, Any]]] = lambda _: ("", {})
    correct: Callable[[Mapping[str, Any]], bool | None] = lambda row: truth(row["correct"])
    unscored_task: str = ""


@dataclass(frozen=True)
class Sources:
    """Files of a benchmark. `judgements`: (model, mode) to (judge, file), in the judges' order."""

    item_files: Sequence[str]
    requests: Sequence[str]
    responses: Sequence[str]
    scores: pd.DataFrame
    judgements: Mapping[tuple[str, str], Sequence[tuple[str, str]]] = field(default_factory=dict)

    @classmethod
    def of(cls, given: Any, scores: pd.DataFrame, params: Any = None) -> Sources:
        """The named inputs of a rule; `judgements` only where params name `judges` and `runs`."""
        judgements = (
            by_run(params.judges, params.runs, file_list(given.judgements)) if params else {}
        )
        return cls(
            file_list(given.item_files),
            file_list(given.requests),
            file_list(given.responses),
            scores,
            judgements,
        )


# What is said of an answer that no score belongs to.
_NO_SCORE = {"valid": False, "category": "no_score", "route": "asked, but no part of any score"}


def truth(value: Any) -> bool | None:
    """A nullable boolean as Python's own."""
    return None if is_missing(value) else bool(value)


def by_run(
    judges: Sequence[str], runs: Sequence[Sequence[str]], paths: Sequence[str]
) -> dict[tuple[str, str], list[tuple[str, str]]]:
    """Files of judgements (judges outer, runs inner) by run; DataError for another number."""
    if len(paths) != len(judges) * len(runs):
        raise DataError(
            f"{len(paths)} files of judgements for {len(judges)} judges of {len(runs)} runs; "
            "expected one each"
        )
    out: dict[tuple[str, str], list[tuple[str, str]]] = {}
    files = iter(paths)
    for judge in judges:
        for model, mode in runs:
            out.setdefault((model, mode), []).append((judge, next(files)))
    return out


def write_rows(path: Path | str, adapter: Adapter, sources: Sources) -> int:
    """Write the file of a benchmark, one run in memory at a time; returns the number of answers.

    Raises DataError, naming the row, where responses and scores do not belong together.
    """
    answers = 0
    with atomic_write(path, "wb") as handle:
        handle.write(dump_line(to_line(adapter.header)))
        for file in sources.item_files:
            for item in read_records(file, Item):
                for row in adapter.items(item):
                    handle.write(dump_line(to_line(row)))
        seen: set[str] = set()
        for file in sources.requests:
            for request in read_records(file, Request):
                # The same second step may stand in the files of several runs.
                if request.request_id not in seen:
                    handle.write(dump_line(to_line(_prompt(request, adapter))))
                seen.add(request.request_id)
        for answer in _answers(adapter, sources):
            handle.write(dump_line(to_line(answer)))
            answers += 1
    return answers


def _prompt(request: Request, adapter: Adapter) -> PromptRow:
    return PromptRow(
        request.request_id, request.item_id, adapter.setting(request), request.messages
    )


def _answers(adapter: Adapter, sources: Sources) -> Iterator[AnswerRow]:
    """One row a score, run by run: a response may have the score of a second step as well."""
    places: dict[tuple[str, str, str], list[int]] = {}
    keys = zip(*(sources.scores[name] for name in ("model", "mode", "request_id")), strict=True)
    for index, (model, mode, request) in enumerate(keys):
        places.setdefault((str(model), str(mode), str(request)), []).append(index)
    columns = {str(name): sources.scores[name].tolist() for name in sources.scores}
    run: tuple[str, str] | None = None
    votes: dict[str, list[dict[str, Any]]] = {}
    for file in sources.responses:
        for response in read_records(file, Response):
            if run != (response.model, response.mode):
                run = (response.model, response.mode)
                votes = _votes(sources.judgements.get(run, ()), adapter)
            found = places.pop((*run, response.request_id), None)
            if found is None and adapter.unscored_task:
                empty = dict.fromkeys(columns) | _NO_SCORE | {"task": adapter.unscored_task}
                yield _answer(response, empty, votes.get(response.request_id, []), adapter)
                continue
            if found is None:
                raise DataError(
                    f"{file}: request {response.request_id} of {run} has no score; score the "
                    "responses again"
                )
            for index in found:
                score = {name: values[index] for name, values in columns.items()}
                # The votes are on the step that this response belongs to.
                own = score["category"] != "not_flagged"
                yield _answer(
                    response, score, votes.get(response.request_id, []) if own else [], adapter
                )
    if places:
        raise DataError(
            f"{len(places)} score(s) without a response, the first {min(places)}; score again"
        )


def _votes(files: Iterable[tuple[str, str]], adapter: Adapter) -> dict[str, list[dict[str, Any]]]:
    """The votes on each response of a run, in the judges' order."""
    out: dict[str, list[dict[str, Any]]] = {}
    for judge, file in files:
        for row in read_records(file, Judgement):
            vote, details = adapter.vote(row)
            entry = {"judge": judge, "vote": vote, "details": plain(details), "raw": row.raw}
            out.setdefault(row.request_id, []).append(entry)
    return out


def _answer(
    response: Response,
    score: Mapping[str, Any],
    votes: list[dict[str, Any]],
    adapter: Adapter,
) -> AnswerRow:
    return AnswerRow(
        prompt_id=response.request_id,
        item_id=response.item_id,
        task=str(score["task"]),
        model=response.model,
        mode=response.mode,
        valid=bool(score["valid"]),
        category=str(score["category"]),
        route="" if is_missing(score["route"]) else str(score["route"]),
        text=response.text,
        finish_reason=response.finish_reason,
        votes=votes,
        details=plain({label: score[name] for name, label in adapter.details.items()}),
        correct=adapter.correct(score),
        parsed=None if is_missing(score["parsed"]) else str(score["parsed"]),
        reasoning=response.reasoning,
        error=response.error,
    )


def plain(values: Mapping[str, Any]) -> dict[str, Any]:
    """Values as JSON has them, in their order; what is missing is left out."""
    return {name: value for name, value in values.items() if not is_missing(value)}
