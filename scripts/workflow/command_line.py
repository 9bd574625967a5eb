"""Mistakes on the command line that Snakemake passes over in silence."""

from __future__ import annotations

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


def _asked(arguments: Sequence[str]) -> Iterator[str]:
    for position, argument in enumerate(arguments):
        option, separator, value = argument.partition("=")
        if option == OPTION:
            yield value if separator else "".join(arguments[position + 1 : position + 2])
