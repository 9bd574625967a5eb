"""The shipped corpus of fictional instruments: PDFs with known text, and the verified rows on it.

`instruments.yaml` holds every printed block; from it come the PDFs (several producers, so that
text layers are sound, in visual order, in a legacy encoding, garbled, or missing), the manifest,
and one truth file per document. `verified.yaml` holds what a person established about the corpus
(entities, aliases, threads, question pairs). docs/corpus.md explains the formats.

    python -m scripts.tide.documents.embedded_corpus              # also PDFs (needs xelatex)
    python -m scripts.tide.documents.embedded_corpus --rows-only  # truth and rows alone
"""

from __future__ import annotations

import argparse
import calendar
import csv
import datetime
import io
import os
import re
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

import pymupdf
import yaml

from scripts.dates.bangla import to_gregorian
from scripts.files import (
    DataError,
    atomic_write,
    dump_line,
    sha256_file,
    write_json,
    write_records,
    write_text,
)
from scripts.tide.rows import EntityRow, QuestionPair, Thread

#: The library without its types: it has no annotations.
mupdf: Any = pymupdf

FOLDER = Path("data/embedded/tide")
LICENCE = "CC0-1.0"
LAYERS = ("actualtext", "plain", "visual", "legacy", "mojibake", "image")
MANIFEST_COLUMNS = ("file", "title", "url", "sha256", "type", "date", "licence")
BLOCKS = ("page", "document", "clause", "continued", "table", "table_continued")
FONTS = Path("/usr/share/fonts/truetype")
BENGALI_FONT = FONTS / "noto/NotoSerifBengali-Regular.ttf"
LATIN_FONT = FONTS / "noto/NotoSerif-Regular.ttf"
#: The text of the legacy layer is set in this font under the name of the legacy one.
LEGACY_CARRIER = FONTS / "dejavu/DejaVuSerif.ttf"
LEGACY_NAME = "SutonnyMJ"

_PAGE_WIDTH, _PAGE_HEIGHT, _MARGIN = 420.0, 595.0, 45.0
_SCAN_DPI = 130


@dataclass(frozen=True, slots=True)
class Instrument:
    """One document: what it is, how its text layer is made, and its blocks page by page."""

    document: str
    title: str
    type: str
    date: datetime.date
    instrument: str
    layer: str
    calendars: list[dict[str, Any]]
    pages: list[list[dict[str, Any]]]
    layers: dict[int, str] = field(default_factory=dict)

    def layer_of(self, page: int) -> str:
        """The kind of text layer of a page (from 1)."""
        return self.layers.get(page, self.layer)


def read_instruments(path: Path | str) -> list[Instrument]:
    """The instruments of the YAML file; DataError for an unknown block, layer or type."""
    rows = yaml.safe_load(Path(path).read_text(encoding="utf-8"))["documents"]
    try:
        instruments = [Instrument(**row) for row in rows]
    except TypeError as error:
        raise DataError(f"{path}: {error}; docs/corpus.md lists the keys") from error
    for each in instruments:
        _check_instrument(path, each)
    return instruments


def _check_instrument(path: Path | str, instrument: Instrument) -> None:
    where = f"{path}, {instrument.document}"
    for layer in (instrument.layer, *instrument.layers.values()):
        if layer not in LAYERS:
            raise DataError(f"{where}: unknown layer {layer!r}; known: {list(LAYERS)}")
    if instrument.type not in ("Act", "Rule", "SRO", "GO"):
        raise DataError(f"{where}: unknown type {instrument.type!r}; known: Act, Rule, SRO, GO")
    started = False
    for block in (block for page in instrument.pages for block in page):
        if len(block) != 1 or next(iter(block)) not in BLOCKS:
            raise DataError(f"{where}: block {list(block)}; give each block one of {list(BLOCKS)}")
        kind, value = next(iter(block.items()))
        started = started or kind == "clause"
        if kind in ("continued", "table", "table_continued") and not started:
            raise DataError(f"{where}: {kind} before the first clause; put a clause before it")
        if kind == "clause" and not value["text"].startswith(value["printed"]):
            raise DataError(f"{where}: the text of clause {value['printed']} must begin with it")


