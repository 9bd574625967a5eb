"""Three PDF engines, each a small function from a page to words with their boxes.

PyMuPDF and pdfium run in the process, Poppler's `pdftotext` beside it: without a shell, with the
path made absolute (a name that begins with `-` is no option) and with a time limit. Boxes are
(x0, y0, x1, y1) in points from the top left of the page as it is seen (rotation applied). Nothing
in a document is executed: no engine here runs scripts, follows links or opens embedded files.
"""

from __future__ import annotations

import ctypes
import html
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pymupdf
import pypdfium2  # type: ignore[import-untyped]
import pypdfium2.raw as pdfium_c  # type: ignore[import-untyped]

from scripts.documents.bengali_order import REPH
from scripts.files import DataError

#: PyMuPDF, which has no types of its own.
mupdf: Any = pymupdf
#: In the order in which they are preferred where nothing else decides.
ENGINES = ("pymupdf", "pdftotext", "pdfium")
#: A gap between glyphs of this share of the type size, or more, is a space.
SPACE_SHARE = 0.13
# The same where a blank glyph is drawn.
_BLANK_SHARE = 0.04
# Glyphs belong to one line within this share of the size, and may step back by that much.
_LINE_SHARE, _BACK_SHARE = 0.6, 0.8
#: The rendering mode of invisible text.
_INVISIBLE = 3
Box = tuple[float, float, float, float]

mupdf.TOOLS.mupdf_display_errors(False)
mupdf.TOOLS.mupdf_display_warnings(False)


@dataclass(frozen=True, slots=True)
class Word:
    """A word as an engine gave it.

    `glyphs` has one string a glyph as it is drawn (a character where PyMuPDF gives those), with the
    font of each in `fonts`; both are empty where an engine does not tell.
    """

    text: str
    box: Box
    size: float = 0.0
    bold: bool = False
    font: str = ""
    glyphs: tuple[str, ...] = ()
    fonts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reading:
    """The words of one page as one engine gives them, in the engine's own order."""

    engine: str
    words: tuple[Word, ...]

    @property
    def text(self) -> str:
        """The words with single spaces."""
        return " ".join(word.text for word in self.words)


class EngineError(DataError):
    """An engine could not read a document at all."""


def available(engines: Sequence[str]) -> tuple[list[str], list[str]]:
    """(engines that can run here, those that cannot); DataError for an unknown or absent name."""
    unknown = sorted(set(engines) - set(ENGINES))
    if unknown or not engines or "pymupdf" not in engines:
        raise DataError(
            f"tide.parsing.engines: {list(engines)}; pymupdf (which finds the tables) and any of "
            f"{', '.join(ENGINES)} are known"
        )
    missing = [name for name in engines if name == "pdftotext" and shutil.which(name) is None]
    return [name for name in ENGINES if name in engines and name not in missing], missing


# --- PyMuPDF -------------------------------------------------------------------------------------


def _is_bold(flags: int, font: str) -> bool:
    return bool(flags & mupdf.TEXT_FONT_BOLD) or bool(re.search("bold|black|heavy", font, re.I))


def read_pymupdf(page: Any) -> Reading:
    """PyMuPDF's own reading: its words, with size and weight of the font."""
    flags = mupdf.TEXTFLAGS_RAWDICT & ~mupdf.TEXT_PRESERVE_IMAGES
    turn = page.rotation_matrix
    words: list[Word] = []
    for block in page.get_text("rawdict", flags=flags)["blocks"]:
        for line in block.get("lines", ()):
            glyphs = [
                Word(
                    char["c"],
                    seen(char["bbox"], turn),
                    span["size"],
                    bold,
                    span["font"],
                    (char["c"],),
                    (span["font"],),
                )
                for span in line["spans"]
                for bold in [_is_bold(span["flags"], span["font"])]
                for char in span["chars"]
            ]
            words += _split_at_spaces(glyphs)
    return Reading("pymupdf", tuple(words))


def seen(box: Sequence[float], turn: Any) -> Box:
    """A box of the unturned page on the page as it is seen."""
    if (turn.a, turn.d) == (1, 1):
        return box[0], box[1], box[2], box[3]
    x0, y0, x1, y1 = mupdf.Rect(box) * turn
    return x0, y0, x1, y1


def _split_at_spaces(glyphs: Sequence[Word]) -> list[Word]:
    words: list[Word] = []
    run: list[Word] = []
    for glyph in glyphs:
        if glyph.text.isspace():
            words += [joined(run)] if run else []
            run = []
        else:
            run.append(glyph)
    return words + ([joined(run)] if run else [])


def joined(parts: Sequence[Word]) -> Word:
    """One word of several parts, in order; size, weight and font are those of the first."""
    box = union([part.box for part in parts])
    return replace(
        parts[0],
        text="".join(part.text for part in parts),
        box=box,
        glyphs=tuple(glyph for part in parts for glyph in part.glyphs),
        fonts=tuple(font for part in parts for font in part.fonts),
    )


