"""Question pairs: one call per task and thread, or shipped; every pair passes the same checks.

Source: TIDE sections 2.4 and A.8.3. A call that gives nothing is counted (`thin`), a reply that
cannot be read is named (`reply`), and every rejected pair has a row with the check that it failed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from scripts.files import DataError, iterate_jsonl
from scripts.inference.schemas import object_schema
from scripts.records import Request, canonical_digest
from scripts.tide.construction.construction_prompts import ConstructionPrompts
from scripts.tide.construction.generator import Ask
from scripts.tide.construction.pair_checks import (
    FIELD_SCHEMAS,
    duplicate_key,
    first_failure,
    task_schema,
)
from scripts.tide.construction.provisions import Corpus, spread
from scripts.tide.construction.replies import read_reply, shape_problem
from scripts.tide.construction.threads import provision_entry
from scripts.tide.rows import EntityRow, QuestionPair, Thread
from scripts.tide.shown_text import one_line
from scripts.tide.tasks import TASKS

#: Pairs that are read from one reply.
MOST_PAIRS = 60
#: Concepts told with a provision.
SHOWN_CONCEPTS = 3
#: Origin of shipped pairs.
SHIPPED = "shipped"
#: Checks of `generation.csv` that are not about the content of one pair.
REPLY, THIN, PER_TASK, THREAD, TYPE, INDICES = (
    *("reply", "thin", "per_task", "thread", "type", "clause_indices"),
)

_WHOLE = {"type": "integer"}


@dataclass(frozen=True, slots=True)
class GenerationRow:
    """One pair of one call, or the call itself (index 0) where it gave no pair.

    `kept`: the pair stands in the questions; otherwise `check` names what it failed.
    """

    thread_id: str
    task: str
    index: int
    kept: bool
    check: str = ""
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Draft:
    """A pair before its checks: nothing about `fields` is sure but that it came out of JSON."""

    task: str
    index: int
    clause_ids: Sequence[str]
    fields: Mapping[str, Any]
    origin: str


COLUMNS = tuple(each.name for each in fields(GenerationRow))


@dataclass
class Generated:
    """Pairs that passed every check, and a row for each pair and each empty call."""

    pairs: list[QuestionPair] = field(default_factory=list)
    rows: list[GenerationRow] = field(default_factory=list)
    _seen: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    _place: dict[str, int] = field(default_factory=dict)

    def add(self, draft: Draft, thread: Thread, corpus: Corpus) -> None:
        """Check a pair and keep it, or say why not."""
        where = (thread.thread_id, draft.task, draft.index)
        failure = first_failure(draft.task, draft.clause_ids, draft.fields, thread, corpus)
        if failure is not None:
            self.reject(*where, failure.check, failure.detail)
            return
        key = duplicate_key(draft.task, draft.fields)
        if key in self._seen[thread.thread_id]:
            self.reject(*where, "duplicate", "asks what an earlier pair of the thread asks")
            return
        self._seen[thread.thread_id].add(key)
        pair = QuestionPair.create(
            draft.task,
            thread.thread_id,
            thread.cluster_id,
            list(draft.clause_ids),
            dict(draft.fields),
            draft.origin,
        )
        self._place[pair.question_id] = len(self.rows)
        self.pairs.append(pair)
        self.rows.append(GenerationRow(*where, True))

    def reject(self, thread_id: str, task: str, index: int, check: str, detail: str) -> None:
        """Record what was not kept."""
        self.rows.append(GenerationRow(thread_id, task, index, False, check, detail))

    def reduce(self, per_task: int | None, seed: int) -> None:
        """Keep at most `per_task` pairs of each task (`subset`); the rows of the others say so."""
        kept = subset(self.pairs, per_task, seed)
        chosen = {pair.question_id for pair in kept}
        for pair in self.pairs:
            if pair.question_id not in chosen:
                place = self._place[pair.question_id]
                row = self.rows[place]
                detail = f"passed all checks; {per_task} pairs of a task are used"
                self.rows[place] = GenerationRow(
                    row.thread_id, row.task, row.index, False, PER_TASK, detail
                )
        self.pairs = kept


# Asking -----------------------------------------------------------------------------------------


#: Shape of a reply that is read. Pairs are only asked to be objects: one that lacks a field is
#: rejected alone, not with the rest.
REPLY_SCHEMA = object_schema({"qa_pairs": {"type": "array", "items": {"type": "object"}}})


def request_schema(task: str) -> dict[str, Any]:
    """JSON Schema that a model which can be held to one is held to."""
    pair = {
        "type": {"enum": [task]},
        "clause_indices": {"type": "array", "items": _WHOLE},
        **{name: FIELD_SCHEMAS[name] for name in TASKS[task].fields},
    }
    return object_schema({"qa_pairs": {"type": "array", "items": object_schema(pair)}})


def generate(
    threads: Sequence[Thread],
    corpus: Corpus,
    entities: Iterable[EntityRow],
    prompts: ConstructionPrompts,
    ask: Ask,
    *,
    origin: str,
    sampled_elements: int,
    decoding: Mapping[str, Any],
) -> Generated:
    """Ask for the pairs of every task of every thread and check them; `origin` names the model."""
    said = {row.element_id: row.entities for row in entities}
    asked: list[tuple[Thread, str, list[str]]] = []
    requests: list[Request] = []
    for thread in threads:
        sample = stratified_sample(thread, corpus, sampled_elements)
        context = _context(thread, sample, corpus, said)
        for task in TASKS:
            asked.append((thread, task, sample))
            requests.append(_request(thread, task, context, prompts, decoding))
    result = Generated()
    for (thread, task, sample), response in zip(asked, ask(requests), strict=True):
        value, reason = read_reply(response, REPLY_SCHEMA)
        if value is None:
            result.reject(thread.thread_id, task, 0, REPLY, reason)
        elif not value["qa_pairs"]:
            result.reject(thread.thread_id, task, 0, THIN, "the thread does not carry this task")
        else:
            for index, given in enumerate(value["qa_pairs"], start=1):
                draft, check, detail = _draft(given, task, index, sample, origin)
                if draft is None:
                    result.reject(thread.thread_id, task, index, check, detail)
                else:
                    result.add(draft, thread, corpus)
    return result


def _draft(
    given: Mapping[str, Any], task: str, index: int, sample: Sequence[str], origin: str
) -> tuple[Draft | None, str, str]:
    """(pair, "", "") from one object of a reply, or (None, check, what is wrong)."""
    if index > MOST_PAIRS:
        return None, REPLY, f"only {MOST_PAIRS} pairs of a reply are read"
    kind = given.get("type")
    if kind != task:
        return (
            None,
            TYPE,
            f"{kind[:60]!r} was not asked for" if isinstance(kind, str) else "no text",
        )
    clause_ids, problem = _resolve(given.get(INDICES), sample)
    if problem:
        return None, INDICES, problem
    own = {name: value for name, value in given.items() if name not in ("type", INDICES)}
    if problem := shape_problem(own, task_schema(task)):
        return None, "fields", problem
    return Draft(task, index, clause_ids, own, origin), "", ""


def _resolve(indices: Any, sample: Sequence[str]) -> tuple[list[str], str]:
    """(element ids, "") of the cited numbers, each once in their order, or ([], what is wrong)."""
    if not isinstance(indices, list) or not indices:
        return [], "no clause is cited"
    ids = []
    for number in indices:
        if not isinstance(number, int) or isinstance(number, bool):
            return [], "an index is no whole number"
        if not 1 <= number <= len(sample):
            return [], f"there is no provision {number!s:.20}"
        ids.append(sample[number - 1])
    return list(dict.fromkeys(ids)), ""


def _request(
    thread: Thread,
    task: str,
    context: Mapping[str, str],
    prompts: ConstructionPrompts,
    decoding: Mapping[str, Any],
) -> Request:
    values = {
        **context,
        "target": str(TASKS[task].target),
        "task": task,
        "instructions": prompts.tasks[task].strip(),
    }
    return Request.create(
        thread.thread_id,
        {"purpose": "generation", "task": task},
        prompts.messages("generation", values),
        dict(decoding),
        request_schema(task),
    )


def _context(
    thread: Thread,
    sample: Sequence[str],
    corpus: Corpus,
    said: Mapping[str, Sequence[Mapping[str, Any]]],
) -> dict[str, str]:
    """What the generator is told of a thread; the same for every task."""
    entries = []
    for number, element_id in enumerate(sample, start=1):
        entities = said.get(element_id, ())
        names = [each["name"] for each in entities]
        concepts = [concept for each in entities for concept in each["concepts"]]
        entries.append(
            provision_entry(number, element_id, corpus, names, concepts[:SHOWN_CONCEPTS])
        )
    return {
        "title": one_line(thread.title),
        "concept": one_line(thread.concept),
        "summary": one_line(thread.summary),
        "dimensions": "\n".join(
            f"- {one_line(each['dimension'])}: {one_line(each['value'])}"
            for each in thread.dimensions
        )
        or "(not told)",
        "timeline": "\n".join(
            f"{step['date']} | {one_line(step['instrument'])} | {one_line(step['change'])}"
            for step in thread.timeline
        ),
        "provisions": "\n\n".join(entries),
    }


def stratified_sample(thread: Thread, corpus: Corpus, size: int) -> list[str]:
    """At most `size` provisions of a thread in order of time, spread over its dates.

    The earliest and the latest are always among them. DataError below two.
    """
    if size < 2:
        raise DataError(f"sampled_elements must be at least 2, not {size}")
    return corpus.ordered(spread(thread.element_ids, corpus)[:size])


# Shipped ----------------------------------------------------------------------------------------

_TEXT = {"type": "string"}
_SHIPPED_SCHEMA = {
    **object_schema(
        {
            **{"task": {"enum": list(TASKS)}, "thread_id": _TEXT, "fields": {"type": "object"}},
            "clause_ids": {"type": "array", "items": _TEXT},
            **{"question_id": _TEXT, "cluster_id": _TEXT, "origin": _TEXT},
        }
    ),
    "required": ["task", "thread_id", "clause_ids", "fields"],
}


def shipped_pairs(threads: Sequence[Thread], corpus: Corpus, path: Path | str) -> Generated:
    """The pairs of a shipped file through the same checks; `index` is the line of the file.

    A pair of a thread that the run does not have is rejected (`thread`). `cluster_id` comes from
    the thread and the id from the content. Raises DataError naming file and line for a row of
    another shape and for a `question_id` that does not follow from the content.
    """
    by_id = {thread.thread_id: thread for thread in threads}
    result = Generated()
    for number, row in iterate_jsonl(path):
        where = f"{path}, line {number}"
        if problem := shape_problem(row, _SHIPPED_SCHEMA):
            raise DataError(f"{where}: {problem}; correct the row")
        task, thread_id = row["task"], row["thread_id"]
        if problem := shape_problem(row["fields"], task_schema(task)):
            result.reject(thread_id, task, number, "fields", problem)
            continue
        if thread_id not in by_id:
            result.reject(thread_id, task, number, THREAD, "the run has no such thread")
            continue
        if absent := [clause for clause in row["clause_ids"] if clause not in corpus.elements]:
            result.reject(thread_id, task, number, "clauses", f"{absent[0][:120]!r} does not exist")
            continue
        question_id = QuestionPair.create(
            task, thread_id, "", row["clause_ids"], row["fields"], SHIPPED
        ).question_id
        if row.get("question_id", question_id) != question_id:
            raise DataError(
                f"{where}: question_id {row['question_id']!r} does not follow from the content, "
                f"which gives {question_id}; correct it or leave it out"
            )
        draft = Draft(task, number, row["clause_ids"], row["fields"], SHIPPED)
        result.add(draft, by_id[thread_id], corpus)
    return result


# Subset -----------------------------------------------------------------------------------------


def subset(pairs: Iterable[QuestionPair], per_task: int | None, seed: int) -> list[QuestionPair]:
    """At most `per_task` pairs of each task, spread over the threads; all where it is None.

    Every thread gives its first pair, in an order drawn from the seed, before any gives its second.
    Both draws are hashes of the content: a further pair displaces one pair of its task at most.
    Sorted by task (in the order of the tables), then by id.
    """
    if per_task is not None and per_task < 1:
        raise DataError(f"pairs_per_task must be positive or null, not {per_task}")
    by_task: dict[str, dict[str, list[QuestionPair]]] = {task: defaultdict(list) for task in TASKS}
    for pair in pairs:
        by_task[pair.task][pair.thread_id].append(pair)
    out: list[QuestionPair] = []
    for task, by_thread in by_task.items():
        slots = []
        for thread_id, own in by_thread.items():
            own.sort(key=lambda pair: canonical_digest([seed, task, pair.question_id]))
            draw = canonical_digest([seed, task, thread_id])
            slots += [(level, draw, pair) for level, pair in enumerate(own)]
        slots.sort(key=lambda slot: (slot[0], slot[1]))
        chosen = [pair for _, _, pair in slots[:per_task]]
        out += sorted(chosen, key=lambda pair: pair.question_id)
    return out


def as_rows(rows: Iterable[GenerationRow]) -> list[dict[str, Any]]:
    """The rows of `generation.csv`, sorted by thread, task and index."""
    order = {task: place for place, task in enumerate(TASKS)}
    ordered = sorted(rows, key=lambda row: (row.thread_id, order[row.task], row.index))
    return [asdict(row) for row in ordered]