# ---------------------------------------------------------------------------------------- truth


def truth_of(instrument: Instrument) -> dict[str, Any]:
    """Everything that is printed, as a parser should give it back: pages, clauses, tables, dates.

    `pages[].text` has one line a paragraph or table row (cells joined by a space, a repeated head
    included); a clause's text has the lines of its paragraphs and `[TABLE_k]` for its k-th table.
    """
    clauses: list[dict[str, Any]] = []
    tables: list[dict[str, Any]] = []
    metadata: list[dict[str, str]] = []
    for number, page in enumerate(instrument.pages, start=1):
        for block in page:
            kind, value = next(iter(block.items()))
            if kind in ("page", "document"):
                metadata.append({"category": kind, "text": value})
            elif kind == "clause":
                clauses.append(_new_clause(len(clauses) + 1, value, number))
            elif kind == "continued":
                clauses[-1]["text"] += "\n" + value
                clauses[-1]["page_end"] = number
            elif kind == "table":
                parent = clauses[-1]["clause_number"]
                order = sum(table["parent"] == parent for table in tables) + 1
                clauses[-1]["text"] += f"\n[TABLE_{order}]"
                clauses[-1]["page_end"] = number
                tables.append(_new_table(parent, value, number))
            else:
                tables[-1]["rows"] += [list(row) for row in value["rows"]]
                tables[-1]["page_end"] = clauses[-1]["page_end"] = number
    pages = [
        {"page": number, "layer": instrument.layer_of(number), "text": "\n".join(lines)}
        for number, lines in enumerate(_printed_lines(instrument), start=1)
    ]
    return {
        "document": instrument.document,
        "layer": instrument.layer,
        "pages": pages,
        "metadata": metadata,
        "clauses": clauses,
        "tables": tables,
        "dates": _dates(pages, instrument),
    }


def _new_clause(number: int, value: dict[str, Any], page: int) -> dict[str, Any]:
    return {
        "clause_number": f"clause_{number}",
        "printed": value["printed"],
        "title": value["title"],
        "text": value["text"],
        "page_start": page,
        "page_end": page,
        "subclause_hierarchy": value["hierarchy"],
    }


def _new_table(parent: str, value: dict[str, Any], page: int) -> dict[str, Any]:
    return {
        "parent": parent,
        "page_start": page,
        "page_end": page,
        "headers": list(value["headers"]),
        "rows": [list(row) for row in value["rows"]],
    }


def _printed_lines(instrument: Instrument) -> list[list[str]]:
    """Paragraphs and table rows of each page in printed order."""
    out: list[list[str]] = []
    headers: list[str] = []
    for page in instrument.pages:
        lines: list[str] = []
        for block in page:
            kind, value = next(iter(block.items()))
            if kind in ("table", "table_continued"):
                headers = value.get("headers", headers)
                lines += [" ".join(row) for row in [headers, *value["rows"]]]
            else:
                text = value["text"] if kind == "clause" else value
                lines += text.split("\n")
        out.append(lines)
    return out


_DIGITS = str.maketrans("০১২৩৪৫৬৭৮৯", "0123456789")
#: Names of Gregorian months as this corpus prints them.
_MONTHS = {
    **{name: number for number, name in enumerate(calendar.month_name) if name},
    "জানুয়ারি": 1, "ফেব্রুয়ারি": 2, "জুন": 6, "জুলাই": 7,
}  # fmt: skip
_BANGLA_MONTHS = {
    "জ্যৈষ্ঠ": 2, "আষাঢ়": 3, "কার্তিক": 7, "মাঘ": 10, "ফাল্গুন": 11,
}  # fmt: skip


def _names(months: dict[str, int]) -> str:
    return "|".join(sorted(months, key=len, reverse=True))


