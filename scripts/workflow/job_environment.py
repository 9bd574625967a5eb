"""What every job of a run finds in its environment: no param changes with it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from scripts.inference.spending import ENVIRONMENT, terms_text

SEARCH_PATH = "PYTHONPATH"


def find_package(folder: str) -> None:
    """Let jobs import the package by name, wherever Snakemake copies their scripts to.

    What the user's own search path names stays behind it.
    """
    own = [path for path in os.environ.get(SEARCH_PATH, "").split(os.pathsep) if path]
    os.environ[SEARCH_PATH] = os.pathsep.join(dict.fromkeys([folder, *own]))


def tell_terms(config: Mapping[str, Any]) -> None:
    """Hand the caps and prices of hosted models to the jobs."""
    os.environ[ENVIRONMENT] = terms_text(config)
