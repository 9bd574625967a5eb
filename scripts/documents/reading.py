"""From a PDF to pages: every page gets a status, and no page with a doubtful text passes as text.

A file that cannot be read is a `failed` document with its reason; it stops no other. Scripts,
launch actions and embedded files of a PDF are noted, never run or opened.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from scripts.documents.bengali_order import Evidence, bengali_letters
from scripts.documents.engines import (
    EngineError,
    Reading,
    Trace,
    Word,
    available,
    mupdf,
    open_pdfium,
    read_pdfium,
    read_pdftotext,
    read_pymupdf,
    read_trace,
)
from scripts.documents.legacy_fonts import is_mojibake
from scripts.documents.page_tables import Grid, find_grids, laid_out
from scripts.documents.pages import Page
from scripts.documents.repairs import count_characters, has_bijoy
from scripts.documents.selection import (
    HIDDEN,
    Choice,
    candidates,
    choose,
    legacy_font,
    page_evidence,
)
from scripts.files import DataError

REPORT_COLUMNS = (
    "document",
    "page",
    "engine",
    "repairs",
    "status",
    "characters_in",
    "characters_out",
    "order_faults",
    "mojibake",
    "reason",
)
#: What to do with the text layer that an OCR program laid over a scan.
OCR_LAYERS = ("flag", "accept")
_CHUNK = 50
_SECONDS, _SECONDS_PER_PAGE = 60.0, 2.0
# A picture of this share of the page, or more, and a text of fewer characters than that: a scan.
_PICTURE, _FEW_CHARACTERS = 0.5, 100
_OBJECTS_LOOKED_AT = 50_000
_ACTIVE = {
    "JavaScript": re.compile(r"/(?:JavaScript|JS)\b"),
    "launch actions": re.compile(r"/S\s*/Launch\b"),
    "embedded files": re.compile(r"/(?:EmbeddedFile|Filespec)\b"),
}


class UnreadablePdfError(DataError):
    """A file that is no readable PDF; the message says why and what to do."""


@dataclass
class PdfPages:
    """What was read of one file. `failure` is empty, or why nothing could be read."""

    document: str
    pages: list[Page] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    failure: str = ""

    def report(self) -> list[dict[str, Any]]:
        """Rows of the report: one a page, or one with an empty page for a file that failed."""
        if self.failure:
            row = dict.fromkeys(REPORT_COLUMNS, "")
            return [{**row, "document": self.document, "status": "failed", "reason": self.failure}]
        rows = []
        for page in self.pages:
            row = {name: getattr(page, name) for name in REPORT_COLUMNS}
            rows.append({**row, "engine": page.engine or "", "repairs": " ".join(page.repairs)})
        return rows


@dataclass(frozen=True)
class _PageMaterial:
    """All that was read of one page before a choice is made."""

    number: int
    readings: tuple[Reading, ...]
    trace: Trace
    grids: tuple[Grid, ...]
    picture: float
    blank: bool


def read_pdf(
    path: Path | str,
    document: str,
    engines: Sequence[str],
    *,
    ocr_layer: str = "flag",
) -> PdfPages:
    """Read a whole file; never raises for what is in the file.

    `ocr_layer` says whether a text layer made by OCR over a scan is flagged (its error rate is
    unknown) or taken as it is. Raises DataError for an unknown engine or policy.
    """
    if ocr_layer not in OCR_LAYERS:
        raise DataError(f"tide.parsing.ocr_layer: {ocr_layer!r}; known: {', '.join(OCR_LAYERS)}")
    usable, missing = available(engines)
    out = PdfPages(document)
    out.notes += [f"{name} is not installed and was left out" for name in missing]
    try:
        with _open(path) as pdf:
            out.notes += _notes(pdf)
            _read_pages(path, pdf, usable, out, ocr_layer)
    except UnreadablePdfError as error:
        out.failure = str(error)
    if out.pages and out.notes:
        first = out.pages[0]
        reason = "; ".join([first.reason, *out.notes] if first.reason else out.notes)
        out.pages[0] = replace(first, reason=reason)
    return out


def _open(path: Path | str) -> Any:
    """The opened file; UnreadablePdfError for anything that is no PDF with pages."""
    name = Path(path).name
    with Path(path).open("rb") as handle:
        head = handle.read(1024)
    if not head:
        raise UnreadablePdfError(f"{name}: the file is empty; fetch it again")
    if b"%PDF-" not in head:
        raise UnreadablePdfError(f"{name}: not a PDF (it begins with {head[:8]!r}); fetch it again")
    try:
        pdf = mupdf.open(str(path), filetype="pdf")
    except (RuntimeError, ValueError) as error:
        said = _said(error, path)
        raise UnreadablePdfError(f"{name}: corrupt ({said}); fetch it again") from error
    if pdf.needs_pass:
        pdf.close()
        raise UnreadablePdfError(f"{name}: encrypted; give a file without a password")
    if pdf.page_count == 0:
        pdf.close()
        raise UnreadablePdfError(f"{name}: no pages, or too damaged to find them; fetch it again")
    return pdf


def _said(error: BaseException, path: Path | str) -> str:
    """The first line of an error, without the folders of this machine."""
    text = (str(error).strip() or type(error).__name__).splitlines()[0]
    for name in (str(path), str(Path(path).resolve())):
        text = text.replace(name, Path(path).name)
    return text[:160]


def _notes(pdf: Any) -> list[str]:
    """Damage that was repaired on opening, and active content that is left alone."""
    notes = ["the file was damaged and was repaired on opening"] if pdf.is_repaired else []
    found = set()
    for number in range(1, min(pdf.xref_length(), _OBJECTS_LOOKED_AT)):
        try:
            text = pdf.xref_object(number, compressed=True)
        except (RuntimeError, ValueError):
            continue
        found |= {name for name, pattern in _ACTIVE.items() if pattern.search(text)}
    return notes + [
        f"the file holds {name}, which were not run or opened" for name in sorted(found)
    ]


def _read_pages(
    path: Path | str, pdf: Any, engines: Sequence[str], out: PdfPages, ocr_layer: str
) -> None:
    """All pages; those whose order nothing on them tells are read in the order of the others."""
    total = Evidence(0, 0)
    undecided: list[int] = []
    sources = _Sources(path, pdf, engines, out.notes)
    for number in range(1, len(pdf) + 1):
        try:
            material = sources.material(number)
        except (RuntimeError, ValueError) as error:
            said = f"page unreadable: {_said(error, path)}"
            out.pages.append(_failed(out.document, number, said))
            continue
        found = page_evidence(material.trace)
        total += found
        if found.order == "unknown" and bengali_letters(_drawn(material.trace)):
            undecided.append(number)
        out.pages.append(_page(out.document, material, found.order, ocr_layer))
    if total.order != "unknown":
        for number in undecided:
            material = sources.material(number)
            out.pages[number - 1] = _page(out.document, material, total.order, ocr_layer)
    sources.close()


def _drawn(trace: Trace) -> str:
    return " ".join(word.text for word in trace.words)


class _Sources:
    """The engines on one file. One that fails is left out from there on, and that is noted."""

    def __init__(
        self, path: Path | str, pdf: Any, engines: Sequence[str], notes: list[str]
    ) -> None:
        self.path, self.pdf, self.notes = path, pdf, notes
        self.engines = list(engines)
        self.poppler: dict[int, Reading] = {}
        self.pdfium: Any = None
        if "pdfium" in self.engines:
            try:
                self.pdfium = open_pdfium(path)
                if len(self.pdfium) != len(pdf):
                    raise EngineError(f"pdfium sees {len(self.pdfium)} pages of {len(pdf)}")
            except EngineError as error:
                self._leave_out("pdfium", error)

    def _leave_out(self, engine: str, error: BaseException) -> None:
        self.engines.remove(engine)
        said = _said(error, self.path).removeprefix(f"{Path(self.path).name}: ")
        self.notes.append(f"{engine} was left out ({said})")

    def material(self, number: int) -> _PageMaterial:
        """Everything about one page (from 1)."""
        page = self.pdf[number - 1]
        readings = []
        for engine in list(self.engines):
            try:
                readings.append(self._reading(engine, page, number))
            except EngineError as error:
                self._leave_out(engine, error)
        trace = read_trace(page)
        picture = _picture_share(page)
        styled = tuple(_styled(reading, trace) for reading in readings)
        words = bool(trace.words) or any(reading.words for reading in readings)
        scan = trace.hidden >= HIDDEN and picture >= _PICTURE
        return _PageMaterial(
            number=number,
            readings=styled,
            trace=trace,
            grids=tuple(find_grids(page)) if words and not scan else (),
            picture=picture,
            blank=not words and _is_blank(page),
        )

    def _reading(self, engine: str, page: Any, number: int) -> Reading:
        if engine == "pymupdf":
            return read_pymupdf(page)
        if engine == "pdfium":
            try:
                return read_pdfium(self.pdfium, number - 1)
            except (RuntimeError, ValueError, OSError) as error:
                raise EngineError(f"page {number}: {_said(error, self.path)}") from error
        if number not in self.poppler:
            last = min(number + _CHUNK - 1, len(self.pdf))
            timeout = _SECONDS + _SECONDS_PER_PAGE * (last - number + 1)
            pages = read_pdftotext(self.path, number, last, timeout=timeout)
            self.poppler = dict(enumerate(pages, start=number))
        return self.poppler[number]

    def close(self) -> None:
        """Close what is not the caller's."""
        if self.pdfium is not None:
            self.pdfium.close()


