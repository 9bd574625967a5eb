"""Compile the paper with XeLaTeX: no shell, no network, no dates, the same bytes every time."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PACKAGES_FILE = "envs/tex.txt"
OVERFULL_LIMIT = 5.0  # points
MAIN = "main.tex"
# The date that the PDF bears, in seconds since 1970: fixed, so that builds are comparable.
EPOCH = 1767225600
# What TeX says of a package or font that is not there.
_ABSENT = re.compile(r"File `.*' not found|cannot be found|not loadable|can't find file")
INSTALL = f"apt-get install -y --no-install-recommends $(grep -v '^#' {PACKAGES_FILE})"


# Of a page, in points: what stands lower than the text block is the page's number, or ran over.
BOTTOM_MARGIN = 2.1 * 72 / 2.54
TOLERANCE = 8.0


class PaperError(RuntimeError):
    """The paper cannot be compiled, or its log has something that must not be there."""


@dataclass(frozen=True, slots=True)
class LogReport:
    """What the log says. `overfull` holds (points, message) of boxes above the limit."""

    missing_characters: tuple[str, ...]
    undefined: tuple[str, ...]
    overfull: tuple[tuple[float, str], ...]


def require_tex() -> None:
    """Raise PaperError with the install command when XeLaTeX or latexmk is not there."""
    lacking = [name for name in ("xelatex", "latexmk", "bibtex") if shutil.which(name) is None]
    if lacking:
        raise PaperError(
            f"{', '.join(lacking)} not found. On Debian or Ubuntu install TeX and its fonts with: "
            f"{INSTALL}"
        )


def environment(epoch: int) -> dict[str, str]:
    """The environment of the compiler: fixed time, no shell, log lines that are not wrapped."""
    return {
        **os.environ,
        "SOURCE_DATE_EPOCH": str(epoch),
        "FORCE_SOURCE_DATE": "1",
        "TZ": "UTC",
        "LC_ALL": "C.UTF-8",
        "max_print_line": "10000",
        "shell_escape": "f",
        # The sources name the results directory above the build directory, for reading only.
        "openin_any": "a",
        "openout_any": "p",
    }


def build(
    sources: Path,
    generated: list[Path],
    directory: Path,
    epoch: int = EPOCH,
    further: Iterable[Path] = (),
) -> LogReport:
    """Compile `main.tex` of `sources` in `directory`, which is emptied first.

    `generated` files are copied beside the sources, `further` ones under their paths. Leaves
    `main.pdf` and `main.log` there. Raises PaperError when TeX is missing, compilation fails, a
    character has no glyph, or a reference or citation is undefined.
    """
    require_tex()
    if directory.exists():
        shutil.rmtree(directory)
    shutil.copytree(sources, directory)
    for path in generated:
        shutil.copyfile(path, directory / path.name)
    for path in further:
        (directory / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, directory / path)
    result = subprocess.run(
        [
            "latexmk",
            "-norc",
            "-xelatex",
            "-halt-on-error",
            "-interaction=nonstopmode",
            "-no-shell-escape",
            MAIN,
        ],
        cwd=directory,
        env=environment(epoch),
        capture_output=True,
        check=False,
    )
    log = directory / "main.log"
    text = log.read_text(encoding="utf-8", errors="replace") if log.is_file() else ""
    if result.returncode != 0:
        raise PaperError(f"{log}: compilation failed\n{first_error(text, result.stdout)}")
    report = read_log(text)
    if report.missing_characters:
        listed = "; ".join(report.missing_characters[:5])
        raise PaperError(
            f"{log}: {len(report.missing_characters)} character(s) without a glyph: {listed}. "
            "Add the character to scripts/publishing/latex.py or choose a font that has it."
        )
    if report.undefined:
        raise PaperError(f"{log}: undefined: {'; '.join(report.undefined[:10])}")
    return report


def first_error(log: str, output: bytes) -> str:
    """The first error of a log with its place, and a remedy where something is not installed.

    The end of the output where the log has none.
    """
    lines = log.splitlines()
    for number, line in enumerate(lines):
        if line.startswith("!"):
            place = next((at for at in lines[number + 1 : number + 12] if at.startswith("l.")), "")
            absent = _ABSENT.search(line)
            remedy = f"It is not installed; on Debian or Ubuntu: {INSTALL}" if absent else ""
            return "\n".join(part for part in (line, place, remedy) if part)
    return "\n".join(output.decode("utf-8", errors="replace").strip().splitlines()[-4:])


def read_log(text: str) -> LogReport:
    """Missing characters, undefined references and wide boxes of a XeLaTeX log."""
    missing = tuple(dict.fromkeys(re.findall(r"^Missing character: (.*)$", text, re.MULTILINE)))
    undefined = tuple(
        dict.fromkeys(
            re.findall(r"Warning: ((?:Reference|Citation) [`'].*? undefined)", text, re.DOTALL)
        )
    )
    wide = re.findall(r"^(Overfull \\[hv]box \((\d+(?:\.\d+)?)pt too .*)$", text, re.MULTILINE)
    overfull = tuple((float(size), line) for line, size in wide if float(size) > OVERFULL_LIMIT)
    return LogReport(missing, undefined, overfull)


def over_the_foot(pdf: Path) -> list[tuple[int, str]]:
    """What stands below the text block and is no page number: (page from 1, text), in order.

    TeX says nothing of it: a page that is too full is no box that is too wide.
    """
    import pymupdf  # noqa: PLC0415 - heavy, and only this needs it

    mupdf: Any = pymupdf  # has no types
    found = []
    with mupdf.open(pdf) as document:
        for number, page in enumerate(document, start=1):
            limit = page.rect.height - BOTTOM_MARGIN + TOLERANCE
            words = [word for word in page.get_text("words") if word[3] > limit]
            text = " ".join(str(word[4]) for word in words)
            if text not in ("", page.get_label() or str(number)):
                found.append((number, text))
    return found
