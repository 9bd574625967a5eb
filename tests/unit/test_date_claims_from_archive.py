"""Verdicts on MultiTempBench follow the archived replies: each perturbation changes those it must.

All claims that are computed of accuracy are here; CHANGED names for each perturbation those that
must not be supported any more, and all others keep their verdict.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import date_archives as archives
import pytest
from claim_worlds import DATE_MODELS, HOLDS, frames_of_dates, verdicts_of
from date_archives import BASE, NOTHING, PERTURBATIONS

from scripts.publishing import claims
from scripts.publishing.claim_tests import Surroundings
from scripts.publishing.claims import NOT_ESTIMABLE, NOT_SUPPORTED, SUPPORTED, Verdict

ROOT = Path(__file__).parents[2]
OF_ANSWERS = {f"multitempbench/statistics/{stem}.csv" for stem in ("accuracy", "correlations")}
CLAIMS = [
    claim
    for claim in claims.read_claims([ROOT / "paper" / "claims.yaml"])
    if OF_ANSWERS & {part.quantity.file for part in claim.parts}
]
FRAGMENTS = {
    "MtbFragmentsHurtHausa",
    "MtbFragmentsHurtArabic",
    "MtbFragmentsHurtHausaMost",
    "MtbFragmentsHurtOtherTasks",
}
LINEARITY = {"MtbLinearityEnglish", "MtbLinearityChinese"}
CHANGED: Mapping[str, set[str]] = {
    BASE: set(),
    "languages exchanged": FRAGMENTS
    | {"MtbHausaWorse", "MtbLowResourceWorse", "MtbLinearityEnglish", "MtbLinearityWeakHausa"},
    "calendars exchanged": {"MtbOwnCalendarWorse"},
    "models exchanged": FRAGMENTS | LINEARITY | {"MtbSmallBeatsLarge", "MtbLinearityWeakHausa"},
    "months instead of years": FRAGMENTS
    | LINEARITY
    | {"MtbSmallBeatsLarge", "MtbYearMostPredictive"},
}


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Verdict]]:
    """Perturbation and claim to verdict."""
    around = Surroundings({"models": DATE_MODELS}, tuple(DATE_MODELS))
    found = {}
    for name, perturbed in PERTURBATIONS.items():
        frames = frames_of_dates(archives.scored(perturbed()), HOLDS, DATE_MODELS)
        found[name] = verdicts_of(tmp_path_factory.mktemp("archive"), CLAIMS, frames, around)
    return found


def test_replies_are_read_as_they_are_meant() -> None:
    for right, verdict in ((True, "correct"), (False, "incorrect")):
        texts = {key: archives.reply(item, right) for key, item in archives.items().items()}
        assert set(archives.scored({"any": texts})["verdict"]) == {verdict}


@pytest.mark.parametrize("perturbation", [name for name in PERTURBATIONS if name != NOTHING])
def test_a_perturbation_changes_the_verdicts_that_it_must(
    perturbation: str, verdicts: dict[str, dict[str, Verdict]]
) -> None:
    found = verdicts[perturbation]
    changed = {name for name in found if found[name].verdict == NOT_SUPPORTED}
    assert changed == CHANGED[perturbation]
    assert {found[name].verdict for name in found.keys() - changed} == {SUPPORTED}


def test_nothing_is_said_of_what_was_not_run(verdicts: dict[str, dict[str, Verdict]]) -> None:
    assert {verdict.verdict for verdict in verdicts[NOTHING].values()} == {NOT_ESTIMABLE}


@pytest.mark.parametrize("claim", [claim.name for claim in CLAIMS])
def test_every_claim_can_fail(claim: str) -> None:
    assert any(claim in changed for changed in CHANGED.values())
