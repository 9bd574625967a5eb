"""Measured against published: what is compared, how it prints, and why something is missing."""

from __future__ import annotations

from pathlib import Path

from scripts import files
from scripts.publishing import reproduction
from scripts.publishing.published_names import read_names

ROOT = Path(__file__).parents[2]
PUBLISHED = ROOT / "data" / "published"
DECLARATIONS = sorted((ROOT / "paper" / "reproduction").glob("*.yaml"))


def test_every_published_file_is_declared_once() -> None:
    for path in DECLARATIONS:
        declaration = reproduction.read_declaration(path)
        declared = [entry["published"] for entry in declaration["files"]]
        there = sorted(file.name for file in PUBLISHED.glob(f"{path.stem}_*.csv"))
        assert sorted(declared) == there


def test_names_of_models_are_in_the_roster() -> None:
    roster = files.read_yaml(ROOT / "config.yaml")["models"]
    for path in DECLARATIONS:
        if "models" in (declaration := reproduction.read_declaration(path)):
            names = read_names(ROOT / declaration["models"])
            assert {name for name in names.values() if name} <= set(roster)