_DATE = re.compile(
    rf"(?P<bd>\d+) (?P<bm>{_names(_BANGLA_MONTHS)}), (?P<by>\d{{4}}) বঙ্গাব্দ"
    rf"|(?P<d1>\d+) (?P<m1>{_names(_MONTHS)}),? (?P<y1>\d{{4}})(?: খ্রিস্টাব্দ)?"
    rf"|(?P<m2>{_names(_MONTHS)}) (?P<d2>\d+), (?P<y2>\d{{4}})"
    r"|(?P<d3>\d{2})/(?P<m3>\d{2})/(?P<y3>\d{4})"
)


def _dates(pages: Sequence[dict[str, Any]], instrument: Instrument) -> list[dict[str, Any]]:
    """All dates to the day, in printed order; years of titles and numbers are not dates here.

    The value is the Gregorian day in either calendar, as `dates.legal_dates` gives it.
    """
    wrong = {pair["bangla"] for pair in instrument.calendars if pair.get("disagrees")}
    out: list[dict[str, Any]] = []
    for page in pages:
        for match in _DATE.finditer(page["text"]):
            part = {key: text for key, text in match.groupdict().items() if text}
            bangla = "bd" in part
            year, month, day = (
                _number(part, letter, _BANGLA_MONTHS if bangla else _MONTHS) for letter in "ymd"
            )
            named = to_gregorian(year, month, day) if bangla else datetime.date(year, month, day)
            out.append(
                {
                    "value": named.isoformat(),
                    "granularity": "day",
                    "calendar": "bangla" if bangla else "gregorian",
                    "text": match[0],
                    "page": page["page"],
                    "disagrees": match[0] in wrong,
                }
            )
    return out


def _number(part: dict[str, str], letter: str, months: dict[str, int]) -> int:
    text = next(value for key, value in part.items() if key.strip("b123") == letter)
    return months[text] if text in months else int(text.translate(_DIGITS))


# ----------------------------------------------------------------------------------- typesetting

_LATEX_SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#",
    "%": r"\%", "_": r"\_", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
}  # fmt: skip
_BENGALI_RUN = re.compile(r"[\u0980-\u09FF\u0964\u0965]+(?:[ ][\u0980-\u09FF\u0964\u0965]+)*")


def latex_text(text: str) -> str:
    """A text for xelatex: special characters escaped, runs of Bengali in the Bengali font."""
    escaped = "".join(_LATEX_SPECIAL.get(sign, sign) for sign in text)
    return _BENGALI_RUN.sub(lambda run: rf"{{\bn {run[0]}}}", escaped)


def latex_source(instrument: Instrument, actual_text: bool) -> str:
    """The xelatex source of a document; every page ends where the YAML file says.

    With `actual_text` each word carries its Unicode text; without it the text layer is the glyphs
    as they are placed, so Bengali comes out in visual order.
    """
    body = "\n\\newpage\n".join(_latex_page(page) for page in _with_heads(instrument.pages))
    return "\n".join(
        [
            rf"\XeTeXgenerateactualtext={int(actual_text)}",
            r"\documentclass[10pt]{article}",
            rf"\usepackage[paperwidth={_PAGE_WIDTH}bp,paperheight={_PAGE_HEIGHT}bp,"
            rf"margin={_MARGIN}bp]{{geometry}}",
            r"\usepackage{fontspec,array}",
            rf"\setmainfont[Path={LATIN_FONT.parent}/]{{{LATIN_FONT.name}}}",
            rf"\newfontfamily\bn[Script=Bengali,Path={BENGALI_FONT.parent}/]{{{BENGALI_FONT.name}}}",
            r"\special{pdf:trailerid [<00000000000000000000000000000000> "
            r"<00000000000000000000000000000000>]}",
            r"\pagestyle{empty}\raggedright\setlength{\parindent}{0pt}\setlength{\parskip}{5bp}",
            r"\renewcommand{\arraystretch}{1.3}\setlength{\tabcolsep}{4bp}",
            r"\begin{document}",
            body,
            r"\end{document}",
            "",
        ]
    )


def _with_heads(pages: Sequence[list[dict[str, Any]]]) -> list[list[dict[str, Any]]]:
    """The pages with every continued table carrying the head and widths of its first part."""
    out: list[list[dict[str, Any]]] = []
    first: dict[str, Any] = {}
    for page in pages:
        blocks: list[dict[str, Any]] = []
        for block in page:
            kind, value = next(iter(block.items()))
            if kind == "table":
                first = value
            elif kind == "table_continued":
                kind, value = "table", {**first, **value}
            blocks.append({kind: value})
        out.append(blocks)
    return out


