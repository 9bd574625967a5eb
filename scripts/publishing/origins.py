"""How a result was made: its rule, its checksum, and the checksums of what the rule read."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from scripts.files import sha256_file

# Digits of a checksum that are printed; the JSON has all 64.
PRINTED_DIGITS = 12


@cache
def checksum(path: str) -> str | None:
    """SHA-256 of a file in hexadecimal; None where there is none any more (a temporary file)."""
    return sha256_file(path) if Path(path).is_file() else None


class Ledger:
    """The origins of result files: `origins` maps a path to its `rule` and that rule's `inputs`.

    `known` may hold checksums of inputs that are not in this checkout (of a release's files).
    """

    def __init__(self, origins: Mapping[str, Mapping[str, Any]], results: Path | str) -> None:
        self._origins = origins
        self._results = Path(results)

    def made(self, file: str) -> dict[str, Any]:
        """`rule` (None where no rule makes it), `sha256` and `inputs` (path to SHA-256) of a file.

        `file` is relative to the results directory.
        """
        path = (self._results / file).as_posix()
        origin = self._origins.get(path, {})
        return {
            "rule": origin.get("rule"),
            "sha256": checksum(path),
            "inputs": {
                str(name): checksum(str(name)) or origin.get("known", {}).get(name)
                for name in origin.get("inputs", [])
            },
        }

    def inside(self, path: str) -> str:
        """A path relative to the results directory; one outside stays as it is."""
        prefix = f"{self._results.as_posix()}/"
        return path.removeprefix(prefix)
