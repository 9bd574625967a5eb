"""PDFs that the tests of documents make: small, odd, broken and hostile ones."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import pymupdf

ENGINES = ["pymupdf", "pdftotext", "pdfium"] if shutil.which("pdftotext") else ["pymupdf", "pdfium"]
EMBEDDED = Path(__file__).resolve().parents[2] / "data" / "embedded" / "tide"

PAGE = """%%PDF-1.4
1 0 obj
<</Type /Catalog /Pages 2 0 R>>
endobj
2 0 obj
<</Type /Pages /Kids [3 0 R] /Count 1 /MediaBox [0 0 400 200]>>
endobj
3 0 obj
<</Type /Page /Parent 2 0 R /Contents 4 0 R /Resources <</Font <</F1 5 0 R>>>>>>
endobj
5 0 obj
<</Type /Font /Subtype /Type1 /BaseFont /%s /Encoding /WinAnsiEncoding /FirstChar 32 /LastChar 255
 /Widths [%s]>>
endobj
"""
NO_PAGES = b"""%PDF-1.4
1 0 obj
<</Type /Catalog /Pages 2 0 R>>
endobj
2 0 obj
<</Type /Pages /Kids [] /Count 0>>
endobj
trailer
<</Root 1 0 R /Size 3>>
"""


def english(path: Path, pages: Sequence[str] = ("The duty is ten per cent.",)) -> Path:
    """A PDF with a text box on each page."""
    with pymupdf.open() as pdf:
        for text in pages:
            page = pdf.new_page(width=400, height=600)
            page.insert_textbox((40, 40, 360, 560), text, fontsize=10)
        pdf.save(path)
    return path


def legacy(path: Path, lines: Sequence[str], font: str = "SutonnyMJ") -> Path:
    """A page of text in a simple font of that name; the lines are in its encoding (cp1252)."""
    body = b"BT /F1 12 Tf 14 TL 40 170 Td\n"
    for line in lines:
        shown = line.encode("cp1252").replace(b"\\", rb"\\").replace(b"(", rb"\(")
        body += b"(" + shown.replace(b")", rb"\)") + b") Tj T*\n"
    body += b"ET"
    head = (PAGE % (font, " ".join(["500"] * 224))).encode("ascii")
    stream = b"4 0 obj\n<</Length %d>>\nstream\n%s\nendstream\nendobj\n" % (len(body), body)
    path.write_bytes(head + stream + b"trailer\n<</Root 1 0 R /Size 6>>\n")
    return path


def scan(path: Path, hidden: str = "") -> Path:
    """A page that is a picture, with an invisible text over it where one is given."""
    with pymupdf.open() as source, pymupdf.open() as pdf:
        page = source.new_page(width=400, height=300)
        page.insert_text((40, 60), "Printed words", fontsize=20)
        png = page.get_pixmap(dpi=60).tobytes("png")
        page = pdf.new_page(width=400, height=300)
        page.insert_image(page.rect, stream=png)
        if hidden:
            page.insert_textbox((20, 20, 380, 280), hidden, fontsize=9, render_mode=3)
        pdf.save(path)
    return path


def ruled(
    path: Path, cells: Sequence[Sequence[str]], *, rotation: int = 0, above: str = "Above"
) -> Path:
    """A page with one ruled table, a line above it and one below."""
    with pymupdf.open() as pdf:
        page = pdf.new_page(width=500, height=400)
        columns, rows = len(cells[0]), len(cells)
        left, top, width, height = 50, 100, 120, 30
        for n in range(columns + 1):
            x = left + n * width
            page.draw_line((x, top), (x, top + rows * height))
        for n in range(rows + 1):
            y = top + n * height
            page.draw_line((left, y), (left + columns * width, y))
        for r, row in enumerate(cells):
            for c, text in enumerate(row):
                box = (left + c * width + 4, top + r * height + 2, left + (c + 1) * width, 0)
                page.insert_textbox((*box[:3], top + (r + 1) * height), text, fontsize=9)
        page.insert_text((50, 60), above, fontsize=10)
        page.insert_text((50, 100 + rows * height + 40), "Below", fontsize=10)
        page.set_rotation(rotation)
        pdf.save(path)
    return path
