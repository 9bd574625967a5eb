"""Seconds a page of each engine and of the whole reading, as a ratio to plain PyMuPDF text.

Run: python -m tests.benchmarks.bench_documents [PDF ...] (default: the embedded corpus)
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pymupdf

from scripts.documents.engines import (
    ENGINES,
    available,
    open_pdfium,
    read_pdfium,
    read_pdftotext,
    read_pymupdf,
    read_trace,
)
from scripts.documents.page_tables import find_grids
from scripts.documents.reading import read_pdf

CORPUS = Path(__file__).resolve().parents[2] / "data" / "embedded" / "tide"


def each_page(work: Callable[[Any], object]) -> Callable[[Path], None]:
    """A reading of a whole file by something that reads one PyMuPDF page."""

    def run(path: Path) -> None:
        with pymupdf.open(path) as pdf:
            for page in pdf:
                work(page)

    return run


def by_pdfium(path: Path) -> None:
    """Every page by pdfium."""
    document = open_pdfium(path)
    for number in range(len(document)):
        read_pdfium(document, number)
    document.close()


def by_poppler(path: Path) -> None:
    """Every page by one call of pdftotext."""
    with pymupdf.open(path) as pdf:
        count = len(pdf)
    read_pdftotext(path, 1, count, timeout=600)


def readers(engines: Sequence[str]) -> dict[str, Callable[[Path], object]]:
    """What is timed, the reference first."""
    out: dict[str, Callable[[Path], object]] = {
        "plain PyMuPDF text": each_page(lambda page: page.get_text()),
        "pymupdf (words, boxes, fonts)": each_page(read_pymupdf),
        "glyphs as drawn": each_page(read_trace),
        "tables": each_page(find_grids),
    }
    if "pdftotext" in engines:
        out["pdftotext"] = by_poppler
    out["pdfium"] = by_pdfium
    out["whole reading"] = lambda path: read_pdf(path, path.stem, engines)
    return out


def seconds(work: Callable[[Path], object], files: Sequence[Path], repeats: int = 3) -> float:
    """Best wall-clock time of several passes over all files (Poppler is another process)."""
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        for path in files:
            work(path)
        best = min(best, time.perf_counter() - start)
    return best


def measure(files: Sequence[Path]) -> dict[str, tuple[float, float]]:
    """{reader: (seconds a page, ratio to plain PyMuPDF text)}."""
    engines, _ = available(ENGINES)
    pages = 0
    for path in files:
        with pymupdf.open(path) as pdf:
            pages += len(pdf)
    spent = {name: seconds(work, files) / pages for name, work in readers(engines).items()}
    reference = spent["plain PyMuPDF text"]
    return {name: (value, value / reference) for name, value in spent.items()}


def main() -> None:
    files = [Path(name) for name in sys.argv[1:]] or sorted(CORPUS.glob("*.pdf"))
    print(f"{len(files)} files; seconds a page, ratio to plain PyMuPDF text")
    for name, (value, ratio) in measure(files).items():
        print(f"{name:<30} {value:8.4f} s   {ratio:6.1f} x")


if __name__ == "__main__":
    main()
