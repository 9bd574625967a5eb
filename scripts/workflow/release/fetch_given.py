"""Rule script: a file that a release gives, verified and put where the run expects it.

input: `file` (in the unpacked release); output: `file`; params: `sha256`.
"""

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scripts.execution import execute
from scripts.files import DataError, atomic_write, sha256_file

if TYPE_CHECKING:
    snakemake: Any


def main(snakemake: Any) -> None:
    """Copy the file; DataError where it is not the one that the release lists."""
    source = snakemake.input.file
    if sha256_file(source) != snakemake.params.sha256:
        raise DataError(f"{source}: not the file that was released; unpack the release again")
    with Path(source).open("rb") as data, atomic_write(snakemake.output.file, "wb") as handle:
        shutil.copyfileobj(data, handle)


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
