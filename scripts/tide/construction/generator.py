"""The model that builds the benchmark: its settings checked, and how it is decoded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from scripts.files import DataError
from scripts.inference.open_model import Ask, OpenModel, open_model

__all__ = ["BENCHMARK", "GREEDY", "SETTINGS", "Ask", "OpenModel", "open_generator"]

BENCHMARK = "tide"
#: Keys of the settings of a generator.
SETTINGS = ("name", "entry", "mode", "max_new_tokens", "store")
#: How every construction step is decoded.
GREEDY = {"temperature": 0.0, "top_p": 1.0, "repetition_penalty": 1.0}


@contextmanager
def open_generator(settings: Mapping[str, Any] | None, path: str | None) -> Iterator[OpenModel]:
    """The generator of a rule's params (`SETTINGS`); its backend is closed at the end.

    `path` is the folder or file that the workflow prepared for the model, if any.
    """
    missing = [key for key in SETTINGS if key not in (settings or {})]
    if settings is None or missing:
        raise DataError(
            f"tide.construction.generator: {', '.join(missing)} missing; name a model of the "
            "roster, or set the method to shipped"
        )
    chosen = {key: settings[key] for key in ("mode", "max_new_tokens", "store")}
    with open_model(settings["name"], settings["entry"], path, **chosen) as model:
        yield model
