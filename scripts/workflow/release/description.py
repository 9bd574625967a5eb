"""What a release says of itself: its README with the licences, and its Croissant record."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath
from string import Template
from typing import Any

from scripts.publishing import croissant
from scripts.publishing.croissant import Column, Table
from scripts.workflow.consistency import corpora_of_run, models_of_run
from scripts.workflow.release.configuration import RESPONSES
from scripts.workflow.release.given import FILES
from scripts.workflow.release.package import Content, checksum

TITLE = "Tokens & Time"
UNKNOWN = "unknown"
README = Path(__file__).with_name("readme.md")
_ITEM = tuple(Column(name) for name in ("item_id", "benchmark", "task"))
_RESPONSE = tuple(
    Column(name)
    for name in (
        *("request_id", "item_id", "model", "mode", "text", "finish_reason"),
        *("backend", "backend_version"),
    )
)
_SCORE = (
    *(Column(n) for n in ("item_id", "request_id", "model", "mode", "task", "category", "route")),
    *(Column(name, "boolean") for name in ("valid", "correct")),
)


def licence_of(name: str, config: Mapping[str, Any]) -> str:
    """The licence of a model of the roster as the configuration states it, else `unknown`."""
    entry = config["models"][name]
    embedded = config["embedded_models"].get(entry["source"].removeprefix("embedded:"), {})
    return str(entry.get("licence") or embedded.get("licence") or UNKNOWN)


def _models(config: Mapping[str, Any]) -> list[str]:
    return [n for n in models_of_run(config) if config["models"][n]["backend"] != "baseline"]


def tables(members: Iterable[str]) -> list[Table]:
    """The tables of the Croissant record: items, responses and scores of every benchmark."""
    found = []
    for name in sorted(members):
        path = PurePosixPath(name)
        key = re.sub(r"[^a-z0-9]+", "-", name.removeprefix(f"{FILES}/").lower()).strip("-")
        if path.parts[0] == RESPONSES:
            found.append(Table(key, f"Responses of {path.stem}.", _RESPONSE, name))
        elif path.parts[0] == FILES and path.parts[2:-1] == ("items",):
            found.append(Table(key, f"Items of {path.parts[1]}, {path.stem}.", _ITEM, name))
        elif path.parts[0] == FILES and path.parts[2:] == ("scores.parquet",):
            found.append(Table(key, f"Scores of {path.parts[1]}.", _SCORE, name))
    return found


def record(
    facts: Mapping[str, Any], config: Mapping[str, Any], members: Mapping[str, Content]
) -> dict[str, Any]:
    """The Croissant record of a release's items, responses and scores; empty files are left out."""
    summed = {}
    for table in tables(members):
        content = members[table.file]
        size = len(content) if isinstance(content, bytes) else content.stat().st_size
        if size:
            summed[table.file] = (size, checksum(content))
    corpora = [config["corpora"][name] for name in corpora_of_run(config)]
    licences = {"MIT", *(str(entry["licence"]) for entry in corpora)}
    data_set = croissant.DataSet(
        name=str(facts["name"]),
        description=(
            f"Items, responses and scores of a run of {TITLE} ({facts['kind']}). Responses are "
            "under the licences of the models, which README.md lists."
        ),
        version=str(facts["version"]),
        licences=sorted({*licences, *(licence_of(name, config) for name in _models(config))}),
        languages=["en", "ar", "bn", "de", "ha", "zh"],
    )
    return croissant.record_of(data_set, tables(members), summed)


def _cell(text: object) -> str:
    """A text as one cell of a Markdown table."""
    return re.sub(r"([|\\`<>*_\[\]])", r"\\\1", " ".join(str(text).split()))


def _table(head: tuple[str, ...], rows: Iterable[tuple[object, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *(tuple(map(_cell, row)) for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def readme(facts: Mapping[str, Any], config: Mapping[str, Any]) -> str:
    """README.md of a release: how to replay it, what is in it, and under which licences."""
    roster = config["models"]
    models = [
        (roster[name]["label"], roster[name]["source"], licence_of(name, config))
        for name in _models(config)
    ]
    corpora = [config["corpora"][name] for name in corpora_of_run(config)]
    sources = [(entry["label"], entry["licence"], entry["attribution"]) for entry in corpora]
    return Template(README.read_text(encoding="utf-8")).substitute(
        title=TITLE,
        version=facts["version"],
        kind=facts["kind"],
        benchmarks=", ".join(facts["benchmarks"]),
        commit=facts["commit"] or UNKNOWN,
        changed=", with changes that are in no commit" if facts["modified"] else "",
        tex=facts["tex"] or "no TeX",
        epoch=facts["epoch"],
        again=len(facts["remade"]) + len(facts["answers"]),
        given=len(facts["given"]),
        folders=_folders(facts["given"]),
        models=_table(("model", "source", "licence"), models),
        sources=_table(("source", "licence", "attribution"), sources),
    )


def _folders(paths: Iterable[str]) -> str:
    """How many files are given, by their folder."""
    counts: dict[str, int] = {}
    for path in paths:
        folder = str(PurePosixPath(path).parent)
        counts[folder] = counts.get(folder, 0) + 1
    return _table(("folder", "files"), sorted(counts.items())) if counts else "None."