def _latex_page(page: Sequence[dict[str, Any]]) -> str:
    parts: list[str] = []
    for place, block in enumerate(page):
        kind, value = next(iter(block.items()))
        if kind == "page" and place:
            parts.append(rf"\vfill{{\centering\footnotesize {latex_text(value)}\par}}")
        elif kind == "page":
            parts.append(rf"{{\centering\footnotesize {latex_text(value)}\par}}\medskip")
        elif kind == "document":
            parts.append(rf"{{\centering {latex_text(value)}\par}}")
        elif kind == "table":
            parts.append(_latex_table(value))
        else:
            text = value["text"] if kind == "clause" else value
            parts += [
                _latex_paragraph(line, first=kind == "clause" and not order)
                for order, line in enumerate(text.split("\n"))
            ]
    return "\n\n".join(parts)


def _latex_paragraph(line: str, first: bool) -> str:
    """A paragraph: the first of a clause at the margin, sub-clauses indented, (i) (ii) deeper."""
    deep = re.match(r"\((i|ii|iii|iv|v)\)", line)
    indent = 0 if first else 36 if deep else 18
    return rf"{{\leftskip={indent}bp {latex_text(line)}\par}}"


def _latex_table(value: dict[str, Any]) -> str:
    columns = (
        "|"
        + "|".join(
            rf">{{\raggedright\arraybackslash}}p{{0.{width:02d}\textwidth}}"
            for width in value["widths"]
        )
        + "|"
    )
    rows = [" & ".join(map(latex_text, row)) for row in [value["headers"], *value["rows"]]]
    lines = " \\\\ \\hline\n".join(rows)
    return f"\\begin{{tabular}}{{{columns}}}\\hline\n{lines} \\\\ \\hline\n\\end{{tabular}}\\par"


def run_xelatex(source: str, day: datetime.date) -> bytes:
    """The PDF of a xelatex source, with the same bytes each time (dates come from `day`).

    Raises DataError with the end of the log where xelatex fails or is not installed.
    """
    moment = datetime.datetime.combine(day, datetime.time(12), datetime.UTC)
    environment = {
        **os.environ,
        "SOURCE_DATE_EPOCH": str(int(moment.timestamp())),
        "FORCE_SOURCE_DATE": "1",
        "TZ": "UTC",
    }
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_text(folder / "document.tex", source)
        command = ["xelatex", "-interaction=nonstopmode", "-halt-on-error", "document.tex"]
        try:
            done = subprocess.run(  # a fixed command without a shell
                command, cwd=folder, env=environment, capture_output=True, check=False, timeout=120
            )
        except FileNotFoundError as error:
            raise DataError(
                "xelatex is not installed; install TeX Live, or use the shipped PDFs"
            ) from error
        if done.returncode:
            end = done.stdout.decode("utf-8", "replace")[-1500:]
            raise DataError(f"xelatex failed; correct the source. End of its log:\n{end}")
        return (folder / "document.pdf").read_bytes()


def _saved(pdf: Any) -> bytes:
    """The bytes of a PDF without dates, producer and identifier."""
    pdf.set_metadata({})
    pdf.scrub(metadata=True, xml_metadata=True, hidden_text=False, remove_links=False)
    data: bytes = pdf.tobytes(garbage=4, deflate=True, deflate_fonts=True, no_new_id=True)
    return data


def typeset(instrument: Instrument) -> bytes:
    """The PDF of an instrument, each page with the text layer that the instrument names."""
    if instrument.layer == "mojibake":
        return _html_pdf(instrument)
    if instrument.layer == "legacy":
        return _legacy_pdf(instrument)
    printed = run_xelatex(
        latex_source(instrument, instrument.layer == "actualtext"), instrument.date
    )
    with mupdf.open(stream=printed, filetype="pdf") as pdf:
        _check_pages(instrument, len(pdf))
        scanned = [page for page, layer in instrument.layers.items() if layer == "image"]
        if not scanned:
            return printed
        for number in scanned:
            _scan(pdf, number - 1)
        return _saved(pdf)


