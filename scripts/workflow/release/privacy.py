"""What a release must not tell: who ran it, on which machine, in which folders, and keys."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from scripts.files import DataError
from scripts.workflow.pasted_keys import without_keys
from scripts.workflow.release.configuration import without_private
from scripts.workflow.release.package import Content

#: What a run manifest tells in a release. Left out besides: times of day, memory, what was spent.
KEPT = (
    *("backend", "benchmark", "chunks", "config_sha256", "corpus", "embedder", "identity"),
    *("max_new_tokens", "mode", "model", "packages", "requests", "token_limit", "tokens"),
)
_OF_THE_HOST = ("cores", "gpus", "processor", "python")
_OF_THE_BACKEND = ("device", "kernels", "rendering", "threads")
_TEXTS = frozenset({".csv", ".html", ".json", ".jsonl", ".md", ".tex", ".yaml", ".lock", ".txt"})
# Texts of models: what stands there is no fact about whoever ran it.
_OF_MODELS = re.compile(r"(^|/)(responses|judgements|requests|dataset)/|/tables/examples|/explan")
# Shorter names of machines are words of a language.
_SHORTEST_HOST = 5


def public_manifest(facts: Mapping[str, Any], public: str) -> dict[str, Any]:
    """A run manifest without the name of the host, times of day, addresses and money.

    `public` is the text of config.yaml: a server that it names may be named.
    """
    kept = {key: facts[key] for key in KEPT if key in facts}
    for key in ("model", "embedder"):
        if key in kept:
            kept[key] = {name: value for name, value in kept[key].items() if name != "options"}
    for key, names in (("host", _OF_THE_HOST), ("facts", _OF_THE_BACKEND)):
        kept[key] = {name: facts[key][name] for name in names if name in facts.get(key, {})}
    kept["started"] = str(facts.get("started", ""))[: len("2026-01-31")]
    kept["commit"] = (facts.get("git") or {}).get("commit")
    found: dict[str, Any] = without_private(kept, public)
    return found


def own_names() -> dict[str, str]:
    """Texts that tell of this machine and its user, with what each is."""
    host, home = socket.gethostname(), str(Path.home())
    names = {str(Path.cwd()): "the folder of this checkout"}
    if len(host) >= _SHORTEST_HOST and host != "localhost":
        names[host] = "the name of this machine"
    if len(PurePosixPath(home).parts) > 1:
        names[home + os.sep] = "the home folder of a user"
    return names


def refuse_private(members: Mapping[str, Content], names: Mapping[str, str]) -> None:
    """Raise DataError for the first member that holds one of the names, or an API key."""
    for member, line, what in _found(members, names):
        raise DataError(
            f"{member}, line {line}: {what} stands there, which a release must not hold; take it "
            "out of the configuration and run again"
        )


def _found(
    members: Mapping[str, Content], names: Mapping[str, str]
) -> Iterator[tuple[str, int, str]]:
    whole = {
        re.compile(rf"(?<![\w.-]){re.escape(name)}(?![\w-])" if name[-1].isalnum() else
                   re.escape(name)): what
        for name, what in names.items()
    }  # fmt: skip
    for member in sorted(members):
        if PurePosixPath(member).suffix not in _TEXTS or _OF_MODELS.search(member):
            continue
        content = members[member]
        data = content.read_bytes() if isinstance(content, Path) else content
        text = data.decode("utf-8", errors="replace")
        for pattern, what in whole.items():
            if match := pattern.search(text):
                yield member, text.count("\n", 0, match.start()) + 1, what
        clean = without_keys(text)
        if clean != text:
            pairs = zip(text.splitlines(), clean.splitlines(), strict=False)
            line = next((n for n, (a, b) in enumerate(pairs, start=1) if a != b), 1)
            yield member, line, "an API key"
