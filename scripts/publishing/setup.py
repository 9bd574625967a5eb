"""What the paper must know about the run before its first word: `setup.tex`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath

from scripts.publishing.latex import escape_prose, macro_name, new_command

#: The folder of the paper's own sources, which become the build directory.
SOURCES = "paper"
#: Title and text of the box on the first page, by kind of run.
RUN_BOX = {
    "full": (
        "Full run",
        "This document was built from the configured full matrix of models.",
    ),
    "embedded": (
        "Embedded run",
        "This document was built from small models that run without a GPU, on a small number of "
        "items. It shows that the pipeline works from corpus to page. It is not the result of the "
        "published paper, and no statement about the published models follows from it.",
    ),
    "replay": (
        "Replay",
        "This document was built from item vectors that were simulated so that their margins "
        "equal the published ones. It checks the statistics and the layout. It is not a new "
        "measurement; values that the margins do not determine differ from the published ones.",
    ),
}


def place(source: str) -> str:
    """Where a source stands in the build directory, seen from there.

    A file of the paper's folder stands where it stands in the folder; another one keeps its path.
    """
    path = PurePosixPath(source)
    return str(path.relative_to(SOURCES) if path.is_relative_to(SOURCES) else path)


def setup_latex(
    kind: str,
    benchmarks: Mapping[str, bool],
    parts: Mapping[str, Iterable[str]],
    *,
    shared_axis: bool = True,
    results: str = "../..",
) -> str:
    r"""The file `setup.tex`: where the results are, what the run is, and whose parts it has.

    `benchmarks` says of every benchmark of the project whether the run has it, `parts` the files of
    each piece of the paper in order, and `results` is the results directory as seen from the build
    directory. Defines `\ResultsDir`, `\RunTitle`, `\RunText`, `\benchmarkparts{section}` (reads the
    files of a piece), one conditional per benchmark (`\iftide` …), `\ifsharedaxis`, `\ifembedded`,
    `\ifreplay` and `\iffullrun`.
    """
    title, text = RUN_BOX[kind]
    states = {
        **benchmarks,
        "sharedaxis": shared_axis,
        "embedded": kind == "embedded",
        "replay": kind == "replay",
        "fullrun": kind == "full",
    }
    lines = ["% Written by the workflow; do not edit.", new_command("ResultsDir", results)]
    lines += [new_command("RunTitle", escape_prose(title))]
    lines += [new_command("RunText", escape_prose(text))]
    # A piece that no benchmark of the run has is \relax, which does nothing.
    lines += [r"\newcommand{\benchmarkparts}[1]{\csname benchmarkparts@#1\endcsname}"]
    for part, sources in parts.items():
        body = "".join(rf"\input{{{place(path).removesuffix('.tex')}}}" for path in sources)
        lines += [rf"\expandafter\def\csname benchmarkparts@{part}\endcsname{{{body}}}"]
    for name, state in states.items():
        lines += [rf"\newif\if{macro_name(name)}", rf"\{name}{'true' if state else 'false'}"]
    return "\n".join(lines) + "\n"
