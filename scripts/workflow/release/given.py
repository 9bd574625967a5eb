"""What a release gives as files, because no archive of answers can make it again.

A benchmark names such a rule (`given` in its configuration.py) when its jobs need what a second
checkout does not have: weights, a tokeniser, an embedder, a corpus that is fetched and may not be
passed on, or a model that is asked in the course of other work and whose requests are no files.
Everything that hangs on their outputs is made again.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scripts.files import DataError, read_json
from scripts.workflow.benchmarks import found

FACTS = "release.json"
#: Files that are given, or made again, stand in this folder of a release as below the results.
FILES = "files"
#: Where corpora lie that are downloaded.
FETCHED = "data/raw/"


def given_rules(config: Mapping[str, Any]) -> list[str]:
    """Names of the rules whose outputs a release of this configuration gives."""
    rules: list[str] = []
    for name in config["run"]["benchmarks"]:
        section, benchmark = config[name], found()[name]
        sources = [config["corpora"][corpus] for _, corpus in benchmark.hook("corpora")(section)]
        fetched = any(str(source["path"]).startswith(FETCHED) for source in sources)
        rules += benchmark.hook("given")(section, fetched)
    return rules


def given_files(release: Path | str) -> tuple[dict[str, str], dict[str, Any]]:
    """What an unpacked release gives: (paths below the results with their SHA-256, origins).

    Origins map a path to the `rule` that made the file and its `inputs` with their SHA-256, of
    which this checkout may have none.
    """
    path = Path(release) / FACTS
    if not path.is_file():
        raise DataError(f"{path}: not there; run.release names a folder in which no release is")
    facts = read_json(path)
    return dict(facts["given"]), dict(facts["origins"])
