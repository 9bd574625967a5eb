"""A finished run as one archive, and its replay elsewhere. docs/release.md.

    python -m scripts.workflow.release build [--configfile FILE …] [--output FILE]
    python -m scripts.workflow.release verify RELEASE
    python -m scripts.workflow.release unpack RELEASE
    python -m scripts.workflow.release compare --configfile FILE …

`unpack` prints the configuration of the replay, for `make paper CONFIG=…`; `compare` ends with
status 1 where the replay is not the run that was released.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from scripts.files import DataError
from scripts.workflow.check import load
from scripts.workflow.config_files import ConfigurationError
from scripts.workflow.release import building, package


def _build(chosen: argparse.Namespace) -> int:
    config = load(chosen.configfile)
    output = Path(chosen.output or f"{config['run']['results']}/release.tar.gz")
    facts = building.build(config, chosen.configfile, output)
    again = len(facts["remade"]) + len(facts["answers"])
    print(
        f"{output}: {output.stat().st_size:,} bytes; a replay makes {again} files again and takes "
        f"{len(facts['given'])} as they are given"
    )
    if facts["modified"]:
        print("note: this checkout has changes that are in no commit; nobody can check them out")
    return 0


def _verify(chosen: argparse.Namespace) -> int:
    facts = package.check(Path(chosen.release))
    print(f"{chosen.release}: whole; version {facts['version']}, commit {facts['commit']}")
    return 0


def _unpack(chosen: argparse.Namespace) -> int:
    overlays, warnings = building.prepare(Path(chosen.release))
    for warning in warnings:
        print(f"warning: {warning}", file=sys.stderr)
    config = load(overlays)
    building.refuse_elsewhere(config, overlays)
    building.refuse_foreign(config, overlays)
    print(" ".join(overlays))
    return 0


def _compare(chosen: argparse.Namespace) -> int:
    config = load(chosen.configfile)
    if "release" not in config["run"]:
        raise DataError("this configuration replays no release; name the files that unpack printed")
    found = list(building.differences(config))
    for sentence in found:
        print(f"differs: {sentence}", file=sys.stderr)
    if not found:
        print("The replay is the run that was released: every file has the same bytes.")
    return 1 if found else 0


def main(arguments: list[str] | None = None) -> int:
    """Run one command; 1 with a message where it cannot be done."""
    parser = argparse.ArgumentParser(
        prog="python -m scripts.workflow.release",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, action, configured in (
        ("build", _build, True),
        ("verify", _verify, False),
        ("unpack", _unpack, False),
        ("compare", _compare, True),
    ):
        command = commands.add_parser(name)
        command.set_defaults(action=action)
        if configured:
            command.add_argument("--configfile", nargs="*", default=[], metavar="FILE")
        else:
            command.add_argument("release", metavar="RELEASE")
        if name == "build":
            command.add_argument("--output", metavar="FILE")
    chosen = parser.parse_args(arguments)
    try:
        done: int = chosen.action(chosen)
    except (ConfigurationError, DataError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return done


if __name__ == "__main__":
    sys.exit(main())
