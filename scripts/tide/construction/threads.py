"""Threads: regulatory topics that evolve, with a timeline of dated instruments.

Asked of a model, one call a qualifying cluster, or shipped; both pass the same checks. Source: TIDE
section 2.4. A step's date is that of its instrument, or a day that one of its provisions states
(a commencement date).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from scripts.files import DataError, iterate_jsonl
from scripts.inference.schemas import object_schema
from scripts.records import Request, content_id
from scripts.tide.construction.clusters import MINIMUM_DATES, cluster_by_name
from scripts.tide.construction.construction_prompts import ConstructionPrompts
from scripts.tide.construction.construction_report import ReportRow
from scripts.tide.construction.generator import Ask
from scripts.tide.construction.provisions import Corpus, fence, shown, spread
from scripts.tide.construction.replies import (
    clean,
    read_reply,
    shape_problem,
    text_problem,
)
from scripts.tide.rows import Cluster, EntityRow, Thread
from scripts.tide.shown_text import one_line

#: Threads of a cluster and steps of a timeline that are read.
MOST_THREADS, MOST_STEPS = 20, 200
TITLE_CHARACTERS, SUMMARY_CHARACTERS = 300, 4000
#: Characters of provisions in one prompt: some 200,000 tokens of mixed text.
PROMPT_CHARACTERS = 400_000
#: Names of entities told with a provision.
SHOWN_NAMES = 12

_TEXT = {"type": "string"}
_NUMBERS = {"type": "array", "items": {"type": "integer"}, "maxItems": 2000}
_DIMENSIONS = {
    "type": "array",
    "maxItems": 50,
    "items": object_schema({"dimension": _TEXT, "value": _TEXT}),
}
THREAD_SCHEMA = object_schema(
    {
        "threads": {
            "type": "array",
            "maxItems": MOST_THREADS,
            "items": object_schema(
                {
                    **{"title": _TEXT, "concept": _TEXT, "summary": _TEXT},
                    "dimensions": _DIMENSIONS,
                    "timeline": {
                        "type": "array",
                        "maxItems": MOST_STEPS,
                        "items": object_schema(
                            {
                                "provisions": _NUMBERS,
                                **{"date": _TEXT, "instrument": _TEXT, "change": _TEXT},
                            }
                        ),
                    },
                    "members": _NUMBERS,
                    "restatements": _NUMBERS,
                }
            ),
        }
    }
)
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


class ThreadFaultError(DataError):
    """A thread breaks one of its rules; the message says which."""


def find(
    clusters: Sequence[Cluster],
    corpus: Corpus,
    entities: Sequence[EntityRow],
    prompts: ConstructionPrompts,
    ask: Ask,
    *,
    decoding: Mapping[str, Any],
) -> tuple[list[Thread], list[ReportRow]]:
    """Ask for the threads of every qualifying cluster; faulty ones are dropped and reported."""
    qualifying = [cluster for cluster in clusters if cluster.qualifies]
    names = {row.element_id: [each["name"] for each in row.entities] for row in entities}
    told = {cluster.cluster_id: told_elements(cluster, corpus) for cluster in qualifying}
    requests = [
        _request(each, told[each.cluster_id], corpus, names, prompts, decoding=decoding)
        for each in qualifying
    ]
    threads: list[Thread] = []
    report: list[ReportRow] = []
    for cluster, response in zip(qualifying, ask(requests), strict=True):
        shown_ids = told[cluster.cluster_id]
        if left_out := len(cluster.element_ids) - len(shown_ids):
            reason = f"{left_out} of {len(cluster.element_ids)} provisions do not fit the prompt"
            report.append(ReportRow("threads", cluster.cluster_id, "dropped", reason))
        value, reason = read_reply(response, THREAD_SCHEMA)
        if value is None:
            report.append(ReportRow("threads", cluster.cluster_id, "unusable", reason))
            continue
        own: list[Thread] = []
        for number, given in enumerate(value["threads"], start=1):
            try:
                thread = _thread_of_reply(given, cluster, shown_ids, corpus)
                check_thread(thread, corpus)
            except ThreadFaultError as fault:
                reason = f"thread {number}: {fault}"
                report.append(ReportRow("threads", cluster.cluster_id, "dropped", reason))
                continue
            own.append(thread)
        report.append(ReportRow("threads", cluster.cluster_id, "ok" if own else "empty"))
        threads += own
    return _distinct(threads), report


def _distinct(threads: Iterable[Thread]) -> list[Thread]:
    """Threads sorted by id; equal ones of one cluster once."""
    by_id = {thread.thread_id: thread for thread in threads}
    return [by_id[thread_id] for thread_id in sorted(by_id)]


def told_elements(cluster: Cluster, corpus: Corpus) -> list[str]:
    """The provisions of a cluster that a prompt holds, in order of time.

    All, or as many as fit `PROMPT_CHARACTERS`, spread over the dates; at least the first and last.
    """
    chosen: list[str] = []
    room = PROMPT_CHARACTERS
    for element_id in spread(cluster.element_ids, corpus):
        room -= len(shown(corpus[element_id].text))
        if room < 0 and len(chosen) >= MINIMUM_DATES:
            break
        chosen.append(element_id)
    return corpus.ordered(chosen)


def _request(
    cluster: Cluster,
    element_ids: Sequence[str],
    corpus: Corpus,
    names: Mapping[str, Sequence[str]],
    prompts: ConstructionPrompts,
    *,
    decoding: Mapping[str, Any],
) -> Request:
    values = {
        "name": one_line(cluster.name),
        "members": "; ".join(one_line(m) for m in cluster.members if m != cluster.name)
        or "(no other way)",
        "provisions": "\n\n".join(
            provision_entry(number, element_id, corpus, names.get(element_id, ()))
            for number, element_id in enumerate(element_ids, start=1)
        ),
    }
    messages = prompts.messages("threads", values)
    setting = {"purpose": "threads"}
    return Request.create(cluster.cluster_id, setting, messages, dict(decoding), THREAD_SCHEMA)


def provision_entry(
    number: int,
    element_id: str,
    corpus: Corpus,
    names: Sequence[str],
    concepts: Sequence[str] = (),
) -> str:
    """How a numbered provision is shown: number, date, source, names, concepts, fenced text."""
    element = corpus[element_id]
    lines = [
        f"[{number}] {corpus.date(element_id) or 'undated'} | {element.document} | "
        f"{one_line(element.title) or 'no heading'}"
    ]
    if names:
        lines.append("names: " + "; ".join(one_line(name) for name in names[:SHOWN_NAMES]))
    lines += [f"says: {one_line(concept)}" for concept in concepts]
    return "\n".join([*lines, fence(shown(element.text))])


def _thread_of_reply(
    given: Mapping[str, Any], cluster: Cluster, shown_ids: Sequence[str], corpus: Corpus
) -> Thread:
    """A thread from one object of a reply; numbers of the shown provisions become element ids."""

    def resolve(numbers: Iterable[int]) -> list[str]:
        ids = []
        for number in numbers:
            if not 1 <= number <= len(shown_ids):
                raise ThreadFaultError(f"no provision {number!s:.20}")
            ids.append(shown_ids[number - 1])
        return corpus.ordered(ids)

    timeline = []
    for step in given["timeline"]:
        ids = resolve(step["provisions"])
        if not ids:
            raise ThreadFaultError("a step of the timeline rests on no provision")
        documents = sorted({corpus[element_id].document for element_id in ids})
        if len(documents) > 1:
            raise ThreadFaultError(f"a step rests on two instruments: {', '.join(documents)}")
        timeline.append(
            {
                "date": step["date"],
                "document": documents[0],
                "instrument": clean(_kept(step["instrument"], TITLE_CHARACTERS, "instrument")),
                "change": clean(_kept(step["change"], SUMMARY_CHARACTERS, "change")),
                "element_ids": ids,
            }
        )
    restatements = resolve(given["restatements"])
    members = resolve(given["members"])
    steps = [element_id for step in timeline for element_id in step["element_ids"]]
    texts = {
        name: clean(_kept(given[name], limit, name))
        for name, limit in (
            ("title", TITLE_CHARACTERS),
            ("concept", TITLE_CHARACTERS),
            ("summary", SUMMARY_CHARACTERS),
        )
    }
    dimensions = [
        {key: clean(_kept(each[key], SUMMARY_CHARACTERS, key)) for key in ("dimension", "value")}
        for each in given["dimensions"]
    ]
    # What only repeats an earlier provision is no member, whatever the reply lists it as.
    element_ids = corpus.ordered([*steps, *(e for e in members if e not in restatements)])
    thread_id = f"thread-{content_id('thread', cluster.cluster_id, texts['title'], timeline)}"
    return Thread(
        thread_id, cluster.cluster_id, texts["title"], texts["concept"], texts["summary"],
        dimensions, timeline, restatements, element_ids,
    )  # fmt: skip


def _kept(text: object, limit: int, what: str) -> str:
    if problem := text_problem(text, limit):
        raise ThreadFaultError(f"{what} {problem}")
    return str(text)


def check_thread(thread: Thread, corpus: Corpus) -> None:
    """Raise ThreadFaultError for a thread that breaks a rule.

    All elements exist; the timeline is sorted and spans two dates or more; each step rests on
    elements of its one document and has that instrument's date or a day that these elements state;
    its elements are members; restatements are none of the timeline's.
    """
    steps = [element_id for step in thread.timeline for element_id in step["element_ids"]]
    for element_id in (*thread.element_ids, *thread.restatements, *steps):
        if element_id not in corpus:
            raise ThreadFaultError(f"element {element_id!r} does not exist")
    for step in thread.timeline:
        _check_step(step, corpus)
    dates = [step["date"] for step in thread.timeline]
    if dates != sorted(dates):
        raise ThreadFaultError(f"the timeline is not sorted: {', '.join(dates)}")
    if len(set(dates)) < MINIMUM_DATES:
        raise ThreadFaultError(f"the timeline has {len(set(dates))} distinct date(s), two needed")
    if lost := sorted(set(steps) - set(thread.element_ids)):
        raise ThreadFaultError(f"{lost[0]} is in the timeline but not in element_ids")
    if both := sorted(set(steps) & set(thread.restatements)):
        raise ThreadFaultError(f"{both[0]} is a restatement and in the timeline")


def _check_step(step: Mapping[str, Any], corpus: Corpus) -> None:
    if not _is_day(step["date"]):
        raise ThreadFaultError(f"{step['date']!r} is no date YYYY-MM-DD")
    if not step["element_ids"]:
        raise ThreadFaultError(f"the step of {step['date']} rests on no element")
    allowed = set()
    for element_id in step["element_ids"]:
        element = corpus[element_id]
        if element.document != step["document"]:
            raise ThreadFaultError(f"{element_id} is no element of {step['document']}")
        allowed |= {corpus.date(element_id), *(mention["value"] for mention in element.dates)}
    if step["date"] not in allowed:
        raise ThreadFaultError(
            f"{step['date']} is neither the date of {step['document']} nor stated in "
            f"{', '.join(step['element_ids'])}"
        )


def _is_day(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


# Shipped --------------------------------------------------------------------------------------

_IDS = {"type": "array", "items": _TEXT}
_SHIPPED_SCHEMA = object_schema(
    {
        **{"thread_id": _TEXT, "cluster_id": _TEXT},
        **{"title": _TEXT, "concept": _TEXT, "summary": _TEXT},
        "dimensions": _DIMENSIONS,
        "timeline": {
            "type": "array",
            "items": object_schema(
                {
                    **{"date": _TEXT, "document": _TEXT, "instrument": _TEXT, "change": _TEXT},
                    "element_ids": _IDS,
                }
            ),
        },
        "restatements": _IDS,
        "element_ids": _IDS,
    }
)


def shipped_threads(
    clusters: Sequence[Cluster], corpus: Corpus, path: Path | str
) -> tuple[list[Thread], list[ReportRow]]:
    """The threads of a shipped file, sorted by id, with the ids of the run's clusters.

    In the file `cluster_id` is a surface form. A thread whose cluster does not qualify is left out
    and reported. Raises DataError naming file and line for an unknown name, a doubled or odd id,
    and a thread that breaks a rule.
    """
    by_name = cluster_by_name(clusters)
    threads: dict[str, Thread] = {}
    report: list[ReportRow] = []
    seen: set[str] = set()
    for number, row in iterate_jsonl(path):
        where = f"{path}, line {number}"
        if problem := shape_problem(row, _SHIPPED_SCHEMA):
            raise DataError(f"{where}: {problem}; correct the row")
        thread_id, name = row["thread_id"], clean(row["cluster_id"])
        if not _ID.fullmatch(thread_id) or thread_id in seen:
            raise DataError(
                f"{where}: thread_id {thread_id[:80]!r} is doubled, or holds other signs than "
                "letters, digits, '.', '_' and '-'; give it another one"
            )
        seen.add(thread_id)
        if name not in by_name:
            raise DataError(
                f"{where}: no entity or sub-entity is called {name!r}; cluster_id must be a name "
                "of the entities"
            )
        cluster = by_name[name]
        thread = Thread.from_json({**row, "cluster_id": cluster.cluster_id})
        try:
            _check_texts(thread)
            check_thread(thread, corpus)
        except ThreadFaultError as fault:
            raise DataError(f"{where}: {fault}; correct the row") from fault
        if not cluster.qualifies:
            reason = f"its cluster {cluster.name!r} does not qualify: {cluster.reason}"
            report.append(ReportRow("threads", thread_id, "dropped", reason))
            continue
        threads[thread_id] = thread
        report.append(ReportRow("threads", thread_id, "ok"))
    return [threads[thread_id] for thread_id in sorted(threads)], report


def _check_texts(thread: Thread) -> None:
    _kept(thread.title, TITLE_CHARACTERS, "title")
    _kept(thread.concept, TITLE_CHARACTERS, "concept")
    _kept(thread.summary, SUMMARY_CHARACTERS, "summary")
    for step in thread.timeline:
        _kept(step["instrument"], TITLE_CHARACTERS, "instrument")
        _kept(step["change"], SUMMARY_CHARACTERS, "change")
    for each in thread.dimensions:
        _kept(each["dimension"], TITLE_CHARACTERS, "dimension")
        _kept(each["value"], SUMMARY_CHARACTERS, "value")
