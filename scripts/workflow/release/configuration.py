"""The configuration of a release: as it was run, and the overlay that replays it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from scripts.inference.interface import origin
from scripts.workflow.check import BASE
from scripts.workflow.config_files import read_config

FOLDER = "configuration"
REPLAY = f"{FOLDER}/replay.yaml"
RESPONSES = "responses"
#: What stands in place of a server that only the people of the run can name.
LEFT_OUT = "https://left-out.invalid"
# Keys of an overlay that say where somebody keeps a secret; a replay asks nobody.
_PRIVATE = frozenset({"api_key_environment", "api_key_file"})


def release_folder(config: Mapping[str, Any]) -> str:
    """Where a release of this configuration is unpacked."""
    return f"{config['run']['results']}/release"


def members(overlays: list[str]) -> dict[str, bytes]:
    """The files of the configuration by name, in the order in which they are read.

    Overlays are written anew: without comments, and without servers and places of keys of their
    own. config.yaml is as it is in the repository.
    """
    base = Path(BASE).read_bytes()
    out = {f"{FOLDER}/{BASE}": base}
    public = base.decode("utf-8")
    for number, overlay in enumerate(overlays, start=1):
        content = yaml.safe_dump(
            without_private(read_config(Path(overlay)), public), sort_keys=False
        )
        out[f"{FOLDER}/{number}-{Path(overlay).name}"] = content.encode()
    return out


def without_private(value: Any, public: str) -> Any:
    """A part of the configuration without what belongs to the people who ran it."""
    if isinstance(value, Mapping):
        kept = {key: entry for key, entry in value.items() if key not in _PRIVATE}
        return {
            key: LEFT_OUT
            if key in ("base_url", "server") and str(entry) not in public
            else without_private(entry, public)
            for key, entry in kept.items()
        }
    if isinstance(value, list):
        return [without_private(entry, public) for entry in value]
    return value


def replay(config: Mapping[str, Any], asked: Iterable[str]) -> bytes:
    """The overlay in which every model that was asked is an archive of its answers."""
    folder = release_folder(config)
    overlay = {
        "run": {"release": folder},
        "models": {
            name: {
                "backend": "archive",
                "archive": f"{folder}/{RESPONSES}/{{model}}.{{mode}}.jsonl",
                "archived": {"backend": origin(config["models"][name])},
            }
            for name in sorted(set(asked))
        },
    }
    return yaml.safe_dump(overlay, sort_keys=False).encode()
