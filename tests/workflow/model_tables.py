"""The tables of a run that lists models, made here from its statistics, and what they leave out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml
from snakemake.utils import update_config

from scripts.multitempbench import artefacts as dates
from scripts.multitempbench import tables as date_tables
from scripts.multitempbench.configuration import sized
from scripts.publishing import captions, roster, shared_axis
from scripts.publishing.layout_files import read_frames
from scripts.publishing.tables import Table, to_frame
from scripts.syntaxbench import artefacts as letters
from scripts.syntaxbench import tables as letter_tables
from scripts.tide import artefacts as documents
from scripts.tide import tables as document_tables
from scripts.workflow.benchmarks import found
from tests.workflow.conftest import Project

#: Tables with a column of models in which a model need not stand, each with the reason. Tables of
#: single replies (an own rule makes them) are not among those that are made here.
NOT_IN = {
    ("multitempbench", "probes"): "only models whose hidden states are read (analyses.probing)",
    ("tide", "retrieval_by_model"): "only models that answer it (retrieval.ablation.models)",
}


def configuration(project: Project, overlay: str) -> dict[str, Any]:
    """The configuration of a project with an overlay."""
    config: dict[str, Any] = yaml.safe_load((project.root / "config.yaml").read_text())
    update_config(config, yaml.safe_load((project.root / overlay).read_text()))
    return config


def tables_of(project: Project, config: dict[str, Any]) -> dict[str, Table]:
    """Every table of the project's benchmark, by name, and those that benchmarks share."""
    name, folder = project.benchmark, str(project.root / "results" / project.benchmark)
    needed: dict[str, dict[str, str]]
    if name == "syntaxbench":
        params, build = captions.publication_params(config, name), letter_tables.build
        needed = {
            table: {stem: f"{folder}/statistics/{stem}.csv" for stem in stems}
            for table, stems in letters.TABLES.items()
        }
    elif name == "multitempbench":
        config[name]["languages"] = sized(config[name]["languages"])
        params, build = dates.context_params(config), date_tables.build
        pca = config[name]["analyses"]["pca"]
        needed = {table: dates.inputs("table", table, folder, pca) for table in dates.TABLES}
    else:
        params, build = documents.context_params(config), document_tables.build
        needed = {table: documents.inputs("table", table, folder) for table in documents.TABLES}
    context = captions.Context.from_params(params, name)
    made = {table: build(table, read_frames(files), context) for table, files in needed.items()}
    titles = {name: found()[name].title}
    listed = roster.roster_params(config, titles)
    axes = {name: found()[name].shared_axis or {}}
    frames = read_frames(shared_axis.inputs(str(Path(folder).parent), axes))
    made["shared_axis"] = shared_axis.build(listed["entries"], axes, frames)
    made["roster"] = roster.build(listed["entries"], listed["benchmarks"], titles)
    return made


def left_out(project: Project, overlay: str, name: str) -> tuple[set[str], set[str]]:
    """Tables with a column of models: those in which a model stands, and those in which not."""
    config = configuration(project, overlay)
    label = config["models"][name]["label"]
    inside, outside = set(), set()
    for table, made in tables_of(project, config).items():
        frame = to_frame(made).astype(str)
        columns = [c for c in frame if c in ("model", "model_a", "model_b")]
        if columns:
            # A table of pairs numbers its models.
            here = any(frame[c].str.contains(label, regex=False).any() for c in columns)
            (inside if here else outside).add(table)
    return inside, outside


def assert_in_every_table(project: Project, overlay: str, name: str, at_least: int) -> None:
    """A model stands in every table that lists models, but for those of NOT_IN."""
    inside, outside = left_out(project, overlay, name)
    excepted = {table for benchmark, table in NOT_IN if benchmark == project.benchmark}
    assert outside <= excepted, f"not in {sorted(outside - excepted)}"
    assert len(inside) >= at_least and {"roster", "shared_axis"} <= inside, sorted(inside)
