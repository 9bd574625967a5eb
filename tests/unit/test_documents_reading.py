"""Whole files: every page has a status, no doubtful text passes, and no file stops the others."""

import json
from types import SimpleNamespace

import pymupdf
import pytest
from documents_pdfs import EMBEDDED, ENGINES, NO_PAGES, english, scan

from scripts.documents import engines as engine_module
from scripts.documents import parse_document as rule
from scripts.documents import reading as module
from scripts.documents.engines import EngineError
from scripts.documents.fidelity import CHOSEN, page_row
from scripts.documents.pages import STATUSES, Page
from scripts.documents.reading import REPORT_COLUMNS, UnreadablePdfError, engine_texts, read_pdf
from scripts.files import DataError, read_csv, read_json, read_records, sha256_file

TRUTHS = sorted((EMBEDDED / "truth").glob("*.json"))
pytestmark = pytest.mark.skipif(not TRUTHS, reason="the embedded corpus is not built")


def measured(engines):  # type: ignore[no-untyped-def]
    rows = []
    for path in TRUTHS:
        truth = json.loads(path.read_text(encoding="utf-8"))
        document = truth["document"]
        read = read_pdf(EMBEDDED / f"{document}.pdf", document, engines)
        assert not read.failure
        assert [page.page for page in read.pages] == [page["page"] for page in truth["pages"]]
        for page, mine in zip(truth["pages"], read.pages, strict=True):
            row = page_row(truth, page, CHOSEN, mine.lines, mine.tables, status=mine.status)
            rows.append({**row, "chosen_page": mine})
    return rows


@pytest.mark.parametrize(
    "engines", [ENGINES, ["pymupdf"], ["pymupdf", "pdfium"], ENGINES[:2]], ids="+".join
)
def test_no_page_of_the_embedded_corpus_is_silently_wrong(engines) -> None:  # type: ignore[no-untyped-def]
    rows = measured(engines)
    read = [row for row in rows if row["wer"] is not None]
    flagged = {row["layer"] for row in rows if row["wer"] is None}
    assert len(rows) >= 15
    assert len(read) >= len(rows) - 4
    assert max(row["wer"] for row in read) <= 0.01
    correct = [row for row in read if row["layer"] in {"actualtext", "plain"}]
    assert correct
    assert max(row["wer"] for row in correct) <= 0.001
    # Pictures, garbled and legacy layers are flagged; visual order is put right.
    assert flagged <= {"image", "mojibake", "legacy"}
    assert {"image", "mojibake"} <= flagged
    for row in read:
        page = row["chosen_page"]
        assert row["cells_right"] == row["cells"]
        assert row["dates_right"] == row["dates"]
        assert page.characters_in == page.characters_out > 0
        assert page.status == ("repaired" if row["layer"] == "visual" else page.status)
    for row in rows:
        if row["wer"] is None:
            page = row["chosen_page"]
            assert (page.status, page.text, page.lines, page.tables) == ("needs_ocr", "", [], [])
            assert page.reason


def test_the_same_file_gives_the_same_pages() -> None:
    path = EMBEDDED / "sro-101-2014.pdf"
    first, second = (read_pdf(path, "a", ENGINES).pages for _ in range(2))
    assert first == second
    assert first[0].repairs == ["spaces_from_boxes", "visual_order"]


