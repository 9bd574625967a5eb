"""A small synthetic corpus with question pairs of every task, and runs over it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from scripts.files import read_records
from scripts.records import Item, Judgement, Request, Response
from scripts.tide.contexts import Corpus
from scripts.tide.items import build_items
from scripts.tide.prompts import Prompts, load_prompts
from scripts.tide.requests import Retrieved, Setting, build_requests
from scripts.tide.rows import Element, QuestionPair
from scripts.tide.tasks import TASKS

PROMPTS_FILE = Path(__file__).parents[2] / "scripts/tide/prompts.yaml"
DECODING = {"temperature": 0.0, "top_p": 1.0, "repetition_penalty": 1.0}


def element(document: str, clause: int, text: str, **fields: Any) -> Element:
    values: dict[str, Any] = {
        "element_id": f"{document}/clause_{clause}",
        "document": document,
        "document_type": "SRO",
        "type": "clause",
        "category": "provision",
        "number": str(clause),
        "title": "",
        "text": text,
        "page_start": 1,
        "page_end": 1,
        "table_ids": [],
        "dates": [],
        "document_date": None,
    }
    return Element(**{**values, **fields})


ELEMENTS = [
    element("sro-1-2016", 1, "Dated 2 June 2016. The duty on lamps is 15 percent."),
    element("sro-1-2016", 2, "The allowance of airline crew is 300 USD.", title="Crew"),
    element("sro-2-2025", 1, "Dated 3 June 2025. The allowance of airline crew is 150 USD."),
    element("sro-2-2025", 2, "বাতির শুল্ক ২০ শতাংশ। This order is in force at once."),
    element("act-3-2010", 1, "Dated 10 June 2010. Lamps are exempt.", document_type="Act"),
    element("go-4-2011", 1, "", document_type="GO"),
]
CORPUS = Corpus.of(ELEMENTS)
FIRST, SECOND, ACT = "sro-1-2016/clause_2", "sro-2-2025/clause_1", "act-3-2010/clause_1"


def pair(task: str, clauses: Sequence[str] = (FIRST, SECOND), **fields: Any) -> QuestionPair:
    return QuestionPair.create(
        task, "thread-1", "cluster-1", list(clauses), {**FIELDS[task], **fields}, "shipped"
    )


FIELDS: dict[str, dict[str, Any]] = {
    "temporal_mcq": {
        "question": "Which order set the allowance of airline crew to 150 USD?",
        "options": ["SRO 1/2016", "SRO 2/2025 (2025-06-03)", "Act 3/2010", "GO 4/2011"],
        "answer_index": 1,
        "answer": "SRO 2/2025 (2025-06-03)",
        "explanation": "Only that one says so.",
    },
    "event_sorting": {
        "question": "Arrange these events in chronological order (earliest first).",
        "events_shuffled": ["The allowance falls.", "Lamps are exempt.", "The allowance is set."],
        "answer_ordered": [
            {"event": "Lamps are exempt.", "date": "2010-06-10"},
            {"event": "The allowance is set.", "date": "2016-06-02"},
            {"event": "The allowance falls.", "date": "2025-06-03"},
        ],
    },
    "perturbation_detection": {
        "statement": "By SRO 1/2016 the allowance of airline crew is 400 USD.",
        "question": "Is this statement accurate? If not, identify and correct the error.",
        "is_perturbed": True,
        "perturbed_fact": "400 USD",
        "correct_fact": "300 USD",
        "answer": "Not accurate: since 2 June 2016 the allowance is 300 USD.",
    },
    "scenario_short_answer": {
        "scenario": "A steward lands in Dhaka in July 2025.",
        "question": "What may she bring in free of duty?",
        "answer": "150 USD, under the order of 3 June 2025.",
        "date_or_instrument": "SRO 2/2025",
    },
    "temporal_scenario_short_answer": {
        "scenario": "A steward has flown since 2012.",
        "question": "How did the allowance change?",
        "answer": "From 300 USD (2 June 2016) to 150 USD (3 June 2025).",
        "clauses_involved": ["SRO 1/2016", "SRO 2/2025"],
    },
    "relative_time_qa": {
        "seed_time": "2016-06-02",
        "relative_offset": "nine years later",
        "question": "From the order of 2016-06-02, what changed nine years later?",
        "answer": "On 2025-06-03 the allowance fell to 150 USD.",
    },
    "open_ended": {
        "question": "How did the treatment of crew change?",
        "answer": "It became stricter: the allowance was halved.",
    },
    "context_misalignment": {
        "misaligned_context": "In 2020 the allowance of airline crew was raised to 900 USD.",
        "question": "What is the allowance of airline crew?",
        "conflict": "900 USD was never in force.",
        "answer": "150 USD since 2025-06-03.",
    },
}
PAIRS = [
    *(pair(task) for task in TASKS),
    pair(
        "perturbation_detection",
        statement="By SRO 2/2025 the allowance of airline crew is 150 USD.",
        is_perturbed=False,
        perturbed_fact=None,
        correct_fact=None,
        answer="The statement is accurate.",
    ),
]
ITEMS = [item for task in TASKS for item in build_items(PAIRS, CORPUS, task)]


def item(task: str, place: int = 0) -> Item:
    return [each for each in ITEMS if each.task == task][place]


@cache
def prompts() -> Prompts:
    return load_prompts(PROMPTS_FILE)


def hit(element_id: str, rank: int) -> dict[str, Any]:
    return {"element_id": element_id, "similarity": 0.5, "rank": rank, "chunk": None}


def retrieved(items: Sequence[Item] = ITEMS, **changes: Any) -> Retrieved:
    row = {
        "none_resolved": False,
        "depths": {"1": [hit(SECOND, 1)], "3": [hit(FIRST, 2), hit(SECOND, 1), hit(ACT, 3)]},
        "dated": [hit(ACT, 1)],
        **changes,
    }
    return Retrieved("retrieved.jsonl", {each.item_id: row for each in items})


def requests(
    knowledge: str = "parametric", items: Sequence[Item] = ITEMS, **changes: Any
) -> list[Request]:
    setting = Setting(
        knowledge,
        "toy" if knowledge.startswith("rag") else None,
        changes.pop("depth", 3) if knowledge.startswith("rag") else None,
        changes.pop("limit", None),
    )
    arguments: dict[str, Any] = {"decoding": DECODING, "constrained": False, **changes}
    found = arguments.pop("retrieved", retrieved(items))
    return build_requests(
        items, setting, prompts(), arguments.pop("corpus", CORPUS), found, **arguments
    )


def response(to: Request, text: str, **fields: Any) -> Response:
    values: dict[str, Any] = {
        "request_id": to.request_id,
        "item_id": to.item_id,
        "model": "toy",
        "mode": "non_thinking",
        "text": text,
        "finish_reason": "stop",
        "usage": {"prompt": 9, "completion": 5, "reasoning": None},
        "backend": "archive",
        "backend_version": "1",
        "attempts": 1,
    }
    return Response(**{**values, **fields})


def votes(of: Item, *, dates: bool = True, meaning: bool = True, **fields: Any) -> dict[str, Any]:
    """A judge's answers that say yes to every date and to the meaning, unless told otherwise."""
    values: dict[str, Any] = {
        "item_id": of.item_id,
        "date_matches": [{"matched": dates, "span": ""} for _ in of.gold["dates"]],
        "contradicting": False,
        "meaning": meaning,
        "uncertain": False,
        "flags": {},
        "reason": None,
    }
    return {**values, **fields}


def judgement(judge: str, request_id: str, answers: Mapping[str, Any]) -> Judgement:
    return Judgement(request_id, judge, dict(answers), "")


def shipped(repository: Path) -> tuple[list[QuestionPair], Corpus]:
    """The shipped question pairs and the exact clauses of their corpus; skips without them."""
    folder = repository / "data/embedded/tide"
    truth = sorted((folder / "truth").glob("*.json"))
    if not truth or not (folder / "questions.jsonl").is_file():
        pytest.skip("the shipped questions or the truth of their corpus are not here")
    elements = []
    for path in truth:
        read = json.loads(path.read_text(encoding="utf-8"))
        for clause in read["clauses"]:
            fields = {"number": clause["printed"], "title": clause["title"]}
            number = int(clause["clause_number"].removeprefix("clause_"))
            elements.append(element(read["document"], number, clause["text"], **fields))
    return read_records(folder / "questions.jsonl", QuestionPair), Corpus.of(elements)
