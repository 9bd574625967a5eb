"""Rule script: the paper as PDF.

input: `main` (paper/main.tex), `numbers`, `setup` and everything that the paper includes; output:
`pdf`; params: `epoch` (seconds since 1970 that the PDF bears as its date). The build directory
stands beside the output and keeps the log. A log file of the rule gets the list of wide boxes.
"""

import shutil
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
    report = paper.build(
        Path(snakemake.input.main).parent,
        [Path(snakemake.input.numbers), Path(snakemake.input.setup)],
        directory,
        int(snakemake.params.epoch),
    )
    lines = [f"{size:g} pt: {message}" for size, message in report.overfull]
    if snakemake.log:
        files.write_text(snakemake.log[0], "".join(f"{line}\n" for line in lines))
    shutil.copyfile(directory / "main.pdf", output)


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
