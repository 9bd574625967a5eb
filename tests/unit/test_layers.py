"""Imports point one way; rule scripts are verbs and library modules know nothing of Snakemake."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from scripts.workflow.benchmarks import SHARED_ROOMS, found
from scripts.workflow.digest import ROOT, _imported_modules

# From the top floor down; a module may import its own floor and the floors below it.
FLOORS = [
    set(found()),
    {"publishing"},
    {"documents", "judging", "probing", "retrieval"},
    {"statistics", "tokenisation"},
    {"inference"},
    {"corpora"},
    {"dates"},
    {"execution"},
    {"machine"},
    {"files"},
    {"records"},
]
MODULES = sorted((ROOT / "scripts").rglob("*.py"))
RULE_SCRIPT_VERBS = {
    "analyse", "build", "calibrate", "cluster", "collect", "compare", "compile", "compute",
    "curate", "embed", "export", "extract", "fetch", "find", "fit", "gather", "generate",
    "judge", "make", "measure", "parse", "propose", "retrieve", "run", "score", "tokenise",
    "translate",
    "verify",
}  # fmt: skip


def room(path: Path) -> str:
    parts = path.relative_to(ROOT / "scripts").parts
    return parts[0] if len(parts) > 1 else Path(parts[0]).stem


def floor(name: str) -> int | None:
    return next((i for i, rooms in enumerate(FLOORS) if name in rooms), None)


def is_rule_script(path: Path) -> bool:
    return '"snakemake" in globals()' in path.read_text()


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_point_down(path: Path) -> None:
    own = floor(room(path))
    if own is None:
        assert room(path) in ("workflow", "__init__"), f"{path} is on no floor"
        return
    for name in _imported_modules(path, ROOT):
        parts = name.split(".")
        if parts[0] == "scripts" and len(parts) > 1:
            target = floor(parts[1])
            assert target is None or target >= own, f"{path} imports {name} from a floor above"
            if (own, path.name) != (0, "configuration.py"):
                assert parts[1] != "workflow", f"{path} imports the workflow's helpers"


def test_no_shared_room_can_be_the_name_of_a_benchmark() -> None:
    assert set().union(*FLOORS[1:]) | {"workflow"} == set(SHARED_ROOMS)


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(ROOT)))
def test_rule_scripts_are_verbs(path: Path) -> None:
    if is_rule_script(path):
        verb = path.stem.split("_")[0]
        assert verb in RULE_SCRIPT_VERBS, f"{path.name} is a rule script but its name is no verb"
    else:
        names = {n.id for n in ast.walk(ast.parse(path.read_bytes())) if isinstance(n, ast.Name)}
        workflow = room(path) == "workflow"
        assert workflow or "snakemake" not in names, f"{path.name} knows of Snakemake"


def test_every_benchmark_stands_alone() -> None:
    benchmarks = FLOORS[0]
    for path in MODULES:
        if room(path) in benchmarks:
            imported = {
                n.split(".")[1] for n in _imported_modules(path, ROOT) if n.startswith("scripts.")
            }
            assert not imported & (benchmarks - {room(path)})
