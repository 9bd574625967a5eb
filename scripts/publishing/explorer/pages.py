"""From the rows of the benchmarks to the data of a page: columns, and texts in packed chunks.

A page holds an index (what the list and the filters need, as columns of codes) and the texts in
chunks that the browser unpacks one at a time, when it shows or searches them. Both are JSON, packed
with gzip and written as base64: no character of a model's reply can end the element that holds it.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scripts.files import DataError
from scripts.publishing.explorer.rows import (
    COMMON_FACETS,
    AnswerRow,
    BenchmarkRow,
    ItemRow,
    PromptRow,
    iterate_rows,
)

#: Bytes of unpacked text in a chunk: small enough to unpack in a few milliseconds.
CHUNK_BYTES = 1 << 18
#: Bytes of rows (as JSONL) that one page may hold before there is one page a benchmark, and then
#: one a task: what a browser opens without trouble.
PAGE_BYTES = 192 << 20
TITLE_CHARACTERS = 160
PREVIEW_CHARACTERS = 60

COMMON_LABELS = {
    "benchmark": "Benchmark",
    "task": "Task",
    "model": "Model",
    "mode": "Mode",
    "outcome": "Outcome",
    "category": "Category",
}
#: What became of an answer. Invalid ones are wrong, too; they are told apart here.
OUTCOMES = {
    "right": "right",
    "wrong": "wrong",
    "invalid": "wrong: no valid answer",
    "unscored": "unscored",
}


def outcome(row: AnswerRow) -> str:
    """The one of OUTCOMES that an answer has."""
    if row.correct is None:
        return "unscored"
    if row.correct:
        return "right"
    return "wrong" if row.valid else "invalid"


def pack(value: Any) -> str:
    """A value as JSON, gzip and base64; lone surrogates stay what they are, as JSON escapes."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    data = text.encode("utf-8", "backslashreplace")
    return base64.b64encode(gzip.compress(data, compresslevel=9, mtime=0)).decode("ascii")


class Chunks:
    """Entries in the order given, packed in chunks of about CHUNK_BYTES."""

    def __init__(self) -> None:
        self.packed: list[str] = []
        #: The number of the first entry of each chunk, and at the end that of all entries.
        self.starts = [0]
        self._open: list[Any] = []
        self._bytes = 0

    def add(self, entry: Any, size: int) -> int:
        """Append an entry of so many bytes; returns its number."""
        self._open.append(entry)
        self._bytes += size
        number = self.starts[-1] + len(self._open) - 1
        if self._bytes >= CHUNK_BYTES:
            self.close()
        return number

    def close(self) -> None:
        """Pack what is open."""
        if self._open:
            self.packed.append(pack(self._open))
            self.starts.append(self.starts[-1] + len(self._open))
            self._open, self._bytes = [], 0


class Codes:
    """A column of texts as numbers of the distinct ones, in order of appearance."""

    def __init__(self) -> None:
        self.codes: dict[str, int] = {}
        self.column: list[int] = []

    def of(self, text: str) -> int:
        """The number of a text."""
        return self.codes.setdefault(text, len(self.codes))

    def add(self, text: str) -> None:
        """Append a text to the column."""
        self.column.append(self.of(text))


def _natural(value: str) -> tuple[int, float, str]:
    """Numbers by size, before all other texts."""
    return (0, float(value), "") if value.isdecimal() else (1, 0.0, value)


class Facet:
    """A facet of the page: its label, the labels of its values, and which values occur."""

    def __init__(self, name: str, label: str) -> None:
        self.name = name
        self.label = label
        self.labels: dict[str, str] = {}
        self.seen: set[str] = set()

    def declare(self, entry: Mapping[str, Any]) -> None:
        """Take over labels that a benchmark gives; the first benchmark to name one wins."""
        for value, label in entry.get("values", {}).items():
            self.labels.setdefault(str(value), str(label))

    def values(self) -> list[str]:
        """The values that occur: declared ones in their order, then the others, sorted."""
        declared = [value for value in self.labels if value in self.seen]
        return declared + sorted(self.seen - set(declared), key=_natural)