def _check_pages(instrument: Instrument, printed: int) -> None:
    if printed != len(instrument.pages):
        raise DataError(
            f"{instrument.document}: {printed} pages printed, {len(instrument.pages)} "
            "written; move blocks to another page"
        )


def _scan(pdf: Any, index: int) -> None:
    """Replace a page by a grey picture of itself, as a scanner leaves it."""
    picture = pdf[index].get_pixmap(dpi=_SCAN_DPI, colorspace=mupdf.csGRAY).tobytes("png")
    pdf.delete_page(index)
    page = pdf.new_page(index, width=_PAGE_WIDTH, height=_PAGE_HEIGHT)
    page.insert_image(page.rect, stream=picture)


def _html_pdf(instrument: Instrument) -> bytes:
    """A PDF by MuPDF's HTML box: shaped rightly on paper, but its Bengali text layer is garbled."""
    archive = mupdf.Archive(str(BENGALI_FONT.parent))
    style = (
        f"@font-face {{font-family: bn; src: url({BENGALI_FONT.name});}}"
        "* {font-family: bn; font-size: 10px;} p {margin: 4px 0;} .c {text-align: center;}"
    )
    with mupdf.open() as pdf:
        for blocks in instrument.pages:
            page = pdf.new_page(width=_PAGE_WIDTH, height=_PAGE_HEIGHT)
            box = mupdf.Rect(_MARGIN, _MARGIN, _PAGE_WIDTH - _MARGIN, _PAGE_HEIGHT - _MARGIN)
            left, _ = page.insert_htmlbox(
                box, _html(blocks), css=style, archive=archive, scale_low=1
            )
            _check_pages(instrument, len(instrument.pages) + int(left < 0))
        pdf.subset_fonts()
        return _saved(pdf)


def _html(blocks: Iterable[dict[str, Any]]) -> str:
    parts: list[str] = []
    for block in blocks:
        kind, value = next(iter(block.items()))
        text = value["text"] if kind == "clause" else value
        place = ' class="c"' if kind in ("page", "document") else ""
        parts += [f"<p{place}>{line}</p>" for line in text.split("\n")]
    return "".join(parts)


def _legacy_pdf(instrument: Instrument) -> bytes:
    """A page whose glyphs are drawn as outlines under an invisible text in a legacy encoding.

    The text is set in `LEGACY_CARRIER` under the name of the legacy font; no font of that family
    is included. Its lines lie on the page in order, but not exactly over the outlines.
    """
    printed = run_xelatex(latex_source(instrument, False), instrument.date)
    with mupdf.open(stream=printed, filetype="pdf") as shown, mupdf.open() as pdf:
        _check_pages(instrument, len(shown))
        for source, lines in zip(shown, _printed_lines(instrument), strict=True):
            outlines = source.get_svg_image(text_as_path=True).encode()
            with mupdf.open(stream=outlines, filetype="svg") as drawn:
                drawing = mupdf.open(stream=drawn.convert_to_pdf(), filetype="pdf")
            page = pdf.new_page(width=_PAGE_WIDTH, height=_PAGE_HEIGHT)
            page.show_pdf_page(page.rect, drawing, 0)
            writer = mupdf.TextWriter(page.rect)
            font = mupdf.Font(fontfile=str(LEGACY_CARRIER))
            top = _MARGIN + 10
            for line in lines:
                for piece in _wrapped(to_legacy(line), 70):
                    writer.append((_MARGIN, top), piece, font=font, fontsize=8)
                    top += 13
            writer.write_text(page, render_mode=3)
        pdf.subset_fonts()
        _rename_fonts(pdf)
        return _saved(pdf)


def _wrapped(text: str, width: int) -> list[str]:
    """A text in lines of at most `width` characters, cut at spaces."""
    lines: list[str] = []
    for word in text.split(" "):
        if lines and len(lines[-1]) + 1 + len(word) <= width:
            lines[-1] += " " + word
        else:
            lines.append(word)
    return lines


