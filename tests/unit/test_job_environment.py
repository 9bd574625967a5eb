"""What jobs find in their environment."""

from __future__ import annotations

import json
import os

import pytest

from scripts.inference.spending import ENVIRONMENT, Terms
from scripts.workflow.job_environment import SEARCH_PATH, find_package, tell_terms


def test_package_comes_first_and_the_own_path_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SEARCH_PATH, os.pathsep.join(["/mine", "/project", "/other"]))
    find_package("/project")
    find_package("/project")
    assert os.environ[SEARCH_PATH].split(os.pathsep) == ["/project", "/mine", "/other"]


def test_without_a_path_of_ones_own_there_is_the_package_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(SEARCH_PATH, "")
    find_package("/project")
    assert os.environ[SEARCH_PATH] == "/project"


def test_terms_arrive(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ENVIRONMENT, "")
    cap = {"tokens": 10, "cost": 0.5, "currency": "EUR"}
    tell_terms({"run": {"results": "results", "spend_cap": cap}, "models": {}})
    terms = Terms.from_environment()
    assert terms is not None
    assert (terms.tokens, str(terms.cost), terms.currency) == (10, "0.5", "EUR")
    assert json.loads(os.environ[ENVIRONMENT])["ledger"] == "results/store/spending.jsonl"