def union(boxes: Sequence[Box]) -> Box:
    """The smallest box around boxes."""
    return (
        min(box[0] for box in boxes),
        min(box[1] for box in boxes),
        max(box[2] for box in boxes),
        max(box[3] for box in boxes),
    )


@dataclass(frozen=True, slots=True)
class Trace:
    """The glyphs of a page as they are drawn: words split by the gaps, and how much is hidden.

    `hidden` is the share of glyphs drawn invisibly: the text layer that an OCR program lays over
    a scan is invisible throughout. `rephs` is the largest number of glyphs of one font that stand
    for `র্`: with two, a reph cannot be told from a ra-phala. Without `embedded` fonts the boxes
    are those of substitutes.
    """

    words: tuple[Word, ...]
    glyphs: int
    hidden: float
    rephs: int = 1
    embedded: bool = True


@dataclass(frozen=True, slots=True)
class _Drawn:
    """A glyph and where it stands along its line: start, end, and place of the line across."""

    word: Word
    start: float
    end: float
    line: float

    @property
    def mark(self) -> bool:
        """Whether the glyph has no width of its own."""
        return self.end - self.start < 0.02 * max(self.word.size, 0.1)


def read_trace(page: Any) -> Trace:
    """What is drawn, glyph by glyph, without ActualText; spaces from the glyph boxes alone."""
    turn = page.rotation_matrix
    glyphs: list[_Drawn] = []
    rephs: dict[str, set[int]] = {}
    hidden = 0
    for span in page.get_texttrace():
        bold = _is_bold(int(span["flags"]), span["font"])
        drawn: list[list[Any]] = []
        for code, glyph, origin, box in span["chars"]:
            text = chr(code) if 0 < code <= 0x10FFFF else "\ufffd"
            if glyph == -1 and drawn:
                drawn[-1][0] += text
            else:
                drawn.append([text, origin, box, glyph])
        hidden += len(drawn) if span["type"] == _INVISIBLE else 0
        across, down = span["dir"]
        ahead = (across * turn.a + down * turn.c, across * turn.b + down * turn.d)
        for text, origin, box, glyph in drawn:
            if text == REPH:
                rephs.setdefault(span["font"], set()).add(glyph)
            where = seen(box, turn)
            word = Word(text, where, span["size"], bold, span["font"], (text,), (span["font"],))
            x, y = origin
            place = (x * turn.a + y * turn.c + turn.e, x * turn.b + y * turn.d + turn.f)
            glyphs.append(_placed(word, place, ahead))
    words = tuple(joined(run) for run in _runs(glyphs))
    share = hidden / len(glyphs) if glyphs else 0.0
    return Trace(
        words, len(glyphs), share, max(map(len, rephs.values()), default=1), _embedded(page)
    )


def _embedded(page: Any) -> bool:
    """Whether every font of the page is in the file (the glyphs of a Type 3 font always are)."""
    return all(font[1] != "n/a" or font[2] == "Type3" for font in page.get_fonts())


def _placed(word: Word, origin: tuple[float, float], ahead: tuple[float, float]) -> _Drawn:
    """The glyph along the nearest of the four directions in which its line runs."""
    x0, y0, x1, y1 = word.box
    if abs(ahead[0]) >= abs(ahead[1]):
        return _Drawn(word, *((x0, x1) if ahead[0] >= 0 else (-x1, -x0)), origin[1])
    return _Drawn(word, *((y0, y1) if ahead[1] >= 0 else (-y1, -y0)), origin[0])


def _runs(glyphs: Sequence[_Drawn]) -> Iterator[list[Word]]:
    """Runs of glyphs that stand without a gap; a mark (no width) belongs to the run it is drawn in.

    After a blank glyph a small gap is enough; none at all is no space, since shaping engines draw
    a blank where a joiner stood.
    """
    run: list[Word] = []
    end, line = 0.0, 0.0
    widest = SPACE_SHARE
    for glyph in glyphs:
        size = max(glyph.word.size, 0.1)
        if glyph.word.text.isspace():
            widest = _BLANK_SHARE
            continue
        same = bool(run) and abs(glyph.line - line) <= _LINE_SHARE * size
        if same and glyph.mark:
            run.append(glyph.word)
            continue
        if run and not (same and -_BACK_SHARE * size < glyph.start - end < widest * size):
            yield run
            run = []
        run.append(glyph.word)
        end, line, widest = glyph.end, glyph.line, SPACE_SHARE
    if run:
        yield run


# --- Poppler -------------------------------------------------------------------------------------

_POPPLER_PAGE = re.compile(r"<page ")
_POPPLER_WORD = re.compile(
    r'<word xMin="([-\d.]+)" yMin="([-\d.]+)" xMax="([-\d.]+)" yMax="([-\d.]+)">(.*?)</word>', re.S
)


