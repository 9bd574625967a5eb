"""What a person should look at: answers that the council could not decide, or called borderline."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Sequence

import pandas as pd

from scripts.judging.score_files import ScoringError, storable
from scripts.tide.items import judged_dates
from scripts.tide.scoring import Judged

REVIEW_COLUMNS = (
    *("model", "mode", "knowledge", "task", "item_id", "request_id", "question_id", "reason"),
    *("question", "gold", "dates", "clauses", "answer", "strict", "partial", "votes"),
)
_SORTED = ["model", "mode", "task", "knowledge", "item_id"]
# A cell that begins so is a formula to a spreadsheet.
_FORMULA = ("=", "+", "-", "@", "\t")


def cell(text: str) -> str:
    """A foreign text as a cell: one line, control characters escaped, never a formula."""
    escaped = "".join(
        c.encode("unicode_escape").decode("ascii")
        if unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp") and c not in "\u200c\u200d"
        else c
        for c in storable(text)
    )
    return f"'{escaped}" if escaped.startswith(_FORMULA) else escaped


def reasons(judged: Judged) -> list[str]:
    """Why an answer is listed; empty for one that is not."""
    decision = judged.decision
    found = ["undecided"] if decision.undecided else []
    found += ["uncertain"] if decision.uncertain else []
    return found + (["fewer judges"] if decision.seats < len(judged.seats) else [])


def review_table(judged: Sequence[Judged]) -> pd.DataFrame:
    """A row for every answer with a reason to look at it, sorted; texts escaped by `cell`."""
    rows = []
    for each in judged:
        why = reasons(each)
        if not why:
            continue
        reply, item = each.reply, each.reply.item
        rows.append(
            {
                "model": reply.response.model,
                "mode": reply.response.mode,
                "knowledge": reply.request.setting["knowledge"],
                "task": reply.task or item.task,
                "item_id": item.item_id,
                "request_id": reply.request.request_id,
                "question_id": item.source["question_id"],
                "reason": "; ".join(why),
                "question": cell("\n".join(str(value) for value in item.inputs.values())),
                "gold": cell(str(item.gold["answer"])),
                "dates": ", ".join(str(date["value"]) for date in judged_dates(item)),
                "clauses": ", ".join(item.source["clause_ids"]),
                "answer": cell(each.text),
                "strict": _number(each.decision.strict),
                "partial": _number(each.decision.partial),
                "votes": _votes(each),
            }
        )
    return _sorted(pd.DataFrame(rows, columns=list(REVIEW_COLUMNS), dtype="str"))


def _number(value: bool | float | None) -> str:
    """A score as text; empty where the council could not decide."""
    return "" if value is None else f"{float(value):g}"


def _votes(judged: Judged) -> str:
    """JSON of every judge's votes; a seat that is empty has its reason alone."""
    votes = {}
    for judge, seat in zip(judged.judges, judged.seats, strict=True):
        if seat is None or seat.get("meaning") is None:
            votes[judge] = {"reason": (seat or {}).get("reason")}
            continue
        matches = [match.get("matched") for match in seat.get("date_matches") or []]
        names = ("contradicting", "meaning", "uncertain")
        votes[judge] = {"dates": matches, **{name: seat.get(name) for name in names}}
    return json.dumps(votes, ensure_ascii=True, sort_keys=True)


def _sorted(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.sort_values(_SORTED, kind="stable", ignore_index=True)


def gather_review(frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """The rows of every run in one table; ScoringError for a table with other columns."""
    for frame in frames:
        if list(frame) != list(REVIEW_COLUMNS):
            raise ScoringError(
                f"a table for review has the columns {list(frame)}, expected "
                f"{list(REVIEW_COLUMNS)}; score the responses again"
            )
    empty = pd.DataFrame(columns=list(REVIEW_COLUMNS), dtype="str")
    return _sorted(pd.concat([empty, *frames], ignore_index=True))
