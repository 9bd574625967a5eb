"""Records to elements, the calendar report, the parsing report and the rule script over them."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from scripts.documents.records import build_record
from scripts.files import DataError, read_csv, read_records, write_csv, write_json
from scripts.tide.documents import gather_elements
from scripts.tide.documents.calendar_report import COLUMNS as CALENDAR_COLUMNS
from scripts.tide.documents.calendar_report import calendar_rows, disagreements
from scripts.tide.documents.complexity import COLUMNS as COMPLEXITY_COLUMNS
from scripts.tide.documents.elements import (
    document_name,
    element_text,
    elements_of,
    gather,
    read_record,
    table_text,
)
from scripts.tide.documents.parsing_report import (
    COLUMNS,
    date_differences,
    gather_reports,
    unread_pages,
)
from scripts.tide.rows import Element
from tests.unit.documents_pages import ENTRY, pages, table

HEAD = ("ক্রমিক", "HS Code", "তারিখ")


def made(*contents: Any) -> dict[str, Any]:
    return build_record(pages(*contents), ENTRY)


def example() -> dict[str, Any]:
    return made(
        [
            "প্রজ্ঞাপন",
            "তারিখ: ২৮ জ্যৈষ্ঠ, ১৪২৭ বঙ্গাব্দ/১১ জুন, ২০২০ খ্রিস্টাব্দ",
            "১। শিরোনাম।— (ক) এক; (খ) দুই।",
            "২। ছক:",
            table(HEAD, ("১", "8445.11.00", "1 July\n2020"), ("২", "", "—")),
            "শেষ।",
        ]
    )


def test_elements_of_a_record() -> None:
    elements = elements_of("sro-1-2020", example())
    assert [e.element_id for e in elements] == [
        "sro-1-2020/metadata_1",
        "sro-1-2020/metadata_2",
        "sro-1-2020/clause_1",
        "sro-1-2020/clause_2",
    ]
    title, dated, first, second = elements
    assert (title.category, title.title, title.number) == ("document", "প্রজ্ঞাপন", "")
    assert (first.category, first.title, first.number) == ("", "শিরোনাম", "১।")
    assert all(e.document_date == "2020-06-11" and e.document_type == "SRO" for e in elements)
    assert [d["calendar"] for d in dated.dates] == ["bangla", "gregorian"]
    assert second.text == (
        "২। ছক:\nক্রমিক | HS Code | তারিখ\n১ | 8445.11.00 | 1 July 2020\n২ |  | —\nশেষ।"
    )
    assert second.table_ids == ["table_1"]
    assert [d["value"] for d in second.dates] == ["2020-07-01"]
    assert second.text[second.dates[0]["start"] : second.dates[0]["end"]] == "1 July 2020"
    assert all(Element.from_json(e.to_json()) == e for e in elements)


def test_printed_marker_is_not_replaced() -> None:
    record = made(["১। এখানে [TABLE_1] লেখা।", table(HEAD, ("১", "a", "b")), "২। [TABLE_1]"])
    first, second = elements_of("x", record)
    assert first.text.startswith("১। এখানে [ TABLE_1] লেখা।\nক্রমিক | ")
    assert second.text == "২। [ TABLE_1]"
    assert element_text({"text": "[TABLE_1]", "table_ids": []}, {}) == "[TABLE_1]"


def test_cell_that_looks_like_a_marker_stays_a_cell() -> None:
    record = made(["১। ছক:", table(HEAD, ("১", "[TABLE_2]", "b"))])
    assert "১ | [TABLE_2] | b" in elements_of("x", record)[0].text


def test_table_without_a_header() -> None:
    assert table_text({"headers": [], "rows": [["1", "a"]]}) == "1 | a"


def test_document_without_a_date_and_without_items() -> None:
    assert elements_of("x", made(["1. One."]))[0].document_date is None
    assert elements_of("x", build_record([], ENTRY)) == []


def test_elements_are_ordered_by_document_and_place() -> None:
    record = made(["1. One.", "2. Two."])
    gathered = gather([("b", record), ("a", record)])
    assert [e.element_id for e in gathered] == [
        "a/clause_1",
        "a/clause_2",
        "b/clause_1",
        "b/clause_2",
    ]


def test_names_and_files_of_records(tmp_path: Path) -> None:
    assert document_name("results/sro-1.record.json") == "sro-1"
    with pytest.raises(DataError, match=r"DOCUMENT\.record\.json"):
        document_name("sro-1.json")
    write_json(tmp_path / "a.record.json", [1])
    with pytest.raises(DataError, match="expected a record"):
        read_record(tmp_path / "a.record.json")
    write_json(tmp_path / "a.record.json", {"parsed_text": []})
    with pytest.raises(DataError, match=r"a\.record\.json"):
        read_record(tmp_path / "a.record.json")


# --- both calendars ------------------------------------------------------------------------------


def test_calendar_report() -> None:
    record = made(
        [
            "তারিখ: ২৮ জ্যৈষ্ঠ, ১৪২৭ বঙ্গাব্দ/১১ জুন, ২০২০ খ্রিস্টাব্দ",
            "১। ১৭ আষাঢ়, ১৪২৭ বঙ্গাব্দ মোতাবেক ২ জুলাই, ২০২০ খ্রিস্টাব্দ হইতে এবং 5 May 2021 হইতে।",
        ]
    )
    rows = calendar_rows(elements_of("sro-1-2020", record))
    assert [tuple(row) for row in rows] == [CALENDAR_COLUMNS] * 2
    right, wrong = rows
    assert right["agrees"]
    assert right["converted"] == right["gregorian"] == "2020-06-11"
    assert wrong["element_id"] == "sro-1-2020/clause_1"
    assert (wrong["agrees"], wrong["gregorian"], wrong["converted"]) == (
        False,
        "2020-07-02",
        "2020-07-01",
    )
    assert wrong["bangla"] == "১৭ আষাঢ়, ১৪২৭ বঙ্গাব্দ"
    assert wrong["text"].startswith("১৭ আষাঢ়") and wrong["text"].endswith("খ্রিস্টাব্দ")
    (said,) = disagreements(rows)
    assert "sro-1-2020/clause_1" in said


def test_day_that_its_calendar_lacks_is_reported_as_printed() -> None:
    record = made(["১। ৩২ আষাঢ়, ১৪২৭ বঙ্গাব্দ মোতাবেক 31 June 2020 তারিখ।"])
    (row,) = calendar_rows(elements_of("x", record))
    assert not row["agrees"]
    assert row["gregorian"] == "31 June 2020"
    assert row["converted"] == ""


# --- parsing report ------------------------------------------------------------------------------


def report(folder: Path, document: str, *rows: dict[str, Any], **options: Any) -> Path:
    path = folder / f"{document}.report.csv"
    usual = dict.fromkeys(COLUMNS, "") | {"document": document, "status": "text"}
    write_csv(path, pd.DataFrame([usual | row for row in rows], columns=list(COLUMNS), **options))
    return path


def test_reports_are_gathered_in_order_and_cells_stay(tmp_path: Path) -> None:
    second = report(tmp_path, "b", {"page": "10", "repairs": "007"}, {"page": "2"})
    first = report(tmp_path, "a", {"status": "failed", "reason": "encrypted"})
    frame = gather_reports([second, first])
    assert list(frame.columns) == list(COLUMNS)
    assert frame[["document", "page"]].fillna("").to_numpy().tolist() == [
        ["a", ""],
        ["b", "2"],
        ["b", "10"],
    ]
    assert frame["repairs"].tolist()[-1] == "007"
    assert list(gather_reports([]).columns) == list(COLUMNS)


def test_unread_pages_are_named(tmp_path: Path) -> None:
    frame = gather_reports(
        [
            report(tmp_path, "a", {"status": "failed", "reason": "encrypted"}),
            report(tmp_path, "b", {"page": "1"}, {"page": "2", "status": "needs_ocr"}),
        ]
    )
    assert unread_pages(frame) == ["a: failed (encrypted)", "b, page 2: needs_ocr"]


def test_bad_reports(tmp_path: Path) -> None:
    path = report(tmp_path, "a", {"page": "1", "document": "b"})
    with pytest.raises(DataError, match="speaks of"):
        gather_reports([path])
    path.write_text("page,status\n1,text\n", encoding="utf-8")
    with pytest.raises(DataError, match="no column engine"):
        gather_reports([path])


def test_records_and_manifest_must_match() -> None:
    record = example()
    entry = SimpleNamespace(to_json=lambda: {"date": "2020-01-01"})
    said = date_differences([("a", record)], {"a": entry})  # type: ignore[dict-item]
    assert said == ["a: page 1 gives the date 2020-06-11, the manifest 2020-01-01"]
    with pytest.raises(DataError, match="not in the manifest"):
        date_differences([("a", record)], {})
    with pytest.raises(DataError, match="no record of"):
        date_differences([], {"a": entry})  # type: ignore[dict-item]


# --- the rule script -----------------------------------------------------------------------------


def job(folder: Path, order: list[str]) -> SimpleNamespace:
    """What Snakemake gives to gather_elements for documents in some order."""
    for name in order:
        (folder / f"{name}.pdf").write_bytes(b"%PDF")
        write_json(folder / f"{name}.record.json", example())
        report(folder, name, {"page": "1", "status": "needs_ocr" if name == "c" else "text"})
    rows = [f"{name}.pdf,,,SRO,2020-06-11,x" for name in order]
    manifest = folder / "manifest.csv"
    manifest.write_text("file,url,sha256,type,date,licence\n" + "\n".join(rows) + "\n", "utf-8")
    outputs = ("parsing", "two_calendars", "complexity")
    return SimpleNamespace(
        input=SimpleNamespace(
            records=[str(folder / f"{name}.record.json") for name in order],
            reports=[str(folder / f"{name}.report.csv") for name in order],
            manifest=str(manifest),
        ),
        output=SimpleNamespace(
            elements=str(folder / "out" / "elements.jsonl"),
            **{name: str(folder / "out" / f"{name}.csv") for name in outputs},
        ),
    )


def test_gather_elements_writes_the_same_in_any_order(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written = []
    for name, order in (("one", ["a", "b", "c"]), ("two", ["c", "a", "b"])):
        folder = tmp_path / name
        folder.mkdir()
        gather_elements.main(job(folder, order))
        written.append({p.name: p.read_bytes() for p in sorted((folder / "out").iterdir())})
    assert written[0] == written[1]
    assert set(written[0]) == {
        "elements.jsonl",
        "parsing.csv",
        "two_calendars.csv",
        "complexity.csv",
    }
    out = tmp_path / "one" / "out"
    assert len(read_records(out / "elements.jsonl", Element)) == 12
    assert list(read_csv(out / "complexity.csv").columns) == list(COMPLEXITY_COLUMNS)
    assert list(read_csv(out / "two_calendars.csv")["agrees"]) == [True] * 3
    assert "note: c, page 1: needs_ocr" in capsys.readouterr().err


def test_gather_elements_of_documents_without_text(tmp_path: Path) -> None:
    given = job(tmp_path, ["a"])
    write_json(tmp_path / "a.record.json", build_record([], ENTRY))
    gather_elements.main(given)
    assert read_records(given.output.elements, Element) == []
    assert list(read_csv(given.output.two_calendars).columns) == list(CALENDAR_COLUMNS)
    assert read_csv(given.output.complexity)["words"].tolist() == [0]