def _rename_fonts(pdf: Any) -> None:
    """Give every font object the name of the legacy font."""
    for xref in range(1, pdf.xref_length()):
        for key in ("BaseFont", "FontName"):
            if pdf.xref_get_key(xref, key)[0] == "name":
                pdf.xref_set_key(xref, key, f"/AAAAAA+{LEGACY_NAME}")


# --------------------------------------------------------------------------------- legacy encoding

_LEGACY_LETTERS = dict(
    zip(
        "কখগঘঙচছজঝঞটঠডঢণতথদধনপফবভমযরলশষসহৎংঃঁািীুূৃেৈ০১২৩৪৫৬৭৮৯।",
        "KLMNOPQRSTUVWXYZ_`abcdefghijklmnrstuvwxy~…†‰0123456789|",
        strict=True,
    )
)
_LEGACY_LETTERS |= {
    "অ": "A", "আ": "Av", "ই": "B", "ঈ": "C", "উ": "D", "ঊ": "E", "ঋ": "F", "এ": "G", "ঐ": "H",
    "ও": "I", "ঔ": "J", "ড়": "o", "ঢ়": "p", "য়": "q", "্": "&",
}  # fmt: skip
#: Joined letters with a sign of their own; the longest are tried first.
_LEGACY_JOINED = {
    "ক্ষ": "¶", "ক্ত": "³", "ক্র": "µ", "ক্স": "·", "জ্ঞ": "Á", "জ্ঝ": "¾", "ঞ্চ": "Â", "ঞ্জ": "Ä",
    "ঙ্ক": "¼", "ঙ্গ": "½", "ত্ত": "Ë", "ত্র": "Î", "দ্ধ": "×", "দ্ব": "Ø", "ন্ধ": "Ü", "ন্ত": "šÍ",
    "ন্ট": "›U", "ন্দ": "›`", "ন্ন": "bœ", "প্ত": "ß", "প্র": "cÖ", "ব্দ": "ã", "ব্য": "e¨",
    "ম্প": "¤ú", "ম্ব": "¤^", "ল্ক": "é", "ল্প": "í", "ষ্ট": "ó", "ষ্ঠ": "ô", "স্ট": "÷",
    "স্থ": "¯’", "স্ত": "¯Í", "স্ব": "¯^", "দ্র": "`ª", "গ্র": "MÖ", "শ্র": "kÖ", "র্": "©",
    "্য": "¨", "্র": "«", "্ব": "¡", "্ম": "¥", "্ন": "œ",
}  # fmt: skip
_CONSONANT = "[\u0995-\u09b9]\u09bc?"
_CLUSTER = re.compile(
    rf"(?P<reph>র\u09cd(?={_CONSONANT}))?(?P<base>{_CONSONANT}(?:\u09cd{_CONSONANT})*)"
    r"(?P<vowel>[\u09be-\u09c4\u09c7\u09c8\u09cb\u09cc]?)"
)
_LEGACY_SIGNS = {**_LEGACY_LETTERS, **_LEGACY_JOINED}
_LEGACY_UNIT = re.compile("|".join(sorted(map(re.escape, _LEGACY_SIGNS), key=len, reverse=True)))


def to_legacy(text: str) -> str:
    """Bengali in a Latin encoding of the SutonnyMJ kind: signs in the order of drawing.

    Vowel signs that stand before their letter come before it, reph after its cluster. Other
    characters stay; the mapping covers this corpus and is no converter for print.
    """

    def cluster(match: re.Match[str]) -> str:
        vowel = match["vowel"]
        before = {"ি": "ি", "ে": "ে", "ৈ": "ৈ", "ো": "ে", "ৌ": "ে"}.get(vowel, "")
        after = {"ো": "া", "ৌ": "Š"}.get(vowel, "" if before else vowel)
        reph = "র\u09cd" if match["reph"] else ""
        return before + match["base"] + reph + after

    drawn = _CLUSTER.sub(cluster, text)
    return _LEGACY_UNIT.sub(lambda unit: _LEGACY_SIGNS[unit[0]], drawn)


