"""What every test finds: the repository on the path, no network hub, one thread."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
os.environ.setdefault("MPLBACKEND", "Agg")

# The same examples in every run, however loaded the machine is, and no database in the checkout.
# `--hypothesis-profile=search` looks for new counterexamples.
settings.register_profile(
    "ci", derandomize=True, deadline=None, max_examples=50, database=None, print_blob=True
)
settings.register_profile("search", deadline=None, max_examples=2000)
settings.load_profile("ci")


@pytest.fixture(scope="session")
def repository() -> Path:
    """The repository root."""
    return ROOT


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Real data for tests that is not part of the project; the test skips where it is absent."""
    path = ROOT.parent / "shared" / "data"
    if not path.is_dir():
        pytest.skip("no ../shared/data here")
    return path
