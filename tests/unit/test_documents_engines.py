"""Three engines on one page: the same words in the same places, and what each may not do."""

import subprocess
from pathlib import Path

import pymupdf
import pytest
from documents_pdfs import EMBEDDED, ENGINES, english, scan

from scripts.documents import engines as module
from scripts.documents.engines import (
    EngineError,
    available,
    open_pdfium,
    read_pdfium,
    read_pdftotext,
    read_pymupdf,
    read_trace,
)
from scripts.files import DataError

needs_poppler = pytest.mark.skipif("pdftotext" not in ENGINES, reason="no pdftotext here")


def readings(path: Path) -> dict[str, list[module.Word]]:
    with pymupdf.open(path) as pdf:
        out = {"pymupdf": read_pymupdf(pdf[0]).words, "trace": read_trace(pdf[0]).words}
    pdfium = open_pdfium(path)
    out["pdfium"] = read_pdfium(pdfium, 0).words
    pdfium.close()
    if "pdftotext" in ENGINES:
        out["pdftotext"] = read_pdftotext(path, 1, 1, timeout=20)[0].words
    return {name: list(words) for name, words in out.items()}


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
@pytest.mark.parametrize("cropped", [False, True])
def test_all_engines_see_a_word_in_the_same_place(tmp_path, rotation, cropped) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "a.pdf"
    with pymupdf.open() as pdf:
        page = pdf.new_page(width=400, height=600)
        page.insert_text((100, 200), "Hello world", fontsize=12)
        page.insert_text((300, 500), "Far", fontsize=12)
        if cropped:
            page.set_cropbox(pymupdf.Rect(50, 100, 380, 560))
        page.set_rotation(rotation)
        pdf.save(path)
    found = readings(path)
    for words in found.values():
        assert [word.text for word in words] == ["Hello", "world", "Far"]
        for word, other in zip(words, found["trace"], strict=True):
            assert word.box == pytest.approx(other.box, abs=3.5)