def read_pdftotext(
    path: Path | str, first: int, last: int, *, timeout: float, program: str = "pdftotext"
) -> list[Reading]:
    """Poppler's words of the pages first to last (from 1).

    Raises EngineError when the program fails, gives another number of pages, or takes longer than
    `timeout` seconds.
    """
    command = [program, "-bbox-layout", "-enc", "UTF-8", "-f", str(first), "-l", str(last)]
    command += ["-cropbox", str(Path(path).resolve()), "-"]
    try:
        done = subprocess.run(command, capture_output=True, timeout=timeout, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise EngineError(f"{path}: pdftotext: {type(error).__name__}") from error
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise EngineError(f"{path}: pdftotext: {said[0] if said else done.returncode}")
    pages = _POPPLER_PAGE.split(done.stdout.decode("utf-8", "replace"))[1:]
    if len(pages) != last - first + 1:
        raise EngineError(f"{path}: pdftotext gave {len(pages)} pages, expected {last - first + 1}")
    return [Reading("pdftotext", tuple(_poppler_words(page))) for page in pages]


def _poppler_words(page: str) -> Iterator[Word]:
    for match in _POPPLER_WORD.finditer(page):
        x0, y0, x1, y1 = (float(match[n]) for n in range(1, 5))
        text = html.unescape(match[5]).strip()
        if text:
            yield Word(text, (x0, y0, x1, y1), y1 - y0)


# --- pdfium --------------------------------------------------------------------------------------


def read_pdfium(document: Any, index: int) -> Reading:
    """pdfium's reading of one page (from 0); its own spaces and line ends split the words."""
    page = document[index]
    try:
        textpage = page.get_textpage()
        try:
            words = _pdfium_words(page, textpage)
        finally:
            textpage.close()
    finally:
        page.close()
    return Reading("pdfium", tuple(words))


def _pdfium_words(page: Any, textpage: Any) -> list[Word]:
    raw = textpage.raw
    place = _Placement(page)
    fonts = _Fonts(raw)
    words: list[Word] = []
    run: list[Word] = []
    rect = pdfium_c.FS_RECTF()
    for number in range(pdfium_c.FPDFText_CountChars(raw)):
        code = pdfium_c.FPDFText_GetUnicode(raw, number)
        # pdfium marks a hyphen at a line's end with 2; 0xFFFE is the same in older versions.
        text = "-" if code in {2, 0xFFFE} else chr(code) if 0 < code <= 0x10FFFF else "\ufffd"
        if 0xD800 <= code <= 0xDFFF:
            text = "\ufffd"
        if text.isspace():
            words += [joined(run)] if run else []
            run = []
            continue
        pdfium_c.FPDFText_GetLooseCharBox(raw, number, ctypes.byref(rect))
        box = place.box(rect.left, rect.bottom, rect.right, rect.top)
        size, font, bold = fonts.of(number) if not run else (run[0].size, run[0].font, run[0].bold)
        run.append(Word(text, box, size, bold, font))
    return words + ([joined(run)] if run else [])


class _Placement:
    """From pdfium's page space (origin bottom left, unrotated) to the page as it is seen."""

    def __init__(self, page: Any) -> None:
        self.left, self.bottom, self.right, self.top = page.get_bbox()
        self.rotation = page.get_rotation()

    def box(self, x0: float, y0: float, x1: float, y1: float) -> Box:
        corners = [self._point(x0, y0), self._point(x1, y1)]
        xs, ys = [p[0] for p in corners], [p[1] for p in corners]
        return min(xs), min(ys), max(xs), max(ys)

    def _point(self, x: float, y: float) -> tuple[float, float]:
        if self.rotation == 90:
            return y - self.bottom, x - self.left
        if self.rotation == 180:
            return self.right - x, y - self.bottom
        if self.rotation == 270:
            return self.top - y, self.right - x
        return x - self.left, self.top - y


class _Fonts:
    """Size, name and weight of a character's font."""

    def __init__(self, raw: Any) -> None:
        self.raw = raw
        self.buffer = ctypes.create_string_buffer(256)

    def of(self, number: int) -> tuple[float, str, bool]:
        flags = ctypes.c_int(0)
        length = pdfium_c.FPDFText_GetFontInfo(
            self.raw, number, self.buffer, len(self.buffer), ctypes.byref(flags)
        )
        name = self.buffer.raw[: max(0, min(length, 256) - 1)].decode("utf-8", "replace")
        bold = pdfium_c.FPDFText_GetFontWeight(self.raw, number) >= 600
        size = float(pdfium_c.FPDFText_GetFontSize(self.raw, number))
        return size, name, bold or bool(re.search("bold|black|heavy", name, re.I))


def open_pdfium(path: Path | str) -> Any:
    """A pdfium document; EngineError where pdfium cannot open it."""
    try:
        return pypdfium2.PdfDocument(str(path))
    except (pypdfium2.PdfiumError, OSError) as error:
        raise EngineError(f"{path}: pdfium: {error}") from error
