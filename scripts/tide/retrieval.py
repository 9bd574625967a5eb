"""What a question of TIDE searches with, what it should find, and how much of it was found.

Source: TIDE section 3.3, table 12 (query fields). The measures are the usual ones of retrieval
(Manning, Raghavan and Schütze 2008, chapter 8), over elements: recall = share of a question's gold
clauses among the elements retrieved; reciprocal rank = 1 / rank of the first gold clause, 0 where
none was retrieved.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import pandas as pd

from scripts.files import DataError
from scripts.records import Item
from scripts.retrieval.date_aware import (
    DateAware,
    DatedClause,
    in_years,
    query_times,
    rerank,
)
from scripts.retrieval.embedders.interface import Vectors
from scripts.retrieval.ranking import Clause, ExactSearch, Hit, clauses
from scripts.tide.rows import Element
from scripts.tide.tasks import TASKS

#: Values of the column `rerank`: by similarity alone, or by similarity and date.
PLAIN, DATED = "none", "dated"
#: Decimals of similarities in files; the ranking is made before rounding.
DECIMALS = 6
QUESTION_COLUMNS = (
    "item_id", "task", "rerank", "depth", "gold", "found", "first_rank", "clauses", "none_resolved",
)  # fmt: skip
COLUMNS = (
    "embedder", "rerank", "task", "depth", "n", "recall", "any_hit", "full_recall",
    "mean_reciprocal_rank", "clauses", "none_resolved",
)  # fmt: skip
ALL = "all"


@dataclass(frozen=True, slots=True)
class Depths:
    """Depths of the ablation, the depth of the main results, vectors fetched per clause."""

    depths: tuple[int, ...]
    main: int
    overfetch: int

    def __post_init__(self) -> None:
        if min((*self.depths, self.main, self.overfetch)) < 1:
            raise DataError("tide.retrieval: depths and overfetch must be 1 or more")

    @property
    def all(self) -> tuple[int, ...]:
        """Every depth that is needed, ascending."""
        return tuple(sorted({*self.depths, self.main}))


@dataclass(frozen=True)
class Dating:
    """What the date-aware ranking needs: times of the elements in years, weight and scale."""

    times: Mapping[str, Sequence[float]]
    settings: DateAware


@dataclass
class Found:
    """What was found for one item, by depth."""

    item: Item
    plain: dict[int, list[Clause]] = field(default_factory=dict)
    dated: dict[int, list[DatedClause]] = field(default_factory=dict)

    def add(self, depth: int, hits: Sequence[Hit], dating: Dating | None) -> None:
        """Take in the nearest vectors of one depth."""
        self.plain[depth] = clauses(hits, depth)
        if dating is not None:
            spoken = query_times(query_text(self.item))
            self.dated[depth] = rerank(hits, depth, spoken, dating.times, dating.settings)

    @property
    def none_resolved(self) -> bool:
        """Whether there is no clause to show: no query, or nothing to find."""
        return not any(self.plain.values())

    def lists(self) -> Iterator[tuple[str, int, list[Clause]]]:
        """(`rerank`, depth, clauses) of every ranking."""
        for depth, listed in self.plain.items():
            yield PLAIN, depth, listed
        for depth, entries in self.dated.items():
            yield DATED, depth, [entry.clause for entry in entries]

    def to_json(self, main_depth: int) -> dict[str, Any]:
        """The row of `retrieved.jsonl`; `dated` is the date-aware list of the main depth."""
        return {
            "item_id": self.item.item_id,
            "query_fields": list(TASKS[self.item.task].query),
            "none_resolved": self.none_resolved,
            "depths": {
                str(depth): [_clause_row(clause) for clause in listed]
                for depth, listed in self.plain.items()
            },
            "dated": [_dated_row(entry) for entry in self.dated.get(main_depth, [])],
        }


def _clause_row(clause: Clause) -> dict[str, Any]:
    return {**asdict(clause), "similarity": round(clause.similarity, DECIMALS)}


def _dated_row(entry: DatedClause) -> dict[str, Any]:
    added = {"closeness": entry.closeness, "score": entry.score}
    return {
        **_clause_row(entry.clause),
        **{name: round(value, DECIMALS) for name, value in added.items()},
    }


def query_text(item: Item) -> str:
    """The text that an item searches with: the allowed fields of its task, one below the other.

    A field that is a list gives one line an entry; a blank field gives none. Only `inputs` are
    looked at, and of them only `Task.query`: no answer, option or misleading passage.
    """
    lines: list[str] = []
    for name in TASKS[item.task].query:
        value = item.inputs.get(name)
        for entry in value if isinstance(value, list) else [value]:
            if not isinstance(entry, str):
                raise DataError(
                    f"item {item.item_id}: field {name!r} is no text; build the items again"
                )
            if entry.strip():
                lines.append(entry)
    return "\n".join(lines)


def element_times(elements: Iterable[Element]) -> dict[str, list[float]]:
    """Times of the elements in years: the document's date, else the dates that the text states."""
    out: dict[str, list[float]] = {}
    for element in elements:
        if element.document_date:
            times = {in_years(element.document_date)}
        else:
            times = {in_years(each["value"], each["calendar"]) for each in element.dates}
        out[element.element_id] = sorted(times)
    return out


