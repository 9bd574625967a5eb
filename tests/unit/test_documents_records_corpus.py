"""Records of the embedded instruments against their truth, and of real acts against themselves."""

from __future__ import annotations

import json
import re
import time
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from scripts.documents.blocks import USABLE
from scripts.documents.clauses import printed_numeral
from scripts.documents.manifest import documents
from scripts.documents.pages import Page
from scripts.documents.records import account, build_record, date_difference
from scripts.tide.documents.calendar_report import calendar_rows
from scripts.tide.documents.elements import elements_of

FOLDER = Path(__file__).resolve().parents[2] / "data" / "embedded" / "tide"
ENGINES = ("pymupdf", "pdftotext", "pdfium")
#: Acts: how many clauses were found when their numbering was reviewed, and their last number.
#: Inserted letters (৩২ক, 196A) make more clauses than numbers.
ACTS = {
    "act-1106": (147, 139),
    "act-1241": (54, 54),
    "act-1431": (24, 24),
    "act-1514": (5, 6),
    "act-1541": (159, 159),
    "act-1570": (38, 38),
    "act-1571": (94, 94),
    "act-206": (59, 40),
    "act-354": (299, 223),
}
#: Numbers that stand in no line of the text: omitted sections, and one that the source lost.
OMITTED = {"act-1514": {5}}


def _names() -> list[str]:
    path = FOLDER / "manifest.csv"
    return list(documents(path)) if path.is_file() else []


@cache
def read(document: str) -> tuple[list[Page], dict[str, Any], dict[str, Any]]:
    """Pages, record and truth of an embedded document."""
    from scripts.documents.reading import read_pdf

    entry = documents(FOLDER / "manifest.csv")[document]
    found = read_pdf(entry.path, document, list(ENGINES)).pages
    truth = json.loads((FOLDER / "truth" / f"{document}.json").read_text("utf-8"))
    return found, build_record(found, entry.to_json()), truth


def on_pages(entries: list[dict[str, Any]], usable: set[int]) -> list[dict[str, Any]]:
    return [e for e in entries if set(range(e["page_start"], e["page_end"] + 1)) <= usable]


@pytest.mark.parametrize("document", _names())
def test_record_is_the_truth(document: str) -> None:
    found, record, truth = read(document)
    usable = {page.page for page in found if page.status in USABLE}
    clauses = [item for item in record["parsed_text"] if item["type"] == "clause"]
    expected = on_pages(truth["clauses"], usable)
    names = ("clause_number", "text", "subclause_hierarchy", "page_start", "page_end")
    assert [[c["clause_title"], *(c[n] for n in names)] for c in clauses] == [
        [c["title"], *(c[n] for n in names)] for c in expected
    ]
    tables = [
        [t[n] for n in ("headers", "rows", "page_start", "page_end")] for t in record["tables"]
    ]
    assert tables == [
        [t[n] for n in ("headers", "rows", "page_start", "page_end")]
        for t in on_pages(truth["tables"], usable)
    ]
    parents = [t["parent_text_id"] for t in record["tables"]]
    assert parents == [t["parent"] for t in on_pages(truth["tables"], usable)]
    counted = account(found, record)
    assert (counted.lost, counted.added) == (0, 0)


@pytest.mark.parametrize("document", _names())
def test_metadata_and_dates_are_the_truth(document: str) -> None:
    found, record, truth = read(document)
    usable = {page.page for page in found if page.status in USABLE}
    if usable == {page["page"] for page in truth["pages"]}:
        metadata = [
            (item["metadata_category"], item["text"])
            for item in record["parsed_text"]
            if item["type"] == "metadata"
        ]
        assert sorted(metadata) == sorted((m["category"], m["text"]) for m in truth["metadata"])
    dates = [date for e in elements_of(document, record) for date in e.dates]
    expected = [date for date in truth["dates"] if date["page"] in usable]
    assert sorted((d["calendar"], d["granularity"], d["text"]) for d in dates) == sorted(
        (d["calendar"], d["granularity"], d["text"]) for d in expected
    )
    gregorian = sorted(d["value"] for d in expected if d["calendar"] == "gregorian")
    assert sorted(d["value"] for d in dates if d["calendar"] == "gregorian") == gregorian
    if usable:
        entry = documents(FOLDER / "manifest.csv")[document]
        assert date_difference(record, entry.to_json()) == ""


@pytest.mark.skipif(not _names(), reason="no embedded instruments here")
def test_only_the_planted_disagreement_of_calendars_is_reported() -> None:
    wrong = []
    for document in _names():
        _, record, truth = read(document)
        rows = calendar_rows(elements_of(document, record))
        wrong += [document for row in rows if not row["agrees"]]
        planted = {date["text"] for date in truth["dates"] if date["disagrees"]}
        assert {row["bangla"] for row in rows if not row["agrees"]} <= planted
    assert wrong == ["sro-145-2021"]


@pytest.mark.parametrize("act", sorted(ACTS))
def test_real_acts(shared_data: Path, act: str) -> None:
    path = shared_data / "bdlaws" / f"{act}.txt"
    if not path.is_file():
        pytest.skip(f"no {path.name} here")
    lines = [text.strip() for text in path.read_text("utf-8").split("\n") if text.strip()]
    pages = [
        Page(
            act, at // 40 + 1, "text", [], 0, 0, 0, False, "",
            [{"text": t, "bbox": [], "size": 0.0, "bold": False} for t in lines[at : at + 40]],
            [], "", "made",
        )
        for at in range(0, len(lines), 40)
    ]  # fmt: skip
    started = time.perf_counter()
    record = build_record(pages, {"file": f"{act}.pdf", "type": "Act"})
    seconds = time.perf_counter() - started
    counted = account(pages, record)
    assert (counted.lost, counted.added) == (0, 0)
    assert counted.kept == sum(len("".join(text.split())) for text in lines)
    clauses = [item for item in record["parsed_text"] if item["type"] == "clause"]
    count, last = ACTS[act]
    assert len(clauses) == count
    numbers = {int(re.match(r"\d+", printed_numeral(c["text"]))[0]) for c in clauses}  # type: ignore[index]
    assert numbers == set(range(1, last + 1)) - OMITTED.get(act, set())
    assert sum(bool(clause["clause_title"]) for clause in clauses) >= 0.9 * len(clauses)
    assert seconds < 20
