"""Random generators that belong to one cell, so that adding a cell changes no other."""

from __future__ import annotations

import hashlib
import json

import numpy as np


def cell_generator(seed: int, *key: str | int) -> np.random.Generator:
    """A PCG64 generator seeded by `seed` and the cell's key (SHA-256 of both).

    The draw depends on nothing else: not on the order in which cells are computed, not on which
    other models are present, not on the process.
    """
    text = json.dumps([int(seed), *key], ensure_ascii=True, separators=(",", ":"))
    digest = hashlib.sha256(text.encode("ascii")).digest()
    return np.random.default_rng(np.random.SeedSequence(int.from_bytes(digest, "big")))