def _picture_share(page: Any) -> float:
    """Share of the page's area under its largest picture, from 0 to 1."""
    area = abs(page.rect) or 1.0
    boxes = [mupdf.Rect(image["bbox"]) & page.rect for image in page.get_image_info()]
    return max((abs(box) / area for box in boxes if not box.is_empty), default=0.0)


def _is_blank(page: Any) -> bool:
    """Whether the page shows one colour only when drawn small."""
    scale = min(1.0, 200 / max(page.rect.width, page.rect.height, 1.0))
    pixels = page.get_pixmap(matrix=mupdf.Matrix(scale, scale), colorspace=mupdf.csGRAY)
    return bool(pixels.is_unicolor)


def _styled(reading: Reading, trace: Trace) -> Reading:
    """Poppler's words with the size and weight of the glyphs that are drawn where they stand."""
    if reading.engine != "pdftotext":
        return reading
    rows: dict[int, list[Word]] = {}
    for word in trace.words:
        rows.setdefault(int((word.box[1] + word.box[3]) / 2) // 12, []).append(word)
    out = []
    for word in reading.words:
        x, y = (word.box[0] + word.box[2]) / 2, (word.box[1] + word.box[3]) / 2
        band = int(y) // 12
        near = [drawn for b in (band - 1, band, band + 1) for drawn in rows.get(b, ())]
        best = min(near, key=lambda drawn: _apart(drawn, x, y), default=None)
        out.append(replace(word, size=best.size, bold=best.bold, font=best.font) if best else word)
    return Reading(reading.engine, tuple(out))


def _apart(word: Word, x: float, y: float) -> float:
    across = max(word.box[0] - x, x - word.box[2], 0.0)
    return across + abs((word.box[1] + word.box[3]) / 2 - y)


# --- one page ------------------------------------------------------------------------------------


def _failed(document: str, number: int, reason: str) -> Page:
    return Page(document, number, "failed", [], 0, 0, 0, False, reason, [], [], "")


def _page(document: str, material: _PageMaterial, order: str, ocr_layer: str) -> Page:
    """The row of a page: chosen text, or the reason why there is none."""
    most = max((count_characters(reading.text) for reading in material.readings), default=0)
    if not most and not material.trace.words:
        if material.blank:
            return Page(document, material.number, "empty", [], 0, 0, 0, False, "", [], [], "")
        return _flagged(document, material, None, "no text layer", most)
    choice = choose(
        candidates(material.readings, material.trace, order),
        [reading.engine for reading in material.readings],
    )
    font = legacy_font(material.readings, material.trace)
    reason = _scan(material, most, ocr_layer) or (f"legacy font {font}" if font else choice.reason)
    if choice.candidate is None or reason:
        return _flagged(document, material, choice, reason, most, legacy=bool(font))
    return page_of_choice(document, material.number, choice, material.grids)


def _scan(material: _PageMaterial, characters: int, ocr_layer: str) -> str:
    """Why the page is a scan whose text cannot be taken, or an empty string."""
    if material.picture < _PICTURE:
        return ""
    if material.trace.hidden >= HIDDEN:
        made = "a scan under a text layer made by OCR, whose error rate nobody knows"
        return made if ocr_layer == "flag" else ""
    few = characters < _FEW_CHARACTERS
    return f"a picture of the page with {characters} characters of text" if few else ""


def _reads_as_latin(material: _PageMaterial) -> bool:
    """Whether the engines' plain text is legacy text under Latin letters, by font or by letters."""
    texts = [[word.text for word in reading.words] for reading in material.readings]
    return has_bijoy(material.trace.words) or any(is_mojibake(words) for words in texts)


def _flagged(
    document: str,
    material: _PageMaterial,
    choice: Choice | None,
    reason: str,
    characters: int,
    *,
    legacy: bool = False,
) -> Page:
    """A page that a reader of pictures must read; what the engines found is counted, not kept."""
    candidate = choice.candidate if choice else None
    return Page(
        document=document,
        page=material.number,
        status="needs_ocr",
        repairs=[],
        characters_in=candidate.characters_in if candidate else characters,
        characters_out=0,
        order_faults=candidate.faults if candidate else 0,
        mojibake=legacy or _reads_as_latin(material),
        reason=reason,
        lines=[],
        tables=[],
        text="",
        engine=candidate.engine if candidate else None,
    )


def page_of_choice(document: str, number: int, choice: Choice, grids: Sequence[Grid]) -> Page:
    """The row of a page with text: its lines in reading order, and its tables."""
    candidate = choice.candidate
    if candidate is None:
        raise ValueError(f"{document}, page {number}: no candidate was chosen")
    tables, lines = laid_out(grids, candidate.words)
    cells = (cell for table in tables for row in table["rows"] for cell in row)
    held = sum(count_characters(text) for text in _chain(lines, cells))
    reason = ""
    if held != candidate.characters_in:
        reason = f"{candidate.characters_in} characters in, {held} out"
    return Page(
        document=document,
        page=number,
        status="repaired" if candidate.reordered else "text",
        repairs=list(candidate.repairs),
        characters_in=candidate.characters_in,
        characters_out=held,
        order_faults=candidate.faults,
        mojibake=candidate.mojibake,
        reason=reason,
        lines=lines,
        tables=tables,
        text="\n".join(line["text"] for line in lines),
        engine=candidate.engine,
    )


def _chain(lines: Sequence[dict[str, Any]], cells: Iterator[str]) -> Iterator[str]:
    yield from (line["text"] for line in lines)
    yield from cells


@dataclass(frozen=True)
class EngineText:
    """What one engine alone gives of one page, unrepaired, on the same grid of tables."""

    page: int
    engine: str
    lines: list[dict[str, Any]]
    tables: list[dict[str, Any]]


def engine_texts(path: Path | str, engines: Sequence[str]) -> list[EngineText]:
    """Every engine's own text of every page; UnreadablePdfError for a file that cannot be read."""
    usable, _ = available(engines)
    out: list[EngineText] = []
    with _open(path) as pdf:
        sources = _Sources(path, pdf, usable, [])
        for number in range(1, len(pdf) + 1):
            material = sources.material(number)
            for reading in material.readings:
                tables, lines = laid_out(material.grids, reading.words)
                out.append(EngineText(number, reading.engine, lines, tables))
        sources.close()
    return out
