"""Mistakes of a call that Snakemake passes over in silence, or tells with a traceback."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from scripts.workflow.config_files import ConfigurationError

PROFILES = Path("profiles")
OPTION = "--workflow-profile"


def check_profile(arguments: Sequence[str]) -> None:
    """Raise ConfigurationError when the profile of the workflow that was asked for is not there.

    Snakemake would run without any profile then: on the login node instead of the cluster's nodes,
    and with other triggers of what is built again.
    """
    for name in _asked(arguments):
        found = any((Path(name) / file).is_file() for file in ("config.yaml", "profile.yaml"))
        if name != "none" and not found and not Path(name).is_file():
            there = ", ".join(sorted(str(path.parent) for path in PROFILES.glob("*/config.yaml")))
            raise ConfigurationError(
                [f"{OPTION} {name}: no profile there (no config.yaml); there are: {there}"]
            )


def check_results(folder: Path | str, *, writing: bool) -> None:
    """Raise ConfigurationError when results cannot stand in this folder.

    `writing`: whether they are about to be written; a plan may be made where one only reads.
    """
    folder = Path(folder)
    there = next(path for path in (folder, *folder.absolute().parents) if os.path.lexists(path))
    if not there.is_dir():
        kind = "a link to nowhere" if there.is_symlink() else "a file"
        raise ConfigurationError([f"run.results: {there} is {kind}, not a folder; move it away"])
    if writing and not os.access(there, os.W_OK | os.X_OK):
        raise ConfigurationError(
            [f"run.results: {there} cannot be written; change its owner or mode, or the disk's"]
        )


def _asked(arguments: Sequence[str]) -> Iterator[str]:
    for position, argument in enumerate(arguments):
        option, separator, value = argument.partition("=")
        if option == OPTION:
            yield value if separator else "".join(arguments[position + 1 : position + 2])
