"""The table of all models of the run: one roster for every benchmark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scripts.inference.interface import origin
from scripts.publishing.captions import MODE_LABELS
from scripts.publishing.tables import Cell, Column, Row, Table

BASELINE = "baseline"
ENTRY_KEYS = ("label", "backend", "source", "revision", "precision", "modes")


def roster_params(config: Mapping[str, Any], titles: Mapping[str, str]) -> dict[str, Any]:
    """The part of the configuration that the table reads, and nothing else.

    `titles` has the title of every benchmark of the run. Models in the order of
    the benchmarks' lists, each once; baselines last.
    """
    benchmarks = list(config["run"]["benchmarks"])
    groups = [config[name][group] for group in ("models", "baselines") for name in benchmarks]
    names = list(dict.fromkeys(name for group in groups for name in group))
    return {
        "entries": [
            {
                "name": name,
                **{key: config["models"][name].get(key) for key in ENTRY_KEYS},
                "backend": origin(config["models"][name]),
                "benchmarks": [
                    b for b in benchmarks if name in [*config[b]["models"], *config[b]["baselines"]]
                ],
            }
            for name in names
        ],
        "benchmarks": benchmarks,
        "titles": {name: titles[name] for name in benchmarks},
    }


def build(
    entries: Sequence[Mapping[str, Any]], benchmarks: Sequence[str], titles: Mapping[str, str]
) -> Table:
    """One row a model: what it is, how it is served, and which benchmarks it answers."""
    columns = (
        Column("source", "Source and revision", align="l"),
        Column("precision", "Precision", align="l"),
        Column("backend", "Backend", align="l"),
        Column("modes", "Modes", align="l"),
        *(Column(name, titles[name]) for name in benchmarks),
    )
    return Table(
        "roster",
        "Models of this run and the benchmarks that they answer. Baselines need no weights.",
        ("Model",),
        columns,
        tuple(_row(entry, benchmarks) for entry in entries),
        size="scriptsize",
    )


def _row(entry: Mapping[str, Any], benchmarks: Sequence[str]) -> Row:
    baseline = entry["backend"] == BASELINE
    source = str(entry["source"]) + (f" ({entry['revision']})" if entry.get("revision") else "")
    modes = ", ".join(MODE_LABELS[mode] for mode in entry["modes"])
    answered = [name in entry["benchmarks"] for name in benchmarks]
    texts = ["" if baseline else source, str(entry.get("precision") or ""), entry["backend"]]
    cells = [Cell(text, text) for text in [*texts, "" if baseline else modes]]
    cells += [Cell(yes, "yes" if yes else "no") for yes in answered]
    block = "Baselines" if baseline else "Models"
    return Row((str(entry["label"]),), tuple(cells), block, baseline)
