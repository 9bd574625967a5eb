"""Every claim of the paper changes its verdict with the answers that it is about."""

from __future__ import annotations

from pathlib import Path

import pytest
from claim_worlds import BUILDERS, HOLDS, REVERSED, SMALL, WORLDS, verdicts_of

from scripts.publishing import claims
from scripts.publishing.claims import NOT_ESTIMABLE, NOT_SUPPORTED, SUPPORTED, Verdict

ROOT = Path(__file__).parents[2]
FILES = [ROOT / "paper" / "claims.yaml", *sorted((ROOT / "paper" / "claims").glob("*.yaml"))]
CLAIMS = claims.read_claims(FILES)
EXPECTED = {HOLDS: SUPPORTED, REVERSED: NOT_SUPPORTED, SMALL: NOT_ESTIMABLE}


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], Verdict]:
    """(claim, world) to verdict; every world goes through the statistics once."""
    found = {}
    for world in WORLDS:
        for benchmark, build in BUILDERS.items():
            mine = [claim for claim in CLAIMS if claim.benchmark == benchmark]
            folder = tmp_path_factory.mktemp(f"{world}-{benchmark}")
            judged = verdicts_of(folder, mine, *build(world))
            found |= {(name, world): verdict for name, verdict in judged.items()}
    return found


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("name", [claim.name for claim in CLAIMS])
def test_a_claim_follows_the_answers(
    name: str, world: str, verdicts: dict[tuple[str, str], Verdict]
) -> None:
    verdict = verdicts[name, world]
    assert verdict.verdict == EXPECTED[world], verdict.line()
    assert bool(verdict.reason) == (world == SMALL)
    if world == HOLDS:
        assert verdict.agrees
