"""A run that is ended at any moment loses nothing, asks nothing twice, gives the same bytes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.crash_harness import SHARES, run_all

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/fd").is_dir(), reason="the calls of a run are told apart by /proc"
)


def test_a_hundred_moments(tmp_path: Path) -> None:
    result = run_all(100, 1, tmp_path, report=print)
    assert result.problems == []
    assert len(result.outcomes) == 100
    assert all(outcome.died for outcome in result.outcomes)
    assert {outcome.moment.kind for outcome in result.outcomes} == SHARES.keys()
    # Every call of the write path was the last one of some run.
    struck = {call for call, counter in result.hits().items() if counter["kill"]}
    assert struck >= set(result.calls)
    assert {"write store", "fsync store", "replace output", "fsync folder"} <= struck
    halved = {call for call, counter in result.hits().items() if counter["half"]}
    assert halved == {call for call in result.calls if "write" in call}


def test_without_the_right_to_mount(tmp_path: Path) -> None:
    """A full disk is then a limit on the size of files, which cuts a write just as well."""
    result = run_all(30, 2, tmp_path, mounting=False, report=print)
    assert result.problems == []