def test_turned_text_is_put_together(tmp_path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "a.pdf"
    with pymupdf.open() as pdf:
        page = pdf.new_page(width=400, height=400)
        for rotate, point in ((90, (100, 300)), (180, (300, 100)), (270, (200, 100))):
            page.insert_text(point, "turned words", rotate=rotate)
        pdf.save(path)
    with pymupdf.open(path) as pdf:
        assert [word.text for word in read_trace(pdf[0]).words] == ["turned", "words"] * 3


def test_size_and_weight(tmp_path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "a.pdf"
    with pymupdf.open() as pdf:
        page = pdf.new_page()
        page.insert_text((50, 50), "Heading", fontsize=18, fontname="hebo")
        page.insert_text((50, 90), "body", fontsize=9)
        pdf.save(path)
    found = readings(path)
    for name in ("pymupdf", "trace", "pdfium"):
        assert [(word.text, round(word.size), word.bold) for word in found[name]] == [
            ("Heading", 18, True),
            ("body", 9, False),
        ]


def test_hidden_text_is_noticed(tmp_path) -> None:  # type: ignore[no-untyped-def]
    with pymupdf.open(scan(tmp_path / "a.pdf", "hidden words")) as pdf:
        assert read_trace(pdf[0]).hidden == 1.0
    with pymupdf.open(english(tmp_path / "b.pdf")) as pdf:
        assert read_trace(pdf[0]).hidden == 0.0
    with pymupdf.open(scan(tmp_path / "c.pdf")) as pdf:
        assert read_trace(pdf[0]).hidden == 0.0


def test_spaces_by_gaps_and_by_blanks() -> None:
    def glyph(text: str, start: float, end: float, line: float = 100.0) -> module._Drawn:
        word = module.Word(text, (start, line - 10, end, line), 10.0, False, "f", (text,), ("f",))
        return module._Drawn(word, start, end, line)

    def words(*glyphs: module._Drawn) -> list[str]:
        return ["".join(word.text for word in run) for run in module._runs(glyphs)]

    assert words(glyph("a", 0, 5), glyph("b", 5, 10), glyph("c", 13, 18)) == ["ab", "c"]
    # A small gap is a space only behind a blank; a blank without a gap is where a joiner stood.
    assert words(glyph("a", 0, 5), glyph("b", 5.8, 10)) == ["ab"]
    assert words(glyph("a", 0, 5), glyph(" ", 5, 5.8), glyph("b", 5.8, 10)) == ["a", "b"]
    assert words(glyph("র", 0, 5), glyph(" ", 5, 5), glyph("য্", 5, 8)) == ["রয্"]
    # A mark belongs to the run; another line ends it.
    assert words(glyph("ক", 0, 5), glyph("ু", 3, 3), glyph("খ", 5, 9)) == ["কুখ"]
    assert words(glyph("a", 0, 5), glyph("b", 5, 9, line=120)) == ["a", "b"]
    assert words() == []


def test_engines_are_checked_and_missing_ones_left_out(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(module.shutil, "which", lambda name: None)
    assert available(["pymupdf", "pdftotext", "pdfium"]) == (["pymupdf", "pdfium"], ["pdftotext"])
    monkeypatch.setattr(module.shutil, "which", lambda name: f"/usr/bin/{name}")
    assert available(["pdfium", "pdftotext", "pymupdf"])[0] == list(module.ENGINES)
    for wrong in ([], ["pdfium"], ["pymupdf", "tesseract"]):
        with pytest.raises(DataError, match="pymupdf"):
            available(wrong)


def test_poppler_runs_without_a_shell_on_any_name(tmp_path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    seen = {}

    def run(command, **options):  # type: ignore[no-untyped-def]
        seen.update(command=command, **options)
        word = '<word xMin="1" yMin="2" xMax="3" yMax="4">a&amp;b &#60;</word>'
        page = f"<page width=1>{word}</page>"
        return subprocess.CompletedProcess(command, 0, page.encode(), b"")

    monkeypatch.setattr(module.subprocess, "run", run)
    monkeypatch.chdir(tmp_path)
    (reading,) = read_pdftotext("-o;$(touch x) .pdf", 1, 1, timeout=3)
    assert reading.words[0].text == "a&b <"
    assert reading.words[0].box == (1, 2, 3, 4)
    assert seen["command"][-2] == str(tmp_path / "-o;$(touch x) .pdf")
    assert seen["timeout"] == 3
    assert not seen.get("shell")


def test_poppler_that_fails_is_an_engine_error(tmp_path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    def answer(result):  # type: ignore[no-untyped-def]
        def run(command, **options):  # type: ignore[no-untyped-def]
            if isinstance(result, BaseException):
                raise result
            return subprocess.CompletedProcess(command, *result)

        monkeypatch.setattr(module.subprocess, "run", run)

    for result, said in (
        (subprocess.TimeoutExpired("pdftotext", 1), "TimeoutExpired"),
        (FileNotFoundError("pdftotext"), "FileNotFoundError"),
        ((1, b"", b"Syntax Error: broken\nmore"), "Syntax Error: broken"),
        ((3, b"", b""), "3"),
        ((0, b"<page x></page>", b""), "1 pages, expected 2"),
    ):
        answer(result)
        with pytest.raises(EngineError, match=said):
            read_pdftotext(tmp_path / "a.pdf", 1, 2, timeout=1)


@needs_poppler
def test_poppler_reads_a_name_that_looks_like_an_option(tmp_path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    english(tmp_path / "-raw.pdf", ["one two", "three"])
    monkeypatch.chdir(tmp_path)
    found = read_pdftotext("-raw.pdf", 1, 2, timeout=20)
    assert [reading.text for reading in found] == ["one two", "three"]


def test_pdfium_says_what_it_cannot_open(tmp_path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "a.pdf").write_bytes(b"%PDF-1.4 nothing")
    with pytest.raises(EngineError, match="pdfium"):
        open_pdfium(tmp_path / "a.pdf")


def test_glyphs_of_a_visual_page() -> None:
    with pymupdf.open(EMBEDDED / "sro-101-2014.pdf") as pdf:
        trace = read_trace(pdf[0])
    whole = ["".join(word.glyphs) for word in trace.words]
    assert [word.text for word in trace.words] == whole
    assert all(len(word.glyphs) == len(word.fonts) for word in trace.words)
    assert any("র্" in word.glyphs for word in trace.words)
    assert trace.rephs == 1