def test_an_engine_that_is_not_installed_is_said(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(engine_module.shutil, "which", lambda name: None)
    read = read_pdf(EMBEDDED / "act-4-2010.pdf", "a", ["pymupdf", "pdftotext", "pdfium"])
    assert read.notes == ["pdftotext is not installed and was left out"]
    assert "pdftotext is not installed" in read.report()[0]["reason"]
    assert {page.status for page in read.pages} <= {"text", "repaired"}


def test_an_engine_that_fails_is_left_out(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    def fail(*args, **options):  # type: ignore[no-untyped-def]
        raise EngineError("x.pdf: pdftotext: TimeoutExpired")

    monkeypatch.setattr(module, "read_pdftotext", fail)
    monkeypatch.setattr(module, "open_pdfium", fail)
    monkeypatch.setattr(engine_module.shutil, "which", lambda name: "/usr/bin/pdftotext")
    path = EMBEDDED / "act-4-2010.pdf"
    read = read_pdf(path, "a", ["pymupdf", "pdftotext", "pdfium"])
    assert len(read.notes) == 2
    assert "pdfium was left out" in read.pages[0].reason
    assert {page.status for page in read.pages} <= {"text", "repaired"}


def test_pdfium_that_fails_on_a_page(monkeypatch, tmp_path) -> None:  # type: ignore[no-untyped-def]
    def fail(document, index):  # type: ignore[no-untyped-def]
        raise ValueError("bad page")

    monkeypatch.setattr(module, "read_pdfium", fail)
    read = read_pdf(english(tmp_path / "a.pdf"), "a", ["pymupdf", "pdfium"])
    assert read.notes == ["pdfium was left out (page 1: bad page)"]
    assert read.pages[0].status in {"text", "repaired"}


def test_a_page_that_cannot_be_read_stops_no_other(monkeypatch, tmp_path) -> None:  # type: ignore[no-untyped-def]
    whole = module.read_trace

    def fail(page):  # type: ignore[no-untyped-def]
        if page.number == 1:
            raise RuntimeError("syntax error in content stream\nmore")
        return whole(page)

    monkeypatch.setattr(module, "read_trace", fail)
    read = read_pdf(english(tmp_path / "a.pdf", ["one", "two", "three"]), "a", ENGINES)
    assert [page.status for page in read.pages] == ["text", "failed", "text"]
    assert read.pages[1].reason == "page unreadable: syntax error in content stream"
    assert read.report()[1]["status"] == "failed"


# --- files that are broken, odd or hostile -------------------------------------------------------


def broken_files(folder):  # type: ignore[no-untyped-def]
    good = english(folder / "good.pdf").read_bytes()
    with pymupdf.open(stream=good, filetype="pdf") as pdf:
        pdf.save(
            folder / "locked.pdf",
            encryption=pymupdf.PDF_ENCRYPT_AES_256,
            owner_pw="owner",
            user_pw="user",
        )
    png = pymupdf.Pixmap(pymupdf.csGRAY, pymupdf.IRect(0, 0, 9, 9), False)
    return {
        "empty file": (b"", "is empty"),
        "picture under a wrong name": (png.tobytes("png"), "not a PDF"),
        "web page": (b"<html>404</html>", "not a PDF"),
        "header only": (b"%PDF-1.7\n", "no pages|corrupt"),
        "noise": (b"%PDF-1.4\n" + bytes(range(256)) * 40, "no pages|corrupt"),
        "no pages": (NO_PAGES, "no pages"),
        "password": ((folder / "locked.pdf").read_bytes(), "encrypted"),
    }


def test_files_that_cannot_be_read_have_one_clear_row(tmp_path) -> None:  # type: ignore[no-untyped-def]
    for number, (kind, (data, said)) in enumerate(broken_files(tmp_path).items()):
        path = tmp_path / f"b{number}.pdf"
        path.write_bytes(data)
        read = read_pdf(path, "doc", ENGINES)
        (row,) = read.report()
        assert read.pages == [], kind
        assert row["status"] == "failed"
        assert (row["document"], row["page"]) == ("doc", "")
        assert any(word in row["reason"] for word in said.split("|")), (kind, row)
        assert path.name in row["reason"]
        assert str(tmp_path) not in row["reason"]


def test_a_file_that_was_cut_is_repaired_and_said(tmp_path) -> None:  # type: ignore[no-untyped-def]
    data = english(tmp_path / "a.pdf", ["one two three"]).read_bytes()
    path = tmp_path / "cut.pdf"
    path.write_bytes(data[: data.rindex(b"startxref")])
    read = read_pdf(path, "a", ENGINES)
    if read.failure:
        assert "no pages" in read.failure or "corrupt" in read.failure
    else:
        assert "repaired on opening" in read.pages[0].reason
        assert read.pages[0].text == "one two three"


def test_a_scan_a_hidden_layer_and_a_blank_page(tmp_path) -> None:  # type: ignore[no-untyped-def]
    (page,) = read_pdf(scan(tmp_path / "a.pdf"), "a", ENGINES).pages
    assert (page.status, page.reason) == ("needs_ocr", "no text layer")
    words = "some words that an OCR program read off the page, and more of them " * 3
    path = scan(tmp_path / "b.pdf", words)
    (page,) = read_pdf(path, "b", ENGINES).pages
    assert (page.status, page.text) == ("needs_ocr", "")
    assert "OCR" in page.reason
    assert page.characters_in > 100
    (page,) = read_pdf(path, "b", ENGINES, ocr_layer="accept").pages
    assert page.status == "text"
    assert page.text.split() == words.split()
    with pymupdf.open() as pdf:
        pdf.new_page()
        pdf.save(tmp_path / "c.pdf")
    (page,) = read_pdf(tmp_path / "c.pdf", "c", ENGINES).pages
    assert (page.status, page.reason) == ("empty", "")
    with pytest.raises(DataError, match="ocr_layer"):
        read_pdf(path, "b", ENGINES, ocr_layer="maybe")


def test_a_picture_with_a_page_number_is_still_a_scan(tmp_path) -> None:  # type: ignore[no-untyped-def]
    path = scan(tmp_path / "a.pdf")
    with pymupdf.open(path) as pdf:
        pdf[0].insert_text((190, 290), "Page 12", fontsize=8)
        pdf.save(tmp_path / "b.pdf")
    (page,) = read_pdf(tmp_path / "b.pdf", "b", ENGINES).pages
    assert (page.status, page.characters_in) == ("needs_ocr", 6)
    assert "picture of the page with 6 characters" in page.reason


def test_text_drawn_as_outlines_is_no_blank_page(tmp_path) -> None:  # type: ignore[no-untyped-def]
    with pymupdf.open() as pdf:
        page = pdf.new_page()
        page.draw_rect((50, 50, 90, 60), fill=(0, 0, 0))
        pdf.save(tmp_path / "a.pdf")
    (page,) = read_pdf(tmp_path / "a.pdf", "a", ENGINES).pages
    assert (page.status, page.reason) == ("needs_ocr", "no text layer")


def test_a_long_document(tmp_path) -> None:  # type: ignore[no-untyped-def]
    path = english(tmp_path / "a.pdf", [f"This is page {n} of many." for n in range(1, 501)])
    read = read_pdf(path, "a", ENGINES)
    assert len(read.pages) == 500
    assert {page.status for page in read.pages} == {"text"}
    assert read.pages[498].text == "This is page 499 of many."
    assert read.notes == []


def test_a_huge_page(tmp_path) -> None:  # type: ignore[no-untyped-def]
    with pymupdf.open() as pdf:
        page = pdf.new_page(width=14400, height=14400)
        page.insert_text((100, 14000), "Far down", fontsize=40)
        pdf.new_page(width=14400, height=14400)
        pdf.save(tmp_path / "a.pdf")
    first, second = read_pdf(tmp_path / "a.pdf", "a", ENGINES).pages
    assert (first.text, second.status) == ("Far down", "empty")


def test_active_content_is_noted_and_left_alone(tmp_path) -> None:  # type: ignore[no-untyped-def]
    target = tmp_path / "written"
    with pymupdf.open() as pdf:
        pdf.new_page().insert_text((50, 50), "Harmless text of a hostile file")
        pdf.embfile_add("evil.exe", b"MZ", filename="evil.exe")
        script = pdf.get_new_xref()
        pdf.update_object(script, f"<</S /JavaScript /JS (app.launchURL\\('{target}'\\))>>")
        launch = pdf.get_new_xref()
        pdf.update_object(launch, f"<</S /Launch /F ({target}) /Next {script} 0 R>>")
        pdf.xref_set_key(pdf.pdf_catalog(), "OpenAction", f"{launch} 0 R")
        pdf.save(tmp_path / "a.pdf")
    (page,) = read_pdf(tmp_path / "a.pdf", "a", ENGINES).pages
    assert page.status == "text"
    for kind in ("JavaScript", "launch actions", "embedded files"):
        assert f"holds {kind}" in page.reason
    assert not target.exists()


def test_a_document_without_bengali_order_to_tell(tmp_path) -> None:  # type: ignore[no-untyped-def]
    read = read_pdf(EMBEDDED / "sro-132-2025.pdf", "a", ENGINES)
    # Its second page has one Bengali word; the first tells in which order it is drawn.
    assert "কাল্পনিক" in read.pages[1].text


def test_unshaped_text_is_logical_and_stays(tmp_path) -> None:  # type: ignore[no-untyped-def]
    font = "/usr/share/fonts/truetype/noto/NotoSerifBengali-Regular.ttf"
    if not module.Path(font).is_file():
        pytest.skip("no Bengali font here")
    text = "সরকার নিম্নবর্ণিত ক্ষেত্রে আদেশ জারি করিতে পারে"
    with pymupdf.open() as pdf:
        page = pdf.new_page()
        page.insert_font("bn", fontfile=font)
        page.insert_text((50, 50), text, fontname="bn")
        pdf.save(tmp_path / "a.pdf")
    (page,) = read_pdf(tmp_path / "a.pdf", "a", ENGINES).pages
    assert (page.status, page.text) == ("text", text)


def test_engines_by_themselves() -> None:
    found = engine_texts(EMBEDDED / "sro-110-2011.pdf", ENGINES)
    assert [(text.page, text.engine) for text in found] == [
        (page, engine) for page in (1, 2) for engine in ENGINES
    ]
    assert all(text.tables for text in found)
    with pytest.raises(UnreadablePdfError):
        engine_texts(TRUTHS[0], ENGINES)


# --- the rule script -----------------------------------------------------------------------------


class Named(dict):  # type: ignore[type-arg]
    __getattr__ = dict.__getitem__


def job(tmp_path, pdf, entry, **params):  # type: ignore[no-untyped-def]
    outputs = {
        "pages": tmp_path / "d.pages.jsonl",
        "record": tmp_path / "d.record.json",
        "report": tmp_path / "d.report.csv",
    }
    values = {"document": "d", "entry": entry, "engines": ENGINES, "vision": None, **params}
    return SimpleNamespace(
        input=Named(pdf=str(pdf)), output=Named(outputs), params=Named(values), rule="parse", log=[]
    )


def entry_of(pdf, **changes):  # type: ignore[no-untyped-def]
    row = {"file": pdf.name, "url": "", "type": "SRO", "date": "", "licence": "CC0-1.0"}
    return {**row, "title": "T", "sha256": sha256_file(pdf), **changes}


def test_the_rule_writes_pages_record_and_report(tmp_path, capsys) -> None:  # type: ignore[no-untyped-def]
    pdf = EMBEDDED / "sro-125-2023.pdf"
    work = job(tmp_path, pdf, entry_of(pdf))
    rule.main(work)
    pages = read_records(work.output.pages, Page)
    assert [page.status for page in pages] == ["repaired", "needs_ocr"]
    assert {page.status for page in pages} <= set(STATUSES)
    record = read_json(work.output.record)
    assert record["document_info"]["total_pages"] == 2
    report = read_csv(work.output.report)
    assert tuple(report.columns) == REPORT_COLUMNS
    assert list(report["status"]) == ["repaired", "needs_ocr"]
    assert report["repairs"][0] == "spaces_from_boxes visual_order"
    said = capsys.readouterr().out
    assert "d: 2 pages (1 needs_ocr, 1 repaired); pages that need OCR: 2" in said
    before = [path.read_bytes() for path in work.output.values()]
    rule.main(work)
    assert [path.read_bytes() for path in work.output.values()] == before


def test_a_changed_file_is_an_error_with_a_remedy(tmp_path, capsys) -> None:  # type: ignore[no-untyped-def]
    pdf = english(tmp_path / "a.pdf")
    with pytest.raises(DataError, match=r"a\.pdf: SHA-256 .*fetch the file again"):
        rule.main(job(tmp_path, pdf, entry_of(pdf, sha256="0" * 64)))
    rule.main(job(tmp_path, pdf, entry_of(pdf, sha256="")))
    assert "no checksum" in capsys.readouterr().out


def test_an_unreadable_file_still_gives_its_three_outputs(tmp_path, capsys) -> None:  # type: ignore[no-untyped-def]
    pdf = tmp_path / "a.pdf"
    pdf.write_bytes(b"not at all")
    work = job(tmp_path, pdf, entry_of(pdf))
    rule.main(work)
    assert read_records(work.output.pages, Page) == []
    report = read_csv(work.output.report)
    assert (len(report), report["status"][0]) == (1, "failed")
    assert "not a PDF" in report["reason"][0]
    assert read_json(work.output.record)["document_info"]["total_pages"] == 0
    assert "failed" in capsys.readouterr().out
