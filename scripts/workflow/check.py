"""Say before a run whether the configuration is right and what the run needs is there.

Run it as `python -m scripts.workflow.check [--configfile FILE …]`.

The configuration is read as Snakemake would read it, but its messages name file and line where
Snakemake's do not. Then: keys of hosted models, folders of local ones, raw corpora that are not
fetched, TeX, room on the disk and the right to write. Exit status 1 when the configuration is
wrong or something is missing; `--configuration` looks at the configuration alone, `--results` does
too and prints the folder of its results.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from snakemake.utils import update_config

from scripts.inference.api_keys import ApiKeyError, find_key
from scripts.inference.model_folders import ModelFolderError, check_settings, check_weights
from scripts.inference.spending import is_local
from scripts.publishing.paper import PaperError, require_tex
from scripts.workflow.benchmarks import default_files
from scripts.workflow.config_files import ConfigurationError, read_config
from scripts.workflow.configuration import check_configuration, leave_out
from scripts.workflow.consistency import corpora_of_run, embedders_of_run, models_of_run

BASE = "config.yaml"
#: Free bytes below which a run is likely to end with a full disk.
ROOM = 5_000_000_000


def load(overlays: list[str]) -> dict[str, Any]:
    """The checked configuration; ConfigurationError lists every problem with file and line."""
    config: dict[str, Any] = {}
    sources: dict[str, Path | Mapping[str, Any]] = {}
    for file in (*default_files(), BASE, *overlays):
        update_config(config, read_config(Path(file)))
        sources[file] = Path(file)
    leave_out(config)
    check_configuration(config, sources=sources)
    return config


def missing(config: Mapping[str, Any]) -> Iterator[str]:
    """One sentence for everything that the run needs and that is not here."""
    for group, names in (
        ("models", models_of_run(config)),
        ("embedders", embedders_of_run(config)),
    ):
        for name in names:
            yield from _missing_of(f"{group}.{name}", config[group][name])
    for name in corpora_of_run(config):
        entry = config["corpora"][name]
        fetched = "url" in entry or "mediawiki" in entry
        if not fetched and not Path(entry["path"]).is_file():
            yield f"corpora.{name}: {entry['path']} is not there and is not fetched; put it there"
    try:
        require_tex()
    except PaperError as error:
        yield f"TeX: {error} (everything but paper.pdf is built without it)"
    yield from _folder_problems(Path(config["run"]["results"]))


def _missing_of(where: str, entry: Mapping[str, Any]) -> Iterator[str]:
    if entry["backend"] == "openai":
        address = str(entry.get("base_url") or "")
        try:
            find_key(
                entry.get("api_key_environment"),
                entry.get("api_key_file"),
                local=is_local(address),
                address=address,
            )
        except ApiKeyError as error:
            yield f"{where}: {error}"
        return
    folder = Path(entry["source"])
    if entry["backend"] in ("vllm", "transformers") and folder.is_dir():
        try:
            check_settings(folder)
            check_weights(folder)
        except ModelFolderError as error:
            yield f"{where}: {error}; download it again"
    elif entry["source"].startswith(("/", "./", "../", "~")) and not folder.exists():
        yield f"{where}.source: no folder {entry['source']}; correct the path"


def _folder_problems(results: Path) -> Iterator[str]:
    """What stands against writing: no right to, or no room."""
    for folder, purpose in ((results, "results"), (Path(tempfile.gettempdir()), "temporary files")):
        there = next(path for path in (folder, *folder.resolve().parents) if path.exists())
        if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
            yield f"{folder}: cannot be written ({purpose}); change its owner or mode"
            continue
        free = shutil.disk_usage(there).free
        if free < ROOM:
            yield (
                f"{folder}: {free / 1e9:.1f} GB free for {purpose}, less than "
                f"{ROOM / 1e9:.0f} GB; make room"
            )


def main(arguments: list[str] | None = None) -> int:
    """Print what is wrong or missing; 0 when nothing is."""
    parser = argparse.ArgumentParser(prog="python -m scripts.workflow.check", description=__doc__)
    parser.add_argument("--configfile", nargs="*", default=[], metavar="FILE", help="overlays")
    parser.add_argument("--configuration", action="store_true", help="nothing else")
    parser.add_argument("--results", action="store_true", help="print their folder, nothing else")
    chosen = parser.parse_args(arguments)
    try:
        config = load(chosen.configfile)
    except ConfigurationError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    if chosen.results:
        print(config["run"]["results"])
    if chosen.configuration or chosen.results:
        return 0
    found = list(missing(config))
    for sentence in found:
        print(f"missing: {sentence}", file=sys.stderr)
    if not found:
        print("The configuration is right, and what the run needs is here.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
