"""One run of a checkout at a time, also where Snakemake is called directly.

`envs/exclusively.sh` (and with it `make`) takes this lock before Snakemake starts, and clears what
a killed run left of Snakemake's own lock. A run that was called directly takes it here, so that it
is seen by the others: on another machine too, and as a live run whose lock must not be cleared.
"""

from __future__ import annotations

import atexit
import os
import sys
from pathlib import Path

from scripts.machine.locks import HeldError, Lock

#: Set by envs/exclusively.sh, which holds the lock until Snakemake has ended.
HELD_BY_CALLER = "TOKENS_AND_TIME_EXCLUSIVE"
FILE = "running.lock"


class CheckoutError(RuntimeError):
    """Another run works in this checkout."""


def hold(folder: Path, arguments: list[str] | None = None) -> None:
    """Hold the lock in Snakemake's folder until this process ends.

    Raises CheckoutError naming the run that holds it, LockError where it cannot be made.
    """
    if os.environ.get(HELD_BY_CALLER):
        return
    words = sys.argv if arguments is None else arguments
    lock = Lock(folder / FILE, " ".join([Path(words[0]).name, *words[1:]]))
    try:
        lock.acquire()
    except HeldError as error:
        raise CheckoutError(f"another run is active here: {error}") from error
    atexit.register(lock.release)
