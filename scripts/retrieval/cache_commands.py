"""Commands for kept vectors: `python -m scripts.retrieval.cache_commands verify|repair FILE…`.

`verify` counts the whole vectors of a `.vectors` file and the damaged stretches between them; the
exit status is 1 where a run would refuse the file. `repair` moves damaged bytes to
`<name>.rejected` and keeps every whole vector, so that only the others are computed again.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from scripts.files import atomic_write
from scripts.machine.locks import Lock, LockError, beside
from scripts.retrieval.cache import MAGIC, read_record, written_length


def stretches(data: bytes) -> Iterator[tuple[int, int, str]]:
    """(start, stop, kind) of everything behind the mark at the beginning, in order.

    The kind is "whole" for a record, "damaged" for bytes that are none, "cut" for what a crash left
    at the end.
    """
    place, written, lost = len(MAGIC), written_length(data), None
    while place < len(data):
        try:
            found = read_record(data, place, written)
        except ValueError:
            # The next record begins where a head fits its checksum again.
            lost = place if lost is None else lost
            place += 1
            continue
        if lost is not None:
            yield lost, place, "damaged"
            lost = None
        if found is None:
            yield place, len(data), "cut"
            return
        yield place, found[2], "whole"
        place = found[2]
    if lost is not None:
        yield lost, len(data), "damaged"


def examine(path: Path, repair: bool) -> bool:
    """Print what the file holds, mend it if asked; True when a run takes it as it then is."""
    data = path.read_bytes()
    if not data.startswith(MAGIC):
        print(f"{path}: no file of kept vectors; move it away", file=sys.stderr)
        return False
    found = list(stretches(data))
    bad = [(start, stop) for start, stop, kind in found if kind == "damaged"]
    whole = sum(kind == "whole" for _, _, kind in found)
    cut = sum(stop - start for start, stop, kind in found if kind == "cut")
    print(f"{path}: {whole} vectors, {len(bad)} damaged stretches, {cut} bytes cut at the end")
    for start, stop in bad:
        print(f"  bytes {start} to {stop}: no whole vector")
    if bad and repair:
        aside = path.with_name(path.name + ".rejected")
        with aside.open("ab") as rejected, atomic_write(path, "wb") as kept:
            kept.write(MAGIC)
            for start, stop, kind in found:
                (kept if kind == "whole" else rejected).write(data[start:stop])
            rejected.flush()
            os.fsync(rejected.fileno())
        print(f"  moved to {aside}")
    return repair or not bad


def main(arguments: list[str] | None = None) -> int:
    """Run a command; exit status 1 where something is wrong and was not mended."""
    parser = argparse.ArgumentParser(
        prog="python -m scripts.retrieval.cache_commands",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("command", choices=("verify", "repair"))
    parser.add_argument("file", type=Path, nargs="+")
    chosen = parser.parse_args(arguments)
    fine = True
    for path in chosen.file:
        try:
            path.stat()  # A name that was mistyped leaves no lock behind.
            # Who computes vectors holds the lock: a file that is being written is not judged.
            with Lock(beside(path), "checking kept vectors"):
                fine &= examine(path, chosen.command == "repair")
        except (OSError, LockError) as error:
            print(f"error: {error}", file=sys.stderr)
            fine = False
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
