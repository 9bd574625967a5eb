"""What the SLURM profile asks for: more with every attempt, and never above its limits."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.workflow.conftest import run_snakemake

pytestmark = pytest.mark.workflow

AN_HOUR = 60


@pytest.fixture(scope="module")
def profile(repository: Path) -> dict[str, Any]:
    return yaml.safe_load((repository / "profiles" / "slurm" / "config.yaml").read_text())


@pytest.fixture(scope="module")
def heavy_rules(repository: Path) -> dict[str, int | None]:
    """Rules that may hold GPUs or run for more than an hour, and their minutes.

    None where the rule tells a job that answers from one that gathers.
    """
    found: dict[str, tuple[int | None, bool]] = {}
    for path in sorted((repository / "rules").glob("*.smk")):
        blocks = re.split(r"^(?=rule |use rule )", path.read_text(), flags=re.M)[1:]
        for block in blocks:
            if derived := re.match(r"use rule (\w+) as (\w+) with:", block):
                found[derived[2]] = found[derived[1]]
                continue
            minutes = re.search(r"^        runtime=growing\((\w+)\)", block, re.M)
            if minutes:
                name = block.split(":", 1)[0].removeprefix("rule ")
                number = int(minutes[1]) if minutes[1].isdecimal() else None
                found[name] = number, bool(re.search(r"^        gpu=", block, re.M))
    assert len(found) >= 60
    return {
        name: minutes
        for name, (minutes, gpu) in found.items()
        if gpu or minutes is None or minutes > AN_HOUR
    }


def test_profile_names_every_rule_that_takes_long_or_a_gpu(
    profile: dict[str, Any], heavy_rules: dict[str, int | None]
) -> None:
    fixed = {name: minutes for name, minutes in heavy_rules.items() if minutes is not None}
    assert set(profile["set-resources"]) == set(fixed)
    for name, minutes in fixed.items():
        runtime = profile["set-resources"][name]["runtime"]
        given = re.fullmatch(r"(\d+) \* attempt", runtime)
        assert given and int(given[1]) >= minutes, f"{name}: {runtime}"
    # What the profile says of the others, it says in a comment.
    computed = set(heavy_rules) - set(fixed)
    kinds = ("run_model", "run_shard", "run_ablation", "run_explanations")
    assert computed and all(any(kind in name for kind in kinds) for name in computed)


def test_only_a_job_that_answers_asks_for_days(checkout: Path) -> None:
    jobs = [
        (resources["runtime"], resources.get("gpu", 0))
        for rule, resources in asked(checkout, 1)
        if rule.endswith("_run_model")
    ]
    # Two embedded models and three, three and four baselines of the benchmarks.
    assert sorted(jobs) == [(60, 0)] * 10 + [(2880, 0)] * 6


def asked(checkout: Path, attempt: int) -> list[tuple[str, dict[str, int]]]:
    """(rule, resources) of every job of the embedded matrix at an attempt."""
    finished = run_snakemake(
        checkout,
        *("--workflow-profile", "profiles/slurm", "--configfile", "config/embedded.yaml"),
        *("--attempt", str(attempt), "--dry-run"),
    )
    assert finished.returncode == 0, finished.stdout
    jobs = re.findall(
        r"^rule (\w+):\n(?:    .*\n)*?    output: (.*)\n(?:    .*\n)*?    resources: (.*)$",
        finished.stdout,
        flags=re.M,
    )
    assert len(jobs) > 100
    return [
        (rule, {name: int(n) for name, n in re.findall(r"(mem_mb|runtime|gpu)=(\d+)", resources)})
        for rule, _, resources in sorted(jobs)
    ]


def test_a_job_asks_for_more_with_every_attempt(checkout: Path, profile: dict[str, Any]) -> None:
    limits = profile["resources"]
    first, second, third = (asked(checkout, attempt) for attempt in (1, 2, 3))
    assert [rule for rule, _ in first] == [rule for rule, _ in second]
    clipped = 0
    for attempt, jobs in ((2, second), (3, third)):
        for (rule, once), (_, again) in zip(first, jobs, strict=True):
            for name in ("mem_mb", "runtime"):
                grown = attempt * once[name]
                assert again[name] == min(grown, limits[name]), (rule, name, attempt)
                clipped += grown > limits[name]
            assert again.get("gpu") == once.get("gpu")
    # Two days three times are more than a partition gives.
    assert clipped


def test_a_model_beyond_the_profiles_gpus_is_refused(checkout: Path, tmp_path: Path) -> None:
    overlay = tmp_path / "large.yaml"
    overlay.write_text("models: {qwen3.5-27b: {tensor_parallel: 32}}\n")
    finished = run_snakemake(
        checkout,
        *("--workflow-profile", "profiles/slurm", "--configfile", str(overlay), "--dry-run"),
    )
    assert finished.returncode != 0
    assert "model qwen3.5-27b needs 32 GPUs but --resources gpu=16" in finished.stdout