@dataclass
class PageBuilder:
    """Collects the rows of one page. `titles` is what the page says it holds."""

    facets: dict[str, Facet] = field(default_factory=dict)
    items: dict[tuple[str, str, str], int] = field(default_factory=dict)
    prompts: dict[tuple[str, str], int] = field(default_factory=dict)
    answers: int = 0

    def __post_init__(self) -> None:
        for name in COMMON_FACETS:
            self.facets[name] = Facet(name, COMMON_LABELS[name])
        self.facets["outcome"].declare({"values": OUTCOMES})
        self.messages: dict[str, int] = {}
        self.text_chunks, self.answer_chunks = Chunks(), Chunks()
        self.item_rows: list[tuple[str, ItemRow]] = []
        self.prompt_rows: list[tuple[PromptRow, list[list[Any]]]] = []
        self.own: dict[str, list[str]] = {name: [] for name in COMMON_FACETS[2:]}
        self.item_of: list[int] = []
        self.prompt_of: list[int] = []
        self.previews = Codes()
        self._placed: set[tuple[Any, ...]] = set()

    def declare(self, row: BenchmarkRow) -> None:
        """Begin the rows of a benchmark."""
        self._see("benchmark", row.benchmark)
        self.facets["benchmark"].labels[row.benchmark] = row.label
        for name, entry in row.facets.items():
            facet = self.facets.setdefault(name, Facet(name, str(entry.get("label", name))))
            facet.declare(entry)

    def _see(self, name: str, value: str) -> None:
        self.facets[name].seen.add(value)

    def add_item(self, benchmark: str, row: ItemRow) -> None:
        """Add an item; DataError where it stands twice."""
        key = (benchmark, row.task, row.item_id)
        if self.items.setdefault(key, len(self.item_rows)) < len(self.item_rows):
            raise DataError(f"{benchmark}: item {row.item_id} ({row.task}) stands twice")
        self.item_rows.append((benchmark, row))
        self._see("task", row.task)
        self._see_all(row.facets)

    def _see_all(self, facets: Mapping[str, str]) -> None:
        for name, value in facets.items():
            if name not in self.facets or name in COMMON_FACETS:
                raise DataError(f"facet {name!r} is not declared in the benchmark line")
            self._see(name, value)

    def add_prompt(self, benchmark: str, row: PromptRow) -> None:
        """Add a prompt; each distinct message stands once."""
        key = (benchmark, row.prompt_id)
        if self.prompts.setdefault(key, len(self.prompt_rows)) < len(self.prompt_rows):
            raise DataError(f"{benchmark}: prompt {row.prompt_id} stands twice")
        messages = []
        for message in row.messages:
            content = message["content"]
            if content not in self.messages:
                self.messages[content] = self.text_chunks.add(content, len(content))
            messages.append([message["role"], self.messages[content]])
        self.prompt_rows.append((row, messages))
        self._see_all(row.facets)

    def add_answer(self, benchmark: str, row: AnswerRow) -> None:
        """Add an answer; DataError where its item or prompt is missing, or it stands twice."""
        item = self.items.get((benchmark, row.task, row.item_id))
        prompt = self.prompts.get((benchmark, row.prompt_id))
        if item is None or prompt is None:
            raise DataError(
                f"{benchmark}: an answer of {row.model} ({row.mode}) to prompt {row.prompt_id} "
                f"of item {row.item_id} ({row.task}), which does not stand before it"
            )
        # Two models are compared item by item within a setting, so that must name one answer.
        setting = tuple(sorted(self.prompt_rows[prompt][0].facets.items()))
        key = (item, setting, row.model, row.mode)
        if key in self._placed:
            raise DataError(
                f"{benchmark}: two answers of {row.model} ({row.mode}) to item {row.item_id} "
                f"({row.task}) in the setting {dict(setting)}"
            )
        self._placed.add(key)
        self.answers += 1
        self.item_of.append(item)
        self.prompt_of.append(prompt)
        values = (row.model, row.mode, outcome(row), row.category)
        for name, value in zip(COMMON_FACETS[2:], values, strict=True):
            self._see(name, value)
            self.own[name].append(value)
        self.previews.add("" if row.parsed is None else row.parsed[:PREVIEW_CHARACTERS])
        entry = [
            row.text,
            row.reasoning,
            row.parsed,
            row.route,
            row.error,
            row.finish_reason,
            row.votes,
            row.details,
        ]
        length = sum(len(part) for part in (row.text, row.reasoning or "", row.parsed or ""))
        self.answer_chunks.add(entry, 200 * (1 + len(row.votes)) + length)

    # ---- the finished page -----------------------------------------------------------------------

    def blocks(self, note: str) -> dict[str, str]:
        """Packed blocks by the identifier of the element that holds them; `index` is read first."""
        self.text_chunks.close()
        self.answer_chunks.close()
        out = {"index": pack(self._index(note))}
        for kind, chunks in (("text", self.text_chunks), ("answer", self.answer_chunks)):
            out |= {f"{kind}-{number}": data for number, data in enumerate(chunks.packed)}
        return out

    def _index(self, note: str) -> dict[str, Any]:
        """What the list and the filters need. Code 0 of a facet: the row does not have it."""
        order = {name: facet.values() for name, facet in self.facets.items()}
        code = {
            name: {value: place for place, value in enumerate(values, start=1)}
            for name, values in order.items()
        }
        items = [row for _, row in self.item_rows]
        columns: dict[str, list[int]] = {
            "benchmark": [code["benchmark"][name] for name, _ in self.item_rows],
            "task": [code["task"][row.task] for row in items],
        }
        prompts: dict[str, list[int]] = {}
        for name in self.facets:
            if name in COMMON_FACETS:
                continue
            of_item = [code[name].get(row.facets.get(name, ""), 0) for row in items]
            of_prompt = [code[name].get(row.facets.get(name, ""), 0) for row, _ in self.prompt_rows]
            if any(of_item):
                columns[name] = of_item
            if any(of_prompt):
                prompts[name] = of_prompt
        return {
            "note": note,
            "facets": [
                {
                    "name": name,
                    "label": facet.label,
                    "values": [[value, facet.labels.get(value, value)] for value in order[name]],
                }
                for name, facet in self.facets.items()
                if order[name]
            ],
            "items": {
                "id": [row.item_id for row in items],
                "title": [row.title[:TITLE_CHARACTERS] for row in items],
                "gold": [row.gold for row in items],
                "language": [row.language or "" for row in items],
                "details": [row.details for row in items],
                "facets": columns,
            },
            "prompts": {
                "id": [row.prompt_id for row, _ in self.prompt_rows],
                "messages": [messages for _, messages in self.prompt_rows],
                "facets": prompts,
            },
            "answers": {
                "item": self.item_of,
                "prompt": self.prompt_of,
                "preview": self.previews.column,
                "facets": {
                    name: [code[name][value] for value in values]
                    for name, values in self.own.items()
                },
            },
            "previews": list(self.previews.codes),
            "texts": self.text_chunks.starts,
            "chunks": self.answer_chunks.starts,
        }


