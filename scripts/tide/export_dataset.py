"""Rule script: placeholder until the layouts are there."""

from typing import Any

from scripts.execution import execute


def main(snakemake: Any) -> None:
    """Not yet."""
    raise NotImplementedError


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
