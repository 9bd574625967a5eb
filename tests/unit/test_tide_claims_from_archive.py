"""Verdicts on TIDE follow archived replies and votes: each perturbation changes those that it must.

All claims that rest on answers are here. CHANGED names for each perturbation the claims that must
change; all others keep their verdict.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
import tide_archives as archives
from claim_worlds import DOCUMENT_MODELS, assert_verdicts, verdicts_of
from tide_archives import BASE, NOTHING, PERTURBATIONS

from scripts.publishing import claims
from scripts.publishing.claim_tests import Surroundings
from scripts.publishing.claims import NOT_ESTIMABLE, NOT_SUPPORTED, Verdict

ROOT = Path(__file__).parents[2]
# The council's agreement, the documents, the tokenizers.
WITHOUT_ANSWERS = {"TideCouncilAgrees", "TideTwoCalendars", "TideMixedScripts", "TideTokenTax"}
CLAIMS = [
    claim
    for claim in claims.read_claims([ROOT / "paper" / "claims.yaml"])
    if claim.benchmark == "tide" and claim.name not in WITHOUT_ANSWERS
]
# The models differ much in it: its p moves over 0.05 with that of any other claim.
CLOSE = {"TideFalseAlarms"}
NO, NONE = NOT_SUPPORTED, NOT_ESTIMABLE
CHANGED: Mapping[str, Mapping[str, str]] = {
    BASE: {},
    "memory and full text exchanged": {
        "TideRetrievalHelps": NO,
        "TideFullTextBest": NO,
        "TideScenarioEasilyRetrieved": NO,
        "TideDocumentsCorrectPlanted": NO,
        "TideDateWithoutMeaning": NO,
        "TideMeaningWithoutDate": NO,
        # Whoever flags a statement with the documents names what was altered: no difference at all.
        "TideDetectionEasier": NONE,
        "TideReadingIdentifies": NO,
        "TideFalseAlarms": NO,
        "TideGapClosed": NO,
        "TideOverturnedRare": NO,
    },
    "everything right": {
        "TideUnsolved": NO,
        "TidePlantedAdopted": NO,
        "TideDocumentsCorrectPlanted": NO,
        "TideDateWithoutMeaning": NO,
        "TideMeaningWithoutDate": NO,
        "TideGapClosed": NO,
        "TideUnrecoverable": NO,
        # Without any difference between models there is no spread, and no test of a mean.
        "TideRetrievalHelps": NONE,
        "TideFullTextBest": NONE,
        "TideSortingNeedsAll": NONE,
        "TideScenarioEasilyRetrieved": NONE,
        "TideChoiceEasiest": NONE,
        "TideMisalignmentHardest": NONE,
        "TideRelativeTimeGap": NONE,
        "TideDetectionEasier": NONE,
        "TideReadingIdentifies": NONE,
        "TideFalseAlarms": NONE,
    },
    "easy tasks hardest": {
        "TideChoiceEasiest": NO,
        "TideMisalignmentHardest": NO,
        "TideRelativeTimeGap": NO,
        "TidePlantedAdopted": NO,
        "TideDocumentsCorrectPlanted": NO,
        "TideGapClosed": NO,
    },
    "retrieval blank": {
        "TideRetrievalHelps": NO,
        "TideSortingNeedsAll": NO,
        "TideScenarioEasilyRetrieved": NO,
        # No judge read what was said after retrieval.
        "TideDocumentsCorrectPlanted": NONE,
        "TideReadingIdentifies": NO,
        "TideRetrievalKeepsMost": NO,
    },
    "flags explained": {"TideDetectionEasier": NO, "TideReadingIdentifies": NO},
    NOTHING: {claim.name: NONE for claim in CLAIMS},
}


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Verdict]]:
    """Perturbation and claim to verdict."""
    around = Surroundings({"models": list(DOCUMENT_MODELS)}, DOCUMENT_MODELS)
    return {
        name: verdicts_of(
            tmp_path_factory.mktemp("archive"), CLAIMS, archives.statistics(perturbed()), around
        )
        for name, perturbed in PERTURBATIONS.items()
    }


@pytest.mark.parametrize("perturbation", PERTURBATIONS)
def test_a_perturbation_changes_the_verdicts_that_it_must(
    perturbation: str, verdicts: dict[str, dict[str, Verdict]]
) -> None:
    base = perturbation == BASE
    assert_verdicts(verdicts[perturbation], CHANGED[perturbation], CLOSE, base=base)


@pytest.mark.parametrize("claim", [claim.name for claim in CLAIMS])
def test_every_claim_can_fail(claim: str) -> None:
    assert NO in {changed.get(claim) for changed in CHANGED.values()}