def read_pages(
    paths: Sequence[Path | str], limit: int = PAGE_BYTES
) -> dict[tuple[str, ...], PageBuilder]:
    """The pages of a run by what they hold: `()` is everything.

    Rows of more than `limit` bytes altogether stand on a page a benchmark, `(benchmark,)`, and
    those of a benchmark that has more than that by itself on a page a task, `(benchmark, task)`:
    all models on one page, so that they can still be compared. No row is left out.
    """
    sizes = {path: Path(path).stat().st_size for path in paths}
    split = sum(sizes.values()) > limit
    pages: dict[tuple[str, ...], PageBuilder] = {}
    for path in paths:
        by_task = sizes[path] > limit
        _read(path, pages, _naming(split, by_task))
    return pages


def _naming(split: bool, by_task: bool) -> Callable[[str, str], tuple[str, ...]]:
    """The page on which a row of a benchmark and task stands."""

    def name(benchmark: str, task: str) -> tuple[str, ...]:
        if not split:
            return ()
        return (benchmark, task) if by_task else (benchmark,)

    return name


def _read(
    path: Path | str,
    pages: dict[tuple[str, ...], PageBuilder],
    name: Callable[[str, str], tuple[str, ...]],
) -> None:
    """Add the rows of a benchmark to their pages."""
    header: BenchmarkRow | None = None
    of_item: dict[str, dict[tuple[str, ...], None]] = {}

    def page(task: str) -> PageBuilder:
        assert header is not None
        key = name(header.benchmark, task)
        if key not in pages:
            pages[key] = PageBuilder()
        if header.benchmark not in pages[key].facets["benchmark"].seen:
            pages[key].declare(header)
        return pages[key]

    try:
        for row in iterate_rows(path):
            if isinstance(row, BenchmarkRow):
                header = row
            assert header is not None
            if isinstance(row, ItemRow):
                page(row.task).add_item(header.benchmark, row)
                of_item.setdefault(row.item_id, {})[name(header.benchmark, row.task)] = None
            elif isinstance(row, PromptRow):
                for key in of_item.get(row.item_id, {}):
                    pages[key].add_prompt(header.benchmark, row)
            elif isinstance(row, AnswerRow):
                page(row.task).add_answer(header.benchmark, row)
    except DataError as error:
        raise DataError(f"{error} [{path}]") from error


def totals(pages: Iterable[PageBuilder]) -> tuple[int, int]:
    """Items and answers of several pages."""
    found = [(len(page.items), page.answers) for page in pages]
    return sum(items for items, _ in found), sum(answers for _, answers in found)
