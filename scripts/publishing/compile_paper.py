"""Rule script: the paper as PDF.

input: `sources` (the files of one directory, main.tex among them), `parts` (sources that lie
elsewhere), `numbers`, `setup`, `claims` and all that the paper includes; output: `pdf`. The build
directory stands beside the output and keeps TeX's log; the rule's log lists the boxes that are too
wide.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from scripts import files
from scripts.execution import execute
from scripts.publishing import paper

if TYPE_CHECKING:
    snakemake: Any


def main(snakemake: Any) -> None:
    """Compile, report wide boxes, put the PDF in its place."""
    output = Path(snakemake.output.pdf)
    directory = output.parent / "build"
    sources = [Path(path) for path in snakemake.input.sources if Path(path).name == paper.MAIN]
    if len(sources) != 1:
        raise paper.PaperError(f"expected one {paper.MAIN} among the sources, found {len(sources)}")
    generated = [Path(getattr(snakemake.input, name)) for name in ("numbers", "setup", "claims")]
    parts = [Path(path) for path in snakemake.input.parts]
    report = paper.build(sources[0].parent, generated, directory, further=parts)
    for size, message in report.overfull:
        print(f"{size:g} pt: {message}")
    for page, text in paper.over_the_foot(directory / "main.pdf"):
        print(f"page {page} runs over its foot: {text}")
    with files.atomic_write(output, "wb") as handle:
        handle.write((directory / "main.pdf").read_bytes())


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
