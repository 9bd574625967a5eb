"""The spend cap under Snakemake: changing it reruns nothing, a run that it stopped goes on."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import yaml

from scripts.files import read_records
from scripts.inference.backends.openai_compatible import OpenAIBackend, worst_case
from scripts.inference.registry import model_spec
from scripts.inference.runner import complete
from scripts.inference.spending import Ledger
from scripts.records import Request
from tests.workflow.conftest import Project

pytestmark = pytest.mark.workflow

LEDGER = Path("results") / "store" / "spending.jsonl"
PRICE = {"prompt": 0.25, "completion": 1.5}
# What the counting server reports for every answer.
TOKENS, COST = 15, Decimal("0.00001")


def cap(project: Project, **limits: Any) -> None:
    """Give the model a price, and the run a cap."""

    def change(config: dict[str, Any]) -> None:
        config["models"]["first"]["price"] = PRICE
        config["run"]["spend_cap"] = {"currency": "EUR", **limits}

    project.edit_config(change)


def largest_worst_case(project: Project) -> int:
    """Most tokens that are reserved for one of the project's requests."""
    config = yaml.safe_load((project.root / "config.yaml").read_text())
    limit = config["syntaxbench"]["decoding"]["max_new_tokens"]["non_thinking"]
    backend = OpenAIBackend(model_spec("first", config["models"]["first"]), "non_thinking")
    files = (project.root / "results" / "syntaxbench" / "requests").glob("*.jsonl")
    requests = [complete(row, limit) for path in files for row in read_records(path, Request)]
    return max(sum(worst_case(backend.arguments(row), "max_tokens")) for row in requests)


def test_prices_and_caps_rerun_nothing(project: Project) -> None:
    assert not (project.root / LEDGER).exists()  # A server on this machine without a price is free.
    for limits in ({"cost": 1.5}, {"cost": 0.1, "tokens": 7}, {}):
        cap(project, **limits)
        assert project.plan() == []


def test_a_run_stops_at_the_cap_and_goes_on_when_it_is_raised(
    built: Project, tmp_path: Path
) -> None:
    project = built.fresh(tmp_path / "capped")
    project.asked()
    (model,) = built.first_asked
    total = built.first_asked[model]
    cap(project, cost=5.0, tokens=5 * TOKENS + largest_worst_case(built))
    project.run(fails=True)
    asked = project.asked()[model]
    assert 5 <= asked < total
    said = " ".join(project.output.split())
    assert "raise run.spend_cap.tokens in config.yaml and run again" in said
    assert f"{total - asked:,} of this job's requests remain to be asked" in said
    ledger = Ledger(project.root / LEDGER).read()
    assert (ledger.spent.tokens, ledger.spent.cost) == (asked * TOKENS, asked * COST)
    assert ledger.currency() == "EUR"

    cap(project, cost=5.0, tokens=10**9)
    project.run()
    assert project.asked()[model] == total - asked
    assert project.contents() == built.contents()
    assert Ledger(project.root / LEDGER).read().spent.cost == total * COST
    manifests = (project.root / "results" / "manifests" / "syntaxbench").glob("first.*.json")
    (facts,) = (json.loads(path.read_text())["facts"] for path in manifests)
    assert Decimal(facts["spent"]["cost"]) == (total - asked) * COST
    assert facts["spent"]["currency"] == "EUR"


def test_a_cost_cap_without_a_price_is_refused(project: Project) -> None:
    def change(config: dict[str, Any]) -> None:
        config["run"]["spend_cap"] = {"cost": 3.0}
        config["models"]["first"]["base_url"] = "https://api.example.com/v1"

    project.edit_config(change)
    project.run("--dry-run", fails=True)
    assert "models.first.price: missing; run.spend_cap.cost needs" in project.output