# --------------------------------------------------------------------------------- verified rows

#: Layers that a parser can read without a vision model; only their clauses have entity rows.
READABLE = ("actualtext", "plain", "visual")
ORDER_QUESTION = "Put these events in the order in which they took place, the earliest first."
VERDICT_QUESTION = "Is this statement right? If not, say which fact is wrong and what is right."
_FIXED_QUESTIONS = {
    "event_sorting": ORDER_QUESTION,
    "perturbation_detection": VERDICT_QUESTION,
}


@dataclass(frozen=True, slots=True)
class Verified:
    """The rows of `verified.yaml`, in the order of the file."""

    entities: list[EntityRow]
    aliases: list[dict[str, str]]
    threads: list[Thread]
    questions: list[QuestionPair]


def read_verified(path: Path | str, instruments: Sequence[Instrument]) -> Verified:
    """The verified rows; DataError for a clause that is not in the corpus or an unknown thread.

    Entity rows cover the clauses of readable pages: the others are no elements of a run without a
    vision model, and a row without its element would be an error there.
    """
    content = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    clauses = {each.document: truth_of(each)["clauses"] for each in instruments}
    threads = {row["thread"]: row for row in content["threads"]}
    cited = [row["cites"] for rows in content["questions"].values() for row in rows]
    steps = [
        {step["document"]: step["clauses"]}
        for row in content["threads"]
        for step in row["timeline"]
    ]
    for citation in [*cited, *steps, content["entities"]]:
        for document, numbers in citation.items():
            for number in numbers:
                if not 1 <= number <= len(clauses.get(document, [])):
                    raise DataError(
                        f"{path}: {document} has no clause {number}; correct the citation"
                    )
    for row in (row for rows in content["questions"].values() for row in rows):
        if row["thread"] not in threads:
            raise DataError(f"{path}: no thread {row['thread']!r}; known: {sorted(threads)}")
    return Verified(
        _entity_rows(content["entities"], instruments, clauses),
        _aliases(content["aliases"], content["related_groups"]),
        [_thread(row, instruments) for row in content["threads"]],
        [
            _question(task, row, threads[row["thread"]]["cluster"])
            for task, rows in content["questions"].items()
            for row in rows
        ],
    )


def _element_ids(cites: dict[str, list[int]]) -> list[str]:
    return [f"{document}/clause_{n}" for document, numbers in cites.items() for n in numbers]


def _entity_rows(
    given: dict[str, dict[int, dict[str, Any]]],
    instruments: Sequence[Instrument],
    clauses: dict[str, list[dict[str, Any]]],
) -> list[EntityRow]:
    rows: list[EntityRow] = []
    for instrument in instruments:
        for number, entities in given.get(instrument.document, {}).items():
            clause = clauses[instrument.document][number - 1]
            pages = range(clause["page_start"], clause["page_end"] + 1)
            if all(instrument.layer_of(page) in READABLE for page in pages):
                element_id = f"{instrument.document}/{clause['clause_number']}"
                rows.append(EntityRow(element_id, [_entity(*each) for each in entities.items()]))
    return rows


def _entity(name: str, value: str | dict[str, Any]) -> dict[str, Any]:
    told: dict[str, Any] = {"concepts": [value]} if isinstance(value, str) else value
    parts: dict[str, str] = told.get("sub", {})
    return {
        "name": name,
        "concepts": told["concepts"],
        "sub_entities": [{"name": part, "concept": concept} for part, concept in parts.items()],
    }


def _aliases(pairs: list[list[str]], groups: list[list[str]]) -> list[dict[str, str]]:
    """Verdicts on the listed pairs and on every pair of a group, a before b, sorted."""
    related = [[*pair, "related"] for group in groups for pair in combinations(group, 2)]
    return [
        {"a": a, "b": b, "verdict": verdict, "unit_id": "", "judge": "project"}
        for a, b, verdict in sorted([*sorted(p[:2]), p[2]] for p in [*pairs, *related])
    ]