def check_gold(items: Sequence[Item], elements: Mapping[str, Any]) -> None:
    """Raise DataError for a gold clause that is no element: nothing could ever find it."""
    for item in items:
        lost = [name for name in item.source["clause_ids"] if name not in elements]
        if lost:
            raise DataError(
                f"item {item.item_id}: gold clause {lost[0]} is not among the elements; correct "
                "the question or parse its document"
            )


def retrieve(
    items: Sequence[Item],
    queries: Vectors,
    search: ExactSearch,
    depths: Depths,
    dating: Dating | None = None,
) -> list[Found]:
    """The clauses of every item at every depth, plain and (with `dating`) re-ranked by date.

    `queries` has a row for every item with a query, in their order. An item without a query gets
    empty lists.
    """
    asked = [item.item_id for item in items if query_text(item)]
    if len(asked) != len(queries):
        raise DataError(f"{len(queries)} query vectors for {len(asked)} queries")
    found = {item.item_id: Found(item) for item in items}
    for depth in depths.all:
        nearest = search.nearest(queries, depths.overfetch * depth)
        hits = dict(zip(asked, nearest, strict=True))
        for item_id, row in found.items():
            row.add(depth, hits.get(item_id, []), dating)
    return list(found.values())


def question_rows(found: Iterable[Found]) -> pd.DataFrame:
    """One row an item, ranking and depth: how many of its gold clauses stand where.

    `gold` counts distinct clauses; `first_rank` is empty where none was retrieved.
    """
    out: list[dict[str, Any]] = []
    for row in found:
        gold = set(row.item.source["clause_ids"])
        for rerank_name, depth, listed in row.lists():
            ranks = [clause.rank for clause in listed if clause.element_id in gold]
            out.append(
                {
                    "item_id": row.item.item_id,
                    "task": row.item.task,
                    "rerank": rerank_name,
                    "depth": depth,
                    "gold": len(gold),
                    "found": len(ranks),
                    "first_rank": min(ranks, default=None),
                    "clauses": len(listed),
                    "none_resolved": row.none_resolved,
                }
            )
    return pd.DataFrame(out, columns=list(QUESTION_COLUMNS)).astype({"first_rank": "Int64"})


def summarise(frame: pd.DataFrame, embedder: str) -> pd.DataFrame:
    """Measures of one embedder per ranking, task and depth, and their mean over the tasks (`all`).

    Only items with a gold clause count (`n`); `clauses` is the mean number of elements retrieved,
    `none_resolved` the number of items for which there is none.
    """
    scored = frame[frame["gold"] > 0]
    table = pd.DataFrame(
        {
            "rerank": scored["rerank"],
            "task": scored["task"],
            "depth": scored["depth"],
            "n": 1,
            "recall": scored["found"] / scored["gold"],
            "any_hit": (scored["found"] > 0).astype(float),
            "full_recall": (scored["found"] == scored["gold"]).astype(float),
            "mean_reciprocal_rank": (1.0 / scored["first_rank"].astype(float)).fillna(0.0),
            "clauses": scored["clauses"].astype(float),
            "none_resolved": scored["none_resolved"].astype(bool).astype(int),
        }
    )
    means = ["recall", "any_hit", "full_recall", "mean_reciprocal_rank", "clauses"]
    how = {"n": "sum", **dict.fromkeys(means, "mean"), "none_resolved": "sum"}
    by_task = table.groupby(["rerank", "task", "depth"], as_index=False).agg(how)
    macro = by_task.groupby(["rerank", "depth"], as_index=False).agg(how).assign(task=ALL)
    out = pd.concat([by_task, macro], ignore_index=True).assign(embedder=embedder)
    order = {name: place for place, name in enumerate((PLAIN, DATED, *TASKS, ALL))}
    out = out.sort_values(
        ["rerank", "task", "depth"],
        key=lambda column: column if column.name == "depth" else column.map(order),
    )
    return out[list(COLUMNS)].reset_index(drop=True)
