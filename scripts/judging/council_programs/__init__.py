"""Judges of the council that are programs: every module of this folder is one, under its name.

A module has `judge(case, answer) -> answers`: the votes of one seat, as `council_rubric.seat` makes
them.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scripts.files import DataError

if TYPE_CHECKING:
    from scripts.judging.council_rubric import Case

Program = Callable[["Case", str], dict[str, Any]]

_FOLDER = Path(__file__).parent
#: Names of the programs, sorted.
PROGRAMS: tuple[str, ...] = tuple(sorted(path.stem for path in _FOLDER.glob("[!_]*.py")))


def program_file(name: str) -> str:
    """The program's module as a path relative to the repository, for the code digest."""
    return f"{__name__.replace('.', '/')}/{name}.py"


def program(name: str) -> Program:
    """The function that judges; DataError for a module that has none."""
    judge = getattr(import_module(f"{__name__}.{name}"), "judge", None)
    if not callable(judge):
        raise DataError(f"{program_file(name)}: no function judge(case, answer); write one")
    found: Program = judge
    return found