def _thread(row: dict[str, Any], instruments: Sequence[Instrument]) -> Thread:
    """A thread; its `cluster_id` is the canonical name of its entity, for want of a run's id."""
    names = {each.document: each.instrument for each in instruments}
    timeline = [
        {
            "date": step["date"].isoformat(),
            "document": step["document"],
            "instrument": names[step["document"]],
            "change": step["change"],
            "element_ids": _element_ids({step["document"]: step["clauses"]}),
        }
        for step in row["timeline"]
    ]
    return Thread(
        thread_id=row["thread"],
        cluster_id=row["cluster"],
        title=row["title"],
        concept=row["concept"],
        summary=row["summary"],
        dimensions=[{"dimension": k, "value": v} for k, v in row["dimensions"].items()],
        timeline=timeline,
        restatements=_element_ids(row.get("restatements", {})),
        element_ids=[each for step in timeline for each in step["element_ids"]],
    )


def _question(task: str, row: dict[str, Any], cluster: str) -> QuestionPair:
    """A question pair; fields that follow from others are not written twice in the YAML file."""
    fields = {key: _plain(value) for key, value in row.items() if key not in ("thread", "cites")}
    if task in _FIXED_QUESTIONS:
        fields["question"] = _FIXED_QUESTIONS[task]
    if task == "temporal_mcq":
        fields["answer"] = fields["options"][fields["answer_index"]]
    if task == "perturbation_detection":
        fields["is_perturbed"] = "perturbed_fact" in fields
        fields |= {key: fields.get(key) for key in ("perturbed_fact", "correct_fact")}
    if task == "event_sorting":
        ordered, shuffle = fields.pop("ordered"), fields.pop("shuffle")
        fields["answer_ordered"] = ordered
        fields["events_shuffled"] = [ordered[place]["event"] for place in shuffle]
    pair = QuestionPair.create(
        task, row["thread"], cluster, _element_ids(row["cites"]), fields, "shipped"
    )
    pair.check()
    return pair


def _plain(value: Any) -> Any:
    """A YAML value with dates as ISO text."""
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return {k: _plain(v) for k, v in value.items()} if isinstance(value, dict) else value


# ---------------------------------------------------------------------------------------- writing


def write_documents(folder: Path, instruments: Sequence[Instrument]) -> None:
    """Write the PDFs beside their manifest."""
    for instrument in instruments:
        with atomic_write(folder / f"{instrument.document}.pdf", "wb") as handle:
            handle.write(typeset(instrument))
    table = io.StringIO()
    writer = csv.DictWriter(table, MANIFEST_COLUMNS, lineterminator="\n")
    writer.writeheader()
    for instrument in instruments:
        path = folder / f"{instrument.document}.pdf"
        writer.writerow(
            {
                "file": path.name,
                "title": instrument.title,
                "url": "",
                "sha256": sha256_file(path),
                "type": instrument.type,
                "date": instrument.date.isoformat(),
                "licence": LICENCE,
            }
        )
    write_text(folder / "manifest.csv", table.getvalue())


def write_truth(folder: Path, instruments: Sequence[Instrument]) -> None:
    """Write one truth file a document."""
    for instrument in instruments:
        write_json(folder / "truth" / f"{instrument.document}.json", truth_of(instrument))


def write_verified(folder: Path, verified: Verified) -> None:
    """Write the verified rows as JSONL."""
    write_records(folder / "entities.jsonl", verified.entities)
    write_records(folder / "threads.jsonl", verified.threads)
    write_records(folder / "questions.jsonl", verified.questions)
    with atomic_write(folder / "aliases.jsonl", "wb") as handle:
        handle.writelines(dump_line(row) for row in verified.aliases)


def main(arguments: Sequence[str] | None = None) -> None:
    """Build the folder from its YAML files."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--folder", type=Path, default=FOLDER)
    parser.add_argument("--rows-only", action="store_true", help="leave the PDFs as they are")
    options = parser.parse_args(arguments)
    instruments = read_instruments(options.folder / "instruments.yaml")
    if not options.rows_only:
        write_documents(options.folder, instruments)
    write_truth(options.folder, instruments)
    write_verified(options.folder, read_verified(options.folder / "verified.yaml", instruments))


if __name__ == "__main__":
    main()
