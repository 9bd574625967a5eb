"""TIDE for the explorer: facets, titles, gold answers and the council's votes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scripts.judging.council import voted
from scripts.publishing.explorer.rows import Adapter, BenchmarkRow, ItemRow, truth
from scripts.publishing.tables import is_missing
from scripts.records import Item, Judgement, Request
from scripts.tide.examples import question_text
from scripts.tide.scoring import gold_text
from scripts.tide.tasks import IDENTIFICATION, TASK_LABELS
from scripts.tide.wording import SETTING_LABELS

DETAILS = {
    "correct": "strict",
    "partial": "partial",
    "graded": "pairs in order",
    "dates": "gold dates",
    "dates_matched": "dates matched",
    "contradicting": "contradicts a date",
    "meaning": "meaning right",
    "uncertain": "doubtful",
    "seats": "judges that voted",
    "verdict": "verdict",
    "retriever": "retriever",
    "depth": "depth",
    "followed_context": "followed the context",
    "authoritative": "followed the law",
    "conflict_acknowledged": "saw the conflict",
    "blended": "blended both",
    "localized": "found the place",
    "correction_correct": "corrected it",
    "completion_tokens": "completion tokens",
    "reasoning_tokens": "reasoning tokens",
}
# Item facet that tells the second step of perturbation detection, which belongs to no average.
STEPS = {"answer": "answer", "explanation": "second step"}
HEADER = BenchmarkRow(
    "tide",
    "TIDE",
    {
        "task": {"label": "Task", "values": TASK_LABELS},
        "knowledge": {"label": "Setting", "values": SETTING_LABELS},
        "step": {"label": "Step", "values": STEPS},
        "thread": {"label": "Thread", "values": {}},
    },
)


def item_rows(item: Item) -> list[ItemRow]:
    """The item, and for a statement its second step, as the explorer shows them."""
    facets = {"thread": str(item.factors["thread"])}
    source = item.source
    details = {
        "question": source["question_id"],
        "clauses": ", ".join(map(str, source["clause_ids"])),
        "dates": ", ".join(str(date["value"]) for date in item.gold["dates"]),
    }
    steps = [(item.task, "answer", gold_text(item))]
    if item.task == "perturbation_detection":
        steps.append((IDENTIFICATION, "explanation", str(item.gold["answer"])))
    return [
        ItemRow(item.item_id, task, question_text(item), gold, {**facets, "step": step}, details)
        for task, step, gold in steps
    ]


def setting(request: Request) -> dict[str, str]:
    """How the model got at the corpus."""
    return {"knowledge": str(request.setting["knowledge"])}


def vote(judgement: Judgement) -> tuple[str, dict[str, Any]]:
    """A judge's answers about one reply; an empty seat says why it is empty."""
    answers = judgement.answers
    if not voted(answers):
        return "no vote", {"reason": answers.get("reason")}
    matches = answers.get("date_matches") or []
    matched = sum(bool(match["matched"]) for match in matches)
    words = [f"dates {matched} of {len(matches)}"] if matches else []
    words.append("meaning right" if answers["meaning"] else "meaning wrong")
    words += ["contradicting"] if answers.get("contradicting") else []
    spans = "; ".join(str(match["span"]) for match in matches if match["span"])
    shown = {"dates found in": spans or None, "doubtful": answers.get("uncertain") or None}
    flags = {str(name).replace("_", " "): value for name, value in answers["flags"].items()}
    return ", ".join(words), {**shown, **flags}


def correct(score: Mapping[str, Any]) -> bool | None:
    """As the statistics count it: unscored where the strict or the partial score is open."""
    return None if is_missing(score["partial"]) else truth(score["correct"])


# A statement that is true but was called incorrect is asked about, too; no score counts the reply.
ADAPTER = Adapter(HEADER, item_rows, setting, DETAILS, vote, correct, IDENTIFICATION)
